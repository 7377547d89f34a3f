/*
   Clusters of thread blocks, which share their shared memory (compute capability 9.0): their PTX by name.
*/
#ifndef SYNCILU_CLUSTER_CUH
#define SYNCILU_CLUSTER_CUH

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

} // namespace syncilu

#endif
