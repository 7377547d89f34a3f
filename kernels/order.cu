/*
   The order in which rows are handed out: their levels, and sorting by them.
*/
#include "order.h"
#include "one_block.cuh"
#include "tuning.h"
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

/*
   Threads that a multiprocessor holds, of the architecture that is compiled for: 1,536 at compute capability
   8.6, 8.7, 8.9 and from 11.0 on.
*/
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1100)
constexpr int MULTIPROCESSOR_THREADS = 1536;
#else
constexpr int MULTIPROCESSOR_THREADS = 2048;
#endif

/*
   Levels of L and of U, or of L alone: blocks of rows of each in turn, a lane a row. A warp waits for the
   rows of others, for those of its own block through shared memory. Then it goes through the dependences
   among its own rows with shuffles: on grids in their natural order those are the long chains.

   Progress: a block waits for blocks of lower tickets of its own triangle only. Within a block every warp is
   resident and waits for earlier ones, and within a warp a lane waits for lower ones only.

   LONG: some rows are longer than a lane should go through. All lanes of the warp do so first, since what such
   a row needs of other warps waits for none of this one's rows.
*/
template <bool LONG>
__global__ void __launch_bounds__(SYNCILU_BLOCK_LEVELS, MULTIPROCESSOR_THREADS / SYNCILU_BLOCK_LEVELS / (LONG ? 2 : 1))
  levels_kernel(SyncILUDevicePattern p, bool both, int *__restrict__ levelL, int *__restrict__ levelU, Ticket *ticket, int *levels)
{
  constexpr int       ROWS = SYNCILU_BLOCK_LEVELS, POLLS = 4, MANY = 8;
  __shared__ int      of_block[ROWS];
  __shared__ unsigned mine;

  if (threadIdx.x == 0) mine = (unsigned)atomicAdd(ticket, 1ull);
  of_block[threadIdx.x] = -1;
  __syncthreads(); /* the ticket is there, and nobody polls of_block[] before it is -1 */

  const bool upper = both && (mine & 1);
  const int  first = (int)(both ? mine >> 1 : mine) * ROWS, place = first + (int)threadIdx.x;
  int *const level  = upper ? levelU : levelL;
  const bool active = place < p.n;
  const int  i      = active ? (upper ? p.n - 1 - place : place) : 0;
  /* where of_block[] of this warp begins */
  const int lane = threadIdx.x & 31, own = (int)threadIdx.x - lane;
  int       e        = !active ? 0 : upper ? p.diag[i] + 1 : p.ptr[i];
  const int end      = !active ? 0 : upper ? p.ptr[i + 1] : p.diag[i];
  int       most     = -1;
  unsigned  finished = 0, depends = 0; /* rows of this warp: those that are, and those this one waits for */
  /* entries at work: place in the block, or -2 - row in global memory; their levels, -1 until known */
  int  c[POLLS], v[POLLS];
  bool fresh = true;

  if (LONG) {
    for (unsigned left = __ballot_sync(FULL, end - e > SYNCILU_LEVEL_LONG); left; left &= left - 1) {
      const int from = __ffs(left) - 1, last = __shfl_sync(FULL, end, from);
      unsigned  rows = 0;
      int       l    = -1;

      for (int q = __shfl_sync(FULL, e, from) + lane; q < last; q += 32 * MANY) {
        int other[MANY], of[MANY]; /* rows of other warps, and their levels */

#pragma unroll
        for (int k = 0; k < MANY; k++) other[k] = q + 32 * k < last ? p.col[q + 32 * k] : -1;
#pragma unroll
        for (int k = 0; k < MANY; k++) {
          const int before = (upper ? p.n - 1 - other[k] : other[k]) - first - own;

          if (other[k] >= 0 && before >= 0) {
            rows |= 1u << before;
            other[k] = -1;
          }
          of[k] = other[k] >= 0 ? load_relaxed(level + other[k]) : 0;
        }
#pragma unroll
        for (int k = 0; k < MANY; k++) {
          for (; of[k] < 0; of[k] = load_relaxed(level + other[k])) __nanosleep(SYNCILU_LEVEL_PAUSE);
          if (other[k] >= 0) l = max(l, of[k]);
        }
      }
      __syncwarp();
      l    = __reduce_max_sync(FULL, l);
      rows = __reduce_or_sync(FULL, rows);
      if (lane == from) {
        most    = l;
        depends = rows;
        e       = end;
      }
    }
  }
  for (;;) {
    if (fresh) {
#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        v[k] = 0;
        c[k] = 0;
        if (e + k < end) {
          const int j = p.col[e + k], q = (upper ? p.n - 1 - j : j) - first;

          v[k] = -1;
          c[k] = q >= 0 ? q : -2 - j;
          if (q >= own && !(finished >> (q - own) & 1)) { /* its level will come by a shuffle */
            depends |= 1u << (q - own);
            v[k] = -2;
          }
        }
      }
      fresh = false;
    }
#pragma unroll
    for (int k = 0; k < POLLS; k++)
      if (v[k] == -1) v[k] = c[k] >= 0 ? load_relaxed_shared(of_block + c[k]) : load_relaxed(level - 2 - c[k]);
    if (e < end) {
      bool all = true;

#pragma unroll
      for (int k = 0; k < POLLS; k++) all &= v[k] != -1;
      if (all) {
#pragma unroll
        for (int k = 0; k < POLLS; k++)
          if (e + k < end) most = max(most, v[k]);
        e += POLLS;
        fresh = true;
      }
    }
    bool moved = __any_sync(FULL, fresh && e < end);
    for (;;) { /* as long as one row of this warp follows from another */
      const unsigned now = __ballot_sync(FULL, e >= end && !(finished >> lane & 1) && !(depends & ~finished));

      if (!now) break;
      if (now >> lane & 1) {
        store_relaxed_shared(of_block + threadIdx.x, most + 1);
        if (active) store_relaxed(level + i, most + 1);
      }
      for (unsigned left = now; left; left &= left - 1) {
        const int from = __ffs(left) - 1, l = __shfl_sync(FULL, most, from) + 1;

        if (depends >> from & 1) most = max(most, l);
      }
      finished |= now;
      moved = true;
    }
    if (finished == FULL) break;
    /* else the many that wait take the issue positions of the few that do not */
    if (!moved) __nanosleep(SYNCILU_LEVEL_PAUSE);
    /* the levels of those that finished are in of_block[] for those that come to them later */
    __syncwarp();
  }
  int m = active ? most + 2 : 0;
  for (int o = 16; o; o >>= 1) m = max(m, __shfl_xor_sync(FULL, m, o));
  if (lane == 0 && m > load_relaxed(levels + upper)) atomicMax(levels + upper, m);
}

/* The same with a warp a row, for patterns whose rows would keep one lane for long. */
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  levels_long_kernel(SyncILUDevicePattern p, bool both, int *__restrict__ levelL, int *__restrict__ levelU, Ticket *ticket, int *levels)
{
  constexpr int   POLLS = 4;
  const Ticket    t     = take_ticket(ticket);
  const bool      upper = both && (t & 1);
  const long long place = (long long)(both ? t >> 1 : t);
  const int       lane  = threadIdx.x & 31;
  int *const      level = upper ? levelU : levelL;

  if (place >= p.n) return;
  const int i = upper ? p.n - 1 - (int)place : (int)place, end = upper ? p.ptr[i + 1] : p.diag[i];
  int       most = -1;
  for (int e = (upper ? p.diag[i] + 1 : p.ptr[i]) + lane; e < end; e += 32 * POLLS) {
    int  c[POLLS], v[POLLS];
    bool all;

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      c[k] = e + 32 * k < end ? p.col[e + 32 * k] : -1;
      v[k] = c[k] < 0 ? 0 : -1;
    }
    for (;;) {
      all = true;
#pragma unroll
      for (int k = 0; k < POLLS; k++)
        if (v[k] < 0) v[k] = load_relaxed(level + c[k]);
#pragma unroll
      for (int k = 0; k < POLLS; k++) all &= v[k] >= 0;
      if (all) break;
      __nanosleep(SYNCILU_LEVEL_PAUSE);
    }
#pragma unroll
    for (int k = 0; k < POLLS; k++)
      if (c[k] >= 0) most = max(most, v[k]);
  }
  most = __reduce_max_sync(FULL, most) + 1;
  if (lane == 0) {
    store_relaxed(level + i, most);
    if (most + 1 > load_relaxed(levels + upper)) atomicMax(levels + upper, most + 1);
  }
}

__global__ void reverse_levels_kernel(int n, int levels, const int *levelL, int *levelU)
{
  const long long i = global_thread();

  if (i < n) levelU[i] = levels - 1 - levelL[i];
}

/*
   Entries of a row that one lane goes through, where rows have so many in the mean. Rows of a warp that are longer
   are gone through one after the other, so they must be few.
*/
__device__ __forceinline__ int entries_of_lane(double mean)
{
  return min(max((int)(SYNCILU_LATE_MEANS * mean), SYNCILU_LATE_LONG), SYNCILU_LEVEL_LONG);
}

/*
   Calls what(column, value) for each entry of the rows i of this warp's lanes that have mine set, with the
   value of the row's lane. All lanes share the entries of a long row: one alone would take a second for a
   million.
*/
template <typename What>
__device__ __forceinline__ void each_entry(const SyncILUDeviceTriangle &t, bool mine, int i, int value, What what)
{
  const int      lane = threadIdx.x & 31, begin = mine ? t.begin[i] + t.skip : 0, end = mine ? t.end[i] : 0;
  const unsigned many = __ballot_sync(FULL, end - begin > entries_of_lane((double)t.entries / t.n));

  if (!(many >> lane & 1)) {
    for (int e = begin; e < end; e++) what(t.col[e], value);
  }
  for (unsigned left = many; left; left &= left - 1) {
    const int from = __ffs(left) - 1, first = __shfl_sync(FULL, begin, from), last = __shfl_sync(FULL, end, from);
    const int of = __shfl_sync(FULL, value, from);

    for (int e = first + lane; e < last; e += 32) what(t.col[e], of);
  }
}

__global__ void count_dependents_kernel(SyncILUDeviceTriangle t, int *__restrict__ count)
{
  const long long i = global_thread();

  each_entry(t, i < t.n, (int)i, 1, [=](int k, int one) { atomicAdd(count + k, one); });
}

/*
   ALAP levels, from the last rows to the first: a row whose dependents all have their level tells its own to
   the rows it depends on.

   Progress: tickets, even ones of L and odd ones of U, follow the reverse of the order of elimination, and a
   row waits only for rows of its triangle after it in that order. Memory order: the atomics on the levels
   come before the fence, and that before those on the counters, which the owner of a level acquires; a lane
   that tells the level of another lane's row makes all three itself, since entries are dealt to lanes the
   same way both times.

   Once a row would have a level below `least`, `over` is raised, and all end where they are.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK) levels_late_kernel(SyncILULateLevels lower, SyncILULateLevels upper, int least, int *over, Ticket *ticket)
{
  __shared__ unsigned mine;

  if (threadIdx.x == 0) mine = (unsigned)atomicAdd(ticket, 1ull);
  __syncthreads(); /* the ticket is there */

  const bool                   forward = !(mine & 1);
  const SyncILUDeviceTriangle &t       = forward ? lower.rows : upper.rows;
  int *const level = forward ? lower.level : upper.level, *const count = forward ? lower.count : upper.count;
  const long long place = (long long)(mine >> 1) * blockDim.x + threadIdx.x;
  const int       i     = (int)(forward ? t.n - 1 - place : place);
  bool            done  = place >= t.n;

  while (!__all_sync(FULL, done || load_stale(over))) {
    const bool ready = !done && load_acquire(count + i) == 0;
    const int  own   = ready ? load_relaxed(level + i) : 0;

    if (ready && own < least) store_relaxed(over, 1);
    each_entry(t, ready, i, own - 1, [=](int k, int latest) { atomicMin(level + k, latest); });
    /* one fence for all entries of a lane, where a release of each would be one apiece */
    if (__any_sync(FULL, ready)) fence();
    each_entry(t, ready, i, 0, [=](int k, int) { atomicSub(count + k, 1); });
    done = done || ready;
  }
}

/* The least level, which is negative or zero. */
__global__ void least_level_kernel(int n, const int *__restrict__ level, int *least)
{
  const long long i = global_thread();
  const int       l = __reduce_min_sync(FULL, i < n ? level[i] : 0);

  if ((threadIdx.x & 31) == 0 && l < load_relaxed(least)) atomicMin(least, l);
}

__global__ void add_kernel(int n, int value, int *out)
{
  const long long p = global_thread();

  if (p < n) out[p] += value;
}

__global__ void fill_kernel(int n, int value, int *out)
{
  const long long p = global_thread();

  if (p < n) out[p] = value;
}

__global__ void level_starts_kernel(int n, int levels, const int *__restrict__ sorted, int shift, int *__restrict__ start, int *width)
{
  const long long p = global_thread();

  if (p >= n) return;
  if (p == 0 && width) *width = 0; /* for the next kernel */
  const int l = sorted[p] >> shift;
  for (int k = p ? (sorted[p - 1] >> shift) + 1 : 0; k <= l; k++) start[k] = (int)p; /* some may be empty */
  for (int k = l + 1; p == n - 1 && k <= levels; k++) start[k] = n;
}

__global__ void level_widths_kernel(int levels, const int *__restrict__ start, int *width)
{
  const long long l = global_thread();
  int             w = l < levels ? start[l + 1] - start[l] : 0;

  for (int o = 16; o; o >>= 1) w = max(w, __shfl_xor_sync(FULL, w, o));
  if ((threadIdx.x & 31) == 0) atomicMax(width, w);
}

/* Offsets of lengths in their place, and behind them the sum; of at most SYNCILU_ONE_BLOCK_ROWS. */
__global__ void __launch_bounds__(ONE_BLOCK) offsets_kernel(int n, int *length)
{
  const int sum = offsets_in_block(
    n, [=](int p) { return length[p]; }, [=](int p, int offset) { length[p] = offset; });

  if (threadIdx.x == ONE_BLOCK - 1) length[n] = sum;
}

__global__ void level_counts_kernel(int n, const int *__restrict__ level, int *count)
{
  const long long i = global_thread();

  if (i < n) atomicAdd(count + level[i], 1);
}

__global__ void iota_kernel(int n, bool reverse, int *order)
{
  const long long p = global_thread();

  if (p < n) order[p] = reverse ? n - 1 - (int)p : (int)p;
}

__global__ void reverse_kernel(int n, const int *__restrict__ order, int *__restrict__ reversed)
{
  const long long p = global_thread();

  if (p < n) reversed[p] = order[n - 1 - p];
}

__global__ void invert_kernel(int n, const int *__restrict__ order, int *__restrict__ inverse)
{
  const long long p = global_thread();

  if (p < n) inverse[order[p]] = (int)p;
}

__global__ void gather_kernel(int n, const int *__restrict__ table, const int *__restrict__ index, int *__restrict__ out)
{
  const long long p = global_thread();

  if (p < n) out[p] = table[index[p]];
}

} // namespace

cudaError_t SyncILUKernelProbe(void)
{
  cudaFuncAttributes attributes;

  return cudaFuncGetAttributes(&attributes, iota_kernel);
}

cudaError_t SyncILUKernelLevels(SyncILUDevicePattern p, int longest, double mean, int both, int *levelL, int *levelU, unsigned long long *ticket, int *levels,
                                cudaStream_t stream)
{
  const unsigned triangles = both ? 2 : 1, blocks = triangles * blocks_for(p.n, SYNCILU_BLOCK_LEVELS);

  if (!p.n) return cudaSuccess;
  if (longest <= SYNCILU_LEVEL_LONG) levels_kernel<false><<<blocks, SYNCILU_BLOCK_LEVELS, 0, stream>>>(p, both != 0, levelL, levelU, ticket, levels);
  else if (mean <= SYNCILU_LEVEL_MEAN) levels_kernel<true><<<blocks, SYNCILU_BLOCK_LEVELS, 0, stream>>>(p, both != 0, levelL, levelU, ticket, levels);
  else levels_long_kernel<<<triangles * blocks_for(32ll * p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, both != 0, levelL, levelU, ticket, levels);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLevelsReverse(int n, int levels, const int *levelL, int *levelU, cudaStream_t stream)
{
  LAUNCH(reverse_levels_kernel, n, stream, n, levels, levelL, levelU);
}

cudaError_t SyncILUKernelLevelsLate(SyncILULateLevels lower, SyncILULateLevels upper, int least, int *over, unsigned long long *ticket, cudaStream_t stream)
{
  const unsigned blocks = blocks_for(lower.rows.n, SYNCILU_BLOCK);

  if (!blocks) return cudaSuccess;
  count_dependents_kernel<<<blocks, SYNCILU_BLOCK, 0, stream>>>(lower.rows, lower.count);
  CHECK_LAUNCH();
  count_dependents_kernel<<<blocks, SYNCILU_BLOCK, 0, stream>>>(upper.rows, upper.count);
  CHECK_LAUNCH();
  levels_late_kernel<<<2 * blocks, SYNCILU_BLOCK, 0, stream>>>(lower, upper, least, over, ticket);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLevelsLeast(int n, const int *level, int *least, cudaStream_t stream)
{
  LAUNCH(least_level_kernel, n, stream, n, level, least);
}

cudaError_t SyncILUKernelLevelsAdd(int n, int value, int *level, cudaStream_t stream)
{
  LAUNCH(add_kernel, n, stream, n, value, level);
}

cudaError_t SyncILUKernelLevelsFill(int n, int last, int *level, cudaStream_t stream)
{
  LAUNCH(fill_kernel, n, stream, n, last, level);
}

cudaError_t SyncILUKernelLevelRows(int n, int levels, const int *level, int *count, cudaStream_t stream)
{
  const cudaError_t err = cudaMemsetAsync(count, 0, (size_t)levels * sizeof(*count), stream);

  if (err != cudaSuccess) return err;
  LAUNCH(level_counts_kernel, n, stream, n, level, count);
}

cudaError_t SyncILUKernelLevelWidth(int n, int levels, const int *sorted, int shift, int *start, int *width, cudaStream_t stream)
{
  if (!n) return cudaSuccess;
  level_starts_kernel<<<blocks_for(n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(n, levels, sorted, shift, start, width);
  if (!width) return cudaGetLastError();
  CHECK_LAUNCH();
  level_widths_kernel<<<blocks_for(levels, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(levels, start, width);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSort(void *workspace, size_t *bytes, int n, int max, const int *key, int *sorted, int *order, cudaStream_t stream)
{
  const size_t iota_bytes = round_up((size_t)n * sizeof(int));
  size_t       sort_bytes = 0;
  int *const   iota       = (int *)workspace;
  cudaError_t  err;

  if (!workspace) {
    err    = cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, key, sorted, iota, order, n, 0, SyncILUBits(max), stream);
    *bytes = iota_bytes + sort_bytes;
    return err;
  }
  if (!n) return cudaSuccess;
  iota_kernel<<<blocks_for(n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(n, false, iota);
  CHECK_LAUNCH();
  sort_bytes = *bytes - iota_bytes;
  err        = cub::DeviceRadixSort::SortPairs((char *)workspace + iota_bytes, sort_bytes, key, sorted, iota, order, n, 0, SyncILUBits(max), stream);
  return err != cudaSuccess ? err : cudaGetLastError();
}

cudaError_t SyncILUKernelIota(int n, int reverse, int *order, cudaStream_t stream)
{
  LAUNCH(iota_kernel, n, stream, n, reverse != 0, order);
}

cudaError_t SyncILUKernelReverse(int n, const int *order, int *reversed, cudaStream_t stream)
{
  LAUNCH(reverse_kernel, n, stream, n, order, reversed);
}

cudaError_t SyncILUKernelInvert(int n, const int *order, int *inverse, cudaStream_t stream)
{
  LAUNCH(invert_kernel, n, stream, n, order, inverse);
}

cudaError_t SyncILUKernelGather(int n, const int *table, const int *index, int *out, cudaStream_t stream)
{
  LAUNCH(gather_kernel, n, stream, n, table, index, out);
}

cudaError_t SyncILUKernelOffsets(void *workspace, size_t *bytes, int n, int *length, cudaStream_t stream)
{
  if (n <= SYNCILU_ONE_BLOCK_ROWS) {
    if (workspace) offsets_kernel<<<1, ONE_BLOCK, 0, stream>>>(n, length);
    else *bytes = 0;
    return cudaGetLastError();
  }
  if (workspace) {
    /* it is read, and its value used by nobody */
    const cudaError_t err = cudaMemsetAsync(length + n, 0, sizeof(*length), stream);

    if (err != cudaSuccess) return err;
  }
  return cub::DeviceScan::ExclusiveSum(workspace, *bytes, length, length, n + 1, stream);
}
