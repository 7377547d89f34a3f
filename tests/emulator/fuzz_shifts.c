static char help[] = "Random patterns whose pivots are zero, negative or small here and there, with every shift: the CUDA backend makes\n\
the attempts that the host's makes, ends where that ends, and solves to the same.\n\n\
  -seeds <n>  so many matrices, 10 by default\n\
  -first <s>  the first seed, 1 by default\n\n";

#include "check.h"
#include "fuzz.h"

enum {
  ATTEMPTS = 5, /* of a matrix: a shift, an amount and a zero pivot each */
  HOST     = 0,
  CUDA     = 1
};

/* Growth of the factor beyond which a pivot may hang on rounding, and a solution has too few digits. */
#define GROWTH_PIVOTS    1e6
#define GROWTH_SOLUTIONS 1e3

/* Diagonal entries that are zero or negative. */
static PetscErrorCode Spoil(Mat A)
{
  const PetscReal zero = FuzzOnce(2) ? 0.0 : 0.1 * FuzzReal(), negative = FuzzOnce(2) ? 0.0 : 0.2 * FuzzReal();
  const PetscInt *i, *j;
  PetscInt        n;
  PetscBool       done;
  PetscScalar    *a;

  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArray(A, &a));
  for (PetscInt row = 0; row < n; row++) {
    for (PetscInt k = i[row]; k < i[row + 1]; k++) {
      if (j[k] != row) continue;
      if (FuzzReal() < zero) a[k] = 0.0;
      else if (FuzzReal() < negative) a[k] = -a[k];
    }
  }
  PetscCall(MatSeqAIJRestoreArray(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest value among L and the reciprocals of the pivots. */
static PetscErrorCode Growth(SyncILUEngine e, const Case *c, PetscReal *growth)
{
  const PetscScalar *lval, *uval, *dinv;

  PetscFunctionBegin;
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  *growth = 0.0;
  for (PetscInt i = 0; i < c->n; i++) *growth = PetscMax(*growth, PetscAbsScalar(dinv[i]));
  for (PetscInt k = 0; k < c->nl; k++) *growth = PetscMax(*growth, PetscAbsScalar(lval[k]));
  if (PetscIsInfOrNanReal(*growth)) *growth = PETSC_MAX_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSolves(SyncILUEngine e[2], const Case *c, const char *what)
{
  PetscScalar *x[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(c->ld, &x[HOST], c->ld, &x[CUDA]));
  for (int t = 0; t < 2; t++) {
    PetscReal max = 0.0;
    PetscInt  row;

    for (int k = 0; k < 2; k++) PetscCall(SyncILUEngineSolve(e[k], t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c->b, c->ld, x[k], c->ld, PETSC_MEMTYPE_HOST));
    for (PetscInt i = 0; i < c->n; i++) max = PetscMax(max, PetscAbsScalar(x[HOST][i]));
    for (row = 0; row < c->n && PetscAbsScalar(x[HOST][row] - x[CUDA][row]) <= 1e-7 * max; row++) { }
    CHECK(row == c->n || max > GROWTH_PIVOTS, "%s: row %" PetscInt_FMT " of the solution differs from the host's, transposed %d", what, row, t);
  }
  PetscCall(PetscFree2(x[HOST], x[CUDA]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestShift(SyncILUEngine e[2], const Case *c, MatFactorShiftType type)
{
  const PetscReal      zeropivots[] = {1e-12, 1e-6, 0.05, 0.3};
  const SyncILUStatus *want = &e[HOST]->status, *got = &e[CUDA]->status;
  MatFactorInfo        info;
  PetscReal            growth = 0.0;
  PetscBool            same;
  char                 what[1400];

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.shifttype   = (PetscReal)type;
  info.zeropivot   = zeropivots[FuzzBelow(4)];
  info.shiftamount = FuzzOnce(4) ? 1e-10 : 0.1 + FuzzReal();
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s; shift %s by %g, zero pivot %g", FuzzSaid(), MatFactorShiftTypes[type], (double)info.shiftamount,
                          (double)info.zeropivot));
  for (int k = 0; k < 2; k++) PetscCall(FuzzFactor(e[k], c, PETSC_FALSE, &info));
  PetscCall(Growth(e[HOST], c, &growth));
  same = (PetscBool)(want->row == got->row && want->shift == got->shift && e[HOST]->attempts == e[CUDA]->attempts &&
                     PetscAbsReal(e[HOST]->amount - e[CUDA]->amount) <= 1e-9 * PetscAbsReal(e[HOST]->amount) &&
                     (want->row >= 0 || want->shifted == got->shifted));
  CHECK(same || growth > GROWTH_PIVOTS,
        "%s: row %" PetscInt_FMT " rejected, %" PetscInt_FMT " attempts, amount %g, %" PetscInt_FMT " pivots shifted; on the host row %" PetscInt_FMT
        ", %" PetscInt_FMT " attempts, amount %g, %" PetscInt_FMT " pivots",
        what, got->row, e[CUDA]->attempts, (double)e[CUDA]->amount, got->shifted, want->row, e[HOST]->attempts, (double)e[HOST]->amount, want->shifted);
  if (same && want->row < 0 && growth < GROWTH_SOLUTIONS) PetscCall(TestSolves(e, c, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const MatFactorShiftType shifts[]    = {MAT_SHIFT_NONE, MAT_SHIFT_NONZERO, MAT_SHIFT_POSITIVE_DEFINITE, MAT_SHIFT_INBLOCKS};
  const char *const        orderings[] = {MATORDERINGNATURAL, MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  const PetscReal          relaxes[]   = {0.0, 0.0, 0.7, 1.0};
  PetscInt                 first, seeds;
  PetscRandom              rand;
  int                      failed;

  PetscCall(FuzzBegin(&argc, &argv, help, &first, &seeds));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (PetscInt seed = first; seed < first + seeds && check_failures < 10; seed++) {
    char            description[256];
    Mat             A;
    Case            c;
    SyncILUSettings s;
    SyncILUEngine   e[2];
    int             ordering;
    PetscInt        levels;

    PetscCall(FuzzSeed(seed, rand));
    PetscCall(FuzzMatrix(rand, &A, description, sizeof(description)));
    PetscCall(Spoil(A));
    ordering = FuzzBelow(4);
    levels   = FuzzOnce(6) ? 1 : 0;
    PetscCall(CaseCreate(A, orderings[ordering], levels, relaxes[FuzzBelow(4)], rand, &c));
    PetscCall(FuzzSettings(c.piv.relax, &s));
    PetscCall(FuzzSweeps(&s));
    FuzzSay("seed %" PetscInt_FMT ": %s; %s, levels %" PetscInt_FMT ", relax %g; update %s, sweeps %" PetscInt_FMT
            ", solve %s, analysis %s, vector size %" PetscInt_FMT ", prefetch %d",
            seed, description, orderings[ordering], levels, (double)c.piv.relax, SyncILUUpdates[s.update], SyncILUSweeps(&s), SyncILUSolves[s.solve],
            SyncILUAnalyses[s.analysis], s.vector_size, s.prefetch);
    PetscCall(FuzzEngine(&s, &c, PETSC_FALSE, PETSC_FALSE, &e[CUDA]));
    s.backend = SYNCILU_BACKEND_HOST;
    s.threads = 1 + FuzzBelow(3);
    PetscCall(FuzzEngine(&s, &c, PETSC_FALSE, PETSC_FALSE, &e[HOST]));
    for (int k = 0; k < ATTEMPTS; k++) PetscCall(TestShift(e, &c, shifts[k < 4 ? k : FuzzBelow(4)]));
    for (int k = 0; k < 2; k++) PetscCall(SyncILUEngineDestroy(&e[k]));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("fuzz_shifts");
  PetscCall(PetscFinalize());
  return failed;
}
