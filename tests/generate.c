#include "generate.h"
#include "compat.h"

const char *const GeneratePatterns[] = {"diagonal", "bidiagonal", "tridiagonal", "arrow",      "arrowup",    "denserow",    "densecolumn", "random",  "random200", "powerlaw",
                                        "5pt",      "7pt",        "27pt",        "5pt_random", "7pt_random", "27pt_random", "5pt_rcm",     "7pt_rcm", "27pt_rcm",  NULL};

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

static PetscErrorCode Grid(Rows *r, PetscInt m, PetscInt dim, PetscBool box)
{
  PetscFunctionBegin;
  for (PetscInt p = 0; p < r->n; p++) {
    const PetscInt x = p % m, y = p / m % m, z = p / m / m;

    for (PetscInt dz = -1; dz <= 1; dz++) {
      for (PetscInt dy = -1; dy <= 1; dy++) {
        for (PetscInt dx = -1; dx <= 1; dx++) {
          if (!box && PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz) > 1) continue;
          if (x + dx < 0 || x + dx >= m || y + dy < 0 || y + dy >= m || z + dz < 0 || z + dz >= (dim == 3 ? m : 1)) continue;
          PetscCall(Add(r, p + dx + m * (dy + m * dz)));
        }
      }
    }
    PetscCall(EndRow(r, p));
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
  Rows         r = {n, 0, 0, NULL, NULL};
  char         base[32];
  char        *order = NULL;
  PetscBool    is[13];
  const char  *names[] = {"diagonal", "bidiagonal", "tridiagonal", "arrow", "arrowup", "denserow", "densecolumn", "random", "random200", "powerlaw", "5pt", "7pt", "27pt"};
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(base, name, sizeof(base)));
  PetscCall(PetscStrchr(base, '_', &order));
  if (order) *order++ = 0;
  for (int k = 0; k < 13; k++) PetscCall(PetscStrcmp(base, names[k], &is[k]));
  if (is[10] || is[11] || is[12]) {
    const PetscInt dim = is[10] ? 2 : 3;
    PetscInt       m   = 1;

    while ((dim == 2 ? (m + 1) * (m + 1) : (m + 1) * (m + 1) * (m + 1)) <= n) m++;
    r.n = n ? (dim == 2 ? m * m : m * m * m) : 0;
    PetscCall(PetscCalloc1(r.n + 1, &r.i));
    PetscCall(Grid(&r, m, dim, is[12]));
  } else {
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
    for (int k = 0, known = 0; k <= 13; k++) {
      if (k < 13) known = known || is[k];
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
