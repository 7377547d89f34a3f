/*
   Block multicolor orderings, of the rows of a matrix in CSR on the host.
*/
#ifndef SYNCILU_BMC_H
#define SYNCILU_BMC_H

#include "compat.h"

/* Rows of a block where nothing else is asked for. */
#define SYNCILU_BMC_SIZE 32

/* The library takes the rows and the counts; where blocks and colors begin is for tests. */
typedef struct {
  PetscInt  n, blocks, colors;
  PetscBool grown; /* the blocks were grown along the entries, not cut from the numbering */
  PetscInt *row;   /* at each position */
  PetscInt *begin; /* position where each block begins, and n */
  PetscInt *first; /* block that each color begins with, and the number of blocks */
} SyncILUBMC;

PETSC_INTERN PetscErrorCode SyncILUBMCCreate(PetscInt, const PetscInt *, const PetscInt *, PetscInt, SyncILUBMC *);
PETSC_INTERN PetscErrorCode SyncILUBMCDestroy(SyncILUBMC *);

#endif
