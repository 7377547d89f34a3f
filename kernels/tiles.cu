/*
   Tiles: rows that a warp takes together though they depend on each other, because they are neighbours. What passes between rows of a tile never leaves the warp, so that a sweep has to wait for
   memory as often as there are tiles in a row behind one another, not rows.
*/
#include "syncilu_kernels.h"
#include "values.cuh"
#include "tuning.h"
#include <climits>
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

struct Point {
  int x, y, z;
};

__device__ __forceinline__ Point point_of(const int *points, int slant, int row)
{
  const int line = row / points[0], z = line / points[1], y = line - z * points[1];

  return {row - line * points[0] + slant * (y + 2 * z), y + slant * z, z};
}

/* Place k of a tile; the row there, or -1: tiles at the ends of the grid are not full. */
__device__ __forceinline__ int row_at(const SyncILUTiling &t, int tile, int k)
{
  if (t.run) return k < t.run && tile * t.run + k < t.n ? tile * t.run + k : -1;
  const int line = tile / t.tiles[0], tz = line / t.tiles[1];
  const int z = (tz << t.edge[2]) + (k >> (t.edge[0] + t.edge[1]));
  const int y = ((line - tz * t.tiles[1]) << t.edge[1]) + ((k >> t.edge[0]) & ((1 << t.edge[1]) - 1)) - t.slant * z;
  const int x = ((tile - line * t.tiles[0]) << t.edge[0]) + (k & ((1 << t.edge[0]) - 1)) - t.slant * (y + 2 * z);

  if (x < 0 || x >= t.points[0] || y < 0 || y >= t.points[1] || z >= t.points[2]) return -1;
  return (z * t.points[1] + y) * t.points[0] + x;
}

__device__ __forceinline__ int tiles_of(const SyncILUTiling &t)
{
  return t.tiles[0] * t.tiles[1] * t.tiles[2];
}

/* On how many rows right before it a row depends; SYNCILU_BLOCK_ROWS stands for as many or more. */
__device__ __forceinline__ int rows_before(const SyncILUDevicePattern &p, int i)
{
  const int begin = p.ptr[i], diag = p.diag[i];
  int       n = 0;

  while (n < SYNCILU_BLOCK_ROWS && diag - n > begin && p.col[diag - 1 - n] == i - 1 - n) n++;
  return n;
}

/* How many rows depend on the one before them, what blocks of rows there are that depend on each other, and the least distance beyond 1. */
__global__ void grid_lines_kernel(SyncILUDevicePattern p, SyncILUDeviceTraits *traits)
{
  int      least = INT_MAX, rows = 0;
  unsigned blocks = FULL;

  for (long long t = global_thread(); t < p.n; t += all_threads()) {
    const int  i = (int)t, next = p.diag[i] - 1, before = rows_before(p, i);
    const bool begins = i > 0 && before < SYNCILU_BLOCK_ROWS && before <= rows_before(p, i - 1); /* it does not go back to where the row before it does */

    if (before > 1) least = 2;
    else if (next - before >= p.ptr[i]) least = min(least, i - p.col[next - before]);
    rows += before > 0;
#pragma unroll
    for (int b = 2; b <= SYNCILU_BLOCK_ROWS; b++)
      if (before < i % b || (begins && i % b)) blocks &= ~(1u << b);
  }
  least  = __reduce_min_sync(FULL, least);
  blocks = __reduce_and_sync(FULL, blocks);
  rows   = __reduce_add_sync(FULL, rows);
  if ((threadIdx.x & 31) == 0) {
    atomicMin(traits->near, least);
    atomicAnd(&traits->blocks, (int)blocks);
    if (rows) atomicAdd(&traits->successive, rows);
  }
}

__global__ void grid_planes_kernel(SyncILUDevicePattern p, SyncILUDeviceTraits *traits)
{
  const int line     = traits->near[0];
  int       least[2] = {INT_MAX, INT_MAX};

  for (long long i = global_thread(); i < p.n && line < INT_MAX - 2; i += all_threads()) {
    bool more = true;

    for (int e = p.diag[i] - 1; e >= p.ptr[i] && more; e--) {
      const int distance = (int)i - p.col[e];

#pragma unroll
      for (int k = 0; k < 2; k++)
        if (distance > line + 1 + k) least[k] = min(least[k], distance);
      more = distance <= line + 2;
    }
  }
#pragma unroll
  for (int k = 0; k < 2; k++) {
    least[k] = __reduce_min_sync(FULL, least[k]);
    if ((threadIdx.x & 31) == 0) atomicMin(&traits->near[1 + k], least[k]);
  }
}

/* Slanted, where the grid is not one as it stands. */
__global__ void grid_across_kernel(SyncILUDevicePattern p, int slant, SyncILUDeviceTraits *traits)
{
  int *const across = &traits->across[slant];
  int        points[3], time = 0;

  if (!SyncILUGridPoints(p.n, traits->near, points) || (slant && !traits->across[0])) return;
  for (long long t = global_thread(); t / ROW_LANES < p.n && !raised(across, time); t += all_threads(), time++) {
    const int   i = (int)(t / ROW_LANES);
    const Point a = point_of(points, slant, i);

    for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) {
      const Point b = point_of(points, slant, p.col[e]);

      if (p.col[e] < i ? b.x > a.x || b.y > a.y || b.z > a.z : b.x < a.x || b.y < a.y || b.z < a.z) {
        store_relaxed(across, 1);
        break;
      }
    }
  }
}

/* Each other run of L or U that the run of this warp depends on, once for every entry's place in the rows: f(run, which of them). Returns how many there are. */
template <typename F>
__device__ __forceinline__ int depends(const SyncILUDevicePattern &p, const SyncILUTiling &t, int own, bool upper, F f)
{
  const int  lane = threadIdx.x & 31, lg = 5 - t.edge[0], i = row_at(t, own, lane >> lg);
  const bool row = i >= 0;
  const int  end = row ? (upper ? p.ptr[i + 1] : p.diag[i]) : 0;
  int        n   = 0;

  for (int e = row ? (upper ? p.diag[i] + 1 : p.ptr[i]) + (lane & ((1 << lg) - 1)) : 0; __any_sync(FULL, e < end); e += 1 << lg) {
    const int      run   = e < end ? p.col[e] / t.run : own;
    const unsigned same  = __match_any_sync(FULL, run);
    const bool     first = run != own && __ffs(same) - 1 == lane;
    const unsigned all   = __ballot_sync(FULL, first);

    if (first) f(run, n + __popc(all & ((1u << lane) - 1)));
    n += __popc(all);
  }
  return n;
}

__global__ void run_sizes_kernel(SyncILUDevicePattern p, SyncILUTiling t, int *__restrict__ size)
{
  const long long k = global_thread() >> 5;

  if (k >= t.tiles[0]) return;
  int n = 1;
  for (int upper = 0; upper < 2; upper++) n += depends(p, t, (int)k, upper, [](int, int) {});
  if ((threadIdx.x & 31) == 0) size[k] = n;
}

__global__ void run_pattern_kernel(SyncILUDevicePattern p, SyncILUTiling t, const int *__restrict__ ptr, int *__restrict__ diag, int *__restrict__ col)
{
  const long long k = global_thread() >> 5;

  if (k >= t.tiles[0]) return;
  int at = ptr[k];
  at += depends(p, t, (int)k, false, [=](int run, int n) { col[at + n] = run; });
  if ((threadIdx.x & 31) == 0) {
    diag[k] = at;
    col[at] = (int)k;
  }
  depends(p, t, (int)k, true, [=](int run, int n) { col[at + 1 + n] = run; });
}

/*
   On a grid whoever depends on another is behind it in some direction and before it in none: the sum of the coordinates is a level, of rows as of tiles. The rows of a run are one behind the other, and
   all behind the runs of lower levels.
*/
__global__ void row_levels_kernel(SyncILUTiling t, const int *__restrict__ runs, int *__restrict__ level)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  if (t.run) level[i] = runs[i / t.run] * t.run + (int)(i % t.run);
  else {
    const Point p = point_of(t.points, t.slant, (int)i);

    level[i] = p.x + p.y + p.z;
  }
}

/* The rest of this file: as many lanes a tile as it has places. Which of them have rows, in the lowest bits. */
__device__ __forceinline__ unsigned places(bool row, int places, int place)
{
  const unsigned all = __ballot_sync(FULL, row) >> ((threadIdx.x & 31) - place);

  return places == 32 ? all : all & ((1u << places) - 1);
}

__global__ void tile_levels_kernel(SyncILUTiling t, int lg, int *__restrict__ levelL, int *__restrict__ levelU, int *filled)
{
  const long long g = global_thread(), k = g >> lg;
  const int       r    = (int)(g & ((1 << lg) - 1));
  const bool      tile = k < tiles_of(t), some = places(tile && row_at(t, (int)k, r) >= 0, 1 << lg, r) != 0;
  const int       levels = t.tiles[0] + t.tiles[1] + t.tiles[2] - 2;

  if (tile && r == 0) {
    const int line = (int)k / t.tiles[0], z = line / t.tiles[1], level = (int)k - line * t.tiles[0] + line - z * t.tiles[1] + z;

    levelL[k] = some ? level : levels;
    levelU[k] = some ? levels - 1 - level : levels;
  }
  const int count = __syncthreads_count(tile && r == 0 && some);
  if (threadIdx.x == 0 && count) atomicAdd(filled, count);
}

__global__ void tile_rows_kernel(SyncILUTiling t, int lg, int tiles, const int *__restrict__ tile, int *__restrict__ rows)
{
  const long long g = global_thread(), k = g >> lg;
  const int       r   = (int)(g & ((1 << lg) - 1));
  const unsigned  all = places(k < tiles && row_at(t, tile[k], r) >= 0, 1 << lg, r);

  if (k < tiles && r == 0) rows[k] = __popc(all);
}

__global__ void tile_order_kernel(SyncILUTiling t, int lg, int tiles, const int *__restrict__ tile, const int *__restrict__ first, bool reversed, int lanes, SyncILUSlice *__restrict__ slice, int *__restrict__ order)
{
  const long long g = global_thread(), k = g >> lg;
  const int       r    = (int)(g & ((1 << lg) - 1));
  const int       row  = k < tiles ? row_at(t, tile[k], r) : -1;
  const unsigned  all  = places(row >= 0, 1 << lg, r);
  const int       rows = __popc(all), before = __popc(all & ((1u << r) - 1));

  if (row >= 0) order[first[k] + (reversed ? rows - 1 - before : before)] = row;
  if (k < tiles && r == 0) {
    SyncILUSlice s;

    s.offset = 0;
    s.first  = first[k];
    s.width  = 0;
    s.shape  = lanes | rows << 3;
    slice[k] = s;
  }
}

/* Logarithm of the places of a tile. */
int places_of(const SyncILUTiling &t)
{
  return t.edge[0] + t.edge[1] + t.edge[2];
}

} // namespace

cudaError_t SyncILUKernelGrid(SyncILUDevicePattern p, SyncILUDeviceTraits *traits, cudaStream_t stream)
{
  const unsigned rows = few_blocks_for(p.n), lanes = few_blocks_for((long long)p.n * ROW_LANES);

  if (!p.n) return cudaSuccess;
  grid_lines_kernel<<<rows, SYNCILU_BLOCK, 0, stream>>>(p, traits);
  grid_planes_kernel<<<rows, SYNCILU_BLOCK, 0, stream>>>(p, traits);
  for (int slant = 0; slant < 2; slant++) grid_across_kernel<<<lanes, SYNCILU_BLOCK, 0, stream>>>(p, slant, traits);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelRunSizes(SyncILUDevicePattern p, SyncILUTiling t, int *size, cudaStream_t stream)
{
  LAUNCH(run_sizes_kernel, 32ll * t.tiles[0], stream, p, t, size);
}

cudaError_t SyncILUKernelRunPattern(SyncILUDevicePattern p, SyncILUTiling t, const int *ptr, int *diag, int *col, cudaStream_t stream)
{
  LAUNCH(run_pattern_kernel, 32ll * t.tiles[0], stream, p, t, ptr, diag, col);
}

cudaError_t SyncILUKernelRowLevels(SyncILUTiling t, const int *runs, int *level, cudaStream_t stream)
{
  LAUNCH(row_levels_kernel, (long long)t.n, stream, t, runs, level);
}

cudaError_t SyncILUKernelTileLevels(SyncILUTiling t, int *levelL, int *levelU, int *filled, cudaStream_t stream)
{
  LAUNCH(tile_levels_kernel, (long long)t.tiles[0] * t.tiles[1] * t.tiles[2] << places_of(t), stream, t, places_of(t), levelL, levelU, filled);
}

cudaError_t SyncILUKernelTileOrder(void *workspace, size_t *bytes, SyncILUTiling t, int tiles, const int *tile, int reversed, int lanes, SyncILUSlice *slice, int *order, cudaStream_t stream)
{
  const size_t    array      = round_up(((size_t)tiles + 1) * sizeof(int));
  const long long threads    = (long long)tiles << places_of(t);
  int *const      first      = (int *)workspace;
  size_t          scan_bytes = 0;
  cudaError_t     err;

  if (!workspace) {
    err    = SyncILUKernelOffsets(NULL, &scan_bytes, tiles, first, stream);
    *bytes = array + scan_bytes;
    return err;
  }
  if (!tiles) return cudaSuccess;
  scan_bytes = *bytes - array;
  err        = cudaMemsetAsync(first + tiles, 0, sizeof(int), stream);
  if (err != cudaSuccess) return err;
  tile_rows_kernel<<<blocks_for(threads, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(t, places_of(t), tiles, tile, first);
  err = SyncILUKernelOffsets((char *)workspace + array, &scan_bytes, tiles, first, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(tile_order_kernel, threads, stream, t, places_of(t), tiles, tile, first, reversed != 0, lanes, slice, order);
}
