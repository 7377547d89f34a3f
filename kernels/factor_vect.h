/*
   Update strategy vect.
*/
#ifndef SYNCILU_FACTOR_VECT_H
#define SYNCILU_FACTOR_VECT_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* With 32 lanes a row, and a row a task. */
extern cudaError_t SyncILUKernelFactorVect(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceSearch, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
