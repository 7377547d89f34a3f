/*
   The pattern on the device, and what is found in it.
*/
#include "struct.h"
#include "../../kernels/inodes.h"
#include "../../kernels/order.h"
#include "../../kernels/pattern.h"
#include "../../kernels/storage.h"

PetscErrorCode PlanCreate(Plan *plan, const SyncILUSettings *settings)
{
  PetscFunctionBegin;
  plan->settings     = settings;
  plan->type         = SYNCILU_DOUBLE;
  plan->size         = sizeof(double);
  plan->scratch.room = SYNCILU_ROOM;
  plan->levels[0] = plan->levels[1] = UNKNOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlanDestroy(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->inodes) PetscCall(PlanDestroy(plan->inodes));
  PetscCall(PetscFree(plan->inodes));
  PetscCall(PlanForgetStencil(plan));
  PetscCall(DeviceMemoryRelease(&plan->scratch, plan->stream, 0));
  PetscCall(DeviceMemoryRelease(&plan->memory, plan->stream, 0));
  PetscCall(DeviceMemoryRelease(&plan->guess_memory, plan->stream, 0));
  plan->uncounted      = NULL;
  plan->unseen         = NULL;
  plan->ahead[0].there = plan->ahead[1].there = PETSC_FALSE;
  if (plan->done) CallCUDA(cudaEventDestroy(plan->done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanEnter - begins a call: makes the device current and takes the stream of the call

   Not Collective

   Input Parameter:
.  plan - the plan

   Output Parameter:
.  before - the program's current device, for PlanLeave()

   Note:
   PETSc's current stream may change from call to call, and may come to be. What went on in another one is
   waited for by its event, since that stream may be gone, and the new one may even have its address.
*/
PetscErrorCode PlanEnter(Plan *plan, int *before)
{
  unsigned long long id;

  PetscFunctionBegin;
  PetscCall(DeviceEnter(before, &plan->stream));
  /* only now: an event is the current device's, and none of another one can be recorded in the stream */
  if (!plan->done) CallCUDA(cudaEventCreateWithFlags(&plan->done, cudaEventDisableTiming));
  CallCUDA(cudaStreamGetId(plan->stream, &id));
  if (id != plan->stream_id) CallCUDA(cudaStreamWaitEvent(plan->stream, plan->done, 0));
  plan->stream_id = id;
  if (plan->inodes) plan->inodes->stream = plan->stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanLeave - ends a call: the matrix that came with it is gone, and what it had in scratch is released

   Not Collective

   Input Parameters:
+  plan   - the plan
-  before - of PlanEnter()

   Errors:
   PETSC_ERR_GPU_RESOURCE where memory was missing in a call that cannot turn to another backend.
*/
PetscErrorCode PlanLeave(Plan *plan, int before)
{
  char why[sizeof(plan->unfit)];

  PetscFunctionBegin;
  plan->borrowed = NULL;
  if (plan->inodes) PetscCall(PlanRelease(plan->inodes, &plan->inodes->scratch, 0));
  PetscCall(PlanRelease(plan, &plan->scratch, 0));
  CallCUDA(cudaEventRecord(plan->done, plan->stream));
  PetscCall(DeviceLeave(before));
  PetscCall(PetscStrncpy(why, plan->unfit, sizeof(why)));
  plan->unfit[0] = 0; /* another call may have the memory, or need none */
  PetscCheck(!why[0], PETSC_COMM_SELF, PETSC_ERR_GPU_RESOURCE, "CUDA backend: %s", why);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Takes memory for one of the lists; where it is missing, plan->unfit says so. Call it, and all that calls
   it, by PlanCall().
*/
PetscErrorCode PlanAlloc(Plan *plan, DeviceMemory *memory, size_t bytes, void *pointer)
{
  PetscFunctionBegin;
  PetscCall(DeviceMemoryAlloc(memory, plan->stream, bytes, pointer));
  if (!*(void **)pointer) {
    const PetscInt64 held = plan->memory.bytes + plan->scratch.bytes + plan->taken;

    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "out of memory on the device: %zu more bytes than the %" PetscInt64_FMT " held", bytes, held));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The same in plan->memory, for a pattern that comes from elsewhere than the matrix: does not count in the
   budget of the strategies.
*/
PetscErrorCode PlanAllocCopied(Plan *plan, size_t bytes, void *pointer)
{
  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->memory, bytes, pointer));
  plan->copied += (PetscInt64)plan->memory.piece[plan->memory.n - 1].bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   What became of a launch. Memory that is missing for the kernel, or for what it keeps beside registers, is
   none that the plan lacks, but unfit the same.
*/
PetscErrorCode PlanCheckLaunch(Plan *plan, cudaError_t err)
{
  PetscFunctionBegin;
  if (err == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError(); /* not another call's business */
    PetscCall(PetscStrncpy(plan->unfit,
                           "out of memory on the device, which is to load a kernel (CUDA_MODULE_LOADING=EAGER loads all of them when a program starts)",
                           sizeof(plan->unfit)));
  } else CallCUDA(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Releases the pieces from the first on; what the plan has in them goes with its memory. */
PetscErrorCode PlanRelease(Plan *plan, DeviceMemory *memory, int first)
{
  PetscFunctionBegin;
  for (int p = first; p < memory->n; p++) {
    for (int k = 0; k < 2; k++) {
      if (plan->level[k] == memory->piece[p].pointer) plan->level[k] = NULL;
      if (plan->tile_level[k] == memory->piece[p].pointer) plan->tile_level[k] = NULL;
    }
    if (plan->crout == memory->piece[p].pointer) plan->crout = NULL;
    if (plan->inodes && plan->inodes->pattern.ptr == memory->piece[p].pointer) {
      PetscCall(PlanDestroy(plan->inodes));
      PetscCall(PetscFree(plan->inodes));
    }
    if ((void *)plan->ticket == memory->piece[p].pointer) { /* what they are beside */
      plan->uncounted = NULL;
      plan->unseen    = NULL;
    }
    if (plan->tiling.first == memory->piece[p].pointer) plan->tiling.first = plan->tiling.member = plan->tiling.tile = NULL;
  }
  PetscCall(DeviceMemoryRelease(memory, plan->stream, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   From n lengths to offsets, and their sum, which stands behind them too; total NULL: who knows it need not
   wait for it.
*/
PetscErrorCode PlanOffsets(Plan *plan, int n, int *length, int *total)
{
  const int mark  = plan->scratch.n;
  size_t    bytes = 0;
  void     *work;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelOffsets(NULL, &bytes, n, length, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelOffsets(work, &bytes, n, length, plan->stream));
  if (total) PetscCall(DeviceReadBack(plan->stream, total, length + n, sizeof(int)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sorts the numbers 0 to n - 1 stably by their keys, which are at most max: the keys and the numbers in
   order.
*/
PetscErrorCode PlanSort(Plan *plan, int n, int max, const int *key, int *sorted, int *order)
{
  const int mark  = plan->scratch.n;
  size_t    bytes = 0;
  void     *work;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSort(NULL, &bytes, n, max, key, sorted, order, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelSort(work, &bytes, n, max, key, sorted, order, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Logarithm of the power of two at or above x, at most 5. */
int Log2Ceil(double x)
{
  int l = 0;

  while (l < 5 && (double)(1 << l) < x) l++;
  return l;
}

/* Logarithm of the lanes a row: what the user says, else enough for so many. */
int PlanLanes(const Plan *plan, double otherwise)
{
  return Log2Ceil(plan->settings->vector_size ? (double)plan->settings->vector_size : otherwise);
}

/*
   Rounds in which a warp looks for the updates of a row, in the mean: one or more for each reference row,
   depending on how many entries these have.
*/
double PlanRounds(const Plan *plan)
{
  const double n = PetscMax(1.0, (double)plan->pattern.n);

  return plan->part[0] / n * PetscCeilReal(plan->part[1] / n / 32.0);
}

/*
   Bytes that strategies may still take: what plan and factor may hold, less what they hold. What is held for
   a pattern that came from elsewhere than the matrix does not count, since results must not depend on that.
*/
double PlanBudget(const Plan *plan)
{
  const double matrix = 12.0 * plan->nnz + 4.0 * (plan->pattern.n + 1.0);

  return SYNCILU_MEMORY * matrix - (double)(plan->memory.bytes + PlanInodesBytes(plan) - plan->copied) - (double)plan->taken;
}

/* The statistics of a pattern that nobody has looked through. */
void PlanUnseen(const Plan *plan, SyncILUDeviceStatistics *s)
{
  const SyncILUDeviceStatistics none = {
    .blocks = ~3, .distance = {INT_MAX, INT_MAX, INT_MAX}
  };

  *s = none;
  for (int b = 2; b <= SYNCILU_INODE_MOST; b++) s->inodes |= plan->pattern.n % b ? 0 : 1 << b;
}

/*
   PlanFindStatistics - finds what of the pattern decides how it is planned, the rows of an inode among it, in
   one look through it and one copy to the host

   Not Collective

   Input Parameters:
+  plan - the plan, with its pattern
-  tile - whether the rows may be taken in tiles
*/
PetscErrorCode PlanFindStatistics(Plan *plan, PetscBool tile)
{
  const PetscBool          updates = (PetscBool)(plan->settings->update == SYNCILU_UPDATE_AUTO || plan->settings->update == SYNCILU_UPDATE_LIST);
  const SyncILUAnalysis    order   = plan->settings->analysis;
  const PetscBool          asked   = (PetscBool)(order != SYNCILU_ANALYSIS_NONE || plan->settings->symmetric);
  const PetscBool          compare = (PetscBool)(asked && plan->part[0] == plan->part[1]);
  const int                mark    = plan->scratch.n;
  const double             rows    = PetscMax(1.0, (double)plan->pattern.n);
  const int                twice[] = {(int)(2.0 * plan->part[0] / rows), (int)(2.0 * plan->part[1] / rows)};
  SyncILUDeviceStatistics *s = &plan->statistics, *device = plan->unseen;
  SyncILUDevicePattern     p;

  PetscFunctionBegin;
  plan->unseen = NULL;
  PlanUnseen(plan, s);
  if (!device) {
    PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*s), &device));
    CallCUDA(cudaMemcpyAsync(device, s, sizeof(*s), cudaMemcpyHostToDevice, plan->stream));
  }
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelStatistics(p, plan->counts.longest[0], updates, compare && !plan->known, s->inodes != 0, tile, twice, device, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(DeviceReadBack(plan->stream, s, device, sizeof(*s)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  if (!updates) s->off_diagonal = 1; /* nobody has looked */
  for (plan->inode = SYNCILU_INODE_MOST; plan->inode > 1 && !(s->inodes >> plan->inode & 1); plan->inode--) { }
  plan->symmetric = (PetscBool)(compare && !s->unsymmetric);
  plan->reversed  = (PetscBool)(plan->symmetric && order == SYNCILU_ANALYSIS_AUTO);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the columns, where a strategy needs them when the matrix is gone. */
PetscErrorCode PlanKeepColumns(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->columns) { /* they would be kept wherever they had come from */
    if (!plan->kept) plan->copied -= (PetscInt64)plan->nnz * (PetscInt64)sizeof(int);
    plan->kept = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  plan->kept = PETSC_TRUE;
  PetscCheck(plan->borrowed || !plan->nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No columns to keep");
  PlanCall(PlanAlloc(plan, &plan->memory, (size_t)plan->nnz * sizeof(int), &plan->columns));
  CallCUDA(cudaMemcpyAsync(plan->columns, plan->borrowed, (size_t)plan->nnz * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanGetPattern - the pattern with its columns, wherever these are: the plan's own, those of the matrix of
   the present call, or those that the storage of the triangles gives back; of points of a grid, its stencil's

   Not Collective

   Input Parameter:
.  plan - the plan

   Output Parameter:
.  p - the pattern, to be given back by PlanRestorePattern() in the same step of planning
*/
PetscErrorCode PlanGetPattern(Plan *plan, SyncILUDevicePattern *p)
{
  PetscFunctionBegin;
  *p     = plan->pattern;
  p->col = plan->columns ? plan->columns : plan->borrowed;
  if (!p->col && plan->nnz) {
    int *col;

    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz * sizeof(int), &col));
    if (plan->unknowns) PlanCall(StencilColumns(plan, col));
    for (int k = 0; k < 2 && !plan->unknowns; k++) {
      PetscCheck(plan->holder[k], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Nobody has the columns");
      PlanCall((*plan->holder[k]->ops->columns)(plan->holder[k], col));
    }
    p->col = col;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns that came from the storage of the triangles are in scratch, and go with it. */
PetscErrorCode PlanRestorePattern(Plan *plan, SyncILUDevicePattern *p)
{
  PetscFunctionBegin;
  (void)plan;
  p->col = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a transpose, without their longest, and with `src` where that is wanted; they belong to the list. */
PetscErrorCode PlanTranspose(Plan *plan, DeviceMemory *memory, Part part, PetscBool src, SyncILUDeviceTriangle *t)
{
  const int            lower = part == PART_LT, entries = plan->part[!lower];
  const size_t         n = (size_t)plan->pattern.n;
  SyncILUDevicePattern p;
  size_t               bytes = 0;
  void                *work;
  int                 *own, *places, mark;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  t->n       = plan->pattern.n;
  t->entries = entries;
  PlanCall(PlanAlloc(plan, memory, (n + 1 + (src ? 2 : 1) * (size_t)entries) * sizeof(int), &own));
  places = src ? own + n + 1 + entries : NULL;
  mark   = plan->scratch.n; /* the list may be scratch itself */
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelTranspose(NULL, &bytes, p, plan->nnz, lower, entries, NULL, NULL, places, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelTranspose(work, &bytes, p, plan->nnz, lower, entries, own, own + n + 1, places, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  t->begin = own;
  t->end   = own + 1;
  t->col   = own + n + 1;
  t->src   = places;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The rows of a triangle. Those of a transpose are made and belong to the list; those of L and U are parts of
   the pattern.
*/
PetscErrorCode PlanTriangle(Plan *plan, DeviceMemory *memory, Part part, SyncILUDeviceTriangle *t)
{
  const int lower = part == PART_L;
  int      *longest, mark;

  PetscFunctionBegin;
  if (part == PART_L || part == PART_U) {
    PetscCall(PetscMemzero(t, sizeof(*t)));
    t->n       = plan->pattern.n;
    t->entries = plan->part[!lower];
    t->longest = plan->counts.longest[!lower];
    t->skip    = !lower;
    t->begin   = lower ? plan->pattern.ptr : plan->pattern.diag;
    t->end     = lower ? plan->pattern.diag : plan->pattern.ptr + 1;
    t->col     = plan->columns ? plan->columns : plan->borrowed;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanTranspose(plan, memory, part, PETSC_TRUE, t));
  mark = plan->scratch.n; /* the list may be scratch itself */
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(int), &longest));
  CallCUDA(cudaMemsetAsync(longest, 0, sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelLongest(*t, longest, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &t->longest, longest, sizeof(int)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}
