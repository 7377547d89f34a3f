static char help[] = "Rows of grids made one by one against those of whole matrices, and sizes that no index counts.\n\n";

#include "check.h"

/* The rows that are made by themselves have the columns of the matrix, and values of the same kind. */
static PetscErrorCode CheckRows(const char *name, PetscRandom rand)
{
  StencilGrid     g;
  Mat             A;
  const PetscInt *i, *j;
  PetscInt        n, wrong = 0, weak = 0;
  PetscBool       done;
  double         *sum, *value;
  int            *column;

  PetscFunctionBegin;
  PetscCall(GenerateStencil(name, 0, &g));
  PetscCall(GenerateMatrix(name, 0, rand, &A));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  CHECK(g.count > 0 && StencilRows(&g) == n && StencilNonzeros(&g) == i[n], "%s: %lld rows with %lld nonzeros instead of %" PetscInt_FMT " with %" PetscInt_FMT,
        name, (long long)StencilRows(&g), (long long)StencilNonzeros(&g), n, i[n]);
  PetscCall(PetscCalloc3(2 * n, &sum, i[n], &value, i[n], &column));
  for (PetscInt row = 0; row < n; row++) {
    if (StencilLength(&g, (int)row) != i[row + 1] - i[row]) {
      wrong++;
      continue;
    }
    StencilFill(&g, (int)row, column + i[row], value + i[row]);
    for (PetscInt k = i[row]; k < i[row + 1]; k++) {
      wrong += column[k] != j[k];
      if (j[k] == row) continue;
      sum[row] += fabs(value[k]);
      sum[n + j[k]] += fabs(value[k]);
      weak += !(fabs(value[k]) <= 1.0);
    }
  }
  for (PetscInt row = 0; row < n; row++) {
    for (PetscInt k = i[row]; k < i[row + 1]; k++) {
      const double more = value[k] - PetscMax(sum[row], sum[n + row]);

      if (j[k] == row) weak += !(more > 1.0 - 1e-12 && more < 3.0 + 1e-12);
    }
  }
  CHECK(!wrong, "%s: %" PetscInt_FMT " rows or columns are wrong", name, wrong);
  CHECK(!weak, "%s: %" PetscInt_FMT " values are of another kind", name, weak);
  PetscCall(PetscFree3(sum, value, column));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest grids of the benches have nearly as many nonzeros as an index counts; larger ones are refused. */
static PetscErrorCode CheckSizes(PetscRandom rand)
{
  StencilGrid g;
  Mat         A;

  PetscFunctionBegin;
  PetscCall(GenerateStencil("star13:544x544x544", 0, &g));
  CHECK(StencilRows(&g) == 160989184 && StencilNonzeros(&g) == 2087532544, "%lld rows, %lld nonzeros", (long long)StencilRows(&g),
        (long long)StencilNonzeros(&g));
  PetscCall(GenerateStencil("27pt_dof6:128x128x128", 0, &g));
  CHECK(StencilRows(&g) == 12582912 && StencilNonzeros(&g) == 2006746848, "%lld rows, %lld nonzeros", (long long)StencilRows(&g),
        (long long)StencilNonzeros(&g));
  CHECK_ERROR(GenerateStencil("27pt_dof8:112x112x112", 0, &g), PETSC_ERR_ARG_OUTOFRANGE, "2384621056 nonzeros");
  CHECK_ERROR(GenerateStencil("7pt_dof2:1100x1100x1000", 0, &g), PETSC_ERR_ARG_OUTOFRANGE, "2420000000 rows");
  if (sizeof(PetscInt) > sizeof(int)) PetscFunctionReturn(PETSC_SUCCESS);
  CHECK_ERROR(GenerateMatrix("7pt_dof2:1100x1100x1000", 0, rand, &A), PETSC_ERR_ARG_OUTOFRANGE, "rows");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is no grid, or no row of which can be made by itself. */
static PetscErrorCode CheckOthers(void)
{
  const char *const names[] = {"random:100", "7pt_rcm:4x4x4", "5pt_periodic:4x4", "triangles:4x4", "7pt_border:4x4x4", "15pt_dof3_morton:4x4x4"};
  StencilGrid       g;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
    PetscCall(GenerateStencil(names[k], 0, &g));
    CHECK(!g.count, "%s is taken for a grid", names[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const names[] = {"5pt:7x5",         "9pt:4x6",         "7pt:5x6x7",        "15pt:4x5x3",      "27pt:3x4x5",           "star13:6x4x5",
                               "diamond13:4x5x6", "diamond25:5x4x6", "elasticity:3x4x2", "25pt:9x5x4",      "7pt_dof2:4x3x5",       "star13_dof4:5x3x4",
                               "27pt_dof8:3x2x3", "7pt:1x1x1",       "27pt:1x4x1",       "diamond25:2x2x2", "diamond13_dof6:2x3x2", "diamond25_dof3:1x5x2"};
  PetscRandom       rand;
  int               failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) PetscCall(CheckRows(names[k], rand));
  PetscCall(CheckSizes(rand));
  PetscCall(CheckOthers());
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("stencil");
  PetscCall(PetscFinalize());
  return failed;
}
