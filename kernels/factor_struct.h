/*
   Update strategy struct: the factorization of matrices of a grid, along its lines (kernels/struct.h).
*/
#ifndef SYNCILU_FACTOR_STRUCT_H
#define SYNCILU_FACTOR_STRUCT_H

#include "struct.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   The reference rows of a row are taken by their levels, the lowest first. The last ones are near: of the
   level just before, of which struct takes NEAR at most. The others are far: so many of them that there are
   kernels for.
*/
#define SYNCILU_STRUCT_NEAR    3
#define SYNCILU_STRUCT_FAR     12
#define SYNCILU_STRUCT_SOURCES (SYNCILU_STRUCT_FAR + SYNCILU_STRUCT_NEAR)

SYNCILU_HOST_DEVICE static inline int SyncILUStructFar(int far)
{
  return far <= 2 ? 2 : far <= 4 ? 4 : far <= 10 ? 10 : SYNCILU_STRUCT_FAR;
}

/*
   Bytes of a row of U' in shared memory, by the most values that rows may have, and the other numbers that
   choose a kernel.
*/
SYNCILU_HOST_DEVICE static inline int SyncILUStructRow(int far, int lines, int values)
{
  return far == 2 && lines <= 4 && values <= 8 ? 64 : 128;
}

/*
   Rows of U' of a line in shared memory: row x of the line is at begin + (x & mask) there, a multiple of
   whose size begin is. A reference row is `x` behind the row that needs it. All of that in bytes.
*/
typedef struct {
  int begin, mask, x;
} SyncILUStructRing;

/* Where a reference row is: in the ring that `cell` says, as SyncILUStructRing has it. */
typedef struct {
  int mask, x;
} SyncILUStructReference;

/* A line beside that of a row: how far, and which of its rows comes with the row at 0. */
typedef struct {
  SyncILUStructRing ring;
  int               v, w, x;
} SyncILUStructBeside;

/*
   A lane has an entry of a row: of L, by reference rows in the order in which they are taken, behind the
   padding of the far ones; then the diagonal; then those of U.
*/
typedef struct {
  signed char       point[3]; /* of the entry */
  signed char       bit;      /* in SyncILUDeviceStruct.present; -1: the lane has no entry */
  short             place;    /* in the storage of its triangle */
  SyncILUStructRing source;   /* its reference row */
  unsigned          before;   /* lanes whose entries come before this one in a row */
  unsigned          updated;  /* by which reference rows it is updated, bit by bit */
  /* where the entry stands that does it, in the first row of the ring; else a number that stays zero */
  int cell[SYNCILU_STRUCT_SOURCES];
} SyncILUStructEntry;

typedef struct {
  SyncILUDeviceStruct       lower, upper; /* of the triangles that are solved with */
  int                       far;          /* as SyncILUStructFar() says */
  int                       lines;        /* beside that of a row */
  int                       values;       /* of a row in `u`: its entries of U', and with relaxation their sum and its rounding error */
  int                       row, room;    /* bytes of a row in shared memory, and of all rings */
  int                       largest;      /* bytes of the largest ring */
  int                       hands;        /* line 0 is the one at v - 1: where a warp of the block has it, that hands rows on */
  int                       before;       /* steps before the first row, in which rings are filled */
  int                       warps;        /* of a block: half as many lines */
  int                       follows;      /* a far reference row is on the same line */
  SyncILUStructRing         own;
  SyncILUStructReference    reference[SYNCILU_STRUCT_SOURCES];
  SyncILUStructBeside       line[SYNCILU_STRUCT_MOST];
  const SyncILUStructEntry *entry; /* of each lane of a warp */
  SyncILUDevicePattern      pattern;
  SyncILUDeviceValues       a;
  void                     *u;      /* rows of U' for those who wait for them, with zeros for entries that a row does not have; NaN sentinels before */
  SyncILUSlicedRows         wrows;  /* val NULL, or the rows of W go there too */
  void                     *pivot;  /* of each row */
  void                     *size;   /* NULL, or receives the sum of the absolute values of each row of U beside the diagonal */
  unsigned long long       *ticket; /* zero */
  SyncILUDevicePivoting     piv;
  SyncILUDeviceStatus      *status;
} SyncILUDeviceStructFactor;

/* Bytes of shared memory that a line needs. */
extern size_t SyncILUKernelFactorStructBytes(const SyncILUDeviceStructFactor *);

/* Fills the storage of both triangles, reciprocal pivots too. */
extern cudaError_t SyncILUKernelFactorStruct(SyncILUValueType, SyncILUDeviceStructFactor, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
