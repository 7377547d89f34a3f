static char help[] = "Solves a convection-diffusion equation on a square with the solver that the options name, and checks the answer.\n\
    -n <points>          : in each direction\n\
    -convection <number> : against diffusion; with 0, the default, the matrix is symmetric\n\
    -cycles <number>     : how often PETSc is initialized, used and finalized\n\n";

#include <petscksp.h>

static PetscErrorCode Solve(void)
{
  Mat                A;
  Vec                x, b, exact;
  KSP                ksp;
  KSPConvergedReason reason;
  PetscInt           n          = 30, k, start, end;
  PetscReal          convection = 0, error, norm;
  PetscRandom        random;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-convection", &convection, NULL));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatSeqAIJSetPreallocation(A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(A, 5, NULL, 5, NULL));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (k = start; k < end; k++) {
    if (k >= n) PetscCall(MatSetValue(A, k, k - n, -1 - convection, INSERT_VALUES));
    if (k % n > 0) PetscCall(MatSetValue(A, k, k - 1, -1 - convection / 2, INSERT_VALUES));
    PetscCall(MatSetValue(A, k, k, 4, INSERT_VALUES));
    if (k % n < n - 1) PetscCall(MatSetValue(A, k, k + 1, -1 + convection / 2, INSERT_VALUES));
    if (k < n * (n - 1)) PetscCall(MatSetValue(A, k, k + n, -1 + convection, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));

  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(exact, random));
  PetscCall(MatMult(A, exact, b));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The solver stopped with %s", KSPConvergedReasons[reason]);
  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCall(VecNorm(exact, NORM_2, &norm));
  PetscCheck(error < 1e-4 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The relative error is %g, expected less than 1e-4", (double)(error / norm));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt done, cycles = 1;

  MPI_Init(&argc, &argv);
  for (done = 0; done < cycles; done++) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-cycles", &cycles, NULL));
    PetscCall(Solve());
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return 0;
}
