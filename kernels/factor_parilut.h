/*
   Update strategy parilut: what its rounds remove of the pattern of the factor (src/cuda/parilut.c; the
   host's are in src/host/parilut.c). Patterns are rows in CSR with ascending columns and their diagonals.
   Launchers as in pattern.h.
*/
#ifndef SYNCILU_FACTOR_PARILUT_H
#define SYNCILU_FACTOR_PARILUT_H

#include "search.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   The sizes of all entries but diagonals, row by row, as keys that are compared (see src/host/parilut.c): of
   W and U' on the pattern, and the pivots. With mirror those of W are the sizes of the transposed entries.
*/
extern cudaError_t SyncILUKernelSizeKeys(SyncILUValueType, SyncILUDevicePattern, const void *crout, const void *pivot, int mirror, unsigned *key, cudaStream_t);

/* Bytes of workspace for the next one. */
extern size_t SyncILUThresholdBytes(void);

/*
   The smallest key that stays if no more than limit of m keys, which are more, are to, or hardly less: by a
   sample of them.
*/
extern cudaError_t SyncILUKernelThreshold(int m, int limit, const unsigned *key, void *work, SyncILUDeviceFound *found, cudaStream_t);

/*
   How many entries of each row stay: those whose keys are not zero and not below the threshold, which may be
   zero, and diagonals.
*/
extern cudaError_t SyncILUKernelStaying(SyncILUDevicePattern, const unsigned *key, int *length, SyncILUDeviceFound *found, cudaStream_t);

/* The entries that stay, their values and where diagonals stand, from where rows begin. */
extern cudaError_t SyncILUKernelStay(SyncILUValueType, SyncILUDevicePattern, const void *from, const unsigned *key, const SyncILUDeviceFound *found,
                                     const int *toptr, int *tocol, int *todiag, void *to, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
