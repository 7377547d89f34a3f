/*
   The host backend: rows are handed to threads by ticket, some consecutive rows each, and a row waits for the tickets of the rows it depends on to get as far as these.

   Progress: tickets are handed out in an order in which every row comes after those it depends on, and a thread works through its rows in that order. So the first unfinished row in that order
   belongs to a running thread and waits for nobody. This holds for any number of threads, also when fewer are started than were asked for.

   Results do not depend on the number of threads or on the order of the rows: each row is computed by one thread, with the operations of the reference in the reference's order.
*/
#include "host.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <sched.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

enum {
  RHS_BLOCK    = 8,   /* right-hand sides that go through the factor together */
  CHUNK_MIN    = 32,  /* fewest rows of a ticket in numerical order, most in level order */
  CHUNK_MAX    = 256, /* rows after which a ticket may end among rows of one level */
  PUBLISH_ROWS = 16,  /* rows between two announcements of a ticket's progress: each takes the cache line from those who read it */
  SPINS        = 256  /* polls before the processor is offered to other threads: there may be fewer cores than threads */
};

/* A triangular sweep: whom a row depends on, and in which order rows are handed out. Position q of that order is row order[q]. */
typedef struct {
  const PetscInt   *ptr, *col;
  PetscInt         *map; /* where the value of an entry stands; NULL: at the same place as its column */
  PetscInt         *own; /* ptr and col in one array, where the sweep owns them */
  PetscBool         forward;
  PetscInt         *order; /* NULL: numerical (forward) or reverse numerical; so is its inverse */
  PetscInt         *position;
  PetscInt         *chunk;  /* ticket t stands for positions chunk[t] .. chunk[t + 1] - 1; NULL until wanted */
  PetscInt         *ticket; /* the ticket of each position */
  PetscInt          chunks;
  _Atomic PetscInt *progress; /* positions chunk[t] .. progress[t] - 1 are finished */
  _Atomic PetscInt  next;     /* the next ticket */
} Sweep;

typedef struct {
  PetscScalar *lval, *uval, *dinv;
  Sweep        L, U, LT, UT; /* the last two are set up by the first transposed solve on several threads */
  PetscScalar *work;         /* right-hand sides in the order of the factorization, once a solve needs them */
  PetscInt     works;
  PetscInt     levels[2], width[2]; /* of L and U, -1 until wanted */
} Host;

static PetscInt Threads(const SyncILUSettings *s)
{
#if defined(_OPENMP)
  if (s->threads > 0) return s->threads;
  {
    const char *env = getenv("OMP_NUM_THREADS");
    const long  n   = env ? strtol(env, NULL, 10) : 1;

    return n > 0 && n < 4096 ? (PetscInt)n : 1;
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

/*
   Cuts the rows of a sweep into tickets, and sorts them by level where that is asked for.

   In numerical order a ticket ends where the level falls, that is, where the next row does not have to wait for this one: on a grid in natural order these are the lines, and threads follow each
   other one line apart. Cut elsewhere, the first row of a ticket would wait for the last row of the ticket before it, and the threads would run one after another.
*/
static PetscErrorCode SweepPrepare(Sweep *s, PetscInt n, const SyncILUSettings *settings)
{
  const SyncILUAnalysis analysis = Order(settings);
  PetscInt             *level, nlevels, most;

  PetscFunctionBegin;
  if (s->chunk) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &level));
  PetscCall(SyncILUHostLevels(n, s->ptr, s->col, s->forward, level, &nlevels, &most));
  PetscCall(PetscMalloc1(n + 1, &s->chunk));
  PetscCall(PetscMalloc1(n, &s->ticket));
  s->chunks = 0;
  if (analysis == SYNCILU_ANALYSIS_NONE) {
    PetscInt first = 0;

    for (PetscInt q = 1; q < n; q++) {
      const PetscInt i = s->forward ? q : n - 1 - q, before = s->forward ? i - 1 : i + 1;

      if ((level[i] < level[before] && q - first >= CHUNK_MIN) || (level[i] == level[before] && q - first >= CHUNK_MAX)) {
        s->chunk[s->chunks++] = first;
        first                 = q;
      }
    }
    if (n) s->chunk[s->chunks++] = first;
  } else {
    PetscInt *start;

    if (analysis == SYNCILU_ANALYSIS_ALAP) PetscCall(SyncILUHostLevelsLate(n, s->ptr, s->col, s->forward, nlevels, level));
    PetscCall(PetscCalloc1(nlevels + 1, &start));
    PetscCall(PetscMalloc1(n, &s->order));
    PetscCall(PetscMalloc1(n, &s->position));
    for (PetscInt i = 0; i < n; i++) start[level[i] + 1]++;
    for (PetscInt l = 0; l < nlevels; l++) {
      for (PetscInt q = 0; q < start[l + 1]; q += CHUNK_MIN) s->chunk[s->chunks++] = start[l] + q;
      start[l + 1] += start[l];
    }
    for (PetscInt q = 0; q < n; q++) {
      const PetscInt i = s->forward ? q : n - 1 - q;

      s->position[i]              = start[level[i]];
      s->order[start[level[i]]++] = i;
    }
    PetscCall(PetscFree(start));
  }
  s->chunk[s->chunks] = n;
  for (PetscInt t = 0; t < s->chunks; t++) {
    for (PetscInt q = s->chunk[t]; q < s->chunk[t + 1]; q++) s->ticket[q] = t;
  }
  PetscCall(PetscMalloc1(s->chunks, &s->progress));
  PetscCall(PetscFree(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepDestroy(Sweep *s)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(s->map));
  PetscCall(PetscFree(s->own));
  PetscCall(PetscFree(s->order));
  PetscCall(PetscFree(s->position));
  PetscCall(PetscFree(s->chunk));
  PetscCall(PetscFree(s->ticket));
  PetscCall(PetscFree(s->progress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt64 SweepBytes(const Sweep *s, PetscInt n)
{
  PetscInt64 count = 0;

  if (s->chunk) count += 2 * (PetscInt64)n + 1 + s->chunks;
  if (s->order) count += 2 * (PetscInt64)n;
  if (s->own) count += n + 1 + 2 * (PetscInt64)s->ptr[n];
  return count * (PetscInt64)sizeof(PetscInt);
}

/* The sweep of the transposed pattern. Entries of a row come in the order in which the reference, which works by columns, subtracts them: that of the sweep. */
static PetscErrorCode SweepTranspose(const Sweep *s, PetscInt n, Sweep *t)
{
  const PetscInt nz = s->ptr[n];
  PetscInt      *ptr, *col;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)n + 1 + nz, &t->own));
  PetscCall(PetscMalloc1(nz, &t->map));
  ptr = t->own;
  col = t->own + n + 1;
  PetscCall(PetscArrayzero(ptr, n + 1));
  for (PetscInt k = 0; k < nz; k++) ptr[s->col[k] + 1]++;
  for (PetscInt i = 0; i < n; i++) ptr[i + 1] += ptr[i];
  t->forward = (PetscBool)!s->forward;
  for (PetscInt q = 0; q < n; q++) {
    const PetscInt i = t->forward ? q : n - 1 - q;

    for (PetscInt k = s->ptr[i]; k < s->ptr[i + 1]; k++) {
      const PetscInt at = ptr[s->col[k]]++;

      col[at]    = i;
      t->map[at] = k;
    }
  }
  for (PetscInt i = n; i > 0; i--) ptr[i] = ptr[i - 1];
  ptr[0] = 0;
  t->ptr = ptr;
  t->col = col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepsPrepare(SyncILUEngine e, Sweep *first, Sweep *second)
{
  PetscFunctionBegin;
  PetscCall(SweepPrepare(first, e->pattern.n, &e->settings));
  PetscCall(SweepPrepare(second, e->pattern.n, &e->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the threads start. */
static void SweepBegin(Sweep *s)
{
  atomic_init(&s->next, 0);
  for (PetscInt t = 0; t < s->chunks; t++) atomic_init(&s->progress[t], 0);
}

/* What a thread knows to be finished, so that it seldom has to look: that costs a cache line that others write. */
typedef struct {
  PetscInt t; /* its ticket: positions first .. last - 1 */
  PetscInt first, last;
  PetscInt low; /* all tickets before this one are finished: positions up to prefix - 1 */
  PetscInt prefix;
  PetscInt from, to; /* so are positions from .. to - 1 of the ticket it looked at last */
} View;

static PetscBool NextTicket(Sweep *s, View *v)
{
  v->t = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
  if (v->t >= s->chunks) return PETSC_FALSE;
  v->first = s->chunk[v->t];
  v->last  = s->chunk[v->t + 1];
  while (v->low < v->t && atomic_load_explicit(&s->progress[v->low], memory_order_acquire) == s->chunk[v->low + 1]) v->low++;
  v->prefix = s->chunk[v->low];
  return PETSC_TRUE;
}

/* Acquire pairs with the release in Publish(): the values of a row are seen when its ticket's progress is. */
static void Look(Sweep *s, View *v, PetscInt q)
{
  const PetscInt t = s->ticket[q];

  v->from = s->chunk[t];
  for (int spins = 0; (v->to = atomic_load_explicit(&s->progress[t], memory_order_acquire)) <= q;) {
    if (++spins == SPINS) {
      sched_yield();
      spins = 0;
    }
  }
}

/* Returns when the given row is finished. */
static inline void Wait(Sweep *s, PetscInt n, View *v, PetscInt row)
{
  const PetscInt q = s->position ? s->position[row] : s->forward ? row : n - 1 - row;

  if (q >= v->first || q < v->prefix || (q >= v->from && q < v->to)) return;
  Look(s, v, q);
}

/* Position q is finished, and with it all before it on the same ticket. */
static inline void Publish(Sweep *s, const View *v, PetscInt q)
{
  if (q + 1 == v->last || (q + 1 - v->first) % PUBLISH_ROWS == 0) atomic_store_explicit(&s->progress[v->t], q + 1, memory_order_release);
}

/* One thread, which does not wait, goes in numerical order whatever was planned. */
static inline PetscInt RowAt(const Sweep *s, PetscInt n, PetscInt q, const PetscBool wait)
{
  if (wait && s->order) return s->order[q];
  return s->forward ? q : n - 1 - q;
}

/* One attempt at the factorization, as the threads see it. */
typedef struct {
  const SyncILUPattern  *p;
  const SyncILUCSR      *A;
  const SyncILUPivoting *piv;
  Host                  *h;
} FactorJob;

/* The rows of a ticket of the sweep over L. w (and with relaxation mark) belong to the thread: one entry a column, any content at first (mark: none above the row). */
static inline void FactorRows(const FactorJob *job, View *v, PetscScalar *PETSC_RESTRICT w, PetscInt *PETSC_RESTRICT mark, SyncILUStatus *status, const PetscBool wait, const PetscBool relax)
{
  const SyncILUPattern *p    = job->p;
  const PetscInt       *lptr = p->lptr, *lcol = p->lcol, *uptr = p->uptr, *ucol = p->ucol;
  const PetscBool       rowsums = SyncILUNeedsRowSum(job->piv);
  Host                 *h       = job->h;
  PetscScalar          *lval = h->lval, *uval = h->uval, *dinv = h->dinv;

  for (PetscInt q = v->first; q < v->last; q++) {
    const PetscInt     i = RowAt(&h->L, p->n, q, wait), r = p->row ? p->row[i] : i;
    const PetscInt     l0 = lptr[i], l1 = lptr[i + 1], u0 = uptr[i], u1 = uptr[i + 1];
    const PetscScalar *a       = job->A->a + job->A->i[r];
    PetscScalar        dropped = 0.0;
    PetscReal          rs      = 0.0;

    if (p->same) {
      for (PetscInt k = l0; k < l1; k++) w[lcol[k]] = *a++;
      w[i] = *a++;
      for (PetscInt k = u0; k < u1; k++) w[ucol[k]] = *a++;
    } else {
      const PetscInt len = job->A->i[r + 1] - job->A->i[r], *j = job->A->j + job->A->i[r];

      for (PetscInt k = l0; k < l1; k++) w[lcol[k]] = 0.0;
      w[i] = 0.0;
      for (PetscInt k = u0; k < u1; k++) w[ucol[k]] = 0.0;
      if (p->colinv) {
        for (PetscInt k = 0; k < len; k++) w[p->colinv[j[k]]] = a[k];
      } else {
        for (PetscInt k = 0; k < len; k++) w[j[k]] = a[k];
      }
    }
    if (relax) {
      for (PetscInt k = l0; k < l1; k++) mark[lcol[k]] = i + 1;
      mark[i] = i + 1;
      for (PetscInt k = u0; k < u1; k++) mark[ucol[k]] = i + 1;
    }
    if (job->piv->shift != MAT_SHIFT_INBLOCKS) w[i] += job->piv->amount;

    for (PetscInt k = l0; k < l1; k++) {
      const PetscInt ref = lcol[k];
      PetscScalar    l;

      if (wait) Wait(&h->L, p->n, v, ref);
      l       = w[ref] * dinv[ref];
      lval[k] = l;
      if (l == (PetscScalar)0.0) continue;
      if (relax) {
        for (PetscInt t = uptr[ref]; t < uptr[ref + 1]; t++) {
          if (mark[ucol[t]] == i + 1) w[ucol[t]] -= l * uval[t];
          else dropped += l * uval[t];
        }
      } else {
        /* what falls outside the pattern lands in entries of w that are set before they are read */
        for (PetscInt t = uptr[ref]; t < uptr[ref + 1]; t++) w[ucol[t]] -= l * uval[t];
      }
    }
    if (relax) w[i] -= job->piv->relax * dropped;

    for (PetscInt k = u0; k < u1; k++) uval[k] = w[ucol[k]];
    if (rowsums) {
      for (PetscInt k = l0; k < l1; k++) rs += PetscAbsScalar(lval[k]);
      for (PetscInt k = u0; k < u1; k++) rs += PetscAbsScalar(uval[k]);
    }
    dinv[i] = 1.0 / SyncILUJudgePivot(job->piv, i, w[i], rs, status);
    if (wait) Publish(&h->L, v, q);
  }
}

static PetscErrorCode Factor_Host(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUStatus *status)
{
  Host           *h       = (Host *)e->data;
  const PetscInt  n       = e->pattern.n;
  const PetscInt  threads = Threads(&e->settings);
  const PetscBool relax   = (PetscBool)(piv->relax != 0.0);
  FactorJob       job     = {&e->pattern, A, piv, h};
  SyncILUStatus  *found;
  PetscScalar    *w;
  PetscInt       *mark = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(threads, &found));
  PetscCall(PetscMalloc1((size_t)threads * n, &w));
  if (relax) PetscCall(PetscCalloc1((size_t)threads * n, &mark));
  for (PetscInt t = 0; t < threads; t++) {
    found[t].row     = -1;
    found[t].pivot   = 0.0;
    found[t].shift   = PETSC_FALSE;
    found[t].shifted = 0;
  }
  if (threads == 1) {
    View v = {0, 0, n, 0, 0, 0, 0};

    if (relax) FactorRows(&job, &v, w, mark, found, PETSC_FALSE, PETSC_TRUE);
    else FactorRows(&job, &v, w, NULL, found, PETSC_FALSE, PETSC_FALSE);
  }
#if defined(_OPENMP)
  else {
    PetscCall(SweepPrepare(&h->L, n, &e->settings));
    SweepBegin(&h->L);
  #pragma omp parallel num_threads((int)threads)
    {
      const size_t me = (size_t)omp_get_thread_num();
      View         v  = {0, 0, 0, 0, 0, 0, 0};

      while (NextTicket(&h->L, &v)) {
        if (relax) FactorRows(&job, &v, w + me * n, mark + me * n, &found[me], PETSC_TRUE, PETSC_TRUE);
        else FactorRows(&job, &v, w + me * n, NULL, &found[me], PETSC_TRUE, PETSC_FALSE);
      }
    }
  }
#endif
  *status = found[0];
  for (PetscInt t = 1; t < threads; t++) {
    const PetscInt shifted = status->shifted + found[t].shifted;

    if (found[t].row >= 0 && (status->row < 0 || found[t].row < status->row)) *status = found[t];
    status->shifted = shifted;
  }
  PetscCall(PetscFree(mark));
  PetscCall(PetscFree(w));
  PetscCall(PetscFree(found));
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

/* One sweep over a block of right-hand sides, as the threads see it. */
typedef struct {
  Sweep             *s;
  const PetscScalar *val;
  const PetscScalar *dinv; /* NULL: the diagonal is one */
  const PetscScalar *b;
  const PetscInt    *in; /* the right-hand side of row i is b[in[i]]; NULL: b[i] */
  PetscInt           ldb;
  PetscScalar       *x;
  PetscInt           ldx;
  PetscInt           nrhs; /* at most RHS_BLOCK */
  PetscInt           n;
} SolveJob;

static inline void SolveRows(const SolveJob *job, View *v, const PetscBool wait, const PetscInt *PETSC_RESTRICT map)
{
  Sweep                         *s   = job->s;
  const PetscInt *PETSC_RESTRICT ptr = s->ptr, *PETSC_RESTRICT col = s->col;
  const PetscScalar *PETSC_RESTRICT val = job->val;
  PetscScalar                      *x   = job->x;

  for (PetscInt q = v->first; q < v->last; q++) {
    const PetscInt i   = RowAt(s, job->n, q, wait);
    PetscScalar    sum = job->b[job->in ? job->in[i] : i];

    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) {
      if (wait) Wait(s, job->n, v, col[k]);
      sum -= val[map ? map[k] : k] * x[col[k]];
    }
    x[i] = job->dinv ? sum * job->dinv[i] : sum;
    if (wait) Publish(s, v, q);
  }
}

static inline void SolveRowsBlock(const SolveJob *job, View *v, const PetscBool wait)
{
  Sweep *s = job->s;

  for (PetscInt q = v->first; q < v->last; q++) {
    const PetscInt i = RowAt(s, job->n, q, wait), from = job->in ? job->in[i] : i;
    PetscScalar    sum[RHS_BLOCK];

    for (PetscInt r = 0; r < job->nrhs; r++) sum[r] = job->b[from + (size_t)r * job->ldb];
    for (PetscInt k = s->ptr[i]; k < s->ptr[i + 1]; k++) {
      const PetscScalar  a  = job->val[s->map ? s->map[k] : k];
      const PetscScalar *xk = job->x + s->col[k];

      if (wait) Wait(s, job->n, v, s->col[k]);
      for (PetscInt r = 0; r < job->nrhs; r++) sum[r] -= a * xk[(size_t)r * job->ldx];
    }
    for (PetscInt r = 0; r < job->nrhs; r++) job->x[i + (size_t)r * job->ldx] = job->dinv ? sum[r] * job->dinv[i] : sum[r];
    if (wait) Publish(s, v, q);
  }
}

static inline void SolveTicket(const SolveJob *job, View *v, const PetscBool wait)
{
  if (job->nrhs > 1) SolveRowsBlock(job, v, wait);
  else if (job->s->map) SolveRows(job, v, wait, job->s->map);
  else SolveRows(job, v, wait, NULL);
}

/* The transposed solve on one thread: by columns, as the reference does it, so that no transposed pattern is needed. */
static void SolveTransposeSerial(const SyncILUPattern *p, const Host *h, const PetscScalar *b, PetscScalar *x)
{
  for (PetscInt i = 0; i < p->n; i++) x[i] = b[p->col ? p->col[i] : i];
  for (PetscInt i = 0; i < p->n; i++) {
    const PetscScalar xi = x[i] *= h->dinv[i];

    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) x[p->ucol[k]] -= h->uval[k] * xi;
  }
  for (PetscInt i = p->n - 1; i >= 0; i--) {
    const PetscScalar xi = x[i];

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) x[p->lcol[k]] -= h->lval[k] * xi;
  }
}

static PetscErrorCode Solve_Host(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx)
{
  Host                 *h = (Host *)e->data;
  const SyncILUPattern *p = &e->pattern;
  const PetscInt        n = p->n, threads = Threads(&e->settings);
  const PetscInt       *in    = trans == SYNCILU_TRANS ? p->col : p->row;
  const PetscInt       *out   = trans == SYNCILU_TRANS ? p->row : p->col;
  const PetscInt        block = trans == SYNCILU_TRANS && threads == 1 ? 1 : RHS_BLOCK;

  PetscFunctionBegin;
  if (out && h->works < PetscMin(block, nrhs)) {
    h->works = PetscMin(block, nrhs);
    PetscCall(PetscFree(h->work));
    PetscCall(PetscMalloc1((size_t)n * h->works, &h->work));
  }
#if defined(_OPENMP)
  if (threads > 1) {
    if (trans == SYNCILU_TRANS) {
      if (!h->UT.own) PetscCall(SweepTranspose(&h->U, n, &h->UT));
      if (!h->LT.own) PetscCall(SweepTranspose(&h->L, n, &h->LT));
      PetscCall(SweepsPrepare(e, &h->UT, &h->LT));
    } else PetscCall(SweepsPrepare(e, &h->L, &h->U));
  }
#endif
  for (PetscInt r0 = 0; r0 < nrhs; r0 += block) {
    const PetscInt     nb = PetscMin(block, nrhs - r0);
    const PetscScalar *bb = b + (size_t)r0 * ldb;
    PetscScalar       *xx = x + (size_t)r0 * ldx, *y = out ? h->work : xx;
    const PetscInt     ldy    = out ? n : ldx;
    SolveJob           first  = {trans == SYNCILU_TRANS ? &h->UT : &h->L, trans == SYNCILU_TRANS ? h->uval : h->lval, trans == SYNCILU_TRANS ? h->dinv : NULL, bb, in, ldb, y, ldy, nb, n};
    SolveJob           second = {trans == SYNCILU_TRANS ? &h->LT : &h->U, trans == SYNCILU_TRANS ? h->lval : h->uval, trans == SYNCILU_TRANS ? NULL : h->dinv, y, NULL, ldy, y, ldy, nb, n};

    if (threads == 1) {
      View v = {0, 0, n, 0, 0, 0, 0};

      if (trans == SYNCILU_TRANS) SolveTransposeSerial(p, h, bb, y);
      else {
        SolveTicket(&first, &v, PETSC_FALSE);
        SolveTicket(&second, &v, PETSC_FALSE);
      }
    }
#if defined(_OPENMP)
    else {
      SweepBegin(first.s);
      SweepBegin(second.s);
  #pragma omp parallel num_threads((int)threads)
      {
        View v = {0, 0, 0, 0, 0, 0, 0}, w = {0, 0, 0, 0, 0, 0, 0};

        while (NextTicket(first.s, &v)) SolveTicket(&first, &v, PETSC_TRUE);
          /* the second sweep overwrites what rows of the first sweep still read */
  #pragma omp barrier
        while (NextTicket(second.s, &w)) SolveTicket(&second, &w, PETSC_TRUE);
      }
    }
#endif
    if (out) {
      for (PetscInt r = 0; r < nb; r++) {
        for (PetscInt i = 0; i < n; i++) xx[out[i] + (size_t)r * ldx] = y[i + (size_t)r * ldy];
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp_Host(SyncILUEngine e)
{
  const SyncILUPattern *p = &e->pattern;
  Host                 *h;

  PetscFunctionBegin;
  PetscCall(PetscNew(&h));
  e->data      = h;
  h->L.ptr     = p->lptr;
  h->L.col     = p->lcol;
  h->L.forward = PETSC_TRUE;
  h->U.ptr     = p->uptr;
  h->U.col     = p->ucol;
  h->levels[0] = h->levels[1] = -1;
  PetscCall(PetscMalloc1(p->lptr[p->n], &h->lval));
  PetscCall(PetscMalloc1(p->uptr[p->n], &h->uval));
  PetscCall(PetscMalloc1(p->n, &h->dinv));
  if (Threads(&e->settings) > 1) PetscCall(SweepsPrepare(e, &h->L, &h->U));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Host(SyncILUEngine e)
{
  Host *h = (Host *)e->data;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SweepDestroy(&h->L));
  PetscCall(SweepDestroy(&h->U));
  PetscCall(SweepDestroy(&h->LT));
  PetscCall(SweepDestroy(&h->UT));
  PetscCall(PetscFree(h->lval));
  PetscCall(PetscFree(h->uval));
  PetscCall(PetscFree(h->dinv));
  PetscCall(PetscFree(h->work));
  PetscCall(PetscFree(e->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Values_Host(SyncILUEngine e, const PetscScalar **lval, const PetscScalar **uval, const PetscScalar **dinv)
{
  const Host *h = (const Host *)e->data;

  PetscFunctionBegin;
  *lval = h->lval;
  *uval = h->uval;
  *dinv = h->dinv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Statistics_Host(SyncILUEngine e, SyncILUStatistics *s)
{
  Host          *h = (Host *)e->data;
  const Sweep   *sweep[2];
  const PetscInt n = e->pattern.n;

  PetscFunctionBegin;
  sweep[0] = &h->L;
  sweep[1] = &h->U;
  for (int i = 0; i < 2; i++) {
    if (h->levels[i] < 0) {
      PetscInt *level;

      PetscCall(PetscMalloc1(n, &level));
      PetscCall(SyncILUHostLevels(n, sweep[i]->ptr, sweep[i]->col, sweep[i]->forward, level, &h->levels[i], &h->width[i]));
      PetscCall(PetscFree(level));
    }
    s->levels[i]     = h->levels[i];
    s->level_rows[i] = h->width[i];
  }
  s->threads = Threads(&e->settings);
  s->bytes += (PetscInt64)sizeof(PetscScalar) * ((PetscInt64)s->nonzeros + (PetscInt64)n * h->works);
  s->bytes += SweepBytes(&h->L, n) + SweepBytes(&h->U, n) + SweepBytes(&h->LT, n) + SweepBytes(&h->UT, n);
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
  else if (Order(&e->settings) == SYNCILU_ANALYSIS_NONE) PetscCall(PetscViewerASCIIPrintf(viewer, "rows in numerical order, tickets end where the level falls\n"));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "rows by level (%s)\n", SyncILUAnalyses[Order(&e->settings)]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: by rows with a dense work row a thread; solves: a thread a row\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SyncILUBackendOps SyncILUHostOps = {SYNCILU_BACKEND_HOST, SetUp_Host, Destroy_Host, Excess_Host, Factor_Host, Solve_Host, Values_Host, Statistics_Host, View_Host};
