/*
   What the second-level cache keeps: PTX by name. Numbers that are stored, and loaded once soon after, come back
   from memory if more than the cache holds goes through it meanwhile. Stored by evict_last() they stay there. Who
   loads them does so by evict_normal(), after which they make room for others again.
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

__device__ __forceinline__ Eviction evict_normal()
{
  Eviction e;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(e));
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

__device__ __forceinline__ double load_by(Eviction e, const double *p)
{
  double v;
  asm volatile("ld.global.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(v) : "l"(p), "l"(e) : "memory");
  return v;
}

__device__ __forceinline__ void load_pair_by(Eviction e, const double *p, double *v)
{
  asm volatile("ld.global.L2::cache_hint.v2.f64 {%0, %1}, [%2], %3;" : "=d"(v[0]), "=d"(v[1]) : "l"(p), "l"(e) : "memory");
}

} // namespace syncilu

#endif
