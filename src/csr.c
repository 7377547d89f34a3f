/*
   The rows of a sequential AIJ matrix, on the host or where PETSc has them on a device.
*/
#include "syncilu_impl.h"

static PetscErrorCode GetCSR(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  Mat          A = (Mat)ctx;
  PetscBool    done, aij;
  PetscScalar *a;
  MatInfo      info;

  PetscFunctionBegin;
  csr->a = NULL;
  PetscCall(PetscObjectGetId((PetscObject)A, &csr->id));
  PetscCall(MatGetNonzeroState(A, &csr->state));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
  if (device && aij && sizeof(PetscInt) == sizeof(int)) {
    csr->n = A->rmap->n;
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr->i, &csr->j, &a, &csr->mem));
#if defined(PETSC_HAVE_CUDA)
    /* MatSeqAIJGetCSRAndMemType() leaves the empty rows out where PETSc does on the device */
    if (PetscMemTypeCUDA(csr->mem)) {
      PetscBool cusparse;

      PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, &cusparse));
      if (cusparse) PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &csr->i, &csr->j));
    }
#endif
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    csr->nnz = (PetscInt)info.nz_used;
    if (PetscMemTypeDevice(csr->mem)) {
      if (values) csr->a = a;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  csr->mem = PETSC_MEMTYPE_HOST;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr->n, &csr->i, &csr->j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "Matrix of type %s gives no access to its rows; supported are seqaij and the types derived from it", ((PetscObject)A)->type_name);
  csr->nnz = csr->i[csr->n];
  if (values) PetscCall(MatSeqAIJGetArrayRead(A, &csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreCSR(void *ctx, SyncILUCSR *csr)
{
  Mat       A = (Mat)ctx;
  PetscBool done;

  PetscFunctionBegin;
  if (PetscMemTypeDevice(csr->mem)) PetscFunctionReturn(PETSC_SUCCESS);
  if (csr->a) PetscCall(MatSeqAIJRestoreArrayRead(A, &csr->a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &csr->n, &csr->i, &csr->j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUSourceFromMat(Mat A, SyncILUSource *source)
{
  PetscFunctionBegin;
  source->get     = GetCSR;
  source->restore = RestoreCSR;
  source->ctx     = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}
