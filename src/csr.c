/*
   The rows of a sequential AIJ matrix, on the host or where PETSc has them on a device, or the block rows of a
   sequential BAIJ matrix.
*/
#include "syncilu_impl.h"

static PetscErrorCode GetCSR(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  Mat          A = (Mat)ctx;
  PetscBool    done, aij;
  PetscScalar *a;
  MatInfo      info;

  PetscFunctionBegin;
  csr->a  = NULL;
  csr->bs = 1;
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

static PetscErrorCode GetBlockCSR(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  Mat       A = (Mat)ctx;
  PetscBool done;

  PetscFunctionBegin;
  (void)device; /* it is on the host */
  csr->a   = NULL;
  csr->mem = PETSC_MEMTYPE_HOST;
  PetscCall(PetscObjectGetId((PetscObject)A, &csr->id));
  PetscCall(MatGetNonzeroState(A, &csr->state));
  PetscCall(MatGetBlockSize(A, &csr->bs));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &csr->n, &csr->i, &csr->j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "Matrix of type %s gives no access to its block rows", ((PetscObject)A)->type_name);
  csr->nnz = csr->i[csr->n];
  if (values) PetscCall(MatSeqBAIJGetArray(A, (PetscScalar **)&csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreBlockCSR(void *ctx, SyncILUCSR *csr)
{
  Mat              A = (Mat)ctx;
  PetscObjectState state;
  PetscBool        done;

  PetscFunctionBegin;
  /* there is no call for reading alone: this one counts as a change, for which PCSetUp() would factor again */
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (csr->a) PetscCall(MatSeqBAIJRestoreArray(A, (PetscScalar **)&csr->a));
  PetscCall(PetscObjectStateSet((PetscObject)A, state));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &csr->n, &csr->i, &csr->j, &done));
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
  PetscBool baij;

  PetscFunctionBegin;
  PetscCall(SyncILUMatIsBAIJ(A, &baij));
  source->get     = baij ? GetBlockCSR : GetCSR;
  source->restore = baij ? RestoreBlockCSR : RestoreCSR;
  source->ctx     = A;
  source->bs      = 1;
  if (baij) PetscCall(MatGetBlockSize(A, &source->bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a sequential matrix is of type baij or of one that is derived from it. */
PetscErrorCode SyncILUMatIsBAIJ(Mat A, PetscBool *baij)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQBAIJ, baij));
  PetscFunctionReturn(PETSC_SUCCESS);
}
