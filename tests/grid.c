static char help[] = "The grid that rows follow: given by the user, the DMDA's of the matrix, or found in the pattern.\n\n";

#include "check.h"
#include "case.h"
#include "../kernels/tuning.h"
#include <petscdm.h>
#include <petscdmda.h>

/* A value for each entry that there is room for; rows are dominant. */
static PetscErrorCode Fill(Mat A)
{
  PetscInt first, end;
  Mat      B; /* has the columns while A gets values */

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    const PetscInt *col;
    PetscInt        count;

    PetscCall(MatGetRow(B, i, &count, &col, NULL));
    for (PetscInt k = 0; k < count; k++)
      PetscCall(MatSetValue(A, i, col[k], i == col[k] ? (PetscScalar)(count + 1) : (PetscScalar)(-0.25 - 0.05 * (PetscReal)((7 * i + 3 * col[k]) % 11)),
                            INSERT_VALUES));
    PetscCall(MatRestoreRow(B, i, &count, &col, NULL));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  PetscInt  points[3], dof;
  PetscBool box, periodic;
} Shape;

/* A DMDA of one to three directions, and its matrix. */
static PetscErrorCode Create(MPI_Comm comm, const Shape *s, DM *da, Mat *A)
{
  const DMBoundaryType  ends    = s->periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  const DMDAStencilType stencil = s->box ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;

  PetscFunctionBegin;
  if (s->points[2] > 1)
    PetscCall(DMDACreate3d(comm, ends, ends, ends, stencil, s->points[0], s->points[1], s->points[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, s->dof, 1, NULL,
                           NULL, NULL, da));
  else if (s->points[1] > 1)
    PetscCall(DMDACreate2d(comm, ends, ends, stencil, s->points[0], s->points[1], PETSC_DECIDE, PETSC_DECIDE, s->dof, 1, NULL, NULL, da));
  else PetscCall(DMDACreate1d(comm, ends, s->points[0], s->dof, 1, NULL, da));
  PetscCall(DMSetMatType(*da, MATAIJ));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(Fill(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a preconditioner of the GPU up, and compares what it does with that of the host; the view in text. */
static PetscErrorCode Apply(Mat A, const PetscInt grid[4], SyncILUSolve solve, const char *options, char *text, size_t len)
{
  Vec       b, x[2], y[2];
  PetscReal difference;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(x[0], &y[k]));
  PetscCall(VecSetRandom(b, NULL));
  for (int k = 0; k < 2; k++) {
    PetscOptions db;
    PC           pc;

    PetscCall(CheckOptionsBegin(options, &db));
    PetscCall(PCCreate(PetscObjectComm((PetscObject)A), &pc));
    PetscCall(PCSetType(pc, PCSYNCILU));
    PetscCall(PCSyncILUSetBackend(pc, k ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSetFromOptions(pc));
    if (k) PetscCall(PCSyncILUSetSolve(pc, solve));
    if (grid) PetscCall(PCSyncILUSetGrid(pc, grid[0], grid[1], grid[2], grid[3]));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, b, x[k]));
    PetscCall(PCApplyTranspose(pc, b, y[k]));
    if (k) PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, len));
    PetscCall(PCDestroy(&pc));
    PetscCall(CheckOptionsEnd(&db));
  }
  PetscCall(CheckDifference(x[1], x[0], &difference));
  CHECK(difference < 1e-12, "the solution is %g from the host's:\n%s", (double)difference, text);
  PetscCall(CheckDifference(y[1], y[0], &difference));
  CHECK(difference < 1e-12, "the transposed solution is %g from the host's:\n%s", (double)difference, text);
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of a level of L in the mean. In a box a point also waits for the next ones on the line and plane before. */
static double LevelPoints(const Shape *s)
{
  const PetscInt *n = s->points, levels = n[0] + (s->box ? 2 : 1) * (n[1] - 1) + (s->box ? 4 : 1) * (n[2] - 1);

  return (double)(n[0] * n[1] * n[2]) / (double)levels;
}

/* A matrix on a grid: its rows have neighbors in L along the axes of one mask, and in U along those of another. */
static PetscErrorCode CreateUpwind(const PetscInt points[3], int lower, int upper, Mat *A)
{
  const PetscInt n = points[0] * points[1] * points[2], stride[3] = {1, points[0], points[0] * points[1]};
  PetscRandom    random;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 7, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    for (int c = -3; c <= 3; c++) {
      const int      axis = PetscAbsInt(c) - 1, mask = c < 0 ? lower : upper;
      const PetscInt at = c ? i / stride[axis] % points[axis] + (c < 0 ? -1 : 1) : 0;
      PetscScalar    v;

      if (c && (!(mask >> axis & 1) || at < 0 || at >= points[axis])) continue;
      PetscCall(PetscRandomGetValue(random, &v));
      PetscCall(MatSetValue(*A, i, c ? i + (c < 0 ? -stride[axis] : stride[axis]) : i, c ? -v : 8.0 + v, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   L and U with neighbors along different axes, as of an upwind scheme. Kernels for nearest neighbours alone, which
   solve for boxes of tiles, and kernels for other rows must not meet: one leaves NaN where the other reads zeros.
*/
static PetscErrorCode TestUpwind(void)
{
  const PetscInt grids[][3] = {
    {20, 70, 1 },
    {6,  29, 26},
    {9,  1,  40}
  };
  char *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); k++) {
    for (int masks = 0; masks < 64 + 2; masks++) {
      /* the last ones without clusters, if the device is emulated */
      const PetscBool few   = (PetscBool)(masks >= 64);
      const int       lower = few ? (masks & 1 ? 3 : 7) : masks & 7, upper = few ? lower : masks >> 3;
      PetscBool       boxes;
      Mat             A;

      if ((grids[k][1] == 1 && (lower | upper) & 2) || (grids[k][2] == 1 && (lower | upper) & 4)) continue;
      if (!(lower | upper) || (k == 1 && lower != 7 && upper != 7)) continue;
      PetscCheck(!setenv("EMULATOR_CLUSTER", few ? "1" : "16", 1), PETSC_COMM_SELF, PETSC_ERR_SYS, "setenv() fails");
      PetscCall(CreateUpwind(grids[k], lower, upper, &A));
      PetscCall(Apply(A, (const PetscInt[]){grids[k][0], grids[k][1], grids[k][2], 1}, SYNCILU_SOLVE_STRUCT, "", text, 20000));
      boxes = (PetscBool)(strstr(text, " a cluster; stencil") != NULL);
      CHECK(!boxes || lower == upper, "boxes of tiles with the axes %d of L and %d of U:\n%s", lower, upper, text);
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A lane a row where levels are wide, which without a device they soon are; elsewhere, with relaxation, and
   where pivots are compared with their rows, a warp a row.
*/
static PetscErrorCode TestWide(void)
{
  const struct {
    Shape       s;
    PetscBool   plain;
    const char *options;
  } tests[] = {
    {{{40, 9, 7}, 1, PETSC_TRUE, PETSC_FALSE},  PETSC_TRUE,  ""                              },
    {{{40, 9, 7}, 1, PETSC_TRUE, PETSC_FALSE},  PETSC_FALSE, " -pc_syncilu_relax 0.9"        },
    {{{70, 4, 1}, 1, PETSC_TRUE, PETSC_FALSE},  PETSC_TRUE,  ""                              },
    {{{50, 40, 1}, 1, PETSC_TRUE, PETSC_FALSE}, PETSC_FALSE, " -pc_factor_shift_type nonzero"}
  };
  char *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(tests); k++) {
    const PetscBool wide  = (PetscBool)(tests[k].plain && LevelPoints(&tests[k].s) > SYNCILU_STRUCT_WIDE);
    const char     *lanes = wide ? "factorization: struct, 1 lanes a row" : "factorization: struct, 32 lanes a row";
    char            options[100];
    DM              da;
    Mat             A;

    PetscCall(Create(PETSC_COMM_SELF, &tests[k].s, &da, &A));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_syncilu_update struct%s", tests[k].options));
    PetscCall(Apply(A, NULL, SYNCILU_SOLVE_STRUCT, options, text, 20000));
    CHECK(strstr(text, lanes), "%zu, %s expected:\n%s", k, lanes, text);
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the view says with the grid of the DM, without a DM, and with one that is given. */
static PetscErrorCode TestOrigins(void)
{
  const struct {
    Shape        s;
    PetscInt     given[4];
    SyncILUSolve solve;
    const char  *options, *dm, *found, *as_given;
  } tests[] = {
    {{{20, 12, 8}, 1, PETSC_FALSE, PETSC_FALSE},
     {20, 12, 8, 1},
     SYNCILU_SOLVE_STRUCT, "",
     "grid: 20 x 12 x 8 rows, of the DM",                 "grid: 20 x 12 x 8 rows, found in the pattern",
     "grid: 20 x 12 x 8 rows, as given"                },
    {{{9, 7, 5}, 1, PETSC_TRUE, PETSC_FALSE},
     {9, 7, 5, 1},
     SYNCILU_SOLVE_STRUCT, "",
     "stencil of 27 points\n",                            "grid: 9 x 7 x 5 rows, found",
     "grid: 9 x 7 x 5 rows, as given"                  },
    {{{20, 12, 1}, 1, PETSC_FALSE, PETSC_FALSE},
     {20, 12, 1, 1},
     SYNCILU_SOLVE_STRUCT, "-pc_factor_levels 1",
     "stencil of 7 points\n",                             "grid: 20 x 12 x 1 rows, found",
     "grid: 20 x 12 x 1 rows, as given"                },
    {{{12, 9, 8}, 1, PETSC_FALSE, PETSC_FALSE},
     {12, 9, 8, 1},
     SYNCILU_SOLVE_STRUCT, "-pc_factor_levels 1 -pc_syncilu_symmetric -pc_syncilu_check",
     "stencil of 13 points\n",                            "grid: 12 x 9 x 8 rows, found",
     "grid: 12 x 9 x 8 rows, as given"                 },
 /* lines too short for a search: points at their ends are as far as neighbours are */
    {{{2, 40, 9}, 1, PETSC_FALSE, PETSC_FALSE},
     {2, 40, 9, 1},
     SYNCILU_SOLVE_STRUCT, "",
     "grid: 2 x 40 x 9 rows, of the DM",                  "",
     "grid: 2 x 40 x 9 rows, as given"                 },
    {{{2, 3, 30}, 1, PETSC_TRUE, PETSC_FALSE},
     {2, 3, 30, 1},
     SYNCILU_SOLVE_STRUCT, "",
     "grid: 2 x 3 x 30 rows, of the DM",                  "",
     "grid: 2 x 3 x 30 rows, as given"                 },
    {{{50, 1, 1}, 1, PETSC_FALSE, PETSC_FALSE},
     {50, 1, 1, 1},
     SYNCILU_SOLVE_STRUCT, "",
     "grid: 50 x 1 x 1 rows, of the DM",                  "grid: 50 x 1 x 1 rows, found",
     "as given"                                        },
 /* unknowns of a point */
    {{{12, 10, 1}, 2, PETSC_FALSE, PETSC_FALSE},
     {12, 10, 1, 2},
     SYNCILU_SOLVE_STRUCT, "",
     "grid: 12 x 10 x 1 points of 2 unknowns, of the DM", "grid: 12 x 10 x 1 points of 2 unknowns, found",
     "grid: 12 x 10 x 1 points of 2 unknowns, as given"},
    {{{9, 5, 4}, 2, PETSC_FALSE, PETSC_FALSE},
     {9, 5, 4, 2},
     SYNCILU_SOLVE_STRUCT, "",
     "grid: 9 x 5 x 4 points of 2 unknowns, of the DM",   "grid: 9 x 5 x 4 points of 2 unknowns, found",
     "grid: 9 x 5 x 4 points of 2 unknowns, as given"  },
    {{{9, 5, 4}, 4, PETSC_FALSE, PETSC_FALSE},
     {9, 5, 4, 4},
     SYNCILU_SOLVE_STRUCT, "",
     "stencil of 7 points\n",                             "grid: 9 x 5 x 4 points of 4 unknowns, found",
     "grid: 9 x 5 x 4 points of 4 unknowns, as given"  },
    {{{12, 10, 1}, 1, PETSC_FALSE, PETSC_TRUE},
     {12, 10, 1, 1},
     SYNCILU_SOLVE_STRUCT, "",
     "the grid of 12 x 10 x 1 is periodic in x and y",    "the grid of 12 x 10 x 1 is periodic in x and y",
     "the grid of 12 x 10 x 1 is periodic in x and y"  },
    {{{12, 10, 11}, 1, PETSC_FALSE, PETSC_TRUE},
     {12, 10, 11, 1},
     SYNCILU_SOLVE_STRUCT, "",
     "is periodic in x, y and z",                         "is periodic in x, y and z",
     "is periodic in x, y and z"                       },
    {{{12, 10, 1}, 1, PETSC_FALSE, PETSC_FALSE},
     {12, 10, 1, 1},
     SYNCILU_SOLVE_STRUCT, "-pc_factor_mat_ordering_type rcm",
     "is for the natural order",                          "is for the natural order",
     "is for the natural order"                        },
 /* another strategy finds its tiles */
    {{{40, 30, 1}, 1, PETSC_FALSE, PETSC_FALSE},
     {40, 30, 1, 1},
     SYNCILU_SOLVE_ELL,    "",
     "by level of tiles of ",                             "by level of tiles of ",
     "by level of tiles of "                           }
  };
  char *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(tests); k++) {
    DM  da;
    Mat A;

    PetscCall(Create(PETSC_COMM_SELF, &tests[k].s, &da, &A));
    PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_FALSE));
    if (strstr(tests[k].options, "symmetric")) PetscCall(GenerateSum(A));
    PetscCall(Apply(A, NULL, tests[k].solve, tests[k].options, text, 20000));
    CHECK(strstr(text, tests[k].dm), "%zu, with the DM: wanted \"%s\", got:\n%s", k, tests[k].dm, text);
    PetscCall(MatSetDM(A, NULL));
    PetscCall(Apply(A, NULL, tests[k].solve, tests[k].options, text, 20000));
    CHECK(strstr(text, tests[k].found), "%zu, without: wanted \"%s\", got:\n%s", k, tests[k].found, text);
    PetscCall(Apply(A, tests[k].given, tests[k].solve, tests[k].options, text, 20000));
    CHECK(strstr(text, tests[k].as_given), "%zu, given: wanted \"%s\", got:\n%s", k, tests[k].as_given, text);
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define BY_STENCIL "by the stencil, into the tiles of the solves\n"

#define BY_LANES "by the stencil, a lane a row, into the tiles of the solves\n"

/*
   How updates of points are found: by the stencil with seven unknowns or more and where levels are wide, but
   for shifts. There a lane has a row, but not with eight unknowns, nor where a block of threads has no room
   for two warps: with 26 neighbours a point from four unknowns on, with a level of fill from six on.
*/
static const char *UpdatesOfPoints(const Shape *s, const char *options, const char *narrow)
{
  const PetscBool deep = (PetscBool)(s->points[2] > 1), fill = (PetscBool)(strstr(options, "levels") != NULL);
  const PetscBool room   = (PetscBool)(s->dof < (!deep ? 8 : s->box ? 4 : fill ? 6 : 8));
  const double    points = s->dof == 2 ? 16.0 : s->dof <= 4 ? 8.0 : 4.0; /* of a warp */
  Shape           filled = *s;

  /* with a level of fill a point also waits for the next one on the line before, as in a box */
  filled.box = (PetscBool)(s->box || fill);
  if (!narrow || strstr(options, "nonzero")) return narrow;
  if (room && LevelPoints(&filled) > points * (filled.box ? SYNCILU_BSR_WIDE_WARPS : SYNCILU_BSR_WIDE_WARPS_DIAGONAL)) return BY_LANES;
  return s->dof < 4 || LevelPoints(&filled) <= (s->dof > 6 ? 0.0 : s->dof == 6 ? SYNCILU_BSR_GRID_ROWS_SIX : SYNCILU_BSR_GRID_ROWS) ? narrow : BY_STENCIL;
}

/* Two solutions on the device, of test k, against the host's; and what they are solutions with. */
static PetscErrorCode CheckSolutions(size_t k, Vec found[2], Vec host[2], const char *first, const char *second)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    PetscReal apart;

    PetscCall(CheckDifference(found[t], host[t], &apart));
    CHECK(apart < 1e-12, "%zu: the solution %s is %g from the host's", k, t ? second : first, (double)apart);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Points with several unknowns, whose entries are dense blocks: solutions with the factor and its transpose,
   and of several right-hand sides, against the host's, and bit for bit the same a second time; then those
   with L and U alone, and with both again. Sizes leave tiles incomplete, and some have more steps or unknowns
   than the kernels hold at a time.
*/
static PetscErrorCode TestPoints(void)
{
  const struct {
    Shape       s;
    const char *options;
    const char *updates; /* what the view says of them where levels are narrow */
  } tests[] = {
    {{{7, 6, 5}, 2, PETSC_FALSE, PETSC_FALSE},   "",                                                     NULL                                                             },
    {{{7, 6, 5}, 3, PETSC_FALSE, PETSC_FALSE},   "-pc_syncilu_relax 0.9",                                NULL                                                             },
    {{{6, 5, 7}, 4, PETSC_FALSE, PETSC_FALSE},   "",                                                     NULL                                                             },
    {{{5, 4, 3}, 5, PETSC_TRUE, PETSC_FALSE},    "",                                                     NULL                                                             },
    {{{4, 5, 3}, 6, PETSC_FALSE, PETSC_FALSE},   "-pc_syncilu_update list",                              NULL                                                             },
    {{{4, 3, 5}, 7, PETSC_FALSE, PETSC_FALSE},   "",                                                     NULL                                                             },
    {{{3, 4, 5}, 8, PETSC_TRUE, PETSC_FALSE},    "",                                                     NULL                                                             },
    {{{31, 22, 1}, 4, PETSC_FALSE, PETSC_FALSE}, "-pc_syncilu_update bsr",                               "of diagonal blocks, by inverses, into the tiles of the solves\n"},
    {{{40, 9, 1}, 2, PETSC_TRUE, PETSC_FALSE},   "",                                                     NULL                                                             },
    {{{9, 70, 1}, 3, PETSC_FALSE, PETSC_FALSE},  "-pc_factor_levels 1",                                  NULL                                                             },
    {{{60, 1, 1}, 5, PETSC_FALSE, PETSC_FALSE},  "",                                                     NULL                                                             },
    {{{31, 22, 1}, 4, PETSC_FALSE, PETSC_FALSE}, "-pc_factor_shift_type nonzero -pc_syncilu_update bsr", "from lists, into the tiles of the solves\n"                     },
    {{{60, 32, 1}, 2, PETSC_TRUE, PETSC_FALSE},  "-pc_syncilu_update bsr",                               "from lists, into the tiles of the solves\n"                     },
    {{{40, 30, 1}, 3, PETSC_FALSE, PETSC_FALSE}, "-pc_factor_levels 1 -pc_syncilu_update bsr",           "from lists, into the tiles of the solves\n"                     },
    {{{30, 12, 1}, 5, PETSC_TRUE, PETSC_FALSE},  "-pc_syncilu_update bsr",                               "from lists, into the tiles of the solves\n"                     },
    {{{30, 16, 1}, 6, PETSC_TRUE, PETSC_FALSE},  "-pc_syncilu_update bsr",                               "from lists, into the tiles of the solves\n"                     },
    {{{20, 5, 4}, 7, PETSC_FALSE, PETSC_FALSE},  "-pc_syncilu_update bsr",                               "of diagonal blocks, by inverses, into the tiles of the solves\n"},
    {{{15, 5, 4}, 8, PETSC_TRUE, PETSC_FALSE},   "-pc_syncilu_update bsr",                               "from lists, into the tiles of the solves\n"                     },
    {{{15, 5, 4}, 5, PETSC_TRUE, PETSC_FALSE},   "-pc_syncilu_update bsr",                               "from lists, into the tiles of the solves\n"                     },
    {{{15, 5, 4}, 6, PETSC_TRUE, PETSC_FALSE},   "-pc_syncilu_update bsr",                               "from lists, into the tiles of the solves\n"                     },
    {{{13, 6, 5}, 6, PETSC_FALSE, PETSC_FALSE},  "-pc_factor_levels 1 -pc_syncilu_update bsr",           "searched for\n"                                                 },
    {{{13, 6, 5}, 8, PETSC_FALSE, PETSC_FALSE},  "-pc_factor_levels 1 -pc_syncilu_update bsr",           "from lists, into the tiles of the solves\n"                     },
    {{{5, 3, 4}, 8, PETSC_FALSE, PETSC_FALSE},
     "-pc_factor_shift_type none -pc_syncilu_update bsr",                                                "of diagonal blocks, by inverses, into the tiles of the solves\n"},
 /* with limits for small grids three slabs have two planes and the last one has one; lines go along z */
    {{{5, 3, 7}, 8, PETSC_FALSE, PETSC_FALSE},
     "-pc_factor_shift_type none -pc_syncilu_update bsr",                                                "of diagonal blocks, by inverses, into the tiles of the solves\n"}
  };
  const PetscInt columns = 5;
  PetscRandom    rand;
  char          *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(tests); k++) {
    const char  *options = tests[k].options, *updates = UpdatesOfPoints(&tests[k].s, options, tests[k].updates);
    PetscOptions db;
    DM           da;
    Mat          A, B, X[2], difference;
    Vec          b, x[2][2];
    PC           pc[2];
    PetscInt     n;
    PetscBool    same;
    PetscReal    norm[2];

    PetscCall(Create(PETSC_COMM_SELF, &tests[k].s, &da, &A));
    PetscCall(GenerateValues(A, rand));
    PetscCall(MatCreateVecs(A, &b, NULL));
    PetscCall(VecSetRandom(b, rand));
    PetscCall(VecGetSize(b, &n));
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, NULL, &B));
    PetscCall(MatSetRandom(B, rand));
    PetscCall(CheckOptionsBegin(options, &db));
    for (int d = 0; d < 2; d++) {
      PetscCall(PreconditionerCreate(A, d ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc[d]));
      PetscCall(PCSetFromOptions(pc[d]));
      if (d) PetscCall(PCSyncILUSetSolve(pc[d], SYNCILU_SOLVE_STRUCT));
      PetscCall(PCSetUp(pc[d]));
      PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X[d]));
      for (int t = 0; t < 2; t++) PetscCall(VecDuplicate(b, &x[d][t]));
    }
    PetscCall(CheckView((PetscObject)pc[1], PETSC_VIEWER_DEFAULT, text, 20000));
    CHECK(strstr(text, "solve: struct") && strstr(text, " unknowns, of the DM"), "%zu:\n%s", k, text);
    CHECK(!updates || strstr(text, updates), "%zu, %s expected:\n%s", k, updates, text);
    for (int time = 0; time < 2; time++) {
      for (int d = 0; d < 2; d++) {
        PetscCall(PCApply(pc[d], b, x[d][0]));
        PetscCall(PCApplyTranspose(pc[d], b, x[d][1]));
        PetscCall(PCMatApply(pc[d], B, X[d]));
      }
      PetscCall(CheckSolutions(k, x[1], x[0], "with both", "with the transpose"));
      PetscCall(MatDuplicate(X[0], MAT_COPY_VALUES, &difference));
      PetscCall(MatNorm(difference, NORM_FROBENIUS, &norm[0]));
      PetscCall(MatAXPY(difference, -1.0, X[1], SAME_NONZERO_PATTERN));
      PetscCall(MatNorm(difference, NORM_FROBENIUS, &norm[1]));
      CHECK(norm[1] < 1e-12 * norm[0], "%zu: solutions are %g from the host's", k, (double)(norm[1] / norm[0]));
      PetscCall(MatDestroy(&difference));
    }
    for (int t = 0; t < 2; t++) { /* on the device, a second time into vectors of the host's solutions */
      if (t) PetscCall(PCApplyTranspose(pc[1], b, x[0][t]));
      else PetscCall(PCApply(pc[1], b, x[0][t]));
      PetscCall(VecEqual(x[0][t], x[1][t], &same));
      CHECK(same, "%zu, transposed %d: another solution at another time", k, t);
    }
    PetscCall(PCMatApply(pc[1], B, X[0]));
    PetscCall(MatEqual(X[0], X[1], &same));
    CHECK(same, "%zu: other solutions at another time", k);
    for (int time = 0; time < 2; time++) { /* the first time what L and U share is taken apart */
      for (int d = 0; d < 2; d++) {
        Mat F;

        PetscCall(PCFactorGetMatrix(pc[d], &F));
        PetscCall(time ? PCApply(pc[d], b, x[d][0]) : MatForwardSolve(F, b, x[d][0]));
        PetscCall(MatBackwardSolve(F, b, x[d][1]));
      }
      PetscCall(CheckSolutions(k, x[1], x[0], time ? "with both again" : "with L alone", "with U alone"));
    }
    PetscCall(GenerateValues(A, rand));
    for (int d = 0; d < 2; d++) {
      PetscCall(PCSetUp(pc[d]));
      PetscCall(PCApply(pc[d], b, x[d][0]));
      PetscCall(PCApplyTranspose(pc[d], b, x[d][1]));
    }
    PetscCall(CheckSolutions(k, x[1], x[0], "with both, factored again", "with the transpose, factored again"));
    for (int d = 0; d < 2; d++) {
      PetscCall(PCDestroy(&pc[d]));
      PetscCall(MatDestroy(&X[d]));
      for (int t = 0; t < 2; t++) PetscCall(VecDestroy(&x[d][t]));
    }
    PetscCall(CheckOptionsEnd(&db));
    PetscCall(MatDestroy(&B));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   What plan and factor of points hold: the values once, and not on the pattern, too, and the lists of the
   blocks that meet. What is asked of the factor later is made of them.
*/
static PetscErrorCode TestPointsMemory(void)
{
  const struct {
    Shape  s;
    double most; /* bytes over those of the matrix, which is on the host and counts, too */
  } tests[] = {
    {{{40, 8, 8}, 2, PETSC_FALSE, PETSC_FALSE}, 2.6},
    {{{40, 8, 8}, 3, PETSC_FALSE, PETSC_FALSE}, 2.3},
    {{{32, 8, 8}, 5, PETSC_FALSE, PETSC_FALSE}, 2.3},
    {{{40, 8, 8}, 4, PETSC_TRUE, PETSC_FALSE},  2.8}
  };
  PetscRandom rand;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(tests); k++) {
    DM                da;
    Mat               A;
    PC                pc;
    PetscInt          n;
    MatInfo           info;
    SyncILUStatistics s;
    double            matrix;

    PetscCall(Create(PETSC_COMM_SELF, &tests[k].s, &da, &A));
    PetscCall(GenerateValues(A, rand));
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    matrix = 12.0 * info.nz_used + 4.0 * (double)n;
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSyncILUSetSolve(pc, SYNCILU_SOLVE_STRUCT));
    PetscCall(PCSyncILUSetResidual(pc, PETSC_TRUE));
    for (int time = 0; time < 2; time++) {
      PetscCall(PCSetUp(pc));
      PetscCall(PCSyncILUGetStatistics(pc, &s));
      CHECK(s.residual >= 0.0 && s.residual < 1e-14, "%zu, time %d: A - LU is %g of A", k, time, (double)s.residual);
      CHECK((double)s.bytes < tests[k].most * matrix, "%zu, time %d: %g times the bytes of the matrix", k, time, (double)s.bytes / matrix);
      PetscCall(GenerateValues(A, rand));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(SYNCILU_HAVE_CUDA)
/*
   The memory that a factorization takes besides, while it runs: by the stencil none; by inverses two blocks
   a point; from lists the blocks of U and of the diagonal, and W on the pattern too where pivots are
   compared with whole rows. There are so many points that none of that is in the room that small pieces of
   memory share.
*/
static PetscErrorCode TestPointsFactoring(void)
{
  const Shape shapes[] = {
    {{64, 16, 8}, 3, PETSC_FALSE, PETSC_FALSE},
    {{32, 8, 8},  5, PETSC_TRUE,  PETSC_FALSE}
  };
  const MatFactorShiftType types[] = {MAT_SHIFT_NONE, MAT_SHIFT_INBLOCKS, MAT_SHIFT_NONZERO};
  PetscRandom              rand;
  char                    *text;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscMalloc1(20000, &text));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    DM       da;
    Mat      A;
    PC       pc;
    PetscInt n;
    MatInfo  info;
    double   matrix;

    PetscCall(Create(PETSC_COMM_SELF, &shapes[k], &da, &A));
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    matrix = 12.0 * info.nz_used + 4.0 * (double)n;
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSyncILUSetSolve(pc, SYNCILU_SOLVE_STRUCT));
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
      SyncILUStatistics s;
      size_t            high;
      double            takes, most;

      PetscCall(PCFactorSetShiftType(pc, types[t]));
      for (int time = 0; time < 2; time++) { /* for the first time lists may be made */
        PetscCall(GenerateValues(A, rand));
        PetscCall(SyncILUCUDAMemoryHigh(&high));
        PetscCall(PCSetUp(pc));
      }
      PetscCall(SyncILUCUDAMemoryHigh(&high));
      PetscCall(PCSyncILUGetStatistics(pc, &s));
      PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, 20000));
      takes = ((double)high - (double)s.bytes) / matrix;
      most  = strstr(text, "updates: by the stencil") ? 0.02 : strstr(text, "by inverses") ? 0.22 : types[t] == MAT_SHIFT_NONZERO ? 1.1 : 0.42;
      CHECK(takes < most, "%zu, type %zu: a factorization takes %g times the bytes of the matrix:\n%s", k, t, takes, text);
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscFree(text));
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/*
   Types of pivots by turns with one plan: those that are shifted go by lists, which are made when they are
   first asked for. Solutions are the host's, and with the same pivots the same again.
*/
static PetscErrorCode TestPointsShifts(void)
{
  const Shape shapes[] = {
    {{40, 8, 8},  2, PETSC_FALSE, PETSC_FALSE},
    {{30, 16, 1}, 3, PETSC_TRUE,  PETSC_FALSE},
    {{12, 11, 3}, 4, PETSC_FALSE, PETSC_FALSE},
    {{30, 16, 1}, 5, PETSC_TRUE,  PETSC_FALSE},
    {{30, 16, 1}, 7, PETSC_FALSE, PETSC_FALSE},
    {{30, 16, 1}, 8, PETSC_TRUE,  PETSC_FALSE}
  };
  const MatFactorShiftType types[] = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_NONE, MAT_SHIFT_INBLOCKS, MAT_SHIFT_NONE};
  const char *const        lists   = "from lists, into the tiles of the solves\n";
  char                    *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    const char *const narrow = shapes[k].box ? lists : "of diagonal blocks, by inverses, into the tiles of the solves\n";
    DM                da;
    Mat               A;
    Vec               b, x[2], first;
    PC                pc[2];

    PetscCall(Create(PETSC_COMM_SELF, &shapes[k], &da, &A));
    PetscCall(MatCreateVecs(A, &x[0], &b));
    PetscCall(VecDuplicate(x[0], &x[1]));
    PetscCall(VecDuplicate(x[0], &first));
    PetscCall(VecSetRandom(b, NULL));
    for (int d = 0; d < 2; d++) {
      PetscCall(PreconditionerCreate(A, d ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc[d]));
      if (d) PetscCall(PCSyncILUSetSolve(pc[d], SYNCILU_SOLVE_STRUCT));
      if (d) PetscCall(PCSyncILUSetUpdate(pc[d], SYNCILU_UPDATE_BSR));
    }
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
      const char *const options = types[t] == MAT_SHIFT_NONE ? "" : "nonzero";
      const char *const updates = UpdatesOfPoints(&shapes[k], options, types[t] == MAT_SHIFT_NONE ? narrow : lists);
      PetscReal         apart;
      PetscBool         same;

      PetscCall(Fill(A)); /* the same values, or there would be no factorization */
      for (int d = 0; d < 2; d++) {
        PetscCall(PCFactorSetShiftType(pc[d], types[t]));
        PetscCall(PCSetUp(pc[d]));
        PetscCall(PCApply(pc[d], b, x[d]));
      }
      PetscCall(CheckDifference(x[1], x[0], &apart));
      CHECK(apart < 1e-12, "%zu, type %zu: the solution is %g from the host's", k, t, (double)apart);
      PetscCall(CheckView((PetscObject)pc[1], PETSC_VIEWER_DEFAULT, text, 20000));
      CHECK(strstr(text, updates), "%zu, type %zu, %s expected:\n%s", k, t, updates, text);
      if (t == 0) PetscCall(VecCopy(x[1], first));
      if (types[t] != MAT_SHIFT_NONE) continue;
      PetscCall(VecEqual(x[1], first, &same));
      CHECK(same, "%zu, type %zu: another solution than at first", k, t);
    }
    for (int d = 0; d < 2; d++) {
      PetscCall(PCDestroy(&pc[d]));
      PetscCall(VecDestroy(&x[d]));
    }
    PetscCall(VecDestroy(&first));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A point whose W and U' are finite, but not the inverse of I + U', with which the storage of the solves has
   products: the last row of the point is said to have failed. With other values there is a factor again. With
   shifts it goes by lists.
*/
static PetscErrorCode TestPointsRange(void)
{
  const Shape shapes[] = {
    {{12, 11, 3}, 3, PETSC_FALSE, PETSC_FALSE},
    {{12, 11, 3}, 5, PETSC_FALSE, PETSC_FALSE},
    {{12, 11, 3}, 8, PETSC_FALSE, PETSC_FALSE},
    {{30, 16, 1}, 8, PETSC_TRUE,  PETSC_FALSE}
  };
  const char *const lists = "from lists, into the tiles of the solves\n";
  char             *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  for (size_t k = 0; k < 2 * PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    const Shape      *s   = &shapes[k / 2];
    const PetscInt    dof = s->dof;
    DM                da;
    Mat               A;
    PC                pc;
    PCFailedReason    reason;
    SyncILUStatistics statistics;

    PetscCall(Create(PETSC_COMM_SELF, s, &da, &A));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
    PetscCall(PCSyncILUSetSolve(pc, SYNCILU_SOLVE_STRUCT));
    PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_BSR));
    if (k % 2) PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_INBLOCKS));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, 20000));
    CHECK(k % 2 ? strstr(text, lists) != NULL : dof < 8 || strstr(text, BY_STENCIL), "%zu:\n%s", k, text);
    for (int to = 0; to < 8; to++) { /* the first point; those beside it have nothing in its columns */
      const PetscInt other = (to & 1) + s->points[0] * ((to >> 1 & 1) + s->points[1] * (to >> 2));

      if ((!s->box && to & (to - 1)) || to >> 2 >= s->points[2]) continue;
      for (PetscInt j = 0; j < dof; j++)
        for (PetscInt i = 0; i < dof; i++) PetscCall(MatSetValue(A, dof * other + i, j, to || i > j || j > i + 1 ? 0.0 : i == j ? 1.0 : 1e200, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    PetscCall(PCSyncILUGetStatistics(pc, &statistics));
    CHECK(reason && statistics.failed_row == dof - 1, "%zu: reason %d, row %" PetscInt_FMT " where the inverse of the first point is too large", k, (int)reason,
          statistics.failed_row);
    PetscCall(Fill(A));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    CHECK(!reason, "%zu: reason %d for a matrix that has a factor", k, (int)reason);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
  }
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A row of zeros in a point: its pivot is rejected, and -pc_syncilu_check finds right what comes before it,
   also the rows of the same point. Other values have a factor again.
*/
static PetscErrorCode TestPointsBreakdown(void)
{
  const Shape s = {
    {7, 5, 3},
    3, PETSC_FALSE, PETSC_FALSE
  };
  DM  da;
  Mat A;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(Create(PETSC_COMM_SELF, &s, &da, &A));
  PetscCall(MatSetOption(A, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
  PetscCall(PCSyncILUSetSolve(pc, SYNCILU_SOLVE_STRUCT));
  PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
  for (PetscInt row = 150; row < 153; row++) {
    PCFailedReason    reason;
    SyncILUStatistics statistics;

    PetscCall(MatZeroRows(A, 1, &row, 0.0, NULL, NULL));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    PetscCall(PCSyncILUGetStatistics(pc, &statistics));
    CHECK(reason == PC_FACTOR_NUMERIC_ZEROPIVOT && statistics.failed_row == row, "reason %d, row %" PetscInt_FMT " where %" PetscInt_FMT " has no pivot",
          (int)reason, statistics.failed_row, row);
    PetscCall(Fill(A));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    CHECK(!reason, "reason %d for a matrix that has a factor", (int)reason);
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries beside those of a 5-point stencil, at the ends of lines alone: the grid must be known. */
static PetscErrorCode CreateUnlike(const PetscInt grid[4], Mat *A)
{
  const PetscInt n = grid[0] * grid[1];

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 6, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt x = i % grid[0], y = i / grid[0], d[] = {-grid[0], -1, 1, grid[0]};

    for (int k = 0; k < 4; k++) {
      if ((k == 0 && !y) || (k == 1 && !x) || (k == 2 && x == grid[0] - 1) || (k == 3 && y == grid[1] - 1)) continue;
      PetscCall(MatSetValue(*A, i, i + d[k], -1.0, INSERT_VALUES));
    }
    /* differences to one side, with more points */
    if (!x) PetscCall(MatSetValue(*A, i, i + 2, 0.5, INSERT_VALUES));
    if (x == grid[0] - 1) PetscCall(MatSetValue(*A, i, i - 2, 0.5, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, 5.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestUnlike(void)
{
  const PetscInt grid[] = {30, 20, 1, 1};
  Mat            A;
  char          *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  PetscCall(CreateUnlike(grid, &A));
  PetscCall(Apply(A, NULL, SYNCILU_SOLVE_STRUCT, "", text, 20000));
  CHECK(strstr(text, "struct is asked for, but row "), "without a grid:\n%s", text);
  PetscCall(Apply(A, grid, SYNCILU_SOLVE_STRUCT, "", text, 20000));
  CHECK(strstr(text, "stencil of 7 points, ") && strstr(text, "grid: 30 x 20 x 1 rows, as given"), "with the grid:\n%s", text);
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The ordering that decides by itself knows a grid that is given, or the DM's, where none would be found,
   whether it is made where the factor is or is kept. Without it there are tiles.
*/
static PetscErrorCode TestChosenOrdering(void)
{
  const PetscInt    grid[]    = {400, 32, 1, 1};
  const char *const kept[]    = {"", " -pc_factor_reuse_ordering"};
  const char *const natural[] = {" ordering: syncilu takes natural: solves along the lines of a grid of 400 x 32 x 1 ", "grid: 400 x 32 x 1 rows, "};
  DM                da;
  Mat               A;
  char             *text, options[128];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  PetscCall(CreateUnlike(grid, &A));
  PetscCall(
    DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, grid[0], grid[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_factor_mat_ordering_type syncilu%s", kept[k]));
    PetscCall(Apply(A, NULL, SYNCILU_SOLVE_AUTO, options, text, 20000));
    CHECK(strstr(text, " levels of tiles of L and U in the natural order take about "), "without a grid%s:\n%s", kept[k], text);
    PetscCall(Apply(A, grid, SYNCILU_SOLVE_AUTO, options, text, 20000));
    CHECK(strstr(text, natural[0]) && strstr(text, natural[1]), "with the grid%s:\n%s", kept[k], text);
    PetscCall(MatSetDM(A, da));
    PetscCall(Apply(A, NULL, SYNCILU_SOLVE_AUTO, options, text, 20000));
    CHECK(strstr(text, natural[0]) && strstr(text, natural[1]), "with that of a DM%s:\n%s", kept[k], text);
    PetscCall(MatSetDM(A, NULL));
  }
  PetscCall(DMDestroy(&da));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMs whose grid is not the one of the rows: nobody fails for them. */
static PetscErrorCode TestOtherDMs(void)
{
  const Shape shape = {
    {16, 12, 1},
    1, PETSC_FALSE, PETSC_FALSE
  };
  const Shape others[] = {
    {{12, 16, 1}, 1, PETSC_FALSE, PETSC_FALSE},
    {{5, 3, 1},   1, PETSC_FALSE, PETSC_FALSE},
    {{96, 2, 1},  1, PETSC_FALSE, PETSC_FALSE},
    {{192, 1, 1}, 1, PETSC_FALSE, PETSC_FALSE},
    {{8, 12, 1},  2, PETSC_FALSE, PETSC_FALSE}
  };
  DM    da;
  Mat   A, B;
  char *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  PetscCall(Create(PETSC_COMM_SELF, &shape, &da, &A));
  for (size_t k = 0; k <= PETSC_STATIC_ARRAY_LENGTH(others); k++) {
    DM other;

    if (k < PETSC_STATIC_ARRAY_LENGTH(others)) {
      PetscCall(Create(PETSC_COMM_SELF, &others[k], &other, &B));
      PetscCall(MatDestroy(&B));
    } else {
      PetscCall(DMCreate(PETSC_COMM_SELF, &other));
      PetscCall(DMSetType(other, DMSHELL));
    }
    PetscCall(MatSetDM(A, other));
    PetscCall(DMDestroy(&other));
    PetscCall(Apply(A, NULL, SYNCILU_SOLVE_STRUCT, "", text, 20000));
    /* of the wrong ones some have a stencil with many holes, which is one all the same */
    CHECK(strstr(text, "grid: 16 x 12 x 1 rows, found in the pattern") || strstr(text, "rows, of the DM"), "%zu:\n%s", k, text);
    if (k == 1 || k >= 3) CHECK(strstr(text, "grid: 16 x 12 x 1 rows, found in the pattern") || k == 4, "%zu:\n%s", k, text);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids that are not the matrix'. */
static PetscErrorCode TestRefused(PetscBool device)
{
  const struct {
    const char    *pattern;
    PetscInt       grid[4];
    PetscErrorCode code;
    const char    *text;
  } tests[] = {
    {"7pt:6x6x6",          {5, 6, 6, 1},   PETSC_ERR_ARG_INCOMP,     "-pc_syncilu_grid 5,6,6,1: the matrix has 216 rows"                          },
    {"7pt:6x6x6",          {6, 6, 6, 2},   PETSC_ERR_ARG_INCOMP,     "-pc_syncilu_grid 6,6,6,2: the matrix has 216 rows"                          },
    {"7pt:6x6x6",          {27, 8, 1, 1},  PETSC_ERR_ARG_WRONG,      "row 0 has an entry in column 36, which is no neighbour: point (0, 0, 0) and"},
    {"7pt:6x6x6",          {6, 6, 6, 0},   PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_grid 6,6,6,0: all must be positive"                             },
    {"7pt:6x6x6",          {-6, 6, -6, 1}, PETSC_ERR_ARG_OUTOFRANGE, "all must be positive"                                                       },
 /* lines that are one point too long look periodic */
    {"5pt:11x12",          {12, 11, 1, 1}, PETSC_ERR_ARG_WRONG,      "row 11 has an entry in column 12, which is no neighbour"                    },
    {"5pt:40x30",          {60, 20, 1, 1}, PETSC_ERR_ARG_WRONG,      "row 0 has an entry in column 40, which is no neighbour"                     },
    {"random:120",         {20, 6, 1, 1},  PETSC_ERR_ARG_WRONG,      "which is no neighbour"                                                      },
    {"elasticity:5x4x3",   {5, 4, 3, 1},   PETSC_ERR_ARG_INCOMP,     "the matrix has 180 rows"                                                    },
    {"elasticity:5x4x3",   {5, 4, 3, 3},   PETSC_SUCCESS,            ""                                                                           },
    {"7pt:6x6x6",          {6, 6, 6, 1},   PETSC_SUCCESS,            ""                                                                           },
    {"5pt_periodic:20x30", {20, 30, 1, 1}, PETSC_SUCCESS,            ""                                                                           },
    {"3*5pt:12x10",        {12, 10, 1, 3}, PETSC_SUCCESS,            ""                                                                           },
    {"3*5pt:12x10",        {12, 10, 1, 1}, PETSC_ERR_ARG_INCOMP,     "the matrix has 360 rows"                                                    },
    {"3*5pt:12x10",        {60, 2, 1, 3},  PETSC_ERR_ARG_WRONG,      "row 0 has an entry in column 36"                                            },
    {"7pt:6x6x6",          {0, 0, 0, 0},   PETSC_SUCCESS,            ""                                                                           }
  };
  PetscRandom rand;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(tests); k++) {
    const PetscInt *g = tests[k].grid;
    Mat             A;

    if (tests[k].pattern[1] == '*') PetscCall(GenerateBlocks(tests[k].pattern + 2, 0, tests[k].pattern[0] - '0', rand, &A));
    else PetscCall(GenerateMatrix(tests[k].pattern, 0, rand, &A));
    for (int d = 0; d < (device ? 2 : 1); d++) {
      PC             pc;
      PetscErrorCode ierr;

      PetscCall(PreconditionerCreate(A, d ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_HOST, &pc));
      QUIETLY(ierr, PCSyncILUSetGrid(pc, g[0], g[1], g[2], g[3]));
      if (!ierr) QUIETLY(ierr, PCSetUp(pc));
      CHECK(ierr == tests[k].code && strstr(check_message, tests[k].text), "%s, device %d: error %d, expected %d: %s", tests[k].pattern, d, (int)ierr,
            (int)tests[k].code, check_message);
      if (ierr) { /* and then without */
        PetscCall(PCSyncILUSetGrid(pc, 0, 0, 0, 0));
        PetscCall(PCSetUp(pc));
      }
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of several ranks each has a grid of its own, part of the DM's. */
static PetscErrorCode TestRanks(PetscBool device)
{
  const Shape shape = {
    {20, 18, 12},
    1, PETSC_FALSE, PETSC_FALSE
  };
  DM          da;
  Mat         A;
  PetscInt    m[3];
  PetscMPIInt rank;
  char       *text, want[96];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscMalloc1(20000, &text));
  PetscCall(Create(PETSC_COMM_WORLD, &shape, &da, &A));
  PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &m[0], &m[1], &m[2]));
  if (device) {
    PetscCall(Apply(A, NULL, SYNCILU_SOLVE_STRUCT, "", text, 20000));
    PetscCall(PetscSNPrintf(want, sizeof(want), "grid: %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " rows, of the DM", m[0], m[1], m[2]));
    CHECK(rank || strstr(text, want), "wanted %s, got:\n%s", want, text);
  }
  for (int k = 0; k < 2; k++) { /* with the numbers of each rank, and with a line too many on the last one */
    PC             pc;
    PetscMPIInt    size;
    PetscErrorCode ierr;

    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSYNCILU));
    PetscCall(PCSetOperators(pc, A, A));
    PetscCall(PCSyncILUSetGrid(pc, m[0], m[1] + (k && rank == size - 1), m[2], 1));
    QUIETLY(ierr, PCSetUp(pc));
    CHECK(ierr == (k ? PETSC_ERR_ARG_INCOMP : PETSC_SUCCESS), "%d: error %d: %s", k, (int)ierr, check_message);
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool   device;
  PetscMPIInt size;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(CaseGetDevice(&device));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) {
    PetscCall(TestRefused(device));
    if (device) {
      PetscCall(TestOrigins());
      PetscCall(TestUpwind());
      PetscCall(TestWide());
      PetscCall(TestPoints());
      PetscCall(TestPointsMemory());
#if defined(SYNCILU_HAVE_CUDA)
      PetscCall(TestPointsFactoring());
#endif
      PetscCall(TestPointsShifts());
      PetscCall(TestPointsRange());
      PetscCall(TestPointsBreakdown());
      PetscCall(TestUnlike());
      PetscCall(TestChosenOrdering());
      PetscCall(TestOtherDMs());
    }
  }
  PetscCall(TestRanks(device));
  failed = CheckReport("grid");
  PetscCall(PetscFinalize());
  return failed;
}
