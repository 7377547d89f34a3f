/*
   Update strategy parilut: the pattern of L and U is found together with their values, in rounds (H. Anzt, E.
   Chow, J. Dongarra, SIAM J. Sci. Comput. 40, 2018; H. Anzt et al., IPDPS 2019). A round

   1. adds to the pattern S of L + U the candidates, all other entries of L U, and those of the first pattern that it
      lacks, as zeros;
   2. makes two sweeps (src/sweeps.c). After the first one a candidate is the residual (A - L U)_ij of the L and U
      that it was not in, the document's first value for it; the second one is the document's sweep after adding;
   3. removes the smallest entries, so that about so many are left as are asked for, and zeros;
   4. makes one more sweep.

   The size of s_ij = w_ij or u_ij is |s_ij| / sqrt(|d_i d_j|), where the document has |l_ij| and |u_ij|, each
   with a threshold of its own: it does not change when rows and columns are scaled alike, and it is symmetric
   where the matrix is, and so is the pattern. What has no size, as in rows with a pivot that is zero or no
   number, stays.

   Sizes are compared as integers, squared and rounded to 16 bits of the mantissa. So numbers that differ by
   rounding alone are equal here, as they are in the many rows of one kind that a grid has, and the patterns
   that backends find are the same, though they round differently; unless a size comes closer than that to the
   middle between two such numbers. Equal ones stay or go together.

   The threshold is the one of the document's approximate selection: a sample of the sizes, sorted, has 255
   splitters, between which all sizes are counted. In the bucket in which the number of entries that are asked
   for is reached, 256 equal parts are counted once more, and the smallest bound of theirs is taken that
   leaves no more than are asked for. The positions of the sample are hashes of their numbers, the same every
   time.
*/
#include "host.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(_OPENMP)
  #include <omp.h>
#endif

enum {
  ROWS    = 256, /* that a thread takes at a time */
  SAMPLES = 1024,
  BUCKETS = 256
};

#define KEY_SHIFT 36                  /* bits of a number that its key lacks */
#define KEY_MOST  ((uint32_t)1 << 28) /* above all finite ones */

/* What indices can count; tests have less. */
PetscInt SyncILUSearchMost = PETSC_MAX_INT;

/* A pattern with the iterate on it; row, col and colinv are on loan. */
typedef struct {
  SyncILUPattern p;
  PetscInt      *map; /* of a half: where in U the entries of its transpose stand */
  SyncILUIterate v;
} Stage;

PetscErrorCode SyncILUIterateDestroy(SyncILUIterate *v)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(v->l));
  PetscCall(PetscFree(v->u));
  PetscCall(PetscFree(v->dinv));
  PetscCall(PetscFree(v->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StageDestroy(Stage *s)
{
  PetscFunctionBegin;
  s->p.row = s->p.col = s->p.colinv = NULL;
  PetscCall(SyncILUPatternDestroy(&s->p));
  PetscCall(PetscFree(s->map));
  PetscCall(SyncILUIterateDestroy(&s->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An empty pattern like another one, whose rows begin nowhere yet. */
static PetscErrorCode StageBegin(const SyncILUPattern *like, Stage *s)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->p      = *like;
  s->p.same = PETSC_FALSE;
  s->p.lcol = s->p.ucol = NULL;
  PetscCall(PetscMalloc1(like->n + 1, &s->p.lptr));
  PetscCall(PetscMalloc1(like->n + 1, &s->p.uptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for an iterate on the pattern of a stage. */
static PetscErrorCode AllocIterate(const SyncILUPattern *p, SyncILUIterate *v)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(p->half ? 0 : p->nl, &v->l));
  PetscCall(PetscMalloc1(p->nu, &v->u));
  PetscCall(PetscMalloc1(p->n, &v->dinv));
  PetscCall(PetscMalloc1(p->n, &v->d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the lengths of row i at i + 1 to where rows begin; room for columns and values. */
static PetscErrorCode StageAlloc(Stage *s)
{
  SyncILUPattern *p   = &s->p;
  PetscInt64      sum = 0;

  PetscFunctionBegin;
  p->lptr[0] = p->uptr[0] = 0;
  for (PetscInt i = 0; i < p->n; i++) {
    sum += (PetscInt64)p->lptr[i + 1] + p->uptr[i + 1] + 1;
    PetscCheck(sum <= SyncILUSearchMost, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_syncilu_update parilut: more than %" PetscInt_FMT " entries and candidates by row %" PetscInt_FMT, SyncILUSearchMost, i);
    p->lptr[i + 1] += p->lptr[i];
    p->uptr[i + 1] += p->uptr[i];
  }
  p->nl = p->lptr[p->n];
  p->nu = p->uptr[p->n];
  PetscCall(PetscMalloc1(p->nl, &p->lcol));
  PetscCall(PetscMalloc1(p->nu, &p->ucol));
  PetscCall(AllocIterate(p, &s->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of U come in ascending order of what refers to them. */
static PetscErrorCode StageMap(Stage *s)
{
  const SyncILUPattern *p = &s->p;
  PetscInt             *next;

  PetscFunctionBegin;
  if (!p->half) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(p->nl, &s->map));
  PetscCall(PetscMalloc1(p->n, &next));
  PetscCall(PetscArraycpy(next, p->uptr, p->n));
  for (PetscInt k = 0; k < p->nl; k++) s->map[k] = next[p->lcol[k]]++;
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of the entries that both patterns have; the others, all in `to`, are zero. */
static void CarryRow(const PetscInt *col, const PetscScalar *val, PetscInt k, PetscInt end, const PetscInt *tocol, PetscScalar *toval, PetscInt q,
                     PetscInt toend)
{
  for (; q < toend; q++) {
    while (k < end && col[k] < tocol[q]) k++;
    toval[q] = k < end && col[k] == tocol[q] ? val[k] : (PetscScalar)0.0;
  }
}

static PetscErrorCode StageCarry(const Stage *from, Stage *to)
{
  const SyncILUPattern *p = &from->p, *q = &to->p;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < p->n; i++) {
    if (!p->half) CarryRow(p->lcol, from->v.l, p->lptr[i], p->lptr[i + 1], q->lcol, to->v.l, q->lptr[i], q->lptr[i + 1]);
    CarryRow(p->ucol, from->v.u, p->uptr[i], p->uptr[i + 1], q->ucol, to->v.u, q->uptr[i], q->uptr[i + 1]);
  }
  PetscCall(PetscArraycpy(to->v.dinv, from->v.dinv, p->n));
  PetscCall(PetscArraycpy(to->v.d, from->v.d, p->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int CompareColumns(const void *a, const void *b)
{
  const PetscInt i = *(const PetscInt *)a, j = *(const PetscInt *)b;

  return (i > j) - (i < j);
}

static int CompareKeys(const void *a, const void *b)
{
  const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

  return (i > j) - (i < j);
}

/* Those of count columns that row i has not yet. */
static PetscInt AddColumns(PetscInt i, const PetscInt *col, PetscInt count, PetscInt *mark, PetscInt *row, PetscInt len)
{
  for (PetscInt k = 0; k < count; k++) {
    if (col[k] == i || mark[col[k]] == i + 1) continue;
    mark[col[k]] = i + 1;
    row[len++]   = col[k];
  }
  return len;
}

/* The columns of row i with its candidates, in any order and without the diagonal: how many. */
static PetscInt ExtendRow(const SyncILUPattern *start, const SyncILUPattern *p, PetscInt i, PetscInt *mark, PetscInt *row)
{
  PetscInt len = 0;

  for (int k = 0; k < 2; k++) {
    const SyncILUPattern *q = k ? start : p;

    len = AddColumns(i, q->lcol + q->lptr[i], q->lptr[i + 1] - q->lptr[i], mark, row, len);
    len = AddColumns(i, q->ucol + q->uptr[i], q->uptr[i + 1] - q->uptr[i], mark, row, len);
  }
  for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
    const PetscInt ref = p->lcol[k];

    len = AddColumns(i, p->ucol + p->uptr[ref], p->uptr[ref + 1] - p->uptr[ref], mark, row, len);
  }
  return len;
}

/* Counts the entries of all rows with their candidates, or writes them. */
static PetscErrorCode ExtendRows(const SyncILUPattern *start, const SyncILUPattern *p, PetscBool write, PetscInt threads, SyncILUPattern *q)
{
  const PetscInt n = p->n;
  PetscInt      *work;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(2 * (size_t)n * (size_t)threads, &work)); /* of each thread: marks and a row */
#if defined(_OPENMP)
  #pragma omp parallel num_threads((int)threads)
#endif
  {
    PetscInt *mark = work, *row;

#if defined(_OPENMP)
    mark += 2 * (size_t)n * (size_t)omp_get_thread_num();
#endif
    row = mark + n;
#if defined(_OPENMP)
  #pragma omp for schedule(dynamic, ROWS)
#endif
    for (PetscInt i = 0; i < n; i++) {
      const PetscInt len = ExtendRow(start, p, i, mark, row);
      PetscInt       nl  = 0;

      if (write) {
        qsort(row, (size_t)len, sizeof(*row), CompareColumns);
        nl = q->lptr[i + 1] - q->lptr[i];
        for (PetscInt k = 0; k < len; k++) {
          if (k < nl) q->lcol[q->lptr[i] + k] = row[k];
          else q->ucol[q->uptr[i] + k - nl] = row[k];
        }
      } else {
        for (PetscInt k = 0; k < len; k++) nl += row[k] < i;
        q->lptr[i + 1] = nl;
        q->uptr[i + 1] = len - nl;
      }
    }
  }
  PetscCall(PetscFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Extend(const SyncILUPattern *start, const Stage *from, PetscInt threads, Stage *to)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(StageBegin(&from->p, to));
  PetscCall(ExtendRows(start, &from->p, PETSC_FALSE, threads, &to->p));
  ierr = StageAlloc(to); /* there may be too many candidates */
  if (ierr) PetscCall(StageDestroy(to));
  PetscCall(ierr);
  PetscCall(ExtendRows(start, &from->p, PETSC_TRUE, threads, &to->p));
  PetscCall(StageMap(to));
  PetscCall(StageCarry(from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where in the keys of all rows, those of L before those of U, entry k of row i stands. */
static inline PetscInt KeyOfLower(const SyncILUPattern *p, PetscInt i, PetscInt k)
{
  return p->uptr[i] + k;
}

static inline PetscInt KeyOfUpper(const SyncILUPattern *p, PetscInt i, PetscInt k)
{
  return p->lptr[i + 1] + k;
}

/*
   Of |s| sqrt(|d e|), with reciprocals d and e of pivots: see above. A row without a usable pivot has zero.
*/
static uint32_t SizeKey(PetscReal s, PetscReal d, PetscReal e)
{
  const double size = d > 0.0 && e > 0.0 ? (double)(s * d) * (double)(s * e) : INFINITY;
  uint64_t     bits;

  if (!(size < INFINITY)) return KEY_MOST;
  memcpy(&bits, &size, sizeof(bits));
  return (uint32_t)((bits + ((uint64_t)1 << (KEY_SHIFT - 1))) >> KEY_SHIFT);
}

static void MakeKeys(const Stage *s, PetscInt threads, uint32_t *key)
{
  const SyncILUPattern *p = &s->p;
  const SyncILUIterate *v = &s->v;

  (void)threads;
#if defined(_OPENMP)
  #pragma omp parallel for num_threads((int)threads) schedule(dynamic, ROWS)
#endif
  for (PetscInt i = 0; i < p->n; i++) {
    const PetscReal d = PetscAbsScalar(v->dinv[i]);

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      const PetscInt  j    = p->lcol[k];
      const PetscReal size = p->half ? PetscAbsScalar(v->u[s->map[k]]) * PetscAbsScalar(v->d[j]) : PetscAbsScalar(v->l[k]);

      key[KeyOfLower(p, i, k)] = SizeKey(size, d, PetscAbsScalar(v->dinv[j]));
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      const PetscReal size = p->half ? PetscAbsScalar(v->u[k]) * PetscAbsScalar(v->d[i]) : PetscAbsScalar(v->u[k]);

      key[KeyOfUpper(p, i, k)] = SizeKey(size, d, PetscAbsScalar(v->dinv[p->ucol[k]]));
    }
  }
}

/* The position of a sample among m (Steele, Lea, Flood, OOPSLA 2014: the finalizer of splitmix64). */
static PetscInt Position(uint64_t s, PetscInt m)
{
  if (m <= SAMPLES) return (PetscInt)s;
  s = (s + 1) * UINT64_C(0x9E3779B97F4A7C15);
  s ^= s >> 30;
  s *= UINT64_C(0xbf58476d1ce4e5b9);
  s ^= s >> 27;
  s *= UINT64_C(0x94d049bb133111eb);
  s ^= s >> 31;
  return (PetscInt)(((s >> 32) * (uint64_t)m) >> 32);
}

/*
   The smallest key that stays of those in lo .. hi - 1, where so many at or above hi stay already: that of
   the finest of BUCKETS equal parts of the interval. If nothing stayed, the largest ones do, though they are
   too many.
*/
static uint32_t Finer(const uint32_t *key, PetscInt m, PetscInt limit, uint32_t lo, uint32_t hi, PetscInt above)
{
  const uint32_t step           = (hi - lo + BUCKETS - 1) / BUCKETS;
  PetscInt       count[BUCKETS] = {0};
  int            b;

  for (PetscInt k = 0; k < m; k++) {
    if (key[k] >= lo && key[k] < hi) count[(key[k] - lo) / step]++;
  }
  for (b = BUCKETS - 1; b >= 0 && above + count[b] <= limit; b--) above += count[b];
  return PetscMin(lo + (uint32_t)(above > 0 || b < 0 ? b + 1 : b) * step, hi);
}

/* The smallest key that stays, so that about so many do, and if there is a choice no more. */
static uint32_t Threshold(const uint32_t *key, PetscInt m, PetscInt limit)
{
  const PetscInt samples = PetscMin(m, SAMPLES);
  uint32_t       sample[SAMPLES], splitter[BUCKETS + 1];
  PetscInt       count[BUCKETS] = {0}, above = 0;
  int            t;

  if (m <= limit) return 1;
  for (PetscInt s = 0; s < samples; s++) sample[s] = key[Position((uint64_t)s, m)];
  qsort(sample, (size_t)samples, sizeof(*sample), CompareKeys);
  splitter[0]       = 1; /* zeros go */
  splitter[BUCKETS] = KEY_MOST + 1;
  for (t = 1; t < BUCKETS; t++) splitter[t] = PetscMax(sample[t * samples / BUCKETS], 1);
  for (PetscInt k = 0; k < m; k++) {
    int lo = 0, hi = BUCKETS - 1; /* the last splitter at or below it */

    while (lo < hi) {
      const int mid = (lo + hi + 1) / 2;

      if (splitter[mid] <= key[k]) lo = mid;
      else hi = mid - 1;
    }
    count[lo] += key[k] > 0;
  }
  for (t = BUCKETS - 1; t > 0 && above + count[t] <= limit; t--) above += count[t];
  return Finer(key, m, limit, splitter[t], splitter[t + 1], above);
}

/* The entries whose keys are not below the threshold. */
static PetscErrorCode Remove(const Stage *from, const uint32_t *key, uint32_t threshold, Stage *to)
{
  const SyncILUPattern *p = &from->p;
  SyncILUPattern       *q = &to->p;

  PetscFunctionBegin;
  PetscCall(StageBegin(p, to));
  for (PetscInt i = 0; i < p->n; i++) {
    PetscInt nl = 0, nu = 0;

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) nl += key[KeyOfLower(p, i, k)] >= threshold;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) nu += key[KeyOfUpper(p, i, k)] >= threshold;
    q->lptr[i + 1] = nl;
    q->uptr[i + 1] = nu;
  }
  PetscCall(StageAlloc(to));
  for (PetscInt i = 0, nl = 0, nu = 0; i < p->n; i++) {
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      if (key[KeyOfLower(p, i, k)] >= threshold) q->lcol[nl++] = p->lcol[k];
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      if (key[KeyOfUpper(p, i, k)] >= threshold) q->ucol[nu++] = p->ucol[k];
    }
  }
  PetscCall(StageMap(to));
  PetscCall(StageCarry(from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the next sweeps leave, in the place of the iterate. */
static PetscErrorCode SweepStage(Stage *s, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscInt sweeps, PetscInt threads)
{
  SyncILUIterate from = s->v;
  SyncILUStatus  unused;

  PetscFunctionBegin;
  PetscCall(AllocIterate(&s->p, &s->v));
  PetscCall(SyncILUHostSweeps(&s->p, s->map, A, piv, threads, &from, sweeps, PETSC_FALSE, &s->v, &unused));
  PetscCall(SyncILUIterateDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first pattern with the triangles of the matrix. */
static PetscErrorCode Begin(const SyncILUPattern *start, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscInt threads, Stage *s)
{
  SyncILUStatus unused;

  PetscFunctionBegin;
  PetscCall(StageBegin(start, s));
  PetscCall(PetscArraycpy(s->p.lptr, start->lptr, start->n + 1));
  PetscCall(PetscArraycpy(s->p.uptr, start->uptr, start->n + 1));
  for (PetscInt i = start->n; i > 0; i--) {
    s->p.lptr[i] -= s->p.lptr[i - 1];
    s->p.uptr[i] -= s->p.uptr[i - 1];
  }
  PetscCall(StageAlloc(s));
  PetscCall(PetscArraycpy(s->p.lcol, start->lcol, start->nl));
  PetscCall(PetscArraycpy(s->p.ucol, start->ucol, start->nu));
  PetscCall(StageMap(s));
  PetscCall(SyncILUHostSweeps(&s->p, s->map, A, piv, threads, NULL, 0, PETSC_FALSE, &s->v, &unused));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number that a key stands for. */
static PetscReal SizeOfKey(uint32_t key)
{
  const uint64_t bits = (uint64_t)key << KEY_SHIFT;
  double         size;

  memcpy(&size, &bits, sizeof(size));
  return PetscSqrtReal((PetscReal)size);
}

/* A round; done: it can find nothing new. */
static PetscErrorCode Round(const SyncILUPattern *start, const SyncILUCSR *A, const SyncILUPivoting *piv, PetscInt limit, PetscInt threads, Stage *s,
                            uint32_t *threshold, PetscBool *done)
{
  Stage     extended, rest;
  PetscInt  m;
  uint32_t *key;

  PetscFunctionBegin;
  PetscCall(Extend(start, s, threads, &extended));
  m     = extended.p.nl + extended.p.nu;
  *done = (PetscBool)(m == s->p.nl + s->p.nu && m <= limit);
  if (*done) {
    PetscCall(StageDestroy(&extended));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(SweepStage(&extended, A, piv, 2, threads));
  PetscCall(PetscMalloc1(m, &key));
  MakeKeys(&extended, threads, key);
  *threshold = Threshold(key, m, limit);
  PetscCall(Remove(&extended, key, *threshold, &rest));
  PetscCall(PetscFree(key));
  PetscCall(StageDestroy(&extended));
  PetscCall(StageDestroy(s));
  *s = rest;
  PetscCall(SweepStage(s, A, piv, 1, threads));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUHostSearch - the pattern of L and U that suits the values of a matrix

   Not Collective

   Input Parameters:
+  start    - the pattern of the symbolic phase, with the ordering
.  A        - the matrix
.  piv      - how pivots are judged, the shift of the diagonal
.  settings - rounds, their tolerance and the fill
-  threads  - on which the result does not depend

   Output Parameters:
+  found  - the pattern, whose ordering is on loan from start
.  values - an iterate on it
-  search - what the search took
*/
PetscErrorCode SyncILUHostSearch(const SyncILUPattern *start, const SyncILUCSR *A, const SyncILUPivoting *piv, const SyncILUSettings *settings,
                                 PetscInt threads, SyncILUPattern *found, SyncILUIterate *values, SyncILUSearch *search)
{
  const PetscInt limit     = SyncILUSearchLimit(settings, start);
  uint32_t       threshold = 1;
  PetscBool      done      = PETSC_FALSE;
  PetscErrorCode ierr;
  Stage          s;

  PetscFunctionBegin;
  PetscCall(Begin(start, A, piv, threads, &s));
  search->rounds    = 0;
  search->threshold = 0.0;
  while (search->rounds < settings->rounds && !done) {
    ierr = Round(start, A, piv, limit, threads, &s, &threshold, &done);
    if (ierr) PetscCall(StageDestroy(&s));
    PetscCall(ierr);
    if (!done) SyncILUSearchRound(settings, threshold > 1 ? SizeOfKey(threshold) : (PetscReal)0.0, search, &done);
  }
  PetscCall(PetscFree(s.map));
  *found  = s.p;
  *values = s.v;
  PetscFunctionReturn(PETSC_SUCCESS);
}
