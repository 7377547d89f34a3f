/*
   Solve strategy bsr: see solve_bsr.cu.
*/
#ifndef SYNCILU_SOLVE_BSR_H
#define SYNCILU_SOLVE_BSR_H

#include "inodes.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Where a block of a transpose begins on the pattern of the rows, and the entries of each of the rows it is in. */
typedef struct {
  int begin, width;
} SyncILUBsrPlace;

/* A triangle by inodes, with its values on the pattern of the rows. */
typedef struct {
  SyncILUDeviceInodes    inodes;
  SyncILUDeviceTriangle  part;  /* of the pattern of the inodes */
  const SyncILUBsrPlace *place; /* of each entry of a transpose; NULL for L and U, whose rows are those of the pattern */
  int                    lower;
  int                    tasks; /* inodes of one level, 2^3 to 2^5 lanes each */
  const SyncILUSlice    *task;
  const int             *order; /* the inode of each position */
  /*
     of each position, which inodes it waits for last; NULL where levels have so many inodes that waiting does
     not count
  */
  const SyncILULate *late;
} SyncILUDeviceBsr;

/* Of each position, which of its inodes have the highest positions. */
extern cudaError_t SyncILUKernelBsrLate(SyncILUDeviceBsr, const int *position, SyncILULate *, cudaStream_t);

/* The places of a transpose, whose part has the numbers of its entries on the pattern of the inodes. */
extern cudaError_t SyncILUKernelBsrPlaces(SyncILUDeviceBsr, SyncILUBsrPlace *, cudaStream_t);

/* x is by rows; the throttle counts inodes. */
extern cudaError_t SyncILUKernelSolveBsr(SyncILUValueType, SyncILUDeviceBsr, const void *val, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
