/*
   The strategies, and the rule by which auto chooses among them. Nothing else names one.
*/
#include "choose.h"
#include "cuda.h"
#include "struct.h"

PETSC_INTERN const SolveOps SyncILUSolveEllOps, SyncILUSolveCsrOps, SyncILUSolveMrOps, SyncILUSolveHybOps, SyncILUSolveLevelsetOps, SyncILUSolveClusterOps,
  SyncILUSolveBlocksOps, SyncILUSolveBsrOps, SyncILUSolveStructOps, SyncILUSolveStructBlocksOps, SyncILUSolveJacobiOps;

/* In the order in which auto tries them. One of type SYNCILU_SOLVE_AUTO has no option value. */
const SolveOps *const SyncILUCUDASolves[] = {&SyncILUSolveBlocksOps,       &SyncILUSolveEllOps,      &SyncILUSolveCsrOps,     &SyncILUSolveMrOps,
                                             &SyncILUSolveHybOps,          &SyncILUSolveLevelsetOps, &SyncILUSolveClusterOps, &SyncILUSolveBsrOps,
                                             &SyncILUSolveStructBlocksOps, &SyncILUSolveStructOps,   &SyncILUSolveJacobiOps,  NULL};

PETSC_INTERN const FactorOps SyncILUFactorDiagonalOps, SyncILUFactorBlocksOps, SyncILUFactorListOps, SyncILUFactorAdaptOps, SyncILUFactorVectOps,
  SyncILUFactorSharedOps, SyncILUFactorParallelOps, SyncILUFactorLevelsetOps, SyncILUFactorBsrOps, SyncILUFactorStructOps, SyncILUFactorPariluOps,
  SyncILUFactorParilutOps, SyncILUFactorDiluOps;

/*
   In the order in which they are tried; auto tries no further than adapt. One of type SYNCILU_UPDATE_AUTO has
   no option value.
*/
const FactorOps *const SyncILUCUDAUpdates[] = {&SyncILUFactorStructOps,   &SyncILUFactorDiagonalOps,
                                               &SyncILUFactorBlocksOps,   &SyncILUFactorBsrOps,
                                               &SyncILUFactorListOps,     &SyncILUFactorAdaptOps,
                                               &SyncILUFactorVectOps,     &SyncILUFactorSharedOps,
                                               &SyncILUFactorParallelOps, &SyncILUFactorLevelsetOps,
                                               &SyncILUFactorPariluOps,   &SyncILUFactorParilutOps,
                                               &SyncILUFactorDiluOps,     NULL};

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
  CUDA     *d    = (CUDA *)e->data;
  Plan     *plan = &d->plan;
  const int kept = plan->memory.n;
  int       before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  for (int s = 0, tried = 0; SyncILUCUDASolves[s]; s++) { /* one of that type is enough */
    if (SyncILUCUDASolves[s]->type != solve || (tried++ && !why[0])) continue;
    why[0] = 0;
    PetscCall(SolveFits(plan, SyncILUCUDASolves[s], why, len));
  }
  if (plan->unfit[0]) PetscCall(PetscStrncpy(why, plan->unfit, len)); /* the plan there is has what it needs */
  plan->unfit[0] = 0;
  PetscCall(PlanRelease(plan, &plan->memory, kept));
  if (!d->triangle[PART_L].order.lines && !d->triangle[PART_L].order.points) PetscCall(PlanForgetStencil(plan));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
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
  /* what ChooseLines() does not find fit is for the others */
  const SyncILUSolve asked = plan->settings->solve == SYNCILU_SOLVE_STRUCT ? SYNCILU_SOLVE_AUTO : plan->settings->solve;

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
   Whether successive rows of one pattern are worth strategies of their own: those of an inode wait once, but
   where rows have few entries, others are faster.
*/
static PetscBool InodesPay(const Plan *plan)
{
  if (!plan->pattern.n || plan->counts.longest_row > SYNCILU_BSR_LONGEST) return PETSC_FALSE;
  return (PetscBool)(plan->inode > 1 && (double)plan->nnz >= SYNCILU_BSR_ENTRIES * (double)plan->pattern.n);
}

/*
   ChooseInodes - whether auto had better solve by inodes

   Not Collective

   Input Parameters:
+  plan - the plan, with its statistics
-  ops  - the strategy that ChooseSolve() has found

   Output Parameters:
+  ops - the strategy
-  why - the reason, empty if there is none
*/
PetscErrorCode ChooseInodes(const Plan *plan, const SolveOps **ops, char why[], size_t len)
{
  PetscFunctionBegin;
  why[0] = 0;
  if (plan->settings->solve != SYNCILU_SOLVE_AUTO || *ops == &SyncILUSolveBlocksOps) PetscFunctionReturn(PETSC_SUCCESS);
  if (!InodesPay(plan)) {
    const double mean = plan->pattern.n ? (double)plan->nnz / plan->pattern.n : 0.0;

    if (mean < SYNCILU_BSR_ROW || plan->counts.longest_row > SYNCILU_BSR_LONGEST) PetscFunctionReturn(PETSC_SUCCESS);
    *ops = &SyncILUSolveBsrOps;
    PetscCall(PetscSNPrintf(why, len, "rows have %.3g entries in the mean, enough for a warp each", mean));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *ops = &SyncILUSolveBsrOps;
  PetscCall(PetscSNPrintf(why, len, "%d successive rows each, of %.3g entries in the mean, have one pattern and wait together", plan->inode,
                          (double)plan->nnz / plan->pattern.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the solves had better go along lines, of rows or of points, by that strategy, or why they cannot. What is
   found of the grid stays if they do.
*/
static PetscErrorCode LinesPay(Plan *plan, const SolveOps *ops, PetscBool asked, char unfit[], size_t len, PetscBool *pay)
{
  const int mark = plan->scratch.n, kept = plan->memory.n;

  PetscFunctionBegin;
  *pay     = asked;
  unfit[0] = 0;
  PetscCall(SolveFits(plan, ops, unfit, len));
  if (!asked && !unfit[0] && !plan->unfit[0]) {
    if (ops == &SyncILUSolveStructOps) PetscCall(PlanLinesPay(plan, pay));
    else {
      PetscCall(PlanLinesPay(plan->inodes, pay));
      PetscCall(PlanInodesUnfit(plan));
    }
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  if (plan->inodes) PetscCall(PlanRelease(plan->inodes, &plan->inodes->scratch, 0));
  if (plan->unfit[0]) PetscCall(PetscStrncpy(unfit, plan->unfit, len));
  plan->unfit[0] = 0; /* other strategies may have the memory that this one lacks */
  if (unfit[0]) {
    PetscCall(PetscInfo(NULL, "Solve strategy %s: %s\n", SolveName(ops), unfit));
    *pay = PETSC_FALSE;
  }
  if (*pay) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanForgetStencil(plan));
  PetscCall(PlanRelease(plan, &plan->memory, kept)); /* inodes, if nobody had asked for them before */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ChooseLines - whether auto had better solve along the lines of a grid

   Not Collective

   Input Parameters:
+  plan - the plan
-  ops  - the strategy that ChooseSolve() and ChooseInodes() have found

   Output Parameters:
+  ops - the strategy
-  why - the reason, as it was if there is none

   Note:
   Where struct is asked for and does not fit, the reason stands in why.
*/
PetscErrorCode ChooseLines(Plan *plan, const SolveOps **ops, char why[], size_t len)
{
  const PetscBool asked                      = (PetscBool)(plan->settings->solve == SYNCILU_SOLVE_STRUCT);
  const PetscBool factor                     = (PetscBool)(plan->settings->update == SYNCILU_UPDATE_STRUCT); /* which is for no other solve than by rows */
  const PetscBool any                        = (PetscBool)(plan->settings->solve == SYNCILU_SOLVE_AUTO);
  char            unfit[sizeof(plan->unfit)] = "", points[sizeof(plan->unfit)] = "";
  PetscBool       pay = PETSC_FALSE;

  PetscFunctionBegin;
  if (!plan->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  if (plan->inode > 1 && !factor && (asked || (any && (*ops == &SyncILUSolveEllOps || *ops == &SyncILUSolveBsrOps)))) {
    PetscCall(LinesPay(plan, &SyncILUSolveStructBlocksOps, asked, points, sizeof(points), &pay));
    if (pay) {
      *ops = &SyncILUSolveStructBlocksOps;
      PetscCall(StencilReason(plan->inodes, why, len));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (!asked && (!any || *ops != &SyncILUSolveEllOps)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LinesPay(plan, &SyncILUSolveStructOps, (PetscBool)(asked || factor), unfit, sizeof(unfit), &pay));
  if (unfit[0] && asked) PetscCall(PetscSNPrintf(why, len, "%s is asked for, but %s", SolveName(&SyncILUSolveStructOps), points[0] ? points : unfit));
  if (!pay) PetscFunctionReturn(PETSC_SUCCESS);
  *ops = &SyncILUSolveStructOps;
  PetscCall(StencilReason(plan, why, len));
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
-  why - the reason, as it was if there is none

   Note:
   One cluster has a part of the multiprocessors, and starts later than other kernels. The constants are in
   kernels/tuning.h.
*/
PetscErrorCode ChooseNarrow(Plan *plan, const SolveOps **ops, char why[], size_t len)
{
  const PetscBool inodes     = (PetscBool)(*ops == &SyncILUSolveBsrOps);
  char            unfit[128] = "";
  double          slices[2]  = {0.0, 0.0};
  PetscBool       narrow;

  PetscFunctionBegin;
  if (plan->settings->solve != SYNCILU_SOLVE_AUTO || plan->settings->analysis == SYNCILU_ANALYSIS_NONE || !plan->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  if (*ops != &SyncILUSolveEllOps && !inodes) PetscFunctionReturn(PETSC_SUCCESS); /* rows of a level are not what counts there */
  PlanCall(PlanMayBeNarrow(plan, inodes, &narrow));
  if (!narrow) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SolveFits(plan, &SyncILUSolveClusterOps, unfit, sizeof(unfit)));
  if (unfit[0] || plan->unfit[0]) { /* other strategies may have the memory that this one lacks */
    plan->unfit[0] = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanIsNarrow(plan, inodes, slices, &narrow));
  if (narrow) *ops = &SyncILUSolveClusterOps;
  if (!narrow && !why[0] && plan->counts.heavy > SYNCILU_OUTLIERS)
    PetscCall(PetscSNPrintf(why, len, "%d rows have more than %d entries, for which a cluster has too few warps", plan->counts.heavy, SYNCILU_LIST_MOST));
  else if (narrow || !why[0])
    PetscCall(PetscSNPrintf(why, len, "levels of L and U have rows for %.3g and %.3g warps in the mean, which %s", slices[0], slices[1],
                            !narrow                                              ? "suit no cluster"
                            : plan->runs[0].count > 1 || plan->runs[1].count > 1 ? "a cluster goes through faster, wide ones left to all multiprocessors"
                                                                                 : "a cluster goes through faster"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ChooseSearch - whether auto had better search for updates than write lists of them: where levels have few
   rows, the way from level to level is what counts, and a warp a row that searches ahead has the shortest

   Not Collective

   Input Parameters:
+  plan - the plan
-  L    - the triangle that will be solved with

   Output Parameters:
+  narrow - whether levels have few rows
-  why    - the reason, empty if there is none

   Note:
   In numerical order nobody asks for levels. Where there is much to search for, it takes longer than the way
   from level to level; and rows that are much longer than the others, which lists share among warps, have no
   business with one: then lists have a warp for each of the others. The constants are in kernels/tuning.h.
*/
static PetscErrorCode ChooseSearch(Plan *plan, const Triangle *L, PetscBool *narrow, char why[], size_t len)
{
  const double    n = (double)plan->pattern.n, rounds = PlanRounds(plan), mean = n > 0.0 ? (double)plan->nnz / n : 0.0;
  const double    uneven = plan->part[0] ? PetscMin(SYNCILU_NARROW_UNEVEN, n * plan->counts.longest[0] / plan->part[0]) : 1.0;
  const PetscBool wide   = (PetscBool)(mean > SYNCILU_NARROW_LEAST && mean < SYNCILU_NARROW_MOST);
  const PetscBool longs  = (PetscBool)(plan->counts.longest_row > plan->counts.longest_listed);
  const int       mark   = plan->scratch.n;
  int            *level, levels = plan->levels[0];

  PetscFunctionBegin;
  *narrow = PETSC_FALSE;
  if (plan->settings->analysis == SYNCILU_ANALYSIS_NONE || (longs && plan->tiled)) PetscFunctionReturn(PETSC_SUCCESS);
  if (L->order.lines) levels = plan->stencil->levels;
  else if (plan->tiled || levels == UNKNOWN) { /* else the triangle's order has counted them */ PlanCall(PlanGetLevels(plan, PART_L, &level, &levels));
    if (plan->tiled) PetscCall(PlanRelease(plan, &plan->scratch, mark));
    else plan->level[0] = level; /* the order of the factorization will ask for them */
  }
  *narrow = (PetscBool)(n * rounds < (longs ? SYNCILU_NARROW_ROUNDS : wide ? SYNCILU_NARROW_ROUNDS_WIDE : SYNCILU_NARROW_ROUNDS * uneven) * (double)levels);
  if (*narrow && !longs)
    PetscCall(PetscSNPrintf(why, len, "levels have %.3g rows of %.3g entries in the mean, which are faster searched ahead", n / levels, mean));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether auto had better factor along the lines of a grid. */
static PetscBool FactorLinesPay(const Plan *plan, const Triangle *L)
{
  if (!L->order.lines || !plan->statistics.off_diagonal) return PETSC_FALSE;
  return (PetscBool)(plan->stencil->entries[0] + 1 + plan->stencil->entries[1] >= SYNCILU_STRUCT_FACTOR_ENTRIES);
}

/* What speaks for the strategy that auto has found, where nothing was said against others. */
static PetscErrorCode Reason(const Factorization *f, char why[], size_t len)
{
  const Plan  *plan = f->plan;
  const double n = (double)PetscMax(1, plan->pattern.n), mean = (double)plan->nnz / n;
  const int    levels = f->L->order.lines ? plan->stencil->levels : plan->tiled ? UNKNOWN : plan->levels[0];

  PetscFunctionBegin;
  if (f->ops->type == SYNCILU_UPDATE_STRUCT) PetscCall(StencilReason(plan, why, len));
  else if (f->ops->blocks) PetscCall(PetscStrncpy(why, "by the blocks of the solves, straight into their storage", len));
  else if (f->ops->inodes) PetscCall(PetscSNPrintf(why, len, "%d successive rows each, of %.3g entries in the mean, have one pattern", plan->inode, mean));
  else if (f->ops->type != SYNCILU_UPDATE_LIST) PetscFunctionReturn(PETSC_SUCCESS);
  else if (plan->counts.longest_row > plan->counts.longest_listed)
    PetscCall(PetscSNPrintf(why, len, "rows have %.3g entries in the mean, and the longest one, which several warps share, has %d%s", mean,
                            plan->counts.longest_row, f->late ? "; by latest level" : ""));
  else if (levels > 0) PetscCall(PetscSNPrintf(why, len, "levels have %.3g rows of %.3g entries in the mean", n / levels, mean));
  else PetscCall(PetscSNPrintf(why, len, "rows have %.3g entries in the mean", mean));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   FactorizationCreate - chooses the strategy of the factorization and plans it

   Not Collective

   Input Parameters:
+  plan - the plan
-  L, U - the triangles that will be solved with

   Output Parameter:
.  f - the factorization, whose why says what was wrong with the strategy that is asked for, or that auto prefers

   Note: For auto and list those of the table are tried in its order: struct, by auto alone and where lines
   pay; the one for updates of diagonals alone, which does the work of list there; by auto alone, blocks where
   the solves go by these, and bsr where inodes pay; list; and adapt, which takes every pattern. One that
   finds no memory for its plan is followed by the next one too: adapt takes the least. Where struct is asked
   for and does not fit, the others are tried as by auto.
*/
PetscErrorCode FactorizationCreate(Plan *plan, Triangle *L, const Triangle *U, Factorization *f)
{
  const PetscBool     lines = (PetscBool)(plan->settings->update == SYNCILU_UPDATE_STRUCT);
  const SyncILUUpdate asked = lines ? SYNCILU_UPDATE_AUTO : plan->settings->update;
  const PetscBool     any   = (PetscBool)(asked == SYNCILU_UPDATE_AUTO || asked == SYNCILU_UPDATE_LIST);
  int                 mark;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  plan->relaxed = PETSC_FALSE;
  f->plan       = plan;
  f->L          = L;
  f->U          = U;
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)plan->pattern.n * plan->size, &f->pivot));
  mark = f->memory.n;
  for (int u = 0; SyncILUCUDAUpdates[u]; u++) {
    const FactorOps *ops                      = SyncILUCUDAUpdates[u];
    char             why[sizeof(plan->unfit)] = "";
    int              before, kept;

    if (any ? ops->inodes && (asked == SYNCILU_UPDATE_LIST || !InodesPay(plan)) : asked != ops->type) continue;
    if (ops->type == SYNCILU_UPDATE_STRUCT && !lines && (asked != SYNCILU_UPDATE_AUTO || !FactorLinesPay(plan, L))) continue;
    if (ops->blocks && (asked == SYNCILU_UPDATE_LIST || L->ops != &SyncILUSolveBlocksOps)) continue;
    if (asked == SYNCILU_UPDATE_AUTO && ops->type == SYNCILU_UPDATE_LIST) { PlanCall(ChooseSearch(plan, L, &f->narrow, why, sizeof(why))); }
    before = plan->scratch.n;
    kept   = plan->memory.n;
    if (!why[0] && ops->fits) PetscCall((*ops->fits)(plan, why, sizeof(why)));
    if (!why[0]) {
      f->ops = ops;
      PetscCall(FactorHalf(f, "only updates from a list know another way"));
      PetscCall((*ops->create)(f, why, sizeof(why)));
      if (plan->unfit[0] && (!any || ops->type == SYNCILU_UPDATE_ADAPT)) PetscFunctionReturn(PETSC_SUCCESS);
      if (plan->unfit[0]) PetscCall(PetscStrncpy(why, plan->unfit, sizeof(why)));
    }
    if (!why[0]) break;
    f->ops         = NULL;
    plan->unfit[0] = 0;
    if (ops->inodes) PetscCall(PlanRelease(plan, &plan->memory, kept));
    PetscCall(PlanRelease(plan, &f->memory, mark));
    PetscCall(PlanRelease(plan, &plan->scratch, before));
    PetscCall(PetscFree(f->data));
    if (ops->type == SYNCILU_UPDATE_AUTO && !ops->blocks) continue; /* nobody asked for it */
    PetscCall(PetscInfo(NULL, "Factorization not by %s: %s\n", ops->name, why));
    if (!f->why[0]) PetscCall(PetscSNPrintf(f->why, sizeof(f->why), "not %s, since %s", ops->name, why));
  }
  PetscCheck(f->ops, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_update %s: the CUDA backend has no such strategy", SyncILUUpdates[asked]);
  if (asked == SYNCILU_UPDATE_AUTO && !lines && !f->why[0]) PetscCall(Reason(f, f->why, sizeof(f->why)));
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
