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

/*
   SyncILUCheckSymmetric - whether a pattern is symmetric; else an error names an entry

   Not Collective

   Input Parameter:
.  A - the pattern, columns ascending in each row

   Errors:
   PETSC_ERR_ARG_WRONG with an entry that the transposed matrix lacks.
*/
PetscErrorCode SyncILUCheckSymmetric(const SyncILUCSR *A)
{
  PetscInt *next, r, c = 0, k;
  PetscBool symmetric;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(A->n, &next));
  PetscCall(PetscArraycpy(next, A->i, A->n));
  /* rows come in their order, and so each row's columns do */
  for (r = 0; r < A->n; r++) {
    for (k = A->i[r]; k < A->i[r + 1]; k++) {
      c = A->j[k];
      if (next[c] == A->i[c + 1] || A->j[next[c]] != r) break;
      next[c]++;
    }
    if (k < A->i[r + 1]) break;
  }
  symmetric = (PetscBool)(r == A->n);
  if (!symmetric && next[c] < A->i[c + 1] && A->j[next[c]] < r) { /* row c has one that this row, which is past, had not */
    const PetscInt past = A->j[next[c]];

    r = c;
    c = past;
  }
  PetscCall(PetscFree(next));
  PetscCheck(symmetric, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "The pattern is not symmetric, as ICC wants it: row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT ", row %" PetscInt_FMT
             " has none in column %" PetscInt_FMT,
             r, c, c, r);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUMakeSymmetric(SyncILUDerived *d, const SyncILUCSR *A)
{
  PetscFunctionBegin;
  PetscCall(SyncILUCSRCheck(A));
  PetscCall(SyncILUCheckSymmetric(A));
  PetscCall(Build(d, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUMakeWhole(SyncILUDerived *d, const SyncILUCSR *A)
{
  PetscFunctionBegin;
  PetscCall(SyncILUCSRCheck(A));
  PetscCall(Build(d, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
