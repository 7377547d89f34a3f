/*
   Eviction priorities of the second-level cache: PTX by name. Numbers that are stored and soon loaded come
   back from memory, if the cache has taken in more than it holds meanwhile. Numbers that are stored with
   evict_last() leave the cache after all others.

   A load without a priority takes it away again. On an H200, 40 MB were stored with evict_last() and loaded
   once. Then 30 MB of other numbers were loaded several times: the second time 7 MB of them came from
   memory, as after plain stores. Without that load 23 MB did, and the fourth time 0.3 MB.

   What is copied with evict_first() leaves the cache before all others.
*/
#ifndef SYNCILU_CACHE_CUH
#define SYNCILU_CACHE_CUH

#include "memory_order.cuh"

namespace syncilu
{

__device__ __forceinline__ Eviction evict_last()
{
  Eviction e;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(e));
  return e;
}

__device__ __forceinline__ Eviction evict_first()
{
  Eviction e;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(e));
  return e;
}

__device__ __forceinline__ void store_by(Eviction e, double *p, double v)
{
  asm volatile("st.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(p), "d"(v), "l"(e) : "memory");
}

/* Two neighbours, 16-byte aligned. */
__device__ __forceinline__ void store_pair_by(Eviction e, double *p, double v, double w)
{
  asm volatile("st.global.L2::cache_hint.v2.f64 [%0], {%1, %2}, %3;" ::"l"(p), "d"(v), "d"(w), "l"(e) : "memory");
}

/* Copies like copy_number() and copy_piece() of async.cuh. */
__device__ __forceinline__ void copy_number_by(Eviction e, double *to, const double *from)
{
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 8, %2;" ::"r"(shared_address(to)), "l"(from), "l"(e) : "memory");
}

__device__ __forceinline__ void copy_piece_by(Eviction e, double *to, const double *from)
{
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "l"(e) : "memory");
}

} // namespace syncilu

#endif
