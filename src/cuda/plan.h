/*
   A plan: what all strategies plan from. It has the pattern on the device, its statistics, and orders of its
   rows once somebody asks for them.
*/
#ifndef SYNCILU_CUDA_PLAN_H
#define SYNCILU_CUDA_PLAN_H

#include "device.h"
#include "../../kernels/tuning.h"

/*
   Memory that is missing ends a step of planning without an error: plan->unfit says what there was too little
   of.
*/
#define PlanCall(...) \
  do { \
    PetscCall(__VA_ARGS__); \
    if (plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS); \
  } while (0)

/*
   A launcher of kernels/. The driver loads a kernel when it is launched first, and may have no memory for it
   then.
*/
#define PlanLaunch(...) PlanCall(PlanCheckLaunch(plan, __VA_ARGS__))

/* plan.c: a pattern on the device. */

typedef enum {
  PART_L,
  PART_U,
  PART_LT,
  PART_UT
} Part;

typedef struct _Triangle Triangle;
typedef struct _Stencil  Stencil; /* struct.h */

enum {
  UNKNOWN = -1
};

typedef struct _Plan Plan;
struct _Plan {
  const SyncILUSettings *settings;
  SyncILUValueType       type; /* of values */
  size_t                 size; /* of one value */
  cudaStream_t           stream;
  /* of the present call; a later stream may have the address of one that is gone, but not its number */
  unsigned long long   stream_id;
  cudaEvent_t          done;    /* behind what the last call left to be done on its stream */
  int                  nnz;     /* of the pattern */
  int                  part[2]; /* entries of L and of U */
  SyncILUDevicePattern pattern; /* col is NULL: see PlanGetPattern() */
  int                 *columns; /* of the pattern, where the plan keeps them */
  PetscBool            kept;    /* a strategy needs the columns when the matrix is gone */
  /* columns of the matrix that came with the present call, where they are the pattern's */
  const int *borrowed;
  /* triangles of L and of U whose storage gives columns and values back, else NULL */
  const Triangle *holder[2];
  int            *row, *col; /* the ordering; NULL if it is the natural one */
  /* of the ordering bmc, if the plan has made it: where its blocks begin, how many, and of how many colors */
  int     *block, blocks, colors;
  PetscInt block_size; /* most rows of one */
  /* where each entry of the pattern stands in the matrix; NULL: at the same place */
  int                    *map;
  PetscBool               mapped; /* the map is filled */
  double                 *a;      /* values of a matrix on the host */
  SyncILUDeviceCounts     counts;
  SyncILUDeviceStatistics statistics;
  /* on the device, as they are to begin with; NULL once they are in use */
  SyncILUDeviceCounts     *uncounted;
  SyncILUDeviceStatistics *unseen;
  PetscBool                symmetric; /* the pattern is, as far as that was asked */
  PetscBool                known;     /* to be symmetric, from the symbolic phase */
  /* U may be taken in the order of L from its end, which is by latest levels */
  PetscBool reversed;
  PetscBool late;       /* rows are by their latest level */
  int      *found;      /* levels of L and of U while they are found, behind ticket[2] */
  int      *widths;     /* most rows on a level of L and of U, on the device */
  PetscBool counted[2]; /* these are there */
  int       levels[2];  /* of L and U; UNKNOWN where nothing needed them */
  /* of L and of U, where auto has found that they suit a cluster; else their count is zero */
  SyncILURuns runs[2];
  /* of the rows of L and U, while planning, until they are asked for */
  int *level[2];
  /* orders and slices of both, made together, until their triangles take them; the rows are in L's memory */
  struct {
    int          *row, *key, *position;
    SyncILUSlice *slice;
    int           count, total;
    PetscBool     there;
  } ahead[2];
  Stencil      *stencil; /* of the grid that the rows follow, once somebody asks */
  SyncILUTiling tiling;
  PetscBool     tiled;
  PetscBool     relaxed;      /* the factorization had another strategy, or other lists, without relaxation */
  int           tile_lanes;   /* logarithm of the lanes a row in tiles */
  int           tile_entries; /* most entries of a lane in tiles */
  /* mean length of the chains that row blocks cut; 0 where tiles do not come from chains */
  int chain;
  int tiles; /* that have rows */
  /* of the tiles of L and of U, the levels themselves while planning */
  int *tile_level[2], tile_levels[2];
  /*
     W and U' on the pattern, where a strategy keeps them, or as long as a call needs them; NULL: they are not
     there
  */
  void    *crout;
  PetscInt crout_generation;
  /* the same, which the next factorization by sweeps begins with; NULL: with the matrix */
  void        *guess;
  DeviceMemory guess_memory;
  /* 0, 1: of the triangular solves; 2: of planning and factorizations */
  unsigned long long *ticket;
  unsigned long long *fingerprint; /* of the last matrix on the device that was asked for */
  /* bytes of lists that belong to triangles and factorizations, see PlanBudget() */
  PetscInt64 taken;
  /* bytes of plan.memory that a pattern from elsewhere than the matrix takes */
  PetscInt64   copied;
  int          inode;           /* rows of an inode (kernels/inodes.h); 1: rows come in no groups */
  int          unknowns;        /* 0; else the pattern is that of the inodes of another plan, with so many rows each */
  Plan        *inodes;          /* the pattern of the inodes, once a strategy wants it; its arrays are in plan.memory */
  DeviceMemory memory, scratch; /* scratch: until the present step of planning ends */
  char         unfit[160];      /* why planning ended, else empty */
};

PETSC_INTERN PetscErrorCode PlanCreate(Plan *, const SyncILUSettings *);
PETSC_INTERN PetscErrorCode PlanDestroy(Plan *);
PETSC_INTERN PetscErrorCode PlanEnter(Plan *, int *);
PETSC_INTERN PetscErrorCode PlanLeave(Plan *, int);
PETSC_INTERN PetscErrorCode PlanAlloc(Plan *, DeviceMemory *, size_t, void *);
PETSC_INTERN PetscErrorCode PlanAllocCopied(Plan *, size_t, void *);
PETSC_INTERN PetscErrorCode PlanRelease(Plan *, DeviceMemory *, int);
PETSC_INTERN PetscErrorCode PlanCheckLaunch(Plan *, cudaError_t);
PETSC_INTERN PetscErrorCode PlanOffsets(Plan *, int, int *, int *);
PETSC_INTERN PetscErrorCode PlanSort(Plan *, int, int, const int *, int *, int *);
PETSC_INTERN void           PlanUnseen(const Plan *, SyncILUDeviceStatistics *);
PETSC_INTERN PetscErrorCode PlanFindStatistics(Plan *, PetscBool);
PETSC_INTERN PetscErrorCode PlanKeepColumns(Plan *);
PETSC_INTERN PetscErrorCode PlanGetPattern(Plan *, SyncILUDevicePattern *);
PETSC_INTERN PetscErrorCode PlanRestorePattern(Plan *, SyncILUDevicePattern *);
PETSC_INTERN PetscErrorCode PlanTranspose(Plan *, DeviceMemory *, Part, PetscBool, SyncILUDeviceTriangle *);
PETSC_INTERN PetscErrorCode PlanTriangle(Plan *, DeviceMemory *, Part, SyncILUDeviceTriangle *);
PETSC_INTERN double         PlanBudget(const Plan *);
PETSC_INTERN int            PlanLanes(const Plan *, double);
PETSC_INTERN double         PlanRounds(const Plan *);
PETSC_INTERN int            Log2Ceil(double);

/* pattern.c: where a plan's pattern comes from. */

PETSC_INTERN PetscErrorCode PlanCountRows(Plan *, int, const int *, const int *, int *);
PETSC_INTERN PetscErrorCode PlanCountPattern(Plan *, const int *);
PETSC_INTERN PetscBool      PlanIsRegular(const Plan *);
PETSC_INTERN PetscErrorCode PlanCheckSize(Plan *, PetscInt64, PetscInt64);
PETSC_INTERN PetscErrorCode PlanBegin(Plan *, PetscInt64, PetscInt64, int **);
PETSC_INTERN PetscErrorCode PlanGetRows(Plan *, const SyncILUCSR *, const int **, const int **);
PETSC_INTERN PetscErrorCode PlanTakeOrdering(Plan *, const PetscInt *, const PetscInt *);
PETSC_INTERN PetscErrorCode PlanChooseUpdate(Plan *, SyncILUEngine, int, int, const int *, const int *);
PETSC_INTERN PetscErrorCode PlanFromMatrix(Plan *, SyncILUEngine, const SyncILUCSR *, PetscBool *);
PETSC_INTERN PetscErrorCode PlanUpload(Plan *, const SyncILUPattern *);

/* symbolic.c: the symbolic phase; bmc.c: an ordering of its own. */

/* Rows on the device: those of a matrix, or made there. */
typedef struct {
  int        n, nnz;
  const int *ptr, *col;
  int       *diag; /* once they were looked through */
} DeviceRows;

PETSC_INTERN PetscErrorCode PlanSymbolic(Plan *, SyncILUEngine, const SyncILUCSR *, PetscBool *);
PETSC_INTERN PetscErrorCode PlanOrderBMC(Plan *, SyncILUDeviceGraph, int, PetscInt, SyncILUBlocks *);

/* advice.c: whether rows had better be in another order. */

PETSC_INTERN PetscErrorCode PlanChooseOrdering(Plan *, PetscBool *, char[], size_t);
PETSC_INTERN PetscErrorCode Reorder_CUDA(const SyncILUSettings *, const SyncILUCSR *, PetscBool *, char[], size_t);

/* values.c: the values of a matrix on the device, and room for those of a factor on the pattern. */

PETSC_INTERN PetscErrorCode PlanGetValues(Plan *, const SyncILUPattern *, const SyncILUCSR *, SyncILUDeviceValues *);
PETSC_INTERN PetscErrorCode PlanKeepCrout(Plan *, DeviceMemory *);
PETSC_INTERN DeviceMemory  *PlanCroutMemory(Plan *);

/* inodes.c: successive rows of one pattern. InodesCall() is PlanCall() for functions that get plan->inodes. */

PETSC_INTERN PetscErrorCode PlanInodes(Plan *);
PETSC_INTERN PetscErrorCode PlanInodesUnfit(Plan *);
PETSC_INTERN PetscErrorCode PlanForgetInodeColumns(Plan *);
PETSC_INTERN PetscInt64     PlanInodesBytes(const Plan *);
#define InodesCall(...) \
  do { \
    PetscCall(__VA_ARGS__); \
    PlanCall(PlanInodesUnfit(plan)); \
  } while (0)

#endif
