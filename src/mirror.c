/*
   A symmetric matrix by its upper triangle: all of its rows, of which those of a matrix may have the upper half
   alone (sbaij), or another lower half, which does not count.
*/
#include "engine.h"

/*
   Both triangles of the pattern, with the upper entry that each entry's value is. Row r gets its lower part from
   the rows before it, in their order, and then its own upper part: columns ascend.
*/
static PetscErrorCode Build(SyncILUMirror *m, const SyncILUCSR *A)
{
  const PetscInt n = A->n;
  PetscInt      *at;

  PetscFunctionBegin;
  PetscCall(PetscFree3(m->i, m->j, m->map));
  PetscCall(PetscCalloc1(n + 1, &at));
  for (PetscInt r = 0; r < n; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] >= r) at[r + 1]++;
      if (A->j[k] > r) at[A->j[k] + 1]++;
    }
  }
  for (PetscInt r = 0; r < n; r++) {
    PetscCheck(at[r + 1] <= PETSC_MAX_INT - at[r], PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Both triangles have more than %" PetscInt_FMT " entries by row %" PetscInt_FMT ": use a PETSc with 64-bit indices", (PetscInt)PETSC_MAX_INT, r);
    at[r + 1] += at[r];
  }
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
static PetscErrorCode CheckSymmetric(const SyncILUMirror *m, const SyncILUCSR *A)
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

static PetscErrorCode MirrorTo(SyncILUMirror *m, const SyncILUCSR *A, SyncILUCSR *csr)
{
  PetscFunctionBegin;
  if (!SyncILUMadeFits(&m->made, A)) {
    PetscCall(SyncILUCSRCheck(A));
    PetscCall(Build(m, A));
    if (!m->half) PetscCall(CheckSymmetric(m, A));
    m->made.state++;
  }
  *csr       = *A;
  csr->state = m->made.state;
  csr->i     = m->i;
  csr->j     = m->j;
  csr->nnz   = m->i[A->n];
  if (A->a) {
    PetscScalar *a;

    PetscCall(PetscMalloc1(csr->nnz, &a));
    for (PetscInt k = 0; k < csr->nnz; k++) a[k] = A->a[m->map[k]];
    csr->a = a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetMirrored(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  SyncILUMirror *m = (SyncILUMirror *)ctx;
  SyncILUCSR     A;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  (void)device; /* it is made on the host */
  PetscCall((*m->from.get)(m->from.ctx, PETSC_FALSE, values, &A));
  ierr = MirrorTo(m, &A, csr);
  PetscCall((*m->from.restore)(m->from.ctx, &A));
  if (ierr) m->made.of.nnz = -1; /* nothing is made of a matrix that is refused, which no other one has the pattern of */
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreMirrored(void *ctx, SyncILUCSR *csr)
{
  PetscFunctionBegin;
  (void)ctx; /* the pattern is kept for the next time */
  PetscCall(PetscFree(csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUMirrorSource - the rows of the symmetric matrix that a matrix has the upper triangle of, as a source

   Not Collective

   Input Parameters:
+  m    - zeroed, or of an earlier call
.  from - the matrix, without blocks
-  half - it has its upper triangle alone

   Output Parameter:
.  source - what it gets stays as it is until it gets the rows of another matrix, or m is destroyed

   Errors (when it gets the rows):
   PETSC_ERR_ARG_WRONG with an entry that is in the pattern of one triangle alone.
*/
void SyncILUMirrorSource(SyncILUMirror *m, const SyncILUSource *from, PetscBool half, SyncILUSource *source)
{
  m->from         = *from;
  m->half         = half;
  source->get     = GetMirrored;
  source->restore = RestoreMirrored;
  source->ctx     = m;
  source->bs      = 1;
}

PetscErrorCode SyncILUMirrorDestroy(SyncILUMirror *m)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(m->i, m->j, m->map));
  PetscFunctionReturn(PETSC_SUCCESS);
}
