/*
   The factorization by the blocks of an ordering that has few colors of blocks, whose triangles are stored
   for solves by block (kernels/solve_blocks.h).
*/
#ifndef SYNCILU_FACTOR_BLOCKS_H
#define SYNCILU_FACTOR_BLOCKS_H

#include "solve_blocks.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   A block at work has its numbers side by side in shared memory: first SYNCILU_BLOCKS_MOST pivots, then its
   entries as they stand on the pattern (but for the pivots), then u' of other blocks that it needs. By these
   places the updates are told. An update is of as many successive entries as the u' that it takes stand side
   by side, so that the unknowns of a point need one: up to SYNCILU_BLOCK_RUN of them. Updates come in rounds,
   and those of a round do not depend on each other; a turn is what the threads of a block do of a round at a
   time, one update each. An update is a word and a half, where the word has
*/
enum {
  SYNCILU_BLOCK_TARGET     = 0,       /* the place of what is updated, the first one, */
  SYNCILU_BLOCK_MULTIPLIER = 12,      /* that of its multiplier, */
  SYNCILU_BLOCK_PIVOT      = 24,      /* the row of the block whose u' it takes, */
  SYNCILU_BLOCK_INNER      = 1 << 29, /* if that is of this block; */
  SYNCILU_BLOCK_NONE       = 1 << 30, /* there is none; */
  SYNCILU_BLOCK_PLACES     = 1 << 12, /* places of pivots and entries at most */
  SYNCILU_BLOCK_SOURCE     = 13,      /* the half: bits of the place of u', of which so many are, less one, in the other bits */
  SYNCILU_BLOCK_RUN        = 4,       /* entries of an update at most */
  SYNCILU_BLOCK_AHEAD      = 4,       /* turns that are loaded together, so many turns before their own */
  SYNCILU_BLOCK_WARPS_MOST = 8,       /* of a block */
  SYNCILU_BLOCK_LISTED     = 8        /* lists that are copied to shared memory begin at multiples of so many */
};
#define SYNCILU_BLOCK_LAST (1u << 31) /* and the last one of a pivot. */

/*
   A block: its rows, and their entries on the pattern; its updates, in units of 32, and in how many turns they
   come; u' of other blocks and the blocks it waits for: how many, and where the list begins; where its entries
   stand in storage, and how many there are: the outer and the inner ones of U, then those of L.
*/
typedef struct {
  int      first, rows, entry, entries;
  int      at, units, turns;
  int      outside, from;
  int      waits, wait;
  unsigned place[4];
  int      count[4];
} SyncILUBlockUpdates;

typedef struct {
  int                        warps;  /* of a block */
  int                        runs;   /* updates may be of several entries */
  int                        room;   /* numbers of shared memory that a block takes, */
  int                        listed; /* entries of the list of places, */
  int                        turns;  /* beginnings of turns, */
  int                        bytes;  /* and all of that */
  int                        time;   /* number of this factorization, which no other one has */
  int                       *done;   /* the number of the last one that each block has finished */
  const SyncILUBlockUpdates *block;
  const unsigned            *update;
  const unsigned short      *source;
  const unsigned short      *turn;    /* where each turn begins, and for 2 SYNCILU_BLOCK_AHEAD turns more the number of updates */
  const unsigned short      *list;    /* which place each entry in storage has at work: U, then L, outer entries before inner ones */
  const int                 *wait;    /* the blocks that each block waits for */
  const int                 *outside; /* where each stands among the values of U, the outer ones before the inner ones */
  SyncILUDeviceBlocks        L, U;
  void                      *inverse; /* receives the reciprocal of each pivot */
} SyncILUDeviceBlockUpdates;

/*
   An update while it is planned: as above, and where u' is of another block, what says which one it is: the
   entry of the pattern, or where it stands among the values of U if all updates are of one entry. Then the
   pivot's bits have the number of entries, less one.
*/
typedef struct {
  unsigned update, source;
} SyncILUFoundUpdate;

/*
   What all blocks have at most; whether those of one do not fit: the rounds, or what it needs of others; blocks
   that are left for later; and what all have together: units of 32 updates, the updates, the blocks that they
   wait for, and what they need of others.
*/
typedef struct {
  int                entries, updates, outside, rounds, unfit, late;
  int                units, total, waited;
  unsigned long long needed;
} SyncILUBlockMost;

/* The first row of the block of each row, and the block. */
extern cudaError_t SyncILUKernelBlockFirsts(SyncILUDeviceBlocks, int *first, int *of, cudaStream_t);

/*
   How many updates each row has, and by entry of the pattern whether it is the multiplier of some; then these
   themselves, those of row i from begin[i] on. 1 << lanes lanes search for a row, of which none has more than
   `most` entries. runs: updates may be of several entries. stands: where each entry of the pattern stands among
   the values of U.
*/
extern cudaError_t SyncILUKernelCountUpdates(SyncILUDevicePattern, int most, int lanes, int runs, int *count, unsigned char *some, cudaStream_t);
extern cudaError_t SyncILUKernelFindUpdates(SyncILUDevicePattern, int most, int lanes, int runs, const int *first, const unsigned char *some, const int *stands,
                                            const int *begin, SyncILUFoundUpdate *, cudaStream_t);

/* What is the most of a block, of updates which begin by row at begin, and the units of each. */
extern cudaError_t SyncILUKernelUpdateSizes(SyncILUDevicePattern, SyncILUDeviceBlocks, const int *begin, int *units, SyncILUBlockMost *, cudaStream_t);

/* Where the values of U stand in its storage, by entry of the pattern. */
extern cudaError_t SyncILUKernelBlockPlaces(SyncILUDeviceTriangle, SyncILUDeviceBlocks, int *place, cudaStream_t);

/*
   Deals the updates to rounds: a source becomes the half above, with 65536 times the round added. ends receives
   the round in which each pivot is finished, outside where the u' stand that each block needs of others, where
   and count where the list of a block is there, and how many it has; what all have together must not be more
   than its room. most: of all blocks, as above. list: NULL for all blocks, some of which may need so much that
   they are left for later; then these, and how many they are.
*/
extern cudaError_t SyncILUKernelBlockRounds(SyncILUDevicePattern, SyncILUDeviceBlocks, SyncILUBlockMost most, int runs, const int *list, int blocks,
                                            const int *stands, const int *begin, SyncILUFoundUpdate *, unsigned short *ends, int room, int *outside, int *where,
                                            int *count, int *late, SyncILUBlockMost *, cudaStream_t);

/*
   The updates by round, from where those of each block begin, and where the turns of each block begin,
   `stride` numbers for it; turns: how many there are.
*/
extern cudaError_t SyncILUKernelPlaceUpdates(SyncILUDeviceBlocks, SyncILUBlockMost most, int warps, int stride, const int *begin, const SyncILUFoundUpdate *,
                                             const unsigned short *ends, const int *units, unsigned *update, unsigned short *source, unsigned short *turn,
                                             int *turns, cudaStream_t);

/*
   The blocks that each block of L waits for, found from where its outer entries begin, and how many they are.
   of: the block of each row. most: of all blocks, as above.
*/
extern cudaError_t SyncILUKernelBlockWaits(SyncILUDeviceBlocks L, SyncILUBlockMost most, const int *of, int *found, int *count, SyncILUBlockMost *,
                                           cudaStream_t);

/*
   The blocks; the lists of what they need of others, found as said, and of which blocks they wait for, those
   of block b from from[b] and wait_from[b] on; and that of places.
*/
extern cudaError_t SyncILUKernelDescribeBlocks(SyncILUDevicePattern, SyncILUDeviceBlocks L, SyncILUDeviceBlocks U, const int *units, const int *turns,
                                               const int *found, const int *where, const int *from, const int *waits, const int *wait_from,
                                               SyncILUBlockUpdates *, int *outside, int *wait, unsigned short *list, cudaStream_t);

/*
   W and U' go to the storage of their triangles; the rest as by other factorizations. There is no relaxation.
*/
extern cudaError_t SyncILUKernelFactorBlocks(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBlockUpdates, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
