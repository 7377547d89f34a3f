/*
   Orderings that the library makes itself, on the host.
*/
#include "engine.h"
#include "bmc.h"

/*
   The levels of L or of U of a matrix in its natural order, where it has no fill. Columns beyond the matrix
   count for none.
*/
static PetscErrorCode CountLevels(const SyncILUCSR *A, PetscBool lower, PetscInt *levels)
{
  const PetscInt n = A->n;
  PetscInt      *level;

  PetscFunctionBegin;
  *levels = 0;
  PetscCall(PetscMalloc1(n, &level));
  for (PetscInt q = 0; q < n; q++) {
    const PetscInt i = lower ? q : n - 1 - q;
    PetscInt       l = 0;

    for (PetscInt k = A->i[i]; k < A->i[i + 1]; k++) {
      const PetscInt j = A->j[k];

      if (lower ? j >= 0 && j < i : j > i && j < n) l = PetscMax(l, level[j]);
    }
    level[i] = l + 1;
    *levels  = PetscMax(*levels, l + 1);
  }
  PetscCall(PetscFree(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Says what speaks for the ordering that was taken: levels of L and U, and what two orderings take. */
PetscErrorCode SyncILUBlocksWhy(const PetscInt levels[2], const double ms[2], SyncILUBlocks *blocks)
{
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(blocks->why, sizeof(blocks->why),
                          "%" PetscInt_FMT " levels of L and U in the natural order take about %.2g ms an application, in the ordering bmc about %.2g",
                          levels[0] + levels[1], ms[0], ms[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUBlocksOrder - the ordering that is asked for

   Not Collective

   Input Parameters:
+  A       - the pattern of a matrix on the host
-  reorder - the rule of the backend that will factor it, as in SyncILUBackendOps

   Input/Output Parameter:
.  blocks - what is asked for, the rows of a block and whether colors shall follow the numbering; then what it is

   Output Parameter:
.  row - the row at each position, which the caller frees; NULL: the natural ordering

   Errors:
   PETSC_ERR_ARG_OUTOFRANGE with the row that has a column outside of the matrix.
*/
PetscErrorCode SyncILUBlocksOrder(const SyncILUCSR *A, SyncILUReorder reorder, PetscInt **row, SyncILUBlocks *blocks)
{
  PetscBool  pays = (PetscBool)(blocks->request == SYNCILU_ORDERING_BMC);
  SyncILUBMC o;

  PetscFunctionBegin;
  *row           = NULL;
  blocks->why[0] = 0;
  if (blocks->request == SYNCILU_ORDERING_AUTO && reorder) {
    const PetscInt bs = SyncILUBlockSize(A); /* the backend will see points */
    PetscInt       levels[2];
    double         ms[2];

    for (int k = 0; k < 2; k++) {
      PetscCall(CountLevels(A, (PetscBool)!k, &levels[k]));
      levels[k] *= bs;
    }
    pays = (*reorder)(A->n * bs, A->n ? (PetscInt64)A->i[A->n] * bs * bs : 0, levels, ms);
    PetscCall(SyncILUBlocksWhy(levels, ms, blocks));
  } else if (blocks->request == SYNCILU_ORDERING_AUTO)
    PetscCall(PetscStrncpy(blocks->why, "the host goes through the rows in their order", sizeof(blocks->why)));
  blocks->request = SYNCILU_ORDERING_GIVEN;
  if (!pays) {
    blocks->size = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SyncILUBMCCreate(A->n, A->i, A->j, blocks->size, blocks->along, &o));
  blocks->blocks  = o.blocks;
  blocks->colors  = o.colors;
  blocks->matched = o.matched;
  blocks->along   = o.along;
  PetscCall(PetscMalloc1(A->n, row));
  PetscCall(PetscArraycpy(*row, o.row, A->n));
  PetscCall(SyncILUBMCDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
