static char help[] = "Solves a small system with syncilu, which it is linked with, and checks the answer.\n\n";

#include <petscksp.h>
#include <petscsyncilu.h>

int main(int argc, char **argv)
{
  Mat       A;
  Vec       x, b;
  KSP       ksp;
  PC        pc;
  PetscInt  n = 10, k, start, end, version[3];
  PetscReal relax, error;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(SyncILUGetVersion(&version[0], &version[1], &version[2]));
  PetscCheck(version[0] == SYNCILU_VERSION_MAJOR && version[1] == SYNCILU_VERSION_MINOR && version[2] == SYNCILU_VERSION_PATCH, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "The library is of version %d.%d.%d, its header of version %d.%d.%d", (int)version[0], (int)version[1], (int)version[2], SYNCILU_VERSION_MAJOR,
             SYNCILU_VERSION_MINOR, SYNCILU_VERSION_PATCH);

  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 5, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (k = start; k < end; k++) {
    if (k >= n) PetscCall(MatSetValue(A, k, k - n, -1, INSERT_VALUES));
    if (k % n > 0) PetscCall(MatSetValue(A, k, k - 1, -1, INSERT_VALUES));
    PetscCall(MatSetValue(A, k, k, 4, INSERT_VALUES));
    if (k % n < n - 1) PetscCall(MatSetValue(A, k, k + 1, -1, INSERT_VALUES));
    if (k < n * (n - 1)) PetscCall(MatSetValue(A, k, k + n, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(x, 1));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecSet(x, 0));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCSyncILUSetRelax(pc, 0.9));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PCSyncILUGetRelax(pc, &relax));
  PetscCheck(relax == (PetscReal)0.9, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The relaxation is %g, expected 0.9", (double)relax);
  PetscCall(VecShift(x, -1));
  PetscCall(VecNorm(x, NORM_INFINITY, &error));
  PetscCheck(error < 1e-6, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The error is %g, expected less than 1e-6", (double)error);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "syncilu %d.%d.%d solved it\n", (int)version[0], (int)version[1], (int)version[2]));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
