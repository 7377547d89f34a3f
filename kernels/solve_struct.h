/*
   Triangular solves of matrices of a grid.
*/
#ifndef SYNCILU_SOLVE_STRUCT_H
#define SYNCILU_SOLVE_STRUCT_H

#include "struct.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Whether the device can; to be asked before the first solve. */
extern cudaError_t SyncILUKernelStructFits(SyncILUDeviceStruct, int *fits);

/*
   A triangular solve. The right-hand side is by rows, or with ldb 0 the x of the triangle in the other direction; the
   solution goes to rows, if anywhere. A right-hand side has a number of x for each lane and step of all tiles. With v
   given, in a solve with L, it is Eisenstat's trick (eisenstat.h): b is the x of U, and d and e are not used.
*/
extern cudaError_t SyncILUKernelSolveStruct(SyncILUValueType, SyncILUDeviceStruct, SyncILUDeviceSolve, cudaStream_t);

/*
   The pivots where only diagonals have updates, by rows, with the coefficients in the place of L's values
   (SyncILUKernelStructCoefficients()); x, sentinels before, receives their reciprocals.
*/
extern cudaError_t SyncILUKernelStructPivots(SyncILUValueType, SyncILUDeviceStruct, SyncILUDeviceSolve, SyncILUDevicePivoting, void *pivot,
                                             SyncILUDeviceStatus *, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
