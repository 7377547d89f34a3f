/*
   Solve strategy csr: a warp a row, from W and U' on the pattern. x is by rows, whatever their order.
*/
#include "solve.h"
#include "../../kernels/solve_csr.h"

static PetscErrorCode Create_Csr(Triangle *t)
{
  Plan *plan = t->plan;
  int  *level, levels;

  PetscFunctionBegin;
  t->lanes = 5;
  if (t->of) PlanCall(OrderReverse(plan, &t->memory, &t->of->order, &t->order));
  else {
    PlanCall(PlanGetLevels(plan, t->part, &level, &levels));
    PlanCall(OrderCreate(plan, &t->memory, t->part, level, levels, 0, &t->order));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Csr(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveCsr(plan->type, t->rows, plan->crout, t->order.row, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveCsrOps = {.type = SYNCILU_SOLVE_CSR, .create = Create_Csr, .update = TriangleUpdateCrout, .solve = Solve_Csr};
