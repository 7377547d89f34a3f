/*
   The symbolic phase on the device: an ordering that is given or made there, and levels of fill.
*/
#include "order.h"
#include "../../kernels/bmc.h"
#include "../../kernels/order.h"
#include "../../kernels/pattern.h"
#include "../../kernels/symbolic.h"

static PetscErrorCode LookThrough(Plan *plan, DeviceRows *m)
{
  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)m->n * sizeof(int), &m->diag));
  PlanCall(PlanCountRows(plan, m->nnz, m->ptr, m->col, m->diag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the pattern of rows that were looked through is symmetric; not if diagonals are missing. */
static PetscErrorCode IsSymmetric(Plan *plan, const DeviceRows *m, PetscBool *symmetric)
{
  const int                  mark = plan->scratch.n;
  const SyncILUDevicePattern p    = {.n = m->n, .ptr = m->ptr, .col = m->col, .diag = m->diag};
  SyncILUDeviceStatistics    s, *device;

  PetscFunctionBegin;
  *symmetric = plan->known;
  if (plan->known || !PlanIsRegular(plan) || m->nnz - m->n != 2 * (PetscInt64)plan->counts.entries) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(s), &device));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(s), plan->stream));
  PlanLaunch(SyncILUKernelSymmetric(p, plan->counts.longest[0], device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &s, device, sizeof(s)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  *symmetric = (PetscBool)!s.unsymmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DeviceRows from the keys of their entries, into arrays that are there. */
static PetscErrorCode FromKeys(Plan *plan, int n, int nnz, unsigned long long *key, int *ptr, int *col)
{
  const int mark = plan->scratch.n, bits = SyncILUBits(n);
  size_t    bytes = 0;
  void     *work;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelRowsFromKeys(NULL, &bytes, n, bits, nnz, key, ptr, col, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelRowsFromKeys(work, &bytes, n, bits, nnz, key, ptr, col, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the transpose, in scratch. */
static PetscErrorCode Transpose(Plan *plan, const DeviceRows *m, DeviceRows *t)
{
  unsigned long long *key;
  int                *ptr, *col, mark;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)m->n + 1) * sizeof(int), &ptr));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)m->nnz * sizeof(int), &col));
  mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)m->nnz * sizeof(*key), &key));
  PlanLaunch(SyncILUKernelEntryKeys(m->n, m->ptr, m->col, NULL, NULL, 1, SyncILUBits(m->n), key, NULL, plan->stream));
  PlanCall(FromKeys(plan, m->n, m->nnz, key, ptr, col));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  t->n   = m->n;
  t->nnz = m->nnz;
  t->ptr = ptr;
  t->col = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether rows that were looked through had better be in the ordering bmc: a plan of their own looks at
   them as they are. A stencil that it finds is the plan's, where these rows are its pattern.
*/
static PetscErrorCode ChooseOrdering(Plan *plan, const DeviceRows *m, PetscBool stays, SyncILUBlocks *blocks, PetscBool *bmc)
{
  Plan           natural;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&natural, sizeof(natural)));
  PetscCall(PlanCreate(&natural, plan->settings));
  natural.stream       = plan->stream;
  natural.ticket       = plan->ticket;
  natural.found        = plan->found;
  natural.widths       = plan->widths;
  natural.counts       = plan->counts;
  natural.nnz          = m->nnz;
  natural.part[0]      = (int)plan->counts.entries;
  natural.part[1]      = m->nnz - m->n - natural.part[0];
  natural.pattern.n    = m->n;
  natural.pattern.ptr  = m->ptr;
  natural.pattern.diag = m->diag;
  natural.borrowed     = m->col;
  ierr                 = PlanChooseOrdering(&natural, bmc, blocks->why, sizeof(blocks->why));
  if (!ierr && !natural.unfit[0] && !*bmc && stays) {
    plan->stencil   = natural.stencil;
    natural.stencil = NULL;
  }
  PetscCall(PetscStrncpy(plan->unfit, natural.unfit, sizeof(plan->unfit)));
  PetscCall(PlanDestroy(&natural));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The ordering that the engine makes itself, of rows that were looked through; stays: these are the pattern if it
   is the natural one.
*/
static PetscErrorCode MakeOrdering(Plan *plan, const DeviceRows *m, PetscBool stays, SyncILUBlocks *blocks)
{
  const int          mark  = plan->scratch.n;
  SyncILUDeviceGraph graph = {
    .n = m->n, .sides = 1, .ptr = {m->ptr, m->ptr},
            .col = {m->col, m->col}
  };
  PetscBool bmc = PETSC_TRUE, symmetric;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(blocks, sizeof(*blocks)));
  if (plan->settings->ordering == SYNCILU_ORDERING_AUTO) PlanCall(ChooseOrdering(plan, m, stays, blocks, &bmc));
  if (!bmc) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(IsSymmetric(plan, m, &symmetric));
  plan->known = symmetric; /* also in that ordering, and with fill */
  if (!symmetric) {
    DeviceRows t;

    PlanCall(Transpose(plan, m, &t));
    graph.sides  = 2;
    graph.ptr[1] = t.ptr;
    graph.col[1] = t.col;
  }
  PlanCall(PlanOrderBMC(plan, graph, m->nnz, plan->settings->block_size, blocks));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Brings rows, none of them long, into an ordering of the plan in which their diagonals stay diagonals: without
   sorting all entries, and with the map to the matrix. If final, the rows p are the pattern of the plan; else they
   are in scratch.
*/
static PetscErrorCode PermuteShort(Plan *plan, const DeviceRows *m, PetscBool final, DeviceRows *p)
{
  const size_t n = (size_t)m->n;
  int          mark, *ptr = (int *)plan->pattern.ptr, *col, *inverse, *unsorted;

  PetscFunctionBegin;
  if (final) {
    PlanCall(PlanAllocCopied(plan, (size_t)m->nnz * sizeof(int), &plan->columns));
    PlanCall(PlanAllocCopied(plan, (size_t)m->nnz * sizeof(int), &plan->map));
    col          = plan->columns;
    plan->nnz    = m->nnz;
    plan->mapped = PETSC_TRUE;
  } else {
    PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &ptr));
    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)m->nnz * sizeof(int), &col));
  }
  mark = plan->scratch.n;
  PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &inverse));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)m->nnz * sizeof(int), &unsorted));
  PlanLaunch(SyncILUKernelInvert(m->n, plan->col, inverse, plan->stream));
  PlanLaunch(SyncILUKernelOrderedLengths(m->n, plan->row, m->ptr, ptr, plan->stream));
  PlanCall(PlanOffsets(plan, m->n, ptr, NULL));
  PlanLaunch(SyncILUKernelOrderRows(m->n, plan->row, inverse, m->ptr, m->col, ptr, unsorted, col, final ? plan->map : NULL, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  p->n   = m->n;
  p->nnz = m->nnz;
  p->ptr = ptr;
  p->col = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Brings rows into the ordering of the plan. Missing diagonals are added, and counted in *added; with added
   NULL they stay missing. If final, the rows p are the pattern of the plan; else they are in scratch.
*/
static PetscErrorCode Permute(Plan *plan, const DeviceRows *m, PetscBool final, PetscInt *added, DeviceRows *p)
{
  const size_t        n = (size_t)m->n;
  int                 missing, mark, *ptr = (int *)plan->pattern.ptr, *col, *inverse[2] = {NULL, NULL}, *diagonal;
  int *const          order[2] = {plan->row, plan->col};
  unsigned long long *key;

  PetscFunctionBegin;
  if (plan->row && plan->row == plan->col && PlanIsRegular(plan) && plan->counts.longest_row <= SYNCILU_ORDER_SHORT) {
    PlanCall(PermuteShort(plan, m, final, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* what stays comes first, with room for all diagonals */
  if (!final) {
    PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &ptr));
    PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)m->nnz + (added ? n : 0)) * sizeof(int), &col));
  }
  mark = plan->scratch.n;
  for (int k = 0; k < 2 && plan->row; k++) {
    if (k && plan->col == plan->row) inverse[1] = inverse[0];
    else {
      PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &inverse[k]));
      PlanLaunch(SyncILUKernelInvert(m->n, order[k], inverse[k], plan->stream));
    }
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, (n + 1) * sizeof(int), &diagonal));
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)m->nnz + n) * sizeof(*key), &key));
  CallCUDA(cudaMemsetAsync(diagonal, 0, (n + 1) * sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelEntryKeys(m->n, m->ptr, m->col, inverse[0], inverse[1], 0, SyncILUBits(m->n), key, diagonal, plan->stream));
  PlanLaunch(SyncILUKernelDiagonalKeys(m->n, SyncILUBits(m->n), diagonal, key + m->nnz, diagonal + n, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &missing, diagonal + n, sizeof(int)));
  if (!added) missing = 0;
  else *added = missing;
  PlanCall(PlanCheckSize(plan, m->n, (PetscInt64)m->nnz + missing));
  p->n   = m->n;
  p->nnz = m->nnz + missing;
  if (final) {
    PlanCall(PlanAllocCopied(plan, (size_t)p->nnz * sizeof(int), &plan->columns));
    col       = plan->columns;
    plan->nnz = p->nnz;
  }
  PlanCall(FromKeys(plan, p->n, p->nnz, key, ptr, col));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  p->ptr = ptr;
  p->col = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Searches for the fill of all rows. DeviceRows for which the table of a warp is too small are searched for
   again, with a larger one, at last with tables in memory, which grow from round to round.
*/
static PetscErrorCode SearchFill(Plan *plan, SyncILUDeviceFill f)
{
  const int mark = plan->scratch.n;
  int       rows, *list, *count;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)f.n * sizeof(int), &list));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(int), &count));
  CallCUDA(cudaMemsetAsync(count, 0, sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelSearchFill(f, list, count, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &rows, count, sizeof(int)));
  for (int round = 0; rows; round++) {
    int *late;

    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)rows * sizeof(int), &late));
    CallCUDA(cudaMemsetAsync(count, 0, sizeof(int), plan->stream));
    if (!round) PlanLaunch(SyncILUKernelSearchFillMore(f, list, rows, late, count, plan->stream));
    else {
      const int    inner = plan->scratch.n, size = SYNCILU_FILL_LATE + 3 * (round - 1);
      const size_t table  = 2 * sizeof(int) << size;
      const int    tables = (int)PetscMin((size_t)rows, PetscMax((size_t)SYNCILU_FILL_MEMORY / table, 1));
      int         *memory;

      if (size > 30) {
        PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "%d rows meet too many others in the search for fill", rows));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)tables * table, &memory));
      PlanLaunch(SyncILUKernelSearchFillLate(f, list, rows, size, tables, memory, late, count, plan->stream));
      PetscCall(PlanRelease(plan, &plan->scratch, inner));
    }
    PetscCall(DeviceReadBack(plan->stream, &rows, count, sizeof(int)));
    list = late;
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the fill of rows, and says where the entries of each begin. */
static PetscErrorCode CountFill(Plan *plan, SyncILUDeviceFill *f, PetscInt64 *entries)
{
  unsigned long long total;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)f->n + 1) * sizeof(int), &f->count));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(total), &f->total));
  CallCUDA(cudaMemsetAsync(f->total, 0, sizeof(total), plan->stream));
  PlanCall(SearchFill(plan, *f));
  PetscCall(DeviceReadBack(plan->stream, &total, f->total, sizeof(total)));
  *entries = (PetscInt64)total;
  if (total > INT_MAX) PetscFunctionReturn(PETSC_SUCCESS); /* PlanCheckSize() will refuse it */
  PlanCall(PlanOffsets(plan, f->n, f->count, NULL));
  f->begin = f->count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the plan from levels of fill in the rows p, whose counts are the plan's. */
static PetscErrorCode Fill(Plan *plan, const DeviceRows *p, int levels)
{
  const int         mark = plan->scratch.n, bits = SyncILUBits(p->n);
  SyncILUDeviceFill f[2] = {
    {.n = p->n, .levels = levels, .bits = bits, .ptr = p->ptr, .col = p->col}
  };
  PetscInt64          entries[2] = {0, 0}, nnz;
  PetscBool           symmetric;
  unsigned long long *key;
  int                *col, *zero, *count;

  PetscFunctionBegin;
  PlanCall(IsSymmetric(plan, p, &symmetric));
  PlanCall(CountFill(plan, &f[0], &entries[0]));
  f[0].both = symmetric;
  if (symmetric) entries[0] *= 2;
  else {
    DeviceRows t;

    PlanCall(Transpose(plan, p, &t));
    f[1]      = f[0];
    f[1].swap = 1;
    f[1].ptr  = t.ptr;
    f[1].col  = t.col;
    PlanCall(CountFill(plan, &f[1], &entries[1]));
  }
  nnz = entries[0] + entries[1] + p->n;
  PlanCall(PlanCheckSize(plan, p->n, nnz));
  PlanCall(PlanAllocCopied(plan, (size_t)nnz * sizeof(int), &col));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)nnz * sizeof(*key), &key));
  for (int k = 0; k < (symmetric ? 1 : 2); k++) {
    f[k].key = key + (k ? entries[0] : 0);
    PlanCall(SearchFill(plan, f[k]));
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)p->n + 1) * sizeof(int), &zero));
  CallCUDA(cudaMemsetAsync(zero, 0, ((size_t)p->n + 1) * sizeof(int), plan->stream));
  count = zero + p->n;
  PlanLaunch(SyncILUKernelDiagonalKeys(p->n, bits, zero, key + entries[0] + entries[1], count, plan->stream));
  PlanCall(FromKeys(plan, p->n, (int)nnz, key, (int *)plan->pattern.ptr, col));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  plan->columns = col;
  plan->nnz     = (int)nnz;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Takes rows that have all diagonals as the pattern of the plan: those of a matrix on the device stay its own.
*/
static PetscErrorCode Take(Plan *plan, const SyncILUCSR *A, const DeviceRows *m)
{
  PetscFunctionBegin;
  CallCUDA(cudaMemcpyAsync((int *)plan->pattern.ptr, m->ptr, ((size_t)m->n + 1) * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  if (PetscMemTypeDevice(A->mem)) {
    plan->borrowed = m->col;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAllocCopied(plan, (size_t)m->nnz * sizeof(int), &plan->columns));
  CallCUDA(cudaMemcpyAsync(plan->columns, m->col, (size_t)m->nnz * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanChooseUpdate - which factorization update mesh is, by the rows of the matrix

   Not Collective

   Input Parameters:
+  plan - a plan
.  e    - the engine, whose update is chosen if it is mesh
.  n    - the rows
.  nnz  - their entries
.  ptr  - where each of them begins, on the device
-  col  - their columns, on the device
*/
PetscErrorCode PlanChooseUpdate(Plan *plan, SyncILUEngine e, int n, int nnz, const int *ptr, const int *col)
{
  const int          mark  = plan->scratch.n;
  SyncILUDeviceGraph graph = {
    .n = n, .sides = 1, .ptr = {ptr, ptr},
            .col = {col, col}
  };
  unsigned long long groups, *counts;

  PetscFunctionBegin;
  if (e->settings.update != SYNCILU_UPDATE_MESH) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, 2 * sizeof(*counts), &counts));
  CallCUDA(cudaMemsetAsync(counts, 0, 2 * sizeof(*counts), plan->stream));
  PlanLaunch(SyncILUKernelCountGroups(graph, counts, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &groups, counts, sizeof(groups)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscCall(SyncILUEngineChooseUpdate(e, n, nnz, (PetscInt)groups));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The symbolic phase on the device: fills the pattern of the plan. regular is false where the host is to do it:
   for a row that is to be named, or for more levels of fill than the device is good at.
*/
PetscErrorCode PlanSymbolic(Plan *plan, SyncILUEngine e, const SyncILUCSR *A, PetscBool *regular)
{
  const int  levels = (int)PetscMin(e->fill.levels, SYNCILU_FILL_LEVELS + 1);
  PetscInt   added  = 0;
  DeviceRows m, p;
  int       *ptr;

  PetscFunctionBegin;
  *regular = PETSC_FALSE;
  if (levels > SYNCILU_FILL_LEVELS) {
    PetscCall(PetscInfo(NULL, "Symbolic phase on the host: %" PetscInt_FMT " levels of fill\n", e->fill.levels));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanBegin(plan, A->n, A->nnz, &ptr));
  m.n   = (int)A->n;
  m.nnz = (int)A->nnz;
  PlanCall(PlanGetRows(plan, A, &m.ptr, &m.col));
  PlanCall(LookThrough(plan, &m));
  if (plan->counts.irregular != INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (plan->counts.missing != INT_MAX && (plan->settings->ordering == SYNCILU_ORDERING_AUTO || !(e->row || e->fill.diagonal_fill)))
    PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanChooseUpdate(plan, e, m.n, m.nnz, m.ptr, m.col));
  if (e->row) PlanCall(PlanTakeOrdering(plan, e->row, e->col));
  else if (plan->settings->ordering != SYNCILU_ORDERING_GIVEN) PlanCall(MakeOrdering(plan, &m, (PetscBool)!levels, &e->blocks));
  if (!levels && !plan->row && plan->counts.missing == INT_MAX) PlanCall(Take(plan, A, &m));
  else if (!levels || plan->row || plan->counts.missing != INT_MAX) PlanCall(Permute(plan, &m, (PetscBool)!levels, e->fill.diagonal_fill ? &added : NULL, &p));
  else p = m;
  if (levels) {
    PlanCall(LookThrough(plan, &p));
    if (!PlanIsRegular(plan)) PetscFunctionReturn(PETSC_SUCCESS);
    PlanCall(Fill(plan, &p, levels));
  }
  PlanCall(PlanCountPattern(plan, plan->columns ? plan->columns : plan->borrowed));
  *regular = PlanIsRegular(plan);
  if (!*regular) PetscFunctionReturn(PETSC_SUCCESS);
  e->pattern.added = added;
  e->pattern.same  = (PetscBool)(!plan->row && !levels && !added);
  if (!e->pattern.same && !plan->map) PlanCall(PlanAllocCopied(plan, (size_t)plan->nnz * sizeof(int), &plan->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}
