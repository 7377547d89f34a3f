/*
   The matrix that bench_kernels measures, and what its results are compared with.
*/
#include "kernels.h"
#if defined(BENCH_KERNELS)
  #include "mesh.h"
  #include "on_device.h"
  #include "../generate.h"
  #include "../gpu.h"
  #include "../load.h"
  #include "host/host.h"
  #include "../../kernels/order.h"

/*
   Column r of the right-hand sides is the first one times 2^-r. So the reference's solution of the first one
   tells all others to the last bit, and a column in another one's place is seen.
*/
static double Scale(PetscInt column)
{
  return ldexp(1.0, -(int)column);
}

/* The factor in the pattern of the matrix, with unit diagonal of L. */
static PetscErrorCode UploadFactor(Subject *s)
{
  const Case           *c = &s->c;
  const SyncILUPattern *p = &c->pattern;
  double               *v = s->copy;

  PetscFunctionBegin;
  if (p->row || c->fill.levels) PetscFunctionReturn(PETSC_SUCCESS); /* cuSPARSE has the matrix as it is alone */
  for (PetscInt i = 0; i < c->n; i++) {
    PetscInt k = c->csr.i[i];

    for (PetscInt q = p->lptr[i]; q < p->lptr[i + 1]; q++) v[k++] = c->ref[q];
    v[k++] = 1.0 / c->ref[c->nl + c->nu + i];
    for (PetscInt q = p->uptr[i]; q < p->uptr[i + 1]; q++) v[k++] = c->ref[c->nl + q];
  }
  PetscCall(Upload(v, sizeof(double) * (size_t)c->csr.nnz, &s->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a grid, and a right-hand side. */
static PetscErrorCode MakeOnDevice(Subject *s)
{
  const size_t n = (size_t)s->c.n, nnz = (size_t)s->c.csr.nnz;
  size_t       bytes = 0;
  int         *begin, *column, total;
  double      *value;
  void        *work;

  PetscFunctionBegin;
  s->device     = s->c.csr;
  s->device.mem = PETSC_MEMTYPE_DEVICE;
  PetscCall(Upload(NULL, sizeof(int) * (n + 1), &begin));
  s->device.i = begin;
  PetscCall(Upload(NULL, sizeof(int) * nnz, &column));
  s->device.j = column;
  PetscCall(Upload(NULL, sizeof(double) * nnz, &value));
  s->device.a = value;
  PetscCallCUDA(OnDeviceLengths(&s->grid, begin));
  PetscCallCUDA(SyncILUKernelOffsets(NULL, &bytes, (int)n, begin, NULL));
  PetscCall(Upload(NULL, bytes, &work));
  PetscCallCUDA(SyncILUKernelOffsets(work, &bytes, (int)n, begin, NULL));
  PetscCallCUDA(cudaMemcpy(&total, begin + n, sizeof(total), cudaMemcpyDeviceToHost));
  PetscCallCUDA(cudaFree(work));
  PetscCheck(total == s->device.nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %d nonzeros instead of %" PetscInt_FMT, s->name, total, s->device.nnz);
  PetscCallCUDA(OnDeviceFill(&s->grid, begin, column, value));
  PetscCall(Upload(NULL, sizeof(double) * n, &s->db));
  PetscCallCUDA(OnDeviceRandom((int)n, s->db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In brief: one right-hand side, and no results yet. */
static PetscErrorCode UploadBrief(Subject *s)
{
  const size_t bytes = sizeof(double) * (size_t)s->c.n;

  PetscFunctionBegin;
  if (s->A) {
    PetscCall(CSRUpload(&s->c.csr, &s->device));
    PetscCall(Upload(s->c.b, bytes, &s->db));
  } else PetscCall(MakeOnDevice(s));
  PetscCall(Upload(NULL, bytes, &s->dx));
  PetscCall(Upload(NULL, bytes, &s->dy));
  PetscCall(Upload(NULL, 2 * sizeof(double), &s->largest));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays on the device, which are computed from the matrix and its factor. */
PetscErrorCode SubjectUpload(Subject *s)
{
  const Case  *c = &s->c;
  const size_t n = (size_t)c->n, nnz = (size_t)c->csr.nnz;
  double      *v = s->copy;

  PetscFunctionBegin;
  if (!c->ref) {
    PetscCall(UploadBrief(s));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CSRUpload(&c->csr, &s->device));
  /* smaller beside the diagonal: what was dominant stays so */
  for (PetscInt i = 0; i < c->n; i++) {
    for (PetscInt k = c->csr.i[i]; k < c->csr.i[i + 1]; k++) v[k] = c->csr.a[k] * (c->csr.j[k] == i ? 1.0 : 0.9);
  }
  PetscCall(Upload(v, sizeof(double) * nnz, &s->other));
  PetscCall(UploadFactor(s));
  PetscCall(Upload(NULL, sizeof(double) * n * (size_t)s->columns, &s->db));
  PetscCall(Upload(NULL, sizeof(double) * n * (size_t)s->columns, &s->dx));
  PetscCall(Upload(NULL, sizeof(double) * n * (size_t)s->columns, &s->dy));
  for (PetscInt r = 0; r < s->columns; r++) {
    for (PetscInt i = 0; i < c->n; i++) v[i] = Scale(r) * c->b[i];
    PetscCallCUDA(cudaMemcpy(s->db + (size_t)r * n, v, sizeof(double) * n, cudaMemcpyHostToDevice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HasDiagonal(Mat A, PetscBool *has)
{
  const PetscInt *i, *j;
  PetscInt        n;
  PetscBool       done;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No access to the rows");
  *has = PETSC_TRUE;
  for (PetscInt row = 0; row < n && *has; row++) {
    PetscInt at;

    PetscCall(PetscFindInt(row, i[row + 1] - i[row], j + i[row], &at));
    *has = (PetscBool)(at >= 0);
  }
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix of the generator of tests, or a mesh's (mesh.h). */
static PetscErrorCode Generate(const char *name, PetscRandom rand, Mat *A, PetscInt *block)
{
  MeshProblem problem;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(MeshParse(name, &problem, &n));
  if (problem < MESH_PROBLEMS) {
    PetscCall(MeshCreate(PETSC_COMM_SELF, problem, n, A));
    *block = problem == MESH_ELASTICITY ? 3 : 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(GenerateMatrix(name, 100000, rand, A));
  PetscCall(GenerateUnknowns(name, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of a name whose rows the device can make; its count is 0 if it is none. */
static PetscErrorCode FindGrid(const char *name, StencilGrid *g)
{
  MeshProblem problem;
  PetscInt    n;

  PetscFunctionBegin;
  PetscCall(MeshParse(name, &problem, &n));
  if (problem == MESH_PROBLEMS) PetscCall(GenerateStencil(name, 100000, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A case without the serial reference, which takes most of the time: cuSPARSE is to give a factor and a solution.
   Rows of a grid are left to the device.
*/
static PetscErrorCode CaseBrief(Mat A, const StencilGrid *g, PetscRandom rand, Case *c)
{
  PetscBool done;

  PetscFunctionBegin;
  c->A = A;
  if (A) {
    PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &c->csr.n, &c->csr.i, &c->csr.j, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "No access to the rows");
    PetscCall(MatSeqAIJGetArrayRead(A, &c->csr.a));
    c->csr.nnz = c->csr.i[c->csr.n];
  } else {
    c->csr.n   = (PetscInt)StencilRows(g);
    c->csr.nnz = (PetscInt)StencilNonzeros(g);
  }
  c->n             = c->csr.n;
  c->nl            = c->csr.nnz - c->n; /* with those of U */
  c->piv.shift     = MAT_SHIFT_NONE;
  c->piv.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  c->status.row    = -1;
  c->nrhs          = 1;
  c->ld            = c->n;
  c->sweeps        = -1;
  c->block         = 1;
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc3(c->n, &c->b, 0, &c->x[0], 0, &c->x[1]));
  for (PetscInt i = 0; i < c->n; i++) PetscCall(PetscRandomGetValue(rand, &c->b[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubjectCreate(const Bench *bench, const char *name, PetscBool file, Subject *s)
{
  PetscRandom rand;
  PetscInt   *level, width;
  PetscBool   diagonal = PETSC_FALSE;

  PetscFunctionBegin;
  /* always the same seed: a matrix does not depend on those before it */
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscRandomSetType(rand, PETSCRAND48));
  if (file) {
    PetscCall(BenchFileName(name, s->name, sizeof(s->name)));
    PetscCall(LoadMatrix(PETSC_COMM_SELF, name, MATSEQAIJ, &s->A));
    PetscCall(MatGetBlockSize(s->A, &s->block));
  } else {
    PetscCall(PetscStrncpy(s->name, name, sizeof(s->name)));
    if (bench->brief) PetscCall(FindGrid(name, &s->grid));
    if (s->grid.count) s->block = s->grid.dof;
    else PetscCall(Generate(name, rand, &s->A, &s->block));
  }
  s->columns = bench->brief ? 1 : COLUMNS;
  if (bench->icc) PetscCall(GenerateSum(s->A));
  if (s->A) PetscCall(HasDiagonal(s->A, &diagonal));
  else diagonal = PETSC_TRUE;
  if (!diagonal) {
    PetscCall(PetscStrncpy(s->unfit, "diagonal entries are missing", sizeof(s->unfit)));
    PetscCall(PetscRandomDestroy(&rand));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (bench->brief) {
    PetscCall(CaseBrief(s->A, &s->grid, rand, &s->c));
    PetscCall(PetscRandomDestroy(&rand));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  BenchProgress("%s: serial reference", s->name);
  PetscCall(CaseCreate(s->A, bench->ordering, bench->levels, 0.0, rand, &s->c));
  PetscCall(PetscRandomDestroy(&rand));
  if (s->c.status.row >= 0) {
    PetscCall(PetscSNPrintf(s->unfit, sizeof(s->unfit), "zero pivot in row %" PetscInt_FMT, s->c.status.row));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(s->c.n, &level));
  PetscCall(SyncILUHostLevels(s->c.n, s->c.pattern.lptr, s->c.pattern.lcol, PETSC_TRUE, level, &s->levels[0], &width));
  PetscCall(SyncILUHostLevels(s->c.n, s->c.pattern.uptr, s->c.pattern.ucol, PETSC_FALSE, level, &s->levels[1], &width));
  PetscCall(PetscFree(level));
  PetscCall(PetscMalloc1(PetscMax(s->c.n, s->c.csr.nnz), &s->copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubjectDestroy(Subject *s)
{
  PetscFunctionBegin;
  if (s->c.A) PetscCall(CaseDestroy(&s->c));
  PetscCall(MatDestroy(&s->A));
  PetscCall(PetscFree(s->copy));
  PetscCall(BaselineFree(s));
  (void)cudaFree((void *)s->device.i);
  (void)cudaFree((void *)s->device.j);
  (void)cudaFree((void *)s->device.a);
  (void)cudaFree(s->other);
  (void)cudaFree(s->factor);
  (void)cudaFree(s->db);
  (void)cudaFree(s->dx);
  (void)cudaFree(s->dy);
  (void)cudaFree(s->want);
  (void)cudaFree(s->largest);
  (void)cudaGetLastError(); /* what failed here failed before, and was reported */
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double SubjectBound(const Bench *bench, const Subject *s, Phase phase)
{
  const double n = s->c.n, nnz = (double)s->c.nl + s->c.nu + n, both = s->levels[0] + s->levels[1];
  double       bytes, levels;

  switch (phase) {
  case ANALYSIS: /* reads the pattern, that of the factor; the levels of L and U do not wait for each other */
    bytes  = 4 * (nnz + n + 1);
    levels = PetscMax(s->levels[0], s->levels[1]);
    break;
  case FIRST:
  case REFACTOR: /* reads the pattern and the values, writes the factor */
    bytes  = 12.0 * s->c.csr.nnz + 8 * nnz + 4 * (n + 1);
    levels = s->levels[0];
    break;
  case SOLVE:
  case TRANSPOSED: /* reads the factor with its diagonal, and each triangle reads a vector and writes one */
    bytes  = 12 * (nnz - n) + 8 * n + 32 * n;
    levels = both;
    break;
  case MANY:
    bytes  = 12 * (nnz - n) + 8 * n + 32 * n * COLUMNS;
    levels = both;
    break;
  default:
    return NAN;
  }
  return PetscMax(bytes / bench->bandwidth, levels * HOP);
}

/* The same against the first solution that there was. */
static PetscErrorCode CheckBrief(Subject *s, double *error)
{
  const size_t bytes = sizeof(double) * (size_t)s->c.n;
  double       largest[2];

  PetscFunctionBegin;
  *error = NAN;
  if (s->want) {
    PetscCallCUDA(cudaMemset(s->largest, 0, sizeof(largest)));
    PetscCallCUDA(OnDeviceCompare((int)s->c.n, s->dx, s->want, s->largest));
    PetscCallCUDA(cudaMemcpy(largest, s->largest, sizeof(largest), cudaMemcpyDeviceToHost));
    *error = isnan(largest[0]) ? INFINITY : largest[1] > 0 ? largest[0] / largest[1] : largest[0];
  } else {
    PetscCall(Upload(NULL, bytes, &s->want));
    PetscCallCUDA(cudaMemcpy(s->want, s->dx, bytes, cudaMemcpyDeviceToDevice));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SubjectCheck(Subject *s, Phase phase, double *error)
{
  const size_t   n      = (size_t)s->c.n;
  const PetscInt column = phase == MANY ? COLUMNS - 1 : 0;
  const double  *x = s->c.x[phase == TRANSPOSED || phase == TFIRST], scale = Scale(column);
  double         max = 0.0, diff = 0.0;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceSynchronize());
  if (!s->c.ref) PetscCall(CheckBrief(s, error));
  else {
    PetscCallCUDA(cudaMemcpy(s->copy, s->dx + (size_t)column * n, sizeof(double) * n, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
      const double d = fabs(s->copy[i] - scale * x[i]);

      max = PetscMax(max, fabs(scale * x[i]));
      if (!(d <= diff)) diff = d; /* keeps a NaN, then finds it below */
      if (isnan(diff)) break;
    }
    *error = isnan(diff) ? INFINITY : max > 0 ? diff / max : diff;
  }
  /* what follows must not find this result in place of its own */
  PetscCallCUDA(cudaMemset(s->dx, 0xff, sizeof(double) * n * (size_t)s->columns));
  PetscCallCUDA(cudaDeviceSynchronize()); /* PETSc's stream does not wait for the default stream */
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
