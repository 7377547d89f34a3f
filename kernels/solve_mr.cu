/*
   Solve strategy mr: rows of one level and size class share a warp, with as many lanes a row as its class has
   entries at most (M. Freire, master's thesis, Universidad de la Republica, 2025, chapter 4). The classes are
   0, 1, 2, 3-4, 5-8, 9-16 and 17 or more entries beside the diagonal.
*/
#include "solve_mr.h"
#include "mr.cuh"

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
  MrLane<V, R> l;

  if (!l.take(slices, s)) return;
  l.begin(m.n, order, slice, s);
  const int begin = l.active ? m.begin[l.row] + m.skip : 0, end = l.active ? m.end[l.row] : 0;
  l.throttle(order, s);
  subtract_entries<V, R>(m, val, l.x, begin + l.sub, end, l.lanes, l.sum);
  l.finish(m.n, s);
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
