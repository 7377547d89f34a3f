/*
   Update strategy bsr on a grid of points with several unknowns, straight to the storage of solves along its lines: see
   factor_bsr_grid.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_GRID_H
#define SYNCILU_FACTOR_BSR_GRID_H

#include "bsr_tiles.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Least rows of an inode: with fewer most lanes have nothing to do, and the kernel of factor_bsr_list.h is faster. */
#define SYNCILU_BSR_GRID_LEAST 4

/* Bytes of what there is for each task. */
#define SYNCILU_BSR_GRID_TASK 16

/*
   The entries of an inode are numbered by stencil here: those of L by their points, then the diagonal, which is
   number SYNCILU_STRUCT_MOST, then those of U.

   A reference inode: its block W_ik, and the updates that it makes: 256 times the entry of its part of U in the tiles,
   plus the block of this inode.
*/
typedef struct {
  unsigned short word[SYNCILU_STRUCT_MOST], count, block, unused;
} SyncILUBsrGridUpdates;

/* Reference inodes have the order of their levels, the lowest first. */
typedef struct {
  SyncILUBsrGridUpdates updates[SYNCILU_STRUCT_MOST]; /* of an inode that has all points of the stencil */
  int                   offset[SYNCILU_STRUCT_MOST];  /* from an inode to its reference inodes */
  signed char           order[SYNCILU_STRUCT_MOST];   /* their points */
  /* which entry of an inode the product of an entry of L and of an entry of U of the inode that it names is for; -1: none */
  signed char target[SYNCILU_STRUCT_MOST][SYNCILU_STRUCT_MOST];
} SyncILUBsrGridTable;

typedef struct {
  int                        size, entries; /* rows of an inode; entries of an inode at most */
  int                        points[2];     /* of the stencil in L and in U */
  unsigned                   all;           /* of SyncILUStructBlocksPlace, of an inode that has all of them */
  const void                *task;
  SyncILUDeviceBsrTiles      tiles;
  const SyncILUBsrGridTable *table;
  int                        warps;    /* of a block */
  int                        products; /* of a step: 1, 2, or of inodes of seven rows or more 4 */
} SyncILUDeviceBsrGrid;

/* Bytes of shared memory for an inode of so many entries at most. */
extern size_t SyncILUKernelFactorBsrGridBytes(int size, int entries);

/* What the inode of each task has, of n: ptr is that of the inodes' pattern, and order[t] the inode of task t, or t with order NULL. */
extern cudaError_t SyncILUKernelBsrGridTasks(int n, const int *ptr, const int *order, SyncILUDeviceBsrGrid, void *task, cudaStream_t);

/*
   Without relaxation, and with pivots that are rejected if tiny: with those that are shifted instead numbers cancel, which
   W_kk^-1 would spoil. Of the factorization, order, throttle and tasks
   are of inodes; val is not asked for.
*/
extern cudaError_t SyncILUKernelFactorBsrGrid(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBsrGrid, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
