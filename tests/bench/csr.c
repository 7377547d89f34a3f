/*
   See csr.h.
*/
#include <petscsys.h>
#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
  #include "csr.h"
  #include "compat.h"

static const cusparseOperation_t   op     = CUSPARSE_OPERATION_NON_TRANSPOSE;
static const cusparseSolvePolicy_t policy = CUSPARSE_SOLVE_POLICY_USE_LEVEL;

PetscErrorCode CSRCreate(CSR *s, cusparseHandle_t handle, cusparseSpSVAlg_t algorithm, int n, int nnz, const int *i, const int *j)
{
  int size;

  PetscFunctionBegin;
  s->handle    = handle;
  s->algorithm = algorithm;
  s->n         = n;
  s->nnz       = nnz;
  s->i         = i;
  s->j         = j;
  PetscCallCUDA(cudaMalloc((void **)&s->factor, sizeof(double) * (size_t)nnz));
  PetscCallCUDA(cudaMalloc((void **)&s->y, sizeof(double) * (size_t)n));
  PetscCallCUSPARSE(cusparseCreateMatDescr(&s->descr));
  PetscCallCUSPARSE(cusparseCreateCsrilu02Info(&s->ilu));
  PetscCallCUSPARSE(cusparseDcsrilu02_bufferSize(handle, n, nnz, s->descr, s->factor, i, j, s->ilu, &size));
  PetscCallCUDA(cudaMalloc(&s->buffer[2], (size_t)PetscMax(size, 1)));
  PetscCallCUSPARSE(cusparseDcsrilu02_analysis(handle, n, nnz, s->descr, s->factor, i, j, s->ilu, policy, s->buffer[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRCopy(CSR *s, const double *a)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseGetStream(s->handle, &stream));
  PetscCallCUDA(cudaMemcpyAsync(s->factor, a, sizeof(double) * (size_t)s->nnz, cudaMemcpyDeviceToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRFactor(CSR *s)
{
  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseDcsrilu02(s->handle, s->n, s->nnz, s->descr, s->factor, s->i, s->j, s->ilu, policy, s->buffer[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRAnalyzeSolves(CSR *s)
{
  const double one = 1.0;

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCallCUSPARSE(cusparseCreateDnVec(&s->vec[k], s->n, s->y, CUDA_R_64F)); /* the other two are given later */
  for (int k = 0; k < 2; k++) {
    cusparseFillMode_t uplo = k ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = k ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;
    size_t             size;

    PetscCallCUSPARSE(cusparseCreateCsr(&s->matrix[k], s->n, s->n, s->nnz, (void *)s->i, (void *)s->j, s->factor, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    PetscCallCUSPARSE(cusparseSpMatSetAttribute(s->matrix[k], CUSPARSE_SPMAT_FILL_MODE, &uplo, sizeof(uplo)));
    PetscCallCUSPARSE(cusparseSpMatSetAttribute(s->matrix[k], CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof(diag)));
    PetscCallCUSPARSE(cusparseSpSV_createDescr(&s->spsv[k]));
    PetscCallCUSPARSE(cusparseSpSV_bufferSize(s->handle, op, &one, s->matrix[k], s->vec[k], s->vec[k + 1], CUDA_R_64F, s->algorithm, s->spsv[k], &size));
    PetscCallCUDA(cudaMalloc(&s->buffer[k], size ? size : 1));
    PetscCallCUSPARSE(cusparseSpSV_analysis(s->handle, op, &one, s->matrix[k], s->vec[k], s->vec[k + 1], CUDA_R_64F, s->algorithm, s->spsv[k], s->buffer[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRUpdateSolves(CSR *s)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCallCUSPARSE(cusparseSpSV_updateMatrix(s->handle, s->spsv[k], s->factor, CUSPARSE_SPSV_UPDATE_GENERAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRSolve(CSR *s, const double *b, double *x)
{
  const double one = 1.0;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseDnVecSetValues(s->vec[0], (void *)b));
  PetscCallCUSPARSE(cusparseDnVecSetValues(s->vec[2], x));
  for (int k = 0; k < 2; k++)
    PetscCallCUSPARSE(cusparseSpSV_solve(s->handle, op, &one, s->matrix[k], s->vec[k], s->vec[k + 1], CUDA_R_64F, s->algorithm, s->spsv[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRDestroy(CSR *s)
{
  PetscFunctionBegin;
  if (s->ilu) (void)cusparseDestroyCsrilu02Info(s->ilu);
  if (s->descr) (void)cusparseDestroyMatDescr(s->descr);
  for (int k = 0; k < 2; k++) {
    if (s->spsv[k]) (void)cusparseSpSV_destroyDescr(s->spsv[k]);
    if (s->matrix[k]) (void)cusparseDestroySpMat(s->matrix[k]);
  }
  for (int k = 0; k < 3; k++) {
    if (s->vec[k]) (void)cusparseDestroyDnVec(s->vec[k]);
    (void)cudaFree(s->buffer[k]);
  }
  (void)cudaFree(s->factor);
  (void)cudaFree(s->y);
  (void)cudaGetLastError(); /* what failed here failed before, and was reported */
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
