/*
   See gpu.h.
*/
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include "gpu.h"
#include "compat.h"

PetscErrorCode Upload(const void *host, size_t bytes, void *pointer)
{
  void *device = NULL;

  PetscFunctionBegin;
  CallCUDA(cudaMalloc(&device, bytes ? bytes : 1));
  if (bytes && host) CallCUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  CallCUDA(cudaDeviceSynchronize()); /* the copy is complete for every stream */
  *(void **)pointer = device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRUpload(const SyncILUCSR *host, SyncILUCSR *device)
{
  PetscFunctionBegin;
  *device     = *host;
  device->mem = PETSC_MEMTYPE_DEVICE;
  PetscCall(Upload(host->i, (size_t)(host->n + 1) * sizeof(PetscInt), &device->i));
  PetscCall(Upload(host->j, (size_t)host->nnz * sizeof(PetscInt), &device->j));
  PetscCall(Upload(host->a, (size_t)host->nnz * sizeof(PetscScalar), &device->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRFree(SyncILUCSR *device)
{
  PetscFunctionBegin;
  CallCUDA(cudaFree((void *)device->i));
  CallCUDA(cudaFree((void *)device->j));
  CallCUDA(cudaFree((void *)device->a));
  PetscCall(PetscMemzero(device, sizeof(*device)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HoardFree(Hoard *h)
{
  PetscFunctionBegin;
  while (h->parts) CallCUDA(cudaFree(h->part[--h->parts]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HoardTake(size_t leave, Hoard *h, PetscBool *taken)
{
  const size_t page = 2 << 20, most = sizeof(h->part) / sizeof(h->part[0]);
  size_t       available, total, part;

  PetscFunctionBegin;
  h->parts = 0;
  CallCUDA(cudaDeviceSynchronize());
  CallCUDA(cudaMemGetInfo(&available, &total));
  part = available;
  while ((size_t)h->parts < most) {
    cudaError_t err;

    part = PetscMin(part, available > leave ? available - leave : 0) / page * page;
    if (!part) break;
    err = cudaMalloc(&h->part[h->parts], part);
    if (err == cudaSuccess) h->parts++;
    else {
      (void)cudaGetLastError(); /* not another call's business */
      PetscCheck(err == cudaErrorMemoryAllocation, PETSC_COMM_SELF, PETSC_ERR_GPU, "cudaMalloc: %s", cudaGetErrorString(err));
      part /= 2;
    }
    CallCUDA(cudaMemGetInfo(&available, &total));
  }
  *taken = (PetscBool)(available <= leave + leave / 8 + 2 * page);
  if (!*taken) {
    printf("memory of the device cannot be taken: %zu MiB are left of %zu, %zu were to be\n", available >> 20, total >> 20, leave >> 20);
    PetscCall(HoardFree(h));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char watched[256];
unsigned    watch_seconds = 30;

static void WatchOver(int sig)
{
  static const char said[] = "FAILED: no end of ";
  ssize_t           n;

  (void)sig;
  n = write(STDERR_FILENO, said, sizeof(said) - 1);
  n = write(STDERR_FILENO, watched, strlen(watched));
  n = write(STDERR_FILENO, "\n", 1);
  (void)n;
  _exit(3);
}

void Watch(const char *format, ...)
{
  struct sigaction action;
  va_list          args;

  va_start(args, format);
  (void)vsnprintf(watched, sizeof(watched), format, args);
  va_end(args);
  memset(&action, 0, sizeof(action));
  action.sa_handler = WatchOver;
  (void)sigaction(SIGALRM, &action, NULL);
  (void)alarm(watch_seconds);
}

void WatchEnd(void)
{
  (void)alarm(0);
}

PetscBool GpuMissing(void)
{
  int devices = 0;

  if (!PetscDefined(USE_REAL_DOUBLE) || PetscDefined(USE_COMPLEX)) {
    printf("skipped: the CUDA backend computes with real numbers in double precision\n");
    return PETSC_TRUE;
  }
  if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
    printf("skipped: no GPU\n");
    return PETSC_TRUE;
  }
  return PETSC_FALSE;
}
