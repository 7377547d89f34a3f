/*
   The kernels of the CUDA backend, as launchers that C can call.

   All pointers are to device memory unless said otherwise; those to void are to values of the type that the call names. All launchers are asynchronous in the stream they are given, allocate nothing,
   wait for nothing, and return what the runtime said of the launch. Where one needs workspace it is called twice, as in CUB: with workspace NULL it only sets *bytes. Indices are 32 bits wide.
*/
#ifndef SYNCILU_KERNELS_H
#define SYNCILU_KERNELS_H

#include <limits.h>
#include <cuda_runtime_api.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* The type of values. One is instantiated so far; the kernels are templates. What differs between types is in memory_order.cuh and syncfree.cuh, and where the tile kernel loads pairs of values and the excess is compared by its bits. */
typedef enum {
  SYNCILU_DOUBLE
} SyncILUValueType;

/* The pattern of a factor: CSR with ascending columns, and where the diagonal of each row stands. */
typedef struct {
  int        n;
  const int *ptr, *col, *diag;
} SyncILUDevicePattern;

/* Values on that pattern: entry e is a[map[e]], zero where map[e] is negative; a[e] with map NULL. */
typedef struct {
  const void *a;
  const int  *map;
} SyncILUDeviceValues;

/* A triangular matrix by rows: the entries of row i are begin[i] + skip to end[i] - 1. Entry e stands at position src[e] of the pattern; at e with src NULL. */
typedef struct {
  int        n, skip;
  const int *begin, *end, *col, *src;
} SyncILUDeviceTriangle;

/* What the analysis counts. */
typedef struct {
  int                irregular;   /* the first row with columns out of order or range, or without diagonal; INT_MAX before */
  int                longest_row; /* most entries of a row; this and all below are zero before */
  int                longest[2];  /* most entries of a row of L and of U */
  int                levels[2];
  int                width[2]; /* most rows on one level */
  unsigned long long entries;  /* of L */
} SyncILUDeviceCounts;

/* What decides how a pattern is planned. */
typedef struct {
  int live;        /* whether entries beside the diagonal have updates; zero before */
  int unsymmetric; /* zero before */
  int successive;  /* rows that depend on the one before them; zero before */
  int blocks;      /* bit b, of 2 to SYNCILU_BLOCK_ROWS: each row depends on all rows before it in its block of b rows, and those that reach less far back than the row before them begin one; all of these before */
  int near[3];     /* least distances from a row to one it depends on: beyond 1, beyond the first of these and 1, and beyond that and 2; INT_MAX before */
  int across[2];   /* whether a row depends on another that is not behind it in every direction of the grid that these suggest, straight or, where it does, slanted; zero before */
} SyncILUDeviceTraits;

/*
   Tiles: boxes of a grid whose numbering the rows follow, x first; where there is no grid, runs of successive rows, which for several unknowns a point may be those of a point. No two rows on a grid
   may depend on each other that are not in the same sense behind one another in every direction: then tiles do not wait for each other in circles. Where a row depends on neighbours on both sides of
   the line or plane before, as in 9- and 27-point stencils, the grid is slanted until they are behind it: x + slant (y + 2 z), y + slant z, z in place of x, y, z.
*/
typedef struct {
  int n, slant;
  int run;       /* rows of a run; 0 where there is a grid */
  int points[3]; /* of the grid: n is their product */
  int edge[3];   /* logarithms of the edges of a tile, at most 32 rows; of a run the places, a power of two */
  int tiles[3];
} SyncILUTiling;

#if defined(__CUDACC__)
__host__ __device__
#endif
  /* The grid that distances between neighbours suggest: in lines whose neighbours are at one distance, or at three that follow one another; planes the same. */
  static inline int
  SyncILUGridPoints(int n, const int *near, int *points)
{
  const int box = near[0] < INT_MAX - 2 && near[1] == near[0] + 2, x = near[0] < INT_MAX - 2 ? near[0] + box : INT_MAX, far = near[1 + box];
  int       k;

  if (x == INT_MAX || n % x) return 0;
  points[0] = x;
  points[1] = n / x;
  points[2] = 1;
  if (far == INT_MAX) return 1;
  /* the nearest point of the plane before may be at its corner, on a side, or straight behind */
  for (k = 0; k < 4; k++) {
    const int corner = (box ? 3 - k : k), plane = far + (corner & 2 ? x : 0) + (corner & 1 ? 1 : 0);

    if (plane % x == 0 && n % plane == 0) {
      points[1] = plane / x;
      points[2] = n / plane;
      return 1;
    }
  }
  return 0;
}

/* Points of the grid in each direction, slanted. */
#if defined(__CUDACC__)
__host__ __device__
#endif
  static inline void
  SyncILUGridExtents(const int *points, int slant, int *extent)
{
  extent[0] = points[0] + slant * (points[1] - 1 + 2 * (points[2] - 1));
  extent[1] = points[1] + slant * (points[2] - 1);
  extent[2] = points[2];
}

/* 32 lanes that share the rows of the slots first and up. */
typedef struct {
  int offset;       /* where its entries begin, in units of 32 */
  int first, width; /* entries of each lane */
  int shape;        /* logarithm of the lanes a row, plus 8 times the number of rows */
} SyncILUSlice;

/* A triangular matrix in sliced ELL: rows in the order they are solved for. */
typedef struct {
  int                 n, slices;
  int                 tiled; /* 0, or slices may wait for all that their rows need from others at once, and have at most so many entries a lane: SYNCILU_POLLS or twice that */
  const SyncILUSlice *slice;
  const int          *order; /* row of each slot */
  const int          *col;   /* slots; -1 where a slice is padded */
  void               *val;
} SyncILUDeviceEll;

/* How pivots are judged: the types of MatFactorShiftType. */
enum {
  SYNCILU_PIVOT_REJECT, /* rejected if tiny */
  SYNCILU_PIVOT_MEND,   /* amount is added to the tiny ones */
  SYNCILU_PIVOT_SIZE,   /* rejected if tiny beside the rest of the row, once all rows are there */
  SYNCILU_PIVOT_SIGN    /* the same, negative ones too */
};

typedef struct {
  int    type;
  double zeropivot;
  double amount; /* but for SYNCILU_PIVOT_MEND added to every diagonal entry */
  double relax;
} SyncILUDevicePivoting;

typedef struct {
  int    row; /* the first rejected one; INT_MAX before */
  int    shifted, mendable, unused;
  double pivot;
} SyncILUDeviceStatus;

/* W in the storage of the sweep over L: entry q of row i at place[i] + 32 (q >> l) + q mod 2^l, l being lanes, or 5 if the row has more than limit entries. */
typedef struct {
  void           *val;
  const unsigned *place;
  int             lanes, limit;
} SyncILUDeviceLower;

/* A factorization on a pattern. */
typedef struct {
  SyncILUDevicePattern  pattern;
  SyncILUDeviceValues   values;
  void                 *val;   /* of the raw factor on the pattern or, with upper, of U' alone; poisoned before */
  const int            *upper; /* NULL, or where the rows of U' begin in val, while W goes to w */
  SyncILUDeviceLower    w;
  void                 *pivot; /* of each row; poisoned before */
  void                 *sum;   /* of each row of U', for relaxation; poisoned before */
  void                 *size;  /* NULL, or receives the sum of the absolute values of each row of U beside the diagonal */
  const int            *order; /* of the rows; after those they depend on */
  int                   tasks;
  const SyncILUSlice   *task;     /* rows that a warp takes, of one level; NULL: one each */
  const unsigned short *update;   /* list: by round and lane, place in the pivot row's U' * 256 + place in the row; 0xffff: none. NULL: vect */
  const unsigned char  *source;   /* list: by round and row of the task, place of the pivot row's entry in the row */
  int                   lanes;    /* logarithm of the lanes a row, from 2 to 5 */
  int                   shared;   /* most entries of a row that fit shared memory */
  int                   lower;    /* most entries of a row of L whose pivot rows shared memory has places for; list: of all rows */
  int                   many;     /* list: rows have more rounds than SYNCILU_UPDATE_POLLS, so that it is worth while to look ahead */
  int                   few;      /* list: levels have fewer tasks than run at once, so that what a warp takes of a multiprocessor does not matter */
  void                 *scratch;  /* for rows with more entries than fit shared memory, NULL if there is none */
  const int            *place;    /* where each of these rows begins there */
  int                   prefetch; /* vect: search for the next updates while some are waited for */
  int                   gate;     /* a row waits at the gate for the pivot of the row that comes so many before it, 0: there is no gate */
  unsigned long long   *ticket;   /* zero */
  SyncILUDevicePivoting piv;
  SyncILUDeviceStatus  *status;
} SyncILUDeviceFactor;

/* One triangular sweep: x = (b - T x) scaled. */
typedef struct {
  const void         *scale; /* of each slot (ELL) or row (CSR), NULL: 1 */
  const void         *b;
  const int          *bindex; /* the right-hand side of a slot (row) stands at bindex[slot], NULL: at slot */
  size_t              ldb;    /* distance of two right-hand sides; 0: b is the other sweep's x */
  void               *x;      /* poisoned before; receives the solution by slots (rows), in blocks of right-hand sides */
  void               *out;    /* NULL, or receives the solution at outindex[slot] */
  const int          *outindex;
  size_t              ldout;
  void               *next;           /* the other sweep's x, poisoned on the way: at bindex[slot] if it is b, else at slot */
  int                 nrhs;           /* at most SYNCILU_RHS_MAX */
  int                 gate;           /* a slot waits at the gate for the one so many before it, 0: there is no gate */
  unsigned long long *ticket, *reset; /* counter of this sweep, zero; and of the other one, which is set to zero */
} SyncILUDeviceSweep;

/*
   Analysis. n rows, ptr and col as in CSR.

   Rows looks through the columns, finds the diagonals and counts. Levels (longest row of either triangle; levels poisoned, ticket zero) gives the earliest levels of L and, with both, of U; on a
   symmetric pattern LevelsMirror gives the latest of U from the earliest of L. LevelsLate moves the rows of one of them to the latest (all at the last one before, count and ticket zero). Order sorts
   rows stably by key, at most max; SliceKeys adds the width of the rows to the level, in SYNCILU_WIDTH_BITS bits, those of more than limit entries last; LevelWidth takes the sorted keys, of which
   level is key >> shift. Slices cuts the order into slices of 1 << lanes lanes a row, or of a whole warp for rows of more than limit entries, and with level given at the ends of levels; SliceRows,
   SliceWidths (of its triangle's entries; width[slices] is left alone), Offsets of the widths and SliceOffsets complete them. Columns goes back from ELL to CSR, with diag the diagonal too. Transpose
   gives the rows of the transposed triangle and where their entries stand. Map finds the entries of a pattern, in the ordering row and col, in another matrix.
*/
extern cudaError_t SyncILUKernelProbe(void); /* whether the kernels were built for the current device */
extern cudaError_t SyncILUKernelRows(int n, const int *ptr, const int *col, int *diag, SyncILUDeviceCounts *, cudaStream_t);
extern cudaError_t SyncILUKernelLevels(SyncILUDevicePattern, int longest, int both, int *levelL, int *levelU, unsigned long long *ticket, SyncILUDeviceCounts *, cudaStream_t);
extern cudaError_t SyncILUKernelSymmetric(SyncILUDevicePattern, int longest, SyncILUDeviceTraits *, cudaStream_t);
extern cudaError_t SyncILUKernelLevelsMirror(int n, int levels, const int *levelL, int *levelU, cudaStream_t);
extern cudaError_t SyncILUKernelLevelsLate(SyncILUDeviceTriangle, int forward, int *level, int *count, unsigned long long *ticket, cudaStream_t);
extern cudaError_t SyncILUKernelLevelsFill(int n, int last, int *level, cudaStream_t);
extern cudaError_t SyncILUKernelLevelWidth(int n, int levels, const int *sorted, int shift, int *start, int *width, cudaStream_t);
extern cudaError_t SyncILUKernelOrder(void *workspace, size_t *bytes, int n, int max, const int *key, int *sorted, int *order, cudaStream_t);
extern cudaError_t SyncILUKernelIota(int n, int reverse, int *order, cudaStream_t);
extern cudaError_t SyncILUKernelReverse(int n, const int *order, int *reversed, cudaStream_t);
extern cudaError_t SyncILUKernelInvert(int n, const int *order, int *inverse, cudaStream_t);
extern cudaError_t SyncILUKernelGather(int n, const int *table, const int *index, int *out, cudaStream_t);
extern cudaError_t SyncILUKernelSliceKeys(SyncILUDeviceTriangle, int lanes, int limit, int *level, cudaStream_t);
extern cudaError_t SyncILUKernelSlices(void *workspace, size_t *bytes, SyncILUDeviceTriangle, const int *order, const int *level, int lanes, int limit, SyncILUSlice *, int *count, cudaStream_t);
extern cudaError_t SyncILUKernelSliceRows(int n, int slices, SyncILUSlice *, cudaStream_t);
extern cudaError_t SyncILUKernelSliceWidths(SyncILUDeviceTriangle, const int *order, int slices, SyncILUSlice *, int *width, cudaStream_t);
extern cudaError_t SyncILUKernelSliceOffsets(int slices, const int *offset, SyncILUSlice *, cudaStream_t);
extern cudaError_t SyncILUKernelOffsets(void *workspace, size_t *bytes, int n, int *length, cudaStream_t); /* of lengths their offsets, and the sum in length[n] */
extern cudaError_t SyncILUKernelEllColumns(SyncILUDeviceTriangle, SyncILUDeviceEll, const int *inverse, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelColumns(SyncILUDeviceTriangle, SyncILUDeviceEll, const int *diag, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelTranspose(void *workspace, size_t *bytes, SyncILUDevicePattern, int nnz, int lower, int entries, int *ptr, int *col, int *src, cudaStream_t);
extern cudaError_t SyncILUKernelMap(SyncILUDevicePattern, const int *row, const int *col, const int *aptr, const int *acol, int *map, cudaStream_t);

/*
   Tiles. Grid looks for a grid. RowLevels gives levels of the rows of L that follow from the tiling, of a grid or from the levels of runs whose rows all depend on those before them; TileLevels those
   of a grid's tiles for L and for U, those without rows coming last, with the number of the others (zero before). RunSizes counts for each run itself and the others that it depends on, in L and in U:
   their offsets are the ptr of a pattern, of which RunPattern writes the rest. TileOrder takes so many tiles in the given order, and gives their slices (of 1 << lanes lanes a row, without widths and
   offsets) and the order of the rows; in reversed ones, those of U, the rows come last first.
*/
extern cudaError_t SyncILUKernelGrid(SyncILUDevicePattern, SyncILUDeviceTraits *, cudaStream_t);
extern cudaError_t SyncILUKernelRowLevels(SyncILUTiling, const int *runs, int *level, cudaStream_t);
extern cudaError_t SyncILUKernelTileLevels(SyncILUTiling, int *levelL, int *levelU, int *filled, cudaStream_t);
extern cudaError_t SyncILUKernelRunSizes(SyncILUDevicePattern, SyncILUTiling, int *size, cudaStream_t);
extern cudaError_t SyncILUKernelRunPattern(SyncILUDevicePattern, SyncILUTiling, const int *ptr, int *diag, int *col, cudaStream_t);
extern cudaError_t SyncILUKernelTileOrder(void *workspace, size_t *bytes, SyncILUTiling, int tiles, const int *tile, int reversed, int lanes, SyncILUSlice *, int *order, cudaStream_t);

/* How many updates of an entry a factorization makes; zero before. */
extern cudaError_t SyncILUKernelUpdates(SyncILUDevicePattern, unsigned long long *sum, cudaStream_t);

/*
   Plan of the factorization. Live tells whether entries beside the diagonal have updates. ListRounds counts the rounds of each row for 4, 8, 16 and 32 lanes (searching with 1 << lanes of them), or,
   with rounds NULL, adds those for 4 of one row of every stride to sum; ListWidths takes from these the rounds of each task (into its width and width[task]), Lists writes the updates at its offset.
   UpperLengths counts the entries of the rows of U, LowerPlaces finds where the rows of L begin in ELL. Opposite finds (k,i) for each (i,k) of L in ELL.
*/
extern cudaError_t SyncILUKernelLive(SyncILUDevicePattern, int longest, SyncILUDeviceTraits *, cudaStream_t);
extern cudaError_t SyncILUKernelListRounds(SyncILUDevicePattern, int lanes, int stride, int *rounds, unsigned long long *sum, cudaStream_t);
extern cudaError_t SyncILUKernelListWidths(const int *rounds, int lanes, const int *order, int tasks, SyncILUSlice *, int *width, cudaStream_t);
extern cudaError_t SyncILUKernelLists(SyncILUDevicePattern, int lanes, const int *order, int tasks, const SyncILUSlice *, unsigned short *update, unsigned char *source, cudaStream_t);
extern cudaError_t SyncILUKernelLongLengths(int n, const int *ptr, int shared, int *length, cudaStream_t); /* of rows of more than `shared` entries; 0 for others */
extern cudaError_t SyncILUKernelUpperLengths(SyncILUDevicePattern, int *length, cudaStream_t);
extern cudaError_t SyncILUKernelLowerPlaces(SyncILUDeviceEll, unsigned *place, cudaStream_t);
extern cudaError_t SyncILUKernelOpposite(SyncILUDevicePattern, SyncILUDeviceEll, int *at, cudaStream_t);
extern cudaError_t SyncILUKernelDiagonalIndex(int n, const int *diag, const int *map, const int *order, int *index, cudaStream_t);

/*
   Factorization. StatusReset comes first. Where only diagonals have updates, Coefficients (sum: workspace of n) fills L's ELL with what Pivots sweeps with; bindex of that sweep comes from
   DiagonalIndex. Fill writes the values of a triangle in ELL, from v, divided by the divisor of the row where one is given; with gather it writes the values of ELL there instead, in the order of the
   pattern. Raw gives the raw factor on the pattern where only diagonals have updates. Status completes the status; for pivots of the types SIZE and SIGN it needs W, from val (the raw factor on the
   pattern) or where that is NULL from w, and size, which is NULL where only diagonals have updates.
*/
extern cudaError_t SyncILUKernelStatusReset(SyncILUDeviceStatus *, unsigned long long *ticket, cudaStream_t);
extern cudaError_t SyncILUKernelFactor(SyncILUValueType, SyncILUDeviceFactor, cudaStream_t);
extern cudaError_t SyncILUKernelCoefficients(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceEll, const int *opposite, SyncILUDeviceValues, double relax, void *sum, cudaStream_t);
extern cudaError_t SyncILUKernelPivots(SyncILUValueType, SyncILUDeviceEll, SyncILUDeviceSweep, SyncILUDevicePivoting, void *pivot, SyncILUDeviceStatus *, cudaStream_t);
extern cudaError_t SyncILUKernelRaw(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, const void *pivot, void *val, cudaStream_t);
extern cudaError_t SyncILUKernelFill(SyncILUValueType, SyncILUDeviceTriangle, SyncILUDeviceEll, SyncILUDeviceValues v, const void *divisor, void *gather, cudaStream_t);
extern cudaError_t SyncILUKernelReciprocals(SyncILUValueType, int n, const void *pivot, const int *order, void *out, cudaStream_t);
extern cudaError_t SyncILUKernelStatus(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, const void *val, SyncILUDeviceLower w, const void *size, const void *pivot, SyncILUDevicePivoting, SyncILUDeviceStatus *, cudaStream_t);
/* The largest sum of a row's absolute values beside the diagonal less the diagonal, as the bits of a double; zero before. */
extern cudaError_t SyncILUKernelExcess(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, unsigned long long *excess, cudaStream_t);

/* Solve, with the rows of a triangle in ELL, or in CSR in the given order. */
extern cudaError_t SyncILUKernelSolveEll(SyncILUValueType, SyncILUDeviceEll, SyncILUDeviceSweep, cudaStream_t);
extern cudaError_t SyncILUKernelSolveCsr(SyncILUValueType, SyncILUDeviceTriangle, const void *val, const int *order, SyncILUDeviceSweep, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
