/*
   Whether levels of few rows make the way from level to level what a triangular solve costs, which is the shortest
   within one cluster of thread blocks. The constants are in kernels/tuning.h.
*/
#include "cuda.h"
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

/* Whether too many rows of a triangle are on levels that one cluster takes long for. */
static PetscErrorCode TooWide(Plan *plan, const int *level, int levels, PetscBool *wide)
{
  const int mark = plan->scratch.n;
  int      *count, rows;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)levels + 1) * sizeof(*count), &count));
  CallCUDA(cudaMemsetAsync(count + levels, 0, sizeof(*count), plan->stream));
  PlanLaunch(SyncILUKernelWideLevels(plan->pattern.n, levels, level, SYNCILU_CLUSTER_WIDE, count, count + levels, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &rows, count + levels, sizeof(rows)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  *wide = (PetscBool)((double)rows > SYNCILU_CLUSTER_SHARE * (double)plan->pattern.n);
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
   PlanIsNarrow - whether the levels of both triangles are narrow

   Not Collective

   Input Parameters:
+  plan   - the plan
-  inodes - whether rows wait by inodes else

   Output Parameters:
+  slices - warps that the rows of a level of L and of U have work for, in the mean
-  narrow - whether they are; then the plan is no longer in tiles
*/
PetscErrorCode PlanIsNarrow(Plan *plan, PetscBool inodes, double slices[2], PetscBool *narrow)
{
  const PetscBool tiled = plan->tiled, reversed = plan->reversed;
  const int       mark  = plan->scratch.n;
  const PetscBool heavy = (PetscBool)(plan->counts.heavy > SYNCILU_OUTLIERS);
  PetscBool       wide  = heavy;

  PetscFunctionBegin;
  plan->tiled = PETSC_FALSE;
  PlanCall(LevelsForCluster(plan));
  for (int k = 0; k < 2; k++) {
    SyncILUDeviceTriangle t;
    double                most;
    int                   lanes, polls;

    PlanCall(PlanTriangle(plan, &plan->scratch, k ? PART_U : PART_L, &t));
    PlanCall(EllLanesAtOnce(plan, k ? PART_U : PART_L, t, &lanes, &polls));
    slices[k] = PlanLevelWarps(plan, lanes, (double)plan->levels[k]);
    most      = inodes ? SYNCILU_CLUSTER_SLICES_INODES : lanes >= SYNCILU_CLUSTER_LANES ? SYNCILU_CLUSTER_SLICES_LONG : SYNCILU_CLUSTER_SLICES;
    if (slices[k] > most || plan->levels[k] < SYNCILU_CLUSTER_LEVELS) wide = PETSC_TRUE;
    if (!wide && !(k && plan->reversed)) PlanCall(TooWide(plan, plan->level[k], plan->levels[k], &wide));
  }
  *narrow = (PetscBool)!wide;
  if (!wide) PetscFunctionReturn(PETSC_SUCCESS);
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
