/*
   Rows that are much longer than the others, in the factorization with lists: many warps share one, by entries, and
   the plan has the updates of each entry.
*/
#include "factor.h"
#include "../../kernels/factor_long.h"

/*
   LongRowsCreate - plans the long rows of a factorization with lists

   Not Collective

   Input Parameters:
+  f     - the factorization
.  r     - its rows, whose tasks are slices in which long rows are alone
.  p     - the pattern
-  limit - bytes that the plan of these rows may take

   Output Parameters:
+  r   - has the tasks of long rows too
.  l   - the long rows
-  why - the reason if they are too many; empty else
*/
PetscErrorCode LongRowsCreate(Factorization *f, FactorRows *r, SyncILUDevicePattern p, double limit, LongRows *l, char why[], size_t len)
{
  Plan                 *plan  = f->plan;
  const PetscBool       asked = (PetscBool)(plan->settings->update == SYNCILU_UPDATE_LIST);
  const int             mark = plan->scratch.n, slices = r->tasks, most = plan->counts.longest_listed;
  const SyncILUSlice   *slice = r->task;
  SyncILUDeviceTriangle columns;
  SyncILULongUpdate    *update;
  SyncILUSlice         *longs;
  unsigned long long   *sum, updates;
  int                  *length, *tasks, *begin, entries, found[2];
  double                bytes;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(l, sizeof(*l)));
  PlanCall(PlanAlloc(plan, &plan->scratch, 2 * ((size_t)slices + 1) * sizeof(int), &length));
  tasks = length + slices + 1;
  PlanLaunch(SyncILUKernelLongRows(p, most, r->order.row, slices, slice, length, tasks, plan->stream));
  PlanCall(PlanOffsets(plan, slices, length, NULL));
  PlanCall(PlanOffsets(plan, slices, tasks, NULL));
  PetscCall(DeviceReadBackTwo(plan->stream, found, length + slices, tasks + slices));
  entries    = found[0];
  r->tasks   = found[1];
  l->entries = (size_t)entries;
  /* rows that are longer than others are few; those of a matrix of long rows need not be */
  l->unfit = (PetscBool)(!asked && SYNCILU_LIST_MEANS * plan->nnz > SYNCILU_LIST_MOST * (double)p.n && entries > SYNCILU_LONG_SHARE * plan->nnz);
  if (l->unfit) {
    PetscCall(PetscSNPrintf(why, len, "most entries are in rows of more than %d", SYNCILU_LIST_MOST));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)r->tasks * sizeof(*r->task), &r->task));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)(r->tasks - slices) * sizeof(*longs), &longs));
  PlanLaunch(SyncILUKernelLongTasks(p, most, r->order.row, slices, slice, length, tasks, r->task, longs, plan->stream));
  PlanCall(PlanTranspose(plan, &plan->scratch, PART_UT, PETSC_FALSE, &columns));
  PlanCall(PlanAlloc(plan, &f->memory, (l->entries + 1) * sizeof(int), &begin));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*sum), &sum));
  CallCUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), plan->stream));
  PlanLaunch(SyncILUKernelLongUpdates(p, columns, r->ubegin, r->order.row, r->tasks - slices, longs, begin, sum, NULL, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &updates, sum, sizeof(updates)));
  bytes = (double)updates * sizeof(*update) + (double)l->entries * (sizeof(int) + sizeof(double) + 3.0 * sizeof(double) / SYNCILU_LONG_ROOM) +
          (double)r->tasks * sizeof(*r->task);
  l->unfit = (PetscBool)(updates > (unsigned long long)INT_MAX);
  if (l->unfit) PetscCall(PetscStrncpy(why, "the longest rows have more updates than an index can count", len));
  else if (bytes > limit) PetscCall(PetscStrncpy(why, "lists of updates of the longest rows would take more memory than the default strategy may", len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanOffsets(plan, entries, begin, NULL));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)(updates + 1) * sizeof(*update), &update)); /* one at least: NULL is for the count */
  PlanLaunch(SyncILUKernelLongUpdates(p, columns, r->ubegin, r->order.row, r->tasks - slices, longs, begin, sum, update, plan->stream));
  PlanCall(PlanAlloc(plan, &f->memory, l->entries * plan->size, &l->device.w));
  PlanCall(PlanAlloc(plan, &f->memory, (l->entries / SYNCILU_LONG_ROOM + 1) * 3 * plan->size, &l->device.part));
  l->device.begin  = begin;
  l->device.update = update;
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills with NaN sentinels what a factorization waits for in long rows. */
PetscErrorCode LongRowsBegin(Plan *plan, const LongRows *l, const SyncILUDeviceFactor *d)
{
  PetscFunctionBegin;
  if (!l->entries) PetscFunctionReturn(PETSC_SUCCESS);
  CallCUDA(cudaMemsetAsync(l->device.w, 0xff, l->entries * plan->size, plan->stream));
  if (d->piv.relax != 0.0 || d->size) CallCUDA(cudaMemsetAsync(l->device.part, 0xff, (l->entries / SYNCILU_LONG_ROOM + 1) * 3 * plan->size, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
