/*
   Triangular solves by the blocks of an ordering for several right-hand sides, by whole lines of x.
*/
#ifndef SYNCILU_SOLVE_GATHERED_H
#define SYNCILU_SOLVE_GATHERED_H

#include "solve_blocks.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   How a block is solved for, written down once. Blocks that come before it are its sources; a line is all that x
   has of a row, for a group of right-hand sides. A block that needs more lines than SYNCILU_GATHERED_LINES is
   solved for in parts, each with a record, one behind the other: all but the last one only subtract products with
   lines of sources. Lines are numbered: those of its own rows by lane, a line of zeros, and from
   SYNCILU_GATHERED_NEED on those that the part needs of sources.

   Behind the head come needs rows, and sources as numbers in the order of the solve; then its rows in the order in
   which they are finished; then for the entries of each row, filled up to fours, which line they are multiplied
   with; then for the block's outer entries as they are stored, and in the last part the inner ones, where among
   those they stand, or that another part has them.
*/
typedef struct {
  int            first;        /* its first row */
  unsigned       outer, inner; /* where its entries are stored */
  unsigned       begins;       /* bit k: with the k-th row in that order begins a set that is finished together */
  unsigned short rows, needs, sources, outers, entries, fours, pieces;
} SyncILUGatheredHead;

typedef struct {
  unsigned char  lane, count; /* entries, at most SYNCILU_BLOCKS_ALONE */
  unsigned short begin;       /* where they begin, with the padding */
} SyncILUGatheredRow;

#define SYNCILU_GATHERED_PIECE 16 /* bytes; a record is a multiple of them */
#define SYNCILU_GATHERED_HEAD  32 /* bytes of the head, with padding */
#define SYNCILU_GATHERED_NEED  (SYNCILU_BLOCKS_MOST + 1)

/* What a record has at most: needs, entries with their padding, and pieces; and the records of a block. */
typedef struct {
  int needs, values, pieces, parts;
} SyncILUGatheredMost;

typedef struct {
  int                 n, blocks, down, warps; /* warps: see SyncILUKernelGatheredWarps() */
  const void         *outer, *inner;          /* values, as the storage of blocks has them */
  const void         *record;                 /* in the order of the solve */
  const int          *begin;                  /* piece where those of each block begin, and the number of pieces */
  int                 round;                  /* number of this solve, which none of these flags has yet */
  int                *solved;                 /* by group of right-hand sides and block: its last solve */
  SyncILUGatheredMost most;
} SyncILUDeviceGathered;

/*
   Records: the pieces of those of each block, and *most, which is zero before; then, with where they begin, they
   themselves. The blocks have the lists of their needs.
*/
extern cudaError_t SyncILUKernelMeasureGathered(SyncILUDeviceBlocks, int *pieces, SyncILUGatheredMost *most, cudaStream_t);
extern cudaError_t SyncILUKernelRecordGathered(SyncILUDeviceBlocks, SyncILUDeviceGathered, void *record, cudaStream_t);

/* Warps that a block had better have: two where shared memory has room for few blocks, else one. */
extern int SyncILUKernelGatheredWarps(SyncILUValueType, SyncILUGatheredMost);

/* A triangular solve that gathers (see SyncILUDeviceSolve). */
extern cudaError_t SyncILUKernelSolveGathered(SyncILUValueType, SyncILUDeviceGathered, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
