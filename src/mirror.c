/*
   A symmetric matrix by its upper triangle: all of its rows, of which those of a matrix may have the upper half
   alone (sbaij), or another lower half, which does not count.
*/
#include "engine.h"

/*
   Both triangles of the pattern, with the upper entry that each entry's value is. Row r gets its lower part from
   the rows before it, in their order, and then its own upper part: columns ascend.
*/
static PetscErrorCode Build(SyncILUDerived *m, const SyncILUCSR *A)
{
  const PetscInt n = A->n;
  PetscInt      *at, row;

  PetscFunctionBegin;
  PetscCall(SyncILUCSRCheck(A));
  PetscCall(PetscCalloc1(n + 1, &at));
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] >= r) at[r + 1]++;
      if (A->j[k] > r) at[A->j[k] + 1]++;
    }
  }
  for (row = 0; row < n && at[row + 1] <= PETSC_MAX_INT - at[row]; row++) at[row + 1] += at[row];
  if (row < n) PetscCall(PetscFree(at));
  PetscCheck(row == n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Both triangles have more than %" PetscInt_FMT " entries by row %" PetscInt_FMT ": use a PETSc with 64-bit indices", (PetscInt)PETSC_MAX_INT, row);
  PetscCall(PetscMalloc3(n + 1, &m->i, at[n], &m->j, at[n], &m->map));
  PetscCall(PetscArraycpy(m->i, at, n + 1));
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt c = A->j[k];

      if (c < r) continue;
      m->map[at[r]] = k;
      m->j[at[r]++] = c;
      if (c == r) continue;
      m->map[at[c]] = k;
      m->j[at[c]++] = r;
    }
  }
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a matrix with both triangles has the pattern that its upper one implies; else an error names an entry. */
static PetscErrorCode CheckSymmetric(const SyncILUDerived *m, const SyncILUCSR *A)
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->n; r++) {
    PetscInt p = m->i[r], q = A->i[r];

    while (p < m->i[r + 1] && q < A->i[r + 1] && m->j[p] == A->j[q]) {
      p++;
      q++;
    }
    if (p < m->i[r + 1] || q < A->i[r + 1]) {
      const PetscInt  mine = p < m->i[r + 1] ? m->j[p] : PETSC_MAX_INT, has = q < A->i[r + 1] ? A->j[q] : PETSC_MAX_INT;
      const PetscInt  c    = PetscMin(mine, has);
      const PetscBool here = (PetscBool)(has == c);

      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
              "The pattern is not symmetric, as ICC wants it: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT ", row %" PetscInt_FMT
              " has none in column %" PetscInt_FMT,
              here ? r : c, here ? c : r, here ? c : r, here ? r : c);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUMakeSymmetric(SyncILUDerived *d, const SyncILUCSR *A)
{
  PetscFunctionBegin;
  PetscCall(Build(d, A));
  PetscCall(CheckSymmetric(d, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUMakeWhole(SyncILUDerived *d, const SyncILUCSR *A)
{
  PetscFunctionBegin;
  PetscCall(Build(d, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
