/*
   What the bench programs share: samples of times, JSON lines, errors that end one case and not the program.
*/
#ifndef SYNCILU_BENCH_H
#define SYNCILU_BENCH_H

#include <petscmat.h>
#include "compat.h"

/* Times of one thing, repeated. */
enum {
  BENCH_REPEAT_MAX = 1000
};
typedef struct {
  PetscInt n;
  double   t[BENCH_REPEAT_MAX]; /* s */
} BenchSample;

extern double BenchMedian(BenchSample *);
/*
   Whether to run once more: given are the runs so far, the runs wanted, the seconds so far and their limit,
   beyond which three runs are enough, and ten times which one is.
*/
extern PetscBool BenchMore(PetscInt, PetscInt, double, double);

/*
   A JSON object a line, written by the first rank. In names and texts quotes and backslashes are escaped.
   Numbers that are not finite become null.
*/
typedef struct _n_BenchJSON *BenchJSON;
/* appends to the file; an empty name: standard output, each line behind "JSON " */
extern PetscErrorCode BenchJSONOpen(const char *, BenchJSON *);
extern PetscErrorCode BenchJSONBegin(BenchJSON);
extern PetscErrorCode BenchJSONText(BenchJSON, const char *, const char *);
extern PetscErrorCode BenchJSONNumber(BenchJSON, const char *, double);
extern PetscErrorCode BenchJSONNumbers(BenchJSON, const char *, PetscInt, const PetscReal *);
extern PetscErrorCode BenchJSONEnd(BenchJSON);
extern PetscErrorCode BenchJSONClose(BenchJSON *);

/* What failed, to be said again at the end; all zero before. */
typedef struct {
  PetscInt count, room;
  char (*text)[800];
} BenchFailures;
/* case, what of it, why */
extern PetscErrorCode BenchFail(BenchFailures *, const char *, const char *, const char *);
/* Prints and forgets them. */
extern PetscErrorCode BenchFailuresEnd(BenchFailures *, PetscInt *);

/* Says on standard error what runs now, from the first rank. */
extern void BenchProgress(const char *, ...) PETSC_ATTRIBUTE_FORMAT(1, 2);

/*
   Runs a call that may fail; an error is noted in the text, whose length is given, and comes back as
   PETSC_TRUE.
*/
#define BenchTry(call, text, size, failed) \
  do { \
    PetscErrorCode bench_ierr; \
    PetscCall(PetscPushErrorHandler(BenchErrorHandler, NULL)); \
    bench_message[0] = 0; \
    bench_ierr       = (call); \
    PetscCall(PetscPopErrorHandler()); \
    *(failed) = bench_ierr ? PETSC_TRUE : PETSC_FALSE; \
    if (bench_ierr) PetscCall(PetscSNPrintf(text, size, "error %d: %s", (int)bench_ierr, bench_message)); \
  } while (0)
extern char           bench_message[];
extern PetscErrorCode BenchErrorHandler(MPI_Comm, int, const char *, const char *, PetscErrorCode, PetscErrorType, const char *, void *);

/* A number in [0, 1) of its own for each argument. */
extern double BenchHash(PetscInt64);

/* The name of a file without folders and ending. */
extern PetscErrorCode BenchFileName(const char *, char *, size_t);

#endif
