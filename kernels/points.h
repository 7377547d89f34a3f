/*
   Points: successive rows of one pattern, whose columns come in the same groups, as the unknowns of a point of
   a mesh do (PETSc calls such rows inodes). The pattern of points has an entry for each block of entries.
*/
#ifndef SYNCILU_POINTS_H
#define SYNCILU_POINTS_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Most rows of a point. */
#define SYNCILU_POINT_MOST 8

/* Rows [size P, size (P + 1)) are point P, and the entries of its rows are blocks of size by size. */
typedef struct {
  int                  size;
  SyncILUDevicePattern pattern; /* of the points */
} SyncILUDevicePoints;

/*
   Which sizes points may have: bit b stays if the rows come in points of b rows. Only bits from 2 on for
   divisors of the number of rows are set before.
*/
extern cudaError_t SyncILUKernelPointSizes(SyncILUDevicePattern, int *sizes, cudaStream_t);

/* The pattern of the points, which are of that size. */
extern cudaError_t SyncILUKernelPoints(SyncILUDevicePattern, int size, int *ptr, int *col, int *diag, cudaStream_t);

/* Columns of the rows, on the pattern of the rows: those of L with the diagonal, or of U. */
extern cudaError_t SyncILUKernelColumnsOfPoints(SyncILUDevicePoints, SyncILUDevicePattern, int lower, int *col, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
