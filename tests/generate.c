#include "generate.h"
#include "compat.h"

const char *const GeneratePatterns[] = {"diagonal", "bidiagonal", "tridiagonal", "arrow", "arrowup",    "denserow",    "densecolumn",       "random",   "random200",      "powerlaw", "5pt", "7pt", "27pt", "5pt_random", "7pt_random", "27pt_random",
                                        "5pt_rcm",  "7pt_rcm",    "27pt_rcm",    "15pt",  "elasticity", "15pt_random", "elasticity_random", "15pt_rcm", "elasticity_rcm", NULL};

/* What stands on the points of a grid. */
typedef struct {
  const char *name;
  PetscInt    dim;
  PetscInt    dof; /* unknowns a point, all of which two neighbors share */
  enum {
    STAR, /* neighbors differ in one coordinate */
    KUHN, /* in some coordinates, all in the same sense: the edges of cubes cut into six tetrahedra each */
    BOX   /* in any coordinates */
  } shape;
} Stencil;

static const Stencil stencils[] = {
  {"5pt",        2, 1, STAR},
  {"7pt",        3, 1, STAR},
  {"15pt",       3, 1, KUHN},
  {"27pt",       3, 1, BOX },
  {"elasticity", 3, 3, BOX }
};

/* Rows under construction: columns of one row at a time. */
typedef struct {
  PetscInt  n, nz, max;
  PetscInt *i, *j;
} Rows;

static PetscErrorCode Add(Rows *r, PetscInt col)
{
  PetscFunctionBegin;
  if (r->nz == r->max) {
    PetscInt *j;

    r->max = 2 * r->max + 1024;
    PetscCall(PetscMalloc1(r->max, &j));
    PetscCall(PetscArraycpy(j, r->j, r->nz));
    PetscCall(PetscFree(r->j));
    r->j = j;
  }
  r->j[r->nz++] = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EndRow(Rows *r, PetscInt row)
{
  PetscInt len;

  PetscFunctionBegin;
  len = r->nz - r->i[row];
  PetscCall(PetscSortRemoveDupsInt(&len, r->j + r->i[row]));
  r->nz         = r->i[row] + len;
  r->i[row + 1] = r->nz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pick(PetscRandom rand, PetscInt n, PetscInt *k)
{
  PetscReal v;

  PetscFunctionBegin;
  PetscCall(PetscRandomGetValueReal(rand, &v));
  *k = PetscMin(n - 1, (PetscInt)(v * (PetscReal)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Grid(Rows *r, const PetscInt m[3], const Stencil *s)
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < r->n; row++) {
    const PetscInt p = row / s->dof, x = p % m[0], y = p / m[0] % m[1], z = p / m[0] / m[1];

    for (PetscInt dz = -1; dz <= 1; dz++) {
      for (PetscInt dy = -1; dy <= 1; dy++) {
        for (PetscInt dx = -1; dx <= 1; dx++) {
          if (s->shape == STAR && PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz) > 1) continue;
          if (s->shape == KUHN && PetscMin(dx, PetscMin(dy, dz)) < 0 && PetscMax(dx, PetscMax(dy, dz)) > 0) continue;
          if (x + dx < 0 || x + dx >= m[0] || y + dy < 0 || y + dy >= m[1] || z + dz < 0 || z + dz >= m[2]) continue;
          for (PetscInt c = 0; c < s->dof; c++) PetscCall(Add(r, (p + dx + m[0] * (dy + m[1] * dz)) * s->dof + c));
        }
      }
    }
    r->i[row + 1] = r->nz; /* ascending already */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points in each direction: those given behind the colon of the name, else as many as n rows allow. */
static PetscErrorCode GridSize(const Stencil *s, const char *size, PetscInt n, PetscInt m[3])
{
  m[0] = m[1] = m[2] = 1;
  PetscFunctionBegin;
  if (size) {
    int       given[3] = {1, 1, 1};
    const int count    = sscanf(size, "%dx%dx%d", &given[0], &given[1], &given[2]);

    PetscCheck(count == s->dim && given[0] > 0 && given[1] > 0 && given[2] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s:%s: want the points in %" PetscInt_FMT " directions", s->name, size, s->dim);
    for (PetscInt d = 0; d < s->dim; d++) m[d] = given[d];
  } else {
    PetscInt k = 1;

    while (s->dof * (k + 1) * (k + 1) * (s->dim == 3 ? k + 1 : 1) <= n) k++;
    for (PetscInt d = 0; d < s->dim; d++) m[d] = n ? k : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateValues(Mat A, PetscRandom rand)
{
  const PetscInt *ai, *aj;
  PetscScalar    *a;
  PetscReal      *sum, re, im;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ai, &aj, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No access to the rows");
  PetscCall(MatSeqAIJGetArray(A, &a));
  PetscCall(PetscCalloc1(2 * n, &sum));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; k++) {
      PetscCall(PetscRandomGetValueReal(rand, &re));
      PetscCall(PetscRandomGetValueReal(rand, &im));
#if defined(PETSC_USE_COMPLEX)
      a[k] = PetscCMPLX(2 * re - 1, 2 * im - 1);
#else
      a[k] = 2 * re - 1;
#endif
      if (aj[k] != i) {
        sum[i] += PetscAbsScalar(a[k]);
        sum[n + aj[k]] += PetscAbsScalar(a[k]);
      }
    }
  }
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = ai[i]; k < ai[i + 1]; k++) {
      if (aj[k] == i) a[k] = a[k] + (PetscScalar)(2.0 + PetscMax(sum[i], sum[n + i]));
    }
  }
  PetscCall(PetscFree(sum));
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &ai, &aj, &done));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Reorder(Mat *A, const char *kind, PetscRandom rand)
{
  IS        row, col;
  PetscBool rcm;
  Mat       B;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(kind, "rcm", &rcm));
  PetscCall(MatGetSize(*A, &n, NULL));
  if (rcm) PetscCall(MatGetOrdering(*A, MATORDERINGRCM, &row, &col));
  else {
    PetscInt *p;

    PetscCall(PetscMalloc1(n, &p));
    for (PetscInt i = 0; i < n; i++) p[i] = i;
    for (PetscInt i = n - 1; i > 0; i--) {
      PetscInt k = 0, t;

      PetscCall(Pick(rand, i + 1, &k));
      t    = p[i];
      p[i] = p[k];
      p[k] = t;
    }
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, p, PETSC_OWN_POINTER, &row));
    PetscCall(PetscObjectReference((PetscObject)row));
    col = row;
    PetscCall(ISSetPermutation(row));
  }
  PetscCall(MatPermute(*A, row, col, &B));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateMatrix(const char *name, PetscInt n, PetscRandom rand, Mat *A)
{
  Rows           r = {n, 0, 0, NULL, NULL};
  char           base[64], *order = NULL, *size = NULL;
  PetscBool      is[10];
  const char    *names[] = {"diagonal", "bidiagonal", "tridiagonal", "arrow", "arrowup", "denserow", "densecolumn", "random", "random200", "powerlaw"};
  const Stencil *stencil = NULL;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(base, name, sizeof(base)));
  PetscCall(PetscStrchr(base, ':', &size));
  if (size) *size++ = 0;
  PetscCall(PetscStrchr(base, '_', &order));
  if (order) *order++ = 0;
  for (int k = 0; k < 10; k++) PetscCall(PetscStrcmp(base, names[k], &is[k]));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(stencils); k++) {
    PetscBool same;

    PetscCall(PetscStrcmp(base, stencils[k].name, &same));
    if (same) stencil = &stencils[k];
  }
  if (stencil) {
    PetscInt m[3];

    PetscCall(GridSize(stencil, size, n, m));
    r.n = m[0] * m[1] * m[2] * stencil->dof;
    PetscCall(PetscCalloc1(r.n + 1, &r.i));
    PetscCall(Grid(&r, m, stencil));
  } else {
    if (size) {
      int given;

      PetscCheck(sscanf(size, "%d", &given) == 1 && given >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: want the number of rows behind the colon", name);
      n = r.n = given;
    }
    PetscCall(PetscCalloc1(n + 1, &r.i));
    for (PetscInt i = 0; i < n; i++) {
      PetscInt k = 0, extra = 0;

      PetscCall(Add(&r, i));
      if ((is[1] || is[2]) && i) PetscCall(Add(&r, i - 1));
      if (is[2] && i + 1 < n) PetscCall(Add(&r, i + 1));
      if (is[3] && i) PetscCall(Add(&r, 0)); /* full first column and, below, first row: all of the factor depends on row 0 */
      if (is[4] && i + 1 < n) PetscCall(Add(&r, n - 1));
      if ((is[3] && i == 0) || (is[4] && i == n - 1) || (is[5] && i == n / 2)) {
        for (k = 0; k < PetscMin(n, 200000); k++) PetscCall(Add(&r, k));
      }
      if (is[6]) PetscCall(Add(&r, n / 2));
      if (is[7] || is[5] || is[6]) extra = 7;
      if (is[8]) extra = PetscMin(199, n / 2);
      if (is[9]) {
        PetscReal v;

        PetscCall(PetscRandomGetValueReal(rand, &v));
        extra = (PetscInt)PetscMin(1000.0, 3.0 / PetscMax(v, 1e-3));
        extra = PetscMin(extra, n / 2);
      }
      for (PetscInt q = 0; q < extra; q++) {
        PetscCall(Pick(rand, n, &k));
        PetscCall(Add(&r, k));
      }
      PetscCall(EndRow(&r, i));
    }
    for (int k = 0, known = 0; k <= 10; k++) {
      if (k < 10) known = known || is[k];
      else PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown test matrix %s", name);
    }
  }
  PetscCall(PetscCalloc1(r.nz, &a));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, r.n, r.n, 0, NULL, A));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, r.i, r.j, a));
  PetscCall(PetscFree(r.i));
  PetscCall(PetscFree(r.j));
  PetscCall(PetscFree(a));
  if (order && r.n) PetscCall(Reorder(A, order, rand));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}
