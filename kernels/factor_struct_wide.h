/*
   Update strategy struct where levels are wide: see factor_struct_wide.cu.
*/
#ifndef SYNCILU_FACTOR_STRUCT_WIDE_H
#define SYNCILU_FACTOR_STRUCT_WIDE_H

#include "struct.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Bytes of what there is for each task: a step of a tile. */
#define SYNCILU_STRUCT_TASK 8

/* Tiles at most that the reference rows of a tile are in, its own too. */
#define SYNCILU_STRUCT_BESIDE 16

/*
   Doubles from entry to entry of a task's rows in shared memory. Odd: successive lanes read successive rows
   here, and write successive entries there, both without conflicts between banks.
*/
#define SYNCILU_STRUCT_STRIDE 33

/*
   Numbers of U' that shared memory has room for, of each lane: those that are in use, and those that are
   being copied for the reference rows that come next, at most so many of these. A reference row has 13
   numbers at most. With room for no more than a stencil needs, more warps run, and wait: a star of 13 points,
   260^3, then takes 5.2 instead of 4.3 ms (H200).
*/
#define SYNCILU_STRUCT_HAND  24
#define SYNCILU_STRUCT_AHEAD 4

/*
   A row has its entries in the order of storage here: those of L, the diagonal, those of U. Storage has the
   points of either triangle by their levels, those of the lowest reference rows first, which is the order of
   the updates: so a reference row has the number of its entry of L.
*/
typedef struct {
  unsigned char count; /* of updates */
  unsigned char begin; /* of its numbers, of those at hand */
  unsigned char after; /* as many reference rows are done before its numbers may come */
  /* where the target is in shared memory << 16 | where its factor is in a step of U's storage; both in doubles */
  unsigned update[SYNCILU_STRUCT_MOST];
} SyncILUStructSource;

/* Of a lane's reference row: the number of its tile, of those beside; steps it is behind; its lane there. */
typedef struct {
  short         behind;
  unsigned char tile, lane;
} SyncILUStructPlace;

/* What a task's warps have at hand; all is read by lane. */
typedef struct {
  int                entry[32];                                         /* where the entry of that number, by ascending columns, is in shared memory */
  int                needs[SYNCILU_STRUCT_MOST][SYNCILU_STRUCT_BESIDE]; /* of each tile beside: steps that it must have done, beyond the task's own step */
  SyncILUStructPlace place[SYNCILU_STRUCT_MOST][32];
} SyncILUStructTable;

/* A tile beside another, counted in tiles. */
typedef struct {
  signed char v, w;
} SyncILUStructTile;

typedef struct {
  SyncILUDeviceStruct       lower, upper;                 /* of the triangles that are solved with */
  unsigned char             bit[2 * SYNCILU_STRUCT_MOST]; /* the numbers of L's and U's entries, by ascending columns */
  int                       margin[3][2];                 /* points that the stencil reaches down and up, in each direction */
  int                       tiles;                        /* that reference rows are in */
  SyncILUStructTile         tile[SYNCILU_STRUCT_BESIDE];
  SyncILUStructSource       source[SYNCILU_STRUCT_MOST];
  const SyncILUStructTable *table;
  const void               *task;
  int                       tasks;
  int                      *done; /* steps of each tile: zero */
  SyncILUDevicePattern      pattern;
  SyncILUDeviceValues       a;
  void                     *pivot;
  unsigned long long       *ticket; /* zero */
  SyncILUDevicePivoting     piv;
  SyncILUDeviceStatus      *status;
} SyncILUDeviceStructWide;

/*
   The tasks by level. Tile order[k] is the one of number k by its lowest level; those of a level begin with
   task start[level], of tile order[first[level]].
*/
extern cudaError_t SyncILUKernelStructTasks(SyncILULines, const int *order, const int *start, const int *first, void *task, cudaStream_t);

/* Fills the storage of both triangles, reciprocal pivots too. Without relaxation, and where no sizes of rows are asked for. */
extern cudaError_t SyncILUKernelFactorStructWide(SyncILUValueType, SyncILUDeviceStructWide, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
