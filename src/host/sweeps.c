/*
   Sweeps of parilu on the host: see src/sweeps.c, whose bits these are. A row of a sweep reads the sweep before
   alone, so that threads take rows in any order, and nobody waits for anybody within a sweep.
*/
#include "host.h"
#if defined(_OPENMP)
  #include <omp.h>
#endif

enum {
  ROWS = 256, /* that a thread takes at a time */
  /* how many times longer a reference row is than the row where it is searched instead of gone through */
  SEARCH = 32
};

typedef struct {
  const SyncILUPattern  *p;
  const PetscInt        *map; /* of a half: where the values of the transpose stand */
  const SyncILUCSR      *A;
  const SyncILUPivoting *piv;
  SyncILUIterate         from, to;
  PetscBool              guess, last;
} Sweep;

/* Row i of the matrix, shifted, in w; of a half from its diagonal on. */
static inline void LoadRow(const Sweep *s, PetscInt i, PetscScalar *PETSC_RESTRICT w)
{
  const SyncILUPattern *p = s->p;
  const PetscInt        r = p->row ? p->row[i] : i;

  if (p->same) {
    const PetscScalar *a = s->A->a + s->A->i[r];

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) w[p->lcol[k]] = *a++;
    w[i] = *a++;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) w[p->ucol[k]] = *a++;
  } else {
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) w[p->lcol[k]] = 0.0;
    w[i] = 0.0;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) w[p->ucol[k]] = 0.0;
    for (PetscInt k = s->A->i[r]; k < s->A->i[r + 1]; k++) w[p->colinv ? p->colinv[s->A->j[k]] : s->A->j[k]] = s->A->a[k];
  }
  if (s->piv->shift != MAT_SHIFT_INBLOCKS) w[i] += s->piv->amount;
}

/* w_j -= l u_j for those of count columns j that are among the entries from .. end - 1 of U. */
static void SubtractFound(const Sweep *s, PetscInt count, const PetscInt *col, PetscScalar l, PetscInt from, PetscInt end, PetscScalar *w)
{
  const PetscInt *ucol = s->p->ucol;

  for (PetscInt k = 0; k < count; k++) {
    PetscInt lo = from, hi = end;

    while (lo < hi) {
      const PetscInt mid = lo + (hi - lo) / 2;

      if (ucol[mid] < col[k]) lo = mid + 1;
      else hi = mid;
    }
    if (lo < end && ucol[lo] == col[k]) w[col[k]] -= l * s->from.u[lo];
  }
}

/*
   What the entries from .. end - 1 of U, times l, are for row i from its entry k of L on. What falls outside the
   pattern lands in entries of w that are set before they are read.
*/
static inline void SubtractRow(const Sweep *s, PetscInt i, PetscInt k, PetscScalar l, PetscInt from, PetscInt end, PetscScalar *PETSC_RESTRICT w)
{
  const SyncILUPattern *p    = s->p;
  const PetscInt        rest = p->half ? 0 : p->lptr[i + 1] - k, upper = p->uptr[i + 1] - p->uptr[i];

  if ((end - from) / SEARCH > rest + upper) {
    SubtractFound(s, rest, p->lcol + k, l, from, end, w);
    SubtractFound(s, 1, &i, l, from, end, w);
    SubtractFound(s, upper, p->ucol + p->uptr[i], l, from, end, w);
  } else {
    for (PetscInt q = from; q < end; q++) w[p->ucol[q]] -= l * s->from.u[q];
  }
}

static void SweepRow(const Sweep *s, PetscInt i, PetscScalar *PETSC_RESTRICT w)
{
  const SyncILUPattern *p  = s->p;
  const PetscInt        l0 = p->lptr[i], l1 = p->lptr[i + 1];

  LoadRow(s, i, w);
  for (PetscInt k = l0; k < l1 && !s->guess; k++) {
    const PetscInt    ref = p->lcol[k];
    const PetscScalar l   = SyncILUSweepProduct(s->from.l[k], s->from.dinv[ref]);

    if (l != (PetscScalar)0.0) SubtractRow(s, i, k + 1, l, p->uptr[ref], p->uptr[ref + 1], w);
  }
  for (PetscInt k = l0; k < l1; k++) s->to.l[k] = w[p->lcol[k]];
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) s->to.u[k] = w[p->ucol[k]];
  s->to.d[i]    = w[i];
  s->to.dinv[i] = s->last ? (PetscScalar)1.0 / SyncILUSweepPivot(s->piv, w[i]) : SyncILUSweepReciprocal(SyncILUSweepPivot(s->piv, w[i]));
}

/* Divides L, once all pivots are there, and judges the row. */
static void FinishRow(const Sweep *s, PetscInt i, SyncILUStatus *status)
{
  const SyncILUPattern *p       = s->p;
  const PetscBool       rowsums = SyncILUNeedsRowSum(s->piv);
  PetscReal             rs      = 0.0;

  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
    if (PetscIsInfOrNanScalar(s->to.l[k])) rs = INFINITY; /* PETSC_INFINITY is a number */
    s->to.l[k] *= s->to.dinv[p->lcol[k]];
    if (rowsums) rs += PetscAbsScalar(s->to.l[k]);
  }
  for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
    if (PetscIsInfOrNanScalar(s->to.u[k])) rs = INFINITY; /* PETSC_INFINITY is a number */
    if (rowsums) rs += PetscAbsScalar(s->to.u[k]);
  }
  (void)SyncILUJudgePivot(s->piv, i, s->to.d[i], rs, status);
}

static void SweepHalfRow(const Sweep *s, PetscInt i, PetscScalar *PETSC_RESTRICT w, SyncILUStatus *status)
{
  const SyncILUPattern *p  = s->p;
  const PetscInt        u0 = p->uptr[i], u1 = p->uptr[i + 1];

  LoadRow(s, i, w);
  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1] && !s->guess; k++) {
    const PetscInt ref = p->lcol[k], at = s->map[k];

    SubtractRow(s, i, k, s->from.u[at] * s->from.d[ref], at, p->uptr[ref + 1], w);
  }
  if (s->last) {
    PetscReal rs = 0.0;

    for (PetscInt k = u0; k < u1; k++) rs += PetscAbsScalar(w[p->ucol[k]]);
    s->to.d[i]    = SyncILUJudgePivot(s->piv, i, w[i], rs, status);
    s->to.dinv[i] = 1.0 / s->to.d[i];
  } else {
    const PetscScalar pivot = SyncILUSweepPivot(s->piv, w[i]);

    s->to.dinv[i] = SyncILUSweepReciprocal(pivot);
    s->to.d[i]    = s->to.dinv[i] == (PetscScalar)0.0 ? (PetscScalar)0.0 : pivot;
  }
  for (PetscInt k = u0; k < u1; k++) s->to.u[k] = SyncILUSweepProduct(w[p->ucol[k]], s->to.dinv[i]);
}

/* What a thread works with: a dense row, whatever is in it, and what it has found in the last sweep. */
typedef struct {
  PetscScalar  *w;
  SyncILUStatus found;
} Work;

/* All rows of one sweep. */
static void SweepRows(const Sweep *s, PetscInt threads, Work *work)
{
  (void)threads;
#if defined(_OPENMP)
  #pragma omp parallel num_threads((int)threads)
#endif
  {
    Work *own = work;

#if defined(_OPENMP)
    own += omp_get_thread_num();
  #pragma omp for schedule(dynamic, ROWS)
#endif
    for (PetscInt i = 0; i < s->p->n; i++) {
      if (s->p->half) SweepHalfRow(s, i, own->w, &own->found);
      else SweepRow(s, i, own->w);
    }
    /* the loop has ended for all threads: the pivots of all rows are there */
    if (s->last && !s->p->half) {
#if defined(_OPENMP)
  #pragma omp for schedule(dynamic, ROWS)
#endif
      for (PetscInt i = 0; i < s->p->n; i++) FinishRow(s, i, &own->found);
    }
  }
}

/*
   SyncILUHostSweeps - sweeps from one iterate to another

   Not Collective

   Input Parameters:
+  p       - the pattern, without blocks
.  map     - of a half: where in U the entries of its transpose stand
.  A       - the matrix
.  piv     - how pivots are judged, the shift of the diagonal
.  threads - on which the result does not depend
.  from    - the iterate to begin with, which stays as it is; NULL: that of the matrix' triangles
.  sweeps  - how many; 0: the iterate of the triangles
-  last    - whether they end in a factor, whose L is divided by its pivots, and these are judged

   Output Parameters:
+  to     - the last iterate; its d may be NULL where it is no half
-  status - of a factor: the first row whose pivot is rejected
*/
PetscErrorCode SyncILUHostSweeps(const SyncILUPattern *p, const PetscInt *map, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscInt threads,
                                 const SyncILUIterate *from, PetscInt sweeps, PetscBool last, const SyncILUIterate *to, SyncILUStatus *status)
{
  const PetscInt n = p->n, nl = p->half ? 0 : p->nl, first = from ? 1 : 0; /* the first one without `from` is the guess */
  SyncILUIterate iterate[2] = {*to};
  PetscScalar   *own;
  Work          *work;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(nl, &iterate[1].l, p->nu, &iterate[1].u, n, &iterate[1].dinv, n, &iterate[1].d));
  PetscCall(PetscMalloc1(to->d ? 0 : n, &own));
  if (!to->d) iterate[0].d = own;
  PetscCall(PetscMalloc1(threads, &work));
  for (PetscInt t = 0; t < threads; t++) {
    SyncILUStatusReset(&work[t].found);
    PetscCall(PetscMalloc1(n, &work[t].w));
  }
  for (PetscInt sweep = first; sweep <= sweeps; sweep++) { /* the last one ends in the arrays of `to` */
    const PetscInt at = (sweeps - sweep) % 2;
    const Sweep    s  = {.p     = p,
                         .map   = map,
                         .A     = A,
                         .piv   = piv,
                         .from  = from && sweep == first ? *from : iterate[1 - at],
                         .to    = iterate[at],
                         .guess = (PetscBool)(sweep == 0),
                         .last  = (PetscBool)(last && sweep == sweeps)};

    SweepRows(&s, threads, work);
  }
  SyncILUStatusReset(status);
  for (PetscInt t = 0; t < threads; t++) {
    SyncILUStatusMerge(&work[t].found, status);
    PetscCall(PetscFree(work[t].w));
  }
  PetscCall(PetscFree(work));
  PetscCall(PetscFree(own));
  PetscCall(PetscFree4(iterate[1].l, iterate[1].u, iterate[1].dinv, iterate[1].d));
  PetscFunctionReturn(PETSC_SUCCESS);
}
