/*
   Update strategy parilu: sweeps over all entries, and the residual of any factor.
*/
#ifndef SYNCILU_FACTOR_PARILU_H
#define SYNCILU_FACTOR_PARILU_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* One sweep, or with no `from` the first iterate. Rows take 4 to 32 lanes. */
extern cudaError_t SyncILUKernelSweep(SyncILUValueType, SyncILUDeviceSweep, cudaStream_t);

/* Numbers that SyncILUKernelResidual() leaves: pairs, which depend on the number of rows alone. */
extern int SyncILUResidualNumbers(int n);

/*
   The squares of A - (W + D)(I + U') on the pattern, of W and U' in `from` and D in `pivot`, and those of A: sums
   of parts of the rows, in turns.
*/
extern cudaError_t SyncILUKernelResidual(SyncILUValueType, SyncILUDeviceSweep, double *sum, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
