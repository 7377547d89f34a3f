static char help[] = "The CUDA backend's phases against cuSPARSE, matrix by matrix: analysis, factorization, solves.\n\
Each time stands beside its bound, each result is checked.\n\
  -matrices a,b,...   names as in tests/generate.h, with their sizes, as 7pt:64x64x64 or 7pt_dof4:64x64x64, meshes of bench_solvers, as\n\
                      laplace3:67,\n\
                      or folders of Matrix Market files\n\
  -file x.mtx,...     Matrix Market or PETSc binary files, after the named matrices or, without -matrices, alone\n\
  -small              a quick list\n\
  -strategies s,...   auto or UPDATE/SOLVE or UPDATE/SOLVE/ANALYSIS, as list/ell/asap; the values of the options\n\
                      -pc_syncilu_update and so on, then /prefetch or /plain for -pc_syncilu_prefetch; without\n\
                      this option each strategy once and each order once\n\
  -analysis s         of the strategies that name none\n\
  -ordering natural|bmc, -levels n  of the factor; others than natural and 0 without cuSPARSE\n\
  -mat_ordering_bmc_size n, -mat_ordering_bmc_along_numbering  of bmc\n\
  -repeat n           repetitions, of which the median is shown\n\
  -limit s            seconds that the repetitions of one time may take before they become fewer, three at least; one beyond ten times that\n\
  -vector_size n      lanes a row, 0: the library chooses\n\
  -solve_sweeps n, -solve_block_size 1|32   of auto/jacobi, which is compared with what it should come to\n\
  -sweeps n           of parilu, which is compared with the reference of as many\n\
  -icc                incomplete Cholesky factorization of A + A^T, beside ILU of the same and csric02\n\
  -cusparse false     without cuSPARSE\n\
  -brief              neither transposed solves nor several right-hand sides, cuSPARSE with levels alone and an analysis once, and solutions\n\
                      are compared with cuSPARSE's instead of those of the serial reference, which takes most of the time; no levels, no\n\
                      orderings, no -icc; rows of grids are made on the device\n\
  -view               what each engine says of itself\n\
  -turns file         several benches with the same file take turns: one measures while others generate matrices\n\
                      and factor them on the host, which takes most of the time\n\
  -json file          appends a JSON line a case; without it they go to standard output\n\n";

#define _XOPEN_SOURCE 600 /* for lockf() */
#include "kernels.h"
#if defined(BENCH_KERNELS)
  #include <errno.h>
  #include <fcntl.h>
  #include <unistd.h>
  #include "bmc.h"
  #include "mesh.h"
  #include "../load.h"
  #include "../strategies.h"

/* What is measured where nothing else is asked for. */
static const char *const usual_matrices[] = {"5pt:1000x1000", "7pt:64x64x64", "7pt:160x160x160", "7pt:148x148x58", "27pt:80x80x80", "15pt:90x90x90",
                                             "15pt_random:90x90x90", "15pt_rcm:90x90x90", "elasticity:40x40x40", "tridiagonal:100000", "random:1000000",
                                             "random200:100000", "powerlaw:1000000", "arrow:50000",
                                             /*
                                                one row, one direction or a few rows that are not like the
                                                others
                                             */
                                             "7pt_border:64x64x64", "tridiagonal2:100000", "5pt_periodic:1000x1000", "hubs:200000",
                                             /* a grid with two short directions */
                                             "27pt:16x16x800",
                                             /* far neighbors, dense blocks, meshes */
                                             "25pt:80x80x80", "blocks:48x48x48", "triangles_morton:900x900", "triangles_rcm:900x900", "15pt_morton:70x70x70",
                                             "quadtree:1400000", NULL};
static const char *const small_matrices[] = {"5pt:100x100",
                                             "7pt:32x32x32",
                                             "15pt_random:20x20x20",
                                             "elasticity:10x10x10",
                                             "tridiagonal:1000",
                                             "random:20000",
                                             "arrow:10000",
                                             "7pt_border:16x16x16",
                                             "5pt_periodic:100x100",
                                             "triangles_morton:100x100",
                                             NULL};

/* Matrices to measure: names of the generator, or paths. */
typedef struct {
  PetscInt  count;
  char     *name[MATRICES];
  PetscBool file[MATRICES];
} List;

static PetscErrorCode ListAdd(List *list, const char *name, PetscBool file)
{
  PetscFunctionBegin;
  PetscCheck(list->count < MATRICES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More than %d matrices", MATRICES);
  PetscCall(PetscStrallocpy(name, &list->name[list->count]));
  list->file[list->count++] = file;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A name, or all files of a folder. */
static PetscErrorCode ListAddName(List *list, const char *name)
{
  PetscBool folder;
  int       count;
  char    **path;

  PetscFunctionBegin;
  PetscCall(PetscTestDirectory(name, 'r', &folder));
  if (!folder) {
    PetscCall(ListAdd(list, name, PETSC_FALSE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LoadFolder(name, &count, &path));
  PetscCheck(count, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-matrices %s: no Matrix Market files there", name);
  for (int k = 0; k < count; k++) PetscCall(ListAdd(list, path[k], PETSC_TRUE));
  PetscCall(LoadFolderFree(count, &path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ListFromOptions(List *list)
{
  char     *names[MATRICES], *files[MATRICES];
  PetscInt  nnames = MATRICES, nfiles = MATRICES;
  PetscBool few = PETSC_FALSE, named, filed;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_SELF, NULL, "Matrices of the kernel bench", NULL);
  PetscCall(PetscOptionsStringArray("-matrices", "Names of test matrices, or folders of Matrix Market files", NULL, names, &nnames, &named));
  PetscCall(PetscOptionsStringArray("-file", "Matrix files", NULL, files, &nfiles, &filed));
  PetscCall(PetscOptionsBool("-small", "A quick list of matrices", NULL, few, &few, NULL));
  PetscOptionsEnd();
  for (PetscInt k = 0; named && k < nnames; k++) {
    PetscCall(ListAddName(list, names[k]));
    PetscCall(PetscFree(names[k]));
  }
  for (PetscInt k = 0; filed && k < nfiles; k++) {
    PetscCall(ListAdd(list, files[k], PETSC_TRUE));
    PetscCall(PetscFree(files[k]));
  }
  if (named || filed) PetscFunctionReturn(PETSC_SUCCESS);
  for (const char *const *name = few ? small_matrices : usual_matrices; *name; name++) PetscCall(ListAdd(list, *name, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of ours, whose name tells its strategy. */
static PetscErrorCode AddStrategy(Bench *bench, const char *text, PetscInt vector_size, PetscInt sweeps, SyncILUAnalysis analysis)
{
  const char *const        what[]  = {"update", "solve", "analysis"};
  const char *const *const names[] = {SyncILUUpdates, SyncILUSolves, SyncILUAnalyses};
  Strategy                *s       = &bench->strategy[bench->nstrategies];
  PetscEnum *const         value[] = {(PetscEnum *)&s->settings.update, (PetscEnum *)&s->settings.solve, (PetscEnum *)&s->settings.analysis};
  char                   **part;
  int                      parts;
  size_t                   length;
  PetscBool                automatic;

  PetscFunctionBegin;
  PetscCheck(bench->nstrategies++ < STRATEGY_ROWS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More than %d strategies", STRATEGY_ROWS);
  PetscCall(PetscStrncpy(s->name, text, sizeof(s->name)));
  PetscCall(PetscStrlen(s->name, &length));
  bench->width = PetscMax(bench->width, (int)length);
  SyncILUSettingsInitialize(&s->settings);
  s->settings.backend     = SYNCILU_BACKEND_CUDA;
  s->settings.vector_size = vector_size;
  s->settings.sweeps      = sweeps;
  s->settings.analysis    = analysis;
  if (strcmp(bench->ordering, MATORDERINGNATURAL)) {
    s->settings.ordering   = SYNCILU_ORDERING_BMC;
    s->settings.block_size = SYNCILU_BMC_SIZE;
    /* as the ordering that the reference gets, which reads them too */
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-mat_ordering_bmc_size", &s->settings.block_size, NULL));
    PetscCall(PetscOptionsGetBool(NULL, NULL, "-mat_ordering_bmc_along_numbering", &s->settings.block_along, NULL));
  }
  PetscCall(PetscStrcmp(text, "auto", &automatic));
  if (automatic) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrToArray(text, '/', &parts, &part));
  PetscCheck(parts >= 2 && parts <= 4, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-strategies %s: want auto or UPDATE/SOLVE, /ANALYSIS, /prefetch or /plain",
             text);
  if (parts == 4) {
    PetscBool on, off;

    PetscCall(PetscStrcmp(part[3], "prefetch", &on));
    PetscCall(PetscStrcmp(part[3], "plain", &off));
    PetscCheck(on || off, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-strategies %s: want prefetch or plain after the analysis", text);
    s->settings.prefetch = on ? PETSC_BOOL3_TRUE : PETSC_BOOL3_FALSE;
  }
  for (int k = 0; k < PetscMin(parts, 3); k++) {
    PetscBool known;

    PetscCall(PetscEnumFind(names[k], part[k], value[k], &known));
    PetscCheck(known, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-strategies %s: no %s is called %s", text, what[k], part[k]);
  }
  PetscCheck(s->settings.update != SYNCILU_UPDATE_PARILUT, PETSC_COMM_SELF, PETSC_ERR_SUP, "-strategies %s: there is no reference with the pattern it finds",
             text);
  PetscCall(PetscStrToArrayDestroy(parts, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Those asked for; else the library's choice, each strategy beside what is chosen with it, and the other
   orders of rows.
*/
static PetscErrorCode StrategiesFromOptions(Bench *bench)
{
  const SyncILUAnalysis orders[] = {SYNCILU_ANALYSIS_ALAP, SYNCILU_ANALYSIS_NONE};
  char                 *names[STRATEGY_ROWS], text[64];
  PetscInt              count = STRATEGY_ROWS, vector_size = 0, sweeps = SYNCILU_SWEEPS;
  SyncILUAnalysis       analysis = SYNCILU_ANALYSIS_AUTO;
  PetscBool             chosen;
  SyncILUSettings       usual;
  Strategies            all;

  PetscFunctionBegin;
  SyncILUSettingsInitialize(&usual);
  PetscOptionsBegin(PETSC_COMM_SELF, NULL, "Strategies of the kernel bench", NULL);
  PetscCall(PetscOptionsStringArray("-strategies", "auto or UPDATE/SOLVE, /ANALYSIS, /prefetch or /plain", NULL, names, &count, &chosen));
  PetscCall(PetscOptionsInt("-vector_size", "Lanes a row, 0: the library chooses", NULL, vector_size, &vector_size, NULL));
  PetscCall(PetscOptionsInt("-solve_sweeps", "Sweeps of solve jacobi", NULL, usual.solve_sweeps, &usual.solve_sweeps, NULL));
  PetscCall(PetscOptionsInt("-solve_block_size", "Rows of its blocks, 1 or 32", NULL, usual.solve_block_size, &usual.solve_block_size, NULL));
  PetscCall(PetscOptionsInt("-sweeps", "Of parilu", NULL, sweeps, &sweeps, NULL));
  PetscCall(
    PetscOptionsEnum("-analysis", "Order of the rows for strategies that name none", NULL, SyncILUAnalyses, (PetscEnum)analysis, (PetscEnum *)&analysis, NULL));
  PetscOptionsEnd();
  for (PetscInt s = 0; chosen && s < count; s++) {
    PetscCall(AddStrategy(bench, names[s], vector_size, sweeps, analysis));
    bench->strategy[s].settings.solve_sweeps     = usual.solve_sweeps;
    bench->strategy[s].settings.solve_block_size = usual.solve_block_size;
    PetscCall(PetscFree(names[s]));
  }
  if (chosen) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StrategiesGet(&all));
  PetscCall(AddStrategy(bench, "auto", vector_size, sweeps, analysis));
  for (int k = 0; k < all.nupdates; k++) {
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s/auto/%s", SyncILUUpdates[all.update[k]], SyncILUAnalyses[SYNCILU_ANALYSIS_ASAP]));
    PetscCall(AddStrategy(bench, text, vector_size, sweeps, analysis));
  }
  for (int k = 0; k < all.nsolves; k++) {
    const SyncILUAnalysis order = all.solve[k] == SYNCILU_SOLVE_STRUCT ? SYNCILU_ANALYSIS_AUTO : SYNCILU_ANALYSIS_ASAP; /* lines go in no other */

    if (all.solve[k] == SYNCILU_SOLVE_JACOBI) continue; /* not exact: runs where it is asked for */
    PetscCall(PetscSNPrintf(text, sizeof(text), "auto/%s/%s", SyncILUSolves[all.solve[k]], SyncILUAnalyses[order]));
    PetscCall(AddStrategy(bench, text, vector_size, sweeps, analysis));
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(orders); k++) {
    PetscCall(PetscSNPrintf(text, sizeof(text), "auto/auto/%s", SyncILUAnalyses[orders[k]]));
    PetscCall(AddStrategy(bench, text, vector_size, sweeps, analysis));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each strategy as ICC, and behind it the same as ILU: both triangles of the symmetric matrix. */
static PetscErrorCode PairStrategies(Bench *bench)
{
  const PetscInt count = bench->nstrategies;

  PetscFunctionBegin;
  PetscCheck(2 * count <= STRATEGY_ROWS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "More than %d strategies", STRATEGY_ROWS / 2);
  for (PetscInt s = count - 1; s >= 0; s--) {
    Strategy *half = &bench->strategy[2 * s], *both = half + 1;

    *half                    = bench->strategy[s];
    *both                    = *half;
    half->settings.symmetric = PETSC_TRUE;
    PetscCall(PetscSNPrintf(both->name, sizeof(both->name), "%s as ILU", half->name));
  }
  bench->nstrategies = 2 * count;
  bench->width += 7;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Waits until the device is this bench's, or gives it back. The system does so where a program ends. */
static PetscErrorCode Turn(const Bench *bench, PetscBool mine)
{
  PetscFunctionBegin;
  if (bench->turns >= 0) PetscCheck(!lockf(bench->turns, mine ? F_LOCK : F_ULOCK, 0), PETSC_COMM_SELF, PETSC_ERR_SYS, "-turns: %s", strerror(errno));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a kernel's fault nothing runs on the device, and PETSc does not end. */
static PetscErrorCode End(Bench *bench, const Result *res)
{
  PetscInt failures;

  PetscFunctionBegin;
  PetscCall(ReportResult(bench, res));
  PetscCall(BenchFailuresEnd(&bench->failures, &failures));
  PetscCall(BenchJSONClose(&bench->json));
  fflush(stdout);
  _exit(FAULT);
}

static PetscErrorCode RunMatrix(Bench *bench, const char *name, PetscBool file, Result *res)
{
  Subject   s;
  PetscBool failed;
  char      why[WHY];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&s, sizeof(s)));
  BenchProgress("%s: %s", name, file ? "reading" : "generating");
  BenchTry(SubjectCreate(bench, name, file, &s), why, sizeof(why), &failed);
  if (!failed && !s.unfit[0]) {
    PetscCall(Turn(bench, PETSC_TRUE));
    BenchTry(SubjectUpload(&s), why, sizeof(why), &failed);
  }
  if (failed || s.unfit[0]) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%s: skipped: %s\n", name, failed ? why : s.unfit));
    if (failed) PetscCall(BenchFail(&bench->failures, name, "matrix", why));
    BenchTry(SubjectDestroy(&s), why, sizeof(why), &failed);
    PetscCall(Turn(bench, PETSC_FALSE)); /* which it may not have been */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscStrncpy(res->name, s.name, sizeof(res->name)));
  res->which = "file";
  if (!file) {
    MeshProblem problem;
    PetscInt    size;

    PetscCall(MeshParse(name, &problem, &size));
    res->which = "mesh";
    if (problem == MESH_PROBLEMS) PetscCall(GenerateClass(name, &res->which));
  }
  res->n         = s.c.n;
  res->nnz       = s.c.csr.nnz;
  res->block     = s.block;
  res->levels[0] = s.levels[0];
  res->levels[1] = s.levels[1];
  for (int k = 0; k < PHASES; k++) res->bound[k] = SubjectBound(bench, &s, (Phase)k);
  for (PetscInt k = 0; k < bench->nstrategies; k++) {
    Row *row = &res->ours[k];

    RowInitialize(row, bench->strategy[k].name);
    BenchProgress("%s: %s", s.name, row->name);
    PetscCall(MeasureOurs(bench, &bench->strategy[k], &s, row));
    if (!s.c.ref) PetscCall(PetscArraycpy(res->levels, s.levels, 2)); /* those that the engine says */
    PetscCall(ReportRow(bench, res, row, PETSC_TRUE));
  }
  for (int k = 0; BaselineName(k); k++) RowInitialize(&res->theirs[k], BaselineName(k));
  for (int k = 0; BaselineName(k); k++) {
    Row *row = &res->theirs[k];

    if (!BaselineRuns(bench, s.c.csr.nnz, s.block, k)) continue;
    BenchProgress("%s: %s", s.name, row->name);
    PetscCall(MeasureBaseline(bench, k, &s, row));
    PetscCall(ReportRow(bench, res, row, PETSC_FALSE));
    if (row->failed && cudaDeviceSynchronize() != cudaSuccess) PetscCall(End(bench, res));
  }
  PetscCall(ReportResult(bench, res));
  BenchTry(SubjectDestroy(&s), why, sizeof(why), &failed);
  PetscCall(Turn(bench, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(Bench *bench)
{
  List    list = {0};
  Result *res;

  PetscFunctionBegin;
  PetscCall(ListFromOptions(&list));
  PetscCall(StrategiesFromOptions(bench));
  if (bench->icc) PetscCall(PairStrategies(bench));
  for (int k = 0; BaselineName(k); k++) {
    size_t length;

    PetscCheck(k < BASELINE_ROWS, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d rows of cuSPARSE's", BASELINE_ROWS);
    PetscCall(PetscStrlen(BaselineName(k), &length));
    bench->width = PetscMax(bench->width, (int)length);
  }
  PetscCall(Turn(bench, PETSC_TRUE));
  PetscCall(CopyBandwidth(bench));
  PetscCall(Turn(bench, PETSC_FALSE));
  PetscCall(ReportMachine(bench));
  PetscCall(PetscCalloc1(list.count, &res));
  for (PetscInt k = 0; k < list.count; k++) PetscCall(RunMatrix(bench, list.name[k], list.file[k], &res[k]));
  PetscCall(ReportSummary(bench, list.count, res));
  for (PetscInt k = 0; k < list.count; k++) PetscCall(PetscFree(list.name[k]));
  PetscCall(PetscFree(res));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char     json[PETSC_MAX_PATH_LEN] = "", turns[PETSC_MAX_PATH_LEN] = "";
  Bench   *bench;
  PetscInt failures;
  int      devices = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "skipped: no CUDA device\n"));
    PetscCall(PetscOptionsClear(NULL)); /* of which none was looked at */
    PetscCall(PetscFinalize());
    return 77;
  }
  PetscCall(PetscNew(&bench));
  bench->repeat   = 20;
  bench->limit    = 2.0;
  bench->cusparse = PETSC_TRUE;
  PetscCall(PetscStrncpy(bench->ordering, MATORDERINGNATURAL, sizeof(bench->ordering)));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Kernel bench", NULL);
  PetscCall(PetscOptionsBoundedInt("-repeat", "Repetitions, of which the median is shown", NULL, bench->repeat, &bench->repeat, NULL, 1));
  PetscCall(PetscOptionsReal("-limit", "Seconds that the repetitions of one time may take before they become fewer", NULL, bench->limit, &bench->limit, NULL));
  PetscCall(PetscOptionsBool("-icc", "Incomplete Cholesky factorization, beside ILU", NULL, bench->icc, &bench->icc, NULL));
  PetscCall(PetscOptionsBool("-cusparse", "Run cuSPARSE beside", NULL, bench->cusparse, &bench->cusparse, NULL));
  PetscCall(PetscOptionsBool("-brief", "One right-hand side, compared with cuSPARSE's results", NULL, bench->brief, &bench->brief, NULL));
  PetscCall(PetscOptionsString("-ordering", "natural or bmc", NULL, bench->ordering, bench->ordering, sizeof(bench->ordering), NULL));
  PetscCall(PetscOptionsBoundedInt("-levels", "Of fill", NULL, bench->levels, &bench->levels, NULL, 0));
  PetscCall(PetscOptionsBool("-view", "Show what each engine says of itself", NULL, bench->view, &bench->view, NULL));
  PetscCall(PetscOptionsString("-json", "File to which JSON lines are appended", NULL, json, json, sizeof(json), NULL));
  PetscCall(PetscOptionsString("-turns", "File of several benches that take turns", NULL, turns, turns, sizeof(turns), NULL));
  PetscOptionsEnd();
  PetscCheck(!strcmp(bench->ordering, MATORDERINGNATURAL) || !strcmp(bench->ordering, MATORDERINGBMC), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "-ordering %s: want natural or bmc", bench->ordering);
  if (bench->levels || strcmp(bench->ordering, MATORDERINGNATURAL)) bench->cusparse = PETSC_FALSE;
  PetscCheck(!bench->brief || (bench->cusparse && !bench->icc), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "-brief takes ILU(0) in the natural order, with cuSPARSE");
  bench->turns = turns[0] ? open(turns, O_RDWR | O_CREAT, 0666) : -1;
  PetscCheck(bench->turns >= 0 || !turns[0], PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-turns %s: %s", turns, strerror(errno));
  bench->repeat = PetscMin(bench->repeat, BENCH_REPEAT_MAX);
  PetscCall(SyncILUInitializePackage()); /* for the ordering bmc */
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscGetCurrentCUDAStream(&bench->stream));
  for (int k = 0; k <= BENCH_REPEAT_MAX; k++) PetscCallCUDA(cudaEventCreate(&bench->event[k]));
  PetscCallCUSPARSE(cusparseCreate(&bench->handle));
  PetscCallCUSPARSE(cusparseSetStream(bench->handle, bench->stream));
  PetscCall(BenchJSONOpen(json, &bench->json));
  PetscCall(Run(bench));
  PetscCall(BenchFailuresEnd(&bench->failures, &failures));
  PetscCall(BenchJSONClose(&bench->json));
  /* after a kernel's fault nothing on the device can be freed, which is no second failure */
  (void)cusparseDestroy(bench->handle);
  for (int k = 0; k <= BENCH_REPEAT_MAX; k++) (void)cudaEventDestroy(bench->event[k]);
  PetscCall(PetscFree(bench));
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}

#else
int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "skipped: wants a PETSc with CUDA, real double scalars and 32-bit indices\n"));
  PetscCall(PetscFinalize());
  return 77;
}
#endif
