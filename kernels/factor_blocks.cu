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

/*
   Runs of updates by one reference row. The lanes of a row find updates of successive entries, or none, side by
   side and time after time; a run that the last lane may have left open goes on with the first one the next
   time. The pivot is alone.
*/
template <int LG>
struct Runs {
  static constexpr int T = Shape<LG>::LANES;

  int diag;          /* where the pivot stands */
  int open, last[2]; /* entries of the open run, and its last entry and u' */

  __device__ __forceinline__ Runs(int diag_) : diag(diag_), open(0), last{0, 0} { }

  /*
     What the lanes have found, all lanes of the warp together: calls keep(e, u, entries, q) with the first
     entry and u' of each run that has ended, q others before it; how many.
  */
  template <typename Keep>
  __device__ __forceinline__ int add(bool found, int e, int u, Keep keep)
  {
    constexpr unsigned MASK = T == 32 ? FULL : (1u << T) - 1;
    const int          lane = threadIdx.x & 31, sub = lane & (T - 1), first = lane - sub;
    const unsigned     lanes = __ballot_sync(FULL, found) >> first & MASK, upto = (2u << sub) - 1;
    int                before = __shfl_up_sync(FULL, e, 1), before_source = __shfl_up_sync(FULL, u, 1);

    if (sub == 0) {
      before        = last[0];
      before_source = last[1];
    }
    const bool     goes_on = found && (sub ? lanes >> (sub - 1) & 1 : open > 0) && before + 1 == e && before_source + 1 == u && e != diag && before != diag;
    const unsigned on = __ballot_sync(FULL, goes_on) >> first & MASK, starts = lanes & ~on & upto;
    const int      place  = (starts ? sub - (31 - __clz((int)starts)) : open + sub) % SYNCILU_BLOCK_RUN;
    const bool     ends   = found && (place == SYNCILU_BLOCK_RUN - 1 || (sub < T - 1 && !(on >> sub >> 1 & 1)));
    const unsigned all    = __ballot_sync(FULL, ends) >> first & MASK;
    const int      closed = open && !(on & 1);

    if (closed && sub == 0) keep(last[0] - open + 1, last[1] - open + 1, open, 0);
    if (ends) keep(e - place, u - place, place + 1, closed + __popc(all & upto >> 1));
    open    = __shfl_sync(FULL, found && !ends ? place + 1 : 0, first + T - 1);
    last[0] = __shfl_sync(FULL, e, first + T - 1);
    last[1] = __shfl_sync(FULL, u, first + T - 1);
    return closed + __popc(all);
  }

  /* There are no more by that row: closes the run, if there is one; how many. */
  template <typename Keep>
  __device__ __forceinline__ int close(Keep keep)
  {
    const int closed = open > 0;

    if (closed && (threadIdx.x & (T - 1)) == 0) keep(last[0] - open + 1, last[1] - open + 1, open, 0);
    open = 0;
    return closed;
  }
};

/*
   Calls keep(s, e, u, entries, q) for each update of a row, which may be of several entries, and done(s,
   updates), as each_updates() has them.
*/
template <int LG, bool TABLE, bool RUNS, typename Keep, typename Done>
__device__ __forceinline__ void each_run(const SyncILUDevicePattern &p, const unsigned char *some, int begin, int nl, int end, const ColumnTable &table,
                                         Keep keep, Done done)
{
  if constexpr (RUNS) {
    Runs<LG> runs(begin + nl);

    each_updates<LG, TABLE>(
      p, nullptr, some, begin, nl, end, table,
      [&](int s, const Common &, bool found, int e, int u, int before) {
        return runs.add(found, e, u, [&](int entry, int source, int entries, int q) { keep(s, entry, source, entries, before + q); });
      },
      [&](int s, int updates) { done(s, updates + runs.close([&](int entry, int source, int entries, int) { keep(s, entry, source, entries, updates); })); });
  } else
    each_update<LG, TABLE>(
      p, nullptr, some, begin, nl, end, table, [&](int s, const Common &, int e, int u, int q) { keep(s, e, u, 1, q); }, done);
}

template <int LG, Lookup HOW, bool RUNS>
__global__ void __launch_bounds__(SYNCILU_BLOCK) count_kernel(SyncILUDevicePattern p, int most, int *__restrict__ count, unsigned char *__restrict__ some)
{
  const long long   i      = global_thread() >> LG;
  const int         sub    = threadIdx.x & (Shape<LG>::LANES - 1);
  const bool        active = i < p.n;
  const int         begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  int               n     = 0;
  const ColumnTable table = table_of_row<LG, HOW>(most, p.col + begin, end - begin);

  each_run<LG, HOW == TABLED, RUNS>(
    p, nullptr, begin, nl, end, table, [](int, int, int, int, int) {},
    [&](int s, int updates) {
      if (s >= 0 && sub == 0) some[begin + s] = updates > 0;
      n += updates;
    });
  if (active && sub == 0) count[i] = n;
}

template <int LG, Lookup HOW, bool RUNS>
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  find_kernel(SyncILUDevicePattern p, int most, const int *__restrict__ first, const unsigned char *some, const int *__restrict__ stands,
              const int *__restrict__ first_update, SyncILUFoundUpdate *__restrict__ found)
{
  const long long   i      = global_thread() >> LG;
  const bool        active = i < p.n;
  const int         begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  const int         head = active ? first[i] : 0, base = p.ptr[head] - MOST; /* so that entry e has place e - base */
  size_t            at    = active ? (size_t)first_update[i] : 0;
  const ColumnTable table = table_of_row<LG, HOW>(most, p.col + begin, end - begin);

  each_run<LG, HOW == TABLED, RUNS>(
    p, some, begin, nl, end, table,
    [&](int s, int e, int u, int entries, int q) {
      const int      k = p.col[begin + s], target = e == begin + nl ? (int)i - head : e - base;
      const unsigned update = (unsigned)target << SYNCILU_BLOCK_TARGET | (unsigned)(begin + s - base) << SYNCILU_BLOCK_MULTIPLIER;

      found[at + q] = k >= head ? SyncILUFoundUpdate{update | SYNCILU_BLOCK_INNER | (unsigned)(k - head) << SYNCILU_BLOCK_PIVOT,
                                                     (unsigned)(u - base) | (unsigned)(entries - 1) << SYNCILU_BLOCK_SOURCE}
                                : SyncILUFoundUpdate{update | (unsigned)(entries - 1) << SYNCILU_BLOCK_PIVOT, (unsigned)(RUNS ? u : stands[u])};
    },
    [&](int, int updates) { at += updates; });
}

__global__ void sizes_kernel(SyncILUDevicePattern p, SyncILUDeviceBlocks m, const int *__restrict__ begin, int *__restrict__ units, SyncILUBlockMost *most)
{
  const long long b       = global_thread();
  int             entries = 0, updates = 0, own;

  if (b < m.blocks) {
    const SyncILUBlock d = m.block[b];

    entries = p.ptr[d.first + rows_of(d)] - p.ptr[d.first];
    updates = begin[d.first + rows_of(d)] - begin[d.first];
  }
  own = (updates + 31) / 32;
  if (b < m.blocks) units[b] = own;
  if (b == 0) most->total = begin[p.n];
  entries = __reduce_max_sync(FULL, entries);
  updates = __reduce_max_sync(FULL, updates);
  own     = __reduce_add_sync(FULL, own);
  if (threadIdx.x & 31) return;
  atomicMax(&most->entries, entries);
  atomicMax(&most->updates, updates);
  atomicAdd(&most->units, own);
}

/* Sorts numbers in shared memory, a power of two of them, by all threads of a block, as sort_shared() does. */
__device__ __forceinline__ void sort_by_block(int *key, int n)
{
  for (int run = 2; run <= n; run *= 2) {
    for (int step = run / 2; step; step /= 2) {
      for (int k = threadIdx.x; k < n / 2; k += blockDim.x) {
        const int i = 2 * k - (k & (step - 1)), x = key[i], y = key[i + step];

        if ((x > y) == !(i & run)) {
          key[i]        = y;
          key[i + step] = x;
        }
      }
      __syncthreads(); /* the pairs of the next step are others */
    }
  }
}

/*
   What a block needs of others: numbers, of which those that agree but for the last five bits have a word of
   these. A table has the words; by number they are sorted, so that successive numbers have successive places.
*/
struct Needed {
  int            *key;    /* of each place of the table, -1: none, */
  unsigned       *mask;   /* its numbers, */
  int            *sorted; /* all keys, */
  unsigned short *first;  /* and of each place how many numbers come before those of its word */
  int             places, most;

  __device__ __forceinline__ int begin(int word) const { return (int)((unsigned)word * 2654435769u >> 7 & (unsigned)(places - 1)); }

  __device__ __forceinline__ int find(int word) const
  {
    int at = begin(word);

    while (key[at] != word) at = (at + 1) & (places - 1);
    return at;
  }

  /*
     Adds numbers of a word. *words counts these; beyond the most there is a place for one more of each thread.
  */
  __device__ __forceinline__ void add(int word, unsigned numbers, int *words) const
  {
    for (int at = begin(word);; at = (at + 1) & (places - 1)) {
      int there = load_relaxed_shared(key + at);

      if (there == -1) {
        if (load_relaxed_shared(words) > most) return;
        there = atomicCAS(key + at, -1, word);
        if (there == -1) sorted[atomicAdd(words, 1)] = there = word;
      }
      if (there != word) continue;
      atomicOr(mask + at, numbers);
      return;
    }
  }

  __device__ __forceinline__ int place(int number) const
  {
    const int at = find(number >> 5);

    return first[at] + __popc(mask[at] & ((1u << (number & 31)) - 1));
  }
};

/* Entries of an update that is one by a row of another block, and of one by a row of this one. */
__device__ __forceinline__ int outer_run(const SyncILUFoundUpdate &x)
{
  return pivot_of(x.update) + 1;
}

__device__ __forceinline__ int inner_run(const SyncILUFoundUpdate &x)
{
  return (int)(x.source >> SYNCILU_BLOCK_SOURCE & ((1u << (16 - SYNCILU_BLOCK_SOURCE)) - 1)) + 1;
}

/* The last round of so many successive places, which are loaded at the same time; and there is another one. */
__device__ __forceinline__ unsigned last_round(const unsigned short *ready, int run)
{
  unsigned r = 0;

#pragma unroll
  for (int q = 0; q < SYNCILU_BLOCK_RUN; q++) r = max(r, q < run ? (unsigned)ready[q] : 0u);
  return r;
}

__device__ __forceinline__ void set_round(unsigned short *ready, int run, unsigned r)
{
#pragma unroll
  for (int q = 0; q < SYNCILU_BLOCK_RUN; q++)
    if (q < run) ready[q] = (unsigned short)r;
}

/*
   A block of threads deals the updates of a block, of the blocks of a list if there is one; a row has LANES of
   them. The updates come row by row, and in a row by reference row; those by one reference row do not depend
   on each other, and are dealt together: behind the round in which their entry was updated last, and behind
   those after which the multiplier and, of a row of the block, u' and its pivot are finished. Updates by rows
   of other blocks come first in each row; then all rows have their updates by the first row of the block
   dealt, which has none left itself, then those by the second one, and so on. A block for whose needs the
   table is too small is left for later.
*/
template <int LANES>
__global__ void __launch_bounds__(LANES *MOST)
  rounds_kernel(SyncILUDevicePattern p, SyncILUDeviceBlocks m, int places, int most_words, const int *__restrict__ list, const int *__restrict__ stands,
                const int *__restrict__ first_update, SyncILUFoundUpdate *found, unsigned short *__restrict__ ends, int room, int *__restrict__ outside,
                int *__restrict__ where, int *__restrict__ count, int *__restrict__ late, SyncILUBlockMost             *most)
{
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int                                 THREADS = LANES * MOST, AT_ONCE = 4;
  __shared__ int                                words, at, last, of_warp[THREADS / 32];
  int *const                                    key = (int *)shared;
  const Needed          needed = {key, (unsigned *)(key + places), key + 2 * places, (unsigned short *)(key + 3 * places), places, most_words};
  unsigned short *const ready  = needed.first + places; /* the last round of each place */
  const int             thread = threadIdx.x, lane = thread & 31, warp = thread / 32, row = thread / LANES, sub = thread % LANES;
  const int             b       = list ? list[blockIdx.x] : (int)blockIdx.x;
  const SyncILUBlock    d       = m.block[b];
  const int             entries = p.ptr[d.first + rows_of(d)] - p.ptr[d.first], begin = first_update[d.first], n = first_update[d.first + rows_of(d)] - begin;
  const int             from = row < rows_of(d) ? first_update[d.first + row] : 0, end = row < rows_of(d) ? first_update[d.first + row + 1] : 0;

  for (int k = thread; k < places; k += THREADS) {
    needed.key[k]  = -1;
    needed.mask[k] = 0;
  }
  for (int k = thread; k < MOST + entries; k += THREADS) ready[k] = 0;
  if (thread == 0) words = last = 0;
  __syncthreads(); /* all is empty for the other threads */
  for (int k = thread; k < n; k += THREADS * AT_ONCE) {
    SyncILUFoundUpdate x[AT_ONCE];

#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) x[q] = k + q * THREADS < n ? found[begin + k + q * THREADS] : SyncILUFoundUpdate{SYNCILU_BLOCK_INNER, 0};
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) {
      const int      word = (int)(x[q].source >> 5), bit = (int)(x[q].source & 31);
      const unsigned own = (1u << outer_run(x[q])) - 1; /* of so many entries */

      if (x[q].update & SYNCILU_BLOCK_INNER) continue;
      needed.add(word, own << bit, &words);
      if (bit && own >> (32 - bit)) needed.add(word + 1, own >> (32 - bit), &words);
    }
  }
  __syncthreads(); /* all words are there */
  const int all   = words;
  int       power = 1, sum = 0;
  if (all > most_words) {
    if (thread) return;
    if (late) late[atomicAdd(&most->late, 1)] = b;
    else atomicMax(&most->unfit, 1);
    where[b] = count[b] = 0;
    return;
  }
  while (power < all) power *= 2;
  for (int k = all + thread; k < power; k += THREADS) needed.sorted[k] = INT_MAX;
  __syncthreads(); /* so are those that the sort needs besides */
  sort_by_block(needed.sorted, power);
  for (int first = 0; first < all; first += THREADS) {
    const int slot = first + thread < all ? needed.find(needed.sorted[first + thread]) : -1, own = slot >= 0 ? __popc(needed.mask[slot]) : 0;
    int       upto = own, before = sum;

    for (int o = 1; o < 32; o *= 2) {
      const int below = __shfl_up_sync(FULL, upto, o);

      if (lane >= o) upto += below;
    }
    if (lane == 31) of_warp[warp] = upto;
    __syncthreads(); /* what each warp has is there */
    for (int w = 0; w < THREADS / 32; w++) {
      if (w < warp) before += of_warp[w];
      sum += of_warp[w];
    }
    if (slot >= 0) needed.first[slot] = (unsigned short)min(before + upto - own, 0xffff);
    __syncthreads(); /* and is written over next time */
  }
  if (sum > SYNCILU_BLOCK_OUTSIDE) {
    if (thread) return;
    atomicMax(&most->unfit, 1);
    where[b] = count[b] = 0;
    return;
  }
  if (thread == 0) {
    const unsigned long long place = atomicAdd(&most->needed, (unsigned long long)sum);

    at       = place + (unsigned)sum <= (unsigned)room ? (int)place : -1; /* what all need says so */
    where[b] = at;
    count[b] = sum;
  }
  __syncthreads(); /* the place of the list is there */
  for (int k = warp; k < all && at >= 0; k += THREADS / 32) {
    const int      word = needed.sorted[k], slot = needed.find(word), number = 32 * word + lane;
    const unsigned own = needed.mask[slot];

    if (own >> lane & 1) outside[at + needed.first[slot] + __popc(own & ((1u << lane) - 1))] = stands ? stands[number] : number;
  }

  /* updates by rows of other blocks; k: the first of those that the lanes of a row have */
  constexpr int      AHEAD = 2;
  int                k = from, latest = 0;
  auto               load  = [&](int q) { return q < end ? found[q] : SyncILUFoundUpdate{SYNCILU_BLOCK_INNER | SYNCILU_BLOCK_NONE, 0}; };
  auto               lanes = [&](bool is) { return __ballot_sync(FULL, is) >> (lane - sub) & ((1u << LANES) - 1); };
  SyncILUFoundUpdate x = load(k + sub), ahead[AHEAD] = {load(k + LANES + sub), load(k + 2 * LANES + sub)};
  auto               next = [&] {
    k += LANES;
    x        = ahead[0];
    ahead[0] = ahead[1];
    ahead[1] = load(k + 2 * LANES + sub);
  };
  for (;;) {
    const bool            mine       = !(x.update & SYNCILU_BLOCK_INNER);
    const int             multiplier = multiplier_of(x.update), run = outer_run(x);
    const unsigned        before = __shfl_up_sync(FULL, x.update, 1), begins = lanes(mine && (sub == 0 || multiplier_of(before) != multiplier));
    const int             own    = __popc(begins & ((2u << sub) - 1)) - 1;
    const bool            whole  = lanes(mine) == (1u << LANES) - 1;
    unsigned short *const target = ready + target_of(x.update);
    unsigned              r      = 0;

    if (!__any_sync(FULL, mine)) break;
    for (int s = 0; __any_sync(FULL, s < __popc(begins)); s++) {
      if (mine && own == s) {
        r = max((unsigned)ready[multiplier], last_round(target, run)) + 1;
        set_round(target, run, r);
      }
      __syncwarp(); /* the rounds are there for the updates by the next reference row */
    }
    latest = max(latest, (int)r);
    if (mine) {
      x.update &= ~((unsigned)(MOST - 1) << SYNCILU_BLOCK_PIVOT);
      x.source       = (unsigned)(MOST + entries + needed.place((int)x.source)) | (unsigned)(run - 1) << SYNCILU_BLOCK_SOURCE | r << 16;
      found[k + sub] = x;
      x.update       = SYNCILU_BLOCK_INNER | SYNCILU_BLOCK_NONE; /* is done */
    }
    if (whole) next();
  }

  /* updates by rows of this block; lanes whose update is done, or have none, have NONE */
  for (int by = 0; by < rows_of(d); by++) {
    __syncthreads(); /* all updates by the row before are dealt */
    for (;;) {
      const bool            mine   = !(x.update & SYNCILU_BLOCK_NONE) && pivot_of(x.update) == by;
      const int             run    = inner_run(x);
      unsigned short *const target = ready + target_of(x.update);
      unsigned              r      = 0;

      if (!__any_sync(FULL, mine)) break;
      if (mine) {
        const unsigned short *const source = ready + (x.source & ((1u << SYNCILU_BLOCK_SOURCE) - 1));

        r = max(max((unsigned)ready[multiplier_of(x.update)], (unsigned)ready[by]), max(last_round(target, run), last_round(source, run))) + 1;
        set_round(target, run, r);
        x.source |= r << 16;
        found[k + sub] = x;
        x.update |= SYNCILU_BLOCK_NONE;
      }
      latest = max(latest, (int)r);
      if (!lanes(!(x.update & SYNCILU_BLOCK_NONE)) && k < end) next();
    }
  }
  latest = __reduce_max_sync(FULL, latest);
  if (lane == 0) atomicMax(&last, latest);
  __syncthreads(); /* the rounds are there, and the last one */
  if (thread < rows_of(d)) ends[d.first + thread] = ready[thread];
  if (thread) return;
  if (last >= SYNCILU_BLOCK_ROUNDS - 32) atomicMax(&most->unfit, 1);
  atomicMax(&most->outside, sum);
  atomicMax(&most->rounds, last);
}

template <int LANES>
cudaError_t launch_rounds(const SyncILUDevicePattern &p, const SyncILUDeviceBlocks &m, const SyncILUBlockMost &most, int runs, const int *list, int blocks,
                          const int *stands, const int *begin, SyncILUFoundUpdate *found, unsigned short *ends, int room, int *outside, int *where, int *count,
                          int *late, SyncILUBlockMost *device, cudaStream_t stream)
{
  /* of an update, two at most; and each thread adds one at most that is too much */
  const int words = runs ? 2 * most.updates : most.updates, largest = list ? SYNCILU_BLOCK_TABLE : SYNCILU_BLOCK_TABLE_USUAL;
  int       places = 64;

  while (places <= words + words / 4 + LANES * MOST && places < largest) places *= 2;
  const int    most_words = places - LANES * MOST - 1;
  const size_t bytes      = (size_t)places * (3 * sizeof(int) + sizeof(unsigned short)) + (size_t)(MOST + most.entries) * sizeof(unsigned short);

  ALLOW_SHARED(rounds_kernel<LANES>, bytes);
  rounds_kernel<LANES><<<(unsigned)blocks, LANES * MOST, bytes, stream>>>(p, m, places, most_words, list, stands, begin, found, ends, room, outside, where,
                                                                          count, list ? nullptr : late, device);
  return cudaGetLastError();
}

/*
   A block of threads counts the updates of each round, cuts rounds into turns of one update for each of so
   many threads of the factorization, and places the updates, those of a round in the order in which they were
   found. Turns after the last one begin behind all updates.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  place_kernel(SyncILUDeviceBlocks m, int threads, int stride, int rounds, const int *__restrict__ first_update, const SyncILUFoundUpdate *__restrict__ found,
               const unsigned short *__restrict__ ends, const int *__restrict__ units, unsigned *__restrict__ update, unsigned short *__restrict__ source,
               unsigned short *__restrict__ turn, int *__restrict__ turns)
{
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int                                 WARPS = SYNCILU_BLOCK / 32, AT_ONCE = 4;
  const int                                     lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const SyncILUBlock                            d     = m.block[blockIdx.x];
  const int                                     begin = first_update[d.first], n = first_update[d.first + rows_of(d)] - begin;
  const int                                     part = (n + 32 * WARPS - 1) / (32 * WARPS) * 32, end = min((warp + 1) * part, n); /* of a warp */
  int *const all = (int *)shared, *const round = all + warp * rounds; /* how many updates it has; later where the next one goes */

  turn += (size_t)blockIdx.x * stride;
  for (int k = threadIdx.x; k < WARPS * rounds; k += SYNCILU_BLOCK) all[k] = 0;
  __syncthreads(); /* nothing is counted yet */
  for (int k = warp * part + lane; k < end; k += 32 * AT_ONCE) {
    unsigned r[AT_ONCE];

#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) r[q] = k + 32 * q < end ? found[begin + k + 32 * q].source >> 16 : 0;
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++)
      if (r[q]) atomicAdd(round + r[q], 1);
  }
  __syncthreads(); /* all are counted */
  int sum = 0, cuts = 0;
  for (int k = 0; warp == 0 && k < rounds; k += 32) {
    int own = 0, upto, cut, pieces;

    for (int w = 0; w < WARPS; w++) own += all[w * rounds + k + lane];
    upto = own;
    cut = pieces = (own + threads - 1) / threads;
    for (int o = 1; o < 32; o *= 2) {
      const int below = __shfl_up_sync(FULL, upto, o), cut_below = __shfl_up_sync(FULL, cut, o);

      if (lane >= o) {
        upto += below;
        cut += cut_below;
      }
    }
    for (int w = 0, next = sum + upto - own; w < WARPS; w++) {
      const int here = all[w * rounds + k + lane];

      all[w * rounds + k + lane] = next;
      next += here;
    }
    for (int q = 0; q < pieces; q++) turn[cuts + cut - pieces + q] = (unsigned short)(sum + upto - own + q * threads);
    sum += __shfl_sync(FULL, upto, 31);
    cuts += __shfl_sync(FULL, cut, 31);
  }
  for (int k = cuts + lane; warp == 0 && k < stride; k += 32) turn[k] = (unsigned short)sum;
  if (threadIdx.x == 0) turns[blockIdx.x] = cuts;
  __syncthreads(); /* where each round begins is there for all threads */
  for (int k = warp * part + lane; k < end; k += 32 * AT_ONCE) {
    SyncILUFoundUpdate x[AT_ONCE];

#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) x[q] = k + 32 * q < end ? found[begin + k + 32 * q] : SyncILUFoundUpdate{0, 0};
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) {
      const unsigned r      = x[q].source >> 16;
      const int      target = target_of(x[q].update);

      if (!r) continue;
      const size_t own = (size_t)units[blockIdx.x] * 32 + (size_t)atomicAdd(round + r, 1);
      update[own]      = x[q].update | (target < MOST && ends[d.first + target] == r ? SYNCILU_BLOCK_LAST : 0);
      source[own]      = (unsigned short)x[q].source;
    }
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
  waits_kernel(SyncILUDeviceBlocks L, int room, const int *__restrict__ of, int *__restrict__ found, int *__restrict__ count, SyncILUBlockMost *most)
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
  if (lane) return;
  count[b] = blocks;
  atomicAdd(&most->waited, blocks);
}

__global__ void describe_kernel(SyncILUDevicePattern p, SyncILUDeviceBlocks L, SyncILUDeviceBlocks U, const int *__restrict__ units,
                                const int *__restrict__ turns, const int *__restrict__ found, const int *__restrict__ where, const int *__restrict__ from,
                                const int *__restrict__ waits, const int *__restrict__ wait_from, SyncILUBlockUpdates *__restrict__ block,
                                int *__restrict__ outside, int *__restrict__ wait, unsigned short *__restrict__ list)
{
  const long long b    = global_thread() / 32;
  const int       lane = threadIdx.x & 31;

  if (b >= L.blocks) return;
  const SyncILUBlock    lower = L.block[b], upper = U.block[b];
  const SyncILUBlockRow left = L.row[b * MOST + lane], right = U.row[b * MOST + lane];
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
  for (int k = lane; k < own.outside; k += 32) outside[own.from + k] = found[where[b] + k];
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

cudaError_t SyncILUKernelCountUpdates(SyncILUDevicePattern p, int most, int lanes, int runs, int *count, unsigned char *some, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  return with_lanes(lanes, [&](auto lg) {
    return with_lookup(lanes, most, [&](auto how) {
      const unsigned grid  = blocks_for((long long)p.n << lg, SYNCILU_BLOCK);
      const size_t   bytes = (SYNCILU_BLOCK >> lg) * row_bytes(how, most);

      if (runs) count_kernel<lg, how, true><<<grid, SYNCILU_BLOCK, bytes, stream>>>(p, most, count, some);
      else count_kernel<lg, how, false><<<grid, SYNCILU_BLOCK, bytes, stream>>>(p, most, count, some);
      return cudaGetLastError();
    });
  });
}

cudaError_t SyncILUKernelFindUpdates(SyncILUDevicePattern p, int most, int lanes, int runs, const int *first, const unsigned char *some, const int *stands,
                                     const int *begin, SyncILUFoundUpdate *found, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  return with_lanes(lanes, [&](auto lg) {
    return with_lookup(lanes, most, [&](auto how) {
      const unsigned grid  = blocks_for((long long)p.n << lg, SYNCILU_BLOCK);
      const size_t   bytes = (SYNCILU_BLOCK >> lg) * row_bytes(how, most);

      if (runs) find_kernel<lg, how, true><<<grid, SYNCILU_BLOCK, bytes, stream>>>(p, most, first, some, stands, begin, found);
      else find_kernel<lg, how, false><<<grid, SYNCILU_BLOCK, bytes, stream>>>(p, most, first, some, stands, begin, found);
      return cudaGetLastError();
    });
  });
}

cudaError_t SyncILUKernelUpdateSizes(SyncILUDevicePattern p, SyncILUDeviceBlocks m, const int *begin, int *units, SyncILUBlockMost *most, cudaStream_t stream)
{
  LAUNCH(sizes_kernel, (long long)m.blocks, stream, p, m, begin, units, most);
}

cudaError_t SyncILUKernelBlockRounds(SyncILUDevicePattern p, SyncILUDeviceBlocks m, SyncILUBlockMost most, int runs, const int *list, int blocks,
                                     const int *stands, const int *begin, SyncILUFoundUpdate *found, unsigned short *ends, int room, int *outside, int *where,
                                     int *count, int *late, SyncILUBlockMost *device, cudaStream_t stream)
{
  const int *const after = runs ? stands : nullptr;

  if (!blocks) return cudaSuccess;
  if (most.updates <= SYNCILU_BLOCK_FEW)
    return launch_rounds<4>(p, m, most, runs, list, blocks, after, begin, found, ends, room, outside, where, count, late, device, stream);
  return launch_rounds<8>(p, m, most, runs, list, blocks, after, begin, found, ends, room, outside, where, count, late, device, stream);
}

cudaError_t SyncILUKernelPlaceUpdates(SyncILUDeviceBlocks m, SyncILUBlockMost most, int warps, int stride, const int *begin, const SyncILUFoundUpdate *found,
                                      const unsigned short *ends, const int *units, unsigned *update, unsigned short *source, unsigned short *turn, int *turns,
                                      cudaStream_t stream)
{
  const int    rounds = most.rounds / 32 * 32 + 32; /* there is none 0 */
  const size_t bytes  = (size_t)rounds * (SYNCILU_BLOCK / 32) * sizeof(int);

  if (!m.blocks) return cudaSuccess;
  place_kernel<<<(unsigned)m.blocks, SYNCILU_BLOCK, bytes, stream>>>(m, 32 * warps, stride, rounds, begin, found, ends, units, update, source, turn, turns);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelBlockPlaces(SyncILUDeviceTriangle t, SyncILUDeviceBlocks m, int *place, cudaStream_t stream)
{
  LAUNCH(places_kernel, 32ll * m.blocks, stream, t, m, (int)((const double *)m.inner - (const double *)m.outer), place);
}

cudaError_t SyncILUKernelBlockWaits(SyncILUDeviceBlocks L, SyncILUBlockMost most, const int *of, int *found, int *count, SyncILUBlockMost *device,
                                    cudaStream_t stream)
{
  int room = 32;

  if (!L.blocks) return cudaSuccess;
  while (room < most.entries) room *= 2;
  waits_kernel<<<(unsigned)L.blocks, 32, room * sizeof(int), stream>>>(L, room, of, found, count, device);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelDescribeBlocks(SyncILUDevicePattern p, SyncILUDeviceBlocks L, SyncILUDeviceBlocks U, const int *units, const int *turns,
                                        const int *found, const int *where, const int *from, const int *waits, const int *wait_from, SyncILUBlockUpdates *block,
                                        int *outside, int *wait, unsigned short *list, cudaStream_t stream)
{
  LAUNCH(describe_kernel, 32ll * L.blocks, stream, p, L, U, units, turns, found, where, from, waits, wait_from, block, outside, wait, list);
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
