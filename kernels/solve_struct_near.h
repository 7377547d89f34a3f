/*
   Triangular solves of matrices of a grid whose rows depend on their nearest neighbours alone, for one
   right-hand side; see kernels/solve_struct.h, where these are called.
*/
#ifndef SYNCILU_SOLVE_STRUCT_NEAR_H
#define SYNCILU_SOLVE_STRUCT_NEAR_H

#include "struct.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Whether the device can, with as many blocks in a cluster as a box has tiles: for all solves and pivots,
   of both triangles.
*/
extern cudaError_t SyncILUKernelStructNearFits(SyncILUDeviceStruct, int *fits);

/*
   As SyncILUKernelSolveStruct() and SyncILUKernelStructPivots(). Both triangles of a matrix go by these, or
   none.
*/
extern cudaError_t SyncILUKernelSolveStructNear(SyncILUValueType, SyncILUDeviceStruct, SyncILUDeviceSolve, cudaStream_t);
extern cudaError_t SyncILUKernelStructNearPivots(SyncILUValueType, SyncILUDeviceStruct, SyncILUDeviceSolve, SyncILUDevicePivoting, void *pivot,
                                                 SyncILUDeviceStatus *, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
