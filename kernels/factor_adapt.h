/*
   Update strategy adapt.
*/
#ifndef SYNCILU_FACTOR_ADAPT_H
#define SYNCILU_FACTOR_ADAPT_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* With 4 to 32 lanes a row. */
extern cudaError_t SyncILUKernelFactorAdapt(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceSearch, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
