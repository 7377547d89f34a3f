/*
   Solve strategy levelset.
*/
#ifndef SYNCILU_SOLVE_LEVELSET_H
#define SYNCILU_SOLVE_LEVELSET_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A triangular solve with the values on the pattern, level after level. */
extern cudaError_t SyncILUKernelSolveLevelset(SyncILUValueType, SyncILUDeviceTriangle, const void *val, SyncILUDeviceLevels, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
