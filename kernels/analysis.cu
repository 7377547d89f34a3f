/*
   Analysis of a pattern: what depends on the pattern alone and is done once for it.
*/
#include "syncilu_kernels.h"
#include "values.cuh"
#include "tuning.h"
#include <climits>
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

/* Goes through the entries of row i from e on, and returns where its diagonal stands, counted from 1; 0 where it was not seen. */
__device__ __forceinline__ int look_through(int n, const int *__restrict__ col, int i, int begin, int end, int e, int step, int *__restrict__ diag, bool *bad)
{
  int here = 0;

  for (; e < end; e += step) {
    const int j = col[e];

    *bad |= j < 0 || j >= n || (e > begin && col[e - 1] >= j);
    if (j == i) {
      diag[i] = e;
      here    = e - begin + 1;
    }
  }
  return here;
}

/* ROW_LANES lanes a row, and the whole block for those rows that would take these too long. */
__global__ void rows_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ col, int *__restrict__ diag, SyncILUDeviceCounts *counts)
{
  constexpr int      ROWS  = SYNCILU_BLOCK / ROW_LANES;
  const int          sub   = threadIdx.x % ROW_LANES;
  int                lower = 0, upper = 0, entries = 0;
  unsigned long long sum = 0;
  __shared__ int     place[ROWS]; /* of the diagonal in a long row */

  for (long long first = (long long)blockIdx.x * ROWS; first < n; first += (long long)gridDim.x * ROWS) {
    const int  i     = (int)min(first + threadIdx.x / ROW_LANES, (long long)n - 1);
    const bool mine  = first + threadIdx.x / ROW_LANES < n;
    const int  begin = ptr[i], end = mine ? ptr[i + 1] : begin;
    const bool wait = end - begin > SYNCILU_ROW_LONG;
    int        here = 0;
    bool       bad  = false;

    if (!wait) here = look_through(n, col, i, begin, end, begin + sub, ROW_LANES, diag, &bad);
    for (int o = ROW_LANES / 2; o; o >>= 1) here = max(here, __shfl_xor_sync(FULL, here, o));
    if (__syncthreads_or(wait)) {
      if (threadIdx.x < ROWS) place[threadIdx.x] = 0;
      __syncthreads();
      for (int r = 0; r < ROWS && first + r < n; r++) {
        const int k = (int)first + r, from = ptr[k], to = ptr[k + 1];
        bool      wrong = false;

        if (to - from <= SYNCILU_ROW_LONG) continue;
        const int seen = look_through(n, col, k, from, to, from + (int)threadIdx.x, SYNCILU_BLOCK, diag, &wrong);
        if (seen) atomicMax(place + r, seen);
        if (wrong) atomicMin(&counts->irregular, k);
      }
      __syncthreads();
      if (wait) here = place[threadIdx.x / ROW_LANES]; /* the barrier of the next round comes before place is used again */
    }
    if (mine && (bad || here == 0)) atomicMin(&counts->irregular, i);
    entries = max(entries, end - begin);
    lower   = max(lower, here - 1);
    upper   = max(upper, end - begin - here);
    if (sub == 0 && here > 1) sum += here - 1;
  }
  /* one atomic operation a block and count */
  typedef cub::BlockReduce<int, SYNCILU_BLOCK>                Max;
  typedef cub::BlockReduce<unsigned long long, SYNCILU_BLOCK> Sum;
  __shared__ union
  {
    typename Max::TempStorage max;
    typename Sum::TempStorage sum;
  } s;
  const int row = Max(s.max).Reduce(entries, cuda::maximum<int>());
  __syncthreads(); /* s is used again */
  const int l = Max(s.max).Reduce(lower, cuda::maximum<int>());
  __syncthreads();
  const int u = Max(s.max).Reduce(upper, cuda::maximum<int>());
  __syncthreads();
  const unsigned long long total = Sum(s.sum).Sum(sum);
  if (threadIdx.x == 0) {
    atomicMax(&counts->longest_row, row);
    atomicMax(&counts->longest[0], l);
    atomicMax(&counts->longest[1], u);
    atomicAdd(&counts->entries, total);
  }
}

/*
   Levels of L and of U (or of L alone), one block of rows of each in turn, a lane a row. A warp waits for the rows of others, for those of its own block through shared memory, and then runs through
   the dependences among its own rows with shuffles: on grids in their natural order those are the long chains.

   Progress: a block waits for blocks of lower tickets of its own triangle only, within a block every warp is resident and waits for earlier ones, and within a warp a lane waits for lower ones only.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK_LEVELS, 2048 / SYNCILU_BLOCK_LEVELS) levels_kernel(SyncILUDevicePattern p, bool both, int *__restrict__ levelL, int *__restrict__ levelU, Ticket *ticket, SyncILUDeviceCounts *counts)
{
  constexpr int       ROWS = SYNCILU_BLOCK_LEVELS, POLLS = 4;
  __shared__ int      near[ROWS];
  __shared__ unsigned mine;

  if (threadIdx.x == 0) mine = (unsigned)atomicAdd(ticket, 1ull);
  near[threadIdx.x] = -1;
  __syncthreads(); /* the ticket is there, and nobody polls near[] before it is -1 */

  const bool upper = both && (mine & 1);
  const int  first = (int)(both ? mine >> 1 : mine) * ROWS, place = first + (int)threadIdx.x;
  int *const level  = upper ? levelU : levelL;
  const bool active = place < p.n;
  const int  i      = active ? (upper ? p.n - 1 - place : place) : 0;
  const int  lane = threadIdx.x & 31, own = (int)threadIdx.x - lane; /* where near[] of this warp begins */
  int        e        = !active ? 0 : upper ? p.diag[i] + 1 : p.ptr[i];
  const int  end      = !active ? 0 : upper ? p.ptr[i + 1] : p.diag[i];
  int        most     = -1;
  unsigned   finished = 0, depends = 0; /* rows of this warp: those that are, and those this one waits for */
  int        c[POLLS], v[POLLS];        /* entries at work: place in the block, or -2 - row in global memory; their levels, -1 until known */
  bool       fresh = true;

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
      if (v[k] == -1) v[k] = c[k] >= 0 ? load_relaxed_shared(near + c[k]) : load_relaxed(level - 2 - c[k]);
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
        store_relaxed_shared(near + threadIdx.x, most + 1);
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
    if (!moved) __nanosleep(SYNCILU_LEVEL_PAUSE); /* else the many that wait take the issue slots of the few that do not */
    __syncwarp();                                 /* the levels of those that finished are in near[] for those that come to them later */
  }
  int m = active ? most + 2 : 0;
  for (int o = 16; o; o >>= 1) m = max(m, __shfl_xor_sync(FULL, m, o));
  if (lane == 0 && m > load_relaxed(&counts->levels[upper])) atomicMax(&counts->levels[upper], m);
}

/* The same with a warp a row, for patterns with rows that would keep one lane for long. */
__global__ void __launch_bounds__(SYNCILU_BLOCK) levels_long_kernel(SyncILUDevicePattern p, bool both, int *__restrict__ levelL, int *__restrict__ levelU, Ticket *ticket, SyncILUDeviceCounts *counts)
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
    if (most + 1 > load_relaxed(&counts->levels[upper])) atomicMax(&counts->levels[upper], most + 1);
  }
}

/* Notices entries e, e + step, ... of row i of L without an opposite in U. Where there are as many of both, all entries of U have theirs if those of L do. */
__device__ __forceinline__ void look_opposite(const SyncILUDevicePattern &p, int i, int e, int step, int *unsymmetric)
{
  for (const int end = p.diag[i]; e < end; e += step) {
    const int k = p.col[e];

    if (search(p.col, p.diag[k] + 1, p.ptr[k + 1], i) < 0) store_relaxed(unsymmetric, 1);
  }
}

__global__ void symmetric_kernel(SyncILUDevicePattern p, int *unsymmetric)
{
  int time = 0;

  for (long long t = global_thread(); t / ROW_LANES < p.n && !raised(unsymmetric, time); t += all_threads(), time++) {
    const int i = (int)(t / ROW_LANES);

    if (p.diag[i] - p.ptr[i] <= SYNCILU_ROW_LONG) look_opposite(p, i, p.ptr[i] + (int)(t % ROW_LANES), ROW_LANES, unsymmetric);
  }
}

__global__ void symmetric_long_kernel(SyncILUDevicePattern p, int *unsymmetric)
{
  each_long_row(p, [&](int i) { look_opposite(p, i, p.ptr[i] + (int)threadIdx.x, blockDim.x, unsymmetric); });
}

__global__ void mirror_kernel(int n, int levels, const int *__restrict__ levelL, int *__restrict__ levelU)
{
  const long long i = global_thread();

  if (i < n) levelU[i] = levels - 1 - levelL[i];
}

__global__ void count_dependents_kernel(SyncILUDeviceTriangle t, int *__restrict__ count)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  for (int e = t.begin[i] + t.skip; e < t.end[i]; e++) atomicAdd(count + t.col[e], 1);
}

/*
   ALAP levels, from the last rows to the first: a row whose dependents all have their level tells it to those it depends on.

   Progress: tickets follow the reverse of the order of elimination, and a row waits only for rows after it in that order. Order: the atomics on the levels come before the release of the counter
   that the owner of a level acquires.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK) levels_late_kernel(SyncILUDeviceTriangle t, bool forward, int *level, int *count, Ticket *ticket)
{
  __shared__ unsigned mine;

  if (threadIdx.x == 0) mine = (unsigned)atomicAdd(ticket, 1ull);
  __syncthreads(); /* the ticket is there */

  const long long place = (long long)mine * blockDim.x + threadIdx.x;
  const int       i     = (int)(forward ? t.n - 1 - place : place);
  bool            done  = place >= t.n;

  while (!__all_sync(FULL, done)) {
    if (!done && load_acquire(count + i) == 0) {
      const int own = load_relaxed(level + i);

      for (int e = t.begin[i] + t.skip; e < t.end[i]; e++) {
        atomicMin(level + t.col[e], own - 1);
        decrement_release(count + t.col[e]);
      }
      done = true;
    }
  }
}

__global__ void fill_kernel(int n, int value, int *out)
{
  const long long p = global_thread();

  if (p < n) out[p] = value;
}

__global__ void level_starts_kernel(int n, int levels, const int *__restrict__ sorted, int shift, int *__restrict__ start)
{
  const long long p = global_thread();

  if (p >= n) return;
  const int l = sorted[p] >> shift;
  if (p == 0 || sorted[p - 1] >> shift != l) start[l] = (int)p;
  for (int k = l + 1; p == n - 1 && k <= levels; k++) start[k] = n; /* in runs the last levels may have no rows */
}

__global__ void level_widths_kernel(int levels, const int *__restrict__ start, int *width)
{
  const long long l = global_thread();
  int             w = l < levels ? start[l + 1] - start[l] : 0;

  for (int o = 16; o; o >>= 1) w = max(w, __shfl_xor_sync(FULL, w, o));
  if ((threadIdx.x & 31) == 0) atomicMax(width, w);
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

__device__ __forceinline__ int length(const SyncILUDeviceTriangle &t, int i)
{
  return t.end[i] - t.begin[i] - t.skip;
}

/* Long rows have a whole warp each. */
__device__ __forceinline__ int lanes_of(const SyncILUDeviceTriangle &t, int i, int lanes, int limit)
{
  return length(t, i) > limit ? 5 : lanes;
}

/* Level, and behind it how wide the row makes its slice: rows of a slice had better be of one width, since the widest makes room for all. Long rows come last. */
__global__ void slice_keys_kernel(SyncILUDeviceTriangle t, int lanes, int limit, int *level)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  const int len = length(t, (int)i), wide = (len + (1 << lanes) - 1) >> lanes;
  level[i] = level[i] << SYNCILU_WIDTH_BITS | (len > limit ? (1 << SYNCILU_WIDTH_BITS) - 1 : min(wide, (1 << SYNCILU_WIDTH_BITS) - 2));
}

/* Where a run of rows begins that may share slices: of equal number of lanes and, where asked for, of one level. */
__global__ void run_starts_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, const int *__restrict__ level, int lanes, int limit, int *__restrict__ start)
{
  const long long p = global_thread();

  if (p >= t.n) return;
  const bool begins = p == 0 || (level && level[p] != level[p - 1]) || lanes_of(t, order[p], lanes, limit) != lanes_of(t, order[p - 1], lanes, limit);
  start[p]          = begins ? (int)p : 0;
}

__global__ void slice_flags_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, int lanes, int limit, int *__restrict__ start)
{
  const long long p = global_thread();

  if (p < t.n) start[p] = ((int)p - start[p]) % (32 >> lanes_of(t, order[p], lanes, limit)) == 0;
}

__global__ void slice_first_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, int lanes, int limit, const int *__restrict__ flag, const int *__restrict__ index, SyncILUSlice *slice, int *count)
{
  const long long p = global_thread();

  if (p >= t.n) return;
  if (flag[p]) {
    SyncILUSlice s;

    s.offset        = 0;
    s.first         = (int)p;
    s.width         = 0;
    s.shape         = lanes_of(t, order[p], lanes, limit);
    slice[index[p]] = s;
  }
  if (p == t.n - 1) *count = index[p] + flag[p];
}

/* A slice ends where the next one begins. */
__global__ void slice_rows_kernel(int n, int slices, SyncILUSlice *slice)
{
  const long long s = global_thread();

  if (s >= slices) return;
  slice[s].shape |= ((s + 1 < slices ? slice[s + 1].first : n) - slice[s].first) << 3;
}

__global__ void slice_widths_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, int slices, SyncILUSlice *slice, int *__restrict__ width)
{
  const long long s    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (s >= slices) return;
  const SyncILUSlice d     = slice[s];
  const int          lanes = 1 << (d.shape & 7), rows = d.shape >> 3;
  int                w = 0;
  if (lane < rows) w = (length(t, order[d.first + lane]) + lanes - 1) / lanes;
  for (int o = 16; o; o >>= 1) w = max(w, __shfl_xor_sync(FULL, w, o));
  if (lane == 0) {
    slice[s].width = w;
    width[s]       = w;
  }
}

__global__ void slice_offsets_kernel(int slices, SyncILUSlice *slice, const int *__restrict__ offset)
{
  const long long s = global_thread();

  if (s < slices) slice[s].offset = offset[s];
}

__global__ void ell_columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *__restrict__ inverse, int *__restrict__ col)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? t.end[l.row] : 0;
  int           e   = l.full ? t.begin[l.row] + t.skip + l.first : 0;

  for (int w = 0; w < l.width; w++, e += l.step) col[l.at + 32 * (size_t)w] = e < end ? inverse[t.col[e]] : -1;
}

__global__ void columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *__restrict__ diag, int *__restrict__ col)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? t.end[l.row] : 0;
  int           e   = l.full ? t.begin[l.row] + t.skip + l.first : 0;

  if (l.full && diag && l.first == 0) col[diag[l.row]] = l.row;
  for (int w = 0; w < l.width && e < end; w++, e += l.step) col[e] = ell.order[ell.col[l.at + 32 * (size_t)w]];
}

/* The transpose, by a stable sort of all entries by column; what is not of this triangle sorts behind. */
__global__ void transpose_keys_kernel(SyncILUDevicePattern p, bool lower, int *__restrict__ key, int *__restrict__ entry)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= p.n) return;
  for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) {
    key[e]   = (lower ? e < p.diag[i] : e > p.diag[i]) ? p.col[e] : p.n;
    entry[e] = e;
  }
}

__global__ void transpose_rows_kernel(SyncILUDevicePattern p, int entries, const int *__restrict__ key, const int *__restrict__ src, int *__restrict__ ptr, int *__restrict__ col)
{
  const long long t = global_thread();

  if (t > entries) return;
  /* rows up to and including the one of this entry that begin here */
  const int from = t ? key[t - 1] : -1, to = t < entries ? key[t] : p.n;
  for (int k = from + 1; k <= to; k++) ptr[k] = (int)t;
  if (t == entries) return;
  int lo = 0, hi = p.n - 1;
  while (lo < hi) { /* the last row that begins at or before src[t] */
    const int mid = lo + (hi - lo + 1) / 2;

    if (p.ptr[mid] <= src[t]) lo = mid;
    else hi = mid - 1;
  }
  col[t] = lo;
}

__global__ void map_kernel(SyncILUDevicePattern p, const int *__restrict__ row, const int *__restrict__ col, const int *__restrict__ aptr, const int *__restrict__ acol, int *__restrict__ map)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= p.n) return;
  const int r = row ? row[i] : i, begin = aptr[r], end = aptr[r + 1];
  for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) map[e] = search(acol, begin, end, col ? col[p.col[e]] : p.col[e]);
}

/* Bits of the numbers up to max. */
int bits_of(int max)
{
  int b = 1;

  while (b < 31 && (1ll << b) <= max) b++;
  return b;
}

} // namespace

cudaError_t SyncILUKernelProbe(void)
{
  cudaFuncAttributes attributes;

  return cudaFuncGetAttributes(&attributes, iota_kernel);
}

cudaError_t SyncILUKernelRows(int n, const int *ptr, const int *col, int *diag, SyncILUDeviceCounts *counts, cudaStream_t stream)
{
  LAUNCH_COUNTING(rows_kernel, (long long)n * ROW_LANES, stream, n, ptr, col, diag, counts);
}

cudaError_t SyncILUKernelLevels(SyncILUDevicePattern p, int longest, int both, int *levelL, int *levelU, unsigned long long *ticket, SyncILUDeviceCounts *counts, cudaStream_t stream)
{
  const unsigned triangles = both ? 2 : 1;

  if (!p.n) return cudaSuccess;
  if (longest <= SYNCILU_LEVEL_LONG) levels_kernel<<<triangles * blocks_for(p.n, SYNCILU_BLOCK_LEVELS), SYNCILU_BLOCK_LEVELS, 0, stream>>>(p, both != 0, levelL, levelU, ticket, counts);
  else levels_long_kernel<<<triangles * blocks_for(32ll * p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, both != 0, levelL, levelU, ticket, counts);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSymmetric(SyncILUDevicePattern p, int longest, SyncILUDeviceTraits *traits, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  symmetric_kernel<<<few_blocks_for((long long)p.n * ROW_LANES), SYNCILU_BLOCK, 0, stream>>>(p, &traits->unsymmetric);
  if (longest > SYNCILU_ROW_LONG) symmetric_long_kernel<<<few_blocks_for(p.n), SYNCILU_BLOCK, 0, stream>>>(p, &traits->unsymmetric);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLevelsMirror(int n, int levels, const int *levelL, int *levelU, cudaStream_t stream)
{
  LAUNCH(mirror_kernel, n, stream, n, levels, levelL, levelU);
}

cudaError_t SyncILUKernelLevelsLate(SyncILUDeviceTriangle t, int forward, int *level, int *count, unsigned long long *ticket, cudaStream_t stream)
{
  if (!t.n) return cudaSuccess;
  count_dependents_kernel<<<blocks_for(t.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(t, count);
  levels_late_kernel<<<blocks_for(t.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(t, forward != 0, level, count, ticket);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLevelsFill(int n, int last, int *level, cudaStream_t stream)
{
  LAUNCH(fill_kernel, n, stream, n, last, level);
}

cudaError_t SyncILUKernelLevelWidth(int n, int levels, const int *sorted, int shift, int *start, int *width, cudaStream_t stream)
{
  if (!n) return cudaSuccess;
  level_starts_kernel<<<blocks_for(n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(n, levels, sorted, shift, start);
  level_widths_kernel<<<blocks_for(levels, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(levels, start, width);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelOrder(void *workspace, size_t *bytes, int n, int max, const int *key, int *sorted, int *order, cudaStream_t stream)
{
  const size_t iota_bytes = round_up((size_t)n * sizeof(int));
  size_t       sort_bytes = 0;
  int *const   iota       = (int *)workspace;
  cudaError_t  err;

  if (!workspace) {
    err    = cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, key, sorted, iota, order, n, 0, bits_of(max), stream);
    *bytes = iota_bytes + sort_bytes;
    return err;
  }
  if (!n) return cudaSuccess;
  iota_kernel<<<blocks_for(n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(n, false, iota);
  sort_bytes = *bytes - iota_bytes;
  err        = cub::DeviceRadixSort::SortPairs((char *)workspace + iota_bytes, sort_bytes, key, sorted, iota, order, n, 0, bits_of(max), stream);
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

cudaError_t SyncILUKernelSliceKeys(SyncILUDeviceTriangle t, int lanes, int limit, int *level, cudaStream_t stream)
{
  LAUNCH(slice_keys_kernel, t.n, stream, t, lanes, limit, level);
}

cudaError_t SyncILUKernelSlices(void *workspace, size_t *bytes, SyncILUDeviceTriangle t, const int *order, const int *level, int lanes, int limit, SyncILUSlice *slice, int *count, cudaStream_t stream)
{
  const size_t array = round_up((size_t)t.n * sizeof(int));
  int *const start = (int *)workspace, *const index = (int *)((char *)workspace + array);
  size_t      scan_bytes = 0, sum_bytes = 0;
  cudaError_t err;

  if (!workspace) {
    err = cub::DeviceScan::InclusiveScan(nullptr, scan_bytes, start, start, cuda::maximum<int>(), t.n, stream);
    if (err == cudaSuccess) err = cub::DeviceScan::ExclusiveSum(nullptr, sum_bytes, start, index, t.n, stream);
    *bytes = 2 * array + (scan_bytes > sum_bytes ? scan_bytes : sum_bytes);
    return err;
  }
  if (!t.n) return cudaMemsetAsync(count, 0, sizeof(*count), stream);
  scan_bytes          = *bytes - 2 * array;
  const unsigned grid = blocks_for(t.n, SYNCILU_BLOCK);
  void *const    temp = (char *)workspace + 2 * array;
  run_starts_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(t, order, level, lanes, limit, start);
  err = cub::DeviceScan::InclusiveScan(temp, scan_bytes, start, start, cuda::maximum<int>(), t.n, stream);
  if (err != cudaSuccess) return err;
  slice_flags_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(t, order, lanes, limit, start);
  err = cub::DeviceScan::ExclusiveSum(temp, scan_bytes, start, index, t.n, stream);
  if (err != cudaSuccess) return err;
  slice_first_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(t, order, lanes, limit, start, index, slice, count);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSliceRows(int n, int slices, SyncILUSlice *slice, cudaStream_t stream)
{
  LAUNCH(slice_rows_kernel, slices, stream, n, slices, slice);
}

cudaError_t SyncILUKernelSliceWidths(SyncILUDeviceTriangle t, const int *order, int slices, SyncILUSlice *slice, int *width, cudaStream_t stream)
{
  LAUNCH(slice_widths_kernel, 32ll * slices, stream, t, order, slices, slice, width);
}

cudaError_t SyncILUKernelOffsets(void *workspace, size_t *bytes, int n, int *length, cudaStream_t stream)
{
  return cub::DeviceScan::ExclusiveSum(workspace, *bytes, length, length, n + 1, stream); /* length[n] is read, and its value used by nobody */
}

cudaError_t SyncILUKernelSliceOffsets(int slices, const int *offset, SyncILUSlice *slice, cudaStream_t stream)
{
  LAUNCH(slice_offsets_kernel, slices, stream, slices, slice, offset);
}

cudaError_t SyncILUKernelEllColumns(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *inverse, int *col, cudaStream_t stream)
{
  LAUNCH(ell_columns_kernel, 32ll * ell.slices, stream, t, ell, inverse, col);
}

cudaError_t SyncILUKernelColumns(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *diag, int *col, cudaStream_t stream)
{
  LAUNCH(columns_kernel, 32ll * ell.slices, stream, t, ell, diag, col);
}

cudaError_t SyncILUKernelTranspose(void *workspace, size_t *bytes, SyncILUDevicePattern p, int nnz, int lower, int entries, int *ptr, int *col, int *src, cudaStream_t stream)
{
  const size_t array = round_up((size_t)nnz * sizeof(int));
  int *const key = (int *)workspace, *const entry = (int *)((char *)workspace + array), *const sorted = (int *)((char *)workspace + 2 * array), *const from = (int *)((char *)workspace + 3 * array);
  size_t      sort_bytes = 0;
  cudaError_t err;

  if (!workspace) {
    err    = cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, key, sorted, entry, from, nnz, 0, bits_of(p.n), stream);
    *bytes = 4 * array + sort_bytes;
    return err;
  }
  sort_bytes = *bytes - 4 * array;
  if (p.n) transpose_keys_kernel<<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, lower != 0, key, entry);
  err = cub::DeviceRadixSort::SortPairs((char *)workspace + 4 * array, sort_bytes, key, sorted, entry, from, nnz, 0, bits_of(p.n), stream);
  if (err != cudaSuccess) return err;
  err = cudaMemcpyAsync(src, from, (size_t)entries * sizeof(int), cudaMemcpyDeviceToDevice, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(transpose_rows_kernel, (long long)entries + 1, stream, p, entries, sorted, from, ptr, col);
}

cudaError_t SyncILUKernelMap(SyncILUDevicePattern p, const int *row, const int *col, const int *aptr, const int *acol, int *map, cudaStream_t stream)
{
  LAUNCH(map_kernel, (long long)p.n * ROW_LANES, stream, p, row, col, aptr, acol, map);
}
