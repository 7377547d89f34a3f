/*
   Update strategy bsr: see factor_bsr.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_H
#define SYNCILU_FACTOR_BSR_H

#include "points.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct {
  SyncILUDevicePoints points;
  int                 shared;  /* most entries of a point that fit shared memory */
  int                 lower;   /* most entries of L of a point, or fewer: of others it is looked up again where they stand */
  int                 warps;   /* of a block */
  void               *scratch; /* for the rows of points with more entries than fit shared memory; NULL if there is none */
  const int          *begin;   /* where those of each of these points begin there, in units of size * size values */
} SyncILUDeviceBsrFactor;

/* Bytes of shared memory that a warp needs for a point of rows of that many entries, and so many of L. */
extern size_t SyncILUKernelFactorBsrBytes(int size, int entries, int lower);

/* Of the factorization, order, turn, throttle and tasks are of points. */
extern cudaError_t SyncILUKernelFactorBsr(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBsrFactor, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
