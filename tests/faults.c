static char help[] = "Numerical breakdown is a failed reason with the row named; bad input is an error that names the row, the option or the type.\n\n";

#include "check.h"
#include "problem.h"

/* The preconditioner, or PCILU with our factorization. */
static PetscErrorCode EitherCreate(Mat A, PetscBool ilu, KSP *ksp, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(SolverCreate(A, SYNCILU_BACKEND_AUTO, ksp, pc));
  if (ilu) {
    PetscCall(PCSetType(*pc, PCILU));
    PetscCall(PCFactorSetMatSolverType(*pc, MATSOLVERSYNCILU));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Zero, tiny, NaN and infinite pivots, in the matrix and in the elimination: the reason, the row in -info,
   view and statistics; the solve ends, and works again once the values are good.
*/
static PetscErrorCode TestBreakdown(void)
{
  const PetscScalar values[] = {0.0, 1e-20, NAN, INFINITY};
  const PetscInt    n = 1000, row = 617;

  PetscFunctionBegin;
  for (int v = 0; v < 4; v++) {
    for (int ilu = 0; ilu < 2; ilu++) {
      for (PetscInt threads = 1; threads <= 3; threads += 2) {
        for (int order = 0; order < 2; order++) {
          Mat                A;
          KSP                ksp;
          PC                 pc;
          Vec                b, x;
          KSPConvergedReason reason;
          PCFailedReason     why;
          SyncILUStatistics  s;
          char               text[16384], want[128];

          PetscCall(Tridiagonal(n, row, values[v], 0.0, &A));
          PetscCall(MatCreateVecs(A, &x, &b));
          PetscCall(VecSet(b, 1.0));
          PetscCall(EitherCreate(A, (PetscBool)ilu, &ksp, &pc));
          PetscCall(PCSyncILUSetThreads(pc, threads));
          PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
          if (order) PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGRCM));
          PetscCall(KSPSolve(ksp, b, x));
          PetscCall(KSPGetConvergedReason(ksp, &reason));
          PetscCall(PCGetFailedReason(pc, &why));
          CHECK(reason == KSP_DIVERGED_PC_FAILED, "pivot %g: the solve ended with %s", (double)PetscRealPart(values[v]), KSPConvergedReasons[reason]);
          CHECK(why == PC_FACTOR_NUMERIC_ZEROPIVOT, "pivot %g: the preconditioner failed with reason %d", (double)PetscRealPart(values[v]), (int)why);
          PetscCall(PCSyncILUGetStatistics(pc, &s));
          CHECK(order || s.failed_row == row, "pivot %g: row %" PetscInt_FMT ", expected %" PetscInt_FMT, (double)PetscRealPart(values[v]), s.failed_row, row);
          CHECK(s.failed_row >= 0 && s.failed_row < n, "row %" PetscInt_FMT, s.failed_row);
          PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
          PetscCall(PetscSNPrintf(want, sizeof(want),
                                  "factorization failed: zero pivot in row %" PetscInt_FMT " of the factor, row %" PetscInt_FMT " of the matrix", s.failed_row,
                                  row));
          CHECK(strstr(text, want), "the view lacks \"%s\":\n%s", want, text);
          /* good values in the same matrix; PCILU itself never factors again after a failure */
          if (ilu) {
            PetscCall(KSPDestroy(&ksp));
            PetscCall(EitherCreate(A, PETSC_TRUE, &ksp, &pc));
            PetscCall(PCSyncILUSetThreads(pc, threads));
            if (order) PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGRCM));
          }
          PetscCall(MatSetValue(A, row, row, 4.0, INSERT_VALUES));
          PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
          PetscCall(KSPSetOperators(ksp, A, A)); /* KSP of PETSc 3.18 sets up too late without */
          PetscCall(KSPSolve(ksp, b, x));
          PetscCall(KSPGetConvergedReason(ksp, &reason));
          CHECK(reason > 0, "good values after a breakdown by %g (ilu %d, %" PetscInt_FMT " threads): the solve ended with %s",
                (double)PetscRealPart(values[v]), ilu, threads, KSPConvergedReasons[reason]);
          /* as an error, where that is asked for */
          PetscCall(MatSetValue(A, row, row, values[v], INSERT_VALUES));
          PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
          PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
          PetscCall(PCSetErrorIfFailure(pc, PETSC_TRUE));
          PetscCall(
            PetscSNPrintf(want, sizeof(want), "Zero pivot row %" PetscInt_FMT " of the factor (row %" PetscInt_FMT " of the matrix)", s.failed_row, row));
          CHECK_ERROR(PCSetUp(pc), PETSC_ERR_MAT_LU_ZRPVT, want);
          PetscCall(KSPDestroy(&ksp));
          PetscCall(MatDestroy(&A));
          PetscCall(VecDestroy(&b));
          PetscCall(VecDestroy(&x));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shifts save what breaks down without them. */
static PetscErrorCode TestShifts(void)
{
  const MatFactorShiftType types[] = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};

  PetscFunctionBegin;
  for (int t = 0; t < 3; t++) {
    Mat                A;
    KSP                ksp;
    PC                 pc;
    Vec                b, x;
    KSPConvergedReason reason;
    PCFailedReason     why;

    PetscCall(Tridiagonal(200, 100, 0.0, -1.0, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1.0));
    PetscCall(SolverCreate(A, SYNCILU_BACKEND_AUTO, &ksp, &pc));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, 1e30, 1000));
    PetscCall(PCFactorSetShiftType(pc, types[t]));
    PetscCall(PCFactorSetShiftAmount(pc, 0.1));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(PCGetFailedReason(pc, &why));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    CHECK(!why && reason > 0, "%s: reason %s", MatFactorShiftTypes[types[t]], KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN in the right-hand side comes out as NaN, with any number of threads, and nothing waits. */
static PetscErrorCode TestNaN(PetscRandom rand)
{
  Mat          A;
  Vec          b, x;
  PC           pc;
  PetscScalar *v;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 1000, rand, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(VecGetArray(b, &v));
  v[0] = NAN;
  PetscCall(VecRestoreArray(b, &v));
  PetscCall(VecGetSize(b, &n));
  for (PetscInt threads = 1; threads <= 3; threads++) {
    for (int trans = 0; trans < 2; trans++) {
      PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_AUTO, &pc));
      PetscCall(PCSyncILUSetThreads(pc, threads));
      if (trans) PetscCall(PCApplyTranspose(pc, b, x));
      else PetscCall(PCApply(pc, b, x));
      PetscCall(VecGetArray(x, &v));
      CHECK(PetscIsNanScalar(v[0]) && PetscIsNanScalar(v[n - 1]), "NaN in the right-hand side got lost");
      PetscCall(VecRestoreArray(x, &v));
      PetscCall(PCDestroy(&pc));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpWith(Mat A, const char *options, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PCSetType(*pc, PCSYNCILU));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpAndForget(PC pc)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  ierr = PCSetFromOptions(pc);
  if (!ierr) ierr = PCSetUp(pc);
  PetscFunctionReturn(ierr);
}

/* What was set before an error in the setup is what is set after it. */
static PetscErrorCode TestSettingsAfterErrors(void)
{
  const PetscInt     i[] = {0, 2, 3, 5}, j[] = {0, 1, 0, 1, 2};
  PetscScalar        a[] = {4.0, 1.0, 1.0, 1.0, 4.0};
  Mat                A, B;
  PC                 pc;
  MatFactorShiftType shift;
  PetscReal          amount;

  PetscFunctionBegin;
  /* PCILU changes the shift for matrices whose type it does not know, before it finds a diagonal missing */
  PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, (PetscInt *)i, (PetscInt *)j, a, &B));
  PetscCall(MatConvert(B, MATSEQAIJPERM, MAT_INITIAL_MATRIX, &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
  PetscCall(PCFactorSetShiftAmount(pc, 0.25));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_ARG_WRONGSTATE, "missing the diagonal entry of row 1");
  PetscCall(PCFactorGetShiftType(pc, &shift));
  PetscCall(PCFactorGetShiftAmount(pc, &amount));
  CHECK(shift == MAT_SHIFT_NONZERO && amount == 0.25, "after an error the shift is %s by %g", MatFactorShiftTypes[shift], (double)amount);
  /* ILU with a drop tolerance is PETSc's own */
  PetscCall(PCFactorSetAllowDiagonalFill(pc, PETSC_TRUE));
  PetscCall(PCFactorSetDropTolerance(pc, 1e-3, 0.1, 5));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "no drop tolerance");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBadInput(PetscRandom rand)
{
  Mat       A;
  PC        pc;
  PetscReal relax;

  PetscFunctionBegin;
  /* rows that are not as they must be, from arrays of the user */
  {
    const struct {
      PetscInt    i[4], j[5];
      const char *text;
    } bad[] = {
      {{0, 2, 3, 5}, {0, 1, 1, 2, 0}, "The columns of row 2 are not sorted: 2 stands before 0"},
      {{0, 2, 4, 5}, {0, 1, 1, 1, 2}, "Row 1 has column 1 more than once"                     },
      {{0, 2, 4, 5}, {0, 1, 0, 2, 2}, "Matrix is missing the diagonal entry of row 1"         },
      {{0, 2, 2, 4}, {0, 1, 1, 2, 0}, "Matrix is missing the diagonal entry of row 1"         }
    };
    PetscScalar a[5] = {4.0, 1.0, 4.0, 1.0, 4.0};

    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
      Mat           F;
      MatFactorInfo info;

      PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, 3, 3, (PetscInt *)bad[k].i, (PetscInt *)bad[k].j, a, &A));
      PetscCall(MatFactorInfoInitialize(&info));
      info.fill = 1.0;
      PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
      CHECK_ERROR(MatILUFactorSymbolic(F, A, NULL, NULL, &info), k < 2 ? PETSC_ERR_ARG_WRONG : PETSC_ERR_ARG_WRONGSTATE, bad[k].text);
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&A));
    }
  }
  /* options */
  {
    const struct {
      const char *option, *text;
      int         code;
    } bad[] = {
      {"-pc_syncilu_backend gpu",          "pc_syncilu_backend",                                    PETSC_ERR_USER          },
      {"-pc_syncilu_update fast",          "pc_syncilu_update",                                     PETSC_ERR_USER          },
      {"-pc_syncilu_analysis late",        "pc_syncilu_analysis",                                   PETSC_ERR_USER          },
      {"-pc_syncilu_solve dense",          "pc_syncilu_solve",                                      PETSC_ERR_USER          },
      {"-pc_syncilu_vector_size 3",        "-pc_syncilu_vector_size: 3 is not 0 or a power of two", PETSC_ERR_ARG_OUTOFRANGE},
      {"-pc_syncilu_threads 0",            "-pc_syncilu_threads: 0 is not between 1 and 4096",      PETSC_ERR_ARG_OUTOFRANGE},
      {"-pc_syncilu_relax 1.5",            "-pc_syncilu_relax: 1.5 is not between 0 and 1",         PETSC_ERR_ARG_OUTOFRANGE},
      {"-pc_syncilu_relax -0.5",           "-pc_syncilu_relax: -0.5 is not between 0 and 1",        PETSC_ERR_ARG_OUTOFRANGE},
      {"-pc_factor_mat_solver_type petsc", "-pc_factor_mat_solver_type petsc",                      PETSC_ERR_ARG_WRONG     }
    };

    PetscCall(GenerateMatrix("5pt", 100, rand, &A));
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
      PetscOptions db;

      PetscCall(PetscOptionsCreate(&db));
      PetscCall(PetscOptionsPush(db));
      PetscCall(SetUpWith(A, bad[k].option, &pc));
      CHECK_ERROR(SetUpAndForget(pc), (PetscErrorCode)bad[k].code, bad[k].text);
      PetscCall(PCSyncILUGetRelax(pc, &relax));
      CHECK(relax == 0.0, "%s: relaxation by %g", bad[k].option, (double)relax);
      PetscCall(PCDestroy(&pc));
      PetscCall(PetscOptionsPop());
      PetscCall(PetscOptionsDestroy(&db));
    }
    /* a backend that is asked for is in use, or it is an error that names the option */
    {
      PetscErrorCode    ierr;
      SyncILUStatistics s;

      PetscCall(SetUpWith(A, "-pc_syncilu_backend cuda", &pc));
      check_message[0] = 0;
      PetscCall(PetscPushErrorHandler(CheckErrorHandler, NULL));
      ierr = SetUpAndForget(pc);
      PetscCall(PetscPopErrorHandler());
      if (ierr) {
        CHECK(ierr == PETSC_ERR_SUP && strstr(check_message, "-pc_syncilu_backend cuda: "), "error %d: %s", (int)ierr, check_message);
        if (PetscDefined(USE_COMPLEX) && !strstr(check_message, "this build has no cuda backend"))
          CHECK(strstr(check_message, "real double precision"), "complex numbers are not the reason: %s", check_message);
        CHECK_ERROR(PCSyncILUGetStatistics(pc, &s), PETSC_ERR_ORDER, "");
      } else {
        PetscCall(PCSyncILUGetStatistics(pc, &s));
        CHECK(s.backend == SYNCILU_BACKEND_CUDA, "cuda was asked for, %s is in use", SyncILUBackends[s.backend]);
      }
      PetscCall(PCDestroy(&pc));
      PetscCall(PetscOptionsClearValue(NULL, "-pc_syncilu_backend"));
    }
    /* setters refuse what the options refuse */
    PetscCall(SetUpWith(A, "", &pc));
    CHECK_ERROR(PCSyncILUSetRelax(pc, NAN), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_relax");
    CHECK_ERROR(PCSyncILUSetThreads(pc, -7), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_threads");
    CHECK_ERROR(PCSyncILUSetVectorSize(pc, 64), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_vector_size");
    CHECK_ERROR(PCSyncILUSetUpdate(pc, (SyncILUUpdate)77), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_update");
    CHECK_ERROR(PCSyncILUSetSolve(pc, (SyncILUSolve)-1), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_solve");
    CHECK_ERROR(PCSyncILUSetBackend(pc, (SyncILUBackend)3), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_backend");
    CHECK_ERROR(PCSyncILUSetAnalysis(pc, (SyncILUAnalysis)4), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_analysis");
    PetscCall(PCSetUp(pc)); /* and are left as they were */
    PetscCall(PCDestroy(&pc));
    /* on other types setters do nothing, getters say what is wrong */
    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(PCSyncILUSetRelax(pc, 0.5));
    {
      PetscReal relax;

      CHECK_ERROR(PCSyncILUGetRelax(pc, &relax), PETSC_ERR_SUP, "PCSyncILUGetRelax_C");
      CHECK_ERROR(MatSyncILUGetRelax(A, &relax), PETSC_ERR_SUP, "MatSyncILUGetRelax_C");
      PetscCall(MatSyncILUSetRelax(A, 0.5));
    }
    PetscCall(PCDestroy(&pc));
    /* operations out of order */
    {
      Mat               F, B;
      Vec               b, x;
      MatFactorInfo     info;
      SyncILUStatistics s;

      PetscCall(MatFactorInfoInitialize(&info));
      info.fill = 1.0;
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecSet(b, 1.0));
      PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
      CHECK_ERROR(MatSyncILUGetStatistics(F, &s), PETSC_ERR_ORDER, "MatILUFactorSymbolic");
      CHECK_ERROR(MatSyncILUGetStatistics(A, &s), PETSC_ERR_SUP, "MatSyncILUGetStatistics_C");
      CHECK_ERROR(MatSolve(F, b, x), PETSC_ERR_ORDER, "MatLUFactorNumeric");
      PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
      CHECK_ERROR(MatSolve(F, b, x), PETSC_ERR_ORDER, "MatLUFactorNumeric");
      CHECK_ERROR(MatSolveTranspose(F, b, x), PETSC_ERR_ORDER, "MatLUFactorNumeric");
      PetscCall(MatLUFactorNumeric(F, A, &info));
      PetscCall(MatSolve(F, b, x));
      /* nothing is left of a factor whose next symbolic phase fails */
      PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 100, 100, 1, NULL, &B));
      for (PetscInt i = 0; i < 100; i++) PetscCall(MatSetValue(B, i, i == 7 ? 8 : i, 1.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
      CHECK_ERROR(MatILUFactorSymbolic(F, B, NULL, NULL, &info), PETSC_ERR_ARG_WRONGSTATE, "row 7");
      CHECK_ERROR(MatSyncILUGetStatistics(F, &s), PETSC_ERR_ORDER, "MatILUFactorSymbolic");
      CHECK_ERROR(MatLUFactorNumeric(F, A, &info), PETSC_ERR_ORDER, "MatILUFactorSymbolic");
      CHECK_ERROR(MatSolve(F, b, x), PETSC_ERR_ORDER, "MatLUFactorNumeric");
      {
        char text[2048];

        PetscCall(CheckView((PetscObject)F, PETSC_VIEWER_ASCII_INFO, text, sizeof(text)));
        CHECK(!strstr(text, "backend"), "the view tells of a factor that is gone:\n%s", text);
      }
      PetscCall(MatDestroy(&F));
      PetscCall(MatDestroy(&B));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
    }
    /* another matrix than the one that was analysed */
    {
      Mat               F, B;
      MatFactorInfo     info;
      SyncILUStatistics s;

      PetscCall(MatFactorInfoInitialize(&info));
      info.fill = 1.0;
      PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
      PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
      PetscCall(GenerateMatrix("tridiagonal", 101, rand, &B));
      CHECK_ERROR(MatLUFactorNumeric(F, B, &info), PETSC_ERR_ARG_SIZ, "dimensions are different");
      PetscCall(MatDestroy(&B));
      /* with as many rows and other entries it is planned anew */
      PetscCall(GenerateMatrix("tridiagonal", 100, rand, &B));
      PetscCall(MatLUFactorNumeric(F, B, &info));
      PetscCall(MatSyncILUGetStatistics(F, &s));
      CHECK(s.analyses == 2 && s.factorizations == 1 && s.nonzeros == 298, "%" PetscInt_FMT " analyses, %" PetscInt64_FMT " entries", s.analyses, s.nonzeros);
      PetscCall(MatDestroy(&B));
      /* drop tolerances */
      info.usedt = 1.0;
      CHECK_ERROR(MatILUFactorSymbolic(F, A, NULL, NULL, &info), PETSC_ERR_SUP, "drop tolerance");
      PetscCall(MatDestroy(&F));
    }
    PetscCall(MatDestroy(&A));
  }
  /* shapes and types */
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 3, 4, 1, NULL, &A));
  PetscCall(MatSetValue(A, 0, 0, 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(SetUpWith(A, "", &pc));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "Must be square matrix");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  {
    const char *const types[] = {MATSEQSELL, MATSEQDENSE};

    for (int t = 0; t < 2; t++) {
      PetscCall(MatCreate(PETSC_COMM_SELF, &A));
      PetscCall(MatSetSizes(A, 4, 4, 4, 4));
      PetscCall(MatSetType(A, types[t]));
      PetscCall(MatSetUp(A));
      for (PetscInt i = 0; i < 4; i++) PetscCall(MatSetValue(A, i, i, 1.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(SetUpWith(A, "", &pc));
      CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, types[t]);
      CHECK(strstr(check_message, "seqaij") && strstr(check_message, "baij and the types"), "the message does not say what is supported: %s", check_message);
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The symbolic phase keeps no memory when it ends with an error. */
static PetscErrorCode TestLeaks(void)
{
  const PetscInt n = 1000, row = 617;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, &A));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(n, i + 2); j++) {
      if (i != row || j > row) PetscCall(MatSetValue(A, i, j, 1.0 + (i == j), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  for (PetscInt levels = 0; levels < 3; levels++) {
    PetscLogDouble before, after;

    for (int run = 0; run < 2; run++) { /* the first one takes what stays */
      Mat           F;
      MatFactorInfo info;

      PetscCall(PetscMallocGetCurrentUsage(&before));
      PetscCall(MatFactorInfoInitialize(&info));
      info.fill   = 1.0;
      info.levels = (PetscReal)levels;
      PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
      CHECK_ERROR(MatILUFactorSymbolic(F, A, NULL, NULL, &info), PETSC_ERR_ARG_WRONGSTATE, "row 617");
      PetscCall(MatDestroy(&F));
      PetscCall(PetscMallocGetCurrentUsage(&after));
    }
    CHECK(before > 0 && after == before, "levels %" PetscInt_FMT ": %g bytes held before the symbolic phase that failed, %g after", levels, before, after);
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  int         failed;

  PetscCall(PetscOptionsSetValue(NULL, "-malloc_debug", "true")); /* counts what is allocated */
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(TestLeaks());
  PetscCall(TestBreakdown());
  PetscCall(TestShifts());
  PetscCall(TestNaN(rand));
  PetscCall(TestBadInput(rand));
  PetscCall(TestSettingsAfterErrors());
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("faults");
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_debug"));
  PetscCall(PetscFinalize());
  return failed;
}
