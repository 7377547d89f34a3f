/*
   Test matrices by name, sequential, with fresh random values on well-conditioned patterns.
*/
#ifndef SYNCILU_GENERATE_H
#define SYNCILU_GENERATE_H

#include <petscmat.h>

/* Rows about n (grids take the next smaller whole grid, at least one point). Names: diagonal, bidiagonal, tridiagonal, arrow, arrowup, denserow, densecolumn, random, random200, powerlaw, 5pt, 7pt, 27pt, and those of the last three with _random or _rcm behind them: the same in another order. */
extern PetscErrorCode GenerateMatrix(const char *, PetscInt, PetscRandom, Mat *);
/* Gives an assembled matrix new random values of the same kind: off-diagonal ones in the disc of radius 1, rows (and columns) diagonally dominant. */
extern PetscErrorCode GenerateValues(Mat, PetscRandom);
/* The NULL-terminated list of all names. */
extern const char *const GeneratePatterns[];

#endif
