static char help[] = "Preconditioners inside PETSc's solvers: setup, setup with new values, solve, iterations.\n\
  -poisson n,...      grids of the 3D Laplacian of PETSc's ksp/tutorials/ex45.c, solved with CG\n\
  -convdiff n,...     grids of an upwind convection-diffusion equation, solved with GMRES and BiCGStab\n\
  -system name:n,...  n points in each direction, symmetric ones with CG, the others with GMRES and BiCGStab. Finite elements along a\n\
                      space-filling curve: laplace2 (triangles), laplace3 (tetrahedra), elasticity, convection (upwind). Grids, without\n\
                      the boundary's columns: poisson2, poisson, anisotropic, jumping, reservoir, convdiff, transport. Networks: network, circuit\n\
  -mesh name:n,...    the same\n\
  -file x.mtx,...     Matrix Market or PETSc binary files, with GMRES and BiCGStab, symmetric ones with CG too; without -poisson and -convdiff alone\n\
  -sweeps_table       exact and approximate factorizations: ILU and IC with 0 and 1 levels of fill, by sweeps, multicolor, and PETSc's own; of\n\
                      poisson, anisotropic, laplace2, circuit and what -system and -file name; unsymmetric ones with GMRES, at most 1000 iterations\n\
  -histories          a choice of these with the norms of the true residual in all iterations, as JSON, which plot.py draws; Poisson has 304^3\n\
                      points, as in figure 11 of H. Luo et al., StructILU, ICS 2025\n\
  -meshes_table       finite elements on unstructured meshes: ILU in the order of the mesh and in the ordering bmc, beside PETSc's ilu, Jacobi,\n\
                      none and GAMG; to 1e-8, GMRES(60); of what -mesh and -file name, else of five meshes, with the time of an application, and a summary\n\
  -small              quick grids\n\
  -cpu                on the CPU with PETSc's own ILU: one block a rank; or with -sweeps_table, on one rank\n\
  -host_arrays        matrix and vectors of the host's types, and with them PETSc's own ILU\n\
  -only name,...      these preconditioners of the table alone; or \"syncilu jacobi\" and \"syncilu jacobi diagonal\", \"syncilu levels 1\", \"parilu\",\n\
                      \"parilut\", \"parilut rounds 3\", \"parilut fill 1\" and \"parilut jacobi\", which are in it only then,\n\
                      as are \"syncilu host\" and \"syncilu cuda\": their times by size, as of -poisson 8,12,16,20,24,28,32,40,50 -repeat 20, tell from how many rows on a GPU is worth it\n\
  -repeat n           rounds after the first, of which the median is shown; 0: the first one counts\n\
  -rtol r             relative tolerance of the solvers\n\
  -max_it n           most iterations\n\
  -restart n          of GMRES\n\
  -peclet p           cell Peclet number of convection-diffusion\n\
  -json file          appends a JSON line a case; without it they go to standard output\n\n";

#include <math.h>
#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petscsyncilu.h>
#include "bench.h"
#include "krylov.h"
#include "system.h"

enum {
  LIST  = 20,
  PAIRS = 5 * LIST, /* a problem each */
  CASES = 2 * LIST, /* a problem and a method each */
  WHY   = KRYLOV_WHY
};

/* A preconditioner: options without dash and prefix, the first one's value PETSc's type. */
typedef struct {
  const char *name;
  const char *options[KRYLOV_OPTIONS];
  PetscBool   asked; /* in the table only if -only names it */
} Preconditioner;

/* PETSc's solves on a GPU; only matrices on the device have them. */
static const char cusparse[] = "pc_factor_mat_solver_type cusparse";
/* For symmetric matrices alone. */
static const char symmetric[] = "pc_syncilu_symmetric", icc[] = "pc_type icc", natural[] = "ksp_norm_type natural";

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
  {"syncilu levels 1",        {"pc_type syncilu", "pc_factor_levels 1"},                                                         PETSC_TRUE },
  {"parilu",                  {"pc_type syncilu", "pc_syncilu_update parilu"},                                                   PETSC_TRUE },
  {"parilut",                 {"pc_type syncilu", "pc_syncilu_update parilut"},                                                  PETSC_TRUE },
  {"parilut rounds 3",        {"pc_type syncilu", "pc_syncilu_update parilut", "pc_syncilu_rounds 3"},                           PETSC_TRUE },
  {"parilut fill 1",          {"pc_type syncilu", "pc_syncilu_update parilut", "pc_syncilu_fill 1"},                             PETSC_TRUE },
  {"parilut jacobi",          {"pc_type syncilu", "pc_syncilu_update parilut", "pc_syncilu_solve jacobi"},                       PETSC_TRUE },
  {"syncilu host",            {"pc_type syncilu", "pc_syncilu_backend host"},                                                    PETSC_TRUE },
  {"syncilu cuda",            {"pc_type syncilu", "pc_syncilu_backend cuda"},                                                    PETSC_TRUE },
  {"ilu",                     {"pc_type ilu", cusparse},                                                                         PETSC_FALSE},
  {"jacobi",                  {"pc_type jacobi"},                                                                                PETSC_FALSE},
  {"none",                    {"pc_type none"},                                                                                  PETSC_FALSE},
  {"gamg",                    {"pc_type gamg"},                                                                                  PETSC_FALSE},
};
/* Of -sweeps_table, and of -histories what stands in the list below. ParILUT and ParICT are with their rounds, and jacobi is how they are solved. Multicolor is the block multicolor ordering with blocks of one row. */
static const Preconditioner sweeps[] = {
  {"ILU(0)",            {"pc_type syncilu"},                                                                                           PETSC_TRUE},
  {"ILU(1)",            {"pc_type syncilu", "pc_factor_levels 1"},                                                                     PETSC_TRUE},
  {"ParILU(0) 1",       {"pc_type syncilu", "pc_syncilu_update parilu", "pc_syncilu_sweeps 1"},                                        PETSC_TRUE},
  {"ParILU(0) 3",       {"pc_type syncilu", "pc_syncilu_update parilu", "pc_syncilu_sweeps 3"},                                        PETSC_TRUE},
  {"ParILU(0) 5",       {"pc_type syncilu", "pc_syncilu_update parilu", "pc_syncilu_sweeps 5"},                                        PETSC_TRUE},
  {"ParILU(1) 5",       {"pc_type syncilu", "pc_factor_levels 1", "pc_syncilu_update parilu", "pc_syncilu_sweeps 5"},                  PETSC_TRUE},
  {"ParILUT 1",         {"pc_type syncilu", "pc_syncilu_update parilut", "pc_syncilu_rounds 1"},                                       PETSC_TRUE},
  {"ParILUT 3",         {"pc_type syncilu", "pc_syncilu_update parilut", "pc_syncilu_rounds 3"},                                       PETSC_TRUE},
  {"ParILUT 5",         {"pc_type syncilu", "pc_syncilu_update parilut", "pc_syncilu_rounds 5"},                                       PETSC_TRUE},
  {"ParILUT 5 jacobi",  {"pc_type syncilu", "pc_syncilu_update parilut", "pc_syncilu_rounds 5", "pc_syncilu_solve jacobi"},            PETSC_TRUE},
  {"multicolor ILU(0)", {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "mat_ordering_bmc_size 1"},                             PETSC_TRUE},
  {"IC(0)",             {"pc_type syncilu", symmetric},                                                                                PETSC_TRUE},
  {"IC(1)",             {"pc_type syncilu", symmetric, "pc_factor_levels 1"},                                                          PETSC_TRUE},
  {"ParIC(0) 1",        {"pc_type syncilu", symmetric, "pc_syncilu_update parilu", "pc_syncilu_sweeps 1"},                             PETSC_TRUE},
  {"ParIC(0) 3",        {"pc_type syncilu", symmetric, "pc_syncilu_update parilu", "pc_syncilu_sweeps 3"},                             PETSC_TRUE},
  {"ParIC(0) 5",        {"pc_type syncilu", symmetric, "pc_syncilu_update parilu", "pc_syncilu_sweeps 5"},                             PETSC_TRUE},
  {"ParIC(1) 5",        {"pc_type syncilu", symmetric, "pc_factor_levels 1", "pc_syncilu_update parilu", "pc_syncilu_sweeps 5"},       PETSC_TRUE},
  {"ParICT 1",          {"pc_type syncilu", symmetric, "pc_syncilu_update parilut", "pc_syncilu_rounds 1"},                            PETSC_TRUE},
  {"ParICT 3",          {"pc_type syncilu", symmetric, "pc_syncilu_update parilut", "pc_syncilu_rounds 3"},                            PETSC_TRUE},
  {"ParICT 5",          {"pc_type syncilu", symmetric, "pc_syncilu_update parilut", "pc_syncilu_rounds 5"},                            PETSC_TRUE},
  {"ParICT 5 jacobi",   {"pc_type syncilu", symmetric, "pc_syncilu_update parilut", "pc_syncilu_rounds 5", "pc_syncilu_solve jacobi"}, PETSC_TRUE},
  {"multicolor IC(0)",  {"pc_type syncilu", symmetric, "pc_factor_mat_ordering_type bmc", "mat_ordering_bmc_size 1"},                  PETSC_TRUE},
  {"ilu",               {"pc_type ilu", cusparse},                                                                                     PETSC_TRUE},
  {"icc",               {icc, cusparse},                                                                                               PETSC_TRUE},
  {"jacobi",            {"pc_type jacobi"},                                                                                            PETSC_TRUE},
  {"none",              {"pc_type none"},                                                                                              PETSC_TRUE},
};
/* Of these, those of -histories: of unsymmetric systems and of symmetric ones. */
static const char *const shown[2][12] = {
  {"ILU(0)", "ILU(1)", "ParILU(0) 5", "ParILUT 5", "ParILUT 5 jacobi", "multicolor ILU(0)", "ilu", "jacobi", "none", NULL},
  {"IC(0)",  "IC(1)",  "ParIC(0) 5",  "ParICT 5",  "ParICT 5 jacobi",  "multicolor IC(0)",  "icc", "jacobi", "none", NULL}
};
/* Of -meshes_table. The order of the mesh comes first, with 0, 1 and 2 levels of fill: the others' iterations are compared with its. */
enum {
  LEVELS = 3
};
static const char along[] = "mat_ordering_bmc_along_numbering";
/* petsc-options/mesh */
#define MESH "pc_type syncilu", "pc_factor_mat_ordering_type bmc", along, "pc_syncilu_update mesh", "pc_syncilu_relax 0.8", "pc_syncilu_eisenstat"
static const Preconditioner on_meshes[] = {
  {"ILU(0)",             {"pc_type syncilu"},                                                                                        PETSC_TRUE},
  {"ILU(1)",             {"pc_type syncilu", "pc_factor_levels 1"},                                                                  PETSC_TRUE},
  {"ILU(2)",             {"pc_type syncilu", "pc_factor_levels 2"},                                                                  PETSC_TRUE},
  {"ILU(0) bmc",         {"pc_type syncilu", "pc_factor_mat_ordering_type bmc"},                                                     PETSC_TRUE},
  {"ILU(1) bmc",         {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_factor_levels 1"},                               PETSC_TRUE},
  {"ILU(2) bmc",         {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_factor_levels 2"},                               PETSC_TRUE},
  {"ILU(0) bmc along",   {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", along},                                              PETSC_TRUE},
  {"ILU(1) bmc along",   {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", along, "pc_factor_levels 1"},                        PETSC_TRUE},
  {"ILU(2) bmc along",   {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", along, "pc_factor_levels 2"},                        PETSC_TRUE},
  {"ILU(0) bmc relaxed", {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_syncilu_relax 0.5"},                             PETSC_TRUE},
  {"ILU(1) bmc relaxed", {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_factor_levels 1", "pc_syncilu_relax 0.5"},       PETSC_TRUE},
  {"D-ILU bmc",          {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_syncilu_update dilu", "pc_syncilu_relax 0.5"},   PETSC_TRUE},
  {"D-ILU bmc trick",
   {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_syncilu_update dilu", "pc_syncilu_relax 0.5", "pc_syncilu_eisenstat"},
   PETSC_TRUE                                                                                                                                  },
  {"mesh",               {MESH},                                                                                                     PETSC_TRUE},
  {"mesh natural",       {MESH, natural},                                                                                            PETSC_TRUE},
  {"IC(0) bmc",          {"pc_type syncilu", symmetric, "pc_factor_mat_ordering_type bmc"},                                          PETSC_TRUE},
  {"ILU(0) sweeps",      {"pc_type syncilu", "pc_syncilu_solve jacobi"},                                                             PETSC_TRUE},
  {"ILU(0) bmc sweeps",  {"pc_type syncilu", "pc_factor_mat_ordering_type bmc", "pc_syncilu_solve jacobi"},                          PETSC_TRUE},
  {"ilu",                {"pc_type ilu", cusparse},                                                                                  PETSC_TRUE},
  {"jacobi",             {"pc_type jacobi"},                                                                                         PETSC_TRUE},
  {"jacobi natural",     {"pc_type jacobi", natural},                                                                                PETSC_TRUE},
  {"none",               {"pc_type none"},                                                                                           PETSC_TRUE},
  {"gamg",               {"pc_type gamg"},                                                                                           PETSC_TRUE},
};
static const Preconditioner on_cpu[] = {
  {"ilu", {"pc_type ilu"}, PETSC_FALSE},
};
static const Preconditioner on_cpus[] = {
  {"bjacobi ilu", {"pc_type bjacobi", "sub_pc_type ilu"}, PETSC_FALSE},
};

typedef struct {
  const Preconditioner *list;
  size_t                size;
} Table;
static const Table tables[] = {
  {on_gpu,    PETSC_STATIC_ARRAY_LENGTH(on_gpu)   },
  {sweeps,    PETSC_STATIC_ARRAY_LENGTH(sweeps)   },
  {on_meshes, PETSC_STATIC_ARRAY_LENGTH(on_meshes)},
  {on_cpu,    PETSC_STATIC_ARRAY_LENGTH(on_cpu)   },
  {on_cpus,   PETSC_STATIC_ARRAY_LENGTH(on_cpus)  },
};
enum {
  ON_GPU,
  SWEEPS,
  MESHES,
  ON_CPU,
  ON_CPUS,
  TABLES,
  ALL_NAMES = PETSC_STATIC_ARRAY_LENGTH(on_gpu) + PETSC_STATIC_ARRAY_LENGTH(sweeps) + PETSC_STATIC_ARRAY_LENGTH(on_meshes)
};

/* The preconditioner of that name in the first of these tables that has it, NULL if none has. */
static const Preconditioner *Find(const char *name, int first, int last)
{
  for (int t = first; t <= last; t++)
    for (size_t c = 0; c < tables[t].size; c++)
      if (!strcmp(name, tables[t].list[c].name)) return &tables[t].list[c];
  return NULL;
}

/* The two backends on one problem. */
typedef struct {
  char     name[64];
  KSPType  type;
  PetscInt rows, its;
  double   host[3], cuda[3]; /* setup, refactor, solve */
} Pair;

/* A problem and a method of -meshes_table, by the preconditioners of its table; NAN where one was not run or has not converged. */
typedef struct {
  char   name[64];
  char   cell[PETSC_STATIC_ARRAY_LENGTH(on_meshes)][48]; /* time and iterations, or why there are none */
  double speed[PETSC_STATIC_ARRAY_LENGTH(on_meshes)];    /* the better of Jacobi and none over it */
  double its[PETSC_STATIC_ARRAY_LENGTH(on_meshes)];      /* over those in the order of the mesh with the same levels of fill */
} Case;

typedef struct {
  Krylov        krylov;
  PetscReal     peclet;
  PetscBool     cpu, host_arrays, sweeps, histories, meshes;
  PetscMPIInt   ranks;
  MatType       mattype;
  VecType       vectype;
  char         *only[LIST];
  PetscInt      nonly;
  BenchJSON     json;
  Pair          pair[PAIRS];
  PetscInt      npairs;
  Case          cases[CASES];
  PetscInt      ncases;
  BenchFailures failures;
} Bench;

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

static PetscErrorCode GridCreate(const Bench *bench, PetscInt n, PetscReal peclet, System *p)
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

/* ---- output ---- */

static const Outcome *Named(const char *name, PetscInt n, const Outcome *all)
{
  for (PetscInt k = 0; k < n; k++)
    if (!strcmp(all[k].name, name)) return &all[k];
  return NULL;
}

static double TotalOf(const Outcome *o)
{
  return o ? OutcomeTotal(o) : NAN;
}

/* Iterations, NAN where it has not converged. */
static double IterationsOf(const Outcome *o)
{
  return isnan(TotalOf(o)) ? NAN : (double)PetscMax(o->its, 1);
}

/* Iterations over those in the order of the mesh with the same levels of fill. */
static double AgainstMesh(const Preconditioner *c, PetscInt n, const Outcome *all)
{
  int level = 0;

  for (int k = 0; k < KRYLOV_OPTIONS && c->options[k]; k++)
    for (int l = 1; l < LEVELS; l++)
      if (!strcmp(c->options[k], on_meshes[l].options[1])) level = l;
  return IterationsOf(Named(c->name, n, all)) / IterationsOf(Named(on_meshes[level].name, n, all));
}

/* How many times faster than the named one. */
static double Against(const char *name, PetscInt n, const Outcome *all, const Outcome *o)
{
  return TotalOf(Named(name, n, all)) / OutcomeTotal(o);
}

/* The better of Jacobi and none, of those that converge. */
static double Plain(PetscInt n, const Outcome *all)
{
  return fmin(TotalOf(Named("jacobi", n, all)), TotalOf(Named("none", n, all)));
}

/* What a table is of, apart from the problem. */
static const char *Where(const Bench *bench)
{
  return bench->cpu ? "CPU" : bench->host_arrays ? "GPU, arrays on the host" : "GPU";
}

static PetscErrorCode PrintOutcomes(const Bench *bench, const System *p, KSPType type, PetscInt n, const Outcome *all)
{
  MatInfo  info;
  PetscInt rows;

  PetscFunctionBegin;
  PetscCall(MatGetSize(p->A, &rows, NULL));
  PetscCall(MatGetInfo(p->A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s, %s: %" PetscInt_FMT " rows, %.0f nonzeros, rtol %g, %s\n", p->name, type, rows, info.nz_used,
                        (double)bench->krylov.rtol, Where(bench)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-22s %6s %10s %10s %10s %11s", "ms", "its", "setup", "refactor", "solve", "setup+solve"));
  if (bench->meshes) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %9s %9s %8s %8s", "iteration", "apply", "plain/it", "its"));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %8s %8s", "ilu/it", "none/it"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %10s  %s\n", "|b-Ax|/|b|", "remarks"));
  for (PetscInt k = 0; k < n; k++) {
    const Outcome *o = &all[k];
    char           remarks[WHY + 64];

    remarks[0] = 0;
    if (o->failed) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "failed: %s", o->why));
    else if (o->reason == KSP_DIVERGED_ITS) PetscCall(PetscStrncpy(remarks, "no convergence in so many", sizeof(remarks)));
    else if (o->reason <= 0) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "%s", KSPConvergedReasons[o->reason]));
    else if (o->ours) PetscCall(PetscSNPrintf(remarks, sizeof(remarks), "%s, %.1f MB", SyncILUBackends[o->stats.backend], 1e-6 * (double)o->stats.bytes));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-22s", o->name));
    PetscCall(PrintNumber(6, "%.0f", o->failed ? NAN : (double)o->its));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->setup));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->refactor));
    PetscCall(PrintNumber(10, "%.2f", 1e3 * o->time));
    PetscCall(PrintNumber(11, "%.2f", 1e3 * OutcomeTotal(o)));
    if (bench->meshes) {
      PetscCall(PrintNumber(9, "%.4f", 1e3 * o->time / PetscMax(o->its, 1)));
      PetscCall(PrintNumber(9, "%.4f", 1e3 * o->apply));
      PetscCall(PrintNumber(8, "%.2f", Plain(n, all) / OutcomeTotal(o)));
      PetscCall(PrintNumber(8, "%.2f", AgainstMesh(Find(o->name, MESHES, MESHES), n, all)));
    } else {
      PetscCall(PrintNumber(8, "%.2f", Against("ilu", n, all, o)));
      PetscCall(PrintNumber(8, "%.2f", Against("none", n, all, o)));
    }
    PetscCall(PrintNumber(10, "%.1e", o->failed ? NAN : (double)o->residual));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", remarks));

    PetscCall(BenchJSONBegin(bench->json));
    PetscCall(BenchJSONText(bench->json, "bench", bench->histories ? "histories" : bench->sweeps ? "sweeps" : bench->meshes ? "meshes" : "solvers"));
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
      PetscCall(BenchJSONText(bench->json, "backend", o->ours ? SyncILUBackends[o->stats.backend] : ""));
      PetscCall(BenchJSONText(bench->json, "reason", KSPConvergedReasons[o->reason]));
      PetscCall(BenchJSONNumber(bench->json, "converged", o->reason > 0));
      PetscCall(BenchJSONNumber(bench->json, "iterations", (double)o->its));
      PetscCall(BenchJSONNumber(bench->json, "setup", o->setup));
      PetscCall(BenchJSONNumber(bench->json, "refactor", o->refactor));
      PetscCall(BenchJSONNumber(bench->json, "solve", o->time));
      if (bench->meshes) PetscCall(BenchJSONNumber(bench->json, "application", o->apply));
      PetscCall(BenchJSONNumber(bench->json, "rounds", (double)o->first.n));
      PetscCall(BenchJSONNumber(bench->json, "residual", (double)o->residual));
      if (o->ours) PetscCall(BenchJSONNumber(bench->json, "bytes", (double)o->stats.bytes));
      if (o->history) PetscCall(BenchJSONNumbers(bench->json, "history", o->norms, o->history));
    }
    PetscCall(BenchJSONEnd(bench->json));
  }
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the times of the two backends, if both were asked for, for a table of all problems. */
static PetscErrorCode NotePair(Bench *bench, const System *p, KSPType type, PetscInt n, const Outcome *all)
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

static PetscErrorCode NoteCase(Bench *bench, const System *p, KSPType type, PetscInt n, const Outcome *all)
{
  Case *c = &bench->cases[bench->ncases];

  PetscFunctionBegin;
  if (!bench->meshes || bench->ncases == CASES) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(c->name, sizeof(c->name), "%s, %s", p->name, type));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(on_meshes); k++) {
    const Outcome *o = Named(on_meshes[k].name, n, all);

    c->speed[k] = Plain(n, all) / TotalOf(o);
    c->its[k]   = AgainstMesh(&on_meshes[k], n, all);
    if (!o || o->failed) PetscCall(PetscStrncpy(c->cell[k], o ? "failed" : "", sizeof(c->cell[k])));
    else if (o->reason <= 0) PetscCall(PetscSNPrintf(c->cell[k], sizeof(c->cell[k]), "%s after %" PetscInt_FMT, KSPConvergedReasons[o->reason], o->its));
    else PetscCall(PetscSNPrintf(c->cell[k], sizeof(c->cell[k]), "%.4g (%" PetscInt_FMT ")", 1e3 * OutcomeTotal(o), o->its));
  }
  bench->ncases++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A row a preconditioner, in Markdown: ms and iterations by case, how many times faster than the better of Jacobi
   and none it is, at least and in the geometric mean, and the most iterations over those in the order of the mesh.
*/
static PetscErrorCode PrintCases(const Bench *bench)
{
  PetscFunctionBegin;
  if (!bench->ncases) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\nsetup+solve in ms (iterations)\n\n| |"));
  for (PetscInt i = 0; i < bench->ncases; i++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s |", bench->cases[i].name));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " faster, least | mean | iterations, most |\n|"));
  for (PetscInt i = 0; i < bench->ncases + 4; i++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " --- |"));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(on_meshes); k++) {
    double least = NAN, most = NAN, logs = 0.0;
    int    count = 0;

    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n| %s |", on_meshes[k].name));
    for (PetscInt i = 0; i < bench->ncases; i++) {
      const Case  *c     = &bench->cases[i];
      const double speed = c->speed[k];

      PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s |", c->cell[k]));
      most = fmax(most, c->its[k]);
      if (isnan(speed)) continue;
      least = fmin(least, speed);
      logs += log(speed);
      count++;
    }
    PetscCall(PrintNumber(0, "%.2f", least));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " |"));
    PetscCall(PrintNumber(0, "%.2f", count ? exp(logs / count) : NAN));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " |"));
    PetscCall(PrintNumber(0, "%.2f", most));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " |"));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those to run, in their order. */
static PetscInt Choose(const Bench *bench, PetscBool cg, const Preconditioner *chosen[ALL_NAMES])
{
  const PetscBool table = (PetscBool)(bench->sweeps || bench->meshes), cpu = (PetscBool)(bench->cpu && !table);
  const int       own   = bench->sweeps ? SWEEPS : bench->meshes ? MESHES : !cpu ? ON_GPU : bench->ranks > 1 ? ON_CPUS : ON_CPU;
  const PetscInt  count = bench->nonly ? bench->nonly : (PetscInt)tables[own].size;
  PetscInt        n     = 0;

  for (PetscInt k = 0; k < count; k++) {
    const Preconditioner *c      = bench->nonly ? Find(bench->only[k], cpu ? own : ON_GPU, cpu ? own : MESHES) : &tables[own].list[k];
    PetscBool             wanted = (PetscBool)(c && (bench->nonly || table || !c->asked));

    if (wanted && bench->histories && !bench->nonly) {
      wanted = PETSC_FALSE;
      for (const char *const *name = shown[cg]; *name && !wanted; name++) wanted = (PetscBool)!strcmp(c->name, *name);
    }
    for (int o = 0; wanted && !cg && o < KRYLOV_OPTIONS && c->options[o]; o++)
      wanted = (PetscBool)(c->options[o] != symmetric && c->options[o] != icc && c->options[o] != natural);
    if (wanted) chosen[n++] = c;
  }
  return n;
}

/* The norms are those of all iterations, and the last one is what the method ended with. */
static PetscErrorCode CheckHistory(Bench *bench, const char *what, const Outcome *o)
{
  PetscFunctionBegin;
  if (!o->history || o->failed || o->reason <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (o->norms != o->its + 1 || o->history[o->norms - 1] > 1.001 * bench->krylov.rtol * o->history[0])
    PetscCall(BenchFail(&bench->failures, what, o->name, "the history of its residuals is another one"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An exact factorization takes the iterations of PETSc's own, which rounding changes by a few. */
static PetscErrorCode CheckIterations(Bench *bench, const System *p, PetscInt n, const Outcome *all)
{
  const char *const pairs[][2] = {
    {"syncilu", "ilu"},
    {"ILU(0)",  "ilu"},
    {"IC(0)",   "icc"}
  };

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    const Outcome *o[2] = {NULL, NULL};
    char           why[128];

    for (PetscInt c = 0; c < n; c++)
      for (int s = 0; s < 2; s++)
        if (!strcmp(all[c].name, pairs[k][s]) && all[c].reason > 0 && !all[c].failed) o[s] = &all[c];
    if (!o[0] || !o[1] || PetscAbsInt(o[0]->its - o[1]->its) <= 2 + o[1]->its / 20) continue;
    PetscCall(PetscSNPrintf(why, sizeof(why), "%" PetscInt_FMT " iterations, %s %" PetscInt_FMT, o[0]->its, o[1]->name, o[1]->its));
    PetscCall(BenchFail(&bench->failures, p->name, o[0]->name, why));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunProblem(Bench *bench, System *p, KSPType type)
{
  const Preconditioner *chosen[ALL_NAMES];
  Outcome              *all;
  PetscInt              n;
  PetscBool             cg;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(type, KSPCG, &cg));
  n = Choose(bench, cg, chosen);
  PetscCall(PetscMalloc1(n, &all));
  for (PetscInt c = 0; c < n; c++) {
    const char *options[KRYLOV_OPTIONS] = {NULL};
    Outcome    *o                       = &all[c];
    KSP         ksp                     = NULL;
    PetscBool   ignored;
    char        what[128], text[WHY];
    int         m = 0;

    OutcomeInit(chosen[c]->name, o);
    for (int k = 0; k < KRYLOV_OPTIONS && chosen[c]->options[k]; k++)
      if (bench->krylov.device || chosen[c]->options[k] != cusparse) options[m++] = chosen[c]->options[k];
    if (bench->histories) { /* norms that can be compared */
      options[m++] = "ksp_norm_type unpreconditioned";
      if (!cg) options[m++] = "ksp_pc_side right";
    }
    BenchProgress("%s, %s: %s", p->name, type, o->name);
    PetscCall(PetscSNPrintf(what, sizeof(what), "%s with %s", p->name, type));
    BenchTry(KrylovRun(&bench->krylov, options, type, p, &ksp, o), o->why, sizeof(o->why), &o->failed);
    if (o->failed) {
      PetscCall(BenchFail(&bench->failures, what, o->name, o->why));
      o->setup = o->refactor = o->time = NAN;
    } else if (o->reason <= 0) {
      PetscBool ours;

      /* that another one does not converge is a result */
      PetscCall(PetscStrncmp(o->name, "syncilu", 7, &ours));
      if (ours) PetscCall(BenchFail(&bench->failures, what, o->name, KSPConvergedReasons[o->reason]));
    }
    PetscCall(CheckHistory(bench, what, o));
    if (bench->meshes && !o->failed) {
      PC        pc;
      PetscBool trick = PETSC_FALSE;

      /* Eisenstat's is part of the operator */
      PetscCall(KSPGetPC(ksp, &pc));
      if (o->ours) PetscCall(PCSyncILUGetEisenstat(pc, &trick));
      if (!trick) PetscCall(KrylovApply(&bench->krylov, pc, p, &o->apply));
    }
    /* what an error left behind may not be fit to be destroyed */
    BenchTry(KSPDestroy(&ksp), text, sizeof(text), &ignored);
  }
  if (n) PetscCall(PrintOutcomes(bench, p, type, n, all));
  if (cg) PetscCall(CheckIterations(bench, p, n, all));
  PetscCall(NotePair(bench, p, type, n, all));
  PetscCall(NoteCase(bench, p, type, n, all));
  for (PetscInt c = 0; c < n; c++) PetscCall(OutcomeDestroy(&all[c]));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Bench      *bench;
  const char *file; /* else a system by name, else a grid */
  const char *system;
  PetscInt    n;
  PetscReal   peclet;
} Request;

static PetscErrorCode CreateProblem(const Request *q, System *p)
{
  PetscFunctionBegin;
  if (q->system) PetscCall(SystemByName(q->system, q->bench->mattype, p));
  else if (q->file) PetscCall(SystemFromFile(q->file, q->bench->mattype, p));
  else PetscCall(GridCreate(q->bench, q->n, q->peclet, p));
  PetscCall(SystemFinish(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunRequest(const Request *q)
{
  System    p;
  PetscBool failed, ignored;
  char      why[WHY], text[WHY];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&p, sizeof(p)));
  if (q->system) PetscCall(PetscStrncpy(p.name, q->system, sizeof(p.name)));
  else if (q->file) PetscCall(BenchFileName(q->file, p.name, sizeof(p.name)));
  else PetscCall(PetscSNPrintf(p.name, sizeof(p.name), "%s %" PetscInt_FMT "^3", q->peclet > 0 ? "convdiff" : "poisson", q->n));
  BenchProgress("%s: assembling", p.name);
  BenchTry(CreateProblem(q, &p), why, sizeof(why), &failed);
  if (failed) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%s: skipped: %s\n", p.name, why));
    PetscCall(BenchFail(&q->bench->failures, p.name, "matrix", why));
  } else {
    /* the grids of -poisson are symmetric but for the columns of the boundary */
    const PetscBool cg = (PetscBool)(p.symmetric || (!q->file && !q->system && q->peclet == 0.0));

    if (cg) PetscCall(RunProblem(q->bench, &p, KSPCG));
    if (!cg || (q->file && !q->bench->sweeps)) {
      PetscCall(RunProblem(q->bench, &p, KSPGMRES));
      if (!q->bench->sweeps) PetscCall(RunProblem(q->bench, &p, KSPBCGS));
    }
  }
  BenchTry(SystemDestroy(&p), text, sizeof(text), &ignored);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt  poisson[LIST] = {129, 161}, convdiff[LIST] = {129}, npoisson = LIST, nconvdiff = LIST, nfiles = LIST, nsystems = LIST, nmeshes = LIST, failures;
  char     *files[LIST], *systems[LIST], *meshes[LIST], json[PETSC_MAX_PATH_LEN] = "", version[256], date[64];
  PetscBool small = PETSC_FALSE, set[2], filed, named, meshed, only;
  Bench    *bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscNew(&bench));
  bench->krylov.repeat = 3;
  bench->krylov.rtol   = 1e-5;
  bench->peclet        = 1.0;
  bench->krylov.max_it = -1;
  bench->nonly         = LIST;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &bench->ranks));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Solver bench", NULL);
  PetscCall(PetscOptionsIntArray("-poisson", "Points in each direction", NULL, poisson, &npoisson, &set[0]));
  PetscCall(PetscOptionsIntArray("-convdiff", "Points in each direction", NULL, convdiff, &nconvdiff, &set[1]));
  PetscCall(PetscOptionsStringArray("-file", "Matrix files", NULL, files, &nfiles, &filed));
  PetscCall(PetscOptionsStringArray("-system", "Systems by name", NULL, systems, &nsystems, &named));
  PetscCall(PetscOptionsStringArray("-mesh", "The same", NULL, meshes, &nmeshes, &meshed));
  PetscCall(PetscOptionsBool("-sweeps_table", "Exact and approximate factorizations", NULL, bench->sweeps, &bench->sweeps, NULL));
  PetscCall(PetscOptionsBool("-histories", "Residuals of all iterations", NULL, bench->histories, &bench->histories, NULL));
  PetscCall(PetscOptionsBool("-meshes_table", "Unstructured meshes", NULL, bench->meshes, &bench->meshes, NULL));
  if (bench->meshes) {
    bench->krylov.rtol    = 1e-8;
    bench->krylov.max_it  = 5000;
    bench->krylov.restart = 60;
  }
  PetscCall(PetscOptionsBoundedInt("-restart", "Of GMRES, 0: PETSc's", NULL, bench->krylov.restart, &bench->krylov.restart, NULL, 0));
  PetscCall(PetscOptionsBool("-small", "Quick grids", NULL, small, &small, NULL));
  PetscCall(PetscOptionsBool("-cpu", "On the CPU with PETSc's own ILU", NULL, bench->cpu, &bench->cpu, NULL));
  PetscCall(PetscOptionsBool("-host_arrays", "Matrix and vectors of the host's types", NULL, bench->host_arrays, &bench->host_arrays, NULL));
  PetscCall(PetscOptionsStringArray("-only", "These preconditioners alone", NULL, bench->only, &bench->nonly, &only));
  PetscCall(
    PetscOptionsBoundedInt("-repeat", "Rounds after the first, of which the median is shown", NULL, bench->krylov.repeat, &bench->krylov.repeat, NULL, 0));
  PetscCall(PetscOptionsReal("-rtol", "Relative tolerance of the solvers", NULL, bench->krylov.rtol, &bench->krylov.rtol, NULL));
  PetscCall(PetscOptionsReal("-peclet", "Cell Peclet number of convection-diffusion", NULL, bench->peclet, &bench->peclet, NULL));
  PetscCall(PetscOptionsInt("-max_it", "Most iterations", NULL, bench->krylov.max_it, &bench->krylov.max_it, NULL));
  PetscCall(PetscOptionsString("-json", "File to which JSON lines are appended", NULL, json, json, sizeof(json), NULL));
  PetscOptionsEnd();
  /* what does not converge must not take the time of the others */
  if ((bench->sweeps || bench->histories) && bench->krylov.max_it < 0) bench->krylov.max_it = 1000;
  if (bench->krylov.max_it < 0) bench->krylov.max_it = 2000;
  if (!only) bench->nonly = 0;
  /* one that no table has was misspelled */
  for (PetscInt k = 0; k < bench->nonly; k++)
    PetscCheck(Find(bench->only[k], 0, TABLES - 1), PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-only %s: there is no such preconditioner", bench->only[k]);
  if (!filed) nfiles = 0;
  if (!named) nsystems = 0;
  if (!meshed) nmeshes = 0;
  if (bench->histories) { /* a choice of the table, with norms */
    bench->sweeps         = PETSC_TRUE;
    bench->krylov.history = PETSC_TRUE;
  }
  if ((bench->sweeps || bench->meshes) && !set[0] && !set[1]) {
    const char *const of_sweeps[3][4] = {
      {"poisson:100", "anisotropic:100", "laplace2:500", "circuit:150"},
      {"poisson:17",  "anisotropic:17",  "laplace2:30",  "circuit:30" },
      {"poisson:304", "anisotropic:100", "laplace2:500", "circuit:150"}
    };
    const char *const of_meshes[2][5] = {
      {"laplace2:900", "laplace3:67", "elasticity:41", "convection:67", "laplace3:145"},
      {"laplace2:20",  "laplace3:8",  "elasticity:5",  "convection:10", NULL          }
    };

    npoisson = nconvdiff = 0;
    if (bench->sweeps && !named) {
      for (int k = 0; k < 4; k++) PetscCall(PetscStrallocpy(of_sweeps[small ? 1 : bench->histories ? 2 : 0][k], &systems[nsystems++]));
    }
    if (bench->meshes && !named && !meshed && !filed) {
      for (int k = 0; k < 5 && of_meshes[small][k]; k++) PetscCall(PetscStrallocpy(of_meshes[small][k], &systems[nsystems++]));
    }
  } else if (!set[0] && !set[1] && !filed && !named && !meshed) {
    npoisson  = small ? 1 : 2;
    nconvdiff = 1;
    if (small) poisson[0] = convdiff[0] = 33;
  } else {
    if (!set[0]) npoisson = 0;
    if (!set[1]) nconvdiff = 0;
  }
  PetscCheck(bench->cpu || bench->ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "The GPU cases run on one rank; several take -cpu");
  if (!bench->cpu && !bench->host_arrays) {
    PetscBool used;

    PetscCall(KrylovUseDevice(&used));
    if (!used) {
      PetscCall(PetscFinalize());
      return 77;
    }
  }
  bench->krylov.device = (PetscBool)(!bench->cpu && !bench->host_arrays);
  bench->krylov.cold   = (PetscBool)(bench->cpu || bench->sweeps);
  bench->krylov.enough = bench->histories || bench->meshes ? 1.0 : 4.0;
  bench->mattype       = bench->cpu || bench->host_arrays ? MATAIJ : MATAIJCUSPARSE;
  bench->vectype       = bench->cpu || bench->host_arrays ? VECSTANDARD : VECCUDA;
  PetscCall(BenchJSONOpen(json, &bench->json));
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscGetDate(date, sizeof(date)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n%s, %s, %d rank%s\n", date, version, Where(bench), bench->ranks, bench->ranks == 1 ? "" : "s"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "medians of up to %" PetscInt_FMT " rounds after one that loads libraries; a round: setup, solve, setup with new values, solve\n",
                        bench->krylov.repeat));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "ilu/it and none/it: how many times longer setup+solve of ilu and of none takes\n"
                        "|b-Ax|/|b| is the true residual, tolerances are of %s\n",
                        bench->histories ? "it" : "the preconditioned one"));

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
  for (PetscInt k = 0; k < nsystems + nmeshes; k++) {
    char        **name = k < nsystems ? &systems[k] : &meshes[k - nsystems];
    const Request q    = {.bench = bench, .system = *name};

    PetscCall(RunRequest(&q));
    PetscCall(PetscFree(*name));
  }
  PetscCall(PrintPairs(bench));
  PetscCall(PrintCases(bench));

  PetscCall(BenchFailuresEnd(&bench->failures, &failures));
  for (PetscInt k = 0; k < nfiles; k++) PetscCall(PetscFree(files[k]));
  for (PetscInt k = 0; k < bench->nonly; k++) PetscCall(PetscFree(bench->only[k]));
  PetscCall(BenchJSONClose(&bench->json));
  PetscCall(PetscFree(bench));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
