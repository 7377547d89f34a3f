/*
   Solve strategy cluster.
*/
#ifndef SYNCILU_SOLVE_CLUSTER_H
#define SYNCILU_SOLVE_CLUSTER_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   Whether the current device has clusters of so many blocks with so much shared memory; called before any
   launch on it, since such launches must be allowed.
*/
extern cudaError_t SyncILUKernelClusterFits(int *fits);

/* Lowest bits of a row's key that have its block. */
#define SYNCILU_CLUSTER_BITS 4

/* The tasks of a run as they are dealt to the blocks of the cluster. */
typedef struct {
  const SyncILUSlice *task;    /* those of one block after those of the other, each block's by levels */
  const int          *start;   /* of each block's, and the end */
  int                 first;   /* position where the run begins */
  int                 longest; /* most entries of a row */
  const unsigned     *reader;  /* of each position, a bit a block that reads its value from shared memory */
} SyncILUDeviceDealt;

/*
   With the rows sorted by levels, and the position of each row: of each position in a run of the cluster's, the
   highest one that its row waits for, or -1. Elsewhere the row's level in key becomes its key of Deal's, with
   block 0.
*/
extern cudaError_t SyncILUKernelClusterLatest(SyncILUDeviceTriangle, SyncILURuns, const int *row, const int *position, int *latest, int *key, cudaStream_t);

/*
   Deals the rows of each level of the cluster's runs to its blocks. start: of each level. block is workspace for
   a number a row; key has, by rows, level << SYNCILU_CLUSTER_BITS | block. Lanes: logarithm of those of a row.
*/
extern cudaError_t SyncILUKernelClusterDeal(SyncILURuns, int lanes, const int *start, const int *row, const int *latest, int *block, int *key, cudaStream_t);

/*
   Of each task run << SYNCILU_CLUSTER_BITS | block, from the sorted keys by position, with so many lower bits
   that do not matter.
*/
extern cudaError_t SyncILUKernelClusterTaskBlocks(SyncILUDeviceEll, SyncILURuns, const int *key, int bits, int *block, cudaStream_t);

/*
   With the tasks sorted by these numbers: their slices, in dealt, and who reads each value. In reader all is
   zero before.
*/
extern cudaError_t SyncILUKernelClusterReaders(SyncILUDeviceEll, SyncILURuns, const int *task, const int *block, SyncILUSlice *dealt, unsigned *reader,
                                               cudaStream_t);

/* A run of a triangular solve with one right-hand side. */
extern cudaError_t SyncILUKernelSolveCluster(SyncILUValueType, SyncILUDeviceEll, SyncILUDeviceDealt, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
