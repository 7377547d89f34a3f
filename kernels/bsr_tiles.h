/*
   Where a factorization by inodes stores those that it is done with, for solves along the lines of a grid.
*/
#ifndef SYNCILU_BSR_TILES_H
#define SYNCILU_BSR_TILES_H

#include "solve_struct_blocks.h"

/* L or U. */
typedef struct {
  void              *val;    /* see SyncILUDeviceStructBlocks */
  int                points; /* of the stencil */
  unsigned long long at;     /* four bits for each entry in storage: its point */
  unsigned long long entry;  /* four bits for each point: its entry in storage */
} SyncILUBsrTilesPart;

/*
   Where W and U' go in place of the pattern of the rows. What other inodes need of them is stored apart,
   unless they read it here.
*/
typedef struct {
  const SyncILUStructBlocksPlace *place;        /* of each inode; NULL: the solves have another storage */
  int                             lines, steps; /* of a tile */
  SyncILUBsrTilesPart             part[2];
} SyncILUDeviceBsrTiles;

#endif
