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

/*
   Most rows of an inode. With eight, this takes 6.8 ms for 7 points, 128^3, 8.4 for a star of 13, 102^3, and
   12.5 for a diamond of 13 on an H200, and factor_bsr_grid.cu 5.5, 6.2 and 7.4.
*/
#define SYNCILU_BSR_WIDE_MOST 7

/* The logarithm of a warp's inodes, which have so many rows: lines of a tile of its own. */
#if defined(__cplusplus)
constexpr
#endif
  SYNCILU_HOST_DEVICE static inline int
  SyncILUBsrWideLines(int size)
{
  return size == 2 ? 4 : size <= 4 ? 3 : 2;
}

/* Doubles from number to number of a warp's rows in shared memory; odd, as SYNCILU_STRUCT_STRIDE. */
#if defined(__cplusplus)
constexpr
#endif
  SYNCILU_HOST_DEVICE static inline int
  SyncILUBsrWideStride(int size)
{
  return (size << SyncILUBsrWideLines(size)) + 1;
}

/* A reference inode, that of the entry of L with its number. Blocks have the order of storage. */
typedef struct {
  signed char    point[3];                    /* where it stands, from the inode */
  unsigned char  count;                       /* of updates */
  unsigned char  begin;                       /* of its blocks, of those at hand */
  unsigned char  after;                       /* so many reference inodes are done before its blocks may come */
  unsigned short target[SYNCILU_STRUCT_MOST]; /* number in shared memory that the updated block begins with */
  int            from[SYNCILU_STRUCT_MOST];   /* byte in a step's storage that the block begins with */
} SyncILUBsrWideSource;

/* What a block of threads has at hand. */
typedef struct {
  /* number in shared memory that the block of the entry with that number begins with; by ascending columns */
  int block[32];
  /* steps that each tile beside must have done for a reference inode, counted from the task's own step */
  int needs[SYNCILU_STRUCT_MOST][SYNCILU_STRUCT_BESIDE];
} SyncILUBsrWideTable;

typedef struct {
  int                        size;                         /* rows of an inode */
  int                        hand;                         /* blocks of reference inodes that each inode of a warp has room for */
  SyncILUDeviceStruct        lower, upper;                 /* of points: see SyncILUDeviceStructBlocks */
  SyncILULines               g;                            /* the same points in tiles for a warp; tasks are steps of these */
  unsigned char              bit[2 * SYNCILU_STRUCT_MOST]; /* numbers of L's and U's entries, by ascending columns */
  int                        margin[3][2];                 /* points that the stencil reaches down and up */
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

/* How many warps of a block shared memory has room for. */
extern int SyncILUKernelFactorBsrWideWarps(SyncILUDeviceBsrWide);

/*
   Fills the storage of both triangles, with whole blocks, without relaxation, and with pivots that are
   rejected if tiny. Columns of inodes are not asked for.
*/
extern cudaError_t SyncILUKernelFactorBsrWide(SyncILUValueType, SyncILUDeviceBsrWide, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
