/*
   Values on the pattern: those of the matrix, and W and U' where somebody wants them there.
*/
#include "cuda.h"
#include "../../kernels/pattern.h"

/*
   PlanGetValues - the values of a matrix on the device, as those of the pattern

   Not Collective

   Input Parameters:
+  plan    - the plan
.  pattern - of the symbolic phase
-  A       - the matrix, on the host or on the device

   Output Parameter:
.  v - its values. They and the columns of the matrix are there until PlanLeave()
*/
PetscErrorCode PlanGetValues(Plan *plan, const SyncILUPattern *pattern, const SyncILUCSR *A, SyncILUDeviceValues *v)
{
  const PetscBool host = (PetscBool)PetscMemTypeHost(A->mem);
  const int       mark = plan->scratch.n;

  PetscFunctionBegin;
  if (!plan->columns && host) { /* the matrix has moved since it was analyzed */
    PlanCall(PlanAlloc(plan, &plan->memory, (size_t)plan->nnz * sizeof(int), &plan->columns));
    PetscCall(DeviceUploadIndices(plan->stream, plan->columns, A->j, (size_t)plan->nnz));
  }
  if (!plan->columns) plan->borrowed = (const int *)A->j;
  if (plan->map && !plan->mapped) {
    const int           *aptr, *acol;
    SyncILUDevicePattern p;

    PlanCall(PlanGetRows(plan, A, &aptr, &acol));
    PlanCall(PlanGetPattern(plan, &p));
    PlanLaunch(SyncILUKernelMap(p, plan->row, plan->col, aptr, acol, plan->map, plan->stream));
    PetscCall(PlanRestorePattern(plan, &p));
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
    plan->mapped = PETSC_TRUE;
  }
  v->map = plan->map;
  v->a   = (const double *)A->a;
  if (host) {
    if (!plan->a) PlanCall(PlanAlloc(plan, &plan->memory, (size_t)pattern->nnz * sizeof(double), &plan->a));
    PetscCall(DeviceUpload(plan->stream, plan->a, A->a, (size_t)pattern->nnz * sizeof(double)));
    v->a = plan->a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Memory for W and U' on the pattern, in one of the lists. Its diagonal is nobody's, but copied with the
   rest.
*/
PetscErrorCode PlanKeepCrout(Plan *plan, DeviceMemory *memory)
{
  PetscFunctionBegin;
  if (plan->crout) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, memory, (size_t)plan->nnz * plan->size, &plan->crout));
  CallCUDA(cudaMemsetAsync(plan->crout, 0, (size_t)plan->nnz * plan->size, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Where W and U' on the pattern are while a factorization runs, if the solves have a storage of their own for
   them. -pc_syncilu_check finds them there afterwards: what stands beside a rejected pivot in that storage
   may not come back.
*/
DeviceMemory *PlanCroutMemory(Plan *plan)
{
  return plan->settings->check ? &plan->memory : &plan->scratch;
}

/* Brings W and U' onto the pattern, in whose order somebody wants them. */
PetscErrorCode CroutUpdate(CUDA *d, DeviceMemory *memory)
{
  Plan *plan = &d->plan;

  PetscFunctionBegin;
  if (plan->crout && plan->crout_generation == d->factor.generation) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanKeepCrout(plan, memory));
  for (int k = 0; k < 2; k++) {
    const Triangle *t = &d->triangle[k ? PART_U : PART_L];

    if (t->ops->values) PlanCall((*t->ops->values)(t, plan->crout));
  }
  plan->crout_generation = d->factor.generation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes whole blocks apart that stand between L and U: for solves with one of them alone. */
PetscErrorCode CroutSeparate(CUDA *d)
{
  Plan  *plan   = &d->plan;
  Factor factor = d->factor;

  PetscFunctionBegin;
  if (!factor.whole) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(CroutUpdate(d, &plan->scratch));
  factor.stored     = PETSC_FALSE;
  factor.whole      = NULL;
  factor.w.values.a = factor.u.values.a = plan->crout;
  for (int k = 0; k < 2; k++) {
    Triangle *t = &d->triangle[k ? PART_U : PART_L];

    PlanCall((*t->ops->update)(t, &factor));
  }
  d->factor.whole = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
