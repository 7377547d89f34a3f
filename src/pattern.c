/*
   The symbolic phase: from the pattern of a matrix, an ordering and the levels of fill to the pattern of L
   and U.
*/
#include "engine.h"

/* Frees where the entries are; the ordering stays. */
PetscErrorCode SyncILUPatternFreeRows(SyncILUPattern *p)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(p->lptr));
  PetscCall(PetscFree(p->lcol));
  PetscCall(PetscFree(p->uptr));
  PetscCall(PetscFree(p->ucol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUPatternDestroy(SyncILUPattern *p)
{
  PetscFunctionBegin;
  PetscCall(SyncILUPatternFreeRows(p));
  PetscCall(PetscFree(p->row));
  PetscCall(PetscFree(p->col));
  PetscCall(PetscFree(p->colinv));
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 SyncILUPatternBytes(const SyncILUPattern *p)
{
  const PetscInt64 n = p->n;

  if (!p->lptr) return (PetscInt64)sizeof(PetscInt) * (p->row ? 2 * n : 0);
  return (PetscInt64)sizeof(PetscInt) * (2 * (n + 1) + p->lptr[n] + p->uptr[n] + (p->row ? 3 * n : 0));
}

/* What an error calls a row. */
static const char *Row(PetscInt bs)
{
  return bs > 1 ? "Block row" : "Row";
}

/*
   Every row of the matrix must have ascending columns inside the matrix: the factorization relies on it, and
   the matrix may come from arrays of the user.
*/
PetscErrorCode SyncILUCSRCheck(const SyncILUCSR *A)
{
  const char *row = Row(A->bs);

  PetscFunctionBegin;
  for (PetscInt i = 0; i < A->n; i++) {
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; k++) {
      PetscCheck(A->j[k] >= 0 && A->j[k] < A->n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "%s %" PetscInt_FMT " has column %" PetscInt_FMT ", the matrix has %" PetscInt_FMT " columns", row, i, A->j[k], A->n);
      if (k == A->i[i]) continue;
      PetscCheck(A->j[k] != A->j[k - 1], PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "%s %" PetscInt_FMT " has column %" PetscInt_FMT " more than once", row, i,
                 A->j[k]);
      PetscCheck(A->j[k] > A->j[k - 1], PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
                 "The columns of %s %" PetscInt_FMT " are not sorted: %" PetscInt_FMT " stands before %" PetscInt_FMT, A->bs > 1 ? "block row" : "row", i,
                 A->j[k - 1], A->j[k]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Names the row without diagonal in the numbering of the matrix. */
static PetscErrorCode MissingDiagonal(const SyncILUPattern *p, PetscInt i)
{
  PetscFunctionBegin;
  PetscCheck(!p->row, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "%s %" PetscInt_FMT " of the matrix (row %" PetscInt_FMT " of the factor) has no entry in column %" PetscInt_FMT
             ", its diagonal in the factor; try -pc_factor_nonzeros_along_diagonal or -pc_factor_diagonal_fill",
             Row(p->bs), p->row[i], i, p->col[i]);
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
          "Matrix is missing the diagonal entry of %s %" PetscInt_FMT "; try -pc_factor_nonzeros_along_diagonal or -pc_factor_diagonal_fill",
          p->bs > 1 ? "block row" : "row", i);
}

/* ILU(0): the pattern is that of the (permuted) matrix. */
static PetscErrorCode ZeroLevels(const SyncILUCSR *A, PetscInt diagonal_fill, SyncILUPattern *p)
{
  const PetscInt n  = A->n;
  PetscInt       nl = 0, nu = 0, width = 0, *cols = NULL;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt r        = p->row ? p->row[i] : i;
    PetscBool      diagonal = PETSC_FALSE;

    width      = PetscMax(width, A->i[r + 1] - A->i[r]);
    p->lptr[i] = nl;
    p->uptr[i] = nu;
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt j = p->colinv ? p->colinv[A->j[k]] : A->j[k];

      if (j < i) nl++;
      else if (j > i) nu++;
      else diagonal = PETSC_TRUE;
    }
    if (!diagonal) {
      if (!diagonal_fill) PetscCall(MissingDiagonal(p, i));
      p->added++;
    }
  }
  p->lptr[n] = nl;
  p->uptr[n] = nu;
  PetscCall(PetscMalloc1(nl, &p->lcol));
  PetscCall(PetscMalloc1(nu, &p->ucol));
  if (p->row) PetscCall(PetscMalloc1(width, &cols));
  nl = nu = 0;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt  r = p->row ? p->row[i] : i, len = A->i[r + 1] - A->i[r];
    const PetscInt *j = A->j + A->i[r];

    if (p->row) {
      for (PetscInt k = 0; k < len; k++) cols[k] = p->colinv[j[k]];
      PetscCall(PetscSortInt(len, cols));
      j = cols;
    }
    for (PetscInt k = 0; k < len; k++) {
      if (j[k] < i) p->lcol[nl++] = j[k];
      else if (j[k] > i) p->ucol[nu++] = j[k];
    }
  }
  PetscCall(PetscFree(cols));
  p->same = (PetscBool)(!p->row && !p->added);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array of indices that grows. */
typedef struct {
  PetscInt *v, len, max;
} IntList;

static PetscErrorCode Reserve(IntList *l, PetscInt more, PetscInt row)
{
  PetscFunctionBegin;
  PetscCheck(l->len <= PETSC_MAX_INT - more, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The factor has more than %" PetscInt_FMT " entries by row %" PetscInt_FMT ": fewer levels of fill, or a PETSc with 64-bit indices",
             (PetscInt)PETSC_MAX_INT, row);
  if (l->len + more > l->max) {
    PetscInt *v;

    l->max = (l->len + more > PETSC_MAX_INT / 3 * 2) ? PETSC_MAX_INT : (l->len + more) / 2 * 3 + 16;
    PetscCall(PetscMalloc1(l->max, &v));
    PetscCall(PetscArraycpy(v, l->v, l->len));
    PetscCall(PetscFree(l->v));
    l->v = v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What ILU(k) works with. */
typedef struct {
  PetscInt *next; /* the row being built, a sorted linked list that starts and ends at n */
  PetscInt *lev;  /* the levels of its entries, -1 for a column that is not in it */
  PetscInt *cols; /* with an ordering: the columns of the matrix' row */
  IntList   L, U; /* the columns of the rows before it */
  IntList   ulev; /* and the levels of those of U */
} Work;

/*
   An entry that elimination with column k creates from entries (i,k) and (k,j) has level lev(i,k) + lev(k,j)
   + 1, and stays if that is at most fill.levels.
*/
static PetscErrorCode LevelRows(const SyncILUCSR *A, SyncILUFill fill, SyncILUPattern *p, Work *work)
{
  const PetscInt n    = A->n;
  PetscInt      *next = work->next, *lev = work->lev;
  IntList       *L = &work->L, *U = &work->U, *ulev = &work->ulev;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) lev[i] = -1;
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt  r = p->row ? p->row[i] : i, len = A->i[r + 1] - A->i[r];
    const PetscInt *cols = A->j + A->i[r];
    PetscInt        nl = 0, nu = 0, at = n;

    p->lptr[i] = L->len;
    p->uptr[i] = U->len;
    next[n]    = n;
    if (p->colinv) {
      for (PetscInt k = 0; k < len; k++) work->cols[k] = p->colinv[cols[k]];
      PetscCall(PetscSortInt(len, work->cols));
      cols = work->cols;
    }
    for (PetscInt k = 0; k < len; k++) {
      next[at]      = cols[k];
      next[cols[k]] = n;
      lev[cols[k]]  = 0;
      at            = cols[k];
    }
    if (lev[i] < 0 && fill.diagonal_fill) {
      for (at = n; next[at] < i;) at = next[at];
      next[i]  = next[at];
      next[at] = i;
      lev[i]   = 0;
      p->added++;
    }
    for (PetscInt k = next[n]; k < i; k = next[k]) {
      nl++;
      if (lev[k] >= fill.levels) continue;
      at = k;
      for (PetscInt q = p->uptr[k]; q < p->uptr[k + 1]; q++) {
        const PetscInt j = U->v[q], l = lev[k] + ulev->v[q] + 1;

        if (l > fill.levels) continue;
        if (lev[j] < 0) {
          while (next[at] < j) at = next[at];
          next[j]  = next[at];
          next[at] = j;
          lev[j]   = l;
          at       = j;
        } else lev[j] = PetscMin(lev[j], l);
      }
    }
    if (lev[i] < 0) PetscCall(MissingDiagonal(p, i));
    for (PetscInt j = next[i]; j < n; j = next[j]) nu++;
    PetscCall(Reserve(L, nl, i));
    PetscCall(Reserve(U, nu, i));
    PetscCall(Reserve(ulev, nu, i));
    for (PetscInt j = next[n]; j < n; j = next[j]) {
      if (j < i) L->v[L->len++] = j;
      else if (j > i) {
        U->v[U->len++]       = j;
        ulev->v[ulev->len++] = lev[j];
      }
      lev[j] = -1;
    }
    p->uptr[i + 1] = U->len;
  }
  p->lptr[n] = L->len;
  p->uptr[n] = U->len;
  PetscCall(PetscMalloc1(L->len, &p->lcol));
  PetscCall(PetscArraycpy(p->lcol, L->v, L->len));
  PetscCall(PetscMalloc1(U->len, &p->ucol));
  PetscCall(PetscArraycpy(p->ucol, U->v, U->len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Levels(const SyncILUCSR *A, SyncILUFill fill, SyncILUPattern *p)
{
  Work           work;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&work, sizeof(work)));
  PetscCall(PetscMalloc3(A->n + 1, &work.next, A->n, &work.lev, p->row ? A->n : 0, &work.cols));
  ierr = LevelRows(A, fill, p, &work);
  PetscCall(PetscFree3(work.next, work.lev, work.cols));
  PetscCall(PetscFree(work.L.v));
  PetscCall(PetscFree(work.U.v));
  PetscCall(PetscFree(work.ulev.v));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUPatternCreate - the symbolic phase

   Not Collective

   Input Parameters:
+  A    - the pattern of a square matrix, columns ascending in each row; of its blocks where it has some, and
          then the ordering is one of block rows and block columns
.  row  - row i of the factor is row row[i] of A; NULL together with col for the natural ordering
.  col  - column j of the factor is column col[j] of A
-  fill - levels of fill, and whether missing diagonal entries are added

   Output Parameter:
.  p - the pattern of L and U, empty after an error

   Errors:
   A column outside the matrix, unsorted or repeated columns, a missing diagonal entry: each names the row.
   More entries than a PetscInt counts.
*/
PetscErrorCode SyncILUPatternCreate(const SyncILUCSR *A, const PetscInt *row, const PetscInt *col, SyncILUFill fill, SyncILUPattern *p)
{
  const PetscInt n = A->n;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(p, sizeof(*p)));
  PetscCall(SyncILUCSRCheck(A));
  p->n   = n;
  p->bs  = SyncILUBlockSize(A);
  p->nnz = A->i[n];
  PetscCall(PetscMalloc1(n + 1, &p->lptr));
  PetscCall(PetscMalloc1(n + 1, &p->uptr));
  p->lptr[0] = p->uptr[0] = 0;
  if (row) {
    PetscCall(PetscMalloc1(n, &p->row));
    PetscCall(PetscMalloc1(n, &p->col));
    PetscCall(PetscMalloc1(n, &p->colinv));
    for (PetscInt i = 0; i < n; i++) {
      p->row[i]         = row[i];
      p->col[i]         = col[i];
      p->colinv[col[i]] = i;
    }
  }
  ierr = fill.levels ? Levels(A, fill, p) : ZeroLevels(A, fill.diagonal_fill, p);
  if (ierr) PetscCall(SyncILUPatternDestroy(p));
  PetscCall(ierr);
  p->nl = p->lptr[n];
  p->nu = p->uptr[n];
  PetscFunctionReturn(PETSC_SUCCESS);
}
