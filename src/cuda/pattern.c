/*
   Where the pattern of a plan comes from: the rows of a matrix as they are, the symbolic phase on the device,
   or that of the host.
*/
#include "struct.h"
#include "../../kernels/pattern.h"

static const SyncILUDeviceCounts nothing_counted = {.irregular = INT_MAX, .missing = INT_MAX};

/* What every plan has on the device beside arrays: one allocation, and one copy that says how it begins. */
typedef struct {
  unsigned long long      ticket[3];
  int                     found[2], widths[2]; /* found is behind the ticket that goes with it */
  unsigned long long      fingerprint[2];
  SyncILUDeviceCounts     counts;
  SyncILUDeviceStatistics statistics;
} Few;

/* Looks through rows with so many entries on the device: the counts of the plan, and where their diagonals stand. */
PetscErrorCode PlanCountRows(Plan *plan, int nnz, const int *ptr, const int *col, int *diag)
{
  const int            mark   = plan->scratch.n;
  const double         mean   = plan->pattern.n ? (double)nnz / plan->pattern.n : 0.0;
  SyncILUDeviceCounts *counts = plan->uncounted;

  PetscFunctionBegin;
  plan->uncounted = NULL;
  plan->counts    = nothing_counted;
  if (!counts) {
    PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*counts), &counts));
    CallCUDA(cudaMemcpyAsync(counts, &plan->counts, sizeof(*counts), cudaMemcpyHostToDevice, plan->stream));
  }
  PlanLaunch(SyncILUKernelRows(plan->pattern.n, (int)PetscClipInterval(SYNCILU_LIST_MEANS * mean, SYNCILU_LIST_LEAST, SYNCILU_LIST_MOST), ptr, col, diag,
                               counts, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &plan->counts, counts, sizeof(*counts)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether columns ascend and every row has its diagonal. */
PetscBool PlanIsRegular(const Plan *plan)
{
  return (PetscBool)(plan->counts.irregular == INT_MAX && plan->counts.missing == INT_MAX);
}

/* Looks through the pattern of the plan, whose columns are given, and counts the entries of both triangles. */
PetscErrorCode PlanCountPattern(Plan *plan, const int *col)
{
  PetscFunctionBegin;
  PlanCall(PlanCountRows(plan, plan->nnz, plan->pattern.ptr, col, (int *)plan->pattern.diag));
  plan->part[0] = (int)plan->counts.entries;
  plan->part[1] = plan->nnz - plan->pattern.n - plan->part[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PlanCheckSize(Plan *plan, PetscInt64 n, PetscInt64 nnz)
{
  PetscFunctionBegin;
  /* the most that a kernel looks past the end of a row is 512 and a warp */
  if (n > INT_MAX - 1024 || nnz > INT_MAX - 1024)
    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit),
                            "%" PetscInt64_FMT " rows with %" PetscInt64_FMT " nonzeros on this rank, indices on the device are 32 bits wide", n, nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for a pattern of so many rows and nonzeros, and what every plan has. */
PetscErrorCode PlanBegin(Plan *plan, PetscInt64 n, PetscInt64 nnz, int **ptr)
{
  int *diag;
  Few  begin, *few;

  PetscFunctionBegin;
  PlanCall(PlanCheckSize(plan, n, nnz));
  PlanCall(PlanAlloc(plan, &plan->memory, sizeof(*few), &few));
  plan->pattern.n = (int)n;
  PetscCall(PetscMemzero(&begin, sizeof(begin)));
  begin.counts = nothing_counted;
  PlanUnseen(plan, &begin.statistics);
  CallCUDA(cudaMemcpyAsync(few, &begin, sizeof(begin), cudaMemcpyHostToDevice, plan->stream));
  plan->ticket      = few->ticket;
  plan->fingerprint = few->fingerprint;
  plan->found       = few->found;
  plan->widths      = few->widths;
  plan->uncounted   = &few->counts;
  plan->unseen      = &few->statistics;
  PlanCall(PlanAlloc(plan, &plan->memory, (size_t)n * sizeof(int), &diag));
  PlanCall(PlanAlloc(plan, &plan->memory, (size_t)(n + 1) * sizeof(int), ptr));
  plan->nnz          = (int)nnz;
  plan->pattern.ptr  = *ptr;
  plan->pattern.diag = diag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the rows of a matrix as the pattern of its ILU(0) in natural order. */
static PetscErrorCode Adopt(Plan *plan, const SyncILUCSR *A, PetscBool *regular)
{
  int *ptr;

  PetscFunctionBegin;
  *regular = PETSC_FALSE;
  PlanCall(PlanBegin(plan, A->n, A->nnz, &ptr));
  if (PetscMemTypeDevice(A->mem)) {
    CallCUDA(cudaMemcpyAsync(ptr, A->i, (size_t)(A->n + 1) * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
    plan->borrowed = (const int *)A->j;
  } else {
    PlanCall(PlanAllocCopied(plan, (size_t)A->nnz * sizeof(int), &plan->columns));
    PetscCall(DeviceUploadIndices(plan->stream, ptr, A->i, (size_t)A->n + 1));
    PetscCall(DeviceUploadIndices(plan->stream, plan->columns, A->j, (size_t)A->nnz));
  }
  PlanCall(PlanCountPattern(plan, plan->columns ? plan->columns : plan->borrowed));
  *regular = PlanIsRegular(plan);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a matrix on the device: as they are there, or copied to scratch. */
PetscErrorCode PlanGetRows(Plan *plan, const SyncILUCSR *A, const int **i, const int **j)
{
  int *ptr, *col;

  PetscFunctionBegin;
  *i = (const int *)A->i;
  *j = (const int *)A->j;
  if (PetscMemTypeDevice(A->mem)) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)A->n + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)A->nnz * sizeof(int), &col));
  PetscCall(DeviceUploadIndices(plan->stream, ptr, A->i, (size_t)A->n + 1));
  PetscCall(DeviceUploadIndices(plan->stream, col, A->j, (size_t)A->nnz));
  *i = ptr;
  *j = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ordering that was given. */
PetscErrorCode PlanTakeOrdering(Plan *plan, const PetscInt *row, const PetscInt *col)
{
  const size_t n = (size_t)plan->pattern.n;

  PetscFunctionBegin;
  PlanCall(PlanAllocCopied(plan, n * sizeof(int), &plan->row));
  PlanCall(PlanAllocCopied(plan, n * sizeof(int), &plan->col));
  PetscCall(DeviceUploadIndices(plan->stream, plan->row, row, n));
  PetscCall(DeviceUploadIndices(plan->stream, plan->col, col, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the pattern of the symbolic phase, as one CSR with the diagonal in its place. */
PetscErrorCode PlanUpload(Plan *plan, const SyncILUPattern *p)
{
  const PetscInt64 nnz = (PetscInt64)p->nl + p->nu + p->n;
  const size_t     n   = (size_t)p->n;
  int             *ptr, *col, *to, nz = 0;

  PetscFunctionBegin;
  PlanCall(PlanBegin(plan, p->n, nnz, &to));
  PlanCall(PlanAllocCopied(plan, (size_t)nnz * sizeof(int), &plan->columns));
  PetscCall(PetscMalloc2(n + 1, &ptr, plan->nnz, &col));
  for (PetscInt i = 0; i < p->n; i++) {
    ptr[i] = nz;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) col[nz++] = (int)p->lcol[k];
    col[nz++] = (int)i;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) col[nz++] = (int)p->ucol[k];
  }
  ptr[n] = nz;
  PetscCall(DeviceUpload(plan->stream, to, ptr, (n + 1) * sizeof(int)));
  PetscCall(DeviceUpload(plan->stream, plan->columns, col, (size_t)plan->nnz * sizeof(int)));
  PetscCall(PetscFree2(ptr, col));
  if (p->row) PlanCall(PlanTakeOrdering(plan, p->row, p->col));
  if (!p->same) PlanCall(PlanAllocCopied(plan, (size_t)plan->nnz * sizeof(int), &plan->map));
  PlanCall(PlanCountPattern(plan, plan->columns));
  PetscCheck(PlanIsRegular(plan), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d of the pattern of the symbolic phase is not in order",
             PetscMin(plan->counts.irregular, plan->counts.missing));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the ordering that was given, which may be asked for again. */
static PetscErrorCode KeepOrdering(SyncILUEngine e)
{
  PetscFunctionBegin;
  if (!e->row || e->row == e->pattern.row) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(e->n, &e->pattern.row));
  PetscCall(PetscMalloc1(e->n, &e->pattern.col));
  PetscCall(PetscArraycpy(e->pattern.row, e->row, e->n));
  PetscCall(PetscArraycpy(e->pattern.col, e->col, e->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanFromMatrix - the pattern of the factor of a matrix, without the host's symbolic phase

   Not Collective

   Input Parameters:
+  plan - the plan, without pattern
.  e    - the engine: ordering and fill
-  A    - the matrix, on the host or on the device; its columns must be there until PlanLeave() is called

   Output Parameter:
.  regular - whether the plan has a pattern now. If not, the host's symbolic phase is to be called: it names the
             row with columns out of order or without diagonal, and it needs no memory of the device
*/
PetscErrorCode PlanFromMatrix(Plan *plan, SyncILUEngine e, const SyncILUCSR *A, PetscBool *regular)
{
  const PetscBool natural = (PetscBool)(!e->row && plan->settings->ordering == SYNCILU_ORDERING_GIVEN);

  PetscFunctionBegin;
  *regular = PETSC_FALSE;
  if (sizeof(PetscInt) != sizeof(int) && PetscMemTypeDevice(A->mem)) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanCheckGrid(plan, A));
  e->pattern.added = 0;
  e->pattern.same  = PETSC_TRUE;
  if (natural && !e->fill.levels) PlanCall(Adopt(plan, A, regular));
  if (*regular) PlanCall(PlanChooseUpdate(plan, e, (int)A->n, (int)A->nnz, plan->pattern.ptr, plan->columns ? plan->columns : plan->borrowed));
  if (!natural || e->fill.levels || (!*regular && e->fill.diagonal_fill && plan->counts.irregular == INT_MAX)) {
    PetscCall(PlanRelease(plan, &plan->memory, 0)); /* what was found to lack diagonals */
    plan->copied  = 0;
    plan->columns = NULL;
    PetscCall(PlanSymbolic(plan, e, A, regular));
    PetscCall(PlanRelease(plan, &plan->scratch, 0));
    if (plan->unfit[0]) {
      PetscCall(PetscInfo(NULL, "Symbolic phase on the host: %s\n", plan->unfit));
      plan->unfit[0] = 0;
      *regular       = PETSC_FALSE;
    }
  }
  if (!*regular) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KeepOrdering(e));
  e->pattern.n   = A->n;
  e->pattern.nnz = A->nnz;
  e->pattern.nl  = (PetscInt)plan->part[0];
  e->pattern.nu  = (PetscInt)plan->part[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}
