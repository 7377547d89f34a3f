/*
   Triangular solves by the blocks of an ordering that has few colors of blocks: a warp solves for a block, a
   lane for a row. A color waits for the colors before it once; what is left of chains stays inside of a warp.
*/
#include "solve_blocks.h"
#include "entries.cuh"
#include "polls.cuh"

using namespace syncilu;

namespace
{

constexpr int MOST = SYNCILU_BLOCKS_MOST;

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

__global__ void rows_kernel(SyncILUDeviceTriangle t, int blocks, const int *__restrict__ begin, bool down, SyncILUBlock *__restrict__ block,
                            SyncILUBlockRow *__restrict__ row, int *__restrict__ outers, int *__restrict__ inners)
{
  const long long b    = global_thread() / 32;
  const int       lane = threadIdx.x & 31;

  if (b >= blocks) return;
  SyncILUBlock    d = {begin[b], begin[b + 1] - begin[b], 0, 0};
  SyncILUBlockRow r = {0, 0};
  if (lane < rows_of(d)) {
    const int i = row_of(d, down, lane), last = d.first + rows_of(d) - 1, from = t.begin[i] + t.skip, end = t.end[i];

    if (down) {
      for (int e = from; e < end && t.col[e] <= last; e++) r.inner |= 1u << (last - t.col[e]);
    } else {
      for (int e = end - 1; e >= from && t.col[e] >= d.first; e--) r.inner |= 1u << (t.col[e] - d.first);
    }
    r.outer = end - from - __popc(r.inner);
  }
  row[b * MOST + lane] = r;
  d.shape += SYNCILU_BLOCKS_SHAPE * __reduce_max_sync(FULL, r.outer);
  const int outer = __reduce_add_sync(FULL, r.outer), inner = __reduce_add_sync(FULL, __popc(r.inner));
  if (lane) return;
  block[b]  = d;
  outers[b] = outer;
  inners[b] = inner;
}

__global__ void begins_kernel(int blocks, const int *__restrict__ outers, const int *__restrict__ inners, SyncILUBlock *__restrict__ block)
{
  const long long b = global_thread();

  if (b >= blocks) return;
  block[b].outer = (unsigned)outers[b];
  block[b].inner = (unsigned)inners[b];
}

/*
   Calls outer(row, entry, place) and inner(row, entry, place, lane) for all entries of the block of this warp:
   the number of the entry in its row, where it stands, and for an inner one the lane of its column.
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

__global__ void block_columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int *__restrict__ col)
{
  const long long b = global_thread() / 32;

  if (b >= m.blocks) return;
  each_entry(
    m, b, [&](int i, int e, unsigned place) { col[place] = t.col[t.begin[i] + t.skip + e]; }, [](int, int, unsigned, int) {});
}

__global__ void columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, const int *__restrict__ diag, int *__restrict__ col)
{
  const long long b = global_thread() / 32;

  if (b >= m.blocks) return;
  const SyncILUBlock d    = m.block[b];
  const int          lane = threadIdx.x & 31;
  if (diag && lane < rows_of(d)) col[diag[d.first + lane]] = d.first + lane;
  each_entry(
    m, b, [&](int i, int e, unsigned place) { col[t.begin[i] + t.skip + e] = m.col[place]; },
    [&](int i, int e, unsigned, int from) { col[t.begin[i] + t.skip + e] = row_of(d, m.down, from); });
}

template <typename V>
__global__ void fill_kernel(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, SyncILUDeviceRows rows)
{
  const long long b = global_thread() / 32;

  if (b >= m.blocks) return;
  const SyncILUBlock d        = m.block[b];
  const int          lane     = threadIdx.x & 31;
  const V            inverse  = rows.divisor && lane < rows_of(d) ? V(1) / ((const V *)rows.divisor)[row_of(d, m.down, lane)] : V(1);
  auto               value_of = [&](int i, int e) {
    const int at = row_begin(t, rows, i) + e;
    const V   x  = value<V>(rows.values, t.src ? t.src[at] : at);

    return rows.divisor ? x * inverse : x;
  };
  each_entry(
    m, b, [&](int i, int e, unsigned place) { ((V *)m.outer)[place] = value_of(i, e); },
    [&](int i, int e, unsigned place, int) { ((V *)m.inner)[place] = value_of(i, e); });
}

template <typename V>
__global__ void gather_kernel(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, V *__restrict__ val)
{
  const long long b = global_thread() / 32;

  if (b >= m.blocks) return;
  auto at = [&](int i, int e) { return t.src ? t.src[t.begin[i] + t.skip + e] : t.begin[i] + t.skip + e; };
  each_entry(
    m, b, [&](int i, int e, unsigned place) { val[at(i, e)] = ((const V *)m.outer)[place]; },
    [&](int i, int e, unsigned place, int) { val[at(i, e)] = ((const V *)m.inner)[place]; });
}

/* Inner entries of a block at most: lane l has those for lanes k < l, and they are kept by k, then l. */
constexpr int INNER = MOST * (MOST - 1) / 2;

__device__ __forceinline__ int inner_place(int k, int lane)
{
  return k * (MOST - 1) - k * (k + 1) / 2 + lane - 1;
}

/*
   First the outer entries are subtracted, OUTER of each row at a time. What a row waits for last is among its
   last entries, and these are among the last OUTER of their rows in all lanes: so the last wait is one for the
   warp, and there is nothing to be loaded after it. Inner entries have been loaded and multiplied by the scale
   of their row before.

   Then the rows of the block are finished one after the other: a shuffle hands the solution of a row to all
   lanes, and those that have an entry for it subtract. The loop is unrolled, as the steps are a chain: a
   shuffle and a product each are all that there is in it.

   Progress: the blocks that are waited for have lower tickets.
*/
template <typename V, int R, bool DOWN, int OUTER>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE) blocks_kernel(SyncILUDeviceBlocks m, SyncILUDeviceSolve s)
{
  constexpr int AT_ONCE = 4; /* inner entries of a lane that are loaded at the same time */
  __shared__ V  kept[SYNCILU_BLOCK_SOLVE / 32][INNER];
  const int     lane = threadIdx.x & 31, groups = (s.nrhs + R - 1) / R;
  V *const      own = kept[threadIdx.x / 32];
  int           group;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)m.blocks * groups) return;
  const int             turn = split_ticket<R>(t, groups, &group), b = DOWN ? m.blocks - 1 - turn : turn;
  const SyncILUBlock    d     = m.block[b];
  const SyncILUBlockRow r     = m.row[(size_t)b * MOST + lane];
  const bool            mine  = lane < rows_of(d);
  const int             i     = row_of(d, DOWN, lane);
  const auto            where = in_memory<V, R>(s, m.n, group);
  V                     sum[R], scale = 1, v[OUTER], next_v[OUTER];
  int                   c[OUTER], next_c[OUTER];
  size_t                to = 0;
  Places                outers(d.outer, lane), inners(d.inner, lane);

  auto load = [&](int w, int *column, V *value) {
    const bool     there = w >= 0 && w < r.outer; /* w is -1 where no row of the block has outer entries */
    const unsigned place = outers.take(there);

    *column = there ? m.col[place] : -1;
    *value  = there ? ((const V *)m.outer)[place] : V(0);
  };
  int w = (width_of(d) + OUTER - 1) / OUTER * OUTER - 1; /* entries of each row that are left, less one */
#pragma unroll
  for (int k = 0; k < OUTER; k++) load(w - k, c + k, v + k);
#pragma unroll
  for (int q = 0; q < R; q++) sum[q] = V(0);
  if (mine) {
    if (s.scale) scale = ((const V *)s.scale)[i];
    to = out_place(s, i);
    read_rhs<V, R>(s, m.n, group, i, rhs_place(s, i), sum);
  }
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
  const int ancestor = DOWN ? d.first + rows_of(d) - 1 + s.throttle : d.first - s.throttle;
  wait_for_ancestor(where.x + (ptrdiff_t)ancestor * R, s.throttle > 0 && ancestor >= 0 && ancestor < m.n);
  for (; w >= 0; w -= OUTER) {
    V y[OUTER][R];

    load_needed(where, c, y);
    if (w >= OUTER) {
#pragma unroll
      for (int k = 0; k < OUTER; k++) load(w - OUTER - k, next_c + k, next_v + k);
    }
    while (!all_have(y)) load_missing(where, c, y);
#pragma unroll
    for (int q = 0; q < R; q++) sum[q] = subtract_entries(sum[q], c, v, y, q);
#pragma unroll
    for (int k = 0; k < OUTER; k++) {
      c[k] = next_c[k];
      v[k] = next_v[k];
    }
  }

#pragma unroll
  for (int q = 0; q < R; q++) sum[q] *= scale;
#pragma unroll
  for (int k = 0; k < MOST - 1; k++) {
    const bool needs = r.inner >> k & 1;
    const V    a     = needs ? own[inner_place(k, lane)] : V(0);

#pragma unroll
    for (int q = 0; q < R; q++) sum[q] = subtract_product_if(needs, sum[q], a, __shfl_sync(FULL, sum[q], k));
  }
  if (mine) where.publish(s, m.n, group, i, to, sum);
}

template <typename V, int R, int OUTER>
cudaError_t launch(const SyncILUDeviceBlocks &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  const unsigned grid = blocks_of((Ticket)m.blocks * ((s.nrhs + R - 1) / R));

  if (m.down) blocks_kernel<V, R, true, OUTER><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, s);
  else blocks_kernel<V, R, false, OUTER><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, s);
  return cudaGetLastError();
}

} // namespace

cudaError_t SyncILUKernelBlockRows(SyncILUDeviceTriangle t, int blocks, const int *begin, int down, SyncILUBlock *block, SyncILUBlockRow *row, int *outers,
                                   int *inners, cudaStream_t stream)
{
  LAUNCH(rows_kernel, 32ll * blocks, stream, t, blocks, begin, down != 0, block, row, outers, inners);
}

cudaError_t SyncILUKernelBlockBegins(int blocks, const int *outers, const int *inners, SyncILUBlock *block, cudaStream_t stream)
{
  LAUNCH(begins_kernel, blocks, stream, blocks, outers, inners, block);
}

cudaError_t SyncILUKernelBlockColumns(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int *col, cudaStream_t stream)
{
  LAUNCH(block_columns_kernel, 32ll * m.blocks, stream, t, m, col);
}

cudaError_t SyncILUKernelColumnsOfBlocks(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, const int *diag, int *col, cudaStream_t stream)
{
  LAUNCH(columns_kernel, 32ll * m.blocks, stream, t, m, diag, col);
}

cudaError_t SyncILUKernelBlockValues(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, SyncILUDeviceRows rows, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(fill_kernel<double>, 32ll * m.blocks, stream, t, m, rows);
}

cudaError_t SyncILUKernelValuesOfBlocks(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, void *val, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(gather_kernel<double>, 32ll * m.blocks, stream, t, m, (double *)val);
}

cudaError_t SyncILUKernelSolveBlocks(SyncILUValueType type, SyncILUDeviceBlocks m, int many, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!m.blocks || !s.nrhs) return cudaSuccess;
  if (s.nrhs > 1) return launch<double, SYNCILU_RHS_BLOCK, SYNCILU_POLLS>(m, s, stream);
  if (many) return launch<double, 1, 2 * SYNCILU_POLLS>(m, s, stream);
  return launch<double, 1, SYNCILU_POLLS>(m, s, stream);
}
