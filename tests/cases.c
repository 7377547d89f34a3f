/*
   See cases.h.
*/
#include <fnmatch.h>
#include <stdint.h>
#include "cases.h"
#include "check.h"
#include "generate.h"
#include "strategies.h"
#include "../kernels/tuning.h"

/*
   Breadths: each strategy with all others, every analysis and every size, one after the other; with every
   analysis; once; no strategy but the library's choice.
*/
#define ALL   "*/*/auto */auto/* auto/*/* */auto/auto/* auto/*/auto/*"
#define PAIRS "*/auto/* auto/*/*"
#define FEW   "*/auto/auto auto/*/auto"
#define EACH  "*/auto/auto"
#define ONE   "auto/auto/auto"
/* What goes with EACH where rows are in tiles: every size, and all solves. */
#define SIZES "*/auto/auto/* auto/*/auto"
/* Auto may prefer other solves to tiles. */
#define EACH_TILED  "*/ell/auto"
#define SIZES_TILED "*/ell/auto/* auto/*/auto"
#define ONE_TILED   "auto/ell/auto"
#define ONE_LINED   "auto/struct/auto"
/* Along the lines of grids. */
#define LINES "struct/struct/auto"

#define LONG    (SYNCILU_ROW_LONG + 7) /* rows of the matrix one of whose rows is longer than any that is taken by a part of a warp */
#define NATURAL MATORDERINGNATURAL
#define RCM     MATORDERINGRCM
#define ND      MATORDERINGND

/* Matrices that do not fill up. */
#define BANDS "*diagonal ?pt* ??pt* -7pt_border -25pt"
/* Those that have no tens of millions of entries. The reference takes its time for an arrow. */
#define LARGE "* -arrow -random200 -elasticity_* -25pt -blocks -15pt_morton -classes"
/* One of each kind, for what is tried with every strategy. */
#define KINDS "tridiagonal arrow denserow random powerlaw 7pt 27pt elasticity 5pt_random hubs classes 7pt_border"
/* Grids whose sizes leave tiles incomplete in every direction, some with hardly any points in one. */
#define GRIDS "7pt:9x6x7 7pt:33x1x5 7pt:2x3x50 7pt:1x7x9 5pt:13x7 5pt:100x3 15pt:7x5x9 15pt:4x4x4"
/* More stencils: with two or three near reference rows, far reaching, with holes. */
#define STENCILS "27pt:6x5x4 27pt:37x29x1 25pt:11x10x12 star13:9x11x10 triangles:19x23"
/* In the second one each row depends on the one before it in blocks of 2, 4 and 6 rows too. */
#define POINTS "elasticity:6x5x4 elasticity:8x3x3"
/* Points of few and of many unknowns, with few and with many updates beside the diagonal. */
#define FEW_UNKNOWNS  "star13_dof2:11x9x7 27pt_dof2:7x6x5 15pt_dof2_random:6x6x7 27pt_dof3:4x4x3 27pt_dof4:4x3x3 15pt_dof4_random:4x4x4"
#define MANY_UNKNOWNS "15pt_dof5:4x4x3 27pt_dof6:4x3x3 7pt_dof6:5x4x3 star13_dof7:5x4x3 7pt_dof8:5x4x3 diamond13_dof8:5x4x3"
/* Small ones whose points have a warp each, by the limits of the emulator and of the tests named wide. */
#define A_WARP "15pt_dof5:4x3x3 15pt_dof6:3x4x3 15pt_dof7:3x3x4 15pt_dof8:4x3x3"
/* Small ones that are seen as grids. */
#define ON_GRIDS "star13_dof5:7x5x1 diamond13_dof8:3x3x3 27pt_dof6:3x3x3"
/* with levels that are wide where there is no device */
#define ON_WIDE    "5pt_dof6:7x8 5pt_dof4:10x10 diamond13_dof8:8x7x6 7pt_dof5:3x3x3 27pt_dof4:9x8x4 diamond13_dof7:5x4x4"
#define ON_LANES   "diamond13_dof2:11x9x8 27pt_dof2:14x10x8 7pt_dof3:6x6x5 27pt_dof3:13x8x5 star13_dof4:6x6x5 7pt_dof5:5x5x4 5pt_dof6:16x17 star13_dof7:6x5x5"
#define ON_HOLES   "triangles_dof2:50x50 triangles_dof3:24x33 triangles_dof7:12x13 triangles_dof8:20x13"
#define LINES_WIDE "27pt:20x9x7 star13:13x11x10 diamond13:14x9x8 diamond25:12x9x9 triangles:40x31"
#define BY_INODES  "bsr/struct/auto bsr/bsr/auto bsr/bsr/none"

/* The columns of all tables are those of CaseLine. */

/*
   Few and tiny, for tools that slow the program down: kernels of every kind on a few hundred rows. Hardly
   shorter chains than the last ones are not cut into row blocks.
*/
static const CaseLine small[] = {
  {"tridiagonal",      130,  NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "auto/auto/none list/ell/asap/1 vect/csr/alap/2 rest/auto",     NULL},
  {"arrow",            130,  RCM,     0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "auto/auto/asap/1 list/ell/alap/2 vect/csr/none/4 rest/none",   NULL},
  {"random",           130,  NATURAL, 0, 0.9, NULL,      2, 1, 0, ORDER_ANY,    "auto/auto/alap/2 list/ell/none/4 vect/csr/asap/8 rest/asap",   NULL},
  {"7pt",              130,  RCM,     1, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "auto/auto/none/4 list/ell/asap/8 vect/csr/alap/16 rest/alap",  NULL},
  {"27pt",             130,  NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "auto/auto/asap/8 list/ell/alap/16 vect/csr/none/32 rest/auto", NULL},
  {"denserow",         LONG, RCM,     0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "auto/auto/alap/16 list/ell/none/32 vect/csr/asap rest/none",   NULL},
  {"7pt:9x4x3",        0,    NATURAL, 0, 0.0, "0:0",     2, 1, 0, ORDER_TILES,  ONE_TILED,                                                      NULL},
  {"7pt:9x4x3",        0,    NATURAL, 0, 0.0, "0.1:0.1", 2, 1, 0, ORDER_TILES,  "vect/ell/auto/2",                                              NULL},
  {"15pt:5x3x7",       0,    NATURAL, 0, 0.0, "0:0",     2, 1, 0, ORDER_TILES,  "list/ell/auto",                                                NULL},
  {"27pt:5x4x4",       0,    NATURAL, 0, 0.0, "0:0",     2, 1, 0, ORDER_SKEWED, ONE_TILED,                                                      NULL},
  {"5pt:13x7",         0,    NATURAL, 0, 0.9, NULL,      2, 1, 0, ORDER_ANY,    "auto/struct/auto",                                             NULL},
  {"7pt:9x4x3",        0,    NATURAL, 0, 0.0, NULL,      1, 1, 0, ORDER_ANY,    "auto/struct/auto",                                             NULL},
  {"27pt:5x4x4",       0,    NATURAL, 0, 0.0, NULL,      1, 1, 0, ORDER_ANY,    "auto/struct/auto",                                             NULL},
  {"7pt:9x5x4",        0,    NATURAL, 1, 0.0, NULL,      2, 1, 0, ORDER_LINES,  "list/struct/auto",                                             NULL},
  {"7pt:9x6x4",        0,    NATURAL, 2, 0.0, NULL,      1, 1, 0, ORDER_LINES,  "auto/struct/auto",                                             NULL},
  {"5pt:13x7",         0,    NATURAL, 1, 0.9, NULL,      1, 1, 0, ORDER_LINES,  "auto/struct/auto",                                             NULL},
  {"elasticity:6x5x4", 0,    NATURAL, 0, 0.0, "0:0",     2, 1, 0, ORDER_POINTS, ONE_TILED,                                                      NULL},
  {"7pt_dof2:4x3x3",   0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "bsr/bsr/auto bsr/bsr/none",                                    NULL},
  {"27pt_dof2:3x3x2",  0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "bsr/bsr/auto bsr/bsr/none",                                    NULL},
  {"15pt_dof4:3x3x3",  0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "bsr/bsr/auto bsr/bsr/none",                                    NULL},
  {"15pt_dof7:3x3x2",  0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "bsr/bsr/auto bsr/bsr/none",                                    NULL},
  {A_WARP,             0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "bsr/bsr/auto",                                                 NULL},
  {"7pt_dof4:4x3x2",   0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "bsr/bsr/auto bsr/bsr/none",                                    NULL},
  {"5pt_dof8:4x3",     0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "bsr/bsr/auto bsr/bsr/none",                                    NULL},
  {ON_GRIDS,           0,    NATURAL, 0, 0.0, NULL,      1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                                              NULL},
  {ON_WIDE,            0,    NATURAL, 0, 0.0, NULL,      1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                                              NULL},
  {ON_LANES,           0,    NATURAL, 0, 0.0, NULL,      1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                                              NULL},
  {ON_HOLES,           0,    NATURAL, 0, 0.0, NULL,      1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                                              NULL},
  {LINES_WIDE,         0,    NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_LINES,  "struct/struct/auto",                                           NULL},
  {"5pt:40x31",        0,    NATURAL, 1, 0.0, NULL,      2, 1, 0, ORDER_LINES,  "struct/struct/auto",                                           NULL},
  {"blocks:3x2x2",     0,    NATURAL, 0, 0.9, "0:0",     2, 1, 0, ORDER_INODES, ONE,                                                            NULL},
  {"blocks:4x3x3",     0,    NATURAL, 0, 0.9, NULL,      2, 1, 0, ORDER_GRID,   ONE_LINED,                                                      NULL},
  {"elasticity:4x3x3", 0,    NATURAL, 0, 0.0, NULL,      1, 1, 0, ORDER_GRID,   ONE_LINED,                                                      NULL},
  {"tridiagonal:2200", 0,    NATURAL, 0, 0.0, "0:0",     1, 1, 0, ORDER_CHAINS, ONE_TILED,                                                      NULL},
  {"classes",          150,  NATURAL, 0, 0.0, NULL,      2, 1, 0, ORDER_ANY,    "auto/*/asap auto/*/none",                                      NULL}
};

/*
   Every pattern of every size: around the width of a warp, and around what one launch takes. Then rows that
   no group of lanes holds at once, and more right-hand sides than one launch takes.
*/
static const CaseLine main_lines[] = {
  {"diagonal random200 5pt_rcm elasticity_rcm", 0,      NATURAL, 0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"diagonal bidiagonal",                       1,      NATURAL, 0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, ALL,           NULL},
  {"* -diagonal -bidiagonal",                   1,      NATURAL, 0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         31,     NATURAL, 0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         33,     NATURAL, 0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {KINDS,                                       33,     NATURAL, 0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, ALL,           NULL},
  {"*",                                         33,     NATURAL, 0, 0.9, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         33,     NATURAL, 0, 1.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         33,     NATURAL, 2, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         33,     RCM,     0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         33,     RCM,     1, 0.9, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         33,     ND,      2, 1.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         1025,   NATURAL, 0, 0.0, NULL, 2, 4, 0,  ORDER_ANY, FEW,           NULL},
  {KINDS,                                       1025,   NATURAL, 0, 0.0, NULL, 2, 4, 0,  ORDER_ANY, PAIRS,         NULL},
  {"*",                                         1025,   NATURAL, 0, 0.9, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         1025,   NATURAL, 0, 1.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {BANDS,                                       1025,   NATURAL, 2, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"*",                                         1025,   RCM,     0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {BANDS,                                       1025,   RCM,     1, 0.9, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {BANDS,                                       1025,   ND,      2, 1.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {LARGE,                                       100003, NATURAL, 0, 0.0, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"arrow",                                     100003, NATURAL, 0, 0.0, NULL, 1, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"diagonal 7pt 27pt_random hubs",             100003, NATURAL, 0, 0.9, NULL, 1, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"bidiagonal 5pt 15pt_rcm",                   100003, NATURAL, 0, 1.0, NULL, 1, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"tridiagonal 5pt_random 7pt_random 15pt",    100003, RCM,     0, 0.0, NULL, 1, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"longrows classes",                          3001,   NATURAL, 0, 0.0, NULL, 2, 4, 0,  ORDER_ANY, PAIRS,         NULL},
  {"longrows classes",                          3001,   RCM,     0, 0.9, NULL, 2, 2, 0,  ORDER_ANY, FEW,           NULL},
  {"7pt",                                       1000,   RCM,     0, 0.0, NULL, 1, 0, 71, ORDER_ANY, "auto/*/auto", NULL},
  {"27pt",                                      40000,  RCM,     0, 0.0, NULL, 1, 0, 71, ORDER_ANY, "auto/*/auto", NULL}
};

/*
   Rows in tiles, and matrices that look as if they had some: sizes that leave tiles incomplete in every
   direction, hardly any points in one direction, patterns that are not symmetric, so that transposed solves
   go another way, blocks that do not depend on each other as a whole, a chain of which the matrix has the
   other end first, chains that are too short, more tiles than run at a time, levels wide enough to be
   factored a lane a row, a full band whose last row block has fewer rows than the others.
*/
static const CaseLine tiles[] = {
  {GRIDS,                                                    0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_TILES,  EACH_TILED,                         SIZES_TILED       },
  {GRIDS,                                                    0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_TILES,  EACH_TILED,                         "auto/ell/auto/*" },
  {"5pt:1x40 27pt:2x2x9",                                    0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_ANY,    EACH,                               SIZES             },
  {"5pt:1x40 27pt:2x2x9",                                    0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_ANY,    EACH,                               NULL              },
  {"7pt:9x6x7 15pt:7x5x9",                                   0, NATURAL, 0, 0.0, "0.1:0.1",   2, 2, 0,  ORDER_TILES,  EACH_TILED,                         SIZES_TILED       },
  {"7pt:9x6x7 15pt:7x5x9",                                   0, NATURAL, 0, 0.9, "0.1:0.1",   2, 2, 0,  ORDER_TILES,  EACH_TILED,                         NULL              },
  {"5pt:13x7",                                               0, NATURAL, 0, 0.0, "0:0.1",     2, 2, 0,  ORDER_TILES,  EACH_TILED,                         SIZES_TILED       },
  {"5pt:13x7",                                               0, NATURAL, 0, 0.9, "0:0.1",     2, 2, 0,  ORDER_TILES,  EACH_TILED,                         NULL              },
  {"27pt:6x5x4 27pt:7x1x9",                                  0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         SIZES_TILED       },
  {"27pt:6x5x4 27pt:7x1x9",                                  0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         "auto/ell/auto/*" },
  {"27pt:6x5x4",                                             0, NATURAL, 0, 0.0, "0.1:0.1",   2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         SIZES_TILED       },
  {"27pt:6x5x4",                                             0, NATURAL, 0, 0.9, "0.1:0.1",   2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         NULL              },
  {"27pt:6x5x4",                                             0, RCM,     0, 0.0, NULL,        2, 2, 0,  ORDER_ANY,    EACH,                               SIZES             },
  {"27pt:37x29x1",                                           0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         "auto/ell/auto/*" },
  {"27pt:37x29x1",                                           0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         NULL              },
  {POINTS,                                                   0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_POINTS, EACH_TILED,                         "*/ell/auto/*"    },
  {POINTS,                                                   0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_POINTS, EACH_TILED,                         NULL              },
  {POINTS " blocks:5x4x3",                                   0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_INODES, EACH,                               SIZES             },
  {POINTS " blocks:5x4x3",                                   0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_INODES, EACH,                               NULL              },
  {POINTS " blocks:5x4x3 blocks:9x11x7",                     0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_GRID,   ONE_LINED,                          NULL              },
  {POINTS " blocks:5x4x3",                                   0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_GRID,   "list/struct/auto bsr/struct/auto", NULL              },
  {"blocks:5x4x3",                                           0, NATURAL, 1, 0.0, NULL,        2, 2, 0,  ORDER_GRID,   ONE_LINED,                          NULL              },
  {FEW_UNKNOWNS " " MANY_UNKNOWNS,                           0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_ANY,    BY_INODES,                          NULL              },
  {FEW_UNKNOWNS,                                             0, RCM,     0, 0.0, NULL,        2, 2, 0,  ORDER_ANY,    BY_INODES,                          NULL              },
  {"27pt_dof8:3x3x3 star13_dof7:5x5x5 diamond25_dof5:5x5x5", 0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_GRID,   "bsr/struct/auto",                  NULL              },
  {"star13_dof2:61x59x60 star13_dof5:59x60x61",              0, NATURAL, 0, 0.0, NULL,        1, 1, 0,  ORDER_GRID,   "bsr/struct/auto",                  NULL              },
  {"elasticity:6x5x4",                                       0, NATURAL, 0, 0.0, "0.05:0.1",  2, 2, 0,  ORDER_ROWS,   EACH,                               SIZES             },
  {"elasticity:5x6x7",                                       0, ND,      0, 0.0, NULL,        2, 2, 0,  ORDER_ANY,    EACH,                               SIZES             },
  {"random:3000",                                            0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_ROWS,   EACH,                               "auto/auto/auto/*"},
  {"tridiagonal:5000",                                       0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_CHAINS, EACH_TILED,                         "auto/ell/auto/*" },
  {"tridiagonal:5000",                                       0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_CHAINS, EACH_TILED,                         NULL              },
  {"tridiagonal:5000",                                       0, RCM,     0, 0.0, NULL,        2, 2, 0,  ORDER_CHAINS, EACH_TILED,                         NULL              },
  {"tridiagonal:5000",                                       0, NATURAL, 0, 0.0, "0:0.1",     2, 2, 0,  ORDER_CHAINS, EACH_TILED,                         NULL              },
  {"tridiagonal:5000",                                       0, NATURAL, 0, 0.0, "0.1:0.1",   2, 2, 0,  ORDER_ROWS,   EACH,                               NULL              },
  {"tridiagonal:5000",                                       0, NATURAL, 0, 0.0, "2e-4:2e-4", 2, 2, 0,  ORDER_ANY,    EACH,                               NULL              },
  {"bidiagonal:5000",                                        0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_ANY,    EACH,                               NULL              },
  {"27pt:3000x2x1",                                          0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         "auto/ell/auto/*" },
  {"27pt:3000x2x1",                                          0, NATURAL, 0, 0.0, "1e-4:0.1",  2, 2, 0,  ORDER_ANY,    EACH,                               NULL              },
  {"7pt:21x13x9 5pt:70x35",                                  0, NATURAL, 1, 0.0, NULL,        2, 2, 0,  ORDER_LINES,  ONE_LINED,                          NULL              },
  {"7pt:20x13x9 5pt:70x35",                                  0, NATURAL, 2, 0.9, NULL,        2, 2, 0,  ORDER_LINES,  ONE_LINED,                          NULL              },
  {"7pt:41x37x43 15pt:41x37x43",                             0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_TILES,  EACH_TILED,                         NULL              },
  {"7pt:41x37x43 15pt:41x37x43",                             0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_TILES,  ONE_TILED,                          NULL              },
  {"7pt:41x37x43",                                           0, NATURAL, 0, 0.0, "0.1:0.1",   2, 2, 0,  ORDER_TILES,  EACH_TILED,                         NULL              },
  {"27pt:23x27x19",                                          0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_SKEWED, EACH_TILED,                         NULL              },
  {GRIDS " " STENCILS,                                       0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_ANY,    LINES,                              NULL              },
  {GRIDS " " STENCILS,                                       0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_ANY,    LINES,                              NULL              },
  {"15pt:7x5x9 27pt:6x5x4",                                  0, NATURAL, 0, 0.0, "0.1:0.2",   2, 2, 0,  ORDER_ANY,    LINES,                              NULL              },
  {"star13:180x181x179",                                     0, NATURAL, 0, 0.0, NULL,        1, 1, 0,  ORDER_LINES,  "struct/struct/auto",               NULL              },
  {"band:1001",                                              0, NATURAL, 0, 0.0, NULL,        2, 2, 0,  ORDER_BLOCKS, EACH_TILED,                         SIZES_TILED       },
  {"band:1001",                                              0, NATURAL, 0, 0.9, NULL,        2, 2, 0,  ORDER_BLOCKS, EACH_TILED,                         NULL              },
  {"7pt:9x6x7 15pt:17x15x13 tridiagonal:5000",               0, NATURAL, 0, 0.0, NULL,        1, 0, 71, ORDER_ANY,    "auto/*/auto",                      NULL              }
};

/* Numbers that are none, for tests/cuda_hang: what is solved in tiles, and every other way. */
#define WAYS "*/auto/asap auto/*/alap/4 auto/auto/none"
static const CaseLine values[] = {
  {"tridiagonal", 1000, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"7pt",         1000, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_TILES,  EACH_TILED, WAYS},
  {"27pt",        512,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"7pt_random",  1000, RCM,     1, 0.9, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"random",      1025, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"arrow",       700,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"denserow",    1025, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"random200",   400,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"tridiagonal", 3,    NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"diagonal",    1,    NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"5pt",         1024, NATURAL, 0, 0.9, NULL, 1, 1, 0, ORDER_TILES,  EACH_TILED, NULL},
  {"15pt",        729,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_TILES,  EACH_TILED, NULL},
  {"27pt",        512,  NATURAL, 0, 0.9, NULL, 1, 1, 0, ORDER_SKEWED, EACH_TILED, NULL},
  {"elasticity",  648,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_INODES, EACH,       NULL},
  {"elasticity",  648,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_POINTS, ONE_TILED,  NULL},
  {"classes",     700,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"denserow",    1100, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"tridiagonal", 2203, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_CHAINS, EACH_TILED, NULL},
  {"blocks",      500,  NATURAL, 0, 0.9, NULL, 1, 1, 0, ORDER_ANY,    WAYS,       NULL},
  {"blocks",      500,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   ONE_LINED,  NULL},
  {"elasticity",  648,  NATURAL, 0, 0.9, NULL, 1, 1, 0, ORDER_GRID,   ONE_LINED,  NULL},
  {ON_GRIDS,      0,    NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   ONE_LINED,  NULL},
  {STENCILS,      0,    NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    LINES,      NULL}
};
static const CaseLine values_small[] = {
  {"blocks:2x2x1",         0,  NATURAL, 0, 0.9, NULL, 1, 1, 0, ORDER_ANY,    "bsr/bsr/auto bsr/auto/none auto/bsr/asap", NULL},
  {"blocks:3x3x1",         0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   ONE_LINED,                                  NULL},
  {"star13_dof5:7x5x1",    0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                          NULL},
  {"5pt_dof4:16x17",       0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                          NULL},
  {"5pt_dof2:30x40",       0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                          NULL},
  {"5pt_dof8:7x8",         0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                          NULL},
  {"triangles_dof5:12x13", 0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_GRID,   "bsr/struct/auto",                          NULL},
  {"star13:6x6x7",         0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_LINES,  "struct/struct/auto",                       NULL},
  {"7pt_random",           27, RCM,     1, 0.9, NULL, 1, 1, 0, ORDER_ANY,    FEW,                                        NULL},
  {"arrow",                35, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    FEW,                                        NULL},
  {"classes",              50, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    "auto/*/alap",                              NULL},
  {"tridiagonal",          3,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    ONE,                                        NULL},
  {"diagonal",             1,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    ONE,                                        NULL},
  {"7pt:5x4x3",            0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_TILES,  ONE_TILED,                                  NULL},
  {"27pt:5x4x4",           0,  NATURAL, 0, 0.9, NULL, 1, 1, 0, ORDER_SKEWED, ONE_TILED,                                  NULL},
  {"27pt:5x4x4",           0,  NATURAL, 0, 0.9, NULL, 1, 1, 0, ORDER_ANY,    LINES,                                      NULL},
  {"triangles:7x6",        0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,    LINES,                                      NULL}
};

/* Shifts of pivots, likewise. */
static const CaseLine shifts[] = {
  {"tridiagonal", 200,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,   WAYS,              NULL         },
  {"7pt",         1000, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_TILES, EACH_TILED,        "auto/*/alap"},
  {"27pt",        343,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,   WAYS,              NULL         },
  {"7pt",         343,  RCM,     2, 0.0, NULL, 1, 1, 0, ORDER_ANY,   WAYS,              NULL         },
  {"random",      300,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,   WAYS,              NULL         },
  {ON_GRIDS,      0,    NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,   "bsr/struct/auto", NULL         },
  {"15pt:7x5x9",  0,    NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY,   LINES,             NULL         }
};
static const CaseLine shifts_small[] = {
  {"elasticity:2x1x1", 0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY, "bsr/bsr/auto",       NULL},
  {"5pt_dof4:16x17",   0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY, "bsr/struct/auto",    NULL},
  {"5pt_dof8:7x8",     0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY, "bsr/struct/auto",    NULL},
  {"7pt:4x3x2",        0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY, FEW,                  NULL},
  {"random",           24, NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY, FEW,                  NULL},
  {"15pt:4x3x3",       0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY, LINES,                NULL},
  {"star13:6x6x7",     0,  NATURAL, 0, 0.0, NULL, 1, 1, 0, ORDER_ANY, "struct/struct/auto", NULL}
};

/* For ever, with updates of the diagonal alone, and of all entries. */
static const CaseLine soak[] = {
  {"7pt",  27000, NATURAL, 0, 0.0, NULL, 2, 1, 0, ORDER_ANY, FEW, NULL},
  {"27pt", 27000, NATURAL, 0, 0.0, NULL, 2, 1, 0, ORDER_ANY, FEW, NULL}
};

/* Matrices from files, with other values and with diagonal entries where these lack some. */
static const CaseLine files[] = {
  {"", 0, NATURAL, 0, 0.0, NULL, 2, 2, 0, ORDER_ANY, PAIRS, NULL},
  {"", 0, RCM,     0, 0.9, NULL, 1, 2, 0, ORDER_ANY, FEW,   NULL},
  {"", 0, ND,      0, 0.0, NULL, 1, 2, 0, ORDER_ANY, FEW,   NULL}
};

static const struct {
  const char     *name;
  const CaseLine *line;
  size_t          lines;
} sets[] = {
  {"small",        small,        PETSC_STATIC_ARRAY_LENGTH(small)       },
  {"main",         main_lines,   PETSC_STATIC_ARRAY_LENGTH(main_lines)  },
  {"tiles",        tiles,        PETSC_STATIC_ARRAY_LENGTH(tiles)       },
  {"soak",         soak,         PETSC_STATIC_ARRAY_LENGTH(soak)        },
  {"values",       values,       PETSC_STATIC_ARRAY_LENGTH(values)      },
  {"values_small", values_small, PETSC_STATIC_ARRAY_LENGTH(values_small)},
  {"shifts",       shifts,       PETSC_STATIC_ARRAY_LENGTH(shifts)      },
  {"shifts_small", shifts_small, PETSC_STATIC_ARRAY_LENGTH(shifts_small)}
};

/* Lanes a row. Prefetching is tried with some sizes and without it with others. */
static const struct {
  PetscInt   size;
  PetscBool3 prefetch;
} lanes[] = {
  {0,  PETSC_BOOL3_UNKNOWN},
  {1,  PETSC_BOOL3_FALSE  },
  {2,  PETSC_BOOL3_TRUE   },
  {4,  PETSC_BOOL3_FALSE  },
  {8,  PETSC_BOOL3_TRUE   },
  {16, PETSC_BOOL3_FALSE  },
  {32, PETSC_BOOL3_TRUE   }
};

/* What the view says of each order: how its line begins, and what stands in it. */
static const struct {
  const char *name, *begins, *has;
} orders[] = {
  {"any",                    "",                             ""                  },
  {"rows one by one",        "",                             ""                  },
  {"tiles",                  "by level of tiles of ",        ""                  },
  {"tiles of a skewed grid", "by level of tiles of ",        " skewed grid of "  },
  {"row blocks",             "by level of row blocks of ",   ", those of a point"},
  {"row blocks of a point",  "by level of row blocks of 3 ", ", those of a point"},
  {"parts of chains",        "by level of row blocks of ",   ", parts of chains" },
  {"rows of one pattern",    "",                             ""                  },
  {"lines of a grid",        "by tiles of ",                 " lines of "        },
  {"lines of points",        "by tiles of ",                 " points, which are"}
};

const char *CaseOrderName(RowOrder order)
{
  return orders[order].name;
}

PetscBool CaseOrderIs(RowOrder order, const char *view)
{
  const char *value = CheckViewValue(view, "order");
  char        line[256];

  if (!value) return PETSC_FALSE;
  (void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(value, "\n"), value);
  /* on a device that has clusters, where levels have very few rows */
  if (order == ORDER_INODES && CheckViewSays(view, "solve", "cluster")) return PETSC_TRUE;
  if (order == ORDER_INODES && CheckViewSays(view, "solve", "struct") && CheckViewValue(view, "inodes")) order = ORDER_GRID;
  if ((order == ORDER_LINES || order == ORDER_GRID) && strstr(view, "struct is asked for, but the device")) return PETSC_TRUE;
  if (order == ORDER_INODES && !(CheckViewSays(view, "solve", "bsr") && CheckViewValue(view, "inodes"))) return PETSC_FALSE;
  if (order == ORDER_ROWS) return (PetscBool) !!strncmp(line, "by level of ", strlen("by level of "));
  return (PetscBool)(!strncmp(line, orders[order].begins, strlen(orders[order].begins)) && strstr(line, orders[order].has));
}

void CaseSettings(const CaseRow *row, const Cell *cell, SyncILUSettings *settings)
{
  SyncILUSettingsInitialize(settings);
  settings->backend     = SYNCILU_BACKEND_CUDA;
  settings->update      = cell->update;
  settings->solve       = cell->solve;
  settings->analysis    = cell->analysis;
  settings->vector_size = cell->size;
  settings->relax       = row->line->relax;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(lanes); k++) {
    if (lanes[k].size == cell->size) settings->prefetch = lanes[k].prefetch;
  }
}

PetscErrorCode CaseName(const CaseRow *row, const Cell *cell, char *name, size_t size)
{
  char lane[16] = "";

  PetscFunctionBegin;
  if (cell->size) PetscCall(PetscSNPrintf(lane, sizeof(lane), "/%" PetscInt_FMT, cell->size));
  PetscCall(
    PetscSNPrintf(name, size, "%s/%s/%s/%s%s", row->name, SyncILUUpdates[cell->update], SyncILUSolves[cell->solve], SyncILUAnalyses[cell->analysis], lane));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseSeed(const CaseRow *row, PetscRandom rand)
{
  uint32_t hash = 2166136261u; /* FNV-1a, of which the generator takes 32 bits */

  PetscFunctionBegin;
  for (const char *c = row->name; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
  PetscCall(PetscRandomSetSeed(rand, hash));
  PetscCall(PetscRandomSeed(rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a cell, unless the row has it. */
static PetscErrorCode AddCell(CaseRow *row, const Cell *cell)
{
  Cell *grown;

  PetscFunctionBegin;
  for (int k = 0; k < row->ncells; k++) {
    const Cell *c = &row->cell[k];

    if (c->update == cell->update && c->solve == cell->solve && c->analysis == cell->analysis && c->size == cell->size) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(row->ncells + 1, &grown));
  PetscCall(PetscArraycpy(grown, row->cell, row->ncells));
  PetscCall(PetscFree(row->cell));
  row->cell                = grown;
  row->cell[row->ncells++] = *cell;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values that a part of a word stands for. */
static PetscErrorCode PartValues(const char *part, const char *const names[], int count, const int *all, int *n, int *value)
{
  PetscBool star;

  PetscFunctionBegin;
  PetscCall(PetscStrcmp(part, "*", &star));
  *n = 0;
  for (int k = 0; k < count; k++) {
    PetscBool same;

    PetscCall(PetscStrcmp(part, names[all[k]], &same));
    if (star || same) value[(*n)++] = all[k];
  }
  PetscCheck(*n, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: no such strategy or analysis", part);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Auto and the strategies of the tables, and the analyses. */
typedef struct {
  int n[3], value[3][STRATEGIES_MAX + 1];
} Choices;
static const char *const *const part_names[] = {SyncILUUpdates, SyncILUSolves, SyncILUAnalyses};

static PetscErrorCode ChoicesGet(Choices *choices)
{
  Strategies all;

  PetscFunctionBegin;
  PetscCall(StrategiesGet(&all));
  choices->value[0][0] = SYNCILU_UPDATE_AUTO;
  choices->value[1][0] = SYNCILU_SOLVE_AUTO;
  for (int k = 0; k < all.nupdates; k++) choices->value[0][k + 1] = all.update[k];
  for (int k = 0; k < all.nsolves; k++) choices->value[1][k + 1] = all.solve[k];
  for (int k = 0; k <= SYNCILU_ANALYSIS_ALAP; k++) choices->value[2][k] = k;
  choices->n[0] = all.nupdates + 1;
  choices->n[1] = all.nsolves + 1;
  choices->n[2] = SYNCILU_ANALYSIS_ALAP + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell for each strategy that the row does not have yet. */
static PetscErrorCode AddRest(CaseRow *row, const Choices *choices, const char *analysis)
{
  int n, value[STRATEGIES_MAX];

  PetscFunctionBegin;
  PetscCall(PartValues(analysis, SyncILUAnalyses, choices->n[2], choices->value[2], &n, value));
  for (int part = 0; part < 2; part++) {
    for (int k = 1; k < choices->n[part]; k++) {
      Cell      cell = {SYNCILU_UPDATE_AUTO, SYNCILU_SOLVE_AUTO, (SyncILUAnalysis)value[0], 0, ORDER_ANY};
      PetscBool has  = PETSC_FALSE;

      for (int c = 0; c < row->ncells; c++) {
        if ((part ? (int)row->cell[c].solve : (int)row->cell[c].update) == choices->value[part][k]) has = PETSC_TRUE;
      }
      if (has) continue;
      if (part) cell.solve = (SyncILUSolve)choices->value[part][k];
      else cell.update = (SyncILUUpdate)choices->value[part][k];
      PetscCall(AddCell(row, &cell));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddWord(CaseRow *row, const Choices *choices, char *const part[], int parts, RowOrder order)
{
  int       n[3], value[3][STRATEGIES_MAX + 1];
  PetscBool star = PETSC_FALSE;

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(PartValues(part[k], part_names[k], choices->n[k], choices->value[k], &n[k], value[k]));
  if (parts == 4) PetscCall(PetscStrcmp(part[3], "*", &star));
  for (int a = 0; a < n[2]; a++) {
    for (int u = 0; u < n[0]; u++) {
      for (int s = 0; s < n[1]; s++) {
        Cell cell = {(SyncILUUpdate)value[0][u], (SyncILUSolve)value[1][s], (SyncILUAnalysis)value[2][a], 0, order};

        if (parts == 4 && !star) PetscCall(PetscOptionsStringToInt(part[3], &cell.size));
        for (size_t w = 0; w < (star ? PETSC_STATIC_ARRAY_LENGTH(lanes) : 1); w++) {
          if (star) cell.size = lanes[w].size;
          PetscCall(AddCell(row, &cell));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddCells(CaseRow *row, const Choices *choices, const char *words, RowOrder order)
{
  char **word;
  int    count;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(words, ' ', &count, &word));
  for (int k = 0; k < count; k++) {
    char    **part;
    int       parts;
    PetscBool rest;

    PetscCall(PetscStrToArray(word[k], '/', &parts, &part));
    PetscCall(PetscStrcmp(part[0], "rest", &rest));
    PetscCheck(rest ? parts == 2 : parts == 3 || parts == 4, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "%s: not the name of cells", word[k]);
    if (rest) PetscCall(AddRest(row, choices, part[1]));
    else PetscCall(AddWord(row, choices, part, parts, order));
    PetscCall(PetscStrToArrayDestroy(parts, part));
  }
  PetscCall(PetscStrToArrayDestroy(count, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of a line: its name, and all its cells. */
static PetscErrorCode AddRow(CaseList *list, const Choices *choices, const CaseLine *line, const char *pattern)
{
  CaseRow  *row = &list->row[list->count++];
  char      text[64];
  PetscBool natural;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(row, sizeof(*row)));
  row->line = line;
  PetscCall(PetscStrncpy(row->pattern, pattern, sizeof(row->pattern)));
  PetscCall(PetscStrncpy(row->name, pattern, sizeof(row->name)));
  if (line->patterns[0] && !strchr(pattern, ':')) {
    PetscCall(PetscSNPrintf(text, sizeof(text), ":%" PetscInt_FMT, line->n));
    PetscCall(PetscStrlcat(row->name, text, sizeof(row->name)));
  }
  PetscCall(PetscStrcmp(line->ordering, MATORDERINGNATURAL, &natural));
  if (!natural) {
    PetscCall(PetscSNPrintf(text, sizeof(text), ",%s", line->ordering));
    PetscCall(PetscStrlcat(row->name, text, sizeof(row->name)));
  }
  if (line->levels) {
    PetscCall(PetscSNPrintf(text, sizeof(text), ",levels=%" PetscInt_FMT, line->levels));
    PetscCall(PetscStrlcat(row->name, text, sizeof(row->name)));
  }
  if (line->relax > 0.0) {
    PetscCall(PetscSNPrintf(text, sizeof(text), ",relax=%.1f", (double)line->relax));
    PetscCall(PetscStrlcat(row->name, text, sizeof(row->name)));
  }
  if (line->gaps) {
    PetscCall(PetscSNPrintf(text, sizeof(text), ",gaps=%s", line->gaps));
    PetscCall(PetscStrlcat(row->name, text, sizeof(row->name)));
  }
  if (line->columns) {
    PetscCall(PetscSNPrintf(text, sizeof(text), ",columns=%d", line->columns));
    PetscCall(PetscStrlcat(row->name, text, sizeof(row->name)));
  }
  PetscCall(AddCells(row, choices, line->cells, line->order));
  if (line->more) PetscCall(AddCells(row, choices, line->more, ORDER_ANY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows of a line. */
static PetscErrorCode AddLine(CaseList *list, const Choices *choices, const CaseLine *line)
{
  char **word;
  int    count;

  PetscFunctionBegin;
  PetscCall(PetscStrToArray(line->patterns, ' ', &count, &word));
  for (int k = 0; k < count; k++) {
    if (word[k][0] == '-') continue;
    if (!strpbrk(word[k], "*?")) {
      PetscCall(AddRow(list, choices, line, word[k]));
      continue;
    }
    for (int g = 0; GeneratePatterns[g]; g++) {
      PetscBool takes = (PetscBool)!fnmatch(word[k], GeneratePatterns[g], 0);

      for (int q = 0; q < count; q++) takes = (PetscBool)(takes && (word[q][0] != '-' || fnmatch(word[q] + 1, GeneratePatterns[g], 0)));
      if (takes) PetscCall(AddRow(list, choices, line, GeneratePatterns[g]));
    }
  }
  PetscCall(PetscStrToArrayDestroy(count, word));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum {
  ROWS = 2000 /* more than all lines have */
};

PetscErrorCode CaseListCreate(const char *set, CaseList *list)
{
  Choices choices;

  PetscFunctionBegin;
  PetscCall(ChoicesGet(&choices));
  list->count = 0;
  PetscCall(PetscMalloc1(ROWS, &list->row));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sets); k++) {
    PetscBool same;

    PetscCall(PetscStrcmp(sets[k].name, set, &same));
    for (size_t l = 0; same && l < sets[k].lines; l++) PetscCall(AddLine(list, &choices, &sets[k].line[l]));
  }
  PetscCheck(list->count, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "No set of cases is called %s", set);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseListForFile(const char *name, CaseList *list)
{
  Choices choices;

  PetscFunctionBegin;
  PetscCall(ChoicesGet(&choices));
  list->count = 0;
  PetscCall(PetscMalloc1(ROWS, &list->row));
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(files); l++) PetscCall(AddRow(list, &choices, &files[l], name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseListDestroy(CaseList *list)
{
  PetscFunctionBegin;
  for (int r = 0; r < list->count; r++) PetscCall(PetscFree(list->row[r].cell));
  PetscCall(PetscFree(list->row));
  list->count = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseListSelect(CaseList *list, const char *glob, int *count)
{
  PetscFunctionBegin;
  *count = 0;
  for (int r = 0; r < list->count; r++) {
    CaseRow *row  = &list->row[r];
    int      kept = 0;

    for (int k = 0; k < row->ncells; k++) {
      char name[256];

      PetscCall(CaseName(row, &row->cell[k], name, sizeof(name)));
      if (!strncmp(name, glob, strlen(glob)) || !fnmatch(glob, name, 0)) row->cell[kept++] = row->cell[k];
    }
    row->ncells = kept;
    *count += kept;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseListAsk(CaseList *list, const char *text, int *count)
{
  Choices choices;
  char   *glob, *words = NULL;

  PetscFunctionBegin;
  PetscCall(ChoicesGet(&choices));
  PetscCall(PetscStrallocpy(text, &glob));
  PetscCall(PetscStrchr(glob, '/', &words));
  if (words) *words++ = 0;
  *count = 0;
  for (int r = 0; r < list->count; r++) {
    CaseRow *row = &list->row[r];

    row->ncells = 0;
    if (words && !fnmatch(glob, row->name, 0)) PetscCall(AddCells(row, &choices, words, ORDER_ANY));
    *count += row->ncells;
  }
  PetscCall(PetscFree(glob));
  PetscFunctionReturn(PETSC_SUCCESS);
}
