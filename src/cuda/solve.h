/*
   Triangular systems: what a solve strategy is (SolveOps), and what several of them share.
*/
#ifndef SYNCILU_CUDA_SOLVE_H
#define SYNCILU_CUDA_SOLVE_H

#include "order.h"
#include "../../kernels/solve_blocks.h"

/* triangle.c: triangular systems, and what a factorization leaves. */

/*
   A factor in Crout form, A = (W + D)(I + U'). The rows of W and U' stand where the factorization left them;
   those whose values are NULL are in the storage of their triangle already.
*/
typedef struct {
  SyncILUDeviceRows w, u;
  const void       *d; /* pivots by rows */
  /* where their reciprocals already are, by positions of the triangle of L; NULL: nowhere */
  const void *inverse;
  PetscBool   stored; /* W and U' are in the storage of their triangles, also where that takes rows from elsewhere */
  /*
     The triangle of U, where W and U' are stored with whole blocks on the diagonal between them
     (kernels/solve_struct_blocks.h), else NULL. See CroutSeparate().
  */
  const Triangle *whole;
  PetscInt        generation; /* counts factorizations: whoever has another number has old values */
} Factor;

typedef struct {
  SyncILUSolve type;
  const char  *name;       /* of one that has no option value, and is of type SYNCILU_SOLVE_AUTO; else NULL */
  PetscBool    tiles;      /* takes orders by tiles */
  PetscBool    inodes;     /* goes by inodes, not rows */
  PetscBool    transposes; /* makes the rows of a transpose itself */
  PetscBool    scales;     /* has the reciprocal pivots in its own storage */
  double       hop;        /* nanoseconds from level to level, where they are other than those of ell */
  /* NULL: always; the reason stays empty if it does */
  PetscErrorCode (*fits)(Plan *, Part, char[], size_t);
  /* order and storage, from the pattern alone */
  PetscErrorCode (*create)(Triangle *);
  /* values of a new factorization that are not there yet */
  PetscErrorCode (*update)(Triangle *, const Factor *);
  PetscErrorCode (*solve)(const Triangle *, const SyncILUDeviceSolve *); /* asynchronous, allocates nothing */
  PetscErrorCode (*gather)(Triangle *);                                  /* may set Triangle.gathers; NULL: it never does */
  PetscErrorCode (*view)(const Triangle *, PetscViewer);                 /* NULL: its order says all */
  PetscBool plain;                                                       /* its kernels know nothing of Eisenstat's trick */
  /*
     of L, for Eisenstat's trick where it reads the x of U: the diagonal of the matrix. NULL: see
     SyncILUDeviceSolve
  */
  PetscErrorCode (*diagonal)(Triangle *, const SyncILUDeviceValues *);
  /* The rest is NULL where the plan shall keep columns, and W and U' on the pattern. */
  PetscErrorCode (*rows)(Triangle *, SyncILUSlicedRows *); /* where a factorization may write the rows */
  PetscErrorCode (*columns)(const Triangle *, int *);      /* columns back from storage, onto the pattern */
  PetscErrorCode (*values)(const Triangle *, void *);      /* values likewise */
} SolveOps;

struct _Triangle {
  const SolveOps       *ops;
  Plan                 *plan;
  Part                  part;
  const Triangle       *of;   /* whose transpose it is; NULL for L and U */
  SyncILUDeviceTriangle rows; /* without columns where the plan keeps none */
  Order                 order;
  int                   throttle;          /* of the solve; the strategy's, else that of the order */
  int                   lanes;             /* logarithm of the lanes a row, as the view says */
  const int            *row;               /* of each position of x; NULL: x is by rows */
  const int            *bindex, *outindex; /* see SyncILUDeviceSolve */
  void                 *scale;             /* reciprocal pivots by position; NULL: the diagonal is one */
  void                 *w;                 /* rows of L one behind the other, where the strategy deals what a factorization leaves there */
  int                  *wbegin;            /* where they begin */
  size_t                room;              /* numbers of x that a right-hand side takes; 0: a number a row */
  PetscBool             lines;             /* takes SyncILURHSSide() right-hand sides side by side in x */
  PetscBool             gathers;           /* likewise where x is too large for the cache (kernels/solve_gathered.h) */
  PetscBool             asked;             /* whether it gathers, as the first of its pair (Gather()); not again */
  PetscInt              generation;
  DeviceMemory          memory;
  void                 *data; /* the strategy's */
};

PETSC_INTERN PetscErrorCode TriangleCreate(Plan *, const SolveOps *, Part, const Triangle *, Triangle *);
PETSC_INTERN PetscErrorCode TriangleLink(Triangle *, Triangle *, const int *, const int *);
PETSC_INTERN PetscErrorCode TriangleUpdate(Triangle *, const Factor *);
PETSC_INTERN PetscErrorCode TriangleUpdateCrout(Triangle *, const Factor *);
PETSC_INTERN PetscErrorCode TriangleRows(Triangle *, SyncILUSlicedRows *);
PETSC_INTERN PetscErrorCode TriangleSolve(const Triangle *, SyncILUDeviceSolve *);
PETSC_INTERN PetscErrorCode TriangleSolveAlone(const Triangle *, PetscBool, PetscBool, SyncILUDeviceSolve *);
PETSC_INTERN PetscErrorCode TriangleDestroy(Triangle *);

/*
   solve_ell.c: a triangle in sliced ELL, the strategy ell's; the factorization of diagonals alone uses it
   too.
*/
typedef struct {
  SyncILUDeviceEll ell;
  int              lanes;   /* logarithm of the lanes a row */
  int              limit;   /* entries of a row beyond which it has a warp of its own */
  size_t           entries; /* with the padding */
} Ell;

PETSC_INTERN PetscErrorCode EllCreate(Plan *, DeviceMemory *, SyncILUDeviceTriangle, const Order *, int, int, Ell *);
PETSC_INTERN int            EllLanes(const Plan *, Part);
PETSC_INTERN PetscErrorCode EllLanesAtOnce(Plan *, Part, SyncILUDeviceTriangle, int *, int *);
PETSC_INTERN PetscErrorCode EllCreateByLevel(Triangle *, const int *, int, int, int, int, double, Ell *);
PETSC_INTERN PetscErrorCode EllUpdate(Triangle *, const Factor *);
PETSC_INTERN PetscErrorCode EllRows(Triangle *, SyncILUSlicedRows *);
PETSC_INTERN PetscErrorCode EllColumns(const Triangle *, int *);
PETSC_INTERN PetscErrorCode EllValues(const Triangle *, void *);
PETSC_INTERN const Ell     *TriangleGetEll(const Triangle *);

/*
   solve_blocks.c: a triangle in blocks of successive rows, whose solves by block and Jacobi sweeps have the
   same storage.
*/

PETSC_INTERN PetscErrorCode             BlocksCreate(Triangle *, const int *, int, SyncILUDeviceBlocks *);
PETSC_INTERN PetscErrorCode             BlocksUpdate(Triangle *, const Factor *);
PETSC_INTERN PetscErrorCode             BlocksColumns(const Triangle *, int *);
PETSC_INTERN PetscErrorCode             BlocksValues(const Triangle *, void *);
PETSC_INTERN const SyncILUDeviceBlocks *TriangleGetBlocks(const Triangle *);

/* solve_mr.c: rows of one level and size class in slices, which the strategy hyb takes too. */

PETSC_INTERN PetscErrorCode MrCreate(Triangle *, SyncILUSlice **, int *);

/* narrow.c: levels of few rows, where a cluster is faster. */

PETSC_INTERN double         PlanLevelWarps(const Plan *, int, double);
PETSC_INTERN PetscErrorCode PlanMayBeNarrow(Plan *, PetscBool, PetscBool *);
PETSC_INTERN PetscErrorCode PlanIsNarrow(Plan *, PetscBool, double[2], PetscBool *);
PETSC_INTERN PetscErrorCode PlanCutLevels(Plan *, int, int *const[], const int[], const int[], SyncILURuns[], double[][2]);
PETSC_INTERN PetscErrorCode CutLevels(const int *, int, int, SyncILURuns *, double[2]);

#endif
