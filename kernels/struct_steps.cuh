/*
   What kernels along the lines of a grid have in common.
*/
#ifndef SYNCILU_STRUCT_STEPS_CUH
#define SYNCILU_STRUCT_STEPS_CUH

#include "struct.cuh"
#include "async.cuh"
#include "triangular.cuh"
#include "pivot.cuh"

namespace syncilu
{

/*
   What a row is: the sum itself, times the reciprocal pivot, or the reciprocal of the sum, which is the
   pivot. SPLIT is SCALED with the right-hand side of Eisenstat's trick (eisenstat.h), which is made of v,
   of the x of U, which is w, and of the diagonal a of the matrix: times the reciprocal pivot s it is v + (a
   s - 2) w. What leaves is y = (w + x) / s.
*/
constexpr int PLAIN = 0, SCALED = 1, PIVOTS = 2, SPLIT = 3;

constexpr int STEPS = SYNCILU_STRUCT_REACH;

/* The same of a solve for WHAT. */
template <int WHAT>
__host__ __device__ __forceinline__ bool is_second(const SyncILUDeviceSolve &s)
{
  return WHAT == SPLIT || (WHAT != PIVOTS && is_second(s));
}

/* Whether it is the first of two solves. */
template <int WHAT>
__device__ __forceinline__ bool is_first(const SyncILUDeviceSolve &s)
{
  return WHAT != PIVOTS && !is_second<WHAT>(s);
}

/* Whether right-hand sides have the numbering of the matrix, and are gathered. */
template <int WHAT>
__device__ __forceinline__ bool gathers(const SyncILUDeviceSolve &s)
{
  return WHAT == SPLIT || is_first<WHAT>(s);
}

/*
   A buffer of several in turn, and the parity of the present phase of its barriers, which is 0 in the first
   round that begins with buffer `first`.
*/
struct Turn {
  int buffer = 0, parity = 0, first = 0;

  __device__ __forceinline__ Turn next(int stages) const
  {
    Turn t = *this;

    t.buffer = buffer + 1 == stages ? 0 : buffer + 1;
    t.parity = t.buffer == first ? parity ^ 1 : parity;
    return t;
  }
};

/* A warp arrives, with what all its lanes did before. */
__device__ __forceinline__ void arrive(Barrier *b)
{
  __syncwarp();
  if (!(threadIdx.x & 31)) barrier_arrive(b);
}

/*
   A usual store, if `on`: with a predicate, since eight branches take a warp as long as what it does besides.
*/
__device__ __forceinline__ void store_if(bool on, double *p, double v)
{
  asm volatile("{\n.reg .pred there;\nsetp.ne.s32 there, %2, 0;\n@there st.global.f64 [%0], %1;\n}" ::"l"(p), "d"(v), "r"((int)on) : "memory");
}

/* What a factorization has besides. */
struct Judge {
  SyncILUDevicePivoting piv;
  double               *pivot;
  SyncILUDeviceStatus  *status;
};

} // namespace syncilu

#endif
