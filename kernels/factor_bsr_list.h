/*
   Update strategy bsr with lists of updates: see factor_bsr_list.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_LIST_H
#define SYNCILU_FACTOR_BSR_LIST_H

#include "bsr_tiles.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Most entries of an inode with a list, which counts them in bytes. */
#define SYNCILU_BSR_LIST_MOST 255

/* Rows of an inode from which on the kernel of factor_bsr_tiles.h is faster. */
#define SYNCILU_BSR_TILES_LEAST 5

/* For how many updates a list has room, of a reference inode that has so many: whole words, at least one. */
SYNCILU_HOST_DEVICE static inline int SyncILUBsrListUpdates(int updates)
{
  return updates > 4 ? (updates + 3) / 4 * 4 : 4;
}

/* Bytes of a word of a list, and of what there is for each task; most words of a list. */
#define SYNCILU_BSR_LIST_WORD  8
#define SYNCILU_BSR_LIST_TASK  16
#define SYNCILU_BSR_LIST_WORDS 32767

/*
   Which blocks meet. The list of inode i is words begin[i] to begin[i + 1] - 1. The first word says where
   the blocks of inode i begin in what others read. Then come its reference inodes, in the order in which it
   takes them: where the blocks of each begin, and in bytes how many are before its diagonal block and how
   many there are, which entry of the inode names it, and how many updates it has. Then come the updates of
   all of them, of two bytes: 256 times the entry of U' of the reference inode, plus the entry of the inode.
   Those of each have room as SyncILUBsrListUpdates() says; what is not used of it is zero.

   Others read U' on the pattern of the rows, or apart from the rows. Apart stand the diagonal blocks and
   those of U' alone, inode after inode.
*/
typedef struct {
  SyncILUDeviceInodes inodes; /* columns are not asked for */
  const void         *word, *task;
  int                 entries, words; /* of an inode at most */
  int                 warps, team;    /* of a block; logarithm of those of an inode */
  int                 lanes;          /* of an inode: 32, or of two rows 8 */
  int                 many;           /* updates by each reference inode: more than SYNCILU_BSR_LIST_FEW in the mean */
  /* whether others read apart from the rows: never with a team, else always with five rows or more */
  int                   apart;
  int                   wide;  /* levels have more than SYNCILU_BSR_TILES_ROWS inodes in the mean */
  SyncILUDeviceBsrTiles tiles; /* with `apart` alone */
  /* with `apart`, the pattern of the rows: for W and U', or, beside tiles, for W; NULL: for neither */
  void *rows;
} SyncILUDeviceBsrLists;

/*
   Of all lists: their words and updates, the words of the longest one, and whether blocks beside the diagonal
   have updates; zero before.
*/
typedef struct {
  unsigned long long words, updates;
  int                most, beside;
} SyncILUBsrListSizes;

/*
   Bytes of shared memory for an inode of so many entries at most, with a list of so many words, that 1 <<
   team warps have.
*/
extern size_t SyncILUKernelFactorBsrListBytes(int size, int entries, int words, int team);

/*
   With word NULL how many words each list has, and their sizes; else the words, where begin says. turn is as
   in SyncILUDeviceFactor. upper: where the diagonal block of each inode stands apart from the rows; NULL: it
   does not. No inode has more than SYNCILU_BSR_LIST_MOST entries.
*/
extern cudaError_t SyncILUKernelBsrLists(SyncILUDevicePattern, const unsigned char *turn, const int *upper, int *begin, void *word, SyncILUBsrListSizes *,
                                         cudaStream_t);

/* What the inode of each task has, in the order of the tasks. */
extern cudaError_t SyncILUKernelBsrListTasks(SyncILUDevicePattern, const int *order, const int *begin, void *task, cudaStream_t);

/*
   Before a factorization without `apart`: NaN sentinels where U' will be on the pattern of the rows, since
   the kernel waits for nothing else.
*/
extern cudaError_t SyncILUKernelBsrListBegin(SyncILUValueType, SyncILUDeviceInodes, void *val, cudaStream_t);

/*
   Without relaxation. Of the factorization, order, throttle and tasks are of inodes, and val is what others
   read: apart from the rows it has been filled with NaN sentinels.
*/
extern cudaError_t SyncILUKernelFactorBsrList(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBsrLists, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
