/*
   The rows of a sequential AIJ matrix, on the host or where PETSc has them on a device, or the block rows of a
   sequential BAIJ or SBAIJ matrix, of the latter the upper triangle.
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

/* PETSc has no call for reading the values alone: the second of these counts as a change. */
static PetscErrorCode GetBlockArray(Mat A, PetscScalar **a)
{
  PetscBool half;

  PetscFunctionBegin;
  PetscCall(SyncILUMatIsSBAIJ(A, &half));
  if (half) PetscCall(MatSeqSBAIJGetArray(A, a));
  else PetscCall(MatSeqBAIJGetArray(A, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreBlockArray(Mat A, PetscScalar **a)
{
  PetscObjectState state;
  PetscBool        half;

  PetscFunctionBegin;
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall(SyncILUMatIsSBAIJ(A, &half));
  if (half) PetscCall(MatSeqSBAIJRestoreArray(A, a));
  else PetscCall(MatSeqBAIJRestoreArray(A, a));
  PetscCall(PetscObjectStateSet((PetscObject)A, state)); /* PCSetUp() would factor again */
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
  /* of its values too: MatSeqBAIJSetPreallocationCSR() changes the pattern without telling its state */
  PetscCall(PetscObjectStateGet((PetscObject)A, &csr->state));
  PetscCall(MatGetBlockSize(A, &csr->bs));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_TRUE, &csr->n, &csr->i, &csr->j, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "Matrix of type %s gives no access to its block rows", ((PetscObject)A)->type_name);
  csr->nnz = csr->i[csr->n];
  if (values) PetscCall(GetBlockArray(A, (PetscScalar **)&csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreBlockCSR(void *ctx, SyncILUCSR *csr)
{
  Mat       A = (Mat)ctx;
  PetscBool done;

  PetscFunctionBegin;
  if (csr->a) PetscCall(RestoreBlockArray(A, (PetscScalar **)&csr->a));
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
  PetscBool baij, sbaij;

  PetscFunctionBegin;
  PetscCall(SyncILUMatIsBAIJ(A, &baij));
  PetscCall(SyncILUMatIsSBAIJ(A, &sbaij));
  source->get     = baij || sbaij ? GetBlockCSR : GetCSR;
  source->restore = baij || sbaij ? RestoreBlockCSR : RestoreCSR;
  source->ctx     = A;
  source->bs      = 1;
  if (baij || sbaij) PetscCall(MatGetBlockSize(A, &source->bs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a sequential matrix is of type baij, or of type sbaij, or of one that is derived from it. */
PetscErrorCode SyncILUMatIsBAIJ(Mat A, PetscBool *baij)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQBAIJ, baij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUMatIsSBAIJ(Mat A, PetscBool *sbaij)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQSBAIJ, sbaij));
  PetscFunctionReturn(PETSC_SUCCESS);
}
