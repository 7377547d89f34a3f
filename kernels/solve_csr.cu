/*
   Solve strategy csr: a warp a row, from the factor on the pattern of the matrix (Dufrechou and Ezzatti,
   IPDPS 2018).
*/
#include "solve_csr.h"
#include "triangular.cuh"

using namespace syncilu;

namespace
{

template <typename V, int R>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE)
  csr_kernel(SyncILUDeviceTriangle m, const V *__restrict__ val, const int *__restrict__ order, SyncILUDeviceSolve s)
{
  const int    lane    = threadIdx.x & 31;
  const int    groups  = (s.nrhs + R - 1) / R;
  const Ticket tickets = (Ticket)m.n * groups;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t < tickets) {
    int          group;
    const int    place = split_ticket<R>(t, groups, &group), i = order[place], end = m.end[i];
    const V     *x  = (V *)s.x + (size_t)group * m.n * R;
    const size_t to = out_place(s, i);
    V            sum[R];

#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = V(0);
    if (lane == 0) read_rhs<V, R>(s, m.n, group, i, rhs_place(s, i), sum);
    if (s.throttle > 0 && place >= s.throttle) wait_for_ancestor(x + (size_t)order[place - s.throttle] * R, true);
    subtract_entries<V, R>(m, val, x, m.begin[i] + m.skip + lane, end, 32, sum);
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int o = 16; o; o >>= 1) sum[r] += __shfl_xor_sync(FULL, sum[r], o);
    }
    if (lane == 0) {
      if (s.scale) {
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] *= ((const V *)s.scale)[i];
      }
      write_solution<V, R>(s, m.n, group, i, to, sum);
    }
  }
}

} // namespace

cudaError_t SyncILUKernelSolveCsr(SyncILUValueType type, SyncILUDeviceTriangle t, const void *val, const int *order, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!t.n || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1) csr_kernel<double, 1><<<blocks_of(t.n), SYNCILU_BLOCK_SOLVE, 0, stream>>>(t, (const double *)val, order, s);
  else
    csr_kernel<double, SYNCILU_RHS_BLOCK>
      <<<blocks_of((Ticket)t.n * ((s.nrhs + SYNCILU_RHS_BLOCK - 1) / SYNCILU_RHS_BLOCK)), SYNCILU_BLOCK_SOLVE, 0, stream>>>(t, (const double *)val, order, s);
  return cudaGetLastError();
}
