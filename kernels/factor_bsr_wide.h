/*
   Update strategy bsr on a grid of points with two to seven unknowns, where levels are wide: see
   factor_bsr_wide.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_WIDE_H
#define SYNCILU_FACTOR_BSR_WIDE_H

#include "factor_struct_wide.h"
#include "solve_struct_blocks.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Most rows of an inode: with eight factor_bsr_grid.cu is as fast (7 points, 128^3: 7.6 ms, and 8.0 this way). */
#define SYNCILU_BSR_WIDE_MOST 7

/* The logarithm of a warp's inodes, which have so many rows: lines of a tile of its own. */
SYNCILU_HOST_DEVICE static inline int SyncILUBsrWideLines(int size)
{
  return size == 2 ? 4 : size <= 4 ? 3 : 2;
}

/* A reference inode. Blocks have the order of storage. */
typedef struct {
  signed char    point[3];                      /* where it stands, from the inode */
  unsigned char  entry;                         /* of L */
  unsigned char  count;                         /* of updates */
  unsigned char  begin;                         /* of its blocks, of those at hand: those of the updates, and then (I + U'_kk)^-1 */
  unsigned char  after;                         /* as many reference inodes are done before its blocks may come */
  unsigned short target[SYNCILU_STRUCT_MOST];   /* where the block that is updated begins in shared memory, in numbers */
  int            from[SYNCILU_STRUCT_MOST + 1]; /* where the block at hand begins in a step's storage, in bytes */
} SyncILUBsrWideSource;

/* What a block of threads has at hand. */
typedef struct {
  int block[32];                                         /* the block's place in shared memory of the entry of that number, by ascending columns */
  int needs[SYNCILU_STRUCT_MOST][SYNCILU_STRUCT_BESIDE]; /* of each tile beside: steps that it must have done, beyond the task's own step */
} SyncILUBsrWideTable;

typedef struct {
  int                        size;                         /* rows of an inode */
  int                        hand;                         /* blocks of reference inodes that there is room for, of each inode of a warp */
  SyncILUDeviceStruct        lower, upper;                 /* of points: see SyncILUDeviceStructBlocks */
  SyncILULines               g;                            /* the same points in tiles of as many lines as a warp has; tasks are steps of these */
  unsigned char              bit[2 * SYNCILU_STRUCT_MOST]; /* the numbers of L's and U's entries, by ascending columns */
  int                        margin[3][2];                 /* points that the stencil reaches down and up, in each direction */
  int                        tiles;                        /* that reference inodes are in */
  SyncILUStructTile          tile[SYNCILU_STRUCT_BESIDE];
  SyncILUBsrWideSource       source[SYNCILU_STRUCT_MOST];
  const SyncILUBsrWideTable *table;
  const void                *task;
  int                        tasks;
  int                       *done; /* steps of each tile: zero */
  SyncILUDevicePattern       inodes;
  SyncILUDeviceValues        a;
  void                      *pivot;
  unsigned long long        *ticket; /* zero */
  SyncILUDevicePivoting      piv;
  SyncILUDeviceStatus       *status;
} SyncILUDeviceBsrWide;

/* Whether shared memory has room for a task. */
extern int SyncILUKernelFactorBsrWideFits(SyncILUDeviceBsrWide);

/*
   Fills the storage of both triangles, without relaxation, and with pivots that are rejected if tiny. Columns of
   inodes are not asked for.
*/
extern cudaError_t SyncILUKernelFactorBsrWide(SyncILUValueType, SyncILUDeviceBsrWide, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
