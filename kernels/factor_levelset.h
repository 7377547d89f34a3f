/*
   Update strategy levelset.
*/
#ifndef SYNCILU_FACTOR_LEVELSET_H
#define SYNCILU_FACTOR_LEVELSET_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   The factorization of all rows, level after level; order, tasks, throttle and lower of the factor are not
   used.
*/
extern cudaError_t SyncILUKernelFactorLevelset(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceLevels, SyncILUDeviceSearch, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
