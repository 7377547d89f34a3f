/*
   Update strategy bsr: rows of one pattern together, one or several warps an inode. W and U' go to the pattern.

   Without relaxation the plan has lists of the blocks that meet (kernels/factor_bsr_list.cu). Otherwise, and where
   inodes have too many entries for that, the kernel searches (kernels/factor_bsr.cu).
*/
#include "factor.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_bsr.h"
#include "../../kernels/factor_bsr_list.h"

typedef struct {
  FactorRows             rows;
  SyncILUDeviceBsrFactor m;
  SyncILUDeviceBsrLists  lists; /* word is NULL: there are none */
} Bsr;

/* How many warps a block has, and how long the rows are that fit shared memory; room for the others. */
static PetscErrorCode Room(Factorization *f, SyncILUDeviceBsrFactor *m)
{
  Plan                      *plan = f->plan, *inodes = plan->inodes;
  const SyncILUDeviceCounts *counts = &inodes->counts;
  const size_t               block  = (size_t)plan->inode * (size_t)plan->inode * plan->size;
  int                       *begin, total;

  PetscFunctionBegin;
  m->warps  = SYNCILU_BLOCK_FACTOR / 32;
  m->shared = PetscMin(counts->longest_row, SYNCILU_TABLE_MOST);
  m->lower  = PetscMin(counts->longest[0], m->shared);
  while (m->warps > 1 && (size_t)m->warps * SyncILUKernelFactorBsrBytes(plan->inode, m->shared, m->lower) > SYNCILU_SHARED_BYTES) m->warps /= 2;
  while (SyncILUKernelFactorBsrBytes(plan->inode, m->shared, m->lower) > SYNCILU_SHARED_BYTES) {
    m->shared--;
    m->lower = PetscMin(m->lower, m->shared);
  }
  if (counts->longest_row > m->shared) {
    PlanCall(PlanAlloc(plan, &f->memory, ((size_t)inodes->pattern.n + 1) * sizeof(int), &begin));
    PlanLaunch(SyncILUKernelLongLengths(inodes->pattern.n, inodes->pattern.ptr, m->shared, begin, plan->stream));
    PlanCall(PlanOffsets(plan, inodes->pattern.n, begin, &total));
    PlanCall(PlanAlloc(plan, &f->memory, (size_t)total * block, &m->scratch));
    m->begin = begin;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many warps a block and an inode have, and what shared memory has; whether there is room. */
static PetscBool ListRoom(const Plan *plan, double level_rows, const SyncILUBsrListSizes *sizes, SyncILUDeviceBsrLists *l)
{
  const SyncILUDeviceCounts *counts = &plan->inodes->counts;
  size_t                     bytes;

  l->inodes  = (SyncILUDeviceInodes){plan->inode, plan->inodes->pattern};
  l->entries = counts->longest_row;
  l->words   = sizes->most;
  l->warps   = SYNCILU_BLOCK_FACTOR / 32;
  l->team    = level_rows <= SYNCILU_BSR_TEAM_ROWS && (counts->longest[1] + 1) * plan->inode > 32; /* else a warp has a lane for each column */
  bytes      = SyncILUKernelFactorBsrListBytes(plan->inode, l->entries, l->words, l->team);
  while (l->warps >> l->team > 1 && (size_t)(l->warps >> l->team) * bytes > SYNCILU_SHARED_BYTES) l->warps /= 2;
  return (PetscBool)(bytes <= SYNCILU_SHARED_BYTES);
}

static PetscErrorCode ListsCreate(Factorization *f, const FactorRows *r, SyncILUDeviceBsrLists *l)
{
  Plan                *plan = f->plan;
  const int            n    = plan->inodes->pattern.n;
  SyncILUDevicePattern p    = plan->inodes->pattern;
  SyncILUBsrListSizes *device, sizes;
  int                 *begin;
  void                *word, *task;

  PetscFunctionBegin;
  p.col = plan->inodes->columns;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*device), &device));
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)n + 1) * sizeof(int), &begin));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(*device), plan->stream));
  PlanLaunch(SyncILUKernelBsrLists(p, r->turn, begin, NULL, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &sizes, device, sizeof(sizes)));
  if (!ListRoom(plan, r->order.level_rows, &sizes, l) || sizes.words > INT_MAX || sizes.most > SYNCILU_BSR_LIST_WORDS ||
      (double)sizes.words * SYNCILU_BSR_LIST_WORD > PlanBudget(plan))
    PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanOffsets(plan, n, begin, NULL));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)sizes.words * SYNCILU_BSR_LIST_WORD, &word));
  PlanLaunch(SyncILUKernelBsrLists(p, r->turn, begin, word, NULL, plan->stream));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)n * SYNCILU_BSR_LIST_TASK, &task));
  PlanLaunch(SyncILUKernelBsrListTasks(p, r->order.row, begin, task, plan->stream));
  l->word = word;
  l->task = task;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists of the blocks that meet, where inodes are short enough and there is memory: else the kernel searches. */
static PetscErrorCode Lists(Factorization *f, const FactorRows *r, SyncILUDeviceBsrLists *l)
{
  Plan     *plan = f->plan;
  const int mark = f->memory.n, before = plan->scratch.n;

  PetscFunctionBegin;
  if (plan->inode < 2 || !plan->pattern.n || plan->inodes->counts.longest_row > SYNCILU_BSR_LIST_MOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ListsCreate(f, r, l));
  PetscCall(PlanRelease(plan, &plan->scratch, before));
  if (!l->word) {
    plan->unfit[0] = 0; /* it can do without */
    PetscCall(PlanRelease(plan, &f->memory, mark));
  } else f->lanes += l->team;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Bsr(Factorization *f, char why[], size_t len)
{
  Plan       *plan = f->plan, *inodes;
  Bsr        *b;
  FactorRows *r;
  int        *level, levels;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PetscCall(PetscNew(&b));
  f->data  = b;
  f->lanes = 5;
  r        = &b->rows;
  /* unless the solves keep them, each factorization takes them anew: here it is seen that there is memory for them */
  PlanCall(PlanKeepCrout(plan, &plan->scratch));
  PlanCall(PlanInodes(plan));
  inodes = plan->inodes;
  if (f->L->order.inodes) r->order = f->L->order;
  else {
    InodesCall(PlanGetLevels(inodes, PART_L, &level, &levels));
    InodesCall(OrderCreate(inodes, &f->memory, PART_L, level, levels, 0, &r->order));
    PetscCall(PlanRelease(inodes, &inodes->scratch, 0));
    r->order.key = r->order.start = NULL;
  }
  r->order.throttle = OrderThrottle(r->order.level_rows, PetscMax(SYNCILU_THROTTLE_SEARCH, SYNCILU_THROTTLE_ROUNDS * PlanRounds(inodes)));
  r->tasks          = inodes->pattern.n;
  InodesCall(FactorRowsTurns(inodes, &r->order, &f->memory, &r->turn));
  PetscCall(PlanRelease(inodes, &inodes->scratch, 0));
  b->m.inodes.size        = plan->inode;
  b->m.inodes.pattern     = inodes->pattern;
  b->m.inodes.pattern.col = inodes->columns;
  PlanCall(Room(f, &b->m));
  if (plan->settings->relax != 0.0) {
    PlanCall(FactorRowsSums(f));
    plan->relaxed = PETSC_TRUE;
  } else PlanCall(Lists(f, r, &b->lists));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Bsr(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                 Factor *factor)
{
  Plan               *plan = f->plan;
  const Bsr          *b    = (const Bsr *)f->data;
  FactorRows          rows = b->rows;
  SyncILUDeviceFactor d;

  PetscFunctionBegin;
  rows.filled = (PetscBool)(b->lists.word && piv->relax == 0.0);
  PlanCall(FactorRowsBegin(f, &rows, values, piv, status, &d, factor));
  if (rows.filled) {
    PlanLaunch(SyncILUKernelBsrListBegin(plan->type, b->lists.inodes, d.val, plan->stream));
    PlanLaunch(SyncILUKernelFactorBsrList(plan->type, d, b->lists, plan->stream));
  } else PlanLaunch(SyncILUKernelFactorBsr(plan->type, d, b->m, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Bsr(const Factorization *f, PetscViewer viewer)
{
  const Bsr *b = (const Bsr *)f->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "updates: %s\n", b->lists.word && f->plan->settings->relax == 0.0 ? "from lists" : "searched for"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorBsrOps =
  {.type = SYNCILU_UPDATE_BSR, .name = "bsr", .inodes = PETSC_TRUE, .create = Create_Bsr, .factor = Factor_Bsr, .view = View_Bsr};
