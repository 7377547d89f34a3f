/*
   Update strategy shared.
*/
#ifndef SYNCILU_FACTOR_SHARED_H
#define SYNCILU_FACTOR_SHARED_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* With 32 lanes a row, and a row a task. */
extern cudaError_t SyncILUKernelFactorShared(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceSearch, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
