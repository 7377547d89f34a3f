/*
   Update strategy levelset: level after level, in numerical order too. Rows that shared memory is too small
   for are kept in device memory.
*/
#include "search.h"
#include "../../kernels/factor_levelset.h"

typedef struct {
  FactorRows          rows;
  SyncILUDeviceLevels levels;
  SyncILUDeviceSearch search;
} Levelset;

static PetscErrorCode Create_Levelset(Factorization *f, char why[], size_t len)
{
  Plan                 *plan = f->plan;
  const size_t          n    = (size_t)plan->pattern.n;
  const double          mean = n ? (double)plan->nnz / (double)n : 0.0;
  Levelset             *l;
  FactorRows           *r;
  SyncILUDeviceTriangle lower;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PetscCall(PetscNew(&l));
  f->data  = l;
  r        = &l->rows;
  f->lanes = PetscMax(2, PlanLanes(plan, mean));
  PlanCall(FactorRowsCreate(f, r));
  PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
  PlanCall(PlanLevelset(plan, &f->memory, lower, PART_L, f->lanes, INT_MAX, SYNCILU_BLOCK_FACTOR / 32, &r->order, &l->levels));
  PlanCall(SearchRoom(f, r, sizeof(double), SYNCILU_BLOCK_FACTOR >> f->lanes, &l->search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Levelset(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                      Factor *factor)
{
  Plan               *plan = f->plan;
  const Levelset     *l    = (const Levelset *)f->data;
  SyncILUDeviceFactor d;

  PetscFunctionBegin;
  PlanCall(FactorRowsBegin(f, &l->rows, values, piv, status, &d, factor));
  PlanLaunch(SyncILUKernelFactorLevelset(plan->type, d, l->levels, l->search, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorLevelsetOps = {.type = SYNCILU_UPDATE_LEVELSET, .name = "levelset", .create = Create_Levelset, .factor = Factor_Levelset};
