/*
   Orders of the rows, by levels and by tiles, and slices of them.
*/
#ifndef SYNCILU_CUDA_ORDER_H
#define SYNCILU_CUDA_ORDER_H

#include "plan.h"

/* order.c: orders of the rows, and slices of them. */
typedef struct {
  int *row; /* at each position */
  /* of the row at each position, ascending: while planning; NULL in numerical order and in tiles */
  int      *key;
  int       bits;     /* lowest ones of the keys, which say no level */
  int      *position; /* of each row, while planning; NULL: see OrderPositions() */
  int      *start;    /* of each level, and the number of rows: while planning, where the order is by level */
  PetscBool numerical;
  /* how far before a position its warp looks before it polls (see kernels/syncfree.cuh) */
  int           throttle;
  double        level_rows; /* rows of a level in the mean */
  int           tiles;      /* 0: not in tiles */
  SyncILUSlice *slice;      /* of each tile */
  PetscBool     blocks;     /* by block of the ordering bmc, and without `row`: the rows of a block wait for each other */
  PetscBool     inodes;     /* of inodes, not rows */
  PetscBool     lines;      /* by tiles of lines of a grid, and without `row`: x is by tiles */
  PetscBool     points;     /* the same of points whose unknowns are the rows of an inode */
} Order;

PETSC_INTERN PetscErrorCode PlanFindLevels(Plan *, SyncILUDevicePattern, double, PetscBool, PetscBool, int *[2], int[2]);
PETSC_INTERN PetscErrorCode PlanGetLevels(Plan *, Part, int **, int *);
PETSC_INTERN PetscErrorCode PlanCountLevels(Plan *);
PETSC_INTERN void           PlanForgetLevels(Plan *);
PETSC_INTERN PetscErrorCode OrderSort(Plan *, DeviceMemory *, const int *, int, int, int *, Order *);
PETSC_INTERN void           OrderCounted(Plan *, Part, int, Order *);
PETSC_INTERN PetscErrorCode OrderCreateByLevel(Plan *, DeviceMemory *, Part, int *, int, int, Order *);
PETSC_INTERN PetscErrorCode OrderCreate(Plan *, DeviceMemory *, Part, int *, int, int, Order *);
PETSC_INTERN PetscErrorCode OrderReverse(Plan *, DeviceMemory *, const Order *, Order *);
PETSC_INTERN PetscErrorCode OrderPositions(Plan *, const Order *, int **);
PETSC_INTERN PetscErrorCode PlanSliceStorage(Plan *, SyncILUDeviceTriangle, const int *, PetscBool, int, SyncILUSlice *, int *);

/* Slices whose number is on the device, with room for another one behind it. */
typedef struct {
  SyncILUSlice *slice;
  int          *count, mark;
} Slices;

PETSC_INTERN PetscErrorCode PlanSlicesBegin(Plan *, SyncILUDeviceTriangle, const int *, const int *, int, int, int, Slices *);
PETSC_INTERN PetscErrorCode PlanSlicesEnd(Plan *, DeviceMemory *, int, const Slices *, SyncILUSlice **, int *, int *);
PETSC_INTERN PetscErrorCode PlanSlices(Plan *, DeviceMemory *, SyncILUDeviceTriangle, const int *, const int *, int, int, int, PetscBool, SyncILUSlice **,
                                       int *, int *);
PETSC_INTERN int            OrderThrottle(double, double);

/* levelset.c: rows by level, for strategies that wait for whole levels. */

PETSC_INTERN PetscErrorCode PlanLevelset(Plan *, DeviceMemory *, SyncILUDeviceTriangle, Part, int, int, int, Order *, SyncILUDeviceLevels *);

/* tiles.c: orders of tiles. */

PETSC_INTERN PetscBool      PlanMayTile(const Plan *);
PETSC_INTERN PetscErrorCode PlanTile(Plan *);
PETSC_INTERN double         TileTime(const SyncILUTiling *);
PETSC_INTERN PetscErrorCode OrderCreateTiles(Plan *, DeviceMemory *, Part, Order *);
PETSC_INTERN PetscErrorCode OrderReverseTiles(Plan *, DeviceMemory *, const Order *, Order *);
PETSC_INTERN PetscErrorCode PlanTileRowLevels(Plan *, int **, int *);
PETSC_INTERN PetscErrorCode TilesView(const Plan *, PetscViewer);

#endif
