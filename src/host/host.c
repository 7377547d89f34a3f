/*
   The host backend: rows are handed to threads by ticket. A ticket is some consecutive rows, in row blocks; a
   row block waits until the tickets of the rows it depends on have got as far as these rows.

   Progress: tickets are handed out in an order in which every row comes after those it depends on, and a
   thread works through its rows in that order. So the first unfinished row in that order belongs to a running
   thread and waits for nobody. This holds for any number of threads, also when fewer are started than were
   asked for.

   Results do not depend on the number of threads or on the order of the rows: each row is computed by one
   thread, with the operations of the reference in the reference's order.
*/
#include "host.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <sched.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

enum {
  PREFETCH    = 256,  /* entries of the factor that a solve looks ahead */
  RHS_BLOCK   = 8,    /* right-hand sides that go through the factor together */
  TICKET_MIN  = 32,   /* fewest rows of a ticket in numerical order, most in level order */
  TICKET_ROWS = 8192, /* rows of a ticket in numerical order, if that leaves work for all threads */
  TICKET_MAX  = 256,  /* rows after which a ticket may end among rows of one level */
  /*
     Rows of a row block, which waits for all it depends on and, once computed, is announced. Few
     announcements are best: each takes the cache line from the threads that read it.
  */
  ROW_BLOCK = 64,
  /*
     How many times longer a reference row is than the row where it is searched for the row's columns instead of
     gone through: a binary search takes about as long as that many entries.
  */
  SEARCH = 32,
  /* Polls before the processor is offered to other threads: there may be fewer cores than threads. */
  SPINS = 256
};

/* Position q of the order in which rows are handed out, and the ticket it is on. */
typedef struct {
  PetscInt q, ticket;
} Position;

/*
   A triangle of the factor or its transpose: whom a row depends on, and in which order rows are handed out.
   Position q of that order is row order[q].
*/
typedef struct {
  const PetscInt *ptr, *col;
  PetscInt       *map; /* where the value of an entry stands; NULL: where its column stands */
  PetscInt       *own; /* ptr and col in one array, where the triangle owns them */
  PetscBool       forward;

  /* for several threads, once they are wanted */
  PetscInt         *order;  /* NULL: numerical (forward) or reverse numerical */
  PetscInt         *turn;   /* tickets in the order they are handed out; NULL: as they are numbered */
  PetscInt         *ticket; /* ticket t is row blocks ticket[t] .. ticket[t + 1] - 1 */
  PetscInt         *block;  /* row block k is positions block[k] .. block[k + 1] - 1 */
  PetscInt         *wait;   /* and waits for awaited[wait[k]] .. awaited[wait[k + 1] - 1] */
  Position         *awaited;
  PetscInt          tickets, blocks;
  _Atomic PetscInt *progress; /* all positions of ticket t before progress[t] are finished */
  _Atomic PetscInt  next;     /* the next turn */
} Triangle;

typedef struct {
  PetscScalar *lval, *uval, *dinv;
  Triangle     L, U, LT, UT; /* the last two are set up by the first transposed solve on several threads */
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

/*
   Whom each row block waits for: of every other ticket the last row it needs, unless an earlier row block of
   its ticket waited for that row or a later one.
*/
static PetscErrorCode TriangleWaits(Triangle *tri, PetscInt n, const PetscInt *position)
{
  PetscInt *on, *need, *touched, *known, count = 0, max = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(n, &on, tri->tickets, &need, tri->tickets, &touched, tri->tickets, &known));
  PetscCall(PetscMalloc1(tri->blocks + 1, &tri->wait));
  for (PetscInt t = 0; t < tri->tickets; t++) {
    need[t] = known[t] = -1;
    for (PetscInt q = tri->block[tri->ticket[t]]; q < tri->block[tri->ticket[t + 1]]; q++) on[q] = t;
  }
  for (PetscInt t = 0; t < tri->tickets; t++) {
    const PetscInt begin = count;

    for (PetscInt k = tri->ticket[t]; k < tri->ticket[t + 1]; k++) {
      PetscInt ntouched = 0;

      tri->wait[k] = count;
      for (PetscInt q = tri->block[k]; q < tri->block[k + 1]; q++) {
        const PetscInt i = tri->order ? tri->order[q] : tri->forward ? q : n - 1 - q;

        for (PetscInt e = tri->ptr[i]; e < tri->ptr[i + 1]; e++) {
          const PetscInt d = position ? position[tri->col[e]] : tri->forward ? tri->col[e] : n - 1 - tri->col[e];

          if (on[d] == t || d <= known[on[d]]) continue;
          if (need[on[d]] < 0) touched[ntouched++] = on[d];
          need[on[d]] = PetscMax(need[on[d]], d);
        }
      }
      if (count + ntouched > max) {
        Position *more;

        max = 2 * (count + ntouched);
        PetscCall(PetscMalloc1(max, &more));
        PetscCall(PetscArraycpy(more, tri->awaited, count));
        PetscCall(PetscFree(tri->awaited));
        tri->awaited = more;
      }
      for (PetscInt w = 0; w < ntouched; w++) {
        tri->awaited[count].q        = need[touched[w]];
        tri->awaited[count++].ticket = touched[w];
        known[touched[w]]            = need[touched[w]];
        need[touched[w]]             = -1;
      }
    }
    for (PetscInt w = begin; w < count; w++) known[tri->awaited[w].ticket] = -1;
  }
  tri->wait[tri->blocks] = count;
  PetscCall(PetscFree4(on, need, touched, known));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Joins tickets in numerical order to larger ones, as large as leaves work for all threads, and finds the
   order to hand them out in.

   Dependences between tickets cost messages between cores, so few large tickets are best. A ticket can follow
   another one at the distance, in rows, that keeps every row behind those it depends on. With unlimited
   threads and a row a unit of time this gives the start of each ticket and the end of all, which says how
   many threads find work. On a grid the larger tickets are parts of a plane, and those that run at one time
   are on different planes. Hence tickets are handed out in the order of their estimated start, in which every
   ticket comes after those it depends on.

   In dep, a ticket that another one depends on has with it how many rows it must be ahead of that one.
*/
static PetscErrorCode JoinTickets(Triangle *tri, PetscInt n, PetscInt threads, PetscInt *start)
{
  const PetscInt fine = tri->tickets;
  PetscInt      *on, *mark, *ptr, *group, *begin, *best, max = 0;
  Position      *dep  = NULL;
  PetscReal      most = 0.0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc6(n, &on, fine, &mark, fine + 1, &ptr, fine, &group, fine, &begin, fine, &best));
  for (PetscInt t = 0; t < fine; t++) {
    mark[t] = -1;
    for (PetscInt q = start[t]; q < start[t + 1]; q++) on[q] = t;
  }
  for (PetscInt t = 0, count = 0; t < fine; t++) {
    ptr[t] = count;
    for (PetscInt q = start[t]; q < start[t + 1]; q++) {
      const PetscInt i = tri->forward ? q : n - 1 - q;

      for (PetscInt e = tri->ptr[i]; e < tri->ptr[i + 1]; e++) {
        const PetscInt r = tri->forward ? tri->col[e] : n - 1 - tri->col[e], d = on[r], ahead = (r - start[d]) + 1 - (q - start[t]);

        if (d == t) continue;
        if (mark[d] < ptr[t]) { /* the first time for this ticket */
          if (count == max) {
            Position *more;

            max = 2 * max + 1024;
            PetscCall(PetscMalloc1(max, &more));
            PetscCall(PetscArraycpy(more, dep, count));
            PetscCall(PetscFree(dep));
            dep = more;
          }
          mark[d]           = count;
          dep[count].ticket = d;
          dep[count++].q    = ahead;
        } else dep[mark[d]].q = PetscMax(dep[mark[d]].q, ahead);
      }
    }
    ptr[t + 1] = count;
  }
  for (PetscInt rows = TICKET_ROWS; rows >= TICKET_MIN && most < 0.95 * (PetscReal)threads; rows /= 2) {
    PetscInt groups = 0, end = 0;

    for (PetscInt t = 0; t < fine; t++) {
      if (!groups || start[t + 1] - start[mark[groups - 1]] > rows) {
        mark[groups]    = t; /* its first ticket */
        begin[groups++] = 0;
      }
      group[t] = groups - 1;
      for (PetscInt k = ptr[t]; k < ptr[t + 1]; k++) {
        const PetscInt d = dep[k].ticket, g = group[d];

        /* behind the group's start, however little the rows need: it must come later in the order */
        if (g != groups - 1)
          begin[groups - 1] = PetscMax(begin[groups - 1],
                                       begin[g] + PetscMax(1, (start[d] - start[mark[g]]) + dep[k].q - (start[t] - start[mark[groups - 1]])));
      }
      end = PetscMax(end, begin[groups - 1] + start[t + 1] - start[mark[groups - 1]]);
    }
    if ((PetscReal)n > most * (PetscReal)end) {
      most = (PetscReal)n / (PetscReal)end;
      PetscCall(PetscArraycpy(best, mark, groups));
      tri->tickets = groups;
      PetscCall(PetscFree(tri->turn));
      PetscCall(PetscMalloc1(groups, &tri->turn));
      for (PetscInt g = 0; g < groups; g++) tri->turn[g] = g;
      PetscCall(PetscSortIntWithArray(groups, begin, tri->turn));
    }
  }
  for (PetscInt t = 0; t < tri->tickets; t++) start[t] = start[best[t]]; /* best[t] >= t */
  start[tri->tickets] = n;
  PetscCall(PetscFree(dep));
  PetscCall(PetscFree6(on, mark, ptr, group, begin, best));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Cuts the rows of a triangle into tickets, and sorts them by level where that is asked for.

   In numerical order a ticket ends where the level falls, that is, where the next row does not have to wait
   for this one: on a grid in natural order these are the lines. Cut elsewhere, the first row of a ticket
   would wait for the last row of the ticket before it, and the threads would run one after another.
*/
static PetscErrorCode TrianglePrepare(Triangle *tri, PetscInt n, const SyncILUSettings *settings)
{
  const SyncILUAnalysis analysis = Order(settings);
  PetscInt             *level, *position, *start, nlevels, most;

  PetscFunctionBegin;
  if (tri->ticket) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &level));
  PetscCall(SyncILUHostLevels(n, tri->ptr, tri->col, tri->forward, level, &nlevels, &most));
  PetscCall(PetscMalloc2(n + 1, &start, n, &position));
  tri->tickets = 0; /* start: their first positions */
  if (analysis == SYNCILU_ANALYSIS_NONE) {
    PetscInt first = 0;

    for (PetscInt q = 1; q < n; q++) {
      const PetscInt i = tri->forward ? q : n - 1 - q, before = tri->forward ? i - 1 : i + 1;

      if ((level[i] < level[before] && q - first >= TICKET_MIN) || (level[i] == level[before] && q - first >= TICKET_MAX)) {
        start[tri->tickets++] = first;
        first                 = q;
      }
    }
    if (n) start[tri->tickets++] = first;
    start[tri->tickets] = n;
    PetscCall(JoinTickets(tri, n, Threads(settings), start));
  } else {
    PetscInt *at;

    if (analysis == SYNCILU_ANALYSIS_ALAP) PetscCall(SyncILUHostLevelsLate(n, tri->ptr, tri->col, tri->forward, nlevels, level));
    PetscCall(PetscCalloc1(nlevels + 1, &at));
    PetscCall(PetscMalloc1(n, &tri->order));
    for (PetscInt i = 0; i < n; i++) at[level[i] + 1]++;
    for (PetscInt l = 0; l < nlevels; l++) {
      for (PetscInt q = 0; q < at[l + 1]; q += TICKET_MIN) start[tri->tickets++] = at[l] + q;
      at[l + 1] += at[l];
    }
    for (PetscInt q = 0; q < n; q++) {
      const PetscInt i = tri->forward ? q : n - 1 - q;

      position[i]             = at[level[i]]++;
      tri->order[position[i]] = i;
    }
    PetscCall(PetscFree(at));
  }
  start[tri->tickets] = n;
  PetscCall(PetscFree(level));

  PetscCall(PetscMalloc1(tri->tickets + 1, &tri->ticket));
  tri->blocks = 0;
  for (PetscInt t = 0; t < tri->tickets; t++) {
    tri->ticket[t] = tri->blocks;
    tri->blocks += (start[t + 1] - start[t] + ROW_BLOCK - 1) / ROW_BLOCK;
  }
  tri->ticket[tri->tickets] = tri->blocks;
  PetscCall(PetscMalloc1(tri->blocks + 1, &tri->block));
  for (PetscInt t = 0; t < tri->tickets; t++) {
    for (PetscInt k = tri->ticket[t]; k < tri->ticket[t + 1]; k++) tri->block[k] = start[t] + (k - tri->ticket[t]) * ROW_BLOCK;
  }
  tri->block[tri->blocks] = n;
  PetscCall(PetscMalloc1(tri->tickets, &tri->progress));
  PetscCall(TriangleWaits(tri, n, tri->order ? position : NULL));
  PetscCall(PetscFree2(start, position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TriangleDestroy(Triangle *tri)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(tri->map));
  PetscCall(PetscFree(tri->own));
  PetscCall(PetscFree(tri->order));
  PetscCall(PetscFree(tri->turn));
  PetscCall(PetscFree(tri->ticket));
  PetscCall(PetscFree(tri->block));
  PetscCall(PetscFree(tri->wait));
  PetscCall(PetscFree(tri->awaited));
  PetscCall(PetscFree(tri->progress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt64 TriangleBytes(const Triangle *tri, PetscInt n)
{
  PetscInt64 count = 0;

  if (tri->ticket) count += 2 * ((PetscInt64)tri->tickets + tri->blocks + tri->wait[tri->blocks]);
  if (tri->order) count += n;
  if (tri->turn) count += tri->tickets;
  if (tri->own) count += n + 2 * (PetscInt64)tri->ptr[n];
  return count * (PetscInt64)sizeof(PetscInt);
}

/*
   The transposed triangle. Entries of a row come in the order in which the reference, which works by columns,
   subtracts them: that of the rows of the triangle given.
*/
static PetscErrorCode TriangleTranspose(const Triangle *tri, PetscInt n, Triangle *t)
{
  const PetscInt nz = tri->ptr[n];
  PetscInt      *ptr, *col;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)n + 1 + nz, &t->own));
  PetscCall(PetscMalloc1(nz, &t->map));
  ptr = t->own;
  col = t->own + n + 1;
  PetscCall(PetscArrayzero(ptr, n + 1));
  for (PetscInt k = 0; k < nz; k++) ptr[tri->col[k] + 1]++;
  for (PetscInt i = 0; i < n; i++) ptr[i + 1] += ptr[i];
  t->forward = (PetscBool)!tri->forward;
  for (PetscInt q = 0; q < n; q++) {
    const PetscInt i = t->forward ? q : n - 1 - q;

    for (PetscInt k = tri->ptr[i]; k < tri->ptr[i + 1]; k++) {
      const PetscInt at = ptr[tri->col[k]]++;

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

static PetscErrorCode PreparePair(SyncILUEngine e, Triangle *first, Triangle *second)
{
  PetscFunctionBegin;
  PetscCall(TrianglePrepare(first, e->pattern.n, &e->settings));
  PetscCall(TrianglePrepare(second, e->pattern.n, &e->settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the threads start. */
static void TriangleBegin(Triangle *tri)
{
  atomic_init(&tri->next, 0);
  for (PetscInt t = 0; t < tri->tickets; t++) atomic_init(&tri->progress[t], 0);
}

/* How far a thread has got in a triangle. */
typedef struct {
  PetscInt t, k;   /* its ticket, -1 before the first, and block */
  PetscInt low;    /* it knows that all tickets before this one are finished, */
  PetscInt prefix; /* that is, all positions before this one, for which it need not look; */
  PetscInt looked; /* nor for those of this ticket */
  PetscInt saw;    /* before this position */
} Walk;

static const Walk walk_start = {-1, 0, 0, 0, -1, 0};

/*
   Acquire pairs with the release in NextBlock(): who sees the progress of a ticket sees the values of its
   rows.
*/
static PetscInt WaitFor(Triangle *tri, const Position *position)
{
  PetscInt progress;

  for (int spins = 0; (progress = atomic_load_explicit(&tri->progress[position->ticket], memory_order_acquire)) <= position->q;) {
    if (++spins == SPINS) {
      sched_yield();
      spins = 0;
    }
  }
  return progress;
}

/*
   Announces the row block that is done, takes the next one, of a new ticket if need be, and waits until all
   that it depends on is finished. Returns the positions of its rows, or false after the last ticket.
*/
static PetscBool NextBlock(Triangle *tri, Walk *w, PetscInt *first, PetscInt *last)
{
  if (w->t >= 0) atomic_store_explicit(&tri->progress[w->t], tri->block[++w->k], memory_order_release);
  if (w->t < 0 || w->k == tri->ticket[w->t + 1]) {
    const PetscInt turn = atomic_fetch_add_explicit(&tri->next, 1, memory_order_relaxed);

    if (turn >= tri->tickets) return PETSC_FALSE;
    w->t = tri->turn ? tri->turn[turn] : turn;
    w->k = tri->ticket[w->t];
    while (w->low < w->t && atomic_load_explicit(&tri->progress[w->low], memory_order_acquire) == tri->block[tri->ticket[w->low + 1]]) w->low++;
    w->prefix = tri->block[tri->ticket[w->low]];
  }
  for (PetscInt p = tri->wait[w->k]; p < tri->wait[w->k + 1]; p++) {
    if (tri->awaited[p].q >= w->prefix && (tri->awaited[p].ticket != w->looked || tri->awaited[p].q >= w->saw)) {
      w->looked = tri->awaited[p].ticket;
      w->saw    = WaitFor(tri, &tri->awaited[p]);
    }
  }
  *first = tri->block[w->k];
  *last  = tri->block[w->k + 1];
  return PETSC_TRUE;
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
static void SubtractFound(PetscInt count, const PetscInt *col, PetscScalar l, PetscInt u0, PetscInt u1, const PetscInt *ucol, const PetscScalar *uval,
                          PetscScalar *w)
{
  for (PetscInt k = 0; k < count; k++) {
    PetscInt lo = u0, hi = u1;

    while (lo < hi) {
      const PetscInt mid = lo + (hi - lo) / 2;

      if (ucol[mid] < col[k]) lo = mid + 1;
      else hi = mid;
    }
    if (lo < u1 && ucol[lo] == col[k]) w[col[k]] -= l * uval[lo];
  }
}

/*
   The rows at positions first .. last - 1 of an order, whose dependences are finished. w (and with relaxation
   mark) belong to the thread: one entry a column, any content at first (mark: none above the row).
*/
static inline void FactorRows(const FactorJob *job, const PetscInt *order, PetscInt first, PetscInt last, PetscScalar *PETSC_RESTRICT w,
                              PetscInt *PETSC_RESTRICT mark, SyncILUStatus *status, const PetscBool relax)
{
  const SyncILUPattern *p    = job->p;
  const PetscInt       *lptr = p->lptr, *lcol = p->lcol, *uptr = p->uptr, *ucol = p->ucol;
  const PetscBool       rowsums = SyncILUNeedsRowSum(job->piv);
  Host                 *h       = job->h;
  PetscScalar          *lval = h->lval, *uval = h->uval, *dinv = h->dinv;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt     i = order ? order[q] : q, r = p->row ? p->row[i] : i;
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

      l       = w[ref] * dinv[ref];
      lval[k] = l;
      if (l == (PetscScalar)0.0) continue;
      if (relax) {
        for (PetscInt t = uptr[ref]; t < uptr[ref + 1]; t++) {
          if (mark[ucol[t]] == i + 1) w[ucol[t]] -= l * uval[t];
          else dropped += l * uval[t];
        }
      } else if ((uptr[ref + 1] - uptr[ref]) / SEARCH > l1 - k + u1 - u0) { /* as with a dense row or column */
        SubtractFound(l1 - k - 1, lcol + k + 1, l, uptr[ref], uptr[ref + 1], ucol, uval, w);
        SubtractFound(1, &i, l, uptr[ref], uptr[ref + 1], ucol, uval, w);
        SubtractFound(u1 - u0, ucol + u0, l, uptr[ref], uptr[ref + 1], ucol, uval, w);
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
  for (PetscInt t = 0; t < threads; t++) { SyncILUStatusReset(&found[t]); }
  if (threads == 1) {
    if (relax) FactorRows(&job, NULL, 0, n, w, mark, found, PETSC_TRUE);
    else FactorRows(&job, NULL, 0, n, w, NULL, found, PETSC_FALSE);
  }
#if defined(_OPENMP)
  else {
    PetscCall(TrianglePrepare(&h->L, n, &e->settings));
    TriangleBegin(&h->L);
  #pragma omp parallel num_threads((int)threads)
    {
      const size_t me   = (size_t)omp_get_thread_num();
      Walk         walk = walk_start;
      PetscInt     first, last;

      while (NextBlock(&h->L, &walk, &first, &last)) {
        if (relax) FactorRows(&job, h->L.order, first, last, w + me * n, mark + me * n, &found[me], PETSC_TRUE);
        else FactorRows(&job, h->L.order, first, last, w + me * n, NULL, &found[me], PETSC_FALSE);
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
  Triangle          *tri;
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

/*
   The rows at positions first .. last - 1 of an order, whose dependences are finished. Where it is inlined
   the compiler knows which arguments are NULL: a row may have as few as one entry.
*/
static inline void SolveRows(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last, const PetscBool forward,
                             const PetscInt *PETSC_RESTRICT map, const PetscInt *in, const PetscScalar *dinv)
{
  const PetscInt *PETSC_RESTRICT ptr = job->tri->ptr, *PETSC_RESTRICT col = job->tri->col;
  const PetscScalar *PETSC_RESTRICT val = job->val;
  const PetscScalar                *b   = job->b;
  PetscScalar                      *x   = job->x;
  const PetscInt                    end = job->n - 1, nz = ptr[job->n];

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i   = order ? order[q] : forward ? q : end - q;
    PetscScalar    sum = b[in ? in[i] : i];

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
  const Triangle *tri = job->tri;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i = order ? order[q] : tri->forward ? q : job->n - 1 - q, from = job->in ? job->in[i] : i;
    PetscScalar    sum[RHS_BLOCK];

    for (PetscInt r = 0; r < job->nrhs; r++) sum[r] = job->b[from + (size_t)r * job->ldb];
    for (PetscInt k = tri->ptr[i]; k < tri->ptr[i + 1]; k++) {
      const PetscScalar  a  = job->val[tri->map ? tri->map[k] : k];
      const PetscScalar *xk = job->x + tri->col[k];

      for (PetscInt r = 0; r < job->nrhs; r++) sum[r] -= a * xk[(size_t)r * job->ldx];
    }
    for (PetscInt r = 0; r < job->nrhs; r++) job->x[i + (size_t)r * job->ldx] = job->dinv ? sum[r] * job->dinv[i] : sum[r];
  }
}

static void SolveBlock(const SolveJob *job, const PetscInt *order, PetscInt first, PetscInt last)
{
  const Triangle *tri = job->tri;

  if (job->nrhs > 1) SolveRowsMany(job, order, first, last);
  else if (order || job->in || tri->own) SolveRows(job, order, first, last, tri->forward, tri->map, job->in, job->dinv);
  else if (tri->forward) SolveRows(job, NULL, first, last, PETSC_TRUE, NULL, NULL, NULL);
  else SolveRows(job, NULL, first, last, PETSC_FALSE, NULL, NULL, job->dinv);
}

#if defined(_OPENMP)
/* What one thread does of a triangular solve. */
static void SolveShare(const SolveJob *job)
{
  Walk     walk = walk_start;
  PetscInt first, last;

  while (NextBlock(job->tri, &walk, &first, &last)) SolveBlock(job, job->tri->order, first, last);
}
#endif

/* The transposed solve on one thread, by columns as in the reference: no transposed pattern is needed. */
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

static PetscErrorCode Solve_Host(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx,
                                 PetscMemType mem)
{
  Host                 *h = (Host *)e->data;
  const SyncILUPattern *p = &e->pattern;
  const PetscInt        n = p->n, threads = Threads(&e->settings);
  const PetscInt       *in    = trans == SYNCILU_TRANS ? p->col : p->row;
  const PetscInt       *out   = trans == SYNCILU_TRANS ? p->row : p->col;
  const PetscInt        block = trans == SYNCILU_TRANS && threads == 1 ? 1 : RHS_BLOCK;

  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(mem), PETSC_COMM_SELF, PETSC_ERR_PLIB, "The host backend was given arrays on a device");
  if (out && h->works < PetscMin(block, nrhs)) {
    h->works = PetscMin(block, nrhs);
    PetscCall(PetscFree(h->work));
    PetscCall(PetscMalloc1((size_t)n * h->works, &h->work));
  }
#if defined(_OPENMP)
  if (threads > 1) {
    if (trans == SYNCILU_TRANS) {
      if (!h->UT.own) PetscCall(TriangleTranspose(&h->U, n, &h->UT));
      if (!h->LT.own) PetscCall(TriangleTranspose(&h->L, n, &h->LT));
      PetscCall(PreparePair(e, &h->UT, &h->LT));
    } else PetscCall(PreparePair(e, &h->L, &h->U));
  }
#endif
  for (PetscInt r0 = 0; r0 < nrhs; r0 += block) {
    const PetscInt     nb = PetscMin(block, nrhs - r0);
    const PetscScalar *bb = b + (size_t)r0 * ldb;
    PetscScalar       *xx = x + (size_t)r0 * ldx, *y = out ? h->work : xx;
    const PetscInt     ldy   = out ? n : ldx;
    SolveJob           first = {trans == SYNCILU_TRANS ? &h->UT : &h->L,
                      trans == SYNCILU_TRANS ? h->uval : h->lval,
                      trans == SYNCILU_TRANS ? h->dinv : NULL,
                      bb,
                      in,
                      ldb,
                      y,
                      ldy,
                      nb,
                      n};
    SolveJob second = {trans == SYNCILU_TRANS ? &h->LT : &h->U,
                       trans == SYNCILU_TRANS ? h->lval : h->uval,
                       trans == SYNCILU_TRANS ? NULL : h->dinv,
                       y,
                       NULL,
                       ldy,
                       y,
                       ldy,
                       nb,
                       n};

    if (threads == 1) {
      if (trans == SYNCILU_TRANS) SolveTransposeSerial(p, h, bb, y);
      else {
        SolveBlock(&first, NULL, 0, n);
        SolveBlock(&second, NULL, 0, n);
      }
    }
#if defined(_OPENMP)
    else {
      TriangleBegin(first.tri);
      TriangleBegin(second.tri);
  #pragma omp parallel num_threads((int)threads)
      {
        SolveShare(&first);
        /* the second solve overwrites what rows of the first one still read */
  #pragma omp barrier
        SolveShare(&second);
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

static PetscErrorCode Plan_Host(SyncILUEngine e, const SyncILUCSR *A, PetscBool *needpattern)
{
  const SyncILUPattern *p = &e->pattern;
  Host                 *h;

  PetscFunctionBegin;
  if (A) {
    *needpattern = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
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
  if (Threads(&e->settings) > 1) PetscCall(PreparePair(e, &h->L, &h->U));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_Host(SyncILUEngine e)
{
  Host *h = (Host *)e->data;

  PetscFunctionBegin;
  if (!h) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TriangleDestroy(&h->L));
  PetscCall(TriangleDestroy(&h->U));
  PetscCall(TriangleDestroy(&h->LT));
  PetscCall(TriangleDestroy(&h->UT));
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
  Host           *h = (Host *)e->data;
  const Triangle *triangle[2];
  const PetscInt  n = e->pattern.n;

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
    s->level_rows[i] = h->width[i];
  }
  s->threads = Threads(&e->settings);
  s->bytes += (PetscInt64)sizeof(PetscScalar) * ((PetscInt64)s->nonzeros + (PetscInt64)n * h->works);
  s->bytes += TriangleBytes(&h->L, n) + TriangleBytes(&h->U, n) + TriangleBytes(&h->LT, n) + TriangleBytes(&h->UT, n);
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
  PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: by rows with a dense work row a thread; solves: a thread a row\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SyncILUBackendOps SyncILUHostOps = {.backend    = SYNCILU_BACKEND_HOST,
                                          .plan       = Plan_Host,
                                          .destroy    = Destroy_Host,
                                          .excess     = Excess_Host,
                                          .factor     = Factor_Host,
                                          .solve      = Solve_Host,
                                          .values     = Values_Host,
                                          .statistics = Statistics_Host,
                                          .view       = View_Host};
