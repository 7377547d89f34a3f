/*
   Points of a grid whose numbering the rows follow.
*/
#ifndef SYNCILU_GRID_CUH
#define SYNCILU_GRID_CUH

#include "types.h"

namespace syncilu
{

struct Point {
  int x, y, z;
};

__device__ __forceinline__ Point point_of(const int *points, int skew, int row)
{
  const int line = row / points[0], z = line / points[1], y = line - z * points[1];

  return {row - line * points[0] + skew * (y + 2 * z), y + skew * z, z};
}

/* Whether b is not behind a row at a that depends on it: before it in L, after it in U. */
__device__ __forceinline__ bool is_across(const Point &a, const Point &b, bool upper)
{
  return upper ? b.x < a.x || b.y < a.y || b.z < a.z : b.x > a.x || b.y > a.y || b.z > a.z;
}

/* Whether a row has more than so many entries in L or in U. */
__device__ __forceinline__ bool longer(const SyncILUDevicePattern &p, int i, int most)
{
  return p.diag[i] - p.ptr[i] > most || p.ptr[i + 1] - p.diag[i] - 1 > most;
}

/*
   Whether a row is out of the ordinary whatever it depends on: it is long, or comes after the grid's last
   point.
*/
__device__ __forceinline__ bool stands_alone(const SyncILUDevicePattern &p, int points, int limit, int i)
{
  return i >= points || longer(p, i, limit);
}

/*
   Looks through the entries e, e + step, ... of row i. Sets *across if it depends on a row that is not behind
   it, and returns whether that one is of the ordinary.
*/
__device__ __forceinline__ bool crosses(const SyncILUDevicePattern &p, const int *points, int skew, int limit, int i, int e, int step, bool *across)
{
  const Point a = point_of(points, skew, i);

  for (; e < p.ptr[i + 1]; e += step) {
    const int k = p.col[e];

    if (k != i && is_across(a, point_of(points, skew, k), k > i)) {
      *across = true;
      if (!stands_alone(p, points[0] * points[1] * points[2], limit, k)) return true;
    }
  }
  return false;
}

} // namespace syncilu

#endif
