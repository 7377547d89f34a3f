/*
   The factorization by the blocks of the ordering bmc, into whose storage W and U' go: one or several warps a
   block, with a list of updates that the plan has dealt to rounds. The strategy has no option value: it is
   what auto does where the solves go by these blocks, unless there is relaxation, or the lists take too much.
*/
#include "factor.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_blocks.h"

typedef struct {
  SyncILUDeviceBlockUpdates device;
  int                       rounds; /* of a block at most */
  int                       times;  /* that it has been used */
} Blocks;

/* What the steps of planning share; arrays are in scratch. */
typedef struct {
  SyncILUBlockMost    most, *device;
  SyncILUFoundUpdate *found;   /* the updates of all rows one behind the other, */
  int                *begin;   /* where those of each row begin, */
  int                *units;   /* and where those of each block do when they are placed, in units */
  int                *of;      /* the block of each row */
  unsigned short     *ends;    /* the round in which each pivot is finished */
  int                *stands;  /* where the entries of U stand in its storage */
  int                *outside; /* what blocks need of others, */
  int                *where;   /* where the list of each block is there, */
  int                *needs;   /* and where it will be, one behind the other */
  int                *waits;   /* the blocks that each block waits for, from where its outer entries in L begin, */
  int                *from;    /* and where the lists of them begin */
} Work;

static const char too_large[] = "lists of updates would take more memory than the default strategy may";
static const char too_many[]  = "blocks have so many entries that shared memory has room for few at a time";

static PetscErrorCode Fits_Blocks(Plan *plan, char why[], size_t len)
{
  PetscFunctionBegin;
  if (plan->settings->relax != 0.0) {
    PetscCall(PetscStrncpy(why, "it has no relaxation", len));
    plan->relaxed = PETSC_TRUE;
  } else if (plan->settings->brief) PetscCall(PetscStrncpy(why, "to plan it would take longer than it saves in a few solves", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that the lists may take. */
static double Limit(const Factorization *f)
{
  const Plan *plan = f->plan;

  return ListsLimit(f) + (SYNCILU_MEMORY_BLOCKS - SYNCILU_MEMORY) * (12.0 * plan->nnz + 4.0 * (plan->pattern.n + 1.0));
}

/* Numbers of the list of places. */
static size_t PlaceList(const Plan *plan, size_t blocks)
{
  return (size_t)plan->nnz + SYNCILU_BLOCK_LISTED * (blocks + 1);
}

/* Bytes of the lists, as far as they are known when updates are counted, and of others. */
static double ListsBytes(const Factorization *f, const Work *w, double others)
{
  const SyncILUDeviceBlockUpdates *l = &((const Blocks *)f->data)->device;
  const size_t                     n = (size_t)l->L.blocks;

  return others + 32.0 * w->most.units * (sizeof(*l->update) + sizeof(*l->source)) + (double)PlaceList(f->plan, n) * sizeof(*l->list) +
         (double)n * (sizeof(*l->block) + sizeof(int));
}

/* Finds the updates, unless blocks have more than there is room for: then it says so. */
static PetscErrorCode FindUpdates(Factorization *f, SyncILUDevicePattern p, Work *w, char why[], size_t len)
{
  Plan                            *plan = f->plan;
  const SyncILUDeviceBlockUpdates *l    = &((const Blocks *)f->data)->device;
  const int                        most = PetscMax(1, plan->counts.longest_row);
  const size_t                     n = (size_t)p.n, blocks = (size_t)l->L.blocks;
  int                             *first;
  unsigned char                   *some;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &w->begin));
  PlanCall(PlanAlloc(plan, &plan->scratch, (blocks + 1) * sizeof(int), &w->units));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(w->most), &w->device));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &w->of));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &first));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz, &some));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz * sizeof(int), &w->stands));
  CallCUDA(cudaMemsetAsync(w->device, 0, sizeof(w->most), plan->stream));
  PlanLaunch(SyncILUKernelCountUpdates(p, most, f->lanes, l->runs, w->begin, some, plan->stream));
  PlanCall(PlanOffsets(plan, p.n, w->begin, NULL));
  PlanLaunch(SyncILUKernelUpdateSizes(p, l->L, w->begin, w->units, w->device, plan->stream));
  PlanCall(PlanOffsets(plan, l->L.blocks, w->units, NULL));
  PlanLaunch(SyncILUKernelBlockFirsts(l->L, first, w->of, plan->stream));
  PlanLaunch(SyncILUKernelBlockPlaces(f->U->rows, l->U, w->stands, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &w->most, w->device, sizeof(w->most)));
  if (w->most.entries + SYNCILU_BLOCKS_MOST > SYNCILU_BLOCK_PLACES || w->most.updates > SYNCILU_BLOCK_UPDATES) {
    PetscCall(
      PetscSNPrintf(why, len, "a block has %d entries and %d updates, more than shared memory or a list has room for", w->most.entries, w->most.updates));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ListsBytes(f, w, 0.0) > Limit(f)) {
    PetscCall(PetscStrncpy(why, too_large, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)w->most.total * sizeof(*w->found), &w->found));
  PlanLaunch(SyncILUKernelFindUpdates(p, most, f->lanes, l->runs, first, some, w->stands, w->begin, w->found, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Deals the updates to rounds, and finds which blocks each one waits for, if all that fits: else why not. The
   lists of what blocks need of others have as much room as there may be for them when they are kept.
*/
static PetscErrorCode Deal(Factorization *f, SyncILUDevicePattern p, Work *w, char why[], size_t len)
{
  Plan                      *plan   = f->plan;
  const Blocks              *own    = (const Blocks *)f->data;
  const SyncILUDeviceBlocks *L      = &own->device.L;
  const size_t               n      = (size_t)L->blocks;
  const size_t               outers = (size_t)((const char *)L->inner - (const char *)L->outer) / plan->size;
  const int                  run    = own->device.runs ? SYNCILU_BLOCK_RUN : 1;
  const double               most   = PetscMin((double)SYNCILU_BLOCK_OUTSIDE * (double)n, (double)run * w->most.total);
  const int                  room   = (int)PetscMin(PetscMin(most, (Limit(f) - ListsBytes(f, w, 0.0)) / sizeof(int)), INT_MAX);
  int                       *late;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)p.n * sizeof(*w->ends), &w->ends));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)room * sizeof(int), &w->outside));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &w->needs));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &w->where));
  PlanCall(PlanAlloc(plan, &plan->scratch, outers * sizeof(int), &w->waits));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &w->from));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &late));
  PlanLaunch(SyncILUKernelBlockRounds(p, *L, w->most, own->device.runs, NULL, L->blocks, w->stands, w->begin, w->found, w->ends, room, w->outside, w->where,
                                      w->needs, late, w->device, plan->stream));
  PlanLaunch(SyncILUKernelBlockWaits(*L, w->most, w->of, w->waits, w->from, w->device, plan->stream));
  PlanCall(PlanOffsets(plan, L->blocks, w->from, NULL));
  PetscCall(DeviceReadBack(plan->stream, &w->most, w->device, sizeof(w->most)));
  if (w->most.late) {
    PlanLaunch(SyncILUKernelBlockRounds(p, *L, w->most, own->device.runs, late, w->most.late, w->stands, w->begin, w->found, w->ends, room, w->outside,
                                        w->where, w->needs, late, w->device, plan->stream));
    PetscCall(DeviceReadBack(plan->stream, &w->most, w->device, sizeof(w->most)));
  }
  PlanCall(PlanOffsets(plan, L->blocks, w->needs, NULL));
  if (w->most.unfit)
    PetscCall(PetscSNPrintf(why, len, "a block has more than %d rounds of updates, or needs more than %d entries of other blocks", SYNCILU_BLOCK_ROUNDS - 33,
                            SYNCILU_BLOCK_OUTSIDE));
  else if (w->most.needed > (unsigned long long)room) PetscCall(PetscStrncpy(why, too_large, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Warps of a block that takes so many bytes of shared memory: so many that a multiprocessor has enough of
   them with the blocks that its memory has room for, and with its share of the blocks of a color.
*/
static int Warps(const Plan *plan, int blocks, int bytes)
{
  const double share = (double)blocks / (PetscMax(plan->colors, 1) * SYNCILU_MULTIPROCESSORS), room = (double)SYNCILU_SHARED_MULTIPROCESSOR / bytes;
  int          warps = 1;

  while (warps < SYNCILU_BLOCK_WARPS_MOST && warps * PetscMax(1.0, PetscMin(share, room)) < SYNCILU_BLOCK_WARPS) warps *= 2;
  return warps;
}

/* What a block takes of shared memory, and how many warps it has. */
static void Shape(const Plan *plan, const SyncILUBlockMost *most, SyncILUDeviceBlockUpdates *l)
{
  const int listed = SYNCILU_BLOCK_LISTED;

  l->room   = (2 * SYNCILU_BLOCKS_MOST + most->entries + most->outside + 1) / 2 * 2; /* so that what comes behind is aligned */
  l->listed = (most->entries + listed - 1) / listed * listed;
  l->warps  = 1;
  for (int last = 0; last != l->warps;) { /* more warps have fewer turns, of which a block keeps less */
    last = l->warps;
    /* a round may have a turn more than its updates fill */
    l->turns = (most->updates / (32 * last) + most->rounds + 2 * SYNCILU_BLOCK_AHEAD + listed) / listed * listed;
    l->bytes = l->room * (int)plan->size + (l->listed + l->turns) * (int)sizeof(unsigned short);
    if (last == 1) l->warps = Warps(plan, l->L.blocks, l->bytes);
  }
}

/* The lists, if there is memory for them: else why not. */
static PetscErrorCode Place(Factorization *f, SyncILUDevicePattern p, const Work *w, char why[], size_t len)
{
  Plan                      *plan = f->plan;
  SyncILUDeviceBlockUpdates *l    = &((Blocks *)f->data)->device;
  const size_t               n = (size_t)l->L.blocks, all = (size_t)w->most.units * 32, turns = n * (size_t)l->turns, needed = (size_t)w->most.needed;
  SyncILUBlockUpdates       *block;
  unsigned                  *update;
  unsigned short            *source, *turn, *list;
  int                       *outside, *wait, *count;

  PetscFunctionBegin;
  if (ListsBytes(f, w, (double)turns * sizeof(*turn) + (double)(needed + (size_t)w->most.waited) * sizeof(int)) > Limit(f)) {
    PetscCall(PetscStrncpy(why, too_large, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &f->memory, all * sizeof(*update), &update));
  PlanCall(PlanAlloc(plan, &f->memory, all * sizeof(*source), &source));
  PlanCall(PlanAlloc(plan, &f->memory, turns * sizeof(*turn), &turn));
  PlanCall(PlanAlloc(plan, &f->memory, PlaceList(plan, n) * sizeof(*list), &list));
  PlanCall(PlanAlloc(plan, &f->memory, n * sizeof(*block), &block));
  PlanCall(PlanAlloc(plan, &f->memory, needed * sizeof(int), &outside));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)w->most.waited * sizeof(int), &wait));
  PlanCall(PlanAlloc(plan, &f->memory, n * sizeof(int), &l->done));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &count));
  PlanLaunch(SyncILUKernelPlaceUpdates(l->L, w->most, l->warps, l->turns, w->begin, w->found, w->ends, w->units, update, source, turn, count, plan->stream));
  PlanLaunch(
    SyncILUKernelDescribeBlocks(p, l->L, l->U, w->units, count, w->outside, w->where, w->needs, w->waits, w->from, block, outside, wait, list, plan->stream));
  l->block   = block;
  l->update  = update;
  l->source  = source;
  l->turn    = turn;
  l->list    = list;
  l->outside = outside;
  l->wait    = wait;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlanBlocks(Factorization *f, SyncILUDevicePattern p, char why[], size_t len)
{
  Plan   *plan = f->plan;
  Blocks *own  = (Blocks *)f->data;
  Work    w;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&w, sizeof(w)));
  PlanCall(FindUpdates(f, p, &w, why, len));
  if (!why[0]) PlanCall(Deal(f, p, &w, why, len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  own->rounds = w.most.rounds;
  Shape(plan, &w.most, &own->device);
  if (own->device.bytes > SYNCILU_BLOCK_ROOM) {
    PetscCall(PetscStrncpy(why, too_many, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(Place(f, p, &w, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Blocks(Factorization *f, char why[], size_t len)
{
  Plan                      *plan = f->plan;
  const int                  mark = plan->scratch.n;
  const double               n = PetscMax(1.0, (double)plan->pattern.n), entries = (double)plan->nnz / n;
  SyncILUDevicePattern       p;
  Blocks                    *own;
  SyncILUDeviceBlockUpdates *l;
  PetscBool                  hopeless = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscNew(&own));
  l          = &own->device;
  f->data    = own;
  l->L       = *TriangleGetBlocks(f->L);
  l->U       = *TriangleGetBlocks(f->U);
  l->inverse = f->L->scale;
  l->runs    = plan->inode > 1 || entries >= SYNCILU_BLOCK_RUNS;             /* else few updates have more than one entry */
  f->lanes   = PetscMax(2, PlanLanes(plan, entries / SYNCILU_LIST_ENTRIES)); /* that look for updates */
  /* a block in the mean, which needs at least half as many entries of others as it has */
  if ((2.0 * SYNCILU_BLOCKS_MOST + 1.5 * plan->nnz / PetscMax(1, l->L.blocks)) * (double)plan->size > SYNCILU_BLOCK_ROOM) {
    PetscCall(PetscStrncpy(why, too_many, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(ListsHopeless(f, p, 12.0 / (l->runs ? PetscMax(2, plan->inode) : 1), &hopeless)); /* of each four half are there */
  if (hopeless || (double)plan->part[0] * plan->counts.longest[1] > INT_MAX) PetscCall(PetscStrncpy(why, too_large, len));
  else PlanCall(PlanBlocks(f, p, why, len));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  for (f->lanes = 5; 32 * l->warps >> f->lanes > 1;) f->lanes++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Blocks(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                    Factor *factor)
{
  Plan                     *plan = f->plan;
  Blocks                   *own  = (Blocks *)f->data;
  SyncILUDeviceFactor       d;
  SyncILUDeviceBlockUpdates l = own->device;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&d, sizeof(d)));
  d.pattern = plan->pattern;
  d.values  = *values;
  d.pivot   = f->pivot;
  d.size    = SyncILUPivotsRelative(piv->type) ? f->size : NULL;
  d.ticket  = plan->ticket + 2;
  d.piv     = *piv;
  d.status  = status;
  PetscCall(DeviceNumberFlags(plan->stream, l.done, (size_t)l.L.blocks * sizeof(int), &own->times));
  l.time = own->times;
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, d.ticket, 0, NULL, 0, NULL, plan->stream));
  PlanLaunch(SyncILUKernelFactorBlocks(plan->type, d, l, plan->stream));
  factor->inverse = l.inverse;
  factor->stored  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Blocks(const Factorization *f, PetscViewer viewer)
{
  const Blocks *own = (const Blocks *)f->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "updates: in %d rounds a block at most, with %d bytes of shared memory\n", own->rounds, own->device.bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorBlocksOps = {.type   = SYNCILU_UPDATE_AUTO,
                                          .name   = "blocks",
                                          .blocks = PETSC_TRUE,
                                          .fits   = Fits_Blocks,
                                          .create = Create_Blocks,
                                          .factor = Factor_Blocks,
                                          .view   = View_Blocks};
