/*
   Solve strategy ell: the rows in slices of 32 lanes, in the order in which they are solved for. Where the
   plan is tiled, a slice is a tile.
*/
#include "solve.h"
#include "../../kernels/order.h"
#include "../../kernels/solve_ell.h"
#include "../../kernels/storage.h"

/* Entries of a row beyond which it has a warp of its own, unless there would be too much padding. */
static int LongRow(int lanes)
{
  return (SYNCILU_POLLS * SYNCILU_LONG_ROW) << lanes;
}

/* Logarithm of the lanes a row, where rows are by level. */
int EllLanes(const Plan *plan, Part part)
{
  const int    k       = part == PART_U || part == PART_UT;
  const double entries = plan->pattern.n ? (double)plan->part[k] / (double)plan->pattern.n : 0.0;

  return PlanLanes(plan, entries / SYNCILU_LANE_ENTRIES);
}

/* Whether the padding is too much, which is so many times the entries. */
static PetscBool Padded(const Ell *e, SyncILUDeviceTriangle rows, double most)
{
  return (PetscBool)((double)e->entries > most * (double)rows.entries + SYNCILU_PADDING_FREE);
}

/*
   Cuts the order into slices, unless it has some, and finds how wide these are. With keys, slices end with
   levels and with whatever else the strategy has put into the keys, but not where rows differ in width.
*/
static PetscErrorCode Cut(Plan *plan, DeviceMemory *memory, SyncILUDeviceTriangle rows, const Order *order, const int *key, int limit, Ell *e)
{
  const PetscBool packed = (PetscBool)(e->ell.by_level != 0);
  SyncILUSlice   *slice  = order->slice;
  int             count  = order->tiles, total;

  PetscFunctionBegin;
  if (!slice) PlanCall(PlanSlices(plan, memory, rows, order->row, key, SYNCILU_WIDTH_BITS, e->lanes, limit, packed, &slice, &count, &total));
  else {
    if (rows.longest > limit) PlanLaunch(SyncILUKernelLongSlices(rows, order->row, limit, count, slice, plan->stream));
    PlanCall(PlanSliceStorage(plan, rows, order->row, packed, count, slice, &total));
  }
  e->limit      = limit;
  e->entries    = (size_t)total * (packed ? SYNCILU_PACK : 32);
  e->ell.slice  = slice;
  e->ell.slices = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sorts and cuts both triangles by level, for EllCreateByLevel() to take: of few rows, so many launches and a wait
   less count.
*/
static PetscErrorCode CutBoth(Triangle *t, const int *const level[2], const int levels[2], const int lanes[2], const int polls[2])
{
  Plan        *plan = t->plan;
  const size_t n    = (size_t)plan->pattern.n;
  SyncILUCut   cut[2];
  size_t       bytes = 0;
  void        *work;
  int         *row, *key, *position, *count, found[4], mark;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(cut, sizeof(cut)));
  PlanCall(PlanAlloc(plan, &t->memory, 2 * n * sizeof(int), &row));
  PlanCall(PlanAlloc(plan, &plan->scratch, 2 * n * sizeof(int), &key));
  PlanCall(PlanAlloc(plan, &plan->scratch, 2 * n * sizeof(int), &position));
  for (int k = 0; k < 2; k++) {
    PlanCall(PlanTriangle(plan, &plan->scratch, k ? PART_U : PART_L, &cut[k].rows));
    PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(*cut[k].slice), &cut[k].slice)); /* at most one a row */
  }
  mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(found), &count));
  for (int k = 0; k < 2; k++) {
    PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)levels[k] + 1) * sizeof(int), &cut[k].start));
    cut[k].position = position + (size_t)k * n;
    cut[k].bits     = SYNCILU_WIDTH_BITS;
    cut[k].lanes    = lanes[k];
    cut[k].limit    = polls[k] << lanes[k];
    cut[k].levels   = levels[k];
    cut[k].width    = plan->widths + k;
    cut[k].count    = count + 2 * k;
  }
  PlanLaunch(SyncILUKernelSlicesOfBoth(NULL, &bytes, cut, level, PETSC_TRUE, key, row, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelSlicesOfBoth(work, &bytes, cut, level, PETSC_TRUE, key, row, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, found, count, sizeof(found)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  for (int k = 0; k < 2; k++) {
    plan->ahead[k].row      = row + (size_t)k * n;
    plan->ahead[k].position = position + (size_t)k * n;
    plan->ahead[k].key      = key + (size_t)k * n;
    plan->ahead[k].slice    = cut[k].slice;
    plan->ahead[k].count    = found[2 * k];
    plan->ahead[k].total    = found[2 * k + 1];
    plan->ahead[k].there    = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes what that has left for a triangle. */
static PetscErrorCode TakeCut(Triangle *t, int levels, int limit, Ell *e)
{
  const int     k    = t->part == PART_U;
  Plan         *plan = t->plan;
  SyncILUSlice *slice;

  PetscFunctionBegin;
  plan->ahead[k].there = PETSC_FALSE;
  PetscCall(PetscMemzero(&t->order, sizeof(t->order)));
  t->order.row      = plan->ahead[k].row;
  t->order.key      = plan->ahead[k].key;
  t->order.position = plan->ahead[k].position;
  t->order.bits     = SYNCILU_WIDTH_BITS;
  OrderCounted(plan, t->part, levels, &t->order);
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)plan->ahead[k].count * sizeof(*slice), &slice));
  CallCUDA(cudaMemcpyAsync(slice, plan->ahead[k].slice, (size_t)plan->ahead[k].count * sizeof(*slice), cudaMemcpyDeviceToDevice, plan->stream));
  e->limit      = limit;
  e->entries    = (size_t)plan->ahead[k].total * SYNCILU_PACK;
  e->ell.slice  = slice;
  e->ell.slices = plan->ahead[k].count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the warps of a solve take: the slices, and parts of rows of more than so many entries a lane. */
static PetscErrorCode Tasks(Plan *plan, DeviceMemory *memory, SyncILUDeviceTriangle rows, int most, Ell *e)
{
  const int     mark = plan->scratch.n, slices = e->ell.slices;
  SyncILUSlice *task;
  int          *offset;

  PetscFunctionBegin;
  e->ell.tasks = slices;
  e->ell.task  = e->ell.slice;
  if (rows.longest <= 32 * most) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)(slices + 1) * sizeof(int), &offset));
  PlanLaunch(SyncILUKernelTaskCounts(slices, e->ell.slice, most, offset, plan->stream));
  PlanCall(PlanOffsets(plan, slices, offset, &e->ell.tasks));
  if (e->ell.tasks > slices) {
    const size_t bytes = (size_t)(e->ell.tasks - slices) * SYNCILU_RHS_MAX * plan->size;

    PlanCall(PlanAlloc(plan, memory, (size_t)e->ell.tasks * sizeof(*task), &task));
    PlanLaunch(SyncILUKernelTasks(slices, e->ell.slice, e->ell.by_level, most, offset, task, plan->stream));
    e->ell.task = task;
    PlanCall(PlanAlloc(plan, memory, bytes, &e->ell.partial));
    CallCUDA(cudaMemsetAsync(e->ell.partial, 0xff, bytes, plan->stream));
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tasks, columns and room for values, where the slices are there. */
static PetscErrorCode Finish(Plan *plan, DeviceMemory *memory, SyncILUDeviceTriangle rows, const Order *order, Ell *e)
{
  int *position, *col, mark;

  PetscFunctionBegin;
  PlanCall(Tasks(plan, memory, rows, e->ell.tiled ? e->ell.tiled : 2 * SYNCILU_PART, e));
  mark = plan->scratch.n;
  PlanCall(OrderPositions(plan, order, &position));
  PlanCall(PlanAlloc(plan, memory, e->entries * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, memory, e->entries * plan->size, &e->ell.val));
  e->ell.col = col;
  PlanLaunch(SyncILUKernelEllColumns(rows, e->ell, position, col, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is known before there are slices. */
static void Begin(SyncILUDeviceTriangle rows, const Order *order, int lanes, int tiled, Ell *e)
{
  e->lanes     = lanes;
  e->ell.n     = rows.n;
  e->ell.order = order->row;
  e->ell.tiled = tiled;
}

/*
   EllCreate - a triangle in sliced ELL, without values

   Not Collective

   Input Parameters:
+  plan   - the plan
.  memory - the list that will have it
.  rows   - of the triangle, with their columns
.  order  - of the rows, and their slices where it has some
.  lanes  - logarithm of the lanes a row
-  tiled  - as in SyncILUDeviceEll

   Output Parameter:
.  e - the triangle

   Note:
   A row that is much longer than its neighbours makes room for as many entries in each of them. Where that is
   too much, rows of fewer entries get warps of their own.
*/
PetscErrorCode EllCreate(Plan *plan, DeviceMemory *memory, SyncILUDeviceTriangle rows, const Order *order, int lanes, int tiled, Ell *e)
{
  const int first = memory->n, limit = tiled ? tiled << lanes : LongRow(lanes);

  PetscFunctionBegin;
  Begin(rows, order, lanes, tiled, e);
  PlanCall(Cut(plan, memory, rows, order, NULL, limit, e));
  if (!order->slice && Padded(e, rows, SYNCILU_PADDING)) {
    const size_t entries = e->entries;

    PetscCall(PlanRelease(plan, memory, first));
    PlanCall(Cut(plan, memory, rows, order, NULL, limit / SYNCILU_PADDING_LIMIT, e));
    if (e->entries >= entries) {
      PetscCall(PlanRelease(plan, memory, first));
      PlanCall(Cut(plan, memory, rows, order, NULL, limit, e));
    }
  }
  PlanCall(Finish(plan, memory, rows, order, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   So many lanes a row (their logarithm) that all but a few rows have all their entries polled at once, and how
   many entries a lane then polls: a second round would cost a level as much again. No entries where the user
   wants so few lanes that more than a few rows have more.
*/
PetscErrorCode EllLanesAtOnce(Plan *plan, Part part, SyncILUDeviceTriangle rows, int *lanes, int *polls)
{
  const double few  = SYNCILU_BY_LEVEL_LONG * (double)rows.n;
  const int   *over = plan->counts.over[part == PART_U];
  int          columns[SYNCILU_LENGTHS];

  PetscFunctionBegin;
  if (part == PART_LT || part == PART_UT) {
    const int mark = plan->scratch.n;
    int      *device;

    PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(columns), &device));
    CallCUDA(cudaMemsetAsync(device, 0, sizeof(columns), plan->stream));
    PlanLaunch(SyncILUKernelLengths(rows, device, plan->stream));
    PetscCall(DeviceReadBack(plan->stream, columns, device, sizeof(columns)));
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
    over = columns;
  }
  for (*lanes = 0; *lanes < 5 && over[*lanes] > few; (*lanes)++) { }
  *lanes = PlanLanes(plan, (double)(1 << *lanes));
  if (over[*lanes] <= few) *polls = SYNCILU_POLLS;
  else *polls = *lanes == 5 || over[*lanes + 1] <= few ? 2 * SYNCILU_POLLS : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   EllCreateByLevel - a triangle in slices that end with levels, with the rows of a level sorted by width

   Not Collective

   Input Parameters:
+  t      - the triangle
.  level  - of each row, with so many lower bits; rows that differ in those do not share slices either
.  levels - how many there are
.  bits   - how many lower bits
.  lanes  - logarithm of the lanes a row
.  polls  - entries that a lane polls at once: SYNCILU_POLLS or twice that
-  most   - no slices if with their padding they have more entries than so many times those without; 0: in any case

   Output Parameter:
.  e - the triangle, if it has become slices: then ell.by_level is not 0
*/
PetscErrorCode EllCreateByLevel(Triangle *t, const int *level, int levels, int bits, int lanes, int polls, double most, Ell *e)
{
  Plan        *plan   = t->plan;
  const size_t n      = (size_t)plan->pattern.n;
  const int    memory = t->memory.n, limit = polls << lanes;
  SyncILULate *late;
  int         *key;
  double       ahead;

  PetscFunctionBegin;
  if (!t->of && plan->ahead[t->part == PART_U].there) {
    PlanCall(TakeCut(t, levels, limit, e));
    Begin(t->rows, &t->order, lanes, 0, e);
    e->ell.by_level = polls;
  } else {
    PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &key));
    PlanLaunch(SyncILUKernelSliceKeys(t->rows, lanes, limit, level, key, plan->stream));
    PlanCall(OrderCreateByLevel(plan, &t->memory, t->part, key, levels, bits + SYNCILU_WIDTH_BITS, &t->order));
    Begin(t->rows, &t->order, lanes, 0, e);
    e->ell.by_level = polls;
    PlanCall(Cut(plan, &t->memory, t->rows, &t->order, t->order.key, limit, e));
  }
  if (most > 0.0 && Padded(e, t->rows, most)) {
    PetscCall(PlanRelease(plan, &t->memory, memory));
    e->ell.by_level = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(Finish(plan, &t->memory, t->rows, &t->order, e));
  PlanCall(PlanAlloc(plan, &t->memory, n * sizeof(*late), &late));
  PlanLaunch(SyncILUKernelLateEntries(e->ell, late, plan->stream));
  e->ell.late = late;
  ahead       = SYNCILU_BY_LEVEL_POLLING * (double)levels / PetscMax(1, e->ell.slices);
  t->throttle = OrderThrottle(t->order.level_rows, PetscMax(SYNCILU_THROTTLE_LEVELS, PetscMin(ahead, SYNCILU_BY_LEVEL_THROTTLE)));
  t->lanes    = lanes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes order and slices of U with those of L, where both have few rows and slices that end with levels. */
static PetscErrorCode CreateAhead(Triangle *t, const int *level, int levels, int lanes, int polls)
{
  Plan                 *plan = t->plan;
  const int             n = plan->pattern.n, of[2] = {levels, plan->levels[1]};
  const int *const      both[2]    = {level, plan->level[1]};
  int                   at_once[2] = {lanes, 0}, polled[2] = {polls, 0};
  SyncILUDeviceTriangle upper;

  PetscFunctionBegin;
  if (!plan->level[1] || n > SYNCILU_ONE_BLOCK_ROWS || (double)n >= (double)SYNCILU_BY_LEVEL_ROWS * of[1] || of[1] > INT_MAX >> (SYNCILU_WIDTH_BITS + 2) ||
      levels > INT_MAX >> (SYNCILU_WIDTH_BITS + 2))
    PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanTriangle(plan, &plan->scratch, PART_U, &upper));
  PlanCall(EllLanesAtOnce(plan, PART_U, upper, &at_once[1], &polled[1]));
  if (polled[1]) PlanCall(CutBoth(t, both, of, at_once, polled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The triangle by level. Where levels have few rows, slices end with them. Elsewhere rows of a level are sorted
   by width where they differ much in it and levels are so wide that slices that end with a width do not
   matter; where some are so long that they have a warp of their own; and where else there would be too much
   padding.
*/
static PetscErrorCode CreateByLevel(Triangle *t, Ell *e)
{
  Plan     *plan  = t->plan;
  const int lanes = t->lanes, n = plan->pattern.n, memory = t->memory.n;
  int      *level, levels, at_once, polls;
  PetscBool may, sort;

  PetscFunctionBegin;
  PlanCall(PlanGetLevels(plan, t->part, &level, &levels));
  may = (PetscBool)(plan->settings->analysis != SYNCILU_ANALYSIS_NONE && levels <= INT_MAX >> (SYNCILU_WIDTH_BITS + 1));
  if (may && (double)n < (double)SYNCILU_BY_LEVEL_ROWS * levels) {
    PlanCall(EllLanesAtOnce(plan, t->part, t->rows, &at_once, &polls));
    if (polls && t->part == PART_L) PlanCall(CreateAhead(t, level, levels, at_once, polls));
    if (polls) PlanCall(EllCreateByLevel(t, level, levels, 0, at_once, polls, SYNCILU_BY_LEVEL_PADDING, e));
    if (e->ell.by_level) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PlanRelease(plan, &t->memory, memory)); /* what was made ahead */
    plan->ahead[1].there = PETSC_FALSE;
  }
  sort = (PetscBool)((double)t->rows.longest * n > SYNCILU_WIDTH_MEAN * (double)t->rows.entries && (double)n > (double)SYNCILU_WIDTH_ROWS * levels);
  sort = (PetscBool)(may && (sort || t->rows.longest > LongRow(lanes)));
  for (;;) {
    if (sort) PlanLaunch(SyncILUKernelSliceKeys(t->rows, lanes, LongRow(lanes), level, level, plan->stream));
    PlanCall(OrderCreate(plan, &t->memory, t->part, level, levels, sort ? SYNCILU_WIDTH_BITS : 0, &t->order));
    PlanCall(EllCreate(plan, &t->memory, t->rows, &t->order, lanes, 0, e));
    if (sort || !may || !Padded(e, t->rows, SYNCILU_PADDING)) break;
    PetscCall(PlanRelease(plan, &t->memory, memory));
    sort = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_INTERN const SolveOps SyncILUSolveEllOps, SyncILUSolveClusterOps;

/* The sliced ELL of a triangle, NULL if its strategy has none. */
const Ell *TriangleGetEll(const Triangle *t)
{
  return t->ops == &SyncILUSolveEllOps || t->ops == &SyncILUSolveClusterOps ? (const Ell *)t->data : NULL;
}

/*
   Transposes of a symmetric pattern take tiles and orders from their end. Otherwise columns may have any
   number of entries, and the transpose is planned by level where the triangle is in tiles; it is, too, where
   slices end with levels, which an order from its end does not know.
*/
static PetscErrorCode Create_Ell(Triangle *t)
{
  Plan           *plan  = t->plan;
  const PetscBool tiled = (PetscBool)(plan->tiled && (!t->of || plan->reversed));
  const Ell      *of    = t->of ? TriangleGetEll(t->of) : NULL; /* another strategy may leave the transpose to this one */
  Ell            *e;

  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  t->data  = e;
  t->lanes = tiled ? plan->tile_lanes : EllLanes(plan, t->part);
  if (!tiled && (!of || plan->tiled || of->ell.by_level)) PlanCall(CreateByLevel(t, e));
  else {
    if (!tiled) PlanCall(OrderReverse(plan, &t->memory, &t->of->order, &t->order));
    else if (t->of) PlanCall(OrderReverseTiles(plan, &t->memory, &t->of->order, &t->order));
    else PlanCall(OrderCreateTiles(plan, &t->memory, t->part, &t->order));
    PlanCall(EllCreate(plan, &t->memory, t->rows, &t->order, t->lanes, tiled ? plan->tile_entries : 0, e));
  }
  t->row = t->order.row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllUpdate(Triangle *t, const Factor *factor)
{
  Plan                 *plan = t->plan;
  const Ell            *e    = (const Ell *)t->data;
  SyncILUDeviceRows     rows = t->part == PART_L ? factor->w : factor->u;
  SyncILUDeviceTriangle from = t->rows;

  PetscFunctionBegin;
  if (t->of) { /* from the pattern, where the caller has brought them */
    PetscCall(PetscMemzero(&rows, sizeof(rows)));
    rows.values.a = plan->crout;
  }
  /* rows of their own, one behind the other: their ends need not be looked up on the pattern */
  if (rows.begin) {
    from.skip  = rows.lead;
    from.begin = rows.begin;
    from.end   = rows.begin + 1;
    rows.begin = NULL;
  }
  if (rows.values.a) PlanLaunch(SyncILUKernelFill(plan->type, from, e->ell, rows, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Ell(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveEll(plan->type, ((const Ell *)t->data)->ell, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A factorization writes the rows of W where their triangular solve reads them. Nobody writes the padding
   afterwards.
*/
PetscErrorCode EllRows(Triangle *t, SyncILUSlicedRows *rows)
{
  Plan          *plan = t->plan;
  const Ell     *e    = (const Ell *)t->data;
  unsigned      *begin;
  unsigned char *stride = NULL;

  PetscFunctionBegin;
  if (e->entries > UINT_MAX) {
    PetscCall(
      PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "%zu entries of L with padding on this rank, indices on the device are 32 bits wide", e->entries));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)plan->pattern.n * sizeof(unsigned), &begin));
  plan->taken += (PetscInt64)t->memory.piece[t->memory.n - 1].bytes;
  if (e->ell.by_level) {
    PlanCall(PlanAlloc(plan, &t->memory, (size_t)plan->pattern.n, &stride));
    plan->taken += (PetscInt64)t->memory.piece[t->memory.n - 1].bytes;
  }
  PlanLaunch(SyncILUKernelRowBegins(e->ell, begin, stride, plan->stream));
  CallCUDA(cudaMemsetAsync(e->ell.val, 0, e->entries * plan->size, plan->stream));
  rows->val    = e->ell.val;
  rows->begin  = begin;
  rows->stride = stride;
  rows->lanes  = e->lanes;
  rows->limit  = e->limit;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllColumns(const Triangle *t, int *col)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelColumns(t->rows, ((const Ell *)t->data)->ell, t->part == PART_L ? plan->pattern.diag : NULL, col, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EllValues(const Triangle *t, void *val)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelGatherValues(plan->type, t->rows, ((const Ell *)t->data)->ell, val, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveEllOps = {.type    = SYNCILU_SOLVE_ELL,
                                     .tiles   = PETSC_TRUE,
                                     .create  = Create_Ell,
                                     .update  = EllUpdate,
                                     .solve   = Solve_Ell,
                                     .rows    = EllRows,
                                     .columns = EllColumns,
                                     .values  = EllValues};
