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
   The rows of a block, and whether colors follow the numbering: with the prefix of the preconditioner that
   factors the matrix, if that is a PCSYNCILU, else with the prefix of the matrix.
*/
static PetscErrorCode GetOptions(Mat A, PetscInt *size, PetscBool *along)
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
  *along = (PetscBool)(shared && shared->bmc_along == PETSC_BOOL3_TRUE);
  if (!shared || shared->bmc_along == PETSC_BOOL3_UNKNOWN)
    PetscCall(PetscOptionsGetBool(((PetscObject)A)->options, ((PetscObject)A)->prefix, "-mat_ordering_bmc_along_numbering", along, NULL));
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

/* For -info and the view. */
PetscErrorCode SyncILUBlocksDescribe(const SyncILUBlocks *b, char text[], size_t len)
{
  const char *chosen = b->why[0] ? MATORDERINGSYNCILU " takes " : "";

  PetscFunctionBegin;
  if (b->size)
    PetscCall(PetscSNPrintf(text, len,
                            "ordering: %s" MATORDERINGBMC ", %" PetscInt_FMT " blocks of at most %" PetscInt_FMT " rows, %s, in %" PetscInt_FMT " colors%s%s%s",
                            chosen, b->blocks, b->size, b->matched ? "matched along the entries" : "cut from the numbering", b->colors,
                            b->along ? " along it" : "", b->why[0] ? ": " : "", b->why));
  else PetscCall(PetscSNPrintf(text, len, "ordering: %s" MATORDERINGNATURAL ": %s", chosen, b->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves with the rows of an ordering what it is. */
static PetscErrorCode Describe(Mat A, SyncILUBlocks *blocks, IS row)
{
  PetscContainer container;
  char           text[352];

  PetscFunctionBegin;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(PetscContainerSetPointer(container, blocks));
  PetscCall(SyncILUContainerFreesPointer(container));
  PetscCall(PetscObjectCompose((PetscObject)row, SYNCILU_BLOCKS_KEY, (PetscObject)container));
  if (blocks->request == SYNCILU_ORDERING_GIVEN) {
    PetscCall(SyncILUBlocksDescribe(blocks, text, sizeof(text)));
    PetscCall(PetscInfo(A, "%s\n", text));
  }
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   With which settings the matrix will be factored: those of the preconditioner that does it, if it is one
   of ours, and the grid of its DM. PETSc's own factorizations are where the matrix is, and a PCILU orders
   it before our factor reads its options.
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
  PetscCall(SyncILUFindGrid(A, shared ? shared->dm : NULL, settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The choice between our orderings, by both triangles of a matrix that has but one. */
static PetscErrorCode Choose(Mat A, const SyncILUCSR *csr, SyncILUBlocks *b)
{
  SyncILUDerived  d     = {.make = NULL};
  SyncILUCSR      whole = *csr;
  SyncILUSettings settings;
  SyncILUReorder  reorder;
  PetscBool       half;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  PetscCall(GetSettings(A, &settings));
  PetscCall(SyncILUEngineGetReorder(&settings, A->rmap->n, &reorder));
  PetscCall(SyncILUMatIsSBAIJ(A, &half));
  if (half && reorder) {
    PetscCall(SyncILUMakeWhole(&d, csr));
    whole.i   = d.i;
    whole.j   = d.j;
    whole.nnz = d.i[csr->n];
  }
  ierr = SyncILUBlocksChoose(&settings, reorder, &whole, b);
  PetscCall(SyncILUDerivedDestroy(&d));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One of our orderings of a matrix. Where the factor will make it itself, the index sets are placeholders, and
   what is composed with them says which ordering to make.
*/
static PetscErrorCode Order(Mat A, SyncILUOrdering ordering, IS *row, IS *col)
{
  SyncILUBlocks  b = {.request = ordering}, *blocks;
  SyncILUShared *shared;
  PetscInt      *order = NULL;

  PetscFunctionBegin;
  PetscCall(GetOptions(A, &b.size, &b.along));
  PetscCall(FindShared(A, &shared));
  if (!shared || !shared->orders) {
    SyncILUCSR     csr = {.mem = PETSC_MEMTYPE_HOST};
    PetscBool      done, baij;
    PetscErrorCode ierr;

    PetscCall(GetRows(A, &baij, &csr.n, &csr.i, &csr.j));
    if (baij) PetscCall(MatGetBlockSize(A, &csr.bs));
    csr.nnz = csr.n ? csr.i[csr.n] : 0;
    ierr    = ordering == SYNCILU_ORDERING_AUTO ? Choose(A, &csr, &b) : PETSC_SUCCESS;
    if (!ierr) ierr = SyncILUBlocksOrder(&csr, &order, &b);
    if (!ierr) {
      if (order) PetscCall(ISCreateGeneral(PETSC_COMM_SELF, csr.n, order, PETSC_OWN_POINTER, row));
      else PetscCall(ISCreateStride(PETSC_COMM_SELF, csr.n, 0, 1, row));
    }
    PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, baij, &csr.n, &csr.i, &csr.j, &done));
    PetscCall(ierr);
  } else PetscCall(ISCreateStride(PETSC_COMM_SELF, A->rmap->n, 0, 1, row));
  PetscCall(ISDuplicate(*row, col)); /* MatReorderForNonzeroDiagonal() changes the columns alone */
  PetscCall(PetscNew(&blocks));
  *blocks = b;
  PetscCall(Describe(A, blocks, *row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATORDERINGBMC = "bmc" - block multicolor ordering: blocks of rows that are near each other, colored so that
   those of one color share no entry, and numbered by color

   Options Database Keys (with the prefix of the matrix; below `PCSYNCILU` that of the preconditioner goes before):
+  -mat_ordering_bmc_size <32>               - most rows of a block, of a baij matrix block rows
-  -mat_ordering_bmc_along_numbering <false> - colors follow the numbering

   Level: intermediate

   Notes:
   For -pc_factor_mat_ordering_type with any incomplete factorization, PETSc's own ones too. ILU in the natural
   or the reverse Cuthill-McKee ordering of an unstructured mesh is one long chain of rows; in this ordering a
   row waits for few others, at the cost of some iterations: on most meshes up to 21 % more with CG and at most
   one level of fill, more with GMRES. Smaller blocks leave shorter chains and cost more iterations; a size of 1
   is multicolor ordering. On a GPU blocks of 16 to 32 rows have kernels of their own; with others solves and
   factorization go by level.

   The blocks are cut from the numbering of the matrix where it keeps neighbours close together, as a
   space-filling curve does, and elsewhere from one in which rows are paired along the entries again and
   again. Successive rows with the same columns, such as the unknowns of a point, stay together if a block has
   room for them; blocks that are cut from the numbering of the matrix have a power of two of such points, as
   the boxes of a Morton or Hilbert curve have. The pattern need not be symmetric. The ordering is the same from
   run to run, and the same on the host and on a GPU, where `PCSYNCILU` makes it.

   With -mat_ordering_bmc_along_numbering colors follow the numbering of the matrix where blocks are cut from it:
   a block comes behind the neighbours that are before it in that numbering, as far as the colors allow. Relaxed
   factors without fill then take fewer iterations. It is not for levels of fill, which then make long chains of
   rows that wait for each other, nor is it done where the numbering itself is such a chain.

   Rows and columns that are full, or nearly so, come last: before others, each of those would be updated with
   all of their entries.

   Reference:
   T. Iwashita, H. Nakashima, Y. Takahashi, IPDPS 2012.

.seealso: `MatOrderingType`, `MatGetOrdering()`, `PCFactorSetMatOrderingType()`, `PCSYNCILU`
M*/
static PetscErrorCode MatGetOrdering_BMC(Mat A, MatOrderingType type, IS *row, IS *col)
{
  PetscFunctionBegin;
  (void)type;
  PetscCall(Order(A, SYNCILU_ORDERING_BMC, row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATORDERINGSYNCILU = "syncilu" - the natural ordering or `MATORDERINGBMC`, whichever takes less time where
   the matrix will be factored

   Options Database Keys (where it is `MATORDERINGBMC`, and with the prefixes as there):
+  -mat_ordering_bmc_size <32>               - most rows of a block
-  -mat_ordering_bmc_along_numbering <false> - colors follow the numbering

   Level: intermediate

   Notes:
   For -pc_factor_mat_ordering_type. On the host it is the natural ordering. On a GPU it looks for what the
   solves would go by in that: the lines of a grid that is given, the DM's, or found in the pattern; levels
   of tiles of neighbours, of inodes, or of rows. Where that is a chain which takes more than four times as
   long as bmc would, as on unstructured meshes, it is bmc. With solve jacobi, in which no row waits, with
   parilut, whose pattern is found later, and where rows have more than 64 entries in the mean it is the
   natural one. The view of the factor and -info say which, and why.

   It does not look at the values, nor does it know how many iterations either takes, or that pivots may
   vanish with relaxation in the ordering bmc; the view says so where there is relaxation. Fill does not
   count.

   A preconditioner of PETSc's, as `PCILU`, orders the matrix before the factor is asked for its options.
   Then this does not know them, and takes the factor for one of `MATSOLVERSYNCILU` with its defaults, on a
   GPU where the matrix is there.

.seealso: `MATORDERINGBMC`, `MatOrderingType`, `PCFactorSetMatOrderingType()`, `PCSYNCILU`
M*/
static PetscErrorCode MatGetOrdering_SyncILU(Mat A, MatOrderingType type, IS *row, IS *col)
{
  PetscFunctionBegin;
  (void)type;
  PetscCall(Order(A, SYNCILU_ORDERING_AUTO, row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUOrderingRegister(void)
{
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGBMC, MatGetOrdering_BMC));
  PetscCall(MatOrderingRegister(MATORDERINGSYNCILU, MatGetOrdering_SyncILU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
