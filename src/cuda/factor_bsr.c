/*
   Update strategy bsr: rows of one pattern together, a warp an inode. W and U' go to the pattern.
*/
#include "factor.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_bsr.h"

typedef struct {
  FactorRows             rows;
  SyncILUDeviceBsrFactor m;
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
  PlanCall(PlanKeepCrout(plan, &plan->scratch)); /* unless the solves keep them: each factorization takes them again, which shall find the memory */
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
  if (plan->settings->relax != 0.0) PlanCall(FactorRowsSums(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Bsr(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                 Factor *factor)
{
  Plan               *plan = f->plan;
  const Bsr          *b    = (const Bsr *)f->data;
  SyncILUDeviceFactor d;

  PetscFunctionBegin;
  PlanCall(FactorRowsBegin(f, &b->rows, values, piv, status, &d, factor));
  PlanLaunch(SyncILUKernelFactorBsr(plan->type, d, b->m, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorBsrOps = {.type = SYNCILU_UPDATE_BSR, .name = "bsr", .inodes = PETSC_TRUE, .create = Create_Bsr, .factor = Factor_Bsr};
