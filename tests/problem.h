/*
   Systems of equations that tests of the preconditioner solve, and the solver for them.
*/
#ifndef SYNCILU_PROBLEM_H
#define SYNCILU_PROBLEM_H

#include <petscksp.h>

typedef struct {
  Mat A;
  Vec b, x;
} Problem;

/* Upwind convection-diffusion on a cube of m^3 points: an unsymmetric M-matrix. */
extern PetscErrorCode ProblemCreate(PetscInt m, PetscReal wind, Problem *);
extern PetscErrorCode ProblemDestroy(Problem *);

/* Solves with the options given, and no others; the KSP is returned for questions unless keep is NULL. */
extern PetscErrorCode SolveWith(Problem *, const char *options, PetscInt *its, KSP *keep);

/*
   A tridiagonal matrix of n rows with the given value on the diagonal of one row. That value is the row's
   pivot in the natural ordering; in any ordering zeros are beside it.
*/
extern PetscErrorCode Tridiagonal(PetscInt n, PetscInt row, PetscScalar value, PetscScalar above, Mat *);

#endif
