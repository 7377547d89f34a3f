/*
   What the tests on a GPU share: calls of the runtime, and a watch over kernels that wait for ever.
*/
#ifndef SYNCILU_GPU_H
#define SYNCILU_GPU_H

#include <signal.h>
#include <stdarg.h>
#include <unistd.h>
#include <cuda_runtime_api.h>
#include <petscsys.h>

#define SKIPPED 77 /* what CTest takes for a skipped test */

#define CallCUDA(...) \
  do { \
    const cudaError_t cuda_ierr = __VA_ARGS__; \
    PetscCheck(cuda_ierr == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s: %s", #__VA_ARGS__, cudaGetErrorString(cuda_ierr)); \
  } while (0)

/* Memory of the device, with a copy of what is on the host; never NULL. */
static PETSC_UNUSED PetscErrorCode Upload(const void *host, size_t bytes, void *pointer)
{
  void *device = NULL;

  PetscFunctionBegin;
  CallCUDA(cudaMalloc(&device, bytes ? bytes : 1));
  if (bytes && host) CallCUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  CallCUDA(cudaDeviceSynchronize()); /* the copy is complete for every stream */
  *(void **)pointer = device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the program, and says what it was at, unless the next call comes within the time. A hung kernel lets nobody else do that. */
static char     watched[256];
static unsigned watch_seconds = 30;

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

static PETSC_UNUSED PETSC_ATTRIBUTE_FORMAT(1, 2) void Watch(const char *format, ...)
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

/* Whether there is nothing to test on, which is said then. To be asked before PETSc begins. */
static PETSC_UNUSED PetscBool GpuMissing(void)
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

#endif
