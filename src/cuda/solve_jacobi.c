/*
   Solve strategy jacobi: Jacobi sweeps in the place of a triangular solve, in the storage of
   kernels/solve_blocks.h with blocks of successive rows. x is by rows. No levels are asked for.
*/
#include "solve.h"
#include "../../kernels/solve_jacobi.h"

#if SYNCILU_JACOBI_BLOCK != SYNCILU_BLOCKS_MOST
  #error "Blocks of the host are those of a warp"
#endif

static PetscErrorCode Create_Jacobi(Triangle *t)
{
  Plan                *plan = t->plan;
  const int            n = plan->pattern.n, most = INT_MAX / SYNCILU_BLOCKS_SHAPE - 1;
  SyncILUDeviceBlocks *m;

  PetscFunctionBegin;
  if (t->rows.longest > most) {
    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "solve strategy jacobi: a row has %d entries, more than %d", t->rows.longest, most));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&m));
  t->data = m;
  t->room = 2 * (size_t)n; /* two iterates */
  PlanCall(BlocksCreate(t, NULL, (n + SYNCILU_BLOCKS_MOST - 1) / SYNCILU_BLOCKS_MOST, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Jacobi(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan                  *plan = t->plan;
  const SyncILUSettings *own  = plan->settings;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveJacobi(plan->type, *(const SyncILUDeviceBlocks *)t->data, (int)own->solve_sweeps, own->solve_block_size > 1, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveJacobiOps = {.type    = SYNCILU_SOLVE_JACOBI,
                                        .create  = Create_Jacobi,
                                        .update  = BlocksUpdate,
                                        .solve   = Solve_Jacobi,
                                        .rows    = TriangleRows,
                                        .columns = BlocksColumns,
                                        .values  = BlocksValues};
