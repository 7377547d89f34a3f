/*
   Solve strategy mr: rows of one level and size class share a warp, with as many lanes a row as its class has
   entries at most (M. Freire, master's thesis, Universidad de la Republica, 2025, chapter 4). The classes are
   0, 1, 2, 3-4, 5-8, 9-16 and 17 or more entries beside the diagonal.

   The rows of a warp are of one level, so none waits for another of them, and the warp may wait for all that
   they need together.
*/
#include "solve_mr.h"
#include "triangular.cuh"

using namespace syncilu;

namespace
{

__global__ void class_keys_kernel(SyncILUDeviceTriangle t, int *level)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  const int count = t.end[i] - t.begin[i] - t.skip;
  level[i]        = level[i] << SYNCILU_CLASS_BITS | min(6, count > 1 ? 33 - __clz(count - 1) : count);
}

template <typename V, int R>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE) mr_kernel(SyncILUDeviceTriangle m, const V *__restrict__ val, const int *__restrict__ order, int slices,
                                                                 const SyncILUSlice *__restrict__ slice, SyncILUDeviceSolve s)
{
  const int lane = threadIdx.x & 31, groups = (s.nrhs + R - 1) / R;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)slices * groups) return;
  int                group;
  const SyncILUSlice d  = slice[split_ticket<R>(t, groups, &group)];
  const int          lg = d.shape & 7, lanes = 1 << lg, sub = lane & (lanes - 1);
  const bool         active = lane >> lg < d.shape >> 3;
  const int          i = active ? order[d.first + (lane >> lg)] : 0, end = active ? m.end[i] : 0;
  const V           *x  = (V *)s.x + (size_t)group * m.n * R;
  size_t             to = 0;
  V                  sum[R], scale = 1;

#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = V(0);
  if (active && sub == 0) {
    to = out_place(s, i);
    if (s.scale) scale = ((const V *)s.scale)[i];
    read_rhs<V, R>(s, m.n, group, i, sum);
  }
  if (s.throttle > 0 && d.first >= s.throttle) wait_for_ancestor(x + (size_t)order[d.first - s.throttle] * R, true);
  subtract_entries<V, R>(m, val, x, (active ? m.begin[i] + m.skip : 0) + sub, end, lanes, sum);
#pragma unroll
  for (int r = 0; r < R; r++) {
    for (int o = lanes >> 1; o; o >>= 1) sum[r] += __shfl_xor_sync(FULL, sum[r], o);
    sum[r] *= scale;
  }
  if (active && sub == 0) write_solution<V, R>(s, m.n, group, i, to, sum);
}

} // namespace

cudaError_t SyncILUKernelClassKeys(SyncILUDeviceTriangle t, int *level, cudaStream_t stream)
{
  LAUNCH(class_keys_kernel, t.n, stream, t, level);
}

cudaError_t SyncILUKernelSolveMr(SyncILUValueType type, SyncILUDeviceTriangle t, const void *val, const int *order, int slices, const SyncILUSlice *slice,
                                 SyncILUDeviceSolve s, cudaStream_t stream)
{
  constexpr int  R    = SYNCILU_RHS_BLOCK;
  const unsigned grid = blocks_of((Ticket)slices * (s.nrhs == 1 ? 1 : (s.nrhs + R - 1) / R));

  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!t.n || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1) mr_kernel<double, 1><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(t, (const double *)val, order, slices, slice, s);
  else mr_kernel<double, R><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(t, (const double *)val, order, slices, slice, s);
  return cudaGetLastError();
}
