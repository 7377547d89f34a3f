#include "case.h"
#include "check.h"

PetscErrorCode CaseCreate(Mat A, const char *ordering, PetscInt levels, PetscReal relax, PetscRandom rand, Case *c)
{
  IS              row, col;
  const PetscInt *r, *q;
  PetscBool       done, natural;
  SyncILUFill     fill;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  fill.levels        = levels;
  fill.diagonal_fill = 0;
  c->A               = A;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &c->csr.n, &c->csr.i, &c->csr.j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &c->csr.a));
  c->csr.nnz = c->csr.i[c->csr.n];
  PetscCall(MatGetOrdering(A, ordering, &row, &col));
  PetscCall(ISGetIndices(row, &r));
  PetscCall(ISGetIndices(col, &q));
  PetscCall(PetscStrcmp(ordering, MATORDERINGNATURAL, &natural));
  PetscCall(SyncILUPatternCreate(&c->csr, natural ? NULL : r, natural ? NULL : q, fill, &c->pattern));
  PetscCall(ISRestoreIndices(row, &r));
  PetscCall(ISRestoreIndices(col, &q));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  c->n             = c->csr.n;
  c->nl            = c->pattern.lptr[c->n];
  c->nu            = c->pattern.uptr[c->n];
  c->piv.shift     = MAT_SHIFT_NONE;
  c->piv.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  c->piv.amount    = 0.0;
  c->piv.relax     = relax;
  PetscCall(PetscMalloc1(c->nl + c->nu + c->n, &c->ref));
  PetscCall(SyncILUReferenceFactor(&c->pattern, &c->csr, &c->piv, c->ref, c->ref + c->nl, c->ref + c->nl + c->nu, &c->status));
  c->nrhs = c->n > BIG ? 1 : NRHS;
  c->ld   = (c->n + 3) | 1;
  PetscCall(PetscMalloc3(c->ld * NRHS, &c->b, c->ld * NRHS, &c->x[0], c->ld * NRHS, &c->x[1]));
  for (PetscInt k = 0; k < c->ld * NRHS; k++) {
    PetscCall(PetscRandomGetValue(rand, &c->b[k]));
    c->x[0][k] = c->x[1][k] = 0.0;
  }
  for (PetscInt t = 0; t < 2; t++) {
    for (PetscInt k = 0; k < c->nrhs; k++) PetscCall(SyncILUReferenceSolve(&c->pattern, c->ref, c->ref + c->nl, c->ref + c->nl + c->nu, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, c->b + k * c->ld, c->x[t] + k * c->ld));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CaseDestroy(Case *c)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArrayRead(c->A, &c->csr.a));
  PetscCall(MatRestoreRowIJ(c->A, 0, PETSC_FALSE, PETSC_FALSE, &c->csr.n, &c->csr.i, &c->csr.j, &done));
  PetscCall(SyncILUPatternDestroy(&c->pattern));
  PetscCall(PetscFree(c->ref));
  PetscCall(PetscFree3(c->b, c->x[0], c->x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PatternCopy(const SyncILUPattern *p, SyncILUPattern *q)
{
  PetscFunctionBegin;
  *q = *p;
  PetscCall(PetscMalloc1(p->n + 1, &q->lptr));
  PetscCall(PetscMalloc1(p->n + 1, &q->uptr));
  PetscCall(PetscMalloc1(p->lptr[p->n], &q->lcol));
  PetscCall(PetscMalloc1(p->uptr[p->n], &q->ucol));
  PetscCall(PetscArraycpy(q->lptr, p->lptr, p->n + 1));
  PetscCall(PetscArraycpy(q->uptr, p->uptr, p->n + 1));
  PetscCall(PetscArraycpy(q->lcol, p->lcol, p->lptr[p->n]));
  PetscCall(PetscArraycpy(q->ucol, p->ucol, p->uptr[p->n]));
  if (p->row) {
    PetscCall(PetscMalloc1(p->n, &q->row));
    PetscCall(PetscMalloc1(p->n, &q->col));
    PetscCall(PetscMalloc1(p->n, &q->colinv));
    PetscCall(PetscArraycpy(q->row, p->row, p->n));
    PetscCall(PetscArraycpy(q->col, p->col, p->n));
    PetscCall(PetscArraycpy(q->colinv, p->colinv, p->n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EngineCreate(const SyncILUSettings *settings, SyncILUPattern *pattern, SyncILUEngine *e)
{
  PetscBool again;

  PetscFunctionBegin;
  PetscCall(SyncILUEngineCreate(settings, pattern->n, e));
  (*e)->pattern = *pattern;
  PetscCall(SyncILUEngineSetUp(*e, &again));
  PetscCheck(!again, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The backend %s asked for another one", SyncILUBackends[(*e)->ops->backend]);
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
