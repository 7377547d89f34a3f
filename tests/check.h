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

/* A viewer, and what was printed with it. */
static PETSC_UNUSED PetscErrorCode CheckViewBegin(MPI_Comm comm, PetscViewer *viewer, FILE **f)
{
  PetscFunctionBegin;
  *f = tmpfile();
  PetscCheck(*f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open a temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(comm, *f, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PETSC_UNUSED PetscErrorCode CheckViewEnd(PetscViewer *viewer, FILE *f, char *text, size_t len)
{
  size_t n;

  PetscFunctionBegin;
  PetscCall(PetscViewerDestroy(viewer));
  rewind(f);
  n       = fread(text, 1, len - 1, f);
  text[n] = 0;
  fclose(f);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PETSC_UNUSED PetscErrorCode CheckView(PetscObject obj, PetscViewerFormat format, char *text, size_t len)
{
  PetscViewer viewer;
  FILE       *f;

  PetscFunctionBegin;
  PetscCall(CheckViewBegin(PetscObjectComm(obj), &viewer, &f));
  PetscCall(PetscViewerPushFormat(viewer, format));
  PetscCall(PetscObjectView(obj, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(CheckViewEnd(&viewer, f, text, len));
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

/* A system and its transpose, solved with a residual below 1e-7. */
static PETSC_UNUSED PetscErrorCode CheckSolves(KSP ksp, Vec b, Vec x, const char *what)
{
  Mat A;
  Vec r;

  PetscFunctionBegin;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &r));
  for (int trans = 0; trans < 2; trans++) {
    KSPConvergedReason reason;
    PetscReal          norm;

    if (trans) PetscCall(KSPSolveTranspose(ksp, b, x));
    else PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (trans) PetscCall(MatMultTranspose(A, x, r));
    else PetscCall(MatMult(A, x, r));
    PetscCall(CheckDifference(r, b, &norm));
    CHECK(reason > 0 && norm < 1e-7, "%s, transposed %d: %s, residual %g", what, trans, KSPConvergedReasons[reason], (double)norm);
  }
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner for a matrix, by that backend; not set up yet. */
static PETSC_UNUSED PetscErrorCode PreconditionerCreate(Mat A, SyncILUBackend backend, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCSYNCILU));
  PetscCall(PCSyncILUSetBackend(*pc, backend));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same in a solver. */
static PETSC_UNUSED PetscErrorCode SolverCreate(Mat A, SyncILUBackend backend, KSP *ksp, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscCall(PCSetType(*pc, PCSYNCILU));
  PetscCall(PCSyncILUSetBackend(*pc, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
