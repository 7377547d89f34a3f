/*
   What the test programs share: a failed expectation is printed with its place, and the program's exit status counts them.
*/
#ifndef SYNCILU_CHECK_H
#define SYNCILU_CHECK_H

#include <math.h>
#include <string.h>
#include <petscpc.h>
#include <petscksp.h>
#include <petscsyncilu.h>
#include "compat.h"
#include "generate.h"

static int check_failures = 0, check_count = 0;

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

/* Runs a call that is expected to fail with the given error code, and keeps PETSc quiet about it. The text of the error stays in check_message. */
static char check_message[4096];

static PETSC_UNUSED PetscErrorCode CheckErrorHandler(MPI_Comm comm, int line, const char *func, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  (void)comm;
  (void)line;
  (void)func;
  (void)file;
  (void)ctx;
  if (p == PETSC_ERROR_INITIAL && mess) (void)snprintf(check_message, sizeof(check_message), "%s", mess);
  return n;
}

#define CHECK_ERROR(call, code, text) \
  do { \
    PetscErrorCode check_ierr; \
    check_message[0] = 0; \
    PetscCall(PetscPushErrorHandler(CheckErrorHandler, NULL)); \
    check_ierr = (call); \
    PetscCall(PetscPopErrorHandler()); \
    CHECK(check_ierr == (code), "error %d, expected %d: %s", (int)check_ierr, (int)(code), check_message); \
    CHECK(strstr(check_message, text), "message \"%s\" does not contain \"%s\"", check_message, text); \
  } while (0)

/* What a viewer would print. */
static PETSC_UNUSED PetscErrorCode CheckView(PetscObject obj, PetscViewerFormat format, char *text, size_t len)
{
  PetscViewer viewer;
  FILE       *f;
  size_t      n;

  PetscFunctionBegin;
  f = tmpfile();
  PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open a temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(PetscObjectComm(obj), f, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(PetscObjectView(obj, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(f);
  n       = fread(text, 1, len - 1, f);
  text[n] = 0;
  fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PETSC_UNUSED int CheckReport(const char *name)
{
  int rank = 0, all[2], mine[2];

  mine[0] = check_failures;
  mine[1] = check_count;
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) printf("%s: %d checks, %d failed\n", name, all[1], all[0]);
  return all[0] || !all[1];
}

/* |x - y| / |y| in the 2-norm. */
static PETSC_UNUSED PetscErrorCode CheckDifference(Vec x, Vec y, PetscReal *diff)
{
  Vec       t;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &t));
  PetscCall(VecCopy(x, t));
  PetscCall(VecAXPY(t, -1.0, y));
  PetscCall(VecNorm(t, NORM_2, diff));
  PetscCall(VecNorm(y, NORM_2, &norm));
  if (norm > 0) *diff /= norm;
  PetscCall(VecDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
