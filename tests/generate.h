/*
   Test matrices by name, sequential, with fresh random values on well-conditioned patterns.
*/
#ifndef SYNCILU_GENERATE_H
#define SYNCILU_GENERATE_H

#include <petscmat.h>

/*
   Names: diagonal, bidiagonal, tridiagonal, arrow, arrowup, denserow, densecolumn, random (8 entries a row), random200, powerlaw;
   on grids 5pt, 7pt, 27pt, 15pt (linear finite elements on tetrahedra), elasticity (three unknowns a point, 81 entries a row).
   With _random or _rcm behind it, the same in another order; then behind a colon the size if not n: rows, or on grids the points in each direction, as in 15pt_rcm:90x90x90.
   Rows are otherwise about n: grids take the next smaller whole grid of equal sides, at least one point.
*/
extern PetscErrorCode GenerateMatrix(const char *, PetscInt, PetscRandom, Mat *);
/* Gives an assembled matrix new random values of the same kind: off-diagonal ones in the disc of radius 1, rows (and columns) diagonally dominant. */
extern PetscErrorCode GenerateValues(Mat, PetscRandom);
/* The NULL-terminated list of all names. */
extern const char *const GeneratePatterns[];

#endif
