/*
   Structures that the kernels and the C code which launches them share.

   All pointers are to device memory unless said otherwise. Pointers to void are to values of the type that a
   call names. Indices have 32 bits.
*/
#ifndef SYNCILU_TYPES_H
#define SYNCILU_TYPES_H

#include <limits.h>
#include <stddef.h>
#include <cuda_runtime_api.h>
#include "tuning.h"

/* Functions for the host and for the device. */
#if defined(__CUDACC__)
  #define SYNCILU_HOST_DEVICE __host__ __device__
#else
  #define SYNCILU_HOST_DEVICE
#endif

/*
   The type of values. One is instantiated so far, while the kernels are templates. What differs between types
   is in memory_order.cuh, syncfree.cuh and factor_relax.cuh; besides, ell.cuh has an instruction for doubles,
   pivots are judged as doubles, and the excess is compared by its bits.
*/
typedef enum {
  SYNCILU_DOUBLE
} SyncILUValueType;

/* The pattern of a factor: CSR with ascending columns, and where the diagonal of each row stands. */
typedef struct {
  int        n;
  const int *ptr, *col, *diag;
} SyncILUDevicePattern;

/* Bits of the numbers up to max. */
SYNCILU_HOST_DEVICE static inline int SyncILUBits(int max)
{
  int bits = 1;

  while (bits < 31 && max >> bits) bits++;
  return bits;
}

/*
   The rows of a matrix, and as the second side those of its transpose; with one side the pattern is symmetric,
   and the first has both.
*/
typedef struct {
  int        n, sides;
  const int *ptr[2], *col[2];
} SyncILUDeviceGraph;

/* What fill is looked for in, and where it goes: see kernels/symbolic.h. */
typedef struct {
  int                 n, levels, bits, swap, both;
  const int          *ptr, *col;
  int                *count;
  unsigned long long *total;
  const int          *begin;
  unsigned long long *key;
} SyncILUDeviceFill;

/* Values on that pattern: entry e is a[map[e]], zero where map[e] is negative. With map NULL it is a[e]. */
typedef struct {
  const void *a;
  const int  *map;
} SyncILUDeviceValues;

/*
   A triangular matrix by rows: the entries of row i are begin[i] + skip to end[i] - 1. Entry e stands at
   position src[e] of the pattern; with src NULL at e.
*/
typedef struct {
  int        n, skip;
  int        entries, longest; /* of all rows, and most of a row */
  const int *begin, *end, *col, *src;
} SyncILUDeviceTriangle;

/*
   Where the values of a triangle's rows stand: entry q of row i is value begin[i] + lead + q, divided by
   divisor[i] unless that is NULL.
*/
typedef struct {
  SyncILUDeviceValues values;
  const int          *begin;
  int                 lead; /* other numbers before the entries of each row */
  const void         *divisor;
} SyncILUDeviceRows;

/* So many lengths of rows count, SYNCILU_POLLS << k for k below that. */
#define SYNCILU_LENGTHS 6

/* What a look through the rows of a matrix counts. */
typedef struct {
  int                irregular;                /* the first row with columns out of order or range; INT_MAX before */
  int                missing;                  /* the first row without diagonal; INT_MAX before */
  int                longest_row;              /* most entries of a row; this and all below are zero before */
  int                longest_listed;           /* of those that are not long */
  int                heavy;                    /* rows of more than SYNCILU_LIST_MOST entries */
  int                longest[2];               /* most entries of a row of L and of U */
  int                over[2][SYNCILU_LENGTHS]; /* rows of L and of U with more than SYNCILU_POLLS << k entries */
  unsigned long long entries;                  /* of L */
} SyncILUDeviceCounts;

/* What of a pattern decides how it is planned. */
typedef struct {
  int off_diagonal; /* whether entries beside the diagonal have updates; zero before */
  int unsymmetric;  /* zero before */
  int successive;   /* rows that depend on the one before them; zero before */
  /*
     Bit b, of 2 to SYNCILU_BLOCK_ROWS: each row depends on all rows before it in its block of b rows, and
     rows that reach less far back than the row before them begin a block. All of these bits are set before.
  */
  int blocks;
  /*
     Bit b: the rows come in inodes of b successive rows (kernels/inodes.h). The bits from 2 to
     SYNCILU_INODE_MOST that divide the number of rows are set before.
  */
  int inodes;
  /* rows with more than SYNCILU_POLLS << class entries of L or of U; zero before */
  int over[SYNCILU_TILE_CLASSES];
  /* rows of L and of U with more than twice the mean of entries; zero before */
  int wide[2];
  /*
     Distances from a row to the nearest one it depends on: beyond 1, beyond the first of these and 1, and
     beyond that and 2. What most rows have counts, of a sample. INT_MAX where there is none, and before.
  */
  int distance[3];
  /*
     Whether a row depends on another that is not behind it in every direction of the grid that the distances
     suggest, and how many rows do where both are of the usual length: as it stands and, where it does,
     skewed. Zero before.
  */
  int across[2], crossing[2];
} SyncILUDeviceStatistics;

/*
   The entries of a row of L or of U that only a few have more of, and these no tile; 0 where too many rows
   are that long.
*/
SYNCILU_HOST_DEVICE static inline int SyncILUUsualLength(const int *over)
{
  int k = 0;

  while (k < SYNCILU_TILE_CLASSES && over[k] > SYNCILU_OUTLIERS) k++;
  return k < SYNCILU_TILE_CLASSES ? SYNCILU_POLLS << k : 0;
}

/*
   Tiles: boxes of a grid whose numbering the rows follow, x first. Where there is no grid, they are row
   blocks: successive rows, which for several unknowns a point may be those of a point.

   Rows on a grid that depend on each other must be behind one another in the same sense in every direction:
   then tiles do not wait for each other in circles. Where a row depends on neighbours on both sides of the
   line or plane before, as in 9- and 27-point stencils, the grid is skewed until they are behind it: x + skew
   (y + 2 z), y + skew z, z in place of x, y, z.

   A line of tiles begins where its first points may be. On a skewed grid that is nowhere near the lowest x:
   counted from there, a thin grid would have many times more tiles than rows, nearly all of them empty.

   A few rows may be outliers, each of them a tile of its own: rows that are much longer than the others, that
   depend on rows which are not behind them on the grid, or that come after its last point. Others may depend
   on an outlier, and it on others, wherever these are. So that no tile waits for itself, none has both rows
   before an outlier and rows after it: tiles are cut there, and are listed in an order in which each depends
   on tiles before it alone. That order is: what comes before the first outlier by box, the first outlier,
   what comes before the second one, and so on. Within a tile rows ascend. For L, a row depends on earlier
   rows. Those before the last outlier are in tiles listed before; those after it are, since they are behind
   the row on the grid, in boxes with coordinates that are nowhere larger, which come before in the list, or
   in its own. For U all of this holds from the end. Neighbours around the ends of a periodic line or plane
   are behind the row in this sense as long as the grid is not skewed: (X-1,y) depends on (0,y), and in U
   (0,y) on (X-1,y).
*/
typedef struct {
  int n, skew;
  int block;     /* rows of a row block; 0 where there is a grid */
  int points[3]; /* of the grid: n is their product */
  /* logarithms of the edges of a tile, which has at most 32 rows; of a row block in edge[0], rounded up */
  int edge[3];
  int tiles[3]; /* in a line, lines in a plane, planes; some may be empty */
  int levels;   /* of a grid's tiles */
  int limit;    /* with more entries of L or of U a row is an outlier */
  int outliers;
  /*
     Where there are outliers, while planning: a list of the tiles[0] tiles with their rows, from first to the
     next one's first, and the tile of each row.
  */
  const int *first, *member, *tile;
} SyncILUTiling;

/*
   The grid that distances between neighbours suggest, 0 if none: in lines whose neighbours are at one
   distance, or at three that follow one another; planes the same. A few rows may come after its last point,
   if no grid ends with the last row.
*/
SYNCILU_HOST_DEVICE static inline int SyncILUGridPoints(int n, const int *distance, int *points)
{
  const int box = distance[0] < INT_MAX - 2 && distance[1] == distance[0] + 2, x = distance[0] < INT_MAX - 2 ? distance[0] + box : INT_MAX;
  const int next = distance[1 + box];
  int       k, rest;

  if (x > n) return 0;
  for (rest = 0; rest <= SYNCILU_OUTLIERS; rest += SYNCILU_OUTLIERS) {
    points[0] = x;
    points[1] = n / x;
    points[2] = 1;
    if (next == INT_MAX && n % x <= rest) return 1;
    /* the nearest point of the plane before may be at its corner, on a side, or straight behind */
    for (k = 0; k < 4 && next < INT_MAX; k++) {
      const int corner = (box ? 3 - k : k);
      /* may be beyond n */
      const long long plane = (long long)next + (corner & 2 ? x : 0) + (corner & 1 ? 1 : 0);

      if (plane <= n && plane % x == 0 && n % plane <= rest) {
        points[1] = (int)(plane / x);
        points[2] = (int)(n / plane);
        return 1;
      }
    }
  }
  return 0;
}

/* Points of the grid in each direction, skewed. */
SYNCILU_HOST_DEVICE static inline void SyncILUGridExtents(const int *points, int skew, long long *extent)
{
  extent[0] = points[0] + (long long)skew * (points[1] - 1 + 2 * (points[2] - 1ll));
  extent[1] = points[1] + (long long)skew * (points[2] - 1);
  extent[2] = points[2];
}

/* The lowest y of the tiles of a plane, and the lowest x of those of a line, in units of tiles. */
SYNCILU_HOST_DEVICE static inline int SyncILUTilesBeginY(const SyncILUTiling *t, int z)
{
  return t->skew * (z << t->edge[2]) >> t->edge[1];
}

/* A point has x at or above its skewed y plus its z, since that is what the skew adds. */
SYNCILU_HOST_DEVICE static inline int SyncILUTilesBeginX(const SyncILUTiling *t, int y, int z)
{
  return t->skew * ((y << t->edge[1]) + (z << t->edge[2])) >> t->edge[0];
}

/* 32 lanes that share the rows at the positions first and up. */
typedef struct {
  int offset;       /* where its entries begin, in units of 32, or of SYNCILU_PACK where slices are packed */
  int first, width; /* entries of each lane */
  int shape;        /* logarithm of the lanes a row, plus 8 times the number of rows */
} SyncILUSlice;

/* Lanes whose values fill a sector of memory. */
#define SYNCILU_PACK 4

/*
   Which entries of a row in sliced ELL have the highest positions, the highest first: those it waits for last.
   They are counted from 1; 0 where there are no more, or the number does not fit.
*/
#define SYNCILU_LATE 4

typedef struct {
  unsigned char entry[SYNCILU_LATE];
} SyncILULate;

/* A triangular matrix in sliced ELL, its rows in the order in which they are solved for. */
typedef struct {
  int n, slices;
  /*
     0, or the slices are tiles: they may wait at once for all that their rows need from others, and have at
     most so many entries a lane: SYNCILU_POLLS or twice that.
  */
  int tiled;
  /*
     0, or slices end with levels: rows of a slice do not wait for each other, and lanes had better poll so
     many entries at once: SYNCILU_POLLS or twice that. Such slices are packed: many have few rows, and no
     more lanes in memory than these need, rounded up to a multiple of SYNCILU_PACK.
  */
  int                 by_level;
  const SyncILULate  *late; /* of each position, where slices end with levels */
  const SyncILUSlice *slice;
  const int          *order; /* row of each position */
  const int          *col;   /* positions; -1 where a slice is padded */
  void               *val;
  /*
     What the warps of a solve take in turn: the slices themselves, unless some rows are so long that several
     warps share one. Such a row has tasks of SYNCILU_TASK_PART for parts of its entries, numbered through all
     rows from shape >> 3, and then one of SYNCILU_TASK_ROW, which adds up what the shape >> 3 parts from
     number offset on have found. Their first is the row's.
  */
  int                 tasks;
  const SyncILUSlice *task;
  /* of each part for every group of right-hand sides; NaN sentinels between solves */
  void *partial;
} SyncILUDeviceEll;

/* In the place of the logarithm of the lanes a row. */
enum {
  SYNCILU_TASK_ROW  = 6,
  SYNCILU_TASK_PART = 7
};

/*
   Where the rows of a triangle begin in the values of its sliced ELL, and where slices are packed the lanes
   that each one's has in memory; lanes, or 5 if the row has more than limit entries, is the logarithm of the
   lanes a row.
*/
typedef struct {
  void                *val;
  const unsigned      *begin;
  const unsigned char *stride;
  int                  lanes, limit;
} SyncILUSlicedRows;

/* How pivots are judged: the types of MatFactorShiftType. */
enum {
  SYNCILU_PIVOT_REJECT, /* rejected if tiny */
  SYNCILU_PIVOT_SHIFT,  /* the amount is added to the tiny ones */
  SYNCILU_PIVOT_SIZE,   /* rejected if tiny beside the rest of the row, once all rows are there */
  SYNCILU_PIVOT_SIGN    /* the same, negative ones too */
};

/* Whether pivots of that type are compared with the rest of their rows. */
SYNCILU_HOST_DEVICE static inline int SyncILUPivotsRelative(int type)
{
  return type == SYNCILU_PIVOT_SIZE || type == SYNCILU_PIVOT_SIGN;
}

typedef struct {
  int    type;
  double zeropivot;
  double amount; /* but for SYNCILU_PIVOT_SHIFT added to every diagonal entry */
  double relax;
  int    right; /* the rest of a row is what is right of its pivot, as in ICC */
  double least; /* D-ILU: of its diagonal entry what a pivot is at least, else zero */
} SyncILUDevicePivoting;

/* What a factorization finds. */
typedef struct {
  int    row; /* the first one whose pivot is rejected; INT_MAX before */
  int    shifted, shiftable;
  int    range; /* diagonal-only updates: not 0 if products of two entries leave the range of numbers */
  double pivot;
} SyncILUDeviceStatus;

/*
   The factorization of all rows on a pattern, in Crout form A = (W + D)(I + U'). The rows of W go to wrows;
   with its val NULL, W and U' go to val on the pattern, the diagonal left out.
*/
typedef struct {
  SyncILUDevicePattern pattern;
  SyncILUDeviceValues  values;
  /*
     U', or W and U' on the pattern; NaN sentinels before. With one triangle a row's pivot stands before its
     U'.
  */
  void             *val;
  const int        *upper; /* where the rows of U' begin in val; NULL: on the pattern */
  SyncILUSlicedRows wrows;
  void             *pivot; /* of each row; NaN sentinels before */
  /* of each row of U', for relaxation, and its rounding error; NaN sentinels before */
  void *sum;
  /* NULL, or receives the sum of the absolute values of each row of U beside the diagonal */
  void      *size;
  const int *order; /* of the rows; after those they depend on */
  /*
     NULL: a row takes its reference rows in the order of its entries. Else, from the first entry of each row on
     the pattern on, the numbers of its entries of W in the order in which it takes their reference rows. A row
     of more than SYNCILU_TURNS such entries takes them as with NULL.
  */
  const unsigned char *turn;
  int                  tasks;  /* a task is what a warp takes: rows of one level */
  const SyncILUSlice  *task;   /* NULL: one row each */
  int                  lanes;  /* logarithm of the lanes a row, from 2 to 5; not used where that is a block */
  int                  shared; /* most entries of a row that fit shared memory */
  /* most entries of a row of L whose reference rows shared memory has room for */
  int lower;
  /* a row waits for the pivot of the row that comes so many before it; 0: it does not */
  int                   throttle;
  unsigned long long   *ticket; /* zero */
  SyncILUDevicePivoting piv;
  SyncILUDeviceStatus  *status;
} SyncILUDeviceFactor;

/* Entries of W of a row that a byte can number. */
#define SYNCILU_TURNS 256

/*
   Long rows in the factorization with lists, those of more than longest_listed entries: tasks of the shape
   SYNCILU_TASK_LONG, whose width is their number in the row. What is kept for the entries of such rows stands
   from the task's offset on. See kernels/factor_long.cuh.
*/
#define SYNCILU_TASK_LONG 7

typedef struct {
  int source; /* the entry of the row that is the multiplier */
  int at;     /* where u' stands in val */
} SyncILULongUpdate;

typedef struct {
  const int               *begin;  /* of the updates of each entry, and the end of the last one's; NULL: no row is long */
  const SyncILULongUpdate *update; /* those of an entry in ascending order of their sources */
  void                    *w;      /* the rows at work; NaN sentinels before */
  void                    *part;   /* three numbers for each task that leaves some, for relaxation and sizes; NaN sentinels before */
} SyncILUDeviceLongRows;

/*
   Tasks for the entries of a long row, for its entries of U', and all with the pivot's and the one that sums
   up.
*/
SYNCILU_HOST_DEVICE static inline int SyncILULongEntryTasks(int entries)
{
  return (entries + SYNCILU_LONG_ENTRIES - 1) / SYNCILU_LONG_ENTRIES;
}

SYNCILU_HOST_DEVICE static inline int SyncILULongScaledTasks(int upper)
{
  return (upper + SYNCILU_LONG_SCALED - 1) / SYNCILU_LONG_SCALED;
}

SYNCILU_HOST_DEVICE static inline int SyncILULongTasks(int entries, int upper)
{
  return SyncILULongEntryTasks(entries) + 1 + SyncILULongScaledTasks(upper) + 1;
}

/* The updates of each row, written down: update strategy list. */
typedef struct {
  SyncILUDeviceLongRows longs;
  /*
     by round and lane: 256 times the entry of U' of the reference row, plus the entry of the row; 0xffff:
     none
  */
  const unsigned short *update;
  /* by round and row of the task: the entry of the row whose column is the reference row */
  const unsigned char *source;
  /* rows have more rounds than are polled at the same time, so that it is worth while to look ahead */
  int many;
  /* updates of the diagonal and of what is right of it alone: see factor_kernel() */
  int half;
} SyncILUDeviceLists;

/*
   The hash table of the columns of a row (kernels/table.cuh): the most entries that it can have; the
   logarithm of its places, at least SYNCILU_TABLE_ROOM for each entry; its bytes, and those of its filter.
*/
#define SYNCILU_TABLE_MOST 255

SYNCILU_HOST_DEVICE static inline int SyncILUTableBits(int entries)
{
  int bits = 2;

  while (1 << bits < SYNCILU_TABLE_ROOM * entries) bits++;
  return bits;
}

SYNCILU_HOST_DEVICE static inline size_t SyncILUTableBytes(int bits)
{
  return (sizeof(int) + 1) << bits;
}

SYNCILU_HOST_DEVICE static inline size_t SyncILUFilterBytes(int bits)
{
  return ((size_t)1 << (bits + SYNCILU_TABLE_FILTER_BITS)) / 8;
}

/* What all update strategies need that look for the updates in each factorization. */
typedef struct {
  void      *scratch;  /* for rows with more entries than fit shared memory; NULL if there is none */
  const int *begin;    /* where each of these rows begins there */
  int        prefetch; /* search for the next updates while some are waited for */
  int        vector;   /* logarithm of the lanes an entry: update strategy parallel */
  int        table;    /* all rows are short enough for tables of their columns: update strategy adapt */
} SyncILUDeviceSearch;

/*
   A sweep of update strategy parilu: W and U' on the pattern before and after it, the diagonal left out. Rows of
   more than `shared` entries are at work on the pattern, too: in `to`, but for asynchronous sweeps.
*/
typedef struct {
  SyncILUDevicePattern  pattern;
  SyncILUDeviceValues   values;
  const void           *from; /* NULL: the sweep makes the first iterate */
  void                 *to, *work;
  int                   shared, lanes; /* lanes: logarithm of those a row, from 2 to 5 */
  int                   table;         /* columns are looked up in tables; no row is longer than shared */
  int                   asynchronous;  /* from and to are the same */
  int                   last;          /* pivots are judged, and size is filled, as in SyncILUDeviceFactor */
  void                 *pivot, *size;  /* NULL: nobody wants them; pivots before the last sweep are as they come, though shifted one by one */
  SyncILUDevicePivoting piv;
  SyncILUDeviceStatus  *status;
} SyncILUDeviceSweep;

/* Update strategy parilut compares squares of sizes by keys: their highest bits but the sign, rounded. */
#define SYNCILU_KEY_SHIFT 36

SYNCILU_HOST_DEVICE static inline double SyncILUSizeOfKey(unsigned key)
{
  union
  {
    unsigned long long bits;
    double             size;
  } u;

  u.bits = (unsigned long long)key << SYNCILU_KEY_SHIFT;
  return u.size;
}

/* Where a block begins that works by levels. */
typedef struct {
  int slice, level;
} SyncILULevelTask;

/*
   Rows by level, for strategies that wait for whole levels. A level of more slices than a block has warps is
   shared by several blocks. Successive levels of fewer are a chain, and one block goes through them.
*/
typedef struct {
  int                     n, slices, levels, tasks;
  int                     warps; /* of a block */
  const int              *order; /* row of each position */
  const SyncILUSlice     *slice; /* of rows of one level; no offsets and widths */
  const int              *start; /* the first slice of each level, and the number of slices */
  const SyncILULevelTask *task;  /* what blocks take in turn */
  /*
     Rows that are finished: a counter for each group of right-hand sides, SYNCILU_COUNTER_INTS apart. Zero
     between launches.
  */
  int *done;
} SyncILUDeviceLevels;

/*
   The levels of a triangle cut into runs that are solved one after the other, with a launch each: by all
   multiprocessors and by one cluster of thread blocks, by turns.
*/
typedef struct {
  int count, wide;                  /* how many; whether all multiprocessors have the first one */
  int level[SYNCILU_RUNS_MOST + 1]; /* the first of each run, and the number of levels */
  int first[SYNCILU_RUNS_MOST + 1]; /* the position where it begins, and the number of rows */
} SyncILURuns;

/* Whether all multiprocessors have that run. */
SYNCILU_HOST_DEVICE static inline int SyncILURunWide(const SyncILURuns *runs, int r)
{
  return (r & 1) != runs->wide;
}

/* So many of these right-hand sides stand side by side in x where triangular solves take whole lines of it. */
SYNCILU_HOST_DEVICE static inline int SyncILURHSSide(int nrhs)
{
  return nrhs <= SYNCILU_RHS_BLOCK ? 0 : (nrhs - 1) & (SYNCILU_RHS_LINE / 2) ? SYNCILU_RHS_LINE : SYNCILU_RHS_LINE / 2;
}

/* A triangular solve: x = (b - T x) scaled. */
typedef struct {
  const void *scale; /* of each position, NULL: 1 */
  const void *b;
  const int  *bindex; /* the right-hand side of position p stands at bindex[p], NULL: at p */
  /* distance of two right-hand sides; 0: b is the x of the triangular solve before */
  size_t ldb;
  /* NaN sentinels before, unless it gathers; receives the solution by positions, in blocks of right-hand sides */
  void      *x;
  void      *out; /* NULL, or receives the solution at outindex[p] */
  const int *outindex;
  size_t     ldout;
  /* x of the other triangular solve, filled with sentinels on the way: at bindex[p] if it is b, else at p */
  void *next;
  int   nrhs; /* at most SYNCILU_RHS_MAX */
  /*
     how many right-hand sides stand side by side in x, if both triangular solves take SyncILURHSSide(nrhs); 0: as
     many as the strategy takes
  */
  int side;
  /*
     lines of x are gathered (kernels/solve_gathered.h), positions are rows, and both triangular solves have one x
  */
  int gathers;
  int throttle; /* a position waits for the one so many before it; 0: it does not */
  /* counter of this solve, zero; and of the other one, which is set to zero */
  unsigned long long *ticket, *reset;
  /*
     NULL, or the vector v of Eisenstat's trick (kernels/eisenstat.h), for one right-hand side in a solve with
     L. Then b is w, and out receives y: w is in the place where y comes, or, if all vectors are by positions,
     the x of the solve with U.
  */
  const void *v, *d, *e;
} SyncILUDeviceSolve;

#endif
