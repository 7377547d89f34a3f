static char help[] = "A strategy that is added to the tables is found in options, view, statistics and tests, and what it does is done.\n\n";

#include "cuda/factor.h"

PETSC_INTERN const SolveOps  SyncILUSolveDummyOps;
PETSC_INTERN const FactorOps SyncILUFactorDummyOps;

/*
   CMake has added "dummy" to the names of both kinds of strategies and to both tables (see CMakeLists.txt),
   as whoever adds a strategy does. These two files stand for the library's own, which this program is not
   linked with.
*/
#include "dummy_settings.c"
#include "dummy_strategies.c"

#include "cases.h"
#include "check.h"
#include "strategies.h"

/* Behind the last name stand the type, the prefix and NULL. */
#define DUMMY_UPDATE ((SyncILUUpdate)(PETSC_STATIC_ARRAY_LENGTH(SyncILUUpdates) - 4))
#define DUMMY_SOLVE  ((SyncILUSolve)(PETSC_STATIC_ARRAY_LENGTH(SyncILUSolves) - 4))

/* How often the strategies were called. They do what csr and vect do, and refuse matrices of 64 rows. */
static int fits, creates, updates, solves, factors;

static PetscErrorCode Fits(Plan *plan, char why[], size_t size)
{
  PetscFunctionBegin;
  fits++;
  if (plan->pattern.n == 64) PetscCall(PetscStrncpy(why, "dummy does not like 64 rows", size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FitsTriangle(Plan *plan, Part part, char why[], size_t size)
{
  PetscFunctionBegin;
  (void)part;
  PetscCall(Fits(plan, why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateTriangle(Triangle *t)
{
  PetscFunctionBegin;
  creates++;
  PetscCall((*SyncILUSolveCsrOps.create)(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Update(Triangle *t, const Factor *factor)
{
  PetscFunctionBegin;
  updates++;
  PetscCall((*SyncILUSolveCsrOps.update)(t, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Triangle *t, const SyncILUDeviceSolve *s)
{
  PetscFunctionBegin;
  solves++;
  PetscCall((*SyncILUSolveCsrOps.solve)(t, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateFactorization(Factorization *f, char why[], size_t size)
{
  PetscFunctionBegin;
  creates++;
  PetscCall((*SyncILUFactorVectOps.create)(f, why, size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compute(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                              Factor *factor)
{
  PetscFunctionBegin;
  factors++;
  PetscCall((*SyncILUFactorVectOps.factor)(f, values, piv, status, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SolveOps  SyncILUSolveDummyOps  = {.type = DUMMY_SOLVE, .fits = FitsTriangle, .create = CreateTriangle, .update = Update, .solve = Solve};
const FactorOps SyncILUFactorDummyOps = {.type = DUMMY_UPDATE, .name = "dummy", .fits = Fits, .create = CreateFactorization, .factor = Compute};

/* A preconditioner with these options. */
static PetscErrorCode CreateWith(Mat A, const char *options, PC *pc)
{
  PetscOptions db;

  PetscFunctionBegin;
  PetscCall(CheckOptionsBegin(options, &db));
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, pc));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(CheckOptionsEnd(&db));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The option is known, the strategy runs, and does what those do that it calls. */
static PetscErrorCode TestRuns(PetscRandom rand)
{
  Mat               A;
  Vec               b, x[2];
  PC                pc[2];
  SyncILUUpdate     update;
  SyncILUSolve      solve;
  SyncILUStatistics s[2];
  char              text[16384];
  PetscBool         same;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("27pt", 125, rand, &A));
  PetscCall(MatCreateVecs(A, &x[0], &b));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecSetRandom(b, rand));
  PetscCall(CreateWith(A, "-pc_syncilu_update vect -pc_syncilu_solve csr", &pc[0]));
  PetscCall(CreateWith(A, "-pc_syncilu_update dummy -pc_syncilu_solve dummy", &pc[1]));
  for (int k = 0; k < 2; k++) PetscCall(PCSetUp(pc[k]));
  PetscCall(PCSyncILUGetUpdate(pc[1], &update));
  PetscCall(PCSyncILUGetSolve(pc[1], &solve));
  CHECK(update == DUMMY_UPDATE && solve == DUMMY_SOLVE, "the options gave update %d and solve %d", (int)update, (int)solve);
  CHECK(fits > 0 && creates == 3 && factors == 1, "asked %d times, created %d, factored %d", fits, creates, factors);
  for (int t = 0; t < 2; t++) {
    for (int k = 0; k < 2; k++) {
      if (t) PetscCall(PCApplyTranspose(pc[k], b, x[k]));
      else PetscCall(PCApply(pc[k], b, x[k]));
    }
    PetscCall(VecEqual(x[0], x[1], &same));
    CHECK(same, "transposed %d: the solution has other bits than with vect and csr", t);
  }
  CHECK(solves == 4 && updates >= 4, "%d triangular solves, %d updates", solves, updates);
  PetscCall(CheckView((PetscObject)pc[1], PETSC_VIEWER_DEFAULT, text, sizeof(text)));
  CHECK(CheckViewSays(text, "factorization", "dummy") && CheckViewSays(text, "solve", "dummy"), "the view says\n%s", text);
  for (int k = 0; k < 2; k++) PetscCall(PCSyncILUGetStatistics(pc[k], &s[k]));
  CHECK(s[1].backend == SYNCILU_BACKEND_CUDA && s[1].bytes == s[0].bytes && s[1].levels[0] == s[0].levels[0] && s[1].factorizations == 1,
        "%" PetscInt64_FMT " bytes, with vect and csr %" PetscInt64_FMT, s[1].bytes, s[0].bytes);
  for (int k = 0; k < 2; k++) {
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(VecDestroy(&x[k]));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What it refuses is an error with the option and the reason; auto goes on without it. */
static PetscErrorCode TestRefuses(PetscRandom rand)
{
  Mat  A;
  PC   pc;
  char text[16384];

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 64, rand, &A));
  PetscCall(CreateWith(A, "-pc_syncilu_solve dummy", &pc));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_solve dummy: dummy does not like 64 rows");
  PetscCall(PCDestroy(&pc));
  PetscCall(CreateWith(A, "-pc_syncilu_update dummy", &pc));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_update dummy");
  PetscCall(PCDestroy(&pc));
  PetscCall(CreateWith(A, "", &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
  CHECK(!CheckViewSays(text, "factorization", "dummy") && !CheckViewSays(text, "solve", "dummy"), "auto takes what stands last in the tables:\n%s", text);
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests and benches have it without a change: every set of cases has some of its. */
static PetscErrorCode TestTables(void)
{
  const char *const sets[] = {"small", "main", "tiles", "values", "values_small", "shifts", "shifts_small", "soak"};
  Strategies        all;
  PetscBool         update = PETSC_FALSE, solve = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(StrategiesGet(&all));
  for (int k = 0; k < all.nupdates; k++) update = (PetscBool)(update || all.update[k] == DUMMY_UPDATE);
  for (int k = 0; k < all.nsolves; k++) solve = (PetscBool)(solve || all.solve[k] == DUMMY_SOLVE);
  CHECK(update && solve, "of %d and %d strategies none is the dummy", all.nupdates, all.nsolves);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sets); k++) {
    for (int part = 0; part < 2; part++) {
      CaseList list;
      int      count;

      PetscCall(CaseListCreate(sets[k], &list));
      PetscCall(CaseListSelect(&list, part ? "*/auto/dummy/*" : "*/dummy/auto/*", &count));
      CHECK(count > 0, "set %s has no case with the %s dummy", sets[k], part ? "solve" : "update");
      PetscCall(CaseListDestroy(&list));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   available;
  char        why[256];
  int         failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall((*SyncILUCUDAOps.available)(&available, why, sizeof(why)));
  if (!available) {
    printf("skipped: %s\n", why);
    PetscCall(PetscFinalize());
    return 77;
  }
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(TestTables());
  PetscCall(TestRuns(rand));
  PetscCall(TestRefuses(rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("dummy");
  PetscCall(PetscFinalize());
  return failed;
}
