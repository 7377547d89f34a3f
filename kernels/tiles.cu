/*
   Tiles: rows that a warp takes together though they depend on each other, because they are neighbours. What
   passes between rows of a tile never leaves the warp. So a triangular solve waits for memory as often as
   tiles are behind one another, not rows.
*/
#include "tiles.h"
#include "order.h"
#include "grid.cuh"
#include "launch.cuh"
#include "tuning.h"

using namespace syncilu;

namespace
{

/* Where a tile of a grid stands, in units of tiles. */
__device__ __forceinline__ Point tile_at(const SyncILUTiling &t, int tile)
{
  const int line = tile / t.tiles[0], z = line / t.tiles[1], y = line - z * t.tiles[1] + SyncILUTilesBeginY(&t, z);

  return {tile - line * t.tiles[0] + SyncILUTilesBeginX(&t, y, z), y, z};
}

/* The row at place k of a tile, or -1: tiles at the ends of the grid are not full. */
__device__ __forceinline__ int row_at(const SyncILUTiling &t, int tile, int k)
{
  if (t.first) return k < t.first[tile + 1] - t.first[tile] ? t.member[t.first[tile] + k] : -1;
  if (t.block) return k < t.block && tile * t.block + k < t.n ? tile * t.block + k : -1;
  const Point p = tile_at(t, tile);
  const int   z = (p.z << t.edge[2]) + (k >> (t.edge[0] + t.edge[1]));
  const int   y = (p.y << t.edge[1]) + ((k >> t.edge[0]) & ((1 << t.edge[1]) - 1)) - t.skew * z;
  const int   x = (p.x << t.edge[0]) + (k & ((1 << t.edge[0]) - 1)) - t.skew * (y + 2 * z);

  if (x < 0 || x >= t.points[0] || y < 0 || y >= t.points[1] || z >= t.points[2]) return -1;
  return (z * t.points[1] + y) * t.points[0] + x;
}

__device__ __forceinline__ int tiles_of(const SyncILUTiling &t)
{
  return t.tiles[0] * t.tiles[1] * t.tiles[2];
}

/* Logarithm of the places of a tile. */
__host__ __device__ __forceinline__ int places_of(const SyncILUTiling &t)
{
  return t.edge[0] + t.edge[1] + t.edge[2];
}

/* The box or row block of a row. */
__device__ __forceinline__ int box_of(const SyncILUTiling &t, int i)
{
  if (t.block) return i / t.block;
  const Point p = point_of(t.points, t.skew, i);
  const int   y = p.y >> t.edge[1], z = p.z >> t.edge[2];

  return ((z * t.tiles[1]) + y - SyncILUTilesBeginY(&t, z)) * t.tiles[0] + (p.x >> t.edge[0]) - SyncILUTilesBeginX(&t, y, z);
}

/* Rows of the grid, or all where there is none. */
__device__ __forceinline__ int points_of(const SyncILUTiling &t)
{
  return t.block ? t.n : t.points[0] * t.points[1] * t.points[2];
}

__global__ void outliers_kernel(SyncILUDevicePattern p, SyncILUTiling t, int *__restrict__ outlier)
{
  const long long g = global_thread();
  const int       i = (int)(g / ROW_LANES), sub = (int)(g % ROW_LANES), lane = threadIdx.x & 31;
  bool            across = false, out = false;

  if (g / ROW_LANES < p.n) {
    out = stands_alone(p, points_of(t), t.limit, i);
    if (!out && !t.block) out = crosses(p, t.points, t.skew, t.limit, i, p.ptr[i] + sub, ROW_LANES, &across);
  }
  const unsigned all = __ballot_sync(FULL, out) >> (lane - sub) & ((1u << ROW_LANES) - 1);
  if (g / ROW_LANES < p.n && sub == 0) outlier[i] = all != 0;
}

/* Keys that sort the rows into tiles: before has for each row how many outliers come before it. */
__global__ void list_keys_kernel(SyncILUTiling t, const int *__restrict__ before, int *__restrict__ key)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  const int  boxes = tiles_of(t);
  const bool out   = before[i + 1] != before[i];
  key[i]           = before[i] * (boxes + 1) + (out ? boxes : box_of(t, (int)i));
}

__global__ void list_heads_kernel(int n, const int *__restrict__ key, int *__restrict__ head)
{
  const long long p = global_thread();

  if (p < n) head[p] = p == 0 || key[p] != key[p - 1];
}

/* before has how many tiles begin before each position, and behind the last one. */
__global__ void list_tiles_kernel(int n, const int *__restrict__ before, const int *__restrict__ member, int *__restrict__ first, int *__restrict__ tile)
{
  const long long p = global_thread();

  if (p >= n) return;
  tile[member[p]] = before[p + 1] - 1;
  if (before[p + 1] != before[p]) first[before[p]] = (int)p;
  if (p == n - 1) first[before[n]] = n;
}

/*
   Calls f(tile, which of them) for each other row block, or tile of a list, of L or U that the one of this
   warp depends on, once for every place of an entry in the rows. Returns how many calls there were. The lanes
   of a row take several entries at a time, since an outlier may have a great many.
*/
template <typename F>
__device__ __forceinline__ int depends(const SyncILUDevicePattern &p, const SyncILUTiling &t, int own, bool upper, F f)
{
  constexpr int MANY = 8;
  const int     lane = threadIdx.x & 31, lg = t.first && t.first[own + 1] - t.first[own] == 1 ? 5 : 5 - places_of(t), i = row_at(t, own, lane >> lg);
  const bool    row = i >= 0;
  const int     end = row ? (upper ? p.ptr[i + 1] : p.diag[i]) : 0;
  int           n   = 0;

  for (int e = row ? (upper ? p.diag[i] + 1 : p.ptr[i]) + (lane & ((1 << lg) - 1)) : 0; __any_sync(FULL, e < end); e += MANY << lg) {
    int tile[MANY];

#pragma unroll
    for (int k = 0; k < MANY; k++) {
      const int at = e + (k << lg);

      tile[k] = at < end ? (t.first ? t.tile[p.col[at]] : p.col[at] / t.block) : own;
    }
#pragma unroll
    for (int k = 0; k < MANY; k++) {
      const unsigned same  = __match_any_sync(FULL, tile[k]);
      const bool     first = tile[k] != own && __ffs(same) - 1 == lane;
      const unsigned all   = __ballot_sync(FULL, first);

      if (first) f(tile[k], n + __popc(all & ((1u << lane) - 1)));
      n += __popc(all);
    }
  }
  return n;
}

/*
   Notices too if a tile depends in L on one that comes after it, or in U on one before: then they could wait
   for each other in circles.
*/
__global__ void block_sizes_kernel(SyncILUDevicePattern p, SyncILUTiling t, int *__restrict__ size, int *circle)
{
  const long long k = global_thread() >> 5;

  if (k >= t.tiles[0]) return;
  int n = 1;
  for (int upper = 0; upper < 2; upper++) {
    n += depends(p, t, (int)k, upper, [=](int tile, int) {
      if ((tile > k) != (upper != 0)) store_relaxed(circle, 1);
    });
  }
  if ((threadIdx.x & 31) == 0) size[k] = n;
}

__global__ void block_pattern_kernel(SyncILUDevicePattern p, SyncILUTiling t, const int *__restrict__ ptr, int *__restrict__ diag, int *__restrict__ col)
{
  const long long k = global_thread() >> 5;

  if (k >= t.tiles[0]) return;
  int at = ptr[k];
  at += depends(p, t, (int)k, false, [=](int tile, int n) { col[at + n] = tile; });
  if ((threadIdx.x & 31) == 0) {
    diag[k] = at;
    col[at] = (int)k;
  }
  depends(p, t, (int)k, true, [=](int tile, int n) { col[at + 1 + n] = tile; });
}

/*
   On a grid, a row that depends on another is behind it in some direction and before it in none. So the sum
   of the coordinates is a level, of rows as of tiles. The rows of a row block are one behind the other, and
   all behind the row blocks of lower levels.
*/
__global__ void row_levels_kernel(SyncILUTiling t, const int *__restrict__ blocks, int *__restrict__ level)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  if (t.block) level[i] = blocks[i / t.block] * t.block + (int)(i % t.block);
  else {
    const Point p = point_of(t.points, t.skew, (int)i);

    level[i] = p.x + p.y + p.z;
  }
}

/*
   From here on a tile has as many lanes as it has places. Which of the places have rows, in the lowest bits.
*/
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

  if (tile && r == 0) {
    const Point p     = tile_at(t, (int)k);
    const int   level = p.x + p.y + p.z;

    levelL[k] = some ? level : t.levels;
    levelU[k] = some ? t.levels - 1 - level : t.levels;
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

__global__ void tile_order_kernel(SyncILUTiling t, int lg, int tiles, const int *__restrict__ tile, const int *__restrict__ first, bool reversed, int lanes,
                                  SyncILUSlice *__restrict__ slice, int *__restrict__ order)
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

__global__ void reverse_tiles_kernel(int n, int tiles, const SyncILUSlice *__restrict__ slice, SyncILUSlice *__restrict__ reversed)
{
  const long long k = global_thread();

  if (k >= tiles) return;
  SyncILUSlice s = slice[tiles - 1 - k];
  s.first        = n - s.first - (s.shape >> 3);
  reversed[k]    = s;
}

} // namespace

cudaError_t SyncILUKernelOutliers(SyncILUDevicePattern p, SyncILUTiling t, int *outlier, cudaStream_t stream)
{
  LAUNCH(outliers_kernel, (long long)p.n * ROW_LANES, stream, p, t, outlier);
}

cudaError_t SyncILUKernelListKeys(SyncILUTiling t, const int *before, int *key, cudaStream_t stream)
{
  LAUNCH(list_keys_kernel, t.n, stream, t, before, key);
}

cudaError_t SyncILUKernelListHeads(int n, const int *key, int *head, cudaStream_t stream)
{
  LAUNCH(list_heads_kernel, n, stream, n, key, head);
}

cudaError_t SyncILUKernelListTiles(int n, const int *before, const int *member, int *first, int *tile, cudaStream_t stream)
{
  LAUNCH(list_tiles_kernel, n, stream, n, before, member, first, tile);
}

cudaError_t SyncILUKernelBlockSizes(SyncILUDevicePattern p, SyncILUTiling t, int *size, int *circle, cudaStream_t stream)
{
  LAUNCH(block_sizes_kernel, 32ll * t.tiles[0], stream, p, t, size, circle);
}

cudaError_t SyncILUKernelBlockPattern(SyncILUDevicePattern p, SyncILUTiling t, const int *ptr, int *diag, int *col, cudaStream_t stream)
{
  LAUNCH(block_pattern_kernel, 32ll * t.tiles[0], stream, p, t, ptr, diag, col);
}

cudaError_t SyncILUKernelRowLevels(SyncILUTiling t, const int *blocks, int *level, cudaStream_t stream)
{
  LAUNCH(row_levels_kernel, (long long)t.n, stream, t, blocks, level);
}

cudaError_t SyncILUKernelTileLevels(SyncILUTiling t, int *levelL, int *levelU, int *filled, cudaStream_t stream)
{
  LAUNCH(tile_levels_kernel, (long long)t.tiles[0] * t.tiles[1] * t.tiles[2] << places_of(t), stream, t, places_of(t), levelL, levelU, filled);
}

cudaError_t SyncILUKernelReverseTiles(int n, int tiles, const SyncILUSlice *slice, SyncILUSlice *reversed, cudaStream_t stream)
{
  LAUNCH(reverse_tiles_kernel, tiles, stream, n, tiles, slice, reversed);
}

cudaError_t SyncILUKernelTileOrder(void *workspace, size_t *bytes, SyncILUTiling t, int tiles, const int *tile, int reversed, int lanes, SyncILUSlice *slice,
                                   int *order, cudaStream_t stream)
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
  CHECK_LAUNCH();
  err = SyncILUKernelOffsets((char *)workspace + array, &scan_bytes, tiles, first, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(tile_order_kernel, threads, stream, t, places_of(t), tiles, tile, first, reversed != 0, lanes, slice, order);
}
