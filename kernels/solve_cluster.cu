/*
   Solve strategy cluster: one cluster of thread blocks goes through all levels, and each row pushes its value
   into the shared memory of the blocks that wait for it. Where levels have few rows, the way of a value from
   row to row is what a solve costs, and through shared memory it is a third of that through the L2 cache.

   The rows of a level are dealt to the blocks so that most are where the row is that they wait for last. Slices
   end with the rows of a level and block; those of a block are dealt in turn to its warps. A warp fetches what
   it can of its next slice while it waits for the values of the present one.

   Each block has a ring of the last values by their positions, of four segments; a warp is in the segment
   where its slice begins. It reads what is in that segment or the one before from the ring of its own block,
   and older values, which are long there, from x in device memory.

   Where levels are narrow and wide by turns, a launch goes through one run of narrow levels. The ring has values
   of that run alone: those of the rows before it are in device memory, since the launches that solved for them
   have ended. All else begins in the segment of the run's first position, and what is said below holds of the
   slices of the run, which wait for no others.

   One warp of each block is its keeper. Once all others are in segment s or a later one, none reads segment
   s - 2 any more: the keeper fills it with NaN sentinels and tells the keepers of all blocks that this one has
   come to s. A slice that ends in segment s pushes into places that segment s - 4 had, so its warp first waits
   until its keeper has heard that all blocks have come to s - 2.

   Progress: all blocks of a cluster run at the same time, and each warp goes through its slices in the order
   of the levels. So that slice of all that are not finished which comes first is at work. It waits for
   finished slices alone: for their values, and for warps that have left segments before its own, as the
   keepers say, which wait for nobody but them.

   Memory order: values are their own flags, and stored and polled relaxed. A warp releases its word behind its
   last read of a segment, and its keeper acquires that before it fills it. A keeper's sentinels come before the
   release of its word, which the other keepers acquire, before they release theirs to their warps, before these
   push. Only keepers release and acquire across blocks: that waits until all that they have stored can be seen
   everywhere, which takes a warp with its solution on the way to memory longer than several levels.
*/
#include "solve_cluster.h"
#include "cluster.cuh"
#include "ell.cuh"

using namespace syncilu;

namespace
{

constexpr int BLOCKS = SYNCILU_CLUSTER_BLOCKS, WARPS = SYNCILU_CLUSTER_WARPS, SEGMENT = SYNCILU_CLUSTER_SEGMENT, RING = 4 * SEGMENT;
constexpr int THREADS = 32 * (WARPS + 1), DONE = INT_MAX, FREE = 2;
static_assert(BLOCKS <= 1 << SYNCILU_CLUSTER_BITS && BLOCKS <= 32 && WARPS <= 31 && (RING & (RING - 1)) == 0,
              "a bit a block, a lane a warp, places by the lowest bits of a position");

/*
   The shared memory of a block: its ring, segments to which blocks have come and in which its warps are, and
   the last one into which they may push.
*/
struct Shared {
  double ring[RING];
  int    come[BLOCKS], at[WARPS], free;
};

/* The position from which on a slice reads values in the ring, in a run that begins at a position. */
__device__ __forceinline__ int first_in_ring(const SyncILUSlice &d, int begin)
{
  return max((d.first / SEGMENT - 1) * SEGMENT, begin);
}

template <typename V>
struct InRing {
  static constexpr bool NEAR = true;

  typedef unsigned Place; /* an address in shared memory */
  const V         *x;
  V               *ring;
  int              first; /* position from which on values are in the ring */
  const unsigned  *reader;
  unsigned         rank, blocks; /* this block, and those that read the value of the row */
  V               *far;          /* the place of the value in another block, if one reads it there */

  __device__ __forceinline__ V    *in_ring(int position) const { return ring + (position & (RING - 1)); }
  __device__ __forceinline__ Place place(int position) const { return shared_address(in_ring(position)); }
  __device__ __forceinline__ void  load(int position, V *y) const
  {
    if (position < first) *y = load_relaxed(x + position);
    else poison(*y);
  }
  __device__ __forceinline__ void settle(int position, V *y) const
  {
    if (position < first) {
      while (!is_set(*y)) *y = load_relaxed(x + position); /* no position: zero, which is set */
    }
  }
  __device__ __forceinline__ void again(Place p, V *y) const { load_shared_if(!is_set(*y), p, y); }
  __device__ __forceinline__ void begin(int position) { blocks = reader[position]; }
  __device__ __forceinline__ void aim(int position)
  {
    const unsigned others = blocks & ~(1u << rank);

    far = others ? in_block(in_ring(position), (unsigned)__ffs((int)others) - 1) : nullptr;
  }
  __device__ __forceinline__ void publish(const SyncILUDeviceSolve &s, int n, int group, int position, size_t to, const V *sum) const
  {
    const V v = clean(*sum);

    store_shared_if(blocks >> rank & 1, place(position), v);
    store_cluster_if(far != nullptr, far, v);
    unsigned left = blocks & ~(1u << rank);
    for (left &= left - 1; left; left &= left - 1) store_cluster_if(true, in_block(in_ring(position), (unsigned)__ffs((int)left) - 1), v);
    write_solution<V, 1>(s, n, group, position, to, sum);
  }
};

/*
   Makes room in the ring of this block behind its warps, and tells them how far they may push, until all of
   them are done. begin: the segment where the run begins.
*/
[[maybe_unused]] __device__ __forceinline__ void keep(Shared &mine, unsigned rank, int begin)
{
  const int lane = threadIdx.x & 31;

  for (int come = begin, free = begin + FREE; come != DONE; __nanosleep(SYNCILU_THROTTLE_PAUSE)) {
    const int now = __reduce_min_sync(FULL, lane < WARPS ? load_acquire_shared(&mine.at[lane]) : DONE);
    const int all = __reduce_min_sync(FULL, lane < BLOCKS ? load_acquire_cluster(&mine.come[lane]) : DONE);

    __syncwarp(); /* what each lane has acquired comes before what any of them does */
    if (all > free - FREE) {
      free = all == DONE ? DONE : all + FREE;
      if (lane == 0) store_release_shared(&mine.free, free);
    }
    if (now == come) continue;
    for (int s = max(come - 1, begin); now != DONE && s < now - 1; s++) {
      for (int k = lane; k < SEGMENT; k += 32) poison(mine.ring[(s & 3) * SEGMENT + k]);
    }
    __syncwarp(); /* all sentinels are written */
    if (lane < BLOCKS) store_release_cluster(in_block(&mine.come[rank], lane), now);
    come = now;
  }
}

/* LATE: entries of a row that its first lane waits for last. */
template <typename V, int LATE>
__global__ void __launch_bounds__(THREADS) cluster_kernel(SyncILUDeviceEll ell, SyncILUDeviceSolve s, SyncILUDeviceDealt dealt)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char shared[];
  Shared                                       &mine = *(Shared *)shared;
  const int                                     lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const unsigned                                rank  = cluster_rank();
  const int                                     begin = dealt.first / SEGMENT; /* the segment of the run's first position */

  if (rank == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  for (int k = threadIdx.x; k < RING; k += THREADS) poison(mine.ring[k]);
  if (threadIdx.x < BLOCKS) mine.come[threadIdx.x] = begin;
  if (threadIdx.x < WARPS) mine.at[threadIdx.x] = begin;
  if (threadIdx.x == 0) mine.free = begin + FREE;
  cluster_sync();
  if (warp < WARPS) {
    const int                  end = dealt.start[rank + 1];
    int                        at = begin, free = begin + FREE; /* its segment, and the last one it may push into */
    int                        k = dealt.start[rank] + warp;
    LookedUp                   looked; /* of the next slice */
    Fetched<V, 1, POLLS, LATE> now, next;
    SyncILUSlice               after; /* the one behind the next */
    InRing<V>                  where = {(const V *)s.x, mine.ring, 0, dealt.reader, rank, 0, nullptr}, where_next = where;

    if (k < end) {
      look_up(ell, s, dealt.task[k], looked);
      fetch(ell, s, 0, looked, now, where);
    }
    if (k + WARPS < end) look_up(ell, s, dealt.task[k + WARPS], looked);
    if (k + 2 * WARPS < end) after = dealt.task[k + 2 * WARPS];
    for (; k < end; k += WARPS) {
      const SyncILUSlice d     = now.d;
      const int          rows  = (d.shape & 7) >= SYNCILU_TASK_ROW ? 1 : d.shape >> 3;
      const int          first = d.first / SEGMENT, last = (d.first + rows - 1) / SEGMENT;

      /* each of these asks for what the one before it in the next turn needs */
      if (k + WARPS < end) fetch(ell, s, 0, looked, next, where_next);
      if (k + 2 * WARPS < end) look_up(ell, s, after, looked);
      if (k + 3 * WARPS < end) after = dealt.task[k + 3 * WARPS];
      if (first != at) {
        __syncwarp(); /* all lanes have read */
        if (lane == 0) store_release_shared(&mine.at[warp], first);
        at = first;
      }
      if (last > free) {
        while (__any_sync(FULL, load_acquire_shared(&mine.free) < last)) { }
        free = last;
      }
      where.first = first_in_ring(d, dealt.first);
      finish(ell, s, 0, now, where);
      now   = next;
      where = where_next;
    }
    __syncwarp(); /* all lanes have read */
    if (lane == 0) store_release_shared(&mine.at[warp], DONE);
  } else keep(mine, rank, begin);
  cluster_sync(); /* nobody pushes into the memory of a block that has ended */
#endif
}

/* The run that has a position. With indices that the compiler knows, so that the runs stay where parameters are. */
__device__ __forceinline__ int run_of(const SyncILURuns &runs, int position)
{
  int r = 0;

#pragma unroll
  for (int k = 1; k < SYNCILU_RUNS_MOST; k++) r += k < runs.count && position >= runs.first[k];
  return r;
}

/*
   Of each position, the highest one that its row waits for, or -1: with the rows sorted by levels, that of a
   row of the latest level. Rows of wide runs are not dealt to blocks: their key has block 0.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  latest_kernel(SyncILUDeviceTriangle t, SyncILURuns runs, const int *__restrict__ row, const int *__restrict__ position, int *latest, int *key)
{
  const long long p    = global_thread() >> ROW_LANES_LOG;
  const int       i    = p < t.n ? row[p] : -1;
  const bool      wide = i >= 0 && SyncILURunWide(&runs, run_of(runs, (int)p));
  int             l    = -1;

  if (i >= 0 && !wide) {
    for (int e = t.begin[i] + t.skip + (int)(threadIdx.x & (ROW_LANES - 1)); e < t.end[i]; e += ROW_LANES) l = max(l, position[t.col[e]]);
  }
  l = max_of_row(l, ROW_LANES);
  if (i < 0 || threadIdx.x & (ROW_LANES - 1)) return;
  if (wide) key[i] <<= SYNCILU_CLUSTER_BITS;
  else latest[p] = l;
}

/* The levels of a run, rounded up to those that a block of threads deals. */
SYNCILU_HOST_DEVICE inline int levels_dealt(const SyncILURuns &runs, int r, int each)
{
  const int levels = runs.level[r + 1] - runs.level[r];

  return (levels + each - 1) / each * each;
}

/* Sixteen counts of up to 32, a byte each. */
struct __align__(16) Counts
{
  unsigned word[4];

  __device__ __forceinline__ unsigned char &of(int k)
  {
    return ((unsigned char *)word)[k];
  }
  __device__ __forceinline__ int sum_below(int k) const
  {
    int sum = 0;

#pragma unroll
    for (int q = 0; q < 4; q++) {
      const int      more = k - 4 * q;
      const unsigned some = more >= 4 ? word[q] : more <= 0 ? 0 : word[q] & ((1u << 8 * more) - 1);

      sum += (int)(some * 0x01010101u >> 24); /* the four of them */
    }
    return sum;
  }
};

/*
   Deals the rows to the blocks of the cluster, level by level: each block may have its share of a level,
   rounded up to whole slices. A row goes where the one is that it waits for last; rows that find no room
   there, or wait for none, go one after the other where there still is some. In key, by rows, the lowest bits
   of a level become the block.

   Each block of threads deals so many levels of one run, and knows nothing of those before them: the rows of the
   first one wait for none here.

   A level waits for the one before it, so there are as few barriers as can be: between what warps wish and who
   finds room, between who finds none and where there is some, and before the next level. What is said at one of
   them is in two places in turn, so that nobody waits for those who still read. What the next level needs of memory
   is asked for a level ahead, and the blocks of the last rows are in shared memory.
*/
__global__ void __launch_bounds__(SYNCILU_CLUSTER_DEAL)
  deal_kernel(SyncILURuns runs, int each, int lanes, const int *__restrict__ start, const int *__restrict__ row, const int *__restrict__ latest, int *block,
              int *__restrict__ key)
{
  constexpr int            DEALERS = SYNCILU_CLUSTER_DEAL / 32, NOBODY = BLOCKS, RECENT = 1 << 15;
  const int                lane = threadIdx.x & 31, warp = threadIdx.x >> 5, slice = 32 >> lanes;
  const unsigned           before = (1u << lane) - 1;
  __shared__ Counts        wish[2][BLOCKS + 1], left[2]; /* rows of each warp that want to go to a block, and that found no room */
  __shared__ int           has[2][BLOCKS];
  __shared__ unsigned char recent[RECENT];                               /* of the last positions */
  int                      r = runs.wide, from = (int)blockIdx.x * each; /* its run, and its first level there */
  static_assert(DEALERS <= 16 && (BLOCKS & (BLOCKS - 1)) == 0, "a byte a warp, a binary search among the blocks");

  for (; from >= levels_dealt(runs, r, each); r += 2) from -= levels_dealt(runs, r, each);
  from += runs.level[r];
  const int levels = runs.level[r + 1], stop = min(from + each, levels);
  const int begin = start[from];
  int       first = begin, end = start[from + 1], after = start[min(from + 2, levels)];
  int       p = begin + (int)threadIdx.x, with = p < end ? latest[p] : -1, own = p < end ? row[p] : 0;
  int       turn = 0;

  /* of warps that there are not */
  for (int k = threadIdx.x; k < 2 * (BLOCKS + 1); k += SYNCILU_CLUSTER_DEAL) wish[k & 1][k >> 1] = Counts{};
  if (threadIdx.x < 2) left[threadIdx.x] = Counts{};
  __syncthreads();
  for (int l = from; l < stop; l++) {
    const int share = (end - first + BLOCKS - 1) / BLOCKS, most = (share + slice - 1) / slice * slice;
    const int q = end + (int)threadIdx.x, with_next = q < after ? latest[q] : -1, own_next = q < after ? row[q] : 0, after_next = start[min(l + 3, levels)];

    for (int base = first; base < end; base += SYNCILU_CLUSTER_DEAL, turn ^= 1) {
      p                 = base + (int)threadIdx.x;
      const bool active = p < end, busy = base + 32 * warp < end; /* this thread, and its warp */
      int        to = NOBODY, rank = 0;
      bool       over = false;

      if (base > first) {
        with = active ? latest[p] : -1;
        own  = active ? row[p] : 0;
      }
      if (lane <= BLOCKS) wish[turn][lane].of(warp) = 0;
      __syncwarp();
      if (busy) {
        if (with >= begin) to = p - with < RECENT - SYNCILU_CLUSTER_DEAL ? recent[with & (RECENT - 1)] : block[with];
        const unsigned same = __match_any_sync(FULL, to);

        rank = __popc(same & before);
        if (rank == 0) wish[turn][to].of(warp) = (unsigned char)__popc(same);
      }
      __syncthreads();
      if (active) {
        rank += wish[turn][to].sum_below(warp);
        over = to == NOBODY || (base > first ? has[turn][to] : 0) + rank >= most;
      }
      const unsigned rest = __ballot_sync(FULL, over);
      if (lane == 0) left[turn].of(warp) = (unsigned char)__popc(rest);
      __syncthreads();
      if (busy) {
        const int of = (l + lane) % BLOCKS, all = left[turn].sum_below(DEALERS);
        const int now = min((base > first ? has[turn][of] : 0) + wish[turn][of].sum_below(DEALERS), most), room = most - now;
        int       upto = room; /* of the blocks of this lane and those before it */

        if (all) {
          const int number = __popc(rest & before) + left[turn].sum_below(warp);
          int       k      = 0;

          for (int o = 1; o < BLOCKS; o *= 2) {
            const int more = __shfl_up_sync(FULL, upto, o);

            if (lane >= o) upto += more;
          }
          for (int o = BLOCKS / 2; o; o /= 2) {
            if (number >= __shfl_sync(FULL, upto, k + o - 1)) k += o;
          }
          if (over) to = (l + k) % BLOCKS;
        }
        if (warp == 0 && lane < BLOCKS) has[turn ^ 1][of] = now + min(max(all - (upto - room), 0), room);
      }
      if (active) {
        block[p]                 = to;
        recent[p & (RECENT - 1)] = (unsigned char)to;
        key[own]                 = l << SYNCILU_CLUSTER_BITS | to;
      }
    }
    __syncthreads();
    first = end;
    end   = after;
    after = after_next;
    with  = with_next;
    own   = own_next;
  }
}

constexpr int BLOCK_OF_RUN = (1 << SYNCILU_CLUSTER_BITS) - 1; /* in the lowest bits below that of the run */

/* The run and the block of each task, from the sorted keys of its rows, which have so many lower bits. */
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  task_blocks_kernel(SyncILUDeviceEll ell, SyncILURuns runs, const int *__restrict__ key, int bits, int *__restrict__ block)
{
  const long long k = global_thread();

  if (k >= ell.tasks) return;
  const int first = ell.task[k].first;
  block[k]        = run_of(runs, first) << SYNCILU_CLUSTER_BITS | (key[first] >> bits & BLOCK_OF_RUN);
}

/* The tasks run by run and block by block, and which blocks read a value from their ring. */
__global__ void __launch_bounds__(SYNCILU_BLOCK) readers_kernel(SyncILUDeviceEll ell, SyncILURuns runs, const int *__restrict__ task,
                                                                const int *__restrict__ block, SyncILUSlice *__restrict__ dealt, unsigned *reader)
{
  const long long k = global_thread() >> 5;

  if (k >= ell.tasks) return;
  const SyncILUSlice d    = ell.task[task[k]];
  const int          lane = threadIdx.x & 31, lg = d.shape & 7;
  if (lane == 0) dealt[k] = d;
  const int run   = block[k] >> SYNCILU_CLUSTER_BITS;
  int       begin = 0;
  if (SyncILURunWide(&runs, run) || lg >= SYNCILU_TASK_ROW || lane >> lg >= d.shape >> 3) return; /* these and long rows read from device memory */
#pragma unroll
  for (int r = 0; r < SYNCILU_RUNS_MOST; r++) begin = r == run ? runs.first[r] : begin;
  for (int w = 0; w < d.width; w++) {
    const int c = ell.col[packed_entry(d, lane, w)];

    if (c >= 0 && c >= first_in_ring(d, begin)) atomicOr(reader + c, 1u << (block[k] & BLOCK_OF_RUN));
  }
}

cudaLaunchConfig_t one_cluster(cudaLaunchAttribute *attribute, cudaStream_t stream)
{
  return cluster_launch(attribute, BLOCKS, 1, THREADS, sizeof(Shared), stream);
}

} // namespace

cudaError_t SyncILUKernelClusterFits(int *fits)
{
  cudaLaunchAttribute      attribute;
  const cudaLaunchConfig_t config = one_cluster(&attribute, nullptr);
  const cudaError_t        err    = cluster_fits(cluster_kernel<double, SYNCILU_LATE_PUSHED>, config, fits);

  return err == cudaSuccess && *fits ? cluster_fits(cluster_kernel<double, SYNCILU_LATE_FEW>, config, fits) : err;
}

cudaError_t SyncILUKernelClusterLatest(SyncILUDeviceTriangle t, SyncILURuns runs, const int *row, const int *position, int *latest, int *key,
                                       cudaStream_t stream)
{
  LAUNCH(latest_kernel, (long long)t.n << ROW_LANES_LOG, stream, t, runs, row, position, latest, key);
}

cudaError_t SyncILUKernelClusterDeal(SyncILURuns runs, int lanes, const int *start, const int *row, const int *latest, int *block, int *key,
                                     cudaStream_t stream)
{
  const int all = runs.level[runs.count], some = all / SYNCILU_CLUSTER_DEAL_BLOCKS, least = SYNCILU_CLUSTER_LEVELS_DEALT / 4;
  const int each   = some < least ? least : some < SYNCILU_CLUSTER_LEVELS_DEALT ? some : SYNCILU_CLUSTER_LEVELS_DEALT;
  int       levels = 0;

  for (int r = runs.wide; r < runs.count; r += 2) levels += levels_dealt(runs, r, each);
  if (!levels) return cudaSuccess;
  deal_kernel<<<blocks_for(levels, each), SYNCILU_CLUSTER_DEAL, 0, stream>>>(runs, each, lanes, start, row, latest, block, key);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelClusterTaskBlocks(SyncILUDeviceEll ell, SyncILURuns runs, const int *key, int bits, int *block, cudaStream_t stream)
{
  LAUNCH(task_blocks_kernel, ell.tasks, stream, ell, runs, key, bits, block);
}

cudaError_t SyncILUKernelClusterReaders(SyncILUDeviceEll ell, SyncILURuns runs, const int *task, const int *block, SyncILUSlice *dealt, unsigned *reader,
                                        cudaStream_t stream)
{
  LAUNCH(readers_kernel, 32ll * ell.tasks, stream, ell, runs, task, block, dealt, reader);
}

cudaError_t SyncILUKernelSolveCluster(SyncILUValueType type, SyncILUDeviceEll ell, SyncILUDeviceDealt dealt, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!ell.n || !s.nrhs) return cudaSuccess;
  s.throttle = 0; /* warps take their slices in order, and so few do not hold each other up */
  cudaLaunchAttribute      attribute;
  const cudaLaunchConfig_t config = one_cluster(&attribute, stream);

  if (dealt.longest <= SYNCILU_LATE_FEW) return cudaLaunchKernelEx(&config, cluster_kernel<double, SYNCILU_LATE_FEW>, ell, s, dealt);
  return cudaLaunchKernelEx(&config, cluster_kernel<double, SYNCILU_LATE_PUSHED>, ell, s, dealt);
}
