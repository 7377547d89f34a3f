static char
  help[] = "The applications of H. Luo et al., StructILU, ICS 2025, table 4 and figure 10, as generated systems with their stencils and unknowns: where\n\
the time of a preconditioned method goes, beside cuSPARSE in CSR, as PETSc's own preconditioner has it and of ILU(0) also with the last of\n\
SpSV's algorithms, and in blocks, BSR (bsrilu02 and bsrsv2).\n\
  -scale s            times the document's points in each direction\n\
  -system name:n,...  these systems of bench_solvers; symmetric ones with CG and IC(0), others with GMRES and ILU(0)\n\
  -small              small ones\n\
  -cpu                without a GPU, beside PETSc's own\n\
  -repeat n           rounds after the first, of which the median is shown\n\
  -rtol r             relative tolerance, of the true residual\n\
  -json file          appends a JSON line a case; without it they go to standard output\n\n";

#include <math.h>
#include <string.h>
#include "krylov.h"
#if defined(BENCH_CUSPARSE) && defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
  #include "bsr.h"
  #include "csr.h"
  #include "cusparse_algorithms.h"
#else
  #undef BENCH_CUSPARSE
#endif

enum {
  LIST    = 32,
  WHY     = KRYLOV_WHY,
  CHOICES = 4
};

typedef enum {
  OURS,
  PETSC,
  LAST,
  BLOCKS
} Choice;
static const char *const names[2][CHOICES] = {
  {"syncilu", "PETSc, CSR", "CSR", "BSR"},
  {"syncilu", "PETSc",      NULL,  NULL }
};

/* Points in each direction as in the document, and of a test; fill is the levels of an incomplete Cholesky factor. */
typedef struct {
  const char *title, *system;
  PetscInt    points, few, fill;
} Application;

static const Application applications[] = {
  {"Poisson, IC(0)",       "poisson",      304, 17, 0},
  {"Poisson, IC(1)",       "poisson",      304, 17, 1},
  {"convection-diffusion", "timestep",     304, 16, 0},
  {"Navier-Stokes",        "navierstokes", 104, 8,  0},
  {"Euler",                "euler",        112, 8,  0},
  {"Cahn-Hilliard",        "cahnhilliard", 160, 10, 0},
};

enum {
  APPLICATIONS = sizeof(applications) / sizeof(applications[0])
};

typedef struct {
  Outcome out;
  double  factor, apply; /* s of a factorization, and of an application of the preconditioner */
} Result;

typedef struct {
  Krylov        krylov;
  PetscBool     cpu;
  PetscReal     scale;
  BenchJSON     json;
  BenchFailures failures;
} Bench;

/* ---- the preconditioners that PETSc does not have ---- */

#if defined(BENCH_CUSPARSE)
static const struct {
  const char *name;
  int         value;
} algorithms[] = {
  #define ALGORITHM(name, value) {name, value},
  SPSV_ALGORITHMS(ALGORITHM)
  #undef ALGORITHM
};

enum {
  ALGORITHMS = sizeof(algorithms) / sizeof(algorithms[0])
};

typedef struct {
  const Krylov    *krylov;
  int              unknowns; /* of a point, for blocks; 0: in CSR */
  cusparseHandle_t handle;
  BSR              bsr;
  CSR              csr;
  double          *y;
  double           factor; /* s of the last factorization, in CSR with the update of the solves */
} Shell;

static PetscErrorCode ShellCreate(Shell *s, PetscInt n, const PetscInt *i, const PetscInt *j, PetscInt nnz)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseCreate(&s->handle));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUSPARSE(cusparseSetStream(s->handle, stream));
  if (s->unknowns) {
    PetscCall(BSRCreate(&s->bsr, s->handle, CUSPARSE_SOLVE_POLICY_USE_LEVEL, n, s->unknowns, i, j));
    PetscCallCUDA(cudaMalloc((void **)&s->y, sizeof(double) * (size_t)n));
  } else PetscCall(CSRCreate(&s->csr, s->handle, (cusparseSpSVAlg_t)algorithms[ALGORITHMS - 1].value, n, nnz, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellSetUp(PC pc)
{
  Shell          *s;
  Mat             A;
  MatInfo         info;
  PetscInt        n;
  const PetscInt *i, *j;
  PetscScalar    *a;
  PetscMemType    where;
  PetscLogDouble  t0, t1;
  PetscBool       first;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(PCGetOperators(pc, NULL, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &i, &j, &a, &where));
  PetscCheck(PetscMemTypeDevice(where), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The matrix is not on the device");
  first = (PetscBool)!s->handle;
  if (first) PetscCall(ShellCreate(s, n, i, j, (PetscInt)info.nz_used));
  if (s->unknowns) PetscCall(BSRConvert(&s->bsr, i, j, a));
  else PetscCall(CSRCopy(&s->csr, a));
  if (first && s->unknowns) {
    PetscCall(BSRAnalyzeFactor(&s->bsr));
    PetscCall(BSRAnalyzeSolves(&s->bsr));
  }
  PetscCall(KrylovClock(s->krylov, &t0));
  if (s->unknowns) PetscCall(BSRFactor(&s->bsr));
  else {
    PetscCall(CSRFactor(&s->csr));
    if (first) PetscCall(CSRAnalyzeSolves(&s->csr));
    else PetscCall(CSRUpdateSolves(&s->csr));
  }
  PetscCall(KrylovClock(s->krylov, &t1));
  s->factor = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellApply(PC pc, Vec b, Vec x)
{
  Shell             *s;
  const PetscScalar *from;
  PetscScalar       *to;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(VecCUDAGetArrayRead(b, &from));
  PetscCall(VecCUDAGetArrayWrite(x, &to));
  if (s->unknowns) PetscCall(BSRSolve(&s->bsr, from, s->y, to));
  else PetscCall(CSRSolve(&s->csr, from, to));
  PetscCall(VecCUDARestoreArrayWrite(x, &to));
  PetscCall(VecCUDARestoreArrayRead(b, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellDestroy(PC pc)
{
  Shell *s;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &s));
  PetscCall(BSRDestroy(&s->bsr));
  PetscCall(CSRDestroy(&s->csr));
  (void)cudaFree(s->y);
  s->y = NULL;
  if (s->handle) (void)cusparseDestroy(s->handle);
  s->handle = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellPrepare(PC pc, void *ctx)
{
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, ctx));
  PetscCall(PCShellSetSetUp(pc, ShellSetUp));
  PetscCall(PCShellSetApply(pc, ShellApply));
  PetscCall(PCShellSetDestroy(pc, ShellDestroy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ---- runs ---- */

static const char *LastAlgorithm(void)
{
#if defined(BENCH_CUSPARSE)
  return algorithms[ALGORITHMS - 1].name;
#else
  return "none";
#endif
}

/* Whether a choice has anything to run on the system. */
static PetscBool Runs(const Bench *bench, const System *p, Choice c)
{
#if defined(BENCH_CUSPARSE)
  if (c == LAST) return (PetscBool)(!bench->cpu && !p->symmetric && ALGORITHMS > 1);
  if (c == BLOCKS) return (PetscBool)(!bench->cpu && p->unknowns > 1);
#else
  (void)bench;
  (void)p;
#endif
  return (PetscBool)(c == OURS || c == PETSC);
}

static PetscErrorCode RunChoice(Bench *bench, Choice c, System *p, PetscInt fill, Result *r)
{
  const char *options[KRYLOV_OPTIONS] = {NULL};
  char        levels[40];
  KSP         ksp = NULL;
  PC          pc;
  int         n = 0;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(levels, sizeof(levels), "pc_factor_levels %" PetscInt_FMT, fill));
  if (c == OURS) {
    options[n++] = "pc_type syncilu";
    if (p->symmetric) options[n++] = "pc_syncilu_symmetric";
  } else if (c == PETSC) {
    options[n++] = p->symmetric ? "pc_type icc" : "pc_type ilu";
    if (!bench->cpu) options[n++] = "pc_factor_mat_solver_type cusparse";
  }
  if (fill && c <= PETSC) options[n++] = levels;
  options[n++] = "ksp_norm_type unpreconditioned";
  if (!p->symmetric) options[n++] = "ksp_pc_side right";
#if defined(BENCH_CUSPARSE)
  if (c == LAST || c == BLOCKS) {
    Shell shell = {.krylov = &bench->krylov, .unknowns = c == BLOCKS ? (int)p->unknowns : 0};

    p->prepare = ShellPrepare;
    p->ctx     = &shell;
    PetscCall(KrylovRun(&bench->krylov, options, KSPGMRES, p, &ksp, &r->out));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(KrylovApply(&bench->krylov, pc, p, &r->apply));
    r->factor = shell.factor;
    PetscCall(KSPDestroy(&ksp)); /* while there is what the preconditioner points to */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(KrylovRun(&bench->krylov, options, p->symmetric ? KSPCG : KSPGMRES, p, &ksp, &r->out));
  PetscCall(KSPGetPC(ksp, &pc));
  if (r->out.reason != KSP_DIVERGED_PC_FAILED) PetscCall(KrylovApply(&bench->krylov, pc, p, &r->apply));
  r->factor = r->out.refactor;
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factorization and a solve; an analysis does not count in the document. */
static double Total(const Result *r)
{
  return r->out.failed || r->out.reason <= 0 ? NAN : r->factor + r->out.time;
}

static PetscErrorCode Print(Bench *bench, const System *p, const char *title, const Result *all)
{
  MatInfo     info;
  PetscInt    rows;
  const char *method = p->symmetric ? KSPCG : KSPGMRES;
  double      best   = NAN; /* of the others */

  PetscFunctionBegin;
  PetscCall(MatGetSize(p->A, &rows, NULL));
  PetscCall(MatGetInfo(p->A, MAT_GLOBAL_SUM, &info));
  for (int k = PETSC; k < CHOICES; k++) best = fmin(best, all[k].out.name ? Total(&all[k]) : NAN);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s (%s), %s: %" PetscInt_FMT " rows, %.0f nonzeros\n", title, p->name, method, rows, info.nz_used));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-14s %6s %10s %14s %10s %10s %10s %8s %10s  %s\n", "ms", "its", "analysis", "factorization", "solves", "rest",
                        "total", "ratio", "|b-Ax|/|b|", "remarks"));
  for (int k = 0; k < CHOICES; k++) {
    const Outcome *o      = &all[k].out;
    const double   solves = all[k].apply * (double)o->applications;
    char           remarks[WHY + 64];

    if (!o->name) continue;
    remarks[0] = 0;
    if (o->failed) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "failed: %s", o->why));
    else if (o->reason <= 0) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "%s", KSPConvergedReasons[o->reason]));
    else if (o->ours) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "%s, %.1f MB", SyncILUBackends[o->stats.backend], 1e-6 * (double)o->stats.bytes));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-14s", o->name));
    PetscCall(PrintNumber(6, "%.0f", o->failed ? NAN : (double)o->its));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * (o->setup - all[k].factor)));
    PetscCall(PrintNumber(14, "%.2f", 1e3 * all[k].factor));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * solves));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * (o->time - solves)));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * Total(&all[k])));
    PetscCall(PrintNumber(8, "%.2f", best / Total(&all[k])));
    PetscCall(PrintNumber(10, "%.1e", o->failed ? NAN : (double)o->residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", remarks));

    PetscCall(BenchJSONBegin(bench->json));
    PetscCall(BenchJSONText(bench->json, "bench", "applications"));
    PetscCall(BenchJSONText(bench->json, "title", title));
    PetscCall(BenchJSONText(bench->json, "problem", p->name));
    PetscCall(BenchJSONText(bench->json, "solver", method));
    PetscCall(BenchJSONText(bench->json, "device", bench->cpu ? "cpu" : "gpu"));
    PetscCall(BenchJSONText(bench->json, "by", o->name));
    PetscCall(BenchJSONNumber(bench->json, "rows", (double)rows));
    PetscCall(BenchJSONNumber(bench->json, "nonzeros", info.nz_used));
    PetscCall(BenchJSONNumber(bench->json, "unknowns", (double)PetscMax(p->unknowns, 1)));
    if (o->failed) PetscCall(BenchJSONText(bench->json, "failed", o->why));
    else {
      PetscCall(BenchJSONText(bench->json, "reason", KSPConvergedReasons[o->reason]));
      PetscCall(BenchJSONNumber(bench->json, "converged", o->reason > 0));
      PetscCall(BenchJSONNumber(bench->json, "iterations", (double)o->its));
      PetscCall(BenchJSONNumber(bench->json, "analysis", o->setup - all[k].factor));
      PetscCall(BenchJSONNumber(bench->json, "factorization", all[k].factor));
      PetscCall(BenchJSONNumber(bench->json, "applications", (double)o->applications));
      PetscCall(BenchJSONNumber(bench->json, "apply", all[k].apply));
      PetscCall(BenchJSONNumber(bench->json, "solve", o->time));
      PetscCall(BenchJSONNumber(bench->json, "residual", (double)o->residual));
    }
    PetscCall(BenchJSONEnd(bench->json));
  }
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* We converge, and in the iterations of the others, which rounding changes by a few. */
static PetscErrorCode Judge(Bench *bench, const char *title, const Result *all)
{
  const Outcome *ours = &all[OURS].out;

  PetscFunctionBegin;
  for (int k = 0; k < CHOICES; k++) {
    const Outcome *o = &all[k].out;
    char           why[128];

    if (!o->name) continue;
    if (o->failed) PetscCall(BenchFail(&bench->failures, title, o->name, o->why));
    else if (o->reason <= 0 && k == OURS) PetscCall(BenchFail(&bench->failures, title, o->name, KSPConvergedReasons[o->reason]));
    else if (k != OURS && !ours->failed && o->reason > 0 && ours->reason > 0 && PetscAbsInt(ours->its - o->its) > 2 + o->its / 20) {
      PetscCall(PetscSNPrintf(why, sizeof(why), "%" PetscInt_FMT " iterations, %s %" PetscInt_FMT, ours->its, o->name, o->its));
      PetscCall(BenchFail(&bench->failures, title, ours->name, why));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(const Bench *bench, const char *name, System *p)
{
  PetscFunctionBegin;
  PetscCall(SystemByName(name, bench->cpu ? MATAIJ : MATAIJCUSPARSE, p));
  PetscCall(SystemFinish(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of fill of one system after another, up to and with the last. */
static PetscErrorCode RunSystem(Bench *bench, const char *name, PetscInt count, const Application *list)
{
  System    p;
  PetscBool failed, ignored;
  char      why[WHY], text[WHY];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof(p)));
  BenchProgress("%s: assembling", name);
  BenchTry(Create(bench, name, &p), why, sizeof(why), &failed);
  if (failed) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s: skipped: %s\n", name, why));
    PetscCall(BenchFail(&bench->failures, name, "matrix", why));
  }
  for (PetscInt a = 0; a < count && !failed; a++) {
    const char *title = list ? list[a].title : p.kind;
    Result     *all;

    PetscCall(PetscCalloc1(CHOICES, &all));
    for (int k = 0; k < CHOICES; k++) {
      Outcome *o = &all[k].out;

      if (!Runs(bench, &p, (Choice)k)) continue;
      OutcomeInit(names[bench->cpu][k], o);
      all[k].factor = all[k].apply = NAN;
      BenchProgress("%s: %s", title, o->name);
      BenchTry(RunChoice(bench, (Choice)k, &p, list ? list[a].fill : 0, &all[k]), o->why, sizeof(o->why), &o->failed);
      p.prepare = NULL; /* after a failure too */
    }
    PetscCall(Print(bench, &p, title, all));
    PetscCall(Judge(bench, title, all));
    PetscCall(PetscFree(all));
  }
  BenchTry(SystemDestroy(&p), text, sizeof(text), &ignored);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of the document; one whose system is that of the one before it goes with it. */
static PetscErrorCode RunApplications(Bench *bench, PetscBool small)
{
  PetscFunctionBegin;
  for (PetscInt a = 0, count; a < APPLICATIONS; a += count) {
    const Application *first = &applications[a];
    const PetscInt     n     = small ? first->few : PetscMax(5, (PetscInt)(bench->scale * (PetscReal)first->points + 0.5));
    char               name[64];

    for (count = 1; a + count < APPLICATIONS && !strcmp(first->system, first[count].system); count++) { }
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s:%" PetscInt_FMT, first->system, n));
    PetscCall(RunSystem(bench, name, count, first));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     *systems[LIST], json[PETSC_MAX_PATH_LEN] = "", version[256], date[64];
  PetscInt  nsystems = LIST, failures;
  PetscBool small    = PETSC_FALSE, named;
  Bench    *bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin()); /* counts applications */
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscNew(&bench));
  bench->krylov.repeat = 3;
  bench->krylov.rtol   = 1e-5;
  bench->krylov.max_it = 1000;
  bench->krylov.count  = PETSC_TRUE;
  bench->scale         = 1.0;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Applications", NULL);
  PetscCall(PetscOptionsReal("-scale", "Times the points of the document in each direction", NULL, bench->scale, &bench->scale, NULL));
  PetscCall(PetscOptionsStringArray("-system", "Systems by name", NULL, systems, &nsystems, &named));
  PetscCall(PetscOptionsBool("-small", "Small systems", NULL, small, &small, NULL));
  PetscCall(PetscOptionsBool("-cpu", "Without the GPU", NULL, bench->cpu, &bench->cpu, NULL));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Rounds after the first", NULL, bench->krylov.repeat, &bench->krylov.repeat, NULL, 1));
  PetscCall(PetscOptionsReal("-rtol", "Relative tolerance", NULL, bench->krylov.rtol, &bench->krylov.rtol, NULL));
  PetscCall(PetscOptionsString("-json", "File to which JSON lines are appended", NULL, json, json, sizeof(json), NULL));
  PetscOptionsEnd();
  if (!named) nsystems = 0;
  if (!bench->cpu) {
    PetscBool used;

    PetscCall(KrylovUseDevice(&used));
    if (!used) {
      PetscCall(PetscFinalize());
      return 77;
    }
  }
  bench->krylov.device = (PetscBool)!bench->cpu;
  bench->krylov.cold   = PETSC_TRUE;
  bench->krylov.enough = 2.0;
  PetscCall(BenchJSONOpen(json, &bench->json));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscGetDate(date, sizeof(date)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s\n%s\nanalysis: what the first setup takes longer than a factorization; solves: applications of the preconditioner, as many as the\n"
                        "method makes, by the time of one; rest: of the method; total: factorization, solves and rest; ratio: the least total of the others\n"
                        "over it. CSR is csrilu02 and SpSV by %s, PETSc takes its default. In blocks, BSR, the factorization does not count the\n"
                        "conversion of the matrix, and PETSc multiplies with the one in CSR\n",
                        date, version, LastAlgorithm()));
  for (PetscInt k = 0; k < nsystems; k++) {
    PetscCall(RunSystem(bench, systems[k], 1, NULL));
    PetscCall(PetscFree(systems[k]));
  }
  if (!named) PetscCall(RunApplications(bench, small));
  PetscCall(BenchFailuresEnd(&bench->failures, &failures));
  PetscCall(BenchJSONClose(&bench->json));
  PetscCall(PetscFree(bench));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
