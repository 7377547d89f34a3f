/*
   The factorization where only diagonals have updates.
*/
#ifndef SYNCILU_FACTOR_DIAGONAL_H
#define SYNCILU_FACTOR_DIAGONAL_H

#include "struct.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Finds (k,i) for each (i,k) of L in sliced ELL. */
extern cudaError_t SyncILUKernelTransposedEntries(SyncILUDevicePattern, SyncILUDeviceEll, int *at, cudaStream_t);

/* Where the diagonal of the row of each position stands among the values of the matrix. */
extern cudaError_t SyncILUKernelDiagonalIndex(int n, const int *diag, const int *map, const int *order, int *index, cudaStream_t);

/*
   Fills L's sliced ELL with the coefficients of the recurrence, which are products of two entries. sum is
   workspace of a number a row. The status says whether products leave the range of numbers so that it
   matters.
*/
extern cudaError_t SyncILUKernelCoefficients(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceEll, const int *transposed_entry, SyncILUDeviceValues,
                                             SyncILUDevicePivoting, void *sum, SyncILUDeviceStatus *, cudaStream_t);

/* The same in the place of L's values on a grid; the other triangle has the stencil of U. */
extern cudaError_t SyncILUKernelStructCoefficients(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceStruct, SyncILUDeviceStruct, SyncILUDeviceValues,
                                                   SyncILUDevicePivoting, void *sum, SyncILUDeviceStatus *, cudaStream_t);

/*
   Finds the same pivots without these products. order is that of the triangular solve, numerical if NULL, and
   inverse, unless it is NULL, receives the reciprocals in it; sum is workspace as above; the pivots are NaN sentinels before, and the ticket is
   zero.
*/
extern cudaError_t SyncILUKernelWidePivots(SyncILUValueType, SyncILUDevicePattern, const int *order, SyncILUDeviceValues, void *sum, SyncILUDevicePivoting,
                                           void *pivot, void *inverse, unsigned long long *ticket, SyncILUDeviceStatus *, cudaStream_t);

/* The same in numerical order, for rows of L with few entries. */
extern cudaError_t SyncILUKernelShortPivots(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, void *sum, SyncILUDevicePivoting, void *pivot,
                                            unsigned long long *ticket, SyncILUDeviceStatus *, cudaStream_t);

/* Solves the recurrence: pivots by rows, their reciprocals in the x of the triangular solve. */
extern cudaError_t SyncILUKernelPivots(SyncILUValueType, SyncILUDeviceEll, SyncILUDeviceSolve, SyncILUDevicePivoting, void *pivot, SyncILUDeviceStatus *,
                                       cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
