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
