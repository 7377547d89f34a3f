/*
   Update strategy parilut: what the rounds of a search do to whole rows, by hash tables in shared memory
   (src/cuda/parilut.c). Patterns are rows in CSR with ascending columns and their diagonals. Launchers as in
   pattern.h.
*/
#ifndef SYNCILU_SEARCH_H
#define SYNCILU_SEARCH_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* What is counted of the rows of a pattern that is made; zero before. */
typedef struct {
  unsigned long long total;     /* entries */
  int                longest;   /* most of a row */
  int                late;      /* rows for which a table was too small */
  unsigned           threshold; /* of what is left of a pattern */
} SyncILUDeviceFound;

/*
   The rows of a pattern with their candidates, and with the entries of the first pattern that they lack. With
   col NULL entries are counted, in length and *found; else the columns of row i and its diagonal are written,
   from length[i] on.
*/
typedef struct {
  SyncILUDevicePattern from;
  const int           *firstptr, *firstcol;
  int                 *length, *col, *diag;
  SyncILUDeviceFound  *found;
} SyncILUDeviceExtension;

/*
   A warp has a row of a list, or of all where that is NULL, and a table of 2^size places:
   SYNCILU_SEARCH_TABLE or one more, else SYNCILU_SEARCH_LATE. Rows for which that is too small are left out,
   and where entries are counted, put into late[].
*/
extern cudaError_t SyncILUKernelExtend(SyncILUDeviceExtension, int size, const int *list, int rows, int *late, cudaStream_t);

/* Entries for which a table of 2^size places is never too small. */
extern int SyncILUExtendMost(int size);

/* Numbers of a bitmap for a row of the next one. */
extern size_t SyncILUExtendNumbers(int n);

/* The same for the rows of a list, a block a row: with so many bitmaps of all columns. */
extern cudaError_t SyncILUKernelExtendLate(SyncILUDeviceExtension, const int *list, int rows, int bitmaps, unsigned *bitmap, cudaStream_t);

/*
   A sweep from an iterate, W and U' on one pattern, to the next one, on another pattern or the same. The
   matrix is in CSR: row i of the pattern is its row row[i], its column c is column colinv[c] of the pattern;
   NULL: they keep their numbers. Rows with more than least entries are swept and no more than most, which
   have 2^bits places each in shared memory; with bits 0 they have none, and search their columns.
*/
typedef struct {
  SyncILUDevicePattern  to, from;
  const int            *aptr, *acol, *row, *colinv;
  const double         *a;
  const void           *value; /* on `from`; NULL: the iterate becomes the first one, the triangles of the matrix */
  void                 *next;  /* on `to` */
  void                 *pivot;
  SyncILUDevicePivoting piv;
  int                   lanes; /* of a row, as a logarithm: 2 to 5 */
  int                   least, most, bits;
} SyncILUDeviceRowSweep;

/* Entries of the longest row that has 2^bits places: a third of them is free. */
static inline int SyncILURowSweepMost(int bits)
{
  return (2 << bits) / 3;
}

extern cudaError_t SyncILUKernelRowSweep(SyncILUValueType, SyncILUDeviceRowSweep, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
