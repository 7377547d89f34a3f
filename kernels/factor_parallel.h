/*
   Update strategy parallel.
*/
#ifndef SYNCILU_FACTOR_PARALLEL_H
#define SYNCILU_FACTOR_PARALLEL_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* With a block a row, and a row a task. */
extern cudaError_t SyncILUKernelFactorParallel(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceSearch, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
