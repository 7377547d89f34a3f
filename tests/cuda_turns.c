static char help[] = "Levels that are narrow and wide by turns: how they are cut into runs, against all ways to cut them; solutions by one, two,\n\
three and more runs; and what auto takes.\n\n";

#include "check.h"
#include "case.h"
#include "cuda/choose.h"
#include "gpu_case.h"
#include "gpu.h"

enum {
  SEGMENTS = 10,
  LEVELS   = 4000
};

/*
   Levels of few rows, so many that a run of the cluster's among others is worth its turns; and rows of a level that is
   worth those of all multiprocessors, with so many lanes a row.
*/
static const double turns = 2.0 * SYNCILU_RUN_LAUNCH + SYNCILU_RUN_CLUSTER;

static int NarrowLevels(void)
{
  return (int)(1.2 * turns / (SYNCILU_HOP_BY_LEVEL - SYNCILU_HOP_CLUSTER)) + 1;
}

static int WideRows(int lanes)
{
  const double slices = lanes >= 1 << SYNCILU_CLUSTER_LANES ? SYNCILU_CLUSTER_SLICES_LONG : SYNCILU_CLUSTER_SLICES;

  return (int)(1.2 * (turns + SYNCILU_HOP_BY_LEVEL) / SYNCILU_HOP_BY_LEVEL * slices * 32.0 / lanes) + 1;
}

/* Nanoseconds of a level by a cluster, as kernels/tuning.h has it, where all multiprocessors take SYNCILU_HOP_BY_LEVEL. */
static double ClusterTime(int rows, int lanes)
{
  const double row = SYNCILU_HOP_BY_LEVEL * lanes / (32.0 * (lanes >= 1 << SYNCILU_CLUSTER_LANES ? SYNCILU_CLUSTER_SLICES_LONG : SYNCILU_CLUSTER_SLICES));

  return PetscMax(SYNCILU_HOP_CLUSTER, rows * (rows > SYNCILU_CLUSTER_WIDE ? PetscMax(row, SYNCILU_CLUSTER_WIDE_TIME) : row));
}

/* Levels in segments of equal ones, for which all ways to cut them can be tried. */
static PetscErrorCode TestCuts(PetscRandom rand)
{
  int *rows, different = 0, late = 0, most = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(LEVELS, &rows));
  for (int trial = 0; trial < 200; trial++) {
    const int   lanes = 1 << (trial % 6), segments = trial % SEGMENTS + 1;
    int         of[SEGMENTS], count[SEGMENTS], levels = 0, n = 0, bad = 0;
    double      best = PETSC_MAX_REAL, alone = 0.0, time[2], sum = 0.0;
    SyncILURuns runs;

    for (int s = 0; s < segments; s++) {
      const PetscBool narrow = (PetscBool)(s % 2 == trial % 2);
      PetscReal       a, b;

      PetscCall(PetscRandomGetValueReal(rand, &a));
      PetscCall(PetscRandomGetValueReal(rand, &b));
      count[s] = 1 + (int)(a * 2.0 * NarrowLevels());
      of[s]    = narrow ? 1 + (int)(b * 50.0) : 1 + (int)(b * 2.0 * WideRows(lanes) / count[s]);
      if (segments == SYNCILU_RUNS_MOST) { /* each is worth a run */
        count[s] = narrow ? NarrowLevels() : 1;
        of[s]    = narrow ? 1 : (int)((1.0 + b) * WideRows(lanes));
      }
      if (trial % 7 == 0 && s == segments / 2) of[s] += SYNCILU_CLUSTER_WIDE;
      for (int k = 0; k < count[s] && levels < LEVELS; k++) rows[levels++] = of[s];
    }
    for (int way = 0; way < 1 << segments; way++) {
      double cost = 0.0;
      int    cuts = 0;

      for (int s = 0; s < segments; s++) {
        const int wide = way >> s & 1, turn = s && wide != (way >> (s - 1) & 1);

        cuts += turn;
        cost += count[s] * (wide ? SYNCILU_HOP_BY_LEVEL : ClusterTime(of[s], lanes)) + turn * (SYNCILU_RUN_LAUNCH + !wide * SYNCILU_RUN_CLUSTER);
      }
      if (cuts < SYNCILU_RUNS_MOST) best = PetscMin(best, cost);
    }
    PetscCall(CutLevels(rows, levels, (int)log2((double)lanes), &runs, time));
    for (int r = 0; r < runs.count && r < SYNCILU_RUNS_MOST; r++) {
      bad += runs.first[r] != n || runs.level[r] >= runs.level[r + 1];
      if (r) sum += SYNCILU_RUN_LAUNCH + !SyncILURunWide(&runs, r) * SYNCILU_RUN_CLUSTER;
      for (int l = runs.level[r]; l < runs.level[r + 1]; l++) {
        n += rows[l];
        sum += SyncILURunWide(&runs, r) ? SYNCILU_HOP_BY_LEVEL : ClusterTime(rows[l], lanes);
        alone += SYNCILU_HOP_BY_LEVEL;
      }
    }
    CHECK(runs.count >= 1 && runs.count <= SYNCILU_RUNS_MOST && !bad && runs.level[0] == 0 && runs.level[runs.count] == levels && runs.first[runs.count] == n,
          "trial %d: %d runs of %d levels with %d rows end at level %d and row %d; %d of them are wrong", trial, runs.count, levels, n, runs.level[runs.count],
          runs.first[runs.count], bad);
    CHECK(PetscAbsReal(sum - time[0]) <= 1e-9 * sum && PetscAbsReal(alone - time[1]) <= 1e-9 * alone, "trial %d: said to take %g and %g ns, not %g and %g",
          trial, time[0], time[1], sum, alone);
    /* beyond the most runs some are made longer, which need not be the best ones */
    if (runs.count < SYNCILU_RUNS_MOST - 1) late += sum > best * (1.0 + 1e-12);
    different += sum < alone * (1.0 - 1e-12);
    most = PetscMax(most, runs.count);
    CHECK(sum <= alone * (1.0 + 1e-12), "trial %d: runs take longer than one, %g for %g ns", trial, sum, alone);
  }
  CHECK(late == 0, "%d times there is a shorter way", late);
  CHECK(different > 50 && most >= SYNCILU_RUNS_MOST - 1, "%d times runs are shorter, and there are up to %d", different, most);
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Levels by a letter each: one wide level; as many narrow ones as are worth a run; the same of one row each; and so many
   that the emulator's short rings go round.
*/
static const struct {
  const char *name, *letters;
} shapes[] = {
  {"wide",                    "w"             },
  {"narrow",                  "n"             },
  {"wide, narrow",            "wn"            },
  {"narrow, wide",            "nw"            },
  {"wide, narrow, wide",      "wwmw"          },
  {"narrow, wide, chain",     "nww1"          },
  {"the most runs",           "wnwnw1wn"      },
  {"more than the most runs", "nwnwnw1wnwnwnw"}
};

/* Levels of a letter. */
static int Count(char letter)
{
  return letter == 'w' ? 1 : letter == 'm' ? 2 * NarrowLevels() + 20 : NarrowLevels();
}

static int Levels(const char *letters, int lanes, int rows[])
{
  int levels = 0;

  for (const char *c = letters; *c; c++) {
    for (int k = 0; k < Count(*c) && levels < LEVELS; k++) rows[levels++] = *c == 'w' ? WideRows(lanes) : *c == '1' ? 1 : 1 + 5 * k % 13;
  }
  return levels;
}

/* What the view has to say of L, as a letter other than its neighbors begins a run; nothing where it is one of the cluster's. */
static PetscErrorCode Want(const char *letters, char text[], size_t size)
{
  int    runs = 0, level = 0;
  size_t used;
  char   list[512] = "";

  PetscFunctionBegin;
  for (const char *c = letters; *c;) {
    const int wide = *c == 'w', first = level;

    for (; *c && (*c == 'w') == wide; c++) level += Count(*c);
    used = strlen(list);
    PetscCall(
      PetscSNPrintf(list + used, sizeof(list) - used, "%s%d to %d by %s", runs++ ? ", " : "", first, level - 1, wide ? "all multiprocessors" : "a cluster"));
  }
  text[0] = 0;
  if (runs > 1) PetscCall(PetscSNPrintf(text, size, "L in %d runs of levels by turns: %s\n", runs, list));
  else if (letters[0] == 'w') PetscCall(PetscSNPrintf(text, size, "L in 1 run of levels: %s\n", list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the last row of wide levels, and of those behind them, entries in the columns of all rows before its level. */
static PetscErrorCode Lengthen(const int rows[], int levels, PetscRandom rand, Mat A)
{
  PetscInt begin = rows[0];

  PetscFunctionBegin;
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
  for (int l = 1; l < levels; begin += rows[l++]) {
    if (PetscMax(rows[l], rows[l - 1]) < 100) continue;
    for (PetscInt j = 0; j < begin; j++) {
      PetscCall(MatSetValue(A, begin + rows[l] - 1, j, 1.0, INSERT_VALUES));
      PetscCall(MatSetValue(A, j, begin + rows[l] - 1, 1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(GenerateValues(A, rand));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One right-hand side and several by turns, each of which leaves counters and sentinels to the next. */
static PetscErrorCode TestSolves(const Case *c, const char *name, SyncILUSolve solve, SyncILUAnalysis analysis, PetscInt lanes, char view[], size_t size)
{
  const PetscInt  nrhs[] = {1, SYNCILU_RHS_BLOCK + 1, 1};
  SyncILUSettings settings;
  SyncILUEngine   e;
  char            what[160];

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  settings.backend     = SYNCILU_BACKEND_CUDA;
  settings.solve       = solve;
  settings.analysis    = analysis;
  settings.vector_size = lanes;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s by %s, analysis %s, %" PetscInt_FMT " lanes", name, SyncILUSolves[solve], SyncILUAnalyses[analysis], lanes));
  Watch("%s", what);
  PetscCall(EngineCreate(&settings, c, &e));
  PetscCall(EngineFactorUnshifted(e, &c->csr, NULL, c->piv.zeropivot));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(nrhs); k++) PetscCall(EngineCheckSolutions(e, c, nrhs[k], what));
  PetscCall(EngineView(e, view, size));
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestShapes(int rows[], PetscRandom rand)
{
  char view[4096], want[640];

  PetscFunctionBegin;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(shapes); s++) {
    const PetscBool symmetric = (PetscBool)(s % 2), more = (PetscBool)(strlen(shapes[s].letters) > SYNCILU_RUNS_MOST);
    const int       lanes = symmetric ? 32 : 8, levels = Levels(shapes[s].letters, lanes, rows);
    Mat             A;
    Case            c;

    PetscCall(GenerateLevels(rows, levels, symmetric, rand, &A));
    PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
    PetscCall(TestSolves(&c, shapes[s].name, SYNCILU_SOLVE_CLUSTER, SYNCILU_ANALYSIS_ASAP, lanes, view, sizeof(view)));
    PetscCall(Want(shapes[s].letters, want, sizeof(want)));
    if (more) CHECK(strstr(view, "runs of levels by turns"), "%s: the view says\n%s", shapes[s].name, view);
    else if (want[0]) CHECK(CheckViewSays(view, "order", want), "%s: wanted \"%s\", the view says\n%s", shapes[s].name, want, view);
    else CHECK(!CheckViewSays(view, "order", "L in"), "%s: the view says\n%s", shapes[s].name, view);
    if (s == 4) PetscCall(TestSolves(&c, shapes[s].name, SYNCILU_SOLVE_CLUSTER, SYNCILU_ANALYSIS_ALAP, lanes, view, sizeof(view)));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows that several warps share, in runs of either form. */
static PetscErrorCode TestLongRows(int rows[], PetscRandom rand)
{
  const int levels = Levels("wnwn", 4, rows);
  char      view[4096], want[640];
  Mat       A;
  Case      c;

  PetscFunctionBegin;
  rows[0] = PetscMax(rows[0], 64 * SYNCILU_PART + 100);
  PetscCall(GenerateLevels(rows, levels, PETSC_TRUE, rand, &A));
  PetscCall(Lengthen(rows, levels, rand, A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  PetscCall(TestSolves(&c, "long rows", SYNCILU_SOLVE_CLUSTER, SYNCILU_ANALYSIS_ASAP, 4, view, sizeof(view)));
  PetscCall(Want("wnwn", want, sizeof(want)));
  CHECK(CheckViewSays(view, "order", want), "long rows: wanted \"%s\", the view says\n%s", want, view);
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Auto takes a cluster where levels are narrow, and where many are while they are wide in the mean. Without an engine,
   whose auto would find that these rows, with so many lanes each, take too much memory.
*/
static PetscErrorCode TestAuto(int rows[], const SolveOps *ell, PetscRandom rand)
{
  const int narrow = PetscMax(SYNCILU_CLUSTER_LEVELS, 2 * NarrowLevels());
  const struct {
    const char  *name;
    int          wide, narrow, rows; /* levels, and rows of the wide ones */
    SyncILUSolve solve;
    const char  *why;
  } kinds[] = {
    {"narrow levels",          0,                          narrow, 0,                               SYNCILU_SOLVE_CLUSTER, "which a cluster goes through faster"          },
    {"a wide end",             12,                         narrow, WideRows(32),                    SYNCILU_SOLVE_CLUSTER, "faster, wide ones left to all multiprocessors"},
    {"a wide end, few levels", 12,                         8,      WideRows(32),                    SYNCILU_SOLVE_ELL,     "which suit no cluster"                        },
    {"wide levels",            SYNCILU_CLUSTER_LEVELS + 1, 0,      2 * SYNCILU_CLUSTER_SLICES_LONG, SYNCILU_SOLVE_ELL,     "which suit no cluster"                        }
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    const SolveOps *ops = ell;
    SyncILUSettings settings;
    Plan            plan;
    char            why[192] = "";
    int             before;
    Mat             A;
    Case            c;

    for (int l = 0; l < kinds[k].wide + kinds[k].narrow; l++) rows[l] = l < kinds[k].wide ? kinds[k].rows : 1 + l % 4;
    PetscCall(GenerateLevels(rows, kinds[k].wide + kinds[k].narrow, PETSC_TRUE, rand, &A));
    PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
    SyncILUSettingsInitialize(&settings);
    settings.vector_size = 32;
    PetscCall(PetscMemzero(&plan, sizeof(plan)));
    PetscCall(PlanCreate(&plan, &settings));
    PetscCall(PlanEnter(&plan, &before));
    PetscCall(PlanUpload(&plan, &c.pattern));
    PetscCall(PlanFindStatistics(&plan, PETSC_FALSE));
    PetscCall(ChooseNarrow(&plan, &ops, why, sizeof(why)));
    CHECK(ops->type == kinds[k].solve && strstr(why, kinds[k].why) && !plan.unfit[0], "%s: auto takes %s: %s%s", kinds[k].name, SolveName(ops), why,
          plan.unfit);
    PetscCall(PlanLeave(&plan, before));
    PetscCall(PlanDestroy(&plan));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Plan            none = {.pattern = {0}}; /* no rows: what the strategy then says is about the device */
  const SolveOps *ell  = NULL;
  PetscRandom     rand;
  PetscBool       missing;
  char            why[128] = "";
  int             failed, *rows;

  PetscCall(BackendBegin(&argc, &argv, help, &missing, &rand));
  if (missing) return SKIPPED;
  PetscCall(PetscMalloc1(LEVELS, &rows));
  PetscCall(TestCuts(rand));
  for (int s = 0; SyncILUCUDASolves[s]; s++) {
    if (SyncILUCUDASolves[s]->type == SYNCILU_SOLVE_ELL) ell = SyncILUCUDASolves[s];
    if (SyncILUCUDASolves[s]->type == SYNCILU_SOLVE_CLUSTER) PetscCall((*SyncILUCUDASolves[s]->fits)(&none, PART_L, why, sizeof(why)));
  }
  if (why[0]) printf("no solutions: %s\n", why);
  else {
    PetscCall(TestShapes(rows, rand));
    PetscCall(TestLongRows(rows, rand));
    PetscCall(TestAuto(rows, ell, rand));
  }
  PetscCall(PetscFree(rows));
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = CheckReport("cuda_turns");
  PetscCall(PetscFinalize());
  return failed;
}
