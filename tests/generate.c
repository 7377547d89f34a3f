#include <limits.h>
#include <math.h>
#include <string.h>
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
                                        "25pt",
                                        "blocks",
                                        "triangles",
                                        "triangles_morton",
                                        "15pt_morton",
                                        "quadtree",
                                        "classes",
                                        "lshape",
                                        NULL};

/* What stands on the points of a grid. */
typedef struct {
  const char *name;
  PetscInt    dim;
  PetscInt    dof;   /* unknowns a point, all of which two neighbors share */
  PetscInt    reach; /* most that a coordinate of two neighbors differs by */
  enum {
    STAR,     /* neighbors differ in one coordinate */
    DIAMOND,  /* the differences add up to the reach at most */
    FILLED,   /* in one coordinate, or in two in opposite senses: what a level of fill makes of seven points */
    KUHN,     /* in some coordinates, all in the same sense: the edges of cubes cut into six tetrahedra each */
    DIAGONAL, /* in one coordinate, or across a square, each of which has one of its two diagonals */
    BOX       /* in any coordinates */
  } shape;
} Stencil;

static const Stencil stencils[] = {
  {"5pt",        2, 1, 1, STAR    },
  {"9pt",        2, 1, 1, BOX     },
  {"7pt",        3, 1, 1, STAR    },
  {"15pt",       3, 1, 1, KUHN    },
  {"27pt",       3, 1, 1, BOX     },
  {"star13",     3, 1, 2, STAR    },
  {"diamond13",  3, 1, 1, FILLED  },
  {"diamond25",  3, 1, 2, DIAMOND },
  {"elasticity", 3, 3, 1, BOX     },
  {"25pt",       3, 1, 4, STAR    },
  {"blocks",     3, 5, 1, STAR    },
  {"pairs",      3, 2, 1, STAR    },
  {"triples",    2, 3, 1, STAR    },
  {"triangles",  2, 1, 1, DIAGONAL}
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

    PetscCheck(r->max < PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More than %" PetscInt_FMT " nonzeros", r->max);
    r->max = r->max < (PETSC_MAX_INT - 1024) / 2 ? 2 * r->max + 1024 : PETSC_MAX_INT;
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

/* Whether the square with this lower left corner has the diagonal from there; the same in each run. */
static PetscBool Rises(PetscInt x, PetscInt y)
{
  unsigned h = (unsigned)x * 0x9e3779b1u ^ (unsigned)y * 0x85ebca6bu;

  h = (h ^ h >> 15) * 0x2c1b3c6du;
  return (PetscBool)(h >> 31);
}

static PetscBool IsNeighbor(const Stencil *s, PetscInt x, PetscInt y, PetscInt dx, PetscInt dy, PetscInt dz)
{
  switch (s->shape) {
  case STAR:
    return (PetscBool)((dx != 0) + (dy != 0) + (dz != 0) <= 1);
  case DIAMOND:
    return (PetscBool)(PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz) <= s->reach);
  case FILLED:
    return (PetscBool)((dx != 0) + (dy != 0) + (dz != 0) <= 1 || (dx * dy * dz == 0 && dx + dy + dz == 0));
  case KUHN:
    return (PetscBool)(PetscMin(dx, PetscMin(dy, dz)) >= 0 || PetscMax(dx, PetscMax(dy, dz)) <= 0);
  case DIAGONAL:
    return (PetscBool)(!dz && (!dx || !dy || Rises(x + PetscMin(dx, 0), y + PetscMin(dy, 0)) == (dx == dy)));
  default:
    return PETSC_TRUE;
  }
}

/* The grid with all neighbors that a point has somewhere on it. */
static PetscErrorCode Neighbors(const Stencil *s, const PetscInt m[3], StencilGrid *g)
{
  const int side = 2 * (int)s->reach + 1, reach = (int)s->reach;

  PetscFunctionBegin;
  for (int c = 0; c < 3; c++) g->points[c] = (int)m[c];
  g->dof   = (int)s->dof;
  g->count = 0;
  for (int k = 0; k < side * side * side; k++) {
    const int d[3] = {k % side - reach, k / side % side - reach, k / side / side - reach};

    if (s->shape != DIAGONAL && !IsNeighbor(s, 0, 0, d[0], d[1], d[2])) continue;
    PetscCheck(g->count < STENCIL_MOST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: points have more than %d neighbors", s->name, STENCIL_MOST);
    for (int c = 0; c < 3; c++) g->near[g->count][c] = (signed char)d[c];
    g->count++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Periodic: the first and the last point of each line in the first direction are neighbors. */
static PetscErrorCode Grid(Rows *r, const PetscInt m[3], const Stencil *s, PetscBool periodic)
{
  StencilGrid g;

  PetscFunctionBegin;
  PetscCall(Neighbors(s, m, &g));
  r->max = (PetscInt)PetscMin(StencilNonzeros(&g), PETSC_MAX_INT); /* which those of a few grids are not */
  PetscCall(PetscMalloc1(r->max, &r->j));
  for (PetscInt row = 0; row < r->n; row++) {
    const PetscInt p = row / s->dof, x = p % m[0], y = p / m[0] % m[1], z = p / m[0] / m[1];

    for (PetscInt k = 0; k < g.count; k++) {
      const PetscInt dx = g.near[k][0], dy = g.near[k][1], dz = g.near[k][2], to = periodic ? (x + dx + s->reach * m[0]) % m[0] : x + dx;

      if (to < 0 || to >= m[0] || y + dy < 0 || y + dy >= m[1] || z + dz < 0 || z + dz >= m[2]) continue;
      if (s->shape == DIAGONAL && !IsNeighbor(s, x, y, dx, dy, dz)) continue;
      for (PetscInt c = 0; c < s->dof; c++) PetscCall(Add(r, (p - x + to + m[0] * (dy + m[1] * dz)) * s->dof + c));
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

/* The rows of such a grid, of which some may be added. */
static PetscErrorCode GridRows(const char *name, const PetscInt m[3], PetscInt dof, PetscInt *rows)
{
  const PetscReal all = (PetscReal)m[0] * (PetscReal)m[1] * (PetscReal)m[2] * (PetscReal)dof;

  PetscFunctionBegin;
  PetscCheck(all < PETSC_MAX_INT - 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: more than %" PetscInt_FMT " rows", name, PETSC_MAX_INT - 2);
  *rows = m[0] * m[1] * m[2] * dof;
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

PetscErrorCode GenerateSum(Mat A)
{
  Mat             B, both[2];
  const PetscInt *i[2], *j[2];
  PetscInt        n;
  PetscBool       done, same;

  PetscFunctionBegin;
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
  both[0] = A;
  both[1] = B;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatGetRowIJ(both[k], 0, PETSC_FALSE, PETSC_FALSE, &n, &i[k], &j[k], &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No access to the rows");
  }
  PetscCall(PetscArraycmp(i[0], i[1], n + 1, &same));
  if (same) PetscCall(PetscArraycmp(j[0], j[1], i[0][n], &same));
  for (int k = 0; k < 2; k++) PetscCall(MatRestoreRowIJ(both[k], 0, PETSC_FALSE, PETSC_FALSE, &n, &i[k], &j[k], &done));
  PetscCall(MatAXPY(A, 1.0, B, same ? SAME_NONZERO_PATTERN : DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many rows stay next to each other. */
static PetscErrorCode RandomOrder(PetscInt n, PetscInt together, PetscRandom rand, PetscInt *p)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) p[i] = i;
  for (PetscInt i = n / together - 1; i > 0; i--) {
    PetscInt k = 0;

    PetscCall(Pick(rand, i + 1, &k));
    for (PetscInt c = 0; c < together; c++) {
      const PetscInt t = p[i * together + c];

      p[i * together + c] = p[k * together + c];
      p[k * together + c] = t;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points of a grid along a Morton curve: a coordinate has every dim-th bit of a point's number on it. */
static void MortonOrder(const PetscInt m[3], const Stencil *s, PetscInt *p)
{
  PetscInt   next = 0;
  PetscInt64 cube = 1;

  while (cube < m[0] || cube < m[1] || cube < m[2]) cube *= 2;
  for (PetscInt64 code = 0; code < (s->dim == 3 ? cube : 1) * cube * cube; code++) {
    PetscInt x[3] = {0, 0, 0};

    for (int bit = 0; code >> bit; bit++) x[bit % s->dim] |= (PetscInt)(code >> bit & 1) << bit / s->dim;
    if (x[0] >= m[0] || x[1] >= m[1] || x[2] >= m[2]) continue;
    for (PetscInt c = 0; c < s->dof; c++) p[next++] = (x[0] + m[0] * (x[1] + m[1] * x[2])) * s->dof + c;
  }
}

/* In RCM order, or in that of p, which this destroys. */
static PetscErrorCode Reorder(Mat *A, PetscInt *p)
{
  IS       row, col;
  Mat      B;
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(*A, &n, NULL));
  if (!p) PetscCall(MatGetOrdering(*A, MATORDERINGRCM, &row, &col));
  else {
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

/* Squares of a quadtree, as those of the finest level that they cover. */
typedef struct {
  PetscInt  side, n;       /* squares of the finest level along a side, and squares in all */
  PetscInt *x, *y, *width; /* of each square; NULL while they are counted */
} Quadtree;

/*
   Cuts a square in four as long as it is wider than 16 squares of the finest level, or a circle goes through it
   and it is wider than one: in the order of the squares' numbers, which is a Morton curve.
*/
static void QuadtreeCut(Quadtree *q, PetscInt x, PetscInt y, PetscInt width)
{
  const double middle = 0.45 * q->side, radius = 0.3 * q->side, half = 0.5 * width, reach = 0.75 * width;
  const double far = hypot(x + half - middle, y + half - middle);

  if (width > 16 || (width > 1 && fabs(far - radius) < reach)) {
    for (int k = 0; k < 4; k++) QuadtreeCut(q, x + (k & 1) * (width / 2), y + (k >> 1) * (width / 2), width / 2);
    return;
  }
  if (q->x) {
    q->x[q->n]     = x;
    q->y[q->n]     = y;
    q->width[q->n] = width;
  }
  q->n++;
}

/* The finite volumes of the finest quadtree with at most n squares. Those that share a side are neighbors. */
static PetscErrorCode QuadtreeFill(Rows *r, PetscInt n)
{
  Quadtree  q = {1, 0, NULL, NULL, NULL};
  PetscInt *at;

  PetscFunctionBegin;
  for (PetscInt side = 1; n > 0 && side <= 1 << 14; side *= 2) {
    Quadtree finer = {side, 0, NULL, NULL, NULL};

    QuadtreeCut(&finer, 0, 0, side);
    if (finer.n > n) break;
    q = finer;
  }
  if (n > 0 && !q.n) q.n = 1;
  r->n = q.n;
  PetscCall(PetscCalloc1(r->n + 1, &r->i));
  PetscCall(PetscMalloc4(q.n, &q.x, q.n, &q.y, q.n, &q.width, (size_t)q.side * q.side, &at));
  q.n = 0;
  if (r->n) QuadtreeCut(&q, 0, 0, q.side);
  for (PetscInt i = 0; i < q.n; i++) {
    for (PetscInt y = q.y[i]; y < q.y[i] + q.width[i]; y++) {
      for (PetscInt x = q.x[i]; x < q.x[i] + q.width[i]; x++) at[x + (size_t)y * q.side] = i;
    }
  }
  for (PetscInt i = 0; i < q.n; i++) {
    PetscCall(Add(r, i));
    for (PetscInt k = 0; k < q.width[i]; k++) {
      const PetscInt x[4] = {q.x[i] - 1, q.x[i] + q.width[i], q.x[i] + k, q.x[i] + k}, y[4] = {q.y[i] + k, q.y[i] + k, q.y[i] - 1, q.y[i] + q.width[i]};

      for (int side = 0; side < 4; side++) {
        if (x[side] >= 0 && x[side] < q.side && y[side] >= 0 && y[side] < q.side) PetscCall(Add(r, at[x[side] + (size_t)y[side] * q.side]));
      }
    }
    PetscCall(EndRow(r, i));
  }
  PetscCall(PetscFree4(q.x, q.y, q.width, at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What has no grid. */
typedef enum {
  DIAGONALS,
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
  CLASSES,
  LSHAPE,
  QUADTREE,
  KINDS
} Kind;
static const char *const kinds[KINDS] = {"diagonal",  "bidiagonal", "tridiagonal", "tridiagonal2", "arrow", "arrowup", "denserow", "densecolumn", "random",
                                         "random200", "powerlaw",   "band",        "longrows",     "hubs",  "classes", "lshape",   "quadtree"};

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
  case CLASSES: {
    const PetscInt length[] = {0, 1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200}, lengths = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(length);
    const PetscInt away = PetscMin(160, n / 8), l = length[i % lengths], u = length[(5 * i + 3) % lengths];

    PetscCall(AddRange(r, n, i - away - l + 1, i - away));
    PetscCall(AddRange(r, n, i + away, i + away + u - 1));
    break;
  }
  case LSHAPE: {
    const PetscInt wide = n / 25 * 6, tail = 4 * wide, apart = PetscMax(1, tail / PetscMax(1, n - tail)); /* rows of a wide level that have one of the tail */

    if (i < tail) {
      if (i >= wide) PetscCall(AddRange(r, n, PetscMax(i - wide - 1, i / wide * wide - wide), PetscMin(i - wide + 1, i / wide * wide - 1)));
      if (i < tail - wide) PetscCall(AddRange(r, n, PetscMax(i + wide - 1, i / wide * wide + wide), PetscMin(i + wide + 1, i / wide * wide + 2 * wide - 1)));
      if (i % apart == 0) PetscCall(AddRange(r, n, tail + i / apart, tail + i / apart));
    } else {
      if (apart * (i - tail) < tail) PetscCall(Add(r, apart * (i - tail)));
      if (i - 16 >= tail) PetscCall(Add(r, i - 16));
      PetscCall(AddRange(r, n, i + 16, i + 16));
    }
    break;
  }
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

/* What a name means. */
typedef enum {
  ITSELF,
  RANDOMLY,
  RCM,
  MORTON,
  PERIODIC,
  BORDER,
  SUFFIXES
} Suffix;
static const char *const suffixes[SUFFIXES] = {"", "random", "rcm", "morton", "periodic", "border"};

typedef struct {
  const Stencil *stencil; /* NULL: no grid, but this: */
  Stencil        own;     /* of a name with the unknowns a point */
  Kind           kind;
  Suffix         suffix;
  char           text[64], *size; /* behind the colon, NULL if there is none */
} Name;

/* Takes the unknowns a point out of a name; 0 if it has none. */
static PetscErrorCode TakeUnknowns(char *text, PetscInt *dof)
{
  char *at;
  int   given = 0, length = 0;

  PetscFunctionBegin;
  *dof = 0;
  PetscCall(PetscStrstr(text, "_dof", &at));
  if (!at) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(sscanf(at, "_dof%d%n", &given, &length) == 1 && given > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: want a number of unknowns behind _dof",
             text);
  memmove(at, at + length, strlen(at + length) + 1);
  *dof = given;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Parse(const char *name, Name *p)
{
  char     *suffix;
  PetscInt  dof;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscCall(PetscStrncpy(p->text, name, sizeof(p->text)));
  PetscCall(PetscStrchr(p->text, ':', &p->size));
  if (p->size) *p->size++ = 0;
  PetscCall(TakeUnknowns(p->text, &dof));
  PetscCall(PetscStrchr(p->text, '_', &suffix));
  if (suffix) *suffix++ = 0;
  for (p->suffix = suffix ? RANDOMLY : ITSELF; suffix && p->suffix < SUFFIXES; p->suffix++) {
    PetscCall(PetscStrcmp(suffix, suffixes[p->suffix], &same));
    if (same) break;
  }
  for (p->kind = (Kind)0; p->kind < KINDS; p->kind++) {
    PetscCall(PetscStrcmp(p->text, kinds[p->kind], &same));
    if (same) break;
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(stencils); k++) {
    PetscCall(PetscStrcmp(p->text, stencils[k].name, &same));
    if (same) p->stencil = &stencils[k];
  }
  PetscCheck(!dof || p->stencil, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: only points of grids have several unknowns", name);
  if (dof) {
    p->own     = *p->stencil;
    p->own.dof = dof;
    p->stencil = &p->own;
  }
  PetscCheck((p->stencil || p->kind < KINDS) && p->suffix < SUFFIXES && (p->stencil || (p->suffix != MORTON && p->suffix != PERIODIC)), PETSC_COMM_SELF,
             PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown test matrix %s", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateClass(const char *name, const char **which)
{
  Name p;

  PetscFunctionBegin;
  PetscCall(Parse(name, &p));
  *which = "irregular";
  if (p.suffix == RANDOMLY || p.suffix == BORDER) PetscFunctionReturn(PETSC_SUCCESS);
  if (p.stencil) *which = p.suffix == RCM || p.suffix == MORTON || p.stencil->shape == DIAGONAL ? "mesh" : "grid";
  else if (p.kind == QUADTREE) *which = "mesh";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateUnknowns(const char *name, PetscInt *dof)
{
  Name p;

  PetscFunctionBegin;
  PetscCall(Parse(name, &p));
  *dof = p.stencil ? p.stencil->dof : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateStencil(const char *name, PetscInt n, StencilGrid *g)
{
  Name     p;
  PetscInt m[3];

  PetscFunctionBegin;
  PetscCall(Parse(name, &p));
  PetscCall(PetscMemzero(g, sizeof(*g)));
  if (!p.stencil || p.suffix != ITSELF || p.stencil->shape == DIAGONAL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GridSize(p.stencil, p.size, n, m));
  PetscCall(Neighbors(p.stencil, m, g));
  PetscCheck(StencilRows(g) < INT_MAX && StencilNonzeros(g) <= INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: %lld rows with %lld nonzeros, more than an index of 32 bits counts", name, (long long)StencilRows(g), (long long)StencilNonzeros(g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateMatrix(const char *name, PetscInt n, PetscRandom rand, Mat *A)
{
  Rows         r = {n, 0, 0, NULL, NULL};
  Name         p;
  PetscInt     m[3];
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(Parse(name, &p));
  if (p.stencil) {
    PetscCall(GridSize(p.stencil, p.size, n, m));
    PetscCall(GridRows(name, m, p.stencil->dof, &r.n));
    PetscCall(PetscCalloc1(r.n + 1, &r.i));
    PetscCall(Grid(&r, m, p.stencil, (PetscBool)(p.suffix == PERIODIC)));
  } else {
    if (p.size) {
      int given;

      PetscCheck(sscanf(p.size, "%d", &given) == 1 && given >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%s: want the number of rows behind the colon",
                 name);
      r.n = given;
    }
    if (p.kind == QUADTREE) PetscCall(QuadtreeFill(&r, r.n));
    else {
      PetscCall(PetscCalloc1(r.n + 1, &r.i));
      for (PetscInt i = 0; i < r.n; i++) PetscCall(FillRow(&r, p.kind, i, rand));
    }
  }
  if (p.suffix == BORDER) PetscCall(Border(&r));
  PetscCall(PetscCalloc1(r.nz, &a));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, r.n, r.n, 0, NULL, A));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, r.i, r.j, a));
  PetscCall(PetscFree(r.i));
  PetscCall(PetscFree(r.j));
  PetscCall(PetscFree(a));
  if (r.n && p.suffix == RCM) PetscCall(Reorder(A, NULL));
  if (r.n && (p.suffix == RANDOMLY || p.suffix == MORTON)) {
    PetscInt *order;

    PetscCall(PetscMalloc1(r.n, &order));
    if (p.suffix == RANDOMLY) PetscCall(RandomOrder(r.n, p.stencil == &p.own ? p.own.dof : 1, rand, order));
    else MortonOrder(m, p.stencil, order);
    PetscCall(Reorder(A, order));
  }
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateLevels(const int rows[], int levels, PetscBool symmetric, PetscRandom rand, Mat *A)
{
  PetscInt n = 0, begin = 0;

  PetscFunctionBegin;
  for (int l = 0; l < levels; l++) n += rows[l];
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 40, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (int l = 0; l < levels; begin += rows[l++]) {
    for (PetscInt i = begin; i < begin + rows[l]; i++) {
      PetscCall(MatSetValue(*A, i, i, 1.0, INSERT_VALUES));
      for (int k = 0; k < (l ? 3 : 0); k++) {
        PetscReal real;
        PetscInt  j;

        PetscCall(PetscRandomGetValueReal(rand, &real));
        j = k ? (PetscInt)(real * (PetscReal)begin) : begin - 1 - (PetscInt)(real * (PetscReal)rows[l - 1]);
        j = PetscMin(PetscMax(j, 0), begin - 1);
        PetscCall(MatSetValue(*A, i, j, 1.0, INSERT_VALUES));
        if (symmetric || k == 1) PetscCall(MatSetValue(*A, j, i, 1.0, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(*A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GenerateBlocks(const char *name, PetscInt n, PetscInt bs, PetscRandom rand, Mat *B)
{
  Mat                A;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscScalar       *v;
  PetscBool          done;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix(name, n, rand, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(PetscMalloc1((size_t)i[n] * bs * bs, &v));
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) {
      for (PetscInt q = 0; q < bs * bs; q++) {
        PetscScalar u;

        PetscCall(PetscRandomGetValue(rand, &u)); /* in [0,1] */
        u                          = (2.0 * u - 1.0) / (PetscReal)bs;
        v[(size_t)k * bs * bs + q] = j[k] != r ? a[k] * u : q % (bs + 1) ? u : a[k] + 1.0;
      }
    }
  }
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, bs, n * bs, n * bs, 0, NULL, B));
  PetscCall(MatSetOption(*B, MAT_ROW_ORIENTED, PETSC_FALSE));
  PetscCall(MatSeqBAIJSetPreallocationCSR(*B, bs, i, j, v));
  PetscCall(PetscFree(v));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
