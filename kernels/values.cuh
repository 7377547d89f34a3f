/*
   Patterns, values on them, and how pivots are judged.
*/
#ifndef SYNCILU_VALUES_CUH
#define SYNCILU_VALUES_CUH

#include "syncilu_kernels.h"
#include "syncfree.cuh"

/* What most launchers do. */
#define LAUNCH(kernel, threads, stream, ...) \
  do { \
    if ((threads) > 0) kernel<<<blocks_for(threads, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(__VA_ARGS__); \
    return cudaGetLastError(); \
  } while (0)

/* Those of kernels that add up or compare into a few counters, once a warp or block. */
#define LAUNCH_COUNTING(kernel, threads, stream, ...) \
  do { \
    if ((threads) > 0) kernel<<<few_blocks_for(threads), SYNCILU_BLOCK, 0, stream>>>(__VA_ARGS__); \
    return cudaGetLastError(); \
  } while (0)

namespace syncilu
{

/* Lanes that look through a row where none of the row's own number is at hand. */
constexpr int ROW_LANES_LOG = 3, ROW_LANES = 1 << ROW_LANES_LOG;

/* Parts of a workspace begin at multiples of this. */
inline size_t round_up(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

inline unsigned blocks_for(long long threads, int block)
{
  return (unsigned)((threads + block - 1) / block);
}

/* So few of them that they do not wait for each other at counters or flags which all of them use. */
inline unsigned few_blocks_for(long long threads)
{
  const unsigned blocks = blocks_for(threads, SYNCILU_BLOCK);

  return blocks < SYNCILU_BLOCKS_COUNTING ? blocks : SYNCILU_BLOCKS_COUNTING;
}

__device__ __forceinline__ long long global_thread()
{
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ long long all_threads()
{
  return (long long)gridDim.x * blockDim.x;
}

/* Whether somebody has raised a flag, for loops that ask each time they go round: memory itself every fourth time, since what the cache has may be as old as the kernel. */
__device__ __forceinline__ bool raised(const int *flag, int time)
{
  return time % 4 == 3 ? load_relaxed(flag) : load_stale(flag);
}

/* The rows with more than SYNCILU_ROW_LONG entries of L, which would take a few lanes too long: body(row) for each, by a whole block. */
template <typename Body>
__device__ __forceinline__ void each_long_row(const SyncILUDevicePattern &p, Body body)
{
  for (long long first = (long long)blockIdx.x * blockDim.x; first < p.n; first += all_threads()) {
    const long long i = first + threadIdx.x;

    if (!__syncthreads_or(i < p.n && p.diag[i] - p.ptr[i] > SYNCILU_ROW_LONG)) continue;
    for (int r = 0; r < (int)blockDim.x && first + r < p.n; r++) {
      const int k = (int)first + r;

      if (p.diag[k] - p.ptr[k] > SYNCILU_ROW_LONG) body(k);
    }
  }
}

/* What a lane has of the slice of its warp: entries first, first + step, ... of a row, at at, at + 32, ... in ELL, width of them with the padding; no row where a slice is not full. */
struct EllLane {
  int    row, first, step, width;
  bool   full;
  size_t at;
};

__device__ __forceinline__ EllLane ell_lane(const SyncILUDeviceEll &ell)
{
  const long long s    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;
  EllLane         l    = {0, 0, 0, 0, false, 0};

  if (s < ell.slices) {
    const SyncILUSlice d = ell.slice[s];

    l.step  = 1 << (d.shape & 7);
    l.first = lane & (l.step - 1);
    l.width = d.width;
    l.full  = lane >> (d.shape & 7) < d.shape >> 3;
    l.row   = l.full ? ell.order[d.first + (lane >> (d.shape & 7))] : 0;
    l.at    = (size_t)d.offset * 32 + lane;
  }
  return l;
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

/* Whether a pivot is to be mended by adding to it. */
template <typename V>
__device__ __forceinline__ bool is_tiny(const SyncILUDevicePivoting &p, V pivot)
{
  return p.type == SYNCILU_PIVOT_MEND && fabs(pivot) <= p.zeropivot;
}

template <typename V>
__device__ __forceinline__ V mended(const SyncILUDevicePivoting &p, V pivot)
{
  return is_tiny(p, pivot) ? pivot + V(p.amount) : pivot;
}

/* Judges, as the host does, a pivot that need not be compared with its row; returns it, mended where that is asked for. */
template <typename V>
__device__ __forceinline__ V judge(const SyncILUDevicePivoting &p, int row, V pivot, SyncILUDeviceStatus *status)
{
  const V    result = mended(p, pivot);
  const bool tiny   = is_tiny(p, pivot);

  if (tiny) atomicAdd(&status->shifted, 1);
  if ((p.type == SYNCILU_PIVOT_REJECT && fabs(pivot) <= p.zeropivot) || (tiny && result == V(0)) || !isfinite(result)) report(&status->row, row);
  return result;
}

} // namespace syncilu

#endif
