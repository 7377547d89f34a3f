/*
   Solve strategy struct: lines of a grid, in the tiles and the storage of kernels/struct.h. x is by tiles, and of
   both triangles alike.
*/
#include "struct.h"
#include "../../kernels/solve_struct.h"

/* A point of the stencil as one that a row depends on in the direction of the triangle. */
static void Before(const SyncILUDeviceStruct *m, int e, signed char d[3])
{
  for (int c = 0; c < 3; c++) d[c] = (signed char)(m->transposed == m->down ? m->point[e][c] : -m->point[e][c]);
}

/*
   The lines beside a tile that its rows depend on, and the lanes of a tile that other tiles depend on. The
   caller sees by cells and lines if there are more than SYNCILU_STRUCT_CELLS or SYNCILU_STRUCT_LINES.
*/
static void Beside(SyncILUDeviceStruct *m, signed char line[][2])
{
  const int   width = 1 << m->g.edge[0], height = 1 << m->g.edge[1], columns = width + m->reach[0], lanes = width * height;
  signed char needed[SYNCILU_STRUCT_CELLS] = {0};

  m->beside.cells = columns * (height + m->reach[1]);
  if (m->beside.cells > SYNCILU_STRUCT_CELLS) return;
  for (int l = 0; l < lanes; l++) {
    for (int e = 0; e < m->points; e++) {
      signed char d[3];
      int         v, w;

      Before(m, e, d);
      v = (l & (width - 1)) + d[1] + m->g.skew * d[2];
      w = (l >> m->g.edge[0]) + d[2];
      if (v < 0 || w < 0) needed[(w + m->reach[1]) * columns + v + m->reach[0]] = 1;
    }
  }
  for (int w = -m->reach[1]; w < height; w++) {
    for (int v = -m->reach[0]; v < width; v++) {
      const int there[2] = {(v + 32 * width) & (width - 1), (w + 32 * height) & (height - 1)};

      if (!needed[(w + m->reach[1]) * columns + v + m->reach[0]]) continue;
      if (m->beside.lines < SYNCILU_STRUCT_LINES) {
        line[m->beside.lines][0] = (signed char)v;
        line[m->beside.lines][1] = (signed char)w;
      }
      m->beside.lines++;
      m->exported |= 1u << (m->down ? lanes - 1 - there[1] * width - there[0] : there[1] * width + there[0]);
    }
  }
}

/* Where the entries of a row find what they need: those that reach back furthest first, behind the padding. */
static void Entries(SyncILUDeviceStruct *m)
{
  const int columns = (1 << m->g.edge[0]) + m->reach[0], padding = m->entries - m->points;
  int       next = 0;

  for (; next < padding; next++) m->at[next] = -1;
  for (int before = m->height; before > 0; before--) {
    for (int e = 0; e < m->points; e++) {
      signed char d[3];

      Before(m, e, d);
      if (StencilBefore(&m->g, d) != before) continue;
      m->at[next]            = (signed char)e;
      m->before[next]        = (signed char)before;
      m->beside.cell[next++] = (short)(d[2] * columns + d[1] + m->g.skew * d[2]);
    }
  }
}

/* For kernels where rows depend on their nearest neighbours alone: which entry is which neighbour's, and boxes. */
static void Near(const Stencil *s, SyncILUDeviceStruct *m)
{
  for (int c = 0; c < 3; c++) m->near[c] = -1;
  if (!s->near) return;
  for (int e = 0; e < m->entries; e++) {
    signed char d[3];
    int         c = 0;

    Before(m, m->at[e], d);
    while (!d[c]) c++;
    m->near[c] = e;
  }
  m->box.g     = s->box;
  m->box.tiles = 1 << (s->box.edge[0] + s->box.edge[1] - m->g.edge[0] - m->g.edge[1]);
}

/* The tiles by their lowest levels; those of one level by their numbers. From the end, if down. */
PetscErrorCode StencilOrder(const SyncILULines *g, int down, int *order)
{
  int *level, *begin, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(g->tiles, &level));
  for (int k = 0; k < g->tiles; k++) {
    const int row = k / g->row, column = k - row * g->row + SyncILULinesBegin(g, row);

    level[k] = g->level[0] * (column << g->edge[0]) + g->level[1] * (row << g->edge[1]);
    most     = PetscMax(most, level[k]);
  }
  PetscCall(PetscCalloc1((size_t)most + 2, &begin));
  for (int k = 0; k < g->tiles; k++) begin[level[k] + 1]++;
  for (int l = 0; l < most; l++) begin[l + 1] += begin[l];
  for (int k = 0; k < g->tiles; k++) {
    const int place = begin[level[k]]++;

    order[down ? g->tiles - 1 - place : place] = k;
  }
  PetscCall(PetscFree(level));
  PetscCall(PetscFree(begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StencilSortTiles(Triangle *t, const SyncILULines *g, int down, const int **tiles)
{
  Plan *plan = t->plan;
  int  *order, *sorted;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &t->memory, (size_t)g->tiles * sizeof(*order), &order));
  PetscCall(PetscMalloc1(g->tiles, &sorted));
  PetscCall(StencilOrder(g, down, sorted));
  PetscCall(DeviceUpload(plan->stream, order, sorted, (size_t)g->tiles * sizeof(*order)));
  PetscCall(PetscFree(sorted));
  *tiles = order;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All of a triangle but its memory. */
void StencilDescribe(const Stencil *s, Part part, SyncILUDeviceStruct *m, signed char line[SYNCILU_STRUCT_LINES][2])
{
  const int source = part == PART_U || part == PART_UT;

  m->g          = s->g;
  m->points     = s->entries[source];
  m->transposed = part == PART_LT || part == PART_UT;
  m->down       = part == PART_U || part == PART_LT;
  m->scaled     = part == PART_L || part == PART_LT;
  m->present    = s->present;
  for (int e = 0; e < m->points; e++) {
    signed char d[3];

    for (int c = 0; c < 3; c++) m->point[e][c] = s->point[source][e][c];
    Before(m, e, d);
    m->reach[0] = PetscMax(m->reach[0], -(d[1] + s->g.skew * d[2]));
    m->reach[1] = PetscMax(m->reach[1], -d[2]);
    m->height   = PetscMax(m->height, StencilBefore(&s->g, d));
  }
  Beside(m, line);
  m->entries = s->unknowns > 1 ? m->points : SyncILUStructEntries(m->points, m->beside.lines, m->beside.cells);
  Entries(m);
  Near(s, m);
}

/* Whether the pattern is for it; what there would be of the triangle. */
static PetscErrorCode StencilFits(Plan *plan, Part part, SyncILUDeviceStruct *m, char why[], size_t len)
{
  signed char line[SYNCILU_STRUCT_LINES][2];

  PetscFunctionBegin;
  if (plan->settings->analysis != SYNCILU_ANALYSIS_AUTO || plan->settings->vector_size) {
    PetscCall(PetscStrncpy(why, "it goes along the lines of a grid with a lane a row, and another order or number of lanes is asked for", len));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanFindStencil(plan));
  PetscCall(PetscStrncpy(why, plan->stencil->why, len));
  if (why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  StencilDescribe(plan->stencil, part, m, line);
  if (m->beside.cells > SYNCILU_STRUCT_CELLS || m->beside.lines > SYNCILU_STRUCT_LINES)
    PetscCall(PetscSNPrintf(why, len, "rows of a tile depend on more lines beside it than the %d there is room for", SYNCILU_STRUCT_LINES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An empty plan asks about the device. */
static PetscErrorCode Fits_Struct(Plan *plan, Part part, char why[], size_t len)
{
  SyncILUDeviceStruct m = {.points = 0};
  int                 fits;

  PetscFunctionBegin;
  if (plan->pattern.n) {
    PetscCall(StencilFits(plan, part, &m, why, len));
    if (why[0] || plan->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  } else m.entries = SyncILUStructEntries(1, 1, 1);
  PlanLaunch(SyncILUKernelStructFits(m, &fits));
  if (!fits) PetscCall(PetscStrncpy(why, "the device has no barriers for copies to shared memory (compute capability 9.0)", len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create_Struct(Triangle *t)
{
  Plan                *plan = t->plan;
  signed char          line[SYNCILU_STRUCT_LINES][2], (*lines)[2];
  SyncILUDeviceStruct *m;
  size_t               bytes;

  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  t->data = m;
  StencilDescribe(plan->stencil, t->part, m, line);
  PlanCall(PlanAlloc(plan, &t->memory, sizeof(line), &lines));
  PetscCall(DeviceUpload(plan->stream, lines, line, sizeof(line)));
  m->beside.line = (const signed char(*)[2])lines;
  PlanCall(StencilSortTiles(t, &m->g, m->down, &m->order));
  if (m->box.tiles) PlanCall(StencilSortTiles(t, &m->box.g, m->down, &m->box.order));
  t->room = (size_t)32 * (size_t)m->g.tiles * (size_t)m->g.steps;
  bytes   = t->room * (size_t)(m->entries + m->scaled) * plan->size;
  PlanCall(PlanAlloc(plan, &t->memory, bytes, &m->val));
  CallCUDA(cudaMemsetAsync(m->val, 0, bytes, plan->stream)); /* what has no entry stays so */
  t->order.lines      = PETSC_TRUE;
  t->order.level_rows = (double)plan->pattern.n / plan->stencil->levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Update_Struct(Triangle *t, const Factor *factor)
{
  Plan             *plan   = t->plan;
  const Triangle   *source = t->of ? t->of : t;
  SyncILUDeviceRows rows   = t->part == PART_L ? factor->w : factor->u;

  PetscFunctionBegin;
  if (factor->stored && !t->of) PetscFunctionReturn(PETSC_SUCCESS);
  if (t->of) { /* from the pattern, where the caller has brought them */
    PetscCall(PetscMemzero(&rows, sizeof(rows)));
    rows.values.a = plan->crout;
  } else if (!rows.values.a) {
    rows.values.a = t->w;
    rows.begin    = t->wbegin;
  }
  PlanLaunch(SyncILUKernelStructValues(plan->type, *(const SyncILUDeviceStruct *)t->data, source->rows, rows, factor->d, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_Struct(const Triangle *t, const SyncILUDeviceSolve *s)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelSolveStruct(plan->type, *(const SyncILUDeviceStruct *)t->data, *s, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Diagonal_Struct(Triangle *t, const SyncILUDeviceValues *values)
{
  Plan                *plan = t->plan;
  SyncILUDeviceStruct *m    = (SyncILUDeviceStruct *)t->data;
  double              *diagonal;

  PetscFunctionBegin;
  if (!m->diagonal) {
    PlanCall(PlanAlloc(plan, &t->memory, t->room * plan->size, &diagonal));
    CallCUDA(cudaMemsetAsync(diagonal, 0, t->room * plan->size, plan->stream));
    m->diagonal = diagonal;
  }
  PlanLaunch(SyncILUKernelStructDiagonal(plan->type, *m, plan->pattern, *values, (void *)m->diagonal, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Columns_Struct(const Triangle *t, int *col)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelColumnsOfStruct(*(const SyncILUDeviceStruct *)t->data, t->rows, t->part == PART_L ? plan->pattern.diag : NULL, col, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Values_Struct(const Triangle *t, void *val)
{
  Plan *plan = t->plan;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelValuesOfStruct(plan->type, *(const SyncILUDeviceStruct *)t->data, t->rows, val, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps SyncILUSolveStructOps = {.type       = SYNCILU_SOLVE_STRUCT,
                                        .transposes = PETSC_TRUE,
                                        .scales     = PETSC_TRUE,
                                        .fits       = Fits_Struct,
                                        .create     = Create_Struct,
                                        .update     = Update_Struct,
                                        .solve      = Solve_Struct,
                                        .diagonal   = Diagonal_Struct,
                                        .rows       = TriangleRows,
                                        .columns    = Columns_Struct,
                                        .values     = Values_Struct};
