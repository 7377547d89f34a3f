/*
   The border between the PETSc layer and the backends.

   A pattern is the result of the symbolic phase. An engine is one factorization: a pattern, the settings it
   was planned with, and a backend that holds plan and values. The PETSc layer sees the functions below, a
   backend fills the table; neither knows the other's inside.
*/
#ifndef SYNCILU_ENGINE_H
#define SYNCILU_ENGINE_H

#include <petscmat.h>
#include <petscsyncilu.h>
#include "compat.h"

/*
   A square sparse matrix in CSR, borrowed until its source takes it back. Where it has blocks, n, nnz, i and j
   count block rows, blocks and block columns, and a has the blocks one after the other, each by columns.
*/
typedef struct {
  PetscInt           n, nnz;
  const PetscInt    *i, *j;
  const PetscScalar *a;     /* NULL where values were not asked for */
  PetscMemType       mem;   /* where the three arrays are */
  PetscObjectId      id;    /* of the matrix object, 0: the arrays belong to none */
  PetscObjectState   state; /* of its nonzero pattern */
  PetscInt           bs;    /* rows of a block; 0 and 1: there are no blocks */
} SyncILUCSR;

static inline PetscInt SyncILUBlockSize(const SyncILUCSR *A)
{
  return PetscMax(A->bs, 1);
}

/*
   Where an engine gets the rows of a matrix: the PETSc layer has them from a Mat (csr.c), tests from arrays.
*/
typedef struct {
  /* device: arrays on a device are taken where the matrix has them there; values: these too */
  PetscErrorCode (*get)(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *);
  PetscErrorCode (*restore)(void *ctx, SyncILUCSR *);
  void    *ctx;
  PetscInt bs; /* rows of a block, 1 without blocks; block matrices are on the host */
} SyncILUSource;

/*
   Whether this is the matrix that was seen last, with the pattern that it had then. The pattern itself is not
   looked at.
*/
static inline PetscBool SyncILUSameIdentity(const SyncILUCSR *A, const SyncILUCSR *B)
{
  return (PetscBool)(A->id == B->id && A->state == B->state && A->i == B->i && A->j == B->j && A->nnz == B->nnz);
}

PETSC_INTERN void SyncILUCSRFingerprint(const SyncILUCSR *, PetscInt64[2]);

/*
   The pattern of L and U in the order of the factorization: strictly lower and strictly upper triangle by
   rows, columns ascending; the diagonal is implied. A backend that takes the rows of the matrix as the
   pattern (see plan below) leaves the arrays NULL. Rows, columns and entries are those of blocks where the
   matrix has some, and so is the ordering.
*/
typedef struct {
  PetscInt  n;
  PetscInt  bs;     /* rows of a block, 1 without blocks */
  PetscBool half;   /* A = U'^T D U' with unit U', of which alone there are values; L's pattern is the transposed one */
  PetscBool upper;  /* a backend whose ordering is the natural one reads no value left of the diagonal, though it has both triangles */
  PetscInt  nl, nu; /* entries of L and of U */
  PetscInt *lptr, *lcol;
  PetscInt *uptr, *ucol;
  PetscInt *row;    /* row i of the factor is row row[i] of the matrix */
  PetscInt *col;    /* column j of the factor is column col[j] of the matrix */
  PetscInt *colinv; /* the inverse of col; the three are NULL with the natural ordering */
  PetscBool same;   /* the pattern of L + U is that of the matrix, row by row and column by column */
  PetscInt  added;  /* diagonal entries that the matrix lacks */
  PetscInt  nnz;    /* entries of the matrix */
} SyncILUPattern;

/* A matrix that is made of another one (derived.c). */
typedef struct _n_SyncILUDerived SyncILUDerived;

struct _n_SyncILUDerived {
  SyncILUSource    from;
  SyncILUCSR       held; /* the other matrix, while its own values are lent */
  SyncILUCSR       of;   /* by what the matrix that it was made of last is recognized */
  PetscInt64       fingerprint[2];
  PetscObjectState state; /* changes when it is made anew */
  PetscErrorCode (*make)(SyncILUDerived *, const SyncILUCSR *);
  PetscInt             *i, *j, *map; /* the pattern, and of each entry which value of the other matrix it has */
  const SyncILUPattern *reader;      /* who reads values above the diagonal alone gets those of the other matrix, if it has both triangles */
};

PETSC_INTERN void SyncILUDerivedSource(SyncILUDerived *, const SyncILUSource *, PetscErrorCode (*)(SyncILUDerived *, const SyncILUCSR *), SyncILUSource *);
PETSC_INTERN PetscErrorCode SyncILUDerivedDestroy(SyncILUDerived *);
PETSC_INTERN PetscInt64     SyncILUDerivedBytes(const SyncILUDerived *);

/* The points of a matrix of blocks (points.c). */
PETSC_INTERN PetscErrorCode SyncILUMakePoints(SyncILUDerived *, const SyncILUCSR *);
PETSC_INTERN PetscErrorCode SyncILUPointsOrdering(PetscInt, PetscInt, const PetscInt *, PetscInt **);
/* Both triangles of a symmetric matrix, of its upper one, and the same of a matrix that has the upper one alone (mirror.c). */
PETSC_INTERN PetscErrorCode SyncILUMakeSymmetric(SyncILUDerived *, const SyncILUCSR *);
PETSC_INTERN PetscErrorCode SyncILUMakeWhole(SyncILUDerived *, const SyncILUCSR *);

typedef struct {
  PetscInt levels;        /* of fill */
  PetscInt diagonal_fill; /* add the diagonal entries that are missing */
} SyncILUFill;

/* Who orders the rows. */
typedef enum {
  SYNCILU_ORDERING_GIVEN, /* somebody else has; without index sets it is the natural ordering */
  SYNCILU_ORDERING_BMC,   /* the engine, by colored blocks */
  SYNCILU_ORDERING_AUTO   /* the same, or not at all, as the backend would have it */
} SyncILUOrdering;

/* What an ordering of the library's is. */
typedef struct {
  SyncILUOrdering request;              /* GIVEN once the rows are ordered */
  PetscInt        size, blocks, colors; /* of bmc; size 0: it is the natural one */
  PetscBool       matched, along;       /* see src/bmc.h */
  char            why[192];             /* why auto is this one; empty else */
} SyncILUBlocks;

/* The grid that the user has given (grid.c). */
typedef struct _n_SyncILUSettings SyncILUSettings;
PETSC_INTERN PetscErrorCode       SyncILUGridCheck(const SyncILUSettings *, const SyncILUCSR *);
PETSC_INTERN PetscErrorCode       SyncILUGridRefuse(const PetscInt[4], PetscInt, PetscInt);

/* Columns inside of the matrix and ascending, else an error that names the row. */
PETSC_INTERN PetscErrorCode SyncILUCSRCheck(const SyncILUCSR *);
PETSC_INTERN PetscErrorCode SyncILUCheckSymmetric(const SyncILUCSR *);
PETSC_INTERN PetscErrorCode SyncILUPatternCreate(const SyncILUCSR *, const PetscInt *, const PetscInt *, SyncILUFill, SyncILUPattern *);
PETSC_INTERN PetscErrorCode SyncILUPatternFreeRows(SyncILUPattern *);
PETSC_INTERN PetscErrorCode SyncILUPatternDestroy(SyncILUPattern *);
PETSC_INTERN PetscInt64     SyncILUPatternBytes(const SyncILUPattern *);

/* Who knows the grid that rows follow. */
typedef enum {
  SYNCILU_GRID_UNKNOWN,
  SYNCILU_GRID_GIVEN, /* the user: it is an error if rows do not follow it */
  SYNCILU_GRID_DM     /* the matrix' DM */
} SyncILUGridFrom;

struct _n_SyncILUSettings {
  SyncILUBackend  backend;
  SyncILUUpdate   update;
  SyncILUAnalysis analysis;
  SyncILUSolve    solve;
  PetscInt        solve_sweeps; /* of solve jacobi, and rows of its diagonal blocks: 1 or SYNCILU_JACOBI_BLOCK */
  PetscInt        solve_block_size;
  PetscBool3      prefetch;    /* unknown: the library chooses */
  PetscInt        vector_size; /* lanes a row, 0: the library chooses */
  SyncILUOrdering ordering;    /* where no index sets come with the matrix */
  PetscInt        block_size;  /* of bmc */
  PetscBool       block_along; /* its colors shall follow the numbering */
  SyncILUGridFrom grid_from;
  PetscInt        grid[4];   /* points of x, y and z, unknowns a point; zeros where it is not known */
  PetscBool       symmetric; /* the matrix is: ICC where the backend knows it, else ILU of both triangles */
  PetscInt        threads;   /* PETSC_DECIDE: OMP_NUM_THREADS, else 1 */
  PetscReal       relax;
  PetscInt        sweeps;       /* of parilu and parilut */
  PetscBool       asynchronous; /* these sweeps, on a device */
  PetscReal       fill;         /* of parilut: entries of L + U over those of the matrix, */
  PetscInt        rounds;       /* in which its pattern is found, 0: it stays as it is, */
  PetscReal       tolerance;    /* and how little the threshold changes after the last one */
  PetscBool       brief;        /* planning is to take little time: update mesh is auto */
  PetscBool       residual;     /* compute it */
  PetscBool       check;
  PetscBool       tune;
};

PETSC_INTERN void SyncILUSettingsInitialize(SyncILUSettings *);
/* The line of solve jacobi in the view of a backend. */
PETSC_INTERN PetscErrorCode SyncILUSweepsView(const SyncILUSettings *, PetscViewer);

/* Entries of a row reach so many points in each direction of a grid, or around its ends. */
#define SYNCILU_GRID_REACH 8

/* Of parilu, unless the user says otherwise: README.md has what they are worth. */
enum {
  SYNCILU_SWEEPS        = 5,
  SYNCILU_SEARCH_ROUNDS = 5
};
#define SYNCILU_SEARCH_FILL 2.0

/*
   Of the diagonal entry of a row, what the pivot of D-ILU is at least: any pivots of the diagonal's sign make a preconditioner,
   and without a bound one in millions of rows of a Laplacian on tetrahedra has another sign.
*/
#define SYNCILU_DILU_LEAST 0.25

/* Sweeps of parilu and parilut; 0: the factorization is exact. */
static inline PetscInt SyncILUSweeps(const SyncILUSettings *s)
{
  return s->update == SYNCILU_UPDATE_PARILU || s->update == SYNCILU_UPDATE_PARILUT ? s->sweeps : 0;
}

/* What a search for the pattern took, and the size below which its last round left entries out; 0: none. */
typedef struct {
  PetscInt  rounds;
  PetscReal threshold;
} SyncILUSearch;

/*
   The most entries of L and U beside the diagonal that a search leaves, of the pattern that it begins with.
*/
static inline PetscInt SyncILUSearchLimit(const SyncILUSettings *s, const SyncILUPattern *p)
{
  const double limit = (double)s->fill * ((double)p->nnz + (double)p->added) - (double)p->n;

  return limit >= (double)PETSC_MAX_INT ? PETSC_MAX_INT : limit > 0.0 ? (PetscInt)limit : 0;
}

/* Counts a round that ended with that threshold; done: the next one would change little. */
static inline void SyncILUSearchRound(const SyncILUSettings *s, PetscReal threshold, SyncILUSearch *search, PetscBool *done)
{
  const PetscReal change = PetscAbsReal(threshold - search->threshold);

  *done = (PetscBool)(search->rounds && threshold > 0.0 && change <= s->tolerance * threshold && s->tolerance > 0.0);
  search->rounds++;
  search->threshold = threshold;
}

/* What one attempt at the numeric phase computes: how pivots are judged and shifted, of blocks by amount alone (reference.h). */
typedef struct {
  MatFactorShiftType shift;
  PetscReal          zeropivot;
  PetscReal          amount; /* added to every diagonal entry, or to single pivots (MAT_SHIFT_INBLOCKS) */
  PetscReal          relax;
  PetscInt           sweeps; /* of parilu (sweeps.c); 0: the factorization is exact */
  PetscReal          dilu;   /* diagonals alone are updated, and a pivot is at least this part of its diagonal entry; 0: another factorization */
} SyncILUPivoting;

/* What one attempt found. */
typedef struct {
  PetscInt  row;     /* first row (not block row), in the order of the factorization, whose pivot is rejected; -1: none */
  PetscReal pivot;   /* its absolute value */
  PetscBool shift;   /* a larger shift may save it; otherwise it is a breakdown */
  PetscInt  shifted; /* pivots shifted one by one (MAT_SHIFT_INBLOCKS) */
} SyncILUStatus;

typedef struct _n_SyncILUEngine *SyncILUEngine;

/* The solves of a factor. */
typedef enum {
  SYNCILU_NOTRANS,
  SYNCILU_TRANS
} SyncILUTranspose;

/* Rows of a diagonal block of solve jacobi, where it has blocks. */
#define SYNCILU_JACOBI_BLOCK 32

/*
   Eisenstat's trick (eisenstat.c) with a factor whose updates change diagonals alone: D its pivots, U' = I + D^-1 (U - D),
   vectors in the matrix' numbering. The matrix is the one that was factored, with the values that it had then.
*/
typedef struct {
  /*
     The pattern with its arrays, to be destroyed; without them where the backend knows that only diagonals have
     updates, and that rows and columns come in the same order. NULL: it is in the engine.
  */
  PetscErrorCode (*pattern)(SyncILUEngine, SyncILUPattern *);
  /* After each factorization: takes the diagonal of the matrix, and gives the reciprocals of the pivots. */
  PetscErrorCode (*begin)(SyncILUEngine, const SyncILUCSR *, PetscScalar *dinv, PetscMemType);
  /* y = L^-1 A U'^-1 v by the two solves alone; y is not v. */
  PetscErrorCode (*multiply)(SyncILUEngine, const PetscScalar *v, PetscScalar *y, PetscMemType);
  /* v = U' x; v is not x. */
  PetscErrorCode (*upper)(SyncILUEngine, const SyncILUCSR *, const PetscScalar *x, PetscScalar *v, PetscMemType);
  /*
     NULL: these vectors, and dinv, are in the matrix' numbering. Else they may be in an order that the
     backend prefers, and this is the way there and back: L^-1 b of b in the matrix' numbering, with back x =
     U'^-1 v, x in that numbering; from is not to.
  */
  PetscErrorCode (*transform)(SyncILUEngine, PetscBool back, const PetscScalar *from, PetscScalar *to, PetscMemType);
} SyncILUEisenstatOps;

/* See reorder below. */
typedef PetscErrorCode (*SyncILUReorder)(const SyncILUSettings *, const SyncILUCSR *, PetscBool *, char[], size_t);

/* What a backend provides. */
typedef struct {
  SyncILUBackend backend;
  PetscInt       least;       /* rows from which on auto takes it, if there is a choice */
  PetscInt       least_swept; /* the same of solve jacobi where the matrix is in its memory */
  PetscBool      device;      /* takes arrays in the memory of a device */
  PetscBool      blocks;      /* knows matrices with blocks; another one gets their points */
  PetscBool      symmetric;   /* computes one triangle of a symmetric matrix; another one both */
  PetscReal      tolerance;   /* of the check (see check.c); 0: the bits are the reference's */

  /* Which row of the matrix is row i of the factor, where the pattern has no arrays. NULL: the natural one. */
  PetscErrorCode (*row)(SyncILUEngine, PetscInt, PetscInt *);
  /* Whether this rank can use it, and if not, why. NULL: always. */
  PetscErrorCode (*available)(PetscBool *, char *, size_t);

  /*
     Builds the plan from settings and pattern; what the machine lacks for it is said in e->unfit. With a
     matrix: does the symbolic phase itself, which leaves the arrays of the pattern NULL, or sets needpattern.
     Then it is called again without a matrix, and e->pattern has its arrays.
  */
  PetscErrorCode (*plan)(SyncILUEngine, const SyncILUCSR *, PetscBool *needpattern);
  /* Frees plan and factor. */
  PetscErrorCode (*destroy)(SyncILUEngine);

  /* The largest sum_j |a_ij| - |a_ii| - Re a_ii: the shift that makes every row dominant. */
  PetscErrorCode (*excess)(SyncILUEngine, const SyncILUCSR *, PetscReal *);
  /*
     How many updates of an entry the last factorization made. NULL: the pattern has its arrays, which tell.
  */
  PetscErrorCode (*updates)(SyncILUEngine, PetscInt64 *);
  /* The norm of A - LU on the pattern, over that of A, of the last factorization, which found no bad pivot. */
  PetscErrorCode (*residual)(SyncILUEngine, const SyncILUCSR *, PetscReal *);
  /*
     Replaces the pattern by one that suits the values of the matrix, and plans for it. The next factorization
     begins with what the search has left there. A machine that lacks something for it says so in e->unfit,
     and the plan is as it was, or none.
  */
  PetscErrorCode (*search)(SyncILUEngine, const SyncILUCSR *, const SyncILUPivoting *, SyncILUSearch *);
  /* One attempt at the numeric phase, which ends on any values. */
  PetscErrorCode (*factor)(SyncILUEngine, const SyncILUCSR *, const SyncILUPivoting *, SyncILUStatus *);
  /*
     Solves for right-hand sides b with their leading dimension: solutions x with theirs, and where both are.
     x may be b if the leading dimensions are equal.
  */
  PetscErrorCode (*solve)(SyncILUEngine, SyncILUTranspose, PetscInt, const PetscScalar *b, PetscInt, PetscScalar *x, PetscInt, PetscMemType);
  /*
     One of the two solves alone, for one right-hand side: L x = b, of which the diagonal is one, or U x = b. Both
     vectors are in the matrix' numbering, between the two solves in that of its rows, and where both are; x may be
     b if rows and columns come in one order.
  */
  PetscErrorCode (*half)(SyncILUEngine, PetscBool upper, const PetscScalar *b, PetscScalar *x, PetscMemType);
  const SyncILUEisenstatOps *eisenstat;
  /*
     The usual factor on the host, in the pattern's order: unit lower L, strictly upper U, reciprocal pivots. Of a
     half there is no L, and U has a unit diagonal.
  */
  PetscErrorCode (*values)(SyncILUEngine, const PetscScalar **, const PetscScalar **, const PetscScalar **);
  /* Threads, levels and bytes. */
  PetscErrorCode (*statistics)(SyncILUEngine, SyncILUStatistics *);
  /* What runs. */
  PetscErrorCode (*view)(SyncILUEngine, PetscViewer);

  /*
     Of a planned engine: begins to make the fingerprint (see engine.c) of the pattern of a matrix on a
     device; with NULL for the matrix, waits for the one that was begun last. NULL: fingerprints are made from
     the arrays on the host.
  */
  PetscErrorCode (*fingerprint)(SyncILUEngine, const SyncILUCSR *, PetscInt64[2]);
  /*
     Of a planned engine on a device: why a solve strategy does not suit its pattern or device; empty if it
     does.
  */
  PetscErrorCode (*fits)(SyncILUEngine, SyncILUSolve, char *, size_t);
  /*
     Whether a matrix of points on the host had better be factored in an ordering with few levels than as it
     is, and what speaks for that: about how many milliseconds an application takes either way. NULL: levels
     do not matter.
  */
  SyncILUReorder reorder;
  /* Called when the package is finalized. NULL: nothing to do. */
  PetscErrorCode (*finalize)(void);
} SyncILUBackendOps;

struct _n_SyncILUEngine {
  const SyncILUBackendOps *ops;           /* NULL: the last attempt to plan failed */
  void                    *data;          /* the backend's */
  PetscInt                 n;             /* rows, as everywhere outside of patterns those of points */
  PetscInt                 bs;            /* rows of a block of the matrix */
  SyncILUDerived           points;        /* what the backend at work sees of the matrix, if it knows no blocks */
  PetscBool                pivoted;       /* it must know them, since pivots vanish that are not chosen within blocks */
  char                     nosearch[160]; /* why a device cannot search for a pattern, else empty */
  SyncILUFill              fill;
  const PetscInt          *row, *col; /* the ordering that was given, while planning; else NULL */
  SyncILUBlocks            blocks;    /* the ordering that the engine has made, if settings say so */
  SyncILUPattern           pattern;
  SyncILUSettings          settings; /* as planned; those that MatSyncILUSettingsChanged() passes on may change later */
  SyncILUUpdate            update;   /* as asked for, as the next one is: tuning or update mesh may have put others in their place */
  SyncILUSolve             solve;
  PetscReal                relax;    /* as asked for with update mesh, which may leave it out */
  PetscInt                 analyses; /* plans made so far */
  /*
     the plan knows no relaxation, or has given way to it: where that is switched on, or off, later, another
     one is made
  */
  PetscBool unrelaxed, relaxed;

  /*
     By what the matrix of the plan, or a later one of the same pattern, was recognized; without its values.
  */
  SyncILUCSR identity;
  PetscInt64 fingerprint[2];
  PetscBool  pending; /* the fingerprint is on the device, and nobody has waited for it yet */

  char           why[160];    /* why this backend */
  char           unfit[160];  /* why the backend at work cannot, else empty */
  char           tuning[160]; /* what tuning has found with this plan; empty before */
  char           chosen[128]; /* which factorization update mesh is, and why; empty with others */
  SyncILUStatus  status;      /* of the last factorization, as are the next two */
  PetscInt       attempts;    /* tried again with another shift */
  PetscReal      amount;      /* of the shift */
  PetscReal      residual;    /* -1: not computed */
  SyncILUSearch  search;      /* for the pattern */
  PetscInt       factorizations;
  PetscLogDouble flops; /* of one attempt; 0: not counted yet */
  PetscScalar   *ref;   /* the reference's factor with settings.check, else NULL */
};

PETSC_INTERN PetscErrorCode SyncILUEngineChooseUpdate(SyncILUEngine, PetscInt, PetscInt, PetscInt);
PETSC_INTERN PetscErrorCode SyncILUEngineRow(SyncILUEngine, PetscInt, PetscInt *);
PETSC_INTERN PetscErrorCode SyncILUEngineGetReorder(const SyncILUSettings *, PetscInt, SyncILUReorder *);
PETSC_INTERN PetscErrorCode SyncILUEngineCreate(const SyncILUSettings *, PetscInt, const SyncILUSource *, const PetscInt *, const PetscInt *, SyncILUFill,
                                                SyncILUEngine *);
PETSC_INTERN PetscErrorCode SyncILUEngineDestroy(SyncILUEngine *);
PETSC_INTERN PetscBool      SyncILUEngineTakesDevice(SyncILUEngine);
PETSC_INTERN PetscErrorCode SyncILUEngineFactor(SyncILUEngine, const SyncILUSource *, const MatFactorInfo *);
PETSC_INTERN PetscErrorCode SyncILUEngineFlops(SyncILUEngine, PetscLogDouble *);
PETSC_INTERN PetscErrorCode SyncILUEngineSolve(SyncILUEngine, SyncILUTranspose, PetscInt, const PetscScalar *, PetscInt, PetscScalar *, PetscInt, PetscMemType);
PETSC_INTERN PetscErrorCode SyncILUEngineStatistics(SyncILUEngine, SyncILUStatistics *);
PETSC_INTERN PetscErrorCode SyncILUEngineFinalize(void);

/* Orderings on the host (blocks.c). */
PETSC_INTERN PetscErrorCode SyncILUBlocksChoose(const SyncILUSettings *, SyncILUReorder, const SyncILUCSR *, SyncILUBlocks *);
PETSC_INTERN PetscErrorCode SyncILUBlocksOrder(const SyncILUCSR *, PetscInt **, SyncILUBlocks *);

/* With settings.check: an attempt and a solution compared with the serial reference (check.c). */
PETSC_INTERN PetscErrorCode SyncILUCheckFactor(SyncILUEngine, const SyncILUCSR *, const SyncILUPivoting *);
PETSC_INTERN PetscErrorCode SyncILUCheckSolve(SyncILUEngine, SyncILUTranspose, const PetscScalar *, const PetscScalar *);
/* For a backend whose pattern has its arrays: its operation residual, of the factor of its operation values (residual.c). */
PETSC_INTERN PetscErrorCode SyncILUResidual(SyncILUEngine, const SyncILUCSR *, PetscReal *);

PETSC_INTERN const SyncILUBackendOps SyncILUHostOps;
/* With settings.tune: the best strategies for this matrix (tune.c). */
PETSC_INTERN PetscErrorCode SyncILUTune(SyncILUEngine, const SyncILUCSR *, const SyncILUPivoting *, PetscBool *);

#if defined(SYNCILU_HAVE_CUDA)
PETSC_INTERN const SyncILUBackendOps SyncILUCUDAOps;
/* Bytes that the engines of this process have taken, and those that their pool holds; for tests. */
PETSC_INTERN PetscErrorCode SyncILUCUDAMemory(size_t *, size_t *);
/* The most bytes that engines have taken at a time since this was asked last; for tests. */
PETSC_INTERN PetscErrorCode SyncILUCUDAMemoryHigh(size_t *);
#endif

#endif
