/*
   The storage of triangles in blocks of successive rows, and what a warp does with the entries inside of its
   block: for the solve by blocks and for Jacobi sweeps with them.
*/
#ifndef SYNCILU_BLOCKS_CUH
#define SYNCILU_BLOCKS_CUH

#include "async.cuh"
#include "polls.cuh"
#include "solve_blocks.h"

namespace syncilu
{

constexpr int MOST = SYNCILU_BLOCKS_MOST;

/* Numbers side by side, loaded and stored in pairs. */
template <typename V, int R>
struct alignas(R > 1 ? 2 * sizeof(V) : sizeof(V)) Numbers {
  V r[R];
};

__device__ __forceinline__ int rows_of(const SyncILUBlock &d)
{
  return d.shape & (SYNCILU_BLOCKS_SHAPE - 1);
}

__device__ __forceinline__ int width_of(const SyncILUBlock &d)
{
  return d.shape / SYNCILU_BLOCKS_SHAPE;
}

/* The row of a lane that has one. */
__device__ __forceinline__ int row_of(const SyncILUBlock &d, bool down, int lane)
{
  return down ? d.first + rows_of(d) - 1 - lane : d.first + lane;
}

/* Places for the lanes of a warp that have an entry, side by side in the order of the lanes. */
struct Places {
  unsigned next, below; /* below: the lanes before this one */

  __device__ __forceinline__          Places(unsigned begin, int lane) : next(begin), below((1u << lane) - 1) { }
  __device__ __forceinline__ unsigned take(bool mine)
  {
    const unsigned lanes = __ballot_sync(FULL, mine), place = next + __popc(lanes & below);

    next += __popc(lanes);
    return place;
  }
};

/* Sorts numbers in shared memory, a power of two of them, by one warp (K. E. Batcher, AFIPS 1968). */
__device__ __forceinline__ void sort_shared(int *key, int n)
{
  const int lane = threadIdx.x & 31;

  for (int run = 2; run <= n; run *= 2) {
    for (int step = run / 2; step; step /= 2) {
      for (int k = lane; k < n / 2; k += 32) {
        const int i = 2 * k - (k & (step - 1)), x = key[i], y = key[i + step];

        if ((x > y) == !(i & run)) {
          key[i]        = y;
          key[i + step] = x;
        }
      }
      __syncwarp(); /* the pairs of the next step are others */
    }
  }
}

/*
   Calls outer(row, entry, place) and inner(row, entry, place, lane) for all entries of the block of this
   warp: the number of the entry in its row, where it stands, and for an inner one the lane of its column.
*/
template <typename Outer, typename Inner>
__device__ __forceinline__ void each_entry(const SyncILUDeviceBlocks &m, long long b, Outer outer, Inner inner)
{
  const int             lane = threadIdx.x & 31;
  const SyncILUBlock    d    = m.block[b];
  const SyncILUBlockRow r    = m.row[b * MOST + lane];
  const int             i = row_of(d, m.down, lane), inners = __popc(r.inner);
  Places                outers(d.outer, lane), own(d.inner, lane);

  for (int w = width_of(d) - 1; w >= 0; w--) {
    const bool     mine  = w < r.outer;
    const unsigned place = outers.take(mine);

    if (mine) outer(i, m.down ? inners + w : r.outer - 1 - w, place);
  }
  unsigned left = r.inner;
  for (int k = 0; __any_sync(FULL, left != 0); k++, left &= left - 1) {
    const bool     mine  = left != 0;
    const unsigned place = own.take(mine);

    if (mine) inner(i, m.down ? inners - 1 - k : r.outer + k, place, __ffs((int)left) - 1);
  }
}

/* Inner entries of a block at most: lane l has those for lanes k < l, and they are kept by k, then l. */
constexpr int INNER = MOST * (MOST - 1) / 2;

__device__ __forceinline__ int inner_place(int k, int lane)
{
  return k * (MOST - 1) - k * (k + 1) / 2 + lane - 1;
}

/*
   Loads the inner entries of a block for finish_rows(), multiplied by the scale of their row: own has room for
   INNER numbers in shared memory, of which each lane writes and reads its own.
*/
template <typename V>
__device__ __forceinline__ void keep_inner(const SyncILUDeviceBlocks &m, const SyncILUBlock &d, const SyncILUBlockRow &r, V scale, V *own)
{
  constexpr int AT_ONCE = 4; /* that are loaded at the same time */
  const int     lane    = threadIdx.x & 31;
  Places        inners(d.inner, lane);

  for (unsigned left = r.inner; __any_sync(FULL, left != 0);) {
    V   x[AT_ONCE];
    int place[AT_ONCE];

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++, left &= left - 1) {
      const bool     there = left != 0;
      const unsigned from  = inners.take(there);

      place[k] = there ? inner_place(__ffs((int)left) - 1, lane) : -1;
      x[k]     = there ? ((const V *)m.inner)[from] : V(0);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      if (place[k] >= 0) own[place[k]] = x[k] * scale;
  }
}

/*
   Finishes the rows of a block one after the other, whose sums are scaled and have no outer entries left: a
   shuffle hands the solution of a row to all lanes, and those that have an entry for it subtract. The loop is
   unrolled, as the steps are a chain: a shuffle and a product each are all that there is in it.
*/
template <typename V, int R>
__device__ __forceinline__ void finish_rows(const SyncILUBlockRow &r, const V *own, V *sum)
{
  const int lane = threadIdx.x & 31;

#pragma unroll
  for (int k = 0; k < MOST - 1; k++) {
    const bool needs = r.inner >> k & 1;
    const V    a     = needs ? own[inner_place(k, lane)] : V(0);

#pragma unroll
    for (int q = 0; q < R; q++) sum[q] = subtract_product_if(needs, sum[q], a, __shfl_sync(FULL, sum[q], k));
  }
}

/*
   The same where the inner entries are on their way from memory, side by side by rows, and not yet scaled:
   `to` has room for those of the block. Returns where those of this lane will be, for it alone to read.
*/
template <typename V>
__device__ __forceinline__ V *copy_inner(const SyncILUDeviceBlocks &m, const SyncILUBlock &d, const SyncILUBlockRow &r, V *to)
{
  const int lane = threadIdx.x & 31, count = __popc(r.inner);
  Places    inners(d.inner, lane);
  int       end = count; /* of the entries of the lanes up to this one */

#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(FULL, end, step);

    if (lane >= step) end += before;
  }
  to += end - count;
  for (int k = 0; __any_sync(FULL, k < count); k++) {
    const bool     there = k < count;
    const unsigned from  = inners.take(there);

    copy_if(there, to + k, (const V *)m.inner + from);
  }
  return to;
}

template <typename V>
__device__ __forceinline__ void finish_copied_rows(const SyncILUBlockRow &r, const V *own, V scale, V *sum)
{
#pragma unroll
  for (int k = 0; k < MOST - 1; k++) {
    const bool needs = r.inner >> k & 1;
    const V    a     = needs ? *own * scale : V(0);

    own += needs;
    *sum = subtract_product_if(needs, *sum, a, __shfl_sync(FULL, *sum, k));
  }
}

} // namespace syncilu

#endif
