/*
   What the fuzzers share: numbers from a seed, random matrices of many kinds, engines with random settings,
   comparison with the serial reference.

   A seed is one matrix and all that is done with it: -first s -seeds n runs the seeds s to s + n - 1, so that
   a failure, which names its seed, is run again by -first SEED -seeds 1.
*/
#ifndef SYNCILU_FUZZ_H
#define SYNCILU_FUZZ_H

#include "case.h"

/* Begins the program: PETSc, the options, a watch over each seed. */
extern PetscErrorCode FuzzBegin(int *argc, char ***argv, const char help[], PetscInt *first, PetscInt *seeds);
/* Begins a seed: all numbers below follow from it, and so do those of the generator for values. */
extern PetscErrorCode FuzzSeed(PetscInt seed, PetscRandom rand);
/* What is being done, for reports of what ends the program. */
extern void        FuzzSay(const char *format, ...) PETSC_ATTRIBUTE_FORMAT(1, 2);
extern const char *FuzzSaid(void);

/* A number from 0 to n - 1. */
extern int FuzzBelow(int n);
/* A real number from 0 to 1. */
extern PetscReal FuzzReal(void);
/* Yes once in n times. */
extern PetscBool FuzzOnce(int n);

/* A matrix of one of the kinds in fuzz.c, with a diagonal, and what it is. */
extern PetscErrorCode FuzzMatrix(PetscRandom rand, Mat *A, char description[], size_t length);

/* Settings of the CUDA backend: the strategies that it has, any analysis, any vector size. */
extern PetscErrorCode FuzzSettings(PetscReal relax, SyncILUSettings *settings);

/* Puts sweeps in the place of the strategy, once in a while where there is no relaxation. */
extern PetscErrorCode FuzzSweeps(SyncILUSettings *settings);

/*
   An engine for a case. With matrix, its pattern is that of the rows of the matrix, on the host or the
   device, which must be in the natural ordering and without levels of fill; else it is the pattern of the
   symbolic phase.
*/
extern PetscErrorCode FuzzEngine(const SyncILUSettings *settings, const Case *c, PetscBool matrix, PetscBool device, SyncILUEngine *e);
/* The numeric phase with the values of the case, in arrays on the host or the device. */
extern PetscErrorCode FuzzFactor(SyncILUEngine e, const Case *c, PetscBool device, const MatFactorInfo *info);
/* Solves for the first right-hand sides of the case, on the host or the device, in place or not. */
extern PetscErrorCode FuzzSolve(SyncILUEngine e, const Case *c, SyncILUTranspose trans, PetscInt nrhs, PetscBool device, PetscBool inplace, PetscScalar *x);

/* Of rounding. */
#define FUZZ_TOLERANCE 1e-11
/* The factor of an engine, and solutions for the first right-hand sides of the case, are the reference's. */
extern PetscErrorCode FuzzCheckFactor(SyncILUEngine e, const Case *c, const char *what);
extern PetscErrorCode FuzzCheckSolutions(const Case *c, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *x, const char *what);

/*
   All of one seed: a matrix in some ordering, and engines with random settings, whose factors and solutions are
   checked.
*/
extern PetscErrorCode FuzzPattern(PetscInt seed, PetscRandom rand);

#endif
