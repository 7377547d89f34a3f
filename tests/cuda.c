static char help[] = "The CUDA backend against the serial reference: every strategy and order, on many patterns and sizes, the same bits in every run.\n\n\
  -list       the names of the cases, of which none runs\n\
  -case <c>   the cases whose names match this glob, as '*/vect/csr/*', or begin with this text, as 7pt:9x6x7/list;\n\
              if there are none, a case of any row: 7pt:9x6x7/list/ell/asap/4, '*:33/vect/*/none'\n\
  -small      few and tiny cases, for tools that slow the program down\n\
  -icc        the same cases of A + A^T, as ICC: of one triangle where the strategy does so\n\
  -soak <n>   instead, n factorizations and solves, between which memory must not grow\n\
  -rows <n>   this size alone\n\
  -pattern <p> this pattern alone; tiles: what is solved in tiles alone, in sizes of its own\n\
  -matrices <folder> instead, the Matrix Market files there\n\
  -digest <file> a line for each engine: a hash of the bits of its factor and solutions, to compare two builds\n\
  -watch <s>  seconds that one engine may take\n\n";

#include "check.h"
#include "cases.h"
#include "gpu_case.h"
#include "../kernels/tuning.h"
#include "gpu.h"
#include "load.h"
#include <petsctime.h>

#define TOLERANCE 1e-12

/* A matrix, in which the same engine finds two sets of values, here and on the device. */
typedef struct {
  Mat        A[2];
  Case       c[2];
  int        sets; /* 1 where the reference takes long */
  SyncILUCSR dev[2];
  /* room for the vectors, from the second entry on: aligned to one number, not to two */
  PetscScalar *db, *dx;
  PetscScalar *x, *bits[4];
  char         name[128];
  PetscBool    takeable; /* ILU(0) in natural order */
} Subject;

static int       engines = 0;
static FILE     *digest  = NULL;
static PetscBool icc     = PETSC_FALSE;

/* FNV-1a with 64 bits. */
static unsigned long long Hash(const PetscScalar *a, size_t count)
{
  const unsigned char *byte = (const unsigned char *)a;
  unsigned long long   h    = 14695981039346656037ull;

  for (size_t k = 0; k < count * sizeof(*a); k++) h = (h ^ byte[k]) * 1099511628211ull;
  return h;
}

static PetscInt ldx(const Case *c)
{
  return c->ld + 2;
}

static PetscErrorCode SubjectCreate(Mat A, const CaseRow *row, PetscRandom rand, Subject *p)
{
  const CaseLine *line = row->line;
  PetscBool       natural;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscCall(PetscStrcmp(line->ordering, MATORDERINGNATURAL, &natural));
  p->takeable = (PetscBool)(natural && !line->levels);
  p->sets     = line->sets;
  p->A[0]     = A;
  PetscCall(PetscObjectReference((PetscObject)A));
  for (int s = 0; s < line->sets; s++) {
    Case *c = &p->c[s];

    if (s) {
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &p->A[s]));
      PetscCall(GenerateValues(p->A[s], rand));
      if (icc) PetscCall(GenerateSum(p->A[s]));
    }
    PetscCall(CaseCreate(p->A[s], line->ordering, line->levels, line->relax, rand, c));
    if (s) { /* with the pattern of the first */
      p->dev[s] = p->dev[0];
      PetscCall(Upload(c->csr.a, (size_t)c->csr.nnz * sizeof(PetscScalar), &p->dev[s].a));
    } else PetscCall(CSRUpload(&c->csr, &p->dev[s]));
  }
  PetscCall(PetscSNPrintf(p->name, sizeof(p->name), "%s n %" PetscInt_FMT " levels %" PetscInt_FMT " relax %g %s", row->pattern, p->c[0].n, line->levels,
                          (double)line->relax, line->ordering));
  CHECK(p->c[0].status.row < 0, "%s: the reference finds a zero pivot in row %" PetscInt_FMT, row->name, p->c[0].status.row);
  PetscCall(Upload(NULL, (size_t)(ldx(p->c) * NRHS + 1) * sizeof(PetscScalar), &p->db));
  PetscCall(Upload(NULL, (size_t)(ldx(p->c) * NRHS + 1) * sizeof(PetscScalar), &p->dx));
  PetscCall(PetscMalloc1(ldx(p->c) * NRHS, &p->x));
  for (int k = 0; k < 2; k++) PetscCall(PetscMalloc1(p->c[0].nl + p->c[0].nu + p->c[0].n, &p->bits[k]));
  for (int k = 2; k < 4; k++) PetscCall(PetscMalloc1(2 * (NRHS + 1) * p->c[0].n, &p->bits[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubjectDestroy(Subject *p)
{
  PetscFunctionBegin;
  if (p->sets > 1) CallCUDA(cudaFree((void *)p->dev[1].a));
  PetscCall(CSRFree(&p->dev[0]));
  CallCUDA(cudaFree(p->db));
  CallCUDA(cudaFree(p->dx));
  for (int k = 0; k < 4; k++) PetscCall(PetscFree(p->bits[k]));
  PetscCall(PetscFree(p->x));
  for (int s = 0; s < p->sets; s++) {
    PetscCall(CaseDestroy(&p->c[s]));
    PetscCall(MatDestroy(&p->A[s]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(SyncILUEngine e, const Case *c, const SyncILUCSR *csr)
{
  PetscFunctionBegin;
  PetscCall(EngineFactorUnshifted(e, &c->csr, PetscMemTypeDevice(csr->mem) ? csr : NULL, c->piv.zeropivot));
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
  row = FactorFirstDifference(c, lval, uval, dinv, TOLERANCE);
  CHECK(row == c->n, "%s: row %" PetscInt_FMT " of the factor is the first to differ from the reference", what, row);
  PetscCall(PetscArraycpy(bits, lval, c->nl));
  PetscCall(PetscArraycpy(bits + c->nl, uval, c->nu));
  PetscCall(PetscArraycpy(bits + c->nl + c->nu, dinv, c->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Solves for the first right-hand sides of a case; the solutions come without the gaps between them, in which
   nothing may be written.
*/
static PetscErrorCode Solve(Subject *p, const Case *c, SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, PetscBool device, PetscBool inplace,
                            const char *what, PetscScalar *packed)
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
    const PetscInt     i = SolutionFirstDifference(c->n, x, ref, TOLERANCE);

    CHECK(i == c->n, "%s: row %" PetscInt_FMT " of solution %" PetscInt_FMT " of %" PetscInt_FMT " is the first to differ from the reference, transposed %d",
          what, i, r, nrhs, trans == SYNCILU_TRANS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All solves with a factor that the reference has too: one after another in bits. */
static PetscErrorCode SolveAll(Subject *p, const Case *c, SyncILUEngine e, PetscBool device, PetscBool inplace, const char *what, PetscScalar *bits)
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

/* Whether one triangle of a symmetric matrix is factored, and that the view says so, or why not. */
static PetscErrorCode CheckTriangles(const CaseRow *row, const Cell *cell, const char *view, const char *what)
{
  const char     *name   = CheckViewValue(view, "factorization");
  const PetscBool pivots = (PetscBool)(name && !strncmp(name, "diagonal-only", 13)), list = (PetscBool)(name && !strncmp(name, "list", 4));
  const char     *both = strstr(view, "symmetric: both triangles are factored, since ");

  PetscFunctionBegin;
  if (pivots) CHECK(strstr(view, "symmetric: pivots alone are factored"), "%s: no word of pivots alone:\n%s", what, view);
  else if (list && cell->update == SYNCILU_UPDATE_LIST && !row->line->relax)
    CHECK(strstr(view, "symmetric: one triangle is factored") || (both && strstr(both, "several warps share")), "%s: not one triangle:\n%s", what, view);
  else CHECK(both || (list && strstr(view, "symmetric: one triangle is factored")), "%s: no reason for both triangles:\n%s", what, view);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One engine on the pattern given, through factorizations and solves of all kinds; then on the pattern as the
   backend takes it from the matrix.
*/
static PetscErrorCode TestEngine(Subject *p, const CaseRow *row, const Cell *cell)
{
  Case *const     c    = &p->c[0];
  const PetscInt  size = c->nl + c->nu + c->n, solutions = 2 * (c->nrhs == 1 ? 1 : NRHS + 1) * c->n;
  char            what[256], view[1024];
  SyncILUSettings settings;
  SyncILUEngine   e;
  PetscBool       same;

  PetscFunctionBegin;
  PetscCall(CaseName(row, cell, what, sizeof(what)));
  Watch("%s", what);
  engines++;
  CaseSettings(row, cell, &settings);
  settings.symmetric = icc;
  for (int s = 0; s < p->sets; s++) PetscCall(CaseExpect(&p->c[s], &settings));
  PetscCall(EngineCreate(&settings, c, &e));
  CHECK(e->ops->backend == SYNCILU_BACKEND_CUDA, "%s: runs on backend %s", what, SyncILUBackends[e->ops->backend]);
  PetscCall(EngineView(e, view, sizeof(view)));
  if (icc) PetscCall(CheckTriangles(row, cell, view, what));
  else CHECK(CaseOrderIs(cell->order, view), "%s: wanted is %s, got:\n%s", what, CaseOrderName(cell->order), view);
  PetscCall(FactorCompared(e, c, &c->csr, what, p->bits[0]));
  PetscCall(SolveAll(p, c, e, PETSC_FALSE, PETSC_FALSE, what, p->bits[2]));
  if (digest) {
    fprintf(digest, "%016llx %016llx %s: update %s, solve %s, analysis %s, vector size %" PetscInt_FMT "\n", Hash(p->bits[0], (size_t)size),
            Hash(p->bits[2], (size_t)solutions), p->name, SyncILUUpdates[cell->update], SyncILUSolves[cell->solve], SyncILUAnalyses[cell->analysis],
            cell->size);
  }
  for (int run = 0; run < row->line->runs; run++) {
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
  for (int device = 0; p->takeable && device < 2; device++) {
    PetscBool regular;

    PetscCall(EngineAdopt(&settings, &c->csr, device ? &p->dev[0] : NULL, &regular, &e));
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

/* More right-hand sides than one launch takes. */
static PetscErrorCode TestManyRightHandSides(const CaseRow *row, Mat A, PetscRandom rand)
{
  const PetscInt many = row->line->columns;
  Case           c;
  PetscScalar   *b, *x, *y[2];
  PetscBool      sweeps = PETSC_FALSE; /* what y is of */

  PetscFunctionBegin;
  PetscCall(CaseCreate(A, row->line->ordering, row->line->levels, row->line->relax, rand, &c));
  PetscCall(PetscMalloc4(c.ld * many, &b, c.ld * many, &x, c.ld * many, &y[0], c.ld * many, &y[1]));
  for (PetscInt k = 0; k < c.ld * many; k++) PetscCall(PetscRandomGetValue(rand, &b[k]));
  for (int k = 0; k < row->ncells; k++) {
    const PetscBool jacobi = (PetscBool)(row->cell[k].solve == SYNCILU_SOLVE_JACOBI);
    SyncILUSettings settings;
    SyncILUEngine   e;
    char            what[256];

    PetscCall(CaseName(row, &row->cell[k], what, sizeof(what)));
    Watch("%s", what);
    engines++;
    CaseSettings(row, &row->cell[k], &settings);
    settings.symmetric = icc;
    for (int t = 0; t < 2 && (k == 0 || jacobi != sweeps); t++) {
      for (PetscInt r = 0; r < many; r++) PetscCall(CaseReference(&c, &settings, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, b + r * c.ld, y[t] + r * c.ld));
    }
    sweeps = jacobi;
    PetscCall(EngineCreate(&settings, &c, &e));
    PetscCall(Factor(e, &c, &c.csr));
    for (int t = 0; t < 2; t++) {
      for (PetscInt nrhs = 2; nrhs <= many; nrhs += 23) {
        PetscBool same = PETSC_TRUE;

        PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, nrhs, b, c.ld, x, c.ld, PETSC_MEMTYPE_HOST));
        for (PetscInt r = 0; r < nrhs; r++) same = (PetscBool)(same && SolutionFirstDifference(c.n, x + r * c.ld, y[t] + r * c.ld, TOLERANCE) == c.n);
        CHECK(same, "%s, %" PetscInt_FMT " right-hand sides, transposed %d: differs from the reference", what, nrhs, t);
      }
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscCall(PetscFree4(b, x, y[0], y[1]));
  PetscCall(CaseDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The matrix without some of the entries beside its diagonal, taken away at random: these shares of those
   below and above it.
*/
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

/* The matrix of a row, from a file if it is given. */
static PetscErrorCode MatrixCreate(const CaseRow *row, const char *path, PetscRandom rand, Mat *A)
{
  PetscFunctionBegin;
  if (path) {
    PetscCall(LoadMatrix(PETSC_COMM_SELF, path, MATSEQAIJ, A));
    PetscCall(MatShift(*A, 1.0));
    PetscCall(GenerateValues(*A, rand));
  } else PetscCall(GenerateMatrix(row->pattern, row->line->n, rand, A));
  if (row->line->gaps) {
    double lower, upper;
    Mat    B;

    PetscCheck(sscanf(row->line->gaps, "%lf:%lf", &lower, &upper) == 2, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: not two shares", row->line->gaps);
    PetscCall(Thin(*A, lower, upper, rand, &B));
    PetscCall(MatDestroy(A));
    *A = B;
  }
  if (icc) PetscCall(GenerateSum(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the command line asks for. */
typedef struct {
  char      cases[256], pattern[64];
  PetscInt  rows;  /* -1: any */
  PetscInt  watch; /* s, 0: as usual */
  PetscBool list, small;
} Wanted;

/*
   The cases of a row. A row's numbers depend on its name alone, so that a case that runs alone finds what it
   finds among others. The small set goes on with the numbers of the rows before, as it did when its digests
   were first compared, and so makes all its matrices.
*/
static PetscErrorCode TestRow(const CaseRow *row, const Wanted *wanted, const char *path, PetscRandom rand)
{
  const unsigned seconds = wanted->watch ? (unsigned)wanted->watch : wanted->small ? 300 : row->line->n > BIG ? 120 : 30;
  Mat            A;

  PetscFunctionBegin;
  if (check_failures > 100) PetscFunctionReturn(PETSC_SUCCESS); /* more of the same tells nothing */
  for (int k = 0; k < row->ncells && wanted->list; k++) {
    char name[256];

    PetscCall(CaseName(row, &row->cell[k], name, sizeof(name)));
    printf("%s\n", name);
  }
  if (wanted->list || (!row->ncells && !wanted->small)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!wanted->small) PetscCall(CaseSeed(row, rand));
  watch_seconds = 4 * seconds; /* the reference has its time too */
  Watch("the reference's factor of %s", row->name);
  watch_seconds = seconds;
  PetscCall(MatrixCreate(row, path, rand, &A));
  if (row->line->columns) PetscCall(TestManyRightHandSides(row, A, rand));
  else {
    Subject p;

    PetscCall(SubjectCreate(A, row, rand, &p));
    for (int k = 0; k < row->ncells; k++) PetscCall(TestEngine(&p, row, &row->cell[k]));
    PetscCall(SubjectDestroy(&p));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set without what is not asked for; the number of cases that are left. */
static PetscErrorCode SetCreate(const char *set, const Wanted *wanted, CaseList *list, int *count)
{
  PetscFunctionBegin;
  PetscCall(CaseListCreate(set, list));
  for (int r = 0; r < list->count; r++) {
    CaseRow *row = &list->row[r];

    if (wanted->rows >= 0 && (row->line->n != wanted->rows || strchr(row->pattern, ':'))) row->ncells = 0;
    if (wanted->pattern[0] && strcmp(wanted->pattern, row->pattern)) row->ncells = 0;
  }
  PetscCall(CaseListSelect(list, wanted->cases, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What ran, and how long. */
static PetscErrorCode Report(const char *what, PetscLogDouble *start)
{
  PetscLogDouble now;

  PetscFunctionBegin;
  PetscCall(PetscTime(&now));
  if (engines) printf("%s: %d engines in %.1f s, %d checks so far, %d failed\n", what, engines, now - *start, check_count, check_failures);
  (void)fflush(stdout);
  engines = 0;
  *start  = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sets, of which the last is NULL. Where no case of the tables has the name that is asked for it may be one
   that is in none of them.
*/
static PetscErrorCode TestSets(const char *const sets[], const Wanted *wanted, PetscRandom rand)
{
  CaseList       list;
  PetscLogDouble start;
  int            count, all = 0, run = 0;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  for (int s = 0; sets[s]; s++) {
    PetscCall(SetCreate(sets[s], wanted, &list, &count));
    PetscCall(CaseListDestroy(&list));
    all += count;
  }
  for (int s = 0; sets[s]; s++) {
    PetscCall(SetCreate(sets[s], wanted, &list, &count));
    if (!all) PetscCall(CaseListAsk(&list, wanted->cases, &count));
    run += count;
    for (int r = 0; r < list.count; r++) {
      char what[64];

      PetscCall(TestRow(&list.row[r], wanted, NULL, rand));
      if (r + 1 < list.count && list.row[r + 1].line->n == list.row[r].line->n) continue;
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, n %" PetscInt_FMT, sets[s], list.row[r].line->n));
      if (!wanted->small) PetscCall(Report(what, &start));
    }
    PetscCall(CaseListDestroy(&list));
  }
  CHECK(run, "no case has the name \"%s\", of so many rows and this pattern", wanted->cases);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The patterns of real matrices. */
static PetscErrorCode TestFiles(int count, char **path, const Wanted *wanted, PetscRandom rand)
{
  PetscLogDouble start;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  for (int k = 0; k < count; k++) {
    const char *name = strrchr(path[k], '/') + 1;
    CaseList    list;
    int         cases;

    PetscCall(CaseListForFile(name, &list));
    PetscCall(CaseListSelect(&list, wanted->cases, &cases));
    for (int r = 0; r < list.count; r++) PetscCall(TestRow(&list.row[r], wanted, path[k], rand));
    PetscCall(CaseListDestroy(&list));
    PetscCall(Report(name, &start));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Bytes that are taken: by the engines, by their pool, on the device by all else, on the host. What the pool
   has without need for it depends on where the memory of a later engine found room.
*/
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

/*
   Factorizations and solves without end take no memory and give the same bits every time; now and then an
   engine goes and another comes.
*/
static PetscErrorCode TestSoak(const CaseRow *row, PetscInt count, PetscRandom rand)
{
  const int engines_at_once = row->ncells;
  /* in which every engine solves with the transpose, too */
  const PetscInt lifetime = PetscMax(11, count / (10 * engines_at_once));
  Mat            A;
  Subject        p;
  const Case    *c;
  SyncILUEngine *e;
  PetscScalar *(*first)[2];
  Memory         memory[2]; /* after the first engines, and now */
  PetscLogDouble start, now;
  PetscInt       wrong = 0, lives = 0, other = 0;

  PetscFunctionBegin;
  PetscCall(CaseSeed(row, rand));
  PetscCall(MatrixCreate(row, NULL, rand, &A));
  PetscCall(SubjectCreate(A, row, rand, &p));
  c = &p.c[0];
  PetscCall(PetscCalloc2(engines_at_once, &e, engines_at_once, &first));
  for (int k = 0; k < engines_at_once; k++) {
    for (int s = 0; s < 2; s++) PetscCall(PetscCalloc1(c->n, &first[k][s]));
  }
  PetscCall(PetscTime(&start));
  for (PetscInt run = 0; run < count; run++) {
    const int       k = (int)(run % engines_at_once), s = (int)(run / engines_at_once % 2);
    const PetscBool device_memory = (PetscBool)(run / 7 % 2);
    PetscBool       same;

    Watch("soak, run %" PetscInt_FMT, run);
    if (k == 0 && run && run / engines_at_once % lifetime == 0) {
      PetscCall(MemoryNow(&memory[lives > 0]));
      if (lives++ > 0 && memory[1].engines != memory[0].engines) other++;
    }
    if (run / engines_at_once % lifetime == 0) PetscCall(SyncILUEngineDestroy(&e[k]));
    if (!e[k]) {
      SyncILUSettings settings;
      PetscBool       taken;

      CaseSettings(row, &row->cell[k], &settings);
      PetscCall(EngineAdopt(&settings, &c->csr, &p.dev[0], &taken, &e[k]));
      CHECK(taken, "%s: the pattern was not taken from the matrix", row->name);
    }
    PetscCall(Factor(e[k], c, &p.dev[s]));
    PetscCall(Solve(&p, &p.c[s], e[k], run % 11 ? SYNCILU_NOTRANS : SYNCILU_TRANS, 1, device_memory, PETSC_FALSE, row->name, p.bits[2]));
    if (run % 11 == 0) continue;
    if (run < 11 * engines_at_once) { /* each engine has both sets of values in them */
      PetscCall(CaseExpect(&p.c[s], &e[k]->settings));
      PetscCall(CompareSolutions(&p.c[s], SYNCILU_NOTRANS, 1, p.bits[2], row->name));
      PetscCall(PetscArraycpy(first[k][s], p.bits[2], c->n));
    }
    PetscCall(PetscArraycmp(first[k][s], p.bits[2], c->n, &same));
    if (!same || e[k]->status.row >= 0) wrong++;
  }
  PetscCall(PetscTime(&now));
  printf("%" PetscInt_FMT " factorizations and solves of %s in %.1f s\n", count, row->name, now - start);
  CHECK(wrong == 0, "%" PetscInt_FMT " of %" PetscInt_FMT " runs gave other bits", wrong, count);
  for (int k = 0; k < engines_at_once; k++) PetscCall(SyncILUEngineDestroy(&e[k]));
  if (lives > 1) {
    printf("  from the first of %" PetscInt_FMT " generations of engines to the last: their memory %.3f MiB, %.3f MiB; the device's beside it grew by %g MiB, "
           "the process by %g MiB\n",
           lives, (double)memory[0].engines / 1048576, (double)memory[1].engines / 1048576, (memory[1].device - memory[0].device) / 1048576,
           (memory[1].host - memory[0].host) / 1048576);
    CHECK(other == 0, "%" PetscInt_FMT " of %" PetscInt_FMT " generations of engines hold other bytes than the first", other, lives);
    /*
       what is allocated beside comes in pieces of 2 MiB on the device; a leak in one factorization of a
       hundred would be larger
    */
    CHECK(memory[1].device - memory[0].device <= 4 * 1048576.0, "memory of the device grew by %g bytes", memory[1].device - memory[0].device);
    CHECK(memory[1].host - memory[0].host <= 8 * 1048576.0, "memory of the process grew by %g bytes", memory[1].host - memory[0].host);
  }
  PetscCall(MemoryNow(&memory[1]));
  CHECK(memory[1].engines == 0 && memory[1].pool <= SYNCILU_KEEP, "%zu bytes are left where all engines are gone, of %zu that their pool has",
        memory[1].engines, memory[1].pool);
  for (int k = 0; k < engines_at_once; k++) {
    for (int s = 0; s < 2; s++) PetscCall(PetscFree(first[k][s]));
  }
  PetscCall(PetscFree2(e, first));
  PetscCall(SubjectDestroy(&p));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs share alike between the matrices. */
static PetscErrorCode TestSoaks(PetscInt count, PetscRandom rand)
{
  CaseList list;

  PetscFunctionBegin;
  PetscCall(CaseListCreate("soak", &list));
  for (int r = 0; r < list.count; r++) PetscCall(TestSoak(&list.row[r], count / list.count, rand));
  PetscCall(CaseListDestroy(&list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const small[] = {"small", NULL}, *const in_tiles[] = {"tiles", NULL}, *const all[] = {"main", "tiles", NULL};
  PetscRandom rand;
  PetscBool   available, tiles;
  Wanted      wanted = {.rows = -1};
  PetscInt    soak   = 0;
  int         files  = 0, failed;
  char        why[256], folder[PETSC_MAX_PATH_LEN] = "", file[PETSC_MAX_PATH_LEN] = "", **path = NULL;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-list", &wanted.list, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-case", wanted.cases, sizeof(wanted.cases), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &wanted.small, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-icc", &icc, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-soak", &soak, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &wanted.rows, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-watch", &wanted.watch, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-pattern", wanted.pattern, sizeof(wanted.pattern), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-matrices", folder, sizeof(folder), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-digest", file, sizeof(file), NULL));
  PetscCall((*SyncILUCUDAOps.available)(&available, why, sizeof(why)));
  if (wanted.list) available = PETSC_TRUE;
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
  if (file[0]) {
    digest = fopen(file, "w");
    PetscCheck(digest, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", file);
  }
  PetscCall(PetscStrcmp(wanted.pattern, "tiles", &tiles));
  if (tiles) wanted.pattern[0] = 0;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  if (soak) PetscCall(TestSoaks(soak, rand));
  else if (files) PetscCall(TestFiles(files, path, &wanted, rand));
  else PetscCall(TestSets(wanted.small ? small : tiles ? in_tiles : all, &wanted, rand));
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(LoadFolderFree(files, &path));
  WatchEnd();
  if (digest) (void)fclose(digest);
  failed = wanted.list ? 0 : CheckReport("cuda");
  PetscCall(PetscFinalize());
  return failed;
}
