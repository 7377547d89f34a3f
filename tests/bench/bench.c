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
  return (PetscBool)(runs < PetscMin(wanted, BENCH_REPEAT_MAX) && (runs < 1 || (runs < 3 && seconds < 10 * limit) || seconds < limit));
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

static void Number(BenchJSON json, const char *format, double value)
{
  if (isfinite(value)) fprintf(json->file, format, value);
  else fputs("null", json->file);
}

PetscErrorCode BenchJSONNumber(BenchJSON json, const char *name, double value)
{
  PetscFunctionBegin;
  if (!json->file) PetscFunctionReturn(PETSC_SUCCESS);
  Name(json, name);
  Number(json, "%.9g", value);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BenchJSONNumbers(BenchJSON json, const char *name, PetscInt n, const PetscReal *values)
{
  PetscFunctionBegin;
  if (!json->file) PetscFunctionReturn(PETSC_SUCCESS);
  Name(json, name);
  fputc('[', json->file);
  for (PetscInt k = 0; k < n; k++) {
    if (k) fputs(", ", json->file);
    Number(json, "%.3e", (double)values[k]);
  }
  fputc(']', json->file);
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

double BenchHash(PetscInt64 k)
{
  uint64_t x = (uint64_t)k * 0x9e3779b97f4a7c15u;

  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
  return (double)((x ^ x >> 32) >> 11) / 9007199254740992.0;
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
