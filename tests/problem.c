/*
   See problem.h.
*/
#include "problem.h"
#include "check.h"
#include "compat.h"

PetscErrorCode ProblemCreate(PetscInt m, PetscReal wind, Problem *p)
{
  const PetscInt n = m * m * m;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 7, NULL, &p->A));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt x[3] = {i % m, i / m % m, i / m / m}, stride[3] = {1, m, m * m};
    PetscScalar    d = 0.0;

    for (int k = 0; k < 3; k++) {
      if (x[k] > 0) PetscCall(MatSetValue(p->A, i, i - stride[k], -1.0 - wind, INSERT_VALUES));
      if (x[k] < m - 1) PetscCall(MatSetValue(p->A, i, i + stride[k], -1.0, INSERT_VALUES));
      d += 2.0 + wind;
    }
    PetscCall(MatSetValue(p->A, i, i, d, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(p->A, &p->x, &p->b));
  PetscCall(VecSet(p->b, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&p->A));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolveWith(Problem *p, const char *options, PetscInt *its, KSP *keep)
{
  PetscOptions db;
  KSP          ksp;

  PetscFunctionBegin;
  PetscCall(CheckOptionsBegin(options, &db));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, p->A, p->A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, p->b, p->x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (keep) *keep = ksp;
  else PetscCall(KSPDestroy(&ksp));
  PetscCall(CheckOptionsEnd(&db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Tridiagonal(PetscInt n, PetscInt row, PetscScalar value, PetscScalar above, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    if (i) PetscCall(MatSetValue(*A, i, i - 1, i == row ? 0.0 : -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, i == row ? value : (PetscScalar)4.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*A, i, i + 1, i == row ? above : (PetscScalar)-1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
