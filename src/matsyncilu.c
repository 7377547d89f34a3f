/*
   MATSOLVERSYNCILU: incomplete LU factors of sequential AIJ matrices.
*/
#include "syncilu_impl.h"

static PetscErrorCode MatDestroy_SyncILU(Mat F)
{
  Mat_SyncILU *f = (Mat_SyncILU *)F->data;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineDestroy(&f->engine));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscCall(PetscFree(F->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatFactorGetSolverType_SyncILU(Mat F, MatSolverType *type)
{
  PetscFunctionBegin;
  (void)F;
  *type = MATSOLVERSYNCILU;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatIsFactor_SyncILU(Mat F, PetscBool *is)
{
  PetscFunctionBegin;
  *is = (PetscBool)(F->ops->destroy == MatDestroy_SyncILU);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSyncILUGetSettings(Mat F, SyncILUSettings **settings)
{
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(MatIsFactor_SyncILU(F, &is));
  *settings = is ? &((Mat_SyncILU *)F->data)->settings : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the plan does not depend on acts at once; the rest waits for the next symbolic phase. */
PetscErrorCode MatSyncILUSettingsChanged(Mat F)
{
  Mat_SyncILU *f = (Mat_SyncILU *)F->data;

  PetscFunctionBegin;
  if (f->engine) {
    f->engine->settings.relax   = f->settings.relax;
    f->engine->settings.threads = f->settings.threads;
    f->engine->settings.check   = f->settings.check;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows, columns and (with values) values of a sequential AIJ matrix: on the host, or, with device, where the matrix has them. */
static PetscErrorCode GetCSR(Mat A, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  PetscBool    done, aij;
  PetscScalar *a;
  MatInfo      info;

  PetscFunctionBegin;
  csr->a = NULL;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
  if (device && aij && sizeof(PetscInt) == sizeof(int)) {
    csr->n = A->rmap->n;
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr->i, &csr->j, &a, &csr->mem));
#if defined(PETSC_HAVE_CUDA)
    if (PetscMemTypeCUDA(csr->mem)) { /* these rows are without the empty ones where PETSc leaves those out */
      PetscBool cusparse;

      PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &cusparse));
      if (cusparse) PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &csr->i, &csr->j));
    }
#endif
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    csr->nnz = (PetscInt)info.nz_used;
    if (PetscMemTypeDevice(csr->mem)) {
      if (values) csr->a = a;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  csr->mem = PETSC_MEMTYPE_HOST;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr->n, &csr->i, &csr->j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "Matrix of type %s gives no access to its rows; supported are seqaij and the types derived from it", ((PetscObject)A)->type_name);
  csr->nnz = csr->i[csr->n];
  if (values) PetscCall(MatSeqAIJGetArrayRead(A, &csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreCSR(Mat A, SyncILUCSR *csr)
{
  PetscBool done;

  PetscFunctionBegin;
  if (PetscMemTypeDevice(csr->mem)) PetscFunctionReturn(PETSC_SUCCESS);
  if (csr->a) PetscCall(MatSeqAIJRestoreArrayRead(A, &csr->a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr->n, &csr->i, &csr->j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays on the device are for a backend that takes them; the comparison with the reference looks at the host's. */
static PetscBool TakesDevice(SyncILUEngine e)
{
  return (PetscBool)(e->ops->device && !e->settings.check);
}

/* The row of the matrix that is row i of the factor. */
static PetscInt MatrixRow(SyncILUEngine e, PetscInt i)
{
  return e->pattern.row ? e->pattern.row[i] : i;
}

static PetscErrorCode LogFlops(SyncILUEngine e, PetscLogDouble flops)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (e->ops->device) {
    PetscCall(PetscLogGpuFlops(flops));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#else
  (void)e;
#endif
  PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLUFactorNumeric_SyncILU(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_SyncILU         *f = (Mat_SyncILU *)F->data;
  SyncILUEngine        e = f->engine;
  const SyncILUStatus *status;
  SyncILUCSR           csr;
  PetscBool            active;

  PetscFunctionBegin;
  PetscCheck(e, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER, "MatILUFactorSymbolic() must be called before MatLUFactorNumeric()");
  PetscCall(GetCSR(A, TakesDevice(e), PETSC_TRUE, &csr));
  PetscCheck(csr.n == e->pattern.n && csr.nnz == e->pattern.nnz, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_INCOMP, "The matrix has %" PetscInt_FMT " entries, the one of the symbolic phase had %" PetscInt_FMT, csr.nnz, e->pattern.nnz);
  PetscCall(PetscLogEventBegin(SYNCILU_Factor, F, A, 0, 0));
  PetscCall(SyncILUEngineFactor(e, &csr, info));
  PetscCall(PetscLogIsActive(&active));
  if (active) {
    PetscLogDouble flops;

    PetscCall(SyncILUEngineFlops(e, &flops));
    PetscCall(LogFlops(e, flops));
  }
  PetscCall(PetscLogEventEnd(SYNCILU_Factor, F, A, 0, 0));
  PetscCall(RestoreCSR(A, &csr));

  status             = &e->status;
  F->assembled       = PETSC_TRUE;
  F->preallocated    = PETSC_TRUE;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  if (status->row >= 0) {
    const PetscInt row = MatrixRow(e, status->row);

    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "Zero pivot row %" PetscInt_FMT " of the factor (row %" PetscInt_FMT " of the matrix) value %g tolerance %g", status->row, row, (double)status->pivot, (double)info->zeropivot);
    PetscCall(PetscInfo(F, "Detected zero pivot in factorization in row %" PetscInt_FMT " of the factor (row %" PetscInt_FMT " of the matrix) value %g tolerance %g\n", status->row, row, (double)status->pivot, (double)info->zeropivot));
    F->factorerrortype             = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    F->factorerror_zeropivot_value = status->pivot;
    F->factorerror_zeropivot_row   = status->row;
  }
  if (status->shifted) PetscCall(PetscInfo(F, "%" PetscInt_FMT " pivots shifted by %g, attempts with other shifts %" PetscInt_FMT "\n", status->shifted, (double)e->amount, e->attempts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsNatural(PetscInt n, const PetscInt *p)
{
  for (PetscInt i = 0; i < n; i++) {
    if (p[i] != i) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*
   The indices of an ordering, or NULL if both are the natural one. ISIdentity() must not be asked: it remembers that MatGetOrdering() made the identity, and MatReorderForNonzeroDiagonal() changes
   the indices behind its back.
*/
static PetscErrorCode GetOrdering(IS row, IS col, PetscInt n, const PetscInt **r, const PetscInt **c)
{
  PetscFunctionBegin;
  *r = *c = NULL;
  if (!row && !col) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(row && col, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Row and column ordering must both be given");
  PetscCall(ISGetIndices(row, r));
  PetscCall(ISGetIndices(col, c));
  if (IsNatural(n, *r) && IsNatural(n, *c)) {
    PetscCall(ISRestoreIndices(row, r));
    PetscCall(ISRestoreIndices(col, c));
    *r = *c = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An engine with its pattern and plan; on an error it is the caller's to destroy. */
static PetscErrorCode Plan(const SyncILUSettings *settings, Mat A, const PetscInt *r, const PetscInt *c, const MatFactorInfo *info, SyncILUEngine *engine)
{
  const SyncILUFill fill = {(PetscInt)info->levels, (PetscInt)info->diagonal_fill};
  SyncILUEngine     e;
  SyncILUCSR        csr;
  PetscBool         again;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineCreate(settings, A->rmap->n, engine));
  e = *engine;
  do {
    PetscBool adopted = PETSC_FALSE;

    if (e->ops->adopt && !r && !fill.levels && !e->settings.check) {
      PetscCall(GetCSR(A, PETSC_TRUE, PETSC_FALSE, &csr));
      PetscCall((*e->ops->adopt)(e, &csr, &adopted));
      PetscCall(RestoreCSR(A, &csr));
    }
    if (!adopted) { /* also where the rows lack something, which the symbolic phase adds or names */
      PetscCall(GetCSR(A, PETSC_FALSE, PETSC_FALSE, &csr));
      ierr = SyncILUPatternCreate(&csr, r, c, fill, &e->pattern);
      PetscCall(RestoreCSR(A, &csr));
      PetscCall(ierr);
    }
    PetscCall(SyncILUEngineSetUp(e, &again));
  } while (again);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactorSymbolic_SyncILU(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  Mat_SyncILU    *f = (Mat_SyncILU *)F->data;
  SyncILUEngine   e = NULL;
  const PetscInt *r, *c;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "Must be square matrix, rows %" PetscInt_FMT " columns %" PetscInt_FMT, A->rmap->n, A->cmap->n);
  PetscCheck(!info->usedt, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "syncilu has no drop tolerance (PCFactorSetDropTolerance()), only levels of fill");
  if (!f->frompc) {
    PetscObjectOptionsBegin((PetscObject)F);
    PetscCall(SyncILUSettingsSetFromOptions(PetscOptionsObject, &f->settings));
    PetscOptionsEnd();
  }
  F->assembled = PETSC_FALSE; /* until the numeric phase */
  PetscCall(SyncILUEngineDestroy(&f->engine));
  PetscCall(PetscLogEventBegin(SYNCILU_Analysis, F, A, 0, 0));
  PetscCall(GetOrdering(row, col, A->rmap->n, &r, &c));
  ierr = Plan(&f->settings, A, r, c, info, &e);
  if (ierr) PetscCall(SyncILUEngineDestroy(&e)); /* an error here is the user's to handle, and not the last thing the program does */
  if (r) {
    PetscCall(ISRestoreIndices(row, &r));
    PetscCall(ISRestoreIndices(col, &c));
  }
  PetscCall(PetscLogEventEnd(SYNCILU_Analysis, F, A, 0, 0));
  PetscCall(ierr);
  f->engine = e;
  f->analyses++;
  f->fill = info->fill;
  if (f->engine->pattern.added) PetscCall(PetscInfo(F, "Added %" PetscInt_FMT " missing diagonal entries\n", f->engine->pattern.added));
  F->ops->lufactornumeric = MatLUFactorNumeric_SyncILU;
  F->preallocated         = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LogSolveFlops(SyncILUEngine e, PetscInt nrhs)
{
  PetscFunctionBegin;
  PetscCall(LogFlops(e, (PetscLogDouble)nrhs * (2.0 * (PetscLogDouble)e->pattern.nl + 2.0 * (PetscLogDouble)e->pattern.nu + (PetscLogDouble)e->pattern.n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFactored(Mat F)
{
  PetscFunctionBegin;
  PetscCheck(F->assembled, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER, "MatLUFactorNumeric() must be called before MatSolve() and its relatives");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x may be b. */
static PetscErrorCode Solve(Mat F, Vec b, Vec x, SyncILUTranspose trans)
{
  Mat_SyncILU       *f = (Mat_SyncILU *)F->data;
  SyncILUEngine      e = f->engine;
  const PetscInt     n = F->rmap->n;
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscMemType       bmem = PETSC_MEMTYPE_HOST, xmem = PETSC_MEMTYPE_HOST;
  PetscBool          done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(CheckFactored(F));
  PetscCall(PetscLogEventBegin(SYNCILU_Solve, F, b, x, 0));
  if (TakesDevice(e)) {
    PetscCall(VecGetArrayReadAndMemType(b, &ba, &bmem));
    PetscCall(VecGetArrayWriteAndMemType(x, &xa, &xmem));
    done = (PetscBool)(PetscMemTypeDevice(bmem) == PetscMemTypeDevice(xmem));
    if (done) PetscCall(SyncILUEngineSolve(e, trans, 1, ba, n, xa, n, bmem));
    PetscCall(VecRestoreArrayWriteAndMemType(x, &xa));
    PetscCall(VecRestoreArrayReadAndMemType(b, &ba));
  }
  if (!done) { /* the host backend, or one vector here and the other there */
    PetscCall(VecGetArrayRead(b, &ba));
    PetscCall(VecGetArrayWrite(x, &xa));
    PetscCall(SyncILUEngineSolve(e, trans, 1, ba, n, xa, n, PETSC_MEMTYPE_HOST));
    PetscCall(VecRestoreArrayWrite(x, &xa));
    PetscCall(VecRestoreArrayRead(b, &ba));
  }
  PetscCall(LogSolveFlops(e, 1));
  PetscCall(PetscLogEventEnd(SYNCILU_Solve, F, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolve_SyncILU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, b, x, SYNCILU_NOTRANS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveTranspose_SyncILU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(Solve(F, b, x, SYNCILU_TRANS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSolveMany(Mat F, Mat B, Mat X, SyncILUTranspose trans)
{
  Mat_SyncILU       *f = (Mat_SyncILU *)F->data;
  const PetscScalar *b;
  PetscScalar       *x;
  PetscInt           ldb, ldx;
  PetscBool          dense, done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(CheckFactored(F));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)B, MATSEQDENSE, &dense));
  PetscCheck(dense, PetscObjectComm((PetscObject)B), PETSC_ERR_ARG_WRONG, "Right-hand sides must be a matrix of type seqdense, not %s", ((PetscObject)B)->type_name);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)X, MATSEQDENSE, &dense));
  PetscCheck(dense, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_WRONG, "Solutions must be a matrix of type seqdense, not %s", ((PetscObject)X)->type_name);
  if (!B->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(SYNCILU_Solve, F, B, X, 0));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
#if defined(PETSC_HAVE_CUDA)
  if (TakesDevice(f->engine)) {
    PetscMemType bmem, xmem;

    PetscCall(MatDenseGetArrayReadAndMemType(B, &b, &bmem));
    PetscCall(MatDenseGetArrayWriteAndMemType(X, &x, &xmem));
    done = (PetscBool)(PetscMemTypeDevice(bmem) == PetscMemTypeDevice(xmem));
    if (done) PetscCall(SyncILUEngineSolve(f->engine, trans, B->cmap->n, b, ldb, x, ldx, bmem));
    PetscCall(MatDenseRestoreArrayWriteAndMemType(X, &x));
    PetscCall(MatDenseRestoreArrayReadAndMemType(B, &b));
  }
#endif
  if (!done) {
    PetscCall(MatDenseGetArrayRead(B, &b));
    PetscCall(MatDenseGetArrayWrite(X, &x));
    PetscCall(SyncILUEngineSolve(f->engine, trans, B->cmap->n, b, ldb, x, ldx, PETSC_MEMTYPE_HOST));
    PetscCall(MatDenseRestoreArrayWrite(X, &x));
    PetscCall(MatDenseRestoreArrayRead(B, &b));
  }
  PetscCall(LogSolveFlops(f->engine, B->cmap->n));
  PetscCall(PetscLogEventEnd(SYNCILU_Solve, F, B, X, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolve_SyncILU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(MatSolveMany(F, B, X, SYNCILU_NOTRANS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMatSolveTranspose_SyncILU(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(MatSolveMany(F, B, X, SYNCILU_TRANS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSyncILUGetStatistics - what a factorization is and what it took

   Not Collective

   Input Parameter:
.  F - a matrix of MatGetFactor() with `MATSOLVERSYNCILU`, after MatILUFactorSymbolic()

   Output Parameter:
.  statistics - counted on this MPI rank

   Level: intermediate

.seealso: `SyncILUStatistics`, `PCSyncILUGetStatistics()`
@*/
PetscErrorCode MatSyncILUGetStatistics(Mat F, SyncILUStatistics *statistics)
{
  PetscBool    is;
  Mat_SyncILU *f;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscCall(MatIsFactor_SyncILU(F, &is));
  PetscCheck(is, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG, "Not a factor of solver type " MATSOLVERSYNCILU);
  f = (Mat_SyncILU *)F->data;
  PetscCheck(f->engine, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER, "Statistics are there after MatILUFactorSymbolic()");
  PetscCall(PetscMemzero(statistics, sizeof(*statistics)));
  PetscCall(SyncILUEngineStatistics(f->engine, statistics));
  statistics->analyses = f->analyses;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatGetInfo_SyncILU(Mat F, MatInfoType type, MatInfo *info)
{
  Mat_SyncILU *f = (Mat_SyncILU *)F->data;

  PetscFunctionBegin;
  (void)type; /* the factor lives on one rank */
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size = 1.0;
  if (f->engine) {
    const SyncILUPattern *p = &f->engine->pattern;

    info->nz_used           = (PetscLogDouble)p->nl + (PetscLogDouble)p->nu + (PetscLogDouble)p->n;
    info->nz_allocated      = info->nz_used;
    info->memory            = (PetscLogDouble)(SyncILUPatternBytes(p) + (PetscInt64)(info->nz_used * sizeof(PetscScalar)));
    info->fill_ratio_given  = f->fill;
    info->fill_ratio_needed = p->nnz ? info->nz_used / (PetscLogDouble)p->nnz : 1.0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_SyncILU(Mat F, PetscViewer viewer)
{
  Mat_SyncILU      *f = (Mat_SyncILU *)F->data;
  SyncILUStatistics s;
  PetscBool         isascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii || !f->engine) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(MatSyncILUGetStatistics(F, &s));
  PetscCall(PetscViewerASCIIPrintf(viewer, "backend: %s (%s)\n", SyncILUBackends[s.backend], f->engine->why));
  PetscCall((*f->engine->ops->view)(f->engine, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "nonzeros: %" PetscInt64_FMT ", fill %g, bytes held: %" PetscInt64_FMT "\n", s.nonzeros, (double)s.fill, s.bytes));
  if (s.levels[0] < 0) PetscCall(PetscViewerASCIIPrintf(viewer, "levels: not counted, for lack of memory on the device\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "levels: L %" PetscInt_FMT " (rows a level: mean %g, max %" PetscInt_FMT "), U %" PetscInt_FMT " (mean %g, max %" PetscInt_FMT ")\n", s.levels[0], s.levels[0] ? (double)s.rows / s.levels[0] : 0.0, s.level_rows[0], s.levels[1],
                                     s.levels[1] ? (double)s.rows / s.levels[1] : 0.0, s.level_rows[1]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "pivots shifted: %" PetscInt_FMT ", by %g, attempts with other shifts: %" PetscInt_FMT "\n", s.pivots_shifted, (double)s.shift_amount, s.shift_attempts));
  if (s.diagonals_added) PetscCall(PetscViewerASCIIPrintf(viewer, "missing diagonal entries added: %" PetscInt_FMT "\n", s.diagonals_added));
  if (s.failed_row >= 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "factorization failed: zero pivot in row %" PetscInt_FMT " of the factor, row %" PetscInt_FMT " of the matrix, value %g\n", s.failed_row, MatrixRow(f->engine, s.failed_row), (double)s.failed_pivot));
  PetscCall(SyncILUSettingsView(&f->settings, viewer));
  if (format == PETSC_VIEWER_ASCII_INFO_DETAIL) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "symbolic phases: %" PetscInt_FMT ", numeric phases: %" PetscInt_FMT "\n", s.analyses, s.factorizations));
    PetscCall(PetscViewerASCIIPrintf(viewer, "entries: L %" PetscInt_FMT ", U %" PetscInt_FMT " without the diagonal; ordering: %s\n", f->engine->pattern.nl, f->engine->pattern.nu, f->engine->pattern.row ? "permuted" : "natural"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATSOLVERSYNCILU = "syncilu" - incomplete LU factorization without synchronization between levels, on the CPU's threads or on a GPU

   Works with `MATSEQAIJ` and `MATSEQAIJCUSPARSE` matrices, through `PCSYNCILU`, `PCILU` (-pc_type ilu -pc_factor_mat_solver_type syncilu), or MatGetFactor().

   Options Database Keys (with the prefix of the factored matrix, that is, of the preconditioner):
+  -pc_syncilu_backend (auto|host|cuda)                            - where it runs
.  -pc_syncilu_update (auto|shared|vect|adapt|parallel|list|flow)  - how a GPU finds the entries that two rows share
.  -pc_syncilu_prefetch (true|false)                               - find them while waiting for the row
.  -pc_syncilu_vector_size (0|1|2|4|8|16|32)                       - lanes a row, 0 lets the library choose
.  -pc_syncilu_analysis (auto|none|asap|alap)                      - order in which rows are handed out
.  -pc_syncilu_solve (auto|csr|mr|hyb|ell|flow|levelset)           - how a GPU runs the triangular solves
.  -pc_syncilu_threads <n>                                         - threads on the host, default OMP_NUM_THREADS, else 1
.  -pc_syncilu_relax <w>                                           - dropped fill is added times w to the diagonal, 0 <= w <= 1
-  -pc_syncilu_check                                               - compare with the serial reference

   Level: beginner

   Note:
   With natural ordering and 0 levels of fill the factor is that of PETSc's own ILU(0), entry by entry.

.seealso: `PCSYNCILU`, `MatGetFactor()`, `PCFactorSetMatSolverType()`
M*/
PetscErrorCode MatGetFactor_SyncILU(Mat A, MatFactorType type, Mat *factor)
{
  Mat_SyncILU     *f;
  Mat              F;
  PetscObject      container;
  SyncILUSettings *settings;

  PetscFunctionBegin;
  (void)type; /* registered for MAT_FACTOR_ILU alone */
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERSYNCILU, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCall(PetscNew(&f));
  F->data = f;
  SyncILUSettingsInitialize(&f->settings);
  PetscCall(PetscObjectQuery((PetscObject)A, SYNCILU_SETTINGS_KEY, &container));
  if (container) {
    PetscCall(PetscContainerGetPointer((PetscContainer)container, (void **)&settings));
    f->settings = *settings;
    f->frompc   = PETSC_TRUE;
  }

  F->ops->destroy           = MatDestroy_SyncILU;
  F->ops->view              = MatView_SyncILU;
  F->ops->getinfo           = MatGetInfo_SyncILU;
  F->ops->ilufactorsymbolic = MatILUFactorSymbolic_SyncILU;
  F->ops->solve             = MatSolve_SyncILU;
  F->ops->solvetranspose    = MatSolveTranspose_SyncILU;
  F->ops->matsolve          = MatMatSolve_SyncILU;
  F->ops->matsolvetranspose = MatMatSolveTranspose_SyncILU;
  F->factortype             = MAT_FACTOR_ILU;
  F->canuseordering         = PETSC_TRUE;
  F->assembled              = PETSC_FALSE; /* until the numeric phase */
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&F->preferredordering[MAT_FACTOR_ILU]));
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERSYNCILU, &F->solvertype));
  PetscCall(PetscFree(F->defaultvectype));
  PetscCall(PetscStrallocpy(A->defaultvectype, &F->defaultvectype));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_SyncILU));
  *factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}
