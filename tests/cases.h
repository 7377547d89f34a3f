/*
   Named cases of the CUDA backend: a pattern with its ordering, levels of fill and relaxation, times an
   update strategy, a solve strategy, an analysis and a vector size.

   A row is the first four, as 7pt:9x6x7,rcm,levels=2,relax=0.9; a cell is the others, as list/ell/asap or
   list/ell/asap/4. Their names with a slash between them are the name of the case.
*/
#ifndef SYNCILU_CASES_H
#define SYNCILU_CASES_H

#include "engine.h"

/* How an engine takes its rows. */
typedef enum {
  ORDER_ANY,
  ORDER_ROWS,   /* one by one, in numerical order or by level */
  ORDER_TILES,  /* of a grid */
  ORDER_SKEWED, /* tiles of a skewed grid */
  ORDER_BLOCKS, /* rows of a point, or of something like it, together */
  ORDER_POINTS, /* those of a point with three unknowns */
  ORDER_CHAINS, /* parts of chains */
  ORDER_INODES, /* successive rows of one pattern together */
  ORDER_LINES,  /* lines of a grid */
  ORDER_GRID    /* likewise, of points with several unknowns */
} RowOrder;

/*
   A line of the table. Cells are words as UPDATE/SOLVE/ANALYSIS or UPDATE/SOLVE/ANALYSIS/SIZE. A * stands for
   auto and all strategies that the backend has, for every analysis, or for every size; without a size the
   library chooses it. The word rest/ANALYSIS is a cell for each strategy that no word before it names, with
   all else auto.
*/
typedef struct {
  const char *patterns; /* words: a name of the generator, or a glob of its names; -GLOB takes names away */
  PetscInt    n;        /* rows, unless the pattern has a size */
  const char *ordering;
  PetscInt    levels; /* of fill */
  PetscReal   relax;
  /* shares of the entries below and above the diagonal that are taken away, as 0.1:0.1 */
  const char *gaps;
  int         sets;    /* of values; 1 where the reference takes long */
  int         runs;    /* that must give the same bits */
  int         columns; /* right-hand sides, more than one launch takes; 0: the usual test */
  RowOrder    order;   /* of the cells in the next column */
  const char *cells;
  const char *more; /* cells that may take rows in any order, or NULL */
} CaseLine;

typedef struct {
  SyncILUUpdate   update;
  SyncILUSolve    solve;
  SyncILUAnalysis analysis;
  PetscInt        size; /* lanes a row, 0: the library chooses */
  RowOrder        order;
} Cell;

typedef struct {
  const CaseLine *line;
  char            pattern[64];
  char            name[128];
  int             ncells;
  Cell           *cell;
} CaseRow;

typedef struct {
  int      count;
  CaseRow *row;
} CaseList;

/* All rows of a set, whose names stand at the end of the tables in cases.c. */
extern PetscErrorCode CaseListCreate(const char *set, CaseList *);
extern PetscErrorCode CaseListDestroy(CaseList *);
/* The rows of a matrix from a file of that name. */
extern PetscErrorCode CaseListForFile(const char *name, CaseList *);

/* The name of a case. */
extern PetscErrorCode CaseName(const CaseRow *, const Cell *, char *, size_t);
/*
   Leaves the cells whose case's name matches the glob, in which * matches slashes too, or begins with it; and
   counts them. An empty text leaves all.
*/
extern PetscErrorCode CaseListSelect(CaseList *, const char *glob, int *count);
/*
   Leaves other cells than the table has: in rows whose name matches what stands before the first slash those
   that what stands behind it names, as a word of the table does. In other rows none.
*/
extern PetscErrorCode CaseListAsk(CaseList *, const char *text, int *count);
/* Lets every row's numbers depend on its name alone. */
extern PetscErrorCode CaseSeed(const CaseRow *, PetscRandom);

/* The strategy, size and order of a cell in an engine's settings; relaxation is the row's. */
extern void CaseSettings(const CaseRow *, const Cell *, SyncILUSettings *);
/* Whether a view tells of an engine in that order, and the name of that order. */
extern PetscBool   CaseOrderIs(RowOrder, const char *view);
extern const char *CaseOrderName(RowOrder);

#endif
