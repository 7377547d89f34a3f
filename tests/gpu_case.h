/*
   Engines of the CUDA backend in tests and benches, beside those of case.h.
*/
#ifndef SYNCILU_GPU_CASE_H
#define SYNCILU_GPU_CASE_H

#include "case.h"

/* Whether the CUDA backend is not available, and why not is said then. */
extern PetscErrorCode BackendMissing(PetscBool *);
/*
   Initializes PETSc and makes random numbers. Where the backend is missing the program is to end with the
   status SKIPPED; PETSc is finalized then.
*/
extern PetscErrorCode BackendBegin(int *argc, char ***argv, const char help[], PetscBool *missing, PetscRandom *);
/*
   An engine for ILU(0) of a matrix on the host and, unless that is NULL, on the device; whether its backend
   took the rows as the pattern.
*/
extern PetscErrorCode EngineAdopt(const SyncILUSettings *, const SyncILUCSR *host, const SyncILUCSR *device, PetscBool *taken, SyncILUEngine *);
/* A factorization without shift. */
extern PetscErrorCode EngineFactorUnshifted(SyncILUEngine, const SyncILUCSR *host, const SyncILUCSR *device, PetscReal zeropivot);
/* Solves with so many right-hand sides, also transposed, twice: the same bits, and the reference's solution. */
extern PetscErrorCode EngineCheckSolutions(SyncILUEngine, const Case *, PetscInt nrhs, const char *what);

#endif
