/*
   Update strategy bsr on a grid of points with several unknowns, straight to the storage of solves along its
   lines: see factor_bsr_grid.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_GRID_H
#define SYNCILU_FACTOR_BSR_GRID_H

#include "bsr_tiles.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Least rows of an inode: with fewer most lanes have nothing to do, and the kernel of factor_bsr_list.h is faster. */
#define SYNCILU_BSR_GRID_LEAST 4

/* Pieces of a task beside those of its reference inodes, and bytes of a piece. */
#define SYNCILU_BSR_GRID_HEAD  3
#define SYNCILU_BSR_GRID_PIECE 8

/*
   The entries of an inode are numbered by stencil here: those of L by their points, then the diagonal, which
   is number SYNCILU_STRUCT_MOST, then those of U.

   What a reference inode k updates. `block` is the number of W_ik among the blocks of the inode. A word is an
   update: 256 times the number of the block of U_k in the tiles, plus the number of the block that it
   updates.
*/
typedef struct {
  unsigned short word[SYNCILU_STRUCT_MOST], count, block, unused;
} SyncILUBsrGridUpdates;

/* Reference inodes, in the order of their levels, the lowest first. */
typedef struct {
  int         offset[SYNCILU_STRUCT_MOST]; /* from an inode to them */
  signed char point[SYNCILU_STRUCT_MOST];
  /* where only diagonal blocks have updates: the block of U in storage that makes it; -1: none */
  signed char diagonal[SYNCILU_STRUCT_MOST];
} SyncILUBsrGridReferences;

typedef struct {
  /* of an inode that has all points of the stencil, by each of its reference inodes */
  SyncILUBsrGridUpdates updates[SYNCILU_STRUCT_MOST];
  /* [entry of L][entry of U of the inode in that place]: the entry that their product updates; -1: none */
  signed char target[SYNCILU_STRUCT_MOST][SYNCILU_STRUCT_MOST];
} SyncILUBsrGridTable;

typedef struct {
  int                        size, entries; /* rows of an inode; entries of an inode at most */
  int                        points[2];     /* of the stencil in L and in U */
  unsigned                   all;           /* of SyncILUStructBlocksPlace, of an inode that has all of them */
  const void                *task;
  int                        pieces; /* logarithm of the pieces from a task to the next one */
  SyncILUDeviceBsrTiles      tiles;
  SyncILUBsrGridReferences   reference;
  const SyncILUBsrGridTable *table;
  int                        warps; /* of a block */
  /* of a step: 2, 4 (six rows or more) or 8 (seven or more); 0: only diagonal blocks have updates */
  int products;
} SyncILUDeviceBsrGrid;

/* Bytes of shared memory for an inode of so many entries at most. */
extern size_t SyncILUKernelFactorBsrGridBytes(int size, int entries);

/*
   Fills n tasks. ptr: of the inodes' pattern. order[t]: the inode of task t. throttle: of the
   factorization.
*/
extern cudaError_t SyncILUKernelBsrGridTasks(int n, const int *ptr, const int *order, int throttle, SyncILUDeviceBsrGrid, void *task, cudaStream_t);

/* slab[t]: the slab of inode order[t], where each slab has so many inodes with successive numbers. */
extern cudaError_t SyncILUKernelBsrGridSlabs(int n, const int *order, int inodes, int *slab, cudaStream_t);

/*
   With whole blocks, and not with relaxation. Tiny pivots must be rejected: with shifted ones large numbers
   cancel, and those of W_kk^-1 differ too much from the host's. tasks of the factorization are inodes;
   order, throttle and val are not used.
*/
extern cudaError_t SyncILUKernelFactorBsrGrid(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBsrGrid, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
