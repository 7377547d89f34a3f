/*
   The strategies, and the rule by which auto chooses among them. Nothing else names one.
*/
#include "cuda.h"

PETSC_INTERN const SolveOps SyncILUSolveEllOps, SyncILUSolveCsrOps, SyncILUSolveMrOps, SyncILUSolveHybOps, SyncILUSolveLevelsetOps, SyncILUSolveClusterOps,
  SyncILUSolveBlocksOps, SyncILUSolveBsrOps;

/* In the order in which auto tries them. One of type SYNCILU_SOLVE_AUTO has no option value. */
const SolveOps *const SyncILUCUDASolves[] = {&SyncILUSolveBlocksOps,  &SyncILUSolveEllOps, &SyncILUSolveCsrOps,
                                             &SyncILUSolveMrOps,      &SyncILUSolveHybOps, &SyncILUSolveLevelsetOps,
                                             &SyncILUSolveClusterOps, &SyncILUSolveBsrOps, NULL};

PETSC_INTERN const FactorOps SyncILUFactorDiagonalOps, SyncILUFactorListOps, SyncILUFactorAdaptOps, SyncILUFactorVectOps, SyncILUFactorSharedOps,
  SyncILUFactorParallelOps, SyncILUFactorLevelsetOps, SyncILUFactorBsrOps;

/*
   In the order in which they are tried; auto tries no further than adapt. One of type SYNCILU_UPDATE_AUTO has
   no option value.
*/
const FactorOps *const SyncILUCUDAUpdates[] = {&SyncILUFactorDiagonalOps, &SyncILUFactorListOps,   &SyncILUFactorAdaptOps,
                                               &SyncILUFactorVectOps,     &SyncILUFactorSharedOps, &SyncILUFactorParallelOps,
                                               &SyncILUFactorLevelsetOps, &SyncILUFactorBsrOps,    NULL};

/* Of a strategy of the triangular solves. */
const char *SolveName(const SolveOps *ops)
{
  return ops->name ? ops->name : SyncILUSolves[ops->type];
}

/* Why a strategy does not fit pattern or device; nothing if it does. */
static PetscErrorCode SolveFits(Plan *plan, const SolveOps *ops, char why[], size_t len)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2 && !why[0] && ops->fits; k++) PetscCall((*ops->fits)(plan, k ? PART_U : PART_L, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Fits_CUDA(SyncILUEngine e, SyncILUSolve solve, char why[], size_t len)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  for (int s = 0; SyncILUCUDASolves[s]; s++) {
    if (SyncILUCUDASolves[s]->type == solve) PetscCall(SolveFits(plan, SyncILUCUDASolves[s], why, len));
  }
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Warps that the rows of a level have work for, in the mean. */
static double Slices(const Plan *plan, int lanes, double levels)
{
  return (double)plan->pattern.n * (double)(1 << lanes) / (32.0 * levels);
}

/*
   ChooseSolve - the strategy of the triangular solves: the one that is asked for; auto takes the first of the
   table that fits

   Not Collective

   Input Parameter:
.  plan - the plan, with its pattern; L and U have the same strategy

   Output Parameter:
.  ops - the strategy

   Errors:
   PETSC_ERR_SUP with the reason if the strategy that is asked for does not fit the pattern or the device.
*/
PetscErrorCode ChooseSolve(Plan *plan, const SolveOps **ops)
{
  const SyncILUSolve asked = plan->settings->solve;

  PetscFunctionBegin;
  for (int s = 0; SyncILUCUDASolves[s]; s++) {
    char why[128] = "";

    *ops = SyncILUCUDASolves[s];
    if (asked != SYNCILU_SOLVE_AUTO && asked != (*ops)->type) continue;
    PetscCall(SolveFits(plan, *ops, why, sizeof(why)));
    if (!why[0]) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(asked == SYNCILU_SOLVE_AUTO, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_solve %s: %s", SyncILUSolves[asked], why);
  }
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_solve %s: the CUDA backend has no such strategy", SyncILUSolves[asked]);
}

/*
   Whether a matrix in tiles may be for a cluster: tiles in which a row has several lanes have few rows, and
   save few levels. A skewed grid may have fewer levels than its skewed extents, and then more rows for warps
   on each.
*/
static PetscErrorCode MayBeNarrow(Plan *plan, PetscBool *may)
{
  const SyncILUTiling  *t = &plan->tiling;
  SyncILUDeviceTriangle lower;
  long long             extent[3];
  int                   lanes, polls;

  PetscFunctionBegin;
  *may = PETSC_FALSE;
  if (t->block || t->outliers || !plan->tile_lanes) PetscFunctionReturn(PETSC_SUCCESS);
  SyncILUGridExtents(t->points, t->skew, extent);
  PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
  PlanCall(EllLanesAtOnce(plan, PART_L, lower, &lanes, &polls));
  *may = (PetscBool)(Slices(plan, lanes, (double)(extent[0] + extent[1] + extent[2] - 2)) <= SYNCILU_CLUSTER_SLICES);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ChooseNarrow - whether auto had better solve with one cluster of blocks: where levels have few rows, the
   way of a value from row to row is what a solve costs, and within a cluster it is the shortest

   Not Collective

   Input Parameters:
+  plan - the plan, with its statistics
-  ops  - the strategy that ChooseSolve() has found

   Output Parameters:
+  ops - the strategy; with it the plan is no longer in tiles
-  why - the reason, empty if there is none

   Note:
   One cluster has a part of the multiprocessors, and starts later than other kernels. The constants are in
   kernels/tuning.h.
*/
PetscErrorCode ChooseNarrow(Plan *plan, const SolveOps **ops, char why[], size_t len)
{
  const PetscBool tiled      = plan->tiled;
  const int       mark       = plan->scratch.n;
  char            unfit[128] = "";
  double          slices[2]  = {0.0, 0.0};
  int            *level, levels, lanes, polls;
  PetscBool       may = PETSC_TRUE;

  PetscFunctionBegin;
  why[0] = 0;
  if (plan->settings->solve != SYNCILU_SOLVE_AUTO || plan->settings->analysis == SYNCILU_ANALYSIS_NONE || !plan->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  if (*ops == &SyncILUSolveBlocksOps) PetscFunctionReturn(PETSC_SUCCESS); /* rows of a level are not what counts there */
  if (tiled) PlanCall(MayBeNarrow(plan, &may));
  if (!may) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SolveFits(plan, &SyncILUSolveClusterOps, unfit, sizeof(unfit)));
  if (unfit[0] || plan->unfit[0]) { /* other strategies may have the memory that this one lacks */
    plan->unfit[0] = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  plan->tiled = PETSC_FALSE;
  PlanCall(PlanGetLevels(plan, PART_L, &level, &levels));
  plan->level[0] = level; /* for the triangle */
  for (int k = 0; k < 2; k++) {
    SyncILUDeviceTriangle t;

    PlanCall(PlanTriangle(plan, &plan->scratch, k ? PART_U : PART_L, &t));
    PlanCall(EllLanesAtOnce(plan, k ? PART_U : PART_L, t, &lanes, &polls));
    slices[k] = Slices(plan, lanes, (double)plan->levels[k]);
  }
  if (PetscMin(plan->levels[0], plan->levels[1]) < SYNCILU_CLUSTER_LEVELS || PetscMax(slices[0], slices[1]) > SYNCILU_CLUSTER_SLICES) {
    if (tiled) {
      plan->tiled = PETSC_TRUE;
      PetscCall(PlanRelease(plan, &plan->scratch, mark));
      PlanForgetLevels(plan);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *ops = &SyncILUSolveClusterOps;
  PetscCall(
    PetscSNPrintf(why, len, "levels of L and U have rows for %.3g and %.3g warps in the mean, which a cluster goes through faster", slices[0], slices[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of what a triangular solve goes by: colors of blocks, inodes, tiles or rows. */
static int ChainLevels(const Plan *plan, const Triangle *t, int k)
{
  if (t->order.blocks) return plan->colors;
  if (t->order.inodes) return plan->inodes->levels[k];
  return plan->tiled ? plan->tile_levels[k] : plan->levels[k];
}

/*
   Milliseconds that the way through all levels takes in an application: a hop a level and triangle, or with row
   blocks a hop a block and a step a row. The constants are in kernels/tuning.h.
*/
static double ChainTime(const Plan *plan, const Triangle *L, const Triangle *U)
{
  const Triangle *t[2] = {L, U};
  double          time = 0.0;

  for (int k = 0; k < 2; k++) {
    const Ell   *e      = TriangleGetEll(t[k]);
    const double hop    = t[k]->ops == &SyncILUSolveClusterOps ? SYNCILU_HOP_CLUSTER : e && e->ell.by_level ? SYNCILU_HOP_BY_LEVEL : SYNCILU_HOP;
    const int    levels = ChainLevels(plan, t[k], k);

    if (t[k]->order.blocks) time += levels * (SYNCILU_HOP + (double)plan->settings->block_size * SYNCILU_STEP);
    else if (plan->tiled) time += levels * (SYNCILU_HOP + (double)plan->tiling.block * SYNCILU_STEP);
    else time += levels * hop;
  }
  return 1e-6 * time;
}

/*
   ChooseHost - whether auto had better leave the matrix to the host: where its rows are one chain, a core is
   faster

   Not Collective

   Input Parameters:
+  plan - the plan
.  L    - the triangle, with the order of its solve
-  U    - likewise

   Output Parameter:
.  why - the reason, empty if there is none

   Note:
   A core takes its time for each entry.
*/
PetscErrorCode ChooseHost(const Plan *plan, const Triangle *L, const Triangle *U, char why[], size_t len)
{
  const int    levels = ChainLevels(plan, L, 0);
  const double device = ChainTime(plan, L, U), host = 1e-6 * SYNCILU_HOST_ENTRY * (double)plan->nnz;

  PetscFunctionBegin;
  why[0] = 0;
  if (device > SYNCILU_HOST_FACTOR * host) {
    PetscCall(
      PetscSNPrintf(why, len, "a chain of %d levels for %d rows takes a GPU about %.3g ms an application, a core %.3g", levels, plan->pattern.n, device, host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Milliseconds that the bytes of an application take. */
static double BytesTime(double n, double nnz)
{
  return 1e3 * (12.0 * nnz + 40.0 * n) / SYNCILU_BANDWIDTH;
}

/*
   Whether an ordering with few levels takes so much less time than the present one that it is worth its
   iterations. Where a row has many entries, its neighbours are too many for few colors.
*/
static PetscBool FewPay(double n, double nnz, double chain, double ms[2])
{
  ms[0] = BytesTime(n, nnz) + chain;
  ms[1] = BytesTime(n, nnz) + 1e-6 * SYNCILU_BMC_LEVELS * SYNCILU_HOP_BY_LEVEL;
  return (PetscBool)(nnz <= SYNCILU_ADVISE_ENTRIES * n && ms[0] > SYNCILU_ADVISE * ms[1]);
}

/* Before there is a plan: levels of few rows are for a cluster. */
PetscBool Reorder_CUDA(PetscInt n, PetscInt64 nonzeros, const PetscInt levels[2], double ms[2])
{
  double chain = 0.0;

  for (int k = 0; k < 2; k++)
    chain += 1e-6 * (double)levels[k] * ((double)n > 32.0 * SYNCILU_CLUSTER_SLICES * (double)levels[k] ? SYNCILU_HOP_BY_LEVEL : SYNCILU_HOP_CLUSTER);
  return FewPay((double)n, (double)nonzeros, chain, ms);
}

/*
   AdviseOrdering - whether the order of the matrix is such a chain of narrow levels that another one would take
   much less time

   Not Collective

   Input Parameters:
+  plan - the plan
.  L    - the triangle, with the order of its solve
-  U    - likewise

   Output Parameter:
.  advice - which ordering, and about what time both take; empty if there is none

   Note:
   Nothing is reordered unasked: an ordering changes the number of iterations. The constants are in
   kernels/tuning.h.
*/
PetscErrorCode AdviseOrdering(const Plan *plan, const Triangle *L, const Triangle *U, char advice[], size_t len)
{
  double ms[2];

  PetscFunctionBegin;
  advice[0] = 0;
  if (plan->tiled || plan->block || L->order.numerical) PetscFunctionReturn(PETSC_SUCCESS);
  if (FewPay((double)plan->pattern.n, (double)plan->nnz, ChainTime(plan, L, U), ms)) {
    PetscCall(
      PetscSNPrintf(advice, len,
                    "%d levels of L and U for %d rows take about %.2g ms an application; -pc_factor_mat_ordering_type bmc takes about %.2g, and may take "
                    "more iterations",
                    ChainLevels(plan, L, 0) + ChainLevels(plan, U, 1), plan->pattern.n, ms[0], ms[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ChooseSearch - whether auto had better search for updates than write lists of them: where levels have few
   rows, the way from level to level is what counts, and a warp a row that searches ahead has the shortest

   Not Collective

   Input Parameter:
.  plan - the plan

   Output Parameter:
.  why - the reason, empty if there is none

   Note:
   In numerical order nobody asks for levels. Where there is much to search for, it takes longer than the way
   from level to level; and rows that lists share among warps have no business with one. The constants are in
   kernels/tuning.h.
*/
static PetscErrorCode ChooseSearch(Plan *plan, char why[], size_t len)
{
  const double    n = (double)plan->pattern.n, rounds = PlanRounds(plan), mean = n > 0.0 ? (double)plan->nnz / n : 0.0;
  const PetscBool wide = (PetscBool)(mean > SYNCILU_NARROW_LEAST && mean < SYNCILU_NARROW_MOST);
  const int       mark = plan->scratch.n;
  int            *level, levels = plan->levels[0];

  PetscFunctionBegin;
  if (plan->settings->analysis == SYNCILU_ANALYSIS_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (plan->counts.longest_row > SYNCILU_LIST_MOST) PetscFunctionReturn(PETSC_SUCCESS);
  if (plan->tiled || levels == UNKNOWN) { /* else the triangle's order has counted them */
    PlanCall(PlanGetLevels(plan, PART_L, &level, &levels));
    if (plan->tiled) PetscCall(PlanRelease(plan, &plan->scratch, mark));
    else plan->level[0] = level; /* the order of the factorization will ask for them */
  }
  if (n * rounds < (wide ? SYNCILU_NARROW_ROUNDS_WIDE : SYNCILU_NARROW_ROUNDS) * (double)levels)
    PetscCall(PetscSNPrintf(why, len, "levels have %.3g rows of %.3g entries in the mean, which are faster searched ahead", n / levels, mean));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   FactorizationCreate - chooses the strategy of the factorization and plans it

   Not Collective

   Input Parameters:
+  plan - the plan
-  L    - the triangle that will be solved with

   Output Parameter:
.  f - the factorization, whose why says what was wrong with the strategy that is asked for, or that auto prefers

   Note:
   For auto and list those of the table are tried in its order. The first one, where only diagonals have
   updates, stands before list, which it does the work of; then adapt, which takes every pattern. One that
   finds no memory for its plan is followed by the next one too: adapt takes the least.
*/
PetscErrorCode FactorizationCreate(Plan *plan, Triangle *L, Factorization *f)
{
  const SyncILUUpdate asked = plan->settings->update;
  const PetscBool     any   = (PetscBool)(asked == SYNCILU_UPDATE_AUTO || asked == SYNCILU_UPDATE_LIST);
  int                 mark;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  f->plan = plan;
  f->L    = L;
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)plan->pattern.n * plan->size, &f->pivot));
  mark = f->memory.n;
  for (int u = 0; SyncILUCUDAUpdates[u]; u++) {
    const FactorOps *ops                      = SyncILUCUDAUpdates[u];
    char             why[sizeof(plan->unfit)] = "";
    int              before;

    if (!any && asked != ops->type) continue;
    if (asked == SYNCILU_UPDATE_AUTO && ops->type == SYNCILU_UPDATE_LIST) {
      PlanCall(ChooseSearch(plan, why, sizeof(why)));
      f->narrow = (PetscBool)(why[0] != 0);
    }
    before = plan->scratch.n;
    if (!why[0] && ops->fits) PetscCall((*ops->fits)(plan, why, sizeof(why)));
    if (!why[0]) {
      f->ops = ops;
      PetscCall((*ops->create)(f, why, sizeof(why)));
      if (plan->unfit[0] && (!any || ops->type == SYNCILU_UPDATE_ADAPT)) PetscFunctionReturn(PETSC_SUCCESS);
      if (plan->unfit[0]) PetscCall(PetscStrncpy(why, plan->unfit, sizeof(why)));
    }
    if (!why[0]) break;
    f->ops         = NULL;
    plan->unfit[0] = 0;
    PetscCall(PlanRelease(plan, &f->memory, mark));
    PetscCall(PlanRelease(plan, &plan->scratch, before));
    PetscCall(PetscFree(f->data));
    if (ops->type == SYNCILU_UPDATE_AUTO) continue; /* nobody asked for it */
    PetscCall(PetscInfo(NULL, "Factorization not by %s: %s\n", ops->name, why));
    if (!f->why[0]) PetscCall(PetscSNPrintf(f->why, sizeof(f->why), "not %s, since %s", ops->name, why));
  }
  PetscCheck(f->ops, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_update %s: the CUDA backend has no such strategy", SyncILUUpdates[asked]);
  plan->taken += f->memory.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FactorizationDestroy(Factorization *f)
{
  PetscFunctionBegin;
  if (!f->plan) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanRelease(f->plan, &f->memory, 0));
  PetscCall(PetscFree(f->data));
  PetscCall(PetscMemzero(f, sizeof(*f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
