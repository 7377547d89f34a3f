/*
   The serial reference, the definition of correct: the textbook IKJ elimination, two substitutions, and the
   rule by which pivots are judged. A backend that judges pivots on the host uses the same rule.
*/
#ifndef SYNCILU_REFERENCE_H
#define SYNCILU_REFERENCE_H

#include "engine.h"

/* Nothing found yet. */
static inline void SyncILUStatusReset(SyncILUStatus *status)
{
  status->row     = -1;
  status->pivot   = 0.0;
  status->shift   = PETSC_FALSE;
  status->shifted = 0;
}

/* Together with what another thread has found in other rows. */
static inline void SyncILUStatusMerge(const SyncILUStatus *other, SyncILUStatus *status)
{
  const PetscInt shifted = status->shifted + other->shifted;

  if (other->row >= 0 && (status->row < 0 || other->row < status->row)) *status = *other;
  status->shifted = shifted;
}

/* The pivot of D-ILU, which keeps away from zero: see SYNCILU_DILU_LEAST. Without a diagonal entry there is nothing to keep it. */
static inline PetscScalar SyncILUBoundPivot(const SyncILUPivoting *piv, PetscScalar diagonal, PetscScalar pivot)
{
  return diagonal != (PetscScalar)0.0 && PetscRealPart(pivot / diagonal) < piv->dilu ? piv->dilu * diagonal : pivot;
}

/*
   Judges the pivot of a row, given the sum rs of the absolute values of the row's other entries of L and U,
   and notes the first row that is rejected. The bounds are PETSc's: relative to rs with the shifts that act
   on the whole diagonal, absolute otherwise. Unlike there, a pivot that is not finite is a breakdown whatever
   the shift.
*/
static inline PetscScalar SyncILUJudgePivot(const SyncILUPivoting *piv, PetscInt row, PetscScalar pivot, PetscReal rs, SyncILUStatus *status)
{
  PetscBool bad, shift = PETSC_FALSE;

  switch (piv->shift) {
  case MAT_SHIFT_NONZERO:
    bad = shift = (PetscBool)(PetscAbsScalar(pivot) <= piv->zeropivot * rs);
    break;
  case MAT_SHIFT_POSITIVE_DEFINITE:
    bad = shift = (PetscBool)(PetscRealPart(pivot) <= piv->zeropivot * rs);
    break;
  case MAT_SHIFT_INBLOCKS:
    bad = PETSC_FALSE;
    if (PetscAbsScalar(pivot) <= piv->zeropivot) {
      pivot += piv->amount;
      status->shifted++;
      bad = (PetscBool)(pivot == (PetscScalar)0.0);
    }
    break;
  default:
    bad = (PetscBool)(PetscAbsScalar(pivot) <= piv->zeropivot);
  }
  if (PetscIsInfOrNanScalar(pivot) || PetscIsInfOrNanReal(rs)) {
    bad   = PETSC_TRUE;
    shift = PETSC_FALSE;
  }
  if (bad && (status->row < 0 || row < status->row)) {
    status->row   = row;
    status->pivot = PetscAbsScalar(pivot);
    status->shift = shift;
  }
  return pivot;
}

/* Where block k of an array of blocks begins. */
#define SYNCILU_AT(a, k, bs) ((a) + (size_t)(k) * (size_t)((bs) * (bs)))

/*
   Before a loop over the rows or columns of a block: it becomes straight code where their number is known, and
   what it adds up stays in registers.
*/
#if defined(__GNUC__) && !defined(__clang__)
  #define SYNCILU_UNROLL _Pragma("GCC unroll 8")
#else
  #define SYNCILU_UNROLL
#endif

/*
   Products of blocks of bs rows, which stand by columns. Entry by entry their terms come in the order of k, so
   that every backend that uses them has the same bits.
*/
static inline void SyncILUBlockSubtractProduct(PetscInt bs, const PetscScalar *PETSC_RESTRICT a, const PetscScalar *PETSC_RESTRICT b,
                                               PetscScalar *PETSC_RESTRICT c)
{
  for (PetscInt j = 0; j < bs; j++) {
    SYNCILU_UNROLL
    for (PetscInt k = 0; k < bs; k++) {
      SYNCILU_UNROLL
      for (PetscInt i = 0; i < bs; i++) c[i + j * bs] -= a[i + k * bs] * b[k + j * bs];
    }
  }
}

static inline void SyncILUBlockProduct(PetscInt bs, const PetscScalar *PETSC_RESTRICT a, const PetscScalar *PETSC_RESTRICT b, PetscScalar *PETSC_RESTRICT c)
{
  for (PetscInt j = 0; j < bs; j++) {
    SYNCILU_UNROLL
    for (PetscInt i = 0; i < bs; i++) c[i + j * bs] = a[i] * b[j * bs];
    SYNCILU_UNROLL
    for (PetscInt k = 1; k < bs; k++) {
      SYNCILU_UNROLL
      for (PetscInt i = 0; i < bs; i++) c[i + j * bs] += a[i + k * bs] * b[k + j * bs];
    }
  }
}

/* y += a x. */
static inline void SyncILUBlockAdd(PetscInt bs, const PetscScalar *PETSC_RESTRICT a, const PetscScalar *PETSC_RESTRICT x, PetscScalar *PETSC_RESTRICT y)
{
  SYNCILU_UNROLL
  for (PetscInt k = 0; k < bs; k++) {
    SYNCILU_UNROLL
    for (PetscInt i = 0; i < bs; i++) y[i] += a[i + k * bs] * x[k];
  }
}

/*
   y -= a x, and y = a x; with the transpose of a where that is asked for. Each product is added up before it is
   subtracted, which the next block waits for.
*/
static inline void SyncILUBlockSubtract(PetscInt bs, PetscBool trans, const PetscScalar *PETSC_RESTRICT a, const PetscScalar *PETSC_RESTRICT x,
                                        PetscScalar *PETSC_RESTRICT y)
{
  SYNCILU_UNROLL
  for (PetscInt i = 0; i < bs; i++) {
    PetscScalar t = a[trans ? i * bs : i] * x[0];

    SYNCILU_UNROLL
    for (PetscInt k = 1; k < bs; k++) t += a[trans ? k + i * bs : i + k * bs] * x[k];
    y[i] -= t;
  }
}

static inline void SyncILUBlockMultiply(PetscInt bs, PetscBool trans, const PetscScalar *PETSC_RESTRICT a, const PetscScalar *PETSC_RESTRICT x,
                                        PetscScalar *PETSC_RESTRICT y)
{
  SYNCILU_UNROLL
  for (PetscInt i = 0; i < bs; i++) y[i] = a[trans ? i * bs : i] * x[0];
  SYNCILU_UNROLL
  for (PetscInt k = 1; k < bs; k++) {
    SYNCILU_UNROLL
    for (PetscInt i = 0; i < bs; i++) y[i] += a[trans ? k + i * bs : i + k * bs] * x[k];
  }
}

static inline PetscBool SyncILUBlockIsZero(PetscInt bs, const PetscScalar *a)
{
  for (PetscInt k = 0; k < bs * bs; k++) {
    if (a[k] != (PetscScalar)0.0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*
   Replaces the diagonal block of a block row by its inverse, and judges its pivots: Gauss-Jordan elimination
   with the largest entry of each column as the pivot, as PETSc's kernels for blocks have it. A pivot of exactly
   zero is rejected, or, with a shift, replaced by piv->amount times the mean absolute value of the diagonal,
   about as those do. One that is not finite is a breakdown. swap has room for bs indices.
*/
static inline void SyncILUInvertBlock(const SyncILUPivoting *piv, PetscInt bs, PetscInt row, PetscScalar *a, PetscInt *swap, SyncILUStatus *status)
{
  PetscReal size = 1e-12;

  for (PetscInt k = 0; k < bs; k++) size += PetscAbsScalar(a[k + k * bs]);
  for (PetscInt k = 0; k < bs; k++) {
    PetscScalar pivot, inverse;
    PetscInt    l = k;

    for (PetscInt i = k + 1; i < bs; i++) {
      if (PetscAbsScalar(a[i + k * bs]) > PetscAbsScalar(a[l + k * bs])) l = i;
    }
    swap[k] = l;
    pivot   = a[l + k * bs];
    if (pivot == (PetscScalar)0.0 && piv->amount != 0.0) {
      pivot = piv->amount * size / (PetscReal)bs;
      status->shifted++;
    }
    if ((pivot == (PetscScalar)0.0 || PetscIsInfOrNanScalar(pivot)) && (status->row < 0 || row * bs + k < status->row)) {
      status->row   = row * bs + k;
      status->pivot = PetscAbsScalar(pivot);
      status->shift = PETSC_FALSE;
    }
    inverse       = 1.0 / pivot;
    a[l + k * bs] = a[k + k * bs];
    a[k + k * bs] = 1.0;
    for (PetscInt j = 0; j < bs; j++) {
      PetscScalar t = a[k + j * bs];

      if (j != k && l != k) {
        t             = a[l + j * bs];
        a[l + j * bs] = a[k + j * bs];
      }
      a[k + j * bs] = t * inverse;
    }
    for (PetscInt i = 0; i < bs; i++) {
      const PetscScalar t = a[i + k * bs];

      if (i == k) continue;
      a[i + k * bs] = 0.0;
      for (PetscInt j = 0; j < bs; j++) a[i + j * bs] -= t * a[k + j * bs];
    }
  }
  for (PetscInt k = bs - 1; k >= 0; k--) {
    for (PetscInt i = 0; i < bs && swap[k] != k; i++) {
      const PetscScalar t = a[i + k * bs];

      a[i + k * bs]       = a[i + swap[k] * bs];
      a[i + swap[k] * bs] = t;
    }
  }
}

/* A pivot is judged against the row's other entries only by the shifts that act on the whole diagonal. */
static inline PetscBool SyncILUNeedsRowSum(const SyncILUPivoting *piv)
{
  return (PetscBool)(piv->shift == MAT_SHIFT_NONZERO || piv->shift == MAT_SHIFT_POSITIVE_DEFINITE);
}

/*
   What sweeps (sweeps.c) make of a pivot: before the last one none is judged, and one that is zero or no number
   has the reciprocal zero, with which anything has the product zero.
*/
static inline PetscScalar SyncILUSweepPivot(const SyncILUPivoting *piv, PetscScalar pivot)
{
  return piv->shift == MAT_SHIFT_INBLOCKS && PetscAbsScalar(pivot) <= piv->zeropivot ? pivot + piv->amount : pivot;
}

static inline PetscScalar SyncILUSweepReciprocal(PetscScalar pivot)
{
  return pivot == (PetscScalar)0.0 || PetscIsInfOrNanScalar(pivot) ? (PetscScalar)0.0 : (PetscScalar)1.0 / pivot;
}

static inline PetscScalar SyncILUSweepProduct(PetscScalar value, PetscScalar reciprocal)
{
  return reciprocal == (PetscScalar)0.0 ? (PetscScalar)0.0 : value * reciprocal;
}

/* Values are laid out as by a backend's operation "values", those of blocks as in SyncILUCSR. */
PETSC_INTERN PetscErrorCode SyncILUReferenceFactor(const SyncILUPattern *, const SyncILUCSR *, const SyncILUPivoting *, PetscScalar *, PetscScalar *,
                                                   PetscScalar *, SyncILUStatus *);
/* Of a half: U with a unit diagonal, and no L. */
PETSC_INTERN PetscErrorCode SyncILUReferenceFactorHalf(const SyncILUPattern *, const SyncILUCSR *, const SyncILUPivoting *, PetscScalar *, PetscScalar *,
                                                       SyncILUStatus *);
/* What the two do where there are sweeps. */
PETSC_INTERN PetscErrorCode SyncILUReferenceSweeps(const SyncILUPattern *, const SyncILUCSR *, const SyncILUPivoting *, PetscScalar *, PetscScalar *,
                                                   PetscScalar *, SyncILUStatus *);
PETSC_INTERN PetscErrorCode SyncILUReferenceSweepsHalf(const SyncILUPattern *, const SyncILUCSR *, const SyncILUPivoting *, PetscScalar *, PetscScalar *,
                                                       SyncILUStatus *);
PETSC_INTERN PetscErrorCode SyncILUReferenceSolveHalf(const SyncILUPattern *, const PetscScalar *, const PetscScalar *, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode SyncILUReferenceSolveJacobi(const SyncILUPattern *, const PetscScalar *, const PetscScalar *, const PetscScalar *, PetscInt,
                                                        PetscInt, SyncILUTranspose, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode SyncILUReferenceSolve(const SyncILUPattern *, const PetscScalar *, const PetscScalar *, const PetscScalar *, SyncILUTranspose,
                                                  const PetscScalar *, PetscScalar *);

#endif
