/*
   The options of syncilu: their flags, setters and getters, and their lines in the view.

   A setting has one pair of functions for a preconditioner and one for a factored matrix. The pair for a preconditioner serves PCSYNCILU, and PCILU once its solver type is syncilu.
*/
#include "syncilu_impl.h"

const char *const SyncILUBackends[] = {"auto", "host", "cuda", "SyncILUBackend", "SYNCILU_BACKEND_", NULL};
const char *const SyncILUUpdates[]  = {"auto", "shared", "vect", "adapt", "parallel", "list", "flow", "SyncILUUpdate", "SYNCILU_UPDATE_", NULL};
const char *const SyncILUAnalyses[] = {"auto", "none", "asap", "alap", "SyncILUAnalysis", "SYNCILU_ANALYSIS_", NULL};
const char *const SyncILUSolves[]   = {"auto", "csr", "mr", "hyb", "ell", "flow", "levelset", "SyncILUSolve", "SYNCILU_SOLVE_", NULL};

static PetscErrorCode CheckBackend(SyncILUBackend v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_BACKEND_AUTO && v <= SYNCILU_BACKEND_CUDA, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_backend: no such backend %d", (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckUpdate(SyncILUUpdate v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_UPDATE_AUTO && v <= SYNCILU_UPDATE_FLOW, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_update: no such strategy %d", (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAnalysis(SyncILUAnalysis v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_ANALYSIS_AUTO && v <= SYNCILU_ANALYSIS_ALAP, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_analysis: no such order %d", (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolve(SyncILUSolve v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_SOLVE_AUTO && v <= SYNCILU_SOLVE_LEVELSET, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_solve: no such strategy %d", (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckBool(PetscBool v)
{
  (void)v;
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckVectorSize(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v >= 0 && v <= 32 && !(v & (v - 1)), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_vector_size: %" PetscInt_FMT " is not 0 or a power of two up to 32", v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckThreads(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v == PETSC_DECIDE || (v > 0 && v <= 4096), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_threads: %" PetscInt_FMT " is not between 1 and 4096", v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRelax(PetscReal v)
{
  PetscFunctionBegin;
  PetscCheck(v >= 0.0 && v <= 1.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_relax: %g is not between 0 and 1", (double)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUSettingsSetFromOptions(SyncILUOptionItems PetscOptionsObject, SyncILUSettings *s)
{
  PetscBool flg;
  PetscInt  n;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "SyncILU options");
  PetscCall(PetscOptionsEnum("-pc_syncilu_backend", "Where it runs", "PCSyncILUSetBackend", SyncILUBackends, (PetscEnum)s->backend, (PetscEnum *)&s->backend, NULL));
  PetscCall(PetscOptionsEnum("-pc_syncilu_update", "How a GPU finds the entries two rows share", "PCSyncILUSetUpdate", SyncILUUpdates, (PetscEnum)s->update, (PetscEnum *)&s->update, NULL));
  PetscCall(PetscOptionsBool("-pc_syncilu_prefetch", "Find them while waiting for the row", "PCSyncILUSetPrefetch", s->prefetch, &s->prefetch, NULL));
  PetscCall(PetscOptionsInt("-pc_syncilu_vector_size", "Lanes a row on a GPU, 0: the library chooses", "PCSyncILUSetVectorSize", s->vector_size, &n, &flg));
  if (flg) {
    PetscCall(CheckVectorSize(n));
    s->vector_size = n;
  }
  PetscCall(PetscOptionsEnum("-pc_syncilu_analysis", "Order in which rows are handed out", "PCSyncILUSetAnalysis", SyncILUAnalyses, (PetscEnum)s->analysis, (PetscEnum *)&s->analysis, NULL));
  PetscCall(PetscOptionsEnum("-pc_syncilu_solve", "How a GPU runs the triangular solves", "PCSyncILUSetSolve", SyncILUSolves, (PetscEnum)s->solve, (PetscEnum *)&s->solve, NULL));
  PetscCall(PetscOptionsInt("-pc_syncilu_threads", "Threads on the host, default OMP_NUM_THREADS, else 1", "PCSyncILUSetThreads", s->threads, &n, &flg));
  if (flg) {
    PetscCall(CheckThreads(n));
    s->threads = n;
  }
  PetscCall(PetscOptionsReal("-pc_syncilu_relax", "Dropped fill is added times this to the diagonal", "PCSyncILUSetRelax", s->relax, &s->relax, NULL));
  PetscCall(CheckRelax(s->relax));
  PetscCall(PetscOptionsBool("-pc_syncilu_check", "Compare with the serial reference", "PCSyncILUSetCheck", s->check, &s->check, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUSettingsView(const SyncILUSettings *s, PetscViewer viewer)
{
  char threads[32];

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "relaxation: %g\n", (double)s->relax));
  if (s->threads == PETSC_DECIDE) PetscCall(PetscStrncpy(threads, "from OMP_NUM_THREADS", sizeof(threads)));
  else PetscCall(PetscSNPrintf(threads, sizeof(threads), "%" PetscInt_FMT, s->threads));
  PetscCall(PetscViewerASCIIPrintf(viewer, "asked for: backend %s, analysis %s, threads %s, check %s\n", SyncILUBackends[s->backend], SyncILUAnalyses[s->analysis], threads, PetscBools[s->check]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "asked for on a GPU: update %s, prefetch %s, vector size %" PetscInt_FMT ", solve %s\n", SyncILUUpdates[s->update], PetscBools[s->prefetch], s->vector_size, SyncILUSolves[s->solve]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Setter and getter of one setting, for a preconditioner and for a factored matrix. A setter has no effect on objects of another type, as with PETSc's own setters of one type. */
#define SYNCILU_SETTING(Name, Type, field, Valid, Check) \
  PetscErrorCode PCSyncILUSet##Name(PC pc, Type value) \
  { \
    SyncILUSettings *s; \
\
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1); \
    Valid(pc, value, 2); \
    PetscCall(Check(value)); \
    PetscCall(PCSyncILUGetSettings(pc, &s)); \
    if (s && s->field != value) { \
      s->field = value; \
      PetscCall(PCSyncILUSettingsChanged(pc)); \
    } \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
\
  PetscErrorCode PCSyncILUGet##Name(PC pc, Type *value) \
  { \
    SyncILUSettings *s; \
\
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1); \
    PetscCall(PCSyncILUGetSettings(pc, &s)); \
    PetscCheck(s, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "The preconditioner is of type %s without solver type syncilu", ((PetscObject)pc)->type_name); \
    *value = s->field; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
\
  PetscErrorCode MatSyncILUSet##Name(Mat F, Type value) \
  { \
    SyncILUSettings *s; \
\
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(F, MAT_CLASSID, 1); \
    Valid(F, value, 2); \
    PetscCall(Check(value)); \
    PetscCall(MatSyncILUGetSettings(F, &s)); \
    if (s && s->field != value) { \
      s->field = value; \
      PetscCall(MatSyncILUSettingsChanged(F)); \
    } \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
\
  PetscErrorCode MatSyncILUGet##Name(Mat F, Type *value) \
  { \
    SyncILUSettings *s; \
\
    PetscFunctionBegin; \
    PetscValidHeaderSpecific(F, MAT_CLASSID, 1); \
    PetscCall(MatSyncILUGetSettings(F, &s)); \
    PetscCheck(s, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG, "Not a factor of solver type syncilu"); \
    *value = s->field; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/*@
   PCSyncILUSetBackend, PCSyncILUGetBackend, MatSyncILUSetBackend, MatSyncILUGetBackend - where factorizations and solves run

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - `SYNCILU_BACKEND_AUTO` (default), `SYNCILU_BACKEND_HOST` or `SYNCILU_BACKEND_CUDA`

   Options Database Key:
.  -pc_syncilu_backend (auto|host|cuda) - the backend

   Level: intermediate

   Notes:
   Takes effect at the next symbolic phase. Asking for a backend that this build or machine does not have is an error then; what auto took, and why, is in the view.

   Auto takes the GPU where there is one, from 8,000 rows on a rank, unless its memory is too small for the plan. The device is the one that PETSc uses or, by -device_select or the rank, would use; with
   a PETSc without CUDA the rank on the node chooses, as the launcher of the MPI program tells it (else the rank). Several ranks may share a device.

   On a GPU numbers are real in double precision, and indices have 32 bits: rows, nonzeros and entries with padding up to 2^31 - 1024 on a rank. Where only diagonals have updates, as in 5- and 7-point
   stencils, products of two entries of the matrix must be within the range of numbers. Arrays that PETSc has on the device are used there, others are carried through pinned buffers; the view says
   which.

   All setters of syncilu have no effect on objects of other types. Those for a `PC` of type `PCILU` need the operators to be set, as PCFactorSetUpMatSolverType() does.

.seealso: `SyncILUBackend`, `PCSYNCILU`, `MATSOLVERSYNCILU`
@*/
SYNCILU_SETTING(Backend, SyncILUBackend, backend, PetscValidLogicalCollectiveEnum, CheckBackend)

/*@
   PCSyncILUSetUpdate, PCSyncILUGetUpdate, MatSyncILUSetUpdate, MatSyncILUGetUpdate - how the factorization on a GPU finds the entries that two rows share

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - the strategy, default `SYNCILU_UPDATE_AUTO`

   Options Database Key:
.  -pc_syncilu_update (auto|shared|vect|adapt|parallel|list|flow) - the strategy

   Level: advanced

   Note:
   Takes effect at the next symbolic phase. The CUDA backend has list and vect so far, and the others are an error there. Where rows are too long for list, the view and -info say so and vect runs; auto
   also turns to vect where lists take so much that plan and factor would have more than three times the bytes of the matrix. The host backend has one way, a dense work row a thread, and says so in the view.

.seealso: `SyncILUUpdate`, `PCSyncILUSetPrefetch()`, `PCSyncILUSetVectorSize()`
@*/
SYNCILU_SETTING(Update, SyncILUUpdate, update, PetscValidLogicalCollectiveEnum, CheckUpdate)

/*@
   PCSyncILUSetPrefetch, PCSyncILUGetPrefetch, MatSyncILUSetPrefetch, MatSyncILUGetPrefetch - intersect the patterns of two rows while waiting for the values of one

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - `PETSC_TRUE` (default) or `PETSC_FALSE`

   Options Database Key:
.  -pc_syncilu_prefetch (true|false) - on or off

   Level: advanced

   Note:
   Concerns the strategies vect and adapt on a GPU. Takes effect at the next symbolic phase.

.seealso: `PCSyncILUSetUpdate()`
@*/
SYNCILU_SETTING(Prefetch, PetscBool, prefetch, PetscValidLogicalCollectiveBool, CheckBool)

/*@
   PCSyncILUSetVectorSize, PCSyncILUGetVectorSize, MatSyncILUSetVectorSize, MatSyncILUGetVectorSize - lanes that share a row on a GPU

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - 1, 2, 4, 8, 16 or 32, or 0 (default) to let the library choose

   Options Database Key:
.  -pc_syncilu_vector_size (0|1|2|4|8|16|32) - the number of lanes

   Level: advanced

   Note:
   Takes effect at the next symbolic phase. The factorization takes at least 4 lanes, 32 in numerical order, and for list as many as its longest row needs; csr always takes 32. The view says how many.

.seealso: `PCSyncILUSetUpdate()`, `PCSyncILUSetSolve()`
@*/
SYNCILU_SETTING(VectorSize, PetscInt, vector_size, PetscValidLogicalCollectiveInt, CheckVectorSize)

/*@
   PCSyncILUSetAnalysis, PCSyncILUGetAnalysis, MatSyncILUSetAnalysis, MatSyncILUGetAnalysis - the order in which rows are handed out

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - `SYNCILU_ANALYSIS_AUTO` (default), `SYNCILU_ANALYSIS_NONE`, `SYNCILU_ANALYSIS_ASAP` or `SYNCILU_ANALYSIS_ALAP`

   Options Database Key:
.  -pc_syncilu_analysis (auto|none|asap|alap) - the order

   Level: intermediate

   Notes:
   Takes effect at the next symbolic phase. The factor does not depend on it, only the time does.

   On the host, auto is numerical order, and one thread always works in numerical order.

   On a GPU, auto takes the rows in tiles where the solves are of the type `SYNCILU_SOLVE_ELL` and the numbering of the rows follows a grid: 32 lanes have the rows of a small box each, wait once for
   what these need from outside of it, and pass the rest through registers. On such a grid each row depends only on rows that are not before it in any direction (5-point, 7-point and Kuhn
   triangulations in natural order), as it stands or slanted (9- and 27-point stencils, whose rows depend on neighbours on both sides of the line before). The grid is found in the pattern, no `DM` is
   asked. With several unknowns a point, all of which depend on each other, the rows of a point are a tile. Where rows make long chains of successive ones, as in a tridiagonal matrix, a tile is a run
   of rows. Otherwise auto is by level, the rows of L at their earliest and, if the pattern is symmetric, those of U at their latest one.

.seealso: `SyncILUAnalysis`
@*/
SYNCILU_SETTING(Analysis, SyncILUAnalysis, analysis, PetscValidLogicalCollectiveEnum, CheckAnalysis)

/*@
   PCSyncILUSetSolve, PCSyncILUGetSolve, MatSyncILUSetSolve, MatSyncILUGetSolve - how a GPU runs the triangular solves

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - the strategy, default `SYNCILU_SOLVE_AUTO`

   Options Database Key:
.  -pc_syncilu_solve (auto|csr|mr|hyb|ell|flow|levelset) - the strategy

   Level: advanced

   Note:
   Takes effect at the next symbolic phase. The CUDA backend has ell and csr so far, and the others are an error there. On the host a thread takes a row, whatever is asked for, and the view says so.

.seealso: `SyncILUSolve`
@*/
SYNCILU_SETTING(Solve, SyncILUSolve, solve, PetscValidLogicalCollectiveEnum, CheckSolve)

/*@
   PCSyncILUSetThreads, PCSyncILUGetThreads, MatSyncILUSetThreads, MatSyncILUGetThreads - threads of the host backend

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - from 1 to 4096 a rank, or `PETSC_DECIDE` (default) for the first number in the environment variable OMP_NUM_THREADS, or 1 where that is not set

   Options Database Key:
.  -pc_syncilu_threads <n> - the number of threads

   Level: intermediate

   Note:
   Results are the same, bit for bit, with any number of threads. Each thread of a factorization needs work space of one vector.

.seealso: `PCSyncILUSetAnalysis()`
@*/
SYNCILU_SETTING(Threads, PetscInt, threads, PetscValidLogicalCollectiveInt, CheckThreads)

/*@
   PCSyncILUSetRelax, PCSyncILUGetRelax, MatSyncILUSetRelax, MatSyncILUGetRelax - relaxed (modified) incomplete factorization

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - w, between 0 (default, plain ILU) and 1 (modified ILU)

   Options Database Key:
.  -pc_syncilu_relax <w> - the relaxation

   Level: beginner

   Notes:
   What the elimination of row i drops is added, times w, to the diagonal of row i; with w = 1 the factor keeps the row sums, LU e = A e. On elliptic problems values near 0.99 take a third of the
   iterations and cost nothing more to apply. It is made for M-matrices and elliptic operators; elsewhere pivots may shrink to nothing, which is a breakdown like any other.

   Do not test w = 1 with the right-hand side A e: it is solved in one step.

   Takes effect at the next factorization.

   References:
   I. Gustafsson, A class of first order factorization methods, BIT 18 (1978); O. Axelsson, G. Lindskog, On the eigenvalue distribution of a class of preconditioning methods, Numer. Math. 48 (1986).

.seealso: `PCSYNCILU`
@*/
SYNCILU_SETTING(Relax, PetscReal, relax, PetscValidLogicalCollectiveReal, CheckRelax)

/*@
   PCSyncILUSetCheck, PCSyncILUGetCheck, MatSyncILUSetCheck, MatSyncILUGetCheck - run the serial reference beside, and compare

   Logically Collective (the getters Not Collective)

   Input Parameters:
+  pc or F - the preconditioner, or a factored matrix of `MATSOLVERSYNCILU`
-  value   - `PETSC_TRUE` or `PETSC_FALSE` (default)

   Options Database Key:
.  -pc_syncilu_check - compare

   Level: developer

   Notes:
   Each factorization and each solve is done again by the serial reference. The first row that differs is an error, PETSC_ERR_PLIB, that names it. The host's backend must give the same bits, on a GPU
   1e-10 of the largest entry of a row (of a solution) may be between.

   Takes effect at the next factorization.

.seealso: `PCSYNCILU`
@*/
SYNCILU_SETTING(Check, PetscBool, check, PetscValidLogicalCollectiveBool, CheckBool)
