/*
   Update strategy list.
*/
#ifndef SYNCILU_FACTOR_LIST_H
#define SYNCILU_FACTOR_LIST_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Most is the most entries of a row that has lists. Rounds counts the rounds of each row for 4, 8, 16 and 32
   lanes, searching with 1 << lanes of them; or, with rounds NULL, it adds those for 4 of one row of every
   stride to sum. A warp goes through its rows together: where their lengths differ much, an order that has those of
   one length together is given, else NULL. some receives by entry of the pattern whether that reference row has
   updates, NULL: nothing does; Lists skips the others. Widths takes from these the rounds of each task (into its width
   and width[task]), and adds them to sum unless that is NULL. Storage does so, and makes offsets and the sum, count[1],
   for at most SYNCILU_ONE_BLOCK_ROWS rows before the host knows how many tasks there are, which count[0] has. Lists
   writes the updates at the offset of the task, turn as in SyncILUDeviceFactor; update is filled with 0xffff before, source with 0. With half there are the
   updates of the diagonal and of what is right of it alone.
*/
extern cudaError_t SyncILUKernelListRounds(SyncILUDevicePattern, int most, int lanes, int stride, int half, const int *order, int *rounds, unsigned char *some,
                                           unsigned long long *sum, cudaStream_t);
extern cudaError_t SyncILUKernelListStorage(const int *rounds, int lanes, const int *order, int n, SyncILUSlice *, int *count, cudaStream_t);
extern cudaError_t SyncILUKernelListWidths(const int *rounds, int lanes, const int *order, int tasks, SyncILUSlice *, int *width, unsigned long long *sum,
                                           cudaStream_t);
extern cudaError_t SyncILUKernelLists(SyncILUDevicePattern, int most, int lanes, int half, const int *order, const unsigned char *turn,
                                      const unsigned char *some, int tasks, const SyncILUSlice *, unsigned short *update, unsigned char *source, cudaStream_t);
extern cudaError_t SyncILUKernelFactorList(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceLists, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
