/*
   The symbolic phase: keys of entries, rows from sorted keys, the search for fill.
*/
#include "symbolic.h"
#include "launch.cuh"
#include "tuning.h"
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

typedef unsigned long long Key;

__global__ void entry_keys_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ col, const int *__restrict__ rowinv,
                                  const int *__restrict__ colinv, bool transpose, int bits, Key *__restrict__ key, int *__restrict__ diagonal)
{
  const long long t = global_thread();

  if (t / ROW_LANES >= n) return;
  const int r = (int)(t / ROW_LANES), i = rowinv ? rowinv[r] : r, end = ptr[r + 1];
  for (int e = ptr[r] + (int)(t % ROW_LANES); e < end; e += ROW_LANES) {
    const int j = colinv ? colinv[col[e]] : col[e];

    key[e] = transpose ? (Key)j << bits | (Key)i : (Key)i << bits | (Key)j;
    if (diagonal && i == j) diagonal[i] = 1;
  }
}

__global__ void diagonal_keys_kernel(int n, int bits, const int *__restrict__ diagonal, Key *__restrict__ key, int *count)
{
  const long long i     = global_thread();
  const bool      lacks = i < n && !diagonal[i];
  const unsigned  all   = __ballot_sync(FULL, lacks);
  int             first = 0;

  if ((threadIdx.x & 31) == 0 && all) first = atomicAdd(count, __popc(all));
  first = __shfl_sync(FULL, first, 0);
  if (lacks) key[first + __popc(all & ((1u << (threadIdx.x & 31)) - 1))] = (Key)i << bits | (Key)i;
}

__global__ void rows_from_keys_kernel(int n, int bits, int nnz, const Key *__restrict__ key, int *__restrict__ ptr, int *__restrict__ col)
{
  const long long t = global_thread();

  if (t <= n) ptr[t] = first_not_less(key, nnz, (Key)t << bits); /* many rows may be empty: each looks for itself */
  if (t < nnz) col[t] = (int)(key[t] & (((Key)1 << bits) - 1));
}

__global__ void ordered_lengths_kernel(int n, const int *__restrict__ order, const int *__restrict__ ptr, int *__restrict__ length)
{
  const long long i = global_thread();

  if (i < n) length[i] = ptr[order[i] + 1] - ptr[order[i]];
}

/* ROW_LANES lanes a row, the same warp for all of it. */
__global__ void order_rows_kernel(int n, const int *__restrict__ order, const int *__restrict__ colinv, const int *__restrict__ ptr,
                                  const int *__restrict__ col, const int *__restrict__ pptr, int *unsorted, int *__restrict__ pcol, int *__restrict__ map)
{
  const long long t    = global_thread();
  const bool      mine = t / ROW_LANES < n;
  const int       i = mine ? (int)(t / ROW_LANES) : 0, r = order[i], from = ptr[r], to = pptr[i];
  const int       count = mine ? ptr[r + 1] - from : 0, lane = (int)(t % ROW_LANES);

  for (int e = lane; e < count; e += ROW_LANES) unsorted[to + e] = colinv[col[from + e]];
  __syncwarp(); /* what the other lanes of the row have written is there */
  for (int e = lane; e < count; e += ROW_LANES) {
    const int c    = unsorted[to + e];
    int       rank = 0;

    for (int q = 0; q < count; q++) rank += unsorted[to + q] < c;
    pcol[to + rank] = c;
    if (map) map[to + rank] = from + e;
  }
}

constexpr int FREE = -1; /* no row */

/*
   Open addressing, as in table.cuh: whether j is new. The table has a free place, or this does not end.
*/
__device__ __forceinline__ bool insert(int *table, int size, int j)
{
  for (unsigned place = (unsigned)j * 2654435769u >> (32 - size);; place = (place + 1) & ((1u << size) - 1)) {
    const int there = atomicCAS(table + place, FREE, j);

    if (there == FREE || there == j) return there == FREE;
  }
}

/* Entry number r that was found for row i: column j. */
__device__ __forceinline__ void write(const SyncILUDeviceFill &f, int i, int r, int j)
{
  const Key here = (Key)i << f.bits | (Key)j, there = (Key)j << f.bits | (Key)i;

  if (f.both) {
    Key *const pair = f.key + 2 * ((size_t)f.begin[i] + r);

    pair[0] = here;
    pair[1] = there;
  } else f.key[(size_t)f.begin[i] + r] = f.swap ? there : here;
}

/*
   A warp searches for a row i, breadth first, and goes through four rows of the graph at a time. Each row that
   it meets for the first time is an entry if it comes after i; if it comes before, the next step goes through
   it, if there is one. The table has 2^SIZE places. list: the rows; NULL: all.
*/
template <int SIZE, int WARPS>
__global__ void __launch_bounds__(32 * WARPS) fill_kernel(SyncILUDeviceFill f, const int *__restrict__ list, int rows, int *late, int *lates)
{
  constexpr int  TABLE = 1 << SIZE, QUEUE = TABLE / 2;
  __shared__ int tables[WARPS][TABLE], queues[WARPS][QUEUE];
  const int      warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  const unsigned below = (1u << lane) - 1;
  int *const table = tables[warp], *const queue = queues[warp];
  unsigned long long total = 0;

  for (long long row = (long long)blockIdx.x * WARPS + warp; row < rows; row += (long long)gridDim.x * WARPS) {
    const int i       = list ? list[row] : (int)row;
    int       entries = 0, filled = 0, first = 0, last = 1, queued = 1;
    bool      room = true;

    for (int k = lane; k < TABLE; k += 32) table[k] = FREE;
    if (lane == 0) queue[0] = i;
    __syncwarp(); /* the table is free, and the queue has the row */
    for (int step = 0; step <= f.levels && first < last && room; step++) {
      for (int q = first; q < last && room; q += 32 / ROW_LANES) {
        const int own = q + lane / ROW_LANES, k = own < last ? queue[own] : 0;
        const int end = own < last ? f.ptr[k + 1] : 0;

        for (int e = own < last ? f.ptr[k] + lane % ROW_LANES : 0; __any_sync(FULL, e < end); e += ROW_LANES) {
          const int j = e < end ? f.col[e] : i;

          room = filled + 32 <= TABLE / 4 * 3 && queued + 32 <= QUEUE;
          if (!room) break;
          const bool     fresh = j != i && (j > i || step < f.levels) && insert(table, SIZE, j);
          const unsigned after = __ballot_sync(FULL, fresh && j > i), before = __ballot_sync(FULL, fresh && j < i);
          if (f.key && fresh && j > i) write(f, i, entries + __popc(after & below), j);
          if (fresh && j < i) queue[queued + __popc(before & below)] = j;
          entries += __popc(after);
          queued += __popc(before);
          filled += __popc(after | before);
        }
      }
      __syncwarp(); /* the rows of the next step are in the queue */
      first = last;
      last  = queued;
    }
    __syncwarp(); /* nobody looks at the queue or the table any more */
    if (!room && lane == 0) late[atomicAdd(lates, 1)] = i;
    if (!room) continue;
    total += entries;
    if (!f.key && lane == 0) f.count[i] = entries;
  }
  if (!f.key && lane == 0 && total) atomicAdd(f.total, total);
}

constexpr int LATE_BLOCK = 512;

/* The same by a block for a row, with table and queue in memory; each warp goes through a row of the graph. */
__global__ void __launch_bounds__(LATE_BLOCK)
  fill_late_kernel(SyncILUDeviceFill f, const int *__restrict__ list, int rows, int size, int *memory, int *late, int *lates)
{
  __shared__ int entries, filled, queued, full;
  int *const table = memory + ((size_t)blockIdx.x << (size + 1)), *const queue = table + ((size_t)1 << size);
  const int most = (1 << size) - 2 * LATE_BLOCK; /* each thread may add one more when it is reached */

  for (int r = (int)blockIdx.x; r < rows; r += (int)gridDim.x) {
    const int i     = list[r];
    int       first = 0, last = 1;

    for (int k = (int)threadIdx.x; k < 1 << size; k += LATE_BLOCK) table[k] = FREE;
    if (threadIdx.x == 0) {
      entries = filled = full = 0;
      queued                  = 1;
      queue[0]                = i;
    }
    __syncthreads(); /* all of that is there */
    for (int step = 0; step <= f.levels && first < last; step++) {
      for (int q = first + (int)threadIdx.x / 32; q < last; q += LATE_BLOCK / 32) {
        const int k = queue[q], end = f.ptr[k + 1];

        for (int e = f.ptr[k] + (int)threadIdx.x % 32; e < end && !load_relaxed_shared(&full); e += 32) {
          const int j = f.col[e];

          if (j == i || (j < i && step == f.levels) || !insert(table, size, j)) continue;
          if (atomicAdd(&filled, 1) >= most) store_relaxed_shared(&full, 1);
          if (j < i) queue[atomicAdd(&queued, 1)] = j;
          else {
            const int own = atomicAdd(&entries, 1);

            if (f.key) write(f, i, own, j);
          }
        }
      }
      __syncthreads(); /* the rows of the next step are in the queue */
      first = last;
      last  = queued;
      __syncthreads(); /* everybody knows how many, before the next are added */
    }
    if (threadIdx.x == 0) {
      if (full) late[atomicAdd(lates, 1)] = i;
      else if (!f.key) {
        f.count[i] = entries;
        atomicAdd(f.total, (unsigned long long)entries);
      }
    }
    __syncthreads(); /* the counters are used again */
  }
}

} // namespace

cudaError_t SyncILUKernelEntryKeys(int n, const int *ptr, const int *col, const int *rowinv, const int *colinv, int transpose, int bits,
                                   unsigned long long *key, int *diagonal, cudaStream_t stream)
{
  LAUNCH(entry_keys_kernel, (long long)n * ROW_LANES, stream, n, ptr, col, rowinv, colinv, transpose != 0, bits, key, diagonal);
}

cudaError_t SyncILUKernelOrderedLengths(int n, const int *order, const int *ptr, int *length, cudaStream_t stream)
{
  LAUNCH(ordered_lengths_kernel, n, stream, n, order, ptr, length);
}

cudaError_t SyncILUKernelOrderRows(int n, const int *order, const int *colinv, const int *ptr, const int *col, const int *pptr, int *unsorted, int *pcol,
                                   int *map, cudaStream_t stream)
{
  LAUNCH(order_rows_kernel, (long long)n * ROW_LANES, stream, n, order, colinv, ptr, col, pptr, unsorted, pcol, map);
}

cudaError_t SyncILUKernelDiagonalKeys(int n, int bits, const int *diagonal, unsigned long long *key, int *count, cudaStream_t stream)
{
  LAUNCH(diagonal_keys_kernel, n, stream, n, bits, diagonal, key, count);
}

cudaError_t SyncILUKernelRowsFromKeys(void *workspace, size_t *bytes, int n, int bits, int nnz, unsigned long long *key, int *ptr, int *col,
                                      cudaStream_t stream)
{
  const size_t array      = round_up((size_t)nnz * sizeof(Key));
  Key *const   sorted     = (Key *)workspace;
  size_t       sort_bytes = 0;
  cudaError_t  err;

  if (!workspace) {
    err    = cub::DeviceRadixSort::SortKeys(nullptr, sort_bytes, key, sorted, nnz, 0, 2 * bits, stream);
    *bytes = array + sort_bytes;
    return err;
  }
  sort_bytes = *bytes - array;
  err        = cub::DeviceRadixSort::SortKeys((char *)workspace + array, sort_bytes, key, sorted, nnz, 0, 2 * bits, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(rows_from_keys_kernel, (nnz > n ? (long long)nnz : n) + 1, stream, n, bits, nnz, sorted, ptr, col);
}

cudaError_t SyncILUKernelSearchFill(SyncILUDeviceFill f, int *late, int *lates, cudaStream_t stream)
{
  if (f.n) fill_kernel<SYNCILU_FILL_TABLE, SYNCILU_BLOCK / 32><<<few_blocks_for(32ll * f.n), SYNCILU_BLOCK, 0, stream>>>(f, nullptr, f.n, late, lates);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSearchFillMore(SyncILUDeviceFill f, const int *list, int rows, int *late, int *lates, cudaStream_t stream)
{
  constexpr int  WARPS = SYNCILU_BLOCK / 64;
  const unsigned grid  = few_blocks_for(32ll * rows);

  if (rows) fill_kernel<SYNCILU_FILL_TABLE + 2, WARPS><<<grid, 32 * WARPS, 0, stream>>>(f, list, rows, late, lates);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSearchFillLate(SyncILUDeviceFill f, const int *list, int rows, int size, int tables, int *table, int *late, int *lates,
                                        cudaStream_t stream)
{
  if (rows) fill_late_kernel<<<(unsigned)tables, LATE_BLOCK, 0, stream>>>(f, list, rows, size, table, late, lates);
  return cudaGetLastError();
}
