/*
   Triangular solves with sliced ELL: the kernels of the solve strategy ell, and of the factorization where
   only diagonals have updates.
*/
#ifndef SYNCILU_ELL_CUH
#define SYNCILU_ELL_CUH

#include "entries.cuh"
#include "pivot.cuh"
#include "polls.cuh"
#include "tuning.h"

namespace syncilu
{

constexpr int POLLS = SYNCILU_POLLS;

enum {
  PLAIN, /* a triangular solve */
  PIVOTS /* x_i = 1 / (b_i - sum_j t_ij x_j), the pivots of a pattern where only diagonals have updates */
};

/* The right-hand side of a position, and where its solution goes. */
template <typename V, int R, int MODE>
__device__ __forceinline__ size_t begin_row(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, const SyncILUDevicePivoting &piv, int group, int position,
                                            V *sum)
{
  if (MODE == PLAIN) {
    const size_t to = out_place(s, position);

    read_rhs<V, R>(s, ell.n, group, position, rhs_place(s, position), sum);
    return to;
  }
  const int b = s.bindex[position];

  sum[0] = (b < 0 ? V(0) : ((const V *)s.b)[b]) + V(diagonal_shift(piv));
  return ell.order[position];
}

/* From what is left of a right-hand side to the solution: scaled, or judged as a pivot, whose reciprocal it is. */
template <typename V, int R, int MODE>
__device__ __forceinline__ void scale_or_judge(V scale, const SyncILUDevicePivoting &piv, int row, V *pivot, SyncILUDeviceStatus *status, V *sum)
{
  if (MODE == PLAIN) {
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] *= scale;
  } else {
    sum[0]     = judge(piv, row, sum[0], status);
    pivot[row] = sum[0];
    sum[0]     = V(1) / sum[0];
  }
}

/*
   A row so long that several warps share it. Each takes a part of the entries and publishes what that comes
   to, the last one adds up the parts, always in the same order, and leaves sentinels in their place for the
   next solve.

   Progress: the rows that a part needs are in slices before that of the row, since no other row is in that
   one, and their tasks come before the row's. The parts are tasks right before the one that waits for them.
*/
template <typename V, int R, int MODE, bool PACKED, typename Where>
__device__ __forceinline__ void long_row(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, const SyncILUDevicePivoting &piv, V *__restrict__ pivot,
                                         SyncILUDeviceStatus *status, const SyncILUSlice &d, int group, Where where)
{
  const int  lane = threadIdx.x & 31;
  const bool part = (d.shape & 7) == SYNCILU_TASK_PART;
  const V   *x    = (V *)s.x + (size_t)group * ell.n * R;
  V *const   own  = (V *)ell.partial + ((size_t)group * (ell.tasks - ell.slices) + (part ? d.shape >> 3 : d.offset)) * R;
  V          sum[R];
  size_t     to = 0;

#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = V(0);
  if (!part && lane == 0) {
    to = begin_row<V, R, MODE>(ell, s, piv, group, d.first, sum);
    where.begin(d.first);
    where.aim(d.first);
  }
  wait_for_ancestor(x + (size_t)(d.first - s.throttle) * R, s.throttle > 0 && d.first >= s.throttle);
  const int step = part ? 1 : 32, end = part ? d.width : d.shape >> 3;
  for (int w = part ? 0 : lane; __any_sync(FULL, w < end); w += POLLS * step) {
    const V *from[POLLS]; /* of the entries at work, NULL where there is none */
    V        v[POLLS], y[POLLS][R];
    bool     all;

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      const int q = w + k * step, c = q >= end ? -1 : part ? ell.col[entry_of<PACKED>(d, lane, q)] : q;

      v[k]    = q < end && part ? -((const V *)ell.val)[entry_of<PACKED>(d, lane, q)] : V(1);
      from[k] = c < 0 ? nullptr : (part ? x : own) + (size_t)c * R;
#pragma unroll
      for (int r = 0; r < R; r++) y[k][r] = V(0);
    }
    do {
      all = true;
#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        if (from[k]) load_values<V, R>(from[k], y[k]);
        all &= are_set<V, R>(y[k]);
      }
    } while (!__all_sync(FULL, all));
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      if (!from[k]) continue;
#pragma unroll
      for (int r = 0; r < R; r++) {
        sum[r] += v[k] * y[k][r];
        if (!part) poison(own[from[k] - own + r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = sum_of_row(sum[r], 32);
  if (lane) return;
  if (part) {
#pragma unroll
    for (int r = 0; r < R; r++) store_relaxed(own + r, clean(sum[r]));
    return;
  }
  scale_or_judge<V, R, MODE>(MODE == PLAIN && s.scale ? ((const V *)s.scale)[d.first] : V(1), piv, (int)to, pivot, status, sum);
  where.publish(s, ell.n, group, d.first, to, sum);
}

/*
   The slice and the group of R right-hand sides that this warp is to solve for; false if there are none left.
   All threads of the block must call it, once.
*/
template <int R>
__device__ __forceinline__ bool take_task(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, SyncILUSlice *d, int *group)
{
  const int groups = (s.nrhs + R - 1) / R;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)ell.tasks * groups) return false;
  *d = ell.task[split_ticket<R>(t, groups, group)];
  return true;
}

/*
   The lanes of a row poll up to POLLS entries each at the same time. All rows of a warp go round one loop, in
   which those that have what they need are finished: rows of a slice may depend on each other.
*/
template <typename V, int R, int MODE, bool PACKED>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE)
  ell_kernel(SyncILUDeviceEll ell, SyncILUDeviceSolve s, SyncILUDevicePivoting piv, V *__restrict__ pivot, SyncILUDeviceStatus *status)
{
  const int    lane = threadIdx.x & 31;
  int          group;
  SyncILUSlice d;

  if (!take_task<R>(ell, s, &d, &group)) return;
  const int lg = d.shape & 7, lanes = 1 << lg;
  if (lg >= SYNCILU_TASK_ROW) return long_row<V, R, MODE, PACKED>(ell, s, piv, pivot, status, d, group, in_memory<V, R>(s, ell.n, group));
  const int      sub = lane & (lanes - 1), position = d.first + (lane >> lg);
  const bool     active = lane >> lg < d.shape >> 3;
  const unsigned mask   = (lg == 5 ? FULL : ((1u << lanes) - 1) << (lane & ~(lanes - 1)));
  const V       *x      = (V *)s.x + (size_t)group * ell.n * R;
  V              sum[R], v[POLLS], y[POLLS][R], scale = 1;
  const V       *from[POLLS]; /* where y comes from; NULL where the slice is padded */
  int            w     = 0;
  size_t         to    = 0; /* PIVOTS: the row */
  bool           ready = !active || d.width == 0, done = !active;

#pragma unroll
  for (int k = 0; k < POLLS; k++) {
    const int c = k < d.width && active ? ell.col[entry_of<PACKED>(d, lane, k)] : -1;

    v[k]    = k < d.width && active ? ((const V *)ell.val)[entry_of<PACKED>(d, lane, k)] : V(0);
    from[k] = c < 0 ? nullptr : x + (size_t)c * R;
  }
#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = V(0);
  if (active && sub == 0) {
    if (MODE == PLAIN && s.scale) scale = ((const V *)s.scale)[position];
    to = begin_row<V, R, MODE>(ell, s, piv, group, position, sum);
  }
  wait_for_ancestor(x + (size_t)(d.first - s.throttle) * R, s.throttle > 0 && d.first >= s.throttle);
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
        if (from[k]) { /* not a product with zero: padding must not read another row's infinity */
#pragma unroll
          for (int r = 0; r < R; r++) sum[r] -= v[k] * y[k][r];
        }
      }
      w += POLLS;
      ready = w >= d.width;
      if (!ready) {
#pragma unroll
        for (int k = 0; k < POLLS; k++) {
          const int c = w + k < d.width ? ell.col[entry_of<PACKED>(d, lane, w + k)] : -1;

          v[k]    = w + k < d.width ? ((const V *)ell.val)[entry_of<PACKED>(d, lane, w + k)] : V(0);
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
          const V q = sum_of_row(sum[r], lanes);

          if (fire) sum[r] = q;
        }
      }
    }
    if (fire) {
      if (sub == 0) {
        scale_or_judge<V, R, MODE>(scale, piv, (int)to, pivot, status, sum);
        write_solution<V, R>(s, ell.n, group, position, to, sum);
      }
      done = true;
    }
    if (__all_sync(FULL, done)) break;
#pragma unroll
    for (int k = 0; k < POLLS; k++)
      if (!are_set<V, R>(y[k])) load_values<V, R>(from[k], y[k]);
  }
}

/* N entries of each lane of a slice, from its w-th on: columns, -1 where there is none, and values. */
template <bool PACKED, typename V, int N>
__device__ __forceinline__ void load_entries(const SyncILUDeviceEll &ell, const SyncILUSlice &d, int lane, bool active, int w, int (&c)[N], V (&v)[N])
{
#pragma unroll
  for (int k = 0; k < N; k++) {
    const bool there = w + k < d.width && active;

    c[k] = there ? ell.col[entry_of<PACKED>(d, lane, w + k)] : -1;
    v[k] = there ? ((const V *)ell.val)[entry_of<PACKED>(d, lane, w + k)] : V(0);
  }
}

/* What a lane has to look up of its row before it can ask for anything else. */
struct LookedUp {
  SyncILUSlice d;
  SyncILULate  late;
  int          from; /* where the right-hand side is */
};

/* What a lane can have of its row before it waits for anything. */
template <typename V, int R, int P, int LATE>
struct Fetched {
  SyncILUSlice d;
  SyncILULate  late;
  int          to;           /* where the solution goes */
  int          c[P];         /* its first entries but for the latest; -1 where there is none */
  int          late_c[LATE]; /* in the first lane of a row */
  V            v[P], late_v[LATE], sum[R], scale;
};

__device__ __forceinline__ void look_up(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, const SyncILUSlice &d, LookedUp &l)
{
  const int lane = threadIdx.x & 31, lg = d.shape & 7, position = d.first + (lane >> lg);

  l.d = d;
  if (lg >= SYNCILU_TASK_ROW || lane >> lg >= d.shape >> 3) return;
  l.late = ell.late[position];
  l.from = rhs_place(s, position);
}

/* N entries of each lane from the w-th on; in the place of the latest ones there are none. */
template <int LATE, typename V, int N>
__device__ __forceinline__ void load_others(const SyncILUDeviceEll &ell, const SyncILUSlice &d, const SyncILULate &late, bool active, int w, int (&c)[N],
                                            V (&v)[N])
{
  const int lane = threadIdx.x & 31, lg = d.shape & 7;

  load_entries<true>(ell, d, lane, active, w, c, v);
#pragma unroll
  for (int k = 0; k < N; k++) {
#pragma unroll
    for (int l = 0; l < LATE; l++) {
      if (((w + k) << lg) + (lane & ((1 << lg) - 1)) + 1 == late.entry[l]) {
        c[k] = -1;
        v[k] = V(0);
      }
    }
  }
}

template <typename V, int R, int P, int LATE, typename Where>
__device__ __forceinline__ void fetch(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, int group, const LookedUp &looked, Fetched<V, R, P, LATE> &f,
                                      Where &where)
{
  const SyncILUSlice d    = looked.d;
  const int          lane = threadIdx.x & 31, lg = d.shape & 7, lanes = 1 << lg, position = d.first + (lane >> lg);
  const bool         active = lane >> lg < d.shape >> 3;

  f.d    = d;
  f.late = looked.late;
  if (lg >= SYNCILU_TASK_ROW) return;
  f.scale = V(1);
  f.to    = 0;
#pragma unroll
  for (int r = 0; r < R; r++) f.sum[r] = V(0);
#pragma unroll
  for (int l = 0; l < LATE; l++) {
    f.late_c[l] = -1;
    f.late_v[l] = V(0);
  }
  load_others<LATE>(ell, d, f.late, active, 0, f.c, f.v);
  if (active && !(lane & (lanes - 1))) {
#pragma unroll
    for (int l = 0; l < LATE; l++) {
      const int    q = f.late.entry[l] - 1;
      const size_t e = packed_entry(d, lane + (q & (lanes - 1)), q >> lg);

      if (q < 0) continue;
      f.late_c[l] = ell.col[e];
      f.late_v[l] = ((const V *)ell.val)[e];
    }
    if (s.scale) f.scale = ((const V *)s.scale)[position];
    f.to = (int)out_place(s, position);
    where.begin(position);
    read_rhs<V, R>(s, ell.n, group, position, looked.from, f.sum);
  }
}

/*
   Slices that end with levels. What a level costs is the way from the arrival of the last value that a row
   needs to the row's own, so there is as little on it as can be: the entries with the highest positions, which
   are those of the latest levels, wait in the first lane of the row. All others are waited for and summed up by
   all lanes before. Most rows have one entry from the level before, some two.

   The rows of a slice do not wait for each other, so that the warp may wait for the other entries of all of
   them together; these are of slices before it. A lane polls P entries a round.
*/
template <typename V, int R, int P, int LATE, typename Where>
__device__ __forceinline__ void finish(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, int group, Fetched<V, R, P, LATE> &f, Where where)
{
  const SyncILUDevicePivoting none = {0, 0.0, 0.0, 0.0, 0, 0.0};
  const SyncILUSlice          d    = f.d;
  const int                   lane = threadIdx.x & 31, lg = d.shape & 7, lanes = 1 << lg;

  if (lg >= SYNCILU_TASK_ROW) return long_row<V, R, PLAIN, true>(ell, s, none, nullptr, nullptr, d, group, where);
  const int             sub = lane & (lanes - 1), position = d.first + (lane >> lg);
  const bool            active   = lane >> lg < d.shape >> 3;
  const bool            throttle = s.throttle > 0 && d.first >= s.throttle;
  V                     late_y[LATE][R];
  typename Where::Place late_at[LATE];

  for (int w = 0;; w += P) {
    V                     y[P][R];
    typename Where::Place at[P];

    if (w == 0) {
      wait_for_ancestor((const V *)s.x + ((size_t)group * ell.n + d.first - s.throttle) * R, throttle);
      load_needed(where, f.late_c, late_y);
    } else load_others<LATE>(ell, d, f.late, active, w, f.c, f.v);
    load_needed(where, f.c, y);
    settle(where, f.c, at, y);
    if (w == 0) settle(where, f.late_c, late_at, late_y);
    while (!all_have(y)) {
      load_missing(where, at, y);
      load_missing(where, late_at, late_y);
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
#pragma unroll
      for (int k = 0; k < P; k++) f.sum[r] -= f.v[k] * y[k][r]; /* where there is none, zero times zero */
    }
    if (w + P >= d.width) break;
  }
#pragma unroll
  for (int r = 0; r < R; r++) f.sum[r] = sum_of_row(f.sum[r], lanes);
  if (active && sub == 0) where.aim(position);
  for (bool done = !active || sub;;) {
    bool all = !done;

    if (Where::NEAR) load_missing(where, late_at, late_y);
#pragma unroll
    for (int l = 0; l < LATE; l++) all &= are_set<V, R>(late_y[l]);
    if (all) {
#pragma unroll
      for (int r = 0; r < R; r++) {
#pragma unroll
        for (int l = LATE - 1; l >= 0; l--) f.sum[r] -= f.late_v[l] * late_y[l][r];
        f.sum[r] *= f.scale;
      }
      where.publish(s, ell.n, group, position, f.to, f.sum);
      done = true;
    }
    if (__all_sync(FULL, done)) break;
    if (!Where::NEAR) load_missing(where, late_at, late_y);
  }
}

template <typename V, int R, int P>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE) by_level_kernel(SyncILUDeviceEll ell, SyncILUDeviceSolve s)
{
  int          group;
  SyncILUSlice d;

  if (!take_task<R>(ell, s, &d, &group)) return;
  auto                                     where = in_memory<V, R>(s, ell.n, group);
  LookedUp                                 looked;
  Fetched<V, R, P, SYNCILU_LATE_IN_MEMORY> f;

  look_up(ell, s, d, looked);
  fetch(ell, s, group, looked, f, where);
  finish(ell, s, group, f, where);
}

/*
   The inner entries of a lane: the lanes they come from and their values, the first `count` of them; and the
   lanes of a row.
*/
template <typename V>
struct Inner {
  int lane[POLLS], count, lanes;
  V   val[POLLS];
};

/*
   what = base - T x with the inner entries, and x the same (PIVOTS: one over it), as often as rows are behind
   one another. A lane has at most K entries; SINGLE: a row has one lane. Each step computes all rows anew:
   those whose predecessors are right come out right, and then the same in every further step. So no step asks
   whose turn it is, and one more does no harm.
*/
template <typename V, int R, int MODE, int K, bool SINGLE>
__device__ __forceinline__ void take_steps_of(const Inner<V> &inner, int steps, const SyncILUDevicePivoting &piv, const V *base, V *x, V *what)
{
  for (int p = 0; p < steps; p += 2) {
#pragma unroll
    for (int twice = 0; twice < 2; twice++) {
      V q[R];

#pragma unroll
      for (int r = 0; r < R; r++) {
        q[r] = SINGLE ? base[r] : V(0);
#pragma unroll
        for (int k = 0; k < K; k++) q[r] = subtract_product_if(k < inner.count, q[r], inner.val[k], __shfl_sync(FULL, x[r], inner.lane[k]));
      }
      if (!SINGLE) {
#pragma unroll
        for (int r = 0; r < R; r++) {
          for (int o = inner.lanes >> 1; o; o >>= 1) q[r] += __shfl_xor_sync(FULL, q[r], o);
          q[r] += base[r];
        }
      }
#pragma unroll
      for (int r = 0; r < R; r++) {
        what[r] = q[r];
        x[r]    = MODE == PIVOTS ? V(1) / shifted_pivot(piv, q[r]) : q[r];
      }
    }
  }
}

template <typename V, int R, int MODE, bool SINGLE>
__device__ __forceinline__ void take_steps(int most, const Inner<V> &inner, int steps, const SyncILUDevicePivoting &piv, const V *base, V *x, V *what)
{
  switch (most) {
  case 0:
    break;
  case 1:
    return take_steps_of<V, R, MODE, 1, SINGLE>(inner, steps, piv, base, x, what);
  case 2:
    return take_steps_of<V, R, MODE, 2, SINGLE>(inner, steps, piv, base, x, what);
  case 3:
    return take_steps_of<V, R, MODE, 3, SINGLE>(inner, steps, piv, base, x, what);
  default:
    return take_steps_of<V, R, MODE, POLLS, SINGLE>(inner, steps, piv, base, x, what);
  }
}

/*
   Tiles: slices whose rows depend on each other, and that do not wait for each other in circles. A warp waits
   until all is there that its rows need from others (outer entries). Then it goes through the rows in steps
   in which it looks at nothing but its registers (inner entries, by shuffles), and publishes them together.
   On a grid there are several times fewer tiles than rows behind one another, and a step takes a twentieth of
   what it takes to pass a value through memory. Rows have at most E entries a lane, at most POLLS of them
   inner.
*/
template <typename V, int R, int MODE, int E>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE)
  tile_kernel(SyncILUDeviceEll ell, SyncILUDeviceSolve s, SyncILUDevicePivoting piv, V *__restrict__ pivot, SyncILUDeviceStatus *status)
{
  const int    lane = threadIdx.x & 31;
  int          group;
  SyncILUSlice d;

  if (!take_task<R>(ell, s, &d, &group)) return;
  const int  lg = d.shape & 7, lanes = 1 << lg;
  const auto where = in_memory<V, R>(s, ell.n, group);

  if (lg >= SYNCILU_TASK_ROW) return long_row<V, R, MODE, false>(ell, s, piv, pivot, status, d, group, where);
  const int  sub = lane & (lanes - 1), position = d.first + (lane >> lg);
  const bool active = lane >> lg < d.shape >> 3;
  V          sum[R], base[R], what[R], scale = 1, v[E], y[E][R]; /* sum: in the end the solution */
  /* positions of outer entries, -1 elsewhere */
  int      c[E];
  Inner<V> inner;
  size_t   to    = 0;                                          /* PIVOTS: the row */
  unsigned needs = 0, finished = __ballot_sync(FULL, !active); /* lanes */
  int      steps = 0;

  load_entries<false>(ell, d, lane, active, 0, c, v);
#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = V(0);
  if (active) {
    if (MODE == PLAIN && s.scale) scale = ((const V *)s.scale)[position];
    if (sub == 0) to = begin_row<V, R, MODE>(ell, s, piv, group, position, sum);
  }

  inner.lanes = lanes;
  inner.count = 0;
#pragma unroll
  for (int k = 0; k < POLLS; k++) {
    inner.lane[k] = lane;
    inner.val[k]  = V(0);
  }
#pragma unroll
  for (int k = 0; k < E; k++) {
    if (c[k] >= d.first) {
#pragma unroll
      for (int l = 0; l <= k && l < POLLS; l++) {
        if (l == inner.count) {
          inner.lane[l] = (c[k] - d.first) << lg;
          inner.val[l]  = v[k] * scale;
        }
      }
      needs |= 1u << ((c[k] - d.first) << lg);
      inner.count++;
      c[k] = -1;
    }
  }
  for (int o = lanes >> 1; o; o >>= 1) needs |= __shfl_xor_sync(FULL, needs, o);
  for (; finished != FULL; steps++) finished |= __ballot_sync(FULL, !(needs & ~finished));
  const int most = __reduce_max_sync(FULL, inner.count);
  wait_for_ancestor(where.x + (size_t)(d.first - s.throttle) * R, s.throttle > 0 && d.first >= s.throttle);

  load_needed(where, c, y);
  while (!all_have(y)) load_missing(where, c, y);
#pragma unroll
  for (int r = 0; r < R; r++) {
    sum[r]  = sum_of_row(subtract_entries(sum[r], c, v, y, r), lanes);
    base[r] = MODE == PLAIN ? sum[r] * scale : sum[r];
    what[r] = base[r];
    sum[r]  = MODE == PLAIN ? base[r] : V(1) / shifted_pivot(piv, base[r]);
  }
  /* the first step is done: the rows that need no other */
  if (lanes == 1) take_steps<V, R, MODE, true>(most, inner, steps - 1, piv, base, sum, what);
  else take_steps<V, R, MODE, false>(most, inner, steps - 1, piv, base, sum, what);
#pragma unroll
  for (int r = 0; r < R; r++) sum[r] = clean(sum[r]);
  if (MODE == PIVOTS && active && sub == 0) pivot[to] = judge(piv, (int)to, what[0], status);
  if (active && sub == 0) where.publish(s, ell.n, group, position, to, sum);
}

template <typename V, int R, int MODE>
cudaError_t launch_ell(SyncILUDeviceEll ell, SyncILUDeviceSolve s, SyncILUDevicePivoting piv, void *pivot, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  const unsigned grid = blocks_of((Ticket)ell.tasks * ((s.nrhs + R - 1) / R));

  if constexpr (MODE == PIVOTS) {
    if (ell.by_level) {
      ell_kernel<V, R, MODE, true><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s, piv, (V *)pivot, status);
      return cudaGetLastError();
    }
  } else {
    if (ell.by_level) {
      if constexpr (R == 1) { /* more right-hand sides would take too many registers */
        if (ell.by_level > POLLS) {
          by_level_kernel<V, R, 2 * POLLS><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s);
          return cudaGetLastError();
        }
      }
      by_level_kernel<V, R, POLLS><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s);
      return cudaGetLastError();
    }
  }
  if (ell.tiled > POLLS) tile_kernel<V, R, MODE, 2 * POLLS><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s, piv, (V *)pivot, status);
  else if (ell.tiled) tile_kernel<V, R, MODE, POLLS><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s, piv, (V *)pivot, status);
  else ell_kernel<V, R, MODE, false><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s, piv, (V *)pivot, status);
  return cudaGetLastError();
}

} // namespace syncilu

#endif
