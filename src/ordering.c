/*
   Orderings for PETSc's list, by which -pc_factor_mat_ordering_type finds them.
*/
#include "syncilu_impl.h"
#include "bmc.h"

PetscErrorCode SyncILUBlocksCheckSize(PetscInt size)
{
  PetscFunctionBegin;
  PetscCheck(size > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-mat_ordering_bmc_size: %" PetscInt_FMT " is not a number of rows", size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the preconditioner that factors the matrix shares with it; NULL if that is none of ours. */
static PetscErrorCode FindShared(Mat A, SyncILUShared **shared)
{
  PetscContainer container;

  PetscFunctionBegin;
  *shared = NULL;
  PetscCall(PetscObjectQuery((PetscObject)A, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  if (container) PetscCall(PetscContainerGetPointer(container, (void **)shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The rows of a block: with the prefix of the preconditioner that factors the matrix, if that is a PCSYNCILU,
   else with the prefix of the matrix.
*/
static PetscErrorCode GetBlockSize(Mat A, PetscInt *size)
{
  SyncILUShared *shared;

  PetscFunctionBegin;
  PetscCall(FindShared(A, &shared));
  *size = shared ? shared->bmc_size : 0;
  if (!*size) {
    *size = SYNCILU_BMC_SIZE;
    PetscCall(PetscOptionsGetInt(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_ordering_bmc_size", size, NULL));
  }
  PetscCall(SyncILUBlocksCheckSize(*size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a matrix, which PETSc orders by block rows where it is of type baij. */
static PetscErrorCode GetRows(Mat A, PetscBool *baij, PetscInt *n, const PetscInt **ptr, const PetscInt **columns)
{
  PetscBool done;

  PetscFunctionBegin;
  /* compressed: block rows of baij; of aij these would be groups of rows that PETSc found alike */
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, baij, MATSEQBAIJ, MATSEQSBAIJ, ""));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, *baij, n, ptr, columns, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "Orderings of syncilu cannot get the rows of a matrix of type %s",
             ((PetscObject)A)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering bmc of a matrix. */
static PetscErrorCode OrderBMC(Mat A, SyncILUBlocks *blocks, IS *row, IS *col)
{
  SyncILUBMC      o;
  PetscInt        n;
  const PetscInt *ptr, *columns;
  PetscBool       done, baij;

  PetscFunctionBegin;
  PetscCall(GetBlockSize(A, &blocks->size));
  PetscCall(GetRows(A, &baij, &n, &ptr, &columns));
  PetscCall(SyncILUBMCCreate(n, ptr, columns, blocks->size, &o));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, baij, &n, &ptr, &columns, &done));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, o.n, o.row, PETSC_COPY_VALUES, row));
  PetscCall(ISDuplicate(*row, col)); /* MatReorderForNonzeroDiagonal() changes the columns alone */
  blocks->blocks = o.blocks;
  blocks->colors = o.colors;
  blocks->grown  = o.grown;
  PetscCall(SyncILUBMCDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For -info and the view. */
static PetscErrorCode Describing(const SyncILUBlocks *b, char text[], size_t len)
{
  const char *chosen = b->why[0] ? MATORDERINGSYNCILU " takes " : "";

  PetscFunctionBegin;
  if (b->size)
    PetscCall(PetscSNPrintf(text, len,
                            "ordering: %s" MATORDERINGBMC ", %" PetscInt_FMT " blocks of at most %" PetscInt_FMT " rows, %s, in %" PetscInt_FMT " colors%s%s",
                            chosen, b->blocks, b->size, b->grown ? "grown along the entries" : "cut from the numbering", b->colors, b->why[0] ? ": " : "",
                            b->why));
  else PetscCall(PetscSNPrintf(text, len, "ordering: %s" MATORDERINGNATURAL ": %s", chosen, b->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves with the rows of an ordering what it is. */
static PetscErrorCode Describe(Mat A, SyncILUBlocks *blocks, IS row)
{
  PetscContainer container;
  char           text[320];

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, blocks));
  PetscCall(SyncILUContainerFreesPointer(container));
  PetscCall(PetscObjectCompose((PetscObject)row, SYNCILU_BLOCKS_KEY, (PetscObject)container));
  PetscCall(Describing(blocks, text, sizeof(text)));
  PetscCall(PetscInfo(A, "%s\n", text));
  PetscCall(PetscContainerDestroy(&container));
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
  SyncILUBlocks *blocks;

  PetscFunctionBegin;
  (void)type;
  PetscCall(PetscNew(&blocks));
  PetscCall(OrderBMC(A, blocks, row, col));
  PetscCall(Describe(A, blocks, *row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The levels of L or of U of a matrix in its natural order, where it has no fill. Columns beyond the matrix
   count for none.
*/
static PetscErrorCode CountLevels(PetscInt n, const PetscInt *ptr, const PetscInt *col, PetscBool lower, PetscInt *levels)
{
  PetscInt *level;

  PetscFunctionBegin;
  *levels = 0;
  PetscCall(PetscMalloc1(n, &level));
  for (PetscInt q = 0; q < n; q++) {
    const PetscInt i = lower ? q : n - 1 - q;
    PetscInt       l = 0;

    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) {
      if (lower ? col[k] >= 0 && col[k] < i : col[k] > i && col[k] < n) l = PetscMax(l, level[col[k]]);
    }
    level[i] = l + 1;
    *levels  = PetscMax(*levels, l + 1);
  }
  PetscCall(PetscFree(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   With which settings the matrix will be factored: those of the preconditioner that does it, if it is one of
   ours. PETSc's own factorizations are where the matrix is.
*/
static PetscErrorCode GetSettings(Mat A, SyncILUSettings *settings)
{
  SyncILUShared *shared;
  PetscBool      device;

  PetscFunctionBegin;
  PetscCall(FindShared(A, &shared));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &device));
  SyncILUSettingsInitialize(settings);
  if (shared) *settings = shared->settings;
  else if (!device) settings->backend = SYNCILU_BACKEND_HOST;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATORDERINGSYNCILU = "syncilu" - the natural ordering or `MATORDERINGBMC`, whichever takes less time where
   the matrix will be factored

   Level: intermediate

   Notes:
   For -pc_factor_mat_ordering_type. On the host, and on a GPU where the levels of the natural order take
   little time, as on grids and where they have many rows, it is the natural ordering; on a GPU where they are
   a long chain of few rows each, as on unstructured meshes, it is bmc. The view of the factor and -info say
   which, and why. It does not look at the values, nor does it know how many iterations either takes.

   The levels are counted on the host, without those that fill adds.

.seealso: `MATORDERINGBMC`, `MatOrderingType`, `PCFactorSetMatOrderingType()`, `PCSYNCILU`
M*/
static PetscErrorCode MatGetOrdering_SyncILU(Mat A, MatOrderingType type, IS *row, IS *col)
{
  SyncILUBlocks  *blocks;
  SyncILUSettings settings;
  SyncILUReorder  reorder;
  PetscInt        n, rows;
  const PetscInt *ptr, *columns;
  PetscBool       done, baij, pays = PETSC_FALSE;

  PetscFunctionBegin;
  (void)type;
  PetscCall(GetSettings(A, &settings));
  PetscCall(GetRows(A, &baij, &n, &ptr, &columns));
  rows = n;
  PetscCall(PetscNew(&blocks));
  PetscCall(SyncILUEngineGetReorder(&settings, n, &reorder));
  if (reorder) {
    PetscInt levels[2];
    double   ms[2];

    for (int k = 0; k < 2; k++) PetscCall(CountLevels(n, ptr, columns, (PetscBool)!k, &levels[k]));
    pays = (*reorder)(n, n ? (PetscInt64)ptr[n] : 0, levels, ms);
    PetscCall(PetscSNPrintf(blocks->why, sizeof(blocks->why),
                            "%" PetscInt_FMT " levels of L and U in the natural order take about %.2g ms an application, in the ordering bmc about %.2g",
                            levels[0] + levels[1], ms[0], ms[1]));
  } else PetscCall(PetscStrncpy(blocks->why, "the host goes through the rows in their order", sizeof(blocks->why)));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, baij, &n, &ptr, &columns, &done));
  if (pays) PetscCall(OrderBMC(A, blocks, row, col));
  else {
    PetscCall(ISCreateStride(PETSC_COMM_SELF, rows, 0, 1, row));
    PetscCall(ISDuplicate(*row, col));
  }
  PetscCall(Describe(A, blocks, *row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUBlocksView(Mat F, PetscViewer viewer)
{
  PetscContainer container;
  SyncILUBlocks *blocks;
  char           text[320];

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)F, SYNCILU_BLOCKS_KEY, (PetscObject *)&container));
  if (!container) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerGetPointer(container, (void **)&blocks));
  PetscCall(Describing(blocks, text, sizeof(text)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUOrderingRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGBMC, MatGetOrdering_BMC));
  PetscCall(MatOrderingRegister(MATORDERINGSYNCILU, MatGetOrdering_SyncILU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
