static char help[] = "The orderings bmc and syncilu: permutations, independent colors, groups of rows that stay together, options, the view.\n\n";

#include "check.h"
#include "problem.h"
#include "bmc.h"
#include "bench/mesh.h"
#include "host/host.h"

/* Whether each of n rows stands in the list once. */
static PetscErrorCode IsPermutation(PetscInt n, const PetscInt *row, PetscBool *is)
{
  IS list;

  PetscFunctionBegin;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, row, PETSC_COPY_VALUES, &list));
  PetscCall(ISGetInfo(list, IS_PERMUTATION, IS_LOCAL, PETSC_TRUE, is));
  PetscCall(ISDestroy(&list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of L of ILU(0) in that order. */
static PetscErrorCode Levels(PetscInt n, const PetscInt *ptr, const PetscInt *col, const PetscInt *row, PetscInt *levels)
{
  const SyncILUCSR  csr  = {.n = n, .nnz = ptr[n], .i = ptr, .j = col};
  const SyncILUFill fill = {0, 0};
  SyncILUPattern    p;
  PetscInt         *level, width;

  PetscFunctionBegin;
  PetscCall(SyncILUPatternCreate(&csr, row, row, fill, &p));
  PetscCall(PetscMalloc1(n, &level));
  PetscCall(SyncILUHostLevels(n, p.lptr, p.lcol, PETSC_TRUE, level, levels, &width));
  PetscCall(PetscFree(level));
  PetscCall(SyncILUPatternDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckOrder(PetscInt n, const PetscInt *ptr, const PetscInt *col, PetscInt size, const SyncILUBMC *o, const char *name)
{
  PetscInt *block, *color, shared = 0, split = 0, levels;
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(IsPermutation(n, o->row, &is));
  CHECK(is, "%s: no permutation", name);
  CHECK(o->begin[0] == 0 && o->begin[o->blocks] == n && o->first[0] == 0 && o->first[o->colors] == o->blocks, "%s: blocks or colors leave rows out", name);
  if (!is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(n, &block, n, &color));
  for (PetscInt c = 0; c < o->colors; c++) {
    CHECK(o->first[c] < o->first[c + 1], "%s: color %" PetscInt_FMT " has no block", name, c);
    for (PetscInt b = o->first[c]; b < o->first[c + 1]; b++) {
      const PetscInt rows = o->begin[b + 1] - o->begin[b];

      CHECK(rows > 0 && rows <= size, "%s: block %" PetscInt_FMT " has %" PetscInt_FMT " rows", name, b, rows);
      for (PetscInt p = o->begin[b]; p < o->begin[b + 1]; p++) {
        CHECK(p == o->begin[b] || o->row[p] > o->row[p - 1], "%s: the rows of block %" PetscInt_FMT " do not ascend", name, b);
        block[o->row[p]] = b;
        color[o->row[p]] = c;
      }
    }
  }
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) {
      if (color[i] == color[col[k]] && block[i] != block[col[k]]) shared++;
    }
  }
  /* successive rows with the same columns are in one block, if a block is large enough */
  for (PetscInt head = 0, i; head < n; head = i) {
    const PetscInt len  = ptr[head + 1] - ptr[head];
    PetscBool      same = PETSC_TRUE;

    for (i = head + 1; i < n && ptr[i + 1] - ptr[i] == len; i++) {
      PetscCall(PetscArraycmp(col + ptr[i], col + ptr[head], len, &same));
      if (!same) break;
    }
    if (i - head > size) continue;
    for (PetscInt k = head; k < i; k++) split += block[k] != block[head];
  }
  CHECK(!shared, "%s: %" PetscInt_FMT " entries between blocks of one color", name, shared);
  CHECK(!split, "%s: %" PetscInt_FMT " rows are apart from others with the same columns", name, split);
  PetscCall(Levels(n, ptr, col, o->row, &levels));
  CHECK(levels <= o->colors * size, "%s: %" PetscInt_FMT " levels with %" PetscInt_FMT " colors", name, levels, o->colors);
  PetscCall(PetscFree2(block, color));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All patterns, of 0 rows, 1 and more; unsymmetric ones, dense rows and columns, rows in a random order. */
static PetscErrorCode TestPatterns(PetscRandom rand)
{
  const PetscInt rows[] = {0, 1, 33, 1500}, sizes[] = {1, 2, 7, 32, 4000};

  PetscFunctionBegin;
  for (int m = 0; GeneratePatterns[m]; m++) {
    for (int r = 0; r < 4; r++) {
      Mat             A;
      PetscInt        n;
      const PetscInt *ptr, *col;
      PetscBool       done;

      PetscCall(GenerateMatrix(GeneratePatterns[m], rows[r], rand, &A));
      PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
      CHECK(done, "%s: no rows", GeneratePatterns[m]);
      for (int s = 0; s < 10; s++) {
        const PetscInt  size  = sizes[s / 2];
        const PetscBool along = (PetscBool)(s & 1);
        SyncILUBMC      o, again;
        PetscBool       same;
        char            name[128];

        PetscCall(PetscSNPrintf(name, sizeof(name), "%s of %" PetscInt_FMT " rows, size %" PetscInt_FMT "%s", GeneratePatterns[m], n, size,
                                along ? ", along the numbering" : ""));
        PetscCall(SyncILUBMCCreate(n, ptr, col, size, along, &o));
        PetscCall(CheckOrder(n, ptr, col, size, &o, name));
        PetscCall(SyncILUBMCCreate(n, ptr, col, size, along, &again));
        PetscCall(PetscArraycmp(o.row, again.row, n, &same));
        CHECK(same, "%s: another order the second time", name);
        PetscCall(SyncILUBMCDestroy(&o));
        PetscCall(SyncILUBMCDestroy(&again));
      }
      PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of some pattern, its rows, and their order in blocks of 32. */
typedef struct {
  Mat             A;
  PetscInt        n;
  const PetscInt *ptr, *col;
  SyncILUBMC      o;
} Ordered;

static PetscErrorCode OrderedCreate(const char *pattern, PetscBool along, PetscRandom rand, Ordered *m)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(pattern, 0, rand, &m->A));
  PetscCall(MatGetRowIJ(m->A, 0, PETSC_FALSE, PETSC_FALSE, &m->n, &m->ptr, &m->col, &done));
  CHECK(done, "%s: no rows", pattern);
  PetscCall(SyncILUBMCCreate(m->n, m->ptr, m->col, 32, along, &m->o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OrderedDestroy(Ordered *m)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(SyncILUBMCDestroy(&m->o));
  PetscCall(MatRestoreRowIJ(m->A, 0, PETSC_FALSE, PETSC_FALSE, &m->n, &m->ptr, &m->col, &done));
  PetscCall(MatDestroy(&m->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rows are matched where they are in a random order, and on grids whose lines are longer than a block; there
   are few colors.
*/
static PetscErrorCode TestMatched(PetscRandom rand)
{
  const char *const names[]   = {"5pt:40x40", "5pt_random:40x40", "7pt:40x7x7", "7pt_random:12x12x12", "tridiagonal:2000"};
  const PetscBool   matched[] = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE};
  const PetscInt    colors[]  = {6, 7, 10, 12, 2};

  PetscFunctionBegin;
  for (int m = 0; m < 5; m++) {
    Ordered q;

    PetscCall(OrderedCreate(names[m], PETSC_FALSE, rand, &q));
    CHECK(q.o.matched == matched[m], "%s: matched %d", names[m], (int)q.o.matched);
    CHECK(q.o.colors <= colors[m], "%s: %" PetscInt_FMT " colors", names[m], q.o.colors);
    CHECK(q.o.blocks <= q.n / 12, "%s: %" PetscInt_FMT " blocks for %" PetscInt_FMT " rows", names[m], q.o.blocks, q.n);
    PetscCall(OrderedDestroy(&q));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Points of several unknowns: along a curve blocks have a power of two of them where as many as there is room
   for are scattered, and may have colors along it; in a random order they are matched, and as large as they can be.
*/
static PetscErrorCode TestAligned(PetscRandom rand)
{
  const struct {
    const char *name;
    PetscInt    size;
    PetscBool   matched;
  } cases[] = {
    {"15pt_dof3_morton:16x16x16",  24, PETSC_FALSE},
    {"5pt_dof3_morton:32x32",      24, PETSC_FALSE},
    {"5pt_dof4_morton:32x32",      32, PETSC_FALSE},
    {"15pt_dof3:12x12x12",         32, PETSC_TRUE },
    {"elasticity_random:12x12x12", 32, PETSC_TRUE },
  };

  PetscFunctionBegin;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    for (int along = 0; along < 2; along++) {
      Ordered q;

      PetscCall(OrderedCreate(cases[c].name, (PetscBool)along, rand, &q));
      PetscCall(CheckOrder(q.n, q.ptr, q.col, q.o.size, &q.o, cases[c].name));
      CHECK(q.o.size == cases[c].size && q.o.matched == cases[c].matched && q.o.along == (along && !cases[c].matched),
            "%s: blocks of %" PetscInt_FMT " rows, matched %d, along the numbering %d", cases[c].name, q.o.size, (int)q.o.matched, (int)q.o.along);
      PetscCall(OrderedDestroy(&q));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Colors follow the numbering where it has short chains: of the blocks with long rows few are before all of
   their neighbours, or behind all. One chain is colored by turns.
*/
static PetscErrorCode TestFollowed(PetscRandom rand)
{
  const char *const names[]  = {"5pt_morton:64x64", "triangles_morton:64x64", "15pt_morton:24x24x24", "tridiagonal:2000"};
  const PetscInt    colors[] = {6, 6, 12, 2};

  PetscFunctionBegin;
  for (int m = 0; m < 4; m++) {
    Ordered  q;
    PetscInt first = 0, last = 0, *color;

    PetscCall(OrderedCreate(names[m], PETSC_TRUE, rand, &q));
    PetscCall(CheckOrder(q.n, q.ptr, q.col, 32, &q.o, names[m]));
    PetscCall(PetscMalloc1(q.n, &color));
    for (PetscInt c = 0; c < q.o.colors; c++)
      for (PetscInt p = q.o.begin[q.o.first[c]]; p < q.o.begin[q.o.first[c + 1]]; p++) color[q.o.row[p]] = c;
    for (PetscInt b = 0; b < q.o.blocks; b++) {
      const PetscInt own       = color[q.o.row[q.o.begin[b]]];
      PetscBool      before[2] = {PETSC_FALSE, PETSC_FALSE}; /* whether a neighbour is before the block, and behind it */

      for (PetscInt p = q.o.begin[b]; p < q.o.begin[b + 1]; p++)
        for (PetscInt e = q.ptr[q.o.row[p]]; e < q.ptr[q.o.row[p] + 1]; e++)
          if (color[q.col[e]] != own) before[color[q.col[e]] > own] = PETSC_TRUE;
      first += !before[0];
      last += !before[1];
    }
    CHECK(!q.o.matched && q.o.along == (m < 3) && q.o.colors <= colors[m], "%s: matched %d, along the numbering %d, %" PetscInt_FMT " colors", names[m],
          (int)q.o.matched, (int)q.o.along, q.o.colors);
    CHECK(m != 2 || (6 * first < q.o.blocks && 6 * last < q.o.blocks),
          "%s: %" PetscInt_FMT " of %" PetscInt_FMT " blocks are before all neighbours, %" PetscInt_FMT " behind", names[m], first, q.o.blocks, last);
    PetscCall(PetscFree(color));
    PetscCall(OrderedDestroy(&q));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full rows come last, where blocks are cut and where they are matched. */
static PetscErrorCode TestFullRows(PetscRandom rand)
{
  const char *const names[] = {"7pt_border:20x20x20", "5pt_border:40x40", "arrow:3000", "arrowup:3000", "denserow:3000"};
  const PetscInt    full[]  = {8000, 1600, 0, 2999, -1};

  PetscFunctionBegin;
  for (int m = 0; m < 5; m++) {
    Mat             A;
    PetscInt        n, place = 0;
    const PetscInt *ptr, *col;
    PetscBool       done;
    SyncILUBMC      o;

    PetscCall(GenerateMatrix(names[m], 0, rand, &A));
    PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
    for (PetscInt size = 8; size <= 32; size += 24) {
      place = 0;
      PetscCall(SyncILUBMCCreate(n, ptr, col, size, PETSC_FALSE, &o));
      PetscCall(CheckOrder(n, ptr, col, size, &o, names[m]));
      while (full[m] >= 0 && o.row[place] != full[m]) place++;
      CHECK(full[m] < 0 || place >= o.begin[o.first[o.colors - 1]], "%s: the full row has place %" PetscInt_FMT, names[m], place);
      PetscCall(SyncILUBMCDestroy(&o));
    }
    PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The block rows of a baij matrix are ordered, as by PETSc's own orderings. */
static PetscErrorCode TestBlockRows(PetscRandom rand)
{
  Mat      A, B;
  Vec      b, x;
  KSP      ksp;
  PetscInt n, its[2];

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("blocks:9x8x7", 0, rand, &A));
  PetscCall(MatSetBlockSize(A, 5));
  PetscCall(MatConvert(A, MATSEQBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSetRandom(b, rand));
  for (int k = 0; k < 2; k++) {
    IS row, col;
    PC pc;

    PetscCall(MatGetOrdering(B, k ? MATORDERINGBMC : MATORDERINGRCM, &row, &col));
    PetscCall(ISGetLocalSize(row, &n));
    CHECK(n == 9 * 8 * 7, "an ordering of %" PetscInt_FMT " block rows", n);
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, B, B));
    PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200));
    PetscCall(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCILU));
    PetscCall(PCFactorSetMatOrderingType(pc, k ? MATORDERINGBMC : MATORDERINGRCM));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPDestroy(&ksp));
  }
  CHECK(its[1] <= 2 * its[0], "%" PetscInt_FMT " iterations, %" PetscInt_FMT " with rcm", its[1], its[0]);
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Both ILUs take the same iterations, and PETSc's incomplete Cholesky and LU take the ordering too.
*/
static PetscErrorCode TestFactorizations(void)
{
  const char *const lines[] = {"", " -pc_factor_levels 1", " -pc_factor_levels 2 -mat_ordering_bmc_size 5", " -pc_factor_nonzeros_along_diagonal",
                               " -mat_ordering_bmc_size 1"};
  Problem           p;
  PetscInt          its[2], natural;
  char              options[256];

  PetscFunctionBegin;
  PetscCall(ProblemCreate(12, 3.0, &p));
  for (int k = 0; k < 5; k++) {
    for (int ours = 0; ours < 2; ours++) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_error_if_not_converged -ksp_type gmres -pc_type %s -pc_factor_mat_ordering_type bmc%s",
                              ours ? "syncilu" : "ilu", lines[k]));
      PetscCall(SolveWith(&p, options, &its[ours], NULL));
    }
    CHECK(its[0] == its[1], "%s: %" PetscInt_FMT " iterations, PETSc's ilu takes %" PetscInt_FMT, options, its[1], its[0]);
  }
  PetscCall(SolveWith(&p, "-ksp_error_if_not_converged -ksp_type gmres -pc_type syncilu", &natural, NULL));
  PetscCall(SolveWith(&p, "-ksp_error_if_not_converged -ksp_type gmres -pc_type syncilu -pc_factor_mat_ordering_type bmc", &its[0], NULL));
  CHECK(its[0] <= 2 * natural, "%" PetscInt_FMT " iterations, %" PetscInt_FMT " in the natural ordering", its[0], natural);
  PetscCall(SolveWith(&p, "-ksp_error_if_not_converged -ksp_type richardson -ksp_max_it 2 -pc_type lu -pc_factor_mat_ordering_type bmc", &its[0], NULL));
  PetscCall(ProblemDestroy(&p));
  PetscCall(ProblemCreate(12, 0.0, &p));
  PetscCall(SolveWith(&p, "-ksp_error_if_not_converged -ksp_type cg -pc_type icc -pc_factor_mat_ordering_type bmc", &its[0], NULL));
  PetscCall(SolveWith(&p, "-ksp_error_if_not_converged -ksp_type cg -pc_type syncilu -pc_factor_mat_ordering_type bmc", &its[1], NULL));
  CHECK(its[0] == its[1], "%" PetscInt_FMT " iterations, PETSc's icc takes %" PetscInt_FMT, its[1], its[0]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Iterations on meshes in the ordering bmc, over those in the order of the mesh at the same levels of fill: what was
   found (1.2 at most), and about a tenth more. With half of the relaxation, of which 0.83 to 1.17 times those in the
   order of the mesh were found, CG and GMRES may take 1.25 times, BiCGStab 1.4. With colors along the numbering all
   may take 1.25 times.
*/
static PetscErrorCode TestMeshes(void)
{
  const struct {
    MeshProblem problem;
    PetscInt    n;
    const char *method;
    PetscReal   most[3]; /* with 0 and 1 levels of fill, and relaxed */
  } cases[] = {
    {MESH_LAPLACE_2D, 100, "cg",                          {1.2, 1.3, 1.25}  },
    {MESH_LAPLACE,    24,  "cg",                          {1.15, 1.2, 1.25} },
    {MESH_ELASTICITY, 12,  "cg",                          {1.15, 1.25, 1.25}},
    {MESH_LAPLACE,    24,  "gmres -ksp_gmres_restart 60", {1.15, 1.2, 1.25} },
    {MESH_CONVECTION, 30,  "gmres -ksp_gmres_restart 60", {1.25, 1.3, 1.25} },
    {MESH_LAPLACE,    24,  "bcgs",                        {1.15, 1.15, 1.4} },
    {MESH_CONVECTION, 30,  "bcgs",                        {1.2, 1.2, 1.4}   },
  };
  const char *const lines[] = {"", " -pc_factor_levels 1", " -pc_syncilu_relax 0.5", " -mat_ordering_bmc_along_numbering",
                               " -mat_ordering_bmc_along_numbering -pc_factor_levels 1"};
  const int         level[] = {0, 1, 0, 0, 1};

  PetscFunctionBegin;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    Problem  p;
    PetscInt natural[2], its;

    PetscCall(MeshCreate(PETSC_COMM_SELF, cases[c].problem, cases[c].n, &p.A));
    PetscCall(MatCreateVecs(p.A, &p.x, &p.b));
    PetscCall(VecSet(p.b, 1.0));
    for (int bmc = 0; bmc < 2; bmc++) {
      for (int line = 0; line < (bmc ? 5 : 2); line++) {
        char options[256];

        PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_error_if_not_converged -ksp_type %s -pc_type syncilu -pc_factor_mat_ordering_type %s%s",
                                cases[c].method, bmc ? MATORDERINGBMC : MATORDERINGNATURAL, lines[line]));
        PetscCall(SolveWith(&p, options, &its, NULL));
        if (!bmc) natural[line] = its;
        else
          CHECK(its <= (line < 3 ? cases[c].most[line] : 1.25) * natural[level[line]],
                "%s, %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " in the order of the mesh", MeshProblems[cases[c].problem], options, its,
                natural[level[line]]);
      }
    }
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The view with these options, for a solver with the prefix a_ and a matrix with the prefix m_. A refusal is returned,
   and leaves neither solver nor options behind.
*/
static PetscErrorCode ViewWith(Mat A, const char *type, const char *options, char *view, size_t len)
{
  KSP            ksp;
  PC             pc;
  PetscOptions   db;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(CheckOptionsBegin(options, &db));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "a_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSYNCILU));
  ierr = KSPSetFromOptions(ksp);
  if (!ierr) ierr = KSPSetUp(ksp);
  if (!ierr) ierr = CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, view, len);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(CheckOptionsEnd(&db));
  PetscFunctionReturn(ierr);
}

static PetscErrorCode TestBadColumns(void)
{
  const PetscInt ptr[] =
    {
      0, 1, 3
  },
                 col[2][3] = {{0, 1, 2}, {0, -1, 1}};
  SyncILUBMC o;

  PetscFunctionBegin;
  CHECK_ERROR(SyncILUBMCCreate(2, ptr, col[0], 32, PETSC_FALSE, &o), PETSC_ERR_ARG_OUTOFRANGE, "Row 1 has column 2, the matrix has 2 columns");
  CHECK_ERROR(SyncILUBMCCreate(2, ptr, col[1], 32, PETSC_FALSE, &o), PETSC_ERR_ARG_OUTOFRANGE, "Row 1 has column -1, the matrix has 2 columns");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A grid without one of its entries is not symmetric: rows of one color still share none of the others. */
static PetscErrorCode TestNearlySymmetric(PetscRandom rand)
{
  Mat             A;
  PetscInt        n, *rows, *cols;
  const PetscInt *ptr, *col;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("5pt:7x5", 0, rand, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
  PetscCall(PetscMalloc2(n + 1, &rows, ptr[n], &cols));
  for (PetscInt without = 0; without < ptr[n]; without++) {
    SyncILUBMC o;
    PetscInt   k = 0;
    char       name[64];

    for (PetscInt i = 0; i < n; i++) {
      rows[i] = k;
      for (PetscInt e = ptr[i]; e < ptr[i + 1]; e++) {
        if (e != without || col[e] == i) cols[k++] = col[e]; /* but for the diagonal, which the symbolic phase wants */
      }
    }
    rows[n] = k;
    PetscCall(PetscSNPrintf(name, sizeof(name), "grid without entry %" PetscInt_FMT, without));
    for (PetscInt size = 1; size < 5; size += 3) {
      PetscCall(SyncILUBMCCreate(n, rows, cols, size, PETSC_FALSE, &o));
      PetscCall(CheckOrder(n, rows, cols, size, &o, name));
      PetscCall(SyncILUBMCDestroy(&o));
    }
  }
  PetscCall(PetscFree2(rows, cols));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ptr, &col, &done));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOptions(PetscRandom rand)
{
  static char view[1 << 14];
  Mat         A;
  PC          pc;
  PetscInt    size;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("5pt:40x40", 0, rand, &A));
  PetscCall(MatSetOptionsPrefix(A, "m_"));
  PetscCall(ViewWith(A, PCSYNCILU, "-a_pc_factor_mat_ordering_type bmc", view, sizeof(view)));
  CHECK(strstr(view, "blocks of at most 32 rows, matched along the entries, in "), "%s", view);
  PetscCall(MatDestroy(&A));
  PetscCall(GenerateMatrix("triangles_morton:64x64", 0, rand, &A));
  PetscCall(MatSetOptionsPrefix(A, "m_"));
  for (int k = 0; k < 4; k++) { /* by the prefix of the preconditioner, by that of the matrix, and of a preconditioner of PETSc */
    const char *const along[] = {"", " -a_mat_ordering_bmc_along_numbering", " -m_mat_ordering_bmc_along_numbering", " -m_mat_ordering_bmc_along_numbering"};

    PetscCall(PetscSNPrintf(view, sizeof(view), "-a_pc_factor_mat_ordering_type bmc%s", along[k]));
    PetscCall(ViewWith(A, k < 3 ? PCSYNCILU : PCILU, view, view, sizeof(view)));
    CHECK(strstr(view, "cut from the numbering, in ") && !strstr(view, " colors along it") == !k, "%d: %s", k, view);
  }
  /* what the preconditioner's option says goes before, also where it says no */
  PetscCall(ViewWith(A, PCSYNCILU, "-a_pc_factor_mat_ordering_type bmc -m_mat_ordering_bmc_along_numbering -a_mat_ordering_bmc_along_numbering false", view,
                     sizeof(view)));
  CHECK(strstr(view, "cut from the numbering, in ") && !strstr(view, " colors along it"), "%s", view);
  PetscCall(ViewWith(A, PCSYNCILU, "-a_pc_factor_mat_ordering_type bmc -m_mat_ordering_bmc_size 9", view, sizeof(view)));
  CHECK(strstr(view, "blocks of at most 9 rows"), "%s", view);
  PetscCall(ViewWith(A, PCSYNCILU, "-a_pc_factor_mat_ordering_type bmc -m_mat_ordering_bmc_size 9 -a_mat_ordering_bmc_size 11", view, sizeof(view)));
  CHECK(strstr(view, "blocks of at most 11 rows"), "%s", view);
  PetscCall(ViewWith(A, PCILU, "-a_pc_factor_mat_ordering_type bmc -m_mat_ordering_bmc_size 9", view, sizeof(view)));
  CHECK(strstr(view, "blocks of at most 9 rows"), "%s", view);
  PetscCall(ViewWith(A, PCILU, "-a_pc_factor_mat_ordering_type rcm", view, sizeof(view)));
  CHECK(!strstr(view, "blocks of at most"), "%s", view);
  for (int k = 0; k < 2; k++) {
    PetscCall(ViewWith(A, k ? PCSYNCILU : PCILU, "-a_pc_factor_mat_ordering_type syncilu", view, sizeof(view)));
    CHECK(strstr(view, "ordering: syncilu takes natural: the host goes through the rows in their order"), "%s", view);
  }
  CHECK_ERROR(ViewWith(A, PCSYNCILU, "-a_pc_factor_mat_ordering_type bmc -a_mat_ordering_bmc_size 0", view, sizeof(view)), PETSC_ERR_ARG_OUTOFRANGE,
              "-mat_ordering_bmc_size: 0 is not a number of rows");
  CHECK_ERROR(ViewWith(A, PCILU, "-a_pc_factor_mat_ordering_type bmc -m_mat_ordering_bmc_size -3", view, sizeof(view)), PETSC_ERR_ARG_OUTOFRANGE,
              "-mat_ordering_bmc_size: -3 is not a number of rows");

  /* a preconditioner that is set up takes another size; with another ordering the view forgets this one */
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGBMC));
  for (size = 4; size < 6; size++) {
    char option[64], want[64];

    PetscCall(PetscSNPrintf(option, sizeof(option), "-mat_ordering_bmc_size %" PetscInt_FMT, size));
    PetscCall(PetscSNPrintf(want, sizeof(want), "blocks of at most %" PetscInt_FMT " rows", size));
    PetscCall(PetscOptionsInsertString(NULL, option));
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetUp(pc));
    PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, view, sizeof(view)));
    CHECK(strstr(view, want), "%s: %s", option, view);
  }
  PetscCall(PetscOptionsClearValue(NULL, "-mat_ordering_bmc_size"));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGND));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, view, sizeof(view)));
  CHECK(!strstr(view, "blocks of at most"), "%s", view);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));

  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 3, 3, NULL, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  {
    IS row, col;

    CHECK_ERROR(MatGetOrdering(A, MATORDERINGBMC, &row, &col), PETSC_ERR_SUP, "cannot get the rows of a matrix of type seqdense");
    CHECK_ERROR(MatGetOrdering(A, MATORDERINGSYNCILU, &row, &col), PETSC_ERR_SUP, "cannot get the rows of a matrix of type seqdense");
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A kept ordering is that of the matrix it was made for, as in PETSc's ILU, whenever it is said to be kept. */
static PetscErrorCode TestKept(PetscRandom rand)
{
  const char *const types[] = {PCILU, PCSYNCILU};
  Mat               A[2];
  Vec               x, y[2];
  PetscReal         norm, apart;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("5pt:12x12", 0, rand, &A[0]));
  PetscCall(GenerateMatrix("5pt_random:12x12", 0, rand, &A[1]));
  PetscCall(MatCreateVecs(A[0], &x, &y[0]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  PetscCall(VecSetRandom(x, rand));
  for (int late = 0; late < 3; late++) { /* 2: not at all */
    for (int t = 0; t < 2; t++) {
      PC pc;

      PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
      PetscCall(PCSetType(pc, types[t]));
      PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGBMC));
      if (late == 0) PetscCall(PCFactorSetReuseOrdering(pc, PETSC_TRUE));
      PetscCall(PCSetOperators(pc, A[0], A[0]));
      PetscCall(PCSetUp(pc));
      if (late == 1) PetscCall(PCFactorSetReuseOrdering(pc, PETSC_TRUE));
      PetscCall(PCSetUp(pc));
      PetscCall(PCSetOperators(pc, A[1], A[1]));
      PetscCall(PCSetUp(pc));
      PetscCall(PCApply(pc, x, y[t]));
      PetscCall(PCDestroy(&pc));
    }
    PetscCall(VecNorm(y[0], NORM_2, &norm));
    PetscCall(VecAXPY(y[1], -1.0, y[0]));
    PetscCall(VecNorm(y[1], NORM_2, &apart));
    CHECK(apart <= 1e-12 * norm, "ordering %s: %g of %g apart", late == 2 ? "made anew" : late ? "kept later" : "kept", (double)apart, (double)norm);
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&A[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetFromOptions(rand));
  PetscCall(TestPatterns(rand));
  PetscCall(TestMatched(rand));
  PetscCall(TestAligned(rand));
  PetscCall(TestFollowed(rand));
  PetscCall(TestBadColumns());
  PetscCall(TestNearlySymmetric(rand));
  PetscCall(TestFullRows(rand));
  PetscCall(TestBlockRows(rand));
  PetscCall(TestFactorizations());
  PetscCall(TestMeshes());
  PetscCall(TestOptions(rand));
  PetscCall(TestKept(rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("ordering");
  PetscCall(PetscFinalize());
  return failed;
}
