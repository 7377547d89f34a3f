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

/* What the lanes up to this one have together. */
__device__ __forceinline__ int sum_up_to(int own)
{
  const int lane = threadIdx.x & 31;

#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(FULL, own, step);

    if (lane >= step) own += before;
  }
  return own;
}

/* Where the inner entries of this lane's row begin. */
__device__ __forceinline__ unsigned inner_begin(const SyncILUBlock &d, const SyncILUBlockRow &r)
{
  const int count = __popc(r.inner);

  return d.inner + (unsigned)(sum_up_to(count) - count);
}

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
  Places                outers(d.outer, lane);

  for (int w = width_of(d) - 1; w >= 0; w--) {
    const bool     mine  = w < r.outer;
    const unsigned place = outers.take(mine);

    if (mine) outer(i, m.down ? inners + w : r.outer - 1 - w, place);
  }
  const unsigned own  = inner_begin(d, r);
  unsigned       left = r.inner;
  for (int k = 0; left; k++, left &= left - 1) inner(i, m.down ? inners - 1 - k : r.outer + k, own + k, __ffs((int)left) - 1);
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
  const V      *from    = (const V *)m.inner + inner_begin(d, r);

  for (unsigned left = r.inner; left; from += AT_ONCE) {
    V   x[AT_ONCE];
    int place[AT_ONCE];

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++, left &= left - 1) {
      place[k] = left ? inner_place(__ffs((int)left) - 1, lane) : -1;
      x[k]     = left ? from[k] : V(0);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      if (place[k] >= 0) own[place[k]] = x[k] * scale;
  }
}

/*
   Whether a mask has bit k, asked for one bit after the other. After four of them the compiler no longer knows
   that it is the same mask: it would look at all bits ahead and keep a predicate for each, of which a thread
   has seven, and ptxas (CUDA 13.0) gives up.
*/
__device__ __forceinline__ bool next_bit(int k, unsigned *left)
{
  const bool is = *left >> k % 4 & 1;

  if (k % 4 == 3) {
    *left >>= 4;
    asm("" : "+r"(*left));
  }
  return is;
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
  unsigned  left = r.inner;

#pragma unroll
  for (int k = 0; k < MOST - 1; k++) {
    V x[R];

#pragma unroll
    for (int q = 0; q < R; q++) x[q] = __shfl_sync(FULL, sum[q], k);
    if (next_bit(k, &left)) {
      const V a = own[inner_place(k, lane)];

#pragma unroll
      for (int q = 0; q < R; q++) sum[q] = fma(-a, x[q], sum[q]);
    }
  }
}

/*
   The same where the inner entries are on their way from memory, and not yet scaled: `to` has room for those of
   the block. Returns where those of this lane will be; other lanes copy them.
*/
template <typename V>
__device__ __forceinline__ V *copy_inner(const SyncILUDeviceBlocks &m, const SyncILUBlock &d, const SyncILUBlockRow &r, V *to)
{
  const int count = __popc(r.inner), end = sum_up_to(count), all = __shfl_sync(FULL, end, 31);

  for (int k = threadIdx.x & 31; k < all; k += 32) copy_if(true, to + k, (const V *)m.inner + d.inner + k);
  return to + end - count;
}

template <typename V>
__device__ __forceinline__ void finish_copied_rows(const SyncILUBlockRow &r, const V *own, V scale, V *sum)
{
  unsigned left = r.inner;

#pragma unroll
  for (int k = 0; k < MOST - 1; k++) {
    const V x = __shfl_sync(FULL, *sum, k);

    if (next_bit(k, &left)) *sum = fma(-(*own++ * scale), x, *sum);
  }
}

/*
   The order in which the rows of a block are finished: in sets of at most so many, none of which depends on
   another, lower lanes first. Lanes give what they know of their own row, which comes where that order has it.
   Bit k of the result is set if a set begins with the k-th row. A row depends on lower lanes, so that some row
   can always be finished.
*/
template <typename T>
__device__ __forceinline__ unsigned find_order(int rows, int most, unsigned inner, const T &own, T *to)
{
  const int lane = threadIdx.x & 31;
  unsigned  done = rows < MOST ? FULL << rows : 0, begins = 0;

  for (int k = 0; done != FULL;) {
    const unsigned ready = __ballot_sync(FULL, !(done >> lane & 1) && !(inner & ~done));
    const int      place = __popc(ready & ((1u << lane) - 1));
    const bool     takes = (ready >> lane & 1) && place < most;
    const unsigned taken = __ballot_sync(FULL, takes);

    if (takes) to[k + place] = own;
    begins |= 1u << k;
    k += __popc(taken);
    done |= taken;
  }
  return begins;
}

} // namespace syncilu

#endif
