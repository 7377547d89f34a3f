/*
   Matrices of a grid in its natural order: each row has the entries of one stencil, less those that leave the
   grid, and less holes, which are others that it does not have.

   Points have coordinates x, y, z. A line is the rows of one y and z. A lane goes along a line, a row a level, and
   the 32 lanes of a warp along the lines of a tile. The row of a point is the sum of its coordinates times their
   strides: 1, X and X Y, unless lines along another axis are longer, which then is called x. In the coordinates
   v = y + skew z and w = z of the lines, tiles are boxes of a plane, and no line depends on one with a higher
   v or w, so that tiles do not wait for each other in circles (Luo et al., ICS 2025, 4.1, who go along the
   third axis of skewed coordinates; along the first one no line is cut short by the skew). The level of a row is
   x + level[0] v + level[1] w. It depends on lower levels alone.
*/
#ifndef SYNCILU_STRUCT_H
#define SYNCILU_STRUCT_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Entries of a row of L or U; levels that a row may reach back; lines beside a tile that it may need, and these
   with those of the tile: where there are few, and at most.
*/
#define SYNCILU_STRUCT_MOST  13
#define SYNCILU_STRUCT_REACH 8
#define SYNCILU_STRUCT_LINES 64
#define SYNCILU_STRUCT_FEW   51
#define SYNCILU_STRUCT_CELLS 99

/* The entries of a row that there are kernels for, at or above so many; with so many lines beside a tile, and in all. */
SYNCILU_HOST_DEVICE static inline int SyncILUStructEntries(int entries, int lines, int cells)
{
  const int few = cells <= SYNCILU_STRUCT_FEW;

  if (few && lines <= 4 && entries <= 4) return entries <= 2 ? 2 : 4;
  if (few && lines <= 16 && entries <= 3) return 3;
  return entries <= 7 ? 7 : SYNCILU_STRUCT_MOST;
}

/*
   Where rows depend on their nearest neighbours alone: most lines beside a tile; most of them on one side; by the
   entries of a row in a triangle, how many steps there are to a piece of the values that go to other tiles; and
   the logarithm of the number of tiles of a box. A tile has at least as many lines towards another tile as there
   are steps to a piece.
*/
#define SYNCILU_STRUCT_NEAR_LINES          12
#define SYNCILU_STRUCT_NEAR_SIDE           8
#define SYNCILU_STRUCT_NEAR_PIECE(entries) ((entries) == 2 ? 4 : 2)
#if !defined(SYNCILU_STRUCT_BOX) /* tests have fewer */
  #define SYNCILU_STRUCT_BOX 4
#endif

typedef struct {
  int points[3], stride[3], skew, level[2];
  int edge[2]; /* logarithms of the edges of a tile in v and w: 32 lines */
  int row;     /* tiles in a row of tiles, along v; the first one of a row begins at or before its lowest v */
  int tiles;   /* all, those without lines too */
  int span;    /* levels from the first line of a tile to its last one */
  int steps;   /* points[0] + span: those that a warp takes for a tile */
} SyncILULines;

/* The number of the first tile along v in a row of tiles. */
SYNCILU_HOST_DEVICE static inline int SyncILULinesBegin(const SyncILULines *g, int row)
{
  return g->skew * (row << g->edge[1]) >> g->edge[0];
}

/* Rows in the order of the points of a grid, x first, with dof unknowns each. */
typedef struct {
  int points[3], dof;
} SyncILUGrid;

/*
   The entries of a matrix by where they stand on the grid, of those that reach no further than
   SYNCILU_STRUCT_REACH points in any direction, straight or around the ends of the grid.
*/
#define SYNCILU_GRID_SIDE  (2 * SYNCILU_STRUCT_REACH + 1)
#define SYNCILU_GRID_WORDS ((SYNCILU_GRID_SIDE * SYNCILU_GRID_SIDE * SYNCILU_GRID_SIDE + 31) / 32)

typedef struct {
  unsigned long long odd;                      /* row << 32 | column of the first one that is none of them; all bits if there is none */
  unsigned           around;                   /* directions in which some go around, as bits */
  unsigned           seen[SYNCILU_GRID_WORDS]; /* a bit for each point at which there are entries, see SyncILUGridBit() */
} SyncILUGridEntries;

SYNCILU_HOST_DEVICE static inline int SyncILUGridBit(int x, int y, int z)
{
  return ((z + SYNCILU_STRUCT_REACH) * SYNCILU_GRID_SIDE + y + SYNCILU_STRUCT_REACH) * SYNCILU_GRID_SIDE + x + SYNCILU_STRUCT_REACH;
}

/* A stencil: where the columns of a row stand, by ascending columns. */
typedef struct {
  int         row;   /* that has all of it: the first one of the longest rows; INT_MAX before */
  int         count; /* entries, the diagonal too */
  int         lower; /* those before it */
  int         offset[2 * SYNCILU_STRUCT_MOST + 1];
  signed char point[2 * SYNCILU_STRUCT_MOST + 1][3]; /* on a grid; no kernel makes these */
} SyncILUStencil;

/* The bit of a point of L, or of U, in SyncILUDeviceStruct.present. */
SYNCILU_HOST_DEVICE static inline int SyncILUStencilBit(int upper, int point)
{
  return upper ? SYNCILU_STRUCT_MOST + point : point;
}

/* The lines beside a tile that have values for it. */
typedef struct {
  /* the lines of the tile and those beside it have cells, in rows along v: by how many cells an entry is away */
  short cell[SYNCILU_STRUCT_MOST];
  int   cells; /* of all these lines */
  int   lines;
  const signed char (*line)[2]; /* their v and w, counted from the tile's */
} SyncILUBeside;

/*
   The tiles that a cluster of thread blocks solves for, a power of two in either direction. The last boxes of a
   row may go over the end of the grid.
*/
typedef struct {
  SyncILULines g;
  int          tiles;
  const int   *order; /* of the boxes */
} SyncILUBox;

/*
   A triangle in tiles of lines. Steps of a tile are its levels, counted from its first one; if down, from the
   last one, and v and w from the ends of the tile as well. The coefficients of a step of a tile are those of
   its 32 rows, entry by entry: entry[e] of `entries`, and then the reciprocal pivot, if scaled. Lanes without
   a row, entries outside of the grid and holes have zeros.

   The number of a row in x is 32 times its step, counted upwards in L and U^T, counted from the end in U and
   L^T, plus its lane, all of that behind the tiles before.
*/
typedef struct {
  SyncILULines g;
  int          entries; /* with padding */
  int          scaled, down;
  /*
     By stencil, ascending: its part of L or of U, whichever the triangle's values come from; if transposed,
     the row of point p has the value of the row at -p.
  */
  int         points, transposed;
  signed char point[SYNCILU_STRUCT_MOST][3];
  /* the points that each row of the matrix has, as bits of SyncILUStencilBit(); NULL: those on the grid */
  const int *present;
  /*
     Of each entry, those that reach back furthest first: its point, -1 if padding; and the levels that it
     reaches back
  */
  signed char   at[SYNCILU_STRUCT_MOST], before[SYNCILU_STRUCT_MOST];
  int           reach[2]; /* lines beside a tile in v and w */
  int           height;   /* most levels that an entry reaches back */
  unsigned      exported; /* lanes whose values other tiles need */
  SyncILUBeside beside;
  const int    *order; /* of the tiles */
  /*
     Where rows depend on their nearest neighbours alone: the entry of the neighbour in the row's own line, and of
     those in the lines before it in v and w, -1 if there is none; and boxes of tiles. Else a box has no tiles.
  */
  int        near[3];
  SyncILUBox box;
  void      *val;
  /* of L, for Eisenstat's trick: the diagonal of the matrix, in the order of x, with zeros where there is no row */
  const void *diagonal;
} SyncILUDeviceStruct;

/*
   The stencil of a matrix whose longest rows have so many entries; where the entries of rows stand on a grid,
   of which the points outside of `allowed` are none, unless that is NULL; which points of a stencil that all
   entries stand at each row has, see SyncILUStencilBit().
*/
extern cudaError_t SyncILUKernelStencil(SyncILUDevicePattern, int longest, SyncILUStencil *, cudaStream_t);
extern cudaError_t SyncILUKernelGridEntries(int n, const int *ptr, const int *col, SyncILUGrid, const unsigned *allowed, SyncILUGridEntries *, cudaStream_t);
extern cudaError_t SyncILUKernelHoles(SyncILUDevicePattern, const int points[3], const SyncILUStencil *, int *present, cudaStream_t);

/* The level of each row, as of a grid without holes. */
extern cudaError_t SyncILUKernelStructLevels(SyncILULines, int n, int *level, cudaStream_t);

/* The values of a triangle from where its rows stand, and the reciprocals of the pivots d. */
extern cudaError_t SyncILUKernelStructValues(SyncILUValueType, SyncILUDeviceStruct, SyncILUDeviceTriangle, SyncILUDeviceRows, const void *d, cudaStream_t);

/* The diagonal of the matrix in the order of L's x, where zeros are before. */
extern cudaError_t SyncILUKernelStructDiagonal(SyncILUValueType, SyncILUDeviceStruct, SyncILUDevicePattern, SyncILUDeviceValues, void *diagonal, cudaStream_t);

/* The columns, and the values, back on the pattern; with diag the diagonal too. */
extern cudaError_t SyncILUKernelColumnsOfStruct(SyncILUDeviceStruct, SyncILUDeviceTriangle, const int *diag, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelValuesOfStruct(SyncILUValueType, SyncILUDeviceStruct, SyncILUDeviceTriangle, void *val, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
