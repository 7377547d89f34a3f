/*
   The device of this process: which one, its memory, its stream.
*/
#include "device.h"
#include "../../kernels/order.h"
#if defined(PETSC_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

/* What all engines of this process share. */
static struct {
  int           device;
  char          name[256];
  cudaMemPool_t pool;
  cudaStream_t  stream; /* where PETSc has none, or uses no device */
  int           found;  /* 1: there is a device, -1: there is none, 0: not looked for yet */
  char          reason[96];
} machine;

/*
   The rank on the node, as the launchers of MPI programs tell it: asking MPI would be collective, a
   factorization is not.
*/
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
   Whether PETSc uses its device. Where no matrix and no vector is on it, it must not be made to: that ends
   programs whose MPI knows nothing of device memory and which have no need that it should. What it does not
   do then is done here, as where PETSc has no CUDA.
*/
PetscBool DeviceIsPETScs(void)
{
#if defined(PETSC_HAVE_CUDA)
  return PetscDeviceInitialized(PETSC_DEVICE_CUDA);
#else
  return PETSC_FALSE;
#endif
}

/*
   The device that a PETSc with CUDA would take by its options and the rank, had it taken one; with a PETSc
   without CUDA, by the rank on the node. PETSC_DECIDE: none, as the user says.
*/
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
  if (err == cudaSuccess) err = TransferFinalize();
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
  if (err == cudaSuccess) err = TransferInitialize();
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  props.location.id   = machine.device;
  if (err == cudaSuccess) err = cudaMemPoolCreate(&machine.pool, &props);
  /* what a plan gives back on the way it takes again; DeviceSettle() gives the rest back */
  if (err == cudaSuccess) err = cudaMemPoolSetAttribute(machine.pool, cudaMemPoolAttrReleaseThreshold, &keep);
  if (err == cudaSuccess) (void)snprintf(machine.name, sizeof(machine.name), "%s", prop.name);
  else (void)MachineDestroy();
  return err;
}

/* Finds the device of this process: PETSc's own, if it uses one. Asked once, unless there was no memory. */
PetscErrorCode DeviceAvailable(PetscBool *available, char *why, size_t len)
{
  PetscFunctionBegin;
  if (!machine.found) {
    int         devices = 0;
    cudaError_t err     = cudaGetDeviceCount(&devices);

    machine.found = -1;
    if (sizeof(PetscScalar) != sizeof(double) || PetscDefined(USE_COMPLEX))
      PetscCall(PetscStrncpy(machine.reason, "the CUDA backend has real double precision only so far", sizeof(machine.reason)));
    else if (err == cudaErrorNoDevice || (err == cudaSuccess && !devices))
      PetscCall(PetscStrncpy(machine.reason, "there is no CUDA device", sizeof(machine.reason)));
    else if (err == cudaErrorInsufficientDriver)
      PetscCall(PetscStrncpy(machine.reason, "no CUDA driver, or one too old for this build's runtime", sizeof(machine.reason)));
    else if (err != cudaSuccess) PetscCall(PetscSNPrintf(machine.reason, sizeof(machine.reason), "CUDA: %s", cudaGetErrorString(err)));
    else {
      int device = 0, before = 0;

      if (!DeviceIsPETScs()) {
        PetscCall(ChooseDevice(devices, &device));
        err = cudaGetDevice(&before);
        if (err == cudaSuccess && device >= 0) err = cudaSetDevice(device);
      }
      if (device < 0) PetscCall(PetscStrncpy(machine.reason, "-device_enable says that devices are not to be used", sizeof(machine.reason)));
      else {
        /* a device of an architecture the kernels were not built for says so here */
        if (err == cudaSuccess) err = SyncILUKernelProbe();
        if (err == cudaSuccess) err = MachineCreate();
        if (err == cudaSuccess) machine.found = 1;
        else {
          PetscCall(PetscSNPrintf(machine.reason, sizeof(machine.reason), "CUDA: %s", cudaGetErrorString(err)));
          if (err == cudaErrorMemoryAllocation) machine.found = 0;
        }
        /*
           The program's current device is its own business. One that is at the first may never have asked for
           any, and to go back there would take memory of it.
        */
        if (before && before != device) (void)cudaSetDevice(before);
      }
    }
    if (machine.found <= 0) (void)cudaGetLastError(); /* not another call's business */
  }
  *available = (PetscBool)(machine.found > 0);
  if (!*available) PetscCall(PetscStrncpy(why, machine.reason, len));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   DeviceEnter - makes the device of this process current, for the time of one call

   Not Collective

   Output Parameters:
+  before - what was current, for DeviceLeave(): the program's current device is its own business
-  stream - the stream of this call: PETSc's current one, if it uses the device

   Errors:
   PETSC_ERR_ARG_INCOMP if PETSc has come to use another device than the one this process plans on.
*/
PetscErrorCode DeviceEnter(int *before, cudaStream_t *stream)
{
  PetscFunctionBegin;
  CallCUDA(cudaGetDevice(before));
  *stream = machine.stream;
#if defined(PETSC_HAVE_CUDA)
  if (DeviceIsPETScs()) {
    int device;

    PetscCall(PetscGetCurrentCUDAStream(stream));
    CallCUDA(cudaGetDevice(&device));
    PetscCheck(device == machine.device, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
               "syncilu plans on device %d, where PETSc had none yet, and PETSc now uses device %d; -device_select %d makes that one of both", machine.device,
               device, device);
    *before = device;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (*before != machine.device) CallCUDA(cudaSetDevice(machine.device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceLeave(int before)
{
  PetscFunctionBegin;
  if (before != machine.device) CallCUDA(cudaSetDevice(before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's clock of GPU time, if there is one. */
PetscErrorCode DeviceTimeBegin(void)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (DeviceIsPETScs()) PetscCall(PetscLogGpuTimeBegin());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceTimeEnd(void)
{
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (DeviceIsPETScs()) PetscCall(PetscLogGpuTimeEnd());
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceView(PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "device: %d, %s\n", machine.device, machine.name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the pool; NULL where there is not so much memory. */
static PetscErrorCode Allocate(cudaStream_t stream, size_t bytes, void **pointer)
{
  const cudaError_t err = cudaMallocFromPoolAsync(pointer, bytes, machine.pool, stream);

  PetscFunctionBegin;
  if (err == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    *pointer = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  CallCUDA(err);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the room of a list; NULL where it is full. */
static PetscErrorCode TakeShared(DeviceMemory *memory, cudaStream_t stream, size_t bytes, void **pointer)
{
  const size_t end = memory->used + (bytes + SYNCILU_ROOM_ALIGN - 1) / SYNCILU_ROOM_ALIGN * SYNCILU_ROOM_ALIGN;

  PetscFunctionBegin;
  if (end > memory->room) PetscFunctionReturn(PETSC_SUCCESS);
  if (!memory->shared) PetscCall(Allocate(stream, memory->room, (void **)&memory->shared));
  if (!memory->shared) PetscFunctionReturn(PETSC_SUCCESS);
  *pointer     = memory->shared + memory->used;
  memory->used = end;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   DeviceMemoryAlloc - takes a piece of device memory, which the list owns

   Not Collective

   Input Parameters:
+  memory - the list
.  stream - in whose order the piece is there
-  bytes  - its size

   Output Parameter:
.  pointer - the address of a pointer to the piece; set to NULL where there is not so much memory, which is no error
*/
PetscErrorCode DeviceMemoryAlloc(DeviceMemory *memory, cudaStream_t stream, size_t bytes, void *pointer)
{
  PetscFunctionBegin;
  *(void **)pointer = NULL;
  if (!bytes) bytes = 1;
  if (memory->n == memory->max) {
    memory->max = 2 * memory->max + 16;
    PetscCall(PetscRealloc((size_t)memory->max * sizeof(*memory->piece), &memory->piece));
  }
  if (bytes <= memory->room / SYNCILU_ROOM_PIECES) PetscCall(TakeShared(memory, stream, bytes, (void **)pointer));
  if (!*(void **)pointer) PetscCall(Allocate(stream, bytes, (void **)pointer));
  if (!*(void **)pointer) PetscFunctionReturn(PETSC_SUCCESS);
  memory->piece[memory->n].pointer = *(void **)pointer;
  memory->piece[memory->n].bytes   = bytes;
  memory->n++;
  memory->bytes += (PetscInt64)bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back all pieces but the first so many of them. */
PetscErrorCode DeviceMemoryRelease(DeviceMemory *memory, cudaStream_t stream, int first)
{
  PetscFunctionBegin;
  while (memory->n > first) {
    char *const piece = (char *)memory->piece[--memory->n].pointer;

    memory->bytes -= (PetscInt64)memory->piece[memory->n].bytes;
    if (memory->shared && piece >= memory->shared && piece < memory->shared + memory->room) memory->used = (size_t)(piece - memory->shared);
    else CallCUDA(cudaFreeAsync(piece, stream));
  }
  if (!first) {
    if (memory->shared) CallCUDA(cudaFreeAsync(memory->shared, stream));
    memory->shared = NULL;
    PetscCall(PetscFree(memory->piece));
    memory->max = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives back what the pool holds without need, but for a little. Waits for the device. */
PetscErrorCode DeviceSettle(cudaStream_t stream)
{
  PetscFunctionBegin;
  CallCUDA(cudaStreamSynchronize(stream));
  CallCUDA(cudaMemPoolTrimTo(machine.pool, SYNCILU_KEEP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Flags that tell the work of one launch from that of all earlier ones: *number becomes the next launch's, which
   none of them has yet. They need not be set before the first, whose number is zero until then.
*/
PetscErrorCode DeviceNumberFlags(cudaStream_t stream, int *flags, size_t bytes, int *number)
{
  PetscFunctionBegin;
  if (*number == INT_MAX) *number = 0;
  if (!*number) CallCUDA(cudaMemsetAsync(flags, 0, bytes, stream));
  ++*number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Bytes that the engines of this process have taken, and those that their pool holds for them and for later
   ones; for tests.
*/
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

/* The most bytes that engines have taken at a time since this was asked last; for tests. */
PetscErrorCode SyncILUCUDAMemoryHigh(size_t *high)
{
  uint64_t bytes = 0, reset = 0;

  PetscFunctionBegin;
  if (machine.pool) {
    CallCUDA(cudaMemPoolGetAttribute(machine.pool, cudaMemPoolAttrUsedMemHigh, &bytes));
    CallCUDA(cudaMemPoolSetAttribute(machine.pool, cudaMemPoolAttrUsedMemHigh, &reset));
  }
  *high = (size_t)bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Called when the package is finalized. What a fault has left of a device goes with the process, and PETSc
   can end.
*/
PetscErrorCode DeviceFinalize(void)
{
  const cudaError_t err = MachineDestroy();

  PetscFunctionBegin;
  if (err != cudaSuccess) PetscCall(PetscInfo(NULL, "CUDA: %s (%s)\n", cudaGetErrorString(err), cudaGetErrorName(err)));
  PetscCall(PetscMemzero(&machine, sizeof(machine)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
