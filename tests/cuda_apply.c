static char help[] = "What an application costs: with vectors on the device there are no copies to or from the host, nothing waits and nothing is\n\
allocated. The calls are counted where the program makes them, by functions of the runtime's names that this executable puts\n\
before the runtime's own.\n\n";

#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include "check.h"
#include "gpu.h"

typedef enum {
  COPY, /* between host and device */
  WAIT,
  ALLOCATE,
  LAUNCH,
  COUNTS
} Count;
static const char *const names[] = {"copies", "waits", "allocations", "launches"};
static int               counts[COUNTS];

/*
   The parts of a function that counts and goes on to the runtime's own: its name, what it counts as, its
   parameters, its arguments. Pointers to functions are pointers to objects for POSIX, and not for C.
*/
#define COUNTED_IF(condition, name, count, parameters, arguments) \
  extern cudaError_t name parameters; \
  cudaError_t name        parameters \
  { \
    cudaError_t(*next) parameters; \
    *(void **)&next = dlsym(RTLD_NEXT, #name); \
    if (condition) counts[count]++; \
    return next ? next arguments : cudaErrorUnknown; \
  }
#define COUNTED(name, count, parameters, arguments) COUNTED_IF(1, name, count, parameters, arguments)
/* copies that stay on the device are allowed */
#define COUNTED_COPY(name, parameters, arguments) COUNTED_IF(kind != cudaMemcpyDeviceToDevice, name, COPY, parameters, arguments)

COUNTED_COPY(cudaMemcpy, (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind), (dst, src, bytes, kind))
COUNTED_COPY(cudaMemcpyAsync, (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream), (dst, src, bytes, kind, stream))
COUNTED_COPY(cudaMemcpyAsync_ptsz, (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream), (dst, src, bytes, kind, stream))
COUNTED_COPY(cudaMemcpy2D, (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind),
             (dst, dpitch, src, spitch, width, height, kind))
COUNTED_COPY(cudaMemcpy2DAsync,
             (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
             (dst, dpitch, src, spitch, width, height, kind, stream))
COUNTED_COPY(cudaMemcpyToSymbol, (const void *symbol, const void *src, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
             (symbol, src, bytes, offset, kind))
COUNTED_COPY(cudaMemcpyToSymbolAsync, (const void *symbol, const void *src, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream),
             (symbol, src, bytes, offset, kind, stream))
COUNTED_COPY(cudaMemcpyFromSymbol, (void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind), (dst, symbol, bytes, offset, kind))
COUNTED_COPY(cudaMemcpyFromSymbolAsync, (void *dst, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream),
             (dst, symbol, bytes, offset, kind, stream))

COUNTED(cudaDeviceSynchronize, WAIT, (void), ())
COUNTED(cudaStreamSynchronize, WAIT, (cudaStream_t stream), (stream))
COUNTED(cudaStreamSynchronize_ptsz, WAIT, (cudaStream_t stream), (stream))
COUNTED(cudaEventSynchronize, WAIT, (cudaEvent_t event), (event))
/* asking again and again is waiting too */
COUNTED(cudaStreamQuery, WAIT, (cudaStream_t stream), (stream))
COUNTED(cudaEventQuery, WAIT, (cudaEvent_t event), (event))

COUNTED(cudaMalloc, ALLOCATE, (void **pointer, size_t bytes), (pointer, bytes))
COUNTED(cudaMallocAsync, ALLOCATE, (void **pointer, size_t bytes, cudaStream_t stream), (pointer, bytes, stream))
COUNTED(cudaMallocFromPoolAsync, ALLOCATE, (void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream), (pointer, bytes, pool, stream))
COUNTED(cudaMallocManaged, ALLOCATE, (void **pointer, size_t bytes, unsigned int flags), (pointer, bytes, flags))
COUNTED(cudaMallocPitch, ALLOCATE, (void **pointer, size_t *pitch, size_t width, size_t height), (pointer, pitch, width, height))
COUNTED(cudaMallocHost, ALLOCATE, (void **pointer, size_t bytes), (pointer, bytes))
COUNTED(cudaHostAlloc, ALLOCATE, (void **pointer, size_t bytes, unsigned int flags), (pointer, bytes, flags))
COUNTED(cudaHostRegister, ALLOCATE, (void *pointer, size_t bytes, unsigned int flags), (pointer, bytes, flags))
COUNTED(cudaFree, ALLOCATE, (void *pointer), (pointer))
COUNTED(cudaFreeAsync, ALLOCATE, (void *pointer, cudaStream_t stream), (pointer, stream))
COUNTED(cudaFreeHost, ALLOCATE, (void *pointer), (pointer))

COUNTED(cudaLaunchKernel, LAUNCH, (const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
        (function, grid, block, args, shared, stream))
COUNTED(cudaLaunchCooperativeKernel, LAUNCH, (const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
        (function, grid, block, args, shared, stream))
COUNTED(cudaLaunchKernelExC, LAUNCH, (const cudaLaunchConfig_t *config, const void *function, void **args), (config, function, args))
/* what the compiler makes of <<<>>> in newer releases; the first argument is a handle of the function */
COUNTED(__cudaLaunchKernel, LAUNCH, (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream),
        (kernel, grid, block, args, shared, stream))

static void CountFrom(int before[COUNTS])
{
  memcpy(before, counts, sizeof(counts));
}

static void CountTo(int count[COUNTS])
{
  for (int k = 0; k < COUNTS; k++) count[k] = counts[k] - count[k];
}

/* What PETSc's log knows of copies, the columns CpuToGpu and GpuToCpu of -log_view. */
static PetscLogDouble LoggedCopies(void)
{
#if defined(PETSC_HAVE_DEVICE) && defined(PETSC_USE_LOG)
  return petsc_ctog_ct + petsc_gtoc_ct + petsc_ctog_ct_scalar + petsc_gtoc_ct_scalar;
#else
  return 0;
#endif
}

typedef enum {
  APPLY,
  TRANSPOSED,
  MANY,
  KINDS
} Kind;
static const char *const kinds[] = {"PCApply()", "PCApplyTranspose()", "PCMatApply()"};

static PetscErrorCode ApplyOnce(PC pc, Kind kind, Vec b, Vec x, Mat B, Mat X)
{
  PetscFunctionBegin;
  if (kind == APPLY) PetscCall(PCApply(pc, b, x));
  else if (kind == TRANSPOSED) PetscCall(PCApplyTranspose(pc, b, x));
  else PetscCall(PCMatApply(pc, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMatrix(const char *pattern, const char *options, PetscRandom rand)
{
  Mat            A, B, X;
  Vec            b, x;
  PC             pc;
  PetscInt       n;
  int            count[COUNTS];
  PetscLogDouble logged;
  PetscOptions   db;

  PetscFunctionBegin;
  Watch("%s %s", pattern, options);
  PetscCall(GenerateMatrix(pattern, 8000, rand, &A));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
#endif
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 6, NULL, &B));
  PetscCall(MatSetRandom(B, rand));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatConvert(B, MATSEQDENSECUDA, MAT_INPLACE_MATRIX, &B));
#endif
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));

  PetscCall(CheckOptionsBegin(options, &db));
  PetscCall(PreconditionerCreate(A, SYNCILU_BACKEND_CUDA, &pc));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(CheckOptionsEnd(&db));
  CountFrom(count);
  PetscCall(PCSetUp(pc));
  CountTo(count);
  /* if the counting functions were not called, this test would find nothing */
  for (int k = 0; k < COUNTS; k++) CHECK(count[k] > 0, "%s %s: no %s counted in the setup, so that they are not counted at all", pattern, options, names[k]);
  printf("%s %s: setup: %d copies, %d waits, %d allocations, %d launches\n", pattern, options, count[COPY], count[WAIT], count[ALLOCATE], count[LAUNCH]);

  for (int round = 0; round < 2; round++) {
    for (Kind kind = APPLY; kind < KINDS; kind++) {
      /* the first of its kind may complete the plan and brings the vectors to the device */
      PetscCall(ApplyOnce(pc, kind, b, x, B, X));
      CallCUDA(cudaDeviceSynchronize());
      logged = LoggedCopies();
      CountFrom(count);
      for (int k = 0; k < 20; k++) PetscCall(ApplyOnce(pc, kind, b, x, B, X));
      CountTo(count);
      logged = LoggedCopies() - logged;
      CallCUDA(cudaDeviceSynchronize());
      printf("%s %s: 20 %s: %d copies, %d waits, %d allocations, %d launches\n", pattern, options, kinds[kind], count[COPY], count[WAIT], count[ALLOCATE],
             count[LAUNCH]);
      CHECK(count[LAUNCH] >= 20, "%s %s: 20 %s launch %d kernels", pattern, options, kinds[kind], count[LAUNCH]);
#if defined(PETSC_HAVE_CUDA)
      for (int k = COPY; k <= ALLOCATE; k++) CHECK(count[k] == 0, "%s %s: 20 %s make %d %s", pattern, options, kinds[kind], count[k], names[k]);
      CHECK(logged == 0, "%s %s: 20 %s copy %g times by PETSc's log", pattern, options, kinds[kind], logged);
#else
      CHECK(count[ALLOCATE] == 0, "%s %s: 20 %s make %d allocations", pattern, options, kinds[kind], count[ALLOCATE]);
      (void)logged;
#endif
    }
    /* new values, made on the device: the host reads what became of the factorization, and no more */
    PetscCall(MatScale(A, 1.5));
    CallCUDA(cudaDeviceSynchronize());
    CountFrom(count);
    PetscCall(PCSetUp(pc));
    CountTo(count);
    printf("%s %s: refactorization: %d copies, %d waits, %d allocations, %d launches\n", pattern, options, count[COPY], count[WAIT], count[ALLOCATE],
           count[LAUNCH]);
    if (strstr(options, "parilut")) continue; /* it searches for another pattern, in rounds, each time */
#if defined(PETSC_HAVE_CUDA)
    CHECK(count[COPY] <= 1, "%s %s: a refactorization makes %d copies", pattern, options, count[COPY]);
    CHECK(count[WAIT] <= 1, "%s %s: a refactorization waits %d times", pattern, options, count[WAIT]);
#endif
    /*
       the factorization by inodes gives W and U', and what inodes have read of each other, back once the solves
       have their own, and finds the memory again
    */
    CHECK(count[ALLOCATE] <= (strstr(options, "update bsr") ? 2 : 0), "%s %s: a refactorization makes %d allocations", pattern, options, count[ALLOCATE]);
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The operator of Eisenstat's trick, which is there while a Krylov method runs. */
static PetscErrorCode CountProducts(KSP ksp, PetscInt it, PetscReal norm, void *context)
{
  const char *options = (const char *)context;
  int         count[COUNTS];
  Mat         B;
  Vec         v, y;

  PetscFunctionBegin;
  (void)norm;
  if (it != 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetOperators(ksp, &B, NULL));
  PetscCall(MatCreateVecs(B, &v, &y));
  PetscCall(VecSet(v, 1.0));
  PetscCall(MatMult(B, v, y));
  CallCUDA(cudaDeviceSynchronize());
  CountFrom(count);
  for (int k = 0; k < 20; k++) PetscCall(MatMult(B, v, y));
  CountTo(count);
  CallCUDA(cudaDeviceSynchronize());
  CHECK(count[LAUNCH] >= 40, "%s: 20 products by two solves each launch %d kernels", options, count[LAUNCH]);
  CHECK(count[ALLOCATE] == 0, "%s: 20 products make %d allocations", options, count[ALLOCATE]);
#if defined(PETSC_HAVE_CUDA)
  for (int k = COPY; k <= WAIT; k++) CHECK(count[k] == 0, "%s: 20 products make %d %s", options, count[k], names[k]);
#endif
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProducts(SyncILUSolve solve, PetscRandom rand)
{
  char options[128];
  int  count[COUNTS];
  Mat  A;
  Vec  b, x;
  KSP  ksp;
  PC   pc;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_syncilu_eisenstat -pc_syncilu_solve %s", SyncILUSolves[solve]));
  Watch("%s", options);
  PetscCall(GenerateMatrix("7pt", 8000, rand, &A));
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
#endif
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(SolverCreate(A, SYNCILU_BACKEND_CUDA, &ksp, &pc));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 3));
  PetscCall(PCSyncILUSetSolve(pc, solve));
  PetscCall(PCSyncILUSetEisenstat(pc, PETSC_TRUE));
  PetscCall(KSPMonitorSet(ksp, CountProducts, options, NULL));
  for (int round = 0; round < 2; round++) {
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatScale(A, 1.5));
    CallCUDA(cudaDeviceSynchronize());
    CountFrom(count);
    PetscCall(PCSetUp(pc));
    CountTo(count);
    CHECK(count[ALLOCATE] == 0, "%s: a refactorization makes %d allocations", options, count[ALLOCATE]);
#if defined(PETSC_HAVE_CUDA)
    CHECK(count[COPY] <= 1 && count[WAIT] <= 1, "%s: a refactorization makes %d copies and waits %d times", options, count[COPY], count[WAIT]);
#endif
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscRandom rand;
  int         failed;

  if (GpuMissing()) return SKIPPED;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (int m = 0; m < 2; m++) {
    char options[128];

    for (int k = 0; k < CheckEnumCount(SyncILUUpdates); k++) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_syncilu_update %s", SyncILUUpdates[k]));
      PetscCall(TestMatrix(m ? "27pt" : "7pt", options, rand));
    }
    for (int k = 0; k < CheckEnumCount(SyncILUSolves); k++) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "-pc_syncilu_solve %s", SyncILUSolves[k]));
      PetscCall(TestMatrix(m ? "27pt" : "7pt", options, rand));
    }
  }
  for (int k = 0; k < CheckEnumCount(SyncILUSolves); k++) {
    if (k != SYNCILU_SOLVE_JACOBI) PetscCall(TestProducts((SyncILUSolve)k, rand)); /* which the trick refuses */
  }
  PetscCall(TestMatrix("27pt", "-pc_factor_levels 1", rand));
  PetscCall(TestMatrix("7pt_random", "-pc_factor_mat_ordering_type rcm -pc_syncilu_relax 0.9", rand));
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = CheckReport("cuda_apply");
  PetscCall(PetscFinalize());
  return failed;
}
