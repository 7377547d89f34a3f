static char help
  [] = "Patterns that once took a multiple of their memory or lost their fast way on a GPU: what the plan holds, which way it takes, and what comes out.\n\n\
  -small    without the large ones\n\
  -only <s> those alone whose name contains s\n\n";

#include "check.h"
#include "case.h"
#include "gpu.h"

/* Entries beside those of a named pattern, or in place of them. */
typedef struct {
  PetscInt *i, *j, n, max;
} Entries;

static PetscErrorCode Enter(Entries *e, PetscInt i, PetscInt j)
{
  PetscFunctionBegin;
  if (e->n == e->max) {
    PetscInt *old[2] = {e->i, e->j};

    e->max = 2 * e->max + 1024;
    PetscCall(PetscMalloc2(e->max, &e->i, e->max, &e->j));
    PetscCall(PetscArraycpy(e->i, old[0], e->n));
    PetscCall(PetscArraycpy(e->j, old[1], e->n));
    PetscCall(PetscFree2(old[0], old[1]));
  }
  e->i[e->n]   = i;
  e->j[e->n++] = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An entry and the transposed one. */
static PetscErrorCode EnterBoth(Entries *e, PetscInt i, PetscInt j)
{
  PetscFunctionBegin;
  PetscCall(Enter(e, i, j));
  PetscCall(Enter(e, j, i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The named pattern, if there is one, with more entries; of n rows at least. */
static PetscErrorCode Build(const char *base, PetscInt n, Entries *e, PetscRandom rand, Mat *A)
{
  PetscInt *nnz;

  PetscFunctionBegin;
  if (base) {
    const PetscInt *i, *j;
    PetscBool       done;
    PetscInt        rows;
    Mat             B;

    PetscCall(GenerateMatrix(base, 0, rand, &B));
    PetscCall(MatGetRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &rows, &i, &j, &done));
    for (PetscInt r = 0; r < rows; r++) {
      for (PetscInt k = i[r]; k < i[r + 1]; k++) PetscCall(Enter(e, r, j[k]));
    }
    n = PetscMax(n, rows);
    PetscCall(MatRestoreRowIJ(B, 0, PETSC_FALSE, PETSC_FALSE, &rows, &i, &j, &done));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PetscCalloc1(n, &nnz));
  for (PetscInt k = 0; k < e->n; k++) nnz[e->i[k]]++;
  for (PetscInt r = 0; r < n; r++) nnz[r] = PetscMin(n, nnz[r] + 1);
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, nnz, A));
  for (PetscInt r = 0; r < n; r++) PetscCall(MatSetValue(*A, r, r, 1.0, INSERT_VALUES));
  for (PetscInt k = 0; k < e->n; k++) PetscCall(MatSetValue(*A, e->i[k], e->j[k], 1.0, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(*A, rand));
  PetscCall(PetscFree(nnz));
  PetscCall(PetscFree2(e->i, e->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is expected of a plan. */
typedef struct {
  const char *want, *never; /* what the view says, and what it does not; NULL: whatever */
  /* most bytes, in those of the matrix in CSR, before the first transposed solve */
  PetscReal held;
  /* and after it, without the values on the pattern and what describes the transposes by rows */
  PetscReal       transposed;
  SyncILUAnalysis analysis;
  SyncILUSolve    solve;
} Expected;

static PetscReal Distance(const Case *c, const PetscScalar *x, const PetscScalar *ref)
{
  PetscReal max = 0.0, most = 0.0;

  for (PetscInt i = 0; i < c->n; i++) {
    most = PetscMax(most, PetscAbsScalar(ref[i]));
    max  = PetscMax(max, PetscAbsScalar(x[i] - ref[i]));
  }
  return most > 0.0 ? max / most : max;
}

/* Solves with one and with several right-hand sides, compared with the reference; all in bits. */
static PetscErrorCode Solves(SyncILUEngine e, const Case *c, SyncILUTranspose trans, const char *name, PetscScalar *bits)
{
  const PetscInt counts[] = {1, c->nrhs};

  PetscFunctionBegin;
  for (int k = 0; k < (c->nrhs > 1 ? 2 : 1); k++) {
    PetscCall(SyncILUEngineSolve(e, trans, counts[k], c->b, c->ld, bits, c->ld, PETSC_MEMTYPE_HOST));
    for (PetscInt r = 0; r < counts[k]; r++) {
      const PetscReal d = Distance(c, bits + r * c->ld, c->x[trans == SYNCILU_TRANS] + r * c->ld);

      CHECK(d < 1e-12, "%s: solution %" PetscInt_FMT " of %" PetscInt_FMT ", transposed %d, is %g from the reference's", name, r, counts[k],
            trans == SYNCILU_TRANS, (double)d);
    }
    bits += c->ld * NRHS;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often the elimination updates an entry. */
static PetscErrorCode CountUpdates(const Case *c, PetscInt64 *updates)
{
  const SyncILUPattern *p = &c->pattern;
  PetscInt             *row;

  PetscFunctionBegin;
  *updates = 0;
  PetscCall(PetscMalloc1(c->n, &row));
  for (PetscInt i = 0; i < c->n; i++) row[i] = -1;
  for (PetscInt i = 0; i < c->n; i++) {
    row[i] = i;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) row[p->lcol[k]] = i;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) row[p->ucol[k]] = i;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      for (PetscInt u = p->uptr[p->lcol[k]]; u < p->uptr[p->lcol[k] + 1]; u++) *updates += row[p->ucol[u]] == i;
    }
  }
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPlan(const char *name, Mat A, PetscInt levels, const Expected *x, PetscRandom rand)
{
  SyncILUSettings   settings;
  SyncILUStatistics s;
  SyncILUEngine     e;
  MatFactorInfo     info;
  Arrays            arrays;
  SyncILUSource     source;
  Case              c;
  PetscScalar      *bits[2];
  PetscReal         csr, values;
  char              view[2048], unfit[128] = ""; /* why the device has no clusters */
  PetscBool         same;
  PetscInt64        updates[2];
  const SyncILUFill fill = {levels, 0};

  PetscFunctionBegin;
  Watch("%s", name);
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, levels, 0.0, rand, &c));
  SyncILUSettingsInitialize(&settings);
  settings.backend  = SYNCILU_BACKEND_CUDA;
  settings.analysis = x->analysis;
  settings.solve    = x->solve;
  arrays.host       = &c.csr;
  arrays.device     = NULL;
  csr               = 12.0 * (PetscReal)c.csr.nnz + 4.0 * (PetscReal)(c.n + 1);
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineCreate(&settings, c.n, &source, NULL, NULL, fill, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c.piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(EngineView(e, view, sizeof(view)));
  if (x->want && (strstr(x->want, "cluster") || strstr(x->want, "lines") || strstr(x->want, "stencil")))
    PetscCall((*e->ops->fits)(e, SYNCILU_SOLVE_CLUSTER, unfit, sizeof(unfit)));
  if (x->want && !unfit[0]) CHECK(strstr(view, x->want), "%s: wanted \"%s\", got:\n%s", name, x->want, view);
  if (x->never) CHECK(!strstr(view, x->never), "%s: did not want \"%s\", got:\n%s", name, x->never, view);
  PetscCall(PetscCalloc2(4 * c.ld * NRHS, &bits[0], 4 * c.ld * NRHS, &bits[1]));
  for (int run = 0; run < 2; run++) {
    PetscCall(EngineFactor(e, &c.csr, NULL, &info));
    CHECK(e->status.row < 0, "%s: zero pivot in row %" PetscInt_FMT, name, e->status.row);
    if (run == 0) {
      PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.ld, bits[0], c.ld, PETSC_MEMTYPE_HOST));
      PetscCall(SyncILUEngineStatistics(e, &s));
      /*
         the matrix comes from the host: its values are copied, and the columns and the room for a right-hand
         side come on top
      */
      values = 12.0 * (PetscReal)c.csr.nnz + 8.0 * (PetscReal)c.n;
      printf("%s: %.2f times the matrix", name, ((PetscReal)s.bytes - values) / csr);
      if (x->held > 0.0)
        CHECK((PetscReal)s.bytes - values <= x->held * csr, "%s: holds %.2f times the bytes of the matrix", name, ((PetscReal)s.bytes - values) / csr);
      PetscCall(SyncILUEngineSolve(e, SYNCILU_TRANS, 1, c.b, c.ld, bits[0], c.ld, PETSC_MEMTYPE_HOST));
      PetscCall(SyncILUEngineStatistics(e, &s));
      /* W and U' on the pattern, and columns and places of the entries of both transposes */
      values += 8.0 * (PetscReal)c.csr.nnz + 8.0 * (PetscReal)(c.csr.nnz - c.n) + 8.0 * (PetscReal)(c.n + 1);
      printf(", %.2f after a transposed solve\n", ((PetscReal)s.bytes - values) / csr);
      if (x->transposed > 0.0)
        CHECK((PetscReal)s.bytes - values <= x->transposed * csr, "%s: holds %.2f times the bytes of the matrix after a transposed solve", name,
              ((PetscReal)s.bytes - values) / csr);
    }
    PetscCall(Solves(e, &c, SYNCILU_NOTRANS, name, bits[run]));
    PetscCall(Solves(e, &c, SYNCILU_TRANS, name, bits[run] + 2 * c.ld * NRHS));
  }
  CHECK(s.levels[0] > 0 && s.levels[1] > 0 && s.level_rows[0] > 0 && s.level_rows[1] > 0 && s.level_rows[0] * s.levels[0] >= c.n &&
          s.level_rows[1] * s.levels[1] >= c.n,
        "%s: %" PetscInt_FMT " and %" PetscInt_FMT " levels of at most %" PetscInt_FMT " and %" PetscInt_FMT " rows", name, s.levels[0], s.levels[1],
        s.level_rows[0], s.level_rows[1]);
  PetscCall((*e->ops->updates)(e, &updates[0]));
  PetscCall(CountUpdates(&c, &updates[1]));
  CHECK(updates[0] == updates[1], "%s: %" PetscInt64_FMT " updates, of which the device finds %" PetscInt64_FMT, name, updates[1], updates[0]);
  PetscCall(PetscArraycmp(bits[0], bits[1], 4 * c.ld * NRHS, &same));
  CHECK(same, "%s: other bits in the second run", name);
  PetscCall(PetscFree2(bits[0], bits[1]));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(CaseDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Names of patterns on grids. */
static PetscErrorCode TestNamed(const char *only, PetscBool small, PetscRandom rand)
{
  static const char skewed[] = "rows on a skewed grid of";
  const struct {
    const char *pattern;
    PetscBool   large;
    Expected    x;
  } named[] = {
  /*
     thin skewed grids; the thinnest would be padding for the most part, where there is enough of it to matter
  */
    {"27pt:4x4x50",             PETSC_FALSE, {skewed, NULL, 3.7, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL}                                                 },
    {"27pt:4x4x810",            PETSC_TRUE,  {NULL, skewed, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL}                                                 },
    {"27pt:16x16x40",           PETSC_FALSE, {skewed, NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL}                                                 },
    {"27pt:9x4x4",              PETSC_FALSE, {NULL, NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                                  },
    {"27pt:16x16x800",          PETSC_TRUE,  {skewed, NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL}                                                 },
    {"27pt:10x500x1",           PETSC_FALSE, {skewed, NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL}                                                 },
    {"27pt:10x32000x1",         PETSC_TRUE,  {skewed, NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL}                                                 },
 /* for which auto goes along lines, or takes a cluster where these are short, if the device has what that needs */
    {"15pt:20x20x20",           PETSC_FALSE, {"stencil of 15 points", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                },
    {"27pt:16x16x40",           PETSC_FALSE, {"which a cluster goes through", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                        },
    {"7pt:6x6x200",             PETSC_FALSE, {"lines of 200 rows, which are 36 apart", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}               },
    {"tridiagonal:5000",        PETSC_FALSE, {"parts of chains", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                     },
    {"5pt:100x100",             PETSC_FALSE, {"32 x 1 lines of 100 rows, which are 1 apart", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}         },
    {"triangles:200x64",        PETSC_FALSE, {"stencil of 9 points, ", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                               },
    {"25pt:24x17x21",           PETSC_FALSE, {"stencil of 25 points", NULL, 3.5, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                },
    {"27pt:80x40x24",           PETSC_TRUE,  {"stencil of 27 points", NULL, 3.5, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                },
    {"15pt:60x60x60",           PETSC_TRUE,  {"stencil of 15 points", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                },
 /* four wide levels, and many narrow ones */
    {"lshape:40000",            PETSC_TRUE,  {"a cluster goes through faster, wide ones left to all", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}},
 /* points of several unknowns */
    {"pairs:12x7x5",            PETSC_FALSE, {"grid: 12 x 7 x 5 points of 2 unknowns, found", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}      },
    {"triples:20x11",           PETSC_FALSE, {"grid: 20 x 11 x 1 points of 3 unknowns, found", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}     },
 /* asked for in vain */
    {"15pt_random:7x8x9",       PETSC_FALSE, {"struct is asked for, but a row has 14 entries", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}     },
    {"5pt_periodic:20x30",      PETSC_FALSE, {"struct is asked for, but ", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}                         },
    {"elasticity_random:5x4x4", PETSC_FALSE, {"struct is asked for, but ", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}                         },
    {"7pt:9x8x7",               PETSC_FALSE, {"struct is asked for, but it goes along the lines", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_ASAP, SYNCILU_SOLVE_STRUCT}  },
 /* a box of skewed extents of 2,853 million points */
    {"27pt:40x40x1100",         PETSC_TRUE,  {skewed, NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL}                                                 },
 /* rows that several threads share, and empty rows of a transpose */
    {"denserow:1400",           PETSC_FALSE, {"order: by latest level", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_ALAP, SYNCILU_SOLVE_AUTO}                              },
    {"denserow:1000000",        PETSC_TRUE,  {"order: by latest level", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_ALAP, SYNCILU_SOLVE_AUTO}                              },
    {"bidiagonal:700",          PETSC_FALSE, {NULL, NULL, 0.0, 0.0, SYNCILU_ANALYSIS_ASAP, SYNCILU_SOLVE_AUTO}                                                  },
 /* unsymmetric, with wide levels */
    {"random:500000",           PETSC_TRUE,  {"order: by latest level", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                              }
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(named); k++) {
    Mat A;

    if ((small && named[k].large) || !strstr(named[k].pattern, only)) continue;
    PetscCall(GenerateMatrix(named[k].pattern, 0, rand, &A));
    PetscCall(TestPlan(named[k].pattern, A, 0, &named[k].x, rand));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Levels of fill, whose pattern the device makes. Fill of a star reaches to one side, and up to two levels a
   row lacks only what leaves the grid, so that it is a stencil again. More levels lack some at the ends of
   lines too.
*/
static PetscErrorCode TestFilled(const char *only, PetscBool small, PetscRandom rand)
{
  const struct {
    const char *pattern;
    PetscInt    levels;
    PetscBool   large;
    Expected    x;
  } filled[] = {
    {"7pt:64x40x16", 1, PETSC_FALSE, {"stencil of 13 points", "of whose entries", 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}          },
    {"7pt:64x60x24", 2, PETSC_TRUE,  {"stencil of 23 points", "of whose entries", 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}          },
    {"7pt:20x9x8",   2, PETSC_FALSE, {"stencil of 23 points", "of whose entries", 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}        },
    {"5pt:100x60",   1, PETSC_FALSE, {"stencil of 7 points", "of whose entries", 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}           },
    {"5pt:100x60",   2, PETSC_FALSE, {"stencil of 9 points", "of whose entries", 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}         },
    {"5pt:40x40",    4, PETSC_FALSE, {"stencil of 17 points, 150 of whose entries", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}},
    {"7pt:10x9x8",   3, PETSC_FALSE, {"struct is asked for, but a row has ", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}       },
    {"27pt:9x8x7",   1, PETSC_FALSE, {"struct is asked for, but a row has ", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT}       }
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(filled); k++) {
    char name[64];
    Mat  A;

    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, levels %" PetscInt_FMT, filled[k].pattern, filled[k].levels));
    if ((small && filled[k].large) || !strstr(name, only)) continue;
    PetscCall(GenerateMatrix(filled[k].pattern, 0, rand, &A));
    PetscCall(TestPlan(name, A, filled[k].levels, &filled[k].x, rand));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries that a pattern gets. */
static PetscErrorCode Hubs(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    if (i >= 40) PetscCall(EnterBoth(e, i, i - 40));
    for (PetscInt k = 1; k <= 30 && i % 32 == 0; k++) {
      if (i >= k) PetscCall(Enter(e, i, i - k));
      if (i + k < n) PetscCall(Enter(e, i, i + k));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on both sides of the diagonal, and a few rows of many entries more. */
static PetscErrorCode Circuit(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    if (i >= 40) PetscCall(EnterBoth(e, i, i - 40));
    for (PetscInt k = 1; k <= 30 && i % 32 == 0 && i >= k; k++) PetscCall(EnterBoth(e, i, i - k));
    for (PetscInt k = 1; k <= 300 && i % 64 == 0; k++) PetscCall(EnterBoth(e, i, (i + 9 * k) % n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Eight chains, whose levels are narrow, and in the middle a row of all entries before it, which so many
   warps share that a cluster sums it up from memory; the 160 rows behind it wait for it alone, in several
   blocks of the cluster.
*/
static PetscErrorCode Gate(PetscInt n, Entries *e)
{
  const PetscInt middle = n / 2;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < middle; j++) PetscCall(EnterBoth(e, middle, j));
  for (PetscInt i = 8; i < n; i++) {
    if (i == middle) continue;
    PetscCall(EnterBoth(e, i, i > middle && i <= middle + 160 ? middle : i - 8));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eight chains of a fifth of the rows; all others are on one level, which is too wide for a cluster and is solved without. */
static PetscErrorCode Flood(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = n - n / 5; i < n; i++) PetscCall(EnterBoth(e, i, i - 8));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A full first column: chains of the rows, and a dense row of the transpose. */
static PetscErrorCode Spine(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 1; i < n; i++) {
    PetscCall(Enter(e, i, 0));
    PetscCall(Enter(e, i, i - 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dense last row and a dense last column. */
static PetscErrorCode Border(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n - 1; i++) PetscCall(EnterBoth(e, i, n - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Neighbours around the ends of the lines of a grid with lines of 20 points; of its planes of lines; of both.
*/
static PetscErrorCode AroundLines(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i += 20) PetscCall(EnterBoth(e, i, i + 19));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AroundPlanes(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < 20; i++) PetscCall(EnterBoth(e, i, n - 20 + i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AroundBoth(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  PetscCall(AroundLines(n, e));
  PetscCall(AroundPlanes(n, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two more entries in a row, and seven in the last one. */
static PetscErrorCode Two(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  PetscCall(Enter(e, n / 2, n / 5));
  PetscCall(Enter(e, n / 2, n / 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Seven(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < 7; k++) PetscCall(Enter(e, n - 1, n / 11 * k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A full row and column in the middle, and a full row alone. */
static PetscErrorCode Middle(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) PetscCall(EnterBoth(e, i, n / 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Row(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i += 2) PetscCall(Enter(e, n / 3, i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Five rows that depend on rows which are not behind them on a grid, two of them in one tile. */
static PetscErrorCode Far(PetscInt n, Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt k = 1; k < 5; k++) PetscCall(EnterBoth(e, 241 * k, 241 * k - 100));
  PetscCall(EnterBoth(e, 242, 150));
  (void)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries of a stencil on a grid. */
static PetscErrorCode Stencil(const PetscInt m[3], PetscInt points, const PetscInt point[][3], Entries *e)
{
  PetscFunctionBegin;
  for (PetscInt z = 0; z < m[2]; z++) {
    for (PetscInt y = 0; y < m[1]; y++) {
      for (PetscInt x = 0; x < m[0]; x++) {
        for (PetscInt k = 0; k < points; k++) {
          const PetscInt to[3] = {x + point[k][0], y + point[k][1], z + point[k][2]};

          if (to[0] < 0 || to[0] >= m[0] || to[1] < 0 || to[1] >= m[1] || to[2] < 0 || to[2] >= m[2]) continue;
          PetscCall(Enter(e, x + m[0] * (y + m[1] * z), to[0] + m[0] * (to[1] + m[1] * to[2])));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L and U have other points, on both sides of the lines before and behind. */
static PetscErrorCode Unsymmetric(PetscInt n, Entries *e)
{
  const PetscInt m[3] =
    {
      n / 72, 9, 8
  },
                 points[][3] = {{-1, 0, 0}, {1, -1, 0}, {0, 1, -1}, {-2, 0, -1}, {1, 0, 0}, {0, 1, 0}, {2, 0, 1}, {0, 0, 1}};

  PetscFunctionBegin;
  PetscCall(Stencil(m, 8, points, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nothing but what is before, along lines that do not follow the numbering. */
static PetscErrorCode Reaching(PetscInt n, Entries *e)
{
  const PetscInt m[3] =
    {
      7, 5, n / 35
  },
                 points[][3] = {{-1, 0, 0}, {0, -1, 0}, {0, 0, -4}, {0, 0, -1}};

  PetscFunctionBegin;
  PetscCall(Stencil(m, 4, points, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, of which each row lacks some, its neighbour too or not. */
static PetscErrorCode Pierced(PetscInt n, PetscInt points, const PetscInt point[][3], PetscBool both, Entries *e)
{
  const PetscInt m[3] = {20, 12, n / 240};
  PetscInt       kept = 0;

  PetscFunctionBegin;
  PetscCall(Stencil(m, points, point, e));
  for (PetscInt k = 0; k < e->n; k++) {
    const PetscInt i = both ? PetscMin(e->i[k], e->j[k]) : e->i[k], j = both ? PetscMax(e->i[k], e->j[k]) : e->j[k];

    /* one row has all of them */
    if ((unsigned)(i * 7919 + j * 104729) % 5 == 0 && e->i[k] != n / 2 + 130 && e->j[k] != n / 2 + 130) continue;
    e->i[kept]   = e->i[k];
    e->j[kept++] = e->j[k];
  }
  e->n = kept;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const PetscInt star[][3] = {
  {-1, 0,  0 },
  {1,  0,  0 },
  {0,  -1, 0 },
  {0,  1,  0 },
  {0,  0,  -1},
  {0,  0,  1 }
};
static const PetscInt box[][3] = {
  {-1, 0,  0},
  {1,  0,  0},
  {0,  -1, 0},
  {0,  1,  0},
  {-1, -1, 0},
  {1,  -1, 0},
  {-1, 1,  0},
  {1,  1,  0}
};

static PetscErrorCode Holes(PetscInt n, Entries *e)
{
  return Pierced(n, 6, star, PETSC_TRUE, e);
}

/* Rows that depend on others which do not depend on them. */
static PetscErrorCode OneWay(PetscInt n, Entries *e)
{
  return Pierced(n, 6, star, PETSC_FALSE, e);
}

/* Planes that know nothing of each other, as of many small problems together. */
static PetscErrorCode Planes(PetscInt n, Entries *e)
{
  return Pierced(n, 8, box, PETSC_TRUE, e);
}

/* Rows of the boundary have a diagonal alone. */
static PetscErrorCode Boundary(PetscInt n, Entries *e)
{
  const PetscInt m[3] = {100, n / 100, 1};
  PetscInt       kept = 0;

  PetscFunctionBegin;
  PetscCall(Stencil(m, 8, box, e));
  for (PetscInt k = 0; k < e->n; k++) {
    const PetscInt x = e->i[k] % 100, y = e->i[k] / 100;

    if (x == 0 || x == 99 || y == 0 || y == m[1] - 1) continue;
    e->i[kept]   = e->i[k];
    e->j[kept++] = e->j[k];
  }
  e->n = kept;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whatever memory it takes, ell says this of its order. */
#define TILED(order) \
  { \
    order, NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_ELL \
  }

/* And struct this. */
#define LINED(order) \
  { \
    order, NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_STRUCT \
  }

/* Patterns of their own. */
static PetscErrorCode TestBuilt(const char *only, PetscBool small, PetscRandom rand)
{
  const struct {
    const char *name, *base;
    PetscErrorCode (*enter)(PetscInt, Entries *);
    PetscInt n[2]; /* small, large */
    Expected x;
  } built[] = {
    {"hubs",                      NULL,               Hubs,         {3000, 20000},   {NULL, NULL, 5.0, 6.5, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                                  },
    {"hubs in numerical order",   NULL,               Hubs,         {3000, 20000},   {NULL, NULL, 4.1, 5.2, SYNCILU_ANALYSIS_NONE, SYNCILU_SOLVE_AUTO}                                                  },
    {"circuit",                   NULL,               Circuit,      {3000, 100000},  {"warps share", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                         },
    {"spine",                     NULL,               Spine,        {8000, 20000},   {NULL, NULL, 3.0, 5.25, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                                 },
 /* rows that several warps share */
    {"gate",                      NULL,               Gate,         {5000, 20000},   {"a cluster", NULL, 5.2, 0.0, SYNCILU_ANALYSIS_ASAP, SYNCILU_SOLVE_AUTO}                                           },
    {"flood",                     NULL,               Flood,        {30000, 60000},  {"a cluster goes through faster, wide ones left to all", NULL, 4.0, 0.0, SYNCILU_ANALYSIS_ASAP, SYNCILU_SOLVE_AUTO}},
    {"border",                    NULL,               Border,       {5000, 1000000}, {NULL, NULL, 3.0, 4.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                                  },
    {"border in numerical order", NULL,               Border,       {5000, 1000000}, {NULL, NULL, 3.0, 4.0, SYNCILU_ANALYSIS_NONE, SYNCILU_SOLVE_AUTO}                                                  },
 /* a few unusual rows in patterns that are taken in tiles without them */
    {"two",                       "tridiagonal:5000", Two,          {5000, 5000},    TILED("row blocks of 32 rows")                                                                                     },
    {"chain with a long row",     "tridiagonal:3000", Row,          {3000, 3000},    TILED("parts of chains, 1 row alone")                                                                              },
    {"seven",                     "7pt:12x11x10",     Seven,        {1320, 1320},    TILED("grid of 12 x 11 x 10, 1 row alone")                                                                         },
    {"seven, along lines",        "7pt:12x11x10",     Seven,        {1320, 1320},    LINED("struct is asked for, but the entries of row 1319 fit no grid")                                              },
    {"unsymmetric stencil",       NULL,               Unsymmetric,  {1440, 7200},    LINED("stencil of 9 points")                                                                                       },
    {"reaching stencil",          NULL,               Reaching,     {1400, 7000},    LINED("rows, which are 35 apart; stencil of 5 points")                                                             },
    {"holes",                     NULL,               Holes,        {1920, 12000},   LINED("of whose entries")                                                                                          },
    {"holes of a side",           NULL,               OneWay,       {1920, 12000},   LINED("of whose entries")                                                                                          },
    {"boundary",                  NULL,               Boundary,     {6400, 40000},   {"stencil", NULL, 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                             },
    {"planes",                    NULL,               Planes,       {24000, 48000},  {NULL, "stencil of", 3.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                          },
    {"planes, along lines",       NULL,               Planes,       {1920, 6000},    LINED("of whose entries")                                                                                          },
    {"grid with border",          "5pt:60x60",        Border,       {3600, 3600},    TILED("grid of 60 x 60 x 1, 1 row alone")                                                                          },
    {"grid with border by auto",  "5pt:60x60",        Border,       {3600, 3600},    {"1 row alone", NULL, 0.0, 0.0, SYNCILU_ANALYSIS_AUTO, SYNCILU_SOLVE_AUTO}                                         },
    {"grid and multiplier",       "5pt:60x60",        Border,       {3601, 3601},    TILED("grid of 60 x 60 x 1, 1 row alone")                                                                          },
    {"grid with hub",             "7pt:12x11x10",     Middle,       {1320, 1320},    TILED("grid of 12 x 11 x 10, 1 row alone")                                                                         },
    {"grid with row",             "15pt:12x11x10",    Row,          {1320, 1320},    TILED("grid of 12 x 11 x 10, 1 row alone")                                                                         },
    {"skewed grid with hub",      "27pt:12x11x10",    Middle,       {1320, 1320},    TILED("skewed grid of 12 x 11 x 10, 1 row alone")                                                                  },
    {"points with hub",           "elasticity:7x6x5", Middle,       {630, 630},      TILED("row blocks of 3 rows, those of a point, 1 row alone")                                                       },
    {"grid with far entries",     "7pt:12x11x10",     Far,          {1320, 1320},    TILED("grid of 12 x 11 x 10, ")                                                                                    },
    {"periodic in x",             "5pt:20x100",       AroundLines,  {2000, 2000},    TILED("grid of 20 x 100 x 1\n")                                                                                    },
    {"periodic in y",             "5pt:20x100",       AroundPlanes, {2000, 2000},    TILED("grid of 20 x 100 x 1\n")                                                                                    },
    {"periodic in both",          "5pt:20x100",       AroundBoth,   {2000, 2000},    TILED("grid of 20 x 100 x 1\n")                                                                                    },
    {"periodic and skewed",       "27pt:20x100x1",    AroundLines,  {2000, 2000},    TILED("order: ")                                                                                                   }
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(built); k++) {
    Entries e = {NULL, NULL, 0, 0};
    Mat     A;

    if (!strstr(built[k].name, only)) continue;
    PetscCall((*built[k].enter)(built[k].n[!small], &e));
    PetscCall(Build(built[k].base, built[k].n[!small], &e, rand, &A));
    PetscCall(TestPlan(built[k].name, A, 0, &built[k].x, rand));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   small    = PETSC_FALSE;
  char        only[64] = "";
  int         failed;

  if (GpuMissing()) return SKIPPED;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), NULL));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  watch_seconds = 120;
  PetscCall(TestNamed(only, small, rand));
  PetscCall(TestFilled(only, small, rand));
  PetscCall(TestBuilt(only, small, rand));
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = CheckReport("cuda_defects");
  PetscCall(PetscFinalize());
  return failed;
}
