static char help[] = "D-ILU (-pc_syncilu_update dilu): its definition, the backends, Eisenstat's trick on any pattern, what is refused; and where\n\
update mesh is it.\n\n";

#include "check.h"
#include "case.h"

/*
   x = (I + U')^-1 (D + L)^-1 b for the matrix in an order, D + L and D (I + U') with the entries of the matrix beside
   the diagonal, by the definition, dense: d_i = a_ii - sum_k a_ik s_k / d_k over k < i, where s_k is a_ki and, relaxed,
   relax times the other entries of row k right of its diagonal, and d_i is a_ii / 4 at least.
*/
static PetscErrorCode Apply(Mat A, const PetscInt *row, PetscReal relax, const PetscScalar *b, PetscScalar *x, PetscInt *bounded)
{
  PetscScalar *a, *d, *y;
  PetscInt     n;

  PetscFunctionBegin;
  *bounded = 0;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(PetscCalloc3(n * n, &a, n, &d, n, &y));
  for (PetscInt i = 0; i < n; i++) PetscCall(MatGetValues(A, 1, &row[i], n, row, a + i * n));
  for (PetscInt i = 0; i < n; i++) {
    d[i] = a[i * n + i];
    y[i] = b[row[i]];
    for (PetscInt k = 0; k < i; k++) {
      PetscScalar s = a[k * n + i];

      for (PetscInt j = k + 1; j < n; j++) s += j == i ? 0.0 : relax * a[k * n + j];
      d[i] -= a[i * n + k] * s / d[k];
      y[i] -= a[i * n + k] * y[k];
    }
    if (PetscRealPart(d[i] / a[i * n + i]) < 0.25) {
      d[i] = 0.25 * a[i * n + i];
      (*bounded)++;
    }
    y[i] /= d[i];
  }
  for (PetscInt i = n - 1; i >= 0; i--) {
    for (PetscInt j = i + 1; j < n; j++) y[i] -= a[i * n + j] * y[j] / d[i];
    x[row[i]] = y[i];
  }
  PetscCall(PetscFree3(a, d, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The definition, the reference (-pc_syncilu_check), and the same bits with any number of threads and in any run. */
static PetscErrorCode TestPattern(const char *pattern, const char *ordering, PetscReal relax, SyncILUSolve solve, PetscBool weak, PetscBool device,
                                  PetscRandom rand)
{
  const PetscInt     threads[] = {1, 3, 1, 1};
  Mat                A;
  Vec                b, x[4], want;
  IS                 rows, cols;
  const PetscInt    *row;
  PetscScalar       *xa;
  const PetscScalar *ba;
  char               what[128];
  PetscInt           bounded;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, relax %g, solve %s", pattern, ordering, (double)relax, SyncILUSolves[solve]));
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(MatCreateVecs(A, &want, &b));
  if (weak) { /* a smaller diagonal */
    PetscCall(MatGetDiagonal(A, b));
    PetscCall(VecScale(b, 0.15));
    PetscCall(MatDiagonalSet(A, b, INSERT_VALUES));
  }
  PetscCall(VecSetRandom(b, rand));
  PetscCall(MatGetOrdering(A, ordering, &rows, &cols));
  PetscCall(ISGetIndices(rows, &row));
  PetscCall(VecGetArrayRead(b, &ba));
  PetscCall(VecGetArray(want, &xa));
  PetscCall(Apply(A, row, relax, ba, xa, &bounded));
  CHECK(!weak || bounded, "%s: no pivot has to be kept from zero", what);
  PetscCall(VecRestoreArray(want, &xa));
  PetscCall(VecRestoreArrayRead(b, &ba));
  PetscCall(ISRestoreIndices(rows, &row));
  for (int k = 0; k < (device ? 4 : 2); k++) {
    PC        pc;
    PetscReal difference;
    PetscBool equal;

    PetscCall(VecDuplicate(want, &x[k]));
    PetscCall(PreconditionerCreate(A, k < 2 ? SYNCILU_BACKEND_HOST : SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCFactorSetMatOrderingType(pc, ordering));
    PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_DILU));
    PetscCall(PCSyncILUSetRelax(pc, relax));
    PetscCall(PCSyncILUSetThreads(pc, threads[k]));
    PetscCall(PCSyncILUSetSolve(pc, solve));
    PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
    for (int again = 0; again < 2; again++) {
      if (again) PetscCall(MatScale(A, 0.5)); /* exactly */
      PetscCall(PCSetUp(pc));
      PetscCall(PCApply(pc, b, x[k]));
      if (again) PetscCall(VecScale(x[k], 0.5));
      PetscCall(CheckDifference(x[k], want, &difference));
      CHECK(difference < 1e-12, "%s, run %d: difference %g", what, k, (double)difference);
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatScale(A, 2.0));
    if (k % 2 == 0) continue;
    PetscCall(VecEqual(x[k], x[k - 1], &equal));
    CHECK(equal, "%s: run %d has other bits", what, k);
  }
  for (int k = 0; k < (device ? 4 : 2); k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&want));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterations and the solution of a Krylov method with the trick and without, and what the view says. */
static PetscErrorCode TestTrick(const char *pattern, const char *ordering, SyncILUBackend backend, SyncILUSolve solve, PetscBool symmetric, PetscReal relax,
                                PetscRandom rand)
{
  Mat       A;
  Vec       b, x[2];
  PetscInt  its[2];
  char      text[16384];
  PetscReal difference;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  if (symmetric) PetscCall(GenerateSum(A));
#if defined(PETSC_HAVE_CUDA)
  if (backend == SYNCILU_BACKEND_CUDA) PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
#endif
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecSetRandom(b, rand));
  for (int k = 0; k < 2; k++) {
    KSP                ksp;
    PC                 pc;
    KSPConvergedReason reason;

    PetscCall(SolverCreate(A, backend, &ksp, &pc));
    PetscCall(KSPSetType(ksp, symmetric ? KSPCG : KSPBCGS));
    if (symmetric) PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
    PetscCall(PCFactorSetMatOrderingType(pc, ordering));
    PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_DILU));
    PetscCall(PCSyncILUSetRelax(pc, relax));
    PetscCall(PCSyncILUSetEisenstat(pc, (PetscBool)k));
    PetscCall(PCSyncILUSetSolve(pc, solve));
    PetscCall(KSPSolve(ksp, b, x[k]));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason > 0, "%s, %s, trick %d: reason %d", pattern, ordering, k, (int)reason);
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "factorization", "dilu"), "the view says\n%s", text);
    PetscCall(KSPDestroy(&ksp));
  }
  CHECK(!symmetric || PetscAbsInt(its[0] - its[1]) <= 1, "%s, %s: %" PetscInt_FMT " iterations, without the trick %" PetscInt_FMT, pattern, ordering, its[1],
        its[0]);
  PetscCall(CheckDifference(x[1], x[0], &difference));
  CHECK(difference < 1e-7, "%s, %s: solutions differ by %g", pattern, ordering, (double)difference);
  PetscCall(VecDestroy(&b));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What it is not for, and a pivot that vanishes, without a shift and with those that judge it by its row. */
static PetscErrorCode TestRefusals(SyncILUBackend backend, PetscRandom rand)
{
  const MatFactorShiftType shifts[] = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
  Mat                      A;
  PC                       pc;

  PetscFunctionBegin;
  PetscCall(GenerateBlocks("7pt:3x3x3", 0, 2, rand, &A));
  PetscCall(PreconditionerCreate(A, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_DILU));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_update dilu: not for the blocks of 2 rows");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(GenerateMatrix("15pt:3x3x3", 0, rand, &A));
  PetscCall(PreconditionerCreate(A, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_DILU));
  PetscCall(PCSyncILUSetSymmetric(pc, PETSC_TRUE));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_update dilu: not for incomplete Cholesky factorization (-pc_syncilu_symmetric, -pc_type icc, ");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatSetValue(A, 0, 0, 0.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shifts); s++) {
    PCFailedReason    reason;
    SyncILUStatistics statistics;

    PetscCall(PreconditionerCreate(A, backend, &pc));
    PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_DILU));
    PetscCall(PCFactorSetShiftType(pc, shifts[s]));
    PetscCall(PCFactorSetShiftAmount(pc, 0.5));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    PetscCall(PCSyncILUGetStatistics(pc, &statistics));
    CHECK(s ? !reason && statistics.pivots_shifted > 0 : reason == PC_FACTOR_NUMERIC_ZEROPIVOT && statistics.failed_row == 0,
          "%s, shift %s: reason %d, row %" PetscInt_FMT, SyncILUBackends[backend], MatFactorShiftTypes[shifts[s]], (int)reason, statistics.failed_row);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which factorization update mesh is, and whether it is relaxed: that one has the same result, and the view says why. */
static PetscErrorCode TestMesh(SyncILUBackend backend, PetscRandom rand)
{
  const struct {
    const char   *pattern, *ordering;
    PetscBool     along;
    PetscInt      bs, levels;
    PetscBool     symmetric;
    SyncILUUpdate update;
    PetscReal     relax;
    const char   *says;
  } cases[] = {
    {"15pt_morton:12x10x8", MATORDERINGBMC,     PETSC_TRUE,  1, 0, PETSC_FALSE, SYNCILU_UPDATE_DILU, 0.8, "dilu, one unknown a point and short rows\n"                    },
    {"15pt:12x10x8",        MATORDERINGBMC,     PETSC_FALSE, 1, 0, PETSC_FALSE, SYNCILU_UPDATE_DILU, 0.0,
     "dilu, one unknown a point and short rows; without relaxation\n"                                                                                                     },
    {"15pt:5x5x4",          MATORDERINGNATURAL, PETSC_FALSE, 1, 0, PETSC_FALSE, SYNCILU_UPDATE_DILU, 0.8, "dilu, one unknown a point and short rows\n"                    },
    {"27pt:9x9x9",          MATORDERINGBMC,     PETSC_TRUE,  1, 0, PETSC_FALSE, SYNCILU_UPDATE_AUTO, 0.0, "auto, rows have 21.4 entries in the mean; without relaxation\n"},
    {"7pt_dof3:5x4x3",      MATORDERINGBMC,     PETSC_FALSE, 1, 0, PETSC_FALSE, SYNCILU_UPDATE_AUTO, 0.0,
     "auto, several unknowns a point: 3 successive rows have one pattern in the mean; without relaxation\n"                                                               },
    {"elasticity:6x5x4",    MATORDERINGBMC,     PETSC_TRUE,  1, 0, PETSC_FALSE, SYNCILU_UPDATE_AUTO, 0.0,
     "auto, several unknowns a point: 3 successive rows have one pattern in the mean; without relaxation\n"                                                               },
    {"elasticity:6x5x4",    MATORDERINGNATURAL, PETSC_FALSE, 1, 0, PETSC_FALSE, SYNCILU_UPDATE_AUTO, 0.0,
     "auto, several unknowns a point: 3 successive rows have one pattern in the mean; without relaxation\n"                                                               },
    {"15pt:5x5x4",          MATORDERINGBMC,     PETSC_FALSE, 1, 1, PETSC_FALSE, SYNCILU_UPDATE_AUTO, 0.0, "auto, there are levels of fill; without relaxation\n"          },
    {"15pt:5x5x4",          MATORDERINGBMC,     PETSC_FALSE, 1, 0, PETSC_TRUE,  SYNCILU_UPDATE_AUTO, 0.0, "auto, the factorization is symmetric; without relaxation\n"    },
    {"7pt:5x4x3",           MATORDERINGNATURAL, PETSC_FALSE, 2, 0, PETSC_FALSE, SYNCILU_UPDATE_AUTO, 0.0, "auto, the matrix has blocks; without relaxation\n"             }
  };

  PetscFunctionBegin;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    for (int check = 0; check < 2; check++) { /* with the check the symbolic phase is the host's */
      Mat       A;
      Vec       b, x[2];
      PetscReal difference;

      if (cases[c].bs > 1) PetscCall(GenerateBlocks(cases[c].pattern, 0, cases[c].bs, rand, &A));
      else PetscCall(GenerateMatrix(cases[c].pattern, 0, rand, &A));
      if (cases[c].symmetric) PetscCall(GenerateSum(A));
#if defined(PETSC_HAVE_CUDA)
      if (backend == SYNCILU_BACKEND_CUDA && cases[c].bs == 1) PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
#endif
      PetscCall(PetscOptionsSetValue(NULL, "-mesh_mat_ordering_bmc_along_numbering", cases[c].along ? "1" : "0"));
      PetscCall(MatCreateVecs(A, &x[0], &b));
      PetscCall(VecDuplicate(x[0], &x[1]));
      PetscCall(VecSetRandom(b, rand));
      for (int k = 0; k < 2; k++) {
        PC   pc;
        char text[16384];

        PetscCall(PreconditionerCreate(A, backend, &pc));
        PetscCall(PCSetOptionsPrefix(pc, "mesh_"));
        PetscCall(PCFactorSetMatOrderingType(pc, cases[c].ordering));
        PetscCall(PCFactorSetLevels(pc, cases[c].levels));
        PetscCall(PCSyncILUSetSymmetric(pc, cases[c].symmetric));
        PetscCall(PCSyncILUSetUpdate(pc, k ? SYNCILU_UPDATE_MESH : cases[c].update));
        PetscCall(PCSyncILUSetRelax(pc, k ? 0.8 : cases[c].relax));
        PetscCall(PCSyncILUSetCheck(pc, (PetscBool)check));
        PetscCall(PCSetFromOptions(pc));
        for (int again = 0; again < 2; again++) {
          if (again) PetscCall(MatScale(A, 1.0)); /* a new state */
          PetscCall(PCSetUp(pc));
          PetscCall(PCApply(pc, b, x[k]));
        }
        PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
        CHECK(!k || CheckViewSays(text, "update mesh", cases[c].says), "%s: the view says\n%s", cases[c].pattern, text);
        PetscCall(PCDestroy(&pc));
      }
      PetscCall(CheckDifference(x[1], x[0], &difference));
      CHECK(difference < 1e-12, "%s, case %d: update mesh differs from %s by %g", cases[c].pattern, (int)c, SyncILUUpdates[cases[c].update],
            (double)difference);
      PetscCall(VecDestroy(&b));
      for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscOptionsClearValue(NULL, "-mesh_mat_ordering_bmc_along_numbering"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eisenstat's trick comes and goes with matrices of one and of several unknowns a point; without it transposes are solved. */
static PetscErrorCode TestMeshTrick(SyncILUBackend backend, PetscRandom rand)
{
  const char *const patterns[] = {"15pt:6x4x3", "7pt_dof3:4x3x2", "15pt:6x4x3"};
  KSP               ksp;
  PC                pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPBCGS));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCSyncILUSetBackend(pc, backend));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_MESH));
  PetscCall(PCSyncILUSetEisenstat(pc, PETSC_TRUE));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(patterns); k++) {
    const PetscBool    several = (PetscBool)(k == 1);
    Mat                A;
    Vec                b, x, r;
    KSPConvergedReason reason;
    PetscReal          norms[2];
    char               text[16384];

    PetscCall(GenerateMatrix(patterns[k], 0, rand, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSetRandom(b, rand));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAXPY(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &norms[0]));
    PetscCall(VecNorm(b, NORM_2, &norms[1]));
    CHECK(reason > 0 && norms[0] < 1e-7 * norms[1], "%s: reason %d, residual %g", patterns[k], (int)reason, (double)(norms[0] / norms[1]));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "Eisenstat's trick", several ? "asked for, without effect" : "the Krylov method has the operator"), "%s: the view says\n%s",
          patterns[k], text);
    if (several) PetscCall(PCApplyTranspose(pc, b, x));
    else CHECK_ERROR(PCApplyTranspose(pc, b, x), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: not for transposed solves");
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&r));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Operations that are logged: a quotient and an update for each entry of L, a reciprocal for each pivot. */
static PetscErrorCode TestFlops(SyncILUBackend backend, PetscRandom rand)
{
  Mat            A;
  MatInfo        info;
  PC             pc;
  PetscInt       n;
  PetscLogDouble flops[2];

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("27pt:4x4x3", 0, rand, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(PreconditionerCreate(A, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_DILU));
  PetscCall(PetscGetFlops(&flops[0]));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscGetFlops(&flops[1]));
  CHECK(flops[1] - flops[0] == PETSC_FLOPS_PER_OP * (1.5 * (info.nz_used - n) + n), "%s: %g flops are logged", SyncILUBackends[backend], flops[1] - flops[0]);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const struct {
    const char  *pattern, *ordering;
    PetscReal    relax;
    SyncILUSolve solve;
    PetscBool    weak;
  } patterns[] = {
    {"diagonal:40",     MATORDERINGNATURAL, 0.5, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"tridiagonal:70",  MATORDERINGNATURAL, 0.0, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"denserow:300",    MATORDERINGNATURAL, 0.0, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"arrow:80",        MATORDERINGNATURAL, 0.5, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"arrowup:70",      MATORDERINGBMC,     0.0, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"15pt:5x4x3",      MATORDERINGNATURAL, 0.0, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"15pt:5x5x4",      MATORDERINGBMC,     0.5, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"15pt:4x4x3",      MATORDERINGRCM,     0.9, SYNCILU_SOLVE_LEVELSET, PETSC_TRUE },
    {"27pt:4x4x4",      MATORDERINGNATURAL, 0.0, SYNCILU_SOLVE_ELL,      PETSC_FALSE},
    {"random:130",      MATORDERINGBMC,     0.0, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"random200:60",    MATORDERINGNATURAL, 0.3, SYNCILU_SOLVE_CSR,      PETSC_FALSE},
    {"powerlaw:150",    MATORDERINGBMC,     0.0, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"elasticity:81",   MATORDERINGBMC,     0.2, SYNCILU_SOLVE_AUTO,     PETSC_FALSE},
    {"densecolumn:130", MATORDERINGNATURAL, 0.0, SYNCILU_SOLVE_AUTO,     PETSC_FALSE}
  };
  PetscRandom rand;
  PetscBool   device;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(CaseGetDevice(&device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(patterns); k++)
    PetscCall(TestPattern(patterns[k].pattern, patterns[k].ordering, patterns[k].relax, patterns[k].solve, patterns[k].weak, device, rand));
  for (int k = 0; k < (device ? 2 : 1); k++) {
    const SyncILUBackend backend = k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST;

    if (!PetscDefined(USE_COMPLEX))
      PetscCall(TestTrick("15pt:5x5x4", MATORDERINGBMC, backend, SYNCILU_SOLVE_AUTO, PETSC_TRUE, 0.5, rand)); /* symmetric, not Hermitian */
    PetscCall(TestTrick("15pt:5x4x4", MATORDERINGBMC, backend, SYNCILU_SOLVE_AUTO, PETSC_FALSE, 0.5, rand));
    PetscCall(TestTrick("random:90", MATORDERINGNATURAL, backend, SYNCILU_SOLVE_AUTO, PETSC_FALSE, 0.0, rand));
    /* points of several unknowns, and rows, along the lines of a grid */
    PetscCall(TestTrick("7pt_dof2:12x6x5", MATORDERINGNATURAL, backend, SYNCILU_SOLVE_STRUCT, PETSC_FALSE, 0.5, rand));
    PetscCall(TestTrick("27pt:9x5x4", MATORDERINGNATURAL, backend, SYNCILU_SOLVE_STRUCT, PETSC_FALSE, 0.5, rand));
    PetscCall(TestRefusals(backend, rand));
    PetscCall(TestFlops(backend, rand));
    PetscCall(TestMesh(backend, rand));
    PetscCall(TestMeshTrick(backend, rand));
  }
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("dilu");
  PetscCall(PetscFinalize());
  return failed;
}
