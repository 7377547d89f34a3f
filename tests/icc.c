static char help[] = "ICC: the host backend against the serial reference bit for bit, that against ILU of both triangles, and all against PETSc's own ICC.\n\n";

#include "check.h"
#include "case.h"
#include "problem.h"

/* A + A^T of a test matrix: symmetric, and as diagonally dominant. */
static PetscErrorCode Symmetric(const char *pattern, PetscInt n, PetscRandom rand, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, n, rand, A));
  PetscCall(GenerateSum(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same values in another type. */
static PetscErrorCode UpperTriangle(Mat A, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE)); /* which the conversion asks for */
  PetscCall(MatConvert(A, MATSEQSBAIJ, MAT_INITIAL_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestHost(const Case *c, const char *name, SyncILUAnalysis analysis, PetscInt threads)
{
  SyncILUSettings    settings;
  SyncILUEngine      e;
  SyncILUSource      source;
  SyncILUStatus      status;
  SyncILUStatistics  s;
  Arrays             arrays = {&c->csr, NULL};
  MatFactorInfo      info;
  const PetscScalar *val[3];
  PetscScalar       *ref, *x, *y;
  char               text[128];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s, analysis %s, %" PetscInt_FMT " threads", name, SyncILUAnalyses[analysis], threads));
  SyncILUSettingsInitialize(&settings);
  settings.backend   = SYNCILU_BACKEND_HOST;
  settings.symmetric = PETSC_TRUE;
  settings.analysis  = analysis;
  settings.threads   = threads;
  settings.relax     = c->piv.relax;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineCreate(&settings, c->n, &source, c->pattern.row, c->pattern.col, c->fill, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  PetscCall(PetscMalloc3(c->nu + c->n, &ref, c->ld * NRHS, &x, c->n, &y));
  PetscCall(SyncILUReferenceFactorHalf(&c->pattern, &c->csr, &c->piv, ref, ref + c->nu, &status));
  for (int run = 0; run < 2; run++) {
    PetscBool same[2];

    PetscCall(EngineFactor(e, &c->csr, NULL, &info));
    CHECK(e->status.row < 0 && status.row < 0, "%s: zero pivot in row %" PetscInt_FMT ", in the reference %" PetscInt_FMT, text, e->status.row, status.row);
    PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
    PetscCall(PetscArraycmp(val[1], ref, c->nu, &same[0]));
    PetscCall(PetscArraycmp(val[2], ref + c->nu, c->n, &same[1]));
    CHECK(same[0] && same[1] && !val[0], "%s: the factor differs from the reference's, U %d D %d", text, same[0], same[1]);
    for (int t = 0; t < 2; t++) {
      for (PetscInt nrhs = 1; nrhs <= NRHS; nrhs += NRHS - 1) {
        for (int inplace = 0; inplace < 2; inplace++) {
          if (inplace) PetscCall(PetscArraycpy(x, c->b, c->ld * NRHS));
          PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, nrhs, inplace ? x : c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
          for (PetscInt k = 0; k < nrhs; k++) {
            PetscInt row;

            PetscCall(SyncILUReferenceSolveHalf(&c->pattern, ref, ref + c->nu, c->b + k * c->ld, y));
            row = SolutionFirstDifference(c->n, x + k * c->ld, y, 0.0);
            CHECK(row == c->n, "%s: row %" PetscInt_FMT " of solution %" PetscInt_FMT " of %" PetscInt_FMT " differs", text, row, k, nrhs);
            /* ILU of both triangles, which c has, is the same up to rounding */
            row = SolutionFirstDifference(c->n, x + k * c->ld, c->x[t] + k * c->ld, 1e-12);
            CHECK(row == c->n, "%s: row %" PetscInt_FMT " of a solution differs from that with ILU", text, row);
          }
        }
      }
    }
  }
  PetscCall(PetscMemzero(&s, sizeof(s)));
  PetscCall(SyncILUEngineStatistics(e, &s));
  CHECK(s.nonzeros == (PetscInt64)c->nu + c->n, "%s: %" PetscInt64_FMT " nonzeros", text, s.nonzeros);
  PetscCall(PetscFree3(ref, x, y));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool checked = PETSC_TRUE; /* with -pc_syncilu_check, for which both triangles are made of the upper one */

/* Our ICC and PETSc's of the same matrix, which may have its upper triangle alone or another lower one. */
static PetscErrorCode TestPETSc(Mat A, Mat petsc, const char *ordering, PetscInt levels, MatFactorShiftType shift, SyncILUBackend backend, PetscRandom rand,
                                const char *name)
{
  Mat           F[2];
  Vec           b, x[2];
  MatFactorInfo info;
  PetscReal     diff;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels      = (PetscReal)levels;
  info.fill        = 1.0;
  info.zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = 0.01;
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(b, &x[1]));
  PetscCall(VecSetRandom(b, rand));
  for (int k = 0; k < 2; k++) {
    IS row, col;

    PetscCall(MatGetOrdering(petsc, ordering, &row, &col));
    PetscCall(MatGetFactor(k ? A : petsc, k ? MATSOLVERSYNCILU : MATSOLVERPETSC, MAT_FACTOR_ICC, &F[k]));
    if (k) PetscCall(MatSyncILUSetBackend(F[k], backend));
    if (k) PetscCall(MatSyncILUSetCheck(F[k], (PetscBool)(checked && levels != 2)));
    PetscCall(MatICCFactorSymbolic(F[k], k ? A : petsc, row, &info));
    PetscCall(MatCholeskyFactorNumeric(F[k], k ? A : petsc, &info));
    PetscCall(MatSolve(F[k], b, x[k]));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
  }
  PetscCall(CheckDifference(x[1], x[0], &diff));
  CHECK(diff <= 1e-12, "%s: the solution differs from PETSc's by %g", name, (double)diff);
  PetscCall(MatSolveTranspose(F[1], b, x[1]));
  PetscCall(CheckDifference(x[1], x[0], &diff));
  CHECK(diff <= 1e-12, "%s: the transposed solution differs from PETSc's by %g", name, (double)diff);
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(MatDestroy(&F[k]));
  }
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMatrices(PetscRandom rand, PetscBool device, PetscBool small)
{
  const char *const     patterns[]  = {"7pt", "random", "arrow", "triangles_rcm", "powerlaw", "tridiagonal", "elasticity"};
  const char *const     orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGBMC};
  const SyncILUAnalysis orders[]    = {SYNCILU_ANALYSIS_NONE, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP};
  const PetscInt        rows[]      = {0, 1, 33, 400};

  PetscFunctionBegin;
  for (int m = 0; m < (int)PETSC_STATIC_ARRAY_LENGTH(patterns); m++) {
    for (int k = 0; k < (int)PETSC_STATIC_ARRAY_LENGTH(rows) - (int)small; k++) {
      Mat A, B;

      PetscCall(Symmetric(patterns[m], rows[k], rand, &A));
      for (int o = 0; o < (rows[k] ? 3 : 1); o++) {
        for (PetscInt levels = 0; levels < 3; levels++) {
          char name[128];

          if (rows[k] > 40 && levels && (m == 2 || m == 4)) continue; /* they fill up */
          for (int relax = 0; relax < 2; relax++) {
            Case c;

            PetscCall(PetscSNPrintf(name, sizeof(name), "%s n %" PetscInt_FMT ", %s, levels %" PetscInt_FMT ", relax %d", patterns[m], rows[k], orderings[o],
                                    levels, relax));
            PetscCall(CaseCreate(A, orderings[o], levels, 0.7 * relax, rand, &c));
            PetscCall(TestHost(&c, name, orders[(m + o) % 3], 1 + 2 * ((m + levels + relax) % 2)));
            PetscCall(CaseDestroy(&c));
          }
          if (!rows[k]) continue;
          PetscCall(TestPETSc(A, A, orderings[o], levels, MAT_SHIFT_NONE, SYNCILU_BACKEND_HOST, rand, name));
          if (device) PetscCall(TestPETSc(A, A, orderings[o], levels, MAT_SHIFT_NONE, SYNCILU_BACKEND_CUDA, rand, name));
        }
      }
      if (rows[k]) {
        PetscCall(UpperTriangle(A, &B));
        for (PetscInt levels = 0; levels < 2; levels++) {
          if (rows[k] > 40 && levels && (m == 2 || m == 4)) continue;
          PetscCall(TestPETSc(B, B, MATORDERINGNATURAL, levels, MAT_SHIFT_NONE, SYNCILU_BACKEND_HOST, rand, "sbaij"));
          PetscCall(TestPETSc(B, A, MATORDERINGRCM, levels, MAT_SHIFT_NONE, SYNCILU_BACKEND_HOST, rand, "sbaij, another ordering"));
          if (device) PetscCall(TestPETSc(B, B, MATORDERINGNATURAL, levels, MAT_SHIFT_NONE, SYNCILU_BACKEND_CUDA, rand, "sbaij"));
        }
        /* known to be symmetric, for one more time */
        PetscCall(TestPETSc(A, A, MATORDERINGRCM, 0, MAT_SHIFT_NONE, SYNCILU_BACKEND_HOST, rand, "known to be symmetric"));
        if (device) PetscCall(TestPETSc(A, A, MATORDERINGRCM, 0, MAT_SHIFT_NONE, SYNCILU_BACKEND_CUDA, rand, "known to be symmetric"));
        PetscCall(MatDestroy(&B));
      }
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An indefinite matrix: every shift does what it does in PETSc. */
static PetscErrorCode TestShifts(PetscRandom rand, PetscBool device)
{
  const MatFactorShiftType shifts[] = {MAT_SHIFT_NONE, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_NONZERO, MAT_SHIFT_INBLOCKS};
  Mat                      A;
  Vec                      d;
  PetscScalar             *v;
  PetscInt                 n;

  PetscFunctionBegin;
  PetscCall(Symmetric("7pt", 343, rand, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateVecs(A, &d, NULL));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(VecGetArray(d, &v));
  for (PetscInt i = 5; i < n; i += 37) v[i] = -0.4 * v[i];
  PetscCall(VecRestoreArray(d, &v));
  PetscCall(MatDiagonalSet(A, d, INSERT_VALUES));
  PetscCall(VecDestroy(&d));
  for (int s = 0; s < 4; s++) {
    char name[64];

    PetscCall(PetscSNPrintf(name, sizeof(name), "shift %s", MatFactorShiftTypes[shifts[s]]));
    for (PetscInt levels = 0; levels < 2; levels++) {
      PetscCall(TestPETSc(A, A, MATORDERINGNATURAL, levels, shifts[s], SYNCILU_BACKEND_HOST, rand, name));
      PetscCall(TestPETSc(A, A, MATORDERINGRCM, levels, shifts[s], SYNCILU_BACKEND_HOST, rand, name));
      if (device) PetscCall(TestPETSc(A, A, MATORDERINGNATURAL, levels, shifts[s], SYNCILU_BACKEND_CUDA, rand, name));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One triangle on a device: what is switched on later that it cannot do, and a pattern that is not what PETSc
   was told.
*/
static PetscErrorCode TestDevice(PetscRandom rand)
{
  Mat                A;
  Case               c[2];
  SyncILUSettings    settings;
  SyncILUEngine      e;
  MatFactorInfo      info;
  const PetscScalar *val[3];
  char               view[2048];
  Arrays             arrays = {NULL, NULL};
  SyncILUSource      source;

  PetscFunctionBegin;
  PetscCall(Symmetric("27pt", 343, rand, &A));
  for (int k = 0; k < 2; k++) PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.8 * k, rand, &c[k]));
  SyncILUSettingsInitialize(&settings);
  settings.backend   = SYNCILU_BACKEND_CUDA;
  settings.update    = SYNCILU_UPDATE_LIST;
  settings.symmetric = PETSC_TRUE;
  PetscCall(EngineCreate(&settings, &c[0], &e));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c[0].piv.zeropivot;
  for (int k = 0; k < 4; k++) { /* relaxed, and then no more */
    const int relaxed = k == 1 || k == 2;

    e->settings.relax = c[relaxed].piv.relax;
    PetscCall(EngineFactor(e, &c[0].csr, NULL, &info));
    PetscCall(EngineView(e, view, sizeof(view)));
    CHECK(e->status.row < 0 && e->analyses == 1 + (k > 0) + (k > 2), "run %d: row %" PetscInt_FMT " rejected, plan %" PetscInt_FMT, k, e->status.row,
          e->analyses);
    CHECK(strstr(view, relaxed ? "symmetric: both triangles are factored, since relaxation" : "symmetric: one triangle is factored"), "run %d:\n%s", k, view);
    PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
    CHECK(FactorFirstDifference(&c[relaxed], val[0], val[1], val[2], 1e-12) == c[0].n, "run %d: the factor differs from the reference", k);
  }
  PetscCall(SyncILUEngineDestroy(&e));
  for (int k = 0; k < 2; k++) PetscCall(CaseDestroy(&c[k]));
  PetscCall(MatDestroy(&A));
  /* as many entries on either side, but not the same ones */
  PetscCall(GenerateMatrix("27pt", 343, rand, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatSetValue(A, 342, 0, 0.1, INSERT_VALUES));
  PetscCall(MatSetValue(A, 1, 341, 0.1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c[0]));
  arrays.host = &c[0].csr;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineCreate(&settings, c[0].n, &source, NULL, NULL, c[0].fill, &e));
  PetscCall(EngineFactor(e, &c[0].csr, NULL, &info));
  PetscCall(EngineView(e, view, sizeof(view)));
  CHECK(strstr(view, "symmetric: both triangles are factored, since the pattern is not symmetric"), "got:\n%s", view);
  CHECK(e->status.row < 0, "row %" PetscInt_FMT " rejected", e->status.row);
  PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
  CHECK(FactorFirstDifference(&c[0], val[0], val[1], val[2], 1e-12) == c[0].n, "an unsymmetric pattern: the factor differs from the reference");
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(CaseDestroy(&c[0]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The upper triangle counts, as in PETSc; a pattern without symmetry and blocks are refused. */
static PetscErrorCode TestMatrixKinds(PetscRandom rand, PetscBool device)
{
  Mat           A, B, F;
  MatFactorInfo info;
  PetscInt      n;

  PetscFunctionBegin;
  PetscCall(Symmetric("random", 200, rand, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatGetSize(A, &n, NULL));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt    *col;
    const PetscScalar *val;
    PetscInt           len;

    PetscCall(MatGetRow(A, i, &len, &col, &val));
    for (PetscInt k = 0; k < len && col[k] < i; k++) PetscCall(MatSetValue(B, i, col[k], 7.0 * val[k], INSERT_VALUES));
    PetscCall(MatRestoreRow(A, i, &len, &col, &val));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(TestPETSc(B, B, MATORDERINGNATURAL, 0, MAT_SHIFT_NONE, SYNCILU_BACKEND_HOST, rand, "another lower triangle"));
  PetscCall(TestPETSc(B, A, MATORDERINGRCM, 1, MAT_SHIFT_NONE, SYNCILU_BACKEND_HOST, rand, "another lower triangle, another ordering"));
  for (int k = 0; k < 4 && device; k++) {
    checked = (PetscBool)(k % 2);
    PetscCall(TestPETSc(B, B, MATORDERINGNATURAL, k / 2, MAT_SHIFT_POSITIVE_DEFINITE, SYNCILU_BACKEND_CUDA, rand, "another lower triangle on a device"));
    PetscCall(TestPETSc(B, A, MATORDERINGRCM, k / 2, MAT_SHIFT_NONE, SYNCILU_BACKEND_CUDA, rand, "another lower triangle and ordering on a device"));
  }
  checked = PETSC_TRUE;
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));

  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1.0;
  for (int lower = 0; lower < 2; lower++) {
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 5, 5, 3, NULL, &A));
    for (PetscInt i = 0; i < 5; i++) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, lower ? 3 : 1, lower ? 1 : 3, 1.0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ICC, &F));
    CHECK_ERROR(MatICCFactorSymbolic(F, A, NULL, &info), PETSC_ERR_ARG_WRONG,
                lower ? "row 3 has an entry in column 1, row 1 has none in column 3" : "row 1 has an entry in column 3, row 3 has none in column 1");
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  /* symmetric values in a pattern that is not: PETSc may know that it is symmetric */
  for (int lower = 0; lower < 2; lower++) {
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 5, 5, 3, NULL, &A));
    for (PetscInt i = 0; i < 5; i++) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, 2, 4, 1.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, 4, 2, 1.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, lower ? 3 : 1, lower ? 1 : 3, 0.0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ICC, &F));
    PetscCall(MatSyncILUSetBackend(F, SYNCILU_BACKEND_HOST));
    CHECK_ERROR(MatICCFactorSymbolic(F, A, NULL, &info), PETSC_ERR_ARG_WRONG,
                lower ? "row 3 has an entry in column 1, row 1 has none in column 3" : "row 1 has an entry in column 3, row 3 has none in column 1");
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  { /* rows and columns in different orders */
    const PetscInt turned[] = {1, 2, 3, 4, 0};
    IS             row, col;

    PetscCall(Tridiagonal(5, 0, 4.0, -1.0, &A));
    PetscCall(ISCreateStride(PETSC_COMM_SELF, 5, 0, 1, &row));
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, 5, turned, PETSC_COPY_VALUES, &col));
    PetscCall(ISSetPermutation(row));
    PetscCall(ISSetPermutation(col));
    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
    PetscCall(MatSyncILUSetSymmetric(F, PETSC_TRUE));
    info.diagonal_fill = 1.0;
    CHECK_ERROR(MatILUFactorSymbolic(F, A, row, col, &info), PETSC_ERR_ARG_WRONG, "in the same ordering");
    info.diagonal_fill = 0.0;
    PetscCall(MatDestroy(&F));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
    if (PetscDefined(USE_COMPLEX)) {
      PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
      PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ICC, &F));
      CHECK_ERROR(MatICCFactorSymbolic(F, A, NULL, &info), PETSC_ERR_SUP, "not for Hermitian ones");
      PetscCall(MatDestroy(&F));
    }
    PetscCall(MatDestroy(&A));
  }
  /* nobody has asked for syncilu, nor PETSc for ICC */
  PetscCall(MatCreateSeqSBAIJ(PETSC_COMM_SELF, 1, 3, 3, 1, NULL, &A));
  for (PetscInt i = 0; i < 3; i++) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
  CHECK_ERROR(MatILUFactorSymbolic(F, A, NULL, NULL, &info), PETSC_ERR_SUP, "seqsbaij has ICC alone");
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateSeqSBAIJ(PETSC_COMM_SELF, 2, 6, 6, 2, NULL, &A));
  for (PetscInt i = 0; i < 6; i++) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ICC, &F));
  CHECK_ERROR(MatICCFactorSymbolic(F, A, NULL, &info), PETSC_ERR_SUP, "the matrix of type seqsbaij has blocks of 2 rows");
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  /* a row without its diagonal */
  PetscCall(MatCreateSeqSBAIJ(PETSC_COMM_SELF, 1, 3, 3, 2, NULL, &A));
  for (PetscInt i = 0; i < 3; i += 2) PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
  PetscCall(MatSetValue(A, 1, 2, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ICC, &F));
  CHECK_ERROR(MatICCFactorSymbolic(F, A, NULL, &info), PETSC_ERR_ARG_WRONGSTATE, "missing the diagonal entry of row 1");
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CG takes the iterations of PETSc's ICC; the matrix is factored once, and again for new values. */
static PetscErrorCode TestIterations(PetscRandom rand)
{
  const char *const options[] = {"",
                                 "-pc_factor_levels 1",
                                 "-pc_factor_levels 2 -pc_factor_mat_ordering_type rcm",
                                 "-pc_factor_mat_ordering_type bmc",
                                 "-pc_factor_shift_type none",
                                 "-pc_factor_shift_type nonzero -pc_factor_zeropivot 0.1 -pc_factor_shift_amount 0.2"};
  const char *const ours[]    = {"-pc_factor_mat_solver_type syncilu -pc_syncilu_check", "-pc_factor_mat_solver_type syncilu -pc_syncilu_threads 3",
                                 "-pc_factor_mat_solver_type syncilu -pc_syncilu_relax 0"};
  Problem           p, half;
  PetscInt          its[2];
  char              all[512], *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  PetscCall(ProblemCreate(12, 0.0, &p));
  PetscCall(ProblemCreate(12, 0.0, &half));
  {
    Mat A = half.A;

    PetscCall(UpperTriangle(A, &half.A));
    PetscCall(MatDestroy(&A));
  }
  for (int o = 0; o < (int)PETSC_STATIC_ARRAY_LENGTH(options); o++) {
    for (int k = 0; k < 3; k++) {
      PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type cg -pc_type icc %s", options[o]));
      PetscCall(SolveWith(&p, all, &its[0], NULL));
      PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type cg -pc_type icc %s %s", ours[k], options[o]));
      PetscCall(SolveWith(&p, all, &its[1], NULL));
      CHECK(its[1] == its[0] && its[0] > 3 && its[0] < 500, "%s: %" PetscInt_FMT " iterations, PETSc takes %" PetscInt_FMT, all, its[1], its[0]);
      if (o < 2) {
        PetscCall(SolveWith(&half, all, &its[1], NULL));
        CHECK(its[1] == its[0], "sbaij, %s: %" PetscInt_FMT " iterations, PETSc takes %" PetscInt_FMT, all, its[1], its[0]);
      }
    }
  }
  for (int o = 0; o < 2; o++) {
    const char *const more[] = {"", " -pc_factor_levels 1 -pc_factor_mat_ordering_type bmc"};

    PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type cg -pc_type icc%s", more[o]));
    PetscCall(SolveWith(&p, all, &its[0], NULL));
    PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type cg -pc_type syncilu -pc_syncilu_symmetric%s", more[o]));
    PetscCall(SolveWith(&p, all, &its[1], NULL));
    CHECK(its[1] == its[0], "%s: %" PetscInt_FMT " iterations, PETSc's icc takes %" PetscInt_FMT, all, its[1], its[0]);
    PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type cg -pc_type syncilu%s", o ? " -pc_factor_levels 1" : ""));
    if (o) PetscCall(SolveWith(&p, "-ksp_type cg -pc_type icc -pc_factor_levels 1", &its[0], NULL));
    PetscCall(SolveWith(&half, all, &its[1], NULL)); /* without being asked: the matrix has no other triangle */
    CHECK(its[1] == its[0], "sbaij, %s: %" PetscInt_FMT " iterations, PETSc's icc takes %" PetscInt_FMT, all, its[1], its[0]);
  }
  { /* the shift is PCICC's, unless another one is asked for or it is no ICC */
    KSP                ksp;
    PC                 pc;
    MatFactorShiftType shift;

    PetscCall(SolveWith(&p, "-ksp_type cg -pc_type syncilu -pc_syncilu_symmetric", &its[0], &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCFactorGetShiftType(pc, &shift));
    CHECK(shift == MAT_SHIFT_POSITIVE_DEFINITE, "shift %d", (int)shift);
    PetscCall(PCSyncILUSetSymmetric(pc, PETSC_FALSE));
    PetscCall(KSPSolve(ksp, p.b, p.x));
    PetscCall(PCFactorGetShiftType(pc, &shift));
    CHECK(shift == MAT_SHIFT_NONE, "shift %d", (int)shift);
    PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_INBLOCKS));
    PetscCall(PCSyncILUSetSymmetric(pc, PETSC_TRUE));
    PetscCall(KSPSolve(ksp, p.b, p.x));
    PetscCall(PCFactorGetShiftType(pc, &shift));
    CHECK(shift == MAT_SHIFT_INBLOCKS, "shift %d", (int)shift);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(SolveWith(&p, "-ksp_type cg -pc_type bjacobi -pc_bjacobi_blocks 3 -sub_pc_type icc", &its[0], NULL));
  PetscCall(SolveWith(&p, "-ksp_type cg -pc_type bjacobi -pc_bjacobi_blocks 3 -sub_pc_type icc -sub_pc_factor_mat_solver_type syncilu", &its[1], NULL));
  CHECK(its[1] == its[0], "in blocks: %" PetscInt_FMT " iterations, PETSc takes %" PetscInt_FMT, its[1], its[0]);
  for (int k = 0; k < 2; k++) {
    Problem          *q = k ? &half : &p;
    KSP               ksp;
    PC                pc;
    Mat               F;
    SyncILUStatistics s;
    PetscInt          threads;

    PetscCall(SolveWith(q, "-ksp_type cg -pc_type icc -pc_factor_mat_solver_type syncilu", &its[0], &ksp));
    PetscCall(MatScale(q->A, 3.0));
    PetscCall(KSPSolve(ksp, q->b, q->x));
    PetscCall(KSPGetIterationNumber(ksp, &its[1]));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    CHECK(its[0] == its[1] && s.analyses == 1 && s.factorizations == 2,
          "%" PetscInt_FMT " iterations, then %" PetscInt_FMT "; %" PetscInt_FMT " factorizations", its[0], its[1], s.factorizations);
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(CheckView((PetscObject)F, PETSC_VIEWER_ASCII_INFO_DETAIL, text, 20000));
    CHECK(strstr(text, "factorization: symmetric, the upper triangle"), "the view does not say so:\n%s", text);
    PetscCall(PCSyncILUSetThreads(pc, 2));
    PetscCall(PCSyncILUGetThreads(pc, &threads));
    PetscCall(MatScale(q->A, 1.0 / 3.0));
    PetscCall(KSPSolve(ksp, q->b, q->x));
    PetscCall(KSPGetIterationNumber(ksp, &its[1]));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    CHECK(its[0] == its[1] && threads == 2 && s.threads == 2, "%" PetscInt_FMT " iterations with %" PetscInt_FMT " threads", its[1], s.threads);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(ProblemDestroy(&p));
  PetscCall(ProblemDestroy(&half));
  /* a pivot of zero */
  {
    KSP                ksp;
    KSPConvergedReason reason;

    PetscCall(Tridiagonal(10, 4, 0.0, 0.0, &p.A));
    PetscCall(MatSetValue(p.A, 3, 4, 0.0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(p.A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(p.A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatCreateVecs(p.A, &p.x, &p.b));
    PetscCall(VecSetRandom(p.b, rand));
    PetscCall(SolveWith(&p, "-ksp_type cg -pc_type icc -pc_factor_mat_solver_type syncilu -pc_factor_shift_type none", &its[0], &ksp));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason == KSP_DIVERGED_PC_FAILED, "reason %d", (int)reason);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(ProblemDestroy(&p));
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   device, small = PETSC_FALSE;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(CaseGetDevice(&device));
  PetscCall(TestMatrices(rand, device, small));
  for (int k = 0; k < 4; k++) PetscCall(TestShifts(rand, device));
  if (device) PetscCall(TestDevice(rand));
  PetscCall(TestMatrixKinds(rand, device));
  PetscCall(TestIterations(rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("icc");
  PetscCall(PetscFinalize());
  return failed;
}
