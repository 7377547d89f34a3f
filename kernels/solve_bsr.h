/*
   Solve strategy bsr: see solve_bsr.cu.
*/
#ifndef SYNCILU_SOLVE_BSR_H
#define SYNCILU_SOLVE_BSR_H

#include "inodes.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A triangle by inodes, with its values on the pattern of the rows. */
typedef struct {
  SyncILUDeviceInodes inodes;
  int                 lower;
  int                 tasks; /* inodes of one level, 2^3 to 2^5 lanes each */
  const SyncILUSlice *task;
  const int          *order; /* the inode of each position */
  /*
     of each position, which inodes it waits for last; NULL where levels have so many inodes that waiting does
     not count
  */
  const SyncILULate *late;
} SyncILUDeviceBsr;

/* Of each position, which of its inodes have the highest positions. */
extern cudaError_t SyncILUKernelBsrLate(SyncILUDeviceBsr, const int *position, SyncILULate *, cudaStream_t);

/* x is by rows; the throttle counts inodes. */
extern cudaError_t SyncILUKernelSolveBsr(SyncILUValueType, SyncILUDeviceBsr, const void *val, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
