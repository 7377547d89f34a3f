/*
   Whether a pattern is that of a stencil on a grid, in its natural order, and how lines of the grid make tiles
   (kernels/struct.h).
*/
#include "struct.h"

/* At or above a / b, for b > 0. */
static int CeilDivide(int a, int b)
{
  return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

/*
   The grid on which the entries of a row are neighbours: of all whose lines and planes are as long as some
   entry is far, that on which they are the nearest. Rows of one line alone are a grid, too.
*/
static PetscBool FindPoints(const SyncILUStencil *s, int count, int n, int points[3])
{
  int best = INT_MAX;

  for (int j = -1; j < count; j++) {
    const int x = j < 0 ? n : PetscAbsInt(s->offset[j]);

    if (x < 2 || n % x) continue;
    for (int k = -1; k < count; k++) {
      const int xy       = k < 0 ? n : PetscAbsInt(s->offset[k]);
      const int tried[3] = {x, xy / x, n / PetscMax(xy, 1)};
      int       far      = 0;

      if (xy < x || xy % x || n % xy) continue;
      for (int e = 0; e < count && far < INT_MAX; e++) {
        int d[3];

        SyncILUStencilPoint(tried, s->offset[e], d);
        for (int c = 0; c < 3; c++) far = 2 * PetscAbsInt(d[c]) < tried[c] && far < INT_MAX ? far + PetscAbsInt(d[c]) : INT_MAX;
      }
      if (far >= best) continue;
      best = far;
      for (int c = 0; c < 3; c++) points[c] = tried[c];
    }
  }
  return (PetscBool)(best < INT_MAX);
}

/* Levels between a row and the one at a point of the stencil, before it. */
int StencilBefore(const SyncILULines *g, const signed char *p)
{
  return -(p[0] + g->level[0] * (p[1] + g->skew * p[2]) + g->level[1] * p[2]);
}

/* Calls the points of L, and those of U turned around: what a row depends on in either direction. */
static const signed char *Dependence(const Stencil *s, int e, signed char turned[3])
{
  if (e < s->entries[0]) return s->point[0][e];
  for (int c = 0; c < 3; c++) turned[c] = (signed char)-s->point[1][e - s->entries[0]][c];
  return turned;
}

/*
   The skew and the levels: the least for which no line depends on one with a higher v or w, and each row on
   lower levels alone. There may be none if lines do not follow the numbering.
*/
static PetscBool ChooseLevels(Stencil *s)
{
  SyncILULines *g   = &s->g;
  const int     all = s->entries[0] + s->entries[1];
  signed char   turned[3];
  int           plane = 0;

  for (int e = 0; e < all; e++) {
    const signed char *d = Dependence(s, e, turned);

    if (d[2] > 0 || (!d[2] && d[1] > 0)) return PETSC_FALSE;
    if (!d[2] && d[1] < 0) g->level[0] = PetscMax(g->level[0], CeilDivide(d[0] + 1, -d[1]));
    if (d[2] < 0) g->skew = PetscMax(g->skew, CeilDivide(d[1], -d[2]));
  }
  for (int e = 0; e < all; e++) {
    const signed char *d = Dependence(s, e, turned);

    if (d[2] < 0) plane = PetscMax(plane, CeilDivide(d[0] + g->level[0] * d[1] + 1, -d[2]));
  }
  g->level[1] = PetscMax(0, plane - g->level[0] * g->skew);
  s->levels   = g->points[0] + g->level[0] * (g->points[1] - 1) + (g->level[1] + g->level[0] * g->skew) * (g->points[2] - 1);
  return PETSC_TRUE;
}

/* Tiles: nearly squares of 32 lines. */
static void ChooseTiles(Stencil *s)
{
  SyncILULines *g         = &s->g;
  const int     extent[2] = {g->points[1] + g->skew * (g->points[2] - 1), g->points[2]};
  int           rows;

  g->edge[0] = g->edge[1] = 0;
  for (int left = 5, grown = 1; left && grown;) {
    grown = 0;
    for (int c = 0; c < 2 && left; c++) {
      if (1 << g->edge[c] >= extent[c]) continue;
      g->edge[c]++;
      left--;
      grown = 1;
    }
  }
  g->edge[0] = 5 - g->edge[1]; /* a grid of fewer lines leaves lanes without one */
  rows       = ((g->points[2] - 1) >> g->edge[1]) + 1;
  /* a row of tiles may begin before its lowest v */
  g->row   = ((g->points[1] + g->skew * ((1 << g->edge[1]) - 1) - 1) >> g->edge[0]) + 1 + (g->skew ? 1 : 0);
  g->tiles = g->row * rows;
  g->span  = g->level[0] * ((1 << g->edge[0]) - 1) + g->level[1] * ((1 << g->edge[1]) - 1);
  g->steps = g->points[0] + g->span;
  s->hops  = ((extent[0] - 1) >> g->edge[0]) + rows - 1;
}

/* Why the kernels cannot do what they would have to, else nothing. */
static PetscErrorCode Limits(const Plan *plan, Stencil *s)
{
  const SyncILULines *g     = &s->g;
  const double        lanes = StencilLanes(s), n = plan->pattern.n;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    int direct = 0; /* entries of the level just before */

    for (int e = 0; e < s->entries[k]; e++) {
      signed char d[3];
      int         before;

      for (int c = 0; c < 3; c++) d[c] = (signed char)(k ? -s->point[k][e][c] : s->point[k][e][c]);
      before = StencilBefore(g, d);
      if (before > SYNCILU_STRUCT_REACH)
        PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "rows depend on rows %d levels before, and tiles have the last %d", before, SYNCILU_STRUCT_REACH));
      direct += before == 1;
    }
    if (direct > 3) PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "rows depend on %d rows of the level before, more than 3", direct));
  }
  if (lanes > INT_MAX / 2) PetscCall(PetscStrncpy(s->why, "too many rows for indices of 32 bits", sizeof(s->why)));
  else if (n >= SYNCILU_CUDA_MIN_ROWS && lanes > SYNCILU_STRUCT_PADDING * n)
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "tiles of lines of %d rows would have %.2g lanes for each row", g->points[0], lanes / n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Along which axis lines go: along x, where rows of a line are neighbours in memory, unless another way through
   all levels is much shorter, or the only one.
*/
static PetscErrorCode ChooseAxes(const Plan *plan, Stencil *s)
{
  static const int order[][3] = {
    {0, 1, 2},
    {1, 0, 2},
    {1, 2, 0},
    {2, 0, 1},
    {2, 1, 0}
  };
  const Stencil natural   = *s;
  const int     stride[3] = {1, s->g.points[0], s->g.points[0] * s->g.points[1]};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(order); k++) {
    Stencil other = natural;

    for (int c = 0; c < 3; c++) {
      const int from = order[k][c];

      other.g.points[c] = natural.g.points[from];
      other.g.stride[c] = stride[from];
      for (int part = 0; part < 2; part++)
        for (int e = 0; e < SYNCILU_STRUCT_MOST; e++) other.point[part][e][c] = natural.point[part][e][from];
    }
    if (!ChooseLevels(&other)) continue;
    ChooseTiles(&other);
    PetscCall(Limits(plan, &other));
    if (!k || (!other.why[0] && (s->why[0] || SYNCILU_STRUCT_AXIS * StencilTime(&other) < StencilTime(s)))) *s = other;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many entries of the stencil there are on the grid. */
static double EntriesOnGrid(const Stencil *s)
{
  double all = 0.0;

  for (int part = 0; part < 2; part++) {
    for (int e = 0; e < s->entries[part]; e++) {
      double rows = 1.0;

      for (int c = 0; c < 3; c++) rows *= PetscMax(0, s->g.points[c] - PetscAbsInt(s->point[part][e][c]));
      all += rows;
    }
  }
  return all;
}

/* The first row that does not fit, INT_MAX if all do; where some have holes, what each row has. */
static PetscErrorCode CompareRows(Plan *plan, SyncILUDevicePattern p, Stencil *s, SyncILUStencil *device, int *odd)
{
  const int longest = plan->counts.longest_row, none = INT_MAX;

  PetscFunctionBegin;
  PlanLaunch(SyncILUKernelOddRows(p, longest, s->g, device, NULL, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, odd, &device->odd, sizeof(*odd)));
  if (*odd == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &s->memory, (size_t)p.n * sizeof(int), &s->present));
  CallCUDA(cudaMemcpyAsync(&device->odd, &none, sizeof(none), cudaMemcpyHostToDevice, plan->stream));
  PlanLaunch(SyncILUKernelOddRows(p, longest, s->g, device, s->present, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, odd, &device->odd, sizeof(*odd)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Find(Plan *plan, Stencil *s)
{
  const int            longest = plan->counts.longest_row, mark = plan->scratch.n;
  const SyncILUStencil none = {.row = INT_MAX, .odd = INT_MAX};
  SyncILUStencil       found, *device;
  SyncILUDevicePattern p;

  PetscFunctionBegin;
  if (!plan->pattern.n) PetscCall(PetscStrncpy(s->why, "has no rows", sizeof(s->why)));
  else if (plan->row) PetscCall(PetscStrncpy(s->why, "is for the natural order of a grid, not for -pc_factor_mat_ordering_type", sizeof(s->why)));
  else if (PetscMax(plan->counts.longest[0], plan->counts.longest[1]) > SYNCILU_STRUCT_MOST)
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "a row has %d entries of L or U, more than %d", PetscMax(plan->counts.longest[0], plan->counts.longest[1]),
                            SYNCILU_STRUCT_MOST));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*device), &device));
  CallCUDA(cudaMemcpyAsync(device, &none, sizeof(none), cudaMemcpyHostToDevice, plan->stream));
  PlanCall(PlanGetPattern(plan, &p));
  PlanLaunch(SyncILUKernelStencil(p, longest, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &found, device, sizeof(found)));
  s->entries[0] = found.lower;
  s->entries[1] = longest - found.lower - 1;
  if (!FindPoints(&found, longest, plan->pattern.n, s->g.points))
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "the entries of row %d fit no grid", found.row));
  else {
    PlanCall(CompareRows(plan, p, s, device, &found.odd));
    if (found.odd != INT_MAX)
      PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "row %d has other entries than row %d on a grid of %d x %d x %d", found.odd, found.row, s->g.points[0],
                              s->g.points[1], s->g.points[2]));
  }
  PetscCall(PlanRestorePattern(plan, &p));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int e = 0; e < longest; e++) {
    const int k = e > found.lower;
    int       d[3];

    if (e == found.lower) continue;
    SyncILUStencilPoint(s->g.points, found.offset[e], d);
    for (int c = 0; c < 3; c++) {
      if (PetscAbsInt(d[c]) > SYNCILU_STRUCT_REACH)
        PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "rows depend on rows %d points away, more than %d", PetscAbsInt(d[c]), SYNCILU_STRUCT_REACH));
      s->point[k][k ? e - found.lower - 1 : e][c] = (signed char)d[c];
    }
  }
  if (s->present) s->holes = EntriesOnGrid(s) - (double)plan->part[0] - (double)plan->part[1];
  if (!s->why[0]) PetscCall(ChooseAxes(plan, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanFindStencil - finds whether the rows are those of a grid, and plans its tiles of lines, once a pattern

   Not Collective

   Input Parameter:
.  plan - the plan, with its pattern; plan->stencil says the rest

   Note:
   All rows are looked at: a row of other entries than the stencil's is found, and named.
*/
PetscErrorCode PlanFindStencil(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->stencil) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&plan->stencil));
  PetscCall(Find(plan, plan->stencil));
  if (plan->stencil->why[0]) {
    PetscCall(PlanRelease(plan, &plan->stencil->memory, 0));
    plan->stencil->present = NULL;
  }
  if (plan->unfit[0]) PetscCall(PlanForgetStencil(plan)); /* another time there may be memory */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where nobody solves along its lines. */
PetscErrorCode PlanForgetStencil(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->stencil) PetscCall(PlanRelease(plan, &plan->stencil->memory, 0));
  PetscCall(PetscFree(plan->stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that it holds for rows with holes. */
PetscInt64 PlanStencilBytes(const Plan *plan)
{
  return plan->stencil ? plan->stencil->memory.bytes : 0;
}

/* The level of each row of L, in scratch: with holes a row may be on a later one than it could be. */
PetscErrorCode StencilLevels(Plan *plan, int **level, int *levels)
{
  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->pattern.n * sizeof(int), level));
  PlanLaunch(SyncILUKernelStructLevels(plan->stencil->g, plan->pattern.n, *level, plan->stream));
  *levels = plan->stencil->levels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nanoseconds of the longest way through a triangle: steps along lines, and hops between tiles. */
double StencilTime(const Stencil *s)
{
  return (double)s->levels * SYNCILU_STRUCT_STEP + (double)s->hops * SYNCILU_STRUCT_HOP;
}

/* Lanes of all steps of all tiles, with and without rows: numbers of x. */
double StencilLanes(const Stencil *s)
{
  return 32.0 * s->g.tiles * s->g.steps;
}

PetscErrorCode StencilView(const Stencil *s, PetscViewer viewer)
{
  const SyncILULines *g = &s->g;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "order: by tiles of %d x %d lines of %d rows, which are %d apart; stencil of %d points", 1 << g->edge[0],
                                   1 << g->edge[1], g->points[0], g->stride[0], s->entries[0] + s->entries[1] + 1));
  if (s->holes > 0.0) PetscCall(PetscViewerASCIIPrintf(viewer, ", %.0f of whose entries rows do not have", s->holes));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanLinesPay - whether the way along the lines of the stencil that was found is the shortest, and takes not too much
   memory

   Not Collective

   Input Parameter:
.  plan - the plan, with its stencil

   Output Parameter:
.  pay - whether it does

   Note:
   The ways through all levels are compared: where lines are short, most of this one is from tile to tile, and a
   cluster has a shorter one if levels are narrow. Where rows have holes there may be fewer levels than on a grid
   without, as of many small grids together. The constants are in kernels/tuning.h.
*/
PetscErrorCode PlanLinesPay(Plan *plan, PetscBool *pay)
{
  const Stencil       *s       = plan->stencil;
  const double         entries = (double)plan->part[0] + (double)plan->part[1], padded = StencilLanes(s) * (1.0 + s->holes / PetscMax(1.0, entries));
  int                 *level[2], levels[2]                                             = {s->levels, 0};
  double               warps, other;
  SyncILUDevicePattern p;

  PetscFunctionBegin;
  *pay = PETSC_FALSE;
  if (padded > SYNCILU_STRUCT_PADDING * plan->pattern.n) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->holes > 0.0) {
    PlanCall(PlanGetPattern(plan, &p));
    PlanCall(PlanFindLevels(plan, p, plan->nnz, PETSC_FALSE, PETSC_FALSE, level, levels));
    PetscCall(PlanRestorePattern(plan, &p));
  }
  warps = PlanLevelWarps(plan, 0, (double)levels[0]);
  other = levels[0] * (warps > SYNCILU_CLUSTER_SLICES ? SYNCILU_HOP_BY_LEVEL : PetscMax(SYNCILU_HOP_CLUSTER, SYNCILU_CLUSTER_WARP_TIME * warps));
  *pay  = (PetscBool)(StencilTime(s) <= other);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What speaks for it. */
PetscErrorCode StencilReason(const Plan *plan, char why[], size_t len)
{
  const Stencil *s         = plan->stencil;
  const double   all       = (double)plan->part[0] + (double)plan->part[1] + s->holes;
  char           holes[64] = "";

  PetscFunctionBegin;
  if (s->holes > 0.0) PetscCall(PetscSNPrintf(holes, sizeof(holes), ", of which they lack %.2g %%", 100.0 * s->holes / all));
  PetscCall(
    PetscSNPrintf(why, len, "rows have the %d entries of a stencil on a grid of %d rows a line%s", s->entries[0] + s->entries[1] + 1, s->g.points[0], holes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
