/*
   See gpu_case.h.
*/
#include "gpu_case.h"

PetscErrorCode BackendMissing(PetscBool *missing)
{
  PetscBool available;
  char      why[256];

  PetscFunctionBegin;
  PetscCall((*SyncILUCUDAOps.available)(&available, why, sizeof(why)));
  if (!available) printf("skipped: %s\n", why);
  *missing = (PetscBool)!available;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BackendBegin(int *argc, char ***argv, const char help[], PetscBool *missing, PetscRandom *rand)
{
  /* not a function on PETSc's stack, which there is only while PETSc is initialized */
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  PetscCall(BackendMissing(missing));
  if (*missing) PetscCall(PetscFinalize());
  else PetscCall(PetscRandomCreate(PETSC_COMM_SELF, rand));
  return PETSC_SUCCESS;
}

PetscErrorCode EngineAdopt(const SyncILUSettings *settings, const SyncILUCSR *host, const SyncILUCSR *device, PetscBool *taken, SyncILUEngine *e)
{
  const SyncILUFill fill   = {0, 0};
  Arrays            arrays = {host, device};
  SyncILUSource     source;

  PetscFunctionBegin;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineCreate(settings, host->n, &source, NULL, NULL, fill, e));
  *taken = (PetscBool) !(*e)->pattern.lptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EngineFactorUnshifted(SyncILUEngine e, const SyncILUCSR *host, const SyncILUCSR *device, PetscReal zeropivot)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(EngineFactor(e, host, device, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
