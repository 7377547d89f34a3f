/*
   The factorization by blocks of rows, for an ordering that has few colors of blocks: a warp factors a block.
   What it needs of other blocks is finished once the colors before are, so it waits for all of that at once,
   before its first update.

   Its rows stand in shared memory. The plan has dealt the updates of a block to rounds: an update comes in
   the first round in which what it takes is finished and its entry has no update by an earlier reference row
   left. So rows of a block go on beside each other as far as they do not depend on each other, and the chain
   of rounds is as short as it can be: 33 rounds a block at most on triangles, 25 on tetrahedra.

   Bytes: the matrix and its map, 6 for an update, which may be of several successive entries, u' of other
   blocks by sectors of memory, and the factor, which goes straight into the storage of the triangles. On an
   H200 a refactorization takes 5.5 times what a copy of matrix and factor takes on 806,000 rows of triangles,
   6.6 on 3,000,000 of tetrahedra, half of the time by level; where blocks have so many entries that few are
   resident it is slower.
*/
#include "factor_blocks.h"
#include "blocks.cuh"
#include "entries.cuh"
#include "factor_rows.cuh"
#include "lookup.cuh"
#include "pivot.cuh"

using namespace syncilu;

namespace
{

/* A block of threads gets more shared memory than SYNCILU_SHARED_BYTES if its kernel asks for it. */
#define ALLOW_SHARED(kernel, bytes) \
  do { \
    if ((bytes) > SYNCILU_SHARED_BYTES) { \
      const cudaError_t error_ = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(bytes)); \
      if (error_ != cudaSuccess) return error_; \
    } \
  } while (0)

constexpr unsigned PLACE = SYNCILU_BLOCK_PLACES - 1;

__device__ __forceinline__ int target_of(unsigned update)
{
  return (int)(update >> SYNCILU_BLOCK_TARGET & PLACE);
}

__device__ __forceinline__ int multiplier_of(unsigned update)
{
  return (int)(update >> SYNCILU_BLOCK_MULTIPLIER & PLACE);
}

/* The row of the block that an inner update takes u' of. */
__device__ __forceinline__ int pivot_of(unsigned update)
{
  return (int)(update >> SYNCILU_BLOCK_PIVOT & (MOST - 1));
}

__global__ void firsts_kernel(SyncILUDeviceBlocks m, int *__restrict__ first)
{
  const long long b    = global_thread() / 32;
  const int       lane = threadIdx.x & 31;

  if (b >= m.blocks) return;
  const SyncILUBlock d = m.block[b];
  if (lane < rows_of(d)) first[d.first + lane] = d.first;
}

template <int LG, Lookup HOW>
__global__ void __launch_bounds__(SYNCILU_BLOCK) count_kernel(SyncILUDevicePattern p, int most, int *__restrict__ count, unsigned char *__restrict__ some)
{
  const long long   i      = global_thread() >> LG;
  const int         sub    = threadIdx.x & (Shape<LG>::LANES - 1);
  const bool        active = i < p.n;
  const int         begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  int               n     = 0;
  const ColumnTable table = table_of_row<LG, HOW>(most, p.col + begin, end - begin);

  each_update<LG, HOW == TABLED>(
    p, nullptr, nullptr, begin, nl, end, table, [](int, const Common &, int, int, int) {},
    [&](int s, int updates) {
      if (s >= 0 && sub == 0) some[begin + s] = updates > 0;
      n += updates;
    });
  if (active && sub == 0) count[i] = n;
}

template <int LG, Lookup HOW>
__global__ void __launch_bounds__(SYNCILU_BLOCK) find_kernel(SyncILUDevicePattern p, int most, const int *__restrict__ first, const unsigned char *some,
                                                             const int *__restrict__ first_update, SyncILUFoundUpdate *__restrict__ found)
{
  const long long   i      = global_thread() >> LG;
  const bool        active = i < p.n;
  const int         begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  const int         head = active ? first[i] : 0, base = p.ptr[head] - MOST; /* so that entry e has place e - base */
  size_t            at    = active ? (size_t)first_update[i] : 0;
  const ColumnTable table = table_of_row<LG, HOW>(most, p.col + begin, end - begin);

  each_update<LG, HOW == TABLED>(
    p, nullptr, some, begin, nl, end, table,
    [&](int s, const Common &, int e, int u, int q) {
      const int          k = p.col[begin + s], target = e == begin + nl ? (int)i - head : e - base;
      SyncILUFoundUpdate x = {(unsigned)target << SYNCILU_BLOCK_TARGET | (unsigned)(begin + s - base) << SYNCILU_BLOCK_MULTIPLIER, (unsigned)u};

      if (k >= head) {
        x.update |= SYNCILU_BLOCK_INNER | (unsigned)(k - head) << SYNCILU_BLOCK_PIVOT;
        x.source = (unsigned)(u - base);
      }
      found[at + q] = x;
    },
    [&](int, int updates) { at += updates; });
}

__global__ void sizes_kernel(SyncILUDevicePattern p, SyncILUDeviceBlocks m, const int *__restrict__ begin, SyncILUBlockMost *most)
{
  const long long b       = global_thread();
  int             entries = 0, updates = 0;

  if (b < m.blocks) {
    const SyncILUBlock d = m.block[b];

    entries = p.ptr[d.first + rows_of(d)] - p.ptr[d.first];
    updates = begin[d.first + rows_of(d)] - begin[d.first];
  }
  entries = __reduce_max_sync(FULL, entries);
  updates = __reduce_max_sync(FULL, updates);
  if (threadIdx.x & 31) return;
  atomicMax(&most->entries, entries);
  atomicMax(&most->updates, updates);
}

/* Places of the table of what a block needs of others. */
int outside_places(const SyncILUBlockMost &most)
{
  int places = 64;

  while (places < most.updates + most.updates / 4 + 64 && places < 2 * SYNCILU_BLOCK_OUTSIDE) places *= 2;
  return places;
}

/*
   A warp deals the updates of a block. They come row by row, and in a row by reference row; those by one
   reference row do not depend on each other, and are dealt together: behind the round in which their entry
   was updated last, and behind those after which the multiplier and, of a row of the block, u' and its pivot
   are finished.
*/
__global__ void __launch_bounds__(32) rounds_kernel(SyncILUDevicePattern p, SyncILUDeviceBlocks m, int places, bool runs, const int *__restrict__ stands,
                                                    const int *__restrict__ first_update, SyncILUFoundUpdate *found, unsigned short *__restrict__ ends,
                                                    int *outside, int *__restrict__ count, int *__restrict__ updates, SyncILUBlockMost *most)
{
  extern __shared__ __align__(16) unsigned char shared[];
  int *const                                    key = (int *)shared;
  unsigned short *const place = (unsigned short *)(key + places), *const ready = place + places; /* ready: the last round of each place */
  const int          lane    = threadIdx.x;
  const SyncILUBlock d       = m.block[blockIdx.x];
  const int          entries = p.ptr[d.first + rows_of(d)] - p.ptr[d.first], begin = first_update[d.first], n = first_update[d.first + rows_of(d)] - begin;
  int                others = 0, left = 0;
  unsigned           last = 0;

  for (int k = lane; k < places; k += 32) key[k] = -1;
  for (int k = lane; k < MOST + entries; k += 32) ready[k] = 0;
  __syncwarp(); /* all is empty for the other lanes */
  for (int first = 0; first < n; first += 32) {
    const bool         mine   = first + lane < n;
    SyncILUFoundUpdate x      = mine ? found[begin + first + lane] : SyncILUFoundUpdate{0, 0};
    const bool         inner  = x.update & SYNCILU_BLOCK_INNER;
    const int          target = target_of(x.update), multiplier = multiplier_of(x.update);
    bool               added = false;
    int                at    = 0;

    if (others + 32 > min((int)SYNCILU_BLOCK_OUTSIDE, places - places / 8) || last >= SYNCILU_BLOCK_ROUNDS - 33) {
      if (lane) return;
      atomicMax(&most->unfit, 1);
      count[blockIdx.x] = updates[blockIdx.x] = 0;
      return;
    }
    if (mine && !inner) { /* the table has free places */
      at = (int)(x.source * 2654435769u >> 7 & (unsigned)(places - 1));
      for (;; at = (at + 1) & (places - 1)) {
        const int there = atomicCAS(key + at, -1, (int)x.source);

        added = there == -1;
        if (added || there == (int)x.source) break;
      }
    }
    const unsigned all = __ballot_sync(FULL, added);
    if (added) {
      const int own = others + __popc(all & ((1u << lane) - 1));

      place[at]            = (unsigned short)own;
      outside[begin + own] = (int)x.source;
    }
    others += __popc(all);
    __syncwarp(); /* the places are there for the lanes that need the same */
    if (mine && !inner) x.source = (unsigned)(MOST + entries + place[at]);

    /* an update of several entries is the first one's */
    const unsigned before = __shfl_up_sync(FULL, x.update, 1), before_source = __shfl_up_sync(FULL, x.source, 1);
    const bool     goes_on = runs && lane && before + (1 << SYNCILU_BLOCK_TARGET) == x.update && before_source + 1 == x.source && target > MOST;
    const unsigned alone = __ballot_sync(FULL, mine && !goes_on), upto = (2u << lane) - 1;
    const int      start = 31 - __clz((int)(alone & upto)), next = __ffs((int)(alone & ~upto)) - 1; /* of a lane that is mine, lane 0 begins */
    const int      end = next < 0 ? min(32, n - first) : next, run = min(end - lane, (int)SYNCILU_BLOCK_RUN);
    const bool     head   = mine && (lane - start) % SYNCILU_BLOCK_RUN == 0;
    const unsigned begins = __ballot_sync(FULL, mine && (lane == 0 || multiplier_of(before) != multiplier));
    const int      own    = __popc(begins & upto) - 1;
    unsigned       r      = 0;

    for (int s = 0; s < __popc(begins); s++) {
      if (head && own == s) {
        r = ready[multiplier];
        if (inner) r = max(r, (unsigned)ready[pivot_of(x.update)]);
        for (int k = 0; k < run; k++) r = max(r, max((unsigned)ready[target + k], inner ? (unsigned)ready[x.source + k] : 0u));
        r++;
        for (int k = 0; k < run; k++) ready[target + k] = (unsigned short)r;
      }
      __syncwarp(); /* the rounds are there for the updates by the next reference row */
    }
    last = max(last, __reduce_max_sync(FULL, r));
    left += __popc(__ballot_sync(FULL, head));
    if (mine) {
      x.source |= (unsigned)(run - 1) << SYNCILU_BLOCK_SOURCE | r << 16;
      found[begin + first + lane] = x;
    }
  }
  if (lane < rows_of(d)) ends[d.first + lane] = ready[lane];
  __syncwarp(); /* the list is there for all lanes, and the table is nobody's any more */
  int room = 1;
  while (room < others) room *= 2;
  for (int k = lane; k < (runs ? others : room); k += 32) key[k] = k < others ? stands[outside[begin + k]] : INT_MAX;
  __syncwarp(); /* all are there for the other lanes */
  if (!runs) {  /* neighbouring lanes will ask for neighbours in memory */
    sort_shared(key, room);
    for (int k = lane; k < n; k += 32) {
      const SyncILUFoundUpdate x  = found[begin + k];
      const int                at = (int)(x.source & 0xffff) - MOST - entries;

      if (!(x.update & SYNCILU_BLOCK_INNER))
        found[begin + k].source = (x.source & 0xffff0000) | (unsigned)(MOST + entries + first_not_less(key, others, stands[outside[begin + at]]));
    }
    __syncwarp(); /* nobody reads the list any more */
  }
  for (int k = lane; k < others; k += 32) outside[begin + k] = key[k];
  if (lane) return;
  count[blockIdx.x]   = others;
  updates[blockIdx.x] = left;
  atomicMax(&most->outside, others);
  atomicMax(&most->rounds, (int)last);
}

__global__ void units_kernel(int n, const int *__restrict__ updates, int *__restrict__ units)
{
  const long long b = global_thread();

  if (b < n) units[b] = (updates[b] + 31) / 32;
}

/* A warp counts the updates of each round, and then places them. */
__global__ void __launch_bounds__(32)
  place_kernel(SyncILUDeviceBlocks m, const int *__restrict__ first_update, const SyncILUFoundUpdate *__restrict__ found,
               const unsigned short *__restrict__ ends, const int *__restrict__ units, unsigned *__restrict__ update, unsigned short *__restrict__ source)
{
  __shared__ unsigned round[SYNCILU_BLOCK_ROUNDS]; /* how many it has; later how many are placed, and 65536 times where it begins */
  const int           lane  = threadIdx.x;
  const SyncILUBlock  d     = m.block[blockIdx.x];
  const int           begin = first_update[d.first], n = first_update[d.first + rows_of(d)] - begin;
  unsigned            last = 0, sum = 0;

  for (int k = lane; k < SYNCILU_BLOCK_ROUNDS; k += 32) round[k] = 0;
  __syncwarp(); /* nothing is counted yet */
  for (int k = lane; k < n; k += 32) {
    const unsigned r = found[begin + k].source >> 16;

    if (r) atomicAdd(round + r, 1u);
    last = max(last, r);
  }
  last = __reduce_max_sync(FULL, last);
  __syncwarp(); /* all are counted */
  for (unsigned k = 0; k <= last; k += 32) {
    const unsigned own  = round[k + lane];
    unsigned       upto = own;

    for (int o = 1; o < 32; o *= 2) {
      const unsigned below = __shfl_up_sync(FULL, upto, o);

      if (lane >= o) upto += below;
    }
    round[k + lane] = (sum + upto - own) << 16;
    sum += __shfl_sync(FULL, upto, 31);
  }
  __syncwarp(); /* where each round begins is there for all lanes */
  for (int k = lane; k < n; k += 32) {
    const SyncILUFoundUpdate x = found[begin + k];
    const unsigned           r = x.source >> 16;

    if (!r) continue;
    const unsigned where = atomicAdd(round + r, 1u), own = where & 0xffff;
    const int      target = target_of(x.update);
    const size_t   at     = (size_t)units[blockIdx.x] * 32 + (where >> 16) + own;

    update[at] = x.update | (own ? 0 : SYNCILU_BLOCK_BEGINS) | (target < MOST && ends[d.first + target] == r ? SYNCILU_BLOCK_LAST : 0);
    source[at] = (unsigned short)x.source;
  }
}

__global__ void places_kernel(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int outers, int *__restrict__ place)
{
  const long long b = global_thread() / 32;

  if (b >= m.blocks) return;
  each_entry(
    m, b, [&](int i, int e, unsigned at) { place[t.begin[i] + t.skip + e] = (int)at; },
    [&](int i, int e, unsigned at, int) { place[t.begin[i] + t.skip + e] = outers + (int)at; });
}

__global__ void outside_kernel(SyncILUDeviceBlocks m, const int *__restrict__ first_update, const int *__restrict__ updates, const int *__restrict__ units,
                               const int *__restrict__ found, const int *__restrict__ from, SyncILUBlockUpdates *__restrict__ block, int *__restrict__ outside)
{
  const long long b    = global_thread() / 32;
  const int       lane = threadIdx.x & 31;

  if (b >= m.blocks) return;
  const SyncILUBlock d     = m.block[b];
  const int          begin = first_update[d.first], first = from[b], count = from[b + 1] - first;
  for (int k = lane; k < count; k += 32) outside[first + k] = found[begin + k];
  if (lane == 0) block[b] = {updates[b], units[b], count, first};
}

/* What one thread wrote to shared memory before it is there for all that have the block of rows together. */
template <int WARPS>
__device__ __forceinline__ void meet(void)
{
  if (WARPS > 1) __syncthreads();
  else __syncwarp();
}

/* The numbers at work: entries, then pivots. diag: of the row of each lane, -1 where there is none. */
template <typename V, int WARPS>
__device__ __forceinline__ void load_block(const SyncILUDeviceFactor &f, int thread, int base, int entries, int diag, V *w)
{
  constexpr int AT_ONCE = 4, STEP = 32 * WARPS;

  for (int e = thread; e < entries; e += STEP * AT_ONCE) {
    V x[AT_ONCE];

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) x[k] = e + STEP * k < entries ? value<V>(f.values, base + e + STEP * k) : V(0);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
      if (e + STEP * k < entries) w[MOST + e + STEP * k] = x[k];
  }
  meet<WARPS>(); /* the diagonal entries are there for the lanes of their rows */
  if (thread < 32) w[thread] = diag >= 0 ? w[MOST + diag] + V(diagonal_shift(f.piv)) : V(1);
}

/* Where the next u' of other blocks stand that the threads have not asked for, from h on. */
template <int WARPS, int N>
__device__ __forceinline__ void find_outside(const SyncILUDeviceBlockUpdates &l, const SyncILUBlockUpdates &own, int h, int (&at)[N])
{
#pragma unroll
  for (int k = 0; k < N; k++) at[k] = h + 32 * WARPS * k < own.outside ? l.outside[own.from + h + 32 * WARPS * k] : -1;
}

/* Waits for u' of other blocks; `at` has where the first ones stand. */
template <typename V, int WARPS, int N>
__device__ __forceinline__ void load_outside(const SyncILUDeviceBlockUpdates &l, const SyncILUBlockUpdates &own, int thread, int (&at)[N], V *to)
{
  const V *const val = (const V *)l.U.outer;

  for (int h = thread; __any_sync(FULL, h < own.outside); h += 32 * WARPS * N) {
    int  now[N];
    V    u[N];
    bool all;

#pragma unroll
    for (int k = 0; k < N; k++) {
      now[k] = at[k];
      u[k]   = now[k] >= 0 ? load_relaxed(val + now[k]) : V(0);
    }
    find_outside<WARPS>(l, own, h + 32 * WARPS * N, at);
    do {
      all = true;
#pragma unroll
      for (int k = 0; k < N; k++) {
        if (!is_set(u[k])) u[k] = load_relaxed(val + now[k]);
        all &= is_set(u[k]);
      }
    } while (!__all_sync(FULL, all));
#pragma unroll
    for (int k = 0; k < N; k++)
      if (now[k] >= 0) to[h + 32 * WARPS * k] = u[k];
  }
}

/*
   Applies an update, of several entries if RUNS; inverse has the reciprocals of the pivots that no update is
   left for.
*/
template <typename V, bool RUNS>
__device__ __forceinline__ void apply(const SyncILUDevicePivoting &piv, unsigned update, unsigned source, V *w, V *inverse)
{
  constexpr int RUN   = RUNS ? SYNCILU_BLOCK_RUN : 1;
  const int     run   = RUNS ? (int)(source >> SYNCILU_BLOCK_SOURCE) + 1 : 1;
  const bool    inner = update & SYNCILU_BLOCK_INNER;
  const V multiplier = w[multiplier_of(update)], *const from = w + (source & ((1u << SYNCILU_BLOCK_SOURCE) - 1));
  V *const entry = w + target_of(update);
  V        u[RUN], x[RUN];

#pragma unroll
  for (int k = 0; k < RUN; k++) {
    u[k] = k < run ? from[k] : V(0);
    x[k] = k < run ? entry[k] : V(0);
  }
  if (inner) {
    const V scale = inverse[pivot_of(update)];

#pragma unroll
    for (int k = 0; k < RUN; k++) u[k] = clean(u[k] * scale);
  }
#pragma unroll
  for (int k = 0; k < RUN; k++) {
    x[k] -= multiplier * u[k];
    if (k < run) entry[k] = x[k];
  }
  if (update & SYNCILU_BLOCK_LAST) inverse[target_of(update)] = V(1) / shifted_pivot(piv, x[0]);
}

/* Updates of a thread, which are loaded so early that a few steps cover the way to memory. */
constexpr int AHEAD = 4;

struct Updates {
  unsigned update[AHEAD], source[AHEAD];
};

/* Those from number c of the block on, one for each thread in turn. */
template <int WARPS>
__device__ __forceinline__ void load_updates(const SyncILUDeviceBlockUpdates &l, const SyncILUBlockUpdates &own, int thread, int c, Updates *u)
{
#pragma unroll
  for (int k = 0; k < AHEAD; k++) {
    const int    e  = c + 32 * WARPS * k + thread;
    const size_t at = (size_t)own.at * 32 + e;

    u->update[k] = e < own.updates ? l.update[at] : 0;
    u->source[k] = e < own.updates ? l.source[at] : 0;
  }
}

/*
   The updates, as many at a time as there are threads, of which parts may belong to successive rounds. next:
   the first ones of this thread.
*/
template <typename V, int WARPS, bool RUNS>
__device__ __forceinline__ void apply_updates(const SyncILUDeviceFactor &f, const SyncILUDeviceBlockUpdates &l, const SyncILUBlockUpdates &own, int thread,
                                              Updates next, V *w, V *inverse)
{
  constexpr int  STEP = 32 * WARPS;
  __shared__ int rounds[2][WARPS]; /* that begin in each warp's part, of this time and of the time before */
  const unsigned upto = (2u << (thread & 31)) - 1;

  for (int first = 0; first < own.updates; first += STEP * AHEAD) {
    const Updates now = next;

    load_updates<WARPS>(l, own, thread, first + STEP * AHEAD, &next);
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      const int      c      = first + STEP * k;
      const bool     mine   = c + thread < own.updates;
      const unsigned begins = __ballot_sync(FULL, thread && now.update[k] & SYNCILU_BLOCK_BEGINS);
      int            turn = __popc(begins & upto), turns = __popc(begins) + 1;

      if (c >= own.updates) break;
      if (WARPS > 1) {
        if ((thread & 31) == 0) rounds[k & 1][thread / 32] = __popc(begins);
        __syncthreads(); /* the numbers of rounds are there for the other warps, which have used those before the last ones */
        turns = 1;
#pragma unroll
        for (int q = 0; q < WARPS; q++) {
          turn += q < thread / 32 ? rounds[k & 1][q] : 0;
          turns += rounds[k & 1][q];
        }
      }
      for (int s = 0; s < turns; s++) {
        if (mine && turn == s) apply<V, RUNS>(f.piv, now.update[k], now.source[k], w, inverse);
        meet<WARPS>(); /* what the round has updated is there for the next one */
      }
    }
  }
}

/*
   A block of rows has a warp, or if its numbers are many WARPS of them.

   Progress: tickets follow the order of the blocks, which wait for blocks of lower tickets alone. The warps
   of a thread block have successive tickets and are resident together.
*/
template <typename V, int WARPS, bool RUNS>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) blocks_kernel(SyncILUDeviceFactor f, SyncILUDeviceBlockUpdates l)
{
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     lane = threadIdx.x & 31, warp = WARPS > 1 ? threadIdx.x / 32 : 0, thread = WARPS > 1 ? threadIdx.x : lane;
  V *const w = (V *)shared + (WARPS > 1 ? 0 : (size_t)(threadIdx.x / 32) * l.room), *const inverse = w + l.room - MOST;
  const Ticket t = take_ticket(f.ticket) / WARPS;

  if (t >= (Ticket)l.L.blocks) return;
  const SyncILUBlock        d    = l.L.block[t];
  const SyncILUBlockUpdates own  = l.block[t];
  const int                 rows = rows_of(d), i = d.first + lane, base = f.pattern.ptr[d.first], entries = f.pattern.ptr[d.first + rows] - base;
  const bool                mine = lane < rows;
  V *const pivot = (V *)f.pivot, *const entry = w + MOST - base; /* by entry of the pattern */

  /* what can be loaded before the waiting */
  Updates updates;
  int     outside[SYNCILU_UPDATE_POLLS];

  load_updates<WARPS>(l, own, thread, 0, &updates);
  find_outside<WARPS>(l, own, thread, outside);
  load_block<V, WARPS>(f, thread, base, entries, mine ? f.pattern.diag[i] - base : -1, w);
  if (warp == 0) inverse[lane] = V(1) / shifted_pivot(f.piv, w[lane]);
  if (f.throttle > 0 && d.first >= f.throttle) wait_for_ancestor(pivot + d.first - f.throttle, true);
  load_outside<V, WARPS>(l, own, thread, outside, w + MOST + entries);
  meet<WARPS>(); /* all that a block begins with is there for all threads */
  apply_updates<V, WARPS, RUNS>(f, l, own, thread, updates, w, inverse);

  if (warp == 0) {
    const int upper = mine ? row_of(l.U.block[t], true, lane) : 0, right = mine ? f.pattern.diag[upper] + 1 : 0;
    const V   scale    = mine ? inverse[upper - d.first] : V(1);
    bool      overflow = false;
    V         size     = 0;
    auto      scaled   = [&](int e) {
      const V v = entry[right + e], u = clean(v * scale);

      overflow |= !isfinite(u) && isfinite(v);
      size += fabs(v);
      return u;
    };

    each_entry(
      l.U, t, [&](int, int e, unsigned place) { store_relaxed((V *)l.U.outer + place, scaled(e)); },
      [&](int, int e, unsigned place, int) { store_relaxed((V *)l.U.inner + place, scaled(e)); });
    if (mine) {
      const V found = w[lane];

      store_relaxed(pivot + i, clean(shifted_pivot(f.piv, found)));
      (void)judge(f.piv, i, found, f.status);
      ((V *)l.inverse)[i] = inverse[lane];
      if (f.size) ((V *)f.size)[upper] = size;
      if (overflow) report(&f.status->row, upper);
    }
  }
  if (warp == WARPS - 1) {
    const int left = mine ? f.pattern.ptr[i] : 0;

    each_entry(
      l.L, t, [&](int, int e, unsigned place) { ((V *)l.L.outer)[place] = entry[left + e]; },
      [&](int, int e, unsigned place, int) { ((V *)l.L.inner)[place] = entry[left + e]; });
  }
}

template <int WARPS, bool RUNS>
cudaError_t launch(const SyncILUDeviceFactor &f, const SyncILUDeviceBlockUpdates &l, cudaStream_t stream)
{
  const size_t bytes = (size_t)l.room * sizeof(double);
  int          tasks = WARPS > 1 ? 1 : SYNCILU_BLOCK_FACTOR / 32; /* of a thread block */

  while (tasks > 1 && tasks * bytes > SYNCILU_SHARED_BYTES) tasks /= 2;
  ALLOW_SHARED((blocks_kernel<double, WARPS, RUNS>), bytes);
  blocks_kernel<double, WARPS, RUNS><<<blocks_for(l.L.blocks, tasks), 32 * WARPS * tasks, tasks * bytes, stream>>>(f, l);
  return cudaGetLastError();
}

} // namespace

cudaError_t SyncILUKernelBlockFirsts(SyncILUDeviceBlocks m, int *first, cudaStream_t stream)
{
  LAUNCH(firsts_kernel, 32ll * m.blocks, stream, m, first);
}

cudaError_t SyncILUKernelCountUpdates(SyncILUDevicePattern p, int most, int lanes, int *count, unsigned char *some, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  return with_lanes(lanes, [&](auto lg) {
    return with_lookup(lanes, most, [&](auto how) {
      count_kernel<lg, how>
        <<<blocks_for((long long)p.n << lg, SYNCILU_BLOCK), SYNCILU_BLOCK, (SYNCILU_BLOCK >> lg) * row_bytes(how, most), stream>>>(p, most, count, some);
      return cudaGetLastError();
    });
  });
}

cudaError_t SyncILUKernelFindUpdates(SyncILUDevicePattern p, int most, int lanes, const int *first, const unsigned char *some, const int *begin,
                                     SyncILUFoundUpdate *found, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  return with_lanes(lanes, [&](auto lg) {
    return with_lookup(lanes, most, [&](auto how) {
      find_kernel<lg, how>
        <<<blocks_for((long long)p.n << lg, SYNCILU_BLOCK), SYNCILU_BLOCK, (SYNCILU_BLOCK >> lg) * row_bytes(how, most), stream>>>(p, most, first, some, begin,
                                                                                                                                   found);
      return cudaGetLastError();
    });
  });
}

cudaError_t SyncILUKernelUpdateSizes(SyncILUDevicePattern p, SyncILUDeviceBlocks m, const int *begin, SyncILUBlockMost *most, cudaStream_t stream)
{
  LAUNCH(sizes_kernel, (long long)m.blocks, stream, p, m, begin, most);
}

cudaError_t SyncILUKernelBlockRounds(SyncILUDevicePattern p, SyncILUDeviceBlocks m, SyncILUBlockMost most, int runs, const int *stands, const int *begin,
                                     SyncILUFoundUpdate *found, unsigned short *ends, int *outside, int *count, int *updates, SyncILUBlockMost *device,
                                     cudaStream_t stream)
{
  const int    places = outside_places(most);
  const size_t bytes  = (size_t)places * (sizeof(int) + sizeof(unsigned short)) + (size_t)(MOST + most.entries) * sizeof(unsigned short);

  if (!m.blocks) return cudaSuccess;
  ALLOW_SHARED(rounds_kernel, bytes);
  rounds_kernel<<<(unsigned)m.blocks, 32, bytes, stream>>>(p, m, places, runs != 0, stands, begin, found, ends, outside, count, updates, device);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelUpdateUnits(SyncILUDeviceBlocks m, const int *updates, int *units, cudaStream_t stream)
{
  LAUNCH(units_kernel, (long long)m.blocks, stream, m.blocks, updates, units);
}

cudaError_t SyncILUKernelPlaceUpdates(SyncILUDeviceBlocks m, const int *begin, const SyncILUFoundUpdate *found, const unsigned short *ends, const int *units,
                                      unsigned *update, unsigned short *source, cudaStream_t stream)
{
  if (!m.blocks) return cudaSuccess;
  place_kernel<<<(unsigned)m.blocks, 32, 0, stream>>>(m, begin, found, ends, units, update, source);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelBlockPlaces(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int *place, cudaStream_t stream)
{
  LAUNCH(places_kernel, 32ll * m.blocks, stream, t, m, (int)((const double *)m.inner - (const double *)m.outer), place);
}

cudaError_t SyncILUKernelBlockOutside(SyncILUDeviceBlocks m, const int *begin, const int *updates, const int *units, const int *found, const int *from,
                                      SyncILUBlockUpdates *block, int *outside, cudaStream_t stream)
{
  LAUNCH(outside_kernel, 32ll * m.blocks, stream, m, begin, updates, units, found, from, block, outside);
}

cudaError_t SyncILUKernelFactorBlocks(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBlockUpdates l, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!l.L.blocks) return cudaSuccess;
  if (l.warps > 1) return l.runs ? launch<SYNCILU_BLOCK_FACTOR / 32, true>(f, l, stream) : launch<SYNCILU_BLOCK_FACTOR / 32, false>(f, l, stream);
  return l.runs ? launch<1, true>(f, l, stream) : launch<1, false>(f, l, stream);
}
