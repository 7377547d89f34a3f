#include "check.h"
#include "gpu.h"
#include "strategies.h"
#include "fuzz.h"

enum {
  ROWS    = 420, /* of matrices that are kept as a table of all their entries */
  ENGINES = 3,   /* of a matrix */
  SOLVES  = 4,   /* of a factor */
  SECONDS = 120  /* for a matrix or an engine, at most */
};

static unsigned long long state = 1;
static char               said[1024];

/* xorshift64; its lowest bits are its worst. */
static unsigned Next(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 24);
}

int FuzzBelow(int n)
{
  return (int)(Next() % (unsigned)n);
}

PetscReal FuzzReal(void)
{
  return (PetscReal)(Next() % 1000000) / 1e6;
}

PetscBool FuzzOnce(int n)
{
  return (PetscBool)(FuzzBelow(n) == 0);
}

void FuzzSay(const char *format, ...)
{
  va_list list;

  va_start(list, format);
  (void)vsnprintf(said, sizeof(said), format, list);
  va_end(list);
}

const char *FuzzSaid(void)
{
  return said;
}

/* What the emulator's reports end with. */
const char *emulatorContext(void)
{
  return said;
}

PetscErrorCode FuzzBegin(int *argc, char ***argv, const char help[], PetscInt *first, PetscInt *seeds)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  *first = 1;
  *seeds = 10;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seeds", seeds, NULL));
  watch_seconds = SECONDS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSeed(PetscInt seed, PetscRandom rand)
{
  PetscFunctionBegin;
  Watch("seed %" PetscInt_FMT, seed);
  state = 0x9e3779b97f4a7c15ull * (unsigned long long)(seed + 1);
  for (int k = 0; k < 20; k++) (void)Next(); /* seeds beside each other begin alike */
  PetscCall(PetscRandomSetSeed(rand, 12345 + (unsigned long)seed));
  PetscCall(PetscRandomSeed(rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pattern as a table of all its entries. */
typedef struct {
  PetscInt   n;
  PetscBool *has;
} Table;

static PetscErrorCode TableCreate(PetscInt n, Table *t)
{
  PetscFunctionBegin;
  t->n = n;
  PetscCall(PetscCalloc1(n * n, &t->has));
  for (PetscInt i = 0; i < n; i++) t->has[i * n + i] = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Add(Table *t, PetscInt row, PetscInt col)
{
  t->has[row * t->n + col] = PETSC_TRUE;
}

static PetscErrorCode MatrixFromRows(PetscInt n, const PetscInt *ptr, const PetscInt *col, Mat *A)
{
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(ptr[n], &a));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 0, NULL, A));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, ptr, col, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TableMatrix(Table *t, Mat *A)
{
  const PetscInt n = t->n;
  PetscInt      *ptr, *col, nnz = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n + 1, &ptr, n * n, &col));
  for (PetscInt i = 0; i < n; i++) {
    ptr[i] = nnz;
    for (PetscInt j = 0; j < n; j++) {
      if (t->has[i * n + j]) col[nnz++] = j;
    }
  }
  ptr[n] = nnz;
  PetscCall(MatrixFromRows(n, ptr, col, A));
  PetscCall(PetscFree2(ptr, col));
  PetscCall(PetscFree(t->has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Entries anywhere, and up to two full rows or columns; sometimes more of these, longer than lists of updates
   can count.
*/
static PetscErrorCode Anywhere(Table *t, char description[], size_t length)
{
  const PetscBool large = FuzzOnce(6);
  const PetscReal share = FuzzReal() * FuzzReal() * (large ? 0.05 : 0.3);
  const PetscInt  n     = large ? 257 + FuzzBelow(150) : 1 + FuzzBelow(150);
  const int       full  = FuzzBelow(large ? 20 : 3);

  PetscFunctionBegin;
  PetscCall(TableCreate(n, t));
  for (PetscInt k = 0; k < n * n; k++) {
    if (FuzzReal() < share) t->has[k] = PETSC_TRUE;
  }
  for (int k = 0; k < full; k++) {
    const PetscInt  which = FuzzBelow((int)n);
    const PetscBool row   = FuzzOnce(2);

    for (PetscInt i = 0; i < n; i++) Add(t, row ? which : i, row ? i : which);
  }
  PetscCall(PetscSNPrintf(description, length, "anywhere: n %" PetscInt_FMT ", share %g, %d full rows or columns", n, (double)share, full));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A grid with a random stencil, with entries missing here and there, and sometimes a few more anywhere. */
static PetscErrorCode Grid(Table *t, char description[], size_t length)
{
  enum {
    OFFSETS = 32
  };
  const int unknowns = FuzzOnce(3) ? 2 + FuzzBelow(8) : 1, reach = FuzzOnce(5) ? 2 : 1, kind = FuzzBelow(4), near = FuzzBelow(kind == 2 ? 26 : 8);
  /* of L and of U */
  const PetscReal missing[2] = {FuzzOnce(2) ? 0.0 : FuzzReal() * FuzzReal(), FuzzOnce(2) ? 0.0 : FuzzReal() * FuzzReal()};
  const PetscBool axes = (PetscBool)!FuzzOnce(3), symmetric = FuzzOnce(2), whole = FuzzOnce(2);
  const int       more = FuzzOnce(4) ? 1 + FuzzBelow(3) : 0;
  int             points[3], offset[OFFSETS][3], offsets = 0;

  PetscFunctionBegin;
  do {
    for (int k = 0; k < 3; k++) points[k] = k == 2 && FuzzOnce(2) ? 1 : 1 + FuzzBelow(FuzzOnce(6) ? 60 : 12);
  } while (points[0] * points[1] * points[2] * unknowns > ROWS);
  for (; offsets <= near; offsets++) {
    for (int k = 0; k < 3; k++) offset[offsets][k] = FuzzBelow(2 * reach + 1) - reach;
    if (kind == 0) { /* all behind */
      for (int k = 0; k < 3; k++) offset[offsets][k] = -PetscAbsInt(offset[offsets][k]);
    } else if (kind == 1) { /* near the axes */
      offset[offsets][FuzzBelow(3)] = 0;
      offset[offsets][FuzzBelow(3)] = 0;
    }
  }
  for (int k = 0; k < 3 && axes; k++, offsets++) {
    for (int d = 0; d < 3; d++) offset[offsets][d] = d == k ? -1 : 0;
  }
  PetscCall(TableCreate((PetscInt)points[0] * points[1] * points[2] * unknowns, t));
  for (PetscInt row = 0; row < t->n; row++) {
    const int point = (int)row / unknowns, x[3] = {point % points[0], point / points[0] % points[1], point / points[0] / points[1]};

    for (int o = 0; o < offsets; o++) {
      int       y[3];
      PetscBool inside = PETSC_TRUE;

      for (int k = 0; k < 3; k++) {
        y[k] = x[k] + offset[o][k];
        if (y[k] < 0 || y[k] >= points[k]) inside = PETSC_FALSE;
      }
      if (!inside) continue;
      for (int u = 0; u < unknowns; u++) {
        const PetscInt col = ((PetscInt)(y[2] * points[1] + y[1]) * points[0] + y[0]) * unknowns + u;

        if (FuzzReal() < missing[col > row]) continue;
        Add(t, row, col);
        if (symmetric) Add(t, col, row);
      }
    }
    for (int u = 0; u < unknowns && whole; u++) Add(t, row, (PetscInt)point * unknowns + u);
  }
  for (int k = 0; k < more; k++) Add(t, FuzzBelow((int)t->n), FuzzBelow((int)t->n));
  PetscCall(PetscSNPrintf(description, length, "grid: %dx%dx%d, %d unknowns, reach %d, kind %d, %d neighbours, missing %g %g, symmetric %d, %d more", points[0],
                          points[1], points[2], unknowns, reach, kind, offsets, (double)missing[0], (double)missing[1], symmetric, more));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Band(Table *t, char description[], size_t length)
{
  const PetscInt  half = 1 + FuzzBelow(24), n = 2 + FuzzBelow(300);
  const PetscReal missing = FuzzOnce(2) ? 0.0 : 0.3 * FuzzReal();

  PetscFunctionBegin;
  PetscCall(TableCreate(n, t));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = PetscMax(0, i - half); j <= PetscMin(n - 1, i + half); j++) {
      if (FuzzReal() >= missing) Add(t, i, j);
    }
  }
  PetscCall(PetscSNPrintf(description, length, "band: n %" PetscInt_FMT ", half %" PetscInt_FMT ", missing %g", n, half, (double)missing));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A grid in which a row depends on any points that are ahead of it in no direction, as it stands or skewed:
   what may be taken in tiles, with neighbours as far away as may be.
*/
static PetscErrorCode Behind(Table *t, char description[], size_t length)
{
  const int points[2] = {2 + FuzzBelow(12), 1 + FuzzBelow(12)},
            planes    = PetscMax(1, PetscMin(FuzzOnce(2) ? 1 : 1 + FuzzBelow(6), 400 / (points[0] * points[1])));
  const int      skew = FuzzBelow(2);
  const PetscInt n    = (PetscInt)points[0] * points[1] * planes;

  PetscFunctionBegin;
  PetscCall(TableCreate(n, t));
  for (PetscInt row = 0; row < n; row++) {
    const int x = (int)row % points[0], y = (int)row / points[0] % points[1], z = (int)row / points[0] / points[1];

    for (int k = FuzzBelow(4); k >= 0; k--) {
      int      a, b, c;
      PetscInt col;

      if (skew) { /* of the skewed coordinates, which are x + y + 2 z and y + z */
        c = FuzzBelow(z + 1);
        b = FuzzBelow(y + z + 1) - c;
        a = FuzzBelow(x + y + 2 * z + 1) - (b + 2 * c);
        if (a < 0 || b < 0 || a >= points[0] || b >= points[1]) continue;
      } else {
        c = FuzzOnce(2) ? z : FuzzBelow(z + 1);
        b = FuzzOnce(2) ? y : FuzzBelow(y + 1);
        a = FuzzOnce(2) ? x : FuzzBelow(x + 1);
      }
      col = (PetscInt)(c * points[1] + b) * points[0] + a;
      if (col < row) Add(t, row, col);
      if (col > row || !FuzzOnce(3)) Add(t, col, row);
    }
    if (x && !FuzzOnce(8)) Add(t, row, row - 1);
    if (y && !FuzzOnce(8)) Add(t, row, row - points[0]);
  }
  PetscCall(PetscSNPrintf(description, length, "behind: %dx%dx%d, skew %d", points[0], points[1], planes, skew));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks on the diagonal, and blocks of rows that reach to other blocks. */
static PetscErrorCode Blocks(Table *t, char description[], size_t length)
{
  const PetscInt  size = 2 + FuzzBelow(7), n = 1 + FuzzBelow(300);
  const PetscReal share = 0.1 * FuzzReal();

  PetscFunctionBegin;
  PetscCall(TableCreate(n, t));
  for (PetscInt row = 0; row < n; row++) {
    for (PetscInt block = 0; block * size < n; block++) {
      if (block != row / size && FuzzReal() >= share) continue;
      for (PetscInt col = block * size; col < PetscMin(n, (block + 1) * size); col++) Add(t, row, col);
    }
  }
  PetscCall(PetscSNPrintf(description, length, "blocks: n %" PetscInt_FMT ", size %" PetscInt_FMT ", share %g", n, size, (double)share));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that depend on the one before them, for more than a thousand rows, and a few others. */
static PetscErrorCode Chain(Mat *A, char description[], size_t length)
{
  enum {
    ENTRIES = 12
  };
  const PetscInt  n       = 1030 + FuzzBelow(1500);
  const int       others  = FuzzBelow(4);
  const PetscReal often[] = {0.0, 0.01, 0.5}, other = often[FuzzBelow(3)], gaps = FuzzOnce(2) ? 0.0 : 5e-4;
  const PetscBool upper = FuzzOnce(2);
  PetscInt       *ptr, *col;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n + 1, &ptr, ENTRIES * n, &col));
  ptr[0] = 0;
  for (PetscInt i = 0; i < n; i++) {
    PetscInt *row = col + ptr[i], count = 0;

    row[count++] = i;
    if (i && FuzzReal() >= gaps) row[count++] = i - 1;
    for (int k = 0; k < others; k++) {
      if (FuzzReal() < other && i) row[count++] = FuzzBelow((int)i);
    }
    if (upper && i + 1 < n) row[count++] = i + 1;
    if (upper && i + 1 < n && FuzzReal() < other / 25) row[count++] = i + 1 + FuzzBelow((int)(n - i - 1));
    PetscCall(PetscSortRemoveDupsInt(&count, row));
    ptr[i + 1] = ptr[i] + count;
  }
  PetscCall(MatrixFromRows(n, ptr, col, A));
  PetscCall(PetscFree2(ptr, col));
  PetscCall(PetscSNPrintf(description, length, "chain: n %" PetscInt_FMT ", %d others once in %g, gaps %g, upper %d", n, others,
                          other > 0.0 ? 1.0 / (double)other : 0.0, (double)gaps, upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts a full block in the place of each entry of the first rows, so that rows come in inodes. */
static PetscErrorCode Inodes(Table *t, char description[], size_t length)
{
  const PetscInt size = 2 + FuzzBelow(7), n = PetscMax(1, PetscMin(t->n, 400 / size));
  Table          blocks;
  size_t         end;

  PetscFunctionBegin;
  PetscCall(TableCreate(n * size, &blocks));
  for (PetscInt i = 0; i < n * size; i++) {
    for (PetscInt j = 0; j < n * size; j++) {
      if (t->has[(i / size) * t->n + j / size]) Add(&blocks, i, j);
    }
  }
  PetscCall(PetscFree(t->has));
  *t = blocks;
  PetscCall(PetscStrlen(description, &end));
  PetscCall(PetscSNPrintf(description + end, length - end, ", of its first rows inodes of %" PetscInt_FMT, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzMatrix(PetscRandom rand, Mat *A, char description[], size_t length)
{
  Table t;

  PetscFunctionBegin;
  switch (FuzzBelow(10)) {
  case 0:
    PetscCall(Anywhere(&t, description, length));
    break;
  case 1:
    PetscCall(Band(&t, description, length));
    break;
  case 2:
  case 3:
    PetscCall(Behind(&t, description, length));
    break;
  case 4:
    PetscCall(Blocks(&t, description, length));
    break;
  case 5:
    t.n = 0;
    PetscCall(Chain(A, description, length));
    break;
  default:
    PetscCall(Grid(&t, description, length));
  }
  if (t.n && FuzzOnce(4)) PetscCall(Inodes(&t, description, length));
  if (t.n) PetscCall(TableMatrix(&t, A));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSettings(PetscReal relax, SyncILUSettings *s)
{
  const SyncILUAnalysis analyses[] = {SYNCILU_ANALYSIS_NONE, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP};
  Strategies            built;

  PetscFunctionBegin;
  PetscCall(StrategiesGet(&built));
  SyncILUSettingsInitialize(s);
  s->backend  = SYNCILU_BACKEND_CUDA;
  s->relax    = relax;
  s->prefetch = FuzzOnce(2) ? PETSC_BOOL3_TRUE : PETSC_BOOL3_FALSE;
  if (!FuzzOnce(built.nupdates + 1)) s->update = built.update[FuzzBelow(built.nupdates)];
  if (!FuzzOnce(built.nsolves + 1)) s->solve = built.solve[FuzzBelow(built.nsolves)];
  if (FuzzOnce(6)) { /* of all strategies the ones that one kind of matrix is for */
    s->update = SYNCILU_UPDATE_BSR;
    s->solve  = SYNCILU_SOLVE_BSR;
  } else if (FuzzOnce(6)) {
    s->update = SYNCILU_UPDATE_STRUCT;
    s->solve  = SYNCILU_SOLVE_STRUCT;
  }
  if (s->solve == SYNCILU_SOLVE_JACOBI) {
    s->solve_sweeps     = FuzzBelow(6);
    s->solve_block_size = FuzzOnce(2) ? 1 : SYNCILU_JACOBI_BLOCK;
  }
  if (FuzzOnce(3)) s->analysis = analyses[FuzzBelow(3)];
  if (FuzzOnce(2)) s->vector_size = 1 << FuzzBelow(6);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSweeps(SyncILUSettings *s)
{
  PetscFunctionBegin;
  if (s->relax == 0.0 && FuzzOnce(6)) {
    s->update = SYNCILU_UPDATE_PARILU;
    s->sweeps = 1 + FuzzBelow(4);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzEngine(const SyncILUSettings *settings, const Case *c, PetscBool matrix, PetscBool device, SyncILUEngine *e)
{
  SyncILUCSR    csr;
  SyncILUSource source;
  Arrays        arrays = {&c->csr, device ? &csr : NULL};

  PetscFunctionBegin;
  if (!matrix) {
    PetscCall(EngineCreate(settings, c, e));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (device) PetscCall(CSRUpload(&c->csr, &csr));
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineCreate(settings, c->n, &source, NULL, NULL, c->fill, e));
  if (device) PetscCall(CSRFree(&csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzFactor(SyncILUEngine e, const Case *c, PetscBool device, const MatFactorInfo *info)
{
  SyncILUCSR csr;

  PetscFunctionBegin;
  if (device) PetscCall(CSRUpload(&c->csr, &csr));
  PetscCall(EngineFactor(e, &c->csr, device ? &csr : NULL, info));
  if (device) PetscCall(CSRFree(&csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzSolve(SyncILUEngine e, const Case *c, SyncILUTranspose trans, PetscInt nrhs, PetscBool device, PetscBool inplace, PetscScalar *x)
{
  const PetscInt size = c->ld * nrhs;
  PetscScalar   *db, *dx;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < size; k++) x[k] = inplace ? c->b[k] : -7.0;
  if (device) {
    PetscCall(Upload(c->b, (size_t)size * sizeof(*c->b), &db));
    PetscCall(Upload(x, (size_t)size * sizeof(*x), &dx));
    PetscCall(SyncILUEngineSolve(e, trans, nrhs, inplace ? dx : db, c->ld, dx, c->ld, PETSC_MEMTYPE_DEVICE));
    CallCUDA(cudaDeviceSynchronize());
    CallCUDA(cudaMemcpy(x, dx, (size_t)size * sizeof(*x), cudaMemcpyDeviceToHost));
    CallCUDA(cudaFree(db));
    CallCUDA(cudaFree(dx));
  } else PetscCall(SyncILUEngineSolve(e, trans, nrhs, inplace ? x : c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzCheckFactor(SyncILUEngine e, const Case *c, const char *what)
{
  const PetscScalar *lval, *uval, *dinv;
  PetscInt           row;
  char               view[2048] = "";

  PetscFunctionBegin;
  CHECK(e->status.row < 0, "%s: row %" PetscInt_FMT " is rejected", what, e->status.row);
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  row = FactorFirstDifference(c, lval, uval, dinv, FUZZ_TOLERANCE);
  if (row < c->n) PetscCall(EngineView(e, view, sizeof(view)));
  CHECK(row == c->n, "%s: row %" PetscInt_FMT " of the factor is the first to differ from the reference\n%s", what, row, view);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzCheckSolutions(const Case *c, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *x, const char *what)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < nrhs; r++) {
    const PetscScalar *ref = c->x[trans == SYNCILU_TRANS] + r * c->ld, *own = x + r * c->ld;
    const PetscInt     row = SolutionFirstDifference(c->n, own, ref, FUZZ_TOLERANCE);

    CHECK(row == c->n, "%s: row %" PetscInt_FMT " of solution %" PetscInt_FMT " of %" PetscInt_FMT " is %.16g, the reference's %.16g; transposed %d", what, row,
          r, nrhs, (double)PetscRealPart(own[row]), (double)PetscRealPart(ref[row]), trans == SYNCILU_TRANS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEngine(Case *c, const char *matrix, PetscBool adoptable)
{
  const PetscBool adopt = (PetscBool)(adoptable && FuzzOnce(2));
  SyncILUSettings s;
  SyncILUEngine   e;
  MatFactorInfo   info;
  PetscScalar    *x;
  char            what[sizeof(said) + 32];

  PetscFunctionBegin;
  PetscCall(FuzzSettings(c->piv.relax, &s));
  PetscCall(FuzzSweeps(&s));
  FuzzSay("%s; update %s, sweeps %" PetscInt_FMT ", solve %s, analysis %s, vector size %" PetscInt_FMT ", prefetch %d, pattern of the matrix %d", matrix,
          SyncILUUpdates[s.update], SyncILUSweeps(&s), SyncILUSolves[s.solve], SyncILUAnalyses[s.analysis], s.vector_size, s.prefetch, adopt);
  Watch("%s", said);
  if (c->piv.sweeps != SyncILUSweeps(&s)) PetscCall(CaseRefer(c, SyncILUSweeps(&s)));
  PetscCall(CaseExpect(c, &s));
  PetscCall(FuzzEngine(&s, c, adopt, FuzzOnce(2), &e));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(PetscMalloc1(c->ld * NRHS, &x));
  for (int run = 0; run < 2; run++) { /* the second time with the plan of the first */
    PetscCall(FuzzFactor(e, c, FuzzOnce(2), &info));
    CHECK(e->status.row < 0, "%s: row %" PetscInt_FMT " is rejected", said, e->status.row);
    if (run == 0 || FuzzOnce(2)) PetscCall(FuzzCheckFactor(e, c, said));
    for (int k = 0; k < SOLVES; k++) {
      const SyncILUTranspose trans  = FuzzOnce(2) ? SYNCILU_TRANS : SYNCILU_NOTRANS;
      const PetscInt         nrhs   = FuzzOnce(2) ? 1 : 1 + FuzzBelow((int)c->nrhs);
      const PetscBool        device = FuzzOnce(2), inplace = FuzzOnce(3);

      PetscCall(PetscSNPrintf(what, sizeof(what), "%s; on the device %d, in place %d", said, device, inplace));
      PetscCall(FuzzSolve(e, c, trans, nrhs, device, inplace, x));
      PetscCall(FuzzCheckSolutions(c, trans, nrhs, x, what));
    }
  }
  PetscCall(PetscFree(x));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FuzzPattern(PetscInt seed, PetscRandom rand)
{
  const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGNATURAL, MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  const PetscReal   relaxes[]   = {0.0, 0.0, 0.7, 1.0};
  char              description[256], what[512];
  Mat               A;
  Case              c;
  int               ordering;
  PetscInt          levels;

  PetscFunctionBegin;
  PetscCall(FuzzSeed(seed, rand));
  PetscCall(FuzzMatrix(rand, &A, description, sizeof(description)));
  ordering = FuzzBelow(5);
  levels   = FuzzOnce(5) ? 1 + FuzzBelow(2) : 0;
  PetscCall(CaseCreate(A, orderings[ordering], levels, relaxes[FuzzBelow(4)], rand, &c));
  PetscCall(PetscSNPrintf(what, sizeof(what), "seed %" PetscInt_FMT ": %s; %s, levels %" PetscInt_FMT ", relax %g", seed, description, orderings[ordering],
                          levels, (double)c.piv.relax));
  for (int k = 0; k < ENGINES; k++) PetscCall(TestEngine(&c, what, (PetscBool)(ordering < 3 && !levels)));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
