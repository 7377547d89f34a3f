/*
   What the tests of the backends share: a matrix with its ordering and pattern, and what the serial reference
   makes of it.
*/
#ifndef SYNCILU_CASE_H
#define SYNCILU_CASE_H

#include "engine.h"
#include "reference.h"
#include "generate.h"

enum {
  NRHS = 11,   /* more than go through the factor together, and no multiple of anything */
  BIG  = 90000 /* rows: the reference then solves for one right-hand side */
};

typedef struct {
  Mat             A;
  SyncILUCSR      csr;
  SyncILUPattern  pattern;
  SyncILUFill     fill;
  SyncILUPivoting piv;
  SyncILUStatus   status;    /* the reference's */
  PetscScalar    *ref;       /* lval, uval, dinv */
  PetscInt        nl, nu, n; /* numbers of L and of U, rows; of a matrix of blocks those of its points */
  PetscInt        nrhs;      /* solved for: NRHS, or 1 where there are more than BIG rows */
  PetscScalar    *b, *x[2];  /* NRHS right-hand sides, and the solutions of the system and its transpose: exact ones, unless CaseExpect() wants others */
  PetscInt        sweeps;    /* of jacobi whose results these are, and rows of a diagonal block; -1: they are exact */
  PetscInt        block;
  PetscInt        ld; /* of them, odd */
} Case;

/*
   The matrix, of type seqaij or seqbaij, in the ordering of that name, on the pattern of that many levels of
   fill, with that relaxation. The matrix is borrowed until the case is destroyed.
*/
extern PetscErrorCode CaseCreate(Mat, const char *, PetscInt, PetscReal, PetscRandom, Case *);
extern PetscErrorCode CaseDestroy(Case *);
/* What the reference makes of a right-hand side with the solve strategy of the settings. */
extern PetscErrorCode CaseReference(const Case *, const SyncILUSettings *, SyncILUTranspose, const PetscScalar *b, PetscScalar *x);
/* Makes x of the case what is expected with these settings. */
extern PetscErrorCode CaseExpect(Case *, const SyncILUSettings *);
/* Replaces what the reference makes of it: by so many sweeps, with 0 exactly, as CaseCreate() has it. */
extern PetscErrorCode CaseRefer(Case *, PetscInt sweeps);
/*
   The first row that is further from what is wanted than the tolerance times the largest value: of the solution,
   or of the row's part in L or in U. The number of rows if there is none.
*/
extern PetscInt SolutionFirstDifference(PetscInt, const PetscScalar *x, const PetscScalar *want, PetscReal tolerance);
extern PetscInt FactorFirstDifference(const Case *, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *dinv, PetscReal tolerance);

/* Whether there is a backend beside the host's: a device, or one that is emulated. */
extern PetscErrorCode CaseGetDevice(PetscBool *);

/* Rows in arrays, for engines: on the host, on a device, or both. */
typedef struct {
  const SyncILUCSR *host, *device;
} Arrays;

extern PetscErrorCode ArraysSource(Arrays *, SyncILUSource *);
/* An engine for the case, on the pattern that the symbolic phase makes of it. */
extern PetscErrorCode EngineCreate(const SyncILUSettings *, const Case *, SyncILUEngine *);
/* The numeric phase with a matrix in arrays on the host and, unless that is NULL, on a device. */
extern PetscErrorCode EngineFactor(SyncILUEngine, const SyncILUCSR *, const SyncILUCSR *, const MatFactorInfo *);
/* What an engine says of itself. */
extern PetscErrorCode EngineView(SyncILUEngine, char *, size_t);

#endif
