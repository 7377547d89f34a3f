/*
   Jacobi sweeps in the place of the two triangular solves: solve strategy jacobi on the host. The operations
   are those of SyncILUReferenceSolveJacobi() in its order, for any number of threads.
*/
#ifndef SYNCILU_HOST_JACOBI_H
#define SYNCILU_HOST_JACOBI_H

#include "tickets.h"

enum {
  JACOBI_RHS     = 8, /* right-hand sides that go through the factor together */
  JACOBI_VECTORS = 3  /* of the workspace: a right-hand side and two iterates */
};

typedef struct {
  const SyncILUTriangle *tri;
  const PetscScalar     *val;
  const PetscInt        *map;   /* where the value of an entry is; NULL: in its place */
  const PetscScalar     *dinv;  /* NULL: the diagonal is one */
  const PetscScalar     *scale; /* what right-hand sides are multiplied with; NULL: nothing */
} SyncILUJacobiTriangle;

typedef struct {
  PetscInt              n, sweeps, block; /* rows of a diagonal block: 1 or SYNCILU_JACOBI_BLOCK */
  int                   triangles;        /* one or both, the solution of the first the right-hand side of the second */
  SyncILUJacobiTriangle triangle[2];
  const PetscScalar    *b;
  PetscInt              ldb;
  PetscScalar          *x; /* may be b, if ldb is ldx */
  PetscInt              ldx;
  const PetscInt       *in, *out; /* row i is b[in[i]] and x[out[i]]; NULL: at i */
  PetscInt              nrhs;     /* at most JACOBI_RHS */
  PetscScalar          *work;     /* JACOBI_VECTORS times n nrhs numbers */
} SyncILUJacobi;

PETSC_INTERN void SyncILUHostJacobi(const SyncILUJacobi *, PetscInt threads);

#endif
