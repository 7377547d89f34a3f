/*
   One triangular solve alone, and the operator of Eisenstat's trick, which is made of both: first U, then L, which takes
   its right-hand side from the solution of U and from the vector (kernels/eisenstat.h).
*/
#include "cuda.h"
#include "../../kernels/eisenstat.h"
#include "../../kernels/pattern.h"

/*
   On the device: L^-1 b, or U^-1 b, in the matrix' numbering; for the trick L^-1 b to the vectors of its
   operator, or U'^-1 b, which has no pivots, from them.
*/
static PetscErrorCode Half(CUDA *d, PetscBool upper, PetscBool trick, const double *b, double *x)
{
  Plan              *plan  = &d->plan;
  const PetscBool    given = (PetscBool) !(trick && d->eisenstat.permuted); /* the vectors of the trick are in the matrix' numbering */
  const int          n = plan->pattern.n, *row = given ? plan->row : NULL;
  const void        *pivot = d->factor.d;
  SyncILUDeviceSolve s     = {.b = b, .ldb = (size_t)n, .x = d->x[0], .out = x, .ldout = (size_t)n, .nrhs = 1, .ticket = plan->ticket};

  PetscFunctionBegin;
  PlanCall(CroutSeparate(d));
  if (upper && !trick) { /* U = D (I + U'); what comes by the rows goes on by the columns, in the place of the solution */
    PlanLaunch(SyncILUKernelTimesPivots(plan->type, n, pivot, 1, plan->row, plan->col, b, x, plan->stream));
    s.b = x;
  }
  PetscCall(TriangleSolveAlone(&d->triangle[upper ? PART_U : PART_L], upper ? given : PETSC_TRUE, upper ? PETSC_TRUE : given, &s));
  PetscCall(ResetSolves(d));
  if (plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!upper) PlanLaunch(SyncILUKernelTimesPivots(plan->type, n, pivot, 0, row, row, x, x, plan->stream)); /* L = (W + D) D^-1 */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HalfOf(CUDA *d, PetscBool upper, PetscBool trick, const PetscScalar *b, PetscScalar *x, PetscMemType mem)
{
  Plan           *plan = &d->plan;
  const PetscBool host = (PetscBool)PetscMemTypeHost(mem);
  const size_t    n    = (size_t)plan->pattern.n;

  PetscFunctionBegin;
  if (host) {
    PlanCall(MakeStage(d, 2 * n));
    PetscCall(DeviceUpload(plan->stream, d->stage, b, n * plan->size));
  }
  PetscCall(DeviceTimeBegin());
  PetscCall(Half(d, upper, trick, host ? d->stage : (const double *)b, host ? d->stage + n : (double *)x));
  PetscCall(DeviceTimeEnd());
  if (host && !plan->unfit[0]) PetscCall(DeviceDownload(plan->stream, x, d->stage + n, n * plan->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EnterHalf(SyncILUEngine e, PetscBool upper, PetscBool trick, const PetscScalar *b, PetscScalar *x, PetscMemType mem)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  if (!e->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(plan, &before));
  PetscCall(HalfOf((CUDA *)e->data, upper, trick, b, x, mem));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Half_CUDA(SyncILUEngine e, PetscBool upper, const PetscScalar *b, PetscScalar *x, PetscMemType mem)
{
  PetscFunctionBegin;
  PetscCall(EnterHalf(e, upper, PETSC_FALSE, b, x, mem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transform_CUDA(SyncILUEngine e, PetscBool back, const PetscScalar *b, PetscScalar *x, PetscMemType mem)
{
  PetscFunctionBegin;
  PetscCall(EnterHalf(e, back, PETSC_TRUE, b, x, mem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether entries beside diagonals have updates, where planning has not looked. */
static PetscErrorCode OffDiagonal(Plan *plan, SyncILUDevicePattern pattern, PetscBool *updates)
{
  SyncILUDeviceStatistics *device;
  int                      found;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*device), &device));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(*device), plan->stream));
  PlanLaunch(SyncILUKernelOffDiagonal(pattern, plan->counts.longest[0], device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &found, &device->off_diagonal, sizeof(found)));
  *updates = (PetscBool)(found != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of both triangles on the host. */
static PetscErrorCode DownloadRows(Plan *plan, SyncILUDevicePattern d, SyncILUPattern *p)
{
  const size_t n = (size_t)plan->pattern.n, nnz = (size_t)plan->nnz;
  int         *ptr, *col, *diag;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &ptr, nnz, &col, n, &diag));
  PetscCall(DeviceDownload(plan->stream, ptr, d.ptr, (n + 1) * sizeof(int)));
  PetscCall(DeviceDownload(plan->stream, col, d.col, nnz * sizeof(int)));
  PetscCall(DeviceDownload(plan->stream, diag, d.diag, n * sizeof(int)));
  p->n  = (PetscInt)n;
  p->nl = plan->part[0];
  p->nu = plan->part[1];
  PetscCall(PetscMalloc1(n + 1, &p->lptr));
  PetscCall(PetscMalloc1(p->nl, &p->lcol));
  PetscCall(PetscMalloc1(n + 1, &p->uptr));
  PetscCall(PetscMalloc1(p->nu, &p->ucol));
  p->lptr[0] = p->uptr[0] = 0;
  for (size_t i = 0; i < n; i++) {
    PetscInt l = p->lptr[i], u = p->uptr[i];

    for (int k = ptr[i]; k < diag[i]; k++) p->lcol[l++] = col[k];
    for (int k = diag[i] + 1; k < ptr[i + 1]; k++) p->ucol[u++] = col[k];
    p->lptr[i + 1] = l;
    p->uptr[i + 1] = u;
  }
  PetscCall(PetscFree3(ptr, col, diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering on the host, and whether rows and columns have the same. */
static PetscErrorCode DownloadOrder(Plan *plan, SyncILUPattern *p, PetscBool *same)
{
  const size_t n = (size_t)plan->pattern.n;
  int         *row, *col;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &row, n, &col));
  PetscCall(DeviceDownload(plan->stream, row, plan->row, n * sizeof(int)));
  PetscCall(DeviceDownload(plan->stream, col, plan->col, n * sizeof(int)));
  PetscCall(PetscArraycmp(row, col, n, same));
  PetscCall(PetscMalloc1(n, &p->row));
  PetscCall(PetscMalloc1(n, &p->col));
  for (size_t i = 0; i < n; i++) {
    p->row[i] = row[i];
    p->col[i] = col[i];
  }
  PetscCall(PetscFree2(row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pattern(CUDA *d, SyncILUPattern *p)
{
  Plan                *plan    = &d->plan;
  PetscBool            updates = (PetscBool)(plan->statistics.off_diagonal && plan->settings->update != SYNCILU_UPDATE_DILU), same = PETSC_TRUE;
  SyncILUDevicePattern pattern = {.col = NULL};

  PetscFunctionBegin;
  if (updates) {
    PlanCall(PlanGetPattern(plan, &pattern));
    PlanCall(OffDiagonal(plan, pattern, &updates));
  }
  if (plan->row && (updates || plan->row != plan->col)) PetscCall(DownloadOrder(plan, p, &same));
  if (!same && !pattern.col) PlanCall(PlanGetPattern(plan, &pattern));
  if (updates || !same) PetscCall(DownloadRows(plan, pattern, p));
  PetscCall(PlanRestorePattern(plan, &pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Pattern_CUDA(SyncILUEngine e, SyncILUPattern *p)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  if (!e->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Pattern((CUDA *)e->data, p));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The diagonal of the matrix and the pivots, as the solve with L wants them; all memory that the operator takes is taken here. */
static PetscErrorCode Begin(SyncILUEngine e, const SyncILUCSR *A, PetscScalar *dinv, PetscMemType mem)
{
  CUDA               *d    = (CUDA *)e->data;
  Plan               *plan = &d->plan;
  Triangle           *L    = &d->triangle[PART_L];
  const PetscBool     host = (PetscBool)PetscMemTypeHost(mem);
  const size_t        n    = (size_t)plan->pattern.n;
  SyncILUDeviceValues v;

  PetscFunctionBegin;
  d->eisenstat.generation = UNKNOWN;
  d->eisenstat.permuted   = (PetscBool)(TriangleGetBlocks(L) && TriangleGetBlocks(&d->triangle[PART_U]));
  if (host) PlanCall(MakeStage(d, 2 * n));
  PlanCall(PlanGetValues(plan, &e->pattern, A, &v));
  if (L->ops->diagonal) PlanCall((*L->ops->diagonal)(L, &v));
  else if (!d->eisenstat.d) {
    if (L->ops->plain) PlanCall(PlanAlloc(plan, &plan->memory, n * plan->size, &d->eisenstat.b));
    PlanCall(PlanAlloc(plan, &plan->memory, n * plan->size, &d->eisenstat.e));
    PlanCall(PlanAlloc(plan, &plan->memory, n * plan->size, &d->eisenstat.d));
  }
  PlanLaunch(SyncILUKernelEisenstat(plan->type, plan->pattern, v, d->factor.d, d->eisenstat.permuted ? NULL : plan->row, d->eisenstat.d, d->eisenstat.e,
                                    host ? (void *)d->stage : dinv, plan->stream));
  if (host) PetscCall(DeviceDownload(plan->stream, dinv, d->stage, n * plan->size));
  d->eisenstat.generation = d->factor.generation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin_CUDA(SyncILUEngine e, const SyncILUCSR *A, PetscScalar *dinv, PetscMemType mem)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  if (!e->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Begin(e, A, dinv, mem));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Both solves, on the device. With SolveOps.plain the right-hand side of L is made before, and its solution,
   from which the product is made afterwards, comes in the place of that.
*/
static PetscErrorCode Multiply(CUDA *d, const double *v, double *y)
{
  Plan               *plan  = &d->plan;
  const size_t        n     = (size_t)plan->pattern.n;
  const PetscBool     given = (PetscBool)!d->eisenstat.permuted, plain = d->triangle[PART_L].ops->plain;
  unsigned long long *ticket = plan->ticket;
  const void         *pivot = d->eisenstat.d, *e = d->eisenstat.e;
  const Triangle     *L = &d->triangle[PART_L], *U = &d->triangle[PART_U];
  SyncILUDeviceSolve  one = {.b = v, .ldb = n, .x = d->x[0], .next = d->x[1], .nrhs = 1, .ticket = ticket, .reset = ticket + 1};
  SyncILUDeviceSolve  two =
    {.out = y, .ldout = n, .x = d->x[1], .next = d->x[0], .nrhs = 1, .ticket = ticket + 1, .reset = ticket, .v = v, .d = d->eisenstat.d, .e = d->eisenstat.e};

  PetscFunctionBegin;
  if (L->ops->diagonal || d->eisenstat.permuted) { /* w in the order of U */
    two.b   = d->x[0];
    two.ldb = d->eisenstat.permuted ? n : 0;
  } else {
    one.out   = y; /* w in the numbering of the matrix, where y comes in its place */
    one.ldout = n;
    two.b     = y;
    two.ldb   = n;
  }
  if (plain) {
    two.v = two.d = two.e = NULL;
    two.b = two.out = d->eisenstat.b;
  }
  PetscCall(TriangleSolveAlone(U, given, given, &one));
  if (plain && !plan->unfit[0]) PetscCall(PlanCheckLaunch(plan, SyncILUKernelEisenstatBefore(plan->type, (int)n, pivot, e, v, y, two.out, plan->stream)));
  if (!plan->unfit[0]) PetscCall(TriangleSolveAlone(L, given, given, &two));
  if (plain && !plan->unfit[0]) PetscCall(PlanCheckLaunch(plan, SyncILUKernelEisenstatAfter(plan->type, (int)n, pivot, y, two.out, y, plan->stream)));
  if (plan->unfit[0]) PetscCall(ResetSolves(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultiplyOf(CUDA *d, const PetscScalar *v, PetscScalar *y, PetscMemType mem)
{
  Plan           *plan = &d->plan;
  const PetscBool host = (PetscBool)PetscMemTypeHost(mem);
  const size_t    n    = (size_t)plan->pattern.n;

  PetscFunctionBegin;
  PetscCheck(d->eisenstat.generation == d->factor.generation, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The operator has not been begun with this factorization");
  if (host) {
    PlanCall(MakeStage(d, 2 * n));
    PetscCall(DeviceUpload(plan->stream, d->stage, v, n * plan->size));
  }
  PetscCall(DeviceTimeBegin());
  PetscCall(Multiply(d, host ? d->stage : (const double *)v, host ? d->stage + n : (double *)y));
  PetscCall(DeviceTimeEnd());
  if (host && !plan->unfit[0]) PetscCall(DeviceDownload(plan->stream, y, d->stage + n, n * plan->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Multiply_CUDA(SyncILUEngine e, const PetscScalar *v, PetscScalar *y, PetscMemType mem)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  if (!e->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(plan, &before));
  PetscCall(MultiplyOf((CUDA *)e->data, v, y, mem));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Upper(SyncILUEngine e, const SyncILUCSR *A, const PetscScalar *x, PetscScalar *v, PetscMemType mem)
{
  CUDA                *d    = (CUDA *)e->data;
  Plan                *plan = &d->plan;
  const PetscBool      host = (PetscBool)PetscMemTypeHost(mem);
  const size_t         n    = (size_t)plan->pattern.n;
  SyncILUDevicePattern pattern;
  SyncILUDeviceValues  values;

  PetscFunctionBegin;
  PlanCall(PlanGetValues(plan, &e->pattern, A, &values));
  if (host) {
    PlanCall(MakeStage(d, 2 * n));
    PetscCall(DeviceUpload(plan->stream, d->stage, x, n * plan->size));
  }
  PlanCall(PlanGetPattern(plan, &pattern));
  PlanLaunch(SyncILUKernelTimesUpper(plan->type, pattern, values, d->factor.d, plan->row, d->eisenstat.permuted ? NULL : plan->row,
                                     host ? (const void *)d->stage : x, host ? (void *)(d->stage + n) : v, plan->stream));
  PetscCall(PlanRestorePattern(plan, &pattern));
  if (host) PetscCall(DeviceDownload(plan->stream, v, d->stage + n, n * plan->size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Upper_CUDA(SyncILUEngine e, const SyncILUCSR *A, const PetscScalar *x, PetscScalar *v, PetscMemType mem)
{
  Plan *plan = &((CUDA *)e->data)->plan;
  int   before;

  PetscFunctionBegin;
  if (!e->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PlanEnter(plan, &before));
  PetscCall(Upper(e, A, x, v, mem));
  PetscCall(PlanLeave(plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SyncILUEisenstatOps SyncILUCUDAEisenstatOps = {.pattern   = Pattern_CUDA,
                                                     .begin     = Begin_CUDA,
                                                     .multiply  = Multiply_CUDA,
                                                     .upper     = Upper_CUDA,
                                                     .transform = Transform_CUDA};
