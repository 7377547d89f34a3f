/*
   What is the same for every backend: the choice of one, the attempts with growing shifts, the check against the reference.
*/
#include "engine.h"

void SyncILUSettingsInitialize(SyncILUSettings *s)
{
  s->backend     = SYNCILU_BACKEND_AUTO;
  s->update      = SYNCILU_UPDATE_AUTO;
  s->analysis    = SYNCILU_ANALYSIS_AUTO;
  s->solve       = SYNCILU_SOLVE_AUTO;
  s->prefetch    = PETSC_TRUE;
  s->vector_size = 0;
  s->threads     = PETSC_DECIDE;
  s->relax       = 0.0;
  s->check       = PETSC_FALSE;
}

static PetscErrorCode UseHost(SyncILUEngine e, const char *why)
{
  PetscFunctionBegin;
  e->ops = &SyncILUHostOps;
  PetscCall(PetscSNPrintf(e->why, sizeof(e->why), "auto: %s", why));
  PetscCall(PetscInfo(NULL, "Backend host: %s\n", why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PickBackend(SyncILUEngine e, PetscInt n)
{
  const SyncILUBackend asked = e->settings.backend;
  char                 why[sizeof(e->why) - 8];
  PetscBool            available = PETSC_FALSE;

  PetscFunctionBegin;
  if (asked == SYNCILU_BACKEND_HOST) {
    e->ops = &SyncILUHostOps;
    PetscCall(PetscStrncpy(e->why, "asked for", sizeof(e->why)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(SYNCILU_HAVE_CUDA)
  if (asked == SYNCILU_BACKEND_AUTO && n < SyncILUCUDAOps.least) {
    PetscCall(PetscSNPrintf(why, sizeof(why), "%" PetscInt_FMT " rows on this rank, a GPU is used from %" PetscInt_FMT " on", n, SyncILUCUDAOps.least));
  } else PetscCall(SyncILUCUDAAvailable(&available, why, sizeof(why)));
  if (available) {
    e->ops = &SyncILUCUDAOps;
    if (asked == SYNCILU_BACKEND_CUDA) PetscCall(PetscStrncpy(e->why, "asked for", sizeof(e->why)));
    else PetscCall(PetscSNPrintf(e->why, sizeof(e->why), "auto: a GPU is there and the rank has %" PetscInt_FMT " rows or more", e->ops->least));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#else
  (void)n;
  (void)available;
  PetscCall(PetscStrncpy(why, "this build has no CUDA backend", sizeof(why)));
#endif
  PetscCheck(asked != SYNCILU_BACKEND_CUDA, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_backend cuda: %s; use host or auto", why);
  PetscCall(UseHost(e, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineCreate - begins a factorization: picks the backend

   Not Collective

   Input Parameters:
+  settings - what the user asked for
-  n        - number of rows

   Output Parameter:
.  engine - whose pattern is to be given next, by SyncILUPatternCreate() or the backend's adopt, and then SyncILUEngineSetUp() called
*/
PetscErrorCode SyncILUEngineCreate(const SyncILUSettings *settings, PetscInt n, SyncILUEngine *engine)
{
  SyncILUEngine e;

  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  *engine       = e;
  e->settings   = *settings;
  e->status.row = -1;
  PetscCall(PickBackend(e, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineSetUp - plans the factorization

   Not Collective

   Input Parameter:
.  e - the engine, with its pattern

   Output Parameter:
.  again - the backend that was picked cannot, and the host has taken its place: give it the pattern and call again

   Errors:
   What a backend the user asked for lacks.
*/
PetscErrorCode SyncILUEngineSetUp(SyncILUEngine e, PetscBool *again)
{
  PetscFunctionBegin;
  *again      = PETSC_FALSE;
  e->unfit[0] = 0;
  PetscCall((*e->ops->setup)(e));
  if (e->unfit[0]) {
    char why[sizeof(e->unfit)];

    PetscCall((*e->ops->destroy)(e));
    PetscCall(PetscStrncpy(why, e->unfit, sizeof(why)));
    PetscCheck(e->settings.backend == SYNCILU_BACKEND_AUTO, PETSC_COMM_SELF, PETSC_ERR_LIB, "-pc_syncilu_backend %s: %s", SyncILUBackends[e->ops->backend], why);
    PetscCall(UseHost(e, why));
    if (e->pattern.lptr) PetscCall((*e->ops->setup)(e));
    else *again = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUEngineDestroy(SyncILUEngine *engine)
{
  SyncILUEngine e = *engine;

  PetscFunctionBegin;
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  if (e->ops) PetscCall((*e->ops->destroy)(e));
  PetscCall(SyncILUPatternDestroy(&e->pattern));
  PetscCall(PetscFree(e->ref));
  PetscCall(PetscFree(*engine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Equal bit for bit but for the payload of a NaN where a backend computes each row in the reference's order; otherwise up to a share of what stands around. */
static PetscBool Same(PetscScalar a, PetscScalar b, PetscReal tolerance)
{
  return (PetscBool)(a == b || PetscAbsScalar(a - b) <= tolerance || (PetscIsNanScalar(a) && PetscIsNanScalar(b)));
}

static PetscErrorCode CheckFactor(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv)
{
  const SyncILUPattern *p  = &e->pattern;
  const PetscInt        nl = p->nl, nu = p->nu;
  const PetscScalar    *lval, *uval, *dinv;
  PetscScalar          *ref;
  SyncILUStatus         status;

  PetscFunctionBegin;
  if (!e->ref) PetscCall(PetscMalloc1((size_t)nl + nu + p->n, &e->ref));
  ref = e->ref;
  PetscCall(SyncILUReferenceFactor(p, A, piv, ref, ref + nl, ref + nl + nu, &status));
  PetscCheck(status.row == e->status.row && status.shifted == e->status.shifted, PETSC_COMM_SELF, PETSC_ERR_PLIB, "-pc_syncilu_check: first rejected pivot in row %" PetscInt_FMT ", %" PetscInt_FMT " shifted; the serial reference has row %" PetscInt_FMT ", %" PetscInt_FMT " shifted",
             e->status.row, e->status.shifted, status.row, status.shifted);
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  /* what follows a rejected pivot is of no use, and infinite or not a number */
  for (PetscInt i = 0; i < (status.row < 0 ? p->n : status.row); i++) {
    PetscReal lmax = 0.0, umax = PetscAbsScalar(1.0 / ref[nl + nu + i]);
    PetscBool same;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lmax = PetscMax(lmax, PetscAbsScalar(ref[k]));
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) umax = PetscMax(umax, PetscAbsScalar(ref[nl + k]));
    same = Same(dinv[i], ref[nl + nu + i], e->ops->tolerance * PetscAbsScalar(ref[nl + nu + i]));
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) same = (PetscBool)(same && Same(lval[k], ref[k], e->ops->tolerance * lmax));
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) same = (PetscBool)(same && Same(uval[k], ref[nl + k], e->ops->tolerance * umax));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "-pc_syncilu_check: row %" PetscInt_FMT " of the factor is the first to differ from the serial reference", i);
  }
  PetscCall(PetscInfo(NULL, "-pc_syncilu_check: %" PetscInt_FMT " rows of the factor equal the serial reference\n", status.row < 0 ? p->n : status.row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolve(SyncILUEngine e, SyncILUTranspose trans, const PetscScalar *b, const PetscScalar *x)
{
  const SyncILUPattern *p  = &e->pattern;
  const PetscInt        nl = p->nl, nu = p->nu;
  PetscScalar          *y;
  PetscReal             max = 0.0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(p->n, &y));
  PetscCall(SyncILUReferenceSolve(p, e->ref, e->ref + nl, e->ref + nl + nu, trans, b, y));
  for (PetscInt i = 0; i < p->n; i++) max = PetscMax(max, PetscAbsScalar(y[i]));
  for (PetscInt i = 0; i < p->n; i++) PetscCheck(Same(x[i], y[i], e->ops->tolerance * max), PETSC_COMM_SELF, PETSC_ERR_PLIB, "-pc_syncilu_check: row %" PetscInt_FMT " of the solution is the first to differ from the serial reference", i);
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineFactor - the numeric phase, with as many attempts as the shift takes

   Not Collective

   Input Parameters:
+  e    - the planned factorization
.  A    - pattern and values of the matrix that was planned for
-  info - shift type and amount, zero pivot

   Notes:
   Shifts have PETSc's meaning (MatPivotCheck() and MatLUFactorNumeric_SeqAIJ() there): a rejected pivot of MAT_SHIFT_NONZERO doubles what is added to the whole diagonal, one of
   MAT_SHIFT_POSITIVE_DEFINITE bisects between nothing and diagonal dominance, and MAT_SHIFT_INBLOCKS changes that pivot alone. What no shift can mend, and what a shift of amount zero would try
   forever, is a breakdown. The outcome is in e->status.
*/
PetscErrorCode SyncILUEngineFactor(SyncILUEngine e, const SyncILUCSR *A, const MatFactorInfo *info)
{
  const MatFactorShiftType type     = (MatFactorShiftType)(int)info->shifttype;
  const PetscInt           max      = 5; /* bisections, as PETSc's */
  SyncILUPivoting          piv      = {type, info->zeropivot, 0.0, e->settings.relax};
  PetscReal                fraction = 0.0, lo = 0.0, hi = 1.0, top = 0.0;
  PetscBool                again;

  PetscFunctionBegin;
  e->attempts = 0;
  if (type == MAT_SHIFT_INBLOCKS) piv.amount = info->shiftamount;
  if (type == MAT_SHIFT_POSITIVE_DEFINITE) {
    PetscCall((*e->ops->excess)(e, A, &top));
    top = 1.1 * PetscMax(top, info->zeropivot);
  }
  do {
    const PetscReal before = piv.amount;

    again = PETSC_FALSE;
    PetscCall((*e->ops->factor)(e, A, &piv, &e->status));
    if (e->settings.check) PetscCall(CheckFactor(e, A, &piv));
    if (e->status.row >= 0 && e->status.shift) {
      if (type == MAT_SHIFT_NONZERO) piv.amount = e->attempts ? 2 * piv.amount : info->shiftamount;
      else {
        if (e->attempts == max) fraction = hi;
        else {
          lo       = fraction;
          fraction = (hi + lo) / 2;
        }
        piv.amount = fraction * top;
      }
      again = (PetscBool)(piv.amount > before || (type == MAT_SHIFT_POSITIVE_DEFINITE && e->attempts == max));
    } else if (type == MAT_SHIFT_POSITIVE_DEFINITE && e->status.row < 0 && fraction > 0 && e->attempts < max) {
      hi         = fraction;
      fraction   = (hi + lo) / 2;
      piv.amount = fraction * top;
      again      = PETSC_TRUE;
    }
    if (again) e->attempts++;
  } while (again);
  e->amount = piv.amount;
  if (type != MAT_SHIFT_INBLOCKS) e->status.shifted = piv.amount > 0 ? e->pattern.n : 0;
  else if (!e->status.shifted) e->amount = 0.0;
  e->factorizations++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How often the elimination updates an entry: for each entry (i,k) of L, the entries of row k of U that row i has too. */
static PetscErrorCode CountUpdates(const SyncILUPattern *p, PetscInt64 *updates)
{
  PetscInt *row;

  PetscFunctionBegin;
  *updates = 0;
  PetscCall(PetscMalloc1(p->n, &row));
  for (PetscInt i = 0; i < p->n; i++) row[i] = -1;
  for (PetscInt i = 0; i < p->n; i++) {
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) row[p->lcol[k]] = i;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) row[p->ucol[k]] = i;
    row[i] = i;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      for (PetscInt u = p->uptr[p->lcol[k]]; u < p->uptr[p->lcol[k] + 1]; u++) *updates += row[p->ucol[u]] == i;
    }
  }
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineFlops - the operations of the last numeric phase: two for each update, one for each entry of L and each pivot, and that for each attempt

   Not Collective

   Input Parameter:
.  e - a factored engine, whose matrix is still at hand

   Output Parameter:
.  flops - counted when first asked for, which takes as long as a factorization without values
*/
PetscErrorCode SyncILUEngineFlops(SyncILUEngine e, PetscLogDouble *flops)
{
  PetscFunctionBegin;
  if (e->flops == 0.0) {
    PetscInt64 updates;

    if (e->ops->updates) PetscCall((*e->ops->updates)(e, &updates));
    else PetscCall(CountUpdates(&e->pattern, &updates));
    e->flops = 2.0 * (PetscLogDouble)updates + (PetscLogDouble)e->pattern.nl + (PetscLogDouble)e->pattern.n;
  }
  *flops = e->flops * (1 + e->attempts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineSolve - solves with the factor

   Not Collective

   Input Parameters:
+  e     - a factored engine
.  trans - the system or its transpose (not the Hermitian transpose)
.  nrhs  - number of right-hand sides
.  b     - the right-hand sides, one after another
.  ldb   - distance of two right-hand sides, at least the number of rows
.  ldx   - likewise of two solutions
-  mem   - where b and x are; on a device only for a backend that takes it, and then without waiting for the result

   Output Parameter:
.  x - the solutions; b itself is allowed if ldb equals ldx
*/
PetscErrorCode SyncILUEngineSolve(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx, PetscMemType mem)
{
  const PetscInt n    = e->pattern.n;
  PetscScalar   *copy = NULL;

  PetscFunctionBegin;
  PetscCheck(!e->settings.check || PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "-pc_syncilu_check looks at arrays on the host");
  if (e->settings.check && e->ref && b == x) { /* the right-hand sides are overwritten before they can be checked */
    PetscCall(PetscMalloc1((size_t)ldb * nrhs, &copy));
    PetscCall(PetscArraycpy(copy, b, (size_t)ldb * nrhs));
  }
  PetscCall((*e->ops->solve)(e, trans, nrhs, b, ldb, x, ldx, mem));
  if (e->settings.check && e->ref && n) {
    for (PetscInt r = 0; r < nrhs; r++) PetscCall(CheckSolve(e, trans, (copy ? copy : b) + (size_t)r * ldb, x + (size_t)r * ldx));
  }
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUEngineStatistics(SyncILUEngine e, SyncILUStatistics *s)
{
  const SyncILUPattern *p = &e->pattern;

  PetscFunctionBegin;
  s->backend         = e->ops->backend;
  s->rows            = p->n;
  s->nonzeros        = (PetscInt64)p->nl + p->nu + p->n;
  s->fill            = p->nnz ? (PetscReal)s->nonzeros / (PetscReal)p->nnz : 1.0;
  s->diagonals_added = p->added;
  s->pivots_shifted  = e->status.shifted;
  s->shift_attempts  = e->attempts;
  s->shift_amount    = e->amount;
  s->failed_row      = e->status.row;
  s->failed_pivot    = e->status.row >= 0 ? e->status.pivot : 0.0;
  s->factorizations  = e->factorizations;
  s->bytes           = SyncILUPatternBytes(p);
  PetscCall((*e->ops->statistics)(e, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
