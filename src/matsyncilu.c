/*
   MATSOLVERSYNCILU: incomplete LU factors of sequential AIJ and BAIJ matrices, incomplete Cholesky factors of
   sequential AIJ and SBAIJ matrices.
*/
#include "syncilu_impl.h"
#include <petscdmda.h>

static PetscErrorCode MatDestroy_SyncILU(Mat F)
{
  Mat_SyncILU *f = (Mat_SyncILU *)F->data;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineDestroy(&f->engine));
  PetscCall(SyncILUDerivedDestroy(&f->mirror));
  PetscCall(MatSyncILUComposeShared(F, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatSyncILUGetStatistics_C", NULL));
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

/* What the plan does not depend on acts at once; the rest waits for the next symbolic phase. */
PetscErrorCode MatSyncILUSettingsChanged(Mat F)
{
  Mat_SyncILU *f = (Mat_SyncILU *)F->data;

  PetscFunctionBegin;
  if (f->engine) {
    f->engine->settings.relax            = f->shared->settings.relax;
    f->engine->relax                     = f->shared->settings.relax;
    f->engine->settings.sweeps           = f->shared->settings.sweeps;
    f->engine->settings.asynchronous     = f->shared->settings.asynchronous;
    f->engine->settings.fill             = f->shared->settings.fill;
    f->engine->settings.rounds           = f->shared->settings.rounds;
    f->engine->settings.tolerance        = f->shared->settings.tolerance;
    f->engine->settings.residual         = f->shared->settings.residual;
    f->engine->settings.threads          = f->shared->settings.threads;
    f->engine->settings.check            = f->shared->settings.check;
    f->engine->settings.tune             = f->shared->settings.tune;
    f->engine->settings.solve_sweeps     = f->shared->settings.solve_sweeps;
    f->engine->settings.solve_block_size = f->shared->settings.solve_block_size;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILULogFlops(SyncILUEngine e, PetscLogDouble flops)
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

static PetscErrorCode DropEngine(Mat_SyncILU *f)
{
  PetscFunctionBegin;
  if (f->engine) f->analyses += f->engine->analyses;
  PetscCall(SyncILUEngineDestroy(&f->engine));
  f->mirror.reader = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether what is planned reads the upper triangle alone. The check, the residual and what tuning tries want
   both of a device's matrix.
*/
static PetscBool ReadsUpper(const Mat_SyncILU *f)
{
  const SyncILUSettings *s = &f->shared->settings;

  if (!f->engine || !f->engine->ops) return PETSC_FALSE;
  return (PetscBool)(f->engine->pattern.half || (f->engine->pattern.upper && !s->check && !s->residual && !s->tune));
}

/* The matrix as it is to be factored: of ICC the one that its upper triangle stands for. */
static PetscErrorCode GetSource(Mat F, Mat A, SyncILUSource *source)
{
  Mat_SyncILU  *f = (Mat_SyncILU *)F->data;
  SyncILUSource rows;
  PetscBool     known, symmetric, half, set;

  PetscFunctionBegin;
  PetscCall(SyncILUSourceFromMat(A, source));
  if (!f->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(source->bs == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "ICC of syncilu does not support blocks: the matrix of type %s has blocks of %" PetscInt_FMT " rows; use type aij", ((PetscObject)A)->type_name,
             source->bs);
  PetscCall(SyncILUMatIsSBAIJ(A, &half));
  PetscCall(MatIsSymmetricKnown(A, &known, &symmetric));
  known = (PetscBool)(known && symmetric);
  if (PetscDefined(USE_COMPLEX) && !known) {
    PetscBool hermitian;

    PetscCall(MatIsHermitianKnown(A, &set, &hermitian));
    PetscCheck(!set || !hermitian, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "ICC of syncilu is for symmetric matrices, not for Hermitian ones");
  }
  f->mirrored = (PetscBool)(half || !known);
  if (f->mirrored) {
    rows = *source;
    SyncILUDerivedSource(&f->mirror, &rows, half ? SyncILUMakeWhole : SyncILUMakeSymmetric, source);
    f->mirror.reader = ReadsUpper(f) ? &f->engine->pattern : NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks are inverted, and have no pivots to compare with a row. */
static PetscErrorCode CheckShift(Mat A, const SyncILUSource *source, const MatFactorInfo *info)
{
  const MatFactorShiftType shift = (MatFactorShiftType)(int)info->shifttype;

  PetscFunctionBegin;
  PetscCheck(source->bs == 1 || shift == MAT_SHIFT_NONE || shift == MAT_SHIFT_INBLOCKS, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "-pc_factor_shift_type %s: a matrix of type %s with blocks has none and inblocks alone", MatFactorShiftTypes[shift], ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatLUFactorNumeric_SyncILU(Mat F, Mat A, const MatFactorInfo *info)
{
  Mat_SyncILU         *f    = (Mat_SyncILU *)F->data;
  SyncILUEngine        e    = f->engine;
  MatFactorInfo        mine = *info;
  const SyncILUStatus *status;
  SyncILUSource        source;
  PetscBool            active, baij;
  PetscErrorCode       ierr;

  PetscFunctionBegin;
  PetscCheck(e, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER,
             "The symbolic phase, MatILUFactorSymbolic() or MatICCFactorSymbolic(), must come before the numeric one");
  PetscCheck(!A->structure_only, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The matrix has no values (MAT_STRUCTURE_ONLY)");
  F->assembled = PETSC_FALSE; /* until there is a new factor */
  PetscCall(SyncILUMatIsBAIJ(A, &baij));
  if (!baij && F->factortype == MAT_FACTOR_ILU && (f->shared->shiftknown ? f->shared->nonzero : f->nonzero) && mine.shifttype == (PetscReal)MAT_SHIFT_INBLOCKS)
    mine.shifttype = (PetscReal)MAT_SHIFT_NONZERO;
  PetscCall(GetSource(F, A, &source));
  PetscCall(CheckShift(A, &source, info));
  PetscCall(PetscLogEventBegin(SYNCILU_Factor, F, A, 0, 0));
  ierr = SyncILUEngineFactor(e, &source, &mine);
  if (ierr) {
    PetscCall(PetscLogEventEnd(SYNCILU_Factor, F, A, 0, 0));
    /* the matrix has another pattern, for which there is no plan */
    if (!e->ops) PetscCall(DropEngine(f));
  }
  PetscCall(ierr);
  PetscCall(PetscLogIsActive(&active));
  if (active) {
    PetscLogDouble flops;

    PetscCall(SyncILUEngineFlops(e, &flops));
    PetscCall(SyncILULogFlops(e, flops));
  }
  PetscCall(PetscLogEventEnd(SYNCILU_Factor, F, A, 0, 0));

  status             = &e->status;
  F->assembled       = PETSC_TRUE;
  F->preallocated    = PETSC_TRUE;
  F->factorerrortype = MAT_FACTOR_NOERROR;
  if (status->row >= 0) {
    PetscInt row;

    PetscCall(SyncILUEngineRow(e, status->row, &row));
    PetscCheck(!A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT,
               "Zero pivot row %" PetscInt_FMT " of the factor (row %" PetscInt_FMT " of the matrix) value %g tolerance %g", status->row, row,
               (double)status->pivot, (double)info->zeropivot);
    PetscCall(
      PetscInfo(F, "Detected zero pivot in factorization in row %" PetscInt_FMT " of the factor (row %" PetscInt_FMT " of the matrix) value %g tolerance %g\n",
                status->row, row, (double)status->pivot, (double)info->zeropivot));
    F->factorerrortype             = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    F->factorerror_zeropivot_value = status->pivot;
    F->factorerror_zeropivot_row   = status->row;
  }
  if (status->shifted)
    PetscCall(
      PetscInfo(F, "%" PetscInt_FMT " pivots shifted by %g, attempts with other shifts %" PetscInt_FMT "\n", status->shifted, (double)e->amount, e->attempts));
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
   The indices of an ordering, or NULL if both are the natural one. ISIdentity() must not be asked: it
   remembers that MatGetOrdering() made the identity, and MatReorderForNonzeroDiagonal() changes the indices
   behind its back.
*/
static PetscErrorCode GetOrdering(IS row, IS col, PetscInt n, const PetscInt **r, const PetscInt **c)
{
  PetscInt rows, cols;

  PetscFunctionBegin;
  *r = *c = NULL;
  if (!row && !col) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(row && col, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Row and column ordering must both be given");
  PetscCall(ISGetLocalSize(row, &rows));
  PetscCall(ISGetLocalSize(col, &cols));
  PetscCheck(rows == n && cols == n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The ordering has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns, the matrix has %" PetscInt_FMT " (block) rows", rows, cols, n);
  PetscCall(ISGetIndices(row, r));
  PetscCall(ISGetIndices(col, c));
  if (IsNatural(n, *r) && IsNatural(n, *c)) {
    PetscCall(ISRestoreIndices(row, r));
    PetscCall(ISRestoreIndices(col, c));
    *r = *c = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Where no PCSYNCILU does it. The option of the shift says what was meant where PCILU turned
   MAT_SHIFT_NONZERO into MAT_SHIFT_INBLOCKS (see PCSyncILUSetUpILU()) and none of our setters was called.
*/
static PetscErrorCode ReadOptions(Mat F, Mat A)
{
  Mat_SyncILU       *f = (Mat_SyncILU *)F->data;
  MatFactorShiftType shift;
  PetscBool          set, aij;

  PetscFunctionBegin;
  PetscObjectOptionsBegin((PetscObject)F);
  PetscCall(SyncILUSettingsSetFromOptions(PetscOptionsObject, &f->shared->settings));
  PetscOptionsEnd();
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
  PetscCall(PetscOptionsGetEnum(((PetscObject)F)->options, ((PetscObject)F)->prefix, "-pc_factor_shift_type", MatFactorShiftTypes, (PetscEnum *)&shift, &set));
  f->nonzero = (PetscBool)(!aij && set && shift == MAT_SHIFT_NONZERO);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A symmetric matrix stays so if its rows and columns come in the same order. */
static PetscErrorCode CheckOrdering(PetscBool symmetric, PetscInt n, const PetscInt *row, const PetscInt *col)
{
  PetscBool same = PETSC_TRUE;

  PetscFunctionBegin;
  if (symmetric && row) PetscCall(PetscArraycmp(row, col, n, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "ICC wants rows and columns in the same ordering, which -pc_factor_nonzeros_along_diagonal does not leave them in");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The grid of a DM, or of the matrix' own, where none was given: DMDA numbers the points of a rank one
   after the other, x first. Of the block of a rank the DM is that of the whole matrix, and the grid the
   part that the rank has of it.
*/
PetscErrorCode SyncILUFindGrid(Mat A, DM dm, SyncILUSettings *s)
{
  PetscInt   points[3], dof;
  PetscInt64 rows;
  PetscBool  da;

  PetscFunctionBegin;
  if (s->grid_from != SYNCILU_GRID_UNKNOWN) PetscFunctionReturn(PETSC_SUCCESS);
  if (!dm) PetscCall(MatGetDM(A, &dm));
  if (!dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMDA, &da));
  if (!da) {
    PetscCall(PetscInfo(A, "The matrix' DM of type %s gives no grid, which is searched for in the pattern\n", ((PetscObject)dm)->type_name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMDAGetCorners(dm, NULL, NULL, NULL, &points[0], &points[1], &points[2]));
  PetscCall(DMDAGetDof(dm, &dof));
  rows = (PetscInt64)points[0] * points[1] * points[2] * dof;
  if (rows != A->rmap->n || !rows) {
    PetscCall(
      PetscInfo(A, "The matrix' DM has %" PetscInt64_FMT " unknowns on this rank, the matrix %" PetscInt_FMT " rows: its grid is searched for in the pattern\n",
                rows, A->rmap->n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->grid_from = SYNCILU_GRID_DM;
  for (int c = 0; c < 3; c++) s->grid[c] = points[c];
  s->grid[3] = dof;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatILUFactorSymbolic_SyncILU(Mat F, Mat A, IS row, IS col, const MatFactorInfo *info)
{
  Mat_SyncILU      *f    = (Mat_SyncILU *)F->data;
  const SyncILUFill fill = {(PetscInt)info->levels, (PetscInt)info->diagonal_fill};
  SyncILUSettings   settings;
  SyncILUSource     source;
  PetscObject       container = NULL; /* of one of our orderings */
  const PetscInt   *r = NULL, *c = NULL;
  PetscBool         half;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  PetscCheck(A->rmap->n == A->cmap->n, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "Must be square matrix, rows %" PetscInt_FMT " columns %" PetscInt_FMT, A->rmap->n, A->cmap->n);
  PetscCheck(!info->usedt, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "syncilu has no drop tolerance (PCFactorSetDropTolerance()), only levels of fill");
  if (!f->shared->frompc) PetscCall(ReadOptions(F, A));
  settings = f->shared->settings;
  PetscCall(SyncILUFindGrid(A, f->shared->dm, &settings));
  PetscCall(SyncILUMatIsSBAIJ(A, &half));
  f->symmetric = (PetscBool)(F->factortype == MAT_FACTOR_ICC || f->shared->settings.symmetric || half);
  /* PETSc's own ILU does not take it, and the first solver type that does would be used unasked */
  PetscCheck(!half || F->factortype == MAT_FACTOR_ICC || f->shared->frompc || f->shared->settings.symmetric, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "A matrix of type %s has ICC alone: use -pc_type icc, -pc_type " PCSYNCILU " or -pc_syncilu_symmetric", ((PetscObject)A)->type_name);
  PetscCall(GetSource(F, A, &source));
  PetscCall(CheckShift(A, &source, info));
  if (row) PetscCall(PetscObjectQuery((PetscObject)row, SYNCILU_BLOCKS_KEY, &container));
  PetscCall(PetscObjectCompose((PetscObject)F, SYNCILU_BLOCKS_KEY, container));
  settings.symmetric = f->symmetric;
  if (container) {
    SyncILUBlocks *blocks;

    PetscCall(PetscContainerGetPointer((PetscContainer)container, (void **)&blocks));
    settings.ordering    = blocks->request;
    settings.block_size  = blocks->size;
    settings.block_along = blocks->along;
  }
  F->assembled = PETSC_FALSE; /* until the numeric phase */
  PetscCall(DropEngine(f));
  PetscCall(PetscLogEventBegin(SYNCILU_Analysis, F, A, 0, 0));
  if (settings.ordering == SYNCILU_ORDERING_GIVEN) PetscCall(GetOrdering(row, col, A->rmap->n / source.bs, &r, &c));
  ierr = CheckOrdering(f->symmetric, A->rmap->n / source.bs, r, c);
  if (!ierr) ierr = SyncILUEngineCreate(&settings, A->rmap->n, &source, r, c, fill, &f->engine);
  if (r) {
    PetscCall(ISRestoreIndices(row, &r));
    PetscCall(ISRestoreIndices(col, &c));
  }
  PetscCall(PetscLogEventEnd(SYNCILU_Analysis, F, A, 0, 0));
  PetscCall(ierr);
  f->fill = info->fill;
  if (settings.ordering != SYNCILU_ORDERING_GIVEN) {
    char text[352];

    PetscCall(SyncILUBlocksDescribe(&f->engine->blocks, text, sizeof(text)));
    PetscCall(PetscInfo(F, "%s\n", text));
  }
  if (f->engine->pattern.added) PetscCall(PetscInfo(F, "Added %" PetscInt_FMT " missing diagonal entries\n", f->engine->pattern.added));
  if (f->symmetric && f->mirrored && f->engine->ops->device && (half || !ReadsUpper(f)))
    PetscCall(PetscInfo(F, "The host makes the lower triangle of the upper one for each factorization%s\n",
                        half ? "" : ": nobody has said that the matrix is symmetric (MatSetOption() with MAT_SYMMETRIC)"));
  if (F->factortype == MAT_FACTOR_ICC) F->ops->choleskyfactornumeric = MatLUFactorNumeric_SyncILU;
  else F->ops->lufactornumeric = MatLUFactorNumeric_SyncILU;
  F->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatICCFactorSymbolic_SyncILU(Mat F, Mat A, IS perm, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(MatILUFactorSymbolic_SyncILU(F, A, perm, perm, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often a solve goes through the factor. */
static PetscInt SolvePasses(SyncILUEngine e)
{
  return e->settings.solve == SYNCILU_SOLVE_JACOBI ? PetscMax(1, e->settings.solve_sweeps) : 1;
}

static PetscErrorCode LogSolveFlops(SyncILUEngine e, PetscInt nrhs)
{
  const SyncILUPattern *p  = &e->pattern;
  const PetscLogDouble  bs = (PetscLogDouble)p->bs, product = 2 * bs * bs;

  PetscFunctionBegin;
  nrhs *= SolvePasses(e);
  PetscCall(SyncILULogFlops(e, (PetscLogDouble)nrhs * (product * ((PetscLogDouble)p->nl + (PetscLogDouble)p->nu) + (product - bs) * (PetscLogDouble)p->n)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFactored(Mat F)
{
  PetscFunctionBegin;
  PetscCheck(F->assembled, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER, "MatLUFactorNumeric() must be called before MatSolve() and its relatives");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUVecsGet(SyncILUEngine e, Vec b, Vec x, const PetscScalar **ba, PetscScalar **xa, PetscMemType *mem)
{
  PetscFunctionBegin;
  if (SyncILUEngineTakesDevice(e)) {
    PetscMemType xmem;

    PetscCall(VecGetArrayReadAndMemType(b, ba, mem));
    PetscCall(VecGetArrayWriteAndMemType(x, xa, &xmem));
    if (PetscMemTypeDevice(*mem) && PetscMemTypeDevice(xmem)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecRestoreArrayWriteAndMemType(x, xa));
    PetscCall(VecRestoreArrayReadAndMemType(b, ba));
  }
  *mem = PETSC_MEMTYPE_HOST;
  PetscCall(VecGetArrayRead(b, ba));
  PetscCall(VecGetArrayWrite(x, xa));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUVecsRestore(Vec b, Vec x, const PetscScalar **ba, PetscScalar **xa, PetscMemType mem)
{
  PetscFunctionBegin;
  if (PetscMemTypeDevice(mem)) {
    PetscCall(VecRestoreArrayWriteAndMemType(x, xa));
    PetscCall(VecRestoreArrayReadAndMemType(b, ba));
  } else {
    PetscCall(VecRestoreArrayWrite(x, xa));
    PetscCall(VecRestoreArrayRead(b, ba));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x may be b. */
static PetscErrorCode Solve(Mat F, Vec b, Vec x, SyncILUTranspose trans)
{
  SyncILUEngine      e = ((Mat_SyncILU *)F->data)->engine;
  const PetscInt     n = F->rmap->n;
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscMemType       mem;

  PetscFunctionBegin;
  PetscCall(CheckFactored(F));
  PetscCall(PetscLogEventBegin(SYNCILU_Solve, F, b, x, 0));
  PetscCall(SyncILUVecsGet(e, b, x, &ba, &xa, &mem));
  PetscCall(SyncILUEngineSolve(e, trans, 1, ba, n, xa, n, mem));
  PetscCall(SyncILUVecsRestore(b, x, &ba, &xa, mem));
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

/*
   Multiplies (or divides) by the square roots of the pivots, in the place of x. The factor of ICC, U^T D U, is split in
   the middle of D, as MatForwardSolve() wants it: (U^T D^1/2) x = b and (D^1/2 U) x = b.
*/
static PetscErrorCode ScaleHalf(Mat F, const PetscScalar *b, PetscScalar *x, PetscBool upper)
{
  SyncILUEngine      e   = ((Mat_SyncILU *)F->data)->engine;
  const PetscInt    *row = e->pattern.row;
  const PetscScalar *l, *u, *dinv;

  PetscFunctionBegin;
  PetscCall((*e->ops->values)(e, &l, &u, &dinv));
  for (PetscInt i = 0; i < e->pattern.n; i++) {
    const PetscInt at = row ? row[i] : i;

    PetscCheck(PetscDefined(USE_COMPLEX) || PetscRealPart(dinv[i]) > 0.0, PetscObjectComm((PetscObject)F), PETSC_ERR_MAT_CH_ZRPVT,
               "The pivot of row %" PetscInt_FMT " is not positive: its square root, which one of the two solves alone takes, is no number", at);
    x[at] = upper ? b[at] / PetscSqrtScalar(dinv[i]) : b[at] * PetscSqrtScalar(dinv[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of the two solves alone. */
static PetscErrorCode HalfSolve(Mat F, Vec b, Vec x, PetscBool upper)
{
  Mat_SyncILU       *f = (Mat_SyncILU *)F->data;
  SyncILUEngine      e = f->engine;
  const PetscScalar *ba;
  PetscScalar       *xa;
  PetscMemType       mem;

  PetscFunctionBegin;
  PetscCall(CheckFactored(F));
  PetscCheck(!f->symmetric || !e->ops->device, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
             "Backend %s has no triangular solves one by one with a factor of ICC; use -pc_syncilu_backend host", SyncILUBackends[e->ops->backend]);
  PetscCall(PetscLogEventBegin(SYNCILU_Solve, F, b, x, 0));
  PetscCall(SyncILUVecsGet(e, b, x, &ba, &xa, &mem));
  if (f->symmetric && upper) PetscCall(ScaleHalf(F, ba, xa, PETSC_TRUE));
  PetscCall((*e->ops->half)(e, upper, f->symmetric && upper ? xa : ba, xa, mem));
  if (f->symmetric && !upper) PetscCall(ScaleHalf(F, xa, xa, PETSC_FALSE));
  PetscCall(SyncILUVecsRestore(b, x, &ba, &xa, mem));
  PetscCall(SyncILULogFlops(e, (PetscLogDouble)(e->pattern.nl + e->pattern.nu) * e->pattern.bs * e->pattern.bs));
  PetscCall(PetscLogEventEnd(SYNCILU_Solve, F, b, x, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatForwardSolve_SyncILU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(HalfSolve(F, b, x, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatBackwardSolve_SyncILU(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(HalfSolve(F, b, x, PETSC_TRUE));
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
  PetscCheck(dense, PetscObjectComm((PetscObject)B), PETSC_ERR_ARG_WRONG, "Right-hand sides must be a matrix of type seqdense, not %s",
             ((PetscObject)B)->type_name);
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)X, MATSEQDENSE, &dense));
  PetscCheck(dense, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_WRONG, "Solutions must be a matrix of type seqdense, not %s", ((PetscObject)X)->type_name);
  if (!B->cmap->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(SYNCILU_Solve, F, B, X, 0));
  PetscCall(MatDenseGetLDA(B, &ldb));
  PetscCall(MatDenseGetLDA(X, &ldx));
#if defined(PETSC_HAVE_CUDA)
  if (SyncILUEngineTakesDevice(f->engine)) {
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

static PetscErrorCode MatSyncILUGetStatistics_SyncILU(Mat F, SyncILUStatistics *statistics)
{
  Mat_SyncILU *f = (Mat_SyncILU *)F->data;

  PetscFunctionBegin;
  PetscCheck(f->engine, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER, "Statistics are there after MatILUFactorSymbolic()");
  PetscCall(PetscMemzero(statistics, sizeof(*statistics)));
  PetscCall(SyncILUEngineStatistics(f->engine, statistics));
  statistics->bytes += SyncILUDerivedBytes(&f->mirror);
  statistics->analyses += f->analyses;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSyncILUGetStatistics - Gets what a factorization is and what it took

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
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscUseMethod(F, "MatSyncILUGetStatistics_C", (Mat, SyncILUStatistics *), (F, statistics));
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
    const SyncILUPattern *p       = &f->engine->pattern;
    const PetscLogDouble  both    = (PetscLogDouble)p->nl + (PetscLogDouble)p->nu + (PetscLogDouble)p->n;
    const PetscLogDouble  entries = p->half ? both - (PetscLogDouble)p->nl : both;

    info->block_size        = (PetscLogDouble)f->engine->bs * (PetscLogDouble)f->engine->bs; /* entries of a block, as in PETSc */
    info->nz_used           = entries * p->bs * p->bs;
    info->nz_allocated      = info->nz_used;
    info->memory            = (PetscLogDouble)(SyncILUPatternBytes(p) + (PetscInt64)(info->nz_used * sizeof(PetscScalar)));
    info->fill_ratio_given  = f->fill;
    info->fill_ratio_needed = p->nnz ? both / (PetscLogDouble)p->nnz : 1.0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of our orderings, wherever it was made. */
static PetscErrorCode ViewOrdering(Mat F, PetscViewer viewer)
{
  SyncILUEngine        e      = ((Mat_SyncILU *)F->data)->engine;
  const SyncILUBlocks *blocks = &e->blocks;
  PetscContainer       container;
  char                 text[352];

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, SYNCILU_BLOCKS_KEY, (PetscObject *)&container));
  if (!container) PetscFunctionReturn(PETSC_SUCCESS);
  if (e->settings.ordering == SYNCILU_ORDERING_GIVEN) PetscCall(PetscContainerGetPointer(container, (void **)&blocks));
  PetscCall(SyncILUBlocksDescribe(blocks, text, sizeof(text)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What of a symmetric matrix is factored. */
static PetscErrorCode ViewSymmetric(Mat F, PetscViewer viewer)
{
  Mat_SyncILU *f = (Mat_SyncILU *)F->data;

  PetscFunctionBegin;
  if (!f->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->engine->pattern.half) PetscCall(PetscViewerASCIIPrintf(viewer, "symmetric: one triangle is factored\n")); /* else the backend says what is */
  if (f->mirrored && f->engine->ops->device && (f->mirror.make != SyncILUMakeSymmetric || !ReadsUpper(f)))
    PetscCall(PetscViewerASCIIPrintf(viewer, "values: made of the upper triangle and sent by the host for each factorization\n"));
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
  PetscCall(ViewSymmetric(F, viewer));
  if (f->engine->chosen[0])
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "update mesh: %s%s\n", f->engine->chosen, f->engine->settings.relax != f->engine->relax ? "; without relaxation" : ""));
  if (f->engine->settings.tune) PetscCall(PetscViewerASCIIPrintf(viewer, "tuned: %s\n", f->engine->tuning[0] ? f->engine->tuning : "not yet"));
  PetscCall(ViewOrdering(F, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "nonzeros: %" PetscInt64_FMT ", fill %g, bytes held: %" PetscInt64_FMT "\n", s.nonzeros, (double)s.fill, s.bytes));
  if (s.levels[0] < 0) PetscCall(PetscViewerASCIIPrintf(viewer, "levels: not counted, for lack of memory on the device\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "levels: L %" PetscInt_FMT " (rows a level: mean %g, max %" PetscInt_FMT "), U %" PetscInt_FMT
                                     " (mean %g, max %" PetscInt_FMT ")\n",
                                     s.levels[0], s.levels[0] ? (double)s.rows / s.levels[0] : 0.0, s.level_rows[0], s.levels[1],
                                     s.levels[1] ? (double)s.rows / s.levels[1] : 0.0, s.level_rows[1]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "pivots shifted: %" PetscInt_FMT ", by %g, attempts with other shifts: %" PetscInt_FMT "\n", s.pivots_shifted,
                                   (double)s.shift_amount, s.shift_attempts));
  if (f->engine->settings.update == SYNCILU_UPDATE_PARILUT)
    PetscCall(PetscViewerASCIIPrintf(viewer, "pattern: found in %" PetscInt_FMT " rounds; entries smaller than %g are left out\n", s.rounds,
                                     (double)f->engine->search.threshold));
  if (s.residual >= 0.0) PetscCall(PetscViewerASCIIPrintf(viewer, "residual: %g, the norm of A - LU on the pattern over that of A\n", (double)s.residual));
  if (s.diagonals_added) PetscCall(PetscViewerASCIIPrintf(viewer, "missing diagonal entries added: %" PetscInt_FMT "\n", s.diagonals_added));
  if (s.failed_row >= 0) {
    PetscInt row;

    PetscCall(SyncILUEngineRow(f->engine, s.failed_row, &row));
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "factorization failed: zero pivot in row %" PetscInt_FMT " of the factor, row %" PetscInt_FMT " of the matrix, value %g\n",
                                     s.failed_row, row, (double)s.failed_pivot));
  }
  PetscCall(SyncILUSettingsView(&f->shared->settings, viewer));
  if (format == PETSC_VIEWER_ASCII_INFO_DETAIL) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "symbolic phases: %" PetscInt_FMT ", numeric phases: %" PetscInt_FMT "\n", s.analyses, s.factorizations));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s: L %" PetscInt_FMT ", U %" PetscInt_FMT " without the diagonal; ordering: %s\n",
                                     f->engine->pattern.bs > 1 ? "blocks" : "entries", f->engine->pattern.nl, f->engine->pattern.nu,
                                     f->engine->pattern.row || f->engine->blocks.size ? "permuted" : "natural"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATSOLVERSYNCILU = "syncilu" - incomplete LU factorization without synchronization between levels, on the
   CPU's threads or on a GPU

   Works with `MATSEQAIJ`, `MATSEQAIJCUSPARSE` and `MATSEQBAIJ` matrices and those of types derived from them,
   through `PCSYNCILU`, `PCILU` (-pc_type ilu -pc_factor_mat_solver_type syncilu), or MatGetFactor(). For
   symmetric `MATSEQAIJ`, `MATSEQAIJCUSPARSE` and `MATSEQSBAIJ` matrices there is incomplete Cholesky factorization,
   through `PCICC` (-pc_type icc -pc_factor_mat_solver_type syncilu), -pc_syncilu_symmetric, or MatGetFactor().

   Options Database Keys (with the prefix of the factored matrix, that is, of the preconditioner):
+  -pc_syncilu_backend (auto|host|cuda)       - where it runs
.  -pc_syncilu_update (auto|shared|vect|adapt|parallel|levelset|list|bsr|struct|parilu|parilut|dilu|mesh) - how a GPU factors; the last four on the host too
.  -pc_syncilu_prefetch (true|false)          - find them while waiting for the row
.  -pc_syncilu_vector_size (0|1|2|4|8|16|32)  - lanes a row, 0 lets the library choose
.  -pc_syncilu_analysis (auto|none|asap|alap) - order in which rows are handed out
.  -pc_syncilu_solve (auto|csr|mr|hyb|levelset|ell|cluster|bsr|struct|jacobi) - how a GPU solves; jacobi: everywhere
.  -pc_syncilu_solve_sweeps <n>               - jacobi: sweeps of each triangular solve
.  -pc_syncilu_solve_block_size (1|32)        - jacobi: rows of a diagonal block
.  -pc_syncilu_grid nx,ny,nz,dof              - the grid that rows follow, which is searched for otherwise
.  -pc_syncilu_threads <n>                    - threads on the host, default OMP_NUM_THREADS, else 1
.  -pc_syncilu_relax <w>                      - dropped fill is added times w to the diagonal, 0 <= w <= 1
.  -pc_syncilu_fill <f>                       - parilut: entries of L and U over those of the matrix
.  -pc_syncilu_rounds <n>                     - parilut: rounds in which the pattern is found, 0 keeps the one that is there
.  -pc_syncilu_rounds_tolerance <t>           - parilut: change of the threshold after which there are no more rounds
.  -pc_syncilu_sweeps <n>                     - sweeps of parilu and parilut
.  -pc_syncilu_sweeps_asynchronous            - sweeps of parilu and parilut in place, on a GPU
.  -pc_syncilu_residual                       - compute the norm of A - LU on the pattern
.  -pc_syncilu_symmetric                      - incomplete Cholesky factorization, of the upper triangle
.  -pc_syncilu_tune                           - time the strategies on the matrix, and keep the best ones
-  -pc_syncilu_check                          - compare with the serial reference

   Level: beginner

   Notes:
   With natural ordering and 0 levels of fill the factor is that of PETSc's own ILU(0), entry by entry.

   Of `MATSEQBAIJ` the entries are blocks, as in PETSc: fill comes in blocks, and the diagonal blocks are
   inverted with pivots chosen among their rows. A pivot of zero in there is a breakdown, or with
   MAT_SHIFT_INBLOCKS replaced by the shift amount times the mean absolute value of the block's diagonal.
   (PETSc's kernels for 2 to 7 rows replace it whatever the type of the shift, unless it is the last one of the
   block; those for more rows never do.) With blocks of several rows MAT_SHIFT_POSITIVE_DEFINITE and MAT_SHIFT_NONZERO
   are refused; `PCILU` and `PCSYNCILU` make MAT_SHIFT_INBLOCKS of the latter. Such a matrix is on the host in
   PETSc. Where a GPU factors it, it is one of points there, whose values travel for each factorization. No pivots
   are chosen or shifted there: one that vanishes sends auto to the host, which the view says, and is a breakdown
   where the GPU was asked for.

   ICC takes the upper triangle, as PETSc's does, with its pivots apart: A = U^T D U, which need not be positive.
   (In an ordering PETSc's takes what comes to stand above the diagonal, and its shift counts both triangles: where
   the values are not symmetric, it is another factor.) The pattern must be symmetric, which the host looks at and
   a GPU believes where PETSc knows that the matrix is symmetric. An `MATSEQSBAIJ` matrix must have no blocks. The
   host computes one triangle, and so does a GPU with -pc_syncilu_update list; otherwise, relaxed, and where several
   warps share a row, a GPU computes both, as ILU, for the same solutions up to rounding. The view says which, and why. Unless PETSc knows that
   the matrix is symmetric (MatSetOption() with MAT_SYMMETRIC or MAT_SPD), and for `MATSEQSBAIJ`, the lower triangle
   is made of the upper one on the host, if it is read: not by the host in the natural ordering.

   MatForwardSolve() and MatBackwardSolve() do one of the two triangular solves, as `KSP`s want them that precondition
   from both sides (-ksp_pc_side symmetric): with L, whose diagonal is one, and with U, or of ICC, on the host alone, with
   U^T D^1/2 and D^1/2 U, for which all pivots must be positive.

.seealso: `PCSYNCILU`, `MatGetFactor()`, `PCFactorSetMatSolverType()`
M*/
PetscErrorCode MatGetFactor_SyncILU(Mat A, MatFactorType type, Mat *factor)
{
  Mat_SyncILU   *f;
  Mat            F;
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
  PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetBlockSizesFromMats(F, A, A));
  PetscCall(PetscStrallocpy(MATSOLVERSYNCILU, &((PetscObject)F)->type_name));
  PetscCall(MatSetUp(F));
  PetscCall(PetscNew(&f));
  F->data = f;
  PetscCall(PetscObjectQuery((PetscObject)A, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  if (container) PetscCall(PetscObjectReference((PetscObject)container));
  else PetscCall(SyncILUSharedCreate(&container));
  PetscCall(MatSyncILUComposeShared(F, container));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(SyncILUGetShared((PetscObject)F, &f->shared));

  F->ops->destroy = MatDestroy_SyncILU;
  F->ops->view    = MatView_SyncILU;
  F->ops->getinfo = MatGetInfo_SyncILU;
  if (type == MAT_FACTOR_ICC) F->ops->iccfactorsymbolic = MatICCFactorSymbolic_SyncILU;
  else F->ops->ilufactorsymbolic = MatILUFactorSymbolic_SyncILU;
  F->ops->solve             = MatSolve_SyncILU;
  F->ops->solvetranspose    = MatSolveTranspose_SyncILU;
  F->ops->forwardsolve      = MatForwardSolve_SyncILU;
  F->ops->backwardsolve     = MatBackwardSolve_SyncILU;
  F->ops->matsolve          = MatMatSolve_SyncILU;
  F->ops->matsolvetranspose = MatMatSolveTranspose_SyncILU;
  F->factortype             = type;
  F->canuseordering         = PETSC_TRUE;
  F->assembled              = PETSC_FALSE; /* until the numeric phase */
  PetscCall(PetscStrallocpy(MATORDERINGNATURAL, (char **)&F->preferredordering[type]));
  PetscCall(PetscFree(F->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERSYNCILU, &F->solvertype));
  PetscCall(PetscFree(F->defaultvectype));
  PetscCall(PetscStrallocpy(A->defaultvectype, &F->defaultvectype));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", MatFactorGetSolverType_SyncILU));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatSyncILUGetStatistics_C", MatSyncILUGetStatistics_SyncILU));
  *factor = F;
  PetscFunctionReturn(PETSC_SUCCESS);
}
