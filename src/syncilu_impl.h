/*
   Private to the PETSc layer.
*/
#ifndef SYNCILU_IMPL_H
#define SYNCILU_IMPL_H

#include <petsc/private/pcimpl.h>
#include <petsc/private/matimpl.h>
#include "engine.h"

PETSC_INTERN PetscLogEvent SYNCILU_Analysis, SYNCILU_Factor, SYNCILU_Solve;

/* What a factored matrix of type syncilu holds. */
typedef struct {
  SyncILUSettings settings;
  PetscBool       frompc; /* the settings are those of a PCSYNCILU, which read the options already */
  SyncILUEngine   engine; /* from the symbolic phase on */
  PetscReal       fill;   /* as given by the user */
  PetscInt        analyses;
} Mat_SyncILU;

PETSC_INTERN PetscErrorCode PCCreate_SyncILU(PC);
PETSC_INTERN PetscErrorCode MatGetFactor_SyncILU(Mat, MatFactorType, Mat *);
PETSC_INTERN PetscErrorCode MatIsFactor_SyncILU(Mat, PetscBool *);

PETSC_INTERN PetscErrorCode SyncILUSettingsSetFromOptions(SyncILUOptionItems, SyncILUSettings *);
PETSC_INTERN PetscErrorCode SyncILUSettingsView(const SyncILUSettings *, PetscViewer);

/* The settings that a PC or a factored matrix holds (NULL where it is of another type), and what to do once they changed. */
PETSC_INTERN PetscErrorCode PCSyncILUGetSettings(PC, SyncILUSettings **);
PETSC_INTERN PetscErrorCode PCSyncILUSettingsChanged(PC);
PETSC_INTERN PetscErrorCode MatSyncILUGetSettings(Mat, SyncILUSettings **);
PETSC_INTERN PetscErrorCode MatSyncILUSettingsChanged(Mat);

/* Under this name a PCSYNCILU leaves its settings with the matrix while that is being factored, so that the factor is made with them. */
#define SYNCILU_SETTINGS_KEY "SyncILUSettings"

#endif
