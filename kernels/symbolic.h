/*
   The symbolic phase: the pattern of a factor from that of a matrix, an ordering and levels of fill. An entry
   is passed on as a key: its row in the upper bits, its column in the lower ones, so many bits for each.
   Workspace and launchers as in pattern.h.
*/
#ifndef SYNCILU_SYMBOLIC_H
#define SYNCILU_SYMBOLIC_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   The keys of all entries of n rows in CSR. Row r is row rowinv[r] of the factor, column c is column
   colinv[c]; NULL: they keep their numbers. With transpose the columns are in the upper bits. Unless diagonal
   is NULL, diagonal[i] becomes 1 for each row i of the factor that has a diagonal entry; zero before.
*/
extern cudaError_t SyncILUKernelEntryKeys(int n, const int *ptr, const int *col, const int *rowinv, const int *colinv, int transpose, int bits,
                                          unsigned long long *key, int *diagonal, cudaStream_t);

/* The keys of the diagonals whose flag is zero, in any order, and how many there are; *count is zero before. */
extern cudaError_t SyncILUKernelDiagonalKeys(int n, int bits, const int *diagonal, unsigned long long *key, int *count, cudaStream_t);

/* n rows in CSR with ascending columns from the keys of their entries, which may be in any order. */
extern cudaError_t SyncILUKernelRowsFromKeys(void *workspace, size_t *bytes, int n, int bits, int nnz, unsigned long long *key, int *ptr, int *col,
                                             cudaStream_t);

/* Lengths of rows in CSR: length[i] is that of row order[i]. */
extern cudaError_t SyncILUKernelOrderedLengths(int n, const int *order, const int *ptr, int *length, cudaStream_t);

/*
   The rows of n rows in CSR with ascending columns in another order, which begin at pptr[i]: row i is row order[i],
   column c becomes colinv[c], and columns ascend again. Without keys and sorts, for rows that are short enough for
   each entry to be compared with all others of its row. Unless map is NULL, it says where each entry stood. unsorted
   is workspace of a number an entry.
*/
extern cudaError_t SyncILUKernelOrderRows(int n, const int *order, const int *colinv, const int *ptr, const int *col, const int *pptr, int *unsorted, int *pcol,
                                          int *map, cudaStream_t);

/*
   Searches the graph of the matrix for the entries (i,j), j > i, of each row i of the factor: those j to which
   a path of at most levels + 1 edges leads from i, all rows between them less than i (D. Hysom, A. Pothen,
   Level-based incomplete LU factorization: graph model and algorithms, UCRL-JC-150789, 2002, the incomplete
   fill path theorem). With key NULL the entries are counted, in count[i] and *total; *total is zero before.
   Else their keys are written: that of entry r of row i to key[begin[i] + r], transposed if swap is set; with
   both, that key and the transposed one to key[2 (begin[i] + r)] and behind it.

   A warp searches for a row, and keeps what it has met in a table of 2^SYNCILU_FILL_TABLE places. A row for
   which that is too little is put into late[], and counted in *lates; zero before.
*/
extern cudaError_t SyncILUKernelSearchFill(SyncILUDeviceFill, int *late, int *lates, cudaStream_t);

/* The same for the rows of a list, with tables four times as large. */
extern cudaError_t SyncILUKernelSearchFillMore(SyncILUDeviceFill, const int *list, int rows, int *late, int *lates, cudaStream_t);

/*
   The same for the rows of a list, a block a row, with tables in memory: so many tables of 2^size places, each
   followed by a queue of as many.
*/
extern cudaError_t SyncILUKernelSearchFillLate(SyncILUDeviceFill, const int *list, int rows, int size, int tables, int *table, int *late, int *lates,
                                               cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
