/*
   From rows of blocks in shared memory straight to the tiles of kernels/solve_struct_blocks.h, for
   factorizations by inodes.
*/
#ifndef SYNCILU_BSR_TILES_CUH
#define SYNCILU_BSR_TILES_CUH

#include "bsr_tiles.h"
#include "launch.cuh"

namespace syncilu
{

/*
   Stores the blocks of an inode, times the inverse of the triangle T of their part: W + D of L, I + U' of U.
   w has nl blocks of W, one that nobody needs, and those of U', STRIDE numbers apart. `inside` is of the H
   lanes of a warp that have the inode, and has the diagonal block's W below the diagonal, the reciprocal
   pivots, and its U'; all of that is there for them, and the inverses take its place. With H 32 several warps
   may share the inode, 1 << log. Lanes whose inode is -1 go along. A lane has a row of the inverses, so that
   successive lanes write successive numbers.
*/
template <typename V, int B, int STRIDE, int H = 32>
__device__ __forceinline__ void store_tiles(const SyncILUDeviceBsrTiles &m, int inode, SyncILUStructBlocksPlace place, int nl, const V *w, V *inside,
                                            int member, int log)
{
  constexpr int COLUMNS = H / B;
  const int     lane    = threadIdx.x % H;
  const bool    mine    = inode >= 0;

  static_assert(2 * B <= H, "a lane for each column of the inverses of both triangles");
  { /* a lane has a column of an inverse; those of U are counted from its end, so that it is a lower triangle too */
    const bool upper = lane >= B, has = mine && lane < 2 * B;
    const int  c  = upper ? 2 * B - 1 - lane : lane;
    auto       at = [&](int k) { return upper ? B * B - 1 - k : k; };
    V          x[B];

#pragma unroll
    for (int i = 0; i < B; i++) {
      x[i] = i == c ? V(1) : V(0);
      if (!has) continue;
#pragma unroll
      for (int j = 0; j < i; j++) x[i] -= inside[at(i * B + j)] * x[j];
      if (!upper) x[i] *= inside[i * (B + 1)];
    }
    __syncwarp(); /* all have read the triangles, whose place the inverses take */
#pragma unroll
    for (int i = 0; i < B; i++)
      if (has && (i > c || (i == c && !upper))) inside[at(i * B + c)] = x[i];
    __syncwarp(); /* the inverses are there */
  }
  const int i = lane % B, first = member * COLUMNS + lane / B;
  if (lane >= COLUMNS * B || !mine) return;
  const unsigned step = place.number / m.lines, tile = step / m.steps;
#pragma unroll
  for (int p = 0; p < 2; p++) {
    const SyncILUBsrTilesPart &part = m.part[p];
    const unsigned             mask = place.points >> SyncILUStencilBit(p, 0);
    const V *const             from = w + (p ? nl + 1 : 0) * STRIDE;
    const unsigned             at   = p ? 2 * tile * m.steps + m.steps - 1 - step : step; /* the step of L counts from the first tile's on */
    V *const                   to   = (V *)part.val + ((size_t)at * (B * (part.points + 1)) * m.lines + place.number % m.lines) * B + i;
    V                          t[B];

#pragma unroll
    for (int j = 0; j < B; j++) t[j] = j != i ? ((j > i) == (p == 1) ? inside[i * B + j] : V(0)) : p ? V(1) : inside[i * (B + 1)];
    for (int q = first; q < (part.points + 1) * B; q += COLUMNS << log) { /* columns, as they stand in storage */
      const int e = q / B, c = q % B, k = (int)(part.at >> 4 * e & 15);
      V         y = V(0);

      if (e < part.points) {
        if (!(mask >> k & 1)) continue;
        const V *const block = from + __popc(mask & ((1u << k) - 1)) * STRIDE + c;
#pragma unroll
        for (int j = 0; j < B; j++) y += t[j] * block[j * B];
      } else {
#pragma unroll
        for (int j = 0; j < B; j++) y = j == c ? t[j] : y;
      }
      to[(size_t)q * (m.lines * B)] = y;
    }
  }
}

} // namespace syncilu

#endif
