/*
   Matrices from files.
*/
#ifndef SYNCILU_LOAD_H
#define SYNCILU_LOAD_H

#include <petscmat.h>

/*
   Matrix Market (coordinate; real, integer or pattern; general, symmetric or skew-symmetric) or PETSc's
   binary format, as a square matrix of the given type. Collective.
*/
extern PetscErrorCode LoadMatrix(MPI_Comm, const char *, MatType, Mat *);
/*
   The paths of the Matrix Market files of a folder, or of the one that the environment's SYNCILU_MATRICES
   names, in alphabetical order; none if it cannot be read.
*/
extern PetscErrorCode LoadFolder(const char *, int *, char ***);
/* Those of this folder alone, and PETSc's binary files, which end with .petsc. */
extern PetscErrorCode LoadFolderOfBoth(const char *, int *, char ***);
extern PetscErrorCode LoadFolderFree(int, char ***);

#endif
