/*
   The CUDA backend: memory, transfers and the sequence of kernels. What the kernels do is said in kernels/.

   The factor is raw, A = (W + D)(I + U') (see kernels/factor.cu). The usual L and U are made of it where somebody asks for them.
*/
#include "../engine.h"
#include "../../kernels/syncilu_kernels.h"
#include "../../kernels/tuning.h"
#include <limits.h>
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define CallCUDA(...) \
  do { \
    const cudaError_t cuda_error_ = (__VA_ARGS__); \
    PetscCheck(cuda_error_ == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA: %s (%s)", cudaGetErrorString(cuda_error_), cudaGetErrorName(cuda_error_)); \
  } while (0)

/* Memory that is missing ends the planning without an error: e->unfit says what there was too little of. */
#define CallFit(...) \
  do { \
    PetscCall(__VA_ARGS__); \
    if (e->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS); \
  } while (0)

enum {
  STAGE     = 1 << 22, /* bytes of each of the two pinned buffers */
  MAX_OWNED = 128,
  UNKNOWN   = -1
};

/* A triangle of the factor (or of its transpose) and the order it is solved in. */
typedef struct {
  SyncILUDeviceTriangle t;
  SyncILUDeviceEll      ell;
  int                  *order; /* row of each slot */
  int                  *tile;  /* where rows are taken in tiles, the order of these, and their slices */
  SyncILUSlice         *slice;
  int                   slices;
  int                  *bindex; /* where the right-hand side of a slot or row stands; NULL: at the row of that number */
  int                  *outindex;
  double               *scale; /* reciprocal pivots by slot or row; NULL: the diagonal is one */
  size_t                slots; /* of ell, padding included */
  int                   lanes; /* logarithm */
  int                   gate;
} Sweep;

typedef struct {
  cudaStream_t stream;
  cudaEvent_t  done; /* behind what the last call left to be done there */
  struct {
    void  *pointer;
    size_t bytes;
  } owned[MAX_OWNED]; /* all that Alloc() gave */
  int        nowned;
  PetscInt64 bytes; /* their sum */

  int                  nnz;
  int                 *ptr, *col, *diag, *map; /* col NULL: it is the matrix' own, and comes with it */
  PetscBool            mapped, indexed;        /* map and dindex are filled */
  int                 *row, *colperm;          /* the ordering, if there is one */
  SyncILUDevicePattern p;                      /* as of the last call */
  SyncILUDeviceCounts  counts;
  double              *a;         /* values of a matrix on the host */
  PetscBool            chain;     /* only diagonals have updates */
  PetscBool            list, ell; /* strategies */
  PetscBool            tiled;     /* the sweeps take rows in tiles */
  SyncILUTiling        tiling;
  int                  chains;                     /* how long chains of successive rows are in the mean; 0 where tiles do not depend on that */
  int                  entries;                    /* of a lane, in tiles */
  PetscBool            mirrored;                   /* U in the order of its latest levels, which are L's earliest from the end */
  const char          *why;                        /* the factorization is not list; NULL: as asked for */
  int                  lanes, shared, tasks, many; /* of the factorization */
  int                 *order, gate;                /* of the factorization; the sweep's over L unless that goes by tiles */
  double               rows;                       /* of a level of L, in the mean */
  SyncILUSlice        *task;
  unsigned short      *update;
  unsigned char       *source;
  int                 *opposite, *dindex;
  double              *val;    /* the raw factor in the order of the pattern: for csr, and for those who ask */
  PetscBool            raw;    /* it is the last factorization's */
  double              *upper;  /* U' of the factorization, for ell: the rows of L go right to their sweep */
  int                 *ubegin; /* where its rows begin */
  unsigned            *lplace; /* and where those of L begin in the sweep's values */
  double              *pivot, *sum, *size;
  double              *scratch; /* rows that shared memory has no room for */
  int                 *place;   /* where each of them begins there */
  Sweep                L, U, LT, UT;
  PetscBool            transposed;        /* LT and UT are planned */
  PetscBool            tvalues;           /* and have the values of the last factorization */
  double              *x[2];              /* the first is poisoned between solves */
  size_t               xsize;             /* of each, in numbers */
  double              *stage_b, *stage_x; /* right-hand sides and solutions of the host */
  size_t               stage_size;
  unsigned long long  *ticket; /* 0, 1: sweeps; 2: factorization and analysis */
  SyncILUDeviceStatus *status;
  PetscScalar         *lval, *uval, *dinv; /* the usual form on the host, while it is the last factorization's */
  PetscBool            values;
} CUDA;

/* What all engines of this process share. */
static struct {
  int                  device;
  char                 name[256];
  cudaMemPool_t        pool;
  cudaStream_t         stream; /* where PETSc has none, or uses no device */
  void                *pinned[2];
  cudaEvent_t          event[2], done;
  SyncILUDeviceStatus *status; /* pinned */
  int                  found;  /* 1: there is a device, -1: there is none, 0: not looked for yet */
  char                 reason[96];
} machine;

/* The rank of this process on its node, as the launchers of MPI programs say it: asking MPI would be collective, and a factorization is not. */
static PetscErrorCode LocalRank(int *rank)
{
  const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "SLURM_LOCALID"};
  PetscMPIInt       world;

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); i++) {
    const char *value = getenv(names[i]);

    if (value && value[0] >= '0' && value[0] <= '9') {
      *rank = atoi(value);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &world));
  *rank = world;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether PETSc uses its device. Where no matrix and no vector is on it, it must not be made to: that ends programs whose MPI knows nothing of device memory and which have no need that it should.
   What it does not do then is done here, as where PETSc has no CUDA.
*/
static PetscBool PETScHasDevice(void)
{
#if defined(PETSC_HAVE_CUDA)
  return PetscDeviceInitialized(PETSC_DEVICE_CUDA);
#else
  return PETSC_FALSE;
#endif
}

/* The device that a PETSc with CUDA would take by its options and the rank, had it taken one; with a PETSc without CUDA by the rank on the node. PETSC_DECIDE: none, as the user says. */
static PetscErrorCode ChooseDevice(int devices, int *device)
{
  int rank = (int)PetscGlobalRank;

  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  {
    const char *const enable[] = {"-device_enable", "-device_enable_cuda"}, *const select[] = {"-device_select", "-device_select_cuda"};
    PetscInt  chosen = PETSC_DECIDE;
    PetscBool given, none = PETSC_FALSE;
    char      how[16];

    for (int k = 0; k < 2; k++) { /* the second says it for this kind of device alone */
      PetscCall(PetscOptionsGetString(NULL, NULL, enable[k], how, sizeof(how), &given));
      if (given) PetscCall(PetscStrcasecmp(how, "none", &none));
      PetscCall(PetscOptionsGetInt(NULL, NULL, select[k], &chosen, NULL));
    }
    if (none || chosen >= 0) {
      *device = none ? PETSC_DECIDE : (int)chosen;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#else
  PetscCall(LocalRank(&rank));
#endif
  *device = rank % devices;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static cudaError_t MachineDestroy(void)
{
  cudaError_t err = cudaSuccess;

#define Release(call, handle) \
  do { \
    if ((handle) && err == cudaSuccess) err = call(handle); \
    handle = NULL; \
  } while (0)
  Release(cudaMemPoolDestroy, machine.pool);
  for (int k = 0; k < 2; k++) {
    Release(cudaEventDestroy, machine.event[k]);
    Release(cudaFreeHost, machine.pinned[k]);
  }
  Release(cudaEventDestroy, machine.done);
  Release(cudaFreeHost, machine.status);
  Release(cudaStreamDestroy, machine.stream);
#undef Release
  return err;
}

/* What all engines of this process share, on the current device. */
static cudaError_t MachineCreate(void)
{
  struct cudaMemPoolProps props;
  struct cudaDeviceProp   prop;
  uint64_t                keep = UINT64_MAX;
  cudaError_t             err;

  memset(&props, 0, sizeof(props));
  err = cudaGetDevice(&machine.device);
  if (err == cudaSuccess) err = cudaGetDeviceProperties(&prop, machine.device);
  if (err == cudaSuccess) err = cudaStreamCreateWithFlags(&machine.stream, cudaStreamNonBlocking);
  for (int k = 0; k < 2; k++) {
    if (err == cudaSuccess) err = cudaEventCreateWithFlags(&machine.event[k], cudaEventDisableTiming);
  }
  if (err == cudaSuccess) err = cudaEventCreateWithFlags(&machine.done, cudaEventDisableTiming);
  if (err == cudaSuccess) err = cudaMallocHost((void **)&machine.status, sizeof(*machine.status));
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = machine.device;
  if (err == cudaSuccess) err = cudaMemPoolCreate(&machine.pool, &props);
  /* what a plan gives back on the way it takes again; Settle() gives the rest back */
  if (err == cudaSuccess) err = cudaMemPoolSetAttribute(machine.pool, cudaMemPoolAttrReleaseThreshold, &keep);
  if (err == cudaSuccess) (void)snprintf(machine.name, sizeof(machine.name), "%s", prop.name);
  else (void)MachineDestroy();
  return err;
}

/* Makes a device current: PETSc's own, if it uses one. Asked once, unless there was no memory. */
PetscErrorCode SyncILUCUDAAvailable(PetscBool *available, char *why, size_t len)
{
  PetscFunctionBegin;
  if (!machine.found) {
    int         devices = 0;
    cudaError_t err     = cudaGetDeviceCount(&devices);

    machine.found = -1;
    if (sizeof(PetscScalar) != sizeof(double) || PetscDefined(USE_COMPLEX)) PetscCall(PetscStrncpy(machine.reason, "the CUDA backend has real double precision only so far", sizeof(machine.reason)));
    else if (err == cudaErrorNoDevice || (err == cudaSuccess && !devices)) PetscCall(PetscStrncpy(machine.reason, "there is no CUDA device", sizeof(machine.reason)));
    else if (err == cudaErrorInsufficientDriver) PetscCall(PetscStrncpy(machine.reason, "no CUDA driver, or one too old for this build's runtime", sizeof(machine.reason)));
    else if (err != cudaSuccess) PetscCall(PetscSNPrintf(machine.reason, sizeof(machine.reason), "CUDA: %s", cudaGetErrorString(err)));
    else {
      int device = 0;

      if (!PETScHasDevice()) {
        PetscCall(ChooseDevice(devices, &device));
        if (device >= 0) err = cudaSetDevice(device);
      }
      if (device < 0) PetscCall(PetscStrncpy(machine.reason, "-device_enable says that devices are not to be used", sizeof(machine.reason)));
      else {
        if (err == cudaSuccess) err = SyncILUKernelProbe(); /* a device of an architecture the kernels were not built for says so here */
        if (err == cudaSuccess) err = MachineCreate();
        if (err == cudaSuccess) machine.found = 1;
        else {
          PetscCall(PetscSNPrintf(machine.reason, sizeof(machine.reason), "CUDA: %s", cudaGetErrorString(err)));
          if (err == cudaErrorMemoryAllocation) machine.found = 0;
        }
      }
    }
    if (machine.found <= 0) (void)cudaGetLastError(); /* not another call's business */
  }
  *available = (PetscBool)(machine.found > 0);
  if (!*available) PetscCall(PetscStrncpy(why, machine.reason, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's current stream may change from call to call, and may come to be; what went on in another one is waited for. */
static PetscErrorCode UseStream(CUDA *d)
{
  cudaStream_t stream = machine.stream;

  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (PETScHasDevice()) {
    int device;

    PetscCall(PetscGetCurrentCUDAStream(&stream));
    CallCUDA(cudaGetDevice(&device));
    PetscCheck(device == machine.device, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "syncilu plans on device %d, where PETSc had none yet, and PETSc now uses device %d; -device_select %d makes that one of both", machine.device, device, device);
  }
#endif
  if (stream == machine.stream) CallCUDA(cudaSetDevice(machine.device));
  if (stream != d->stream) CallCUDA(cudaStreamWaitEvent(stream, d->done, 0)); /* the other stream may be gone */
  d->stream = stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's clock of GPU time, if there is one. */
static PetscErrorCode GpuTime(PetscBool begin)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (PETScHasDevice()) {
    if (begin) PetscCall(PetscLogGpuTimeBegin());
    else PetscCall(PetscLogGpuTimeEnd());
  }
#else
  (void)begin;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Alloc(SyncILUEngine e, void *pointer, size_t bytes)
{
  CUDA       *d = (CUDA *)e->data;
  cudaError_t err;

  PetscFunctionBegin;
  *(void **)pointer = NULL;
  if (!bytes) bytes = 1;
  err = cudaMallocFromPoolAsync((void **)pointer, bytes, machine.pool, d->stream);
  if (err == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    PetscCall(PetscSNPrintf(e->unfit, sizeof(e->unfit), "out of memory on device %d: %zu more bytes than the %" PetscInt64_FMT " held", machine.device, bytes, d->bytes));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  CallCUDA(err);
  PetscCheck(d->nowned < MAX_OWNED, PETSC_COMM_SELF, PETSC_ERR_PLIB, "More than %d allocations", MAX_OWNED);
  d->owned[d->nowned].pointer = *(void **)pointer;
  d->owned[d->nowned].bytes   = bytes;
  d->nowned++;
  d->bytes += (PetscInt64)bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free(CUDA *d, void *pointer)
{
  void *p = *(void **)pointer;
  int   k = d->nowned - 1;

  PetscFunctionBegin;
  *(void **)pointer = NULL;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  while (k >= 0 && d->owned[k].pointer != p) k--;
  PetscCheck(k >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Memory to be freed is not this engine's");
  CallCUDA(cudaFreeAsync(p, d->stream));
  d->bytes -= (PetscInt64)d->owned[k].bytes;
  d->owned[k] = d->owned[--d->nowned];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back all but the first allocations, where memory ran out on the way. */
static PetscErrorCode Rollback(CUDA *d, int first)
{
  PetscFunctionBegin;
  while (d->nowned > first) {
    void *p = d->owned[d->nowned - 1].pointer;

    PetscCall(Free(d, &p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pinned buffers, for those who need them. */
static PetscErrorCode PinnedBuffers(void)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    if (!machine.pinned[k]) CallCUDA(cudaMallocHost(&machine.pinned[k], STAGE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Host to device through two pinned buffers in turn. */
static PetscErrorCode Upload(CUDA *d, void *to, const void *from, size_t bytes)
{
  PetscFunctionBegin;
  PetscCall(PinnedBuffers());
  for (size_t at = 0, k = 0; at < bytes; at += STAGE, k ^= 1) {
    const size_t part = PetscMin(bytes - at, (size_t)STAGE);

    CallCUDA(cudaEventSynchronize(machine.event[k]));
    PetscCall(PetscMemcpy(machine.pinned[k], (const char *)from + at, part));
    CallCUDA(cudaMemcpyAsync((char *)to + at, machine.pinned[k], part, cudaMemcpyHostToDevice, d->stream));
    CallCUDA(cudaEventRecord(machine.event[k], d->stream));
  }
#if defined(PETSC_HAVE_DEVICE)
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Download(CUDA *d, void *to, const void *from, size_t bytes)
{
  size_t before = 0, pending = 0;

  PetscFunctionBegin;
  PetscCall(PinnedBuffers());
  for (size_t at = 0, k = 0; at < bytes || pending; at += STAGE, k ^= 1) {
    const size_t part = at < bytes ? PetscMin(bytes - at, (size_t)STAGE) : 0;

    if (part) {
      CallCUDA(cudaMemcpyAsync(machine.pinned[k], (const char *)from + at, part, cudaMemcpyDeviceToHost, d->stream));
      CallCUDA(cudaEventRecord(machine.event[k], d->stream));
    }
    if (pending) { /* while this part is on its way */
      CallCUDA(cudaEventSynchronize(machine.event[k ^ 1]));
      PetscCall(PetscMemcpy((char *)to + before, machine.pinned[k ^ 1], pending));
    }
    before  = at;
    pending = part;
  }
#if defined(PETSC_HAVE_DEVICE)
  PetscCall(PetscLogGpuToCpu((PetscLogDouble)bytes));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Indices are 32 bits wide on the device. */
static PetscErrorCode UploadIndices(CUDA *d, int *to, const PetscInt *from, size_t count)
{
  PetscFunctionBegin;
#if defined(PETSC_USE_64BIT_INDICES)
  int *narrow;

  PetscCall(PetscMalloc1(count, &narrow));
  for (size_t k = 0; k < count; k++) narrow[k] = (int)from[k];
  PetscCall(Upload(d, to, narrow, count * sizeof(int)));
  PetscCall(PetscFree(narrow));
#else
  PetscCall(Upload(d, to, from, count * sizeof(int)));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that the engines of this process have taken, and those that their pool holds for them and for later ones; for tests. */
PetscErrorCode SyncILUCUDAMemory(size_t *used, size_t *held)
{
  uint64_t bytes[2] = {0, 0};

  PetscFunctionBegin;
  if (machine.pool) {
    CallCUDA(cudaMemPoolGetAttribute(machine.pool, cudaMemPoolAttrUsedMemCurrent, &bytes[0]));
    CallCUDA(cudaMemPoolGetAttribute(machine.pool, cudaMemPoolAttrReservedMemCurrent, &bytes[1]));
  }
  *used = (size_t)bytes[0];
  *held = (size_t)bytes[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called when the package is finalized. */
PetscErrorCode SyncILUCUDAFinalize(void)
{
  PetscFunctionBegin;
  CallCUDA(MachineDestroy());
  PetscCall(PetscMemzero(&machine, sizeof(machine)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(SyncILUEngine e)
{
  cudaEvent_t done;
  CUDA       *d;

  PetscFunctionBegin;
  CallCUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  PetscCall(PetscNew(&d));
  d->done = done;
  e->data = d;
  PetscCall(UseStream(d));
  CallFit(Alloc(e, &d->ticket, 3 * sizeof(*d->ticket)));
  CallFit(Alloc(e, &d->status, sizeof(*d->status)));
  CallCUDA(cudaMemsetAsync(d->ticket, 0, 3 * sizeof(*d->ticket), d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back what the pool holds without need, but for a little. Waits for the device. */
static PetscErrorCode Settle(CUDA *d)
{
  PetscFunctionBegin;
  CallCUDA(cudaStreamSynchronize(d->stream));
  CallCUDA(cudaMemPoolTrimTo(machine.pool, SYNCILU_KEEP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy_CUDA(SyncILUEngine e)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  if (!d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UseStream(d));
  for (int k = 0; k < d->nowned; k++) CallCUDA(cudaFreeAsync(d->owned[k].pointer, d->stream));
  PetscCall(Settle(d));
  CallCUDA(cudaEventDestroy(d->done));
  PetscCall(PetscFree(d->lval));
  PetscCall(PetscFree(d->uval));
  PetscCall(PetscFree(d->dinv));
  PetscCall(PetscFree(e->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Looks through the rows of the pattern d->p. */
static PetscErrorCode CountRows(SyncILUEngine e)
{
  CUDA                *d = (CUDA *)e->data;
  SyncILUDeviceCounts *counts;

  PetscFunctionBegin;
  CallFit(Alloc(e, &counts, sizeof(*counts)));
  PetscCall(PetscMemzero(&d->counts, sizeof(d->counts)));
  d->counts.irregular = INT_MAX;
  CallCUDA(cudaMemcpyAsync(counts, &d->counts, sizeof(*counts), cudaMemcpyHostToDevice, d->stream));
  CallCUDA(SyncILUKernelRows(d->p.n, d->p.ptr, d->p.col, d->diag, counts, d->stream));
  CallCUDA(cudaMemcpyAsync(&d->counts, counts, sizeof(*counts), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &counts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSize(SyncILUEngine e, PetscInt64 n, PetscInt64 nnz)
{
  PetscFunctionBegin;
  /* the most that a kernel looks past the end of a row is 512 and a warp */
  if (n > INT_MAX - 1024 || nnz > INT_MAX - 1024) PetscCall(PetscSNPrintf(e->unfit, sizeof(e->unfit), "%" PetscInt64_FMT " rows with %" PetscInt64_FMT " nonzeros on this rank, indices on the device are 32 bits wide", n, nnz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AdoptRows(SyncILUEngine e, const SyncILUCSR *A, PetscBool *regular)
{
  CUDA *d;

  PetscFunctionBegin;
  CallFit(CheckSize(e, A->n, A->nnz));
  if (sizeof(PetscInt) != sizeof(int) && PetscMemTypeDevice(A->mem)) PetscFunctionReturn(PETSC_SUCCESS);
  if (!e->data) CallFit(Create(e));
  d      = (CUDA *)e->data;
  d->nnz = (int)A->nnz;
  CallFit(Alloc(e, &d->diag, (size_t)A->n * sizeof(int)));
  d->p.n    = (int)A->n;
  d->p.diag = d->diag;
  CallFit(Alloc(e, &d->ptr, (size_t)(A->n + 1) * sizeof(int)));
  d->p.ptr = d->ptr;
  if (PetscMemTypeDevice(A->mem)) {
    CallCUDA(cudaMemcpyAsync(d->ptr, A->i, (size_t)(A->n + 1) * sizeof(int), cudaMemcpyDeviceToDevice, d->stream));
    d->p.col = (const int *)A->j;
  } else {
    CallFit(Alloc(e, &d->col, (size_t)A->nnz * sizeof(int)));
    PetscCall(UploadIndices(d, d->ptr, A->i, (size_t)A->n + 1));
    PetscCall(UploadIndices(d, d->col, A->j, (size_t)A->nnz));
    d->p.col = d->col;
  }
  CallFit(CountRows(e));
  if (d->counts.irregular != INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  *regular        = PETSC_TRUE;
  e->pattern.n    = A->n;
  e->pattern.nnz  = A->nnz;
  e->pattern.nl   = (PetscInt)d->counts.entries;
  e->pattern.nu   = A->nnz - A->n - e->pattern.nl;
  e->pattern.same = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Adopt_CUDA(SyncILUEngine e, const SyncILUCSR *A, PetscBool *regular)
{
  PetscFunctionBegin;
  *regular = PETSC_FALSE;
  PetscCall(AdoptRows(e, A, regular));
  if (!*regular) PetscCall(Destroy_CUDA(e)); /* what memory was too small for is tried again with the pattern of the symbolic phase */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of the symbolic phase, as one CSR with the diagonal in its place. */
static PetscErrorCode UploadPattern(SyncILUEngine e)
{
  const SyncILUPattern *p = &e->pattern;
  CUDA                 *d = (CUDA *)e->data;
  int                  *ptr, *col, nz = 0;

  PetscFunctionBegin;
  d->nnz = (int)(p->nl + p->nu + p->n);
  CallFit(Alloc(e, &d->diag, (size_t)p->n * sizeof(int)));
  CallFit(Alloc(e, &d->ptr, (size_t)(p->n + 1) * sizeof(int)));
  CallFit(Alloc(e, &d->col, (size_t)d->nnz * sizeof(int)));
  PetscCall(PetscMalloc2(p->n + 1, &ptr, d->nnz, &col));
  for (PetscInt i = 0; i < p->n; i++) {
    ptr[i] = nz;
    for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) col[nz++] = (int)p->lcol[k];
    col[nz++] = (int)i;
    for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) col[nz++] = (int)p->ucol[k];
  }
  ptr[p->n] = nz;
  PetscCall(Upload(d, d->ptr, ptr, (size_t)(p->n + 1) * sizeof(int)));
  PetscCall(Upload(d, d->col, col, (size_t)d->nnz * sizeof(int)));
  PetscCall(PetscFree2(ptr, col));
  if (p->row) {
    CallFit(Alloc(e, &d->row, (size_t)p->n * sizeof(int)));
    CallFit(Alloc(e, &d->colperm, (size_t)p->n * sizeof(int)));
    PetscCall(UploadIndices(d, d->row, p->row, (size_t)p->n));
    PetscCall(UploadIndices(d, d->colperm, p->col, (size_t)p->n));
  }
  d->p.n    = (int)p->n;
  d->p.ptr  = d->ptr;
  d->p.col  = d->col;
  d->p.diag = d->diag;
  CallFit(CountRows(e));
  PetscCheck(d->counts.irregular == INT_MAX, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %d of the pattern of the symbolic phase is not in order", d->counts.irregular);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static SyncILUDeviceTriangle Lower(const CUDA *d)
{
  SyncILUDeviceTriangle t = {d->p.n, 0, d->p.ptr, d->p.diag, d->p.col, NULL};

  return t;
}

static SyncILUDeviceTriangle Upper(const CUDA *d)
{
  SyncILUDeviceTriangle t = {d->p.n, 1, d->p.diag, d->p.ptr + 1, d->p.col, NULL};

  return t;
}

/* Logarithm of the power of two at or above x. */
static int Log2(double x)
{
  int l = 0;

  while (l < 5 && (double)(1 << l) < x) l++;
  return l;
}

static int LaneLog(const SyncILUSettings *s, int otherwise)
{
  return s->vector_size ? Log2((double)s->vector_size) : otherwise;
}

static int LongRow(int lanes)
{
  return (SYNCILU_POLLS * SYNCILU_LONG_ROW) << lanes;
}

/* The slot before the one at work that tells a warp to begin with polling (see wait_at_gate() in kernels/syncfree.cuh). */
static int Gate(double rows, int levels)
{
  return (int)PetscMin(levels * rows, INT_MAX / 2);
}

/* Slices of a triangle in the given order, as sliced ELL without values. level: at whose ends slices end, or NULL. */
static PetscErrorCode Slices(SyncILUEngine e, SyncILUDeviceTriangle t, const int *order, const int *level, int lanes, int limit, SyncILUSlice **slices, int *count)
{
  CUDA         *d     = (CUDA *)e->data;
  size_t        bytes = 0;
  void         *work;
  int          *dcount;
  SyncILUSlice *s;

  PetscFunctionBegin;
  CallCUDA(SyncILUKernelSlices(NULL, &bytes, t, order, level, lanes, limit, NULL, NULL, d->stream));
  CallFit(Alloc(e, &work, bytes));
  CallFit(Alloc(e, &dcount, sizeof(int)));
  CallFit(Alloc(e, &s, (size_t)t.n * sizeof(*s))); /* at most one a row */
  CallCUDA(SyncILUKernelSlices(work, &bytes, t, order, level, lanes, limit, s, dcount, d->stream));
  CallCUDA(cudaMemcpyAsync(count, dcount, sizeof(int), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  CallFit(Alloc(e, slices, (size_t)*count * sizeof(*s)));
  CallCUDA(cudaMemcpyAsync(*slices, s, (size_t)*count * sizeof(*s), cudaMemcpyDeviceToDevice, d->stream));
  CallCUDA(SyncILUKernelSliceRows(t.n, *count, *slices, d->stream));
  PetscCall(Free(d, &work));
  PetscCall(Free(d, &dcount));
  PetscCall(Free(d, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From n lengths to offsets, and the sum, which stands behind them too; total NULL: who knows it need not wait for it. */
static PetscErrorCode Offsets(SyncILUEngine e, int n, int *length, int *total)
{
  CUDA  *d     = (CUDA *)e->data;
  size_t bytes = 0;
  void  *work;

  PetscFunctionBegin;
  CallCUDA(cudaMemsetAsync(length + n, 0, sizeof(int), d->stream));
  CallCUDA(SyncILUKernelOffsets(NULL, &bytes, n, length, d->stream));
  CallFit(Alloc(e, &work, bytes));
  CallCUDA(SyncILUKernelOffsets(work, &bytes, n, length, d->stream));
  if (total) {
    CallCUDA(cudaMemcpyAsync(total, length + n, sizeof(int), cudaMemcpyDeviceToHost, d->stream));
    CallCUDA(cudaStreamSynchronize(d->stream));
  }
  PetscCall(Free(d, &work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BuildEll(SyncILUEngine e, Sweep *s, const int *inverse)
{
  CUDA         *d     = (CUDA *)e->data;
  SyncILUSlice *slice = s->slice;
  int          *width, *col, count = s->slices, total;

  PetscFunctionBegin;
  if (!slice) CallFit(Slices(e, s->t, s->order, NULL, s->lanes, LongRow(s->lanes), &slice, &count));
  s->ell.n      = s->t.n;
  s->ell.slice  = slice;
  s->ell.slices = count;
  s->ell.order  = s->order;
  s->ell.tiled  = s->slice && (!s->t.src || d->mirrored) ? d->entries : 0; /* nobody has counted the entries of columns otherwise */
  CallFit(Alloc(e, &width, (size_t)(count + 1) * sizeof(int)));
  CallCUDA(SyncILUKernelSliceWidths(s->t, s->order, count, slice, width, d->stream));
  CallFit(Offsets(e, count, width, &total));
  CallCUDA(SyncILUKernelSliceOffsets(count, width, slice, d->stream));
  PetscCall(Free(d, &width));
  s->slots = (size_t)total * 32;
  CallFit(Alloc(e, &col, s->slots * sizeof(int)));
  s->ell.col = col;
  CallFit(Alloc(e, &s->ell.val, s->slots * sizeof(double)));
  CallCUDA(SyncILUKernelEllColumns(s->t, s->ell, inverse, col, d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts the rows of a triangle by level, and counts the rows of the widest. */
static PetscErrorCode OrderByLevel(SyncILUEngine e, int which, int levels, int *level, int **sorted, int **order)
{
  const PetscBool numerical = (PetscBool)(e->settings.analysis == SYNCILU_ANALYSIS_NONE);
  CUDA           *d         = (CUDA *)e->data;
  const Sweep    *s         = which ? &d->U : &d->L;
  int             shift     = 0, largest, *start, *width;
  size_t          bytes     = 0;
  void           *work;

  PetscFunctionBegin;
  if (d->ell && !numerical && !d->tiled && levels <= INT_MAX >> (SYNCILU_WIDTH_BITS + 1)) {
    const double    entries = (double)(which ? e->pattern.nu : e->pattern.nl);
    const PetscBool uneven  = (PetscBool)((double)d->counts.longest[which] * d->p.n > SYNCILU_WIDTH_MEAN * entries && (double)d->p.n > (double)SYNCILU_WIDTH_ROWS * levels);

    if (uneven || d->counts.longest[which] > LongRow(s->lanes)) {
      CallCUDA(SyncILUKernelSliceKeys(s->t, s->lanes, LongRow(s->lanes), level, d->stream));
      shift = SYNCILU_WIDTH_BITS;
    }
  }
  largest = (levels << shift) | ((1 << shift) - 1);
  CallFit(Alloc(e, order, (size_t)d->p.n * sizeof(int)));
  CallFit(Alloc(e, sorted, (size_t)d->p.n * sizeof(int)));
  CallFit(Alloc(e, &start, ((size_t)levels + 1) * sizeof(int)));
  CallFit(Alloc(e, &width, sizeof(int)));
  CallCUDA(SyncILUKernelOrder(NULL, &bytes, d->p.n, largest, NULL, NULL, NULL, d->stream));
  CallFit(Alloc(e, &work, bytes));
  CallCUDA(SyncILUKernelOrder(work, &bytes, d->p.n, largest, level, *sorted, *order, d->stream));
  CallCUDA(cudaMemsetAsync(width, 0, sizeof(int), d->stream));
  CallCUDA(SyncILUKernelLevelWidth(d->p.n, levels, *sorted, shift, start, width, d->stream));
  CallCUDA(cudaMemcpyAsync(&d->counts.width[which], width, sizeof(int), cudaMemcpyDeviceToHost, d->stream));
  if (numerical) CallCUDA(SyncILUKernelIota(d->p.n, which, *order, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &work));
  PetscCall(Free(d, &width));
  PetscCall(Free(d, &start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of both triangles of a pattern, or of L alone; with mirrored those of U are the latest, as L's earliest are seen from the end. */
static PetscErrorCode Levels(SyncILUEngine e, SyncILUDevicePattern p, int longest, PetscBool both, PetscBool mirrored, int **level, int *levels)
{
  CUDA                *d = (CUDA *)e->data;
  SyncILUDeviceCounts *counts;

  PetscFunctionBegin;
  for (int k = 0; k < (both ? 2 : 1); k++) {
    CallFit(Alloc(e, &level[k], (size_t)p.n * sizeof(int)));
    CallCUDA(cudaMemsetAsync(level[k], 0xff, (size_t)p.n * sizeof(int), d->stream));
  }
  CallFit(Alloc(e, &counts, sizeof(*counts)));
  CallCUDA(cudaMemsetAsync(counts, 0, sizeof(*counts), d->stream));
  CallCUDA(cudaMemsetAsync(d->ticket + 2, 0, sizeof(*d->ticket), d->stream));
  CallCUDA(SyncILUKernelLevels(p, longest, both && !mirrored, level[0], both ? level[1] : NULL, d->ticket + 2, counts, d->stream));
  CallCUDA(cudaMemcpyAsync(levels, counts->levels, (both && !mirrored ? 2 : 1) * sizeof(*levels), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &counts));
  if (mirrored) {
    levels[1] = levels[0];
    if (both) CallCUDA(SyncILUKernelLevelsMirror(p.n, levels[0], level[0], level[1], d->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the rows are short and alike enough for tiles: a lane polls for all of its entries at once, and they are not padding for the most part. */
static PetscBool MayTile(SyncILUEngine e)
{
  const CUDA *d = (const CUDA *)e->data;

  if (e->settings.analysis != SYNCILU_ANALYSIS_AUTO || !d->ell) return PETSC_FALSE;
  for (int k = 0; k < 2; k++) {
    if (d->counts.longest[k] > (2 * SYNCILU_POLLS * 32) / SYNCILU_TILE_ROWS || (double)d->counts.longest[k] * d->p.n > 2.0 * (double)(k ? e->pattern.nu : e->pattern.nl)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Tiles of a grid: nearly cubes. */
static PetscBool Boxes(SyncILUTiling *t, const SyncILUDeviceTraits *traits, int lanes)
{
  int extent[3];

  if (!SyncILUGridPoints(t->n, traits->near, t->points) || (traits->across[0] && traits->across[1])) return PETSC_FALSE;
  t->slant = traits->across[0];
  for (int left = 5 - lanes, grown = 1; left && grown;) {
    grown = 0;
    for (int c = 0; c < 3 && left; c++) {
      if (1 << t->edge[c] < t->points[c]) {
        t->edge[c]++;
        left--;
        grown = 1;
      }
    }
  }
  SyncILUGridExtents(t->points, t->slant, extent);
  for (int c = 0; c < 3; c++) t->tiles[c] = ((extent[c] - 1) >> t->edge[c]) + 1;
  return (PetscBool)((double)extent[0] * extent[1] * extent[2] <= INT_MAX / 2); /* tiles are counted with the empty ones */
}

static void Runs(SyncILUTiling *t, int rows)
{
  t->run      = rows;
  t->edge[0]  = Log2((double)rows);
  t->tiles[0] = (t->n - 1) / rows + 1;
  t->tiles[1] = t->tiles[2] = 1;
}

/*
   Chooses tiles: boxes if the numbering follows a grid; the rows of a point if there are several, all of which depend on each other, long enough for the lanes that there are then, which take twice as
   many entries since few of them are near; runs if successive rows make long chains.
*/
static PetscBool ChooseTiles(SyncILUEngine e, const SyncILUDeviceTraits *traits)
{
  CUDA               *d       = (CUDA *)e->data;
  SyncILUTiling      *t       = &d->tiling;
  const int           longest = PetscMax(d->counts.longest[0], d->counts.longest[1]), lanes = LaneLog(&e->settings, Log2((double)longest / SYNCILU_POLLS));
  const int           chains = d->p.n / (d->p.n - traits->successive + 1);
  const SyncILUTiling none   = {0};
  const PetscBool     fit    = (PetscBool)(32 >> lanes >= SYNCILU_TILE_ROWS && longest <= SYNCILU_POLLS << lanes);

  d->L.lanes = d->U.lanes = lanes;
  d->chains               = 0;
  d->entries              = SYNCILU_POLLS;
  *t                      = none;
  t->n                    = d->p.n;
  if (fit && Boxes(t, traits, lanes)) return PETSC_TRUE;
  *t   = none;
  t->n = d->p.n;
  for (int rows = SYNCILU_BLOCK_ROWS; rows > 1; rows--) {
    const int most = 5 - Log2((double)rows), entries = ((longest - 1) >> most) + 1;

    if (!(traits->blocks >> rows & 1) || longest < 1 << most || entries > 2 * SYNCILU_POLLS || LaneLog(&e->settings, most) != most) continue;
    d->L.lanes = d->U.lanes = most;
    d->entries              = entries > SYNCILU_POLLS ? 2 * SYNCILU_POLLS : SYNCILU_POLLS;
    Runs(t, rows);
    return PETSC_TRUE;
  }
  if (!fit || chains < SYNCILU_TILE_CHAIN) return PETSC_FALSE;
  d->chains = chains;
  Runs(t, 32 >> lanes);
  return PETSC_TRUE;
}

/*
   Looks at the pattern for what makes a difference: whether only diagonals have updates (and list is not ruled out), whether under auto the order of U may be that of L from the end since the pattern
   is symmetric, and whether the sweeps may take rows in tiles.
*/
static PetscErrorCode Classify(SyncILUEngine e)
{
  CUDA               *d    = (CUDA *)e->data;
  const PetscBool     list = (PetscBool)(e->settings.update != SYNCILU_UPDATE_VECT), tile = MayTile(e);
  const PetscBool     mirror = (PetscBool)(e->settings.analysis == SYNCILU_ANALYSIS_AUTO && e->pattern.nl == e->pattern.nu);
  SyncILUDeviceTraits traits, *dtraits;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(&traits, sizeof(traits)));
  traits.blocks = ~3;
  for (int k = 0; k < 3; k++) traits.near[k] = INT_MAX;
  CallFit(Alloc(e, &dtraits, sizeof(traits)));
  CallCUDA(cudaMemcpyAsync(dtraits, &traits, sizeof(traits), cudaMemcpyHostToDevice, d->stream));
  if (list) CallCUDA(SyncILUKernelLive(d->p, d->counts.longest[0], dtraits, d->stream));
  if (mirror) CallCUDA(SyncILUKernelSymmetric(d->p, d->counts.longest[0], dtraits, d->stream));
  if (tile) CallCUDA(SyncILUKernelGrid(d->p, dtraits, d->stream));
  CallCUDA(cudaMemcpyAsync(&traits, dtraits, sizeof(traits), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &dtraits));
  d->chain = d->list = (PetscBool)(list && !traits.live);
  d->mirrored        = (PetscBool)(mirror && !traits.unsymmetric);
  d->tiled           = (PetscBool)(tile && d->p.n && ChooseTiles(e, &traits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The slices and the order of the rows that follow from the order of the tiles, forward or backward. */
static PetscErrorCode OrderInTiles(SyncILUEngine e, Sweep *s, PetscBool backward)
{
  CUDA  *d     = (CUDA *)e->data;
  size_t bytes = 0;
  void  *work;

  PetscFunctionBegin;
  CallFit(Alloc(e, &s->order, (size_t)d->p.n * sizeof(int)));
  CallFit(Alloc(e, &s->slice, (size_t)s->slices * sizeof(*s->slice)));
  CallCUDA(SyncILUKernelTileOrder(NULL, &bytes, d->tiling, s->slices, s->tile, backward, s->lanes, s->slice, s->order, d->stream));
  CallFit(Alloc(e, &work, bytes));
  CallCUDA(SyncILUKernelTileOrder(work, &bytes, d->tiling, s->slices, s->tile, backward, s->lanes, s->slice, s->order, d->stream));
  PetscCall(Free(d, &work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether tiles are boxes of a grid. */
static PetscBool OnGrid(const CUDA *d)
{
  return (PetscBool)(d->tiled && !d->tiling.run);
}

/* Levels of a grid's tiles; those without rows come last. */
static PetscErrorCode TileLevels(SyncILUEngine e, int **level, int *levels, int *filled)
{
  CUDA        *d     = (CUDA *)e->data;
  const size_t tiles = (size_t)d->tiling.tiles[0] * (size_t)d->tiling.tiles[1] * (size_t)d->tiling.tiles[2];
  int         *count;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    CallFit(Alloc(e, &level[k], tiles * sizeof(int)));
    levels[k] = d->tiling.tiles[0] + d->tiling.tiles[1] + d->tiling.tiles[2] - 2;
  }
  CallFit(Alloc(e, &count, sizeof(int)));
  CallCUDA(cudaMemsetAsync(count, 0, sizeof(int), d->stream));
  CallCUDA(SyncILUKernelTileLevels(d->tiling, level[0], level[1], count, d->stream));
  CallCUDA(cudaMemcpyAsync(filled, count, sizeof(int), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of runs. */
static PetscErrorCode RunLevels(SyncILUEngine e, int **level, int *levels)
{
  CUDA                *d    = (CUDA *)e->data;
  const int            runs = d->tiling.tiles[0];
  SyncILUDevicePattern p;
  int                 *ptr, *diag, *col, total;

  PetscFunctionBegin;
  CallFit(Alloc(e, &ptr, ((size_t)runs + 1) * sizeof(int)));
  CallFit(Alloc(e, &diag, (size_t)runs * sizeof(int)));
  CallCUDA(SyncILUKernelRunSizes(d->p, d->tiling, ptr, d->stream));
  CallFit(Offsets(e, runs, ptr, &total));
  CallFit(Alloc(e, &col, (size_t)total * sizeof(int)));
  CallCUDA(SyncILUKernelRunPattern(d->p, d->tiling, ptr, diag, col, d->stream));
  p.n    = runs;
  p.ptr  = ptr;
  p.col  = col;
  p.diag = diag;
  CallFit(Levels(e, p, PetscMax(d->counts.longest[0], d->counts.longest[1]), PETSC_TRUE, d->mirrored, level, levels));
  PetscCall(Free(d, &col));
  PetscCall(Free(d, &diag));
  PetscCall(Free(d, &ptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of the rows of L as they follow from the tiling: on a grid, or where the tiles are points, from their levels. */
static PetscErrorCode RowLevels(SyncILUEngine e, const int *points, int npoints, int **level, int *levels)
{
  CUDA *d = (CUDA *)e->data;
  int   extent[3];

  PetscFunctionBegin;
  if (OnGrid(d)) {
    SyncILUGridExtents(d->tiling.points, d->tiling.slant, extent);
    *levels = extent[0] + extent[1] + extent[2] - 2;
  } else *levels = d->tiling.run * npoints;
  CallFit(Alloc(e, level, (size_t)d->p.n * sizeof(int)));
  CallCUDA(SyncILUKernelRowLevels(d->tiling, points, *level, d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of both sweeps, by the levels of the tiles; none if these are too many. rows: the levels of the rows of L where they follow from these and a factorization needs them, else NULL. */
static PetscErrorCode OrderByTile(SyncILUEngine e, int **rows, int *nrows)
{
  CUDA     *d     = (CUDA *)e->data;
  const int tiles = d->tiling.tiles[0] * d->tiling.tiles[1] * d->tiling.tiles[2];
  size_t    bytes = 0;
  void     *work;
  int      *level[2] = {NULL, NULL}, *sorted, levels[2], filled;

  PetscFunctionBegin;
  if (OnGrid(d)) CallFit(TileLevels(e, level, levels, &filled));
  else {
    CallFit(RunLevels(e, level, levels));
    filled = tiles;
    /* runs must gain more by the hops they save in their chains than they lose by waiting for all that their rows need */
    if (d->chains && levels[0] * (SYNCILU_HOP + (double)d->tiling.run * SYNCILU_STEP) > d->chains * SYNCILU_HOP) {
      for (int k = 0; k < 2; k++) PetscCall(Free(d, &level[k]));
      d->tiled = PETSC_FALSE;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  if (!d->chain && !d->chains) CallFit(RowLevels(e, level[0], levels[0], rows, nrows));
  CallFit(Alloc(e, &sorted, (size_t)tiles * sizeof(int)));
  CallCUDA(SyncILUKernelOrder(NULL, &bytes, tiles, PetscMax(levels[0], levels[1]), NULL, NULL, NULL, d->stream));
  CallFit(Alloc(e, &work, bytes));
  for (int k = 0; k < 2; k++) {
    Sweep *s = k ? &d->U : &d->L;

    CallFit(Alloc(e, &s->tile, (size_t)tiles * sizeof(int)));
    CallCUDA(SyncILUKernelOrder(work, &bytes, tiles, PetscMax(levels[0], levels[1]), level[k], sorted, s->tile, d->stream));
    s->slices = filled;
    CallFit(OrderInTiles(e, s, (PetscBool)k));
    s->gate = Gate((double)d->p.n / levels[k], SYNCILU_GATE_LEVELS);
    PetscCall(Free(d, &level[k]));
  }
  PetscCall(Free(d, &work));
  PetscCall(Free(d, &sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Bytes that lists of updates may take: what is left of what plan and factor may hold beside values, the sweeps' storage, what is there once a row, slices and tasks; not what is held for a pattern
   that came from elsewhere than the matrix, since results must not depend on that.
*/
static double ListLimit(SyncILUEngine e)
{
  const CUDA  *d      = (const CUDA *)e->data;
  const double slices = (double)(d->L.ell.slices + d->U.ell.slices) + (double)d->p.n * (1 << d->lanes) / 32.0;
  const double values = 8.0 * (d->ell ? (double)e->pattern.nu + (double)d->p.n : (double)d->nnz); /* ell: and where rows begin */
  const double sweeps = d->ell ? 12.0 * (double)(d->L.slots + d->U.slots) : 4.0 * d->nnz, tiles = d->tiled ? 4.0 * d->p.n + 4.0 * (double)(d->L.slices + d->U.slices) : 0.0;

  return SYNCILU_MEMORY * (12.0 * d->nnz + 4.0 * (d->p.n + 1.0)) - values - sweeps - (double)sizeof(SyncILUSlice) * slices - 52.0 * d->p.n - tiles;
}

/* Whether a part of the rows shows that lists fit with no number of lanes. */
static PetscErrorCode ListsHopeless(SyncILUEngine e, PetscBool *hopeless)
{
  CUDA               *d = (CUDA *)e->data;
  unsigned long long *sum, rounds;

  PetscFunctionBegin;
  *hopeless = PETSC_FALSE;
  if (e->settings.update == SYNCILU_UPDATE_LIST || d->p.n < SYNCILU_SAMPLE_ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  CallFit(Alloc(e, &sum, sizeof(*sum)));
  CallCUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), d->stream));
  CallCUDA(SyncILUKernelListRounds(d->p, d->lanes, SYNCILU_SAMPLE, NULL, sum, d->stream));
  CallCUDA(cudaMemcpyAsync(&rounds, sum, sizeof(rounds), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &sum));
  /* with 4 lanes fewest places are empty; a fifth more is no part of the rows by chance */
  *hopeless = (PetscBool)(SYNCILU_SAMPLE * (double)rounds * (4 * sizeof(*d->update) + sizeof(*d->source)) > 1.2 * ListLimit(e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The lists of updates for the rows of L, sorted by level (NULL: in numerical order), if they fit or the user asked for them. */
static PetscErrorCode PlanLists(SyncILUEngine e, const int *sorted, const int *rounds)
{
  CUDA  *d = (CUDA *)e->data;
  size_t updates, sources;
  int   *width, total;

  PetscFunctionBegin;
  CallFit(Slices(e, Lower(d), d->order, sorted, d->lanes, INT_MAX, &d->task, &d->tasks));
  CallFit(Alloc(e, &width, (size_t)(d->tasks + 1) * sizeof(int)));
  CallCUDA(SyncILUKernelListWidths(rounds, d->lanes, d->order, d->tasks, d->task, width, d->stream));
  CallFit(Offsets(e, d->tasks, width, &total));
  CallCUDA(SyncILUKernelSliceOffsets(d->tasks, width, d->task, d->stream));
  PetscCall(Free(d, &width));
  updates = (size_t)total * 32 * sizeof(*d->update);
  sources = (size_t)total * (32 >> d->lanes);
  if (e->settings.update != SYNCILU_UPDATE_LIST && (double)(updates + sources) > ListLimit(e)) {
    PetscCall(Free(d, &d->task));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  CallFit(Alloc(e, &d->update, updates));
  CallFit(Alloc(e, &d->source, sources));
  CallCUDA(cudaMemsetAsync(d->update, 0xff, updates, d->stream));
  CallCUDA(cudaMemsetAsync(d->source, 0, sources, d->stream));
  CallCUDA(SyncILUKernelLists(d->p, d->lanes, d->order, d->tasks, d->task, d->update, d->source, d->stream));
  d->list   = PETSC_TRUE;
  d->shared = d->counts.longest_row;
  d->many   = (double)total > SYNCILU_UPDATE_POLLS * (double)d->tasks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How the factorization runs if not as a sweep: with lists, or searching. sorted: the levels in its order, NULL in numerical order. */
static PetscErrorCode PlanFactor(SyncILUEngine e, const int *sorted)
{
  const SyncILUPattern *p      = &e->pattern;
  CUDA                 *d      = (CUDA *)e->data;
  const double          mean   = p->n ? (double)d->nnz / (double)p->n : 0.0;
  const PetscBool       may    = (PetscBool)(e->settings.update != SYNCILU_UPDATE_VECT);
  int                  *rounds = NULL;
  PetscBool             hopeless;

  PetscFunctionBegin;
  d->lanes = LaneLog(&e->settings, Log2(mean / SYNCILU_LIST_ENTRIES));
  d->lanes = PetscMax(2, sorted ? d->lanes : 5);
  if (may && d->counts.longest_row <= 255) {
    /* the rows of a warp must fit shared memory with those of the block's other warps */
    const size_t row = (size_t)(d->counts.longest_row | 1) * sizeof(double) + (size_t)d->counts.longest[0] * sizeof(int);

    while (d->lanes < 5 && (SYNCILU_BLOCK_FACTOR >> d->lanes) * row > SYNCILU_SHARED_BYTES) d->lanes++;
    CallFit(ListsHopeless(e, &hopeless));
    if (!hopeless) {
      CallFit(Alloc(e, &rounds, 4 * (size_t)d->p.n * sizeof(int)));
      CallCUDA(SyncILUKernelListRounds(d->p, d->lanes, 1, rounds, NULL, d->stream));
    }
    while (!hopeless) { /* fewer lanes are slower, and leave fewer places in the lists empty */
      CallFit(PlanLists(e, sorted, rounds));
      if (d->list || !sorted || e->settings.vector_size || d->lanes == 2 || (SYNCILU_BLOCK_FACTOR >> (d->lanes - 1)) * row > SYNCILU_SHARED_BYTES) break;
      d->lanes--;
    }
    PetscCall(Free(d, &rounds));
    if (d->list) PetscFunctionReturn(PETSC_SUCCESS);
    d->why = "lists of updates would take more memory than the default strategy may";
  } else if (may) d->why = "list takes rows of at most 255 entries";
  if (d->why) PetscCall(PetscInfo(NULL, "Factorization by searching: %s\n", d->why));
  d->lanes = PetscMax(2, sorted ? LaneLog(&e->settings, Log2(mean)) : 5);
  d->gate  = Gate(d->rows, SYNCILU_GATE_SEARCH);
  if (d->lanes < 5) CallFit(Slices(e, Lower(d), d->order, sorted, d->lanes, INT_MAX, &d->task, &d->tasks));
  else d->tasks = d->p.n;
  d->shared = PetscMin(d->counts.longest_row, (int)(SYNCILU_SHARED_BYTES / (sizeof(double) + 3 * sizeof(int)) / (size_t)(SYNCILU_BLOCK_FACTOR >> d->lanes)) - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For ell the factorization writes the rows of L where their sweep reads them, and U' by rows for those who wait for it. */
static PetscErrorCode PlanValues(SyncILUEngine e)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  if (d->L.slots > UINT_MAX) {
    PetscCall(PetscSNPrintf(e->unfit, sizeof(e->unfit), "%zu entries of L with padding on this rank, indices on the device are 32 bits wide", d->L.slots));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  CallFit(Alloc(e, &d->ubegin, ((size_t)d->p.n + 1) * sizeof(int)));
  CallCUDA(SyncILUKernelUpperLengths(d->p, d->ubegin, d->stream));
  CallFit(Offsets(e, d->p.n, d->ubegin, NULL));
  CallFit(Alloc(e, &d->upper, (size_t)e->pattern.nu * sizeof(double)));
  CallFit(Alloc(e, &d->lplace, (size_t)d->p.n * sizeof(unsigned)));
  CallCUDA(SyncILUKernelLowerPlaces(d->L.ell, d->lplace, d->stream));
  CallCUDA(cudaMemsetAsync(d->L.ell.val, 0, d->L.slots * sizeof(double), d->stream)); /* nobody writes the padding */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory for the rows at work that shared memory is too small for. */
static PetscErrorCode PlanScratch(SyncILUEngine e)
{
  CUDA *d = (CUDA *)e->data;
  int   total;

  PetscFunctionBegin;
  CallFit(Alloc(e, &d->place, ((size_t)d->p.n + 1) * sizeof(int)));
  CallCUDA(SyncILUKernelLongLengths(d->p.n, d->p.ptr, d->shared, d->place, d->stream));
  CallFit(Offsets(e, d->p.n, d->place, &total));
  CallFit(Alloc(e, &d->scratch, (size_t)total * sizeof(double)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where a sweep's right-hand sides come from and its solutions go to, in the numbering of the matrix: index[row], or the row itself. */
static PetscErrorCode MatrixIndex(SyncILUEngine e, const Sweep *s, const int *index, int **out)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  if (!d->ell) { /* by rows */
    *out = NULL;
    if (index) {
      CallFit(Alloc(e, out, (size_t)d->p.n * sizeof(int)));
      CallCUDA(cudaMemcpyAsync(*out, index, (size_t)d->p.n * sizeof(int), cudaMemcpyDeviceToDevice, d->stream));
    }
  } else if (!index) *out = s->order;
  else {
    CallFit(Alloc(e, out, (size_t)d->p.n * sizeof(int)));
    CallCUDA(SyncILUKernelGather(d->p.n, index, s->order, *out, d->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two sweeps, one after another: their order is there. */
static PetscErrorCode PlanPair(SyncILUEngine e, Sweep *first, Sweep *second, const int *in, const int *out)
{
  CUDA  *d = (CUDA *)e->data;
  int   *inverse;
  size_t n = (size_t)d->p.n;

  PetscFunctionBegin;
  CallFit(Alloc(e, &inverse, n * sizeof(int)));
  CallCUDA(SyncILUKernelInvert(d->p.n, first->order, inverse, d->stream));
  if (d->ell || (d->chain && first == &d->L)) CallFit(BuildEll(e, first, inverse));
  if (d->ell) {
    CallFit(Alloc(e, &second->bindex, n * sizeof(int)));
    CallCUDA(SyncILUKernelGather(d->p.n, inverse, second->order, second->bindex, d->stream));
    CallCUDA(SyncILUKernelInvert(d->p.n, second->order, inverse, d->stream));
    CallFit(BuildEll(e, second, inverse));
  }
  CallFit(MatrixIndex(e, first, in, &first->bindex));
  CallFit(MatrixIndex(e, second, out, &second->outindex));
  PetscCall(Free(d, &inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckStrategies(const SyncILUSettings *s)
{
  PetscFunctionBegin;
  PetscCheck(s->update == SYNCILU_UPDATE_AUTO || s->update == SYNCILU_UPDATE_LIST || s->update == SYNCILU_UPDATE_VECT, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_update %s: the CUDA backend has list and vect so far", SyncILUUpdates[s->update]);
  PetscCheck(s->solve == SYNCILU_SOLVE_AUTO || s->solve == SYNCILU_SOLVE_ELL || s->solve == SYNCILU_SOLVE_CSR, PETSC_COMM_SELF, PETSC_ERR_SUP, "-pc_syncilu_solve %s: the CUDA backend has ell and csr so far", SyncILUSolves[s->solve]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Moves all rows to their latest level. */
static PetscErrorCode LevelsLate(SyncILUEngine e, int **level)
{
  CUDA        *d = (CUDA *)e->data;
  const size_t n = (size_t)d->p.n;
  int         *count;

  PetscFunctionBegin;
  CallFit(Alloc(e, &count, n * sizeof(int)));
  for (int k = 0; k < 2; k++) {
    CallCUDA(cudaMemsetAsync(d->ticket + 2, 0, sizeof(*d->ticket), d->stream));
    CallCUDA(cudaMemsetAsync(count, 0, n * sizeof(int), d->stream));
    CallCUDA(SyncILUKernelLevelsFill(d->p.n, d->counts.levels[k] - 1, level[k], d->stream));
    CallCUDA(SyncILUKernelLevelsLate(k ? d->U.t : d->L.t, !k, level[k], count, d->ticket + 2, d->stream));
  }
  PetscCall(Free(d, &count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of both sweeps, and of the factorization, by the levels of the rows. sorted: the levels in L's order. */
static PetscErrorCode OrderByRow(SyncILUEngine e, int **sorted)
{
  CUDA *d        = (CUDA *)e->data;
  int  *level[2] = {NULL, NULL};

  PetscFunctionBegin;
  CallFit(Levels(e, d->p, PetscMax(d->counts.longest[0], d->counts.longest[1]), PETSC_TRUE, d->mirrored, level, d->counts.levels));
  if (e->settings.analysis == SYNCILU_ANALYSIS_ALAP) CallFit(LevelsLate(e, level));
  for (int k = 1; k >= 0; k--) {
    Sweep       *s       = k ? &d->U : &d->L;
    const double entries = d->p.n ? (double)(k ? e->pattern.nu : e->pattern.nl) / (double)d->p.n : 0.0;

    d->rows  = d->counts.levels[k] ? (double)d->p.n / d->counts.levels[k] : 0.0;
    s->lanes = LaneLog(&e->settings, Log2(entries / SYNCILU_LANE_ENTRIES));
    s->gate  = Gate(d->rows, SYNCILU_GATE_LEVELS);
    CallFit(OrderByLevel(e, k, d->counts.levels[k], level[k], sorted, &s->order));
    PetscCall(Free(d, &level[k]));
    if (k) PetscCall(Free(d, sorted));
  }
  d->order = d->L.order;
  d->gate  = d->L.gate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The order of the factorization where the sweeps have their own: the rows of a warp are of one level. level: those of the rows, if known. */
static PetscErrorCode OrderFactor(SyncILUEngine e, int *level, int levels, int **sorted)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  if (!level) CallFit(Levels(e, d->p, PetscMax(d->counts.longest[0], d->counts.longest[1]), PETSC_FALSE, PETSC_FALSE, &level, &levels));
  d->rows = (double)d->p.n / levels;
  d->gate = Gate(d->rows, SYNCILU_GATE_LEVELS);
  CallFit(OrderByLevel(e, 0, levels, level, sorted, &d->order));
  PetscCall(Free(d, &level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUp_CUDA(SyncILUEngine e)
{
  const SyncILUPattern *p = &e->pattern;
  const size_t          n = (size_t)p->n;
  CUDA                 *d;
  int                  *sorted = NULL, *level = NULL, levels = 0;

  PetscFunctionBegin;
  PetscCall(CheckStrategies(&e->settings));
  CallFit(CheckSize(e, p->n, (PetscInt64)p->nl + p->nu + p->n));
  if (!e->data) CallFit(Create(e));
  d      = (CUDA *)e->data;
  d->ell = (PetscBool)(e->settings.solve != SYNCILU_SOLVE_CSR);
  PetscCall(UseStream(d));
  if (!d->diag) CallFit(UploadPattern(e));
  if (!d->ell && !d->col) { /* the solves need columns after the matrix is gone */
    CallFit(Alloc(e, &d->col, (size_t)d->nnz * sizeof(int)));
    CallCUDA(cudaMemcpyAsync(d->col, d->p.col, (size_t)d->nnz * sizeof(int), cudaMemcpyDeviceToDevice, d->stream));
    d->p.col = d->col;
  }
  d->L.t              = Lower(d);
  d->U.t              = Upper(d);
  d->counts.levels[0] = d->counts.levels[1] = UNKNOWN;
  CallFit(Classify(e));
  if (d->tiled) CallFit(OrderByTile(e, &level, &levels));
  if (!d->tiled) CallFit(OrderByRow(e, &sorted));
  else if (!d->chain) CallFit(OrderFactor(e, level, levels, &sorted));
  CallFit(PlanPair(e, &d->L, &d->U, d->row, d->colperm));
  if (!d->chain) CallFit(PlanFactor(e, e->settings.analysis == SYNCILU_ANALYSIS_NONE ? NULL : sorted));
  PetscCall(Free(d, &sorted));
  if (d->chain) {
    CallFit(Alloc(e, &d->opposite, d->L.slots * sizeof(int)));
    CallCUDA(SyncILUKernelOpposite(d->p, d->L.ell, d->opposite, d->stream));
  }

  /* what the numeric phase writes */
  CallFit(Alloc(e, &d->pivot, n * sizeof(double)));
  CallFit(Alloc(e, &d->L.scale, n * sizeof(double)));
  for (int k = 0; k < 2; k++) CallFit(Alloc(e, &d->x[k], n * sizeof(double)));
  d->xsize = n;
  CallCUDA(cudaMemsetAsync(d->x[0], 0xff, n * sizeof(double), d->stream));
  if (!d->ell) CallFit(Alloc(e, &d->val, (size_t)d->nnz * sizeof(double)));
  else if (!d->chain) CallFit(PlanValues(e));
  if (!d->chain && d->counts.longest_row > d->shared) CallFit(PlanScratch(e));
  /* what only the first factorization fills is taken now, while auto can still turn to the host */
  if (!p->same) CallFit(Alloc(e, &d->map, (size_t)d->nnz * sizeof(int)));
  if (d->chain) CallFit(Alloc(e, &d->dindex, n * sizeof(int)));
  if (!d->chain && e->settings.relax != 0.0) CallFit(Alloc(e, &d->sum, n * sizeof(double)));
  if (!PETScHasDevice()) CallFit(Alloc(e, &d->a, (size_t)p->nnz * sizeof(double)));
  PetscCall(Settle(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the columns of the matrix that comes with a call, where the plan has none of its own. */
static PetscErrorCode UseMatrix(SyncILUEngine e, const SyncILUCSR *A)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  if (!d->col && PetscMemTypeHost(A->mem)) { /* the matrix has moved since it was analyzed */
    CallFit(Alloc(e, &d->col, (size_t)d->nnz * sizeof(int)));
    PetscCall(UploadIndices(d, d->col, A->j, (size_t)d->nnz));
  }
  d->p.col = d->col ? d->col : (const int *)A->j;
  d->L.t   = Lower(d);
  d->U.t   = Upper(d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Between calls there is no matrix: *col receives the columns as the solves know them, or NULL if the plan has its own. */
static PetscErrorCode Columns(SyncILUEngine e, int **col)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  *col = NULL;
  if (d->col) PetscFunctionReturn(PETSC_SUCCESS);
  CallFit(Alloc(e, col, (size_t)d->nnz * sizeof(int)));
  CallCUDA(SyncILUKernelColumns(Lower(d), d->L.ell, d->diag, *col, d->stream));
  CallCUDA(SyncILUKernelColumns(Upper(d), d->U.ell, NULL, *col, d->stream));
  d->p.col = *col;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of a matrix on the device, as those of the pattern. */
static PetscErrorCode Values(SyncILUEngine e, const SyncILUCSR *A, SyncILUDeviceValues *v)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  CallFit(UseMatrix(e, A));
  if (!e->pattern.same && !d->mapped) {
    const int *aptr = (const int *)A->i, *acol = (const int *)A->j;
    int       *ptr = NULL, *col = NULL;

    if (PetscMemTypeHost(A->mem)) {
      const int held = d->nowned;

      PetscCall(Alloc(e, &ptr, (size_t)(A->n + 1) * sizeof(int)));
      if (!e->unfit[0]) PetscCall(Alloc(e, &col, (size_t)e->pattern.nnz * sizeof(int)));
      if (e->unfit[0]) {
        PetscCall(Rollback(d, held));
        PetscFunctionReturn(PETSC_SUCCESS);
      }
      PetscCall(UploadIndices(d, ptr, A->i, (size_t)A->n + 1));
      PetscCall(UploadIndices(d, col, A->j, (size_t)e->pattern.nnz));
      aptr = ptr;
      acol = col;
    }
    CallCUDA(SyncILUKernelMap(d->p, d->row, d->colperm, aptr, acol, d->map, d->stream));
    d->mapped = PETSC_TRUE;
    PetscCall(Free(d, &ptr));
    PetscCall(Free(d, &col));
  }
  v->map = d->map;
  if (PetscMemTypeHost(A->mem)) {
    if (!d->a) CallFit(Alloc(e, &d->a, (size_t)e->pattern.nnz * sizeof(double)));
    PetscCall(Upload(d, d->a, A->a, (size_t)e->pattern.nnz * sizeof(double)));
    v->a = d->a;
  } else v->a = (const double *)A->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckFit(SyncILUEngine e)
{
  char why[sizeof(e->unfit)];

  PetscFunctionBegin;
  if (!e->unfit[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrncpy(why, e->unfit, sizeof(why)));
  e->unfit[0] = 0; /* another call may have the memory, or need none */
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "CUDA backend: %s", why);
}

static PetscErrorCode Excess_CUDA(SyncILUEngine e, const SyncILUCSR *A, PetscReal *excess)
{
  CUDA               *d = (CUDA *)e->data;
  SyncILUDeviceValues v;
  unsigned long long *most;
  double              result;

  PetscFunctionBegin;
  PetscCall(UseStream(d));
  PetscCall(Values(e, A, &v));
  PetscCall(CheckFit(e));
  PetscCall(Alloc(e, &most, sizeof(*most)));
  PetscCall(CheckFit(e));
  CallCUDA(cudaMemsetAsync(most, 0, sizeof(*most), d->stream));
  CallCUDA(SyncILUKernelExcess(SYNCILU_DOUBLE, d->p, v, most, d->stream));
  CallCUDA(cudaMemcpyAsync(&result, most, sizeof(result), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &most));
  *excess = (PetscReal)result;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solutions by slots, of so many numbers each. */
static PetscErrorCode MakeRoom(SyncILUEngine e, size_t want)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  if (d->xsize >= want) PetscFunctionReturn(PETSC_SUCCESS);
  d->xsize = 0;
  for (int k = 0; k < 2; k++) PetscCall(Free(d, &d->x[k]));
  PetscCall(Settle(d));
  for (int k = 0; k < 2; k++) {
    PetscCall(Alloc(e, &d->x[k], want * sizeof(double)));
    PetscCall(CheckFit(e));
  }
  d->xsize = want;
  CallCUDA(cudaMemsetAsync(d->x[0], 0xff, want * sizeof(double), d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Updates_CUDA(SyncILUEngine e, PetscInt64 *updates)
{
  CUDA               *d = (CUDA *)e->data;
  unsigned long long *sum, result;

  PetscFunctionBegin;
  PetscCall(UseStream(d));
  PetscCall(Alloc(e, &sum, sizeof(*sum)));
  PetscCall(CheckFit(e));
  CallCUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), d->stream));
  CallCUDA(SyncILUKernelUpdates(d->p, sum, d->stream));
  CallCUDA(cudaMemcpyAsync(&result, sum, sizeof(result), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaStreamSynchronize(d->stream));
  PetscCall(Free(d, &sum));
  *updates = (PetscInt64)result;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pivots by a sweep over L. */
static PetscErrorCode FactorChain(SyncILUEngine e, SyncILUDeviceValues v, SyncILUDevicePivoting piv)
{
  CUDA              *d = (CUDA *)e->data;
  const size_t       n = (size_t)d->p.n;
  SyncILUDeviceSweep s;

  PetscFunctionBegin;
  if (!d->indexed) CallCUDA(SyncILUKernelDiagonalIndex(d->p.n, d->diag, d->map, d->L.order, d->dindex, d->stream)); /* the map came with the matrix */
  d->indexed = PETSC_TRUE;
  PetscCall(PetscMemzero(&s, sizeof(s)));
  s.b      = v.a;
  s.bindex = d->dindex;
  s.x      = d->ell ? d->L.scale : d->x[1]; /* what the sweep finds are the reciprocal pivots by slot */
  s.nrhs   = 1;
  s.gate   = d->L.gate;
  s.ticket = d->ticket + 2;
  CallCUDA(SyncILUKernelCoefficients(SYNCILU_DOUBLE, d->p, d->L.ell, d->opposite, v, piv.relax, d->x[1], d->stream));
  CallCUDA(cudaMemsetAsync(s.x, 0xff, n * sizeof(double), d->stream));
  CallCUDA(SyncILUKernelPivots(SYNCILU_DOUBLE, d->L.ell, s, piv, d->pivot, d->status, d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the factorization writes the rows of L. */
static SyncILUDeviceLower LowerStorage(const CUDA *d)
{
  SyncILUDeviceLower w = {d->L.ell.val, d->lplace, d->L.lanes, LongRow(d->L.lanes)};

  return w;
}

/* Whether a pivot is compared with its row. */
static PetscBool SizesMatter(SyncILUDevicePivoting piv)
{
  return (PetscBool)(piv.type == SYNCILU_PIVOT_SIZE || piv.type == SYNCILU_PIVOT_SIGN);
}

static PetscErrorCode FactorRows(SyncILUEngine e, SyncILUDeviceValues v, SyncILUDevicePivoting piv)
{
  CUDA               *d = (CUDA *)e->data;
  SyncILUDeviceFactor f;

  PetscFunctionBegin;
  if (piv.relax != 0.0) CallCUDA(cudaMemsetAsync(d->sum, 0xff, (size_t)d->p.n * sizeof(double), d->stream));
  CallCUDA(cudaMemsetAsync(d->ell ? d->upper : d->val, 0xff, (size_t)(d->ell ? e->pattern.nu : d->nnz) * sizeof(double), d->stream));
  CallCUDA(cudaMemsetAsync(d->pivot, 0xff, (size_t)d->p.n * sizeof(double), d->stream));
  f.pattern  = d->p;
  f.values   = v;
  f.val      = d->ell ? d->upper : d->val;
  f.upper    = d->ubegin;
  f.w        = LowerStorage(d);
  f.pivot    = d->pivot;
  f.sum      = d->sum;
  f.size     = SizesMatter(piv) ? d->size : NULL;
  f.order    = d->order;
  f.tasks    = d->tasks;
  f.task     = d->task;
  f.update   = d->update;
  f.source   = d->source;
  f.lanes    = d->lanes;
  f.shared   = d->shared;
  f.lower    = PetscMin(d->counts.longest[0], d->shared);
  f.many     = d->many;
  f.few      = d->rows <= SYNCILU_FEW_TASKS * (32.0 / (1 << d->lanes));
  f.scratch  = d->scratch;
  f.place    = d->place;
  f.prefetch = (int)e->settings.prefetch;
  f.gate     = d->gate;
  f.ticket   = d->ticket + 2;
  f.piv      = piv;
  f.status   = d->status;
  CallCUDA(SyncILUKernelFactor(SYNCILU_DOUBLE, f, d->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings into the storage of the solves what is not there yet. */
static PetscErrorCode Refill(CUDA *d, SyncILUDeviceValues v)
{
  PetscFunctionBegin;
  if (!d->ell) {
    if (d->chain) CallCUDA(SyncILUKernelRaw(SYNCILU_DOUBLE, d->p, v, d->pivot, d->val, d->stream));
  } else if (d->chain) {
    CallCUDA(SyncILUKernelFill(SYNCILU_DOUBLE, d->L.t, d->L.ell, v, NULL, NULL, d->stream));
    CallCUDA(SyncILUKernelFill(SYNCILU_DOUBLE, d->U.t, d->U.ell, v, d->pivot, NULL, d->stream));
  } else {
    const SyncILUDeviceValues   upper = {d->upper, NULL};
    const SyncILUDeviceTriangle u     = {d->p.n, 0, d->ubegin, d->ubegin + 1, NULL, NULL};

    CallCUDA(SyncILUKernelFill(SYNCILU_DOUBLE, u, d->U.ell, upper, NULL, NULL, d->stream));
  }
  if (!d->chain || !d->ell) CallCUDA(SyncILUKernelReciprocals(SYNCILU_DOUBLE, d->p.n, d->pivot, d->ell ? d->L.order : NULL, d->L.scale, d->stream));
  d->raw     = (PetscBool)!d->ell;
  d->tvalues = PETSC_FALSE;
  d->values  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_CUDA(SyncILUEngine e, const SyncILUCSR *A, const SyncILUPivoting *piv, SyncILUStatus *status)
{
  CUDA                 *d = (CUDA *)e->data;
  SyncILUDeviceValues   v;
  SyncILUDevicePivoting p;

  PetscFunctionBegin;
  PetscCall(UseStream(d));
  PetscCall(Values(e, A, &v));
  PetscCall(CheckFit(e));
  switch (piv->shift) {
  case MAT_SHIFT_NONZERO:
    p.type = SYNCILU_PIVOT_SIZE;
    break;
  case MAT_SHIFT_POSITIVE_DEFINITE:
    p.type = SYNCILU_PIVOT_SIGN;
    break;
  case MAT_SHIFT_INBLOCKS:
    p.type = SYNCILU_PIVOT_MEND;
    break;
  default:
    p.type = SYNCILU_PIVOT_REJECT;
  }
  p.zeropivot = (double)piv->zeropivot;
  p.amount    = (double)piv->amount;
  p.relax     = (double)piv->relax;
  if (d->chain) PetscCall(MakeRoom(e, (size_t)d->p.n));
  else {
    if (p.relax != 0.0 && !d->sum) PetscCall(Alloc(e, &d->sum, (size_t)d->p.n * sizeof(double)));
    if (SizesMatter(p) && !d->size) PetscCall(Alloc(e, &d->size, (size_t)d->p.n * sizeof(double)));
    PetscCall(CheckFit(e));
  }

  PetscCall(GpuTime(PETSC_TRUE));
  CallCUDA(SyncILUKernelStatusReset(d->status, d->ticket + 2, d->stream));
  if (d->chain) PetscCall(FactorChain(e, v, p));
  else PetscCall(FactorRows(e, v, p));
  CallCUDA(SyncILUKernelStatus(SYNCILU_DOUBLE, d->p, v, d->ell ? NULL : d->val, LowerStorage(d), d->chain ? NULL : d->size, d->pivot, p, d->status, d->stream));
  CallCUDA(cudaMemcpyAsync(machine.status, d->status, sizeof(*d->status), cudaMemcpyDeviceToHost, d->stream));
  CallCUDA(cudaEventRecord(machine.done, d->stream));
  PetscCall(Refill(d, v)); /* goes on while the host reads the status */
  CallCUDA(cudaEventRecord(d->done, d->stream));
  PetscCall(GpuTime(PETSC_FALSE));
  CallCUDA(cudaEventSynchronize(machine.done));
  status->row     = machine.status->row == INT_MAX ? -1 : machine.status->row;
  status->pivot   = status->row < 0 ? 0.0 : (PetscReal)machine.status->pivot;
  status->shift   = (PetscBool)(status->row >= 0 && machine.status->mendable);
  status->shifted = machine.status->shifted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The raw factor in the order of the pattern. */
static PetscErrorCode Raw(SyncILUEngine e)
{
  const SyncILUDeviceValues none = {NULL, NULL};
  CUDA                     *d    = (CUDA *)e->data;

  PetscFunctionBegin;
  if (d->raw) PetscFunctionReturn(PETSC_SUCCESS);
  if (!d->val) {
    PetscCall(Alloc(e, &d->val, (size_t)d->nnz * sizeof(double)));
    PetscCall(CheckFit(e));
    CallCUDA(cudaMemsetAsync(d->val, 0, (size_t)d->nnz * sizeof(double), d->stream)); /* nobody writes its diagonal */
  }
  CallCUDA(SyncILUKernelFill(SYNCILU_DOUBLE, d->L.t, d->L.ell, none, NULL, d->val, d->stream));
  CallCUDA(SyncILUKernelFill(SYNCILU_DOUBLE, d->U.t, d->U.ell, none, NULL, d->val, d->stream));
  d->raw = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlanTransposed(SyncILUEngine e)
{
  CUDA        *d     = (CUDA *)e->data;
  const size_t n     = (size_t)d->p.n;
  size_t       bytes = 0;
  void        *work;
  int         *col;

  PetscFunctionBegin;
  CallFit(Columns(e, &col));
  CallCUDA(SyncILUKernelTranspose(NULL, &bytes, d->p, d->nnz, 0, 0, NULL, NULL, NULL, d->stream));
  CallFit(Alloc(e, &work, bytes));
  for (int k = 0; k < 2; k++) {
    Sweep       *s       = k ? &d->LT : &d->UT;
    const Sweep *o       = k ? &d->L : &d->U;
    const size_t entries = (size_t)(k ? e->pattern.nl : e->pattern.nu);
    int         *own;

    CallFit(Alloc(e, &own, (n + 1 + 2 * entries) * sizeof(int)));
    CallCUDA(SyncILUKernelTranspose(work, &bytes, d->p, d->nnz, k, (int)entries, own, own + n + 1, own + n + 1 + entries, d->stream));
    s->t.n     = d->p.n;
    s->t.skip  = 0;
    s->t.begin = own;
    s->t.end   = own + 1;
    s->t.col   = own + n + 1;
    s->t.src   = own + n + 1 + entries;
    s->lanes   = o->lanes;
    s->gate    = o->gate;
    /* whom a row waits for and who waits for it change places */
    if (d->tiled) {
      s->slices = o->slices;
      CallFit(Alloc(e, &s->tile, (size_t)o->slices * sizeof(int)));
      CallCUDA(SyncILUKernelReverse(o->slices, o->tile, s->tile, d->stream));
      CallFit(OrderInTiles(e, s, (PetscBool)k));
    } else {
      CallFit(Alloc(e, &s->order, n * sizeof(int)));
      CallCUDA(SyncILUKernelReverse(d->p.n, o->order, s->order, d->stream));
    }
  }
  PetscCall(Free(d, &work));
  PetscCall(Free(d, &col));
  CallFit(PlanPair(e, &d->UT, &d->LT, d->colperm, d->row));
  CallFit(Alloc(e, &d->LT.scale, n * sizeof(double)));
  d->transposed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareTransposed(SyncILUEngine e)
{
  CUDA               *d   = (CUDA *)e->data;
  SyncILUDeviceValues raw = {NULL, NULL};

  PetscFunctionBegin;
  if (!d->transposed) {
    const int held = d->nowned;

    PetscCall(PlanTransposed(e));
    if (!d->transposed) {
      PetscCall(Rollback(d, held));
      PetscCall(PetscMemzero(&d->LT, sizeof(d->LT)));
      PetscCall(PetscMemzero(&d->UT, sizeof(d->UT)));
    }
    PetscCall(Settle(d));
    PetscCall(CheckFit(e));
  }
  PetscCall(Raw(e));
  raw.a = d->val;
  if (d->ell) {
    CallCUDA(SyncILUKernelFill(SYNCILU_DOUBLE, d->UT.t, d->UT.ell, raw, NULL, NULL, d->stream));
    CallCUDA(SyncILUKernelFill(SYNCILU_DOUBLE, d->LT.t, d->LT.ell, raw, NULL, NULL, d->stream));
  }
  CallCUDA(SyncILUKernelReciprocals(SYNCILU_DOUBLE, d->p.n, d->pivot, d->ell ? d->LT.order : NULL, d->LT.scale, d->stream));
  d->tvalues = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The two sweeps of a solve, for at most SYNCILU_RHS_MAX right-hand sides on the device. */
static PetscErrorCode SolveBlock(CUDA *d, const Sweep *first, const Sweep *second, int nrhs, const double *b, size_t ldb, double *x, size_t ldx)
{
  SyncILUDeviceSweep s[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    const Sweep *t = k ? second : first;

    s[k].scale    = t->scale;
    s[k].b        = k ? d->x[0] : b;
    s[k].bindex   = t->bindex;
    s[k].ldb      = k ? 0 : ldb;
    s[k].x        = d->x[k];
    s[k].out      = k ? x : NULL;
    s[k].outindex = t->outindex;
    s[k].ldout    = ldx;
    s[k].next     = d->x[!k];
    s[k].nrhs     = nrhs;
    s[k].gate     = t->gate;
    s[k].ticket   = d->ticket + k;
    s[k].reset    = d->ticket + !k;
    if (d->ell) CallCUDA(SyncILUKernelSolveEll(SYNCILU_DOUBLE, t->ell, s[k], d->stream));
    else CallCUDA(SyncILUKernelSolveCsr(SYNCILU_DOUBLE, t->t, d->val, t->order, s[k], d->stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve_CUDA(SyncILUEngine e, SyncILUTranspose trans, PetscInt nrhs, const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx, PetscMemType mem)
{
  CUDA         *d      = (CUDA *)e->data;
  const size_t  n      = (size_t)d->p.n;
  const Sweep  *first  = trans == SYNCILU_TRANS ? &d->UT : &d->L;
  const Sweep  *second = trans == SYNCILU_TRANS ? &d->LT : &d->U;
  const double *db     = (const double *)b;
  double       *dx     = (double *)x;

  PetscFunctionBegin;
  if (!n || !nrhs) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(UseStream(d));
  if (trans == SYNCILU_TRANS && !d->tvalues) PetscCall(PrepareTransposed(e));
  {
    const size_t blocks = (size_t)(nrhs + SYNCILU_RHS_BLOCK - 1) / SYNCILU_RHS_BLOCK, want = n * (nrhs > 1 ? PetscMin(blocks * SYNCILU_RHS_BLOCK, (size_t)SYNCILU_RHS_MAX) : 1);

    PetscCall(MakeRoom(e, want));
  }
  if (PetscMemTypeHost(mem)) {
    const size_t want = n * (size_t)nrhs;

    if (d->stage_size < want) {
      PetscCall(Free(d, &d->stage_b));
      PetscCall(Free(d, &d->stage_x));
      d->stage_size = 0;
      PetscCall(Alloc(e, &d->stage_b, want * sizeof(double)));
      PetscCall(Alloc(e, &d->stage_x, want * sizeof(double)));
      PetscCall(CheckFit(e));
      d->stage_size = want;
    }
    for (PetscInt r = 0; r < nrhs; r++) PetscCall(Upload(d, d->stage_b + (size_t)r * n, b + (size_t)r * (size_t)ldb, n * sizeof(double)));
    db = d->stage_b;
    dx = d->stage_x;
  }
  PetscCall(GpuTime(PETSC_TRUE));
  for (PetscInt r = 0; r < nrhs; r += SYNCILU_RHS_MAX) {
    const size_t lb = PetscMemTypeHost(mem) ? n : (size_t)ldb, lx = PetscMemTypeHost(mem) ? n : (size_t)ldx;

    PetscCall(SolveBlock(d, first, second, (int)PetscMin(nrhs - r, SYNCILU_RHS_MAX), db + (size_t)r * lb, lb, dx + (size_t)r * lx, lx));
  }
  PetscCall(GpuTime(PETSC_FALSE));
  CallCUDA(cudaEventRecord(d->done, d->stream));
  if (PetscMemTypeHost(mem)) {
    for (PetscInt r = 0; r < nrhs; r++) PetscCall(Download(d, x + (size_t)r * (size_t)ldx, d->stage_x + (size_t)r * n, n * sizeof(double)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Values_CUDA(SyncILUEngine e, const PetscScalar **lval, const PetscScalar **uval, const PetscScalar **dinv)
{
  CUDA        *d = (CUDA *)e->data;
  const size_t n = (size_t)d->p.n;

  PetscFunctionBegin;
  if (!d->values) {
    const PetscBool kept = (PetscBool)(d->val != NULL);
    double         *val, *pivot;
    int            *ptr, *col, *diag, *own;

    PetscCall(UseStream(d));
    PetscCall(Raw(e));
    PetscCall(Columns(e, &own));
    PetscCall(CheckFit(e));
    PetscCall(PetscMalloc5(d->nnz, &val, n, &pivot, n + 1, &ptr, d->nnz, &col, n, &diag));
    PetscCall(Download(d, val, d->val, (size_t)d->nnz * sizeof(double)));
    PetscCall(Download(d, pivot, d->pivot, n * sizeof(double)));
    PetscCall(Download(d, ptr, d->p.ptr, (n + 1) * sizeof(int)));
    PetscCall(Download(d, col, d->p.col, (size_t)d->nnz * sizeof(int)));
    PetscCall(Download(d, diag, d->diag, n * sizeof(int)));
    PetscCall(Free(d, &own));
    if (!kept) {
      PetscCall(Free(d, &d->val));
      d->raw = PETSC_FALSE;
    }
    if (!d->dinv) {
      PetscCall(PetscMalloc1(e->pattern.nl, &d->lval));
      PetscCall(PetscMalloc1(e->pattern.nu, &d->uval));
      PetscCall(PetscMalloc1(n, &d->dinv));
    }
    for (size_t i = 0, l = 0, u = 0; i < n; i++) {
      for (int k = ptr[i]; k < diag[i]; k++) d->lval[l++] = val[k] / pivot[col[k]];
      for (int k = diag[i] + 1; k < ptr[i + 1]; k++) d->uval[u++] = val[k] * pivot[i];
      d->dinv[i] = 1.0 / pivot[i];
    }
    PetscCall(PetscFree5(val, pivot, ptr, col, diag));
    d->values = PETSC_TRUE;
  }
  *lval = d->lval;
  *uval = d->uval;
  *dinv = d->dinv;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Levels of the rows, where the plan did without. */
static PetscErrorCode CountLevels(SyncILUEngine e)
{
  CUDA *d        = (CUDA *)e->data;
  int  *level[2] = {NULL, NULL}, *sorted, *order, *own;

  PetscFunctionBegin;
  CallFit(Columns(e, &own));
  CallFit(Levels(e, d->p, PetscMax(d->counts.longest[0], d->counts.longest[1]), PETSC_TRUE, PETSC_FALSE, level, d->counts.levels));
  for (int k = 0; k < 2; k++) {
    CallFit(OrderByLevel(e, k, d->counts.levels[k], level[k], &sorted, &order));
    PetscCall(Free(d, &level[k]));
    PetscCall(Free(d, &sorted));
    PetscCall(Free(d, &order));
  }
  PetscCall(Free(d, &own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Statistics_CUDA(SyncILUEngine e, SyncILUStatistics *s)
{
  CUDA *d = (CUDA *)e->data;

  PetscFunctionBegin;
  if (d->counts.levels[0] == UNKNOWN || d->counts.levels[1] == UNKNOWN) {
    const int held = d->nowned;

    PetscCall(UseStream(d));
    PetscCall(CountLevels(e));
    if (e->unfit[0]) { /* nobody's solve fails because its levels cannot be counted */
      PetscCall(PetscInfo(NULL, "Levels are not counted: %s\n", e->unfit));
      PetscCall(Rollback(d, held));
      e->unfit[0]         = 0;
      d->counts.levels[0] = d->counts.levels[1] = UNKNOWN;
    }
    PetscCall(Settle(d));
  }
  s->threads = 0;
  for (int k = 0; k < 2; k++) {
    s->levels[k]     = d->counts.levels[k];
    s->level_rows[k] = d->counts.width[k];
  }
  s->bytes += d->bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_CUDA(SyncILUEngine e, PetscViewer viewer)
{
  const CUDA *d = (const CUDA *)e->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "device: %d, %s\n", machine.device, machine.name));
  if (d->chain) PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: list, as one sweep since only diagonals have updates, %d lanes a row\n", 1 << d->L.lanes));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: %s, %d lanes a row\n", d->list ? "list" : "vect", 1 << d->lanes));
  if (d->why) PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: not list, since %s\n", d->why));
  if (d->ell) PetscCall(PetscViewerASCIIPrintf(viewer, "solve: ell, lanes a row: L %d, U %d\n", 1 << d->L.lanes, 1 << d->U.lanes));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "solve: csr, 32 lanes a row\n"));
  if (d->tiled && d->tiling.run) PetscCall(PetscViewerASCIIPrintf(viewer, "order: by level of %s of %d rows\n", d->chains ? "runs" : "blocks", d->tiling.run));
  else if (d->tiled)
    PetscCall(PetscViewerASCIIPrintf(viewer, "order: by level of tiles of %d x %d x %d rows on a %sgrid of %d x %d x %d\n", 1 << d->tiling.edge[0], 1 << d->tiling.edge[1], 1 << d->tiling.edge[2], d->tiling.slant ? "slanted " : "", d->tiling.points[0],
                                     d->tiling.points[1], d->tiling.points[2]));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "order: %s\n",
                                     e->settings.analysis == SYNCILU_ANALYSIS_NONE   ? "numerical"
                                     : e->settings.analysis == SYNCILU_ANALYSIS_ALAP ? "by latest level"
                                     : d->mirrored                                   ? "L by earliest level, U by latest"
                                                                                     : "by earliest level"));
  if (e->settings.check) PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: copied to and from the host for every factorization and solve, where -pc_syncilu_check compares\n"));
  else if (PETScHasDevice() && sizeof(PetscInt) == sizeof(int)) PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: of PETSc, on the device where they are there\n"));
  else if (PETScHasDevice()) PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: vectors of PETSc, on the device where they are there; the matrix copied from the host for every factorization, since PETSc's indices have 64 bits\n"));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "arrays: copied to and from the host for every factorization and solve, since PETSc %s\n", PetscDefined(HAVE_CUDA) ? "uses no device here" : "has no CUDA"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SyncILUBackendOps SyncILUCUDAOps = {SYNCILU_BACKEND_CUDA, SYNCILU_CUDA_MIN_ROWS, PETSC_TRUE, 1e-10, Adopt_CUDA, SetUp_CUDA, Destroy_CUDA, Excess_CUDA, Updates_CUDA, Factor_CUDA, Solve_CUDA, Values_CUDA, Statistics_CUDA, View_CUDA};
