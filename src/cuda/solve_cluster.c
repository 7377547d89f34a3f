/*
   Solve strategy cluster: the slices of ell that end with levels, gone through by one cluster of blocks. Where
   levels are narrow and wide by turns, runs of wide ones are solved by ell's kernel, which has all multiprocessors,
   a launch each. Several right-hand sides, for which the cluster's rings have no room, are solved for as with ell.
*/
#include "solve.h"
#include "../../kernels/order.h"
#include "../../kernels/solve_cluster.h"
#include "../../kernels/solve_ell.h"
#include "../../kernels/storage.h"

typedef struct {
  Ell                ell; /* first, since what ell does with its storage is done here too */
  SyncILURuns        runs;
  SyncILUDeviceDealt dealt;                       /* with the starts of all runs, one after the other */
  int                task[SYNCILU_RUNS_MOST + 1]; /* the first of each run, and how many there are */
  int                throttle[SYNCILU_RUNS_MOST]; /* of the runs of all multiprocessors */
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
static PetscErrorCode Deal(Triangle *t, int *level, const SyncILURuns *runs, int lanes)
{
  Plan        *plan  = t->plan;
  const size_t bytes = (size_t)plan->pattern.n * sizeof(int);
  const int    mark  = plan->scratch.n;
  Order        order;
  int         *position, *latest;

  PetscFunctionBegin;
  PlanCall(OrderSort(plan, &plan->scratch, level, runs->level[runs->count], 0, NULL, &order));
  PlanCall(OrderPositions(plan, &order, &position));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &latest));
  PlanLaunch(SyncILUKernelClusterLatest(t->rows, *runs, order.row, position, latest, level, plan->stream));
  /* nobody needs positions any more */
  PlanLaunch(SyncILUKernelClusterDeal(*runs, lanes, order.start, order.row, latest, position, level, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tasks run by run and block by block. */
static PetscErrorCode DealTasks(Triangle *t, Cluster *c)
{
  Plan                  *plan  = t->plan;
  const SyncILUDeviceEll ell   = c->ell.ell;
  const size_t           bytes = (size_t)ell.tasks * sizeof(int), rows = (size_t)plan->pattern.n * sizeof(unsigned);
  const int              mark = plan->scratch.n, blocks = c->runs.count << SYNCILU_CLUSTER_BITS;
  SyncILUSlice          *task;
  unsigned              *reader;
  int                   *block, *sorted, *order, *start;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)ell.tasks * sizeof(*task), &task));
  PlanCall(PlanAlloc(plan, &t->memory, ((size_t)blocks + 1) * sizeof(int), &start));
  PlanCall(PlanAlloc(plan, &t->memory, rows, &reader));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &block));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &sorted));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &order));
  PlanLaunch(SyncILUKernelClusterTaskBlocks(ell, c->runs, t->order.key, SYNCILU_WIDTH_BITS, block, plan->stream));
  PlanCall(PlanSort(plan, ell.tasks, blocks, block, sorted, order));
  PlanLaunch(SyncILUKernelLevelWidth(ell.tasks, blocks, sorted, 0, start, NULL, plan->stream));
  CallCUDA(cudaMemsetAsync(reader, 0, rows, plan->stream));
  PlanLaunch(SyncILUKernelClusterReaders(ell, c->runs, order, sorted, task, reader, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  if (c->runs.count > 1) {
    int of_block[(SYNCILU_RUNS_MOST << SYNCILU_CLUSTER_BITS) + 1];

    PetscCall(DeviceReadBack(plan->stream, of_block, start, ((size_t)blocks + 1) * sizeof(*start)));
    for (int r = 0; r < c->runs.count; r++) c->task[r] = of_block[r << SYNCILU_CLUSTER_BITS];
  }
  c->dealt.task    = task;
  c->dealt.start   = start;
  c->dealt.longest = t->rows.longest;
  c->dealt.reader  = reader;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As EllCreateByLevel() has it of all levels. */
static int RunThrottle(const Cluster *c, int r)
{
  const double levels = c->runs.level[r + 1] - c->runs.level[r], rows = c->runs.first[r + 1] - c->runs.first[r];
  const double ahead = SYNCILU_BY_LEVEL_POLLING * levels / PetscMax(1, c->task[r + 1] - c->task[r]);

  return OrderThrottle(rows / levels, PetscMax(SYNCILU_THROTTLE_LEVELS, PetscMin(ahead, SYNCILU_BY_LEVEL_THROTTLE)));
}

static PetscErrorCode Create_Cluster(Triangle *t)
{
  Plan     *plan = t->plan;
  Cluster  *c;
  int      *level, levels, lanes, polls;
  PetscBool dealt;
  double    time[1][2];

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  t->data = c;
  PlanCall(PlanGetLevels(plan, t->part, &level, &levels));
  if (levels > INT_MAX >> (SYNCILU_WIDTH_BITS + SYNCILU_CLUSTER_BITS + 1)) {
    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "%d levels, too many for the keys of solve strategy cluster", levels));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(EllLanesAtOnce(plan, t->part, t->rows, &lanes, &polls));
  if (!t->of && plan->runs[t->part].count) c->runs = plan->runs[t->part];
  else PlanCall(PlanCutLevels(plan, 1, &level, &levels, &lanes, &c->runs, time));
  dealt = (PetscBool)(c->runs.count > 1 || !c->runs.wide);
  if (!lanes && t->rows.longest > SYNCILU_LATE && (double)plan->pattern.n < SYNCILU_CLUSTER_ROWS * (double)levels) lanes = PlanLanes(plan, 2.0);
  if (dealt) PlanCall(Deal(t, level, &c->runs, lanes));
  PlanCall(EllCreateByLevel(t, level, levels, dealt ? SYNCILU_CLUSTER_BITS : 0, lanes, polls ? polls : 2 * SYNCILU_POLLS, 0.0, &c->ell));
  c->task[c->runs.count] = c->ell.ell.tasks;
  if (dealt) PlanCall(DealTasks(t, c));
  for (int r = 0; r < c->runs.count; r++) {
    if (SyncILURunWide(&c->runs, r)) c->throttle[r] = RunThrottle(c, r);
  }
  t->row = t->order.row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One run of several, or all. A launch with tickets leaves its counter for others to set to zero: the other
   triangular solve, whose own counter it sets, as everywhere, and the cluster's runs before and behind it. With one
   right-hand side nobody asks where the partial sums of others are, which the number of tasks tells.
*/
static PetscErrorCode SolveRun(const Triangle *t, int r, SyncILUDeviceSolve s)
{
  Plan              *plan  = t->plan;
  const Cluster     *c     = (const Cluster *)t->data;
  SyncILUDeviceEll   ell   = c->ell.ell;
  SyncILUDeviceDealt dealt = c->dealt;

  PetscFunctionBegin;
  if (SyncILURunWide(&c->runs, r)) {
    ell.task += c->task[r];
    ell.tasks  = c->task[r + 1] - c->task[r];
    s.throttle = c->throttle[r];
    PlanLaunch(SyncILUKernelSolveEll(plan->type, ell, s, plan->stream));
  } else {
    dealt.start += r << SYNCILU_CLUSTER_BITS;
    dealt.first = c->runs.first[r];
    if (c->runs.count > 1) s.reset = s.ticket;
    PlanLaunch(SyncILUKernelSolveCluster(plan->type, ell, dealt, s, plan->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Cluster(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan          *plan = t->plan;
  const Cluster *c    = (const Cluster *)t->data;

  PetscFunctionBegin;
  if (s->nrhs > 1) PlanLaunch(SyncILUKernelSolveEll(plan->type, c->ell.ell, *s, plan->stream));
  else {
    for (int r = 0; r < c->runs.count; r++) PlanCall(SolveRun(t, r, *s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Cluster(const Triangle *t, PetscViewer viewer)
{
  const SyncILURuns *runs = &((const Cluster *)t->data)->runs;
  char               text[64 * SYNCILU_RUNS_MOST];
  size_t             used = 0;

  PetscFunctionBegin;
  if (runs->count == 1 && !runs->wide) PetscFunctionReturn(PETSC_SUCCESS);
  for (int r = 0; r < runs->count; r++) {
    PetscCall(PetscSNPrintf(text + used, sizeof(text) - used, "%s%d to %d by %s", r ? ", " : "", runs->level[r], runs->level[r + 1] - 1,
                            SyncILURunWide(runs, r) ? "all multiprocessors" : "a cluster"));
    used = strlen(text);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "order: %s in %d run%s of levels%s: %s\n", t->part == PART_L ? "L" : "U", runs->count, runs->count > 1 ? "s" : "",
                                   runs->count > 1 ? " by turns" : "", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveClusterOps = {.type    = SYNCILU_SOLVE_CLUSTER,
                                         .hop     = SYNCILU_HOP_CLUSTER,
                                         .fits    = Fits_Cluster,
                                         .create  = Create_Cluster,
                                         .update  = EllUpdate,
                                         .solve   = Solve_Cluster,
                                         .view    = View_Cluster,
                                         .rows    = EllRows,
                                         .columns = EllColumns,
                                         .values  = EllValues};
