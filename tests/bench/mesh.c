/*
   Finite elements on a mesh of simplices, as large as a bench wants them.
*/
#include "bench.h"
#include "mesh.h"

/*
   Points of a grid in the unit cube, of which those inside are moved; each cell is cut into simplices along
   the paths from its lowest to its highest corner (H. W. Kuhn, IBM J. Res. Dev. 4, 1960). So neighbours differ
   by 0 or 1 in all directions, or by 0 or -1 in all. Unknowns are the points inside; they are numbered along
   a space-filling curve, as programs do for meshes that came from elsewhere.
*/
enum {
  DIM   = 3,
  SLOTS = 15, /* of a row in three dimensions: itself and its neighbours */
};

typedef struct {
  int        dim, dof, slots;
  PetscInt   n, points; /* inside, in each direction and in all */
  int        slot[27];  /* of a neighbour, by its place in the 3^dim around a point; -1: none */
  int        offset[SLOTS][DIM];
  PetscReal *value; /* by point, slot, and place in its block */
} Mesh;

static void Coordinates(const Mesh *m, const PetscInt *at, PetscReal *x)
{
  const PetscReal h      = 1.0 / (PetscReal)(m->n + 1);
  PetscInt64      number = 0;
  PetscBool       inside = PETSC_TRUE;

  for (int d = 0; d < m->dim; d++) {
    number = number * (m->n + 2) + at[d];
    inside = (PetscBool)(inside && at[d] && at[d] <= m->n);
  }
  for (int d = 0; d < m->dim; d++) x[d] = h * ((PetscReal)at[d] + (inside ? 0.4 * (BenchHash(DIM * number + d) - 0.5) : 0.0));
}

/* The point's number among those inside, -1 on the boundary. */
static PetscInt PointOf(const Mesh *m, const PetscInt *at)
{
  PetscInt p = 0;

  for (int d = 0; d < m->dim; d++) {
    if (!at[d] || at[d] > m->n) return -1;
    p = p * m->n + at[d] - 1;
  }
  return p;
}

static int PlaceAround(const Mesh *m, const PetscInt *from, const PetscInt *to)
{
  int place = 0;

  for (int d = 0; d < m->dim; d++) place = 3 * place + (int)(to[d] - from[d]) + 1;
  return place;
}

/* Gradients of the functions that are one in a corner and zero in the others; and the volume. */
static PetscReal Gradients(int dim, PetscReal x[DIM + 1][DIM], PetscReal g[DIM + 1][DIM])
{
  PetscReal a[DIM][2 * DIM], det = 1.0;

  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) {
      a[i][j]       = x[i + 1][j] - x[0][j];
      a[i][dim + j] = i == j;
    }
  }
  for (int k = 0; k < dim; k++) { /* Gauss and Jordan; the corners are far from flat */
    int most = k;

    for (int i = k; i < dim; i++)
      if (PetscAbsReal(a[i][k]) > PetscAbsReal(a[most][k])) most = i;
    if (most != k) det = -det;
    for (int j = 0; j < 2 * dim; j++) {
      const PetscReal swap = a[k][j];

      a[k][j]    = a[most][j];
      a[most][j] = swap;
    }
    det *= a[k][k];
    for (int j = 2 * dim - 1; j >= k; j--) a[k][j] /= a[k][k];
    for (int i = 0; i < dim; i++) {
      if (i == k) continue;
      for (int j = 2 * dim - 1; j >= k; j--) a[i][j] -= a[i][k] * a[k][j];
    }
  }
  for (int d = 0; d < dim; d++) {
    g[0][d] = 0.0;
    for (int i = 0; i < dim; i++) {
      g[i + 1][d] = a[d][dim + i];
      g[0][d] -= g[i + 1][d];
    }
  }
  return PetscAbsReal(det) / (dim == 2 ? 2.0 : 6.0);
}

/* What a simplex adds to the block of two of its corners. */
static void Element(const Mesh *m, MeshProblem problem, const PetscReal *centre, const PetscReal *gi, const PetscReal *gj, PetscReal volume, PetscReal *block)
{
  const PetscReal lambda = 0.3 / (1.3 * 0.4), mu = 0.5 / 1.3; /* of Young's modulus 1 and Poisson's ratio 0.3 */
  PetscReal       product = 0.0;

  for (int d = 0; d < m->dim; d++) product += gi[d] * gj[d];
  if (problem == MESH_ELASTICITY) {
    for (int a = 0; a < m->dim; a++)
      for (int b = 0; b < m->dim; b++) block[a * m->dim + b] += volume * (lambda * gi[a] * gj[b] + mu * gi[b] * gj[a] + (a == b ? mu * product : 0.0));
    return;
  }
  block[0] += volume * product;
  if (problem == MESH_CONVECTION) {
    /* around an axis and along it; a cell has the Peclet number 10 where the velocity is one */
    const PetscReal speed = 10.0 * (PetscReal)(m->n + 1), velocity[DIM] = {0.5 - centre[1], centre[0] - 0.5, 0.25};

    for (int d = 0; d < m->dim; d++) block[0] += speed * velocity[d] * gj[d] * volume / (m->dim + 1);
  }
}

static void AddSimplex(Mesh *m, MeshProblem problem, const PetscInt *cell, const int *path)
{
  PetscInt  at[DIM + 1][DIM];
  PetscReal x[DIM + 1][DIM], g[DIM + 1][DIM], centre[DIM] = {0.0, 0.0, 0.0}, volume;
  const int blocksize = m->dof * m->dof;

  for (int v = 0; v <= m->dim; v++) {
    for (int d = 0; d < m->dim; d++) at[v][d] = v ? at[v - 1][d] + (path[v - 1] == d) : cell[d];
    Coordinates(m, at[v], x[v]);
    for (int d = 0; d < m->dim; d++) centre[d] += x[v][d] / (m->dim + 1);
  }
  volume = Gradients(m->dim, x, g);
  for (int i = 0; i <= m->dim; i++) {
    const PetscInt row = PointOf(m, at[i]);

    if (row < 0) continue;
    for (int j = 0; j <= m->dim; j++) {
      const int slot = m->slot[PlaceAround(m, at[i], at[j])];

      Element(m, problem, centre, g[i], g[j], volume, m->value + (row * m->slots + slot) * blocksize);
    }
  }
}

/* The point that a slot of another one is for, -1 if that is on the boundary. */
static PetscInt Neighbour(const Mesh *m, PetscInt p, int slot)
{
  PetscInt at[DIM];

  for (int d = m->dim - 1; d >= 0; d--, p /= m->n) at[d] = p % m->n + 1 + m->offset[slot][d];
  return PointOf(m, at);
}

/*
   Upwind: adds the least diffusion along each edge that leaves no positive entry beside the diagonal (D.
   Kuzmin, S. Turek, J. Comput. Phys. 175, 2002).
*/
static void Upwind(Mesh *m)
{
  for (PetscInt p = 0; p < m->points; p++) {
    for (int s = 1; s < m->slots; s++) {
      const PetscInt q     = Neighbour(m, p, s);
      const int      back  = m->slots - s; /* offsets come in pairs: see Begin() */
      PetscReal     *there = m->value + p * m->slots + s, *here, diffusion;

      if (q < p) continue; /* once for each edge */
      here      = m->value + q * m->slots + back;
      diffusion = PetscMax(0.0, PetscMax(*there, *here));
      *there -= diffusion;
      *here -= diffusion;
      m->value[p * m->slots] += diffusion;
      m->value[q * m->slots] += diffusion;
    }
  }
}

/* Slot 0 is the point itself, and slots s and slots - s are each other's opposite. */
static void Begin(int dim, int dof, PetscInt n, Mesh *m)
{
  const PetscInt origin[DIM] = {0, 0, 0};
  const int      corners     = 1 << dim;

  memset(m, 0, sizeof(*m));
  m->dim = dim;
  m->dof = dof;
  m->n = m->points = n;
  m->slots         = 2 * corners - 1;
  for (int d = 1; d < dim; d++) m->points *= n;
  for (int k = 0; k < 27; k++) m->slot[k] = -1;
  for (int c = 0; c < corners; c++) {
    PetscInt up[DIM], down[DIM];

    for (int d = 0; d < dim; d++) {
      up[d]           = c >> d & 1;
      down[d]         = -up[d];
      m->offset[c][d] = (int)up[d];
      if (c) m->offset[m->slots - c][d] = (int)down[d];
    }
    m->slot[PlaceAround(m, origin, up)] = c;
    if (c) m->slot[PlaceAround(m, origin, down)] = m->slots - c;
  }
}

const char *const MeshProblems[] = {"laplace2", "laplace3", "elasticity", "convection"};

PetscErrorCode MeshParse(const char *spec, MeshProblem *problem, PetscInt *n)
{
  const char *colon = strchr(spec, ':');
  int         k     = 0;

  PetscFunctionBegin;
  while (k < MESH_PROBLEMS && (!colon || strlen(MeshProblems[k]) != (size_t)(colon - spec) || strncmp(MeshProblems[k], spec, (size_t)(colon - spec)))) k++;
  if (colon && colon[1 + strspn(colon + 1, "0123456789")]) k = MESH_PROBLEMS;
  *problem = (MeshProblem)k;
  *n       = 0;
  if (k < MESH_PROBLEMS) PetscCall(PetscOptionsStringToInt(colon + 1, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the points along Morton's curve. */
static PetscErrorCode Number(const Mesh *m, PetscInt *number)
{
  PetscInt  next = 0;
  PetscInt *at;
  int       bits = 0;

  PetscFunctionBegin;
  while (((PetscInt)1 << bits) < m->n) bits++;
  PetscCall(PetscMalloc1(DIM, &at));
  for (PetscInt64 key = 0; key < (PetscInt64)1 << bits * m->dim; key++) {
    PetscInt  p      = 0;
    PetscBool inside = PETSC_TRUE;

    for (int d = 0; d < m->dim; d++) at[d] = 0;
    for (int b = 0; b < bits * m->dim; b++) at[b % m->dim] |= (PetscInt)(key >> b & 1) << b / m->dim;
    for (int d = 0; d < m->dim; d++) {
      inside = (PetscBool)(inside && at[d] < m->n);
      p      = p * m->n + at[d];
    }
    if (inside) number[p] = next++;
  }
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ToMatrix(const Mesh *m, MPI_Comm comm, Mat *A)
{
  const PetscInt rows = m->points * m->dof;
  PetscInt      *number, *point, *i, *j, nnz = 0;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m->points, &number, m->points, &point));
  PetscCall(Number(m, number));
  for (PetscInt p = 0; p < m->points; p++) point[number[p]] = p;
  PetscCall(PetscMalloc1(rows + 1, &i));
  PetscCall(PetscMalloc1((size_t)m->points * m->slots * m->dof * m->dof, &j));
  PetscCall(PetscMalloc1((size_t)m->points * m->slots * m->dof * m->dof, &a));
  i[0] = 0;
  for (PetscInt k = 0; k < m->points; k++) {
    PetscInt neighbour[SLOTS];
    int      slot[SLOTS], count = 0;

    for (int s = 0; s < m->slots; s++) {
      const PetscInt q = Neighbour(m, point[k], s);

      if (q < 0) continue;
      neighbour[count] = number[q];
      slot[count++]    = s;
    }
    for (int s = 1; s < count; s++) { /* ascending columns */
      for (int t = s; t > 0 && neighbour[t] < neighbour[t - 1]; t--) {
        const PetscInt swap = neighbour[t];
        const int      of   = slot[t];

        neighbour[t]     = neighbour[t - 1];
        slot[t]          = slot[t - 1];
        neighbour[t - 1] = swap;
        slot[t - 1]      = of;
      }
    }
    for (int u = 0; u < m->dof; u++) {
      for (int s = 0; s < count; s++) {
        for (int v = 0; v < m->dof; v++) {
          j[nnz]   = neighbour[s] * m->dof + v;
          a[nnz++] = m->value[((point[k] * m->slots + slot[s]) * m->dof + u) * m->dof + v];
        }
      }
      i[k * m->dof + u + 1] = nnz;
    }
  }
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, rows, rows, rows, rows));
  PetscCall(MatSetBlockSize(*A, m->dof));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*A, i, j, a));
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(j));
  PetscCall(PetscFree(a));
  PetscCall(PetscFree2(number, point));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   MeshCreate - the matrix of a problem on a mesh of the unit square or cube, with zero values on its boundary

   Collective on one process

   Input Parameters:
+  comm    - the communicator
.  problem - which problem; MESH_LAPLACE_2D on triangles, the others on tetrahedra
-  n       - points inside in each direction

   Output Parameter:
.  A - the matrix, of type seqaij
*/
PetscErrorCode MeshCreate(MPI_Comm comm, MeshProblem problem, PetscInt n, Mat *A)
{
  const int paths[2][6][DIM] = {
    {{0, 1, 0},  {1, 0, 0}},
    { {0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
  };
  const int dim = problem == MESH_LAPLACE_2D ? 2 : 3;
  PetscInt  cell[DIM];
  Mesh      m;

  PetscFunctionBegin;
  Begin(dim, problem == MESH_ELASTICITY ? dim : 1, n, &m);
  PetscCheck((double)m.points * m.slots * m.dof * m.dof < (double)PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE, "More entries than an index can count");
  PetscCall(PetscCalloc1((size_t)m.points * m.slots * m.dof * m.dof, &m.value));
  for (cell[0] = 0; cell[0] <= n; cell[0]++) {
    for (cell[1] = 0; cell[1] <= n; cell[1]++) {
      for (cell[2] = 0; cell[2] <= (dim == 2 ? 0 : n); cell[2]++) {
        for (int s = 0; s < (dim == 2 ? 2 : 6); s++) AddSimplex(&m, problem, cell, paths[dim - 2][s]);
      }
    }
  }
  if (problem == MESH_CONVECTION) Upwind(&m);
  PetscCall(ToMatrix(&m, comm, A));
  PetscCall(PetscFree(m.value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
