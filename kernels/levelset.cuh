/*
   Working by levels: rows of a level begin when all rows of the levels before are finished (M. Naumov, NVIDIA
   technical report NVR-2012-003). There a level is a launch, and a chain of small levels is one launch of one
   block. Here all of them are one launch: what ended with a launch is a counter of the rows that are finished.

   Progress: blocks take tasks by ticket when they start, and tasks follow the order of the levels. A block
   waits for rows of earlier levels alone, which belong to lower tickets, so that of the lowest unfinished
   ticket waits for nothing, whatever else is resident.

   Memory order: a counter announces all that a block has written. The block's barrier comes before the
   release by its first thread, and the acquire of another block's first thread before that block's barrier.
   So the values of earlier levels need no order of their own and no sentinel: plain loads will do, which the
   multiprocessor's cache may serve. Within a chain the barrier alone separates a level's writes from the next
   level's reads.
*/
#ifndef SYNCILU_LEVELSET_CUH
#define SYNCILU_LEVELSET_CUH

#include "syncfree.cuh"
#include "types.h"

namespace syncilu
{

/*
   Returns when so many rows are finished. All threads of the block call it. An acquire empties the
   multiprocessor's cache, which others use meanwhile: so there is one at the end, not one a look.
*/
__device__ __forceinline__ void wait_for_rows(const int *done, int rows)
{
  if (threadIdx.x == 0 && rows) {
    while (load_relaxed(done) < rows) __nanosleep(SYNCILU_THROTTLE_PAUSE);
    (void)load_acquire(done);
  }
  __syncthreads(); /* the others read what the first thread has waited for */
}

/*
   Says that the block has finished so many rows. Once all are, nobody waits any more: ready for the next
   launch.
*/
__device__ __forceinline__ void announce_rows(int *done, int rows, int n)
{
  __syncthreads(); /* all warps have written */
  if (threadIdx.x == 0 && add_release(done, rows) + rows == n) store_relaxed(done, 0);
}

/*
   Goes through a task with all threads of a block: the slices of a part of a level, or of all levels of a
   chain, one a warp. load(k) returns what slice k needs that does not depend on earlier levels; it is called
   while those are waited for. For a warp without slice k is -1. work(what load() returned) does the rest.
*/
template <int WARPS, typename Load, typename Work>
__device__ __forceinline__ void work_by_levels(const SyncILUDeviceLevels &l, int task, int *done, Load load, Work work)
{
  const int              warp  = threadIdx.x >> 5;
  const SyncILULevelTask t     = l.task[task];
  auto                   first = [&](int slice) { return slice < l.slices ? l.slice[slice].first : l.n; };
  int                    level = t.level, begin = l.start[level], end = l.start[level + 1], stop;
  auto                   now = load(t.slice + warp < end ? t.slice + warp : -1);

  wait_for_rows(done, first(begin));
  if (end - begin > WARPS) {
    work(now);
    stop = min(t.slice + WARPS, end);
  } else {
    for (;;) {
      level++;
      begin = end;
      if (level < l.levels) end = l.start[level + 1];
      const bool more = level < l.levels && end - begin <= WARPS;
      const auto next = load(more && begin + warp < end ? begin + warp : -1);

      work(now);
      if (!more) break;
      __syncthreads(); /* the next level reads what this one has written */
      now = next;
    }
    stop = begin;
  }
  announce_rows(done, first(stop) - first(t.slice), l.n);
}

} // namespace syncilu

#endif
