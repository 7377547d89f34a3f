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
/* An attempt at the factorization by sweeps (sweeps.c). */
PETSC_INTERN PetscErrorCode SyncILUHostSweeps(const SyncILUPattern *, const PetscInt *, const SyncILUCSR *, const SyncILUPivoting *, PetscInt, PetscScalar *,
                                              PetscScalar *, PetscScalar *, PetscScalar *, SyncILUStatus *);

#endif
