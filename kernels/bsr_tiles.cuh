/*
   From rows of blocks in shared memory straight to the tiles of kernels/solve_struct_blocks.h, for
   factorizations by inodes.
*/
#ifndef SYNCILU_BSR_TILES_CUH
#define SYNCILU_BSR_TILES_CUH

#include "bsr_tiles.h"
#include "square.cuh"

namespace syncilu
{

/* Where a part of an inode begins, in rows of a block, and at which points it has blocks. */
struct PartPlace {
  size_t   begin;
  unsigned mask;
};

template <int B>
__device__ __forceinline__ PartPlace part_place(const SyncILUDeviceBsrTiles &m, SyncILUStructBlocksPlace place, int p)
{
  const unsigned step = place.number / m.lines, tile = step / m.steps;
  const unsigned at = p ? 2 * tile * m.steps + m.steps - 1 - step : step; /* the step of L counts from the first tile's on */

  return {(size_t)at * (B * (m.part[p].points + 1)) * m.lines + place.number % m.lines, place.points >> SyncILUStencilBit(p, 0)};
}

/*
   The inverses of both triangles of the diagonal block of an inode, W + D and I + U'. H lanes of a warp have
   the inode. Their `inside` has W below the diagonal, the reciprocal pivots on it, and U' above. Each lane
   computes a column x: the first B lanes columns of the inverse of W + D, the next B those of the inverse of
   I + U', whose rows and columns are counted from the end, so that it is a lower triangle too. Lanes without
   an inode (`mine` is false) go along.
*/
template <typename V, int B, int H>
__device__ __forceinline__ void invert_triangles(const V *inside, bool mine, V (&x)[B])
{
  const int  lane  = threadIdx.x % H;
  const bool upper = lane >= B, has = mine && lane < 2 * B;
  const int  c = upper ? 2 * B - 1 - lane : lane;

  static_assert(2 * B <= H, "a lane for each column of the inverses of both triangles");
#pragma unroll
  for (int i = 0; i < B; i++) {
    x[i] = i == c ? V(1) : V(0);
    if (!has) continue;
#pragma unroll
    for (int j = 0; j < i; j++) x[i] -= inside[upper ? B * B - 1 - i * B - j : i * B + j] * x[j];
    if (!upper) x[i] *= inside[i * (B + 1)];
  }
}

/* Stores these columns in place of the block. All lanes have read the block before. */
template <typename V, int B, int H>
__device__ __forceinline__ void place_inverses(V *inside, bool mine, const V (&x)[B])
{
  const int  lane  = threadIdx.x % H;
  const bool upper = lane >= B;
  const int  c     = upper ? 2 * B - 1 - lane : lane;

#pragma unroll
  for (int i = 0; i < B; i++)
    if (mine && lane < 2 * B && (i > c || (i == c && !upper))) inside[upper ? B * B - 1 - i * B - c : i * B + c] = x[i];
}

/* A number of the inverse of W + D (p is 0) or of I + U', as place_inverses() leaves them. */
template <typename V, int B>
__device__ __forceinline__ V of_triangle(const V *inside, int p, int i, int j)
{
  return j != i ? ((j > i) == (p == 1) ? inside[i * B + j] : V(0)) : p ? V(1) : inside[i * (B + 1)];
}

/*
   Stores the blocks of an inode in the tiles, each times a square: by(p, i, j) has its numbers for blocks of
   W, with p = 0, and of U. own(p, i, j) has those of the diagonal block of either part. w has nl blocks of W,
   the diagonal block, which is not used, and those of U, STRIDE numbers apart. A barrier has made all of that
   visible to the lanes. With more than four rows tensor cores make the products (square.cuh); with fewer, a
   lane has a row of the square. Either way successive lanes write successive numbers. Returns whether this
   lane has stored numbers that are not finite.
*/
template <typename V, int B, int STRIDE, int H, typename By, typename Own>
__device__ __forceinline__ bool store_products(const SyncILUDeviceBsrTiles &m, SyncILUStructBlocksPlace place, int nl, const V *w, By by, Own own)
{
  constexpr int COLUMNS = H / B;
  const int     lane    = threadIdx.x % H;
  int           largest = 0; /* the upper half of the largest magnitude */
  auto          keep    = [&](V &to, V y) {
    to      = y;
    largest = max(largest, __double2hiint(y) & 0x7fffffff);
  };

  if constexpr (B > 4 && H == 32) {
    const int    r = lane / 4, k = lane % 4;
    const size_t next = (size_t)m.lines * B; /* from column to column */

#pragma unroll
    for (int p = 0; p < 2; p++) {
      const SyncILUBsrTilesPart &part = m.part[p];
      const PartPlace            at   = part_place<B>(m, place, p);
      const V *const             from = w + (p ? nl + 1 : 0) * STRIDE + k * B + r;
      V                         *to   = (V *)part.val + at.begin * B + r + 2 * k * next;
      const bool                 low = r < B && k < B, high = r < B && 4 + k < B;
      const V                    a[2] = {low ? by(p, r, k) : V(0), high ? by(p, r, 4 + k) : V(0)};
      /* lane e knows where the block of entry e stands in w; -1: the inode has no such block */
      const int point = (int)(part.at >> 4 * (lane & 15) & 15), stands = at.mask >> point & 1 ? __popc(at.mask & ((1u << point) - 1)) * STRIDE : -1;

      for (int e = 0; e < part.points; e++, to += B * next) {
        const int block = __shfl_sync(FULL, stands, e);
        V         y[2]  = {V(0), V(0)};

        if (block < 0) continue;
        add_square_product(y[0], y[1], a[0], low ? from[block] : V(0));
        add_square_product(y[0], y[1], a[1], high ? from[block + 4 * B] : V(0));
#pragma unroll
        for (int c = 0; c < 2; c++) {
          if (r >= B || 2 * k + c >= B) continue;
          keep(to[c * next], y[c]);
        }
      }
#pragma unroll
      for (int c = 0; c < 2; c++)
        if (r < B && 2 * k + c < B) keep(to[c * next], own(p, r, 2 * k + c));
    }
  } else if (lane < COLUMNS * B) {
    const int i = lane % B, first = lane / B;

#pragma unroll
    for (int p = 0; p < 2; p++) {
      const SyncILUBsrTilesPart &part = m.part[p];
      const PartPlace            at   = part_place<B>(m, place, p);
      const unsigned             mask = at.mask;
      const V *const             from = w + (p ? nl + 1 : 0) * STRIDE;
      V *const                   to   = (V *)part.val + at.begin * B + i;
      V                          a[B];

#pragma unroll
      for (int j = 0; j < B; j++) a[j] = by(p, i, j);
      for (int q = first; q < (part.points + 1) * B; q += COLUMNS) { /* columns, as they stand in storage */
        const int e = q / B, c = q % B, k = (int)(part.at >> 4 * e & 15);
        V         y = V(0);

        if (e < part.points) {
          if (!(mask >> k & 1)) continue;
          const V *const block = from + __popc(mask & ((1u << k) - 1)) * STRIDE + c;
#pragma unroll
          for (int j = 0; j < B; j++) y += a[j] * block[j * B];
        } else y = own(p, i, c);
        keep(to[(size_t)q * (m.lines * B)], y);
      }
    }
  }
  return largest >= 0x7ff00000;
}

/* The same with both triangles of the diagonal block as place_inverses() leaves them; w has U'. */
template <typename V, int B, int STRIDE, int H>
__device__ __forceinline__ void store_by_triangles(const SyncILUDeviceBsrTiles &m, SyncILUStructBlocksPlace place, int nl, const V *w, const V *inside)
{
  auto triangle = [&](int p, int i, int j) { return of_triangle<V, B>(inside, p, i, j); };

  (void)store_products<V, B, STRIDE, H>(m, place, nl, w, triangle, triangle);
}

/* Inverts the triangles in `inside`, then stores the products. Lanes whose inode is -1 go along. */
template <typename V, int B, int STRIDE, int H = 32>
__device__ __forceinline__ void store_tiles(const SyncILUDeviceBsrTiles &m, int inode, SyncILUStructBlocksPlace place, int nl, const V *w, V *inside)
{
  const bool mine = inode >= 0;
  V          x[B];

  invert_triangles<V, B, H>(inside, mine, x);
  __syncwarp(); /* all have read the triangles, whose place the inverses take */
  place_inverses<V, B, H>(inside, mine, x);
  __syncwarp(); /* the inverses are there */
  if (mine) store_by_triangles<V, B, STRIDE, H>(m, place, nl, w, inside);
}

} // namespace syncilu

#endif
