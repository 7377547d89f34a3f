/*
   The serial reference: what every strategy of every backend is compared with. Kept plain on purpose.
*/
#include "reference.h"

/*
   SyncILUReferenceFactor - incomplete LU factorization by rows on a given pattern

   Not Collective

   Input Parameters:
+  p   - the pattern of L and U
.  A   - the matrix
-  piv - how pivots are judged, the shift of the diagonal, the relaxation

   Output Parameters:
+  lval   - the strictly lower part of L, whose diagonal is one
.  uval   - the strictly upper part of U
.  dinv   - the reciprocals of U's diagonal
-  status - the first row whose pivot is rejected

   Notes:
   Row-wise (IKJ) elimination: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm
   10.4. What falls outside the pattern is dropped; relaxed, it is added times piv->relax to the diagonal of
   its row (I. Gustafsson, BIT 18, 1978; O. Axelsson and G. Lindskog, Numer. Math. 48, 1986).
*/
PetscErrorCode SyncILUReferenceFactor(const SyncILUPattern *p, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscScalar *lval, PetscScalar *uval,
                                      PetscScalar *dinv, SyncILUStatus *status)
{
  const PetscInt  n       = p->n;
  const PetscBool rowsums = SyncILUNeedsRowSum(piv);
  PetscScalar    *w;
  PetscInt       *mark;

  PetscFunctionBegin;
  SyncILUStatusReset(status);
  PetscCall(PetscMalloc2(n, &w, n, &mark));
  for (PetscInt j = 0; j < n; j++) mark[j] = -1;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt r       = p->row ? p->row[i] : i;
    PetscScalar    dropped = 0.0;
    PetscReal      rs      = 0.0;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      w[p->lcol[k]]    = 0.0;
      mark[p->lcol[k]] = i;
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      w[p->ucol[k]]    = 0.0;
      mark[p->ucol[k]] = i;
    }
    w[i]    = 0.0;
    mark[i] = i;
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) w[p->colinv ? p->colinv[A->j[k]] : A->j[k]] = A->a[k];
    if (piv->shift != MAT_SHIFT_INBLOCKS) w[i] += piv->amount;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt    ref = p->lcol[k];
      const PetscScalar l   = w[ref] * dinv[ref];

      w[ref] = l;
      if (l == (PetscScalar)0.0) continue;
      for (PetscInt q = p->uptr[ref]; q < p->uptr[ref + 1]; q++) {
        if (mark[p->ucol[q]] == i) w[p->ucol[q]] -= l * uval[q];
        else dropped += l * uval[q];
      }
    }
    if (piv->relax != 0.0) w[i] -= piv->relax * dropped;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lval[k] = w[p->lcol[k]];
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) uval[k] = w[p->ucol[k]];
    if (rowsums) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) rs += PetscAbsScalar(lval[k]);
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) rs += PetscAbsScalar(uval[k]);
    }
    dinv[i] = 1.0 / SyncILUJudgePivot(piv, i, w[i], rs, status);
  }
  PetscCall(PetscFree2(w, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUReferenceSolve - the two substitutions with a factor, or those with its transpose

   Not Collective

   Input Parameters:
+  p     - the pattern of L and U
.  lval  - as SyncILUReferenceFactor() left it, as are the next two
.  uval  - likewise
.  dinv  - likewise
.  trans - the system or its transpose
-  b     - the right-hand side, in the order of the matrix

   Output Parameter:
.  x - the solution, in the order of the matrix; not b
*/
PetscErrorCode SyncILUReferenceSolve(const SyncILUPattern *p, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *dinv, SyncILUTranspose trans,
                                     const PetscScalar *b, PetscScalar *x)
{
  const PetscInt  n   = p->n;
  const PetscInt *in  = trans == SYNCILU_TRANS ? p->col : p->row;
  const PetscInt *out = trans == SYNCILU_TRANS ? p->row : p->col;
  PetscScalar    *t;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &t));
  for (PetscInt i = 0; i < n; i++) t[i] = b[in ? in[i] : i];
  if (trans == SYNCILU_TRANS) {
    for (PetscInt i = 0; i < n; i++) {
      t[i] *= dinv[i];
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) t[p->ucol[k]] -= uval[k] * t[i];
    }
    for (PetscInt i = n - 1; i >= 0; i--) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) t[p->lcol[k]] -= lval[k] * t[i];
    }
  } else {
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) t[i] -= lval[k] * t[p->lcol[k]];
    }
    for (PetscInt i = n - 1; i >= 0; i--) {
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) t[i] -= uval[k] * t[p->ucol[k]];
      t[i] *= dinv[i];
    }
  }
  for (PetscInt i = 0; i < n; i++) x[out ? out[i] : i] = t[i];
  PetscCall(PetscFree(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
