/*
   Triangular solves by the blocks of an ordering, and their storage.
*/
#ifndef SYNCILU_SOLVE_BLOCKS_H
#define SYNCILU_SOLVE_BLOCKS_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   A block of at most SYNCILU_BLOCKS_MOST successive rows. Its rows wait for each other, and for rows of blocks
   before it (behind it, if DOWN is set in the triangle below).

   Lane k of its warp has row first + k; if down, the last row less k. So each row waits for rows of lower lanes.
*/
typedef struct {
  int      first, shape; /* the first row; the number of rows plus SYNCILU_BLOCKS_SHAPE times the most outer entries of one */
  unsigned outer, inner; /* where its entries begin */
} SyncILUBlock;

#define SYNCILU_BLOCKS_MOST  32
#define SYNCILU_BLOCKS_SHAPE 64

/* The entries of a row: bit k of inner stands for one whose column is the row of lane k; the others are outer. */
typedef struct {
  unsigned inner;
  int      outer;
} SyncILUBlockRow;

/* What a block has at most: columns that its outer entries have, such entries, and inner ones. */
typedef struct {
  int needs, outer, inner;
} SyncILUBlocksMost;

#define SYNCILU_BLOCKS_FOUR  4 /* entries of a row that are brought together for several right-hand sides */
#define SYNCILU_BLOCKS_PIECE 8 /* numbers of entries' needs that are copied together, aligned to as many */

/*
   A triangle in blocks, without padding. The outer entries of the rows of a block are aligned at the ends of
   the rows: first come the w-th entries from the end of all rows that have so many, lane by lane, then those
   before them in number, and in the end the last ones. The entries of a row stand in the order in which the
   blocks of their columns are solved for. The inner entries of a block stand row by row,
   lane by lane, those for the lowest lanes first.
*/
typedef struct {
  int                    n, blocks, down;
  const SyncILUBlock    *block;
  const SyncILUBlockRow *row; /* SYNCILU_BLOCKS_MOST for each block */
  const int             *col; /* of outer entries */
  void                  *outer, *inner;
  /*
     NULL, or the columns that the outer entries of each block have, ascending, where those of each block
     begin, and of each outer entry which one of these it has, with memory for SYNCILU_BLOCKS_PIECE more.
  */
  const int            *needed, *needs;
  const unsigned short *need;
  SyncILUBlocksMost     most;
  int                   padded; /* inner entries of a block at most, each row filled up to fours; a multiple of 8 */
} SyncILUDeviceBlocks;

/*
   The blocks of a triangle from where they begin (begin[blocks] is n; NULL: each SYNCILU_BLOCKS_MOST rows),
   without where their entries begin; and the rows. outers and inners, with room for one more, receive the
   entries of each block; *padded, zero before, the most inner entries of one, each row filled up to fours.
*/
extern cudaError_t SyncILUKernelBlockRows(SyncILUDeviceTriangle, int blocks, const int *begin, int down, SyncILUBlock *, SyncILUBlockRow *, int *outers,
                                          int *inners, int *padded, cudaStream_t);

/* Where the entries of each block begin, from the sums of those before. */
extern cudaError_t SyncILUKernelBlockBegins(int blocks, const int *outers, const int *inners, SyncILUBlock *, cudaStream_t);

/* The columns of outer entries; and all columns back on the pattern, with diag the diagonal too. */
extern cudaError_t SyncILUKernelBlockColumns(SyncILUDeviceTriangle, SyncILUDeviceBlocks, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelColumnsOfBlocks(SyncILUDeviceTriangle, SyncILUDeviceBlocks, const int *diag, int *col, cudaStream_t);

/*
   Collects the columns that each block needs: its list, from where its outer entries begin, how many that
   are, and which one each entry has. most receives the most of a block, INT_MAX needs if one has more than
   SYNCILU_BLOCKS_OUTER outer entries. outers and inners: entries of the triangle. Then the lists one behind
   the other, from where they begin.
*/
extern cudaError_t SyncILUKernelCollectColumns(SyncILUDeviceBlocks, int outers, int inners, int *list, int *count, unsigned short *need, SyncILUBlocksMost *,
                                               cudaStream_t);
extern cudaError_t SyncILUKernelJoinColumns(SyncILUDeviceBlocks, const int *list, const int *needs, int *needed, cudaStream_t);

/* The values of a triangle from where its rows stand; and back on the pattern. */
extern cudaError_t SyncILUKernelBlockValues(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceBlocks, SyncILUDeviceRows, cudaStream_t);
extern cudaError_t SyncILUKernelValuesOfBlocks(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceBlocks, void *val, cudaStream_t);

/*
   A triangular solve. many: rows are so long that a lane had better ask for twice as many entries at once;
   longs: some have more than SYNCILU_BLOCKS_ALONE.
*/
extern cudaError_t SyncILUKernelSolveBlocks(SyncILUValueType, SyncILUDeviceBlocks, int many, int longs, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
