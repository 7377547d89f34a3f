/*
   From rows of blocks in shared memory straight to the tiles of kernels/solve_struct_blocks.h, for
   factorizations by inodes.
*/
#ifndef SYNCILU_BSR_TILES_CUH
#define SYNCILU_BSR_TILES_CUH

#include "bsr_rows.cuh"
#include "bsr_tiles.h"
#include "cache.cuh"
#include "square.cuh"
#include "syncfree.cuh"

namespace syncilu
{

/* Where L or U of an inode stands in the tiles. */
struct PartPlace {
  size_t   begin; /* B times this is where the numbers of its step begin, which all lines of the tile have */
  unsigned mask;  /* at which points it has blocks */
  int      line;
};

template <int B>
__device__ __forceinline__ PartPlace part_place(const SyncILUDeviceBsrTiles &m, SyncILUStructBlocksPlace place, int p)
{
  const unsigned line = place.number & (m.lines - 1), step = place.number >> (__ffs(m.lines) - 1), tile = step / m.steps;
  const unsigned at = p ? 2 * tile * m.steps + m.steps - 1 - step : step; /* the step of L counts from the first tile's on */

  return {(size_t)at * (B * (m.part[p].points + 1)) * m.lines, place.points >> SyncILUStencilBit(p, 0), (int)line};
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

/* Of the numbers that a lane has stored, the upper half of the largest magnitude: whether one is not finite. */
struct Largest {
  int high = 0;

  template <typename V>
  __device__ __forceinline__ void see(V y)
  {
    high = max(high, __double2hiint(y) & 0x7fffffff);
  }
  __device__ __forceinline__ bool lost() const { return high >= 0x7ff00000; }
};

/*
   Stores the blocks of W (p is 0) or of U of an inode in the tiles, each times a square, whose numbers are
   by(i, j), and, if OWN, that square behind them. w has the inode's blocks of W, nl of them, its diagonal
   block, which is not used, and those of U, STRIDE numbers apart. A barrier has made all of that visible to
   the lanes. A lane has a row of the square; successive lanes write successive numbers.
*/
template <typename V, int B, int STRIDE, int H, bool OWN, typename By>
__device__ __forceinline__ void store_products(const SyncILUDeviceBsrTiles &m, SyncILUStructBlocksPlace place, int p, int nl, const V *w, By by,
                                               Largest &largest)
{
  constexpr int              COLUMNS = H / B;
  const int                  lane = threadIdx.x % H, i = lane % B;
  const SyncILUBsrTilesPart &part    = m.part[p];
  const PartPlace            at      = part_place<B>(m, place, p);
  V *const                   to      = (V *)part.val + at.begin * B + i;
  const int                  numbers = m.lines * B * B; /* of a block of all lines */
  V                          a[B];

  if (lane >= COLUMNS * B) return;
  w += (p ? nl + 1 : 0) * STRIDE;
#pragma unroll
  for (int j = 0; j < B; j++) a[j] = by(i, j);
  for (int q = lane / B; q < (part.points + OWN) * B; q += COLUMNS) { /* columns, as they stand in storage */
    const int e = q / B, c = q % B, k = (int)(part.at >> 4 * e & 15);
    V         y = V(0);

    if (e < part.points) {
      if (!(at.mask >> k & 1)) continue;
      const V *const block = w + __popc(at.mask & ((1u << k) - 1)) * STRIDE + c;
#pragma unroll
      for (int j = 0; j < B; j++) y += a[j] * block[j * B];
    } else y = by(i, c);
    largest.see(y);
    to[(size_t)e * numbers + SyncILUStructBlocksColumn(B, m.lines, at.line, c)] = y;
  }
}

/*
   The same by tensor cores (square.cuh), with more than four rows. Of row lane / 4 of the square a lane has
   in a the columns lane % 4 and 4 + lane % 4. With an even number of rows the products of the transposes
   are made: then a lane has row 2 (lane % 4) and the next one of column lane / 4, and writes both at once.
   With an odd number of rows it has column 2 (lane % 4) and the next one of row lane / 4. Behind the
   products the block `own` is stored, of which a lane has the same places; NULL: none is. TURNED: see
   at_turn(). KEEP: the second-level cache is to keep what is stored (cache.cuh).
*/
template <typename V, int B, int STRIDE, bool TURNED, bool KEEP = false>
__device__ __forceinline__ void store_square_products(const SyncILUDeviceBsrTiles &m, SyncILUStructBlocksPlace place, int p, int nl, const V *w,
                                                      const V (&a)[2], const V (*own)[2], Largest &largest)
{
  const int                  lane = threadIdx.x % 32, r = lane / 4, k = lane % 4;
  const SyncILUBsrTilesPart &part = m.part[p];
  const PartPlace            at   = part_place<B>(m, place, p);
  const int                  next = m.lines * B; /* from column to column, with an odd number of rows */
  const V *const             from = w + (p ? nl + 1 : 0) * STRIDE + at_turn<B, TURNED>(k, r);
  const int                  mine = SyncILUStructBlocksColumn(B, m.lines, at.line, B % 2 ? 2 * k : r) + (B % 2 ? r : 2 * k);
  V                         *to   = (V *)part.val + at.begin * B + mine;
  const bool                 low = r < B && k < B, high = r < B && 4 + k < B, first = r < B && 2 * k < B, second = r < B && 2 * k + 1 < B;
  /* lane e knows where the block of entry e stands in w; -1: the inode has no such block */
  const int point = (int)(part.at >> 4 * (lane & 15) & 15), stands = at.mask >> point & 1 ? __popc(at.mask & ((1u << point) - 1)) * STRIDE : -1;

  const Eviction last = KEEP ? evict_last() : 0;
  auto           put  = [&](V *p, V v) {
    if constexpr (KEEP) store_by(last, p, v);
    else *p = v;
  };
  auto store = [&](const V(&y)[2]) {
    if (first) largest.see(y[0]);
    if (second) largest.see(y[1]);
    if constexpr (B % 2) {
      if (first) put(to, y[0]);
      if (second) put(to + next, y[1]);
    } else if (first) {
      if constexpr (KEEP) store_pair_by(last, to, y[0], y[1]);
      else *(double2 *)to = make_double2(y[0], y[1]);
    }
  };
  static_assert(B % 2 == 0 || SyncILUStructBlocksBeside(B) == 1, "columns are `next` numbers apart");
  for (int e = 0; e < part.points; e++, to += B * next) {
    const int block = __shfl_sync(FULL, stands, e);

    if (block < 0) continue;
    const V b[2] = {low ? from[block] : V(0), high ? from[block + 4 * B] : V(0)};
    V       y[2] = {V(0), V(0)};

#pragma unroll
    for (int h = 0; h < 2; h++) {
      if (B % 2) add_square_product(y[0], y[1], a[h], b[h]);
      else add_square_product(y[0], y[1], b[h], a[h]);
    }
    store(y);
  }
  if (own) store(*own);
}

/*
   Reports the last row of an inode of which W and U' are finite, but not what this lane has stored: with the
   inverses of the triangles. The host has none, and would go on. (A diagonal block that is not finite has had a pivot
   that is not.)
*/
template <typename V, int B, int STRIDE>
__device__ __forceinline__ void report_inverses(const Largest &largest, int inode, int blocks, int nl, const V *w, SyncILUDeviceStatus *status)
{
  if (!largest.lost()) return;
  for (int b = 0; b < blocks; b++) {
    for (int n = 0; n < B * B && b != nl; n++)
      if (!isfinite(w[b * STRIDE + n])) return;
  }
  report(&status->row, inode * B + B - 1);
}

/* Both parts, with the triangles of the diagonal block as place_inverses() leaves them; w has U'. */
template <typename V, int B, int STRIDE, int H>
__device__ __forceinline__ void store_by_triangles(const SyncILUDeviceBsrTiles &m, int inode, SyncILUStructBlocksPlace place, int nl, const V *w,
                                                   const V *inside, SyncILUDeviceStatus *status)
{
  Largest largest;

#pragma unroll
  for (int p = 0; p < 2; p++) {
    auto triangle = [&](int i, int j) { return of_triangle<V, B>(inside, p, i, j); };

    if constexpr (B > 4 && H == 32) {
      const int r = threadIdx.x % 32 / 4, k = threadIdx.x % 4;
      auto      number = [&](int i, int j) { return i < B && j < B ? triangle(i, j) : V(0); };
      auto      mine   = [&](int c) { return B % 2 ? number(r, c) : number(c, r); };
      const V   a[2] = {number(r, k), number(r, 4 + k)}, own[2] = {mine(2 * k), mine(2 * k + 1)};

      store_square_products<V, B, STRIDE, false>(m, place, p, nl, w, a, &own, largest);
    } else store_products<V, B, STRIDE, H, true>(m, place, p, nl, w, triangle, largest);
  }
  report_inverses<V, B, STRIDE>(largest, inode, 1 + __popc(place.points), nl, w, status);
}

/* Inverts the triangles in `inside`, then stores the products. Lanes whose inode is -1 go along. */
template <typename V, int B, int STRIDE, int H = 32>
__device__ __forceinline__ void store_tiles(const SyncILUDeviceBsrTiles &m, int inode, SyncILUStructBlocksPlace place, int nl, const V *w, V *inside,
                                            SyncILUDeviceStatus *status)
{
  const bool mine = inode >= 0;
  V          x[B];

  invert_triangles<V, B, H>(inside, mine, x);
  __syncwarp(); /* all have read the triangles, whose place the inverses take */
  place_inverses<V, B, H>(inside, mine, x);
  __syncwarp(); /* the inverses are there */
  if (mine) store_by_triangles<V, B, STRIDE, H>(m, inode, place, nl, w, inside, status);
}

} // namespace syncilu

#endif
