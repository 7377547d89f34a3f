/*
   Update strategy adapt: rows of one level share a warp, each with as many lanes as suit the mean row. In
   numerical order each has a warp, since rows that follow each other may wait for each other.
*/
#include "cuda.h"
#include "../../kernels/factor_adapt.h"

static int Lanes(const Plan *plan)
{
  const double n = (double)plan->pattern.n;

  if (plan->settings->analysis == SYNCILU_ANALYSIS_NONE) return 5;
  return PetscMax(2, PlanLanes(plan, n > 0.0 ? (double)plan->nnz / n : 0.0));
}

/* Where rows have a warp each, vect is better for those that are short. */
static PetscErrorCode Fits_Adapt(Plan *plan, char why[], size_t len)
{
  PetscFunctionBegin;
  if (plan->settings->update != SYNCILU_UPDATE_ADAPT && Lanes(plan) == 5) PetscCall(PetscStrncpy(why, "each row has a warp, as with vect", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Adapt(Factorization *f, char why[], size_t len)
{
  Plan       *plan  = f->plan;
  const int   lanes = Lanes(plan);
  FactorRows *r;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PlanCall(SearchCreate(f, lanes, SYNCILU_BLOCK_FACTOR >> lanes, SyncILUKernelFactorAdapt));
  PetscCall(SearchPrefetch(f));
  r = &((Search *)f->data)->rows;
  if (lanes < 5) {
    SyncILUDeviceTriangle lower;

    PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
    PlanCall(PlanSlices(plan, &f->memory, lower, r->order.row, r->order.key, lanes, INT_MAX, &r->task, &r->tasks));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorAdaptOps =
  {.type = SYNCILU_UPDATE_ADAPT, .name = "adapt", .fits = Fits_Adapt, .create = Create_Adapt, .factor = SearchFactor, .view = SearchViewPrefetch};
