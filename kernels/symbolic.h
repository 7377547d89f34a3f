/*
   The symbolic phase: the pattern of a factor from that of a matrix, an ordering and levels of fill. Entries
   travel as keys, their row above their column, each of so many bits. Workspace and launchers as in pattern.h.
*/
#ifndef SYNCILU_SYMBOLIC_H
#define SYNCILU_SYMBOLIC_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   The keys of all entries of n rows in CSR: row r is row rowinv[r] of the factor, column c is column colinv[c];
   NULL: they keep their numbers. transpose: columns above rows. diagonal, if it is not NULL, gets 1 for each
   row of the factor with an entry on its diagonal; zero before.
*/
extern cudaError_t SyncILUKernelEntryKeys(int n, const int *ptr, const int *col, const int *rowinv, const int *colinv, int transpose, int bits,
                                          unsigned long long *key, int *diagonal, cudaStream_t);

/* The keys of the diagonals whose flag is zero, in any order, and how many there are; *count is zero before. */
extern cudaError_t SyncILUKernelDiagonalKeys(int n, int bits, const int *diagonal, unsigned long long *key, int *count, cudaStream_t);

/* From the keys of all entries, which come in any order and change, n rows in CSR with ascending columns. */
extern cudaError_t SyncILUKernelRowsFromKeys(void *workspace, size_t *bytes, int n, int bits, int nnz, unsigned long long *key, int *ptr, int *col,
                                             cudaStream_t);

/*
   Fill of so many levels. For each row i the entries (i,j), j > i, of the factor: those to which a path in the
   graph leads, of at most levels + 1 steps, through rows before i alone (D. Hysom, A. Pothen, SIAM J. Matrix
   Anal. Appl. 22, 2001, theorem 2.1). With key NULL: counts them, in count[i] and *total, which is zero before.
   Else writes their keys from entry begin[i] on, transposed if swap is set; with both, that one and the
   transposed, from entry 2 begin[i] on.

   Rows are visited by warps whose tables have room for SYNCILU_FILL_TABLE rows. Where that is too little the
   row goes to late[], and *lates counts it; zero before.
*/
extern cudaError_t SyncILUKernelSearchFill(SyncILUDeviceFill, int *late, int *lates, cudaStream_t);

/* The same for the rows of a list, with room for four times as many. */
extern cudaError_t SyncILUKernelSearchFillMore(SyncILUDeviceFill, const int *list, int rows, int *late, int *lates, cudaStream_t);

/*
   The same for the rows of a list, with as many blocks as tables of 2^size places are given, and a queue of as
   many for each.
*/
extern cudaError_t SyncILUKernelSearchFillLate(SyncILUDeviceFill, const int *list, int rows, int size, int tables, int *table, int *late, int *lates,
                                               cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
