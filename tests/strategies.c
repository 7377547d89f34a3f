/*
   See strategies.h.
*/
#include "strategies.h"
#include "cuda/choose.h"

PetscErrorCode StrategiesGet(Strategies *s)
{
  Plan none = {.pattern = {0}}; /* no rows: what a strategy then says is about the device */

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  for (int k = 0; SyncILUCUDAUpdates[k]; k++) {
    if (SyncILUCUDAUpdates[k]->type == SYNCILU_UPDATE_AUTO) continue; /* which nobody asks for by a name */
    if (SyncILUCUDAUpdates[k]->inexact) continue;
    PetscCheck(s->nupdates < STRATEGIES_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d strategies", STRATEGIES_MAX);
    s->update[s->nupdates++] = SyncILUCUDAUpdates[k]->type;
  }
  for (int k = 0; SyncILUCUDASolves[k]; k++) {
    char why[128] = "";

    if (SyncILUCUDASolves[k]->type == SYNCILU_SOLVE_AUTO) continue;
    if (SyncILUCUDASolves[k]->fits) PetscCall((*SyncILUCUDASolves[k]->fits)(&none, PART_L, why, sizeof(why)));
    if (why[0]) continue; /* not on this device */
    PetscCheck(s->nsolves < STRATEGIES_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d strategies", STRATEGIES_MAX);
    s->solve[s->nsolves++] = SyncILUCUDASolves[k]->type;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
