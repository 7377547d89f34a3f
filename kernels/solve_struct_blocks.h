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
   entries, and inverse(T) behind them, each block of all lines: SyncILUStructBlocksColumn() says where a
   column of it begins. So x = inverse(T) b - sum of inverse(T) A x has no chain within a point.

   A step of a tile has a number of x for each line and unknown, in this order.

   A factorization may leave `whole` blocks: those on the diagonal, W_ii = (W + D) (I + U') of point i, stand
   between the triangles then, as D does in A = L D U. The solve with L finds inverse(I + U'_ii) times what it
   would find without, and that with U goes on from there. So

     L has   inverse(W_ii) W_ik (I + U'_kk) and inverse(W_ii) in place of inverse(W + D) W_ik and inverse(W + D);
     U has   its entries as ever, and nothing behind them: its solve takes the identity in place of inverse(I + U').

   Without its division by I + U'_kk, W_ik is what the updates leave of the matrix. So the solve with U has
   one block less to read for each point, and a factorization one for each entry of L, and one less to write.
   Both solves together have the same solution as without, up to rounding, but neither has alone.
*/
typedef struct {
  SyncILUDeviceStruct m;
  SyncILUDeviceInodes inodes; /* the points of the matrix; columns are not asked for */
  int                 near;   /* entries of the level before, which are the last ones: 3 at most */
  int                 whole;  /* diagonal blocks stand between the triangles */
} SyncILUDeviceStructBlocks;

/*
   Where a point stands in the tiles of L and of U, for who writes its coefficients: (tile steps + step) lines
   + line, with the step of L; that of U is the same from the end. And which points of the stencil it has
   entries for, as bits of SyncILUStencilBit().
*/
typedef struct {
  unsigned number, points;
} SyncILUStructBlocksPlace;

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

/*
   How many columns of a block are stored side by side for a line of the grid. With 8 unknowns two columns
   have 128 bytes, a whole line of the cache. With one column after the other factorizations took 1.03 (7
   points) to 1.08 times as long on an H200, with 1.4 times as many requests to the second-level cache.
*/
#if defined(__cplusplus)
constexpr
#endif
  SYNCILU_HOST_DEVICE static inline int
  SyncILUStructBlocksBeside(int dof)
{
  return dof == 8 ? 2 : 1;
}

/*
   Where a column of a block begins for a line of the grid, among the numbers that the block has for all
   lines. Odd lines have the two columns in the other order, so that threads that read the same column for
   all lines find it in all banks of shared memory.
*/
SYNCILU_HOST_DEVICE static inline int SyncILUStructBlocksColumn(int dof, int lines, int line, int column)
{
  const int beside = SyncILUStructBlocksBeside(dof);

  return (column / beside * beside * lines + line * beside + (column ^ line) % beside) * dof;
}

/* Numbers in the coefficients of a step. */
SYNCILU_HOST_DEVICE static inline size_t SyncILUStructBlocksStep(const SyncILULines *g, int entries, int dof)
{
  return (size_t)SyncILUStructBlocksLines(g) * (size_t)(dof * dof) * (size_t)(entries + 1);
}

/* Whether the device can; to be asked before the first solve. */
extern cudaError_t SyncILUKernelStructBlocksFits(SyncILUDeviceStructBlocks, int *fits);

/*
   The coefficients of W and U' on the pattern of the rows, and of the pivots d; where no point or entry is,
   zeros stay. Not `whole` ones.
*/
extern cudaError_t SyncILUKernelStructBlocksValues(SyncILUValueType, SyncILUDeviceStructBlocks, const void *crout, const void *d, cudaStream_t);

/* The places of all points, by L, and then, which adds the points of the stencil that are U's, by U. */
extern cudaError_t SyncILUKernelStructBlocksPlaces(SyncILUDeviceStructBlocks, SyncILUStructBlocksPlace *place, cudaStream_t);

/*
   The way back, up to rounding: of L the entries of W, of U those of U', without the diagonal. upper: U,
   where an L with `whole` blocks stores inverse(I + U'). So the way back of L comes before that of U.
*/
extern cudaError_t SyncILUKernelValuesOfStructBlocks(SyncILUValueType, SyncILUDeviceStructBlocks, SyncILUDeviceStructBlocks upper, void *crout, cudaStream_t);

/* As SyncILUKernelSolveStruct(), without Eisenstat's trick. */
extern cudaError_t SyncILUKernelSolveStructBlocks(SyncILUValueType, SyncILUDeviceStructBlocks, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
