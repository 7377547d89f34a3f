static char
  help[] = "Solve strategy jacobi: the reference against the definition, the backends against the reference, when sweeps are exact, symmetry, refusals.\n\n";

#include "check.h"
#include "case.h"
#include "host/host.h"
#include "problem.h"

#define TOLERANCE 1e-12

enum {
  FEW = 8 /* levels, through which numbers do not become too small to be seen */
};

static const PetscInt sizes[] = {1, SYNCILU_JACOBI_BLOCK};

static void SettingsFor(SyncILUBackend backend, PetscReal relax, PetscInt sweeps, PetscInt block, SyncILUSettings *s)
{
  SyncILUSettingsInitialize(s);
  s->backend          = backend;
  s->relax            = relax;
  s->solve            = SYNCILU_SOLVE_JACOBI;
  s->solve_sweeps     = sweeps;
  s->solve_block_size = block;
}

static PetscErrorCode Factor(SyncILUEngine e, const Case *c)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(EngineFactor(e, &c->csr, NULL, &info));
  CHECK(e->status.row < 0, "zero pivot in row %" PetscInt_FMT, e->status.row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A triangle of the case, or its transpose, as a dense matrix by rows. */
static void Dense(const Case *c, PetscBool upper, PetscBool trans, PetscScalar *T)
{
  const SyncILUPattern *p   = &c->pattern;
  const PetscInt       *ptr = upper ? p->uptr : p->lptr, *col = upper ? p->ucol : p->lcol, n = c->n;

  for (PetscInt k = 0; k < n * n; k++) T[k] = 0.0;
  for (PetscInt i = 0; i < n; i++) {
    T[i * n + i] = upper ? 1.0 / c->ref[c->nl + c->nu + i] : 1.0;
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) T[trans ? col[k] * n + i : i * n + col[k]] = c->ref[(upper ? c->nl : 0) + k];
  }
}

/*
   The sweeps of a triangle as they are usually defined: from x = 0 on x += D^-1 (b - T x), one more than ours,
   which begin with D^-1 b. D is what of T is in the diagonal blocks, and is solved with by elimination.
*/
static PetscErrorCode Define(PetscInt n, const PetscScalar *T, PetscInt sweeps, PetscInt block, const PetscScalar *b, PetscScalar *x)
{
  PetscScalar D[SYNCILU_JACOBI_BLOCK][SYNCILU_JACOBI_BLOCK + 1], *r;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &r));
  for (PetscInt i = 0; i < n; i++) x[i] = 0.0;
  for (PetscInt s = 0; s <= sweeps; s++) {
    for (PetscInt i = 0; i < n; i++) {
      r[i] = b[i];
      for (PetscInt j = 0; j < n; j++) r[i] -= T[i * n + j] * x[j];
    }
    for (PetscInt first = 0; first < n; first += block) {
      const PetscInt size = PetscMin(block, n - first);

      for (PetscInt i = 0; i < size; i++) {
        for (PetscInt j = 0; j < size; j++) D[i][j] = T[(first + i) * n + first + j];
        D[i][size] = r[first + i];
      }
      for (PetscInt k = 0; k < size; k++) {
        for (PetscInt j = size; j >= k; j--) D[k][j] /= D[k][k];
        for (PetscInt i = 0; i < size; i++) {
          const PetscScalar l = D[i][k];

          for (PetscInt j = k; j <= size && i != k; j++) D[i][j] -= l * D[k][j];
        }
      }
      for (PetscInt i = 0; i < size; i++) x[first + i] += D[i][size];
    }
  }
  PetscCall(PetscFree(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the case expects is what the definition gives. */
static PetscErrorCode TestDefinition(const Case *c, const SyncILUSettings *s, const char *what)
{
  const PetscInt n = c->n;
  PetscScalar   *T, *y[2], *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(n * n, &T, n, &y[0], n, &y[1], n, &x));
  for (int t = 0; t < 2; t++) {
    const PetscInt *in = t ? c->pattern.col : c->pattern.row, *out = t ? c->pattern.row : c->pattern.col;
    PetscInt        row;

    for (PetscInt i = 0; i < n; i++) y[0][i] = c->b[in ? in[i] : i];
    for (int second = 0; second < 2; second++) {
      Dense(c, (PetscBool)(second != t), (PetscBool)t, T);
      PetscCall(Define(n, T, s->solve_sweeps, s->solve_block_size, y[second], y[1 - second]));
    }
    for (PetscInt i = 0; i < n; i++) x[out ? out[i] : i] = y[0][i];
    row = SolutionFirstDifference(n, c->x[t], x, TOLERANCE);
    CHECK(row == n, "%s, transposed %d: row %" PetscInt_FMT " of the reference is not what the definition gives", what, t, row);
  }
  PetscCall(PetscFree4(T, y[0], y[1], x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All solves of an engine: up to a tolerance, of which none is bit for bit. */
static PetscErrorCode CompareSolves(SyncILUEngine e, const Case *c, PetscReal tolerance, const char *what)
{
  PetscScalar *x, *again;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(c->ld * NRHS, &x, c->ld * NRHS, &again));
  for (int t = 0; t < 2; t++) {
    const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

    for (PetscInt nrhs = 1; nrhs <= NRHS; nrhs += NRHS - 1) {
      PetscBool same;

      for (PetscInt k = 0; k < c->ld * NRHS; k++) x[k] = -7.0;
      PetscCall(SyncILUEngineSolve(e, trans, nrhs, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
      for (PetscInt k = 0; k < nrhs; k++) {
        const PetscInt row = SolutionFirstDifference(c->n, x + k * c->ld, c->x[t] + k * c->ld, tolerance);

        CHECK(row == c->n, "%s, transposed %d: row %" PetscInt_FMT " of solution %" PetscInt_FMT " of %" PetscInt_FMT " differs", what, t, row, k, nrhs);
        CHECK(x[k * c->ld + c->n] == (PetscScalar)-7.0, "%s: wrote behind the solution", what);
      }
      PetscCall(PetscArraycpy(again, c->b, c->ld * nrhs));
      PetscCall(SyncILUEngineSolve(e, trans, nrhs, again, c->ld, again, c->ld, PETSC_MEMTYPE_HOST));
      for (PetscInt k = 0; k < nrhs; k++) {
        PetscCall(PetscArraycmp(again + k * c->ld, x + k * c->ld, c->n, &same));
        CHECK(same, "%s, transposed %d: solution %" PetscInt_FMT " of %" PetscInt_FMT " has other bits in place", what, t, k, nrhs);
      }
    }
  }
  PetscCall(PetscFree2(x, again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The comparison that -pc_syncilu_check makes finds a wrong number, and no fault where there is none. */
static PetscErrorCode TestCheck(SyncILUEngine e, const Case *c)
{
  PetscScalar *x;

  PetscFunctionBegin;
  if (!c->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(c->n, &x));
  e->settings.check = PETSC_TRUE;
  PetscCall(Factor(e, c));
  for (int t = 0; t < 2; t++) {
    const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

    PetscCall(SyncILUEngineSolve(e, trans, 1, c->b, c->n, x, c->n, PETSC_MEMTYPE_HOST));
    x[c->n / 2] *= 1.001;
    CHECK_ERROR(SyncILUCheckSolve(e, trans, c->b, x), PETSC_ERR_PLIB, "of the solution is the first to differ");
  }
  e->settings.check = PETSC_FALSE;
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sweeps on a matrix, on both backends: those of the definition, and as many as there are levels are exact,
   while one less than that is not.
*/
static PetscErrorCode TestMatrix(const char *pattern, const char *ordering, PetscReal relax, PetscBool device, PetscBool small, PetscRandom rand)
{
  const PetscInt sweeps[] = {0, 1, 2, 3, 6};
  const int      count    = (int)PETSC_STATIC_ARRAY_LENGTH(sweeps);
  PetscInt       levels[2], most, *level;
  SyncILUEngine  host, cuda = NULL;
  Mat            A;
  Case           c;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(CaseCreate(A, ordering, 0, relax, rand, &c));
  PetscCall(PetscMalloc1(c.n, &level));
  PetscCall(SyncILUHostLevels(c.n, c.pattern.lptr, c.pattern.lcol, PETSC_TRUE, level, &levels[0], &most));
  PetscCall(SyncILUHostLevels(c.n, c.pattern.uptr, c.pattern.ucol, PETSC_FALSE, level, &levels[1], &most));
  most = PetscMax(1, PetscMax(levels[0], levels[1])) - 1; /* sweeps that are exact */
  PetscCall(PetscFree(level));
  for (int b = 0; b < 2; b++) {
    for (int k = 0; k < count + 2; k++) {
      const PetscInt  n = k < count ? sweeps[k] : k == count ? most : PetscMax(0, most - 1);
      SyncILUSettings s;
      char            what[160];

      SettingsFor(SYNCILU_BACKEND_HOST, relax, n, sizes[b], &s);
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, %" PetscInt_FMT " sweeps, blocks of %" PetscInt_FMT, pattern, ordering, n, sizes[b]));
      if (!b && !k) {
        PetscCall(EngineCreate(&s, &c, &host));
        PetscCall(Factor(host, &c));
        s.backend = SYNCILU_BACKEND_CUDA;
        if (device) PetscCall(EngineCreate(&s, &c, &cuda));
        if (cuda) PetscCall(Factor(cuda, &c));
      }
      PetscCall(CaseExpect(&c, &s));
      if (c.n <= 200 && k < count) PetscCall(TestDefinition(&c, &s, what));
      if (k >= count) { /* the last two */
        PetscScalar *y;
        PetscInt     row;

        PetscCall(PetscMalloc1(c.n, &y));
        s.solve = SYNCILU_SOLVE_AUTO;
        PetscCall(CaseReference(&c, &s, SYNCILU_NOTRANS, c.b, y));
        row = SolutionFirstDifference(c.n, c.x[0], y, TOLERANCE);
        if (k == count) CHECK(row == c.n, "%s: row %" PetscInt_FMT " is not exact", what, row);
        else if (!b && most && most <= FEW) CHECK(row < c.n, "%s: exact with fewer sweeps than there are levels", what);
        PetscCall(PetscFree(y));
      }
      host->settings.solve_sweeps     = n; /* as by the setters of the factor */
      host->settings.solve_block_size = sizes[b];
      for (PetscInt threads = 1; threads <= (k == 2 || k == 4 ? 3 : 1); threads += 2) {
        host->settings.threads = threads;
        PetscCall(CompareSolves(host, &c, 0.0, what));
      }
      if (cuda && (!small || k < 4)) {
        cuda->settings.solve_sweeps     = n;
        cuda->settings.solve_block_size = sizes[b];
        PetscCall(CompareSolves(cuda, &c, TOLERANCE, what));
      }
      if (k == 2) {
        PetscCall(TestCheck(host, &c));
        if (cuda) PetscCall(TestCheck(cuda, &c));
      }
    }
  }
  PetscCall(SyncILUEngineDestroy(&host));
  PetscCall(SyncILUEngineDestroy(&cuda));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The half form of the host: the bits of its reference, and those of both triangles up to rounding. */
static PetscErrorCode TestHalf(PetscRandom rand)
{
  SyncILUSettings s;
  SyncILUStatus   status;
  SyncILUSource   source;
  Mat             A;
  Case            c;
  PetscScalar    *ref, *x, *y;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt:6x5x7", 0, rand, &A));
  PetscCall(GenerateSum(A));
  PetscCall(CaseCreate(A, MATORDERINGRCM, 1, 0.0, rand, &c));
  PetscCall(PetscMalloc3(c.nu + c.n, &ref, c.n, &x, c.n, &y));
  PetscCall(SyncILUReferenceFactorHalf(&c.pattern, &c.csr, &c.piv, ref, ref + c.nu, &status));
  for (int b = 0; b < 2; b++) {
    Arrays        arrays = {&c.csr, NULL};
    SyncILUEngine e;

    SettingsFor(SYNCILU_BACKEND_HOST, 0.0, 2, sizes[b], &s);
    PetscCall(CaseExpect(&c, &s));
    s.symmetric = PETSC_TRUE;
    PetscCall(ArraysSource(&arrays, &source));
    PetscCall(SyncILUEngineCreate(&s, c.n, &source, c.pattern.row, c.pattern.col, c.fill, &e));
    for (int t = 0; t < 3; t++) { /* several threads keep L, too */
      PetscBool same;

      e->settings.threads = 1 + t;
      PetscCall(Factor(e, &c));
      PetscCall(SyncILUReferenceSolveJacobi(&e->pattern, NULL, ref, ref + c.nu, 2, sizes[b], t ? SYNCILU_TRANS : SYNCILU_NOTRANS, c.b, y));
      PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST));
      PetscCall(PetscArraycmp(x, y, c.n, &same));
      CHECK(same && e->pattern.half, "a half, blocks of %" PetscInt_FMT ", %d threads: other bits than the reference", sizes[b], 1 + t);
      CHECK(SolutionFirstDifference(c.n, x, c.x[0], TOLERANCE) == c.n, "a half, blocks of %" PetscInt_FMT ": differs from both triangles", sizes[b]);
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscCall(PetscFree3(ref, x, y));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |x^T M y - y^T N x| over the size of its terms. */
static PetscErrorCode Adjoint(PC pc, PetscBool transposed, Vec x, Vec y, PetscReal *difference)
{
  Vec         Mx, My;
  PetscScalar a, b;
  PetscReal   norm[2];

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &Mx));
  PetscCall(VecDuplicate(x, &My));
  PetscCall(PCApply(pc, y, My));
  if (transposed) PetscCall(PCApplyTranspose(pc, x, Mx));
  else PetscCall(PCApply(pc, x, Mx));
  PetscCall(VecTDot(My, x, &a));
  PetscCall(VecTDot(Mx, y, &b));
  PetscCall(VecNorm(My, NORM_2, &norm[0]));
  PetscCall(VecNorm(x, NORM_2, &norm[1]));
  *difference = PetscAbsScalar(a - b) / (norm[0] * norm[1]);
  PetscCall(VecDestroy(&Mx));
  PetscCall(VecDestroy(&My));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M (2 x + y) = 2 M x + M y. */
static PetscErrorCode Linear(PC pc, Vec x, Vec y, PetscReal *difference)
{
  Vec z, Mx, My, Mz;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &Mx));
  PetscCall(VecDuplicate(x, &My));
  PetscCall(VecDuplicate(x, &Mz));
  PetscCall(VecCopy(y, z));
  PetscCall(VecAXPY(z, 2.0, x));
  PetscCall(PCApply(pc, x, Mx));
  PetscCall(PCApply(pc, y, My));
  PetscCall(PCApply(pc, z, Mz));
  PetscCall(VecAXPY(My, 2.0, Mx));
  PetscCall(CheckDifference(Mz, My, difference));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&Mx));
  PetscCall(VecDestroy(&My));
  PetscCall(VecDestroy(&Mz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One solve after the other, as a KSP wants them that preconditions from both sides, is the whole. */
static PetscErrorCode TwoHalves(PC pc, Vec x, PetscReal *difference)
{
  Mat F;
  Vec half, both, whole;

  PetscFunctionBegin;
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(VecDuplicate(x, &half));
  PetscCall(VecDuplicate(x, &both));
  PetscCall(VecDuplicate(x, &whole));
  PetscCall(MatForwardSolve(F, x, half));
  PetscCall(MatBackwardSolve(F, half, both));
  PetscCall(MatSolve(F, x, whole));
  PetscCall(CheckDifference(both, whole, difference));
  PetscCall(VecDestroy(&half));
  PetscCall(VecDestroy(&both));
  PetscCall(VecDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   As a preconditioner: linear, the transposed one its transpose, symmetric where the matrix is, and then CG
   converges in hardly more iterations than with exact solves.
*/
static PetscErrorCode TestOperator(PetscBool device, PetscBool small, PetscRandom rand)
{
  const struct {
    PetscReal   wind;
    const char *options;
    PetscInt    more; /* iterations of CG than with exact solves, at most; -1: not symmetric */
  } runs[] = {
    {0.0, "-pc_syncilu_solve_sweeps 3",                                                      4 },
    {0.0, "-pc_syncilu_solve_sweeps 1 -pc_syncilu_solve_block_size 1",                       20},
    {0.0, "-pc_syncilu_solve_sweeps 0 -pc_syncilu_solve_block_size 1",                       60},
    {0.0, "-pc_syncilu_symmetric -pc_syncilu_solve_sweeps 2 -pc_syncilu_solve_block_size 1", 10},
    {0.0, "-pc_factor_mat_ordering_type rcm -pc_syncilu_symmetric",                          4 },
    {0.6, "-pc_syncilu_solve_sweeps 2",                                                      -1},
    {0.6, "-pc_factor_levels 1 -pc_syncilu_solve_sweeps 2 -pc_syncilu_solve_block_size 1",   -1}
  };

  PetscFunctionBegin;
  for (int backend = 0; backend < (device ? 2 : 1); backend++) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(runs); k++) {
      char               all[512], text[16384];
      Problem            p;
      KSP                ksp;
      PC                 pc;
      Vec                x, y;
      PetscInt           its, exact;
      PetscReal          d;
      KSPConvergedReason reason;

      PetscCall(ProblemCreate(small ? 4 : 12, runs[k].wind, &p));
      PetscCall(MatSetOption(p.A, MAT_SYMMETRIC, (PetscBool)(runs[k].more >= 0)));
      PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type %s -pc_type syncilu -pc_syncilu_backend %s %s", runs[k].more < 0 ? "bicg" : "cg",
                              SyncILUBackends[backend ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST], runs[k].options));
      PetscCall(SolveWith(&p, all, &exact, NULL));
      PetscCall(PetscStrlcat(all, " -pc_syncilu_solve jacobi", sizeof(all)));
      PetscCall(SolveWith(&p, all, &its, &ksp));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      CHECK(reason > 0, "%s: %s", all, KSPConvergedReasons[reason]);
      if (runs[k].more >= 0) CHECK(its >= exact && its <= exact + runs[k].more, "%s: %" PetscInt_FMT " iterations, exact %" PetscInt_FMT, all, its, exact);
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(VecDuplicate(p.b, &x));
      PetscCall(VecDuplicate(p.b, &y));
      PetscCall(VecSetRandom(x, rand));
      PetscCall(VecSetRandom(y, rand));
      PetscCall(Linear(pc, x, y, &d));
      CHECK(d <= 1e-14, "%s: not linear, by %g", all, (double)d);
      PetscCall(Adjoint(pc, PETSC_TRUE, x, y, &d));
      CHECK(d <= 1e-14, "%s: the transpose is another operator, by %g", all, (double)d);
      PetscCall(Adjoint(pc, PETSC_FALSE, x, y, &d));
      if (runs[k].more >= 0) CHECK(d <= 1e-14, "%s: not symmetric, by %g", all, (double)d);
      else CHECK(d > 1e-6, "%s: symmetric, unlike its matrix", all);
      if (!backend) {
        PetscCall(TwoHalves(pc, x, &d));
        CHECK(d <= 1e-14, "%s: the solves one after the other differ from both by %g", all, (double)d);
      }
      PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
      CHECK(strstr(text, "solve: jacobi, ") && strstr(text, ": approximate\n"), "the view does not say so:\n%s", text);
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
      PetscCall(KSPDestroy(&ksp));
      PetscCall(ProblemDestroy(&p));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up a preconditioner of a problem with these options. */
static PetscErrorCode SetUpWith(const Problem *p, const char *options, PC *pc)
{
  PetscOptions   db;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(CheckOptionsBegin(options, &db));
  PetscCall(PreconditionerCreate(p->A, SYNCILU_BACKEND_HOST, pc));
  ierr = PCSetFromOptions(*pc);
  PetscCall(CheckOptionsEnd(&db));
  if (!ierr) ierr = PCSetUp(*pc);
  PetscFunctionReturn(ierr);
}

/* What it is not for, values that are none, and that nobody gets it unasked. */
static PetscErrorCode TestRefusals(PetscBool device, PetscRandom rand)
{
  const struct {
    const char    *options, *said;
    PetscErrorCode code;
  } bad[] = {
    {"-pc_syncilu_solve jacobi -pc_syncilu_solve_sweeps -1",     "-pc_syncilu_solve_sweeps: -1 is not between 0 and 10000", PETSC_ERR_ARG_OUTOFRANGE},
    {"-pc_syncilu_solve jacobi -pc_syncilu_solve_sweeps 10001",  "-pc_syncilu_solve_sweeps: 10001",                         PETSC_ERR_ARG_OUTOFRANGE},
    {"-pc_syncilu_solve jacobi -pc_syncilu_solve_block_size 16", "-pc_syncilu_solve_block_size: 16 is neither 1 nor 32",    PETSC_ERR_ARG_OUTOFRANGE},
    {"-pc_syncilu_solve jacobi -pc_syncilu_eisenstat",           "it takes exact triangular solves",                        PETSC_ERR_SUP           }
  };
  Problem p, blocks;
  PC      pc;
  char    text[16384];

  PetscFunctionBegin;
  PetscCall(ProblemCreate(6, 0.0, &p));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(bad); k++) {
    CHECK_ERROR(SetUpWith(&p, bad[k].options, &pc), bad[k].code, bad[k].said);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(PreconditionerCreate(p.A, SYNCILU_BACKEND_HOST, &pc));
  CHECK_ERROR(PCSyncILUSetSolveSweeps(pc, -3), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_solve_sweeps: -3");
  CHECK_ERROR(PCSyncILUSetSolveBlockSize(pc, 0), PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_solve_block_size: 0");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatSetBlockSize(p.A, 2));
  PetscCall(MatConvert(p.A, MATSEQBAIJ, MAT_INITIAL_MATRIX, &blocks.A));
  for (int backend = 0; backend < (device ? 2 : 1); backend++) {
    PetscCall(PreconditionerCreate(blocks.A, backend ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc));
    PetscCall(PCSyncILUSetSolve(pc, SYNCILU_SOLVE_JACOBI));
    CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_solve jacobi: not for matrices of blocks, here of 2 rows; use type aij");
    PetscCall(PCDestroy(&pc));
    /* tuning takes its time for what is exact */
    PetscCall(PreconditionerCreate(p.A, backend ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc));
    if (backend) { /* fewer candidates */
      PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_ADAPT));
      PetscCall(PCSyncILUSetAnalysis(pc, SYNCILU_ANALYSIS_ASAP));
    }
    PetscCall(PCSyncILUSetTune(pc, PETSC_TRUE));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(strstr(text, "tuned: ") && !strstr(text, "solve jacobi, of") && !strstr(text, "approximate"), "tuning has taken jacobi:\n%s", text);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&blocks.A));
  PetscCall(ProblemDestroy(&p));
  /* a pivot of zero */
  PetscCall(Tridiagonal(70, 40, 0.0, 0.0, &p.A));
  PetscCall(MatCreateVecs(p.A, &p.x, &p.b));
  PetscCall(VecSetRandom(p.b, rand));
  for (int backend = 0; backend < (device ? 2 : 1); backend++) {
    KSP                ksp;
    KSPConvergedReason reason;
    PetscInt           its;

    PetscCall(PetscSNPrintf(text, sizeof(text), "-ksp_type gmres -pc_type syncilu -pc_syncilu_solve jacobi -pc_syncilu_backend %s",
                            SyncILUBackends[backend ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST]));
    PetscCall(SolveWith(&p, text, &its, &ksp));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    CHECK(reason == KSP_DIVERGED_PC_FAILED, "%s: %s", text, KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* the last row of an arrow has many more entries than all others of its block */
  const char *const patterns[] = {"diagonal:0", "diagonal:1", "tridiagonal:8", "tridiagonal:33", "tridiagonal:97",
                                  "arrow:200",  "random:130", "7pt:6x5x4",     "27pt:5x4x7"};
  PetscRandom       rand;
  PetscBool         device, small = PETSC_FALSE;
  int               failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(CaseGetDevice(&device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(patterns); k++) {
    PetscCall(TestMatrix(patterns[k], MATORDERINGNATURAL, 0.0, device, small, rand));
    if (k >= 6) PetscCall(TestMatrix(patterns[k], k == 6 ? MATORDERINGND : MATORDERINGRCM, 0.9, device, small, rand));
  }
  PetscCall(TestHalf(rand));
  PetscCall(TestOperator(device, small, rand));
  PetscCall(TestRefusals(device, rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("jacobi");
  PetscCall(PetscFinalize());
  return failed;
}
