static char
  help[] = "Patterns found with their values (-pc_syncilu_update parilut): a dense reference, the backends, what is refused, breakdowns, quality.\n\n";

#include "check.h"
#include "case.h"
#include "problem.h"
#include "host/host.h"

#define TOLERANCE 1e-11

static void Settings(SyncILUBackend backend, PetscReal fill, PetscInt rounds, PetscInt threads, SyncILUSettings *s)
{
  SyncILUSettingsInitialize(s);
  s->backend  = backend;
  s->update   = SYNCILU_UPDATE_PARILUT;
  s->fill     = fill;
  s->rounds   = rounds;
  s->sweeps   = 2;
  s->threads  = threads;
  s->residual = PETSC_TRUE;
}

static PetscErrorCode Factor(SyncILUEngine e, const Case *c, MatFactorShiftType shift)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)shift;
  PetscCall(EngineFactor(e, &c->csr, NULL, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that is dense: n rows and columns, by rows. */
typedef struct {
  PetscInt     n;
  PetscScalar *a, *s, *before; /* the matrix in the order of the factor; s_ij, zero outside of the pattern; and those of the sweep before */
  PetscScalar *d, *dbefore;    /* reciprocal pivots */
  char        *in;             /* whether entries are in the pattern */
  char        *first;          /* whether they were at first */
} Dense;

static PetscErrorCode DenseCreate(const Case *c, Dense *f)
{
  const SyncILUPattern *p  = &c->pattern;
  const size_t          n2 = (size_t)p->n * (size_t)p->n;

  PetscFunctionBegin;
  f->n = p->n;
  PetscCall(PetscCalloc7(n2, &f->a, n2, &f->s, n2, &f->before, p->n, &f->d, p->n, &f->dbefore, n2, &f->in, n2, &f->first));
  for (PetscInt i = 0; i < p->n; i++) {
    const PetscInt r = p->row ? p->row[i] : i;

    for (PetscInt k = c->csr.i[r]; k < c->csr.i[r + 1]; k++) f->a[i * p->n + (p->colinv ? p->colinv[c->csr.j[k]] : c->csr.j[k])] = c->csr.a[k];
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) f->first[i * p->n + p->lcol[k]] = 1;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) f->first[i * p->n + p->ucol[k]] = 1;
    f->first[i * p->n + i] = 1;
  }
  PetscCall(PetscArraycpy(f->in, f->first, n2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseDestroy(Dense *f)
{
  PetscFunctionBegin;
  PetscCall(PetscFree7(f->a, f->s, f->before, f->d, f->dbefore, f->in, f->first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* s_ij = a_ij - sum l_ik u_kj; without terms the first ones. */
static void DenseSweep(Dense *f, PetscBool terms)
{
  const PetscInt n = f->n;

  for (PetscInt k = 0; k < n * n; k++) f->before[k] = f->in[k] ? f->s[k] : 0.0;
  for (PetscInt i = 0; i < n; i++) f->dbefore[i] = f->d[i];
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      PetscScalar sum = f->a[i * n + j];

      for (PetscInt k = 0; k < PetscMin(i, j) && terms; k++) {
        const PetscScalar l = f->before[i * n + k] * f->dbefore[k];

        if (l != (PetscScalar)0.0) sum -= l * f->before[k * n + j];
      }
      f->s[i * n + j] = f->in[i * n + j] ? sum : (PetscScalar)0.0;
    }
    f->d[i] = 1.0 / f->s[i * n + i];
  }
}

/* The square of a size to 17 bits, as a number that is compared. */
static PetscInt64 DenseSize(const Dense *f, PetscInt i, PetscInt j)
{
  const PetscReal s    = PetscAbsScalar(f->s[i * f->n + j]);
  const double    size = (double)(s * PetscAbsScalar(f->d[i])) * (double)(s * PetscAbsScalar(f->d[j]));
  int             e;
  const double    m = frexp(size, &e);

  return size > 0.0 ? (PetscInt64)(e + 1021) * 65536 + (PetscInt64)floor(ldexp(m, 17) + 0.5) : 0;
}

/* How many sizes are not below a bound. */
static PetscInt NotBelow(const PetscInt64 *size, PetscInt m, PetscInt64 bound)
{
  PetscInt count = 0;

  for (PetscInt k = 0; k < m; k++) count += size[k] >= bound;
  return count;
}

static int CompareSizes(const void *a, const void *b)
{
  const PetscInt64 i = *(const PetscInt64 *)a, j = *(const PetscInt64 *)b;

  return (i > j) - (i < j);
}

/* Of all sizes, since they are no more than a sample has. */
static PetscInt64 DenseThreshold(PetscInt64 *size, PetscInt m, PetscInt limit)
{
  PetscInt64 lo = 1, hi = (1 << 28) + 1, step;

  if (m <= limit) return 1;
  qsort(size, (size_t)m, sizeof(*size), CompareSizes);
  for (PetscInt t = 255; t > 0; t--) { /* the bucket in which the limit is reached */
    const PetscInt64 splitter = PetscMax(size[t * m / 256], 1);

    if (NotBelow(size, m, splitter) > limit) {
      lo = splitter;
      break;
    }
    hi = splitter;
  }
  step = (hi - lo + 255) / 256;
  for (PetscInt k = 0; k < 256; k++) { /* its parts */
    if (NotBelow(size, m, PetscMin(lo + k * step, hi)) <= limit)
      return NotBelow(size, m, PetscMin(lo + k * step, hi)) ? PetscMin(lo + k * step, hi) : lo + (k - 1) * step;
  }
  return NotBelow(size, m, hi) ? hi : lo + 255 * step;
}

/* Leaves the largest entries; half: those above the diagonal decide. */
static PetscErrorCode DenseRemove(Dense *f, PetscInt limit, PetscBool half)
{
  const PetscInt n = f->n;
  PetscInt       m = 0;
  PetscInt64    *all, threshold;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * n, &all));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      if (i != j && f->in[i * n + j]) all[m++] = half && i > j ? DenseSize(f, j, i) : DenseSize(f, i, j);
    }
  }
  PetscCheck(m <= 1024, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%" PetscInt_FMT " entries are more than a sample has", m);
  threshold = DenseThreshold(all, m, limit);
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      const PetscInt64 size = half && i > j ? DenseSize(f, j, i) : DenseSize(f, i, j);

      if (i != j && size < threshold) f->in[i * n + j] = 0;
    }
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseRounds(Dense *f, PetscInt rounds, PetscInt limit, PetscBool half)
{
  const PetscInt n = f->n;

  PetscFunctionBegin;
  DenseSweep(f, PETSC_FALSE);
  for (PetscInt r = 0; r < rounds; r++) {
    char    *more;
    PetscInt m = 0, before = 0;

    PetscCall(PetscMalloc1(n * n, &more));
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = 0; j < n; j++) {
        more[i * n + j] = (char)(f->in[i * n + j] || f->first[i * n + j]);
        for (PetscInt k = 0; k < PetscMin(i, j); k++) more[i * n + j] = (char)(more[i * n + j] || (f->in[i * n + k] && f->in[k * n + j]));
        m += i != j && more[i * n + j];
        before += i != j && f->in[i * n + j];
      }
    }
    PetscCall(PetscArraycpy(f->in, more, n * n));
    PetscCall(PetscFree(more));
    if (m == before && m <= limit) break; /* nothing to add */
    for (int k = 0; k < 2; k++) DenseSweep(f, PETSC_TRUE);
    PetscCall(DenseRemove(f, limit, half));
    DenseSweep(f, PETSC_TRUE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The first row in which a factor differs in its pattern, or in its values by more than rounding; n if none
   does.
*/
static PetscInt DenseDifference(const Dense *f, const SyncILUPattern *p, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *dinv)
{
  const PetscInt n = f->n;

  for (PetscInt i = 0; i < n; i++) {
    PetscInt  l = p->lptr[i], u = p->uptr[i];
    PetscReal max = 0.0, off;

    for (PetscInt j = 0; j < n; j++) max = PetscMax(max, PetscAbsScalar(f->s[i * n + j]));
    off = PetscAbsScalar(dinv[i] - f->d[i]) * max;
    for (PetscInt j = 0; j < n; j++) {
      if (i == j || !f->in[i * n + j]) continue;
      if (j < i) {
        if (l == p->lptr[i + 1] || p->lcol[l] != j) return i;
        if (lval) off = PetscMax(off, PetscAbsScalar(lval[l] / f->d[j] - f->s[i * n + j]));
        l++;
      } else {
        if (u == p->uptr[i + 1] || p->ucol[u] != j) return i;
        off = PetscMax(off, PetscAbsScalar((lval ? uval[u] : uval[u] / dinv[i]) - f->s[i * n + j]));
        u++;
      }
    }
    if (l != p->lptr[i + 1] || u != p->uptr[i + 1] || off > TOLERANCE * PetscMax(max, 1.0)) return i;
  }
  return n;
}

/* Whatever the rounds and the fill: patterns and values of the host are those of the dense reference. */
static PetscErrorCode TestReference(const char *pattern, const char *ordering, PetscInt levels, PetscReal fill, PetscInt rounds, PetscBool half,
                                    PetscRandom rand)
{
  Mat                A, B;
  Case               c;
  Dense              f;
  SyncILUSettings    settings;
  SyncILUEngine      e;
  const PetscScalar *val[3];
  PetscInt           limit, row;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  if (half) {
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatAXPY(A, 1.0, B, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(CaseCreate(A, ordering, levels, 0.0, rand, &c));
  Settings(SYNCILU_BACKEND_HOST, fill, rounds, 1, &settings);
  settings.symmetric = half;
  {
    SyncILUSource source;
    Arrays        arrays = {&c.csr, NULL};

    PetscCall(ArraysSource(&arrays, &source));
    PetscCall(SyncILUEngineCreate(&settings, c.n, &source, c.pattern.row, c.pattern.col, c.fill, &e));
  }
  PetscCall(Factor(e, &c, MAT_SHIFT_NONE));
  PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
  limit = (PetscInt)(fill * (PetscReal)c.csr.nnz) - c.n;
  PetscCall(DenseCreate(&c, &f));
  PetscCall(DenseRounds(&f, rounds, limit, half));
  for (int k = 0; k < 2; k++) DenseSweep(&f, PETSC_TRUE);
  row = DenseDifference(&f, &e->pattern, half ? NULL : val[0], val[1], val[2]);
  CHECK(row == c.n, "%s %s, %" PetscInt_FMT " levels, fill %g, %" PetscInt_FMT " rounds, half %d: row %" PetscInt_FMT " differs from the dense reference's",
        pattern, ordering, levels, (double)fill, rounds, half, row);
  CHECK(e->pattern.nl + e->pattern.nu <= limit, "%s: %" PetscInt_FMT " entries are more than %" PetscInt_FMT, pattern, e->pattern.nl + e->pattern.nu, limit);
  PetscCall(DenseDestroy(&f));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What an engine has after a factorization. */
typedef struct {
  PetscInt     nl, nu;
  PetscScalar *l, *u, *d, *x[2];
  PetscReal    residual;
} Result;

static PetscErrorCode GetResult(SyncILUEngine e, const Case *c, Result *r)
{
  const PetscScalar *val[3];

  PetscFunctionBegin;
  PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
  r->nl       = e->pattern.nl;
  r->nu       = e->pattern.nu;
  r->residual = e->residual;
  PetscCall(PetscMalloc5(val[0] ? r->nl : 0, &r->l, r->nu, &r->u, c->n, &r->d, c->ld * NRHS, &r->x[0], c->ld * NRHS, &r->x[1]));
  if (val[0]) PetscCall(PetscArraycpy(r->l, val[0], r->nl));
  PetscCall(PetscArraycpy(r->u, val[1], r->nu));
  PetscCall(PetscArraycpy(r->d, val[2], c->n));
  for (int t = 0; t < 2; t++) PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, c->nrhs, c->b, c->ld, r->x[t], c->ld, PETSC_MEMTYPE_HOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeResult(Result *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree5(r->l, r->u, r->d, r->x[0], r->x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference of two arrays over the largest number of one of them. */
static PetscReal Difference(PetscInt n, const PetscScalar *a, const PetscScalar *b)
{
  PetscReal max = 0.0, off = 0.0;

  for (PetscInt k = 0; k < n; k++) {
    max = PetscMax(max, PetscAbsScalar(a[k]));
    off = PetscMax(off, PetscAbsScalar(a[k] - b[k]));
  }
  return max > 0.0 ? off / max : off;
}

static void Compare(const Case *c, const Result *r, const Result *want, PetscReal tolerance, const char *name)
{
  PetscReal off;

  CHECK(r->nl == want->nl && r->nu == want->nu, "%s: %" PetscInt_FMT " and %" PetscInt_FMT " entries, not %" PetscInt_FMT " and %" PetscInt_FMT, name, r->nl,
        r->nu, want->nl, want->nu);
  if (r->nl != want->nl || r->nu != want->nu) return;
  off = PetscMax(Difference(r->nu, want->u, r->u), Difference(c->n, want->d, r->d));
  off = PetscMax(off, Difference(r->nl, want->l, r->l));
  for (int t = 0; t < 2; t++) {
    for (PetscInt k = 0; k < c->nrhs; k++) off = PetscMax(off, Difference(c->n, want->x[t] + k * c->ld, r->x[t] + k * c->ld));
  }
  CHECK(off <= tolerance, "%s: the factor or a solution differs by %g", name, (double)off);
  CHECK(PetscAbsReal(r->residual - want->residual) <= tolerance, "%s: residual %g, not %g", name, (double)r->residual, (double)want->residual);
}

/*
   The host on several threads has the bits of one; the device the same pattern, values up to rounding and
   solutions. Both have the same bits again, and after other values those that a new engine has. The last
   solution is checked by hand.
*/
static PetscErrorCode TestBackends(const char *pattern, const char *ordering, PetscInt levels, PetscReal fill, PetscBool device, PetscRandom rand)
{
  const PetscInt  lanes[] = {0, 4, 32};
  Mat             A;
  Case            c;
  Result          want, r;
  SyncILUSettings settings;
  SyncILUEngine   e, other;
  PetscScalar    *x;
  PetscReal       off;
  char            name[128];

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(CaseCreate(A, ordering, levels, 0.0, rand, &c));
  for (int k = 0; k < (device ? 4 : 3); k++) {
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s %s levels %" PetscInt_FMT " fill %g, %s %d", pattern, ordering, levels, (double)fill,
                            k == 3 ? "device" : "threads", k == 3 ? 1 : k + 1));
    Settings(k == 3 ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, fill, 3, k == 3 ? 1 : k + 1, &settings);
    settings.vector_size = lanes[levels % 3];
    PetscCall(EngineCreate(&settings, &c, &e));
    for (int run = 0; run < 2; run++) {
      PetscCall(Factor(e, &c, MAT_SHIFT_NONE));
      CHECK(e->status.row < 0 && e->search.rounds <= 3, "%s: row %" PetscInt_FMT " is rejected, %" PetscInt_FMT " rounds", name, e->status.row,
            e->search.rounds);
      PetscCall(GetResult(e, &c, !k && !run ? &want : &r));
      if (!k && !run) {
        PetscCall(PetscMalloc1(c.n, &x));
        PetscCall(SyncILUReferenceSolve(&e->pattern, want.l, want.u, want.d, SYNCILU_NOTRANS, c.b, x));
        off = Difference(c.n, x, want.x[0]);
        CHECK(off == 0.0, "%s: the solution differs by %g from the reference's", name, (double)off);
        PetscCall(PetscFree(x));
        continue;
      }
      Compare(&c, &r, &want, k == 3 ? TOLERANCE : 0.0, name);
      if (k == 3 && run) { /* the bits of the first run */
        Result again;

        PetscCall(Factor(e, &c, MAT_SHIFT_NONE));
        PetscCall(GetResult(e, &c, &again));
        Compare(&c, &again, &r, 0.0, "the device again");
        PetscCall(FreeResult(&again));
      }
      PetscCall(FreeResult(&r));
    }
    if (k == 0 || k == 3) { /* other values; then those of before, in an engine that has had others */
      Result fresh, used;
      Vec    diagonal;

      PetscCall(MatCreateVecs(A, &diagonal, NULL));
      PetscCall(MatGetDiagonal(A, diagonal));
      PetscCall(MatShift(A, 0.5));
      PetscCall(EngineCreate(&settings, &c, &other));
      PetscCall(Factor(other, &c, MAT_SHIFT_NONE));
      PetscCall(Factor(e, &c, MAT_SHIFT_NONE));
      PetscCall(GetResult(other, &c, &fresh));
      PetscCall(GetResult(e, &c, &used));
      Compare(&c, &used, &fresh, 0.0, "after other values");
      e->settings.rounds = 0; /* the pattern stays */
      PetscCall(MatDiagonalSet(A, diagonal, INSERT_VALUES));
      PetscCall(VecDestroy(&diagonal));
      PetscCall(Factor(e, &c, MAT_SHIFT_NONE));
      CHECK(e->pattern.nl == used.nl && e->pattern.nu == used.nu && e->status.row < 0, "%s: the pattern has not stayed without rounds", name);
      PetscCall(FreeResult(&fresh));
      PetscCall(FreeResult(&used));
      PetscCall(SyncILUEngineDestroy(&other));
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscCall(FreeResult(&want));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A symmetric matrix: the host's half, the host's ILU and a device's both triangles are one factor, in any
   ordering.
*/
static PetscErrorCode TestSymmetric(const char *pattern, const char *ordering, PetscBool device, PetscRandom rand)
{
  Mat          A;
  Case         c;
  PetscScalar *x[3];
  PetscInt     entries[3];

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(GenerateSum(A));
  PetscCall(CaseCreate(A, ordering, 0, 0.0, rand, &c));
  for (int k = 0; k < (device ? 3 : 2); k++) {
    SyncILUSettings settings;
    SyncILUEngine   e;
    SyncILUSource   source;
    Arrays          arrays = {&c.csr, NULL};

    Settings(k == 2 ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, 1.5, 4, 1, &settings);
    settings.symmetric = (PetscBool)(k > 0);
    PetscCall(ArraysSource(&arrays, &source));
    PetscCall(SyncILUEngineCreate(&settings, c.n, &source, c.pattern.row, c.pattern.col, c.fill, &e));
    PetscCall(Factor(e, &c, MAT_SHIFT_NONE));
    entries[k] = e->pattern.nu;
    CHECK(e->status.row < 0 && e->pattern.nl == e->pattern.nu, "%s %s, %d: %" PetscInt_FMT " entries of L, %" PetscInt_FMT " of U", pattern, ordering, k,
          e->pattern.nl, e->pattern.nu);
    PetscCall(PetscMalloc1(c.n, &x[k]));
    PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.ld, x[k], c.ld, PETSC_MEMTYPE_HOST));
    if (k) {
      const PetscReal off = Difference(c.n, x[0], x[k]);

      CHECK(entries[k] == entries[0] && off <= TOLERANCE, "%s %s, %d: %" PetscInt_FMT " entries of U, not %" PetscInt_FMT ", and solutions differ by %g",
            pattern, ordering, k, entries[k], entries[0], (double)off);
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  for (int k = 0; k < (device ? 3 : 2); k++) PetscCall(PetscFree(x[k]));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bad pivots and numbers end in a failure that names the row, or a shift saves them. */
static PetscErrorCode TestPivots(SyncILUBackend backend, PetscRandom rand)
{
  const MatFactorShiftType shifts[] = {MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
  const char *const        name     = SyncILUBackends[backend];

  PetscFunctionBegin;
  for (int k = 0; k < 5; k++) {
    const PetscScalar bad[] = {(PetscScalar)NAN, (PetscScalar)INFINITY, 0.0, 0.0, 0.0};
    Mat               A;
    PC                pc;
    SyncILUStatistics s;
    PCFailedReason    reason;

    PetscCall(GenerateMatrix("diagonal", 50, rand, &A));
    if (k < 2) {
      PetscCall(MatDestroy(&A));
      PetscCall(GenerateMatrix("tridiagonal", 50, rand, &A));
    }
    PetscCall(MatSetValue(A, 30, k == 1 ? 31 : 30, bad[k], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PreconditionerCreate(A, backend, &pc));
    PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILUT));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    PetscCall(PCGetFailedReason(pc, &reason));
    CHECK(reason != PC_NOERROR && s.failed_row == 30, "%s, %d: row %" PetscInt_FMT " failed, the reason is %d", name, k, s.failed_row, (int)reason);
    if (k >= 2) {
      PetscCall(PCDestroy(&pc));
      PetscCall(PreconditionerCreate(A, backend, &pc));
      PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILUT));
      PetscCall(PCFactorSetShiftType(pc, shifts[k - 2]));
      PetscCall(PCFactorSetShiftAmount(pc, 0.5));
      PetscCall(PCSetUp(pc));
      PetscCall(PCSyncILUGetStatistics(pc, &s));
      PetscCall(PCGetFailedReason(pc, &reason));
      CHECK(reason == PC_NOERROR && s.failed_row < 0 && s.shift_amount > 0.0, "%s: shift %s leaves row %" PetscInt_FMT " failed", name,
            MatFactorShiftTypes[shifts[k - 2]], s.failed_row);
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An entry that is zero goes, though all others may stay. */
static PetscErrorCode TestZeros(SyncILUBackend backend)
{
  Mat               A;
  PC                pc;
  SyncILUStatistics s;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 40, 40, 3, NULL, &A));
  for (PetscInt i = 0; i < 40; i++) {
    PetscCall(MatSetValue(A, i, i, 2.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, (i + 1) % 40, i % 2 ? 0.0 : 0.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PreconditionerCreate(A, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILUT));
  PetscCall(PCSyncILUSetFill(pc, 10.0));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSyncILUGetStatistics(pc, &s));
  CHECK(s.failed_row < 0 && s.nonzeros == 60, "%s: %" PetscInt64_FMT " nonzeros, of which 60 are not zero", SyncILUBackends[backend], s.nonzeros);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No rows, and one. */
static PetscErrorCode TestTiny(SyncILUBackend backend)
{
  PetscFunctionBegin;
  for (PetscInt n = 0; n < 2; n++) {
    Mat               A;
    PC                pc;
    SyncILUStatistics s;

    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 1, NULL, &A));
    if (n) PetscCall(MatSetValue(A, 0, 0, 2.0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PreconditionerCreate(A, backend, &pc));
    PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILUT));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSyncILUGetStatistics(pc, &s));
    CHECK(s.failed_row < 0 && s.nonzeros == n && s.rounds == 0, "%s: %" PetscInt64_FMT " nonzeros of %" PetscInt_FMT " rows in %" PetscInt_FMT " rounds",
          SyncILUBackends[backend], s.nonzeros, n, s.rounds);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRefusals(SyncILUBackend backend, PetscRandom rand)
{
  Mat A, B;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 27, rand, &A));
  PetscCall(PreconditionerCreate(A, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILUT));
  CHECK_ERROR(PCSyncILUSetFill(pc, 0.0), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_fill: 0. is not positive");
  CHECK_ERROR(PCSyncILUSetRounds(pc, -1), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_rounds: -1 is not between");
  CHECK_ERROR(PCSyncILUSetRoundsTolerance(pc, -1.0), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_rounds_tolerance: -1. is not between");
  PetscCall(PCSyncILUSetRelax(pc, 0.5));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_update parilut: sweeps have no relaxation (-pc_syncilu_relax 0.5)");
  PetscCall(PCSyncILUSetRelax(pc, 0.0));
  PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_check: not with -pc_syncilu_update parilut");
  PetscCall(PCSyncILUSetCheck(pc, PETSC_FALSE));
  PetscCall(PCSyncILUSetEisenstat(pc, PETSC_TRUE));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: not with -pc_syncilu_update parilut");
  PetscCall(PCSyncILUSetEisenstat(pc, PETSC_FALSE));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(GenerateBlocks("7pt:3x3x3", 0, 2, rand, &B));
  PetscCall(PreconditionerCreate(B, backend, &pc));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_PARILUT));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_update parilut: not for the blocks of 2 rows");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Too many candidates for the indices of a host are an error that names the row, and leave no memory behind. */
static PetscErrorCode TestTooMany(PetscRandom rand)
{
  const PetscInt  most = SyncILUSearchMost, threads[] = {1, 2};
  Mat             A;
  Case            c;
  PetscLogDouble  before, after;
  PetscErrorCode  ierr;
  SyncILUSettings settings;
  SyncILUEngine   e;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt:5x5x5", 0, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGRCM, 0, 0.0, rand, &c));
  for (int k = 0; k < 2; k++) {
    Settings(SYNCILU_BACKEND_HOST, 4.0, 3, threads[k], &settings);
    PetscCall(PetscMallocGetCurrentUsage(&before));
    PetscCall(EngineCreate(&settings, &c, &e));
    SyncILUSearchMost = 800 + 400 * k; /* in the first round, and in the second one */
    QUIETLY(ierr, Factor(e, &c, MAT_SHIFT_NONE));
    SyncILUSearchMost = most;
    CHECK(ierr == PETSC_ERR_ARG_OUTOFRANGE && strstr(check_message, "entries and candidates by row"), "%d: error %d, \"%s\"", k, (int)ierr, check_message);
    PetscCall(SyncILUEngineDestroy(&e));
    PetscCall(PetscMallocGetCurrentUsage(&after));
    CHECK(before > 0.0 && after == before, "%d: %g bytes are left of a search that failed", k, (double)(after - before));
  }
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Inside of Krylov methods: with so many entries as one level of fill has, no more iterations; rounds without
   candidates and those that a tolerance leaves out are not made; what the view says.
*/
static PetscErrorCode TestSolvers(SyncILUBackend backend)
{
  const char *const methods[] = {"-ksp_type cg", "-ksp_type cg -pc_syncilu_symmetric", "-ksp_type gmres -pc_factor_mat_ordering_type bmc",
                                 "-ksp_type cg -pc_factor_mat_ordering_type rcm", "-ksp_type cg -pc_syncilu_sweeps_asynchronous"};
  Problem           p;
  char              options[320], text[16384];

  PetscFunctionBegin;
  PetscCall(ProblemCreate(5, 0.0, &p));
  PetscCall(MatSetOption(p.A, MAT_SYMMETRIC, PETSC_TRUE));
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(methods); m++) {
    PetscInt          its[4];
    const char *const ways[] = {"", "-pc_factor_levels 1", "-pc_syncilu_update parilut -pc_syncilu_fill 2.4",
                                "-pc_syncilu_update parilut -pc_syncilu_fill 30 -pc_syncilu_rounds 20 -pc_syncilu_sweeps 20"};

    for (int k = 0; k < 4; k++) {
      KSP               ksp;
      PC                pc;
      SyncILUStatistics s;

      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_type syncilu -pc_syncilu_backend %s %s %s", SyncILUBackends[backend], methods[m], ways[k]));
      PetscCall(SolveWith(&p, options, &its[k], &ksp));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSyncILUGetStatistics(pc, &s));
      PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
      CHECK((s.rounds > 0) == (k > 1), "%s: %" PetscInt_FMT " rounds", options, s.rounds);
      if (k > 1) {
        CHECK(CheckViewSays(text, "factorization", "parilut") && CheckViewSays(text, "pattern", "found in"), "%s: the view says\n%s", options, text);
        CHECK(s.fill <= (k == 2 ? 2.4 : 30.0), "%s: fill %g", options, (double)s.fill);
      }
      CHECK(k != 3 || s.rounds < 20, "%s: there is something to add after %" PetscInt_FMT " rounds", options, s.rounds);
      if (k == 2) {
        const PetscInt64 nonzeros = s.nonzeros;
        const PetscInt   analyses = s.analyses;

        PetscCall(PCSyncILUSetRoundsTolerance(pc, 1.0));
        PetscCall(PCSetUp(pc));
        PetscCall(PCSyncILUGetStatistics(pc, &s));
        CHECK(s.rounds > 1 && s.rounds <= 5, "%s: %" PetscInt_FMT " rounds with a tolerance", options, s.rounds);
        PetscCall(PCSyncILUSetRoundsTolerance(pc, 0.0));
        PetscCall(PCSetUp(pc));
        PetscCall(PCSyncILUGetStatistics(pc, &s));
        CHECK(s.nonzeros == nonzeros && s.analyses == analyses, "%s: another pattern the next time", options);
      }
      PetscCall(KSPDestroy(&ksp));
    }
    CHECK(its[1] < its[0] && its[2] <= its[1] + 1 && its[3] <= 2,
          "%s: %" PetscInt_FMT " iterations with no fill, %" PetscInt_FMT " with a level, %" PetscInt_FMT " with a pattern that was found, %" PetscInt_FMT
          " with all",
          options, its[0], its[1], its[2], its[3]);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const patterns[] = {"arrow:60",   "arrowup:50",   "denserow:90",  "27pt:4x4x4", "15pt:5x5x4",
                                  "random:150", "powerlaw:120", "longrows:150", "hubs:90",    "elasticity:81"};
  PetscRandom       rand;
  PetscBool         device;
  int               failed;

  PetscCall(PetscOptionsSetValue(NULL, "-malloc_debug", "true")); /* memory is counted */
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(CaseGetDevice(&device));
  for (int half = 0; half < 2; half++) {
    PetscCall(TestReference("7pt:3x3x3", MATORDERINGNATURAL, 0, 1.0, 3, (PetscBool)half, rand));
    PetscCall(TestReference("7pt:4x3x3", MATORDERINGRCM, 0, 2.0, 4, (PetscBool)half, rand));
    PetscCall(TestReference("27pt:3x3x2", MATORDERINGND, 1, 1.2, 2, (PetscBool)half, rand));
    PetscCall(TestReference("random:30", MATORDERINGNATURAL, 0, 1.5, 5, (PetscBool)half, rand));
    PetscCall(TestReference("arrow:20", MATORDERINGNATURAL, 0, 0.7, 2, (PetscBool)half, rand));
    PetscCall(TestReference("random:30", MATORDERINGNATURAL, 2, 0.9, 1, (PetscBool)half, rand));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(patterns); k++)
    PetscCall(TestBackends(patterns[k], k % 2 ? MATORDERINGRCM : MATORDERINGNATURAL, (PetscInt)k % 3 == 1, k % 3 ? 1.6 : 1.0, device, rand));
  PetscCall(TestSymmetric("27pt:4x3x3", MATORDERINGNATURAL, device, rand));
  PetscCall(TestSymmetric("15pt:6x5x4", MATORDERINGRCM, device, rand));
  PetscCall(TestSymmetric("random:60", MATORDERINGND, device, rand));
  PetscCall(TestTooMany(rand));
  for (int k = 0; k < (device ? 2 : 1); k++) {
    const SyncILUBackend backend = k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST;

    PetscCall(TestZeros(backend));
    PetscCall(TestTiny(backend));
    PetscCall(TestPivots(backend, rand));
    PetscCall(TestRefusals(backend, rand));
    PetscCall(TestSolvers(backend));
  }
  PetscCall(PetscRandomDestroy(&rand));
#if defined(SYNCILU_HAVE_CUDA)
  if (device) {
    size_t taken, pool;

    PetscCall(SyncILUCUDAMemory(&taken, &pool));
    CHECK(!taken, "%zu bytes of the device are not given back", taken);
  }
#endif
  failed = CheckReport("parilut");
  PetscCall(PetscFinalize());
  return failed;
}
