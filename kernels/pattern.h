/*
   What is found in a pattern, and in that of the matrix it came from.

   Launchers, here and in the other headers, are asynchronous in the stream they are given, allocate nothing,
   wait for nothing, and return what the runtime said of the launch. One that needs workspace is called twice,
   as in CUB: with workspace NULL it only sets *bytes.
*/
#ifndef SYNCILU_PATTERN_H
#define SYNCILU_PATTERN_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Looks through the columns of n rows in CSR, finds the diagonals and counts; rows of more than `most` entries are long. */
extern cudaError_t SyncILUKernelRows(int n, int most, const int *ptr, const int *col, int *diag, SyncILUDeviceCounts *, cudaStream_t);

/*
   Pattern statistics: off_diagonal and unsymmetric, given the most entries of a row of L; alone, or what is asked for
   of them together with inodes (of its bits those stay which are sizes of inodes) and the rest, the grid, given twice
   the mean of entries of L and of U.
*/
extern cudaError_t SyncILUKernelOffDiagonal(SyncILUDevicePattern, int longest, SyncILUDeviceStatistics *, cudaStream_t);
extern cudaError_t SyncILUKernelSymmetric(SyncILUDevicePattern, int longest, SyncILUDeviceStatistics *, cudaStream_t);
extern cudaError_t SyncILUKernelStatistics(SyncILUDevicePattern, int longest, int off_diagonal, int unsymmetric, int inodes, int grid, const int *twice,
                                           SyncILUDeviceStatistics *, cudaStream_t);

/* How many updates of an entry a factorization makes, given the most entries of a row of L; zero before. */
extern cudaError_t SyncILUKernelUpdates(SyncILUDevicePattern, int longest, unsigned long long *sum, cudaStream_t);

/*
   The rows of the transpose of L (lower) or U, which has so many entries, and where their entries stand on
   the pattern; src NULL: nobody asks for these, also where it asks for workspace.
*/
extern cudaError_t SyncILUKernelTranspose(void *workspace, size_t *bytes, SyncILUDevicePattern, int nnz, int lower, int entries, int *ptr, int *col, int *src,
                                          cudaStream_t);

/*
   Finds the entries of a pattern, in the ordering row and col (NULL: natural), in another matrix; -1 where it
   lacks them.
*/
extern cudaError_t SyncILUKernelMap(SyncILUDevicePattern, const int *row, const int *col, const int *aptr, const int *acol, int *map, cudaStream_t);

/*
   The fingerprint of n rows in CSR, of two numbers; zero before. The formula is that of
   SyncILUCSRFingerprint() in src/engine.c.
*/
extern cudaError_t SyncILUKernelFingerprint(int n, const int *ptr, const int *col, unsigned long long *sum, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
