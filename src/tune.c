/*
   -pc_syncilu_tune: the strategies of a backend are timed on the matrix itself, and the best of them is kept.

   Each candidate is a plan of its own on the pattern of the engine, beside the engine's. It is factored and
   solved with once to load its kernels, then timed; the shortest of several times counts, since what disturbs
   a time makes it longer. First the factorizations are tried, then with the best of them the solves. What the
   user asked for is not tried again.
*/
#include <petsctime.h>
#include "engine.h"

enum {
  REPEAT = 3, /* times of each, of which the shortest counts */
  SOLVES = 20 /* applications to a factorization, as an iteration that converges well takes */
};
#define BETTER 0.97 /* what is left of the time where a candidate takes the place of another */

typedef struct {
  PetscLogDouble factor, solve; /* seconds */
} Times;

static PetscLogDouble Together(const Times *t)
{
  return t->factor + SOLVES * t->solve;
}

static PetscErrorCode TimeOnce(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, const PetscScalar *b, PetscScalar *x, Times *t)
{
  PetscLogDouble start, middle, end;

  PetscFunctionBegin;
  PetscCall(PetscTime(&start));
  PetscCall((*e->ops->factor)(e, A, piv, &e->status));
  PetscCall(PetscTime(&middle));
  PetscCall((*e->ops->solve)(e, SYNCILU_NOTRANS, 1, b, e->n, x, e->n, PETSC_MEMTYPE_HOST));
  PetscCall(PetscTime(&end));
  t->factor = middle - start;
  t->solve  = end - middle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TimePlanned(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, const PetscScalar *b, PetscScalar *x, Times *t)
{
  PetscFunctionBegin;
  PetscCall(TimeOnce(e, A, piv, b, x, t));
  for (int k = 0; k < REPEAT; k++) {
    Times again;

    PetscCall(TimeOnce(e, A, piv, b, x, &again));
    t->factor = k ? PetscMin(t->factor, again.factor) : again.factor;
    t->solve  = k ? PetscMin(t->solve, again.solve) : again.solve;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plans with these settings in the place of the engine's, on its pattern and with its backend. */
static PetscErrorCode PlanWith(SyncILUEngine e, const SyncILUCSR *A, SyncILUUpdate update, SyncILUSolve solve)
{
  PetscBool      needpattern = PETSC_FALSE;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  e->data            = NULL;
  e->settings.update = update;
  e->settings.solve  = solve;
  e->unfit[0]        = 0;
  e->row             = e->pattern.row;
  e->col             = e->pattern.col;
  ierr               = (*e->ops->plan)(e, e->pattern.lptr ? NULL : A, &needpattern);
  e->row = e->col = NULL;
  PetscCall(ierr);
  if (needpattern && !e->pattern.lptr) PetscCall(PetscStrncpy(e->unfit, "no memory for a second symbolic phase", sizeof(e->unfit)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The times of a candidate; what it lacks is in why. */
static PetscErrorCode Try(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUUpdate update, SyncILUSolve solve, const PetscScalar *b,
                          PetscScalar *x, Times *t, char why[], size_t len)
{
  struct _n_SyncILUEngine trial = *e; /* has the pattern on loan */
  PetscErrorCode          ierr;

  PetscFunctionBegin;
  trial.settings.check = PETSC_FALSE;
  ierr                 = PlanWith(&trial, A, update, solve);
  if (!ierr && !trial.unfit[0]) ierr = TimePlanned(&trial, A, piv, b, x, t);
  PetscCall((*trial.ops->destroy)(&trial));
  PetscCall(ierr);
  PetscCall(PetscStrncpy(why, trial.unfit, len));
  if (!why[0] && trial.status.row >= 0) PetscCall(PetscSNPrintf(why, len, "it rejects the pivot of row %" PetscInt_FMT, trial.status.row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The best strategies that were found, their times, and those of what is planned. */
typedef struct {
  SyncILUUpdate update;
  SyncILUSolve  solve;
  Times         best, first;
  int           tried; /* candidates that have times */
} Found;

/* Tries a candidate, and keeps it if it is the first or better. */
static PetscErrorCode Candidate(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUUpdate update, SyncILUSolve solve,
                                const PetscScalar *b, PetscScalar *x, Found *found)
{
  Times t                     = {0.0, 0.0};
  char  why[sizeof(e->unfit)] = "";

  PetscFunctionBegin;
  if (solve != SYNCILU_SOLVE_AUTO) PetscCall((*e->ops->fits)(e, solve, why, sizeof(why)));
  if (!why[0]) PetscCall(Try(e, A, piv, update, solve, b, x, &t, why, sizeof(why)));
  if (why[0]) {
    PetscCall(PetscInfo(NULL, "Tuning: update %s, solve %s: not tried, %s\n", SyncILUUpdates[update], SyncILUSolves[solve], why));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscInfo(NULL, "Tuning: update %s, solve %s: factorization %g ms, solve %g ms\n", SyncILUUpdates[update], SyncILUSolves[solve], 1e3 * t.factor,
                      1e3 * t.solve));
  if (!found->tried) found->first = t;
  if (!found->tried || Together(&t) < BETTER * Together(&found->best)) {
    found->best   = t;
    found->update = update;
    found->solve  = solve;
  }
  found->tried++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Candidates(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, const PetscScalar *b, PetscScalar *x, Found *found)
{
  const SyncILUUpdate update = found->update;
  const SyncILUSolve  solve  = found->solve;

  PetscFunctionBegin;
  PetscCall(Candidate(e, A, piv, update, solve, b, x, found)); /* as it is planned */
  /* only exact ones; behind the names of an enum, PETSc's list has that of its type, the prefix, and NULL */
  for (int u = SYNCILU_UPDATE_AUTO + 1; update == SYNCILU_UPDATE_AUTO && SyncILUUpdates[u + 2]; u++) {
    if (u == SYNCILU_UPDATE_PARILU || u == SYNCILU_UPDATE_PARILUT || u >= SYNCILU_UPDATE_DILU) continue;
    PetscCall(Candidate(e, A, piv, (SyncILUUpdate)u, solve, b, x, found));
  }
  for (int s = SYNCILU_SOLVE_AUTO + 1; solve == SYNCILU_SOLVE_AUTO && SyncILUSolves[s + 2]; s++) {
    if (s == SYNCILU_SOLVE_JACOBI) continue;
    PetscCall(Candidate(e, A, piv, found->update, (SyncILUSolve)s, b, x, found));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUTune - times the strategies that the user leaves to the library, and plans with the best ones

   Not Collective

   Input Parameters:
+  e   - a factorization that has been done
.  A   - its matrix
-  piv - how its pivots were judged in the end

   Output Parameter:
.  changed - whether there is another plan, and the factorization is to be done again

   Errors: PETSC_ERR_GPU_RESOURCE where memory went away meanwhile; after an error of the new plan e->ops is
   NULL, and the engine can only be destroyed.

   Notes:
   What was found is in e->tuning, for the view. While candidates are tried, plan and factor are there
   twice; a candidate for which there is no memory is left out, and -info says so.

   A factorization and 20 applications count together. Vectors come from the host, whose copies take the same
   time with every strategy.
*/
PetscErrorCode SyncILUTune(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscBool *changed)
{
  Found          found = {.update = e->settings.update, .solve = e->settings.solve};
  PetscScalar   *b, *x;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *changed = PETSC_FALSE;
  if (!e->ops->device) {
    PetscCall(PetscStrncpy(e->tuning, "no, the host has one way", sizeof(e->tuning)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (e->settings.update == SYNCILU_UPDATE_PARILUT) { /* candidates are planned from the matrix */
    PetscCall(PetscStrncpy(e->tuning, "no, parilut has a pattern of its own", sizeof(e->tuning)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (e->pending) PetscCall((*e->ops->fingerprint)(e, NULL, e->fingerprint));
  e->pending = PETSC_FALSE; /* it goes with the plan */
  PetscCall(PetscMalloc2(e->n, &b, e->n, &x));
  for (PetscInt i = 0; i < e->n; i++) b[i] = 1.0;
  ierr = Candidates(e, A, piv, b, x, &found);
  PetscCall(PetscFree2(b, x));
  PetscCall(ierr);
  if (!found.tried) {
    PetscCall(PetscStrncpy(e->tuning, "no, there is no memory for a second plan", sizeof(e->tuning)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSNPrintf(e->tuning, sizeof(e->tuning), "update %s, solve %s, of %d tried: a factorization and %d solves in %.3g ms, before in %.3g",
                          SyncILUUpdates[found.update], SyncILUSolves[found.solve], found.tried, (int)SOLVES, 1e3 * Together(&found.best),
                          1e3 * Together(&found.first)));
  PetscCall(PetscInfo(NULL, "Tuned: %s\n", e->tuning));
  if (found.update == e->settings.update && found.solve == e->settings.solve) PetscFunctionReturn(PETSC_SUCCESS);
  *changed = PETSC_TRUE;
  PetscCall((*e->ops->destroy)(e));
  ierr = PlanWith(e, A, found.update, found.solve);
  if (ierr || e->unfit[0]) {
    PetscCall((*e->ops->destroy)(e));
    e->ops = NULL;
  }
  PetscCall(ierr);
  PetscCheck(e->ops, PETSC_COMM_SELF, PETSC_ERR_GPU_RESOURCE, "-pc_syncilu_tune: %s", e->unfit);
  PetscFunctionReturn(PETSC_SUCCESS);
}
