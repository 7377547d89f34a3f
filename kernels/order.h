/*
   The order in which rows are handed out: their levels, and sorting by them.
*/
#ifndef SYNCILU_ORDER_H
#define SYNCILU_ORDER_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Whether the kernels were built for the current device. */
extern cudaError_t SyncILUKernelProbe(void);

/*
   The earliest levels of L and, with both, of U, and how many there are, in levels[2]. The levels are filled
   with NaN sentinels' bytes (-1) before, the ticket and levels[2] are zero. longest: most entries of a row of
   either triangle; mean: of both of them and the diagonal.
*/
extern cudaError_t SyncILUKernelLevels(SyncILUDevicePattern, int longest, double mean, int both, int *levelL, int *levelU, unsigned long long *ticket,
                                       int *levels, cudaStream_t);

/*
   On a symmetric pattern, the latest levels of U from the earliest of L; any levels counted from the end, in
   place too.
*/
extern cudaError_t SyncILUKernelLevelsReverse(int n, int levels, const int *levelL, int *levelU, cudaStream_t);

/*
   Moves the rows of L and U to their latest levels, both at once. Fill puts all at the last one before;
   counts, a number a row, ticket and over are zero. Where a row would have a level below the least, over is 1
   afterwards, and levels say nothing. Where nobody knows how many levels there are, the last one is 0, the
   least of all is found by Least, which is zero before, and Add makes it 0.
*/
typedef struct {
  SyncILUDeviceTriangle rows;
  int                  *level, *count;
} SyncILULateLevels;

extern cudaError_t SyncILUKernelLevelsFill(int n, int last, int *level, cudaStream_t);
extern cudaError_t SyncILUKernelLevelsLate(SyncILULateLevels lower, SyncILULateLevels upper, int least, int *over, unsigned long long *ticket, cudaStream_t);
extern cudaError_t SyncILUKernelLevelsLeast(int n, const int *level, int *least, cudaStream_t);
extern cudaError_t SyncILUKernelLevelsAdd(int n, int value, int *level, cudaStream_t);

/* Sorts rows stably by key, at most max. */
extern cudaError_t SyncILUKernelSort(void *workspace, size_t *bytes, int n, int max, const int *key, int *sorted, int *order, cudaStream_t);

/*
   The most rows of a level, which is the sorted key >> shift, where there are rows; width NULL: nobody asks. start is
   workspace of levels + 1 numbers.
*/
extern cudaError_t SyncILUKernelLevelWidth(int n, int levels, const int *sorted, int shift, int *start, int *width, cudaStream_t);

/* How many rows each level has. */
extern cudaError_t SyncILUKernelLevelRows(int n, int levels, const int *level, int *count, cudaStream_t);

/* Permutations: the natural one or the reverse; another one read backwards; the inverse; table[index[p]]. */
extern cudaError_t SyncILUKernelIota(int n, int reverse, int *order, cudaStream_t);
extern cudaError_t SyncILUKernelReverse(int n, const int *order, int *reversed, cudaStream_t);
extern cudaError_t SyncILUKernelInvert(int n, const int *order, int *inverse, cudaStream_t);
extern cudaError_t SyncILUKernelGather(int n, const int *table, const int *index, int *out, cudaStream_t);

/* Of n lengths their offsets, and the sum in length[n]. */
extern cudaError_t SyncILUKernelOffsets(void *workspace, size_t *bytes, int n, int *length, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
