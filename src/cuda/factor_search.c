/*
   What the factorizations share that look for the updates each time: their plan and the call of their kernel.
   Rows that shared memory is too small for are kept in device memory.
*/
#include "search.h"
#include "../../kernels/factor.h"

/*
   SearchRoom - room for the rows at work, and for the sums of relaxation

   Not Collective

   Input Parameters:
+  f     - the factorization
.  bytes - of shared memory that an entry of a row takes
-  block - rows that a block has at work

   Output Parameters:
+  r      - knows how many entries of a row fit shared memory
-  search - has device memory for longer rows
*/
PetscErrorCode SearchRoom(Factorization *f, FactorRows *r, size_t bytes, int block, SyncILUDeviceSearch *search)
{
  Plan *plan = f->plan;

  PetscFunctionBegin;
  r->shared = (int)(SYNCILU_SHARED_BYTES / bytes / (size_t)block) - 1;
  r->shared = PetscMin(plan->counts.longest_row, r->shared);
  if (plan->counts.longest_row > r->shared) {
    const int n = plan->pattern.n;
    int      *begin, total;

    PlanCall(PlanAlloc(plan, &f->memory, ((size_t)n + 1) * sizeof(int), &begin));
    PlanLaunch(SyncILUKernelLongLengths(n, plan->pattern.ptr, r->shared, begin, plan->stream));
    PlanCall(PlanOffsets(plan, n, begin, &total));
    PlanCall(PlanAlloc(plan, &f->memory, (size_t)total * plan->size, &search->scratch));
    search->begin = begin;
  }
  if (plan->settings->relax != 0.0) PlanCall(FactorRowsSums(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SearchCreate - plans such a factorization

   Not Collective

   Input Parameters:
+  f      - the factorization
.  lanes  - logarithm of the lanes a row, as the view says
.  block  - rows that a block has at work
-  kernel - the launcher
*/
PetscErrorCode SearchCreate(Factorization *f, int lanes, int block, SearchKernel kernel)
{
  Plan       *plan = f->plan;
  Search     *s;
  FactorRows *r;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  f->data   = s;
  s->kernel = kernel;
  r         = &s->rows;
  f->lanes  = lanes;
  PlanCall(FactorRowsOrder(f, &r->order));
  PlanCall(FactorRowsCreate(f, r));
  r->order.throttle = OrderThrottle(r->order.level_rows, PetscMax(SYNCILU_THROTTLE_SEARCH, SYNCILU_THROTTLE_ROUNDS * PlanRounds(plan)));
  r->tasks          = plan->pattern.n;
  if (block > 1) PlanCall(FactorRowsTurns(plan, &r->order, &f->memory, &r->turn));
  PlanCall(SearchRoom(f, r, sizeof(double) + 3 * sizeof(int), block, &s->search));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Decides whether updates are looked for while others are waited for. */
PetscErrorCode SearchPrefetch(Factorization *f)
{
  const PetscBool3 asked = f->plan->settings->prefetch;
  Search          *s     = (Search *)f->data;

  PetscFunctionBegin;
  s->search.prefetch = asked == PETSC_BOOL3_UNKNOWN ? s->rows.order.level_rows < SYNCILU_PREFETCH_ROWS : asked == PETSC_BOOL3_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SearchFactor(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status, Factor *factor)
{
  Plan               *plan = f->plan;
  const Search       *s    = (const Search *)f->data;
  SyncILUDeviceFactor d;

  PetscFunctionBegin;
  PlanCall(FactorRowsBegin(f, &s->rows, values, piv, status, &d, factor));
  PlanLaunch((*s->kernel)(plan->type, d, s->search, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SearchViewPrefetch(const Factorization *f, PetscViewer viewer)
{
  const Search *s  = (const Search *)f->data;
  const char   *on = s->search.prefetch ? "on" : "off";

  PetscFunctionBegin;
  if (f->plan->settings->prefetch == PETSC_BOOL3_UNKNOWN)
    PetscCall(PetscViewerASCIIPrintf(viewer, "prefetch: %s (auto: levels have %g rows in the mean, it is for fewer than %d)\n", on, s->rows.order.level_rows,
                                     SYNCILU_PREFETCH_ROWS));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "prefetch: %s (asked for)\n", on));
  PetscFunctionReturn(PETSC_SUCCESS);
}
