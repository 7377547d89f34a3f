/*
   The device of this process: memory, and transfers between it and the host.
*/
#ifndef SYNCILU_CUDA_DEVICE_H
#define SYNCILU_CUDA_DEVICE_H

#include "../engine.h"
#include "../../kernels/types.h"

#define CallCUDA(...) \
  do { \
    const cudaError_t cuda_error_ = (__VA_ARGS__); \
    PetscCheck(cuda_error_ == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA: %s (%s)", cudaGetErrorString(cuda_error_), cudaGetErrorName(cuda_error_)); \
  } while (0)

/* device.c: the device of this process, the memory of its engines. */

/*
   Pieces of device memory that are released together. A list may keep room for its small pieces, which come
   and go in an analysis by the dozen: one allocation for all of them. The last piece is released first, so
   that what is in use of the room is its beginning.
*/
typedef struct {
  struct {
    void  *pointer;
    size_t bytes;
  } * piece;
  int        n, max;
  PetscInt64 bytes;
  size_t     room, used; /* bytes of the room, 0: the list has none; and those in use */
  char      *shared;     /* the room; NULL: not taken yet */
} DeviceMemory;

PETSC_INTERN PetscErrorCode DeviceAvailable(PetscBool *, char *, size_t);
PETSC_INTERN PetscErrorCode DeviceFinalize(void);
PETSC_INTERN PetscErrorCode DeviceEnter(int *, cudaStream_t *);
PETSC_INTERN PetscErrorCode DeviceLeave(int);
PETSC_INTERN PetscErrorCode DeviceMemoryAlloc(DeviceMemory *, cudaStream_t, size_t, void *);
PETSC_INTERN PetscErrorCode DeviceMemoryRelease(DeviceMemory *, cudaStream_t, int);
PETSC_INTERN PetscErrorCode DeviceSettle(cudaStream_t);
PETSC_INTERN PetscErrorCode DeviceNumberFlags(cudaStream_t, int *, size_t, int *);
PETSC_INTERN PetscErrorCode DeviceTimeBegin(void);
PETSC_INTERN PetscErrorCode DeviceTimeEnd(void);
PETSC_INTERN PetscErrorCode DeviceView(PetscViewer);
PETSC_INTERN PetscBool      DeviceIsPETScs(void);

/* transfer.c: transfers between host and device. */

PETSC_INTERN cudaError_t    TransferInitialize(void);
PETSC_INTERN cudaError_t    TransferFinalize(void);
PETSC_INTERN PetscErrorCode DeviceUpload(cudaStream_t, void *, const void *, size_t);
PETSC_INTERN PetscErrorCode DeviceUploadIndices(cudaStream_t, int *, const PetscInt *, size_t);
PETSC_INTERN PetscErrorCode DeviceDownload(cudaStream_t, void *, const void *, size_t);
PETSC_INTERN PetscErrorCode DeviceReadBack(cudaStream_t, void *, const void *, size_t);
PETSC_INTERN PetscErrorCode DeviceReadBackTwo(cudaStream_t, int[2], const int *, const int *);
PETSC_INTERN PetscErrorCode DeviceStatusRequest(cudaStream_t, const SyncILUDeviceStatus *);
PETSC_INTERN PetscErrorCode DeviceStatusWait(SyncILUDeviceStatus *);

#endif
