#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "bench.h"

static int Compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

double BenchMedian(BenchSample *s)
{
  if (s->n <= 0) return NAN;
  qsort(s->t, (size_t)s->n, sizeof(s->t[0]), Compare);
  return s->n % 2 ? s->t[s->n / 2] : (s->t[s->n / 2 - 1] + s->t[s->n / 2]) / 2;
}

PetscBool BenchMore(PetscInt runs, PetscInt wanted, double seconds, double limit)
{
  return (PetscBool)(runs < PetscMin(wanted, BENCH_REPEAT_MAX) && (runs < 3 || seconds < limit));
}

struct _n_BenchJSON {
  FILE     *file; /* NULL on all ranks but the first */
  PetscBool prefix, empty;
};

PetscErrorCode BenchJSONOpen(const char *name, BenchJSON *json)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(PetscNew(json));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  (*json)->prefix = (PetscBool)!name[0];
  (*json)->file   = name[0] ? fopen(name, "a") : stdout;
  PetscCheck((*json)->file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write to %s", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchJSONBegin(BenchJSON json)
{
  PetscFunctionBegin;
  json->empty = PETSC_TRUE;
  if (json->file) fprintf(json->file, "%s{", json->prefix ? "JSON " : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Name(BenchJSON json, const char *name)
{
  fprintf(json->file, "%s\"%s\": ", json->empty ? "" : ", ", name);
  json->empty = PETSC_FALSE;
}

PetscErrorCode BenchJSONText(BenchJSON json, const char *name, const char *text)
{
  PetscFunctionBegin;
  if (!json->file) PetscFunctionReturn(PETSC_SUCCESS);
  Name(json, name);
  fputc('"', json->file);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', json->file);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, json->file);
  }
  fputc('"', json->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchJSONNumber(BenchJSON json, const char *name, double value)
{
  PetscFunctionBegin;
  if (!json->file) PetscFunctionReturn(PETSC_SUCCESS);
  Name(json, name);
  if (isfinite(value)) fprintf(json->file, "%.9g", value);
  else fputs("null", json->file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchJSONEnd(BenchJSON json)
{
  PetscFunctionBegin;
  if (!json->file) PetscFunctionReturn(PETSC_SUCCESS);
  fputs("}\n", json->file);
  fflush(json->file); /* what is measured stays if a later case takes the program down */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchJSONClose(BenchJSON *json)
{
  PetscFunctionBegin;
  if ((*json)->file && !(*json)->prefix) fclose((*json)->file);
  PetscCall(PetscFree(*json));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void BenchProgress(const char *format, ...)
{
  int     rank = 0;
  va_list args;

  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank) return;
  fflush(stdout); /* keeps the order where both go to one file */
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

enum {
  MESSAGE_MAX = 512
};
char bench_message[MESSAGE_MAX];

PetscErrorCode BenchErrorHandler(MPI_Comm comm, int line, const char *func, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  (void)comm;
  (void)ctx;
  if (p == PETSC_ERROR_INITIAL) (void)snprintf(bench_message, MESSAGE_MAX, "%s (%s, %s:%d)", mess ? mess : "", func ? func : "", file ? file : "", line);
  return n;
}

/* The entries of a Matrix Market file, those of the other triangle of a symmetric one included. Read by one process. */
static PetscErrorCode ReadMarket(const char *name, PetscInt *rows, PetscInt *cols, PetscCount *count, PetscInt **i, PetscInt **j, PetscScalar **v)
{
  FILE        *f;
  char         line[1024], field[64], symmetry[64];
  long long    m, n, nz;
  PetscCount   k   = 0;
  PetscInt    *row = NULL, *col = NULL;
  PetscScalar *val = NULL;
  PetscBool    pattern, real, integer, general, symmetric, skew;

  PetscFunctionBegin;
  f = fopen(name, "r");
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", name);
  PetscCheck(fgets(line, sizeof(line), f) && sscanf(line, "%%%%MatrixMarket matrix coordinate %63s %63s", field, symmetry) == 2, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: not a Matrix Market file of a sparse matrix", name);
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
    PetscCheck(end != s && a > 0 && a <= m && b > 0 && b <= n, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s: entry %lld is outside of the matrix", name, e + 1);
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

PetscErrorCode BenchLoad(MPI_Comm comm, const char *name, MatType type, Mat *A)
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

PetscErrorCode BenchFileName(const char *path, char *name, size_t size)
{
  const char *slash = strrchr(path, '/');
  char       *dot;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, slash ? slash + 1 : path, size));
  dot = strrchr(name, '.');
  if (dot && dot != name) *dot = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchFail(BenchFailures *f, const char *name, const char *what, const char *why)
{
  PetscFunctionBegin;
  BenchProgress("FAILED: %s, %s: %s", name, what, why);
  if (f->count == f->room) {
    const PetscInt room = 2 * f->room + 64;
    char(*more)[sizeof(f->text[0])];

    PetscCall(PetscMalloc1(room, &more));
    PetscCall(PetscArraycpy(more, f->text, f->count));
    PetscCall(PetscFree(f->text));
    f->text = more;
    f->room = room;
  }
  PetscCall(PetscSNPrintf(f->text[f->count++], sizeof(f->text[0]), "%s, %s: %s", name, what, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchFailuresEnd(BenchFailures *f, PetscInt *count)
{
  PetscFunctionBegin;
  *count = f->count;
  if (f->count) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n%" PetscInt_FMT " FAILED:\n", f->count));
  for (PetscInt k = 0; k < f->count; k++) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", f->text[k]));
  PetscCall(PetscFree(f->text));
  f->count = f->room = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
