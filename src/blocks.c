/*
   Orderings that the library makes itself, on the host.
*/
#include "engine.h"
#include "bmc.h"

/* What a backend that knows no blocks says of the points of a matrix of blocks. */
static PetscErrorCode ChooseOfPoints(const SyncILUSettings *settings, SyncILUReorder reorder, const SyncILUCSR *A, PetscBool *pays, char why[], size_t len)
{
  const PetscInt bs = A->bs, nnz = A->n ? A->i[A->n] : 0;
  SyncILUDerived d      = {.make = NULL};
  SyncILUCSR     points = *A;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *pays = PETSC_FALSE;
  if (nnz > PETSC_MAX_INT / (bs * bs)) { /* such a matrix is the host's */
    PetscCall(PetscSNPrintf(why, len, "the points of %" PetscInt_FMT " blocks have more entries than an index counts", nnz));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  points.nnz = nnz;
  PetscCall(SyncILUMakePoints(&d, &points));
  points.bs  = 1;
  points.n   = A->n * bs;
  points.nnz = nnz * bs * bs;
  points.i   = d.i;
  points.j   = d.j;
  ierr       = (*reorder)(settings, &points, pays, why, len);
  PetscCall(SyncILUDerivedDestroy(&d));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUBlocksChoose - where the choice is left to the library, the natural ordering or bmc

   Not Collective

   Input Parameters:
+  settings - with which the matrix will be factored
.  reorder  - the rule of the backend that will do it, as in SyncILUBackendOps
-  A        - the pattern of a matrix on the host, with both triangles

   Input/Output Parameter:
.  blocks - what is asked for; then what it is to be, and why

   Errors:
   What is wrong with the pattern (see SyncILUPatternCreate()).
*/
PetscErrorCode SyncILUBlocksChoose(const SyncILUSettings *settings, SyncILUReorder reorder, const SyncILUCSR *A, SyncILUBlocks *blocks)
{
  PetscBool pays = PETSC_FALSE;

  PetscFunctionBegin;
  blocks->why[0] = 0;
  if (blocks->request != SYNCILU_ORDERING_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  if (!reorder) PetscCall(PetscStrncpy(blocks->why, "the host goes through the rows in their order", sizeof(blocks->why)));
  else if (SyncILUBlockSize(A) > 1) PetscCall(ChooseOfPoints(settings, reorder, A, &pays, blocks->why, sizeof(blocks->why)));
  else PetscCall((*reorder)(settings, A, &pays, blocks->why, sizeof(blocks->why)));
  blocks->request = pays ? SYNCILU_ORDERING_BMC : SYNCILU_ORDERING_GIVEN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUBlocksOrder - the ordering that is asked for

   Not Collective

   Input Parameter:
.  A - the pattern of a matrix on the host

   Input/Output Parameter:
.  blocks - bmc or the natural ordering, the rows of a block and whether colors shall follow the numbering; then
            what it is

   Output Parameter:
.  row - the row at each position, which the caller frees; NULL: the natural ordering

   Errors:
   PETSC_ERR_ARG_OUTOFRANGE with the row that has a column outside of the matrix.
*/
PetscErrorCode SyncILUBlocksOrder(const SyncILUCSR *A, PetscInt **row, SyncILUBlocks *blocks)
{
  const PetscBool bmc = (PetscBool)(blocks->request == SYNCILU_ORDERING_BMC);
  SyncILUBMC      o;

  PetscFunctionBegin;
  *row            = NULL;
  blocks->request = SYNCILU_ORDERING_GIVEN;
  if (!bmc) {
    blocks->size = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SyncILUBMCCreate(A->n, A->i, A->j, blocks->size, blocks->along, &o));
  blocks->size    = o.size;
  blocks->blocks  = o.blocks;
  blocks->colors  = o.colors;
  blocks->matched = o.matched;
  blocks->along   = o.along;
  PetscCall(PetscMalloc1(A->n, row));
  PetscCall(PetscArraycpy(*row, o.row, A->n));
  PetscCall(SyncILUBMCDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
