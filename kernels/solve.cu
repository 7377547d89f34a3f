/*
   Triangular sweeps: x_i = s_i (b_i - sum_j t_ij x_j), by rows, each value of x its own flag.

   Two sweeps make a solve, each with its own x. The first poisons the x of the second on its way, and the second, having read a value of the first's, poisons that again: so both are ready for the
   next solve without a launch for it. Likewise each sets the counter of tickets of the other to zero.
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

/* Which of the groups of right-hand sides a ticket is for, and which slice or row. With one group, as with one right-hand side, there is nothing to divide. */
template <int R>
__device__ __forceinline__ int split_ticket(Ticket t, int groups, int *group)
{
  if (R == 1) {
    *group = 0;
    return (int)t;
  }
  const int place = t >> 32 ? (int)(t / groups) : (int)((unsigned)t / (unsigned)groups); /* the short division wherever it will do */

  *group = (int)(t - (Ticket)place * groups);
  return place;
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
    int                group;
    const SyncILUSlice d  = ell.slice[split_ticket<R>(t, groups, &group)];
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

/* a - b c where on is set: by a predicate, where the compiler would compute and choose. */
__device__ __forceinline__ double subtract_product_if(bool on, double a, double b, double c)
{
  asm("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n@p fma.rn.f64 %0, %1, %2, %0;\n}" : "+d"(a) : "d"(-b), "d"(c), "r"((int)on));
  return a;
}

/* The near entries of a lane: lanes from which they come and values, the first `count` of them; and the lanes of a row. */
template <typename V>
struct Near {
  int lane[POLLS], count, lanes;
  V   val[POLLS];
};

/*
   what = base - T x, and x the same (PIVOTS: one over it), for the near entries, at most K a lane, SINGLE if a row has one lane only, as often as rows are behind one another. Each time all rows are
   computed anew: those whose predecessors are right come out right, and then the same in every further step. So no step asks whose turn it is, and one more does no harm.
*/
template <typename V, int R, int MODE, int K, bool SINGLE>
__device__ __forceinline__ void run_steps(const Near<V> &near, int steps, const SyncILUDevicePivoting &piv, const V *base, V *x, V *what)
{
  for (int p = 0; p < steps; p += 2) {
#pragma unroll
    for (int twice = 0; twice < 2; twice++) {
      V q[R];

#pragma unroll
      for (int r = 0; r < R; r++) {
        q[r] = SINGLE ? base[r] : V(0);
#pragma unroll
        for (int k = 0; k < K; k++) q[r] = subtract_product_if(k < near.count, q[r], near.val[k], __shfl_sync(FULL, x[r], near.lane[k]));
      }
      if (!SINGLE) {
#pragma unroll
        for (int r = 0; r < R; r++) {
          for (int o = near.lanes >> 1; o; o >>= 1) q[r] += __shfl_xor_sync(FULL, q[r], o);
          q[r] += base[r];
        }
      }
#pragma unroll
      for (int r = 0; r < R; r++) {
        what[r] = q[r];
        x[r]    = MODE == PIVOTS ? V(1) / mended(piv, q[r]) : q[r];
      }
    }
  }
}

template <typename V, int R, int MODE, bool SINGLE>
__device__ __forceinline__ void take_steps(int most, const Near<V> &near, int steps, const SyncILUDevicePivoting &piv, const V *base, V *x, V *what)
{
  switch (most) {
  case 0:
    break;
  case 1:
    return run_steps<V, R, MODE, 1, SINGLE>(near, steps, piv, base, x, what);
  case 2:
    return run_steps<V, R, MODE, 2, SINGLE>(near, steps, piv, base, x, what);
  case 3:
    return run_steps<V, R, MODE, 3, SINGLE>(near, steps, piv, base, x, what);
  default:
    return run_steps<V, R, MODE, POLLS, SINGLE>(near, steps, piv, base, x, what);
  }
}

/*
   ELL by tiles: slices whose rows depend on each other, and that do not wait for each other in circles. A warp waits until all is there that its rows need from others (far entries), then goes through
   them in steps in which it looks at nothing but its registers (near entries, by shuffles), and publishes them together: on a grid there are several times fewer tiles than rows behind one another,
   and a step takes a twentieth of what it takes to pass a value through memory. Rows have at most E entries a lane, at most POLLS of them near.
*/
template <typename V, int R, int MODE, int E>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SWEEP) tile_kernel(SyncILUDeviceEll ell, SyncILUDeviceSweep s, SyncILUDevicePivoting piv, V *__restrict__ pivot, SyncILUDeviceStatus *status)
{
  const int lane   = threadIdx.x & 31;
  const int groups = (s.nrhs + R - 1) / R;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)ell.slices * groups) return;
  int                group;
  const SyncILUSlice d  = ell.slice[split_ticket<R>(t, groups, &group)];
  const int          lg = d.shape & 7, lanes = 1 << lg;
  const int          sub = lane & (lanes - 1), slot = d.first + (lane >> lg);
  const bool         active = lane >> lg < d.shape >> 3;
  const size_t       at     = (size_t)d.offset * 32 + lane;
  const V           *x      = (V *)s.x + (size_t)group * ell.n * R;
  V                  sum[R], base[R], what[R], scale = 1, v[E], y[E][R]; /* sum: in the end the solution */
  int                c[E];                                               /* slots of far entries, -1 elsewhere */
  Near<V>            near;
  size_t             to    = 0;                                          /* PIVOTS: the row */
  unsigned           needs = 0, finished = __ballot_sync(FULL, !active); /* lanes */
  int                steps = 0;

#pragma unroll
  for (int k = 0; k < E; k++) {
    const bool there = k < d.width && active;

    c[k] = there ? ell.col[at + k * 32] : -1;
    v[k] = there ? ((const V *)ell.val)[at + k * 32] : V(0);
  }
#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = V(0);
  if (active) {
    if (MODE == PLAIN && s.scale) scale = ((const V *)s.scale)[slot];
    if (sub == 0) {
      if (MODE == PLAIN) {
        to = out_place(s, slot);
        read_rhs<V, R>(s, ell.n, group, slot, sum);
      } else {
        const int b = s.bindex[slot];

        to     = ell.order[slot];
        sum[0] = (b < 0 ? V(0) : ((const V *)s.b)[b]) + V(diagonal_shift(piv));
      }
    }
  }

  near.lanes = lanes;
  near.count = 0;
#pragma unroll
  for (int k = 0; k < POLLS; k++) {
    near.lane[k] = lane;
    near.val[k]  = V(0);
  }
#pragma unroll
  for (int k = 0; k < E; k++) {
    if (c[k] >= d.first) {
#pragma unroll
      for (int l = 0; l <= k && l < POLLS; l++) {
        if (l == near.count) {
          near.lane[l] = (c[k] - d.first) << lg;
          near.val[l]  = v[k] * scale;
        }
      }
      needs |= 1u << ((c[k] - d.first) << lg);
      near.count++;
      c[k] = -1;
    }
  }
  for (int o = lanes >> 1; o; o >>= 1) needs |= __shfl_xor_sync(FULL, needs, o);
  for (; finished != FULL; steps++) finished |= __ballot_sync(FULL, !(needs & ~finished));
  const int most = __reduce_max_sync(FULL, near.count);
  wait_at_gate(x + (size_t)(d.first - s.gate) * R, s.gate > 0 && d.first >= s.gate);

#pragma unroll
  for (int k = 0; k < E; k++) {
#pragma unroll
    for (int r = 0; r < R; r++) y[k][r] = V(0);
    if (c[k] >= 0) load_values<V, R>(x + (size_t)c[k] * R, y[k]);
  }
  for (;;) {
    bool all = true;

#pragma unroll
    for (int k = 0; k < E; k++) all &= are_set<V, R>(y[k]);
    if (__all_sync(FULL, all)) break;
#pragma unroll
    for (int k = 0; k < E; k++)
      if (!are_set<V, R>(y[k])) load_values<V, R>(x + (size_t)c[k] * R, y[k]);
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
    /* not a product with zero where there is no entry: another's infinity must not come in */
#pragma unroll
    for (int k = 0; k < E; k++) sum[r] = subtract_product_if(c[k] >= 0, sum[r], v[k], y[k][r]);
    for (int o = lanes >> 1; o; o >>= 1) sum[r] += __shfl_xor_sync(FULL, sum[r], o);
    base[r] = MODE == PLAIN ? sum[r] * scale : sum[r];
    what[r] = base[r];
    sum[r]  = MODE == PLAIN ? base[r] : V(1) / mended(piv, base[r]);
  }
  /* the first step is done: the rows that need no other */
  if (lanes == 1) take_steps<V, R, MODE, true>(most, near, steps - 1, piv, base, sum, what);
  else take_steps<V, R, MODE, false>(most, near, steps - 1, piv, base, sum, what);
#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = clean(sum[r]);
  if (MODE == PIVOTS && active && sub == 0) pivot[to] = judge(piv, (int)to, what[0], status);
  if (active && sub == 0) write_solution<V, R>(s, ell.n, group, slot, to, sum);
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
    int          group;
    const int    place = split_ticket<R>(t, groups, &group), i = order[place], end = m.end[i];
    const V     *x  = (V *)s.x + (size_t)group * m.n * R;
    const size_t to = out_place(s, i);
    V            sum[R], y[R];

#pragma unroll
    for (int r = 0; r < R; r++) sum[r] = V(0);
    if (lane == 0) read_rhs<V, R>(s, m.n, group, i, sum);
    if (s.gate > 0 && place >= s.gate) wait_at_gate(x + (size_t)order[place - s.gate] * R, true);
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

  if (ell.tiled > POLLS) tile_kernel<V, R, MODE, 2 * POLLS><<<grid, SYNCILU_BLOCK_SWEEP, 0, stream>>>(ell, s, piv, (V *)pivot, status);
  else if (ell.tiled) tile_kernel<V, R, MODE, POLLS><<<grid, SYNCILU_BLOCK_SWEEP, 0, stream>>>(ell, s, piv, (V *)pivot, status);
  else ell_kernel<V, R, MODE><<<grid, SYNCILU_BLOCK_SWEEP, 0, stream>>>(ell, s, piv, (V *)pivot, status);
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
