static char help
  [] = "The CUDA backend inside PETSc: the iterations of the host's backend, with vectors on the host and on the device, and the life of a preconditioner.\n\n\
  -memory             memory that runs out alone\n\
  -small              what takes small matrices alone, for tools that slow the program down\n\
  -matrices <folder>  instead, the iterations with the Matrix Market files there\n\n";

#include "check.h"
#include "problem.h"
#include "gpu.h"
#include "load.h"
#include "../kernels/tuning.h"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice.h>
#endif

#if defined(PETSC_HAVE_CUDA)
  #define KINDS 2 /* of vectors and matrices */
#else
  #define KINDS 1
#endif
static const char *const kinds[] = {"host", "device"};

/* Matrix and vectors in the memory of the device. */
static PetscErrorCode ToDevice(Mat *A)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatConvert(*A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, A));
#else
  (void)A;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemMove(Problem *p)
{
  PetscFunctionBegin;
  PetscCall(ToDevice(&p->A));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->x));
  PetscCall(MatCreateVecs(p->A, &p->x, &p->b));
  PetscCall(VecSet(p->b, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Residual(Problem *p, PetscReal *norm)
{
  Vec r;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(p->b, &r));
  PetscCall(MatMult(p->A, p->x, r));
  PetscCall(CheckDifference(r, p->b, norm));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations and last residuals of the host's backend and of CUDA's, and the solver of the latter. */
static PetscErrorCode SolveWithBoth(Problem *p, const char *options, const char *what, PetscInt its[2], PetscReal norm[2], KSP *ksp)
{
  PetscFunctionBegin;
  Watch("%s", what);
  for (int cuda = 0; cuda < 2; cuda++) {
    char all[512];

    PetscCall(PetscSNPrintf(all, sizeof(all), "-pc_type syncilu -pc_syncilu_backend %s %s", cuda ? "cuda" : "host", options));
    PetscCall(SolveWith(p, all, &its[cuda], ksp));
    PetscCall(KSPGetResidualNorm(*ksp, &norm[cuda]));
    if (!cuda) PetscCall(KSPDestroy(ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both backends take the same iterations. */
static PetscErrorCode Compare(Problem *p, const char *options, const char *kind)
{
  char               what[512];
  PetscInt           its[2];
  PetscReal          last[2], norm;
  KSP                ksp;
  PC                 pc;
  SyncILUStatistics  s;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s vectors", options, kind));
  PetscCall(SolveWithBoth(p, options, what, its, last, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PCSyncILUGetStatistics(pc, &s));
  PetscCall(Residual(p, &norm));
  CHECK(its[1] == its[0] && its[0] > 0 && its[0] < 500, "%s: %" PetscInt_FMT " iterations, on the host %" PetscInt_FMT, what, its[1], its[0]);
  CHECK(reason > 0 && norm < 1e-2, "%s: %s, residual %g", what, KSPConvergedReasons[reason], (double)norm);
  CHECK(s.backend == SYNCILU_BACKEND_CUDA && s.threads == 0, "%s: runs on %s with %" PetscInt_FMT " threads", what, SyncILUBackends[s.backend], s.threads);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestIterations(PetscBool small)
{
  const char *const solvers[] = {"-ksp_type gmres", "-ksp_type bcgs", "-ksp_type bicg", "-ksp_type fgmres -ksp_pc_side right"};
  const char *const options[] = {"",
                                 "-pc_factor_levels 1",
                                 "-pc_factor_levels 2 -pc_factor_mat_ordering_type rcm",
                                 "-pc_factor_mat_ordering_type rcm",
                                 "-pc_factor_mat_ordering_type bmc",
                                 "-pc_factor_mat_ordering_type bmc -mat_ordering_bmc_size 8 -pc_factor_levels 1",
                                 "-pc_factor_mat_ordering_type nd -pc_factor_levels 1",
                                 "-pc_factor_shift_type nonzero -pc_factor_shift_amount 0.1 -pc_factor_zeropivot 1",
                                 "-pc_factor_shift_type positive_definite -pc_factor_zeropivot 2",
                                 "-pc_factor_shift_type inblocks -pc_factor_shift_amount 1 -pc_factor_zeropivot 3",
                                 "-pc_factor_diagonal_fill",
                                 "-pc_syncilu_analysis none -pc_syncilu_vector_size 4",
                                 "-pc_syncilu_relax 0.9"};

  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    Problem p;

    PetscCall(ProblemCreate(9, 0.7, &p));
    if (kind) PetscCall(ProblemMove(&p));
    for (int s = 0; s < 4; s += 1 + small) { /* of two, the second one takes transposes */
      for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
        char both[400];

        PetscCall(PetscSNPrintf(both, sizeof(both), "%s %s", solvers[s], options[o]));
        PetscCall(Compare(&p, both, kinds[kind]));
      }
      for (int k = 0; k < CheckEnumCount(SyncILUUpdates); k++) {
        char both[400];

        PetscCall(PetscSNPrintf(both, sizeof(both), "%s -pc_syncilu_update %s -pc_syncilu_analysis asap", solvers[s], SyncILUUpdates[k]));
        PetscCall(Compare(&p, both, kinds[kind]));
      }
      for (int k = 0; k < CheckEnumCount(SyncILUSolves); k++) {
        char both[400];

        PetscCall(PetscSNPrintf(both, sizeof(both), "%s -pc_syncilu_solve %s -pc_syncilu_analysis alap", solvers[s], SyncILUSolves[k]));
        PetscCall(Compare(&p, both, kinds[kind]));
      }
    }
    PetscCall(ProblemDestroy(&p));
    PetscCall(ProblemCreate(12, 0.0, &p));
    if (kind) PetscCall(ProblemMove(&p));
    PetscCall(Compare(&p, "-ksp_type cg", kinds[kind]));
    PetscCall(Compare(&p, "-ksp_type cg -pc_factor_levels 1", kinds[kind]));
    PetscCall(Compare(&p, "-ksp_type cg -pc_type ilu -pc_factor_mat_solver_type syncilu", kinds[kind]));
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relaxation on a grid that takes some iterations, as in the test of the host's backend. */
static PetscErrorCode TestRelaxation(void)
{
  const char *const w[]    = {"0", "0.9", "0.95", "0.99", "1"};
  const PetscInt    want[] = {43, 26, 22, 18, 24};

  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    Problem p;

    PetscCall(ProblemCreate(64, 0.0, &p));
    if (kind) PetscCall(ProblemMove(&p));
    for (int k = 0; k < 5; k++) {
      char     all[256];
      PetscInt its;

      PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type cg -ksp_rtol 1e-5 -pc_type syncilu -pc_syncilu_backend cuda -pc_syncilu_relax %s", w[k]));
      Watch("%s", all);
      PetscCall(SolveWith(&p, all, &its, NULL));
      CHECK(its == want[k], "relaxation %s, %s vectors: %" PetscInt_FMT " iterations, expected %" PetscInt_FMT, w[k], kinds[kind], its, want[k]);
    }
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first steps of GMRES with both backends. More would show what rounding makes of them. */
static PetscErrorCode CompareSteps(Problem *p, const char *name, const char *options, const char *kind)
{
  char      what[512], all[256];
  PetscInt  its[2];
  PetscReal norm[2], first;
  KSP       ksp;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s vectors", name, options, kind));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type gmres -ksp_max_it 25 %s", options));
  PetscCall(SolveWithBoth(p, all, what, its, norm, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, p->b, p->x));
  PetscCall(VecNorm(p->x, NORM_2, &first));
  PetscCall(KSPDestroy(&ksp));
  printf("%s: %" PetscInt_FMT " iterations, residual %g, on the host %g\n", what, its[1], (double)norm[1], (double)norm[0]);
  CHECK(its[0] == its[1] && its[0] > 0, "%s: %" PetscInt_FMT " iterations, on the host %" PetscInt_FMT, what, its[1], its[0]);
  /* the second term is rounding: one of these matrices is solved to 1e-15 in a step */
  CHECK(PetscAbsReal(norm[1] - norm[0]) <= 1e-2 * norm[0] + 1e-12 * first, "%s: residual %g, on the host %g, at first %g", what, (double)norm[1],
        (double)norm[0], (double)first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Real matrices, but for those that want pivoting. */
static PetscErrorCode TestFiles(int count, char **path)
{
  PetscFunctionBegin;
  for (int k = 0; k < count; k++) {
    const char *name = strrchr(path[k], '/') + 1;

    for (int kind = 0; kind < KINDS; kind++) {
      Problem  p;
      IS       zeros;
      PetscInt n;
      char     options[128];

      PetscCall(LoadMatrix(PETSC_COMM_SELF, path[k], MATSEQAIJ, &p.A));
      PetscCall(MatCreateVecs(p.A, &p.x, &p.b));
      PetscCall(VecSet(p.b, 1.0));
      PetscCall(MatFindZeroDiagonals(p.A, &zeros));
      PetscCall(ISGetSize(zeros, &n));
      PetscCall(ISDestroy(&zeros));
      if (kind) PetscCall(ProblemMove(&p));
      if (n) printf("%s: not solved, %" PetscInt_FMT " diagonal entries are zero or missing\n", name, n);
      else {
        PetscCall(CompareSteps(&p, name, "-pc_factor_mat_ordering_type natural", kinds[kind]));
        PetscCall(CompareSteps(&p, name, "-pc_factor_mat_ordering_type rcm", kinds[kind]));
        PetscCall(CompareSteps(&p, name, "-pc_syncilu_relax 0.9", kinds[kind]));
        for (int u = 0; u < CheckEnumCount(SyncILUUpdates); u++) {
          PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_syncilu_update %s", SyncILUUpdates[u]));
          PetscCall(CompareSteps(&p, name, options, kinds[kind]));
        }
        for (int s = 0; s < CheckEnumCount(SyncILUSolves); s++) {
          PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_syncilu_solve %s", SyncILUSolves[s]));
          PetscCall(CompareSteps(&p, name, options, kinds[kind]));
        }
      }
      PetscCall(ProblemDestroy(&p));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A right-hand side, and two vectors for solutions. */
static PetscErrorCode VectorsFor(Mat A, Vec *b, Vec *x, Vec *y)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, x, b));
  PetscCall(VecDuplicate(*x, y));
  PetscCall(VecSetRandom(*b, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applications of the host's backend, pc[0], and of CUDA's, transposed too. */
static PetscErrorCode CompareApplications(PC pc[2], Vec b, Vec x, Vec y, const char *what)
{
  PetscFunctionBegin;
  for (int trans = 0; trans < 2; trans++) {
    PetscReal diff;

    if (trans) {
      PetscCall(PCApplyTranspose(pc[0], b, y));
      PetscCall(PCApplyTranspose(pc[1], b, x));
    } else {
      PetscCall(PCApply(pc[0], b, y));
      PetscCall(PCApply(pc[1], b, x));
    }
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff <= 1e-12, "%s, transposed %d: differs from the host's backend by %g", what, trans, (double)diff);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   New values are seen by every kind of solve, without another analysis; the matrix has them on the host or on
   the device.
*/
static PetscErrorCode TestRefactorization(PetscRandom rand)
{
  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    Mat               A;
    Vec               b, x, y;
    PC                pc[2];
    KSP               ksp, host;
    PetscReal         diff;
    SyncILUStatistics s;

    Watch("refactorization, %s", kinds[kind]);
    PetscCall(GenerateMatrix("27pt", 1000, rand, &A));
    if (kind) PetscCall(ToDevice(&A));
    PetscCall(VectorsFor(A, &b, &x, &y));
    for (int k = 0; k < 2; k++) PetscCall(PreconditionerCreate(A, k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc[k]));
    for (int step = 0; step < 6; step++) {
      char what[64];

      for (int k = 0; k < 2; k++) PetscCall(PCSetUp(pc[k]));
      PetscCall(PetscSNPrintf(what, sizeof(what), "step %d, %s vectors", step, kinds[kind]));
      PetscCall(CompareApplications(pc, b, x, y, what));
      if (step % 2) PetscCall(GenerateValues(A, rand));
      else PetscCall(MatScale(A, 1.25));
    }
    PetscCall(PCSyncILUGetStatistics(pc[1], &s));
    CHECK(s.analyses == 1 && s.factorizations == 6, "%" PetscInt_FMT " analyses and %" PetscInt_FMT " factorizations for one pattern and six sets of values",
          s.analyses, s.factorizations);
    /* a vector on the host with a matrix on the device, and the other way round */
    {
      Vec hb, hx;

      PetscCall(VecCreateSeq(PETSC_COMM_SELF, 1000, &hb));
      PetscCall(VecDuplicate(hb, &hx));
      PetscCall(VecCopy(b, hb));
      for (int k = 0; k < 2; k++) PetscCall(PCSetUp(pc[k]));
      PetscCall(PCApply(pc[0], b, y));
      PetscCall(PCApply(pc[1], hb, hx));
      PetscCall(VecCopy(hx, x));
      PetscCall(CheckDifference(x, y, &diff));
      CHECK(diff <= 1e-12, "plain vectors, matrix on the %s: differs from the host's backend by %g", kinds[kind], (double)diff);
      PetscCall(PCApply(pc[1], hb, x));
      PetscCall(CheckDifference(x, y, &diff));
      CHECK(diff <= 1e-12, "from a plain vector to one on the %s: differs from the host's backend by %g", kinds[kind], (double)diff);
      PetscCall(PCApply(pc[1], b, hx));
      PetscCall(VecCopy(hx, x));
      PetscCall(CheckDifference(x, y, &diff));
      CHECK(diff <= 1e-12, "to a plain vector from one on the %s: differs from the host's backend by %g", kinds[kind], (double)diff);
      PetscCall(VecDestroy(&hb));
      PetscCall(VecDestroy(&hx));
    }
    for (int k = 0; k < 2; k++) PetscCall(PCDestroy(&pc[k]));
    /* BiCG solves with the transposed factor, whose values are others after a refactorization */
    PetscCall(SolverCreate(A, SYNCILU_BACKEND_CUDA, &ksp, &pc[0]));
    PetscCall(KSPSetType(ksp, KSPBICG));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    PetscCall(SolverCreate(A, SYNCILU_BACKEND_HOST, &host, &pc[1]));
    PetscCall(KSPSetType(host, KSPBICG));
    PetscCall(KSPSetTolerances(host, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    for (int step = 0; step < 3; step++) {
      PetscInt its[2];
      char     what[64];

      PetscCall(PetscSNPrintf(what, sizeof(what), "bicg, step %d, %s vectors", step, kinds[kind]));
      PetscCall(CheckSolves(ksp, b, x, what));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetIterationNumber(ksp, &its[1]));
      PetscCall(KSPSolve(host, b, x));
      PetscCall(KSPGetIterationNumber(host, &its[0]));
      CHECK(its[0] == its[1] && its[0] > 0, "%s: %" PetscInt_FMT " iterations, on the host %" PetscInt_FMT, what, its[1], its[0]);
      PetscCall(GenerateValues(A, rand));
    }
    PetscCall(KSPDestroy(&ksp));
    PetscCall(KSPDestroy(&host));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Many right-hand sides at once, in matrices on the host and on the device. */
static PetscErrorCode TestMany(PetscRandom rand)
{
  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    Mat       A, B, X[2];
    PC        pc[2];
    PetscReal norm, all;

    Watch("many right-hand sides, %s", kinds[kind]);
    PetscCall(GenerateMatrix("7pt", 1000, rand, &A));
    if (kind) PetscCall(ToDevice(&A));
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 1000, 37, NULL, &B));
    PetscCall(MatSetRandom(B, rand));
#if defined(PETSC_HAVE_CUDA)
    if (kind) PetscCall(MatConvert(B, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &B));
#endif
    for (int k = 0; k < 2; k++) {
      PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X[k]));
      PetscCall(PreconditionerCreate(A, k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc[k]));
      PetscCall(PCSetUp(pc[k]));
      PetscCall(PCMatApply(pc[k], B, X[k]));
    }
    PetscCall(MatNorm(X[0], NORM_FROBENIUS, &all));
    PetscCall(MatAXPY(X[0], -1.0, X[1], SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(X[0], NORM_FROBENIUS, &norm));
    CHECK(norm <= 1e-12 * all && all > 0, "many right-hand sides, %s: differs from the host's backend by %g of %g", kinds[kind], (double)norm, (double)all);
    for (int k = 0; k < 2; k++) {
      PetscCall(PCDestroy(&pc[k]));
      PetscCall(MatDestroy(&X[k]));
    }
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A breakdown is a reason, with the row; and good values work again. */
static PetscErrorCode TestBreakdown(void)
{
  const PetscScalar values[] = {0.0, 1e-20, NAN, INFINITY};
  const PetscInt    n = 1000, row = 617;

  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    for (int v = 0; v < 4; v++) {
      for (int rcm = 0; rcm < 2; rcm++) {
        Mat                A;
        KSP                ksp;
        PC                 pc;
        Vec                b, x;
        KSPConvergedReason reason;
        PCFailedReason     why;
        SyncILUStatistics  s;
        char               text[16384], want[128];

        Watch("breakdown by %g", (double)PetscRealPart(values[v]));
        PetscCall(Tridiagonal(n, row, values[v], 0.0, &A));
        if (kind) PetscCall(ToDevice(&A));
        PetscCall(MatCreateVecs(A, &x, &b));
        PetscCall(VecSet(b, 1.0));
        PetscCall(SolverCreate(A, SYNCILU_BACKEND_CUDA, &ksp, &pc));
        if (rcm) PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGRCM));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        PetscCall(PCGetFailedReason(pc, &why));
        PetscCall(PCSyncILUGetStatistics(pc, &s));
        CHECK(reason == KSP_DIVERGED_PC_FAILED && why == PC_FACTOR_NUMERIC_ZEROPIVOT, "pivot %g, %s: %s, reason %d", (double)PetscRealPart(values[v]),
              kinds[kind], KSPConvergedReasons[reason], (int)why);
        CHECK(rcm ? s.failed_row >= 0 && s.failed_row < n : s.failed_row == row, "pivot %g, %s: row %" PetscInt_FMT ", expected %" PetscInt_FMT,
              (double)PetscRealPart(values[v]), kinds[kind], s.failed_row, row);
        PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
        PetscCall(
          PetscSNPrintf(want, sizeof(want), "zero pivot in row %" PetscInt_FMT " of the factor, row %" PetscInt_FMT " of the matrix", s.failed_row, row));
        CHECK(CheckViewSays(text, "factorization failed", want), "the view lacks \"%s\":\n%s", want, text);
        PetscCall(MatSetValue(A, row, row, 4.0, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        PetscCall(KSPSetOperators(ksp, A, A));
        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        CHECK(reason > 0, "good values after a breakdown by %g, %s: %s", (double)PetscRealPart(values[v]), kinds[kind], KSPConvergedReasons[reason]);
        PetscCall(KSPDestroy(&ksp));
        PetscCall(MatDestroy(&A));
        PetscCall(VecDestroy(&b));
        PetscCall(VecDestroy(&x));
      }
    }
    /* with a shift it is none */
    for (int t = 0; t < 3; t++) {
      const MatFactorShiftType types[] = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
      Mat                      A;
      PC                       pc[2];
      SyncILUStatistics        s[2];

      PetscCall(Tridiagonal(200, 100, 0.0, -1.0, &A));
      if (kind) PetscCall(ToDevice(&A));
      for (int k = 0; k < 2; k++) {
        PCFailedReason why;

        PetscCall(PreconditionerCreate(A, k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc[k]));
        PetscCall(PCFactorSetShiftType(pc[k], types[t]));
        PetscCall(PCFactorSetShiftAmount(pc[k], 0.1));
        PetscCall(PCSetUp(pc[k]));
        PetscCall(PCGetFailedReason(pc[k], &why));
        PetscCall(PCSyncILUGetStatistics(pc[k], &s[k]));
        CHECK(!why && s[k].failed_row < 0, "%s: reason %d", MatFactorShiftTypes[types[t]], (int)why);
        PetscCall(PCDestroy(&pc[k]));
      }
      CHECK(s[0].pivots_shifted == s[1].pivots_shifted && s[0].shift_attempts == s[1].shift_attempts &&
              PetscAbsReal(s[0].shift_amount - s[1].shift_amount) <= 1e-12 * s[0].shift_amount,
            "%s: %" PetscInt_FMT " pivots shifted by %g in %" PetscInt_FMT " attempts, on the host %" PetscInt_FMT " by %g in %" PetscInt_FMT,
            MatFactorShiftTypes[types[t]], s[1].pivots_shifted, (double)s[1].shift_amount, s[1].shift_attempts, s[0].pivots_shifted, (double)s[0].shift_amount,
            s[0].shift_attempts);
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   What runs is said; the memory it takes is that of the matrix three times at most, where the library chooses
   the strategies.
*/
static PetscErrorCode TestView(PetscRandom rand)
{
  const char *const matrices[] = {"7pt", "27pt", "random", "tridiagonal", "5pt_rcm", "15pt", "15pt_random", "powerlaw", "elasticity", "arrow", "denserow"};
  const struct {
    const char *key, *value;
  } said[] = {
    {"backend",       "cuda (asked for)"                                                                                                        },
    {"device",        ""                                                                                                                        },
    {"factorization", ""                                                                                                                        },
    {"solve",         ""                                                                                                                        },
    {"order",         ""                                                                                                                        },
    {"bytes held",    ""                                                                                                                        },
    {"levels",        "L "                                                                                                                      },
    {"arrays",        KINDS > 1 ? "of PETSc, on the device where" : "copied to and from the host for every factorization and solve, since PETSc"}
  };
  char text[16384];

  PetscFunctionBegin;
  for (size_t m = 0; m < sizeof(matrices) / sizeof(matrices[0]); m++) {
    Mat               A;
    PC                pc;
    Vec               b, x;
    PetscInt          n;
    PetscBool         narrow;
    MatInfo           info;
    SyncILUStatistics s;

    Watch("view and bytes, %s", matrices[m]);
    PetscCall(GenerateMatrix(matrices[m], 64000, rand, &A));
    PetscCall(ToDevice(&A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1.0));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x));
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    {
      const PetscLogDouble csr = 12.0 * info.nz_used + 4.0 * (n + 1);
      /* a PETSc without CUDA has no matrix and vectors on the device, so the plan has them */
      const double limit = SYNCILU_MEMORY_LISTS + (PetscDefined(HAVE_CUDA) ? 3 * csr : 4 * csr + 16.0 * n);

      printf("%s, %" PetscInt_FMT " rows: %.2f times the bytes of the matrix\n", matrices[m], n, (double)s.bytes / csr);
      CHECK(s.bytes > 0 && (double)s.bytes <= limit, "%s: %" PetscInt64_FMT " bytes held, %.2f times those of the matrix", matrices[m], s.bytes,
            (double)s.bytes / csr);
    }
    CHECK(s.levels[0] > 0 && s.levels[1] > 0 && s.level_rows[0] > 0 && s.nonzeros == (PetscInt64)info.nz_used,
          "%s: %" PetscInt_FMT " and %" PetscInt_FMT " levels, %" PetscInt64_FMT " entries", matrices[m], s.levels[0], s.levels[1], s.nonzeros);
    PetscCall(CheckView((PetscObject)pc, m ? PETSC_VIEWER_DEFAULT : PETSC_VIEWER_ASCII_INFO_DETAIL, text, sizeof(text)));
    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(said); l++) {
      CHECK(CheckViewSays(text, said[l].key, said[l].value), "%s: the view lacks \"%s: %s\":\n%s", matrices[m], said[l].key, said[l].value, text);
    }
    /* of these it alone has a long chain of narrow levels, and is advised unless a cluster goes through them */
    PetscCall(PetscStrcmp(matrices[m], "5pt_rcm", &narrow));
    CHECK(CheckViewSays(text, "advice", "") == (PetscBool)(narrow && !CheckViewSays(text, "solve", "cluster")),
          "%s, does the view advise another ordering?\n%s", matrices[m], text);
    if (m == 0) printf("%s", text);
    /* the levels are those of the host */
    {
      SyncILUStatistics h;

      PetscCall(PCSyncILUSetBackend(pc, SYNCILU_BACKEND_HOST));
      PetscCall(PCSyncILUSetAnalysis(pc, SYNCILU_ANALYSIS_ASAP));
      PetscCall(PCSetUp(pc));
      PetscCall(PCSyncILUGetStatistics(pc, &h));
      CHECK(h.backend == SYNCILU_BACKEND_HOST && h.levels[0] == s.levels[0] && h.levels[1] == s.levels[1],
            "%s: %" PetscInt_FMT " and %" PetscInt_FMT " levels, on the host %" PetscInt_FMT " and %" PetscInt_FMT, matrices[m], s.levels[0], s.levels[1],
            h.levels[0], h.levels[1]);
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A chain of narrow levels is told with the ordering that has fewer, and not in that ordering. */
static PetscErrorCode TestAdvice(PetscRandom rand)
{
  const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, "bmc"};
  Mat               A;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("band", 3000, rand, &A));
  for (int k = 0; k < 3; k++) {
    PC   pc;
    char text[16384];

    Watch("advice, %s", orderings[k]);
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCFactorSetMatOrderingType(pc, orderings[k]));
    PetscCall(PCSyncILUSetAnalysis(pc, SYNCILU_ANALYSIS_ASAP)); /* not in tiles */
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "advice", "6000 levels of L and U for 3000 rows take about ") == (k < 2), "in ordering %s the view says:\n%s", orderings[k],
          text);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The ways on which the choice of an ordering is made: of the matrix where the factor is, of the one on the
   host, where the check brings it, and before there is a factor, for an ordering that is kept.
*/
enum {
  BY_FACTOR,
  BY_CHECK,
  KEPT,
  WAYS
};

/* The line of the view that says which ordering it is, and the whole view. */
static PetscErrorCode ViewChosen(Mat A, SyncILUBackend backend, const char *options, int way, char line[], size_t len, char text[], size_t size)
{
  const char  *begin, *end;
  PetscOptions db;
  PC           pc;

  PetscFunctionBegin;
  PetscCall(CheckOptionsBegin(options, &db));
  PetscCall(PreconditionerCreate(A, backend, &pc));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGSYNCILU));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(CheckOptionsEnd(&db));
  if (way == BY_CHECK) PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
  if (way == KEPT) PetscCall(PCFactorSetReuseOrdering(pc, PETSC_TRUE));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_ASCII_INFO_DETAIL, text, size));
  begin = strstr(text, " ordering: syncilu takes ");
  end   = begin ? strchr(begin, '\n') : NULL;
  CHECK(end, "no ordering is named:\n%s", text);
  PetscCall(PetscStrncpy(line, begin ? begin + 1 : "", end ? PetscMin(len, (size_t)(end - begin)) : 1));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Points of a matrix of blocks, and both triangles of one that has the upper one, are looked at as those of other
   matrices.
*/
static PetscErrorCode TestChosenByBlocks(PetscRandom rand)
{
  const struct {
    const char *pattern, *options;
    MatType     type;
    PetscInt    bs;
  } cases[] = {
    {"5pt_dof3:150x20", "",                                            MATSEQBAIJ,  3},
    {"5pt:400x20",      "-pc_syncilu_symmetric",                       MATSEQSBAIJ, 1},
    {"5pt:800x20",      "-pc_syncilu_symmetric -pc_syncilu_solve csr", MATSEQSBAIJ, 1}
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    char      line[2][400], text[16384], *end[2];
    Mat       A, B;
    PetscBool same;

    Watch("ordering syncilu, %s as %s", cases[k].pattern, cases[k].type);
    PetscCall(GenerateMatrix(cases[k].pattern, 0, rand, &A));
    PetscCall(GenerateSum(A));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetBlockSize(A, cases[k].bs));
    PetscCall(MatConvert(A, cases[k].type, MAT_INITIAL_MATRIX, &B));
    PetscCall(ViewChosen(A, SYNCILU_BACKEND_CUDA, cases[k].options, BY_FACTOR, line[0], sizeof(line[0]), text, sizeof(text)));
    PetscCall(ViewChosen(B, SYNCILU_BACKEND_CUDA, cases[k].options, BY_FACTOR, line[1], sizeof(line[1]), text, sizeof(text)));
    for (int m = 0; m < 2; m++) end[m] = strrchr(line[m], ':'); /* behind blocks and colors, which differ */
    PetscCall(PetscStrcmp(end[0], end[1], &same));
    CHECK(end[0] && same, "%s as %s: %s, as aij: %s", cases[k].pattern, cases[k].type, line[1], line[0]);
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The ordering that decides by itself takes bmc for a chain of narrow levels, on a GPU and where its blocks
   are asked for there, and leaves as they are: rows whose solves go along the lines of a grid, by levels of
   tiles or inodes that take less time than those of rows would, wide levels, long rows, and solves in which
   nobody waits.
*/
static PetscErrorCode TestChosenOrdering(PetscBool small, PetscRandom rand)
{
  const struct {
    const char    *pattern;
    PetscInt       n;
    SyncILUBackend backend;
    const char    *options, *said;
    PetscBool      natural; /* which the permutation goes with */
    int            ways;    /* of those above */
  } cases[] = {
    {"band",              3000, SYNCILU_BACKEND_CUDA, "",                           "bmc, ",                                                                               PETSC_FALSE, WAYS},
    {"band",              3000, SYNCILU_BACKEND_HOST, "",                           "natural: the host goes through",                                                      PETSC_TRUE,  WAYS},
    {"band",              3000, SYNCILU_BACKEND_AUTO, "",                           "natural: the host goes through",                                                      PETSC_TRUE,  WAYS},
    {"band",              3000, SYNCILU_BACKEND_CUDA, "-pc_syncilu_solve jacobi",   "natural: no row waits for another in solves by Jacobi sweeps",                        PETSC_TRUE,  1   },
    {"band",              3000, SYNCILU_BACKEND_CUDA, "-pc_syncilu_update parilut", "natural: parilut finds the pattern that ",                                            PETSC_TRUE,  1   },
    {"band",              3000, SYNCILU_BACKEND_CUDA, "-pc_syncilu_update parilu",  "bmc, ",                                                                               PETSC_FALSE, 1   }, /* whose solves go by levels */
    {"band",              3000, SYNCILU_BACKEND_CUDA, "-pc_syncilu_relax 0.25",     "; relaxation, here 0.25, was not looked at",                                          PETSC_FALSE, 1   },
    {"7pt",               4096, SYNCILU_BACKEND_CUDA, "",                           "natural: solves along the lines of a grid of 16 x 16 x 16 take about ",               PETSC_TRUE,  WAYS},
    {"7pt",               4096, SYNCILU_BACKEND_CUDA, "-pc_syncilu_solve ell",      " levels of tiles of L and U in the natural order take about ",                        PETSC_TRUE,  1   },
    {"7pt",               4096, SYNCILU_BACKEND_CUDA, "-pc_syncilu_solve csr",      "natural: 92 levels of L and U in the natural order ",                                 PETSC_TRUE,  1   },
    {"elasticity",        3000, SYNCILU_BACKEND_CUDA, "",                           "natural: rows have ",                                                                 PETSC_TRUE,  WAYS},
 /* levels of rows alone would say bmc, as they do of the same rows in another order */
    {"5pt:1200x20",       0,    SYNCILU_BACKEND_CUDA, "",                           "natural: solves along the lines of a grid of 1200 x 20 x 1 take about ",              PETSC_TRUE,  WAYS},
    {"5pt:1200x20",       0,    SYNCILU_BACKEND_CUDA, "-pc_syncilu_relax 0.99",     "; relaxation, here 0.99, was not looked at",                                          PETSC_TRUE,  1   },
    {"9pt:1200x20",       0,    SYNCILU_BACKEND_CUDA, "",                           "natural: solves along the lines of a grid of 1200 x 20 x 1 take about ",              PETSC_TRUE,  1   },
    {"9pt:1200x20",       0,    SYNCILU_BACKEND_CUDA, "-pc_factor_levels 1",        "natural: solves along the lines of a grid of 1200 x 20 x 1 ",                         PETSC_TRUE,  1   },
    {"triangles:1200x32", 0,    SYNCILU_BACKEND_CUDA, "",                           "natural: solves along the lines of a grid of 1200 x 32 x 1 take about ",              PETSC_TRUE,  1   },
    {"5pt_dof3:400x20",   0,    SYNCILU_BACKEND_CUDA, "",                           "natural: solves along the lines of a grid of 400 x 20 x 1 of 3 unknowns take about ", PETSC_TRUE,  WAYS},
    {"5pt:1200x20",       0,    SYNCILU_BACKEND_CUDA, "-pc_syncilu_solve csr",      "bmc, ",                                                                               PETSC_FALSE, 1   },
    {"5pt_rcm:1200x20",   0,    SYNCILU_BACKEND_CUDA, "",                           "bmc, ",                                                                               PETSC_FALSE, WAYS},
    {"5pt_dof5:260x1",    0,    SYNCILU_BACKEND_CUDA, "-pc_syncilu_solve bsr",      "natural: 520 levels of inodes of L and U in the natural order take about ",
     PETSC_TRUE,                                                                                                                                                                        WAYS}
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    const char *backend = SyncILUBackends[cases[k].backend];
    const int   ways    = small && k > 2 ? 1 : cases[k].ways; /* band goes all ways */
    char        first[400];
    Mat         A;

    PetscCall(GenerateMatrix(cases[k].pattern, cases[k].n, rand, &A));
    for (int kind = 0; kind < KINDS; kind++) {
      if (kind) PetscCall(ToDevice(&A));
      for (int way = 0; way < ways; way++) {
        char      line[400], text[16384];
        PetscBool same;

        Watch("ordering syncilu, %s %s, %s, way %d, matrix on the %s", cases[k].pattern, cases[k].options, backend, way, kinds[kind]);
        PetscCall(ViewChosen(A, cases[k].backend, cases[k].options, way, line, sizeof(line), text, sizeof(text)));
        CHECK(strstr(line, cases[k].said), "%s on %s, way %d: the view lacks \"%s\":\n%s", cases[k].pattern, backend, way, cases[k].said, text);
        CHECK((strstr(text, "; ordering: natural") != NULL) == cases[k].natural, "%s on %s, way %d, is permuted or is not:\n%s", cases[k].pattern, backend, way,
              text);
        if (!kind && !way) PetscCall(PetscStrncpy(first, line, sizeof(first)));
        PetscCall(PetscStrcmp(line, first, &same));
        CHECK(same, "%s on %s, way %d, matrix on the %s: %s, at first %s", cases[k].pattern, backend, way, kinds[kind], line, first);
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestChosenByBlocks(rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Left to the library, small blocks stay on the host, and chains, in which one row waits for another. With
   approximate solves smaller ones go to the device, if their matrix is there.
*/
static PetscErrorCode TestAuto(PetscRandom rand)
{
  const struct {
    const char    *pattern;
    PetscInt       n;
    SyncILUSolve   solve;
    PetscBool      device; /* the matrix is there */
    SyncILUBackend backend;
    const char    *said;
  } blocks[] = {
    {"random",      SYNCILU_CUDA_MIN_ROWS - 1,        SYNCILU_SOLVE_AUTO,   PETSC_FALSE, SYNCILU_BACKEND_HOST, "host (auto: "                                   },
    {"random",      SYNCILU_CUDA_MIN_ROWS,            SYNCILU_SOLVE_AUTO,   PETSC_FALSE, SYNCILU_BACKEND_CUDA, "cuda (auto: "                                   },
    {"tridiagonal", SYNCILU_CUDA_MIN_ROWS,            SYNCILU_SOLVE_AUTO,   PETSC_FALSE, SYNCILU_BACKEND_HOST, "host (auto: a chain of "                        },
    {"5pt:15x1000", 0,                                SYNCILU_SOLVE_AUTO,   PETSC_FALSE, SYNCILU_BACKEND_CUDA, "cuda (auto: "                                   }, /* narrow, in tiles or by a cluster */
    {"random",      SYNCILU_CUDA_MIN_ROWS - 1,        SYNCILU_SOLVE_JACOBI, PETSC_FALSE, SYNCILU_BACKEND_HOST, "host (auto: "                                   },
#if defined(PETSC_HAVE_CUDA) && !defined(PETSC_USE_64BIT_INDICES)
    {"random",      SYNCILU_CUDA_MIN_ROWS - 1,        SYNCILU_SOLVE_AUTO,   PETSC_TRUE,  SYNCILU_BACKEND_HOST, "host (auto: "                                   },
    {"random",      SYNCILU_CUDA_MIN_ROWS_JACOBI - 1, SYNCILU_SOLVE_JACOBI, PETSC_TRUE,  SYNCILU_BACKEND_HOST, "host (auto: "                                   },
    {"random",      SYNCILU_CUDA_MIN_ROWS_JACOBI,     SYNCILU_SOLVE_JACOBI, PETSC_TRUE,  SYNCILU_BACKEND_CUDA, "cuda (auto: a GPU is there and the rank has 500"},
#endif
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(blocks); k++) {
    Mat               A;
    PC                pc;
    SyncILUStatistics s;
    char              text[16384];

    Watch("auto, %s", blocks[k].pattern);
    PetscCall(GenerateMatrix(blocks[k].pattern, blocks[k].n, rand, &A));
    if (blocks[k].device) PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_AUTO, &pc));
    PetscCall(PCSyncILUSetSolve(pc, blocks[k].solve));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    CHECK(s.backend == blocks[k].backend, "auto, %s, %" PetscInt_FMT " rows: runs on %s", blocks[k].pattern, s.rows, SyncILUBackends[s.backend]);
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "backend", blocks[k].said), "auto, %s: wanted is \"backend: %s\":\n%s", blocks[k].pattern, blocks[k].said, text);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A strategy that has a name runs where it is asked for, and the view says so. */
static PetscErrorCode TestStrategies(PetscBool small, PetscRandom rand)
{
  const struct {
    const char        *option, *key;
    const char *const *names;
  } kind[] = {
    {"-pc_syncilu_update", "factorization", SyncILUUpdates},
    {"-pc_syncilu_solve",  "solve",         SyncILUSolves }
  };
  Mat A;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("27pt", small ? 512 : 1000, rand, &A));
  for (int k = 0; k < 2; k++) {
    for (int v = 1; v < CheckEnumCount(kind[k].names); v++) { /* the first is auto */
      const char     *name = kind[k].names[v];
      const PetscBool mesh = (PetscBool)(k == 0 && v == SYNCILU_UPDATE_MESH); /* it is one of the others */
      PetscOptions    db;
      PC              pc;
      PetscErrorCode  ierr;
      char            option[64], text[16384];

      Watch("strategy %s", name);
      PetscCall(PetscSNPrintf(option, sizeof(option), "%s %s", kind[k].option, name));
      PetscCall(CheckOptionsBegin(option, &db));
      PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(CheckOptionsEnd(&db));
      text[0]          = 0;
      check_message[0] = 0;
      PetscCall(PetscPushErrorHandler(CheckErrorHandler, NULL));
      ierr = PCSetUp(pc);
      PetscCall(PetscPopErrorHandler());
      if (!ierr) PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
      CHECK(!ierr && (mesh ? CheckViewSays(text, "update mesh", "auto, rows have ") : CheckViewSays(text, kind[k].key, name)), "%s: %s, the view says:\n%s",
            option, check_message, text);
      PetscCall(PCDestroy(&pc));
    }
  }
  PetscCall(MatDestroy(&A));
  /* where most rows are too long for lists the view says so */
  {
    PC   pc;
    char text[16384];

    PetscCall(GenerateMatrix("random200", 300, rand, &A));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCFactorSetLevels(pc, 1));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "factorization", "not list, since "), "the view does not say why the factorization is not list:\n%s", text);
    CHECK(CheckViewSays(text, "prefetch", "on (auto: "), "levels are narrow, and the view does not say that prefetch is on:\n%s", text);
    PetscCall(PCSyncILUSetPrefetch(pc, PETSC_BOOL3_FALSE));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "prefetch", "off (asked for)"), "the view does not say that prefetch is off:\n%s", text);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(GenerateMatrix("quadtree", 300, rand, &A));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "factorization", "adapt, 32 lanes a row") && CheckViewSays(text, "factorization", "not list, since levels have "),
          "the view does not say that levels are narrow:\n%s", text);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(GenerateMatrix("diagonal", 2000, rand, &A));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_ADAPT));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "prefetch", "off (auto: "), "levels are wide, and the view does not say that prefetch is off:\n%s", text);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Tuning: once a pattern, among what the user leaves to the library; the factorization counts once, and the
   iterations stay.
*/
static PetscErrorCode TestTune(PetscRandom rand)
{
  const char *const matrices[] = {"7pt:9x8x7", "random:700"};
  char              text[16384];

  PetscFunctionBegin;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(matrices); m++) {
    Mat A;
    Vec b, want, x;

    PetscCall(GenerateMatrix(matrices[m], 0, rand, &A));
    PetscCall(MatCreateVecs(A, &want, &b));
    PetscCall(VecDuplicate(want, &x));
    PetscCall(VecSetRandom(b, rand));
    for (int k = 0; k < 3; k++) { /* without; tuned; tuned as far as the strategies are not asked for */
      PC                pc;
      SyncILUStatistics s;
      SyncILUUpdate     update;

      PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
      PetscCall(PCSyncILUSetTune(pc, (PetscBool)(k > 0)));
      if (k == 2) PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_SHARED));
      for (int again = 0; again < 2; again++) {
        PetscReal norm, difference;

        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY)); /* as if values had changed */
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        PetscCall(PCSetUp(pc));
        PetscCall(PCApply(pc, b, k ? x : want));
        PetscCall(PCSyncILUGetStatistics(pc, &s));
        CHECK(s.factorizations == again + 1 && s.analyses == 1, "%s, %d: %" PetscInt_FMT " factorizations, %" PetscInt_FMT " analyses", matrices[m], k,
              s.factorizations, s.analyses);
        if (!k) continue;
        PetscCall(VecNorm(want, NORM_INFINITY, &norm));
        PetscCall(VecAXPY(x, -1.0, want));
        PetscCall(VecNorm(x, NORM_INFINITY, &difference));
        CHECK(difference <= 1e-12 * norm, "%s, %d: tuned, the solution differs by %g", matrices[m], k, (double)(difference / norm));
      }
      PetscCall(PCSyncILUGetUpdate(pc, &update));
      CHECK(update == (k == 2 ? SYNCILU_UPDATE_SHARED : SYNCILU_UPDATE_AUTO), "%s, %d: the setting is another one after tuning", matrices[m], k);
      PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
      if (k) {
        const char *of    = strstr(text, ", of ");
        const int   tried = of ? atoi(of + 5) : 0, fewest = k == 2 ? 6 : 13; /* eight updates, most solves, and what was planned */

        CHECK(CheckViewSays(text, "tuned", k == 2 ? "update shared, solve " : "update "), "%s, %d: the view does not say what was tuned:\n%s", matrices[m], k,
              text);
        CHECK(tried >= fewest, "%s, %d: %d strategies were tried, fewer than %d", matrices[m], k, tried, fewest);
      }
      if (k == 2) CHECK(CheckViewSays(text, "factorization", "shared"), "%s: tuning has changed what was asked for:\n%s", matrices[m], text);
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&want));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Both backends log the same operations for a factorization, also where the pattern is nowhere but on the
   device.
*/
static PetscErrorCode TestFlops(PetscRandom rand)
{
  const char *const matrices[] = {"7pt", "27pt", "arrow", "random", "powerlaw"};

  PetscFunctionBegin;
  PetscCall(PetscLogDefaultBegin());
  for (size_t m = 0; m < sizeof(matrices) / sizeof(matrices[0]); m++) {
    for (int kind = 0; kind < KINDS; kind++) {
      Mat            A;
      PetscLogDouble flops[2], before, after;

      PetscCall(GenerateMatrix(matrices[m], 1000, rand, &A));
      if (kind) PetscCall(ToDevice(&A));
      for (int cuda = 0; cuda < 2; cuda++) {
        PC pc;

        PetscCall(PreconditionerCreate(A, cuda ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc));
        PetscCall(PetscGetFlops(&before));
        PetscCall(PCSetUp(pc));
        PetscCall(PetscGetFlops(&after));
        flops[cuda] = after - before;
        PetscCall(PCDestroy(&pc));
      }
      CHECK(flops[0] > 0 && flops[0] == flops[1], "%s, %s: %g flops are logged, for the host's backend %g", matrices[m], kinds[kind], flops[1], flops[0]);
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Most rows are empty, so that PETSc leaves them out of what it has on the device; their diagonals are added,
   and a shift makes pivots of them. What is compared is the preconditioner: with such a matrix on the device
   the residuals of GMRES in PETSc 3.26.1 were smaller than the empty rows allow, with the host's backend too.
*/
static PetscErrorCode TestEmptyRows(void)
{
  const PetscInt n = 1000;

  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    Mat A;
    Vec b, x, y;

    Watch("empty rows, %s", kinds[kind]);
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, &A));
    for (PetscInt i = 0; i < n / 5; i++) {
      if (i) PetscCall(MatSetValue(A, i * 5, i * 5 - 5, -1.0, INSERT_VALUES));
      PetscCall(MatSetValue(A, i * 5, i * 5, 3.0, INSERT_VALUES));
      PetscCall(MatSetValue(A, i * 5, i * 5 + 1, -1.0, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    if (kind) PetscCall(ToDevice(&A));
    PetscCall(VectorsFor(A, &b, &x, &y));
    for (int order = 0; order < 2; order++) {
      PC                pc[2];
      char              what[64];
      SyncILUStatistics s;

      for (int cuda = 0; cuda < 2; cuda++) {
        PetscCall(PreconditionerCreate(A, cuda ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc[cuda]));
        PetscCall(PCFactorSetMatOrderingType(pc[cuda], order ? MATORDERINGRCM : MATORDERINGNATURAL));
        PetscCall(PCFactorSetAllowDiagonalFill(pc[cuda], PETSC_TRUE));
        PetscCall(PCFactorSetShiftType(pc[cuda], MAT_SHIFT_NONZERO));
        PetscCall(PCFactorSetShiftAmount(pc[cuda], 1.0));
        PetscCall(PCSetUp(pc[cuda]));
      }
      PetscCall(PetscSNPrintf(what, sizeof(what), "empty rows, ordering %d, %s vectors", order, kinds[kind]));
      PetscCall(CompareApplications(pc, b, x, y, what));
      PetscCall(PCSyncILUGetStatistics(pc[1], &s));
      CHECK(s.diagonals_added == n - n / 5 && s.shift_amount == 1.0 && s.failed_row < 0, "empty rows: %" PetscInt_FMT " diagonal entries added, shift by %g",
            s.diagonals_added, (double)s.shift_amount);
      for (int cuda = 0; cuda < 2; cuda++) PetscCall(PCDestroy(&pc[cuda]));
    }
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A rank may have no rows at all. */
static PetscErrorCode TestNoRows(void)
{
  char text[16384];
  Mat  A;
  PC   pc;
  Vec  b, x;

  PetscFunctionBegin;
  Watch("no rows");
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 0, 0, 0, NULL, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCApplyTranspose(pc, b, x));
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
  CHECK(CheckViewSays(text, "backend", "cuda") && !strstr(text, "nan"), "no rows:\n%s", text);
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
/* The same solution in whatever stream PETSc is at, also after it has destroyed the last one. */
static PetscErrorCode TestStreams(PetscRandom rand)
{
  Mat                A;
  PC                 pc;
  Vec                b, x, y;
  PetscReal          diff;
  PetscDeviceContext root, other;

  PetscFunctionBegin;
  Watch("streams");
  PetscCall(GenerateMatrix("7pt", 8000, rand, &A));
  PetscCall(ToDevice(&A));
  PetscCall(VectorsFor(A, &b, &x, &y));
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, y));
  PetscCall(PetscDeviceContextGetCurrentContext(&root));
  for (int k = 0; k < 4; k++) {
    PetscCall(PetscDeviceContextCreate(&other));
    PetscCall(PetscDeviceContextSetStreamType(other, PETSC_STREAM_NONBLOCKING));
    PetscCall(PetscDeviceContextSetUp(other));
    if (k % 2) { /* other values and then the same again */
      PetscCall(MatScale(A, 2.0));
      PetscCall(MatScale(A, 0.5));
    }
    PetscCall(PetscDeviceContextSynchronize(root)); /* what matrix and vectors got there */
    PetscCall(PetscDeviceContextSetCurrentContext(other));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x));
    PetscCall(PetscDeviceContextSynchronize(other));
    PetscCall(PetscDeviceContextSetCurrentContext(root));
    PetscCall(PetscDeviceContextDestroy(&other));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff == 0, "stream %d: differs by %g", k, (double)diff);
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff == 0, "after stream %d: differs by %g", k, (double)diff);
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode TestLifeCycle(PetscRandom rand)
{
  PetscFunctionBegin;
  for (int kind = 0; kind < KINDS; kind++) {
    Mat       A;
    PC        pc, other;
    Vec       b, x, y;
    PetscReal diff;

    Watch("life cycle, %s", kinds[kind]);
    PetscCall(GenerateMatrix("7pt", 343, rand, &A));
    if (kind) PetscCall(ToDevice(&A));
    PetscCall(VectorsFor(A, &b, &x, &y));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, y));
    /* reset and set up again */
    PetscCall(PCReset(pc));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff == 0, "%s: reset and set up again: differs by %g", kinds[kind], (double)diff);
    /* another one beside it */
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &other));
    PetscCall(PCSyncILUSetRelax(other, 1.0));
    PetscCall(PCSetUp(other));
    for (int k = 0; k < 3; k++) {
      PetscCall(PCApply(other, b, x));
      PetscCall(CheckDifference(x, y, &diff));
      CHECK(diff > 0, "%s: relaxation had no effect", kinds[kind]);
      PetscCall(PCApply(pc, b, x));
      PetscCall(CheckDifference(x, y, &diff));
      CHECK(diff == 0, "%s: the second preconditioner changed the first by %g", kinds[kind], (double)diff);
    }
    PetscCall(PCDestroy(&other));
    /* settings changed and changed back */
    PetscCall(PCSyncILUSetRelax(pc, 1.0));
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff > 0, "%s: relaxation set after the setup had no effect", kinds[kind]);
    PetscCall(PCSyncILUSetRelax(pc, 0.0));
    PetscCall(PCSyncILUSetBackend(pc, SYNCILU_BACKEND_HOST));
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff <= 1e-12, "%s: the host's backend differs by %g", kinds[kind], (double)diff);
    PetscCall(PCSyncILUSetBackend(pc, SYNCILU_BACKEND_CUDA));
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff == 0, "%s: to the host and back: differs by %g", kinds[kind], (double)diff);
    /* another type and back */
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSetType(pc, PCSYNCILU));
    PetscCall(PCSyncILUSetBackend(pc, SYNCILU_BACKEND_CUDA));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff == 0, "%s: changed type and back: differs by %g", kinds[kind], (double)diff);
    /* the factor seen by itself */
    {
      Mat  F;
      char text[16384];

      PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(CheckView((PetscObject)F, PETSC_VIEWER_ASCII_INFO, text, sizeof(text)));
      CHECK(CheckViewSays(text, "backend", "cuda"), "the view of the factor lacks the backend:\n%s", text);
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    /* no rows */
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 0, 0, 0, NULL, &A));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    if (kind) PetscCall(ToDevice(&A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x));
    PetscCall(PCApplyTranspose(pc, b, x));
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  /* the check against the reference, with vectors on the host */
  {
    Problem  p;
    PetscInt its;

    PetscCall(ProblemCreate(8, 0.3, &p));
    PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_syncilu_backend cuda -pc_syncilu_check", &its, NULL));
    CHECK(its > 0, "%" PetscInt_FMT " iterations", its);
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right solution, or an error that says what there is too little of. */
static PetscErrorCode ApplyOrSaySo(PC pc, PetscErrorCode (*apply)(PC, Vec, Vec), Vec b, Vec x, Vec want, const char *what)
{
  PetscErrorCode ierr;
  PetscReal      diff;

  PetscFunctionBegin;
  check_message[0] = 0;
  PetscCall(PetscPushErrorHandler(CheckErrorHandler, NULL));
  ierr = (*apply)(pc, b, x);
  PetscCall(PetscPopErrorHandler());
  if (ierr) {
    printf("%s: %s\n", what, check_message);
    CHECK(ierr == PETSC_ERR_GPU_RESOURCE && strstr(check_message, "out of memory on the device"), "%s: error %d: %s", what, (int)ierr, check_message);
  } else {
    PetscCall(CheckDifference(x, want, &diff));
    CHECK(diff == 0, "%s: differs by %g", what, (double)diff);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Memory of the device that runs out is an error that says so, or with backend auto the host takes over; what
   was there before works on, and all works again once there is memory. With 128 MiB left the rows of the
   matrix find room and the plan does not, with 16 MiB not even the rows do.
*/
static PetscErrorCode TestMemory(PetscRandom rand)
{
  enum {
    COLUMNS = 8
  };
  const size_t leave[] = {(size_t)128 << 20, (size_t)16 << 20};
  Problem      p;
  Mat          B, X, Y;
  PC           pc, other;
  Vec          lost, want[2];
  PetscInt     n, its, host;
  PetscReal    diff;

  PetscFunctionBegin;
  Watch("memory, the host's solution");
  PetscCall(GenerateMatrix("7pt:120x120x120", 0, rand, &p.A));
  PetscCall(MatGetSize(p.A, &n, NULL));
  PetscCall(MatCreateVecs(p.A, &p.x, &p.b));
  PetscCall(VecSet(p.b, 1.0));
  for (int t = 0; t < 2; t++) PetscCall(VecDuplicate(p.x, &want[t]));
  PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_syncilu_backend host", &host, NULL));
  CHECK(host > 0 && host < 500, "%" PetscInt_FMT " iterations on the host", host);
  Watch("memory, solutions with enough of it");
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, COLUMNS, NULL, &B));
  PetscCall(MatSetRandom(B, rand));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &Y));
  /* also, the driver loads kernels when they are first launched, for which there must be room */
  PetscCall(PreconditionerCreate(p.A, SYNCILU_BACKEND_CUDA, &pc));
  PetscCall(PCApply(pc, p.b, want[0]));
  PetscCall(PCApplyTranspose(pc, p.b, want[1]));
  PetscCall(PCMatApply(pc, B, Y));
  PetscCall(PCDestroy(&pc));
  for (size_t k = 0; k < sizeof(leave) / sizeof(leave[0]); k++) {
    const int mib = (int)(leave[k] >> 20);
    Hoard     h;
    KSP       ksp;
    PC        inner;
    PetscBool taken;
    char      what[64], text[16384];

    /* one that is there already, and holds all that the backend keeps between analyses */
    Watch("memory, setup with enough of it");
    PetscCall(PreconditionerCreate(p.A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSetUp(pc));
    PetscCall(HoardTake(leave[k], &h, &taken));
    if (!taken) {
      PetscCall(PCDestroy(&pc));
      continue;
    }
    Watch("memory, setup with %d MiB", mib);
    PetscCall(PreconditionerCreate(p.A, SYNCILU_BACKEND_CUDA, &other));
    CHECK_ERROR(PCSetUp(other), PETSC_ERR_LIB, "out of memory on the device");
    printf("setup, %d MiB left: %s\n", mib, check_message);
    CHECK(strstr(check_message, "-pc_syncilu_backend cuda"), "\"%s\" does not name the option", check_message);
    PetscCall(PCDestroy(&other));
    Watch("memory, auto with %d MiB", mib);
    PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_syncilu_backend auto", &its, &ksp));
    CHECK(its == host, "auto, %d MiB left: %" PetscInt_FMT " iterations, on the host %" PetscInt_FMT, mib, its, host);
    PetscCall(KSPGetPC(ksp, &inner));
    PetscCall(CheckView((PetscObject)inner, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "backend", "host (auto: out of memory on the device"), "auto, %d MiB left: the view does not say why the host:\n%s", mib, text);
    PetscCall(KSPDestroy(&ksp));
    /*
       memory that is gone after the setup; PETSc leaves the right-hand side of a call that fails locked, so
       that it is not one of the others
    */
    Watch("memory, solves with %d MiB", mib);
    PetscCall(VecDuplicate(p.b, &lost));
    PetscCall(VecCopy(p.b, lost));
    CHECK_ERROR(PCMatApply(pc, B, X), PETSC_ERR_GPU_RESOURCE, "out of memory on the device");
    PetscCall(PetscSNPrintf(what, sizeof(what), "solve, %d MiB left", mib));
    PetscCall(ApplyOrSaySo(pc, PCApply, lost, p.x, want[0], what));
    PetscCall(PetscSNPrintf(what, sizeof(what), "transposed solve, %d MiB left", mib));
    PetscCall(ApplyOrSaySo(pc, PCApplyTranspose, lost, p.x, want[1], what));
    PetscCall(PetscSNPrintf(what, sizeof(what), "solve after it, %d MiB left", mib));
    PetscCall(ApplyOrSaySo(pc, PCApply, lost, p.x, want[0], what));
    PetscCall(VecDestroy(&lost));
    /* and back: the one that ran short, the one that could not be set up, and a new one */
    PetscCall(PreconditionerCreate(p.A, SYNCILU_BACKEND_CUDA, &other));
    CHECK_ERROR(PCSetUp(other), PETSC_ERR_LIB, "out of memory on the device");
    PetscCall(HoardFree(&h));
    Watch("memory, solves after %d MiB", mib);
    for (int t = 0; t < 2; t++) {
      if (t) PetscCall(PCApplyTranspose(pc, p.b, p.x));
      else PetscCall(PCApply(pc, p.b, p.x));
      PetscCall(CheckDifference(p.x, want[t], &diff));
      CHECK(diff == 0, "solve after %d MiB were left, transposed %d: differs by %g", mib, t, (double)diff);
    }
    PetscCall(PCMatApply(pc, B, X));
    PetscCall(MatAXPY(X, -1.0, Y, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(X, NORM_FROBENIUS, &diff));
    CHECK(diff == 0, "%d right-hand sides after %d MiB were left: differ by %g", COLUMNS, mib, (double)diff);
    PetscCall(PCDestroy(&pc));
    Watch("memory, setup after %d MiB", mib);
    PetscCall(PreconditionerCreate(p.A, SYNCILU_BACKEND_CUDA, &pc));
    for (int again = 0; again < 2; again++) {
      PetscCall(PCSetUp(again ? other : pc));
      PetscCall(PCApply(again ? other : pc, p.b, p.x));
      PetscCall(CheckDifference(p.x, want[0], &diff));
      CHECK(diff == 0, "set up after %d MiB were left, again %d: differs by %g", mib, again, (double)diff);
    }
    PetscCall(PCDestroy(&other));
    PetscCall(PCDestroy(&pc));
  }
  for (int t = 0; t < 2; t++) PetscCall(VecDestroy(&want[t]));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   memory = PETSC_FALSE, small = PETSC_FALSE;
  int         files                      = 0, failed;
  char        folder[PETSC_MAX_PATH_LEN] = "", **path = NULL;

  if (GpuMissing()) return SKIPPED;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-memory", &memory, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrices", folder, sizeof(folder), NULL));
  if (folder[0]) PetscCall(LoadFolder(folder, &files, &path));
  if (folder[0] && !files) {
    printf("skipped: no matrices in %s\n", folder);
    PetscCall(PetscFinalize());
    return SKIPPED;
  }
  watch_seconds = 60;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  if (files) PetscCall(TestFiles(files, path));
  else if (!memory) {
    PetscCall(TestLifeCycle(rand));
    PetscCall(TestStrategies(small, rand));
    PetscCall(TestEmptyRows());
    PetscCall(TestNoRows());
    PetscCall(TestTune(rand));
    PetscCall(TestFlops(rand));
#if defined(PETSC_HAVE_CUDA)
    PetscCall(TestStreams(rand));
#endif
    PetscCall(TestAdvice(rand));
    PetscCall(TestChosenOrdering(small, rand));
    if (!small) {
      PetscCall(TestAuto(rand));
      PetscCall(TestView(rand));
      PetscCall(TestRelaxation());
    }
    PetscCall(TestRefactorization(rand));
    PetscCall(TestMany(rand));
    PetscCall(TestBreakdown());
    PetscCall(TestIterations(small));
  }
  if (!files && !small) PetscCall(TestMemory(rand));
  PetscCall(LoadFolderFree(files, &path));
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = CheckReport("cuda_pc");
  PetscCall(PetscFinalize());
  return failed;
}
