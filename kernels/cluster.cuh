/*
   Clusters of thread blocks, which share their shared memory (compute capability 9.0): their PTX by name.
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

/* The same as an address of what follows. */
__device__ __forceinline__ unsigned in_block_address(const void *p, unsigned rank)
{
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(p)), "r"(rank));
  return there;
}

/*
   A number for another block, if `on`, which the present phase of a barrier of that block counts by its
   bytes.
*/
__device__ __forceinline__ void push_if(bool on, unsigned to, double v, unsigned barrier)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %3, 0;\n@there st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f64 [%0], %1, [%2];\n}" ::
                 "r"(to),
               "d"(v), "r"(barrier), "r"((int)on)
               : "memory");
}

/*
   One arrival at a barrier of another block, that values have been read here. It releases nothing to the
   other block: that would wait for all stores on their way.
*/
__device__ __forceinline__ void barrier_arrive_there(unsigned barrier)
{
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

} // namespace syncilu

#endif
