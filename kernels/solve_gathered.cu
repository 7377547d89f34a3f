/*
   Triangular solves by the blocks of an ordering for several right-hand sides. R of these stand side by side in
   x, so that a row is a line of memory. A row has R / 2 lanes, which go through its entries in fours.

   What a block needs of others is collected in shared memory, each line once, many of them asked for together:
   rows of a block share most of their neighbours. Blocks announce with a flag each that they have been solved
   for. Were numbers their own flags, as in the other solves, all of x would be written twice, by sentinels too.
   A flag is the number of the solve, so that nothing is to be reset, and the solution of the second triangle may
   come in the place of its right-hand side.

   A block takes as long as its copies and its chain of rows, so what matters is how many blocks are at work at a
   time. That is for shared memory to say. Since all blocks get as much of it as the largest one, those that need
   many lines are solved for in parts. And everything that the pattern alone decides is written down once, in
   records that are in shared memory before the block's turn comes.
*/
#include "solve_gathered.h"
#include "async.cuh"
#include "blocks.cuh"
#include "launch.cuh"
#include "triangular.cuh"

using namespace syncilu;

namespace
{

typedef SyncILUGatheredHead Head;
typedef SyncILUGatheredRow  Row;

constexpr int FOUR = SYNCILU_BLOCKS_FOUR, NEED = SYNCILU_GATHERED_NEED, ZERO = NEED - 1;
constexpr int ANOTHER = 0xffff; /* the place of an entry that another part has */

static_assert(sizeof(Head) <= SYNCILU_GATHERED_HEAD, "a head is longer than what is kept for it");
static_assert(SYNCILU_BLOCKS_ALONE <= 255, "a row's number of entries has a byte");

struct alignas(8) FourLines {
  unsigned short at[FOUR];
};

/*
   Lines in shared memory have 128 bytes. Their pieces, two right-hand sides each, are exchanged, in eight
   successive lines in as many ways: so lanes that have a row each, and the same right-hand side, meet few
   conflicts of banks, and a line is still copied as one. (Lines with padding between them cross the rows of
   banks, and each copy of one takes half as much again from the cache.)

   piece_of(place_of(line), p) is where piece p of a line is.
*/
constexpr int PIECE = SYNCILU_GATHERED_PIECE, LINE = SYNCILU_RHS_LINE * (int)sizeof(double);

static_assert((NEED + SYNCILU_GATHERED_LINES) * LINE < ANOTHER, "places of lines have 16 bits");

__device__ __forceinline__ unsigned place_of(int line)
{
  return (unsigned)(line * LINE | (line & 7) * PIECE);
}

__device__ __forceinline__ unsigned piece_of(unsigned place, int piece)
{
  return place ^ (unsigned)(piece * PIECE);
}

/* Rows that are finished at a time, each by the lanes of a whole line. */
__device__ __forceinline__ int rows_at_once(int warps)
{
  return 32 * warps / (LINE / PIECE);
}

/* Where the parts of a record are. */
struct Parts {
  int            *need, *source;
  Row            *row;
  FourLines      *line;
  unsigned short *slot;

  __device__ __forceinline__ Parts(const Head &h, unsigned char *record)
  {
    need   = (int *)(record + SYNCILU_GATHERED_HEAD);
    source = need + h.needs;
    row    = (Row *)(source + h.sources);
    line   = (FourLines *)(record + bytes_before_lines(h));
    slot   = (unsigned short *)(line + h.fours);
  }

  static __device__ __forceinline__ int bytes_before_lines(const Head &h) { return (SYNCILU_GATHERED_HEAD + 4 * (h.needs + h.sources + h.rows) + 7) / 8 * 8; }
  static __device__ __forceinline__ int pieces(const Head &h)
  {
    return (bytes_before_lines(h) + (int)sizeof(FourLines) * h.fours + 2 * h.entries + SYNCILU_GATHERED_PIECE - 1) / SYNCILU_GATHERED_PIECE;
  }
};

/* The block of a row. */
__device__ __forceinline__ int block_of(const SyncILUDeviceBlocks &m, int row)
{
  int low = 0, high = m.blocks; /* it is at low or behind, and before high */

  while (high - low > 1) {
    const int middle = low + (high - low) / 2;

    if (m.block[middle].first <= row) low = middle;
    else high = middle;
  }
  return low;
}

/* The number of a block in the order of the solve, and the other way round. */
__device__ __forceinline__ int turn_of(const SyncILUDeviceBlocks &m, int b)
{
  return m.down ? m.blocks - 1 - b : b;
}

__device__ __forceinline__ int parts_of(const SyncILUDeviceBlocks &m, int b)
{
  const int needs = m.needs[b + 1] - m.needs[b];

  return needs > SYNCILU_GATHERED_LINES ? (needs + SYNCILU_GATHERED_LINES - 1) / SYNCILU_GATHERED_LINES : 1;
}

/* The needs of one of a block's parts. The first part has those that are solved for first. */
struct Share {
  int  low, high;
  bool alone, last;

  __device__ __forceinline__ Share(const SyncILUDeviceBlocks &m, int b, int part, int parts) : alone(parts == 1), last(part == parts - 1)
  {
    const int first = m.needs[b], needs = m.needs[b + 1] - first, k = m.down ? parts - 1 - part : part;

    low  = first + needs * k / parts;
    high = first + needs * (k + 1) / parts;
  }
};

/*
   Calls each(number, block) for all blocks that a part waits for, and returns how many there are. Needs ascend, so
   that those of a source are neighbours.
*/
template <typename Each>
__device__ __forceinline__ int each_source(const SyncILUDeviceBlocks &m, const Share &s, Each each)
{
  const int lane = threadIdx.x & 31;
  int       all = 0, last = -1;

  for (int first = s.low, end = s.high; first < end; first += 32) {
    const int      k = first + lane, own = k < end ? block_of(m, m.needed[k]) : -1, before = __shfl_up_sync(FULL, own, 1);
    const bool     is_new = k < end && own != (lane ? before : last);
    const unsigned news   = __ballot_sync(FULL, is_new);

    if (is_new) each(all + __popc(news & ((1u << lane) - 1)), own);
    all += __popc(news);
    last = __shfl_sync(FULL, own, 31);
  }
  return all;
}

/*
   Calls each(place, need) for the outer entries of this lane's row whose need is of the part: where they stand, and
   which one it is.
*/
template <typename Each>
__device__ __forceinline__ void each_outer(const SyncILUDeviceBlocks &m, int b, const SyncILUBlockRow &r, const Share &s, Each each)
{
  const SyncILUBlock d = m.block[b];
  Places             outers(d.outer, threadIdx.x & 31);

  for (int w = width_of(d) - 1; w >= 0; w--) {
    const bool     mine  = w < r.outer;
    const unsigned place = outers.take(mine);
    const int      need  = mine ? m.needs[b] + m.need[place] : -1;

    if (mine && need >= s.low && need < s.high) each(place, need - s.low);
  }
}

/* The head of a part's record, but for the order of its rows; and how many entries of this lane's row it has. */
__device__ __forceinline__ Head head_of(const SyncILUDeviceBlocks &m, int b, const SyncILUBlockRow &r, const Share &s, int *count)
{
  const SyncILUBlock d      = m.block[b];
  const int          inners = s.last ? __popc(r.inner) : 0, outers = __reduce_add_sync(FULL, r.outer);
  Head               h;

  *count = inners;
  each_outer(m, b, r, s, [&](unsigned, int) { ++*count; });

  h.first   = d.first;
  h.outer   = d.outer;
  h.inner   = d.inner;
  h.begins  = 0;
  h.rows    = (unsigned short)rows_of(d);
  h.needs   = (unsigned short)(s.high - s.low);
  h.sources = (unsigned short)each_source(m, s, [](int, int) {});
  h.outers  = (unsigned short)outers;
  h.entries = (unsigned short)(outers + __reduce_add_sync(FULL, inners));
  h.fours   = (unsigned short)__reduce_add_sync(FULL, (*count + FOUR - 1) / FOUR);
  h.pieces  = (unsigned short)Parts::pieces(h);
  return h;
}

__global__ void measure_kernel(SyncILUDeviceBlocks m, int *__restrict__ pieces, SyncILUGatheredMost *most)
{
  const int b = (int)(global_thread() / 32), lane = threadIdx.x & 31;

  if (b >= m.blocks) return;
  const SyncILUBlockRow r     = m.row[(size_t)b * MOST + lane];
  const int             parts = parts_of(m, b);
  int                   all   = 0, count;
  for (int part = 0; part < parts; part++) {
    const Head h = head_of(m, b, r, Share(m, b, part, parts), &count);

    all += h.pieces;
    if (lane) continue;
    if (h.needs > load_stale(&most->needs)) atomicMax(&most->needs, h.needs);
    if (h.fours * FOUR > load_stale(&most->values)) atomicMax(&most->values, h.fours * FOUR);
    if (h.pieces > load_stale(&most->pieces)) atomicMax(&most->pieces, h.pieces);
  }
  if (lane) return;
  pieces[turn_of(m, b)] = all;
  if (parts > load_stale(&most->parts)) atomicMax(&most->parts, parts);
}

__global__ void record_kernel(SyncILUDeviceBlocks m, SyncILUDeviceGathered l, unsigned char *__restrict__ record)
{
  const int b = (int)(global_thread() / 32), lane = threadIdx.x & 31;

  if (b >= m.blocks) return;
  const SyncILUBlockRow r     = m.row[(size_t)b * MOST + lane];
  const unsigned        inner = inner_begin(m.block[b], r) - m.block[b].inner;
  const int             parts = parts_of(m, b);
  unsigned char        *own   = record + (size_t)l.begin[turn_of(m, b)] * SYNCILU_GATHERED_PIECE;
  for (int part = 0; part < parts; part++) {
    const Share           s(m, b, part, parts);
    int                   count;
    Head                  h = head_of(m, b, r, s, &count);
    const Parts           p(h, own);
    const int             fours = (count + FOUR - 1) / FOUR, begin = (sum_up_to(fours) - fours) * FOUR;
    unsigned short *const line = (unsigned short *)p.line + begin;
    int                   k    = 0;

    each_source(m, s, [&](int number, int block) { p.source[number] = turn_of(m, block); });
    for (int need = lane; need < h.needs; need += 32) p.need[need] = m.needed[s.low + need];
    for (int e = lane; e < h.outers && !s.alone; e += 32) p.slot[e] = ANOTHER;
    __syncwarp(); /* the places that follow are later ones */
    each_outer(m, b, r, s, [&](unsigned place, int need) {
      p.slot[place - h.outer] = (unsigned short)(begin + k);
      line[k++]               = (unsigned short)place_of(NEED + need);
    });
    unsigned left = s.last ? r.inner : 0;
    for (int e = 0; left; e++, left &= left - 1) {
      p.slot[h.outers + inner + e] = (unsigned short)(begin + k);
      line[k++]                    = (unsigned short)place_of(__ffs((int)left) - 1);
    }
    for (; k < fours * FOUR; k++) line[k] = (unsigned short)place_of(ZERO);
    const Row row = {(unsigned char)lane, (unsigned char)count, (unsigned short)begin};
    h.begins      = find_order(h.rows, rows_at_once(l.warps), s.last ? r.inner : 0, row, p.row);
    if (!lane) *(Head *)own = h;
    own += (size_t)h.pieces * SYNCILU_GATHERED_PIECE;
  }
}

/*
   What is next: a block's number in the order of the solve, or -1, where there is none; its group; and where the
   records that are left of it begin and end, in pieces. How long the first of them is only its head says.
*/
struct Next {
  int turn, group, from, end;
};

template <typename V>
__host__ __device__ __forceinline__ int gathered_bytes(const SyncILUGatheredMost &most)
{
  return (NEED + most.needs) * LINE + (most.values + MOST) * (int)sizeof(V) + 2 * most.pieces * PIECE;
}

/* The most that Head can say of a block whose rows have SYNCILU_BLOCKS_ALONE entries at most. */
constexpr int LARGEST_RECORD = (SYNCILU_GATHERED_HEAD + 4 * (2 * SYNCILU_GATHERED_LINES + MOST) + 7) / 8 * 8 +
                               MOST * SYNCILU_BLOCKS_ALONE * 2 * (int)sizeof(short);

static_assert((NEED + SYNCILU_GATHERED_LINES) * LINE + MOST * (SYNCILU_BLOCKS_ALONE + 1) * (int)sizeof(double) + 2 * (LARGEST_RECORD + PIECE) <=
                SYNCILU_SHARED_BYTES,
              "a launch gets less shared memory without asking for it");
static_assert(SYNCILU_BLOCKS_ALONE % FOUR == 0, "the longest rows are filled up to more");

/*
   W warps solve for a block; then they take the next one, whose record they have brought meanwhile, and whose
   ticket they took a block earlier.

   Progress: tickets are taken in ascending order, and one is finished before anything is waited for that the next
   one needs. So whoever has the lowest ticket that is not finished waits for nobody but finished blocks. And
   find_order().
*/
template <typename V, int R, int W, bool DOWN>
__global__ void __launch_bounds__(32 * W, SYNCILU_GATHERED_RESIDENT / W) gathered_kernel(SyncILUDeviceGathered m, SyncILUDeviceSolve s)
{
  typedef Numbers<V, 2> Pair;
  constexpr int         THREADS = 32 * W, LANES = R / 2, ROWS = THREADS / LANES;
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ Next                                ahead;
  const int                                      thread = threadIdx.x, lane = thread & 31, pair = thread % LANES, sub = thread / LANES;
  const int                                      groups = (s.nrhs + R - 1) / R;
  const Ticket                                   all    = (Ticket)m.blocks * groups;
  V *const value = (V *)(shared + (NEED + m.most.needs) * LINE), *const scale = value + m.most.values;
  unsigned char *const records = (unsigned char *)(scale + MOST);

  auto look = [&](Ticket t) {
    Next n = {-1, 0, 0, 0};

    if (t < all) {
      n.turn = split_ticket<R>(t, groups, &n.group);
      n.from = m.begin[n.turn];
      n.end  = m.begin[n.turn + 1];
    }
    return n;
  };
  auto at    = [&](unsigned place, int piece) { return (Pair *)(shared + piece_of(place, piece)); };
  auto bring = [&](const Next &n, int buffer) {
    unsigned char *const       to   = records + buffer * m.most.pieces * PIECE;
    const unsigned char *const from = (const unsigned char *)m.record + (size_t)n.from * PIECE;

    for (int k = thread; n.turn >= 0 && k < min(n.end - n.from, m.most.pieces); k += THREADS) copy_piece(to + k * PIECE, from + (size_t)k * PIECE);
    commit_copies();
  };

  if (blockIdx.x == 0 && thread == 0 && s.reset) *s.reset = 0;
  Ticket ticket = 0;
  if (!thread) {
    ahead  = look(atomicAdd(s.ticket, 1ull));
    ticket = atomicAdd(s.ticket, 1ull);
  }
  if (thread < LINE / PIECE) *at(place_of(ZERO), thread) = {};
  if (thread < MOST) scale[thread] = V(1);
  __syncthreads(); /* thread 0 has looked */
  Next own = ahead, later = own;
  bool starts = true;
  int  to     = 0;
  bring(own, 0);
  wait_copies<0>();
  __syncthreads(); /* the record is there */
  for (int buffer = 0; own.turn >= 0; buffer ^= 1) {
    unsigned char *const record = records + buffer * m.most.pieces * PIECE;
    const Head           h      = *(const Head *)record;
    const Parts          p(h, record);
    V *const             x       = (V *)s.x + (size_t)own.group * m.n * R + 2 * pair; /* of the first row */
    int *const           solved  = m.solved + (size_t)own.group * m.blocks;
    const int            columns = min(s.nrhs - own.group * R, R), i = DOWN ? h.first + h.rows - 1 - lane : h.first + lane;
    const bool           mine = lane < h.rows;
    const V *const outer = (const V *)m.outer + h.outer, *const inner = (const V *)m.inner + h.inner;
    const bool ends = own.end - own.from == h.pieces;
    int        from = 0; /* no address yet: to compute that here would wait until it is loaded */

    if (starts && !thread) {
      later  = look(ticket);
      ticket = atomicAdd(s.ticket, 1ull);
    }
    if (starts && mine) {
      if (s.ldb) from = rhs_place(s, i);
      if (s.out) to = out_place(s, i);
    }
    for (int k = thread; k < h.entries; k += THREADS) {
      const int slot = p.slot[k];

      copy_if(slot != ANOTHER, value + slot, k < h.outers ? outer + k : inner + (k - h.outers));
    }
    if (starts && s.scale && thread < MOST) copy_if(mine, scale + lane, (const V *)s.scale + i);
    if (thread < h.rows) {
      const Row row = p.row[thread];

      for (int k = row.count; k % FOUR; k++) value[row.begin + k] = V(0);
    }
    if (starts && !s.ldb) {
      for (int k = sub; k < h.rows; k += ROWS) copy_piece_past(at(place_of(k), pair), x + (size_t)(DOWN ? h.first + h.rows - 1 - k : h.first + k) * R);
    }
    for (int k = thread; k < h.sources; k += THREADS) {
      while (load_acquire(solved + p.source[k]) != m.round) { }
    }
    __syncthreads(); /* what any thread has waited for is there for all of them */
    for (int k = sub; k < h.needs; k += ROWS) copy_piece_past(at(place_of(NEED + k), pair), x + (size_t)p.need[k] * R);
    if (starts && s.ldb) {
      constexpr int Q  = R / W; /* right-hand sides of this warp */
      const int     q0 = thread / 32 * Q;
      const V      *b  = (const V *)s.b + (size_t)from + (size_t)(own.group * R + q0) * s.ldb;

#pragma unroll
      for (int q = 0; q < Q; q++, b += s.ldb) {
        V *const to_b = at(place_of(lane), (q0 + q) / 2)->r + q % 2;

        copy_if(mine && q0 + q < columns, to_b, b);
        if (q0 + q >= columns) *to_b = V(0);
      }
    }
    commit_copies();
    if (!thread && ends) ahead = later;
    wait_copies<0>();
    __syncthreads(); /* all is there that any thread has copied or looked for */
    const Next next = ends ? ahead : Next{own.turn, own.group, own.from + h.pieces, own.end};
    bring(next, buffer ^ 1);
    for (unsigned left = h.begins; left;) {
      const int k = __ffs((int)left) - 1 + sub;

      left &= left - 1;
      if (k < (left ? __ffs((int)left) - 1 : h.rows)) {
        const Row        row = p.row[k];
        Pair *const      sum = at(place_of(row.lane), pair);
        const V         *a   = value + row.begin;
        const FourLines *l   = p.line + row.begin / FOUR;
        Pair             y   = *sum;

#pragma unroll 1
        for (int n = row.count; n > 0; n -= FOUR, a += FOUR, l++) {
          const Numbers<V, FOUR> four = *(const Numbers<V, FOUR> *)a;
          const FourLines        of   = *l;
          Pair                   z[FOUR];

#pragma unroll
          for (int e = 0; e < FOUR; e++) z[e] = *at(of.at[e], pair);
#pragma unroll
          for (int e = 0; e < FOUR; e++) {
#pragma unroll
            for (int q = 0; q < 2; q++) y.r[q] = fma(-four.r[e], z[e].r[q], y.r[q]);
          }
        }
        if (ends) {
          y.r[0] *= scale[row.lane];
          y.r[1] *= scale[row.lane];
        }
        *sum = y;
        if (ends) store_relaxed_pair(x + (size_t)(DOWN ? h.first + h.rows - 1 - row.lane : h.first + row.lane) * R, y.r[0], y.r[1]);
      }
      __syncthreads(); /* these rows are there for the next ones, in the end for who announces all */
    }
    if (!thread && ends) store_release(solved + own.turn, m.round);
    if (s.out && mine && ends) {
      constexpr int Q   = R / W;
      const int     q0  = thread / 32 * Q;
      V            *out = (V *)s.out + (size_t)to + (size_t)(own.group * R + q0) * s.ldout;

#pragma unroll
      for (int q = 0; q < Q; q++, out += s.ldout)
        if (q0 + q < columns) *out = at(place_of(lane), (q0 + q) / 2)->r[q % 2];
    }
    own    = next;
    starts = ends;
    wait_copies<0>();
    __syncthreads(); /* the next record is there, and nobody needs this one's memory any more */
  }
}

/* Blocks that a multiprocessor has shared memory for at a time; a kernel has no more than 32. */
int resident(int bytes)
{
  const int blocks = SYNCILU_GATHERED_MULTIPROCESSOR / (bytes + 1024); /* what the system takes of each */

  return blocks > 32 ? 32 : blocks < 1 ? 1 : blocks;
}

template <typename V, int R, int W, bool DOWN>
cudaError_t launch(const SyncILUDeviceGathered &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  const int       bytes           = gathered_bytes<V>(m.most);
  const long long tasks           = (long long)m.blocks * ((s.nrhs + R - 1) / R);
  int             multiprocessors = 1;
  cudaError_t     err             = device_attribute(cudaDevAttrMultiProcessorCount, &multiprocessors);

  if (err != cudaSuccess) return err;
  const long long most = (long long)multiprocessors * resident(bytes);
  gathered_kernel<V, R, W, DOWN><<<(unsigned)(tasks < most ? tasks : most), 32 * W, (size_t)bytes, stream>>>(m, s);
  return cudaGetLastError();
}

template <typename V, int R>
cudaError_t launch(const SyncILUDeviceGathered &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  if (m.warps > 1) return m.down ? launch<V, R, 2, true>(m, s, stream) : launch<V, R, 2, false>(m, s, stream);
  return m.down ? launch<V, R, 1, true>(m, s, stream) : launch<V, R, 1, false>(m, s, stream);
}

} // namespace

cudaError_t SyncILUKernelMeasureGathered(SyncILUDeviceBlocks m, int *pieces, SyncILUGatheredMost *most, cudaStream_t stream)
{
  LAUNCH(measure_kernel, 32ll * m.blocks, stream, m, pieces, most);
}

cudaError_t SyncILUKernelRecordGathered(SyncILUDeviceBlocks m, SyncILUDeviceGathered l, void *record, cudaStream_t stream)
{
  LAUNCH(record_kernel, 32ll * m.blocks, stream, m, l, (unsigned char *)record);
}

int SyncILUKernelGatheredWarps(SyncILUValueType, SyncILUGatheredMost most)
{
  return 2 * resident(gathered_bytes<double>(most)) <= SYNCILU_GATHERED_RESIDENT ? 2 : 1;
}

cudaError_t SyncILUKernelSolveGathered(SyncILUValueType type, SyncILUDeviceGathered m, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!m.blocks || !s.nrhs) return cudaSuccess;
  return s.side == SYNCILU_RHS_LINE ? launch<double, SYNCILU_RHS_LINE>(m, s, stream) : launch<double, SYNCILU_RHS_LINE / 2>(m, s, stream);
}
