/*
   Solve strategy mr: rows of one level and size class share a warp, from W and U' on the pattern. x is by
   rows. In numerical order, which knows no levels, each row has a warp of its own.
*/
#include "solve.h"
#include "../../kernels/solve_mr.h"
#include "../../kernels/storage.h"

typedef struct {
  SyncILUSlice *slice;
  int           slices;
} Mr;

/*
   MrCreate - the order of a triangle by level and size class, and its slices

   Not Collective

   Input Parameter:
.  t - the triangle

   Output Parameters:
+  slice  - the slices, without widths and offsets
-  slices - how many there are
*/
PetscErrorCode MrCreate(Triangle *t, SyncILUSlice **slice, int *slices)
{
  Plan *plan = t->plan;
  int  *level, levels;

  PetscFunctionBegin;
  t->lanes = PetscMin(5, Log2Ceil((double)t->rows.longest));
  PlanCall(PlanGetLevels(plan, t->part, &level, &levels));
  if (levels > INT_MAX >> (SYNCILU_CLASS_BITS + 1)) {
    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "%d levels, too many for the keys of solve strategy %s", levels, SyncILUSolves[t->ops->type]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanLaunch(SyncILUKernelClassKeys(t->rows, level, plan->stream));
  PlanCall(OrderCreate(plan, &t->memory, t->part, level, levels, SYNCILU_CLASS_BITS, &t->order));
  /* rows that are keys themselves end a slice each */
  PlanCall(PlanSlices(plan, &t->memory, t->rows, t->order.row, t->order.key ? t->order.key : t->order.row, 0, SYNCILU_LANES_BY_LENGTH, INT_MAX, PETSC_FALSE,
                      slice, slices, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Mr(Triangle *t)
{
  Mr *mr;

  PetscFunctionBegin;
  PetscCall(PetscNew(&mr));
  t->data = mr;
  PetscCall(MrCreate(t, &mr->slice, &mr->slices));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Mr(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan     *plan = t->plan;
  const Mr *mr   = (const Mr *)t->data;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveMr(plan->type, t->rows, plan->crout, t->order.row, mr->slices, mr->slice, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveMrOps = {.type = SYNCILU_SOLVE_MR, .create = Create_Mr, .update = TriangleUpdateCrout, .solve = Solve_Mr};
