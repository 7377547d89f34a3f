/*
   What the test programs share: a failed expectation is printed with its place, and the program's exit status
   counts them.
*/
#ifndef SYNCILU_CHECK_H
#define SYNCILU_CHECK_H

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <petscpc.h>
#include <petscksp.h>
#include <petscsyncilu.h>
#include "compat.h"
#include "generate.h"

extern int  check_failures, check_count;
extern char check_message[4096]; /* of the last error that was expected, or caught by CheckErrorHandler() */

#define CHECK(condition, ...) \
  do { \
    check_count++; \
    if (!(condition)) { \
      check_failures++; \
      fprintf(stderr, "%s:%d: %s failed: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__); \
      fprintf(stderr, "\n"); \
    } \
  } while (0)

/* Runs a call that may fail, quietly; the text of its error is in check_message. */
#define QUIETLY(ierr, call) \
  do { \
    check_message[0] = 0; \
    PetscCall(PetscPushErrorHandler(CheckErrorHandler, NULL)); \
    ierr = (call); \
    PetscCall(PetscPopErrorHandler()); \
  } while (0)

/* Runs a call that is expected to fail with the given error code. */
#define CHECK_ERROR(call, code, text) \
  do { \
    PetscErrorCode check_ierr; \
    QUIETLY(check_ierr, call); \
    CHECK(check_ierr == (code), "error %d, expected %d: %s", (int)check_ierr, (int)(code), check_message); \
    CHECK(strstr(check_message, text), "message \"%s\" does not contain \"%s\"", check_message, text); \
  } while (0)

/* A handler of errors that prints nothing and keeps the text in check_message. */
extern PetscErrorCode CheckErrorHandler(MPI_Comm, int, const char *, const char *, PetscErrorCode, PetscErrorType, const char *, void *);

/* These options and no others from here on, until CheckOptionsEnd(). Not collective. */
extern PetscErrorCode CheckOptionsBegin(const char *options, PetscOptions *);
extern PetscErrorCode CheckOptionsEnd(PetscOptions *);

/* A viewer into a temporary file, and then what was printed with it. */
extern PetscErrorCode CheckViewBegin(MPI_Comm, PetscViewer *, FILE **);
extern PetscErrorCode CheckViewEnd(PetscViewer *, FILE *, char *, size_t);
/* What an object's view prints in that format. */
extern PetscErrorCode CheckView(PetscObject, PetscViewerFormat, char *, size_t);
/*
   What a view says of a key, as "key: value" at the beginning of a line or behind a comma. Views are read
   here alone: the first such value, up to the view's end, NULL if there is none; and whether any of them
   begins with this text.
*/
extern const char *CheckViewValue(const char *view, const char *key);
extern PetscBool   CheckViewSays(const char *view, const char *key, const char *value);

/* The number of values in the list of an option's names, as PETSc has them. */
extern int CheckEnumCount(const char *const *);

/* Prints the counts of all processes; the program's exit status. */
extern int CheckReport(const char *);

/* |x - y| / |y| in the 2-norm. */
extern PetscErrorCode CheckDifference(Vec, Vec, PetscReal *);
/* Solves a system and its transpose, and checks residuals below 1e-7. */
extern PetscErrorCode CheckSolves(KSP, Vec, Vec, const char *);

/* The preconditioner for a matrix, by that backend; not set up yet. */
extern PetscErrorCode PreconditionerCreate(Mat, SyncILUBackend, PC *);
/* The same in a solver, which owns the preconditioner. */
extern PetscErrorCode SolverCreate(Mat, SyncILUBackend, KSP *, PC *);

#endif
