/*
   Inside of the CUDA backend: what its rooms offer each other.

   A plan is what all strategies plan from: the pattern on the device, its statistics, orders of its rows. A
   triangle is one triangular system, a factorization fills two of them, and a strategy of either kind is a
   table of functions (strategies.c). All device memory belongs to a list, released as a whole (src/README.md).
*/
#ifndef SYNCILU_CUDA_H
#define SYNCILU_CUDA_H

#include "../engine.h"
#include "../../kernels/types.h"
#include "../../kernels/solve_blocks.h"
#include "../../kernels/tuning.h"

#define CallCUDA(...) \
  do { \
    const cudaError_t cuda_error_ = (__VA_ARGS__); \
    PetscCheck(cuda_error_ == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA: %s (%s)", cudaGetErrorString(cuda_error_), cudaGetErrorName(cuda_error_)); \
  } while (0)

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

/* device.c: the device of this process, the memory of its engines. */

/*
   Pieces of device memory that are released together. A list may keep room for its small pieces, which come
   and go in an analysis by the dozen: one allocation for all of them. The last piece is released first, so
   that what is in use of the room is its beginning.
*/
typedef struct {
  struct {
    void  *pointer;
    size_t bytes;
  } * piece;
  int        n, max;
  PetscInt64 bytes;
  size_t     room, used; /* bytes of the room, 0: the list has none; and those in use */
  char      *shared;     /* the room; NULL: not taken yet */
} DeviceMemory;

PETSC_INTERN PetscErrorCode DeviceAvailable(PetscBool *, char *, size_t);
PETSC_INTERN PetscErrorCode DeviceFinalize(void);
PETSC_INTERN PetscErrorCode DeviceEnter(int *, cudaStream_t *);
PETSC_INTERN PetscErrorCode DeviceLeave(int);
PETSC_INTERN PetscErrorCode DeviceMemoryAlloc(DeviceMemory *, cudaStream_t, size_t, void *);
PETSC_INTERN PetscErrorCode DeviceMemoryRelease(DeviceMemory *, cudaStream_t, int);
PETSC_INTERN PetscErrorCode DeviceSettle(cudaStream_t);
PETSC_INTERN PetscErrorCode DeviceTimeBegin(void);
PETSC_INTERN PetscErrorCode DeviceTimeEnd(void);
PETSC_INTERN PetscErrorCode DeviceView(PetscViewer);
PETSC_INTERN PetscBool      DeviceIsPETScs(void);

/* transfer.c: transfers between host and device. */

PETSC_INTERN cudaError_t    TransferInitialize(void);
PETSC_INTERN cudaError_t    TransferFinalize(void);
PETSC_INTERN PetscErrorCode DeviceUpload(cudaStream_t, void *, const void *, size_t);
PETSC_INTERN PetscErrorCode DeviceUploadIndices(cudaStream_t, int *, const PetscInt *, size_t);
PETSC_INTERN PetscErrorCode DeviceDownload(cudaStream_t, void *, const void *, size_t);
PETSC_INTERN PetscErrorCode DeviceReadBack(cudaStream_t, void *, const void *, size_t);
PETSC_INTERN PetscErrorCode DeviceReadBackTwo(cudaStream_t, int[2], const int *, const int *);
PETSC_INTERN PetscErrorCode DeviceStatusRequest(cudaStream_t, const SyncILUDeviceStatus *);
PETSC_INTERN PetscErrorCode DeviceStatusWait(SyncILUDeviceStatus *);

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
  int *block, blocks, colors;
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
  int           tile_lanes;   /* logarithm of the lanes a row in tiles */
  int           tile_entries; /* most entries of a lane in tiles */
  /* mean length of the chains that row blocks cut; 0 where tiles do not come from chains */
  int chain;
  int tiles; /* that have rows */
  /* of the tiles of L and of U, the levels themselves while planning */
  int *tile_level[2], tile_levels[2];
  /* W and U' on the pattern, where a strategy keeps them */
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

/* values.c: the values of a matrix on the device, and room for those of a factor on the pattern. */

PETSC_INTERN PetscErrorCode PlanGetValues(Plan *, const SyncILUPattern *, const SyncILUCSR *, SyncILUDeviceValues *);
PETSC_INTERN PetscErrorCode PlanKeepCrout(Plan *, DeviceMemory *);

/* inodes.c: successive rows of one pattern. InodesCall() is PlanCall() for functions that get plan->inodes. */

PETSC_INTERN PetscErrorCode PlanInodes(Plan *);
PETSC_INTERN PetscErrorCode PlanInodesUnfit(Plan *);
#define InodesCall(...) \
  do { \
    PetscCall(__VA_ARGS__); \
    PlanCall(PlanInodesUnfit(plan)); \
  } while (0)

/* order.c: orders of the rows, and slices of them. */
typedef struct {
  int *row; /* at each position */
  /* of the row at each position, ascending: while planning; NULL in numerical order and in tiles */
  int      *key;
  int       bits;     /* lowest ones of the keys, which say no level */
  int      *position; /* of each row, while planning; NULL: see OrderPositions() */
  int      *start;    /* of each level, and the number of rows: while planning, where the order is by level */
  PetscBool numerical;
  /* how far before a position its warp looks before it polls (see kernels/syncfree.cuh) */
  int           throttle;
  double        level_rows; /* rows of a level in the mean */
  int           tiles;      /* 0: not in tiles */
  SyncILUSlice *slice;      /* of each tile */
  PetscBool     blocks;     /* by block of the ordering bmc, and without `row`: the rows of a block wait for each other */
  PetscBool     inodes;     /* of inodes, not rows */
  PetscBool     lines;      /* by tiles of lines of a grid, and without `row`: x is by tiles */
  PetscBool     points;     /* the same of points whose unknowns are the rows of an inode */
} Order;

PETSC_INTERN PetscErrorCode PlanFindLevels(Plan *, SyncILUDevicePattern, double, PetscBool, PetscBool, int *[2], int[2]);
PETSC_INTERN PetscErrorCode PlanGetLevels(Plan *, Part, int **, int *);
PETSC_INTERN PetscErrorCode PlanCountLevels(Plan *);
PETSC_INTERN void           PlanForgetLevels(Plan *);
PETSC_INTERN PetscErrorCode OrderSort(Plan *, DeviceMemory *, const int *, int, int, int *, Order *);
PETSC_INTERN void           OrderCounted(Plan *, Part, int, Order *);
PETSC_INTERN PetscErrorCode OrderCreateByLevel(Plan *, DeviceMemory *, Part, int *, int, int, Order *);
PETSC_INTERN PetscErrorCode OrderCreate(Plan *, DeviceMemory *, Part, int *, int, int, Order *);
PETSC_INTERN PetscErrorCode OrderReverse(Plan *, DeviceMemory *, const Order *, Order *);
PETSC_INTERN PetscErrorCode OrderPositions(Plan *, const Order *, int **);
PETSC_INTERN PetscErrorCode PlanSliceStorage(Plan *, SyncILUDeviceTriangle, const int *, PetscBool, int, SyncILUSlice *, int *);

/* Slices whose number is on the device, with room for another one behind it. */
typedef struct {
  SyncILUSlice *slice;
  int          *count, mark;
} Slices;

PETSC_INTERN PetscErrorCode PlanSlicesBegin(Plan *, SyncILUDeviceTriangle, const int *, const int *, int, int, int, Slices *);
PETSC_INTERN PetscErrorCode PlanSlicesEnd(Plan *, DeviceMemory *, int, const Slices *, SyncILUSlice **, int *, int *);
PETSC_INTERN PetscErrorCode PlanSlices(Plan *, DeviceMemory *, SyncILUDeviceTriangle, const int *, const int *, int, int, int, PetscBool, SyncILUSlice **,
                                       int *, int *);
PETSC_INTERN int            OrderThrottle(double, double);

/* levelset.c: rows by level, for strategies that wait for whole levels. */

PETSC_INTERN PetscErrorCode PlanLevelset(Plan *, DeviceMemory *, SyncILUDeviceTriangle, Part, int, int, int, Order *, SyncILUDeviceLevels *);

/* tiles.c: orders of tiles. */

PETSC_INTERN PetscBool      PlanMayTile(const Plan *);
PETSC_INTERN PetscErrorCode PlanTile(Plan *);
PETSC_INTERN double         TileTime(const SyncILUTiling *);
PETSC_INTERN PetscErrorCode OrderCreateTiles(Plan *, DeviceMemory *, Part, Order *);
PETSC_INTERN PetscErrorCode OrderReverseTiles(Plan *, DeviceMemory *, const Order *, Order *);
PETSC_INTERN PetscErrorCode PlanTileRowLevels(Plan *, int **, int *);
PETSC_INTERN PetscErrorCode TilesView(const Plan *, PetscViewer);

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
  PetscBool   stored;     /* W and U' are in the storage of their triangles, also where that takes rows from elsewhere */
  PetscInt    generation; /* counts factorizations: whoever has another number has old values */
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
  PetscErrorCode (*view)(const Triangle *, PetscViewer);                 /* NULL: its order says all */
  /* of L, for Eisenstat's trick where it reads the x of U: the diagonal of the matrix. NULL: see SyncILUDeviceSolve */
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
PETSC_INTERN PetscErrorCode TriangleSolveAlone(const Triangle *, SyncILUDeviceSolve *);
PETSC_INTERN PetscErrorCode TriangleDestroy(Triangle *);

/* solve_ell.c: a triangle in sliced ELL, the strategy ell's; the factorization of diagonals alone uses it too. */
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

/* solve_blocks.c: a triangle in blocks of successive rows, whose solves by block and Jacobi sweeps have the same storage. */

PETSC_INTERN PetscErrorCode             BlocksCreate(Triangle *, const int *, int, SyncILUDeviceBlocks *);
PETSC_INTERN PetscErrorCode             BlocksUpdate(Triangle *, const Factor *);
PETSC_INTERN PetscErrorCode             BlocksColumns(const Triangle *, int *);
PETSC_INTERN PetscErrorCode             BlocksValues(const Triangle *, void *);
PETSC_INTERN const SyncILUDeviceBlocks *TriangleGetBlocks(const Triangle *);

/* solve_mr.c: rows of one level and size class in slices, which the strategy hyb takes too. */

PETSC_INTERN PetscErrorCode MrCreate(Triangle *, SyncILUSlice **, int *);

/* struct.c (more is in struct.h) and narrow.c: rows that follow a grid, and levels of few rows. */

PETSC_INTERN PetscErrorCode PlanCheckGrid(Plan *, const SyncILUCSR *);
PETSC_INTERN PetscErrorCode PlanForgetStencil(Plan *);
PETSC_INTERN PetscInt64     PlanStencilBytes(const Plan *);
PETSC_INTERN double         PlanLevelWarps(const Plan *, int, double);
PETSC_INTERN PetscErrorCode PlanMayBeNarrow(Plan *, PetscBool, PetscBool *);
PETSC_INTERN PetscErrorCode PlanIsNarrow(Plan *, PetscBool, double[2], PetscBool *);
PETSC_INTERN PetscErrorCode PlanCutLevels(Plan *, int, int *const[], const int[], const int[], SyncILURuns[], double[][2]);
PETSC_INTERN PetscErrorCode CutLevels(const int *, int, int, SyncILURuns *, double[2]);

/* strategies.c: the tables of strategies, and the rule that chooses among them. */

typedef struct _Factorization Factorization;

typedef struct {
  SyncILUUpdate type;
  const char   *name;    /* in the view */
  PetscBool     inodes;  /* goes by inodes, not rows */
  PetscBool     blocks;  /* goes by blocks of the ordering bmc; without relaxation */
  PetscBool     inexact; /* it computes another factor, which has a reference of its own */
  /* NULL: always; the reason stays empty if it does */
  PetscErrorCode (*fits)(Plan *, char[], size_t);
  /* may find only now that it takes too much: the reason */
  PetscErrorCode (*create)(Factorization *, char[], size_t);
  /* begins with SyncILUKernelFactorBegin() */
  PetscErrorCode (*factor)(Factorization *, const SyncILUDeviceValues *, const SyncILUDevicePivoting *, SyncILUDeviceStatus *, Factor *);
  PetscErrorCode (*view)(const Factorization *, PetscViewer); /* NULL: name and lanes say all */
} FactorOps;

struct _Factorization {
  const FactorOps  *ops;
  Plan             *plan;
  Triangle         *L;
  const Triangle   *U;
  int               lanes;              /* logarithm of the lanes a row, as the view says */
  SyncILUSlicedRows wrows;              /* where the rows of W go; val NULL: to the pattern */
  double           *pivot, *sum, *size; /* see SyncILUDeviceFactor; the last two once they are needed */
  double           *workspace;          /* a number a row, of no use to others while a factorization runs */
  /* products of two of the values are no numbers, which the next attempt must do without */
  PetscBool    wide;
  PetscBool    narrow;   /* auto has found that levels have few rows, each of which had better have a warp */
  PetscBool    late;     /* rows are by their latest level, other than in the solve */
  PetscBool    half;     /* one triangle of a symmetric matrix is factored, and the other one is its transpose */
  char         both[96]; /* why not, for a symmetric matrix */
  char         why[160]; /* why it is not the strategy that was asked for or preferred */
  DeviceMemory memory;
  void        *data; /* the strategy's */
};

PETSC_INTERN const SolveOps *const  SyncILUCUDASolves[]; /* NULL-terminated */
PETSC_INTERN const FactorOps *const SyncILUCUDAUpdates[];

PETSC_INTERN const char    *SolveName(const SolveOps *);
PETSC_INTERN PetscErrorCode ChooseSolve(Plan *, const SolveOps **);
PETSC_INTERN PetscErrorCode ChooseInodes(const Plan *, const SolveOps **, char[], size_t);
PETSC_INTERN PetscErrorCode ChooseNarrow(Plan *, const SolveOps **, char[], size_t);
PETSC_INTERN PetscErrorCode ChooseLines(Plan *, const SolveOps **, char[], size_t);
PETSC_INTERN PetscErrorCode FactorizationCreate(Plan *, Triangle *, const Triangle *, Factorization *);
PETSC_INTERN PetscErrorCode FactorizationDestroy(Factorization *);

/* factor_rows.c: what the factorizations by rows share. */

typedef struct {
  Order                order;
  int                  tasks;
  SyncILUSlice        *task;   /* NULL: a task a row */
  double              *u;      /* rows of U', with one triangle a pivot before each, where W goes elsewhere */
  int                 *ubegin; /* where they begin */
  int                  shared; /* entries of a row that shared memory has room for */
  const unsigned char *turn;   /* see SyncILUDeviceFactor */
} FactorRows;

PETSC_INTERN PetscErrorCode FactorHalf(Factorization *, const char[]);
PETSC_INTERN PetscErrorCode FactorRowsOrder(Factorization *, Order *);
PETSC_INTERN PetscErrorCode FactorRowsCreate(Factorization *, FactorRows *);
PETSC_INTERN PetscErrorCode FactorRowsTurns(Plan *, const Order *, DeviceMemory *, const unsigned char **);
PETSC_INTERN PetscErrorCode FactorRowsSums(Factorization *);
PETSC_INTERN PetscErrorCode FactorRowsBegin(Factorization *, const FactorRows *, const SyncILUDeviceValues *, const SyncILUDevicePivoting *,
                                            SyncILUDeviceStatus *, SyncILUDeviceFactor *, Factor *);

/* factor_list.c: what lists of updates may take. */

PETSC_INTERN double         ListsLimit(const Factorization *);
PETSC_INTERN PetscErrorCode ListsHopeless(Factorization *, SyncILUDevicePattern, double, PetscBool *);

/* factor_long.c: rows that are longer than lists of updates can count. */

typedef struct {
  SyncILUDeviceLongRows device;
  size_t                entries; /* of all these rows */
  PetscBool             unfit;   /* whatever the lanes of the other rows */
} LongRows;

PETSC_INTERN PetscErrorCode LongRowsCreate(Factorization *, FactorRows *, SyncILUDevicePattern, double, LongRows *, char[], size_t);
PETSC_INTERN PetscErrorCode LongRowsBegin(Plan *, const LongRows *, const SyncILUDeviceFactor *);

/* factor_parilu.c: sweeps, which the residual of any factor takes after. */

PETSC_INTERN PetscErrorCode PlanSweep(const Plan *, SyncILUDeviceSweep *);

/* advice.c: what an application takes about, and what would take less. */

PETSC_INTERN PetscErrorCode ChooseHost(const Plan *, const Triangle *, const Triangle *, char[], size_t);
PETSC_INTERN PetscErrorCode AdviseOrdering(const Plan *, const Triangle *, const Triangle *, char[], size_t);

/* cuda.c, report.c: what the engine calls. */

typedef struct {
  Plan                 plan;
  Triangle             triangle[4]; /* by part; those of the transposes once they are needed */
  Factorization        factorization;
  Factor               factor;
  SyncILUDeviceStatus *status;
  /* of the first and of the second triangular solve; the first is filled with NaN sentinels between solves */
  double      *x[2];
  size_t       xsize; /* numbers of each */
  DeviceMemory xmemory;
  double      *stage; /* right-hand sides of the host, which their solutions take the place of */
  size_t       stage_size;
  DeviceMemory stage_memory;
  struct {
    PetscScalar *l, *u, *dinv; /* the usual form on the host */
    PetscInt     generation;
  } values;
  struct {
    DeviceRows   rows;    /* of the symbolic phase, once a search for another pattern has begun */
    int          longest; /* entries of a row */
    DeviceMemory memory;
  } start;
  struct {
    double  *d, *e;      /* see kernels/eisenstat.h; not for solves with SolveOps.diagonal */
    PetscInt generation; /* for which these are */
  } eisenstat;
  char why[192]; /* it solves in another way than the usual one, or the one that is asked for */
} CUDA;

PETSC_INTERN PetscErrorCode        PlanStrategies(SyncILUEngine);
PETSC_INTERN PetscErrorCode        ForgetStrategies(CUDA *);
PETSC_INTERN PetscErrorCode        Search_CUDA(SyncILUEngine, const SyncILUCSR *, const SyncILUPivoting *, SyncILUSearch *);
PETSC_INTERN SyncILUDevicePivoting DevicePivoting(const SyncILUPivoting *, PetscBool);
PETSC_INTERN PetscErrorCode        MakeStage(CUDA *, size_t);
PETSC_INTERN PetscErrorCode        ResetSolves(CUDA *);
PETSC_INTERN PetscErrorCode        CroutUpdate(CUDA *, DeviceMemory *);
PETSC_INTERN PetscBool             Reorder_CUDA(PetscInt, PetscInt64, const PetscInt[2], double[2]);
PETSC_INTERN PetscErrorCode        Fits_CUDA(SyncILUEngine, SyncILUSolve, char[], size_t);
PETSC_INTERN PetscErrorCode        Values_CUDA(SyncILUEngine, const PetscScalar **, const PetscScalar **, const PetscScalar **);
PETSC_INTERN PetscErrorCode        Excess_CUDA(SyncILUEngine, const SyncILUCSR *, PetscReal *);
PETSC_INTERN PetscErrorCode        Updates_CUDA(SyncILUEngine, PetscInt64 *);
PETSC_INTERN PetscErrorCode        Residual_CUDA(SyncILUEngine, const SyncILUCSR *, PetscReal *);
PETSC_INTERN PetscErrorCode        Statistics_CUDA(SyncILUEngine, SyncILUStatistics *);
PETSC_INTERN PetscErrorCode        View_CUDA(SyncILUEngine, PetscViewer);

/* eisenstat.c: one triangular solve alone, and what is made of both. */

PETSC_INTERN PetscErrorCode            Half_CUDA(SyncILUEngine, PetscBool, const PetscScalar *, PetscScalar *, PetscMemType);
PETSC_INTERN const SyncILUEisenstatOps SyncILUCUDAEisenstatOps;

#endif
