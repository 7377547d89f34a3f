/*
   Inodes: successive rows of one pattern in place of rows.
*/
#include "plan.h"
#include "../../kernels/inodes.h"

/* Memory that the plan of inodes was short of, the plan is. */
PetscErrorCode PlanInodesUnfit(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->inodes->unfit[0]) PetscCall(PetscStrncpy(plan->unfit, plan->inodes->unfit, sizeof(plan->unfit)));
  plan->inodes->unfit[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanInodes - makes the plan of the inodes: their pattern, of which levels and orders are found as of any
   other. Where rows come in no groups it has the rows themselves

   Not Collective

   Input Parameter:
.  plan - the plan, with its statistics; plan->inodes is the result
*/
PetscErrorCode PlanInodes(Plan *plan)
{
  Plan                *inodes;
  SyncILUDevicePattern p;
  size_t               n, nnz;
  int                 *ptr, *col, *diag, b;

  PetscFunctionBegin;
  if (plan->inodes) PetscFunctionReturn(PETSC_SUCCESS);
  b   = plan->inode;
  n   = (size_t)(plan->pattern.n / b);
  nnz = (size_t)(plan->nnz / (b * b));
  PlanCall(PlanAlloc(plan, &plan->memory, (n + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &plan->memory, nnz * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, &plan->memory, (n + 2) * sizeof(int), &diag));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelInodes(p, b, ptr, col, diag, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(PetscNew(&inodes));
  plan->inodes = inodes;
  PetscCall(PlanCreate(inodes, plan->settings));
  inodes->stream             = plan->stream;
  inodes->ticket             = plan->ticket;
  inodes->found              = plan->found;
  inodes->widths             = diag + n;
  inodes->unknowns           = b;
  inodes->nnz                = (int)nnz;
  inodes->pattern.n          = (int)n;
  inodes->pattern.ptr        = ptr;
  inodes->pattern.diag       = diag;
  inodes->columns            = col;
  inodes->counts.longest_row = plan->counts.longest_row / b;
  for (int k = 0; k < 2; k++) { /* less what the rows of an inode have of each other */
    inodes->counts.longest[k] = plan->counts.longest[k] / b;
    inodes->part[k]           = (int)((plan->part[k] - (PetscInt64)plan->pattern.n * (b - 1) / 2) / (b * b));
  }
  inodes->symmetric = plan->symmetric;
  inodes->reversed  = plan->reversed;
  PetscFunctionReturn(PETSC_SUCCESS);
}
