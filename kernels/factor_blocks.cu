/*
   The factorization by blocks of rows, for an ordering that has few colors of blocks: one to eight warps
   factor a block. A block announces itself by a flag; those that need it look at the flags of all blocks that
   they need, once, before their first update.

   Its rows stand in shared memory. The plan has dealt the updates of a block to rounds: an update comes in
   the first round in which what it takes is finished and its entry has no update by an earlier reference row
   left. So rows of a block go on beside each other as far as they do not depend on each other, and the chain
   of rounds is as short as it can be: 33 rounds a block at most on triangles, 25 on tetrahedra, 68 on
   elasticity. Rounds are half of the time of a block or more, as each is a way through shared memory, a few
   operations and mostly a division.

   Bytes: the matrix and its map, 6 for an update, which may be of several successive entries, 2 for the place
   of an entry, u' of other blocks by sectors of memory, and the factor, which goes straight into the storage
   of the triangles.
*/
#include "factor_blocks.h"
#include "async.cuh"
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

__global__ void firsts_kernel(SyncILUDeviceBlocks m, int *__restrict__ first, int *__restrict__ of)
{
  const long long b    = global_thread() / 32;
  const int       lane = threadIdx.x & 31;

  if (b >= m.blocks) return;
  const SyncILUBlock d = m.block[b];
  if (lane < rows_of(d)) {
    first[d.first + lane] = d.first;
    of[d.first + lane]    = (int)b;
  }
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

  while (places < most.updates + most.updates / 4 + 64 && places < SYNCILU_BLOCK_OUTSIDE) places *= 2;
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
  auto               load  = [&](int k) { return k < n ? found[begin + k] : SyncILUFoundUpdate{0, 0}; };
  SyncILUFoundUpdate ahead = load(lane);
  for (int first = 0; first < n; first += 32) {
    const bool         mine   = first + lane < n;
    SyncILUFoundUpdate x      = ahead;
    const bool         inner  = x.update & SYNCILU_BLOCK_INNER;
    const int          target = target_of(x.update), multiplier = multiplier_of(x.update);
    bool               added = false;
    int                at    = 0;

    ahead = load(first + 32 + lane);
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
    for (int k = lane; k < others; k += 32) place[k] = (unsigned short)first_not_less(key, others, stands[outside[begin + k]]);
    __syncwarp(); /* the new place of each is there for all lanes, and nobody reads the list any more */
    ahead = load(lane);
    for (int k = lane; k < n; k += 32) {
      const SyncILUFoundUpdate x  = ahead;
      const int                at = (int)(x.source & 0xffff) - MOST - entries;

      ahead = load(k + 32);
      if (!(x.update & SYNCILU_BLOCK_INNER)) found[begin + k].source = (x.source & 0xffff0000) | (unsigned)(MOST + entries + place[at]);
    }
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

/*
   A warp counts the updates of each round, cuts rounds into turns of one update for each of so many threads,
   and places the updates. Turns after the last one begin behind all updates.
*/
__global__ void __launch_bounds__(32)
  place_kernel(SyncILUDeviceBlocks m, int threads, int stride, const int *__restrict__ first_update, const SyncILUFoundUpdate *__restrict__ found,
               const unsigned short *__restrict__ ends, const int *__restrict__ units, unsigned *__restrict__ update, unsigned short *__restrict__ source,
               unsigned short *__restrict__ turn, int *__restrict__ turns)
{
  __shared__ unsigned round[SYNCILU_BLOCK_ROUNDS]; /* how many it has; later how many are placed, and 65536 times where it begins */
  const int           lane  = threadIdx.x;
  const SyncILUBlock  d     = m.block[blockIdx.x];
  const int           begin = first_update[d.first], n = first_update[d.first + rows_of(d)] - begin;
  unsigned            last = 0, sum = 0, cuts = 0;

  turn += (size_t)blockIdx.x * stride;
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
    const unsigned own = round[k + lane], pieces = (own + threads - 1) / threads;
    unsigned       upto = own, cut = pieces;

    for (int o = 1; o < 32; o *= 2) {
      const unsigned below = __shfl_up_sync(FULL, upto, o), cut_below = __shfl_up_sync(FULL, cut, o);

      if (lane >= o) {
        upto += below;
        cut += cut_below;
      }
    }
    round[k + lane] = (sum + upto - own) << 16;
    for (unsigned q = 0; q < pieces; q++) turn[cuts + cut - pieces + q] = (unsigned short)(sum + upto - own + q * threads);
    sum += __shfl_sync(FULL, upto, 31);
    cuts += __shfl_sync(FULL, cut, 31);
  }
  for (int k = (int)cuts + lane; k < stride; k += 32) turn[k] = (unsigned short)sum;
  if (lane == 0) turns[blockIdx.x] = (int)cuts;
  __syncwarp(); /* where each round begins is there for all lanes */
  for (int k = lane; k < n; k += 32) {
    const SyncILUFoundUpdate x = found[begin + k];
    const unsigned           r = x.source >> 16;

    if (!r) continue;
    const unsigned where = atomicAdd(round + r, 1u), own = where & 0xffff;
    const int      target = target_of(x.update);
    const size_t   at     = (size_t)units[blockIdx.x] * 32 + (where >> 16) + own;

    update[at] = x.update | (target < MOST && ends[d.first + target] == r ? SYNCILU_BLOCK_LAST : 0);
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

/* Where the list of a block begins that says where its entries go. */
__device__ __forceinline__ size_t list_begin(const SyncILUBlockUpdates &own, long long b)
{
  return (size_t)(own.entry - own.first + SYNCILU_BLOCK_LISTED * b) / SYNCILU_BLOCK_LISTED * SYNCILU_BLOCK_LISTED;
}

/*
   The blocks that a block waits for, ascending: those of its outer entries in L. They are found where these
   entries begin; how many there are.
*/
__global__ void __launch_bounds__(32)
  waits_kernel(SyncILUDeviceBlocks L, int room, const int *__restrict__ of, int *__restrict__ found, int *__restrict__ count)
{
  extern __shared__ __align__(16) unsigned char shared[];
  int *const                                    key  = (int *)shared;
  const int                                     lane = threadIdx.x, b = blockIdx.x;
  const unsigned                                begin = L.block[b].outer;
  const int                                     n     = __reduce_add_sync(FULL, L.row[(size_t)b * MOST + lane].outer);
  int                                           power = 1, blocks = 0;

  while (power < min(n, room)) power *= 2;
  for (int k = lane; k < power; k += 32) key[k] = k < n ? of[L.col[begin + k]] : INT_MAX;
  __syncwarp(); /* all are there for the other lanes */
  sort_shared(key, power);
  for (int first = 0; first < n; first += 32) { /* the same numbers are neighbours; one of them stays */
    const int      k = first + lane, own = k < n ? key[k] : 0;
    const bool     stays = k < n && (k == 0 || key[k - 1] != own);
    const unsigned all   = __ballot_sync(FULL, stays);

    if (stays) found[begin + blocks + __popc(all & ((1u << lane) - 1))] = own;
    blocks += __popc(all);
  }
  if (lane == 0) count[b] = blocks;
}

__global__ void describe_kernel(SyncILUDevicePattern p, SyncILUDeviceBlocks L, SyncILUDeviceBlocks U, const int *__restrict__ first_update,
                                const int *__restrict__ units, const int *__restrict__ turns, const int *__restrict__ found, const int *__restrict__ from,
                                const int *__restrict__ waits, const int *__restrict__ wait_from, SyncILUBlockUpdates *__restrict__ block,
                                int *__restrict__ outside, int *__restrict__ wait, unsigned short *__restrict__ list)
{
  const long long b    = global_thread() / 32;
  const int       lane = threadIdx.x & 31;

  if (b >= L.blocks) return;
  const SyncILUBlock    lower = L.block[b], upper = U.block[b];
  const SyncILUBlockRow left = L.row[b * MOST + lane], right = U.row[b * MOST + lane];
  const int             begin = first_update[lower.first];
  SyncILUBlockUpdates   own;

  own.first    = lower.first;
  own.rows     = rows_of(lower);
  own.entry    = p.ptr[lower.first];
  own.entries  = p.ptr[lower.first + own.rows] - own.entry;
  own.at       = units[b];
  own.turns    = turns[b];
  own.units    = units[b + 1] - own.at;
  own.from     = from[b];
  own.outside  = from[b + 1] - own.from;
  own.place[0] = upper.outer;
  own.place[1] = upper.inner;
  own.place[2] = lower.outer;
  own.place[3] = lower.inner;
  own.count[0] = __reduce_add_sync(FULL, right.outer);
  own.count[1] = __reduce_add_sync(FULL, __popc(right.inner));
  own.count[2] = __reduce_add_sync(FULL, left.outer);
  own.count[3] = __reduce_add_sync(FULL, __popc(left.inner));
  for (int k = lane; k < own.outside; k += 32) outside[own.from + k] = found[begin + k];
  own.wait  = wait_from[b];
  own.waits = wait_from[b + 1] - own.wait;
  for (int k = lane; k < own.waits; k += 32) wait[own.wait + k] = waits[lower.outer + k];
  list += list_begin(own, b);
  auto upper_place = [&](int i, int e) { return (unsigned short)(MOST + p.diag[i] + 1 + e - own.entry); };
  auto lower_place = [&](int i, int e) { return (unsigned short)(MOST + p.ptr[i] + e - own.entry); };
  each_entry(
    U, b, [&](int i, int e, unsigned at) { list[at - own.place[0]] = upper_place(i, e); },
    [&](int i, int e, unsigned at, int) { list[own.count[0] + at - own.place[1]] = upper_place(i, e); });
  list += own.count[0] + own.count[1];
  each_entry(
    L, b, [&](int i, int e, unsigned at) { list[at - own.place[2]] = lower_place(i, e); },
    [&](int i, int e, unsigned at, int) { list[own.count[2] + at - own.place[3]] = lower_place(i, e); });
  if (lane == 0) block[b] = own;
}

/* What one thread wrote to shared memory before it is there for all that have the block of rows together. */
template <int WARPS>
__device__ __forceinline__ void meet(void)
{
  if (WARPS > 1) __syncthreads();
  else __syncwarp();
}

/* The first pieces of 16 bytes, for which nobody waits. */
template <int WARPS>
__device__ __forceinline__ void copy_pieces(int thread, int bytes, void *to, const void *from)
{
  for (int k = 16 * thread; k < bytes; k += 16 * 32 * WARPS) copy_piece((char *)to + k, (const char *)from + k);
}

/* The values of the block, for which nobody waits. */
template <typename V, int WARPS>
__device__ __forceinline__ void copy_block(const SyncILUDeviceValues &v, int thread, int base, int entries, V *to)
{
  constexpr int  AT_ONCE = 8, STEP = 32 * WARPS;
  const V *const a = (const V *)v.a;

  for (int e = thread; e < entries; e += STEP * AT_ONCE) {
    int from[AT_ONCE];

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const int at = e + STEP * k;

      from[k] = at < entries ? v.map ? v.map[base + at] : base + at : -1;
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const int at = e + STEP * k;

      copy_if(from[k] >= 0, to + at, a + from[k]);
      if (at < entries && from[k] < 0) to[at] = V(0);
    }
  }
}

/* Where the next u' of other blocks stand that the threads have not asked for, from h on. */
template <int WARPS, int N>
__device__ __forceinline__ void find_outside(const SyncILUDeviceBlockUpdates &l, const SyncILUBlockUpdates &own, int h, int (&at)[N])
{
#pragma unroll
  for (int k = 0; k < N; k++) at[k] = h + 32 * WARPS * k < own.outside ? l.outside[own.from + h + 32 * WARPS * k] : -1;
}

/* Loads u' of other blocks; `at` has where the first ones stand. */
template <typename V, int WARPS, int N>
__device__ __forceinline__ void load_outside(const SyncILUDeviceBlockUpdates &l, const SyncILUBlockUpdates &own, int thread, int (&at)[N], V *to)
{
  const V *const val = (const V *)l.U.outer;

  for (int h = thread; h < own.outside; h += 32 * WARPS * N) {
    V u[N];

#pragma unroll
    for (int k = 0; k < N; k++) u[k] = at[k] >= 0 ? load_relaxed(val + at[k]) : V(0);
#pragma unroll
    for (int k = 0; k < N; k++)
      if (at[k] >= 0) to[h + 32 * WARPS * k] = u[k];
    find_outside<WARPS>(l, own, h + 32 * WARPS * N, at);
  }
}

/*
   Applies an update, of several entries if RUNS; inverse has the reciprocals of the pivots that no update is
   left for, which are what a round takes longest for.
*/
template <typename V, bool RUNS>
__device__ __forceinline__ void apply(const SyncILUDevicePivoting &piv, unsigned update, unsigned source, V *w, V *inverse)
{
  constexpr int RUN = RUNS ? SYNCILU_BLOCK_RUN : 1;
  const int     run = RUNS ? (int)(source >> SYNCILU_BLOCK_SOURCE) + 1 : 1;
  V scale = w[multiplier_of(update)], *const entry = w + target_of(update);
  const V *const from = w + (source & ((1u << SYNCILU_BLOCK_SOURCE) - 1));
  V              u[RUN], x[RUN];

#pragma unroll
  for (int k = 0; k < RUN; k++) {
    u[k] = k < run ? from[k] : V(0);
    x[k] = k < run ? entry[k] : V(0);
  }
  if (update & SYNCILU_BLOCK_INNER) scale *= inverse[pivot_of(update)];
#pragma unroll
  for (int k = 0; k < RUN; k++) {
    x[k] -= scale * u[k];
    if (k < run) entry[k] = x[k];
  }
  if (update & SYNCILU_BLOCK_LAST) inverse[target_of(update)] = reciprocal_pivot(piv, x[0]);
}

/* Updates of a thread, which are loaded so early that a few turns cover the way to the cache of memory. */
constexpr int AHEAD = SYNCILU_BLOCK_AHEAD;

struct Updates {
  unsigned update[AHEAD], source[AHEAD];
};

/* Those of the turns from here on, one for each thread that has any. */
__device__ __forceinline__ void load_updates(const SyncILUDeviceBlockUpdates &l, const SyncILUBlockUpdates &own, int thread, const unsigned short *turn,
                                             Updates *u)
{
#pragma unroll
  for (int k = 0; k < AHEAD; k++) {
    const int    e  = turn[k] + thread;
    const bool   is = e < turn[k + 1];
    const size_t at = (size_t)own.at * 32 + e;

    u->update[k] = is ? l.update[at] : (unsigned)SYNCILU_BLOCK_NONE;
    u->source[k] = is ? l.source[at] : 0u;
  }
}

/* Waits for what a block has published. */
__device__ __forceinline__ void wait_for_block(const SyncILUDeviceBlockUpdates &l, int block)
{
  while (load_acquire(l.done + block) != l.time) __nanosleep(SYNCILU_THROTTLE_PAUSE);
}

/*
   A block of rows has a warp, or WARPS of them.

   Progress: tickets follow the order of the blocks, which wait for blocks of lower tickets alone. The warps
   of a thread block have successive tickets and are resident together.
*/
template <typename V, int WARPS, bool RUNS>
__global__ void __launch_bounds__(WARPS > 1 ? 32 * WARPS : SYNCILU_BLOCK_FACTOR, WARPS > 1 ? 1 : 8)
  blocks_kernel(SyncILUDeviceFactor f, SyncILUDeviceBlockUpdates l)
{
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int                                 STEP = 32 * WARPS;
  const int                                     lane = threadIdx.x & 31, warp = WARPS > 1 ? threadIdx.x / 32 : 0, thread = WARPS > 1 ? threadIdx.x : lane;
  V *const w = (V *)(shared + (WARPS > 1 ? 0 : (size_t)(threadIdx.x / 32) * l.bytes)), *const inverse = w + l.room - MOST;
  unsigned short *const list = (unsigned short *)(w + l.room), *const turn = list + l.listed;
  const Ticket t = take_ticket(f.ticket) / WARPS;

  if (t >= (Ticket)l.L.blocks) return;
  const SyncILUBlockUpdates own     = l.block[t];
  const int                 entries = own.entries, i = own.first + lane;
  const bool                mine = lane < own.rows;
  V *const pivot = (V *)f.pivot, *const entry = w + MOST;

  /* all that needs no other block is on its way before the first waiting */
  int outside[SYNCILU_UPDATE_POLLS];

  if (thread == 0 && own.units) {
    prefetch_bulk(l.update + (size_t)own.at * 32, own.units * 32 * (int)sizeof(*l.update));
    prefetch_bulk(l.source + (size_t)own.at * 32, own.units * 32 * (int)sizeof(*l.source));
  }
  copy_pieces<WARPS>(thread, 2 * l.turns, turn, l.turn + t * (size_t)l.turns);
  copy_pieces<WARPS>(thread, 2 * (entries - own.rows), list, l.list + list_begin(own, (long long)t));
  commit_copies();
  const int wait = thread < own.waits ? l.wait[own.wait + thread] : -1;
  const int diag = mine ? f.pattern.diag[i] - own.entry : 0, end = mine ? f.pattern.ptr[i + 1] - own.entry : 0;
  find_outside<WARPS>(l, own, thread, outside);
  copy_block<V, WARPS>(f.values, thread, own.entry, entries, entry);
  commit_copies();
  wait_copies<1>();
  meet<WARPS>(); /* where turns begin is there for all threads */
  Updates next;
  load_updates(l, own, thread, turn, &next);
  if (wait >= 0) wait_for_block(l, wait);
  for (int k = thread + STEP; k < own.waits; k += STEP) wait_for_block(l, l.wait[own.wait + k]);
  meet<WARPS>(); /* what the blocks have published is there for all threads */
  load_outside<V, WARPS>(l, own, thread, outside, entry + entries);
  wait_copies<0>();
  meet<WARPS>(); /* so are the values, and u' of other blocks */
  if (warp == 0) {
    w[lane]       = mine ? entry[diag] + V(diagonal_shift(f.piv)) : V(1);
    inverse[lane] = reciprocal_pivot(f.piv, w[lane]);
  }
  meet<WARPS>(); /* all that a block begins with is there for all threads */
  for (int s = 0; s < own.turns; s += AHEAD) {
    const Updates now = next;

    load_updates(l, own, thread, turn + s + AHEAD, &next);
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      if (s + k >= own.turns) break;
      if (!(now.update[k] & SYNCILU_BLOCK_NONE)) apply<V, RUNS>(f.piv, now.update[k], now.source[k], w, inverse);
      meet<WARPS>(); /* what the turn has updated is there for the next one */
    }
  }

  if (f.size) {
    V size = 0;

    for (int e = diag + 1; e < end; e++) size += fabs(entry[e]);
    if (mine && warp == 0) ((V *)f.size)[i] = size;
    meet<WARPS>(); /* the entries of U are there for all until here */
  }
  if (mine) {
    const V scale    = inverse[lane];
    bool    overflow = false;

    for (int e = diag + 1 + warp; e < end; e += WARPS) {
      const V v = entry[e], u = v * scale;

      overflow |= !isfinite(u) && isfinite(v);
      entry[e] = u;
    }
    if (overflow) report(&f.status->row, i);
  }
  meet<WARPS>(); /* U' is there for all threads */

  const SyncILUBlockUpdates *const to = l.block + t; /* read here, and not kept until now */

  auto store = [&](int from, int step, int part, int first, void *val) {
    V *const out = (V *)val + to->place[part];

    for (int k = from; k < to->count[part]; k += step) out[k] = w[list[first + k]];
  };
  const int first[4] = {0, to->count[0], to->count[0] + to->count[1], to->count[0] + to->count[1] + to->count[2]};
  store(thread, STEP, 0, first[0], l.U.outer);
  store(thread, STEP, 1, first[1], l.U.inner);
  if (WARPS > 1) meet<WARPS>(); /* all of U' is stored before it is announced */
  if (WARPS == 1 || warp > 0) { /* the others announce it */
    constexpr int OWN        = WARPS > 1 ? STEP - 32 : STEP;
    const int     own_thread = WARPS > 1 ? thread - 32 : thread;

    store(own_thread, OWN, 2, first[2], l.L.outer);
    store(own_thread, OWN, 3, first[3], l.L.inner);
  }
  if (warp == 0) {
    if (WARPS == 1) __syncwarp(); /* all of U' is stored before it is announced */
    if (lane == 0) store_release(l.done + t, l.time);
    if (mine) {
      pivot[i]            = judge(f.piv, i, w[lane], f.status);
      ((V *)l.inverse)[i] = inverse[lane];
    }
  }
}

template <int WARPS, bool RUNS>
cudaError_t launch(const SyncILUDeviceFactor &f, const SyncILUDeviceBlockUpdates &l, cudaStream_t stream)
{
  int tasks = WARPS > 1 ? 1 : SYNCILU_BLOCK_FACTOR / 32; /* of a thread block */

  while (tasks > 1 && tasks * l.bytes > SYNCILU_SHARED_BYTES) tasks /= 2;
  ALLOW_SHARED((blocks_kernel<double, WARPS, RUNS>), tasks * l.bytes);
  blocks_kernel<double, WARPS, RUNS><<<blocks_for(l.L.blocks, tasks), 32 * WARPS * tasks, (size_t)tasks * l.bytes, stream>>>(f, l);
  return cudaGetLastError();
}

} // namespace

cudaError_t SyncILUKernelBlockFirsts(SyncILUDeviceBlocks m, int *first, int *of, cudaStream_t stream)
{
  LAUNCH(firsts_kernel, 32ll * m.blocks, stream, m, first, of);
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

cudaError_t SyncILUKernelPlaceUpdates(SyncILUDeviceBlocks m, int warps, int stride, const int *begin, const SyncILUFoundUpdate *found,
                                      const unsigned short *ends, const int *units, unsigned *update, unsigned short *source, unsigned short *turn, int *turns,
                                      cudaStream_t stream)
{
  if (!m.blocks) return cudaSuccess;
  place_kernel<<<(unsigned)m.blocks, 32, 0, stream>>>(m, 32 * warps, stride, begin, found, ends, units, update, source, turn, turns);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelBlockPlaces(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int *place, cudaStream_t stream)
{
  LAUNCH(places_kernel, 32ll * m.blocks, stream, t, m, (int)((const double *)m.inner - (const double *)m.outer), place);
}

cudaError_t SyncILUKernelBlockWaits(SyncILUDeviceBlocks L, int most, const int *of, int *found, int *count, cudaStream_t stream)
{
  int room = 32;

  if (!L.blocks) return cudaSuccess;
  while (room < most) room *= 2;
  waits_kernel<<<(unsigned)L.blocks, 32, room * sizeof(int), stream>>>(L, room, of, found, count);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelDescribeBlocks(SyncILUDevicePattern p, SyncILUDeviceBlocks L, SyncILUDeviceBlocks U, const int *begin, const int *units,
                                        const int *turns, const int *found, const int *from, const int *waits, const int *wait_from, SyncILUBlockUpdates *block,
                                        int *outside, int *wait, unsigned short *list, cudaStream_t stream)
{
  LAUNCH(describe_kernel, 32ll * L.blocks, stream, p, L, U, begin, units, turns, found, from, waits, wait_from, block, outside, wait, list);
}

cudaError_t SyncILUKernelFactorBlocks(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBlockUpdates l, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!l.L.blocks) return cudaSuccess;
  switch (l.warps) {
  case 1:
    return l.runs ? launch<1, true>(f, l, stream) : launch<1, false>(f, l, stream);
  case 2:
    return l.runs ? launch<2, true>(f, l, stream) : launch<2, false>(f, l, stream);
  case 4:
    return l.runs ? launch<4, true>(f, l, stream) : launch<4, false>(f, l, stream);
  default:
    return l.runs ? launch<8, true>(f, l, stream) : launch<8, false>(f, l, stream);
  }
}
