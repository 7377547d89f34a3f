static char help[] = "The CUDA backend's phases against cuSPARSE, matrix by matrix: analysis, factorization, solves; each time beside its bound, each result checked.\n\
  -matrices a,b,...   names as in tests/generate.h, with their sizes, as 7pt:64x64x64\n\
  -file x.mtx,...     Matrix Market or PETSc binary files, after the named matrices or, without -matrices, alone\n\
  -small              a quick list\n\
  -strategies s,...   auto or UPDATE/SOLVE or UPDATE/SOLVE/ANALYSIS, as list/ell/asap; the values of the options -pc_syncilu_update and so on\n\
  -analysis s         of the strategies that name none\n\
  -repeat n           repetitions, of which the median is shown\n\
  -limit s            seconds that the repetitions of one time may take before they become fewer; there are three at least\n\
  -cusparse false     without cuSPARSE\n\
  -json file          appends a JSON line a case; without it they go to standard output\n\n";

#include <math.h>
#include <petsctime.h>
#include "bench.h"
#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)

  #include <petscdevice_cuda.h> /* includes cuSPARSE's header, without the warnings of what is deprecated */
  #include "../generate.h"
  #include "../load.h"
  #include "../case.h"
  #include "engine.h"
  #include "host/host.h"

enum {
  COLUMNS        = 16,
  STRATEGIES_MAX = 32,
  MATRICES_MAX   = 64,
  WHY            = 600
};
static const double hop       = 40e-9; /* s a level takes at least */
static const double tolerance = 1e-10; /* of a result, relative to the largest entry */

typedef enum {
  ANALYSIS,
  FIRST,
  REFACTOR,
  UPDATE, /* what cuSPARSE's solves need after a refactorization; ours need nothing, but for transposed ones, see below */
  SOLVE,
  TRANSPOSED,
  MANY,
  TANALYSIS, /* from here on not in the table: cuSPARSE wants another one for transposed solves */
  TFIRST,    /* our first transposed solve after a refactorization, which moves the values to where these want them */
  PHASES
} Phase;
static const char *const phases[PHASES] = {"analysis", "first", "refactor", "update", "solve", "transposed", "solve16", "analysis_transposed", "transposed_first"};

/* One implementation on one matrix: a row of the table. */
typedef struct {
  char      name[48];
  char      factorization[8];            /* of ours: what ran, also where another was asked for */
  double    time[PHASES], error[PHASES]; /* medians; NAN where there is none */
  PetscInt  repeats[PHASES];
  double    call; /* the analysis without creating and allocating what it fills */
  double    bytes;
  double    bytes_all; /* with what ours adds at the first transposed solve and at the first of many right-hand sides */
  PetscBool failed;
  char      why[WHY];
} Row;

typedef enum {
  CSRILU02_LEVEL,
  CSRILU02_NOLEVEL,
  SPSV,
  SPSM,
  CUSPARSE_ROWS
} CuSPARSERow;
static const char *const cusparse_rows[CUSPARSE_ROWS] = {"csrilu02 level", "csrilu02 no level", "SpSV", "SpSM"};

typedef struct {
  char            name[48];
  SyncILUSettings settings;
} Strategy;

typedef struct {
  PetscInt         repeat;
  PetscReal        limit; /* s that the repetitions of one time may take before they become fewer */
  int              width; /* of the table's first column */
  PetscInt         nstrategies;
  Strategy         strategy[STRATEGIES_MAX];
  PetscBool        cusparse, view;
  cudaStream_t     stream;
  cudaEvent_t      event[BENCH_REPEAT_MAX + 1];
  cusparseHandle_t handle;
  double           bandwidth; /* bytes/s read and written by a copy on the device */
  BenchJSON        json;
  BenchFailures    failures;
} Bench;

/* A matrix on host and device, the reference's factor of it and its solutions. */
typedef struct {
  char           name[64];
  Mat            A;
  SyncILUCSR     host;
  SyncILUPattern pattern;
  PetscInt       n, nnz, levels[2];
  PetscScalar   *ref;  /* lval, uval, dinv */
  double        *x[3]; /* solutions: of the first right-hand side, of the transposed system, of the last right-hand side */
  double        *copy;
  int           *di, *dj;
  double        *da[2];        /* the reference's values, and others */
  double        *df;           /* the reference's factor in the pattern of the matrix */
  double        *db, *dx, *dy; /* right-hand sides, solutions, what is between L and U */
} Problem;

/* All results of one matrix. */
typedef struct {
  char     name[64];
  PetscInt n, nnz, levels[2];
  double   bound[PHASES];
  Row      ours[STRATEGIES_MAX], theirs[CUSPARSE_ROWS];
} Result;

static void RowInitialize(Row *row, const char *name)
{
  (void)PetscMemzero(row, sizeof(*row));
  (void)PetscStrncpy(row->name, name, sizeof(row->name));
  for (int p = 0; p < PHASES; p++) row->time[p] = row->error[p] = NAN;
  row->call = row->bytes = row->bytes_all = NAN;
}

/* ---- clocks ---- */

typedef PetscErrorCode (*Action)(void *);

/* The host's clock around a call and the device's completion of it; before is not timed. */
static PetscErrorCode TimeCall(Action before, Action timed, void *ctx, double *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (before) PetscCall((*before)(ctx));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t0));
  PetscCall((*timed)(ctx));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Keep(Row *row, Phase phase, BenchSample *s)
{
  PetscFunctionBegin;
  row->time[phase]    = BenchMedian(s);
  row->repeats[phase] = s->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimeOnHost(const Bench *bench, Row *row, Phase phase, Action before, Action timed, void *ctx)
{
  BenchSample s;
  double      seconds = 0.0;

  PetscFunctionBegin;
  PetscCall(TimeCall(before, timed, ctx, &seconds));
  seconds = 0.0;
  for (s.n = 0; BenchMore(s.n, bench->repeat, seconds, bench->limit); s.n++) {
    PetscCall(TimeCall(before, timed, ctx, &s.t[s.n]));
    seconds += s.t[s.n];
  }
  PetscCall(Keep(row, phase, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The device's clock between calls that follow each other in the stream, so that the host's time to launch them is hidden as in a solver that runs ahead. Where there may be fewer repetitions than
   wanted each of them is waited for; they are far longer than a launch then.
*/
static PetscErrorCode TimeOnStream(const Bench *bench, Row *row, Phase phase, Action timed, void *ctx)
{
  BenchSample s;
  double      warm = 0.0, seconds = 0.0;
  PetscBool   wait;

  PetscFunctionBegin;
  PetscCall(TimeCall(NULL, timed, ctx, &warm)); /* may load kernels, and so says nothing of the next */
  if (warm * bench->repeat > bench->limit) PetscCall(TimeCall(NULL, timed, ctx, &warm));
  wait = (PetscBool)(warm * bench->repeat > bench->limit);
  if (!wait) PetscCall((*timed)(ctx));
  PetscCallCUDA(cudaEventRecord(bench->event[0], bench->stream));
  for (s.n = 0; BenchMore(s.n, bench->repeat, seconds, bench->limit); s.n++) {
    float ms;

    PetscCall((*timed)(ctx));
    PetscCallCUDA(cudaEventRecord(bench->event[s.n + 1], bench->stream));
    if (!wait) continue;
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCallCUDA(cudaEventElapsedTime(&ms, bench->event[s.n], bench->event[s.n + 1]));
    seconds += 1e-3 * ms;
  }
  PetscCallCUDA(cudaDeviceSynchronize());
  for (PetscInt r = 0; r < s.n; r++) {
    float ms;

    PetscCallCUDA(cudaEventElapsedTime(&ms, bench->event[r], bench->event[r + 1]));
    s.t[r] = 1e-3 * ms;
  }
  PetscCall(Keep(row, phase, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyBandwidth(Bench *bench)
{
  size_t      bytes = (size_t)1 << 30, free, total;
  char       *from, *to;
  BenchSample s = {0};

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemGetInfo(&free, &total));
  while (bytes > free / 4) bytes /= 2;
  PetscCallCUDA(cudaMalloc((void **)&from, bytes));
  PetscCallCUDA(cudaMalloc((void **)&to, bytes));
  PetscCallCUDA(cudaMemset(from, 1, bytes));
  for (PetscInt r = -3; r < 20; r++) {
    float ms;

    PetscCallCUDA(cudaEventRecord(bench->event[0], bench->stream));
    PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, bench->stream));
    PetscCallCUDA(cudaEventRecord(bench->event[1], bench->stream));
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCallCUDA(cudaEventElapsedTime(&ms, bench->event[0], bench->event[1]));
    if (r >= 0) s.t[s.n++] = 1e-3 * ms;
  }
  bench->bandwidth = 2.0 * (double)bytes / BenchMedian(&s);
  PetscCallCUDA(cudaFree(from));
  PetscCallCUDA(cudaFree(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- matrices ---- */

/* Repeatable and faster than PetscRandom, of which right-hand sides take many: Marsaglia's xorshift, Journal of Statistical Software 8 (14), 2003. */
static double Random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return (double)(*state >> 11) / 9007199254740992.0;
}

static PetscErrorCode Upload(const void *from, size_t bytes, void *to)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMalloc((void **)to, bytes ? bytes : 1));
  PetscCallCUDA(cudaMemcpy(*(void **)to, from, bytes, cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solution(const Problem *p, SyncILUTranspose trans, const double *b, double **x)
{
  const PetscInt nl = p->pattern.nl, nu = p->pattern.nu;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(p->n, x));
  PetscCall(SyncILUReferenceSolve(&p->pattern, p->ref, p->ref + nl, p->ref + nl + nu, trans, b, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemCreate(const char *name, PetscBool file, Problem *p)
{
  const SyncILUFill     fill = {0, 0};
  const SyncILUPivoting piv  = {MAT_SHIFT_NONE, 100 * PETSC_MACHINE_EPSILON, 0.0, 0.0};
  SyncILUStatus         status;
  PetscBool             done;
  PetscInt             *level, width, nl, nu;
  double               *v;
  uint64_t              state = 88172645463325252ULL;

  PetscFunctionBegin;
  if (file) {
    PetscCall(BenchFileName(name, p->name, sizeof(p->name)));
    PetscCall(LoadMatrix(PETSC_COMM_SELF, name, MATSEQAIJ, &p->A));
  } else {
    PetscRandom rand;

    PetscCall(PetscStrncpy(p->name, name, sizeof(p->name)));
    PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand)); /* always the same seed: a matrix does not depend on those before it */
    PetscCall(PetscRandomSetType(rand, PETSCRAND48));
    PetscCall(GenerateMatrix(name, 100000, rand, &p->A));
    PetscCall(PetscRandomDestroy(&rand));
  }
  PetscCall(MatGetRowIJ(p->A, 0, PETSC_FALSE, PETSC_FALSE, &p->n, &p->host.i, &p->host.j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No access to the rows");
  PetscCall(MatSeqAIJGetArrayRead(p->A, &p->host.a));
  p->nnz      = p->host.i[p->n];
  p->host.n   = p->n;
  p->host.nnz = p->nnz;
  p->host.mem = PETSC_MEMTYPE_HOST;
  PetscCall(SyncILUPatternCreate(&p->host, NULL, NULL, fill, &p->pattern));
  PetscCheck(!p->pattern.added && p->pattern.same, PETSC_COMM_SELF, PETSC_ERR_SUP, "The matrix lacks diagonal entries");
  nl = p->pattern.nl;
  nu = p->pattern.nu;
  PetscCall(PetscMalloc1(p->n, &level));
  PetscCall(SyncILUHostLevels(p->n, p->pattern.lptr, p->pattern.lcol, PETSC_TRUE, level, &p->levels[0], &width));
  PetscCall(SyncILUHostLevels(p->n, p->pattern.uptr, p->pattern.ucol, PETSC_FALSE, level, &p->levels[1], &width));
  PetscCall(PetscFree(level));
  BenchProgress("%s: %" PetscInt_FMT " rows, %" PetscInt_FMT " nonzeros: serial reference", p->name, p->n, p->nnz);
  PetscCall(PetscMalloc1((size_t)nl + nu + p->n, &p->ref));
  PetscCall(SyncILUReferenceFactor(&p->pattern, &p->host, &piv, p->ref, p->ref + nl, p->ref + nl + nu, &status));
  PetscCheck(status.row < 0, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "Zero pivot in row %" PetscInt_FMT, status.row);

  PetscCall(Upload(p->host.i, sizeof(int) * ((size_t)p->n + 1), &p->di));
  PetscCall(Upload(p->host.j, sizeof(int) * (size_t)p->nnz, &p->dj));
  PetscCall(Upload(p->host.a, sizeof(double) * (size_t)p->nnz, &p->da[0]));
  PetscCall(PetscMalloc1(PetscMax(p->n, p->nnz), &v));
  /* smaller beside the diagonal: what was dominant stays so */
  for (PetscInt i = 0; i < p->n; i++) {
    for (PetscInt k = p->host.i[i]; k < p->host.i[i + 1]; k++) v[k] = p->host.a[k] * (p->host.j[k] == i ? 1.0 : 1.0 - 0.1 * Random(&state));
  }
  PetscCall(Upload(v, sizeof(double) * (size_t)p->nnz, &p->da[1]));
  for (PetscInt i = 0; i < p->n; i++) {
    PetscInt k = p->host.i[i];

    for (PetscInt q = p->pattern.lptr[i]; q < p->pattern.lptr[i + 1]; q++) v[k++] = p->ref[q];
    v[k++] = 1.0 / p->ref[nl + nu + i];
    for (PetscInt q = p->pattern.uptr[i]; q < p->pattern.uptr[i + 1]; q++) v[k++] = p->ref[nl + q];
  }
  PetscCall(Upload(v, sizeof(double) * (size_t)p->nnz, &p->df));

  PetscCallCUDA(cudaMalloc((void **)&p->db, sizeof(double) * (size_t)p->n * COLUMNS));
  PetscCallCUDA(cudaMalloc((void **)&p->dx, sizeof(double) * (size_t)p->n * COLUMNS));
  PetscCallCUDA(cudaMalloc((void **)&p->dy, sizeof(double) * (size_t)p->n * COLUMNS));
  for (PetscInt r = 0; r < COLUMNS; r++) {
    for (PetscInt i = 0; i < p->n; i++) v[i] = 2 * Random(&state) - 1;
    if (r == 0) {
      PetscCall(Solution(p, SYNCILU_NOTRANS, v, &p->x[0]));
      PetscCall(Solution(p, SYNCILU_TRANS, v, &p->x[1]));
    } else if (r == COLUMNS - 1) PetscCall(Solution(p, SYNCILU_NOTRANS, v, &p->x[2]));
    PetscCallCUDA(cudaMemcpy(p->db + (size_t)r * p->n, v, sizeof(double) * p->n, cudaMemcpyHostToDevice));
  }
  PetscCall(PetscFree(v));
  PetscCall(PetscMalloc1(PetscMax(p->n, p->nnz), &p->copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscBool done;

  PetscFunctionBegin;
  if (p->host.i) PetscCall(MatRestoreRowIJ(p->A, 0, PETSC_FALSE, PETSC_FALSE, &p->n, &p->host.i, &p->host.j, &done));
  if (p->host.a) PetscCall(MatSeqAIJRestoreArrayRead(p->A, &p->host.a));
  PetscCall(SyncILUPatternDestroy(&p->pattern));
  PetscCall(MatDestroy(&p->A));
  PetscCall(PetscFree(p->ref));
  for (int k = 0; k < 3; k++) PetscCall(PetscFree(p->x[k]));
  PetscCall(PetscFree(p->copy));
  (void)cudaFree(p->di);
  (void)cudaFree(p->dj);
  (void)cudaFree(p->da[0]);
  (void)cudaFree(p->da[1]);
  (void)cudaFree(p->df);
  (void)cudaFree(p->db);
  (void)cudaFree(p->dx);
  (void)cudaFree(p->dy);
  (void)cudaGetLastError(); /* what failed here failed before, and was reported */
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least time: bytes that must move at the speed of a copy, or levels one after another. */
static double Bound(const Bench *bench, const Problem *p, Phase phase)
{
  const double n = p->n, nnz = p->nnz, both = p->levels[0] + p->levels[1];
  double       bytes, levels;

  switch (phase) {
  case ANALYSIS: /* reads the pattern; the levels of L and U do not wait for each other */
    bytes  = 4 * (nnz + n + 1);
    levels = PetscMax(p->levels[0], p->levels[1]);
    break;
  case FIRST:
  case REFACTOR: /* reads the pattern and the values, writes the factor */
    bytes  = 20 * nnz + 4 * (n + 1);
    levels = p->levels[0];
    break;
  case SOLVE:
  case TRANSPOSED: /* reads the factor with its diagonal, and each triangle reads a vector and writes one */
    bytes  = 12 * (nnz - n) + 8 * n + 32 * n;
    levels = both;
    break;
  case MANY:
    bytes  = 12 * (nnz - n) + 8 * n + 32 * n * COLUMNS;
    levels = both;
    break;
  default:
    return NAN;
  }
  return PetscMax(bytes / bench->bandwidth, levels * hop);
}

static PetscErrorCode Check(Problem *p, int which, double *error)
{
  const double *x   = p->x[which];
  double        max = 0.0, diff = 0.0;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCallCUDA(cudaMemcpy(p->copy, p->dx + (which == 2 ? (size_t)p->n * (COLUMNS - 1) : 0), sizeof(double) * p->n, cudaMemcpyDeviceToHost));
  for (PetscInt i = 0; i < p->n; i++) {
    const double d = fabs(p->copy[i] - x[i]);

    max = PetscMax(max, fabs(x[i]));
    if (!(d <= diff)) diff = d; /* keeps a NaN, then finds it below */
    if (isnan(diff)) break;
  }
  *error = isnan(diff) ? INFINITY : max > 0 ? diff / max : diff;
  /* what follows must not find this result in place of its own */
  PetscCallCUDA(cudaMemset(p->dx, 0xff, sizeof(double) * (size_t)p->n * COLUMNS));
  PetscCallCUDA(cudaDeviceSynchronize()); /* PETSc's stream does not wait for the default stream */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- syncilu ---- */

typedef struct {
  const Strategy *strategy;
  Problem        *p;
  SyncILUEngine   e;
  SyncILUCSR      csr;
  MatFactorInfo   info;
  int             turn; /* which of the two sets of values */
} Ours;

static PetscErrorCode OursDestroy(void *ctx)
{
  PetscFunctionBegin;
  PetscCall(SyncILUEngineDestroy(&((Ours *)ctx)->e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OursAnalyze(void *ctx)
{
  Ours     *o       = (Ours *)ctx;
  PetscBool regular = PETSC_FALSE, again;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineCreate(&o->strategy->settings, o->csr.n, &o->e));
  PetscCheck(o->e->ops->adopt, PETSC_COMM_SELF, PETSC_ERR_SUP, "The backend takes no pattern from the device");
  PetscCall((*o->e->ops->adopt)(o->e, &o->csr, &regular));
  PetscCheck(regular, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The backend does not take the rows as the pattern");
  PetscCall(SyncILUEngineSetUp(o->e, &again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OursFactor(void *ctx)
{
  Ours *o = (Ours *)ctx;

  PetscFunctionBegin;
  o->csr.a = o->p->da[o->turn];
  PetscCall(SyncILUEngineFactor(o->e, &o->csr, &o->info));
  PetscCheck(o->e->status.row < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Pivot %g rejected in row %" PetscInt_FMT, (double)o->e->status.pivot, o->e->status.row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OursTurn(void *ctx)
{
  ((Ours *)ctx)->turn ^= 1;
  return PETSC_SUCCESS;
}

static PetscErrorCode OursSolve(void *ctx)
{
  Ours *o = (Ours *)ctx;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineSolve(o->e, SYNCILU_NOTRANS, 1, o->p->db, o->csr.n, o->p->dx, o->csr.n, PETSC_MEMTYPE_DEVICE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OursTransposed(void *ctx)
{
  Ours *o = (Ours *)ctx;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineSolve(o->e, SYNCILU_TRANS, 1, o->p->db, o->csr.n, o->p->dx, o->csr.n, PETSC_MEMTYPE_DEVICE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OursMany(void *ctx)
{
  Ours *o = (Ours *)ctx;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineSolve(o->e, SYNCILU_NOTRANS, COLUMNS, o->p->db, o->csr.n, o->p->dx, o->csr.n, PETSC_MEMTYPE_DEVICE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the engine's view says of the factorization. */
static PetscErrorCode WhatRuns(SyncILUEngine e, Row *row)
{
  char        text[2048];
  const char *found;

  PetscFunctionBegin;
  PetscCall(EngineView(e, text, sizeof(text)));
  found = strstr(text, "factorization: ");
  if (found) (void)sscanf(found, "factorization: %7[a-z]", row->factorization);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunOurs(const Bench *bench, Ours *o, Row *row)
{
  BenchSample       analysis = {0}, first = {0};
  SyncILUStatistics stats;
  double            seconds = 0.0;

  PetscFunctionBegin;
  for (PetscInt r = -1; r < 0 || BenchMore(r, bench->repeat, seconds, bench->limit); r++) {
    double a = 0.0, f = 0.0;

    PetscCall(OursDestroy(o));
    PetscCall(TimeCall(NULL, OursAnalyze, o, &a));
    PetscCall(TimeCall(NULL, OursFactor, o, &f));
    if (r < 0) continue;
    analysis.t[analysis.n++] = a;
    first.t[first.n++]       = f;
    seconds += a + f;
  }
  PetscCall(Keep(row, ANALYSIS, &analysis));
  PetscCall(Keep(row, FIRST, &first));
  PetscCall(WhatRuns(o->e, row));
  PetscCall(OursSolve(o));
  PetscCall(Check(o->p, 0, &row->error[FIRST]));
  PetscCall(TimeOnHost(bench, row, REFACTOR, OursTurn, OursFactor, o));
  if (o->turn) { /* the reference has the first values alone */
    o->turn = 0;
    PetscCall(OursFactor(o));
  }
  PetscCall(OursSolve(o));
  PetscCall(Check(o->p, 0, &row->error[REFACTOR]));
  PetscCall(TimeOnStream(bench, row, SOLVE, OursSolve, o));
  PetscCall(Check(o->p, 0, &row->error[SOLVE]));
  PetscCall(SyncILUEngineStatistics(o->e, &stats));
  row->bytes = (double)stats.bytes;
  PetscCall(TimeOnStream(bench, row, TRANSPOSED, OursTransposed, o));
  PetscCall(Check(o->p, 1, &row->error[TRANSPOSED]));
  PetscCall(TimeOnHost(bench, row, TFIRST, OursFactor, OursTransposed, o));
  PetscCall(Check(o->p, 1, &row->error[TFIRST]));
  PetscCall(TimeOnStream(bench, row, MANY, OursMany, o));
  PetscCall(Check(o->p, 2, &row->error[MANY]));
  PetscCall(SyncILUEngineStatistics(o->e, &stats));
  row->bytes_all = (double)stats.bytes;
  PetscCheck(stats.levels[0] == o->p->levels[0] && stats.levels[1] == o->p->levels[1], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The statistics say %" PetscInt_FMT " and %" PetscInt_FMT " levels", stats.levels[0], stats.levels[1]);
  if (bench->view) PetscCall((*o->e->ops->view)(o->e, PETSC_VIEWER_STDOUT_SELF));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- cuSPARSE ---- */

/* cuSPARSE allocates inside too: what it holds is what the device has less. */
static PetscErrorCode FreeBytes(double *bytes)
{
  size_t free, total;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCallCUDA(cudaMemGetInfo(&free, &total));
  *bytes = (double)free;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  cusparseHandle_t      handle;
  Problem              *p;
  cusparseSolvePolicy_t policy;
  cusparseMatDescr_t    descr;
  csrilu02Info_t        info;
  void                 *buffer;
  double               *factor;
  double                call; /* the last analysis alone */
} Csrilu02;

static PetscErrorCode Csrilu02Reset(Csrilu02 *c)
{
  PetscFunctionBegin;
  if (c->info) (void)cusparseDestroyCsrilu02Info(c->info);
  if (c->descr) (void)cusparseDestroyMatDescr(c->descr);
  (void)cudaFree(c->buffer);
  (void)cudaFree(c->factor);
  (void)cudaGetLastError();
  c->info   = NULL;
  c->descr  = NULL;
  c->buffer = NULL;
  c->factor = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Csrilu02Analyze(void *ctx)
{
  Csrilu02      *c = (Csrilu02 *)ctx;
  Problem       *p = c->p;
  int            size;
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseCreateMatDescr(&c->descr));
  PetscCallCUSPARSE(cusparseCreateCsrilu02Info(&c->info));
  PetscCallCUDA(cudaMalloc((void **)&c->factor, sizeof(double) * (size_t)p->nnz));
  PetscCallCUSPARSE(cusparseDcsrilu02_bufferSize(c->handle, p->n, p->nnz, c->descr, c->factor, p->di, p->dj, c->info, &size));
  PetscCallCUDA(cudaMalloc(&c->buffer, size));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t0));
  PetscCallCUSPARSE(cusparseDcsrilu02_analysis(c->handle, p->n, p->nnz, c->descr, p->da[0], p->di, p->dj, c->info, c->policy, c->buffer));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t1));
  c->call = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* It factors in place. The copy is not part of its time, though a preconditioner needs it. */
static PetscErrorCode Csrilu02Copy(void *ctx)
{
  Csrilu02 *c = (Csrilu02 *)ctx;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemcpy(c->factor, c->p->da[0], sizeof(double) * (size_t)c->p->nnz, cudaMemcpyDeviceToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Csrilu02Factor(void *ctx)
{
  Csrilu02 *c = (Csrilu02 *)ctx;
  Problem  *p = c->p;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseDcsrilu02(c->handle, p->n, p->nnz, c->descr, c->factor, p->di, p->dj, c->info, c->policy, c->buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of L and U against the reference's, relative to the largest entry of the row in each. */
static PetscErrorCode Csrilu02Check(Csrilu02 *c, double *error)
{
  Problem              *p = c->p;
  const SyncILUPattern *q = &p->pattern;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemcpy(p->copy, c->factor, sizeof(double) * (size_t)p->nnz, cudaMemcpyDeviceToHost));
  *error = 0.0;
  for (PetscInt i = 0; i < p->n; i++) {
    const double *f = p->copy + p->host.i[i];
    double        diff[2], max[2];

    max[0] = diff[0] = 0.0;
    for (PetscInt k = q->lptr[i]; k < q->lptr[i + 1]; k++, f++) {
      diff[0] = fmax(diff[0], fabs(*f - p->ref[k]));
      max[0]  = fmax(max[0], fabs(p->ref[k]));
      if (isnan(*f)) diff[0] = INFINITY;
    }
    max[1]  = fabs(1.0 / p->ref[q->nl + q->nu + i]);
    diff[1] = fabs(*f - 1.0 / p->ref[q->nl + q->nu + i]);
    if (isnan(*f++)) diff[1] = INFINITY;
    for (PetscInt k = q->uptr[i]; k < q->uptr[i + 1]; k++, f++) {
      diff[1] = fmax(diff[1], fabs(*f - p->ref[q->nl + k]));
      max[1]  = fmax(max[1], fabs(p->ref[q->nl + k]));
      if (isnan(*f)) diff[1] = INFINITY;
    }
    for (int t = 0; t < 2; t++) {
      if (diff[t] > 0) *error = fmax(*error, diff[t] / max[t]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunCsrilu02(const Bench *bench, Csrilu02 *c, Row *row)
{
  BenchSample analysis = {0}, first = {0}, call = {0};
  double      seconds = 0.0, before, after;

  PetscFunctionBegin;
  for (PetscInt r = -1; r < 0 || BenchMore(r, bench->repeat, seconds, bench->limit); r++) {
    double a = 0.0, f = 0.0;

    PetscCall(Csrilu02Reset(c));
    PetscCall(FreeBytes(&before));
    PetscCall(TimeCall(NULL, Csrilu02Analyze, c, &a));
    PetscCall(TimeCall(Csrilu02Copy, Csrilu02Factor, c, &f));
    if (r < 0) continue;
    analysis.t[analysis.n++] = a;
    first.t[first.n++]       = f;
    call.t[call.n++]         = c->call;
    seconds += a + f;
  }
  PetscCall(FreeBytes(&after));
  row->bytes = before - after;
  row->call  = BenchMedian(&call);
  PetscCall(Keep(row, ANALYSIS, &analysis));
  PetscCall(Keep(row, FIRST, &first));
  PetscCall(Csrilu02Check(c, &row->error[FIRST]));
  PetscCall(TimeOnHost(bench, row, REFACTOR, Csrilu02Copy, Csrilu02Factor, c));
  PetscCall(Csrilu02Check(c, &row->error[REFACTOR]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The two triangular solves by SpSV, or of many right-hand sides by SpSM. */
typedef struct {
  cusparseHandle_t     handle;
  Problem             *p;
  PetscBool            many;
  cusparseOperation_t  op;
  cusparseSpMatDescr_t matrix[2]; /* L, U */
  cusparseDnVecDescr_t vec[3];    /* b, y, x */
  cusparseDnMatDescr_t mat[3];
  cusparseSpSVDescr_t  spsv[2]; /* in the order of the solves, as are the next two */
  cusparseSpSMDescr_t  spsm[2];
  void                *buffer[2];
  double               call;
} Triangles;

static PetscErrorCode TrianglesReset(Triangles *t)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    if (t->spsv[k]) (void)cusparseSpSV_destroyDescr(t->spsv[k]);
    if (t->spsm[k]) (void)cusparseSpSM_destroyDescr(t->spsm[k]);
    if (t->matrix[k]) (void)cusparseDestroySpMat(t->matrix[k]);
    (void)cudaFree(t->buffer[k]);
    t->spsv[k]   = NULL;
    t->spsm[k]   = NULL;
    t->matrix[k] = NULL;
    t->buffer[k] = NULL;
  }
  for (int k = 0; k < 3; k++) {
    if (t->vec[k]) (void)cusparseDestroyDnVec(t->vec[k]);
    if (t->mat[k]) (void)cusparseDestroyDnMat(t->mat[k]);
    t->vec[k] = NULL;
    t->mat[k] = NULL;
  }
  (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which triangle the k-th solve takes: L first, but U^T first. */
static int Triangle(const Triangles *t, int k)
{
  return t->op == CUSPARSE_OPERATION_NON_TRANSPOSE ? k : 1 - k;
}

static PetscErrorCode TrianglesAnalyze(void *ctx)
{
  Triangles     *t     = (Triangles *)ctx;
  Problem       *p     = t->p;
  const double   alpha = 1.0;
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  t->call = 0.0;
  for (int k = 0; k < 3; k++) {
    double *const v[3] = {p->db, p->dy, p->dx};

    if (t->many) PetscCallCUSPARSE(cusparseCreateDnMat(&t->mat[k], p->n, COLUMNS, p->n, v[k], CUDA_R_64F, CUSPARSE_ORDER_COL));
    else PetscCallCUSPARSE(cusparseCreateDnVec(&t->vec[k], p->n, v[k], CUDA_R_64F));
  }
  for (int k = 0; k < 2; k++) {
    cusparseFillMode_t uplo = k ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = k ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;

    PetscCallCUSPARSE(cusparseCreateCsr(&t->matrix[k], p->n, p->n, p->nnz, p->di, p->dj, p->df, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix[k], CUSPARSE_SPMAT_FILL_MODE, &uplo, sizeof(uplo)));
    PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix[k], CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof(diag)));
  }
  for (int k = 0; k < 2; k++) {
    cusparseSpMatDescr_t matrix = t->matrix[Triangle(t, k)];
    size_t               size;

    if (t->many) {
      PetscCallCUSPARSE(cusparseSpSM_createDescr(&t->spsm[k]));
      PetscCallCUSPARSE(cusparseSpSM_bufferSize(t->handle, t->op, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, t->mat[k], t->mat[k + 1], CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, t->spsm[k], &size));
    } else {
      PetscCallCUSPARSE(cusparseSpSV_createDescr(&t->spsv[k]));
      PetscCallCUSPARSE(cusparseSpSV_bufferSize(t->handle, t->op, &alpha, matrix, t->vec[k], t->vec[k + 1], CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->spsv[k], &size));
    }
    PetscCallCUDA(cudaMalloc(&t->buffer[k], size ? size : 1));
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCall(PetscTime(&t0));
    if (t->many) PetscCallCUSPARSE(cusparseSpSM_analysis(t->handle, t->op, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, t->mat[k], t->mat[k + 1], CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, t->spsm[k], t->buffer[k]));
    else PetscCallCUSPARSE(cusparseSpSV_analysis(t->handle, t->op, &alpha, matrix, t->vec[k], t->vec[k + 1], CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->spsv[k], t->buffer[k]));
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCall(PetscTime(&t1));
    t->call += t1 - t0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #if CUSPARSE_VERSION >= 12100
static PetscErrorCode TrianglesUpdate(void *ctx)
{
  Triangles *t = (Triangles *)ctx;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCallCUSPARSE(cusparseSpSV_updateMatrix(t->handle, t->spsv[k], t->p->df, CUSPARSE_SPSV_UPDATE_GENERAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
  #endif

static PetscErrorCode TrianglesSolve(void *ctx)
{
  Triangles   *t     = (Triangles *)ctx;
  const double alpha = 1.0;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    cusparseSpMatDescr_t matrix = t->matrix[Triangle(t, k)];

    if (t->many) PetscCallCUSPARSE(cusparseSpSM_solve(t->handle, t->op, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix, t->mat[k], t->mat[k + 1], CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, t->spsm[k]));
    else PetscCallCUSPARSE(cusparseSpSV_solve(t->handle, t->op, &alpha, matrix, t->vec[k], t->vec[k + 1], CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, t->spsv[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Analysis and solves with one operation; its times go to the two phases. */
static PetscErrorCode RunTriangles(const Bench *bench, Triangles *t, Row *row, Phase analysis, Phase solve)
{
  BenchSample s = {0}, call = {0};
  double      seconds = 0.0, before, after;

  PetscFunctionBegin;
  for (PetscInt r = -1; r < 0 || BenchMore(r, bench->repeat, seconds, bench->limit); r++) {
    double a = 0.0;

    PetscCall(TrianglesReset(t));
    PetscCall(FreeBytes(&before));
    PetscCall(TimeCall(NULL, TrianglesAnalyze, t, &a));
    if (r < 0) continue;
    s.t[s.n++]       = a;
    call.t[call.n++] = t->call;
    seconds += a;
  }
  PetscCall(FreeBytes(&after));
  PetscCall(Keep(row, analysis, &s));
  if (analysis == ANALYSIS) {
    row->bytes = before - after;
    row->call  = BenchMedian(&call);
  }
  #if CUSPARSE_VERSION >= 12100
  if (solve == SOLVE) PetscCall(TimeOnStream(bench, row, UPDATE, TrianglesUpdate, t));
  #endif
  PetscCall(TimeOnStream(bench, row, solve, TrianglesSolve, t));
  PetscCall(Check(t->p, solve == MANY ? 2 : solve == TRANSPOSED, &row->error[solve]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSpSV(const Bench *bench, Triangles *t, Row *row)
{
  PetscFunctionBegin;
  t->op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  PetscCall(RunTriangles(bench, t, row, ANALYSIS, SOLVE));
  t->op = CUSPARSE_OPERATION_TRANSPOSE;
  PetscCall(RunTriangles(bench, t, row, TANALYSIS, TRANSPOSED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSpSM(const Bench *bench, Triangles *t, Row *row)
{
  PetscFunctionBegin;
  t->op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  PetscCall(RunTriangles(bench, t, row, ANALYSIS, MANY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- output ---- */

/* A wrong result of ours is a failure, one of cuSPARSE's is shown. */
static PetscErrorCode Judge(Bench *bench, const Result *res, const Row *row, PetscBool ours)
{
  PetscFunctionBegin;
  if (row->failed) PetscCall(BenchFail(&bench->failures, res->name, row->name, row->why));
  for (int p = 0; p < PHASES; p++) {
    if (!(row->error[p] > tolerance)) continue;
    if (ours) {
      char why[64];

      PetscCall(PetscSNPrintf(why, sizeof(why), "%s is off by %.1e", phases[p], row->error[p]));
      PetscCall(BenchFail(&bench->failures, res->name, row->name, why));
    } else PetscCall(PetscPrintf(PETSC_COMM_SELF, "note: %s of %s on %s is off by %.1e\n", phases[p], row->name, res->name, row->error[p]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double CSRBytes(const Result *res)
{
  return 12.0 * res->nnz + 4.0 * (res->n + 1);
}

static PetscErrorCode WriteJSON(const Bench *bench, const Result *res, const Row *row, const char *library)
{
  PetscFunctionBegin;
  for (int p = 0; p <= PHASES; p++) {
    if (p < PHASES ? isnan(row->time[p]) : !row->failed) continue;
    PetscCall(BenchJSONBegin(bench->json));
    PetscCall(BenchJSONText(bench->json, "bench", "kernels"));
    PetscCall(BenchJSONText(bench->json, "matrix", res->name));
    PetscCall(BenchJSONNumber(bench->json, "rows", res->n));
    PetscCall(BenchJSONNumber(bench->json, "nonzeros", res->nnz));
    PetscCall(BenchJSONNumber(bench->json, "levels_l", res->levels[0]));
    PetscCall(BenchJSONNumber(bench->json, "levels_u", res->levels[1]));
    PetscCall(BenchJSONText(bench->json, "library", library));
    PetscCall(BenchJSONText(bench->json, "strategy", row->name));
    if (row->factorization[0]) PetscCall(BenchJSONText(bench->json, "factorization", row->factorization));
    if (p == PHASES) PetscCall(BenchJSONText(bench->json, "failed", row->why));
    else {
      PetscCall(BenchJSONText(bench->json, "phase", phases[p]));
      PetscCall(BenchJSONNumber(bench->json, "seconds", row->time[p]));
      PetscCall(BenchJSONNumber(bench->json, "repeats", row->repeats[p]));
      PetscCall(BenchJSONNumber(bench->json, "bound", res->bound[p]));
      PetscCall(BenchJSONNumber(bench->json, "error", row->error[p]));
      if (p == ANALYSIS) {
        PetscCall(BenchJSONNumber(bench->json, "seconds_call", row->call));
        PetscCall(BenchJSONNumber(bench->json, "bytes", row->bytes));
        if (!isnan(row->bytes_all)) PetscCall(BenchJSONNumber(bench->json, "bytes_all", row->bytes_all));
        PetscCall(BenchJSONNumber(bench->json, "csr_bytes", CSRBytes(res)));
      }
    }
    PetscCall(BenchJSONEnd(bench->json));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintRow(const Bench *bench, const Result *res, const Row *row)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-*s", bench->width, row->name));
  for (int p = 0; p < TANALYSIS; p++) {
    /* ! wrong, * few repetitions */
    const char mark = row->error[p] > tolerance ? '!' : row->repeats[p] < bench->repeat ? '*' : ' ';

    if (isnan(row->time[p])) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %16s", "-"));
    else if (isnan(res->bound[p])) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.3f%c       ", 1e3 * row->time[p], mark));
    else PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.3f%c%6.1fx", 1e3 * row->time[p], mark, row->time[p] / res->bound[p]));
  }
  if (!isnan(row->bytes)) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.1f %5.2fx", 1e-6 * row->bytes, row->bytes / CSRBytes(res)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%s\n", row->factorization[0] ? " " : "", row->factorization));
  if (row->failed) PetscCall(PetscPrintf(PETSC_COMM_SELF, "    failed: %s\n", row->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintResult(const Bench *bench, const Result *res)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%s: %" PetscInt_FMT " rows, %" PetscInt_FMT " nonzeros, %" PetscInt_FMT " and %" PetscInt_FMT " levels, %.1f rows a level\n", res->name, res->n, res->nnz, res->levels[0], res->levels[1],
                        (double)res->n / PetscMax(1, res->levels[0])));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-*s", bench->width, "ms, x bound"));
  for (int p = 0; p < TANALYSIS; p++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %16s", phases[p]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, " %15s ran\n  %-*s", "MB, x CSR", bench->width, "bound"));
  for (int p = 0; p < TANALYSIS; p++) {
    if (isnan(res->bound[p])) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %16s", "-"));
    else PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.3f        ", 1e3 * res->bound[p]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  for (PetscInt s = 0; s < bench->nstrategies; s++) PetscCall(PrintRow(bench, res, &res->ours[s]));
  for (int c = 0; c < CUSPARSE_ROWS && bench->cusparse; c++) PetscCall(PrintRow(bench, res, &res->theirs[c]));
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cuSPARSE's time over ours; NAN where one is missing. A wrong result has no time. */
typedef enum {
  RATIO_SOLVE,
  RATIO_TRANSPOSED,
  RATIO_MANY,
  RATIO_REFACTOR,
  RATIO_ANALYSIS,
  RATIO_CALL,
  RATIOS
} Ratio;
static const char *const ratios[RATIOS] = {"solve", "transposed", "solve16", "refactor", "analysis", "(calls)"};

static double Good(const Row *row, Phase p)
{
  return row->error[p] > tolerance ? NAN : row->time[p];
}

static double RatioOf(const Result *res, PetscInt s, Ratio which)
{
  const Row   *o = &res->ours[s], *level = &res->theirs[CSRILU02_LEVEL], *nolevel = &res->theirs[CSRILU02_NOLEVEL], *spsv = &res->theirs[SPSV], *spsm = &res->theirs[SPSM], *better;
  const double l = Good(level, REFACTOR), nl = Good(nolevel, REFACTOR);

  better = isnan(l) || nl < l ? nolevel : level;
  switch (which) {
  case RATIO_SOLVE:
    return Good(spsv, SOLVE) / Good(o, SOLVE);
  case RATIO_TRANSPOSED:
    return Good(spsv, TRANSPOSED) / Good(o, TRANSPOSED);
  case RATIO_MANY:
    return Good(spsm, MANY) / Good(o, MANY);
  case RATIO_REFACTOR:
    return Good(better, REFACTOR) / Good(o, REFACTOR);
  case RATIO_ANALYSIS:
    return (better->time[ANALYSIS] + spsv->time[ANALYSIS]) / o->time[ANALYSIS];
  default:
    return (better->call + spsv->call) / o->time[ANALYSIS];
  }
}

static PetscErrorCode PrintSummary(const Bench *bench, PetscInt nresults, const Result *res)
{
  PetscFunctionBegin;
  if (!bench->cusparse) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt s = 0; s < bench->nstrategies; s++) {
    double   mean[RATIOS];
    PetscInt counts[RATIOS];

    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%s: cuSPARSE's time over syncilu's\n  %-24s %9s %10s %12s", bench->strategy[s].name, "matrix", "rows", "nonzeros", "levels"));
    for (int r = 0; r < RATIOS; r++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10s", ratios[r]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8s\n", "x CSR"));
    for (PetscInt k = 0; k < nresults; k++) {
      if (!res[k].nnz) continue;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-24s %9" PetscInt_FMT " %10" PetscInt_FMT " %12" PetscInt_FMT, res[k].name, res[k].n, res[k].nnz, res[k].levels[0]));
      for (int r = 0; r < RATIOS; r++) {
        const double ratio = RatioOf(&res[k], s, (Ratio)r);

        if (isnan(ratio)) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10s", "-"));
        else PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10.2f", ratio));
      }
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.2f\n", res[k].ours[s].bytes / CSRBytes(&res[k])));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-58s", "geometric mean"));
    for (int r = 0; r < RATIOS; r++) {
      double   sum   = 0.0;
      PetscInt count = 0;

      for (PetscInt k = 0; k < nresults; k++) {
        const double ratio = res[k].nnz ? RatioOf(&res[k], s, (Ratio)r) : NAN;

        if (!(ratio > 0) || isinf(ratio)) continue;
        sum += log(ratio);
        count++;
      }
      counts[r] = count;
      mean[r]   = exp(sum / PetscMax(1, count));
      if (count) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10.2f", mean[r]));
      else PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10s", "-"));
    }
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
    for (int r = 0; r < RATIOS; r++) {
      if (!counts[r]) continue;
      PetscCall(BenchJSONBegin(bench->json));
      PetscCall(BenchJSONText(bench->json, "bench", "kernels-mean"));
      PetscCall(BenchJSONText(bench->json, "strategy", bench->strategy[s].name));
      PetscCall(BenchJSONText(bench->json, "ratio", ratios[r]));
      PetscCall(BenchJSONNumber(bench->json, "mean", mean[r]));
      PetscCall(BenchJSONNumber(bench->json, "matrices", counts[r]));
      PetscCall(BenchJSONEnd(bench->json));
    }
  }
  PetscCall(
    PetscPrintf(PETSC_COMM_SELF,
                "\nsolve and transposed: SpSV of both triangles; solve16: SpSM with %d right-hand sides; refactor: the better policy of csrilu02, which works in place and leaves updateMatrix to be done;\n"
                "analysis: those of that csrilu02 and of SpSV for L and U; (calls): the same without their allocations, which ours includes; x CSR: bytes held over those of the matrix, before a transposed solve or one of %d right-hand sides\n",
                COLUMNS, COLUMNS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- runs ---- */

static PetscErrorCode RunMatrix(Bench *bench, const char *name, PetscBool file, Result *res)
{
  Problem   p;
  PetscBool failed;
  char      why[WHY];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof(p)));
  BenchProgress("%s: %s", name, file ? "reading" : "generating");
  BenchTry(ProblemCreate(name, file, &p), why, sizeof(why), &failed);
  if (failed) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%s: skipped: %s\n", name, why));
    PetscCall(BenchFail(&bench->failures, name, "matrix", why));
    BenchTry(ProblemDestroy(&p), why, sizeof(why), &failed);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrncpy(res->name, p.name, sizeof(res->name)));
  res->n         = p.n;
  res->nnz       = p.nnz;
  res->levels[0] = p.levels[0];
  res->levels[1] = p.levels[1];
  for (int k = 0; k < PHASES; k++) res->bound[k] = Bound(bench, &p, (Phase)k);
  for (PetscInt s = 0; s < bench->nstrategies; s++) {
    Row *row = &res->ours[s];
    Ours o;

    RowInitialize(row, bench->strategy[s].name);
    BenchProgress("%s: %s", p.name, row->name);
    PetscCall(PetscMemzero(&o, sizeof(o)));
    o.strategy = &bench->strategy[s];
    o.p        = &p;
    o.csr      = p.host;
    o.csr.i    = p.di;
    o.csr.j    = p.dj;
    o.csr.a    = p.da[0];
    o.csr.mem  = PETSC_MEMTYPE_DEVICE;
    PetscCall(MatFactorInfoInitialize(&o.info));
    o.info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
    o.info.shifttype = (PetscReal)MAT_SHIFT_NONE;
    BenchTry(RunOurs(bench, &o, row), row->why, sizeof(row->why), &row->failed);
    BenchTry(OursDestroy(&o), why, sizeof(why), &failed);
    (void)cudaGetLastError();
    PetscCall(Judge(bench, res, row, PETSC_TRUE));
    PetscCall(WriteJSON(bench, res, row, "syncilu"));
  }
  for (int c = 0; c < CUSPARSE_ROWS; c++) {
    Row *row = &res->theirs[c];

    RowInitialize(row, cusparse_rows[c]);
    if (!bench->cusparse) continue;
    BenchProgress("%s: %s", p.name, row->name);
    if (c == SPSV || c == SPSM) {
      Triangles t = {0};

      t.handle = bench->handle;
      t.p      = &p;
      t.many   = (PetscBool)(c == SPSM);
      if (t.many) BenchTry(RunSpSM(bench, &t, row), row->why, sizeof(row->why), &row->failed);
      else BenchTry(RunSpSV(bench, &t, row), row->why, sizeof(row->why), &row->failed);
      PetscCall(TrianglesReset(&t));
    } else {
      Csrilu02 f = {0};

      f.handle = bench->handle;
      f.p      = &p;
      f.policy = c == CSRILU02_LEVEL ? CUSPARSE_SOLVE_POLICY_USE_LEVEL : CUSPARSE_SOLVE_POLICY_NO_LEVEL;
      BenchTry(RunCsrilu02(bench, &f, row), row->why, sizeof(row->why), &row->failed);
      PetscCall(Csrilu02Reset(&f));
    }
    PetscCall(Judge(bench, res, row, PETSC_FALSE));
    PetscCall(WriteJSON(bench, res, row, "cusparse"));
  }
  PetscCall(PrintResult(bench, res));
  BenchTry(ProblemDestroy(&p), why, sizeof(why), &failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ParseStrategy(const char *text, PetscInt vector_size, SyncILUAnalysis analysis, Strategy *s)
{
  const char *const        what[]  = {"update", "solve", "analysis"};
  const char *const *const names[] = {SyncILUUpdates, SyncILUSolves, SyncILUAnalyses};
  PetscEnum *const         value[] = {(PetscEnum *)&s->settings.update, (PetscEnum *)&s->settings.solve, (PetscEnum *)&s->settings.analysis};
  char                   **part;
  int                      parts;
  PetscBool                automatic;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(s->name, text, sizeof(s->name)));
  SyncILUSettingsInitialize(&s->settings);
  s->settings.backend     = SYNCILU_BACKEND_CUDA;
  s->settings.vector_size = vector_size;
  s->settings.analysis    = analysis;
  PetscCall(PetscStrcmp(text, "auto", &automatic));
  if (automatic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrToArray(text, '/', &parts, &part));
  PetscCheck(parts == 2 || parts == 3, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-strategies %s: want auto or UPDATE/SOLVE or UPDATE/SOLVE/ANALYSIS", text);
  for (int k = 0; k < parts; k++) {
    PetscBool known;

    PetscCall(PetscEnumFind(names[k], part[k], value[k], &known));
    PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-strategies %s: no %s is called %s", text, what[k], part[k]);
  }
  PetscCall(PetscStrToArrayDestroy(parts, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintMachine(const Bench *bench)
{
  struct cudaDeviceProp prop;
  int                   device, driver, runtime, cusparse;
  char                  petsc[256], line[128];

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaGetDeviceProperties(&prop, device));
  PetscCallCUDA(cudaDriverGetVersion(&driver));
  PetscCallCUDA(cudaRuntimeGetVersion(&runtime));
  PetscCallCUSPARSE(cusparseGetVersion(bench->handle, &cusparse));
  PetscCall(PetscGetVersion(petsc, sizeof(petsc)));
  PetscCall(PetscGetDate(line, sizeof(line)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n%s, CUDA runtime %d.%d, driver for %d.%d, cuSPARSE %d, %s\n", line, prop.name, runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10, cusparse, petsc));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "copy on the device: %.0f GB/s read and written; bounds: bytes at that speed, or %g ns a level\n", 1e-9 * bench->bandwidth, 1e9 * hop));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "medians of %" PetscInt_FMT " (* fewer, as more would take longer than %g s); ! differs from the serial reference by more than %g\n", bench->repeat, bench->limit, tolerance));
  PetscCall(BenchJSONBegin(bench->json));
  PetscCall(BenchJSONText(bench->json, "bench", "machine"));
  PetscCall(BenchJSONText(bench->json, "date", line));
  PetscCall(BenchJSONText(bench->json, "gpu", prop.name));
  PetscCall(BenchJSONNumber(bench->json, "cuda", runtime));
  PetscCall(BenchJSONNumber(bench->json, "cusparse", cusparse));
  PetscCall(BenchJSONText(bench->json, "petsc", petsc));
  PetscCall(BenchJSONNumber(bench->json, "copy_bytes_per_second", bench->bandwidth));
  PetscCall(BenchJSONEnd(bench->json));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const names[] = {"5pt:1000x1000",     "7pt:64x64x64",        "7pt:160x160x160",    "7pt:148x148x58", "27pt:80x80x80",    "15pt:90x90x90",    "15pt_random:90x90x90",
                               "15pt_rcm:90x90x90", "elasticity:40x40x40", "tridiagonal:100000", "random:1000000", "random200:100000", "powerlaw:1000000", "arrow:50000"};
  const char *const small[] = {"5pt:100x100", "7pt:32x32x32", "15pt_random:20x20x20", "elasticity:10x10x10", "tridiagonal:1000", "random:20000", "arrow:10000"};
  const char *const usual[] = {"auto", "list/ell/asap", "list/csr/asap", "vect/ell/asap", "vect/csr/asap", "auto/ell/alap", "auto/ell/none"};
  char             *given[MATRICES_MAX], *files[MATRICES_MAX], *strategies[STRATEGIES_MAX], json[PETSC_MAX_PATH_LEN] = "";
  PetscInt          ngiven = MATRICES_MAX, nfiles = MATRICES_MAX, nstrategies = STRATEGIES_MAX, vector_size = 0, count;
  PetscBool         few      = PETSC_FALSE, named, filed, chosen;
  SyncILUAnalysis   analysis = SYNCILU_ANALYSIS_AUTO;
  Bench            *bench;
  Result           *res;
  int               devices = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "skipped: no CUDA device\n"));
    PetscCall(PetscOptionsClear(NULL)); /* of which none was looked at */
    PetscCall(PetscFinalize());
    return 77;
  }
  PetscCall(PetscNew(&bench));
  bench->repeat   = 20;
  bench->limit    = 2.0;
  bench->width    = 18; /* the longest of cuSPARSE's rows */
  bench->cusparse = PETSC_TRUE;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Kernel bench", NULL);
  PetscCall(PetscOptionsBoundedInt("-repeat", "Repetitions, of which the median is shown", NULL, bench->repeat, &bench->repeat, NULL, 1));
  PetscCall(PetscOptionsReal("-limit", "Seconds that the repetitions of one time may take before they become fewer", NULL, bench->limit, &bench->limit, NULL));
  PetscCall(PetscOptionsStringArray("-matrices", "Names of test matrices", NULL, given, &ngiven, &named));
  PetscCall(PetscOptionsStringArray("-file", "Matrix files", NULL, files, &nfiles, &filed));
  PetscCall(PetscOptionsBool("-small", "A quick list of matrices", NULL, few, &few, NULL));
  PetscCall(PetscOptionsStringArray("-strategies", "auto or UPDATE/SOLVE or UPDATE/SOLVE/ANALYSIS", NULL, strategies, &nstrategies, &chosen));
  PetscCall(PetscOptionsInt("-vector_size", "Lanes a row, 0: the library chooses", NULL, vector_size, &vector_size, NULL));
  PetscCall(PetscOptionsEnum("-analysis", "Order of the rows for strategies that name none", NULL, SyncILUAnalyses, (PetscEnum)analysis, (PetscEnum *)&analysis, NULL));
  PetscCall(PetscOptionsBool("-cusparse", "Run cuSPARSE beside", NULL, bench->cusparse, &bench->cusparse, NULL));
  PetscCall(PetscOptionsBool("-view", "Show what each engine says of itself", NULL, bench->view, &bench->view, NULL));
  PetscCall(PetscOptionsString("-json", "File to which JSON lines are appended", NULL, json, json, sizeof(json), NULL));
  PetscOptionsEnd();
  if (!named) ngiven = 0;
  if (!filed) nfiles = 0;
  if (!named && !filed) {
    ngiven = few ? PETSC_STATIC_ARRAY_LENGTH(small) : PETSC_STATIC_ARRAY_LENGTH(names);
    for (PetscInt k = 0; k < ngiven; k++) PetscCall(PetscStrallocpy(few ? small[k] : names[k], &given[k]));
  }
  bench->nstrategies = chosen ? nstrategies : (PetscInt)PETSC_STATIC_ARRAY_LENGTH(usual);
  for (PetscInt s = 0; s < bench->nstrategies; s++) {
    size_t length;

    PetscCall(ParseStrategy(chosen ? strategies[s] : usual[s], vector_size, analysis, &bench->strategy[s]));
    if (chosen) PetscCall(PetscFree(strategies[s]));
    PetscCall(PetscStrlen(bench->strategy[s].name, &length));
    bench->width = PetscMax(bench->width, (int)length);
  }
  bench->repeat = PetscMin(bench->repeat, BENCH_REPEAT_MAX);

  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscGetCurrentCUDAStream(&bench->stream));
  for (int k = 0; k <= BENCH_REPEAT_MAX; k++) PetscCallCUDA(cudaEventCreate(&bench->event[k]));
  PetscCallCUSPARSE(cusparseCreate(&bench->handle));
  PetscCallCUSPARSE(cusparseSetStream(bench->handle, bench->stream));
  PetscCall(BenchJSONOpen(json, &bench->json));
  PetscCall(CopyBandwidth(bench));
  PetscCall(PrintMachine(bench));

  count = ngiven + nfiles;
  PetscCall(PetscCalloc1(count, &res));
  for (PetscInt k = 0; k < count; k++) {
    const PetscBool file = (PetscBool)(k >= ngiven);

    PetscCall(RunMatrix(bench, file ? files[k - ngiven] : given[k], file, &res[k]));
  }
  PetscCall(PrintSummary(bench, count, res));

  for (PetscInt k = 0; k < ngiven; k++) PetscCall(PetscFree(given[k]));
  for (PetscInt k = 0; k < nfiles; k++) PetscCall(PetscFree(files[k]));
  PetscCall(BenchFailuresEnd(&bench->failures, &count));
  PetscCall(PetscFree(res));
  PetscCall(BenchJSONClose(&bench->json));
  /* after a kernel's fault nothing on the device can be freed, which is no second failure */
  (void)cusparseDestroy(bench->handle);
  for (int k = 0; k <= BENCH_REPEAT_MAX; k++) (void)cudaEventDestroy(bench->event[k]);
  PetscCall(PetscFree(bench));
  PetscCall(PetscFinalize());
  return count ? 1 : 0;
}

#else
int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skipped: wants a PETSc with CUDA, real double scalars and 32-bit indices\n"));
  PetscCall(PetscFinalize());
  return 77;
}
#endif
