/*
   Update strategy struct: along the lines of a grid, straight into the storage of the triangular solves along
   them.
*/
#include "factor.h"
#include "struct.h"
#include "../../kernels/factor.h"
#include "../../kernels/factor_struct.h"
#include "../../kernels/factor_struct_wide.h"

typedef struct {
  SyncILUDeviceStructFactor f;
  int                       room; /* values of a row that u has room for */
  SyncILUDeviceStructWide   wide; /* task is NULL: levels are narrow, there is relaxation, or the stencil is none for it */
} Struct;

/* What makes of the stencil's points a table for the lanes of a warp. */
typedef struct {
  const Stencil    *stencil;
  int               source[SYNCILU_STRUCT_SOURCES]; /* the point of L of each reference row, -1: padding */
  int               near;                           /* reference rows that are near */
  SyncILUStructRing ring[SYNCILU_STRUCT_SOURCES];   /* where the reference row is */
} Sources;

/*
   The points of L by their levels, the lowest first, and with one level by their columns; behind the padding
   of the far ones.
*/
static void SortSources(const Stencil *s, Sources *sources, int *far)
{
  int next = 0, level[SYNCILU_STRUCT_MOST], most = 0;

  sources->stencil = s;
  sources->near    = 0;
  for (int e = 0; e < s->entries[0]; e++) {
    level[e] = StencilBefore(&s->g, s->point[0][e]);
    most     = PetscMax(most, level[e]);
    sources->near += level[e] == 1;
  }
  *far = SyncILUStructFar(s->entries[0] - sources->near);
  for (int k = 0; k < SYNCILU_STRUCT_SOURCES; k++) sources->source[k] = -1;
  if (s->entries[0] - sources->near > *far) return;
  next = *far - (s->entries[0] - sources->near);
  for (; most; most--)
    for (int e = 0; e < s->entries[0]; e++)
      if (level[e] == most) sources->source[next++] = e;
}

/* Its v and w, as those of a line beside. */
static void LineOf(const Stencil *s, const signed char *point, int *v, int *w)
{
  *v = point[1] + s->g.skew * point[2];
  *w = point[2];
}

/*
   The rings: one for the row's own line, which has number -1, and for each line beside that has reference
   rows, the nearest ones first but for the one at v - 1, which is the first if there is one. A line whose
   latest one is near brings it with the row that needs it, others a step before, since far rows are used
   then.
*/
static void Rings(Sources *sources, SyncILUDeviceStructFactor *f)
{
  const Stencil *s     = sources->stencil;
  const int      count = f->far + sources->near;
  int            line[SYNCILU_STRUCT_SOURCES], largest = 1;

  f->lines  = 0;
  f->room   = 0;
  f->before = 1;
  f->hands  = 0;
  for (int k = 0; k < count; k++) {
    int v = 0, w = 0;

    if (sources->source[k] >= 0) LineOf(s, s->point[0][sources->source[k]], &v, &w);
    if (v != -1 || w) continue;
    f->hands = f->lines = 1;
    f->line[0].v        = -1;
  }
  for (int k = count - 1; k >= 0; k--) { /* the nearest first */
    int v, w;

    line[k] = -1;
    if (sources->source[k] < 0) continue;
    LineOf(s, s->point[0][sources->source[k]], &v, &w);
    if (!v && !w) continue;
    for (line[k] = 0; line[k] < f->lines && (f->line[line[k]].v != v || f->line[line[k]].w != w); line[k]++) { }
    f->line[line[k]].v = v;
    f->line[line[k]].w = w;
    f->lines           = PetscMax(f->lines, line[k] + 1);
  }
  f->row = SyncILUStructRow(f->far, f->lines, f->values);
  for (int j = -1; j < f->lines; j++) {
    SyncILUStructRing *ring  = j < 0 ? &f->own : &f->line[j].ring;
    int                first = INT_MAX, last = j < 0 ? 0 : INT_MIN, size = 1;

    for (int k = 0; k < count; k++) {
      const signed char *point = sources->source[k] < 0 ? NULL : s->point[0][sources->source[k]];

      if (!point || line[k] != j) continue;
      first = PetscMin(first, point[0]);
      if (j >= 0) last = PetscMax(last, point[0] + (k < f->far));
    }
    /* one more than a row needs, since the next one is begun before it is done */
    while (first <= last && size < last - first + 2) size *= 2;
    ring->mask = (size - 1) * f->row;
    if (j >= 0) f->line[j].x = last;
    f->before = PetscMax(f->before, last);
    largest   = PetscMax(largest, size);
  }
  f->largest = largest * f->row;
  for (int size = largest; size; size /= 2) { /* so that each begins at a multiple of its size */
    for (int j = -1; j < f->lines; j++) {
      SyncILUStructRing *ring = j < 0 ? &f->own : &f->line[j].ring;

      if (ring->mask != (size - 1) * f->row) continue;
      ring->begin = f->room;
      f->room += size * f->row;
    }
  }
  for (int k = 0; k < f->far + SYNCILU_STRUCT_NEAR; k++) {
    SyncILUStructRing *ring = &sources->ring[k];

    *ring = f->own; /* padding reads there, and uses nothing */
    if (sources->source[k] >= 0) {
      if (line[k] >= 0) *ring = f->line[line[k]].ring;
      ring->x = s->point[0][sources->source[k]][0] * f->row;
      if (line[k] < 0 && k < f->far) f->follows = 1;
    }
    f->reference[k] = (SyncILUStructReference){ring->mask, ring->x};
  }
}

/* The place of a point among the entries of a row in the storage of a triangle. */
static short PlaceOf(const SyncILUDeviceStruct *m, int point)
{
  for (int e = 0; e < m->entries; e++)
    if (m->at[e] == point) return (short)e;
  return 0;
}

/* What the lanes have. */
static void Entries(const Sources *sources, const SyncILUDeviceStructFactor *f, SyncILUStructEntry entry[32])
{
  const Stencil *s        = sources->stencil;
  const int      diagonal = f->far + SYNCILU_STRUCT_NEAR;
  int            column[32]; /* in the order of the matrix, from that of the first entry of L on; -1: no entry */

  for (int l = 0; l < 32; l++) {
    const int part = l > diagonal, e = l < diagonal ? sources->source[l] : l - diagonal - 1;

    entry[l]  = (SyncILUStructEntry){.bit = -1};
    column[l] = -1;
    for (int k = 0; k < SYNCILU_STRUCT_SOURCES; k++) entry[l].cell[k] = sources->ring[k].begin + s->entries[1] * (int)sizeof(double);
    if (l == diagonal) {
      entry[l].bit   = 0;
      entry[l].place = (short)f->lower.entries;
      column[l]      = s->entries[0];
    } else if (e >= 0 && e < s->entries[part]) {
      for (int c = 0; c < 3; c++) entry[l].point[c] = s->point[part][e][c];
      entry[l].bit   = (signed char)SyncILUStencilBit(part, e);
      entry[l].place = PlaceOf(part ? &f->upper : &f->lower, e);
      column[l]      = part ? s->entries[0] + 1 + e : e;
    }
    if (l < diagonal) entry[l].source = sources->ring[l];
  }
  for (int l = 0; l < 32; l++) {
    if (entry[l].bit < 0) continue;
    for (int other = 0; other < 32; other++) {
      if (column[other] >= 0 && column[other] < column[l]) entry[l].before |= 1u << other;
      if (other >= diagonal || entry[other].bit < 0) continue;
      for (int u = 0; u < s->entries[1]; u++) {
        PetscBool same = PETSC_TRUE;

        for (int c = 0; c < 3; c++) same = (PetscBool)(same && entry[other].point[c] + s->point[1][u][c] == entry[l].point[c]);
        if (!same) continue;
        entry[l].updated |= 1u << other;
        entry[l].cell[other] = sources->ring[other].begin + u * (int)sizeof(double);
      }
    }
  }
}

/* What reference rows update, and where their numbers are at hand. */
static void WideUpdates(SyncILUDeviceStructWide *x, const SyncILUStructTable *table)
{
  const int points[] = {x->lower.points, x->upper.points}, padding[] = {x->lower.entries - points[0], x->upper.entries - points[1]};
  int       takes[SYNCILU_STRUCT_MOST], begin[SYNCILU_STRUCT_MOST], after[SYNCILU_STRUCT_MOST];

  for (int k = 0; k < points[0]; k++) {
    SyncILUStructSource *source = &x->source[k];

    source->count = 0;
    for (int u = padding[1]; u < x->upper.entries; u++) {
      const int target = StencilSum(&x->lower, &x->upper, x->lower.point[x->lower.at[padding[0] + k]], x->upper.point[x->upper.at[u]]);

      if (target >= 0) source->update[source->count++] = (unsigned)table->entry[target] << 16 | (unsigned)(u * 32);
    }
    takes[k] = source->count;
  }
  StencilPlaces(points[0], takes, SYNCILU_STRUCT_HAND, begin, after);
  for (int k = 0; k < points[0]; k++) {
    x->source[k].begin = (unsigned char)begin[k];
    x->source[k].after = (unsigned char)after[k];
  }
}

/* What wide levels are planned with, if they are. */
static PetscErrorCode Wide(Factorization *f)
{
  Plan                   *plan = f->plan;
  Struct                 *all  = (Struct *)f->data;
  SyncILUDeviceStructWide x    = {.lower = all->f.lower, .upper = all->f.upper};
  SyncILUStructTable     *table, *device;
  const signed char      *order;
  PetscBool               lines, fits;

  PetscFunctionBegin;
  if (plan->settings->relax != 0.0 || f->L->order.level_rows <= SYNCILU_STRUCT_WIDE) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &f->memory, sizeof(*table), &device));
  PetscCall(PetscCalloc1(1, &table));
  lines = StencilEntries(&x.lower, &x.upper, SYNCILU_STRUCT_STRIDE, x.bit, x.margin, table->entry);
  order = x.lower.at + x.lower.entries - x.lower.points; /* padding comes first */
  fits  = (PetscBool)(lines && StencilBeside(&x.lower.g, x.lower.points, x.lower.point, order, x.tile, &x.tiles, table->needs, table->place));
  if (fits) {
    WideUpdates(&x, table);
    PetscCall(DeviceUpload(plan->stream, device, table, sizeof(*table)));
    x.table = device;
  }
  PetscCall(PetscFree(table));
  if (fits) PlanCall(StencilTasks(plan, &f->memory, &x.lower.g, &x.task, &x.tasks, &x.done));
  if (fits) all->wide = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for the rows of U', with the sums of relaxation if there is any. */
static PetscErrorCode Room(Factorization *f, PetscBool relax)
{
  Plan     *plan = f->plan;
  Struct   *s    = (Struct *)f->data;
  const int need = s->f.upper.points + (relax ? 2 : 0);

  PetscFunctionBegin;
  if (s->f.u && s->room >= need) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &f->memory, (size_t)plan->pattern.n * (size_t)need * plan->size, &s->f.u));
  s->room = need;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Struct(Factorization *f, char why[], size_t len)
{
  Plan              *plan = f->plan;
  Sources            sources;
  SyncILUStructEntry entry[32], *entries;
  Struct            *s;
  size_t             bytes;

  PetscFunctionBegin;
  if (!f->L->order.lines) {
    PetscCall(PetscStrncpy(why, "the triangular solves do not go along the lines of a grid", len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscNew(&s));
  f->data    = s;
  s->f.lower = *(const SyncILUDeviceStruct *)f->L->data;
  s->f.upper = *(const SyncILUDeviceStruct *)f->U->data;
  SortSources(plan->stencil, &sources, &s->f.far);
  if (plan->stencil->entries[0] - sources.near > s->f.far) {
    PetscCall(
      PetscSNPrintf(why, len, "rows depend on %d rows other than of the level before, more than %d", plan->stencil->entries[0] - sources.near, s->f.far));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->f.values = s->f.upper.points + 2; /* as many as there may be */
  Rings(&sources, &s->f);
  bytes = SyncILUKernelFactorStructBytes(&s->f);
  if (bytes > SYNCILU_SHARED_BYTES) {
    PetscCall(PetscSNPrintf(why, len, "a row needs %d rows of %d lines at hand, for which shared memory has no room", s->f.room / s->f.row, s->f.lines + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  s->f.warps = SYNCILU_STRUCT_FACTOR_WARPS;
  while (s->f.warps / 2 * bytes > SYNCILU_SHARED_BYTES) s->f.warps /= 2;
  Entries(&sources, &s->f, entry);
  PlanCall(PlanAlloc(plan, &f->memory, sizeof(entry), &entries));
  PetscCall(DeviceUpload(plan->stream, entries, entry, sizeof(entry)));
  s->f.entry = entries;
  PlanCall(Wide(f));
  f->lanes = s->wide.task ? 0 : 5;
  if (!s->wide.task || plan->settings->symmetric) PlanCall(Room(f, (PetscBool)(plan->settings->relax != 0.0)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of W are needed by themselves where pivots are compared with them. */
static PetscErrorCode Factor_Struct(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                    Factor *factor)
{
  Plan                     *plan     = f->plan;
  const PetscBool           relative = (PetscBool)SyncILUPivotsRelative(piv->type), relaxed = (PetscBool)(piv->relax != 0.0);
  SyncILUDeviceStructFactor s;

  PetscFunctionBegin;
  f->lanes = ((const Struct *)f->data)->wide.task && !relative && !relaxed ? 0 : 5;
  if (!f->lanes) {
    SyncILUDeviceStructWide x = ((const Struct *)f->data)->wide;

    x.a       = *values;
    x.pivot   = f->pivot;
    x.ticket  = plan->ticket + 2;
    x.piv     = *piv;
    x.status  = status;
    x.pattern = plan->pattern; /* columns are not asked for */
    PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, x.ticket, 0, NULL, 0, NULL, plan->stream));
    CallCUDA(cudaMemsetAsync(x.done, 0, (size_t)x.lower.g.tiles * sizeof(*x.done), plan->stream));
    PlanLaunch(SyncILUKernelFactorStructWide(plan->type, x, plan->stream));
    factor->stored = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(Room(f, relaxed));
  if (relative && !f->wrows.val) PlanCall((*f->L->ops->rows)(f->L, &f->wrows));
  s        = ((const Struct *)f->data)->f;
  s.values = s.upper.points + (relaxed ? 2 : 0);
  s.a      = *values;
  s.wrows  = f->wrows;
  s.pivot  = f->pivot;
  s.size   = relative ? f->size : NULL;
  s.ticket = plan->ticket + 2;
  s.piv    = *piv;
  s.status = status;
  PlanCall(PlanGetPattern(plan, &s.pattern));
  PlanLaunch(SyncILUKernelFactorBegin(plan->type, status, s.ticket, (size_t)plan->pattern.n * (size_t)s.values, s.u, 0, NULL, plan->stream));
  PlanLaunch(SyncILUKernelFactorStruct(plan->type, s, plan->stream));
  factor->stored = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorStructOps = {.type = SYNCILU_UPDATE_STRUCT, .name = "struct", .create = Create_Struct, .factor = Factor_Struct};
