/*
   The CUDA runtime's functions on the host: memory, streams, events, the device.

   Everything is done when its function returns, and in the order of the calls: streams do not run beside each
   other. What a call names must exist, and what it copies or sets must lie within one allocation; all else
   ends the program. Device memory is the host's own, each allocation one of malloc()'s, so that
   AddressSanitizer sees its borders.
*/
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <map>
#include <set>
#include <vector>
#include "internal.h"

using namespace emulator;

struct EmulatedStream {
  unsigned long long id;
};

struct EmulatedEvent { };

struct EmulatedMemPool {
  uint64_t threshold;
  size_t   used, high;
};

namespace
{

constexpr size_t ALIGNMENT = 256;
constexpr int    FREED     = 0xdd; /* what freed memory is full of */

struct Allocation {
  size_t           bytes;
  EmulatedMemPool *pool; /* NULL: of cudaMalloc() */
};

cudaError_t                     last_error = cudaSuccess;
std::set<cudaStream_t>          streams;
std::set<cudaEvent_t>           events;
std::set<cudaMemPool_t>         pools;
std::map<uintptr_t, Allocation> allocations; /* of device memory, by their address */
std::set<void *>                pinned;
/* of kernels that asked for more than a block gets by itself */
std::map<const void *, int> dynamic_limits;
size_t                      taken; /* bytes of device memory */

/*
   What has been freed is given to those who next ask for as much, as a pool does: then a pointer to memory
   that is gone is soon one to somebody else's. AddressSanitizer, to which such a pointer shows, needs the
   opposite.
*/
#if defined(__SANITIZE_ADDRESS__)
constexpr bool REUSE = false;
#else
constexpr bool REUSE = true;
#endif
std::map<size_t, std::vector<void *>> freed; /* by their rounded size */

size_t rounded(size_t bytes)
{
  return REUSE ? (bytes + 511) / 512 * 512 : bytes;
}

cudaError_t result(cudaError_t error)
{
  if (error != cudaSuccess) last_error = error;
  return error;
}

size_t device_bytes()
{
  return (size_t)option("EMULATOR_MEMORY", 1ll << 36, 0, 1ll << 46);
}

cudaError_t allocate(void **p, size_t bytes, EmulatedMemPool *pool)
{
  trace("takes %zu bytes, then %zu", bytes, taken + bytes);
  *p = nullptr;
  if (!bytes) return cudaSuccess;
  if (bytes > device_bytes() || taken > device_bytes() - bytes) return result(cudaErrorMemoryAllocation);
  std::vector<void *> &same = freed[rounded(bytes)];
  if (!same.empty()) {
    std::swap(same[draw((unsigned)same.size())], same.back());
    *p = same.back();
    same.pop_back();
  } else if (posix_memalign(p, ALIGNMENT, rounded(bytes))) return result(cudaErrorMemoryAllocation);
  memset(*p, fill_byte(), bytes);
  allocations[(uintptr_t)*p] = {bytes, pool};
  taken += bytes;
  if (pool) {
    pool->used += bytes;
    if (pool->used > pool->high) pool->high = pool->used;
  }
  return cudaSuccess;
}

void release(void *p, const char *what)
{
  const auto found = allocations.find((uintptr_t)p);

  if (found == allocations.end()) fail("%s(%p): there is no such allocation", what, p);
  const Allocation a = found->second;
  trace("gives %zu bytes back", a.bytes);
  taken -= a.bytes;
  if (a.pool) a.pool->used -= a.bytes;
  allocations.erase(found);
  memset(p, FREED, a.bytes);
  if (REUSE) freed[rounded(a.bytes)].push_back(p);
  else free(p);
}

/* The allocation of device memory in which an address lies. */
std::map<uintptr_t, Allocation>::const_iterator find(const void *p)
{
  auto after = allocations.upper_bound((uintptr_t)p);

  if (after == allocations.begin()) return allocations.end();
  --after;
  return (uintptr_t)p < after->first + after->second.bytes ? after : allocations.end();
}

void check_range(const void *p, size_t bytes, bool device, const char *what)
{
  const auto found = find(p);

  if (!bytes) return;
  if (!device) {
    if (found != allocations.end()) fail("%s of %zu bytes: %p is said to be in the host's memory, and is in the device's", what, bytes, p);
    return;
  }
  if (found == allocations.end()) fail("%s of %zu bytes: %p is not in the device's memory", what, bytes, p);
  const size_t left = found->first + found->second.bytes - (uintptr_t)p;
  if (bytes > left) fail("%s of %zu bytes at %p, where the allocation has %zu bytes left of %zu", what, bytes, p, left, found->second.bytes);
}

cudaError_t copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, const char *what)
{
  trace("copies %zu bytes, %s", bytes, kind == cudaMemcpyHostToDevice ? "to the device" : kind == cudaMemcpyDeviceToHost ? "to the host" : "on the device");
  check_range(to, bytes, kind != cudaMemcpyDeviceToHost, what);
  check_range(from, bytes, kind != cudaMemcpyHostToDevice, what);
  if ((const char *)from < (const char *)to + bytes && (const char *)to < (const char *)from + bytes)
    fail("%s of %zu bytes: source %p and destination %p overlap", what, bytes, from, to);
  if (bytes) memcpy(to, from, bytes);
  return cudaSuccess;
}

void check_event(cudaEvent_t event, const char *what)
{
  if (!events.count(event)) fail("%s: there is no such event", what);
}

void check_pool(cudaMemPool_t pool, const char *what)
{
  if (!pools.count(pool)) fail("%s: there is no such memory pool", what);
}

} // namespace

int emulator::fill_byte()
{
  static const int byte = (int)option("EMULATOR_FILL", 0x5a, 0, 255);

  return byte;
}

void emulator::set_error(cudaError_t error)
{
  last_error = error;
}

void emulator::check_stream(cudaStream_t stream, const char *what)
{
  if (stream && !streams.count(stream)) fail("%s: there is no such stream", what);
}

size_t emulator::dynamic_limit(const void *kernel)
{
  const auto found = dynamic_limits.find(kernel);

  return found == dynamic_limits.end() ? SHARED_DEFAULT : (size_t)found->second;
}

cudaError_t emulatorFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
  attributes->maxDynamicSharedSizeBytes = (int)dynamic_limit(kernel);
  attributes->ptxVersion                = 90;
  return cudaSuccess;
}

cudaError_t emulatorFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) return cudaSuccess;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || (size_t)value > SHARED_OPTIN) return result(cudaErrorInvalidValue);
  dynamic_limits[kernel] = value;
  return cudaSuccess;
}

extern "C" {

cudaError_t cudaGetDeviceCount(int *count)
{
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
  if (device || (attribute != cudaDevAttrMaxSharedMemoryPerBlockOptin && attribute != cudaDevAttrMultiProcessorCount)) return result(cudaErrorInvalidValue);
  *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : (int)SHARED_OPTIN; /* few, so that small grids have more blocks */
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
  return device ? result(cudaErrorInvalidDevice) : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
  if (device) return result(cudaErrorInvalidDevice);
  (void)snprintf(p->name, sizeof(p->name), "emulator");
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
  const cudaError_t error = last_error;

  last_error = cudaSuccess;
  return error;
}

const char *cudaGetErrorName(cudaError_t error)
{
#define NAME(e) \
  case e: \
    return #e
  switch (error) {
    NAME(cudaSuccess);
    NAME(cudaErrorInvalidValue);
    NAME(cudaErrorMemoryAllocation);
    NAME(cudaErrorInvalidConfiguration);
    NAME(cudaErrorInsufficientDriver);
    NAME(cudaErrorNoDevice);
    NAME(cudaErrorInvalidDevice);
    NAME(cudaErrorNotSupported);
  }
#undef NAME
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
  return error == cudaSuccess ? "no error" : error == cudaErrorMemoryAllocation ? "out of memory" : cudaGetErrorName(error);
}

/* Streams and events. The number of a stream is never given again. */
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
  static unsigned long long next = 2; /* 1 is the default stream's */

  *stream       = new EmulatedStream;
  (*stream)->id = next++;
  streams.insert(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
  if (!streams.erase(stream)) fail("cudaStreamDestroy: there is no such stream");
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
  trace("waits");
  check_stream(stream, "cudaStreamSynchronize");
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
  check_stream(stream, "cudaStreamGetId");
  *id = stream ? stream->id : 1;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
  check_stream(stream, "cudaStreamWaitEvent");
  check_event(event, "cudaStreamWaitEvent");
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
  *event = new EmulatedEvent();
  events.insert(*event);
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
  if (!events.erase(event)) fail("cudaEventDestroy: there is no such event");
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
  check_event(event, "cudaEventRecord");
  check_stream(stream, "cudaEventRecord");
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
  check_event(event, "cudaEventSynchronize");
  return cudaSuccess;
}

/* Memory. */
cudaError_t cudaMallocHost(void **p, size_t bytes)
{
  static long long calls = 0;
  const long long  most  = option("EMULATOR_PINNED", -1, 0, 1ll << 60); /* calls that succeed */

  *p = nullptr;
  if (most >= 0 && calls >= most) return result(cudaErrorMemoryAllocation);
  calls++;
  if (posix_memalign(p, ALIGNMENT, bytes ? bytes : 1)) return result(cudaErrorMemoryAllocation);
  memset(*p, fill_byte(), bytes);
  pinned.insert(*p);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
  if (!p) return cudaSuccess;
  if (!pinned.erase(p)) fail("cudaFreeHost(%p): there is no such allocation", p);
  free(p);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
  return allocate(p, bytes, nullptr);
}

cudaError_t cudaFree(void *p)
{
  if (p) release(p, "cudaFree");
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  *total     = device_bytes();
  *available = taken < *total ? *total - taken : 0;
  return cudaSuccess;
}

/* A pool reserves what is used, and keeps nothing. */
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
  if (props->allocType != cudaMemAllocationTypePinned || props->location.type != cudaMemLocationTypeDevice || props->location.id)
    return result(cudaErrorInvalidValue);
  *pool = new EmulatedMemPool();
  pools.insert(*pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
  if (!pools.erase(pool)) fail("cudaMemPoolDestroy: there is no such memory pool");
  if (pool->used) fail("cudaMemPoolDestroy: %zu bytes of the pool have not been freed", pool->used);
  delete pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
  check_pool(pool, "cudaMemPoolSetAttribute");
  switch (attribute) {
  case cudaMemPoolAttrReleaseThreshold:
    pool->threshold = *(uint64_t *)value;
    return cudaSuccess;
  case cudaMemPoolAttrUsedMemHigh:
    if (*(uint64_t *)value) return result(cudaErrorInvalidValue); /* a mark can be reset alone */
    pool->high = pool->used;
    return cudaSuccess;
  default:
    return result(cudaErrorInvalidValue);
  }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
  check_pool(pool, "cudaMemPoolGetAttribute");
  switch (attribute) {
  case cudaMemPoolAttrReleaseThreshold:
    *(uint64_t *)value = pool->threshold;
    return cudaSuccess;
  case cudaMemPoolAttrReservedMemCurrent:
  case cudaMemPoolAttrUsedMemCurrent:
    *(uint64_t *)value = pool->used;
    return cudaSuccess;
  case cudaMemPoolAttrUsedMemHigh:
    *(uint64_t *)value = pool->high;
    return cudaSuccess;
  default:
    return result(cudaErrorInvalidValue);
  }
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t)
{
  check_pool(pool, "cudaMemPoolTrimTo");
  return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **p, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
  check_pool(pool, "cudaMallocFromPoolAsync");
  check_stream(stream, "cudaMallocFromPoolAsync");
  return allocate(p, bytes, pool);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
  check_stream(stream, "cudaFreeAsync");
  release(p, "cudaFreeAsync");
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
  return copy(to, from, bytes, kind, "cudaMemcpy");
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
  check_stream(stream, "cudaMemcpyAsync");
  return copy(to, from, bytes, kind, "cudaMemcpyAsync");
}

cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream)
{
  trace("fills %zu bytes", bytes);
  check_stream(stream, "cudaMemsetAsync");
  check_range(p, bytes, true, "cudaMemsetAsync");
  if (bytes) memset(p, byte, bytes);
  return cudaSuccess;
}

} // extern "C"
