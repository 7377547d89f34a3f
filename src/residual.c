/*
   -pc_syncilu_residual: how far a factor is from the matrix, on its pattern. Outside of the pattern the difference
   is what was dropped.
*/
#include "reference.h"

static PetscReal SumOfSquares(const PetscScalar *a, PetscInt count)
{
  PetscReal sum = 0.0;

  for (PetscInt k = 0; k < count; k++) sum += PetscRealPart(a[k] * PetscConj(a[k]));
  return sum;
}

static void Subtract(PetscInt count, const PetscScalar *a, PetscScalar *c)
{
  for (PetscInt k = 0; k < count; k++) c[k] -= a[k];
}

/* Row i of the matrix in w, where its other columns are zero; mark says that they are of row i. */
static void LoadRow(const SyncILUPattern *p, const SyncILUCSR *A, PetscInt i, PetscScalar *w, PetscInt *mark)
{
  const PetscInt r = p->row ? p->row[i] : i, bs = p->bs, bs2 = bs * bs;

  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) mark[p->lcol[k]] = i;
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) mark[p->ucol[k]] = i;
  mark[i] = i;
  for (PetscInt b = 0; b < bs2; b++) {
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) SYNCILU_AT(w, p->lcol[k], bs)[b] = 0.0;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) SYNCILU_AT(w, p->ucol[k], bs)[b] = 0.0;
    SYNCILU_AT(w, i, bs)[b] = 0.0;
  }
  for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
    for (PetscInt b = 0; b < bs2; b++) SYNCILU_AT(w, p->colinv ? p->colinv[A->j[k]] : A->j[k], bs)[b] = SYNCILU_AT(A->a, k, bs)[b];
  }
}

/* Adds the squares of A - LU, and of A, in a row; d is the diagonal of U. */
static void AddRow(const SyncILUPattern *p, PetscInt i, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *d, const PetscInt *mark,
                   PetscScalar *w, PetscReal sum[2])
{
  const PetscInt bs = p->bs, bs2 = bs * bs;

  for (int which = 1; which >= 0; which--) { /* first of A, then of the difference */
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) sum[which] += SumOfSquares(SYNCILU_AT(w, p->lcol[k], bs), bs2);
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) sum[which] += SumOfSquares(SYNCILU_AT(w, p->ucol[k], bs), bs2);
    sum[which] += SumOfSquares(SYNCILU_AT(w, i, bs), bs2);
    if (!which) break;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt     ref = p->lcol[k];
      const PetscScalar *l   = SYNCILU_AT(lval, k, bs);

      for (PetscInt q = p->uptr[ref]; q < p->uptr[ref + 1]; q++) {
        if (mark[p->ucol[q]] == i) SyncILUBlockSubtractProduct(bs, l, SYNCILU_AT(uval, q, bs), SYNCILU_AT(w, p->ucol[q], bs));
      }
      SyncILUBlockSubtractProduct(bs, l, SYNCILU_AT(d, ref, bs), SYNCILU_AT(w, ref, bs));
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) Subtract(bs2, SYNCILU_AT(uval, k, bs), SYNCILU_AT(w, p->ucol[k], bs));
    Subtract(bs2, SYNCILU_AT(d, i, bs), SYNCILU_AT(w, i, bs));
  }
}

/* The same of A - U^T D U, with a unit diagonal of U: the entries above the diagonal count twice. */
static void AddHalfRow(const SyncILUPattern *p, PetscInt i, const PetscScalar *uval, const PetscScalar *d, const PetscInt *mark, PetscScalar *w,
                       PetscReal sum[2])
{
  for (int which = 1; which >= 0; which--) { /* first of A, then of the difference */
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) sum[which] += 2.0 * SumOfSquares(&w[p->ucol[k]], 1);
    sum[which] += SumOfSquares(&w[i], 1);
    if (!which) break;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt ref = p->lcol[k];
      PetscInt       at  = p->uptr[ref];

      while (p->ucol[at] != i) at++;
      for (PetscInt q = at; q < p->uptr[ref + 1]; q++) {
        if (mark[p->ucol[q]] == i) w[p->ucol[q]] -= uval[at] * d[ref] * uval[q];
      }
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) w[p->ucol[k]] -= d[i] * uval[k];
    w[i] -= d[i];
  }
}

/*
   SyncILUResidual - the Frobenius norm of A - LU on the pattern of L and U, over that of A

   Not Collective

   Input Parameters:
+  e - a factored engine whose pattern has its arrays
-  A - the matrix, on the host

   Output Parameter:
.  residual - zero for a matrix without entries

   Note:
   A is the matrix as it is: what a shift or relaxation adds to its diagonal counts.
*/
PetscErrorCode SyncILUResidual(SyncILUEngine e, const SyncILUCSR *A, PetscReal *residual)
{
  const SyncILUPattern *p = &e->pattern;
  const PetscInt        n = p->n, bs2 = p->bs * p->bs;
  SyncILUPivoting       any    = {MAT_SHIFT_NONE, 0.0, 0.0, 0.0, 0, 0.0};
  PetscReal             sum[2] = {0.0, 0.0};
  SyncILUStatus         status;
  const PetscScalar    *lval, *uval, *dinv;
  PetscScalar          *w, *d;
  PetscInt             *mark, *swap;

  PetscFunctionBegin;
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  PetscCall(PetscMalloc4((size_t)n * bs2, &w, (size_t)n * bs2, &d, n, &mark, p->bs, &swap));
  PetscCall(PetscArraycpy(d, dinv, (size_t)n * bs2));
  SyncILUStatusReset(&status);
  for (PetscInt i = 0; i < n; i++) {
    SyncILUInvertBlock(&any, p->bs, i, SYNCILU_AT(d, i, p->bs), swap, &status);
    mark[i] = -1;
  }
  for (PetscInt i = 0; i < n; i++) {
    LoadRow(p, A, i, w, mark);
    if (p->half) AddHalfRow(p, i, uval, d, mark, w, sum);
    else AddRow(p, i, lval, uval, d, mark, w, sum);
  }
  PetscCall(PetscFree4(w, d, mark, swap));
  *residual = sum[1] > 0.0 ? PetscSqrtReal(sum[0] / sum[1]) : 0.0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
