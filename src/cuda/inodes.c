/*
   Inodes: successive rows of one pattern in place of rows.
*/
#include "struct.h"
#include "../../kernels/inodes.h"

/* Memory that the plan of inodes was short of, the plan is. */
PetscErrorCode PlanInodesUnfit(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->inodes->unfit[0]) PetscCall(PetscStrncpy(plan->unfit, plan->inodes->unfit, sizeof(plan->unfit)));
  plan->inodes->unfit[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns again, for another step of planning. */
static PetscErrorCode MakeColumns(Plan *plan)
{
  int *col;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->memory, (size_t)plan->nnz * sizeof(int), &col));
  PlanCall(StencilColumns(plan, col));
  plan->columns = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Make(Plan *plan)
{
  Plan                *inodes;
  SyncILUDevicePattern p;
  const int            b   = plan->inode;
  const size_t         n   = (size_t)(plan->pattern.n / b);
  const size_t         nnz = (size_t)(plan->nnz / (b * b));
  int                 *ptr, *diag;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->memory, (n + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &plan->memory, (n + 2) * sizeof(int), &diag));
  PetscCall(PetscNew(&inodes));
  plan->inodes = inodes;
  PetscCall(PlanCreate(inodes, plan->settings));
  inodes->stream      = plan->stream;
  inodes->pattern.ptr = ptr; /* with which it goes */
  InodesCall(PlanAlloc(inodes, &inodes->memory, nnz * sizeof(int), &inodes->columns));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelInodes(p, b, ptr, inodes->columns, diag, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  inodes->ticket             = plan->ticket;
  inodes->found              = plan->found;
  inodes->widths             = diag + n;
  inodes->unknowns           = b;
  inodes->nnz                = (int)nnz;
  inodes->pattern.n          = (int)n;
  inodes->pattern.diag       = diag;
  inodes->counts.longest_row = plan->counts.longest_row / b;
  for (int k = 0; k < 2; k++) { /* less what the rows of an inode have of each other */
    inodes->counts.longest[k] = plan->counts.longest[k] / b;
    inodes->part[k]           = (int)((plan->part[k] - (PetscInt64)plan->pattern.n * (b - 1) / 2) / (b * b));
  }
  inodes->symmetric = plan->symmetric;
  inodes->reversed  = plan->reversed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanInodes - makes the plan of the inodes: their pattern, of which levels and orders are found as of any
   other. Where rows come in no groups it has the rows themselves

   Not Collective

   Input Parameter:
.  plan - the plan, with its statistics; plan->inodes is the result, with its columns
*/
PetscErrorCode PlanInodes(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->inodes) {
    if (!plan->inodes->columns && plan->inodes->nnz) InodesCall(MakeColumns(plan->inodes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Make(plan));
  if (!plan->unfit[0] || !plan->inodes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanDestroy(plan->inodes));
  PetscCall(PetscFree(plan->inodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanForgetInodeColumns - frees the columns, which PlanGetPattern() makes of the stencil then

   Not Collective

   Input Parameter:
.  plan - the plan, whose solves go along the lines of a grid of points, and whose factorization is planned
*/
PetscErrorCode PlanForgetInodeColumns(Plan *plan)
{
  PetscFunctionBegin;
  plan->inodes->columns = NULL;
  PetscCall(PlanRelease(plan->inodes, &plan->inodes->memory, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 PlanInodesBytes(const Plan *plan)
{
  return plan->inodes ? plan->inodes->memory.bytes : 0;
}
