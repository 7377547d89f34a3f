/*
   What the kernels of all triangular solves share: x_i = s_i (b_i - sum_j t_ij x_j), by rows, each value of x
   its own flag.

   Two triangular solves make a solve with the factor, each with its own x. The first fills the x of the
   second with NaN sentinels on its way. The second has read a value of the first's x, and then writes the
   sentinel there. So both are ready for the next solve without a launch for it. Likewise each sets the
   counter of tickets of the other to zero.
*/
#ifndef SYNCILU_TRIANGULAR_CUH
#define SYNCILU_TRIANGULAR_CUH

#include "launch.cuh"
#include "tuning.h"

namespace syncilu
{

/*
   Where the solution of a position goes. To be asked for before the waiting: a lane that loads while others
   of the warp wait makes them wait longer.
*/
__device__ __forceinline__ size_t out_place(const SyncILUDeviceSolve &s, int position)
{
  return s.out && s.outindex ? s.outindex[position] : position;
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

/* Where the right-hand side of a position is. */
__device__ __forceinline__ int rhs_place(const SyncILUDeviceSolve &s, int position)
{
  return s.bindex ? s.bindex[position] : position;
}

/*
   Whether b, the x of the other triangular solve, is read once more for the solution, with Eisenstat's trick.
*/
__device__ __forceinline__ bool reads_again(const SyncILUDeviceSolve &s)
{
  return s.v && s.b == s.next;
}

/*
   The right-hand side at its place. Several right-hand sides have their x in blocks of R: group g, position p,
   then r.
*/
template <typename V, int R>
__device__ __forceinline__ void load_rhs(const SyncILUDeviceSolve &s, int n, int group, size_t from, V *b)
{
  if (s.ldb) {
#pragma unroll
    for (int r = 0; r < R; r++) b[r] = group * R + r < s.nrhs ? ((const V *)s.b)[from + (size_t)(group * R + r) * s.ldb] : V(0);
    if (R == 1 && s.v) b[0] = ((const V *)s.d)[from] * ((const V *)s.v)[from] + ((const V *)s.e)[from] * b[0];
  } else {
    const V *x = (const V *)s.b + ((size_t)group * n + from) * R;

#pragma unroll
    for (int r = 0; r < R; r++) b[r] = x[r];
  }
}

/*
   The same for a position; once it is read, the sentinels for the other triangular solve are written.
*/
template <typename V, int R>
__device__ __forceinline__ void read_rhs(const SyncILUDeviceSolve &s, int n, int group, int position, size_t from, V *b)
{
  load_rhs<V, R>(s, n, group, from, b);
  if (s.next && !(R == 1 && reads_again(s))) {
    V *next = (V *)s.next + ((size_t)group * n + (s.ldb ? position : from)) * R;

#pragma unroll
    for (int r = 0; r < R; r++) poison(next[r]);
  }
}

template <typename V, int R>
__device__ __forceinline__ void write_solution(const SyncILUDeviceSolve &s, int n, int group, int position, size_t to, const V *x)
{
  V *own = (V *)s.x + ((size_t)group * n + position) * R;

#pragma unroll
  for (int r = 0; r < R; r++) store_relaxed(own + r, clean(x[r]));
  if (R == 1 && s.v) {
    ((V *)s.out)[to] = ((const V *)s.d)[to] * (((const V *)s.b)[to] + x[0]);
    if (reads_again(s)) poison(((V *)s.next)[to]);
  } else if (s.out) {
#pragma unroll
    for (int r = 0; r < R; r++)
      if (group * R + r < s.nrhs) ((V *)s.out)[to + (size_t)(group * R + r) * s.ldout] = x[r];
  }
}

/*
   Which of the groups of right-hand sides a ticket is for, and which slice or row. With one right-hand side
   there is nothing to divide.
*/
template <int R>
__device__ __forceinline__ int split_ticket(Ticket t, int groups, int *group)
{
  if (R == 1) {
    *group = 0;
    return (int)t;
  }
  /* the short division wherever it suffices */
  const int place = t >> 32 ? (int)(t / groups) : (int)((unsigned)t / (unsigned)groups);

  *group = (int)(t - (Ticket)place * groups);
  return place;
}

/*
   Subtracts the product of one entry, where a lane has one (mine), whose column names the number of x that the
   row waits for: it belongs to a lower ticket. All lanes of a warp call it together, each with its own entry.
*/
template <typename V, int R>
__device__ __forceinline__ void subtract_entry(bool mine, int column, V v, const V *x, V *sum)
{
  V y[R];

#pragma unroll
  for (int r = 0; r < R; r++) y[r] = V(0);
  if (mine) load_values<V, R>(x + (size_t)column * R, y);
  while (__any_sync(FULL, !are_set<V, R>(y))) {
    if (!are_set<V, R>(y)) load_values<V, R>(x + (size_t)column * R, y);
  }
  if (mine) {
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] -= v * y[r];
  }
}

/* The same for every step-th entry from e to end - 1 of the pattern. */
template <typename V, int R>
__device__ __forceinline__ void subtract_entries(const SyncILUDeviceTriangle &m, const V *__restrict__ val, const V *x, int e, int end, int step, V *sum)
{
  for (; __any_sync(FULL, e < end); e += step) {
    const bool mine = e < end;

    subtract_entry<V, R>(mine, mine ? m.col[e] : 0, mine ? val[m.src ? m.src[e] : e] : V(0), x, sum);
  }
}

/* Blocks for so many warps. */
inline unsigned blocks_of(Ticket warps)
{
  return blocks_for((long long)warps, SYNCILU_BLOCK_SOLVE / 32);
}

} // namespace syncilu

#endif
