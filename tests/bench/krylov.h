/*
   Times of a preconditioned Krylov method on a system.
*/
#ifndef SYNCILU_KRYLOV_H
#define SYNCILU_KRYLOV_H

#include <petscsyncilu.h>
#include "bench.h"
#include "system.h"

enum {
  KRYLOV_OPTIONS = 8, /* of a preconditioner at most */
  KRYLOV_WHY     = 600
};

typedef struct {
  PetscInt  repeat; /* rounds after the first, of which the medians are taken; 0: the first one counts */
  PetscReal rtol;
  PetscInt  max_it, restart; /* of GMRES, 0: PETSc's */
  PetscBool device;          /* PETSc uses one, for which clocks wait */
  PetscBool cold;            /* a first round that takes long counts: there is nothing to load, or that takes little of it */
  PetscBool count;           /* applications, by PETSc's log, which is on then */
  PetscBool history;         /* the norms of residuals are kept */
  double    enough;          /* s of a round, after which one round is enough */
  PetscInt  prefixes;        /* so far; 0 in the beginning */
} Krylov;

/* What came out of one preconditioner. */
typedef struct {
  const char        *name;
  BenchSample        first, again, solve;
  double             setup, refactor, time; /* medians; NAN where there is none */
  double             apply;                 /* an application of the preconditioner, if it was timed */
  PetscInt           its, applications;     /* of the preconditioner, if they are counted */
  KSPConvergedReason reason;
  PetscReal          residual; /* |b - A x| / |b| */
  PetscReal         *history;  /* norms of the last solve, as the method has them, of each iteration and before the first; NULL: not kept */
  PetscInt           norms;    /* so many of them */
  PetscBool          ours;     /* the preconditioner is syncilu, and has statistics */
  SyncILUStatistics  stats;
  PetscBool          failed;
  char               why[KRYLOV_WHY];
} Outcome;

/*
   Rounds of a preconditioner given by its options, without dash and prefix. A round: setup, solve, setup with
   new values, solve. The last round's KSP comes back, also with an error. Without convergence one round counts.
*/
extern PetscErrorCode KrylovRun(Krylov *, const char *const *, KSPType, System *, KSP *, Outcome *);
/* All that is no number yet. */
extern void           OutcomeInit(const char *, Outcome *);
extern PetscErrorCode OutcomeDestroy(Outcome *);
/* Setup and solve; NAN without convergence. */
extern double OutcomeTotal(const Outcome *);
/* The seconds of an application of a preconditioner to b, its median. */
extern PetscErrorCode KrylovApply(const Krylov *, PC, System *, double *);
/* The time when all ranks are done, and the device. */
extern PetscErrorCode KrylovClock(const Krylov *, PetscLogDouble *);
/*
   Makes PETSc use a device for matrices and vectors. Where it cannot, says why, and forgets the options, of which
   some were not looked at: the program is skipped.
*/
extern PetscErrorCode KrylovUseDevice(PetscBool *);
/* A number in so many columns, a dash if it is none. */
extern PetscErrorCode PrintNumber(int, const char *, double);

#endif
