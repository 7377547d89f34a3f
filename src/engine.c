/*
   What is the same for every backend: the choice of one, the plan and whether it still fits, the attempts
   with growing shifts.
*/
#include "engine.h"
#include <stdint.h>

void SyncILUSettingsInitialize(SyncILUSettings *s)
{
  s->backend     = SYNCILU_BACKEND_AUTO;
  s->update      = SYNCILU_UPDATE_AUTO;
  s->analysis    = SYNCILU_ANALYSIS_AUTO;
  s->solve       = SYNCILU_SOLVE_AUTO;
  s->prefetch    = PETSC_BOOL3_UNKNOWN;
  s->vector_size = 0;
  s->ordering    = SYNCILU_ORDERING_GIVEN;
  s->block_size  = 0;
  s->threads     = PETSC_DECIDE;
  s->relax       = 0.0;
  s->check       = PETSC_FALSE;
  s->tune        = PETSC_FALSE;
}

/* In the order in which auto prefers them. The last one takes everything. */
static const SyncILUBackendOps *const backends[] = {
#if defined(SYNCILU_HAVE_CUDA)
  &SyncILUCUDAOps,
#endif
  &SyncILUHostOps};

enum {
  BACKENDS = sizeof(backends) / sizeof(backends[0])
};

/* Called when the package is finalized. */
PetscErrorCode SyncILUEngineFinalize(void)
{
  PetscFunctionBegin;
  for (int k = 0; k < BACKENDS; k++) {
    if (backends[k]->finalize) PetscCall((*backends[k]->finalize)());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether arrays on a device are of use: the comparison with the reference looks at those of the host. */
PetscBool SyncILUEngineTakesDevice(SyncILUEngine e)
{
  return (PetscBool)(e->ops->device && !e->settings.check);
}

/*
   The fingerprint of a pattern: two sums, modulo 2^64, of a hash of each of its entries (i,j). What is hashed
   is the number 0x9E3779B97F4A7C15 i + j, and in the second sum that number plus 0xD1B54A32D192ED03. The hash
   is the last step of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014). A sum does not depend on the
   order of its terms, so that a device may add them up as it likes.

   Nor does a sum see in which order a row has its columns. In patterns that were planned for, columns ascend;
   for each that does not one is added, which makes the fingerprint another one.
*/
static inline PetscInt64 Hash(uint64_t x)
{
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return (PetscInt64)(x ^ (x >> 31));
}

static void HostFingerprint(const SyncILUCSR *A, PetscInt64 fingerprint[2])
{
  uint64_t sum[2] = {0, 0};

  for (PetscInt i = 0; i < A->n; i++) {
    const uint64_t key = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);

    for (PetscInt k = A->i[i]; k < A->i[i + 1]; k++) {
      sum[0] += (uint64_t)Hash(key + (uint64_t)A->j[k]);
      sum[1] += (uint64_t)Hash(key + (uint64_t)A->j[k] + UINT64_C(0xD1B54A32D192ED03));
      if (k > A->i[i] && A->j[k] <= A->j[k - 1]) sum[0]++;
    }
  }
  for (int k = 0; k < 2; k++) fingerprint[k] = (PetscInt64)sum[k];
}

/* pending is set where the fingerprint stays on the device until it is asked for. NULL: it is waited for. */
static PetscErrorCode Fingerprint(SyncILUEngine e, const SyncILUSource *source, const SyncILUCSR *A, PetscInt64 fingerprint[2], PetscBool *pending)
{
  PetscFunctionBegin;
  if (pending) *pending = PETSC_FALSE;
  if (PetscMemTypeHost(A->mem)) HostFingerprint(A, fingerprint);
  else if (e->ops->fingerprint) {
    PetscCall((*e->ops->fingerprint)(e, A, NULL));
    if (pending) *pending = PETSC_TRUE;
    else PetscCall((*e->ops->fingerprint)(e, NULL, fingerprint));
  } else {
    SyncILUCSR host;

    PetscCall((*source->get)(source->ctx, PETSC_FALSE, PETSC_FALSE, &host));
    HostFingerprint(&host, fingerprint);
    PetscCall((*source->restore)(source->ctx, &host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether this is the matrix that was seen last, with the pattern that it had then. The pattern itself is not
   looked at.
*/
static PetscBool SameIdentity(const SyncILUCSR *A, const SyncILUCSR *B)
{
  return (PetscBool)(A->id == B->id && A->state == B->state && A->i == B->i && A->j == B->j && A->nnz == B->nnz);
}

/* The symbolic phase on the host. */
static PetscErrorCode Symbolic(SyncILUEngine e, const SyncILUCSR *A)
{
  PetscInt      *row = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SyncILUPatternDestroy(&e->pattern));
  if (!e->row && e->settings.ordering != SYNCILU_ORDERING_GIVEN) {
    e->blocks.request = e->settings.ordering;
    e->blocks.size    = e->settings.block_size;
    PetscCall(SyncILUBlocksOrder(A, e->ops->reorder, &row, &e->blocks));
  }
  ierr = SyncILUPatternCreate(A, row ? row : e->row, row ? row : e->col, e->fill, &e->pattern);
  PetscCall(PetscFree(row));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan of e->ops; what the machine lacks for it is in e->unfit then. */
static PetscErrorCode Plan(SyncILUEngine e, const SyncILUSource *source)
{
  PetscBool      needpattern = PETSC_TRUE;
  SyncILUCSR     A;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  e->unfit[0] = 0;
  if (!e->settings.check && !e->pattern.lptr) {
    PetscCall((*source->get)(source->ctx, SyncILUEngineTakesDevice(e), PETSC_FALSE, &A));
    ierr = (*e->ops->plan)(e, &A, &needpattern);
    PetscCall((*source->restore)(source->ctx, &A));
    PetscCall(ierr);
  }
  /* also where the rows lack something, which the symbolic phase adds or names */
  if (needpattern && !e->unfit[0]) {
    if (!e->pattern.lptr) {
      PetscCall((*source->get)(source->ctx, PETSC_FALSE, PETSC_FALSE, &A));
      ierr = Symbolic(e, &A);
      PetscCall((*source->restore)(source->ctx, &A));
      PetscCall(ierr);
    }
    PetscCall((*e->ops->plan)(e, NULL, &needpattern));
  }
  if (e->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*source->get)(source->ctx, SyncILUEngineTakesDevice(e), PETSC_FALSE, &A));
  e->identity = A;
  ierr        = Fingerprint(e, source, &A, e->fingerprint, &e->pending);
  PetscCall((*source->restore)(source->ctx, &A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Unplan(SyncILUEngine e)
{
  PetscFunctionBegin;
  if (e->ops) PetscCall((*e->ops->destroy)(e));
  e->ops = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the user may mean a backend for so many rows, and it is there; else why says why not. */
static PetscErrorCode MayTake(const SyncILUBackendOps *ops, SyncILUBackend asked, PetscInt n, PetscBool *may, char why[], size_t len)
{
  PetscFunctionBegin;
  *may = PETSC_FALSE;
  if (asked != SYNCILU_BACKEND_AUTO && asked != ops->backend) PetscFunctionReturn(PETSC_SUCCESS);
  if (asked == SYNCILU_BACKEND_AUTO && n < ops->least) {
    PetscCall(PetscSNPrintf(why, len, "%" PetscInt_FMT " rows on this rank, a GPU is used from %" PetscInt_FMT " on", n, ops->least));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *may = PETSC_TRUE;
  if (ops->available) PetscCall((*ops->available)(may, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineGetReorder - how the backend that would be taken decides whether a matrix had better be factored
   in an ordering with few levels

   Not Collective

   Input Parameters:
+  settings - what the user asked for
-  n        - number of rows

   Output Parameter:
.  reorder - as in SyncILUBackendOps; NULL where levels do not matter, or no backend would be taken
*/
PetscErrorCode SyncILUEngineGetReorder(const SyncILUSettings *settings, PetscInt n, SyncILUReorder *reorder)
{
  PetscBool may = PETSC_FALSE;
  char      unused[160];

  PetscFunctionBegin;
  *reorder = NULL;
  for (int k = 0; k < BACKENDS && !may; k++) {
    PetscCall(MayTake(backends[k], settings->backend, n, &may, unused, sizeof(unused)));
    if (may) *reorder = backends[k]->reorder;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan of the first backend that the user may mean and that can; e->why says why it is that one. */
static PetscErrorCode PlanSomewhere(SyncILUEngine e, const SyncILUSource *source)
{
  const SyncILUBackend asked = e->settings.backend;
  PetscErrorCode       code  = PETSC_ERR_SUP;
  char                 why[sizeof(e->why) - 8];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(why, sizeof(why), "this build has no %s backend", asked == SYNCILU_BACKEND_AUTO ? "GPU" : SyncILUBackends[asked]));
  for (int k = 0; k < BACKENDS; k++) {
    const SyncILUBackendOps *ops = backends[k];
    PetscBool                may;

    PetscCall(MayTake(ops, asked, e->n, &may, why, sizeof(why)));
    if (!may) continue;
    e->ops = ops;
    PetscCall(Plan(e, source));
    if (!e->unfit[0]) {
      if (asked != SYNCILU_BACKEND_AUTO) PetscCall(PetscStrncpy(e->why, "asked for", sizeof(e->why)));
      else if (ops->device)
        PetscCall(PetscSNPrintf(e->why, sizeof(e->why), "auto: a GPU is there and the rank has %" PetscInt_FMT " rows or more", ops->least));
      else {
        PetscCall(PetscSNPrintf(e->why, sizeof(e->why), "auto: %s", why));
        PetscCall(PetscInfo(NULL, "Backend %s: %s\n", SyncILUBackends[ops->backend], why));
      }
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(Unplan(e));
    /* a pattern without arrays was the first backend's, taken from the rows of the matrix */
    if (!e->pattern.lptr) PetscCall(SyncILUPatternDestroy(&e->pattern));
    PetscCall(PetscStrncpy(why, e->unfit, sizeof(why)));
    code = PETSC_ERR_LIB;
  }
  SETERRQ(PETSC_COMM_SELF, code, "-pc_syncilu_backend %s: %s%s", SyncILUBackends[asked], why, code == PETSC_ERR_SUP ? "; use host or auto" : "");
}

static PetscErrorCode PlanCounted(SyncILUEngine e, const SyncILUSource *source, const PetscInt *row, const PetscInt *col)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  e->row = row;
  e->col = col;
  ierr   = PlanSomewhere(e, source);
  e->row = e->col = NULL;
  if (ierr) {
    PetscCall(Unplan(e));
    PetscCall(SyncILUPatternDestroy(&e->pattern));
  } else e->analyses++;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineCreate - picks the backend and plans a factorization

   Not Collective

   Input Parameters:
+  settings - what the user asked for
.  n        - number of rows
.  source   - the matrix; its values are not looked at
.  row      - row i of the factor is row row[i] of the matrix; NULL together with col for the natural ordering
.  col      - column j of the factor is column col[j] of the matrix
-  fill     - levels of fill, and whether missing diagonal entries are added

   Output Parameter:
.  engine - the planned factorization, NULL after an error

   Errors:
   What a backend that the user asked for lacks; what is wrong with the pattern (see SyncILUPatternCreate()).

   Note:
   Where the user leaves the choice to the library, a backend that cannot is followed by the next one, and the
   view says why.
*/
PetscErrorCode SyncILUEngineCreate(const SyncILUSettings *settings, PetscInt n, const SyncILUSource *source, const PetscInt *row, const PetscInt *col,
                                   SyncILUFill fill, SyncILUEngine *engine)
{
  SyncILUEngine  e;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *engine = NULL;
  PetscCall(PetscNew(&e));
  e->n          = n;
  e->fill       = fill;
  e->settings   = *settings;
  e->update     = settings->update;
  e->solve      = settings->solve;
  e->status.row = -1;
  ierr          = PlanCounted(e, source, row, col);
  /* an error here is the user's to handle, and not the last thing the program does */
  if (ierr) PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(ierr);
  *engine = e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUEngineDestroy(SyncILUEngine *engine)
{
  SyncILUEngine e = *engine;

  PetscFunctionBegin;
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Unplan(e));
  PetscCall(SyncILUPatternDestroy(&e->pattern));
  PetscCall(PetscFree(e->ref));
  PetscCall(PetscFree(*engine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Plans again, for another pattern or to have its arrays, with the same fill and settings, and the ordering
   that was given; one that the engine makes is made anew.
*/
static PetscErrorCode PlanAnew(SyncILUEngine e, const SyncILUSource *source)
{
  const PetscBool given = (PetscBool)(e->settings.ordering == SYNCILU_ORDERING_GIVEN);
  PetscInt       *row = given ? e->pattern.row : NULL, *col = given ? e->pattern.col : NULL;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  if (given) e->pattern.row = e->pattern.col = NULL; /* the ordering outlives the pattern */
  PetscCall(Unplan(e));
  PetscCall(SyncILUPatternDestroy(&e->pattern));
  PetscCall(PetscFree(e->ref));
  e->flops           = 0.0;
  e->settings.update = e->update;
  e->settings.solve  = e->solve;
  e->tuning[0]       = 0;
  ierr               = PlanCounted(e, source, row, col);
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(col));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineRow - which row of the matrix is a row of the factor

   Not Collective

   Input Parameters:
+  e - a planned engine
-  i - the row of the factor

   Output Parameter:
.  row - the row of the matrix
*/
PetscErrorCode SyncILUEngineRow(SyncILUEngine e, PetscInt i, PetscInt *row)
{
  PetscFunctionBegin;
  *row = e->pattern.row ? e->pattern.row[i] : i;
  if (!e->pattern.row && !e->pattern.lptr && e->ops->row) PetscCall((*e->ops->row)(e, i, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRows(SyncILUEngine e, const SyncILUCSR *A)
{
  PetscFunctionBegin;
  PetscCheck(A->n == e->n, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "The matrix has %" PetscInt_FMT " rows, the one of the symbolic phase had %" PetscInt_FMT,
             A->n, e->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the plan fits this matrix. The pattern is looked at where it may be another one. A matrix that fits
   is remembered.
*/
static PetscErrorCode PlanFits(SyncILUEngine e, const SyncILUSource *source, const SyncILUCSR *A, PetscBool *fits)
{
  PetscInt64 fingerprint[2];

  PetscFunctionBegin;
  *fits = PETSC_TRUE;
  if (e->settings.check && !e->pattern.lptr) {
    PetscCall(PetscInfo(NULL, "-pc_syncilu_check was switched on after the symbolic phase, which is done again for the reference\n"));
    *fits = PETSC_FALSE;
  } else if (!SameIdentity(A, &e->identity)) {
    if (e->pending) PetscCall((*e->ops->fingerprint)(e, NULL, e->fingerprint));
    e->pending = PETSC_FALSE;
    if (A->nnz == e->identity.nnz) PetscCall(Fingerprint(e, source, A, fingerprint, NULL));
    *fits = (PetscBool)(A->nnz == e->identity.nnz && fingerprint[0] == e->fingerprint[0] && fingerprint[1] == e->fingerprint[1]);
    if (*fits) e->identity = *A;
    else PetscCall(PetscInfo(NULL, "The matrix has another pattern than in the symbolic phase, which is done again\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many attempts as the shift takes. */
static PetscErrorCode Attempts(SyncILUEngine e, const SyncILUCSR *A, const MatFactorInfo *info, SyncILUPivoting *last)
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
    if (e->settings.check) PetscCall(SyncILUCheckFactor(e, A, &piv));
    else PetscCall(PetscFree(e->ref)); /* of older values */
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
  *last = piv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numeric phase, and once for a plan what tuning makes of it. */
static PetscErrorCode FactorTuned(SyncILUEngine e, const SyncILUCSR *A, const MatFactorInfo *info)
{
  SyncILUPivoting piv;
  PetscBool       again = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(Attempts(e, A, info, &piv));
  if (e->settings.tune && !e->tuning[0] && e->status.row < 0) PetscCall(SyncILUTune(e, A, &piv, &again));
  if (again) PetscCall(Attempts(e, A, info, &piv));
  e->factorizations++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineFactor - the numeric phase, with as many attempts as the shift takes

   Not Collective

   Input Parameters:
+  e      - the planned factorization
.  source - the matrix
-  info   - shift type and amount, zero pivot

   Notes:
   Shifts have PETSc's meaning (MatPivotCheck() and MatLUFactorNumeric_SeqAIJ() there): a rejected pivot of
   MAT_SHIFT_NONZERO doubles what is added to the whole diagonal, one of MAT_SHIFT_POSITIVE_DEFINITE bisects
   between nothing and diagonal dominance, and MAT_SHIFT_INBLOCKS changes that pivot alone. What no shift can
   save, and what a shift of amount zero would try forever, is a breakdown. The outcome is in e->status.

   A matrix of another pattern than the one that was planned for is planned for anew: PETSc does not tell all
   changes of a pattern (MatTranspose() in place, for one), and a plan for another pattern would read past the
   ends of rows, and wait on a device for rows that never come.

   After an error of that plan, which leaves e->ops NULL, the engine can only be destroyed.
*/
PetscErrorCode SyncILUEngineFactor(SyncILUEngine e, const SyncILUSource *source, const MatFactorInfo *info)
{
  SyncILUCSR     A;
  PetscBool      fits;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall((*source->get)(source->ctx, SyncILUEngineTakesDevice(e), PETSC_TRUE, &A));
  ierr = CheckRows(e, &A);
  if (!ierr) ierr = PlanFits(e, source, &A, &fits);
  if (!ierr && !fits) {
    PetscCall((*source->restore)(source->ctx, &A));
    PetscCall(PlanAnew(e, source));
    PetscCall((*source->get)(source->ctx, SyncILUEngineTakesDevice(e), PETSC_TRUE, &A));
  }
  if (!ierr) ierr = FactorTuned(e, &A, info);
  PetscCall((*source->restore)(source->ctx, &A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   How often the elimination updates an entry: for each (i,k) of L, the entries of row k of U that row i has.
*/
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
   SyncILUEngineFlops - the operations of the last numeric phase: two for each update, one for each entry of L
   and each pivot, and that for each attempt

   Not Collective

   Input Parameter:
.  e - a factored engine

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
-  mem   - where b and x are; on a device only for a backend that takes it, which then does not wait for the
           result

   Output Parameter:
.  x - the solutions; b itself is allowed if ldb equals ldx
*/
PetscErrorCode SyncILUEngineSolve(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx,
                                  PetscMemType mem)
{
  const PetscInt n    = e->pattern.n;
  const size_t   size = nrhs ? (size_t)ldb * (nrhs - 1) + n : 0;
  PetscScalar   *copy = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCheck(!e->settings.check || PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "-pc_syncilu_check looks at arrays on the host");
  /* the check needs the right-hand sides after they are overwritten */
  if (e->settings.check && e->ref && b == x) {
    PetscCall(PetscMalloc1(size, &copy));
    PetscCall(PetscArraycpy(copy, b, size));
  }
  ierr = (*e->ops->solve)(e, trans, nrhs, b, ldb, x, ldx, mem);
  if (e->settings.check && e->ref && n) {
    for (PetscInt r = 0; r < nrhs && !ierr; r++) ierr = SyncILUCheckSolve(e, trans, (copy ? copy : b) + (size_t)r * ldb, x + (size_t)r * ldx);
  }
  PetscCall(PetscFree(copy));
  PetscCall(ierr);
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
  s->analyses        = e->analyses;
  s->bytes           = SyncILUPatternBytes(p);
  PetscCall((*e->ops->statistics)(e, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
