/*
   The plan of long rows in the factorization with lists: their tasks and their updates.
*/
#include "factor_long.h"
#include "entries.cuh"
#include "launch.cuh"
#include "table.cuh"
#include "tuning.h"

using namespace syncilu;

namespace
{

/* Entries of the row of a slice if it is long, which is the only one of its slice; else 0. */
__device__ __forceinline__ int long_length(const SyncILUDevicePattern &p, int most, int i)
{
  const int len = p.ptr[i + 1] - p.ptr[i];

  return len > most ? len : 0;
}

__global__ void long_rows_kernel(SyncILUDevicePattern p, int most, const int *__restrict__ order, int slices, const SyncILUSlice *__restrict__ slice,
                                 int *__restrict__ length, int *__restrict__ tasks)
{
  const long long s = global_thread();

  if (s >= slices) return;
  const int i = order[slice[s].first], len = long_length(p, most, i);
  length[s] = len;
  tasks[s]  = len ? SyncILULongTasks(len, p.ptr[i + 1] - p.diag[i] - 1) : 1;
}

/* Each slice has one task that is not in tasks_long, so its offset there is less by the slices before it. */
__global__ void long_tasks_kernel(SyncILUDevicePattern p, int most, const int *__restrict__ order, int slices, const SyncILUSlice *__restrict__ slice,
                                  const int *__restrict__ entry, const int *__restrict__ offset, SyncILUSlice *__restrict__ tasks,
                                  SyncILUSlice *__restrict__ tasks_long)
{
  const long long s    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (s >= slices) return;
  SyncILUSlice d  = slice[s];
  const int    at = offset[s], count = offset[s + 1] - at;
  if (!long_length(p, most, order[d.first])) {
    if (lane == 0) tasks[at] = d;
    return;
  }
  for (int q = lane; q < count; q += 32) {
    d.offset      = entry[s];
    d.width       = q;
    d.shape       = SYNCILU_TASK_LONG | 1 << 3;
    tasks[at + q] = d;
    if (q < count - 1) tasks_long[at - s + q] = d;
  }
}

/*
   The filter of a row has so many bits: most rows of an entry's column are not in the row, and find theirs
   free. A row with more entries than a fourth of them has none.
*/
constexpr int FILTER_BITS = 15;

/*
   Where the updates of an entry come from: rows k that are in the row left of the entry, and in the entry's
   column. Looked through is the shorter of the two lists, in ascending order of k; the other one is searched.
*/
struct Sources {
  const int *row, *column; /* columns of the row, and rows of the column */
  int        left, above;  /* how many */
  int        j;            /* the column */

  __device__ __forceinline__ int candidates() const { return min(left, above); }

  /* Candidate q: its number in the row, if it is in both; filter is that of the row. */
  __device__ __forceinline__ bool find(const ColumnTable &filter, int q, int *in_row) const
  {
    if (above > left) {
      *in_row = q;
      return search_ascending(column, above, row[q]) >= 0;
    }
    const int k = column[q];

    if (!filter.may_have(k)) return false;
    *in_row = search_ascending(row, left, k);
    return *in_row >= 0;
  }

  /* As search(), where the numbers say how far from the ends it may be: in a list without gaps that is all. */
  static __device__ __forceinline__ int search_ascending(const int *list, int count, int k)
  {
    const int first = list[0], last = list[count - 1];

    return k < first || k > last ? -1 : search(list, max(0, count - 1 - (last - k)), min(count, k - first + 1), k);
  }
};

__device__ __forceinline__ Sources sources_of(const SyncILUDevicePattern &p, const SyncILUDeviceTriangle &columns, int i, int e)
{
  const int begin = p.ptr[i], nl = p.diag[i] - begin;
  Sources   s = {p.col, columns.col, 0, 0, 0};

  if (e < p.ptr[i + 1] - begin) {
    const int j = p.col[begin + e];

    s = {p.col + begin, columns.col + columns.begin[j], min(e, nl), columns.end[j] - columns.begin[j], j};
  }
  return s;
}

/*
   The updates of the entries of some tasks a block: of each entry by some lanes, or by all threads where it has
   many candidates. They are written in the order of their candidates, which lanes count; tasks for which none
   were counted are done.
*/
template <bool WRITE>
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  long_updates_kernel(SyncILUDevicePattern p, SyncILUDeviceTriangle columns, const int *__restrict__ upper, const int *__restrict__ order, int tasks,
                      const SyncILUSlice *__restrict__ task, int *__restrict__ begin, unsigned long long *sum, SyncILULongUpdate *__restrict__ update)
{
  constexpr int       WARPS = SYNCILU_BLOCK / 32;
  __shared__ int      hits[WARPS];
  __shared__ unsigned filter_words[1 << (FILTER_BITS - 5)];
  ColumnTable         filter = ColumnTable::filter_alone(filter_words, FILTER_BITS - SYNCILU_TABLE_FILTER_BITS);
  const int           lane = threadIdx.x & 31, sub = lane & (ROW_LANES - 1), warp = threadIdx.x >> 5;
  const unsigned      below = (1u << lane) - 1, group = ((1u << ROW_LANES) - 1) << (lane - sub);
  int                 filled = -1; /* the row that the filter is for */

  auto write = [&](const Sources &s, size_t to, int in_row) {
    const int k = s.row[in_row], at = search(p.col, p.diag[k] + 1, p.ptr[k + 1], s.j);

    update[to].source = in_row;
    update[to].at     = upper ? upper[k] + at - p.diag[k] - 1 : at;
  };

  for (int t = (int)blockIdx.x * SYNCILU_LONG_TASKS; t < min(((int)blockIdx.x + 1) * SYNCILU_LONG_TASKS, tasks); t++) {
    const SyncILUSlice d = task[t];
    const int          i = order[d.first], first = d.width * SYNCILU_LONG_ENTRIES, end = min(first + SYNCILU_LONG_ENTRIES, p.ptr[i + 1] - p.ptr[i]);

    if (first >= end || (WRITE && begin[d.offset + first] == begin[d.offset + end])) continue;
    if (i != filled) {
      const int count = p.diag[i] - p.ptr[i];

      __syncthreads(); /* nobody looks for the last row's any more */
      filter.filter = count <= 1 << (FILTER_BITS - 2) ? filter_words : nullptr;
      filter.fill<true>(p.col + p.ptr[i], count, (int)threadIdx.x, SYNCILU_BLOCK);
    }
    filled    = i;
    bool many = false; /* candidates, for all threads together */
    for (int e = first + (int)threadIdx.x / ROW_LANES; __any_sync(FULL, e < end); e += SYNCILU_BLOCK / ROW_LANES) {
      const Sources s     = sources_of(p, columns, i, e);
      const int     count = e < end && s.candidates() < SYNCILU_ROW_LONG ? s.candidates() : 0;
      int           n     = 0;

      many |= e < end && s.candidates() >= SYNCILU_ROW_LONG;
      for (int q = sub; __any_sync(FULL, q - sub < count); q += ROW_LANES) {
        int            in_row = 0;
        const bool     hit    = q < count && s.find(filter, q, &in_row);
        const unsigned all    = __ballot_sync(FULL, hit) & group;

        if (WRITE && hit) write(s, (size_t)begin[d.offset + e] + n + __popc(all & below), in_row);
        n += __popc(all);
      }
      if (!WRITE) {
        const bool     mine = e < end && sub == 0 && s.candidates() < SYNCILU_ROW_LONG;
        const unsigned all  = __reduce_add_sync(FULL, mine ? (unsigned)n : 0u);

        if (mine) begin[d.offset + e] = n;
        if (lane == 0 && all) atomicAdd(sum, (unsigned long long)all);
      }
    }
    if (!__syncthreads_or(many)) continue;
    for (int e = first; e < end; e++) {
      const Sources s     = sources_of(p, columns, i, e);
      const int     count = s.candidates();
      int           n     = 0;

      if (count < SYNCILU_ROW_LONG) continue;
      for (int q0 = 0; q0 < count; q0 += SYNCILU_BLOCK) {
        const int      q      = q0 + (int)threadIdx.x;
        int            in_row = 0, before = n;
        const bool     hit = q < count && s.find(filter, q, &in_row);
        const unsigned all = __ballot_sync(FULL, hit);

        if (lane == 0) hits[warp] = __popc(all);
        __syncthreads();
        for (int w = 0; w < WARPS; w++) {
          if (w < warp) before += hits[w];
          n += hits[w];
        }
        __syncthreads(); /* before the next round's are written */
        if (WRITE && hit) write(s, (size_t)begin[d.offset + e] + before + __popc(all & below), in_row);
      }
      if (!WRITE && threadIdx.x == 0) {
        begin[d.offset + e] = n;
        atomicAdd(sum, (unsigned long long)n);
      }
    }
  }
}

} // namespace

cudaError_t SyncILUKernelLongRows(SyncILUDevicePattern p, int most, const int *order, int slices, const SyncILUSlice *slice, int *length, int *tasks,
                                  cudaStream_t stream)
{
  LAUNCH(long_rows_kernel, slices, stream, p, most, order, slices, slice, length, tasks);
}

cudaError_t SyncILUKernelLongTasks(SyncILUDevicePattern p, int most, const int *order, int slices, const SyncILUSlice *slice, const int *entry,
                                   const int *offset, SyncILUSlice *tasks, SyncILUSlice *tasks_long, cudaStream_t stream)
{
  LAUNCH(long_tasks_kernel, 32ll * slices, stream, p, most, order, slices, slice, entry, offset, tasks, tasks_long);
}

cudaError_t SyncILUKernelLongUpdates(SyncILUDevicePattern p, SyncILUDeviceTriangle columns, const int *upper, const int *order, int tasks,
                                     const SyncILUSlice *tasks_long, int *begin, unsigned long long *sum, SyncILULongUpdate *update, cudaStream_t stream)
{
  const unsigned grid = blocks_for(tasks, SYNCILU_LONG_TASKS);

  if (!tasks) return cudaSuccess;
  if (update) long_updates_kernel<true><<<grid, SYNCILU_BLOCK, 0, stream>>>(p, columns, upper, order, tasks, tasks_long, begin, sum, update);
  else long_updates_kernel<false><<<grid, SYNCILU_BLOCK, 0, stream>>>(p, columns, upper, order, tasks, tasks_long, begin, sum, update);
  return cudaGetLastError();
}
