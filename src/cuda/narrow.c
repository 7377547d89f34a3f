/*
   Whether levels of few rows make the way from level to level what a triangular solve costs, which is the shortest
   within one cluster of thread blocks. The constants are in kernels/tuning.h.
*/
#include "solve.h"
#include "../../kernels/order.h"

/* Warps that the rows of a level have work for, in the mean. */
double PlanLevelWarps(const Plan *plan, int lanes, double levels)
{
  return (double)plan->pattern.n * (double)(1 << lanes) / (32.0 * levels);
}

/*
   Whether a matrix in tiles may be for a cluster. Tiles in which a row has several lanes have few rows, and
   save few levels: there the warps a level decide. Else the ways through all tiles and through all levels are
   compared. A skewed grid may have fewer levels than its skewed extents, and then more rows for warps on each.
*/
static PetscErrorCode TilesMayBeNarrow(Plan *plan, PetscBool *may)
{
  const SyncILUTiling  *t = &plan->tiling;
  SyncILUDeviceTriangle lower;
  long long             extent[3];
  double                levels;
  int                   lanes, polls;

  PetscFunctionBegin;
  *may = PETSC_FALSE;
  if (t->block || t->outliers) PetscFunctionReturn(PETSC_SUCCESS);
  SyncILUGridExtents(t->points, t->skew, extent);
  levels = (double)(extent[0] + extent[1] + extent[2] - 2);
  if (!plan->tile_lanes) {
    const double tiles   = plan->tile_levels[0] * TileTime(t);
    const double slices  = PlanLevelWarps(plan, 0, levels);
    const double cluster = levels * PetscMax(SYNCILU_HOP_CLUSTER, SYNCILU_CLUSTER_WARP_TIME * slices);

    *may = (PetscBool)(slices <= SYNCILU_CLUSTER_SLICES && tiles > SYNCILU_CLUSTER_GAIN * cluster);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
  PlanCall(EllLanesAtOnce(plan, PART_L, lower, &lanes, &polls));
  *may = (PetscBool)(PlanLevelWarps(plan, lanes, levels) <= SYNCILU_CLUSTER_SLICES);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether a matrix whose rows wait by inodes may be for a cluster, in which they do not: only where an inode has so
   few rows that their levels take it less, and where levels have very few rows. Levels of the inodes are what the
   other strategy needs, too.
*/
static PetscErrorCode InodesMayBeNarrow(Plan *plan, PetscBool *may)
{
  const double mean = (double)plan->part[0] / plan->pattern.n;
  int         *level, levels;

  PetscFunctionBegin;
  *may = PETSC_FALSE;
  if (plan->inode * SYNCILU_HOP_CLUSTER > SYNCILU_HOP_INODES) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanInodes(plan));
  InodesCall(PlanGetLevels(plan->inodes, PART_L, &level, &levels));
  plan->inodes->level[0] = level;
  *may = (PetscBool)(PlanLevelWarps(plan, PlanLanes(plan, mean / SYNCILU_LANE_ENTRIES), (double)levels * plan->inode) <= SYNCILU_CLUSTER_SLICES_INODES);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Warps of a level with which a cluster takes as long for it as all multiprocessors. */
static double MostWarps(int lanes)
{
  return lanes >= SYNCILU_CLUSTER_LANES ? SYNCILU_CLUSTER_SLICES_LONG : SYNCILU_CLUSTER_SLICES;
}

/* Nanoseconds that a level of so many rows takes a cluster, which takes so many for each, or all multiprocessors. */
static double LevelTime(int rows, double row, PetscBool wide)
{
  if (wide) return SYNCILU_HOP_BY_LEVEL;
  return PetscMax(SYNCILU_HOP_CLUSTER, rows * (rows > SYNCILU_CLUSTER_WIDE ? PetscMax(row, SYNCILU_CLUSTER_WIDE_TIME) : row));
}

/*
   CutLevels - cuts levels into runs that one cluster and all multiprocessors go through by turns

   Not Collective

   Input Parameters:
+  rows   - of each level
.  levels - how many there are
-  lanes  - logarithm of the lanes a row

   Output Parameters:
+  runs - the runs, at most SYNCILU_RUNS_MOST
-  time - nanoseconds that these take, and all multiprocessors alone; but for the bytes, which are the same for both

   Note:
   The shortest way through all levels, each of them in one of two forms, where a turn to the other form costs its
   start. As long as that has too many turns, they are taken to cost twice as much. The constants are in
   kernels/tuning.h.
*/
PetscErrorCode CutLevels(const int rows[], int levels, int lanes, SyncILURuns *runs, double time[2])
{
  const double   start[2] = {SYNCILU_RUN_LAUNCH + SYNCILU_RUN_CLUSTER, SYNCILU_RUN_LAUNCH}; /* of the cluster, of all multiprocessors */
  const double   row      = SYNCILU_HOP_BY_LEVEL * (double)(1 << lanes) / (32.0 * MostWarps(lanes));
  unsigned char *form; /* first a bit a form, whether the shortest way to it turns at this level; then the form */
  int            turns, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(levels, &form));
  for (double price = 1.0;; price *= 2.0) {
    double way[2] = {0.0, 0.0};

    for (int l = 0; l < levels; l++) {
      const double before[2] = {way[0], way[1]};

      form[l] = 0;
      for (int f = 0; f < 2; f++) {
        const double turned = before[!f] + price * start[f];

        if (l && turned < before[f]) {
          way[f] = turned;
          form[l] |= (unsigned char)(1 << f);
        }
        way[f] += LevelTime(rows[l], row, (PetscBool)f);
      }
    }
    turns = 0;
    for (int l = levels - 1, f = way[1] < way[0]; l >= 0; l--) {
      const int turned = form[l] >> f & 1;

      form[l] = (unsigned char)f;
      if (turned) f = !f;
      turns += turned;
    }
    if (turns < SYNCILU_RUNS_MOST) break;
  }
  PetscCall(PetscMemzero(runs, sizeof(*runs)));
  runs->count = turns + 1;
  runs->wide  = levels ? form[0] : 0;
  time[0] = time[1] = 0.0;
  for (int l = 0, r = 0; l < levels; l++) {
    if (l && form[l] != form[l - 1]) {
      r++;
      runs->level[r] = l;
      runs->first[r] = n;
      time[0] += start[form[l]];
    }
    n += rows[l];
    time[0] += LevelTime(rows[l], row, (PetscBool)form[l]);
    time[1] += LevelTime(rows[l], row, PETSC_TRUE);
  }
  runs->level[runs->count] = levels;
  runs->first[runs->count] = n;
  PetscCall(PetscFree(form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for one triangle or both, with the level of each row on the device. */
PetscErrorCode PlanCutLevels(Plan *plan, int triangles, int *const level[], const int levels[], const int lanes[], SyncILURuns runs[], double time[][2])
{
  const int    mark = plan->scratch.n;
  const size_t all  = (size_t)levels[0] + (triangles > 1 ? (size_t)levels[1] : 0);
  int         *count, *rows;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, all * sizeof(*count), &count));
  for (int k = 0; k < triangles; k++) PlanLaunch(SyncILUKernelLevelRows(plan->pattern.n, levels[k], level[k], count + (k ? levels[0] : 0), plan->stream));
  PetscCall(PetscMalloc1(all, &rows));
  PetscCall(DeviceReadBack(plan->stream, rows, count, all * sizeof(*rows)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  for (int k = 0; k < triangles; k++) PetscCall(CutLevels(rows + (k ? levels[0] : 0), levels[k], lanes[k], &runs[k], time[k]));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Levels of both triangles for a cluster. Where L's from the end would do for U, U is taken by its own earliest
   levels, which a cluster goes through faster; nobody else does, and where levels are narrow it takes hardly longer
   to find them, both at once.
*/
static PetscErrorCode LevelsForCluster(Plan *plan)
{
  SyncILUDevicePattern p;
  int                 *level, levels;

  PetscFunctionBegin;
  if (!plan->reversed || plan->pattern.n > SYNCILU_CLUSTER_EARLIEST) {
    PlanCall(PlanGetLevels(plan, PART_L, &level, &levels));
    plan->level[0] = level; /* for the triangle */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(PlanFindLevels(plan, p, plan->nnz, PETSC_TRUE, PETSC_FALSE, plan->level, plan->levels));
  PetscCall(PlanRestorePattern(plan, &p));
  plan->reversed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanMayBeNarrow - whether levels are worth to be looked at, by what is known before them

   Not Collective

   Input Parameters:
+  plan   - the plan, with its statistics, and its tiles
-  inodes - whether rows wait by inodes else

   Output Parameter:
.  may - whether they are
*/
PetscErrorCode PlanMayBeNarrow(Plan *plan, PetscBool inodes, PetscBool *may)
{
  PetscFunctionBegin;
  *may = PETSC_TRUE;
  if (inodes) PlanCall(InodesMayBeNarrow(plan, may));
  else if (plan->tiled) PlanCall(TilesMayBeNarrow(plan, may));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanIsNarrow - whether the levels of both triangles are narrow: in the mean, or so many of them that a cluster and
   all multiprocessors by turns are faster than these alone

   Not Collective

   Input Parameters:
+  plan   - the plan
-  inodes - whether rows wait by inodes else

   Output Parameters:
+  slices - warps that the rows of a level of L and of U have work for, in the mean
-  narrow - whether they are; then the plan is no longer in tiles, and has the runs of their levels

   Note:
   Turns are compared with what slices that end with levels take without a cluster, so that they are nothing to tiles,
   inodes, and levels of so many rows that ell has others.
*/
PetscErrorCode PlanIsNarrow(Plan *plan, PetscBool inodes, double slices[2], PetscBool *narrow)
{
  const PetscBool tiled = plan->tiled, reversed = plan->reversed;
  const int       mark  = plan->scratch.n;
  const PetscBool heavy = (PetscBool)(plan->counts.heavy > SYNCILU_OUTLIERS);
  const double    bytes = 1e9 * (12.0 * (double)plan->nnz + 40.0 * (double)plan->pattern.n) / SYNCILU_BANDWIDTH;
  PetscBool       mean = PETSC_TRUE, may = (PetscBool)!heavy;
  double          time[2] = {bytes, bytes}, each[2][2]; /* nanoseconds: by runs, and without the cluster */
  int             lanes[2];

  PetscFunctionBegin;
  plan->tiled = PETSC_FALSE;
  PlanCall(LevelsForCluster(plan));
  for (int k = 0; k < 2; k++) {
    SyncILUDeviceTriangle t;
    int                   polls;

    PlanCall(PlanTriangle(plan, &plan->scratch, k ? PART_U : PART_L, &t));
    PlanCall(EllLanesAtOnce(plan, k ? PART_U : PART_L, t, &lanes[k], &polls));
    slices[k] = PlanLevelWarps(plan, lanes[k], (double)plan->levels[k]);
    if (slices[k] > (inodes ? SYNCILU_CLUSTER_SLICES_INODES : MostWarps(lanes[k]))) mean = PETSC_FALSE;
    if (plan->levels[k] < SYNCILU_CLUSTER_LEVELS || (!mean && (tiled || inodes || (double)plan->pattern.n >= (double)SYNCILU_BY_LEVEL_ROWS * plan->levels[k])))
      may = PETSC_FALSE;
  }
  if (may) {
    PlanCall(PlanCutLevels(plan, 2, plan->level, plan->levels, lanes, plan->runs, each));
    for (int f = 0; f < 2; f++) time[f] += each[0][f] + each[1][f];
  }
  /* one run of all multiprocessors each is what they are without a cluster */
  *narrow = (PetscBool)(may && (mean ? time[0] < time[1] : SYNCILU_CLUSTER_GAIN * time[0] < time[1]));
  if (*narrow) PetscFunctionReturn(PETSC_SUCCESS);
  plan->runs[0].count = plan->runs[1].count = 0;
  if (tiled) {
    plan->tiled    = PETSC_TRUE;
    plan->reversed = reversed;
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
    PlanForgetLevels(plan);
  } else if (reversed != plan->reversed && !heavy) {
    plan->levels[1] = plan->levels[0];
    plan->reversed  = reversed;
    PlanLaunch(SyncILUKernelLevelsReverse(plan->pattern.n, plan->levels[0], plan->level[0], plan->level[1], plan->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
