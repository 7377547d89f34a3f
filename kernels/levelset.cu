/*
   Rows by level: where levels begin, and what blocks take in turn.
*/
#include "levelset.h"
#include "launch.cuh"

using namespace syncilu;

namespace
{

__device__ __forceinline__ int level_of(const SyncILUDeviceLevels &l, const int *__restrict__ key, int slice)
{
  return key[l.slice[slice].first];
}

__device__ __forceinline__ bool is_wide(const SyncILUDeviceLevels &l, int level)
{
  return l.start[level + 1] - l.start[level] > l.warps;
}

/* Levels without rows begin where the next one does. */
__global__ void level_slices_kernel(SyncILUDeviceLevels l, const int *__restrict__ key, int *__restrict__ start)
{
  const long long s = global_thread();

  if (s >= l.slices) return;
  const int level = level_of(l, key, (int)s), before = s ? level_of(l, key, (int)s - 1) : -1;
  for (int k = before + 1; k <= level; k++) start[k] = (int)s;
  for (int k = level + 1; s == l.slices - 1 && k <= l.levels; k++) start[k] = l.slices;
}

__device__ __forceinline__ bool begins_task(const SyncILUDeviceLevels &l, const int *__restrict__ key, int slice)
{
  const int level = level_of(l, key, slice), first = l.start[level];

  if (is_wide(l, level)) return (slice - first) % l.warps == 0;
  return slice == first && (!slice || is_wide(l, level_of(l, key, slice - 1)));
}

__global__ void task_flags_kernel(SyncILUDeviceLevels l, const int *__restrict__ key, int *__restrict__ flag)
{
  const long long s = global_thread();

  if (s < l.slices) flag[s] = begins_task(l, key, (int)s);
}

__global__ void tasks_kernel(SyncILUDeviceLevels l, const int *__restrict__ key, const int *__restrict__ offset, SyncILULevelTask *__restrict__ task)
{
  const long long s = global_thread();

  if (s < l.slices && begins_task(l, key, (int)s)) task[offset[s]] = {(int)s, level_of(l, key, (int)s)};
}

} // namespace

cudaError_t SyncILUKernelLevelSlices(SyncILUDeviceLevels l, const int *key, int *start, cudaStream_t stream)
{
  LAUNCH(level_slices_kernel, l.slices, stream, l, key, start);
}

cudaError_t SyncILUKernelLevelTaskFlags(SyncILUDeviceLevels l, const int *key, int *flag, cudaStream_t stream)
{
  LAUNCH(task_flags_kernel, l.slices, stream, l, key, flag);
}

cudaError_t SyncILUKernelLevelTasks(SyncILUDeviceLevels l, const int *key, const int *offset, SyncILULevelTask *task, cudaStream_t stream)
{
  LAUNCH(tasks_kernel, l.slices, stream, l, key, offset, task);
}
