/*
   The public interface of syncilu: synchronization-free incomplete LU factorizations for PETSc.

   A program needs none of this to use the plugin: loading it and -pc_type syncilu suffice.
*/
#ifndef PETSCSYNCILU_H
#define PETSCSYNCILU_H

#include <petscpc.h>

#define SYNCILU_VERSION_MAJOR 0
#define SYNCILU_VERSION_MINOR 1
#define SYNCILU_VERSION_PATCH 0

/*
   PETSC_EXTERN alone says nothing about visibility where PETSc was configured without it, and the plugin
   hides all it does not mean to export.
*/
#if defined(__GNUC__)
  #define SYNCILU_EXTERN PETSC_EXTERN __attribute__((visibility("default")))
#else
  #define SYNCILU_EXTERN PETSC_EXTERN
#endif

#define PCSYNCILU          "syncilu"
#define MATSOLVERSYNCILU   "syncilu"
#define MATORDERINGBMC     "bmc"
#define MATORDERINGSYNCILU "syncilu"

/*E
   SyncILUBackend - where factorizations and solves run

   Values:
+  SYNCILU_BACKEND_AUTO - the library chooses; the view of the preconditioner says what and why
.  SYNCILU_BACKEND_HOST - threads on the CPU
-  SYNCILU_BACKEND_CUDA - the GPU of this MPI rank

   Level: intermediate

.seealso: `PCSyncILUSetBackend()`, `MatSyncILUSetBackend()`
E*/
typedef enum {
  SYNCILU_BACKEND_AUTO,
  SYNCILU_BACKEND_HOST,
  SYNCILU_BACKEND_CUDA
} SyncILUBackend;

/*E
   SyncILUUpdate - how the factorization is computed: on a GPU, how it finds the entries that two rows share

   Values:
+  SYNCILU_UPDATE_AUTO     - the library chooses, see `PCSyncILUSetUpdate()`
.  SYNCILU_UPDATE_SHARED   - 32 lanes have a row, and compare 32 of its columns with 32 of a reference row at a
                             time
.  SYNCILU_UPDATE_VECT     - 32 lanes have a row, and each searches for a column of it in the reference row;
                             where both rows together have at most 128 entries, as SHARED
.  SYNCILU_UPDATE_ADAPT    - 4 to 32 lanes have a row, as many as suit the mean row, and search
.  SYNCILU_UPDATE_PARALLEL - 128 lanes have a row, in vectors of 1 to 32 that have an entry each
.  SYNCILU_UPDATE_LEVELSET - as ADAPT, level after level, successive levels of few rows in one block
.  SYNCILU_UPDATE_LIST     - the plan has a list of where each update reads and writes; nothing is searched. Rows
                             that are much longer than the others are shared by many warps
.  SYNCILU_UPDATE_BSR      - 32 or 64 lanes have an inode: up to 8 successive rows of one pattern, such as the
                             unknowns of a point of a mesh, which are updated together, block by block. The plan has
                             lists of the blocks that meet, unless there is relaxation, or no room for them.
                             Where only diagonal blocks have updates, as with 5 and 7 points, 16 or 32 lanes have
                             an inode, and multiply with the inverses of these blocks
.  SYNCILU_UPDATE_STRUCT   - a line of a grid has twice 32 lanes, each with an entry of the stencil, see `SYNCILU_SOLVE_STRUCT`
.  SYNCILU_UPDATE_PARILU   - not exact: sweeps of a fixed-point iteration over all entries, in which no row waits
                             for another one; on the host too
.  SYNCILU_UPDATE_PARILUT  - the same, on a pattern that is found together with the values, for the largest entries;
                             on the host too
.  SYNCILU_UPDATE_DILU     - another factorization, D-ILU: of all updates those of diagonals alone; on the host too
-  SYNCILU_UPDATE_MESH     - dilu where a point of the mesh has one unknown, auto where it has several; on the host too

   Level: advanced

   Notes:
   `SYNCILU_UPDATE_SHARED`, `SYNCILU_UPDATE_VECT` and `SYNCILU_UPDATE_ADAPT` are strategies of Freire,
   Dufrechou, Ezzatti, PDP 2025, and `SYNCILU_UPDATE_PARALLEL` is one of M. Freire's master's thesis,
   Universidad de la Republica, 2025. Other than there, columns of the shorter of two rows are searched in the
   longer one, of a reference row those entries alone are waited for that update the current one, and PARALLEL
   applies the updates of an entry in the order of their reference rows.

   `SYNCILU_UPDATE_LEVELSET` is the scheme of M. Naumov, NVIDIA technical report NVR-2012-003, as a baseline
   to compare with. A level waits for the whole level before. With `SYNCILU_ANALYSIS_NONE` rows go by their
   earliest levels.

   `SYNCILU_UPDATE_BSR` finds the inodes in the pattern of the matrix as it is factored, with the ordering and
   with fill: all rows of an inode have the same columns, and these come in the same groups. All inodes of a
   matrix have the same number of rows, the largest up to 8 that the whole pattern allows; the view says it. One
   row that fits into no inode makes that number 1, and then the strategy saves nothing. A block of `MATBAIJ` with
   up to 8 rows is an inode; a larger one is divided evenly, if its size has a divisor up to 8.

   `SYNCILU_UPDATE_STRUCT` knows from the stencil which entries of two rows meet. It is for matrices that are
   solved by `SYNCILU_SOLVE_STRUCT`, into whose storage it writes; others are factored as auto would, and the
   view gives the reason. With it several unknowns a point are rows of a line.

   `SYNCILU_UPDATE_PARILU` is the iteration of E. Chow and A. Patel, SIAM J. Sci. Comput. 37 (2015), and of H.
   Anzt et al., IPDPS 2019, algorithm 1, see `PCSyncILUSetSweeps()`, and `SYNCILU_UPDATE_PARILUT` the one of
   H. Anzt, E. Chow and J. Dongarra, SIAM J. Sci. Comput. 40 (2018), and of the former, figure 2, see
   `PCSyncILUSetRounds()`. Neither auto nor `PCSyncILUSetTune()` takes them.

   `SYNCILU_UPDATE_DILU` is the D-ILU of C. Pommerell (R. Barrett et al., Templates for the Solution of Linear
   Systems, SIAM 1994, section 3.4.1): L D and D U have the entries of the matrix beside the diagonal, and the
   pivots D are such that the product has its diagonal; relaxed (`PCSyncILUSetRelax()`), the excess of the
   product beside the diagonal goes into the pivots. A pivot is at least a quarter of its diagonal entry, so
   that with a positive diagonal all are positive. But for that it is ILU(0) where updates change diagonals
   alone, as on 5- and 7-point grids. It is cheap to plan and to compute, and allows `PCSyncILUSetEisenstat()`
   on any pattern. It takes about the iterations of ILU(0) where the matrix has one unknown a point, and many
   more where it has several. With levels of fill the factor has more entries, which are zero. It is not for
   matrices of type baij, nor for incomplete Cholesky factorization: of a symmetric matrix the factor is
   symmetric in any case. Neither auto nor `PCSyncILUSetTune()` takes it.

   `SYNCILU_UPDATE_MESH` is for matrices of finite elements and volumes on unstructured meshes, and is one of
   these two; the view says which, and why. D-ILU takes many more iterations where points have several
   unknowns, and where rows are long. So it is auto where successive rows come in groups of one pattern, of 1.5
   rows or more in the mean; where rows have more than 20 entries in the mean; where the matrix is of type baij,
   or the factorization symmetric; and with levels of fill. Elsewhere it is dilu. Relaxation
   (`PCSyncILUSetRelax()`) is then for dilu alone, and in the ordering `MATORDERINGBMC` only where colors follow
   the numbering: it loses iterations where they do not, and relaxed pivots of ILU may vanish there. The view says
   where it is left out. Where update mesh is auto, `PCSyncILUSetEisenstat()` is without effect, and
   the factorization is one that is soon planned.

.seealso: `PCSyncILUSetUpdate()`, `MatSyncILUSetUpdate()`
E*/
typedef enum {
  SYNCILU_UPDATE_AUTO,
  SYNCILU_UPDATE_SHARED,
  SYNCILU_UPDATE_VECT,
  SYNCILU_UPDATE_ADAPT,
  SYNCILU_UPDATE_PARALLEL,
  SYNCILU_UPDATE_LEVELSET,
  SYNCILU_UPDATE_LIST,
  SYNCILU_UPDATE_BSR,
  SYNCILU_UPDATE_STRUCT,
  SYNCILU_UPDATE_PARILU,
  SYNCILU_UPDATE_PARILUT,
  SYNCILU_UPDATE_DILU,
  SYNCILU_UPDATE_MESH
} SyncILUUpdate;

/*E
   SyncILUAnalysis - the order in which rows are handed out

   Values:
+  SYNCILU_ANALYSIS_AUTO - the library chooses; on a GPU tiles of neighbours belong to the choice
.  SYNCILU_ANALYSIS_NONE - numerical order
.  SYNCILU_ANALYSIS_ASAP - by level, each row at its earliest level
-  SYNCILU_ANALYSIS_ALAP - by level, each row at the latest level that delays no other row

   Level: intermediate

.seealso: `PCSyncILUSetAnalysis()`, `MatSyncILUSetAnalysis()`
E*/
typedef enum {
  SYNCILU_ANALYSIS_AUTO,
  SYNCILU_ANALYSIS_NONE,
  SYNCILU_ANALYSIS_ASAP,
  SYNCILU_ANALYSIS_ALAP
} SyncILUAnalysis;

/*E
   SyncILUSolve - how the triangular solves run on a GPU

   Values:
+  SYNCILU_SOLVE_AUTO     - the library chooses: a warp a block in the ordering `MATORDERINGBMC`, which has no value of
                            its own here, struct where rows or inodes follow a grid, bsr where rows come in other
                            inodes, cluster where levels have few rows, else ell
.  SYNCILU_SOLVE_CSR      - 32 lanes a row, from the factor on the pattern of L and U
.  SYNCILU_SOLVE_MR       - rows of a level and size class share a warp, from CSR
.  SYNCILU_SOLVE_HYB      - the same, from the 32 entries of each warp side by side; rows of more entries go on in
                            CSR
.  SYNCILU_SOLVE_LEVELSET - level after level, successive levels of few rows in one block, from CSR
.  SYNCILU_SOLVE_ELL      - 1 to 32 lanes a row, from slices of rows in the order in which they are solved,
                            padded to the same length
.  SYNCILU_SOLVE_CLUSTER  - the same by one cluster of thread blocks, which push values into each other's shared
                            memory, for levels of few rows; needs compute capability 9.0
.  SYNCILU_SOLVE_BSR      - 8 to 32 lanes an inode, see `SYNCILU_UPDATE_BSR`, from the factor on the pattern of L and
                            U
.  SYNCILU_SOLVE_STRUCT   - a lane a line of a grid in its natural order, 32 lines a block of threads, without
                            column indices; with several unknowns a point, a lane for each; needs compute
                            capability 9.0
-  SYNCILU_SOLVE_JACOBI   - not exactly: by a fixed number of Jacobi sweeps, in which no row waits for another; on the
                            host too, see `PCSyncILUSetSolveSweeps()`

   Level: advanced

   Notes:
   A cluster begins once multiprocessors that are next to each other have room for all of its 16 blocks, so
   `SYNCILU_SOLVE_CLUSTER` waits for programs that keep them. It has one right-hand side; several are solved
   for as with `SYNCILU_SOLVE_ELL`, from the same storage. Runs of levels of so many rows that it would take longer,
   their launches included, are solved with all multiprocessors, as with `SYNCILU_SOLVE_ELL`; the view names them.

   `SYNCILU_SOLVE_STRUCT` is for matrices each row of which has the entries of one stencil, less those that
   leave the grid: at most 13 of L and of U, as star-7, star-25, diamond-25 and box-27 have them, or star-7
   with one and two levels of fill. Rows may have holes, such as those of a Dirichlet boundary, and triangles
   on a grid, whose squares are cut either way: what a row lacks is computed with as zero, so that an infinite
   number spreads to all rows of a stencil. The grid is the one that was given (`PCSyncILUSetGrid()`), or the
   `DMDA`'s of the matrix; else it is found in the pattern, from the longest row. With 2 to 8 unknowns a point the
   entries are dense blocks, at most 13 of L and of U; they are stored times the inverse of the triangle on the
   diagonal, which is the same preconditioner up to rounding. Where blocks are not full the unknowns are rows
   of a line, if these have no more than 13 entries. Periodic directions, other orderings and what reaches back
   more than 8 levels are refused with the reason. The tasks are those of H. Luo et al., StructILU, ICS 2025,
   section 4.1, with lines along x instead of z.

   `SYNCILU_SOLVE_MR` and `SYNCILU_SOLVE_HYB` are those of M. Freire's master's thesis, Universidad de la
   Republica, 2025, chapter 4. By the names given there, `SYNCILU_SOLVE_MR` is SpTRSV_mr with
   `SYNCILU_ANALYSIS_ASAP` and SpTRSV_Lev with `SYNCILU_ANALYSIS_ALAP`; `SYNCILU_SOLVE_HYB` is SpTRSV_Fmt with
   the first and SpTRSV_FL with the second, from the storage HYB_syncfree.

   In numerical order a row has a warp of its own. `SYNCILU_SOLVE_HYB` then takes room for 32 entries a row, as
   it does wherever levels have few rows; what it takes stands in the bytes held that the view shows.

   `SYNCILU_SOLVE_LEVELSET` is the scheme of M. Naumov, NVIDIA technical report NVR-2012-003, as a baseline to
   compare with. A level waits for the whole level before. With `SYNCILU_ANALYSIS_NONE` rows go by their
   earliest levels.

.seealso: `PCSyncILUSetSolve()`, `MatSyncILUSetSolve()`
E*/
typedef enum {
  SYNCILU_SOLVE_AUTO,
  SYNCILU_SOLVE_CSR,
  SYNCILU_SOLVE_MR,
  SYNCILU_SOLVE_HYB,
  SYNCILU_SOLVE_LEVELSET,
  SYNCILU_SOLVE_ELL,
  SYNCILU_SOLVE_CLUSTER,
  SYNCILU_SOLVE_BSR,
  SYNCILU_SOLVE_STRUCT,
  SYNCILU_SOLVE_JACOBI
} SyncILUSolve;

SYNCILU_EXTERN const char *const SyncILUBackends[];
SYNCILU_EXTERN const char *const SyncILUUpdates[];
SYNCILU_EXTERN const char *const SyncILUAnalyses[];
SYNCILU_EXTERN const char *const SyncILUSolves[];

/*S
   SyncILUStatistics - what a factorization is and what it took, on this MPI rank

   Level: intermediate

   Note:
   Rows are counted from 0 in the order of the factorization; with a natural ordering that is the order of the
   matrix.

.seealso: `PCSyncILUGetStatistics()`, `MatSyncILUGetStatistics()`
S*/
typedef struct {
  SyncILUBackend backend;         /* where it runs, never auto */
  PetscInt       threads;         /* threads in use on the host, 0 on a GPU */
  PetscInt       rows;            /* rows of the local block */
  PetscInt64     nonzeros;        /* entries of L and U, the diagonal counted once */
  PetscReal      fill;            /* nonzeros over those of the matrix */
  PetscInt       levels[2];       /* levels of the dependency graph of L and of U; -1: no memory to count them */
  PetscInt       level_rows[2];   /* most rows on one level of L and of U, likewise */
  PetscInt       diagonals_added; /* missing diagonal entries (baij: blocks) added, by PCFactorSetAllowDiagonalFill() */

  /* pivots a shift changed in the last factorization: all rows, or some with MAT_SHIFT_INBLOCKS */
  PetscInt  pivots_shifted;
  PetscInt  shift_attempts; /* how often the last factorization was tried again with another shift */
  PetscReal shift_amount;   /* what was added to each shifted pivot, in the units of the matrix; baij: what times the block's diagonal took its place */
  PetscInt  failed_row;     /* the first row whose pivot broke down, -1 if none */
  PetscReal failed_pivot;   /* its absolute value */
  PetscInt  analyses;       /* symbolic phases so far */
  PetscInt  factorizations; /* numeric phases so far */
  PetscReal residual;       /* of the last factorization, see PCSyncILUSetResidual(); -1: not computed */
  PetscInt  rounds;         /* in which the pattern of the last one was found, see PCSyncILUSetRounds(); 0: it was not */

  /* memory held by plan and factor; it grows at the first transposed solve, and at the first one of several
     right-hand sides */
  PetscInt64 bytes;
} SyncILUStatistics;

SYNCILU_EXTERN PetscErrorCode SyncILUInitializePackage(void);
SYNCILU_EXTERN PetscErrorCode SyncILUFinalizePackage(void);
SYNCILU_EXTERN PetscErrorCode SyncILUGetVersion(PetscInt *, PetscInt *, PetscInt *);

SYNCILU_EXTERN PetscErrorCode PCSyncILUSetBackend(PC, SyncILUBackend);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetBackend(PC, SyncILUBackend *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetUpdate(PC, SyncILUUpdate);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetUpdate(PC, SyncILUUpdate *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetPrefetch(PC, PetscBool3);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetPrefetch(PC, PetscBool3 *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetVectorSize(PC, PetscInt);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetVectorSize(PC, PetscInt *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetAnalysis(PC, SyncILUAnalysis);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetAnalysis(PC, SyncILUAnalysis *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetSolve(PC, SyncILUSolve);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetSolve(PC, SyncILUSolve *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetSolveSweeps(PC, PetscInt);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetSolveSweeps(PC, PetscInt *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetSolveBlockSize(PC, PetscInt);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetSolveBlockSize(PC, PetscInt *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetGrid(PC, PetscInt, PetscInt, PetscInt, PetscInt);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetGrid(PC, PetscInt *, PetscInt *, PetscInt *, PetscInt *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetThreads(PC, PetscInt);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetThreads(PC, PetscInt *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetRelax(PC, PetscReal);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetRelax(PC, PetscReal *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetFill(PC, PetscReal);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetFill(PC, PetscReal *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetRounds(PC, PetscInt);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetRounds(PC, PetscInt *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetRoundsTolerance(PC, PetscReal);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetRoundsTolerance(PC, PetscReal *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetSweeps(PC, PetscInt);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetSweeps(PC, PetscInt *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetSweepsAsynchronous(PC, PetscBool);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetSweepsAsynchronous(PC, PetscBool *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetResidual(PC, PetscBool);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetResidual(PC, PetscBool *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetSymmetric(PC, PetscBool);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetSymmetric(PC, PetscBool *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetEisenstat(PC, PetscBool);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetEisenstat(PC, PetscBool *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetTune(PC, PetscBool);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetTune(PC, PetscBool *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUSetCheck(PC, PetscBool);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetCheck(PC, PetscBool *);
SYNCILU_EXTERN PetscErrorCode PCSyncILUGetStatistics(PC, SyncILUStatistics *);

SYNCILU_EXTERN PetscErrorCode MatSyncILUSetBackend(Mat, SyncILUBackend);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetBackend(Mat, SyncILUBackend *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetUpdate(Mat, SyncILUUpdate);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetUpdate(Mat, SyncILUUpdate *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetPrefetch(Mat, PetscBool3);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetPrefetch(Mat, PetscBool3 *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetVectorSize(Mat, PetscInt);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetVectorSize(Mat, PetscInt *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetAnalysis(Mat, SyncILUAnalysis);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetAnalysis(Mat, SyncILUAnalysis *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetSolve(Mat, SyncILUSolve);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetSolve(Mat, SyncILUSolve *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetSolveSweeps(Mat, PetscInt);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetSolveSweeps(Mat, PetscInt *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetSolveBlockSize(Mat, PetscInt);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetSolveBlockSize(Mat, PetscInt *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetGrid(Mat, PetscInt, PetscInt, PetscInt, PetscInt);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetGrid(Mat, PetscInt *, PetscInt *, PetscInt *, PetscInt *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetThreads(Mat, PetscInt);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetThreads(Mat, PetscInt *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetRelax(Mat, PetscReal);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetRelax(Mat, PetscReal *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetFill(Mat, PetscReal);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetFill(Mat, PetscReal *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetRounds(Mat, PetscInt);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetRounds(Mat, PetscInt *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetRoundsTolerance(Mat, PetscReal);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetRoundsTolerance(Mat, PetscReal *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetSweeps(Mat, PetscInt);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetSweeps(Mat, PetscInt *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetSweepsAsynchronous(Mat, PetscBool);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetSweepsAsynchronous(Mat, PetscBool *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetResidual(Mat, PetscBool);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetResidual(Mat, PetscBool *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetSymmetric(Mat, PetscBool);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetSymmetric(Mat, PetscBool *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetTune(Mat, PetscBool);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetTune(Mat, PetscBool *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUSetCheck(Mat, PetscBool);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetCheck(Mat, PetscBool *);
SYNCILU_EXTERN PetscErrorCode MatSyncILUGetStatistics(Mat, SyncILUStatistics *);

#endif
