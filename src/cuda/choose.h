/*
   The tables of strategies, and the rules that choose among them. Strategies do not know of each other, and
   do without this header.
*/
#ifndef SYNCILU_CUDA_CHOOSE_H
#define SYNCILU_CUDA_CHOOSE_H

#include "factor.h"

/* strategies.c */

PETSC_INTERN const SolveOps *const  SyncILUCUDASolves[]; /* NULL-terminated */
PETSC_INTERN const FactorOps *const SyncILUCUDAUpdates[];

PETSC_INTERN const char    *SolveName(const SolveOps *);
PETSC_INTERN PetscErrorCode ChooseSolve(Plan *, const SolveOps **);
PETSC_INTERN PetscErrorCode ChooseInodes(const Plan *, const SolveOps **, char[], size_t);
PETSC_INTERN PetscErrorCode ChooseNarrow(Plan *, const SolveOps **, char[], size_t);
PETSC_INTERN PetscErrorCode ChooseLines(Plan *, const SolveOps **, char[], size_t);
PETSC_INTERN PetscErrorCode FactorizationCreate(Plan *, Triangle *, const Triangle *, Factorization *);
PETSC_INTERN PetscErrorCode FactorizationDestroy(Factorization *);

/* advice.c: what an application takes about, and what would take less. */

PETSC_INTERN PetscErrorCode ChooseHost(const Plan *, const Triangle *, const Triangle *, char[], size_t);
PETSC_INTERN PetscErrorCode AdviseOrdering(const Plan *, const Triangle *, const Triangle *, char[], size_t);

#endif
