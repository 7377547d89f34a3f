/*
   Inside of the host backend.
*/
#ifndef SYNCILU_HOST_H
#define SYNCILU_HOST_H

#include "../reference.h"

/*
   Level of each row when the rows depend on those of lower number (forward) or of higher number that their
   entries name. Returns the number of levels and the most rows on one.
*/
PETSC_INTERN PetscErrorCode SyncILUHostLevels(PetscInt, const PetscInt *, const PetscInt *, PetscBool, PetscInt *, PetscInt *, PetscInt *);
/* Moves each row to the latest level that delays no other row. */
PETSC_INTERN PetscErrorCode SyncILUHostLevelsLate(PetscInt, const PetscInt *, const PetscInt *, PetscBool, PetscInt, PetscInt *);

/*
   An iterate of sweeps (sweeps.c): the lower part not yet divided by the pivots; of a half none, and the
   upper part is.
*/
typedef struct {
  PetscScalar *l, *u;
  PetscScalar *dinv; /* reciprocals, zero where a row updates nothing */
  PetscScalar *d;    /* pivots as they come; of a half those that dinv has reciprocals of */
} SyncILUIterate;

PETSC_INTERN PetscErrorCode SyncILUHostSweeps(const SyncILUPattern *, const PetscInt *, const SyncILUCSR *, const SyncILUPivoting *, PetscInt,
                                              const SyncILUIterate *, PetscInt, PetscBool, const SyncILUIterate *, SyncILUStatus *);
/*
   The pattern that suits the values of a matrix, and an iterate on it (parilut.c), of so many entries and
   candidates at most.
*/
PETSC_INTERN PetscInt       SyncILUSearchMost;
PETSC_INTERN PetscErrorCode SyncILUHostSearch(const SyncILUPattern *, const SyncILUCSR *, const SyncILUPivoting *, const SyncILUSettings *, PetscInt,
                                              SyncILUPattern *, SyncILUIterate *, SyncILUSearch *);
PETSC_INTERN PetscErrorCode SyncILUIterateDestroy(SyncILUIterate *);

#endif
