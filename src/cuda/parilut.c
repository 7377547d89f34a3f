/*
   Update strategy parilut: the search for a pattern, in the rounds that src/host/parilut.c has, by the same
   rules. Candidates and sweeps go row by row through hash tables in shared memory (kernels/search.cu).

   A search has a plan of its own, which becomes the factorization's where the pattern is another one than
   before. A round waits twice for the device: for the number of candidates, and of what is left of them.
*/
#include "cuda.h"
#include "../../kernels/factor_parilut.h"
#include "../../kernels/order.h"
#include "../../kernels/pattern.h"
#include "../../kernels/search.h"

/* An array that stays from round to round, as long as it is large enough. */
typedef struct {
  void        *pointer;
  DeviceMemory memory;
} Array;

/* A pattern with an iterate, W and U', on it, and room for the next one. */
typedef struct {
  DeviceRows rows;
  int        longest; /* entries of a row */
  Array      ptr, col, diag, val, next;
} Stage;

typedef struct {
  const DeviceRows     *start;
  const int            *aptr, *acol;  /* the matrix */
  const int            *row, *colinv; /* of its ordering, NULL for the natural one */
  const double         *a;
  SyncILUDevicePivoting piv;
  void                 *pivot; /* of the last sweep */
  SyncILUDeviceFound   *found;
  int                  *late[2]; /* lists of rows */
  PetscInt              limit;   /* entries beside the diagonal that are to be left */
  PetscBool             mirror;  /* the upper triangle decides for both */
} Search;

/* Makes room for so many bytes, and a quarter more where it is to grow: what was there is lost. */
static PetscErrorCode Reserve(Plan *plan, size_t bytes, Array *array)
{
  PetscFunctionBegin;
  if (array->pointer && (size_t)array->memory.bytes >= bytes) PetscFunctionReturn(PETSC_SUCCESS);
  array->pointer = NULL;
  PetscCall(PlanRelease(plan, &array->memory, 0));
  PetscCall(DeviceMemoryAlloc(&array->memory, plan->stream, bytes + bytes / 4, &array->pointer));
  if (!array->pointer) PlanCall(PlanAlloc(plan, &array->memory, bytes, &array->pointer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for the rows of a stage, whose entries are counted. */
static PetscErrorCode ReserveRows(Plan *plan, int n, size_t entries, Stage *s)
{
  PetscFunctionBegin;
  PlanCall(Reserve(plan, (size_t)n * sizeof(int), &s->diag));
  PlanCall(Reserve(plan, entries * sizeof(int), &s->col));
  PlanCall(Reserve(plan, entries * plan->size, &s->val));
  PlanCall(Reserve(plan, entries * plan->size, &s->next));
  s->rows = (DeviceRows){.n = n, .nnz = (int)entries, .ptr = (int *)s->ptr.pointer, .col = (int *)s->col.pointer, .diag = (int *)s->diag.pointer};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StageRelease(Stage *s, cudaStream_t stream)
{
  Array *const array[] = {&s->ptr, &s->col, &s->diag, &s->val, &s->next};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(array); k++) PetscCall(DeviceMemoryRelease(&array[k]->memory, stream, 0));
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next iterate of a stage becomes the present one. */
static void Turn(Stage *s)
{
  const Array val = s->val;

  s->val  = s->next;
  s->next = val;
}

static SyncILUDevicePattern PatternOf(const DeviceRows *rows)
{
  return (SyncILUDevicePattern){.n = rows->n, .ptr = rows->ptr, .col = rows->col, .diag = rows->diag};
}

/*
   Logarithm of the places in shared memory for a row of so many entries, at most SYNCILU_SEARCH_BITS. Four
   places for each let nearly all columns that a row does not have find theirs free.
*/
static int PlaceBits(double entries)
{
  int bits = 5;

  while (bits < SYNCILU_SEARCH_BITS && (double)(1 << bits) < SYNCILU_SEARCH_ROOM * entries) bits++;
  return bits;
}

/*
   A sweep from the iterate of a stage to the next one of another stage, or of the same one, whose turn it is
   then. from NULL: to the first iterate. A few rows that are longer than others do not make these have tables
   for as many entries.
*/
static PetscErrorCode Sweep(Plan *plan, const Search *search, const Stage *from, Stage *to)
{
  const double          n = (double)to->rows.n;
  SyncILUDeviceRowSweep s = {.to     = PatternOf(&to->rows),
                             .from   = PatternOf(from ? &from->rows : &to->rows),
                             .aptr   = search->aptr,
                             .acol   = search->acol,
                             .row    = search->row,
                             .colinv = search->colinv,
                             .a      = search->a,
                             .value  = from ? from->val.pointer : NULL,
                             .next   = to->next.pointer,
                             .pivot  = search->pivot,
                             .piv    = search->piv,
                             .lanes  = PetscMax(2, PlanLanes(plan, ((double)(from ? from : to)->rows.nnz / n - 1.0) / 2.0))};

  PetscFunctionBegin;
  s.bits = PlaceBits((double)to->rows.nnz / n);
  s.most = SyncILURowSweepMost(s.bits);
  while (PETSC_TRUE) {
    PlanLaunch(SyncILUKernelRowSweep(plan->type, s, plan->stream));
    if (s.most >= to->longest) break;
    s.least = s.most;
    s.lanes = 5;
    if (s.bits < SYNCILU_SEARCH_BITS) {
      s.bits = PlaceBits((double)to->longest);
      s.most = SyncILURowSweepMost(s.bits);
    } else {
      s.bits = 0;
      s.most = INT_MAX;
    }
  }
  Turn(to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows whose columns find no room in the tables of a warp, some blocks' bitmaps at a time. */
static PetscErrorCode ExtendLate(Plan *plan, const SyncILUDeviceExtension *x, const int *list, int rows)
{
  const int    mark    = plan->scratch.n;
  const size_t numbers = SyncILUExtendNumbers(x->from.n);
  const int    bitmaps = (int)PetscClipInterval((double)SYNCILU_FILL_MEMORY / (double)(numbers * sizeof(unsigned)), 1.0, (double)rows);
  unsigned    *bitmap;

  PetscFunctionBegin;
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)bitmaps * numbers * sizeof(*bitmap), &bitmap));
  PlanLaunch(SyncILUKernelExtendLate(*x, list, rows, bitmaps, bitmap, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The stage with its candidates, and with the entries of the first pattern that it lacks: the rows alone.
   usual: the entries of a row that are expected, and their mean in the end. done: there is nothing new, and
   no row is written.
*/
static PetscErrorCode Extend(Plan *plan, const Stage *from, const Search *search, Stage *to, double *usual, PetscBool *done)
{
  const int              n    = from->rows.n;
  int                    size = SYNCILU_SEARCH_TABLE, late[2];
  SyncILUDeviceExtension x    = {.from = PatternOf(&from->rows), .firstptr = search->start->ptr, .firstcol = search->start->col, .found = search->found};
  SyncILUDeviceFound     found;

  PetscFunctionBegin;
  while (size < SYNCILU_SEARCH_LATE && SyncILUExtendMost(size) < SYNCILU_SEARCH_USUAL * *usual) size++;
  PlanCall(Reserve(plan, ((size_t)n + 1) * sizeof(int), &to->ptr));
  x.length = (int *)to->ptr.pointer;
  CallCUDA(cudaMemsetAsync(search->found, 0, sizeof(found), plan->stream));
  PlanLaunch(SyncILUKernelExtend(x, size, NULL, n, search->late[0], plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &found, search->found, sizeof(found)));
  late[0] = found.late;
  late[1] = 0;
  if (late[0]) {
    CallCUDA(cudaMemsetAsync(&search->found->late, 0, sizeof(found.late), plan->stream));
    PlanLaunch(SyncILUKernelExtend(x, SYNCILU_SEARCH_LATE, search->late[0], late[0], search->late[1], plan->stream));
    PetscCall(DeviceReadBack(plan->stream, &found, search->found, sizeof(found)));
    late[1] = found.late;
    PlanCall(ExtendLate(plan, &x, search->late[1], late[1]));
    if (late[1]) PetscCall(DeviceReadBack(plan->stream, &found, search->found, sizeof(found)));
  }
  PlanCall(PlanCheckSize(plan, n, (PetscInt64)found.total));
  *usual = (double)found.total / PetscMax(1, n);
  *done  = (PetscBool)((PetscInt64)found.total == from->rows.nnz && from->rows.nnz - n <= search->limit);
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanOffsets(plan, n, x.length, NULL));
  PlanCall(ReserveRows(plan, n, (size_t)found.total, to));
  to->longest = found.longest;
  x.col       = (int *)to->col.pointer;
  x.diag      = (int *)to->diag.pointer;
  PlanLaunch(SyncILUKernelExtend(x, size, NULL, n, NULL, plan->stream));
  PlanLaunch(SyncILUKernelExtend(x, SYNCILU_SEARCH_LATE, search->late[0], late[0], NULL, plan->stream));
  PlanCall(ExtendLate(plan, &x, search->late[1], late[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is left of a stage after its sweeps. */
static PetscErrorCode Remove(Plan *plan, const Stage *from, const Search *search, Stage *to, unsigned *threshold)
{
  const SyncILUDevicePattern p    = PatternOf(&from->rows);
  const int                  mark = plan->scratch.n, m = from->rows.nnz - p.n;
  unsigned *const            key = (unsigned *)from->next.pointer; /* nobody needs the iterate before any more */
  SyncILUDeviceFound         found;
  void                      *work;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, SyncILUThresholdBytes(), &work));
  PlanCall(Reserve(plan, ((size_t)p.n + 1) * sizeof(int), &to->ptr));
  CallCUDA(cudaMemsetAsync(search->found, 0, sizeof(found), plan->stream));
  PlanLaunch(SyncILUKernelSizeKeys(plan->type, p, from->val.pointer, search->pivot, search->mirror, key, plan->stream));
  if (m > search->limit) PlanLaunch(SyncILUKernelThreshold(m, (int)search->limit, key, work, search->found, plan->stream));
  PlanLaunch(SyncILUKernelStaying(p, key, (int *)to->ptr.pointer, search->found, plan->stream));
  PlanCall(PlanOffsets(plan, p.n, (int *)to->ptr.pointer, NULL));
  PetscCall(DeviceReadBack(plan->stream, &found, search->found, sizeof(found)));
  PlanCall(ReserveRows(plan, p.n, (size_t)found.total, to));
  to->longest = found.longest;
  *threshold  = found.threshold;
  PlanLaunch(SyncILUKernelStay(plan->type, p, from->val.pointer, key, search->found, (int *)to->ptr.pointer, (int *)to->col.pointer, (int *)to->diag.pointer,
                               to->val.pointer, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A round from a stage; done: it can find nothing new. */
static PetscErrorCode Round(Plan *plan, Stage *s, Stage *extended, const Search *search, double *usual, unsigned *threshold, PetscBool *done)
{
  PetscFunctionBegin;
  PlanCall(Extend(plan, s, search, extended, usual, done));
  if (*done) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(Sweep(plan, search, s, extended));
  PlanCall(Sweep(plan, search, extended, extended));
  PlanCall(Remove(plan, extended, search, s, threshold));
  PlanCall(Sweep(plan, search, s, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first stage: the rows of the symbolic phase with the triangles of the matrix. */
static PetscErrorCode Begin(Plan *plan, const Search *search, int longest, Stage *s)
{
  PetscFunctionBegin;
  PlanCall(Reserve(plan, (size_t)search->start->nnz * plan->size, &s->next));
  s->rows    = *search->start;
  s->longest = longest;
  PlanCall(Sweep(plan, search, NULL, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the rows of the symbolic phase, which are the present plan's. */
static PetscErrorCode KeepStart(CUDA *d, const SyncILUCSR *A)
{
  Plan                *plan = &d->plan;
  SyncILUDevicePattern p;
  int                 *ptr, *col, *diag;

  PetscFunctionBegin;
  if (d->start.rows.ptr) PetscFunctionReturn(PETSC_SUCCESS);
  if (!plan->columns && PetscMemTypeDevice(A->mem)) plan->borrowed = (const int *)A->j;
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(PlanAlloc(plan, &d->start.memory, ((size_t)p.n + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &d->start.memory, (size_t)plan->nnz * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, &d->start.memory, (size_t)p.n * sizeof(int), &diag));
  CallCUDA(cudaMemcpyAsync(ptr, p.ptr, ((size_t)p.n + 1) * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  CallCUDA(cudaMemcpyAsync(col, p.col, (size_t)plan->nnz * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  CallCUDA(cudaMemcpyAsync(diag, p.diag, (size_t)p.n * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  d->start.rows    = (DeviceRows){.n = p.n, .nnz = plan->nnz, .ptr = ptr, .col = col, .diag = diag};
  d->start.longest = plan->counts.longest_row;
  PetscCall(PlanRestorePattern(plan, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rounds. The plan is one of the search alone. */
static PetscErrorCode Rounds(Plan *plan, const CUDA *d, SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, Stage *s, Stage *extended,
                             SyncILUSearch *found)
{
  Search    search = {.start  = &d->start.rows,
                      .piv    = DevicePivoting(piv, plan->settings->symmetric),
                      .row    = plan->row,
                      .limit  = PetscMin(SyncILUSearchLimit(&e->settings, &e->pattern), INT_MAX),
                      .mirror = e->settings.symmetric};
  PetscBool done   = PETSC_FALSE;
  double    usual  = 2.0 * (double)d->start.rows.nnz / PetscMax(1, d->start.rows.n); /* entries of a row with its candidates */

  PetscFunctionBegin;
  PlanCall(PlanGetRows(plan, A, &search.aptr, &search.acol));
  search.a = (const double *)A->a;
  if (PetscMemTypeHost(A->mem)) {
    double *a;

    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)A->nnz * sizeof(*a), &a));
    PetscCall(DeviceUpload(plan->stream, a, A->a, (size_t)A->nnz * sizeof(*a)));
    search.a = a;
  }
  if (plan->col) {
    int *colinv;

    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * sizeof(int), &colinv));
    PlanLaunch(SyncILUKernelInvert(plan->pattern.n, plan->col, colinv, plan->stream));
    search.colinv = colinv;
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * plan->size, &search.pivot));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*search.found), &search.found));
  for (int k = 0; k < 2; k++) PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * sizeof(int), &search.late[k]));
  PlanCall(Begin(plan, &search, d->start.longest, s));
  found->rounds    = 0;
  found->threshold = 0.0;
  while (found->rounds < e->settings.rounds && !done) {
    unsigned threshold = 0;

    PlanCall(Round(plan, s, extended, &search, &usual, &threshold, &done));
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
  plan->blocks     = before->blocks;
  plan->block_size = before->block_size;
  plan->colors     = before->colors;
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
  PetscCall(SyncILUPatternFreeRows(p));
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
  Array     guess;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(KeepStart(d, A));
  if (!d->plan.unfit[0]) PlanCall(Rounds(plan, d, e, A, piv, s, extended, found));
  if (!d->plan.unfit[0]) PetscCall(HasPattern(&d->plan, &s->rows, &same));
  if (d->plan.unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!same) PlanCall(TakeRows(plan, &d->plan, &s->rows));
  PetscCall(PlanRelease(plan, &plan->scratch, 0));
  guess = s->val;
  PetscCall(PetscMemzero(&s->val, sizeof(s->val)));
  PetscCall(StageRelease(s, plan->stream));
  PetscCall(StageRelease(extended, plan->stream));
  if (!same) PetscCall(Adopt(e, plan));
  d->plan.guess        = guess.pointer;
  d->plan.guess_memory = guess.memory;
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
  PetscCall(StageRelease(&s, d->plan.stream));
  PetscCall(StageRelease(&extended, d->plan.stream));
  plan.stream = d->plan.stream;
  PetscCall(PlanDestroy(&plan));
  PetscCall(PlanRelease(&d->plan, &d->plan.scratch, 0));
  PetscCall(DeviceSettle(d->plan.stream));
  PetscCall(PlanLeave(&d->plan, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}
