static char help[] = "Sweeps (-pc_syncilu_update parilu): the reference of few sweeps and of enough, the backends against it, breakdowns, what is refused.\n\n";

#include "check.h"
#include "case.h"
#include "problem.h"

#define TOLERANCE 1e-12

/* How many sweeps the factor takes at most: the terms of the longest chain of entries that depend on each other. */
static PetscErrorCode LongestChain(const SyncILUPattern *p, PetscInt *longest)
{
  PetscInt *l, *u, *d, *row, *mark;

  PetscFunctionBegin;
  *longest = 0;
  PetscCall(PetscCalloc5(p->nl, &l, p->nu, &u, p->n, &d, p->n, &row, p->n, &mark));
  for (PetscInt i = 0; i < p->n; i++) {
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      row[p->lcol[k]]  = 0;
      mark[p->lcol[k]] = i + 1;
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      row[p->ucol[k]]  = 0;
      mark[p->ucol[k]] = i + 1;
    }
    row[i]  = 0;
    mark[i] = i + 1;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt ref = p->lcol[k];

      l[k] = row[ref];
      for (PetscInt q = p->uptr[ref]; q < p->uptr[ref + 1]; q++) {
        if (mark[p->ucol[q]] == i + 1) row[p->ucol[q]] = PetscMax(row[p->ucol[q]], 1 + PetscMax(l[k], PetscMax(u[q], d[ref])));
      }
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) u[k] = row[p->ucol[k]];
    d[i] = row[i];
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) *longest = PetscMax(*longest, l[k]);
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) *longest = PetscMax(*longest, u[k]);
    *longest = PetscMax(*longest, d[i]);
  }
  PetscCall(PetscFree5(l, u, d, row, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Settings(SyncILUBackend backend, PetscInt sweeps, PetscInt threads, SyncILUSettings *s)
{
  SyncILUSettingsInitialize(s);
  s->backend  = backend;
  s->update   = SYNCILU_UPDATE_PARILU;
  s->sweeps   = sweeps;
  s->threads  = threads;
  s->residual = PETSC_TRUE;
}

static PetscErrorCode FactorCase(SyncILUEngine e, const Case *c, const PetscScalar *val[3])
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(EngineFactor(e, &c->csr, NULL, &info));
  PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SameFactor(const Case *c, const PetscScalar *const val[3], const PetscScalar *ref, PetscBool *same)
{
  PetscBool l, u, d;

  PetscFunctionBegin;
  PetscCall(PetscArraycmp(val[0], ref, c->nl, &l));
  PetscCall(PetscArraycmp(val[1], ref + c->nl, c->nu, &u));
  PetscCall(PetscArraycmp(val[2], ref + c->nl + c->nu, c->n, &d));
  *same = (PetscBool)(l && u && d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reference's bits with any number of threads, twice, and its solutions; returns the residual. */
static PetscErrorCode TestHost(const Case *c, PetscInt sweeps, PetscInt threads, const char *name, PetscReal *residual)
{
  SyncILUSettings    settings;
  SyncILUEngine      e;
  const PetscScalar *val[3];
  PetscScalar       *x;
  PetscBool          same;

  PetscFunctionBegin;
  Settings(SYNCILU_BACKEND_HOST, sweeps, threads, &settings);
  PetscCall(EngineCreate(&settings, c, &e));
  for (int run = 0; run < 2; run++) {
    PetscCall(FactorCase(e, c, val));
    PetscCall(SameFactor(c, val, c->ref, &same));
    CHECK(same && e->status.row < 0, "%s: the host's factor differs from the reference's, %" PetscInt_FMT " threads, run %d", name, threads, run);
  }
  PetscCall(PetscMalloc1(c->ld, &x));
  for (int t = 0; t < 2; t++) {
    PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
    PetscCall(PetscArraycmp(x, c->x[t], c->n, &same));
    CHECK(same, "%s: the host's solution differs from the reference's, transposed %d", name, t);
  }
  *residual = e->residual;
  PetscCall(PetscFree(x));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reference up to rounding, the same bits twice, and after other values; asynchronous sweeps end where others do. */
static PetscErrorCode TestDevice(const Case *c, PetscInt sweeps, PetscInt lanes, PetscBool asynchronous, const char *name, PetscReal residual)
{
  SyncILUSettings    settings;
  SyncILUEngine      e;
  const PetscScalar *val[3];
  PetscScalar       *x, *first;
  PetscInt           row;
  PetscBool          same;

  PetscFunctionBegin;
  Settings(SYNCILU_BACKEND_CUDA, sweeps, 1, &settings);
  settings.vector_size  = lanes;
  settings.asynchronous = asynchronous;
  PetscCall(EngineCreate(&settings, c, &e));
  PetscCall(PetscMalloc2(c->ld, &x, c->nl + c->nu + c->n, &first));
  for (int run = 0; run < 2; run++) {
    PetscCall(FactorCase(e, c, val));
    CHECK(e->status.row < 0, "%s: row %" PetscInt_FMT " is rejected", name, e->status.row);
    row = FactorFirstDifference(c, val[0], val[1], val[2], TOLERANCE);
    CHECK(row == c->n, "%s, %" PetscInt_FMT " lanes, asynchronous %d: row %" PetscInt_FMT " of the device's factor differs from the reference's", name, lanes,
          asynchronous, row);
    if (run) {
      PetscCall(SameFactor(c, val, first, &same));
      CHECK(same || asynchronous, "%s, %" PetscInt_FMT " lanes: the second factorization has other bits", name, lanes);
    } else {
      PetscCall(PetscArraycpy(first, val[0], c->nl));
      PetscCall(PetscArraycpy(first + c->nl, val[1], c->nu));
      PetscCall(PetscArraycpy(first + c->nl + c->nu, val[2], c->n));
    }
    CHECK(PetscAbsReal(e->residual - residual) <= 1e-9 * residual + 1e-14, "%s: residual %g, the host's %g", name, (double)e->residual, (double)residual);
  }
  for (int t = 0; t < 2; t++) {
    PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
    row = SolutionFirstDifference(c->n, x, c->x[t], TOLERANCE);
    CHECK(row == c->n, "%s: row %" PetscInt_FMT " of the device's solution differs from the reference's, transposed %d", name, row, t);
  }
  PetscCall(PetscFree2(x, first));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Few sweeps on both backends, with residuals that fall; enough of them are the exact factor, whose bits the
   reference has.
*/
static PetscErrorCode TestPattern(const char *pattern, const char *ordering, PetscInt levels, PetscInt which, PetscBool device, PetscRandom rand)
{
  const PetscInt     lanes[] = {0, 4, 8, 16, 32}, few[] = {1, 3};
  Mat                A;
  Case               c;
  PetscScalar       *exact;
  const PetscScalar *val[3];
  PetscInt           chain;
  PetscReal          residual, before = 1.0;
  PetscBool          same;
  char               name[128];

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(CaseCreate(A, ordering, levels, 0.0, rand, &c));
  PetscCall(LongestChain(&c.pattern, &chain));
  PetscCall(PetscMalloc1(c.nl + c.nu + c.n, &exact));
  PetscCall(PetscArraycpy(exact, c.ref, c.nl + c.nu + c.n));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(few); k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s %s levels %" PetscInt_FMT ", %" PetscInt_FMT " sweeps", pattern, ordering, levels, few[k]));
    PetscCall(CaseRefer(&c, few[k]));
    CHECK(c.status.row < 0, "%s: the reference rejects row %" PetscInt_FMT, name, c.status.row);
    PetscCall(TestHost(&c, few[k], device ? 1 : 1 + (which + (PetscInt)k) % 3, name, &residual));
    CHECK(residual <= PetscMax(before, 1e-15) && (residual > 1e-15 || chain <= 12), "%s: residual %g after one of %g, %" PetscInt_FMT " are enough", name,
          (double)residual, (double)before, chain);
    before = residual;
    if (device) PetscCall(TestDevice(&c, few[k], lanes[(which + (PetscInt)k) % 5], PETSC_FALSE, name, residual));
  }
  PetscCall(CaseRefer(&c, PetscMax(1, chain)));
  val[0] = c.ref;
  val[1] = c.ref + c.nl;
  val[2] = c.ref + c.nl + c.nu;
  PetscCall(SameFactor(&c, val, exact, &same));
  CHECK(same, "%s: %" PetscInt_FMT " sweeps do not make the exact factor", name, chain);
  if (device && chain <= 40) {
    PetscCall(TestHost(&c, PetscMax(1, chain), 1, name, &residual));
    PetscCall(TestDevice(&c, PetscMax(1, chain), 0, PETSC_TRUE, name, residual));
  }
  if (chain > 1 && chain <= 10) { /* of a longer one, later sweeps change less than a bit */
    PetscCall(CaseRefer(&c, chain - 1));
    PetscCall(SameFactor(&c, val, exact, &same));
    CHECK(!same, "%s: less than %" PetscInt_FMT " sweeps make the exact factor", name, chain);
  }
  PetscCall(PetscFree(exact));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A symmetric matrix: the host's half is the upper triangle of ILU by as many sweeps, and the device's ILU is symmetric. */
static PetscErrorCode TestSymmetric(const char *pattern, const char *ordering, PetscInt levels, PetscInt sweeps, PetscBool device, PetscRandom rand)
{
  Mat                A;
  Case               c;
  SyncILUStatus      status;
  const PetscScalar *val[3];
  PetscScalar       *ref;
  PetscReal          residual[2] = {-1.0, -1.0};

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(GenerateSum(A));
  PetscCall(CaseCreate(A, ordering, levels, 0.0, rand, &c));
  PetscCall(CaseRefer(&c, sweeps));
  PetscCall(PetscMalloc1(c.nu + c.n, &ref));
  PetscCall(SyncILUReferenceFactorHalf(&c.pattern, &c.csr, &c.piv, ref, ref + c.nu, &status));
  CHECK(status.row < 0 && c.status.row < 0, "%s: rows %" PetscInt_FMT " and %" PetscInt_FMT " are rejected", pattern, status.row, c.status.row);
  for (int backend = 0; backend < (device ? 2 : 1); backend++) {
    for (PetscInt threads = 1; threads <= (device ? 1 : 3); threads++) {
      SyncILUSettings settings;
      SyncILUEngine   e;
      SyncILUSource   source;
      Arrays          arrays = {&c.csr, NULL};
      PetscBool       same[2];
      PetscReal       off = 0.0, max = 0.0;

      Settings(backend ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, sweeps, threads, &settings);
      settings.symmetric = PETSC_TRUE;
      PetscCall(ArraysSource(&arrays, &source));
      PetscCall(SyncILUEngineCreate(&settings, c.n, &source, c.pattern.row, c.pattern.col, c.fill, &e));
      PetscCall(FactorCase(e, &c, val));
      residual[backend] = e->residual;
      if (!backend) {
        PetscCall(PetscArraycmp(val[1], ref, c.nu, &same[0]));
        PetscCall(PetscArraycmp(val[2], ref + c.nu, c.n, &same[1]));
        CHECK(same[0] && same[1], "%s %s: the host's half differs from the reference's with %" PetscInt_FMT " threads", pattern, ordering, threads);
      }
      /* u_ij / d_i, and in ILU of both triangles l_ji */
      for (PetscInt i = 0; i < c.n; i++) {
        for (PetscInt k = c.pattern.uptr[i]; k < c.pattern.uptr[i + 1]; k++) {
          const PetscScalar u = backend ? val[1][k] * val[2][i] : val[1][k], want = c.ref[c.nl + k] * c.ref[c.nl + c.nu + i];
          PetscInt          l = c.pattern.lptr[c.pattern.ucol[k]];

          while (c.pattern.lcol[l] != i) l++;
          max = PetscMax(max, PetscAbsScalar(want));
          off = PetscMax(off, PetscMax(PetscAbsScalar(u - want), PetscAbsScalar(u - (backend ? val[0][l] : c.ref[l]))));
        }
      }
      CHECK(off <= TOLERANCE * max, "%s %s, backend %d: U differs by %g from that of ILU, or from L", pattern, ordering, backend, (double)off);
      for (int t = 0; t < 2; t++) {
        PetscScalar *x;
        PetscInt     row;

        PetscCall(PetscMalloc1(c.ld, &x));
        PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c.b, c.ld, x, c.ld, PETSC_MEMTYPE_HOST));
        row = SolutionFirstDifference(c.n, x, c.x[t], TOLERANCE);
        CHECK(row == c.n, "%s %s, backend %d: row %" PetscInt_FMT " of the solution differs from that of ILU", pattern, ordering, backend, row);
        PetscCall(PetscFree(x));
      }
      PetscCall(SyncILUEngineDestroy(&e));
    }
  }
  if (device)
    CHECK(PetscAbsReal(residual[0] - residual[1]) <= 1e-9 * residual[0], "%s: residuals %g and %g", pattern, (double)residual[0], (double)residual[1]);
  PetscCall(PetscFree(ref));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An exact factorization has no residual but rounding; with blocks, by halves, relaxed and shifted it is what it must be. */
static PetscErrorCode TestResidual(PetscBool device, PetscRandom rand)
{
  Mat               A, B;
  PC                pc;
  SyncILUStatistics s;
  char              text[16384];

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("27pt", 125, rand, &A));
  PetscCall(GenerateBlocks("7pt:4x3x2", 0, 3, rand, &B));
  for (int k = 0; k < (device ? 8 : 5); k++) {
    const PetscBool baij = (PetscBool)(k == 4 || k == 7);

    PetscCall(PreconditionerCreate(baij ? B : A, k > 4 ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc));
    if (k == 1) PetscCall(PCFactorSetLevels(pc, 1));
    if (k == 2) PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGRCM));
    if (k == 3 || k == 6) {
      PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
      PetscCall(PCFactorSetZeroPivot(pc, 1e3)); /* no pivot is large enough at first */
      PetscCall(PCFactorSetShiftAmount(pc, 1.0));
    }
    PetscCall(PCSetUp(pc));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    CHECK(s.residual == -1.0, "%d: nobody asked for the residual, which is %g", k, (double)s.residual);
    PetscCall(PCSyncILUSetResidual(pc, PETSC_TRUE));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    if (k == 3 || k == 6) { /* the shift is all of it */
      PetscReal norm;

      PetscCall(MatNorm(A, NORM_FROBENIUS, &norm));
      CHECK(s.shift_amount > 0 && PetscAbsReal(s.residual * norm - s.shift_amount * PetscSqrtReal((PetscReal)s.rows)) <= 1e-10 * s.residual * norm,
            "%d: residual %g of a matrix of norm %g, shifted by %g", k, (double)s.residual, (double)norm, (double)s.shift_amount);
    } else CHECK(s.residual > 0.0 && s.residual < 10 * PETSC_MACHINE_EPSILON, "%d: an exact factorization has the residual %g", k, (double)s.residual);
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewValue(text, "residual"), "%d: the view has no residual:\n%s", k, text);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tiny dense matrix by rows. */
static PetscErrorCode Dense(PetscInt n, const PetscScalar *a, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, n, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) PetscCall(MatSetValue(*A, i, j, a[i * n + j], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a factorization by sweeps ends: the row that fails, -1 if none. -pc_syncilu_check compares each attempt with the reference. */
static PetscErrorCode SetUp(Mat A, SyncILUBackend backend, PetscInt sweeps, MatFactorShiftType shift, PetscReal amount, PC *pc, PetscInt *row)
{
  SyncILUStatistics s;
  PCFailedReason    reason;

  PetscFunctionBegin;
  PetscCall(PreconditionerCreate(A, backend, pc));
  PetscCall(PCSyncILUSetUpdate(*pc, SYNCILU_UPDATE_PARILU));
  PetscCall(PCSyncILUSetSweeps(*pc, sweeps));
  PetscCall(PCSyncILUSetCheck(*pc, PETSC_TRUE));
  PetscCall(PCFactorSetShiftType(*pc, shift));
  if (amount > 0.0) PetscCall(PCFactorSetShiftAmount(*pc, amount));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCSyncILUGetStatistics(*pc, &s));
  PetscCall(PCGetFailedReason(*pc, &reason));
  *row = s.failed_row;
  CHECK((reason == PC_NOERROR) == (s.failed_row < 0), "row %" PetscInt_FMT " failed, the reason is %d", s.failed_row, (int)reason);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pivots that vanish at first, at last, or in between, and numbers that are none. */
static PetscErrorCode TestPivots(SyncILUBackend backend, PetscRandom rand)
{
  const PetscScalar        vanishing[] = {4, 1, 1, 1, 0, 1, 1, 1, 5}; /* the exact pivots are 4, -0.25, 7 */
  const PetscScalar        singular[]  = {2, 1, 1, 2, 1, 1, 1, 1, 3}; /* the second exact pivot is zero */
  const MatFactorShiftType shifts[]    = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
  Mat                      A;
  PC                       pc;
  PetscInt                 row;
  const char *const        name = SyncILUBackends[backend];

  PetscFunctionBegin;
  PetscCall(Dense(3, vanishing, &A));
  for (PetscInt sweeps = 1; sweeps <= 3; sweeps++) {
    SyncILUStatistics s;

    PetscCall(SetUp(A, backend, sweeps, MAT_SHIFT_NONE, 0.0, &pc, &row));
    CHECK(row < 0, "%s: %" PetscInt_FMT " sweeps from a zero pivot: row %" PetscInt_FMT " failed", name, sweeps, row);
    PetscCall(PCSyncILUSetResidual(pc, PETSC_TRUE));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    CHECK((s.residual < 1e-14) == (sweeps > 1), "%s: %" PetscInt_FMT " sweeps from a zero pivot: residual %g", name, sweeps, (double)s.residual);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(Dense(3, singular, &A));
  for (PetscInt sweeps = 1; sweeps <= 3; sweeps++) {
    PetscCall(SetUp(A, backend, sweeps, MAT_SHIFT_NONE, 0.0, &pc, &row));
    CHECK(row == 1, "%s: %" PetscInt_FMT " sweeps of a matrix whose second pivot is zero: row %" PetscInt_FMT " failed", name, sweeps, row);
    PetscCall(PCDestroy(&pc));
    for (int k = 0; k < 3; k++) {
      SyncILUStatistics s;

      PetscCall(SetUp(A, backend, sweeps, shifts[k], 0.5, &pc, &row));
      PetscCall(PCSyncILUGetStatistics(pc, &s));
      CHECK(row < 0 && s.shift_amount > 0.0 && s.pivots_shifted == (k == 2 ? 1 : 3),
            "%s, shift %s: row %" PetscInt_FMT " failed, shifted %" PetscInt_FMT " by %g", name, MatFactorShiftTypes[shifts[k]], row, s.pivots_shifted,
            (double)s.shift_amount);
      PetscCall(PCDestroy(&pc));
    }
  }
  PetscCall(MatDestroy(&A));
  /* entries beside the diagonal, in rows where no pivot sees them */
  for (int k = 0; k < 4; k++) {
    const PetscScalar bad = k % 2 ? (PetscScalar)NAN : (PetscScalar)INFINITY;

    PetscCall(GenerateMatrix("bidiagonal", 70, rand, &A));
    if (k < 2) PetscCall(MatSetValue(A, 40, 39, bad, INSERT_VALUES));
    else {
      PetscCall(MatDestroy(&A));
      PetscCall(GenerateMatrix("tridiagonal", 70, rand, &A));
      PetscCall(MatSetValue(A, 40, 41, bad, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(SetUp(A, backend, 2, MAT_SHIFT_NONE, 0.0, &pc, &row));
    CHECK(row == 40, "%s, %d: a number that is none in row 40: row %" PetscInt_FMT " failed", name, k, row);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every shift on pivots that are zero, tiny or negative here and there, each attempt compared with the reference. */
static PetscErrorCode TestShifts(SyncILUBackend backend, PetscRandom rand)
{
  const MatFactorShiftType shifts[] = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};

  PetscFunctionBegin;
  for (int k = 0; k < 12; k++) {
    Mat      A;
    PC       pc;
    PetscInt row, n;

    PetscCall(GenerateMatrix(k % 3 ? "15pt:4x3x3" : "random:60", 0, rand, &A));
    PetscCall(MatGetSize(A, &n, NULL));
    for (PetscInt i = k; i < n; i += 7) PetscCall(MatSetValue(A, i, i, i % 2 ? 0.0 : -0.3, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(SetUp(A, backend, 1 + k % 5, shifts[k % 4], 0.5, &pc, &row));
    CHECK(row < 0 || k % 4 == 0, "%s: row %" PetscInt_FMT " failed in spite of the shift %s", SyncILUBackends[backend], row,
          MatFactorShiftTypes[shifts[k % 4]]);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What sweeps do not do is an error that says so, and another setting makes it good. */
static PetscErrorCode TestRefusals(SyncILUBackend backend, PetscRandom rand)
{
  Mat A, B;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 27, rand, &A));
  PetscCall(PreconditionerCreate(A, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILU));
  CHECK_ERROR(PCSyncILUSetSweeps(pc, 0), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_sweeps: 0 is not positive");
  PetscCall(PCSyncILUSetRelax(pc, 0.5));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_update parilu: sweeps have no relaxation (-pc_syncilu_relax 0.5)");
  PetscCall(PCSyncILUSetRelax(pc, 0.0));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSyncILUSetSweepsAsynchronous(pc, PETSC_TRUE));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_check: asynchronous sweeps");
  PetscCall(PCSyncILUSetCheck(pc, PETSC_FALSE));
  PetscCall(PCSyncILUSetSymmetric(pc, PETSC_TRUE));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_sweeps_asynchronous: not for incomplete Cholesky");
  PetscCall(PCSyncILUSetSweepsAsynchronous(pc, PETSC_FALSE));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(GenerateBlocks("7pt:3x3x3", 0, 2, rand, &B));
  PetscCall(PreconditionerCreate(B, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILU));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_update parilu: not for the blocks of 2 rows");
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_AUTO));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside of Krylov methods, with PETSc's options; what the view says; the number of sweeps changes without another plan. */
static PetscErrorCode TestSolvers(SyncILUBackend backend)
{
  const char *const methods[] = {"-ksp_type cg", "-ksp_type cg -pc_syncilu_symmetric", "-ksp_type cg -pc_factor_levels 1",
                                 "-ksp_type gmres -pc_factor_mat_ordering_type bmc -pc_factor_levels 1",
                                 "-ksp_type cg -pc_factor_mat_ordering_type rcm -pc_factor_levels 2"};
  Problem           p;
  char              options[256], text[16384];

  PetscFunctionBegin;
  PetscCall(ProblemCreate(6, 0.0, &p));
  PetscCall(MatSetOption(p.A, MAT_SYMMETRIC, PETSC_TRUE));
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(methods); m++) {
    PetscInt its[3];

    for (int k = 0; k < 3; k++) {
      KSP               ksp;
      PC                pc;
      SyncILUStatistics s;
      const char *const ways[] = {"", "-pc_syncilu_update parilu -pc_syncilu_sweeps 1", "-pc_syncilu_update parilu -pc_syncilu_sweeps 30"};

      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type syncilu -pc_syncilu_backend %s %s %s", SyncILUBackends[backend], methods[m], ways[k]));
      PetscCall(SolveWith(&p, options, &its[k], &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
      CHECK(!k || (CheckViewSays(text, "factorization", "parilu") && CheckViewSays(text, "sweeps", k == 1 ? "1, synchronous" : "30, synchronous")),
            "%s: the view says\n%s", options, text);
      if (k == 1) { /* the plan stays */
        PetscCall(PCSyncILUSetSweeps(pc, 30));
        PetscCall(PCSetUp(pc));
        PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
        CHECK(CheckViewSays(text, "sweeps", "30"), "%s, then 30 sweeps: the view says\n%s", options, text);
        PetscCall(PCSyncILUGetStatistics(pc, &s));
        CHECK(s.residual == -1.0, "nobody asked for the residual");
      }
      PetscCall(KSPDestroy(&ksp));
    }
    CHECK(its[2] == its[0] && its[1] >= its[0] && its[1] < 2 * its[0],
          "%s: %" PetscInt_FMT " iterations with 1 sweep, %" PetscInt_FMT " with 30, exactly %" PetscInt_FMT, options, its[1], its[2], its[0]);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const struct {
    const char *pattern, *ordering;
    PetscInt    levels;
  } patterns[] = {
    {"diagonal:40",     MATORDERINGNATURAL, 0},
    {"tridiagonal:33",  MATORDERINGNATURAL, 0},
    {"arrow:80",        MATORDERINGNATURAL, 0},
    {"arrowup:70",      MATORDERINGNATURAL, 0},
    {"denserow:150",    MATORDERINGNATURAL, 0},
    {"densecolumn:290", MATORDERINGNATURAL, 0},
    {"7pt:5x4x3",       MATORDERINGNATURAL, 0},
    {"7pt:4x4x3",       MATORDERINGRCM,     1},
    {"27pt:4x4x4",      MATORDERINGNATURAL, 0},
    {"15pt:4x3x4",      MATORDERINGND,      2},
    {"random:130",      MATORDERINGNATURAL, 0},
    {"random200:60",    MATORDERINGRCM,     0},
    {"powerlaw:150",    MATORDERINGNATURAL, 0},
    {"longrows:300",    MATORDERINGNATURAL, 0},
    {"hubs:160",        MATORDERINGNATURAL, 0},
    {"elasticity:81",   MATORDERINGNATURAL, 0}
  };
  PetscRandom rand;
  PetscBool   device;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(CaseGetDevice(&device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(patterns); k++)
    PetscCall(TestPattern(patterns[k].pattern, patterns[k].ordering, patterns[k].levels, (PetscInt)k, device, rand));
  PetscCall(TestSymmetric("27pt:4x3x3", MATORDERINGNATURAL, 0, 2, device, rand));
  PetscCall(TestSymmetric("15pt:4x3x3", MATORDERINGRCM, 1, 3, device, rand));
  PetscCall(TestSymmetric("random:60", MATORDERINGND, 0, 1, device, rand));
  PetscCall(TestResidual(device, rand));
  for (int k = 0; k < (device ? 2 : 1); k++) {
    const SyncILUBackend backend = k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST;

    PetscCall(TestPivots(backend, rand));
    PetscCall(TestShifts(backend, rand));
    PetscCall(TestRefusals(backend, rand));
    PetscCall(TestSolvers(backend));
  }
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("parilu");
  PetscCall(PetscFinalize());
  return failed;
}
