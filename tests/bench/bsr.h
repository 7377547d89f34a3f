/*
   cuSPARSE's incomplete factorization and triangular solves of a matrix in blocks, BSR: bsrilu02 and bsrsv2.
*/
#ifndef SYNCILU_BENCH_BSR_H
#define SYNCILU_BENCH_BSR_H

#include <petscdevice_cuda.h> /* includes cuSPARSE's header, without the warnings of what is deprecated */

/* All zero before. Arrays are on the device. */
typedef struct {
  cusparseHandle_t      handle;
  cusparseSolvePolicy_t policy;
  int                   n, bs, nb, nnzb; /* rows, rows of a block, rows of blocks, blocks */
  cusparseMatDescr_t    matrix, triangle[2];
  bsrilu02Info_t        ilu;
  bsrsv2Info_t          solve[2]; /* of L and of U */
  int                  *i, *j;
  double               *factor; /* the values of the matrix before the factorization, which works in place */
  void                 *buffer[3];
} BSR;

/* The pattern in blocks of the pattern in CSR, and room for values. */
extern PetscErrorCode BSRCreate(BSR *, cusparseHandle_t, cusparseSolvePolicy_t, int n, int bs, const int *i, const int *j);
/* Values in CSR, of a matrix before each factorization, or of a factor. */
extern PetscErrorCode BSRConvert(BSR *, const int *i, const int *j, const double *a);
/* Symbolic phases: each once before what it is for. */
extern PetscErrorCode BSRAnalyzeFactor(BSR *);
extern PetscErrorCode BSRAnalyzeSolves(BSR *);
extern PetscErrorCode BSRFactor(BSR *);
/* Both triangular solves; y has room for what is between them. */
extern PetscErrorCode BSRSolve(BSR *, const double *b, double *y, double *x);
/* Also of one that is made in part. */
extern PetscErrorCode BSRDestroy(BSR *);

#endif
