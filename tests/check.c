/*
   See check.h.
*/
#include "check.h"

int  check_failures = 0, check_count = 0;
char check_message[4096];

PetscErrorCode CheckErrorHandler(MPI_Comm comm, int line, const char *func, const char *file, PetscErrorCode n, PetscErrorType p, const char *mess, void *ctx)
{
  (void)comm;
  (void)line;
  (void)func;
  (void)file;
  (void)ctx;
  if (p == PETSC_ERROR_INITIAL && mess) (void)snprintf(check_message, sizeof(check_message), "%s", mess);
  return n;
}

PetscErrorCode CheckOptionsBegin(const char *options, PetscOptions *db)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(db));
  PetscCall(PetscOptionsInsertString(*db, options));
  PetscCall(PetscOptionsPush(*db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckOptionsEnd(PetscOptions *db)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckViewBegin(MPI_Comm comm, PetscViewer *viewer, FILE **f)
{
  PetscFunctionBegin;
  *f = tmpfile();
  PetscCheck(*f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open a temporary file");
  PetscCall(PetscViewerASCIIOpenWithFILE(comm, *f, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckViewEnd(PetscViewer *viewer, FILE *f, char *text, size_t len)
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

PetscErrorCode CheckView(PetscObject obj, PetscViewerFormat format, char *text, size_t len)
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

const char *CheckViewValue(const char *view, const char *key)
{
  const size_t len = strlen(key);

  for (const char *found = strstr(view, key); found; found = strstr(found + 1, key)) {
    const char *before = found;

    if (strncmp(found + len, ": ", 2)) continue;
    while (before > view && before[-1] == ' ') before--;
    if (before == view || before[-1] == '\n' || before[-1] == ',') return found + len + 2;
  }
  return NULL;
}

PetscBool CheckViewSays(const char *view, const char *key, const char *value)
{
  for (const char *said = CheckViewValue(view, key); said; said = CheckViewValue(said, key)) {
    if (!strncmp(said, value, strlen(value))) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

int CheckEnumCount(const char *const *names)
{
  int count = 0;

  while (names[count]) count++;
  return count - 2; /* the type and the prefix stand behind the names */
}

int CheckReport(const char *name)
{
  int rank = 0, all[2], mine[2];

  mine[0] = check_failures;
  mine[1] = check_count;
  (void)MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, PETSC_COMM_WORLD);
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) printf("%s: %d checks, %d failed\n", name, all[1], all[0]);
  return all[0] || !all[1];
}

PetscErrorCode CheckDifference(Vec x, Vec y, PetscReal *diff)
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

PetscErrorCode CheckSolves(KSP ksp, Vec b, Vec x, const char *what)
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

PetscErrorCode PreconditionerCreate(Mat A, SyncILUBackend backend, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCSYNCILU));
  PetscCall(PCSyncILUSetBackend(*pc, backend));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SolverCreate(Mat A, SyncILUBackend backend, KSP *ksp, PC *pc)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscCall(PCSetType(*pc, PCSYNCILU));
  PetscCall(PCSyncILUSetBackend(*pc, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}
