/*
   Solve strategy levelset: level after level, from W and U' on the pattern. x is by rows.
*/
#include "solve.h"
#include "../../kernels/solve_levelset.h"

static PetscErrorCode Create_Levelset(Triangle *t)
{
  Plan                *plan = t->plan;
  SyncILUDeviceLevels *l;

  PetscFunctionBegin;
  PetscCall(PetscNew(&l));
  t->data  = l;
  t->lanes = EllLanes(plan, t->part);
  PlanCall(
    PlanLevelset(plan, &t->memory, t->rows, t->part, t->lanes, (SYNCILU_POLLS * SYNCILU_LONG_ROW) << t->lanes, SYNCILU_BLOCK_LEVELSET / 32, &t->order, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Levelset(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveLevelset(plan->type, t->rows, plan->crout, *(const SyncILUDeviceLevels *)t->data, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveLevelsetOps = {.type = SYNCILU_SOLVE_LEVELSET, .create = Create_Levelset, .update = TriangleUpdateCrout, .solve = Solve_Levelset};
