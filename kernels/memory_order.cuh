/*
   Memory order by name. Everything that one thread publishes for another goes through these operations, but
   for what atomics compare or count.

   Values that are their own flag need no order among themselves: whoever sees the value has all that was
   published. So they are stored and polled relaxed, at the scope of the device, where a hop takes half of
   what release and acquire cost (250 against 480 ns on an H200). The few counters that announce other memory
   are released and acquired, and so is the first pivot of an inode where it announces blocks of U.
*/
#ifndef SYNCILU_MEMORY_ORDER_CUH
#define SYNCILU_MEMORY_ORDER_CUH

namespace syncilu
{

__device__ __forceinline__ double load_relaxed(const double *p)
{
  double v;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
  return v;
}

__device__ __forceinline__ int load_relaxed(const int *p)
{
  int v;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

/*
   A flag or bound that changes in one sense only and whose old value costs no more than work: it may come
   from the multiprocessor's own cache. Thousands of warps that ask memory for it hold each other up.
*/
__device__ __forceinline__ int load_stale(const int *p)
{
  int v;
  asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

/* Two neighbours, 16-byte aligned: each is a value of its own, the pair is not one. */
__device__ __forceinline__ void load_relaxed_pair(const double *p, double *v)
{
  asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v[0]), "=d"(v[1]) : "l"(p) : "memory");
}

__device__ __forceinline__ void store_relaxed(double *p, double v)
{
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}

__device__ __forceinline__ void store_relaxed_pair(double *p, double v, double w)
{
  asm volatile("st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(v), "d"(w) : "memory");
}

/* The same with a priority of eviction (cache.cuh). */
typedef unsigned long long Eviction;

__device__ __forceinline__ void store_relaxed_by(Eviction e, double *p, double v)
{
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.f64 [%0], %1, %2;" ::"l"(p), "d"(v), "l"(e) : "memory");
}

__device__ __forceinline__ void store_relaxed_pair_by(Eviction e, double *p, double v, double w)
{
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.v2.f64 [%0], {%1, %2}, %3;" ::"l"(p), "d"(v), "d"(w), "l"(e) : "memory");
}

__device__ __forceinline__ void store_relaxed(int *p, int v)
{
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

/* The same if `on`; else v stays, and nothing is stored. With predicates, which wait for nobody. */
__device__ __forceinline__ void load_relaxed_if(bool on, const double *p, double *v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there ld.relaxed.gpu.global.f64 %0, [%1];\n}" : "+d"(*v) : "l"(p), "r"((int)on) : "memory");
}

__device__ __forceinline__ void store_relaxed_if(bool on, double *p, double v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there st.relaxed.gpu.global.f64 [%0], %1;\n}" ::"l"(p), "d"(v), "r"((int)on) : "memory");
}

__device__ __forceinline__ int load_acquire(const int *p)
{
  int v;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

__device__ __forceinline__ double load_acquire(const double *p)
{
  double v;

  asm volatile("ld.acquire.gpu.global.f64 %0, [%1];" : "=d"(v) : "l"(p) : "memory");
  return v;
}

/* Announces all that this thread did before. */
__device__ __forceinline__ void store_release(int *p, int v)
{
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

__device__ __forceinline__ void store_release(double *p, double v)
{
  asm volatile("st.release.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(v) : "memory");
}

/* What this thread did before comes before what it does afterwards, for whoever acquires that. */
__device__ __forceinline__ void fence()
{
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* Adds so many to what announces all that this thread did before; returns what was there. */
__device__ __forceinline__ int add_release(int *p, int v)
{
  int old;
  asm volatile("atom.release.gpu.global.add.s32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(v) : "memory");
  return old;
}

__device__ __forceinline__ unsigned shared_address(const void *p)
{
  return (unsigned)__cvta_generic_to_shared(p);
}

/*
   Relaxed loads and stores within a block, in shared memory: as atomic operations, which cost no more there,
   and which tools that look for races know as such.
*/
__device__ __forceinline__ int load_relaxed_shared(int *p)
{
  int v;
  asm volatile("atom.relaxed.cta.shared.or.b32 %0, [%1], 0;" : "=r"(v) : "r"(shared_address(p)) : "memory");
  return v;
}

/* The exchange of no bits for no bits, since there is no other atomic operation on 64 bits that only looks. */
__device__ __forceinline__ double load_relaxed_shared(double *p)
{
  unsigned long long v;
  asm volatile("atom.relaxed.cta.shared.cas.b64 %0, [%1], 0, 0;" : "=l"(v) : "r"(shared_address(p)) : "memory");
  return __longlong_as_double((long long)v);
}

__device__ __forceinline__ void store_relaxed_shared(double *p, double v)
{
  asm volatile("{\n.reg .b64 old;\natom.relaxed.cta.shared.exch.b64 old, [%0], %1;\n}" ::"r"(shared_address(p)), "l"(__double_as_longlong(v)) : "memory");
}

__device__ __forceinline__ void store_relaxed_shared(int *p, int v)
{
  asm volatile("{\n.reg .b32 old;\natom.relaxed.cta.shared.exch.b32 old, [%0], %1;\n}" ::"r"(shared_address(p)), "r"(v) : "memory");
}

/*
   Values that are their own flags, in the shared memory of this block or another of the cluster, if `on`.
   They may come from all blocks of the cluster. With predicates: where a value is passed on from row to row,
   a branch takes as long as the way of the value. Not as atomic operations, which take longer.
*/
__device__ __forceinline__ void load_shared_if(bool on, unsigned p, double *v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there ld.relaxed.cluster.shared.f64 %0, [%1];\n}"
               : "+d"(*v)
               : "r"(p), "r"((int)on)
               : "memory");
}

__device__ __forceinline__ void store_shared_if(bool on, unsigned p, double v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there st.relaxed.cluster.shared.f64 [%0], %1;\n}" ::"r"(p), "d"(v), "r"((int)on) : "memory");
}

__device__ __forceinline__ void store_cluster_if(bool on, double *p, double v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there st.relaxed.cluster.f64 [%0], %1;\n}" ::"l"(p), "d"(v), "r"((int)on) : "memory");
}

/* Likewise between warps of a block. */
__device__ __forceinline__ void load_block_if(bool on, const double *p, double *v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there ld.relaxed.cta.shared.f64 %0, [%1];\n}"
               : "+d"(*v)
               : "r"(shared_address(p)), "r"((int)on)
               : "memory");
}

__device__ __forceinline__ void store_block_if(bool on, double *p, double v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there st.relaxed.cta.shared.f64 [%0], %1;\n}" ::"r"(shared_address(p)), "d"(v), "r"((int)on)
               : "memory");
}

/* Numbers that announce what a thread did before: to its own block, then to any block of the cluster. */
__device__ __forceinline__ void store_release_shared(int *p, int v)
{
  asm volatile("st.release.cta.shared.s32 [%0], %1;" ::"r"(shared_address(p)), "r"(v) : "memory");
}

__device__ __forceinline__ int load_acquire_shared(const int *p)
{
  int v;
  asm volatile("ld.acquire.cta.shared.s32 %0, [%1];" : "=r"(v) : "r"(shared_address(p)) : "memory");
  return v;
}

__device__ __forceinline__ void store_release_cluster(int *p, int v)
{
  asm volatile("st.release.cluster.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

__device__ __forceinline__ int load_acquire_cluster(const int *p)
{
  int v;
  asm volatile("ld.acquire.cluster.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

} // namespace syncilu

#endif
