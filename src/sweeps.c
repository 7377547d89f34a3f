/*
   The serial reference of parilu: sweeps of the fixed-point iteration (those of parilut begin with other L
   and U)

     s_ij = a_ij - sum l_ik u_kj over k < min(i,j),   u_ij = s_ij for i <= j,   l_ij = s_ij / u_jj for i > j

   over all entries (i,j) of the pattern (E. Chow, A. Patel, SIAM J. Sci. Comput. 37, 2015; H. Anzt et al., IPDPS
   2019, algorithm 1). Terms whose l_ik or u_kj is not in the pattern are dropped.

   All s_ij of a sweep are made of the L and U of the sweep before, in any order, and L is divided by the new
   pivots. That is the Crout form of the second document, where U is divided in the place of L: there all of an
   iterate is in its own row, and nothing that another row computes in the same sweep is needed. The sum is the
   same on both sides of the diagonal, so that the factor of a symmetric matrix is symmetric up to rounding.

   The first L and U are the triangles of A, the lower one divided by the diagonal, and zero where there is fill.
   An entry without terms is right from the start, and one whose terms are right after a sweep is right after the
   next: after as many sweeps as the longest chain of entries has terms, the factor is that of
   SyncILUReferenceFactor(), bit by bit, since terms are subtracted in the order of k.

   The pivots of the last sweep are judged, as those of an exact factorization. Before, a row whose pivot is zero
   or no number updates nothing in the next sweep; MAT_SHIFT_INBLOCKS shifts the tiny ones of every sweep. Where a
   number of the last sweep is infinite or none, that is a breakdown of its row.
*/
#include "reference.h"

/* Row i of the matrix, shifted, in w, where its other columns are zero; mark says that they are of row i. */
static void LoadRow(const SyncILUPattern *p, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscInt i, PetscScalar *w, PetscInt *mark)
{
  const PetscInt r = p->row ? p->row[i] : i;

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
}

/*
   SyncILUReferenceSweeps - incomplete LU factorization on a given pattern by sweeps

   Not Collective

   Input Parameters:
+  p   - the pattern of L and U, without blocks
.  A   - the matrix
-  piv - the number of sweeps, how pivots are judged, the shift of the diagonal; no relaxation

   Output Parameters:
+  lval   - the strictly lower part of L, whose diagonal is one
.  uval   - the strictly upper part of U
.  dinv   - the reciprocals of U's diagonal
-  status - the first row whose pivot is rejected, or that is not of numbers
*/
PetscErrorCode SyncILUReferenceSweeps(const SyncILUPattern *p, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscScalar *lval, PetscScalar *uval,
                                      PetscScalar *dinv, SyncILUStatus *status)
{
  const PetscInt n = p->n;
  PetscScalar   *l, *u, *w, *d;
  PetscInt      *mark;

  PetscFunctionBegin;
  SyncILUStatusReset(status);
  PetscCall(PetscMalloc5(p->nl, &l, p->nu, &u, n, &w, n, &d, n, &mark));
  for (PetscInt j = 0; j < n; j++) mark[j] = -1;
  for (PetscInt sweep = 0; sweep <= piv->sweeps; sweep++) { /* the first one is the guess */
    for (PetscInt i = 0; i < n; i++) {
      LoadRow(p, A, piv, i, w, mark);
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1] && sweep; k++) {
        if (l[k] == (PetscScalar)0.0) continue;
        for (PetscInt q = p->uptr[p->lcol[k]]; q < p->uptr[p->lcol[k] + 1]; q++) {
          if (mark[p->ucol[q]] == i) w[p->ucol[q]] -= l[k] * u[q];
        }
      }
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lval[k] = w[p->lcol[k]];
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) uval[k] = w[p->ucol[k]];
      d[i] = w[i];
    }
    if (sweep == piv->sweeps) break;
    for (PetscInt i = 0; i < n; i++) dinv[i] = SyncILUSweepReciprocal(SyncILUSweepPivot(piv, d[i]));
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) l[k] = SyncILUSweepProduct(lval[k], dinv[p->lcol[k]]);
    }
    PetscCall(PetscArraycpy(u, uval, p->nu));
  }
  for (PetscInt i = 0; i < n; i++) {
    PetscReal rs = 0.0;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      if (PetscIsInfOrNanScalar(lval[k])) rs = INFINITY; /* PETSC_INFINITY is a number */
      lval[k] *= dinv[p->lcol[k]];
      if (SyncILUNeedsRowSum(piv)) rs += PetscAbsScalar(lval[k]);
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      if (PetscIsInfOrNanScalar(uval[k])) rs = INFINITY; /* PETSC_INFINITY is a number */
      if (SyncILUNeedsRowSum(piv)) rs += PetscAbsScalar(uval[k]);
    }
    dinv[i] = 1.0 / SyncILUJudgePivot(piv, i, d[i], rs, status);
  }
  PetscCall(PetscFree5(l, u, w, d, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUReferenceSweepsHalf - incomplete factorization A = U^T D U of a symmetric matrix by sweeps, U with a unit
   diagonal

   Not Collective

   Input Parameters:
+  p   - the pattern of U and, in the place of L, of its transpose; no blocks
.  A   - the matrix, both triangles of the same values; not Hermitian
-  piv - the number of sweeps, how pivots are judged, the shift of the diagonal; no relaxation

   Output Parameters:
+  uval   - the strictly upper part of U
.  dinv   - the reciprocals of D
-  status - the first row whose pivot is rejected

   Note:
   The sweeps of SyncILUReferenceSweeps() above the diagonal, with l_ik = u_ki d_k.
*/
PetscErrorCode SyncILUReferenceSweepsHalf(const SyncILUPattern *p, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscScalar *uval, PetscScalar *dinv,
                                          SyncILUStatus *status)
{
  const PetscInt n = p->n;
  PetscScalar   *u, *w, *d, *dnew;
  PetscInt      *mark;

  PetscFunctionBegin;
  SyncILUStatusReset(status);
  PetscCall(PetscMalloc5(p->nu, &u, n, &w, n, &d, n, &dnew, n, &mark));
  for (PetscInt j = 0; j < n; j++) mark[j] = -1;
  for (PetscInt sweep = 0; sweep <= piv->sweeps; sweep++) { /* the first one is the guess */
    for (PetscInt i = 0; i < n; i++) {
      PetscReal rs = 0.0;

      LoadRow(p, A, piv, i, w, mark);
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1] && sweep; k++) {
        const PetscInt ref = p->lcol[k];
        PetscInt       at  = p->uptr[ref];
        PetscScalar    l;

        while (p->ucol[at] != i) at++;
        l = u[at] * d[ref];
        for (PetscInt q = at; q < p->uptr[ref + 1]; q++) {
          if (mark[p->ucol[q]] == i) w[p->ucol[q]] -= l * u[q];
        }
      }
      if (sweep < piv->sweeps) {
        dnew[i] = SyncILUSweepPivot(piv, w[i]);
        dinv[i] = SyncILUSweepReciprocal(dnew[i]);
        if (dinv[i] == (PetscScalar)0.0) dnew[i] = 0.0;
      } else {
        for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) rs += PetscAbsScalar(w[p->ucol[k]]);
        dinv[i] = 1.0 / SyncILUJudgePivot(piv, i, w[i], rs, status);
      }
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) uval[k] = SyncILUSweepProduct(w[p->ucol[k]], dinv[i]);
    }
    PetscCall(PetscArraycpy(u, uval, p->nu));
    PetscCall(PetscArraycpy(d, dnew, n));
  }
  PetscCall(PetscFree5(u, w, d, dnew, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}
