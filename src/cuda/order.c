/*
   The order in which rows are handed out, by their levels; and slices of it.
*/
#include "order.h"
#include "../../kernels/order.h"
#include "../../kernels/storage.h"

/*
   How far before a position its warp looks before it polls, given the rows of a level and how many levels
   that shall be.
*/
int OrderThrottle(double rows, double levels)
{
  return (int)PetscMin(levels * rows, INT_MAX / 2);
}

/*
   PlanFindLevels - levels of both triangles of a pattern, or of L alone

   Not Collective

   Input Parameters:
+  plan     - the plan, in whose scratch the levels will be
.  p        - a pattern with its columns
.  entries  - of all rows, with both triangles and diagonal
.  both     - whether those of U are wanted
-  reversed - whether those of U shall be the latest ones, as L's earliest are seen from the end

   Output Parameters:
+  level  - of the rows of L and of U
-  levels - how many there are
*/
PetscErrorCode PlanFindLevels(Plan *plan, SyncILUDevicePattern p, double entries, PetscBool both, PetscBool reversed, int *level[2], int levels[2])
{
  const int longest = PetscMax(plan->counts.longest[0], plan->counts.longest[1]), triangles = both && !reversed ? 2 : 1;

  PetscFunctionBegin;
  for (int k = 0; k < (both ? 2 : 1); k++) {
    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)p.n * sizeof(int), &level[k]));
    if (k < triangles) CallCUDA(cudaMemsetAsync(level[k], 0xff, (size_t)p.n * sizeof(int), plan->stream));
  }
  CallCUDA(cudaMemsetAsync(plan->ticket + 2, 0, sizeof(*plan->ticket) + 2 * sizeof(*plan->found), plan->stream));
  PlanLaunch(
    SyncILUKernelLevels(p, longest, p.n ? entries / p.n : 0.0, triangles == 2, level[0], both ? level[1] : NULL, plan->ticket + 2, plan->found, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, levels, plan->found, (size_t)triangles * sizeof(*levels)));
  if (both && reversed) {
    levels[1] = levels[0];
    PlanLaunch(SyncILUKernelLevelsReverse(p.n, levels[0], level[0], level[1], plan->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The latest levels of both triangles, as SyncILUKernelLevelsLate() has it: from the last ones, with counts
   of zero.
*/
static PetscErrorCode Latest(Plan *plan, SyncILUDevicePattern p, int *const level[2], int *count, int least, int *over)
{
  SyncILULateLevels late[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PlanCall(PlanTriangle(plan, &plan->scratch, k ? PART_U : PART_L, &late[k].rows));
    late[k].rows.col = p.col; /* the matrix may be gone, where it is about transposes */
    late[k].level    = level[k];
    late[k].count    = count + k * (size_t)p.n;
  }
  CallCUDA(cudaMemsetAsync(plan->ticket + 2, 0, sizeof(*plan->ticket), plan->stream));
  PlanLaunch(SyncILUKernelLevelsLate(late[0], late[1], least, over, plan->ticket + 2, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Moves all rows to their latest level. Seen from the end, the latest levels of a triangle are the earliest
   ones of its transpose, which where the pattern is symmetric are those of the other triangle.
*/
static PetscErrorCode MoveLate(Plan *plan, SyncILUDevicePattern p, int *level[2], const int levels[2])
{
  const size_t n    = (size_t)plan->pattern.n;
  const int    mark = plan->scratch.n;
  int         *count;

  PetscFunctionBegin;
  if (plan->symmetric) {
    int *lower;

    PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &lower));
    PlanLaunch(SyncILUKernelLevelsReverse(p.n, levels[1], level[1], lower, plan->stream));
    PlanLaunch(SyncILUKernelLevelsReverse(p.n, levels[0], level[0], level[1], plan->stream));
    level[0] = lower;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (2 * n + 1) * sizeof(int), &count));
  CallCUDA(cudaMemsetAsync(count, 0, (2 * n + 1) * sizeof(int), plan->stream));
  for (int k = 0; k < 2; k++) PlanLaunch(SyncILUKernelLevelsFill(p.n, levels[k] - 1, level[k], plan->stream));
  PlanCall(Latest(plan, p, level, count, INT_MIN, count + 2 * n));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The latest levels without the earliest ones, where levels turn out to have so many rows that auto takes the
   latest. Who finds the earliest level of a long row holds up the rows beside it, so that with many long rows this
   is a long chain whatever the levels are; of the latest ones each row tells the others as it comes.
*/
static PetscErrorCode FindLatest(Plan *plan, SyncILUDevicePattern p, int *level[2], int levels[2], PetscBool *found)
{
  const size_t n     = (size_t)p.n;
  const int    first = plan->scratch.n, most = (int)((double)n / SYNCILU_LATE_ROWS);
  int         *count, ends[3], mark; /* the least level of L and of U, and whether there are too many */

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &level[k]));
  mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, (2 * n + 3) * sizeof(int), &count));
  CallCUDA(cudaMemsetAsync(count, 0, (2 * n + 3) * sizeof(int), plan->stream));
  for (int k = 0; k < 2; k++) CallCUDA(cudaMemsetAsync(level[k], 0, n * sizeof(int), plan->stream));
  PlanCall(Latest(plan, p, level, count, 1 - most, count + 2 * n + 2));
  for (int k = 0; k < 2; k++) PlanLaunch(SyncILUKernelLevelsLeast(p.n, level[k], count + 2 * n + k, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, ends, count + 2 * n, sizeof(ends)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  *found = (PetscBool)!ends[2];
  if (!*found) {
    PetscCall(PlanRelease(plan, &plan->scratch, first));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < 2; k++) {
    levels[k] = 1 - ends[k];
    PlanLaunch(SyncILUKernelLevelsAdd(p.n, levels[k] - 1, level[k], plan->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether rows go by their latest level: where the user says so, and where auto finds that the pattern is
   unsymmetric and has so many rows a level that these take hardly longer to find.
*/
static PetscBool Late(const Plan *plan)
{
  const double rows = (double)plan->pattern.n, levels = (double)PetscMax(plan->levels[0], plan->levels[1]);

  if (plan->settings->analysis != SYNCILU_ANALYSIS_AUTO) return (PetscBool)(plan->settings->analysis == SYNCILU_ANALYSIS_ALAP);
  return (PetscBool)(!plan->reversed && rows > SYNCILU_LATE_ROWS * levels);
}

/* Whether that is likely enough for the latest levels to be looked for at once. */
static PetscBool MayBeLate(const Plan *plan)
{
  const PetscBool longs = (PetscBool)(plan->counts.longest_row > plan->counts.longest_listed);

  return (PetscBool)(longs && plan->settings->analysis == SYNCILU_ANALYSIS_AUTO && !plan->tiled && !plan->reversed &&
                     (double)plan->pattern.n > SYNCILU_LATE_LEAST * SYNCILU_LATE_ROWS);
}

/*
   PlanGetLevels - the level of each row of a triangle, as -pc_syncilu_analysis wants them; those of a
   transpose are the levels of the triangle from the end

   Not Collective

   Input Parameters:
+  plan - the plan
-  part - which triangle

   Output Parameters:
+  level  - of each row; the caller's to change, and there until the present step of planning ends
-  levels - how many there are
*/
PetscErrorCode PlanGetLevels(Plan *plan, Part part, int **level, int *levels)
{
  const int k = part == PART_U || part == PART_UT;

  PetscFunctionBegin;
  if (part == PART_L && plan->tiled && !plan->chain && !plan->tiling.outliers) {
    PlanCall(PlanTileRowLevels(plan, level, levels));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!plan->level[k]) {
    SyncILUDevicePattern p;
    PetscBool            found = PETSC_FALSE;

    PlanCall(PlanGetPattern(plan, &p));
    if (MayBeLate(plan)) PlanCall(FindLatest(plan, p, plan->level, plan->levels, &found));
    if (found) plan->late = PETSC_TRUE;
    else if (plan->tiled) /* for a factorization alone */ PlanCall(PlanFindLevels(plan, p, plan->nnz, (PetscBool)k, PETSC_FALSE, plan->level, plan->levels));
    else {
      PlanCall(PlanFindLevels(plan, p, plan->nnz, PETSC_TRUE, plan->reversed, plan->level, plan->levels));
      plan->late = Late(plan);
      if (plan->late) PlanCall(MoveLate(plan, p, plan->level, plan->levels));
    }
    PetscCall(PlanRestorePattern(plan, &p));
  }
  *level         = plan->level[k];
  *levels        = plan->levels[k];
  plan->level[k] = NULL;
  if (part == PART_LT || part == PART_UT) PlanLaunch(SyncILUKernelLevelsReverse(plan->pattern.n, *levels, *level, *level, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows sorted by such keys, and where each level begins. */
PetscErrorCode OrderSort(Plan *plan, DeviceMemory *memory, const int *key, int levels, int shift, int *width, Order *order)
{
  const int n = plan->pattern.n, largest = (levels << shift) | ((1 << shift) - 1);
  int       mark;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(order, sizeof(*order)));
  PlanCall(PlanAlloc(plan, memory, (size_t)n * sizeof(int), &order->row));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)n * sizeof(int), &order->key));
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)levels + 1) * sizeof(int), &order->start));
  mark = plan->scratch.n;
  PlanCall(PlanSort(plan, n, largest, key, order->key, order->row));
  PlanLaunch(SyncILUKernelLevelWidth(n, levels, order->key, shift, order->start, width, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  order->bits = shift;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is known of an order by level once its levels are counted. */
void OrderCounted(Plan *plan, Part part, int levels, Order *order)
{
  plan->counted[part == PART_U || part == PART_UT] = PETSC_TRUE;

  order->level_rows = levels ? (double)plan->pattern.n / levels : 0.0;
  order->throttle   = OrderThrottle(order->level_rows, SYNCILU_THROTTLE_LEVELS);
}

/*
   OrderCreateByLevel - the rows sorted by key

   Not Collective

   Input Parameters:
+  plan   - the plan
.  memory - the list that will have the order
.  part   - which triangle
.  key    - of each row: its level << shift, and what the strategy adds to that
.  levels - how many there are
-  shift  - bits that the strategy has used

   Output Parameter:
.  order - the order; its keys and starts are there until the present step of planning ends
*/
PetscErrorCode OrderCreateByLevel(Plan *plan, DeviceMemory *memory, Part part, int *key, int levels, int shift, Order *order)
{
  const int k = part == PART_U || part == PART_UT;

  PetscFunctionBegin;
  PlanCall(OrderSort(plan, memory, key, levels, shift, plan->widths + k, order));
  OrderCounted(plan, part, levels, order);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, for strategies that take the rows in numerical order too, where that is asked for. */
PetscErrorCode OrderCreate(Plan *plan, DeviceMemory *memory, Part part, int *key, int levels, int shift, Order *order)
{
  PetscFunctionBegin;
  PlanCall(OrderCreateByLevel(plan, memory, part, key, levels, shift, order));
  if (plan->settings->analysis == SYNCILU_ANALYSIS_NONE) {
    PlanLaunch(SyncILUKernelIota(plan->pattern.n, part == PART_U || part == PART_LT, order->row, plan->stream));
    order->key       = NULL;
    order->numerical = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the transpose: the rows that one waits for and those that wait for it change places. */
PetscErrorCode OrderReverse(Plan *plan, DeviceMemory *memory, const Order *order, Order *reversed)
{
  const int n = plan->pattern.n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(reversed, sizeof(*reversed)));
  PlanCall(PlanAlloc(plan, memory, (size_t)n * sizeof(int), &reversed->row));
  PlanLaunch(SyncILUKernelReverse(n, order->row, reversed->row, plan->stream));
  reversed->numerical  = order->numerical;
  reversed->throttle   = order->throttle;
  reversed->level_rows = order->level_rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The position of each row in the order; there until the present step of planning ends, and not the caller's to change. */
PetscErrorCode OrderPositions(Plan *plan, const Order *order, int **position)
{
  PetscFunctionBegin;
  *position = order->position;
  if (*position) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * sizeof(int), position));
  PlanLaunch(SyncILUKernelInvert(plan->pattern.n, order->row, *position, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After levels were found for an order that is not taken. */
void PlanForgetLevels(Plan *plan)
{
  plan->levels[0] = plan->levels[1] = UNKNOWN;
  plan->counted[0] = plan->counted[1] = plan->late = PETSC_FALSE;
  plan->ahead[0].there = plan->ahead[1].there = PETSC_FALSE;
}

/* Counts the levels of both triangles, and the most rows on one, where the plan did without. */
PetscErrorCode PlanCountLevels(Plan *plan)
{
  const int            mark = plan->scratch.n;
  int                 *level[2];
  SyncILUDevicePattern p;

  PetscFunctionBegin;
  if (plan->levels[0] != UNKNOWN && plan->levels[1] != UNKNOWN && plan->counted[0] && plan->counted[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(PlanFindLevels(plan, p, plan->nnz, PETSC_TRUE, PETSC_FALSE, level, plan->levels));
  PetscCall(PlanRestorePattern(plan, &p));
  for (int k = 0; k < 2; k++) {
    Order order;

    PlanCall(OrderCreate(plan, &plan->scratch, k ? PART_U : PART_L, level[k], plan->levels[k], 0, &order));
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Fills in how wide the slices are and where their entries begin. The total of all entries comes in units of
   SYNCILU_PACK if slices are packed, which have as many entries for each column as they have lanes; else in units
   of 32, the entries of a column.
*/
PetscErrorCode PlanSliceStorage(Plan *plan, SyncILUDeviceTriangle t, const int *order, PetscBool packed, int count, SyncILUSlice *slice, int *total)
{
  const int mark = plan->scratch.n;
  int      *width;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)count + 1) * sizeof(int), &width));
  PlanLaunch(SyncILUKernelSliceWidths(t, order, packed, count, slice, width, plan->stream));
  PlanCall(PlanOffsets(plan, count, width, total));
  PlanLaunch(SyncILUKernelSliceOffsets(count, width, slice, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slices of an order that the host does not know yet, in scratch: kernels find how many there are. */
PetscErrorCode PlanSlicesBegin(Plan *plan, SyncILUDeviceTriangle t, const int *order, const int *key, int bits, int lanes, int limit, Slices *s)
{
  size_t bytes = 0;
  void  *work;

  PetscFunctionBegin;
  s->mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)t.n * sizeof(*s->slice), &s->slice)); /* at most one a row */
  PlanLaunch(SyncILUKernelSlices(NULL, &bytes, t, order, key, bits, lanes, limit, NULL, NULL, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanCall(PlanAlloc(plan, &plan->scratch, 2 * sizeof(*s->count), &s->count));
  PlanLaunch(SyncILUKernelSlices(work, &bytes, t, order, key, bits, lanes, limit, s->slice, s->count, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits for their number, and with total not NULL for what the caller has had added up behind it. */
PetscErrorCode PlanSlicesEnd(Plan *plan, DeviceMemory *memory, int n, const Slices *s, SyncILUSlice **slices, int *count, int *total)
{
  const PetscBool stay = (PetscBool)(memory == &plan->scratch);
  int             found[2];

  PetscFunctionBegin;
  PetscCall(DeviceReadBack(plan->stream, found, s->count, (total ? 2 : 1) * sizeof(*found)));
  *count  = found[0];
  *slices = s->slice;
  if (total) *total = found[1];
  if (!stay) {
    PlanCall(PlanAlloc(plan, memory, (size_t)*count * sizeof(**slices), slices));
    CallCUDA(cudaMemcpyAsync(*slices, s->slice, (size_t)*count * sizeof(**slices), cudaMemcpyDeviceToDevice, plan->stream));
  }
  PlanLaunch(SyncILUKernelSliceRows(n, *count, *slices, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, s->mark + (stay ? 1 : 0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanSlices - cuts rows, in the given order, into slices of 32 lanes

   Not Collective

   Input Parameters:
+  plan   - the plan
.  memory - the list that will have the slices
.  t      - the rows of the triangle
.  order  - of its rows
.  key    - NULL, or by position: slices end where keys change
.  bits   - lowest bits of the keys that may change within a slice
.  lanes  - logarithm of the lanes a row
.  limit  - entries of a row beyond which it has all 32 lanes
-  packed - with total, see PlanSliceStorage()

   Output Parameters:
+  slices - the slices
.  count  - how many there are
-  total  - of their storage, as PlanSliceStorage(); NULL: without widths and offsets

   Note:
   The host waits once, where that is worth kernels which do not know yet how many slices there are.
*/
PetscErrorCode PlanSlices(Plan *plan, DeviceMemory *memory, SyncILUDeviceTriangle t, const int *order, const int *key, int bits, int lanes, int limit,
                          PetscBool packed, SyncILUSlice **slices, int *count, int *total)
{
  const PetscBool once = (PetscBool)(total && t.n <= SYNCILU_ONE_BLOCK_ROWS);
  Slices          s;

  PetscFunctionBegin;
  PlanCall(PlanSlicesBegin(plan, t, order, key, bits, lanes, limit, &s));
  if (once) PlanLaunch(SyncILUKernelSliceStorage(t, order, packed, s.slice, s.count, plan->stream));
  PlanCall(PlanSlicesEnd(plan, memory, t.n, &s, slices, count, once ? total : NULL));
  if (total && !once) PlanCall(PlanSliceStorage(plan, t, order, packed, *count, *slices, total));
  PetscFunctionReturn(PETSC_SUCCESS);
}
