/*
   Tiles: rows that a warp takes together though they depend on each other, because they are neighbours. Which
   tiles there are, and their order.
*/
#include "order.h"
#include "../../kernels/order.h"
#include "../../kernels/tiles.h"

/* Whether rows may be taken in tiles, which then their statistics decide. */
PetscBool PlanMayTile(const Plan *plan)
{
  return (PetscBool)(plan->settings->analysis == SYNCILU_ANALYSIS_AUTO && plan->pattern.n);
}

/*
   Whether rows of at most so many entries are short and alike enough for tiles: a lane polls for all of its
   entries at once, and they must not be padding for the most part. A few rows of more than twice the mean may
   be padding to all rows of their tiles.
*/
static PetscBool Alike(const Plan *plan, int longest, PetscBool few)
{
  if (!longest || longest > (2 * SYNCILU_POLLS * 32) / SYNCILU_TILE_ROWS) return PETSC_FALSE;
  for (int k = 0; k < 2; k++) {
    const double entries = plan->part[k], wide = 32.0 * 2 * SYNCILU_POLLS * plan->statistics.wide[k];

    if ((double)PetscMin(longest, plan->counts.longest[k]) * plan->pattern.n > 2.0 * entries && (!few || 4.0 * wide > entries)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Whether tiles are boxes of a grid. */
static PetscBool OnGrid(const Plan *plan)
{
  return (PetscBool)(plan->tiled && !plan->tiling.block);
}

/*
   Tiles of a grid: nearly cubes. With outliers a few rows may depend on rows that are not behind them, or
   come after the grid.
*/
static PetscBool Boxes(SyncILUTiling *t, const SyncILUDeviceStatistics *statistics, int lanes, PetscBool outliers)
{
  long long extent[3], width[3], tiles = 1;

  if (!SyncILUGridPoints(t->n, statistics->distance, t->points)) return PETSC_FALSE;
  if (statistics->across[0] && statistics->across[1]) {
    if (!outliers || PetscMin(statistics->crossing[0], statistics->crossing[1]) > SYNCILU_OUTLIERS) return PETSC_FALSE;
    t->skew = statistics->crossing[0] > SYNCILU_OUTLIERS;
  } else t->skew = statistics->across[0];
  for (int left = 5 - lanes, grown = 1; left && grown;) {
    grown = 0;
    for (int c = 0; c < 3 && left; c++) {
      if (1 << t->edge[c] < t->points[c]) {
        t->edge[c]++;
        left--;
        grown = 1;
      }
    }
  }
  /*
     skewed, the points of a line of tiles differ in x by those of the grid and by what the tile's y and z
     shift them, likewise in y
  */
  SyncILUGridExtents(t->points, t->skew, extent);
  width[0] = t->skew ? t->points[0] + (1ll << t->edge[1]) + (1ll << t->edge[2]) - 2 : extent[0];
  width[1] = t->skew ? t->points[1] + (1ll << t->edge[2]) - 1 : extent[1];
  width[2] = extent[2];
  if (extent[0] + extent[1] + extent[2] > INT_MAX) return PETSC_FALSE;
  t->levels = -2;
  for (int c = 0; c < 3; c++) {
    const long long begins = t->skew && c < 2 ? 1 : 0; /* a line need not begin where a tile does */

    t->tiles[c] = (int)(((width[c] - 1) >> t->edge[c]) + 1 + begins);
    t->levels += (int)((extent[c] - 1) >> t->edge[c]) + 1;
    tiles *= t->tiles[c];
    if (tiles > INT_MAX / 2) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Row blocks of so many rows. */
static void Blocks(SyncILUTiling *t, int rows)
{
  t->block    = rows;
  t->edge[0]  = Log2Ceil((double)rows);
  t->tiles[0] = (t->n - 1) / rows + 1;
  t->tiles[1] = t->tiles[2] = 1;
}

/*
   Chooses tiles: boxes if the numbering follows a grid; the rows of a point if there are several, all of
   which depend on each other, long enough for the lanes that there are then; row blocks if successive rows
   make long chains. The rows of a point take twice as many entries a lane, since few of them are within the
   tile.
*/
static PetscBool Choose(Plan *plan, int longest, PetscBool outliers)
{
  const SyncILUDeviceStatistics *s     = &plan->statistics;
  const int                      n     = plan->pattern.n;
  const int                      lanes = PlanLanes(plan, (double)longest / SYNCILU_POLLS);
  const int                      chain = n / (n - s->successive + 1);
  const PetscBool                fit   = (PetscBool)(32 >> lanes >= SYNCILU_TILE_ROWS && longest <= SYNCILU_POLLS << lanes);
  const SyncILUTiling            none  = {.n = n, .limit = outliers ? SyncILUUsualLength(s->over) : INT_MAX};

  if (!Alike(plan, longest, outliers)) return PETSC_FALSE;
  plan->tile_lanes   = lanes;
  plan->chain        = 0;
  plan->tile_entries = SYNCILU_POLLS;
  plan->tiling       = none;
  if (fit && Boxes(&plan->tiling, s, lanes, outliers)) return PETSC_TRUE;
  plan->tiling = none;
  for (int rows = SYNCILU_BLOCK_ROWS; rows > 1; rows--) {
    const int most = 5 - Log2Ceil((double)rows), entries = ((longest - 1) >> most) + 1;

    if (!(s->blocks >> rows & 1) || longest < 1 << most || entries > 2 * SYNCILU_POLLS || PlanLanes(plan, 1 << most) != most) continue;
    plan->tile_lanes   = most;
    plan->tile_entries = entries > SYNCILU_POLLS ? 2 * SYNCILU_POLLS : SYNCILU_POLLS;
    Blocks(&plan->tiling, rows);
    return PETSC_TRUE;
  }
  if (!fit || chain < SYNCILU_TILE_CHAIN) return PETSC_FALSE;
  plan->chain = chain;
  Blocks(&plan->tiling, 32 >> lanes);
  return PETSC_TRUE;
}

/* Levels of a grid's tiles; those without rows come last. */
static PetscErrorCode GridLevels(Plan *plan)
{
  const SyncILUTiling *t     = &plan->tiling;
  const size_t         tiles = (size_t)t->tiles[0] * (size_t)t->tiles[1] * (size_t)t->tiles[2];
  int                  mark, *count;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PlanCall(PlanAlloc(plan, &plan->scratch, tiles * sizeof(int), &plan->tile_level[k]));
    plan->tile_levels[k] = t->levels;
  }
  mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(int), &count));
  CallCUDA(cudaMemsetAsync(count, 0, sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelTileLevels(*t, plan->tile_level[0], plan->tile_level[1], count, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &plan->tiles, count, sizeof(int)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the tiles, where there are outliers. */
static PetscErrorCode List(Plan *plan)
{
  SyncILUTiling       *t     = &plan->tiling;
  const size_t         n     = (size_t)t->n;
  const double         boxes = (double)t->tiles[0] * t->tiles[1] * t->tiles[2];
  SyncILUDevicePattern p;
  int                 *before, *key, *sorted, *member, *first, *tile, mark, largest;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &member));
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &tile));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &first));
  mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &before));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelOutliers(p, *t, before, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PlanCall(PlanOffsets(plan, t->n, before, &t->outliers));
  plan->tiled = (PetscBool)((t->outliers + 1) * (boxes + 1) < INT_MAX / 2);
  if (plan->tiled && t->outliers) {
    largest = (int)((t->outliers + 1) * (boxes + 1));
    PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &key));
    PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &sorted));
    PlanLaunch(SyncILUKernelListKeys(*t, before, key, plan->stream));
    PlanCall(PlanSort(plan, t->n, largest, key, sorted, member));
    PlanLaunch(SyncILUKernelListHeads(t->n, sorted, before, plan->stream));
    PlanCall(PlanOffsets(plan, t->n, before, &t->tiles[0]));
    PlanLaunch(SyncILUKernelListTiles(t->n, before, member, first, tile, plan->stream));
    t->tiles[1] = t->tiles[2] = 1;
    t->first                  = first;
    t->member                 = member;
    t->tile                   = tile;
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of row blocks, or of the tiles of a list, unless they could wait for each other in circles. */
static PetscErrorCode BlockLevels(Plan *plan)
{
  const int            blocks = plan->tiling.tiles[0];
  SyncILUDevicePattern p, q = {.n = blocks};
  int                 *ptr, *diag, *col, *circle, total, circles = 0;

  PetscFunctionBegin;
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)blocks + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)blocks * sizeof(int), &diag));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(int), &circle));
  CallCUDA(cudaMemsetAsync(circle, 0, sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelBlockSizes(p, plan->tiling, ptr, circle, plan->stream));
  PlanCall(PlanOffsets(plan, blocks, ptr, &total));
  /* row blocks are in order */
  if (plan->tiling.outliers) PetscCall(DeviceReadBack(plan->stream, &circles, circle, sizeof(int)));
  if (circles) {
    PetscCall(PetscInfo(NULL, "Not in tiles: with %d outliers, tiles would wait for each other in circles\n", plan->tiling.outliers));
    plan->tiled = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)total * sizeof(int), &col));
  PlanLaunch(SyncILUKernelBlockPattern(p, plan->tiling, ptr, diag, col, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  q.ptr  = ptr;
  q.col  = col;
  q.diag = diag;
  PlanCall(PlanFindLevels(plan, q, total, PETSC_TRUE, plan->reversed, plan->tile_level, plan->tile_levels));
  plan->tiles = blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether tiles would be padding for the most part: on thin skewed grids they cut through the grid's sides,
   and few of their places have rows. Small matrices may have it so.
*/
static PetscBool Hollow(const Plan *plan)
{
  const int    longest = PetscMin(PetscMax(plan->counts.longest[0], plan->counts.longest[1]), plan->tiling.limit);
  const double entries = 32.0 * plan->tiles * ((longest - 1) / (1 << plan->tile_lanes) + 1);

  return (PetscBool)(plan->pattern.n >= SYNCILU_CUDA_MIN_ROWS && entries > SYNCILU_TILE_PADDING * PetscMin(plan->part[0], plan->part[1]));
}

/* Nanoseconds from the tiles of one level to those of the next: a hop, and the steps from row to row of a tile. */
double TileTime(const SyncILUTiling *t)
{
  const int rows = t->block ? t->block : (1 << t->edge[0]) + (1 << t->edge[1]) + (1 << t->edge[2]) - 2;

  return SYNCILU_HOP + (double)rows * SYNCILU_STEP;
}

/*
   PlanTile - decides whether rows are taken in tiles, and finds the levels of these

   Not Collective

   Input Parameter:
.  plan - the plan, with its statistics
*/
PetscErrorCode PlanTile(Plan *plan)
{
  const SyncILUDeviceStatistics *s       = &plan->statistics;
  const int                      longest = PetscMax(plan->counts.longest[0], plan->counts.longest[1]), usual = SyncILUUsualLength(s->over);

  PetscFunctionBegin;
  plan->tiled = Choose(plan, longest, PETSC_FALSE);
  if (!plan->tiled) {
    plan->tiled = Choose(plan, PetscMin(longest, usual), PETSC_TRUE);
    if (plan->tiled) PlanCall(List(plan));
  }
  if (!plan->tiled) PetscFunctionReturn(PETSC_SUCCESS);
  if (OnGrid(plan) && !plan->tiling.outliers) PlanCall(GridLevels(plan));
  else PlanCall(BlockLevels(plan));
  if (!plan->tiled) PetscFunctionReturn(PETSC_SUCCESS);
  if (OnGrid(plan)) plan->tiled = (PetscBool)!Hollow(plan);
  /*
     blocks of a chain must gain more by the hops they save than they lose by waiting for all that their rows
     need
  */
  else plan->tiled = (PetscBool)(!plan->chain || plan->tile_levels[0] * TileTime(&plan->tiling) <= plan->chain * SYNCILU_HOP);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   OrderCreateTiles - the rows by the levels of their tiles, with the slices that these are

   Not Collective

   Input Parameters:
+  plan   - the plan, which is tiled
.  memory - the list that will have the order
-  part   - PART_L or PART_U

   Output Parameter:
.  order - the order
*/
PetscErrorCode OrderCreateTiles(Plan *plan, DeviceMemory *memory, Part part, Order *order)
{
  const SyncILUTiling *t = &plan->tiling;
  const int            k = part == PART_U, tiles = t->tiles[0] * t->tiles[1] * t->tiles[2], lanes = plan->tile_lanes;
  const int            most = PetscMax(plan->tile_levels[0], plan->tile_levels[1]), mark = plan->scratch.n;
  size_t               bytes = 0;
  void                *work;
  int                 *sorted, *tile;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(order, sizeof(*order)));
  order->tiles = plan->tiles; /* the empty ones come last */
  PlanCall(PlanAlloc(plan, memory, (size_t)plan->pattern.n * sizeof(int), &order->row));
  PlanCall(PlanAlloc(plan, memory, (size_t)order->tiles * sizeof(*order->slice), &order->slice));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)tiles * sizeof(int), &tile));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)tiles * sizeof(int), &sorted));
  PlanCall(PlanSort(plan, tiles, most, plan->tile_level[k], sorted, tile));
  PlanLaunch(SyncILUKernelTileOrder(NULL, &bytes, *t, order->tiles, tile, k, lanes, order->slice, order->row, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelTileOrder(work, &bytes, *t, order->tiles, tile, k, lanes, order->slice, order->row, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  order->level_rows = (double)plan->pattern.n / plan->tile_levels[k];
  order->throttle   = OrderThrottle(order->level_rows, SYNCILU_THROTTLE_LEVELS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the transpose of that triangle. */
PetscErrorCode OrderReverseTiles(Plan *plan, DeviceMemory *memory, const Order *order, Order *reversed)
{
  PetscFunctionBegin;
  PlanCall(OrderReverse(plan, memory, order, reversed));
  reversed->tiles = order->tiles;
  PlanCall(PlanAlloc(plan, memory, (size_t)order->tiles * sizeof(*order->slice), &reversed->slice));
  PlanLaunch(SyncILUKernelReverseTiles(plan->pattern.n, order->tiles, order->slice, reversed->slice, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The levels of the rows of L as they follow from the tiles: on a grid from the points, else from the levels
   of the row blocks.
*/
PetscErrorCode PlanTileRowLevels(Plan *plan, int **level, int *levels)
{
  long long extent[3];

  PetscFunctionBegin;
  if (OnGrid(plan)) {
    SyncILUGridExtents(plan->tiling.points, plan->tiling.skew, extent);
    *levels = (int)(extent[0] + extent[1] + extent[2] - 2);
  } else *levels = plan->tiling.block * plan->tile_levels[0];
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * sizeof(int), level));
  PlanLaunch(SyncILUKernelRowLevels(plan->tiling, plan->tile_level[0], *level, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TilesView(const Plan *plan, PetscViewer viewer)
{
  const SyncILUTiling *t = &plan->tiling;

  PetscFunctionBegin;
  if (t->block)
    PetscCall(PetscViewerASCIIPrintf(viewer, "order: by level of row blocks of %d rows%s", t->block, plan->chain ? ", parts of chains" : ", those of a point"));
  else {
    PetscCall(PetscViewerASCIIPrintf(viewer, "order: by level of tiles of %d x %d x %d rows on a %sgrid of %d x %d x %d", 1 << t->edge[0], 1 << t->edge[1],
                                     1 << t->edge[2], t->skew ? "skewed " : "", t->points[0], t->points[1], t->points[2]));
  }
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (t->outliers) PetscCall(PetscViewerASCIIPrintf(viewer, ", %d row%s alone", t->outliers, t->outliers == 1 ? "" : "s"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
