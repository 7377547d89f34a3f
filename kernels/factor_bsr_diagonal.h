/*
   Update strategy bsr where no blocks but those of the diagonal have updates: see factor_bsr_diagonal.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_DIAGONAL_H
#define SYNCILU_FACTOR_BSR_DIAGONAL_H

#include "bsr_tiles.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Most reference inodes of an inode; most rows of one that has half a warp: with 4 rows 0.92 of the time with
   a whole one (H200).
*/
#define SYNCILU_BSR_DIAGONAL_MOST 32
#define SYNCILU_BSR_DIAGONAL_TWO  3

/* Bytes of what there is for each task, and for each of its `lower` reference inodes. */
#define SYNCILU_BSR_DIAGONAL_TASK      16
#define SYNCILU_BSR_DIAGONAL_REFERENCE 12

/*
   What is known of each task and of its reference inodes in the order of the tasks. inverse and inner have a
   block of each inode, row by row. They are filled with NaN sentinels before, and receive what other inodes
   wait for: the inverse of the inode's diagonal block, and the numbers of U' in that block.
*/
typedef struct {
  SyncILUDeviceInodes   inodes; /* columns are not asked for */
  void                 *task, *reference, *inverse, *inner;
  int                   entries, lower; /* of an inode at most: entries, reference inodes */
  int                   warps, two;     /* of a block; whether a warp has two inodes, which are of 2 or 3 rows */
  SyncILUDeviceBsrTiles tiles;          /* then nothing goes to the pattern */
} SyncILUDeviceBsrDiagonal;

/* Bytes of shared memory for an inode with at most so many entries and reference inodes. */
extern size_t SyncILUKernelFactorBsrDiagonalBytes(int size, int entries, int lower);

/* Task and reference, of a pattern with columns. */
extern cudaError_t SyncILUKernelBsrDiagonalPlan(SyncILUDevicePattern, const int *order, SyncILUDeviceBsrDiagonal, cudaStream_t);

/*
   Without relaxation, and with pivots of type SYNCILU_PIVOT_REJECT. Of the factorization, order, throttle and
   tasks are of inodes.
*/
extern cudaError_t SyncILUKernelFactorBsrDiagonal(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBsrDiagonal, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
