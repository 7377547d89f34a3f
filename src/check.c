/*
   -pc_syncilu_check: each factorization and each solve is done again by the serial reference, and compared.

   A backend that computes each row with the operations of the reference, in the reference's order, must give
   its bits. Another one may round differently, and where the factorization makes numbers grow, or a triangle
   is ill-conditioned, rounding alone takes right results far away from each other. So a difference is an
   error only if the results also fail to solve the equations that they are made for: A = L U on the pattern,
   and L U x = b, with residuals that are compared with the sums of the absolute values of the terms (N.
   Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, theorems 9.3 and 9.4). An error in one
   row of the factor shows in the residual of that row alone.
*/
#include "reference.h"

/* Equal bit for bit but for the payload of a NaN, or up to an absolute tolerance. */
static PetscBool Same(PetscScalar a, PetscScalar b, PetscReal tolerance)
{
  return (PetscBool)(a == b || PetscAbsScalar(a - b) <= tolerance || (PetscIsNanScalar(a) && PetscIsNanScalar(b)));
}

/* The values of a factor: unit lower L, strictly upper U, reciprocal pivots. */
typedef struct {
  const PetscScalar *lval, *uval, *dinv;
} Values;

/* Entries first .. last - 1 of two arrays of blocks. */
static PetscBool SameBlocks(const PetscScalar *a, const PetscScalar *b, PetscInt first, PetscInt last, PetscInt bs)
{
  const size_t size = (size_t)bs * bs;

  for (size_t k = first * size; k < last * size; k++) {
    if (!Same(a[k], b[k], 0.0)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*
   Whether a row of two factors is the same, up to a share of the largest entry. Backends that know blocks or
   halves have the reference's bits.
*/
static PetscBool SameRow(const SyncILUPattern *p, PetscInt i, Values v, Values ref, PetscReal tolerance)
{
  PetscReal lmax = 0.0, umax = PetscAbsScalar(1.0 / ref.dinv[i]);
  PetscBool same;

  if (p->half) return (PetscBool)(SameBlocks(v.dinv, ref.dinv, i, i + 1, 1) && SameBlocks(v.uval, ref.uval, p->uptr[i], p->uptr[i + 1], 1));
  if (p->bs > 1)
    return (PetscBool)(SameBlocks(v.dinv, ref.dinv, i, i + 1, p->bs) && SameBlocks(v.lval, ref.lval, p->lptr[i], p->lptr[i + 1], p->bs) &&
                       SameBlocks(v.uval, ref.uval, p->uptr[i], p->uptr[i + 1], p->bs));
  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lmax = PetscMax(lmax, PetscAbsScalar(ref.lval[k]));
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) umax = PetscMax(umax, PetscAbsScalar(ref.uval[k]));
  same = Same(v.dinv[i], ref.dinv[i], tolerance * PetscAbsScalar(ref.dinv[i]));
  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) same = (PetscBool)(same && Same(v.lval[k], ref.lval[k], tolerance * lmax));
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) same = (PetscBool)(same && Same(v.uval[k], ref.uval[k], tolerance * umax));
  return same;
}

/* A sum whose terms may cancel, and the sum of their absolute values. */
typedef struct {
  PetscScalar sum;
  PetscReal   size;
} Sum;

static inline void Add(Sum *s, PetscScalar term)
{
  s->sum += term;
  s->size += PetscAbsScalar(term);
}

static inline PetscBool Vanishes(Sum s, PetscReal tolerance)
{
  return (PetscBool)(PetscAbsScalar(s.sum) <= tolerance * s.size);
}

/*
   Whether row i of L U is that of the matrix, shifted and relaxed as in the attempt. No entry of mark is i.
*/
static PetscBool SolvesRow(const SyncILUPattern *p, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscInt i, Values v, PetscReal tolerance, Sum *w,
                           PetscInt *mark)
{
  const PetscInt r    = p->row ? p->row[i] : i;
  const Sum      zero = {0.0, 0.0};
  PetscBool      good = PETSC_TRUE;

  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
    w[p->lcol[k]]    = zero;
    mark[p->lcol[k]] = i;
  }
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
    w[p->ucol[k]]    = zero;
    mark[p->ucol[k]] = i;
  }
  w[i]    = zero;
  mark[i] = i;
  for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) Add(&w[p->colinv ? p->colinv[A->j[k]] : A->j[k]], A->a[k]);
  if (piv->shift != MAT_SHIFT_INBLOCKS) Add(&w[i], piv->amount);
  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
    const PetscInt    ref = p->lcol[k];
    const PetscScalar l   = v.lval[k];

    Add(&w[ref], -l / v.dinv[ref]);
    for (PetscInt q = p->uptr[ref]; q < p->uptr[ref + 1]; q++) {
      if (mark[p->ucol[q]] == i) Add(&w[p->ucol[q]], -l * v.uval[q]);
      else if (piv->relax != 0.0) Add(&w[i], -piv->relax * l * v.uval[q]);
    }
  }
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) Add(&w[p->ucol[k]], -v.uval[k]);
  Add(&w[i], -1.0 / v.dinv[i]);
  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) good = (PetscBool)(good && Vanishes(w[p->lcol[k]], tolerance));
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) good = (PetscBool)(good && Vanishes(w[p->ucol[k]], tolerance));
  /* a pivot that was shifted on its own; how many there are was compared before */
  if (!Vanishes(w[i], tolerance) && piv->shift == MAT_SHIFT_INBLOCKS) Add(&w[i], piv->amount);
  return (PetscBool)(good && Vanishes(w[i], tolerance));
}

/*
   SyncILUCheckFactor - compares an attempt at the numeric phase with the reference

   Not Collective

   Input Parameters:
+  e   - the engine; e->status is what the attempt found
.  A   - the matrix, on the host
-  piv - how pivots were judged and shifted

   Errors:
   PETSC_ERR_PLIB with the first row that is wrong.
*/
PetscErrorCode SyncILUCheckFactor(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv)
{
  const SyncILUPattern *p  = &e->pattern;
  const size_t          nl = (size_t)p->nl * p->bs * p->bs, nu = (size_t)p->nu * p->bs * p->bs;
  SyncILUStatus         status;
  Values                v, ref;
  Sum                  *w;
  PetscInt             *mark, rows, row, rounded = 0;

  PetscFunctionBegin;
  if (!e->ref) PetscCall(PetscMalloc1(nl + nu + (size_t)p->n * p->bs * p->bs, &e->ref));
  if (p->half) PetscCall(SyncILUReferenceFactorHalf(p, A, piv, e->ref + nl, e->ref + nl + nu, &status));
  else PetscCall(SyncILUReferenceFactor(p, A, piv, e->ref, e->ref + nl, e->ref + nl + nu, &status));
  PetscCheck(status.row == e->status.row && status.shifted == e->status.shifted, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "-pc_syncilu_check: first rejected pivot in row %" PetscInt_FMT ", %" PetscInt_FMT " shifted; the serial reference has row %" PetscInt_FMT
             ", %" PetscInt_FMT " shifted",
             e->status.row, e->status.shifted, status.row, status.shifted);
  ref.lval = e->ref;
  ref.uval = e->ref + nl;
  ref.dinv = e->ref + nl + nu;
  PetscCall((*e->ops->values)(e, &v.lval, &v.uval, &v.dinv));
  /* what follows a rejected pivot is of no use, and infinite or not a number */
  rows = status.row < 0 ? p->n : status.row / p->bs;
  PetscCall(PetscMalloc2(p->n, &w, p->n, &mark));
  for (PetscInt i = 0; i < p->n; i++) mark[i] = -1;
  for (row = 0; row < rows; row++) {
    if (SameRow(p, row, v, ref, e->ops->tolerance)) continue;
    /* sweeps do not make A of L and U, and a few of them do not let rounding grow */
    if (e->ops->tolerance == 0.0 || piv->sweeps || !SolvesRow(p, A, piv, row, v, e->ops->tolerance, w, mark)) break;
    rounded++;
  }
  PetscCall(PetscFree2(w, mark));
  PetscCheck(row == rows, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "-pc_syncilu_check: %s %" PetscInt_FMT " of the factor is the first to differ from the serial reference", p->bs > 1 ? "block row" : "row", row);
  PetscCall(PetscInfo(NULL,
                      "-pc_syncilu_check: %" PetscInt_FMT " %srows of the factor equal the serial reference, %" PetscInt_FMT
                      " of them up to rounding that has grown\n",
                      rows, p->bs > 1 ? "block " : "", rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a solution solves its system with the backend's own factor. */
static PetscErrorCode Solves(SyncILUEngine e, SyncILUTranspose trans, const PetscScalar *b, const PetscScalar *x, PetscBool *solves)
{
  const SyncILUPattern *p    = &e->pattern;
  const PetscInt       *in   = trans == SYNCILU_TRANS ? p->col : p->row;
  const PetscInt       *out  = trans == SYNCILU_TRANS ? p->row : p->col;
  const Sum             zero = {0.0, 0.0};
  Values                v;
  Sum                  *y, *r;

  PetscFunctionBegin;
  PetscCall((*e->ops->values)(e, &v.lval, &v.uval, &v.dinv));
  PetscCall(PetscMalloc2(p->n, &y, p->n, &r));
  for (PetscInt i = 0; i < p->n; i++) {
    y[i] = r[i] = zero;
    Add(&r[i], b[in ? in[i] : i]);
  }
  /*
     y: the product of the second triangle and x. r: b less the product of the first triangle and y. The sizes
     of the terms of y go into those of r.
  */
#define ADD_PRODUCT(to, value, from) \
  do { \
    (to).sum -= (value) * (from).sum; \
    (to).size += PetscAbsScalar(value) * (from).size; \
  } while (0)
  if (trans == SYNCILU_TRANS) {
    for (PetscInt i = 0; i < p->n; i++) {
      const PetscScalar xi = x[out ? out[i] : i];

      Add(&y[i], xi);
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) Add(&y[p->lcol[k]], v.lval[k] * xi);
    }
    for (PetscInt i = 0; i < p->n; i++) {
      ADD_PRODUCT(r[i], 1.0 / v.dinv[i], y[i]);
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) ADD_PRODUCT(r[p->ucol[k]], v.uval[k], y[i]);
    }
  } else {
    for (PetscInt i = 0; i < p->n; i++) {
      Add(&y[i], x[out ? out[i] : i] / v.dinv[i]);
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) Add(&y[i], v.uval[k] * x[out ? out[p->ucol[k]] : p->ucol[k]]);
    }
    for (PetscInt i = 0; i < p->n; i++) {
      ADD_PRODUCT(r[i], 1.0, y[i]);
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) ADD_PRODUCT(r[i], v.lval[k], y[p->lcol[k]]);
    }
  }
#undef ADD_PRODUCT
  *solves = PETSC_TRUE;
  for (PetscInt i = 0; i < p->n; i++) *solves = (PetscBool)(*solves && Vanishes(r[i], e->ops->tolerance));
  PetscCall(PetscFree2(y, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether Jacobi sweeps come to what they do with the backend's own factor. The sums of the absolute values of
   all terms, with which the differences are compared, are what the sweeps come to with the absolute values of
   b and D and the negative ones of the entries beside it.
*/
static PetscErrorCode Sweeps(SyncILUEngine e, SyncILUTranspose trans, const PetscScalar *b, const PetscScalar *x, PetscBool *solves)
{
  const SyncILUSettings *s  = &e->settings;
  const SyncILUPattern  *p  = &e->pattern;
  const size_t           nl = p->nl, nu = p->nu, n = p->n;
  Values                 v;
  PetscScalar           *y, *size, *absolute;

  PetscFunctionBegin;
  PetscCall((*e->ops->values)(e, &v.lval, &v.uval, &v.dinv));
  PetscCall(PetscMalloc3(n, &y, n, &size, nl + nu + 2 * n, &absolute));
  for (size_t k = 0; k < nl; k++) absolute[k] = -PetscAbsScalar(v.lval[k]);
  for (size_t k = 0; k < nu; k++) absolute[nl + k] = -PetscAbsScalar(v.uval[k]);
  for (size_t k = 0; k < n; k++) absolute[nl + nu + k] = PetscAbsScalar(v.dinv[k]);
  for (size_t k = 0; k < n; k++) absolute[nl + nu + n + k] = PetscAbsScalar(b[k]);
  PetscCall(SyncILUReferenceSolveJacobi(p, v.lval, v.uval, v.dinv, s->solve_sweeps, s->solve_block_size, trans, b, y));
  PetscCall(
    SyncILUReferenceSolveJacobi(p, absolute, absolute + nl, absolute + nl + nu, s->solve_sweeps, s->solve_block_size, trans, absolute + nl + nu + n, size));
  *solves = PETSC_TRUE;
  for (size_t i = 0; i < n; i++) *solves = (PetscBool)(*solves && Same(x[i], y[i], e->ops->tolerance * PetscRealPart(size[i])));
  PetscCall(PetscFree3(y, size, absolute));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUCheckSolve - compares a solution with the reference's

   Not Collective

   Input Parameters:
+  e     - the engine, with a factor that was checked
.  trans - the system or its transpose
.  b     - the right-hand side, on the host
-  x     - the solution

   Errors:
   PETSC_ERR_PLIB with the first row that differs, if the solution is wrong.
*/
PetscErrorCode SyncILUCheckSolve(SyncILUEngine e, SyncILUTranspose trans, const PetscScalar *b, const PetscScalar *x)
{
  const SyncILUPattern *p  = &e->pattern;
  const PetscInt        n  = p->n * p->bs;
  const size_t          nl = (size_t)p->nl * p->bs * p->bs, nu = (size_t)p->nu * p->bs * p->bs;
  PetscReal             max = 0.0;
  PetscScalar          *y;
  PetscInt              row;
  const PetscBool       jacobi = (PetscBool)(e->settings.solve == SYNCILU_SOLVE_JACOBI);
  PetscBool             solves = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &y));
  if (jacobi)
    PetscCall(SyncILUReferenceSolveJacobi(p, e->ref, e->ref + nl, e->ref + nl + nu, e->settings.solve_sweeps, e->settings.solve_block_size, trans, b, y));
  else if (p->half) PetscCall(SyncILUReferenceSolveHalf(p, e->ref + nl, e->ref + nl + nu, b, y));
  else PetscCall(SyncILUReferenceSolve(p, e->ref, e->ref + nl, e->ref + nl + nu, trans, b, y));
  for (PetscInt i = 0; i < n; i++) max = PetscMax(max, PetscAbsScalar(y[i]));
  for (row = 0; row < n && Same(x[row], y[row], e->ops->tolerance * max); row++) { }
  PetscCall(PetscFree(y));
  if (row < n && e->ops->tolerance > 0) PetscCall(jacobi ? Sweeps(e, trans, b, x, &solves) : Solves(e, trans, b, x, &solves));
  PetscCheck(row == n || solves, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "-pc_syncilu_check: row %" PetscInt_FMT " of the solution is the first to differ from the serial reference", row);
  PetscFunctionReturn(PETSC_SUCCESS);
}
