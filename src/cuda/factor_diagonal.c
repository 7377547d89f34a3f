/*
   The factorization where only diagonals have updates: the recurrence of the pivots is a triangular solve
   with L, in sliced ELL or along the lines of a grid, and W and D U' are the entries of the matrix. It has no
   option value: where it fits, it is what list and auto do.

   dilu is D-ILU, which updates diagonals alone on any pattern, and is taken where it is asked for.
*/
#include "factor.h"
#include "struct.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_diagonal.h"
#include "../../kernels/solve_struct.h"

typedef struct {
  Ell  own; /* where the triangle of L is not in sliced ELL */
  Ell  ell;
  int *transposed_entry, *dindex;
  int  indexed; /* the second one is filled */
  int  throttle;
} Diagonal;

static PetscErrorCode Fits_Diagonal(Plan *plan, char why[], size_t len)
{
  PetscFunctionBegin;
  if (plan->statistics.off_diagonal) PetscCall(PetscStrncpy(why, "other entries than diagonals have updates", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Diagonal(Factorization *f, char why[], size_t len)
{
  Plan                *plan = f->plan;
  const Ell           *ell  = TriangleGetEll(f->L);
  SyncILUDevicePattern p;
  Diagonal            *d;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  f->both[0] = 0; /* neither is */
  PetscCall(PetscNew(&d));
  f->data = d;
  if (f->L->order.lines) PetscFunctionReturn(PETSC_SUCCESS);
  if (!ell) {
    SyncILUDeviceTriangle lower;
    Order                 order;

    PlanCall(FactorRowsOrder(f, &order));
    PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
    PlanCall(EllCreate(plan, &f->memory, lower, &order, EllLanes(plan, PART_L), 0, &d->own));
    d->throttle = order.throttle;
    ell         = &d->own;
  } else d->throttle = f->L->order.throttle;
  d->ell   = *ell;
  f->lanes = ell->lanes;
  PlanCall(PlanAlloc(plan, &f->memory, ell->entries * sizeof(int), &d->transposed_entry));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)plan->pattern.n * sizeof(int), &d->dindex));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelTransposedEntries(p, ell->ell, d->transposed_entry, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Along lines: the coefficients, and the diagonal, stand in the place of L's values, which come there later. */
static PetscErrorCode FactorLines(Factorization *f, SyncILUDevicePattern p, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv,
                                  SyncILUDeviceStatus *status)
{
  Plan                      *plan  = f->plan;
  const SyncILUDeviceStruct *lower = (const SyncILUDeviceStruct *)f->L->data;
  const size_t               room  = f->L->room;
  SyncILUDeviceSolve         s     = {.x = f->workspace, .nrhs = 1, .ticket = plan->ticket + 2};
  SyncILUDeviceStruct        upper = {.points = 0};
  signed char                line[SYNCILU_STRUCT_LINES][2];

  PetscFunctionBegin;
  StencilDescribe(plan->stencil, PART_U, &upper, line);
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, s.ticket,
                                      f->wide             ? (size_t)p.n
                                      : piv->relax != 0.0 ? 0
                                                          : room,
                                      f->wide ? (void *)f->pivot : s.x, 0, NULL, plan->stream));
  if (f->wide) PlanLaunch(SyncILUKernelWidePivots(plan->type, p, NULL, *values, f->workspace, *piv, f->pivot, NULL, s.ticket, status, plan->stream));
  else {
    PlanLaunch(SyncILUKernelStructCoefficients(plan->type, p, *lower, upper, *values, *piv, f->workspace, status, plan->stream));
    /* sums of relaxation were where the solution comes */
    if (piv->relax != 0.0) CallCUDA(cudaMemsetAsync(s.x, 0xff, room * plan->size, plan->stream));
    PlanLaunch(SyncILUKernelStructPivots(plan->type, *lower, s, *piv, f->pivot, status, plan->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Diagonal(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                      Factor *factor)
{
  Plan                *plan = f->plan;
  Diagonal            *d    = (Diagonal *)f->data;
  const size_t         n    = (size_t)plan->pattern.n;
  SyncILUDevicePattern p;
  SyncILUDeviceSolve   s;
  double              *sum = f->workspace;
  PetscBool            shared; /* sums of relaxation come where the solution goes later */

  PetscFunctionBegin;
  factor->w.values  = *values;
  factor->u.values  = *values;
  factor->u.divisor = f->pivot;
  PlanCall(PlanGetPattern(plan, &p));
  if (f->L->order.lines) {
    PlanCall(FactorLines(f, p, values, piv, status));
    PetscCall(PlanRestorePattern(plan, &p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* the map came with the matrix */
  if (!d->indexed) PlanLaunch(SyncILUKernelDiagonalIndex(p.n, p.diag, plan->map, d->ell.ell.order, d->dindex, plan->stream));
  d->indexed = 1;
  PetscCall(PetscMemzero(&s, sizeof(s)));
  s.b      = values->a;
  s.bindex = d->dindex;
  /*
     the solution is the reciprocals of the pivots by positions, which the solves with this triangle will need
  */
  s.x        = TriangleGetEll(f->L) ? f->L->scale : f->workspace;
  s.nrhs     = 1;
  s.throttle = d->throttle;
  s.ticket   = plan->ticket + 2;
  shared     = (PetscBool)(!f->wide && piv->relax != 0.0 && s.x == sum);
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, s.ticket, shared ? 0 : n, f->wide ? (void *)f->pivot : s.x, 0, NULL, plan->stream));
  if (f->wide) {
    if (piv->relax != 0.0 && s.x == sum) PlanCall(PlanAlloc(plan, &plan->scratch, n * plan->size, &sum));
    PlanLaunch(SyncILUKernelWidePivots(plan->type, p, d->ell.ell.order, *values, sum, *piv, f->pivot, s.x, s.ticket, status, plan->stream));
  } else {
    PlanLaunch(SyncILUKernelCoefficients(plan->type, p, d->ell.ell, d->transposed_entry, *values, *piv, sum, status, plan->stream));
    if (shared) CallCUDA(cudaMemsetAsync(s.x, 0xff, n * plan->size, plan->stream));
    PlanLaunch(SyncILUKernelPivots(plan->type, d->ell.ell, s, *piv, f->pivot, status, plan->stream));
  }
  PetscCall(PlanRestorePattern(plan, &p));
  factor->inverse = s.x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorDiagonalOps = {.type   = SYNCILU_UPDATE_AUTO,
                                            .name   = "diagonal-only, as one triangular solve",
                                            .fits   = Fits_Diagonal,
                                            .create = Create_Diagonal,
                                            .factor = Factor_Diagonal};

static PetscErrorCode Create_Dilu(Factorization *f, char why[], size_t len)
{
  PetscFunctionBegin;
  (void)why;
  (void)len;
  f->both[0] = 0; /* neither is */
  f->lanes   = f->plan->counts.longest[0] > SYNCILU_DILU_SHORT ? 5 : SYNCILU_DILU_LANES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows in the order of the pattern, which any solve goes with; the sums of relaxation have room in the workspace. */
static PetscErrorCode Factor_Dilu(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                  Factor *factor)
{
  Plan                *plan = f->plan;
  SyncILUDevicePattern p;

  PetscFunctionBegin;
  factor->w.values  = *values;
  factor->u.values  = *values;
  factor->u.divisor = f->pivot;
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, plan->ticket + 2, (size_t)p.n, f->pivot, 0, NULL, plan->stream));
  if (f->lanes < 5) PlanLaunch(SyncILUKernelShortPivots(plan->type, p, *values, f->workspace, *piv, f->pivot, plan->ticket + 2, status, plan->stream));
  else PlanLaunch(SyncILUKernelWidePivots(plan->type, p, NULL, *values, f->workspace, *piv, f->pivot, NULL, plan->ticket + 2, status, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorDiluOps = {.type = SYNCILU_UPDATE_DILU, .name = "dilu", .inexact = PETSC_TRUE, .create = Create_Dilu, .factor = Factor_Dilu};
