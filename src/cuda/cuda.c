/*
   The CUDA backend: what the engine calls. The rooms beside this file do the work: a plan, triangular
   systems, a factorization.
*/
#include "cuda.h"
#include "choose.h"
#include "struct.h"
#include "../../kernels/factor.h"
#include "../../kernels/pattern.h"

/* Room for x: so many numbers each. The first is filled with sentinels. */
static PetscErrorCode MakeRoom(CUDA *d, size_t want)
{
  Plan *plan = &d->plan;

  PetscFunctionBegin;
  if (d->xsize >= want) PetscFunctionReturn(PETSC_SUCCESS);
  plan->taken -= d->xmemory.bytes; /* nothing if the last attempt found no memory */
  if (d->xsize) {
    PetscCall(PlanRelease(plan, &d->xmemory, 0));
    PetscCall(DeviceSettle(plan->stream));
  }
  d->xsize = 0;
  for (int k = 0; k < 2 && !plan->unfit[0]; k++) PetscCall(PlanAlloc(plan, &d->xmemory, want * plan->size, &d->x[k]));
  if (plan->unfit[0]) {
    PetscCall(PlanRelease(plan, &d->xmemory, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  plan->taken += d->xmemory.bytes;
  d->xsize = want;
  CallCUDA(cudaMemsetAsync(d->x[0], 0xff, want * plan->size, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for solves that gather lines, whose x has no sentinels. */
static PetscErrorCode MakeRoomToGather(CUDA *d, size_t want)
{
  Plan *plan = &d->plan;

  PetscFunctionBegin;
  if (d->gathered.size >= want) PetscFunctionReturn(PETSC_SUCCESS);
  plan->taken -= d->gathered.memory.bytes;
  if (d->gathered.size) {
    PetscCall(PlanRelease(plan, &d->gathered.memory, 0));
    PetscCall(DeviceSettle(plan->stream));
  }
  d->gathered.size = 0;
  PlanCall(PlanAlloc(plan, &d->gathered.memory, want * plan->size, &d->gathered.x));
  plan->taken += d->gathered.memory.bytes;
  d->gathered.size = want;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of x that a right-hand side takes. */
static size_t Room(const CUDA *d)
{
  return PetscMax((size_t)d->plan.pattern.n, d->triangle[PART_L].room);
}

/* Two triangular systems that are solved one after the other, and how they meet the matrix' numbering. */
static PetscErrorCode CreatePair(CUDA *d, const SolveOps *ops, PetscBool transposed)
{
  Plan      *plan    = &d->plan;
  const Part part[2] = {transposed ? PART_UT : PART_L, transposed ? PART_LT : PART_U};
  Triangle  *t[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    t[k] = &d->triangle[part[k]];
    PlanCall(TriangleCreate(plan, ops, part[k], transposed ? &d->triangle[k ? PART_L : PART_U] : NULL, t[k]));
  }
  PlanCall(TriangleLink(t[0], t[1], transposed ? plan->col : plan->row, transposed ? plan->row : plan->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the statistics for tiles are left until tiles are wanted: where a grid is given, or the DM's, the solve
   goes along its lines most likely.
*/
static PetscBool TilesAreLate(const Plan *plan)
{
  return (PetscBool)(plan->settings->grid_from != SYNCILU_GRID_UNKNOWN && !plan->row);
}

static PetscErrorCode Tile(Plan *plan)
{
  PetscFunctionBegin;
  if (TilesAreLate(plan)) PlanCall(PlanFindStatistics(plan, PETSC_TRUE));
  PlanCall(PlanTile(plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan, once the pattern is there. */
PetscErrorCode PlanStrategies(SyncILUEngine e)
{
  CUDA                *d    = (CUDA *)e->data;
  const PetscBool      any  = (PetscBool)(e->settings.solve == SYNCILU_SOLVE_AUTO && e->settings.update != SYNCILU_UPDATE_STRUCT); /* any solve will do */
  Plan                *plan = &d->plan;
  const SolveOps      *ops, *usual;
  PetscInt64           taken;
  int                  mark;
  PetscBool            tile, tiled;
  char                 advice[256];
  SyncILUDevicePattern p;

  PetscFunctionBegin;
  PetscCall(ChooseSolve(plan, &ops));
  tile = (PetscBool)(ops->tiles && PlanMayTile(plan));
  PlanCall(PlanFindStatistics(plan, (PetscBool)(tile && !TilesAreLate(plan))));
  PetscCall(ChooseInodes(plan, &ops, d->why, sizeof(d->why)));
  usual = ops;
  PlanCall(ChooseLines(plan, &ops, d->why, sizeof(d->why)));
  if (tile && ops->tiles) PlanCall(Tile(plan));
  mark  = plan->scratch.n;
  tiled = plan->tiled;
  PlanCall(ChooseNarrow(plan, &ops, d->why, sizeof(d->why)));
  taken = plan->taken;
  PetscCall(CreatePair(d, ops, PETSC_FALSE));
  if (ops != usual && (plan->unfit[0] || (any && PlanBudget(plan) < 0.0))) { /* it takes more memory than others */
    PetscCall(PetscInfo(NULL, "Solve strategy %s: %s\n", SolveName(ops), plan->unfit[0] ? plan->unfit : "more memory than the default strategies may take"));
    if (e->settings.solve == SYNCILU_SOLVE_AUTO) d->why[0] = 0;
    else PetscCall(PetscSNPrintf(d->why, sizeof(d->why), "%s is asked for, but %s", SolveName(ops), plan->unfit));
    plan->unfit[0] = 0;
    plan->taken    = taken;
    plan->tiled    = tiled;
    PlanForgetLevels(plan);
    PetscCall(PlanForgetStencil(plan));
    for (int k = 1; k >= 0; k--) PetscCall(TriangleDestroy(&d->triangle[k]));
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
    if (tile && usual->tiles && !ops->tiles && !tiled) PlanCall(Tile(plan));
    PetscCall(CreatePair(d, usual, PETSC_FALSE));
  }
  if (plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(AdviseOrdering(plan, &d->triangle[PART_L], &d->triangle[PART_U], advice, sizeof(advice)));
  if (advice[0]) PetscCall(PetscInfo(NULL, "%s\n", advice));
  if (e->settings.backend == SYNCILU_BACKEND_AUTO) PlanCall(ChooseHost(plan, &d->triangle[PART_L], &d->triangle[PART_U], plan->unfit, sizeof(plan->unfit)));
  PlanCall(PlanAlloc(plan, &plan->memory, sizeof(*d->status), &d->status));
  PlanCall(MakeRoom(d, Room(d)));
  PlanCall(FactorizationCreate(plan, &d->triangle[PART_L], &d->triangle[PART_U], &d->factorization));
  for (int k = 0; k < 2; k++) d->triangle[k].order.position = NULL; /* goes with the scratch */
  e->unrelaxed     = (PetscBool)(d->factorization.half || d->factorization.ops->blocks);
  e->relaxed       = plan->relaxed;
  e->pattern.upper = (PetscBool)(d->factorization.half && !plan->row);
  /*
     what comes next is loaded, and what only the first factorization fills is taken, while auto can still
     turn to the host
  */
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelFingerprint(PetscMin(p.n, 1), p.ptr, p.col, plan->fingerprint, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  if (!DeviceIsPETScs()) PlanCall(PlanAlloc(plan, &plan->memory, (size_t)e->pattern.nnz * plan->size, &plan->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlanPattern(SyncILUEngine e, const SyncILUCSR *A, PetscBool *needpattern)
{
  Plan     *plan = &((CUDA *)e->data)->plan;
  PetscBool regular;

  PetscFunctionBegin;
  if (A) {
    PlanCall(PlanFromMatrix(plan, e, A, &regular));
    *needpattern = (PetscBool)!regular;
    if (!regular) PetscFunctionReturn(PETSC_SUCCESS);
  } else PlanCall(PlanUpload(plan, &e->pattern));
  PlanCall(PlanStrategies(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All that was planned from the pattern, and the pattern itself. */
PetscErrorCode ForgetStrategies(CUDA *d)
{
  PetscFunctionBegin;
  PetscCall(FactorizationDestroy(&d->factorization));
  for (int k = 3; k >= 0; k--) PetscCall(TriangleDestroy(&d->triangle[k]));
  PetscCall(PlanRelease(&d->plan, &d->xmemory, 0));
  PetscCall(PlanRelease(&d->plan, &d->gathered.memory, 0));
  PetscCall(PlanDestroy(&d->plan));
  PetscCall(PetscFree3(d->values.l, d->values.u, d->values.dinv));
  d->xsize                = 0;
  d->gathered.size        = 0;
  d->values.generation    = UNKNOWN;
  d->eisenstat.generation = UNKNOWN;
  d->why[0]               = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_CUDA(SyncILUEngine e)
{
  CUDA *d = (CUDA *)e->data;
  int   before;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(&d->plan, &before));
  PetscCall(PlanRelease(&d->plan, &d->stage_memory, 0));
  PetscCall(DeviceMemoryRelease(&d->start.memory, d->plan.stream, 0));
  PetscCall(ForgetStrategies(d));
  PetscCall(DeviceSettle(d->plan.stream));
  PetscCall(DeviceLeave(before));
  PetscCall(PetscFree(e->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plan_CUDA(SyncILUEngine e, const SyncILUCSR *A, PetscBool *needpattern)
{
  CUDA          *d;
  Plan          *plan;
  int            before;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *needpattern = PETSC_FALSE;
  PetscCall(PetscNew(&d));
  e->data                 = d;
  plan                    = &d->plan;
  d->values.generation    = UNKNOWN;
  d->eisenstat.generation = UNKNOWN;
  PetscCall(PlanCreate(plan, &e->settings));
  PetscCall(PlanEnter(plan, &before));
  ierr = PlanPattern(e, A, needpattern);
  if (ierr) PetscCall(DeviceLeave(before)); /* a strategy may not be for this pattern, after which a program may go on */
  PetscCall(ierr);
  PetscCall(PetscStrncpy(e->unfit, plan->unfit, sizeof(e->unfit))); /* the engine may turn to another backend */
  plan->unfit[0] = 0;
  PetscCall(PlanRelease(plan, &plan->scratch, 0));
  PetscCall(DeviceSettle(plan->stream));
  PetscCall(PlanLeave(plan, before));
  if (*needpattern) PetscCall(Destroy_CUDA(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Begins to make the fingerprint of a matrix, or waits for the last one that was begun: nobody needs most of
   them.
*/
static PetscErrorCode Fingerprint(SyncILUEngine e, const SyncILUCSR *A, PetscInt64 fingerprint[2])
{
  Plan *plan = &((CUDA *)e->data)->plan;

  PetscFunctionBegin;
  if (A) {
    CallCUDA(cudaMemsetAsync(plan->fingerprint, 0, 2 * sizeof(*plan->fingerprint), plan->stream));
    PlanLaunch(SyncILUKernelFingerprint((int)A->n, (const int *)A->i, (const int *)A->j, plan->fingerprint, plan->stream));
  } else PetscCall(DeviceReadBack(plan->stream, fingerprint, plan->fingerprint, 2 * sizeof(*fingerprint)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SyncILUDevicePivoting DevicePivoting(const SyncILUPivoting *piv, PetscBool symmetric)
{
  SyncILUDevicePivoting p = {.type      = SYNCILU_PIVOT_REJECT,
                             .zeropivot = (double)piv->zeropivot,
                             .amount    = (double)piv->amount,
                             .relax     = (double)piv->relax,
                             .right     = symmetric,
                             .least     = (double)piv->dilu};

  if (piv->shift == MAT_SHIFT_NONZERO) p.type = SYNCILU_PIVOT_SIZE;
  if (piv->shift == MAT_SHIFT_POSITIVE_DEFINITE) p.type = SYNCILU_PIVOT_SIGN;
  if (piv->shift == MAT_SHIFT_INBLOCKS) p.type = SYNCILU_PIVOT_SHIFT;
  return p;
}

/* What the status says of the row that is reported, after judging all rows where that takes whole rows. */
static PetscErrorCode CompleteStatus(CUDA *d, SyncILUDevicePattern pattern, const SyncILUDeviceValues *v, const SyncILUDevicePivoting *p)
{
  Plan                *plan = &d->plan;
  const Factorization *f    = &d->factorization;
  const void          *size = d->factor.w.values.a == v->a ? NULL : f->size;
  const PetscBool      kept = (PetscBool)(plan->crout != NULL);

  PetscFunctionBegin;
  if (d->factor.stored && !f->wrows.val && !d->factor.w.values.a && !p->right) { /* the rows of W are wanted one by one */
    PlanCall(PlanKeepCrout(plan, &plan->scratch));
    PlanCall((*d->triangle[PART_L].ops->values)(&d->triangle[PART_L], plan->crout));
  }
  PlanLaunch(SyncILUKernelStatus(plan->type, pattern, *v, f->wrows.val ? NULL : plan->crout, f->wrows, size, f->pivot, *p, d->status, plan->stream));
  if (!kept) plan->crout = NULL; /* it is in scratch */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What of the numeric phase runs on the device. */
static PetscErrorCode Factorize(CUDA *d, SyncILUDevicePattern pattern, const SyncILUDeviceValues *v, const SyncILUDevicePivoting *p)
{
  const PetscInt generation = d->factor.generation;
  Plan          *plan       = &d->plan;
  Factorization *f          = &d->factorization;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&d->factor, sizeof(d->factor)));
  d->factor.generation = generation + 1;
  d->factor.d          = f->pivot;
  PlanCall((*f->ops->factor)(f, v, p, d->status, &d->factor));
  if (plan->crout && d->factor.w.values.a == plan->crout && d->factor.u.values.a == plan->crout) plan->crout_generation = d->factor.generation;
  if (SyncILUPivotsRelative(p->type)) PlanCall(CompleteStatus(d, pattern, v, p));
  PetscCall(DeviceStatusRequest(plan->stream, d->status));
  /* goes on while the host reads the status */
  for (int k = 0; k < 2; k++) PlanCall(TriangleUpdate(&d->triangle[k ? PART_U : PART_L], &d->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Numeric(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUStatus *status)
{
  const SyncILUDevicePivoting p    = DevicePivoting(piv, e->settings.symmetric);
  CUDA                       *d    = (CUDA *)e->data;
  Plan                       *plan = &d->plan;
  Factorization              *f    = &d->factorization;
  const size_t                n    = (size_t)plan->pattern.n;
  SyncILUDevicePattern        pattern;
  SyncILUDeviceValues         v;
  SyncILUDeviceStatus         found;

  PetscFunctionBegin;
  PlanCall(PlanGetValues(plan, &e->pattern, A, &v));
  PlanCall(MakeRoom(d, Room(d)));
  f->workspace = d->x[1];
  if (SyncILUPivotsRelative(p.type) && !f->size) PlanCall(PlanAlloc(plan, &plan->memory, n * plan->size, &f->size));
  PlanCall(PlanGetPattern(plan, &pattern));
  f->wide = PETSC_FALSE;
  do {
    if (f->wide) PetscCall(PetscInfo(NULL, "Products of two entries leave the range of numbers: factored again with a wider one\n"));
    PetscCall(DeviceTimeBegin());
    PetscCall(Factorize(d, pattern, &v, &p));
    PetscCall(DeviceTimeEnd());
    if (plan->unfit[0]) break;
    PetscCall(DeviceStatusWait(&found));
    f->wide = (PetscBool)(found.range && !f->wide); /* rare: not worth more than another attempt */
  } while (f->wide);
  if (!plan->unfit[0] && found.row != INT_MAX && !SyncILUPivotsRelative(p.type)) {
    PetscCall(CompleteStatus(d, pattern, &v, &p));
    PetscCall(DeviceStatusRequest(plan->stream, d->status));
    PetscCall(DeviceStatusWait(&found));
  }
  PetscCall(PetscMemzero(&d->factor.w, sizeof(d->factor.w)));
  PetscCall(PetscMemzero(&d->factor.u, sizeof(d->factor.u)));
  d->factor.inverse = NULL; /* may be the workspace, whose address a transpose made later may get */
  if (plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanRestorePattern(plan, &pattern));
  status->row     = found.row == INT_MAX ? -1 : found.row;
  status->pivot   = status->row < 0 ? 0.0 : (PetscReal)found.pivot;
  status->shift   = (PetscBool)(status->row >= 0 && found.shiftable);
  status->shifted = found.shifted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plans the transposes at the first solve with them, and brings the values of the last factorization. */
static PetscErrorCode PrepareTransposes(CUDA *d)
{
  Plan           *plan       = &d->plan;
  const PetscInt  generation = d->factor.generation;
  const PetscBool first      = (PetscBool)!d->triangle[PART_LT].ops;

  PetscFunctionBegin;
  if (first) {
    PetscCall(CreatePair(d, d->triangle[PART_L].ops, PETSC_TRUE));
    PetscCall(PlanRelease(plan, &plan->scratch, 0));
    for (int k = PART_LT; k <= PART_UT && plan->unfit[0]; k++) PetscCall(TriangleDestroy(&d->triangle[k]));
    PetscCall(DeviceSettle(plan->stream));
    if (plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (d->triangle[PART_LT].generation == generation && d->triangle[PART_UT].generation == generation) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(CroutUpdate(d, &plan->scratch)); /* which they copy, unless they are kept */
  for (int k = PART_LT; k <= PART_UT; k++) PlanCall(TriangleUpdate(&d->triangle[k], &d->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half a solve leaves behind what only the other half makes good. */
PetscErrorCode ResetSolves(CUDA *d)
{
  Plan *plan = &d->plan;

  PetscFunctionBegin;
  if (d->xsize) CallCUDA(cudaMemsetAsync(d->x[0], 0xff, d->xsize * plan->size, plan->stream));
  CallCUDA(cudaMemsetAsync(plan->ticket, 0, 2 * sizeof(*plan->ticket), plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* So many right-hand sides stand side by side in x; 0: as many as the strategies take. */
static int Side(const Triangle *first, const Triangle *second, int nrhs)
{
  return first->lines && second->lines ? SyncILURHSSide(nrhs) : 0;
}

/* Whether that many right-hand sides side by side are too many for the cache. */
static PetscBool PastCache(const CUDA *d, int side)
{
  return (PetscBool)((double)d->plan.pattern.n * (double)d->plan.size * side > SYNCILU_GATHERED_CACHE);
}

/* Whether so many right-hand sides of a launch are solved for by lines that are gathered. */
static PetscBool Gathers(const CUDA *d, const Triangle *first, const Triangle *second, int nrhs)
{
  return (PetscBool)(first->gathers && second->gathers && PastCache(d, Side(first, second, nrhs)));
}

/*
   Sees to it that both triangles gather lines of right-hand sides, or neither does: they have one x then. Without
   the memory for records and flags they solve as they did, for good.
*/
static PetscErrorCode Gather(Plan *plan, Triangle *first, Triangle *second)
{
  Triangle *const  both[] = {first, second};
  const int        mark = plan->scratch.n, kept[] = {first->memory.n, second->memory.n};
  const PetscInt64 taken = first->memory.bytes + second->memory.bytes;

  PetscFunctionBegin;
  first->asked = PETSC_TRUE;
  for (int k = 0; k < 2 && !plan->unfit[0] && (!k || first->gathers); k++) {
    if (both[k]->ops->gather) PetscCall((*both[k]->ops->gather)(both[k]));
  }
  if (plan->unfit[0]) PetscCall(PetscInfo(NULL, "Lines of right-hand sides are not gathered: %s\n", plan->unfit));
  plan->unfit[0] = 0;
  if (!second->gathers) {
    for (int k = 0; k < 2; k++) {
      both[k]->gathers = PETSC_FALSE;
      PetscCall(PlanRelease(plan, &both[k]->memory, kept[k]));
    }
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  plan->taken += first->memory.bytes + second->memory.bytes - taken;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for x of so many right-hand sides of a launch. */
static PetscErrorCode MakeRooms(CUDA *d, Triangle *first, Triangle *second, int nrhs)
{
  Plan        *plan = &d->plan;
  const int    side = Side(first, second, nrhs), group = nrhs == 1 ? 1 : PetscMax(side, SYNCILU_RHS_BLOCK);
  const size_t want = (size_t)((nrhs + group - 1) / group * group);

  PetscFunctionBegin;
  if (PastCache(d, side) && !first->asked) PetscCall(Gather(plan, first, second));
  if (Gathers(d, first, second, nrhs)) PetscCall(MakeRoomToGather(d, (size_t)plan->pattern.n * want));
  else PetscCall(MakeRoom(d, Room(d) * want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The two triangular solves, for at most SYNCILU_RHS_MAX right-hand sides on the device. */
static PetscErrorCode SolveBlock(CUDA *d, const Triangle *first, const Triangle *second, int nrhs, const double *b, size_t ldb, double *x, size_t ldx)
{
  Plan               *plan   = &d->plan;
  unsigned long long *ticket = plan->ticket;
  const int           side   = Side(first, second, nrhs);
  SyncILUDeviceSolve  one    = {.b = b, .ldb = ldb, .x = d->x[0], .next = d->x[1], .nrhs = nrhs, .side = side, .ticket = ticket, .reset = ticket + 1};
  SyncILUDeviceSolve  two =
    {.b = d->x[0], .x = d->x[1], .out = x, .ldout = ldx, .next = d->x[0], .nrhs = nrhs, .side = side, .ticket = ticket + 1, .reset = ticket};

  PetscFunctionBegin;
  if (Gathers(d, first, second, nrhs)) {
    one.gathers = two.gathers = 1;
    one.x = two.x = d->gathered.x;
    two.b         = d->gathered.x;
    one.next = two.next = NULL;
  }
  PetscCall(TriangleSolve(first, &one));
  if (!plan->unfit[0]) PetscCall(TriangleSolve(second, &two));
  if (plan->unfit[0]) PetscCall(ResetSolves(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for so many right-hand sides of the host, which their solutions take the place of. */
PetscErrorCode MakeStage(CUDA *d, size_t want)
{
  Plan *plan = &d->plan;

  PetscFunctionBegin;
  if (d->stage_size >= want) PetscFunctionReturn(PETSC_SUCCESS);
  d->stage_size = 0;
  PetscCall(PlanRelease(plan, &d->stage_memory, 0));
  PlanCall(PlanAlloc(plan, &d->stage_memory, want * plan->size, &d->stage));
  d->stage_size = want;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   How many of the right-hand sides to solve for in one launch. Together they read the matrix once, and share the
   way from level to level; but where their solutions do not fit the cache, each entry takes another line from
   memory, and where levels have many rows it is that which counts: one line for as many as stand in it.
*/
static PetscInt Together(const CUDA *d, const Triangle *first, const Triangle *second, PetscInt nrhs)
{
  const double rows  = PetscMin(first->order.level_rows, second->order.level_rows);
  const double bytes = (double)d->plan.pattern.n * (double)d->plan.size * (double)PetscMin(nrhs, SYNCILU_RHS_MAX);

  if (rows < SYNCILU_RHS_ROWS || bytes <= SYNCILU_RHS_CACHE) return SYNCILU_RHS_MAX;
  return first->lines && second->lines ? SYNCILU_RHS_LINE : SYNCILU_RHS_BLOCK;
}

static PetscErrorCode Solve(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx,
                            PetscMemType mem)
{
  CUDA           *d          = (CUDA *)e->data;
  Plan           *plan       = &d->plan;
  const PetscBool host       = (PetscBool)PetscMemTypeHost(mem);
  const PetscBool transposed = (PetscBool)(trans == SYNCILU_TRANS && !plan->settings->symmetric); /* a factor of ICC is its own transpose */
  const size_t    n          = (size_t)plan->pattern.n;
  Triangle       *first = &d->triangle[transposed ? PART_UT : PART_L], *second = &d->triangle[transposed ? PART_LT : PART_U];
  PetscInt        most;

  PetscFunctionBegin;
  if (transposed) PlanCall(PrepareTransposes(d));
  most = Together(d, first, second, nrhs);
  PlanCall(MakeRooms(d, first, second, (int)PetscMin(nrhs, most)));
  if (nrhs > most && nrhs % most) PlanCall(MakeRooms(d, first, second, (int)(nrhs % most))); /* the last launch may go another way */
  if (host) PlanCall(MakeStage(d, n * (size_t)PetscMin(nrhs, most)));
  for (PetscInt r = 0; r < nrhs; r += most) {
    const PetscInt     some = PetscMin(nrhs - r, most);
    const PetscScalar *from = b + (size_t)r * (size_t)ldb;
    PetscScalar       *to   = x + (size_t)r * (size_t)ldx;

    for (PetscInt k = 0; k < some && host; k++) PetscCall(DeviceUpload(plan->stream, d->stage + (size_t)k * n, from + (size_t)k * (size_t)ldb, n * plan->size));
    PetscCall(DeviceTimeBegin());
    if (host) PetscCall(SolveBlock(d, first, second, (int)some, d->stage, n, d->stage, n));
    else PetscCall(SolveBlock(d, first, second, (int)some, (const double *)from, (size_t)ldb, (double *)to, (size_t)ldx));
    PetscCall(DeviceTimeEnd());
    if (plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
    for (PetscInt k = 0; k < some && host; k++) PetscCall(DeviceDownload(plan->stream, to + (size_t)k * (size_t)ldx, d->stage + (size_t)k * n, n * plan->size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering that the engine has made is on the device alone. */
static PetscErrorCode Row_CUDA(SyncILUEngine e, PetscInt i, PetscInt *row)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before, r;

  PetscFunctionBegin;
  *row = i;
  if (!plan->row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(plan, &before));
  PetscCall(DeviceReadBack(plan->stream, &r, plan->row + i, sizeof(r)));
  PetscCall(PlanLeave(plan, before));
  *row = r;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fingerprint_CUDA(SyncILUEngine e, const SyncILUCSR *A, PetscInt64 fingerprint[2])
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Fingerprint(e, A, fingerprint));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_CUDA(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUStatus *status)
{
  CUDA           *d     = (CUDA *)e->data;
  Plan           *plan  = &d->plan;
  const PetscBool first = (PetscBool)(d->factor.generation == 0);
  int             before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Numeric(e, A, piv, status));
  /*
     what the first factorization had for a while goes back to the device; who factors again has it kept for
     the next one
  */
  if (first && plan->scratch.bytes > SYNCILU_KEEP) {
    PetscCall(PlanRelease(plan, &plan->scratch, 0));
    PetscCall(DeviceSettle(plan->stream));
  }
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_CUDA(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx,
                                 PetscMemType mem)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  if (!e->pattern.n || !nrhs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Solve(e, trans, nrhs, b, ldb, x, ldx, mem));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SyncILUBackendOps SyncILUCUDAOps = {.backend     = SYNCILU_BACKEND_CUDA,
                                          .least       = SYNCILU_CUDA_MIN_ROWS,
                                          .least_swept = SYNCILU_CUDA_MIN_ROWS_JACOBI,
                                          .device      = PETSC_TRUE,
                                          .tolerance   = 1e-10,
                                          .row         = Row_CUDA,
                                          .available   = DeviceAvailable,
                                          .plan        = Plan_CUDA,
                                          .destroy     = Destroy_CUDA,
                                          .excess      = Excess_CUDA,
                                          .updates     = Updates_CUDA,
                                          .residual    = Residual_CUDA,
                                          .search      = Search_CUDA,
                                          .factor      = Factor_CUDA,
                                          .solve       = Solve_CUDA,
                                          .half        = Half_CUDA,
                                          .eisenstat   = &SyncILUCUDAEisenstatOps,
                                          .values      = Values_CUDA,
                                          .statistics  = Statistics_CUDA,
                                          .view        = View_CUDA,
                                          .fingerprint = Fingerprint_CUDA,
                                          .fits        = Fits_CUDA,
                                          .reorder     = Reorder_CUDA,
                                          .finalize    = DeviceFinalize};
