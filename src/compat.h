/*
   What differs between the PETSc versions this library builds with: 3.18 (Debian 12) up to 3.26. Nothing else
   in the library asks for the version.
*/
#ifndef SYNCILU_COMPAT_H
#define SYNCILU_COMPAT_H

#include <petscsys.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error "syncilu needs PETSc 3.18 or newer"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS 0
#endif

/* The argument of a setfromoptions operation. */
#if PETSC_VERSION_LT(3, 23, 0)
  #define SyncILUOptionItems PetscOptionItems *
#else
  #define SyncILUOptionItems PetscOptionItems
#endif

/* A container that frees what it points to, with the last reference to it. */
#if PETSC_VERSION_LT(3, 23, 0)
  #define SyncILUContainerFreesPointer(container) PetscContainerSetUserDestroy(container, PetscContainerUserDestroyDefault)
#else
  #define SyncILUContainerFreesPointer(container) PetscContainerSetCtxDestroy(container, PetscCtxDestroyDefault)
#endif

#endif
