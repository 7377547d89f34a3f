/*
   Update strategy shared: a warp a row, which compares it with its reference rows.
*/
#include "search.h"
#include "../../kernels/factor_shared.h"

static PetscErrorCode Create_Shared(Factorization *f, char why[], size_t len)
{
  Plan *plan = f->plan;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PlanCall(SearchCreate(f, 5, SYNCILU_BLOCK_FACTOR >> 5, SyncILUKernelFactorShared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorSharedOps = {.type = SYNCILU_UPDATE_SHARED, .name = "shared", .create = Create_Shared, .factor = SearchFactor};
