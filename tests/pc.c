static char help[] = "PCSYNCILU: options and their four faces, the setters of PCFactor, life cycle, refactorization, other preconditioners above it.\n\n";

#include "check.h"
#include "problem.h"

/* The same options with PETSc's own ILU and with ours take the same iterations. */
static PetscErrorCode Compare(Problem *p, const char *ilu, const char *syncilu, const char *both)
{
  char     options[512];
  PetscInt want, got;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", ilu, both));
  PetscCall(SolveWith(p, options, &want, NULL));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", syncilu, both));
  PetscCall(SolveWith(p, options, &got, NULL));
  CHECK(got == want && want > 0 && want < 500, "%s: %" PetscInt_FMT " iterations, %s takes %" PetscInt_FMT, options, got, ilu, want);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestIterations(void)
{
  const char *const solvers[] = {"-ksp_type gmres", "-ksp_type bcgs", "-ksp_type bicg", "-ksp_type fgmres -ksp_pc_side right"};
  const char *const options[] = {"",
                                 "-pc_factor_levels 1",
                                 "-pc_factor_levels 2 -pc_factor_mat_ordering_type rcm",
                                 "-pc_factor_mat_ordering_type nd",
                                 "-pc_factor_mat_ordering_type qmd -pc_factor_levels 1",
                                 "-pc_factor_shift_type nonzero -pc_factor_shift_amount 0.1 -pc_factor_zeropivot 1",
                                 "-pc_factor_shift_type positive_definite -pc_factor_zeropivot 2",
                                 "-pc_factor_shift_type inblocks -pc_factor_shift_amount 1 -pc_factor_zeropivot 3",
                                 "-pc_factor_diagonal_fill -pc_factor_reuse_fill -pc_factor_reuse_ordering -pc_factor_fill 2",
                                 "-pc_factor_nonzeros_along_diagonal"};
  Problem           p;

  PetscFunctionBegin;
  PetscCall(ProblemCreate(9, 0.7, &p));
  PetscCall(MatSetOption(p.A, MAT_USE_INODES, PETSC_FALSE));
  for (int s = 0; s < 4; s++) {
    for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++) {
      char both[256];

      PetscCall(PetscSNPrintf(both, sizeof(both), "%s %s", solvers[s], options[o]));
      PetscCall(Compare(&p, "-pc_type ilu", "-pc_type syncilu", both));
      PetscCall(Compare(&p, "-pc_type ilu", "-pc_type ilu -pc_factor_mat_solver_type syncilu", both));
    }
  }
  PetscCall(ProblemDestroy(&p));
  PetscCall(ProblemCreate(12, 0.0, &p));
  PetscCall(Compare(&p, "-pc_type ilu", "-pc_type syncilu", "-ksp_type cg"));
  PetscCall(Compare(&p, "-pc_type ilu", "-pc_type syncilu -pc_syncilu_threads 3 -pc_syncilu_analysis asap -pc_syncilu_check", "-ksp_type cg"));
  /* below other preconditioners */
  PetscCall(Compare(&p, "-sub_pc_type ilu", "-sub_pc_type syncilu", "-ksp_type gmres -pc_type bjacobi -pc_bjacobi_blocks 3"));
  PetscCall(
    Compare(&p, "-sub_pc_type ilu", "-sub_pc_type ilu -sub_pc_factor_mat_solver_type syncilu", "-ksp_type gmres -pc_type bjacobi -pc_bjacobi_blocks 3"));
  PetscCall(Compare(&p, "-sub_pc_type ilu", "-sub_pc_type syncilu", "-ksp_type gmres -pc_type asm -pc_asm_blocks 4 -pc_asm_overlap 2"));
  PetscCall(Compare(&p, "-mg_levels_pc_type ilu", "-mg_levels_pc_type syncilu",
                    "-ksp_type gmres -pc_type gamg -pc_gamg_coarse_eq_limit 20 -mg_levels_ksp_type richardson"));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iteration counts of relaxed ILU: 7-point Poisson on 64^3, right-hand side of ones, CG to 1e-5. */
static PetscErrorCode TestRelaxation(void)
{
  const struct {
    const char *w;
    PetscInt    its;
  } want[] = {
    {"0",    43},
    {"0.9",  26},
    {"0.95", 22},
    {"0.99", 18},
    {"1",    24}
  };
  Problem p;

  PetscFunctionBegin;
  PetscCall(ProblemCreate(64, 0.0, &p));
  for (int k = 0; k < 5; k++) {
    char     options[128];
    PetscInt its;

    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type cg -ksp_rtol 1e-5 -pc_type syncilu -pc_syncilu_relax %s", want[k].w));
    PetscCall(SolveWith(&p, options, &its, NULL));
    CHECK(its == want[k].its, "relaxation %s: %" PetscInt_FMT " iterations, expected %" PetscInt_FMT, want[k].w, its, want[k].its);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Each option: its flag, its setter and getter, its line in the view, its line in a man page. Under each of
   the ways to get at the factor.
*/
static PetscErrorCode TestFaces(void)
{
  const char *const ways[] = {"-pc_type syncilu", "-pc_type ilu -pc_factor_mat_solver_type syncilu"};
  const char *const
                    flags   = "-pc_syncilu_backend host -pc_syncilu_update vect -pc_syncilu_prefetch false -pc_syncilu_vector_size 8 -pc_syncilu_analysis alap -pc_syncilu_solve mr -pc_syncilu_solve_sweeps 5 -pc_syncilu_solve_block_size 1 -pc_syncilu_grid 6,6,6 -pc_syncilu_threads 2 -pc_syncilu_relax 0.25 -pc_syncilu_fill 1.5 -pc_syncilu_rounds 4 -pc_syncilu_rounds_tolerance 0.125 -pc_syncilu_sweeps 7 -pc_syncilu_sweeps_asynchronous true -pc_syncilu_residual true -pc_syncilu_symmetric true -pc_syncilu_tune true -pc_syncilu_check true";
  const char *const lines[] = {"backend: host (asked for)",
                               "update vect",
                               "prefetch FALSE",
                               "vector size 8",
                               "analysis alap",
                               "solve mr",
                               "sweeps 5, block size 1",
                               "grid 6,6,6,1",
                               "threads 2",
                               "relaxation: 0.25",
                               "check TRUE",
                               "threads: 2",
                               "rows by level (alap)",
                               "symmetric TRUE",
                               "symmetric: one triangle is factored",
                               "fill 1.5, rounds 4, tolerance 0.125",
                               "sweeps 7",
                               "asynchronous TRUE",
                               "residual TRUE",
                               "residual: ",
                               "tune TRUE",
                               "tuned: no, the host has one way"};
  const char *const names[] = {"backend",   "update", "prefetch", "vector_size",      "analysis",         "solve",  "solve_sweeps",        "solve_block_size",
                               "threads",   "relax",  "fill",     "rounds",           "rounds_tolerance", "sweeps", "sweeps_asynchronous", "residual",
                               "symmetric", "tune",   "check",    "grid nx,ny,nz,dof"};
  const char *const files[] = {"src/setters.c", "src/matsyncilu.c"};
  Problem           p;
  char             *text;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(100000, &text));
  PetscCall(ProblemCreate(6, 0.0, &p));
  for (int way = 0; way < 2; way++) {
    for (int set = 0; set < 2; set++) { /* by flags, by setters */
      KSP             ksp;
      PC              pc;
      Mat             F;
      char            options[768];
      PetscInt        its;
      SyncILUBackend  backend;
      SyncILUUpdate   update;
      SyncILUAnalysis analysis;
      SyncILUSolve    solve;
      PetscBool       check, tune, symmetric, asynchronous, residual;
      PetscBool3      prefetch;
      PetscInt        size, threads, sweeps, solve_sweeps, block, rounds, grid[4];
      PetscReal       relax, fill, tolerance;

      if (set) {
        PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
        PetscCall(KSPSetOperators(ksp, p.A, p.A));
        PetscCall(KSPGetPC(ksp, &pc));
        PetscCall(PCSetType(pc, way ? PCILU : PCSYNCILU));
        if (way) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSYNCILU));
        PetscCall(PCSyncILUSetBackend(pc, SYNCILU_BACKEND_HOST));
        PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_VECT));
        PetscCall(PCSyncILUSetPrefetch(pc, PETSC_BOOL3_FALSE));
        PetscCall(PCSyncILUSetVectorSize(pc, 8));
        PetscCall(PCSyncILUSetAnalysis(pc, SYNCILU_ANALYSIS_ALAP));
        PetscCall(PCSyncILUSetSolve(pc, SYNCILU_SOLVE_MR));
        PetscCall(PCSyncILUSetSolveSweeps(pc, 5));
        PetscCall(PCSyncILUSetSolveBlockSize(pc, 1));
        PetscCall(PCSyncILUSetGrid(pc, 6, 6, 6, 1));
        PetscCall(PCSyncILUSetThreads(pc, 2));
        PetscCall(PCSyncILUSetRelax(pc, 0.25));
        PetscCall(PCSyncILUSetFill(pc, 1.5));
        PetscCall(PCSyncILUSetRounds(pc, 4));
        PetscCall(PCSyncILUSetRoundsTolerance(pc, 0.125));
        PetscCall(PCSyncILUSetSweeps(pc, 7));
        PetscCall(PCSyncILUSetSweepsAsynchronous(pc, PETSC_TRUE));
        PetscCall(PCSyncILUSetResidual(pc, PETSC_TRUE));
        PetscCall(PCSyncILUSetSymmetric(pc, PETSC_TRUE));
        PetscCall(PCSyncILUSetTune(pc, PETSC_TRUE));
        PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
        PetscCall(KSPSolve(ksp, p.b, p.x));
      } else {
        PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", ways[way], flags));
        PetscCall(SolveWith(&p, options, &its, &ksp));
        PetscCall(KSPGetPC(ksp, &pc));
      }
      PetscCall(PCFactorGetMatrix(pc, &F));
      for (int mat = 0; mat < 2; mat++) {
        if (mat) {
          PetscCall(MatSyncILUGetBackend(F, &backend));
          PetscCall(MatSyncILUGetUpdate(F, &update));
          PetscCall(MatSyncILUGetPrefetch(F, &prefetch));
          PetscCall(MatSyncILUGetVectorSize(F, &size));
          PetscCall(MatSyncILUGetAnalysis(F, &analysis));
          PetscCall(MatSyncILUGetSolve(F, &solve));
          PetscCall(MatSyncILUGetSolveSweeps(F, &solve_sweeps));
          PetscCall(MatSyncILUGetSolveBlockSize(F, &block));
          PetscCall(MatSyncILUGetGrid(F, &grid[0], &grid[1], &grid[2], &grid[3]));
          PetscCall(MatSyncILUGetThreads(F, &threads));
          PetscCall(MatSyncILUGetRelax(F, &relax));
          PetscCall(MatSyncILUGetFill(F, &fill));
          PetscCall(MatSyncILUGetRounds(F, &rounds));
          PetscCall(MatSyncILUGetRoundsTolerance(F, &tolerance));
          PetscCall(MatSyncILUGetSweeps(F, &sweeps));
          PetscCall(MatSyncILUGetSweepsAsynchronous(F, &asynchronous));
          PetscCall(MatSyncILUGetResidual(F, &residual));
          PetscCall(MatSyncILUGetSymmetric(F, &symmetric));
          PetscCall(MatSyncILUGetTune(F, &tune));
          PetscCall(MatSyncILUGetCheck(F, &check));
        } else {
          PetscCall(PCSyncILUGetBackend(pc, &backend));
          PetscCall(PCSyncILUGetUpdate(pc, &update));
          PetscCall(PCSyncILUGetPrefetch(pc, &prefetch));
          PetscCall(PCSyncILUGetVectorSize(pc, &size));
          PetscCall(PCSyncILUGetAnalysis(pc, &analysis));
          PetscCall(PCSyncILUGetSolve(pc, &solve));
          PetscCall(PCSyncILUGetSolveSweeps(pc, &solve_sweeps));
          PetscCall(PCSyncILUGetSolveBlockSize(pc, &block));
          PetscCall(PCSyncILUGetGrid(pc, &grid[0], &grid[1], &grid[2], &grid[3]));
          PetscCall(PCSyncILUGetThreads(pc, &threads));
          PetscCall(PCSyncILUGetRelax(pc, &relax));
          PetscCall(PCSyncILUGetFill(pc, &fill));
          PetscCall(PCSyncILUGetRounds(pc, &rounds));
          PetscCall(PCSyncILUGetRoundsTolerance(pc, &tolerance));
          PetscCall(PCSyncILUGetSweeps(pc, &sweeps));
          PetscCall(PCSyncILUGetSweepsAsynchronous(pc, &asynchronous));
          PetscCall(PCSyncILUGetResidual(pc, &residual));
          PetscCall(PCSyncILUGetSymmetric(pc, &symmetric));
          PetscCall(PCSyncILUGetTune(pc, &tune));
          PetscCall(PCSyncILUGetCheck(pc, &check));
        }
        CHECK(backend == SYNCILU_BACKEND_HOST, "%s set %d mat %d: backend %d", ways[way], set, mat, (int)backend);
        CHECK(update == SYNCILU_UPDATE_VECT, "%s set %d mat %d: update %d", ways[way], set, mat, (int)update);
        CHECK(prefetch == PETSC_BOOL3_FALSE, "%s set %d mat %d: prefetch %d", ways[way], set, mat, (int)prefetch);
        CHECK(size == 8, "%s set %d mat %d: vector size %" PetscInt_FMT, ways[way], set, mat, size);
        CHECK(analysis == SYNCILU_ANALYSIS_ALAP, "%s set %d mat %d: analysis %d", ways[way], set, mat, (int)analysis);
        CHECK(solve == SYNCILU_SOLVE_MR, "%s set %d mat %d: solve %d", ways[way], set, mat, (int)solve);
        CHECK(solve_sweeps == 5 && block == 1, "%s set %d mat %d: sweeps %" PetscInt_FMT ", block size %" PetscInt_FMT, ways[way], set, mat, solve_sweeps,
              block);
        CHECK(grid[0] == 6 && grid[1] == 6 && grid[2] == 6 && grid[3] == 1, "%s set %d mat %d: grid %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT,
              ways[way], set, mat, grid[0], grid[1], grid[2]);
        CHECK(threads == 2, "%s set %d mat %d: threads %" PetscInt_FMT, ways[way], set, mat, threads);
        CHECK(relax == 0.25, "%s set %d mat %d: relax %g", ways[way], set, mat, (double)relax);
        CHECK(fill == 1.5 && rounds == 4 && tolerance == 0.125, "%s set %d mat %d: fill %g, rounds %" PetscInt_FMT ", tolerance %g", ways[way], set, mat,
              (double)fill, rounds, (double)tolerance);
        CHECK(sweeps == 7, "%s set %d mat %d: sweeps %" PetscInt_FMT, ways[way], set, mat, sweeps);
        CHECK(asynchronous == PETSC_TRUE, "%s set %d mat %d: asynchronous %d", ways[way], set, mat, (int)asynchronous);
        CHECK(residual == PETSC_TRUE, "%s set %d mat %d: residual %d", ways[way], set, mat, (int)residual);
        CHECK(symmetric == PETSC_TRUE, "%s set %d mat %d: symmetric %d", ways[way], set, mat, (int)symmetric);
        CHECK(tune == PETSC_TRUE, "%s set %d mat %d: tune %d", ways[way], set, mat, (int)tune);
        CHECK(check == PETSC_TRUE, "%s set %d mat %d: check %d", ways[way], set, mat, (int)check);
      }
      PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, 100000));
      for (size_t l = 0; l < sizeof(lines) / sizeof(lines[0]); l++)
        CHECK(strstr(text, lines[l]), "%s set %d: the view lacks \"%s\":\n%s", ways[way], set, lines[l], text);
      PetscCall(KSPDestroy(&ksp));
    }
  }
  for (int f = 0; f < 2; f++) {
    char   path[PETSC_MAX_PATH_LEN];
    FILE  *file;
    size_t n;

    PetscCall(PetscSNPrintf(path, sizeof(path), "%s/%s", SOURCE_DIR, files[f]));
    file = fopen(path, "r");
    PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", path);
    n       = fread(text, 1, 99999, file);
    text[n] = 0;
    fclose(file);
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) {
      char line[64];

      PetscCall(PetscSNPrintf(line, sizeof(line), f ? "  -pc_syncilu_%s" : ".  -pc_syncilu_%s", names[k]));
      CHECK(strstr(text, line), "the man pages of %s have no line \"%s\"", files[f], line);
    }
  }
  PetscCall(PetscFree(text));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every setter of PCFactor that PCILU takes does for PCSYNCILU what it does for PCILU. */
static PetscErrorCode TestSetters(void)
{
  Problem p;

  PetscFunctionBegin;
  PetscCall(ProblemCreate(8, 0.5, &p));
  PetscCall(MatSetOption(p.A, MAT_USE_INODES, PETSC_FALSE));
  for (int which = 0; which < 7; which++) {
    PetscInt its[2];

    for (int ours = 0; ours < 2; ours++) {
      KSP                ksp;
      PC                 pc;
      PetscReal          r;
      PetscInt           levels;
      PetscBool          flg;
      MatFactorShiftType shift;
      MatSolverType      type;
      Mat                F;
      MatInfo            info;

      PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
      PetscCall(KSPSetOperators(ksp, p.A, p.A));
      PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 500));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, ours ? PCSYNCILU : PCILU));
      switch (which) {
      case 0:
        PetscCall(PCFactorSetLevels(pc, 2));
        PetscCall(PCFactorGetLevels(pc, &levels));
        CHECK(levels == 2, "levels %" PetscInt_FMT, levels);
        PetscCall(PCFactorSetFill(pc, 3.0));
        break;
      case 1:
        PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGRCM));
        PetscCall(PCFactorSetReuseOrdering(pc, PETSC_TRUE));
        PetscCall(PCFactorSetReuseFill(pc, PETSC_TRUE));
        break;
      case 2:
        PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
        PetscCall(PCFactorGetShiftType(pc, &shift));
        CHECK(shift == MAT_SHIFT_NONZERO, "shift %d", (int)shift);
        PetscCall(PCFactorSetShiftAmount(pc, 0.3));
        PetscCall(PCFactorGetShiftAmount(pc, &r));
        CHECK(r == 0.3, "amount %g", (double)r);
        PetscCall(PCFactorSetZeroPivot(pc, 2.0));
        PetscCall(PCFactorGetZeroPivot(pc, &r));
        CHECK(r == 2.0, "zero pivot %g", (double)r);
        break;
      case 3:
        PetscCall(PCFactorSetAllowDiagonalFill(pc, PETSC_TRUE));
        PetscCall(PCFactorGetAllowDiagonalFill(pc, &flg));
        CHECK(flg, "diagonal fill");
        break;
      case 4:
        PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGND));
        PetscCall(PCFactorReorderForNonzeroDiagonal(pc, 1e-9));
        break;
      case 5:
        PetscCall(PCFactorSetPivotInBlocks(pc, PETSC_TRUE));
        PetscCall(PCFactorSetUseInPlace(pc, PETSC_FALSE));
        PetscCall(PCFactorGetUseInPlace(pc, &flg));
        CHECK(!flg, "in place");
        break;
      default: /* after the setup */
        PetscCall(KSPSetUp(ksp));
        PetscCall(PCFactorSetLevels(pc, 1));
      }
      PetscCall(KSPSolve(ksp, p.b, p.x));
      PetscCall(KSPGetIterationNumber(ksp, &its[ours]));
      PetscCall(PCFactorGetMatSolverType(pc, &type));
      PetscCall(PetscStrcmp(type, ours ? MATSOLVERSYNCILU : MATSOLVERPETSC, &flg));
      CHECK(flg, "solver type %s", type);
      PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
      if (which == 0)
        CHECK(info.fill_ratio_given == 3.0 && info.fill_ratio_needed > 1.5, "fill given %g needed %g", info.fill_ratio_given, info.fill_ratio_needed);
      PetscCall(KSPDestroy(&ksp));
    }
    CHECK(its[0] == its[1] && its[0] > 1, "setters %d: %" PetscInt_FMT " iterations, PCILU takes %" PetscInt_FMT, which, its[1], its[0]);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EventCount(const char *name, int *count)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBegin;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values: factored again without analysis, and every solve sees them. A new pattern: analysed again. */
static PetscErrorCode TestRefactorization(PetscRandom rand)
{
  PetscFunctionBegin;
  for (int threads = 1; threads <= 2; threads++) {
    Mat       A, B;
    PC        pc, ilu;
    Vec       b, x, y;
    PetscReal diff;
    int       analyses[2], factors[2];

    PetscCall(GenerateMatrix("27pt", 1000, rand, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecSetRandom(b, rand));
    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_AUTO, &pc));
    PetscCall(PCSyncILUSetThreads(pc, threads));
    PetscCall(PCCreate(PETSC_COMM_SELF, &ilu));
    PetscCall(PCSetType(ilu, PCILU));
    PetscCall(PCSetOperators(ilu, A, A));
    PetscCall(EventCount("SyncILUAnalysis", &analyses[0]));
    PetscCall(EventCount("SyncILUFactor", &factors[0]));
    for (int step = 0; step < 4; step++) {
      PetscCall(PCSetUp(pc));
      PetscCall(PCSetUp(ilu));
      for (int trans = 0; trans < 2; trans++) {
        if (trans) {
          PetscCall(PCApplyTranspose(pc, b, x));
          PetscCall(PCApplyTranspose(ilu, b, y));
        } else {
          PetscCall(PCApply(pc, b, x));
          PetscCall(PCApply(ilu, b, y));
        }
        PetscCall(CheckDifference(x, y, &diff));
        CHECK(diff <= 1e-12, "step %d transposed %d: differs from PCILU by %g", step, trans, (double)diff);
      }
      PetscCall(GenerateValues(A, rand));
    }
    PetscCall(EventCount("SyncILUAnalysis", &analyses[1]));
    PetscCall(EventCount("SyncILUFactor", &factors[1]));
    CHECK(analyses[1] - analyses[0] == 1, "%d analyses for one pattern", analyses[1] - analyses[0]);
    CHECK(factors[1] - factors[0] == 4, "%d factorizations for four sets of values", factors[1] - factors[0]);

    /* the preconditioner is kept though the matrix has new values */
    PetscCall(PCApply(pc, b, y));
    PetscCall(PCSetReusePreconditioner(pc, PETSC_TRUE));
    PetscCall(GenerateValues(A, rand));
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff == 0, "a preconditioner to be kept has changed by %g", (double)diff);
    PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
    PetscCall(PCApply(pc, b, x));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff > 0, "a preconditioner that was no longer to be kept has not changed");

    /* another pattern, in another matrix; settings and ordering are kept */
    PetscCall(PCFactorSetReuseOrdering(pc, PETSC_TRUE));
    PetscCall(PCSyncILUSetRelax(pc, 0.5));
    PetscCall(GenerateMatrix("7pt", 1000, rand, &B));
    PetscCall(EventCount("SyncILUAnalysis", &analyses[0]));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSetOperators(pc, B, B));
    PetscCall(PCSetUp(pc));
    PetscCall(EventCount("SyncILUAnalysis", &analyses[1]));
    CHECK(analyses[1] - analyses[0] == 2, "%d analyses for a changed setting and a changed pattern", analyses[1] - analyses[0]);
    {
      Mat       F;
      PetscReal relax;

      PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(MatSyncILUGetRelax(F, &relax));
      CHECK(relax == 0.5, "the factor of the new pattern has relaxation %g", (double)relax);
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(PCDestroy(&ilu));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transposed systems, many right-hand sides, and BiCG after a refactorization. */
static PetscErrorCode TestSolves(PetscRandom rand)
{
  Mat         A, B, X[2];
  KSP         ksp;
  PC          pc;
  Vec         b, x;
  PetscReal   norm;
  PetscInt    n;
  const char *types[] = {KSPGMRES, KSPBICG};

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 1000, rand, &A));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSetRandom(b, rand));
  for (int t = 0; t < 2; t++) {
    PetscCall(SolverCreate(A, SYNCILU_BACKEND_AUTO, &ksp, &pc));
    PetscCall(KSPSetType(ksp, types[t]));
    PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    for (int step = 0; step < 2; step++) {
      PetscCall(CheckSolves(ksp, b, x, types[t]));
      PetscCall(GenerateValues(A, rand));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_AUTO, &pc));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 5, NULL, &B));
  PetscCall(MatSetRandom(B, rand));
  for (int k = 0; k < 2; k++) PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X[k]));
  PetscCall(PCSetUp(pc));
  PetscCall(PCMatApply(pc, B, X[0]));
  for (PetscInt c = 0; c < 5; c++) {
    Vec bc, xc;

    PetscCall(MatDenseGetColumnVecRead(B, c, &bc));
    PetscCall(MatDenseGetColumnVecWrite(X[1], c, &xc));
    PetscCall(PCApply(pc, bc, xc));
    PetscCall(MatDenseRestoreColumnVecWrite(X[1], c, &xc));
    PetscCall(MatDenseRestoreColumnVecRead(B, c, &bc));
  }
  PetscCall(MatAXPY(X[0], -1.0, X[1], SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(X[0], NORM_FROBENIUS, &norm));
  CHECK(norm == 0, "PCMatApply() differs from PCApply() by %g", (double)norm);
  for (int k = 0; k < 2; k++) PetscCall(MatDestroy(&X[k]));
  PetscCall(MatDestroy(&B));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLifeCycle(PetscRandom rand)
{
  Mat       A, F;
  PC        pc, other;
  Vec       b, x, y;
  PetscReal diff;
  PetscBool flg;
  char      text[16384];
  PetscErrorCode (*setlevels)(PC, PetscInt);

  PetscFunctionBegin;
  /* created and destroyed; viewed before the setup */
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
  PetscCall(PCReset(pc));

  PetscCall(GenerateMatrix("7pt", 343, rand, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, rand));
  /* a factor without any phase, one with the symbolic phase alone */
  PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
  PetscCall(MatDestroy(&F));
  {
    MatFactorInfo info;

    PetscCall(MatFactorInfoInitialize(&info));
    info.fill = 1.0;
    PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
    PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info)); /* no ordering is the natural one */
    PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
    PetscCall(MatDestroy(&F));
  }
  /* reset and set up again */
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, y));
  PetscCall(PCReset(pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(CheckDifference(x, y, &diff));
  CHECK(diff == 0, "reset and set up again: differs by %g", (double)diff);
  /* another one beside it, on the same matrix, with other settings */
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_AUTO, &other));
  PetscCall(PCSyncILUSetRelax(other, 1.0));
  PetscCall(PCSetUp(other));
  PetscCall(PCApply(other, b, x));
  PetscCall(CheckDifference(x, y, &diff));
  CHECK(diff > 0, "relaxation had no effect");
  PetscCall(PCApply(pc, b, x));
  PetscCall(CheckDifference(x, y, &diff));
  CHECK(diff == 0, "the second preconditioner changed the first by %g", (double)diff);
  PetscCall(PCDestroy(&other));
  /* relaxation set after the setup, and taken back */
  PetscCall(PCSyncILUSetRelax(pc, 1.0));
  PetscCall(PCApply(pc, b, x));
  PetscCall(CheckDifference(x, y, &diff));
  CHECK(diff > 0, "relaxation set after the setup had no effect");
  PetscCall(PCSyncILUSetRelax(pc, 0.0));
  PetscCall(PCApply(pc, b, x));
  PetscCall(CheckDifference(x, y, &diff));
  CHECK(diff == 0, "relaxation taken back: differs by %g", (double)diff);
  /* another type, and back; nothing of ours stays behind */
  PetscCall(PCSetType(pc, PCJACOBI));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, "PCFactorSetLevels_C", &setlevels));
  CHECK(!setlevels, "PCFactorSetLevels_C is still composed after a change of type");
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(CheckDifference(x, y, &diff));
  CHECK(diff == 0, "changed type and back: differs by %g", (double)diff);
  /* in-place factorization is not honoured, and that is said */
  PetscCall(PCFactorSetUseInPlace(pc, PETSC_TRUE));
  PetscCall(PCFactorGetUseInPlace(pc, &flg));
  CHECK(!flg, "in place claims to be in use");
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
  CHECK(strstr(text, "in-place factorization asked for, not honoured"), "view: %s", text);
  PetscCall(PetscObjectQuery((PetscObject)A, "SyncILUShared", (PetscObject *)&other));
  CHECK(!other, "the matrix keeps the settings of a preconditioner");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Zeros on the diagonal are a breakdown, until the ordering is to remove them: asked for before the first
   setup, by option or setter, or after it, when there are no index sets yet.
*/
static PetscErrorCode TestReordering(void)
{
  const PetscInt n = 200;
  Mat            A;
  Vec            b, x;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 4, NULL, &A));
  for (PetscInt i = 0; i < n; i++) { /* neighbouring columns exchanged */
    PetscCall(MatSetValue(A, i, i, 0.0, INSERT_VALUES));
    PetscCall(MatSetValue(A, i, i ^ 1, 4.0 + (PetscReal)(i % 5), INSERT_VALUES));
    if (i >= 2) PetscCall(MatSetValue(A, i, (i - 2) ^ 1, -1.0, INSERT_VALUES));
    if (i + 2 < n) PetscCall(MatSetValue(A, i, (i + 2) ^ 1, -1.5, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  for (int when = 0; when < 4; when++) {
    KSP                ksp;
    PC                 pc;
    KSPConvergedReason reason;

    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCSYNCILU));
    if (when == 1) PetscCall(PCFactorReorderForNonzeroDiagonal(pc, 1e-9));
    if (when == 2) {
      PetscOptions db;

      PetscCall(CheckOptionsBegin("-pc_factor_nonzeros_along_diagonal", &db));
      PetscCall(KSPSetFromOptions(ksp));
      PetscCall(CheckOptionsEnd(&db));
    }
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (when == 3) {
      CHECK(reason == KSP_DIVERGED_PC_FAILED, "zeros on the diagonal: reason %d", (int)reason);
      PetscCall(PCFactorReorderForNonzeroDiagonal(pc, 1e-9));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
    }
    CHECK(when ? reason > 0 : reason == KSP_DIVERGED_PC_FAILED, "reordering, case %d: reason %d", when, (int)reason);
    /* the natural ordering asked for by name, when it has been in use */
    if (when == 0) {
      PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGNATURAL));
      PetscCall(KSPSetOperators(ksp, A, A));
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      CHECK(reason == KSP_DIVERGED_PC_FAILED, "zeros on the diagonal, natural ordering: reason %d", (int)reason);
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A band of two diagonals below and eight above, from arrays of the caller or with MatSetValues(). */
static PetscErrorCode Band(PetscInt n, PetscInt *i, PetscInt *j, PetscScalar *a, PetscBool arrays, Mat *A)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) {
    i[r] = nz;
    for (PetscInt c = PetscMax(0, r - 2); c < PetscMin(n, r + 9); c++) {
      a[nz]   = c == r ? 6.0 + (PetscReal)(r % 3) : -1.0 / (PetscReal)(1 + (3 * r + 5 * c) % 7);
      j[nz++] = c;
    }
  }
  i[n] = nz;
  if (arrays) PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, i, j, a, A));
  else {
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 11, NULL, A));
    for (PetscInt r = 0; r < n; r++) PetscCall(MatSetValues(*A, 1, &r, i[r + 1] - i[r], j + i[r], a + i[r], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A transposition in place is another pattern with as many entries, of which PETSc may not tell the
   preconditioner: the iterations are those of a PCILU that never saw the matrix before.
*/
static PetscErrorCode TestTransposition(void)
{
  const PetscInt n = 10000; /* auto takes a GPU where there is one */
  PetscInt      *i, *j;
  PetscScalar   *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n + 1, &i, 11 * n, &j, 11 * n, &a));
  for (int arrays = 0; arrays < 2; arrays++) {
    for (int ilu = 0; ilu < 2; ilu++) {
      Mat A;
      KSP ksp;
      PC  pc;
      Vec b, x;

      PetscCall(Band(n, i, j, a, (PetscBool)arrays, &A));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecSet(b, 1.0));
      PetscCall(SolverCreate(A, SYNCILU_BACKEND_AUTO, &ksp, &pc));
      if (ilu) {
        PetscCall(PCSetType(pc, PCILU));
        PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSYNCILU));
      }
      PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
      for (int t = 0; t < 4; t++) {
        KSP                fresh;
        PC                 other;
        PetscInt           its[2];
        KSPConvergedReason reason;

        PetscCall(KSPSolve(ksp, b, x));
        PetscCall(KSPGetIterationNumber(ksp, &its[0]));
        PetscCall(KSPGetConvergedReason(ksp, &reason));
        PetscCall(KSPCreate(PETSC_COMM_SELF, &fresh));
        PetscCall(KSPSetOperators(fresh, A, A));
        PetscCall(KSPGetPC(fresh, &other));
        PetscCall(PCSetType(other, PCILU));
        PetscCall(KSPSetTolerances(fresh, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
        PetscCall(KSPSolve(fresh, b, x));
        PetscCall(KSPGetIterationNumber(fresh, &its[1]));
        CHECK(reason > 0 && its[0] == its[1], "arrays %d, ilu %d, %d transpositions: %s after %" PetscInt_FMT " iterations, PCILU takes %" PetscInt_FMT, arrays,
              ilu, t, KSPConvergedReasons[reason], its[0], its[1]);
        PetscCall(KSPDestroy(&fresh));
        PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
        PetscCall(KSPSetOperators(ksp, A, A));
      }
      PetscCall(KSPDestroy(&ksp));
      PetscCall(MatDestroy(&A));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
    }
  }
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCILU of PETSc 3.18 makes its factor when it reads its options, of a matrix that it has already: that factor
   has the settings too.
*/
static PetscErrorCode TestFactorOfOptions(PetscRandom rand)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("5pt", 400, rand, &A));
  for (int way = 0; way < 3; way++) { /* PCILU before and after a reset, PCSYNCILU with other levels */
    PC        pc;
    Mat       F;
    PetscReal relax[2];

    PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
    PetscCall(PCSetType(pc, way < 2 ? PCILU : PCSYNCILU));
    if (way < 2) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSYNCILU));
    PetscCall(PCSyncILUSetRelax(pc, 0.625));
    PetscCall(PCSetOperators(pc, A, A));
    if (way) {
      PetscCall(PCSetUp(pc));
      if (way == 1) {
        PetscCall(PCReset(pc));
        PetscCall(PCSetOperators(pc, A, A));
      } else PetscCall(PCFactorSetLevels(pc, 1));
    }
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCSetUp(pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(PCSyncILUGetRelax(pc, &relax[0]));
    PetscCall(MatSyncILUGetRelax(F, &relax[1]));
    CHECK(relax[0] == 0.625 && relax[1] == 0.625, "way %d: relaxation %g, that of the factor %g", way, (double)relax[0], (double)relax[1]);
    PetscCall(PCSyncILUSetRelax(pc, 0.5));
    PetscCall(PCSetUp(pc));
    PetscCall(PCFactorGetMatrix(pc, &F));
    PetscCall(MatSyncILUGetRelax(F, &relax[1]));
    CHECK(relax[1] == 0.5, "way %d: changed later, relaxation of the factor %g", way, (double)relax[1]);
    PetscCall(PCSetType(pc, PCJACOBI)); /* forgets what it has learnt */
    PetscCall(PCSetFromOptions(pc));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A factor that is asked for before the setup has the settings that come after, and stays. */
static PetscErrorCode TestFactorFirst(PetscRandom rand)
{
  Mat      A, F[2];
  PC       pc;
  PetscInt threads;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("5pt", 100, rand, &A));
  PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCFactorSetUpMatSolverType(pc));
  PetscCall(PCFactorGetMatrix(pc, &F[0]));
  PetscCall(PCSyncILUSetThreads(pc, 3));
  PetscCall(PCFactorGetMatrix(pc, &F[1]));
  CHECK(F[0] == F[1], "a setter destroys the factor before the setup");
  if (F[0] == F[1]) {
    PetscCall(MatSyncILUGetThreads(F[0], &threads));
    CHECK(threads == 3, "%" PetscInt_FMT " threads", threads);
  }
  PetscCall(PCSetUp(pc));
  PetscCall(PCFactorGetMatrix(pc, &F[1]));
  CHECK(F[0] == F[1], "the setup makes another factor");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The check switched on after the symbolic phase, which made no pattern on the host where a GPU planned. */
static PetscErrorCode TestCheckLater(PetscRandom rand)
{
  Mat A;
  Vec b, x, y;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 9261, rand, &A)); /* auto takes a GPU where there is one */
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecSetRandom(b, rand));
  for (int ilu = 0; ilu < 3; ilu++) { /* PCSYNCILU, PCILU, MatGetFactor() */
    MatFactorInfo info;
    Mat           F;
    PC            pc, reference;
    PetscReal     diff;

    PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_AUTO, &pc));
    if (ilu == 1) {
      PetscCall(PCSetType(pc, PCILU));
      PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERSYNCILU));
    }
    PetscCall(MatFactorInfoInitialize(&info));
    info.fill = 1.0;
    if (ilu == 2) {
      PetscCall(MatGetFactor(A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
      PetscCall(MatILUFactorSymbolic(F, A, NULL, NULL, &info));
      PetscCall(MatSyncILUSetCheck(F, PETSC_TRUE));
      PetscCall(MatLUFactorNumeric(F, A, &info));
      PetscCall(MatSolve(F, b, x));
    } else {
      PetscCall(PCSetUp(pc));
      PetscCall(PCApply(pc, b, x));
      PetscCall(PCSyncILUSetCheck(pc, PETSC_TRUE));
      PetscCall(GenerateValues(A, rand));
      PetscCall(PCSetUp(pc));
      PetscCall(PCApply(pc, b, x));
    }
    PetscCall(PCCreate(PETSC_COMM_SELF, &reference));
    PetscCall(PCSetType(reference, PCILU));
    PetscCall(PCSetOperators(reference, A, A));
    PetscCall(PCApply(reference, b, y));
    PetscCall(CheckDifference(x, y, &diff));
    CHECK(diff <= 1e-12, "checked from the second factorization on, way %d: differs from PCILU by %g", ilu, (double)diff);
    /* switched off and on again around new values: the reference of the old ones is not to be compared with */
    if (ilu) {
      if (ilu == 1) PetscCall(PCFactorGetMatrix(pc, &F));
      PetscCall(MatSyncILUSetCheck(F, PETSC_FALSE));
      PetscCall(GenerateValues(A, rand));
      PetscCall(MatLUFactorNumeric(F, A, &info));
      PetscCall(MatSyncILUSetCheck(F, PETSC_TRUE));
      PetscCall(MatSolve(F, b, x));
      PetscCall(PCApply(reference, b, y));
      PetscCall(CheckDifference(x, y, &diff));
      CHECK(diff <= 1e-12, "checked again after a factorization without, way %d: differs from PCILU by %g", ilu, (double)diff);
    }
    if (ilu == 2) PetscCall(MatDestroy(&F));
    PetscCall(PCDestroy(&pc));
    PetscCall(PCDestroy(&reference));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As if it had new values. */
static PetscErrorCode Touch(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetValue(A, 0, 0, 0.0, ADD_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc makes a new factor for a new pattern. What was set for a PCILU with our solver type stays and acts.
*/
static PetscErrorCode TestSettingsStay(PetscRandom rand)
{
  const char *const patterns[] = {"7pt", "27pt", "random"};
  Mat               A;
  Vec               b, x, y;

  PetscFunctionBegin;
  for (int early = 0; early < 2; early++) { /* set before there is a matrix, and after the first setup */
    PC                ilu;
    PetscInt          threads, size;
    PetscReal         relax, diff;
    SyncILUBackend    backend;
    SyncILUAnalysis   analysis;
    PetscBool         check;
    SyncILUStatistics s;
    PetscErrorCode (*method)(PC, PetscReal);

    PetscCall(PCCreate(PETSC_COMM_SELF, &ilu));
    PetscCall(PCSetType(ilu, PCILU));
    PetscCall(PCSyncILUSetRelax(ilu, 0.5)); /* no effect: it has another solver type */
    PetscCall(PCFactorSetMatSolverType(ilu, MATSOLVERSYNCILU));
    for (int step = 0; step < 3; step++) {
      PC ours;

      PetscCall(GenerateMatrix(patterns[step], 1000, rand, &A));
      PetscCall(MatCreateVecs(A, &x, &b));
      PetscCall(VecDuplicate(x, &y));
      PetscCall(VecSetRandom(b, rand));
      if (!early) {
        PetscCall(PCSetOperators(ilu, A, A));
        PetscCall(PCSetUp(ilu));
      }
      if (step == 0) {
        PetscCall(PCSyncILUGetRelax(ilu, &relax));
        CHECK(relax == 0.0, "relaxation %g was set for a PCILU of PETSc's own", (double)relax);
        PetscCall(PCSyncILUSetBackend(ilu, SYNCILU_BACKEND_HOST));
        PetscCall(PCSyncILUSetAnalysis(ilu, SYNCILU_ANALYSIS_ASAP));
        PetscCall(PCSyncILUSetVectorSize(ilu, 8));
        PetscCall(PCSyncILUSetThreads(ilu, 2));
        PetscCall(PCSyncILUSetRelax(ilu, 0.75));
        PetscCall(PCSyncILUSetCheck(ilu, PETSC_TRUE));
      }
      PetscCall(PCSetOperators(ilu, A, A));
      PetscCall(Touch(A));
      PetscCall(PCSetUp(ilu));
      PetscCall(PCSyncILUGetBackend(ilu, &backend));
      PetscCall(PCSyncILUGetAnalysis(ilu, &analysis));
      PetscCall(PCSyncILUGetVectorSize(ilu, &size));
      PetscCall(PCSyncILUGetThreads(ilu, &threads));
      PetscCall(PCSyncILUGetRelax(ilu, &relax));
      PetscCall(PCSyncILUGetCheck(ilu, &check));
      CHECK(backend == SYNCILU_BACKEND_HOST && analysis == SYNCILU_ANALYSIS_ASAP && size == 8 && threads == 2 && relax == 0.75 && check,
            "early %d step %d: backend %d, analysis %d, vector size %" PetscInt_FMT ", threads %" PetscInt_FMT ", relax %g, check %d", early, step,
            (int)backend, (int)analysis, size, threads, (double)relax, (int)check);
      PetscCall(PCSyncILUGetStatistics(ilu, &s));
      CHECK(s.threads == 2, "early %d step %d: %" PetscInt_FMT " threads run", early, step, s.threads);
      PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_HOST, &ours));
      PetscCall(PCSyncILUSetRelax(ours, 0.75));
      PetscCall(PCApply(ours, b, y));
      PetscCall(PCApply(ilu, b, x));
      PetscCall(CheckDifference(x, y, &diff));
      CHECK(diff == 0, "early %d step %d: differs from PCSYNCILU by %g", early, step, (double)diff);
      PetscCall(PCDestroy(&ours));
      PetscCall(MatDestroy(&A));
      PetscCall(VecDestroy(&b));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
    }
    /* another type forgets them, and so does another solver type */
    PetscCall(PCSetType(ilu, PCJACOBI));
    PetscCall(PCSyncILUSetRelax(ilu, 0.25));
    CHECK_ERROR(PCSyncILUGetRelax(ilu, &relax), PETSC_ERR_SUP, "PCSyncILUGetRelax_C");
    PetscCall(PetscObjectQueryFunction((PetscObject)ilu, "PCSyncILUSetRelax_C", &method));
    CHECK(!method, "PCSyncILUSetRelax_C is still composed after a change of type");
    PetscCall(PCSetType(ilu, PCILU));
    PetscCall(PCFactorSetMatSolverType(ilu, MATSOLVERSYNCILU));
    PetscCall(PCSyncILUSetThreads(ilu, 3));
    PetscCall(PCSyncILUGetRelax(ilu, &relax));
    CHECK(relax == 0.0, "relaxation %g of a preconditioner that was of another type meanwhile", (double)relax);
    PetscCall(PCFactorSetMatSolverType(ilu, MATSOLVERPETSC));
    CHECK_ERROR(PCSyncILUGetRelax(ilu, &relax), PETSC_ERR_SUP, "PCSyncILUGetRelax_C");
    PetscCall(GenerateMatrix("7pt", 1000, rand, &A));
    PetscCall(PCSetOperators(ilu, A, A));
    PetscCall(PCSetUp(ilu));
    PetscCall(PCDestroy(&ilu));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCILU knows of MATSEQAIJ and MATMPIAIJ alone that they take a shift of the whole diagonal. With the types
   derived from them it means what it says, too.
*/
static PetscErrorCode TestShiftTypes(void)
{
  const MatType types[] = {MATSEQAIJ, MATSEQAIJPERM, MATSEQAIJSELL};

  PetscFunctionBegin;
  for (int option = 0; option < 2; option++) { /* PCSYNCILU and its setters, PCILU and the option */
    SyncILUStatistics s[3];
    Vec               b, x[3];

    for (int t = 0; t < 3; t++) {
      Mat                A, B;
      PC                 pc;
      MatFactorShiftType shift;
      PetscReal          amount, diff;
      char               text[16384];

      PetscCall(Tridiagonal(200, 100, 0.0, -1.0, &B));
      PetscCall(MatConvert(B, types[t], MAT_INITIAL_MATRIX, &A));
      if (t == 0) {
        PetscCall(MatCreateVecs(B, NULL, &b));
        PetscCall(VecSet(b, 1.0));
      }
      PetscCall(VecDuplicate(b, &x[t]));
      PetscCall(PCCreate(PETSC_COMM_SELF, &pc));
      PetscCall(PCSetOperators(pc, A, A));
      if (option) {
        PetscCall(PetscOptionsInsertString(NULL, "-pc_type ilu -pc_factor_mat_solver_type syncilu -pc_factor_shift_type nonzero -pc_factor_shift_amount 0.1"));
        PetscCall(PCSetFromOptions(pc));
      } else {
        PetscCall(PCSetType(pc, PCSYNCILU));
        PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
        PetscCall(PCFactorSetShiftAmount(pc, 0.1));
      }
      for (int step = 0; step < 2; step++) {
        PetscCall(PCSetUp(pc));
        PetscCall(Touch(A));
        PetscCall(PCApply(pc, b, x[t]));
        PetscCall(PCSyncILUGetStatistics(pc, &s[t]));
        CHECK(s[t].shift_attempts > 0 && s[t].pivots_shifted == 200, "%s, option %d: %" PetscInt_FMT " attempts, %" PetscInt_FMT " pivots shifted", types[t],
              option, s[t].shift_attempts, s[t].pivots_shifted);
        CHECK(s[t].shift_attempts == s[0].shift_attempts && s[t].shift_amount == s[0].shift_amount, "%s, option %d: another shift than with seqaij", types[t],
              option);
        PetscCall(CheckDifference(x[t], x[0], &diff));
        CHECK(diff == 0, "%s, option %d: another factor than with seqaij, by %g", types[t], option, (double)diff);
      }
      if (!option) {
        PetscCall(PCFactorGetShiftType(pc, &shift));
        PetscCall(PCFactorGetShiftAmount(pc, &amount));
        CHECK(shift == MAT_SHIFT_NONZERO && amount == 0.1, "%s: shift %s by %g", types[t], MatFactorShiftTypes[shift], (double)amount);
        PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
        CHECK(strstr(text, "using diagonal shift to prevent zero pivot"), "%s: the view says another shift:\n%s", types[t], text);
        /* the shift of single pivots is what it was */
        PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_INBLOCKS));
        PetscCall(Touch(A));
        PetscCall(PCSetUp(pc));
        PetscCall(PCSyncILUGetStatistics(pc, &s[t]));
        CHECK(s[t].shift_attempts == 0 && s[t].pivots_shifted == 1, "%s inblocks: %" PetscInt_FMT " attempts, %" PetscInt_FMT " pivots shifted", types[t],
              s[t].shift_attempts, s[t].pivots_shifted);
        PetscCall(PCFactorSetShiftType(pc, MAT_SHIFT_NONZERO));
        PetscCall(Touch(A));
        PetscCall(PCSetUp(pc));
        PetscCall(PCSyncILUGetStatistics(pc, &s[t]));
      }
      PetscCall(PCDestroy(&pc));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
    for (int t = 0; t < 3; t++) PetscCall(VecDestroy(&x[t]));
    PetscCall(VecDestroy(&b));
    if (option) {
      const char *const names[] = {"-pc_type", "-pc_factor_mat_solver_type", "-pc_factor_shift_type", "-pc_factor_shift_amount"};

      for (int k = 0; k < 4; k++) PetscCall(PetscOptionsClearValue(NULL, names[k]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int failed = 0;

  /* twice: what finalization undoes, initialization does again */
  PetscCallMPI(MPI_Init(&argc, &argv));
  for (int round = 0; round < 2; round++) {
    PetscRandom rand;

    PetscCall(PetscInitialize(&argc, &argv, NULL, help));
    PetscCall(PetscLogDefaultBegin());
    PetscCall(SyncILUInitializePackage());
    PetscCall(SyncILUInitializePackage());
    PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
    PetscCall(TestLifeCycle(rand));
    PetscCall(TestRefactorization(rand));
    if (round == 0) {
      PetscCall(TestFaces());
      PetscCall(TestSetters());
      PetscCall(TestReordering());
      PetscCall(TestSolves(rand));
      PetscCall(TestIterations());
      PetscCall(TestTransposition());
      PetscCall(TestFactorFirst(rand));
      PetscCall(TestFactorOfOptions(rand));
      PetscCall(TestCheckLater(rand));
      PetscCall(TestSettingsStay(rand));
      PetscCall(TestShiftTypes());
      PetscCall(TestRelaxation());
    }
    PetscCall(PetscRandomDestroy(&rand));
    failed = CheckReport("pc");
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return failed;
}
