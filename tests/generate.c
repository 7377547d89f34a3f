#include "generate.h"
#include "compat.h"

const char *const GeneratePatterns[] = {"diagonal",
                                        "bidiagonal",
                                        "tridiagonal",
                                        "arrow",
                                        "arrowup",
                                        "denserow",
                                        "densecolumn",
                                        "random",
                                        "random200",
                                        "powerlaw",
                                        "5pt",
                                        "7pt",
                                        "27pt",
                                        "5pt_random",
                                        "7pt_random",
                                        "27pt_random",
                                        "5pt_rcm",
                                        "7pt_rcm",
                                        "27pt_rcm",
                                        "15pt",
                                        "elasticity",
                                        "15pt_random",
                                        "elasticity_random",
                                        "15pt_rcm",
                                        "elasticity_rcm",
                                        "band",
                                        "longrows",
                                        "tridiagonal2",
                                        "5pt_periodic",
                                        "7pt_border",
                                        "hubs",
                                        NULL};

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

/* Periodic: the first and the last point of each line in the first direction are neighbors. */
static PetscErrorCode Grid(Rows *r, const PetscInt m[3], const Stencil *s, PetscBool periodic)
{
  PetscFunctionBegin;
  for (PetscInt row = 0; row < r->n; row++) {
    const PetscInt p = row / s->dof, x = p % m[0], y = p / m[0] % m[1], z = p / m[0] / m[1];

    for (PetscInt dz = -1; dz <= 1; dz++) {
      for (PetscInt dy = -1; dy <= 1; dy++) {
        for (PetscInt dx = -1; dx <= 1; dx++) {
          const PetscInt to = periodic ? (x + dx + m[0]) % m[0] : x + dx;

          if (s->shape == STAR && PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz) > 1) continue;
          if (s->shape == KUHN && PetscMin(dx, PetscMin(dy, dz)) < 0 && PetscMax(dx, PetscMax(dy, dz)) > 0) continue;
          if (to < 0 || to >= m[0] || y + dy < 0 || y + dy >= m[1] || z + dz < 0 || z + dz >= m[2]) continue;
          for (PetscInt c = 0; c < s->dof; c++) PetscCall(Add(r, (p - x + to + m[0] * (dy + m[1] * dz)) * s->dof + c));
        }
      }
    }
    if (periodic) PetscCall(EndRow(r, row));
    else r->i[row + 1] = r->nz; /* ascending already */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One more row and one more column, both full, as a mean value or a Lagrange multiplier adds them. */
static PetscErrorCode Border(Rows *r)
{
  Rows q = {r->n + 1, 0, 0, NULL, NULL};

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(q.n + 1, &q.i));
  for (PetscInt row = 0; row < q.n; row++) {
    if (row < r->n) {
      for (PetscInt k = r->i[row]; k < r->i[row + 1]; k++) PetscCall(Add(&q, r->j[k]));
      PetscCall(Add(&q, r->n));
    } else {
      for (PetscInt k = 0; k < q.n; k++) PetscCall(Add(&q, k));
    }
    q.i[row + 1] = q.nz;
  }
  PetscCall(PetscFree(r->i));
  PetscCall(PetscFree(r->j));
  *r = q;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The points in each direction: those given behind the colon of the name, else as many as fit into n rows, or
   into the rows given there.
*/
static PetscErrorCode GridSize(const Stencil *s, const char *size, PetscInt n, PetscInt m[3])
{
  int given[3] = {1, 1, 1};
  int count    = 0;

  PetscFunctionBegin;
  m[0] = m[1] = m[2] = 1;
  if (size) {
    count = sscanf(size, "%dx%dx%d", &given[0], &given[1], &given[2]);
    PetscCheck((count == s->dim && given[0] > 0 && given[1] > 0 && given[2] > 0) || (count == 1 && given[0] >= 0), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "%s:%s: want the number of rows or the points in %" PetscInt_FMT " directions", s->name, size, s->dim);
    if (count == 1) n = given[0];
  }
  if (count > 1) {
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

static PetscErrorCode Reorder(Mat *A, PetscBool rcm, PetscRandom rand)
{
  IS       row, col;
  Mat      B;
  PetscInt n;

  PetscFunctionBegin;
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

/* What has no grid. */
typedef enum {
  DIAGONAL,
  BIDIAGONAL,
  TRIDIAGONAL,
  TRIDIAGONAL2,
  ARROW,
  ARROWUP,
  DENSEROW,
  DENSECOLUMN,
  RANDOM,
  RANDOM200,
  POWERLAW,
  BAND,
  LONGROWS,
  HUBS,
  KINDS
} Kind;
static const char *const kinds[KINDS] = {"diagonal",    "bidiagonal", "tridiagonal", "tridiagonal2", "arrow", "arrowup",  "denserow",
                                         "densecolumn", "random",     "random200",   "powerlaw",     "band",  "longrows", "hubs"};

/* Entries in the columns from first to last, as far as there are such. */
static PetscErrorCode AddRange(Rows *r, PetscInt n, PetscInt first, PetscInt last)
{
  PetscFunctionBegin;
  for (PetscInt k = PetscMax(0, first); k <= PetscMin(n - 1, last); k++) PetscCall(Add(r, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillRow(Rows *r, Kind kind, PetscInt i, PetscRandom rand)
{
  const PetscInt n = r->n, most = 200000; /* entries of a full row */
  PetscInt       extra = 0;               /* entries in columns chosen at random */

  PetscFunctionBegin;
  PetscCall(Add(r, i));
  switch (kind) {
  case BIDIAGONAL:
    PetscCall(AddRange(r, n, i - 1, i));
    break;
  case TRIDIAGONAL:
    PetscCall(AddRange(r, n, i - 1, i + 1));
    break;
  case TRIDIAGONAL2:
    PetscCall(AddRange(r, n, i - 1, i + 1));
    if (i != n / 2) break;
    PetscCall(Add(r, n / 8));
    PetscCall(Add(r, n / 4));
    break;
  case ARROW: /* full first row and, below, first column: all of the factor depends on row 0 */
    PetscCall(Add(r, 0));
    if (i == 0) PetscCall(AddRange(r, n, 0, most - 1));
    break;
  case ARROWUP:
    PetscCall(Add(r, n - 1));
    if (i == n - 1) PetscCall(AddRange(r, n, 0, most - 1));
    break;
  case DENSEROW:
    if (i == n / 2) PetscCall(AddRange(r, n, 0, most - 1));
    extra = 7;
    break;
  case DENSECOLUMN:
    PetscCall(Add(r, n / 2));
    extra = 7;
    break;
  case RANDOM:
    extra = 7;
    break;
  case RANDOM200:
    extra = PetscMin(199, n / 2);
    break;
  case POWERLAW: {
    PetscReal v;

    PetscCall(PetscRandomGetValueReal(rand, &v));
    extra = (PetscInt)PetscMin(1000.0, 3.0 / PetscMax(v, 1e-3));
    extra = PetscMin(extra, n / 2);
    break;
  }
  case BAND:
    PetscCall(AddRange(r, n, i - 10, i + 10));
    break;
  case LONGROWS:
    extra = i % 100 == 50 ? PetscMin(n, 1500) : 8;
    break;
  case HUBS:
    PetscCall(AddRange(r, n, i - 40, i - 40));
    PetscCall(AddRange(r, n, i + 40, i + 40));
    if (i % 32 == 31) PetscCall(AddRange(r, n, i - 30, i + 30));
    break;
  default:
    break;
  }
  for (PetscInt q = 0; q < extra; q++) {
    PetscInt k = 0;

    PetscCall(Pick(rand, n, &k));
    PetscCall(Add(r, k));
  }
  PetscCall(EndRow(r, i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateMatrix(const char *name, PetscInt n, PetscRandom rand, Mat *A)
{
  const char *const suffixes[] = {"random", "rcm", "periodic", "border"};
  PetscBool         is[4]      = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  Rows              r          = {n, 0, 0, NULL, NULL};
  char              base[64], *suffix = NULL, *size = NULL;
  Kind              kind    = KINDS;
  const Stencil    *stencil = NULL;
  PetscScalar      *a;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(base, name, sizeof(base)));
  PetscCall(PetscStrchr(base, ':', &size));
  if (size) *size++ = 0;
  PetscCall(PetscStrchr(base, '_', &suffix));
  if (suffix) *suffix++ = 0;
  for (int k = 0; k < 4 && suffix; k++) PetscCall(PetscStrcmp(suffix, suffixes[k], &is[k]));
  for (int k = 0; k < KINDS; k++) {
    PetscBool same;

    PetscCall(PetscStrcmp(base, kinds[k], &same));
    if (same) kind = (Kind)k;
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(stencils); k++) {
    PetscBool same;

    PetscCall(PetscStrcmp(base, stencils[k].name, &same));
    if (same) stencil = &stencils[k];
  }
  PetscCheck((stencil || kind < KINDS) && (!suffix || is[0] || is[1] || is[2] || is[3]) && (stencil || !is[2]), PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "Unknown test matrix %s", name);
  if (stencil) {
    PetscInt m[3];

    PetscCall(GridSize(stencil, size, n, m));
    r.n = m[0] * m[1] * m[2] * stencil->dof;
    PetscCall(PetscCalloc1(r.n + 1, &r.i));
    PetscCall(Grid(&r, m, stencil, is[2]));
  } else {
    if (size) {
      int given;

      PetscCheck(sscanf(size, "%d", &given) == 1 && given >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: want the number of rows behind the colon",
                 name);
      r.n = given;
    }
    PetscCall(PetscCalloc1(r.n + 1, &r.i));
    for (PetscInt i = 0; i < r.n; i++) PetscCall(FillRow(&r, kind, i, rand));
  }
  if (is[3]) PetscCall(Border(&r));
  PetscCall(PetscCalloc1(r.nz, &a));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, r.n, r.n, 0, NULL, A));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, r.i, r.j, a));
  PetscCall(PetscFree(r.i));
  PetscCall(PetscFree(r.j));
  PetscCall(PetscFree(a));
  if ((is[0] || is[1]) && r.n) PetscCall(Reorder(A, is[1], rand));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}
