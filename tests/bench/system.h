/*
   Linear systems for the benches of solvers.
*/
#ifndef SYNCILU_SYSTEM_H
#define SYNCILU_SYSTEM_H

#include <petscksp.h>
#include "compat.h"
#include "mesh.h"

typedef struct {
  char        name[64];
  PetscBool   symmetric; /* with a positive diagonal: CG may solve it */
  const char *kind;      /* of a system by name, in a word or two */
  PetscInt    n, dim;    /* points of a grid in each direction, numbered line by line; 0: another system */
  PetscInt    unknowns;  /* of a point, with full blocks; 0: 1 or unknown */
  Mat         A;
  Vec         b, x, r;
  /* makes a new preconditioner ready, before its options are read; may be NULL */
  PetscErrorCode (*prepare)(PC, void *);
  void *ctx;
} System;

/*
   Both make a matrix of the given type, of a system whose fields are all zero.

   Names have the points in each direction behind a colon, and one rank. Grids, with rows of the boundary,
   points numbered line by line: poisson, poisson2 (in two dimensions), anisotropic (100 times as strong in
   the last direction), jumping (coefficients of 8^3 boxes, over six decades), reservoir (the same, a tenth as
   strong in the last direction), convdiff (upwind convection, a cell's Peclet number 1), transport (reservoir
   with that convection). Grids without such rows, a time step each, with so many unknowns a point: timestep (1, convection and diffusion), navierstokes (4, neighbors in
   a box), euler (5, two on each side in each direction), cahnhilliard (2, up to two steps away). Meshes: see mesh.h. Networks of n^2 nodes: network, of conductances, and circuit,
   with sources. The source is constant.
*/
extern PetscErrorCode SystemByName(const char *, MatType, System *);
/* the right-hand side is that of a solution of ones */
extern PetscErrorCode SystemFromFile(const char *, MatType, System *);
/* the vectors that are missing, and a first product, which brings the matrix to where it is used */
extern PetscErrorCode SystemFinish(System *);
extern PetscErrorCode SystemDestroy(System *);

#endif
