/*
   Triangular solves with sliced ELL whose slices are blocks of an ordering: successive rows that depend on
   each other, and on rows of other blocks, which come before all of them.
*/
#ifndef SYNCILU_ELL_BLOCKS_CUH
#define SYNCILU_ELL_BLOCKS_CUH

#include "ell.cuh"

namespace syncilu
{

/*
   A warp solves for a block, each lane for a row. First the entries of other blocks are subtracted, OUTER of
   each row at a time. Then the rows of the block are finished one after the other: a shuffle hands the
   solution of a row to all lanes, and those that have an entry for it subtract. The entries of a row are
   stored in the order in which their rows are solved for, or, if DOWN, in the opposite order. A row has at
   most KEPT entries of its own block. They are kept in shared memory, since a load from device memory by one
   lane would stall all.

   Progress: other blocks that are waited for have lower tickets.
*/
template <typename V, bool DOWN, int OUTER, int KEPT>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE) block_kernel(SyncILUDeviceEll ell, SyncILUDeviceSolve s)
{
  constexpr int            WARPS = SYNCILU_BLOCK_SOLVE / 32;
  __shared__ V             kept_v[WARPS][KEPT][32];
  __shared__ unsigned char kept_c[WARPS][KEPT][32];
  const int                lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  int                      group;
  SyncILUSlice             d;

  if (!take_task<1>(ell, s, &d, &group)) return;
  const auto where    = in_memory<V, 1>(s, ell.n, group);
  const int  position = d.first + lane;
  const bool active   = lane < d.shape >> 3;
  V          sum[1] = {V(0)}, scale = 1, v[OUTER], next_v[OUTER], y[OUTER][1];
  size_t     to = 0;
  int        c[OUTER], next_c[OUTER], inners = 0; /* inners: entries of its own block */
  unsigned   needs = 0;                           /* lanes */

  auto load = [&](int q, int *column, V *value) {
    const bool   there = active && q < d.width;
    const size_t at    = slice_entry(d, lane, DOWN ? d.width - 1 - q : q);

    *column = there ? ell.col[at] : -1;
    *value  = there ? ((const V *)ell.val)[at] : V(0);
  };
#pragma unroll
  for (int k = 0; k < OUTER; k++) load(k, c + k, v + k);
  if (active) {
    if (s.scale) scale = ((const V *)s.scale)[position];
    to = out_place(s, position);
    read_rhs<V, 1>(s, ell.n, group, position, rhs_place(s, position), sum);
  }
  wait_for_ancestor(where.x + (d.first - s.throttle), s.throttle > 0 && d.first >= s.throttle);
  for (int q = 0; q < d.width; q += OUTER) {
#pragma unroll
    for (int k = 0; k < OUTER; k++) {
      if (c[k] >= d.first) {
        needs |= 1u << (c[k] - d.first);
        kept_c[warp][inners][lane] = (unsigned char)(c[k] - d.first);
        kept_v[warp][inners][lane] = v[k];
        inners++;
        c[k] = -1;
      }
    }
    load_needed(where, c, y);
#pragma unroll
    for (int k = 0; k < OUTER; k++) load(q + OUTER + k, next_c + k, next_v + k);
    while (!all_have(y)) load_missing(where, c, y);
    sum[0] = subtract_entries(sum[0], c, v, y, 0);
#pragma unroll
    for (int k = 0; k < OUTER; k++) {
      c[k] = next_c[k];
      v[k] = next_v[k];
    }
  }

  constexpr int NONE = 32;             /* no lane */
  V             x    = sum[0], val[2]; /* x: what is left of the right-hand side */
  int           from[2];
  auto          take = [&](int e, int *lane_of, V *value) {
    *lane_of = e < inners ? kept_c[warp][e][lane] : NONE;
    *value   = e < inners ? kept_v[warp][e][lane] : V(0);
  };
  take(0, from, val);
  take(1, from + 1, val + 1);
  int next = 2;
  for (unsigned left = __reduce_or_sync(FULL, needs); left; left &= left - 1) { /* in their order */
    const int  row  = __ffs((int)left) - 1;
    const V    y    = __shfl_sync(FULL, x * scale, row);
    const bool mine = from[0] == row;

    x = subtract_product_if(mine, x, val[0], y);
    if (mine) {
      from[0] = from[1];
      val[0]  = val[1];
      take(next++, from + 1, val + 1);
    }
  }
  x = clean(x * scale);
  if (active) where.publish(s, ell.n, group, position, to, &x);
}

/* The kernel for so many entries of a lane together. */
template <typename V, int OUTER>
void launch_blocks(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  constexpr int  FEW = SYNCILU_BLOCKS_INNER, ALL = 32;
  const unsigned grid = blocks_of((Ticket)ell.tasks);

  if (ell.blocks == SYNCILU_BLOCKS_DOWN) {
    if (ell.inner > FEW) block_kernel<V, true, OUTER, ALL><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s);
    else block_kernel<V, true, OUTER, FEW><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s);
  } else {
    if (ell.inner > FEW) block_kernel<V, false, OUTER, ALL><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s);
    else block_kernel<V, false, OUTER, FEW><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(ell, s);
  }
}

template <typename V>
cudaError_t launch_blocks(const SyncILUDeviceEll &ell, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  if (ell.outer > POLLS) launch_blocks<V, 2 * POLLS>(ell, s, stream);
  else launch_blocks<V, POLLS>(ell, s, stream);
  return cudaGetLastError();
}

} // namespace syncilu

#endif
