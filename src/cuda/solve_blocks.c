/*
   Solves by blocks: a warp a block of the ordering that the plan has made, in the storage of
   kernels/solve_blocks.h. x is by rows. The strategy has no option value: where it fits, it is what auto does.
*/
#include "solve.h"
#include "../bmc.h"
#include "../../kernels/order.h"
#include "../../kernels/solve_blocks.h"
#include "../../kernels/solve_gathered.h"

typedef struct {
  SyncILUDeviceBlocks   m;           /* comes first: see BlocksCreate() */
  int                   many, longs; /* see SyncILUKernelSolveBlocks() */
  SyncILUDeviceGathered gathered;    /* where the triangle gathers */
} Blocks;

PETSC_INTERN const SolveOps SyncILUSolveBlocksOps, SyncILUSolveEllOps;

static PetscErrorCode Fits_Blocks(Plan *plan, Part part, char why[], size_t len)
{
  const int longest = plan->counts.longest[part == PART_U];

  PetscFunctionBegin;
  if (!plan->block) PetscCall(PetscStrncpy(why, "is for the blocks of -pc_factor_mat_ordering_type bmc, where it is made on the device", len));
  else if (plan->block_size > SYNCILU_BLOCKS_MOST || plan->block_size < SYNCILU_BMC_LEAST)
    PetscCall(PetscSNPrintf(why, len, "is for blocks of %d to %d rows, not %" PetscInt_FMT, SYNCILU_BMC_LEAST, SYNCILU_BLOCKS_MOST, plan->block_size));
  else if (longest > SYNCILU_BLOCKS_LONGEST)
    PetscCall(PetscSNPrintf(why, len, "a row has %d entries, more than the %d of a warp", longest, SYNCILU_BLOCKS_LONGEST));
  else if (plan->settings->analysis != SYNCILU_ANALYSIS_AUTO || plan->settings->vector_size)
    PetscCall(PetscStrncpy(why, "goes by blocks with a lane a row, and another order or number of lanes is asked for", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks and their rows, and where their entries begin. */
static PetscErrorCode CreateRows(Triangle *t, const int *begin, SyncILUDeviceBlocks *m, int *outers)
{
  Plan            *plan = t->plan;
  const size_t     n    = (size_t)m->blocks;
  const int        mark = plan->scratch.n;
  SyncILUBlock    *block;
  SyncILUBlockRow *row;
  int             *outer, *inner, *padded, both[2];

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &t->memory, n * sizeof(*block), &block));
  PlanCall(PlanAlloc(plan, &t->memory, n * SYNCILU_BLOCKS_MOST * sizeof(*row), &row));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 2) * sizeof(int), &outer));
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &inner));
  padded = outer + n + 1; /* behind the sum of all, so that they come to the host together */
  CallCUDA(cudaMemsetAsync(padded, 0, sizeof(*padded), plan->stream));
  PlanLaunch(SyncILUKernelBlockRows(t->rows, m->blocks, begin, m->down, block, row, outer, inner, padded, plan->stream));
  PlanCall(PlanOffsets(plan, m->blocks, outer, NULL));
  PlanCall(PlanOffsets(plan, m->blocks, inner, NULL));
  PlanLaunch(SyncILUKernelBlockBegins(m->blocks, outer, inner, block, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, both, outer + n, sizeof(both)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  m->block  = block;
  m->row    = row;
  m->padded = (both[1] + 7) / 8 * 8;
  *outers   = both[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   BlocksCreate - a triangle in blocks of successive rows, without values

   Not Collective

   Input Parameters:
+  t      - the triangle, with its rows and columns
.  begin  - where the blocks begin, and the number of rows; NULL: each SYNCILU_BLOCKS_MOST rows
-  blocks - how many there are

   Output Parameter:
.  m - the blocks, with which the data of t begins
*/
PetscErrorCode BlocksCreate(Triangle *t, const int *begin, int blocks, SyncILUDeviceBlocks *m)
{
  Plan *plan = t->plan;
  int  *col, outers = 0;
  void *val;

  PetscFunctionBegin;
  m->n      = plan->pattern.n;
  m->blocks = blocks;
  m->down   = t->part == PART_U || t->part == PART_LT;
  PlanCall(CreateRows(t, begin, m, &outers));
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)outers * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)t->rows.entries * plan->size, &val));
  m->outer = val;
  m->inner = (char *)val + (size_t)outers * plan->size;
  PlanLaunch(SyncILUKernelBlockColumns(t->rows, *m, col, plan->stream));
  m->col          = col;
  t->order.blocks = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collects the columns that each block needs, if they fit shared memory; the caller releases scratch. */
static PetscErrorCode Collect(Triangle *t, DeviceMemory *memory, SyncILUDeviceBlocks *m)
{
  Plan             *plan = t->plan;
  const int         kept = memory->n;
  const size_t      n = (size_t)m->blocks, bytes = (size_t)((char *)m->inner - (char *)m->outer);
  const int         outers = (int)(bytes / plan->size);
  int              *list, *needs, *needed, total;
  unsigned short   *need;
  SyncILUBlocksMost most, *device;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, memory, ((size_t)outers + SYNCILU_BLOCKS_PIECE) * sizeof(*need), &need));
  PlanCall(PlanAlloc(plan, memory, (n + 1) * sizeof(int), &needs));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)outers * sizeof(int), &list));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(most), &device));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(most), plan->stream));
  CallCUDA(cudaMemsetAsync(need + outers, 0, SYNCILU_BLOCKS_PIECE * sizeof(*need), plan->stream));
  PlanLaunch(SyncILUKernelCollectColumns(*m, outers, t->rows.entries - outers, list, needs, need, device, plan->stream));
  PlanCall(PlanOffsets(plan, m->blocks, needs, &total));
  PetscCall(DeviceReadBack(plan->stream, &most, device, sizeof(most)));
  if (most.needs > SYNCILU_BLOCKS_NEEDS) PetscCall(PlanRelease(plan, memory, kept));
  else {
    PlanCall(PlanAlloc(plan, memory, (size_t)total * sizeof(int), &needed));
    PlanLaunch(SyncILUKernelJoinColumns(*m, list, needs, needed, plan->stream));
    m->most   = most;
    m->need   = need;
    m->needs  = needs;
    m->needed = needed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of an unsymmetric pattern may have any length: a transpose with long ones is left to ell. */
static PetscErrorCode Create_Blocks(Triangle *t)
{
  Plan     *plan = t->plan;
  const int n = plan->pattern.n, mark = plan->scratch.n;
  Blocks   *b;

  PetscFunctionBegin;
  if (t->rows.longest > SYNCILU_BLOCKS_LONGEST) {
    t->ops = &SyncILUSolveEllOps;
    PetscCall((*t->ops->create)(t));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&b));
  t->data = b;
  PlanCall(BlocksCreate(t, plan->block, plan->blocks, &b->m));
  if (n >= SYNCILU_BLOCKS_COLLECTED) PlanCall(Collect(t, &t->memory, &b->m));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  b->longs            = t->rows.longest > SYNCILU_BLOCKS_ALONE;
  t->lines            = (PetscBool)(!b->longs && b->m.padded <= SYNCILU_BLOCKS_INNER);
  b->many             = t->rows.entries > SYNCILU_BLOCKS_MEAN * n;
  t->order.level_rows = (double)n / PetscMax(plan->colors, 1);
  t->order.throttle   = OrderThrottle(t->order.level_rows, SYNCILU_THROTTLE_COLORS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks of a triangle that BlocksCreate() has made; NULL if it is none. */
const SyncILUDeviceBlocks *TriangleGetBlocks(const Triangle *t)
{
  return t->order.blocks ? (const SyncILUDeviceBlocks *)t->data : NULL;
}

PetscErrorCode BlocksUpdate(Triangle *t, const Factor *factor)
{
  Plan             *plan = t->plan;
  SyncILUDeviceRows rows = t->part == PART_L ? factor->w : factor->u;

  PetscFunctionBegin;
  if (factor->stored && !t->of) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->of) { /* from the pattern, where the caller has brought them */
    PetscCall(PetscMemzero(&rows, sizeof(rows)));
    rows.values.a = plan->crout;
  } else if (!rows.values.a) {
    rows.values.a = t->w;
    rows.begin    = t->wbegin;
  }
  PlanLaunch(SyncILUKernelBlockValues(plan->type, t->rows, *TriangleGetBlocks(t), rows, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A flag a block and group of right-hand sides; groups of half a line are the most there can be. */
static size_t FlagsBytes(int blocks)
{
  return (size_t)blocks * (SYNCILU_RHS_MAX / (SYNCILU_RHS_LINE / 2)) * sizeof(int);
}

/*
   What solves need that gather lines of x: records of blocks, and flags. Nothing, if a block needs more than
   SYNCILU_BLOCKS_NEEDS lines. The caller releases scratch.
*/
static PetscErrorCode Gather_Blocks(Triangle *t)
{
  Plan                 *plan = t->plan;
  Blocks               *b    = (Blocks *)t->data;
  SyncILUDeviceBlocks   m    = b->m;
  SyncILUDeviceGathered g    = {.n = m.n, .blocks = m.blocks, .down = m.down, .outer = m.outer, .inner = m.inner};
  int                  *begin, pieces;
  SyncILUGatheredMost  *most;
  void                 *record;

  PetscFunctionBegin;
  if (!m.needed) PlanCall(Collect(t, &plan->scratch, &m));
  if (!m.needed) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &t->memory, ((size_t)m.blocks + 1) * sizeof(int), &begin));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*most), &most));
  CallCUDA(cudaMemsetAsync(most, 0, sizeof(*most), plan->stream));
  PlanLaunch(SyncILUKernelMeasureGathered(m, begin, most, plan->stream));
  PlanCall(PlanOffsets(plan, m.blocks, begin, &pieces));
  PetscCall(DeviceReadBack(plan->stream, &g.most, most, sizeof(*most)));
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)pieces * SYNCILU_GATHERED_PIECE, &record));
  PlanCall(PlanAlloc(plan, &t->memory, FlagsBytes(m.blocks), &g.solved));
  g.begin = begin;
  g.warps = SyncILUKernelGatheredWarps(plan->type, g.most);
  PlanLaunch(SyncILUKernelRecordGathered(m, g, record, plan->stream));
  g.record    = record;
  b->gathered = g;
  t->gathers  = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Blocks(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan   *plan = t->plan;
  Blocks *b    = (Blocks *)t->data;

  PetscFunctionBegin;
  if (s->gathers) {
    PetscCall(DeviceNumberFlags(plan->stream, b->gathered.solved, FlagsBytes(b->gathered.blocks), &b->gathered.round));
    PlanLaunch(SyncILUKernelSolveGathered(plan->type, b->gathered, *s, plan->stream));
  } else PlanLaunch(SyncILUKernelSolveBlocks(plan->type, b->m, b->many, b->longs, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlocksColumns(const Triangle *t, int *col)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelColumnsOfBlocks(t->rows, *TriangleGetBlocks(t), t->part == PART_L ? plan->pattern.diag : NULL, col, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BlocksValues(const Triangle *t, void *val)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelValuesOfBlocks(plan->type, t->rows, *TriangleGetBlocks(t), val, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Blocks(const Triangle *t, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (t->gathers) {
    const SyncILUDeviceGathered *g = &((const Blocks *)t->data)->gathered;

    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "right-hand sides: gathered where they are beyond the cache, %s in at most %d parts of %d lines a block, %d warps\n",
                                     t->part == PART_L ? "L" : "U", g->most.parts, g->most.needs, g->warps));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveBlocksOps = {.type    = SYNCILU_SOLVE_AUTO,
                                        .name    = "blocks",
                                        .fits    = Fits_Blocks,
                                        .create  = Create_Blocks,
                                        .update  = BlocksUpdate,
                                        .solve   = Solve_Blocks,
                                        .gather  = Gather_Blocks,
                                        .view    = View_Blocks,
                                        .rows    = TriangleRows,
                                        .columns = BlocksColumns,
                                        .values  = BlocksValues};
