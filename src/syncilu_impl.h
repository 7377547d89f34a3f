/*
   Private to the PETSc layer.
*/
#ifndef SYNCILU_IMPL_H
#define SYNCILU_IMPL_H

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/matimpl.h>
#include "engine.h"

PETSC_INTERN PetscLogEvent SYNCILU_Analysis, SYNCILU_Factor, SYNCILU_Solve;

/*
   What a preconditioner and its factor have in common, in a container that both refer to. PETSc makes a new
   factor for a new pattern; that one gets the container again.
*/
typedef struct {
  SyncILUSettings settings;
  PetscBool       frompc;     /* the preconditioner reads the options, otherwise the factor does */
  PetscBool       shiftknown; /* the next one is so, or not */
  PetscBool       nonzero;    /* MAT_SHIFT_NONZERO is meant where PCILU hands down MAT_SHIFT_INBLOCKS */
  PetscInt        bmc_size;   /* rows of a block of the ordering bmc; 0: what the matrix' options say */
  PetscBool3      bmc_along;  /* its colors shall follow the numbering; unknown: what the matrix' options say */
  DM              dm;         /* of the matrix whose block is factored, during the setup of the preconditioner; may be NULL */
  PetscBool       orders;     /* the factor makes our orderings itself, where it is, and needs no index sets */
} SyncILUShared;

/* Under this name both have the container, and the matrix has it while a factor is made of it. */
#define SYNCILU_SHARED_KEY "SyncILUShared"

PETSC_INTERN PetscErrorCode SyncILUSharedCreate(PetscContainer *);
PETSC_INTERN PetscErrorCode SyncILUGetShared(PetscObject, SyncILUShared **);
/* Composes the container, and the methods of the setters and getters with it; NULL takes them away. */
PETSC_INTERN PetscErrorCode PCSyncILUComposeShared(PC, PetscContainer);
PETSC_INTERN PetscErrorCode MatSyncILUComposeShared(Mat, PetscContainer);
/*
   Call a PCILU so that a factor which it makes gets the container; the second and the third one are for
   PCSetFromOptions() and PCSetUp().
*/
PETSC_INTERN PetscErrorCode PCSyncILUCallWithShared(PC, PetscErrorCode (*)(PC), PetscContainer);
PETSC_INTERN PetscErrorCode PCSyncILUSetFromOptionsWithShared(PC, PetscErrorCode (*)(PC, SyncILUOptionItems), SyncILUOptionItems, PetscContainer);
PETSC_INTERN PetscErrorCode PCSyncILUSetUpILU(PC, PetscErrorCode (*)(PC), PetscContainer);
/* A PCILU learns the methods here once its solver type is syncilu, and forgets them with that type. */
PETSC_INTERN PetscErrorCode PCSyncILUComposeWithILU(PC);

PETSC_INTERN PetscErrorCode SyncILUSettingsSetFromOptions(SyncILUOptionItems, SyncILUSettings *);
PETSC_INTERN PetscErrorCode SyncILUFindGrid(Mat, DM, SyncILUSettings *);
PETSC_INTERN PetscErrorCode SyncILUSettingsView(const SyncILUSettings *, PetscViewer);

/* What the plan does not depend on acts at once; the rest waits for the next symbolic phase. */
PETSC_INTERN PetscErrorCode MatSyncILUSettingsChanged(Mat);

/* What a factored matrix of type syncilu holds. */
typedef struct {
  SyncILUShared *shared;
  PetscBool      nonzero;   /* as shared->nonzero, by the options */
  SyncILUEngine  engine;    /* from the symbolic phase on */
  PetscBool      symmetric; /* it is ICC: asked for, or for its own or the matrix' type */
  PetscBool      mirrored;  /* the matrix of the last phase was taken by its upper triangle, */
  SyncILUDerived mirror;    /* of ICC, where the matrix is not known to be symmetric */
  PetscReal      fill;      /* as given by the user */
  PetscInt       analyses;  /* of the engines before this one */
} Mat_SyncILU;

/*
   Under this name what one of our orderings is (SyncILUBlocks) is composed with its rows, then with the factor.
*/
#define SYNCILU_BLOCKS_KEY "SyncILUBlocks"

PETSC_INTERN PetscErrorCode SyncILUOrderingRegister(void);
PETSC_INTERN PetscErrorCode SyncILUBlocksDescribe(const SyncILUBlocks *, char[], size_t);
PETSC_INTERN PetscErrorCode SyncILUBlocksCheckSize(PetscInt);

/* The rows of a sequential AIJ, BAIJ or SBAIJ matrix, for an engine; the matrix must stay. */
PETSC_INTERN PetscErrorCode SyncILUSourceFromMat(Mat, SyncILUSource *);
PETSC_INTERN PetscErrorCode SyncILUMatIsBAIJ(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode SyncILUMatIsSBAIJ(Mat, PetscBool *);

/*
   The arrays of a vector that is read and of one that is written, which may be the same: on the device where the engine
   takes them there and both are there, else on the host.
*/
PETSC_INTERN PetscErrorCode SyncILUVecsGet(SyncILUEngine, Vec, Vec, const PetscScalar **, PetscScalar **, PetscMemType *);
PETSC_INTERN PetscErrorCode SyncILUVecsRestore(Vec, Vec, const PetscScalar **, PetscScalar **, PetscMemType);
/* Flops of a backend. */
PETSC_INTERN PetscErrorCode SyncILULogFlops(SyncILUEngine, PetscLogDouble);

/* Eisenstat's trick (eisenstat.c). */
typedef struct _SyncILUEisenstat *SyncILUEisenstat;
PETSC_INTERN PetscErrorCode       SyncILUEisenstatFits(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode       SyncILUEisenstatSetUp(PC, Mat, SyncILUEisenstat *);
PETSC_INTERN PetscErrorCode       SyncILUEisenstatDestroy(SyncILUEisenstat *);
PETSC_INTERN PetscErrorCode       SyncILUEisenstatApply(SyncILUEisenstat, Vec, Vec);
PETSC_INTERN PetscErrorCode       SyncILUEisenstatPreSolve(SyncILUEisenstat, KSP, Vec, Vec);
PETSC_INTERN PetscErrorCode       SyncILUEisenstatPostSolve(SyncILUEisenstat, Vec, Vec);

PETSC_INTERN PetscErrorCode PCCreate_SyncILU(PC);
PETSC_INTERN PetscErrorCode MatGetFactor_SyncILU(Mat, MatFactorType, Mat *);

#endif
