/*
   Update strategy vect: a warp a row, which searches for the updates by long rows and compares short ones.
*/
#include "search.h"
#include "../../kernels/factor_vect.h"

static PetscErrorCode Create_Vect(Factorization *f, char why[], size_t len)
{
  Plan *plan = f->plan;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PlanCall(SearchCreate(f, 5, SYNCILU_BLOCK_FACTOR >> 5, SyncILUKernelFactorVect));
  PetscCall(SearchPrefetch(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorVectOps = {.type = SYNCILU_UPDATE_VECT, .name = "vect", .create = Create_Vect, .factor = SearchFactor, .view = SearchViewPrefetch};
