/*
   See system.h.
*/
#include <string.h>
#include "bench.h"
#include "system.h"
#include "../load.h"

enum {
  BOXES = 8, /* of one coefficient each, in each direction */
  SIDES = 7  /* entries of a row at most */
};

/*
   Differences of second order on a grid with a constant step, with zero values on its boundary, whose rows
   are the diagonal alone: what is beside it, and what is in its column, are zeros in the pattern, as with
   DMDA.
*/
typedef struct {
  const char *name, *kind;
  int         dim;
  PetscReal   stretch[3]; /* coefficients in the directions */
  PetscBool   jumps;      /* over six decades, from box to box */
  PetscReal   peclet;     /* of a cell: upwind convection with a velocity that turns, times the coefficient */
} Grid;

static const Grid grids[] = {
  {"poisson",     "diffusion",   3, {1, 1, 1},   PETSC_FALSE, 0.0},
  {"poisson2",    "diffusion",   2, {1, 1, 1},   PETSC_FALSE, 0.0},
  {"anisotropic", "anisotropic", 3, {1, 1, 100}, PETSC_FALSE, 0.0},
  {"reservoir",   "reservoir",   3, {1, 1, 0.1}, PETSC_TRUE,  0.0},
  {"jumping",     "jumping",     3, {1, 1, 1},   PETSC_TRUE,  0.0},
  {"convdiff",    "convection",  3, {1, 1, 1},   PETSC_FALSE, 1.0},
  {"transport",   "reservoir",   3, {1, 1, 0.1}, PETSC_TRUE,  1.0},
};

enum {
  GRIDS = sizeof(grids) / sizeof(grids[0])
};

static PetscReal Coefficient(const Grid *g, PetscInt n, const PetscInt *at)
{
  PetscInt64 box = 0;

  if (!g->jumps) return 1.0;
  for (int d = 0; d < g->dim; d++) box = box * BOXES + at[d] * BOXES / n;
  return PetscPowReal(10.0, 6 * BenchHash(box) - 3);
}

/* The entries of a row by ascending columns; returns how many. */
static int GridRow(const Grid *g, PetscInt n, const PetscInt *at, PetscInt *columns, PetscScalar *values, PetscScalar *rhs)
{
  const PetscReal h = 1.0 / (PetscReal)(n - 1), scale = g->dim == 3 ? h : 1.0, own = Coefficient(g, n, at), x = at[0] * h, y = at[1] * h;
  const PetscReal speed[3] = {(3 + PetscCosReal(PETSC_PI * y)) / 4, PetscCosReal(PETSC_PI * x), PetscSinReal(2 * PETSC_PI * y)};
  const PetscInt  step[3]  = {1, n, n * n};
  PetscReal       sum      = 0.0;
  PetscInt        row      = 0;
  PetscBool       boundary = PETSC_FALSE;
  int             count = 0, diagonal = 0;

  for (int d = 0; d < g->dim; d++) {
    row += at[d] * step[d];
    boundary = (PetscBool)(boundary || at[d] == 0 || at[d] == n - 1);
  }
  for (int s = 0; s < 2 * g->dim + 1; s++) {
    const int d = s < g->dim ? g->dim - 1 - s : s - g->dim - 1, side = s < g->dim ? -1 : 1;
    PetscInt  there[3] = {at[0], at[1], at[2]};
    PetscReal other, value;
    PetscBool inside = PETSC_TRUE;

    if (s == g->dim) {
      diagonal         = count;
      columns[count++] = row;
      continue;
    }
    there[d] += side;
    if (there[d] < 0 || there[d] == n) continue;
    for (int e = 0; e < g->dim; e++) inside = (PetscBool)(inside && there[e] > 0 && there[e] < n - 1);
    other = Coefficient(g, n, there);
    /* the flux between two coefficients is that of their harmonic mean */
    value = scale * g->stretch[d] * (2 * own * other / (own + other)) * (1.0 + PetscMax(-side * g->peclet * speed[d], 0.0));
    sum += value;
    columns[count]  = row + side * step[d];
    values[count++] = boundary || !inside ? 0.0 : -value;
  }
  values[diagonal] = sum;
  *rhs             = boundary ? 0.0 : PetscPowRealInt(h, g->dim);
  return count;
}

static PetscErrorCode GridCreate(const Grid *g, PetscInt n, System *p)
{
  const PetscInt rows = g->dim == 3 ? n * n * n : n * n;
  PetscInt      *i, *j, at[3] = {0, 0, 0};
  PetscScalar   *a, *b;

  PetscFunctionBegin;
  PetscCheck(n > 2, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s: a grid has at least 3 points in each direction", g->name);
  PetscCheck((double)n * n * (g->dim == 3 ? n : 1) * SIDES < (double)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: more entries than an index can count", g->name);
  PetscCall(PetscMalloc3(rows + 1, &i, (size_t)rows * SIDES, &j, (size_t)rows * SIDES, &a));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, rows, &p->b));
  PetscCall(VecGetArrayWrite(p->b, &b));
  i[0] = 0;
  for (PetscInt row = 0; row < rows; row++) {
    i[row + 1] = i[row] + GridRow(g, n, at, j + i[row], a + i[row], b + row);
    for (int d = 0; d < g->dim && ++at[d] == n; d++) at[d] = 0;
  }
  PetscCall(VecRestoreArrayWrite(p->b, &b));
  PetscCall(MatCreate(PETSC_COMM_SELF, &p->A));
  PetscCall(MatSetSizes(p->A, rows, rows, rows, rows));
  PetscCall(MatSetType(p->A, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(p->A, i, j, a));
  PetscCall(PetscFree3(i, j, a));
  p->n         = n;
  p->dim       = g->dim;
  p->symmetric = (PetscBool)(g->peclet == 0.0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- several unknowns a point ---- */

enum {
  MOST_UNKNOWNS = 5
};

/*
   Systems on grids with the neighbors and unknowns of those of StructILU (H. Luo et al., ICS 2025, table 4), whose
   blocks are all stored in full. What would be outside of the grid is zero.
*/
typedef struct {
  const char *name, *kind;
  PetscInt    unknowns, reach;
  PetscBool (*neighbor)(const PetscInt *); /* by the differences of coordinates */
  /* a block of the point, whose place in the unit cube is given, and such a neighbor, with this mesh width */
  void (*block)(const PetscReal *, const PetscInt *, PetscReal, PetscReal (*)[MOST_UNKNOWNS]);
} Coupled;

static PetscBool Box(const PetscInt *d)
{
  return (PetscBool)(PetscAbsInt(d[0]) <= 1 && PetscAbsInt(d[1]) <= 1 && PetscAbsInt(d[2]) <= 1);
}

static PetscBool Star(const PetscInt *d)
{
  return (PetscBool)((d[0] != 0) + (d[1] != 0) + (d[2] != 0) <= 1);
}

static PetscBool Diamond(const PetscInt *d)
{
  return (PetscBool)(PetscAbsInt(d[0]) + PetscAbsInt(d[1]) + PetscAbsInt(d[2]) <= 2);
}

/* A velocity that turns, of about 1. */
static void Velocity(const PetscReal *x, PetscReal *u)
{
  u[0] = (3 + PetscCosReal(PETSC_PI * x[1])) / 4;
  u[1] = PetscCosReal(PETSC_PI * x[0]) / 2;
  u[2] = PetscSinReal(2 * PETSC_PI * x[1]) / 2;
}

/* A time step of a convection-diffusion equation with upwind differences, at a cell's Peclet number of about 1. */
static void Convection(const PetscReal *x, const PetscInt *d, PetscReal h, PetscReal (*b)[MOST_UNKNOWNS])
{
  const PetscReal dt = 3 * h, diffusion = h;
  PetscReal       u[3];

  Velocity(x, u);
  if (!d[0] && !d[1] && !d[2]) b[0][0] = 1 / dt + 6 * diffusion / (h * h) + (PetscAbsReal(u[0]) + PetscAbsReal(u[1]) + PetscAbsReal(u[2])) / h;
  for (int e = 0; e < 3; e++)
    if (d[e]) b[0][0] = -diffusion / (h * h) - PetscMax(-(PetscReal)d[e] * u[e], 0) / h;
}

/*
   A time step of the linearized incompressible equations (velocity, pressure) by trilinear elements, with an
   artificial compressibility and a stabilized pressure; divided by the volume of a cell.
*/
static void NavierStokes(const PetscReal *x, const PetscInt *d, PetscReal h, PetscReal (*b)[MOST_UNKNOWNS])
{
  const PetscReal dt = 3 * h, viscosity = h, stable = 0.3 * h;
  PetscReal       mass = 1.0, stiff = 0.0, slope[3], u[3], transport = 0.0;

  Velocity(x, u);
  for (int e = 0; e < 3; e++) {
    PetscReal k = d[e] ? -1 / (h * h) : 2 / (h * h);

    mass *= d[e] ? 1.0 / 6 : 2.0 / 3;
    slope[e] = (PetscReal)d[e] / (2 * h);
    for (int f = 0; f < 3; f++) {
      if (f == e) continue;
      k *= d[f] ? 1.0 / 6 : 2.0 / 3;
      slope[e] *= d[f] ? 1.0 / 6 : 2.0 / 3;
    }
    stiff += k;
    transport += u[e] * slope[e];
  }
  for (int e = 0; e < 3; e++) {
    /* as much diffusion as makes the transport of a cell monotone */
    b[e][e] = mass / dt + transport + (viscosity + h / 2) * stiff;
    b[e][3] = slope[e];
    b[3][e] = slope[e];
  }
  b[3][3] = mass / dt + stable * stiff;
}

/* A time step of the linearized Euler equations (density, velocity, pressure) with upwind differences of second order. */
static void Euler(const PetscReal *x, const PetscInt *d, PetscReal h, PetscReal (*b)[MOST_UNKNOWNS])
{
  const PetscReal density = 1 + 0.2 * PetscSinReal(PETSC_PI * x[2]), pressure = 1, ratio = 1.4, sound = PetscSqrtReal(ratio * pressure / density);
  const PetscReal dt = 2 * h / (1 + sound), upwind[3] = {1.5, -2.0, 0.5};
  PetscReal       u[3];

  Velocity(x, u);
  for (int e = 0; e < 3; e++) {
    const PetscReal fastest                            = PetscAbsReal(u[e]) + sound;
    PetscReal       flux[MOST_UNKNOWNS][MOST_UNKNOWNS] = {{0}}, plus, minus;

    /* the other directions' neighbors are not this one's */
    if ((e != 0 && d[0]) || (e != 1 && d[1]) || (e != 2 && d[2])) continue;
    for (int c = 0; c < MOST_UNKNOWNS; c++) flux[c][c] = u[e];
    flux[0][1 + e] = density;
    flux[1 + e][4] = 1 / density;
    flux[4][1 + e] = ratio * pressure;
    /* waves that come from below and from above */
    plus  = d[e] <= 0 ? upwind[-d[e]] / (2 * h) : 0;
    minus = d[e] >= 0 ? -upwind[d[e]] / (2 * h) : 0;
    for (int r = 0; r < MOST_UNKNOWNS; r++)
      for (int c = 0; c < MOST_UNKNOWNS; c++) b[r][c] += plus * (flux[r][c] + (r == c) * fastest) + minus * (flux[r][c] - (r == c) * fastest);
  }
  for (int c = 0; c < MOST_UNKNOWNS && !d[0] && !d[1] && !d[2]; c++) b[c][c] += 1 / dt;
}

/* A time step of two coupled phases: the Laplacian of the Laplacian, and that of their energy's second derivatives. */
static void CahnHilliard(const PetscReal *x, const PetscInt *d, PetscReal h, PetscReal (*b)[MOST_UNKNOWNS])
{
  const PetscInt steps  = PetscAbsInt(d[0]) + PetscAbsInt(d[1]) + PetscAbsInt(d[2]),
                 most   = PetscMax(PetscAbsInt(d[0]), PetscMax(PetscAbsInt(d[1]), PetscAbsInt(d[2])));
  const PetscReal width = 2 * h, dt = h * h / 2, phase = PetscSinReal(2 * PETSC_PI * x[0]) * PetscSinReal(2 * PETSC_PI * x[1]);
  const PetscReal laplacian = (steps == 0 ? -6 : steps == 1) / (h * h), twice = (steps == 0 ? 42 : steps == 1 ? -12 : most == 2 ? 1 : 2) / (h * h * h * h);
  const PetscReal energy[2][2] = {
    {1 + phase * phase, 0.3 * phase      },
    {0.3 * phase,       2 - phase * phase}
  };

  for (int r = 0; r < 2; r++)
    for (int c = 0; c < 2; c++) b[r][c] = (r == c && steps == 0) / dt + (r == c ? 1 : 0.2) * width * width * twice - energy[r][c] * laplacian;
}

static const Coupled coupled[] = {
  {"timestep",     "convection", 1, 1, Star,    Convection  },
  {"navierstokes", "flow",       4, 1, Box,     NavierStokes},
  {"euler",        "flow",       5, 2, Star,    Euler       },
  {"cahnhilliard", "two phases", 2, 2, Diamond, CahnHilliard},
};

enum {
  COUPLED = sizeof(coupled) / sizeof(coupled[0])
};

static PetscErrorCode CoupledCreate(const Coupled *s, PetscInt n, System *p)
{
  const PetscInt  side = 2 * s->reach + 1, rows = n * n * n * s->unknowns;
  const PetscReal h = 1.0 / (PetscReal)(n + 1);
  PetscInt(*near)[3], count = 0, *i, *j;
  PetscScalar *a;
  size_t       room;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(side * side * side, &near));
  for (PetscInt k = 0; k < side * side * side; k++) {
    const PetscInt d[3] = {k % side - s->reach, k / side % side - s->reach, k / side / side - s->reach};

    if (!(*s->neighbor)(d)) continue;
    PetscCall(PetscArraycpy(near[count++], d, 3));
  }
  PetscCheck((double)n * n * n * s->unknowns * (double)count * s->unknowns < (double)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: more entries than an index can count", s->name);
  room = (size_t)rows * (size_t)count * (size_t)s->unknowns;
  PetscCall(PetscMalloc3(rows + 1, &i, room, &j, room, &a));
  i[0] = 0;
  for (PetscInt point = 0; point < n * n * n; point++) {
    const PetscInt  at[3] = {point % n, point / n % n, point / n / n}, first = point * s->unknowns, begin = i[first];
    const PetscReal x[3]   = {(at[0] + 1) * h, (at[1] + 1) * h, (at[2] + 1) * h};
    PetscInt        length = 0, done = 0;

    for (PetscInt k = 0; k < count; k++) {
      PetscBool inside = PETSC_TRUE;

      for (int e = 0; e < 3; e++) inside = (PetscBool)(inside && at[e] + near[k][e] >= 0 && at[e] + near[k][e] < n);
      length += inside ? s->unknowns : 0;
    }
    for (PetscInt r = 0; r < s->unknowns; r++) i[first + r + 1] = i[first + r] + length;
    for (PetscInt k = 0; k < count; k++) {
      const PetscInt to                                  = point + near[k][0] + n * (near[k][1] + n * near[k][2]);
      PetscReal      block[MOST_UNKNOWNS][MOST_UNKNOWNS] = {{0}};
      PetscBool      inside                              = PETSC_TRUE;

      for (int e = 0; e < 3; e++) inside = (PetscBool)(inside && at[e] + near[k][e] >= 0 && at[e] + near[k][e] < n);
      if (!inside) continue;
      (*s->block)(x, near[k], h, block);
      for (PetscInt r = 0; r < s->unknowns; r++) {
        for (PetscInt c = 0; c < s->unknowns; c++) {
          j[begin + r * length + done + c] = to * s->unknowns + c;
          a[begin + r * length + done + c] = block[r][c];
        }
      }
      done += s->unknowns;
    }
  }
  PetscCall(PetscFree(near));
  PetscCall(MatCreate(PETSC_COMM_SELF, &p->A));
  PetscCall(MatSetSizes(p->A, rows, rows, rows, rows));
  PetscCall(MatSetType(p->A, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(p->A, i, j, a));
  PetscCall(PetscFree3(i, j, a));
  p->unknowns = s->unknowns;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- networks ---- */

typedef struct {
  PetscInt     count;
  PetscInt    *i, *j;
  PetscScalar *v;
} Entries;

static void Add(Entries *e, PetscInt i, PetscInt j, PetscReal v)
{
  e->i[e->count]   = i;
  e->j[e->count]   = j;
  e->v[e->count++] = v;
}

static void Conductance(Entries *e, PetscInt p, PetscInt q, PetscReal g)
{
  Add(e, p, p, g);
  Add(e, q, q, g);
  Add(e, p, q, -g);
  Add(e, q, p, -g);
}

/*
   Conductances of a network of n^2 nodes, over two decades: nine of ten of the edges of a square grid, and
   wires from one of eight nodes to another one up to three lines down and seven nodes to the right; each node
   leaks a little. With sources, which make it unsymmetric, rails join hundreds of nodes, and the current into
   three of ten nodes depends on the voltage of such a neighbour.
*/
static PetscErrorCode NetworkCreate(PetscInt n, PetscBool sources, System *p)
{
  const PetscInt nodes = n * n, rails = sources ? 1 + nodes / 20000 : 0, fan = PetscMin(200, nodes);
  const double   room = 15.0 * (double)nodes + 4.0 * (double)rails * (double)fan;
  Entries        e    = {0, NULL, NULL, NULL};
  PetscInt64     draw = 1;

  PetscFunctionBegin;
  PetscCheck(n > 1 && room < (double)PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "A network of %" PetscInt_FMT "^2 nodes", n);
  PetscCall(PetscMalloc3((size_t)room, &e.i, (size_t)room, &e.j, (size_t)room, &e.v));
  for (PetscInt node = 0; node < nodes; node++) {
    const PetscInt neighbour[2] = {(node + 1) % n ? node + 1 : -1, node + n < nodes ? node + n : -1};
    const PetscInt down = 1 + (PetscInt)(3.0 * BenchHash(draw)), right = (PetscInt)(8.0 * BenchHash(draw + 8));
    const PetscInt far = node % n + right < n ? node + down * n + right : nodes;

    draw += 9;
    Add(&e, node, node, 1e-3);
    for (int k = 0; k < 2; k++)
      if (neighbour[k] >= 0 && BenchHash(draw + k) < 0.9) Conductance(&e, node, neighbour[k], PetscPowReal(10.0, 2 * BenchHash(draw + 2 + k) - 1));
    if (far < nodes && BenchHash(draw + 4) < 0.125) Conductance(&e, node, far, PetscPowReal(10.0, 2 * BenchHash(draw + 5) - 1));
    if (sources && far < nodes && BenchHash(draw + 6) < 0.3) {
      const PetscReal gain = BenchHash(draw + 7) - 0.5;

      Add(&e, node, far, gain);
      Add(&e, node, node, PetscAbsReal(gain));
    }
  }
  for (PetscInt r = 0; r < rails; r++) {
    const PetscInt rail = (PetscInt)((double)nodes * BenchHash(draw++));

    for (PetscInt k = 0; k < fan; k++) {
      const PetscInt node = (PetscInt)((double)nodes * BenchHash(draw++));

      if (node != rail) Conductance(&e, rail, node, 0.1);
    }
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, &p->A));
  PetscCall(MatSetSizes(p->A, nodes, nodes, nodes, nodes));
  PetscCall(MatSetType(p->A, MATSEQAIJ));
  PetscCall(MatSetPreallocationCOO(p->A, e.count, e.i, e.j));
  PetscCall(MatSetValuesCOO(p->A, e.v, ADD_VALUES));
  PetscCall(PetscFree3(e.i, e.j, e.v));
  p->symmetric = (PetscBool)!sources;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- all ---- */

static PetscErrorCode Create(const char *name, PetscInt n, System *p)
{
  PetscBool same;

  PetscFunctionBegin;
  for (int k = 0; k < GRIDS; k++) {
    PetscCall(PetscStrcmp(name, grids[k].name, &same));
    if (!same) continue;
    p->kind = grids[k].kind;
    PetscCall(GridCreate(&grids[k], n, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < MESH_PROBLEMS; k++) {
    PetscCall(PetscStrcmp(name, MeshProblems[k], &same));
    if (!same) continue;
    p->kind      = "finite elements";
    p->symmetric = (PetscBool)(k != MESH_CONVECTION);
    PetscCall(MeshCreate(PETSC_COMM_SELF, (MeshProblem)k, n, &p->A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int k = 0; k < COUPLED; k++) {
    PetscCall(PetscStrcmp(name, coupled[k].name, &same));
    if (!same) continue;
    p->kind = coupled[k].kind;
    PetscCall(CoupledCreate(&coupled[k], n, p));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  p->kind = "circuit";
  PetscCall(PetscStrcmp(name, "circuit", &same));
  if (!same) {
    PetscCall(PetscStrcmp(name, "network", &same));
    PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s:%" PetscInt_FMT ": there is no such system", name, n);
    PetscCall(NetworkCreate(n, PETSC_FALSE, p));
  } else PetscCall(NetworkCreate(n, PETSC_TRUE, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix in its type, and the right-hand side, of ones if there is none, in the type of its vectors. */
static PetscErrorCode Convert(MatType type, System *p)
{
  Vec b = p->b;

  PetscFunctionBegin;
  PetscCall(MatConvert(p->A, type, MAT_INPLACE_MATRIX, &p->A));
  PetscCall(MatCreateVecs(p->A, NULL, &p->b));
  if (b) PetscCall(VecCopy(b, p->b));
  else PetscCall(VecSet(p->b, 1.0));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemByName(const char *spec, MatType type, System *p)
{
  char        name[sizeof(p->name)], *colon;
  PetscInt    n = 0;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCheck(ranks == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP, "%s takes one rank", spec);
  PetscCall(PetscStrncpy(name, spec, sizeof(name)));
  PetscCall(PetscStrncpy(p->name, spec, sizeof(p->name)));
  colon = strchr(name, ':');
  PetscCheck(colon, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s: how many points?", spec);
  *colon = 0;
  PetscCall(PetscOptionsStringToInt(colon + 1, &n));
  PetscCheck(n > 0, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "%s: how many points?", spec);
  PetscCall(Create(name, n, p));
  PetscCall(Convert(type, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemFromFile(const char *file, MatType type, System *p)
{
  Vec         ones, diagonal;
  PetscReal   norm, least;
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCall(BenchFileName(file, p->name, sizeof(p->name)));
  p->kind = "file";
  PetscCall(LoadMatrix(PETSC_COMM_WORLD, file, MATAIJ, &p->A));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  if (ranks == 1) {
    /* rounding of an assembly is no asymmetry; saddle points have no positive diagonal */
    PetscCall(MatNorm(p->A, NORM_INFINITY, &norm));
    PetscCall(MatIsSymmetric(p->A, 1e-12 * norm, &p->symmetric));
    PetscCall(MatCreateVecs(p->A, &diagonal, NULL));
    PetscCall(MatGetDiagonal(p->A, diagonal));
    PetscCall(VecMin(diagonal, NULL, &least));
    PetscCall(VecDestroy(&diagonal));
    p->symmetric = (PetscBool)(p->symmetric && least > 0.0);
  }
  PetscCall(MatConvert(p->A, type, MAT_INPLACE_MATRIX, &p->A));
  PetscCall(MatCreateVecs(p->A, &ones, &p->b));
  PetscCall(VecSet(ones, 1.0));
  PetscCall(MatMult(p->A, ones, p->b));
  PetscCall(VecDestroy(&ones));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemFinish(System *p)
{
  PetscFunctionBegin;
  PetscCall(VecDuplicate(p->b, &p->x));
  PetscCall(VecDuplicate(p->b, &p->r));
  /* incomplete Cholesky factorization then takes its values where they are */
  if (p->symmetric) PetscCall(MatSetOption(p->A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatMult(p->A, p->b, p->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SystemDestroy(System *p)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&p->A));
  PetscCall(VecDestroy(&p->b));
  PetscCall(VecDestroy(&p->x));
  PetscCall(VecDestroy(&p->r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
