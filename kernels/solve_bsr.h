/*
   Solve strategy bsr: see solve_bsr.cu.
*/
#ifndef SYNCILU_SOLVE_BSR_H
#define SYNCILU_SOLVE_BSR_H

#include "points.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A triangle by points, with its values on the pattern of the rows. */
typedef struct {
  SyncILUDevicePoints points;
  int                 lower;
  int                 tasks; /* points of one level, 2^3 to 2^5 lanes each */
  const SyncILUSlice *task;
  const int          *order; /* the point of each position */
  /* of each position, which of its points it waits for last; NULL where levels have so many points that nobody waits long */
  const SyncILULate *late;
} SyncILUDeviceBsr;

/* Of each position, which of its points have the highest positions. */
extern cudaError_t SyncILUKernelBsrLate(SyncILUDeviceBsr, const int *position, SyncILULate *, cudaStream_t);

/* x is by rows; the throttle counts points. */
extern cudaError_t SyncILUKernelSolveBsr(SyncILUValueType, SyncILUDeviceBsr, const void *val, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
