/*
   Rows by level, and what blocks take in turn, for strategies that wait for whole levels.
*/
#include "order.h"
#include "../../kernels/levelset.h"

/*
   PlanLevelset - a triangle by level; in numerical order too, where rows go by their earliest levels

   Not Collective

   Input Parameters:
+  plan   - the plan
.  memory - the list that will have it
.  rows   - of the triangle
.  part   - which triangle; L for a factorization
.  lanes  - logarithm of the lanes a row
.  limit  - entries of a row beyond which it has all 32 lanes
-  warps  - of a block

   Output Parameters:
+  order - of the rows
-  l     - the levels
*/
PetscErrorCode PlanLevelset(Plan *plan, DeviceMemory *memory, SyncILUDeviceTriangle rows, Part part, int lanes, int limit, int warps, Order *order,
                            SyncILUDeviceLevels *l)
{
  const size_t      done = (SYNCILU_RHS_MAX / SYNCILU_RHS_BLOCK) * SYNCILU_COUNTER_INTS * sizeof(int);
  int              *level, *start, *offset, mark;
  SyncILUSlice     *slice;
  SyncILULevelTask *task;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(l, sizeof(*l)));
  l->n     = plan->pattern.n;
  l->warps = warps;
  PlanCall(PlanGetLevels(plan, part, &level, &l->levels));
  PlanCall(OrderCreateByLevel(plan, memory, part, level, l->levels, 0, order));
  PlanCall(PlanSlices(plan, memory, rows, order->row, order->key, 0, lanes, limit, PETSC_FALSE, &slice, &l->slices, NULL));
  l->order = order->row;
  l->slice = slice;
  PlanCall(PlanAlloc(plan, memory, ((size_t)l->levels + 1) * sizeof(int), &start));
  PlanLaunch(SyncILUKernelLevelSlices(*l, order->key, start, plan->stream));
  l->start = start;
  mark     = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)l->slices + 1) * sizeof(int), &offset));
  PlanLaunch(SyncILUKernelLevelTaskFlags(*l, order->key, offset, plan->stream));
  PlanCall(PlanOffsets(plan, l->slices, offset, &l->tasks));
  PlanCall(PlanAlloc(plan, memory, (size_t)l->tasks * sizeof(*task), &task));
  PlanLaunch(SyncILUKernelLevelTasks(*l, order->key, offset, task, plan->stream));
  l->task = task;
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PlanCall(PlanAlloc(plan, memory, done, &l->done));
  CallCUDA(cudaMemsetAsync(l->done, 0, done, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
