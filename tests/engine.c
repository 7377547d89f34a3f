static char help[] = "The host backend against the serial reference, bit for bit, and the reference against PETSc's own ILU.\n\n";

#include "check.h"
#include "case.h"
#include "host/host.h"

/*
   The engine with the given order and threads gives the reference's bits: factor, solves with one and many
   right-hand sides, in place and not; and again after a second factorization.
*/
static PetscErrorCode TestEngine(const Case *c, const char *name, SyncILUAnalysis analysis, PetscInt threads)
{
  SyncILUSettings    settings;
  SyncILUEngine      e;
  MatFactorInfo      info;
  const PetscScalar *lval, *uval, *dinv;
  PetscScalar       *x;
  PetscBool          same;

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  settings.analysis = analysis;
  settings.threads  = threads;
  settings.relax    = c->piv.relax;
  PetscCall(EngineCreate(&settings, c, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(PetscMalloc1(c->ld * NRHS, &x));
  for (PetscInt run = 0; run < 2; run++) {
    PetscCall(EngineFactor(e, &c->csr, NULL, &info));
    CHECK(e->status.row < 0, "%s: zero pivot in row %" PetscInt_FMT, name, e->status.row);
    PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
    PetscCall(PetscArraycmp(lval, c->ref, c->nl, &same));
    CHECK(same, "%s: L differs from the reference, analysis %s, %" PetscInt_FMT " threads, run %" PetscInt_FMT, name, SyncILUAnalyses[analysis], threads, run);
    PetscCall(PetscArraycmp(uval, c->ref + c->nl, c->nu, &same));
    CHECK(same, "%s: U differs from the reference, analysis %s, %" PetscInt_FMT " threads, run %" PetscInt_FMT, name, SyncILUAnalyses[analysis], threads, run);
    PetscCall(PetscArraycmp(dinv, c->ref + c->nl + c->nu, c->n, &same));
    CHECK(same, "%s: pivots differ from the reference, analysis %s, %" PetscInt_FMT " threads, run %" PetscInt_FMT, name, SyncILUAnalyses[analysis], threads,
          run);
    for (PetscInt t = 0; t < 2; t++) {
      const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

      for (PetscInt nrhs = 1; nrhs <= c->nrhs; nrhs += NRHS - 1) {
        for (PetscInt k = 0; k < c->ld * NRHS; k++) x[k] = -7.0;
        PetscCall(SyncILUEngineSolve(e, trans, nrhs, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
        for (PetscInt k = 0; k < nrhs; k++) {
          PetscCall(PetscArraycmp(x + k * c->ld, c->x[t] + k * c->ld, c->n, &same));
          CHECK(same, "%s: solve %" PetscInt_FMT " of %" PetscInt_FMT " differs, transposed %" PetscInt_FMT ", analysis %s, %" PetscInt_FMT " threads", name, k,
                nrhs, t, SyncILUAnalyses[analysis], threads);
          CHECK(x[k * c->ld + c->n] == (PetscScalar)-7.0, "%s: wrote behind the solution", name);
        }
        PetscCall(PetscArraycpy(x, c->b, c->ld * nrhs));
        PetscCall(SyncILUEngineSolve(e, trans, nrhs, x, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
        PetscCall(PetscArraycmp(x, c->x[t], c->n, &same));
        CHECK(same, "%s: solve in place differs, transposed %" PetscInt_FMT ", analysis %s, %" PetscInt_FMT " threads", name, t, SyncILUAnalyses[analysis],
              threads);
      }
    }
  }
  PetscCall(PetscFree(x));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own factorization solves to the same numbers. */
static PetscErrorCode TestPETSc(const Case *c, const char *name, const char *ordering, PetscInt levels)
{
  Mat           F;
  IS            row, col;
  Vec           b, x, y;
  MatFactorInfo info;
  MatInfo       minfo;
  PetscReal     diff;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(c->A, MATSOLVERPETSC, MAT_FACTOR_ILU, &F));
  PetscCall(MatGetOrdering(c->A, ordering, &row, &col));
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels    = (PetscReal)levels;
  info.fill      = 1.0;
  info.zeropivot = c->piv.zeropivot;
  PetscCall(MatILUFactorSymbolic(F, c->A, row, col, &info));
  PetscCall(MatLUFactorNumeric(F, c->A, &info));
  PetscCall(MatGetInfo(F, MAT_LOCAL, &minfo));
  CHECK((PetscInt)minfo.nz_used == c->nl + c->nu + c->n, "%s levels %" PetscInt_FMT " %s: PETSc has %g entries, we have %" PetscInt_FMT, name, levels, ordering,
        minfo.nz_used, c->nl + c->nu + c->n);
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, c->n, c->b, &b));
  PetscCall(VecDuplicate(b, &x));
  for (PetscInt t = 0; t < 2; t++) {
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, c->n, c->x[t], &y));
    if (t) PetscCall(MatSolveTranspose(F, b, x));
    else PetscCall(MatSolve(F, b, x));
    PetscCall(CheckDifference(y, x, &diff));
    CHECK(diff <= 1e-12, "%s levels %" PetscInt_FMT " %s: solution differs from PETSc's by %g, transposed %" PetscInt_FMT, name, levels, ordering, (double)diff,
          t);
    PetscCall(VecDestroy(&y));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With relaxation 1 the factor keeps row sums: L U e = A e. */
static PetscErrorCode TestRowSums(const Case *c, const char *name)
{
  const SyncILUPattern *p = &c->pattern;
  PetscScalar          *u;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->n, &u));
  for (PetscInt i = 0; i < c->n; i++) {
    u[i] = 1.0 / c->ref[c->nl + c->nu + i];
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) u[i] += c->ref[c->nl + k];
  }
  for (PetscInt i = 0; i < c->n; i++) {
    const PetscInt r   = p->row ? p->row[i] : i;
    PetscScalar    sum = u[i], a = 0.0;
    PetscReal      abs = PetscAbsScalar(u[i]);

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      sum += c->ref[k] * u[p->lcol[k]];
      abs += PetscAbsScalar(c->ref[k] * u[p->lcol[k]]);
    }
    for (PetscInt k = c->csr.i[r]; k < c->csr.i[r + 1]; k++) {
      a += c->csr.a[k];
      abs += PetscAbsScalar(c->csr.a[k]);
    }
    CHECK(PetscAbsScalar(sum - a) <= 1e-12 * abs, "%s: row %" PetscInt_FMT " of LU sums to %g, of A to %g", name, i, (double)PetscRealPart(sum),
          (double)PetscRealPart(a));
  }
  PetscCall(PetscFree(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The earliest and the latest levels keep the order of dependences and the number of levels. */
static PetscErrorCode TestLevels(const SyncILUPattern *p, const char *name)
{
  PetscFunctionBegin;
  for (int u = 0; u < 2; u++) {
    const PetscInt *ptr = u ? p->uptr : p->lptr, *col = u ? p->ucol : p->lcol;
    PetscInt       *early, *late, nlevels, width, most = -1, lmost = -1;
    PetscBool       good = PETSC_TRUE;

    PetscCall(PetscMalloc2(p->n, &early, p->n, &late));
    PetscCall(SyncILUHostLevels(p->n, ptr, col, (PetscBool)!u, early, &nlevels, &width));
    PetscCall(SyncILUHostLevelsLate(p->n, ptr, col, (PetscBool)!u, nlevels, late));
    for (PetscInt i = 0; i < p->n; i++) {
      PetscInt want = 0;

      for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) {
        want = PetscMax(want, early[col[k]] + 1);
        good = (PetscBool)(good && late[col[k]] < late[i]);
      }
      good  = (PetscBool)(good && early[i] == want && late[i] >= early[i]);
      most  = PetscMax(most, early[i]);
      lmost = PetscMax(lmost, late[i]);
    }
    CHECK(good && most == nlevels - 1 && lmost == nlevels - 1, "%s: levels of %s are wrong", name, u ? "U" : "L");
    PetscCall(PetscFree2(early, late));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor that differs from the reference, and a solution that does, are found and the row is named. */
static PetscErrorCode TestCheck(PetscRandom rand)
{
  Mat                A;
  Case               c;
  SyncILUSettings    settings;
  SyncILUEngine      e;
  MatFactorInfo      info;
  const PetscScalar *lval, *uval, *dinv;
  PetscScalar       *x;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 216, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  CHECK(c.status.row < 0, "reference found a zero pivot in row %" PetscInt_FMT, c.status.row);
  SyncILUSettingsInitialize(&settings);
  settings.check   = PETSC_TRUE;
  settings.threads = 1;
  PetscCall(EngineCreate(&settings, &c, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(EngineFactor(e, &c.csr, NULL, &info));
  PetscCall(PetscMalloc1(c.n, &x));
  PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST));
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  ((PetscScalar *)dinv)[100] *= 1.0 + 4 * PETSC_MACHINE_EPSILON;
  CHECK_ERROR(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST), PETSC_ERR_PLIB, "of the solution is the first to differ");
  PetscCall(PetscFree(x));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A backend that rounds otherwise than the reference, since its matrix differs in the last bit. It can be
   told to be wrong in a row.
*/
static struct {
  PetscInt row, solution; /* -1: all is right */
} wrong;

static PetscErrorCode FactorRounded(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUStatus *status)
{
  const PetscScalar *lval, *uval, *dinv;
  SyncILUCSR         other = *A;
  PetscScalar       *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->nnz, &a));
  for (PetscInt k = 0; k < A->nnz; k++) a[k] = A->a[k] * (1.0 + (k % 3 - 1) * PETSC_MACHINE_EPSILON);
  other.a = a;
  PetscCall((*SyncILUHostOps.factor)(e, &other, piv, status));
  PetscCall(PetscFree(a));
  PetscCall((*SyncILUHostOps.values)(e, &lval, &uval, &dinv));
  if (wrong.row >= 0) ((PetscScalar *)lval)[e->pattern.lptr[wrong.row]] *= 1.001;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveRounded(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx,
                                   PetscMemType mem)
{
  PetscFunctionBegin;
  PetscCall((*SyncILUHostOps.solve)(e, trans, nrhs, b, ldb, x, ldx, mem));
  if (wrong.solution >= 0) x[wrong.solution] *= 1.001;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Values of both signs make a factor grow, and rounding with it: what only rounds otherwise is no error, a
   wrong entry is one, and the row is named.
*/
static PetscErrorCode TestRounding(PetscReal diagonal, const char *ordering, MatFactorShiftType shift, PetscReal relax, PetscRandom rand)
{
  const PetscInt     row = 500;
  SyncILUBackendOps  rounded;
  Mat                A;
  Case               c;
  SyncILUSettings    settings;
  SyncILUEngine      e;
  MatFactorInfo      info;
  PetscScalar       *a, *x;
  PetscReal          far = 0.0;
  const PetscScalar *lval, *uval, *dinv;

  PetscFunctionBegin;
  rounded           = SyncILUHostOps;
  rounded.tolerance = 1e-10;
  rounded.factor    = FactorRounded;
  rounded.solve     = SolveRounded;
  PetscCall(GenerateMatrix("27pt", 1000, rand, &A));
  PetscCall(CaseCreate(A, ordering, 0, relax, rand, &c));
  PetscCall(PetscMalloc2(c.csr.nnz, &a, c.n, &x));
  for (PetscInt i = 0; i < c.n; i++) {
    for (PetscInt k = c.csr.i[i]; k < c.csr.i[i + 1]; k++) {
      PetscCall(PetscRandomGetValue(rand, &a[k]));
      a[k] = c.csr.j[k] == i ? (PetscScalar)diagonal : 2.0 * a[k] - 1.0;
    }
  }
  c.csr.a = a;
  SyncILUSettingsInitialize(&settings);
  settings.check   = PETSC_TRUE;
  settings.threads = 1;
  settings.relax   = relax;
  PetscCall(EngineCreate(&settings, &c, &e));
  e->ops = &rounded;
  PetscCall(MatFactorInfoInitialize(&info));
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = 0.01;
  info.zeropivot   = shift == MAT_SHIFT_INBLOCKS ? 0.01 : 1e-8;
  wrong.row = wrong.solution = -1;
  PetscCall(EngineFactor(e, &c.csr, NULL, &info));
  CHECK(e->status.row < 0, "diagonal %g %s: zero pivot in row %" PetscInt_FMT, (double)diagonal, ordering, e->status.row);
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  for (PetscInt i = 0; i < c.n; i++) far = PetscMax(far, PetscAbsScalar(dinv[i] - e->ref[c.nl + c.nu + i]) / PetscAbsScalar(dinv[i]));
  for (int t = 0; t < 2; t++) PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST));
  wrong.solution = row;
  for (int t = 0; t < 2; t++)
    CHECK_ERROR(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST), PETSC_ERR_PLIB,
                "of the solution is the first to differ");
  wrong.solution = -1;
  wrong.row      = row;
  CHECK_ERROR(EngineFactor(e, &c.csr, NULL, &info), PETSC_ERR_PLIB, "row 500 of the factor is the first to differ");
  /* complex random values keep the pivots away from zero, so only real ones must show the growth of errors */
  CHECK(PetscDefined(USE_COMPLEX) || far > 1e-10, "diagonal %g %s: pivots differ by %g, which shows nothing", (double)diagonal, ordering, (double)far);
  e->ops = &SyncILUHostOps;
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(PetscFree2(a, x));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors a matrix that need not be the planned one. Expects so many plans, and the reference's bits. */
static PetscErrorCode FactorOther(SyncILUEngine e, const SyncILUCSR *csr, const Case *c, PetscInt analyses, const char *name)
{
  const PetscScalar *val[3];
  PetscScalar       *ref, *x, *y;
  SyncILUPattern     p;
  SyncILUStatus      status;
  MatFactorInfo      info;
  PetscBool          same[3];

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  PetscCall(EngineFactor(e, csr, NULL, &info));
  CHECK(e->analyses == analyses, "%s: %" PetscInt_FMT " analyses, expected %" PetscInt_FMT, name, e->analyses, analyses);
  PetscCall(SyncILUPatternCreate(csr, c->pattern.row, c->pattern.col, c->fill, &p));
  CHECK(e->pattern.nl == p.nl && e->pattern.nu == p.nu && e->pattern.nnz == csr->nnz, "%s: the plan is that of another matrix", name);
  PetscCall(PetscMalloc3(p.nl + p.nu + p.n, &ref, p.n, &x, p.n, &y));
  PetscCall(SyncILUReferenceFactor(&p, csr, &c->piv, ref, ref + p.nl, ref + p.nl + p.nu, &status));
  CHECK(status.row < 0 && e->status.row < 0, "%s: pivot rejected in row %" PetscInt_FMT ", by the reference in %" PetscInt_FMT, name, e->status.row,
        status.row);
  PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
  PetscCall(PetscArraycmp(val[0], ref, p.nl, &same[0]));
  PetscCall(PetscArraycmp(val[1], ref + p.nl, p.nu, &same[1]));
  PetscCall(PetscArraycmp(val[2], ref + p.nl + p.nu, p.n, &same[2]));
  CHECK(same[0] && same[1] && same[2], "%s: the factor differs from the reference's", name);
  for (int t = 0; t < 2; t++) {
    PetscCall(SyncILUReferenceSolve(&p, ref, ref + p.nl, ref + p.nl + p.nu, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, c->b, y));
    PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c->b, p.n, x, p.n, PETSC_MEMTYPE_HOST));
    PetscCall(PetscArraycmp(x, y, p.n, &same[0]));
    CHECK(same[0], "%s: the solution differs from the reference's, transposed %d", name, t);
  }
  PetscCall(PetscFree3(ref, x, y));
  PetscCall(SyncILUPatternDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The numeric phase gets another pattern with as many entries or not, and the same pattern in other arrays.
*/
static PetscErrorCode TestOtherPattern(const char *pattern, PetscInt n, const char *ordering, PetscInt levels, PetscInt threads, PetscRandom rand)
{
  Mat             A, B, D;
  Case            c, t, d;
  SyncILUSettings settings;
  SyncILUEngine   e;
  SyncILUCSR      copy;
  PetscInt       *i, *j;
  char            name[128];

  PetscFunctionBegin;
  PetscCall(
    PetscSNPrintf(name, sizeof(name), "%s n %" PetscInt_FMT " %s levels %" PetscInt_FMT ", %" PetscInt_FMT " threads", pattern, n, ordering, levels, threads));
  PetscCall(GenerateMatrix(pattern, n, rand, &A));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  PetscCall(GenerateMatrix("tridiagonal", n, rand, &D));
  PetscCall(CaseCreate(A, ordering, levels, 0.0, rand, &c));
  PetscCall(CaseCreate(B, ordering, levels, 0.0, rand, &t));
  PetscCall(CaseCreate(D, ordering, levels, 0.0, rand, &d));
  CHECK(c.csr.nnz == t.csr.nnz && c.csr.nnz != d.csr.nnz, "%s: the matrices are not what the test needs", name);
  SyncILUSettingsInitialize(&settings);
  settings.threads = threads;
  PetscCall(EngineCreate(&settings, &c, &e));
  PetscCall(FactorOther(e, &c.csr, &c, 1, name));
  PetscCall(FactorOther(e, &t.csr, &c, 2, name));
  PetscCall(FactorOther(e, &t.csr, &c, 2, name));
  PetscCall(FactorOther(e, &c.csr, &c, 3, name));
  PetscCall(FactorOther(e, &d.csr, &c, 4, name));
  PetscCall(FactorOther(e, &c.csr, &c, 5, name));
  /* the same pattern elsewhere */
  PetscCall(PetscMalloc2(c.n + 1, &i, c.csr.nnz, &j));
  PetscCall(PetscArraycpy(i, c.csr.i, c.n + 1));
  PetscCall(PetscArraycpy(j, c.csr.j, c.csr.nnz));
  copy       = c.csr;
  copy.i     = i;
  copy.j     = j;
  copy.state = 7;
  PetscCall(FactorOther(e, &copy, &c, 5, name));
  PetscCall(FactorOther(e, &c.csr, &c, 5, name));
  /* a row whose first two columns change places */
  for (PetscInt r = 0; r < c.n; r++) {
    if (i[r + 1] - i[r] > 1) {
      MatFactorInfo info;
      PetscInt      first = j[i[r]];

      PetscCall(MatFactorInfoInitialize(&info));
      j[i[r]]     = j[i[r] + 1];
      j[i[r] + 1] = first;
      CHECK_ERROR(EngineFactor(e, &copy, NULL, &info), PETSC_ERR_ARG_WRONG, "are not sorted");
      CHECK(!e->ops, "%s: the engine goes on with a matrix that nobody planned for", name);
      break;
    }
  }
  PetscCall(SyncILUEngineDestroy(&e));
  /* other rows */
  {
    MatFactorInfo info;

    PetscCall(MatFactorInfoInitialize(&info));
    PetscCall(EngineCreate(&settings, &c, &e));
    copy.n = c.n - 1;
    CHECK_ERROR(EngineFactor(e, &copy, NULL, &info), PETSC_ERR_ARG_INCOMP, "rows, the one of the symbolic phase had");
    PetscCall(FactorOther(e, &c.csr, &c, 1, name));
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscCall(PetscFree2(i, j));
  PetscCall(CaseDestroy(&c));
  PetscCall(CaseDestroy(&t));
  PetscCall(CaseDestroy(&d));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dense last row and a dense first row: the plan of one reads past the end of the other's values. */
static PetscErrorCode TestDenseRows(void)
{
  enum {
    N = 50
  };
  PetscInt        i[2][N + 1], j[2][2 * N - 1];
  PetscScalar     a[2][2 * N - 1];
  SyncILUCSR      csr[2];
  SyncILUSettings settings;
  SyncILUEngine   e;

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  for (int m = 0; m < 2; m++) {
    PetscInt nz = 0;

    for (PetscInt r = 0; r < N; r++) {
      i[m][r] = nz;
      for (PetscInt k = 0; k < N; k++) {
        if (k == r || r == (m ? 0 : N - 1)) {
          a[m][nz]   = k == r ? 4.0 : -0.5 / (1 + k);
          j[m][nz++] = k;
        }
      }
    }
    i[m][N] = nz;
    PetscCall(PetscMemzero(&csr[m], sizeof(csr[m])));
    csr[m].n   = N;
    csr[m].nnz = nz;
    csr[m].i   = i[m];
    csr[m].j   = j[m];
    csr[m].a   = a[m];
    csr[m].mem = PETSC_MEMTYPE_HOST;
  }
  for (int m = 0; m < 2; m++) {
    const SyncILUFill fill   = {0, 0};
    Arrays            arrays = {&csr[m], NULL};
    SyncILUSource     source;
    Case              c;

    PetscCall(PetscMemzero(&c, sizeof(c)));
    c.n             = N;
    c.piv.shift     = MAT_SHIFT_NONE;
    c.piv.zeropivot = 100 * PETSC_MACHINE_EPSILON;
    PetscCall(PetscCalloc1(N, &c.b));
    for (PetscInt r = 0; r < N; r++) c.b[r] = 1.0 + r;
    PetscCall(ArraysSource(&arrays, &source));
    PetscCall(SyncILUEngineCreate(&settings, N, &source, NULL, NULL, fill, &e));
    PetscCall(FactorOther(e, &csr[1 - m], &c, 2, "dense rows"));
    PetscCall(FactorOther(e, &csr[m], &c, 3, "dense rows"));
    PetscCall(SyncILUEngineDestroy(&e));
    PetscCall(PetscFree(c.b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt        sizes[]     = {0, 1, 33, 1025, 100003};
  const SyncILUAnalysis orders[]    = {SYNCILU_ANALYSIS_NONE, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP};
  const char *const     orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  const char *const     heavy[]     = {"random200",      "25pt",        "blocks",   "classes",     "elasticity", "elasticity_random",
                                       "elasticity_rcm", "27pt_random", "27pt_rcm", "15pt_random", "15pt_rcm"}; /* up to 20 million entries: not of the last size */
  PetscRandom           rand;
  int                   failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
    for (int m = 0; GeneratePatterns[m]; m++) {
      const PetscInt big = sizes[s] > BIG;
      /* for each row of an arrow the reference goes through the long first one, and so does PETSc */
      const PetscInt n = big && !strcmp(GeneratePatterns[m], "arrow") ? 20003 : sizes[s];
      Mat            A;
      PetscInt       which;
      PetscBool      found;

      PetscCall(PetscEListFind((PetscInt)PETSC_STATIC_ARRAY_LENGTH(heavy), heavy, GeneratePatterns[m], &which, &found));
      if (big && found) continue;
      PetscCall(GenerateMatrix(GeneratePatterns[m], n, rand, &A));
      for (int o = 0; o < (n ? 3 : 1); o++) {
        for (PetscInt levels = 0; levels < 3; levels++) {
          for (int w = 0; w < 3; w++) {
            const PetscReal relax = w == 2 ? 1.0 : 0.6 * w;
            char            name[128];
            Case            c;

            /* an arrow fills up: levels on large matrices for bands alone */
            if (n > 40 && ((levels && (o || m >= 3)) || w == 1)) continue;
            if (big && (levels || o || w)) continue;
            PetscCall(PetscSNPrintf(name, sizeof(name), "%s n %" PetscInt_FMT " levels %" PetscInt_FMT " relax %g %s", GeneratePatterns[m], n, levels,
                                    (double)relax, orderings[o]));
            PetscCall(CaseCreate(A, orderings[o], levels, relax, rand, &c));
            CHECK(c.status.row < 0, "%s: reference found a zero pivot in row %" PetscInt_FMT, name, c.status.row);
            if (w == 0 && n) PetscCall(TestPETSc(&c, name, orderings[o], levels));
            if (w == 2) PetscCall(TestRowSums(&c, name));
            if (w == 0) PetscCall(TestLevels(&c.pattern, name));
            for (int a = 0; a < 3; a++) {
              if (n > 40 && (o || big) && a != m % 3) continue;
              PetscCall(TestEngine(&c, name, orders[a], big ? 2 : 1 + (a + m) % 3));
            }
            /* more threads than cores, most likely */
            if (!o && !w && (n < 1000 || (m % 4 == 0 && !big))) PetscCall(TestEngine(&c, name, orders[m % 3], 5));
            PetscCall(CaseDestroy(&c));
          }
        }
      }
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(TestCheck(rand));
  PetscCall(TestRounding(1.0, MATORDERINGNATURAL, MAT_SHIFT_NONE, 0.0, rand));
  PetscCall(TestRounding(2.0, MATORDERINGNATURAL, MAT_SHIFT_NONE, 0.0, rand));
  PetscCall(TestRounding(2.0, MATORDERINGRCM, MAT_SHIFT_INBLOCKS, 0.0, rand));
  PetscCall(TestRounding(2.0, MATORDERINGNATURAL, MAT_SHIFT_NONZERO, 0.5, rand));
  for (PetscInt threads = 1; threads <= 3; threads += 2) {
    PetscCall(TestOtherPattern("random", 300, MATORDERINGNATURAL, 0, threads, rand));
    PetscCall(TestOtherPattern("random", 300, MATORDERINGRCM, 1, threads, rand));
  }
  PetscCall(TestDenseRows());
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("engine");
  PetscCall(PetscFinalize());
  return failed;
}
