/*
   Update strategy bsr on a grid of points with two to seven unknowns, where levels are wide: a warp has a
   step of a tile, as in factor_struct_wide.cu, and a lane an unknown, whose row it has. As in
   factor_bsr_grid.cu the tiles of the solves are all there is of the factor, with whole blocks, and

     for each reference inode k of inode i:    W_ij -= W_ik (W_kk^-1 W_kj)
     then W_ii = (W + D) (I + U'_ii):          a row of W_ii^-1
     then it stores for U:                     W_ii^-1 W_ij
       and, once others may read that, for L:  W_ii^-1 W_ik, and W_ii^-1

   where W_ik, W_ii and W_ij are what updates leave of the matrix (factor_bsr_grid.cu).

   Lanes copy columns of their inode's reference blocks to shared memory, those of the reference inodes with
   the lowest levels first. More of them ahead would be no gain: fewer warps would fit. From one level to the
   next it takes 6 us at least on an H200, so levels have to be wide.

   Tiles of a warp have a size of their own, 16 lines of points with two unknowns, 8 with up to four, else 4.
   Each counts the steps that are done.

   Progress: tickets are in the order of the levels, and a task waits for steps of tiles that all have lower
   levels.
*/
#include "factor_bsr_wide.h"
#include "entries.cuh"
#include "pivot.cuh"
#include "struct_wide.cuh"

using namespace syncilu;

namespace
{

constexpr int AHEAD = SYNCILU_STRUCT_AHEAD;

template <int D>
constexpr int LINES = 1 << SyncILUBsrWideLines(D);
template <int D>
constexpr int STRIDE = SyncILUBsrWideStride(D);

/* Blocks that are updated together, and columns of a block: as many as registers hold. */
template <int D>
constexpr int BLOCKS = D == 2 ? 4
                     : D <= 4 ? 2
                              : 1;
template <int D>
constexpr int COLUMNS = D <= 4 ? D
                      : D <= 6 ? 3
                               : 4;

/* What a task has in shared memory, in doubles: its rows, number by number, and blocks of reference inodes. */
template <int D>
__host__ __device__ __forceinline__ int doubles_of_rows(const SyncILUDeviceBsrWide &f)
{
  return ((f.lower.points + 1 + f.upper.points) * D * STRIDE<D> + 1) / 2 * 2;
}

template <int D>
__host__ __device__ __forceinline__ int doubles_of_task(const SyncILUDeviceBsrWide &f)
{
  return doubles_of_rows<D>(f) + f.hand * D * D * LINES<D>;
}

/* D numbers, which are aligned to as many bytes as they have if D is even. */
template <int D>
__device__ __forceinline__ void copy_numbers(unsigned to, const char *from)
{
  if constexpr (D % 2 == 0) {
#pragma unroll
    for (int c = 0; c < 8 * D; c += 16) copy_piece(to + c, from + c);
  } else {
#pragma unroll
    for (int c = 0; c < 8 * D; c += 8) copy_number(to + c, from + c);
  }
}

template <int D>
__device__ __forceinline__ void get_numbers(const double *from, double (&x)[D])
{
  if constexpr (D % 2 == 0) {
#pragma unroll
    for (int c = 0; c < D; c += 2) {
      const double2 two = *(const double2 *)(from + c);

      x[c]     = two.x;
      x[c + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int c = 0; c < D; c++) x[c] = from[c];
  }
}

/* A diagonal block becomes W + D below, with the pivots, and U' above; and reciprocal pivots. */
template <int D>
__device__ __forceinline__ void eliminate(const SyncILUDevicePivoting &piv, double (&block)[D][D], double (&by)[D])
{
#pragma unroll
  for (int p = 0; p < D; p++) {
    by[p] = reciprocal_pivot(piv, block[p][p]);
#pragma unroll
    for (int c = p + 1; c < D; c++) {
      block[p][c] *= by[p];
#pragma unroll
      for (int r = p + 1; r < D; r++) block[r][c] -= block[r][p] * block[p][c];
    }
  }
}

/* Row x of something times (W + D)^-1. */
template <int D>
__device__ __forceinline__ void times_lower_inverse(const double (&block)[D][D], const double (&by)[D], double (&x)[D])
{
#pragma unroll
  for (int c = D - 1; c >= 0; c--) {
#pragma unroll
    for (int s = c + 1; s < D; s++) x[c] -= x[s] * block[s][c];
    x[c] *= by[c];
  }
}

/* Stores a row of a block. largest becomes the upper half of the largest magnitude that was stored. */
template <int D>
__device__ __forceinline__ void store_row(const double (&row)[D], double *to, int next, int &largest)
{
#pragma unroll
  for (int c = 0; c < D; c++) {
    to[c * next] = row[c];
    largest      = max(largest, __double2hiint(row[c]) & 0x7fffffff);
  }
}

/* The same of a row times a block, which is in shared memory. */
template <int D>
__device__ __forceinline__ void store_product(const double (&row)[D], const double *block, double *to, int next, int &largest)
{
  double x[D];

#pragma unroll
  for (int c = 0; c < D; c++) {
    x[c] = 0.0;
#pragma unroll
    for (int r = 0; r < D; r++) x[c] = fma(row[r], block[c * STRIDE<D> + r], x[c]);
  }
  store_row<D>(x, to, next, largest);
}

/* The diagonal block of the inode whose first row begins at mine. */
template <int D>
__device__ __forceinline__ void get_block(const double *mine, int nl, double (&block)[D][D])
{
#pragma unroll
  for (int r = 0; r < D; r++) {
#pragma unroll
    for (int c = 0; c < D; c++) block[r][c] = mine[(nl * D + c) * STRIDE<D> + r];
  }
}

/* Updates several blocks of a row, which are at w, with its multipliers part and the blocks at from. */
template <int D, int MANY, bool HOLES>
__device__ __forceinline__ void update_blocks(const unsigned short *target, const double (&part)[D], double *w, const double *from)
{
  constexpr int C = COLUMNS<D>;
  double       *to[MANY];
  bool          some[MANY];

#pragma unroll
  for (int m = 0; m < MANY; m++) {
    to[m]   = w + target[m];
    some[m] = !HOLES;
    if (HOLES) { /* infinite numbers must not meet the zeros of a block that is not there */
      for (int c = 0; c < D; c++) {
        double u[D];

        get_numbers<D>(from + (m * D + c) * (LINES<D> * D), u);
        for (int s = 0; s < D; s++) some[m] |= u[s] != 0.0;
      }
    }
  }
#pragma unroll
  for (int first = 0; first < D; first += C) {
    double x[MANY][C], u[MANY][C][D];

#pragma unroll
    for (int m = 0; m < MANY; m++) {
#pragma unroll
      for (int c = 0; c < C; c++) {
        if (first + c >= D) continue;
        x[m][c] = to[m][(first + c) * STRIDE<D>];
        get_numbers<D>(from + (m * D + first + c) * (LINES<D> * D), u[m][c]);
      }
    }
#pragma unroll
    for (int s = 0; s < D; s++) {
#pragma unroll
      for (int m = 0; m < MANY; m++) {
#pragma unroll
        for (int c = 0; c < C; c++) {
          if (first + c < D) x[m][c] = fma(-part[s], u[m][c][s], x[m][c]);
        }
      }
    }
#pragma unroll
    for (int m = 0; m < MANY; m++) {
#pragma unroll
      for (int c = 0; c < C; c++) {
        if (first + c < D && some[m]) to[m][(first + c) * STRIDE<D>] = x[m][c];
      }
    }
  }
}

/*
   Reports a row that would not come out as it is on the host: one with a u' that is not finite though u is,
   as the host stores u, or else the last row of the inode if only its inverses are not finite.
*/
template <int D>
__device__ void report_lost(const SyncILUDeviceBsrWide &f, const double *mine, unsigned all, int inode)
{
  const int nl = f.lower.points, nu = f.upper.points;
  double    block[D][D], by[D];
  bool      finite = true;
  int       lost   = D;

  get_block<D>(mine, nl, block);
  for (int p = 0; p < D; p++) {
    by[p] = reciprocal_pivot(f.piv, block[p][p]);
    for (int c = 0; c < D; c++) finite = finite && isfinite(mine[(nl * D + c) * STRIDE<D> + p]);
    for (int c = p + 1; c < D; c++) {
      const double u = block[p][c] * by[p];

      if (!isfinite(u) && isfinite(block[p][c])) lost = min(lost, p);
      block[p][c] = u;
      for (int r = p + 1; r < D; r++) block[r][c] -= block[r][p] * u;
    }
  }
  for (int b = 0; b < nl + nu; b++) {
    if (!(all >> f.bit[b] & 1)) continue;
    for (int c = 0; c < D; c++) {
      double v[D];

      for (int r = 0; r < D; r++) {
        v[r]   = mine[((b + (b >= nl)) * D + c) * STRIDE<D> + r];
        finite = finite && isfinite(v[r]);
      }
      for (int p = 0; p < D && b >= nl; p++) {
        const double u = v[p] * by[p];

        if (!isfinite(u) && isfinite(v[p])) lost = min(lost, p);
        for (int r = p + 1; r < D; r++) v[r] -= block[r][p] * u;
      }
    }
  }
  if (finite && lost == D) lost = D - 1;
  if (lost < D) report(&f.status->row, inode * D + lost);
}

template <int D, bool HOLES>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) bsr_wide_kernel(const SyncILUDeviceBsrWide f)
{
  extern __shared__ __align__(16) double shared[];
  __shared__ __align__(16) SyncILUBsrWideTable table;
  const SyncILULines                          &g    = f.lower.g;
  const int                                    lane = threadIdx.x & 31, l = lane / D, i = lane - l * D, nl = f.lower.points, nu = f.upper.points;

  for (int q = threadIdx.x; q < (int)(sizeof(table) / 16); q += blockDim.x) ((int4 *)&table)[q] = ((const int4 *)f.table)[q];
  const Ticket t = take_ticket(f.ticket); /* with a barrier, after which the table is there */
  if (t >= (Ticket)f.tasks) return;
  double *const rows = shared + (threadIdx.x >> 5) * doubles_of_task<D>(f), *const w = rows + lane, *const hand = rows + doubles_of_rows<D>(f);
  const StepTask task = ((const StepTask *)f.task)[t];
  const Tile     tile = tile_of(f.g, task.tile);
  const int      line = tile.v + (l & ((1 << f.g.edge[0]) - 1)), plane = tile.w + (l >> f.g.edge[0]), first = l < LINES<D> ? line_row(g, line, plane) : -1;
  const int      at[3] = {task.step - lane_at(f.g, line, plane).late, line - g.skew * plane, plane};
  const bool     on    = first >= 0 && (unsigned)at[0] < (unsigned)g.points[0];
  const int      inode = on ? first + at[0] * g.stride[0] : 0, begin = on ? f.inodes.ptr[inode] : 0;
  unsigned       all  = 0; /* the entries that the inode has, by ascending columns */
  bool           full = !HOLES && (on || l >= LINES<D>);

#pragma unroll
  for (int c = 0; c < 3; c++) full = full && (l >= LINES<D> || (at[c] >= f.margin[c][0] && at[c] < g.points[c] - f.margin[c][1]));
  full = __all_sync(FULL, full); /* all inodes have all entries */
  if (on) all = full ? ~0u : points_of(f.lower, inode, at) | 1u << nl | points_of(f.upper, inode, at) << (nl + 1);
  {
    /* where each row begins on the pattern, and which entries it has; blocks will be at hand there later */
    int *const      begins  = (int *)hand;
    unsigned *const entries = (unsigned *)hand + 32;
    const int       n       = (nl + 1 + nu) * D;

    begins[lane]  = begin * D * D + i * D * (full ? nl + 1 + nu : __popc(all));
    entries[lane] = all;
    __syncwarp(); /* they are there for all lanes */
    for (int q = lane; q < n; q += 32) {
      const int           e  = q / D;
      double *const       to = rows + table.block[e] + q % D * STRIDE<D>;
      const double *const a  = (const double *)f.a.a;

      if (full && !f.a.map) {
        const unsigned address = fixed_address(to);

#pragma unroll 2
        for (int r = 0; r < LINES<D> * D; r += 4) {
          const int4 from = *(const int4 *)(begins + r);

          copy_number(address + 8 * r, a + q + from.x);
          copy_number(address + 8 * r + 8, a + q + from.y);
          copy_number(address + 8 * r + 16, a + q + from.z);
          copy_number(address + 8 * r + 24, a + q + from.w);
        }
        continue;
      }
      for (int r = 0; r < LINES<D> * D; r++) {
        const int from = begins[r] + __popc(entries[r] & ((1u << e) - 1)) * D + q % D;

        if (!(entries[r] >> e & 1)) to[r] = 0.0;
        else if (f.a.map) to[r] = value<double>(f.a, from);
        else copy_number(fixed_address(to + r), a + from);
      }
    }
  }
  commit_copies();

  /* a lane has a tile that reference inodes are in: how many steps of it are done */
  const int        beside = lane < f.tiles ? tile_beside(f.g, tile, f.tile[lane]) : -1;
  const int *const done   = beside < 0 ? NULL : f.done + beside;
  int              seen   = done ? load_acquire(done) : INT_MAX;

  wait_copies<0>();
  __syncwarp(); /* the rows are there for all lanes; and those steps are whole for them */

  static_assert(SyncILUStructBlocksBeside(D) == 1, "columns of a block are lines * D numbers apart");
  const int    lines    = SyncILUStructBlocksLines(&g);
  const size_t steps[2] = {SyncILUStructBlocksStep(&g, nl, D), SyncILUStructBlocksStep(&g, nu, D)}; /* numbers of a step */
  int          asked    = 0;

  for (int k = 0; k < nl; k++) {
    while (asked < nl && asked < k + AHEAD && f.source[asked].after <= k) {
      const SyncILUBsrWideSource &source = f.source[asked];
      const int                   needs  = lane < f.tiles ? min(task.step + table.needs[asked][lane], f.g.steps) : 0;

      if (!__all_sync(FULL, seen >= needs)) {
        if (asked > k) break; /* what has been asked for comes first */
        seen = wait_steps(done, needs, seen);
      }
      const int v = line + source.point[1] + g.skew * source.point[2], z = plane + source.point[2];

      if (on && all >> f.bit[asked] & 1) {
        const Lane    there  = lane_at(g, v, z);
        const int     step   = tile_at(g, v, z) * g.steps + g.steps - 1 - (at[0] + source.point[0] + there.late);
        const char   *column = (const char *)((const double *)f.upper.val + step * steps[1] + (i * lines + there.number) * D);
        unsigned      to     = fixed_address(hand + (source.begin * D + i) * (LINES<D> * D) + l * D);
        constexpr int NEXT   = LINES<D> * D * D * (int)sizeof(double);
        int           q      = 0;

        for (; q + 4 <= source.count; q += 4, to += 4 * NEXT) {
#pragma unroll
          for (int m = 0; m < 4; m++) copy_numbers<D>(to + m * NEXT, column + source.from[q + m]);
        }
        for (; q < source.count; q++, to += NEXT) copy_numbers<D>(to, column + source.from[q]);
      }
      commit_copies();
      asked++;
    }
    wait_copies_but(asked - k - 1);
    __syncwarp(); /* what the lanes of an inode have copied is there for all of them */
    if (on && all >> f.bit[k] & 1) {
      const SyncILUBsrWideSource &source = f.source[k];
      const double               *from   = hand + source.begin * (D * D * LINES<D>)+l * D;
      const double               *own    = w + k * D * STRIDE<D>;
      double                      part[D];
      int                         q = 0;

#pragma unroll
      for (int c = 0; c < D; c++) part[c] = own[c * STRIDE<D>];
      for (; q + BLOCKS<D> <= source.count; q += BLOCKS<D>, from += BLOCKS<D> * LINES<D> * D * D)
        update_blocks<D, BLOCKS<D>, HOLES>(source.target + q, part, w, from);
      for (; q < source.count; q++, from += LINES<D> * D * D) update_blocks<D, 1, HOLES>(source.target + q, part, w, from);
    }
    __syncwarp(); /* others may be copied to where these blocks are */
  }

  const Lane    place      = lane_at(g, line, plane);
  const int     tile_steps = on ? tile_at(g, line, plane) * g.steps : 0, step = at[0] + place.late;
  const int     next    = lines * D;       /* from column to column in storage */
  const double *mine    = rows + lane - i; /* of the first row of the inode */
  int           largest = 0;
  double        d       = 0.0, middle[D]; /* row i of W_ii^-1 */

  if (on) { /* rows of U first, since other inodes wait for them */
    double *const to = (double *)f.upper.val + (size_t)(tile_steps + g.steps - 1 - step) * steps[1] + place.number * D + i;
    double        block[D][D], by[D];

    get_block<D>(mine, nl, block);
    eliminate<D>(f.piv, block, by);
#pragma unroll
    for (int c = 0; c < D; c++) {
      middle[c] = c == i ? 1.0 : 0.0;
      if (c == i) d = block[c][c];
    }
#pragma unroll
    for (int c = 1; c < D; c++) {
#pragma unroll
      for (int s = 0; s < c; s++) middle[c] -= middle[s] * block[s][c];
    }
    times_lower_inverse<D>(block, by, middle);
#pragma unroll 2
    for (int b = 0; b < nu; b++) {
      if (all >> f.bit[nl + b] & 1) store_product<D>(middle, mine + (nl + 1 + b) * D * STRIDE<D>, to + b * D * next, next, largest);
    }
  }
  __syncwarp(); /* rows of U are stored */
  if (lane == 0) store_release(f.done + task.tile, task.step + 1);
  if (on) {
    double *const to  = (double *)f.lower.val + (size_t)(tile_steps + step) * steps[0] + place.number * D + i;
    const int     row = inode * D + i;

    ((double *)f.pivot)[row] = judge(f.piv, row, d, f.status);
#pragma unroll 2
    for (int b = 0; b < nl; b++) {
      if (all >> f.bit[b] & 1) store_product<D>(middle, mine + b * D * STRIDE<D>, to + b * D * next, next, largest);
    }
    store_row<D>(middle, to + nl * D * next, next, largest);
    if (largest >= 0x7ff00000) report_lost<D>(f, mine, all, inode);
  }
}

template <int D>
int warps_of(const SyncILUDeviceBsrWide &f)
{
  int warps = SYNCILU_BLOCK_FACTOR / 32;

  while (warps && warps * doubles_of_task<D>(f) * (int)sizeof(double) > SYNCILU_SHARED_BYTES - (int)sizeof(SyncILUBsrWideTable)) warps--;
  return warps;
}

/* With `most` given, how many warps a block would have, instead. */
template <int D>
cudaError_t launch_wide(const SyncILUDeviceBsrWide &f, int *most, cudaStream_t stream)
{
  if constexpr (D > 2) {
    if (f.size < D) return launch_wide<D - 1>(f, most, stream);
  }
  const int warps = warps_of<D>(f);

  if (most) {
    *most = warps;
    return cudaSuccess;
  }
  const unsigned grid = blocks_for(f.tasks, warps), block = 32 * warps, bytes = warps * doubles_of_task<D>(f) * (int)sizeof(double);

  if (f.lower.present) bsr_wide_kernel<D, true><<<grid, block, bytes, stream>>>(f);
  else bsr_wide_kernel<D, false><<<grid, block, bytes, stream>>>(f);
  return cudaGetLastError();
}

} // namespace

int SyncILUKernelFactorBsrWideWarps(SyncILUDeviceBsrWide f)
{
  int warps = 0;

  (void)launch_wide<SYNCILU_BSR_WIDE_MOST>(f, &warps, nullptr);
  return warps;
}

cudaError_t SyncILUKernelFactorBsrWide(SyncILUValueType type, SyncILUDeviceBsrWide f, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || f.size < 2 || f.size > SYNCILU_BSR_WIDE_MOST || f.piv.type != SYNCILU_PIVOT_REJECT || f.piv.relax != 0.0)
    return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_wide<SYNCILU_BSR_WIDE_MOST>(f, nullptr, stream);
}
