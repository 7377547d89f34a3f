static char help[] = "Smoothers of multigrid: ILU(0) with exact and with approximate triangular solves against Chebyshev with Jacobi, and SOR; symmetric\n\
systems with CG, others with GMRES.\n\
  -mg name:n,...      grids of bench_solvers, of 2^k m + 1 points in each direction, with geometric multigrid: interpolations are PETSc's for DMDA,\n\
                      made once and not counted, and coarse matrices their Galerkin products\n\
  -gamg name:n,...    systems of bench_solvers with PETSc's algebraic multigrid\n\
  -small              small ones\n\
  -cpu                without a GPU\n\
  -only name,...      these smoothers alone\n\
  -repeat n           rounds after the first, of which the median is shown\n\
  -rtol r             relative tolerance\n\
  -json file          appends a JSON line a case; without it they go to standard output\n\n";

#include <math.h>
#include <petscdm.h>
#include <petscdmda.h>
#include "krylov.h"

enum {
  LIST     = 16,
  LEVELS   = 12,
  COARSEST = 9, /* points in each direction are few enough for a direct solve */
  WHY      = KRYLOV_WHY
};

typedef struct {
  const char *name;
  PetscBool   host; /* a GPU's matrices and vectors come to the host for it */
  const char *options[KRYLOV_OPTIONS];
} Smoother;

#define SWEEP "mg_levels_pc_type syncilu", "mg_levels_pc_syncilu_solve jacobi", "mg_levels_pc_syncilu_solve_sweeps 1"

/*
   chebyshev and richardson take two steps unless the name says one; a sweep is ILU(0) whose triangular solves
   are a Jacobi sweep each.
*/
static const Smoother smoothers[] = {
  {"chebyshev/jacobi",     PETSC_FALSE, {"mg_levels_ksp_type chebyshev", "mg_levels_pc_type jacobi"}                                                            },
  {"chebyshev/sor",        PETSC_TRUE,  {"mg_levels_ksp_type chebyshev", "mg_levels_pc_type sor"}                                                               },
  {"sor",                  PETSC_TRUE,  {"mg_levels_ksp_type richardson", "mg_levels_pc_type sor"}                                                              },
  {"syncilu",              PETSC_FALSE, {"mg_levels_ksp_type richardson", "mg_levels_pc_type syncilu"}                                                          },
  {"syncilu 1 step",       PETSC_FALSE, {"mg_levels_ksp_type richardson", "mg_levels_ksp_max_it 1", "mg_levels_pc_type syncilu"}                                },
  {"chebyshev/syncilu",    PETSC_FALSE, {"mg_levels_ksp_type chebyshev", "mg_levels_pc_type syncilu"}                                                           },
  {"sweep",                PETSC_FALSE, {"mg_levels_ksp_type richardson", SWEEP, "mg_levels_pc_syncilu_solve_block_size 1"}                                     },
  {"sweep 1 step",         PETSC_FALSE, {"mg_levels_ksp_type richardson", "mg_levels_ksp_max_it 1", SWEEP, "mg_levels_pc_syncilu_solve_block_size 1"}           },
  {"sweep blocks",         PETSC_FALSE, {"mg_levels_ksp_type richardson", SWEEP}                                                                                },
  {"chebyshev/sweep",      PETSC_FALSE, {"mg_levels_ksp_type chebyshev", SWEEP, "mg_levels_pc_syncilu_solve_block_size 1"}                                      },
  {"chebyshev/3 sweeps",
   PETSC_FALSE,                         {"mg_levels_ksp_type chebyshev", "mg_levels_pc_type syncilu", "mg_levels_pc_syncilu_solve jacobi", "mg_levels_pc_syncilu_solve_sweeps 3",
    "mg_levels_pc_syncilu_solve_block_size 1"}                                                                                                   },
 /* on coarse levels too */
  {"syncilu cuda",         PETSC_FALSE, {"mg_levels_ksp_type richardson", "mg_levels_pc_type syncilu", "mg_levels_pc_syncilu_backend cuda"}                     },
  {"sweep cuda",           PETSC_FALSE, {"mg_levels_ksp_type richardson", SWEEP, "mg_levels_pc_syncilu_solve_block_size 1", "mg_levels_pc_syncilu_backend cuda"}},
  {"chebyshev/sweep cuda",
   PETSC_FALSE,                         {"mg_levels_ksp_type chebyshev", SWEEP, "mg_levels_pc_syncilu_solve_block_size 1", "mg_levels_pc_syncilu_backend cuda"} },
};

enum {
  SMOOTHERS = sizeof(smoothers) / sizeof(smoothers[0])
};

/* What a smoother does on one level. */
typedef struct {
  PetscInt rows;
  double   nonzeros, seconds; /* of a smoothing */
  char     type[16], by[16];  /* the matrix' type; the backend, else the preconditioner's type */
} Level;

typedef struct {
  Outcome  out;
  PetscInt levels;
  Level    level[LEVELS];
} Result;

/* Interpolations from each level to the next finer one. */
typedef struct {
  PetscInt levels; /* 0: algebraic */
  Mat      up[LEVELS];
} Hierarchy;

typedef struct {
  Krylov        krylov;
  PetscBool     cpu;
  MatType       mattype;
  char         *only[LIST];
  PetscInt      nonly;
  BenchJSON     json;
  BenchFailures failures;
} Bench;

static PetscErrorCode Prepare(PC pc, void *ctx)
{
  const Hierarchy *h = (const Hierarchy *)ctx;

  PetscFunctionBegin;
  PetscCall(PCSetType(pc, h->levels ? PCMG : PCGAMG));
  if (!h->levels) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCMGSetLevels(pc, h->levels, NULL));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  for (PetscInt l = 1; l < h->levels; l++) PetscCall(PCMGSetInterpolation(pc, l, h->up[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HierarchyCreate(const Bench *bench, const System *p, Hierarchy *h)
{
  DM       dm, coarse;
  PetscInt n = p->n, l;

  PetscFunctionBegin;
  PetscCheck(n, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-mg %s: no grid", p->name);
  for (h->levels = 1; n > COARSEST && n % 2 && h->levels < LEVELS; h->levels++) n = (n - 1) / 2 + 1;
  PetscCheck(h->levels > 1, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-mg %s: take an odd number of points, more than %d", p->name, COARSEST);
  n = p->n;
  if (p->dim == 3) {
    PetscCall(
      DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, 1, 1, 1, 1, 1, NULL, NULL, NULL, &dm));
  } else PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, 1, 1, 1, 1, NULL, NULL, &dm));
  PetscCall(DMSetMatType(dm, bench->mattype));
  PetscCall(DMSetUp(dm));
  for (l = h->levels - 1; l > 0; l--) {
    PetscCall(DMCoarsen(dm, MPI_COMM_NULL, &coarse));
    PetscCall(DMCreateInterpolation(coarse, dm, &h->up[l], NULL));
    PetscCall(DMDestroy(&dm));
    dm = coarse;
  }
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HierarchyDestroy(Hierarchy *h)
{
  PetscFunctionBegin;
  for (PetscInt l = 1; l < h->levels; l++) PetscCall(MatDestroy(&h->up[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One level's matrix, smoother, and the time of a smoothing. */
static PetscErrorCode Look(const Bench *bench, KSP ksp, Level *level)
{
  PC           pc;
  Mat          A;
  Vec          x, b;
  MatInfo      info;
  const char  *type, *by;
  PetscBool    ours;
  BenchSample *sample;
  double       all = 0.0;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatGetSize(A, &level->rows, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  level->nonzeros = info.nz_used;
  PetscCall(MatGetType(A, &type));
  PetscCall(PetscStrncpy(level->type, type, sizeof(level->type)));
  PetscCall(PCGetType(pc, &by));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSYNCILU, &ours));
  if (ours) {
    SyncILUStatistics stats;

    PetscCall(PCSyncILUGetStatistics(pc, &stats));
    by = SyncILUBackends[stats.backend];
  }
  PetscCall(PetscStrncpy(level->by, by, sizeof(level->by)));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(PetscNew(&sample));
  while (BenchMore(sample->n, 5, all, 0.1)) {
    PetscLogDouble t0, t1;

    PetscCall(KrylovClock(&bench->krylov, &t0));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KrylovClock(&bench->krylov, &t1));
    all += t1 - t0;
    sample->t[sample->n++] = t1 - t0;
  }
  level->seconds = BenchMedian(sample);
  PetscCall(PetscFree(sample));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSmoother(Bench *bench, const Smoother *s, System *p, Result *r)
{
  KSP       ksp = NULL, smooth;
  PC        pc;
  PetscBool mg;

  PetscFunctionBegin;
  bench->krylov.cold   = (PetscBool)(bench->cpu || s->host);
  bench->krylov.enough = 1.0;
  PetscCall(KrylovRun(&bench->krylov, s->options, p->symmetric ? KSPCG : KSPGMRES, p, &ksp, &r->out));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &mg, PCMG, PCGAMG, ""));
  if (mg) {
    PetscCall(PCMGGetLevels(pc, &r->levels));
    r->levels = PetscMin(r->levels, LEVELS);
    /* not the coarsest one, which is solved directly */
    for (PetscInt l = 1; l < r->levels; l++) {
      PetscCall(PCMGGetSmoother(pc, l, &smooth));
      PetscCall(Look(bench, smooth, &r->level[l]));
    }
  }
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- output ---- */

static const char *Method(const Hierarchy *h)
{
  return h->levels ? "mg" : "gamg";
}

static PetscErrorCode PrintHead(const Bench *bench, const System *p, const Hierarchy *h)
{
  MatInfo  info;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(p->A, &rows, NULL));
  PetscCall(MatGetInfo(p->A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s, %s with %s: %" PetscInt_FMT " rows, %.0f nonzeros, %s\n", p->name, p->symmetric ? KSPCG : KSPGMRES, Method(h),
                        rows, info.nz_used, bench->cpu ? "CPU" : "GPU"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-24s %6s %10s %10s %10s %11s %8s %10s  %s\n", "ms", "its", "setup", "refactor", "solve", "setup+solve",
                        "first/it", "|b-Ax|/|b|", "remarks"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line, beside the first one. */
static PetscErrorCode PrintResult(const Bench *bench, const System *p, const Hierarchy *h, const Result *first, const Result *r)
{
  const Outcome *o = &r->out;
  PetscInt       rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(p->A, &rows, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-24s", o->name));
  PetscCall(PrintNumber(6, "%.0f", o->failed ? NAN : (double)o->its));
  PetscCall(PrintNumber(10, "%.2f", 1e3 * o->setup));
  PetscCall(PrintNumber(10, "%.2f", 1e3 * o->refactor));
  PetscCall(PrintNumber(10, "%.2f", 1e3 * o->time));
  PetscCall(PrintNumber(11, "%.2f", 1e3 * OutcomeTotal(o)));
  PetscCall(PrintNumber(8, "%.2f", OutcomeTotal(&first->out) / OutcomeTotal(o)));
  PetscCall(PrintNumber(10, "%.1e", o->failed ? NAN : (double)o->residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", o->failed ? o->why : o->reason <= 0 ? KSPConvergedReasons[o->reason] : ""));

  PetscCall(BenchJSONBegin(bench->json));
  PetscCall(BenchJSONText(bench->json, "bench", "multigrid"));
  PetscCall(BenchJSONText(bench->json, "problem", p->name));
  PetscCall(BenchJSONText(bench->json, "solver", p->symmetric ? KSPCG : KSPGMRES));
  PetscCall(BenchJSONText(bench->json, "multigrid", Method(h)));
  PetscCall(BenchJSONText(bench->json, "device", bench->cpu ? "cpu" : "gpu"));
  PetscCall(BenchJSONNumber(bench->json, "rows", (double)rows));
  PetscCall(BenchJSONText(bench->json, "smoother", o->name));
  if (o->failed) PetscCall(BenchJSONText(bench->json, "failed", o->why));
  else {
    PetscCall(BenchJSONText(bench->json, "reason", KSPConvergedReasons[o->reason]));
    PetscCall(BenchJSONNumber(bench->json, "iterations", (double)o->its));
    PetscCall(BenchJSONNumber(bench->json, "setup", o->setup));
    PetscCall(BenchJSONNumber(bench->json, "refactor", o->refactor));
    PetscCall(BenchJSONNumber(bench->json, "solve", o->time));
    PetscCall(BenchJSONNumber(bench->json, "residual", (double)o->residual));
    for (PetscInt l = 1; l < r->levels; l++) {
      char name[32];

      PetscCall(PetscSNPrintf(name, sizeof(name), "smoothing_%" PetscInt_FMT, l));
      PetscCall(BenchJSONNumber(bench->json, name, r->level[l].seconds));
    }
  }
  PetscCall(BenchJSONEnd(bench->json));
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Who smooths on each level, and how long it takes. */
static PetscErrorCode PrintLevels(PetscInt n, const Result *all)
{
  const Result *first = NULL;

  PetscFunctionBegin;
  for (PetscInt k = n - 1; k >= 0; k--)
    if (!all[k].out.failed && all[k].levels) first = &all[k];
  if (!first) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  us of a smoothing   "));
  for (PetscInt l = first->levels - 1; l > 0; l--) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %10" PetscInt_FMT " rows", first->level[l].rows));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n  %-24s", "type, entries a row"));
  for (PetscInt l = first->levels - 1; l > 0; l--)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %11s%4.0f", strncmp(first->level[l].type, "seq", 3) ? first->level[l].type : first->level[l].type + 3,
                          first->level[l].nonzeros / (double)PetscMax(first->level[l].rows, 1)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  for (PetscInt k = 0; k < n; k++) {
    if (all[k].out.failed) continue;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-24s", all[k].out.name));
    for (PetscInt l = all[k].levels - 1; l > 0; l--) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %7s%8.0f", all[k].level[l].by, 1e6 * all[k].level[l].seconds));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- runs ---- */

static PetscErrorCode RunSmoothers(Bench *bench, System *p, const Hierarchy *h)
{
  Result  *all;
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(SMOOTHERS, &all));
  PetscCall(PrintHead(bench, p, h));
  for (int k = 0; k < SMOOTHERS; k++) {
    const Smoother *s      = &smoothers[k];
    Outcome        *o      = &all[n].out;
    PetscBool       wanted = (PetscBool)!bench->nonly, ours = PETSC_FALSE, damped = PETSC_TRUE;

    for (PetscInt c = 0; c < bench->nonly; c++) wanted = (PetscBool)(wanted || !strcmp(bench->only[c], s->name));
    for (int c = 0; c < KRYLOV_OPTIONS && s->options[c]; c++) {
      if (bench->cpu && strstr(s->options[c], "backend cuda")) wanted = PETSC_FALSE;
      if (strstr(s->options[c], "pc_type syncilu")) ours = PETSC_TRUE;
      if (strstr(s->options[c], "solve jacobi") && strstr(s->options[0], "richardson")) damped = PETSC_FALSE;
    }
    if (!wanted) continue;
    OutcomeInit(s->name, o);
    BenchProgress("%s: %s", p->name, s->name);
    BenchTry(RunSmoother(bench, s, p, &all[n]), o->why, sizeof(o->why), &o->failed);
    if (o->failed) PetscCall(BenchFail(&bench->failures, p->name, s->name, o->why));
    /* that approximate solves alone do not smooth is a result */
    else if (ours && damped && o->reason <= 0) PetscCall(BenchFail(&bench->failures, p->name, s->name, KSPConvergedReasons[o->reason]));
    for (PetscInt l = 1; ours && !o->failed && l < all[n].levels; l++) {
      /* who smooths is a backend then */
      if (strcmp(all[n].level[l].by, SyncILUBackends[SYNCILU_BACKEND_HOST]) && strcmp(all[n].level[l].by, SyncILUBackends[SYNCILU_BACKEND_CUDA]))
        PetscCall(BenchFail(&bench->failures, p->name, s->name, "a level has another smoother"));
    }
    PetscCall(PrintResult(bench, p, h, &all[0], &all[n]));
    n++;
  }
  PetscCall(PrintLevels(n, all));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSystem(const Bench *bench, const char *name, PetscBool geometric, System *p, Hierarchy *h)
{
  PetscFunctionBegin;
  PetscCall(SystemByName(name, bench->mattype, p));
  PetscCall(SystemFinish(p));
  if (p->symmetric) PetscCall(MatSetOption(p->A, MAT_SPD, PETSC_TRUE));
  if (geometric) PetscCall(HierarchyCreate(bench, p, h));
  /*
     no rigid body modes for elasticity: aggregates of one point make zero rows of them, on which SOR and ILU
     stop
  */
  p->prepare = Prepare;
  p->ctx     = h;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSystem(Bench *bench, const char *name, PetscBool geometric)
{
  System    p;
  Hierarchy h;
  PetscBool failed, ignored;
  char      why[WHY], text[WHY];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof(p)));
  PetscCall(PetscMemzero(&h, sizeof(h)));
  BenchProgress("%s: assembling", name);
  BenchTry(CreateSystem(bench, name, geometric, &p, &h), why, sizeof(why), &failed);
  if (failed) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s: skipped: %s\n", name, why));
    PetscCall(BenchFail(&bench->failures, name, "matrix", why));
  } else PetscCall(RunSmoothers(bench, &p, &h));
  BenchTry(SystemDestroy(&p), text, sizeof(text), &ignored);
  BenchTry(HierarchyDestroy(&h), text, sizeof(text), &ignored);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const own_mg[2][4] = {
    {"poisson:129", "anisotropic:129", "jumping:129", "convdiff:129"},
    {"poisson:17",  "anisotropic:17",  "jumping:17",  "convdiff:17" }
  };
  const char *const own_gamg[2][2] = {
    {"elasticity:41", "laplace3:65"},
    {"elasticity:6",  "laplace3:12"}
  };
  char     *mg[LIST], *gamg[LIST], json[PETSC_MAX_PATH_LEN] = "", version[256], date[64];
  PetscInt  nmg = LIST, ngamg = LIST, failures;
  PetscBool small = PETSC_FALSE, set[3];
  Bench    *bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscNew(&bench));
  bench->krylov.repeat = 3;
  bench->krylov.rtol   = 1e-8;
  bench->krylov.max_it = 500;
  bench->nonly         = LIST;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Multigrid bench", NULL);
  PetscCall(PetscOptionsStringArray("-mg", "Grids with geometric multigrid", NULL, mg, &nmg, &set[0]));
  PetscCall(PetscOptionsStringArray("-gamg", "Systems with algebraic multigrid", NULL, gamg, &ngamg, &set[1]));
  PetscCall(PetscOptionsBool("-small", "Small systems", NULL, small, &small, NULL));
  PetscCall(PetscOptionsBool("-cpu", "Without the GPU", NULL, bench->cpu, &bench->cpu, NULL));
  PetscCall(PetscOptionsStringArray("-only", "These smoothers alone", NULL, bench->only, &bench->nonly, &set[2]));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Rounds after the first", NULL, bench->krylov.repeat, &bench->krylov.repeat, NULL, 1));
  PetscCall(PetscOptionsReal("-rtol", "Relative tolerance", NULL, bench->krylov.rtol, &bench->krylov.rtol, NULL));
  PetscCall(PetscOptionsString("-json", "File to which JSON lines are appended", NULL, json, json, sizeof(json), NULL));
  PetscOptionsEnd();
  if (!set[2]) bench->nonly = 0;
  for (PetscInt k = 0; k < bench->nonly; k++) {
    PetscBool known = PETSC_FALSE;

    for (int s = 0; s < SMOOTHERS; s++) known = (PetscBool)(known || !strcmp(bench->only[k], smoothers[s].name));
    PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-only %s: there is no such smoother", bench->only[k]);
  }
  if (!set[0]) nmg = 0;
  if (!set[1]) ngamg = 0;
  if (!set[0] && !set[1]) {
    for (int k = 0; k < 4; k++) PetscCall(PetscStrallocpy(own_mg[small][k], &mg[nmg++]));
    for (int k = 0; k < 2; k++) PetscCall(PetscStrallocpy(own_gamg[small][k], &gamg[ngamg++]));
  }
  if (!bench->cpu) {
    PetscBool used;

    PetscCall(KrylovUseDevice(&used));
    if (!used) {
      PetscCall(PetscFinalize());
      return 77;
    }
  }
  bench->krylov.device = (PetscBool)!bench->cpu;
  bench->mattype       = bench->cpu ? MATAIJ : MATAIJCUSPARSE;
  PetscCall(BenchJSONOpen(json, &bench->json));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscGetDate(date, sizeof(date)));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD,
                "%s\n%s\nrtol %g; 2 steps of a smoother before and after the coarse grid; first/it: how many times longer setup+solve of the first smoother takes\n",
                date, version, (double)bench->krylov.rtol));
  for (PetscInt k = 0; k < nmg; k++) {
    PetscCall(RunSystem(bench, mg[k], PETSC_TRUE));
    PetscCall(PetscFree(mg[k]));
  }
  for (PetscInt k = 0; k < ngamg; k++) {
    PetscCall(RunSystem(bench, gamg[k], PETSC_FALSE));
    PetscCall(PetscFree(gamg[k]));
  }
  PetscCall(BenchFailuresEnd(&bench->failures, &failures));
  for (PetscInt k = 0; k < bench->nonly; k++) PetscCall(PetscFree(bench->only[k]));
  PetscCall(BenchJSONClose(&bench->json));
  PetscCall(PetscFree(bench));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
