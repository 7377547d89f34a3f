/*
   Solve strategy bsr: rows of one pattern together, from W and U' on the pattern. x is by rows.
*/
#include "solve.h"
#include "../../kernels/solve_bsr.h"

static PetscErrorCode Create_Bsr(Triangle *t)
{
  Plan             *plan = t->plan, *inodes;
  const int         k    = t->part == PART_U || t->part == PART_UT;
  SyncILUDeviceBsr *m;
  SyncILUBsrPlace  *place;
  SyncILUSlice     *task;
  double            columns;
  SyncILULate      *late;
  double            warps; /* of a level, with the lanes that its rows would have */
  int              *level, levels, *position;

  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  t->data = m;
  PlanCall(PlanInodes(plan));
  inodes = plan->inodes;
  InodesCall(PlanGetLevels(inodes, t->part, &level, &levels));
  if (plan->inode == 1 && t->part == PART_L && !plan->level[0]) { /* of the rows, too, which the factorization will ask for */
    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * sizeof(int), &plan->level[0]));
    CallCUDA(cudaMemcpyAsync(plan->level[0], level, (size_t)plan->pattern.n * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
    plan->levels[0] = levels;
    plan->late      = inodes->late;
  }
  InodesCall(OrderCreate(inodes, &t->memory, t->part, level, levels, 0, &t->order));
  columns  = inodes->pattern.n ? (double)plan->inode * inodes->part[k] / inodes->pattern.n : 0.0;
  t->lanes = t->order.numerical ? 5 : PetscMax(3, PlanLanes(plan, columns / SYNCILU_BSR_COLUMNS));
  warps    = t->order.level_rows * (double)(1 << t->lanes) / 32.0;
  if (!t->order.numerical) {
    if (warps > SYNCILU_BSR_WIDE && !plan->settings->vector_size) t->lanes = PetscMax(3, t->lanes - 1);
    /*
       In narrow levels inodes wait for the latest levels last, and so poll little; beside wide ones few inodes of
       later levels are at work at all.
    */
    t->order.throttle = 0;
  }
  InodesCall(PlanTriangle(inodes, &t->memory, t->part, &m->part));
  InodesCall(PlanSlices(inodes, &t->memory, m->part, t->order.row, t->order.key, 0, t->lanes, INT_MAX, PETSC_FALSE, &task, &m->tasks, NULL));
  m->inodes.size    = plan->inode;
  m->inodes.pattern = inodes->pattern;

  m->inodes.pattern.col = inodes->columns;
  m->lower              = t->part == PART_L || t->part == PART_UT;
  m->task               = task;
  m->order              = t->order.row;
  if (t->of) {
    InodesCall(PlanAlloc(inodes, &t->memory, (size_t)m->part.entries * sizeof(*place), &place));
    PlanLaunch(SyncILUKernelBsrPlaces(*m, place, plan->stream));
    m->place = place;
  }
  if (warps <= SYNCILU_BSR_LATE) {
    InodesCall(PlanAlloc(inodes, &t->memory, (size_t)inodes->pattern.n * sizeof(*late), &late));
    InodesCall(OrderPositions(inodes, &t->order, &position));
    PlanLaunch(SyncILUKernelBsrLate(*m, position, late, plan->stream));
    m->late = late;
  }
  if (!inodes->level[0] && !inodes->level[1]) PetscCall(PlanRelease(inodes, &inodes->scratch, 0));
  t->order.key    = NULL; /* of inodes, which nobody else asks for */
  t->order.start  = NULL;
  t->order.inodes = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Bsr(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveBsr(plan->type, *(const SyncILUDeviceBsr *)t->data, plan->crout, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Columns_Bsr(const Triangle *t, int *col)
{
  Plan                   *plan = t->plan;
  const SyncILUDeviceBsr *m    = (const SyncILUDeviceBsr *)t->data;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelColumnsOfInodes(m->inodes, plan->pattern, m->lower, col, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveBsrOps = {.type       = SYNCILU_SOLVE_BSR,
                                     .inodes     = PETSC_TRUE,
                                     .transposes = PETSC_TRUE,
                                     .create     = Create_Bsr,
                                     .update     = TriangleUpdateCrout,
                                     .solve      = Solve_Bsr,
                                     .columns    = Columns_Bsr};
