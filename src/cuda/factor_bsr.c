/*
   Update strategy bsr: rows of one pattern together, one or several warps an inode, or a lane a row. W and U'
   go to the pattern, or, unless the kernel searches, into the storage of solves along the lines of a grid.

   On a grid with wide levels the stencil says which blocks meet, unless there is relaxation, there are
   shifts, or somebody wants W and U' on the pattern: with a lane a row, up to seven
   (kernels/factor_bsr_wide.cu), or, where shared memory has too little room for that, with a warp an inode
   (kernels/factor_bsr_grid.cu). Inodes of seven and eight rows have the latter also where levels are narrow.

   Without relaxation the plan has lists of the blocks that meet (kernels/factor_bsr_list.cu, or, where a
   warp has an inode of five rows or more, kernels/factor_bsr_tiles.cu). Otherwise, and where inodes have
   too many entries for that, the kernel searches (kernels/factor_bsr.cu). Where only blocks of the diagonal
   have updates, there is a kernel for that (kernels/factor_bsr_diagonal.cu), which needs no lists: these
   are made for the first shift that looks at pivots as they come, or at the sizes of rows.
*/
#include "factor.h"
#include "struct.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_bsr.h"
#include "../../kernels/factor_bsr_diagonal.h"
#include "../../kernels/factor_bsr_grid.h"
#include "../../kernels/factor_bsr_list.h"
#include "../../kernels/factor_bsr_tiles.h"
#include "../../kernels/factor_bsr_wide.h"
#include "../../kernels/order.h"

typedef struct {
  FactorRows               rows;
  SyncILUDeviceBsrFactor   m;
  SyncILUDeviceBsrLists    lists;    /* word is NULL: there are none */
  SyncILUDeviceBsrDiagonal diagonal; /* task is NULL: not asked for, blocks beside the diagonal have updates, or there is no room */
  SyncILUDeviceBsrWide     wide;     /* task is NULL: there is none (WideCreate()) */
  SyncILUDeviceBsrGrid     grid;     /* task is NULL: there is none (GridCreate()) */
  SyncILUDeviceBsrTiles    tiles;    /* of the solves; place is NULL: not asked for, or they have another storage */
  PetscBool                tried;    /* there are lists, which do for all pivots, or there is no room for them */
  int                      type;     /* of the last factorization's pivots */
} Bsr;

/* How many warps a block has, and how long the rows are that fit shared memory; room for the others. */
static PetscErrorCode Room(Factorization *f, SyncILUDeviceBsrFactor *m)
{
  Plan                      *plan = f->plan, *inodes = plan->inodes;
  const SyncILUDeviceCounts *counts = &inodes->counts;
  const size_t               block  = (size_t)plan->inode * (size_t)plan->inode * plan->size;
  int                       *begin, total;

  PetscFunctionBegin;
  m->warps  = SYNCILU_BLOCK_FACTOR / 32;
  m->shared = PetscMin(counts->longest_row, SYNCILU_TABLE_MOST);
  m->lower  = PetscMin(counts->longest[0], m->shared);
  while (m->warps > 1 && (size_t)m->warps * SyncILUKernelFactorBsrBytes(plan->inode, m->shared, m->lower) > SYNCILU_SHARED_BYTES) m->warps /= 2;
  while (SyncILUKernelFactorBsrBytes(plan->inode, m->shared, m->lower) > SYNCILU_SHARED_BYTES) {
    m->shared--;
    m->lower = PetscMin(m->lower, m->shared);
  }
  if (counts->longest_row > m->shared) {
    PlanCall(PlanAlloc(plan, &f->memory, ((size_t)inodes->pattern.n + 1) * sizeof(int), &begin));
    PlanLaunch(SyncILUKernelLongLengths(inodes->pattern.n, inodes->pattern.ptr, m->shared, begin, plan->stream));
    PlanCall(PlanOffsets(plan, inodes->pattern.n, begin, &total));
    PlanCall(PlanAlloc(plan, &f->memory, (size_t)total * block, &m->scratch));
    m->begin = begin;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   How many warps a block has, and warps or lanes an inode, and what shared memory has; whether there is room.
   Inodes that several warps have do not go straight to tiles. Where inodes of two rows have few updates, most
   lanes of a warp would have nothing to do.
*/
static PetscBool ListRoom(const Plan *plan, double level_rows, PetscBool tiles, const SyncILUBsrListSizes *sizes, SyncILUDeviceBsrLists *l)
{
  const Plan                *inodes     = plan->inodes;
  const SyncILUDeviceCounts *counts     = &inodes->counts;
  const double               references = inodes->part[0], updates = (double)sizes->updates;
  size_t                     bytes;

  l->inodes  = (SyncILUDeviceInodes){plan->inode, inodes->pattern};
  l->entries = counts->longest_row;
  l->words   = sizes->most;
  l->warps   = SYNCILU_BLOCK_FACTOR / 32;
  l->team    = (!tiles || plan->inode == 3) && level_rows <= SYNCILU_BSR_TEAM_ROWS &&
            (counts->longest[1] + 1) * plan->inode > 32; /* else a warp has a lane for each column */
  l->wide  = level_rows > SYNCILU_BSR_TILES_ROWS;
  l->many  = updates > SYNCILU_BSR_LIST_FEW * references;
  l->lanes = plan->inode == 2 && !l->team && !l->many && level_rows >= SYNCILU_BSR_FEW_ROWS ? 8 : 32;
  bytes    = (size_t)(32 / l->lanes) * SyncILUKernelFactorBsrListBytes(plan->inode, l->entries, l->words, l->team);
  if (!l->team && plan->inode >= SYNCILU_BSR_TILES_LEAST) bytes = PetscMax(bytes, SyncILUKernelFactorBsrTilesBytes(plan->inode, l->entries, l->words));
  while (l->warps >> l->team > 1 && (size_t)(l->warps >> l->team) * bytes > SYNCILU_SHARED_BYTES) l->warps /= 2;
  return (PetscBool)(bytes <= SYNCILU_SHARED_BYTES);
}

/* Where the blocks of each inode stand in the storage of the solves, if these go along the lines of a grid. */
static PetscErrorCode PlaceTiles(Factorization *f, SyncILUDeviceBsrTiles *tiles)
{
  Plan                            *plan    = f->plan;
  const SyncILUDeviceStructBlocks *part[2] = {TriangleGetStructBlocks(f->L), TriangleGetStructBlocks(f->U)};
  SyncILUStructBlocksPlace        *place;

  PetscFunctionBegin;
  if (!part[0] || !part[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)plan->inodes->pattern.n * sizeof(*place), &place));
  for (int k = 0; k < 2; k++) {
    const SyncILUDeviceStruct *m = &part[k]->m;
    SyncILUBsrTilesPart       *p = &tiles->part[k];

    p->val    = m->val;
    p->points = m->points;
    p->at = p->entry = 0;
    for (int e = 0; e < m->points; e++) {
      p->at |= (unsigned long long)m->at[e] << 4 * e;
      p->entry |= (unsigned long long)e << 4 * m->at[e];
    }
    PlanLaunch(SyncILUKernelStructBlocksPlaces(*part[k], place, plan->stream));
  }
  tiles->lines = SyncILUStructBlocksLines(&part[0]->m.g);
  tiles->steps = part[0]->m.g.steps;
  tiles->place = place;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether it goes by inverses, if not by the stencil, with pivots like the last ones. */
static PetscBool ByInverses(const Bsr *b)
{
  return (PetscBool)(b->diagonal.task && b->type == SYNCILU_PIVOT_REJECT);
}

/* Whether there are lists for which what inodes read of each other is stored apart. */
static PetscBool ApartLists(const Bsr *b)
{
  return (PetscBool)(b->lists.word && b->lists.apart);
}

/*
   Where a factorization by inverses, or from lists, writes its rows, if it does: from lists a warp has to
   have a whole inode, and -pc_syncilu_check wants W and U' on the pattern.
*/
static SyncILUDeviceBsrTiles Tiles(const Factorization *f)
{
  const Bsr                  *b    = (const Bsr *)f->data;
  const SyncILUDeviceBsrTiles none = {.place = NULL};

  return f->plan->settings->check || !(ByInverses(b) || ApartLists(b)) ? none : b->tiles;
}

/* Whether it goes by the stencil, for which there is a plan, with pivots of this type. */
static PetscBool ByStencil(const Factorization *f, int type)
{
  const Bsr *b = (const Bsr *)f->data;

  return (PetscBool)((b->grid.task || b->wide.task) && !f->plan->settings->check && type == SYNCILU_PIVOT_REJECT);
}

/* What inodes are planned with of which only blocks of the diagonal have updates, where there is room. */
static PetscErrorCode DiagonalCreate(Factorization *f, const FactorRows *r, SyncILUDevicePattern p, SyncILUDeviceBsrDiagonal *d)
{
  Plan                      *plan   = f->plan;
  const SyncILUDeviceCounts *counts = &plan->inodes->counts;
  const size_t               each   = SYNCILU_BSR_DIAGONAL_TASK + (size_t)counts->longest[0] * SYNCILU_BSR_DIAGONAL_REFERENCE;
  SyncILUDeviceBsrDiagonal   x      = {
           .inodes = {plan->inode, plan->inodes->pattern},
             .entries = counts->longest_row, .lower = counts->longest[0], .warps = SYNCILU_BLOCK_FACTOR / 32
  };
  size_t bytes;

  PetscFunctionBegin;
  if (x.lower > SYNCILU_BSR_DIAGONAL_MOST || (double)p.n * (double)each > PlanBudget(plan)) PetscFunctionReturn(PETSC_SUCCESS);
  bytes = SyncILUKernelFactorBsrDiagonalBytes(plan->inode, x.entries, x.lower);
  x.two = plan->inode <= SYNCILU_BSR_DIAGONAL_TWO && x.lower <= 16;
  while (x.warps > 1 && ((size_t)x.warps << x.two) * bytes > SYNCILU_SHARED_BYTES) x.warps /= 2;
  if (bytes << x.two > SYNCILU_SHARED_BYTES) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)p.n * SYNCILU_BSR_DIAGONAL_TASK, &x.task));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)p.n * (size_t)x.lower * SYNCILU_BSR_DIAGONAL_REFERENCE + 1, &x.reference));
  PlanLaunch(SyncILUKernelBsrDiagonalPlan(p, r->order.row, x, plan->stream));
  *d = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   If a level has more blocks of U than the second-level cache keeps until the next level reads them, *row
   becomes another order of the inodes, in scratch: the grid is cut across its slowest axis into slabs of
   some planes, and slab after slab takes its inodes by level. Else *row stays. bytes: of the blocks of U of
   an inode. Reference inodes have lower numbers than their inode, so they are in the same slab or in an
   earlier one.
*/
static PetscErrorCode Slabs(Plan *plan, const SyncILULines *g, const Order *order, double bytes, int **row)
{
  const int    n      = plan->inodes->pattern.n;
  const double levels = n / order->level_rows;
  int          slow = 0, count = 0, planes, *slab, *sorted, *position;

  PetscFunctionBegin;
  for (int c = 1; c < 3; c++)
    if (g->stride[c] > g->stride[slow]) slow = c;
  do { /* a slab with one plane less has at least one level less */
    count++;
    planes = (g->points[slow] + count - 1) / count;
  } while (planes > 1 && bytes * planes * g->stride[slow] > SYNCILU_BSR_GRID_SLAB * (levels - g->points[slow] + planes));
  if (planes == g->points[slow]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)n * sizeof(int), &slab));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)n * sizeof(int), &sorted));
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)n * sizeof(int), &position));
  PlanLaunch(SyncILUKernelBsrGridSlabs(n, order->row, planes * g->stride[slow], slab, plan->stream));
  PlanCall(PlanSort(plan, n, (g->points[slow] - 1) / planes, slab, sorted, position));
  PlanLaunch(SyncILUKernelGather(n, order->row, position, slab, plan->stream));
  *row = slab;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Plans the factorization by the stencil of a grid, unless levels are narrow for that, the solves have
   another storage, or there is no room. If an inode has an entry of L at point a of the stencil, and the
   inode there has an entry of U at point b, then their product updates the inode's entry at a + b.
*/
static PetscErrorCode GridCreate(Factorization *f, const FactorRows *r, Bsr *b)
{
  Plan                            *plan    = f->plan;
  const SyncILUDeviceStructBlocks *part[]  = {TriangleGetStructBlocks(f->L), TriangleGetStructBlocks(f->U)};
  const int                        n       = plan->inodes->pattern.n;
  SyncILUDeviceBsrGrid             x       = {.size = plan->inode, .entries = plan->inodes->counts.longest_row, .warps = SYNCILU_BLOCK_FACTOR / 32};
  const double                     least   = x.size > 6 ? 0.0 : x.size == 6 ? SYNCILU_BSR_GRID_ROWS_SIX : SYNCILU_BSR_GRID_ROWS;
  int                              updates = 0;
  PetscBool                        beside  = PETSC_FALSE; /* not only diagonal blocks have updates */
  double                           each;
  size_t                           bytes;
  SyncILUBsrGridTable              table = {.target = {{0}}};
  void                            *device, *task;
  int                             *row = r->order.row;

  PetscFunctionBegin;
  if (!part[0] || !part[1] || x.size < SYNCILU_BSR_GRID_LEAST || r->order.level_rows <= least) PetscFunctionReturn(PETSC_SUCCESS);
  bytes = SyncILUKernelFactorBsrGridBytes(x.size, x.entries);
  while (x.warps > 1 && (size_t)x.warps * bytes > SYNCILU_SHARED_BYTES) x.warps /= 2;
  if (bytes > SYNCILU_SHARED_BYTES) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) x.points[k] = part[k]->m.points;
  while (1 << x.pieces < x.points[0] + SYNCILU_BSR_GRID_HEAD) x.pieces++;
  PlanCall(PlaceTiles(f, &x.tiles));
  for (int before = 0; before < x.points[0]; before++) {
    const int              k = part[0]->m.at[before]; /* by levels, the lowest first */
    const signed char     *p = part[0]->m.point[k];
    SyncILUBsrGridUpdates *u = &table.updates[before];

    x.reference.point[before] = (signed char)k;
    for (int c = 0; c < 3; c++) x.reference.offset[before] += p[c] * part[0]->m.g.stride[c];
    u->block                     = (unsigned short)k;
    x.reference.diagonal[before] = -1;
    for (int e = 0; e < x.points[1]; e++) {
      const int target = StencilSum(&part[0]->m, &part[1]->m, p, part[1]->m.point[e]); /* as a block of an inode that has all points */

      table.target[k][e] = (signed char)(target < x.points[0] ? target : target - x.points[0] + SYNCILU_STRUCT_MOST);
      if (target < 0) continue;
      u->word[u->count++] = (unsigned short)((x.tiles.part[1].entry >> 4 * e & 15) << 8 | (unsigned)target);
      if (target == x.points[0]) x.reference.diagonal[before] = (signed char)(x.tiles.part[1].entry >> 4 * e & 15);
      else beside = PETSC_TRUE;
      updates++;
    }
  }
  /* an inode that has all points has reference inodes with all that it needs of them, unless there are holes */
  x.all      = part[0]->m.present ? ~0u : ((1u << x.points[0]) - 1) << SyncILUStencilBit(0, 0) | ((1u << x.points[1]) - 1) << SyncILUStencilBit(1, 0);
  each       = (double)updates / x.points[0]; /* by a reference inode */
  x.products = !beside ? 0 : x.size > 5 && each > SYNCILU_BSR_MANY ? (x.size > 6 ? 8 : 4) : x.size > 6 && each > SYNCILU_BSR_FEW ? 4 : 2;
  PlanCall(PlanAlloc(plan, &f->memory, sizeof(table), &device));
  PetscCall(DeviceUpload(plan->stream, device, &table, sizeof(table)));
  PlanCall(PlanAlloc(plan, &f->memory, ((size_t)n << x.pieces) * SYNCILU_BSR_GRID_PIECE, &task));
  if (!beside) PlanCall(Slabs(plan, &part[0]->m.g, &r->order, (double)x.points[1] * x.size * x.size * (double)plan->size, &row));
  PlanLaunch(SyncILUKernelBsrGridTasks(n, plan->inodes->pattern.ptr, row, r->order.throttle, x, task, plan->stream));
  x.table  = device;
  x.task   = task;
  b->grid  = x;
  b->tiles = x.tiles;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   What reference inodes update, and where their blocks are at hand. There is room for as many as any two that
   follow each other have. Returns how many updates there are.
*/
static int WideUpdates(SyncILUDeviceBsrWide *x, const SyncILUBsrWideTable *table)
{
  const int block = x->size * x->size * SyncILUStructBlocksLines(&x->lower.g) * (int)sizeof(double);
  int       takes[SYNCILU_STRUCT_MOST], begin[SYNCILU_STRUCT_MOST], after[SYNCILU_STRUCT_MOST], updates = 0;

  x->hand = 1; /* the kernel first has there where rows begin */
  for (int k = 0; k < x->lower.points; k++) {
    SyncILUBsrWideSource *source = &x->source[k];

    source->count = 0;
    for (int c = 0; c < 3; c++) source->point[c] = x->lower.point[x->lower.at[k]][c];
    for (int u = 0; u < x->upper.points; u++) {
      const int target = StencilSum(&x->lower, &x->upper, source->point, x->upper.point[x->upper.at[u]]);

      if (target < 0) continue;
      source->target[source->count] = (unsigned short)table->block[target];
      source->from[source->count++] = u * block;
    }
    updates += source->count;
    takes[k] = source->count;
    x->hand  = PetscMax(x->hand, takes[k] + (k ? takes[k - 1] : 0));
  }
  StencilPlaces(x->lower.points, takes, x->hand, begin, after);
  for (int k = 0; k < x->lower.points; k++) {
    x->source[k].begin = (unsigned char)begin[k];
    x->source[k].after = (unsigned char)after[k];
  }
  return updates;
}

/*
   Plans a lane for each row of the inodes: unless levels are narrow, inodes have too many rows or blocks, the
   solves have another storage, or there is no room.
*/
static PetscErrorCode WideCreate(Factorization *f, const FactorRows *r, Bsr *b)
{
  Plan                            *plan   = f->plan;
  const SyncILUDeviceStructBlocks *part[] = {TriangleGetStructBlocks(f->L), TriangleGetStructBlocks(f->U)};
  const int                        size   = SyncILUBsrWideLines(plan->inode);
  SyncILUDeviceBsrWide             x      = {.size = plan->inode};
  SyncILUBsrWideTable              table  = {.block = {0}};
  PetscBool                        lines;
  double                           least;
  int                              warps;
  void                            *device;

  PetscFunctionBegin;
  if (!part[0] || !part[1] || plan->inode > SYNCILU_BSR_WIDE_MOST) PetscFunctionReturn(PETSC_SUCCESS);
  x.lower     = part[0]->m;
  x.upper     = part[1]->m;
  x.g         = x.lower.g;
  x.g.edge[0] = PetscMin(x.g.edge[0], size);
  x.g.edge[1] = size - x.g.edge[0];
  StencilCut(&x.g);
  lines = StencilEntries(&x.lower, &x.upper, x.size * SyncILUBsrWideStride(x.size), x.bit, x.margin, table.block);
  least = WideUpdates(&x, &table) > x.lower.points ? SYNCILU_BSR_WIDE_WARPS : SYNCILU_BSR_WIDE_WARPS_DIAGONAL;
  if (!lines || r->order.level_rows <= least * (1 << size)) PetscFunctionReturn(PETSC_SUCCESS);
  warps = SyncILUKernelFactorBsrWideWarps(x);
  /* with one warp a block of threads, GridCreate()'s kernel is faster */
  if (!warps || (warps == 1 && x.size >= SYNCILU_BSR_GRID_LEAST)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!StencilBeside(&x.g, x.lower.points, x.lower.point, x.lower.at, x.tile, &x.tiles, table.needs, NULL)) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &f->memory, sizeof(table), &device));
  PetscCall(DeviceUpload(plan->stream, device, &table, sizeof(table)));
  PlanCall(StencilTasks(plan, &f->memory, &x.g, &x.task, &x.tasks, &x.done));
  x.table  = device;
  b->wide  = x;
  f->lanes = 5 - size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListsCreate(Factorization *f, Bsr *b, PetscBool shifted)
{
  Plan                  *plan = f->plan;
  const FactorRows      *r    = &b->rows;
  const int              n    = plan->inodes->pattern.n;
  SyncILUDevicePattern   p;
  SyncILUDeviceBsrLists *l = &b->lists;
  SyncILUBsrListSizes   *device, sizes;
  int                   *begin, *upper = NULL;
  void                  *word, *task;

  PetscFunctionBegin;
  InodesCall(PlanGetPattern(plan->inodes, &p));
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*device), &device));
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)n + 1) * sizeof(int), &begin));
  CallCUDA(cudaMemsetAsync(device, 0, sizeof(*device), plan->stream));
  PlanLaunch(SyncILUKernelBsrLists(p, r->turn, NULL, begin, NULL, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &sizes, device, sizeof(sizes)));
  if (!ListRoom(plan, r->order.level_rows, (PetscBool)(TriangleGetStructBlocks(f->L) && TriangleGetStructBlocks(f->U)), &sizes, l) || sizes.words > INT_MAX ||
      sizes.most > SYNCILU_BSR_LIST_WORDS || (double)sizes.words * SYNCILU_BSR_LIST_WORD > PlanBudget(plan))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (!sizes.beside && !shifted) PlanCall(DiagonalCreate(f, r, p, &b->diagonal));
  if (!b->tiles.place && (b->diagonal.task || !l->team)) PlanCall(PlaceTiles(f, &b->tiles));
  if (b->diagonal.task && !shifted) PetscFunctionReturn(PETSC_SUCCESS);
  l->apart = !l->team && (b->tiles.place || plan->inode >= SYNCILU_BSR_TILES_LEAST);
  if (l->apart) {
    PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)n + 1) * sizeof(int), &upper));
    PlanLaunch(SyncILUKernelUpperLengths(p, 1, upper, plan->stream));
    PlanCall(PlanOffsets(plan, n, upper, NULL));
  }
  PlanCall(PlanOffsets(plan, n, begin, NULL));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)sizes.words * SYNCILU_BSR_LIST_WORD, &word));
  PlanLaunch(SyncILUKernelBsrLists(p, r->turn, upper, begin, word, NULL, plan->stream));
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)n * SYNCILU_BSR_LIST_TASK, &task));
  PlanLaunch(SyncILUKernelBsrListTasks(p, r->order.row, begin, task, plan->stream));
  l->word = word;
  l->task = task;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Bytes of what inodes read of each other, where that is stored apart: by inverses two blocks of each, from
   lists the diagonal blocks and those of U'.
*/
static size_t ApartBytes(const Factorization *f, const Bsr *b)
{
  const Plan  *plan  = f->plan;
  const size_t block = (size_t)plan->inode * (size_t)plan->inode * plan->size, n = (size_t)plan->inodes->pattern.n;

  if (ByInverses(b)) return 2 * n * block;
  return ApartLists(b) ? ((size_t)plan->inodes->part[1] + n) * block : 0;
}

/* Room for ApartBytes(); NULL: none is needed. */
static PetscErrorCode Apart(Factorization *f, const Bsr *b, void **apart)
{
  Plan        *plan  = f->plan;
  const size_t bytes = ApartBytes(f, b);

  PetscFunctionBegin;
  *apart = NULL;
  if (bytes) PlanCall(PlanAlloc(plan, &plan->scratch, bytes, apart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether pivots of this type are compared with their whole rows, and not only with what is `right` of them.
   Then W has to come to the pattern.
*/
static PetscBool WantsRows(int type, PetscBool right)
{
  return (PetscBool)(SyncILUPivotsRelative(type) && !right);
}

/* Sees that there is memory for what a factorization takes while it runs. */
static PetscErrorCode TryMemory(Factorization *f, const Bsr *b)
{
  Plan *plan = f->plan;
  void *apart;

  PetscFunctionBegin;
  if (!Tiles(f).place || WantsRows(b->type, plan->settings->symmetric)) PlanCall(PlanKeepCrout(plan, &plan->scratch));
  PlanCall(Apart(f, b, &apart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Lists of the blocks that meet, or, without shift, what takes their place if only blocks of the diagonal do,
   where inodes are short enough and there is memory: else the kernel searches.
*/
static PetscErrorCode Lists(Factorization *f, Bsr *b, PetscBool shifted)
{
  Plan                       *plan = f->plan;
  const int                   mark = f->memory.n, before = plan->scratch.n;
  const SyncILUDeviceBsrTiles tiles    = b->tiles;
  void *const                 diagonal = b->diagonal.task;

  PetscFunctionBegin;
  if (plan->inode < 2 || !plan->pattern.n || plan->inodes->counts.longest_row > SYNCILU_BSR_LIST_MOST) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ListsCreate(f, b, shifted));
  if (!plan->unfit[0]) PetscCall(TryMemory(f, b));
  if (plan->unfit[0]) {
    b->lists.word    = NULL;
    b->diagonal.task = diagonal;
  }
  b->tried = (PetscBool)(shifted || !b->diagonal.task);
  PetscCall(PlanRelease(plan, &plan->scratch, before));
  if (!b->lists.word && (shifted || !b->diagonal.task)) {
    plan->unfit[0] = 0; /* it can do without */
    b->tiles       = tiles;
    PetscCall(PlanRelease(plan, &f->memory, mark));
  }
  if (b->lists.word) f->lanes = b->lists.lanes == 8 ? 3 : 5 + b->lists.team;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was not planned after all leaves nothing behind. */
static PetscErrorCode Forget(Factorization *f, int mark)
{
  PetscFunctionBegin;
  f->plan->unfit[0] = 0;
  PetscCall(PlanRelease(f->plan, &f->memory, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Bsr(Factorization *f, char why[], size_t len)
{
  Plan       *plan = f->plan, *inodes;
  Bsr        *b;
  FactorRows *r;
  int        *level, levels;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PetscCall(PetscNew(&b));
  f->data  = b;
  f->lanes = 5;
  r        = &b->rows;
  b->type  = plan->settings->symmetric ? SYNCILU_PIVOT_SIGN : SYNCILU_PIVOT_REJECT; /* PETSc shifts incomplete Cholesky factors unless it is told not to */
  PlanCall(PlanInodes(plan));
  inodes = plan->inodes;
  if (f->L->order.inodes) r->order = f->L->order;
  else {
    InodesCall(PlanGetLevels(inodes, PART_L, &level, &levels));
    InodesCall(OrderCreate(inodes, &f->memory, PART_L, level, levels, 0, &r->order));
    PetscCall(PlanRelease(inodes, &inodes->scratch, 0));
    r->order.key = r->order.start = NULL;
  }
  r->order.throttle = OrderThrottle(r->order.level_rows, PetscMax(SYNCILU_THROTTLE_SEARCH, SYNCILU_THROTTLE_ROUNDS * PlanRounds(inodes)));
  r->tasks          = inodes->pattern.n;
  InodesCall(FactorRowsTurns(inodes, &r->order, &f->memory, &r->turn));
  PetscCall(PlanRelease(inodes, &inodes->scratch, 0));
  b->m.inodes.size    = plan->inode;
  b->m.inodes.pattern = inodes->pattern;
  PlanCall(Room(f, &b->m));
  if (plan->settings->relax != 0.0) {
    PlanCall(FactorRowsSums(f));
    plan->relaxed = PETSC_TRUE;
  } else {
    const int mark = f->memory.n, before = plan->scratch.n;

    PetscCall(WideCreate(f, r, b));
    if (!b->wide.task) {
      PetscCall(Forget(f, mark));
      PetscCall(GridCreate(f, r, b));
      if (!b->grid.task) PetscCall(Forget(f, mark));
    }
    PetscCall(PlanRelease(plan, &plan->scratch, before));
  }
  if (!ByStencil(f, b->type)) {
    if (plan->settings->relax == 0.0) PlanCall(Lists(f, b, (PetscBool)(b->type != SYNCILU_PIVOT_REJECT)));
    /*
       the kernel that searches needs room for W and U': unless the solves keep them, each factorization
       takes it anew, and here it is seen that there is memory for it
    */
    if (!b->lists.word && !b->diagonal.task) PlanCall(PlanKeepCrout(plan, &plan->scratch));
  }
  if (TriangleGetStructBlocks(f->L) && (b->lists.word || b->diagonal.task || b->grid.task || b->wide.task)) PetscCall(PlanForgetInodeColumns(plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_Bsr(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                 Factor *factor)
{
  Plan                 *plan = f->plan;
  Bsr                  *b    = (Bsr *)f->data;
  FactorRows            rows = b->rows;
  SyncILUDeviceFactor   d;
  PetscBool             inverses, grid;
  SyncILUDeviceBsrTiles tiles;
  void                 *apart;

  PetscFunctionBegin;
  b->type = piv->type;
  grid    = (PetscBool)(piv->relax == 0.0 && ByStencil(f, b->type));
  /* for pivots that go another way than what there is a plan for */
  if (piv->relax == 0.0 && !grid && !b->tried && (b->type != SYNCILU_PIVOT_REJECT || !b->diagonal.task))
    PlanCall(Lists(f, b, (PetscBool)(b->type != SYNCILU_PIVOT_REJECT)));
  inverses      = (PetscBool)(ByInverses(b) && !grid);
  tiles         = Tiles(f);
  factor->whole = grid ? f->U : NULL;
  rows.filled   = (PetscBool)((grid || inverses || b->lists.word) && piv->relax == 0.0);
  if (grid && b->wide.task) {
    SyncILUDeviceBsrWide x = b->wide;

    x.a      = *values;
    x.pivot  = f->pivot;
    x.ticket = plan->ticket + 2;
    x.piv    = *piv;
    x.status = status;
    x.inodes = plan->inodes->pattern; /* columns are not asked for */
    f->lanes = 5 - SyncILUBsrWideLines(x.size);
    PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, x.ticket, 0, NULL, 0, NULL, plan->stream));
    CallCUDA(cudaMemsetAsync(x.done, 0, (size_t)x.g.tiles * sizeof(*x.done), plan->stream));
    PlanLaunch(SyncILUKernelFactorBsrWide(plan->type, x, plan->stream));
    factor->stored = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  f->lanes    = grid || inverses || !rows.filled ? 5 : b->lists.lanes == 8 ? 3 : 5 + b->lists.team;
  rows.stored = (PetscBool)(grid || (rows.filled && tiles.place && !WantsRows(piv->type, (PetscBool)piv->right)));
  PlanCall(FactorRowsBegin(f, &rows, values, piv, status, &d, factor));
  factor->stored = (PetscBool)(grid || (rows.filled && tiles.place));
  if (factor->stored) factor->u.values.a = NULL;
  if (rows.stored) factor->w.values.a = NULL;
  if (rows.filled && !grid) {
    PlanCall(Apart(f, b, &apart));
    if (apart) CallCUDA(cudaMemsetAsync(apart, 0xff, ApartBytes(f, b), plan->stream)); /* NaN sentinels */
  }
  if (grid) {
    PlanLaunch(SyncILUKernelFactorBsrGrid(plan->type, d, b->grid, plan->stream));
  } else if (rows.filled && inverses) {
    SyncILUDeviceBsrDiagonal m = b->diagonal;

    m.tiles   = tiles;
    m.inverse = apart;
    m.inner   = (char *)apart + ApartBytes(f, b) / 2;
    PlanLaunch(SyncILUKernelFactorBsrDiagonal(plan->type, d, m, plan->stream));
  } else if (rows.filled) {
    SyncILUDeviceBsrLists lists = b->lists;

    if (lists.apart) {
      lists.tiles = tiles;
      lists.rows  = rows.stored ? NULL : d.val;
      d.val       = apart;
    } else PlanLaunch(SyncILUKernelBsrListBegin(plan->type, lists.inodes, d.val, plan->stream));
    if (lists.apart && !d.size && plan->type == SYNCILU_DOUBLE && plan->inode >= SYNCILU_BSR_TILES_LEAST)
      PlanLaunch(SyncILUKernelFactorBsrTiles(plan->type, d, lists, plan->stream));
    else PlanLaunch(SyncILUKernelFactorBsrList(plan->type, d, lists, plan->stream));
  } else {
    SyncILUDeviceBsrFactor m = b->m;

    InodesCall(PlanGetPattern(plan->inodes, &m.inodes.pattern));
    PlanLaunch(SyncILUKernelFactorBsr(plan->type, d, m, plan->stream));
    PetscCall(PlanRestorePattern(plan->inodes, &m.inodes.pattern));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Bsr(const Factorization *f, PetscViewer viewer)
{
  const Bsr      *b        = (const Bsr *)f->data;
  const PetscBool grid     = ByStencil(f, b->type);
  const PetscBool inverses = ByInverses(b);
  const PetscBool searches = (PetscBool)(f->plan->settings->relax != 0.0 || (!grid && !inverses && !b->lists.word));

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "updates: %s%s\n",
                                   searches   ? "searched for"
                                   : grid     ? (b->wide.task ? "by the stencil, a lane a row" : "by the stencil")
                                   : inverses ? "of diagonal blocks, by inverses"
                                              : "from lists",
                                   !searches && (grid || Tiles(f).place) ? ", into the tiles of the solves" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorBsrOps =
  {.type = SYNCILU_UPDATE_BSR, .name = "bsr", .inodes = PETSC_TRUE, .create = Create_Bsr, .factor = Factor_Bsr, .view = View_Bsr};
