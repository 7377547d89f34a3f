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
   stride to sum. some receives by entry of the pattern whether that reference row has updates, NULL: nothing
   does; Lists skips the others. Widths takes from these the rounds of each task (into its width and
   width[task]), and adds them to sum unless that is NULL. Lists writes the updates at the offset of the task,
   turn as in SyncILUDeviceFactor; update is filled with 0xffff before, source with 0. With half there are the
   updates of the diagonal and of what is right of it alone.
*/
extern cudaError_t SyncILUKernelListRounds(SyncILUDevicePattern, int most, int lanes, int stride, int half, int *rounds, unsigned char *some,
                                           unsigned long long *sum, cudaStream_t);
extern cudaError_t SyncILUKernelListWidths(const int *rounds, int lanes, const int *order, int tasks, SyncILUSlice *, int *width, unsigned long long *sum,
                                           cudaStream_t);
extern cudaError_t SyncILUKernelLists(SyncILUDevicePattern, int most, int lanes, int half, const int *order, const unsigned char *turn,
                                      const unsigned char *some, int tasks, const SyncILUSlice *, unsigned short *update, unsigned char *source, cudaStream_t);
extern cudaError_t SyncILUKernelFactorList(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceLists, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
