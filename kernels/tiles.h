/*
   Tiles: rows that a warp takes together.
*/
#ifndef SYNCILU_TILES_H
#define SYNCILU_TILES_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Levels of the rows of L that follow from the tiling: of a grid, or from the levels of row blocks whose rows
   all depend on those before them.
*/
extern cudaError_t SyncILUKernelRowLevels(SyncILUTiling, const int *blocks, int *level, cudaStream_t);

/*
   Levels of a grid's tiles for L and for U. Those without rows come last; filled counts the others and is
   zero before.
*/
extern cudaError_t SyncILUKernelTileLevels(SyncILUTiling, int *levelL, int *levelU, int *filled, cudaStream_t);

/*
   The list of tiles where there are outliers, in this sequence: Outliers has 1 for each of these rows and 0
   for the others; from the offsets of that, keys; Heads has 1 where a tile begins in the rows sorted by key;
   from the offsets of that and the rows, their tiles and where each tile begins, of which there must be room
   for one more.
*/
extern cudaError_t SyncILUKernelOutliers(SyncILUDevicePattern, SyncILUTiling, int *outlier, cudaStream_t);
extern cudaError_t SyncILUKernelListKeys(SyncILUTiling, const int *before, int *key, cudaStream_t);
extern cudaError_t SyncILUKernelListHeads(int n, const int *key, int *head, cudaStream_t);
extern cudaError_t SyncILUKernelListTiles(int n, const int *before, const int *member, int *first, int *tile, cudaStream_t);

/*
   The pattern of row blocks, or of the tiles of a list: Sizes counts for each of them itself and the others
   that it depends on, in L and in U, and sets circle, zero before, if their order is not one in which they
   could be taken. Their offsets are the ptr of a pattern, of which Pattern writes the rest.
*/
extern cudaError_t SyncILUKernelBlockSizes(SyncILUDevicePattern, SyncILUTiling, int *size, int *circle, cudaStream_t);
extern cudaError_t SyncILUKernelBlockPattern(SyncILUDevicePattern, SyncILUTiling, const int *ptr, int *diag, int *col, cudaStream_t);

/*
   Takes so many tiles in the given order, and gives their slices, of 1 << lanes lanes a row, without widths
   and offsets, and the order of the rows. In reversed tiles, those of U, the rows come last first.
*/
extern cudaError_t SyncILUKernelTileOrder(void *workspace, size_t *bytes, SyncILUTiling, int tiles, const int *tile, int reversed, int lanes, SyncILUSlice *,
                                          int *order, cudaStream_t);

/* The slices of n rows in tiles, read backwards as the rows are. */
extern cudaError_t SyncILUKernelReverseTiles(int n, int tiles, const SyncILUSlice *, SyncILUSlice *reversed, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
