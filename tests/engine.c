static char help[] = "The host backend against the serial reference, bit for bit, and the reference against PETSc's own ILU.\n\n";

#include "check.h"
#include "case.h"
#include "host/host.h"

/* The engine with the given order and threads gives the reference's bits: factor, solves with one and many right-hand sides, in place and not; and again after a second factorization. */
static PetscErrorCode TestEngine(const Case *c, const char *name, SyncILUAnalysis analysis, PetscInt threads)
{
  SyncILUSettings    settings;
  SyncILUPattern     pattern;
  SyncILUEngine      e;
  MatFactorInfo      info;
  const PetscScalar *lval, *uval, *dinv;
  PetscScalar       *x;
  PetscBool          same;

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  settings.analysis = analysis;
  settings.threads  = threads;
  settings.relax    = c->piv.relax;
  PetscCall(PatternCopy(&c->pattern, &pattern));
  PetscCall(EngineCreate(&settings, &pattern, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  info.zeropivot = c->piv.zeropivot;
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  PetscCall(PetscMalloc1(c->ld * NRHS, &x));
  for (PetscInt run = 0; run < 2; run++) {
    PetscCall(SyncILUEngineFactor(e, &c->csr, &info));
    CHECK(e->status.row < 0, "%s: zero pivot in row %" PetscInt_FMT, name, e->status.row);
    PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
    PetscCall(PetscArraycmp(lval, c->ref, c->nl, &same));
    CHECK(same, "%s: L differs from the reference, analysis %s, %" PetscInt_FMT " threads, run %" PetscInt_FMT, name, SyncILUAnalyses[analysis], threads, run);
    PetscCall(PetscArraycmp(uval, c->ref + c->nl, c->nu, &same));
    CHECK(same, "%s: U differs from the reference, analysis %s, %" PetscInt_FMT " threads, run %" PetscInt_FMT, name, SyncILUAnalyses[analysis], threads, run);
    PetscCall(PetscArraycmp(dinv, c->ref + c->nl + c->nu, c->n, &same));
    CHECK(same, "%s: pivots differ from the reference, analysis %s, %" PetscInt_FMT " threads, run %" PetscInt_FMT, name, SyncILUAnalyses[analysis], threads, run);
    for (PetscInt t = 0; t < 2; t++) {
      const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

      for (PetscInt nrhs = 1; nrhs <= c->nrhs; nrhs += NRHS - 1) {
        for (PetscInt k = 0; k < c->ld * NRHS; k++) x[k] = -7.0;
        PetscCall(SyncILUEngineSolve(e, trans, nrhs, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
        for (PetscInt k = 0; k < nrhs; k++) {
          PetscCall(PetscArraycmp(x + k * c->ld, c->x[t] + k * c->ld, c->n, &same));
          CHECK(same, "%s: solve %" PetscInt_FMT " of %" PetscInt_FMT " differs, transposed %" PetscInt_FMT ", analysis %s, %" PetscInt_FMT " threads", name, k, nrhs, t, SyncILUAnalyses[analysis], threads);
          CHECK(x[k * c->ld + c->n] == (PetscScalar)-7.0, "%s: wrote behind the solution", name);
        }
        PetscCall(PetscArraycpy(x, c->b, c->ld * nrhs));
        PetscCall(SyncILUEngineSolve(e, trans, nrhs, x, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
        PetscCall(PetscArraycmp(x, c->x[t], c->n, &same));
        CHECK(same, "%s: solve in place differs, transposed %" PetscInt_FMT ", analysis %s, %" PetscInt_FMT " threads", name, t, SyncILUAnalyses[analysis], threads);
      }
    }
  }
  PetscCall(PetscFree(x));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own factorization solves to the same numbers. */
static PetscErrorCode TestPETSc(const Case *c, const char *name, const char *ordering, PetscInt levels)
{
  Mat           F;
  IS            row, col;
  Vec           b, x, y;
  MatFactorInfo info;
  MatInfo       minfo;
  PetscReal     diff;

  PetscFunctionBegin;
  PetscCall(MatGetFactor(c->A, MATSOLVERPETSC, MAT_FACTOR_ILU, &F));
  PetscCall(MatGetOrdering(c->A, ordering, &row, &col));
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels    = (PetscReal)levels;
  info.fill      = 1.0;
  info.zeropivot = c->piv.zeropivot;
  PetscCall(MatILUFactorSymbolic(F, c->A, row, col, &info));
  PetscCall(MatLUFactorNumeric(F, c->A, &info));
  PetscCall(MatGetInfo(F, MAT_LOCAL, &minfo));
  CHECK((PetscInt)minfo.nz_used == c->nl + c->nu + c->n, "%s levels %" PetscInt_FMT " %s: PETSc has %g entries, we have %" PetscInt_FMT, name, levels, ordering, minfo.nz_used, c->nl + c->nu + c->n);
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, c->n, c->b, &b));
  PetscCall(VecDuplicate(b, &x));
  for (PetscInt t = 0; t < 2; t++) {
    PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, c->n, c->x[t], &y));
    if (t) PetscCall(MatSolveTranspose(F, b, x));
    else PetscCall(MatSolve(F, b, x));
    PetscCall(CheckDifference(y, x, &diff));
    CHECK(diff <= 1e-12, "%s levels %" PetscInt_FMT " %s: solution differs from PETSc's by %g, transposed %" PetscInt_FMT, name, levels, ordering, (double)diff, t);
    PetscCall(VecDestroy(&y));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With relaxation 1 the factor keeps row sums: L U e = A e. */
static PetscErrorCode TestRowSums(const Case *c, const char *name)
{
  const SyncILUPattern *p = &c->pattern;
  PetscScalar          *u;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->n, &u));
  for (PetscInt i = 0; i < c->n; i++) {
    u[i] = 1.0 / c->ref[c->nl + c->nu + i];
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) u[i] += c->ref[c->nl + k];
  }
  for (PetscInt i = 0; i < c->n; i++) {
    const PetscInt r   = p->row ? p->row[i] : i;
    PetscScalar    sum = u[i], a = 0.0;
    PetscReal      abs = PetscAbsScalar(u[i]);

    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) {
      sum += c->ref[k] * u[p->lcol[k]];
      abs += PetscAbsScalar(c->ref[k] * u[p->lcol[k]]);
    }
    for (PetscInt k = c->csr.i[r]; k < c->csr.i[r + 1]; k++) {
      a += c->csr.a[k];
      abs += PetscAbsScalar(c->csr.a[k]);
    }
    CHECK(PetscAbsScalar(sum - a) <= 1e-12 * abs, "%s: row %" PetscInt_FMT " of LU sums to %g, of A to %g", name, i, (double)PetscRealPart(sum), (double)PetscRealPart(a));
  }
  PetscCall(PetscFree(u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The earliest and the latest levels keep the order of dependences and the number of levels. */
static PetscErrorCode TestLevels(const SyncILUPattern *p, const char *name)
{
  PetscFunctionBegin;
  for (int u = 0; u < 2; u++) {
    const PetscInt *ptr = u ? p->uptr : p->lptr, *col = u ? p->ucol : p->lcol;
    PetscInt       *early, *late, nlevels, width, most = -1, lmost = -1;
    PetscBool       good = PETSC_TRUE;

    PetscCall(PetscMalloc2(p->n, &early, p->n, &late));
    PetscCall(SyncILUHostLevels(p->n, ptr, col, (PetscBool)!u, early, &nlevels, &width));
    PetscCall(SyncILUHostLevelsLate(p->n, ptr, col, (PetscBool)!u, nlevels, late));
    for (PetscInt i = 0; i < p->n; i++) {
      PetscInt want = 0;

      for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) {
        want = PetscMax(want, early[col[k]] + 1);
        good = (PetscBool)(good && late[col[k]] < late[i]);
      }
      good  = (PetscBool)(good && early[i] == want && late[i] >= early[i]);
      most  = PetscMax(most, early[i]);
      lmost = PetscMax(lmost, late[i]);
    }
    CHECK(good && most == nlevels - 1 && lmost == nlevels - 1, "%s: levels of %s are wrong", name, u ? "U" : "L");
    PetscCall(PetscFree2(early, late));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor that differs from the reference, and a solution that does, are found and the row is named. */
static PetscErrorCode TestCheck(PetscRandom rand)
{
  Mat                A;
  Case               c;
  SyncILUSettings    settings;
  SyncILUPattern     pattern;
  SyncILUEngine      e;
  MatFactorInfo      info;
  const PetscScalar *lval, *uval, *dinv;
  PetscScalar       *x;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 216, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  CHECK(c.status.row < 0, "reference found a zero pivot in row %" PetscInt_FMT, c.status.row);
  SyncILUSettingsInitialize(&settings);
  settings.check   = PETSC_TRUE;
  settings.threads = 1;
  PetscCall(PatternCopy(&c.pattern, &pattern));
  PetscCall(EngineCreate(&settings, &pattern, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(SyncILUEngineFactor(e, &c.csr, &info));
  PetscCall(PetscMalloc1(c.n, &x));
  PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST));
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  ((PetscScalar *)dinv)[100] *= 1.0 + 4 * PETSC_MACHINE_EPSILON;
  CHECK_ERROR(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST), PETSC_ERR_PLIB, "of the solution is the first to differ");
  PetscCall(PetscFree(x));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt        sizes[]     = {0, 1, 31, 33, 1025, 100003};
  const SyncILUAnalysis orders[]    = {SYNCILU_ANALYSIS_NONE, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP};
  const char *const     orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGND};
  PetscRandom           rand;
  int                   failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (int s = 0; s < 6; s++) {
    for (int m = 0; GeneratePatterns[m]; m++) {
      const PetscInt n   = sizes[s];
      const PetscInt big = n > BIG;
      Mat            A;
      PetscBool      heavy;

      PetscCall(PetscStrcmp(GeneratePatterns[m], "random200", &heavy));
      if (big && heavy) continue; /* 20 million entries; the pattern is tested at 1025 */
      PetscCall(GenerateMatrix(GeneratePatterns[m], n, rand, &A));
      for (int o = 0; o < (n ? 3 : 1); o++) {
        for (PetscInt levels = 0; levels < 3; levels++) {
          for (int w = 0; w < 3; w++) {
            const PetscReal relax = w == 2 ? 1.0 : 0.6 * w;
            char            name[128];
            Case            c;

            /* an arrow fills up: levels on large matrices for bands alone */
            if (n > 40 && ((levels && (o || m >= 3)) || w == 1)) continue;
            if (big && (levels || o || w)) continue;
            PetscCall(PetscSNPrintf(name, sizeof(name), "%s n %" PetscInt_FMT " levels %" PetscInt_FMT " relax %g %s", GeneratePatterns[m], n, levels, (double)relax, orderings[o]));
            PetscCall(CaseCreate(A, orderings[o], levels, relax, rand, &c));
            CHECK(c.status.row < 0, "%s: reference found a zero pivot in row %" PetscInt_FMT, name, c.status.row);
            if (w == 0 && n) PetscCall(TestPETSc(&c, name, orderings[o], levels));
            if (w == 2) PetscCall(TestRowSums(&c, name));
            if (w == 0) PetscCall(TestLevels(&c.pattern, name));
            for (int a = 0; a < 3; a++) {
              if (n > 40 && (o || big) && a != m % 3) continue;
              PetscCall(TestEngine(&c, name, orders[a], big ? 2 : 1 + (a + m) % 3));
            }
            if (!o && !w && (n < 1000 || (m % 4 == 0 && !big))) PetscCall(TestEngine(&c, name, orders[m % 3], 5)); /* more threads than cores, most likely */
            PetscCall(CaseDestroy(&c));
          }
        }
      }
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(TestCheck(rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("engine");
  PetscCall(PetscFinalize());
  return failed;
}
