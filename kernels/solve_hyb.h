/*
   Solve strategy hyb.
*/
#ifndef SYNCILU_SOLVE_HYB_H
#define SYNCILU_SOLVE_HYB_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Storage HYB_syncfree: 32 columns and values for each slice, lane by lane, where columns are rows of x and -1
   is padding. A row of more than 32 entries goes on in CSR, on the pattern: lane 0 has where it begins there in
   the place of a column, and where it ends in that of a value; the other lanes have its first 31 entries. The
   slices have their widths, beyond 1 for such rows; their offsets do not count, since slice s stands at 32 s.
*/

/* The columns, from the pattern; and the values, from those on the pattern. */
extern cudaError_t SyncILUKernelHybColumns(SyncILUDeviceTriangle, SyncILUDeviceEll, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelHybValues(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceEll, const void *crout, cudaStream_t);

/* A triangular solve; crout: the values on the pattern, for rows that go on in CSR. */
extern cudaError_t SyncILUKernelSolveHyb(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceEll, const void *crout, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
