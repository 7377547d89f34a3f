static char help[] = "The symbolic phase on a device against that of the host: the ordering bmc row by row, permuted patterns, levels of fill,\n\
diagonals that are missing, patterns that are searched for.\n\
  -small   few rows, for a device that is none\n\
  -blocks  solves and factorizations by blocks alone\n\
  -lines   solves with lines of right-hand sides that are gathered alone\n\n";

#include "check.h"
#include "bmc.h"
#include "cuda/plan.h"
#include "cuda/struct.h"
#include "gpu_case.h"
#include "gpu.h"

static PetscBool small;

/* A matrix in CSR on the host, of which some diagonals may be taken away. */
typedef struct {
  SyncILUCSR csr;
  PetscInt  *i, *j;
  char       name[96];
} Rows;

static PetscErrorCode RowsCreate(const char *pattern, PetscInt n, PetscRandom rand, PetscBool holes, Rows *m)
{
  Mat             A;
  PetscInt        rows, nnz = 0;
  const PetscInt *ptr, *col;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, n, rand, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ptr, &col, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No rows");
  PetscCall(PetscMemzero(m, sizeof(*m)));
  PetscCall(PetscMalloc2(rows + 1, &m->i, ptr[rows], &m->j));
  for (PetscInt r = 0; r < rows; r++) {
    m->i[r] = nnz;
    for (PetscInt k = ptr[r]; k < ptr[r + 1]; k++) {
      if (!holes || col[k] != r || r % 3) m->j[nnz++] = col[k];
    }
  }
  m->i[rows] = nnz;
  m->csr.n   = rows;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &ptr, &col, &done));
  PetscCall(MatDestroy(&A));
  m->csr.nnz = nnz;
  m->csr.i   = m->i;
  m->csr.j   = m->j;
  m->csr.mem = PETSC_MEMTYPE_HOST;
  PetscCall(PetscSNPrintf(m->name, sizeof(m->name), "%s of %" PetscInt_FMT " rows%s", pattern, m->csr.n, holes ? ", a third without diagonal" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *m)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(m->i, m->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan and as much of an engine as the symbolic phase looks at. */
typedef struct {
  struct _n_SyncILUEngine e;
  Plan                    plan;
  int                     before;
  PetscBool               regular;
} Phase;

static PetscErrorCode PhaseCreate(const Rows *m, SyncILUOrdering ordering, PetscInt size, PetscBool along, const PetscInt *row, const PetscInt *col,
                                  SyncILUFill fill, Phase *s)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  SyncILUSettingsInitialize(&s->e.settings);
  s->e.settings.ordering    = ordering;
  s->e.settings.block_size  = size;
  s->e.settings.block_along = along;
  s->e.n                    = m->csr.n;
  s->e.fill                 = fill;
  s->e.row                  = row;
  s->e.col                  = col;
  PetscCall(PlanCreate(&s->plan, &s->e.settings));
  PetscCall(PlanEnter(&s->plan, &s->before));
  PetscCall(PlanFromMatrix(&s->plan, &s->e, &m->csr, &s->regular));
  CHECK(!s->plan.unfit[0], "%s: %s", m->name, s->plan.unfit);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PhaseDestroy(Phase *s)
{
  PetscFunctionBegin;
  PetscCall(PlanLeave(&s->plan, s->before));
  PetscCall(PlanDestroy(&s->plan));
  PetscCall(SyncILUPatternDestroy(&s->e.pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the ordering of the plan is this one; NULL: the natural one. */
static PetscErrorCode CheckOrdering(const Phase *s, const PetscInt *row, PetscInt n, const char *what)
{
  PetscInt bad = -1;
  int     *have;

  PetscFunctionBegin;
  CHECK(!s->plan.row == !row || !n, "%s: ordered %d", what, s->plan.row != NULL);
  if (!s->plan.row || !row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &have));
  PetscCall(DeviceReadBack(s->plan.stream, have, s->plan.row, (size_t)n * sizeof(int)));
  for (PetscInt i = n - 1; i >= 0; i--) {
    if (have[i] != row[i]) bad = i;
  }
  CHECK(bad < 0, "%s: position %" PetscInt_FMT " has row %d, on the host row %" PetscInt_FMT, what, bad, have[bad], row[bad]);
  PetscCall(PetscFree(have));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the pattern of the plan is that one. */
static PetscErrorCode CheckPattern(Phase *s, const SyncILUPattern *want, const char *what)
{
  const PetscInt       n   = want->n;
  const PetscInt64     nnz = (PetscInt64)want->nl + want->nu + n;
  SyncILUDevicePattern p;
  int                 *ptr, *col, *diag, k = 0;
  PetscInt             bad = -1;

  PetscFunctionBegin;
  CHECK(s->plan.nnz == nnz && s->plan.part[0] == want->nl && s->plan.part[1] == want->nu,
        "%s: %d entries, %d and %d of them in L and U, on the host %" PetscInt64_FMT ", %" PetscInt_FMT " and %" PetscInt_FMT, what, s->plan.nnz,
        s->plan.part[0], s->plan.part[1], nnz, want->nl, want->nu);
  CHECK(s->e.pattern.added == want->added && s->e.pattern.same == want->same && s->e.pattern.nl == want->nl && s->e.pattern.nu == want->nu,
        "%s: %" PetscInt_FMT " diagonals added, the same %d", what, s->e.pattern.added, (int)s->e.pattern.same);
  if (s->plan.nnz != nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc3(n + 1, &ptr, nnz, &col, n, &diag));
  PetscCall(PlanGetPattern(&s->plan, &p));
  PetscCall(DeviceReadBack(s->plan.stream, ptr, p.ptr, (size_t)(n + 1) * sizeof(int)));
  PetscCall(DeviceReadBack(s->plan.stream, col, p.col, (size_t)nnz * sizeof(int)));
  PetscCall(DeviceReadBack(s->plan.stream, diag, p.diag, (size_t)n * sizeof(int)));
  PetscCall(PlanRestorePattern(&s->plan, &p));
  for (PetscInt i = 0; i < n && bad < 0; i++) {
    if (ptr[i] != k) bad = i;
    for (PetscInt e = want->lptr[i]; e < want->lptr[i + 1] && bad < 0; e++) {
      if (col[k++] != want->lcol[e]) bad = i;
    }
    if (bad < 0 && (diag[i] != k || col[k++] != i)) bad = i;
    for (PetscInt e = want->uptr[i]; e < want->uptr[i + 1] && bad < 0; e++) {
      if (col[k++] != want->ucol[e]) bad = i;
    }
  }
  CHECK(bad < 0 && ptr[n] == nnz, "%s: row %" PetscInt_FMT " is another", what, bad);
  PetscCall(PetscFree3(ptr, col, diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering bmc, with and without colors along the numbering and fill. */
static PetscErrorCode TestBMC(const Rows *m, PetscInt size, PetscBool along, SyncILUFill fill)
{
  SyncILUPattern want;
  SyncILUBMC     o;
  Phase          s;
  char           what[160];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "bmc of %s, size %" PetscInt_FMT "%s, %" PetscInt_FMT " levels", m->name, size,
                          along ? " along the numbering" : "", fill.levels));
  Watch("%s", what);
  PetscCall(SyncILUBMCCreate(m->csr.n, m->i, m->j, size, along, &o));
  PetscCall(SyncILUPatternCreate(&m->csr, o.row, o.row, fill, &want));
  PetscCall(PhaseCreate(m, SYNCILU_ORDERING_BMC, size, along, NULL, NULL, fill, &s));
  CHECK(s.regular, "%s: not done", what);
  if (s.regular) {
    const SyncILUBlocks *b = &s.e.blocks;

    CHECK(b->size == o.size && b->blocks == o.blocks && b->colors == o.colors && b->matched == o.matched && b->along == o.along,
          "%s: %" PetscInt_FMT " blocks, %" PetscInt_FMT " colors, matched %d, on the host %" PetscInt_FMT ", %" PetscInt_FMT ", %d", what, b->blocks,
          b->colors, (int)b->matched, o.blocks, o.colors, (int)o.matched);
    PetscCall(CheckOrdering(&s, o.row, m->csr.n, what));
    want.same = (PetscBool)(want.same && !s.plan.row);
    PetscCall(CheckPattern(&s, &want, what));
  }
  PetscCall(PhaseDestroy(&s));
  PetscCall(SyncILUPatternDestroy(&want));
  PetscCall(SyncILUBMCDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of several unknowns, whose blocks may be smaller than they could be, and are in some cases. */
static PetscErrorCode TestAligned(PetscRandom rand)
{
  const char *const patterns[] = {"elasticity_morton:8x8x8", "5pt_dof3_morton:16x16", "5pt_dof3:40x10", "elasticity_random:6x6x6", "7pt_dof40_morton:4x4x4"};
  const PetscInt    sizes[]    = {32, 17, 100};
  const SyncILUFill none       = {0, 0};
  int               aligned    = 0;

  PetscFunctionBegin;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(patterns); p++) {
    Rows m;

    PetscCall(RowsCreate(patterns[p], 0, rand, PETSC_FALSE, &m));
    for (int s = 0; s < 6; s++) {
      SyncILUBMC o;

      PetscCall(TestBMC(&m, sizes[s / 2], (PetscBool)(s & 1), none));
      PetscCall(SyncILUBMCCreate(m.csr.n, m.csr.i, m.csr.j, sizes[s / 2], (PetscBool)(s & 1), &o));
      if (o.size < sizes[s / 2]) aligned++;
      PetscCall(SyncILUBMCDestroy(&o));
    }
    PetscCall(RowsDestroy(&m));
  }
  CHECK(aligned > 5, "blocks are smaller than they could be in %d cases alone", aligned);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns that are ordered apart, with all diagonals filled in. */
static PetscErrorCode TestGiven(const Rows *m, PetscBool natural, SyncILUFill fill, PetscRandom rand)
{
  const PetscInt n = m->csr.n;
  PetscInt      *order[2];
  SyncILUPattern want;
  Phase          s;
  char           what[160];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s order, %" PetscInt_FMT " levels", m->name, natural ? "natural" : "random", fill.levels));
  Watch("%s", what);
  PetscCall(PetscMalloc2(n, &order[0], n, &order[1]));
  for (int k = 0; k < 2; k++) {
    for (PetscInt i = 0; i < n; i++) {
      PetscReal      r;
      PetscInt       other;
      const PetscInt last = i;

      PetscCall(PetscRandomGetValueReal(rand, &r));
      other           = PetscMin((PetscInt)(PetscAbsReal(r) * (i + 1)), i);
      order[k][last]  = order[k][other];
      order[k][other] = i;
    }
  }
  PetscCall(SyncILUPatternCreate(&m->csr, natural ? NULL : order[0], natural ? NULL : order[1], fill, &want));
  PetscCall(PhaseCreate(m, SYNCILU_ORDERING_GIVEN, 0, PETSC_FALSE, natural ? NULL : order[0], natural ? NULL : order[1], fill, &s));
  CHECK(s.regular, "%s: not done", what);
  if (s.regular) {
    PetscCall(CheckOrdering(&s, natural ? NULL : order[0], n, what));
    PetscCall(CheckPattern(&s, &want, what));
  }
  PetscCall(PhaseDestroy(&s));
  PetscCall(SyncILUPatternDestroy(&want));
  PetscCall(PetscFree2(order[0], order[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The choice between bmc and the natural ordering, and its reason. */
static PetscErrorCode TestAuto(const Rows *m)
{
  const SyncILUFill fill = {0, 0};
  SyncILUBlocks     want = {.request = SYNCILU_ORDERING_AUTO, .size = SYNCILU_BMC_SIZE};
  SyncILUSettings   settings;
  PetscInt         *row;
  PetscBool         same;
  Phase             s;

  PetscFunctionBegin;
  Watch("auto of %s", m->name);
  SyncILUSettingsInitialize(&settings);
  PetscCall(SyncILUBlocksChoose(&settings, Reorder_CUDA, &m->csr, &want));
  PetscCall(SyncILUBlocksOrder(&m->csr, &row, &want));
  PetscCall(PhaseCreate(m, SYNCILU_ORDERING_AUTO, SYNCILU_BMC_SIZE, PETSC_FALSE, NULL, NULL, fill, &s));
  CHECK(s.regular, "%s: not done", m->name);
  PetscCall(CheckOrdering(&s, row, m->csr.n, m->name));
  PetscCall(PetscStrcmp(want.why, s.e.blocks.why, &same));
  CHECK(same && want.size == s.e.blocks.size, "%s: %s, on the host %s", m->name, s.e.blocks.why, want.why);
  PetscCall(PhaseDestroy(&s));
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A plan on the host, and one on the device. */
static PetscErrorCode EnginesCreate(SyncILUOrdering ordering, PetscInt size, SyncILUUpdate update, PetscInt n, const SyncILUSource *source, SyncILUFill fill,
                                    SyncILUEngine e[2])
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    SyncILUSettings settings;

    SyncILUSettingsInitialize(&settings);
    settings.backend    = k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST;
    settings.ordering   = ordering;
    settings.block_size = size;
    settings.update     = update;
    PetscCall(SyncILUEngineCreate(&settings, n, source, NULL, NULL, fill, &e[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Other values of the same pattern: a matrix that is dominant, but for as many zeros on its diagonal as are
   asked for.
*/
static PetscErrorCode ChangeValues(const SyncILUCSR *csr, PetscInt zeros, PetscRandom rand, PetscScalar *a)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < csr->n; i++) {
    PetscReal sum  = 1.0;
    PetscInt  diag = -1;

    for (PetscInt k = csr->i[i]; k < csr->i[i + 1]; k++) {
      PetscCall(PetscRandomGetValue(rand, a + k));
      if (csr->j[k] == i) diag = k;
      else sum += PetscAbsScalar(a[k]);
    }
    if (diag >= 0) a[diag] = zeros && i % (csr->n / zeros + 1) == csr->n / zeros / 2 ? 0.0 : (i % 7 ? sum : -sum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Right-hand sides and solutions on the device, with other distances than rows: the same bits as on the host. */
static PetscErrorCode TestApart(SyncILUEngine e, PetscInt n, PetscInt nrhs, const PetscScalar *b, PetscScalar *want, PetscScalar *x, const char *what)
{
  const size_t ldb = (size_t)n + 3, ldx = (size_t)n + 7;
  PetscScalar *device[2];
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, nrhs, b, n, want, n, PETSC_MEMTYPE_HOST));
  CallCUDA(cudaMalloc((void **)&device[0], ldb * (size_t)nrhs * sizeof(PetscScalar)));
  CallCUDA(cudaMalloc((void **)&device[1], ldx * (size_t)nrhs * sizeof(PetscScalar)));
  for (size_t r = 0; r < (size_t)nrhs; r++)
    CallCUDA(cudaMemcpy(device[0] + r * ldb, b + r * (size_t)n, (size_t)n * sizeof(PetscScalar), cudaMemcpyHostToDevice));
  CallCUDA(cudaDeviceSynchronize()); /* copies from pageable memory may return before they are done, and the solve's stream does not wait */
  PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, nrhs, device[0], (PetscInt)ldb, device[1], (PetscInt)ldx, PETSC_MEMTYPE_CUDA));
  CallCUDA(cudaDeviceSynchronize());
  for (size_t r = 0; r < (size_t)nrhs; r++)
    CallCUDA(cudaMemcpy(x + r * (size_t)n, device[1] + r * ldx, (size_t)n * sizeof(PetscScalar), cudaMemcpyDeviceToHost));
  for (int k = 0; k < 2; k++) CallCUDA(cudaFree(device[k]));
  PetscCall(PetscArraycmp(x, want, nrhs * n, &same));
  CHECK(same, "%s: on the device, %d right-hand sides have other bits than on the host", what, (int)nrhs);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Solutions with blocks of so many rows, against the host's in the same ordering, and the same again, and of most
   right-hand sides with other values; counts the cases by block, and those of large ones that gathered lines.
*/
typedef struct {
  int cases, parts, warps; /* parts of a block at most; 1: some blocks had one warp, 2: some had two */
} Gathered;

static PetscErrorCode TestSolve(const char *pattern, PetscInt n, PetscInt size, PetscInt levels, PetscBool large, PetscRandom rand, PetscInt *blocks,
                                Gathered *gathered)
{
  const char *const gathers = "gathered where they are beyond the cache, L in at most ";
  /* by rows, in lines of 8, and of 16 with two launches; fewer of many rows */
  const PetscInt     few[] = {3, 8, 16, 21}, many[] = {1, 3, 20, SYNCILU_RHS_MAX + 11}, *some = large ? few : many, times = 4, most = some[times - 1];
  const SyncILUFill  fill = {levels, 0};
  Mat                A;
  SyncILUCSR         csr    = {.mem = PETSC_MEMTYPE_HOST};
  Arrays             arrays = {&csr, NULL};
  SyncILUSource      source;
  SyncILUEngine      e[2];
  PetscBool          done;
  const PetscScalar *values;
  PetscScalar       *a, *b, *x[3];
  char               what[160], view[4096];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s of %" PetscInt_FMT " rows, blocks of %" PetscInt_FMT ", %" PetscInt_FMT " levels", pattern, n, size, levels));
  Watch("%s", what);
  PetscCall(GenerateMatrix(pattern, n, rand, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr.n, &csr.i, &csr.j, &done));
  n       = csr.n;
  csr.nnz = csr.i[n];
  PetscCall(MatSeqAIJGetArrayRead(A, &values));
  PetscCall(PetscMalloc1(csr.nnz, &a));
  PetscCall(PetscArraycpy(a, values, csr.nnz));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &values));
  csr.a = a;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(PetscMalloc4(most * n, &b, most * n, &x[0], most * n, &x[1], most * n, &x[2]));
  for (PetscInt i = 0; i < most * n; i++) PetscCall(PetscRandomGetValue(rand, b + i));
  PetscCall(EnginesCreate(SYNCILU_ORDERING_BMC, size, SYNCILU_UPDATE_AUTO, n, &source, fill, e));
  for (int factor = 0; factor < 2; factor++) {
    if (factor) PetscCall(ChangeValues(&csr, 0, rand, a));
    for (int k = 0; k < 2; k++) {
      PetscCall(EngineFactorUnshifted(e[k], &csr, NULL, 0.0));
      CHECK(e[k]->status.row < 0, "%s: row %" PetscInt_FMT " breaks down", what, e[k]->status.row);
    }
    if (!factor) {
      CHECK(!e[1]->pattern.lptr, "%s: the symbolic phase was the host's", what);
      PetscCall(EngineView(e[1], view, sizeof(view)));
      *blocks += CheckViewSays(view, "order", "by block");
    }
    for (int trans = 0; trans < 2; trans++) {
      for (PetscInt h = factor ? times - 1 : 0; h < times; h++) {
        const PetscInt nrhs  = some[h];
        PetscReal      worst = 0.0;
        PetscBool      same;

        for (int k = 0; k < 3; k++) PetscCall(SyncILUEngineSolve(e[k > 0], trans ? SYNCILU_TRANS : SYNCILU_NOTRANS, nrhs, b, n, x[k], n, PETSC_MEMTYPE_HOST));
        for (PetscInt r = 0; r < nrhs; r++) {
          PetscReal norm = 0.0, apart = 0.0;

          for (PetscInt i = r * n; i < (r + 1) * n; i++) {
            norm  = PetscMax(norm, PetscAbsScalar(x[0][i]));
            apart = PetscMax(apart, PetscAbsScalar(x[0][i] - x[1][i]));
          }
          worst = PetscMax(worst, n ? apart / norm : 0.0);
        }
        CHECK(worst <= 1e-12, "%s, factorization %d: %d right-hand sides%s differ by %g", what, factor, (int)nrhs, trans ? ", transposed," : "", (double)worst);
        PetscCall(PetscArraycmp(x[1], x[2], nrhs * n, &same));
        CHECK(same, "%s, factorization %d: %d right-hand sides%s have other bits the second time", what, factor, (int)nrhs, trans ? ", transposed," : "");
      }
    }
  }
  PetscCall(EngineView(e[1], view, sizeof(view)));
  if (large) {
    const char *const line = strstr(view, gathers);
    int               parts, lines, warps;

    if (line && sscanf(line + strlen(gathers), "%d parts of %d lines a block, %d warps", &parts, &lines, &warps) == 3) {
      gathered->cases++;
      gathered->parts = PetscMax(gathered->parts, parts);
      gathered->warps |= warps;
    }
    PetscCall(TestApart(e[1], n, some[2], b, x[1], x[2], what));
  }
  for (int k = 0; k < 2; k++) PetscCall(SyncILUEngineDestroy(&e[k]));
  PetscCall(PetscFree4(b, x[0], x[1], x[2]));
  PetscCall(PetscFree(a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &csr.i, &csr.j, &done));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many rows that 16 right-hand sides are beyond the cache, in the last case 8 too, and lines of them are gathered. */
static PetscErrorCode TestGathered(PetscRandom rand)
{
  const struct {
    const char *pattern;
    PetscInt    size, fewest;
  } cases[] = {
    {"triangles", 32, 16},
    {"15pt_rcm",  20, 16},
    {"5pt_dof3",  20, 16},
    {"15pt_rcm",  32, 16},
    {"triangles", 32, 8 }
  };
  PetscInt blocks   = 0;
  Gathered gathered = {0, 0, 0};

  PetscFunctionBegin;
  for (int k = 0; k < 5; k++) {
    const PetscInt n = (PetscInt)(1.25 * SYNCILU_GATHERED_CACHE / ((double)cases[k].fewest * sizeof(double)));

    PetscCall(TestSolve(cases[k].pattern, n, cases[k].size, 0, PETSC_TRUE, rand, &blocks, &gathered));
  }
  CHECK(blocks == 5 && gathered.cases == 5, "lines are gathered in %d of 5 cases, blocks in %" PetscInt_FMT, gathered.cases, blocks);
  CHECK(gathered.parts > 1 && gathered.warps == 3, "lines are gathered in %d parts of a block at most, by numbers of warps %d", gathered.parts, gathered.warps);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolves(PetscRandom rand)
{
  const char *const patterns[] = {"5pt",      "7pt_random", "15pt",   "15pt_rcm",    "27pt",      "elasticity", "triangles",  "random",
                                  "powerlaw", "arrow",      "blocks", "tridiagonal", "random200", "denserow",   "densecolumn"};
  PetscInt          blocks     = 0;

  PetscFunctionBegin;
  /* a column of the last pattern is a long row of its transpose */
  for (int p = 0; p < 15; p++) {
    /* where there is no device: fewer rows where they are long, half of the sizes, fill for every third pattern */
    const PetscInt n     = small ? (p == 4 || p == 5 ? 200 : 400) : 20000;
    const PetscInt least = small ? (p == 12 ? 32 : p % 2 ? 5 : 14) : 5, step = small ? 18 : 9;

    for (PetscInt levels = 0; levels < 2; levels++) {
      if (levels && (p == 8 || p == 9 || p == 12)) continue; /* dense rows fill up */
      if (levels && small && p % 3) continue;
      for (PetscInt size = least; size <= 32; size += step)
        PetscCall(TestSolve(patterns[p], p % 3 ? n : n - 70, size, levels, PETSC_FALSE, rand, &blocks, NULL));
    }
  }
  CHECK(blocks > (small ? 15 : 30), "blocks in %" PetscInt_FMT " cases alone", blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factors that are compared: the host's and the device's in the same ordering. */
typedef struct {
  SyncILUEngine e[2];
  PetscInt      n, nl, nu;
  PetscScalar  *before; /* what the device had the time before: L, U and the reciprocals of the pivots */
} Factors;

/* Whether a part of the factor has the host's values, to a part of the largest one. */
static PetscReal Apart(PetscInt n, const PetscScalar *want, const PetscScalar *have)
{
  PetscReal most = 0.0, apart = 0.0;

  for (PetscInt k = 0; k < n; k++) {
    const PetscReal d = PetscAbsScalar(want[k] - have[k]);

    most = PetscMax(most, PetscAbsScalar(want[k]));
    if (!(d <= apart)) apart = d; /* keeps a NaN */
  }
  return most > 0.0 ? apart / most : apart;
}

/*
   Factors and compares, where pivots are small within another tolerance; same: the device must have the bits
   of the time before.
*/
static PetscErrorCode TestFactor(Factors *f, const SyncILUCSR *csr, MatFactorShiftType shift, PetscReal tolerance, PetscBool same, const char *what)
{
  const PetscScalar *value[2][3];
  PetscScalar       *before[3] = {f->before, f->before + f->nl, f->before + f->nl + f->nu};
  const PetscInt     count[3]  = {f->nl, f->nu, f->n};
  MatFactorInfo      info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = 1e-2;
  info.zeropivot   = 1e-12;
  for (int k = 0; k < 2; k++) PetscCall(EngineFactor(f->e[k], csr, NULL, &info));
  CHECK(f->e[0]->status.row == f->e[1]->status.row && f->e[0]->attempts == f->e[1]->attempts && f->e[0]->status.shifted == f->e[1]->status.shifted,
        "%s, shift %s: row %" PetscInt_FMT " rejected, %" PetscInt_FMT " attempts, %" PetscInt_FMT " shifted, on the host %" PetscInt_FMT ", %" PetscInt_FMT
        ", %" PetscInt_FMT,
        what, MatFactorShiftTypes[shift], f->e[1]->status.row, f->e[1]->attempts, f->e[1]->status.shifted, f->e[0]->status.row, f->e[0]->attempts,
        f->e[0]->status.shifted);
  if (f->e[0]->status.row >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) PetscCall((*f->e[k]->ops->values)(f->e[k], &value[k][0], &value[k][1], &value[k][2]));
  if (tolerance > 1e-12) { /* a pivot may be so small that the next ones hang on rounding */
    PetscReal growth = 0.0;

    for (PetscInt k = 0; k < f->nl; k++) growth = PetscMax(growth, PetscAbsScalar(value[0][0][k]));
    for (PetscInt k = 0; k < f->n; k++) growth = PetscMax(growth, PetscAbsScalar(value[0][2][k]));
    if (!(growth < 1e4)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int part = 0; part < 3; part++) {
    const PetscReal apart = Apart(count[part], value[0][part], value[1][part]);
    PetscBool       bits  = PETSC_TRUE;

    CHECK(apart <= tolerance, "%s, shift %s: part %d of the factor differs by %g", what, MatFactorShiftTypes[shift], part, (double)apart);
    if (same) PetscCall(PetscArraycmp(value[1][part], before[part], count[part], &bits));
    CHECK(bits, "%s: part %d of the factor has other bits the second time", what, part);
    PetscCall(PetscArraycpy(before[part], value[1][part], count[part]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers that are none end in a rejected pivot, as on the host, also one with the bits of a sentinel. */
static PetscErrorCode TestUndefined(Factors *f, const SyncILUCSR *csr, PetscScalar *a, const char *what)
{
  unsigned char bits[sizeof(PetscReal)];
  PetscReal     bad[2];

  PetscFunctionBegin;
  memset(bits, 0xff, sizeof(bits));
  memcpy(&bad[0], bits, sizeof(bits));
  bad[1] = INFINITY;
  for (int k = 0; k < 2; k++) {
    const PetscInt    row = csr->n / 3, e = csr->i[row];
    const PetscScalar good = a[e];
    MatFactorInfo     info;

    PetscCall(MatFactorInfoInitialize(&info));
    info.zeropivot = 1e-12;
    a[e]           = bad[k];
    for (int side = 0; side < 2; side++) PetscCall(EngineFactor(f->e[side], csr, NULL, &info));
    CHECK((f->e[0]->status.row < 0) == (f->e[1]->status.row < 0),
          "%s with %g in row %" PetscInt_FMT ": row %" PetscInt_FMT " rejected, on the host %" PetscInt_FMT, what, (double)bad[k], row, f->e[1]->status.row,
          f->e[0]->status.row);
    a[e] = good;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One plan of the rows on the host and one on the device, and room for a factor. */
static PetscErrorCode FactorsCreate(const SyncILUCSR *csr, SyncILUOrdering ordering, PetscInt size, SyncILUUpdate update, SyncILUFill fill, Factors *f)
{
  Arrays        arrays = {csr, NULL};
  SyncILUSource source;

  PetscFunctionBegin;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(EnginesCreate(ordering, size, update, csr->n, &source, fill, f->e));
  f->n  = csr->n;
  f->nl = f->e[0]->pattern.nl;
  f->nu = f->e[0]->pattern.nu;
  PetscCall(PetscMalloc1(f->nl + f->nu + f->n, &f->before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The factorization by blocks: fresh values, the same bits again, shifts, numbers that are none, and
   relaxation that is asked for after planning.
*/
static PetscErrorCode TestBlockFactor(const char *pattern, PetscInt n, PetscInt size, PetscInt levels, PetscRandom rand, PetscInt *blocks, PetscInt *warps)
{
  const char *const        before   = "factorization: blocks, ";
  const SyncILUFill        fill     = {levels, 0};
  const MatFactorShiftType shifts[] = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
  Rows                     m;
  Factors                  f;
  PetscScalar             *a;
  PetscBool                by_blocks;
  char                     what[160], view[4096];

  PetscFunctionBegin;
  PetscCall(RowsCreate(pattern, n, rand, PETSC_FALSE, &m));
  PetscCall(PetscSNPrintf(what, sizeof(what), "factor of %s, blocks of %" PetscInt_FMT ", %" PetscInt_FMT " levels", m.name, size, levels));
  Watch("%s", what);
  PetscCall(PetscMalloc1(m.csr.nnz, &a));
  PetscCall(ChangeValues(&m.csr, 0, rand, a));
  m.csr.a = a;
  PetscCall(FactorsCreate(&m.csr, SYNCILU_ORDERING_BMC, size, SYNCILU_UPDATE_AUTO, fill, &f));
  PetscCall(EngineView(f.e[1], view, sizeof(view)));
  by_blocks = CheckViewSays(view, "factorization", "blocks");
  *blocks += by_blocks;
  if (strstr(view, before)) *warps |= (PetscInt)strtol(strstr(view, before) + strlen(before), NULL, 10) / 32;
  PetscCall(TestFactor(&f, &m.csr, MAT_SHIFT_NONE, 1e-12, PETSC_FALSE, what));
  PetscCall(TestFactor(&f, &m.csr, MAT_SHIFT_NONE, 1e-12, PETSC_TRUE, what));
  PetscCall(ChangeValues(&m.csr, 0, rand, a));
  PetscCall(TestFactor(&f, &m.csr, MAT_SHIFT_NONE, 1e-12, PETSC_FALSE, what));
  PetscCall(ChangeValues(&m.csr, 3, rand, a));
  for (int s = 0; s < 4; s++) PetscCall(TestFactor(&f, &m.csr, shifts[s], 1e-9, PETSC_FALSE, what));
  PetscCall(ChangeValues(&m.csr, 0, rand, a));
  PetscCall(TestUndefined(&f, &m.csr, a, what));
  PetscCall(TestFactor(&f, &m.csr, MAT_SHIFT_NONE, 1e-12, PETSC_FALSE, what));
  for (int relaxed = 1; relaxed >= 0; relaxed--) {
    for (int k = 0; k < 2; k++) f.e[k]->settings.relax = relaxed ? 0.9 : 0.0;
    PetscCall(TestFactor(&f, &m.csr, MAT_SHIFT_NONE, 1e-12, PETSC_FALSE, what));
    PetscCall(EngineView(f.e[1], view, sizeof(view)));
    CHECK(CheckViewSays(view, "factorization", "blocks") == (PetscBool)(by_blocks && !relaxed), "%s: relaxed %d: the view says\n%s", what, relaxed, view);
    if (by_blocks || !relaxed)
      CHECK(CheckViewSays(view, "factorization", "not blocks, since it has no relaxation") == (PetscBool)relaxed, "%s: relaxed %d: the view says\n%s", what,
            relaxed, view);
  }
  for (int k = 0; k < 2; k++) PetscCall(SyncILUEngineDestroy(&f.e[k]));
  PetscCall(PetscFree(f.before));
  PetscCall(PetscFree(a));
  PetscCall(RowsDestroy(&m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBlockFactors(PetscRandom rand)
{
  const char *const patterns[] = {"5pt",    "15pt_rcm",  "27pt",     "elasticity", "triangles",   "random",
                                  "blocks", "15pt_dof2", "7pt_dof4", "random200",  "densecolumn", "arrow"};
  const PetscInt    n          = small ? 300 : 20000;
  PetscInt          blocks = 0, warps = 0; /* numbers of warps, each a power of two */

  PetscFunctionBegin;
  for (int p = 0; p < 12; p++) {
    for (PetscInt levels = 0; levels < 2; levels++) {
      if (levels && p > 8) continue; /* dense rows fill up */
      if (small && p == 9) continue; /* takes long where a device is none */
      /* elasticity and random200 have long rows, which take the host long */
      for (PetscInt size = small && p % 2 ? 32 : 16; size <= 32; size += small ? 32 : 16)
        PetscCall(TestBlockFactor(patterns[p], p == 3 || p == 9 ? PetscMin(n, 4000) : n, size, levels, rand, &blocks, &warps));
    }
  }
  /* so many blocks of a color that each has one warp */
  PetscCall(TestBlockFactor("triangles", small ? 700 : 1200000, 32, 0, rand, &blocks, &warps));
  CHECK((warps & 1) && warps > 1, "numbers of warps of a block: %" PetscInt_FMT " together", warps);
  CHECK(blocks > 8, "by blocks in %" PetscInt_FMT " cases alone", blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows and columns in reverse order, so that L and U change places. */
static PetscErrorCode RowsReverse(const Rows *from, Rows *m)
{
  const PetscInt n = from->csr.n, nnz = from->csr.nnz;

  PetscFunctionBegin;
  *m = *from;
  PetscCall(PetscMalloc2(n + 1, &m->i, nnz, &m->j));
  for (PetscInt i = 0; i <= n; i++) m->i[i] = nnz - from->i[n - i];
  for (PetscInt k = 0; k < nnz; k++) m->j[k] = n - 1 - from->j[nnz - 1 - k];
  m->csr.i = m->i;
  m->csr.j = m->j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The numeric phase gets a pattern that was not planned for, with as many rows and entries, and then the
   first one again. By blocks and by D-ILU a row waits for others in the order of the plan. With the plan of
   another pattern some rows would wait forever.
*/
static PetscErrorCode TestStale(const char *pattern, PetscInt n, SyncILUOrdering ordering, SyncILUUpdate update, PetscRandom rand)
{
  const SyncILUFill none = {0, 0};
  Rows              m[2];
  PetscScalar      *a[2];
  Factors           f;
  MatFactorInfo     info;
  char              what[160];

  PetscFunctionBegin;
  PetscCall(RowsCreate(pattern, n, rand, PETSC_FALSE, &m[0]));
  PetscCall(RowsReverse(&m[0], &m[1]));
  PetscCall(PetscSNPrintf(what, sizeof(what), "another pattern than %s, ordering %d, update %s", m[0].name, (int)ordering, SyncILUUpdates[update]));
  Watch("%s", what);
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscMalloc1(m[k].csr.nnz, &a[k]));
    PetscCall(ChangeValues(&m[k].csr, 0, rand, a[k]));
    m[k].csr.a = a[k];
  }
  PetscCall(FactorsCreate(&m[0].csr, ordering, SYNCILU_BMC_SIZE, update, none, &f)); /* both patterns have as many entries */
  PetscCall(MatFactorInfoInitialize(&info));
  for (int run = 0; run < 4; run++) {
    const SyncILUCSR *csr = &m[run == 1 || run == 2].csr;

    PetscCall(EngineFactor(f.e[0], csr, NULL, &info));
    f.nl = f.e[0]->pattern.nl;
    f.nu = f.e[0]->pattern.nu;
    PetscCall(TestFactor(&f, csr, MAT_SHIFT_NONE, 1e-12, (PetscBool)(run == 2), what));
  }
  CHECK(f.e[1]->analyses == 3, "%s: %" PetscInt_FMT " symbolic phases", what, f.e[1]->analyses);
  for (int k = 0; k < 2; k++) {
    PetscCall(SyncILUEngineDestroy(&f.e[k]));
    PetscCall(PetscFree(a[k]));
    PetscCall(RowsDestroy(&m[k]));
  }
  PetscCall(PetscFree(f.before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStales(PetscRandom rand)
{
  const char *const patterns[] = {"bidiagonal", "15pt_rcm", "triangles", "random", "powerlaw"};
  const PetscInt    n          = small ? 200 : 20000;

  PetscFunctionBegin;
  for (int p = 0; p < 5; p++) {
    PetscCall(TestStale(patterns[p], n, SYNCILU_ORDERING_BMC, SYNCILU_UPDATE_AUTO, rand));
    PetscCall(TestStale(patterns[p], n, SYNCILU_ORDERING_BMC, SYNCILU_UPDATE_DILU, rand));
    PetscCall(TestStale(patterns[p], n, SYNCILU_ORDERING_GIVEN, SYNCILU_UPDATE_DILU, rand));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the host is to say: rows that lack their diagonal, and columns that do not ascend. */
static PetscErrorCode TestLeft(PetscRandom rand)
{
  const SyncILUFill fill = {1, 0};
  Rows              m;
  Phase             s;

  PetscFunctionBegin;
  for (int kind = 0; kind < 2; kind++) {
    for (int ordering = 0; ordering < 3; ordering++) {
      PetscCall(RowsCreate("random", 40, rand, (PetscBool)!kind, &m));
      if (kind) {
        const PetscInt j = m.j[m.i[7]];

        m.j[m.i[7]]     = m.j[m.i[7] + 1];
        m.j[m.i[7] + 1] = j;
      }
      PetscCall(PhaseCreate(&m, (SyncILUOrdering)ordering, 4, PETSC_FALSE, NULL, NULL, fill, &s));
      CHECK(!s.regular, "rows %s are taken", kind ? "that do not ascend" : "without diagonal");
      PetscCall(PhaseDestroy(&s));
      PetscCall(RowsDestroy(&m));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A grid that is given, and its matrix on the device: the same row is refused as on the host. Lines of every
   length, on matrices whose grids are others, too.
*/
static PetscErrorCode TestGrids(PetscRandom rand)
{
  const char *const patterns[] = {"5pt:12x10",        "7pt:12x10x1", "27pt:5x4x6",      "5pt_periodic:12x10",
                                  "elasticity:5x4x2", "random:120",  "tridiagonal:120", "25pt:10x6x2"};
  int               refused = 0, accepted = 0;

  PetscFunctionBegin;
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(patterns); p++) {
    SyncILUCSR device;
    Rows       m;

    PetscCall(RowsCreate(patterns[p], 0, rand, PETSC_FALSE, &m));
    PetscCall(CSRUpload(&m.csr, &device));
    for (PetscInt x = 1; x <= 120; x++) {
      for (PetscInt y = 1; y <= 120 / x; y++) {
        for (PetscInt dof = 1; dof <= 3; dof++) {
          SyncILUSettings settings;
          Plan            plan;
          PetscErrorCode  ierr[2];
          char            host[4096];
          int             before;

          if (m.csr.n % (x * y * dof)) continue;
          SyncILUSettingsInitialize(&settings);
          settings.grid_from = SYNCILU_GRID_GIVEN;
          settings.grid[0]   = x;
          settings.grid[1]   = y;
          settings.grid[2]   = m.csr.n / (x * y * dof);
          settings.grid[3]   = dof;
          QUIETLY(ierr[0], SyncILUGridCheck(&settings, &m.csr));
          PetscCall(PetscStrncpy(host, check_message, sizeof(host)));
          PetscCall(PetscMemzero(&plan, sizeof(plan)));
          PetscCall(PlanCreate(&plan, &settings));
          PetscCall(PlanEnter(&plan, &before));
          QUIETLY(ierr[1], PlanCheckGrid(&plan, &device));
          PetscCall(PlanLeave(&plan, before));
          PetscCall(PlanDestroy(&plan));
          CHECK(ierr[0] == ierr[1] && !strcmp(host, check_message),
                "%s on %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " unknowns: %s, on the host %s", m.name, x, y, dof, check_message, host);
          if (ierr[0]) refused++;
          else accepted++;
        }
      }
    }
    PetscCall(CSRFree(&device));
    PetscCall(RowsDestroy(&m));
  }
  CHECK(refused > 100 && accepted > 100, "%d grids are refused, %d accepted", refused, accepted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A pattern that is searched for in a matrix on the device is the host's, whichever memory the rows and the
   values are in.
*/
static PetscErrorCode TestSearch(const char *pattern, PetscInt n, PetscRandom rand)
{
  Mat             A;
  Case            c;
  SyncILUCSR      device;
  SyncILUSettings settings;
  SyncILUEngine   host, e;
  PetscScalar    *x;
  PetscInt        row;
  PetscBool       taken;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, n, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  PetscCall(CSRUpload(&c.csr, &device));
  PetscCall(PetscMalloc1(c.ld, &x));
  SyncILUSettingsInitialize(&settings);
  settings.update  = SYNCILU_UPDATE_PARILUT;
  settings.fill    = 1.5;
  settings.rounds  = 2;
  settings.sweeps  = 2;
  settings.backend = SYNCILU_BACKEND_HOST;
  PetscCall(EngineCreate(&settings, &c, &host));
  PetscCall(EngineFactorUnshifted(host, &c.csr, NULL, c.piv.zeropivot));
  PetscCall(SyncILUEngineSolve(host, SYNCILU_NOTRANS, 1, c.b, c.ld, c.x[0], c.ld, PETSC_MEMTYPE_HOST));
  settings.backend = SYNCILU_BACKEND_CUDA;
  for (int k = 0; k < 4; k++) {
    PetscCall(EngineAdopt(&settings, &c.csr, k / 2 ? &device : NULL, &taken, &e));
    for (int run = 0; run < 2; run++) {
      PetscCall(EngineFactorUnshifted(e, &c.csr, (k + run) % 2 ? &device : NULL, c.piv.zeropivot));
      PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.ld, x, c.ld, PETSC_MEMTYPE_HOST));
      row = SolutionFirstDifference(c.n, x, c.x[0], 1e-11);
      CHECK(taken && e->pattern.nl == host->pattern.nl && e->pattern.nu == host->pattern.nu && row == c.n,
            "%s, memories %d, run %d: %" PetscInt_FMT " and %" PetscInt_FMT " entries, on the host %" PetscInt_FMT " and %" PetscInt_FMT "; row %" PetscInt_FMT
            " of the solution differs",
            pattern, k, run, e->pattern.nl, e->pattern.nu, host->pattern.nl, host->pattern.nu, row);
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscCall(SyncILUEngineDestroy(&host));
  PetscCall(PetscFree(x));
  PetscCall(CSRFree(&device));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Where the device has too little memory for a search, auto searches on the host, and who asked for the
   device is told. The search takes more than the pool may have left.
*/
static PetscErrorCode TestShortage(SyncILUBackend backend, PetscRandom rand)
{
  Mat             A;
  Case            c;
  SyncILUSettings settings;
  SyncILUEngine   e;
  MatFactorInfo   info;
  Hoard           h;
  PetscErrorCode  ierr;
  PetscBool       taken;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("5pt:600x500", 0, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  SyncILUSettingsInitialize(&settings);
  settings.backend = backend;
  settings.update  = SYNCILU_UPDATE_PARILUT;
  settings.rounds  = 2;
  PetscCall(EngineAdopt(&settings, &c.csr, NULL, &taken, &e));
  CHECK(e->ops->device, "%s: planned on backend %s", SyncILUBackends[backend], SyncILUBackends[e->ops->backend]);
  PetscCall(HoardTake(0, &h, &taken));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c.piv.zeropivot;
  QUIETLY(ierr, EngineFactor(e, &c.csr, NULL, &info));
  PetscCall(HoardFree(&h));
  if (!taken) printf("  shortage of memory: not tested, there is too much\n");
  else if (backend == SYNCILU_BACKEND_AUTO)
    CHECK(!ierr && !e->ops->device && e->status.row < 0 && e->search.rounds == 2, "auto: error %d, on backend %s", (int)ierr,
          e->ops ? SyncILUBackends[e->ops->backend] : "none");
  else
    CHECK(ierr == PETSC_ERR_GPU_RESOURCE && strstr(check_message, "-pc_syncilu_update parilut: out of memory") && !e->ops, "%s: error %d: %s",
          SyncILUBackends[backend], (int)ierr, check_message);
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every pattern in every ordering, with levels of fill, and with and without all diagonals. */
static PetscErrorCode TestPatterns(PetscRandom rand)
{
  const PetscInt rows[] = {0, 1, 33, 90, 3000}, sizes[] = {1, 2, 7, 32, 4000};

  PetscFunctionBegin;
  for (int p = 0; GeneratePatterns[p]; p++) {
    for (int r = 0; r < (small ? 4 : 5); r++) {
      for (int holes = 0; holes < 2; holes++) {
        Rows m;

        PetscCall(RowsCreate(GeneratePatterns[p], rows[r], rand, (PetscBool)holes, &m));
        for (int levels = 0; levels < (small ? 3 : 4); levels++) {
          const SyncILUFill fill = {levels, 1};

          if (m.csr.nnz > 40 * m.csr.n && levels > 1 && m.csr.n > 300) continue; /* the host would take long */
          PetscCall(TestBMC(&m, sizes[(p + r + levels) % 5], (PetscBool)!levels, fill));
          PetscCall(TestGiven(&m, PETSC_TRUE, fill, rand));
          if (m.csr.n <= 300 || levels < 2) PetscCall(TestGiven(&m, PETSC_FALSE, fill, rand));
        }
        if (!holes) {
          const SyncILUFill none = {0, 0};

          for (int s = 0; s < 10; s++) PetscCall(TestBMC(&m, sizes[s / 2], (PetscBool)(s & 1), none));
          PetscCall(TestAuto(&m));
        }
        PetscCall(RowsDestroy(&m));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   missing, blocks = PETSC_FALSE, lines = PETSC_FALSE;
  int         failed;

  PetscCall(BackendBegin(&argc, &argv, help, &missing, &rand));
  if (missing) return SKIPPED;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-blocks", &blocks, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-lines", &lines, NULL));
  if (small) watch_seconds = 300; /* a device that is none is slow */
  if (!blocks && !lines) {
    if (!small) { /* before the pool has memory left from others */
      PetscCall(TestShortage(SYNCILU_BACKEND_AUTO, rand));
      PetscCall(TestShortage(SYNCILU_BACKEND_CUDA, rand));
    }
    PetscCall(TestGrids(rand));
    PetscCall(TestPatterns(rand));
    PetscCall(TestAligned(rand));
    PetscCall(TestLeft(rand));
    PetscCall(TestSearch("27pt", small ? 64 : 8000, rand));
    PetscCall(TestSearch("random", small ? 150 : 8000, rand));
    PetscCall(TestSearch("triangles", small ? 200 : 30000, rand));
  }
  PetscCall(TestGathered(rand));
  if (!lines) {
    PetscCall(TestSolves(rand));
    PetscCall(TestBlockFactors(rand));
    PetscCall(TestStales(rand));
  }
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = CheckReport("cuda_symbolic");
  PetscCall(PetscFinalize());
  return failed;
}
