/*
   What is the same for every backend: the choice of one, the plan and whether it still fits, the attempts
   with growing shifts.
*/
#include "engine.h"
#include <stdint.h>

void SyncILUSettingsInitialize(SyncILUSettings *s)
{
  s->backend      = SYNCILU_BACKEND_AUTO;
  s->update       = SYNCILU_UPDATE_AUTO;
  s->analysis     = SYNCILU_ANALYSIS_AUTO;
  s->solve        = SYNCILU_SOLVE_AUTO;
  s->prefetch     = PETSC_BOOL3_UNKNOWN;
  s->vector_size  = 0;
  s->ordering     = SYNCILU_ORDERING_GIVEN;
  s->block_size   = 0;
  s->symmetric    = PETSC_FALSE;
  s->threads      = PETSC_DECIDE;
  s->relax        = 0.0;
  s->sweeps       = SYNCILU_SWEEPS;
  s->asynchronous = PETSC_FALSE;
  s->fill         = SYNCILU_SEARCH_FILL;
  s->rounds       = SYNCILU_SEARCH_ROUNDS;
  s->tolerance    = 0.0;
  s->brief        = PETSC_FALSE;
  s->residual     = PETSC_FALSE;
  s->check        = PETSC_FALSE;
  s->tune         = PETSC_FALSE;
  s->grid_from    = SYNCILU_GRID_UNKNOWN;
  for (int c = 0; c < 4; c++) s->grid[c] = 0;

  s->solve_sweeps     = 3;
  s->solve_block_size = SYNCILU_JACOBI_BLOCK;
}

PetscErrorCode SyncILUSweepsView(const SyncILUSettings *s, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "solve: jacobi, %" PetscInt_FMT " sweeps, blocks of %" PetscInt_FMT ": approximate\n", s->solve_sweeps,
                                   s->solve_block_size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the order in which auto prefers them. The last one takes everything. */
static const SyncILUBackendOps *const backends[] = {
#if defined(SYNCILU_HAVE_CUDA)
  &SyncILUCUDAOps,
#endif
  &SyncILUHostOps};

enum {
  BACKENDS = sizeof(backends) / sizeof(backends[0])
};

/* Called when the package is finalized. */
PetscErrorCode SyncILUEngineFinalize(void)
{
  PetscFunctionBegin;
  for (int k = 0; k < BACKENDS; k++) {
    if (backends[k]->finalize) PetscCall((*backends[k]->finalize)());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether arrays on a device are of use: the comparison with the reference looks at those of the host. */
PetscBool SyncILUEngineTakesDevice(SyncILUEngine e)
{
  return (PetscBool)(e->ops->device && !e->settings.check);
}

/*
   The fingerprint of a pattern: two sums, modulo 2^64, of a hash of each of its entries (i,j). What is hashed
   is the number 0x9E3779B97F4A7C15 i + j, and in the second sum that number plus 0xD1B54A32D192ED03. The hash
   is the last step of splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014). A sum does not depend on the
   order of its terms, so that a device may add them up as it likes.

   Nor does a sum see in which order a row has its columns. In patterns that were planned for, columns ascend;
   for each that does not one is added, which makes the fingerprint another one.
*/
static inline PetscInt64 Hash(uint64_t x)
{
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return (PetscInt64)(x ^ (x >> 31));
}

void SyncILUCSRFingerprint(const SyncILUCSR *A, PetscInt64 fingerprint[2])
{
  uint64_t sum[2] = {0, 0};

  for (PetscInt i = 0; i < A->n; i++) {
    const uint64_t key = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);

    for (PetscInt k = A->i[i]; k < A->i[i + 1]; k++) {
      sum[0] += (uint64_t)Hash(key + (uint64_t)A->j[k]);
      sum[1] += (uint64_t)Hash(key + (uint64_t)A->j[k] + UINT64_C(0xD1B54A32D192ED03));
      if (k > A->i[i] && A->j[k] <= A->j[k - 1]) sum[0]++;
    }
  }
  for (int k = 0; k < 2; k++) fingerprint[k] = (PetscInt64)sum[k];
}

/* pending is set where the fingerprint stays on the device until it is asked for. NULL: it is waited for. */
static PetscErrorCode Fingerprint(SyncILUEngine e, const SyncILUSource *source, const SyncILUCSR *A, PetscInt64 fingerprint[2], PetscBool *pending)
{
  PetscFunctionBegin;
  if (pending) *pending = PETSC_FALSE;
  if (PetscMemTypeHost(A->mem)) SyncILUCSRFingerprint(A, fingerprint);
  else if (e->ops->fingerprint) {
    PetscCall((*e->ops->fingerprint)(e, A, NULL));
    if (pending) *pending = PETSC_TRUE;
    else PetscCall((*e->ops->fingerprint)(e, NULL, fingerprint));
  } else {
    SyncILUCSR host;

    PetscCall((*source->get)(source->ctx, PETSC_FALSE, PETSC_FALSE, &host));
    SyncILUCSRFingerprint(&host, fingerprint);
    PetscCall((*source->restore)(source->ctx, &host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows with more entries than that in the mean have many updates that D-ILU leaves out. */
#define MESH_ENTRIES 20.0

/*
   The relaxation that takes place. With update mesh it is for D-ILU alone, whose pivots are bounded, and where
   the ordering is bmc, with colors that follow the numbering: it loses iterations where they do not, and pivots
   of ILU may vanish in that ordering.
*/
static void TakeRelaxation(SyncILUEngine e)
{
  const SyncILUBlocks *b   = &e->blocks;
  const PetscBool      bmc = (PetscBool)(e->settings.ordering != SYNCILU_ORDERING_GIVEN && b->size > 0);

  if (e->update != SYNCILU_UPDATE_MESH) return;
  e->settings.relax = e->settings.update != SYNCILU_UPDATE_DILU || (bmc && !b->along) ? 0.0 : e->relax;
}

/* What update mesh is; why says so. */
static PetscErrorCode TakeUpdate(SyncILUEngine e, SyncILUUpdate update, const char why[])
{
  PetscFunctionBegin;
  e->settings.update = update;
  e->settings.brief  = (PetscBool)(update == SYNCILU_UPDATE_AUTO);
  if (e->settings.brief) e->settings.relax = 0.0;
  PetscCall(PetscSNPrintf(e->chosen, sizeof(e->chosen), "%s, %s", SyncILUUpdates[update], why));
  PetscCall(PetscInfo(NULL, "Update mesh: %s\n", e->chosen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineChooseUpdate - which factorization update mesh is, if that is not known yet

   Not Collective

   Input Parameters:
+  e      - the engine, whose settings have what is chosen
.  n      - the rows
.  nnz    - their entries
-  groups - how many groups of successive rows with the same columns they are

   Note:
   Groups are the unknowns of a point, where D-ILU takes many more iterations than ILU(0). Boundary conditions may
   make some of them smaller.
*/
PetscErrorCode SyncILUEngineChooseUpdate(SyncILUEngine e, PetscInt n, PetscInt nnz, PetscInt groups)
{
  const double mean = (double)nnz / PetscMax(n, 1);
  char         why[96];

  PetscFunctionBegin;
  if (n && 2.0 * (double)n >= 3.0 * (double)groups) {
    PetscCall(PetscSNPrintf(why, sizeof(why), "several unknowns a point: %.3g successive rows have one pattern in the mean", (double)n / (double)groups));
    PetscCall(TakeUpdate(e, SYNCILU_UPDATE_AUTO, why));
  } else if (mean > MESH_ENTRIES) {
    PetscCall(PetscSNPrintf(why, sizeof(why), "rows have %.3g entries in the mean", mean));
    PetscCall(TakeUpdate(e, SYNCILU_UPDATE_AUTO, why));
  } else PetscCall(TakeUpdate(e, SYNCILU_UPDATE_DILU, "one unknown a point and short rows"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before a plan. Where update mesh is auto whatever the rows are like; else whoever looks through them chooses. */
static PetscErrorCode BeginUpdate(SyncILUEngine e)
{
  PetscFunctionBegin;
  e->settings.update = e->update;
  e->settings.brief  = PETSC_FALSE;
  e->chosen[0]       = 0;
  if (e->update != SYNCILU_UPDATE_MESH) PetscFunctionReturn(PETSC_SUCCESS);
  e->settings.relax = e->relax;
  if (e->bs > 1) PetscCall(TakeUpdate(e, SYNCILU_UPDATE_AUTO, "the matrix has blocks"));
  else if (e->settings.symmetric) PetscCall(TakeUpdate(e, SYNCILU_UPDATE_AUTO, "the factorization is symmetric"));
  else if (e->fill.levels) PetscCall(TakeUpdate(e, SYNCILU_UPDATE_AUTO, "there are levels of fill"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Groups of successive rows with the same columns. */
static PetscErrorCode CountGroups(const SyncILUCSR *A, PetscInt *groups)
{
  PetscFunctionBegin;
  *groups = PetscMin(A->n, 1);
  for (PetscInt i = 1; i < A->n; i++) {
    const PetscInt length = A->i[i + 1] - A->i[i];
    PetscBool      same   = (PetscBool)(A->i[i] - A->i[i - 1] == length);

    if (same) PetscCall(PetscArraycmp(A->j + A->i[i - 1], A->j + A->i[i], length, &same));
    if (!same) (*groups)++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The symbolic phase on the host. */
static PetscErrorCode Symbolic(SyncILUEngine e, const SyncILUCSR *A)
{
  PetscInt      *row = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SyncILUPatternDestroy(&e->pattern));
  PetscCall(SyncILUGridCheck(&e->settings, A));
  if (e->settings.update == SYNCILU_UPDATE_MESH) {
    PetscInt groups;

    PetscCall(CountGroups(A, &groups));
    PetscCall(SyncILUEngineChooseUpdate(e, A->n, A->n ? A->i[A->n] : 0, groups));
  }
  if (!e->row && e->settings.ordering != SYNCILU_ORDERING_GIVEN) {
    e->blocks.request = e->settings.ordering;
    e->blocks.size    = e->settings.block_size;
    e->blocks.along   = e->settings.block_along;
    PetscCall(SyncILUBlocksChoose(&e->settings, e->ops->reorder, A, &e->blocks));
    PetscCall(SyncILUBlocksOrder(A, &row, &e->blocks));
  }
  ierr = SyncILUPatternCreate(A, row ? row : e->row, row ? row : e->col, e->fill, &e->pattern);
  PetscCall(PetscFree(row));
  /* also where the user has said that the matrix is symmetric: a half is computed by both patterns */
  if (!ierr && e->settings.symmetric) ierr = SyncILUCheckSymmetric(A);
  if (ierr) PetscCall(SyncILUPatternDestroy(&e->pattern));
  PetscCall(ierr);
  e->pattern.half = (PetscBool)(e->settings.symmetric && e->ops->symmetric);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the backend at work sees a matrix of blocks as one of points. */
static PetscBool SeesPoints(SyncILUEngine e)
{
  return (PetscBool)(e->bs > 1 && !e->ops->blocks);
}

/* The matrix as the backend at work sees it. */
static SyncILUSource Seen(SyncILUEngine e, const SyncILUSource *source)
{
  SyncILUSource seen = *source;

  if (SeesPoints(e)) SyncILUDerivedSource(&e->points, source, SyncILUMakePoints, &seen);
  return seen;
}

/* The plan of e->ops; what the machine lacks for it is in e->unfit then. */
static PetscErrorCode Plan(SyncILUEngine e, const SyncILUSource *source)
{
  PetscBool      needpattern = PETSC_TRUE;
  SyncILUCSR     A;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  e->unfit[0]  = 0;
  e->unrelaxed = e->relaxed = e->pattern.upper = PETSC_FALSE;
  if (!e->settings.check && !e->pattern.lptr) {
    PetscCall((*source->get)(source->ctx, SyncILUEngineTakesDevice(e), PETSC_FALSE, &A));
    ierr = SyncILUGridCheck(&e->settings, &A);
    if (!ierr) ierr = (*e->ops->plan)(e, &A, &needpattern);
    PetscCall((*source->restore)(source->ctx, &A));
    PetscCall(ierr);
  }
  /* also where the rows lack something, which the symbolic phase adds or names */
  if (needpattern && !e->unfit[0]) {
    if (!e->pattern.lptr) {
      PetscCall((*source->get)(source->ctx, PETSC_FALSE, PETSC_FALSE, &A));
      ierr = Symbolic(e, &A);
      PetscCall((*source->restore)(source->ctx, &A));
      PetscCall(ierr);
    }
    PetscCall((*e->ops->plan)(e, NULL, &needpattern));
  }
  if (e->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  e->pattern.bs = PetscMax(e->pattern.bs, 1); /* a backend's own pattern has none */
  PetscCall((*source->get)(source->ctx, SyncILUEngineTakesDevice(e), PETSC_FALSE, &A));
  e->identity = A;
  ierr        = Fingerprint(e, source, &A, e->fingerprint, &e->pending);
  PetscCall((*source->restore)(source->ctx, &A));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Unplan(SyncILUEngine e)
{
  PetscFunctionBegin;
  if (e->ops) PetscCall((*e->ops->destroy)(e));
  e->ops = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Why a backend cannot have the points of the blocks; e->unfit is empty if it can. */
static PetscErrorCode CheckPoints(SyncILUEngine e, const SyncILUSource *source)
{
  SyncILUCSR A;

  PetscFunctionBegin;
  e->unfit[0] = 0;
  PetscCall((*source->get)(source->ctx, PETSC_FALSE, PETSC_FALSE, &A));
  if (A.nnz > PETSC_MAX_INT / (e->bs * e->bs))
    PetscCall(PetscSNPrintf(e->unfit, sizeof(e->unfit), "the points of %" PetscInt_FMT " blocks have more entries than an index counts", A.nnz));
  for (PetscInt i = 0; i < A.n && e->fill.diagonal_fill && !e->unfit[0]; i++) {
    PetscInt k = A.i[i];

    while (k < A.i[i + 1] && A.j[k] != i) k++;
    if (k == A.i[i + 1]) PetscCall(PetscStrncpy(e->unfit, "a diagonal block is missing, which only the host adds", sizeof(e->unfit)));
  }
  PetscCall((*source->restore)(source->ctx, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan with the backend's view of the matrix and of the ordering that comes with it. */
static PetscErrorCode PlanSeen(SyncILUEngine e, const SyncILUSource *source)
{
  const PetscInt *row = e->row, *col = e->col;
  PetscInt       *rows = NULL, *cols = NULL;
  SyncILUSource   points;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  if (!SeesPoints(e)) {
    PetscCall(Plan(e, source));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckPoints(e, source));
  if (e->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  points = Seen(e, source);
  ierr   = SyncILUPointsOrdering(e->n / e->bs, e->bs, row, &rows);
  if (!ierr) ierr = SyncILUPointsOrdering(e->n / e->bs, e->bs, col, &cols);
  e->row = rows;
  e->col = cols;
  if (!ierr) ierr = Plan(e, &points);
  e->row = row;
  e->col = col;
  PetscCall(PetscFree(rows));
  PetscCall(PetscFree(cols));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   From how many rows on auto takes a backend for a matrix of so many; without a source it is one on the host.
*/
static PetscErrorCode LeastRows(const SyncILUBackendOps *ops, const SyncILUSettings *settings, const SyncILUSource *source, PetscInt n, PetscInt *least)
{
  SyncILUCSR A;

  PetscFunctionBegin;
  *least = ops->least;
  /* the check brings the matrix to the host */
  if (!source || settings->solve != SYNCILU_SOLVE_JACOBI || settings->check || n < ops->least_swept || n >= ops->least) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*source->get)(source->ctx, PETSC_TRUE, PETSC_FALSE, &A));
  if (PetscMemTypeDevice(A.mem)) *least = ops->least_swept;
  PetscCall((*source->restore)(source->ctx, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the user may mean a backend for so many rows, and it is there; else why says why not. */
static PetscErrorCode MayTake(const SyncILUBackendOps *ops, const SyncILUSettings *settings, const SyncILUSource *source, PetscInt n, PetscBool *may,
                              char why[], size_t len)
{
  const SyncILUBackend asked = settings->backend;

  PetscFunctionBegin;
  *may = PETSC_FALSE;
  if (asked != SYNCILU_BACKEND_AUTO && asked != ops->backend) PetscFunctionReturn(PETSC_SUCCESS);
  if (asked == SYNCILU_BACKEND_AUTO) {
    PetscInt least;

    PetscCall(LeastRows(ops, settings, source, n, &least));
    if (n < least) {
      PetscCall(PetscSNPrintf(why, len, "%" PetscInt_FMT " rows on this rank, a GPU is used from %" PetscInt_FMT " on", n, least));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  *may = PETSC_TRUE;
  if (ops->available) PetscCall((*ops->available)(may, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineGetReorder - how the backend that would be taken decides whether a matrix had better be factored
   in an ordering with few levels

   Not Collective

   Input Parameters:
+  settings - what the user asked for
-  n        - number of rows

   Output Parameter:
.  reorder - as in SyncILUBackendOps; NULL where levels do not matter, or no backend would be taken
*/
PetscErrorCode SyncILUEngineGetReorder(const SyncILUSettings *settings, PetscInt n, SyncILUReorder *reorder)
{
  PetscBool may = PETSC_FALSE;
  char      unused[160];

  PetscFunctionBegin;
  *reorder = NULL;
  for (int k = 0; k < BACKENDS && !may; k++) {
    PetscCall(MayTake(backends[k], settings, NULL, n, &may, unused, sizeof(unused)));
    if (may) *reorder = backends[k]->reorder;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan of the first backend that the user may mean and that can; e->why says why it is that one. */
static PetscErrorCode PlanSomewhere(SyncILUEngine e, const SyncILUSource *source)
{
  const SyncILUBackend asked = e->settings.backend;
  PetscErrorCode       code  = PETSC_ERR_SUP;
  char                 why[sizeof(e->why) - 8];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(why, sizeof(why), "this build has no %s backend", asked == SYNCILU_BACKEND_AUTO ? "GPU" : SyncILUBackends[asked]));
  for (int k = 0; k < BACKENDS; k++) {
    const SyncILUBackendOps *ops = backends[k];
    PetscBool                may;

    if (e->pivoted && !ops->blocks) {
      PetscCall(PetscStrncpy(why, "a pivot vanishes unless it is chosen within its block, which only the host does", sizeof(why)));
      continue;
    }
    if (e->nosearch[0] && ops->device) {
      PetscCall(PetscStrncpy(why, e->nosearch, sizeof(why)));
      continue;
    }
    PetscCall(MayTake(ops, &e->settings, source, e->n, &may, why, sizeof(why)));
    if (!may) continue;
    e->ops = ops;
    PetscCall(PlanSeen(e, source));
    if (!e->unfit[0]) {
      if (asked != SYNCILU_BACKEND_AUTO) PetscCall(PetscStrncpy(e->why, "asked for", sizeof(e->why)));
      else if (ops->device)
        PetscCall(PetscSNPrintf(e->why, sizeof(e->why), "auto: a GPU is there and the rank has %" PetscInt_FMT " rows or more",
                                e->n < ops->least ? ops->least_swept : ops->least));
      else {
        PetscCall(PetscSNPrintf(e->why, sizeof(e->why), "auto: %s", why));
        PetscCall(PetscInfo(NULL, "Backend %s: %s\n", SyncILUBackends[ops->backend], why));
      }
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    /* a pattern without arrays was this backend's, taken from the rows of the matrix; or it is one of points, or not of a half */
    if (!e->pattern.lptr || SeesPoints(e) || e->settings.symmetric) PetscCall(SyncILUPatternDestroy(&e->pattern));
    PetscCall(Unplan(e));
    PetscCall(PetscStrncpy(why, e->unfit, sizeof(why)));
    code = PETSC_ERR_LIB;
  }
  SETERRQ(PETSC_COMM_SELF, code, "-pc_syncilu_backend %s: %s%s", SyncILUBackends[asked], why, code == PETSC_ERR_SUP ? "; use host or auto" : "");
}

static PetscErrorCode PlanCounted(SyncILUEngine e, const SyncILUSource *source, const PetscInt *row, const PetscInt *col)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(BeginUpdate(e));
  e->row = row;
  e->col = col;
  ierr   = PlanSomewhere(e, source);
  e->row = e->col = NULL;
  if (ierr) {
    PetscCall(Unplan(e));
    PetscCall(SyncILUPatternDestroy(&e->pattern));
  } else {
    e->analyses++;
    TakeRelaxation(e);
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineCreate - picks the backend and plans a factorization

   Not Collective

   Input Parameters:
+  settings - what the user asked for
.  n        - number of rows
.  source   - the matrix; its values are not looked at
.  row      - row i of the factor is row row[i] of the matrix, or block row of a matrix of blocks; NULL together
              with col for the natural ordering
.  col      - column j of the factor is column col[j] of the matrix
-  fill     - levels of fill, and whether missing diagonal entries are added

   Output Parameter:
.  engine - the planned factorization, NULL after an error

   Errors:
   What a backend that the user asked for lacks; what is wrong with the pattern (see SyncILUPatternCreate());
   blocks, which solve jacobi does not know.

   Note:
   Where the user leaves the choice to the library, a backend that cannot is followed by the next one, and the
   view says why.
*/
PetscErrorCode SyncILUEngineCreate(const SyncILUSettings *settings, PetscInt n, const SyncILUSource *source, const PetscInt *row, const PetscInt *col,
                                   SyncILUFill fill, SyncILUEngine *engine)
{
  SyncILUEngine  e;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *engine = NULL;
  /* D would be that of the blocks on the host, and that of their points on a device */
  PetscCheck(source->bs == 1 || settings->solve != SYNCILU_SOLVE_JACOBI, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_syncilu_solve jacobi: not for matrices of blocks, here of %" PetscInt_FMT " rows; use type aij", source->bs);
  PetscCall(PetscNew(&e));
  e->n          = n;
  e->bs         = source->bs;
  e->fill       = fill;
  e->settings   = *settings;
  e->update     = settings->update;
  e->relax      = settings->relax;
  e->solve      = settings->solve;
  e->status.row = -1;
  e->residual   = -1.0;
  ierr          = PlanCounted(e, source, row, col);
  /* an error here is the user's to handle, and not the last thing the program does */
  if (ierr) PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(ierr);
  *engine = e;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUEngineDestroy(SyncILUEngine *engine)
{
  SyncILUEngine e = *engine;

  PetscFunctionBegin;
  if (!e) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Unplan(e));
  PetscCall(SyncILUPatternDestroy(&e->pattern));
  PetscCall(SyncILUDerivedDestroy(&e->points));
  PetscCall(PetscFree(e->ref));
  PetscCall(PetscFree(*engine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Plans again, for another pattern or to have its arrays, with the same fill and settings, and the ordering
   that was given; one that the engine makes is made anew.
*/
static PetscErrorCode PlanAnew(SyncILUEngine e, const SyncILUSource *source)
{
  const PetscBool given = (PetscBool)(e->settings.ordering == SYNCILU_ORDERING_GIVEN);
  PetscInt       *row = given ? e->pattern.row : NULL, *col = given ? e->pattern.col : NULL;
  PetscErrorCode  ierr;

  PetscFunctionBegin;
  if (given) e->pattern.row = e->pattern.col = NULL; /* the ordering outlives the pattern */
  if (row && SeesPoints(e)) {                        /* it was one of points */
    for (PetscInt b = 0; b < e->n / e->bs; b++) {
      row[b] = row[b * e->bs] / e->bs;
      col[b] = col[b * e->bs] / e->bs;
    }
  }
  PetscCall(Unplan(e));
  PetscCall(SyncILUPatternDestroy(&e->pattern));
  PetscCall(PetscFree(e->ref));
  e->flops          = 0.0;
  e->settings.solve = e->solve;
  e->tuning[0]      = 0;
  ierr              = PlanCounted(e, source, row, col);
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(col));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineRow - which row of the matrix is a row of the factor

   Not Collective

   Input Parameters:
+  e - a planned engine
-  i - the row of the factor

   Output Parameter:
.  row - the row of the matrix
*/
PetscErrorCode SyncILUEngineRow(SyncILUEngine e, PetscInt i, PetscInt *row)
{
  const PetscInt bs = e->pattern.bs;

  PetscFunctionBegin;
  *row = e->pattern.row ? e->pattern.row[i / bs] * bs + i % bs : i;
  if (!e->pattern.row && !e->pattern.lptr && e->ops->row) PetscCall((*e->ops->row)(e, i, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRows(SyncILUEngine e, const SyncILUCSR *A)
{
  const PetscInt n = A->n * SyncILUBlockSize(A);

  PetscFunctionBegin;
  PetscCheck(n == e->n, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "The matrix has %" PetscInt_FMT " rows, the one of the symbolic phase had %" PetscInt_FMT, n,
             e->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the plan fits this matrix. The pattern is looked at where it may be another one. A matrix that fits
   is remembered.
*/
static PetscErrorCode PlanFits(SyncILUEngine e, const SyncILUSource *source, const SyncILUCSR *A, PetscBool *fits)
{
  PetscInt64 fingerprint[2];

  PetscFunctionBegin;
  *fits = PETSC_TRUE;
  if (e->settings.check && !e->pattern.lptr) {
    PetscCall(PetscInfo(NULL, "-pc_syncilu_check was switched on after the symbolic phase, which is done again for the reference\n"));
    *fits = PETSC_FALSE;
  } else if (e->unrelaxed && e->settings.relax != 0.0) {
    PetscCall(PetscInfo(NULL, "Relaxation was switched on after the symbolic phase, which is done again\n"));
    *fits = PETSC_FALSE;
  } else if (e->relaxed && e->settings.relax == 0.0) {
    PetscCall(PetscInfo(NULL, "Relaxation was switched off after the symbolic phase, which is done again for what is faster without\n"));
    *fits = PETSC_FALSE;
  } else if (!SyncILUSameIdentity(A, &e->identity)) {
    if (e->pending) PetscCall((*e->ops->fingerprint)(e, NULL, e->fingerprint));
    e->pending = PETSC_FALSE;
    if (A->nnz == e->identity.nnz) PetscCall(Fingerprint(e, source, A, fingerprint, NULL));
    *fits = (PetscBool)(A->nnz == e->identity.nnz && fingerprint[0] == e->fingerprint[0] && fingerprint[1] == e->fingerprint[1]);
    if (*fits) e->identity = *A;
    else PetscCall(PetscInfo(NULL, "The matrix has another pattern than in the symbolic phase, which is done again\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What sweeps and D-ILU do not do. */
static PetscErrorCode CheckUpdate(const SyncILUSettings *s, PetscInt bs)
{
  const char *name = SyncILUUpdates[s->update];

  PetscFunctionBegin;
  if (s->update == SYNCILU_UPDATE_DILU) {
    PetscCheck(bs == 1, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "-pc_syncilu_update %s: not for the blocks of %" PetscInt_FMT " rows of a matrix of type baij; use type aij", name, bs);
    PetscCheck(!s->symmetric, PETSC_COMM_SELF, PETSC_ERR_SUP,
               "-pc_syncilu_update %s: not for incomplete Cholesky factorization (-pc_syncilu_symmetric, -pc_type icc, matrices of type sbaij); "
               "use -pc_type syncilu and type aij, where the factor of a symmetric matrix is symmetric",
               name);
  }
  if (!SyncILUSweeps(s)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(bs == 1, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_syncilu_update %s: not for the blocks of %" PetscInt_FMT " rows of a matrix of type baij; use type aij", name, bs);
  PetscCheck(s->relax == 0.0, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_update %s: sweeps have no relaxation (-pc_syncilu_relax %g)", name,
             (double)s->relax);
  PetscCheck(s->update != SYNCILU_UPDATE_PARILUT || !s->check, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_syncilu_check: not with -pc_syncilu_update %s, which finds its pattern together with the values, and has no other one to compare with", name);
  PetscCheck(!s->asynchronous || !s->symmetric, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_syncilu_sweeps_asynchronous: not for incomplete Cholesky factorization, since asynchronous sweeps leave no symmetric factor");
  PetscCheck(!s->asynchronous || !s->check, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "-pc_syncilu_check: asynchronous sweeps differ from run to run, and there is no reference to compare them with");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How pivots are judged in the first attempt. */
static SyncILUPivoting FirstPivoting(SyncILUEngine e, const MatFactorInfo *info)
{
  /* points of blocks are not shifted: where a pivot vanishes, the backend that knows blocks is next */
  const MatFactorShiftType type = SeesPoints(e) ? MAT_SHIFT_NONE : (MatFactorShiftType)(int)info->shifttype;
  const PetscReal          dilu = e->settings.update == SYNCILU_UPDATE_DILU ? SYNCILU_DILU_LEAST : 0.0;
  SyncILUPivoting          piv  = {type, info->zeropivot, 0.0, e->settings.relax, SyncILUSweeps(&e->settings), dilu};

  if (type == MAT_SHIFT_INBLOCKS) piv.amount = info->shiftamount;
  return piv;
}

/* As many attempts as the shift takes. */
static PetscErrorCode Attempts(SyncILUEngine e, const SyncILUCSR *A, const MatFactorInfo *info, SyncILUPivoting *last)
{
  const PetscInt           max      = 5; /* bisections, as PETSc's */
  SyncILUPivoting          piv      = FirstPivoting(e, info);
  const MatFactorShiftType type     = piv.shift;
  PetscReal                fraction = 0.0, lo = 0.0, hi = 1.0, top = 0.0;
  PetscBool                again;

  PetscFunctionBegin;
  e->attempts = 0;
  do {
    const PetscReal before = piv.amount;

    again = PETSC_FALSE;
    PetscCall((*e->ops->factor)(e, A, &piv, &e->status));
    if (e->settings.check) PetscCall(SyncILUCheckFactor(e, A, &piv));
    else PetscCall(PetscFree(e->ref)); /* of older values */
    if (e->status.row >= 0 && e->status.shift) {
      if (type == MAT_SHIFT_NONZERO) piv.amount = e->attempts ? 2 * piv.amount : info->shiftamount;
      else {
        if (!e->attempts) { /* most matrices need no shift, and nobody has to read them once more */
          PetscCall((*e->ops->excess)(e, A, &top));
          top = 1.1 * PetscMax(top, info->zeropivot);
        }
        if (e->attempts == max) fraction = hi;
        else {
          lo       = fraction;
          fraction = (hi + lo) / 2;
        }
        piv.amount = fraction * top;
      }
      again = (PetscBool)(piv.amount > before || (type == MAT_SHIFT_POSITIVE_DEFINITE && e->attempts == max));
    } else if (type == MAT_SHIFT_POSITIVE_DEFINITE && !e->settings.symmetric && e->status.row < 0 && fraction > 0 && e->attempts < max) {
      /* PETSc's ICC takes the first shift that does */
      hi         = fraction;
      fraction   = (hi + lo) / 2;
      piv.amount = fraction * top;
      again      = PETSC_TRUE;
    }
    if (again) e->attempts++;
  } while (again);
  e->amount = piv.amount;
  if (type != MAT_SHIFT_INBLOCKS) e->status.shifted = piv.amount > 0 ? e->pattern.n : 0;
  else if (!e->status.shifted) e->amount = 0.0;
  *last = piv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numeric phase, and once for a plan what tuning makes of it. */
static PetscErrorCode FactorTuned(SyncILUEngine e, const SyncILUCSR *A, const MatFactorInfo *info)
{
  SyncILUPivoting piv;
  PetscBool       again = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(Attempts(e, A, info, &piv));
  if (e->settings.tune && !e->tuning[0] && e->status.row < 0) PetscCall(SyncILUTune(e, A, &piv, &again));
  if (again) PetscCall(Attempts(e, A, info, &piv));
  e->residual = -1.0;
  if (e->settings.residual && e->status.row < 0) PetscCall((*e->ops->residual)(e, A, &e->residual));
  e->factorizations++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Of parilut: the pattern for the values. Where a device lacks something for it, auto is to plan anew,
   elsewhere.
*/
static PetscErrorCode SearchPattern(SyncILUEngine e, const SyncILUCSR *A, const MatFactorInfo *info, PetscBool *anew)
{
  const SyncILUPivoting piv = FirstPivoting(e, info);

  PetscFunctionBegin;
  *anew = PETSC_FALSE;
  if (e->settings.update != SYNCILU_UPDATE_PARILUT || !e->settings.rounds) PetscFunctionReturn(PETSC_SUCCESS);
  if (e->pending) PetscCall((*e->ops->fingerprint)(e, NULL, e->fingerprint));
  e->pending  = PETSC_FALSE; /* it goes with the plan */
  e->unfit[0] = 0;
  e->flops    = 0.0;
  PetscCall((*e->ops->search)(e, A, &piv, &e->search));
  if (!e->unfit[0]) {
    PetscCall(PetscInfo(NULL, "Pattern found in %" PetscInt_FMT " rounds: %" PetscInt_FMT " entries, those smaller than %g left out\n", e->search.rounds,
                        e->pattern.nl + e->pattern.nu + e->pattern.n, (double)e->search.threshold));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (e->settings.backend != SYNCILU_BACKEND_AUTO) {
    PetscCall(Unplan(e));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU_RESOURCE, "-pc_syncilu_update parilut: %s; less -pc_syncilu_fill, or -pc_syncilu_backend host", e->unfit);
  }
  PetscCall(PetscInfo(NULL, "The pattern is searched for elsewhere: %s\n", e->unfit));
  PetscCall(PetscStrncpy(e->nosearch, e->unfit, sizeof(e->nosearch)));
  *anew = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numeric phase; or, where anew comes back, what is planned is for another matrix. */
static PetscErrorCode FactorSeen(SyncILUEngine e, const SyncILUSource *source, const MatFactorInfo *info, PetscBool *anew)
{
  const SyncILUSource seen = Seen(e, source);
  SyncILUCSR          A;
  PetscBool           fits = PETSC_TRUE;
  PetscErrorCode      ierr;

  PetscFunctionBegin;
  *anew = PETSC_FALSE;
  PetscCall((*seen.get)(seen.ctx, SyncILUEngineTakesDevice(e), PETSC_TRUE, &A));
  ierr = CheckRows(e, &A);
  if (!ierr) ierr = PlanFits(e, &seen, &A, &fits);
  if (!ierr && fits) ierr = SearchPattern(e, &A, info, anew);
  if (!ierr && fits && !*anew) ierr = FactorTuned(e, &A, info);
  PetscCall((*seen.restore)(seen.ctx, &A));
  PetscCall(ierr);
  if (!fits) *anew = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineFactor - the numeric phase, with as many attempts as the shift takes

   Not Collective

   Input Parameters:
+  e      - the planned factorization
.  source - the matrix
-  info   - shift type and amount, zero pivot

   Notes:
   Shifts have PETSc's meaning (MatPivotCheck() and MatLUFactorNumeric_SeqAIJ() there): a rejected pivot of
   MAT_SHIFT_NONZERO doubles what is added to the whole diagonal, one of MAT_SHIFT_POSITIVE_DEFINITE bisects
   between nothing and diagonal dominance, and MAT_SHIFT_INBLOCKS changes that pivot alone. What no shift can
   save, and what a shift of amount zero would try forever, is a breakdown. The outcome is in e->status.

   Of a matrix of blocks the diagonal block is inverted, with pivots chosen among its rows, and MAT_SHIFT_INBLOCKS
   replaces those that are zero (reference.h). There are no other shifts for blocks.

   A matrix of another pattern than the one that was planned for is planned for anew: PETSc does not tell all
   changes of a pattern (MatTranspose() in place, for one), and a plan for another pattern would read past the
   ends of rows, and wait on a device for rows that never come.

   After an error of that plan, which leaves e->ops NULL, the engine can only be destroyed.
*/
PetscErrorCode SyncILUEngineFactor(SyncILUEngine e, const SyncILUSource *source, const MatFactorInfo *info)
{
  PetscBool anew = PETSC_FALSE;

  PetscFunctionBegin;
  TakeRelaxation(e);
  PetscCall(CheckUpdate(&e->settings, source->bs));
  PetscCheck(source->bs == e->bs, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "The matrix has blocks of %" PetscInt_FMT " rows, the one of the symbolic phase had blocks of %" PetscInt_FMT, source->bs, e->bs);
  PetscCall(FactorSeen(e, source, info, &anew));
  for (int k = 0; k < 2 && anew; k++) { /* for another matrix, and where a device cannot search */
    PetscCall(PlanAnew(e, source));
    PetscCall(FactorSeen(e, source, info, &anew));
  }
  if (SeesPoints(e) && e->status.row >= 0 && e->settings.backend == SYNCILU_BACKEND_AUTO) {
    PetscInt row;

    PetscCall(SyncILUEngineRow(e, e->status.row, &row));
    PetscCall(PetscInfo(NULL, "The pivot of row %" PetscInt_FMT " vanishes on the %s backend, which chooses none within blocks: the host does\n", row,
                        SyncILUBackends[e->ops->backend]));
    e->pivoted = PETSC_TRUE;
    e->factorizations--; /* this one goes on */
    PetscCall(PlanAnew(e, source));
    PetscCall(SyncILUDerivedDestroy(&e->points));
    PetscCall(FactorSeen(e, source, info, &anew));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   How often the elimination updates an entry: for each (i,k) of L, the entries of row k of U that row i has.
*/
static PetscErrorCode CountUpdates(const SyncILUPattern *p, PetscInt64 *updates)
{
  PetscInt *row;

  PetscFunctionBegin;
  *updates = 0;
  PetscCall(PetscMalloc1(p->n, &row));
  for (PetscInt i = 0; i < p->n; i++) row[i] = -1;
  for (PetscInt i = 0; i < p->n; i++) {
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) row[p->lcol[k]] = i;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) row[p->ucol[k]] = i;
    row[i] = i;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      for (PetscInt u = p->uptr[p->lcol[k]]; u < p->uptr[p->lcol[k] + 1]; u++) *updates += row[p->ucol[u]] == i;
    }
  }
  PetscCall(PetscFree(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineFlops - the operations of the last numeric phase: two for each update, one for each entry of L
   and each pivot, or what products and inverses of blocks take; and that for each attempt. Operations of
   relaxation are not counted

   Not Collective

   Input Parameter:
.  e - a factored engine

   Output Parameter:
.  flops - counted when first asked for, which takes as long as a factorization without values
*/
PetscErrorCode SyncILUEngineFlops(SyncILUEngine e, PetscLogDouble *flops)
{
  PetscFunctionBegin;
  if (e->flops == 0.0) {
    const PetscLogDouble bs = (PetscLogDouble)e->pattern.bs, product = 2 * bs * bs * bs;
    PetscInt64           updates = e->pattern.nl; /* of D-ILU: of a pivot for each entry of L */

    if (e->settings.update != SYNCILU_UPDATE_DILU) {
      if (e->ops->updates) PetscCall((*e->ops->updates)(e, &updates));
      else PetscCall(CountUpdates(&e->pattern, &updates));
    }
    if (e->pattern.half) updates = (updates + e->pattern.nl) / 2; /* those of diagonals, and half of the others */
    e->flops = product * (PetscLogDouble)updates + (product - bs * bs) * (PetscLogDouble)e->pattern.nl +
               (product - 2 * bs * bs + bs) * (PetscLogDouble)e->pattern.n;
  }
  *flops = e->flops * PetscMax(1, SyncILUSweeps(&e->settings)) * (1 + e->attempts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUEngineSolve - solves with the factor

   Not Collective

   Input Parameters:
+  e     - a factored engine
.  trans - the system or its transpose (not the Hermitian transpose)
.  nrhs  - number of right-hand sides
.  b     - the right-hand sides, one after another
.  ldb   - distance of two right-hand sides, at least the number of rows
.  ldx   - likewise of two solutions
-  mem   - where b and x are; on a device only for a backend that takes it, which then does not wait for the
           result

   Output Parameter:
.  x - the solutions; b itself is allowed if ldb equals ldx
*/
PetscErrorCode SyncILUEngineSolve(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx,
                                  PetscMemType mem)
{
  const PetscInt n    = e->n;
  const size_t   size = nrhs ? (size_t)ldb * (nrhs - 1) + n : 0;
  PetscScalar   *copy = NULL;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCheck(!e->settings.check || PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "-pc_syncilu_check looks at arrays on the host");
  /* the check needs the right-hand sides after they are overwritten */
  if (e->settings.check && e->ref && b == x) {
    PetscCall(PetscMalloc1(size, &copy));
    PetscCall(PetscArraycpy(copy, b, size));
  }
  ierr = (*e->ops->solve)(e, trans, nrhs, b, ldb, x, ldx, mem);
  if (e->settings.check && e->ref && n) {
    for (PetscInt r = 0; r < nrhs && !ierr; r++) ierr = SyncILUCheckSolve(e, trans, (copy ? copy : b) + (size_t)r * ldb, x + (size_t)r * ldx);
  }
  PetscCall(PetscFree(copy));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUEngineStatistics(SyncILUEngine e, SyncILUStatistics *s)
{
  const SyncILUPattern *p    = &e->pattern;
  const PetscInt64      both = (PetscInt64)p->nl + p->nu + p->n;

  PetscFunctionBegin;
  s->backend         = e->ops->backend;
  s->rows            = e->n;
  s->nonzeros        = (p->half ? both - p->nl : both) * p->bs * p->bs;
  s->fill            = p->nnz ? (PetscReal)both / (PetscReal)p->nnz : 1.0;
  s->diagonals_added = p->added;
  s->pivots_shifted  = e->status.shifted;
  s->shift_attempts  = e->attempts;
  s->shift_amount    = e->amount;
  s->failed_row      = e->status.row;
  s->failed_pivot    = e->status.row >= 0 ? e->status.pivot : 0.0;
  s->residual        = e->residual;
  s->rounds          = e->search.rounds;
  s->factorizations  = e->factorizations;
  s->analyses        = e->analyses;
  s->bytes           = SyncILUPatternBytes(p) + SyncILUDerivedBytes(&e->points);
  PetscCall((*e->ops->statistics)(e, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
