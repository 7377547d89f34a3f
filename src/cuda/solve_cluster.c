/*
   Solve strategy cluster: the slices of ell that end with levels, gone through by one cluster of blocks.
   Several right-hand sides, for which its rings have no room, are solved for as with ell.
*/
#include "cuda.h"
#include "../../kernels/order.h"
#include "../../kernels/solve_cluster.h"
#include "../../kernels/solve_ell.h"
#include "../../kernels/storage.h"

typedef struct {
  Ell                ell; /* first, since what ell does with its storage is done here too */
  SyncILUDeviceDealt dealt;
} Cluster;

static PetscErrorCode Fits_Cluster(Plan *plan, Part part, char why[], size_t len)
{
  int fits;

  PetscFunctionBegin;
  (void)part;
  PlanLaunch(SyncILUKernelClusterFits(&fits));
  if (!fits) PetscCall(PetscSNPrintf(why, len, "the device has no clusters of %d blocks", SYNCILU_CLUSTER_BLOCKS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of the rows, each with the block that has the row in its lowest bits. */
static PetscErrorCode Deal(Triangle *t, int *level, int levels, int lanes)
{
  Plan        *plan  = t->plan;
  const size_t bytes = (size_t)plan->pattern.n * sizeof(int);
  const int    mark  = plan->scratch.n;
  Order        order;
  int         *position, *latest;

  PetscFunctionBegin;
  PlanCall(OrderCreateByLevel(plan, &plan->scratch, t->part, level, levels, 0, &order));
  PlanCall(OrderPositions(plan, &order, &position));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &latest));
  PlanLaunch(SyncILUKernelClusterLatest(t->rows, order.row, position, latest, plan->stream));
  /* nobody needs positions any more */
  PlanLaunch(SyncILUKernelClusterDeal(levels, lanes, order.start, order.row, latest, position, level, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tasks block by block. */
static PetscErrorCode DealTasks(Triangle *t, Cluster *c)
{
  Plan                  *plan  = t->plan;
  const SyncILUDeviceEll ell   = c->ell.ell;
  const size_t           bytes = (size_t)ell.tasks * sizeof(int), rows = (size_t)plan->pattern.n * sizeof(unsigned);
  const int              mark = plan->scratch.n;
  SyncILUSlice          *task;
  unsigned              *reader;
  int                   *block, *sorted, *order, *start;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)ell.tasks * sizeof(*task), &task));
  PlanCall(PlanAlloc(plan, &t->memory, (SYNCILU_CLUSTER_BLOCKS + 1) * sizeof(int), &start));
  PlanCall(PlanAlloc(plan, &t->memory, rows, &reader));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &block));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &sorted));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &order));
  PlanLaunch(SyncILUKernelClusterTaskBlocks(ell, t->order.key, SYNCILU_WIDTH_BITS, block, plan->stream));
  PlanCall(PlanSort(plan, ell.tasks, SYNCILU_CLUSTER_BLOCKS, block, sorted, order));
  PlanLaunch(SyncILUKernelLevelWidth(ell.tasks, SYNCILU_CLUSTER_BLOCKS, sorted, 0, start, NULL, plan->stream));
  CallCUDA(cudaMemsetAsync(reader, 0, rows, plan->stream));
  PlanLaunch(SyncILUKernelClusterReaders(ell, order, sorted, task, reader, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  c->dealt.task    = task;
  c->dealt.start   = start;
  c->dealt.longest = t->rows.longest;
  c->dealt.reader  = reader;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Cluster(Triangle *t)
{
  Plan    *plan = t->plan;
  Cluster *c;
  int     *level, levels, lanes, polls;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  t->data = c;
  PlanCall(PlanGetLevels(plan, t->part, &level, &levels));
  if (levels > INT_MAX >> (SYNCILU_WIDTH_BITS + SYNCILU_CLUSTER_BITS + 1)) {
    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "%d levels, too many for the keys of solve strategy cluster", levels));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(EllLanesAtOnce(plan, t->part, t->rows, &lanes, &polls));
  if (!lanes && t->rows.longest > SYNCILU_LATE && (double)plan->pattern.n < SYNCILU_CLUSTER_ROWS * (double)levels) lanes = PlanLanes(plan, 2.0);
  PlanCall(Deal(t, level, levels, lanes));
  PlanCall(EllCreateByLevel(t, level, levels, SYNCILU_CLUSTER_BITS, lanes, polls ? polls : 2 * SYNCILU_POLLS, 0.0, &c->ell));
  PlanCall(DealTasks(t, c));
  t->row = t->order.row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Cluster(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan          *plan = t->plan;
  const Cluster *c    = (const Cluster *)t->data;

  PetscFunctionBegin;
  if (s->nrhs == 1) PlanLaunch(SyncILUKernelSolveCluster(plan->type, c->ell.ell, c->dealt, *s, plan->stream));
  else PlanLaunch(SyncILUKernelSolveEll(plan->type, c->ell.ell, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveClusterOps = {.type    = SYNCILU_SOLVE_CLUSTER,
                                         .hop     = SYNCILU_HOP_CLUSTER,
                                         .fits    = Fits_Cluster,
                                         .create  = Create_Cluster,
                                         .update  = EllUpdate,
                                         .solve   = Solve_Cluster,
                                         .rows    = EllRows,
                                         .columns = EllColumns,
                                         .values  = EllValues};
