static char help[] = "The CUDA backend against the serial reference: every strategy and order, on many patterns and sizes, the same bits in every run.\n\n\
  -small      few and tiny cases, for tools that slow the program down\n\
  -soak <n>   instead, n factorizations and solves, between which memory must not grow\n\
  -rows <n>   this size alone\n\
  -pattern <p> this pattern alone; tiles: what is solved in tiles alone, in sizes of its own\n\
  -matrices <folder> instead, the Matrix Market files there\n\n";

#include "check.h"
#include "case.h"
#include "../kernels/tuning.h"
#include "gpu.h"
#include "load.h"
#include <petsctime.h>

#define TOLERANCE 1e-12

/* A matrix, in which the same engine finds two sets of values, here and on the device. */
typedef struct {
  Mat          A[2];
  Case         c[2];
  int          sets; /* 1 where the reference takes long */
  SyncILUCSR   dev[2];
  PetscScalar *db, *dx; /* room for the vectors, from the second entry on: aligned to one number, not to two */
  PetscScalar *x, *bits[4];
  char         name[128];
  char         view[1024]; /* what the last engine said of itself */
  PetscBool    adoptable;  /* ILU(0) in natural order */
} Problem;

static int engines = 0;

static PetscInt ldx(const Case *c)
{
  return c->ld + 2;
}

static PetscErrorCode ProblemCreate(Mat A, const char *label, const char *ordering, PetscInt levels, PetscReal relax, int sets, PetscRandom rand, Problem *p)
{
  PetscBool natural;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscCall(PetscStrcmp(ordering, MATORDERINGNATURAL, &natural));
  p->adoptable = (PetscBool)(natural && !levels);
  p->sets      = sets;
  p->A[0]      = A;
  PetscCall(PetscObjectReference((PetscObject)A));
  for (int s = 0; s < sets; s++) {
    Case *c = &p->c[s];

    if (s) {
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &p->A[s]));
      PetscCall(GenerateValues(p->A[s], rand));
    }
    PetscCall(CaseCreate(p->A[s], ordering, levels, relax, rand, c));
    p->dev[s]     = c->csr;
    p->dev[s].mem = PETSC_MEMTYPE_DEVICE;
    if (s) {
      p->dev[s].i = p->dev[0].i;
      p->dev[s].j = p->dev[0].j;
    } else {
      PetscCall(Upload(c->csr.i, (size_t)(c->n + 1) * sizeof(PetscInt), &p->dev[s].i));
      PetscCall(Upload(c->csr.j, (size_t)c->csr.nnz * sizeof(PetscInt), &p->dev[s].j));
    }
    PetscCall(Upload(c->csr.a, (size_t)c->csr.nnz * sizeof(PetscScalar), &p->dev[s].a));
  }
  PetscCall(PetscSNPrintf(p->name, sizeof(p->name), "%s n %" PetscInt_FMT " levels %" PetscInt_FMT " relax %g %s", label, p->c[0].n, levels, (double)relax, ordering));
  CHECK(p->c[0].status.row < 0, "%s: the reference finds a zero pivot in row %" PetscInt_FMT, p->name, p->c[0].status.row);
  PetscCall(Upload(NULL, (size_t)(ldx(p->c) * NRHS + 1) * sizeof(PetscScalar), &p->db));
  PetscCall(Upload(NULL, (size_t)(ldx(p->c) * NRHS + 1) * sizeof(PetscScalar), &p->dx));
  PetscCall(PetscMalloc1(ldx(p->c) * NRHS, &p->x));
  for (int k = 0; k < 2; k++) PetscCall(PetscMalloc1(p->c[0].nl + p->c[0].nu + p->c[0].n, &p->bits[k]));
  for (int k = 2; k < 4; k++) PetscCall(PetscMalloc1(2 * (NRHS + 1) * p->c[0].n, &p->bits[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscFunctionBegin;
  CallCUDA(cudaFree((void *)p->dev[0].i));
  CallCUDA(cudaFree((void *)p->dev[0].j));
  CallCUDA(cudaFree(p->db));
  CallCUDA(cudaFree(p->dx));
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(p->bits[k]));
  PetscCall(PetscFree(p->x));
  for (int s = 0; s < p->sets; s++) {
    CallCUDA(cudaFree((void *)p->dev[s].a));
    PetscCall(CaseDestroy(&p->c[s]));
    PetscCall(MatDestroy(&p->A[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Near(PetscScalar a, PetscScalar b, PetscReal scale)
{
  return (PetscBool)(PetscAbsScalar(a - b) <= TOLERANCE * scale);
}

/* The first row in which the factor is further from the reference than rounding explains, n if there is none. */
static PetscInt FirstDifference(const Case *c, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *dinv)
{
  const SyncILUPattern *p    = &c->pattern;
  const PetscScalar    *lref = c->ref, *uref = lref + c->nl, *dref = uref + c->nu;

  for (PetscInt i = 0; i < c->n; i++) {
    PetscReal lmax = 0.0, umax = PetscAbsScalar(1.0 / dref[i]);

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lmax = PetscMax(lmax, PetscAbsScalar(lref[k]));
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) umax = PetscMax(umax, PetscAbsScalar(uref[k]));
    if (!Near(dinv[i], dref[i], PetscAbsScalar(dref[i]))) return i;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      if (!Near(lval[k], lref[k], lmax)) return i;
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      if (!Near(uval[k], uref[k], umax)) return i;
    }
  }
  return c->n;
}

static PetscErrorCode Factor(SyncILUEngine e, const Case *c, const SyncILUCSR *csr)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(SyncILUEngineFactor(e, csr, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors, compares with the reference, and gives L, U and the pivots one after another. */
static PetscErrorCode FactorCompared(SyncILUEngine e, const Case *c, const SyncILUCSR *csr, const char *what, PetscScalar *bits)
{
  const PetscScalar *lval, *uval, *dinv;
  PetscInt           row;

  PetscFunctionBegin;
  PetscCall(Factor(e, c, csr));
  CHECK(e->status.row < 0, "%s: zero pivot in row %" PetscInt_FMT, what, e->status.row);
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  row = FirstDifference(c, lval, uval, dinv);
  CHECK(row == c->n, "%s: row %" PetscInt_FMT " of the factor is the first to differ from the reference", what, row);
  PetscCall(PetscArraycpy(bits, lval, c->nl));
  PetscCall(PetscArraycpy(bits + c->nl, uval, c->nu));
  PetscCall(PetscArraycpy(bits + c->nl + c->nu, dinv, c->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for the first right-hand sides of a case; the solutions come without the gaps between them, in which nothing may be written. */
static PetscErrorCode Solve(Problem *p, const Case *c, SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, PetscBool device, PetscBool inplace, const char *what, PetscScalar *packed)
{
  const PetscInt    ld = inplace ? c->ld : ldx(c);
  const size_t      in = (size_t)(c->ld * nrhs) * sizeof(PetscScalar), out = (size_t)(ld * nrhs) * sizeof(PetscScalar);
  const PetscScalar untouched = -7.0;
  PetscScalar      *x         = p->x;
  PetscBool         clean     = PETSC_TRUE;

  PetscFunctionBegin;
  if (inplace) PetscCall(PetscArraycpy(x, c->b, ld * nrhs));
  else {
    for (PetscInt k = 0; k < ld * nrhs; k++) x[k] = untouched;
  }
  if (device) {
    CallCUDA(cudaMemcpy(p->db + 1, c->b, in, cudaMemcpyHostToDevice));
    CallCUDA(cudaMemcpy(p->dx + 1, x, out, cudaMemcpyHostToDevice));
    CallCUDA(cudaDeviceSynchronize());
    PetscCall(SyncILUEngineSolve(e, trans, nrhs, inplace ? p->dx + 1 : p->db + 1, c->ld, p->dx + 1, ld, PETSC_MEMTYPE_DEVICE));
    CallCUDA(cudaDeviceSynchronize());
    CallCUDA(cudaMemcpy(x, p->dx + 1, out, cudaMemcpyDeviceToHost));
  } else PetscCall(SyncILUEngineSolve(e, trans, nrhs, inplace ? x : c->b, c->ld, x, ld, PETSC_MEMTYPE_HOST));
  for (PetscInt r = 0; r < nrhs; r++) {
    PetscCall(PetscArraycpy(packed + r * c->n, x + r * ld, c->n));
    for (PetscInt k = r * ld + c->n; k < (r + 1) * ld; k++) clean = (PetscBool)(clean && x[k] == (inplace ? c->b[k] : untouched));
  }
  CHECK(clean, "%s: wrote between the solutions", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareSolutions(const Case *c, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *packed, const char *what)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < nrhs; r++) {
    const PetscScalar *ref = c->x[trans == SYNCILU_TRANS] + r * c->ld, *x = packed + r * c->n;
    PetscReal          max = 0.0;
    PetscInt           i;

    for (i = 0; i < c->n; i++) max = PetscMax(max, PetscAbsScalar(ref[i]));
    for (i = 0; i < c->n && Near(x[i], ref[i], max); i++) { }
    CHECK(i == c->n, "%s: row %" PetscInt_FMT " of solution %" PetscInt_FMT " of %" PetscInt_FMT " is the first to differ from the reference, transposed %d", what, i, r, nrhs, trans == SYNCILU_TRANS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All solves with a factor that the reference has too: one after another in bits. */
static PetscErrorCode SolveAll(Problem *p, const Case *c, SyncILUEngine e, PetscBool device, PetscBool inplace, const char *what, PetscScalar *bits)
{
  PetscFunctionBegin;
  for (int t = 1; t >= 0; t--) {
    const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

    PetscCall(Solve(p, c, e, trans, 1, device, inplace, what, bits));
    PetscCall(CompareSolutions(c, trans, 1, bits, what));
    bits += c->n;
    if (c->nrhs == 1) continue;
    PetscCall(Solve(p, c, e, trans, c->nrhs, device, inplace, what, bits));
    PetscCall(CompareSolutions(c, trans, c->nrhs, bits, what));
    bits += c->nrhs * c->n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EngineAdopt(const SyncILUSettings *settings, const SyncILUCSR *csr, PetscBool *regular, SyncILUEngine *e)
{
  PetscBool again = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineCreate(settings, csr->n, e));
  PetscCall((*(*e)->ops->adopt)(*e, csr, regular));
  if (*regular) PetscCall(SyncILUEngineSetUp(*e, &again));
  PetscCheck(!again, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A backend that was asked for asks for another one");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SettingsFor(const Problem *p, SyncILUUpdate update, SyncILUSolve solve, SyncILUAnalysis analysis, PetscInt size, SyncILUSettings *settings)
{
  SyncILUSettingsInitialize(settings);
  settings->backend     = SYNCILU_BACKEND_CUDA;
  settings->update      = update;
  settings->solve       = solve;
  settings->analysis    = analysis;
  settings->vector_size = size;
  settings->prefetch    = (PetscBool)(size % 3 != 1); /* not with 1, 4 and 16 lanes */
  settings->relax       = p->c[0].piv.relax;
}

/* One engine on the pattern given, through factorizations and solves of all kinds; then on the pattern as the backend takes it from the matrix. */
static PetscErrorCode TestEngine(Problem *p, const SyncILUSettings *settings, int runs)
{
  const Case    *c    = &p->c[0];
  const PetscInt size = c->nl + c->nu + c->n, solutions = 2 * (c->nrhs == 1 ? 1 : NRHS + 1) * c->n;
  char           what[256];
  SyncILUPattern pattern;
  SyncILUEngine  e;
  PetscBool      same;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s: update %s, solve %s, analysis %s, vector size %" PetscInt_FMT, p->name, SyncILUUpdates[settings->update], SyncILUSolves[settings->solve], SyncILUAnalyses[settings->analysis], settings->vector_size));
  Watch("%s", what);
  engines++;
  PetscCall(PatternCopy(&c->pattern, &pattern));
  PetscCall(EngineCreate(settings, &pattern, &e));
  CHECK(e->ops->backend == SYNCILU_BACKEND_CUDA, "%s: runs on backend %s", what, SyncILUBackends[e->ops->backend]);
  PetscCall(EngineView(e, p->view, sizeof(p->view)));
  PetscCall(FactorCompared(e, c, &c->csr, what, p->bits[0]));
  PetscCall(SolveAll(p, c, e, PETSC_FALSE, PETSC_FALSE, what, p->bits[2]));
  for (int run = 0; run < runs; run++) {
    const PetscBool device = (PetscBool)(run % 2 == 0), inplace = (PetscBool)(run / 2 % 2 == 0);

    PetscCall(FactorCompared(e, c, device ? &p->dev[0] : &c->csr, what, p->bits[1]));
    PetscCall(PetscArraycmp(p->bits[0], p->bits[1], size, &same));
    CHECK(same, "%s: the factor has other bits in run %d", what, run);
    PetscCall(SolveAll(p, c, e, device, inplace, what, p->bits[3]));
    PetscCall(PetscArraycmp(p->bits[2], p->bits[3], solutions, &same));
    CHECK(same, "%s: solutions have other bits in run %d (device memory %d, in place %d)", what, run, device, inplace);
  }
  /* other values, and back: the plan is the same */
  if (p->sets > 1) {
    PetscCall(FactorCompared(e, &p->c[1], &p->dev[1], what, p->bits[1]));
    PetscCall(SolveAll(p, &p->c[1], e, PETSC_TRUE, PETSC_FALSE, what, p->bits[3]));
    PetscCall(FactorCompared(e, c, &c->csr, what, p->bits[1]));
    PetscCall(PetscArraycmp(p->bits[0], p->bits[1], size, &same));
    CHECK(same, "%s: the factor has other bits after one of other values", what);
  }
  PetscCall(SyncILUEngineDestroy(&e));
  for (int device = 0; p->adoptable && device < 2; device++) {
    PetscBool regular;

    PetscCall(EngineAdopt(settings, device ? &p->dev[0] : &c->csr, &regular, &e));
    CHECK(regular, "%s: the pattern was not taken from the matrix, device memory %d", what, device);
    if (regular) {
      PetscCall(FactorCompared(e, c, device ? &p->dev[0] : &c->csr, what, p->bits[1]));
      PetscCall(PetscArraycmp(p->bits[0], p->bits[1], size, &same));
      CHECK(same, "%s: the factor has other bits with the pattern taken from the matrix, device memory %d", what, device);
      PetscCall(SolveAll(p, c, e, (PetscBool)device, PETSC_FALSE, what, p->bits[3]));
      PetscCall(PetscArraycmp(p->bits[2], p->bits[3], solutions, &same));
      CHECK(same, "%s: solutions have other bits with the pattern taken from the matrix, device memory %d", what, device);
      /* the values may come from the other memory later on */
      PetscCall(FactorCompared(e, c, device ? &c->csr : &p->dev[0], what, p->bits[1]));
      PetscCall(PetscArraycmp(p->bits[0], p->bits[1], size, &same));
      CHECK(same, "%s: the factor has other bits with the pattern taken from one memory (device %d) and the values from the other", what, device);
      PetscCall(SolveAll(p, c, e, (PetscBool)!device, PETSC_FALSE, what, p->bits[3]));
      PetscCall(PetscArraycmp(p->bits[2], p->bits[3], solutions, &same));
      CHECK(same, "%s: solutions have other bits with the pattern taken from one memory (device %d) and the values from the other", what, device);
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const SyncILUUpdate   updates[]  = {SYNCILU_UPDATE_AUTO, SYNCILU_UPDATE_LIST, SYNCILU_UPDATE_VECT};
static const SyncILUSolve    solves[]   = {SYNCILU_SOLVE_AUTO, SYNCILU_SOLVE_ELL, SYNCILU_SOLVE_CSR};
static const SyncILUAnalysis analyses[] = {SYNCILU_ANALYSIS_AUTO, SYNCILU_ANALYSIS_NONE, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP};
static const PetscInt        widths[]   = {0, 1, 2, 4, 8, 16, 32};

typedef enum {
  FULL,  /* every update with every solve with every analysis, and every vector size with both */
  PAIRS, /* every update with every analysis, every solve with every analysis */
  FEW    /* every update, every solve */
} Breadth;

/* The index makes narrow choices differ from one problem to the next. */
static PetscErrorCode TestProblem(Problem *p, Breadth breadth, int index, int runs)
{
  SyncILUSettings settings;
  int             count = index;

  PetscFunctionBegin;
  for (int a = 0; a < 4; a++) {
    for (int u = 0; u < 3; u++) {
      for (int s = 0; s < 3; s++) {
        if (breadth == PAIRS && s != (u + a + index) % 3) continue;
        if (breadth == FEW && (a != (u + index) % 4 || s != (u + index / 4) % 3)) continue;
        SettingsFor(p, updates[u], solves[s], analyses[a], breadth == FULL ? 0 : widths[count++ % 7], &settings);
        PetscCall(TestEngine(p, &settings, runs));
      }
    }
  }
  if (breadth == FULL) {
    for (int w = 1; w < 7; w++) {
      for (int k = 0; k < 2; k++) {
        SettingsFor(p, updates[1 + k], solves[1 + (w + k + index) % 2], analyses[(w + index) % 4], widths[w], &settings);
        PetscCall(TestEngine(p, &settings, runs));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More right-hand sides than one launch takes. */
static PetscErrorCode TestManyRightHandSides(const char *pattern, PetscInt n, const char *ordering, PetscRandom rand)
{
  enum {
    MANY = 71
  };
  Mat          A;
  Case         c;
  PetscScalar *b, *x, *y[2];

  PetscFunctionBegin;
  Watch("the reference's solutions of %s", pattern);
  PetscCall(GenerateMatrix(pattern, n, rand, &A));
  PetscCall(CaseCreate(A, ordering, 0, 0.0, rand, &c));
  PetscCall(PetscMalloc4(c.ld * MANY, &b, c.ld * MANY, &x, c.ld * MANY, &y[0], c.ld * MANY, &y[1]));
  for (PetscInt k = 0; k < c.ld * MANY; k++) PetscCall(PetscRandomGetValue(rand, &b[k]));
  for (int t = 0; t < 2; t++) {
    for (PetscInt r = 0; r < MANY; r++) PetscCall(SyncILUReferenceSolve(&c.pattern, c.ref, c.ref + c.nl, c.ref + c.nl + c.nu, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, b + r * c.ld, y[t] + r * c.ld));
  }
  for (int s = 0; s < 3; s++) {
    SyncILUSettings settings;
    SyncILUPattern  copy;
    SyncILUEngine   e;

    SyncILUSettingsInitialize(&settings);
    settings.backend = SYNCILU_BACKEND_CUDA;
    settings.solve   = solves[s];
    Watch("%s, %d right-hand sides, solve %s", pattern, MANY, SyncILUSolves[solves[s]]);
    PetscCall(PatternCopy(&c.pattern, &copy));
    PetscCall(EngineCreate(&settings, &copy, &e));
    PetscCall(Factor(e, &c, &c.csr));
    for (int t = 0; t < 2; t++) {
      for (PetscInt nrhs = 2; nrhs <= MANY; nrhs += 23) {
        PetscBool same = PETSC_TRUE;

        PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, nrhs, b, c.ld, x, c.ld, PETSC_MEMTYPE_HOST));
        for (PetscInt r = 0; r < nrhs; r++) {
          const PetscScalar *ref = y[t] + r * c.ld;
          PetscReal          max = 0.0;

          for (PetscInt i = 0; i < c.n; i++) max = PetscMax(max, PetscAbsScalar(ref[i]));
          for (PetscInt i = 0; i < c.n; i++) same = (PetscBool)(same && Near(x[r * c.ld + i], ref[i], max));
        }
        CHECK(same, "%s, %" PetscInt_FMT " right-hand sides, solve %s, transposed %d: differs from the reference", pattern, nrhs, SyncILUSolves[solves[s]], t);
      }
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscCall(PetscFree4(b, x, y[0], y[1]));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every hundredth row has 1500 entries, the others 8: rows that no group of lanes holds at once. */
static PetscErrorCode LongRows(PetscInt n, PetscRandom rand, Mat *A)
{
  PetscInt *nnz;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &nnz));
  for (PetscInt i = 0; i < n; i++) nnz[i] = i % 100 == 50 ? PetscMin(n, 1500) + 1 : 9;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, nnz, A));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = 0; k < nnz[i]; k++) {
      PetscReal v;

      PetscCall(PetscRandomGetValueReal(rand, &v));
      PetscCall(MatSetValue(*A, i, k ? PetscMin(n - 1, (PetscInt)(v * (PetscReal)n)) : i, 1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(*A, rand));
  PetscCall(PetscFree(nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMatrix(Mat A, const char *label, const char *ordering, PetscInt levels, PetscReal relax, Breadth breadth, int sets, int index, int runs, PetscRandom rand)
{
  Problem p;

  PetscFunctionBegin;
  if (check_failures > 100) PetscFunctionReturn(PETSC_SUCCESS); /* more of the same tells nothing */
  watch_seconds *= 4;                                           /* the reference has its time too */
  Watch("the reference's factor of %s, %s, levels %" PetscInt_FMT, label, ordering, levels);
  watch_seconds /= 4;
  PetscCall(ProblemCreate(A, label, ordering, levels, relax, sets, rand, &p));
  PetscCall(TestProblem(&p, breadth, index, runs));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One pattern of one size in its natural order; then with levels of fill, permuted and relaxed. */
static PetscErrorCode TestPattern(const char *pattern, int index, PetscInt n, PetscRandom rand)
{
  const struct {
    const char *ordering;
    PetscInt    levels;
    PetscReal   relax;
  } variants[] = {
    {MATORDERINGNATURAL, 0, 0.9},
    {MATORDERINGNATURAL, 0, 1.0},
    {MATORDERINGNATURAL, 2, 0.0},
    {MATORDERINGRCM,     0, 0.0},
    {MATORDERINGRCM,     1, 0.9},
    {MATORDERINGND,      2, 1.0}
  };
  const PetscBool big  = (PetscBool)(n > BIG);
  const PetscBool band = (PetscBool)(index < 3 || (pattern[0] >= '0' && pattern[0] <= '9')); /* does not fill up */
  Breadth         breadth;
  PetscBool       arrow, heavy, elasticity;
  Mat             A;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(pattern, "random200", &heavy));
  PetscCall(PetscStrcmp(pattern, "arrow", &arrow));
  PetscCall(PetscStrncmp(pattern, "elasticity", 10, &elasticity));
  if (big && (heavy || (elasticity && pattern[10]))) PetscFunctionReturn(PETSC_SUCCESS); /* tens of millions of entries */
  if (n == 0 && index % 8) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GenerateMatrix(pattern, n, rand, &A));
  if (n == 33) breadth = FULL;
  else if (n == 31 || n == 1025) breadth = PAIRS;
  else breadth = n == 1 && index < 2 ? FULL : FEW;
  PetscCall(TestMatrix(A, pattern, MATORDERINGNATURAL, 0, 0.0, breadth, arrow && big ? 1 : 2, index, n == 1025 ? 4 : 2, rand));
  for (int v = 0; n && v < 6; v++) {
    if (big ? elasticity || v != index % 6 || variants[v].levels || (!band && v > 1) || arrow : n != 33 && n != 1025) continue;
    if (n > 40 && variants[v].levels && !band) continue;
    PetscCall(TestMatrix(A, pattern, variants[v].ordering, variants[v].levels, variants[v].relax, FEW, big ? 1 : 2, index + v, 2, rand));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix without some of the entries beside its diagonal, taken away at random: these shares of those below and above it. */
static PetscErrorCode Thin(Mat A, PetscReal lower, PetscReal upper, PetscRandom rand, Mat *B)
{
  const PetscInt *ai, *aj;
  PetscInt       *i, *j, n, nz = 0;
  PetscScalar    *a;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ai, &aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No access to the rows");
  PetscCall(PetscMalloc2(n + 1, &i, ai[n], &j));
  PetscCall(PetscCalloc1(ai[n], &a));
  for (PetscInt row = 0; row < n; row++) {
    i[row] = nz;
    for (PetscInt k = ai[row]; k < ai[row + 1]; k++) {
      PetscReal v;

      PetscCall(PetscRandomGetValueReal(rand, &v));
      if (aj[k] == row || v >= (aj[k] < row ? lower : upper)) j[nz++] = aj[k];
    }
  }
  i[n] = nz;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ai, &aj, &done));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, NULL, B));
  PetscCall(MatSeqAIJSetPreallocationCSR(*B, i, j, a));
  PetscCall(PetscFree2(i, j));
  PetscCall(PetscFree(a));
  PetscCall(GenerateValues(*B, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char by_tiles[] = "order: by level of tiles of", by_runs[] = "order: by level of runs of", slanted[] = "rows on a slanted grid of", blocks[] = "order: by level of blocks of 3 rows";

/* Whether the last engine takes rows in the order that is wanted; NULL: not in tiles. */
static void CheckOrder(const Problem *p, const char *want)
{
  CHECK(want ? strstr(p->view, want) != NULL : !strstr(p->view, "order: by level of"), "%s: wanted \"%s\", got:\n%s", p->name, want ? want : "no tiles", p->view);
}

/* A matrix that may be solved in tiles, with the sizes of these and the factorizations that there are. */
static PetscErrorCode TestTiled(Mat A, const char *label, const char *ordering, const char *want, PetscRandom rand)
{
  const PetscInt sizes[] = {0, 1, 2, 4, 8}; /* with more lanes a row a warp has too few rows for tiles */

  PetscFunctionBegin;
  for (int r = 0; r < 2; r++) {
    Problem p;

    Watch("the reference's factor of %s", label);
    PetscCall(ProblemCreate(A, label, ordering, 0, r ? 0.9 : 0.0, 2, rand, &p));
    for (int s = 0; s < 5; s++) {
      for (int u = 0; u < 3; u++) {
        SyncILUSettings settings;

        if (r && s && u != (s + 1) % 3) continue;
        /* all with all on the small ones: a chain of thousands of rows takes a factorization in numerical order its time, a large matrix the reference */
        if (p.c[0].n > 1000 && s && (r || u != s % 3)) continue;
        if (p.c[0].n > 10000 && (s || (r && u))) continue;
        SettingsFor(&p, updates[u], solves[s % 2], SYNCILU_ANALYSIS_AUTO, sizes[s], &settings);
        PetscCall(TestEngine(&p, &settings, 2));
        if (s == 0) CheckOrder(&p, want);
      }
    }
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rows in tiles: grids whose sizes leave tiles incomplete in every direction, some with hardly any points in one, chains, and patterns that are not symmetric, whose transposed sweeps go another way.
*/
static PetscErrorCode TestTiles(PetscRandom rand)
{
  static const char any[] = "order: "; /* tiles or not, what counts is the result */
  const struct {
    const char *pattern, *ordering;
    PetscReal   lower, upper; /* shares of L and U taken away */
    const char *want;
  } matrices[] = {
    {"7pt:9x6x7",        MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"7pt:33x1x5",       MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"7pt:2x3x50",       MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"7pt:1x7x9",        MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"5pt:13x7",         MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"5pt:1x40",         MATORDERINGNATURAL, 0.0,  0.0,  any     },
    {"5pt:100x3",        MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"15pt:7x5x9",       MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"15pt:4x4x4",       MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"27pt:6x5x4",       MATORDERINGNATURAL, 0.0,  0.0,  slanted },
    {"27pt:6x5x4",       MATORDERINGNATURAL, 0.1,  0.1,  slanted },
    {"27pt:37x29x1",     MATORDERINGNATURAL, 0.0,  0.0,  slanted },
    {"27pt:7x1x9",       MATORDERINGNATURAL, 0.0,  0.0,  slanted },
    {"27pt:2x2x9",       MATORDERINGNATURAL, 0.0,  0.0,  any     },
    {"27pt:6x5x4",       MATORDERINGRCM,     0.0,  0.0,  any     },
    {"elasticity:6x5x4", MATORDERINGNATURAL, 0.0,  0.0,  blocks  },
    {"elasticity:8x3x3", MATORDERINGNATURAL, 0.0,  0.0,  blocks  }, /* each row depends on the one before it in blocks of 2, 4 and 6 rows too */
    {"elasticity:6x5x4", MATORDERINGNATURAL, 0.05, 0.1,  NULL    }, /* not all rows of a point depend on each other */
    {"elasticity:5x6x7", MATORDERINGND,      0.0,  0.0,  any     },
    {"random:3000",      MATORDERINGNATURAL, 0.0,  0.0,  NULL    },
    {"7pt:9x6x7",        MATORDERINGNATURAL, 0.1,  0.1,  by_tiles},
    {"15pt:7x5x9",       MATORDERINGNATURAL, 0.1,  0.1,  by_tiles},
    {"5pt:13x7",         MATORDERINGNATURAL, 0.0,  0.1,  by_tiles},
    {"tridiagonal:5000", MATORDERINGNATURAL, 0.0,  0.0,  by_runs },
    {"tridiagonal:5000", MATORDERINGRCM,     0.0,  0.0,  by_runs }, /* a chain again, of which the matrix has the other end first */
    {"tridiagonal:5000", MATORDERINGNATURAL, 0.1,  0.1,  NULL    }, /* chains are too short */
    {"tridiagonal:5000", MATORDERINGNATURAL, 0.0,  0.1,  by_runs },
    {"tridiagonal:5000", MATORDERINGNATURAL, 2e-4, 2e-4, any     },
    {"bidiagonal:5000",  MATORDERINGNATURAL, 0.0,  0.0,  any     },
    {"27pt:3000x2x1",    MATORDERINGNATURAL, 0.0,  0.0,  slanted },
    {"27pt:3000x2x1",    MATORDERINGNATURAL, 1e-4, 0.1,  any     },
    {"7pt:41x37x43",     MATORDERINGNATURAL, 0.0,  0.0,  by_tiles},
    {"15pt:41x37x43",    MATORDERINGNATURAL, 0.0,  0.0,  by_tiles}, /* with several right-hand sides more tiles than run at a time */
    {"27pt:23x27x19",    MATORDERINGNATURAL, 0.0,  0.0,  slanted },
    {"7pt:41x37x43",     MATORDERINGNATURAL, 0.1,  0.1,  by_tiles}
  };
  PetscLogDouble start, now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  engines       = 0;
  watch_seconds = 30;
  for (size_t m = 0; m < sizeof(matrices) / sizeof(matrices[0]) && check_failures <= 100; m++) {
    const PetscBool thin = (PetscBool)(matrices[m].lower > 0.0 || matrices[m].upper > 0.0);
    char            label[64];
    Mat             A, B;

    PetscCall(GenerateMatrix(matrices[m].pattern, 0, rand, &A));
    if (thin) {
      PetscCall(Thin(A, matrices[m].lower, matrices[m].upper, rand, &B));
      PetscCall(MatDestroy(&A));
      A = B;
    }
    PetscCall(PetscSNPrintf(label, sizeof(label), "%s%s", matrices[m].pattern, thin ? " with gaps" : ""));
    PetscCall(TestTiled(A, label, matrices[m].ordering, matrices[m].want, rand));
    PetscCall(MatDestroy(&A));
  }
  /* a full band, whose last block has fewer rows than the others */
  {
    const PetscInt n = 1001, half = 10;
    Mat            A;

    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 2 * half + 1, NULL, &A));
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = PetscMax(0, i - half); j <= PetscMin(n - 1, i + half); j++) PetscCall(MatSetValue(A, i, j, 1.0, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(GenerateValues(A, rand));
    PetscCall(TestTiled(A, "band:10", MATORDERINGNATURAL, "order: by level of blocks of", rand));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(TestManyRightHandSides("7pt:9x6x7", 0, MATORDERINGNATURAL, rand));
  PetscCall(TestManyRightHandSides("15pt:17x15x13", 0, MATORDERINGNATURAL, rand));
  PetscCall(TestManyRightHandSides("tridiagonal:5000", 0, MATORDERINGNATURAL, rand));
  PetscCall(PetscTime(&now));
  printf("tiles: %d engines in %.1f s, %d checks so far, %d failed\n", engines, now - start, check_count, check_failures);
  (void)fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The patterns of real matrices, with diagonal entries where these lack some. */
static PetscErrorCode TestFiles(int count, char **path, PetscRandom rand)
{
  PetscFunctionBegin;
  for (int k = 0; k < count; k++) {
    const char    *name = strrchr(path[k], '/') + 1;
    PetscLogDouble start, now;
    Mat            A;

    PetscCall(PetscTime(&start));
    PetscCall(LoadMatrix(PETSC_COMM_SELF, path[k], MATSEQAIJ, &A));
    PetscCall(MatShift(A, 1.0));
    PetscCall(GenerateValues(A, rand));
    PetscCall(TestMatrix(A, name, MATORDERINGNATURAL, 0, 0.0, PAIRS, 2, k, 2, rand));
    PetscCall(TestMatrix(A, name, MATORDERINGRCM, 0, 0.9, FEW, 1, k, 2, rand));
    PetscCall(TestMatrix(A, name, MATORDERINGND, 0, 0.0, FEW, 1, k + 1, 2, rand));
    PetscCall(MatDestroy(&A));
    PetscCall(PetscTime(&now));
    printf("%s: %.1f s, %d checks so far, %d failed\n", name, now - start, check_count, check_failures);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A few kernels of every kind on a few hundred rows. */
static PetscErrorCode TestSmall(PetscRandom rand)
{
  const char *const patterns[] = {"tridiagonal", "arrow", "random", "7pt", "27pt", "denserow"};
  const struct {
    const char   *pattern;
    PetscReal     thin;
    SyncILUUpdate update;
    PetscInt      size;
    const char   *want;
  } tiled[] = {
    {"7pt:9x4x3",        0.0, SYNCILU_UPDATE_AUTO, 0, by_tiles},
    {"7pt:9x4x3",        0.1, SYNCILU_UPDATE_VECT, 2, by_tiles},
    {"15pt:5x3x7",       0.0, SYNCILU_UPDATE_LIST, 0, by_tiles},
    {"27pt:5x4x4",       0.0, SYNCILU_UPDATE_AUTO, 0, slanted },
    {"elasticity:6x5x4", 0.0, SYNCILU_UPDATE_AUTO, 0, blocks  },
    {"tridiagonal:2200", 0.0, SYNCILU_UPDATE_AUTO, 0, by_runs }  /* hardly shorter chains are not taken in runs */
  };

  PetscFunctionBegin;
  watch_seconds = 300;
  for (int m = 0; m < 6; m++) {
    Mat     A;
    Problem p;

    PetscCall(GenerateMatrix(patterns[m], m == 5 ? SYNCILU_ROW_LONG + 7 : 130, rand, &A));
    PetscCall(ProblemCreate(A, patterns[m], m % 2 ? MATORDERINGRCM : MATORDERINGNATURAL, m == 3 ? 1 : 0, m == 2 ? 0.9 : 0.0, 2, rand, &p));
    for (int k = 0; k < 3; k++) {
      SyncILUSettings settings;

      SettingsFor(&p, updates[k], solves[k], analyses[1 + (k + m) % 3], widths[(m + k) % 7], &settings);
      PetscCall(TestEngine(&p, &settings, 1));
    }
    PetscCall(ProblemDestroy(&p));
    PetscCall(MatDestroy(&A));
  }
  for (int m = 0; m < 6; m++) {
    Mat             A, B;
    Problem         p;
    SyncILUSettings settings;

    PetscCall(GenerateMatrix(tiled[m].pattern, 0, rand, &A));
    PetscCall(Thin(A, tiled[m].thin, tiled[m].thin, rand, &B));
    PetscCall(ProblemCreate(B, tiled[m].pattern, MATORDERINGNATURAL, 0, 0.0, m == 5 ? 1 : 2, rand, &p));
    SettingsFor(&p, tiled[m].update, SYNCILU_SOLVE_AUTO, SYNCILU_ANALYSIS_AUTO, tiled[m].size, &settings);
    PetscCall(TestEngine(&p, &settings, 1));
    CheckOrder(&p, tiled[m].want);
    PetscCall(ProblemDestroy(&p));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that are taken: by the engines, by their pool, on the device by all else, on the host. What the pool has without need for it depends on where the memory of a later engine found room. */
typedef struct {
  size_t         engines, pool;
  PetscLogDouble device, host;
} Memory;

static PetscErrorCode MemoryNow(Memory *m)
{
  size_t free, total;

  PetscFunctionBegin;
  CallCUDA(cudaDeviceSynchronize());
  PetscCall(SyncILUCUDAMemory(&m->engines, &m->pool));
  CallCUDA(cudaMemGetInfo(&free, &total));
  m->device = (PetscLogDouble)(total - free) - (PetscLogDouble)m->pool;
  PetscCall(PetscMemoryGetCurrentUsage(&m->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorizations and solves without end take no memory and give the same bits every time; now and then an engine goes and another comes. */
static PetscErrorCode TestSoak(const char *pattern, PetscInt count, PetscRandom rand)
{
  enum {
    ENGINES = 3
  };
  Mat            A;
  Problem        p;
  const Case    *c;
  SyncILUEngine  e[ENGINES] = {NULL};
  PetscScalar   *first[ENGINES][2];
  Memory         memory[2]; /* after the first engines, and now */
  PetscLogDouble start, now;
  PetscInt       wrong = 0, lives = 0, other = 0;
  const PetscInt lifetime = PetscMax(11, count / (10 * ENGINES)); /* in which every engine solves with the transpose, too */

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 27000, rand, &A));
  PetscCall(ProblemCreate(A, pattern, MATORDERINGNATURAL, 0, 0.0, 2, rand, &p));
  c = &p.c[0];
  for (int k = 0; k < ENGINES; k++) {
    for (int s = 0; s < 2; s++) PetscCall(PetscCalloc1(c->n, &first[k][s]));
  }
  PetscCall(PetscTime(&start));
  for (PetscInt run = 0; run < count; run++) {
    const int       k = (int)(run % ENGINES), s = (int)(run / ENGINES % 2);
    const PetscBool device_memory = (PetscBool)(run / 7 % 2);
    PetscBool       same;

    Watch("soak, run %" PetscInt_FMT, run);
    if (k == 0 && run && run / ENGINES % lifetime == 0) {
      PetscCall(MemoryNow(&memory[lives > 0]));
      if (lives++ > 0 && memory[1].engines != memory[0].engines) other++;
    }
    if (run / ENGINES % lifetime == 0) PetscCall(SyncILUEngineDestroy(&e[k]));
    if (!e[k]) {
      SyncILUSettings settings;
      PetscBool       regular;

      SettingsFor(&p, updates[k], solves[k], SYNCILU_ANALYSIS_AUTO, 0, &settings);
      PetscCall(EngineAdopt(&settings, &p.dev[0], &regular, &e[k]));
      CHECK(regular, "%s: the pattern was not taken from the matrix", p.name);
    }
    PetscCall(Factor(e[k], c, &p.dev[s]));
    PetscCall(Solve(&p, &p.c[s], e[k], run % 11 ? SYNCILU_NOTRANS : SYNCILU_TRANS, 1, device_memory, PETSC_FALSE, p.name, p.bits[2]));
    if (run % 11 == 0) continue;
    if (run < 33) {
      PetscCall(CompareSolutions(&p.c[s], SYNCILU_NOTRANS, 1, p.bits[2], p.name));
      PetscCall(PetscArraycpy(first[k][s], p.bits[2], c->n));
    }
    PetscCall(PetscArraycmp(first[k][s], p.bits[2], c->n, &same));
    if (!same || e[k]->status.row >= 0) wrong++;
  }
  PetscCall(PetscTime(&now));
  printf("%" PetscInt_FMT " factorizations and solves of %s, %" PetscInt_FMT " rows, in %.1f s\n", count, pattern, c->n, now - start);
  CHECK(wrong == 0, "%" PetscInt_FMT " of %" PetscInt_FMT " runs gave other bits", wrong, count);
  for (int k = 0; k < ENGINES; k++) PetscCall(SyncILUEngineDestroy(&e[k]));
  if (lives > 1) {
    printf("  from the first of %" PetscInt_FMT " generations of engines to the last: their memory %.3f MiB, %.3f MiB; the device's beside it grew by %g MiB, the process by %g MiB\n", lives, (double)memory[0].engines / 1048576, (double)memory[1].engines / 1048576,
           (memory[1].device - memory[0].device) / 1048576, (memory[1].host - memory[0].host) / 1048576);
    CHECK(other == 0, "%" PetscInt_FMT " of %" PetscInt_FMT " generations of engines hold other bytes than the first", other, lives);
    /* what is allocated beside comes in pieces of 2 MiB on the device; a leak in one factorization of a hundred would be larger */
    CHECK(memory[1].device - memory[0].device <= 4 * 1048576.0, "memory of the device grew by %g bytes", memory[1].device - memory[0].device);
    CHECK(memory[1].host - memory[0].host <= 8 * 1048576.0, "memory of the process grew by %g bytes", memory[1].host - memory[0].host);
  }
  PetscCall(MemoryNow(&memory[1]));
  CHECK(memory[1].engines == 0 && memory[1].pool <= SYNCILU_KEEP, "%zu bytes are left where all engines are gone, of %zu that their pool has", memory[1].engines, memory[1].pool);
  for (int k = 0; k < ENGINES; k++) {
    for (int s = 0; s < 2; s++) PetscCall(PetscFree(first[k][s]));
  }
  PetscCall(ProblemDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAll(PetscInt only, const char *pattern, PetscRandom rand)
{
  const PetscInt sizes[] = {0, 1, 31, 33, 1025, 100003};
  PetscLogDouble start, now;
  PetscBool      tiles;
  Mat            A;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(pattern, "tiles", &tiles));
  for (int s = 0; s < 6 && !tiles; s++) {
    if (only >= 0 && sizes[s] != only) continue;
    PetscCall(PetscTime(&start));
    engines       = 0;
    watch_seconds = sizes[s] > BIG ? 120 : 30;
    for (int m = 0; GeneratePatterns[m]; m++) {
      PetscBool this = PETSC_TRUE;

      if (pattern[0]) PetscCall(PetscStrcmp(pattern, GeneratePatterns[m], &this));
      if (this) PetscCall(TestPattern(GeneratePatterns[m], m, sizes[s], rand));
    }
    PetscCall(PetscTime(&now));
    printf("n %" PetscInt_FMT ": %d engines in %.1f s, %d checks so far, %d failed\n", sizes[s], engines, now - start, check_count, check_failures);
    (void)fflush(stdout);
  }
  if (tiles) PetscCall(TestTiles(rand));
  if (only >= 0 || pattern[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscTime(&start));
  PetscCall(LongRows(3001, rand, &A));
  PetscCall(TestMatrix(A, "long rows", MATORDERINGNATURAL, 0, 0.0, PAIRS, 2, 1, 4, rand));
  PetscCall(TestMatrix(A, "long rows", MATORDERINGRCM, 0, 0.9, FEW, 2, 2, 2, rand));
  PetscCall(MatDestroy(&A));
  PetscCall(TestManyRightHandSides("7pt", 1000, MATORDERINGRCM, rand));
  PetscCall(TestManyRightHandSides("27pt", 40000, MATORDERINGRCM, rand));
  PetscCall(PetscTime(&now));
  printf("long rows and many right-hand sides: %.1f s\n", now - start);
  PetscCall(TestTiles(rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   available, small = PETSC_FALSE;
  PetscInt    soak  = 0;
  PetscInt    rows  = -1;
  int         files = 0, failed;
  char        why[256], pattern[64] = "", folder[PETSC_MAX_PATH_LEN] = "", **path = NULL;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-soak", &soak, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &rows, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pattern", pattern, sizeof(pattern), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrices", folder, sizeof(folder), NULL));
  PetscCall(SyncILUCUDAAvailable(&available, why, sizeof(why)));
  if (available && folder[0]) {
    PetscCall(LoadFolder(folder, &files, &path));
    available = (PetscBool)(files > 0);
    PetscCall(PetscSNPrintf(why, sizeof(why), "no matrices in %s", folder));
  }
  if (!available) {
    printf("skipped: %s\n", why);
    PetscCall(PetscFinalize());
    return SKIPPED;
  }
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  if (soak) { /* with updates of the diagonal alone, and of all entries */
    PetscCall(TestSoak("7pt", soak / 2, rand));
    PetscCall(TestSoak("27pt", soak - soak / 2, rand));
  } else if (files) PetscCall(TestFiles(files, path, rand));
  else if (small) PetscCall(TestSmall(rand));
  else PetscCall(TestAll(rows, pattern, rand));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(LoadFolderFree(files, &path));
  (void)alarm(0);
  failed = CheckReport("cuda");
  PetscCall(PetscFinalize());
  return failed;
}
