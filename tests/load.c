/*
   See load.h.
*/
#include "load.h"
#include "compat.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/*
   The entries of a Matrix Market file, those of the other triangle of a symmetric one included. Read by one
   process.
*/
static PetscErrorCode ReadMarket(const char *name, PetscInt *rows, PetscInt *cols, PetscCount *count, PetscInt **i, PetscInt **j, PetscScalar **v)
{
  FILE        *f;
  char         line[1024], field[64], symmetry[64];
  long long    m, n, nz;
  int          words = 0;
  PetscCount   k     = 0;
  PetscInt    *row = NULL, *col = NULL;
  PetscScalar *val = NULL;
  PetscBool    pattern, real, integer, general, symmetric, skew;

  PetscFunctionBegin;
  f = fopen(name, "r");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", name);
  PetscCheck(fgets(line, sizeof(line), f) && (words = sscanf(line, "%%%%MatrixMarket matrix coordinate %63s %63s", field, symmetry)) >= 1, PETSC_COMM_SELF,
             PETSC_ERR_FILE_UNEXPECTED, "%s: not a Matrix Market file of a sparse matrix", name);
  if (words == 1) { /* some leave out that their numbers are real */
    PetscCall(PetscStrncpy(symmetry, field, sizeof(symmetry)));
    PetscCall(PetscStrncpy(field, "real", sizeof(field)));
  }
  PetscCall(PetscStrcasecmp(field, "pattern", &pattern));
  PetscCall(PetscStrcasecmp(field, "real", &real));
  PetscCall(PetscStrcasecmp(field, "integer", &integer));
  PetscCall(PetscStrcasecmp(symmetry, "general", &general));
  PetscCall(PetscStrcasecmp(symmetry, "symmetric", &symmetric));
  PetscCall(PetscStrcasecmp(symmetry, "skew-symmetric", &skew));
  PetscCheck((pattern || real || integer) && (general || symmetric || skew), PETSC_COMM_SELF, PETSC_ERR_SUP, "%s: no reader for %s %s", name, field, symmetry);
  do PetscCheck(fgets(line, sizeof(line), f), PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: no size", name);
  while (line[0] == '%' || line[0] == '\n');
  PetscCheck(sscanf(line, "%lld %lld %lld", &m, &n, &nz) == 3, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: no size", name);
  PetscCall(PetscMalloc3((general ? 1 : 2) * nz, &row, (general ? 1 : 2) * nz, &col, (general ? 1 : 2) * nz, &val));
  for (long long e = 0; e < nz; e++) {
    long long   a, b;
    double      value = 1.0;
    char       *s, *end;
    const char *got = fgets(line, sizeof(line), f);

    PetscCheck(got, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: ends before its last entry", name);
    a = strtoll(line, &s, 10);
    b = strtoll(s, &end, 10);
    if (!pattern) value = strtod(end, NULL);
    PetscCheck(end != s && a > 0 && a <= m && b > 0 && b <= n, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: entry %lld is outside of the matrix", name,
               e + 1);
    row[k]   = (PetscInt)(a - 1);
    col[k]   = (PetscInt)(b - 1);
    val[k++] = value;
    if (general || a == b) continue;
    row[k]   = (PetscInt)(b - 1);
    col[k]   = (PetscInt)(a - 1);
    val[k++] = skew ? -value : value;
  }
  fclose(f);
  *rows  = (PetscInt)m;
  *cols  = (PetscInt)n;
  *count = k;
  *i     = row;
  *j     = col;
  *v     = val;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadMatrix(MPI_Comm comm, const char *name, MatType type, Mat *A)
{
  const char  banner[] = "%%MatrixMarket";
  char        start[sizeof(banner)];
  PetscMPIInt rank;
  PetscInt    market = 0, m, n;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (rank == 0) {
    FILE *f = fopen(name, "r");

    if (!f) market = -1;
    else {
      market = fread(start, 1, sizeof(banner) - 1, f) == sizeof(banner) - 1 && !memcmp(start, banner, sizeof(banner) - 1);
      fclose(f);
    }
  }
  PetscCallMPI(MPI_Bcast(&market, 1, MPIU_INT, 0, comm));
  PetscCheck(market >= 0, comm, PETSC_ERR_FILE_OPEN, "Cannot open %s", name);
  PetscCall(MatCreate(comm, A));
  if (market) {
    PetscInt     size[2] = {0, 0}, *i = NULL, *j = NULL;
    PetscScalar *v     = NULL;
    PetscCount   count = 0;

    if (rank == 0) PetscCall(ReadMarket(name, &size[0], &size[1], &count, &i, &j, &v));
    PetscCallMPI(MPI_Bcast(size, 2, MPIU_INT, 0, comm));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, size[0], size[1]));
    PetscCall(MatSetType(*A, type));
    PetscCall(MatSetPreallocationCOO(*A, count, i, j));
    PetscCall(MatSetValuesCOO(*A, v, INSERT_VALUES));
    PetscCall(PetscFree3(i, j, v));
  } else {
    PetscViewer viewer;

    PetscCall(MatSetType(*A, type));
    PetscCall(PetscViewerBinaryOpen(comm, name, FILE_MODE_READ, &viewer));
    PetscCall(MatLoad(*A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscCall(MatGetSize(*A, &m, &n));
  PetscCheck(m == n, comm, PETSC_ERR_ARG_SIZ, "%s: %" PetscInt_FMT " rows and %" PetscInt_FMT " columns, not a square matrix", name, m, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int EndsAs(const struct dirent *entry, const char *ending)
{
  const char *end = strrchr(entry->d_name, '.');

  return end && !strcmp(end, ending);
}

static int IsMarket(const struct dirent *entry)
{
  return EndsAs(entry, ".mtx");
}

static int IsMatrix(const struct dirent *entry)
{
  return IsMarket(entry) || EndsAs(entry, ".petsc");
}

static PetscErrorCode List(const char *folder, int (*wanted)(const struct dirent *), int *count, char ***paths)
{
  struct dirent **entry;

  PetscFunctionBegin;
  *paths = NULL;
  *count = scandir(folder, &entry, wanted, alphasort);
  if (*count < 0) *count = 0;
  else {
    PetscCall(PetscMalloc1(*count + 1, paths));
    for (int k = 0; k < *count; k++) {
      const size_t len = strlen(folder) + strlen(entry[k]->d_name) + 2;

      PetscCall(PetscMalloc1(len, &(*paths)[k]));
      PetscCall(PetscSNPrintf((*paths)[k], len, "%s/%s", folder, entry[k]->d_name));
      free(entry[k]);
    }
    free(entry);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadFolder(const char *folder, int *count, char ***paths)
{
  PetscFunctionBegin;
  PetscCall(List(getenv("SYNCILU_MATRICES") ? getenv("SYNCILU_MATRICES") : folder, IsMarket, count, paths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadFolderOfBoth(const char *folder, int *count, char ***paths)
{
  PetscFunctionBegin;
  PetscCall(List(folder, IsMatrix, count, paths));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LoadFolderFree(int count, char ***paths)
{
  PetscFunctionBegin;
  for (int k = 0; k < count; k++) PetscCall(PetscFree((*paths)[k]));
  PetscCall(PetscFree(*paths));
  PetscFunctionReturn(PETSC_SUCCESS);
}
