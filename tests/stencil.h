/*
   Rows of a grid in its natural order, each by itself, on the host and on a device: all points have the same
   neighbors, as far as these are on the grid, and two neighbors share all of their unknowns.
*/
#ifndef SYNCILU_TEST_STENCIL_H
#define SYNCILU_TEST_STENCIL_H

#include <math.h>
#include <stdint.h>

#if defined(__CUDACC__)
  #define STENCIL_FUNCTION __host__ __device__ static inline
#else
  #define STENCIL_FUNCTION static inline
#endif

enum {
  STENCIL_MOST = 32 /* neighbors of a point, with itself */
};

typedef struct {
  int         points[3], dof;
  int         count;                 /* neighbors of a point, with itself; 0: it is no such grid */
  signed char near[STENCIL_MOST][3]; /* by ascending columns */
} StencilGrid;

/* The nonzeros of all rows, which may be more than an int counts. */
STENCIL_FUNCTION int64_t StencilNonzeros(const StencilGrid *g)
{
  int64_t all = 0;

  for (int k = 0; k < g->count; k++) {
    int64_t points = 1;

    for (int c = 0; c < 3; c++) {
      const int d = g->near[k][c] < 0 ? -g->near[k][c] : g->near[k][c];

      points *= d < g->points[c] ? g->points[c] - d : 0;
    }
    all += points * g->dof * g->dof;
  }
  return all;
}

/* The rows of all points, likewise. */
STENCIL_FUNCTION int64_t StencilRows(const StencilGrid *g)
{
  return (int64_t)g->points[0] * g->points[1] * g->points[2] * g->dof;
}

/* How many points it is to the k-th neighbor of the one at these coordinates; whether that is on the grid. */
STENCIL_FUNCTION int StencilNeighbor(const StencilGrid *g, const int at[3], int k, int *distance)
{
  const signed char *d = g->near[k];

  *distance = d[0] + g->points[0] * (d[1] + g->points[1] * d[2]);
  return (unsigned)(at[0] + d[0]) < (unsigned)g->points[0] && (unsigned)(at[1] + d[1]) < (unsigned)g->points[1] &&
         (unsigned)(at[2] + d[2]) < (unsigned)g->points[2];
}

STENCIL_FUNCTION void StencilPlace(const StencilGrid *g, int row, int at[3])
{
  const int p = row / g->dof;

  at[0] = p % g->points[0];
  at[1] = p / g->points[0] % g->points[1];
  at[2] = p / g->points[0] / g->points[1];
}

STENCIL_FUNCTION int StencilLength(const StencilGrid *g, int row)
{
  int at[3], distance, length = 0;

  StencilPlace(g, row, at);
  for (int k = 0; k < g->count; k++) length += StencilNeighbor(g, at, k, &distance) ? g->dof : 0;
  return length;
}

/* A number in [0, 1) for each pair, by the last step of splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
STENCIL_FUNCTION double StencilRandom(int row, int column)
{
  uint64_t x = (uint64_t)row * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)column;

  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  x ^= x >> 31;
  return (double)(x >> 11) * 0x1p-53;
}

/*
   The columns and values of a row, of the kind that GenerateValues() makes: at random, with a diagonal that
   dominates row and column. The column has entries in the rows in whose columns the row has some.
*/
STENCIL_FUNCTION void StencilFill(const StencilGrid *g, int row, int *column, double *value)
{
  const int p = row / g->dof;
  int       at[3], next = 0, diagonal = 0;
  double    sum[2] = {0.0, 0.0};

  StencilPlace(g, row, at);
  for (int k = 0; k < g->count; k++) {
    int distance;

    if (!StencilNeighbor(g, at, k, &distance)) continue;
    for (int c = 0; c < g->dof; c++, next++) {
      const int j = (p + distance) * g->dof + c;

      column[next] = j;
      value[next]  = 2.0 * StencilRandom(row, j) - 1.0;
      if (j == row) diagonal = next;
      else {
        sum[0] += fabs(value[next]);
        sum[1] += fabs(2.0 * StencilRandom(j, row) - 1.0);
      }
    }
  }
  value[diagonal] += 2.0 + fmax(sum[0], sum[1]);
}

#endif
