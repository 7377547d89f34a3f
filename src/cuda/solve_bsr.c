/*
   Solve strategy bsr: rows of one pattern together, from W and U' on the pattern. x is by rows. Transposes,
   whose columns would be rows of the pattern, are left to ell.
*/
#include "cuda.h"
#include "../../kernels/solve_bsr.h"

PETSC_INTERN const SolveOps SyncILUSolveEllOps;

static PetscErrorCode Create_Bsr(Triangle *t)
{
  Plan                 *plan = t->plan, *points;
  const int             k    = t->part == PART_U;
  SyncILUDeviceBsr     *m;
  SyncILUDeviceTriangle rows;
  SyncILUSlice         *task;
  double                columns;
  SyncILULate          *late;
  int                  *level, levels, *position;

  PetscFunctionBegin;
  if (t->of) {
    t->ops = &SyncILUSolveEllOps;
    PetscCall((*t->ops->create)(t));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&m));
  t->data = m;
  PlanCall(PlanPoints(plan));
  points = plan->points;
  PointsCall(PlanGetLevels(points, t->part, &level, &levels));
  PointsCall(OrderCreate(points, &t->memory, t->part, level, levels, 0, &t->order));
  columns  = points->pattern.n ? (double)plan->point * points->part[k] / points->pattern.n : 0.0;
  t->lanes = t->order.numerical ? 5 : PetscMax(3, PlanLanes(plan, columns / SYNCILU_BSR_COLUMNS));
  PointsCall(PlanTriangle(points, &points->scratch, t->part, &rows));
  PointsCall(PlanSlices(points, &t->memory, rows, t->order.row, t->order.key, 0, t->lanes, INT_MAX, &task, &m->tasks));
  m->points.size    = plan->point;
  m->points.pattern = points->pattern;

  m->points.pattern.col = points->columns;
  m->lower              = t->part == PART_L;
  m->task               = task;
  m->order              = t->order.row;
  if (t->order.level_rows * (double)(1 << t->lanes) <= 32.0 * SYNCILU_BSR_LATE) {
    PointsCall(PlanAlloc(points, &t->memory, (size_t)points->pattern.n * sizeof(*late), &late));
    PointsCall(OrderPositions(points, &t->order, &position));
    PlanLaunch(SyncILUKernelBsrLate(*m, position, late, plan->stream));
    m->late = late;
  }
  if (!points->level[0] && !points->level[1]) PetscCall(PlanRelease(points, &points->scratch, 0));
  t->order.key    = NULL; /* of points, which nobody else asks for */
  t->order.start  = NULL;
  t->order.points = PETSC_TRUE;
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
  PlanLaunch(SyncILUKernelColumnsOfPoints(m->points, plan->pattern, m->lower, col, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveBsrOps = {.type    = SYNCILU_SOLVE_BSR,
                                     .create  = Create_Bsr,
                                     .update  = TriangleUpdateCrout,
                                     .solve   = Solve_Bsr,
                                     .columns = Columns_Bsr};
