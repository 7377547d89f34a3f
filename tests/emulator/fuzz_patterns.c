static char help[] = "Random patterns with random settings of the CUDA backend: factors and solutions are the serial reference's.\n\n\
  -seeds <n>  so many matrices, 10 by default, each with three engines\n\
  -first <s>  the first seed, 1 by default\n\n";

#include "check.h"
#include "fuzz.h"

enum {
  ENGINES = 3, /* of a matrix */
  SOLVES  = 4  /* of a factor */
};

#define TOLERANCE 1e-11

static PetscBool Near(PetscScalar a, PetscScalar b, PetscReal scale)
{
  return (PetscBool)(PetscAbsScalar(a - b) <= TOLERANCE * scale);
}

/* The first row whose values differ from the reference's by more than rounding explains; -1: none. */
static PetscInt RowThatDiffers(const Case *c, const PetscScalar *lval, const PetscScalar *uval, const PetscScalar *dinv)
{
  const SyncILUPattern *p    = &c->pattern;
  const PetscScalar    *lref = c->ref, *uref = lref + c->nl, *dref = uref + c->nu;

  for (PetscInt i = 0; i < c->n; i++) {
    PetscReal lmax = 0.0, umax = PetscAbsScalar(1.0 / dref[i]);

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) lmax = PetscMax(lmax, PetscAbsScalar(lref[k]));
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) umax = PetscMax(umax, PetscAbsScalar(uref[k]));
    if (!Near(dinv[i], dref[i], PetscAbsScalar(dref[i]))) return i;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      if (!Near(lval[k], lref[k], lmax)) return i;
    }
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) {
      if (!Near(uval[k], uref[k], umax)) return i;
    }
  }
  return -1;
}

static PetscErrorCode TestSolve(SyncILUEngine e, const Case *c, PetscScalar *x)
{
  const SyncILUTranspose trans  = FuzzOnce(2) ? SYNCILU_TRANS : SYNCILU_NOTRANS;
  const PetscInt         nrhs   = FuzzOnce(2) ? 1 : 1 + FuzzBelow((int)c->nrhs);
  const PetscBool        device = FuzzOnce(2), inplace = FuzzOnce(3);
  const PetscScalar     *ref = c->x[trans == SYNCILU_TRANS];
  PetscInt               row = -1, column = 0;

  PetscFunctionBegin;
  PetscCall(FuzzSolve(e, c, trans, nrhs, device, inplace, x));
  for (PetscInt r = 0; r < nrhs && row < 0; r++) {
    PetscReal max = 0.0;

    for (PetscInt i = 0; i < c->n; i++) max = PetscMax(max, PetscAbsScalar(ref[r * c->ld + i]));
    for (PetscInt i = 0; i < c->n && row < 0; i++) {
      if (!Near(x[r * c->ld + i], ref[r * c->ld + i], max)) {
        row    = i;
        column = r;
      }
    }
  }
  CHECK(row < 0,
        "%s: row %" PetscInt_FMT " of solution %" PetscInt_FMT " of %" PetscInt_FMT
        " is %.16g, the reference's %.16g; transposed %d, on the device %d, in place %d",
        FuzzSaid(), row, column, nrhs, (double)PetscRealPart(x[column * c->ld + row]), (double)PetscRealPart(ref[column * c->ld + row]), trans == SYNCILU_TRANS,
        device, inplace);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEngine(const Case *c, const char *what, PetscBool adoptable)
{
  const PetscBool matrix = (PetscBool)(adoptable && FuzzOnce(2));
  SyncILUSettings s;
  SyncILUEngine   e;
  MatFactorInfo   info;
  PetscScalar    *x;
  char            view[2048];

  PetscFunctionBegin;
  PetscCall(FuzzSettings(c->piv.relax, &s));
  FuzzSay("%s; update %s, solve %s, analysis %s, vector size %" PetscInt_FMT ", prefetch %d, pattern of the matrix %d", what, SyncILUUpdates[s.update],
          SyncILUSolves[s.solve], SyncILUAnalyses[s.analysis], s.vector_size, s.prefetch, matrix);
  PetscCall(FuzzEngine(&s, c, matrix, FuzzOnce(2), &e));
  PetscCall(EngineView(e, view, sizeof(view)));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(PetscMalloc1(c->ld * NRHS, &x));
  for (int run = 0; run < 2; run++) { /* the second time with the plan of the first */
    const PetscScalar *lval, *uval, *dinv;

    PetscCall(FuzzFactor(e, c, FuzzOnce(2), &info));
    CHECK(e->status.row < 0, "%s: row %" PetscInt_FMT " is rejected", FuzzSaid(), e->status.row);
    if (run == 0 || FuzzOnce(2)) {
      PetscInt row;

      PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
      row = RowThatDiffers(c, lval, uval, dinv);
      CHECK(row < 0, "%s: row %" PetscInt_FMT " of the factor differs\n%s", FuzzSaid(), row, view);
    }
    for (int k = 0; k < SOLVES; k++) PetscCall(TestSolve(e, c, x));
  }
  PetscCall(PetscFree(x));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const orderings[] = {MATORDERINGNATURAL, MATORDERINGNATURAL, MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  const PetscReal   relaxes[]   = {0.0, 0.0, 0.7, 1.0};
  PetscInt          first, seeds;
  PetscRandom       rand;
  int               failed;

  PetscCall(FuzzBegin(&argc, &argv, help, &first, &seeds));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (PetscInt seed = first; seed < first + seeds && check_failures < 10; seed++) {
    char     description[256], what[512];
    Mat      A;
    Case     c;
    int      ordering;
    PetscInt levels;

    PetscCall(FuzzSeed(seed, rand));
    PetscCall(FuzzMatrix(rand, &A, description, sizeof(description)));
    ordering = FuzzBelow(5);
    levels   = FuzzOnce(5) ? 1 + FuzzBelow(2) : 0;
    PetscCall(CaseCreate(A, orderings[ordering], levels, relaxes[FuzzBelow(4)], rand, &c));
    PetscCall(PetscSNPrintf(what, sizeof(what), "seed %" PetscInt_FMT ": %s; %s, levels %" PetscInt_FMT ", relax %g", seed, description, orderings[ordering],
                            levels, (double)c.piv.relax));
    for (int k = 0; k < ENGINES; k++) PetscCall(TestEngine(&c, what, (PetscBool)(ordering < 3 && !levels)));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("fuzz_patterns");
  PetscCall(PetscFinalize());
  return failed;
}
