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

__global__ void rows_kernel(SyncILUDeviceTriangle t, int blocks, const int *__restrict__ begin, bool                    down, SyncILUBlock *__restrict__ block,
                            SyncILUBlockRow *__restrict__ row, int *__restrict__ outers, int *__restrict__ inners, int *padded)
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
  const int fours = __reduce_add_sync(FULL, (__popc(r.inner) + SYNCILU_BLOCKS_FOUR - 1) / SYNCILU_BLOCKS_FOUR);
  if (lane) return;
  if (fours * SYNCILU_BLOCKS_FOUR > load_stale(padded)) atomicMax(padded, fours * SYNCILU_BLOCKS_FOUR);
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

__global__ void block_columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int *__restrict__ col)
{
  const long long b = global_thread() / 32;

  if (b >= m.blocks) return;
  each_entry(
    m, b, [&](int i, int e, unsigned place) { col[place] = t.col[t.begin[i] + t.skip + e]; }, [](int, int, unsigned, int) {});
}

__global__ void __launch_bounds__(32) collect_kernel(SyncILUDeviceBlocks m, int outers, int inners, int *__restrict__ list, int *__restrict__ count,
                                                     unsigned short *__restrict__ need, SyncILUBlocksMost *most)
{
  __shared__ int key[SYNCILU_BLOCKS_OUTER];
  const int      lane = threadIdx.x, b = blockIdx.x;
  const unsigned begin = m.block[b].outer, end = b + 1 < m.blocks ? m.block[b + 1].outer : (unsigned)outers;
  const int      n    = (int)(end - begin);
  int            room = 1, columns = 0;

  if (n > SYNCILU_BLOCKS_OUTER) {
    if (lane) return;
    count[b] = 0;
    atomicMax(&most->needs, INT_MAX);
    return;
  }
  while (room < n) room *= 2;
  for (int k = lane; k < room; k += 32) key[k] = k < n ? m.col[begin + k] : INT_MAX;
  __syncwarp(); /* all are there for the other lanes */
  sort_shared(key, room);
  for (int first = 0; first < n; first += 32) { /* the same numbers are neighbours; one of them stays */
    const int      k = first + lane, own = k < n ? key[k] : 0;
    const bool     stays = k < n && (k == 0 || key[k - 1] != own);
    const unsigned all   = __ballot_sync(FULL, stays);

    if (stays) list[begin + columns + __popc(all & ((1u << lane) - 1))] = own;
    columns += __popc(all);
  }
  __syncwarp(); /* the list is there for all lanes, and the keys have been read */
  for (int k = lane; k < columns; k += 32) key[k] = list[begin + k];
  __syncwarp(); /* the keys are those of the list */
  for (int k = lane; k < n; k += 32) need[begin + k] = (unsigned short)first_not_less(key, columns, m.col[begin + k]);
  if (lane) return;
  count[b] = columns;
  atomicMax(&most->needs, columns);
  atomicMax(&most->outer, n);
  atomicMax(&most->inner, (int)((b + 1 < m.blocks ? m.block[b + 1].inner : (unsigned)inners) - m.block[b].inner));
}

__global__ void join_kernel(SyncILUDeviceBlocks m, const int *__restrict__ list, const int *__restrict__ needs, int *__restrict__ needed)
{
  const long long b = global_thread() / 32;

  if (b >= m.blocks) return;
  const int from = needs[b], count = needs[b + 1] - from;
  for (int k = threadIdx.x & 31; k < count; k += 32) needed[from + k] = list[m.block[b].outer + k];
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
   Subtracts entries which stand side by side: count of them, by turns of the rows in these lanes, of which
   there are few. Every lane has entries of one row alone, so that the sums of a row come together in the end.
*/
template <typename V, int R, typename Where>
__device__ __forceinline__ void subtract_shared(const SyncILUDeviceBlocks &m, const Where &where, unsigned at, int count, unsigned rows, V *sum)
{
  constexpr int AT_ONCE = R > 1 ? SYNCILU_POLLS : 2 * SYNCILU_POLLS;
  const int     lane = threadIdx.x & 31, turns = __popc(rows), lanes = 32 / turns * turns, own = __popc(rows & ((1u << lane) - 1));
  V             part[R];

#pragma unroll
  for (int q = 0; q < R; q++) part[q] = V(0);
  for (int e = lane < lanes ? lane : count; __any_sync(FULL, e < count); e += AT_ONCE * lanes) {
    int c[AT_ONCE];
    V   v[AT_ONCE], y[AT_ONCE][R];

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const bool there = e + k * lanes < count;

      c[k] = there ? m.col[at + e + k * lanes] : -1;
      v[k] = there ? ((const V *)m.outer)[at + e + k * lanes] : V(0);
    }
    load_needed(where, c, y);
    while (!all_have(y)) load_missing(where, c, y);
#pragma unroll
    for (int q = 0; q < R; q++) part[q] = subtract_entries(part[q], c, v, y, q);
  }
  for (int k = 0; k < lanes; k += turns) {
#pragma unroll
    for (int q = 0; q < R; q++) {
      const V other = __shfl_sync(FULL, part[q], own + k);

      if (rows >> lane & 1) sum[q] += other;
    }
  }
}

/*
   Calls what(place, count, rows) for the first entries of a block with long rows: count of them from place
   on, of these lanes' rows by turns. That is what rows have beyond SYNCILU_BLOCKS_ALONE entries, as long as
   at least two lanes can share a row. Returns how many entries each row has left at most.
*/
template <typename What>
__device__ __forceinline__ int each_long_part(unsigned place, int outer, int width, What what)
{
  while (width > SYNCILU_BLOCKS_ALONE) {
    const unsigned rows = __ballot_sync(FULL, outer >= width);
    const int      next = max(SYNCILU_BLOCKS_ALONE, __reduce_max_sync(FULL, outer >= width ? 0 : outer)), count = (width - next) * __popc(rows);

    if (__popc(rows) > 16) break;
    what(place, count, rows);
    place += (unsigned)count;
    width = next;
  }
  return width;
}

/*
   First the outer entries are subtracted, OUTER of each row at a time; those of long rows before, by all
   lanes. What a row waits for last is among its last entries, and these are among the last OUTER of their
   rows in all lanes: so the last wait is one for the warp, and there is nothing to be loaded after it. Inner
   entries have been loaded and multiplied by the scale of their row before. Then the rows of the block are
   finished one after the other.

   LONG: some blocks may have long rows.

   Progress: the blocks that are waited for have lower tickets.
*/
template <typename V, int R, bool DOWN, int OUTER, bool LONG>
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
  int                   c[OUTER], next_c[OUTER], width = width_of(d);
  unsigned              begin = d.outer;
  size_t                to    = 0;
  const bool            longs = LONG && width > SYNCILU_BLOCKS_ALONE;

  if (longs) width = each_long_part(begin, r.outer, width, [&](unsigned place, int count, unsigned) { begin = place + (unsigned)count; });
  Places outers(begin, lane);

  auto load = [&](int w, int *column, V *value) {
    const bool     there = w >= 0 && w < (LONG ? min(r.outer, width) : r.outer); /* w is -1 where no row of the block has outer entries */
    const unsigned place = outers.take(there);

    *column = there ? m.col[place] : -1;
    *value  = there ? ((const V *)m.outer)[place] : V(0);
  };
  int w = (width + OUTER - 1) / OUTER * OUTER - 1; /* entries of each row that are left, less one */
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
  if (longs)
    (void)each_long_part(d.outer, r.outer, width_of(d),
                         [&](unsigned place, int count, unsigned rows) { subtract_shared<V, R>(m, where, place, count, rows, sum); });
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

/*
   The same for one right-hand side, where the numbers that a block needs of others are collected first: each
   is asked for once, neighbours by neighbouring lanes, all of them before the first product. Blocks on meshes
   need half as many as they have entries, which are scattered.

   Progress: as above.
*/
template <typename V, bool DOWN>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE, SYNCILU_BLOCKS_RESIDENT) collected_kernel(SyncILUDeviceBlocks m, SyncILUDeviceSolve s)
{
  constexpr int     POLLS = SYNCILU_POLLS, OUTER = SYNCILU_POLLS; /* more would leave room for fewer warps */
  __shared__ V      kept[SYNCILU_BLOCK_SOLVE / 32][INNER];
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     lane = threadIdx.x & 31;
  V *const own = kept[threadIdx.x / 32], *const x = (V *)shared + (size_t)(threadIdx.x / 32) * m.most.needs;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)m.blocks) return;
  const int             b    = DOWN ? m.blocks - 1 - (int)t : (int)t;
  const SyncILUBlock    d    = m.block[b];
  const SyncILUBlockRow r    = m.row[(size_t)b * MOST + lane];
  const bool            mine = lane < rows_of(d);
  const int             i = row_of(d, DOWN, lane), from = m.needs[b], end = m.needs[b + 1];
  const auto            where = in_memory<V, 1>(s, m.n, 0);
  V                     sum = 0, scale = 1, v[OUTER];
  int                   c[OUTER], at[POLLS], w = width_of(d) - 1;
  size_t                to = 0;
  Places                outers(d.outer, lane);

  auto find = [&](int h) {
#pragma unroll
    for (int k = 0; k < POLLS; k++) at[k] = h + 32 * k < end ? m.needed[h + 32 * k] : -1;
  };
  auto load = [&]() { /* the next entries of each row; w: those that are left, less one */
#pragma unroll
                      for (int k = 0; k < OUTER; k++, w--) {
                        const bool     there = w >= 0 && w < r.outer;
                        const unsigned place = outers.take(there);

                        c[k] = there ? m.need[place] : -1;
                        v[k] = there ? ((const V *)m.outer)[place] : V(0);
                      }
  };
  find(from + lane);
  load();
  if (mine) {
    if (s.scale) scale = ((const V *)s.scale)[i];
    to = out_place(s, i);
    read_rhs<V, 1>(s, m.n, 0, i, rhs_place(s, i), &sum);
  }
  keep_inner(m, d, r, scale, own);
  const int ancestor = DOWN ? d.first + rows_of(d) - 1 + s.throttle : d.first - s.throttle;
  wait_for_ancestor(where.x + (ptrdiff_t)ancestor, s.throttle > 0 && ancestor >= 0 && ancestor < m.n);
  for (int h = from + lane; __any_sync(FULL, h < end); h += 32 * POLLS) {
    int now[POLLS];
    V   y[POLLS][1];

#pragma unroll
    for (int k = 0; k < POLLS; k++) now[k] = at[k];
    load_needed(where, now, y);
    find(h + 32 * POLLS);
    while (!all_have(y)) load_missing(where, now, y);
#pragma unroll
    for (int k = 0; k < POLLS; k++)
      if (now[k] >= 0) x[h - from + 32 * k] = y[k][0];
  }
  __syncwarp(); /* what other lanes have collected is there */
  for (bool more = w > -1 - OUTER; more;) {
    int last[OUTER];
    V   value[OUTER];

#pragma unroll
    for (int k = 0; k < OUTER; k++) {
      last[k]  = c[k];
      value[k] = v[k];
    }
    more = w >= 0;
    if (more) load();
#pragma unroll
    for (int k = 0; k < OUTER; k++)
      if (last[k] >= 0) sum = fma(-value[k], x[last[k]], sum);
  }
  sum *= scale;
  finish_rows<V, 1>(r, own, &sum);
  if (mine) where.publish(s, m.n, 0, i, to, &sum);
}

/* What a warp takes of shared memory where entries are copied there too. */
template <typename V>
__host__ __device__ __forceinline__ int copied_numbers(const SyncILUBlocksMost &most)
{
  return (most.outer + most.inner + most.needs + 1) / 2 * 2; /* so that what comes behind is aligned */
}

template <typename V>
__host__ __device__ __forceinline__ int copied_bytes(const SyncILUBlocksMost &most)
{
  constexpr int PIECE = SYNCILU_BLOCKS_PIECE;

  return copied_numbers<V>(most) * (int)sizeof(V) + (most.outer + 2 * PIECE - 1) / PIECE * 16; /* the first piece may begin with another block's */
}

/*
   The same where vectors are by positions, as with Eisenstat's trick: entries are on their way to shared
   memory while numbers are collected, so that a warp waits for memory only where an address comes from there:
   for its block, for which numbers it needs, and for these.

   Progress: as above.
*/
template <typename V, bool DOWN>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE, SYNCILU_BLOCKS_RESIDENT_COPIED) copied_kernel(SyncILUDeviceBlocks m, SyncILUDeviceSolve s)
{
  constexpr int     POLLS = SYNCILU_POLLS, PIECE = SYNCILU_BLOCKS_PIECE;
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     lane = threadIdx.x & 31;
  V *const x = (V *)(shared + (threadIdx.x / 32) * copied_bytes<V>(m.most)), *const value = x + m.most.needs, *const inner = value + m.most.outer;
  unsigned short *const need = (unsigned short *)(x + copied_numbers<V>(m.most));

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)m.blocks) return;
  const int             b    = DOWN ? m.blocks - 1 - (int)t : (int)t;
  const SyncILUBlock    d    = m.block[b];
  const SyncILUBlockRow r    = m.row[(size_t)b * MOST + lane];
  const bool            mine = lane < rows_of(d);
  const int             i = row_of(d, DOWN, lane), from = m.needs[b], end = m.needs[b + 1];
  const auto            where = in_memory<V, 1>(s, m.n, 0);
  V                     sum = 0, scale = 1, y[POLLS][1];
  int                   at[POLLS], rhs = 0;
  size_t                to = 0;

  auto find = [&](int h) {
#pragma unroll
    for (int k = 0; k < POLLS; k++) at[k] = h + 32 * k < end ? m.needed[h + 32 * k] : -1;
  };
  find(from + lane);
  if (mine) {
    if (s.scale) scale = ((const V *)s.scale)[i];
    rhs = rhs_place(s, i);
    to  = out_place(s, i);
  }
  const int outers = __reduce_add_sync(FULL, r.outer), begin = (int)(d.outer % PIECE);
  for (int k = PIECE * lane; k < begin + outers; k += 32 * PIECE) copy_piece(need + k, m.need + d.outer - begin + k);
  for (int k = lane; k < outers; k += 32) copy_if(true, value + k, (const V *)m.outer + d.outer + k);
  const V *const own = copy_inner(m, d, r, inner);
  commit_copies();
  load_needed(where, at, y); /* most have come, and need no waiting */
  if (mine) read_rhs<V, 1>(s, m.n, 0, i, rhs, &sum);
  const int ancestor = DOWN ? d.first + rows_of(d) - 1 + s.throttle : d.first - s.throttle;
  if (!all_have(y)) wait_for_ancestor(where.x + (ptrdiff_t)ancestor, s.throttle > 0 && ancestor >= 0 && ancestor < m.n);
  for (int h = from; h < end; h += 32 * POLLS) {
    if (h > from) {
      find(h + lane);
      load_needed(where, at, y);
    }
    while (!all_have(y)) load_missing(where, at, y);
#pragma unroll
    for (int k = 0; k < POLLS; k++)
      if (at[k] >= 0) x[h - from + lane + 32 * k] = y[k][0];
  }
  wait_copies<0>();
  __syncwarp(); /* what other lanes have copied and collected is there */

  /* places count from x, with which there is one address less to compute for each entry */
  const unsigned short *const first = need + begin - m.most.needs;
  Places                      outer((unsigned)m.most.needs, lane);
#pragma unroll 4
  for (int w = width_of(d) - 1; w >= 0; w--) { /* entries of each row that are left, less one */
    const bool     there = w < r.outer;
    const unsigned place = outer.take(there);

    if (there) sum = fma(-x[place], x[first[place]], sum);
  }
  sum *= scale;
  finish_copied_rows(r, own, scale, &sum);
  if (mine) where.publish(s, m.n, 0, i, to, &sum);
}

/* Inner entries and outer ones are brought to shared memory in fours for several right-hand sides. */
constexpr int FOUR = SYNCILU_BLOCKS_FOUR;

struct alignas(16) FourColumns {
  int c[FOUR]; /* -1: none */
};

struct alignas(8) FourLines {
  unsigned short r[FOUR];
};

/* A row of the order in which a block is finished: its lane, fours of inner entries, and where these begin. */
template <typename V>
struct alignas(16) Turn {
  V              scale;
  unsigned char  lane, fours;
  unsigned short begin;
};

/* What a warp has in shared memory beside inner entries. Lines are padded, against conflicts of banks. */
template <typename V, int R>
struct Lines {
  Numbers<V, 2>    sum[MOST + 1][R / 2 + 1]; /* of each row; then zeros */
  Numbers<V, FOUR> value[MOST];              /* outer entries of each row */
  FourColumns      column[MOST];
  Turn<V>          turn[MOST];
};

/* The same with room for so many inner entries, a multiple of 8: values, then lines of sum[] as Numbers count. */
template <typename V, int R>
__host__ __device__ __forceinline__ int lines_bytes(int inner)
{
  return (int)sizeof(Lines<V, R>) + inner * (int)(sizeof(V) + sizeof(unsigned short));
}

/* Where a lane finds its two of the R right-hand sides of a row. */
template <typename V, int R>
struct InLines {
  V *x; /* of the group, with the first of the two */

  __device__ __forceinline__ V   *of(int position) const { return x + (size_t)position * R; }
  __device__ __forceinline__ void load(int position, V *y) const { load_relaxed_pair(of(position), y); }
  __device__ __forceinline__ void again(int position, V *y) const
  {
    if (!are_set<V, 2>(y)) load(position, y);
  }
};

/* Whether all lanes of the warp have what they need, with one comparison: nothing is greater than a sentinel. */
template <int N>
__device__ __forceinline__ bool all_have_pairs(const double (&y)[N][2])
{
  unsigned top = 0;

#pragma unroll
  for (int k = 0; k < N; k++) top = max(top, max((unsigned)__double2hiint(y[k][0]), (unsigned)__double2hiint(y[k][1])));
  return __all_sync(FULL, top != FULL);
}

/*
   Brings the inner entries of a block to shared memory, row by row, each row filled up to fours with zeros that
   are for the line of zeros: to multiply costs less than to ask. Returns where those of this lane begin.
*/
template <typename V, int R>
__device__ __forceinline__ int keep_fours(const SyncILUDeviceBlocks &m, const SyncILUBlock &d, const SyncILUBlockRow &r, int fours, V *value,
                                          unsigned short *line)
{
  const int begin = (sum_up_to(fours) - fours) * FOUR;
  const V  *from  = (const V *)m.inner + inner_begin(d, r);
  unsigned  left  = r.inner;

  for (int k = begin; left; k += FOUR, from += FOUR) {
    Numbers<V, FOUR> a;
    FourLines        at;

#pragma unroll
    for (int e = 0; e < FOUR; e++, left &= left - 1) {
      a.r[e]  = left ? from[e] : V(0);
      at.r[e] = (unsigned short)((left ? __ffs((int)left) - 1 : MOST) * (R / 2 + 1));
    }
    *(Numbers<V, FOUR> *)(value + k) = a;
    *(FourLines *)(line + k)         = at;
  }
  return begin;
}

/*
   The same for several right-hand sides, R of which stand side by side in x. A row has R / 2 lanes, each with
   two right-hand sides, so that they load and publish whole lines, where a lane a row would touch a line for
   each. Entries come to shared memory, as they stand in lanes of rows; outer ones some of each row at a time.

   Then the rows of the block are finished, as many at a time as the warp has lanes for.

   Progress: as above, and find_order().
*/
template <typename V, int R, bool DOWN>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE, SYNCILU_BLOCKS_RESIDENT_LINES) lines_kernel(SyncILUDeviceBlocks m, SyncILUDeviceSolve s)
{
  constexpr int         LANES = R / 2, ROWS = 32 / LANES, STEPS = MOST / ROWS;
  constexpr int         AT_ONCE = 2, POLLS = AT_ONCE * FOUR; /* steps whose numbers are asked for together */
  typedef Numbers<V, 2> Pair;
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     lane = threadIdx.x & 31, pair = lane % LANES, sub = lane / LANES, groups = (s.nrhs + R - 1) / R;
  unsigned char *const                          memory = shared + (threadIdx.x / 32) * lines_bytes<V, R>(m.padded);
  Lines<V, R>                                  &own    = *(Lines<V, R> *)memory;
  V *const                                      inner  = (V *)(memory + sizeof(own));
  unsigned short *const                         line   = (unsigned short *)(inner + m.padded);
  int                                           group;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)m.blocks * groups) return;
  const int             turn = split_ticket<R>(t, groups, &group), block = DOWN ? m.blocks - 1 - turn : turn;
  const SyncILUBlock    d    = m.block[block];
  const SyncILUBlockRow r    = m.row[(size_t)block * MOST + lane];
  const int             rows = rows_of(d), i = row_of(d, DOWN, lane), columns = min(s.nrhs - group * R, R);
  const bool            mine  = lane < rows;
  const size_t          first = (size_t)group * m.n * R + 2 * pair;
  const InLines<V, R>   where = {(V *)s.x + first};
  V                     scale = 1, b[R];                                         /* right-hand sides of the row of this lane; or its two of each step */
  int                   rhs = 0, w = (width_of(d) + FOUR - 1) / FOUR * FOUR - 1; /* entries of each row that are left, less one */
  size_t                to = 0;
  Numbers<V, FOUR>      v;
  FourColumns           c;
  Places                outers(d.outer, lane);

  auto load = [&]() { /* the next entries of each row */
#pragma unroll
                      for (int k = 0; k < FOUR; k++, w--) {
                        const bool     there = w >= 0 && w < r.outer;
                        const unsigned place = outers.take(there);

                        c.c[k] = there ? m.col[place] : -1;
                        v.r[k] = there ? ((const V *)m.outer)[place] : V(0);
                      }
  };
  bool more = w >= 0;
  if (more) load();
  if (mine) {
    if (s.scale) scale = ((const V *)s.scale)[i];
    rhs = rhs_place(s, i);
    to  = out_place(s, i);
  }
  if (s.ldb) {
    const V *from = (const V *)s.b + rhs + (size_t)group * R * s.ldb;

#pragma unroll
    for (int q = 0; q < R; q++, from += s.ldb) b[q] = mine && q < columns ? *from : V(0);
  } else {
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      const int from = __shfl_sync(FULL, rhs, ROWS * k + sub);
      Pair      two  = {};

      if (ROWS * k + sub < rows) two = *(const Pair *)((const V *)s.b + first + (size_t)from * R);
      b[2 * k]     = two.r[0];
      b[2 * k + 1] = two.r[1];
    }
  }
  if (lane < LANES) own.sum[MOST][lane] = {};
  const int      fours = (__popc(r.inner) + FOUR - 1) / FOUR, begin = keep_fours<V, R>(m, d, r, fours, inner, line);
  const Turn<V>  row    = {scale, (unsigned char)lane, (unsigned char)fours, (unsigned short)begin};
  const unsigned begins = find_order(rows, ROWS, r.inner, row, own.turn);
  if (s.ldb) {
#pragma unroll
    for (int q = 0; q < R; q += 2) own.sum[lane][q / 2] = {b[q], b[q + 1]};
  } else {
#pragma unroll
    for (int k = 0; k < STEPS; k++) own.sum[ROWS * k + sub][pair] = {b[2 * k], b[2 * k + 1]};
  }
  if (s.next) {
    const int at = s.ldb ? i : rhs;
    V         none;

    poison(none);
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
      const int next = __shfl_sync(FULL, at, ROWS * k + sub);

      if (ROWS * k + sub < rows) store_relaxed_pair((V *)s.next + first + (size_t)next * R, none, none);
    }
  }
  const int ancestor = DOWN ? d.first + rows - 1 + s.throttle : d.first - s.throttle;
  wait_for_ancestor((const V *)s.x + ((ptrdiff_t)group * m.n + ancestor) * R, s.throttle > 0 && ancestor >= 0 && ancestor < m.n);
  while (more) {
    const unsigned some = __ballot_sync(FULL, c.c[FOUR - 1] >= 0);

    own.value[lane]  = v;
    own.column[lane] = c;
    __syncwarp(); /* other lanes' entries are there, and the sums */
    more = w >= 0;
    if (more) load();
#pragma unroll 1
    for (int k = 0; k < STEPS; k += AT_ONCE) {
      V   y[POLLS][2];
      int at[POLLS];

      if (!(some >> ROWS * k & FULL >> (32 - ROWS * AT_ONCE))) continue;
#pragma unroll
      for (int h = 0; h < AT_ONCE; h++) {
        const FourColumns four = own.column[ROWS * (k + h) + sub];

#pragma unroll
        for (int e = 0; e < FOUR; e++) at[h * FOUR + e] = four.c[e];
      }
      load_needed(where, at, y);
      while (!all_have_pairs(y)) {
#pragma unroll
        for (int e = 0; e < POLLS; e++) where.again(at[e], y[e]);
      }
#pragma unroll
      for (int h = 0; h < AT_ONCE; h++) {
        const Numbers<V, FOUR> four = own.value[ROWS * (k + h) + sub];
        Pair *const            sum  = &own.sum[ROWS * (k + h) + sub][pair];
        Pair                   x    = *sum;

#pragma unroll
        for (int e = 0; e < FOUR; e++) {
#pragma unroll
          for (int q = 0; q < 2; q++) x.r[q] = fma(-four.r[e], y[h * FOUR + e][q], x.r[q]);
        }
        *sum = x;
      }
    }
    __syncwarp(); /* the next entries may take the place of these */
  }
  __syncwarp(); /* what other lanes have brought is there, also where there are no outer entries */
  const Pair *const lines = &own.sum[0][pair];
  for (unsigned left = begins; left;) {
    const int k = __ffs((int)left) - 1 + sub;

    left &= left - 1;
    if (k < (left ? __ffs((int)left) - 1 : rows)) {
      const Turn<V>         now = own.turn[k];
      Pair *const           sum = &own.sum[now.lane][pair];
      const V              *a   = inner + now.begin;
      const unsigned short *l   = line + now.begin;
      Pair                  x   = *sum;

#pragma unroll 1
      for (int n = now.fours; n; n--, a += FOUR, l += FOUR) {
        const Numbers<V, FOUR> four = *(const Numbers<V, FOUR> *)a;
        const FourLines        at   = *(const FourLines *)l;
        Pair                   y[FOUR];

#pragma unroll
        for (int e = 0; e < FOUR; e++) y[e] = lines[at.r[e]];
#pragma unroll
        for (int e = 0; e < FOUR; e++) {
#pragma unroll
          for (int q = 0; q < 2; q++) x.r[q] = fma(-four.r[e], y[e].r[q], x.r[q]);
        }
      }
      x.r[0] *= now.scale;
      x.r[1] *= now.scale;
      *sum = x;
      store_relaxed_pair(where.of(row_of(d, DOWN, now.lane)), clean(x.r[0]), clean(x.r[1]));
    }
    __syncwarp(); /* these rows are there for the next ones */
  }
  if (!s.out || !mine) return;
  V *out = (V *)s.out + to + (size_t)group * R * s.ldout;
#pragma unroll
  for (int q = 0; q < R; q++, out += s.ldout)
    if (q < columns) *out = own.sum[lane][q / 2].r[q % 2];
}

typedef void Kernel(SyncILUDeviceBlocks, SyncILUDeviceSolve);

/* A kernel with a warp for each block and R right-hand sides: the second one if the rows go down. */
template <int R, Kernel *UP, Kernel *DOWN>
cudaError_t launch(size_t shared, const SyncILUDeviceBlocks &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  const unsigned grid = blocks_of((Ticket)m.blocks * ((s.nrhs + R - 1) / R));

  if (m.down) DOWN<<<grid, SYNCILU_BLOCK_SOLVE, shared, stream>>>(m, s);
  else UP<<<grid, SYNCILU_BLOCK_SOLVE, shared, stream>>>(m, s);
  return cudaGetLastError();
}

template <typename V, int R, int OUTER, bool LONG>
cudaError_t launch_rows(const SyncILUDeviceBlocks &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  return launch<R, blocks_kernel<V, R, false, OUTER, LONG>, blocks_kernel<V, R, true, OUTER, LONG>>(0, m, s, stream);
}

template <typename V, int R>
cudaError_t launch_lines(const SyncILUDeviceBlocks &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  return launch<R, lines_kernel<V, R, false>, lines_kernel<V, R, true>>((size_t)(SYNCILU_BLOCK_SOLVE / 32) * lines_bytes<V, R>(m.padded), m, s, stream);
}

} // namespace

cudaError_t SyncILUKernelBlockRows(SyncILUDeviceTriangle t, int blocks, const int *begin, int down, SyncILUBlock *block, SyncILUBlockRow *row, int *outers,
                                   int *inners, int *padded, cudaStream_t stream)
{
  LAUNCH(rows_kernel, 32ll * blocks, stream, t, blocks, begin, down != 0, block, row, outers, inners, padded);
}

cudaError_t SyncILUKernelBlockBegins(int blocks, const int *outers, const int *inners, SyncILUBlock *block, cudaStream_t stream)
{
  LAUNCH(begins_kernel, blocks, stream, blocks, outers, inners, block);
}

cudaError_t SyncILUKernelBlockColumns(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int *col, cudaStream_t stream)
{
  LAUNCH(block_columns_kernel, 32ll * m.blocks, stream, t, m, col);
}

cudaError_t SyncILUKernelCollectColumns(SyncILUDeviceBlocks m, int outers, int inners, int *list, int *count, unsigned short *need, SyncILUBlocksMost *most,
                                        cudaStream_t stream)
{
  if (!m.blocks) return cudaSuccess;
  collect_kernel<<<(unsigned)m.blocks, 32, 0, stream>>>(m, outers, inners, list, count, need, most);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelJoinColumns(SyncILUDeviceBlocks m, const int *list, const int *needs, int *needed, cudaStream_t stream)
{
  LAUNCH(join_kernel, 32ll * m.blocks, stream, m, list, needs, needed);
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

cudaError_t SyncILUKernelSolveBlocks(SyncILUValueType type, SyncILUDeviceBlocks m, int many, int longs, SyncILUDeviceSolve s, cudaStream_t stream)
{
  constexpr int FEW = SYNCILU_POLLS, MANY = 2 * SYNCILU_POLLS;

  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!m.blocks || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1 && m.needed) {
    const int warps = SYNCILU_BLOCK_SOLVE / 32;

    if (!s.bindex && !s.outindex && m.most.outer + m.most.inner <= SYNCILU_BLOCKS_ENTRIES)
      return launch<1, copied_kernel<double, false>, copied_kernel<double, true>>((size_t)warps * copied_bytes<double>(m.most), m, s, stream);
    return launch<1, collected_kernel<double, false>, collected_kernel<double, true>>((size_t)warps * m.most.needs * sizeof(double), m, s, stream);
  }
  if (s.side == SYNCILU_RHS_LINE) return launch_lines<double, SYNCILU_RHS_LINE>(m, s, stream);
  if (s.side) return launch_lines<double, SYNCILU_RHS_LINE / 2>(m, s, stream);
  if (s.nrhs > 1)
    return longs ? launch_rows<double, SYNCILU_RHS_BLOCK, FEW, true>(m, s, stream) : launch_rows<double, SYNCILU_RHS_BLOCK, FEW, false>(m, s, stream);
  if (many) return longs ? launch_rows<double, 1, MANY, true>(m, s, stream) : launch_rows<double, 1, MANY, false>(m, s, stream);
  return longs ? launch_rows<double, 1, FEW, true>(m, s, stream) : launch_rows<double, 1, FEW, false>(m, s, stream);
}
