static char help[] = "Eisenstat's trick below Krylov methods, and the two triangular solves one by one.\n\n";

#include "check.h"
#include "case.h"
#include "syncilu_impl.h"

static const char *const patterns[] = {"5pt:23x17", "7pt:9x8x7", "tridiagonal:400", "bidiagonal:100", "arrow:120", "diagonal:33", "diagonal:1"};
static const char *const few[]      = {"7pt:5x4x3", "tridiagonal:40"}; /* where the kernels are emulated */

/* A test matrix, or with its transpose added a symmetric one; on the device, where PETSc has one and the backend is for it. */
static PetscErrorCode Generate(const char *pattern, PetscBool symmetric, SyncILUBackend backend, PetscRandom rand, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, A));
  if (symmetric) PetscCall(GenerateSum(*A));
#if defined(PETSC_HAVE_CUDA)
  if (backend == SYNCILU_BACKEND_CUDA) PetscCall(MatConvert(*A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, A));
#else
  (void)backend;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const char *ksp, *ordering;
  KSPNormType norm;
  PCSide      side;
  PetscReal   relax;
  PetscInt    threads;
  PetscBool   guess; /* a nonzero one */
} Way;

static PetscErrorCode Solver(Mat A, SyncILUBackend backend, const Way *way, PetscBool trick, KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(SolverCreate(A, backend, ksp, &pc));
  PetscCall(KSPSetType(*ksp, way->ksp));
  PetscCall(KSPSetNormType(*ksp, way->norm));
  PetscCall(KSPSetPCSide(*ksp, way->side));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, way->guess));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500));
  PetscCall(PCFactorSetMatOrderingType(pc, way->ordering));
  PetscCall(PCSyncILUSetRelax(pc, way->relax));
  PetscCall(PCSyncILUSetThreads(pc, way->threads));
  PetscCall(PCSyncILUSetEisenstat(pc, trick));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for random right-hand sides with the trick and without: iterations, the true residual, the right-hand side as it was. */
static PetscErrorCode TestWay(Mat A, SyncILUBackend backend, const Way *way, PetscBool same, const char *name, PetscRandom rand)
{
  KSP       ksp[2];
  Vec       b, keep, x, r;
  char      what[256];
  PetscInt  its[2];
  PetscReal norm, residual;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s, norm %s, relax %g, %s, %" PetscInt_FMT " threads, guess %d", name, SyncILUBackends[backend],
                          way->ksp, KSPNormTypes[way->norm], (double)way->relax, way->ordering, way->threads, way->guess));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &keep));
  PetscCall(VecDuplicate(b, &r));
  for (int k = 0; k < 2; k++) PetscCall(Solver(A, backend, way, (PetscBool)k, &ksp[k]));
  for (int solve = 0; solve < 2; solve++) {
    if (solve) { /* other values in the same pattern */
      PetscCall(MatScale(A, 1.5));
      PetscCall(MatShift(A, 0.25));
    }
    PetscCall(VecSetRandom(b, rand));
    PetscCall(VecCopy(b, keep));
    PetscCall(VecNorm(b, NORM_2, &norm));
    for (int k = 0; k < 2; k++) {
      KSPConvergedReason reason;
      Mat                Amat;
      PetscBool          equal;

      PetscCall(VecSet(x, way->guess ? 0.3 : 0.0));
      PetscCall(KSPSolve(ksp[k], b, x));
      PetscCall(KSPGetIterationNumber(ksp[k], &its[k]));
      PetscCall(KSPGetConvergedReason(ksp[k], &reason));
      PetscCall(MatMult(A, x, r));
      PetscCall(VecAYPX(r, -1.0, b));
      PetscCall(VecNorm(r, NORM_2, &residual));
      CHECK(reason > 0 && residual <= 1e-8 * norm, "%s: solve %d, trick %d: reason %d, residual %g", what, solve, k, (int)reason, (double)(residual / norm));
      PetscCall(VecEqual(b, keep, &equal));
      PetscCall(KSPGetOperators(ksp[k], &Amat, NULL));
      CHECK(equal && Amat == A, "%s: the right-hand side or the operator is another one after the solve", what);
    }
    CHECK(!same || PetscAbsInt(its[0] - its[1]) <= 1, "%s: %" PetscInt_FMT " iterations, without the trick %" PetscInt_FMT, what, its[1], its[0]);
  }
  for (int k = 0; k < 2; k++) PetscCall(KSPDestroy(&ksp[k]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&keep));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestKrylov(SyncILUBackend backend, size_t n, const char *const names[], PetscRandom rand)
{
  const Way symmetric[] = {
    {KSPCG,        MATORDERINGNATURAL, KSP_NORM_NATURAL,        PC_LEFT, 0.0,  1, PETSC_FALSE},
    {KSPCG,        MATORDERINGNATURAL, KSP_NORM_NATURAL,        PC_LEFT, 0.95, 3, PETSC_FALSE},
    {KSPCG,        MATORDERINGRCM,     KSP_NORM_NATURAL,        PC_LEFT, 0.5,  1, PETSC_TRUE },
    {KSPCG,        MATORDERINGBMC,     KSP_NORM_NATURAL,        PC_LEFT, 0.0,  2, PETSC_FALSE},
    {KSPCG,        MATORDERINGNATURAL, KSP_NORM_PRECONDITIONED, PC_LEFT, 0.0,  1, PETSC_TRUE },
    {KSPCHEBYSHEV, MATORDERINGNATURAL, KSP_NORM_PRECONDITIONED, PC_LEFT, 0.0,  1, PETSC_FALSE}
  };
  const Way any[] = {
    {KSPGMRES,  MATORDERINGNATURAL, KSP_NORM_PRECONDITIONED,   PC_LEFT,  0.0, 1, PETSC_FALSE},
    {KSPGMRES,  MATORDERINGRCM,     KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 0.5, 2, PETSC_TRUE },
    {KSPBCGS,   MATORDERINGNATURAL, KSP_NORM_PRECONDITIONED,   PC_LEFT,  0.0, 2, PETSC_TRUE },
    {KSPFGMRES, MATORDERINGND,      KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 0.0, 1, PETSC_FALSE}
  };

  PetscFunctionBegin;
  for (size_t p = 0; p < n; p++) {
    for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(symmetric) + PETSC_STATIC_ARRAY_LENGTH(any); w++) {
      const PetscBool spd = (PetscBool)(w < PETSC_STATIC_ARRAY_LENGTH(symmetric));
      const Way      *way = spd ? &symmetric[w] : &any[w - PETSC_STATIC_ARRAY_LENGTH(symmetric)];
      PetscBool       same;
      Mat             A;

      if (PetscDefined(USE_COMPLEX) && spd) continue; /* symmetric, not Hermitian */
      PetscCall(Generate(names[p], spd, backend, rand, &A));
      PetscCall(PetscStrcmp(way->ksp, KSPCG, &same));
      same = (PetscBool)(same && way->norm == KSP_NORM_NATURAL);
      /* in other orderings an arrow or a grid has updates of other entries */
      if (strcmp(way->ordering, MATORDERINGNATURAL) && strncmp(names[p], "tridiagonal", 11) && strncmp(names[p], "diagonal", 8)) {
        KSP            ksp;
        PetscErrorCode ierr;

        PetscCall(Solver(A, backend, way, PETSC_TRUE, &ksp));
        QUIETLY(ierr, KSPSetUp(ksp));
        if (ierr)
          CHECK(ierr == PETSC_ERR_SUP && strstr(check_message, "only diagonals may have updates"), "%s, %s: %s", names[p], way->ordering, check_message);
        else PetscCall(TestWay(A, backend, way, same, names[p], rand));
        PetscCall(KSPDestroy(&ksp));
      } else PetscCall(TestWay(A, backend, way, same, names[p], rand));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator that the Krylov method has, against the matrix between the two solves. */
typedef struct {
  Mat       A, F;
  Vec       v, y;
  PetscReal difference;
  PetscBool again; /* the same bits a second time */
  PetscInt  times;
} Monitored;

/*
   Where the entries of the operator's vectors stand in the matrix' numbering: L^-1 v has the same numbers in
   both, v any vector.
*/
static PetscErrorCode Numbering(Mat F, Vec v, IS *numbering)
{
  SyncILUEngine      e = ((Mat_SyncILU *)F->data)->engine;
  const PetscScalar *from, *given;
  PetscScalar       *own;
  PetscReal         *key[2];
  PetscInt           n, found = 0, *at, *rank[2];
  Vec                y;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  if (!e->ops->eisenstat->transform) {
    PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, numbering));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(v, &y));
  PetscCall(MatForwardSolve(F, v, y));
  PetscCall(PetscMalloc6(n, &own, n, &at, n, &key[0], n, &key[1], n, &rank[0], n, &rank[1]));
  PetscCall(VecGetArrayRead(v, &from));
  PetscCall((*e->ops->eisenstat->transform)(e, PETSC_FALSE, from, own, PETSC_MEMTYPE_HOST));
  PetscCall(VecRestoreArrayRead(v, &from));
  PetscCall(VecGetArrayRead(y, &given));
  for (PetscInt i = 0; i < n; i++) {
    key[0][i]  = PetscRealPart(own[i]);
    key[1][i]  = PetscRealPart(given[i]);
    rank[0][i] = rank[1][i] = i;
  }
  PetscCall(VecRestoreArrayRead(y, &given));
  for (int k = 0; k < 2; k++) PetscCall(PetscSortRealWithArrayInt(n, key[k], rank[k]));
  for (PetscInt k = 0; k < n; k++) {
    at[rank[0][k]] = rank[1][k];
    found += key[0][k] == key[1][k];
  }
  CHECK(found == n, "%" PetscInt_FMT " of %" PetscInt_FMT " numbers of L^-1 v are found in the operator's order", found, n);
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, at, PETSC_COPY_VALUES, numbering));
  PetscCall(PetscFree6(own, at, key[0], key[1], rank[0], rank[1]));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Monitor(KSP ksp, PetscInt it, PetscReal norm, void *context)
{
  Monitored *m = (Monitored *)context;
  Mat        B;
  PC         pc;
  IS         numbering;
  Vec        dv, want;
  PetscReal  difference;

  PetscFunctionBegin;
  (void)norm;
  if (it != 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(ksp, &B, NULL));
  CHECK(B != m->A, "the Krylov method has the matrix itself");
  PetscCall(VecDuplicate(m->v, &dv));
  PetscCall(VecDuplicate(m->v, &want));
  PetscCall(MatMult(B, m->v, dv));
  PetscCall(MatMult(B, m->v, m->y));
  PetscCall(VecEqual(dv, m->y, &m->again));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecSet(dv, 1.0));
  PetscCall(PCApply(pc, dv, want)); /* the reciprocal pivots */
  PetscCall(VecPointwiseDivide(dv, m->v, want));
  PetscCall(Numbering(m->F, m->v, &numbering));
  PetscCall(VecPermute(dv, numbering, PETSC_TRUE));
  PetscCall(MatBackwardSolve(m->F, dv, want)); /* U'^-1 v = (D U')^-1 D v */
  PetscCall(MatMult(m->A, want, dv));
  PetscCall(MatForwardSolve(m->F, dv, want));
  PetscCall(VecPermute(want, numbering, PETSC_FALSE));
  PetscCall(ISDestroy(&numbering));
  PetscCall(CheckDifference(m->y, want, &difference));
  m->difference = PetscMax(m->difference, difference);
  m->times++;
  PetscCall(VecDestroy(&dv));
  PetscCall(VecDestroy(&want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOperator(const char *pattern, const char *ordering, SyncILUBackend backend, SyncILUSolve solve, PetscInt threads, PetscRandom rand)
{
  const Way         way     = {KSPGMRES, ordering, KSP_NORM_PRECONDITIONED, PC_LEFT, threads > 1 ? 0.7 : 0.0, threads, PETSC_FALSE};
  const PetscBool   shifted = (PetscBool)!strncmp(pattern, "tridiagonal", 11);
  SyncILUStatistics s;
  Monitored         m;
  KSP               ksp;
  PC                pc;
  Vec               b, x;
  char              what[128], view[8192];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %s, solve %s", pattern, ordering, SyncILUBackends[backend], SyncILUSolves[solve]));
  PetscCall(PetscMemzero(&m, sizeof(m)));
  PetscCall(Generate(pattern, PETSC_FALSE, backend, rand, &m.A));
  PetscCall(Solver(m.A, backend, &way, PETSC_TRUE, &ksp));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSyncILUSetSolve(pc, solve));
  if (solve == SYNCILU_SOLVE_MR) PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE)); /* whose arrays, and pattern, are the host's */
  if (shifted) {
    PetscCall(MatSetValue(m.A, 0, 0, 0.0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(m.A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(m.A, MAT_FINAL_ASSEMBLY));
    PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
    PetscCall(PCFactorSetShiftAmount(pc, 0.5));
  }
  if (solve == SYNCILU_SOLVE_CSR) PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_ADAPT)); /* which does not look whether only diagonals have updates */
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCFactorGetMatrix(pc, &m.F));
  PetscCall(MatCreateVecs(m.A, &x, &b));
  PetscCall(VecDuplicate(b, &m.v));
  PetscCall(VecDuplicate(b, &m.y));
  PetscCall(VecSetRandom(m.v, rand));
  PetscCall(VecSetRandom(b, rand));
  PetscCall(KSPMonitorSet(ksp, Monitor, &m, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  CHECK(m.times == 1 && m.difference <= 1e-12 && m.again, "%s: the operator differs by %g from L^-1 A U'^-1, the second time it is the same: %d", what,
        (double)m.difference, m.again);
  PetscCall(PCSyncILUGetStatistics(pc, &s));
  CHECK(!shifted || s.shift_attempts > 0, "%s: no shift", what);
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, view, sizeof(view)));
  /* it gives way to others where it does not fit, which it does here on every device that has it */
  CHECK(solve != SYNCILU_SOLVE_STRUCT || strcmp(ordering, MATORDERINGNATURAL) || !strstr(pattern, "pt:") || CheckViewSays(view, "solve", "struct") ||
          strstr(view, "the device has no barriers"),
        "%s: another strategy is at work:\n%s", what, view);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&m.v));
  PetscCall(VecDestroy(&m.y));
  PetscCall(MatDestroy(&m.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device with every way to solve: what makes the right-hand side of L, and what leaves, is part of each. */
static PetscErrorCode TestOperators(PetscBool device, PetscBool small, PetscRandom rand)
{
  const struct {
    const char *pattern, *ordering;
  } all[] = {
    {"7pt:12x10x9",    MATORDERINGNATURAL},
    {"5pt:23x17",      MATORDERINGNATURAL},
    {"7pt:6x5x5",      MATORDERINGRCM    },
    {"5pt:16x15",      MATORDERINGBMC    },
    {"5pt:24x17",      MATORDERINGBMC    },
    {"tridiagonal:70", MATORDERINGNATURAL},
    {"arrowup:700",    MATORDERINGNATURAL}
  };

  PetscFunctionBegin;
  for (int p = 0; p < 3; p++) PetscCall(TestOperator(patterns[p], MATORDERINGNATURAL, SYNCILU_BACKEND_HOST, SYNCILU_SOLVE_AUTO, 1 + (PetscInt)p, rand));
  for (int solve = 0; solve < CheckEnumCount(SyncILUSolves) && device; solve++) {
    if (solve == SYNCILU_SOLVE_JACOBI) continue; /* is refused */
    for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(all); p++)
      PetscCall(TestOperator(all[p].pattern, all[p].ordering, SYNCILU_BACKEND_CUDA, (SyncILUSolve)solve, 1 + (PetscInt)(p & 1), rand));
    /* as many rows as fill a device */
    if (!small) PetscCall(TestOperator("7pt:90x70x53", MATORDERINGNATURAL, SYNCILU_BACKEND_CUDA, (SyncILUSolve)solve, 1, rand));
    if (!small) PetscCall(TestOperator("5pt:600x500", MATORDERINGRCM, SYNCILU_BACKEND_CUDA, (SyncILUSolve)solve, 3, rand));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the trick is not for, each with its reason; and that all goes on afterwards. */
static PetscErrorCode TestRefusals(SyncILUBackend backend, PetscBool device, PetscRandom rand)
{
  const Way          way = {KSPGMRES, MATORDERINGNATURAL, KSP_NORM_PRECONDITIONED, PC_LEFT, 0.0, 1, PETSC_FALSE};
  char               view[8192];
  KSP                ksp;
  PC                 pc;
  Mat                A, B, C, X, Y;
  Vec                b, x, keep, left, right;
  PetscBool          flag, equal;
  KSPConvergedReason reason;
  MatNullSpace       null;

  PetscFunctionBegin;
  PetscCall(Generate("27pt:4x3x3", PETSC_FALSE, backend, rand, &A));
  PetscCall(Solver(A, backend, &way, PETSC_TRUE, &ksp));
  CHECK_ERROR(KSPSetUp(ksp), PETSC_ERR_SUP, "only diagonals may have updates, but the entry of row 1 and column");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));

  PetscCall(Generate("tridiagonal:6", PETSC_FALSE, backend, rand, &A));
  PetscCall(MatSetValue(A, 3, 3, 0.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Solver(A, backend, &way, PETSC_TRUE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCFactorReorderForNonzeroDiagonal(pc, 1e-10));
  CHECK_ERROR(KSPSetUp(ksp), PETSC_ERR_SUP, "rows and columns must have the same ordering");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));

  PetscCall(Generate("7pt:5x4x3", PETSC_FALSE, backend, rand, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &keep));
  PetscCall(VecSetRandom(b, rand));
  PetscCall(VecCopy(b, keep));
  PetscCall(Solver(A, backend, &way, PETSC_TRUE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetOperators(ksp, B, A));
  CHECK_ERROR(KSPSetUp(ksp), PETSC_ERR_SUP, "Amat and Pmat must be the same");
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(PCSyncILUSetSymmetric(pc, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_STRUCTURALLY_SYMMETRIC, PETSC_TRUE));
  CHECK_ERROR(KSPSetUp(ksp), PETSC_ERR_SUP, "not with -pc_syncilu_symmetric");
  PetscCall(PCSyncILUSetSymmetric(pc, PETSC_FALSE));
  if (!device) {
    PetscCall(PCSyncILUSetBackend(pc, SYNCILU_BACKEND_CUDA));
    CHECK_ERROR(KSPSetUp(ksp), PETSC_ERR_SUP, "-pc_syncilu_backend cuda");
    PetscCall(PCSyncILUSetBackend(pc, backend));
  }
  PetscCall(KSPSetUp(ksp));
  PetscCall(MatCreateVecs(A, &left, &right)); /* which stay locked after errors */
  PetscCall(VecSet(right, 1.0));
  CHECK_ERROR(PCApply(pc, right, left), PETSC_ERR_SUP, "below a KSP alone");
  CHECK_ERROR(PCApplyTranspose(pc, right, left), PETSC_ERR_SUP, "transposed solves");
  CHECK_ERROR(PCApplySymmetricLeft(pc, right, left), PETSC_ERR_SUP, "from both sides");
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 60, 3, NULL, &X));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  CHECK_ERROR(PCMatApply(pc, X, Y), PETSC_ERR_SUP, "several right-hand sides");
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(A, null));
  CHECK_ERROR(KSPSolve(ksp, right, left), PETSC_ERR_SUP, "null space");
  PetscCall(MatSetNullSpace(A, NULL));
  PetscCall(MatNullSpaceDestroy(&null));
  CHECK_ERROR(KSPSolveTranspose(ksp, right, left), PETSC_ERR_SUP, "not for transposed solves");
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscCall(PCSyncILUGetEisenstat(pc, &flag));
  CHECK(flag, "the getter says no");
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, view, sizeof(view)));
  CHECK(strstr(view, "Eisenstat's trick"), "the view has no word of it:\n%s", view);
  PetscCall(KSPDestroy(&ksp)); /* with the operator of the solve that ended by an error */

  PetscCall(Solver(A, backend, &way, PETSC_FALSE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscOptionsSetValue(NULL, "-pc_syncilu_eisenstat", NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscOptionsClearValue(NULL, "-pc_syncilu_eisenstat"));
  PetscCall(PCSyncILUGetEisenstat(pc, &flag));
  CHECK(flag, "the option is not heard");
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C)); /* an operator that changes below a preconditioner that is kept */
  PetscCall(KSPSetOperators(ksp, C, C));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatScale(C, 2.0));
  PetscCall(MatCreateVecs(A, &left, &right));
  PetscCall(VecSet(right, 1.0));
  CHECK_ERROR(KSPSolve(ksp, right, left), PETSC_ERR_SUP, "the matrix has changed since it was factored");
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&C));
  PetscCall(Solver(A, backend, &way, PETSC_TRUE, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PCSyncILUSetEisenstat(pc, PETSC_FALSE)); /* and without it again */
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCApply(pc, b, x));
  PetscCall(PCSyncILUSetEisenstat(pc, PETSC_TRUE));
  /* a pivot of zero, and then values without one */
  PetscCall(MatSetValue(A, 0, 0, 0.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecEqual(b, keep, &equal));
  CHECK(reason == KSP_DIVERGED_PC_FAILED && equal, "a pivot of zero: reason %d, right-hand side as it was %d", (int)reason, equal);
  PetscCall(KSPGetOperators(ksp, &C, NULL));
  CHECK(C == A, "a pivot of zero: the operator is another one");
  PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
  PetscCall(KSPSolve(ksp, b, x)); /* which in PETSc 3.18 ends with the NaN of the one before, whatever the preconditioner */
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0, "after a pivot of zero: reason %d", (int)reason);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&keep));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   After a first solve comes what the trick is not for. Entries of the matrix, or levels of fill, by which not
   only diagonals have updates. Another matrix with the same object state, while the preconditioner is kept. A
   Krylov method that multiplies with the transpose.
*/
static PetscErrorCode TestLater(SyncILUBackend backend, PetscRandom rand)
{
  const Way         way    = {KSPGMRES, MATORDERINGNATURAL, KSP_NORM_PRECONDITIONED, PC_LEFT, 0.0, 1, PETSC_FALSE};
  const char *const text[] = {"the entry of row 1 and column 5 has one by row 0", "only diagonals may have updates",
                              "the matrix has changed since it was factored", "not for Krylov methods that take products with the transpose"};
  Mat               A, B;
  Vec               b, x, left, right;
  KSP               ksp;
  PC                pc;

  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) {
    PetscCall(Generate("7pt:5x4x3", PETSC_FALSE, backend, rand, &A));
    PetscCall(Generate("7pt:5x4x3", PETSC_FALSE, backend, rand, &B));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(MatCreateVecs(A, &left, &right)); /* an error in KSPSolve() leaves its vectors locked */
    PetscCall(VecSetRandom(b, rand));
    PetscCall(VecSet(right, 1.0));
    PetscCall(Solver(A, backend, &way, PETSC_TRUE, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(KSPSolve(ksp, b, x));
    if (k == 0) {
      PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
      PetscCall(MatSetValue(A, 1, 5, -1.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    } else if (k == 1) PetscCall(PCFactorSetLevels(pc, 1));
    else if (k == 2) {
      PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
      PetscCall(KSPSetOperators(ksp, B, B));
    } else {
      PetscCall(KSPSetNormType(ksp, KSP_NORM_DEFAULT));
      PetscCall(KSPSetType(ksp, KSPLSQR));
    }
    CHECK_ERROR(KSPSolve(ksp, right, left), PETSC_ERR_SUP, text[k]);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&left));
    PetscCall(VecDestroy(&right));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x is the solution for b; y receives that of the first solve alone. */
static PetscErrorCode TestPair(PC pc, Mat F, Vec b, Vec x, Vec y, Vec z, PetscReal tolerance, const char *name, int how)
{
  PetscReal difference;

  PetscFunctionBegin;
  PetscCall(MatForwardSolve(F, b, y));
  PetscCall(MatBackwardSolve(F, y, z));
  PetscCall(CheckDifference(z, x, &difference));
  CHECK(difference <= tolerance, "%s, %d: the two solves one by one differ by %g", name, how, (double)difference);
  PetscCall(PCApplySymmetricLeft(pc, b, z));
  PetscCall(CheckDifference(z, y, &difference));
  CHECK(difference == 0.0, "%s, %d: the left part differs by %g", name, how, (double)difference);
  PetscCall(PCApplySymmetricRight(pc, y, z));
  PetscCall(CheckDifference(z, x, &difference));
  CHECK(difference <= tolerance, "%s, %d: the right part differs by %g", name, how, (double)difference);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One after the other the two solves are the whole; of ICC they are PETSc's, whose ICC is for natural orderings. */
static PetscErrorCode TestHalves(SyncILUBackend backend, PetscRandom rand)
{
  const char *const all[]    = {"7pt:6x5x4", "27pt:4x4x3", "random:200", "tridiagonal:50"};
  const char *const orders[] = {MATORDERINGNATURAL, MATORDERINGRCM};

  PetscFunctionBegin;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(all); p++) {
    for (int how = 0; how < 8; how++) {
      const PetscBool symmetric = (PetscBool)(how & 1), swapped = (PetscBool)(p == 3 && how == 6); /* rows and columns in orders of their own */
      const PetscReal tolerance = swapped ? 1e-11 : 1e-13;
      Mat             A, F, B, G;
      PC              pc;
      Vec             b, x, y, z;
      PetscReal       difference;

      if (PetscDefined(USE_COMPLEX) && symmetric) continue;
      if (backend == SYNCILU_BACKEND_CUDA && symmetric && how > 1) continue; /* which is refused */
      PetscCall(Generate(all[p], symmetric, backend, rand, &A));
      if (swapped) {
        PetscCall(MatSetValue(A, 5, 5, 0.0, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      }
      PetscCall(PreconditionerCreate(A, backend, &pc));
      PetscCall(PCFactorSetMatOrderingType(pc, orders[how >> 1 & 1]));
      if (swapped) PetscCall(PCFactorReorderForNonzeroDiagonal(pc, 1e-10));
      PetscCall(PCSyncILUSetSymmetric(pc, symmetric));
      PetscCall(PCSyncILUSetThreads(pc, how & 4 ? 3 : 1));
      PetscCall(PCSetUp(pc));
      PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecDuplicate(b, &y));
      PetscCall(VecDuplicate(b, &z));
      PetscCall(VecSetRandom(b, rand));
      PetscCall(MatSolve(F, b, x));
      if (backend == SYNCILU_BACKEND_CUDA && symmetric) CHECK_ERROR(MatForwardSolve(F, b, y), PETSC_ERR_SUP, "one by one with a factor of ICC");
      else PetscCall(TestPair(pc, F, b, x, y, z, tolerance, all[p], how));
      if (backend == SYNCILU_BACKEND_CUDA && !symmetric) { /* of one there may be other halves */
        PC  host;
        Mat H;

        PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_HOST, &host));
        PetscCall(PCFactorSetMatOrderingType(host, orders[how >> 1 & 1]));
        if (swapped) PetscCall(PCFactorReorderForNonzeroDiagonal(host, 1e-10));
        PetscCall(PCSetUp(host));
        PetscCall(PCFactorGetMatrix(host, &H));
        PetscCall(MatForwardSolve(H, b, z));
        PetscCall(CheckDifference(y, z, &difference));
        CHECK(difference <= tolerance, "%s, %d: the first solve differs by %g from the host's", all[p], how, (double)difference);
        PetscCall(PCDestroy(&host));
      }
      if (symmetric && !(how & 2) && backend == SYNCILU_BACKEND_HOST) {
        MatFactorInfo info;
        IS            row, col;

        PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
        PetscCall(MatConvert(A, MATSEQSBAIJ, MAT_INITIAL_MATRIX, &B));
        PetscCall(MatGetFactor(B, MATSOLVERPETSC, MAT_FACTOR_ICC, &G));
        PetscCall(MatGetOrdering(B, MATORDERINGNATURAL, &row, &col));
        PetscCall(MatFactorInfoInitialize(&info));
        info.fill = 1.0;
        PetscCall(MatICCFactorSymbolic(G, B, row, &info));
        PetscCall(MatCholeskyFactorNumeric(G, B, &info));
        PetscCall(MatForwardSolve(G, b, z));
        PetscCall(CheckDifference(y, z, &difference));
        CHECK(difference <= 1e-12, "%s: PETSc's forward solve differs by %g", all[p], (double)difference);
        PetscCall(MatBackwardSolve(G, z, x));
        PetscCall(MatBackwardSolve(F, z, y));
        PetscCall(CheckDifference(y, x, &difference));
        CHECK(difference <= 1e-12, "%s: PETSc's backward solve differs by %g", all[p], (double)difference);
        PetscCall(ISDestroy(&row));
        PetscCall(ISDestroy(&col));
        PetscCall(MatDestroy(&G));
        PetscCall(MatDestroy(&B));
      }
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
      PetscCall(VecDestroy(&z));
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
    }
  }
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
  PetscCall(PetscRandomSetFromOptions(rand));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(CaseGetDevice(&device));
  /* with -small the kernels are emulated, and another run has the host's cases */
  if (!small) PetscCall(TestKrylov(SYNCILU_BACKEND_HOST, PETSC_STATIC_ARRAY_LENGTH(patterns), patterns, rand));
  if (device)
    PetscCall(TestKrylov(SYNCILU_BACKEND_CUDA, small ? PETSC_STATIC_ARRAY_LENGTH(few) : PETSC_STATIC_ARRAY_LENGTH(patterns), small ? few : patterns, rand));
  PetscCall(TestOperators(device, small, rand));
  for (int k = small; k < 1 + (int)device; k++) {
    const SyncILUBackend backend = k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST;

    PetscCall(TestRefusals(backend, device, rand));
    PetscCall(TestLater(backend, rand));
    PetscCall(TestHalves(backend, rand));
  }
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("eisenstat");
  PetscCall(PetscFinalize());
  return failed;
}
