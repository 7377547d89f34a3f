static char help[] = "PCSYNCILU on several ranks against block Jacobi with PETSc's own ILU, ranks without rows, and a breakdown on one rank alone.\n\n";

#include "check.h"

/*
   Upwind convection-diffusion on a square of m^2 points, with the given number of rows on this rank; as a matrix
   of blocks of bs rows unless that is 1.
*/
static PetscErrorCode Problem(PetscInt m, PetscInt nlocal, PetscInt bs, Mat *A)
{
  PetscInt first, last;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, nlocal, nlocal, m * m, m * m));
  PetscCall(MatSetBlockSize(*A, bs));
  PetscCall(MatSetType(*A, bs > 1 ? MATBAIJ : MATAIJ));
  if (bs == 1) PetscCall(MatSetFromOptions(*A)); /* -mat_type aijcusparse, on GPUs */
  PetscCall(MatSeqAIJSetPreallocation(*A, 5, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 5, NULL, 4, NULL));
  PetscCall(MatSeqBAIJSetPreallocation(*A, bs, 5, NULL));
  PetscCall(MatMPIBAIJSetPreallocation(*A, bs, 5, NULL, 4, NULL));
  if (bs == 1) PetscCall(MatSetOption(*A, MAT_USE_INODES, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    const PetscInt x = i % m, y = i / m;

    if (x > 0) PetscCall(MatSetValue(*A, i, i - 1, -1.4, INSERT_VALUES));
    if (x < m - 1) PetscCall(MatSetValue(*A, i, i + 1, -1.0, INSERT_VALUES));
    if (y > 0) PetscCall(MatSetValue(*A, i, i - m, -1.2, INSERT_VALUES));
    if (y < m - 1) PetscCall(MatSetValue(*A, i, i + m, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, 4.6, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const solvers[] = {KSPGMRES, KSPBCGS, KSPBICG};
  const PetscInt    m         = 30;
  PetscMPIInt       rank, size;
  int               failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int layout = 0; layout < 4; layout++) {
    /* as PETSc divides the rows; none on the last rank; all on the first; as PETSc divides them, in blocks */
    PetscInt nlocal = PETSC_DECIDE;
    Mat      A;
    Vec      b, x, y;

    if (layout == 1 && size > 1) {
      nlocal = m * m / (size - 1) + (rank < m * m % (size - 1));
      if (rank == size - 1) nlocal = 0;
    }
    if (layout == 2) nlocal = rank ? 0 : m * m;
    PetscCall(Problem(m, nlocal, layout == 3 ? 2 : 1, &A));
    PetscCall(MatGetLocalSize(A, &nlocal, NULL));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecSet(b, 1.0));
    for (int s = 0; s < 3; s++) {
      for (int way = 0; way < 3; way++) {
        const char *const ways[][2] = {
          {"levels",            "0"  },
          {"levels",            "1"  },
          {"mat_ordering_type", "bmc"}
        };
        PetscInt its[2][2];

        for (int ours = 0; ours < 2; ours++) {
          KSP                ksp;
          PC                 pc;
          KSPConvergedReason reason;
          char               option[64];

          PetscCall(PetscSNPrintf(option, sizeof(option), "-%spc_factor_%s", ours ? "" : "sub_", ways[way][0]));
          PetscCall(PetscOptionsSetValue(NULL, option, ways[way][1]));
          PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
          PetscCall(KSPSetType(ksp, solvers[s]));
          PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 300));
          PetscCall(KSPSetOperators(ksp, A, A));
          PetscCall(KSPGetPC(ksp, &pc));
          PetscCall(PCSetType(pc, ours ? PCSYNCILU : PCBJACOBI));
          if (ours && layout == 0 && s == 0) PetscCall(PCSyncILUSetThreads(pc, 2));
          PetscCall(KSPSetFromOptions(ksp));
          for (int step = 0; step < 2; step++) {
            PetscCall(KSPSolve(ksp, b, x));
            PetscCall(KSPGetIterationNumber(ksp, &its[ours][step]));
            PetscCall(KSPGetConvergedReason(ksp, &reason));
            CHECK(reason > 0, "layout %d %s %s %s ours %d: %s", layout, solvers[s], ways[way][0], ways[way][1], ours, KSPConvergedReasons[reason]);
            if (ours) {
              SyncILUStatistics stats;

              PetscCall(PCSyncILUGetStatistics(pc, &stats));
              CHECK(stats.rows == nlocal && stats.analyses == 1 && stats.factorizations == (nlocal ? step + 1 : 1),
                    "rows %" PetscInt_FMT " of %" PetscInt_FMT ", %" PetscInt_FMT " analyses, %" PetscInt_FMT " factorizations", stats.rows, nlocal,
                    stats.analyses, stats.factorizations);
            }
            /* new values for the second step: every rank has another matrix */
            PetscCall(MatShift(A, step ? -1.0 : 1.0));
          }
          if (ours && s == 0 && way == 0) {
            char        text[65536], want[64];
            PetscViewer viewer;
            FILE       *f = tmpfile();
            size_t      n;

            PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, f, &viewer));
            for (int detail = 0; detail < 2; detail++) {
              PetscCall(PetscViewerPushFormat(viewer, detail ? PETSC_VIEWER_ASCII_INFO_DETAIL : PETSC_VIEWER_DEFAULT));
              PetscCall(KSPView(ksp, viewer));
              PetscCall(PetscViewerPopFormat(viewer));
            }
            PetscCall(PetscViewerDestroy(&viewer));
            rewind(f);
            n       = fread(text, 1, sizeof(text) - 1, f);
            text[n] = 0;
            fclose(f);
            if (rank == 0) {
              CHECK(strstr(text, "type: syncilu"), "the view lacks the type:\n%s", text);
              for (int r = 0; r < size && size > 1; r++) {
                PetscCall(PetscSNPrintf(want, sizeof(want), "[%d] block of rank %d\n", r, r));
                CHECK(strstr(text, want), "the detailed view lacks rank %d:\n%s", r, text);
              }
            }
          }
          PetscCall(KSPDestroy(&ksp));
          PetscCall(PetscOptionsClearValue(NULL, option));
        }
        for (int step = 0; step < 2; step++)
          CHECK(its[0][step] == its[1][step] && its[0][step] > 1, "layout %d %s %s %s step %d: %" PetscInt_FMT " iterations, block Jacobi takes %" PetscInt_FMT,
                layout, solvers[s], ways[way][0], ways[way][1], step, its[1][step], its[0][step]);
      }
    }
    /* apply, transposed and for many vectors at once, against block Jacobi */
    {
      PC        pc[2];
      PetscReal diff;

      for (int ours = 0; ours < 2; ours++) {
        PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[ours]));
        PetscCall(PCSetType(pc[ours], ours ? PCSYNCILU : PCBJACOBI));
        PetscCall(PCSetOperators(pc[ours], A, A));
        PetscCall(PCSetUp(pc[ours]));
        PetscCall(PCSetUpOnBlocks(pc[ours]));
      }
      PetscCall(PCApply(pc[0], b, x));
      PetscCall(PCApply(pc[1], b, y));
      PetscCall(CheckDifference(y, x, &diff));
      CHECK(diff <= 1e-12, "layout %d: apply differs by %g", layout, (double)diff);
      PetscCall(PCApplyTranspose(pc[0], b, x));
      PetscCall(PCApplyTranspose(pc[1], b, y));
      PetscCall(CheckDifference(y, x, &diff));
      CHECK(diff <= 1e-12, "layout %d: transposed apply differs by %g", layout, (double)diff);
      {
        Mat B, X[2];

        PetscCall(MatCreateDense(PETSC_COMM_WORLD, nlocal, PETSC_DECIDE, m * m, 3, NULL, &B));
        PetscCall(MatSetRandom(B, NULL));
        for (int ours = 0; ours < 2; ours++) {
          PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X[ours]));
          PetscCall(PCMatApply(pc[ours], B, X[ours]));
        }
        PetscCall(MatAXPY(X[1], -1.0, X[0], SAME_NONZERO_PATTERN));
        PetscCall(MatNorm(X[1], NORM_FROBENIUS, &diff));
        CHECK(diff <= 1e-10, "layout %d: many vectors differ by %g", layout, (double)diff);
        for (int ours = 0; ours < 2; ours++) PetscCall(MatDestroy(&X[ours]));
        PetscCall(MatDestroy(&B));
      }
      for (int ours = 0; ours < 2; ours++) PetscCall(PCDestroy(&pc[ours]));
    }
    /* a breakdown on one rank ends the solve on all */
    if (layout == 0) {
      KSP                ksp;
      PC                 pc;
      KSPConvergedReason reason;
      PCFailedReason     why;
      const PetscInt     row = m * m - 1;
      PetscInt           first, last;

      PetscCall(MatGetOwnershipRange(A, &first, &last));
      if (row >= first && row < last) {
        PetscCall(MatSetValue(A, row, row, 0.0, INSERT_VALUES));
        PetscCall(MatSetValue(A, row, row - 1, 0.0, INSERT_VALUES));
        PetscCall(MatSetValue(A, row, row - m, 0.0, INSERT_VALUES));
      }
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, PCSYNCILU));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(PCGetFailedReason(pc, &why));
      CHECK(reason == KSP_DIVERGED_PC_FAILED && why == PC_FACTOR_NUMERIC_ZEROPIVOT, "rank %d: %s, %d", rank, KSPConvergedReasons[reason], (int)why);
      PetscCall(KSPDestroy(&ksp));
    }
    /* an error on one rank is one on all, and no rank waits for another */
    if (layout == 0) {
      Mat            B;
      PC             pc;
      const PetscInt row = m * m - 1;
      PetscInt       first, last;

      PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, nlocal, nlocal, m * m, m * m, 1, NULL, 1, NULL, &B));
      PetscCall(MatGetOwnershipRange(B, &first, &last));
      for (PetscInt i = first; i < last; i++) PetscCall(MatSetValue(B, i, i == row ? i - 1 : i, 2.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
      PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
      PetscCall(PCSetType(pc, PCSYNCILU));
      PetscCall(PCSetOperators(pc, B, B));
      CHECK_ERROR(PCSetUp(pc), PETSC_ERR_ARG_WRONGSTATE, row >= first && row < last ? "missing the diagonal entry of row" : "The block of rank");
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  /* the upper triangles of a symmetric matrix: ICC of each rank's block, with CG */
  {
    PetscInt its[2], first, last;
    Mat      A;
    Vec      b, x;

    PetscCall(MatCreateSBAIJ(PETSC_COMM_WORLD, 1, PETSC_DECIDE, PETSC_DECIDE, m * m, m * m, 3, NULL, 2, NULL, &A));
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; i++) {
      PetscCall(MatSetValue(A, i, i, 4.1, INSERT_VALUES));
      if (i % m < m - 1) PetscCall(MatSetValue(A, i, i + 1, -1.0, INSERT_VALUES));
      if (i / m < m - 1) PetscCall(MatSetValue(A, i, i + m, -1.0, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1.0));
    for (int ours = 0; ours < 2; ours++) {
      KSP                ksp;
      PC                 pc;
      KSPConvergedReason reason;

      PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", PCICC));
      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetType(ksp, KSPCG));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, ours ? PCSYNCILU : PCBJACOBI));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its[ours]));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      CHECK(reason > 0, "sbaij, ours %d: %s", ours, KSPConvergedReasons[reason]);
      PetscCall(KSPDestroy(&ksp));
      PetscCall(PetscOptionsClearValue(NULL, "-sub_pc_type"));
    }
    CHECK(its[0] == its[1] && its[0] > 1, "sbaij: %" PetscInt_FMT " iterations, block Jacobi with ICC takes %" PetscInt_FMT, its[1], its[0]);
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  failed = CheckReport("parallel");
  PetscCall(PetscFinalize());
  return failed;
}
