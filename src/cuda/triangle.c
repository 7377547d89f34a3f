/*
   Triangular systems: what all of them need, whatever their strategy.

   A solve goes through two of them, and each has its own x, indexed by positions. The right-hand side of the
   first comes from the matrix' numbering, that of the second from the x of the first, and its solution goes
   to the matrix' numbering.
*/
#include "solve.h"
#include "../../kernels/factor.h"
#include "../../kernels/order.h"
#include "../../kernels/storage.h"

/*
   TriangleCreate - plans one triangular system

   Not Collective

   Input Parameters:
+  plan - the plan
.  ops  - the strategy
.  part - which triangle
-  of   - for a transpose the triangle whose it is, else NULL

   Output Parameter:
.  t - the triangle; where memory is missing, TriangleDestroy() takes what is there
*/
PetscErrorCode TriangleCreate(Plan *plan, const SolveOps *ops, Part part, const Triangle *of, Triangle *t)
{
  const int mark = plan->scratch.n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  t->ops        = ops;
  t->plan       = plan;
  t->part       = part;
  t->of         = of;
  t->generation = UNKNOWN;
  if (!ops->columns && !of) PlanCall(PlanKeepColumns(plan));
  if (!ops->values) PlanCall(PlanKeepCrout(plan, &plan->memory));
  if (!of || !ops->transposes) PlanCall(PlanTriangle(plan, &t->memory, part, &t->rows));
  PlanCall((*ops->create)(t));
  if (!t->throttle) t->throttle = t->order.throttle;
  if (!ops->scales && (part == PART_L || part == PART_LT)) PlanCall(PlanAlloc(plan, &t->memory, (size_t)plan->pattern.n * plan->size, &t->scale));
  /* the levels of both come together, and the keys of L are the factorization's too */
  if (part != PART_L && !plan->level[0] && !plan->level[1]) {
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
    t->order.key   = NULL;
    t->order.start = NULL;
  }
  if (!of) {
    plan->holder[part == PART_U] = t;
    /* those of the matrix are there for the present call alone */
    t->rows.col = plan->columns;
  }
  plan->taken += t->memory.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TriangleDestroy(Triangle *t)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  if (!plan) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) {
    if (plan->holder[k] == t) plan->holder[k] = NULL;
  }
  PetscCall(PlanRelease(plan, &t->memory, 0));
  PetscCall(PetscFree(t->data));
  PetscCall(PetscMemzero(t, sizeof(*t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   For each position, where its row stands in the matrix' numbering: at index[row], or at the row itself with
   index NULL.
*/
static PetscErrorCode MatrixIndex(Triangle *t, const int *index, const int **out)
{
  Plan *plan = t->plan;
  int  *own;

  PetscFunctionBegin;
  *out = index ? index : t->row;
  if (!index || !t->row) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)plan->pattern.n * sizeof(int), &own));
  PlanLaunch(SyncILUKernelGather(plan->pattern.n, index, t->row, own, plan->stream));
  *out = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   TriangleLink - makes two triangular systems those of one solve

   Not Collective

   Input Parameters:
+  first  - is solved first
.  second - takes the solution of the first as its right-hand side
.  in     - where the right-hand side of each row stands; NULL: at its number
-  out    - where the solution of each row goes; NULL: likewise
*/
PetscErrorCode TriangleLink(Triangle *first, Triangle *second, const int *in, const int *out)
{
  Plan            *plan  = first->plan;
  const PetscInt64 taken = first->memory.bytes + second->memory.bytes;
  const size_t     n     = (size_t)plan->pattern.n;
  const int        mark  = plan->scratch.n;
  int             *position, *index;

  PetscFunctionBegin;
  PlanCall(MatrixIndex(first, in, &first->bindex));
  PlanCall(MatrixIndex(second, out, &second->outindex));
  /*
     the second one reads the x of the first, each position of which has a row, and so finds the row of its
     own position
  */
  second->bindex = second->row;
  if (first->row) {
    PlanCall(OrderPositions(plan, &first->order, &position));
    PlanCall(PlanAlloc(plan, &second->memory, n * sizeof(int), &index));
    if (second->row) PlanLaunch(SyncILUKernelGather(plan->pattern.n, position, second->row, index, plan->stream));
    else CallCUDA(cudaMemcpyAsync(index, position, n * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
    second->bindex = index;
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
  }
  plan->taken += first->memory.bytes + second->memory.bytes - taken;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The values of a new factorization; those that it has written into the storage of the triangle are there
   already.
*/
PetscErrorCode TriangleUpdate(Triangle *t, const Factor *factor)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  if (t->generation == factor->generation) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall((*t->ops->update)(t, factor));
  if (t->scale && factor->inverse != t->scale) PlanLaunch(SyncILUKernelReciprocals(plan->type, plan->pattern.n, factor->d, t->row, t->scale, plan->stream));
  t->generation = factor->generation;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The update of strategies that solve with W and U' on the pattern: brings the rows there, unless they are
   there already.
*/
PetscErrorCode TriangleUpdateCrout(Triangle *t, const Factor *factor)
{
  const SyncILUDeviceRows *rows = t->part == PART_L ? &factor->w : &factor->u;
  Plan                    *plan = t->plan;

  PetscFunctionBegin;
  if (!t->of && rows->values.a != plan->crout) PlanLaunch(SyncILUKernelPlaceValues(plan->type, t->rows, *rows, plan->crout, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Where a factorization may write the rows of W for strategies that deal them afterwards: one behind the other,
   since the entries of a row are far from each other in their storage, and who waits for a row would wait for
   all of its lines.
*/
PetscErrorCode TriangleRows(Triangle *t, SyncILUSlicedRows *rows)
{
  Plan            *plan  = t->plan;
  const PetscInt64 bytes = t->memory.bytes;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &t->memory, ((size_t)plan->pattern.n + 1) * sizeof(int), &t->wbegin));
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)t->rows.entries * plan->size, &t->w));
  PlanLaunch(SyncILUKernelRowLengths(t->rows, t->wbegin, plan->stream));
  PlanCall(PlanOffsets(plan, plan->pattern.n, t->wbegin, NULL));
  plan->taken += t->memory.bytes - bytes;
  rows->val    = t->w;
  rows->begin  = (const unsigned *)t->wbegin;
  rows->stride = NULL;
  rows->lanes  = 5;
  rows->limit  = INT_MAX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asynchronous. The caller has given b, x, out and the counters of tickets. */
PetscErrorCode TriangleSolve(const Triangle *t, SyncILUDeviceSolve *s)
{
  PetscFunctionBegin;
  s->scale    = t->scale;
  s->bindex   = t->bindex;
  s->outindex = t->outindex;
  s->throttle = t->throttle;
  PetscCall((*t->ops->solve)(t, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The same, of L or U by itself: right-hand side and solution by positions, or, where in and out say so, in
   the matrix' numbering, of L in that of its rows, of U in that of its columns.
*/
PetscErrorCode TriangleSolveAlone(const Triangle *t, PetscBool in, PetscBool out, SyncILUDeviceSolve *s)
{
  const int *index = t->part == PART_L ? t->bindex : t->outindex;

  PetscFunctionBegin;
  s->scale    = t->scale;
  s->bindex   = in ? index : NULL;
  s->outindex = out ? index : NULL;
  s->throttle = t->throttle;
  PetscCall((*t->ops->solve)(t, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
