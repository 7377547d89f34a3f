/*
   Block multicolor ordering (T. Iwashita, H. Nakashima, Y. Takahashi, IPDPS 2012): rows that are
   near each other make blocks, and blocks are colored so that those of one color share no entry. The rows are
   numbered by color, in a color by block, and in a block as they were. A triangular solve then waits for other
   blocks once a color; what is left of chains stays inside of the blocks.

   Each step can be done by many threads at once, and its result does not depend on their order: kernels/bmc.cu
   makes the same permutation on a device.
*/
#include "bmc.h"
#include <stdint.h>
#include <string.h>

/*
   The rows of a matrix and those of its transpose: an entry in either makes two rows neighbours. Where the
   pattern is seen to be symmetric, one side has them all.
*/
typedef struct {
  PetscInt        n;
  int             sides;
  const PetscInt *ptr[2], *col[2];
  PetscInt       *tptr, *tcol; /* NULL where there is one side */
  PetscInt       *head;        /* first row of the group of each row, see FindGroups() */
  PetscInt        size;        /* most rows of a block */
  PetscInt        groups;      /* were none cut for that size */
} Graph;

static PetscErrorCode GraphDestroy(Graph *g)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(g->tptr, g->tcol));
  PetscCall(PetscFree(g->head));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the pattern is symmetric and its columns ascend: then the entries of a row right of the diagonal
   are met one after the other by those left of it in the rows below.
*/
static PetscErrorCode IsSymmetric(const Graph *g, PetscBool *is)
{
  const PetscInt n = g->n, *ptr = g->ptr[0], *col = g->col[0];
  PetscInt      *next;

  PetscFunctionBegin;
  *is = PETSC_TRUE;
  PetscCall(PetscMalloc1(n, &next));
  for (PetscInt i = 0; i < n && *is; i++) {
    PetscInt k = ptr[i];

    for (; k < ptr[i + 1] && col[k] < i && *is; k++) {
      const PetscInt j = col[k];

      *is = (PetscBool)((k == ptr[i] || col[k - 1] < j) && next[j] < ptr[j + 1] && col[next[j]] == i);
      next[j]++;
    }
    if (k < ptr[i + 1] && col[k] == i) k++;
    next[i] = k;
    for (; k < ptr[i + 1] && *is; k++) *is = (PetscBool)(col[k] > (k > ptr[i] ? col[k - 1] : -1) && col[k] > i);
  }
  for (PetscInt i = 0; i < n && *is; i++) *is = (PetscBool)(next[i] == ptr[i + 1]);
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transpose(Graph *g)
{
  const PetscInt n = g->n, *ptr = g->ptr[0], *col = g->col[0];
  PetscInt      *next;
  PetscBool      symmetric;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) { /* the matrix may come from arrays of the user */
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++)
      PetscCheck(col[k] >= 0 && col[k] < n, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
                 "Row %" PetscInt_FMT " has column %" PetscInt_FMT ", the matrix has %" PetscInt_FMT " columns", i, col[k], n);
  }
  PetscCall(IsSymmetric(g, &symmetric));
  g->sides = symmetric ? 1 : 2;
  if (symmetric) {
    g->ptr[1] = ptr;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(n + 1, &g->tptr, ptr[n], &g->tcol));
  PetscCall(PetscCalloc1(n + 1, &next));
  for (PetscInt k = 0; k < ptr[n]; k++) next[col[k] + 1]++;
  for (PetscInt i = 0; i < n; i++) next[i + 1] += next[i];
  PetscCall(PetscArraycpy(g->tptr, next, n + 1));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) g->tcol[next[col[k]]++] = i;
  }
  PetscCall(PetscFree(next));
  g->ptr[1] = g->tptr;
  g->col[1] = g->tcol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Successive rows with the same columns, such as the unknowns of a point, are a group, which stays together
   unless a block is too small for it.
*/
static PetscErrorCode FindGroups(Graph *g, PetscInt size)
{
  const PetscInt *ptr = g->ptr[0], *col = g->col[0];

  PetscFunctionBegin;
  if (!g->head) PetscCall(PetscMalloc1(g->n, &g->head));
  g->size   = size;
  g->groups = 0;
  for (PetscInt i = 0; i < g->n; i++) {
    const PetscInt len  = ptr[i + 1] - ptr[i];
    PetscBool      same = PETSC_FALSE;

    if (i && ptr[i] - ptr[i - 1] == len) PetscCall(PetscArraycmp(col + ptr[i], col + ptr[i - 1], len, &same));
    if (!same) g->groups++;
    g->head[i] = same && i - g->head[i - 1] < size ? g->head[i - 1] : i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The row behind the group that begins with this one. */
static PetscInt GroupEnd(const Graph *g, PetscInt head)
{
  PetscInt i = head + 1;

  while (i < g->n && g->head[i] == head) i++;
  return i;
}

/*
   Whether a group that begins with this row is full, or nearly so. Where its rows come before others, so many
   of those are updated with so many entries: more than a hundred for each row of the matrix.
*/
static PetscBool IsFull(const Graph *g, PetscInt head)
{
  const double length = (double)(g->ptr[0][head + 1] - g->ptr[0][head]), depth = (double)(g->ptr[1][head + 1] - g->ptr[1][head]);

  return (PetscBool)(length * depth > 100.0 * g->n);
}

/*
   Adds blocks of successive groups: of the full groups, or of the others. at: the row at each position of a
   numbering; NULL: the rows are taken as they are.
*/
static void Cut(const Graph *g, const PetscInt *at, PetscBool full, PetscInt *block, PetscInt *blocks)
{
  PetscInt rows = 0, len;

  for (PetscInt p = 0; p < g->n; p += len) {
    const PetscInt i = at ? at[p] : p;

    len = GroupEnd(g, i) - i;
    if (IsFull(g, i) != full) continue;
    if (!rows || rows + len > g->size) {
      (*blocks)++;
      rows = 0;
    }
    rows += len;
    for (PetscInt k = i; k < i + len; k++) block[k] = *blocks - 1;
  }
}

/* The groups, and blocks of those that are not full, as the rows are numbered. */
static PetscErrorCode CutAsNumbered(Graph *g, PetscInt size, PetscInt *block, PetscInt *blocks)
{
  PetscFunctionBegin;
  PetscCall(FindGroups(g, size));
  for (PetscInt i = 0; i < g->n; i++) block[i] = -1;
  *blocks = 0;
  Cut(g, NULL, PETSC_FALSE, block, blocks);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The graph of clusters of rows. The edges of cluster c are begin[c] to begin[c + 1] - 1; edge e leads to
   cluster other[e], and stands for weight[e] entries of the matrix.
*/
typedef struct {
  PetscInt  n;
  PetscInt *rows; /* of each cluster */
  PetscInt *begin, *other, *weight;
} Clusters;

static PetscErrorCode ClustersCreate(PetscInt n, PetscInt edges, Clusters *c)
{
  PetscFunctionBegin;
  c->n = n;
  PetscCall(PetscCalloc1(n, &c->rows));
  PetscCall(PetscMalloc3(n + 1, &c->begin, edges, &c->other, edges, &c->weight));
  c->begin[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClustersDestroy(Clusters *c)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(c->rows));
  PetscCall(PetscFree3(c->begin, c->other, c->weight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds to the edges of cluster c. last: for each cluster, the edge to it that was made last. */
static void AddEdge(Clusters *k, PetscInt c, PetscInt other, PetscInt weight, PetscInt *last, PetscInt *edges)
{
  if (other == c) return;
  if (last[other] < k->begin[c]) {
    last[other]            = (*edges)++;
    k->other[last[other]]  = other;
    k->weight[last[other]] = 0;
  }
  k->weight[last[other]] += weight;
}

/* Each group is a cluster; those that are full have no edges. cluster: of each row. */
static PetscErrorCode Groups(const Graph *g, PetscInt *cluster, Clusters *k)
{
  PetscInt n = 0, edges = 0, *last;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < g->n; i++) {
    if (g->head[i] == i) n++;
    cluster[i] = n - 1;
  }
  PetscCall(ClustersCreate(n, g->ptr[0][g->n] * g->sides, k));
  PetscCall(PetscMalloc1(n, &last));
  for (PetscInt c = 0; c < n; c++) last[c] = -1;
  for (PetscInt i = 0; i < g->n; i++) {
    const PetscInt c = cluster[i];

    k->rows[c]++;
    for (int side = 0; side < g->sides && !IsFull(g, g->head[i]); side++) {
      for (PetscInt e = g->ptr[side][i]; e < g->ptr[side][i + 1]; e++) {
        const PetscInt j = g->col[side][e];

        if (!IsFull(g, g->head[j])) AddEdge(k, c, cluster[j], 1, last, &edges);
      }
    }
    k->begin[c + 1] = edges;
  }
  PetscCall(PetscFree(last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static uint32_t Mix(uint32_t x)
{
  x = (x ^ x >> 16) * UINT32_C(0x7feb352d);
  x = (x ^ x >> 15) * UINT32_C(0x846ca68b);
  return x ^ x >> 16;
}

/*
   How much two clusters belong together: the entries between them over the product of their numbers of rows
   (M. Holtgrewe, P. Sanders, C. Schulz, IPDPS 2010). Both clusters rate each other alike. The upper bits are
   those of the quotient, which ascend with it since it is positive. The lower bits, a hash of the pair, break
   ties.
*/
static uint64_t Rating(const Clusters *k, PetscInt c, PetscInt e)
{
  const PetscInt other  = k->other[e];
  const float    rating = (float)k->weight[e] / ((float)k->rows[c] * (float)k->rows[other]);
  uint32_t       bits;

  memcpy(&bits, &rating, sizeof(bits));
  return (uint64_t)bits << 32 | Mix((uint32_t)PetscMin(c, other) * UINT32_C(0x9e3779b1) ^ Mix((uint32_t)PetscMax(c, other)));
}

/*
   Makes pairs of clusters. In each round every cluster without a mate proposes to the one without a mate that
   it rates highest, and two clusters that propose to each other become a pair. Returns the number of pairs.
*/
static PetscInt Match(const Clusters *k, PetscInt *proposal, PetscInt *mate)
{
  PetscInt pairs = 0;

  for (PetscInt c = 0; c < k->n; c++) mate[c] = -1;
  for (int round = 0; round < SYNCILU_BMC_ROUNDS; round++) {
    for (PetscInt c = 0; c < k->n; c++) {
      uint64_t best = 0;

      proposal[c] = -1;
      for (PetscInt e = k->begin[c]; e < k->begin[c + 1] && mate[c] < 0; e++) {
        const PetscInt other = k->other[e];
        uint64_t       rating;

        if (mate[other] >= 0) continue;
        rating = Rating(k, c, e);
        if (rating < best || (rating == best && other > proposal[c])) continue;
        best        = rating;
        proposal[c] = other;
      }
    }
    for (PetscInt c = 0; c < k->n; c++) {
      const PetscInt other = proposal[c];

      if (other < c || proposal[other] != c) continue; /* or it is the other's turn */
      mate[c]     = other;
      mate[other] = c;
      pairs++;
    }
  }
  return pairs;
}

/*
   Merges pairs: m has the new clusters, in the order of the first of each pair. cluster and position, of each
   row, are brought up to date: in the numbering the rows of the second cluster of a pair follow those of the
   first.
*/
static PetscErrorCode Merge(const Graph *g, const Clusters *k, const PetscInt *mate, PetscInt pairs, PetscInt *cluster, PetscInt *position, Clusters *m)
{
  PetscInt *to, *last, *shift, at = 0, from = 0, n = 0, edges = 0;

  PetscFunctionBegin;
  PetscCall(ClustersCreate(k->n - pairs, k->begin[k->n], m));
  PetscCall(PetscMalloc3(k->n, &to, k->n, &shift, m->n, &last));
  for (PetscInt c = 0; c < m->n; c++) last[c] = -1;
  for (PetscInt c = 0; c < k->n; c++) {
    if (mate[c] >= 0 && mate[c] < c) continue;
    m->rows[n] = k->rows[c] + (mate[c] >= 0 ? k->rows[mate[c]] : 0);
    shift[c]   = at;
    to[c]      = n;
    if (mate[c] >= 0) {
      shift[mate[c]] = at + k->rows[c];
      to[mate[c]]    = n;
    }
    at += m->rows[n++];
  }
  for (PetscInt c = 0; c < k->n; c++) {
    if (mate[c] < 0 || mate[c] > c) {
      for (int part = 0; part < 2; part++) {
        const PetscInt of = part ? mate[c] : c;

        for (PetscInt e = of < 0 ? 0 : k->begin[of]; of >= 0 && e < k->begin[of + 1]; e++) AddEdge(m, to[c], to[k->other[e]], k->weight[e], last, &edges);
      }
      m->begin[to[c] + 1] = edges;
    }
    shift[c] -= from;
    from += k->rows[c];
  }
  for (PetscInt i = 0; i < g->n; i++) {
    position[i] += shift[cluster[i]];
    cluster[i] = to[cluster[i]];
  }
  PetscCall(PetscFree3(to, shift, last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A numbering in which rows that belong together are near each other. Clusters are merged pair by pair, until
   most have four times as many rows as a block. at: the row at each position.
*/
static PetscErrorCode Number(const Graph *g, PetscInt *at)
{
  PetscInt *cluster, *position, *proposal, *mate;
  Clusters  k;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(g->n, &cluster, g->n, &position, g->n, &proposal, g->n, &mate));
  for (PetscInt i = 0; i < g->n; i++) position[i] = i;
  PetscCall(Groups(g, cluster, &k));
  for (PetscInt rows = 1; rows / 4 < g->size; rows *= 2) {
    const PetscInt pairs = Match(&k, proposal, mate);
    Clusters       merged;

    if (!pairs) break;
    PetscCall(Merge(g, &k, mate, pairs, cluster, position, &merged));
    PetscCall(ClustersDestroy(&k));
    k = merged;
  }
  for (PetscInt i = 0; i < g->n; i++) at[position[i]] = i;
  PetscCall(ClustersDestroy(&k));
  PetscCall(PetscFree4(cluster, position, proposal, mate));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether blocks have too few of the entries beside the diagonal for which they have room. */
static PetscBool IsScattered(const Graph *g, const PetscInt *block, PetscInt blocks)
{
  double inside = 0.0, room = 0.0;

  /* edges of what would be matched are counted by a PetscInt */
  if (blocks < 2 || g->size < 2 || g->ptr[0][g->n] > PETSC_MAX_INT / g->sides) return PETSC_FALSE;

  for (PetscInt i = 0; i < g->n; i++) {
    PetscInt others = 0;

    if (block[i] < 0) continue;
    for (PetscInt k = g->ptr[0][i]; k < g->ptr[0][i + 1]; k++) {
      const PetscInt j = g->col[0][k];

      if (j == i) continue;
      others++;
      if (block[j] == block[i]) inside++;
    }
    room += (double)PetscMin(others, g->size - 1);
  }
  return (PetscBool)(room > 0.0 && inside / room < SYNCILU_BMC_LOCAL);
}

/* Sorts things by their key, stably: where those of each key begin, and the things in that order. */
static void Sort(PetscInt n, const PetscInt *key, PetscInt keys, PetscInt *begin, PetscInt *sorted)
{
  for (PetscInt k = 0; k <= keys; k++) begin[k] = 0;
  for (PetscInt i = 0; i < n; i++) begin[key[i] + 1]++;
  for (PetscInt k = 0; k < keys; k++) begin[k + 1] += begin[k];
  for (PetscInt i = 0; i < n; i++) sorted[begin[key[i]]++] = i;
  for (PetscInt k = keys; k > 0; k--) begin[k] = begin[k - 1];
  begin[0] = 0;
}

/*
   The other blocks that have an entry in common with block b, each of them once, of which there are no more than
   blocks. The rows of a block stand from row[begin[block]] on. last: for each block, the one whose neighbour it was
   last.
*/
static PetscInt Neighbours(const Graph *g, const PetscInt *block, PetscInt b, const PetscInt *begin, const PetscInt *row, PetscInt *last, PetscInt *neighbour)
{
  PetscInt n = 0;

  for (PetscInt r = begin[b]; r < begin[b + 1]; r++) {
    for (int side = 0; side < g->sides; side++) {
      for (PetscInt e = g->ptr[side][row[r]]; e < g->ptr[side][row[r] + 1]; e++) {
        const PetscInt other = block[g->col[side][e]];

        if (other == b || last[other] == b) continue;
        last[other]    = b;
        neighbour[n++] = other;
      }
    }
  }
  return n;
}

/* Each block, in that order, gets the first color that none of its neighbours has. */
static PetscErrorCode Color(const Graph *g, const PetscInt *block, PetscInt blocks, const PetscInt *begin, const PetscInt *row, const PetscInt *order,
                            PetscInt *color, PetscInt *colors)
{
  PetscInt *last, *neighbour, *user; /* user: of each color, the block that cannot have it */

  PetscFunctionBegin;
  *colors = 0;
  PetscCall(PetscMalloc3(blocks, &last, blocks, &neighbour, blocks, &user));
  for (PetscInt b = 0; b < blocks; b++) color[b] = last[b] = user[b] = -1;
  for (PetscInt q = 0; q < blocks; q++) {
    const PetscInt b = order[q], n = Neighbours(g, block, b, begin, row, last, neighbour);
    PetscInt       c = 0;

    for (PetscInt k = 0; k < n; k++) {
      if (color[neighbour[k]] >= 0) user[color[neighbour[k]]] = b;
    }
    while (user[c] == b) c++;
    color[b] = c;
    *colors  = PetscMax(*colors, c + 1);
  }
  PetscCall(PetscFree3(last, neighbour, user));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Colors that follow the numbering. A block has a level, above those of all neighbours before it, and its
   color is the remainder of that by the number of colors that are taken by turns: so most entries lead from a
   row to one of the next colors, as in the numbering, and relaxed factors take up to a quarter fewer
   iterations than with as many other colors. Levels whose color a neighbour has are left out, and a block
   whose neighbours have all these colors gets one behind them. Not for numberings that are one chain. With
   levels of fill blocks of one color that have a neighbour in common wait for each other, which are chains
   along the whole numbering here.
*/
static PetscErrorCode Follow(const Graph *g, const PetscInt *block, PetscInt blocks, const PetscInt *begin, const PetscInt *row, PetscInt *color,
                             PetscInt *colors, PetscBool *follows)
{
  const PetscInt cycle = SyncILUBMCCycle(g->n, g->ptr[0][g->n], blocks);
  PetscInt      *level, *last, *neighbour;

  PetscFunctionBegin;
  *follows = PETSC_TRUE;
  *colors  = 0;
  PetscCall(PetscMalloc3(blocks, &level, blocks, &last, blocks, &neighbour));
  for (PetscInt b = 0; b < blocks; b++) last[b] = -1;
  for (PetscInt b = 0; b < blocks && *follows; b++) {
    const PetscInt n = Neighbours(g, block, b, begin, row, last, neighbour);
    PetscInt       l = 0, c = cycle;
    uint64_t       used = 0;

    for (PetscInt k = 0; k < n; k++) {
      const PetscInt other = neighbour[k];

      if (other > b) continue;
      l = PetscMax(l, level[other] + 1);
      used |= UINT64_C(1) << color[other];
    }
    *follows = (PetscBool)(n < 64 - cycle && l < SyncILUBMCChain(blocks));
    for (PetscInt k = 0; k < cycle && c == cycle; k++) {
      if (used >> (l + k) % cycle & 1) continue;
      l += k;
      c = l % cycle;
    }
    while (*follows && used >> c & 1) c++;
    level[b] = l;
    color[b] = c;
    *colors  = PetscMax(*colors, c + 1);
  }
  PetscCall(PetscFree3(level, last, neighbour));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The colors of all blocks. First they are colored in the order of the reversed bits of their numbers, in
   which chains of blocks that wait for each other's color are short: in the order of their numbers each block
   is a neighbour of the one before it. Blocks of full rows, from `full` on, come last: their neighbours have
   all other colors then.
*/
static PetscErrorCode Colors(const Graph *g, const PetscInt *block, PetscInt blocks, PetscInt full, const PetscInt *begin, const PetscInt *row, PetscInt *color,
                             PetscInt *colors)
{
  PetscInt *order, *key, *start, bits = 0, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(blocks, &order, blocks, &key, blocks + 2, &start));
  while (((PetscInt64)1 << bits) < full) bits++;
  for (PetscInt64 q = 0; n < full; q++) {
    PetscInt64 b = 0;

    for (PetscInt k = 0; k < bits; k++) b |= (q >> k & 1) << (bits - 1 - k);
    if (b < full) order[n++] = (PetscInt)b;
  }
  for (PetscInt b = full; b < blocks; b++) order[n++] = b;
  PetscCall(Color(g, block, blocks, begin, row, order, color, colors));
  for (int time = 0; time < SYNCILU_BMC_COLORINGS; time++) {
    for (PetscInt b = 0; b < blocks; b++) key[b] = b < full ? *colors - 1 - color[b] : *colors;
    Sort(blocks, key, *colors + 1, start, order);
    PetscCall(Color(g, block, blocks, begin, row, order, color, colors));
  }
  PetscCall(PetscFree3(order, key, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SyncILUBMCDestroy(SyncILUBMC *o)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(o->row, o->begin, o->first));
  PetscCall(PetscMemzero(o, sizeof(*o)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUBMCCreate - orders rows by colored blocks

   Not Collective

   Input Parameters:
+  n     - rows
.  ptr   - where each row begins in col, n + 1 of them
.  col   - columns of the entries
.  size  - most rows of a block, at least 1
-  along - whether colors shall follow the numbering, if it is for that

   Output Parameter:
.  o - the order

   Note:
   A block has fewer rows than that where the next group of rows with the same columns does not fit. The
   pattern need not be symmetric: blocks of one color share no entry of the matrix or of its transpose.

   Errors:
   PETSC_ERR_ARG_OUTOFRANGE with the row that has a column outside of the matrix.
*/
PetscErrorCode SyncILUBMCCreate(PetscInt n, const PetscInt *ptr, const PetscInt *col, PetscInt size, PetscBool along, SyncILUBMC *o)
{
  const PetscInt most = PetscMin(size, PetscMax(n, 1));
  Graph          g;
  PetscInt      *block, *begin, *row, *color, *sorted, aligned, full, next = 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&g, sizeof(g)));
  g.n      = n;
  g.ptr[0] = ptr;
  g.col[0] = col;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  o->n    = n;
  o->size = size;
  PetscCall(Transpose(&g));
  PetscCall(PetscMalloc3(n, &block, n + 1, &begin, n, &row));
  PetscCall(CutAsNumbered(&g, most, block, &o->blocks));
  aligned = SyncILUBMCAligned(n, g.groups, most);
  if (aligned < most) {
    PetscCall(CutAsNumbered(&g, aligned, block, &o->blocks));
    if (IsScattered(&g, block, o->blocks)) PetscCall(CutAsNumbered(&g, most, block, &o->blocks));
    else o->size = aligned;
  }
  if (o->size == size) o->matched = IsScattered(&g, block, o->blocks);
  if (o->matched) {
    o->blocks = 0;
    PetscCall(Number(&g, row));
    Cut(&g, row, PETSC_FALSE, block, &o->blocks);
  }
  full = o->blocks;
  Cut(&g, NULL, PETSC_TRUE, block, &o->blocks);
  Sort(n, block, o->blocks, begin, row);
  PetscCall(PetscMalloc2(o->blocks, &color, o->blocks, &sorted));
  if (along && !o->matched && full && full == o->blocks && (PetscInt64)SYNCILU_BMC_MEAN * full <= ptr[n])
    PetscCall(Follow(&g, block, full, begin, row, color, &o->colors, &o->along));
  if (!o->along) PetscCall(Colors(&g, block, o->blocks, full, begin, row, color, &o->colors));
  PetscCall(PetscMalloc3(n, &o->row, o->blocks + 1, &o->begin, o->colors + 1, &o->first));
  Sort(o->blocks, color, o->colors, o->first, sorted);
  for (PetscInt b = 0; b < o->blocks; b++) {
    o->begin[b] = next;
    for (PetscInt r = begin[sorted[b]]; r < begin[sorted[b] + 1]; r++) o->row[next++] = row[r];
  }
  o->begin[o->blocks] = next;
  PetscCall(PetscFree2(color, sorted));
  PetscCall(PetscFree3(block, begin, row));
  PetscCall(GraphDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}
