static char help[] = "Matrices of blocks: the host backend against the serial reference bit for bit, that against PETSc's own ILU of blocks and against ILU of "
                     "their points, pivots within blocks, and the points of blocks on a device.\n\n";

#include "check.h"
#include "case.h"
#include "problem.h"

static const PetscInt sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12};

enum {
  SIZES = sizeof(sizes) / sizeof(sizes[0])
};

/* The engine's solutions for the case, with one right-hand side, several and in place. Tolerance 0: its bits. */
static PetscErrorCode CheckEngineSolves(SyncILUEngine e, const Case *c, PetscReal tolerance, const char *name)
{
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->ld * NRHS, &x));
  for (int t = 0; t < 2; t++) {
    const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;
    PetscInt               row;

    for (PetscInt nrhs = 1; nrhs <= (c->n > 5000 ? 1 : NRHS); nrhs += NRHS - 1) {
      for (PetscInt k = 0; k < c->ld * NRHS; k++) x[k] = -7.0;
      PetscCall(SyncILUEngineSolve(e, trans, nrhs, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
      for (PetscInt k = 0; k < nrhs; k++) {
        row = SolutionFirstDifference(c->n, x + k * c->ld, c->x[t] + k * c->ld, tolerance);
        CHECK(row == c->n, "%s: row %" PetscInt_FMT " of solution %" PetscInt_FMT " differs, transposed %d", name, row, k, t);
        CHECK(x[k * c->ld + c->n] == (PetscScalar)-7.0, "%s: wrote behind the solution", name);
      }
    }
    if (c->n > 5000) continue; /* takes long where the kernels are emulated */
    PetscCall(PetscArraycpy(x, c->b, c->ld * NRHS));
    PetscCall(SyncILUEngineSolve(e, trans, NRHS, x, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
    row = SolutionFirstDifference(c->n, x + 3 * c->ld, c->x[t] + 3 * c->ld, tolerance);
    CHECK(row == c->n, "%s: row %" PetscInt_FMT " of a solution in place differs, transposed %d", name, row, t);
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Twice the same factor: that of the reference, for any number of threads and order of the rows. */
static PetscErrorCode TestHost(const Case *c, const char *name, SyncILUAnalysis analysis, PetscInt threads)
{
  const PetscInt     bs2 = c->pattern.bs * c->pattern.bs;
  SyncILUSettings    settings;
  SyncILUEngine      e;
  SyncILUStatistics  s;
  MatFactorInfo      info;
  const PetscScalar *val[3];
  char               text[128];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "%s, analysis %s, %" PetscInt_FMT " threads", name, SyncILUAnalyses[analysis], threads));
  SyncILUSettingsInitialize(&settings);
  settings.backend  = SYNCILU_BACKEND_HOST;
  settings.analysis = analysis;
  settings.threads  = threads;
  settings.relax    = c->piv.relax;
  PetscCall(EngineCreate(&settings, c, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  for (int run = 0; run < 2; run++) {
    PetscBool same[3];

    PetscCall(EngineFactor(e, &c->csr, NULL, &info));
    CHECK(e->status.row < 0, "%s: zero pivot in row %" PetscInt_FMT, text, e->status.row);
    PetscCall((*e->ops->values)(e, &val[0], &val[1], &val[2]));
    PetscCall(PetscArraycmp(val[0], c->ref, c->nl, &same[0]));
    PetscCall(PetscArraycmp(val[1], c->ref + c->nl, c->nu, &same[1]));
    PetscCall(PetscArraycmp(val[2], c->ref + c->nl + c->nu, c->csr.n * bs2, &same[2]));
    CHECK(same[0] && same[1] && same[2], "%s: the factor differs from the reference's, L %d U %d D %d", text, same[0], same[1], same[2]);
    PetscCall(CheckEngineSolves(e, c, 0.0, text));
  }
  CHECK(e->analyses == 1, "%s: %" PetscInt_FMT " analyses", text, e->analyses);
  PetscCall(PetscMemzero(&s, sizeof(s)));
  PetscCall(SyncILUEngineStatistics(e, &s));
  CHECK(s.rows == c->n && s.nonzeros == (PetscInt64)c->nl + c->nu + c->csr.n * bs2, "%s: %" PetscInt_FMT " rows, %" PetscInt64_FMT " nonzeros", text, s.rows,
        s.nonzeros);
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The reference's factor of blocks and that of their points, in the ordering of the blocks, solve to the same
   numbers, with relaxation too; so does the device, which sees the points.
*/
static PetscErrorCode TestPoints(const Case *c, const char *name, PetscBool device)
{
  const PetscInt bs = c->pattern.bs;
  SyncILUDerived points;
  SyncILUSource  blocks, source;
  SyncILUCSR     csr, again;
  SyncILUPattern p;
  SyncILUStatus  status;
  Arrays         arrays = {&c->csr, NULL};
  PetscInt      *row, *col, same;
  PetscScalar   *ref, *x;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&points, sizeof(points)));
  PetscCall(ArraysSource(&arrays, &blocks));
  SyncILUDerivedSource(&points, &blocks, SyncILUMakePoints, &source);
  PetscCall((*source.get)(source.ctx, PETSC_FALSE, PETSC_TRUE, &csr));
  PetscCall(SyncILUPointsOrdering(c->csr.n, bs, c->pattern.row, &row));
  PetscCall(SyncILUPointsOrdering(c->csr.n, bs, c->pattern.col, &col));
  PetscCall(SyncILUPatternCreate(&csr, row, col, c->fill, &p));
  CHECK(p.n == c->n && (PetscInt64)p.nl + p.nu + p.n == (PetscInt64)c->nl + c->nu + c->n * bs, "%s: the points have another pattern", name);
  PetscCall(PetscMalloc2(p.nl + p.nu + p.n, &ref, p.n, &x));
  PetscCall(SyncILUReferenceFactor(&p, &csr, &c->piv, ref, ref + p.nl, ref + p.nl + p.nu, &status));
  for (int t = 0; t < 2; t++) {
    PetscCall(SyncILUReferenceSolve(&p, ref, ref + p.nl, ref + p.nl + p.nu, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, c->b, x));
    same = SolutionFirstDifference(c->n, x, c->x[t], 1e-12);
    CHECK(same == c->n, "%s: row %" PetscInt_FMT " of the solution with the points' factor differs, transposed %d", name, same, t);
  }
  PetscCall((*source.restore)(source.ctx, &csr));
  /* the pattern is kept */
  PetscCall((*source.get)(source.ctx, PETSC_FALSE, PETSC_FALSE, &again));
  CHECK(again.i == csr.i && again.j == csr.j && !again.a, "%s: the points are made again", name);
  PetscCall((*source.restore)(source.ctx, &again));
  PetscCall(PetscFree2(ref, x));
  PetscCall(PetscFree(row));
  PetscCall(PetscFree(col));
  PetscCall(SyncILUPatternDestroy(&p));
  PetscCall(SyncILUDerivedDestroy(&points));
  for (int check = 0; check < (device ? 2 : 0); check++) {
    SyncILUSettings settings;
    SyncILUEngine   e;
    MatFactorInfo   info;

    SyncILUSettingsInitialize(&settings);
    settings.backend = SYNCILU_BACKEND_CUDA;
    settings.relax   = c->piv.relax;
    settings.check   = (PetscBool)check;
    PetscCall(MatFactorInfoInitialize(&info));
    info.zeropivot = c->piv.zeropivot;
    PetscCall(SyncILUEngineCreate(&settings, c->n, &blocks, c->pattern.row, c->pattern.col, c->fill, &e));
    for (int run = 0; run < 2; run++) {
      PetscCall(EngineFactor(e, &c->csr, NULL, &info));
      CHECK(e->status.row < 0 && e->analyses == 1, "%s: on the device a zero pivot in row %" PetscInt_FMT ", %" PetscInt_FMT " analyses", name, e->status.row,
            e->analyses);
      PetscCall(CheckEngineSolves(e, c, 1e-12, name));
    }
    PetscCall(SyncILUEngineDestroy(&e));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every solve of PETSc's factor and of ours. */
static PetscErrorCode TestPETSc(Mat A, const char *ordering, PetscInt levels, PetscRandom rand, const char *name)
{
  Mat           F[2];
  Vec           b, y, x[2];
  MatFactorInfo info;
  MatInfo       got[2];
  PetscReal     diff;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = (PetscReal)levels;
  info.fill   = 1.0;
  for (int k = 0; k < 2; k++) {
    IS row, col;

    PetscCall(MatGetOrdering(A, ordering, &row, &col));
    PetscCall(MatGetFactor(A, k ? MATSOLVERSYNCILU : MATSOLVERPETSC, MAT_FACTOR_ILU, &F[k]));
    PetscCall(MatILUFactorSymbolic(F[k], A, row, col, &info));
    PetscCall(MatLUFactorNumeric(F[k], A, &info));
    PetscCall(MatGetInfo(F[k], MAT_LOCAL, &got[k]));
    PetscCall(ISDestroy(&row));
    PetscCall(ISDestroy(&col));
  }
  CHECK(got[0].nz_used == got[1].nz_used && got[0].block_size == got[1].block_size, "%s: %g entries, blocks of %g; PETSc has %g and %g", name, got[1].nz_used,
        got[1].block_size, got[0].nz_used, got[0].block_size);
  PetscCall(MatCreateVecs(F[1], &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecDuplicate(x[0], &y));
  PetscCall(VecSetRandom(b, rand));
  PetscCall(VecSetRandom(y, rand));
  for (int op = 0; op < 4; op++) {
    for (int k = 0; k < 2; k++) {
      if (op == 0) PetscCall(MatSolve(F[k], b, x[k]));
      else if (op == 1) PetscCall(MatSolveTranspose(F[k], b, x[k]));
      else if (op == 2) PetscCall(MatSolveAdd(F[k], b, y, x[k]));
      else PetscCall(MatSolveTransposeAdd(F[k], b, y, x[k]));
    }
    PetscCall(CheckDifference(x[1], x[0], &diff));
    CHECK(diff <= 1e-12, "%s: operation %d differs from PETSc's by %g", name, op, (double)diff);
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(MatDestroy(&F[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* small: as much as finds errors of the device's part, where its kernels are emulated */
static PetscErrorCode TestMatrices(PetscRandom rand, PetscBool device, PetscBool small)
{
  const char *const     patterns[]  = {"7pt", "random", "arrow", "triangles_rcm"};
  const char *const     orderings[] = {MATORDERINGNATURAL, MATORDERINGRCM, MATORDERINGBMC};
  const SyncILUAnalysis orders[]    = {SYNCILU_ANALYSIS_NONE, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP};
  const PetscInt        rows[]      = {0, 1, 30, 90};

  PetscFunctionBegin;
  for (int s = 0; s < SIZES; s += small ? 4 : 1) {
    for (int m = 0; m < (int)PETSC_STATIC_ARRAY_LENGTH(patterns); m++) {
      for (int k = 0; k < (int)PETSC_STATIC_ARRAY_LENGTH(rows) - (int)small; k++) {
        Mat A;

        PetscCall(GenerateBlocks(patterns[m], rows[k], sizes[s], rand, &A));
        for (int o = 0; o < (rows[k] ? 3 : 1); o++) {
          for (PetscInt levels = 0; levels < 3; levels++) {
            const PetscReal relax = (s + m + levels) % 3 == 2 ? 0.6 : 0.0;
            char            name[128];
            Case            c;

            if (rows[k] > 30 && (levels == 2 || (levels && m % 2 == 0 && m))) continue; /* they fill up */
            PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %" PetscInt_FMT " blocks of %" PetscInt_FMT ", %s, levels %" PetscInt_FMT ", relax %g",
                                    patterns[m], rows[k], sizes[s], orderings[o], levels, (double)relax));
            PetscCall(CaseCreate(A, orderings[o], levels, relax, rand, &c));
            CHECK(c.status.row < 0, "%s: the reference found a zero pivot in row %" PetscInt_FMT, name, c.status.row);
            PetscCall(TestHost(&c, name, orders[(s + o) % 3], 1 + 2 * ((s + m + levels) % 2)));
            /* a device has no interest in each size */
            PetscCall(TestPoints(&c, name, (PetscBool)(device && c.n && (s + m + o) % 4 == 0 && levels == (m + o) % 2)));
            PetscCall(CaseDestroy(&c));
            if (rows[k]) PetscCall(TestPETSc(A, orderings[o], levels, rand, name));
          }
        }
        PetscCall(MatDestroy(&A));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A system with the matrix, which it owns. */
static PetscErrorCode ProblemOf(Mat A, PetscRandom rand, Problem *p)
{
  PetscFunctionBegin;
  p->A = A;
  PetscCall(MatCreateVecs(A, &p->x, &p->b));
  PetscCall(VecSetRandom(p->b, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCSYNCILU and PCILU with our solver type take PETSc's iterations. */
static PetscErrorCode TestIterations(PetscRandom rand)
{
  const char *const options[] = {"-ksp_type gmres",
                                 "-ksp_type bcgs -pc_factor_levels 1",
                                 "-ksp_type bicg",
                                 "-ksp_type gmres -pc_factor_mat_ordering_type rcm -pc_factor_levels 2",
                                 "-ksp_type gmres -pc_factor_mat_ordering_type bmc",
                                 "-ksp_type gmres -pc_factor_shift_type inblocks",
                                 "-ksp_type gmres -pc_factor_shift_type nonzero",
                                 "-ksp_type gmres -pc_type bjacobi -pc_bjacobi_blocks 3 -sub_",
                                 "-ksp_type gmres -pc_type asm -pc_asm_blocks 4 -sub_"};

  PetscFunctionBegin;
  for (int s = 0; s < SIZES; s += 3) {
    Problem p;
    Mat     A;

    PetscCall(GenerateBlocks("7pt", 216, sizes[s], rand, &A));
    PetscCall(ProblemOf(A, rand, &p));
    for (int o = 0; o < (int)PETSC_STATIC_ARRAY_LENGTH(options); o++) {
      const size_t      len     = strlen(options[o]);
      const PetscBool   sub     = (PetscBool)!strcmp(options[o] + len - 5, "-sub_");
      const char *const types[] = {"pc_type ilu", "pc_type syncilu -%spc_syncilu_check",
                                   "pc_type ilu -%spc_factor_mat_solver_type syncilu -%spc_syncilu_threads 2"};
      PetscInt          its[3];

      /* PETSc has no Hermitian product with blocks of more than 5 rows */
      if (PetscDefined(USE_COMPLEX) && sizes[s] > 5 && strstr(options[o], "bicg")) continue;
      for (int k = 0; k < 3; k++) {
        char type[128], all[320];

        PetscCall(PetscSNPrintf(type, sizeof(type), types[k], sub ? "sub_" : "", sub ? "sub_" : ""));
        PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_rtol 1e-9 %s%s%s", options[o], sub ? "" : " -", type));
        PetscCall(SolveWith(&p, all, &its[k], NULL));
      }
      CHECK(its[0] > 0 && its[0] < 500 && its[1] == its[0] && its[2] == its[0],
            "blocks of %" PetscInt_FMT ", %s: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, ilu takes %" PetscInt_FMT, sizes[s], options[o], its[1],
            its[2], its[0]);
    }
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A chain of n blocks of two rows whose diagonal blocks are [a b; c d]. */
static PetscErrorCode Chain(PetscInt n, const PetscScalar d[4], Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, 2, 2 * n, 2 * n, 3, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    const PetscScalar off[4] = {0.1, 0.0, 0.02, 0.1};

    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(n, i + 2); j++) PetscCall(MatSetValuesBlocked(*A, 1, &i, 1, &j, j == i ? d : off, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the factor of a solver says of itself. */
static PetscErrorCode FactorOf(KSP ksp, SyncILUStatistics *s, char *text, size_t len)
{
  PC  pc;
  Mat F;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSyncILUGetStatistics(pc, s));
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(CheckView((PetscObject)F, PETSC_VIEWER_ASCII_INFO_DETAIL, text, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestPivots(PetscRandom rand, PetscBool device)
{
  const PetscScalar  swapped[4] = {0.0, 1.0, 1.0, 0.0}, singular[4] = {0.0, 0.0, 1.0, 0.0}, good[4] = {1.0, 0.0, 0.0, 1.0};
  const PetscInt     n = 20, third = 3;
  const PetscInt     diagonal[] = {2 * third, 2 * third + 1};
  SyncILUStatistics  s;
  KSPConvergedReason reason;
  Problem            p;
  KSP                ksp;
  Mat                A;
  PetscInt           its, want;
  char              *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(20000, &text));
  /* points would have pivots of zero: their ILU breaks down, that of the blocks does not */
  PetscCall(Chain(n, swapped, &A));
  PetscCall(ProblemOf(A, rand, &p));
  PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type ilu", &want, NULL));
  PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_syncilu_check -pc_syncilu_threads 2", &its, &ksp));
  PetscCall(FactorOf(ksp, &s, text, 20000));
  CHECK(its == want && its < 5 && s.failed_row < 0 && !s.pivots_shifted && s.factorizations == 1,
        "%" PetscInt_FMT " iterations, PETSc takes %" PetscInt_FMT "; %" PetscInt_FMT " factorizations", its, want, s.factorizations);
  CHECK(strstr(text, "by block rows of 2 rows") && strstr(text, "blocks: L 19, U 19") && s.nonzeros == 4 * (3 * n - 2) && s.levels[0] == n &&
          s.level_rows[0] == 2,
        "the view does not speak of blocks:\n%s", text);
  PetscCall(KSPDestroy(&ksp));
  if (device) {
    PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_syncilu_backend cuda", &its, &ksp));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(FactorOf(ksp, &s, text, 20000));
    CHECK(reason == KSP_DIVERGED_PC_FAILED && s.failed_row == 0 && s.backend == SYNCILU_BACKEND_CUDA, "reason %d, row %" PetscInt_FMT, (int)reason,
          s.failed_row);
    PetscCall(KSPDestroy(&ksp));
  }
  /* a block without inverse */
  PetscCall(MatSetValuesBlocked(A, 1, &third, 1, &third, singular, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  {
    const PetscScalar zero[4] = {0.0, 0.0, 0.0, 0.0};

    for (PetscInt j = third - 1; j <= third + 1; j += 2) PetscCall(MatSetValuesBlocked(A, 1, &third, 1, &j, zero, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu", &its, &ksp));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(FactorOf(ksp, &s, text, 20000));
  CHECK(reason == KSP_DIVERGED_PC_FAILED && s.failed_row == diagonal[1] && s.failed_pivot == 0.0, "reason %d, row %" PetscInt_FMT, (int)reason, s.failed_row);
  CHECK(strstr(text, "zero pivot in row 7 of the factor, row 7 of the matrix"), "the view does not name the row:\n%s", text);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_factor_mat_ordering_type rcm", &its, &ksp));
  PetscCall(FactorOf(ksp, &s, text, 20000));
  CHECK(s.failed_row >= 0 && strstr(text, "of the factor, row 7 of the matrix"), "the view does not name the row of the matrix:\n%s", text);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_factor_shift_type inblocks -pc_factor_shift_amount 0.5", &its, &ksp));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(FactorOf(ksp, &s, text, 20000));
  CHECK(s.failed_row < 0 && s.pivots_shifted == 1 && s.shift_amount == (PetscReal)0.5, "row %" PetscInt_FMT ", %" PetscInt_FMT " pivots shifted by %g",
        s.failed_row, s.pivots_shifted, (double)s.shift_amount);
  PetscCall(KSPDestroy(&ksp));
  /* not a number */
  PetscCall(MatSetValue(A, diagonal[0], diagonal[0], (PetscScalar)(PetscReal)NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(SolveWith(&p, "-ksp_type gmres -pc_type syncilu -pc_factor_shift_type inblocks -pc_factor_shift_amount 0.5", &its, &ksp));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(FactorOf(ksp, &s, text, 20000));
  CHECK(reason == KSP_DIVERGED_PC_FAILED && s.failed_row / 2 == third, "reason %d, row %" PetscInt_FMT, (int)reason, s.failed_row);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ProblemDestroy(&p));

  /* new values in the same pattern, with the plan that is there */
  PetscCall(Chain(n, good, &A));
  {
    Mat           F;
    MatFactorInfo info;
    Vec           b, x, r;
    PetscReal     norm;

    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(b, &r));
    PetscCall(VecSetRandom(b, rand));
    PetscCall(MatFactorInfoInitialize(&info));
    info.fill = 1.0;
    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
    PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
    for (int run = 0; run < 3; run++) {
      PetscCall(MatLUFactorNumeric(F, A, &info));
      PetscCall(MatSolve(F, b, x));
      PetscCall(MatMult(A, x, r)); /* ILU(0) of a chain is LU */
      PetscCall(CheckDifference(r, b, &norm));
      CHECK(norm < 1e-12, "run %d: the residual is %g", run, (double)norm);
      PetscCall(MatShift(A, 0.5));
    }
    PetscCall(MatSyncILUGetStatistics(F, &s));
    CHECK(s.analyses == 1 && s.factorizations == 3, "%" PetscInt_FMT " analyses, %" PetscInt_FMT " factorizations", s.analyses, s.factorizations);
    PetscCall(MatDestroy(&F));
    /* what is refused */
    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
    info.shifttype = (PetscReal)MAT_SHIFT_NONZERO;
    CHECK_ERROR(MatILUFactorSymbolic(F, A, NULL, NULL, &info), PETSC_ERR_SUP, "NONZERO: a matrix of type seqbaij with blocks");
    info.shifttype = (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE;
    CHECK_ERROR(MatILUFactorSymbolic(F, A, NULL, NULL, &info), PETSC_ERR_SUP, "POSITIVE_DEFINITE: a matrix of type seqbaij with blocks");
    info.shifttype = (PetscReal)MAT_SHIFT_NONE;
    {
      IS points;

      PetscCall(ISCreateStride(PETSC_COMM_SELF, 2 * n, 0, 1, &points));
      CHECK_ERROR(MatILUFactorSymbolic(F, A, points, points, &info), PETSC_ERR_ARG_SIZ, "the matrix has 20 (block) rows");
      PetscCall(ISDestroy(&points));
    }
    PetscCall(MatDestroy(&F));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFree(text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A block row without its diagonal block. */
static PetscErrorCode TestMissing(PetscBool device)
{
  const PetscInt    i[] = {0, 1, 2, 4}, j[] = {0, 2, 1, 2};
  PetscScalar       a[16];
  MatFactorInfo     info;
  Mat               A, F;
  SyncILUStatistics s;

  PetscFunctionBegin;
  for (int k = 0; k < 16; k++) a[k] = k % 3 ? 1.0 : 2.0;
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, 2, 6, 6, 0, NULL, &A));
  PetscCall(MatSeqBAIJSetPreallocationCSR(A, 2, i, j, a));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill = 1.0;
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
  CHECK_ERROR(MatILUFactorSymbolic(F, A, NULL, NULL, &info), PETSC_ERR_ARG_WRONGSTATE, "missing the diagonal entry of block row 1");
  PetscCall(MatDestroy(&F));
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
  info.diagonal_fill = 1.0;
  PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscCall(MatSyncILUGetStatistics(F, &s));
  if (device) {
    Mat G;

    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &G));
    PetscCall(MatSyncILUSetBackend(G, SYNCILU_BACKEND_CUDA));
    CHECK_ERROR(MatILUFactorSymbolic(G, A, NULL, NULL, &info), PETSC_ERR_LIB, "a diagonal block is missing, which only the host adds");
    PetscCall(MatDestroy(&G));
  }
  CHECK(s.diagonals_added == 1 && s.failed_row == 2, "%" PetscInt_FMT " diagonals added, zero pivot in row %" PetscInt_FMT, s.diagonals_added, s.failed_row);
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  for (int t = 0; t < 2; t++) { /* a pattern without values */
    PetscCall(MatCreate(PETSC_COMM_SELF, &A));
    PetscCall(MatSetSizes(A, 6, 6, 6, 6));
    PetscCall(MatSetBlockSize(A, 2));
    PetscCall(MatSetType(A, t ? MATSEQAIJ : MATSEQBAIJ));
    PetscCall(MatSetOption(A, MAT_STRUCTURE_ONLY, PETSC_TRUE));
    PetscCall(MatSetUp(A));
    for (PetscInt r = 0; r < 6; r++) PetscCall(MatSetValue(A, r, r, 1.0, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
    info.diagonal_fill = 0.0;
    PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
    CHECK_ERROR(MatLUFactorNumeric(F, A, &info), PETSC_ERR_ARG_WRONGSTATE, "has no values");
    PetscCall(MatDestroy(&F));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A matrix that gets another pattern of as many blocks, of which PETSc tells nobody: ILU(0) of a block bidiagonal
   matrix is LU, above and below the diagonal.
*/
static PetscErrorCode TestOtherPattern(SyncILUBackend backend, PetscRandom rand)
{
  const PetscInt    n = 60, bs = 3;
  PetscInt         *i, *j, nz;
  PetscScalar      *a;
  Mat               A, F;
  Vec               b, x, r;
  MatFactorInfo     info;
  SyncILUStatistics s;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &i, 2 * n, &j, 2 * n * bs * bs, &a));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill      = 1.0;
  info.zeropivot = 100 * PETSC_MACHINE_EPSILON;
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, bs, n * bs, n * bs, 0, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecSetRandom(b, rand));
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
  PetscCall(MatSyncILUSetBackend(F, backend));
  for (int step = 0; step < 6; step++) {
    PetscReal diff;

    nz = 0;
    for (PetscInt k = 0; k < n; k++) {
      i[k] = nz;
      if (step % 2 && k > 0) j[nz++] = k - 1;
      j[nz++] = k;
      if (step % 2 == 0 && k < n - 1) j[nz++] = k + 1;
      for (PetscInt e = i[k]; e < nz; e++) {
        for (PetscInt q = 0; q < bs * bs; q++) {
          PetscCall(PetscRandomGetValue(rand, &a[e * bs * bs + q]));
          if (j[e] == k && q % (bs + 1) == 0) a[e * bs * bs + q] += 8.0;
        }
      }
    }
    i[n] = nz;
    PetscCall(MatSeqBAIJSetPreallocationCSR(A, bs, i, j, a));
    if (!step) PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
    PetscCall(MatLUFactorNumeric(F, A, &info));
    PetscCall(MatSolve(F, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(CheckDifference(r, b, &diff));
    PetscCall(MatSyncILUGetStatistics(F, &s));
    CHECK(diff < 1e-12 && s.analyses == step + 1, "%s, pattern %d: the residual is %g after %" PetscInt_FMT " analyses", SyncILUBackends[backend], step,
          (double)diff, s.analyses);
  }
  PetscCall(MatDestroy(&F));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   On a device, chosen by auto: pivots that vanish without a choice within blocks lead to the host, in the ordering
   that was given, and say so; another pattern is planned for anew in that ordering.
*/
static PetscErrorCode TestDevice(PetscRandom rand)
{
  const PetscInt  bs = 3;
  SyncILUSettings settings;
  SyncILUEngine   e;
  SyncILUSource   source;
  MatFactorInfo   info;
  Arrays          arrays = {NULL, NULL};
  Case            c, other;
  Mat             A, B;

  PetscFunctionBegin;
  PetscCall(GenerateBlocks("7pt:14x20x10", 2800, bs, rand, &B));
  for (int o = 0; o < 2; o++) {
    PetscCall(GenerateBlocks("random", 2800, bs, rand, &A));
    PetscCall(CaseCreate(A, o ? MATORDERINGRCM : MATORDERINGNATURAL, 0, 0.0, rand, &c));
    PetscCall(PetscMemzero(&other, sizeof(other)));
    arrays.host = &c.csr;
    PetscCall(ArraysSource(&arrays, &source));
    SyncILUSettingsInitialize(&settings);
    PetscCall(MatFactorInfoInitialize(&info));
    info.zeropivot = c.piv.zeropivot;
    PetscCall(SyncILUEngineCreate(&settings, c.n, &source, c.pattern.row, c.pattern.col, c.fill, &e));
    PetscCall(EngineFactor(e, &c.csr, NULL, &info));
    CHECK(e->ops->device && e->status.row < 0, "auto takes %s: %s", SyncILUBackends[e->ops->backend], e->why);
    PetscCall(CheckEngineSolves(e, &c, 1e-12, "a device"));
    if (!o) {
      PetscCall(CaseCreate(B, MATORDERINGNATURAL, 0, 0.0, rand, &other));
      PetscCall(EngineFactor(e, &other.csr, NULL, &info));
      CHECK(e->ops->device && e->analyses == 2, "%" PetscInt_FMT " analyses", e->analyses);
      PetscCall(CheckEngineSolves(e, &other, 1e-12, "another pattern on a device"));
      PetscCall(EngineFactor(e, &c.csr, NULL, &info));
      PetscCall(CaseDestroy(&other));
    }
    { /* the first two rows of the factor's first block change places, which ILU of blocks does not mind */
      PetscScalar   *a = (PetscScalar *)c.csr.a, t;
      const PetscInt r = c.pattern.row ? c.pattern.row[0] : 0;

      for (PetscInt k = c.csr.i[r]; k < c.csr.i[r + 1]; k++) {
        for (PetscInt q = 0; q < bs; q++) {
          t                           = a[k * bs * bs + q * bs];
          a[k * bs * bs + q * bs]     = a[k * bs * bs + q * bs + 1];
          a[k * bs * bs + q * bs + 1] = t;
        }
        if (c.csr.j[k] == r) a[k * bs * bs] = 0.0;
      }
      PetscCall(CaseDestroy(&c));
      PetscCall(CaseCreate(A, o ? MATORDERINGRCM : MATORDERINGNATURAL, 0, 0.0, rand, &c));
    }
    CHECK(c.status.row < 0, "the reference found a zero pivot in row %" PetscInt_FMT, c.status.row);
    for (int run = 0; run < 2; run++) {
      PetscCall(EngineFactor(e, &c.csr, NULL, &info));
      CHECK(e->factorizations == run + (o ? 2 : 4), "%" PetscInt_FMT " factorizations", e->factorizations);
      CHECK(e->status.row < 0 && !e->ops->device && strstr(e->why, "unless it is chosen within its block"), "%s: %s", SyncILUBackends[e->ops->backend], e->why);
      PetscCall(CheckEngineSolves(e, &c, 0.0, "the host after a device"));
    }
    PetscCall(SyncILUEngineDestroy(&e));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   device, small = PETSC_FALSE;
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(CaseGetDevice(&device));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &small, NULL));
  PetscCall(TestMatrices(rand, device, small));
  PetscCall(TestIterations(rand));
  PetscCall(TestPivots(rand, device));
  PetscCall(TestMissing(device));
  PetscCall(TestOtherPattern(SYNCILU_BACKEND_HOST, rand));
  if (device) PetscCall(TestOtherPattern(SYNCILU_BACKEND_CUDA, rand));
  if (device) PetscCall(TestDevice(rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("baij");
  PetscCall(PetscFinalize());
  return failed;
}
