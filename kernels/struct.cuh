/*
   Lines, tiles and steps of kernels/struct.h.
*/
#ifndef SYNCILU_STRUCT_CUH
#define SYNCILU_STRUCT_CUH

#include "struct.h"
#include "launch.cuh"

namespace syncilu
{

/* A tile: its number, and its lowest v and w. */
struct Tile {
  int number, v, w;
};

__device__ __forceinline__ Tile tile_of(const SyncILULines &g, int number)
{
  const int row = number / g.row, column = number - row * g.row + SyncILULinesBegin(&g, row);

  return {number, column << g.edge[0], row << g.edge[1]};
}

/* The first row of a line; -1 where there is none. */
__device__ __forceinline__ int line_row(const SyncILULines &g, int v, int w)
{
  const int y = v - g.skew * w;

  return w >= 0 && w < g.points[2] && y >= 0 && y < g.points[1] ? y * g.stride[1] + w * g.stride[2] : -1;
}

/* Where a line stands in its tile: its lane, and how many levels it is behind the first one. */
struct Lane {
  int number, late;
};

__device__ __forceinline__ Lane lane_at(const SyncILULines &g, int v, int w)
{
  const int a = v & ((1 << g.edge[0]) - 1), b = w & ((1 << g.edge[1]) - 1);

  return {(b << g.edge[0]) + a, g.level[0] * a + g.level[1] * b};
}

/* The tile of a line that there is. */
__device__ __forceinline__ int tile_at(const SyncILULines &g, int v, int w)
{
  const int row = w >> g.edge[1];

  return row * g.row + (v >> g.edge[0]) - SyncILULinesBegin(&g, row);
}

/*
   A line in the coordinates of a direction: if down, tiles are looked at from their ends, and so v, w and the
   delay within a tile are counted.
*/
__device__ __forceinline__ Lane turned(const SyncILUDeviceStruct &m, Lane l)
{
  if (m.down) l.late = m.g.span - l.late;
  return l;
}

__device__ __forceinline__ bool inside(const int *points, const int *at, int x, int y, int z)
{
  return (unsigned)(at[0] + x) < (unsigned)points[0] && (unsigned)(at[1] + y) < (unsigned)points[1] && (unsigned)(at[2] + z) < (unsigned)points[2];
}

/* At which points of its part of the stencil a row has entries: bit k stands for point k. */
__device__ __forceinline__ unsigned points_of(const SyncILUDeviceStruct &m, int row, const int *at)
{
  unsigned mask = 0;

  if (m.present) return (unsigned)m.present[row] >> SyncILUStencilBit(m.down != m.transposed, 0) & ((1u << m.points) - 1);
  for (int k = 0; k < m.points; k++) mask |= (inside(m.g.points, at, m.point[k][0], m.point[k][1], m.point[k][2]) ? 1u : 0u) << k;
  return mask;
}

/* How many rows there are to a point. */
__device__ __forceinline__ int point_distance(const SyncILUDeviceStruct &m, int k)
{
  return m.point[k][0] * m.g.stride[0] + m.point[k][1] * m.g.stride[1] + m.point[k][2] * m.g.stride[2];
}

/* The point of a stencil on the other side of its middle; -1 if it has none there. */
__device__ __forceinline__ int point_opposite(const SyncILUDeviceStruct &m, const signed char *point)
{
  for (int k = 0; k < m.points; k++)
    if (m.point[k][0] == -point[0] && m.point[k][1] == -point[1] && m.point[k][2] == -point[2]) return k;
  return -1;
}

/* The row of a thread, of those that go through the storage of a triangle; -1 where there is none. */
struct StructLane {
  int    row, at[3];
  size_t entry; /* its first one in storage */
};

__device__ __forceinline__ StructLane struct_lane(const SyncILUDeviceStruct &m)
{
  const SyncILULines &g    = m.g;
  const long long     p    = global_thread() >> 5;
  const int           lane = threadIdx.x & 31;
  StructLane          l    = {
                -1, {0, 0, 0},
                 0
  };

  if (p >= (long long)g.tiles * g.steps) return l;
  const int  tile = (int)(p / g.steps), step = (int)(p - (long long)tile * g.steps);
  const Tile t = tile_of(g, tile);
  const int  v = t.v + (lane & ((1 << g.edge[0]) - 1)), w = t.w + (lane >> g.edge[0]), first = line_row(g, v, w), x = step - lane_at(g, v, w).late;

  if (first < 0 || (unsigned)x >= (unsigned)g.points[0]) return l;
  l.row   = first + x * g.stride[0];
  l.at[0] = x;
  l.at[1] = v - g.skew * w;
  l.at[2] = w;
  l.entry = ((size_t)tile * g.steps + (m.down ? g.steps - 1 - step : step)) * (m.entries + m.scaled) * 32 + lane;
  return l;
}

/* Whether it is the second of two solves, to which the x of the first one comes. */
__host__ __device__ __forceinline__ bool is_second(const SyncILUDeviceSolve &s)
{
  return !s.ldb;
}

} // namespace syncilu

#endif
