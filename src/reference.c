/*
   The serial reference: what every strategy of every backend is compared with. Kept plain on purpose.
*/
#include "reference.h"

/* The sums of the rows of a product of two blocks, which is dropped. */
static void AddDropped(PetscInt bs, const PetscScalar *l, const PetscScalar *u, PetscScalar *dropped)
{
  for (PetscInt j = 0; j < bs; j++) SyncILUBlockAdd(bs, l, u + j * bs, dropped);
}

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
.  dinv   - the reciprocals of U's diagonal, or inverses of its diagonal blocks
-  status - the first row whose pivot is rejected

   Notes:
   Row-wise (IKJ) elimination: Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd edition, algorithm
   10.4. What falls outside the pattern is dropped; relaxed, it is added times piv->relax to the diagonal of
   its row (I. Gustafsson, BIT 18, 1978; O. Axelsson and G. Lindskog, Numer. Math. 48, 1986).

   Of a matrix of blocks an entry is a block, and a reciprocal an inverse (section 10.5 there): the same
   factors as those of its points with all entries of these blocks in the pattern, but for pivots, which are
   chosen within a block.

   With piv->sweeps it is SyncILUReferenceSweeps(), and with piv->dilu D-ILU: updates of other entries than the
   diagonal are as if these were not in the pattern (R. Barrett et al., Templates, SIAM 1994, section 3.4.1), and
   pivots are bounded.
*/
PetscErrorCode SyncILUReferenceFactor(const SyncILUPattern *p, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscScalar *lval, PetscScalar *uval,
                                      PetscScalar *dinv, SyncILUStatus *status)
{
  const PetscInt  n = p->n, bs = p->bs, bs2 = bs * bs;
  const PetscBool rowsums = SyncILUNeedsRowSum(piv);
  PetscScalar    *w, *dropped;
  PetscInt       *mark, *swap;

  PetscFunctionBegin;
  if (piv->sweeps) {
    PetscCall(SyncILUReferenceSweeps(p, A, piv, lval, uval, dinv, status));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SyncILUStatusReset(status);
  PetscCall(PetscMalloc4((size_t)n * bs2, &w, n, &mark, bs, &dropped, bs, &swap));
  for (PetscInt j = 0; j < n; j++) mark[j] = -1;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt r  = p->row ? p->row[i] : i;
    PetscReal      rs = 0.0;
    PetscScalar    diagonal;

    PetscCall(PetscArrayzero(dropped, bs));
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      PetscCall(PetscArrayzero(SYNCILU_AT(w, p->lcol[k], bs), bs2));
      mark[p->lcol[k]] = i;
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      PetscCall(PetscArrayzero(SYNCILU_AT(w, p->ucol[k], bs), bs2));
      mark[p->ucol[k]] = i;
    }
    PetscCall(PetscArrayzero(SYNCILU_AT(w, i, bs), bs2));
    mark[i] = i;
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++)
      PetscCall(PetscArraycpy(SYNCILU_AT(w, p->colinv ? p->colinv[A->j[k]] : A->j[k], bs), SYNCILU_AT(A->a, k, bs), bs2));
    if (piv->shift != MAT_SHIFT_INBLOCKS && bs == 1) w[i] += piv->amount;
    diagonal = w[i * bs2];

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt ref = p->lcol[k];
      PetscScalar   *l   = SYNCILU_AT(lval, k, bs);

      SyncILUBlockProduct(bs, SYNCILU_AT(w, ref, bs), SYNCILU_AT(dinv, ref, bs), l);
      if (SyncILUBlockIsZero(bs, l)) continue;
      for (PetscInt q = p->uptr[ref]; q < p->uptr[ref + 1]; q++) {
        if (piv->dilu > 0.0 ? p->ucol[q] == i : mark[p->ucol[q]] == i)
          SyncILUBlockSubtractProduct(bs, l, SYNCILU_AT(uval, q, bs), SYNCILU_AT(w, p->ucol[q], bs));
        else AddDropped(bs, l, SYNCILU_AT(uval, q, bs), dropped);
      }
    }
    for (PetscInt k = 0; k < bs && piv->relax != 0.0; k++) SYNCILU_AT(w, i, bs)[k + k * bs] -= piv->relax * dropped[k];
    if (piv->dilu > 0.0) w[i] = SyncILUBoundPivot(piv, diagonal, w[i]);

    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) PetscCall(PetscArraycpy(SYNCILU_AT(uval, k, bs), SYNCILU_AT(w, p->ucol[k], bs), bs2));
    if (bs > 1) {
      PetscCall(PetscArraycpy(SYNCILU_AT(dinv, i, bs), SYNCILU_AT(w, i, bs), bs2));
      SyncILUInvertBlock(piv, bs, i, SYNCILU_AT(dinv, i, bs), swap, status);
      continue;
    }
    if (rowsums) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) rs += PetscAbsScalar(lval[k]);
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) rs += PetscAbsScalar(uval[k]);
    }
    dinv[i] = 1.0 / SyncILUJudgePivot(piv, i, w[i], rs, status);
  }
  PetscCall(PetscFree4(w, mark, dropped, swap));
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
  const PetscInt  n = p->n, bs = p->bs;
  const PetscBool t   = (PetscBool)(trans == SYNCILU_TRANS);
  const PetscInt *in  = t ? p->col : p->row;
  const PetscInt *out = t ? p->row : p->col;
  PetscScalar    *y, *sum;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)n * bs, &y, bs, &sum));
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscArraycpy(y + i * bs, b + (in ? in[i] : i) * bs, bs));
  if (t) {
    for (PetscInt i = 0; i < n; i++) {
      PetscCall(PetscArraycpy(sum, y + i * bs, bs));
      SyncILUBlockMultiply(bs, PETSC_TRUE, SYNCILU_AT(dinv, i, bs), sum, y + i * bs);
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) SyncILUBlockSubtract(bs, PETSC_TRUE, SYNCILU_AT(uval, k, bs), y + i * bs, y + p->ucol[k] * bs);
    }
    for (PetscInt i = n - 1; i >= 0; i--) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) SyncILUBlockSubtract(bs, PETSC_TRUE, SYNCILU_AT(lval, k, bs), y + i * bs, y + p->lcol[k] * bs);
    }
  } else {
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) SyncILUBlockSubtract(bs, PETSC_FALSE, SYNCILU_AT(lval, k, bs), y + p->lcol[k] * bs, y + i * bs);
    }
    for (PetscInt i = n - 1; i >= 0; i--) {
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) SyncILUBlockSubtract(bs, PETSC_FALSE, SYNCILU_AT(uval, k, bs), y + p->ucol[k] * bs, y + i * bs);
      PetscCall(PetscArraycpy(sum, y + i * bs, bs));
      SyncILUBlockMultiply(bs, PETSC_FALSE, SYNCILU_AT(dinv, i, bs), sum, y + i * bs);
    }
  }
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscArraycpy(x + (out ? out[i] : i) * bs, y + i * bs, bs));
  PetscCall(PetscFree2(y, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUReferenceFactorHalf - incomplete factorization A = U^T D U of a symmetric matrix, U with a unit diagonal

   Not Collective

   Input Parameters:
+  p   - the pattern of U and, in the place of L, of its transpose; no blocks
.  A   - the matrix, both triangles of the same values; not Hermitian
-  piv - how pivots are judged, the shift of the diagonal, the relaxation

   Output Parameters:
+  uval   - the strictly upper part of U
.  dinv   - the reciprocals of D
-  status - the first row whose pivot is rejected

   Notes:
   The elimination of SyncILUReferenceFactor() without the lower triangle (incomplete Cholesky: M. Naumov, NVIDIA
   technical report NVR-2012-003; the pivots stand apart here, and may be negative). Pivots are judged against the entries right of them, before these are divided, as
   PETSc does. What is dropped on either side of the diagonal is added to it, relaxed.
*/
PetscErrorCode SyncILUReferenceFactorHalf(const SyncILUPattern *p, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscScalar *uval, PetscScalar *dinv,
                                          SyncILUStatus *status)
{
  const PetscInt  n       = p->n;
  const PetscBool rowsums = SyncILUNeedsRowSum(piv);
  PetscScalar    *w, *d;
  PetscInt       *mark;

  PetscFunctionBegin;
  if (piv->sweeps) {
    PetscCall(SyncILUReferenceSweepsHalf(p, A, piv, uval, dinv, status));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  SyncILUStatusReset(status);
  PetscCall(PetscMalloc3(n, &w, n, &d, n, &mark));
  for (PetscInt j = 0; j < n; j++) mark[j] = -1;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt r       = p->row ? p->row[i] : i;
    PetscScalar    dropped = 0.0;
    PetscReal      rs      = 0.0;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) mark[p->lcol[k]] = i;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      w[p->ucol[k]]    = 0.0;
      mark[p->ucol[k]] = i;
    }
    w[i]    = 0.0;
    mark[i] = i;
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt j = p->colinv ? p->colinv[A->j[k]] : A->j[k];

      if (j >= i) w[j] = A->a[k];
    }
    if (piv->shift != MAT_SHIFT_INBLOCKS) w[i] += piv->amount;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt ref = p->lcol[k];
      PetscInt       at  = p->uptr[ref];
      PetscScalar    l;

      while (p->ucol[at] != i) at++;
      l = uval[at] * d[ref];
      for (PetscInt q = p->uptr[ref]; q < p->uptr[ref + 1]; q++) {
        if (mark[p->ucol[q]] != i) dropped += l * uval[q];
        else if (q >= at) w[p->ucol[q]] -= l * uval[q];
      }
    }
    if (piv->relax != 0.0) w[i] -= piv->relax * dropped;

    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1] && rowsums; k++) rs += PetscAbsScalar(w[p->ucol[k]]);
    d[i]    = SyncILUJudgePivot(piv, i, w[i], rs, status);
    dinv[i] = 1.0 / d[i];
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) uval[k] = w[p->ucol[k]] * dinv[i];
  }
  PetscCall(PetscFree3(w, d, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUReferenceSolveHalf - the two substitutions with such a factor, which is its own transpose

   Not Collective

   Input Parameters:
+  p    - the pattern
.  uval - as SyncILUReferenceFactorHalf() left it, as is the next one
.  dinv - likewise
-  b    - the right-hand side, in the order of the matrix

   Output Parameter:
.  x - the solution, in the order of the matrix; not b
*/
PetscErrorCode SyncILUReferenceSolveHalf(const SyncILUPattern *p, const PetscScalar *uval, const PetscScalar *dinv, const PetscScalar *b, PetscScalar *x)
{
  const PetscInt n = p->n;
  PetscScalar   *y;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &y));
  for (PetscInt i = 0; i < n; i++) y[i] = b[p->row ? p->row[i] : i];
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) y[p->ucol[k]] -= uval[k] * y[i];
  }
  for (PetscInt i = n - 1; i >= 0; i--) {
    y[i] *= dinv[i];
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) y[i] -= uval[k] * y[p->ucol[k]];
  }
  for (PetscInt i = 0; i < n; i++) x[p->row ? p->row[i] : i] = y[i];
  PetscCall(PetscFree(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A triangle as JacobiSolve() takes it: the strict one, its diagonal apart. */
typedef struct {
  const PetscInt    *ptr, *col;
  const PetscScalar *val, *dinv; /* dinv NULL: the diagonal is one */
  PetscBool          upper;
} StrictTriangle;

/*
   Jacobi sweeps for a triangular system T x = b, or for its transpose, by columns. T = D + N with D the
   diagonal blocks of so many successive rows, of 1 the diagonal: x_0 = D^-1 b, x_(k+1) = D^-1 (b - N x_k). old
   has room for an iterate.
*/
static void JacobiSolve(PetscInt n, const StrictTriangle *t, PetscBool trans, PetscInt sweeps, PetscInt block, const PetscScalar *b, PetscScalar *x,
                        PetscScalar *old)
{
  const PetscBool forward = (PetscBool)(t->upper == trans);

  for (PetscInt s = 0; s <= sweeps; s++) {
    for (PetscInt i = 0; i < n; i++) {
      old[i] = x[i];
      x[i]   = b[i];
    }
    for (PetscInt q = 0; q < n && trans && s; q++) {
      const PetscInt i = forward ? q : n - 1 - q;

      for (PetscInt k = t->ptr[i]; k < t->ptr[i + 1]; k++) {
        if (t->col[k] / block != i / block) x[t->col[k]] -= t->val[k] * old[i];
      }
    }
    for (PetscInt q = 0; q < n; q++) {
      const PetscInt i = forward ? q : n - 1 - q;

      for (PetscInt k = t->ptr[i]; k < t->ptr[i + 1] && !trans; k++) {
        if (t->col[k] / block == i / block) x[i] -= t->val[k] * x[t->col[k]];
        else if (s) x[i] -= t->val[k] * old[t->col[k]];
      }
      if (t->dinv) x[i] *= t->dinv[i];
      for (PetscInt k = t->ptr[i]; k < t->ptr[i + 1] && trans; k++) {
        if (t->col[k] / block == i / block) x[t->col[k]] -= t->val[k] * x[i];
      }
    }
  }
}

/*
   SyncILUReferenceSolveJacobi - Jacobi sweeps in the place of the two substitutions with a factor, or of those
   with its transpose

   Not Collective

   Input Parameters:
+  p      - the pattern of L and U, without blocks; of a half as SyncILUReferenceSolveHalf() takes it
.  lval   - as SyncILUReferenceFactor() left it, as are the next two; not looked at for a half
.  uval   - likewise
.  dinv   - likewise
.  sweeps - of each of the two
.  block  - rows of a diagonal block, from a multiple of that number on
.  trans  - the system or its transpose
-  b      - the right-hand side, in the order of the matrix

   Output Parameter:
.  x - what the sweeps come to, in the order of the matrix; not b

   Notes:
   H. Anzt, E. Chow, J. Dongarra, Iterative sparse triangular solves for preconditioning, Euro-Par 2015; with
   blocks: E. Chow, H. Anzt, J. Scott, J. Dongarra, Using Jacobi iterations and blocking for solving sparse
   triangular systems in incomplete factorization preconditioning, J. Parallel Distrib. Comput. 119, 2018.

   From a fixed number of sweeps comes a linear operator, S(T) = sum_k (-D^-1 N)^k D^-1. The blocks of T^T are
   those of T, so S(T^T) = S(T)^T: what is applied for the transposed system is the transpose of what is
   applied for the system. Where L = U^T D^-1, it is symmetric, and positive definite if the pivots are
   positive. As many sweeps as T has levels, less one, are exact.
*/
PetscErrorCode SyncILUReferenceSolveJacobi(const SyncILUPattern *p, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *dinv, PetscInt sweeps,
                                           PetscInt block, SyncILUTranspose trans, const PetscScalar *b, PetscScalar *x)
{
  const PetscInt       n   = p->n;
  const PetscBool      t   = (PetscBool)(trans == SYNCILU_TRANS);
  const PetscInt      *in  = t ? p->col : p->row;
  const PetscInt      *out = t ? p->row : p->col;
  const StrictTriangle L   = {p->lptr, p->lcol, lval, NULL, PETSC_FALSE};
  const StrictTriangle U   = {p->uptr, p->ucol, uval, p->half ? NULL : dinv, PETSC_TRUE};
  PetscScalar         *y[3];

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(n, &y[0], n, &y[1], n, &y[2]));
  for (PetscInt i = 0; i < n; i++) y[0][i] = b[in ? in[i] : i];
  if (p->half) {
    JacobiSolve(n, &U, PETSC_TRUE, sweeps, block, y[0], y[1], y[2]);
    for (PetscInt i = 0; i < n; i++) y[1][i] *= dinv[i];
    JacobiSolve(n, &U, PETSC_FALSE, sweeps, block, y[1], y[0], y[2]);
  } else {
    JacobiSolve(n, t ? &U : &L, t, sweeps, block, y[0], y[1], y[2]);
    JacobiSolve(n, t ? &L : &U, t, sweeps, block, y[1], y[0], y[2]);
  }
  for (PetscInt i = 0; i < n; i++) x[out ? out[i] : i] = y[0][i];
  PetscCall(PetscFree3(y[0], y[1], y[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
