/*
   Eisenstat's trick for PCSYNCILU: where only diagonals have updates, matrix and preconditioner share their
   off-diagonal parts, and an iteration takes the two triangular solves without a product with the matrix.

   The factor is M = L D U' with the pivots D, unit lower L and unit upper U'. If updates change the diagonal
   alone, L D and D U' have the off-diagonal entries of A, so that A = L D + D U' + (a - 2 D), a the diagonal of
   A. The Krylov method solves B v = L^-1 b with B = L^-1 A U'^-1 and preconditioner D, and x = U'^-1 v:

     with w = U'^-1 v:  B v = D w + L^-1 (D v + (a - 2 D) w).

   S. C. Eisenstat, SIAM J. Sci. Stat. Comput. 2 (1981), section 2, for any D. As in PETSc's PCEISENSTAT, which
   does it for SSOR, presolve puts B in the place of the operator and L^-1 b in that of the right-hand side, and
   postsolve takes both away again.
*/
#include "syncilu_impl.h"

struct _SyncILUEisenstat {
  PC               pc;
  Mat              shell, A; /* B; and in its place, while it is the operator, what the preconditioner had */
  Mat              F;        /* the factor, on loan */
  Vec              dinv;     /* the reciprocals of the pivots */
  Vec              b[2];     /* right-hand sides as they were, of solves within each other */
  PetscInt         depth;    /* how many there are */
  PetscObjectId    factor;   /* the factor whose pattern has been checked, */
  PetscInt         analyses; /* and how many analyses it had made by then */
  PetscObjectId    matrix;   /* the matrix that has been factored, */
  PetscObjectState state;    /* and its state by then */
  PetscBool        ready;
};

static SyncILUEngine Engine(SyncILUEisenstat s)
{
  return ((Mat_SyncILU *)s->F->data)->engine;
}

static PetscErrorCode MatMult_Eisenstat(Mat B, Vec v, Vec y)
{
  SyncILUEisenstat   s;
  SyncILUEngine      e;
  const PetscScalar *va;
  PetscScalar       *ya;
  PetscMemType       mem;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(B, &s));
  e = Engine(s);
  PetscCall(PetscLogEventBegin(SYNCILU_Solve, s->F, v, y, 0));
  PetscCall(SyncILUVecsGet(e, v, y, &va, &ya, &mem));
  PetscCall((*e->ops->eisenstat->multiply)(e, va, ya, mem));
  PetscCall(SyncILUVecsRestore(v, y, &va, &ya, mem));
  PetscCall(SyncILULogFlops(e, 2.0 * ((PetscLogDouble)e->pattern.nl + (PetscLogDouble)e->pattern.nu) + 10.0 * (PetscLogDouble)e->pattern.n));
  PetscCall(PetscLogEventEnd(SYNCILU_Solve, s->F, v, y, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says to Krylov methods that multiply with the transpose, such as KSPLSQR, which option refuses that. */
static PetscErrorCode MatMultTranspose_Eisenstat(Mat B, Vec v, Vec y)
{
  PetscFunctionBegin;
  (void)v;
  (void)y;
  SETERRQ(PetscObjectComm((PetscObject)B), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: not for Krylov methods that take products with the transpose");
}

/* Rows and columns in one order. */
static PetscErrorCode CheckOrder(const SyncILUPattern *p)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < p->n && p->row; i++)
    PetscCheck(p->row[i] == p->col[i], PETSC_COMM_SELF, PETSC_ERR_SUP,
               "-pc_syncilu_eisenstat: rows and columns must have the same ordering, here row %" PetscInt_FMT " and column %" PetscInt_FMT
               " are %" PetscInt_FMT,
               p->row[i], p->col[i], i);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether an update changes an entry beside the diagonal: one of row i by row k, for k in L of i and j in U of
   k, where row i has j.
*/
static PetscErrorCode CheckUpdates(const SyncILUPattern *p)
{
  PetscInt *mark, bad[3] = {-1, 0, 0};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(p->n, &mark));
  for (PetscInt i = 0; i < p->n; i++) mark[i] = -1;
  for (PetscInt i = 0; i < p->n && bad[0] < 0; i++) {
    for (PetscInt e = p->lptr[i]; e < p->lptr[i + 1]; e++) mark[p->lcol[e]] = i;
    for (PetscInt e = p->uptr[i]; e < p->uptr[i + 1]; e++) mark[p->ucol[e]] = i;
    for (PetscInt e = p->lptr[i]; e < p->lptr[i + 1]; e++) {
      for (PetscInt k = p->lcol[e], u = p->uptr[k]; u < p->uptr[k + 1]; u++) {
        if (mark[p->ucol[u]] != i) continue; /* the diagonal is not marked */
        bad[0] = p->row ? p->row[i] : i;
        bad[1] = p->col ? p->col[p->ucol[u]] : p->ucol[u];
        bad[2] = p->row ? p->row[k] : k;
      }
    }
  }
  PetscCall(PetscFree(mark));
  PetscCheck(bad[0] < 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: only diagonals may have updates, but the entry of row %" PetscInt_FMT " and column %" PetscInt_FMT
             " has one by row %" PetscInt_FMT "; -pc_syncilu_update dilu leaves such entries as they are",
             bad[0], bad[1], bad[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What of a pattern the trick is not for. D-ILU updates diagonals alone whatever it is. */
static PetscErrorCode CheckPattern(SyncILUEngine e)
{
  const PetscBool dilu = (PetscBool)(e->settings.update == SYNCILU_UPDATE_DILU);
  SyncILUPattern  own;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  if (e->pattern.lptr || !e->ops->eisenstat->pattern) {
    PetscCall(CheckOrder(&e->pattern));
    if (!dilu) PetscCall(CheckUpdates(&e->pattern));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMemzero(&own, sizeof(own)));
  ierr = (*e->ops->eisenstat->pattern)(e, &own);
  if (!ierr && own.lptr) ierr = CheckOrder(&own);
  if (!ierr && own.lptr && !dilu) ierr = CheckUpdates(&own);
  PetscCall(SyncILUPatternDestroy(&own));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the trick is not for. */
static PetscErrorCode Check(SyncILUEisenstat s)
{
  PC                  pc = s->pc;
  const Mat_SyncILU  *f  = (const Mat_SyncILU *)s->F->data;
  const SyncILUEngine e  = f->engine;
  PetscObjectId       factor;

  PetscFunctionBegin;
  PetscCheck(pc->mat == pc->pmat, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: Amat and Pmat must be the same matrix");
  PetscCheck(!f->symmetric, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: not with -pc_syncilu_symmetric; without it the factor of a symmetric matrix is the same");
  PetscCheck(e->settings.update != SYNCILU_UPDATE_PARILUT, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: not with -pc_syncilu_update parilut, whose factor has other entries than the matrix");
  PetscCheck(e->settings.solve != SYNCILU_SOLVE_JACOBI, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: it takes exact triangular solves, not -pc_syncilu_solve jacobi");
  PetscCheck(e->bs == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: not for blocks, here of %" PetscInt_FMT " rows; use type aij",
             e->bs);
  /* for another pattern PCILU makes another factor, whose count of analyses begins anew */
  PetscCall(PetscObjectGetId((PetscObject)s->F, &factor));
  if (s->factor != factor || s->analyses != f->analyses + e->analyses) PetscCall(CheckPattern(e));
  s->factor   = factor;
  s->analyses = f->analyses + e->analyses;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The preconditioner gets its operator back. Where it has got another one since, after an error, that one stays. */
static PetscErrorCode Restore(SyncILUEisenstat s)
{
  PC pc = s->pc;

  PetscFunctionBegin;
  if (pc->mat == s->shell) {
    PetscCall(MatDestroy(&pc->mat));
    pc->mat = s->A;
    s->A    = NULL;
  }
  PetscCall(MatDestroy(&s->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUEisenstatDestroy(SyncILUEisenstat *es)
{
  SyncILUEisenstat s = *es;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Restore(s));
  PetscCall(MatDestroy(&s->shell));
  PetscCall(VecDestroy(&s->dinv));
  PetscCall(VecDestroy(&s->b[0]));
  PetscCall(VecDestroy(&s->b[1]));
  PetscCall(PetscFree(*es));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal and the pivots of a new factorization. */
static PetscErrorCode Begin(SyncILUEisenstat s)
{
  SyncILUEngine  e = Engine(s);
  SyncILUSource  source;
  SyncILUCSR     A;
  PetscScalar   *dinv;
  PetscMemType   mem = PETSC_MEMTYPE_HOST;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SyncILUSourceFromMat(s->pc->pmat, &source));
  if (SyncILUEngineTakesDevice(e)) PetscCall(VecGetArrayWriteAndMemType(s->dinv, &dinv, &mem));
  else PetscCall(VecGetArrayWrite(s->dinv, &dinv));
  PetscCall((*source.get)(source.ctx, SyncILUEngineTakesDevice(e), PETSC_TRUE, &A));
  ierr = (*e->ops->eisenstat->begin)(e, &A, dinv, mem);
  PetscCall((*source.restore)(source.ctx, &A));
  if (SyncILUEngineTakesDevice(e)) PetscCall(VecRestoreArrayWriteAndMemType(s->dinv, &dinv));
  else PetscCall(VecRestoreArrayWrite(s->dinv, &dinv));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the factor is one for the trick: update mesh leaves that to the matrix. */
PetscErrorCode SyncILUEisenstatFits(Mat F, PetscBool *fits)
{
  SyncILUEngine e = ((Mat_SyncILU *)F->data)->engine;

  PetscFunctionBegin;
  *fits = (PetscBool)(e->update != SYNCILU_UPDATE_MESH || e->settings.update == SYNCILU_UPDATE_DILU);
  if (!*fits) PetscCall(PetscInfo(F, "Eisenstat's trick is without effect: update mesh: %s\n", e->chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEisenstatSetUp - takes a new factorization

   Collective

   Input Parameters:
+  pc - the preconditioner, on one rank
.  F  - its factor
-  es - NULL before the first time
*/
PetscErrorCode SyncILUEisenstatSetUp(PC pc, Mat F, SyncILUEisenstat *es)
{
  SyncILUEisenstat s;
  VecType          type;
  PetscMPIInt      size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCheck(size == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: for one rank, here are %d: their blocks lack entries of the matrix", size);
  if (!*es) {
    PetscCall(PetscNew(es));
    (*es)->pc       = pc;
    (*es)->analyses = -1;
    PetscCall(MatCreateShell(PetscObjectComm((PetscObject)pc), pc->pmat->rmap->n, pc->pmat->cmap->n, pc->pmat->rmap->N, pc->pmat->cmap->N, *es, &(*es)->shell));
    PetscCall(MatGetVecType(pc->pmat, &type));
    PetscCall(MatSetVecType((*es)->shell, type));
    PetscCall(MatShellSetOperation((*es)->shell, MATOP_MULT, (void (*)(void))MatMult_Eisenstat));
    PetscCall(MatShellSetOperation((*es)->shell, MATOP_MULT_TRANSPOSE, (void (*)(void))MatMultTranspose_Eisenstat));
    PetscCall(MatCreateVecs(pc->pmat, NULL, &(*es)->dinv));
  }
  s        = *es;
  s->F     = F;
  s->ready = PETSC_FALSE;
  s->depth = 0; /* solves that ended by errors */
  PetscCall(Restore(s));
  PetscCall(Check(s));
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &s->matrix));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &s->state));
  PetscCall(Begin(s));
  s->ready = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = D^-1 r, as long as B is the operator. */
PetscErrorCode SyncILUEisenstatApply(SyncILUEisenstat s, Vec r, Vec z)
{
  PetscFunctionBegin;
  PetscCheck(s && s->pc->mat == s->shell, s ? PetscObjectComm((PetscObject)s->pc) : PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: the preconditioner is one below a KSP alone, whose operator it changes");
  PetscCall(VecPointwiseMult(z, r, s->dinv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v = U' x. */
static PetscErrorCode MultUpper(SyncILUEisenstat s, Vec x, Vec v)
{
  SyncILUEngine      e = Engine(s);
  SyncILUSource      source;
  SyncILUCSR         A;
  const PetscScalar *xa;
  PetscScalar       *va;
  PetscMemType       mem;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(SyncILUSourceFromMat(s->pc->pmat, &source));
  PetscCall(SyncILUVecsGet(e, x, v, &xa, &va, &mem));
  PetscCall((*source.get)(source.ctx, SyncILUEngineTakesDevice(e), PETSC_TRUE, &A));
  ierr = (*e->ops->eisenstat->upper)(e, &A, xa, va, mem);
  PetscCall((*source.restore)(source.ctx, &A));
  PetscCall(SyncILUVecsRestore(x, v, &xa, &va, mem));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   L^-1 b to the vectors of the operator; with back x = U'^-1 v = (D U')^-1 D v from them, after which v may
   be another one.
*/
static PetscErrorCode Transform(SyncILUEisenstat s, PetscBool back, Vec from, Vec to)
{
  SyncILUEngine      e = Engine(s);
  const PetscScalar *a;
  PetscScalar       *b;
  PetscMemType       mem;

  PetscFunctionBegin;
  if (e->ops->eisenstat->transform) {
    PetscCall(PetscLogEventBegin(SYNCILU_Solve, s->F, from, to, 0));
    PetscCall(SyncILUVecsGet(e, from, to, &a, &b, &mem));
    PetscCall((*e->ops->eisenstat->transform)(e, back, a, b, mem));
    PetscCall(SyncILUVecsRestore(from, to, &a, &b, mem));
    PetscCall(SyncILULogFlops(e, (PetscLogDouble)e->pattern.nl + (PetscLogDouble)e->pattern.nu));
    PetscCall(PetscLogEventEnd(SYNCILU_Solve, s->F, from, to, 0));
  } else if (back) {
    PetscCall(VecPointwiseDivide(from, from, s->dinv));
    PetscCall(MatBackwardSolve(s->F, from, to));
  } else PetscCall(MatForwardSolve(s->F, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Before the Krylov method. One that has another one estimate eigenvalues gives it the same preconditioner, and so
   its own operator.
*/
PetscErrorCode SyncILUEisenstatPreSolve(SyncILUEisenstat s, KSP ksp, Vec b, Vec x)
{
  PC               pc = s->pc;
  Vec             *keep;
  PetscObjectId    matrix;
  PetscObjectState state;
  MatNullSpace     null[2];
  PetscBool        nonzero;

  PetscFunctionBegin;
  PetscCheck(!ksp->transpose_solve, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: not for transposed solves");
  if (!s->ready || pc->failedreason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)pc->pmat, &matrix));
  PetscCall(PetscObjectStateGet((PetscObject)pc->pmat, &state));
  PetscCheck(matrix == s->matrix && state == s->state, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: the matrix has changed since it was factored, and the operator is made of the factor; not with -ksp_reuse_preconditioner");
  PetscCall(MatGetNullSpace(pc->pmat, &null[0]));
  PetscCall(MatGetTransposeNullSpace(pc->pmat, &null[1]));
  PetscCheck(!null[0] && !null[1], PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: not for matrices with a null space, which the operator has elsewhere");
  if (pc->mat != s->shell) {
    PetscCheck(pc->mat == pc->pmat, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: Amat and Pmat must be the same matrix");
    PetscCall(MatDestroy(&s->A));
    PetscCall(PetscObjectReference((PetscObject)s->shell));
    s->A    = pc->mat;
    pc->mat = s->shell;
  }
  PetscCheck(s->depth < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(s->b), PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_syncilu_eisenstat: more than two solves with one preconditioner within each other");
  keep = &s->b[s->depth++];
  if (!*keep) PetscCall(VecDuplicate(b, keep));
  PetscCall(KSPGetInitialGuessNonzero(ksp, &nonzero));
  if (nonzero) {
    PetscCall(VecCopy(x, *keep));
    PetscCall(MultUpper(s, *keep, x));
  }
  PetscCall(VecCopy(b, *keep));
  PetscCall(Transform(s, PETSC_FALSE, *keep, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After it. */
PetscErrorCode SyncILUEisenstatPostSolve(SyncILUEisenstat s, Vec b, Vec x)
{
  Vec keep;

  PetscFunctionBegin;
  if (s->pc->mat != s->shell) PetscFunctionReturn(PETSC_SUCCESS); /* the factorization had failed */
  keep = s->b[--s->depth];
  PetscCall(VecCopy(keep, b));
  PetscCall(VecCopy(x, keep));
  PetscCall(Transform(s, PETSC_TRUE, keep, x));
  if (!s->depth) PetscCall(Restore(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
