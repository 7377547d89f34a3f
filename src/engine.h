/*
   The border between the PETSc layer and the backends.

   A pattern is the result of the symbolic phase. An engine is one factorization: a pattern, the settings it was planned with, and a backend that holds plan and values.
   The PETSc layer sees the functions below, a backend fills the table; neither knows the other's inside.
*/
#ifndef SYNCILU_ENGINE_H
#define SYNCILU_ENGINE_H

#include <petscmat.h>
#include <petscsyncilu.h>
#include "compat.h"

/* A square sparse matrix in CSR, borrowed for one call. */
typedef struct {
  PetscInt           n, nnz;
  const PetscInt    *i, *j;
  const PetscScalar *a;   /* NULL in the symbolic phase */
  PetscMemType       mem; /* where the three arrays are; on a device only for a backend that takes it */
} SyncILUCSR;

/*
   The pattern of L and U in the order of the factorization: strictly lower and strictly upper triangle by rows, columns ascending; the diagonal is implied.
   A backend that takes the pattern straight from the matrix (see adopt below) leaves the arrays NULL.
*/
typedef struct {
  PetscInt  n;
  PetscInt  nl, nu; /* entries of L and of U */
  PetscInt *lptr, *lcol;
  PetscInt *uptr, *ucol;
  PetscInt *row;    /* row i of the factor is row row[i] of the matrix; NULL with the natural ordering, as are the next two */
  PetscInt *col;    /* column j of the factor is column col[j] of the matrix */
  PetscInt *colinv; /* the inverse of col */
  PetscBool same;   /* the pattern of L + U is that of the matrix, row by row and column by column */
  PetscInt  added;  /* diagonal entries that the matrix lacks */
  PetscInt  nnz;    /* entries of the matrix */
} SyncILUPattern;

typedef struct {
  PetscInt levels;        /* of fill */
  PetscInt diagonal_fill; /* add the diagonal entries that are missing */
} SyncILUFill;

PETSC_INTERN PetscErrorCode SyncILUPatternCreate(const SyncILUCSR *, const PetscInt *, const PetscInt *, SyncILUFill, SyncILUPattern *);
PETSC_INTERN PetscErrorCode SyncILUPatternDestroy(SyncILUPattern *);
PETSC_INTERN PetscInt64     SyncILUPatternBytes(const SyncILUPattern *);

typedef struct {
  SyncILUBackend  backend;
  SyncILUUpdate   update;
  SyncILUAnalysis analysis;
  SyncILUSolve    solve;
  PetscBool       prefetch;
  PetscInt        vector_size; /* lanes a row, 0: the library chooses */
  PetscInt        threads;     /* PETSC_DECIDE: OMP_NUM_THREADS, else 1 */
  PetscReal       relax;
  PetscBool       check;
} SyncILUSettings;

PETSC_INTERN void SyncILUSettingsInitialize(SyncILUSettings *);

/* How pivots are judged and mended in one attempt at the numeric phase. */
typedef struct {
  MatFactorShiftType shift;
  PetscReal          zeropivot;
  PetscReal          amount; /* added to every diagonal entry; with MAT_SHIFT_INBLOCKS to the pivots that need it */
  PetscReal          relax;
} SyncILUPivoting;

/* What one attempt found. */
typedef struct {
  PetscInt  row;     /* first row, in the order of the factorization, whose pivot is rejected; -1: none */
  PetscReal pivot;   /* its absolute value */
  PetscBool shift;   /* it is one that a larger shift may mend; otherwise it is a breakdown */
  PetscInt  shifted; /* pivots mended in place (MAT_SHIFT_INBLOCKS) */
} SyncILUStatus;

typedef struct _n_SyncILUEngine *SyncILUEngine;

/* The solves of a factor. */
typedef enum {
  SYNCILU_NOTRANS,
  SYNCILU_TRANS
} SyncILUTranspose;

/* What a backend provides. Solves are out of place or in place (x == b with equal leading dimensions). */
typedef struct {
  SyncILUBackend backend;
  PetscInt       least;                                                                                  /* rows from which on auto takes it, if there is a choice */
  PetscBool      device;                                                                                 /* takes arrays in the memory of a device */
  PetscReal      tolerance;                                                                              /* by which factor and solution may differ from the reference, relative to the row and to the vector */
  PetscErrorCode (*adopt)(SyncILUEngine, const SyncILUCSR *, PetscBool *);                               /* NULL, or: takes the rows of the matrix as the pattern if they have what ILU(0) in the natural order needs */
  PetscErrorCode (*setup)(SyncILUEngine);                                                                /* builds the plan from pattern and settings; what the machine lacks is said in e->unfit */
  PetscErrorCode (*destroy)(SyncILUEngine);                                                              /* frees plan and factor */
  PetscErrorCode (*excess)(SyncILUEngine, const SyncILUCSR *, PetscReal *);                              /* the largest sum_j |a_ij| - |a_ii| - Re a_ii, the shift that makes every row dominant */
  PetscErrorCode (*updates)(SyncILUEngine, PetscInt64 *);                                                /* how many updates of an entry the last factorization made; NULL: the pattern has its arrays, which tell */
  PetscErrorCode (*factor)(SyncILUEngine, const SyncILUCSR *, const SyncILUPivoting *, SyncILUStatus *); /* one attempt, ends on any values */
  PetscErrorCode (*solve)(SyncILUEngine, SyncILUTranspose, PetscInt, const PetscScalar *, PetscInt, PetscScalar *, PetscInt, PetscMemType); /* right-hand sides, b, its leading dimension, x, its leading dimension, where both are */
  PetscErrorCode (*values)(SyncILUEngine, const PetscScalar **, const PetscScalar **, const PetscScalar **);                                /* the usual form: unit lower L, strictly upper U, reciprocals of the pivots, in the pattern's order */
  PetscErrorCode (*statistics)(SyncILUEngine, SyncILUStatistics *);                                                                         /* threads, levels, bytes */
  PetscErrorCode (*view)(SyncILUEngine, PetscViewer);                                                                                       /* what runs */
} SyncILUBackendOps;

struct _n_SyncILUEngine {
  const SyncILUBackendOps *ops;
  void                    *data; /* the backend's */
  SyncILUPattern           pattern;
  SyncILUSettings          settings;   /* as planned, but for relax, threads and check, which may change between factorizations */
  char                     why[160];   /* why this backend */
  char                     unfit[160]; /* why it cannot, else empty */
  SyncILUStatus            status;     /* of the last factorization, as are the next two */
  PetscInt                 attempts;   /* tried again with another shift */
  PetscReal                amount;     /* of the shift */
  PetscInt                 factorizations;
  PetscLogDouble           flops; /* of one attempt; 0: not counted yet */
  PetscScalar             *ref;   /* the reference's factor with settings.check, else NULL */
};

PETSC_INTERN PetscErrorCode SyncILUEngineCreate(const SyncILUSettings *, PetscInt, SyncILUEngine *);
PETSC_INTERN PetscErrorCode SyncILUEngineSetUp(SyncILUEngine, PetscBool *);
PETSC_INTERN PetscErrorCode SyncILUEngineDestroy(SyncILUEngine *);
PETSC_INTERN PetscErrorCode SyncILUEngineFactor(SyncILUEngine, const SyncILUCSR *, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SyncILUEngineFlops(SyncILUEngine, PetscLogDouble *);
PETSC_INTERN PetscErrorCode SyncILUEngineSolve(SyncILUEngine, SyncILUTranspose, PetscInt, const PetscScalar *, PetscInt, PetscScalar *, PetscInt, PetscMemType);
PETSC_INTERN PetscErrorCode SyncILUEngineStatistics(SyncILUEngine, SyncILUStatistics *);

/* The serial reference, the definition of correct: the textbook IKJ elimination and two substitutions. Values are laid out as by the operation "values" above, one array after another. */
PETSC_INTERN PetscErrorCode SyncILUReferenceFactor(const SyncILUPattern *, const SyncILUCSR *, const SyncILUPivoting *, PetscScalar *, PetscScalar *, PetscScalar *, SyncILUStatus *);
PETSC_INTERN PetscErrorCode SyncILUReferenceSolve(const SyncILUPattern *, const PetscScalar *, const PetscScalar *, const PetscScalar *, SyncILUTranspose, const PetscScalar *, PetscScalar *);

PETSC_INTERN const SyncILUBackendOps SyncILUHostOps;
#if defined(SYNCILU_HAVE_CUDA)
PETSC_INTERN const SyncILUBackendOps SyncILUCUDAOps;
/* Whether this rank has a device to run on, and if not, why. */
PETSC_INTERN PetscErrorCode SyncILUCUDAAvailable(PetscBool *, char *, size_t);
PETSC_INTERN PetscErrorCode SyncILUCUDAMemory(size_t *, size_t *);
PETSC_INTERN PetscErrorCode SyncILUCUDAFinalize(void);
#endif

#endif
