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
  int                 total;   /* and how many there are */
  int                *of;      /* the block of each row */
  unsigned short     *ends;    /* the round in which each pivot is finished */
  int                *units;   /* where the updates of each block begin */
  int                 all;     /* units of them */
  int                *outside; /* u' that a block needs of others, from where its updates begin, */
  int                *needs;   /* where the lists of that begin, */
  int                 needed;  /* and how long they are together */
  int                *waits;   /* the blocks that each block waits for, from where its outer entries in L begin, */
  int                *from;    /* where the lists of them begin, */
  int                 waited;  /* and how long they are together */
} Work;

static const char too_large[] = "lists of updates would take more memory than the default strategy may";
static const char too_many[]  = "blocks have so many entries that shared memory has room for few at a time";

static PetscErrorCode Fits_Blocks(Plan *plan, char why[], size_t len)
{
  PetscFunctionBegin;
  if (plan->settings->relax != 0.0) {
    PetscCall(PetscStrncpy(why, "it has no relaxation", len));
    plan->relaxed = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindUpdates(Factorization *f, SyncILUDevicePattern p, int lanes, Work *w)
{
  Plan          *plan = f->plan;
  const int      most = PetscMax(1, plan->counts.longest_row);
  int           *first;
  unsigned char *some;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)p.n + 1) * sizeof(int), &w->begin));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)p.n * sizeof(int), &w->of));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)p.n * sizeof(int), &first));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz, &some));
  PlanLaunch(SyncILUKernelBlockFirsts(*TriangleGetBlocks(f->L), first, w->of, plan->stream));
  PlanLaunch(SyncILUKernelCountUpdates(p, most, lanes, w->begin, some, plan->stream));
  PlanCall(PlanOffsets(plan, p.n, w->begin, &w->total));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)w->total * sizeof(*w->found), &w->found));
  PlanLaunch(SyncILUKernelFindUpdates(p, most, lanes, first, some, w->begin, w->found, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Deals the updates to rounds, if they fit: else why not. */
static PetscErrorCode Deal(Factorization *f, SyncILUDevicePattern p, Work *w, char why[], size_t len)
{
  Plan                            *plan = f->plan;
  const SyncILUDeviceBlockUpdates *l    = &((const Blocks *)f->data)->device;
  const size_t                     n    = (size_t)l->L.blocks;
  int                             *place, *updates;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(w->most), &w->device));
  CallCUDA(cudaMemsetAsync(w->device, 0, sizeof(w->most), plan->stream));
  PlanLaunch(SyncILUKernelUpdateSizes(p, l->L, w->begin, w->device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &w->most, w->device, sizeof(w->most)));
  if (w->most.entries + SYNCILU_BLOCKS_MOST > SYNCILU_BLOCK_PLACES || w->most.updates > SYNCILU_BLOCK_UPDATES) {
    PetscCall(
      PetscSNPrintf(why, len, "a block has %d entries and %d updates, more than shared memory or a list has room for", w->most.entries, w->most.updates));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)p.n * sizeof(*w->ends), &w->ends));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)w->total * sizeof(int), &w->outside));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &w->needs));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &w->units));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &updates));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz * sizeof(int), &place));
  PlanLaunch(SyncILUKernelBlockPlaces(f->U->rows, l->U, place, plan->stream));
  PlanLaunch(SyncILUKernelBlockRounds(p, l->L, w->most, l->runs, place, w->begin, w->found, w->ends, w->outside, w->needs, updates, w->device, plan->stream));
  PlanLaunch(SyncILUKernelUpdateUnits(l->L, updates, w->units, plan->stream));
  PlanCall(PlanOffsets(plan, (int)n, w->units, &w->all));
  PlanCall(PlanOffsets(plan, (int)n, w->needs, &w->needed));
  PetscCall(DeviceReadBack(plan->stream, &w->most, w->device, sizeof(w->most)));
  if (w->most.unfit)
    PetscCall(PetscSNPrintf(why, len, "a block has more than %d rounds of updates, or needs more than %d entries of other blocks", SYNCILU_BLOCK_ROUNDS - 64,
                            SYNCILU_BLOCK_OUTSIDE - SYNCILU_BLOCK_OUTSIDE / 8 - 32));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks that each block waits for. */
static PetscErrorCode FindWaits(Factorization *f, Work *w)
{
  Plan                      *plan   = f->plan;
  const SyncILUDeviceBlocks *L      = &((const Blocks *)f->data)->device.L;
  const size_t               outers = (size_t)((const char *)L->inner - (const char *)L->outer) / plan->size;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, outers * sizeof(int), &w->waits));
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)L->blocks + 1) * sizeof(int), &w->from));
  PlanLaunch(SyncILUKernelBlockWaits(*L, w->most.entries, w->of, w->waits, w->from, plan->stream));
  PlanCall(PlanOffsets(plan, L->blocks, w->from, &w->waited));
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
  /* a round may have a turn more than its updates fill; fewer turns for more warps */
  l->turns = (most->updates / 32 + most->rounds + 2 * SYNCILU_BLOCK_AHEAD + listed) / listed * listed;
  l->bytes = l->room * (int)plan->size + (l->listed + l->turns) * (int)sizeof(unsigned short);
  l->warps = Warps(plan, l->L.blocks, l->bytes);
}

/* The lists, if there is memory for them: else why not. */
static PetscErrorCode Place(Factorization *f, SyncILUDevicePattern p, const Work *w, char why[], size_t len)
{
  Plan                      *plan = f->plan;
  SyncILUDeviceBlockUpdates *l    = &((Blocks *)f->data)->device;
  const size_t n = (size_t)l->L.blocks, all = (size_t)w->all * 32, turns = n * (size_t)l->turns, lists = (size_t)plan->nnz + SYNCILU_BLOCK_LISTED * (n + 1);
  const size_t bytes = all * (sizeof(*l->update) + sizeof(*l->source)) + (turns + lists) * sizeof(*l->list) + n * sizeof(*l->block) +
                       (n + (size_t)w->needed + (size_t)w->waited) * sizeof(int);
  SyncILUBlockUpdates *block;
  unsigned            *update;
  unsigned short      *source, *turn, *list;
  int                 *outside, *wait, *count;

  PetscFunctionBegin;
  if ((double)bytes > ListsLimit(f)) {
    PetscCall(PetscStrncpy(why, too_large, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &f->memory, all * sizeof(*update), &update));
  PlanCall(PlanAlloc(plan, &f->memory, all * sizeof(*source), &source));
  PlanCall(PlanAlloc(plan, &f->memory, turns * sizeof(*turn), &turn));
  PlanCall(PlanAlloc(plan, &f->memory, lists * sizeof(*list), &list));
  PlanCall(PlanAlloc(plan, &f->memory, n * sizeof(*block), &block));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)w->needed * sizeof(int), &outside));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)w->waited * sizeof(int), &wait));
  PlanCall(PlanAlloc(plan, &f->memory, n * sizeof(int), &l->done));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &count));
  CallCUDA(cudaMemsetAsync(l->done, 0, n * sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelPlaceUpdates(l->L, l->warps, l->turns, w->begin, w->found, w->ends, w->units, update, source, turn, count, plan->stream));
  PlanLaunch(
    SyncILUKernelDescribeBlocks(p, l->L, l->U, w->begin, w->units, count, w->outside, w->needs, w->waits, w->from, block, outside, wait, list, plan->stream));
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
  PlanCall(FindUpdates(f, p, f->lanes, &w));
  PlanCall(Deal(f, p, &w, why, len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  own->rounds = w.most.rounds;
  Shape(plan, &w.most, &own->device);
  if (own->device.bytes > SYNCILU_BLOCK_ROOM) {
    PetscCall(PetscStrncpy(why, too_many, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(FindWaits(f, &w));
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
  f->lanes   = PetscMax(2, PlanLanes(plan, entries / SYNCILU_LIST_ENTRIES)); /* that look for updates */
  l->L       = *TriangleGetBlocks(f->L);
  l->U       = *TriangleGetBlocks(f->U);
  l->inverse = f->L->scale;
  l->runs    = plan->inode > 1 || entries >= SYNCILU_BLOCK_RUNS; /* else few updates have more than one entry */
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
  l.time    = ++own->times;
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
