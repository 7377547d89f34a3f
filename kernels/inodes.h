/*
   Inodes, as PETSc calls them: successive rows of one pattern, such as those of the unknowns of a point of a mesh.
   Here all inodes of a matrix have the same number of rows, and the columns come in the same groups; so the
   pattern of the inodes has an entry where the rows have a full block of entries.
*/
#ifndef SYNCILU_INODES_H
#define SYNCILU_INODES_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Most rows of an inode. */
#define SYNCILU_INODE_MOST 8

/* Rows [size P, size (P + 1)) are inode P, and the entries of its rows are blocks of size by size. */
typedef struct {
  int                  size;
  SyncILUDevicePattern pattern; /* of the inodes */
} SyncILUDeviceInodes;

/* The pattern of the inodes, which are of that size. */
extern cudaError_t SyncILUKernelInodes(SyncILUDevicePattern, int size, int *ptr, int *col, int *diag, cudaStream_t);

/* Columns of the rows, on the pattern of the rows: those of L with the diagonal, or of U. */
extern cudaError_t SyncILUKernelColumnsOfInodes(SyncILUDeviceInodes, SyncILUDevicePattern, int lower, int *col, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
