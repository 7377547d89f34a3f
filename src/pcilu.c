/*
   PCILU, which makes our factors: the one inside of a PCSYNCILU, and one of the user's with solver type
   syncilu.

   PCILU destroys its factor when the matrix has another pattern, and makes another one. What our setters set
   is therefore kept in a container of the preconditioner's, and handed to each new factor by way of the
   matrix: MatGetFactor() sees nothing else.

   A PCILU of the user's learns our setters when the first of them is called. Its operations setup and
   setfromoptions, and the method that also makes factors, are replaced by ours then, which hand over the
   container and call PETSc's.
*/
#include "syncilu_impl.h"

/* NULL takes it away again. */
static PetscErrorCode Share(Mat A, PetscContainer container)
{
  PetscFunctionBegin;
  if (A) PetscCall(PetscObjectCompose((PetscObject)A, SYNCILU_SHARED_KEY, (PetscObject)container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSyncILUCallWithShared(PC pc, PetscErrorCode (*call)(PC), PetscContainer container)
{
  Mat            A = pc->pmat;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(Share(A, container));
  ierr = (*call)(pc);
  PetscCall(Share(A, NULL)); /* on error too: other factors of the matrix have settings of their own */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCILU of PETSc 3.18 makes its factor when it reads its options, if there is a matrix. */
PetscErrorCode PCSyncILUSetFromOptionsWithShared(PC pc, PetscErrorCode (*call)(PC, SyncILUOptionItems), SyncILUOptionItems PetscOptionsObject,
                                                 PetscContainer container)
{
  Mat            A = pc->pmat;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(Share(A, container));
  ierr = (*call)(pc, PetscOptionsObject);
  PetscCall(Share(A, NULL));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCILU turns MAT_SHIFT_NONZERO into MAT_SHIFT_INBLOCKS for all types of matrices but MATSEQAIJ and
   MATMPIAIJ, of which it knows that they can. The factor is told what was meant, and PCILU what it was told.
*/
PetscErrorCode PCSyncILUSetUpILU(PC ilu, PetscErrorCode (*call)(PC), PetscContainer container)
{
  SyncILUShared     *shared;
  MatFactorShiftType shift, after;
  PetscReal          amount;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(PetscContainerGetPointer(container, (void **)&shared));
  PetscCall(PCFactorGetShiftType(ilu, &shift));
  PetscCall(PCFactorGetShiftAmount(ilu, &amount));
  shared->shiftknown = PETSC_TRUE;
  shared->nonzero    = (PetscBool)(shift == MAT_SHIFT_NONZERO);
  ierr               = PCSyncILUCallWithShared(ilu, call, container);
  PetscCall(PCFactorGetShiftType(ilu, &after));
  if (after != shift) {
    PetscCall(PCFactorSetShiftType(ilu, shift));
    PetscCall(PCFactorSetShiftAmount(ilu, amount)); /* the line before replaces an amount of zero */
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's operations and method are composed with the preconditioner under these names. */
#define PETSC_SETUP   "PCSetUp_PETSc_C"
#define PETSC_OPTIONS "PCSetFromOptions_PETSc_C"
#define PETSC_METHOD  "PCFactorSetUpMatSolverType_PETSc_C"

static PetscErrorCode PCSetUp_ILUWithSyncILU(PC pc)
{
  PetscErrorCode (*petsc)(PC);
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, PETSC_SETUP, &petsc));
  PetscCall(PetscObjectQuery((PetscObject)pc, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  PetscCall(PCSyncILUSetUpILU(pc, petsc, container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetUpMatSolverType_ILUWithSyncILU(PC pc)
{
  PetscErrorCode (*petsc)(PC);
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, PETSC_METHOD, &petsc));
  PetscCall(PetscObjectQuery((PetscObject)pc, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  PetscCall(PCSyncILUCallWithShared(pc, petsc, container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_ILUWithSyncILU(PC pc, SyncILUOptionItems PetscOptionsObject)
{
  PetscErrorCode (*petsc)(PC, SyncILUOptionItems);
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, PETSC_OPTIONS, &petsc));
  PetscCall(PetscObjectQuery((PetscObject)pc, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  PetscCall(PCSyncILUSetFromOptionsWithShared(pc, petsc, PetscOptionsObject, container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor takes the change at its next phase. */
static PetscErrorCode SettingsChanged_ILUWithSyncILU(PC pc)
{
  Mat F;

  PetscFunctionBegin;
  if (pc->pmat) {
    PetscCall(PCFactorSetUpMatSolverType(pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatSyncILUSettingsChanged(F));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compose(PC pc)
{
  PetscErrorCode (*method)(PC);
  PetscContainer container = NULL;

  PetscFunctionBegin;
  if (pc->pmat) { /* there may be a factor, with settings that came in another way */
    Mat F;

    PetscCall(PCFactorSetUpMatSolverType(pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(PetscObjectQuery((PetscObject)F, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  }
  if (container) PetscCall(PetscObjectReference((PetscObject)container));
  else PetscCall(SyncILUSharedCreate(&container));
  PetscCall(PCSyncILUComposeShared(pc, container));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", &method));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PETSC_METHOD, method));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PETSC_SETUP, pc->ops->setup));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PETSC_OPTIONS, pc->ops->setfromoptions));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", PCFactorSetUpMatSolverType_ILUWithSyncILU));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSettingsChanged_C", SettingsChanged_ILUWithSyncILU));
  pc->ops->setup          = PCSetUp_ILUWithSyncILU;
  pc->ops->setfromoptions = PCSetFromOptions_ILUWithSyncILU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a change of the type or of the solver type: PETSc takes away only what it composed itself. */
static PetscErrorCode Uncompose(PC pc)
{
  PetscErrorCode (*petsc)(PC);

  PetscFunctionBegin;
  if (pc->ops->setup == PCSetUp_ILUWithSyncILU) {
    PetscCall(PetscObjectQueryFunction((PetscObject)pc, PETSC_SETUP, &pc->ops->setup));
    PetscCall(PetscObjectQueryFunction((PetscObject)pc, PETSC_OPTIONS, &pc->ops->setfromoptions));
    PetscCall(PetscObjectQueryFunction((PetscObject)pc, PETSC_METHOD, &petsc));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", petsc));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PETSC_SETUP, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PETSC_OPTIONS, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, PETSC_METHOD, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSettingsChanged_C", NULL));
  PetscCall(PCSyncILUComposeShared(pc, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSyncILUComposeWithILU(PC pc)
{
  PetscErrorCode (*setup)(PC);
  PetscBool     ours, ilu, syncilu = PETSC_FALSE;
  MatSolverType type;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSYNCILU, &ours));
  if (ours) PetscFunctionReturn(PETSC_SUCCESS); /* has its own */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &ilu, PCILU, PCICC, ""));
  if (ilu) {
    PetscCall(PCFactorGetMatSolverType(pc, &type));
    PetscCall(PetscStrcmp(type, MATSOLVERSYNCILU, &syncilu));
  }
  ours = (PetscBool)(syncilu && pc->ops->setup == PCSetUp_ILUWithSyncILU);
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, PETSC_SETUP, &setup));
  if (setup && !ours) PetscCall(Uncompose(pc));
  if (syncilu && !ours) PetscCall(Compose(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
