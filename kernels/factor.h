/*
   What all factorizations need.
*/
#ifndef SYNCILU_FACTOR_H
#define SYNCILU_FACTOR_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Before a factorization: nothing is found yet, the ticket is zero, and two arrays of so many values, of
   which the second may be NULL, are filled with NaN sentinels. One launch, since small systems are factored
   in the time of a few.
*/
extern cudaError_t SyncILUKernelFactorBegin(SyncILUValueType, SyncILUDeviceStatus *, unsigned long long *ticket, size_t, void *, size_t, void *, cudaStream_t);

/*
   Completes the status, which nobody needs where no row is reported and pivots are judged by themselves. For
   pivots of the types SIZE and SIGN it needs W, from val (the Crout form on the pattern) or where that is
   NULL from w, and size, which is NULL where only diagonals have updates.
*/
extern cudaError_t SyncILUKernelStatus(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, const void *val, SyncILUSlicedRows w, const void *size,
                                       const void *pivot, SyncILUDevicePivoting, SyncILUDeviceStatus *, cudaStream_t);

/*
   The largest sum of a row's absolute values beside the diagonal less the diagonal, as the bits of a double;
   zero before. With upper the values left of the diagonal are those of the transposed entries.
*/
extern cudaError_t SyncILUKernelExcess(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, int upper, unsigned long long *excess, cudaStream_t);

/* Entries of each row of U, and so many more. */
extern cudaError_t SyncILUKernelUpperLengths(SyncILUDevicePattern, int more, int *length, cudaStream_t);

/* Entries of each row that has more than `shared`; 0 for the others. */
extern cudaError_t SyncILUKernelLongLengths(int n, const int *ptr, int shared, int *length, cudaStream_t);

/* What the turn of SyncILUDeviceFactor is where reference rows come in the order of their positions. */
extern cudaError_t SyncILUKernelTurns(SyncILUDevicePattern, const int *position, unsigned char *turn, cudaStream_t);

/* The reciprocals of the pivots of rows order[p], or of rows p with order NULL. */
extern cudaError_t SyncILUKernelReciprocals(SyncILUValueType, int n, const void *pivot, const int *order, void *out, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
