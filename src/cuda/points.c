/*
   Points: successive rows of one pattern, as the unknowns of a point of a mesh have, in place of rows.
*/
#include "cuda.h"
#include "../../kernels/points.h"

/* Finds how many rows a point has: as many as possible, one if rows come in no groups. */
static PetscErrorCode FindPoints(Plan *plan)
{
  const int            n = plan->pattern.n, mark = plan->scratch.n;
  SyncILUDevicePattern p;
  int                  sizes = 0, *device;

  PetscFunctionBegin;
  for (int b = 2; b <= SYNCILU_POINT_MOST; b++) sizes |= n % b ? 0 : 1 << b;
  if (sizes && n) {
    PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*device), &device));
    CallCUDA(cudaMemcpyAsync(device, &sizes, sizeof(sizes), cudaMemcpyHostToDevice, plan->stream));
    PlanCall(PlanGetPattern(plan, &p));
    PlanLaunch(SyncILUKernelPointSizes(p, device, plan->stream));
    PetscCall(PlanRestorePattern(plan, &p));
    PetscCall(DeviceReadBack(plan->stream, &sizes, device, sizeof(sizes)));
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
  }
  for (plan->point = SYNCILU_POINT_MOST; plan->point > 1 && !(sizes >> plan->point & 1); plan->point--) { }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the plan of points lacks, the plan does. */
PetscErrorCode PlanPointsUnfit(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->points->unfit[0]) PetscCall(PetscStrncpy(plan->unfit, plan->points->unfit, sizeof(plan->unfit)));
  plan->points->unfit[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanPoints - makes the plan of the points: their pattern, of which levels and orders are found as of any
   other. Where rows come in no groups it has the rows themselves

   Not Collective

   Input Parameter:
.  plan - the plan, with its statistics; plan->points is the result
*/
PetscErrorCode PlanPoints(Plan *plan)
{
  Plan                *points;
  SyncILUDevicePattern p;
  size_t               n, nnz;
  int                 *ptr, *col, *diag, b;

  PetscFunctionBegin;
  if (plan->points) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(FindPoints(plan));
  b   = plan->point;
  n   = (size_t)(plan->pattern.n / b);
  nnz = (size_t)(plan->nnz / (b * b));
  PlanCall(PlanAlloc(plan, &plan->memory, (n + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &plan->memory, nnz * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, &plan->memory, (n + 2) * sizeof(int), &diag));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelPoints(p, b, ptr, col, diag, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(PetscNew(&points));
  plan->points = points;
  PetscCall(PlanCreate(points, plan->settings));
  points->stream             = plan->stream;
  points->ticket             = plan->ticket;
  points->widths             = diag + n;
  points->nnz                = (int)nnz;
  points->pattern.n          = (int)n;
  points->pattern.ptr        = ptr;
  points->pattern.diag       = diag;
  points->columns            = col;
  points->counts.longest_row = plan->counts.longest_row / b;
  for (int k = 0; k < 2; k++) { /* less what the rows of a point have of each other */
    points->counts.longest[k] = plan->counts.longest[k] / b;
    points->part[k]           = (int)((plan->part[k] - (PetscInt64)plan->pattern.n * (b - 1) / 2) / (b * b));
  }
  points->symmetric = plan->symmetric;
  points->reversed  = plan->reversed;
  PetscFunctionReturn(PETSC_SUCCESS);
}
