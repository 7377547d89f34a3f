/*
   Block multicolor orderings: the steps of src/bmc.c, which says what each is for, on a device. The
   permutation is the same. Workspace and launchers as in pattern.h.
*/
#ifndef SYNCILU_KERNELS_BMC_H
#define SYNCILU_KERNELS_BMC_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The first row of the group of each row, and whether the group is full. groups: grows by how many there were without size. */
extern cudaError_t SyncILUKernelGroups(void *workspace, size_t *bytes, SyncILUDeviceGraph, int size, int *head, int *full, int *groups, cudaStream_t);

/* counts[0]: groups of successive rows with the same columns, of any size; both are zero before. */
extern cudaError_t SyncILUKernelCountGroups(SyncILUDeviceGraph, unsigned long long *counts, cudaStream_t);

/*
   The rows in the order of a numbering (NULL: in their own), those of full groups behind all others. *usual:
   how many rows are not in full groups.
*/
extern cudaError_t SyncILUKernelFullLast(void *workspace, size_t *bytes, int n, const int *numbering, const int *full, int *at, int *usual, cudaStream_t);

/*
   Cuts at[], whose rows from position *usual on are full, into blocks of at most so many rows: the block of
   each row; where each block begins in at[], with room for n + 1; blocks[0], their number, and blocks[1], the
   number of those whose rows are not full.
*/
extern cudaError_t SyncILUKernelCut(void *workspace, size_t *bytes, int n, int size, const int *usual, const int *at, const int *head, int *block, int *begin,
                                    int *blocks, cudaStream_t);

/*
   Of the rows in blocks before number *usual: counts[0], their entries beside the diagonal that are in the
   block of the row, and counts[1], for how many of its entries a block has room; zero before.
*/
extern cudaError_t SyncILUKernelInside(SyncILUDeviceGraph, int size, const int *block, const int *usual, unsigned long long *counts, cudaStream_t);

/*
   Clusters of rows that are merged pair by pair. First the groups: the cluster of each row, the number of
   clusters, and the rows of each.
*/
extern cudaError_t SyncILUKernelClusters(void *workspace, size_t *bytes, int n, const int *head, int *cluster, int *clusters, int *rows, cudaStream_t);

/*
   Edges between clusters, one for each entry of the graph. A key has the one cluster in its upper bits, the
   other in its lower ones, so many bits for each. Entries inside of a cluster or of full rows get the highest
   key, which is no edge.
*/
extern cudaError_t SyncILUKernelEdges(SyncILUDeviceGraph, int nnz, int bits, const int *cluster, const int *full, unsigned long long *key, int *weight,
                                      cudaStream_t);

/*
   The same of a graph with one side, an edge for each cluster among the columns of a group, and no other keys. *count,
   zero before, becomes their number; key NULL: that alone is wanted. head and rows: of the groups, as are the
   clusters.
*/
extern cudaError_t SyncILUKernelGroupEdges(SyncILUDeviceGraph, int bits, const int *head, const int *cluster, const int *rows, const int *full,
                                           unsigned long long *key, int *weight, int *count, cudaStream_t);

/*
   Sums up edges of the same key: so many come, *sums are left, sorted, and begin[] has where those of each
   cluster begin; room for one more than clusters.
*/
extern cudaError_t SyncILUKernelSumEdges(void *workspace, size_t *bytes, int edges, int bits, int clusters, unsigned long long *key, int *weight, int *sums,
                                         int *begin, cudaStream_t);

/* The mate of each cluster, -1: none, after so many rounds of proposals; end: behind the edges of each. */
extern cudaError_t SyncILUKernelMatch(int clusters, int bits, int rounds, const int *rows, const int *begin, const int *end, const unsigned long long *key,
                                      const int *weight, int *proposal, int *mate, cudaStream_t);

/* The cluster that each one becomes part of, how many there are then, and their rows. */
extern cudaError_t SyncILUKernelMerge(void *workspace, size_t *bytes, int clusters, const int *mate, const int *rows, int *to, int *merged, int *merged_rows,
                                      cudaStream_t);

/*
   The edges of the clusters that there are after a merger, summed up, in other arrays and in any order. counts,
   zero before: how many they are, and whether clusters have too many for that, after which the others are
   worth nothing.
*/
extern cudaError_t SyncILUKernelUnite(int clusters, int bits, const int *mate, const int *to, const int *begin, const int *end, const unsigned long long *key,
                                      const int *weight, int *united_begin, int *united_end, unsigned long long *united_key, int *united_weight, int *counts,
                                      cudaStream_t);

/*
   Moves rows to their cluster and place after a merger, given the offsets of the clusters' rows before and
   after.
*/
extern cudaError_t SyncILUKernelMove(int n, const int *mate, const int *rows, const int *to, const int *before, const int *after, int *cluster, int *position,
                                     cudaStream_t);

/* The keys of edges after a merger, with another number of bits. */
extern cudaError_t SyncILUKernelMoveEdges(int edges, int from_bits, int to_bits, const int *to, unsigned long long *key, cudaStream_t);

/*
   Keys by which blocks are sorted to be colored: with colors 0 for the first time, else by their present ones.
   Those from number usual on come last.
*/
extern cudaError_t SyncILUKernelColorKeys(int blocks, int usual, int bits, int colors, const int *color, int *key, cudaStream_t);

enum {
  SYNCILU_BMC_NEIGHBOURS = 64, /* of a block that are written down */
  SYNCILU_BMC_SHORT      = 256 /* rows of a block that SyncILUKernelOrderBlocks() is for */
};

/* The neighbours of each block, in any order, from neighbour[SYNCILU_BMC_NEIGHBOURS * block] on, and how many there are; -1: too many. */
extern cudaError_t SyncILUKernelNeighbours(SyncILUDeviceGraph, int blocks, const int *block, const int *begin, const int *at, int *neighbour, int *count,
                                           cudaStream_t);

/*
   The first color that no neighbour of a block has, for all blocks in an order; place: where each stands in it.
   neighbour and count as above, or NULL. color is -1, *ticket and *colors are zero before.
*/
extern cudaError_t SyncILUKernelColor(SyncILUDeviceGraph, int blocks, const int *block, const int *begin, const int *at, const int *neighbour, const int *count,
                                      const int *order, const int *place, int *color, unsigned long long *ticket, int *colors, cudaStream_t);

/*
   Colors that follow the numbering, so many by turns, where blocks have fewer neighbours and levels are fewer
   than that; else *colors becomes SYNCILU_BMC_FOLLOWS_NOT. cycle and around are no more than 64 together.
   seen is -1, *ticket and *colors are zero before.
*/
typedef struct {
  int cycle, around, chain;
} SyncILUFollow;

#define SYNCILU_BMC_FOLLOWS_NOT 0x7fffffff

extern cudaError_t SyncILUKernelFollow(int blocks, SyncILUFollow, const int *neighbour, const int *count, int *seen, int *color, unsigned long long *ticket,
                                       int *colors, cudaStream_t);

/* How many rows the blocks have, in that order. */
extern cudaError_t SyncILUKernelBlockLengths(int blocks, const int *begin, const int *order, int *length, cudaStream_t);

/* The rows of the blocks in that order, those of a block ascending, from first[q] on for the block at place q. */
extern cudaError_t SyncILUKernelOrderBlocks(int blocks, const int *begin, const int *order, const int *first, const int *at, int *row, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
