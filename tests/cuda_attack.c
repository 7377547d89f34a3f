static char help[] = "The CUDA backend under attack, in parts: other patterns than planned, multiprocessors that are taken, random patterns, memory,\n\
limits of the indices, long rows, allocations and launches that are refused.\n\n\
  -list        the names of the parts\n\
  -part <name> this part alone; some parts run only so\n\
  -small       less of everything, for slow devices\n\
  -first <s>   the first seed of the random patterns, 1 by default\n\
  -seeds <n>   so many of them\n\n";

#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <petsctime.h>
#include "cuda/cuda.h"
#include "check.h"
#include "gpu.h"
#include "gpu_case.h"
#include "strategies.h"
#include "attack.h"
#include "emulator/fuzz.h"

/* What the program was asked for. */
static struct {
  PetscBool small;
  PetscInt  first, seeds;
} options = {PETSC_FALSE, 1, 600};

/* A part that cannot run says so, which is no failure. */
static PetscBool skipped;

static PETSC_ATTRIBUTE_FORMAT(1, 2) void Skip(const char *format, ...)
{
  va_list args;

  skipped = PETSC_TRUE;
  printf("  skipped: ");
  va_start(args, format);
  (void)vprintf(format, args);
  va_end(args);
  printf("\n");
}

/*
   Calls of the runtime that are refused: one allocation, launch or pinned buffer of those that come. This
   executable puts functions of the runtime's names before the runtime's own, to which they go on. Pointers to
   functions are pointers to objects for POSIX, and not for C.
*/
typedef enum {
  ALLOCATION,
  LAUNCH,
  PINNED,
  REFUSABLE
} Refusable;
static const char *const refusables[] = {"allocation", "launch", "pinned buffer"};
static long              left[]       = {-1, -1, -1}; /* until one is refused; negative: none */
static PetscBool         refused;
static cudaError_t       pending = cudaSuccess; /* what cudaGetLastError() shall say */

static PetscBool Refuse(Refusable what)
{
  if (left[what] < 0 || left[what]-- > 0) return PETSC_FALSE;
  refused = PETSC_TRUE;
  pending = cudaErrorMemoryAllocation;
  return PETSC_TRUE;
}

#define REFUSES(name, what, parameters, arguments) \
  extern cudaError_t name parameters; \
  cudaError_t name        parameters \
  { \
    cudaError_t(*next) parameters; \
    if (Refuse(what)) return cudaErrorMemoryAllocation; \
    *(void **)&next = dlsym(RTLD_NEXT, #name); \
    return next ? next arguments : cudaErrorUnknown; \
  }

REFUSES(cudaMallocFromPoolAsync, ALLOCATION, (void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream), (pointer, bytes, pool, stream))
REFUSES(cudaMallocHost, PINNED, (void **pointer, size_t bytes), (pointer, bytes))
REFUSES(cudaLaunchKernel, LAUNCH, (const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
        (function, grid, block, args, shared, stream))
REFUSES(cudaLaunchKernelExC, LAUNCH, (const cudaLaunchConfig_t *config, const void *function, void **args), (config, function, args))
/* what the compiler makes of <<<>>> in newer releases; the first argument is a handle of the function */
REFUSES(__cudaLaunchKernel, LAUNCH, (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
        (kernel, grid, block, args, shared, stream))

extern cudaError_t cudaGetLastError(void);
cudaError_t        cudaGetLastError(void)
{
  const cudaError_t err = pending;
  cudaError_t (*next)(void);

  pending         = cudaSuccess;
  *(void **)&next = dlsym(RTLD_NEXT, "cudaGetLastError");
  return err != cudaSuccess || !next ? err : next();
}

extern cudaError_t cudaPeekAtLastError(void);
cudaError_t        cudaPeekAtLastError(void)
{
  cudaError_t (*next)(void);

  *(void **)&next = dlsym(RTLD_NEXT, "cudaPeekAtLastError");
  return pending != cudaSuccess || !next ? pending : next();
}

/* All update strategies with all solve strategies, and auto with auto. */
typedef struct {
  int           count;
  SyncILUUpdate update[STRATEGIES_MAX * STRATEGIES_MAX + 1];
  SyncILUSolve  solve[STRATEGIES_MAX * STRATEGIES_MAX + 1];
} Pairs;

static PetscErrorCode PairsGet(Pairs *p)
{
  Strategies s;

  PetscFunctionBegin;
  PetscCall(StrategiesGet(&s));
  p->update[0] = SYNCILU_UPDATE_AUTO;
  p->solve[0]  = SYNCILU_SOLVE_AUTO;
  p->count     = 1;
  for (int u = 0; u < s.nupdates; u++) {
    for (int v = 0; v < s.nsolves; v++) {
      p->update[p->count]  = s.update[u];
      p->solve[p->count++] = s.solve[v];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SettingsFor(const Pairs *p, int k, PetscReal relax, SyncILUSettings *s)
{
  SyncILUSettingsInitialize(s);
  s->backend = SYNCILU_BACKEND_CUDA;
  s->update  = p->update[k];
  s->solve   = p->solve[k];
  s->relax   = relax;
}

/* Solves for some right-hand sides of the case, with the transpose too, in memory of the host. */
static PetscErrorCode CheckSolve(SyncILUEngine e, Case *c, PetscInt nrhs, PetscScalar *x, const char *what)
{
  PetscFunctionBegin;
  PetscCall(CaseExpect(c, &e->settings));
  for (int t = 0; t < 2; t++) {
    const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

    PetscCall(SyncILUEngineSolve(e, trans, nrhs, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
    PetscCall(FuzzCheckSolutions(c, trans, nrhs, x, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part stale: the matrix of a numeric phase has as many rows and entries as the one that was planned for, and
   another pattern. Rows that wait in the order of the plan for rows of another pattern would wait for ever.
*/
static PetscErrorCode AnotherPattern(Mat A, int kind, PetscRandom rand, Mat *B)
{
  PetscInt n, *p;
  IS       is;

  PetscFunctionBegin;
  if (kind == 0) {
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(PetscMalloc1(n, &p));
  for (PetscInt i = 0; i < n; i++) p[i] = kind == 1 ? n - 1 - i : i; /* from the end: L and U change places */
  for (PetscInt i = n - 1; i > 0 && kind == 2; i--) {
    const PetscInt k = FuzzBelow((int)i + 1), t = p[i];

    p[i] = p[k];
    p[k] = t;
  }
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, p, PETSC_OWN_POINTER, &is));
  PetscCall(ISSetPermutation(is));
  PetscCall(MatPermute(A, is, is, B));
  PetscCall(ISDestroy(&is));
  PetscCall(GenerateValues(*B, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStale(PetscRandom rand)
{
  const int pairs = options.small ? 12 : 50;
  Pairs     s;

  PetscFunctionBegin;
  PetscCall(PairsGet(&s));
  for (int pair = 0; pair < pairs; pair++) {
    char         description[256], what[512];
    Mat          A[2];
    Case         c[2];
    SyncILUCSR   device[2];
    PetscScalar *x;

    PetscCall(FuzzSeed(1000000 + pair, rand));
    PetscCall(FuzzMatrix(rand, &A[0], description, sizeof(description)));
    PetscCall(AnotherPattern(A[0], pair % 3, rand, &A[1]));
    for (int k = 0; k < 2; k++) {
      PetscCall(CaseCreate(A[k], MATORDERINGNATURAL, 0, 0.0, rand, &c[k]));
      PetscCall(CSRUpload(&c[k].csr, &device[k]));
    }
    PetscCall(PetscMalloc1(c[0].ld, &x));
    for (int k = 0; k < s.count; k++) {
      SyncILUSettings settings;
      SyncILUEngine   e;
      PetscBool       taken;

      SettingsFor(&s, k, 0.0, &settings);
      PetscCall(PetscSNPrintf(what, sizeof(what), "pair %d, %s; update %s, solve %s", pair, description, SyncILUUpdates[settings.update],
                              SyncILUSolves[settings.solve]));
      Watch("%s", what);
      PetscCall(EngineAdopt(&settings, &c[0].csr, &device[0], &taken, &e));
      CHECK(taken, "%s: the pattern was not taken from the matrix", what);
      /* the matrix of the plan, the other one, this one again, and back */
      for (int run = 0; run < 4; run++) {
        const int m = (run == 1 || run == 2);

        PetscCall(EngineFactorUnshifted(e, &c[m].csr, &device[m], c[m].piv.zeropivot));
        PetscCall(FuzzCheckFactor(e, &c[m], what));
        PetscCall(CheckSolve(e, &c[m], 1, x, what));
      }
      PetscCall(SyncILUEngineDestroy(&e));
    }
    PetscCall(PetscFree(x));
    for (int k = 0; k < 2; k++) {
      PetscCall(CSRFree(&device[k]));
      PetscCall(CaseDestroy(&c[k]));
      PetscCall(MatDestroy(&A[k]));
    }
  }
  printf("  %d pairs of patterns, %d engines each\n", pairs, s.count);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Parts one and pulses: what an engine computes from beginning to end, bit by bit. */
enum {
  COLUMNS = 37 /* right-hand sides, more than one launch takes */
};

typedef struct {
  PetscScalar *b;
  PetscInt     n, nrhs;
  size_t       factor, solutions; /* numbers of each */
  PetscScalar *bits[2];           /* L, U and the pivots, and all solutions: twice */
} Whole;

static PetscErrorCode WholeCreate(const Case *c, PetscInt nrhs, PetscRandom rand, Whole *w)
{
  PetscFunctionBegin;
  w->n         = c->n;
  w->nrhs      = nrhs;
  w->factor    = (size_t)(c->nl + c->nu + c->n);
  w->solutions = (size_t)(2 * (1 + nrhs)) * (size_t)c->n;
  PetscCall(PetscMalloc3((size_t)(c->n * nrhs), &w->b, w->factor + w->solutions, &w->bits[0], w->factor + w->solutions, &w->bits[1]));
  for (PetscInt k = 0; k < c->n * nrhs; k++) PetscCall(PetscRandomGetValue(rand, &w->b[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WholeDestroy(Whole *w)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(w->b, w->bits[0], w->bits[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whoever looks on, after each step. */
typedef PetscErrorCode (*Look)(void *, const char *step, const char *what);

static PetscErrorCode WholeRun(Whole *w, const Case *c, const SyncILUCSR *device, const SyncILUSettings *settings, const char *what, Look look, void *ctx,
                               PetscScalar *bits)
{
  const PetscScalar *lval, *uval, *dinv;
  PetscScalar       *x = bits + w->factor;
  SyncILUEngine      e;
  PetscBool          taken;

  PetscFunctionBegin;
  PetscCall(EngineAdopt(settings, &c->csr, device, &taken, &e));
  if (look) PetscCall((*look)(ctx, "the plan", what));
  PetscCall(EngineFactorUnshifted(e, &c->csr, device, c->piv.zeropivot));
  CHECK(e->status.row < 0, "%s: row %" PetscInt_FMT " is rejected", what, e->status.row);
  if (look) PetscCall((*look)(ctx, "the factorization", what));
  for (int t = 0; t < 2; t++) {
    for (int many = 0; many < 2; many++) {
      const PetscInt nrhs = many ? w->nrhs : 1;

      PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, nrhs, w->b, w->n, x, w->n, PETSC_MEMTYPE_HOST));
      if (look) PetscCall((*look)(ctx, t ? "transposed solves" : "solves", what));
      x += nrhs * w->n;
    }
  }
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  PetscCall(PetscArraycpy(bits, lval, c->nl));
  PetscCall(PetscArraycpy(bits + c->nl, uval, c->nu));
  PetscCall(PetscArraycpy(bits + c->nl + c->nu, dinv, c->n));
  if (look) PetscCall((*look)(ctx, "copies of the factor", what));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareWhole(const Whole *w, const char *what)
{
  PetscBool same[2];

  PetscFunctionBegin;
  PetscCall(PetscArraycmp(w->bits[0], w->bits[1], w->factor, &same[0]));
  PetscCall(PetscArraycmp(w->bits[0] + w->factor, w->bits[1] + w->factor, w->solutions, &same[1]));
  CHECK(same[0] && same[1], "%s: %s %s other bits than with the device for itself", what, same[0] ? "solutions" : "the factor", same[0] ? "have" : "has");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LookForOccupier(void *ctx, const char *step, const char *what)
{
  int runs;

  PetscFunctionBegin;
  CallCUDA(OccupierRuns((Occupier)ctx, &runs));
  CHECK(runs, "%s: %s waited for the kernel on the other multiprocessors", what, step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asks for ell where auto would take a cluster. */
static PetscErrorCode LeaveOutCluster(const Case *c, SyncILUSettings *settings)
{
  SyncILUEngine e;
  char          view[2048];

  PetscFunctionBegin;
  PetscCall(EngineCreate(settings, c, &e));
  PetscCall(EngineView(e, view, sizeof(view)));
  if (CheckViewSays(view, "solve", "cluster")) settings->solve = SYNCILU_SOLVE_ELL;
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Everything of one engine with the device for itself, and again while others have it. */
static PetscErrorCode TestOccupied(Occupier o, PetscBool pulses, const char *pattern, PetscInt nrhs, SyncILUAnalysis analysis, PetscRandom rand)
{
  const double seconds = 10.0, pulse = 3e-4;
  Pairs        s;
  Mat          A;
  Case         c;
  Whole        w;
  SyncILUCSR   device;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(PairsGet(&s));
  Watch("the reference's factor of %s", pattern);
  PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  PetscCall(WholeCreate(&c, nrhs, rand, &w));
  PetscCall(CSRUpload(&c.csr, &device));
  PetscCall(PetscMalloc1(c.ld, &x));
  for (int k = 0; k < s.count; k++) {
    SyncILUSettings settings;
    char            what[256];
    int             full = 0;

    SettingsFor(&s, k, 0.0, &settings);
    settings.analysis = analysis;
    /* a cluster begins once there is room for all of its blocks, which is not on one multiprocessor */
    if (!pulses && settings.solve == SYNCILU_SOLVE_CLUSTER) continue;
    if (!pulses && settings.solve == SYNCILU_SOLVE_AUTO) PetscCall(LeaveOutCluster(&c, &settings));
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, update %s, solve %s, analysis %s", pattern, SyncILUUpdates[settings.update], SyncILUSolves[settings.solve],
                            SyncILUAnalyses[analysis]));
    /*
       first with all multiprocessors, which also loads the kernels: to load one may wait for those that run
    */
    Watch("%s", what);
    PetscCall(WholeRun(&w, &c, &device, &settings, what, NULL, NULL, w.bits[0]));
    if (k == 0) {
      SyncILUEngine e;

      PetscCall(EngineCreate(&settings, &c, &e));
      PetscCall(EngineFactorUnshifted(e, &c.csr, NULL, c.piv.zeropivot));
      PetscCall(FuzzCheckFactor(e, &c, what));
      PetscCall(CheckSolve(e, &c, 1, x, what));
      PetscCall(SyncILUEngineDestroy(&e));
    }
    Watch("%s, %s", what, pulses ? "with kernels that come and go" : "on one multiprocessor");
    CallCUDA(cudaDeviceSynchronize());
    if (pulses) CallCUDA(OccupierPulse(o, 200, pulse));
    else CallCUDA(OccupierFill(o, 1, seconds));
    PetscCall(WholeRun(&w, &c, &device, &settings, what, pulses ? NULL : LookForOccupier, o, w.bits[1]));
    full = OccupierFull(o);
    CallCUDA(OccupierStop(o));
    CHECK(full > 0, "%s: no multiprocessor was taken", what);
    PetscCall(CompareWhole(&w, what));
  }
  PetscCall(PetscFree(x));
  PetscCall(CSRFree(&device));
  PetscCall(WholeDestroy(&w));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OccupierBegin(Occupier *o, PetscBool *have)
{
  const cudaError_t err = OccupierCreate(o);

  PetscFunctionBegin;
  *have = (PetscBool)(err != cudaErrorNotSupported);
  if (*have) CallCUDA(err);
  else Skip("no kernels that take multiprocessors here");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part one: all but one multiprocessor are taken by others, so that next to nothing of a grid is resident at
   a time. The matrices are small enough for the pool's memory to stay mapped: to unmap may wait for kernels.
*/
static PetscErrorCode TestOneMultiprocessor(PetscRandom rand)
{
  Occupier  o;
  PetscBool have;

  PetscFunctionBegin;
  PetscCall(OccupierBegin(&o, &have));
  if (!have) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestOccupied(o, PETSC_FALSE, "7pt:28x27x26", COLUMNS, SYNCILU_ANALYSIS_AUTO, rand));
  PetscCall(TestOccupied(o, PETSC_FALSE, "27pt:19x18x17", COLUMNS, SYNCILU_ANALYSIS_AUTO, rand));
  PetscCall(TestOccupied(o, PETSC_FALSE, "15pt_random:20x19x18", COLUMNS, SYNCILU_ANALYSIS_ALAP, rand));
  PetscCall(TestOccupied(o, PETSC_FALSE, "random:3000", COLUMNS, SYNCILU_ANALYSIS_NONE, rand));
  PetscCall(TestOccupied(o, PETSC_FALSE, "tridiagonal:3000", COLUMNS, SYNCILU_ANALYSIS_AUTO, rand));
  CallCUDA(OccupierDestroy(o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Part pulses: others take all multiprocessors again and again, in the middle of whatever runs. */
static PetscErrorCode TestPulses(PetscRandom rand)
{
  Occupier  o;
  PetscBool have;

  PetscFunctionBegin;
  PetscCall(OccupierBegin(&o, &have));
  if (!have) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestOccupied(o, PETSC_TRUE, "7pt:60x60x60", 3, SYNCILU_ANALYSIS_AUTO, rand));
  PetscCall(TestOccupied(o, PETSC_TRUE, "15pt_random:40x40x40", 3, SYNCILU_ANALYSIS_ALAP, rand));
  CallCUDA(OccupierDestroy(o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part random: patterns of many kinds with settings of any kind. A seed can be run alone by -first SEED
   -seeds 1.
*/
static PetscErrorCode TestRandom(PetscRandom rand)
{
  PetscInt seed;

  PetscFunctionBegin;
  for (seed = options.first; seed < options.first + options.seeds && check_failures < 20; seed++) PetscCall(FuzzPattern(seed, rand));
  printf("  seeds %" PetscInt_FMT " to %" PetscInt_FMT ", three engines each\n", options.first, seed - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part memory: what plan and factor take of the device with the default strategies, in multiples of the bytes
   of the matrix in CSR. Held: at most SYNCILU_MEMORY and SYNCILU_MEMORY_LISTS bytes, beside the values of the
   matrix where PETSc uses no device and the plan has a copy of them. The transposes, planned at the first
   solve with them, add at most as much. Right-hand sides add two numbers a row each, as far as there are more
   than one at a time. While planning, at most twice what is held in the end.
*/
static const struct {
  const char *pattern;
  PetscBool   small; /* takes no long time where the device is slow */
} laws[] = {
  {"5pt:1000x1000",          PETSC_FALSE},
  {"7pt:64x64x64",           PETSC_FALSE},
  {"27pt:40x40x40",          PETSC_FALSE},
  {"15pt:60x60x60",          PETSC_FALSE},
  {"15pt_random:40x40x40",   PETSC_FALSE},
  {"elasticity:20x20x20",    PETSC_FALSE},
  {"7pt_rcm:50x50x50",       PETSC_FALSE},
  {"random:200000",          PETSC_FALSE},
  {"powerlaw:100000",        PETSC_FALSE},
  {"arrow:100000",           PETSC_FALSE},
  {"7pt_border:64x64x64",    PETSC_FALSE},
  {"5pt_periodic:1000x1000", PETSC_FALSE},
  {"tridiagonal2:100000",    PETSC_FALSE},
  {"band:100000",            PETSC_FALSE},
  {"hubs:200000",            PETSC_FALSE},
  {"denserow:200000",        PETSC_FALSE},
  {"densecolumn:200000",     PETSC_FALSE},
  {"longrows:100000",        PETSC_FALSE},
  {"27pt:16x16x800",         PETSC_FALSE},
  {"27pt:10x32000x1",        PETSC_FALSE},
  {"27pt:30x30x400",         PETSC_FALSE},
  {"27pt:4x4x810",           PETSC_TRUE },
  {"27pt:2x2x2000",          PETSC_TRUE },
  {"27pt:10x900x1",          PETSC_TRUE },
  {"7pt:20x20x20",           PETSC_TRUE },
  {"15pt:16x16x16",          PETSC_TRUE },
  {"hubs:20000",             PETSC_TRUE },
  {"densecolumn:20000",      PETSC_TRUE },
  {"arrow:20000",            PETSC_TRUE },
  {"tridiagonal:20000",      PETSC_TRUE },
  {"random:20000",           PETSC_TRUE },
  {"first:20000",            PETSC_TRUE }
};

/* Row i has the columns 0, i - 1 and i, so that the transpose has a row of all columns. */
static PetscErrorCode FirstColumn(PetscInt n, PetscRandom rand, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt cols[] = {0, PetscMax(0, i - 1), i};

    for (int k = 0; k < 3; k++) PetscCall(MatSetValue(*A, i, cols[k], 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMemoryLaw(const char *pattern, PetscRandom rand)
{
  /* the pool counts pieces rounded up, and a sort takes some memory for no rows at all */
  const double    slack = 1 << 16;
  MatFactorInfo   info;
  SyncILUSettings settings;
  SyncILUEngine   e;
  SyncILUCSR      csr, device;
  PetscBool       done, taken, first;
  PetscScalar    *x;
  Mat             A;
  size_t          before, used, pool, high;
  double          matrix, copy, held[3], most[3], room;
  char            view[2048];

  PetscFunctionBegin;
  Watch("memory, %s", pattern);
  PetscCall(PetscStrncmp(pattern, "first:", 6, &first));
  if (first) PetscCall(FirstColumn((PetscInt)atoi(pattern + 6), rand, &A));
  else PetscCall(GenerateMatrix(pattern, 0, rand, &A));
  PetscCall(PetscMemzero(&csr, sizeof(csr)));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr.n, &csr.i, &csr.j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &csr.a));
  csr.nnz = csr.i[csr.n];
  PetscCall(CSRUpload(&csr, &device));
  PetscCall(Upload(NULL, (size_t)csr.n * SYNCILU_RHS_MAX * sizeof(*x), &x));
  CallCUDA(cudaMemset(x, 0, (size_t)csr.n * SYNCILU_RHS_MAX * sizeof(*x)));
  matrix = (double)sizeof(double) * csr.nnz + (double)sizeof(int) * (csr.nnz + csr.n + 1.0);
  copy   = DeviceIsPETScs() ? 0.0 : (double)sizeof(double) * csr.nnz;
  room   = 2.0 * sizeof(double) * (SYNCILU_RHS_MAX - 1) * csr.n;

  SyncILUSettingsInitialize(&settings);
  settings.backend = SYNCILU_BACKEND_CUDA;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  CallCUDA(cudaDeviceSynchronize());
  PetscCall(SyncILUCUDAMemory(&before, &pool));
  PetscCall(SyncILUCUDAMemoryHigh(&high));
  PetscCall(EngineAdopt(&settings, &csr, &device, &taken, &e));
  CHECK(taken, "%s: the pattern was not taken from the matrix", pattern);
  PetscCall(EngineView(e, view, sizeof(view)));
  /* tiles of lines have lanes without rows */
  if (strstr(view, "solve: struct")) room *= SYNCILU_STRUCT_PADDING;
  for (int step = 0; step < 3; step++) {
    if (step == 0) {
      PetscCall(EngineFactor(e, &csr, &device, &info));
      PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, x, csr.n, x, csr.n, PETSC_MEMTYPE_DEVICE));
    } else PetscCall(SyncILUEngineSolve(e, SYNCILU_TRANS, step == 1 ? 1 : SYNCILU_RHS_MAX, x, csr.n, x, csr.n, PETSC_MEMTYPE_DEVICE));
    CallCUDA(cudaDeviceSynchronize());
    PetscCall(SyncILUCUDAMemory(&used, &pool));
    PetscCall(SyncILUCUDAMemoryHigh(&high));
    held[step] = (double)(used - before) - copy;
    most[step] = (double)(high - before) - copy;
  }
  printf("  %-24s %9" PetscInt_FMT " rows, in multiples of CSR: held %5.2f, at most %5.2f; with transposes %5.2f, %5.2f; and 32 right-hand sides %5.2f\n",
         pattern, csr.n, held[0] / matrix, most[0] / matrix, held[1] / matrix, most[1] / matrix, (held[2] - room) / matrix);
  CHECK(held[0] <= SYNCILU_MEMORY * matrix + SYNCILU_MEMORY_LISTS + slack, "%s: plan and factor hold %g bytes, %.2f times those of the matrix", pattern,
        held[0], held[0] / matrix);
  CHECK(most[0] <= 2 * (SYNCILU_MEMORY * matrix + SYNCILU_MEMORY_LISTS) + slack, "%s: planning takes %g bytes, %.2f times those of the matrix", pattern,
        most[0], most[0] / matrix);
  CHECK(held[1] <= 2 * (SYNCILU_MEMORY * matrix + SYNCILU_MEMORY_LISTS) + slack,
        "%s: with transposes plan and factor hold %g bytes, %.2f times those of the matrix", pattern, held[1], held[1] / matrix);
  CHECK(most[1] <= 3 * (SYNCILU_MEMORY * matrix + SYNCILU_MEMORY_LISTS) + slack, "%s: planning transposes takes %g bytes, %.2f times those of the matrix",
        pattern, most[1], most[1] / matrix);
  CHECK(held[2] <= held[1] + room + slack, "%s: %d right-hand sides add %g bytes, %g are two numbers a row or lane each", pattern, SYNCILU_RHS_MAX,
        held[2] - held[1], room);
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(SyncILUCUDAMemory(&used, &pool));
  CHECK(used == before, "%s: %zu bytes are left behind", pattern, used - before);
  CallCUDA(cudaFree(x));
  PetscCall(CSRFree(&device));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &csr.a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr.n, &csr.i, &csr.j, &done));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMemory(PetscRandom rand)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(laws); k++) {
    if (!options.small || laws[k].small) PetscCall(TestMemoryLaw(laws[k].pattern, rand));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Part limits: as many rows and entries as indices of 32 bits can name, with solutions that are known. */
static const struct {
  const char *what;
  Band        band;
} limits[] = {
  {"2^30 rows of a diagonal",               {1 << 30, 0, 0, 1, 0, 0.0, 2.0}        },
  {"7e8 rows with an entry on the left",    {700000000, 1, 0, 1000000, 0, 1.0, 2.0}},
  {"3e8 rows with an entry on both sides",  {300000000, 1, 1, 500000, 0, 1.0, 4.0} },
  {"one row of 1e8 entries",                {100000000, 0, 0, 1, 1, 0x1p-27, 2.0}  },
  {"255 entries a row, 2^31 - 1148 in all", {9437500, 254, 0, 8000, 0, 1.0, 256.0} },
  {"129 entries a row, of which 64 update", {8000000, 64, 64, 8000, 0, 1.0, 192.0} }
};

static PetscErrorCode TestLimit(const char *what, const Band *band)
{
  const double   bytes = 8.0 * (double)BandEntries(band) + 4.0 * ((double)BandEntries(band) + band->n + 1.0);
  SyncILUCSR     host, device;
  SyncILUEngine  e = NULL;
  MatFactorInfo  info;
  PetscBool      taken;
  PetscScalar   *x;
  double         distance;
  PetscErrorCode ierr;
  PetscLogDouble start, now[3];

  SyncILUSettings settings;

  PetscFunctionBegin;
  Watch("%s", what);
  PetscCall(PetscMemzero(&host, sizeof(host)));
  host.n     = band->n;
  host.nnz   = (PetscInt)BandEntries(band);
  device     = host;
  device.mem = PETSC_MEMTYPE_DEVICE;
  PetscCall(Upload(NULL, ((size_t)host.n + 1) * sizeof(int), &device.i));
  PetscCall(Upload(NULL, (size_t)host.nnz * sizeof(int), &device.j));
  PetscCall(Upload(NULL, (size_t)host.nnz * sizeof(*device.a), &device.a));
  PetscCall(Upload(NULL, ((size_t)host.n + 1) * sizeof(*x), &x));
  CallCUDA(BandFill(band, (int *)device.i, (int *)device.j, (double *)device.a, (double *)x));
  SyncILUSettingsInitialize(&settings);
  settings.backend = SYNCILU_BACKEND_CUDA;
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  PetscCall(PetscTime(&start));
  QUIETLY(ierr, EngineAdopt(&settings, &host, &device, &taken, &e));
  PetscCall(PetscTime(&now[0]));
  if (!ierr) QUIETLY(ierr, EngineFactor(e, &host, &device, &info));
  PetscCall(PetscTime(&now[1]));
  if (!ierr) QUIETLY(ierr, SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, x, host.n, x, host.n, PETSC_MEMTYPE_DEVICE));
  if (ierr) { /* a device of another size */
    printf("  %s, %.1f GiB: %s\n", what, bytes / (1 << 30), check_message);
    CHECK(strstr(check_message, "out of memory"), "%s: error %d: %s", what, (int)ierr, check_message);
  } else {
    CallCUDA(cudaDeviceSynchronize());
    PetscCall(PetscTime(&now[2]));
    CHECK(e->status.row < 0, "%s: row %" PetscInt_FMT " is rejected", what, e->status.row);
    CallCUDA(DistanceFromOne(band->n, (double *)x, &distance));
    printf("  %s, %.1f GiB: off by %.1e; analysis %.2f s, factorization %.2f s, solve %.2f s\n", what, bytes / (1 << 30), distance, now[0] - start,
           now[1] - now[0], now[2] - now[1]);
    CHECK(distance <= 1e-12, "%s: the solution is off by %g", what, distance);
  }
  PetscCall(SyncILUEngineDestroy(&e));
  CallCUDA(cudaFree(x));
  PetscCall(CSRFree(&device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLimits(PetscRandom rand)
{
  const double    least = 100e9;
  SyncILUCSR      host, device;
  SyncILUEngine   e = NULL;
  PetscBool       taken;
  size_t          available, total;
  SyncILUSettings settings;

  PetscFunctionBegin;
  (void)rand;
  /* nothing is looked at: more rows than indices leave room for, and more entries */
  SyncILUSettingsInitialize(&settings);
  settings.backend = SYNCILU_BACKEND_CUDA;
  for (int entries = 0; entries < 2; entries++) {
    PetscCall(PetscMemzero(&host, sizeof(host)));
    host.n     = entries ? 1000 : INT_MAX - 1023;
    host.nnz   = INT_MAX - 1023;
    device     = host;
    device.mem = PETSC_MEMTYPE_DEVICE;
    CHECK_ERROR(EngineAdopt(&settings, &host, &device, &taken, &e), PETSC_ERR_LIB, "indices on the device are 32 bits wide");
  }
  CallCUDA(cudaMemGetInfo(&available, &total));
  if (options.small || (double)total < least) {
    Skip("the large ones, which want a device with %g GB", least / 1e9);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(limits); k++) PetscCall(TestLimit(limits[k].what, &limits[k].band));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part rows: rows just shorter and just longer than what shared memory, lists and groups of lanes have room
   for.
*/
static PetscErrorCode RowsOfLength(PetscInt n, PetscInt length, PetscRandom rand, Mat *A)
{
  PetscInt *cols;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &cols));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, length, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt want = i % 131 == 130 ? length : PetscMin(n, 7);
    PetscInt       have = 0;

    /* distinct columns, the diagonal among them: a shuffled part of all */
    for (PetscInt k = 0; k < n; k++) cols[k] = k;
    cols[0] = i;
    cols[i] = 0;
    for (PetscInt k = 1; k < want; k++) {
      const PetscInt q = k + FuzzBelow((int)(n - k)), t = cols[k];

      cols[k] = cols[q];
      cols[q] = t;
    }
    for (have = 0; have < want; have++) PetscCall(MatSetValue(*A, i, cols[have], 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree(cols));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRowLengths(PetscRandom rand)
{
  const PetscInt           lengths[] = {149, 150, 255, 256, 1023, 1024, 1025, 1500};
  const PetscReal          relaxes[] = {0.0, 0.9};
  const MatFactorShiftType shifts[]  = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_INBLOCKS};
  const PetscInt           n         = 2311;
  Pairs                    s;

  PetscFunctionBegin;
  PetscCall(PairsGet(&s));
  PetscCall(FuzzSeed(2000000, rand));
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(lengths); l++) {
    Mat A;

    if (options.small && l % 2) continue;
    Watch("rows of %" PetscInt_FMT " entries", lengths[l]);
    PetscCall(RowsOfLength(n, lengths[l], rand, &A));
    for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(relaxes); r++) {
      SyncILUSettings settings;
      SyncILUEngine   host, e;
      PetscScalar    *x, *y;
      Case            c;

      PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, relaxes[r], rand, &c));
      PetscCall(PetscMalloc2(c.ld * NRHS, &x, c.ld * NRHS, &y));
      SyncILUSettingsInitialize(&settings);
      settings.backend = SYNCILU_BACKEND_HOST;
      settings.relax   = relaxes[r];
      PetscCall(EngineCreate(&settings, &c, &host));
      for (int k = 0; k < s.count; k++) {
        char what[256];

        SettingsFor(&s, k, relaxes[r], &settings);
        PetscCall(PetscSNPrintf(what, sizeof(what), "rows of %" PetscInt_FMT " entries, relax %g, update %s, solve %s", lengths[l], (double)relaxes[r],
                                SyncILUUpdates[settings.update], SyncILUSolves[settings.solve]));
        Watch("%s", what);
        PetscCall(EngineCreate(&settings, &c, &e));
        for (size_t q = 0; q < PETSC_STATIC_ARRAY_LENGTH(shifts); q++) {
          MatFactorInfo info;

          PetscCall(MatFactorInfoInitialize(&info));
          info.shifttype   = (PetscReal)shifts[q];
          info.shiftamount = 0.5;
          /* beside the rest of the row, or in itself */
          info.zeropivot = shifts[q] == MAT_SHIFT_NONE ? c.piv.zeropivot : 0.02;
          if (shifts[q] == MAT_SHIFT_INBLOCKS) info.zeropivot = 8.0;
          PetscCall(EngineFactor(e, &c.csr, NULL, &info));
          PetscCall(EngineFactor(host, &c.csr, NULL, &info));
          CHECK(e->status.row == host->status.row && e->status.shifted == host->status.shifted && e->attempts == host->attempts,
                "%s, shift %s: row %" PetscInt_FMT " is rejected, %" PetscInt_FMT " pivots are shifted in %" PetscInt_FMT
                " attempts; on the host %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT,
                what, MatFactorShiftTypes[shifts[q]], e->status.row, e->status.shifted, e->attempts, host->status.row, host->status.shifted, host->attempts);
          if (shifts[q] == MAT_SHIFT_NONE) {
            PetscCall(FuzzCheckFactor(e, &c, what));
            PetscCall(CheckSolve(e, &c, c.nrhs, x, what));
          }
          host->settings.solve = settings.solve; /* jacobi is the host's too, and not exact */
          for (int t = 0; t < 2 && shifts[q] != MAT_SHIFT_NONE; t++) {
            PetscInt row;

            PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c.b, c.ld, x, c.ld, PETSC_MEMTYPE_HOST));
            PetscCall(SyncILUEngineSolve(host, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c.b, c.ld, y, c.ld, PETSC_MEMTYPE_HOST));
            row = SolutionFirstDifference(c.n, x, y, FUZZ_TOLERANCE);
            CHECK(row == c.n, "%s, shift %s: row %" PetscInt_FMT " of the solution differs from the host's, transposed %d", what,
                  MatFactorShiftTypes[shifts[q]], row, t);
          }
        }
        PetscCall(SyncILUEngineDestroy(&e));
      }
      PetscCall(SyncILUEngineDestroy(&host));
      PetscCall(PetscFree2(x, y));
      PetscCall(CaseDestroy(&c));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part long: a few rows and columns that are as long as the matrix cost no multiple of what all others do.
   Where others are done in no time, a long row has time of its own.
*/
static PetscErrorCode Hubs(Mat grid, PetscInt hubs, PetscRandom rand, Mat *A)
{
  const PetscInt *ptr, *col;
  PetscInt        n, count, *i, *j;
  PetscScalar    *a;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(grid, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
  PetscCall(PetscMalloc3(ptr[n] + 2 * hubs * (n / 3 + 1), &i, ptr[n] + 2 * hubs * (n / 3 + 1), &j, ptr[n] + 2 * hubs * (n / 3 + 1), &a));
  count = ptr[n];
  PetscCall(PetscArraycpy(j, col, count));
  for (PetscInt k = 0; k < n; k++)
    for (PetscInt e = ptr[k]; e < ptr[k + 1]; e++) i[e] = k;
  PetscCall(MatRestoreRowIJ(grid, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
  PetscCall(MatGetSize(grid, &n, NULL));
  for (PetscInt h = 0; h < hubs; h++) {
    const PetscInt hub = (2 * h + 1) * n / (2 * hubs);

    for (PetscInt k = h % 3; k < n; k += 3) {
      i[count]   = hub;
      j[count++] = k;
      i[count]   = k;
      j[count++] = hub;
    }
  }
  for (PetscInt e = 0; e < count; e++) a[e] = 1.0;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MatSetPreallocationCOO(*A, count, i, j));
  PetscCall(MatSetValuesCOO(*A, a, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, a));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  ANALYSIS,
  FACTORIZATION,
  SOLVE,
  TRANSPOSED,
  STEPS
} Step;
static const char *const steps[] = {"analysis", "factorization", "solve", "transposed solve"};

/* Seconds of each step; the second of two, since the first may load kernels and plan transposes. */
static PetscErrorCode TimeSteps(Mat A, const char *what, double seconds[STEPS], PetscRandom rand)
{
  SyncILUSettings settings;
  SyncILUEngine   host, e[2];
  MatFactorInfo   info;
  SyncILUCSR      csr, device;
  PetscScalar    *b, *x, *y, *dev;
  PetscBool       done, taken;
  PetscLogDouble  start, now;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&csr, sizeof(csr)));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr.n, &csr.i, &csr.j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &csr.a));
  csr.nnz = csr.i[csr.n];
  PetscCall(CSRUpload(&csr, &device));
  PetscCall(PetscMalloc3(csr.n, &b, csr.n, &x, csr.n, &y));
  for (PetscInt i = 0; i < csr.n; i++) PetscCall(PetscRandomGetValue(rand, &b[i]));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  SyncILUSettingsInitialize(&settings);
  settings.backend = SYNCILU_BACKEND_HOST;
  Watch("%s on the host", what);
  PetscCall(EngineAdopt(&settings, &csr, NULL, &taken, &host));
  PetscCall(EngineFactor(host, &csr, NULL, &info));
  settings.backend = SYNCILU_BACKEND_CUDA;
  for (int run = 0; run < 2; run++) {
    Watch("%s: analysis", what);
    PetscCall(PetscTime(&start));
    PetscCall(EngineAdopt(&settings, &csr, &device, &taken, &e[run]));
    CallCUDA(cudaDeviceSynchronize());
    PetscCall(PetscTime(&now));
    seconds[ANALYSIS] = now - start;
    PetscCall(EngineFactor(e[run], &csr, &device, &info));
    Watch("%s: factorization", what);
    PetscCall(PetscTime(&start));
    PetscCall(EngineFactor(e[run], &csr, &device, &info));
    CallCUDA(cudaDeviceSynchronize());
    PetscCall(PetscTime(&now));
    seconds[FACTORIZATION] = now - start;
    for (int t = 0; t < 2; t++) {
      const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;
      PetscInt               row;

      Watch("%s: %s", what, steps[SOLVE + t]);
      PetscCall(Upload(b, (size_t)csr.n * sizeof(*b), &dev));
      PetscCall(SyncILUEngineSolve(e[run], trans, 1, dev, csr.n, dev, csr.n, PETSC_MEMTYPE_DEVICE));
      CallCUDA(cudaDeviceSynchronize());
      CallCUDA(cudaMemcpy(x, dev, (size_t)csr.n * sizeof(*x), cudaMemcpyDeviceToHost));
      PetscCall(PetscTime(&start));
      PetscCall(SyncILUEngineSolve(e[run], trans, 1, dev, csr.n, dev, csr.n, PETSC_MEMTYPE_DEVICE));
      CallCUDA(cudaDeviceSynchronize());
      PetscCall(PetscTime(&now));
      seconds[SOLVE + t] = now - start;
      CallCUDA(cudaFree(dev));
      PetscCall(SyncILUEngineSolve(host, trans, 1, b, csr.n, y, csr.n, PETSC_MEMTYPE_HOST));
      row = SolutionFirstDifference(csr.n, x, y, 10 * FUZZ_TOLERANCE);
      CHECK(row == csr.n, "%s: row %" PetscInt_FMT " of the solution differs from the host's, transposed %d", what, row, t);
    }
  }
  printf("  %s: analysis %.3g ms, factorization %.3g ms, solve %.3g ms, transposed %.3g ms\n", what, 1e3 * seconds[ANALYSIS], 1e3 * seconds[FACTORIZATION],
         1e3 * seconds[SOLVE], 1e3 * seconds[TRANSPOSED]);
  for (int run = 0; run < 2; run++) PetscCall(SyncILUEngineDestroy(&e[run]));
  PetscCall(SyncILUEngineDestroy(&host));
  PetscCall(PetscFree3(b, x, y));
  PetscCall(CSRFree(&device));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &csr.a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr.n, &csr.i, &csr.j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLong(PetscRandom rand)
{
  const double      times      = 10.0;                      /* what steps without long rows take */
  const double      own[STEPS] = {0.05, 0.5, 0.005, 0.005}; /* seconds that long rows may take in any case */
  const char *const what[]     = {"with a full last row and column", "with four rows and columns of a third"};
  double            base[STEPS], with[STEPS];
  Mat               A[2];

  PetscFunctionBegin;
  for (int m = 0; m < 2; m++) { /* a core takes minutes for the second one in the size of the first */
    const char *const size = options.small ? "60x60" : m ? "300x300" : "1000x1000";
    char              name[64];

    PetscCall(PetscSNPrintf(name, sizeof(name), "5pt:%s", size));
    PetscCall(GenerateMatrix(name, 0, rand, &A[0]));
    PetscCall(PetscSNPrintf(name, sizeof(name), "5pt_border:%s", size));
    if (m) PetscCall(Hubs(A[0], 4, rand, &A[1]));
    else PetscCall(GenerateMatrix(name, 0, rand, &A[1]));
    PetscCall(TimeSteps(A[0], "5-point grid", base, rand));
    PetscCall(TimeSteps(A[1], what[m], with, rand));
    for (int s = 0; s < STEPS && !options.small; s++) {
      const double most = PetscMax(times * base[s], own[s]);

      CHECK(with[s] <= most, "%s: %s in %g ms, without them %g ms", what[m], steps[s], 1e3 * with[s], 1e3 * base[s]);
    }
    for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&A[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part refusals: in the life of an engine, each allocation on the device, each launch and each pinned buffer
   is refused once. A driver refuses launches too, when it has no memory for a kernel that is launched first.
   The call then says so, and the same call works afterwards; or another strategy, or the host, does the work.
*/
typedef struct {
  const char     *pattern, *ordering;
  PetscInt        levels;
  PetscReal       relax;
  SyncILUBackend  backend;
  SyncILUUpdate   update;
  SyncILUAnalysis analysis;
} Refused;

/* After an error: it is one of too little memory. */
static void CheckRefusal(PetscErrorCode ierr, const char *call, const char *what)
{
  CHECK(ierr == PETSC_ERR_LIB || ierr == PETSC_ERR_GPU_RESOURCE || ierr == PETSC_ERR_MEM, "%s: %s fails with error %d: %s", what, call, (int)ierr,
        check_message);
  CHECK(strstr(check_message, "memory"), "%s: %s fails, and does not say what was missing: %s", what, call, check_message);
}

/* Runs a call that may be refused something, and then once more. */
#define TWICE(call, what) \
  do { \
    PetscErrorCode twice_ierr; \
\
    QUIETLY(twice_ierr, call); \
    if (twice_ierr) { \
      CHECK(refused &&kind != PINNED, "%s: fails without cause: %s", what, check_message); \
      CheckRefusal(twice_ierr, #call, what); \
      PetscCall(call); \
    } \
  } while (0)

static PetscErrorCode TestLife(const Refused *r, const Case *c, Refusable kind, PetscScalar *x, const char *what, int *replaced)
{
  const SyncILUTranspose trans[] = {SYNCILU_NOTRANS, SYNCILU_TRANS, SYNCILU_NOTRANS, SYNCILU_NOTRANS};
  const PetscInt         nrhs[]  = {1, 1, 6, 1};
  SyncILUSettings        settings;
  SyncILUEngine          e;
  SyncILUSource          source;
  Arrays                 arrays = {&c->csr, NULL};
  MatFactorInfo          info;
  size_t                 used, pool;

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  settings.backend  = r->backend;
  settings.update   = r->update;
  settings.analysis = r->analysis;
  settings.relax    = r->relax;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot   = c->piv.zeropivot;
  info.shifttype   = (PetscReal)MAT_SHIFT_NONZERO; /* for which the sizes of the rows are needed */
  info.shiftamount = 1e-10;
  TWICE(SyncILUEngineCreate(&settings, c->n, &source, c->pattern.row, c->pattern.col, c->fill, &e), what);
  if (refused && !check_message[0] && e->ops->backend == SYNCILU_BACKEND_CUDA) {
    char view[2048];

    PetscCall(EngineView(e, view, sizeof(view)));
    if (CheckViewSays(view, "factorization", "not list, since out of memory")) (*replaced)++;
  }
  CHECK(r->backend != SYNCILU_BACKEND_AUTO || !check_message[0], "%s: auto does not turn to the host: %s", what, check_message);
  for (int run = 0; run < 2; run++) {
    TWICE(SyncILUEngineFactor(e, &source, &info), what);
    CHECK(e->status.row < 0 && !e->attempts, "%s: row %" PetscInt_FMT " is rejected", what, e->status.row);
    for (int k = 0; k < 4; k++) {
      TWICE(SyncILUEngineSolve(e, trans[k], nrhs[k], c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST), what);
      PetscCall(FuzzCheckSolutions(c, trans[k], nrhs[k], x, what));
    }
    if (!run) {
      const PetscScalar *lval, *uval, *dinv;
      SyncILUStatistics  s;
      PetscLogDouble     flops;

      TWICE((*e->ops->values)(e, &lval, &uval, &dinv), what);
      if (e->ops->backend == SYNCILU_BACKEND_CUDA) PetscCall(FuzzCheckFactor(e, c, what));
      TWICE(SyncILUEngineStatistics(e, &s), what);
      TWICE(SyncILUEngineFlops(e, &flops), what);
    }
  }
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(SyncILUCUDAMemory(&used, &pool));
  CHECK(used == 0, "%s: %zu bytes are left behind", what, used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRefusals(PetscRandom rand)
{
  const Refused cases[] = {
    {"7pt:20x20x20",     MATORDERINGNATURAL, 0, 0.0, SYNCILU_BACKEND_AUTO, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO},
    {"15pt:20x20x21",    MATORDERINGNATURAL, 0, 0.9, SYNCILU_BACKEND_AUTO, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO},
    {"7pt:9x4x3",        MATORDERINGNATURAL, 0, 0.0, SYNCILU_BACKEND_CUDA, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO},
    {"15pt:5x3x7",       MATORDERINGNATURAL, 0, 0.9, SYNCILU_BACKEND_CUDA, SYNCILU_UPDATE_LIST, SYNCILU_ANALYSIS_AUTO},
    {"27pt:5x4x4",       MATORDERINGRCM,     0, 0.0, SYNCILU_BACKEND_CUDA, SYNCILU_UPDATE_VECT, SYNCILU_ANALYSIS_ALAP},
    {"7pt:4x4x5",        MATORDERINGRCM,     1, 1.0, SYNCILU_BACKEND_CUDA, SYNCILU_UPDATE_LIST, SYNCILU_ANALYSIS_ASAP},
    {"tridiagonal:2200", MATORDERINGNATURAL, 0, 0.0, SYNCILU_BACKEND_CUDA, SYNCILU_UPDATE_AUTO, SYNCILU_ANALYSIS_AUTO}
  };

  PetscFunctionBegin;
  for (size_t m = options.small ? 2 : 0; m < PETSC_STATIC_ARRAY_LENGTH(cases) - options.small; m++) {
    const Refused *r = &cases[m];
    Mat            A;
    Case           c;
    PetscScalar   *x;
    int            lives[REFUSABLE], replaced = 0;
    char           what[256];

    Watch("the reference's factor of %s", r->pattern);
    PetscCall(GenerateMatrix(r->pattern, 0, rand, &A));
    PetscCall(CaseCreate(A, r->ordering, r->levels, r->relax, rand, &c));
    PetscCall(PetscMalloc1(c.ld * NRHS, &x));
    for (Refusable k = ALLOCATION; k < REFUSABLE; k++) {
      for (lives[k] = 0;; lives[k]++) {
        PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s, levels %" PetscInt_FMT ", relax %g, backend %s, update %s: without %s %d", r->pattern, r->ordering,
                                r->levels, (double)r->relax, SyncILUBackends[r->backend], SyncILUUpdates[r->update], refusables[k], lives[k]));
        Watch("%s", what);
        if (k == PINNED) PetscCall(SyncILUEngineFinalize()); /* the buffers are there, and go for this */
        refused = PETSC_FALSE;
        left[k] = lives[k];
        PetscCall(TestLife(r, &c, k, x, what, &replaced));
        left[k] = -1;
        if (!refused || check_failures > 20) break;
      }
      CHECK(lives[k] > (k == PINNED ? 0 : 10), "%s: %d calls could be refused, so that they are not seen", what, lives[k]);
    }
    CHECK(r->update != SYNCILU_UPDATE_LIST || replaced, "%s: no list without memory was replaced by another strategy", what);
    printf("  %s, %s, %s: without each of %d allocations, %d launches, %d pinned buffers; %d lists replaced\n", r->pattern, SyncILUBackends[r->backend],
           SyncILUUpdates[r->update], lives[ALLOCATION], lives[LAUNCH], lives[PINNED], replaced);
    (void)fflush(stdout);
    PetscCall(PetscFree(x));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part lines: what solves take that gather lines of right-hand sides is refused piece by piece. Without records and
   flags they go on as solves that do not gather; without vectors, or the launch of the solve itself, they fail.
*/

/* A plan that is refused something in its first solves, or nothing; says whether the first one gathers. */
static PetscErrorCode SolveLines(const Case *c, Refusable kind, int number, const char *what, const PetscScalar *b, PetscScalar *const x[2], PetscBool *gathers)
{
  SyncILUSettings settings;
  SyncILUEngine   e;
  SyncILUSource   source;
  Arrays          arrays = {&c->csr, NULL};
  MatFactorInfo   info;
  size_t          used, pool;
  char            view[4096];
  PetscBool       fails[2];

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  settings.backend    = SYNCILU_BACKEND_CUDA;
  settings.ordering   = SYNCILU_ORDERING_BMC;
  settings.block_size = 32;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  PetscCall(SyncILUEngineCreate(&settings, c->n, &source, NULL, NULL, c->fill, &e));
  PetscCall(SyncILUEngineFactor(e, &source, &info));
  refused    = PETSC_FALSE;
  left[kind] = number;
  for (int trans = 0; trans < 2; trans++) {
    TWICE(SyncILUEngineSolve(e, trans ? SYNCILU_TRANS : SYNCILU_NOTRANS, SYNCILU_RHS_LINE, b, c->n, x[trans], c->n, PETSC_MEMTYPE_HOST), what);
    fails[trans] = (PetscBool)(check_message[0] != 0);
  }
  left[kind] = -1;
  PetscCall(EngineView(e, view, sizeof(view)));
  *gathers = CheckViewSays(view, "right-hand sides", "gathered");
  CHECK(*gathers || !fails[0], "%s: lines are not gathered, and the solve fails all the same", what);
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(SyncILUCUDAMemory(&used, &pool));
  CHECK(used == 0, "%s: %zu bytes are left behind", what, used);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLines(PetscRandom rand)
{
  const PetscInt n = (PetscInt)(1.25 * SYNCILU_GATHERED_CACHE / (SYNCILU_RHS_LINE * sizeof(double))), all = SYNCILU_RHS_LINE * n;
  Mat            A;
  Case           c;
  PetscScalar   *b, *x[2], *want[2];
  PetscBool      gathers;

  PetscFunctionBegin;
  Watch("the reference's factor of triangles");
  PetscCall(GenerateMatrix("triangles", n, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  PetscCall(PetscMalloc5(all, &b, all, &x[0], all, &x[1], all, &want[0], all, &want[1]));
  for (PetscInt i = 0; i < all; i++) PetscCall(PetscRandomGetValue(rand, b + i));
  PetscCall(SolveLines(&c, ALLOCATION, -1, "gathered lines", b, want, &gathers));
  CHECK(gathers, "lines are not gathered, though nothing is refused");
  for (Refusable k = ALLOCATION; k < PINNED; k++) {
    int lives = 0, plain = 0;

    for (;; lives++) {
      char what[96];

      PetscCall(PetscSNPrintf(what, sizeof(what), "gathered lines, without %s %d of the first solves", refusables[k], lives));
      Watch("%s", what);
      PetscCall(SolveLines(&c, k, lives, what, b, x, &gathers));
      if (!gathers) plain++;
      for (PetscInt r = 0; r < 2 * SYNCILU_RHS_LINE; r++) {
        const PetscInt at = r / 2 * n, i = SolutionFirstDifference(n, x[r % 2] + at, want[r % 2] + at, 1e-12);

        CHECK(i == n, "%s: row %" PetscInt_FMT " of right-hand side %" PetscInt_FMT "%s differs", what, i, r / 2, r % 2 ? ", transposed," : "");
      }
      if (!refused || check_failures > 20) break;
    }
    CHECK(gathers && plain > 5, "without one of %d calls each, lines are not gathered in %d cases", lives, plain);
    printf("  without each of %d calls, %s: %d times without gathered lines\n", lives, refusables[k], plain);
  }
  PetscCall(PetscFree5(b, x[0], x[1], want[0], want[1]));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name, *what;
  unsigned    seconds; /* of the watch over each of its steps */
  PetscBool   alone;   /* runs only when it is asked for */
  PetscErrorCode (*test)(PetscRandom);
} parts[] = {
  {"stale",    "a matrix of another pattern than the plan's",             5,   PETSC_FALSE, TestStale            },
  {"one",      "one multiprocessor for all",                              20,  PETSC_FALSE, TestOneMultiprocessor},
  {"pulses",   "others come in the middle",                               20,  PETSC_FALSE, TestPulses           },
  {"random",   "random patterns with random settings",                    20,  PETSC_FALSE, TestRandom           },
  {"memory",   "what plan and factor take of the device",                 60,  PETSC_FALSE, TestMemory           },
  {"rows",     "rows at the borders of shared memory and lists",          20,  PETSC_FALSE, TestRowLengths       },
  {"long",     "rows and columns as long as the matrix",                  60,  PETSC_FALSE, TestLong             },
  {"refusals", "each allocation, launch and pinned buffer refused once",  30,  PETSC_FALSE, TestRefusals         },
  {"lines",    "what solves take that gather lines, refused once",        30,  PETSC_FALSE, TestLines            },
  {"limits",   "as many rows and entries as indices of 32 bits can name", 240, PETSC_TRUE,  TestLimits           }
};

int main(int argc, char **argv)
{
  char           part[32] = "";
  PetscBool      list     = PETSC_FALSE, given, missing;
  PetscRandom    rand;
  PetscLogDouble start, now;
  int            failed, ran = 0;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-list", &list, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &options.small, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &options.first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seeds", &options.seeds, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-part", part, sizeof(part), &given));
  if (list) {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(parts); k++) printf("%-8s %s%s\n", parts[k].name, parts[k].what, parts[k].alone ? " (alone)" : "");
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(BackendMissing(&missing));
  if (missing) {
    PetscCall(PetscFinalize());
    return SKIPPED;
  }
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(parts); k++) {
    PetscBool this = (PetscBool)!parts[k].alone;

    if (given) PetscCall(PetscStrcmp(part, parts[k].name, &this));
    if (!this) continue;
    ran++;
    skipped       = PETSC_FALSE;
    watch_seconds = parts[k].seconds * (options.small ? 8 : 1);
    PetscCall(PetscTime(&start));
    PetscCall((*parts[k].test)(rand));
    PetscCall(PetscTime(&now));
    printf("%s: %.1f s, %d checks so far, %d failed\n", parts[k].name, now - start, check_count, check_failures);
    (void)fflush(stdout);
  }
  WatchEnd();
  PetscCall(PetscRandomDestroy(&rand));
  CHECK(ran, "there is no part %s: -list says which there are", part);
  failed = CheckReport("cuda_attack");
  PetscCall(PetscFinalize());
  return given && skipped && !failed ? SKIPPED : failed;
}
