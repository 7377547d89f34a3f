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

/* A pivot is judged against the row's other entries only by the shifts that act on the whole diagonal. */
static inline PetscBool SyncILUNeedsRowSum(const SyncILUPivoting *piv)
{
  return (PetscBool)(piv->shift == MAT_SHIFT_NONZERO || piv->shift == MAT_SHIFT_POSITIVE_DEFINITE);
}

/* Values are laid out as by a backend's operation "values". */
PETSC_INTERN PetscErrorCode SyncILUReferenceFactor(const SyncILUPattern *, const SyncILUCSR *, const SyncILUPivoting *, PetscScalar *, PetscScalar *,
                                                   PetscScalar *, SyncILUStatus *);
PETSC_INTERN PetscErrorCode SyncILUReferenceSolve(const SyncILUPattern *, const PetscScalar *, const PetscScalar *, const PetscScalar *, SyncILUTranspose,
                                                  const PetscScalar *, PetscScalar *);

#endif
