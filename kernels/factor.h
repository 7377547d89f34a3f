/*
   What all factorizations need.
*/
#ifndef SYNCILU_FACTOR_H
#define SYNCILU_FACTOR_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Nothing found yet. Also sets the ticket of the factorization to zero. */
extern cudaError_t SyncILUKernelStatusReset(SyncILUDeviceStatus *, unsigned long long *ticket, cudaStream_t);

/*
   Completes the status. For pivots of the types SIZE and SIGN it needs W, from val (the Crout form on the
   pattern) or where that is NULL from w, and size, which is NULL where only diagonals have updates.
*/
extern cudaError_t SyncILUKernelStatus(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, const void *val, SyncILUSlicedRows w, const void *size,
                                       const void *pivot, SyncILUDevicePivoting, SyncILUDeviceStatus *, cudaStream_t);

/*
   The largest sum of a row's absolute values beside the diagonal less the diagonal, as the bits of a double;
   zero before.
*/
extern cudaError_t SyncILUKernelExcess(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, unsigned long long *excess, cudaStream_t);

/* Entries of each row of U. */
extern cudaError_t SyncILUKernelUpperLengths(SyncILUDevicePattern, int *length, cudaStream_t);

/* Entries of each row that has more than `shared`; 0 for the others. */
extern cudaError_t SyncILUKernelLongLengths(int n, const int *ptr, int shared, int *length, cudaStream_t);

/* The reciprocals of the pivots of rows order[p], or of rows p with order NULL. */
extern cudaError_t SyncILUKernelReciprocals(SyncILUValueType, int n, const void *pivot, const int *order, void *out, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
