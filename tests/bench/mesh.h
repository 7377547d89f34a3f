/*
   Finite elements on a mesh of simplices.
*/
#ifndef SYNCILU_MESH_H
#define SYNCILU_MESH_H

#include <petscmat.h>
#include "compat.h"

typedef enum {
  MESH_LAPLACE_2D,
  MESH_LAPLACE,
  MESH_ELASTICITY,
  MESH_CONVECTION,
  MESH_PROBLEMS
} MeshProblem;

extern const char *const MeshProblems[];

/* name:n; MESH_PROBLEMS if there is no such problem, or the size is another one than one number. */
extern PetscErrorCode MeshParse(const char *, MeshProblem *, PetscInt *);
extern PetscErrorCode MeshCreate(MPI_Comm, MeshProblem, PetscInt, Mat *);

#endif
