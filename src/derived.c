/*
   A matrix that is made of another one, as a source of rows: the points of a matrix of blocks, or both triangles
   of a symmetric one. The pattern is kept, and so is which value of the other matrix each entry has; the values
   are taken from there each time.
*/
#include "engine.h"

/* Whether it was made of a matrix with this pattern, which is looked at where it may be another one. */
static PetscBool Fits(SyncILUDerived *d, const SyncILUCSR *A)
{
  PetscInt64 fingerprint[2];
  PetscBool  fits;

  if (d->i && SyncILUSameIdentity(A, &d->of)) return PETSC_TRUE;
  SyncILUCSRFingerprint(A, fingerprint);
  fits              = (PetscBool)(d->i && A->n == d->of.n && A->nnz == d->of.nnz && fingerprint[0] == d->fingerprint[0] && fingerprint[1] == d->fingerprint[1]);
  d->of             = *A;
  d->fingerprint[0] = fingerprint[0];
  d->fingerprint[1] = fingerprint[1];
  return fits;
}

static PetscErrorCode Make(SyncILUDerived *d, const SyncILUCSR *A, SyncILUCSR *csr)
{
  PetscFunctionBegin;
  if (!Fits(d, A)) {
    PetscErrorCode ierr;

    PetscCall(PetscFree3(d->i, d->j, d->map));
    d->state++; /* arrays of the same size may get the same addresses */
    ierr = (*d->make)(d, A);
    if (ierr) PetscCall(PetscFree3(d->i, d->j, d->map));
    PetscCall(ierr);
  }
  *csr       = *A;
  csr->state = d->state;
  csr->bs    = 1;
  csr->n     = A->n * SyncILUBlockSize(A);
  csr->nnz   = d->i[csr->n];
  csr->i     = d->i;
  csr->j     = d->j;
  if (A->a) {
    PetscScalar *a;

    PetscCall(PetscMalloc1(csr->nnz, &a));
    for (PetscInt k = 0; k < csr->nnz; k++) a[k] = A->a[d->map[k]];
    csr->a = a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the other matrix' own values do: it has both triangles, so that its pattern is the symmetric one, and
   nobody reads those below the diagonal.
*/
static PetscBool Lends(const SyncILUDerived *d)
{
  return (PetscBool)(d->make == SyncILUMakeSymmetric && d->reader && (d->reader->half || d->reader->upper) && !d->reader->row);
}

static PetscErrorCode GetDerived(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  SyncILUDerived    *d = (SyncILUDerived *)ctx;
  const PetscScalar *lent;
  SyncILUCSR         A;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  /*
     it is made on the host; where its values are lent, on a device or not, its pattern is the other matrix'
     own
  */
  if (device && values && Lends(d)) {
    PetscCall((*d->from.get)(d->from.ctx, PETSC_TRUE, PETSC_TRUE, csr));
    d->held = *csr;
    if (PetscMemTypeDevice(csr->mem)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall((*d->from.restore)(d->from.ctx, &d->held));
    d->held.a = NULL;
  }
  PetscCall((*d->from.get)(d->from.ctx, PETSC_FALSE, values, &A));
  lent = values && Lends(d) ? A.a : NULL;
  if (lent) {
    d->held = A;
    A.a     = NULL;
  }
  ierr = Make(d, &A, csr);
  if (lent && !ierr) {
    csr->a = lent;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (lent) A = d->held;
  PetscCall((*d->from.restore)(d->from.ctx, &A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreDerived(void *ctx, SyncILUCSR *csr)
{
  SyncILUDerived *d = (SyncILUDerived *)ctx;

  PetscFunctionBegin;
  if (csr->a && csr->a == d->held.a) {
    PetscCall((*d->from.restore)(d->from.ctx, &d->held));
    d->held.a = csr->a = NULL;
  } else PetscCall(PetscFree(csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUDerivedSource - what is made of a matrix, as a source

   Not Collective

   Input Parameters:
+  d    - zeroed, or of an earlier call with the same function
.  from - the matrix
-  make - allocates d->i, d->j and d->map with PetscMalloc3() and fills them: a matrix without blocks in CSR, and
          of each entry which value of the other matrix it has

   Output Parameter:
.  source - what it gets stays as it is until it gets the rows of another matrix, or d is destroyed
*/
void SyncILUDerivedSource(SyncILUDerived *d, const SyncILUSource *from, PetscErrorCode (*make)(SyncILUDerived *, const SyncILUCSR *), SyncILUSource *source)
{
  d->from         = *from;
  d->make         = make;
  source->get     = GetDerived;
  source->restore = RestoreDerived;
  source->ctx     = d;
  source->bs      = 1;
}

PetscErrorCode SyncILUDerivedDestroy(SyncILUDerived *d)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(d->i, d->j, d->map));
  PetscCall(PetscMemzero(d, sizeof(*d)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 SyncILUDerivedBytes(const SyncILUDerived *d)
{
  const PetscInt64 n = (PetscInt64)d->of.n * SyncILUBlockSize(&d->of);

  return d->i ? (PetscInt64)sizeof(PetscInt) * (n + 1 + 2 * (PetscInt64)d->i[n]) : 0;
}
