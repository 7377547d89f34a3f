/*
   Clusters of thread blocks, which share their shared memory, and launches before the end of the kernel
   before (compute capability 9.0): their PTX by name.
*/
#ifndef SYNCILU_CLUSTER_CUH
#define SYNCILU_CLUSTER_CUH

#include "memory_order.cuh"

namespace syncilu
{

/* The number of this block in its cluster. */
__device__ __forceinline__ unsigned cluster_rank()
{
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/* All threads of the cluster meet, and see what the others have written. */
__device__ __forceinline__ void cluster_sync()
{
  __syncwarp(); /* the barrier takes whole warps */
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/* What p names in this block's shared memory, in that of another block of the cluster. */
template <typename T>
__device__ __forceinline__ T *in_block(T *p, unsigned rank)
{
  unsigned long long there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
  return (T *)there;
}

/* The same, as an address for push_if() and barrier_arrive_there(). */
__device__ __forceinline__ unsigned in_block_address(const void *p, unsigned rank)
{
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(p)), "r"(rank));
  return there;
}

/* Sends a number to another block, if `on`. The present phase of a barrier of that block counts its bytes. */
__device__ __forceinline__ void push_if(bool on, unsigned to, double v, unsigned barrier)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %3, 0;\n@there st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];\n}" ::
                 "r"(to),
               "d"(v), "r"(barrier), "r"((int)on)
               : "memory");
}

/*
   One arrival at a barrier of another block, to say that something has been read here. What this block has
   written is not released to the other one: that would wait for all stores that are under way.
*/
__device__ __forceinline__ void barrier_arrive_there(unsigned barrier)
{
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/*
   A launch without attributes. The array must have room for those that the functions below add, and must be
   there until the launch.
*/
inline cudaLaunchConfig_t launch_config(cudaLaunchAttribute *attributes, int blocks, int threads, size_t shared, cudaStream_t stream)
{
  cudaLaunchConfig_t config = {};

  config.gridDim          = dim3((unsigned)blocks);
  config.blockDim         = dim3((unsigned)threads);
  config.dynamicSmemBytes = shared;
  config.stream           = stream;
  config.attrs            = attributes;
  return config;
}

/* A launch of so many clusters, each of so many blocks; the first attribute says it. */
inline cudaLaunchConfig_t cluster_launch(cudaLaunchAttribute *attributes, int blocks, int clusters, int threads, size_t shared, cudaStream_t stream)
{
  cudaLaunchConfig_t config = launch_config(attributes, blocks * clusters, threads, shared, stream);

  attributes->id               = cudaLaunchAttributeClusterDimension;
  attributes->val.clusterDim.x = (unsigned)blocks;
  attributes->val.clusterDim.y = 1;
  attributes->val.clusterDim.z = 1;
  config.numAttrs              = 1;
  return config;
}

/*
   The device deals the blocks of a cluster to multiprocessors by load. The array of attributes must have
   room for one more. On an H200, solves with L and U in ms, with this and without: 7 points, 64^3, 0.048
   and 0.048, 100^3 0.097 and 0.102, 200^3 0.378 and 0.402, 512^3 4.95 and 5.13; 5 points, 4000^2, 0.873 and
   0.862. The policy that spreads the blocks of a cluster changes nothing.
*/
inline void launch_balanced(cudaLaunchConfig_t *config)
{
  cudaLaunchAttribute *attribute = config->attrs + config->numAttrs++;

  attribute->id                                    = cudaLaunchAttributeClusterSchedulingPolicyPreference;
  attribute->val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicyLoadBalancing;
}

/*
   The kernel may begin as soon as all blocks of the one before it in the stream have called launch_next() or
   ended. The array of attributes must have room for one more.
*/
inline void launch_early(cudaLaunchConfig_t *config)
{
  cudaLaunchAttribute *attribute = config->attrs + config->numAttrs++;

  attribute->id                                         = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute->val.programmaticStreamSerializationAllowed = 1;
}

__device__ __forceinline__ void launch_next()
{
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/*
   Waits for the end of the kernel before, and sees what it has written, which must not be read earlier. Without
   launch_early() that kernel has ended.
*/
__device__ __forceinline__ void wait_previous()
{
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/*
   To be called by one thread of each block. The first block zeroes *reset, unless reset is NULL: the counter
   that the next kernel takes its tickets from. `launches`: the next kernel may be launched.

   The next kernel takes tickets before wait_previous(). PTX promises nothing for that, but the kernel is
   launched after the fence, and atomic operations find what is in device memory.
*/
__device__ __forceinline__ void begin_next(bool first, unsigned long long *reset, bool launches)
{
  if (first && reset) {
    *reset = 0;
    fence();
  }
  if (launches) launch_next();
}

/*
   Whether the device has such clusters; allows the kernel more than 8 blocks and 48 KB. To be asked before
   the first launch.
*/
template <typename... Parameters>
cudaError_t cluster_fits(void (*kernel)(Parameters...), const cudaLaunchConfig_t &config, int *fits)
{
  cudaFuncAttributes attributes = {};
  int                clusters   = 0;
  cudaError_t        err        = cudaFuncGetAttributes(&attributes, kernel);

  *fits = 0;
  /* compiled for a device without clusters, the kernel does nothing */
  if (err == cudaSuccess && attributes.ptxVersion < 90) return cudaSuccess;
  if (err == cudaSuccess) err = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (err == cudaSuccess) err = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)config.dynamicSmemBytes);
  if (err == cudaSuccess) err = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
  if (err != cudaSuccess) (void)cudaGetLastError();
  if (err == cudaErrorMemoryAllocation) return err; /* other errors are how a device says that it has none */
  *fits = err == cudaSuccess && clusters > 0;
  return cudaSuccess;
}

} // namespace syncilu

#endif
