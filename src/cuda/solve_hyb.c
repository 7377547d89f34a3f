/*
   Solve strategy hyb: mr with the entries of each slice side by side, in the order of the solve. x is by rows;
   rows of more than 32 entries go on in W and U' on the pattern.
*/
#include "solve.h"
#include "../../kernels/solve_hyb.h"
#include "../../kernels/storage.h"

/* Where levels have few rows most of it is padding, which is what the strategy is: nothing else is taken. */
static PetscErrorCode Create_Hyb(Triangle *t)
{
  Plan             *plan = t->plan;
  SyncILUDeviceEll *ell;
  SyncILUSlice     *slice;
  int              *width, *col, mark;
  size_t            entries;

  PetscFunctionBegin;
  PetscCall(PetscNew(&ell));
  t->data = ell;
  PlanCall(MrCreate(t, &slice, &ell->slices));
  ell->n     = t->rows.n;
  ell->order = t->order.row;
  ell->slice = slice;
  entries    = (size_t)ell->slices * 32;
  if ((double)entries > SYNCILU_PADDING * (double)t->rows.entries + SYNCILU_PADDING_FREE)
    PetscCall(PetscInfo(NULL, "Solve strategy hyb: %d warps have room for 32 entries each, for %d in all\n", ell->slices, t->rows.entries));
  mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)ell->slices * sizeof(int), &width));
  PlanLaunch(SyncILUKernelSliceWidths(t->rows, t->order.row, 0, ell->slices, slice, width, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PlanCall(PlanAlloc(plan, &t->memory, entries * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, &t->memory, entries * plan->size, &ell->val));
  ell->col = col;
  PlanLaunch(SyncILUKernelHybColumns(t->rows, *ell, col, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Update_Hyb(Triangle *t, const Factor *factor)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanCall(TriangleUpdateCrout(t, factor));
  PlanLaunch(SyncILUKernelHybValues(plan->type, t->rows, *(const SyncILUDeviceEll *)t->data, plan->crout, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Hyb(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveHyb(plan->type, t->rows, *(const SyncILUDeviceEll *)t->data, plan->crout, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveHybOps = {.type = SYNCILU_SOLVE_HYB, .create = Create_Hyb, .update = Update_Hyb, .solve = Solve_Hyb};
