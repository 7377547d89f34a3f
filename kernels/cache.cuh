/*
   What the second-level cache had better keep: PTX by name. Numbers that are stored, and loaded soon after, come
   back from memory if more than the cache holds goes through it meanwhile. Those stored by evict_last() are the last
   ones to leave it. Once they have been loaded they leave it like all others: of 40 MB that were stored so and
   loaded nothing is in the way of 30 MB that are loaded again and again afterwards, on an H200. If they are not
   loaded, the second turn of these reads 23 MB from memory in place of 7, the third one 3 and the fourth 0.3.
*/
#ifndef SYNCILU_CACHE_CUH
#define SYNCILU_CACHE_CUH

namespace syncilu
{

typedef unsigned long long Eviction;

__device__ __forceinline__ Eviction evict_last()
{
  Eviction e;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(e));
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

} // namespace syncilu

#endif
