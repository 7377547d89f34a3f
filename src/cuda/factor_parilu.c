/*
   Update strategy parilu: sweeps over all entries, each a launch. It is not exact, and taken where it is asked for
   alone; so is parilut, which has the same sweeps on a pattern that was searched for (parilut.c).

   W and U' of an iterate are on the pattern, in two places that sweeps write in turns: the last one writes where
   strategies of the solves look for them. Asynchronous sweeps work in that one place.
*/
#include "factor.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_parilu.h"

typedef struct {
  void *other; /* the place beside plan->crout */
} Parilu;

/*
   PlanSweep - how a sweep takes the rows of a pattern

   Not Collective

   Input Parameter:
.  plan - the plan

   Output Parameter:
.  s - lanes, shared and table; all else is zero
*/
PetscErrorCode PlanSweep(const Plan *plan, SyncILUDeviceSweep *s)
{
  const double upper = plan->pattern.n ? (double)plan->part[1] / plan->pattern.n : 0.0;
  const int    most  = plan->counts.longest_row;
  size_t       rows;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  /* what lanes go through together is a row of U' */
  s->lanes = PetscMax(2, PlanLanes(plan, upper));
  rows     = SYNCILU_BLOCK >> s->lanes;
  if (s->lanes >= SYNCILU_TABLE_LANES && most <= SYNCILU_TABLE_MOST)
    s->table = rows * ((size_t)(most | 1) * sizeof(double) + SyncILUTableBytes(SyncILUTableBits(most))) <= SYNCILU_SHARED_BYTES;
  s->shared = s->table ? most : PetscMin(plan->counts.longest_listed, (int)(SYNCILU_SHARED_BYTES / sizeof(double) / rows) - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Parilu(Factorization *f, char why[], size_t len)
{
  Plan              *plan = f->plan;
  SyncILUDeviceSweep s;
  Parilu            *d;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PetscCall(PetscNew(&d));
  f->data = d;
  PetscCall(PlanSweep(plan, &s));
  f->lanes = s.lanes;
  PlanCall(PlanKeepCrout(plan, &f->memory));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)plan->nnz * plan->size, &d->other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Parilu(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                    Factor *factor)
{
  Plan              *plan     = f->plan;
  void              *place[2] = {plan->crout, ((const Parilu *)f->data)->other};
  const PetscInt     sweeps = plan->settings->sweeps, first = plan->guess ? 1 : 0;
  SyncILUDeviceSweep s;

  PetscFunctionBegin;
  PetscCall(PlanSweep(plan, &s));
  PlanCall(PlanGetPattern(plan, &s.pattern));
  s.values       = *values;
  s.asynchronous = plan->settings->asynchronous;
  s.pivot        = f->pivot;
  s.size         = SyncILUPivotsRelative(piv->type) ? f->size : NULL;
  s.piv          = *piv;
  s.status       = status;
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, plan->ticket + 2, 0, NULL, 0, NULL, plan->stream));
  if (plan->guess && s.asynchronous) CallCUDA(cudaMemcpyAsync(place[0], plan->guess, (size_t)plan->nnz * plan->size, cudaMemcpyDeviceToDevice, plan->stream));
  for (PetscInt sweep = first; sweep <= sweeps; sweep++) { /* the first one makes the guess, unless there is one */
    const int to = s.asynchronous ? 0 : (int)((sweeps - sweep) % 2);

    s.from = sweep ? place[s.asynchronous ? 0 : 1 - to] : NULL;
    if (plan->guess && sweep == first && !s.asynchronous) s.from = plan->guess;
    s.to   = place[to];
    s.work = place[s.asynchronous ? 1 : to];
    s.last = sweep == sweeps;
    PlanLaunch(SyncILUKernelSweep(plan->type, s, plan->stream));
  }
  PetscCall(PlanRestorePattern(plan, &s.pattern));
  PetscCall(PlanRelease(plan, &plan->guess_memory, 0)); /* attempts with a shift begin with the matrix */
  plan->guess        = NULL;
  factor->w.values.a = factor->u.values.a = plan->crout;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Parilu(const Factorization *f, PetscViewer viewer)
{
  const SyncILUSettings *s = f->plan->settings;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "sweeps: %" PetscInt_FMT ", %s\n", s->sweeps,
                                   s->asynchronous ? "asynchronous: results differ from run to run" : "synchronous"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorPariluOps =
  {.type = SYNCILU_UPDATE_PARILU, .name = "parilu", .inexact = PETSC_TRUE, .create = Create_Parilu, .factor = Factor_Parilu, .view = View_Parilu};
const FactorOps SyncILUFactorParilutOps =
  {.type = SYNCILU_UPDATE_PARILUT, .name = "parilut", .inexact = PETSC_TRUE, .create = Create_Parilu, .factor = Factor_Parilu, .view = View_Parilu};
