/*
   What a plan knows of the grid that its rows follow.
*/
#ifndef SYNCILU_CUDA_STRUCT_H
#define SYNCILU_CUDA_STRUCT_H

#include "solve.h"
#include "../../kernels/factor_struct_wide.h"
#include "../../kernels/solve_struct_blocks.h"

struct _Stencil {
  DeviceMemory memory;
  char         why[128];                         /* why rows cannot be taken line by line, else empty */
  SyncILULines g, box;                           /* in tiles, and in boxes of tiles */
  PetscBool    near;                             /* rows depend on their nearest neighbours alone, and there are boxes */
  int          entries[2];                       /* of a row of L and of U */
  signed char  point[2][SYNCILU_STRUCT_MOST][3]; /* of these, by ascending columns */
  int          levels, hops;                     /* of all rows, if they had no holes; between tiles, on the longest way */
  int         *present;                          /* see kernels/struct.h; NULL where rows have no holes */
  double       holes;                            /* entries of the stencil on the grid that rows do not have */
  int          unknowns;                         /* 1; else rows are points, and entries dense blocks of so many rows */
  double       step;                             /* nanoseconds from level to level of a tile */
  int          grid[3];                          /* points of x, y and z */
  const char  *origin;                           /* who knows the grid */
};

PETSC_INTERN PetscErrorCode PlanCheckGrid(Plan *, const SyncILUCSR *);
PETSC_INTERN PetscErrorCode PlanForgetStencil(Plan *);
PETSC_INTERN PetscInt64     PlanStencilBytes(const Plan *);
PETSC_INTERN PetscErrorCode PlanFindStencil(Plan *);
PETSC_INTERN void           StencilDescribe(const Stencil *, Part, SyncILUDeviceStruct *, signed char[SYNCILU_STRUCT_LINES][2]);
PETSC_INTERN PetscErrorCode StencilSortTiles(Triangle *, const SyncILULines *, int, const int **);
PETSC_INTERN PetscErrorCode PlanLinesPay(Plan *, PetscBool *);
PETSC_INTERN PetscErrorCode StencilReason(const Plan *, char[], size_t);
PETSC_INTERN PetscErrorCode StencilLevels(Plan *, int **, int *);
PETSC_INTERN PetscErrorCode StencilColumns(Plan *, int *);
PETSC_INTERN PetscErrorCode StencilOrder(const SyncILULines *, int, int *);
PETSC_INTERN PetscBool      StencilTile(Stencil *);
PETSC_INTERN void           StencilCut(SyncILULines *);
PETSC_INTERN int            StencilSum(const SyncILUDeviceStruct *, const SyncILUDeviceStruct *, const signed char *, const signed char *);
PETSC_INTERN PetscBool      StencilEntries(const SyncILUDeviceStruct *, const SyncILUDeviceStruct *, int, unsigned char[], int[3][2], int[32]);
PETSC_INTERN void           StencilPlaces(int, const int[], int, int[], int[]);
PETSC_INTERN PetscErrorCode StencilTasks(Plan *, DeviceMemory *, const SyncILULines *, const void **, int *, int **);
PETSC_INTERN PetscBool      StencilBeside(const SyncILULines *, int, const signed char[][3], const signed char[], SyncILUStructTile[], int *,
                                          int[][SYNCILU_STRUCT_BESIDE], SyncILUStructPlace[][32]);
PETSC_INTERN double         StencilTime(const Stencil *);
PETSC_INTERN double         StencilLanes(const Stencil *);
PETSC_INTERN PetscErrorCode StencilView(const Stencil *, PetscViewer);
PETSC_INTERN int            StencilBefore(const SyncILULines *, const signed char *);

/* solve_struct_blocks.c: the storage of points with several unknowns; NULL: the triangle has another one. */

PETSC_INTERN const SyncILUDeviceStructBlocks *TriangleGetStructBlocks(const Triangle *);

#endif
