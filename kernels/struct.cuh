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

  return w >= 0 && w < g.points[2] && y >= 0 && y < g.points[1] ? g.points[0] * (y + g.points[1] * w) : -1;
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

} // namespace syncilu

#endif
