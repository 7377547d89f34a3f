static const char help[] = "Measures the triangular solves along the lines of grids (solve struct) by the size of a grid alone: numbers are made on\n\
the device, so that it is all that must have room for them. L takes its right-hand side from the numbering of the matrix, U\n\
that of L, and leaves the solution in the numbering: as the two solves of an application.\n\
  -grids <points:size,..> points of a stencil (5, 7, 9, 15, 25, 27) and of the grid, as 7:160x160x160\n\
  -repeat <n>             medians of so many (10)\n";

#include <petscsys.h>
#include <cuda_runtime_api.h>
#include "bench.h"
#include "../../src/cuda/struct.h"
#include "../../kernels/solve_struct.h"
#include "../../kernels/solve_struct_near.h"

#define CALL(call) \
  do { \
    const cudaError_t err_ = (call); \
    PetscCheck(err_ == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s: %s", #call, cudaGetErrorString(err_)); \
  } while (0)

enum {
  MOST = 64,  /* pieces of device memory */
  BYTE = 0x3f /* of all numbers, which are 0.00048 then */
};

typedef struct {
  void               *piece[MOST];
  int                 pieces;
  Stencil             stencil;
  SyncILUDeviceStruct m[2];
  SyncILUDeviceSolve  s[2];
  size_t              lanes;
  double              bytes[2]; /* that a solve has to read and write, of the rows there are */
} Grid;

static PetscErrorCode Take(Grid *g, size_t bytes, int byte, void *pointer)
{
  PetscFunctionBegin;
  PetscCheck(g->pieces < MOST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "more than %d pieces of memory", MOST);
  CALL(cudaMalloc(&g->piece[g->pieces], bytes));
  CALL(cudaMemset(g->piece[g->pieces], byte, bytes));
  *(void **)pointer = g->piece[g->pieces++];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether a stencil of so many points has one: a star, of radius 1 or 4, a box, or the box that both ways
   along the diagonal of a cube have in common.
*/
static PetscBool HasPoint(int points, int x, int y, int z)
{
  const int sum = PetscAbsInt(x) + PetscAbsInt(y) + PetscAbsInt(z), most = PetscMax(PetscMax(PetscAbsInt(x), PetscAbsInt(y)), PetscAbsInt(z));

  if (z && (points == 5 || points == 9)) return PETSC_FALSE;
  if (points == 25) return (PetscBool)(sum == most);
  if (points == 15) return (PetscBool)(most == 1 && PetscMax(PetscMax(x, y), z) <= 0);
  return (PetscBool)(points == 9 || points == 27 ? most == 1 : sum == 1);
}

/* The points of L, by ascending columns; those of U are opposite. */
static void Points(int points, Stencil *s)
{
  int n = 0;

  for (int z = -4; z <= 0; z++)
    for (int y = -4; y <= 4; y++)
      for (int x = -4; x <= 4; x++) {
        if (z == 0 && (y > 0 || (y == 0 && x >= 0))) continue;
        if (!HasPoint(points, x, y, z)) continue;
        s->point[0][n][0]   = (signed char)x;
        s->point[0][n][1]   = (signed char)y;
        s->point[0][n++][2] = (signed char)z;
      }
  s->entries[0] = s->entries[1] = n;
  for (int e = 0; e < n; e++)
    for (int c = 0; c < 3; c++) s->point[1][e][c] = (signed char)-s->point[0][n - 1 - e][c];
}

static PetscErrorCode TileOrder(Grid *g, const SyncILULines *lines, int down, const int **device)
{
  int *order;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(lines->tiles, &order));
  PetscCall(StencilOrder(lines, down, order));
  PetscCall(Take(g, (size_t)lines->tiles * sizeof(*order), 0, device));
  CALL(cudaMemcpy((void *)*device, order, (size_t)lines->tiles * sizeof(*order), cudaMemcpyHostToDevice));
  PetscCall(PetscFree(order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(int points, const int size[3], Grid *g)
{
  const double        n     = (double)size[0] * size[1] * size[2];
  SyncILULines       *lines = &g->stencil.g;
  double             *b, *x[2], *out;
  unsigned long long *ticket;
  int                 fits;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(g, sizeof(*g)));
  Points(points, &g->stencil);
  g->stencil.unknowns = 1;
  lines->stride[0]    = 1;
  for (int c = 0; c < 3; c++) {
    lines->points[c] = size[c];
    if (c) lines->stride[c] = lines->stride[c - 1] * size[c - 1];
  }
  PetscCheck(StencilTile(&g->stencil), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "no lines of %d points for %d x %d x %d", points, size[0], size[1], size[2]);
  g->lanes = (size_t)32 * (size_t)lines->tiles * (size_t)lines->steps;
  PetscCheck(g->lanes < INT_MAX / 2, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%d x %d x %d is too large", size[0], size[1], size[2]);
  PetscCall(Take(g, (size_t)n * sizeof(double), BYTE, &b));
  PetscCall(Take(g, (size_t)n * sizeof(double), BYTE, &out));
  for (int k = 0; k < 2; k++) PetscCall(Take(g, g->lanes * sizeof(double), 0xff, &x[k]));
  PetscCall(Take(g, 2 * sizeof(*ticket), 0, &ticket));
  for (int k = 0; k < 2; k++) {
    SyncILUDeviceStruct *m = &g->m[k];
    signed char          line[SYNCILU_STRUCT_LINES][2], (*lines_beside)[2];

    StencilDescribe(&g->stencil, k ? PART_U : PART_L, m, line);
    PetscCall(Take(g, sizeof(line), 0, &lines_beside));
    CALL(cudaMemcpy(lines_beside, line, sizeof(line), cudaMemcpyHostToDevice));
    m->beside.line = (const signed char(*)[2])lines_beside;
    PetscCall(TileOrder(g, &m->g, m->down, &m->order));
    if (m->box.tiles) PetscCall(TileOrder(g, &m->box.g, m->down, &m->box.order));
    PetscCall(Take(g, g->lanes * (size_t)(m->entries + m->scaled) * sizeof(double), BYTE, &m->val));
    g->bytes[k] = n * sizeof(double) * (m->entries + m->scaled + 3); /* right-hand side, solution, sentinels for the other solve */
    CALL(SyncILUKernelStructFits(*m, &fits));
    if (fits && m->box.tiles) CALL(SyncILUKernelStructNearFits(*m, &fits));
    PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_SUP, "the device has no clusters, or no barriers for copies to shared memory (compute capability 9.0)");
  }
  g->s[0] = (SyncILUDeviceSolve){.b = b, .ldb = (size_t)n, .x = x[0], .next = x[1], .nrhs = 1, .ticket = ticket, .reset = ticket + 1};
  g->s[1] = (SyncILUDeviceSolve){.b = x[0], .x = x[1], .out = out, .ldout = (size_t)n, .next = x[0], .nrhs = 1, .ticket = ticket + 1, .reset = ticket};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Grid *g)
{
  PetscFunctionBegin;
  for (int k = 0; k < g->pieces; k++) CALL(cudaFree(g->piece[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gigabytes a second, read and written. */
static PetscErrorCode Copy(cudaEvent_t event[3], double *rate)
{
  const size_t bytes = (size_t)1 << 30;
  void        *a, *b;
  float        ms;

  PetscFunctionBegin;
  CALL(cudaMalloc(&a, bytes));
  CALL(cudaMalloc(&b, bytes));
  CALL(cudaMemset(a, 0, bytes));
  *rate = 0.0;
  for (int k = 0; k < 4; k++) {
    CALL(cudaEventRecord(event[0], NULL));
    for (int i = 0; i < 10; i++) CALL(cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, NULL));
    CALL(cudaEventRecord(event[1], NULL));
    CALL(cudaEventSynchronize(event[1]));
    CALL(cudaEventElapsedTime(&ms, event[0], event[1]));
    *rate = PetscMax(*rate, 20.0 * (double)bytes / ms * 1e-6);
  }
  CALL(cudaFree(a));
  CALL(cudaFree(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(Grid *g, PetscInt repeat, cudaEvent_t event[3], double ms[3])
{
  BenchSample sample[3];

  PetscFunctionBegin;
  for (int j = 0; j < 3; j++) sample[j].n = repeat;
  for (PetscInt i = -1; i < repeat; i++) {
    float t[3];

    for (int k = 0; k < 2; k++) {
      CALL(cudaEventRecord(event[k], NULL));
      CALL(SyncILUKernelSolveStruct(SYNCILU_DOUBLE, g->m[k], g->s[k], NULL));
    }
    CALL(cudaEventRecord(event[2], NULL));
    CALL(cudaEventSynchronize(event[2]));
    for (int k = 0; k < 2; k++) CALL(cudaEventElapsedTime(&t[k], event[k], event[k + 1]));
    /* as a solver does it: without an event between them, which would keep U from being launched before L ends */
    CALL(cudaEventRecord(event[0], NULL));
    for (int k = 0; k < 8; k++) CALL(SyncILUKernelSolveStruct(SYNCILU_DOUBLE, g->m[k % 2], g->s[k % 2], NULL));
    CALL(cudaEventRecord(event[1], NULL));
    CALL(cudaEventSynchronize(event[1]));
    CALL(cudaEventElapsedTime(&t[2], event[0], event[1]));
    t[2] /= 4;
    if (i >= 0)
      for (int j = 0; j < 3; j++) sample[j].t[i] = t[j];
  }
  for (int j = 0; j < 3; j++) ms[j] = BenchMedian(&sample[j]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char       *grids[32];
  PetscInt    count = PETSC_STATIC_ARRAY_LENGTH(grids), repeat = 10;
  PetscBool   given;
  cudaEvent_t event[3];
  double      rate;
  static Grid g;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  repeat = PetscMax(1, PetscMin(repeat, BENCH_REPEAT_MAX));
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-grids", grids, &count, &given));
  if (!given) {
    const char *const usual[] = {"5:1000x1000x1", "7:64x64x64",    "7:100x100x100", "7:160x160x160",
                                 "7:256x256x256", "7:512x512x512", "27:80x80x80",   "27:336x336x336"};

    count = PETSC_STATIC_ARRAY_LENGTH(usual);
    for (PetscInt k = 0; k < count; k++) PetscCall(PetscStrallocpy(usual[k], &grids[k]));
  }
  for (int k = 0; k < 3; k++) CALL(cudaEventCreate(&event[k]));
  PetscCall(Copy(event, &rate));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "copy: %.0f GB/s, read and written\n%-18s %6s %9s %9s %9s %24s %8s\n", rate, "grid", "box", "L ms", "U ms", "L + U ms",
                        "L of the copy's bandwidth", "L + U / bytes"));
  for (PetscInt k = 0; k < count; k++) {
    int    points, size[3];
    double ms[3];

    PetscCheck(sscanf(grids[k], "%d:%dx%dx%d", &points, &size[0], &size[1], &size[2]) == 4 && PetscMin(PetscMin(size[0], size[1]), size[2]) > 0,
               PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-grids %s: must be as 7:160x160x160", grids[k]);
    PetscCall(Create(points, size, &g));
    PetscCall(Measure(&g, repeat, event, ms));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%-18s %6d %9.4f %9.4f %9.4f %24.2f %8.2f\n", grids[k], g.m[0].box.tiles, ms[0], ms[1], ms[2],
                          g.bytes[0] / ms[0] * 1e-6 / rate, ms[2] * rate * 1e6 / (g.bytes[0] + g.bytes[1])));
    PetscCall(Destroy(&g));
    PetscCall(PetscFree(grids[k]));
  }
  for (int k = 0; k < 3; k++) CALL(cudaEventDestroy(event[k]));
  PetscCall(PetscFinalize());
  return 0;
}
