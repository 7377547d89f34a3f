/*
   Solve strategy mr.
*/
#ifndef SYNCILU_SOLVE_MR_H
#define SYNCILU_SOLVE_MR_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Bits of the size class below the level in a key. */
#define SYNCILU_CLASS_BITS 3

/* Makes keys of the levels: the size class of the row stands in the lowest SYNCILU_CLASS_BITS bits. */
extern cudaError_t SyncILUKernelClassKeys(SyncILUDeviceTriangle, int *level, cudaStream_t);

/* A triangular solve with the values on the pattern, the rows of a slice together. */
extern cudaError_t SyncILUKernelSolveMr(SyncILUValueType, SyncILUDeviceTriangle, const void *val, const int *order, int slices, const SyncILUSlice *,
                                        SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
