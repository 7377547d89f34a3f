/*
   Update strategy bsr from lists, a warp for each inode of five rows or more: see factor_bsr_tiles.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_TILES_H
#define SYNCILU_FACTOR_BSR_TILES_H

#include "factor_bsr_list.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Bytes of shared memory for an inode of so many entries at most, with a list of so many words. */
extern size_t SyncILUKernelFactorBsrTilesBytes(int size, int entries, int words);

/*
   Not with relaxation, and not where sizes of rows are wanted. order, throttle and tasks of the factorization
   are those of inodes, which have at least SYNCILU_BSR_TILES_LEAST rows; team and lanes of the lists are not
   used. What others read is stored apart.
*/
extern cudaError_t SyncILUKernelFactorBsrTiles(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBsrLists, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
