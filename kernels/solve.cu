/*
   Triangular sweeps: x_i = s_i (b_i - sum_j t_ij x_j), by rows, each value of x its own flag.

   Two sweeps make a solve, each with its own x. The first poisons the x of the second on its way, and the second, having read a value of the first's, poisons that again: so both are ready for the next
   solve without a launch for it. Likewise each sets the counter of tickets of the other to zero.
*/
#include "values.cuh"
#include "tuning.h"

using namespace syncilu;

namespace
{

constexpr int POLLS = SYNCILU_POLLS;

enum {
  PLAIN, /* solve */
  PIVOTS /* x_i = 1 / (b_i - sum_j t_ij x_j), the pivots of a pattern where only diagonals have updates */
};

/* Where the solution of a slot goes. To be asked for before the waiting: whoever loads while others of the warp wait makes them wait longer. */
__device__ __forceinline__ size_t out_place(const SyncILUDeviceSweep &s, int slot)
{
  return s.out && s.outindex ? s.outindex[slot] : slot;
}

/* The values of R right-hand sides in one row. */
template <typename V, int R>
__device__ __forceinline__ void load_values(const V *p, V *v)
{
  if (R == 1) v[0] = load_relaxed(p);
  else {
#pragma unroll
    for (int r = 0; r < R; r += 2) load_relaxed_pair(p + r, v + r);
  }
}

template <typename V, int R>
__device__ __forceinline__ bool are_set(const V *v)
{
  bool all = true;

#pragma unroll
  for (int r = 0; r < R; r++) all &= is_set(v[r]);
  return all;
}

/* The right-hand side of a row, and, once it is read, poison for the other sweep. With several right-hand sides their x are stored in blocks of R: group g, row i, r. */
template <typename V, int R>
__device__ __forceinline__ void read_rhs(const SyncILUDeviceSweep &s, int n, int group, int slot, V *b)
{
  const size_t from = s.bindex ? s.bindex[slot] : slot;

  if (s.ldb) {
#pragma unroll
    for (int r = 0; r < R; r++) b[r] = group * R + r < s.nrhs ? ((const V *)s.b)[from + (size_t)(group * R + r) * s.ldb] : V(0);
  } else {
    const V *x = (const V *)s.b + ((size_t)group * n + from) * R;

#pragma unroll
    for (int r = 0; r < R; r++) b[r] = x[r];
  }
  if (s.next) {
    V *next = (V *)s.next + ((size_t)group * n + (s.ldb ? slot : from)) * R;

#pragma unroll
    for (int r = 0; r < R; r++) poison(next[r]);
  }
}

template <typename V, int R>
__device__ __forceinline__ void write_solution(const SyncILUDeviceSweep &s, int n, int group, int slot, size_t to, const V *x)
{
  V *own = (V *)s.x + ((size_t)group * n + slot) * R;

#pragma unroll
  for (int r = 0; r < R; r++) store_relaxed(own + r, clean(x[r]));
  if (s.out) {
#pragma unroll
    for (int r = 0; r < R; r++)
      if (group * R + r < s.nrhs) ((V *)s.out)[to + (size_t)(group * R + r) * s.ldout] = x[r];
  }
}

/*
   ELL: the lanes of a row poll up to POLLS entries each at the same time. All rows of a warp go round one loop, in which those that have what they need are finished: rows of a slice may depend on
   each other.
*/
template <typename V, int R, int MODE>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SWEEP) ell_kernel(SyncILUDeviceEll ell, SyncILUDeviceSweep s, SyncILUDevicePivoting piv, V *__restrict__ pivot, SyncILUDeviceStatus *status)
{
  const int    lane    = threadIdx.x & 31;
  const int    groups  = (s.nrhs + R - 1) / R;
  const Ticket tickets = (Ticket)ell.slices * groups;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t < tickets) {
    const int          group = (int)(t % groups);
    const SyncILUSlice d     = ell.slice[t / groups];
    const int          lg = d.shape & 7, lanes = 1 << lg;
    const int          sub = lane & (lanes - 1), slot = d.first + (lane >> lg);
    const bool         active = lane >> lg < d.shape >> 3;
    const unsigned     mask   = (lg == 5 ? FULL : ((1u << lanes) - 1) << (lane & ~(lanes - 1)));
    const size_t       base   = (size_t)d.offset * 32 + lane;
    const V           *x      = (V *)s.x + (size_t)group * ell.n * R;
    V                  sum[R], v[POLLS], y[POLLS][R], scale = 1;
    const V           *from[POLLS]; /* where y comes from; NULL where the slice is padded */
    int                w     = 0;
    size_t             to    = 0; /* PIVOTS: the row */
    bool               ready = !active || d.width == 0, done = !active;

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      const int c = k < d.width && active ? ell.col[base + k * 32] : -1;

      v[k]    = k < d.width && active ? ((const V *)ell.val)[base + k * 32] : V(0);
      from[k] = c < 0 ? nullptr : x + (size_t)c * R;
    }
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = V(0);
    if (active && sub == 0) {
      if (MODE == PLAIN) {
        to = out_place(s, slot);
        if (s.scale) scale = ((const V *)s.scale)[slot];
        read_rhs<V, R>(s, ell.n, group, slot, sum);
      } else {
        const int b = s.bindex[slot];

        to     = ell.order[slot];
        sum[0] = (b < 0 ? V(0) : ((const V *)s.b)[b]) + V(diagonal_shift(piv));
      }
    }
    wait_at_gate(x + (size_t)(d.first - s.gate) * R, s.gate > 0 && d.first >= s.gate);
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
#pragma unroll
      for (int r = 0; r < R; r++) y[k][r] = V(0);
      if (from[k]) load_values<V, R>(from[k], y[k]);
    }
    for (;;) {
      bool all = true;

#pragma unroll
      for (int k = 0; k < POLLS; k++) all &= are_set<V, R>(y[k]);
      if (all && !ready) {
#pragma unroll
        for (int k = 0; k < POLLS; k++) {
          if (from[k]) { /* not a product with zero: what is padded must not read somebody's infinity */
#pragma unroll
            for (int r = 0; r < R; r++) sum[r] -= v[k] * y[k][r];
          }
        }
        w += POLLS;
        ready = w >= d.width;
        if (!ready) {
#pragma unroll
          for (int k = 0; k < POLLS; k++) {
            const int c = w + k < d.width ? ell.col[base + (size_t)(w + k) * 32] : -1;

            v[k]    = w + k < d.width ? ((const V *)ell.val)[base + (size_t)(w + k) * 32] : V(0);
            from[k] = c < 0 ? nullptr : x + (size_t)c * R;
          }
#pragma unroll
          for (int k = 0; k < POLLS; k++) {
#pragma unroll
            for (int r = 0; r < R; r++) y[k][r] = V(0);
            if (from[k]) load_values<V, R>(from[k], y[k]);
          }
        }
      }
      bool fire = !done && ready;
      if (lg) {
        const unsigned lanes_ready = __ballot_sync(FULL, ready); /* by all lanes, also those that are done */

        fire = !done && (lanes_ready & mask) == mask;
        if (__any_sync(FULL, fire)) {
#pragma unroll
          for (int r = 0; r < R; r++) {
            V q = sum[r];

            for (int o = lanes >> 1; o; o >>= 1) q += __shfl_xor_sync(FULL, q, o);
            if (fire) sum[r] = q;
          }
        }
      }
      if (fire) {
        if (sub == 0) {
          if (MODE == PLAIN) {
#pragma unroll
            for (int r = 0; r < R; r++) sum[r] *= scale;
          } else {
            sum[0]    = judge(piv, (int)to, sum[0], status);
            pivot[to] = sum[0];
            sum[0]    = V(1) / sum[0];
          }
          write_solution<V, R>(s, ell.n, group, slot, to, sum);
        }
        done = true;
      }
      if (__all_sync(FULL, done)) break;
#pragma unroll
      for (int k = 0; k < POLLS; k++)
        if (!are_set<V, R>(y[k])) load_values<V, R>(from[k], y[k]);
    }
  }
}

/* CSR: a warp a row. */
template <typename V, int R>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SWEEP) csr_kernel(SyncILUDeviceTriangle m, const V *__restrict__ val, const int *__restrict__ order, SyncILUDeviceSweep s)
{
  const int    lane    = threadIdx.x & 31;
  const int    groups  = (s.nrhs + R - 1) / R;
  const Ticket tickets = (Ticket)m.n * groups;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t < tickets) {
    const int    group = (int)(t % groups), i = order[t / groups], end = m.end[i];
    const V     *x  = (V *)s.x + (size_t)group * m.n * R;
    const size_t to = out_place(s, i);
    V            sum[R], y[R];

#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = V(0);
    if (lane == 0) read_rhs<V, R>(s, m.n, group, i, sum);
    if (s.gate > 0 && t / groups >= (Ticket)s.gate) wait_at_gate(x + (size_t)order[t / groups - s.gate] * R, true);
    for (int e = m.begin[i] + m.skip + lane; __any_sync(FULL, e < end); e += 32) {
      const bool mine = e < end;
      const int  c    = mine ? m.col[e] : 0;
      const V    v    = mine ? val[m.src ? m.src[e] : e] : V(0);

#pragma unroll
      for (int r = 0; r < R; r++) y[r] = V(0);
      if (mine) load_values<V, R>(x + (size_t)c * R, y);
      while (__any_sync(FULL, !are_set<V, R>(y))) {
        if (!are_set<V, R>(y)) load_values<V, R>(x + (size_t)c * R, y);
      }
      if (mine) {
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] -= v * y[r];
      }
    }
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

unsigned blocks_of(Ticket warps)
{
  return blocks_for((long long)warps, SYNCILU_BLOCK_SWEEP / 32);
}

template <typename V, int R, int MODE>
cudaError_t launch_ell(SyncILUDeviceEll ell, SyncILUDeviceSweep s, SyncILUDevicePivoting piv, void *pivot, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  const unsigned grid = blocks_of((Ticket)ell.slices * ((s.nrhs + R - 1) / R));

  ell_kernel<V, R, MODE><<<grid, SYNCILU_BLOCK_SWEEP, 0, stream>>>(ell, s, piv, (V *)pivot, status);
  return cudaGetLastError();
}

} // namespace

cudaError_t SyncILUKernelSolveEll(SyncILUValueType type, SyncILUDeviceEll ell, SyncILUDeviceSweep s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  SyncILUDevicePivoting none = {0, 0.0, 0.0, 0.0};

  if (!ell.n || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1) return launch_ell<double, 1, PLAIN>(ell, s, none, nullptr, nullptr, stream);
  return launch_ell<double, SYNCILU_RHS_BLOCK, PLAIN>(ell, s, none, nullptr, nullptr, stream);
}

cudaError_t SyncILUKernelPivots(SyncILUValueType type, SyncILUDeviceEll ell, SyncILUDeviceSweep s, SyncILUDevicePivoting piv, void *pivot, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!ell.n) return cudaSuccess;
  return launch_ell<double, 1, PIVOTS>(ell, s, piv, pivot, status, stream);
}

cudaError_t SyncILUKernelSolveCsr(SyncILUValueType type, SyncILUDeviceTriangle t, const void *val, const int *order, SyncILUDeviceSweep s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!t.n || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1) csr_kernel<double, 1><<<blocks_of(t.n), SYNCILU_BLOCK_SWEEP, 0, stream>>>(t, (const double *)val, order, s);
  else csr_kernel<double, SYNCILU_RHS_BLOCK><<<blocks_of((Ticket)t.n * ((s.nrhs + SYNCILU_RHS_BLOCK - 1) / SYNCILU_RHS_BLOCK)), SYNCILU_BLOCK_SWEEP, 0, stream>>>(t, (const double *)val, order, s);
  return cudaGetLastError();
}
