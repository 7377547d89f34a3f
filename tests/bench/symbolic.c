static char help[] = "The symbolic phase of ILU with levels of fill: on a device, on the host by the library, and by PETSc's own MatILUFactorSymbolic().\n\
Each goes from the rows of a matrix and an ordering, which is on the host, to the pattern of L and U; that of PETSc has room for all of it\n\
from the start. Entries that are not as many are an error.\n\
  -matrices a,b,...  meshes (mesh.h) and test matrices (generate.h) with their sizes\n\
  -small             few rows\n\
  -repeat n          medians of so many (3 on the host, 9 on the device)\n\
  -json file         appends a JSON line a case; without it they go to standard output\n\n";

#include <petscmat.h>
#include <petsctime.h>
#include "bench.h"
#include "bmc.h"
#include "mesh.h"
#include "cuda/plan.h"
#include "../generate.h"
#include "../gpu.h"

enum {
  MATRICES = 16,
  LEVELS   = 2
};

typedef struct {
  Mat             A;
  SyncILUCSR      host, device;
  const PetscInt *row; /* NULL: natural */
  IS              is;
  SyncILUFill     fill;
} Problem;

/* Seconds, and entries of L and U with the diagonal. */
typedef PetscErrorCode (*Phase)(const Problem *, double, double *, PetscInt64 *);

static PetscErrorCode OnDevice(const Problem *p, double expected, double *seconds, PetscInt64 *nnz)
{
  struct _n_SyncILUEngine e;
  PetscLogDouble          t0, t1;
  Plan                    plan;
  int                     before;
  PetscBool               regular;

  PetscFunctionBegin;
  (void)expected;
  PetscCall(PetscMemzero(&e, sizeof(e)));
  PetscCall(PetscMemzero(&plan, sizeof(plan)));
  SyncILUSettingsInitialize(&e.settings);
  e.settings.ordering = SYNCILU_ORDERING_GIVEN;
  e.n                 = p->device.n;
  e.fill              = p->fill;
  e.row = e.col = p->row;
  PetscCall(PlanCreate(&plan, &e.settings));
  PetscCall(PlanEnter(&plan, &before));
  CallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t0));
  PetscCall(PlanFromMatrix(&plan, &e, &p->device, &regular));
  CallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t1));
  PetscCheck(regular, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The symbolic phase is left to the host: %s", plan.unfit);
  *seconds = t1 - t0;
  *nnz     = plan.nnz;
  PetscCall(PlanLeave(&plan, before));
  PetscCall(PlanDestroy(&plan));
  PetscCall(SyncILUPatternDestroy(&e.pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OnHost(const Problem *p, double expected, double *seconds, PetscInt64 *nnz)
{
  PetscLogDouble t0, t1;
  SyncILUPattern pattern;

  PetscFunctionBegin;
  (void)expected;
  PetscCall(PetscTime(&t0));
  PetscCall(SyncILUPatternCreate(&p->host, p->row, p->row, p->fill, &pattern));
  PetscCall(PetscTime(&t1));
  *seconds = t1 - t0;
  *nnz     = (PetscInt64)pattern.nl + pattern.nu + pattern.n;
  PetscCall(SyncILUPatternDestroy(&pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ByPETSc(const Problem *p, double expected, double *seconds, PetscInt64 *nnz)
{
  PetscLogDouble t0, t1;
  MatFactorInfo  info;
  MatInfo        minfo;
  Mat            F;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.levels = (PetscReal)p->fill.levels;
  info.fill   = (PetscReal)((expected + p->host.n) / p->host.nnz);
  PetscCall(MatGetFactor(p->A, MATSOLVERPETSC, MAT_FACTOR_ILU, &F));
  PetscCall(PetscTime(&t0));
  PetscCall(MatILUFactorSymbolic(F, p->A, p->is, p->is, &info));
  PetscCall(PetscTime(&t1));
  PetscCall(MatGetInfo(F, MAT_LOCAL, &minfo));
  *seconds = t1 - t0;
  *nnz     = (PetscInt64)minfo.nz_used;
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const char *name, const char *ordering, const Problem *p, PetscInt repeat, BenchJSON json)
{
  const Phase       phase[] = {OnDevice, OnHost, ByPETSc};
  const char *const keys[]  = {"seconds_device", "seconds_host", "seconds_petsc"};
  const PetscInt    usual[] = {9, 3, 3};
  PetscInt64        nnz     = 0, other;
  double            time[3], ignored;

  PetscFunctionBegin;
  BenchProgress("%s, %s, %d levels", name, ordering, (int)p->fill.levels);
  PetscCall(OnDevice(p, 0.0, &ignored, &nnz)); /* loads kernels and fills the pool of memory */
  for (int k = 0; k < 3; k++) {
    BenchSample s;

    for (s.n = 0; s.n < (repeat ? repeat : usual[k]); s.n++) {
      PetscCall((*phase[k])(p, (double)nnz, &s.t[s.n], &other));
      PetscCheck(other == nnz, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s, %s, %d levels: %s has %" PetscInt64_FMT " entries, the device's first %" PetscInt64_FMT,
                 name, ordering, (int)p->fill.levels, keys[k], other, nnz);
    }
    time[k] = BenchMedian(&s);
  }
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "| %s | %" PetscInt_FMT " | %s | %d | %" PetscInt64_FMT " | %.0f | %.0f | %.2f | %.1f | %.1f |\n", name, p->host.n,
                        ordering, (int)p->fill.levels, nnz, 1e3 * time[2], 1e3 * time[1], 1e3 * time[0], time[2] / time[0], time[1] / time[0]));
  PetscCall(BenchJSONBegin(json));
  PetscCall(BenchJSONText(json, "bench", "symbolic"));
  PetscCall(BenchJSONText(json, "matrix", name));
  PetscCall(BenchJSONText(json, "ordering", ordering));
  PetscCall(BenchJSONNumber(json, "rows", p->host.n));
  PetscCall(BenchJSONNumber(json, "nonzeros", p->host.nnz));
  PetscCall(BenchJSONNumber(json, "levels", p->fill.levels));
  PetscCall(BenchJSONNumber(json, "entries", (double)nnz));
  for (int k = 0; k < 3; k++) PetscCall(BenchJSONNumber(json, keys[k], time[k]));
  PetscCall(BenchJSONEnd(json));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureMatrix(const char *name, PetscInt repeat, PetscRandom rand, BenchJSON json)
{
  Problem     p = {.host = {.mem = PETSC_MEMTYPE_HOST}};
  MeshProblem mesh;
  PetscInt    n;
  PetscBool   done;
  SyncILUBMC  bmc;

  PetscFunctionBegin;
  PetscCall(MeshParse(name, &mesh, &n));
  if (mesh < MESH_PROBLEMS) PetscCall(MeshCreate(PETSC_COMM_SELF, mesh, n, &p.A));
  else PetscCall(GenerateMatrix(name, 1000000, rand, &p.A));
  PetscCall(MatGetRowIJ(p.A, 0, PETSC_FALSE, PETSC_FALSE, &p.host.n, &p.host.i, &p.host.j, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no access to the rows", name);
  n          = p.host.n;
  p.host.nnz = p.host.i[n];
  PetscCall(CSRUpload(&p.host, &p.device));
  PetscCall(SyncILUBMCCreate(n, p.host.i, p.host.j, SYNCILU_BMC_SIZE, PETSC_FALSE, &bmc));
  for (int ordered = 0; ordered < 2; ordered++) {
    if (ordered) PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, bmc.row, PETSC_USE_POINTER, &p.is));
    else PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &p.is));
    PetscCall(ISSetPermutation(p.is));
    if (!ordered) PetscCall(ISSetIdentity(p.is));
    p.row = ordered ? bmc.row : NULL;
    for (p.fill.levels = 1; p.fill.levels <= LEVELS; p.fill.levels++) PetscCall(Measure(name, ordered ? "bmc" : "natural", &p, repeat, json));
    PetscCall(ISDestroy(&p.is));
  }
  PetscCall(SyncILUBMCDestroy(&bmc));
  PetscCall(CSRFree(&p.device));
  PetscCall(MatRestoreRowIJ(p.A, 0, PETSC_FALSE, PETSC_FALSE, &n, &p.host.i, &p.host.j, &done));
  PetscCall(MatDestroy(&p.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const usual[] = {"laplace2:1000", "laplace3:100", "7pt:100x100x100"}, *const few[] = {"laplace2:20", "laplace3:7", "7pt:8x8x8"};
  char       *names[MATRICES], file[PETSC_MAX_PATH_LEN] = "", why[160] = "";
  PetscInt    count = MATRICES, repeat = 0;
  PetscBool   given, available, small = PETSC_FALSE;
  PetscRandom rand;
  BenchJSON   json;

  if (GpuMissing()) return SKIPPED;
  if (sizeof(PetscInt) != sizeof(int)) {
    printf("skipped: rows on a device have indices of 32 bits\n");
    return SKIPPED;
  }
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscOptionsBegin(PETSC_COMM_SELF, NULL, "Symbolic bench", NULL);
  PetscCall(PetscOptionsStringArray("-matrices", "Names of meshes and test matrices", NULL, names, &count, &given));
  PetscCall(PetscOptionsBool("-small", "Few rows", NULL, small, &small, NULL));
  PetscCall(PetscOptionsInt("-repeat", "Medians of so many; 0: 3 on the host, 9 on the device", NULL, repeat, &repeat, NULL));
  PetscCall(PetscOptionsString("-json", "File for lines of JSON", NULL, file, file, sizeof(file), NULL));
  PetscOptionsEnd();
  PetscCheck(repeat >= 0 && repeat <= BENCH_REPEAT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-repeat must be from 0 to %d", BENCH_REPEAT_MAX);
  PetscCall(DeviceAvailable(&available, why, sizeof(why)));
  PetscCheck(available, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s", why);
  if (!given) count = PETSC_STATIC_ARRAY_LENGTH(usual);
  PetscCall(BenchJSONOpen(file, &json));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscPrintf(PETSC_COMM_SELF,
                        "| matrix | rows | ordering | levels | entries of L and U | PETSc, ms | host, ms | device, ms | PETSc / device | host / device |\n"
                        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"));
  for (PetscInt k = 0; k < count; k++) {
    PetscCall(MeasureMatrix(given ? names[k] : small ? few[k] : usual[k], repeat, rand, json));
    if (given) PetscCall(PetscFree(names[k]));
  }
  PetscCall(PetscRandomDestroy(&rand));
  PetscCall(BenchJSONClose(&json));
  PetscCall(PetscFinalize());
  return 0;
}
