/*
   The part of the CUDA runtime that the project uses, implemented on the host by runtime.cpp. Types and
   constants have CUDA's names and values; what is missing here is a compile error. C and C++.
*/
#ifndef EMULATOR_CUDA_RUNTIME_API_H
#define EMULATOR_CUDA_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  cudaSuccess                   = 0,
  cudaErrorInvalidValue         = 1,
  cudaErrorMemoryAllocation     = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver   = 35,
  cudaErrorNoDevice             = 100,
  cudaErrorInvalidDevice        = 101,
  cudaErrorNotSupported         = 801
} cudaError_t;

typedef struct EmulatedStream  *cudaStream_t;
typedef struct EmulatedEvent   *cudaEvent_t;
typedef struct EmulatedMemPool *cudaMemPool_t;

enum {
  cudaStreamNonBlocking  = 1,
  cudaEventDisableTiming = 2
};

enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice
};

enum cudaMemAllocationType {
  cudaMemAllocationTypePinned = 1
};
enum cudaMemLocationType {
  cudaMemLocationTypeDevice = 1
};
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int                      id;
};
struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType;
  struct cudaMemLocation     location;
};
enum cudaMemPoolAttr {
  cudaMemPoolAttrReleaseThreshold   = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrUsedMemCurrent     = 7,
  cudaMemPoolAttrUsedMemHigh        = 8
};

enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount          = 16,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

struct cudaDeviceProp {
  char name[256];
};

typedef struct {
  int maxDynamicSharedSizeBytes, ptxVersion;
} cudaFuncAttributes;
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize    = 8,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};

/* Launches by cudaLaunchKernelEx(), with clusters along x. A policy for their blocks changes nothing here. */
enum cudaLaunchAttributeID {
  cudaLaunchAttributeClusterDimension                  = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization   = 6
};
enum cudaClusterSchedulingPolicy {
  cudaClusterSchedulingPolicyLoadBalancing = 2
};
typedef union
{
  struct {
    unsigned x, y, z;
  } clusterDim;
  enum cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
  int                              programmaticStreamSerializationAllowed;
} cudaLaunchAttributeValue;
typedef struct {
  enum cudaLaunchAttributeID id;
  cudaLaunchAttributeValue   val;
} cudaLaunchAttribute;

cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaDeviceGetAttribute(int *, enum cudaDeviceAttr, int);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *, int);
cudaError_t cudaDeviceSynchronize(void);

cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamGetId(cudaStream_t, unsigned long long *);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);

cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemGetInfo(size_t *, size_t *);

cudaError_t cudaMemPoolCreate(cudaMemPool_t *, const struct cudaMemPoolProps *);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void *, cudaStream_t);

cudaError_t cudaMemcpy(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t);

/* A program may define it: what reports are to say of what it does. */
extern const char *emulatorContext(void) __attribute__((weak));

#if defined(__cplusplus)
}

/* Kernels are asked about by their function. */
cudaError_t emulatorFuncGetAttributes(cudaFuncAttributes *, const void *);
cudaError_t emulatorFuncSetAttribute(const void *, cudaFuncAttribute, int);

template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, Kernel *kernel)
{
  return emulatorFuncGetAttributes(attributes, (const void *)kernel);
}
template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel *kernel, cudaFuncAttribute attribute, int value)
{
  return emulatorFuncSetAttribute((const void *)kernel, attribute, value);
}
#endif

#endif
