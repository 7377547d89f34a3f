static char help[] = "Preconditioners inside PETSc's solvers: setup, setup with new values, solve, iterations.\n\
  -poisson n,...      grids of the 3D Laplacian of PETSc's ksp/tutorials/ex45.c, solved with CG\n\
  -convdiff n,...     grids of an upwind convection-diffusion equation, solved with GMRES and BiCGStab\n\
  -mesh name:n,...    finite elements on a mesh of n^2 or n^3 points along a space-filling curve: laplace2 (triangles), laplace3\n\
                      (tetrahedra) and elasticity with CG, convection (upwind) with GMRES and BiCGStab\n\
  -file x.mtx,...     Matrix Market or PETSc binary files, with GMRES and BiCGStab; without -poisson and -convdiff alone\n\
  -small              quick grids\n\
  -cpu                on the CPU with PETSc's own ILU: one block a rank\n\
  -host_arrays        matrix and vectors of the host's types, and with them PETSc's own ILU\n\
  -only name,...      these preconditioners of the table alone; or \"syncilu jacobi\" and \"syncilu jacobi diagonal\", which are in it only then,\n\
                      as are \"syncilu host\" and \"syncilu cuda\": their times by size, as of -poisson 8,12,16,20,24,28,32,40,50 -repeat 20, tell from how many rows on a GPU is worth it\n\
  -repeat n           rounds after the first, of which the median is shown\n\
  -rtol r             relative tolerance of the solvers\n\
  -max_it n           most iterations\n\
  -restart n          of GMRES\n\
  -peclet p           cell Peclet number of convection-diffusion\n\
  -json file          appends a JSON line a case; without it they go to standard output\n\n";

#include <math.h>
#include <petsc/private/petscimpl.h> /* PetscObjectStateIncrease() */
#include <petscdevice.h>
#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>
#include <petscsyncilu.h>
#include "bench.h"
#include "mesh.h"
#include "../load.h"

enum {
  LIST  = 16,
  PAIRS = 5 * LIST, /* a problem each */
  WHY   = 600
};
static const double too_long = 4.0; /* s of a round, after which one round is enough */

/* A preconditioner: options without dash and prefix, the first one's value PETSc's type. */
typedef struct {
  const char *name;
  const char *options[4];
  PetscBool   asked; /* in the table only if -only names it */
} Preconditioner;

/* PETSc's solves on a GPU; only matrices on the device have them. */
static const char cusparse[] = "pc_factor_mat_solver_type cusparse";

static const Preconditioner on_gpu[] = {
  {"syncilu",                 {"pc_type syncilu"},                                                                               PETSC_FALSE},
  {"syncilu relax 0.99",      {"pc_type syncilu", "pc_syncilu_relax 0.99"},                                                      PETSC_FALSE},
 /* of symmetric matrices, each beside the one without the trick and by the same norm */
  {"natural",                 {"pc_type syncilu", "ksp_norm_type natural"},                                                      PETSC_TRUE },
  {"eisenstat",               {"pc_type syncilu", "ksp_norm_type natural", "pc_syncilu_eisenstat"},                              PETSC_TRUE },
  {"natural relax",           {"pc_type syncilu", "ksp_norm_type natural", "pc_syncilu_relax 0.99"},                             PETSC_TRUE },
  {"eisenstat relax",         {"pc_type syncilu", "ksp_norm_type natural", "pc_syncilu_relax 0.99", "pc_syncilu_eisenstat"},     PETSC_TRUE },
  {"syncilu bmc",             {"pc_type syncilu", "pc_factor_mat_ordering_type bmc"},                                            PETSC_FALSE},
  {"syncilu bmc levels 1",    {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_factor_levels 1"},                      PETSC_FALSE},
  {"syncilu bmc levels 2",    {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_factor_levels 2"},                      PETSC_FALSE},
  {"syncilu list/ell/asap",   {"pc_type syncilu", "pc_syncilu_update list", "pc_syncilu_solve ell", "pc_syncilu_analysis asap"}, PETSC_FALSE},
  {"syncilu vect/ell/asap",   {"pc_type syncilu", "pc_syncilu_update vect", "pc_syncilu_solve ell", "pc_syncilu_analysis asap"}, PETSC_FALSE},
  {"syncilu vect/csr/asap",   {"pc_type syncilu", "pc_syncilu_update vect", "pc_syncilu_solve csr", "pc_syncilu_analysis asap"}, PETSC_FALSE},
  {"syncilu auto/ell/alap",   {"pc_type syncilu", "pc_syncilu_solve ell", "pc_syncilu_analysis alap"},                           PETSC_FALSE},
  {"syncilu jacobi",          {"pc_type syncilu", "pc_syncilu_solve jacobi"},                                                    PETSC_TRUE },
  {"syncilu jacobi diagonal", {"pc_type syncilu", "pc_syncilu_solve jacobi", "pc_syncilu_solve_block_size 1"},                   PETSC_TRUE },
  {"syncilu host",            {"pc_type syncilu", "pc_syncilu_backend host"},                                                    PETSC_TRUE },
  {"syncilu cuda",            {"pc_type syncilu", "pc_syncilu_backend cuda"},                                                    PETSC_TRUE },
  {"ilu",                     {"pc_type ilu", cusparse},                                                                         PETSC_FALSE},
  {"jacobi",                  {"pc_type jacobi"},                                                                                PETSC_FALSE},
  {"none",                    {"pc_type none"},                                                                                  PETSC_FALSE},
  {"gamg",                    {"pc_type gamg"},                                                                                  PETSC_FALSE},
};
static const Preconditioner on_cpu[] = {
  {"ilu", {"pc_type ilu"}, PETSC_FALSE},
};
static const Preconditioner on_cpus[] = {
  {"bjacobi ilu", {"pc_type bjacobi", "sub_pc_type ilu"}, PETSC_FALSE},
};

/* What came out of one preconditioner. */
typedef struct {
  const char        *name;
  BenchSample        first, again, solve;
  double             setup, refactor, time; /* medians; NAN where there is none */
  PetscInt           its;
  KSPConvergedReason reason;
  PetscReal          residual; /* |b - A x| / |b| */
  char               backend[8];
  PetscInt64         bytes; /* of plan and factor, -1 unknown */
  PetscBool          failed;
  char               why[WHY];
} Outcome;

/* The two backends on one problem. */
typedef struct {
  char     name[64];
  KSPType  type;
  PetscInt rows, its;
  double   host[3], cuda[3]; /* setup, refactor, solve */
} Pair;

typedef struct {
  PetscInt      repeat;
  PetscReal     rtol, peclet;
  PetscInt      max_it, restart;
  PetscBool     cpu, host_arrays;
  PetscMPIInt   ranks;
  MatType       mattype;
  VecType       vectype;
  char         *only[LIST];
  PetscInt      nonly;
  BenchJSON     json;
  Pair          pair[PAIRS];
  PetscInt      npairs;
  BenchFailures failures;
  PetscInt      prefixes;
} Bench;

typedef struct {
  char      name[64];
  PetscBool symmetric;
  Mat       A;
  Vec       b, x, r;
} Problem;

/* ---- problems ---- */

/*
   Rows of interior points: differences of second order, with convection upwind, of which speed[d] is the
   velocity times the mesh width over the diffusion. Rows of the boundary: the diagonal alone, as in PETSc's
   ex45, whose matrix this is without convection; the entries beside it are zeros in the pattern.
*/
static PetscErrorCode Assemble(DM da, PetscReal peclet, Mat A, Vec b)
{
  PetscScalar ***rhs;
  PetscInt       m, xs, ys, zs, xm, ym, zm;
  PetscReal      h;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &m, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(DMDAVecGetArray(da, b, &rhs));
  h = 1.0 / (PetscReal)(m - 1);
  for (PetscInt k = zs; k < zs + zm; k++) {
    for (PetscInt j = ys; j < ys + ym; j++) {
      for (PetscInt i = xs; i < xs + xm; i++) {
        MatStencil      row, col[7];
        PetscScalar     v[7];
        PetscReal       diagonal = 6 * h;
        PetscInt        n        = 0;
        const PetscReal x = i * h, y = j * h;
        /* turns, so that no ordering of the rows follows it everywhere */
        const PetscReal speed[3] = {peclet * (3 + PetscCosReal(PETSC_PI * y)) / 4, peclet * PetscCosReal(PETSC_PI * x),
                                    peclet * PetscSinReal(2 * PETSC_PI * y)};

        row.i = i;
        row.j = j;
        row.k = k;
        row.c = 0;
        if (i == 0 || j == 0 || k == 0 || i == m - 1 || j == m - 1 || k == m - 1) {
          v[0] = rhs[k][j][i] = diagonal;
          PetscCall(MatSetValuesStencil(A, 1, &row, 1, &row, v, INSERT_VALUES));
          continue;
        }
        for (PetscInt d = 0; d < 3; d++) {
          for (PetscInt side = -1; side <= 1; side += 2) {
            const PetscReal convection = PetscMax(-side * speed[d], 0) * h;

            col[n] = row;
            if (d == 0) col[n].i += side;
            else if (d == 1) col[n].j += side;
            else col[n].k += side;
            v[n++] = -h - convection;
            diagonal += convection;
          }
        }
        col[n]       = row;
        v[n++]       = diagonal;
        rhs[k][j][i] = h * h * h;
        PetscCall(MatSetValuesStencil(A, 1, &row, n, col, v, INSERT_VALUES));
      }
    }
  }
  PetscCall(DMDAVecRestoreArray(da, b, &rhs));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridCreate(const Bench *bench, PetscInt n, PetscReal peclet, Problem *p)
{
  DM da;

  PetscFunctionBegin;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetMatType(da, bench->mattype));
  PetscCall(DMSetVecType(da, bench->vectype));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &p->A));
  PetscCall(DMCreateGlobalVector(da, &p->b));
  PetscCall(Assemble(da, peclet, p->A, p->b));
  /* the matrix must not bring its grid along: preconditioners would take it */
  PetscCall(MatSetDM(p->A, NULL));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FileCreate(const Bench *bench, const char *file, Problem *p)
{
  Vec ones;

  PetscFunctionBegin;
  PetscCall(LoadMatrix(PETSC_COMM_WORLD, file, MATAIJ, &p->A));
  PetscCall(MatConvert(p->A, bench->mattype, MAT_INPLACE_MATRIX, &p->A));
  PetscCall(MatCreateVecs(p->A, &ones, &p->b));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMult(p->A, ones, p->b));
  PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* name:n, whose problem comes back. */
static PetscErrorCode MeshProblemCreate(const Bench *bench, const char *spec, MeshProblem *problem, Problem *p)
{
  const char *colon = strchr(spec, ':');
  PetscInt    n     = 0;
  int         k     = 0;

  PetscFunctionBegin;
  while (k < MESH_PROBLEMS && (!colon || strlen(MeshProblems[k]) != (size_t)(colon - spec) || strncmp(MeshProblems[k], spec, (size_t)(colon - spec)))) k++;
  PetscCheck(k < MESH_PROBLEMS, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-mesh %s: there is no such problem", spec);
  PetscCall(PetscOptionsStringToInt(colon + 1, &n));
  PetscCheck(n > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-mesh %s: how many points?", spec);
  PetscCheck(bench->ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-mesh takes one rank");
  *problem = (MeshProblem)k;
  PetscCall(MeshCreate(PETSC_COMM_WORLD, *problem, n, &p->A));
  PetscCall(MatConvert(p->A, bench->mattype, MAT_INPLACE_MATRIX, &p->A));
  PetscCall(MatCreateVecs(p->A, NULL, &p->b));
  PetscCall(VecSet(p->b, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rest of a problem, and its first product, which brings the matrix to where it is used. */
static PetscErrorCode ProblemFinish(Problem *p)
{
  PetscFunctionBegin;
  PetscCall(VecDuplicate(p->b, &p->x));
  PetscCall(VecDuplicate(p->b, &p->r));
  PetscCall(MatMult(p->A, p->b, p->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&p->A));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->x));
  PetscCall(VecDestroy(&p->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- runs ---- */

/*
   The time when all ranks and the device are done. With arrays on the host PETSc is not made to use the
   device: a solve has ended then when its result is there, and what a setup leaves going on counts as the
   solve's.
*/
static PetscErrorCode Clock(const Bench *bench, PetscLogDouble *t)
{
  PetscFunctionBegin;
  if (!bench->cpu && !bench->host_arrays) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(const Bench *bench, PC pc, double *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(Clock(bench, &t0));
  PetscCall(PCSetUp(pc));
  /* preconditioners made of blocks, as block Jacobi, factor them only here */
  PetscCall(PCSetUpOnBlocks(pc));
  PetscCall(Clock(bench, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Bench *bench, KSP ksp, Problem *p, double *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(Clock(bench, &t0));
  PetscCall(KSPSolve(ksp, p->b, p->x));
  PetscCall(Clock(bench, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc takes the values from here on for new ones, in the memory where they are; those of the block that a
   preconditioner of blocks looks at too.
*/
static PetscErrorCode MarkNew(Mat A)
{
  Mat block;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscCall(MatGetDiagonalBlock(A, &block));
  if (block != A) PetscCall(PetscObjectStateIncrease((PetscObject)block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One round: a new preconditioner and a solve, then new values on the same pattern and a solve. */
static PetscErrorCode Round(const Bench *bench, const Preconditioner *c, const char *prefix, KSPType type, Problem *p, KSP *ksp, double t[4], Outcome *out)
{
  PC        pc;
  PetscBool ours;
  PetscReal norm, residual;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  for (int k = 0; k < 4 && c->options[k]; k++) {
    char option[160];

    if (bench->host_arrays && c->options[k] == cusparse) continue;
    PetscCall(PetscSNPrintf(option, sizeof(option), "-%s%s", prefix, c->options[k]));
    PetscCall(PetscOptionsInsertString(NULL, option));
  }
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetOperators(*ksp, p->A, p->A));
  PetscCall(KSPSetTolerances(*ksp, bench->rtol, PETSC_DEFAULT, PETSC_DEFAULT, bench->max_it));
  if (bench->restart) PetscCall(KSPGMRESSetRestart(*ksp, bench->restart));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(SetUp(bench, pc, &t[0]));
  PetscCall(KSPSetUp(*ksp)); /* the solver's own work vectors are no preconditioner's time */
  PetscCall(Solve(bench, *ksp, p, &t[1]));
  PetscCall(MarkNew(p->A));
  PetscCall(SetUp(bench, pc, &t[2]));
  t[3] = t[1];
  if (t[1] < too_long / 2) PetscCall(Solve(bench, *ksp, p, &t[3]));

  PetscCall(KSPGetIterationNumber(*ksp, &out->its));
  PetscCall(KSPGetConvergedReason(*ksp, &out->reason));
  PetscCall(MatMult(p->A, p->x, p->r));
  PetscCall(VecAYPX(p->r, -1.0, p->b));
  PetscCall(VecNorm(p->r, NORM_2, &residual));
  PetscCall(VecNorm(p->b, NORM_2, &norm));
  out->residual = residual / norm;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSYNCILU, &ours));
  if (ours) {
    SyncILUStatistics stats;

    PetscCall(PCSyncILUGetStatistics(pc, &stats));
    PetscCall(PetscStrncpy(out->backend, SyncILUBackends[stats.backend], sizeof(out->backend)));
    out->bytes = stats.bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first round loads libraries and kernels, and is not counted. */
static PetscErrorCode Run(Bench *bench, const Preconditioner *c, KSPType type, Problem *p, KSP *ksp, Outcome *out)
{
  PetscInt repeat = 1;
  char     prefix[32];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "case%" PetscInt_FMT "_", bench->prefixes++));
  for (PetscInt r = -1; r < repeat; r++) {
    double t[4];

    PetscCall(KSPDestroy(ksp));
    PetscCall(Round(bench, c, prefix, type, p, ksp, t, out));
    if (r < 0) {
      const double all = t[0] + t[1] + t[2] + t[3];

      repeat = all > too_long ? 1 : PetscMin(bench->repeat, BENCH_REPEAT_MAX / 2);
      if (!bench->cpu || all <= too_long) continue;
      repeat = 0; /* a core has nothing to load */
    }
    out->first.t[out->first.n++] = t[0];
    out->again.t[out->again.n++] = t[2];
    out->solve.t[out->solve.n++] = t[1];
    out->solve.t[out->solve.n++] = t[3];
  }
  out->setup    = BenchMedian(&out->first);
  out->refactor = BenchMedian(&out->again);
  out->time     = BenchMedian(&out->solve);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- output ---- */

static double Total(const Outcome *o)
{
  return o->failed || o->reason <= 0 ? NAN : o->setup + o->time;
}

/* How many times faster than the named one. */
static double Against(const char *name, PetscInt n, const Outcome *all, const Outcome *o)
{
  for (PetscInt k = 0; k < n; k++) {
    PetscBool same;

    if (PetscStrcmp(all[k].name, name, &same) == PETSC_SUCCESS && same) return Total(&all[k]) / Total(o);
  }
  return NAN;
}

static PetscErrorCode PrintNumber(int width, const char *format, double number)
{
  char text[32];

  PetscFunctionBegin;
  if (isnan(number)) PetscCall(PetscStrncpy(text, "-", sizeof(text)));
  else (void)snprintf(text, sizeof(text), format, number);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %*s", width, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a table is of, apart from the problem. */
static const char *Where(const Bench *bench)
{
  return bench->cpu ? "CPU" : bench->host_arrays ? "GPU, arrays on the host" : "GPU";
}

static PetscErrorCode PrintOutcomes(const Bench *bench, const Problem *p, KSPType type, PetscInt n, const Outcome *all)
{
  MatInfo  info;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(p->A, &rows, NULL));
  PetscCall(MatGetInfo(p->A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s, %s: %" PetscInt_FMT " rows, %.0f nonzeros, rtol %g, %s\n", p->name, type, rows, info.nz_used,
                        (double)bench->rtol, Where(bench)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-22s %6s %10s %10s %10s %11s %8s %8s %10s  %s\n", "ms", "its", "setup", "refactor", "solve", "setup+solve",
                        "ilu/it", "none/it", "|b-Ax|/|b|", "remarks"));
  for (PetscInt k = 0; k < n; k++) {
    const Outcome *o = &all[k];
    char           remarks[WHY + 64];

    remarks[0] = 0;
    if (o->failed) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "failed: %s", o->why));
    else if (o->reason <= 0) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "%s", KSPConvergedReasons[o->reason]));
    else if (o->backend[0]) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "%s, %.1f MB", o->backend, 1e-6 * (double)o->bytes));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-22s", o->name));
    PetscCall(PrintNumber(6, "%.0f", o->failed ? NAN : (double)o->its));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->setup));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->refactor));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->time));
    PetscCall(PrintNumber(11, "%.2f", 1e3 * Total(o)));
    PetscCall(PrintNumber(8, "%.2f", Against("ilu", n, all, o)));
    PetscCall(PrintNumber(8, "%.2f", Against("none", n, all, o)));
    PetscCall(PrintNumber(10, "%.1e", o->failed ? NAN : (double)o->residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", remarks));

    PetscCall(BenchJSONBegin(bench->json));
    PetscCall(BenchJSONText(bench->json, "bench", "solvers"));
    PetscCall(BenchJSONText(bench->json, "problem", p->name));
    PetscCall(BenchJSONText(bench->json, "solver", type));
    PetscCall(BenchJSONText(bench->json, "device", bench->cpu ? "cpu" : "gpu"));
    PetscCall(BenchJSONText(bench->json, "arrays", bench->cpu || bench->host_arrays ? "host" : "device"));
    PetscCall(BenchJSONNumber(bench->json, "ranks", bench->ranks));
    PetscCall(BenchJSONNumber(bench->json, "rows", rows));
    PetscCall(BenchJSONNumber(bench->json, "nonzeros", info.nz_used));
    PetscCall(BenchJSONText(bench->json, "preconditioner", o->name));
    if (o->failed) PetscCall(BenchJSONText(bench->json, "failed", o->why));
    else {
      PetscCall(BenchJSONText(bench->json, "backend", o->backend));
      PetscCall(BenchJSONText(bench->json, "reason", KSPConvergedReasons[o->reason]));
      PetscCall(BenchJSONNumber(bench->json, "converged", o->reason > 0));
      PetscCall(BenchJSONNumber(bench->json, "iterations", (double)o->its));
      PetscCall(BenchJSONNumber(bench->json, "setup", o->setup));
      PetscCall(BenchJSONNumber(bench->json, "refactor", o->refactor));
      PetscCall(BenchJSONNumber(bench->json, "solve", o->time));
      PetscCall(BenchJSONNumber(bench->json, "rounds", (double)o->first.n));
      PetscCall(BenchJSONNumber(bench->json, "residual", (double)o->residual));
      if (o->bytes >= 0) PetscCall(BenchJSONNumber(bench->json, "bytes", (double)o->bytes));
    }
    PetscCall(BenchJSONEnd(bench->json));
  }
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the times of the two backends, if both were asked for, for a table of all problems. */
static PetscErrorCode NotePair(Bench *bench, const Problem *p, KSPType type, PetscInt n, const Outcome *all)
{
  const Outcome *host = NULL, *cuda = NULL;
  Pair          *pair = &bench->pair[bench->npairs];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    PetscBool same[2];

    PetscCall(PetscStrcmp(all[k].name, "syncilu host", &same[0]));
    PetscCall(PetscStrcmp(all[k].name, "syncilu cuda", &same[1]));
    if (same[0]) host = &all[k];
    if (same[1]) cuda = &all[k];
  }
  if (!host || !cuda || host->failed || cuda->failed || bench->npairs == PAIRS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(pair->name, p->name, sizeof(pair->name)));
  PetscCall(MatGetSize(p->A, &pair->rows, NULL));
  pair->type    = type;
  pair->its     = host->its;
  pair->host[0] = host->setup;
  pair->host[1] = host->refactor;
  pair->host[2] = host->time;
  pair->cuda[0] = cuda->setup;
  pair->cuda[1] = cuda->refactor;
  pair->cuda[2] = cuda->time;
  bench->npairs++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintPairs(const Bench *bench)
{
  const char *const what[] = {"setup", "refactor", "solve", "setup+solve"};

  PetscFunctionBegin;
  if (!bench->npairs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\nsyncilu: ms of the backends host and cuda, and host's over cuda's; %s\n  %-16s %-5s %9s %5s", Where(bench),
                        "problem", "", "rows", "its"));
  for (int k = 0; k < 4; k++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " |%25s", what[k]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  for (PetscInt i = 0; i < bench->npairs; i++) {
    const Pair *p = &bench->pair[i];

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-16s %-5s %9" PetscInt_FMT " %5" PetscInt_FMT, p->name, p->type, p->rows, p->its));
    for (int k = 0; k < 4; k++) {
      const double host = k < 3 ? p->host[k] : p->host[0] + p->host[2], cuda = k < 3 ? p->cuda[k] : p->cuda[0] + p->cuda[2];

      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " |%9.3f%9.3f%6.2fx", 1e3 * host, 1e3 * cuda, host / cuda));
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner that none of the tables has was misspelled. */
static PetscErrorCode CheckName(const char *name)
{
  const Preconditioner *const lists[] = {on_gpu, on_cpu, on_cpus};
  const size_t                sizes[] = {PETSC_STATIC_ARRAY_LENGTH(on_gpu), PETSC_STATIC_ARRAY_LENGTH(on_cpu), PETSC_STATIC_ARRAY_LENGTH(on_cpus)};
  PetscBool                   same    = PETSC_FALSE;

  PetscFunctionBegin;
  for (int l = 0; l < 3; l++) {
    for (size_t c = 0; c < sizes[l] && !same; c++) PetscCall(PetscStrcmp(name, lists[l][c].name, &same));
  }
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-only %s: there is no such preconditioner", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunProblem(Bench *bench, Problem *p, KSPType type)
{
  const Preconditioner *list = bench->cpu ? (bench->ranks > 1 ? on_cpus : on_cpu) : on_gpu;
  const PetscInt        size = bench->cpu ? 1 : (PetscInt)PETSC_STATIC_ARRAY_LENGTH(on_gpu);
  Outcome              *all;
  PetscInt              n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(size, &all));
  for (PetscInt c = 0; c < size; c++) {
    Outcome  *o      = &all[n];
    KSP       ksp    = NULL;
    PetscBool wanted = (PetscBool)(!bench->nonly && !list[c].asked), ignored;
    char      what[128], text[WHY];

    for (PetscInt k = 0; k < bench->nonly && !wanted; k++) PetscCall(PetscStrcmp(bench->only[k], list[c].name, &wanted));
    if (!wanted) continue;
    n++;
    o->name  = list[c].name;
    o->setup = o->refactor = o->time = NAN;
    o->bytes                         = -1;
    BenchProgress("%s, %s: %s", p->name, type, o->name);
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s with %s", p->name, type));
    BenchTry(Run(bench, &list[c], type, p, &ksp, o), o->why, sizeof(o->why), &o->failed);
    if (o->failed) {
      PetscCall(BenchFail(&bench->failures, what, o->name, o->why));
      o->setup = o->refactor = o->time = NAN;
    } else if (o->reason <= 0) {
      PetscBool ours;

      /* that another one does not converge is a result */
      PetscCall(PetscStrncmp(o->name, "syncilu", 7, &ours));
      if (ours) PetscCall(BenchFail(&bench->failures, what, o->name, KSPConvergedReasons[o->reason]));
    }
    /* what an error left behind may not be fit to be destroyed */
    BenchTry(KSPDestroy(&ksp), text, sizeof(text), &ignored);
  }
  if (n) PetscCall(PrintOutcomes(bench, p, type, n, all));
  PetscCall(NotePair(bench, p, type, n, all));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Bench      *bench;
  const char *file; /* else a mesh, else a grid */
  const char *mesh;
  PetscInt    n;
  PetscReal   peclet;
} Request;

static PetscErrorCode CreateProblem(const Request *q, Problem *p)
{
  PetscFunctionBegin;
  p->symmetric = (PetscBool)(!q->file && q->peclet == 0.0);
  if (q->mesh) {
    MeshProblem problem = MESH_LAPLACE_2D;

    PetscCall(MeshProblemCreate(q->bench, q->mesh, &problem, p));
    p->symmetric = (PetscBool)(problem != MESH_CONVECTION);
  } else if (q->file) PetscCall(FileCreate(q->bench, q->file, p));
  else PetscCall(GridCreate(q->bench, q->n, q->peclet, p));
  PetscCall(ProblemFinish(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunRequest(const Request *q)
{
  const KSPType symmetric[] = {KSPCG}, general[] = {KSPGMRES, KSPBCGS};
  Problem       p;
  PetscBool     failed, ignored;
  char          why[WHY], text[WHY];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof(p)));
  if (q->mesh) PetscCall(PetscStrncpy(p.name, q->mesh, sizeof(p.name)));
  else if (q->file) PetscCall(BenchFileName(q->file, p.name, sizeof(p.name)));
  else PetscCall(PetscSNPrintf(p.name, sizeof(p.name), "%s %" PetscInt_FMT "^3", q->peclet > 0 ? "convdiff" : "poisson", q->n));
  BenchProgress("%s: assembling", p.name);
  BenchTry(CreateProblem(q, &p), why, sizeof(why), &failed);
  if (failed) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s: skipped: %s\n", p.name, why));
    PetscCall(BenchFail(&q->bench->failures, p.name, "matrix", why));
  } else {
    for (int t = 0; t < (p.symmetric ? 1 : 2); t++) PetscCall(RunProblem(q->bench, &p, p.symmetric ? symmetric[t] : general[t]));
  }
  BenchTry(ProblemDestroy(&p), text, sizeof(text), &ignored);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether PETSc can have matrices and vectors on a device. */
static PetscErrorCode UseDevice(void)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "this PETSc has no CUDA");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  poisson[LIST] = {129, 161}, convdiff[LIST] = {129}, npoisson = LIST, nconvdiff = LIST, nfiles = LIST, nmeshes = LIST, failures;
  char     *files[LIST], *meshes[LIST], json[PETSC_MAX_PATH_LEN] = "", version[256], date[64];
  PetscBool small = PETSC_FALSE, set[2], filed, meshed, only, failed;
  Bench    *bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscNew(&bench));
  bench->repeat = 3;
  bench->rtol   = 1e-5;
  bench->peclet = 1.0;
  bench->max_it = 2000;
  bench->nonly  = LIST;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &bench->ranks));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Solver bench", NULL);
  PetscCall(PetscOptionsIntArray("-poisson", "Points in each direction", NULL, poisson, &npoisson, &set[0]));
  PetscCall(PetscOptionsIntArray("-convdiff", "Points in each direction", NULL, convdiff, &nconvdiff, &set[1]));
  PetscCall(PetscOptionsStringArray("-file", "Matrix files", NULL, files, &nfiles, &filed));
  PetscCall(PetscOptionsStringArray("-mesh", "Problems on meshes", NULL, meshes, &nmeshes, &meshed));
  PetscCall(PetscOptionsBoundedInt("-restart", "Of GMRES, 0: PETSc's", NULL, bench->restart, &bench->restart, NULL, 0));
  PetscCall(PetscOptionsBool("-small", "Quick grids", NULL, small, &small, NULL));
  PetscCall(PetscOptionsBool("-cpu", "On the CPU with PETSc's own ILU", NULL, bench->cpu, &bench->cpu, NULL));
  PetscCall(PetscOptionsBool("-host_arrays", "Matrix and vectors of the host's types", NULL, bench->host_arrays, &bench->host_arrays, NULL));
  PetscCall(PetscOptionsStringArray("-only", "These preconditioners alone", NULL, bench->only, &bench->nonly, &only));
  PetscCall(PetscOptionsBoundedInt("-repeat", "Rounds after the first, of which the median is shown", NULL, bench->repeat, &bench->repeat, NULL, 1));
  PetscCall(PetscOptionsReal("-rtol", "Relative tolerance of the solvers", NULL, bench->rtol, &bench->rtol, NULL));
  PetscCall(PetscOptionsReal("-peclet", "Cell Peclet number of convection-diffusion", NULL, bench->peclet, &bench->peclet, NULL));
  PetscCall(PetscOptionsInt("-max_it", "Most iterations", NULL, bench->max_it, &bench->max_it, NULL));
  PetscCall(PetscOptionsString("-json", "File to which JSON lines are appended", NULL, json, json, sizeof(json), NULL));
  PetscOptionsEnd();
  if (!only) bench->nonly = 0;
  for (PetscInt k = 0; k < bench->nonly; k++) PetscCall(CheckName(bench->only[k]));
  if (!filed) nfiles = 0;
  if (!meshed) nmeshes = 0;
  if (!set[0] && !set[1] && !filed && !meshed) {
    npoisson  = small ? 1 : 2;
    nconvdiff = 1;
    if (small) poisson[0] = convdiff[0] = 33;
  } else {
    if (!set[0]) npoisson = 0;
    if (!set[1]) nconvdiff = 0;
  }
  PetscCheck(bench->cpu || bench->ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "The GPU cases run on one rank; several take -cpu");
  if (!bench->cpu && !bench->host_arrays) {
    char why[WHY];

    BenchTry(UseDevice(), why, sizeof(why), &failed);
    if (failed) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skipped: no device for PETSc's matrices and vectors: %s\n", why));
      PetscCall(PetscOptionsClear(NULL)); /* of which some were not looked at */
      PetscCall(PetscFinalize());
      return 77;
    }
  }
  bench->mattype = bench->cpu || bench->host_arrays ? MATAIJ : MATAIJCUSPARSE;
  bench->vectype = bench->cpu || bench->host_arrays ? VECSTANDARD : VECCUDA;
  PetscCall(BenchJSONOpen(json, &bench->json));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscGetDate(date, sizeof(date)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n%s, %s, %d rank%s\n", date, version, Where(bench), bench->ranks, bench->ranks == 1 ? "" : "s"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "medians of up to %" PetscInt_FMT " rounds after one that loads libraries; a round: setup, solve, setup with new values, solve\n",
                        bench->repeat));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ilu/it and none/it: how many times longer setup+solve of ilu and of none takes\n"
                                          "|b-Ax|/|b| is the true residual, tolerances are of the preconditioned one\n"));

  for (PetscInt k = 0; k < npoisson; k++) {
    const Request q = {.bench = bench, .n = poisson[k]};

    PetscCall(RunRequest(&q));
  }
  for (PetscInt k = 0; k < nconvdiff; k++) {
    const Request q = {.bench = bench, .n = convdiff[k], .peclet = bench->peclet};

    PetscCall(RunRequest(&q));
  }
  for (PetscInt k = 0; k < nfiles; k++) {
    const Request q = {.bench = bench, .file = files[k]};

    PetscCall(RunRequest(&q));
  }
  for (PetscInt k = 0; k < nmeshes; k++) {
    const Request q = {.bench = bench, .mesh = meshes[k]};

    PetscCall(RunRequest(&q));
    PetscCall(PetscFree(meshes[k]));
  }
  PetscCall(PrintPairs(bench));

  PetscCall(BenchFailuresEnd(&bench->failures, &failures));
  for (PetscInt k = 0; k < nfiles; k++) PetscCall(PetscFree(files[k]));
  for (PetscInt k = 0; k < bench->nonly; k++) PetscCall(PetscFree(bench->only[k]));
  PetscCall(BenchJSONClose(&bench->json));
  PetscCall(PetscFree(bench));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
