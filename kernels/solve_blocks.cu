/*
   Triangular solves by the blocks of an ordering that has few colors of blocks: a warp solves for a block, a
   lane for a row. A color waits for the colors before it once; what is left of chains stays inside of a warp.
*/
#include "solve_blocks.h"
#include "blocks.cuh"
#include "entries.cuh"

using namespace syncilu;

namespace
{

__global__ void rows_kernel(SyncILUDeviceTriangle t, int blocks, const int *__restrict__ begin, bool down, SyncILUBlock *__restrict__ block,
                            SyncILUBlockRow *__restrict__ row, int *__restrict__ outers, int *__restrict__ inners)
{
  const long long b    = global_thread() / 32;
  const int       lane = threadIdx.x & 31;

  if (b >= blocks) return;
  const int       first = begin ? begin[b] : (int)b * MOST, end = begin ? begin[b + 1] : min(first + MOST, t.n);
  SyncILUBlock    d = {first, end - first, 0, 0};
  SyncILUBlockRow r = {0, 0};
  if (lane < rows_of(d)) {
    const int i = row_of(d, down, lane), last = d.first + rows_of(d) - 1, from = t.begin[i] + t.skip, to = t.end[i];

    if (down) {
      for (int e = from; e < to && t.col[e] <= last; e++) r.inner |= 1u << (last - t.col[e]);
    } else {
      for (int e = to - 1; e >= from && t.col[e] >= d.first; e--) r.inner |= 1u << (t.col[e] - d.first);
    }
    r.outer = to - from - __popc(r.inner);
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

/*
   First the outer entries are subtracted, OUTER of each row at a time. What a row waits for last is among its
   last entries, and these are among the last OUTER of their rows in all lanes: so the last wait is one for the
   warp, and there is nothing to be loaded after it. Inner entries have been loaded and multiplied by the scale
   of their row before. Then the rows of the block are finished one after the other.

   Progress: the blocks that are waited for have lower tickets.
*/
template <typename V, int R, bool DOWN, int OUTER>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE) blocks_kernel(SyncILUDeviceBlocks m, SyncILUDeviceSolve s)
{
  __shared__ V kept[SYNCILU_BLOCK_SOLVE / 32][INNER];
  const int    lane = threadIdx.x & 31, groups = (s.nrhs + R - 1) / R;
  V *const     own = kept[threadIdx.x / 32];
  int          group;

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
  Places                outers(d.outer, lane);

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
  keep_inner(m, d, r, scale, own);
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
  finish_rows<V, R>(r, own, sum);
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
