static char help[] = "The host backend against PETSc's own ILU or ICC on one core: medians of the numeric phase and of MatSolve(), as ratios in one run.\n\n";

#include <petscmat.h>
#include <petscsyncilu.h>
#include <petsctime.h>
#include "bench.h"
#include "../generate.h"

enum {
  CASES = 3
};

/* A test matrix; behind a number and a star one of blocks of so many rows, with about as many rows. */
static PetscErrorCode Generate(const char *name, PetscInt n, PetscRandom rand, Mat *A)
{
  int bs, at = 0;

  PetscFunctionBegin;
  if (sscanf(name, "%d*%n", &bs, &at) == 1 && at) {
    PetscCheck(bs > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: blocks have at least one row", name);
    PetscCall(GenerateBlocks(name + at, n / bs, bs, rand, A));
  } else PetscCall(GenerateMatrix(name, n, rand, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A + A^T. PETSc is not told that it is symmetric, as in most programs. */
static PetscErrorCode MakeSymmetric(Mat *A)
{
  Mat B;

  PetscFunctionBegin;
  PetscCall(MatTranspose(*A, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatAXPY(*A, 1.0, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char  *names[16] = {"7pt", "5pt", "27pt", "7pt_rcm", "random", "2*7pt", "3*7pt", "4*7pt", "5*7pt", "8*7pt"};
  char        *given[16];
  PetscInt     n = 1030301, repeat = 15, threads = 2, count = 16, ncases = 10;
  PetscBool    set, icc = PETSC_FALSE;
  PetscRandom  rand;
  const double ms = 1e3;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Host bench", NULL);
  PetscCall(PetscOptionsInt("-n", "Rows of each matrix, about", NULL, n, &n, NULL));
  PetscCall(PetscOptionsInt("-repeat", "Repetitions, of which the median is shown", NULL, repeat, &repeat, NULL));
  PetscCall(PetscOptionsInt("-threads", "Threads of the last column", NULL, threads, &threads, NULL));
  PetscCall(PetscOptionsStringArray("-matrices", "Names of test matrices, those of blocks as 4*7pt", NULL, given, &count, &set));
  PetscCall(PetscOptionsBool("-icc", "Incomplete Cholesky factorization, of their upper triangles", NULL, icc, &icc, NULL));
  PetscOptionsEnd();
  PetscCheck(repeat > 0 && repeat <= BENCH_REPEAT_MAX, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-repeat must be from 1 to %d", BENCH_REPEAT_MAX);
  if (set) {
    ncases = count;
    for (PetscInt c = 0; c < count; c++) names[c] = given[c];
  }
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %9s %10s | %28s | %28s\n", "", "", "", "factorization", "solve"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %9s %10s | %8s %9s %9s | %8s %9s %9s\n", "matrix", "rows", "nonzeros", "petsc ms", "1 thread", "threads",
                        "petsc ms", "1 thread", "threads"));
  for (PetscInt c = 0; c < ncases; c++) {
    Mat           A, F[CASES];
    IS            row, col;
    Vec           b, x[CASES];
    MatFactorInfo info;
    MatInfo       minfo;
    BenchSample   factor[CASES], solve[CASES];
    double        mf[CASES], msol[CASES];
    PetscInt      rows;
    PetscReal     norm, diff;

    PetscCall(Generate(names[c], n, rand, &A));
    if (icc) PetscCall(MakeSymmetric(&A));
    PetscCall(MatGetSize(A, &rows, NULL));
    PetscCall(MatGetInfo(A, MAT_LOCAL, &minfo));
    PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &col));
    PetscCall(MatCreateVecs(A, &b, NULL));
    PetscCall(VecSetRandom(b, rand));
    PetscCall(MatFactorInfoInitialize(&info));
    info.fill      = 1.0;
    info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
    for (PetscInt k = 0; k < CASES; k++) {
      PetscCall(MatGetFactor(A, k ? MATSOLVERSYNCILU : MATSOLVERPETSC, icc ? MAT_FACTOR_ICC : MAT_FACTOR_ILU, &F[k]));
      factor[k].n = solve[k].n = 0;
      if (k) {
        PetscCall(MatSyncILUSetBackend(F[k], SYNCILU_BACKEND_HOST));
        PetscCall(MatSyncILUSetThreads(F[k], k == 2 ? threads : 1));
      }
      if (icc) PetscCall(MatICCFactorSymbolic(F[k], A, row, &info));
      else PetscCall(MatILUFactorSymbolic(F[k], A, row, col, &info));
      PetscCall(VecDuplicate(b, &x[k]));
    }
    /* one after another in each repetition, so that all see the same state of the machine */
    for (PetscInt r = -2; r < repeat; r++) {
      for (PetscInt k = 0; k < CASES; k++) {
        PetscLogDouble t0, t1, t2;

        PetscCall(PetscTime(&t0));
        if (icc) PetscCall(MatCholeskyFactorNumeric(F[k], A, &info));
        else PetscCall(MatLUFactorNumeric(F[k], A, &info));
        PetscCall(PetscTime(&t1));
        PetscCall(MatSolve(F[k], b, x[k]));
        PetscCall(PetscTime(&t2));
        if (r < 0) continue;
        factor[k].t[factor[k].n++] = t1 - t0;
        solve[k].t[solve[k].n++]   = t2 - t1;
      }
    }
    PetscCall(VecNorm(x[0], NORM_2, &norm));
    for (PetscInt k = 1; k < CASES; k++) {
      PetscCall(VecAXPY(x[k], -1.0, x[0]));
      PetscCall(VecNorm(x[k], NORM_2, &diff));
      PetscCheck(diff <= 1e-12 * norm, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: solutions differ by %g", names[c], (double)(diff / norm));
    }
    for (PetscInt k = 0; k < CASES; k++) {
      mf[k]   = BenchMedian(&factor[k]);
      msol[k] = BenchMedian(&solve[k]);
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-10s %9" PetscInt_FMT " %10.0f | %8.2f %8.2fx %8.2fx | %8.2f %8.2fx %8.2fx\n", names[c], rows, minfo.nz_used,
                          ms * mf[0], mf[1] / mf[0], mf[2] / mf[0], ms * msol[0], msol[1] / msol[0], msol[2] / msol[0]));
    for (PetscInt k = 0; k < CASES; k++) {
      PetscCall(MatDestroy(&F[k]));
      PetscCall(VecDestroy(&x[k]));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "times of %" PetscInt_FMT " threads and of one, over PETSc's own on one core; medians of %" PetscInt_FMT "\n",
                        threads, repeat));
  for (PetscInt k = 0; set && k < count; k++) PetscCall(PetscFree(given[k]));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFinalize());
  return 0;
}
