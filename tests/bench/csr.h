/*
   cuSPARSE's incomplete factorization and triangular solves of a matrix in CSR, csrilu02 and SpSV, with an algorithm that PETSc does not take.
*/
#ifndef SYNCILU_BENCH_CSR_H
#define SYNCILU_BENCH_CSR_H

#include <petscdevice_cuda.h> /* includes cuSPARSE's header, without the warnings of what is deprecated */

/* All zero before. Arrays are on the device, those of the pattern the matrix'. */
typedef struct {
  cusparseHandle_t     handle;
  cusparseSpSVAlg_t    algorithm;
  int                  n, nnz;
  const int           *i, *j;
  double              *factor, *y;
  cusparseMatDescr_t   descr;
  csrilu02Info_t       ilu;
  cusparseSpMatDescr_t matrix[2]; /* L, U */
  cusparseDnVecDescr_t vec[3];    /* b, y, x */
  cusparseSpSVDescr_t  spsv[2];
  void                *buffer[3];
} CSR;

/* Also analyzes for the factorization. */
extern PetscErrorCode CSRCreate(CSR *, cusparseHandle_t, cusparseSpSVAlg_t, int n, int nnz, const int *i, const int *j);
/* The factorization works in place: the matrix is to be copied before each. */
extern PetscErrorCode CSRCopy(CSR *, const double *a);
extern PetscErrorCode CSRFactor(CSR *);
/* Once after the first factorization; after others the solves take their values. */
extern PetscErrorCode CSRAnalyzeSolves(CSR *);
extern PetscErrorCode CSRUpdateSolves(CSR *);
extern PetscErrorCode CSRSolve(CSR *, const double *b, double *x);
/* Also of one that is made in part. */
extern PetscErrorCode CSRDestroy(CSR *);

#endif
