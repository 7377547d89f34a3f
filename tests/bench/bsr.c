/*
   See bsr.h.
*/
#include <petscsys.h>
#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
  #include "bsr.h"
  #include "compat.h"

static const cusparseDirection_t rows = CUSPARSE_DIRECTION_ROW; /* of the entries of a block */

static PetscErrorCode Describe(cusparseMatDescr_t *d, cusparseFillMode_t fill, cusparseDiagType_t diagonal)
{
  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseCreateMatDescr(d));
  PetscCallCUSPARSE(cusparseSetMatFillMode(*d, fill));
  PetscCallCUSPARSE(cusparseSetMatDiagType(*d, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSRCreate(BSR *s, cusparseHandle_t handle, cusparseSolvePolicy_t policy, int n, int bs, const int *i, const int *j)
{
  PetscFunctionBegin;
  PetscCheck(n % bs == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d rows in blocks of %d", n, bs);
  s->handle = handle;
  s->policy = policy;
  s->n      = n;
  s->bs     = bs;
  s->nb     = n / bs;
  PetscCallCUSPARSE(cusparseCreateMatDescr(&s->matrix));
  PetscCall(Describe(&s->triangle[0], CUSPARSE_FILL_MODE_LOWER, CUSPARSE_DIAG_TYPE_UNIT));
  PetscCall(Describe(&s->triangle[1], CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT));
  PetscCallCUDA(cudaMalloc((void **)&s->i, sizeof(int) * ((size_t)s->nb + 1)));
  PetscCallCUSPARSE(cusparseXcsr2bsrNnz(handle, rows, n, n, s->matrix, i, j, bs, s->matrix, s->i, &s->nnzb));
  PetscCallCUDA(cudaMalloc((void **)&s->j, sizeof(int) * (size_t)s->nnzb));
  PetscCallCUDA(cudaMalloc((void **)&s->factor, sizeof(double) * (size_t)s->nnzb * bs * bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSRConvert(BSR *s, const int *i, const int *j, const double *a)
{
  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseDcsr2bsr(s->handle, rows, s->n, s->n, s->matrix, a, i, j, s->bs, s->matrix, s->factor, s->i, s->j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSRAnalyzeFactor(BSR *s)
{
  int size;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseCreateBsrilu02Info(&s->ilu));
  PetscCallCUSPARSE(cusparseDbsrilu02_bufferSize(s->handle, rows, s->nb, s->nnzb, s->matrix, s->factor, s->i, s->j, s->bs, s->ilu, &size));
  PetscCheck(size >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "The size of bsrilu02's buffer is %d", size);
  PetscCallCUDA(cudaMalloc(&s->buffer[2], (size_t)PetscMax(size, 1)));
  PetscCallCUSPARSE(cusparseDbsrilu02_analysis(s->handle, rows, s->nb, s->nnzb, s->matrix, s->factor, s->i, s->j, s->bs, s->ilu, s->policy, s->buffer[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSRAnalyzeSolves(BSR *s)
{
  const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    int size;

    PetscCallCUSPARSE(cusparseCreateBsrsv2Info(&s->solve[k]));
    PetscCallCUSPARSE(cusparseDbsrsv2_bufferSize(s->handle, rows, op, s->nb, s->nnzb, s->triangle[k], s->factor, s->i, s->j, s->bs, s->solve[k], &size));
    PetscCheck(size >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "The size of bsrsv2's buffer is %d", size);
    PetscCallCUDA(cudaMalloc(&s->buffer[k], (size_t)PetscMax(size, 1)));
    PetscCallCUSPARSE(
      cusparseDbsrsv2_analysis(s->handle, rows, op, s->nb, s->nnzb, s->triangle[k], s->factor, s->i, s->j, s->bs, s->solve[k], s->policy, s->buffer[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSRFactor(BSR *s)
{
  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseDbsrilu02(s->handle, rows, s->nb, s->nnzb, s->matrix, s->factor, s->i, s->j, s->bs, s->ilu, s->policy, s->buffer[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSRSolve(BSR *s, const double *b, double *y, double *x)
{
  const double              one = 1.0, *from[2] = {b, y};
  double *const             to[2] = {y, x};
  const cusparseOperation_t op    = CUSPARSE_OPERATION_NON_TRANSPOSE;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++)
    PetscCallCUSPARSE(cusparseDbsrsv2_solve(s->handle, rows, op, s->nb, s->nnzb, &one, s->triangle[k], s->factor, s->i, s->j, s->bs, s->solve[k], from[k],
                                            to[k], s->policy, s->buffer[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BSRDestroy(BSR *s)
{
  PetscFunctionBegin;
  if (s->ilu) (void)cusparseDestroyBsrilu02Info(s->ilu);
  if (s->matrix) (void)cusparseDestroyMatDescr(s->matrix);
  for (int k = 0; k < 2; k++) {
    if (s->solve[k]) (void)cusparseDestroyBsrsv2Info(s->solve[k]);
    if (s->triangle[k]) (void)cusparseDestroyMatDescr(s->triangle[k]);
  }
  for (int k = 0; k < 3; k++) (void)cudaFree(s->buffer[k]);
  (void)cudaFree(s->i);
  (void)cudaFree(s->j);
  (void)cudaFree(s->factor);
  (void)cudaGetLastError(); /* what failed here failed before, and was reported */
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
