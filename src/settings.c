/*
   The settings of syncilu: their values, flags, lines in the view, and the methods that set and get them.
*/
#include "syncilu_impl.h"

const char *const SyncILUBackends[] = {"auto", "host", "cuda", "SyncILUBackend", "SYNCILU_BACKEND_", NULL};
const char *const SyncILUUpdates[]  = {"auto",   "shared",  "vect", "adapt", "parallel",      "levelset",        "list", "bsr", "struct",
                                       "parilu", "parilut", "dilu", "mesh",  "SyncILUUpdate", "SYNCILU_UPDATE_", NULL};
const char *const SyncILUAnalyses[] = {"auto", "none", "asap", "alap", "SyncILUAnalysis", "SYNCILU_ANALYSIS_", NULL};
const char *const SyncILUSolves[]   = {"auto", "csr",    "mr",     "hyb",          "levelset",       "ell", "cluster",
                                       "bsr",  "struct", "jacobi", "SyncILUSolve", "SYNCILU_SOLVE_", NULL};

static PetscErrorCode CheckBackend(SyncILUBackend v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_BACKEND_AUTO && v <= SYNCILU_BACKEND_CUDA, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_backend: no such backend %d",
             (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckUpdate(SyncILUUpdate v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_UPDATE_AUTO && v <= SYNCILU_UPDATE_MESH, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_update: no such strategy %d",
             (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAnalysis(SyncILUAnalysis v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_ANALYSIS_AUTO && v <= SYNCILU_ANALYSIS_ALAP, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_analysis: no such order %d",
             (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolve(SyncILUSolve v)
{
  PetscFunctionBegin;
  PetscCheck(v >= SYNCILU_SOLVE_AUTO && v <= SYNCILU_SOLVE_JACOBI, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_solve: no such strategy %d", (int)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolveSweeps(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v >= 0 && v <= 10000, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_solve_sweeps: %" PetscInt_FMT " is not between 0 and 10000", v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolveBlockSize(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v == 1 || v == SYNCILU_JACOBI_BLOCK, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_syncilu_solve_block_size: %" PetscInt_FMT " is neither 1 nor %d", v, SYNCILU_JACOBI_BLOCK);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPrefetch(PetscBool3 v)
{
  (void)v;
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckSweeps(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_sweeps: %" PetscInt_FMT " is not positive", v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSweepsAsynchronous(PetscBool v)
{
  (void)v;
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckFill(PetscReal v)
{
  PetscFunctionBegin;
  PetscCheck(v > 0.0 && v <= 1e6, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_fill: %g is not positive, or beyond 1e6", (double)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRounds(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v >= 0 && v <= 10000, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_rounds: %" PetscInt_FMT " is not between 0 and 10000", v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRoundsTolerance(PetscReal v)
{
  PetscFunctionBegin;
  PetscCheck(v >= 0.0 && v <= 1.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-pc_syncilu_rounds_tolerance: %g is not between 0 and 1", (double)v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckResidual(PetscBool v)
{
  (void)v;
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckSymmetric(PetscBool v)
{
  (void)v;
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckTune(PetscBool v)
{
  (void)v;
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckCheck(PetscBool v)
{
  (void)v;
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckVectorSize(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v >= 0 && v <= 32 && !(v & (v - 1)), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_syncilu_vector_size: %" PetscInt_FMT " is not 0 or a power of two up to 32", v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckThreads(PetscInt v)
{
  PetscFunctionBegin;
  PetscCheck(v == PETSC_DECIDE || (v > 0 && v <= 4096), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_syncilu_threads: %" PetscInt_FMT " is not between 1 and 4096", v);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeros take a grid away. */
static PetscErrorCode SetGrid(SyncILUSettings *s, const PetscInt grid[4])
{
  PetscBool none = PETSC_TRUE;

  PetscFunctionBegin;
  for (int c = 0; c < 4; c++) none = (PetscBool)(none && !grid[c]);
  for (int c = 0; c < 4; c++)
    PetscCheck(none || (grid[c] > 0 && grid[c] <= PETSC_MPI_INT_MAX), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_syncilu_grid %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ": all must be positive, or all zero for none", grid[0],
               grid[1], grid[2], grid[3]);
  s->grid_from = none ? SYNCILU_GRID_UNKNOWN : SYNCILU_GRID_GIVEN;
  for (int c = 0; c < 4; c++) s->grid[c] = grid[c];
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
  PetscBool flg, prefetch = (PetscBool)(s->prefetch != PETSC_BOOL3_FALSE);
  PetscInt  n, count = 4, grid[] = {s->grid[0], s->grid[1], s->grid[2], s->grid[3]};
  PetscReal x;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "SyncILU options");
  PetscCall(
    PetscOptionsEnum("-pc_syncilu_backend", "Where it runs", "PCSyncILUSetBackend", SyncILUBackends, (PetscEnum)s->backend, (PetscEnum *)&s->backend, NULL));
  PetscCall(PetscOptionsEnum("-pc_syncilu_update", "How it is factored, on a GPU", "PCSyncILUSetUpdate", SyncILUUpdates, (PetscEnum)s->update,
                             (PetscEnum *)&s->update, NULL));
  PetscCall(PetscOptionsBool("-pc_syncilu_prefetch", "Find them while waiting for the row", "PCSyncILUSetPrefetch", prefetch, &prefetch, &flg));
  if (flg) s->prefetch = prefetch ? PETSC_BOOL3_TRUE : PETSC_BOOL3_FALSE;
  PetscCall(PetscOptionsInt("-pc_syncilu_vector_size", "Lanes a row on a GPU, 0: the library chooses", "PCSyncILUSetVectorSize", s->vector_size, &n, &flg));
  if (flg) {
    PetscCall(CheckVectorSize(n));
    s->vector_size = n;
  }
  PetscCall(PetscOptionsEnum("-pc_syncilu_analysis", "Order in which rows are handed out", "PCSyncILUSetAnalysis", SyncILUAnalyses, (PetscEnum)s->analysis,
                             (PetscEnum *)&s->analysis, NULL));
  PetscCall(PetscOptionsEnum("-pc_syncilu_solve", "How a GPU runs the triangular solves", "PCSyncILUSetSolve", SyncILUSolves, (PetscEnum)s->solve,
                             (PetscEnum *)&s->solve, NULL));
  PetscCall(PetscOptionsInt("-pc_syncilu_solve_sweeps", "jacobi: sweeps of each triangular solve", "PCSyncILUSetSolveSweeps", s->solve_sweeps, &n, &flg));
  if (flg) {
    PetscCall(CheckSolveSweeps(n));
    s->solve_sweeps = n;
  }
  PetscCall(PetscOptionsInt("-pc_syncilu_solve_block_size", "jacobi: rows of a diagonal block", "PCSyncILUSetSolveBlockSize", s->solve_block_size, &n, &flg));
  if (flg) {
    PetscCall(CheckSolveBlockSize(n));
    s->solve_block_size = n;
  }
  PetscCall(PetscOptionsIntArray("-pc_syncilu_grid", "Points of x, y and z, and unknowns a point", "PCSyncILUSetGrid", grid, &count, &flg));
  if (flg) {
    for (PetscInt c = count; c < 4; c++) grid[c] = count && grid[0] ? 1 : 0;
    PetscCall(SetGrid(s, grid));
  }
  PetscCall(PetscOptionsInt("-pc_syncilu_threads", "Threads on the host, default OMP_NUM_THREADS, else 1", "PCSyncILUSetThreads", s->threads, &n, &flg));
  if (flg) {
    PetscCall(CheckThreads(n));
    s->threads = n;
  }
  PetscCall(PetscOptionsReal("-pc_syncilu_relax", "Dropped fill is added times this to the diagonal", "PCSyncILUSetRelax", s->relax, &x, &flg));
  if (flg) {
    PetscCall(CheckRelax(x));
    s->relax = x;
  }
  PetscCall(PetscOptionsReal("-pc_syncilu_fill", "parilut: entries of L and U over those of the matrix", "PCSyncILUSetFill", s->fill, &x, &flg));
  if (flg) {
    PetscCall(CheckFill(x));
    s->fill = x;
  }
  PetscCall(PetscOptionsInt("-pc_syncilu_rounds", "parilut: rounds in which the pattern is found", "PCSyncILUSetRounds", s->rounds, &n, &flg));
  if (flg) {
    PetscCall(CheckRounds(n));
    s->rounds = n;
  }
  PetscCall(PetscOptionsReal("-pc_syncilu_rounds_tolerance", "parilut: change of the threshold after which no round comes", "PCSyncILUSetRoundsTolerance",
                             s->tolerance, &x, &flg));
  if (flg) {
    PetscCall(CheckRoundsTolerance(x));
    s->tolerance = x;
  }
  PetscCall(PetscOptionsInt("-pc_syncilu_sweeps", "Sweeps of parilu and parilut", "PCSyncILUSetSweeps", s->sweeps, &n, &flg));
  if (flg) {
    PetscCall(CheckSweeps(n));
    s->sweeps = n;
  }
  PetscCall(PetscOptionsBool("-pc_syncilu_sweeps_asynchronous", "Sweeps of parilu and parilut in place, on a GPU", "PCSyncILUSetSweepsAsynchronous",
                             s->asynchronous, &s->asynchronous, NULL));
  PetscCall(PetscOptionsBool("-pc_syncilu_residual", "Compute the norm of A - LU on the pattern", "PCSyncILUSetResidual", s->residual, &s->residual, NULL));
  PetscCall(PetscOptionsBool("-pc_syncilu_symmetric", "Incomplete Cholesky factorization", "PCSyncILUSetSymmetric", s->symmetric, &s->symmetric, NULL));
  PetscCall(PetscOptionsBool("-pc_syncilu_tune", "Time strategies on the matrix, and keep the best", "PCSyncILUSetTune", s->tune, &s->tune, NULL));
  PetscCall(PetscOptionsBool("-pc_syncilu_check", "Compare with the serial reference", "PCSyncILUSetCheck", s->check, &s->check, NULL));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUSettingsView(const SyncILUSettings *s, PetscViewer viewer)
{
  char threads[32], grid[96];

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "relaxation: %g\n", (double)s->relax));
  if (s->threads == PETSC_DECIDE) PetscCall(PetscStrncpy(threads, "from OMP_NUM_THREADS", sizeof(threads)));
  else PetscCall(PetscSNPrintf(threads, sizeof(threads), "%" PetscInt_FMT, s->threads));
  if (s->grid_from == SYNCILU_GRID_GIVEN)
    PetscCall(PetscSNPrintf(grid, sizeof(grid), "%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT, s->grid[0], s->grid[1], s->grid[2],
                            s->grid[3]));
  else PetscCall(PetscStrncpy(grid, "auto", sizeof(grid)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "asked for: backend %s, analysis %s, threads %s, symmetric %s, tune %s, check %s\n", SyncILUBackends[s->backend],
                                   SyncILUAnalyses[s->analysis], threads, PetscBools[s->symmetric], PetscBools[s->tune], PetscBools[s->check]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "asked for on a GPU: update %s, prefetch %s, vector size %" PetscInt_FMT ", solve %s, grid %s\n",
                                   SyncILUUpdates[s->update], s->prefetch == PETSC_BOOL3_UNKNOWN ? "auto" : PetscBools[s->prefetch == PETSC_BOOL3_TRUE],
                                   s->vector_size, SyncILUSolves[s->solve], grid));
  PetscCall(PetscViewerASCIIPrintf(viewer, "asked for with solve jacobi: sweeps %" PetscInt_FMT ", block size %" PetscInt_FMT "\n", s->solve_sweeps,
                                   s->solve_block_size));
  PetscCall(PetscViewerASCIIPrintf(viewer, "asked for with parilu: sweeps %" PetscInt_FMT ", asynchronous %s; residual %s\n", s->sweeps,
                                   PetscBools[s->asynchronous], PetscBools[s->residual]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "asked for with parilut: fill %g, rounds %" PetscInt_FMT ", tolerance %g\n", (double)s->fill, s->rounds,
                                   (double)s->tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The methods behind the public setters and getters, composed with each object that has settings. */
#define METHODS(Name, Type, field) \
  static PetscErrorCode PCSyncILUSet##Name##_SyncILU(PC pc, Type value) \
  { \
    SyncILUShared *shared; \
\
    PetscFunctionBegin; \
    PetscCall(Check##Name(value)); \
    PetscCall(SyncILUGetShared((PetscObject)pc, &shared)); \
    if (shared->settings.field != value) { \
      shared->settings.field = value; \
      PetscUseMethod(pc, "PCSyncILUSettingsChanged_C", (PC), (pc)); \
    } \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
\
  static PetscErrorCode PCSyncILUGet##Name##_SyncILU(PC pc, Type *value) \
  { \
    SyncILUShared *shared; \
\
    PetscFunctionBegin; \
    PetscCall(SyncILUGetShared((PetscObject)pc, &shared)); \
    *value = shared->settings.field; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
\
  static PetscErrorCode MatSyncILUSet##Name##_SyncILU(Mat F, Type value) \
  { \
    SyncILUShared *shared; \
\
    PetscFunctionBegin; \
    PetscCall(Check##Name(value)); \
    PetscCall(SyncILUGetShared((PetscObject)F, &shared)); \
    shared->settings.field = value; \
    PetscCall(MatSyncILUSettingsChanged(F)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
\
  static PetscErrorCode MatSyncILUGet##Name##_SyncILU(Mat F, Type *value) \
  { \
    SyncILUShared *shared; \
\
    PetscFunctionBegin; \
    PetscCall(SyncILUGetShared((PetscObject)F, &shared)); \
    *value = shared->settings.field; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }

/* Each setting: its name in setters and getters, its type, its field. */
#define SETTINGS(X) \
  X(Backend, SyncILUBackend, backend) \
  X(Update, SyncILUUpdate, update) \
  X(Prefetch, PetscBool3, prefetch) \
  X(VectorSize, PetscInt, vector_size) \
  X(Analysis, SyncILUAnalysis, analysis) \
  X(Solve, SyncILUSolve, solve) \
  X(SolveSweeps, PetscInt, solve_sweeps) \
  X(SolveBlockSize, PetscInt, solve_block_size) \
  X(Threads, PetscInt, threads) \
  X(Relax, PetscReal, relax) \
  X(Fill, PetscReal, fill) \
  X(Rounds, PetscInt, rounds) \
  X(RoundsTolerance, PetscReal, tolerance) \
  X(Sweeps, PetscInt, sweeps) \
  X(SweepsAsynchronous, PetscBool, asynchronous) \
  X(Residual, PetscBool, residual) \
  X(Symmetric, PetscBool, symmetric) \
  X(Tune, PetscBool, tune) \
  X(Check, PetscBool, check)

SETTINGS(METHODS)

static PetscErrorCode PCSyncILUSetGrid_SyncILU(PC pc, const PetscInt grid[4])
{
  SyncILUShared *shared;
  PetscBool      same;

  PetscFunctionBegin;
  PetscCall(SyncILUGetShared((PetscObject)pc, &shared));
  PetscCall(PetscArraycmp(shared->settings.grid, grid, 4, &same));
  PetscCall(SetGrid(&shared->settings, grid));
  if (!same) PetscUseMethod(pc, "PCSyncILUSettingsChanged_C", (PC), (pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSyncILUSetGrid_SyncILU(Mat F, const PetscInt grid[4])
{
  SyncILUShared *shared;

  PetscFunctionBegin;
  PetscCall(SyncILUGetShared((PetscObject)F, &shared));
  PetscCall(SetGrid(&shared->settings, grid));
  PetscCall(MatSyncILUSettingsChanged(F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of both kinds of objects. */
static PetscErrorCode GetGrid_SyncILU(PetscObject object, PetscInt grid[4])
{
  SyncILUShared *shared;

  PetscFunctionBegin;
  PetscCall(SyncILUGetShared(object, &shared));
  PetscCall(PetscArraycpy(grid, shared->settings.grid, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUSharedCreate(PetscContainer *container)
{
  SyncILUShared *shared;

  PetscFunctionBegin;
  PetscCall(PetscNew(&shared));
  SyncILUSettingsInitialize(&shared->settings);
  shared->bmc_along = PETSC_BOOL3_UNKNOWN;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, container));
  PetscCall(PetscContainerSetPointer(*container, shared));
  PetscCall(SyncILUContainerFreesPointer(*container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUGetShared(PetscObject object, SyncILUShared **shared)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery(object, SYNCILU_SHARED_KEY, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm(object), PETSC_ERR_PLIB, "Object of type %s has no settings of syncilu", object->type_name);
  PetscCall(PetscContainerGetPointer(container, (void **)shared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define COMPOSE_PC(Name, Type, field) \
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSet" #Name "_C", container ? PCSyncILUSet##Name##_SyncILU : NULL)); \
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUGet" #Name "_C", container ? PCSyncILUGet##Name##_SyncILU : NULL));
#define COMPOSE_MAT(Name, Type, field) \
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatSyncILUSet" #Name "_C", container ? MatSyncILUSet##Name##_SyncILU : NULL)); \
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatSyncILUGet" #Name "_C", container ? MatSyncILUGet##Name##_SyncILU : NULL));

PetscErrorCode PCSyncILUComposeShared(PC pc, PetscContainer container)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)pc, SYNCILU_SHARED_KEY, (PetscObject)container));
  SETTINGS(COMPOSE_PC)
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSetGrid_C", container ? PCSyncILUSetGrid_SyncILU : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "SyncILUGetGrid_C", container ? GetGrid_SyncILU : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSyncILUComposeShared(Mat F, PetscContainer container)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)F, SYNCILU_SHARED_KEY, (PetscObject)container));
  SETTINGS(COMPOSE_MAT)
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatSyncILUSetGrid_C", container ? MatSyncILUSetGrid_SyncILU : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)F, "SyncILUGetGrid_C", container ? GetGrid_SyncILU : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
