/*
   The factorization by the blocks of the ordering bmc, into whose storage W and U' go: a warp a block, with a
   list of updates that the plan has dealt to rounds. The strategy has no option value: it is what auto does
   where the solves go by these blocks, unless there is relaxation, or the lists take too much.
*/
#include "cuda.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_blocks.h"

typedef struct {
  SyncILUDeviceBlockUpdates device;
  int                       rounds; /* of a block at most */
} Blocks;

static const char too_large[] = "lists of updates would take more memory than the default strategy may";
static const char too_many[]  = "blocks have so many entries that shared memory has room for few at a time";

static PetscErrorCode Fits_Blocks(Plan *plan, char why[], size_t len)
{
  PetscFunctionBegin;
  if (plan->settings->relax != 0.0) PetscCall(PetscStrncpy(why, "it has no relaxation", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The updates of all rows one behind the other, in scratch; where those of each row begin, and how many there
   are.
*/
static PetscErrorCode FindUpdates(Factorization *f, SyncILUDevicePattern p, int lanes, SyncILUFoundUpdate **found, int **begin, int *total)
{
  Plan          *plan = f->plan;
  const int      most = PetscMax(1, plan->counts.longest_row);
  int           *first;
  unsigned char *some;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)p.n + 1) * sizeof(int), begin));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)p.n * sizeof(int), &first));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz, &some));
  PlanLaunch(SyncILUKernelBlockFirsts(*TriangleGetBlocks(f->L), first, plan->stream));
  PlanLaunch(SyncILUKernelCountUpdates(p, most, lanes, *begin, some, plan->stream));
  PlanCall(PlanOffsets(plan, p.n, *begin, total));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)*total * sizeof(**found), found));
  PlanLaunch(SyncILUKernelFindUpdates(p, most, lanes, first, some, *begin, *found, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Deals the updates to rounds, if they fit: else why not. */
static PetscErrorCode Deal(Factorization *f, SyncILUDevicePattern p, int lanes, Blocks *own, char why[], size_t len)
{
  Plan                      *plan = f->plan;
  SyncILUDeviceBlockUpdates *l    = &own->device;
  const size_t               n    = (size_t)l->L.blocks;
  SyncILUBlockMost           most, *device;
  SyncILUFoundUpdate        *found;
  SyncILUBlockUpdates       *block;
  unsigned                  *update;
  unsigned short            *source, *ends;
  int                       *begin, *updates, *units, *count, *outside, *place, *list, total;

  PetscFunctionBegin;
  PlanCall(FindUpdates(f, p, lanes, &found, &begin, &total));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(most), &device));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(most), plan->stream));
  PlanLaunch(SyncILUKernelUpdateSizes(p, l->L, begin, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &most, device, sizeof(most)));
  if (most.entries + SYNCILU_BLOCKS_MOST > SYNCILU_BLOCK_PLACES || most.updates > SYNCILU_BLOCK_UPDATES) {
    PetscCall(PetscSNPrintf(why, len, "a block has %d entries and %d updates, more than shared memory or a list has room for", most.entries, most.updates));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)p.n * sizeof(*ends), &ends));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)total * sizeof(int), &list));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &count));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &updates));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &units));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz * sizeof(int), &place));
  PlanLaunch(SyncILUKernelBlockPlaces(f->U->rows, l->U, place, plan->stream));
  PlanLaunch(SyncILUKernelBlockRounds(p, l->L, most, l->runs, place, begin, found, ends, list, count, updates, device, plan->stream));
  PlanLaunch(SyncILUKernelUpdateUnits(l->L, updates, units, plan->stream));
  PlanCall(PlanOffsets(plan, (int)n, units, &total));
  PetscCall(DeviceReadBack(plan->stream, &most, device, sizeof(most)));
  if (most.unfit) {
    PetscCall(PetscSNPrintf(why, len, "a block has more than %d rounds of updates, or needs more than %d entries of other blocks", SYNCILU_BLOCK_ROUNDS - 64,
                            SYNCILU_BLOCK_OUTSIDE - 32));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  l->room  = 2 * SYNCILU_BLOCKS_MOST + most.entries + most.outside;
  l->warps = l->room * plan->size > SYNCILU_BLOCK_WIDE ? SYNCILU_BLOCK_FACTOR / 32 : 1;
  if (l->room * plan->size > SYNCILU_BLOCK_ROOM) {
    PetscCall(PetscStrncpy(why, too_many, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (32.0 * total * (sizeof(*update) + sizeof(*source)) > ListsLimit(f)) {
    PetscCall(PetscStrncpy(why, too_large, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)total * 32 * sizeof(*update), &update));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)total * 32 * sizeof(*source), &source));
  PlanCall(PlanAlloc(plan, &f->memory, n * sizeof(*block), &block));
  PlanLaunch(SyncILUKernelPlaceUpdates(l->L, begin, found, ends, units, update, source, plan->stream));
  PlanCall(PlanOffsets(plan, (int)n, count, &total));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)total * sizeof(*outside), &outside));
  PlanLaunch(SyncILUKernelBlockOutside(l->L, begin, updates, units, list, count, block, outside, plan->stream));
  own->rounds = most.rounds;
  l->block    = block;
  l->update   = update;
  l->source   = source;
  l->outside  = outside;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Blocks(Factorization *f, char why[], size_t len)
{
  Plan                      *plan = f->plan;
  const int                  mark = plan->scratch.n;
  const double               n    = PetscMax(1.0, (double)plan->pattern.n);
  SyncILUDevicePattern       p;
  Blocks                    *own;
  SyncILUDeviceBlockUpdates *l;
  PetscBool                  hopeless = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscNew(&own));
  l          = &own->device;
  f->data    = own;
  f->lanes   = PetscMax(2, PlanLanes(plan, (double)plan->nnz / n / SYNCILU_LIST_ENTRIES)); /* that look for updates */
  l->L       = *TriangleGetBlocks(f->L);
  l->U       = *TriangleGetBlocks(f->U);
  l->inverse = f->L->scale;
  l->runs    = plan->inode > 1; /* else few updates have more than one entry */
  /* a block in the mean, which needs at least half as many entries of others as it has */
  if ((2.0 * SYNCILU_BLOCKS_MOST + 1.5 * plan->nnz / PetscMax(1, l->L.blocks)) * (double)plan->size > SYNCILU_BLOCK_ROOM) {
    PetscCall(PetscStrncpy(why, too_many, len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(ListsHopeless(f, p, 12.0 / PetscMax(1, plan->inode), &hopeless)); /* of each four half are there */
  if (hopeless || (double)plan->part[0] * plan->counts.longest[1] > INT_MAX) PetscCall(PetscStrncpy(why, too_large, len));
  else PlanCall(Deal(f, p, f->lanes, own, why, len));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  f->lanes = 5;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Blocks(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                    Factor *factor)
{
  Plan                            *plan = f->plan;
  const SyncILUDeviceBlockUpdates *l    = &((const Blocks *)f->data)->device;
  SyncILUDeviceFactor              d;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&d, sizeof(d)));
  d.pattern  = plan->pattern;
  d.values   = *values;
  d.pivot    = f->pivot;
  d.size     = SyncILUPivotsRelative(piv->type) ? f->size : NULL;
  d.throttle = OrderThrottle(f->L->order.level_rows, SYNCILU_THROTTLE_COLORS);
  d.ticket   = plan->ticket + 2;
  d.piv      = *piv;
  d.status   = status;
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, d.ticket, (size_t)plan->part[1], l->U.outer, (size_t)plan->pattern.n, f->pivot, plan->stream));
  PlanLaunch(SyncILUKernelFactorBlocks(plan->type, d, *l, plan->stream));
  factor->inverse = l->inverse;
  factor->stored  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Blocks(const Factorization *f, PetscViewer viewer)
{
  const Blocks *own = (const Blocks *)f->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "updates: in %d rounds a block at most, with %d bytes of shared memory\n", own->rounds,
                                   own->device.room * (int)f->plan->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorBlocksOps = {.type   = SYNCILU_UPDATE_AUTO,
                                          .name   = "blocks",
                                          .blocks = PETSC_TRUE,
                                          .fits   = Fits_Blocks,
                                          .create = Create_Blocks,
                                          .factor = Factor_Blocks,
                                          .view   = View_Blocks};
