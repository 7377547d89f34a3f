/*
   The host backend: each row is computed by one thread, with the operations of the reference in the
   reference's order. So results do not depend on the number of threads or on the order of the rows. How rows
   come to threads is in tickets.c.

   A row is a block row where the matrix has blocks. What computes rows is compiled for each size of a block up
   to 8, without blocks for 1, and for any other.
*/
#include "jacobi.h"
#include <stdlib.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

enum {
  PREFETCH        = 256,                      /* entries of the factor that a solve looks ahead, */
  PREFETCH_BLOCKS = 1024,                     /* numbers, where it has blocks */
  LINE            = 64 / sizeof(PetscScalar), /* numbers of a cache line */
  NEAR            = 12,                       /* blocks that a solve looks ahead in its solution */
  RHS_BLOCK       = 8,                        /* right-hand sides that go through the factor together */
  /*
     How many times longer a reference row is than the row where it is searched for the row's columns instead of
     gone through: a binary search takes about as long as that many entries.
  */
  SEARCH = 32,
  FIXED  = 8 /* the largest block that code is compiled for */
};

/*
   FOR_EACH_CALL: compiled anew wherever it is called, with the block size and what else is constant there.
   SELDOM_CALLED: never so, since it would take registers from the loops around it.
*/
#if defined(__GNUC__)
  #define FOR_EACH_CALL static inline __attribute__((always_inline))
  #define SELDOM_CALLED static __attribute__((noinline))
#else
  #define FOR_EACH_CALL static inline
  #define SELDOM_CALLED static
#endif

/*
   Functions for each size of a block, X(name, size), and the first for all others. Each is a function of its own,
   since one that had them all would run out of registers.
*/
#define BLOCK_SIZES(X, name, any) \
  X(name##Any, any) \
  X(name##1, 1) \
  X(name##2, 2) \
  X(name##3, 3) \
  X(name##4, 4) \
  X(name##5, 5) \
  X(name##6, 6) \
  X(name##7, 7) \
  X(name##8, 8)
#define BLOCK_SIZES_TABLE(name) \
  { \
    name##Any, name##1, name##2, name##3, name##4, name##5, name##6, name##7, name##8 \
  }
#define BLOCK_SIZES_INDEX(bs) ((bs) <= FIXED ? (bs) : 0)

typedef struct {
  PetscScalar    *lval, *uval, *dinv; /* of a half lval, transposed, alone where several threads have factored */
  PetscScalar    *d;                  /* pivots, of a half alone */
  SyncILUTriangle L, U, LT, UT;       /* the last two are set up by the first transposed solve on several threads, UT of a half with the plan */
  PetscScalar    *work;               /* right-hand sides in the order of the factorization, once a solve needs them */
  PetscInt        works;
  PetscScalar    *sweeps; /* vectors of solve jacobi, for so many right-hand sides */
  PetscInt        swept;
  PetscScalar    *split; /* two vectors for the operator of Eisenstat's trick, and the diagonal of the matrix, once somebody wants it */
  PetscScalar    *sums;  /* a block of numbers for each of so many threads, where blocks are larger than FIXED */
  PetscInt        threads;
  PetscInt        levels[2], width[2]; /* of L and U, -1 until wanted */
  SyncILUPattern  start;               /* of the symbolic phase, without ordering, once another pattern was searched for */
  SyncILUIterate  found;               /* on the pattern that was found, for the next factorization; NULL: none */
} Host;

static PetscInt Threads(const SyncILUSettings *s)
{
#if defined(_OPENMP)
  if (s->threads > 0) return s->threads;
  {
    const char *env = getenv("OMP_NUM_THREADS");
    const long  n   = env ? strtol(env, NULL, 10) : 1;

    return n > 0 && n <= 4096 ? (PetscInt)n : 1;
  }
#else
  (void)s;
  return 1;
#endif
}

static SyncILUAnalysis Order(const SyncILUSettings *s)
{
  return s->analysis == SYNCILU_ANALYSIS_AUTO ? SYNCILU_ANALYSIS_NONE : s->analysis;
}

static PetscErrorCode PreparePair(SyncILUEngine e, SyncILUTriangle *first, SyncILUTriangle *second)
{
  PetscFunctionBegin;
  PetscCall(SyncILUTrianglePrepare(first, e->pattern.n, Order(&e->settings), Threads(&e->settings)));
  PetscCall(SyncILUTrianglePrepare(second, e->pattern.n, Order(&e->settings), Threads(&e->settings)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One attempt at the factorization, as the threads see it. */
typedef struct {
  const SyncILUPattern  *p;
  const SyncILUCSR      *A;
  const SyncILUPivoting *piv;
  Host                  *h;
} FactorJob;

/*
   w_j -= l u_j for those of count columns j that are among the columns ucol[u0 .. u1 - 1] of a row of U. Not by
   PetscFindInt(), which writes PETSc's stack of calls, which all threads share.
*/
SELDOM_CALLED void SubtractFound(PetscInt count, const PetscInt *col, const PetscScalar *l, PetscInt u0, PetscInt u1, const PetscInt *ucol,
                                 const PetscScalar *uval, PetscScalar *w, const PetscInt bs)
{
  for (PetscInt k = 0; k < count; k++) {
    PetscInt lo = u0, hi = u1;

    while (lo < hi) {
      const PetscInt mid = lo + (hi - lo) / 2;

      if (ucol[mid] < col[k]) lo = mid + 1;
      else hi = mid;
    }
    if (lo < u1 && ucol[lo] == col[k]) SyncILUBlockSubtractProduct(bs, l, SYNCILU_AT(uval, lo, bs), SYNCILU_AT(w, col[k], bs));
  }
}

FOR_EACH_CALL void Copy(PetscScalar *to, const PetscScalar *from, const PetscInt bs)
{
  for (PetscInt k = 0; k < bs * bs; k++) to[k] = from[k];
}

FOR_EACH_CALL void Zero(PetscScalar *to, const PetscInt bs)
{
  for (PetscInt k = 0; k < bs * bs; k++) to[k] = 0.0;
}

/* What a thread works with: a dense row, and for blocks the swaps of an inverse and what is dropped of a row. */
typedef struct {
  PetscScalar *w, *dropped;
  PetscInt    *mark, *swap; /* mark: with relaxation */
} Work;

/*
   The rows at positions first .. last - 1 of an order, whose dependences are finished. The dense row has one
   entry a column, any content at first; its marks none above the row.
*/
FOR_EACH_CALL void FactorRows(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, PetscScalar *PETSC_RESTRICT w,
                              PetscInt *PETSC_RESTRICT mark, const Work *work, SyncILUStatus *status, const PetscBool relax, const PetscInt bs)
{
  const SyncILUPattern *p    = job->p;
  const PetscInt       *lptr = p->lptr, *lcol = p->lcol, *uptr = p->uptr, *ucol = p->ucol;
  const PetscBool       rowsums = (PetscBool)(bs == 1 && SyncILUNeedsRowSum(job->piv));
  Host                 *h       = job->h;
  PetscScalar          *lval = h->lval, *uval = h->uval, *dinv = h->dinv;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt     i = order ? order[q] : q, r = p->row ? p->row[i] : i;
    const PetscInt     l0 = lptr[i], l1 = lptr[i + 1], u0 = uptr[i], u1 = uptr[i + 1];
    const PetscScalar *a = SYNCILU_AT(job->A->a, job->A->i[r], bs);
    PetscScalar        one[1], *dropped = bs == 1 ? one : work->dropped;
    PetscReal          rs = 0.0;

    if (p->same) {
      for (PetscInt k = l0; k < l1; k++, a += bs * bs) Copy(SYNCILU_AT(w, lcol[k], bs), a, bs);
      Copy(SYNCILU_AT(w, i, bs), a, bs);
      a += bs * bs;
      for (PetscInt k = u0; k < u1; k++, a += bs * bs) Copy(SYNCILU_AT(w, ucol[k], bs), a, bs);
    } else {
      const PetscInt len = job->A->i[r + 1] - job->A->i[r], *j = job->A->j + job->A->i[r];

      for (PetscInt k = l0; k < l1; k++) Zero(SYNCILU_AT(w, lcol[k], bs), bs);
      Zero(SYNCILU_AT(w, i, bs), bs);
      for (PetscInt k = u0; k < u1; k++) Zero(SYNCILU_AT(w, ucol[k], bs), bs);
      if (p->colinv) {
        for (PetscInt k = 0; k < len; k++) Copy(SYNCILU_AT(w, p->colinv[j[k]], bs), SYNCILU_AT(a, k, bs), bs);
      } else {
        for (PetscInt k = 0; k < len; k++) Copy(SYNCILU_AT(w, j[k], bs), SYNCILU_AT(a, k, bs), bs);
      }
    }
    if (relax) {
      for (PetscInt k = 0; k < bs; k++) dropped[k] = 0.0;
      for (PetscInt k = l0; k < l1; k++) mark[lcol[k]] = i + 1;
      mark[i] = i + 1;
      for (PetscInt k = u0; k < u1; k++) mark[ucol[k]] = i + 1;
    }
    if (bs == 1 && job->piv->shift != MAT_SHIFT_INBLOCKS) w[i] += job->piv->amount;

    for (PetscInt k = l0; k < l1; k++) {
      const PetscInt ref = lcol[k];
      /* of the thread's own, which the compiler knows to be apart from the row that it updates */
      PetscScalar own[FIXED * FIXED], *l = bs <= FIXED ? own : SYNCILU_AT(lval, k, bs);

      SyncILUBlockProduct(bs, SYNCILU_AT(w, ref, bs), SYNCILU_AT(dinv, ref, bs), l);
      if (bs <= FIXED) Copy(SYNCILU_AT(lval, k, bs), l, bs);
      if (SyncILUBlockIsZero(bs, l)) continue;
      if (relax) {
        for (PetscInt t = uptr[ref]; t < uptr[ref + 1]; t++) {
          const PetscScalar *u = SYNCILU_AT(uval, t, bs);

          if (mark[ucol[t]] == i + 1) SyncILUBlockSubtractProduct(bs, l, u, SYNCILU_AT(w, ucol[t], bs));
          else {
            for (PetscInt c = 0; c < bs; c++) SyncILUBlockAdd(bs, l, u + c * bs, dropped);
          }
        }
      } else if ((uptr[ref + 1] - uptr[ref]) / SEARCH > l1 - k + u1 - u0) { /* as with a dense row or column */
        SubtractFound(l1 - k - 1, lcol + k + 1, l, uptr[ref], uptr[ref + 1], ucol, uval, w, bs);
        SubtractFound(1, &i, l, uptr[ref], uptr[ref + 1], ucol, uval, w, bs);
        SubtractFound(u1 - u0, ucol + u0, l, uptr[ref], uptr[ref + 1], ucol, uval, w, bs);
      } else {
        /* what falls outside the pattern lands in entries of w that are set before they are read */
        for (PetscInt t = uptr[ref]; t < uptr[ref + 1]; t++) SyncILUBlockSubtractProduct(bs, l, SYNCILU_AT(uval, t, bs), SYNCILU_AT(w, ucol[t], bs));
      }
    }
    if (relax) {
      for (PetscInt k = 0; k < bs; k++) SYNCILU_AT(w, i, bs)[k + k * bs] -= job->piv->relax * dropped[k];
    }

    for (PetscInt k = u0; k < u1; k++) Copy(SYNCILU_AT(uval, k, bs), SYNCILU_AT(w, ucol[k], bs), bs);
    if (bs > 1) {
      Copy(SYNCILU_AT(dinv, i, bs), SYNCILU_AT(w, i, bs), bs);
      SyncILUInvertBlock(job->piv, bs, i, SYNCILU_AT(dinv, i, bs), work->swap, status);
      continue;
    }
    if (rowsums) {
      for (PetscInt k = l0; k < l1; k++) rs += PetscAbsScalar(lval[k]);
      for (PetscInt k = u0; k < u1; k++) rs += PetscAbsScalar(uval[k]);
    }
    dinv[i] = 1.0 / SyncILUJudgePivot(job->piv, i, w[i], rs, status);
  }
}

/*
   The same of a half: of row i those entries of the rows before it are looked at that are in column i or right of
   it. What falls outside the pattern lands in entries of w that are set before they are read.
*/
FOR_EACH_CALL void FactorHalfRows(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, PetscScalar *PETSC_RESTRICT w,
                                  PetscInt *PETSC_RESTRICT mark, SyncILUStatus *status, const PetscBool relax)
{
  const SyncILUPattern *p    = job->p;
  Host                 *h    = job->h;
  const PetscInt       *uptr = p->uptr, *ucol = p->ucol, *lptr = h->UT.ptr, *lcol = h->UT.col, *map = h->UT.map;
  const PetscBool       rowsums = SyncILUNeedsRowSum(job->piv);
  PetscScalar          *uval = h->uval, *dinv = h->dinv, *d = h->d;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt     i = order ? order[q] : q, r = p->row ? p->row[i] : i, u0 = uptr[i], u1 = uptr[i + 1];
    const PetscInt     len = job->A->i[r + 1] - job->A->i[r], *j = job->A->j + job->A->i[r];
    const PetscScalar *a       = job->A->a + job->A->i[r];
    PetscScalar        dropped = 0.0;
    PetscReal          rs      = 0.0;

    if (p->same) { /* what is right of its lower part */
      a += lptr[i + 1] - lptr[i];
      w[i] = *a++;
      for (PetscInt k = u0; k < u1; k++) w[ucol[k]] = *a++;
    } else {
      w[i] = 0.0;
      for (PetscInt k = u0; k < u1; k++) w[ucol[k]] = 0.0;
      for (PetscInt k = 0; k < len; k++) {
        const PetscInt c = p->colinv ? p->colinv[j[k]] : j[k];

        if (c >= i) w[c] = a[k];
      }
    }
    if (relax) {
      for (PetscInt k = lptr[i]; k < lptr[i + 1]; k++) mark[lcol[k]] = i + 1;
      mark[i] = i + 1;
      for (PetscInt k = u0; k < u1; k++) mark[ucol[k]] = i + 1;
    }
    if (job->piv->shift != MAT_SHIFT_INBLOCKS) w[i] += job->piv->amount;

    for (PetscInt k = lptr[i]; k < lptr[i + 1]; k++) {
      const PetscInt    ref = lcol[k], at = map[k], end = uptr[ref + 1];
      const PetscScalar l = uval[at] * d[ref];

      if (h->lval) h->lval[k] = uval[at];
      if (relax) {
        for (PetscInt t = uptr[ref]; t < end; t++) {
          if (mark[ucol[t]] != i + 1) dropped += l * uval[t];
          else if (t >= at) w[ucol[t]] -= l * uval[t];
        }
      } else if ((end - at) / SEARCH > u1 - u0) {
        w[i] -= l * uval[at];
        SubtractFound(u1 - u0, ucol + u0, &l, at + 1, end, ucol, uval, w, 1);
      } else {
        for (PetscInt t = at; t < end; t++) w[ucol[t]] -= l * uval[t];
      }
    }
    if (relax) w[i] -= job->piv->relax * dropped;

    if (rowsums) {
      for (PetscInt k = u0; k < u1; k++) rs += PetscAbsScalar(w[ucol[k]]);
    }
    d[i]    = SyncILUJudgePivot(job->piv, i, w[i], rs, status);
    dinv[i] = 1.0 / d[i];
    for (PetscInt k = u0; k < u1; k++) uval[k] = w[ucol[k]] * dinv[i];
  }
}

/*
   The same for D-ILU, where the entries of the matrix stay as they are, and only the pivots are computed: relaxed,
   from all entries of the rows before; else from those in the row's own column.
*/
static void FactorDiagonals(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, const Work *work, SyncILUStatus *status)
{
  const SyncILUPattern *p       = job->p;
  Host                 *h       = job->h;
  const PetscReal       relax   = job->piv->relax;
  const PetscBool       rowsums = SyncILUNeedsRowSum(job->piv);
  PetscScalar          *w       = work->w;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i = order ? order[q] : q, r = p->row ? p->row[i] : i;
    PetscScalar    dropped = 0.0, diagonal;
    PetscReal      rs      = 0.0;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) w[p->lcol[k]] = 0.0;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) w[p->ucol[k]] = 0.0;
    w[i] = 0.0;
    for (PetscInt k = job->A->i[r]; k < job->A->i[r + 1]; k++) w[p->colinv ? p->colinv[job->A->j[k]] : job->A->j[k]] = job->A->a[k];
    if (job->piv->shift != MAT_SHIFT_INBLOCKS) w[i] += job->piv->amount;
    diagonal = w[i];
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt    ref = p->lcol[k];
      const PetscScalar l   = w[ref] * h->dinv[ref];

      h->lval[k] = l;
      if (l == 0.0) continue;
      if (relax == 0.0) SubtractFound(1, &i, &l, p->uptr[ref], p->uptr[ref + 1], p->ucol, h->uval, w, 1);
      for (PetscInt t = p->uptr[ref]; t < p->uptr[ref + 1] && relax != 0.0; t++) {
        if (p->ucol[t] == i) w[i] -= l * h->uval[t];
        else dropped += l * h->uval[t];
      }
    }
    w[i] = SyncILUBoundPivot(job->piv, diagonal, w[i] - relax * dropped);
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) h->uval[k] = w[p->ucol[k]];
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1] && rowsums; k++) rs += PetscAbsScalar(h->lval[k]);
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1] && rowsums; k++) rs += PetscAbsScalar(h->uval[k]);
    h->dinv[i] = 1.0 / SyncILUJudgePivot(job->piv, i, w[i], rs, status);
  }
}

typedef void FactorFunction(const FactorJob *, const PetscInt *, PetscInt, PetscInt, const Work *, SyncILUStatus *);

#define FACTOR(name, bs) \
  static void name(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, const Work *work, SyncILUStatus *status) \
  { \
    FactorRows(job, order, first, last, work->w, work->mark, work, status, PETSC_FALSE, bs); \
  }
#define FACTOR_RELAXED(name, bs) \
  static void name(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, const Work *work, SyncILUStatus *status) \
  { \
    FactorRows(job, order, first, last, work->w, work->mark, work, status, PETSC_TRUE, bs); \
  }
BLOCK_SIZES(FACTOR, Factor, job->p->bs)
BLOCK_SIZES(FACTOR_RELAXED, FactorRelaxed, job->p->bs)

static void FactorHalf(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, const Work *work, SyncILUStatus *status)
{
  FactorHalfRows(job, order, first, last, work->w, work->mark, status, PETSC_FALSE);
}

static void FactorHalfRelaxed(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, const Work *work, SyncILUStatus *status)
{
  FactorHalfRows(job, order, first, last, work->w, work->mark, status, PETSC_TRUE);
}

static FactorFunction *const factor_half[2]            = {FactorHalf, FactorHalfRelaxed};
static FactorFunction *const factor_rows[2][FIXED + 1] = {BLOCK_SIZES_TABLE(Factor), BLOCK_SIZES_TABLE(FactorRelaxed)};

/* By sweeps, from the iterate of a search where there is one; of a half the transpose is made as above. */
static PetscErrorCode Sweeps(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscInt threads, SyncILUStatus *status)
{
  Host                 *h  = (Host *)e->data;
  const SyncILUPattern *p  = &e->pattern;
  const SyncILUIterate  to = {.l = h->lval, .u = h->uval, .dinv = h->dinv, .d = h->d};

  PetscFunctionBegin;
  if (e->settings.asynchronous) PetscCall(PetscInfo(NULL, "Sweeps are synchronous on the host: asynchronous ones are for a GPU\n"));
  PetscCall(SyncILUHostSweeps(p, h->UT.map, A, piv, threads, h->found.dinv ? &h->found : NULL, piv->sweeps, PETSC_TRUE, &to, status));
  PetscCall(SyncILUIterateDestroy(&h->found)); /* attempts with a shift begin with the matrix */
  if (!p->half) PetscFunctionReturn(PETSC_SUCCESS);
  if (threads > 1 && !h->lval) PetscCall(PetscMalloc1(p->nl, &h->lval));
  for (PetscInt k = 0; k < p->nl && h->lval; k++) h->lval[k] = h->uval[h->UT.map[k]];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Host(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUStatus *status)
{
  Host                  *h       = (Host *)e->data;
  const SyncILUPattern  *p       = &e->pattern;
  const PetscInt         threads = Threads(&e->settings);
  const PetscBool        relax   = (PetscBool)(piv->relax != 0.0);
  FactorJob              job     = {p, A, piv, h};
  SyncILUStatus         *found;
  Work                  *work;
  FactorFunction *const  factor = p->half ? factor_half[relax] : piv->dilu > 0.0 ? FactorDiagonals : factor_rows[relax][BLOCK_SIZES_INDEX(p->bs)];
  SyncILUTriangle *const L      = p->half ? &h->UT : &h->L;

  PetscFunctionBegin;
  if (piv->sweeps) {
    PetscCall(Sweeps(e, A, piv, threads, status));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(threads, &found, threads, &work));
  for (PetscInt t = 0; t < threads; t++) {
    SyncILUStatusReset(&found[t]);
    PetscCall(PetscMalloc3((size_t)p->n * p->bs * p->bs, &work[t].w, p->bs, &work[t].dropped, p->bs, &work[t].swap));
    PetscCall(PetscCalloc1(relax ? p->n : 0, &work[t].mark));
  }
  if (threads == 1) (*factor)(&job, NULL, 0, p->n, work, found);
#if defined(_OPENMP)
  else {
    if (p->half && !h->lval) PetscCall(PetscMalloc1(p->nl, &h->lval)); /* for the solves: to look for them takes longer */
    PetscCall(SyncILUTrianglePrepare(L, p->n, Order(&e->settings), threads));
    SyncILUTriangleBegin(L);
  #pragma omp parallel num_threads((int)threads)
    {
      const size_t me   = (size_t)omp_get_thread_num();
      SyncILUWalk  walk = SyncILUWalkStart;
      PetscInt     first, last;

      while (SyncILUTriangleNext(L, &walk, &first, &last)) (*factor)(&job, L->order, first, last, &work[me], &found[me]);
    }
  }
#endif
  *status = found[0];
  for (PetscInt t = 1; t < threads; t++) SyncILUStatusMerge(&found[t], status);
  for (PetscInt t = 0; t < threads; t++) {
    PetscCall(PetscFree3(work[t].w, work[t].dropped, work[t].swap));
    PetscCall(PetscFree(work[t].mark));
  }
  PetscCall(PetscFree2(found, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Excess_Host(SyncILUEngine e, const SyncILUCSR *A, PetscReal *excess)
{
  const SyncILUPattern *p = &e->pattern;

  PetscFunctionBegin;
  *excess = 0.0;
  for (PetscInt i = 0; i < p->n; i++) {
    const PetscInt r = p->row ? p->row[i] : i, diagonal = p->col ? p->col[i] : i;
    PetscReal      sum = 0.0;

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) sum += A->j[k] == diagonal ? -PetscRealPart(A->a[k]) : PetscAbsScalar(A->a[k]);
    *excess = PetscMax(*excess, sum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PetscPrefetchBlock() does not compile in C with PETSc 3.26, which leaves the header of its hints out. */
static inline void Prefetch(const void *p)
{
#if defined(__GNUC__)
  __builtin_prefetch(p);
#else
  (void)p;
#endif
}

/* One triangular solve for a block of right-hand sides, as the threads see it. */
typedef struct {
  SyncILUTriangle   *tri;
  const PetscScalar *val;
  const PetscInt    *map;   /* where the value of an entry is; NULL: in its place */
  const PetscScalar *dinv;  /* NULL: the diagonal is one */
  const PetscScalar *scale; /* what right-hand sides are multiplied with; NULL: nothing */
  const PetscScalar *b;
  const PetscInt    *in; /* the right-hand side of row i is b[in[i]]; NULL: b[i] */
  PetscInt           ldb;
  PetscScalar       *x;
  PetscInt           ldx;
  PetscInt           nrhs; /* at most RHS_BLOCK */
  PetscInt           n;
  PetscInt           bs;
  PetscBool          trans; /* with transposed blocks */
  PetscScalar       *sums;  /* of each thread, for blocks above FIXED */
} SolveJob;

/*
   The rows at positions first .. last - 1 of an order, whose dependences are finished. Where it is inlined
   the compiler knows which arguments are NULL: a row may have as few as one entry.
*/
FOR_EACH_CALL void SolveRows(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last, const PetscBool forward,
                             const PetscInt *PETSC_RESTRICT map, const PetscInt *in, const PetscScalar *dinv, const PetscScalar *scale)
{
  const PetscInt *PETSC_RESTRICT ptr = job->tri->ptr, *PETSC_RESTRICT col = job->tri->col;
  const PetscScalar *PETSC_RESTRICT val = job->val;
  const PetscScalar                *b   = job->b;
  PetscScalar                      *x   = job->x;
  const PetscInt                    end = job->n - 1, nz = ptr[job->n];

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i   = order ? order[q] : forward ? q : end - q;
    PetscScalar    sum = b[in ? in[i] : i];

    if (scale) sum *= scale[i];
    /* rows are too short for the processor to see what comes, and go backwards in one of the solves */
    if (!order && !map) {
      const PetscInt ahead = forward ? PetscMin(ptr[i] + PREFETCH, nz) : PetscMax(ptr[i] - PREFETCH, 0);

      Prefetch(val + ahead);
      Prefetch(col + ahead);
    }
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) sum -= val[map ? map[k] : k] * x[col[k]];
    x[i] = dinv ? sum * dinv[i] : sum;
  }
}

static inline void SolveRowsMany(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last)
{
  const SyncILUTriangle *tri = job->tri;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i = order ? order[q] : tri->forward ? q : job->n - 1 - q, from = job->in ? job->in[i] : i;
    PetscScalar    sum[RHS_BLOCK];

    for (PetscInt r = 0; r < job->nrhs; r++) sum[r] = job->scale ? job->b[from + (size_t)r * job->ldb] * job->scale[i] : job->b[from + (size_t)r * job->ldb];
    for (PetscInt k = tri->ptr[i]; k < tri->ptr[i + 1]; k++) {
      const PetscScalar  a  = job->val[job->map ? job->map[k] : k];
      const PetscScalar *xk = job->x + tri->col[k];

      for (PetscInt r = 0; r < job->nrhs; r++) sum[r] -= a * xk[(size_t)r * job->ldx];
    }
    for (PetscInt r = 0; r < job->nrhs; r++) job->x[i + (size_t)r * job->ldx] = job->dinv ? sum[r] * job->dinv[i] : sum[r];
  }
}

/* Block rows, for one right-hand side after another; sums has room for a block of numbers. */
FOR_EACH_CALL void SolveBlockRows(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last, PetscScalar *sums, const PetscBool trans,
                                  const PetscInt bs)
{
  const SyncILUTriangle *tri = job->tri;
  const PetscInt         nz = tri->ptr[job->n], ahead = PREFETCH_BLOCKS / (bs * bs) + 1;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i = order ? order[q] : tri->forward ? q : job->n - 1 - q, from = job->in ? job->in[i] : i;

    for (PetscInt r = 0; r < job->nrhs; r++) {
      PetscScalar *x = job->x + (size_t)r * job->ldx, fixed[FIXED], *sum = bs <= FIXED ? fixed : sums;

      for (PetscInt c = 0; c < bs; c++) sum[c] = job->b[(size_t)r * job->ldb + from * bs + c];
      for (PetscInt k = tri->ptr[i]; k < tri->ptr[i + 1]; k++) {
        /* as among points */
        if (!order && !job->map) {
          const PetscInt     far   = tri->forward ? PetscMin(k + ahead, nz) : PetscMax(k - ahead, 0);
          const PetscScalar *there = SYNCILU_AT(job->val, far, bs);

          for (PetscInt c = 0; c < bs * bs; c += LINE) Prefetch(there + c);
          Prefetch(tri->col + far);
          /* the numbers that it is multiplied with, too: among smaller blocks that takes longer than it saves */
          if (bs > 2) Prefetch(x + tri->col[tri->forward ? PetscMin(k + NEAR, nz - 1) : PetscMax(k - NEAR, 0)] * bs);
        }
        SyncILUBlockSubtract(bs, trans, SYNCILU_AT(job->val, job->map ? job->map[k] : k, bs), x + tri->col[k] * bs, sum);
      }
      if (job->dinv) SyncILUBlockMultiply(bs, trans, SYNCILU_AT(job->dinv, i, bs), sum, x + i * bs);
      else {
        for (PetscInt c = 0; c < bs; c++) x[i * bs + c] = sum[c];
      }
    }
  }
}

typedef void SolveFunction(const SolveJob *, const PetscInt *, PetscInt, PetscInt, PetscScalar *);

#define SOLVE(name, bs) \
  static void name(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last, PetscScalar *sums) \
  { \
    SolveBlockRows(job, order, first, last, sums, PETSC_FALSE, bs); \
  }
#define SOLVE_TRANSPOSED(name, bs) \
  static void name(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last, PetscScalar *sums) \
  { \
    SolveBlockRows(job, order, first, last, sums, PETSC_TRUE, bs); \
  }
BLOCK_SIZES(SOLVE, Solve, job->bs)
BLOCK_SIZES(SOLVE_TRANSPOSED, SolveTransposed, job->bs)

static SolveFunction *const solve_rows[2][FIXED + 1] = {BLOCK_SIZES_TABLE(Solve), BLOCK_SIZES_TABLE(SolveTransposed)};

/* thread: which has the sums */
static void SolveSome(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last, PetscInt thread)
{
  const SyncILUTriangle *tri = job->tri;

  if (job->bs > 1) (*solve_rows[job->trans][BLOCK_SIZES_INDEX(job->bs)])(job, order, first, last, job->sums ? job->sums + thread * job->bs : NULL);
  else if (job->nrhs > 1) SolveRowsMany(job, order, first, last);
  else if (order || job->in || tri->own) SolveRows(job, order, first, last, tri->forward, job->map, job->in, job->dinv, job->scale);
  else if (tri->forward) SolveRows(job, NULL, first, last, PETSC_TRUE, NULL, NULL, NULL, NULL);
  else if (job->scale) SolveRows(job, NULL, first, last, PETSC_FALSE, NULL, NULL, NULL, job->scale);
  else SolveRows(job, NULL, first, last, PETSC_FALSE, NULL, NULL, job->dinv, NULL);
}

#if defined(_OPENMP)
/* What one thread does of a triangular solve. */
static void SolveShare(const SolveJob *job)
{
  SyncILUWalk walk = SyncILUWalkStart;
  PetscInt    first, last;

  while (SyncILUTriangleNext(job->tri, &walk, &first, &last)) SolveSome(job, job->tri->order, first, last, omp_get_thread_num());
}
#endif

/* The transposed solve on one thread, by columns as in the reference: no transposed pattern is needed. */
FOR_EACH_CALL void SolveTransposeSerial(const SyncILUPattern *p, const Host *h, const PetscScalar *b, PetscScalar *x, PetscScalar *sums, const PetscInt bs)
{
  PetscScalar fixed[FIXED], *sum = bs <= FIXED ? fixed : sums;

  for (PetscInt i = 0; i < p->n; i++) {
    for (PetscInt c = 0; c < bs; c++) x[i * bs + c] = b[(p->col ? p->col[i] : i) * bs + c];
  }
  for (PetscInt i = 0; i < p->n; i++) {
    for (PetscInt c = 0; c < bs; c++) sum[c] = x[i * bs + c];
    SyncILUBlockMultiply(bs, PETSC_TRUE, SYNCILU_AT(h->dinv, i, bs), sum, x + i * bs);
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) SyncILUBlockSubtract(bs, PETSC_TRUE, SYNCILU_AT(h->uval, k, bs), x + i * bs, x + p->ucol[k] * bs);
  }
  for (PetscInt i = p->n - 1; i >= 0; i--) {
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) SyncILUBlockSubtract(bs, PETSC_TRUE, SYNCILU_AT(h->lval, k, bs), x + i * bs, x + p->lcol[k] * bs);
  }
}

/* The first solve of a half on one thread, by columns as in the reference. */
static void SolveHalfSerial(const SyncILUPattern *p, const Host *h, const PetscScalar *b, PetscScalar *x)
{
  const PetscInt *PETSC_RESTRICT ptr = p->uptr, *PETSC_RESTRICT col = p->ucol;
  const PetscScalar *PETSC_RESTRICT val = h->uval;
  const PetscInt                    nz  = ptr[p->n];

  if (p->row || b != x) {
    for (PetscInt i = 0; i < p->n; i++) x[i] = b[p->row ? p->row[i] : i];
  }
  for (PetscInt i = 0; i < p->n; i++) {
    const PetscScalar xi = x[i];

    Prefetch(val + PetscMin(ptr[i] + PREFETCH, nz));
    Prefetch(col + PetscMin(ptr[i] + PREFETCH, nz));
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) x[col[k]] -= val[k] * xi;
  }
}

typedef void SolveSerialFunction(const SyncILUPattern *, const Host *, const PetscScalar *, PetscScalar *, PetscScalar *);

#define SOLVE_SERIAL(name, bs) \
  static void name(const SyncILUPattern *p, const Host *h, const PetscScalar *b, PetscScalar *x, PetscScalar *sums) \
  { \
    SolveTransposeSerial(p, h, b, x, sums, bs); \
  }
BLOCK_SIZES(SOLVE_SERIAL, SolveSerial, p->bs)

static SolveSerialFunction *const solve_serial[FIXED + 1] = BLOCK_SIZES_TABLE(SolveSerial);

/* Which of the two solves. */
enum {
  FIRST  = 1,
  SECOND = 2
};

/* Jacobi sweeps in the place of both solves, or of one. */
static PetscErrorCode SweepParts(SyncILUEngine e, int parts, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x,
                                 PetscInt ldx)
{
  Host                 *h = (Host *)e->data;
  const SyncILUPattern *p = &e->pattern;
  const PetscInt        n = p->n, block = PetscMin(nrhs, JACOBI_RHS);
  const PetscBool       half = p->half, transposed = (PetscBool)(trans == SYNCILU_TRANS && !half);
  SyncILUJacobiTriangle first  = {&h->L, h->lval, NULL, NULL, NULL};
  SyncILUJacobiTriangle second = {&h->U, h->uval, NULL, half ? NULL : h->dinv, half ? h->dinv : NULL};
  SyncILUJacobi         j      = {.n      = n,
                                  .sweeps = e->settings.solve_sweeps,
                                  .block  = e->settings.solve_block_size,
                                  .ldb    = ldb,
                                  .ldx    = ldx,
                                  .in     = transposed ? p->col : p->row,
                                  .out    = transposed ? p->row : p->col};

  PetscFunctionBegin;
  if (half) { /* L is the transpose of U, and has the values of its own where several threads have factored */
    first.tri = &h->UT;
    first.val = h->lval ? h->lval : h->uval;
    first.map = h->lval ? NULL : h->UT.map;
  }
  if (transposed) {
    if (!h->UT.own) PetscCall(SyncILUTriangleTranspose(&h->U, n, &h->UT));
    if (!h->LT.own) PetscCall(SyncILUTriangleTranspose(&h->L, n, &h->LT));
    first  = (SyncILUJacobiTriangle){&h->UT, h->uval, h->UT.map, h->dinv, NULL};
    second = (SyncILUJacobiTriangle){&h->LT, h->lval, h->LT.map, NULL, NULL};
  }
  if (h->swept < block) {
    h->swept = block;
    PetscCall(PetscFree(h->sweeps));
    PetscCall(PetscMalloc1((size_t)n * JACOBI_VECTORS * block, &h->sweeps));
  }
  j.work = h->sweeps;
  if (parts & FIRST) j.triangle[j.triangles++] = first;
  if (parts & SECOND) j.triangle[j.triangles++] = second;
  for (PetscInt r = 0; r < nrhs; r += JACOBI_RHS) {
    j.b    = b + (size_t)r * ldb;
    j.x    = x + (size_t)r * ldx;
    j.nrhs = PetscMin(JACOBI_RHS, nrhs - r);
    SyncILUHostJacobi(&j, Threads(&e->settings));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveParts(SyncILUEngine e, int parts, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x,
                                 PetscInt ldx)
{
  Host                 *h = (Host *)e->data;
  const SyncILUPattern *p = &e->pattern;
  const PetscInt        n = p->n, bs = p->bs, threads = Threads(&e->settings);
  const PetscBool       transposed = (PetscBool)(trans == SYNCILU_TRANS);
  const PetscInt       *in         = transposed ? p->col : p->row;
  const PetscInt       *out        = transposed || parts == FIRST ? p->row : p->col; /* between the two solves in the order of the rows */
  const PetscBool       half       = p->half;                                        /* which is its own transpose */
  const PetscInt        block      = (transposed || half) && threads == 1 ? 1 : RHS_BLOCK;
  SyncILUTriangle      *triangle[] = {transposed || half ? &h->UT : &h->L, transposed && !half ? &h->LT : &h->U};

  PetscFunctionBegin;
  if (e->settings.solve == SYNCILU_SOLVE_JACOBI) {
    PetscCall(SweepParts(e, parts, trans, nrhs, b, ldb, x, ldx));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (out && h->works < PetscMin(block, nrhs)) {
    h->works = PetscMin(block, nrhs);
    PetscCall(PetscFree(h->work));
    PetscCall(PetscMalloc1((size_t)n * bs * h->works, &h->work));
  }
  if (bs > FIXED && h->threads < threads) { /* there may be more of them than when it was planned */
    h->threads = threads;
    PetscCall(PetscFree(h->sums));
    PetscCall(PetscMalloc1(threads * bs, &h->sums));
  }
#if defined(_OPENMP)
  if (threads > 1) {
    if (transposed && !half) {
      if (!h->UT.own) PetscCall(SyncILUTriangleTranspose(&h->U, n, &h->UT));
      if (!h->LT.own) PetscCall(SyncILUTriangleTranspose(&h->L, n, &h->LT));
    }
    PetscCall(PreparePair(e, triangle[0], triangle[1]));
  }
#endif
  for (PetscInt r0 = 0; r0 < nrhs; r0 += block) {
    const PetscInt     nb = PetscMin(block, nrhs - r0);
    const PetscScalar *bb = b + (size_t)r0 * ldb;
    PetscScalar       *xx = x + (size_t)r0 * ldx, *y = out ? h->work : xx;
    const PetscInt     ldy    = out ? n * bs : ldx;
    SolveJob           first  = {.tri   = triangle[0],
                                 .val   = (transposed && !half) || (half && !h->lval) ? h->uval : h->lval,
                                 .map   = half && h->lval ? NULL : triangle[0]->map,
                                 .dinv  = transposed && !half ? h->dinv : NULL,
                                 .b     = bb,
                                 .in    = in,
                                 .ldb   = ldb,
                                 .x     = y,
                                 .ldx   = ldy,
                                 .nrhs  = nb,
                                 .n     = n,
                                 .bs    = bs,
                                 .trans = transposed,
                                 .sums  = h->sums};
    SolveJob           second = first;

    second.tri   = triangle[1];
    second.val   = transposed && !half ? h->lval : h->uval;
    second.map   = triangle[1]->map;
    second.dinv  = transposed || half ? NULL : h->dinv;
    second.scale = half ? h->dinv : NULL;
    if (parts & FIRST) {
      second.b   = y;
      second.in  = NULL;
      second.ldb = ldy;
    }
    if (threads == 1) {
      if (transposed && !half) (*solve_serial[BLOCK_SIZES_INDEX(bs)])(p, h, bb, y, h->sums);
      else {
        if (parts & FIRST && half) SolveHalfSerial(p, h, bb, y);
        else if (parts & FIRST) SolveSome(&first, NULL, 0, n, 0);
        if (parts & SECOND) SolveSome(&second, NULL, 0, n, 0);
      }
    }
#if defined(_OPENMP)
    else {
      SyncILUTriangleBegin(first.tri);
      SyncILUTriangleBegin(second.tri);
  #pragma omp parallel num_threads((int)threads)
      {
        if (parts & FIRST) SolveShare(&first);
          /* the second solve overwrites what rows of the first one still read */
  #pragma omp barrier
        if (parts & SECOND) SolveShare(&second);
      }
    }
#endif
    if (out) {
      for (PetscInt r = 0; r < nb; r++) {
        for (PetscInt i = 0; i < n; i++) {
          for (PetscInt c = 0; c < bs; c++) xx[(size_t)r * ldx + out[i] * bs + c] = y[(size_t)r * ldy + i * bs + c];
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Host(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx,
                                 PetscMemType mem)
{
  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host backend was given arrays on a device");
  PetscCall(SolveParts(e, FIRST | SECOND, trans, nrhs, b, ldb, x, ldx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Half_Host(SyncILUEngine e, PetscBool upper, const PetscScalar *b, PetscScalar *x, PetscMemType mem)
{
  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host backend was given arrays on a device");
  PetscCall(SolveParts(e, upper ? SECOND : FIRST, SYNCILU_NOTRANS, 1, b, e->n, x, e->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator of Eisenstat's trick (see src/eisenstat.c), as the threads see it. */
typedef struct {
  SyncILUTriangle   *L, *U;
  const PetscScalar *lval, *uval, *dinv;
  const PetscScalar *a; /* the diagonal of the matrix, by rows of the factor */
  const PetscScalar *v;
  const PetscInt    *in;    /* where row i is in v and y; NULL: at i */
  PetscScalar       *w, *s; /* by rows of the factor: what the first and the second solve find */
  PetscScalar       *y;
  PetscInt           n;
} SplitJob;

/* w = (I + D^-1 (U - D))^-1 v, the rows at positions first .. last - 1. */
FOR_EACH_CALL void SplitUpper(const SplitJob *job, const PetscInt *order, PetscInt first, PetscInt last, const PetscInt *in)
{
  const PetscInt *PETSC_RESTRICT ptr = job->U->ptr, *PETSC_RESTRICT col = job->U->col;
  const PetscScalar *PETSC_RESTRICT val = job->uval;
  PetscScalar                      *w   = job->w;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i   = order ? order[q] : job->n - 1 - q;
    PetscScalar    sum = 0.0;

    if (!order) {
      Prefetch(val + PetscMax(ptr[i] - PREFETCH, 0));
      Prefetch(col + PetscMax(ptr[i] - PREFETCH, 0));
    }
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) sum += val[k] * w[col[k]];
    w[i] = job->v[in ? in[i] : i] - job->dinv[i] * sum;
  }
}

/* s = L^-1 (D v + (a - 2 D) w), and y = D w + s. */
FOR_EACH_CALL void SplitLower(const SplitJob *job, const PetscInt *order, PetscInt first, PetscInt last, const PetscInt *in)
{
  const PetscInt *PETSC_RESTRICT ptr = job->L->ptr, *PETSC_RESTRICT col = job->L->col;
  const PetscScalar *PETSC_RESTRICT val = job->lval;
  PetscScalar                      *s   = job->s;
  const PetscInt                    nz  = ptr[job->n];

  for (PetscInt q = first; q < last; q++) {
    const PetscInt    i = order ? order[q] : q, at = in ? in[i] : i;
    const PetscScalar d = 1.0 / job->dinv[i], w = job->w[i];
    PetscScalar       sum = d * job->v[at] + (job->a[i] - 2.0 * d) * w;

    if (!order) {
      Prefetch(val + PetscMin(ptr[i] + PREFETCH, nz));
      Prefetch(col + PetscMin(ptr[i] + PREFETCH, nz));
    }
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) sum -= val[k] * s[col[k]];
    s[i]       = sum;
    job->y[at] = d * w + sum;
  }
}

static void SplitUpperSome(const SplitJob *job, const PetscInt *order, PetscInt first, PetscInt last)
{
  if (order || job->in) SplitUpper(job, order, first, last, job->in);
  else SplitUpper(job, NULL, first, last, NULL);
}

static void SplitLowerSome(const SplitJob *job, const PetscInt *order, PetscInt first, PetscInt last)
{
  if (order || job->in) SplitLower(job, order, first, last, job->in);
  else SplitLower(job, NULL, first, last, NULL);
}

/* Keeps the diagonal of the matrix in the order of the factor, behind the two vectors. */
static PetscErrorCode SplitBegin_Host(SyncILUEngine e, const SyncILUCSR *A, PetscScalar *dinv, PetscMemType mem)
{
  Host                 *h = (Host *)e->data;
  const SyncILUPattern *p = &e->pattern;
  const size_t          n = (size_t)p->n;

  PetscFunctionBegin;
  PetscCheck(p->bs == 1 && !p->half, PETSC_COMM_SELF, PETSC_ERR_PLIB, "For factors of points with both triangles");
  PetscCheck(PetscMemTypeHost(mem) && PetscMemTypeHost(A->mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host backend was given arrays on a device");
  if (!h->split) PetscCall(PetscMalloc1(3 * n, &h->split));
  for (size_t i = 0; i < n; i++) {
    const PetscInt at = p->row ? p->row[i] : (PetscInt)i;
    PetscScalar    a  = 0.0; /* a diagonal that was added */

    for (PetscInt k = A->i[at]; k < A->i[at + 1]; k++) {
      if (A->j[k] == at) a = A->a[k];
    }
    h->split[2 * n + i] = a;
    dinv[at]            = h->dinv[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Split_Host(SyncILUEngine e, const PetscScalar *v, PetscScalar *y, PetscMemType mem)
{
  Host                 *h = (Host *)e->data;
  const SyncILUPattern *p = &e->pattern;
  const PetscInt        n = p->n, threads = Threads(&e->settings);
  SplitJob              job = {.L = &h->L, .U = &h->U, .lval = h->lval, .uval = h->uval, .dinv = h->dinv, .v = v, .in = p->row, .y = y, .n = n};

  PetscFunctionBegin;
  PetscCheck(h->split, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The operator has not been begun");
  PetscCheck(PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host backend was given arrays on a device");
  job.w = h->split;
  job.s = h->split + n;
  job.a = h->split + 2 * (size_t)n;
  if (threads == 1) {
    SplitUpperSome(&job, NULL, 0, n);
    SplitLowerSome(&job, NULL, 0, n);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#if defined(_OPENMP)
  PetscCall(PreparePair(e, &h->L, &h->U));
  SyncILUTriangleBegin(&h->U);
  SyncILUTriangleBegin(&h->L);
  #pragma omp parallel num_threads((int)threads)
  {
    SyncILUWalk walk = SyncILUWalkStart;
    PetscInt    first, last;

    while (SyncILUTriangleNext(&h->U, &walk, &first, &last)) SplitUpperSome(&job, h->U.order, first, last);
      /* a row of L reads the w of its own row, which another thread may still be computing */
  #pragma omp barrier
    walk = SyncILUWalkStart;
    while (SyncILUTriangleNext(&h->L, &walk, &first, &last)) SplitLowerSome(&job, h->L.order, first, last);
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SplitUpper_Host(SyncILUEngine e, const SyncILUCSR *A, const PetscScalar *x, PetscScalar *v, PetscMemType mem)
{
  const Host           *h = (const Host *)e->data;
  const SyncILUPattern *p = &e->pattern;

  PetscFunctionBegin;
  (void)A;
  PetscCheck(PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host backend was given arrays on a device");
  for (PetscInt i = 0; i < p->n; i++) {
    const PetscInt at  = p->row ? p->row[i] : i;
    PetscScalar    sum = 0.0;

    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) sum += h->uval[k] * x[p->row ? p->row[p->ucol[k]] : p->ucol[k]];
    v[at] = x[at] + h->dinv[i] * sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What depends on the pattern. */
static PetscErrorCode Prepare(SyncILUEngine e)
{
  Host                 *h = (Host *)e->data;
  const SyncILUPattern *p = &e->pattern;

  PetscFunctionBegin;
  h->L.ptr     = p->lptr;
  h->L.col     = p->lcol;
  h->L.forward = PETSC_TRUE;
  h->U.ptr     = p->uptr;
  h->U.col     = p->ucol;
  h->levels[0] = h->levels[1] = -1;
  if (p->half) {
    PetscCall(SyncILUTriangleTranspose(&h->U, p->n, &h->UT));
    PetscCall(PetscMalloc1(p->n, &h->d));
  } else PetscCall(PetscMalloc1((size_t)p->lptr[p->n] * p->bs * p->bs, &h->lval));
  PetscCall(PetscMalloc1((size_t)p->uptr[p->n] * p->bs * p->bs, &h->uval));
  PetscCall(PetscMalloc1((size_t)p->n * p->bs * p->bs, &h->dinv));
  if (Threads(&e->settings) > 1) PetscCall(PreparePair(e, p->half ? &h->UT : &h->L, &h->U));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Release(Host *h)
{
  PetscFunctionBegin;
  PetscCall(SyncILUTriangleDestroy(&h->L));
  PetscCall(SyncILUTriangleDestroy(&h->U));
  PetscCall(SyncILUTriangleDestroy(&h->LT));
  PetscCall(SyncILUTriangleDestroy(&h->UT));
  PetscCall(PetscFree(h->lval));
  PetscCall(PetscFree(h->uval));
  PetscCall(PetscFree(h->dinv));
  PetscCall(PetscFree(h->d));
  PetscCall(PetscFree(h->work));
  PetscCall(PetscFree(h->sums));
  PetscCall(PetscFree(h->sweeps));
  PetscCall(PetscFree(h->split));
  h->works = h->swept = h->threads = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Plan_Host(SyncILUEngine e, const SyncILUCSR *A, PetscBool *needpattern)
{
  Host *h;

  PetscFunctionBegin;
  if (A) {
    *needpattern = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&h));
  e->data = h;
  PetscCall(Prepare(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Host(SyncILUEngine e)
{
  Host *h = (Host *)e->data;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Release(h));
  PetscCall(SyncILUPatternDestroy(&h->start));
  PetscCall(SyncILUIterateDestroy(&h->found));
  PetscCall(PetscFree(e->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SamePattern(const SyncILUPattern *p, const SyncILUPattern *q, PetscBool *same)
{
  PetscFunctionBegin;
  *same = (PetscBool)(p->nl == q->nl && p->nu == q->nu);
  if (*same) PetscCall(PetscArraycmp(p->lptr, q->lptr, p->n + 1, same));
  if (*same) PetscCall(PetscArraycmp(p->uptr, q->uptr, p->n + 1, same));
  if (*same) PetscCall(PetscArraycmp(p->lcol, q->lcol, p->nl, same));
  if (*same) PetscCall(PetscArraycmp(p->ucol, q->ucol, p->nu, same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Every search begins with the pattern of the symbolic phase. What is prepared for the one found last may
   suit this one too.
*/
static PetscErrorCode Search_Host(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUSearch *search)
{
  Host           *h     = (Host *)e->data;
  SyncILUPattern *p     = &e->pattern, found;
  SyncILUPattern  start = h->start.lptr ? h->start : *p;
  PetscBool       same;

  PetscFunctionBegin;
  start.row    = p->row;
  start.col    = p->col;
  start.colinv = p->colinv;
  PetscCall(SyncILUIterateDestroy(&h->found));
  PetscCall(SyncILUHostSearch(&start, A, piv, &e->settings, Threads(&e->settings), &found, &h->found, search));
  PetscCall(SamePattern(p, &found, &same));
  if (!same) {
    PetscCall(Release(h));
    if (!h->start.lptr) h->start = *p;
    else PetscCall(SyncILUPatternFreeRows(p));
    h->start.row = h->start.col = h->start.colinv = NULL; /* the ordering is the present pattern's */
    *p                                            = found;
    PetscCall(Prepare(e));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  found.row = found.col = found.colinv = NULL;
  PetscCall(SyncILUPatternDestroy(&found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Values_Host(SyncILUEngine e, const PetscScalar **lval, const PetscScalar **uval, const PetscScalar **dinv)
{
  const Host *h = (const Host *)e->data;

  PetscFunctionBegin;
  *lval = e->pattern.half ? NULL : h->lval;
  *uval = h->uval;
  *dinv = h->dinv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Statistics_Host(SyncILUEngine e, SyncILUStatistics *s)
{
  Host                  *h = (Host *)e->data;
  const SyncILUTriangle *triangle[2];
  const PetscInt         n = e->pattern.n;

  PetscFunctionBegin;
  triangle[0] = &h->L;
  triangle[1] = &h->U;
  for (int i = 0; i < 2; i++) {
    if (h->levels[i] < 0) {
      PetscInt *level;

      PetscCall(PetscMalloc1(n, &level));
      PetscCall(SyncILUHostLevels(n, triangle[i]->ptr, triangle[i]->col, triangle[i]->forward, level, &h->levels[i], &h->width[i]));
      PetscCall(PetscFree(level));
    }
    s->levels[i]     = h->levels[i];
    s->level_rows[i] = h->width[i] * e->pattern.bs;
  }
  s->threads = Threads(&e->settings);
  s->bytes += (PetscInt64)sizeof(PetscScalar) * ((PetscInt64)s->nonzeros + (PetscInt64)e->n * (h->works + JACOBI_VECTORS * h->swept + (h->split ? 3 : 0)) +
                                                 (e->pattern.half ? e->n + (h->lval ? e->pattern.nl : 0) : 0) + (PetscInt64)h->threads * e->pattern.bs);
  s->bytes += SyncILUPatternBytes(&h->start);
  s->bytes += SyncILUTriangleBytes(&h->L, n) + SyncILUTriangleBytes(&h->U, n) + SyncILUTriangleBytes(&h->LT, n) + SyncILUTriangleBytes(&h->UT, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Host(SyncILUEngine e, PetscViewer viewer)
{
  const PetscInt threads = Threads(&e->settings);

  PetscFunctionBegin;
#if defined(_OPENMP)
  PetscCall(PetscViewerASCIIPrintf(viewer, "threads: %" PetscInt_FMT "\n", threads));
#else
  PetscCall(PetscViewerASCIIPrintf(viewer, "threads: %" PetscInt_FMT " (built without OpenMP)\n", threads));
#endif
  if (threads == 1) PetscCall(PetscViewerASCIIPrintf(viewer, "rows in numerical order: one thread needs no analysis\n"));
  else if (Order(&e->settings) == SYNCILU_ANALYSIS_NONE)
    PetscCall(PetscViewerASCIIPrintf(viewer, "rows in numerical order, tickets end where the level falls\n"));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "rows by level (%s)\n", SyncILUAnalyses[Order(&e->settings)]));
  if (SyncILUSweeps(&e->settings)) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: %s, %ssweeps by rows with a dense work row a thread; solves: a thread a row\n",
                                     SyncILUUpdates[e->settings.update], e->pattern.half ? "symmetric, " : ""));
    PetscCall(PetscViewerASCIIPrintf(viewer, "sweeps: %" PetscInt_FMT ", synchronous%s\n", e->settings.sweeps,
                                     e->settings.asynchronous ? ": asynchronous ones are for a GPU" : ""));
  } else if (e->settings.update == SYNCILU_UPDATE_DILU)
    PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: dilu, pivots alone, by rows with a dense work row a thread; solves: a thread a row\n"));
  else if (e->pattern.half)
    PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: symmetric, the upper triangle by rows with a dense work row a thread; solves: a thread a row\n"));
  else if (e->pattern.bs == 1) PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: by rows with a dense work row a thread; solves: a thread a row\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "factorization: by block rows of %" PetscInt_FMT " rows with a dense work row a thread; solves: a thread a block row\n",
                                     e->pattern.bs));
  if (e->settings.solve == SYNCILU_SOLVE_JACOBI) PetscCall(SyncILUSweepsView(&e->settings, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const SyncILUEisenstatOps eisenstat = {.begin = SplitBegin_Host, .multiply = Split_Host, .upper = SplitUpper_Host};

const SyncILUBackendOps SyncILUHostOps = {.backend    = SYNCILU_BACKEND_HOST,
                                          .blocks     = PETSC_TRUE,
                                          .symmetric  = PETSC_TRUE,
                                          .plan       = Plan_Host,
                                          .destroy    = Destroy_Host,
                                          .excess     = Excess_Host,
                                          .search     = Search_Host,
                                          .factor     = Factor_Host,
                                          .residual   = SyncILUResidual,
                                          .solve      = Solve_Host,
                                          .half       = Half_Host,
                                          .eisenstat  = &eisenstat,
                                          .values     = Values_Host,
                                          .statistics = Statistics_Host,
                                          .view       = View_Host};
