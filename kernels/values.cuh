/*
   Patterns, values on them, and how pivots are judged.
*/
#ifndef SYNCILU_VALUES_CUH
#define SYNCILU_VALUES_CUH

#include "syncilu_kernels.h"
#include "syncfree.cuh"

namespace syncilu
{

inline unsigned blocks_for(long long threads, int block)
{
  return (unsigned)((threads + block - 1) / block);
}

__device__ __forceinline__ long long global_thread()
{
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Position of column j among the entries begin .. end - 1, -1 if it is not there. */
__device__ __forceinline__ int search(const int *__restrict__ col, int begin, int end, int j)
{
  int lo = begin, hi = end;

  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;

    if (col[mid] < j) lo = mid + 1;
    else hi = mid;
  }
  return lo < end && col[lo] == j ? lo : -1;
}

template <typename V>
__device__ __forceinline__ V value(const SyncILUDeviceValues &v, int e)
{
  if (v.map) e = v.map[e];
  return e < 0 ? V(0) : ((const V *)v.a)[e];
}

/* What all types but MAT_SHIFT_INBLOCKS add to the diagonal. */
__device__ __forceinline__ double diagonal_shift(const SyncILUDevicePivoting &p)
{
  return p.type == SYNCILU_PIVOT_MEND ? 0.0 : p.amount;
}

/* Judges, as the host does, a pivot that need not be compared with its row; returns it, mended where that is asked for. */
template <typename V>
__device__ __forceinline__ V judge(const SyncILUDevicePivoting &p, int row, V pivot, SyncILUDeviceStatus *status)
{
  bool bad = false;

  if (p.type == SYNCILU_PIVOT_REJECT) bad = fabs(pivot) <= p.zeropivot;
  if (p.type == SYNCILU_PIVOT_MEND && fabs(pivot) <= p.zeropivot) {
    pivot += p.amount;
    atomicAdd(&status->shifted, 1);
    bad = pivot == V(0);
  }
  if (bad || !isfinite(pivot)) report(&status->row, row);
  return pivot;
}

} // namespace syncilu

#endif
