static char
  help[] = "Numeric factorizations of the CUDA backend where values or rows are unusual, with every update strategy: what comes out is the host backend's.\n\n";

#include "check.h"
#include "gpu.h"
#include "gpu_case.h"
#include "strategies.h"
#include "../kernels/factor_list.h"
#include "../kernels/inodes.h"

/* Values of a case, and how pivots are judged. */
typedef struct {
  SyncILUCSR    csr;
  MatFactorInfo info;
  PetscReal     relax;
  PetscInt      vector_size;
  SyncILUSolve  solve;
  /* of the factor beside the largest entry of the row, of solutions beside the largest entry */
  PetscReal tolerance;
} Values;

static PetscErrorCode ValuesCreate(const Case *c, Values *v)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->csr.nnz, &a));
  PetscCall(PetscArraycpy(a, c->csr.a, c->csr.nnz));
  v->csr   = c->csr;
  v->csr.a = a;
  PetscCall(MatFactorInfoInitialize(&v->info));
  v->info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  v->info.zeropivot = c->piv.zeropivot;
  v->relax          = 0.0;
  v->vector_size    = 0;
  v->solve          = SYNCILU_SOLVE_AUTO;
  v->tolerance      = 1e-12;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ValuesDestroy(Values *v)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(v->csr.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of the entry in that row and column, which the pattern has. */
static PetscScalar *Entry(const Values *v, PetscInt row, PetscInt col)
{
  PetscInt k = v->csr.i[row];

  while (v->csr.j[k] != col) k++;
  return (PetscScalar *)v->csr.a + k;
}

/* The first row of the factors that is not the same up to rounding, n if there is none. */
static PetscErrorCode FirstDifference(SyncILUEngine host, SyncILUEngine e, PetscReal tolerance, PetscInt *row)
{
  const SyncILUPattern *p = &host->pattern;
  const PetscScalar    *l[2], *u[2], *d[2];

  PetscFunctionBegin;
  PetscCall((*host->ops->values)(host, &l[0], &u[0], &d[0]));
  PetscCall((*e->ops->values)(e, &l[1], &u[1], &d[1]));
  for (*row = 0; *row < p->n; (*row)++) {
    const PetscInt i    = *row;
    PetscReal      lmax = 0.0, umax = PetscAbsScalar(1.0 / d[0][i]);
    PetscBool      same = (PetscBool)(PetscAbsScalar(d[0][i] - d[1][i]) <= tolerance * PetscAbsScalar(d[0][i]));

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lmax = PetscMax(lmax, PetscAbsScalar(l[0][k]));
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) umax = PetscMax(umax, PetscAbsScalar(u[0][k]));
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1] && same; k++) same = (PetscBool)(PetscAbsScalar(l[0][k] - l[1][k]) <= tolerance * lmax);
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1] && same; k++) /* they may be infinite */
      same = (PetscBool)(u[0][k] == u[1][k] || PetscAbsScalar(u[0][k] - u[1][k]) <= tolerance * umax);
    if (!same) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EngineFor(const Case *c, const Values *v, SyncILUBackend backend, SyncILUUpdate update, SyncILUAnalysis analysis, SyncILUEngine *e)
{
  SyncILUSettings settings;

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  settings.backend  = backend;
  settings.update   = update;
  settings.analysis = analysis;
  settings.relax    = v->relax;
  settings.solve    = v->solve;

  settings.vector_size = v->vector_size;
  settings.prefetch    = analysis != SYNCILU_ANALYSIS_NONE ? PETSC_BOOL3_TRUE : PETSC_BOOL3_FALSE;
  PetscCall(EngineCreate(&settings, c, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Both backends' outcome with the same values; the second factorization must give the bits of the first. */
static PetscErrorCode Compare(const Case *c, const Values *v, SyncILUEngine host, SyncILUEngine e, const char *what)
{
  const SyncILUStatus *want = &host->status, *got = &e->status;
  PetscScalar         *x[3];
  PetscInt             row = 0;
  PetscBool            same;

  PetscFunctionBegin;
  PetscCall(EngineFactor(e, &v->csr, NULL, &v->info));
  same = (PetscBool)(want->row == got->row && want->shift == got->shift && host->attempts == e->attempts &&
                     PetscAbsReal(host->amount - e->amount) <= 1e-9 * PetscAbsReal(host->amount) && (want->row >= 0 || want->shifted == got->shifted));
  CHECK(same,
        "%s: row %" PetscInt_FMT " rejected, %" PetscInt_FMT " attempts, amount %g, %" PetscInt_FMT " pivots shifted; on the host row %" PetscInt_FMT
        ", %" PetscInt_FMT " attempts, amount %g, %" PetscInt_FMT " pivots",
        what, got->row, e->attempts, (double)e->amount, got->shifted, want->row, host->attempts, (double)host->amount, want->shifted);
  if (!same || want->row >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FirstDifference(host, e, v->tolerance, &row));
  CHECK(row == c->n, "%s: row %" PetscInt_FMT " of the factor is the first that differs from the host's", what, row);
  PetscCall(PetscMalloc3(c->ld, &x[0], c->ld, &x[1], c->ld, &x[2]));
  for (int t = 0; t < 2; t++) {
    const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;
    PetscReal              max   = 0.0;

    PetscCall(SyncILUEngineSolve(host, trans, 1, c->b, c->ld, x[0], c->ld, PETSC_MEMTYPE_HOST));
    PetscCall(SyncILUEngineSolve(e, trans, 1, c->b, c->ld, x[1], c->ld, PETSC_MEMTYPE_HOST));
    for (PetscInt i = 0; i < c->n; i++) {
      if (!PetscIsInfOrNanScalar(x[0][i])) max = PetscMax(max, PetscAbsScalar(x[0][i]));
    }
    for (row = 0; row < c->n; row++) {
      const PetscBool finite = (PetscBool)!PetscIsInfOrNanScalar(x[0][row]);

      if (finite ? !(PetscAbsScalar(x[0][row] - x[1][row]) <= v->tolerance * max) : !PetscIsInfOrNanScalar(x[1][row])) break;
    }
    CHECK(row == c->n, "%s: row %" PetscInt_FMT " of the solution is %g, the host's %g, transposed %d", what, row, (double)PetscRealPart(x[1][row]),
          (double)PetscRealPart(x[0][row]), t);
  }
  PetscCall(EngineFactor(e, &v->csr, NULL, &v->info));
  PetscCall(SyncILUEngineSolve(e, SYNCILU_TRANS, 1, c->b, c->ld, x[2], c->ld, PETSC_MEMTYPE_HOST));
  PetscCall(PetscMemcmp(x[1], x[2], (size_t)c->n * sizeof(*x[1]), &same));
  CHECK(same, "%s: the second factorization has other bits", what);
  PetscCall(PetscFree3(x[0], x[1], x[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With every update strategy, in numerical order, by levels and as the library likes it. */
static PetscErrorCode TestValues(const Case *c, const Values *v, const char *name)
{
  const SyncILUAnalysis analyses[] = {SYNCILU_ANALYSIS_AUTO, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_NONE};
  Strategies            strategies;
  SyncILUEngine         host;

  PetscFunctionBegin;
  PetscCall(StrategiesGet(&strategies));
  PetscCall(EngineFor(c, v, SYNCILU_BACKEND_HOST, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO, &host));
  PetscCall(EngineFactor(host, &v->csr, NULL, &v->info));
  for (int u = -1; u < strategies.nupdates; u++) {
    const SyncILUUpdate update = u < 0 ? SYNCILU_UPDATE_AUTO : strategies.update[u];

    for (int a = 0; a < 3; a++) {
      SyncILUEngine e;
      char          what[256];

      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, relax %g, update %s, analysis %s", name, (double)v->relax, SyncILUUpdates[update],
                              SyncILUAnalyses[analyses[a]]));
      Watch("%s", what);
      PetscCall(EngineFor(c, v, SYNCILU_BACKEND_CUDA, update, analyses[a], &e));
      PetscCall(Compare(c, v, host, e, what));
      PetscCall(SyncILUEngineDestroy(&e));
    }
  }
  PetscCall(SyncILUEngineDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Relaxation with every solve strategy: where only diagonals have updates, one kernel leaves sums where
   another polls for pivots, unless a strategy has storage of its own for these.
*/
static PetscErrorCode TestRelaxed(PetscRandom rand)
{
  const char *const patterns[] = {"tridiagonal:300", "5pt:12x10", "7pt:6x5x4", "27pt:5x4x3", "random:400"};
  Strategies        strategies;

  PetscFunctionBegin;
  PetscCall(StrategiesGet(&strategies));
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(patterns); m++) {
    Case          c;
    Values        v;
    Mat           A;
    SyncILUEngine host;

    PetscCall(GenerateMatrix(patterns[m], 0, rand, &A));
    PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.9, rand, &c));
    PetscCall(ValuesCreate(&c, &v));
    v.relax = 0.9;
    PetscCall(EngineFor(&c, &v, SYNCILU_BACKEND_HOST, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO, &host));
    PetscCall(EngineFactor(host, &v.csr, NULL, &v.info));
    for (int s = 0; s < strategies.nsolves; s++) {
      SyncILUEngine e;
      char          what[128];

      v.solve              = strategies.solve[s];
      host->settings.solve = v.solve; /* where that is not exact, the host does the same */
      PetscCall(PetscSNPrintf(what, sizeof(what), "%s, relaxed, solve %s", patterns[m], SyncILUSolves[v.solve]));
      Watch("%s", what);
      PetscCall(EngineFor(&c, &v, SYNCILU_BACKEND_CUDA, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO, &e));
      PetscCall(Compare(&c, &v, host, e, what));
      PetscCall(SyncILUEngineDestroy(&e));
    }
    PetscCall(SyncILUEngineDestroy(&host));
    PetscCall(ValuesDestroy(&v));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rows that come in inodes of every size, with the strategies that take inodes: rows that shared memory is too
   small for among them, levels of fill, several right-hand sides, other numbers of lanes.
*/
static PetscErrorCode TestInodes(PetscRandom rand)
{
  const SyncILUAnalysis analyses[] = {SYNCILU_ANALYSIS_AUTO, SYNCILU_ANALYSIS_ALAP, SYNCILU_ANALYSIS_NONE};
  const struct {
    const char *pattern, *ordering;
    PetscInt    least, step, levels, vector_size; /* sizes of inodes from the least on */
    PetscReal   relax;
    const char *updates; /* of inodes of several rows without relaxation, as the view has it */
  } inodes[] = {
    {"7pt:4x3x2",     MATORDERINGNATURAL, 1, 1, 0, 0,  0.0, "of diagonal blocks, by inverses"},
    {"7pt:4x3x3",     MATORDERINGRCM,     2, 1, 0, 0,  0.0, "of diagonal blocks, by inverses"},
    {"bidiagonal:20", MATORDERINGNATURAL, 2, 3, 0, 0,  0.0, "of diagonal blocks, by inverses"},
    {"random:40",     MATORDERINGNATURAL, 1, 3, 0, 16, 0.9, "from lists"                     },
    {"7pt:4x3x2",     MATORDERINGNATURAL, 2, 3, 1, 32, 0.9, "from lists"                     },
    {"7pt:5x4x3",     MATORDERINGBMC,     3, 9, 1, 0,  0.0, "from lists"                     },
    {"15pt:3x3x3",    MATORDERINGNATURAL, 6, 9, 0, 8,  0.0, "from lists"                     },
    {"denserow:290",  MATORDERINGNATURAL, 3, 9, 0, 0,  0.9, "searched for"                   },
    {"denserow:130",  MATORDERINGNATURAL, 8, 1, 0, 0,  0.0, "searched for"                   },
    {"classes:140",   MATORDERINGNATURAL, 2, 9, 0, 0,  0.0, "from lists"                     }
  };

  PetscFunctionBegin;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(inodes); m++) {
    for (PetscInt size = inodes[m].least; size <= SYNCILU_INODE_MOST; size += inodes[m].step) {
      Mat           A, B;
      Case          c;
      Values        v;
      SyncILUEngine host;
      PetscScalar  *x[2];

      PetscCall(GenerateBlocks(inodes[m].pattern, 0, size, rand, &B));
      PetscCall(MatConvert(B, MATSEQAIJ, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatDestroy(&B));
      PetscCall(CaseCreate(A, inodes[m].ordering, inodes[m].levels, inodes[m].relax, rand, &c));
      PetscCall(ValuesCreate(&c, &v));
      v.relax       = inodes[m].relax;
      v.vector_size = inodes[m].vector_size;
      v.solve       = SYNCILU_SOLVE_BSR;
      PetscCall(PetscMalloc2(NRHS * c.ld, &x[0], NRHS * c.ld, &x[1]));
      PetscCall(EngineFor(&c, &v, SYNCILU_BACKEND_HOST, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO, &host));
      PetscCall(EngineFactor(host, &v.csr, NULL, &v.info));
      PetscCall(SyncILUEngineSolve(host, SYNCILU_NOTRANS, NRHS, c.b, c.ld, x[0], c.ld, PETSC_MEMTYPE_HOST));
      for (int a = 0; a < 3; a++) {
        SyncILUEngine e;
        char          what[128], view[4096], says[64];
        PetscBool     same = PETSC_TRUE;

        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, inodes of %" PetscInt_FMT " rows, relax %g, analysis %s", inodes[m].pattern, size, (double)v.relax,
                                SyncILUAnalyses[analyses[a]]));
        Watch("%s", what);
        PetscCall(EngineFor(&c, &v, SYNCILU_BACKEND_CUDA, SYNCILU_UPDATE_BSR, analyses[a], &e));
        PetscCall(Compare(&c, &v, host, e, what));
        PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, NRHS, c.b, c.ld, x[1], c.ld, PETSC_MEMTYPE_HOST));
        for (int k = 0; k < NRHS && same; k++) same = (PetscBool)(SolutionFirstDifference(c.n, x[1] + k * c.ld, x[0] + k * c.ld, v.tolerance) == c.n);
        CHECK(same, "%s: a solution for several right-hand sides is another one than the host's", what);
        PetscCall(EngineView(e, view, sizeof(view)));
        PetscCall(PetscSNPrintf(says, sizeof(says), "%" PetscInt_FMT " of %" PetscInt_FMT " successive rows", c.n / size, size));
        CHECK(CheckViewSays(view, "inodes", says) && CheckViewSays(view, "solve", "bsr") && CheckViewSays(view, "factorization", "bsr"),
              "%s: the view says\n%s", what, view);
        CHECK(CheckViewSays(view, "updates", size > 1 && v.relax == 0.0 ? inodes[m].updates : "searched for"), "%s: the view says\n%s", what, view);
        e->settings.relax = 0.0; /* now there are lists, if there is room for them */
        PetscCall(EngineFactor(e, &v.csr, NULL, &v.info));
        PetscCall(EngineView(e, view, sizeof(view)));
        CHECK(CheckViewSays(view, "updates", size > 1 ? inodes[m].updates : "searched for"), "%s, no longer: the view says\n%s", what, view);
        PetscCall(SyncILUEngineDestroy(&e));
      }
      PetscCall(SyncILUEngineDestroy(&host));
      PetscCall(PetscFree2(x[0], x[1]));
      PetscCall(ValuesDestroy(&v));
      PetscCall(CaseDestroy(&c));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A full matrix, diagonally dominant. */
static PetscErrorCode Dense(PetscInt n, PetscRandom rand, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, n, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) PetscCall(MatSetValue(*A, i, j, 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Relaxation where a row uses the large entries of its reference rows: what is dropped is small, or nothing
   at all, and must not be the rounding of the large ones.
*/
static PetscErrorCode TestCancellation(PetscRandom rand)
{
  const PetscReal large[] = {1e6, 1e10, 1e14, 1e17};
  Case            c;
  Values          v;
  Mat             A;
  char            name[64];

  PetscFunctionBegin;
  PetscCall(Dense(8, rand, &A)); /* on a full pattern nothing is dropped */
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 1.0, rand, &c));
  for (int k = 0; k < 4; k++) {
    for (PetscInt col = 5; col < 8; col++) {
      PetscCall(ValuesCreate(&c, &v));
      v.relax            = 1.0;
      *Entry(&v, 0, col) = large[k];
      *Entry(&v, 3, 0)   = 1.0;
      PetscCall(PetscSNPrintf(name, sizeof(name), "full, %g in column %" PetscInt_FMT, (double)large[k], col));
      PetscCall(TestValues(&c, &v, name));
      PetscCall(ValuesDestroy(&v));
    }
  }
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  /* the columns of the neighbours straight ahead: the rows beside drop the others */
  PetscCall(GenerateMatrix("27pt:5x4x3", 0, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.7, rand, &c));
  for (int k = 0; k < 4; k++) {
    PetscCall(ValuesCreate(&c, &v));
    v.relax = 0.7;
    for (PetscInt i = 0; i < c.n - 20; i += 7) *Entry(&v, i, i + 20) = large[k];
    PetscCall(PetscSNPrintf(name, sizeof(name), "27pt, %g here and there", (double)large[k]));
    PetscCall(TestValues(&c, &v, name));
    PetscCall(ValuesDestroy(&v));
  }
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A long row that several warps share, of whose entries some have more updates than a lane has to itself, among
   others that have a few. When these come must not show in the sum of what is dropped: large entries, of which
   hardly anything is left, would make other bits of another order of additions.
*/
static PetscErrorCode TestShared(PetscRandom rand)
{
  const PetscInt  n = 401, chain = 200;
  SyncILUSettings settings;
  SyncILUEngine   e;
  Case            c;
  Values          v;
  Mat             A;
  PetscScalar    *first;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 32, NULL, &A));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(MatSetValue(A, i, i, 1.0, INSERT_VALUES));
    for (PetscInt j = 0; i == n - 1 && j < n; j++) PetscCall(MatSetValue(A, i, j, 1.0, INSERT_VALUES));
    if (i >= chain) continue;
    if (i) PetscCall(MatSetValue(A, i, i - 1, 1.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i + 1, 1.0, INSERT_VALUES));
    for (PetscInt j = 288; j < 320; j++) {
      const PetscBool many = (PetscBool)(j >= 300 && j < 310), here = (PetscBool)(j < 300 ? i >= 195 : i < 20 || i >= 180);

      if (many || here) PetscCall(MatSetValue(A, i, j, 1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(A, rand));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.9, rand, &c));
  PetscCall(ValuesCreate(&c, &v));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = v.csr.i[i]; k < v.csr.i[i + 1]; k++) {
      PetscReal r;

      PetscCall(PetscRandomGetValueReal(rand, &r));
      *Entry(&v, i, v.csr.j[k]) = v.csr.j[k] == i ? 1.0 : (r - 0.5) * 2e9;
    }
  }
  SyncILUSettingsInitialize(&settings);
  settings.backend = SYNCILU_BACKEND_CUDA;
  settings.update  = SYNCILU_UPDATE_LIST;
  settings.relax   = 0.9;
  PetscCall(EngineCreate(&settings, &c, &e));
  PetscCall(PetscMalloc1(c.nl + c.nu + n, &first));
  for (int k = 0; k < 8; k++) {
    const PetscScalar *part[3];
    const PetscInt     count[] = {c.nl, c.nu, n};
    PetscScalar       *to      = first;

    PetscCall(EngineFactor(e, &v.csr, NULL, &v.info));
    PetscCall((*e->ops->values)(e, &part[0], &part[1], &part[2]));
    for (int q = 0; q < 3; q++, to += count[q - 1]) {
      PetscBool same = PETSC_TRUE;

      if (k) PetscCall(PetscMemcmp(to, part[q], (size_t)count[q] * sizeof(*to), &same));
      else PetscCall(PetscArraycpy(to, part[q], count[q]));
      CHECK(same, "a shared row with large entries: factorization %d has other bits than the first one", k);
    }
  }
  PetscCall(PetscFree(first));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(ValuesDestroy(&v));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of 5 entries, one of so many of one of these lengths in turn, with columns anywhere. */
static PetscErrorCode RowsOfLengths(PetscInt n, PetscInt every, const PetscInt *lengths, PetscInt count, PetscRandom rand, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, n, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt length = i % every == every - 1 ? lengths[i / every % count] : 5;

    PetscCall(MatSetValue(*A, i, i, 1.0, INSERT_VALUES));
    /*
       of n - 1 columns beside the diagonal each is taken with the probability that length - 1 are, in the end
    */
    for (PetscInt k = 0, have = 0; k < n - 1 && have < length - 1; k++) {
      PetscReal r;

      PetscCall(PetscRandomGetValueReal(rand, &r));
      r = PetscAbsReal(r);
      if (r * (PetscReal)(n - 1 - k) >= (PetscReal)(length - 1 - have)) continue;
      PetscCall(MatSetValue(*A, i, k < i ? k : k + 1, 1.0, INSERT_VALUES));
      have++;
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rows around the width of a warp, and around what is compared instead of searched where two rows meet, with
   vectors of every size; rows just longer and much longer than shared memory takes where a warp or a block
   has one.
*/
static PetscErrorCode TestLengths(PetscRandom rand)
{
  const PetscInt warp[] = {32, 129, 64, 128, 33, 127, 63, 65, 31}, warps[] = {600, 601}, block[] = {2405, 2420};
  const struct {
    PetscInt        n, every, count;
    const PetscInt *lengths;
    PetscReal       relax;
    int             sizes; /* of vectors that are tried beside the library's choice */
  } rows[] = {
    {133,  7,    9, warp,  0.0, 6},
    {133,  7,    9, warp,  0.9, 0},
    {630,  315,  2, warps, 0.9, 0},
    {2450, 1225, 2, block, 0.0, 0}
  };

  PetscFunctionBegin;
  for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(rows); m++) {
    Mat  A;
    Case c;

    PetscCall(RowsOfLengths(rows[m].n, rows[m].every, rows[m].lengths, rows[m].count, rand, &A));
    PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, rows[m].relax, rand, &c));
    for (int size = 0; size <= rows[m].sizes; size++) {
      Values v;
      char   name[128];

      PetscCall(ValuesCreate(&c, &v));
      v.relax       = rows[m].relax;
      v.vector_size = size ? 1 << (size - 1) : 0;
      PetscCall(
        PetscSNPrintf(name, sizeof(name), "rows of %" PetscInt_FMT " entries and others, vector size %" PetscInt_FMT, rows[m].lengths[0], v.vector_size));
      PetscCall(TestValues(&c, &v, name));
      PetscCall(ValuesDestroy(&v));
    }
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a row of the matrix is multiplied by. */
static PetscReal Scale(int kind, PetscInt row, PetscInt n)
{
  /* from 1e-280 to 1e280, with what makes squares leave the range of numbers */
  const int powers[] = {-930, -540, -520, 515, 930};

  if (kind < 5) return (PetscReal)ldexp(1.0, powers[kind]);
  /* the quotients of two rows are numbers */
  if (kind == 5) return (PetscReal)ldexp(1.0, row < n / 2 ? 200 : -700);
  return (PetscReal)ldexp(1.0, row % 3 ? 530 : -400);
}

/*
   Matrices times a constant, or whose rows are: their factors are those of the host, which are the same up to
   the constants.
*/
static PetscErrorCode TestRange(PetscRandom rand)
{
  const char *const        patterns[] = {"tridiagonal:70", "7pt:5x4x3", "7pt:5x4x3", "27pt:4x3x3", "random:60"};
  const MatFactorShiftType shifts[]   = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};

  PetscFunctionBegin;
  for (int m = 0; m < 5; m++) {
    Mat  A;
    Case c;

    PetscCall(GenerateMatrix(patterns[m], 0, rand, &A));
    PetscCall(CaseCreate(A, m == 2 ? MATORDERINGRCM : MATORDERINGNATURAL, 0, 0.0, rand, &c));
    for (int kind = 0; kind < 7; kind++) {
      Values v;
      char   name[128];

      PetscCall(ValuesCreate(&c, &v));
      for (PetscInt i = 0; i < c.n; i++) {
        for (PetscInt k = c.csr.i[i]; k < c.csr.i[i + 1]; k++) *Entry(&v, i, c.csr.j[k]) *= Scale(kind, i, c.n);
      }
      v.relax          = kind % 2 ? 0.0 : 0.9;
      v.info.zeropivot = 0.0;
      v.info.shifttype = (PetscReal)shifts[(kind + m) % 4];
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s, rows times %g and %g, shift %s", patterns[m], (double)Scale(kind, 0, c.n),
                              (double)Scale(kind, c.n - 1, c.n), MatFactorShiftTypes[shifts[(kind + m) % 4]]));
      PetscCall(TestValues(&c, &v, name));
      PetscCall(ValuesDestroy(&v));
    }
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of U that is too large to be divided by its pivot is a breakdown of that row. */
static PetscErrorCode TestOverflow(PetscRandom rand)
{
  const PetscInt row = 5;
  Strategies     strategies;
  Mat            A;
  Case           c;
  Values         v;

  PetscFunctionBegin;
  PetscCall(StrategiesGet(&strategies));
  PetscCall(GenerateMatrix("27pt:4x3x3", 0, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  PetscCall(ValuesCreate(&c, &v));
  v.info.zeropivot = 0.0;
  for (PetscInt k = c.csr.i[row]; k < c.csr.i[row + 1]; k++) {
    if (c.csr.j[k] < row) *Entry(&v, row, c.csr.j[k]) = 0.0;
    if (c.csr.j[k] == row) *Entry(&v, row, row) = 1e-150;
  }
  *Entry(&v, row, c.csr.j[c.csr.i[row + 1] - 1]) = 1e200;
  for (int u = 0; u < strategies.nupdates; u++) {
    SyncILUEngine e;

    PetscCall(EngineFor(&c, &v, SYNCILU_BACKEND_CUDA, strategies.update[u], SYNCILU_ANALYSIS_AUTO, &e));
    PetscCall(EngineFactor(e, &v.csr, NULL, &v.info));
    CHECK(e->status.row == row && e->status.pivot == 1e-150 && !e->status.shift, "update %s: row %" PetscInt_FMT " rejected, pivot %g, not row %" PetscInt_FMT,
          SyncILUUpdates[strategies.update[u]], e->status.row, (double)e->status.pivot, row);
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscCall(ValuesDestroy(&v));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Lists of updates have their rounds counted beyond what an index can count: 2^33 here, which 32 bits take
   for none.
*/
static PetscErrorCode TestRounds(void)
{
  enum {
    ROWS = 8
  };
  int                order[ROWS], rounds[4 * ROWS], *d_order, *d_rounds, *d_width;
  unsigned long long sum = 0, *d_sum;
  SyncILUSlice       task[ROWS], *d_task;

  PetscFunctionBegin;
  for (int r = 0; r < ROWS; r++) {
    order[r]      = r;
    task[r].first = r;
    task[r].shape = 5 | 1 << 3;
    task[r].width = task[r].offset = 0;
    for (int k = 0; k < 4; k++) rounds[4 * r + k] = k == 3 ? 1 << 30 : 0;
  }
  PetscCall(Upload(order, sizeof(order), &d_order));
  PetscCall(Upload(rounds, sizeof(rounds), &d_rounds));
  PetscCall(Upload(task, sizeof(task), &d_task));
  PetscCall(Upload(&sum, sizeof(sum), &d_sum));
  PetscCall(Upload(NULL, ROWS * sizeof(int), &d_width));
  CallCUDA(SyncILUKernelListWidths(d_rounds, 5, d_order, ROWS, d_task, d_width, d_sum, NULL));
  CallCUDA(cudaDeviceSynchronize());
  CallCUDA(cudaMemcpy(&sum, d_sum, sizeof(sum), cudaMemcpyDeviceToHost));
  CHECK(sum == 1ull << 33, "%llu rounds, not 2^33", sum);
  CallCUDA(cudaFree(d_order));
  CallCUDA(cudaFree(d_rounds));
  CallCUDA(cudaFree(d_task));
  CallCUDA(cudaFree(d_sum));
  CallCUDA(cudaFree(d_width));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   missing;
  int         failed;

  PetscCall(BackendBegin(&argc, &argv, help, &missing, &rand));
  if (missing) return SKIPPED;
  PetscCall(SyncILUInitializePackage()); /* for the ordering bmc */
  PetscCall(TestRelaxed(rand));
  PetscCall(TestInodes(rand));
  PetscCall(TestCancellation(rand));
  PetscCall(TestShared(rand));
  PetscCall(TestLengths(rand));
  PetscCall(TestRange(rand));
  PetscCall(TestOverflow(rand));
  PetscCall(TestRounds());
  WatchEnd();
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("cuda_factor");
  PetscCall(PetscFinalize());
  return failed;
}
