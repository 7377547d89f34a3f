/*
   Long rows in the factorization with lists.
*/
#ifndef SYNCILU_FACTOR_LONG_H
#define SYNCILU_FACTOR_LONG_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Rows gives, for each slice, the entries of its row if that is long, with more than `most`, else 0, and how many tasks it has.
   Tasks writes these; offset and entry are the offsets of the two. Those of long rows, but for the last one
   of each row, are in tasks_long too. Updates counts the updates of each entry of the long rows, or with
   update given writes them; columns is U transposed, upper where the rows of U' begin (NULL: on the pattern).
*/
extern cudaError_t SyncILUKernelLongRows(SyncILUDevicePattern, int most, const int *order, int slices, const SyncILUSlice *, int *length, int *tasks,
                                         cudaStream_t);
extern cudaError_t SyncILUKernelLongTasks(SyncILUDevicePattern, int most, const int *order, int slices, const SyncILUSlice *, const int *entry,
                                          const int *offset, SyncILUSlice *tasks, SyncILUSlice *tasks_long, cudaStream_t);
extern cudaError_t SyncILUKernelLongUpdates(SyncILUDevicePattern, SyncILUDeviceTriangle columns, const int *upper, const int *order, int tasks,
                                            const SyncILUSlice *tasks_long, int *begin, unsigned long long *sum, SyncILULongUpdate *update, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
