/*
   Update strategy parilut: what its rounds do to the pattern of the factor (src/cuda/parilut.c; the host's
   are in src/host/parilut.c). Patterns are rows in CSR with ascending columns and their diagonals. Launchers
   as in pattern.h.
*/
#ifndef SYNCILU_FACTOR_PARILUT_H
#define SYNCILU_FACTOR_PARILUT_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Of n rows, which of their entries other rows lack: lacking[e] becomes the number of those of the row up to
   entry e, and length[i] the length of row i with the entries of both.
*/
extern cudaError_t SyncILUKernelLacking(int n, const int *ptr, const int *col, const int *otherptr, const int *othercol, int *lacking, int *length,
                                        cudaStream_t);

/* The rows with the entries of both, from what that one has found and where they begin. */
extern cudaError_t SyncILUKernelUnite(int n, const int *ptr, const int *col, const int *lacking, const int *otherptr, const int *othercol, const int *unitedptr,
                                      int *unitedcol, cudaStream_t);

/* Values on a pattern from those on another one, zero for entries that the other one lacks. */
extern cudaError_t SyncILUKernelCarry(SyncILUValueType, int n, const int *fromptr, const int *fromcol, const void *from, const int *toptr, const int *tocol,
                                      void *to, cudaStream_t);

/*
   The sizes of all entries but diagonals, row by row, as keys that are compared (see src/host/parilut.c): of
   W and U' on the pattern, and the pivots. With mirror those of W are the sizes of the transposed entries.
*/
extern cudaError_t SyncILUKernelSizeKeys(SyncILUValueType, SyncILUDevicePattern, const void *crout, const void *pivot, int mirror, unsigned *key, cudaStream_t);

/* Bytes of workspace for the next one. */
extern size_t SyncILUThresholdBytes(void);

/* The smallest key that stays if no more than limit of m keys are to, or hardly less: by a sample of them. */
extern cudaError_t SyncILUKernelThreshold(int m, int limit, const unsigned *key, void *work, unsigned *threshold, cudaStream_t);

/* How many entries of each row stay: those whose keys are not below the threshold, and diagonals. */
extern cudaError_t SyncILUKernelStaying(SyncILUDevicePattern, const unsigned *key, const unsigned *threshold, int *length, cudaStream_t);

/* The entries that stay, and their values, from where rows begin. */
extern cudaError_t SyncILUKernelStay(SyncILUValueType, SyncILUDevicePattern, const void *from, const unsigned *key, const unsigned *threshold, const int *toptr,
                                     int *tocol, void *to, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
