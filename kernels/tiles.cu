/*
   Tiles: rows that a warp takes together though they depend on each other, because they are neighbours. What passes between rows of a tile never leaves the warp, so that a sweep has to wait for memory as
   often as there are tiles in a row behind one another, not rows.
*/
#include "syncilu_kernels.h"
#include "values.cuh"
#include "tuning.h"
#include <climits>
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

__device__ __forceinline__ int tile_of(const SyncILUTiling &t, int row)
{
  const int line = row / t.points[0], x = row - line * t.points[0], z = line / t.points[1], y = line - z * t.points[1];

  return ((z >> t.edge[2]) * t.tiles[1] + (y >> t.edge[1])) * t.tiles[0] + (x >> t.edge[0]);
}

/* The rows of a tile, which at the ends of the grid has fewer than elsewhere. */
struct Box {
  int first, nx, ny, rows;
};

__device__ __forceinline__ Box box_of(const SyncILUTiling &t, int tile)
{
  int at[3], points[3], k = tile / t.tiles[0];
  Box b;

  at[0] = tile - k * t.tiles[0];
  at[2] = k / t.tiles[1];
  at[1] = k - at[2] * t.tiles[1];
  for (int c = 0; c < 3; c++) {
    at[c] <<= t.edge[c];
    points[c] = min(1 << t.edge[c], t.points[c] - at[c]);
  }
  b.first = (at[2] * t.points[1] + at[1]) * t.points[0] + at[0];
  b.nx    = points[0];
  b.ny    = points[1];
  b.rows  = points[0] * points[1] * points[2];
  return b;
}

__device__ __forceinline__ int row_of(const SyncILUTiling &t, const Box &b, int k)
{
  const int line = k / b.nx, z = line / b.ny;

  return b.first + (z * t.points[1] + line - z * b.ny) * t.points[0] + k - line * b.nx;
}

/* How many rows depend on the one before them, and the least distance beyond 1. */
__global__ void grid_lines_kernel(SyncILUDevicePattern p, SyncILUDeviceGrid *grid)
{
  const long long i          = global_thread();
  bool            successive = false;
  int             least      = INT_MAX;

  if (i < p.n) {
    for (int e = p.diag[i] - 1; e >= p.ptr[i]; e--) { /* from the nearest on */
      const int distance = (int)i - p.col[e];

      if (distance == 1) successive = true;
      else {
        least = distance;
        break;
      }
    }
  }
  least          = __reduce_min_sync(FULL, least);
  const int rows = __syncthreads_count(successive);
  if ((threadIdx.x & 31) == 0 && least < load_relaxed(&grid->line)) atomicMin(&grid->line, least);
  if (threadIdx.x == 0 && rows) atomicAdd(&grid->successive, rows);
}

__global__ void grid_planes_kernel(SyncILUDevicePattern p, SyncILUDeviceGrid *grid)
{
  const long long i     = global_thread();
  const int       line  = grid->line;
  int             least = INT_MAX;

  if (i < p.n && line < INT_MAX) {
    for (int e = p.diag[i] - 1; e >= p.ptr[i] && least == INT_MAX; e--) {
      const int distance = (int)i - p.col[e];

      if (distance > line + 1) least = distance;
    }
  }
  least = __reduce_min_sync(FULL, least);
  if ((threadIdx.x & 31) == 0 && least < load_relaxed(&grid->plane)) atomicMin(&grid->plane, least);
}

__global__ void grid_across_kernel(SyncILUDevicePattern p, SyncILUDeviceGrid *grid)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);
  int             points[3];

  if (t / ROW_LANES >= p.n || !SyncILUGridPoints(p.n, grid->line, grid->plane, points) || load_relaxed(&grid->across)) return;
  const int line = i / points[0], x = i - line * points[0], z = line / points[1], y = line - z * points[1];
  for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) {
    const int j = p.col[e], jline = j / points[0], jx = j - jline * points[0], jz = jline / points[1], jy = jline - jz * points[1];

    if (j < i ? jx > x || jy > y || jz > z : jx < x || jy < y || jz < z) {
      store_relaxed(&grid->across, 1);
      return;
    }
  }
}

/* Each other tile of L or U that the tile of this warp depends on, once for every entry's place in the rows: f(tile, which of them). Returns how many there are. */
template <typename F>
__device__ __forceinline__ int depends(const SyncILUDevicePattern &p, const SyncILUTiling &t, int own, bool upper, F f)
{
  const int lane = threadIdx.x & 31, lg = 5 - t.edge[0] - t.edge[1] - t.edge[2], k = lane >> lg;
  const Box b   = box_of(t, own);
  const int i   = k < b.rows ? row_of(t, b, k) : 0;
  const int end = k < b.rows ? (upper ? p.ptr[i + 1] : p.diag[i]) : 0;
  int       n   = 0;

  for (int e = k < b.rows ? (upper ? p.diag[i] + 1 : p.ptr[i]) + (lane & ((1 << lg) - 1)) : 0; __any_sync(FULL, e < end); e += 1 << lg) {
    const int      tile  = e < end ? tile_of(t, p.col[e]) : own;
    const unsigned same  = __match_any_sync(FULL, tile);
    const bool     first = tile != own && __ffs(same) - 1 == lane;
    const unsigned all   = __ballot_sync(FULL, first);

    if (first) f(tile, n + __popc(all & ((1u << lane) - 1)));
    n += __popc(all);
  }
  return n;
}

__device__ __forceinline__ int tiles_of(const SyncILUTiling &t)
{
  return t.tiles[0] * t.tiles[1] * t.tiles[2];
}

__global__ void tile_sizes_kernel(SyncILUDevicePattern p, SyncILUTiling t, int *__restrict__ size)
{
  const long long k = global_thread() >> 5;

  if (k >= tiles_of(t)) return;
  int n = 1;
  for (int upper = 0; upper < 2; upper++) n += depends(p, t, (int)k, upper, [](int, int) {});
  if ((threadIdx.x & 31) == 0) size[k] = n;
}

__global__ void tile_pattern_kernel(SyncILUDevicePattern p, SyncILUTiling t, const int *__restrict__ ptr, int *__restrict__ diag, int *__restrict__ col)
{
  const long long k = global_thread() >> 5;

  if (k >= tiles_of(t)) return;
  int at = ptr[k];
  at += depends(p, t, (int)k, false, [=](int tile, int n) { col[at + n] = tile; });
  if ((threadIdx.x & 31) == 0) {
    diag[k] = at;
    col[at] = (int)k;
  }
  depends(p, t, (int)k, true, [=](int tile, int n) { col[at + 1 + n] = tile; });
}

__global__ void tile_rows_kernel(SyncILUTiling t, const int *__restrict__ tile, int *__restrict__ rows)
{
  const long long k = global_thread();

  if (k < tiles_of(t)) rows[k] = box_of(t, tile[k]).rows;
}

/* A thread a row of each tile. */
__global__ void tile_order_kernel(SyncILUTiling t, const int *__restrict__ tile, const int *__restrict__ first, bool reversed, int lanes, SyncILUSlice *__restrict__ slice, int *__restrict__ order)
{
  const long long g  = global_thread();
  const int       lg = t.edge[0] + t.edge[1] + t.edge[2];
  const long long k  = g >> lg;
  const int       r  = (int)(g & ((1 << lg) - 1));

  if (k >= tiles_of(t)) return;
  const Box b = box_of(t, tile[k]);
  if (r < b.rows) order[first[k] + r] = row_of(t, b, reversed ? b.rows - 1 - r : r);
  if (r == 0) {
    SyncILUSlice s;

    s.offset = 0;
    s.first  = first[k];
    s.width  = 0;
    s.shape  = lanes | b.rows << 3;
    slice[k] = s;
  }
}

long long count(const SyncILUTiling &t)
{
  return (long long)t.tiles[0] * t.tiles[1] * t.tiles[2];
}

} // namespace

cudaError_t SyncILUKernelGrid(SyncILUDevicePattern p, SyncILUDeviceGrid *grid, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  grid_lines_kernel<<<blocks_for(p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, grid);
  grid_planes_kernel<<<blocks_for(p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, grid);
  LAUNCH(grid_across_kernel, (long long)p.n * ROW_LANES, stream, p, grid);
}

cudaError_t SyncILUKernelTileSizes(SyncILUDevicePattern p, SyncILUTiling t, int *size, cudaStream_t stream)
{
  LAUNCH(tile_sizes_kernel, 32 * count(t), stream, p, t, size);
}

cudaError_t SyncILUKernelTilePattern(SyncILUDevicePattern p, SyncILUTiling t, const int *ptr, int *diag, int *col, cudaStream_t stream)
{
  LAUNCH(tile_pattern_kernel, 32 * count(t), stream, p, t, ptr, diag, col);
}

cudaError_t SyncILUKernelTileOrder(void *workspace, size_t *bytes, SyncILUTiling t, const int *tile, int reversed, int lanes, SyncILUSlice *slice, int *order, cudaStream_t stream)
{
  const int    tiles      = (int)count(t);
  const size_t array      = round_up(((size_t)tiles + 1) * sizeof(int));
  int *const   first      = (int *)workspace;
  size_t       scan_bytes = 0;
  cudaError_t  err;

  if (!workspace) {
    err    = SyncILUKernelOffsets(NULL, &scan_bytes, tiles, first, stream);
    *bytes = array + scan_bytes;
    return err;
  }
  if (!tiles) return cudaSuccess;
  scan_bytes = *bytes - array;
  err        = cudaMemsetAsync(first + tiles, 0, sizeof(int), stream);
  if (err != cudaSuccess) return err;
  tile_rows_kernel<<<blocks_for(tiles, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(t, tile, first);
  err = SyncILUKernelOffsets((char *)workspace + array, &scan_bytes, tiles, first, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(tile_order_kernel, (long long)tiles << (t.edge[0] + t.edge[1] + t.edge[2]), stream, t, tile, first, reversed != 0, lanes, slice, order);
}
