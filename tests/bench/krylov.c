/*
   See krylov.h.
*/
#include <math.h>
#include <petsc/private/petscimpl.h> /* PetscObjectStateIncrease() */
#include <petscdevice.h>
#include <petsctime.h>
#include "krylov.h"

/*
   With arrays on the host PETSc is not made to use the device: a solve has ended then when its result is
   there, and what a setup leaves going on counts as the solve's.
*/
PetscErrorCode KrylovClock(const Krylov *s, PetscLogDouble *t)
{
  PetscFunctionBegin;
  if (s->device) {
    PetscDeviceContext context;

    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(PetscTime(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp(const Krylov *s, PC pc, double *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(KrylovClock(s, &t0));
  PetscCall(PCSetUp(pc));
  /* preconditioners made of blocks, as block Jacobi, factor them only here */
  PetscCall(PCSetUpOnBlocks(pc));
  PetscCall(KrylovClock(s, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applications of preconditioners so far; one that is part of another one does not count. */
static PetscErrorCode Applications(const Krylov *s, PetscInt *count)
{
  PetscEventPerfInfo info;
  PetscLogEvent      event;

  PetscFunctionBegin;
  *count = 0;
  if (!s->count) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventGetId("PCApply", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Krylov *s, KSP ksp, System *p, double *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  PetscCall(KrylovClock(s, &t0));
  PetscCall(KSPSolve(ksp, p->b, p->x));
  PetscCall(KrylovClock(s, &t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc takes the values from here on for new ones, in the memory where they are; those of the block that a
   preconditioner of blocks looks at too.
*/
static PetscErrorCode MarkNew(Mat A)
{
  Mat block;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscCall(MatGetDiagonalBlock(A, &block));
  if (block != A) PetscCall(PetscObjectStateIncrease((PetscObject)block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps a norm at its iteration; those of an earlier solve are overwritten. */
static PetscErrorCode KeepNorm(KSP ksp, PetscInt it, PetscReal norm, void *ctx)
{
  Outcome *out = (Outcome *)ctx;

  (void)ksp;
  out->history[it] = norm;
  out->norms       = it + 1;
  return PETSC_SUCCESS;
}

/* One round: a new preconditioner and a solve, then new values on the same pattern and a solve. */
static PetscErrorCode Round(const Krylov *s, const char *const *options, const char *prefix, KSPType type, System *p, KSP *ksp, double t[4], Outcome *out)
{
  PC        pc;
  PetscReal norm, residual;
  PetscInt  before;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  for (int k = 0; k < KRYLOV_OPTIONS && options[k]; k++) {
    char option[160];

    PetscCall(PetscSNPrintf(option, sizeof(option), "-%s%s", prefix, options[k]));
    PetscCall(PetscOptionsInsertString(NULL, option));
  }
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetOperators(*ksp, p->A, p->A));
  PetscCall(KSPSetTolerances(*ksp, s->rtol, PETSC_DEFAULT, PETSC_DEFAULT, s->max_it));
  if (s->restart) PetscCall(KSPGMRESSetRestart(*ksp, s->restart));
  if (s->history) {
    if (!out->history) PetscCall(PetscMalloc1(s->max_it + 1, &out->history));
    PetscCall(KSPMonitorSet(*ksp, KeepNorm, out, NULL));
  }
  PetscCall(KSPGetPC(*ksp, &pc));
  if (p->prepare) PetscCall((*p->prepare)(pc, p->ctx));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(SetUp(s, pc, &t[0]));
  PetscCall(KSPSetUp(*ksp)); /* the solver's own work vectors are no preconditioner's time */
  PetscCall(Applications(s, &before));
  PetscCall(Solve(s, *ksp, p, &t[1]));
  PetscCall(Applications(s, &out->applications));
  out->applications -= before;
  PetscCall(MarkNew(p->A));
  PetscCall(SetUp(s, pc, &t[2]));
  t[3] = t[1];
  PetscCall(KSPGetConvergedReason(*ksp, &out->reason));
  if (t[1] < s->enough / 2 && out->reason > 0) PetscCall(Solve(s, *ksp, p, &t[3]));

  PetscCall(KSPGetIterationNumber(*ksp, &out->its));
  PetscCall(KSPGetConvergedReason(*ksp, &out->reason));
  PetscCall(MatMult(p->A, p->x, p->r));
  PetscCall(VecAYPX(p->r, -1.0, p->b));
  PetscCall(VecNorm(p->r, NORM_2, &residual));
  PetscCall(VecNorm(p->b, NORM_2, &norm));
  out->residual = residual / norm;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSYNCILU, &out->ours));
  if (out->ours) PetscCall(PCSyncILUGetStatistics(pc, &out->stats));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first round loads libraries and kernels, and is not counted. */
PetscErrorCode KrylovRun(Krylov *s, const char *const *options, KSPType type, System *p, KSP *ksp, Outcome *out)
{
  PetscInt repeat = 1;
  char     prefix[32];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(prefix, sizeof(prefix), "case%" PetscInt_FMT "_", s->prefixes++));
  for (PetscInt r = -1; r < repeat; r++) {
    double t[4];

    PetscCall(KSPDestroy(ksp));
    PetscCall(Round(s, options, prefix, type, p, ksp, t, out));
    if (r < 0) {
      const double all = t[0] + t[1] + t[2] + t[3];

      repeat = PetscMin(s->repeat, all > s->enough ? 1 : BENCH_REPEAT_MAX / 2);
      if (out->reason <= 0) repeat = 0;
      if (repeat && !(s->cold && all > s->enough)) continue;
      repeat = 0;
    }
    out->first.t[out->first.n++] = t[0];
    out->again.t[out->again.n++] = t[2];
    out->solve.t[out->solve.n++] = t[1];
    out->solve.t[out->solve.n++] = t[3];
  }
  out->setup    = BenchMedian(&out->first);
  out->refactor = BenchMedian(&out->again);
  out->time     = BenchMedian(&out->solve);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KrylovApply(const Krylov *s, PC pc, System *p, double *seconds)
{
  const PetscInt batch = 8;
  BenchSample   *sample;
  double         all = 0.0;

  PetscFunctionBegin;
  PetscCall(PetscNew(&sample));
  PetscCall(PCApply(pc, p->b, p->r));
  while (BenchMore(sample->n, 9, all, 0.5)) {
    PetscLogDouble t0, t1;

    PetscCall(KrylovClock(s, &t0));
    for (PetscInt k = 0; k < batch; k++) PetscCall(PCApply(pc, p->b, p->r));
    PetscCall(KrylovClock(s, &t1));
    all += t1 - t0;
    sample->t[sample->n++] = (t1 - t0) / batch;
  }
  *seconds = BenchMedian(sample);
  PetscCall(PetscFree(sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void OutcomeInit(const char *name, Outcome *o)
{
  memset(o, 0, sizeof(*o));
  o->name  = name;
  o->setup = o->refactor = o->time = o->apply = NAN;
}

PetscErrorCode OutcomeDestroy(Outcome *o)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(o->history));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double OutcomeTotal(const Outcome *o)
{
  return o->failed || o->reason <= 0 ? NAN : o->setup + o->time;
}

static PetscErrorCode UseDevice(void)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
#else
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "this PETSc has no CUDA");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KrylovUseDevice(PetscBool *used)
{
  char      why[KRYLOV_WHY];
  PetscBool failed;

  PetscFunctionBegin;
  BenchTry(UseDevice(), why, sizeof(why), &failed);
  if (failed) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skipped: no device for PETSc's matrices and vectors: %s\n", why));
    PetscCall(PetscOptionsClear(NULL));
  }
  *used = (PetscBool)!failed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PrintNumber(int width, const char *format, double number)
{
  char text[32];

  PetscFunctionBegin;
  if (isnan(number)) PetscCall(PetscStrncpy(text, "-", sizeof(text)));
  else (void)snprintf(text, sizeof(text), format, number);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %*s", width, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}
