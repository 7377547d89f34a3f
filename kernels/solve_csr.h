/*
   Solve strategy csr.
*/
#ifndef SYNCILU_SOLVE_CSR_H
#define SYNCILU_SOLVE_CSR_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* A triangular solve with the values on the pattern, rows taken in the given order. */
extern cudaError_t SyncILUKernelSolveCsr(SyncILUValueType, SyncILUDeviceTriangle, const void *val, const int *order, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
