/*
   Rows by level, for the strategies that wait for whole levels.
*/
#ifndef SYNCILU_LEVELSET_H
#define SYNCILU_LEVELSET_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The first slice of each level, and behind them the number of slices; key is the level at each position. */
extern cudaError_t SyncILUKernelLevelSlices(SyncILUDeviceLevels, const int *key, int *start, cudaStream_t);

/* Of each slice whether a task begins with it. */
extern cudaError_t SyncILUKernelLevelTaskFlags(SyncILUDeviceLevels, const int *key, int *flag, cudaStream_t);

/* The tasks, with the number of tasks that begin before each slice. */
extern cudaError_t SyncILUKernelLevelTasks(SyncILUDeviceLevels, const int *key, const int *offset, SyncILULevelTask *, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
