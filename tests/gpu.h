/*
   What the tests on a GPU share: calls of the runtime, arrays in the memory of the device, and a watch over
   kernels that wait for ever.
*/
#ifndef SYNCILU_GPU_H
#define SYNCILU_GPU_H

#include <cuda_runtime_api.h>
#include <petscsys.h>
#include "engine.h"

enum {
  SKIPPED = 77 /* the exit status that CTest takes for a skipped test */
};

#if !defined(CallCUDA) /* src/cuda/device.h has one too */
  #define CallCUDA(...) \
    do { \
      const cudaError_t cuda_ierr = __VA_ARGS__; \
      PetscCheck(cuda_ierr == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "%s: %s", #__VA_ARGS__, cudaGetErrorString(cuda_ierr)); \
    } while (0)
#endif

/* Memory of the device, never NULL, with a copy of what is on the host unless that is NULL. */
extern PetscErrorCode Upload(const void *host, size_t bytes, void *pointer);
/* A matrix of the host in the memory of the device. */
extern PetscErrorCode CSRUpload(const SyncILUCSR *host, SyncILUCSR *device);
extern PetscErrorCode CSRFree(SyncILUCSR *device);

/* Memory of the device that nobody else is to have. */
typedef struct {
  void *part[256];
  int   parts;
} Hoard;

/*
   Takes all but so many bytes of what is free, in parts as large as there are. Not taken, which is said: it
   cannot be had so that no more is left.
*/
extern PetscErrorCode HoardTake(size_t leave, Hoard *, PetscBool *taken);
extern PetscErrorCode HoardFree(Hoard *);

/*
   Ends the program, and says what it was at, unless the next call comes within watch_seconds. A kernel that
   waits for ever lets nobody else do that. WatchEnd() ends the watch.
*/
extern unsigned watch_seconds;
extern void     Watch(const char *format, ...) PETSC_ATTRIBUTE_FORMAT(1, 2);
extern void     WatchEnd(void);

/* Whether there is nothing to test on, which is said then. To be asked before PETSc begins. */
extern PetscBool GpuMissing(void);

#endif
