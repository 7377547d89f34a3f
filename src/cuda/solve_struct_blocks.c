/*
   Solve strategy struct for points with several unknowns: lines of points, whose entries are dense blocks, in
   the tiles of kernels/struct.h and the storage of kernels/solve_struct_blocks.h. x is by tiles, and of both
   triangles alike. The factorization has written there, or leaves W and U' on the pattern, which nobody keeps
   once the storage is made of them; they are made again of it when they are asked for.

   The points are the rows of plan->inodes, whose grid is found as that of rows is.
*/
#include "struct.h"

typedef struct {
  SyncILUDeviceStructBlocks        q;
  const SyncILUDeviceStructBlocks *upper; /* U's, where blocks are whole */
} Points;

static void Describe(const Plan *plan, Part part, SyncILUDeviceStructBlocks *q, signed char line[SYNCILU_STRUCT_LINES][2])
{
  const Stencil *s = plan->inodes->stencil;

  StencilDescribe(s, part, &q->m, line);
  /* also where nothing is needed of a step: else its place in the ring could be taken again before it is seen that it is there */
  q->m.height       = PetscMax(q->m.height, 1);
  q->inodes.size    = plan->inode;
  q->inodes.pattern = plan->inodes->pattern;
  for (int e = 0; e < q->m.points; e++) q->near += q->m.before[e] == 1;
}

/* Whether the pattern is for it; what there would be of the triangle. */
static PetscErrorCode PointsFit(Plan *plan, Part part, SyncILUDeviceStructBlocks *q, char why[], size_t len)
{
  signed char line[SYNCILU_STRUCT_LINES][2];

  PetscFunctionBegin;
  if (plan->settings->analysis != SYNCILU_ANALYSIS_AUTO || plan->settings->vector_size)
    PetscCall(PetscStrncpy(why, "it goes along the lines of a grid with a lane an unknown, and another order or number of lanes is asked for", len));
  else if (plan->row) PetscCall(PetscStrncpy(why, "it is for the natural order of a grid, not for -pc_factor_mat_ordering_type", len));
  else if (plan->settings->grid_from != SYNCILU_GRID_UNKNOWN && plan->settings->grid[3] % plan->inode)
    PetscCall(PetscSNPrintf(why, len, "the grid has %d unknowns a point, and rows come in groups of %d", (int)plan->settings->grid[3], plan->inode));
  else if (plan->inode < 2) PetscCall(PetscStrncpy(why, "rows do not come in points of several unknowns", len));
  else if (!plan->statistics.off_diagonal) PetscCall(PetscStrncpy(why, "only diagonals have updates", len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanInodes(plan));
  InodesCall(PlanFindStencil(plan->inodes));
  if (plan->inodes->stencil->why[0]) PetscCall(PetscSNPrintf(why, len, "of points of %d unknowns, %s", plan->inode, plan->inodes->stencil->why));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  Describe(plan, part, q, line);
  if (q->m.beside.cells > SYNCILU_STRUCT_CELLS || q->m.beside.lines > SYNCILU_STRUCT_LINES)
    PetscCall(PetscSNPrintf(why, len, "points of a tile depend on more lines beside it than the %d there is room for", SYNCILU_STRUCT_LINES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An empty plan asks about the device. */
static PetscErrorCode Fits_StructBlocks(Plan *plan, Part part, char why[], size_t len)
{
  SyncILUDeviceStructBlocks q = {.m = {.g = {.edge = {2, 0}}}, .inodes = {.size = 2}};
  int                       fits;

  PetscFunctionBegin;
  if (plan->pattern.n) {
    PetscCall(PointsFit(plan, part, &q, why, len));
    if (why[0] || plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanLaunch(SyncILUKernelStructBlocksFits(q, &fits));
  if (!fits)
    PetscCall(PetscStrncpy(why, "the device has no barriers for copies to shared memory (compute capability 9.0), or no room there for these blocks", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_StructBlocks(Triangle *t)
{
  Plan                      *plan = t->plan;
  signed char                line[SYNCILU_STRUCT_LINES][2], (*lines)[2];
  Points                    *points;
  SyncILUDeviceStructBlocks *q;
  const SyncILULines        *g;
  size_t                     bytes;

  PetscFunctionBegin;
  PetscCall(PetscNew(&points));
  t->data = points;
  q       = &points->q;
  g       = &q->m.g;
  Describe(plan, t->part, q, line);
  PlanCall(PlanAlloc(plan, &t->memory, sizeof(line), &lines));
  PetscCall(DeviceUpload(plan->stream, lines, line, sizeof(line)));
  q->m.beside.line = (const signed char(*)[2])lines;
  PlanCall(StencilSortTiles(t, &q->m.g, q->m.down, &q->m.order));
  t->room = (size_t)SyncILUStructBlocksLines(g) * (size_t)plan->inode * (size_t)g->tiles * (size_t)g->steps;
  bytes   = SyncILUStructBlocksStep(g, q->m.points, plan->inode) * (size_t)g->tiles * (size_t)g->steps * plan->size;
  PlanCall(PlanAlloc(plan, &t->memory, bytes, &q->m.val));
  CallCUDA(cudaMemsetAsync(q->m.val, 0, bytes, plan->stream)); /* what has no entry stays so */
  t->order.points     = PETSC_TRUE;
  t->order.level_rows = (double)plan->pattern.n / plan->inodes->stencil->levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Where the factorization has not written there, from W and U' on the pattern, where nobody needs them
   afterwards. Blocks that were whole stay so where that fails.
*/
static PetscErrorCode Update_StructBlocks(Triangle *t, const Factor *factor)
{
  Plan   *plan = t->plan;
  Points *p    = (Points *)t->data;

  PetscFunctionBegin;
  if (factor->stored && !t->of) {
    p->upper   = factor->whole ? TriangleGetStructBlocks(factor->whole) : NULL;
    p->q.whole = p->upper != NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanKeepCrout(plan, PlanCroutMemory(plan))); /* unless the factorization, or the caller, has brought them */
  PlanCall(TriangleUpdateCrout(t, factor));
  if (t->part == PART_U && !factor->stored) plan->crout_generation = factor->generation; /* those of L have come before */
  PlanLaunch(SyncILUKernelStructBlocksValues(plan->type, p->q, plan->crout, factor->d, plan->stream));
  p->upper   = NULL;
  p->q.whole = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_StructBlocks(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveStructBlocks(plan->type, ((const Points *)t->data)->q, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Columns_StructBlocks(const Triangle *t, int *col)
{
  Plan               *plan   = t->plan;
  const int           mark   = plan->inodes->scratch.n;
  SyncILUDeviceInodes inodes = ((const Points *)t->data)->q.inodes;

  PetscFunctionBegin;
  InodesCall(PlanGetPattern(plan->inodes, &inodes.pattern));
  PlanLaunch(SyncILUKernelColumnsOfInodes(inodes, plan->pattern, t->part == PART_L, col, plan->stream));
  PetscCall(PlanRestorePattern(plan->inodes, &inodes.pattern));
  PetscCall(PlanRelease(plan->inodes, &plan->inodes->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Values_StructBlocks(const Triangle *t, void *val)
{
  Plan         *plan = t->plan;
  const Points *p    = (const Points *)t->data;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelValuesOfStructBlocks(plan->type, p->q, p->upper ? *p->upper : p->q, val, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveStructBlocksOps = {.type       = SYNCILU_SOLVE_STRUCT,
                                              .transposes = PETSC_TRUE,
                                              .scales     = PETSC_TRUE,
                                              .plain      = PETSC_TRUE,
                                              .fits       = Fits_StructBlocks,
                                              .create     = Create_StructBlocks,
                                              .update     = Update_StructBlocks,
                                              .solve      = Solve_StructBlocks,
                                              .columns    = Columns_StructBlocks,
                                              .values     = Values_StructBlocks};

const SyncILUDeviceStructBlocks *TriangleGetStructBlocks(const Triangle *t)
{
  return t->ops == &SyncILUSolveStructBlocksOps ? &((const Points *)t->data)->q : NULL;
}
