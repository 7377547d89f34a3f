/*
   Where the value of an entry stands: in the matrix, in sliced ELL, on the pattern.
*/
#ifndef SYNCILU_ENTRIES_CUH
#define SYNCILU_ENTRIES_CUH

#include "launch.cuh"

namespace syncilu
{

/*
   Entry w of a lane of a slice in sliced ELL. The lanes of a slice are neighbours in memory, so that a warp
   loads whole lines.
*/
__device__ __forceinline__ size_t slice_entry(const SyncILUSlice &slice, int lane, int w)
{
  return ((size_t)slice.offset + w) * 32 + lane;
}

/* Lanes that a packed slice has in memory; a part of a long row has all. */
__device__ __forceinline__ int packed_lanes(const SyncILUSlice &slice)
{
  const int lanes = (slice.shape & 7) >= SYNCILU_TASK_ROW ? 32 : (slice.shape >> 3) << (slice.shape & 7);

  return (lanes + SYNCILU_PACK - 1) / SYNCILU_PACK * SYNCILU_PACK;
}

/* Entry w of a lane of a packed slice. */
__device__ __forceinline__ size_t packed_entry(const SyncILUSlice &slice, int lane, int w)
{
  return (size_t)slice.offset * SYNCILU_PACK + (size_t)w * packed_lanes(slice) + lane;
}

template <bool PACKED>
__device__ __forceinline__ size_t entry_of(const SyncILUSlice &slice, int lane, int w)
{
  return PACKED ? packed_entry(slice, lane, w) : slice_entry(slice, lane, w);
}

/* The largest and the sum of what the lanes of a row have, in each of them. */
__device__ __forceinline__ int max_of_row(int v, int lanes)
{
  for (int o = lanes >> 1; o; o >>= 1) v = max(v, __shfl_xor_sync(FULL, v, o));
  return v;
}

template <typename V>
__device__ __forceinline__ V sum_of_row(V v, int lanes)
{
  for (int o = lanes >> 1; o; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  return v;
}

/*
   The share of a lane in the slice of its warp: entries first, first + step, ... of a row, width of them with
   the padding, which stand at entry(0), entry(1), ... in sliced ELL. full is false where the slice has no row
   for the lane.

   Blocks with blockIdx.y take further parts of slices that are wide, of which a long row has one: part of the
   width from `begin` on.
*/
struct EllLane {
  int          row, first, step, width, begin;
  bool         full, packed;
  SyncILUSlice slice;

  __device__ __forceinline__ size_t entry(int w) const
  {
    return packed ? packed_entry(slice, threadIdx.x & 31, begin + w) : slice_entry(slice, threadIdx.x & 31, begin + w);
  }
};

__device__ __forceinline__ EllLane ell_lane(const SyncILUDeviceEll &ell)
{
  const long long s    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;
  EllLane         l    = {
               0, 0, 0, 0, 0, false, ell.by_level != 0, {0, 0, 0, 0}
  };

  if (s < ell.slices) {
    const SyncILUSlice d = ell.slice[s];

    const int part = max(SYNCILU_PART_WIDE, (d.width - 1) / (int)gridDim.y + 1);

    l.slice = d;
    l.begin = (int)min((long long)blockIdx.y * part, (long long)d.width);
    l.step  = 1 << (d.shape & 7);
    l.first = (lane & (l.step - 1)) + l.begin * l.step;
    l.width = l.packed && lane >= packed_lanes(d) ? 0 : min(part, d.width - l.begin);
    l.full  = lane >> (d.shape & 7) < d.shape >> 3;
    l.row   = l.full ? ell.order[d.first + (lane >> (d.shape & 7))] : 0;
  }
  return l;
}

/* The entry among begin to end - 1 whose column is j, -1 if there is none. */
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

/* Where row i of a triangle begins: in rows of their own, else on the pattern. */
__device__ __forceinline__ int row_begin(const SyncILUDeviceTriangle &t, const SyncILUDeviceRows &rows, int i)
{
  return rows.begin ? rows.begin[i] + rows.lead : t.begin[i] + t.skip;
}

/* Entry q of row i, which has count of them, in the sliced ELL of its triangle. */
template <typename V>
__device__ __forceinline__ V *row_entry(const SyncILUSlicedRows &rows, int i, int count, int q)
{
  const int lg = count > rows.limit ? 5 : rows.lanes;

  return (V *)rows.val + rows.begin[i] + (size_t)(q >> lg) * (rows.stride ? rows.stride[i] : 32) + (q & ((1 << lg) - 1));
}

} // namespace syncilu

#endif
