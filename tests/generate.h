/*
   Test matrices by name, sequential, with fresh random values on well-conditioned patterns.
*/
#ifndef SYNCILU_GENERATE_H
#define SYNCILU_GENERATE_H

#include <petscmat.h>
#include "stencil.h"

/*
   Names without a grid: diagonal, bidiagonal, tridiagonal, arrow, arrowup, denserow, densecolumn, random (8
   entries a row), random200, powerlaw, band (21 entries a row), longrows (one row of a hundred has up to 1501
   entries, the others 9), tridiagonal2 (two more entries in one row of L), hubs (three diagonals, 40 apart,
   and every 32nd row has 30 more entries on each side), classes (beside the diagonal 0, 1, 2, ... 64, 65, 200
   entries on each side, around the powers of two, so that levels have rows of all lengths), quadtree (finite
   volumes on squares that become smaller towards a circle), lshape (four levels have 96 rows of 100, and
   behind them come many levels of 16, as of linear elements on a refined L). On grids: 5pt, 7pt, 27pt, 25pt
   (four neighbors on each side in each direction), 15pt (linear finite elements on tetrahedra), triangles
   (likewise, on squares that are cut along one of their diagonals each), elasticity (three unknowns a point,
   81 entries a row), blocks (five unknowns a point, 35 entries a row); and, not in the list of names, pairs
   (two, 14 entries), triples (three in two directions, 15 entries), 9pt (all neighbors in two directions), star13
   (two neighbors on each side in each direction), diamond13 (those of 7pt and what a level of fill adds) and
   diamond25 (up to two steps away). Behind an underscore: on grids dof and a number, the unknowns a point, as in
   7pt_dof4:64x64x64, all of which two neighbors share, and which random leaves together; random or rcm,
   the same in another order; border, with one more row and column that are full; on grids morton, the points
   along a space-filling curve, or periodic, in the first direction. Behind a colon the size if not n: so many
   rows, or on grids the points in each direction, as in 15pt_rcm:90x90x90. Grids and quadtrees take the
   largest that have no more rows, with equal sides and at least one point.
*/
extern PetscErrorCode GenerateMatrix(const char *, PetscInt, PetscRandom, Mat *);
/*
   What a matrix of that name stands for: a "grid", a "mesh" (numbered by a mesher or by RCM), or something
   "irregular".
*/
extern PetscErrorCode GenerateClass(const char *, const char **);
/* The unknowns a point of a grid of that name; 1 if it has none. */
extern PetscErrorCode GenerateUnknowns(const char *, PetscInt *);
/*
   The grid of a name of which each row can be made by itself, in natural order; else its count is 0. Its rows
   have the columns that GenerateMatrix() makes, and other values.
*/
extern PetscErrorCode GenerateStencil(const char *, PetscInt, StencilGrid *);
/*
   Gives an assembled matrix new random values of the same kind: those beside the diagonal are in the disc of
   radius 1, rows and columns are diagonally dominant.
*/
extern PetscErrorCode GenerateValues(Mat, PetscRandom);
/*
   Replaces a matrix by the sum of it and its transpose, which is as dominant, and positive definite if the
   numbers are real.
*/
extern PetscErrorCode GenerateSum(Mat);
/*
   A matrix of type seqbaij on the pattern of the matrix of that name and size: each entry is a full block of bs
   rows, in the mean of the entry's size, and rows and columns are diagonally dominant.
*/
extern PetscErrorCode GenerateBlocks(const char *, PetscInt n, PetscInt bs, PetscRandom, Mat *);
/*
   A matrix whose L has levels of so many rows: a row depends on one of the level before its own, and maybe on
   earlier ones.
*/
extern PetscErrorCode GenerateLevels(const int rows[], int levels, PetscBool symmetric, PetscRandom, Mat *);
/* The NULL-terminated list of all names. */
extern const char *const GeneratePatterns[];

#endif
