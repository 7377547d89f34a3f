/*
   What the factorizations by rows share: tasks, U' for those who wait for it, and the call of the kernel.
*/
#include "factor.h"
#include "struct.h"
#include "../../kernels/factor.h"
#include "../../kernels/storage.h"

/*
   Whether rows go by latest levels. Long rows should begin early, while others are at work on what they need: where
   levels are narrow, what they do not need had better come behind them. On a symmetric pattern that is the order of
   U from its end, if U has its own earliest levels.
*/
static PetscBool Late(const Factorization *f)
{
  const Plan  *plan = f->plan;
  const Order *U    = &f->U->order;

  if (!f->narrow || plan->counts.longest_row <= plan->counts.longest_listed || plan->settings->analysis != SYNCILU_ANALYSIS_AUTO) return PETSC_FALSE;
  return (PetscBool)(plan->symmetric && !plan->reversed && U->row && !U->tiles && !U->blocks && !U->inodes && !U->lines && !U->points && !U->numerical);
}

/*
   FactorHalf - whether one triangle is factored: of a symmetric matrix, if the strategy may do so

   Not Collective

   Input Parameters:
+  f     - the factorization
-  unfit - why the strategy factors both here; empty if it need not

   Output Parameter:
.  f - its half, or the reason in both

   Note: By bytes, with m entries of U: both triangles read 2m + n values of A and write W and U'; one reads m
   + n, and the transposed u' where the update of the diagonal reads it anyway. So W is written by its own
   row, as with both. If instead a row scattered it to those that need it, m more sentinels would be filled,
   and m values go to memory one by one.
*/
PetscErrorCode FactorHalf(Factorization *f, const char unfit[])
{
  Plan       *plan = f->plan;
  const char *why  = unfit;

  PetscFunctionBegin;
  f->half    = PETSC_FALSE;
  f->both[0] = 0;
  if (!plan->settings->symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  /* PETSc was told that the matrix is symmetric, and may have been told wrong */
  if (!why[0] && !plan->symmetric) why = "the pattern is not symmetric";
  if (!why[0] && plan->settings->relax != 0.0) {
    why           = "relaxation adds up what is dropped left of the diagonal too";
    plan->relaxed = PETSC_TRUE;
  }
  f->half = (PetscBool)!why[0];
  PetscCall(PetscStrncpy(f->both, why, sizeof(f->both)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The order of the rows: that of the triangle of L, unless it is by tiles, blocks, inodes or lines, since the rows of
   a warp must be of one level. In place of blocks come levels, with the rows of a level sorted by length, so that a
   warp has rows of like length.
*/
PetscErrorCode FactorRowsOrder(Factorization *f, Order *order)
{
  Plan *plan = f->plan;
  int  *level, levels;

  PetscFunctionBegin;
  if (f->L->order.tiles || f->L->order.blocks || f->L->order.inodes || f->L->order.lines || f->L->order.points) {
    int bits = 0;

    if (f->L->order.lines) PlanCall(StencilLevels(plan, &level, &levels));
    else PlanCall(PlanGetLevels(plan, PART_L, &level, &levels));
    /* levels leave room for lengths in the keys */
    if (f->L->order.blocks && levels <= INT_MAX >> (SYNCILU_WIDTH_BITS + 1)) {
      SyncILUDeviceTriangle t;
      int                   lanes, polls;

      PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &t));
      PlanCall(EllLanesAtOnce(plan, PART_L, t, &lanes, &polls));
      PlanLaunch(SyncILUKernelSliceKeys(t, lanes, PetscMax(polls, SYNCILU_POLLS) << lanes, level, level, plan->stream));
      bits = SYNCILU_WIDTH_BITS;
    }
    PlanCall(OrderCreate(plan, &f->memory, PART_L, level, levels, bits, order));
  } else if (Late(f)) {
    PlanCall(OrderReverse(plan, &f->memory, &f->U->order, order));
    f->late = PETSC_TRUE;
  } else *order = f->L->order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of U' in rows of their own, with one triangle with the pivots. */
static size_t UpperNumbers(const Factorization *f)
{
  return (size_t)f->plan->part[1] + (f->half ? (size_t)f->plan->pattern.n : 0);
}

/*
   Where the rows go: W into the storage of its triangle and U' to rows of its own, if that storage takes
   them; else both onto the pattern.
*/
PetscErrorCode FactorRowsCreate(Factorization *f, FactorRows *r)
{
  Plan                *plan = f->plan;
  SyncILUDevicePattern p;

  PetscFunctionBegin;
  if (!f->L->ops->rows) PetscFunctionReturn(PETSC_SUCCESS);
  /* another strategy may have been tried before */
  if (!f->wrows.val) PlanCall((*f->L->ops->rows)(f->L, &f->wrows));
  PlanCall(PlanAlloc(plan, &f->memory, ((size_t)plan->pattern.n + 1) * sizeof(int), &r->ubegin));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelUpperLengths(p, f->half, r->ubegin, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  PlanCall(PlanOffsets(plan, plan->pattern.n, r->ubegin, NULL));
  PlanCall(PlanAlloc(plan, &f->memory, UpperNumbers(f) * plan->size, &r->u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   FactorRowsTurns - in which order the reference rows of a row come, where levels have few rows, or rows come
   in inodes: those of the latest levels last, so that little is left to be done once the last one has arrived

   Not Collective

   Input Parameters:
+  plan   - the plan, or that of its inodes
.  order  - of the rows of the factorization
-  memory - the list that will have it

   Output Parameter:
.  turn - as in SyncILUDeviceFactor

   Note:
   An entry must have its own updates before it is the multiplier of a reference row. Where the pattern is
   symmetric that holds in any order of the rows in which each comes after those it depends on: if u_kj
   exists, row j depends on row k. Otherwise it holds in the order of the columns alone.
*/
PetscErrorCode FactorRowsTurns(Plan *plan, const Order *order, DeviceMemory *memory, const unsigned char **turn)
{
  SyncILUDevicePattern p;
  unsigned char       *own;
  int                 *position;

  PetscFunctionBegin;
  *turn = NULL;
  if (!plan->symmetric || order->numerical || (plan->unknowns < 2 && order->level_rows > SYNCILU_TURN_ROWS)) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, memory, (size_t)plan->nnz, &own));
  PlanCall(OrderPositions(plan, order, &position));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelTurns(p, position, own, plan->stream));
  PetscCall(PlanRestorePattern(plan, &p));
  *turn = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Room for the sums that relaxation needs: taken with the plan if it is known then, while auto can still turn
   to the host.
*/
PetscErrorCode FactorRowsSums(Factorization *f)
{
  Plan *plan = f->plan;

  PetscFunctionBegin;
  if (!f->sum) PlanCall(PlanAlloc(plan, &plan->memory, 2 * (size_t)plan->pattern.n * plan->size, &f->sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   FactorRowsBegin - fills what is waited for with NaN sentinels, and says where all is

   Not Collective

   Input Parameters:
+  f      - the factorization
.  r      - its rows
.  values - of the matrix
.  piv    - how pivots are judged
-  status - receives what is found

   Output Parameters:
+  d      - the argument of the kernel
-  factor - where W, U' and the pivots will be
*/
PetscErrorCode FactorRowsBegin(Factorization *f, const FactorRows *r, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv,
                               SyncILUDeviceStatus *status, SyncILUDeviceFactor *d, Factor *factor)
{
  Plan        *plan = f->plan;
  const size_t n = (size_t)plan->pattern.n, fill = r->filled ? 0 : r->u ? UpperNumbers(f) : (size_t)plan->nnz;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(d, sizeof(*d)));
  PlanCall(PlanGetPattern(plan, &d->pattern));
  /* for as long as the solves need to take them from there, unless somebody keeps them */
  if (!r->u && !r->stored && !plan->crout) PlanCall(PlanAlloc(plan, PlanCroutMemory(plan), (size_t)plan->nnz * plan->size, &plan->crout));
  d->values = *values;
  d->val    = r->u ? (void *)(r->u + f->half) : plan->crout;
  if (piv->relax != 0.0) {
    PlanCall(FactorRowsSums(f));
    CallCUDA(cudaMemsetAsync(f->sum, 0xff, 2 * n * plan->size, plan->stream));
  }
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, plan->ticket + 2, fill, r->u ? (void *)r->u : plan->crout, n, f->pivot, plan->stream));
  d->upper    = r->ubegin;
  d->wrows    = f->wrows;
  d->pivot    = f->pivot;
  d->sum      = f->sum;
  d->size     = SyncILUPivotsRelative(piv->type) ? f->size : NULL;
  d->order    = r->order.row;
  d->turn     = r->turn;
  d->tasks    = r->tasks;
  d->task     = r->task;
  d->lanes    = f->lanes;
  d->shared   = r->shared;
  d->lower    = PetscMin(plan->counts.longest[0], r->shared);
  d->throttle = r->order.throttle;
  d->ticket   = plan->ticket + 2;
  d->piv      = *piv;
  d->status   = status;
  if (r->u) {
    factor->u.values.a = r->u;
    factor->u.begin    = r->ubegin;
    factor->u.lead     = f->half;
  } else factor->w.values.a = factor->u.values.a = plan->crout;
  PetscFunctionReturn(PETSC_SUCCESS);
}
