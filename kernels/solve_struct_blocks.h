/*
   Triangular solves of matrices of a grid with several unknowns a point, whose entries are dense blocks.
*/
#ifndef SYNCILU_SOLVE_STRUCT_BLOCKS_H
#define SYNCILU_SOLVE_STRUCT_BLOCKS_H

#include "inodes.h"
#include "struct.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   A triangle in tiles of lines of points, as SyncILUDeviceStruct has one of rows; a tile has
   1 << (edge[0] + edge[1]) lines, and no padding among its entries. T is the triangle of a block on the
   diagonal, with the pivots if scaled. The coefficients of a step of a tile are blocks inverse(T) A of all
   entries, and inverse(T) behind them: number ((e dof + k) lines + l) dof + i is in row i and column k of
   block e of line l. So x = inverse(T) b - sum of inverse(T) A x has no chain within a point.

   A step of a tile has a number of x for each line and unknown, in this order.

   The numbers of T beside its diagonal are kept for the way back to W and U', where there is one.
*/
typedef struct {
  SyncILUDeviceStruct m;
  SyncILUDeviceInodes inodes;   /* the points of the matrix; columns are not asked for */
  int                 near;     /* entries of the level before, which are the last ones: 3 at most */
  void               *triangle; /* SyncILUStructBlocksPairs() for each point; NULL for a transpose */
} SyncILUDeviceStructBlocks;

/* Numbers of a triangle beside its diagonal. */
#if defined(__cplusplus)
constexpr
#endif
  SYNCILU_HOST_DEVICE static inline int
  SyncILUStructBlocksPairs(int dof)
{
  return dof * (dof - 1) / 2;
}

/* The logarithm of the lines of a tile that there are kernels for: large tiles, and small ones for grids of few lines. */
#if defined(__cplusplus)
constexpr
#endif
  SYNCILU_HOST_DEVICE static inline int
  SyncILUStructBlocksTile(int dof, int small)
{
  return small ? 2 : dof == 2 ? 5 : dof <= 5 ? 4 : 3;
}

SYNCILU_HOST_DEVICE static inline int SyncILUStructBlocksLines(const SyncILULines *g)
{
  return 1 << (g->edge[0] + g->edge[1]);
}

/* Numbers in the coefficients of a step. */
SYNCILU_HOST_DEVICE static inline size_t SyncILUStructBlocksStep(const SyncILULines *g, int entries, int dof)
{
  return (size_t)SyncILUStructBlocksLines(g) * (size_t)(dof * dof) * (size_t)(entries + 1);
}

/* Whether the device can; to be asked before the first solve. */
extern cudaError_t SyncILUKernelStructBlocksFits(SyncILUDeviceStructBlocks, int *fits);

/* The coefficients of W and U' on the pattern of the rows, and of the pivots d; where no point or entry is, zeros stay. */
extern cudaError_t SyncILUKernelStructBlocksValues(SyncILUValueType, SyncILUDeviceStructBlocks, const void *crout, const void *d, cudaStream_t);

/* The way back: of L the entries of W, of U those of U', without the diagonal. */
extern cudaError_t SyncILUKernelValuesOfStructBlocks(SyncILUValueType, SyncILUDeviceStructBlocks, const void *d, void *crout, cudaStream_t);

/* As SyncILUKernelSolveStruct(), without Eisenstat's trick. */
extern cudaError_t SyncILUKernelSolveStructBlocks(SyncILUValueType, SyncILUDeviceStructBlocks, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
