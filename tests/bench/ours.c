/*
   The measurements of our engine.
*/
#include "kernels.h"
#if defined(BENCH_KERNELS)
  #include "on_device.h"
  #include "../check.h"

typedef struct {
  const Strategy *strategy;
  Subject        *s;
  SyncILUEngine   e;
  SyncILUCSR      csr, *host; /* NULL: the rows are on the device alone */
  PetscBool       other;      /* which of the two sets of values */
} Ours;

static PetscErrorCode Analyze(void *ctx)
{
  Ours         *o      = (Ours *)ctx;
  Arrays        arrays = {o->host, &o->csr};
  SyncILUSource source;

  PetscFunctionBegin;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineCreate(&o->strategy->settings, o->csr.n, &source, NULL, NULL, o->s->c.fill, &o->e));
  PetscCheck(!o->e->pattern.lptr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The backend leaves the symbolic phase to the host");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor(void *ctx)
{
  Ours *o = (Ours *)ctx;

  PetscFunctionBegin;
  if (o->s->other) o->csr.a = o->other ? o->s->other : o->s->device.a;
  PetscCall(EngineFactorUnshifted(o->e, o->host, &o->csr, o->s->c.piv.zeropivot));
  PetscCheck(o->e->status.row < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Pivot %g rejected in row %" PetscInt_FMT, (double)o->e->status.pivot, o->e->status.row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where there are no other values, the first ones times two, which is as exact as the way back. */
static PetscErrorCode ChangeValues(void *ctx)
{
  Ours *o = (Ours *)ctx;

  PetscFunctionBegin;
  o->other = (PetscBool)!o->other;
  if (o->s->other) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(OnDeviceScale((size_t)o->csr.nnz, o->other ? 2.0 : 0.5, (double *)o->csr.a));
  PetscCallCUDA(cudaDeviceSynchronize()); /* PETSc's stream does not wait for the default stream */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveColumns(Ours *o, SyncILUTranspose trans, PetscInt columns)
{
  PetscFunctionBegin;
  PetscCall(SyncILUEngineSolve(o->e, trans, columns, o->s->db, o->csr.n, o->s->dx, o->csr.n, PETSC_MEMTYPE_DEVICE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(void *ctx)
{
  return SolveColumns((Ours *)ctx, SYNCILU_NOTRANS, 1);
}

static PetscErrorCode SolveTransposed(void *ctx)
{
  return SolveColumns((Ours *)ctx, SYNCILU_TRANS, 1);
}

static PetscErrorCode SolveMany(void *ctx)
{
  return SolveColumns((Ours *)ctx, SYNCILU_NOTRANS, COLUMNS);
}

/* The strategies that ran. */
static PetscErrorCode WhatRuns(SyncILUEngine e, Row *row)
{
  char        text[2048];
  const char *value;

  PetscFunctionBegin;
  PetscCall(EngineView(e, text, sizeof(text)));
  value = CheckViewValue(text, "factorization");
  if (value) (void)sscanf(value, "%15[a-z]", row->factorization);
  value = CheckViewValue(text, "solve");
  if (value) (void)sscanf(value, "%15[a-z]", row->solver);
  if (strstr(text, "one triangle is factored")) PetscCall(PetscStrlcat(row->factorization, " half", sizeof(row->factorization)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureMore(const Bench *bench, Ours *o, Row *row)
{
  SyncILUStatistics stats;

  PetscFunctionBegin;
  PetscCall(TimeOnStream(bench, row, TRANSPOSED, SolveTransposed, o));
  PetscCall(SubjectCheck(o->s, TRANSPOSED, &row->error[TRANSPOSED]));
  PetscCall(TimeOnHost(bench, row, TFIRST, Factor, SolveTransposed, o));
  PetscCall(SubjectCheck(o->s, TFIRST, &row->error[TFIRST]));
  PetscCall(TimeOnStream(bench, row, MANY, SolveMany, o));
  PetscCall(SubjectCheck(o->s, MANY, &row->error[MANY]));
  PetscCall(SyncILUEngineStatistics(o->e, &stats));
  row->bytes_all = (double)stats.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How far the factor is from the matrix on its pattern, if there is memory for that. */
static PetscErrorCode CheckFactor(Ours *o, double *error)
{
  PetscReal residual = 0.0;
  PetscBool failed;
  char      why[WHY];

  PetscFunctionBegin;
  BenchTry((*o->e->ops->residual)(o->e, &o->csr, &residual), why, sizeof(why), &failed);
  if (failed) PetscCall(PetscPrintf(PETSC_COMM_SELF, "note: %s: the factor is not compared with the matrix: %s\n", o->s->name, why));
  else if (!(residual <= *error)) *error = residual;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const Bench *bench, Ours *o, Row *row)
{
  BenchSample       analysis = {0}, first = {0};
  SyncILUStatistics stats;
  double            seconds = 0.0;

  PetscFunctionBegin;
  for (PetscInt r = -1; r < 0 || BenchMore(r, bench->repeat, seconds, bench->limit); r++) {
    double a = 0.0, f = 0.0;

    PetscCall(SyncILUEngineDestroy(&o->e));
    PetscCall(TimeCall(NULL, Analyze, o, &a));
    PetscCall(TimeCall(NULL, Factor, o, &f));
    if (r < 0) continue;
    analysis.t[analysis.n++] = a;
    first.t[first.n++]       = f;
    seconds += a + f;
  }
  PetscCall(TimeKeep(row, ANALYSIS, &analysis));
  PetscCall(TimeKeep(row, FIRST, &first));
  PetscCall(WhatRuns(o->e, row));
  PetscCall(Solve(o));
  PetscCall(SubjectCheck(o->s, SOLVE, &row->error[FIRST]));
  PetscCall(TimeOnHost(bench, row, REFACTOR, ChangeValues, Factor, o));
  if (o->other) { /* the reference has the first values alone */
    PetscCall(ChangeValues(o));
    PetscCall(Factor(o));
  }
  PetscCall(Solve(o));
  PetscCall(SubjectCheck(o->s, SOLVE, &row->error[REFACTOR]));
  PetscCall(TimeOnStream(bench, row, SOLVE, Solve, o));
  PetscCall(SubjectCheck(o->s, SOLVE, &row->error[SOLVE]));
  PetscCall(SyncILUEngineStatistics(o->e, &stats));
  row->bytes = (double)stats.bytes;
  if (bench->brief) PetscCall(CheckFactor(o, &row->error[REFACTOR]));
  else PetscCall(MeasureMore(bench, o, row));
  if (!o->s->c.ref) PetscCall(PetscArraycpy(o->s->levels, stats.levels, 2));
  PetscCheck(stats.levels[0] == o->s->levels[0] && stats.levels[1] == o->s->levels[1], PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "The statistics say %" PetscInt_FMT " and %" PetscInt_FMT " levels", stats.levels[0], stats.levels[1]);
  if (bench->view) PetscCall((*o->e->ops->view)(o->e, PETSC_VIEWER_STDOUT_SELF));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MeasureOurs(const Bench *bench, const Strategy *strategy, Subject *s, Row *row)
{
  Ours            o;
  PetscBool       failed;
  char            why[WHY]; /* what fails after a failure is no second one */
  SyncILUSettings exact;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&o, sizeof(o)));
  o.strategy = strategy;
  o.s        = s;
  o.csr      = s->device;
  o.host     = s->A ? &s->c.csr : NULL;
  if (!s->c.ref && (SyncILUSweeps(&strategy->settings) || strategy->settings.solve == SYNCILU_SOLVE_JACOBI)) {
    row->failed = PETSC_TRUE;
    PetscCall(PetscStrncpy(row->why, "-brief has no reference of what is not exact", sizeof(row->why)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (SyncILUSweeps(&strategy->settings)) PetscCall(CaseRefer(&s->c, SyncILUSweeps(&strategy->settings)));
  PetscCall(CaseExpect(&s->c, &strategy->settings));
  BenchTry(Measure(bench, &o, row), row->why, sizeof(row->why), &row->failed);
  BenchTry(SyncILUEngineDestroy(&o.e), why, sizeof(why), &failed);
  if (o.other) BenchTry(ChangeValues(&o), why, sizeof(why), &failed);
  if (s->c.piv.sweeps) PetscCall(CaseRefer(&s->c, 0)); /* for all others */
  (void)cudaGetLastError();
  SyncILUSettingsInitialize(&exact); /* as the rows of cuSPARSE are */
  PetscCall(CaseExpect(&s->c, &exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
