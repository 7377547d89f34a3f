/*
   Transfers between host and device, through pinned buffers that all engines of this process share.
*/
#include "device.h"

enum {
  STAGE = 1 << 22, /* bytes of each of the two pinned buffers */
  FEW   = 1 << 12  /* bytes that are read back through pinned memory of their own */
};

static struct {
  void                *pinned[2];
  cudaEvent_t          event[2], done;
  SyncILUDeviceStatus *status;       /* pinned, or the next one */
  SyncILUDeviceStatus  plain_status; /* where the system has no pinned memory to give */
  void                *few;          /* pinned, for what is read back; NULL: likewise */
} transfer;

/* Pinned memory, of which a system may have little to give: NULL is no error. */
static cudaError_t AllocPinned(size_t bytes, void **pointer)
{
  cudaError_t err;

  *pointer = NULL;
  err      = cudaMallocHost(pointer, bytes);
  if (err != cudaErrorMemoryAllocation) return err;
  (void)cudaGetLastError();
  *pointer = NULL;
  return cudaSuccess;
}

/* What transfers need, on the current device; the buffers come once they are needed. */
cudaError_t TransferInitialize(void)
{
  cudaError_t err = cudaEventCreateWithFlags(&transfer.done, cudaEventDisableTiming);

  for (int k = 0; k < 2; k++) {
    if (err == cudaSuccess) err = cudaEventCreateWithFlags(&transfer.event[k], cudaEventDisableTiming);
  }
  if (err == cudaSuccess) err = AllocPinned(sizeof(*transfer.status), (void **)&transfer.status);
  if (err == cudaSuccess) err = AllocPinned(FEW, &transfer.few);
  if (!transfer.status) transfer.status = &transfer.plain_status; /* to which the copy waits for the device */
  return err;
}

/* Gives back what is there. */
cudaError_t TransferFinalize(void)
{
  cudaError_t err = cudaSuccess;

  for (int k = 0; k < 2; k++) {
    if (transfer.event[k] && err == cudaSuccess) err = cudaEventDestroy(transfer.event[k]);
    if (transfer.pinned[k] && err == cudaSuccess) err = cudaFreeHost(transfer.pinned[k]);
  }
  if (transfer.done && err == cudaSuccess) err = cudaEventDestroy(transfer.done);
  if (transfer.few && err == cudaSuccess) err = cudaFreeHost(transfer.few);
  if (transfer.status && transfer.status != &transfer.plain_status && err == cudaSuccess) err = cudaFreeHost(transfer.status);
  memset(&transfer, 0, sizeof(transfer));
  return err;
}

/*
   The pinned buffers, for those who need them. Without them the driver copies through buffers of its own,
   which takes longer.
*/
static PetscErrorCode PinnedBuffers(PetscBool *pinned)
{
  PetscFunctionBegin;
  *pinned = PETSC_TRUE;
  for (int k = 0; k < 2 && *pinned; k++) {
    if (!transfer.pinned[k]) CallCUDA(AllocPinned(STAGE, &transfer.pinned[k]));
    if (!transfer.pinned[k]) *pinned = PETSC_FALSE;
  }
  if (!*pinned) PetscCall(PetscInfo(NULL, "No pinned memory on the host for %d bytes: copies to and from the device take longer\n", (int)STAGE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy from or to any memory of the host, complete on return. */
static PetscErrorCode CopyUnpinned(cudaStream_t stream, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
  PetscFunctionBegin;
  CallCUDA(cudaMemcpyAsync(to, from, bytes, kind, stream));
  /* where the device reads pageable memory itself, nothing else waits for it */
  CallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Host to device through two pinned buffers in turn. */
PetscErrorCode DeviceUpload(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
  PetscBool pinned;

  PetscFunctionBegin;
  PetscCall(PinnedBuffers(&pinned));
  if (!pinned) PetscCall(CopyUnpinned(stream, to, from, bytes, cudaMemcpyHostToDevice));
  for (size_t at = 0, k = 0; at < bytes && pinned; at += STAGE, k ^= 1) {
    const size_t part = PetscMin(bytes - at, (size_t)STAGE);

    CallCUDA(cudaEventSynchronize(transfer.event[k]));
    PetscCall(PetscMemcpy(transfer.pinned[k], (const char *)from + at, part));
    CallCUDA(cudaMemcpyAsync((char *)to + at, transfer.pinned[k], part, cudaMemcpyHostToDevice, stream));
    CallCUDA(cudaEventRecord(transfer.event[k], stream));
  }
#if defined(PETSC_HAVE_DEVICE)
  PetscCall(PetscLogCpuToGpu((PetscLogDouble)bytes));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceDownload(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
  size_t    before = 0, pending = 0;
  PetscBool pinned;

  PetscFunctionBegin;
  PetscCall(PinnedBuffers(&pinned));
  if (!pinned) PetscCall(CopyUnpinned(stream, to, from, bytes, cudaMemcpyDeviceToHost));
  for (size_t at = 0, k = 0; (at < bytes && pinned) || pending; at += STAGE, k ^= 1) {
    const size_t part = at < bytes ? PetscMin(bytes - at, (size_t)STAGE) : 0;

    if (part) {
      CallCUDA(cudaMemcpyAsync(transfer.pinned[k], (const char *)from + at, part, cudaMemcpyDeviceToHost, stream));
      CallCUDA(cudaEventRecord(transfer.event[k], stream));
    }
    if (pending) { /* while this part is on its way */
      CallCUDA(cudaEventSynchronize(transfer.event[k ^ 1]));
      PetscCall(PetscMemcpy((char *)to + before, transfer.pinned[k ^ 1], pending));
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
PetscErrorCode DeviceUploadIndices(cudaStream_t stream, int *to, const PetscInt *from, size_t count)
{
  PetscFunctionBegin;
#if defined(PETSC_USE_64BIT_INDICES)
  int *narrow;

  PetscCall(PetscMalloc1(count, &narrow));
  for (size_t k = 0; k < count; k++) narrow[k] = (int)from[k];
  PetscCall(DeviceUpload(stream, to, narrow, count * sizeof(int)));
  PetscCall(PetscFree(narrow));
#else
  PetscCall(DeviceUpload(stream, to, from, count * sizeof(int)));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A few bytes to the host, which waits for them: through pinned memory where they fit there, since the driver takes
   longer for any other.
*/
PetscErrorCode DeviceReadBack(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
  const PetscBool fits = (PetscBool)(transfer.few && bytes <= FEW);

  PetscFunctionBegin;
  CallCUDA(cudaMemcpyAsync(fits ? transfer.few : to, from, bytes, cudaMemcpyDeviceToHost, stream));
  CallCUDA(cudaStreamSynchronize(stream));
  if (fits) PetscCall(PetscMemcpy(to, transfer.few, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two numbers from different places, with one wait. */
PetscErrorCode DeviceReadBackTwo(cudaStream_t stream, int to[2], const int *first, const int *second)
{
  int *const few = transfer.few ? (int *)transfer.few : to;

  PetscFunctionBegin;
  CallCUDA(cudaMemcpyAsync(few, first, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CallCUDA(cudaMemcpyAsync(few + 1, second, sizeof(int), cudaMemcpyDeviceToHost, stream));
  CallCUDA(cudaStreamSynchronize(stream));
  for (int k = 0; k < 2; k++) to[k] = few[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The status of a factorization is on its way while the host goes on launching, until it waits for it. */
PetscErrorCode DeviceStatusRequest(cudaStream_t stream, const SyncILUDeviceStatus *status)
{
  PetscFunctionBegin;
  CallCUDA(cudaMemcpyAsync(transfer.status, status, sizeof(*status), cudaMemcpyDeviceToHost, stream));
  CallCUDA(cudaEventRecord(transfer.done, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DeviceStatusWait(SyncILUDeviceStatus *status)
{
  PetscFunctionBegin;
  CallCUDA(cudaEventSynchronize(transfer.done));
  *status = *transfer.status;
  PetscFunctionReturn(PETSC_SUCCESS);
}
