/*
   The table and the lines of JSON of bench_kernels.
*/
#define _GNU_SOURCE /* for dladdr() */
#include <dlfcn.h>
#include "kernels.h"
#if defined(BENCH_KERNELS)

const char *const PhaseNames[PHASES] = {"analysis", "first", "refactor", "update", "solve", "transposed", "solve16", "analysis_transposed", "transposed_first"};

void RowInitialize(Row *row, const char *name)
{
  (void)PetscMemzero(row, sizeof(*row));
  (void)PetscStrncpy(row->name, name, sizeof(row->name));
  for (int p = 0; p < PHASES; p++) row->time[p] = row->error[p] = NAN;
  row->call = row->bytes = row->bytes_all = NAN;
}

/* The file of the cuSPARSE that was loaded, of which there may be several. */
static const char *LibraryFile(void)
{
  void   *function = dlsym(RTLD_DEFAULT, "cusparseCreate");
  Dl_info info;

  return function && dladdr(function, &info) && info.dli_fname ? info.dli_fname : "of unknown origin";
}

PetscErrorCode ReportMachine(const Bench *bench)
{
  struct cudaDeviceProp prop;
  int                   device, driver, runtime, cusparse;
  char                  petsc[256], line[128];

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaGetDeviceProperties(&prop, device));
  PetscCallCUDA(cudaDriverGetVersion(&driver));
  PetscCallCUDA(cudaRuntimeGetVersion(&runtime));
  PetscCallCUSPARSE(cusparseGetVersion(bench->handle, &cusparse));
  PetscCall(PetscGetVersion(petsc, sizeof(petsc)));
  PetscCall(PetscGetDate(line, sizeof(line)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s\n%s, CUDA runtime %d.%d, driver for %d.%d, %s\n", line, prop.name, runtime / 1000, runtime % 1000 / 10,
                        driver / 1000, driver % 1000 / 10, petsc));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "cuSPARSE %d.%d.%d, %s\n", cusparse / 1000, cusparse % 1000 / 100, cusparse % 100, LibraryFile()));
  if (cusparse != CUSPARSE_VERSION)
    PetscCall(
      PetscPrintf(PETSC_COMM_SELF, "note: its header was that of %d.%d.%d\n", CUSPARSE_VERSION / 1000, CUSPARSE_VERSION % 1000 / 100, CUSPARSE_VERSION % 100));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "copy on the device: %.0f GB/s read and written; bounds: bytes at that speed, or %g ns a level\n",
                        1e-9 * bench->bandwidth, 1e9 * HOP));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "medians of %" PetscInt_FMT " (* fewer, as more would take longer than %g s); ! differs from the serial reference by more than %g\n",
                        bench->repeat, bench->limit, TOLERANCE));
  PetscCall(BenchJSONBegin(bench->json));
  PetscCall(BenchJSONText(bench->json, "bench", "machine"));
  PetscCall(BenchJSONText(bench->json, "date", line));
  PetscCall(BenchJSONText(bench->json, "gpu", prop.name));
  PetscCall(BenchJSONNumber(bench->json, "cuda", runtime));
  PetscCall(BenchJSONNumber(bench->json, "cusparse", cusparse));
  PetscCall(BenchJSONText(bench->json, "petsc", petsc));
  PetscCall(BenchJSONNumber(bench->json, "copy_bytes_per_second", bench->bandwidth));
  PetscCall(BenchJSONEnd(bench->json));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double CSRBytes(const Result *res)
{
  return 12.0 * res->nnz + 4.0 * (res->n + 1);
}

static PetscErrorCode WriteJSON(const Bench *bench, const Result *res, const Row *row, const char *library)
{
  PetscFunctionBegin;
  for (int p = 0; p <= PHASES; p++) {
    if (p < PHASES ? isnan(row->time[p]) : !row->failed) continue;
    PetscCall(BenchJSONBegin(bench->json));
    PetscCall(BenchJSONText(bench->json, "bench", "kernels"));
    PetscCall(BenchJSONText(bench->json, "matrix", res->name));
    PetscCall(BenchJSONText(bench->json, "class", res->which));
    PetscCall(BenchJSONNumber(bench->json, "rows", res->n));
    PetscCall(BenchJSONNumber(bench->json, "nonzeros", res->nnz));
    PetscCall(BenchJSONNumber(bench->json, "levels_l", res->levels[0]));
    PetscCall(BenchJSONNumber(bench->json, "levels_u", res->levels[1]));
    PetscCall(BenchJSONNumber(bench->json, "block", res->block));
    PetscCall(BenchJSONText(bench->json, "library", library));
    PetscCall(BenchJSONText(bench->json, "strategy", row->name));
    if (row->factorization[0]) PetscCall(BenchJSONText(bench->json, "factorization", row->factorization));
    if (row->solver[0]) PetscCall(BenchJSONText(bench->json, "solve_ran", row->solver));
    if (p == PHASES) PetscCall(BenchJSONText(bench->json, "failed", row->why));
    else {
      PetscCall(BenchJSONText(bench->json, "phase", PhaseNames[p]));
      PetscCall(BenchJSONNumber(bench->json, "seconds", row->time[p]));
      PetscCall(BenchJSONNumber(bench->json, "repeats", row->repeats[p]));
      PetscCall(BenchJSONNumber(bench->json, "bound", res->bound[p]));
      PetscCall(BenchJSONNumber(bench->json, "error", row->error[p]));
      if (p == ANALYSIS) {
        PetscCall(BenchJSONNumber(bench->json, "seconds_call", row->call));
        PetscCall(BenchJSONNumber(bench->json, "bytes", row->bytes));
        if (!isnan(row->bytes_all)) PetscCall(BenchJSONNumber(bench->json, "bytes_all", row->bytes_all));
        PetscCall(BenchJSONNumber(bench->json, "csr_bytes", CSRBytes(res)));
      }
    }
    PetscCall(BenchJSONEnd(bench->json));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportRow(Bench *bench, const Result *res, const Row *row, PetscBool ours)
{
  PetscFunctionBegin;
  if (row->failed) PetscCall(BenchFail(&bench->failures, res->name, row->name, row->why));
  for (int p = 0; p < PHASES; p++) {
    if (!(row->error[p] > TOLERANCE)) continue;
    if (ours) {
      char why[64];

      PetscCall(PetscSNPrintf(why, sizeof(why), "%s is off by %.1e", PhaseNames[p], row->error[p]));
      PetscCall(BenchFail(&bench->failures, res->name, row->name, why));
    } else if (bench->brief) {
      char why[64];

      PetscCall(PetscSNPrintf(why, sizeof(why), "%s differs from ours by %.1e", PhaseNames[p], row->error[p]));
      PetscCall(BenchFail(&bench->failures, res->name, row->name, why));
    } else PetscCall(PetscPrintf(PETSC_COMM_SELF, "note: %s of %s on %s is off by %.1e\n", PhaseNames[p], row->name, res->name, row->error[p]));
  }
  PetscCall(WriteJSON(bench, res, row, ours ? "syncilu" : "cusparse"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintRow(const Bench *bench, const Result *res, const Row *row)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-*s", bench->width, row->name));
  for (int p = 0; p < TANALYSIS; p++) {
    /* ! wrong, * few repetitions */
    const char mark = row->error[p] > TOLERANCE ? '!' : row->repeats[p] < bench->repeat ? '*' : ' ';

    if (isnan(row->time[p])) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %16s", "-"));
    else if (isnan(res->bound[p])) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.3f%c       ", 1e3 * row->time[p], mark));
    else PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.3f%c%6.1fx", 1e3 * row->time[p], mark, row->time[p] / res->bound[p]));
  }
  if (!isnan(row->bytes)) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.1f %5.2fx", 1e-6 * row->bytes, row->bytes / CSRBytes(res)));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s%s\n", row->factorization[0] ? " " : "", row->factorization));
  if (row->failed) PetscCall(PetscPrintf(PETSC_COMM_SELF, "    failed: %s\n", row->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportResult(const Bench *bench, const Result *res)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "\n%s: %" PetscInt_FMT " rows, %" PetscInt_FMT " nonzeros, %" PetscInt_FMT " and %" PetscInt_FMT " levels, %.1f rows a level\n",
                        res->name, res->n, res->nnz, res->levels[0], res->levels[1], (double)res->n / PetscMax(1, res->levels[0])));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  %-*s", bench->width, "ms, x bound"));
  for (int p = 0; p < TANALYSIS; p++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %16s", PhaseNames[p]));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, " %15s ran\n  %-*s", "MB, x CSR", bench->width, "bound"));
  for (int p = 0; p < TANALYSIS; p++) {
    if (isnan(res->bound[p])) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %16s", "-"));
    else PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.3f        ", 1e3 * res->bound[p]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  for (PetscInt s = 0; s < bench->nstrategies; s++) PetscCall(PrintRow(bench, res, &res->ours[s]));
  for (int c = 0; BaselineName(c); c++) {
    if (BaselineRuns(bench, res->nnz, res->block, c)) PetscCall(PrintRow(bench, res, &res->theirs[c]));
  }
  fflush(stdout);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is compared: cuSPARSE's time over ours. */
typedef enum {
  RATIO_SOLVE,
  RATIO_TRANSPOSED,
  RATIO_MANY,
  RATIO_REFACTOR,
  RATIO_ANALYSIS,
  RATIO_CALL,
  RATIOS
} Ratio;
static const char *const ratios[RATIOS] = {"solve", "transposed", "solve16", "refactor", "analysis", "(calls)"};

/* A wrong result has no time. */
static double Time(const Row *row, Phase p)
{
  return row->error[p] > TOLERANCE ? NAN : row->time[p];
}

/* The row of cuSPARSE's that is fastest in a phase; the first one where none has a time. */
static const Row *Best(const Result *res, Phase p)
{
  const Row *best = &res->theirs[0];

  for (int c = 1; BaselineName(c); c++) {
    const double time = Time(&res->theirs[c], p);

    if (time < Time(best, p) || (isnan(Time(best, p)) && !isnan(time))) best = &res->theirs[c];
  }
  return best;
}

/* NAN where one of the two times is missing. */
static double RatioOf(const Result *res, PetscInt s, Ratio which)
{
  const Row *o = &res->ours[s], *factor = Best(res, REFACTOR), *solve = Best(res, SOLVE);

  switch (which) {
  case RATIO_SOLVE:
    return Time(solve, SOLVE) / Time(o, SOLVE);
  case RATIO_TRANSPOSED:
    return Time(Best(res, TRANSPOSED), TRANSPOSED) / Time(o, TRANSPOSED);
  case RATIO_MANY:
    return Time(Best(res, MANY), MANY) / Time(o, MANY);
  case RATIO_REFACTOR:
    return Time(factor, REFACTOR) / Time(o, REFACTOR);
  case RATIO_ANALYSIS:
    return (factor->time[ANALYSIS] + solve->time[ANALYSIS]) / o->time[ANALYSIS];
  default:
    return (factor->call + solve->call) / o->time[ANALYSIS];
  }
}

/* The geometric mean over the matrices of a class (NULL: all) that have the ratio, and their number. */
static double Mean(PetscInt nresults, const Result *res, PetscInt s, const char *group, Ratio which, PetscInt *count)
{
  double sum = 0.0;

  *count = 0;
  for (PetscInt k = 0; k < nresults; k++) {
    const double ratio = res[k].nnz ? RatioOf(&res[k], s, which) : NAN;

    if (!(ratio > 0) || isinf(ratio) || (group && strcmp(group, res[k].which))) continue;
    sum += log(ratio);
    (*count)++;
  }
  return *count ? exp(sum / *count) : NAN;
}

static PetscErrorCode PrintRatio(double ratio)
{
  PetscFunctionBegin;
  if (isnan(ratio)) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10s", "-"));
  else PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10.2f", ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The means of a class, or of all matrices, printed and as JSON; nothing where there are none. */
static PetscErrorCode PrintMeans(const Bench *bench, PetscInt nresults, const Result *res, PetscInt s, const char *group)
{
  double   mean[RATIOS];
  PetscInt counts[RATIOS], matrices = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nresults; k++) matrices += res[k].nnz && (!group || !strcmp(group, res[k].which));
  if (!matrices) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "  geometric mean, %-9s %3" PetscInt_FMT " %28s", group ? group : "all", matrices, ""));
  for (int r = 0; r < RATIOS; r++) {
    mean[r] = Mean(nresults, res, s, group, (Ratio)r, &counts[r]);
    PetscCall(PrintRatio(mean[r]));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  for (int r = 0; r < RATIOS; r++) {
    if (!counts[r]) continue;
    PetscCall(BenchJSONBegin(bench->json));
    PetscCall(BenchJSONText(bench->json, "bench", "kernels-mean"));
    PetscCall(BenchJSONText(bench->json, "strategy", bench->strategy[s].name));
    PetscCall(BenchJSONText(bench->json, "class", group ? group : "all"));
    PetscCall(BenchJSONText(bench->json, "ratio", ratios[r]));
    PetscCall(BenchJSONNumber(bench->json, "mean", mean[r]));
    PetscCall(BenchJSONNumber(bench->json, "matrices", counts[r]));
    PetscCall(BenchJSONEnd(bench->json));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ReportSummary(const Bench *bench, PetscInt nresults, const Result *res)
{
  const char *const groups[] = {"grid", "mesh", "irregular", "file", NULL};

  PetscFunctionBegin;
  if (!bench->cusparse) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt s = 0; s < bench->nstrategies; s++) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n%s: cuSPARSE's time over syncilu's\n  %-24s %9s %10s %12s", bench->strategy[s].name, "matrix", "rows", "nonzeros",
                          "levels"));
    for (int r = 0; r < RATIOS; r++) PetscCall(PetscPrintf(PETSC_COMM_SELF, " %10s", ratios[r]));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8s %10s\n", "x CSR", "us a level"));
    for (PetscInt k = 0; k < nresults; k++) {
      if (!res[k].nnz) continue;
      PetscCall(
        PetscPrintf(PETSC_COMM_SELF, "  %-24s %9" PetscInt_FMT " %10" PetscInt_FMT " %12" PetscInt_FMT, res[k].name, res[k].n, res[k].nnz, res[k].levels[0]));
      for (int r = 0; r < RATIOS; r++) PetscCall(PrintRatio(RatioOf(&res[k], s, (Ratio)r)));
      PetscCall(PetscPrintf(PETSC_COMM_SELF, " %8.2f %10.3f\n", res[k].ours[s].bytes / CSRBytes(&res[k]),
                            1e6 * res[k].ours[s].time[SOLVE] / PetscMax(1, res[k].levels[0] + res[k].levels[1])));
    }
    for (const char *const *group = groups; *group; group++) PetscCall(PrintMeans(bench, nresults, res, s, *group));
    PetscCall(PrintMeans(bench, nresults, res, s, NULL));
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "\nof cuSPARSE's rows the fastest in each phase counts\n"
                        "solve and transposed: SpSV of both triangles, of blocks bsrsv2 too; solve16: SpSM with %d right-hand sides\n"
                        "refactor: %s, which works in place and leaves updateMatrix to be done; of blocks bsrilu02 too\n"
                        "analysis: those of the fastest two; (calls): the same without their allocations, which ours includes\n"
                        "x CSR: bytes held over those of the matrix, before a transposed solve or one of %d right-hand sides\n"
                        "us a level: the solve over the levels of L and U\n",
                        COLUMNS, bench->icc ? "csric02" : "csrilu02", COLUMNS));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
