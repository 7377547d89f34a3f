/*
   How the rows of a triangle are cut into tickets, and handed out.
*/
#include "tickets.h"
#include <sched.h>

enum {
  TICKET_MIN  = 32,   /* fewest rows of a ticket in numerical order, most in level order */
  TICKET_ROWS = 8192, /* rows of a ticket in numerical order, if that leaves work for all threads */
  TICKET_MAX  = 256,  /* rows after which a ticket may end among rows of one level */
  /*
     Rows of a batch, which waits for all it depends on and, once computed, is announced. Few announcements are
     best: each takes the cache line from the threads that read it.
  */
  BATCH = 64,
  /* Polls before the processor is offered to other threads: there may be fewer cores than threads. */
  SPINS = 256
};

/*
   Whom each batch waits for: of every other ticket the last row it needs, unless an earlier batch of
   its ticket waited for that row or a later one.
*/
static PetscErrorCode TriangleWaits(SyncILUTriangle *tri, PetscInt n, const PetscInt *position)
{
  PetscInt *on, *need, *touched, *known, count = 0, max = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(n, &on, tri->tickets, &need, tri->tickets, &touched, tri->tickets, &known));
  PetscCall(PetscMalloc1(tri->batches + 1, &tri->wait));
  for (PetscInt t = 0; t < tri->tickets; t++) {
    need[t] = known[t] = -1;
    for (PetscInt q = tri->batch[tri->ticket[t]]; q < tri->batch[tri->ticket[t + 1]]; q++) on[q] = t;
  }
  for (PetscInt t = 0; t < tri->tickets; t++) {
    const PetscInt begin = count;

    for (PetscInt k = tri->ticket[t]; k < tri->ticket[t + 1]; k++) {
      PetscInt ntouched = 0;

      tri->wait[k] = count;
      for (PetscInt q = tri->batch[k]; q < tri->batch[k + 1]; q++) {
        const PetscInt i = tri->order ? tri->order[q] : tri->forward ? q : n - 1 - q;

        for (PetscInt e = tri->ptr[i]; e < tri->ptr[i + 1]; e++) {
          const PetscInt d = position ? position[tri->col[e]] : tri->forward ? tri->col[e] : n - 1 - tri->col[e];

          if (on[d] == t || d <= known[on[d]]) continue;
          if (need[on[d]] < 0) touched[ntouched++] = on[d];
          need[on[d]] = PetscMax(need[on[d]], d);
        }
      }
      if (count + ntouched > max) {
        SyncILUPosition *more;

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
  tri->wait[tri->batches] = count;
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
static PetscErrorCode JoinTickets(SyncILUTriangle *tri, PetscInt n, PetscInt threads, PetscInt *start)
{
  const PetscInt   fine = tri->tickets;
  PetscInt        *on, *mark, *ptr, *group, *begin, *best, max = 0;
  SyncILUPosition *dep  = NULL;
  PetscReal        most = 0.0;

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
            SyncILUPosition *more;

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
PetscErrorCode SyncILUTrianglePrepare(SyncILUTriangle *tri, PetscInt n, SyncILUAnalysis analysis, PetscInt threads)
{
  PetscInt *level, *position, *start, nlevels, most;

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
    PetscCall(JoinTickets(tri, n, threads, start));
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
  tri->batches = 0;
  for (PetscInt t = 0; t < tri->tickets; t++) {
    tri->ticket[t] = tri->batches;
    tri->batches += (start[t + 1] - start[t] + BATCH - 1) / BATCH;
  }
  tri->ticket[tri->tickets] = tri->batches;
  PetscCall(PetscMalloc1(tri->batches + 1, &tri->batch));
  for (PetscInt t = 0; t < tri->tickets; t++) {
    for (PetscInt k = tri->ticket[t]; k < tri->ticket[t + 1]; k++) tri->batch[k] = start[t] + (k - tri->ticket[t]) * BATCH;
  }
  tri->batch[tri->batches] = n;
  PetscCall(PetscMalloc1(tri->tickets, &tri->progress));
  PetscCall(TriangleWaits(tri, n, tri->order ? position : NULL));
  PetscCall(PetscFree2(start, position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUTriangleDestroy(SyncILUTriangle *tri)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(tri->map));
  PetscCall(PetscFree(tri->own));
  PetscCall(PetscFree(tri->order));
  PetscCall(PetscFree(tri->turn));
  PetscCall(PetscFree(tri->ticket));
  PetscCall(PetscFree(tri->batch));
  PetscCall(PetscFree(tri->wait));
  PetscCall(PetscFree(tri->awaited));
  PetscCall(PetscFree(tri->progress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 SyncILUTriangleBytes(const SyncILUTriangle *tri, PetscInt n)
{
  PetscInt64 count = 0;

  if (tri->ticket) count += 2 * ((PetscInt64)tri->tickets + tri->batches + tri->wait[tri->batches]);
  if (tri->order) count += n;
  if (tri->turn) count += tri->tickets;
  if (tri->own) count += n + 2 * (PetscInt64)tri->ptr[n];
  return count * (PetscInt64)sizeof(PetscInt);
}

/*
   The transposed triangle. Entries of a row come in the order in which the reference, which works by columns,
   subtracts them: that of the rows of the triangle given.
*/
PetscErrorCode SyncILUTriangleTranspose(const SyncILUTriangle *tri, PetscInt n, SyncILUTriangle *t)
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

/* Before the threads start. */
void SyncILUTriangleBegin(SyncILUTriangle *tri)
{
  atomic_init(&tri->next, 0);
  for (PetscInt t = 0; t < tri->tickets; t++) atomic_init(&tri->progress[t], 0);
}

/*
   Acquire pairs with the release in SyncILUTriangleNext(): who sees the progress of a ticket sees the values of its
   rows.
*/
static PetscInt WaitFor(SyncILUTriangle *tri, const SyncILUPosition *position)
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
   Announces the batch that is done, takes the next one, of a new ticket if need be, and waits until all
   that it depends on is finished. Returns the positions of its rows, or false after the last ticket.
*/
PetscBool SyncILUTriangleNext(SyncILUTriangle *tri, SyncILUWalk *w, PetscInt *first, PetscInt *last)
{
  if (w->t >= 0) atomic_store_explicit(&tri->progress[w->t], tri->batch[++w->k], memory_order_release);
  if (w->t < 0 || w->k == tri->ticket[w->t + 1]) {
    const PetscInt turn = atomic_fetch_add_explicit(&tri->next, 1, memory_order_relaxed);

    if (turn >= tri->tickets) return PETSC_FALSE;
    w->t = tri->turn ? tri->turn[turn] : turn;
    w->k = tri->ticket[w->t];
    while (w->low < w->t && atomic_load_explicit(&tri->progress[w->low], memory_order_acquire) == tri->batch[tri->ticket[w->low + 1]]) w->low++;
    w->prefix = tri->batch[tri->ticket[w->low]];
  }
  for (PetscInt p = tri->wait[w->k]; p < tri->wait[w->k + 1]; p++) {
    if (tri->awaited[p].q >= w->prefix && (tri->awaited[p].ticket != w->looked || tri->awaited[p].q >= w->saw)) {
      w->looked = tri->awaited[p].ticket;
      w->saw    = WaitFor(tri, &tri->awaited[p]);
    }
  }
  *first = tri->batch[w->k];
  *last  = tri->batch[w->k + 1];
  return PETSC_TRUE;
}
