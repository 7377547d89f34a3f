#include "case.h"
#include "check.h"

PetscErrorCode CaseReference(const Case *c, const SyncILUSettings *settings, SyncILUTranspose trans, const PetscScalar *b, PetscScalar *x)
{
  const PetscScalar *l = c->ref, *u = l + c->nl, *dinv = u + c->nu;

  PetscFunctionBegin;
  if (settings->solve == SYNCILU_SOLVE_JACOBI)
    PetscCall(SyncILUReferenceSolveJacobi(&c->pattern, l, u, dinv, settings->solve_sweeps, settings->solve_block_size, trans, b, x));
  else PetscCall(SyncILUReferenceSolve(&c->pattern, l, u, dinv, trans, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseExpect(Case *c, const SyncILUSettings *settings)
{
  const PetscInt sweeps = settings->solve == SYNCILU_SOLVE_JACOBI ? settings->solve_sweeps : -1, block = sweeps < 0 ? 1 : settings->solve_block_size;

  PetscFunctionBegin;
  if (c->sweeps == sweeps && c->block == block) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt t = 0; t < 2; t++) {
    for (PetscInt k = 0; k < c->nrhs; k++) PetscCall(CaseReference(c, settings, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, c->b + k * c->ld, c->x[t] + k * c->ld));
  }
  c->sweeps = sweeps;
  c->block  = block;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseRefer(Case *c, PetscInt sweeps)
{
  SyncILUSettings exact;

  PetscFunctionBegin;
  c->piv.sweeps = sweeps;
  PetscCall(SyncILUReferenceFactor(&c->pattern, &c->csr, &c->piv, c->ref, c->ref + c->nl, c->ref + c->nl + c->nu, &c->status));
  SyncILUSettingsInitialize(&exact);
  c->block = 0; /* what was expected is another factor's */
  PetscCall(CaseExpect(c, &exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseCreate(Mat A, const char *ordering, PetscInt levels, PetscReal relax, PetscRandom rand, Case *c)
{
  IS              row, col;
  const PetscInt *r, *q;
  PetscInt        bs2;
  PetscBool       done, natural, baij;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  c->fill.levels = levels;
  c->A           = A;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQBAIJ, &baij));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, baij, &c->csr.n, &c->csr.i, &c->csr.j, &done));
  if (baij) {
    PetscCall(MatGetBlockSize(A, &c->csr.bs));
    PetscCall(MatSeqBAIJGetArray(A, (PetscScalar **)&c->csr.a));
  } else PetscCall(MatSeqAIJGetArrayRead(A, &c->csr.a));
  c->csr.nnz = c->csr.i[c->csr.n];
  PetscCall(MatGetOrdering(A, ordering, &row, &col));
  PetscCall(ISGetIndices(row, &r));
  PetscCall(ISGetIndices(col, &q));
  PetscCall(PetscStrcmp(ordering, MATORDERINGNATURAL, &natural));
  PetscCall(SyncILUPatternCreate(&c->csr, natural ? NULL : r, natural ? NULL : q, c->fill, &c->pattern));
  PetscCall(ISRestoreIndices(row, &r));
  PetscCall(ISRestoreIndices(col, &q));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  bs2              = c->pattern.bs * c->pattern.bs;
  c->n             = c->csr.n * c->pattern.bs;
  c->nl            = c->pattern.nl * bs2;
  c->nu            = c->pattern.nu * bs2;
  c->piv.shift     = MAT_SHIFT_NONE;
  c->piv.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  c->piv.amount    = 0.0;
  c->piv.relax     = relax;
  PetscCall(PetscMalloc1(c->nl + c->nu + c->csr.n * bs2, &c->ref));
  c->nrhs = c->n > BIG ? 1 : NRHS;
  c->ld   = (c->n + 3) | 1;
  PetscCall(PetscMalloc3(c->ld * NRHS, &c->b, c->ld * NRHS, &c->x[0], c->ld * NRHS, &c->x[1]));
  for (PetscInt k = 0; k < c->ld * NRHS; k++) {
    PetscCall(PetscRandomGetValue(rand, &c->b[k]));
    c->x[0][k] = c->x[1][k] = 0.0;
  }
  PetscCall(CaseRefer(c, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseDestroy(Case *c)
{
  PetscBool done, baij;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)c->A, MATSEQBAIJ, &baij));
  if (baij) PetscCall(MatSeqBAIJRestoreArray(c->A, (PetscScalar **)&c->csr.a));
  else PetscCall(MatSeqAIJRestoreArrayRead(c->A, &c->csr.a));
  PetscCall(MatRestoreRowIJ(c->A, 0, PETSC_FALSE, baij, &c->csr.n, &c->csr.i, &c->csr.j, &done));
  PetscCall(SyncILUPatternDestroy(&c->pattern));
  PetscCall(PetscFree(c->ref));
  PetscCall(PetscFree3(c->b, c->x[0], c->x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Near(PetscScalar a, PetscScalar b, PetscReal most)
{
  return (PetscBool)(PetscAbsScalar(a - b) <= most);
}

PetscInt SolutionFirstDifference(PetscInt n, const PetscScalar *x, const PetscScalar *want, PetscReal tolerance)
{
  PetscReal max = 0.0;
  PetscInt  i;

  for (i = 0; i < n; i++) max = PetscMax(max, PetscAbsScalar(want[i]));
  for (i = 0; i < n && Near(x[i], want[i], tolerance * max); i++) { }
  return i;
}

PetscInt FactorFirstDifference(const Case *c, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *dinv, PetscReal tolerance)
{
  const SyncILUPattern *p    = &c->pattern;
  const PetscScalar    *lref = c->ref, *uref = lref + c->nl, *dref = uref + c->nu;

  for (PetscInt i = 0; i < c->n; i++) {
    PetscReal lmax = 0.0, umax = PetscAbsScalar(1.0 / dref[i]);

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lmax = PetscMax(lmax, PetscAbsScalar(lref[k]));
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) umax = PetscMax(umax, PetscAbsScalar(uref[k]));
    if (!Near(dinv[i], dref[i], tolerance * PetscAbsScalar(dref[i]))) return i;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      if (!Near(lval[k], lref[k], tolerance * lmax)) return i;
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      if (!Near(uval[k], uref[k], tolerance * umax)) return i;
    }
  }
  return c->n;
}

PetscErrorCode CaseGetDevice(PetscBool *device)
{
  PetscFunctionBegin;
  *device = PETSC_FALSE;
#if defined(SYNCILU_HAVE_CUDA)
  {
    char unused[160];

    PetscCall((*SyncILUCUDAOps.available)(device, unused, sizeof(unused)));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysGet(void *ctx, PetscBool device, PetscBool values, SyncILUCSR *csr)
{
  const Arrays *arrays = (const Arrays *)ctx;

  PetscFunctionBegin;
  PetscCheck((device && arrays->device) || arrays->host, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The rows are on a device alone");
  /* as a matrix of PETSc's with 64-bit indices, which is taken from the host */
  if (sizeof(PetscInt) != sizeof(int) && arrays->host) device = PETSC_FALSE;
  *csr = device && arrays->device ? *arrays->device : *arrays->host;
  if (!values) csr->a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ArraysRestore(void *ctx, SyncILUCSR *csr)
{
  PetscFunctionBegin;
  (void)ctx;
  (void)csr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ArraysSource(Arrays *arrays, SyncILUSource *source)
{
  PetscFunctionBegin;
  source->get     = ArraysGet;
  source->restore = ArraysRestore;
  source->ctx     = arrays;
  source->bs      = arrays->host ? SyncILUBlockSize(arrays->host) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EngineCreate(const SyncILUSettings *settings, const Case *c, SyncILUEngine *e)
{
  SyncILUSettings own    = *settings;
  Arrays          arrays = {&c->csr, NULL};
  SyncILUSource   source;

  PetscFunctionBegin;
  /* every backend plans from the pattern of the symbolic phase then, which the reference needs */
  own.check = PETSC_TRUE;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineCreate(&own, c->n, &source, c->pattern.row, c->pattern.col, c->fill, e));
  (*e)->settings.check = settings->check;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EngineFactor(SyncILUEngine e, const SyncILUCSR *host, const SyncILUCSR *device, const MatFactorInfo *info)
{
  Arrays        arrays = {host, device};
  SyncILUSource source;

  PetscFunctionBegin;
  PetscCall(ArraysSource(&arrays, &source));
  PetscCall(SyncILUEngineFactor(e, &source, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EngineView(SyncILUEngine e, char *text, size_t len)
{
  PetscViewer viewer;
  FILE       *f;

  PetscFunctionBegin;
  PetscCall(CheckViewBegin(PETSC_COMM_SELF, &viewer, &f));
  PetscCall((*e->ops->view)(e, viewer));
  PetscCall(CheckViewEnd(&viewer, f, text, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}
