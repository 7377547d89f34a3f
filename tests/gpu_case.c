/*
   See gpu_case.h.
*/
#include "gpu_case.h"
#include "check.h"

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

PetscErrorCode EngineCheckSolutions(SyncILUEngine e, const Case *c, PetscInt nrhs, const char *what)
{
  const size_t size = (size_t)(c->ld * nrhs);
  PetscScalar *x, *again;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(size, &x, size, &again));
  for (int t = 0; t < 2; t++) {
    const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

    PetscCall(SyncILUEngineSolve(e, trans, nrhs, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
    PetscCall(SyncILUEngineSolve(e, trans, nrhs, c->b, c->ld, again, c->ld, PETSC_MEMTYPE_HOST));
    CHECK(!memcmp(x, again, size * sizeof(*x)), "%s: two solves differ, %" PetscInt_FMT " right-hand sides, transposed %d", what, nrhs, t);
    for (PetscInt r = 0; r < nrhs; r++) {
      const PetscInt row = SolutionFirstDifference(c->n, x + r * c->ld, c->x[t] + r * c->ld, 1e-12);

      CHECK(row == c->n, "%s: row %" PetscInt_FMT " of solution %" PetscInt_FMT " of %" PetscInt_FMT " differs, transposed %d", what, row, r, nrhs, t);
    }
  }
  PetscCall(PetscFree2(x, again));
  PetscFunctionReturn(PETSC_SUCCESS);
}
