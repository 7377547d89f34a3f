/*
   The part of the CUDA runtime that the project uses, implemented on the host by runtime.cpp. Types and
   constants have CUDA's names and values; what is missing here is a compile error. C and C++.
*/
#ifndef EMULATOR_CUDA_RUNTIME_API_H
#define EMULATOR_CUDA_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

#define CUDART_VERSION 12090

#if defined(__cplusplus)
extern "C" {
#endif

typedef enum {
  cudaSuccess                    = 0,
  cudaErrorInvalidValue          = 1,
  cudaErrorMemoryAllocation      = 2,
  cudaErrorInvalidConfiguration  = 9,
  cudaErrorInsufficientDriver    = 35,
  cudaErrorNoDevice              = 100,
  cudaErrorInvalidDevice         = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady              = 600,
  cudaErrorNotSupported          = 801,
  cudaErrorUnknown               = 999
} cudaError_t;

typedef struct EmulatedStream  *cudaStream_t;
typedef struct EmulatedEvent   *cudaEvent_t;
typedef struct EmulatedMemPool *cudaMemPool_t;

#define cudaStreamLegacy    ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

enum {
  cudaStreamDefault      = 0,
  cudaStreamNonBlocking  = 1,
  cudaEventDefault       = 0,
  cudaEventDisableTiming = 2,
  cudaHostAllocDefault   = 0
};

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

enum cudaMemAllocationType {
  cudaMemAllocationTypePinned = 1
};
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0
};
enum cudaMemLocationType {
  cudaMemLocationTypeDevice = 1
};
struct cudaMemLocation {
  enum cudaMemLocationType type;
  int                      id;
};
struct cudaMemPoolProps {
  enum cudaMemAllocationType       allocType;
  enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation           location;
  void                            *win32SecurityAttributes;
  size_t                           maxSize;
  unsigned char                    reserved[56];
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies   = 1,
  cudaMemPoolReuseAllowOpportunistic        = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold           = 4,
  cudaMemPoolAttrReservedMemCurrent         = 5,
  cudaMemPoolAttrReservedMemHigh            = 6,
  cudaMemPoolAttrUsedMemCurrent             = 7,
  cudaMemPoolAttrUsedMemHigh                = 8
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost         = 1,
  cudaMemoryTypeDevice       = 2
};
struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int                 device;
  void               *devicePointer, *hostPointer;
};

struct cudaDeviceProp {
  char   name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
  int    regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor, multiProcessorCount, l2CacheSize;
  int    major, minor, cooperativeLaunch, clusterLaunch, memoryPoolsSupported;
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock               = 1,
  cudaDevAttrMaxSharedMemoryPerBlock          = 8,
  cudaDevAttrWarpSize                         = 10,
  cudaDevAttrMultiProcessorCount              = 16,
  cudaDevAttrL2CacheSize                      = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor      = 39,
  cudaDevAttrComputeCapabilityMajor           = 75,
  cudaDevAttrComputeCapabilityMinor           = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch                = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin     = 97,
  cudaDevAttrMemoryPoolsSupported             = 115,
  cudaDevAttrClusterLaunch                    = 120
};

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int    maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize    = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *, int);
cudaError_t cudaDeviceGetAttribute(int *, enum cudaDeviceAttr, int);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaRuntimeGetVersion(int *);
cudaError_t cudaDriverGetVersion(int *);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t);
const char *cudaGetErrorName(cudaError_t);

cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamGetId(cudaStream_t, unsigned long long *);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);

cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);

cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaHostAlloc(void **, size_t, unsigned);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *, const void *);

cudaError_t cudaMemPoolCreate(cudaMemPool_t *, const struct cudaMemPoolProps *);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void *);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync(void *, cudaStream_t);

cudaError_t cudaMemcpy(void *, const void *, size_t, enum cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t);

/* A program may define it: what reports are to say of what it does. */
extern const char *emulatorContext(void) __attribute__((weak));

#if defined(__cplusplus)
}

/* Kernels are asked about by their function. */
cudaError_t emulatorFuncGetAttributes(cudaFuncAttributes *, const void *);
cudaError_t emulatorFuncSetAttribute(const void *, cudaFuncAttribute, int);
cudaError_t emulatorOccupancy(int *, int, size_t);

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
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int threads, size_t shared)
{
  return emulatorOccupancy(blocks, threads, shared);
}
#endif

#endif
