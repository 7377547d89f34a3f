static char help[] = "Strategies that wait for whole levels: which levels are chains, what blocks take in turn, and factors and solutions of matrices\n\
with levels of given numbers of rows.\n\n";

#include "check.h"
#include "case.h"
#include "cuda/cuda.h"
#include "gpu_case.h"
#include "gpu.h"
#include "strategies.h"

enum {
  LEVELS = 12,
  /* slices that a level of a chain has at most */
  SOLVE  = SYNCILU_BLOCK_LEVELSET / 32,
  FACTOR = SYNCILU_BLOCK_FACTOR / 32
};

/* Rows of each level, for lanes that make every row a slice. */
static const struct {
  const char *name;
  int         levels, rows[LEVELS];
} shapes[] = {
  {"one row",                            1,  {1}                                                                                        },
  {"one small level",                    1,  {SOLVE}                                                                                    },
  {"one level at the border of a chain", 1,  {SOLVE + 1}                                                                                },
  {"one wide level",                     1,  {5 * SOLVE + 3}                                                                            },
  {"a chain of rows",                    12, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}                                                       },
  {"a chain",                            6,  {3, SOLVE, 1, SOLVE - 1, 2, SOLVE}                                                         },
  {"wide levels",                        3,  {3 * SOLVE, 2 * SOLVE + 1, 40}                                                             },
  {"chains between wide levels",         9,  {50, 1, SOLVE, SOLVE + 1, SOLVE, 5, 2 * SOLVE, 1, 3 * SOLVE}                               },
  {"wide levels between chains",         7,  {2, 1, 30, SOLVE, 5 * SOLVE, 1, 1}                                                         },
  {"chains of one level",                8,  {1, SOLVE + 1, SOLVE, SOLVE + 1, 1, 2 * SOLVE, SOLVE - 1, 60}                              },
  {"both sides of the border",           8,  {SOLVE - 1, SOLVE, SOLVE + 1, SOLVE, SOLVE - 1, SOLVE + 1, 2 * SOLVE, 2 * SOLVE + 1}       },
  {"both sides of the other border",     9,  {FACTOR - 1, FACTOR, FACTOR + 1, FACTOR, 1, FACTOR + 1, 2 * FACTOR, 2 * FACTOR + 1, FACTOR}}
};
enum {
  SHAPES = sizeof(shapes) / sizeof(shapes[0])
};

/* Blocks for levels of so many slices: one for a chain, else as many as it takes with so many warps each. */
static int Blocks(const int slices[], int levels, int warps)
{
  int blocks = 0;

  for (int l = 0; l < levels; l++) {
    if (slices[l] > warps) blocks += (slices[l] - 1) / warps + 1;
    else if (!l || slices[l - 1] > warps) blocks++;
  }
  return blocks;
}

/*
   The tasks go through every slice once, in order, and every position is in one slice, of a row of that level.
   slices: NULL, or of each level.
*/
static PetscErrorCode CheckTasks(const SyncILUDeviceLevels *d, cudaStream_t stream, const int *slices, int levels, const char *what)
{
  SyncILULevelTask *task;
  SyncILUSlice     *slice;
  int              *start, done, next = 0, position = 0, bad = -1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(d->tasks, &task, d->slices, &slice, d->levels + 1, &start));
  PetscCall(DeviceReadBack(stream, task, d->task, (size_t)d->tasks * sizeof(*task)));
  PetscCall(DeviceReadBack(stream, slice, d->slice, (size_t)d->slices * sizeof(*slice)));
  PetscCall(DeviceReadBack(stream, start, d->start, ((size_t)d->levels + 1) * sizeof(*start)));
  PetscCall(DeviceReadBack(stream, &done, d->done, sizeof(done)));
  CHECK(done == 0, "%s: the counter is %d after a launch", what, done);
  for (int s = 0; s < d->slices && bad < 0; s++) {
    if (slice[s].first != position) bad = s;
    position += slice[s].shape >> 3;
  }
  CHECK(bad < 0 && position == d->n, "%s: slice %d of %d does not begin where the one before ends, at position %d of %d", what, bad, d->slices, position, d->n);
  CHECK(start[0] == 0 && start[d->levels] == d->slices, "%s: levels are from slice %d to %d of %d", what, start[0], start[d->levels], d->slices);
  for (int t = 0; t < d->tasks && bad < 0; t++) {
    int level = task[t].level;

    if (task[t].slice != next || next < start[level] || next >= start[level + 1]) bad = t;
    else if (start[level + 1] - start[level] > d->warps) next = PetscMin(next + d->warps, start[level + 1]);
    else {
      while (level < d->levels && start[level + 1] - start[level] <= d->warps) next = start[++level];
    }
  }
  CHECK(bad < 0 && next == d->slices, "%s: task %d of %d does not begin where the one before ends, at slice %d of %d", what, bad, d->tasks, next, d->slices);
  if (slices) {
    const int want = Blocks(slices, levels, d->warps);

    CHECK(d->levels == levels && d->tasks == want, "%s: %d tasks on %d levels, wanted %d on %d", what, d->tasks, d->levels, want, levels);
    for (int l = 0; l < levels && l < d->levels && bad < 0; l++) {
      if (start[l + 1] - start[l] != slices[l]) bad = l;
    }
    CHECK(bad < 0, "%s: level %d has not the slices that it shall have", what, bad);
  }
  PetscCall(PetscFree3(task, slice, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tasks of L by blocks of other sizes. */
static PetscErrorCode CheckOthers(SyncILUEngine e, const int *slices, int levels, const char *what)
{
  const int warps[] = {1, 3, FACTOR, 32};
  Plan     *plan    = &((CUDA *)e->data)->plan;
  int       before;

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(warps) / sizeof(warps[0]); k++) {
    DeviceMemory          memory = {.n = 0};
    SyncILUDeviceLevels   l;
    SyncILUDeviceTriangle rows;
    Order                 order;
    char                  size[192];

    PetscCall(PetscSNPrintf(size, sizeof(size), "%s, %d warps", what, warps[k]));
    PetscCall(PlanEnter(plan, &before));
    PetscCall(PlanTriangle(plan, &plan->scratch, PART_L, &rows));
    PetscCall(PlanLevelset(plan, &memory, rows, PART_L, 5, INT_MAX, warps[k], &order, &l));
    CHECK(!plan->unfit[0], "%s: %s", size, plan->unfit);
    if (!plan->unfit[0]) PetscCall(CheckTasks(&l, plan->stream, slices, levels, size));
    PetscCall(PlanRelease(plan, &memory, 0));
    PetscCall(PlanLeave(plan, before));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the solve's two triangles and their transposes have for tasks. */
static PetscErrorCode CheckTriangles(SyncILUEngine e, const int *slices, int levels, const char *what)
{
  const CUDA *d = (const CUDA *)e->data;
  char        part[160];

  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) {
    const char *const names[] = {"L", "U", "L^T", "U^T"};

    if (!d->triangle[k].ops) continue;
    PetscCall(PetscSNPrintf(part, sizeof(part), "%s, %s", what, names[k]));
    PetscCall(CheckTasks((const SyncILUDeviceLevels *)d->triangle[k].data, d->plan.stream, k == PART_L ? slices : NULL, levels, part));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(const Case *c, const char *name, SyncILUAnalysis analysis, PetscInt lanes, const int *slices, int levels)
{
  const PetscInt  nrhs[] = {1, 2, NRHS};
  const size_t    size   = (size_t)(c->nl + c->nu + c->n);
  PetscScalar    *factor[2];
  SyncILUSettings settings;
  SyncILUEngine   e;
  char            what[160], view[4096];

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&settings);
  settings.backend     = SYNCILU_BACKEND_CUDA;
  settings.update      = SYNCILU_UPDATE_LEVELSET;
  settings.solve       = SYNCILU_SOLVE_LEVELSET;
  settings.analysis    = analysis;
  settings.vector_size = lanes;
  settings.relax       = c->piv.relax;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, analysis %s, %" PetscInt_FMT " lanes", name, SyncILUAnalyses[analysis], lanes));
  Watch("%s", what);
  PetscCall(EngineCreate(&settings, c, &e));
  PetscCall(PetscMalloc2(size, &factor[0], size, &factor[1]));
  for (int run = 0; run < 2; run++) {
    const PetscScalar *lval, *uval, *dinv;
    PetscInt           row;

    PetscCall(EngineFactorUnshifted(e, &c->csr, NULL, c->piv.zeropivot));
    PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
    row = FactorFirstDifference(c, lval, uval, dinv, 1e-12);
    CHECK(row == c->n, "%s: row %" PetscInt_FMT " of the factor differs, run %d", what, row, run);
    PetscCall(PetscArraycpy(factor[run], lval, c->nl));
    PetscCall(PetscArraycpy(factor[run] + c->nl, uval, c->nu));
    PetscCall(PetscArraycpy(factor[run] + c->nl + c->nu, dinv, c->n));
    for (size_t k = 0; k < sizeof(nrhs) / sizeof(nrhs[0]); k++) PetscCall(EngineCheckSolutions(e, c, nrhs[k], what));
  }
  CHECK(!memcmp(factor[0], factor[1], size * sizeof(**factor)), "%s: two factorizations differ", what);
  PetscCall(PetscFree2(factor[0], factor[1]));
  PetscCall(CheckTriangles(e, slices, levels, what));
  PetscCall(CheckOthers(e, lanes == 32 ? slices : NULL, levels, what));
  PetscCall(EngineView(e, view, sizeof(view)));
  CHECK(CheckViewSays(view, "factorization", "levelset") && CheckViewSays(view, "solve", "levelset") &&
          CheckViewSays(view, "order", analysis == SYNCILU_ANALYSIS_ALAP ? "by latest level" : "by earliest level"),
        "%s: the view says\n%s", what, view);
  PetscCall(SyncILUEngineDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const SyncILUAnalysis analyses[] = {SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP, SYNCILU_ANALYSIS_NONE};
  const char *const     others[]   = {"longrows:500", "denserow:1100", "7pt:9x6x7", "random:3000", "tridiagonal:1500"};
  PetscRandom           rand;
  PetscBool             missing;
  Mat                   A;
  Case                  c;
  int                   failed;

  PetscCall(BackendBegin(&argc, &argv, help, &missing, &rand));
  if (missing) return SKIPPED;
  for (int s = 0; s < SHAPES; s++) {
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      PetscCall(GenerateLevels(shapes[s].rows, shapes[s].levels, (PetscBool)symmetric, rand, &A));
      PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, symmetric ? 0.9 : 0.0, rand, &c));
      /* rows of the latest levels are as many as those of the earliest only where nothing can be moved */
      for (int a = 0; a < 3; a++)
        PetscCall(TestCase(&c, shapes[s].name, analyses[a], 32, analyses[a] == SYNCILU_ANALYSIS_ALAP ? NULL : shapes[s].rows, shapes[s].levels));
      PetscCall(TestCase(&c, shapes[s].name, SYNCILU_ANALYSIS_ASAP, 1 + symmetric, NULL, 0));
      PetscCall(CaseDestroy(&c));
      PetscCall(MatDestroy(&A));
    }
  }
  for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
    PetscCall(GenerateMatrix(others[k], 0, rand, &A));
    PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
    PetscCall(TestCase(&c, others[k], SYNCILU_ANALYSIS_ASAP, 0, NULL, 0));
    PetscCall(TestCase(&c, others[k], SYNCILU_ANALYSIS_NONE, 1, NULL, 0));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = CheckReport("cuda_levelset");
  PetscCall(PetscFinalize());
  return failed;
}
