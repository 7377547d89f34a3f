/*
   Solve strategy ell.
*/
#ifndef SYNCILU_SOLVE_ELL_H
#define SYNCILU_SOLVE_ELL_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A triangular solve with sliced ELL. */
extern cudaError_t SyncILUKernelSolveEll(SyncILUValueType, SyncILUDeviceEll, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
