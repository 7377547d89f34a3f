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
    else if (t[k]->order.blocks) time += levels * (SYNCILU_HOP + (double)plan->block_size * SYNCILU_STEP);
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

/* One way to go through both triangles: nanoseconds of the longest chain, and what that is made of. */
typedef struct {
  double time;
  char   what[112];
} Way;

/* Along the lines of the stencil that ChooseLines() has left. */
static PetscErrorCode AlongLines(const Stencil *s, Way *w)
{
  char unknowns[32] = "";

  PetscFunctionBegin;
  w->time = 2.0 * StencilTime(s);
  if (s->unknowns > 1) PetscCall(PetscSNPrintf(unknowns, sizeof(unknowns), " of %d unknowns", s->unknowns));
  PetscCall(PetscSNPrintf(w->what, sizeof(w->what), "solves along the lines of a grid of %d x %d x %d%s", s->grid[0], s->grid[1], s->grid[2], unknowns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ByTiles(const Plan *plan, Way *w)
{
  const int levels = plan->tile_levels[0] + plan->tile_levels[1];

  PetscFunctionBegin;
  w->time = levels * TileTime(&plan->tiling);
  PetscCall(PetscSNPrintf(w->what, sizeof(w->what), "%d levels of tiles of L and U in the natural order", levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of L and of U, without the order in which strategies would take them. */
static PetscErrorCode CountBoth(Plan *plan, int levels[2])
{
  const int            mark = plan->scratch.n;
  SyncILUDevicePattern p;
  int                 *level[2];

  PetscFunctionBegin;
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(PlanFindLevels(plan, p, plan->nnz, PETSC_TRUE, PETSC_FALSE, level, levels));
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ByInodes(Plan *plan, Way *w)
{
  int levels[2];

  PetscFunctionBegin;
  PlanCall(PlanInodes(plan));
  InodesCall(CountBoth(plan->inodes, levels));
  w->time = (levels[0] + levels[1]) * SYNCILU_HOP_INODES;
  PetscCall(PetscSNPrintf(w->what, sizeof(w->what), "%d levels of inodes of L and U in the natural order", levels[0] + levels[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of few rows are for a cluster. */
static PetscErrorCode ByRows(Plan *plan, Way *w)
{
  const double n = (double)plan->pattern.n;
  int          levels[2];

  PetscFunctionBegin;
  PlanCall(CountBoth(plan, levels));
  w->time = 0.0;
  for (int k = 0; k < 2; k++) w->time += levels[k] * (n > 32.0 * SYNCILU_CLUSTER_SLICES * levels[k] ? SYNCILU_HOP_BY_LEVEL : SYNCILU_HOP_CLUSTER);
  PetscCall(PetscSNPrintf(w->what, sizeof(w->what), "%d levels of L and U in the natural order", levels[0] + levels[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether nothing need be counted to know that the natural ordering is the one to take; why says so then. */
static PetscErrorCode IsSettled(const Plan *plan, char why[], size_t len)
{
  const double n = (double)plan->pattern.n, nnz = (double)plan->nnz;

  PetscFunctionBegin;
  why[0] = 0;
  if (plan->settings->solve == SYNCILU_SOLVE_JACOBI) PetscCall(PetscStrncpy(why, "no row waits for another in solves by Jacobi sweeps", len));
  else if (plan->settings->update == SYNCILU_UPDATE_PARILUT)
    PetscCall(PetscStrncpy(why, "parilut finds the pattern that solves go by when the rows are in order already", len));
  else if (!plan->pattern.n) PetscCall(PetscStrncpy(why, "there are no rows", len));
  else if (nnz > SYNCILU_ADVISE_ENTRIES * n)
    PetscCall(PetscSNPrintf(why, len, "rows have %.3g entries in the mean, neighbours of too many others for few colors", nnz / n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanChooseOrdering - whether rows that the ordering bmc would have in another order had better be solved
   for in that one, by what the solves would go by as they are

   Not Collective

   Input Parameter:
.  plan - a plan with the pattern of a matrix in its natural order, and nothing else planned yet

   Output Parameters:
+  reorder - whether it takes so much less time in the ordering bmc
-  why     - what was looked at, and about how long both take; or what makes that a matter of no account

   Note:
   The solves are looked for as PlanStrategies() does: along the lines of a grid, whose stencil stays in the
   plan, in tiles, by inodes or by rows. Rows may be for a cluster, which tiles and inodes are not: where
   these take long, levels of rows decide if they take less. The constants are in kernels/tuning.h.
*/
PetscErrorCode PlanChooseOrdering(Plan *plan, PetscBool *reorder, char why[], size_t len)
{
  const SyncILUSettings *s   = plan->settings;
  const PetscBool        any = (PetscBool)(s->solve == SYNCILU_SOLVE_AUTO || s->solve == SYNCILU_SOLVE_STRUCT);
  const double           n = (double)plan->pattern.n, nnz = (double)plan->nnz;
  const PetscBool        tile   = (PetscBool)((any || s->solve == SYNCILU_SOLVE_ELL) && PlanMayTile(plan));
  PetscBool              inodes = (PetscBool)(s->solve == SYNCILU_SOLVE_BSR), found = PETSC_FALSE;
  char                   relax[64] = "", unused[sizeof(plan->unfit)];
  const Stencil         *lines;
  Way                    way, rows;
  double                 ms[2];

  PetscFunctionBegin;
  *reorder = PETSC_FALSE;
  PetscCall(IsSettled(plan, why, len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanFindStatistics(plan, tile));
  if (any) {
    const SolveOps *ops;

    PetscCall(ChooseSolve(plan, &ops));
    PetscCall(ChooseInodes(plan, &ops, unused, sizeof(unused)));
    PlanCall(ChooseLines(plan, &ops, unused, sizeof(unused)));
    inodes = ops->inodes;
  }
  lines = plan->stencil || !plan->inodes ? plan->stencil : plan->inodes->stencil;
  if (lines) {
    PetscCall(AlongLines(lines, &way));
    found = PETSC_TRUE;
  } else if (inodes) {
    PlanCall(ByInodes(plan, &way));
    found = PETSC_TRUE;
  } else if (tile) {
    PlanCall(PlanTile(plan));
    found = plan->tiled;
    if (found) PetscCall(ByTiles(plan, &way));
  }
  if (found) *reorder = FewPay(n, nnz, 1e-6 * way.time, ms);
  if (!found || (*reorder && s->solve == SYNCILU_SOLVE_AUTO && !lines)) {
    PlanCall(ByRows(plan, &rows));
    if (!found || rows.time < way.time) way = rows;
    *reorder = FewPay(n, nnz, 1e-6 * way.time, ms);
  }
  if (s->relax > 0.0) PetscCall(PetscSNPrintf(relax, sizeof(relax), "; relaxation, here %g, was not looked at", (double)s->relax));
  PetscCall(PetscSNPrintf(why, len, "%s take about %.2g ms an application, in the ordering bmc about %.2g%s", way.what, ms[0], ms[1], relax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of rows on the host. */
static PetscErrorCode ChooseOrderingOf(Plan *plan, const SyncILUPattern *p, PetscBool *reorder, char why[], size_t len)
{
  PetscFunctionBegin;
  PlanCall(PlanUpload(plan, p));
  PlanCall(PlanChooseOrdering(plan, reorder, why, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Before there is a plan, or where the matrix is on the host: with diagonals that it lacks, which the
   symbolic phase would add or name. Where memory is missing, the plan will lack it as well.
*/
PetscErrorCode Reorder_CUDA(const SyncILUSettings *settings, const SyncILUCSR *A, PetscBool *reorder, char why[], size_t len)
{
  const SyncILUFill fill = {0, 1};
  SyncILUPattern    pattern;
  Plan              plan;
  int               before;
  PetscErrorCode    ierr;

  PetscFunctionBegin;
  *reorder = PETSC_FALSE;
  PetscCall(PetscMemzero(&pattern, sizeof(pattern)));
  PetscCall(PetscMemzero(&plan, sizeof(plan)));
  ierr = SyncILUPatternCreate(A, NULL, NULL, fill, &pattern);
  if (!ierr) {
    PetscCall(PlanCreate(&plan, settings));
    PetscCall(PlanEnter(&plan, &before));
    ierr = ChooseOrderingOf(&plan, &pattern, reorder, why, len);
    if (plan.unfit[0]) {
      *reorder = PETSC_FALSE;
      PetscCall(PetscStrncpy(why, plan.unfit, len));
    }
    PetscCall(PlanDestroy(&plan));
    PetscCall(DeviceLeave(before));
  }
  PetscCall(SyncILUPatternDestroy(&pattern));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
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
