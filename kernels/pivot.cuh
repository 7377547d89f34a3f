/*
   How pivots are judged. The host's backend has the same rule (SyncILUJudgePivot()).
*/
#ifndef SYNCILU_PIVOT_CUH
#define SYNCILU_PIVOT_CUH

#include "types.h"
#include "syncfree.cuh"

namespace syncilu
{

/* What all types but MAT_SHIFT_INBLOCKS add to the diagonal. */
__device__ __forceinline__ double diagonal_shift(const SyncILUDevicePivoting &p)
{
  return p.type == SYNCILU_PIVOT_SHIFT ? 0.0 : p.amount;
}

/* Whether a pivot is one to which MAT_SHIFT_INBLOCKS adds. */
template <typename V>
__device__ __forceinline__ bool is_tiny(const SyncILUDevicePivoting &p, V pivot)
{
  return p.type == SYNCILU_PIVOT_SHIFT && fabs(pivot) <= p.zeropivot;
}

template <typename V>
__device__ __forceinline__ V shifted_pivot(const SyncILUDevicePivoting &p, V pivot)
{
  return is_tiny(p, pivot) ? pivot + V(p.amount) : pivot;
}

/* Neither zero nor subnormal, infinite or undefined; found without arithmetic. */
__device__ __forceinline__ bool is_normal(double v)
{
  return ((unsigned)__double2hiint(v) & 0x7fffffffu) - 0x00100000u < 0x7fe00000u;
}

/* Whether d is so far from the ends of the range of numbers that its reciprocal() is one. */
__device__ __forceinline__ bool has_reciprocal(double d)
{
  const int exponent = __double2hiint(d) >> 20 & 0x7ff;

  return exponent > 32 && exponent < 2014;
}

/*
   1 / d where rows wait for it: a division takes 0.2 us, and has a branch before its result, so that what
   else a warp does meanwhile would have to wait. From one that has 20 bits right a step of third order (e = 1
   - d r, r + r (e + e^2)) makes one with all. Where d or 1 / d is not normal, neither is the result.
*/
__device__ __forceinline__ double reciprocal(double d)
{
  double r;

  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
  const double e = fma(-d, r, 1.0);
  return fma(r, fma(e, e, e), r);
}

/* The same of any d. */
__device__ __forceinline__ double reciprocal_of_any(double d)
{
  const double r = reciprocal(d);

  return is_normal(r) ? r : 1.0 / d;
}

/* The reciprocal of a pivot with its shift. */
__device__ __forceinline__ double reciprocal_pivot(const SyncILUDevicePivoting &p, double pivot)
{
  return reciprocal_of_any(p.type == SYNCILU_PIVOT_SHIFT ? shifted_pivot(p, pivot) : pivot);
}

/*
   The same within an inode. There a tiny pivot that stays makes large numbers that cancel, so that the last
   bit decides on the result: it is the host's.
*/
__device__ __forceinline__ double reciprocal_in_inode(const SyncILUDevicePivoting &p, double pivot)
{
  return p.type == SYNCILU_PIVOT_SHIFT ? 1.0 / shifted_pivot(p, pivot) : reciprocal_pivot(p, pivot);
}

/*
   Judges a pivot that need not be compared with its row. Returns it, with the shift added where that is asked
   for and the pivot is tiny.
*/
template <typename V>
__device__ __forceinline__ V judge(const SyncILUDevicePivoting &p, int row, V pivot, SyncILUDeviceStatus *status)
{
  const V    result = shifted_pivot(p, pivot);
  const bool tiny   = is_tiny(p, pivot);

  if (tiny) atomicAdd(&status->shifted, 1);
  if ((p.type == SYNCILU_PIVOT_REJECT && fabs(pivot) <= p.zeropivot) || (tiny && result == V(0)) || !isfinite(result)) report(&status->row, row);
  return result;
}

} // namespace syncilu

#endif
