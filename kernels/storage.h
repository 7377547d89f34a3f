/*
   Storage in slices of 32 lanes.
*/
#ifndef SYNCILU_STORAGE_H
#define SYNCILU_STORAGE_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* How many entries the rows have. */
extern cudaError_t SyncILUKernelRowLengths(SyncILUDeviceTriangle, int *length, cudaStream_t);

/* The most entries of a row; zero before. */
extern cudaError_t SyncILUKernelLongest(SyncILUDeviceTriangle, int *longest, cudaStream_t);

/* Adds to over[k] the rows with more than SYNCILU_POLLS << k entries, for k below SYNCILU_LENGTHS. */
extern cudaError_t SyncILUKernelLengths(SyncILUDeviceTriangle, int *over, cudaStream_t);

/*
   Makes keys of the levels, in their place too: the width of the rows stands in the lowest SYNCILU_WIDTH_BITS bits, rows of more
   than limit entries come last.
*/
extern cudaError_t SyncILUKernelSliceKeys(SyncILUDeviceTriangle, int lanes, int limit, const int *level, int *key, cudaStream_t);

/* In place of the logarithm of the lanes a row: the power of two at or above its entries, at most 32. */
#define SYNCILU_LANES_BY_LENGTH (-1)

/*
   Cuts the order into slices of 1 << lanes lanes a row, or of a whole warp for rows of more than limit
   entries; with keys given, also where these change but for their lowest bits. Rows, Widths (of the
   triangle's entries; width[slices] is left alone), Offsets of the widths and SliceOffsets complete the slices,
   in this sequence.
*/
extern cudaError_t SyncILUKernelSlices(void *workspace, size_t *bytes, SyncILUDeviceTriangle, const int *order, const int *key, int bits, int lanes, int limit,
                                       SyncILUSlice *, int *count, cudaStream_t);
extern cudaError_t SyncILUKernelSliceRows(int n, int slices, SyncILUSlice *, cudaStream_t);
extern cudaError_t SyncILUKernelSliceWidths(SyncILUDeviceTriangle, const int *order, int packed, int slices, SyncILUSlice *, int *width, cudaStream_t);
extern cudaError_t SyncILUKernelSliceOffsets(int slices, const int *offset, SyncILUSlice *, cudaStream_t);

/*
   The same for at most SYNCILU_ONE_BLOCK_ROWS rows before the host knows how many slices there are: count[0]
   has it, and count[1] gets the sum of the widths. OffsetsFew is for who has put other widths where offsets will be.
*/
extern cudaError_t SyncILUKernelSliceStorage(SyncILUDeviceTriangle, const int *order, int packed, SyncILUSlice *, int *count, cudaStream_t);
extern cudaError_t SyncILUKernelSliceOffsetsFew(SyncILUSlice *, int *count, cudaStream_t);

/*
   Both triangles, of at most SYNCILU_ONE_BLOCK_ROWS rows, by level: sorts their rows by keys as those of SliceKeys
   (row and key have those of L and behind them those of U, whose levels are counted on from L's in the keys), and does
   to each what Slices and Storage do, with slices that end with levels. Launches are what such an analysis costs.
*/
typedef struct {
  SyncILUDeviceTriangle rows;
  const int            *order, *key;
  int                   bits, lanes, limit, levels;
  int                   first_level; /* as the keys have it */
  int                  *start;       /* receives where levels begin; NULL: nobody asks for levels */
  int                  *width;       /* receives the most rows of a level */
  int                  *position;    /* receives where each row is in the order; NULL: nobody asks */
  SyncILUSlice         *slice;
  int                  *count;
} SyncILUCut;

extern cudaError_t SyncILUKernelSlicesOfBoth(void *workspace, size_t *bytes, const SyncILUCut cut[2], const int *const level[2], int packed, int *key, int *row,
                                             cudaStream_t);

/*
   The tasks of a solve, where rows of more than so many entries a lane have several: Counts for each slice,
   whose offsets Tasks needs.
*/
extern cudaError_t SyncILUKernelTaskCounts(int slices, const SyncILUSlice *, int most, int *count, cudaStream_t);
extern cudaError_t SyncILUKernelTasks(int slices, const SyncILUSlice *, int packed, int most, const int *offset, SyncILUSlice *task, cudaStream_t);

/* Gives slices of one row with more than limit entries all 32 lanes. */
extern cudaError_t SyncILUKernelLongSlices(SyncILUDeviceTriangle, const int *order, int limit, int slices, SyncILUSlice *, cudaStream_t);

/*
   The columns of sliced ELL, as positions; of each position, which entries of its row have the highest ones;
   the columns back on the pattern, with diag the diagonal too; and where each row begins.
*/
extern cudaError_t SyncILUKernelEllColumns(SyncILUDeviceTriangle, SyncILUDeviceEll, const int *inverse, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelLateEntries(SyncILUDeviceEll, SyncILULate *, cudaStream_t);
extern cudaError_t SyncILUKernelColumns(SyncILUDeviceTriangle, SyncILUDeviceEll, const int *diag, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelRowBegins(SyncILUDeviceEll, unsigned *begin, unsigned char *stride, cudaStream_t);

/* Values: of sliced ELL from rows, of the pattern from sliced ELL, of the pattern from rows. */
extern cudaError_t SyncILUKernelFill(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceEll, SyncILUDeviceRows, cudaStream_t);
extern cudaError_t SyncILUKernelGatherValues(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceEll, void *val, cudaStream_t);
extern cudaError_t SyncILUKernelPlaceValues(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceRows, void *val, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
