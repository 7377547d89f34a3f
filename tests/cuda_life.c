static char help[] = "The CUDA backend through the life of a process, in parts: streams that come and go, memory that is missing before the first\n\
launch and between the phases, other devices, PETSc that ends and begins again, a fault.\n\n\
  -list        the names of the parts\n\
  -part <name> this part alone\n\n";

#if !defined(_GNU_SOURCE)
  #define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"
#include "gpu.h"
#include "attack.h"
#include "../kernels/tuning.h"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

/* Pinned memory is refused while this is set. This executable puts the function before the runtime's own. */
static PetscBool refuse_pinned = PETSC_FALSE;
static int       refusals      = 0;

extern cudaError_t cudaMallocHost(void **, size_t);
cudaError_t        cudaMallocHost(void **pointer, size_t bytes)
{
  cudaError_t (*next)(void **, size_t);

  if (refuse_pinned) {
    refusals++;
    return cudaErrorMemoryAllocation;
  }
  *(void **)&next = dlsym(RTLD_NEXT, "cudaMallocHost");
  return next ? next(pointer, bytes) : cudaErrorUnknown;
}

/* A matrix, and what the host's backend makes of a right-hand side, with the transpose too. */
typedef struct {
  Mat A;
  Vec b, x, want[2];
} Subject;

static PetscErrorCode SubjectCreate(const char *pattern, PetscReal relax, PetscBool device, PetscRandom rand, Subject *s)
{
  PC pc;

  PetscFunctionBegin;
  Watch("the host's solution of %s", pattern);
  PetscCall(GenerateMatrix(pattern, 0, rand, &s->A));
  PetscCall(MatCreateVecs(s->A, &s->x, &s->b));
  PetscCall(VecSetRandom(s->b, rand));
  PetscCall(PreconditionerCreate(s->A, SYNCILU_BACKEND_HOST, &pc));
  PetscCall(PCSyncILUSetRelax(pc, relax));
  for (int t = 0; t < 2; t++) {
    PetscCall(VecDuplicate(s->x, &s->want[t]));
    if (t) PetscCall(PCApplyTranspose(pc, s->b, s->want[t]));
    else PetscCall(PCApply(pc, s->b, s->want[t]));
  }
  PetscCall(PCDestroy(&pc));
#if defined(PETSC_HAVE_CUDA)
  if (device) {
    Vec *const vecs[] = {&s->b, &s->x, &s->want[0], &s->want[1]};

    PetscCall(MatConvert(s->A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &s->A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(vecs); k++) {
      Vec moved;

      PetscCall(MatCreateVecs(s->A, &moved, NULL));
      PetscCall(VecCopy(*vecs[k], moved));
      PetscCall(VecDestroy(vecs[k]));
      *vecs[k] = moved;
    }
    CallCUDA(cudaDeviceSynchronize());
  }
#else
  (void)device;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SubjectDestroy(Subject *s)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&s->A));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  for (int t = 0; t < 2; t++) PetscCall(VecDestroy(&s->want[t]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckVec(Vec x, Vec want, PetscReal tolerance, const char *what)
{
  PetscReal diff;

  PetscFunctionBegin;
  PetscCall(CheckDifference(x, want, &diff));
  CHECK(diff <= tolerance, "%s: the solution differs by %g", what, (double)diff);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies the preconditioner and its transpose, compared with the host's. */
static PetscErrorCode CheckApply(PC pc, Subject *s, const char *what)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    if (t) PetscCall(PCApplyTranspose(pc, s->b, s->x));
    else PetscCall(PCApply(pc, s->b, s->x));
    PetscCall(CheckVec(s->x, s->want[t], 1e-12, what));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
/*
   Part transpose: a matrix that is transposed in place between two solves, which not every PETSc tells the
   preconditioner.
*/
static PetscErrorCode TestTranspose(PetscRandom rand)
{
  const PetscInt n = 300;
  Mat            A;
  KSP            ksp;
  PC             pc;
  Vec            b, x;

  PetscFunctionBegin;
  (void)rand;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 11, NULL, &A));
  /* more on the right than on the left, and more in some rows than in others */
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = PetscMax(0, i - 2); j <= PetscMin(n - 1, i + i % 9); j++) {
      PetscCall(MatSetValue(A, i, j, i == j ? 14.0 : -1.0 - 0.01 * (PetscReal)((i + 3 * j) % 17), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(SolverCreate(A, SYNCILU_BACKEND_CUDA, &ksp, &pc));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  for (int t = 0; t < 6; t++) {
    KSP                fresh;
    PC                 other;
    PetscInt           its[2];
    KSPConvergedReason reason;

    Watch("%d transpositions in place", t);
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[0]));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(SolverCreate(A, SYNCILU_BACKEND_HOST, &fresh, &other));
    PetscCall(KSPSetTolerances(fresh, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    PetscCall(KSPSolve(fresh, b, x));
    PetscCall(KSPGetIterationNumber(fresh, &its[1]));
    CHECK(reason > 0 && its[0] == its[1], "%d transpositions: %s after %" PetscInt_FMT " iterations, a new one on the host takes %" PetscInt_FMT, t,
          KSPConvergedReasons[reason], its[0], its[1]);
    PetscCall(KSPDestroy(&fresh));
    PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
    PetscCall(KSPSetOperators(ksp, A, A));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ContextCreate(PetscStreamType type, PetscDeviceContext *context)
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceContextCreate(context));
  PetscCall(PetscDeviceContextSetStreamType(*context, type));
  PetscCall(PetscDeviceContextSetUp(*context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part contexts: a context goes with an application in flight, and the next one comes, whose stream may have
   the address of the last one. Nothing waits until the end. Streams are destroyed where a context changes the
   type of its stream; else PETSc may keep them for the next context.
*/
static PetscErrorCode TestContexts(PetscRandom rand)
{
  enum {
    VECS = 16
  };
  const int          rounds = 2000;
  Subject            s;
  PC                 pc;
  Vec                y, *x;
  PetscDeviceContext root;

  PetscFunctionBegin;
  PetscCall(SubjectCreate("7pt:110x110x110", 0.0, PETSC_TRUE, rand, &s));
  PetscCall(PreconditionerCreate(s.A, SYNCILU_BACKEND_CUDA, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(VecDuplicate(s.x, &y));
  PetscCall(VecDuplicateVecs(s.x, VECS, &x));
  PetscCall(PCApply(pc, s.b, y));
  PetscCall(CheckVec(y, s.want[0], 1e-12, "before contexts"));
  for (int k = 0; k < VECS; k++) PetscCall(PCApply(pc, s.b, x[k]));
  PetscCall(PetscDeviceContextGetCurrentContext(&root));
  CallCUDA(cudaDeviceSynchronize());
  for (int round = 0; round < rounds; round++) {
    PetscDeviceContext other;

    Watch("context %d", round);
    PetscCall(ContextCreate(round % 2 ? PETSC_STREAM_NONBLOCKING : PETSC_STREAM_DEFAULT, &other));
    PetscCall(PetscDeviceContextSetCurrentContext(other));
    PetscCall(PCApply(pc, s.b, x[round % VECS]));
    PetscCall(PetscDeviceContextSetCurrentContext(root));
    if (round % 3 == 0) PetscCall(PetscDeviceContextSetStreamType(other, round % 2 ? PETSC_STREAM_DEFAULT : PETSC_STREAM_NONBLOCKING));
    PetscCall(PetscDeviceContextDestroy(&other));
    if (round % 250 < 249) continue;
    CallCUDA(cudaDeviceSynchronize());
    for (int k = 0; k < VECS; k++) {
      PetscCall(CheckVec(x[k], y, 0.0, "contexts that come and go"));
      PetscCall(VecSet(x[k], -7.0));
    }
    CallCUDA(cudaDeviceSynchronize());
  }
  PetscCall(VecDestroyVecs(VECS, &x));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscCall(SubjectDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part pairs: two preconditioners on two streams, applied in turn without waiting. One of them is factored
   again now and then, for values that change on a third stream, behind events. Values are scaled by two and
   back, so that all numbers are the same bit for bit but for a power of two.
*/
static PetscErrorCode TestPairs(PetscRandom rand)
{
  enum {
    VECS = 10
  };
  const int          rounds = 500;
  Subject            s[2];
  PC                 pc[2];
  Vec                y[2], *x[2];
  PetscDeviceContext root, context[3];
  cudaStream_t       stream[3];
  cudaEvent_t        changed, used;
  PetscReal          scale = 1.0, scales[VECS];

  PetscFunctionBegin;
  CallCUDA(cudaEventCreateWithFlags(&changed, cudaEventDisableTiming));
  CallCUDA(cudaEventCreateWithFlags(&used, cudaEventDisableTiming));
  for (int k = 0; k < 2; k++) {
    PetscCall(SubjectCreate(k ? "27pt:40x40x40" : "7pt:60x60x60", 0.0, PETSC_TRUE, rand, &s[k]));
    PetscCall(PreconditionerCreate(s[k].A, SYNCILU_BACKEND_CUDA, &pc[k]));
    PetscCall(VecDuplicate(s[k].x, &y[k]));
    PetscCall(VecDuplicateVecs(s[k].x, VECS, &x[k]));
    PetscCall(PCApply(pc[k], s[k].b, y[k]));
    PetscCall(CheckVec(y[k], s[k].want[0], 1e-12, "before pairs"));
    for (int v = 0; v < VECS; v++) PetscCall(PCApply(pc[k], s[k].b, x[k][v]));
  }
  PetscCall(PetscDeviceContextGetCurrentContext(&root));
  for (int k = 0; k < 3; k++) {
    PetscCall(ContextCreate(PETSC_STREAM_NONBLOCKING, &context[k]));
    PetscCall(PetscDeviceContextSetCurrentContext(context[k]));
    PetscCall(PetscGetCurrentCUDAStream(&stream[k]));
  }
  CallCUDA(cudaDeviceSynchronize());
  CallCUDA(cudaEventRecord(used, stream[1]));
  for (int round = 0; round < rounds; round++) {
    const int v = round % VECS;

    Watch("pairs, round %d", round);
    PetscCall(PetscDeviceContextSetCurrentContext(context[0]));
    PetscCall(PCApply(pc[0], s[0].b, x[0][v]));
    if (round % 10 == 0) {
      const PetscReal factor = scale > 1.0 ? 0.5 : 2.0;

      PetscCall(PetscDeviceContextSetCurrentContext(context[2]));
      CallCUDA(cudaStreamWaitEvent(stream[2], used, 0)); /* the last factorization has read the values */
      PetscCall(MatScale(s[1].A, factor));
      scale *= factor;
      CallCUDA(cudaEventRecord(changed, stream[2]));
      CallCUDA(cudaStreamWaitEvent(stream[1], changed, 0));
      PetscCall(PetscDeviceContextSetCurrentContext(context[1]));
      PetscCall(PCSetUp(pc[1]));
      CallCUDA(cudaEventRecord(used, stream[1]));
    }
    PetscCall(PetscDeviceContextSetCurrentContext(context[1]));
    PetscCall(PCApply(pc[1], s[1].b, x[1][v]));
    scales[v] = scale;
  }
  CallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscDeviceContextSetCurrentContext(root));
  for (int v = 0; v < VECS; v++) {
    PetscCall(CheckVec(x[0][v], y[0], 0.0, "the first of a pair"));
    PetscCall(VecScale(x[1][v], scales[v]));
    PetscCall(CheckVec(x[1][v], y[1], 0.0, "the second of a pair"));
  }
  for (int k = 0; k < 3; k++) PetscCall(PetscDeviceContextDestroy(&context[k]));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroyVecs(VECS, &x[k]));
    PetscCall(VecDestroy(&y[k]));
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(SubjectDestroy(&s[k]));
  }
  CallCUDA(cudaEventDestroy(changed));
  CallCUDA(cudaEventDestroy(used));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
  #define TestTranspose NULL
  #define TestContexts  NULL
  #define TestPairs     NULL
#endif

/* Too little memory is what went wrong, and the message says so. */
static void CheckShortage(PetscErrorCode ierr, const char *call, const char *what)
{
  printf("  %s, %s: %s\n", what, call, check_message);
  CHECK(ierr == PETSC_ERR_LIB || ierr == PETSC_ERR_GPU_RESOURCE || ierr == PETSC_ERR_MEM || ierr == PETSC_ERR_SUP, "%s, %s: error %d: %s", what, call,
        (int)ierr, check_message);
  CHECK(strstr(check_message, "memory"), "%s, %s: does not say what was missing: %s", what, call, check_message);
}

/*
   Part fresh: a process whose device has next to no memory left before the first kernel of the library is
   launched, which the driver loads only then. The host takes over, or an error says what is missing; and all
   works once there is memory.
*/
static const size_t leaves[] = {(size_t)8 << 20, (size_t)2 << 20, 0};

static PetscErrorCode TestFresh(int variant, PetscRandom rand, PetscBool *skip)
{
  const size_t         leave   = leaves[variant / 2];
  const SyncILUBackend backend = variant % 2 ? SYNCILU_BACKEND_CUDA : SYNCILU_BACKEND_AUTO;
  Subject              s;
  PC                   pc, other;
  Vec                  lost, x;
  Hoard                h;
  PetscBool            taken;
  PetscErrorCode       ierr;
  size_t               before, after, total;
  char                 what[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %d MiB left", SyncILUBackends[backend], (int)(leave >> 20)));
  PetscCall(SubjectCreate("15pt:24x24x24", 0.0, PETSC_FALSE, rand, &s));
  PetscCall(VecDuplicate(s.b, &lost));
  PetscCall(VecCopy(s.b, lost));
  PetscCall(VecDuplicate(s.x, &x));
  CallCUDA(cudaFree(NULL)); /* the driver's own, and no kernel */
  CallCUDA(cudaMemGetInfo(&before, &total));
  PetscCall(HoardTake(leave, &h, &taken));
  *skip = (PetscBool)!taken;
  if (!taken) PetscFunctionReturn(PETSC_SUCCESS);
  Watch("%s", what);
  PetscCall(PreconditionerCreate(s.A, backend, &pc));
  QUIETLY(ierr, PCSetUp(pc));
  if (!ierr) {
    SyncILUStatistics statistics;

    PetscCall(PCSyncILUGetStatistics(pc, &statistics));
    printf("  %s: on %s\n", what, SyncILUBackends[statistics.backend]);
    QUIETLY(ierr, PCApply(pc, lost, x)); /* an error leaves the vector locked */
    if (ierr) CheckShortage(ierr, "PCApply()", what);
    else PetscCall(CheckVec(x, s.want[0], 1e-12, what));
  } else CheckShortage(ierr, "PCSetUp()", what);
  PetscCall(HoardFree(&h));
  Watch("%s, and memory again", what);
  PetscCall(PCSetUp(pc));
  PetscCall(CheckApply(pc, &s, what));
  PetscCall(PreconditionerCreate(s.A, SYNCILU_BACKEND_CUDA, &other));
  PetscCall(CheckApply(other, &s, what));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&other));
  CallCUDA(cudaDeviceSynchronize());
  CallCUDA(cudaMemGetInfo(&after, &total));
  /* kernels are loaded now, and the pool keeps a little */
  CHECK(before <= after + 2 * (size_t)SYNCILU_KEEP, "%s: %zu bytes are left behind", what, before - after);
  PetscCall(VecDestroy(&lost));
  PetscCall(VecDestroy(&x));
  PetscCall(SubjectDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum {
  LAZY = 3 /* from this variant on kernels are loaded when they are first launched */
};

/*
   Part between: memory that is gone between the symbolic and the numeric phase, in a process that has
   launched nothing of the latter. A kernel whose loading failed stays unusable, which is the driver's doing:
   the error says how to have all kernels loaded from the start, and then everything works once there is memory.
*/
static PetscErrorCode TestBetween(int variant, PetscRandom rand, PetscBool *skip)
{
  const MatFactorShiftType shift = variant % 3 ? MAT_SHIFT_NONZERO : MAT_SHIFT_NONE;
  const PetscReal          relax = variant % 3 == 1 ? 0.0 : 0.9;
  MatFactorInfo            info;
  Subject                  s;
  Mat                      F;
  IS                       row, col;
  Vec                      lost, x;
  Hoard                    h;
  PetscBool                taken, lost_kernel;
  PetscErrorCode           ierr;
  char                     what[128];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "numeric phase with relax %g, shift %s, kernels loaded %s", (double)relax, MatFactorShiftTypes[shift],
                          variant < LAZY ? "from the start" : "late"));
  PetscCall(SubjectCreate("15pt:40x40x40", relax, PETSC_FALSE, rand, &s));
  PetscCall(VecDuplicate(s.b, &lost));
  PetscCall(VecCopy(s.b, lost));
  PetscCall(VecDuplicate(s.x, &x));
  PetscCall(MatGetFactor(s.A, MATSOLVERSYNCILU, MAT_FACTOR_ILU, &F));
  PetscCall(MatSyncILUSetBackend(F, SYNCILU_BACKEND_CUDA));
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill        = 1.0;
  info.zeropivot   = 100 * PETSC_MACHINE_EPSILON;
  info.shifttype   = (PetscReal)shift;
  info.shiftamount = 1e-10;
  PetscCall(MatGetOrdering(s.A, MATORDERINGNATURAL, &row, &col));
  PetscCall(MatILUFactorSymbolic(F, s.A, row, col, &info));
  PetscCall(MatSyncILUSetRelax(F, relax)); /* only now, so that what it needs is not there either */
  PetscCall(HoardTake(0, &h, &taken));
  *skip = (PetscBool)!taken;
  if (!taken) PetscFunctionReturn(PETSC_SUCCESS);
  Watch("%s", what);
  QUIETLY(ierr, MatLUFactorNumeric(F, s.A, &info));
  if (ierr) CheckShortage(ierr, "MatLUFactorNumeric()", what);
  else {
    QUIETLY(ierr, MatSolve(F, lost, x));
    if (ierr) CheckShortage(ierr, "MatSolve()", what);
    else PetscCall(CheckVec(x, s.want[0], 1e-12, what));
  }
  PetscCall(HoardFree(&h));
  lost_kernel = (PetscBool)(ierr && strstr(check_message, "load"));
  CHECK(!lost_kernel || (variant >= LAZY && strstr(check_message, "CUDA_MODULE_LOADING")), "%s: %s", what, check_message);
  Watch("%s, and memory again", what);
  if (!lost_kernel) PetscCall(MatLUFactorNumeric(F, s.A, &info));
  for (int t = 0; t < 2 && !lost_kernel; t++) {
    if (t) PetscCall(MatSolveTranspose(F, s.b, s.x));
    else PetscCall(MatSolve(F, s.b, s.x));
    PetscCall(CheckVec(s.x, s.want[t], 1e-12, what));
  }
  PetscCall(MatDestroy(&F));
  PetscCall(ISDestroy(&row));
  PetscCall(ISDestroy(&col));
  PetscCall(VecDestroy(&lost));
  PetscCall(VecDestroy(&x));
  PetscCall(SubjectDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Part pinned: a system that gives no pinned memory, and then does. */
static PetscErrorCode TestPinned(int variant, PetscRandom rand, PetscBool *skip)
{
  Subject s;
  PC      pc;

  PetscFunctionBegin;
  (void)variant;
  (void)skip;
  PetscCall(SubjectCreate("7pt:100x100x100", 0.0, PETSC_FALSE, rand, &s)); /* vectors of more than a buffer */
  Watch("no pinned memory");
  refuse_pinned = PETSC_TRUE;
  PetscCall(PreconditionerCreate(s.A, SYNCILU_BACKEND_CUDA, &pc));
  PetscCall(CheckApply(pc, &s, "no pinned memory"));
  CHECK(refusals > 0, "no pinned memory was asked for");
  refuse_pinned = PETSC_FALSE;
  PetscCall(CheckApply(pc, &s, "pinned memory again"));
  PetscCall(PCDestroy(&pc));
  PetscCall(SubjectDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Part devices: the program is at another device than the library, before and after every call. */
static PetscErrorCode TestDevices(int variant, PetscRandom rand, PetscBool *skip)
{
  enum {
    OWN     = 1, /* the program's device */
    COLUMNS = 5
  };
  int               devices, current;
  Subject           s;
  PC                pc;
  Mat               B, X, want;
  PetscReal         norm, diff;
  PetscInt          n;
  SyncILUStatistics statistics;
  char              text[16384];

#define AT_HOME(call) \
  do { \
    PetscCall(call); \
    CallCUDA(cudaGetDevice(&current)); \
    CHECK(current == OWN, "after %s the current device is %d", #call, current); \
  } while (0)

  PetscFunctionBegin;
  (void)variant;
  CallCUDA(cudaGetDeviceCount(&devices));
  *skip = (PetscBool)(devices < 2);
  if (*skip) PetscFunctionReturn(PETSC_SUCCESS);
  CallCUDA(cudaSetDevice(OWN));
  PetscCall(SubjectCreate("15pt:24x24x24", 0.0, PETSC_FALSE, rand, &s));
  PetscCall(MatGetSize(s.A, &n, NULL));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, COLUMNS, NULL, &B));
  PetscCall(MatSetRandom(B, rand));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &want));
  PetscCall(PreconditionerCreate(s.A, SYNCILU_BACKEND_HOST, &pc));
  PetscCall(PCMatApply(pc, B, want));
  PetscCall(MatNorm(want, NORM_FROBENIUS, &norm));
  PetscCall(PCDestroy(&pc));
  Watch("another device");
  AT_HOME(PreconditionerCreate(s.A, SYNCILU_BACKEND_CUDA, &pc));
  for (int round = 0; round < 2; round++) {
    AT_HOME(PCSetUp(pc));
    AT_HOME(PCApply(pc, s.b, s.x));
    PetscCall(CheckVec(s.x, s.want[0], 1e-12, "another device"));
    AT_HOME(PCApplyTranspose(pc, s.b, s.x));
    PetscCall(CheckVec(s.x, s.want[1], 1e-12, "another device"));
    AT_HOME(PCMatApply(pc, B, X));
    PetscCall(MatAXPY(X, -1.0, want, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(X, NORM_FROBENIUS, &diff));
    CHECK(diff <= 1e-12 * norm, "another device: %d solutions differ by %g", (int)COLUMNS, (double)(diff / norm));
    AT_HOME(PCSyncILUGetStatistics(pc, &statistics));
    AT_HOME(CheckView((PetscObject)pc, PETSC_VIEWER_DEFAULT, text, sizeof(text)));
    CHECK(CheckViewSays(text, "device", "0"), "the view names another device than the first:\n%s", text);
    /* new values for all who ask, though the same as before */
    PetscCall(MatAssemblyBegin(s.A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s.A, MAT_FINAL_ASSEMBLY));
  }
  AT_HOME(PCReset(pc));
  AT_HOME(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&want));
  PetscCall(SubjectDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Part lives: PETSc ends and begins again in a process, with another device where there are two, and a
   preconditioner left to its end. In the last variant a kernel of the program stores where there is no
   memory, in the second life: what comes after says so, and the host takes over, or what does not work says
   why.
*/
typedef enum {
  HOST,
  DEVICE,
  FAULT,
  LIVES_VARIANTS
} LivesVariant;

static PetscErrorCode Life(int life, LivesVariant variant, PetscBool *ended)
{
  const PetscBool faulty = (PetscBool)(variant == FAULT && life == 1), after = (PetscBool)(variant == FAULT && life == 2);
  PetscRandom     rand;
  Subject         s;
  PC              pc;
  char            what[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(what, sizeof(what), "life %d, variant %d", life, (int)variant));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(SubjectCreate("7pt:24x24x24", 0.0, (PetscBool)(variant == DEVICE), rand, &s));
  PetscCall(PetscRandomDestroy(&rand));
  Watch("%s", what);
  PetscCall(PreconditionerCreate(s.A, after ? SYNCILU_BACKEND_AUTO : SYNCILU_BACKEND_CUDA, &pc));
  if (after) {
    PetscErrorCode ierr;

    QUIETLY(ierr, PCSetUp(pc));
    if (ierr) {
      printf("  %s: %s\n", what, check_message);
      CHECK(strstr(check_message, "CUDA"), "%s: error %d: %s", what, (int)ierr, check_message);
    } else PetscCall(CheckApply(pc, &s, what));
    PetscCall(PCDestroy(&pc));
  } else {
    PetscCall(PCSetUp(pc));
    PetscCall(CheckApply(pc, &s, what));
    if (faulty) {
      PetscErrorCode ierr;
      Vec            lost;

      CHECK(Fault() != cudaSuccess, "%s: no fault came of storing where there is no memory", what);
      PetscCall(VecDuplicate(s.b, &lost));
      PetscCall(VecCopy(s.b, lost));
      QUIETLY(ierr, PCApply(pc, lost, s.x));
      CHECK(ierr == PETSC_ERR_GPU && strstr(check_message, "CUDA"), "%s: error %d: %s", what, (int)ierr, check_message);
      printf("  %s, after a fault: %s\n", what, check_message);
      QUIETLY(ierr, PCDestroy(&pc));
      *ended = (PetscBool)(ierr != 0); /* what is left of it is not PETSc's to clean up */
    } else PetscCall(PetscObjectRegisterDestroy((PetscObject)pc));
  }
  if (!*ended) PetscCall(SubjectDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int RunLives(LivesVariant variant, const char *program)
{
  int devices = 1, failed = 0;

  (void)MPI_Init(NULL, NULL);
  (void)cudaGetDeviceCount(&devices);
#if !defined(PETSC_HAVE_CUDA)
  if (variant == DEVICE) {
    (void)MPI_Finalize();
    return SKIPPED;
  }
#endif
  for (int life = 0; life < 3; life++) {
    char           name[PETSC_MAX_PATH_LEN], option[] = "-device_select", device[] = "0";
    char          *arguments[] = {name, option, device, NULL}, **argv = arguments;
    int            argc  = 3;
    PetscBool      ended = PETSC_FALSE;
    PetscErrorCode ierr;

    (void)snprintf(name, sizeof(name), "%s", program);
    /* PETSc itself stays at its first device */
    if (life == 1 && devices > 1 && variant != DEVICE) device[0] = '1';
    watch_seconds = 30;
    Watch("life %d begins", life);
    PetscCallAbort(MPI_COMM_WORLD, PetscInitialize(&argc, &argv, NULL, help));
    PetscCallAbort(PETSC_COMM_SELF, SyncILUInitializePackage());
    PetscCallAbort(PETSC_COMM_SELF, Life(life, variant, &ended));
    failed = CheckReport("cuda_life, a life");
    Watch("life %d ends", life);
    if (ended) { /* nothing more to expect of a PETSc some of whose objects cannot be destroyed */
      WatchEnd();
      fflush(stdout);
      _exit(failed);
    }
    ierr = PetscFinalize();
    if (ierr) {
      printf("  life %d, variant %d: PetscFinalize() ends with error %d\n", life, (int)variant, (int)ierr);
      if (variant != FAULT) failed = 1;
      break;
    }
  }
  WatchEnd();
  (void)MPI_Finalize();
  return failed;
}

/*
   Parts that want a process of their own are run by another one of this program, which ends each of their
   variants.
*/
static const struct {
  const char *name, *what;
  unsigned    seconds;  /* of the watch over each of its steps */
  int         variants; /* processes; 0: inside this one */
  /* needs a PETSc with CUDA; NULL: there is none */
  PetscErrorCode (*inside)(PetscRandom);
  /* NULL: lives, which begin PETSc themselves */
  PetscErrorCode (*child)(int, PetscRandom, PetscBool *skipped);
} parts[] = {
  {"transpose", "a matrix transposed in place between two solves",            10, 0,              TestTranspose, NULL       },
  {"contexts",  "streams that go with an application in flight",              20, 0,              TestContexts,  NULL       },
  {"pairs",     "two preconditioners on two streams, a third changes values", 20, 0,              TestPairs,     NULL       },
  {"fresh",     "no memory before the first launch",                          30, 6,              NULL,          TestFresh  },
  {"between",   "no memory between the symbolic and the numeric phase",       60, 2 * LAZY,       NULL,          TestBetween},
  {"pinned",    "no pinned memory",                                           30, 1,              NULL,          TestPinned },
  {"devices",   "the program at another device than the library",             30, 1,              NULL,          TestDevices},
  {"lives",     "PETSc ends and begins again, and a fault",                   30, LIVES_VARIANTS, NULL,          NULL       }
};
enum {
  PARTS = sizeof(parts) / sizeof(parts[0])
};

/* A variant of a part in a process of its own: its exit status. */
static int RunAlone(int part, int variant)
{
  char  number[16];
  pid_t child;
  int   status = 0;

  (void)snprintf(number, sizeof(number), "%d", variant);
  (void)fflush(stdout);
  child = fork();
  if (child < 0) return 1;
  if (!child) {
    if (parts[part].child == TestBetween && variant < LAZY) (void)setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    (void)execl("/proc/self/exe", "test_cuda_life", "-child", parts[part].name, "-variant", number, (char *)NULL);
    _exit(127);
  }
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  if (WIFSIGNALED(status)) fprintf(stderr, "%s, variant %d: ended by signal %d\n", parts[part].name, variant, WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* The child's side. */
static int RunVariant(int part, int variant, int argc, char **argv)
{
  PetscRandom rand;
  PetscBool   skip = PETSC_FALSE;
  int         failed;

  if (!parts[part].child) return RunLives((LivesVariant)variant, argv[0]);
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscOptionsClearValue(NULL, "-child"));
  PetscCall(PetscOptionsClearValue(NULL, "-variant"));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  watch_seconds = parts[part].seconds;
  PetscCall((*parts[part].child)(variant, rand, &skip));
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = skip ? 0 : CheckReport(parts[part].name);
  if (skip) { /* what it had made is the system's to clean up */
    (void)fflush(stdout);
    _exit(SKIPPED);
  }
  PetscCall(PetscFinalize());
  return failed;
}

static const char *Argument(int argc, char **argv, const char *name)
{
  for (int k = 1; k + 1 < argc; k++) {
    if (!strcmp(argv[k], name)) return argv[k + 1];
  }
  return NULL;
}

int main(int argc, char **argv)
{
  const char *part = Argument(argc, argv, "-part"), *child = Argument(argc, argv, "-child"), *variant = Argument(argc, argv, "-variant");
  int         ran = 0, alone = 0, inside = 0, skipped = 0;
  PetscRandom rand;
  int         failed;

  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "-list")) continue;
    for (int p = 0; p < PARTS; p++) printf("%-9s %s\n", parts[p].name, parts[p].what);
    return 0;
  }
  if (GpuMissing()) return SKIPPED;
  for (int p = 0; p < PARTS && child; p++) {
    if (!strcmp(child, parts[p].name)) return RunVariant(p, variant ? atoi(variant) : 0, argc, argv);
  }
  /* those in processes of their own first, while this one has nothing of the device */
  for (int p = 0; p < PARTS; p++) {
    if (part && strcmp(part, parts[p].name)) continue;
    ran++;
    if (!parts[p].variants) {
      inside++;
      continue;
    }
    for (int v = 0; v < parts[p].variants; v++) {
      const int status = RunAlone(p, v);

      if (status == SKIPPED) skipped++;
      else if (status) alone++;
      printf("%s, variant %d: %s\n", parts[p].name, v, status == SKIPPED ? "skipped" : status ? "FAILED" : "done");
    }
  }
  if (!inside) {
    if (!ran) fprintf(stderr, "there is no part %s: -list says which there are\n", part);
    return !ran || alone ? 1 : skipped && part ? SKIPPED : 0;
  }
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (int p = 0; p < PARTS; p++) {
    if (parts[p].variants || (part && strcmp(part, parts[p].name))) continue;
    if (!parts[p].inside) {
      printf("%s: skipped, PETSc has no CUDA\n", parts[p].name);
      skipped++;
      continue;
    }
    watch_seconds = parts[p].seconds;
    PetscCall((*parts[p].inside)(rand));
    printf("%s: %d checks so far, %d failed\n", parts[p].name, check_count, check_failures);
    (void)fflush(stdout);
  }
  WatchEnd();
  PetscCall(PetscRandomDestroy(&rand));
  CHECK(!alone, "%d parts in processes of their own failed", alone);
  failed = CheckReport("cuda_life");
  PetscCall(PetscFinalize());
  return part && skipped && !failed ? SKIPPED : failed;
}
