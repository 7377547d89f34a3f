/*
   The public setters and getters. What a value may be, and what a change does, is said in settings.c.

   A setter has no effect on objects of other types, and a getter is an error there, as with all setters and
   getters of PETSc that belong to one type.
*/
#include "syncilu_impl.h"

#define PC_SETTER(Name, Type, Kind) \
  PetscErrorCode PCSyncILUSet##Name(PC pc, Type value) \
  { \
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1); \
    PetscValidLogicalCollective##Kind(pc, value, 2); \
    PetscCall(PCSyncILUComposeWithILU(pc)); \
    PetscTryMethod(pc, "PCSyncILUSet" #Name "_C", (PC, Type), (pc, value)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

#define PC_GETTER(Name, Type) \
  PetscErrorCode PCSyncILUGet##Name(PC pc, Type *value) \
  { \
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1); \
    PetscCall(PCSyncILUComposeWithILU(pc)); \
    PetscUseMethod(pc, "PCSyncILUGet" #Name "_C", (PC, Type *), (pc, value)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

#define MAT_SETTER(Name, Type, Kind) \
  PetscErrorCode MatSyncILUSet##Name(Mat F, Type value) \
  { \
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(F, MAT_CLASSID, 1); \
    PetscValidLogicalCollective##Kind(F, value, 2); \
    PetscTryMethod(F, "MatSyncILUSet" #Name "_C", (Mat, Type), (F, value)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

#define MAT_GETTER(Name, Type) \
  PetscErrorCode MatSyncILUGet##Name(Mat F, Type *value) \
  { \
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(F, MAT_CLASSID, 1); \
    PetscUseMethod(F, "MatSyncILUGet" #Name "_C", (Mat, Type *), (F, value)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/*@
   PCSyncILUSetBackend - Sets where factorizations and solves run

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `SYNCILU_BACKEND_AUTO` (default), `SYNCILU_BACKEND_HOST` or `SYNCILU_BACKEND_CUDA`

   Options Database Key:
.  -pc_syncilu_backend (auto|host|cuda) - the backend

   Level: intermediate

   Notes:
   Takes effect at the next symbolic phase. A backend that this build or machine does not have is an error
   then. What auto took, and why, is in the view.

   Auto takes the GPU where there is one, from 8,000 rows on a rank, unless its memory is too small for the
   plan, or the rows are one chain, as in a tridiagonal matrix, on which a core of the host is faster;
   with `SYNCILU_SOLVE_JACOBI` from 500 rows on if the matrix is on the device. The
   device is the one that PETSc uses or, by -device_select or the rank, would use. With a PETSc without CUDA
   the rank on the node chooses, as the launcher of the MPI program tells it (else the rank). Several ranks
   may share a device.

   On a GPU numbers are real in double precision, and indices have 32 bits: a rank may have up to 2^31 - 1025
   rows and as many nonzeros. Rows of U are kept divided by their pivots there: a pivot so
   small that this has no room among the numbers is a breakdown, and so is a zero of L that meets an infinite
   entry of U, which PETSc and the host skip. Arrays that PETSc has on the device are used there, others are
   carried through pinned buffers; the view says which.

   The setters of syncilu have no effect on preconditioners of other types. They serve `PCILU` too, once its
   solver type is syncilu.

.seealso: `SyncILUBackend`, `PCSYNCILU`, `MATSOLVERSYNCILU`, `PCSyncILUGetBackend()`, `MatSyncILUSetBackend()`
@*/
PC_SETTER(Backend, SyncILUBackend, Enum)

/*@
   PCSyncILUGetBackend - Gets where factorizations and solves run

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetBackend()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetBackend()`
@*/
PC_GETTER(Backend, SyncILUBackend)

/*@
   MatSyncILUSetBackend - Sets where factorizations and solves run, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `SYNCILU_BACKEND_AUTO` (default), `SYNCILU_BACKEND_HOST` or `SYNCILU_BACKEND_CUDA`

   Options Database Key:
.  -pc_syncilu_backend (auto|host|cuda) - the backend

   Level: intermediate

   Note:
   See `PCSyncILUSetBackend()`.

.seealso: `PCSyncILUSetBackend()`, `MatSyncILUGetBackend()`
@*/
MAT_SETTER(Backend, SyncILUBackend, Enum)

/*@
   MatSyncILUGetBackend - Gets where factorizations and solves run, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetBackend()`, `PCSyncILUSetBackend()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetBackend()`
@*/
MAT_GETTER(Backend, SyncILUBackend)

/*@
   PCSyncILUSetUpdate - Sets how the factorization on a GPU finds the entries that two rows share

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - the strategy, default `SYNCILU_UPDATE_AUTO`

   Options Database Key:
.  -pc_syncilu_update (auto|shared|vect|adapt|parallel|levelset|list|bsr|struct|parilu|parilut|dilu|mesh) - the strategy

   Level: advanced

   Note: Takes effect at the next symbolic phase. Where only diagonals have updates, as on 5- and 7-point
   grids, auto and list run as one triangular solve, and the view says diagonal-only. Where the device has no
   memory for the lists, adapt runs. Auto takes bsr where successive rows come in groups of one pattern, as
   those of the unknowns of a point, and have 12 entries or more in the mean. Where the solves go by the
   blocks of the ordering bmc, so does the factorization, unless there is relaxation or blocks have too many
   entries for shared memory; the view then says blocks, or why not. It takes struct where the triangular
   solves go along the lines of a grid whose stencil has 9 points or more. It takes adapt where levels have
   few rows, then with 32 lanes a row, where most entries are in rows of more than 255, and where lists take
   so much memory that plan and factor would have more than three times the bytes of the matrix and 16 MB
   more, by blocks 3.25 times. The view and -info give the reason. The host has one way, a dense work row a
   thread, and says so in the view; there the exact strategies are all the same, while parilu, parilut, dilu and
   mesh are what they are on a GPU.

.seealso: `SyncILUUpdate`, `PCSyncILUSetPrefetch()`, `PCSyncILUSetVectorSize()`, `PCSyncILUGetUpdate()`,
`MatSyncILUSetUpdate()`
@*/
PC_SETTER(Update, SyncILUUpdate, Enum)

/*@
   PCSyncILUGetUpdate - Gets how the factorization on a GPU finds the entries that two rows share

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetUpdate()` or the option

   Level: advanced

.seealso: `PCSyncILUSetUpdate()`
@*/
PC_GETTER(Update, SyncILUUpdate)

/*@
   MatSyncILUSetUpdate - Sets how the factorization on a GPU finds the entries that two rows share, for a
   factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - the strategy, default `SYNCILU_UPDATE_AUTO`

   Options Database Key:
.  -pc_syncilu_update (auto|shared|vect|adapt|parallel|levelset|list|bsr|struct|parilu|parilut|dilu|mesh) - the strategy

   Level: advanced

   Note:
   See `PCSyncILUSetUpdate()`.

.seealso: `PCSyncILUSetUpdate()`, `MatSyncILUGetUpdate()`
@*/
MAT_SETTER(Update, SyncILUUpdate, Enum)

/*@
   MatSyncILUGetUpdate - Gets how the factorization on a GPU finds the entries that two rows share, of a
   factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetUpdate()`, `PCSyncILUSetUpdate()` or the option

   Level: advanced

.seealso: `MatSyncILUSetUpdate()`
@*/
MAT_GETTER(Update, SyncILUUpdate)

/*@
   PCSyncILUSetPrefetch - Sets whether the patterns of two rows are intersected while the values of one are
   waited for

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `PETSC_BOOL3_TRUE`, `PETSC_BOOL3_FALSE`, or `PETSC_BOOL3_UNKNOWN` (default) to let the library choose

   Options Database Key:
.  -pc_syncilu_prefetch (true|false) - on or off

   Level: advanced

   Note:
   Concerns `SYNCILU_UPDATE_VECT` and `SYNCILU_UPDATE_ADAPT` on a GPU. Takes effect at the next symbolic phase.
   Without the option it is on where levels have few rows in the mean, fewer than the view says, since it delays
   those that have many rows to work on.

.seealso: `PCSyncILUSetUpdate()`, `PCSyncILUGetPrefetch()`, `MatSyncILUSetPrefetch()`
@*/
PC_SETTER(Prefetch, PetscBool3, Enum)

/*@
   PCSyncILUGetPrefetch - Gets whether the patterns of two rows are intersected while the values of one are
   waited for

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetPrefetch()` or the option

   Level: advanced

.seealso: `PCSyncILUSetPrefetch()`
@*/
PC_GETTER(Prefetch, PetscBool3)

/*@
   MatSyncILUSetPrefetch - Sets whether the patterns of two rows are intersected while the values of one are
   waited for, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `PETSC_BOOL3_TRUE`, `PETSC_BOOL3_FALSE`, or `PETSC_BOOL3_UNKNOWN` (default) to let the library choose

   Options Database Key:
.  -pc_syncilu_prefetch (true|false) - on or off

   Level: advanced

   Note:
   See `PCSyncILUSetPrefetch()`.

.seealso: `PCSyncILUSetPrefetch()`, `MatSyncILUGetPrefetch()`
@*/
MAT_SETTER(Prefetch, PetscBool3, Enum)

/*@
   MatSyncILUGetPrefetch - Gets whether the patterns of two rows are intersected while the values of one are
   waited for, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetPrefetch()`, `PCSyncILUSetPrefetch()` or the option

   Level: advanced

.seealso: `MatSyncILUSetPrefetch()`
@*/
MAT_GETTER(Prefetch, PetscBool3)

/*@
   PCSyncILUSetVectorSize - Sets how many lanes share a row on a GPU

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - 1, 2, 4, 8, 16 or 32, or 0 (default) to let the library choose

   Options Database Key:
.  -pc_syncilu_vector_size (0|1|2|4|8|16|32) - the number of lanes

   Level: advanced

   Note:
   Takes effect at the next symbolic phase. The factorization takes at least 4 lanes, 32 in numerical order,
   and for `SYNCILU_UPDATE_LIST` as many as its longest row needs; where it is one triangular solve, it takes
   what that takes. `SYNCILU_UPDATE_SHARED`, `SYNCILU_UPDATE_VECT` and `SYNCILU_SOLVE_CSR` always take 32,
   `SYNCILU_UPDATE_PARALLEL` has so many an entry, 2 unless the user says otherwise, `SYNCILU_SOLVE_MR` and
   `SYNCILU_SOLVE_HYB` about as many as a row has entries. `SYNCILU_UPDATE_BSR` takes 8, 16, 32 or 64
   an inode, whatever the user says, and `SYNCILU_SOLVE_BSR` at least 8. The view says how many.

.seealso: `PCSyncILUSetUpdate()`, `PCSyncILUSetSolve()`, `PCSyncILUGetVectorSize()`,
`MatSyncILUSetVectorSize()`
@*/
PC_SETTER(VectorSize, PetscInt, Int)

/*@
   PCSyncILUGetVectorSize - Gets how many lanes share a row on a GPU

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetVectorSize()` or the option

   Level: advanced

.seealso: `PCSyncILUSetVectorSize()`
@*/
PC_GETTER(VectorSize, PetscInt)

/*@
   MatSyncILUSetVectorSize - Sets how many lanes share a row on a GPU, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - 1, 2, 4, 8, 16 or 32, or 0 (default) to let the library choose

   Options Database Key:
.  -pc_syncilu_vector_size (0|1|2|4|8|16|32) - the number of lanes

   Level: advanced

   Note:
   See `PCSyncILUSetVectorSize()`.

.seealso: `PCSyncILUSetVectorSize()`, `MatSyncILUGetVectorSize()`
@*/
MAT_SETTER(VectorSize, PetscInt, Int)

/*@
   MatSyncILUGetVectorSize - Gets how many lanes share a row on a GPU, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetVectorSize()`, `PCSyncILUSetVectorSize()` or the option

   Level: advanced

.seealso: `MatSyncILUSetVectorSize()`
@*/
MAT_GETTER(VectorSize, PetscInt)

/*@
   PCSyncILUSetAnalysis - Sets the order in which rows are handed out

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `SYNCILU_ANALYSIS_AUTO` (default), `SYNCILU_ANALYSIS_NONE`, `SYNCILU_ANALYSIS_ASAP` or
           `SYNCILU_ANALYSIS_ALAP`

   Options Database Key:
.  -pc_syncilu_analysis (auto|none|asap|alap) - the order

   Level: intermediate

   Notes:
   Takes effect at the next symbolic phase. The factor does not depend on it, only the time does.

   On the host auto is numerical order, and one thread always works in numerical order.

   On a GPU auto takes the rows in tiles where the solves are of type `SYNCILU_SOLVE_ELL` and the numbering of
   the rows follows a grid. The 32 lanes of a warp have the rows of a small box each, wait once for what these
   need from outside of it, and pass the rest through registers. On such a grid each row depends only on rows
   that are not before it in any direction. That holds for 5-point and 7-point stencils and Kuhn
   triangulations in natural order, and, once the grid is skewed, for 9- and 27-point stencils, whose rows
   depend on neighbours on both sides of the line before. The grid is found in the pattern; no `DM` is asked.

   With several unknowns a point, all of which depend on each other, the rows of a point are a tile, unless the
   solves are of type `SYNCILU_SOLVE_BSR`, which auto prefers where rows have 12 entries or more. Where
   each row depends on the one before it, as in a tridiagonal matrix, a tile is a block of successive rows.
   Otherwise auto is by level: the rows of L at their earliest level and, if the pattern is symmetric, those
   of U at their latest one; all at their latest one if it is not and levels have many rows.

.seealso: `SyncILUAnalysis`, `PCSyncILUSetThreads()`, `PCSyncILUGetAnalysis()`, `MatSyncILUSetAnalysis()`
@*/
PC_SETTER(Analysis, SyncILUAnalysis, Enum)

/*@
   PCSyncILUGetAnalysis - Gets the order in which rows are handed out

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetAnalysis()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetAnalysis()`
@*/
PC_GETTER(Analysis, SyncILUAnalysis)

/*@
   MatSyncILUSetAnalysis - Sets the order in which rows are handed out, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `SYNCILU_ANALYSIS_AUTO` (default), `SYNCILU_ANALYSIS_NONE`, `SYNCILU_ANALYSIS_ASAP` or
           `SYNCILU_ANALYSIS_ALAP`

   Options Database Key:
.  -pc_syncilu_analysis (auto|none|asap|alap) - the order

   Level: intermediate

   Note:
   See `PCSyncILUSetAnalysis()`.

.seealso: `PCSyncILUSetAnalysis()`, `MatSyncILUGetAnalysis()`
@*/
MAT_SETTER(Analysis, SyncILUAnalysis, Enum)

/*@
   MatSyncILUGetAnalysis - Gets the order in which rows are handed out, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetAnalysis()`, `PCSyncILUSetAnalysis()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetAnalysis()`
@*/
MAT_GETTER(Analysis, SyncILUAnalysis)

/*@
   PCSyncILUSetSolve - Sets how the triangular solves run on a GPU, and whether they are exact

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - the strategy, default `SYNCILU_SOLVE_AUTO`

   Options Database Key:
.  -pc_syncilu_solve (auto|csr|mr|hyb|levelset|ell|cluster|bsr|struct|jacobi) - the strategy

   Level: advanced

   Note:
   Takes effect at the next symbolic phase. Auto takes struct where the rows, or groups of successive rows of
   one pattern, are those of a stencil on a grid, bsr where other rows come in such groups
   and have 12 entries or more in the mean and no more than 1024, cluster where levels are narrow and the device has clusters, and else ell; the view gives the
   reason. On the host a thread takes a row, whatever is asked for, and the view says so; but for jacobi, the
   only strategy that is not exact, which the host has too. Neither auto nor -pc_syncilu_tune takes jacobi.

.seealso: `SyncILUSolve`, `PCSyncILUSetSolveSweeps()`, `PCSyncILUSetVectorSize()`, `PCSyncILUGetSolve()`, `MatSyncILUSetSolve()`
@*/
PC_SETTER(Solve, SyncILUSolve, Enum)

/*@
   PCSyncILUGetSolve - Gets how the triangular solves run on a GPU

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetSolve()` or the option

   Level: advanced

.seealso: `PCSyncILUSetSolve()`
@*/
PC_GETTER(Solve, SyncILUSolve)

/*@
   MatSyncILUSetSolve - Sets how the triangular solves run on a GPU, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - the strategy, default `SYNCILU_SOLVE_AUTO`

   Options Database Key:
.  -pc_syncilu_solve (auto|csr|mr|hyb|levelset|ell|cluster|bsr|struct|jacobi) - the strategy

   Level: advanced

   Note:
   See `PCSyncILUSetSolve()`.

.seealso: `PCSyncILUSetSolve()`, `MatSyncILUGetSolve()`
@*/
MAT_SETTER(Solve, SyncILUSolve, Enum)

/*@
   MatSyncILUGetSolve - Gets how the triangular solves run on a GPU, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetSolve()`, `PCSyncILUSetSolve()` or the option

   Level: advanced

.seealso: `MatSyncILUSetSolve()`
@*/
MAT_GETTER(Solve, SyncILUSolve)

/*@
   PCSyncILUSetGrid - Says of which grid the rows of this rank are

   Logically Collective

   Input Parameters:
+  pc  - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
.  nx  - points in the first direction, along which successive points are neighbours
.  ny  - points in the second direction, 1 on a line
.  nz  - points in the third direction, 1 in a plane
-  dof - unknowns of a point, which are successive rows

   Options Database Key:
.  -pc_syncilu_grid nx,ny,nz,dof - the grid; what is left out is 1

   Level: advanced

   Notes: Takes effect at the next symbolic phase. All four zero is none, the default: then the grid is that
   of the matrix' `DMDA`, if it has one (MatGetDM()) whose points on this rank times its unknowns are the
   rows, else it is searched for in the pattern. The numbers may differ from rank to rank, and by the option
   are those of all ranks.

   On a GPU `SYNCILU_SOLVE_STRUCT` goes along the lines of this grid, with the stencil of all points at which
   rows have entries. So rows need not have one stencil, as they must where the grid is searched for, and
   lines may be as short as they like. Other strategies, the host and other orderings have no use for it.

   Every entry of the matrix is compared with the grid, wherever it is factored. The symbolic phase ends with
   PETSC_ERR_ARG_INCOMP if the product is not the number of rows, and with PETSC_ERR_ARG_WRONG at the first
   row with an entry that is more than 8 points away in a direction. In periodic directions entries may go
   around the ends of the grid, to points that are neighbours elsewhere too; struct does not take such a grid,
   and the view says so.

.seealso: `SyncILUSolve`, `PCSyncILUSetSolve()`, `PCSyncILUGetGrid()`, `MatSyncILUSetGrid()`, `MatGetDM()`
@*/
PetscErrorCode PCSyncILUSetGrid(PC pc, PetscInt nx, PetscInt ny, PetscInt nz, PetscInt dof)
{
  const PetscInt grid[] = {nx, ny, nz, dof};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PCSyncILUComposeWithILU(pc));
  PetscTryMethod(pc, "PCSyncILUSetGrid_C", (PC, const PetscInt[4]), (pc, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetGrid(PetscObject object, PetscInt *nx, PetscInt *ny, PetscInt *nz, PetscInt *dof)
{
  PetscInt grid[4];

  PetscFunctionBegin;
  PetscUseMethod(object, "SyncILUGetGrid_C", (PetscObject, PetscInt[4]), (object, grid));
  if (nx) *nx = grid[0];
  if (ny) *ny = grid[1];
  if (nz) *nz = grid[2];
  if (dof) *dof = grid[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSyncILUGetGrid - Gets the grid that was given

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameters:
+  nx  - points in the first direction, or NULL
.  ny  - in the second one, or NULL
.  nz  - in the third one, or NULL
-  dof - unknowns of a point, or NULL

   Level: advanced

   Note: As set by `PCSyncILUSetGrid()` or the option; all are zero where none was given, whatever grid a `DM`
   or the pattern has.

.seealso: `PCSyncILUSetGrid()`
@*/
PetscErrorCode PCSyncILUGetGrid(PC pc, PetscInt *nx, PetscInt *ny, PetscInt *nz, PetscInt *dof)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PCSyncILUComposeWithILU(pc));
  PetscCall(GetGrid((PetscObject)pc, nx, ny, nz, dof));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSyncILUSetGrid - Says of which grid the rows are, for a factored matrix

   Logically Collective

   Input Parameters:
+  F   - a factored matrix of `MATSOLVERSYNCILU`
.  nx  - points in the first direction
.  ny  - points in the second direction
.  nz  - points in the third direction
-  dof - unknowns of a point

   Options Database Key:
.  -pc_syncilu_grid nx,ny,nz,dof - the grid

   Level: advanced

   Note:
   See `PCSyncILUSetGrid()`.

.seealso: `PCSyncILUSetGrid()`, `MatSyncILUGetGrid()`
@*/
PetscErrorCode MatSyncILUSetGrid(Mat F, PetscInt nx, PetscInt ny, PetscInt nz, PetscInt dof)
{
  const PetscInt grid[] = {nx, ny, nz, dof};

  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscTryMethod(F, "MatSyncILUSetGrid_C", (Mat, const PetscInt[4]), (F, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   MatSyncILUGetGrid - Gets the grid that was given, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameters:
+  nx  - points in the first direction, or NULL
.  ny  - in the second one, or NULL
.  nz  - in the third one, or NULL
-  dof - unknowns of a point, or NULL

   Level: advanced

.seealso: `MatSyncILUSetGrid()`
@*/
PetscErrorCode MatSyncILUGetGrid(Mat F, PetscInt *nx, PetscInt *ny, PetscInt *nz, PetscInt *dof)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscCall(GetGrid((PetscObject)F, nx, ny, nz, dof));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSyncILUSetSolveSweeps - Sets how many Jacobi sweeps take the place of each triangular solve

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - from 0 to 10000, default 3

   Options Database Key:
.  -pc_syncilu_solve_sweeps <n> - the number of sweeps

   Level: intermediate

   Notes:
   Concerns `SYNCILU_SOLVE_JACOBI`, on the host and on a GPU. Of a triangle T = D + N, D its diagonal or
   diagonal blocks (`PCSyncILUSetSolveBlockSize()`), come x_0 = D^-1 b and n sweeps x_(k+1) = D^-1 (b - N x_k).
   So 0 sweeps are D alone, and libraries that begin with zero count one more (hypre's 5 are 4 here). As many
   sweeps as T has levels, less one, are exact.

   No row waits for another, and nobody asks for levels before. The preconditioner is linear, and the
   transposed one its transpose. Of a symmetric matrix it is symmetric, and with positive pivots positive
   definite, as `KSPCG` wants it. Each sweep reads a triangle once, as an exact solve does, so that several of
   them only pay on a GPU, and where rows come in many narrow levels.

   H. Anzt, E. Chow, J. Dongarra, Iterative sparse triangular solves for preconditioning, Euro-Par 2015. Where
   T is far from diagonally dominant, sweeps grow before they become exact, and the preconditioner is of no
   use.

   Not for matrices of blocks. Takes effect at the next application; a preconditioner that has been set up is
   set up anew.

.seealso: `PCSyncILUSetSolve()`, `PCSyncILUSetSolveBlockSize()`, `PCSyncILUGetSolveSweeps()`, `MatSyncILUSetSolveSweeps()`
@*/
PC_SETTER(SolveSweeps, PetscInt, Int)

/*@
   PCSyncILUGetSolveSweeps - Gets how many Jacobi sweeps take the place of each triangular solve

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetSolveSweeps()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetSolveSweeps()`
@*/
PC_GETTER(SolveSweeps, PetscInt)

/*@
   MatSyncILUSetSolveSweeps - Sets how many Jacobi sweeps take the place of each triangular solve, for a
   factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - from 0 to 10000, default 3

   Options Database Key:
.  -pc_syncilu_solve_sweeps <n> - the number of sweeps

   Level: intermediate

   Note:
   See `PCSyncILUSetSolveSweeps()`. Takes effect at the next solve.

.seealso: `PCSyncILUSetSolveSweeps()`, `MatSyncILUGetSolveSweeps()`
@*/
MAT_SETTER(SolveSweeps, PetscInt, Int)

/*@
   MatSyncILUGetSolveSweeps - Gets how many Jacobi sweeps take the place of each triangular solve, of a
   factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetSolveSweeps()`, `PCSyncILUSetSolveSweeps()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetSolveSweeps()`
@*/
MAT_GETTER(SolveSweeps, PetscInt)

/*@
   PCSyncILUSetSolveBlockSize - Sets whether Jacobi sweeps have diagonal blocks, which are solved exactly

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - rows of a block, 1 (the diagonal alone) or 32 (default)

   Options Database Key:
.  -pc_syncilu_solve_block_size (1|32) - rows of a block

   Level: intermediate

   Notes:
   Concerns `SYNCILU_SOLVE_JACOBI`, see `PCSyncILUSetSolveSweeps()`. With 1, D is the diagonal. With 32, D has
   a block for each 32 successive rows in the order of the factorization, the first of which begin with row 0.
   On a GPU a warp has a block.

   E. Chow, H. Anzt, J. Scott, J. Dongarra, Using Jacobi iterations and blocking for solving sparse triangular
   systems in incomplete factorization preconditioning, J. Parallel Distrib. Comput. 119, 2018.

   Takes effect at the next application; a preconditioner that has been set up is set up anew.

.seealso: `PCSyncILUSetSolveSweeps()`, `PCSyncILUGetSolveBlockSize()`, `MatSyncILUSetSolveBlockSize()`
@*/
PC_SETTER(SolveBlockSize, PetscInt, Int)

/*@
   PCSyncILUGetSolveBlockSize - Gets whether Jacobi sweeps have diagonal blocks

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetSolveBlockSize()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetSolveBlockSize()`
@*/
PC_GETTER(SolveBlockSize, PetscInt)

/*@
   MatSyncILUSetSolveBlockSize - Sets whether Jacobi sweeps have diagonal blocks, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - rows of a block, 1 (the diagonal alone) or 32 (default)

   Options Database Key:
.  -pc_syncilu_solve_block_size (1|32) - rows of a block

   Level: intermediate

   Note:
   See `PCSyncILUSetSolveBlockSize()`. Takes effect at the next solve.

.seealso: `PCSyncILUSetSolveBlockSize()`, `MatSyncILUGetSolveBlockSize()`
@*/
MAT_SETTER(SolveBlockSize, PetscInt, Int)

/*@
   MatSyncILUGetSolveBlockSize - Gets whether Jacobi sweeps have diagonal blocks, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetSolveBlockSize()`, `PCSyncILUSetSolveBlockSize()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetSolveBlockSize()`
@*/
MAT_GETTER(SolveBlockSize, PetscInt)

/*@
   PCSyncILUSetThreads - Sets the number of threads on the host

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - from 1 to 4096 a rank, or `PETSC_DECIDE` (default) for the first number in the environment variable
           OMP_NUM_THREADS, or 1 where that is not set

   Options Database Key:
.  -pc_syncilu_threads <n> - the number of threads

   Level: intermediate

   Notes:
   Results are the same, bit for bit, with any number of threads. Each thread of a factorization needs work
   space of one vector.

   Takes effect at the next factorization or solve.

.seealso: `PCSyncILUSetAnalysis()`, `PCSyncILUGetThreads()`, `MatSyncILUSetThreads()`
@*/
PC_SETTER(Threads, PetscInt, Int)

/*@
   PCSyncILUGetThreads - Gets the number of threads on the host

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetThreads()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetThreads()`
@*/
PC_GETTER(Threads, PetscInt)

/*@
   MatSyncILUSetThreads - Sets the number of threads on the host, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - from 1 to 4096 a rank, or `PETSC_DECIDE` (default) for the first number in the environment variable
           OMP_NUM_THREADS, or 1 where that is not set

   Options Database Key:
.  -pc_syncilu_threads <n> - the number of threads

   Level: intermediate

   Note:
   See `PCSyncILUSetThreads()`.

.seealso: `PCSyncILUSetThreads()`, `MatSyncILUGetThreads()`
@*/
MAT_SETTER(Threads, PetscInt, Int)

/*@
   MatSyncILUGetThreads - Gets the number of threads on the host, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetThreads()`, `PCSyncILUSetThreads()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetThreads()`
@*/
MAT_GETTER(Threads, PetscInt)

/*@
   PCSyncILUSetRelax - Sets the relaxation of a relaxed (modified) incomplete factorization

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - w, between 0 (default, plain ILU) and 1 (modified ILU)

   Options Database Key:
.  -pc_syncilu_relax <w> - the relaxation

   Level: beginner

   Notes:
   What the elimination of row i drops is added, times w, to the diagonal of row i. With w = 1 the factor
   keeps the row sums, LU e = A e. On elliptic problems values near 0.99 take a third of the iterations and
   cost nothing more to apply. Relaxation is made for M-matrices and elliptic operators; elsewhere pivots may
   shrink to nothing, which is a breakdown like any other.

   Do not test w = 1 with the right-hand side A e: it is solved in one step.

   Takes effect at the next factorization. Where a GPU factors another way with relaxation than without, the
   symbolic phase is done again when it is switched on or off.

   References:
   I. Gustafsson, A class of first order factorization methods, BIT 18 (1978); O. Axelsson, G. Lindskog, On
   the eigenvalue distribution of a class of preconditioning methods, Numer. Math. 48 (1986).

.seealso: `PCSYNCILU`, `PCSyncILUGetRelax()`, `MatSyncILUSetRelax()`
@*/
PC_SETTER(Relax, PetscReal, Real)

/*@
   PCSyncILUGetRelax - Gets the relaxation of a relaxed (modified) incomplete factorization

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetRelax()` or the option

   Level: beginner

.seealso: `PCSyncILUSetRelax()`
@*/
PC_GETTER(Relax, PetscReal)

/*@
   MatSyncILUSetRelax - Sets the relaxation of a relaxed (modified) incomplete factorization, for a factored
   matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - w, between 0 (default, plain ILU) and 1 (modified ILU)

   Options Database Key:
.  -pc_syncilu_relax <w> - the relaxation

   Level: beginner

   Note:
   See `PCSyncILUSetRelax()`.

.seealso: `PCSyncILUSetRelax()`, `MatSyncILUGetRelax()`
@*/
MAT_SETTER(Relax, PetscReal, Real)

/*@
   MatSyncILUGetRelax - Gets the relaxation of a relaxed (modified) incomplete factorization, of a factored
   matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetRelax()`, `PCSyncILUSetRelax()` or the option

   Level: beginner

.seealso: `MatSyncILUSetRelax()`
@*/
MAT_GETTER(Relax, PetscReal)

/*@
   PCSyncILUSetFill - Sets how many entries `SYNCILU_UPDATE_PARILUT` leaves

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - entries of L and U, the diagonal counted once, over those of the matrix; default 2

   Options Database Key:
.  -pc_syncilu_fill <f> - the fill

   Level: intermediate

   Notes: With 1 L and U have together as many entries as the matrix, but not the same ones. The threshold
   that decides is found by sampling, and hardly less are left than there may be; but entries of the same size
   stay or go together, so that on a regular grid it may be much less, or more where the largest ones alone
   are too many.

   Takes effect at the next factorization.

.seealso: `SYNCILU_UPDATE_PARILUT`, `PCSyncILUSetRounds()`, `PCSyncILUGetFill()`, `MatSyncILUSetFill()`
@*/
PC_SETTER(Fill, PetscReal, Real)

/*@
   PCSyncILUGetFill - Gets how many entries `SYNCILU_UPDATE_PARILUT` leaves

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetFill()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetFill()`
@*/
PC_GETTER(Fill, PetscReal)

/*@
   MatSyncILUSetFill - Sets how many entries `SYNCILU_UPDATE_PARILUT` leaves, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - entries of L and U, the diagonal counted once, over those of the matrix; default 2

   Options Database Key:
.  -pc_syncilu_fill <f> - the fill

   Level: intermediate

   Note:
   See `PCSyncILUSetFill()`.

.seealso: `PCSyncILUSetFill()`, `MatSyncILUGetFill()`
@*/
MAT_SETTER(Fill, PetscReal, Real)

/*@
   MatSyncILUGetFill - Gets how many entries `SYNCILU_UPDATE_PARILUT` leaves, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetFill()`, `PCSyncILUSetFill()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetFill()`
@*/
MAT_GETTER(Fill, PetscReal)

/*@
   PCSyncILUSetRounds - Sets the most rounds in which `SYNCILU_UPDATE_PARILUT` finds the pattern of L and U

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - 0 to 10000, default 5

   Options Database Key:
.  -pc_syncilu_rounds <n> - the number of rounds

   Level: intermediate

   Notes: The first pattern is that of the symbolic phase, with its levels of fill and its ordering, the first
   L and U are the triangles of the matrix. A round adds candidates, which are the entries of L U, and those
   of the first pattern, that the pattern lacks; it makes two sweeps (`PCSyncILUSetSweeps()`), of which the
   first one gives candidates their residuals as values; it removes the smallest entries, so that
   `PCSyncILUSetFill()` holds, and sweeps again. In the end come the sweeps of `PCSyncILUSetSweeps()`, on the
   pattern that was found. A round that finds nothing to add is the last one, and one after which the
   threshold has hardly changed, see `PCSyncILUSetRoundsTolerance()`.

   What counts as the size of an entry (i,j), with s_ij the entry of U, or of L times the pivot, is |s_ij|
   over the square root of |d_i d_j|, with the pivots d: the same for L and for U, and for a matrix whose rows
   and columns are scaled alike. In the document it is the absolute value of the entry of L or U. Entries of a
   row or column whose pivot is zero or no number stay. A symmetric matrix has a symmetric pattern; it is the
   upper triangle that decides with incomplete Cholesky factorization.

   The pattern depends on the values: each factorization finds it anew, beginning with the first one, so that
   the factor depends on the matrix alone, and not on what was factored before. Where the pattern comes out as
   it was, the plan of the triangular solves stays. With 0 rounds the pattern stays that is there: set it
   after a factorization, and later ones of new values take sweeps alone, as `SYNCILU_UPDATE_PARILU`, from the
   triangles of the matrix.

   The search makes its sweeps with the shift of MAT_SHIFT_INBLOCKS, and without any other one: a pivot that
   is rejected changes the shift of the last sweeps, which then begin with the triangles of the matrix, and
   not the pattern.

   Patterns are the same on the host, with any number of threads, and on a GPU, though these round
   differently: sizes are compared with 5 digits. (Unless one comes as close as their rounding to where 5
   digits change.) There is no relaxation, no Eisenstat's trick, no -pc_syncilu_check, and no matrix of type
   baij with blocks of several rows.

   Takes effect at the next factorization.

   References: H. Anzt, E. Chow, J. Dongarra, ParILUT - a new parallel threshold ILU factorization, SIAM J.
   Sci. Comput. 40 (2018); H. Anzt et al., ParILUT - a parallel threshold ILU for GPUs, IPDPS 2019.

.seealso: `SYNCILU_UPDATE_PARILUT`, `PCSyncILUSetUpdate()`, `PCSyncILUSetFill()`, `PCSyncILUGetRounds()`,
`MatSyncILUSetRounds()`
@*/
PC_SETTER(Rounds, PetscInt, Int)

/*@
   PCSyncILUGetRounds - Gets the most rounds in which `SYNCILU_UPDATE_PARILUT` finds the pattern of L and U

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetRounds()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetRounds()`
@*/
PC_GETTER(Rounds, PetscInt)

/*@
   MatSyncILUSetRounds - Sets the most rounds in which `SYNCILU_UPDATE_PARILUT` finds the pattern of L and U,
   for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - 0 to 10000, default 5

   Options Database Key:
.  -pc_syncilu_rounds <n> - the number of rounds

   Level: intermediate

   Note:
   See `PCSyncILUSetRounds()`.

.seealso: `PCSyncILUSetRounds()`, `MatSyncILUGetRounds()`
@*/
MAT_SETTER(Rounds, PetscInt, Int)

/*@
   MatSyncILUGetRounds - Gets the most rounds in which `SYNCILU_UPDATE_PARILUT` finds the pattern of L and U,
   of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetRounds()`, `PCSyncILUSetRounds()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetRounds()`
@*/
MAT_GETTER(Rounds, PetscInt)

/*@
   PCSyncILUSetRoundsTolerance - Sets when `SYNCILU_UPDATE_PARILUT` makes no more rounds

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - 0 to 1, default 0: only when there is nothing to add

   Options Database Key:
.  -pc_syncilu_rounds_tolerance <t> - the tolerance

   Level: advanced

   Notes: The threshold of a round is the size of the smallest entries that it leaves. No other round comes
   where it has changed by no more than this, relative to itself, since the round before.

   Takes effect at the next factorization.

.seealso: `SYNCILU_UPDATE_PARILUT`, `PCSyncILUSetRounds()`, `PCSyncILUGetRoundsTolerance()`,
`MatSyncILUSetRoundsTolerance()`
@*/
PC_SETTER(RoundsTolerance, PetscReal, Real)

/*@
   PCSyncILUGetRoundsTolerance - Gets when `SYNCILU_UPDATE_PARILUT` makes no more rounds

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetRoundsTolerance()` or the option

   Level: advanced

.seealso: `PCSyncILUSetRoundsTolerance()`
@*/
PC_GETTER(RoundsTolerance, PetscReal)

/*@
   MatSyncILUSetRoundsTolerance - Sets when `SYNCILU_UPDATE_PARILUT` makes no more rounds, for a factored
   matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - 0 to 1, default 0: only when there is nothing to add

   Options Database Key:
.  -pc_syncilu_rounds_tolerance <t> - the tolerance

   Level: advanced

   Note:
   See `PCSyncILUSetRoundsTolerance()`.

.seealso: `PCSyncILUSetRoundsTolerance()`, `MatSyncILUGetRoundsTolerance()`
@*/
MAT_SETTER(RoundsTolerance, PetscReal, Real)

/*@
   MatSyncILUGetRoundsTolerance - Gets when `SYNCILU_UPDATE_PARILUT` makes no more rounds, of a factored
   matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetRoundsTolerance()`, `PCSyncILUSetRoundsTolerance()` or the option

   Level: advanced

.seealso: `MatSyncILUSetRoundsTolerance()`
@*/
MAT_GETTER(RoundsTolerance, PetscReal)

/*@
   PCSyncILUSetSweeps - Sets the number of sweeps of `SYNCILU_UPDATE_PARILU` and `SYNCILU_UPDATE_PARILUT`

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - 1 or more, default 5

   Options Database Key:
.  -pc_syncilu_sweeps <n> - the number of sweeps

   Level: intermediate

   Notes:
   A sweep computes s_ij = a_ij - sum l_ik u_kj over k < min(i,j) for each entry of the pattern, whatever its levels
   of fill and its ordering, from the L and U of the sweep before; u_ij = s_ij on and above the diagonal, and l_ij =
   s_ij / u_jj below it, with the new pivots. The first L and U are the triangles of the matrix, the lower one
   divided by the diagonal, and zero where there is fill. Each factorization begins with them, also one of new
   values in the same pattern. (In the Crout form, which divides U in the place of L, an iterate is the one of Anzt
   et al. with all of its entries computed from the iterate before.)

   The sweeps of `SYNCILU_UPDATE_PARILUT` come after its rounds, on the pattern that these have found, and
   begin with the L and U that they have left (`PCSyncILUSetRounds()`).

   All entries of a sweep may be computed at the same time, other than those of an exact factorization, which is
   what the sweeps converge to: after as many as the longest chain of entries that depend on each other has, they
   are there, though a few make about as good a preconditioner. A symmetric matrix has a symmetric factor, up to
   rounding, after any number of sweeps. How far it is from the exact factor tells `PCSyncILUSetResidual()`.

   Pivots are judged, and a breakdown is found, after the last sweep, by the rules of the exact factorization; a
   number there that is infinite or none is a breakdown too. Before that, a row whose pivot is zero or not a number
   updates no other row in the next sweep. MAT_SHIFT_NONZERO and MAT_SHIFT_POSITIVE_DEFINITE begin again with
   another shift, MAT_SHIFT_INBLOCKS shifts tiny pivots in each sweep.

   There is no relaxation, and a matrix of type baij with blocks of several rows is refused. On a GPU a row has 4 to
   32 lanes, which go through the rows of U that it refers to one after the other: a sweep takes as long as the row
   with most entries below the diagonal.

   Takes effect at the next factorization.

   References:
   E. Chow, A. Patel, Fine-grained parallel incomplete LU factorization, SIAM J. Sci. Comput. 37 (2015); H. Anzt et
   al., ParILUT - a parallel threshold ILU for GPUs, IPDPS 2019.

.seealso: `SyncILUUpdate`, `PCSyncILUSetUpdate()`, `PCSyncILUSetSweepsAsynchronous()`, `PCSyncILUGetSweeps()`, `MatSyncILUSetSweeps()`
@*/
PC_SETTER(Sweeps, PetscInt, Int)

/*@
   PCSyncILUGetSweeps - Gets the number of sweeps of `SYNCILU_UPDATE_PARILU`

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetSweeps()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetSweeps()`
@*/
PC_GETTER(Sweeps, PetscInt)

/*@
   MatSyncILUSetSweeps - Sets the number of sweeps of `SYNCILU_UPDATE_PARILU`, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - 1 or more, default 5

   Options Database Key:
.  -pc_syncilu_sweeps <n> - the number of sweeps

   Level: intermediate

   Note:
   See `PCSyncILUSetSweeps()`.

.seealso: `PCSyncILUSetSweeps()`, `MatSyncILUGetSweeps()`
@*/
MAT_SETTER(Sweeps, PetscInt, Int)

/*@
   MatSyncILUGetSweeps - Gets the number of sweeps of `SYNCILU_UPDATE_PARILU`, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetSweeps()`, `PCSyncILUSetSweeps()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetSweeps()`
@*/
MAT_GETTER(Sweeps, PetscInt)

/*@
   PCSyncILUSetSweepsAsynchronous - Sets whether sweeps of `SYNCILU_UPDATE_PARILU` work in place

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_sweeps_asynchronous (true|false) - in place

   Level: advanced

   Notes:
   Asynchronous sweeps, those of Chow and Patel, read what other rows have computed by then, of the same sweep or of
   the one before. So they need fewer sweeps, but results differ from run to run, and the factor of a symmetric
   matrix is not symmetric: use it with GMRES or BiCGStab. Incomplete Cholesky factorization is refused with them,
   and so is -pc_syncilu_check, which has nothing to compare with.

   Concerns a GPU. The sweeps of the host are synchronous always, and its view says so.

   Takes effect at the next factorization.

.seealso: `PCSyncILUSetSweeps()`, `PCSyncILUGetSweepsAsynchronous()`, `MatSyncILUSetSweepsAsynchronous()`
@*/
PC_SETTER(SweepsAsynchronous, PetscBool, Bool)

/*@
   PCSyncILUGetSweepsAsynchronous - Gets whether sweeps of `SYNCILU_UPDATE_PARILU` work in place

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetSweepsAsynchronous()` or the option

   Level: advanced

.seealso: `PCSyncILUSetSweepsAsynchronous()`
@*/
PC_GETTER(SweepsAsynchronous, PetscBool)

/*@
   MatSyncILUSetSweepsAsynchronous - Sets whether sweeps of `SYNCILU_UPDATE_PARILU` work in place, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_sweeps_asynchronous (true|false) - in place

   Level: advanced

   Note:
   See `PCSyncILUSetSweepsAsynchronous()`.

.seealso: `PCSyncILUSetSweepsAsynchronous()`, `MatSyncILUGetSweepsAsynchronous()`
@*/
MAT_SETTER(SweepsAsynchronous, PetscBool, Bool)

/*@
   MatSyncILUGetSweepsAsynchronous - Gets whether sweeps of `SYNCILU_UPDATE_PARILU` work in place, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetSweepsAsynchronous()`, `PCSyncILUSetSweepsAsynchronous()` or the option

   Level: advanced

.seealso: `MatSyncILUSetSweepsAsynchronous()`
@*/
MAT_GETTER(SweepsAsynchronous, PetscBool)

/*@
   PCSyncILUSetResidual - Sets whether the residual of each factorization is computed

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_residual (true|false) - compute it

   Level: intermediate

   Notes:
   The residual is the Frobenius norm of A - LU on the pattern of L and U, over that of A. An exact incomplete
   factorization has none but rounding, `SYNCILU_UPDATE_PARILU` one that falls with the number of sweeps. A is the
   matrix as it is: what a shift or relaxation adds to its diagonal counts.

   It is in the view and in `SyncILUStatistics`, and -1 there where it was not asked for or the factorization
   failed. It takes about as long as a sweep on a GPU, and on the host up to twice as long as a factorization by one
   thread.

   Takes effect at the next factorization.

.seealso: `SyncILUStatistics`, `PCSyncILUGetStatistics()`, `PCSyncILUSetSweeps()`, `PCSyncILUGetResidual()`, `MatSyncILUSetResidual()`
@*/
PC_SETTER(Residual, PetscBool, Bool)

/*@
   PCSyncILUGetResidual - Gets whether the residual of each factorization is computed

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetResidual()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetResidual()`
@*/
PC_GETTER(Residual, PetscBool)

/*@
   MatSyncILUSetResidual - Sets whether the residual of each factorization is computed, for a factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_residual (true|false) - compute it

   Level: intermediate

   Note:
   See `PCSyncILUSetResidual()`.

.seealso: `PCSyncILUSetResidual()`, `MatSyncILUGetResidual()`
@*/
MAT_SETTER(Residual, PetscBool, Bool)

/*@
   MatSyncILUGetResidual - Gets whether the residual of each factorization is computed, of a factored matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetResidual()`, `PCSyncILUSetResidual()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetResidual()`
@*/
MAT_GETTER(Residual, PetscBool)

/*@
   PCSyncILUSetSymmetric - Sets whether the matrix is factored as a symmetric one, by its upper triangle

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_symmetric (true|false) - incomplete Cholesky factorization

   Level: intermediate

   Notes:
   The factorization is that of `PCICC`, A = U^T D U (see `MATSOLVERSYNCILU`), and so is the shift that `PCSYNCILU`
   takes where none is asked for, MAT_SHIFT_POSITIVE_DEFINITE. Values below the diagonal do not count; a
   pattern that is not symmetric is an error that names an entry (on a GPU not where MAT_SYMMETRIC is set, which
   it believes). A matrix of type sbaij is always factored so, and a factor of `PCICC`.

.seealso: `PCSYNCILU`, `PCICC`, `PCSyncILUGetSymmetric()`, `MatSyncILUSetSymmetric()`, `MATSOLVERSYNCILU`
@*/
PC_SETTER(Symmetric, PetscBool, Bool)

/*@
   PCSyncILUGetSymmetric - Gets whether the matrix is factored as a symmetric one

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetSymmetric()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetSymmetric()`
@*/
PC_GETTER(Symmetric, PetscBool)

/*@
   PCSyncILUSetEisenstat - Sets whether the Krylov method goes without products with the matrix, by Eisenstat's
   trick

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`
-  value - `PETSC_TRUE` for the trick, default `PETSC_FALSE`

   Options Database Key:
.  -pc_syncilu_eisenstat - the trick

   Level: intermediate

   Notes:
   The factorization is M = L D U', with D the pivots, L and U' triangular with ones on the diagonal. Where
   its updates change diagonal entries alone, as with 5- and 7-point stencils and tridiagonal matrices,
   relaxed or not, and on any pattern with `SYNCILU_UPDATE_DILU`, the off-diagonal entries of A are those of L
   D and D U'. To multiply with B = L^-1 A U'^-1 then takes the two triangular solves and no product with A.
   The Krylov method gets B as its operator and D as its preconditioner. See S. C. Eisenstat, SIAM J. Sci.
   Stat. Comput. 2 (1981), and `PCEISENSTAT` for SSOR.

   CG takes the iterations that it takes without, if both are stopped by the natural norm
   (-ksp_norm_type natural), which is the same number. Other norms are of the transformed system: `KSPCG`,
   `KSPGMRES` and `KSPBCGS`, preconditioned from the left, have the norm of D^-1 L^-1 (b - A x) in place of the
   norm of M^-1 (b - A x), and from the right that of L^-1 (b - A x) in place of the norm of b - A x. While it
   runs, solution and residual of a monitor are of that system too, and where a GPU solves by the blocks of the
   ordering bmc, in the order of the factor.

   PCSetUp() ends with PETSC_ERR_SUP where the trick cannot work, and says why: updates beside the diagonal,
   several ranks, Amat other than Pmat, blocks, -pc_syncilu_symmetric, different orderings of rows and
   columns, `SYNCILU_UPDATE_PARILUT`, `SYNCILU_SOLVE_JACOBI`. So do transposed solves, Krylov methods that
   multiply with the transpose, several right-hand sides at a time, matrices with a null space, a matrix that
   has changed since it was factored, or another one, and PCApply() outside of a `KSP`.

   On a GPU the two solves are all that B takes: the second one makes its right-hand side and B's result.

.seealso: `PCSYNCILU`, `PCEISENSTAT`, `PCSyncILUGetEisenstat()`, `PCSyncILUSetRelax()`, `KSPSetNormType()`
@*/
PC_SETTER(Eisenstat, PetscBool, Bool)

/*@
   PCSyncILUGetEisenstat - Gets whether the Krylov method goes without products with the matrix

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`

   Output Parameter:
.  value - as set by `PCSyncILUSetEisenstat()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetEisenstat()`
@*/
PC_GETTER(Eisenstat, PetscBool)

/*@
   MatSyncILUSetSymmetric - Sets whether a matrix is factored as a symmetric one, by its upper triangle

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_symmetric (true|false) - incomplete Cholesky factorization

   Level: intermediate

   Note:
   See `PCSyncILUSetSymmetric()`. Takes effect at the next symbolic phase. A factor of type `MAT_FACTOR_ICC` is
   always one of a symmetric matrix.

.seealso: `PCSyncILUSetSymmetric()`, `MatSyncILUGetSymmetric()`
@*/
MAT_SETTER(Symmetric, PetscBool, Bool)

/*@
   MatSyncILUGetSymmetric - Gets whether a matrix is factored as a symmetric one

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetSymmetric()`, `PCSyncILUSetSymmetric()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetSymmetric()`
@*/
MAT_GETTER(Symmetric, PetscBool)

/*@
   PCSyncILUSetTune - Sets whether strategies are timed on the matrix, and the best ones kept

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_tune (true|false) - tune

   Level: intermediate

   Notes:
   On a GPU the strategies of the factorization, then those of the triangular solves are tried at the first
   factorization of a pattern, as far as `PCSyncILUSetUpdate()` and `PCSyncILUSetSolve()` leave them to the
   library. What takes the least for a factorization and 20 applications stays; the view says which strategies
   these are, and -info gives all times. That takes as long as some ten setups, and the memory of two. The host
   has one way of each, and nothing is tried on the pattern that `SYNCILU_UPDATE_PARILUT` finds.

   Results are the same up to rounding. They may differ from run to run where two strategies are equally fast,
   since strategies round differently.

   Ranks tune by themselves, and may come to different strategies.

.seealso: `PCSYNCILU`, `PCSyncILUGetTune()`, `MatSyncILUSetTune()`, `PCSyncILUSetUpdate()`, `PCSyncILUSetSolve()`
@*/
PC_SETTER(Tune, PetscBool, Bool)

/*@
   PCSyncILUGetTune - Gets whether strategies are timed on the matrix, and the best ones kept

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetTune()` or the option

   Level: intermediate

.seealso: `PCSyncILUSetTune()`
@*/
PC_GETTER(Tune, PetscBool)

/*@
   MatSyncILUSetTune - Sets whether strategies are timed on the matrix, and the best ones kept, for a factored
   matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_tune (true|false) - tune

   Level: intermediate

   Note:
   See `PCSyncILUSetTune()`.

.seealso: `PCSyncILUSetTune()`, `MatSyncILUGetTune()`
@*/
MAT_SETTER(Tune, PetscBool, Bool)

/*@
   MatSyncILUGetTune - Gets whether strategies are timed on the matrix, and the best ones kept, of a factored
   matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetTune()`, `PCSyncILUSetTune()` or the option

   Level: intermediate

.seealso: `MatSyncILUSetTune()`
@*/
MAT_GETTER(Tune, PetscBool)

/*@
   PCSyncILUSetCheck - Sets whether the serial reference runs beside, and results are compared

   Logically Collective

   Input Parameters:
+  pc    - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_check (true|false) - compare

   Level: developer

   Notes:
   Each factorization and each solve is done again by the serial reference, and a wrong row is an error,
   PETSC_ERR_PLIB, that names it. The host must give the same bits. A GPU rounds differently: a row of the
   factor, or a solution, that differs by more than 1e-10 is wrong if L U differs from the matrix, or L U x
   from the right-hand side, by more than 1e-10 of the sum of the absolute values that are added up.

   Takes effect at the next factorization. Where a GPU planned without the pattern of the symbolic phase, the
   plan is made again for it.

.seealso: `PCSYNCILU`, `PCSyncILUGetCheck()`, `MatSyncILUSetCheck()`
@*/
PC_SETTER(Check, PetscBool, Bool)

/*@
   PCSyncILUGetCheck - Gets whether the serial reference runs beside, and results are compared

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU`, or `PCILU` or `PCICC` with solver type syncilu

   Output Parameter:
.  value - as set by `PCSyncILUSetCheck()` or the option

   Level: developer

.seealso: `PCSyncILUSetCheck()`
@*/
PC_GETTER(Check, PetscBool)

/*@
   MatSyncILUSetCheck - Sets whether the serial reference runs beside, and results are compared, for a
   factored matrix

   Logically Collective

   Input Parameters:
+  F     - a factored matrix of `MATSOLVERSYNCILU`
-  value - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_check (true|false) - compare

   Level: developer

   Note:
   See `PCSyncILUSetCheck()`.

.seealso: `PCSyncILUSetCheck()`, `MatSyncILUGetCheck()`
@*/
MAT_SETTER(Check, PetscBool, Bool)

/*@
   MatSyncILUGetCheck - Gets whether the serial reference runs beside, and results are compared, of a factored
   matrix

   Not Collective

   Input Parameter:
.  F - a factored matrix of `MATSOLVERSYNCILU`

   Output Parameter:
.  value - as set by `MatSyncILUSetCheck()`, `PCSyncILUSetCheck()` or the option

   Level: developer

.seealso: `MatSyncILUSetCheck()`
@*/
MAT_GETTER(Check, PetscBool)
