static char help[] = "MATSOLVERSYNCILU against PETSc's own ILU: every operation of the factor, levels of fill, orderings, shifts, missing diagonals.\n\n";

#include "check.h"

/* Factors A with PETSc's solver and with ours (in that order). */
static PetscErrorCode Factor(Mat A, const char *ordering, const MatFactorInfo *info, PetscBool nonzeros, Mat F[2])
{
  IS row, col;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatGetOrdering(A, ordering, &row, &col));
    if (nonzeros) PetscCall(MatReorderForNonzeroDiagonal(A, 1e-10, row, col));
    PetscCall(MatGetFactor(A, k ? MATSOLVERSYNCILU : MATSOLVERPETSC, MAT_FACTOR_ILU, &F[k]));
    PetscCall(MatILUFactorSymbolic(F[k], A, row, col, info));
    PetscCall(MatLUFactorNumeric(F[k], A, info));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InfoCreate(PetscInt levels, MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(info));
  info->levels      = (PetscReal)levels;
  info->fill        = 2.0;
  info->zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info->shiftamount = 100 * PETSC_MACHINE_EPSILON;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every solve of both factors, with the same result. */
static PetscErrorCode CompareSolves(Mat A, Mat F[2], PetscRandom rand, const char *name)
{
  Vec       b, y, x[2];
  Mat       B, X[2];
  PetscInt  n;
  PetscReal diff, norm;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateVecs(F[1], &x[0], &b)); /* vectors fit the factor, too */
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecDuplicate(x[0], &y));
  PetscCall(VecSetRandom(b, rand));
  PetscCall(VecSetRandom(y, rand));
  for (int op = 0; op < 6; op++) {
    for (int k = 0; k < 2; k++) {
      switch (op) {
      case 0:
        PetscCall(MatSolve(F[k], b, x[k]));
        break;
      case 1:
        PetscCall(MatSolveTranspose(F[k], b, x[k]));
        break;
      case 2:
        PetscCall(MatSolveAdd(F[k], b, y, x[k]));
        break;
      case 3:
        PetscCall(MatSolveTransposeAdd(F[k], b, y, x[k]));
        break;
      case 4: /* y += inv(F) b */
        PetscCall(VecCopy(y, x[k]));
        PetscCall(MatSolveAdd(F[k], b, x[k], x[k]));
        break;
      default:
        PetscCall(VecCopy(y, x[k]));
        PetscCall(MatSolveTransposeAdd(F[k], b, x[k], x[k]));
      }
    }
    PetscCall(CheckDifference(x[1], x[0], &diff));
    CHECK(diff <= 1e-12, "%s: operation %d differs from PETSc's by %g", name, op, (double)diff);
  }
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 10, NULL, &B));
  PetscCall(MatSetRandom(B, rand));
  for (int trans = 0; trans < 2; trans++) {
    for (int k = 0; k < 2; k++) {
      PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X[k]));
      if (trans) PetscCall(MatMatSolveTranspose(F[k], B, X[k]));
      else PetscCall(MatMatSolve(F[k], B, X[k]));
    }
    PetscCall(MatNorm(X[0], NORM_FROBENIUS, &norm));
    PetscCall(MatAXPY(X[1], -1.0, X[0], SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(X[1], NORM_FROBENIUS, &diff));
    CHECK(diff <= 1e-12 * norm, "%s: many right-hand sides differ from PETSc's by %g, transposed %d", name, (double)(diff / norm), trans);
    for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&X[k]));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOrderingsAndLevels(PetscRandom rand)
{
  const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND, MATORDERING1WD, MATORDERINGQMD, MATORDERINGBMC, MATORDERINGSYNCILU};

  PetscFunctionBegin;
  for (int m = 0; GeneratePatterns[m]; m++) {
    Mat A;

    PetscCall(GenerateMatrix(GeneratePatterns[m], 100, rand, &A));
    for (int o = 0; o < (int)PETSC_STATIC_ARRAY_LENGTH(orderings); o++) {
      for (PetscInt levels = 0; levels < 4; levels++) {
        Mat           F[2];
        MatFactorInfo info;
        MatInfo       got[2];
        char          name[128];

        PetscCall(PetscSNPrintf(name, sizeof(name), "%s %s levels %" PetscInt_FMT, GeneratePatterns[m], orderings[o], levels));
        PetscCall(InfoCreate(levels, &info));
        PetscCall(Factor(A, orderings[o], &info, PETSC_FALSE, F));
        PetscCall(CompareSolves(A, F, rand, name));
        for (int k = 0; k < 2; k++) PetscCall(MatGetInfo(F[k], MAT_LOCAL, &got[k]));
        CHECK(got[0].nz_used == got[1].nz_used, "%s: %g entries, PETSc has %g", name, got[1].nz_used, got[0].nz_used);
        CHECK(PetscAbsReal(got[0].fill_ratio_needed - got[1].fill_ratio_needed) < 1e-12, "%s: fill %g, PETSc has %g", name, got[1].fill_ratio_needed,
              got[0].fill_ratio_needed);
        CHECK(got[0].fill_ratio_given == got[1].fill_ratio_given, "%s: fill given %g, PETSc has %g", name, got[1].fill_ratio_given, got[0].fill_ratio_given);
        for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&F[k]));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix whose elimination meets pivots that are zero, tiny or negative. */
static PetscErrorCode BadPivots(PetscInt n, PetscRandom rand, Mat *A)
{
  Vec          d;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", n, rand, A));
  PetscCall(MatCreateVecs(*A, &d, NULL));
  PetscCall(MatGetDiagonal(*A, d));
  PetscCall(VecGetSize(d, &n));
  PetscCall(VecGetArray(d, &v));
  v[0] = 0.0;
  for (PetscInt i = 7; i < n; i += 23) v[i] = -0.3 * v[i];
  for (PetscInt i = 11; i < n; i += 31) v[i] = 0.0;
  PetscCall(VecRestoreArray(d, &v));
  PetscCall(MatDiagonalSet(*A, d, INSERT_VALUES));
  PetscCall(VecDestroy(&d));
  PetscCall(MatSetOption(*A, MAT_USE_INODES, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestShifts(PetscRandom rand)
{
  const MatFactorShiftType types[]   = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
  const PetscReal          amounts[] = {0.0, 1e-3, 0.5};

  PetscFunctionBegin;
  for (int t = 0; t < 3; t++) {
    for (int a = 0; a < 3; a++) {
      for (PetscInt levels = 0; levels < 2; levels++) {
        for (int o = 0; o < 2; o++) {
          Mat               A, F[2];
          MatFactorInfo     info;
          SyncILUStatistics s;
          char              name[128];

          PetscCall(BadPivots(343, rand, &A));
          PetscCall(InfoCreate(levels, &info));
          info.shifttype = (PetscReal)types[t];
          if (amounts[a] > 0) info.shiftamount = amounts[a];
          PetscCall(
            PetscSNPrintf(name, sizeof(name), "shift %s amount %g levels %" PetscInt_FMT, MatFactorShiftTypes[types[t]], (double)info.shiftamount, levels));
          PetscCall(Factor(A, o ? MATORDERINGRCM : MATORDERINGNATURAL, &info, PETSC_FALSE, F));
          PetscCall(CompareSolves(A, F, rand, name));
          PetscCall(MatSyncILUGetStatistics(F[1], &s));
          CHECK(s.failed_row < 0, "%s: failed in row %" PetscInt_FMT, name, s.failed_row);
          CHECK(s.pivots_shifted > 0 && s.shift_amount > 0, "%s: nothing was shifted", name);
          CHECK(types[t] == MAT_SHIFT_INBLOCKS ? s.pivots_shifted < s.rows : s.pivots_shifted == s.rows, "%s: %" PetscInt_FMT " pivots shifted", name,
                s.pivots_shifted);
          for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&F[k]));
          PetscCall(MatDestroy(&A));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shift of amount zero would be tried forever; it is a breakdown, as is a matrix no shift makes finite. */
static PetscErrorCode TestShiftsEnd(PetscRandom rand)
{
  Mat            A, F;
  MatFactorInfo  info;
  MatFactorError err;
  IS             row, col;

  PetscFunctionBegin;
  for (int inf = 0; inf < 2; inf++) {
    for (int t = 0; t < 3; t++) {
      const MatFactorShiftType types[] = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};

      PetscCall(BadPivots(27, rand, &A));
      if (inf) {
        PetscCall(MatSetValue(A, 4, 3, (PetscScalar)INFINITY, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      } else if (t == 1) {
        PetscCall(MatDestroy(&A)); /* that shift has an amount of its own */
        continue;
      }
      PetscCall(InfoCreate(0, &info));
      info.shifttype   = (PetscReal)types[t];
      info.shiftamount = inf ? 1e-10 : 0.0;
      PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &col));
      PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
      PetscCall(MatILUFactorSymbolic(F, A, row, col, &info));
      PetscCall(MatLUFactorNumeric(F, A, &info));
      PetscCall(MatFactorGetError(F, &err));
      CHECK(err == MAT_FACTOR_NUMERIC_ZEROPIVOT, "%s with %s: error %d", MatFactorShiftTypes[types[t]], inf ? "Inf in the matrix" : "amount zero", (int)err);
      PetscCall(MatDestroy(&F));
      PetscCall(ISDestroy(&row));
      PetscCall(ISDestroy(&col));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every third row lacks its diagonal entry. Added, the factor is that of the matrix with explicit zeros. */
static PetscErrorCode TestDiagonalFill(PetscRandom rand)
{
  Mat             A, B, F, G;
  const PetscInt *ai, *aj;
  PetscScalar    *a;
  PetscInt        n, *bi, *bj, nz = 0, missing = 0;
  PetscScalar    *ba;
  PetscBool       done;
  Vec             b, x, y;
  PetscReal       diff;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("5pt", 400, rand, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ai, &aj, &done));
  PetscCall(MatSeqAIJGetArray(A, &a));
  PetscCall(PetscMalloc3(n + 1, &bi, ai[n], &bj, ai[n], &ba));
  bi[0] = 0;
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; k++) {
      if (aj[k] == i && i % 3 == 1) {
        a[k] = 0.0;
        missing++;
        continue;
      }
      bj[nz]   = aj[k];
      ba[nz++] = a[k];
    }
    bi[i + 1] = nz;
  }
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, NULL, &ai, &aj, &done));
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, bi, bj, ba, &B));
  PetscCall(MatCreateVecs(A, &b, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, rand));
  for (PetscInt levels = 0; levels < 3; levels++) {
    for (int o = 0; o < 2; o++) {
      MatFactorInfo     info;
      IS                row, col;
      SyncILUStatistics s;

      PetscCall(InfoCreate(levels, &info));
      PetscCall(MatGetOrdering(A, o ? MATORDERINGRCM : MATORDERINGNATURAL, &row, &col));
      PetscCall(MatGetFactor(A, MATSOLVERPETSC, MAT_FACTOR_ILU, &F));
      PetscCall(MatGetFactor(B, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &G));
      PetscCall(MatILUFactorSymbolic(F, A, row, col, &info));
      PetscCall(MatLUFactorNumeric(F, A, &info));
      info.diagonal_fill = 1.0;
      PetscCall(MatILUFactorSymbolic(G, B, row, col, &info));
      PetscCall(MatLUFactorNumeric(G, B, &info));
      PetscCall(MatSyncILUGetStatistics(G, &s));
      CHECK(s.failed_row < 0, "levels %" PetscInt_FMT ": failed in row %" PetscInt_FMT, levels, s.failed_row);
      CHECK(s.diagonals_added == missing, "levels %" PetscInt_FMT ": %" PetscInt_FMT " diagonals added, %" PetscInt_FMT " are missing", levels,
            s.diagonals_added, missing);
      PetscCall(MatSolve(F, b, x));
      PetscCall(MatSolve(G, b, y));
      PetscCall(CheckDifference(y, x, &diff));
      CHECK(diff <= 1e-12, "levels %" PetscInt_FMT ": differs from explicit zeros by %g", levels, (double)diff);
      PetscCall(ISDestroy(&row));
      PetscCall(ISDestroy(&col));
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&G));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(PetscFree3(bi, bj, ba));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neighbouring columns exchanged: zeros on the diagonal, which the ordering removes. */
static PetscErrorCode TestNonzeroDiagonal(PetscRandom rand)
{
  const PetscInt n = 200;
  Mat            A, F[2];
  MatFactorInfo  info;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 4, NULL, &A));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatSetValue(A, i, i, 0.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i ^ 1, 4.0 + (PetscReal)(i % 5), INSERT_VALUES));
    if (i >= 2) PetscCall(MatSetValue(A, i, (i - 2) ^ 1, -1.0, INSERT_VALUES));
    if (i + 2 < n) PetscCall(MatSetValue(A, i, (i + 2) ^ 1, -1.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (PetscInt levels = 0; levels < 2; levels++) {
    PetscCall(InfoCreate(levels, &info));
    for (int o = 0; o < 2; o++) {
      MatFactorError err;

      PetscCall(Factor(A, o ? MATORDERINGRCM : MATORDERINGNATURAL, &info, PETSC_TRUE, F));
      /* PETSc's own takes the changed natural ordering for the identity, and fails */
      if (o) PetscCall(CompareSolves(A, F, rand, "nonzero diagonal"));
      PetscCall(MatFactorGetError(F[1], &err));
      CHECK(!err, "nonzero diagonal, levels %" PetscInt_FMT ": error %d", levels, (int)err);
      for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&F[k]));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view and the statistics tell what is there. */
static PetscErrorCode TestView(PetscRandom rand)
{
  Mat               A, F;
  MatFactorInfo     info;
  IS                row, col;
  char              text[8192];
  SyncILUStatistics s;
  PetscInt          major, minor, patch;

  PetscFunctionBegin;
  PetscCall(SyncILUGetVersion(&major, &minor, &patch));
  CHECK(major == SYNCILU_VERSION_MAJOR && minor == SYNCILU_VERSION_MINOR && patch == SYNCILU_VERSION_PATCH, "version of library and header differ");
  PetscCall(GenerateMatrix("7pt", 1000, rand, &A));
  PetscCall(InfoCreate(0, &info));
  PetscCall(MatGetOrdering(A, MATORDERINGNATURAL, &row, &col));
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
  PetscCall(MatSyncILUSetThreads(F, 2));
  PetscCall(MatILUFactorSymbolic(F, A, row, col, &info));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatSyncILUGetStatistics(F, &s));
  /* the levels of a 10 x 10 x 10 grid are its diagonal planes */
  CHECK(s.rows == 1000 && s.levels[0] == 28 && s.levels[1] == 28 && s.level_rows[0] == 75 && s.level_rows[1] == 75,
        "rows %" PetscInt_FMT " levels %" PetscInt_FMT " width %" PetscInt_FMT, s.rows, s.levels[0], s.level_rows[0]);
  CHECK(s.nonzeros == 6400 && s.fill == 1.0, "nonzeros %" PetscInt64_FMT " fill %g", s.nonzeros, (double)s.fill);
  CHECK(s.backend == SYNCILU_BACKEND_HOST && s.threads == 2 && s.analyses == 1 && s.factorizations == 1, "threads %" PetscInt_FMT, s.threads);
  CHECK(s.bytes > (PetscInt64)(6400 * sizeof(PetscScalar)) && s.bytes < (PetscInt64)(3 * 6400 * (sizeof(PetscScalar) + sizeof(PetscInt))),
        "bytes %" PetscInt64_FMT, s.bytes);
  PetscCall(CheckView((PetscObject)F, PETSC_VIEWER_ASCII_INFO, text, sizeof(text)));
  for (int k = 0; k < 6; k++) {
    const char *const want[] = {"backend: host (auto", "threads: 2", "nonzeros: 6400, fill 1", "levels: L 28 (rows a level: mean 35.7143, max 75), U 28",
                                "pivots shifted: 0",   "bytes held"};

    CHECK(strstr(text, want[k]), "view lacks \"%s\":\n%s", want[k], text);
  }
  CHECK(!strstr(text, "symbolic phases"), "details without detail");
  PetscCall(CheckView((PetscObject)F, PETSC_VIEWER_ASCII_INFO_DETAIL, text, sizeof(text)));
  CHECK(strstr(text, "symbolic phases: 1, numeric phases: 1"), "detailed view lacks the phases:\n%s", text);
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   What the log is told of a factorization of a tridiagonal matrix: an update, a quotient and a reciprocal a
   row, but for the first.
*/
static PetscErrorCode TestFlops(PetscRandom rand)
{
  const PetscInt n = 100;
  Mat            A;
  PC             pc;
  PetscLogDouble flops[2];

  PetscFunctionBegin;
  PetscCall(PetscLogDefaultBegin());
  PetscCall(GenerateMatrix("tridiagonal", n, rand, &A));
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_HOST, &pc));
  PetscCall(PetscGetFlops(&flops[0]));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscGetFlops(&flops[1]));
  CHECK(flops[1] - flops[0] == PETSC_FLOPS_PER_OP * (2.0 * (n - 1) + (n - 1) + n), "%g flops are logged", flops[1] - flops[0]);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(TestOrderingsAndLevels(rand));
  PetscCall(TestShifts(rand));
  PetscCall(TestShiftsEnd(rand));
  PetscCall(TestDiagonalFill(rand));
  PetscCall(TestNonzeroDiagonal(rand));
  PetscCall(TestView(rand));
  PetscCall(TestFlops(rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("factor");
  PetscCall(PetscFinalize());
  return failed;
}
