/*
   A matrix of blocks as one of points, for backends that know no blocks: every block with all of its entries,
   zeros too. ILU of these points, on the pattern of ILU(k) of the blocks, is the same preconditioner as ILU of
   the blocks up to rounding, as long as no pivot vanishes and no diagonal block is missing: inside of a block
   nothing is dropped.
*/
#include "engine.h"

/* There are no more than an index counts, which the engine has seen to. */
PetscErrorCode SyncILUMakePoints(SyncILUDerived *d, const SyncILUCSR *A)
{
  const PetscInt bs = A->bs;
  PetscInt       at = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(A->n * bs + 1, &d->i, A->nnz * bs * bs, &d->j, A->nnz * bs * bs, &d->map));
  for (PetscInt b = 0; b < A->n; b++) {
    for (PetscInt r = 0; r < bs; r++) {
      d->i[b * bs + r] = at;
      for (PetscInt k = A->i[b]; k < A->i[b + 1]; k++) {
        for (PetscInt c = 0; c < bs; c++) {
          d->map[at] = (k * bs + c) * bs + r; /* blocks stand by columns */
          d->j[at++] = A->j[k] * bs + c;
        }
      }
    }
  }
  d->i[A->n * bs] = at;
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
