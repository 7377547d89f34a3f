/*
   A matrix of blocks as one of points, for backends that know no blocks: every block with all of its entries,
   zeros too. ILU of these points, on the pattern of ILU(k) of the blocks, is the same preconditioner as ILU of
   the blocks up to rounding, as long as no pivot vanishes and no diagonal block is missing: inside of a block
   nothing is dropped.
*/
#include "engine.h"

/* There are no more than an index counts, which the engine has seen to. */
static PetscErrorCode ExpandPattern(SyncILUPoints *p, const SyncILUCSR *A)
{
  const PetscInt bs = A->bs;
  PetscInt       at = 0;

  PetscFunctionBegin;
  PetscCall(PetscFree2(p->i, p->j));
  PetscCall(PetscMalloc2(A->n * bs + 1, &p->i, A->nnz * bs * bs, &p->j));
  for (PetscInt b = 0; b < A->n; b++) {
    for (PetscInt r = 0; r < bs; r++) {
      p->i[b * bs + r] = at;
      for (PetscInt k = A->i[b]; k < A->i[b + 1]; k++) {
        for (PetscInt c = 0; c < bs; c++) p->j[at++] = A->j[k] * bs + c;
      }
    }
  }
  p->i[A->n * bs] = p->nnz = at;
  p->made.state++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void ExpandValues(const SyncILUCSR *A, PetscScalar *a)
{
  const PetscInt bs = A->bs;

  for (PetscInt b = 0; b < A->n; b++) {
    for (PetscInt r = 0; r < bs; r++) {
      for (PetscInt k = A->i[b]; k < A->i[b + 1]; k++) {
        for (PetscInt c = 0; c < bs; c++) *a++ = A->a[(size_t)k * bs * bs + c * bs + r];
      }
    }
  }
}

static PetscErrorCode ExpandTo(SyncILUPoints *p, const SyncILUCSR *A, SyncILUCSR *csr)
{
  const PetscInt bs = A->bs;

  PetscFunctionBegin;
  if (!SyncILUMadeFits(&p->made, A) || !p->i) PetscCall(ExpandPattern(p, A));
  *csr       = *A;
  csr->state = p->made.state;
  csr->bs    = 1;
  csr->n     = A->n * bs;
  csr->nnz   = p->nnz;
  csr->i     = p->i;
  csr->j     = p->j;
  if (A->a) {
    PetscScalar *a;

    PetscCall(PetscMalloc1(csr->nnz, &a));
    ExpandValues(A, a);
    csr->a = a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetPoints(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  SyncILUPoints *p = (SyncILUPoints *)ctx;
  SyncILUCSR     A;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  (void)device; /* PETSc has no matrices of blocks there */
  PetscCall((*p->from->get)(p->from->ctx, PETSC_FALSE, values, &A));
  ierr = ExpandTo(p, &A, csr);
  PetscCall((*p->from->restore)(p->from->ctx, &A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestorePoints(void *ctx, SyncILUCSR *csr)
{
  PetscFunctionBegin;
  (void)ctx; /* the pattern is kept for the next time */
  PetscCall(PetscFree(csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUPointsSource - the points of a matrix of blocks, as a source

   Not Collective

   Input Parameters:
+  p    - zeroed, or of an earlier call for a matrix with blocks of that size
-  from - the matrix, which is kept by address

   Output Parameter:
.  points - what it gets stays as it is until it gets the rows of another matrix, or p is destroyed
*/
void SyncILUPointsSource(SyncILUPoints *p, const SyncILUSource *from, SyncILUSource *points)
{
  p->from         = from;
  points->get     = GetPoints;
  points->restore = RestorePoints;
  points->ctx     = p;
  points->bs      = 1;
}

PetscErrorCode SyncILUPointsDestroy(SyncILUPoints *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(p->i, p->j));
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUPointsOrdering - an ordering of blocks as one of their points

   Not Collective

   Input Parameters:
+  n      - number of blocks
.  bs     - points of a block
-  blocks - the block at each position; NULL for the natural ordering

   Output Parameter:
.  points - the point at each position, which the caller frees; NULL where blocks is
*/
PetscErrorCode SyncILUPointsOrdering(PetscInt n, PetscInt bs, const PetscInt *blocks, PetscInt **points)
{
  PetscFunctionBegin;
  *points = NULL;
  if (!blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n * bs, points));
  for (PetscInt b = 0; b < n; b++) {
    for (PetscInt r = 0; r < bs; r++) (*points)[b * bs + r] = blocks[b] * bs + r;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
