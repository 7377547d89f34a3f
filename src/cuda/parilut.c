/*
   Update strategy parilut: the search for a pattern, in the rounds that src/host/parilut.c has, by the same
   rules. The candidates come from the symbolic phase's search for fill, one level more than the pattern, and
   sweeps are those of parilu, which begin with the factor that is there.

   A search has a plan of its own, which becomes the factorization's where the pattern is another one than
   before.
*/
#include "cuda.h"
#include "../../kernels/factor_parilu.h"
#include "../../kernels/factor_parilut.h"
#include "../../kernels/pattern.h"

/* A pattern with an iterate, W and U', on it. */
typedef struct {
  DeviceRows   rows;
  void        *val;
  DeviceMemory memory;
} Stage;

typedef struct {
  const DeviceRows     *start;
  const int            *aptr, *acol; /* the matrix */
  const double         *a;
  SyncILUDevicePivoting piv;
  void                 *pivot;     /* of the last sweep */
  unsigned             *threshold; /* of the last round */
  PetscInt              limit;     /* entries beside the diagonal that are to be left */
  PetscBool             mirror;    /* the upper triangle decides for both */
} Search;

/* Makes the plan's counts and diagonals those of a stage. */
static PetscErrorCode LookThrough(Plan *plan, Stage *s)
{
  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &s->memory, (size_t)s->rows.n * sizeof(int), &s->rows.diag));
  PlanCall(PlanCountRows(plan, s->rows.nnz, s->rows.ptr, s->rows.col, s->rows.diag));
  PetscCheck(PlanIsRegular(plan), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d of a pattern that was found is not in order",
             PetscMin(plan->counts.irregular, plan->counts.missing));
  plan->nnz     = s->rows.nnz;
  plan->part[0] = (int)plan->counts.entries;
  plan->part[1] = plan->nnz - plan->pattern.n - plan->part[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sweeps from the iterate of a stage, which was looked through last; without an iterate one that makes the
   first.
*/
static PetscErrorCode Sweep(Plan *plan, Stage *stage, const Search *search, int sweeps)
{
  const int          mark = plan->scratch.n;
  SyncILUDeviceSweep s;
  void              *other;
  int               *map;

  PetscFunctionBegin;
  PetscCall(PlanSweep(plan, &s));
  s.pattern = (SyncILUDevicePattern){.n = stage->rows.n, .ptr = stage->rows.ptr, .col = stage->rows.col, .diag = stage->rows.diag};
  s.piv     = search->piv;
  s.pivot   = search->pivot;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)stage->rows.nnz * sizeof(int), &map));
  PlanLaunch(SyncILUKernelMap(s.pattern, plan->row, plan->col, search->aptr, search->acol, map, plan->stream));
  s.values.a   = search->a;
  s.values.map = map;
  PlanCall(PlanAlloc(plan, &stage->memory, (size_t)stage->rows.nnz * plan->size, &other));
  for (int k = 0; k < sweeps; k++) {
    s.from = stage->val;
    s.to = s.work = other;
    PlanLaunch(SyncILUKernelSweep(plan->type, s, plan->stream));
    other      = stage->val;
    stage->val = s.to;
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stage with its candidates, and with the entries of the first pattern that it lacks: the rows alone. */
static PetscErrorCode Extend(Plan *plan, const Stage *from, const DeviceRows *start, Stage *to)
{
  const int    mark = plan->scratch.n, n = from->rows.n;
  const size_t rows = ((size_t)n + 1) * sizeof(int);
  int         *ptr, *united, *col, *lacking, nnz;
  DeviceRows   filled;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &to->memory, rows, &ptr));
  PlanCall(PlanFill(plan, &from->rows, 1, ptr, &to->memory, &filled));
  PlanCall(PlanCheckSize(plan, n, (PetscInt64)filled.nnz + start->nnz));
  PlanCall(PlanAlloc(plan, &to->memory, rows, &united));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)start->nnz * sizeof(int), &lacking));
  PlanLaunch(SyncILUKernelLacking(n, start->ptr, start->col, filled.ptr, filled.col, lacking, united, plan->stream));
  PlanCall(PlanOffsets(plan, n, united, &nnz));
  to->rows = filled;
  if (nnz > filled.nnz) {
    PlanCall(PlanAlloc(plan, &to->memory, (size_t)nnz * sizeof(int), &col));
    PlanLaunch(SyncILUKernelUnite(n, start->ptr, start->col, lacking, filled.ptr, filled.col, united, col, plan->stream));
    to->rows = (DeviceRows){.n = n, .nnz = nnz, .ptr = united, .col = col};
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is left of a stage, which was looked through last, after its sweeps. */
static PetscErrorCode Remove(Plan *plan, const Stage *from, const Search *search, Stage *to)
{
  const SyncILUDevicePattern p    = {.n = from->rows.n, .ptr = from->rows.ptr, .col = from->rows.col, .diag = from->rows.diag};
  const int                  mark = plan->scratch.n, m = from->rows.nnz - p.n;
  unsigned                  *key;
  void                      *work;
  int                       *ptr, *col, nnz;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)m * sizeof(*key), &key));
  PlanCall(PlanAlloc(plan, &plan->scratch, SyncILUThresholdBytes(), &work));
  PlanLaunch(SyncILUKernelSizeKeys(plan->type, p, from->val, search->pivot, search->mirror, key, plan->stream));
  PlanLaunch(SyncILUKernelThreshold(m, (int)PetscMin(search->limit, INT_MAX), key, work, search->threshold, plan->stream));
  PlanCall(PlanAlloc(plan, &to->memory, ((size_t)p.n + 1) * sizeof(int), &ptr));
  PlanLaunch(SyncILUKernelStaying(p, key, search->threshold, ptr, plan->stream));
  PlanCall(PlanOffsets(plan, p.n, ptr, &nnz));
  PlanCall(PlanAlloc(plan, &to->memory, (size_t)nnz * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, &to->memory, (size_t)nnz * plan->size, &to->val));
  PlanLaunch(SyncILUKernelStay(plan->type, p, from->val, key, search->threshold, ptr, col, to->val, plan->stream));
  to->rows = (DeviceRows){.n = p.n, .nnz = nnz, .ptr = ptr, .col = col};
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A round from a stage that was looked through last; done: it can find nothing new. */
static PetscErrorCode Round(Plan *plan, Stage *s, Stage *extended, const Search *search, unsigned *threshold, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(extended, sizeof(*extended)));
  PlanCall(Extend(plan, s, search->start, extended));
  *done = (PetscBool)(extended->rows.nnz == s->rows.nnz && s->rows.nnz - s->rows.n <= search->limit);
  if (!*done) {
    PlanCall(LookThrough(plan, extended));
    PlanCall(PlanAlloc(plan, &extended->memory, (size_t)extended->rows.nnz * plan->size, &extended->val));
    PlanLaunch(
      SyncILUKernelCarry(plan->type, s->rows.n, s->rows.ptr, s->rows.col, s->val, extended->rows.ptr, extended->rows.col, extended->val, plan->stream));
    PetscCall(PlanRelease(plan, &s->memory, 0));
    PlanCall(Sweep(plan, extended, search, 2));
    PlanCall(Remove(plan, extended, search, s));
    PetscCall(DeviceReadBack(plan->stream, threshold, search->threshold, sizeof(*threshold)));
  }
  PetscCall(PlanRelease(plan, &extended->memory, 0));
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(LookThrough(plan, s));
  PlanCall(Sweep(plan, s, search, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first stage: the rows of the symbolic phase with the triangles of the matrix. */
static PetscErrorCode Begin(Plan *plan, const Search *search, Stage *s)
{
  PetscFunctionBegin;
  s->rows = *search->start;
  PlanCall(LookThrough(plan, s));
  PlanCall(Sweep(plan, s, search, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the rows of the symbolic phase, which are the present plan's. */
static PetscErrorCode KeepStart(CUDA *d, const SyncILUCSR *A)
{
  Plan                *plan = &d->plan;
  SyncILUDevicePattern p;
  int                 *ptr, *col;

  PetscFunctionBegin;
  if (d->start.rows.ptr) PetscFunctionReturn(PETSC_SUCCESS);
  if (!plan->columns && PetscMemTypeDevice(A->mem)) plan->borrowed = (const int *)A->j;
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(PlanAlloc(plan, &d->start.memory, ((size_t)p.n + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &d->start.memory, (size_t)plan->nnz * sizeof(int), &col));
  CallCUDA(cudaMemcpyAsync(ptr, p.ptr, ((size_t)p.n + 1) * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  CallCUDA(cudaMemcpyAsync(col, p.col, (size_t)plan->nnz * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  d->start.rows = (DeviceRows){.n = p.n, .nnz = plan->nnz, .ptr = ptr, .col = col};
  PetscCall(PlanRestorePattern(plan, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rounds. The plan is one of the search alone. */
static PetscErrorCode Rounds(Plan *plan, const CUDA *d, SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, Stage *s, Stage *extended,
                             SyncILUSearch *found)
{
  Search    search = {.start  = &d->start.rows,
                      .piv    = DevicePivoting(piv, plan->settings->symmetric),
                      .limit  = SyncILUSearchLimit(&e->settings, &e->pattern),
                      .mirror = e->settings.symmetric};
  PetscBool done   = PETSC_FALSE;

  PetscFunctionBegin;
  PlanCall(PlanGetRows(plan, A, &search.aptr, &search.acol));
  search.a = (const double *)A->a;
  if (PetscMemTypeHost(A->mem)) {
    double *a;

    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)A->nnz * sizeof(*a), &a));
    PetscCall(DeviceUpload(plan->stream, a, A->a, (size_t)A->nnz * sizeof(*a)));
    search.a = a;
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * plan->size, &search.pivot));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*search.threshold), &search.threshold));
  PlanCall(Begin(plan, &search, s));
  found->rounds    = 0;
  found->threshold = 0.0;
  while (found->rounds < e->settings.rounds && !done) {
    unsigned threshold = 1;

    PlanCall(Round(plan, s, extended, &search, &threshold, &done));
    if (!done) SyncILUSearchRound(&e->settings, threshold > 1 ? PetscSqrtReal((PetscReal)SyncILUSizeOfKey(threshold)) : (PetscReal)0.0, found, &done);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the plan has this pattern already. */
static PetscErrorCode HasPattern(Plan *plan, const DeviceRows *rows, PetscBool *same)
{
  const int            mark = plan->scratch.n;
  unsigned long long  *sum, both[4];
  SyncILUDevicePattern p;

  PetscFunctionBegin;
  *same = PETSC_FALSE;
  if (plan->nnz != rows->nnz) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(both), &sum));
  CallCUDA(cudaMemsetAsync(sum, 0, sizeof(both), plan->stream));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelFingerprint(p.n, p.ptr, p.col, sum, plan->stream));
  PlanLaunch(SyncILUKernelFingerprint(rows->n, rows->ptr, rows->col, sum + 2, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(DeviceReadBack(plan->stream, both, sum, sizeof(both)));
  *same = (PetscBool)(both[0] == both[2] && both[1] == both[3]);
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of an array of indices, in the memory of a plan. */
static PetscErrorCode CopyIndices(Plan *plan, const int *from, size_t n, int **to)
{
  PetscFunctionBegin;
  PlanCall(PlanAllocCopied(plan, n * sizeof(int), to));
  CallCUDA(cudaMemcpyAsync(*to, from, n * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a plan of the rows that were found, with the ordering of another plan. */
static PetscErrorCode TakeRows(Plan *plan, const Plan *before, const DeviceRows *rows)
{
  const size_t n = (size_t)rows->n;
  int         *ptr;

  PetscFunctionBegin;
  plan->row = plan->col = NULL;
  PlanCall(PlanBegin(plan, rows->n, rows->nnz, &ptr));
  CallCUDA(cudaMemcpyAsync(ptr, rows->ptr, (n + 1) * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  PlanCall(CopyIndices(plan, rows->col, (size_t)rows->nnz, &plan->columns));
  if (before->row) PlanCall(CopyIndices(plan, before->row, n, &plan->row));
  if (before->col == before->row) plan->col = plan->row;
  else PlanCall(CopyIndices(plan, before->col, n, &plan->col));
  if (before->block) PlanCall(CopyIndices(plan, before->block, (size_t)before->blocks + 1, &plan->block));
  plan->blocks = before->blocks;
  plan->colors = before->colors;
  PlanCall(PlanAllocCopied(plan, (size_t)rows->nnz * sizeof(int), &plan->map));
  PlanCall(PlanCountPattern(plan, plan->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Puts the plan of a search in the place of the present one, and plans the rest. */
static PetscErrorCode Adopt(SyncILUEngine e, Plan *found)
{
  CUDA           *d = (CUDA *)e->data;
  SyncILUPattern *p = &e->pattern;

  PetscFunctionBegin;
  found->done  = d->plan.done;
  d->plan.done = NULL;
  PetscCall(ForgetStrategies(d));
  d->plan = *found;
  PetscCall(PetscMemzero(found, sizeof(*found)));
  /* arrays of the host's symbolic phase are another pattern's now */
  PetscCall(PetscFree(p->lptr));
  PetscCall(PetscFree(p->lcol));
  PetscCall(PetscFree(p->uptr));
  PetscCall(PetscFree(p->ucol));
  PetscCall(PetscFree(p->colinv));
  p->same = PETSC_FALSE;
  p->nl   = (PetscInt)d->plan.part[0];
  p->nu   = (PetscInt)d->plan.part[1];
  PetscCall(PlanStrategies(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindPattern(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, Plan *plan, Stage *s, Stage *extended, SyncILUSearch *found)
{
  CUDA     *d = (CUDA *)e->data;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(KeepStart(d, A));
  if (!d->plan.unfit[0]) PlanCall(Rounds(plan, d, e, A, piv, s, extended, found));
  if (!d->plan.unfit[0]) PetscCall(HasPattern(&d->plan, &s->rows, &same));
  if (d->plan.unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!same) PlanCall(TakeRows(plan, &d->plan, &s->rows));
  PetscCall(PlanRelease(plan, &plan->scratch, 0));
  if (!same) PetscCall(Adopt(e, plan));
  d->plan.guess        = s->val;
  d->plan.guess_memory = s->memory;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Search_CUDA(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUSearch *found)
{
  CUDA          *d = (CUDA *)e->data;
  Plan           plan;
  Stage          s, extended;
  int            before;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PlanEnter(&d->plan, &before));
  PetscCall(PetscMemzero(&s, sizeof(s)));
  PetscCall(PetscMemzero(&extended, sizeof(extended)));
  PetscCall(PetscMemzero(&plan, sizeof(plan)));
  PetscCall(PlanCreate(&plan, &e->settings));
  plan.stream    = d->plan.stream;
  plan.stream_id = d->plan.stream_id;
  plan.pattern.n = d->plan.pattern.n;
  plan.row       = d->plan.row;
  plan.col       = d->plan.col;
  PetscCall(PlanRelease(&d->plan, &d->plan.guess_memory, 0));
  d->plan.guess = NULL;
  ierr          = FindPattern(e, A, piv, &plan, &s, &extended, found);
  if (ierr) PetscCall(DeviceLeave(before));
  PetscCall(ierr);
  PetscCall(PetscStrncpy(e->unfit, plan.unfit[0] ? plan.unfit : d->plan.unfit, sizeof(e->unfit)));
  d->plan.unfit[0] = 0;
  PetscCall(DeviceMemoryRelease(&s.memory, d->plan.stream, 0));
  PetscCall(DeviceMemoryRelease(&extended.memory, d->plan.stream, 0));
  plan.stream = d->plan.stream;
  PetscCall(PlanDestroy(&plan));
  PetscCall(PlanRelease(&d->plan, &d->plan.scratch, 0));
  PetscCall(DeviceSettle(d->plan.stream));
  PetscCall(PlanLeave(&d->plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}
