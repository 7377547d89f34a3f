/*
   Update strategy vect: the updates are searched in each factorization. Rows that shared memory is too small
   for are kept in device memory.
*/
#include "cuda.h"
#include "../../kernels/factor_vect.h"

typedef struct {
  FactorRows          rows;
  SyncILUDeviceSearch search;
} Vect;

static PetscErrorCode Create_Vect(Factorization *f, char why[], size_t len)
{
  Plan        *plan = f->plan;
  const size_t n    = (size_t)plan->pattern.n;
  const double mean = n ? (double)plan->nnz / (double)n : 0.0;
  Vect        *v;
  FactorRows  *r;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PetscCall(PetscNew(&v));
  f->data = v;
  r       = &v->rows;
  PlanCall(FactorRowsOrder(f, r));
  PlanCall(FactorRowsCreate(f, r));
  f->lanes          = r->order.key ? PetscMax(2, PlanLanes(plan, mean)) : 5;
  r->order.throttle = OrderThrottle(r->order.level_rows, SYNCILU_THROTTLE_SEARCH);
  r->tasks          = (int)n;
  if (f->lanes < 5) {
    SyncILUDeviceTriangle lower;

    PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
    PlanCall(PlanSlices(plan, &f->memory, lower, r->order.row, r->order.key, f->lanes, INT_MAX, &r->task, &r->tasks));
  }
  r->shared = (int)(SYNCILU_SHARED_BYTES / (sizeof(double) + 3 * sizeof(int)) / (size_t)(SYNCILU_BLOCK_FACTOR >> f->lanes)) - 1;
  r->shared = PetscMin(plan->counts.longest_row, r->shared);
  if (plan->counts.longest_row > r->shared) {
    int *begin, total;

    PlanCall(PlanAlloc(plan, &f->memory, (n + 1) * sizeof(int), &begin));
    PlanLaunch(SyncILUKernelLongLengths((int)n, plan->pattern.ptr, r->shared, begin, plan->stream));
    PlanCall(PlanOffsets(plan, (int)n, begin, &total));
    PlanCall(PlanAlloc(plan, &f->memory, (size_t)total * plan->size, &v->search.scratch));
    v->search.begin = begin;
  }
  v->search.prefetch = (int)plan->settings->prefetch;
  if (plan->settings->relax != 0.0) PlanCall(FactorRowsSums(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Vect(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                  Factor *factor)
{
  Plan               *plan = f->plan;
  const Vect         *v    = (const Vect *)f->data;
  SyncILUDeviceFactor d;

  PetscFunctionBegin;
  PlanCall(FactorRowsBegin(f, &v->rows, values, piv, status, &d, factor));
  PlanLaunch(SyncILUKernelFactorVect(plan->type, d, v->search, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorVectOps = {.type = SYNCILU_UPDATE_VECT, .name = "vect", .create = Create_Vect, .factor = Factor_Vect};
