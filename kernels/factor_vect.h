/*
   Update strategy vect.
*/
#ifndef SYNCILU_FACTOR_VECT_H
#define SYNCILU_FACTOR_VECT_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Entries of rows that have more than `shared`; 0 for the others. */
extern cudaError_t SyncILUKernelLongLengths(int n, const int *ptr, int shared, int *length, cudaStream_t);
extern cudaError_t SyncILUKernelFactorVect(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceSearch, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
