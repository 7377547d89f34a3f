/*
   What the CUDA backend says of a factor and its matrix: values, what it took, what runs.
*/
#include "cuda.h"
#include "choose.h"
#include "struct.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_parilu.h"
#include "../../kernels/pattern.h"

/* The usual form on the host, made of the Crout form. */
static PetscErrorCode Values(SyncILUEngine e)
{
  CUDA                *d    = (CUDA *)e->data;
  Plan                *plan = &d->plan;
  const size_t         n = (size_t)plan->pattern.n, nnz = (size_t)plan->nnz;
  const PetscBool      kept = (PetscBool)(plan->crout != NULL);
  SyncILUDevicePattern p;
  double              *val, *pivot;
  int                 *ptr, *col, *diag;

  PetscFunctionBegin;
  if (d->values.generation == d->factor.generation) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CroutUpdate(d, &plan->scratch));
  if (!plan->unfit[0]) PetscCall(PlanGetPattern(plan, &p));
  if (!plan->unfit[0]) {
    PetscCall(PetscMalloc5(nnz, &val, n, &pivot, n + 1, &ptr, nnz, &col, n, &diag));
    PetscCall(DeviceDownload(plan->stream, val, plan->crout, nnz * plan->size));
    PetscCall(DeviceDownload(plan->stream, pivot, d->factor.d, n * plan->size));
    PetscCall(DeviceDownload(plan->stream, ptr, p.ptr, (n + 1) * sizeof(int)));
    PetscCall(DeviceDownload(plan->stream, col, p.col, nnz * sizeof(int)));
    PetscCall(DeviceDownload(plan->stream, diag, p.diag, n * sizeof(int)));
    PetscCall(PlanRestorePattern(plan, &p));
    if (!d->values.dinv) PetscCall(PetscMalloc3(plan->part[0], &d->values.l, plan->part[1], &d->values.u, n, &d->values.dinv));
    for (size_t i = 0, l = 0, u = 0; i < n; i++) {
      for (int k = ptr[i]; k < diag[i]; k++) d->values.l[l++] = val[k] / pivot[col[k]];
      for (int k = diag[i] + 1; k < ptr[i + 1]; k++) d->values.u[u++] = val[k] * pivot[i];
      d->values.dinv[i] = 1.0 / pivot[i];
    }
    PetscCall(PetscFree5(val, pivot, ptr, col, diag));
    d->values.generation = d->factor.generation;
  }
  if (!kept) plan->crout = NULL; /* it is in scratch */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Values_CUDA(SyncILUEngine e, const PetscScalar **lval, const PetscScalar **uval, const PetscScalar **dinv)
{
  CUDA *d    = (CUDA *)e->data;
  Plan *plan = &d->plan;
  int   before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Values(e));
  PetscCall(PlanLeave(plan, before));
  *lval = d->values.l;
  *uval = d->values.u;
  *dinv = d->values.dinv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Levels(SyncILUEngine e)
{
  Plan *plan = &((CUDA *)e->data)->plan;

  PetscFunctionBegin;
  PetscCall(PlanCountLevels(plan));
  if (plan->unfit[0]) { /* nobody's solve fails because its levels cannot be counted */
    PetscCall(PetscInfo(NULL, "Levels are not counted: %s\n", plan->unfit));
    plan->unfit[0]  = 0;
    plan->levels[0] = plan->levels[1] = UNKNOWN;
  }
  PetscCall(PlanRelease(plan, &plan->scratch, 0));
  PetscCall(DeviceSettle(plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Statistics_CUDA(SyncILUEngine e, SyncILUStatistics *s)
{
  CUDA *d    = (CUDA *)e->data;
  Plan *plan = &d->plan;
  int   before, width[2];

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Levels(e));
  PetscCall(DeviceReadBack(plan->stream, width, plan->widths, sizeof(width)));
  PetscCall(PlanLeave(plan, before));
  s->threads = 0;
  for (int k = 0; k < 2; k++) {
    s->levels[k]     = d->plan.levels[k];
    s->level_rows[k] = d->plan.counted[k] ? width[k] : UNKNOWN;
  }
  s->bytes += d->plan.memory.bytes + PlanInodesBytes(plan) + PlanStencilBytes(plan) + d->factorization.memory.bytes + d->xmemory.bytes +
              d->gathered.memory.bytes + d->stage_memory.bytes + d->start.memory.bytes;
  for (int k = 0; k < 4; k++) s->bytes += d->triangle[k].memory.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode View_CUDA(SyncILUEngine e, PetscViewer viewer)
{
  const CUDA          *d = (const CUDA *)e->data;
  const Factorization *f = &d->factorization;
  const Triangle      *L = &d->triangle[PART_L], *U = &d->triangle[PART_U];
  char                 advice[256];

  PetscFunctionBegin;
  PetscCall(DeviceView(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: %s, %d lanes %s\n", f->ops->name, 1 << f->lanes,
                                   f->ops->inodes   ? "an inode"
                                   : f->ops->blocks ? "a block"
                                                    : "a row"));
  if (f->ops->view) PetscCall((*f->ops->view)(f, viewer));
  if (f->why[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: %s\n", f->why));
  if (f->both[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "symmetric: both triangles are factored, since %s\n", f->both));
  else if (e->settings.symmetric)
    PetscCall(PetscViewerASCIIPrintf(viewer, "symmetric: %s\n", f->half ? "one triangle is factored" : "pivots alone are factored"));
  if (e->settings.solve == SYNCILU_SOLVE_JACOBI) PetscCall(SyncILUSweepsView(&e->settings, viewer));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "solve: %s, lanes %s: L %d, U %d\n", SolveName(L->ops), L->order.inodes ? "an inode" : "a row", 1 << L->lanes,
                                     1 << U->lanes));
  if (d->why[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "solve: %s\n", d->why));
  if (d->plan.inodes)
    PetscCall(PetscViewerASCIIPrintf(viewer, "inodes: %d of %d successive rows with one pattern; levels of inodes: L %d, U %d\n", d->plan.inodes->pattern.n,
                                     d->plan.inode, d->plan.inodes->levels[0], d->plan.inodes->levels[1]));
  if (d->plan.tiled) PetscCall(TilesView(&d->plan, viewer));
  else if (L->order.lines || L->order.points) PetscCall(StencilView(L->order.points ? d->plan.inodes->stencil : d->plan.stencil, viewer));
  else if (L->order.blocks) PetscCall(PetscViewerASCIIPrintf(viewer, "order: by block, a warp each\n"));
  else {
    const Plan *plan = L->order.inodes ? d->plan.inodes : &d->plan;

    PetscCall(PetscViewerASCIIPrintf(viewer, "order: %s\n",
                                     L->order.numerical ? "numerical"
                                     : plan->late       ? "by latest level"
                                     : plan->reversed   ? "L by earliest level, U by latest"
                                                        : "by earliest level"));
  }
  for (int k = 0; k < 2 && L->ops->view; k++) PetscCall((*L->ops->view)(k ? U : L, viewer));
  PetscCall(AdviseOrdering(&d->plan, L, U, advice, sizeof(advice)));
  if (advice[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "advice: %s\n", advice));
  if (e->settings.check)
    PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: copied to and from the host for every factorization and solve, where -pc_syncilu_check compares\n"));
  else if (DeviceIsPETScs() && sizeof(PetscInt) == sizeof(int))
    PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: of PETSc, on the device where they are there\n"));
  else if (DeviceIsPETScs())
    PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: vectors of PETSc, on the device where they are there; the matrix copied from the host for every "
                                             "factorization, since PETSc's indices have 64 bits\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: copied to and from the host for every factorization and solve, since PETSc %s\n",
                                     PetscDefined(HAVE_CUDA) ? "uses no device here" : "has no CUDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Excess(SyncILUEngine e, const SyncILUCSR *A, PetscReal *excess)
{
  Plan                *plan = &((CUDA *)e->data)->plan;
  SyncILUDeviceValues  v;
  SyncILUDevicePattern p;
  unsigned long long  *most;
  double               result;

  PetscFunctionBegin;
  PlanCall(PlanGetValues(plan, &e->pattern, A, &v));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*most), &most));
  CallCUDA(cudaMemsetAsync(most, 0, sizeof(*most), plan->stream));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelExcess(plan->type, p, v, e->settings.symmetric, most, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(DeviceReadBack(plan->stream, &result, most, sizeof(result)));
  *excess = (PetscReal)result;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Updates(SyncILUEngine e, PetscInt64 *updates)
{
  Plan                *plan = &((CUDA *)e->data)->plan;
  SyncILUDevicePattern p;
  unsigned long long  *sum, result;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*sum), &sum));
  CallCUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), plan->stream));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelUpdates(p, plan->counts.longest[0], sum, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(DeviceReadBack(plan->stream, &result, sum, sizeof(result)));
  *updates = (PetscInt64)result;
  if (((CUDA *)e->data)->factorization.half) *updates = (*updates + plan->part[0]) / 2; /* those of diagonals, and half of the others */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of squares of many rows come to the host, which adds them up: in the same order every time. */
static PetscErrorCode Residual(SyncILUEngine e, const SyncILUCSR *A, PetscReal *residual)
{
  CUDA              *d    = (CUDA *)e->data;
  Plan              *plan = &d->plan;
  const int          n    = SyncILUResidualNumbers(plan->pattern.n);
  double            *sum, *all, total[2] = {0.0, 0.0};
  SyncILUDeviceSweep s;

  PetscFunctionBegin;
  *residual = 0.0;
  if (!plan->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanSweep(plan, &s));
  s.table = 0;
  PlanCall(PlanGetValues(plan, &e->pattern, A, &s.values));
  PlanCall(CroutUpdate(d, &plan->scratch));
  PlanCall(PlanGetPattern(plan, &s.pattern));
  s.from  = plan->crout;
  s.pivot = (void *)d->factor.d;
  if (plan->counts.longest_row > s.shared) PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz * plan->size, &s.work));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)n * sizeof(*sum), &sum));
  PlanLaunch(SyncILUKernelResidual(plan->type, s, sum, plan->stream));
  PetscCall(PlanRestorePattern(plan, &s.pattern));
  PetscCall(PetscMalloc1(n, &all));
  PetscCall(DeviceReadBack(plan->stream, all, sum, (size_t)n * sizeof(*sum)));
  for (int k = 0; k < n; k++) total[k % 2] += all[k];
  PetscCall(PetscFree(all));
  if (total[1] > 0.0) *residual = PetscSqrtReal((PetscReal)(total[0] / total[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Excess_CUDA(SyncILUEngine e, const SyncILUCSR *A, PetscReal *excess)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Excess(e, A, excess));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Updates_CUDA(SyncILUEngine e, PetscInt64 *updates)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Updates(e, updates));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Residual_CUDA(SyncILUEngine e, const SyncILUCSR *A, PetscReal *residual)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Residual(e, A, residual));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}
