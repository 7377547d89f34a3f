static char help[] = "The experiment of M. Naumov, NVIDIA technical report NVR-2012-003, 4.2: CG with IC(0) of symmetric matrices with a positive\n\
diagonal, BiCGStab with ILU(0) from the right of others, from zero to |r| < 1e-7 |r0| or 2000 iterations, with f = A e. On a GPU, on one\n\
core and with threads, beside PETSc's own.\n\
  -folder dir         its Matrix Market files (.mtx) and PETSc binary files (.petsc)\n\
  -system name:n,...  systems of bench_solvers; without both stand-ins for his matrices: finite elements, reservoirs, circuits and diffusion,\n\
                      symmetric and not\n\
  -small              small ones\n\
  -cpu                without the GPU\n\
  -threads n          as which all cores count; products and vectors take one of them\n\
  -repeat n           rounds after the first, of which the median is shown\n\
  -json file          appends a JSON line a case; without it they go to standard output\n\n";

#include <math.h>
#include <unistd.h>
#include "krylov.h"
#include "../load.h"

enum {
  LIST    = 32,
  WHY     = KRYLOV_WHY,
  CHOICES = 5
};

/* Who computes. The first one is compared with the others. */
typedef struct {
  const char *name;
  PetscBool   device, ours, all; /* ours: syncilu; all: cores */
  const char *options[2];        /* beside those of the factorization */
} Choice;

static const Choice choices[CHOICES] = {
  {"GPU",           PETSC_TRUE,  PETSC_TRUE,  PETSC_FALSE, {NULL}                                },
  {"one core",      PETSC_FALSE, PETSC_TRUE,  PETSC_FALSE, {"pc_syncilu_backend host"}           },
  {"all cores",     PETSC_FALSE, PETSC_TRUE,  PETSC_TRUE,  {"pc_syncilu_backend host"}           },
  {"PETSc",         PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, {NULL}                                },
  {"PETSc, on GPU", PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE, {"pc_factor_mat_solver_type cusparse"}},
};

typedef struct {
  Outcome out;
  double  apply; /* s of an application of the preconditioner */
} Result;

/* A line of the last table. */
typedef struct {
  char      name[64];
  PetscBool symmetric;
  PetscInt  rows, levels[2], its;
  double    nonzeros, total[CHOICES];
} Line;

typedef struct {
  Krylov        krylov;
  PetscBool     cpu;
  PetscInt      threads;
  BenchJSON     json;
  BenchFailures failures;
  Line          line[2 * LIST];
  PetscInt      lines;
} Bench;

/* The same system for vectors and matrices on the device. */
static PetscErrorCode ToDevice(const System *host, System *p)
{
  Vec ones;

  PetscFunctionBegin;
  *p   = *host;
  p->A = NULL;
  p->b = p->x = p->r = NULL;
  PetscCall(MatConvert(host->A, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &p->A));
  PetscCall(MatCreateVecs(p->A, &ones, &p->b));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMult(p->A, ones, p->b));
  PetscCall(VecDestroy(&ones));
  PetscCall(SystemFinish(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunChoice(Bench *bench, const Choice *c, System *p, Result *r)
{
  const char *options[KRYLOV_OPTIONS] = {NULL};
  char        threads[40];
  KSP         ksp = NULL;
  PC          pc;
  int         n = 0;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(threads, sizeof(threads), "pc_syncilu_threads %" PetscInt_FMT, c->all ? bench->threads : 1));
  if (c->ours) {
    options[n++] = "pc_type syncilu";
    options[n++] = threads;
    if (p->symmetric) options[n++] = "pc_syncilu_symmetric";
  } else options[n++] = p->symmetric ? "pc_type icc" : "pc_type ilu";
  options[n++] = "ksp_norm_type unpreconditioned";
  if (!p->symmetric) options[n++] = "ksp_pc_side right";
  for (int k = 0; k < 2 && c->options[k]; k++) options[n++] = c->options[k];
  bench->krylov.device = c->device;
  bench->krylov.cold   = (PetscBool)!c->device;
  bench->krylov.enough = c->device ? 4.0 : 0.5;
  PetscCall(KrylovRun(&bench->krylov, options, p->symmetric ? KSPCG : KSPBCGS, p, &ksp, &r->out));
  PetscCall(KSPGetPC(ksp, &pc));
  if (r->out.reason != KSP_DIVERGED_PC_FAILED) PetscCall(KrylovApply(&bench->krylov, pc, p, &r->apply));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- output ---- */

static PetscErrorCode PrintResults(Bench *bench, const System *p, PetscInt rows, double nonzeros, const Result *all)
{
  const char *method = p->symmetric ? "CG with IC(0)" : "BiCGStab with ILU(0)";
  const Line *line   = &bench->line[bench->lines];

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s (%s), %s: %" PetscInt_FMT " rows, %.0f nonzeros; levels of L %" PetscInt_FMT ", of U %" PetscInt_FMT "\n",
                        p->name, p->kind, method, rows, nonzeros, line->levels[0], line->levels[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-14s %10s %13s %10s %6s %10s %10s %10s %10s %8s  %s\n", "ms", "analysis", "factorization", "both", "its",
                        "in solves", "method", "total", "|r|/|r0|", "speedup", "remarks"));
  for (int k = 0; k < CHOICES; k++) {
    const Outcome *o      = &all[k].out;
    const double   solves = all[k].apply * (double)o->applications;
    char           remarks[WHY + 64];

    if (!o->name) continue;
    remarks[0] = 0;
    if (o->failed) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "failed: %s", o->why));
    else if (o->reason <= 0) PetscCall(PetscStrncpy(remarks, KSPConvergedReasons[o->reason], sizeof(remarks)));
    else if (o->ours) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "%s", SyncILUBackends[o->stats.backend]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-14s", o->name));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * (o->setup - o->refactor)));
    PetscCall(PrintNumber(13, "%.2f", 1e3 * o->refactor));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->setup));
    PetscCall(PrintNumber(6, "%.0f", o->failed ? NAN : (double)o->its));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * solves));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->time));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * (o->setup + o->time)));
    PetscCall(PrintNumber(10, "%.1e", o->failed ? NAN : (double)o->residual));
    /* over one core */
    PetscCall(PrintNumber(8, "%.2f", line->total[1] / line->total[k]));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", remarks));

    PetscCall(BenchJSONBegin(bench->json));
    PetscCall(BenchJSONText(bench->json, "bench", "naumov"));
    PetscCall(BenchJSONText(bench->json, "problem", p->name));
    PetscCall(BenchJSONText(bench->json, "kind", p->kind));
    PetscCall(BenchJSONText(bench->json, "solver", p->symmetric ? KSPCG : KSPBCGS));
    PetscCall(BenchJSONText(bench->json, "preconditioner", p->symmetric ? "IC(0)" : "ILU(0)"));
    PetscCall(BenchJSONText(bench->json, "by", o->name));
    PetscCall(BenchJSONNumber(bench->json, "threads", (double)(choices[k].all ? bench->threads : 1)));
    PetscCall(BenchJSONNumber(bench->json, "rows", (double)rows));
    PetscCall(BenchJSONNumber(bench->json, "nonzeros", nonzeros));
    PetscCall(BenchJSONNumber(bench->json, "levels_l", (double)line->levels[0]));
    PetscCall(BenchJSONNumber(bench->json, "levels_u", (double)line->levels[1]));
    if (o->failed) PetscCall(BenchJSONText(bench->json, "failed", o->why));
    else {
      PetscCall(BenchJSONText(bench->json, "reason", KSPConvergedReasons[o->reason]));
      PetscCall(BenchJSONNumber(bench->json, "analysis", o->setup - o->refactor));
      PetscCall(BenchJSONNumber(bench->json, "factorization", o->refactor));
      PetscCall(BenchJSONNumber(bench->json, "apply", all[k].apply));
      PetscCall(BenchJSONNumber(bench->json, "applications", (double)o->applications));
      PetscCall(BenchJSONNumber(bench->json, "method", o->time));
      PetscCall(BenchJSONNumber(bench->json, "iterations", (double)o->its));
      PetscCall(BenchJSONNumber(bench->json, "residual", (double)o->residual));
    }
    PetscCall(BenchJSONEnd(bench->json));
  }
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Totals of all systems, and how many times those of the first choice the others are; a geometric mean of
   what both have solved.
*/
static PetscErrorCode PrintLines(const Bench *bench)
{
  const int first         = bench->cpu ? 2 : 0;
  double    sum[CHOICES]  = {0.0};
  PetscInt  many[CHOICES] = {0};

  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "\nms altogether on the %s, and how many times that the others take; all cores: %" PetscInt_FMT
                        " threads\n  %-20s %-8s %9s %10s %7s %6s %10s",
                        choices[first].name, bench->threads, "system", "", "rows", "nonzeros", "levels", "its", choices[first].name));
  for (int k = 0; k < CHOICES; k++)
    if (k != first && !(bench->cpu && choices[k].device)) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %14s", choices[k].name));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  for (PetscInt i = 0; i < bench->lines; i++) {
    const Line *l = &bench->line[i];

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-20s %-8s %9" PetscInt_FMT " %10.0f %7" PetscInt_FMT " %6" PetscInt_FMT, l->name,
                          l->symmetric ? "CG" : "BiCGStab", l->rows, l->nonzeros, l->levels[0], l->its));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * l->total[first]));
    for (int k = 0; k < CHOICES; k++) {
      const double ratio = l->total[k] / l->total[first];

      if (k == first || (bench->cpu && choices[k].device)) continue;
      PetscCall(PrintNumber(14, "%.2f", ratio));
      if (isnan(ratio)) continue;
      sum[k] += log(ratio);
      many[k]++;
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-76s", "geometric mean"));
  for (int k = 0; k < CHOICES; k++)
    if (k != first && !(bench->cpu && choices[k].device)) PetscCall(PrintNumber(14, "%.2f", many[k] ? exp(sum[k] / many[k]) : NAN));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- runs ---- */

/* Where PETSc's own solves it, so do we, and on the host in its iterations. */
static PetscErrorCode Judge(Bench *bench, const System *p, const Result *all)
{
  const Outcome *own = &all[3].out;

  PetscFunctionBegin;
  for (int k = 0; k < CHOICES; k++) {
    const Outcome *o = &all[k].out;
    char           why[128];

    if (!o->name) continue;
    if (o->failed) {
      PetscCall(BenchFail(&bench->failures, p->name, o->name, o->why));
      continue;
    }
    if (!choices[k].ours || own->failed || own->reason <= 0) continue;
    if (o->reason <= 0) PetscCall(BenchFail(&bench->failures, p->name, o->name, KSPConvergedReasons[o->reason]));
    else if (!choices[k].device && PetscAbsInt(o->its - own->its) > 2 + own->its / 20) {
      PetscCall(PetscSNPrintf(why, sizeof(why), "%" PetscInt_FMT " iterations, PETSc's own takes %" PetscInt_FMT, o->its, own->its));
      PetscCall(BenchFail(&bench->failures, p->name, o->name, why));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunChoices(Bench *bench, System *host, System *device, Result *all)
{
  Line    *line = &bench->line[bench->lines];
  MatInfo  info;
  PetscInt rows;

  PetscFunctionBegin;
  line->levels[0] = line->levels[1] = -1;
  for (int k = 0; k < CHOICES; k++) {
    const Choice *c = &choices[k];
    Outcome      *o = &all[k].out;

    line->total[k] = NAN;
    if (bench->cpu && c->device) continue;
    OutcomeInit(c->name, o);
    all[k].apply = NAN;
    BenchProgress("%s: %s", host->name, c->name);
    BenchTry(RunChoice(bench, c, c->device ? device : host, &all[k]), o->why, sizeof(o->why), &o->failed);
    line->total[k] = OutcomeTotal(o);
    if (o->ours && !o->failed && line->levels[0] < 0) {
      line->levels[0] = o->stats.levels[0];
      line->levels[1] = o->stats.levels[1];
      line->its       = o->its;
    }
  }
  PetscCall(MatGetSize(host->A, &rows, NULL));
  PetscCall(MatGetInfo(host->A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscStrncpy(line->name, host->name, sizeof(line->name)));
  line->symmetric = host->symmetric;
  line->rows      = rows;
  line->nonzeros  = info.nz_used;
  PetscCall(PrintResults(bench, host, rows, info.nz_used, all));
  PetscCall(Judge(bench, host, all));
  bench->lines++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSystems(const Bench *bench, const char *name, PetscBool file, System *host, System *device)
{
  PetscFunctionBegin;
  if (file) PetscCall(SystemFromFile(name, MATAIJ, host));
  else {
    Vec ones;

    PetscCall(SystemByName(name, MATAIJ, host));
    PetscCall(VecDuplicate(host->b, &ones));
    PetscCall(VecSet(ones, 1.0));
    PetscCall(MatMult(host->A, ones, host->b));
    PetscCall(VecDestroy(&ones));
  }
  PetscCall(SystemFinish(host));
  if (!bench->cpu) PetscCall(ToDevice(host, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunSystem(Bench *bench, const char *name, PetscBool file)
{
  System    host, device;
  Result   *all;
  PetscBool failed, ignored;
  char      why[WHY], text[WHY];

  PetscFunctionBegin;
  if (bench->lines == 2 * LIST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemzero(&host, sizeof(host)));
  PetscCall(PetscMemzero(&device, sizeof(device)));
  PetscCall(PetscCalloc1(CHOICES, &all));
  BenchTry(CreateSystems(bench, name, file, &host, &device), why, sizeof(why), &failed);
  if (failed) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s: skipped: %s\n", name, why));
    PetscCall(BenchFail(&bench->failures, name, "matrix", why));
  } else PetscCall(RunChoices(bench, &host, &device, all));
  BenchTry(SystemDestroy(&host), text, sizeof(text), &ignored);
  BenchTry(SystemDestroy(&device), text, sizeof(text), &ignored);
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const stand_ins[2][9] = {
    {"elasticity:35", "laplace2:700", "reservoir:100", "network:1000", "poisson2:1000", "convection:53", "transport:100", "circuit:560", "convdiff:108"},
    {"elasticity:7",  "laplace2:40",  "reservoir:16",  "network:40",   "poisson2:40",   "convection:12", "transport:16",  "circuit:40",  "convdiff:16" }
  };
  char     *systems[LIST], **files = NULL, folder[PETSC_MAX_PATH_LEN] = "", json[PETSC_MAX_PATH_LEN] = "", version[256], date[64];
  PetscInt  nsystems = LIST, failures;
  PetscBool small    = PETSC_FALSE, named, foldered;
  int       nfiles   = 0;
  Bench    *bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin()); /* counts applications */
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscNew(&bench));
  bench->krylov.repeat = 3;
  bench->krylov.rtol   = 1e-7;
  bench->krylov.max_it = 2000;
  bench->krylov.count  = PETSC_TRUE;
  bench->threads       = (PetscInt)sysconf(_SC_NPROCESSORS_ONLN);
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Naumov's experiment", NULL);
  PetscCall(PetscOptionsString("-folder", "Folder of matrices", NULL, folder, folder, sizeof(folder), &foldered));
  PetscCall(PetscOptionsStringArray("-system", "Systems by name", NULL, systems, &nsystems, &named));
  PetscCall(PetscOptionsBool("-small", "Small systems", NULL, small, &small, NULL));
  PetscCall(PetscOptionsBool("-cpu", "Without the GPU", NULL, bench->cpu, &bench->cpu, NULL));
  PetscCall(PetscOptionsBoundedInt("-threads", "Of all cores", NULL, bench->threads, &bench->threads, NULL, 1));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Rounds after the first", NULL, bench->krylov.repeat, &bench->krylov.repeat, NULL, 1));
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
  PetscCall(BenchJSONOpen(json, &bench->json));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscGetDate(date, sizeof(date)));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD,
                "%s\n%s\nanalysis: what the first setup takes longer than one with new values, which is the factorization; in solves: applications of the\n"
                "preconditioner, as many as the method makes, by the time of one; total: first setup and method; speedup over one core\n",
                date, version));
  if (foldered) {
    PetscCall(LoadFolderOfBoth(folder, &nfiles, &files));
    PetscCheck(nfiles, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-folder %s: no matrices are there", folder);
  }
  for (int k = 0; k < nfiles; k++) PetscCall(RunSystem(bench, files[k], PETSC_TRUE));
  PetscCall(LoadFolderFree(nfiles, &files));
  for (PetscInt k = 0; k < nsystems; k++) {
    PetscCall(RunSystem(bench, systems[k], PETSC_FALSE));
    PetscCall(PetscFree(systems[k]));
  }
  for (int k = 0; k < 9 && !foldered && !named; k++) PetscCall(RunSystem(bench, stand_ins[small][k], PETSC_FALSE));
  PetscCall(PrintLines(bench));
  PetscCall(BenchFailuresEnd(&bench->failures, &failures));
  PetscCall(BenchJSONClose(&bench->json));
  PetscCall(PetscFree(bench));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
