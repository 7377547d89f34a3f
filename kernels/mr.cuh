/*
   Rows of one level and size class, which share a warp: what the solve strategies mr and hyb have in common.
   They differ in where the entries stand.

   The rows of a slice are of one level, so none waits for another of them, and the warp may wait for all that
   they need together. All of that belongs to lower tickets.
*/
#ifndef SYNCILU_MR_CUH
#define SYNCILU_MR_CUH

#include "triangular.cuh"

namespace syncilu
{

/* The share of a lane in the rows that its warp solves for. */
template <typename V, int R>
struct MrLane {
  SyncILUSlice slice;
  int          number;     /* of the slice */
  int          group;      /* of right-hand sides */
  int          row;        /* 0 where the slice has none for this lane */
  int          sub, lanes; /* the number of this lane among those of the row, and how many these are */
  bool         active;
  size_t       to;
  const V     *x;
  V            sum[R], scale;

  /* Whether there is a slice for the ticket of this warp. */
  __device__ __forceinline__ bool take(int slices, const SyncILUDeviceSolve &s)
  {
    const int groups = (s.nrhs + R - 1) / R;

    if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
    const Ticket t = take_ticket(s.ticket);
    if (t >= (Ticket)slices * groups) return false;
    number = split_ticket<R>(t, groups, &group);
    return true;
  }

  /* The rows and their right-hand side. */
  __device__ __forceinline__ void begin(int n, const int *__restrict__ order, const SyncILUSlice *__restrict__ all, const SyncILUDeviceSolve &s)
  {
    slice          = all[number];
    const int lane = threadIdx.x & 31, lg = slice.shape & 7;
    lanes  = 1 << lg;
    sub    = lane & (lanes - 1);
    active = lane >> lg < slice.shape >> 3;
    row    = active ? order[slice.first + (lane >> lg)] : 0;
    x      = (V *)s.x + (size_t)group * n * R;
    to     = 0;
    scale  = 1;
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = V(0);
    if (active && sub == 0) {
      to = out_place(s, row);
      if (s.scale) scale = ((const V *)s.scale)[row];
      read_rhs<V, R>(s, n, group, row, rhs_place(s, row), sum);
    }
  }

  /* To be called before the first entry is waited for. */
  __device__ __forceinline__ void throttle(const int *__restrict__ order, const SyncILUDeviceSolve &s) const
  {
    if (s.throttle > 0 && slice.first >= s.throttle) wait_for_ancestor(x + (size_t)order[slice.first - s.throttle] * R, true);
  }

  /* Adds up what the lanes of a row have found, and publishes it. */
  __device__ __forceinline__ void finish(int n, const SyncILUDeviceSolve &s)
  {
#pragma unroll
    for (int r = 0; r < R; r++) {
      for (int o = lanes >> 1; o; o >>= 1) sum[r] += __shfl_xor_sync(FULL, sum[r], o);
      sum[r] *= scale;
    }
    if (active && sub == 0) write_solution<V, R>(s, n, group, row, to, sum);
  }
};

} // namespace syncilu

#endif
