/*
   What an application takes about, by the levels of the triangles; and where the host, or another order of the
   rows, would take less.
*/
#include "choose.h"
#include "struct.h"

/* Levels of what a triangular solve goes by: colors of blocks, inodes, tiles or rows. */
static int ChainLevels(const Plan *plan, const Triangle *t, int k)
{
  if (t->order.blocks) return plan->colors;
  if (t->order.lines) return plan->stencil->levels;
  if (t->order.points) return plan->inodes->stencil->levels;
  if (t->order.inodes) return plan->inodes->levels[k];
  return plan->tiled ? plan->tile_levels[k] : plan->levels[k];
}

/*
   Milliseconds that the way through all levels takes in an application: a hop a level and triangle, or with row
   blocks a hop a block and a step a row. The constants are in kernels/tuning.h.
*/
static double ChainTime(const Plan *plan, const Triangle *L, const Triangle *U)
{
  const Triangle *t[2] = {L, U};
  double          time = 0.0;

  for (int k = 0; k < 2; k++) {
    const Ell   *e      = TriangleGetEll(t[k]);
    const double hop    = t[k]->ops->hop > 0.0 ? t[k]->ops->hop : e && e->ell.by_level ? SYNCILU_HOP_BY_LEVEL : SYNCILU_HOP;
    const int    levels = ChainLevels(plan, t[k], k);

    if (t[k]->order.lines) time += StencilTime(plan->stencil);
    else if (t[k]->order.points) time += StencilTime(plan->inodes->stencil);
    else if (t[k]->order.blocks) time += levels * (SYNCILU_HOP + (double)plan->settings->block_size * SYNCILU_STEP);
    else if (plan->tiled) time += levels * TileTime(&plan->tiling);
    else time += levels * hop;
  }
  return 1e-6 * time;
}

/*
   ChooseHost - whether auto had better leave the matrix to the host: where its rows are one chain, a core is
   faster

   Not Collective

   Input Parameters:
+  plan - the plan
.  L    - the triangle, with the order of its solve
-  U    - likewise

   Output Parameter:
.  why - the reason, empty if there is none

   Note:
   A core takes its time for each entry.
*/
PetscErrorCode ChooseHost(const Plan *plan, const Triangle *L, const Triangle *U, char why[], size_t len)
{
  const int    levels = ChainLevels(plan, L, 0);
  const double device = ChainTime(plan, L, U), host = 1e-6 * SYNCILU_HOST_ENTRY * (double)plan->nnz;

  PetscFunctionBegin;
  why[0] = 0;
  if (device > SYNCILU_HOST_FACTOR * host) {
    PetscCall(
      PetscSNPrintf(why, len, "a chain of %d levels for %d rows takes a GPU about %.3g ms an application, a core %.3g", levels, plan->pattern.n, device, host));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Milliseconds that the bytes of an application take. */
static double BytesTime(double n, double nnz)
{
  return 1e3 * (12.0 * nnz + 40.0 * n) / SYNCILU_BANDWIDTH;
}

/*
   Whether an ordering with few levels takes so much less time than the present one that it is worth its
   iterations. Where a row has many entries, its neighbours are too many for few colors.
*/
static PetscBool FewPay(double n, double nnz, double chain, double ms[2])
{
  ms[0] = BytesTime(n, nnz) + chain;
  ms[1] = BytesTime(n, nnz) + 1e-6 * SYNCILU_BMC_LEVELS * SYNCILU_HOP_BY_LEVEL;
  return (PetscBool)(nnz <= SYNCILU_ADVISE_ENTRIES * n && ms[0] > SYNCILU_ADVISE * ms[1]);
}

/* Before there is a plan: levels of few rows are for a cluster. */
PetscBool Reorder_CUDA(PetscInt n, PetscInt64 nonzeros, const PetscInt levels[2], double ms[2])
{
  double chain = 0.0;

  for (int k = 0; k < 2; k++)
    chain += 1e-6 * (double)levels[k] * ((double)n > 32.0 * SYNCILU_CLUSTER_SLICES * (double)levels[k] ? SYNCILU_HOP_BY_LEVEL : SYNCILU_HOP_CLUSTER);
  return FewPay((double)n, (double)nonzeros, chain, ms);
}

/*
   AdviseOrdering - whether the order of the matrix is such a chain of narrow levels that another one would take
   much less time

   Not Collective

   Input Parameters:
+  plan - the plan
.  L    - the triangle, with the order of its solve
-  U    - likewise

   Output Parameter:
.  advice - which ordering, and about what time both take; empty if there is none

   Note:
   Nothing is reordered unasked: an ordering changes the number of iterations. The constants are in
   kernels/tuning.h.
*/
PetscErrorCode AdviseOrdering(const Plan *plan, const Triangle *L, const Triangle *U, char advice[], size_t len)
{
  double ms[2];

  PetscFunctionBegin;
  advice[0] = 0;
  if (plan->tiled || plan->block || L->order.lines || L->order.points || L->order.numerical) PetscFunctionReturn(PETSC_SUCCESS);
  if (FewPay((double)plan->pattern.n, (double)plan->nnz, ChainTime(plan, L, U), ms)) {
    PetscCall(
      PetscSNPrintf(advice, len,
                    "%d levels of L and U for %d rows take about %.2g ms an application; -pc_factor_mat_ordering_type bmc takes about %.2g, and may take "
                    "more iterations",
                    ChainLevels(plan, L, 0) + ChainLevels(plan, U, 1), plan->pattern.n, ms[0], ms[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
