static char help[] = "The test matrices have the shapes that their names promise.\n\n";

#include "check.h"

/* Whether row i has an entry in column j. */
static PetscErrorCode Has(Mat A, PetscInt i, PetscInt j, PetscBool *has)
{
  const PetscInt *cols;
  PetscInt        n, at;

  PetscFunctionBegin;
  PetscCall(MatGetRow(A, i, &n, &cols, NULL));
  PetscCall(PetscFindInt(j, n, cols, &at));
  *has = (PetscBool)(at >= 0);
  PetscCall(MatRestoreRow(A, i, &n, &cols, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows, entries, and the entries of one row. */
static PetscErrorCode TestCounts(PetscRandom rand)
{
  const struct {
    const char *name;
    PetscInt    rows, entries, row, length;
  } shapes[] = {
    {"diagonal:100",          100,  100,                  50,  1  },
    {"bidiagonal:100",        100,  199,                  50,  2  },
    {"tridiagonal:100",       100,  298,                  50,  3  },
    {"tridiagonal2:100",      100,  300,                  50,  5  },
    {"band:100",              100,  2100 - 110,           50,  21 },
    {"arrow:100",             100,  298,                  0,   100},
    {"5pt:9x7",               63,   63 * 5 - 32,          10,  5  },
    {"5pt_periodic:9x7",      63,   63 * 5 - 18,          9,   5  },
    {"7pt:4x5x6",             120,  120 * 7 - 148,        29,  7  },
    {"7pt_border:4x5x6",      121,  692 + 241,            120, 121},
    {"27pt_periodic:5x3x3",   45,   5 * 3 * 49,           0,   12 },
    {"7pt:130",               125,  125 * 7 - 150,        62,  7  },
    {"hubs:3200",             3200, 9520 + 60 * 100 - 30, 63,  63 },
    {"lshape:1000",           1000, 5436,                 0,   4  },
    {"elasticity:2x2x2",      24,   576,                  0,   24 },
    {"9pt:9x7",               63,   25 * 19,              10,  9  },
    {"star13:5x5x5",          125,  125 * 13 - 6 * 75,    62,  13 },
    {"diamond13:5x5x5",       125,  125 * 7 - 150 + 480,  62,  13 },
    {"diamond25:5x5x5",       125,  125 * 13 - 450 + 960, 62,  25 },
    {"7pt_dof4:4x5x6",        480,  692 * 16,             116, 28 },
    {"27pt_dof2:3x3x3",       54,   343 * 4,              26,  54 },
    {"7pt_dof8_random:2x2x2", 64,   32 * 64,              9,   32 },
    {"7pt_dof2_morton:4x5x6", 240,  692 * 4,              0,   8  }
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shapes); k++) {
    Mat      A;
    MatInfo  info;
    PetscInt rows, length;

    PetscCall(GenerateMatrix(shapes[k].name, 0, rand, &A));
    PetscCall(MatGetSize(A, &rows, NULL));
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    PetscCall(MatGetRow(A, shapes[k].row, &length, NULL, NULL));
    CHECK(rows == shapes[k].rows && (PetscInt)info.nz_used == shapes[k].entries && length == shapes[k].length,
          "%s: %" PetscInt_FMT " rows, %g entries, %" PetscInt_FMT " in row %" PetscInt_FMT, shapes[k].name, rows, info.nz_used, length, shapes[k].row);
    PetscCall(MatRestoreRow(A, shapes[k].row, &length, NULL, NULL));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Single entries that make a shape what it is. */
static PetscErrorCode TestEntries(PetscRandom rand)
{
  const struct {
    const char *name;
    PetscInt    i, j;
    PetscBool   there;
  } entries[] = {
    {"5pt_periodic:9x7",     0,   8,  PETSC_TRUE }, /* the ends of a line are neighbors */
    {"5pt_periodic:9x7",     8,   0,  PETSC_TRUE },
    {"5pt_periodic:9x7",     0,   54, PETSC_FALSE}, /* in the first direction alone */
    {"5pt:9x7",              0,   8,  PETSC_FALSE},
    {"tridiagonal2:100",     50,  12, PETSC_TRUE },
    {"tridiagonal2:100",     50,  25, PETSC_TRUE },
    {"tridiagonal_border:9", 3,   9,  PETSC_TRUE },
    {"tridiagonal_border:9", 9,   3,  PETSC_TRUE },
    {"tridiagonal_border:9", 3,   7,  PETSC_FALSE},
    {"hubs:3200",            100, 60, PETSC_TRUE },
    {"hubs:3200",            95,  65, PETSC_TRUE },
    {"hubs:3200",            96,  95, PETSC_FALSE}
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(entries); k++) {
    Mat       A;
    PetscBool has = PETSC_FALSE;

    PetscCall(GenerateMatrix(entries[k].name, 0, rand, &A));
    PetscCall(Has(A, entries[k].i, entries[k].j, &has));
    CHECK(has == entries[k].there, "%s: entry %" PetscInt_FMT ", %" PetscInt_FMT ": %d", entries[k].name, entries[k].i, entries[k].j, has);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestErrors(PetscRandom rand)
{
  const struct {
    const char    *name;
    PetscErrorCode code;
    const char    *text;
  } wrong[] = {
    {"heptadiagonal",        PETSC_ERR_ARG_UNKNOWN_TYPE, "Unknown test matrix heptadiagonal"},
    {"7pt_sorted",           PETSC_ERR_ARG_UNKNOWN_TYPE, "7pt_sorted"                       },
    {"tridiagonal_periodic", PETSC_ERR_ARG_UNKNOWN_TYPE, "tridiagonal_periodic"             },
    {"7pt:3x3",              PETSC_ERR_ARG_OUTOFRANGE,   "7pt:3x3"                          },
    {"random:many",          PETSC_ERR_ARG_OUTOFRANGE,   "random:many"                      }
  };
  Mat A;

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(wrong); k++) CHECK_ERROR(GenerateMatrix(wrong[k].name, 10, rand, &A), wrong[k].code, wrong[k].text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(TestCounts(rand));
  PetscCall(TestEntries(rand));
  PetscCall(TestErrors(rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("shapes");
  PetscCall(PetscFinalize());
  return failed;
}
