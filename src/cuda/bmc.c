/*
   Block multicolor orderings on the device: the permutations of src/bmc.c, which says why each step is made.
*/
#include "plan.h"
#include "../bmc.h"
#include "../../kernels/bmc.h"
#include "../../kernels/order.h"

/* What the steps share. Arrays are in the scratch of the plan. */
typedef struct {
  SyncILUDeviceGraph g;
  int                nnz, size;
  int               *head, *full; /* of each row: the first of its group, and whether that is full */
  int               *at;          /* the row at each position, full ones last */
  int               *block;       /* of each row */
  int               *begin;       /* where the rows of each block begin in at, and n */
  int               *counts;      /* rows that are not full; blocks; those of rows that are not full; groups, were none cut */
  int                blocks, usual, groups;
  PetscBool          matched, along;
} Blocks;

/* The numbers of n things in the order of their keys, stably; the sorted keys are for nobody. */
static PetscErrorCode SortBy(Plan *plan, int n, int max, const int *key, int *order)
{
  const int mark = plan->scratch.n;
  int      *sorted;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)n * sizeof(int), &sorted));
  PlanCall(PlanSort(plan, n, max, key, sorted, order));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Groups(Plan *plan, Blocks *b, int size)
{
  const int mark  = plan->scratch.n;
  size_t    bytes = 0;
  void     *work;

  PetscFunctionBegin;
  b->size = size;
  CallCUDA(cudaMemsetAsync(b->counts, 0, 4 * sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelGroups(NULL, &bytes, b->g, size, b->head, b->full, b->counts + 3, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelGroups(work, &bytes, b->g, size, b->head, b->full, b->counts + 3, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cuts blocks from a numbering, NULL: from the rows as they are. */
static PetscErrorCode Cut(Plan *plan, Blocks *b, const int *numbering)
{
  const int mark = plan->scratch.n, n = b->g.n;
  size_t    bytes[2] = {0, 0};
  int       counts[3];
  void     *work;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelFullLast(NULL, &bytes[0], n, numbering, b->full, b->at, b->counts, plan->stream));
  PlanLaunch(SyncILUKernelCut(NULL, &bytes[1], n, b->size, b->counts, b->at, b->head, b->block, b->begin, b->counts + 1, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, PetscMax(bytes[0], bytes[1]), &work));
  PlanLaunch(SyncILUKernelFullLast(work, &bytes[0], n, numbering, b->full, b->at, b->counts, plan->stream));
  PlanLaunch(SyncILUKernelCut(work, &bytes[1], n, b->size, b->counts, b->at, b->head, b->block, b->begin, b->counts + 1, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, counts, b->counts + 1, sizeof(counts)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  b->blocks = counts[0];
  b->usual  = counts[1];
  b->groups = counts[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether blocks have too few of the entries that they have room for. */
static PetscErrorCode IsScattered(Plan *plan, const Blocks *b, PetscBool *scattered)
{
  const int          mark = plan->scratch.n;
  unsigned long long counts[2], *device;

  PetscFunctionBegin;
  *scattered = PETSC_FALSE;
  if (b->usual < 2 || b->size < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(counts), &device));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(counts), plan->stream));
  PlanLaunch(SyncILUKernelInside(b->g, b->size, b->block, b->counts + 2, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, counts, device, sizeof(counts)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  *scattered = (PetscBool)(counts[1] && (double)counts[0] / (double)counts[1] < SYNCILU_BMC_LOCAL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of successive groups, and whether they are scattered. */
static PetscErrorCode CutAsNumbered(Plan *plan, Blocks *b, int size, PetscBool *scattered)
{
  PetscFunctionBegin;
  PlanCall(Groups(plan, b, size));
  PlanCall(Cut(plan, b, NULL));
  PlanCall(IsScattered(plan, b, scattered));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Edges of clusters: where those of each begin and end. */
typedef struct {
  int                *begin, *end;
  unsigned long long *key;
  int                *weight;
} Edges;

/*
   Clusters of rows while they are merged. counts: clusters after a merger; edges that were summed up before it;
   those after it, and whether clusters have too many to unite them one by one.
*/
typedef struct {
  int       n, edges, bits;
  PetscBool summed, many;  /* edges are summed up; clusters have so many that all are sorted for that */
  int      *of, *position; /* of each row: its cluster, and its place */
  int      *rows, *before; /* of each cluster: how many rows, and how many before them */
  int      *merged, *after;
  int      *mate, *proposal, *to;
  int      *counts;
  Edges     now, next;
} Clusters;

static PetscErrorCode AllocEdges(Plan *plan, Clusters *c)
{
  Edges *const list[] = {&c->now, &c->next};

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)c->edges * sizeof(*list[k]->key), &list[k]->key));
    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)c->edges * sizeof(*list[k]->weight), &list[k]->weight));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GroupsToClusters(Plan *plan, const Blocks *b, Clusters *c)
{
  const size_t     n       = (size_t)b->g.n + 1;
  const PetscInt64 edges   = (PetscInt64)b->nnz * b->g.sides;
  int **const      array[] = {&c->of,       &c->position, &c->rows,      &c->before,  &c->merged,     &c->after,   &c->mate,
                              &c->proposal, &c->to,       &c->now.begin, &c->now.end, &c->next.begin, &c->next.end};
  size_t           bytes   = 0;
  int              mark;
  void            *work;

  PetscFunctionBegin;
  if (edges > INT_MAX - 1024) {
    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "%" PetscInt64_FMT " edges between rows, indices on the device are 32 bits wide", edges));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  c->edges  = (int)edges;
  c->summed = c->many = PETSC_FALSE;
  for (size_t k = 0; k < sizeof(array) / sizeof(array[0]); k++) PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), array[k]));
  PlanCall(PlanAlloc(plan, &plan->scratch, 4 * sizeof(int), &c->counts));
  mark = plan->scratch.n;
  PlanLaunch(SyncILUKernelClusters(NULL, &bytes, b->g.n, b->head, c->of, c->counts, c->rows, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelClusters(work, &bytes, b->g.n, b->head, c->of, c->counts, c->rows, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &c->n, c->counts, sizeof(c->n)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  c->bits = SyncILUBits(c->n);
  PlanLaunch(SyncILUKernelIota(b->g.n, 0, c->position, plan->stream));
  CallCUDA(cudaMemcpyAsync(c->before, c->rows, (size_t)c->n * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  PlanCall(PlanOffsets(plan, c->n, c->before, NULL));
  if (b->g.sides > 1 || c->n == b->g.n) {
    PlanCall(AllocEdges(plan, c));
    PlanLaunch(SyncILUKernelEdges(b->g, b->nnz, c->bits, c->of, b->full, c->now.key, c->now.weight, plan->stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* far fewer than entries, for which memory would take longer than to count them */
  for (int pass = 0; pass < 2; pass++) {
    CallCUDA(cudaMemsetAsync(c->counts, 0, sizeof(int), plan->stream));
    if (pass) PlanCall(AllocEdges(plan, c));
    PlanLaunch(
      SyncILUKernelGroupEdges(b->g, c->bits, b->head, c->of, c->rows, b->full, pass ? c->now.key : NULL, pass ? c->now.weight : NULL, c->counts, plan->stream));
    if (!pass) PetscCall(DeviceReadBack(plan->stream, &c->edges, c->counts, sizeof(int)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums up edges, sorted by cluster. */
static PetscErrorCode SumEdges(Plan *plan, Clusters *c)
{
  const int mark  = plan->scratch.n;
  size_t    bytes = 0;
  void     *work;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSumEdges(NULL, &bytes, c->edges, c->bits, c->n, c->now.key, c->now.weight, c->counts + 1, c->now.begin, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelSumEdges(work, &bytes, c->edges, c->bits, c->n, c->now.key, c->now.weight, c->counts + 1, c->now.begin, plan->stream));
  CallCUDA(cudaMemcpyAsync(c->now.end, c->now.begin + 1, (size_t)c->n * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Merges pairs of clusters; merged: whether there are any. */
static PetscErrorCode Merge(Plan *plan, const Blocks *b, Clusters *c, PetscBool *merged)
{
  const int   mark  = plan->scratch.n;
  const Edges now   = c->now;
  size_t      bytes = 0;
  int         counts[4], *swap;
  void       *work;

  PetscFunctionBegin;
  *merged = PETSC_FALSE;
  if (!c->edges) PetscFunctionReturn(PETSC_SUCCESS);
  if (!c->summed) PlanCall(SumEdges(plan, c));
  PlanLaunch(SyncILUKernelMerge(NULL, &bytes, c->n, c->mate, c->rows, c->to, c->counts, c->merged, plan->stream));
  PlanCall(PlanAlloc(plan, &plan->scratch, bytes, &work));
  PlanLaunch(SyncILUKernelMatch(c->n, c->bits, SYNCILU_BMC_ROUNDS, c->rows, now.begin, now.end, now.key, now.weight, c->proposal, c->mate, plan->stream));
  PlanLaunch(SyncILUKernelMerge(work, &bytes, c->n, c->mate, c->rows, c->to, c->counts, c->merged, plan->stream));
  CallCUDA(cudaMemsetAsync(c->counts + 2, 0, 2 * sizeof(int), plan->stream));
  if (!c->many)
    PlanLaunch(SyncILUKernelUnite(c->n, c->bits, c->mate, c->to, now.begin, now.end, now.key, now.weight, c->next.begin, c->next.end, c->next.key,
                                  c->next.weight, c->counts + 2, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, counts, c->counts, sizeof(counts)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  if (!c->summed) c->edges = counts[1];
  *merged = (PetscBool)(counts[0] < c->n);
  if (!*merged) PetscFunctionReturn(PETSC_SUCCESS);
  CallCUDA(cudaMemcpyAsync(c->after, c->merged, (size_t)counts[0] * sizeof(int), cudaMemcpyDeviceToDevice, plan->stream));
  PlanCall(PlanOffsets(plan, counts[0], c->after, NULL));
  PlanLaunch(SyncILUKernelMove(b->g.n, c->mate, c->rows, c->to, c->before, c->after, c->of, c->position, plan->stream));
  if (counts[3]) c->many = PETSC_TRUE; /* and will have more */
  c->summed = (PetscBool)!c->many;
  c->n      = counts[0];
  if (c->many) {
    const int bits = SyncILUBits(c->n);

    PlanLaunch(SyncILUKernelMoveEdges(c->edges, c->bits, bits, c->to, now.key, plan->stream));
    c->bits = bits;
  } else {
    c->edges = counts[2];
    c->now   = c->next;
    c->next  = now;
  }
  swap      = c->rows;
  c->rows   = c->merged;
  c->merged = swap;
  swap      = c->before;
  c->before = c->after;
  c->after  = swap;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A numbering in which rows that belong together are near each other. */
static PetscErrorCode Number(Plan *plan, const Blocks *b, int *numbering)
{
  const int mark   = plan->scratch.n;
  PetscBool merged = PETSC_TRUE;
  Clusters  c;

  PetscFunctionBegin;
  PlanCall(GroupsToClusters(plan, b, &c));
  for (PetscInt64 rows = 1; rows / 4 < b->size && merged; rows *= 2) PlanCall(Merge(plan, b, &c, &merged));
  PlanLaunch(SyncILUKernelInvert(b->g.n, c.position, numbering, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Colors that follow the numbering, if it is for them; none, if it is not. */
static PetscErrorCode Follow(Plan *plan, const Blocks *b, const int *neighbour, const int *count, int *seen, int *color, int *device, int *colors)
{
  const int           cycle  = SyncILUBMCCycle(b->g.n, b->nnz, b->blocks);
  const SyncILUFollow f      = {cycle, 64 - cycle, (int)SyncILUBMCChain(b->blocks)};
  unsigned long long *ticket = plan->ticket + 2;

  PetscFunctionBegin;
  CallCUDA(cudaMemsetAsync(seen, 0xff, (size_t)b->blocks * sizeof(int), plan->stream));
  CallCUDA(cudaMemsetAsync(ticket, 0, sizeof(*ticket), plan->stream));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(int), plan->stream));
  PlanLaunch(SyncILUKernelFollow(b->blocks, f, neighbour, count, seen, color, ticket, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, colors, device, sizeof(int)));
  if (*colors == SYNCILU_BMC_FOLLOWS_NOT) *colors = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The color of each block, and how many there are. */
static PetscErrorCode Colors(Plan *plan, Blocks *b, int *color, int *colors)
{
  const int           mark = plan->scratch.n;
  const size_t        n    = (size_t)b->blocks * sizeof(int);
  int                 bits = 0, *key, *order, *place, *most, *neighbour = NULL, *count = NULL;
  unsigned long long *ticket = plan->ticket + 2;

  PetscFunctionBegin;
  *colors = 0;
  PlanCall(PlanAlloc(plan, &plan->scratch, n, &key));
  PlanCall(PlanAlloc(plan, &plan->scratch, n, &order));
  PlanCall(PlanAlloc(plan, &plan->scratch, n, &place));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(int), &most));
  if ((PetscInt64)SYNCILU_BMC_MEAN * b->blocks <= b->nnz) { /* no more than the entries, which then are gone through once */
    PlanCall(PlanAlloc(plan, &plan->scratch, SYNCILU_BMC_NEIGHBOURS * n, &neighbour));
    PlanCall(PlanAlloc(plan, &plan->scratch, n, &count));
    PlanLaunch(SyncILUKernelNeighbours(b->g, b->blocks, b->block, b->begin, b->at, neighbour, count, plan->stream));
    if (plan->settings->block_along && !b->matched && b->usual == b->blocks) PlanCall(Follow(plan, b, neighbour, count, key, color, most, colors));
  }
  b->along = (PetscBool)(*colors > 0);
  while ((PetscInt64)1 << bits < b->usual) bits++;
  if (bits > 30) {
    PetscCall(PetscSNPrintf(plan->unfit, sizeof(plan->unfit), "%d blocks, indices on the device are 32 bits wide", b->usual));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int time = 0; !b->along && time <= SYNCILU_BMC_COLORINGS; time++) {
    PlanLaunch(SyncILUKernelColorKeys(b->blocks, b->usual, bits, *colors, color, key, plan->stream));
    PlanCall(SortBy(plan, b->blocks, time ? *colors : 1 << bits, key, order));
    PlanLaunch(SyncILUKernelInvert(b->blocks, order, place, plan->stream));
    CallCUDA(cudaMemsetAsync(color, 0xff, n, plan->stream));
    CallCUDA(cudaMemsetAsync(ticket, 0, sizeof(*ticket), plan->stream));
    CallCUDA(cudaMemsetAsync(most, 0, sizeof(int), plan->stream));
    PlanLaunch(SyncILUKernelColor(b->g, b->blocks, b->block, b->begin, b->at, neighbour, count, order, place, color, ticket, most, plan->stream));
    PetscCall(DeviceReadBack(plan->stream, colors, most, sizeof(int)));
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows by color, by block and by number, and where the blocks begin then. */
static PetscErrorCode Permute(Plan *plan, Blocks *b)
{
  const int    mark = plan->scratch.n;
  const size_t n    = (size_t)b->blocks * sizeof(int);
  int         *color, *order, *place, *key;

  PetscFunctionBegin;
  PlanCall(PlanAllocCopied(plan, (size_t)b->g.n * sizeof(int), &plan->row));
  PlanCall(PlanAllocCopied(plan, n + sizeof(int), &plan->block));
  plan->col    = plan->row;
  plan->blocks = b->blocks;
  PlanCall(PlanAlloc(plan, &plan->scratch, n, &color));
  PlanCall(PlanAlloc(plan, &plan->scratch, n, &order));
  PlanCall(Colors(plan, b, color, &plan->colors));
  PlanCall(SortBy(plan, b->blocks, PetscMax(plan->colors - 1, 0), color, order));
  PlanLaunch(SyncILUKernelBlockLengths(b->blocks, b->begin, order, plan->block, plan->stream));
  PlanCall(PlanOffsets(plan, b->blocks, plan->block, NULL));
  if (b->size <= SYNCILU_BMC_SHORT) {
    PlanLaunch(SyncILUKernelOrderBlocks(b->blocks, b->begin, order, plan->block, b->at, plan->row, plan->stream));
    PetscCall(PlanRelease(plan, &plan->scratch, mark));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanAlloc(plan, &plan->scratch, n, &place));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)b->g.n * sizeof(int), &key));
  PlanLaunch(SyncILUKernelInvert(b->blocks, order, place, plan->stream));
  PlanLaunch(SyncILUKernelGather(b->g.n, place, b->block, key, plan->stream));
  PlanCall(SortBy(plan, b->g.n, PetscMax(b->blocks - 1, 0), key, plan->row));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanOrderBMC - orders rows by colored blocks

   Not Collective

   Input Parameters:
+  plan - the plan, which gets the ordering
.  g    - rows of a matrix on the device, their columns ascending; with two sides unless its pattern is symmetric
.  nnz  - its entries
-  size - most rows of a block, at least 1

   Output Parameter:
.  blocks - what the ordering is
*/
PetscErrorCode PlanOrderBMC(Plan *plan, SyncILUDeviceGraph g, int nnz, PetscInt size, SyncILUBlocks *blocks)
{
  const int    mark = plan->scratch.n;
  const size_t n    = (size_t)g.n + 1;
  const int    most = (int)PetscMin(size, PetscMax(g.n, 1));
  Blocks       b    = {.g = g, .nnz = nnz};
  int          aligned;
  int **const  array[] = {&b.head, &b.full, &b.at, &b.block, &b.begin};

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(array) / sizeof(array[0]); k++) PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), array[k]));
  PlanCall(PlanAlloc(plan, &plan->scratch, 4 * sizeof(int), &b.counts));
  PlanCall(CutAsNumbered(plan, &b, most, &b.matched));
  aligned = (int)SyncILUBMCAligned(g.n, b.groups, most);
  if (aligned < most) {
    PetscBool scattered;

    PlanCall(CutAsNumbered(plan, &b, aligned, &scattered));
    if (scattered) PlanCall(CutAsNumbered(plan, &b, most, &b.matched));
    else b.matched = PETSC_FALSE;
  }
  if (b.matched) {
    int *numbering;

    PlanCall(PlanAlloc(plan, &plan->scratch, n * sizeof(int), &numbering));
    PlanCall(Number(plan, &b, numbering));
    PlanCall(Cut(plan, &b, numbering));
  }
  PlanCall(Permute(plan, &b));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  plan->block_size = blocks->size = b.size < most ? b.size : size;
  blocks->matched                 = b.matched;
  blocks->blocks                  = b.blocks;
  blocks->colors                  = plan->colors;
  blocks->along                   = b.along;
  PetscFunctionReturn(PETSC_SUCCESS);
}
