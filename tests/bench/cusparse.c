/*
   The baseline: factorizations and triangular solves of cuSPARSE.
*/
#include <string.h>
#include <petsctime.h>
#include "kernels.h"
#if defined(BENCH_KERNELS)
  #include "bsr.h"
  #include "cusparse_algorithms.h"

  #define CSRILU02_MOST (1 << 30)

/* cuSPARSE allocates inside too: what it holds is what the device has less. */
static PetscErrorCode FreeBytes(double *bytes)
{
  size_t free, total;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCallCUDA(cudaMemGetInfo(&free, &total));
  *bytes = (double)free;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Factorizations: csrilu02, or csric02 of the lower triangle of the same matrix. */
typedef struct {
  cusparseHandle_t      handle;
  Subject              *s;
  cusparseSolvePolicy_t policy;
  PetscBool             cholesky;
  cusparseMatDescr_t    descr;
  csrilu02Info_t        info;
  csric02Info_t         icc;
  void                 *buffer;
  double               *factor;
  double                call; /* the last analysis alone */
} Csr02;

static PetscErrorCode Csr02Reset(Csr02 *c)
{
  PetscFunctionBegin;
  if (c->info) (void)cusparseDestroyCsrilu02Info(c->info);
  if (c->icc) (void)cusparseDestroyCsric02Info(c->icc);
  if (c->descr) (void)cusparseDestroyMatDescr(c->descr);
  (void)cudaFree(c->buffer);
  (void)cudaFree(c->factor);
  (void)cudaGetLastError();
  c->info   = NULL;
  c->icc    = NULL;
  c->descr  = NULL;
  c->buffer = NULL;
  c->factor = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Csr02Analyze(void *ctx)
{
  Csr02            *c = (Csr02 *)ctx;
  const SyncILUCSR *d = &c->s->device;
  int               size;
  PetscLogDouble    t0, t1;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseCreateMatDescr(&c->descr));
  if (c->cholesky) PetscCallCUSPARSE(cusparseCreateCsric02Info(&c->icc));
  else PetscCallCUSPARSE(cusparseCreateCsrilu02Info(&c->info));
  PetscCallCUDA(cudaMalloc((void **)&c->factor, sizeof(double) * (size_t)d->nnz));
  if (c->cholesky) PetscCallCUSPARSE(cusparseDcsric02_bufferSize(c->handle, d->n, d->nnz, c->descr, c->factor, d->i, d->j, c->icc, &size));
  else PetscCallCUSPARSE(cusparseDcsrilu02_bufferSize(c->handle, d->n, d->nnz, c->descr, c->factor, d->i, d->j, c->info, &size));
  PetscCheck(size >= 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "The size of its buffer is %d", size);
  PetscCallCUDA(cudaMalloc(&c->buffer, (size_t)PetscMax(size, 1)));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t0));
  if (c->cholesky) PetscCallCUSPARSE(cusparseDcsric02_analysis(c->handle, d->n, d->nnz, c->descr, d->a, d->i, d->j, c->icc, c->policy, c->buffer));
  else PetscCallCUSPARSE(cusparseDcsrilu02_analysis(c->handle, d->n, d->nnz, c->descr, d->a, d->i, d->j, c->info, c->policy, c->buffer));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t1));
  c->call = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* It factors in place. The copy is not part of its time, though a preconditioner needs it. */
static PetscErrorCode Csr02Copy(void *ctx)
{
  Csr02            *c = (Csr02 *)ctx;
  const SyncILUCSR *d = &c->s->device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemcpy(c->factor, d->a, sizeof(double) * (size_t)d->nnz, cudaMemcpyDeviceToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Csr02Factor(void *ctx)
{
  Csr02            *c = (Csr02 *)ctx;
  const SyncILUCSR *d = &c->s->device;

  PetscFunctionBegin;
  if (c->cholesky) PetscCallCUSPARSE(cusparseDcsric02(c->handle, d->n, d->nnz, c->descr, c->factor, d->i, d->j, c->icc, c->policy, c->buffer));
  else PetscCallCUSPARSE(cusparseDcsrilu02(c->handle, d->n, d->nnz, c->descr, c->factor, d->i, d->j, c->info, c->policy, c->buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Entries of a row of L or of U against the reference's, relative to the largest of them; a NaN is an
   infinite error.
*/
static double RowError(PetscInt n, const double *got, const double *want)
{
  double diff = 0.0, max = 0.0;

  for (PetscInt k = 0; k < n; k++) {
    if (isnan(got[k])) return INFINITY;
    diff = fmax(diff, fabs(got[k] - want[k]));
    max  = fmax(max, fabs(want[k]));
  }
  return diff > 0.0 ? diff / max : 0.0;
}

static PetscErrorCode Csr02Check(Csr02 *c, double *error)
{
  Subject              *s = c->s;
  const SyncILUPattern *q = &s->c.pattern;
  double               *want;

  PetscFunctionBegin;
  if (!s->c.ref) PetscFunctionReturn(PETSC_SUCCESS); /* solutions with it are compared */
  PetscCallCUDA(cudaMemcpy(s->copy, c->factor, sizeof(double) * (size_t)s->c.csr.nnz, cudaMemcpyDeviceToHost));
  PetscCall(PetscMalloc1(s->c.n, &want));
  *error = 0.0;
  for (PetscInt i = 0; i < s->c.n; i++) {
    const PetscInt nl = q->lptr[i + 1] - q->lptr[i], nu = q->uptr[i + 1] - q->uptr[i];
    const double  *row = s->copy + s->c.csr.i[i];

    if (c->cholesky) { /* L is scaled by the square roots of the pivots, and what is right of its diagonal does not count */
      const double *dinv = s->c.ref + s->c.nl + s->c.nu;

      for (PetscInt k = 0; k < nl; k++) want[k] = s->c.ref[q->lptr[i] + k] / sqrt(dinv[q->lcol[q->lptr[i] + k]]);
      want[nl] = 1.0 / sqrt(dinv[i]);
      *error   = fmax(*error, RowError(nl + 1, row, want));
      continue;
    }
    *error  = fmax(*error, RowError(nl, row, s->c.ref + q->lptr[i]));
    want[0] = 1.0 / s->c.ref[s->c.nl + s->c.nu + i];
    for (PetscInt k = 0; k < nu; k++) want[1 + k] = s->c.ref[s->c.nl + q->uptr[i] + k];
    *error = fmax(*error, RowError(nu + 1, row + nl, want));
  }
  PetscCall(PetscFree(want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Csr02Measure(const Bench *bench, Csr02 *c, Row *row)
{
  BenchSample analysis = {0}, first = {0}, call = {0};
  double      seconds = 0.0, before, after;

  PetscFunctionBegin;
  for (PetscInt r = bench->brief ? 0 : -1; r < 0 || BenchMore(r, bench->brief ? 1 : bench->repeat, seconds, bench->limit); r++) {
    double a = 0.0, f = 0.0;

    PetscCall(Csr02Reset(c));
    PetscCall(FreeBytes(&before));
    PetscCall(TimeCall(NULL, Csr02Analyze, c, &a));
    if (!bench->brief) PetscCall(TimeCall(Csr02Copy, Csr02Factor, c, &f));
    if (r < 0) continue;
    analysis.t[analysis.n++] = a;
    first.t[first.n++]       = f;
    call.t[call.n++]         = c->call;
    seconds += a + f;
  }
  PetscCall(FreeBytes(&after));
  row->bytes = before - after;
  row->call  = BenchMedian(&call);
  PetscCall(TimeKeep(row, ANALYSIS, &analysis));
  if (!bench->brief) PetscCall(TimeKeep(row, FIRST, &first));
  PetscCall(Csr02Check(c, &row->error[FIRST]));
  PetscCall(TimeOnHost(bench, row, REFACTOR, Csr02Copy, Csr02Factor, c));
  PetscCall(Csr02Check(c, &row->error[REFACTOR]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureFactorization(const Bench *bench, PetscBool cholesky, int policy, Subject *s, Row *row)
{
  Csr02 c;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&c, sizeof(c)));
  c.handle   = bench->handle;
  c.s        = s;
  c.policy   = (cusparseSolvePolicy_t)policy;
  c.cholesky = cholesky;
  BenchTry(Csr02Measure(bench, &c, row), row->why, sizeof(row->why), &row->failed);
  if (!row->failed && !s->factor) { /* in brief the other rows solve with it */
    s->factor = c.factor;
    c.factor  = NULL;
  }
  PetscCall(Csr02Reset(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureCsrilu02(const Bench *bench, int policy, Subject *s, Row *row)
{
  return MeasureFactorization(bench, PETSC_FALSE, policy, s, row);
}

static PetscErrorCode MeasureCsric02(const Bench *bench, int policy, Subject *s, Row *row)
{
  return MeasureFactorization(bench, PETSC_TRUE, policy, s, row);
}

/* The two triangular solves by SpSV, or of many right-hand sides by SpSM. */
typedef struct {
  cusparseHandle_t     handle;
  Subject             *s;
  PetscBool            many;
  int                  algorithm;
  cusparseOperation_t  op;
  cusparseSpMatDescr_t matrix[2]; /* L, U */
  cusparseDnVecDescr_t vec[3];    /* b, y, x */
  cusparseDnMatDescr_t mat[3];
  cusparseSpSVDescr_t  spsv[2]; /* in the order of the solves, as are the next two */
  cusparseSpSMDescr_t  spsm[2];
  void                *buffer[2];
  double               call;
} Triangles;

static PetscErrorCode TrianglesReset(Triangles *t)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    if (t->spsv[k]) (void)cusparseSpSV_destroyDescr(t->spsv[k]);
    if (t->spsm[k]) (void)cusparseSpSM_destroyDescr(t->spsm[k]);
    if (t->matrix[k]) (void)cusparseDestroySpMat(t->matrix[k]);
    (void)cudaFree(t->buffer[k]);
    t->spsv[k]   = NULL;
    t->spsm[k]   = NULL;
    t->matrix[k] = NULL;
    t->buffer[k] = NULL;
  }
  for (int k = 0; k < 3; k++) {
    if (t->vec[k]) (void)cusparseDestroyDnVec(t->vec[k]);
    if (t->mat[k]) (void)cusparseDestroyDnMat(t->mat[k]);
    t->vec[k] = NULL;
    t->mat[k] = NULL;
  }
  (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The triangle of the k-th solve: L first, but U^T first. */
static cusparseSpMatDescr_t TrianglesMatrix(const Triangles *t, int k)
{
  return t->matrix[t->op == CUSPARSE_OPERATION_NON_TRANSPOSE ? k : 1 - k];
}

static PetscErrorCode TrianglesDescribe(Triangles *t)
{
  Subject          *s    = t->s;
  const SyncILUCSR *d    = &s->device;
  double *const     v[3] = {s->db, s->dy, s->dx};

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    if (t->many) PetscCallCUSPARSE(cusparseCreateDnMat(&t->mat[k], d->n, COLUMNS, d->n, v[k], CUDA_R_64F, CUSPARSE_ORDER_COL));
    else PetscCallCUSPARSE(cusparseCreateDnVec(&t->vec[k], d->n, v[k], CUDA_R_64F));
  }
  for (int k = 0; k < 2; k++) {
    cusparseFillMode_t uplo = k ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diag = k ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;

    PetscCallCUSPARSE(cusparseCreateCsr(&t->matrix[k], d->n, d->n, d->nnz, (void *)d->i, (void *)d->j, s->factor, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                        CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix[k], CUSPARSE_SPMAT_FILL_MODE, &uplo, sizeof(uplo)));
    PetscCallCUSPARSE(cusparseSpMatSetAttribute(t->matrix[k], CUSPARSE_SPMAT_DIAG_TYPE, &diag, sizeof(diag)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpSVAnalyze(Triangles *t, int k)
{
  const double            one = 1.0;
  const cusparseSpSVAlg_t alg = (cusparseSpSVAlg_t)t->algorithm;
  cusparseSpMatDescr_t    A   = TrianglesMatrix(t, k);
  size_t                  size;
  PetscLogDouble          t0, t1;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseSpSV_createDescr(&t->spsv[k]));
  PetscCallCUSPARSE(cusparseSpSV_bufferSize(t->handle, t->op, &one, A, t->vec[k], t->vec[k + 1], CUDA_R_64F, alg, t->spsv[k], &size));
  PetscCallCUDA(cudaMalloc(&t->buffer[k], size ? size : 1));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t0));
  PetscCallCUSPARSE(cusparseSpSV_analysis(t->handle, t->op, &one, A, t->vec[k], t->vec[k + 1], CUDA_R_64F, alg, t->spsv[k], t->buffer[k]));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t1));
  t->call += t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpSMAnalyze(Triangles *t, int k)
{
  const double              one = 1.0;
  const cusparseSpSMAlg_t   alg = (cusparseSpSMAlg_t)t->algorithm;
  const cusparseOperation_t as  = CUSPARSE_OPERATION_NON_TRANSPOSE; /* of the right-hand sides */
  cusparseSpMatDescr_t      A   = TrianglesMatrix(t, k);
  size_t                    size;
  PetscLogDouble            t0, t1;

  PetscFunctionBegin;
  PetscCallCUSPARSE(cusparseSpSM_createDescr(&t->spsm[k]));
  PetscCallCUSPARSE(cusparseSpSM_bufferSize(t->handle, t->op, as, &one, A, t->mat[k], t->mat[k + 1], CUDA_R_64F, alg, t->spsm[k], &size));
  PetscCallCUDA(cudaMalloc(&t->buffer[k], size ? size : 1));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t0));
  PetscCallCUSPARSE(cusparseSpSM_analysis(t->handle, t->op, as, &one, A, t->mat[k], t->mat[k + 1], CUDA_R_64F, alg, t->spsm[k], t->buffer[k]));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t1));
  t->call += t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TrianglesAnalyze(void *ctx)
{
  Triangles *t = (Triangles *)ctx;

  PetscFunctionBegin;
  t->call = 0.0;
  PetscCall(TrianglesDescribe(t));
  for (int k = 0; k < 2; k++) {
    if (t->many) PetscCall(SpSMAnalyze(t, k));
    else PetscCall(SpSVAnalyze(t, k));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TrianglesSolve(void *ctx)
{
  Triangles                *t   = (Triangles *)ctx;
  const double              one = 1.0;
  const cusparseOperation_t as  = CUSPARSE_OPERATION_NON_TRANSPOSE;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    cusparseSpMatDescr_t A = TrianglesMatrix(t, k);

    if (t->many)
      PetscCallCUSPARSE(cusparseSpSM_solve(t->handle, t->op, as, &one, A, t->mat[k], t->mat[k + 1], CUDA_R_64F, (cusparseSpSMAlg_t)t->algorithm, t->spsm[k]));
    else PetscCallCUSPARSE(cusparseSpSV_solve(t->handle, t->op, &one, A, t->vec[k], t->vec[k + 1], CUDA_R_64F, (cusparseSpSVAlg_t)t->algorithm, t->spsv[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

  #if CUSPARSE_VERSION >= 12100
static PetscErrorCode TrianglesUpdate(void *ctx)
{
  Triangles *t = (Triangles *)ctx;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCallCUSPARSE(cusparseSpSV_updateMatrix(t->handle, t->spsv[k], t->s->factor, CUSPARSE_SPSV_UPDATE_GENERAL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
  #endif

/* Analysis and solves with one operation; their times go to the two phases. */
static PetscErrorCode TrianglesMeasure(const Bench *bench, Triangles *t, Row *row, Phase analysis, Phase solve)
{
  BenchSample s = {0}, call = {0};
  double      seconds = 0.0, before, after;

  PetscFunctionBegin;
  PetscCheck(t->s->factor, PETSC_COMM_SELF, PETSC_ERR_LIB, "There is no factor");
  t->op = solve == TRANSPOSED ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
  for (PetscInt r = bench->brief ? 0 : -1; r < 0 || BenchMore(r, bench->brief ? 1 : bench->repeat, seconds, bench->limit); r++) {
    double a = 0.0;

    PetscCall(TrianglesReset(t));
    PetscCall(FreeBytes(&before));
    PetscCall(TimeCall(NULL, TrianglesAnalyze, t, &a));
    if (r < 0) continue;
    s.t[s.n++]       = a;
    call.t[call.n++] = t->call;
    seconds += a;
  }
  PetscCall(FreeBytes(&after));
  PetscCall(TimeKeep(row, analysis, &s));
  if (analysis == ANALYSIS) {
    row->bytes = before - after;
    row->call  = BenchMedian(&call);
  }
  PetscCall(TimeOnStream(bench, row, solve, TrianglesSolve, t));
  PetscCall(SubjectCheck(t->s, solve, &row->error[solve]));
  #if CUSPARSE_VERSION >= 12100
  if (solve == SOLVE && !bench->brief) { /* not every algorithm can */
    PetscBool cannot;

    BenchTry(TimeOnStream(bench, row, UPDATE, TrianglesUpdate, t), row->why, sizeof(row->why), &cannot);
    if (cannot) row->time[UPDATE] = NAN;
  }
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SpSVMeasure(const Bench *bench, Triangles *t, Row *row)
{
  PetscFunctionBegin;
  PetscCall(TrianglesMeasure(bench, t, row, ANALYSIS, SOLVE));
  if (!bench->brief) PetscCall(TrianglesMeasure(bench, t, row, TANALYSIS, TRANSPOSED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureTriangles(const Bench *bench, PetscBool many, int algorithm, Subject *s, Row *row)
{
  Triangles t;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&t, sizeof(t)));
  t.handle    = bench->handle;
  t.s         = s;
  t.many      = many;
  t.algorithm = algorithm;
  if (many) BenchTry(TrianglesMeasure(bench, &t, row, ANALYSIS, MANY), row->why, sizeof(row->why), &row->failed);
  else BenchTry(SpSVMeasure(bench, &t, row), row->why, sizeof(row->why), &row->failed);
  PetscCall(TrianglesReset(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureSpSV(const Bench *bench, int algorithm, Subject *s, Row *row)
{
  return MeasureTriangles(bench, PETSC_FALSE, algorithm, s, row);
}

static PetscErrorCode MeasureSpSM(const Bench *bench, int algorithm, Subject *s, Row *row)
{
  return MeasureTriangles(bench, PETSC_TRUE, algorithm, s, row);
}

/* The same in blocks: bsrilu02, or the solves by bsrsv2. */
typedef struct {
  cusparseHandle_t      handle;
  Subject              *s;
  cusparseSolvePolicy_t policy;
  BSR                   bsr;
  double                solves; /* s that the analysis of the solves took */
} Blocks;

static PetscErrorCode BlocksAnalyzeFactor(void *ctx)
{
  return BSRAnalyzeFactor(&((Blocks *)ctx)->bsr);
}

static PetscErrorCode BlocksAnalyzeSolves(void *ctx)
{
  return BSRAnalyzeSolves(&((Blocks *)ctx)->bsr);
}

/* As Csr02Copy(), by conversion: no other copy of the blocks need have room. */
static PetscErrorCode BlocksCopy(void *ctx)
{
  Blocks           *b = (Blocks *)ctx;
  const SyncILUCSR *d = &b->s->device;

  return BSRConvert(&b->bsr, d->i, d->j, d->a);
}

static PetscErrorCode BlocksFactor(void *ctx)
{
  return BSRFactor(&((Blocks *)ctx)->bsr);
}

static PetscErrorCode BlocksSolve(void *ctx)
{
  Blocks *b = (Blocks *)ctx;

  return BSRSolve(&b->bsr, b->s->db, b->s->dy, b->s->dx);
}

static PetscErrorCode BlocksStart(Blocks *b, PetscBool factor)
{
  const SyncILUCSR *d = &b->s->device;

  PetscFunctionBegin;
  PetscCall(BSRDestroy(&b->bsr));
  PetscCall(BSRCreate(&b->bsr, b->handle, b->policy, d->n, b->s->block, d->i, d->j));
  PetscCall(BSRConvert(&b->bsr, d->i, d->j, factor ? b->s->factor : d->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   An analysis is measured once, since where it takes long, it takes very long. One before that loads kernels, but
   in brief.
*/
static PetscErrorCode BlocksAnalysis(const Bench *bench, Blocks *b, PetscBool factor, Action analyze, Row *row)
{
  BenchSample analysis = {0};
  double      before, after;

  PetscFunctionBegin;
  for (int r = bench->brief ? 1 : 0; r < 2; r++) {
    PetscCall(BSRDestroy(&b->bsr));
    PetscCall(FreeBytes(&before));
    PetscCall(BlocksStart(b, factor));
    PetscCall(TimeCall(NULL, analyze, b, &analysis.t[0]));
  }
  PetscCall(FreeBytes(&after));
  analysis.n = 1;
  row->bytes = before - after;
  row->call  = analysis.t[0];
  PetscCall(TimeKeep(row, ANALYSIS, &analysis));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bsrilu02Measure(const Bench *bench, Blocks *b, Row *row)
{
  PetscFunctionBegin;
  PetscCall(BlocksAnalysis(bench, b, PETSC_FALSE, BlocksAnalyzeFactor, row));
  PetscCall(TimeOnHost(bench, row, REFACTOR, BlocksCopy, BlocksFactor, b));
  PetscCall(TimeCall(NULL, BlocksAnalyzeSolves, b, &b->solves));
  PetscCall(BlocksSolve(b));
  PetscCall(SubjectCheck(b->s, SOLVE, &row->error[REFACTOR]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Bsrsv2Measure(const Bench *bench, Blocks *b, Row *row)
{
  PetscFunctionBegin;
  if (bench->brief) {
    PetscCheck(b->solves > 0.0, PETSC_COMM_SELF, PETSC_ERR_LIB, "There is no factor");
    row->time[ANALYSIS] = row->call = b->solves;
  } else PetscCall(BlocksAnalysis(bench, b, PETSC_TRUE, BlocksAnalyzeSolves, row));
  PetscCall(TimeOnStream(bench, row, SOLVE, BlocksSolve, b));
  PetscCall(SubjectCheck(b->s, SOLVE, &row->error[SOLVE]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BaselineFree(Subject *s)
{
  PetscFunctionBegin;
  if (s->blocks) PetscCall(BSRDestroy(&((Blocks *)s->blocks)->bsr));
  PetscCall(PetscFree(s->blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In brief the factorization leaves its factor, and the analysis of the solves, to these. */
static PetscErrorCode MeasureBlocks(PetscErrorCode (*measure)(const Bench *, Blocks *, Row *), const Bench *bench, int policy, Subject *s, Row *row)
{
  Blocks *b = (Blocks *)s->blocks;

  PetscFunctionBegin;
  if (!b) {
    PetscCall(PetscNew(&b));
    s->blocks = b;
    b->handle = bench->handle;
    b->s      = s;
    b->policy = (cusparseSolvePolicy_t)policy;
  }
  BenchTry((*measure)(bench, b, row), row->why, sizeof(row->why), &row->failed);
  if (!bench->brief || measure != Bsrilu02Measure || row->failed) PetscCall(BaselineFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureBsrilu02(const Bench *bench, int policy, Subject *s, Row *row)
{
  return MeasureBlocks(Bsrilu02Measure, bench, policy, s, row);
}

static PetscErrorCode MeasureBsrsv2(const Bench *bench, int policy, Subject *s, Row *row)
{
  return MeasureBlocks(Bsrsv2Measure, bench, policy, s, row);
}

/*
   All that cuSPARSE offers, with the algorithms that its header declares. The best row of a phase is what ours
   is compared with. In brief solves take the factor of the factorization before them, and blocks come first:
   their functions take larger matrices.
*/
  #define SPSV(name, value) {name, MeasureSpSV, value},
  #define SPSM(name, value) {name, MeasureSpSM, value},
static const struct {
  const char *name;
  PetscErrorCode (*measure)(const Bench *, int, Subject *, Row *);
  int choice; /* policy or algorithm */
} baselines[] = {
  {"bsrilu02 level",    MeasureBsrilu02, CUSPARSE_SOLVE_POLICY_USE_LEVEL},
  {"bsrilu02 no level", MeasureBsrilu02, CUSPARSE_SOLVE_POLICY_NO_LEVEL },
  {"bsrsv2 level",      MeasureBsrsv2,   CUSPARSE_SOLVE_POLICY_USE_LEVEL},
  {"bsrsv2 no level",   MeasureBsrsv2,   CUSPARSE_SOLVE_POLICY_NO_LEVEL },
  {"csrilu02 level",    MeasureCsrilu02, CUSPARSE_SOLVE_POLICY_USE_LEVEL},
  {"csrilu02 no level", MeasureCsrilu02, CUSPARSE_SOLVE_POLICY_NO_LEVEL },
  {"csric02 level",     MeasureCsric02,  CUSPARSE_SOLVE_POLICY_USE_LEVEL},
  {"csric02 no level",  MeasureCsric02,  CUSPARSE_SOLVE_POLICY_NO_LEVEL },
  SPSV_ALGORITHMS(SPSV) SPSM_ALGORITHMS(SPSM)
};

const char *BaselineName(int k)
{
  return k < (int)PETSC_STATIC_ARRAY_LENGTH(baselines) ? baselines[k].name : NULL;
}

/*
   Of the factorizations, those of the kind that ours are; blocks where the matrix has them. In brief those without
   levels are left out, which take up to ten times as long on the grids that it is for, and solves with a factor
   that csrilu02 cannot make: of cuSPARSE 12.9 it ends in a fault, or not at all, with as many nonzeros.
*/
PetscBool BaselineRuns(const Bench *bench, PetscInt nnz, PetscInt block, int k)
{
  const PetscBool rows   = (PetscBool)(baselines[k].measure == MeasureCsrilu02 || (bench->brief && baselines[k].measure == MeasureSpSV));
  const PetscBool blocks = (PetscBool)(baselines[k].measure == MeasureBsrilu02 || baselines[k].measure == MeasureBsrsv2);

  if (baselines[k].measure == (bench->icc ? MeasureCsrilu02 : MeasureCsric02)) return PETSC_FALSE;
  if (rows && nnz >= CSRILU02_MOST) return PETSC_FALSE;
  if (blocks && (block <= 1 || bench->icc)) return PETSC_FALSE;
  if (bench->brief && (baselines[k].measure == MeasureSpSM || strstr(baselines[k].name, "no level"))) return PETSC_FALSE;
  return bench->cusparse;
}

PetscErrorCode MeasureBaseline(const Bench *bench, int k, Subject *s, Row *row)
{
  PetscFunctionBegin;
  PetscCall((*baselines[k].measure)(bench, baselines[k].choice, s, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
