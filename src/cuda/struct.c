/*
   Whether a pattern is that of a stencil on a grid, in its natural order, and how lines of the grid make tiles
   (kernels/struct.h).

   Several unknowns a point are the rows of an inode: then it is the pattern of the inodes that is looked at, whose
   entries are dense blocks (solve_struct_blocks.c). Where rows lack some of these, the unknowns are rows of a line
   that is as many times longer, and their entries those of one stencil, of which each unknown lacks some: with
   two unknowns and 7 points L has 9, of which rows have 6 or 7; three unknowns and 5 points have 10.

   Periodic directions are no stencil here: a line would depend on its own end, and tiles on each other in
   circles.
*/
#include "struct.h"
#include "../../kernels/solve_struct_blocks.h"
#include "../../kernels/solve_struct_near.h"

#if SYNCILU_GRID_REACH != SYNCILU_STRUCT_REACH
  #error What the user gives is checked with another reach
#endif

/* At or above a / b, for b > 0. */
static int CeilDivide(int a, int b)
{
  return a > 0 ? (a - 1) / b + 1 : -(-a / b);
}

enum {
  CANDIDATES = 4 /* grids that are tried */
};

/* A number brought between - n / 2 and n / 2 by steps of n. */
static int AroundEnds(int d, int n)
{
  return 2 * d > n ? d - n : 2 * d < -n ? d + n : d;
}

/*
   The point of a stencil on a grid whose lines and planes are longer than twice what it reaches. For other
   grids it may be a wrong one.
*/
static void StencilPoint(const int *points, int offset, int *d)
{
  const long long x = points[0], plane = x * points[1];
  const long long z = (offset + (offset < 0 ? -(plane / 2) : plane / 2)) / plane, rest = offset - z * plane;
  const long long y = (rest + (rest < 0 ? -(x / 2) : x / 2)) / x;

  d[0] = (int)(rest - y * x);
  d[1] = (int)y;
  d[2] = (int)z;
}

/*
   The grids on which the entries of a row are neighbours, as far as kernels reach: of all whose lines and
   planes are as long as some entry is far, those on which they are the nearest, the nearest first. Rows of
   one line alone are a grid, too. Around the ends of a grid only if said so. Returns how many there are.
*/
static int FindPoints(const SyncILUStencil *s, int n, PetscBool around, int points[CANDIDATES][3])
{
  int far[CANDIDATES], found = 0;

  for (int j = -1; j < s->count; j++) {
    const int x = j < 0 ? n : PetscAbsInt(s->offset[j]);

    if (x < 2 || n % x) continue;
    for (int k = -1; k < s->count; k++) {
      const int xy       = k < 0 ? n : PetscAbsInt(s->offset[k]);
      const int tried[3] = {x, xy / x, n / PetscMax(xy, 1)};
      int       reach    = 0, place;
      PetscBool known    = PETSC_FALSE;

      if (xy < x || xy % x || n % xy) continue;
      for (int e = 0; e < s->count && reach < INT_MAX; e++) {
        int d[3];

        StencilPoint(tried, s->offset[e], d);
        for (int c = 0; c < 3 && reach < INT_MAX; c++) {
          if (around) d[c] = AroundEnds(d[c], tried[c]);
          reach = 2 * PetscAbsInt(d[c]) < tried[c] && PetscAbsInt(d[c]) <= SYNCILU_STRUCT_REACH ? reach + PetscAbsInt(d[c]) : INT_MAX;
        }
      }
      if (reach == INT_MAX) continue;
      for (int f = 0; f < found; f++) known = (PetscBool)(known || (points[f][0] == tried[0] && points[f][1] == tried[1]));
      for (place = found; place > 0 && far[place - 1] > reach; place--) { }
      if (known || place == CANDIDATES) continue;
      if (found < CANDIDATES) found++;
      for (int f = found - 1; f > place; f--) {
        far[f] = far[f - 1];
        for (int c = 0; c < 3; c++) points[f][c] = points[f - 1][c];
      }
      far[place] = reach;
      for (int c = 0; c < 3; c++) points[place][c] = tried[c];
    }
  }
  return found;
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

/* Cuts the lines into tiles, whose edges are known. */
void StencilCut(SyncILULines *g)
{
  const int rows = ((g->points[2] - 1) >> g->edge[1]) + 1, wide = 1 << g->edge[0], shift = g->skew << g->edge[1];
  /* a row of tiles may begin before its lowest v, which is a multiple of the shift from row to row */
  const int before = shift ? wide - PetscMin(wide, shift & -shift) : 0;

  g->row   = ((before + g->points[1] + g->skew * ((1 << g->edge[1]) - 1) - 1) >> g->edge[0]) + 1;
  g->tiles = g->row * rows;
  g->span  = g->level[0] * ((1 << g->edge[0]) - 1) + g->level[1] * ((1 << g->edge[1]) - 1);
  g->steps = g->points[0] + g->span;
}

/*
   Whether rows depend on their nearest neighbours alone, as with 5 and 7 points, in L and U alike, and tiles have
   few lines beside them. A solve with U by these kernels also reads the lanes of L's solution that have no row:
   kernels for other rows leave sentinels there, which are NaN.
*/
static PetscBool IsNear(const Stencil *s)
{
  const SyncILULines *g       = &s->g;
  int                 axes[2] = {0, 0}, across = 0, cells = 1; /* lines beside a tile, and with its own */

  if (s->unknowns > 1 || g->skew || (g->points[1] > 1 && g->level[0] != 1) || (g->points[2] > 1 && g->level[1] != 1)) return PETSC_FALSE;
  for (int e = 0; e < s->entries[0] + s->entries[1]; e++) {
    signed char        turned[3];
    const signed char *d = Dependence(s, e, turned);

    if (PetscAbsInt(d[0]) + PetscAbsInt(d[1]) + PetscAbsInt(d[2]) != 1) return PETSC_FALSE;
    axes[e >= s->entries[0]] |= d[0] ? 1 : d[1] ? 2 : 4;
  }
  if (axes[0] != axes[1] || !(axes[0] & 1)) return PETSC_FALSE;
  for (int c = 0; c < 2; c++) {
    const int side = axes[0] & 2 << c ? 1 << g->edge[1 - c] : 0;

    if (side > SYNCILU_STRUCT_NEAR_SIDE) return PETSC_FALSE;
    if (side && g->points[c + 1] > 1 << g->edge[c] && 1 << g->edge[c] < SYNCILU_STRUCT_NEAR_PIECE(s->entries[0])) return PETSC_FALSE;
    across += side;
    cells *= (1 << g->edge[c]) + (side > 0);
  }
  return (PetscBool)(across <= SYNCILU_STRUCT_NEAR_LINES && s->entries[0] > 1 && SyncILUStructEntries(s->entries[0], across, cells) == s->entries[0]);
}

/* Boxes: nearly squares of lines, of as many tiles as a cluster has blocks, or fewer on small grids. */
static void CutBoxes(Stencil *s)
{
  SyncILULines *g = &s->box;

  *g = s->g;
  for (int left = SYNCILU_STRUCT_BOX; left; left--) {
    int c = 1 << g->edge[0] > 1 << g->edge[1];

    if (1 << g->edge[c] >= g->points[c + 1]) c = !c;
    if (1 << g->edge[c] >= g->points[c + 1]) break;
    g->edge[c]++;
  }
  StencilCut(g);
}

/* Tiles: nearly squares of 1 << lanes lines. */
static void CutTiles(Stencil *s, int lanes)
{
  SyncILULines *g         = &s->g;
  const int     extent[2] = {g->points[1] + g->skew * (g->points[2] - 1), g->points[2]};

  g->edge[0] = g->edge[1] = 0;
  for (int left = lanes, grown = 1; left && grown;) {
    grown = 0;
    for (int c = 0; c < 2 && left; c++) {
      if (1 << g->edge[c] >= extent[c]) continue;
      g->edge[c]++;
      left--;
      grown = 1;
    }
  }
  g->edge[0] = lanes - g->edge[1]; /* a grid of fewer lines leaves lanes without one */
  StencilCut(g);
  s->hops = ((extent[0] - 1) >> g->edge[0]) + ((g->points[2] - 1) >> g->edge[1]);
  s->box  = *g;
  s->near = IsNear(s);
  if (s->near) CutBoxes(s);
}

/*
   A lane a line, and tiles of 32. Points with several unknowns have a lane for each: large tiles have short ways, but
   take longer for a step, and shared memory must have room for a few of their steps.
*/
static void ChooseTiles(Stencil *s)
{
  const double    points = (double)s->g.points[0] * s->g.points[1] * s->g.points[2];
  const int       dof    = s->unknowns;
  const PetscBool far    = (PetscBool)(PetscMax(s->entries[0], s->entries[1]) > SYNCILU_STRUCT_BLOCKS_NEAR);
  Stencil         best;

  if (dof == 1) {
    CutTiles(s, 5);
    s->step = s->near ? SYNCILU_STRUCT_NEAR_STEP : SYNCILU_STRUCT_STEP;
    return;
  }
  best = *s;
  for (int small = 1; small >= 0; small--) {
    const int lanes = SyncILUStructBlocksTile(dof, small);

    CutTiles(s, lanes);
    s->step = far ? SYNCILU_STRUCT_BLOCKS_STEP_FAR + SYNCILU_STRUCT_BLOCKS_UNKNOWN_FAR * dof : SYNCILU_STRUCT_BLOCKS_STEP + SYNCILU_STRUCT_BLOCKS_UNKNOWN * dof;
    if (small || (StencilTime(s) < StencilTime(&best) && (points < SYNCILU_CUDA_MIN_ROWS || StencilLanes(s) <= SYNCILU_STRUCT_PADDING * points))) best = *s;
  }
  *s = best;
}

/* The levels and tiles of a stencil and a grid that are known, with lines along x; PETSC_FALSE if there are none. */
PetscBool StencilTile(Stencil *s)
{
  if (!ChooseLevels(s)) return PETSC_FALSE;
  ChooseTiles(s);
  return PETSC_TRUE;
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
  if (lanes * s->unknowns > INT_MAX / 2) PetscCall(PetscStrncpy(s->why, "too many rows for indices of 32 bits", sizeof(s->why)));
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
    if (!StencilTile(&other)) continue;
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

/* Where the entries of rows stand on a grid; allowed NULL: all points are. */
static PetscErrorCode GridEntries(Plan *plan, int n, const int *ptr, const int *col, const SyncILUGrid *g, const unsigned *allowed, SyncILUGridEntries *found)
{
  const int           mark  = plan->scratch.n;
  unsigned           *those = NULL;
  SyncILUGridEntries *device;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(found, sizeof(*found)));
  found->odd = ~0ull;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*device), &device));
  PetscCall(DeviceUpload(plan->stream, device, found, sizeof(*found)));
  if (allowed) {
    PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(found->seen), &those));
    PetscCall(DeviceUpload(plan->stream, those, allowed, sizeof(found->seen)));
  }
  PlanLaunch(SyncILUKernelGridEntries(n, ptr, col, *g, those, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, found, device, sizeof(*found)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanCheckGrid - checks the grid that the user has given against the rows of a matrix on the device; those
   on the host are SyncILUGridCheck()'s

   Not Collective

   Input Parameters:
+  plan - the plan
-  A    - the matrix

   Errors: PETSC_ERR_ARG_WRONG with the first row that has an entry too far away, or one that goes around an
   end of the grid and is no neighbour that other rows have.
*/
PetscErrorCode PlanCheckGrid(Plan *plan, const SyncILUCSR *A)
{
  const SyncILUSettings *s = plan->settings;
  const SyncILUGrid      g = {
         {(int)s->grid[0], (int)s->grid[1], (int)s->grid[2]},
         (int)s->grid[3]
  };
  SyncILUGridEntries found, again;

  PetscFunctionBegin;
  if (s->grid_from != SYNCILU_GRID_GIVEN || PetscMemTypeHost(A->mem) || !A->n) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(GridEntries(plan, (int)A->n, (const int *)A->i, (const int *)A->j, &g, NULL, &found));
  if (found.odd == ~0ull && found.around) {
    PlanCall(GridEntries(plan, (int)A->n, (const int *)A->i, (const int *)A->j, &g, found.seen, &again));
    found.odd = again.odd;
  }
  if (found.odd != ~0ull) PetscCall(SyncILUGridRefuse(s->grid, (PetscInt)(found.odd >> 32), (PetscInt)(found.odd & 0xffffffff)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Periodic(const int grid[3], unsigned around, char why[], size_t len)
{
  static const char *const names[] = {"", "x", "y", "x and y", "z", "x and z", "y and z", "x, y and z"};

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(why, len, "the grid of %d x %d x %d is periodic in %s", grid[0], grid[1], grid[2], names[around & 7]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stencil of all points at which there are entries; where it has too many, why says so. */
static PetscErrorCode TakePoints(Stencil *s, const SyncILUGridEntries *found, SyncILUStencil *stencil)
{
  const int most = 2 * SYNCILU_STRUCT_MOST + 1, reach = SYNCILU_STRUCT_REACH;

  PetscFunctionBegin;
  stencil->count = stencil->lower = 0;
  for (int z = -reach; z <= reach; z++) {
    for (int y = -reach; y <= reach; y++) {
      for (int x = -reach; x <= reach; x++) {
        const int         bit    = SyncILUGridBit(x, y, z);
        const int         offset = x + s->grid[0] * (y + s->grid[1] * z);
        const signed char d[3]   = {(signed char)x, (signed char)y, (signed char)z};
        int               place  = stencil->count;

        if (!(found->seen[bit >> 5] >> (bit & 31) & 1)) continue;
        stencil->lower += offset < 0;
        if (stencil->count++ >= most) continue;
        /* where lines are short, points come in another order than columns */
        for (; place > 0 && stencil->offset[place - 1] > offset; place--) {
          stencil->offset[place] = stencil->offset[place - 1];
          for (int c = 0; c < 3; c++) stencil->point[place][c] = stencil->point[place - 1][c];
        }
        stencil->offset[place] = offset;
        for (int c = 0; c < 3; c++) stencil->point[place][c] = d[c];
      }
    }
  }
  s->entries[0] = stencil->lower;
  s->entries[1] = stencil->count - stencil->lower - 1;
  if (PetscMax(s->entries[0], s->entries[1]) > SYNCILU_STRUCT_MOST) {
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "rows have entries of L or U at %d points of a grid of %d x %d x %d, more than %d",
                            PetscMax(s->entries[0], s->entries[1]), s->grid[0], s->grid[1], s->grid[2], SYNCILU_STRUCT_MOST));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int e = 0; e < stencil->count; e++) {
    const int k = e > stencil->lower;

    if (e == stencil->lower) continue;
    for (int c = 0; c < 3; c++) s->point[k][k ? e - stencil->lower - 1 : e][c] = stencil->point[e][c];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A grid, with the stencil of all rows together, or why it has none. Unknowns of a point are neighbours along
   x here, on lines that are as many times longer: a stencil with holes.
*/
static PetscErrorCode TakeGrid(Plan *plan, SyncILUDevicePattern p, const int points[3], Stencil *s, SyncILUStencil *stencil)
{
  const SyncILUGrid g = {
    {points[0], points[1], points[2]},
    1
  };
  SyncILUGridEntries found;

  PetscFunctionBegin;
  s->why[0] = 0;
  for (int c = 0; c < 3; c++) s->grid[c] = s->g.points[c] = points[c];
  PlanCall(GridEntries(plan, p.n, p.ptr, p.col, &g, NULL, &found));
  if (found.odd != ~0ull)
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "row %d has an entry in column %d, more than %d points away on a grid of %d x %d x %d",
                            (int)(found.odd >> 32), (int)(found.odd & 0xffffffff), SYNCILU_STRUCT_REACH, g.points[0], g.points[1], g.points[2]));
  else if (found.around) PetscCall(Periodic(points, found.around, s->why, sizeof(s->why)));
  else PetscCall(TakePoints(s, &found, stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether it is periodicity that keeps rows from having one stencil. */
static PetscErrorCode AskWhetherPeriodic(Plan *plan, SyncILUDevicePattern p, const int points[3], Stencil *s)
{
  const SyncILUGrid g = {
    {points[0], points[1], points[2]},
    1
  };
  SyncILUGridEntries found, again;

  PetscFunctionBegin;
  PlanCall(GridEntries(plan, p.n, p.ptr, p.col, &g, NULL, &found));
  if (found.odd != ~0ull || !found.around) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(GridEntries(plan, p.n, p.ptr, p.col, &g, found.seen, &again));
  if (again.odd == ~0ull) PetscCall(Periodic(points, found.around, s->why, sizeof(s->why)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A grid of points whose unknowns are the rows of an inode. The longest row tells the neighbours of its
   point.
*/
static PetscErrorCode SearchPoints(Plan *plan, SyncILUDevicePattern p, const SyncILUStencil *longest, Stencil *s, SyncILUStencil *stencil)
{
  const int      dof = plan->inode, point = longest->row / dof;
  SyncILUStencil points = {.count = 0};
  int            grid[CANDIDATES][3];

  PetscFunctionBegin;
  for (int e = 0; e < longest->count; e++) {
    const int offset = (longest->row + longest->offset[e]) / dof - point;

    if (!points.count || points.offset[points.count - 1] != offset) points.offset[points.count++] = offset;
  }
  if (!FindPoints(&points, p.n / dof, PETSC_FALSE, grid)) {
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "the points of row %d fit no grid", longest->row));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  grid[0][0] *= dof;
  PlanCall(TakeGrid(plan, p, grid[0], s, stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the entries of the longest row are all that rows have on a grid, or why not. */
static PetscErrorCode TryGrid(Plan *plan, SyncILUDevicePattern p, const SyncILUStencil *longest, const int points[3], Stencil *s, SyncILUStencil *stencil)
{
  const SyncILUGrid g = {
    {points[0], points[1], points[2]},
    1
  };
  unsigned           allowed[SYNCILU_GRID_WORDS] = {0};
  SyncILUGridEntries found;

  PetscFunctionBegin;
  s->why[0] = 0;
  for (int e = 0; e < longest->count; e++) {
    int d[3], bit;

    StencilPoint(points, longest->offset[e], d);
    bit = SyncILUGridBit(d[0], d[1], d[2]);
    allowed[bit >> 5] |= 1u << (bit & 31);
  }
  PlanCall(GridEntries(plan, p.n, p.ptr, p.col, &g, allowed, &found));
  if (found.odd != ~0ull)
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "row %d has other entries than row %d on a grid of %d x %d x %d", (int)(found.odd >> 32), longest->row,
                            points[0], points[1], points[2]));
  else if (found.around) PetscCall(Periodic(points, found.around, s->why, sizeof(s->why)));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int c = 0; c < 3; c++) s->grid[c] = s->g.points[c] = points[c];
  PetscCall(TakePoints(s, &found, stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A grid in the pattern: the nearest one on which the entries of the longest row are all that rows have, else
   one of points with several unknowns. If there is none, why says what keeps the nearest one from it.
*/
static PetscErrorCode SearchGrid(Plan *plan, SyncILUDevicePattern p, Stencil *s, SyncILUStencil *stencil)
{
  const SyncILUStencil none                = {.row = INT_MAX};
  char                 why[sizeof(s->why)] = "";
  int                  points[CANDIDATES][3], count;
  SyncILUStencil       longest, *device;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*device), &device));
  PetscCall(DeviceUpload(plan->stream, device, &none, sizeof(none)));
  PlanLaunch(SyncILUKernelStencil(p, plan->counts.longest_row, device, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &longest, device, sizeof(longest)));
  count = FindPoints(&longest, p.n, PETSC_FALSE, points);
  for (int k = 0; k < count; k++) {
    PlanCall(TryGrid(plan, p, &longest, points[k], s, stencil));
    if (!s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
    if (!k) PetscCall(PetscStrncpy(why, s->why, sizeof(why)));
  }
  if (plan->inode > 1) {
    PlanCall(SearchPoints(plan, p, &longest, s, stencil));
    if (!s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "the entries of row %d fit no grid", longest.row));
  if (count) PetscCall(PetscStrncpy(s->why, why, sizeof(s->why)));
  else count = FindPoints(&longest, p.n, PETSC_TRUE, points);
  /* others need not wait for a better reason */
  if (count && plan->settings->solve == SYNCILU_SOLVE_STRUCT) PlanCall(AskWhetherPeriodic(plan, p, points[0], s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid, the stencil, and where rows have holes which points each of them has. */
static PetscErrorCode FindOnGrid(Plan *plan, Stencil *s)
{
  const SyncILUSettings *settings = plan->settings;
  const PetscInt         x        = settings->grid[0] * settings->grid[3];
  PetscBool              known    = (PetscBool)(settings->grid_from != SYNCILU_GRID_UNKNOWN);
  SyncILUStencil         stencil;
  SyncILUDevicePattern   p;

  PetscFunctionBegin;
  PlanCall(PlanGetPattern(plan, &p));
  s->origin = settings->grid_from == SYNCILU_GRID_GIVEN ? "as given" : "of the DM";
  if (known) {
    const int points[] = {(int)(x / s->unknowns), (int)settings->grid[1], (int)settings->grid[2]};

    PlanCall(TakeGrid(plan, p, points, s, &stencil));
  }
  if (settings->grid_from == SYNCILU_GRID_DM && s->why[0]) {
    PetscCall(PetscInfo(NULL, "The grid of the DM is not that of struct: %s\n", s->why));
    s->why[0] = 0;
    known     = PETSC_FALSE;
  }
  if (!known) {
    s->origin = "found in the pattern";
    PlanCall(SearchGrid(plan, p, s, &stencil));
  }
  if (!s->why[0]) s->holes = EntriesOnGrid(s) - (double)plan->part[0] - (double)plan->part[1];
  if (!s->why[0] && s->holes > 0.0) {
    PlanCall(PlanAlloc(plan, &s->memory, (size_t)p.n * sizeof(int), &s->present));
    PlanLaunch(SyncILUKernelHoles(p, s->grid, &stencil, s->present, plan->stream));
  }
  PetscCall(PlanRestorePattern(plan, &p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without clusters of as many blocks as a box has tiles, what tiles need of each other goes through memory. */
static PetscErrorCode AskForClusters(Plan *plan, Stencil *s)
{
  SyncILUDeviceStruct m = {.points = 0};
  signed char         line[SYNCILU_STRUCT_LINES][2];
  int                 fits;

  PetscFunctionBegin;
  StencilDescribe(s, PART_L, &m, line);
  PlanLaunch(SyncILUKernelStructNearFits(m, &fits));
  if (fits) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(NULL, "The device has no clusters of %d blocks: what tiles of lines need of each other goes through memory\n", m.box.tiles));
  s->near = PETSC_FALSE;
  s->box  = s->g;
  s->step = SYNCILU_STRUCT_STEP;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Find(Plan *plan, Stencil *s)
{
  const int mark = plan->scratch.n;

  PetscFunctionBegin;
  if (!plan->pattern.n) PetscCall(PetscStrncpy(s->why, "has no rows", sizeof(s->why)));
  else if (plan->row) PetscCall(PetscStrncpy(s->why, "is for the natural order of a grid, not for -pc_factor_mat_ordering_type", sizeof(s->why)));
  else if (PetscMax(plan->counts.longest[0], plan->counts.longest[1]) > SYNCILU_STRUCT_MOST)
    PetscCall(PetscSNPrintf(s->why, sizeof(s->why), "a row has %d entries of L or U, more than %d", PetscMax(plan->counts.longest[0], plan->counts.longest[1]),
                            SYNCILU_STRUCT_MOST));
  if (s->why[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(FindOnGrid(plan, s));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  if (!s->why[0]) PetscCall(ChooseAxes(plan, s));
  if (!s->why[0] && s->near) PlanCall(AskForClusters(plan, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PlanFindStencil - finds whether the rows are those of a grid, and plans its tiles of lines, once a pattern

   Not Collective

   Input Parameter:
.  plan - the plan, with its pattern; plan->stencil says the rest

   Note: All rows are looked at: a row of other entries than the stencil's is found, and named. On a grid that
   is known the stencil is that of all rows together, on one that is found in the pattern that of the longest
   row.
*/
PetscErrorCode PlanFindStencil(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->stencil) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&plan->stencil));
  plan->stencil->unknowns = PetscMax(1, plan->unknowns);
  PetscCall(Find(plan, plan->stencil));
  if (plan->stencil->why[0]) {
    PetscCall(PlanRelease(plan, &plan->stencil->memory, 0));
    plan->stencil->present = NULL;
  }
  if (plan->unfit[0]) PetscCall(PlanForgetStencil(plan)); /* another time there may be memory */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where nobody solves along its lines, of rows or of points. */
PetscErrorCode PlanForgetStencil(Plan *plan)
{
  PetscFunctionBegin;
  if (plan->inodes) PetscCall(PlanForgetStencil(plan->inodes));
  if (plan->stencil) PetscCall(PlanRelease(plan, &plan->stencil->memory, 0));
  PetscCall(PetscFree(plan->stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that it holds for rows with holes. */
PetscInt64 PlanStencilBytes(const Plan *plan)
{
  return (plan->stencil ? plan->stencil->memory.bytes : 0) + (plan->inodes ? PlanStencilBytes(plan->inodes) : 0);
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

/* All columns of the pattern. */
PetscErrorCode StencilColumns(Plan *plan, int *col)
{
  const SyncILUDevicePattern *p = &plan->pattern;

  PetscFunctionBegin;
  PetscCheck(plan->stencil && !plan->stencil->why[0], PETSC_COMM_SELF, PETSC_ERR_PLIB, "The rows are not those of a grid");
  for (int k = 0; k < 2; k++) {
    const SyncILUDeviceTriangle t = {.n = p->n, .skip = k, .begin = k ? p->diag : p->ptr, .end = k ? p->ptr + 1 : p->diag};
    SyncILUDeviceStruct         m = {.points = 0};
    signed char                 line[SYNCILU_STRUCT_LINES][2];

    StencilDescribe(plan->stencil, k ? PART_U : PART_L, &m, line);
    PlanLaunch(SyncILUKernelColumnsOfStruct(m, t, k ? NULL : p->diag, col, plan->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nanoseconds of the longest way through a triangle: steps along lines, and hops between tiles. */
double StencilTime(const Stencil *s)
{
  return (double)s->levels * s->step + (double)s->hops * (s->near ? SYNCILU_STRUCT_NEAR_HOP : SYNCILU_STRUCT_HOP);
}

/* Lanes of all steps of all tiles, with and without rows: numbers of x. */
double StencilLanes(const Stencil *s)
{
  return (double)(1 << (s->g.edge[0] + s->g.edge[1])) * s->g.tiles * s->g.steps;
}

PetscErrorCode StencilView(const Stencil *s, PetscViewer viewer)
{
  const SyncILULines *g         = &s->g;
  const int           tiles[]   = {1 << (s->box.edge[0] - g->edge[0]), 1 << (s->box.edge[1] - g->edge[1])};
  const char         *what      = s->unknowns > 1 ? "points" : "rows";
  char                holes[64] = "", boxes[64] = "";

  PetscFunctionBegin;
  if (s->holes > 0.0) PetscCall(PetscSNPrintf(holes, sizeof(holes), ", %.0f of whose entries rows do not have", s->holes));
  if (tiles[0] * tiles[1] > 1) PetscCall(PetscSNPrintf(boxes, sizeof(boxes), ", %d x %d a cluster", tiles[0], tiles[1]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "order: by tiles of %d x %d lines of %d %s, which are %d apart%s; stencil of %d points%s\n", 1 << g->edge[0],
                                   1 << g->edge[1], g->points[0], what, g->stride[0], boxes, s->entries[0] + s->entries[1] + 1, holes));
  if (s->unknowns > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "grid: %d x %d x %d points of %d unknowns, %s\n", s->grid[0], s->grid[1], s->grid[2], s->unknowns, s->origin));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "grid: %d x %d x %d rows, %s\n", s->grid[0], s->grid[1], s->grid[2], s->origin));
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
  if (plan->unknowns) other = levels[0] * (plan->unknowns < SYNCILU_STRUCT_BLOCKS_FROM ? SYNCILU_STRUCT_BLOCKS_FEW : SYNCILU_STRUCT_BLOCKS_MANY);
  else other = levels[0] * (warps > SYNCILU_CLUSTER_SLICES ? SYNCILU_HOP_BY_LEVEL : PetscMax(SYNCILU_HOP_CLUSTER, SYNCILU_CLUSTER_WARP_TIME * warps));
  *pay = (PetscBool)(StencilTime(s) <= other);
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
  if (s->unknowns > 1)
    PetscCall(PetscSNPrintf(why, len, "points have the %d dense blocks, of %d unknowns, of a stencil on a grid of %d points a line%s",
                            s->entries[0] + s->entries[1] + 1, s->unknowns, s->g.points[0], holes));
  else
    PetscCall(
      PetscSNPrintf(why, len, "rows have the %d entries of a stencil on a grid of %d rows a line%s", s->entries[0] + s->entries[1] + 1, s->g.points[0], holes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The point of a stencil that is the sum of two others, numbered by ascending columns: L's, the diagonal, and
   U's. -1: the stencil has none there.
*/
int StencilSum(const SyncILUDeviceStruct *lower, const SyncILUDeviceStruct *upper, const signed char *p, const signed char *q)
{
  const signed char sum[3] = {(signed char)(p[0] + q[0]), (signed char)(p[1] + q[1]), (signed char)(p[2] + q[2])};

  if (!sum[0] && !sum[1] && !sum[2]) return lower->points;
  for (int k = 0; k < lower->points; k++)
    if (!memcmp(lower->point[k], sum, 3)) return k;
  for (int k = 0; k < upper->points; k++)
    if (!memcmp(upper->point[k], sum, 3)) return lower->points + 1 + k;
  return -1;
}

/*
   The entries of a stencil, in the order of storage: their numbers by ascending columns, L's, the diagonal,
   and U's; by numbers where their rooms of so many stand one after the other; and how far the stencil reaches
   down and up in each direction. Returns whether each row has the one before it on its line, so that the
   steps of a tile end in order.
*/
PetscBool StencilEntries(const SyncILUDeviceStruct *lower, const SyncILUDeviceStruct *upper, int room, unsigned char bit[], int margin[3][2], int begin[32])
{
  PetscBool lines = PETSC_FALSE;

  for (int k = 0; k < 2; k++) {
    const SyncILUDeviceStruct *m = k ? upper : lower;

    for (int e = 0; e < m->points; e++) {
      const int          at = m->at[m->entries - m->points + e], number = k * (lower->points + 1) + at;
      const signed char *p = m->point[at];

      lines = (PetscBool)(lines || (p[0] == -1 && !p[1] && !p[2]));
      for (int c = 0; c < 3; c++) {
        margin[c][0] = PetscMax(margin[c][0], -p[c]);
        margin[c][1] = PetscMax(margin[c][1], p[c]);
      }
      bit[k * lower->points + e] = (unsigned char)number;
      begin[number]              = (k * (lower->points + 1) + e) * room;
    }
  }
  begin[lower->points] = lower->points * room;
  return lines;
}

/*
   Where what is at hand of n reference rows stands, of which each takes some of so many places: one after the
   other, and from the beginning again; or by turns at the beginning and at the end, if else one would have to
   wait until the one before it is done. after[k]: so many are done before the places of the k-th one are
   free.
*/
void StencilPlaces(int n, const int takes[], int places, int begin[], int after[])
{
  PetscBool waits = PETSC_TRUE;

  for (int turns = 0; turns < 2 && waits; turns++) {
    int next = 0;

    waits = PETSC_FALSE;
    for (int k = 0; k < n; k++) {
      if (next + takes[k] > places) next = 0;
      begin[k] = !turns ? next : k % 2 ? places - takes[k] : 0;
      after[k] = 0;
      for (int other = 0; other < k; other++)
        if (begin[other] < begin[k] + takes[k] && begin[k] < begin[other] + takes[other]) after[k] = other + 1;
      waits = (PetscBool)(waits || (k && after[k] == k));
      next += takes[k];
    }
  }
}

/* The lowest level of a tile. */
static int LevelOf(const SyncILULines *g, int tile)
{
  const int row = tile / g->row, column = tile - row * g->row + SyncILULinesBegin(g, row);

  return g->level[0] * (column << g->edge[0]) + g->level[1] * (row << g->edge[1]);
}

/*
   The steps of all tiles by their levels, and counters of steps. Host memory is freed before a launch can
   fail.
*/
PetscErrorCode StencilTasks(Plan *plan, DeviceMemory *memory, const SyncILULines *g, const void **task, int *tasks, int **done)
{
  const int mark = plan->scratch.n;
  int      *order, *start, *first, *device, levels = 0;
  void     *all;

  PetscFunctionBegin;
  for (int k = 0; k < g->tiles; k++) levels = PetscMax(levels, LevelOf(g, k) + g->steps);
  PlanCall(PlanAlloc(plan, memory, (size_t)g->tiles * (size_t)g->steps * SYNCILU_STRUCT_TASK, &all));
  PlanCall(PlanAlloc(plan, memory, (size_t)g->tiles * sizeof(**done), done));
  PlanCall(PlanAlloc(plan, &plan->scratch, ((size_t)g->tiles + 2 * (size_t)levels) * sizeof(int), &device));
  PetscCall(PetscMalloc3(g->tiles, &order, levels, &start, levels, &first));
  PetscCall(StencilOrder(g, 0, order));
  for (int l = 0, begin = 0, end = 0, next = 0; l < levels; l++) {
    while (end < g->tiles && LevelOf(g, order[end]) <= l) end++;
    while (begin < g->tiles && LevelOf(g, order[begin]) <= l - g->steps) begin++;
    start[l] = next;
    first[l] = begin;
    next += end - begin;
  }
  PetscCall(DeviceUpload(plan->stream, device, order, (size_t)g->tiles * sizeof(int)));
  PetscCall(DeviceUpload(plan->stream, device + g->tiles, start, (size_t)levels * sizeof(int)));
  PetscCall(DeviceUpload(plan->stream, device + g->tiles + levels, first, (size_t)levels * sizeof(int)));
  PetscCall(PetscFree3(order, start, first));
  PlanLaunch(SyncILUKernelStructTasks(*g, device, device + g->tiles, device + g->tiles + levels, all, plan->stream));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  *tasks = g->tiles * g->steps;
  *task  = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The tiles that rows at the points order[k] of a stencil are in, seen from a row's own tile; how many steps
   of each must be done, beyond the row's own step; and, unless place is NULL, where they stand there. False:
   there are too many.
*/
PetscBool StencilBeside(const SyncILULines *g, int points, const signed char point[][3], const signed char order[], SyncILUStructTile tiles[], int *count,
                        int needs[][SYNCILU_STRUCT_BESIDE], SyncILUStructPlace place[][32])
{
  *count = 0;
  for (int k = 0; k < points; k++) {
    const signed char *p        = point[(int)order[k]];
    const int          beside[] = {p[1] + g->skew * p[2], p[2]};

    for (int j = 0; j < SYNCILU_STRUCT_BESIDE; j++) needs[k][j] = -g->steps;
    for (int lane = 0; lane < 1 << (g->edge[0] + g->edge[1]); lane++) {
      const int own[2] = {lane & ((1 << g->edge[0]) - 1), lane >> g->edge[0]};
      int       tile[2], to[2], behind = -p[0], j = 0;

      for (int c = 0; c < 2; c++) {
        const int size = 1 << g->edge[c];

        to[c]   = (own[c] + beside[c]) & (size - 1);
        tile[c] = (own[c] + beside[c] - to[c]) / size;
        behind -= g->level[c] * (to[c] - own[c]);
      }
      while (j < *count && (tiles[j].v != tile[0] || tiles[j].w != tile[1])) j++;
      if (j == SYNCILU_STRUCT_BESIDE) return PETSC_FALSE;
      if (j == *count) tiles[(*count)++] = (SyncILUStructTile){(signed char)tile[0], (signed char)tile[1]};
      if (place) place[k][lane] = (SyncILUStructPlace){(short)behind, (unsigned char)j, (unsigned char)((to[1] << g->edge[0]) + to[0])};
      needs[k][j] = PetscMax(needs[k][j], 1 - behind);
    }
  }
  return PETSC_TRUE;
}
