/*
   Orderings for PETSc's list, by which -pc_factor_mat_ordering_type finds them.
*/
#include "syncilu_impl.h"
#include "bmc.h"

/* For -info and the view. */
#define DESCRIPTION       "ordering: " MATORDERINGBMC ", %" PetscInt_FMT " blocks of at most %" PetscInt_FMT " rows, %s, in %" PetscInt_FMT " colors\n"
#define DESCRIBED(blocks) (blocks)->blocks, (blocks)->size, (blocks)->grown ? "grown along the entries" : "cut from the numbering", (blocks)->colors

PetscErrorCode SyncILUBlocksCheckSize(PetscInt size)
{
  PetscFunctionBegin;
  PetscCheck(size > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-mat_ordering_bmc_size: %" PetscInt_FMT " is not a number of rows", size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The rows of a block: with the prefix of the preconditioner that factors the matrix, if that is a PCSYNCILU,
   else with the prefix of the matrix.
*/
static PetscErrorCode GetBlockSize(Mat A, PetscInt *size)
{
  PetscContainer container;

  PetscFunctionBegin;
  *size = 0;
  PetscCall(PetscObjectQuery((PetscObject)A, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  if (container) {
    SyncILUShared *shared;

    PetscCall(PetscContainerGetPointer(container, (void **)&shared));
    *size = shared->bmc_size;
  }
  if (!*size) {
    *size = SYNCILU_BMC_SIZE;
    PetscCall(PetscOptionsGetInt(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_ordering_bmc_size", size, NULL));
  }
  PetscCall(SyncILUBlocksCheckSize(*size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATORDERINGBMC = "bmc" - block multicolor ordering: blocks of rows that are near each other, colored so that
   those of one color share no entry, and numbered by color

   Options Database Key (with the prefix of the matrix, and below `PCSYNCILU` with that of the preconditioner too):
.  -mat_ordering_bmc_size <32> - most rows of a block, of a baij matrix block rows

   Level: intermediate

   Notes:
   For -pc_factor_mat_ordering_type with any incomplete factorization, PETSc's own ones too. ILU in the natural
   or the reverse Cuthill-McKee ordering of an unstructured mesh is one long chain of rows; in this ordering a
   row waits for few others, at the cost of some iterations, up to 20 % more on most meshes. Smaller blocks
   leave shorter chains and cost more iterations; a size of 1 is multicolor ordering.

   The blocks are cut from the numbering of the matrix where it keeps neighbours close together, as a
   space-filling curve does, and grown along its entries elsewhere. Successive rows with the same columns, such
   as the unknowns of a point, stay together if a block has room for them. The pattern need not be symmetric.
   The ordering is the same from run to run.

   Rows and columns that are full, or nearly so, come last: before others, each of those would be updated with
   all of their entries.

   Reference:
   T. Iwashita, H. Nakashima, Y. Takahashi, IPDPS 2012.

.seealso: `MatOrderingType`, `MatGetOrdering()`, `PCFactorSetMatOrderingType()`, `PCSYNCILU`
M*/
static PetscErrorCode MatGetOrdering_BMC(Mat A, MatOrderingType type, IS *row, IS *col)
{
  PetscContainer  container;
  SyncILUBlocks  *blocks;
  SyncILUBMC      o;
  PetscInt        n, size;
  const PetscInt *ptr, *columns;
  PetscBool       done, baij;

  PetscFunctionBegin;
  (void)type;
  PetscCall(GetBlockSize(A, &size));
  /* PETSc orders the block rows of these; with aij it would take rows together that it found alike */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &baij, MATSEQBAIJ, MATSEQSBAIJ, ""));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, baij, &n, &ptr, &columns, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "Ordering " MATORDERINGBMC " cannot get the rows of a matrix of type %s",
             ((PetscObject)A)->type_name);
  PetscCall(SyncILUBMCCreate(n, ptr, columns, size, &o));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, baij, &n, &ptr, &columns, &done));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, o.n, o.row, PETSC_COPY_VALUES, row));
  PetscCall(ISDuplicate(*row, col)); /* MatReorderForNonzeroDiagonal() changes the columns alone */
  PetscCall(PetscNew(&blocks));
  blocks->size   = size;
  blocks->blocks = o.blocks;
  blocks->colors = o.colors;
  blocks->grown  = o.grown;
  PetscCall(SyncILUBMCDestroy(&o));
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, blocks));
  PetscCall(SyncILUContainerFreesPointer(container));
  PetscCall(PetscObjectCompose((PetscObject)*row, SYNCILU_BLOCKS_KEY, (PetscObject)container));
  PetscCall(PetscInfo(A, DESCRIPTION, DESCRIBED(blocks)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUBlocksView(Mat F, PetscViewer viewer)
{
  PetscContainer container;
  SyncILUBlocks *blocks;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, SYNCILU_BLOCKS_KEY, (PetscObject *)&container));
  if (!container) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerGetPointer(container, (void **)&blocks));
  PetscCall(PetscViewerASCIIPrintf(viewer, DESCRIPTION, DESCRIBED(blocks)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUOrderingRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGBMC, MatGetOrdering_BMC));
  PetscFunctionReturn(PETSC_SUCCESS);
}
