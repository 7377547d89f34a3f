/*
   What is found in a pattern, and in that of the matrix it came from.
*/
#include "pattern.h"
#include "order.h"
#include "counting.cuh"
#include "grid.cuh"
#include "inodes.cuh"
#include "intersect.cuh"
#include "launch.cuh"
#include "tuning.h"
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

/*
   Goes through the entries of row i from e on. Returns where its diagonal stands, counted from 1, or 0 where
   it was not seen.
*/
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

/* ROW_LANES lanes a row, and the warp or the whole block for rows that would take these too long. */
__global__ void rows_kernel(int n, int most, const int *__restrict__ ptr, const int *__restrict__ col, int *__restrict__ diag, SyncILUDeviceCounts *counts)
{
  constexpr int      ROWS  = SYNCILU_BLOCK / ROW_LANES;
  const int          sub   = threadIdx.x % ROW_LANES;
  int                lower = 0, upper = 0, entries = 0, listed = 0, heavy = 0;
  unsigned long long sum = 0;
  __shared__ int     place[ROWS]; /* of the diagonal in a long row */
  __shared__ int     over[2 * SYNCILU_LENGTHS];

  if (threadIdx.x < 2 * SYNCILU_LENGTHS) over[threadIdx.x] = 0;
  __syncthreads();
  for (long long first = (long long)blockIdx.x * ROWS; first < n; first += (long long)gridDim.x * ROWS) {
    const int  i     = (int)min(first + threadIdx.x / ROW_LANES, (long long)n - 1);
    const bool mine  = first + threadIdx.x / ROW_LANES < n;
    const int  begin = ptr[i], end = mine ? ptr[i + 1] : begin;
    const bool wait = end - begin > SYNCILU_ROW_LONG;
    int        here = 0;
    bool       bad  = false;

    if (!wait && !is_wide(begin, end)) here = look_through(n, col, i, begin, end, begin + sub, ROW_LANES, diag, &bad);
    each_wide_row(i, begin, end, [&](int owner, int k, int from, int to) {
      bool      wrong = false;
      const int lane  = threadIdx.x & 31;
      const int seen  = __reduce_max_sync(FULL, look_through(n, col, k, from, to, from + lane, 32, diag, &wrong));

      wrong = __any_sync(FULL, wrong);
      if (lane == owner) {
        here = seen;
        bad  = wrong;
      }
    });
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
      /* the barrier of the next round comes before place is used again */
      if (wait) here = place[threadIdx.x / ROW_LANES];
    }
    if (mine && bad) atomicMin(&counts->irregular, i);
    if (mine && here == 0) atomicMin(&counts->missing, i);
    entries = max(entries, end - begin);
    if (end - begin <= most) listed = max(listed, end - begin);
    heavy += sub == 0 && end - begin > SYNCILU_LIST_MOST;
    lower = max(lower, here - 1);
    upper = max(upper, end - begin - here);
    if (sub == 0 && here > 1) sum += here - 1;
    for (int k = 0, most = SYNCILU_POLLS; k < SYNCILU_LENGTHS && most < end - begin; k++, most *= 2) {
      if (sub == 0 && here - 1 > most) atomicAdd(over + k, 1);
      if (sub == 0 && end - begin - here > most) atomicAdd(over + SYNCILU_LENGTHS + k, 1);
    }
  }
  /* one atomic operation a block and counter */
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
  const int of_listed = Max(s.max).Reduce(listed, cuda::maximum<int>());
  __syncthreads();
  const unsigned long long total = Sum(s.sum).Sum(sum);
  __syncthreads();
  const int count = (int)Sum(s.sum).Sum((unsigned long long)heavy);
  if (threadIdx.x == 0) {
    atomicMax(&counts->longest_row, row);
    atomicMax(&counts->longest_listed, of_listed);
    atomicMax(&counts->longest[0], l);
    atomicMax(&counts->longest[1], u);
    atomicAdd(&counts->entries, total);
    if (count) atomicAdd(&counts->heavy, count);
  }
  /* the barriers above are behind the last of these */
  if (threadIdx.x < 2 * SYNCILU_LENGTHS && over[threadIdx.x]) atomicAdd(&counts->over[0][0] + threadIdx.x, over[threadIdx.x]);
}

/*
   Notices that one of the entries e, e + step, ... of row i of L has no transposed entry in U. Where L and U
   have equally many entries, all entries of U have theirs if those of L do.
*/
__device__ __forceinline__ void find_transposed(const SyncILUDevicePattern &p, int i, int e, int step, int *unsymmetric)
{
  for (const int end = p.diag[i]; e < end; e += step) {
    const int k = p.col[e];

    if (search(p.col, p.diag[k] + 1, p.ptr[k + 1], i) < 0) store_relaxed(unsymmetric, 1);
  }
}

__device__ void find_unsymmetric(const SyncILUDevicePattern &p, int *unsymmetric)
{
  int time = 0;

  for (long long t = global_thread(); t / ROW_LANES < p.n && !raised(unsymmetric, time); t += all_threads(), time++) {
    const int i = (int)(t / ROW_LANES);

    if (p.diag[i] - p.ptr[i] <= SYNCILU_ROW_LONG) find_transposed(p, i, p.ptr[i] + (int)(t % ROW_LANES), ROW_LANES, unsymmetric);
  }
}

__global__ void symmetric_kernel(SyncILUDevicePattern p, int *unsymmetric)
{
  find_unsymmetric(p, unsymmetric);
}

__global__ void symmetric_long_kernel(SyncILUDevicePattern p, int *unsymmetric)
{
  each_long_row(p, SYNCILU_ROW_LONG, [&](int i) { find_transposed(p, i, p.ptr[i] + (int)threadIdx.x, blockDim.x, unsymmetric); });
}

constexpr int SCAN_LANES = 4;

/*
   Notices that the reference row of entry s updates an entry other than the diagonal, which stands at diag.
   Looks at the candidates q, q + step, ...
*/
__device__ __forceinline__ bool notice(const SyncILUDevicePattern &p, int s, int diag, int end, int q, int step, int *off_diagonal)
{
  const int    k    = p.col[s];
  const Common both = common(s + 1, end, p.diag[k] + 1, p.ptr[k + 1]);

  for (; q < candidates(both); q += step) {
    int e, u;

    if (find(both, p.col, q, &e, &u) && e != diag) {
      store_relaxed(off_diagonal, 1);
      return true;
    }
  }
  return false;
}

/* Whether there are such updates. Threads that come when one was found have nothing to do. */
__device__ void find_off_diagonal(const SyncILUDevicePattern &p, int *off_diagonal)
{
  int time = 0;

  for (long long t = global_thread(); t / SCAN_LANES < p.n && !raised(off_diagonal, time); t += all_threads(), time++) {
    const int i = (int)(t / SCAN_LANES), diag = p.diag[i];

    if (diag - p.ptr[i] > SYNCILU_SCAN_LONG) continue;
    for (int s = p.ptr[i]; s < diag; s++) {
      if (load_stale(off_diagonal) || notice(p, s, diag, p.ptr[i + 1], (int)(t % SCAN_LANES), SCAN_LANES, off_diagonal)) return;
    }
  }
}

__global__ void __launch_bounds__(SYNCILU_BLOCK) off_diagonal_kernel(SyncILUDevicePattern p, int *off_diagonal)
{
  find_off_diagonal(p, off_diagonal);
}

__global__ void __launch_bounds__(SYNCILU_BLOCK) off_diagonal_long_kernel(SyncILUDevicePattern p, int *off_diagonal)
{
  each_long_row(p, SYNCILU_SCAN_LONG, [&](int i) {
    const int diag = p.diag[i];
    int       time = 0;

    for (int s = p.ptr[i] + (int)threadIdx.x; s < diag && !raised(off_diagonal, time); s += blockDim.x, time++) {
      if (notice(p, s, diag, p.ptr[i + 1], 0, 1, off_diagonal)) return;
    }
  });
}

/* On how many rows right before it a row depends; SYNCILU_BLOCK_ROWS stands for as many or more. */
__device__ __forceinline__ int rows_before(const SyncILUDevicePattern &p, int i)
{
  const int begin = p.ptr[i], diag = p.diag[i];
  int       n = 0;

  while (n < SYNCILU_BLOCK_ROWS && diag - n > begin && p.col[diag - 1 - n] == i - 1 - n) n++;
  return n;
}

/*
   How many rows depend on the one before them, which sizes of row blocks have all rows of a block depend on
   each other, and how many rows are long; twice has twice the mean of entries of L and of U.
*/
__device__ void find_grid_lines(const SyncILUDevicePattern &p, int2 twice, SyncILUDeviceStatistics *statistics)
{
  constexpr int LONGEST = SYNCILU_POLLS << (SYNCILU_TILE_CLASSES - 1);
  int           rows = 0, wide[2] = {0, 0}, over[SYNCILU_TILE_CLASSES] = {0};
  unsigned      blocks = FULL;

  for (long long t = global_thread(); t < p.n; t += all_threads()) {
    const int i = (int)t, before = rows_before(p, i), lower = p.diag[i] - p.ptr[i], upper = p.ptr[i + 1] - p.diag[i] - 1;
    /* outliers say nothing about blocks, and rows after them nothing about where one begins */
    const bool out = longer(p, i, LONGEST), after = i > 0 && longer(p, i - 1, LONGEST);
    /* it reaches less far back than the row before it */
    const bool begins = i > 0 && before < SYNCILU_BLOCK_ROWS && before <= rows_before(p, i - 1);

    rows += before > 0;
    wide[0] += lower > twice.x;
    wide[1] += upper > twice.y;
#pragma unroll
    for (int k = 0; k < SYNCILU_TILE_CLASSES; k++) over[k] += max(lower, upper) > SYNCILU_POLLS << k;
#pragma unroll
    for (int b = 2; b <= SYNCILU_BLOCK_ROWS; b++)
      if (!out && (before < i % b || (begins && !after && i % b))) blocks &= ~(1u << b);
  }
  blocks = __reduce_and_sync(FULL, blocks);
  rows   = __reduce_add_sync(FULL, rows);
  for (int k = 0; k < 2; k++) wide[k] = __reduce_add_sync(FULL, wide[k]);
#pragma unroll
  for (int k = 0; k < SYNCILU_TILE_CLASSES; k++) over[k] = __reduce_add_sync(FULL, over[k]);
  if ((threadIdx.x & 31) == 0) {
    atomicAnd(&statistics->blocks, (int)blocks);
    if (rows) atomicAdd(&statistics->successive, rows);
    for (int k = 0; k < 2; k++)
      if (wide[k]) atomicAdd(statistics->wide + k, wide[k]);
#pragma unroll
    for (int k = 0; k < SYNCILU_TILE_CLASSES; k++)
      if (over[k]) atomicAdd(statistics->over + k, over[k]);
  }
}

typedef unsigned long long Vote;

/*
   The distances to neighbours that most rows of a sample have, so that a few unusual rows do not hide the
   grid. Which rows these are must not follow any grid: golden ratio hashing (Knuth, The Art of Computer
   Programming 3, 6.4) picks them.
*/
__device__ void find_grid_distances(const SyncILUDevicePattern &p, SyncILUDeviceStatistics *statistics)
{
  constexpr int   SAMPLE = SYNCILU_GRID_SAMPLE, LEAST = 8; /* one of so many rows must have a distance */
  __shared__ int  distance[SAMPLE];
  __shared__ Vote best; /* how many rows have it, and how far it is below INT_MAX */
  int             line = 0, beyond = 1;

  for (int k = 0; k < 3; k++) {
    for (int own = (int)threadIdx.x; own < SAMPLE; own += SYNCILU_BLOCK) {
      const bool mine = own < p.n;
      const int  i    = !mine ? 0 : p.n <= SAMPLE ? own : (int)((Vote)((unsigned)own * 0x9e3779b9u) * (Vote)p.n >> 32);
      int        lo = mine ? p.ptr[i] : 0, hi = mine ? p.diag[i] : 0;

      const int begin = lo;
      while (lo < hi) { /* the first entry that is not farther */
        const int mid = lo + (hi - lo) / 2;

        if (p.col[mid] < i - beyond) lo = mid + 1;
        else hi = mid;
      }
      distance[own] = lo > begin ? i - p.col[lo - 1] : INT_MAX;
    }
    if (threadIdx.x == 0) best = 0;
    __syncthreads(); /* distances and the empty vote are there for all */
    for (int own = (int)threadIdx.x; own < SAMPLE; own += SYNCILU_BLOCK) {
      int votes = 0;

      for (int l = 0; l < SAMPLE && distance[own] < INT_MAX; l++) votes += distance[l] == distance[own];
      if (votes * LEAST >= min(p.n, SAMPLE)) atomicMax(&best, (Vote)votes << 32 | (unsigned)(INT_MAX - distance[own]));
    }
    __syncthreads(); /* all have voted */
    const int elected = best ? INT_MAX - (int)(best & 0xffffffffu) : INT_MAX;
    if (threadIdx.x == 0) statistics->distance[k] = elected;
    if (k == 0) line = elected;
    if (line >= INT_MAX - 2) break;
    beyond = line + 1 + k;
    __syncthreads(); /* all have read the vote */
  }
}

/*
   With skew the question is asked only where the grid is not one as it stands. Rows that cross are counted
   until there are too many.
*/
__global__ void grid_across_kernel(SyncILUDevicePattern p, int skew, SyncILUDeviceStatistics *statistics)
{
  const int  limit = SyncILUUsualLength(statistics->over), lane = threadIdx.x & 31;
  int *const across = &statistics->across[skew], *const crossing = &statistics->crossing[skew];
  int points[3], time                                            = 0;

  if (!limit || !SyncILUGridPoints(p.n, statistics->distance, points) || (skew && !statistics->across[0])) return;
  const int inside = points[0] * points[1] * points[2];
  if (inside < p.n && global_thread() == 0) store_relaxed(across, 1);
  for (long long first = global_thread() - lane; first / ROW_LANES < p.n; first += all_threads(), time++) {
    const int i = (int)((first + lane) / ROW_LANES), sub = lane % ROW_LANES;
    const int many  = time % 4 == 3 ? load_relaxed(crossing) : load_stale(crossing);
    bool      found = false, row = false;

    if (__any_sync(FULL, many > SYNCILU_OUTLIERS)) break;
    if (i < inside) row = crosses(p, points, skew, limit, i, p.ptr[i] + sub, ROW_LANES, &found);
    if (found) store_relaxed(across, 1);
    const unsigned all  = __ballot_sync(FULL, row && !stands_alone(p, inside, limit, i));
    unsigned       rows = 0;
    for (int r = 0; r < 32; r += ROW_LANES) rows += (all >> r & ((1u << ROW_LANES) - 1)) != 0;
    if (rows && lane == 0) atomicAdd(crossing, (int)rows);
  }
}

/*
   What several looks through the pattern find, each by blocks of its own: one launch for all of them, since none
   keeps a device busy for long. They are the bits of `looks`, in the order of the cases.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK) statistics_kernel(SyncILUDevicePattern p, unsigned looks, int2 twice, SyncILUDeviceStatistics *statistics)
{
  for (unsigned k = 0; k < blockIdx.y; k++) looks &= looks - 1;
  switch (__ffs((int)looks) - 1) {
  case 0:
    find_off_diagonal(p, &statistics->off_diagonal);
    break;
  case 1:
    find_unsymmetric(p, &statistics->unsymmetric);
    break;
  case 2:
    find_inode_sizes(p, &statistics->inodes);
    break;
  case 3:
    find_grid_lines(p, twice, statistics);
    break;
  default:
    if (blockIdx.x == 0) find_grid_distances(p, statistics);
  }
}

/* The updates of all rows that a warp can look through, summed up. */
__global__ void __launch_bounds__(SYNCILU_BLOCK) updates_kernel(SyncILUDevicePattern p, unsigned long long *sum)
{
  const long long    i    = global_thread() >> 5;
  const bool         mine = i < p.n && p.diag[i] - p.ptr[i] <= SYNCILU_SCAN_LONG;
  const int          row = mine ? (int)i : 0, begin = mine ? p.ptr[row] : 0;
  unsigned long long updates = 0;

  each_update<5, false>(
    p, nullptr, nullptr, begin, mine ? p.diag[row] - begin : 0, mine ? p.ptr[row + 1] : 0, ColumnTable(), [](int, const Common &, int, int, int) {},
    [&](int, int more) { updates += more; });
  if (mine && (threadIdx.x & 31) == 0) atomicAdd(sum, updates);
}

/*
   Those of the other rows, whose reference rows all threads of the grid share: to each warp they would be a
   microsecond apiece.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK) updates_long_kernel(SyncILUDevicePattern p, unsigned long long *sum)
{
  unsigned long long updates = 0;

  for (long long first = 0; first < p.n; first += SYNCILU_BLOCK) {
    const long long i = first + threadIdx.x;

    if (!__syncthreads_or(i < p.n && p.diag[i] - p.ptr[i] > SYNCILU_SCAN_LONG)) continue;
    for (int k = (int)first; k < p.n && k < first + SYNCILU_BLOCK; k++) {
      const int begin = p.ptr[k], diag = p.diag[k], end = p.ptr[k + 1];

      if (diag - begin <= SYNCILU_SCAN_LONG) continue;
      for (long long s = begin + global_thread(); s < diag; s += all_threads()) {
        const int    j    = p.col[s];
        const Common both = common((int)s + 1, end, p.diag[j] + 1, p.ptr[j + 1]);

        for (int q = 0; q < candidates(both); q++) {
          int e, u;

          updates += find(both, p.col, q, &e, &u);
        }
      }
    }
  }
  if (updates) atomicAdd(sum, updates);
}

/* The finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
__device__ __forceinline__ unsigned long long mix(unsigned long long x)
{
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/* Adds what the entries e, e + step, ... of row i make of the fingerprint. */
__device__ __forceinline__ void add_entries(const int *__restrict__ col, int i, int begin, int end, int e, int step, unsigned long long *sum)
{
  for (; e < end; e += step) {
    const unsigned long long key = (unsigned long long)i * 0x9e3779b97f4a7c15ull + (unsigned long long)col[e];

    /* rows that do not ascend are those of no plan */
    sum[0] += mix(key) + (e > begin && col[e] <= col[e - 1]);
    sum[1] += mix(key + 0xd1b54a32d192ed03ull);
  }
}

/* ROW_LANES lanes a row, and the warp or the whole block for rows that would take these too long. */
__global__ void fingerprint_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ col, unsigned long long *sum)
{
  constexpr int      ROWS    = SYNCILU_BLOCK / ROW_LANES;
  unsigned long long mine[2] = {0, 0};

  for (long long first = (long long)blockIdx.x * ROWS; first < n; first += (long long)gridDim.x * ROWS) {
    const int  i     = (int)min(first + threadIdx.x / ROW_LANES, (long long)n - 1);
    const int  begin = ptr[i], end = first + threadIdx.x / ROW_LANES < n ? ptr[i + 1] : begin;
    const bool wait = end - begin > SYNCILU_ROW_LONG;

    if (!wait && !is_wide(begin, end)) add_entries(col, i, begin, end, begin + (int)(threadIdx.x % ROW_LANES), ROW_LANES, mine);
    each_wide_row(i, begin, end, [&](int, int k, int from, int to) { add_entries(col, k, from, to, from + (int)(threadIdx.x & 31), 32, mine); });
    if (!__syncthreads_or(wait)) continue;
    for (int r = 0; r < ROWS && first + r < n; r++) {
      const int k = (int)first + r, from = ptr[k], to = ptr[k + 1];

      if (to - from > SYNCILU_ROW_LONG) add_entries(col, k, from, to, from + (int)threadIdx.x, SYNCILU_BLOCK, mine);
    }
  }
  add_pair(mine, sum);
}

/*
   The transpose comes by a stable sort of a triangle's entries, or of their rows, by column; offset says how many are in
   rows before.
*/
__global__ void transpose_keys_kernel(SyncILUDevicePattern p, bool lower, bool rows, const int *__restrict__ offset, int *__restrict__ key,
                                      int *__restrict__ entry)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= p.n) return;
  const int begin = lower ? p.ptr[i] : p.diag[i] + 1, end = lower ? p.diag[i] : p.ptr[i + 1], to = offset[i] - begin;
  for (int e = begin + (int)(t % ROW_LANES); e < end; e += ROW_LANES) {
    key[to + e]   = p.col[e];
    entry[to + e] = rows ? i : e;
  }
}

__global__ void triangle_lengths_kernel(SyncILUDevicePattern p, bool lower, int *__restrict__ length)
{
  const long long i = global_thread();

  if (i < p.n) length[i] = lower ? p.diag[i] - p.ptr[i] : p.ptr[i + 1] - p.diag[i] - 1;
}

/* The row of each entry. */
__global__ void entry_rows_kernel(SyncILUDevicePattern p, int *__restrict__ row)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= p.n) return;
  for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) row[e] = i;
}

/*
   From the sorted keys, where each row of the transpose begins. Every row looks for its beginning itself: many
   rows may be empty, and one entry would have all those before its own to write.
*/
__global__ void transpose_rows_kernel(int n, int entries, const int *__restrict__ key, int *__restrict__ ptr)
{
  const long long i = global_thread();

  if (i <= n) ptr[i] = first_not_less(key, entries, (int)i);
}

__global__ void transpose_columns_kernel(int entries, const int *__restrict__ row, const int *__restrict__ src, int *__restrict__ col)
{
  const long long t = global_thread();

  if (t < entries) col[t] = row[src[t]];
}

__global__ void map_kernel(SyncILUDevicePattern p, const int *__restrict__ row, const int *__restrict__ col, const int *__restrict__ aptr,
                           const int *__restrict__ acol, int *__restrict__ map)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= p.n) return;
  const int r = row ? row[i] : i, begin = aptr[r], end = aptr[r + 1];
  for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) map[e] = search(acol, begin, end, col ? col[p.col[e]] : p.col[e]);
}

} // namespace

cudaError_t SyncILUKernelRows(int n, int most, const int *ptr, const int *col, int *diag, SyncILUDeviceCounts *counts, cudaStream_t stream)
{
  if (n) rows_kernel<<<few_blocks_for((long long)n * ROW_LANES), SYNCILU_BLOCK, 0, stream>>>(n, most, ptr, col, diag, counts);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSymmetric(SyncILUDevicePattern p, int longest, SyncILUDeviceStatistics *statistics, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  symmetric_kernel<<<few_blocks_for((long long)p.n * ROW_LANES), SYNCILU_BLOCK, 0, stream>>>(p, &statistics->unsymmetric);
  if (longest > SYNCILU_ROW_LONG) symmetric_long_kernel<<<few_blocks_for(p.n), SYNCILU_BLOCK, 0, stream>>>(p, &statistics->unsymmetric);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelOffDiagonal(SyncILUDevicePattern p, int longest, SyncILUDeviceStatistics *statistics, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  off_diagonal_kernel<<<few_blocks_for((long long)p.n * SCAN_LANES), SYNCILU_BLOCK, 0, stream>>>(p, &statistics->off_diagonal);
  if (longest > SYNCILU_SCAN_LONG) off_diagonal_long_kernel<<<few_blocks_for(p.n), SYNCILU_BLOCK, 0, stream>>>(p, &statistics->off_diagonal);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelStatistics(SyncILUDevicePattern p, int longest, int off_diagonal, int unsymmetric, int inodes, int grid, const int *twice,
                                    SyncILUDeviceStatistics *statistics, cudaStream_t stream)
{
  const unsigned looks = (off_diagonal ? 1u : 0u) | (unsymmetric ? 2u : 0u) | (inodes ? 4u : 0u) | (grid ? 8u | 16u : 0u);
  const unsigned lanes = few_blocks_for((long long)p.n * ROW_LANES), rows = few_blocks_for(p.n);
  unsigned       count = 0;

  if (!p.n || !looks) return cudaSuccess;
  for (unsigned left = looks; left; left &= left - 1) count++;
  statistics_kernel<<<dim3(lanes, count), SYNCILU_BLOCK, 0, stream>>>(p, looks, make_int2(twice[0], twice[1]), statistics);
  if (off_diagonal && longest > SYNCILU_SCAN_LONG) {
    CHECK_LAUNCH();
    off_diagonal_long_kernel<<<rows, SYNCILU_BLOCK, 0, stream>>>(p, &statistics->off_diagonal);
  }
  if (unsymmetric && longest > SYNCILU_ROW_LONG) {
    CHECK_LAUNCH();
    symmetric_long_kernel<<<rows, SYNCILU_BLOCK, 0, stream>>>(p, &statistics->unsymmetric);
  }
  for (int skew = 0; grid && skew < 2; skew++) {
    CHECK_LAUNCH();
    grid_across_kernel<<<lanes, SYNCILU_BLOCK, 0, stream>>>(p, skew, statistics);
  }
  return cudaGetLastError();
}

cudaError_t SyncILUKernelUpdates(SyncILUDevicePattern p, int longest, unsigned long long *sum, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  updates_kernel<<<blocks_for(32ll * p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, sum);
  if (longest > SYNCILU_SCAN_LONG) updates_long_kernel<<<few_blocks_for(longest), SYNCILU_BLOCK, 0, stream>>>(p, sum);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelTranspose(void *workspace, size_t *bytes, SyncILUDevicePattern p, int nnz, int lower, int entries, int *ptr, int *col, int *src,
                                   cudaStream_t stream)
{
  const size_t array = round_up((size_t)entries * sizeof(int)), rows = round_up((size_t)nnz * sizeof(int));
  /* rows of all entries take the place of both arrays of keys */
  const size_t keys       = !src || 2 * array > rows ? 2 * array : rows;
  char *const  w          = (char *)workspace;
  int *const   key        = (int *)w;
  int *const   result     = src ? src : col;
  size_t       sort_bytes = 0, sum_bytes = 0;
  cudaError_t  err;

  cub::DoubleBuffer<int> by((int *)w, (int *)(w + array)), entry((int *)(w + keys), result);
  err = cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, by, entry, entries, 0, SyncILUBits(p.n), stream);
  if (err != cudaSuccess) return err;
  err = SyncILUKernelOffsets(nullptr, &sum_bytes, p.n, ptr, stream);
  if (err != cudaSuccess) return err;
  if (sum_bytes > sort_bytes) sort_bytes = sum_bytes;
  if (!workspace) {
    *bytes = keys + array + sort_bytes;
    return cudaSuccess;
  }
  if (p.n) triangle_lengths_kernel<<<blocks_for(p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, lower != 0, ptr);
  CHECK_LAUNCH();
  err = SyncILUKernelOffsets(w + keys + array, &sum_bytes, p.n, ptr, stream);
  if (err != cudaSuccess) return err;
  if (p.n)
    transpose_keys_kernel<<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, lower != 0, !src, ptr, by.Current(),
                                                                                                               entry.Current());
  CHECK_LAUNCH();
  err = cub::DeviceRadixSort::SortPairs(w + keys + array, sort_bytes, by, entry, entries, 0, SyncILUBits(p.n), stream);
  if (err != cudaSuccess) return err;
  if (entry.Current() != result) err = cudaMemcpyAsync(result, entry.Current(), (size_t)entries * sizeof(int), cudaMemcpyDeviceToDevice, stream);
  if (err != cudaSuccess) return err;
  transpose_rows_kernel<<<blocks_for(p.n + 1ll, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p.n, entries, by.Current(), ptr);
  CHECK_LAUNCH();
  if (!entries || !src) return cudaSuccess;
  entry_rows_kernel<<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, key);
  CHECK_LAUNCH();
  LAUNCH(transpose_columns_kernel, entries, stream, entries, key, src, col);
}

cudaError_t SyncILUKernelMap(SyncILUDevicePattern p, const int *row, const int *col, const int *aptr, const int *acol, int *map, cudaStream_t stream)
{
  LAUNCH(map_kernel, (long long)p.n * ROW_LANES, stream, p, row, col, aptr, acol, map);
}

cudaError_t SyncILUKernelFingerprint(int n, const int *ptr, const int *col, unsigned long long *sum, cudaStream_t stream)
{
  if (n) fingerprint_kernel<<<few_blocks_for((long long)n * ROW_LANES), SYNCILU_BLOCK, 0, stream>>>(n, ptr, col, sum);
  return cudaGetLastError();
}
