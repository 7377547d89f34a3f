/*
   Update strategy parallel: a block a row, in vectors that have an entry each.
*/
#include "search.h"
#include "../../kernels/factor_parallel.h"

static PetscErrorCode Create_Parallel(Factorization *f, char why[], size_t len)
{
  Plan *plan = f->plan;
  int   lanes;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  for (lanes = 0; 1 << lanes < SYNCILU_BLOCK_FACTOR; lanes++) { }
  PlanCall(SearchCreate(f, lanes, 1, SyncILUKernelFactorParallel));
  ((Search *)f->data)->search.vector = PlanLanes(plan, SYNCILU_PARALLEL_LANES);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Parallel(const Factorization *f, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "vectors: %d lanes an entry\n", 1 << ((const Search *)f->data)->search.vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorParallelOps = {.type   = SYNCILU_UPDATE_PARALLEL,
                                            .name   = "parallel",
                                            .create = Create_Parallel,
                                            .factor = SearchFactor,
                                            .view   = View_Parallel};
