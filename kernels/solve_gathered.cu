/*
   Triangular solves by the blocks of an ordering for several right-hand sides. R of these stand side by side in
   x, so that a row is a line of memory. A row has R / 2 lanes, which go through its entries in fours.

   What a block needs of others is collected in shared memory, each line once, all of them asked for together: rows
   of a block share most of their neighbours. Blocks announce with a flag each that they have been solved for. Were
   numbers their own flags, as in the other solves, all of x would be written twice, by sentinels too. A flag is the
   number of the round, so that nothing is to be reset, and the solution of the second triangle may come in the place
   of its right-hand side.

   Instructions are what these solves have too many of: so everything that the pattern alone decides is written
   down once, in a record for each block, which is in shared memory before the block's turn comes.
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

constexpr int W = SYNCILU_GATHERED_WARPS, FOUR = SYNCILU_BLOCKS_FOUR, NEED = SYNCILU_GATHERED_NEED, ZERO = NEED - 1;

struct alignas(8) FourLines {
  unsigned short at[FOUR];
};

/*
   Lines in shared memory have 128 bytes. Their pieces, two right-hand sides each, are exchanged, in eight successive
   lines in as many ways: so lanes that have a row each, and the same right-hand side, meet few conflicts of banks,
   and a line is still copied as one. (Lines with padding between them cross the rows of banks, and each copy of one
   takes half as much again from the cache.)

   piece_of(place_of(line), p) is where piece p of a line is.
*/
constexpr int PIECE = SYNCILU_GATHERED_PIECE, LINE = SYNCILU_RHS_LINE * (int)sizeof(double);

__device__ __forceinline__ unsigned place_of(int line)
{
  return (unsigned)(line * LINE | (line & 7) * PIECE);
}

__device__ __forceinline__ unsigned piece_of(unsigned place, int piece)
{
  return place ^ (unsigned)(piece * PIECE);
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

/*
   Calls each(number, block) for all blocks that a block waits for, and returns how many there are. Needs ascend, so
   that those of a source are neighbours.
*/
template <typename Each>
__device__ __forceinline__ int each_source(const SyncILUDeviceBlocks &m, int b, Each each)
{
  const int lane = threadIdx.x & 31;
  int       all = 0, last = -1;

  for (int first = m.needs[b], end = m.needs[b + 1]; first < end; first += 32) {
    const int      k = first + lane, own = k < end ? block_of(m, m.needed[k]) : -1, before = __shfl_up_sync(FULL, own, 1);
    const bool     is_new = k < end && own != (lane ? before : last);
    const unsigned news   = __ballot_sync(FULL, is_new);

    if (is_new) each(all + __popc(news & ((1u << lane) - 1)), own);
    all += __popc(news);
    last = __shfl_sync(FULL, own, 31);
  }
  return all;
}

/* The head of a block, but for the order of its rows. */
__device__ __forceinline__ Head head_of(const SyncILUDeviceBlocks &m, int b, const SyncILUBlockRow &r, int sources)
{
  const SyncILUBlock d     = m.block[b];
  const int          count = r.outer + __popc(r.inner), outers = __reduce_add_sync(FULL, r.outer);
  Head               h;

  h.first   = d.first;
  h.outer   = d.outer;
  h.inner   = d.inner;
  h.begins  = 0;
  h.rows    = (unsigned short)rows_of(d);
  h.needs   = (unsigned short)(m.needs[b + 1] - m.needs[b]);
  h.sources = (unsigned short)sources;
  h.outers  = (unsigned short)outers;
  h.entries = (unsigned short)__reduce_add_sync(FULL, count);
  h.fours   = (unsigned short)__reduce_add_sync(FULL, (count + FOUR - 1) / FOUR);
  return h;
}

__global__ void measure_kernel(SyncILUDeviceBlocks m, int *__restrict__ pieces, SyncILUGatheredMost *most)
{
  const int b = (int)(global_thread() / 32), lane = threadIdx.x & 31;

  if (b >= m.blocks) return;
  const Head h     = head_of(m, b, m.row[(size_t)b * MOST + lane], each_source(m, b, [](int, int) {}));
  const int  count = Parts::pieces(h);
  if (lane) return;
  pieces[turn_of(m, b)] = count;
  if (h.needs > load_stale(&most->needs)) atomicMax(&most->needs, h.needs);
  if (h.fours * FOUR > load_stale(&most->values)) atomicMax(&most->values, h.fours * FOUR);
  if (count > load_stale(&most->pieces)) atomicMax(&most->pieces, count);
}

__global__ void record_kernel(SyncILUDeviceBlocks m, SyncILUDeviceGathered l, int rows, unsigned char *__restrict__ record)
{
  const int b = (int)(global_thread() / 32), lane = threadIdx.x & 31;

  if (b >= m.blocks) return;
  const SyncILUBlockRow r    = m.row[(size_t)b * MOST + lane];
  unsigned char *const  own  = record + (size_t)l.begin[turn_of(m, b)] * SYNCILU_GATHERED_PIECE;
  const int             from = m.needs[b], count = r.outer + __popc(r.inner), fours = (count + FOUR - 1) / FOUR;
  const int             begin = (sum_up_to(fours) - fours) * FOUR;
  Head                  h     = head_of(m, b, r, each_source(m, b, [](int, int) {}));
  const Parts           p(h, own);
  unsigned short *const line = (unsigned short *)p.line + begin;

  each_source(m, b, [&](int k, int block) { p.source[k] = turn_of(m, block); });
  for (int k = lane; k < h.needs; k += 32) p.need[k] = m.needed[from + k];
  for (int k = count; k < fours * FOUR; k++) line[k] = (unsigned short)place_of(ZERO);
  Places outers(h.outer, lane);
  for (int w = width_of(m.block[b]) - 1, k = 0; w >= 0; w--) {
    const bool     mine  = w < r.outer;
    const unsigned place = outers.take(mine);

    if (!mine) continue;
    p.slot[place - h.outer] = (unsigned short)(begin + k);
    line[k++]               = (unsigned short)place_of(NEED + m.need[place]);
  }
  const unsigned inner = inner_begin(m.block[b], r) - h.inner;
  unsigned       left  = r.inner;
  for (int k = 0; left; k++, left &= left - 1) {
    p.slot[h.outers + inner + k] = (unsigned short)(begin + r.outer + k);
    line[r.outer + k]            = (unsigned short)place_of(__ffs((int)left) - 1);
  }
  const Row row = {(unsigned char)lane, (unsigned char)count, (unsigned short)begin};
  h.begins      = find_order(h.rows, rows, r.inner, row, p.row);
  if (!lane) *(Head *)own = h;
}

/* A block that is next: its number in the order of the solve, -1: there is none; its group; and its record. */
struct Next {
  int turn, group, from, pieces;
};

template <typename V>
__host__ __device__ __forceinline__ int gathered_bytes(const SyncILUGatheredMost &most)
{
  return (NEED + most.needs) * LINE + (most.values + MOST) * (int)sizeof(V) + 2 * most.pieces * PIECE;
}

/*
   W warps solve for a block; then they take the next one, whose record they have brought meanwhile.

   Progress: tickets are taken in ascending order, and one is finished with before the next one is waited for. So
   whoever has the lowest ticket that is not finished waits for nobody but finished blocks. And find_order().
*/
template <typename V, int R, bool DOWN>
__global__ void __launch_bounds__(32 * W) gathered_kernel(SyncILUDeviceGathered m, SyncILUDeviceSolve s)
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
      n.turn   = split_ticket<R>(t, groups, &n.group);
      n.from   = m.begin[n.turn];
      n.pieces = m.begin[n.turn + 1] - n.from;
    }
    ahead = n;
  };
  auto at    = [&](unsigned place, int piece) { return (Pair *)(shared + piece_of(place, piece)); };
  auto bring = [&](const Next &n, int buffer) {
    unsigned char *const       to   = records + buffer * m.most.pieces * PIECE;
    const unsigned char *const from = (const unsigned char *)m.record + (size_t)n.from * PIECE;

    for (int k = thread; n.turn >= 0 && k < n.pieces; k += THREADS) copy_piece(to + k * PIECE, from + (size_t)k * PIECE);
    commit_copies();
  };

  if (blockIdx.x == 0 && thread == 0 && s.reset) *s.reset = 0;
  if (!thread) look(atomicAdd(s.ticket, 1ull));
  if (thread < LINE / PIECE) *at(place_of(ZERO), thread) = {};
  if (thread < MOST) scale[thread] = V(1);
  __syncthreads(); /* thread 0 has looked */
  Next own = ahead;
  bring(own, 0);
  wait_copies<0>();
  __syncthreads(); /* the record is there */
  for (int buffer = 0; own.turn >= 0; buffer ^= 1) {
    unsigned char *const record = records + buffer * m.most.pieces * PIECE;
    const Head           h      = *(const Head *)record;
    const Parts          p(h, record);
    V *const             x       = (V *)s.x + (size_t)own.group * m.n * R + 2 * pair; /* the two of this lane, of the first row */
    int *const           solved  = m.solved + (size_t)own.group * m.blocks;
    const int            columns = min(s.nrhs - own.group * R, R), i = DOWN ? h.first + h.rows - 1 - lane : h.first + lane;
    const bool           mine = lane < h.rows;
    const V *const outer = (const V *)m.outer + h.outer, *const inner = (const V *)m.inner + h.inner;
    Ticket ticket = 0;
    size_t from = 0, to = 0;

    if (!thread) ticket = atomicAdd(s.ticket, 1ull);
    if (mine) {
      if (s.ldb) from = (size_t)rhs_place(s, i);
      if (s.out) to = (size_t)out_place(s, i);
    }
    for (int k = thread; k < h.entries; k += THREADS) copy_if(true, value + p.slot[k], k < h.outers ? outer + k : inner + (k - h.outers));
    if (s.scale && thread < MOST) copy_if(mine, scale + lane, (const V *)s.scale + i);
    if (thread < h.rows) {
      const Row row = p.row[thread];

      for (int k = row.count; k % FOUR; k++) value[row.begin + k] = V(0);
    }
    if (!s.ldb) {
      for (int k = sub; k < h.rows; k += ROWS) copy_piece_past(at(place_of(k), pair), x + (size_t)(DOWN ? h.first + h.rows - 1 - k : h.first + k) * R);
    }
    for (int k = thread; k < h.sources; k += THREADS) {
      while (load_acquire(solved + p.source[k]) != m.round) { }
    }
    __syncthreads(); /* what any thread has waited for is there for all of them */
    for (int k = sub; k < h.needs; k += ROWS) copy_piece_past(at(place_of(NEED + k), pair), x + (size_t)p.need[k] * R);
    if (s.ldb) {
      constexpr int Q  = R / W; /* right-hand sides of this warp */
      const int     q0 = thread / 32 * Q;
      const V      *b  = (const V *)s.b + from + (size_t)(own.group * R + q0) * s.ldb;

#pragma unroll
      for (int q = 0; q < Q; q++, b += s.ldb) {
        V *const to_b = at(place_of(lane), (q0 + q) / 2)->r + q % 2;

        copy_if(mine && q0 + q < columns, to_b, b);
        if (q0 + q >= columns) *to_b = V(0);
      }
    }
    commit_copies();
    if (!thread) look(ticket);
    wait_copies<0>();
    __syncthreads(); /* all is there that any thread has copied or looked for */
    const Next next = ahead;
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
        y.r[0] *= scale[row.lane];
        y.r[1] *= scale[row.lane];
        *sum = y;
        store_relaxed_pair(x + (size_t)(DOWN ? h.first + h.rows - 1 - row.lane : h.first + row.lane) * R, y.r[0], y.r[1]);
      }
      __syncthreads(); /* these rows are there for the next ones, and in the end for who announces all */
    }
    if (!thread) store_release(solved + own.turn, m.round);
    if (s.out && mine) {
      constexpr int Q   = R / W;
      const int     q0  = thread / 32 * Q;
      V            *out = (V *)s.out + to + (size_t)(own.group * R + q0) * s.ldout;

#pragma unroll
      for (int q = 0; q < Q; q++, out += s.ldout)
        if (q0 + q < columns) *out = at(place_of(lane), (q0 + q) / 2)->r[q % 2];
    }
    own = next;
    wait_copies<0>();
    __syncthreads(); /* the next record is there, and what this block had in shared memory is not needed any more */
  }
}

template <typename V, int R, bool DOWN>
cudaError_t launch(const SyncILUDeviceGathered &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  const int       bytes = gathered_bytes<V>(m.most), resident = SYNCILU_GATHERED_MULTIPROCESSOR / (bytes + 1024);
  const long long tasks = (long long)m.blocks * ((s.nrhs + R - 1) / R);
  int             device, multiprocessors = 1;
  cudaError_t     err = cudaGetDevice(&device);

  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (err == cudaSuccess && bytes > SYNCILU_SHARED_BYTES)
    err = cudaFuncSetAttribute(gathered_kernel<V, R, DOWN>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (err != cudaSuccess) return err;
  const long long most = (long long)multiprocessors * (resident > 32 ? 32 : resident < 1 ? 1 : resident);
  gathered_kernel<V, R, DOWN><<<(unsigned)(tasks < most ? tasks : most), 32 * W, (size_t)bytes, stream>>>(m, s);
  return cudaGetLastError();
}

template <typename V, int R>
cudaError_t launch(const SyncILUDeviceGathered &m, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  return m.down ? launch<V, R, true>(m, s, stream) : launch<V, R, false>(m, s, stream);
}

} // namespace

cudaError_t SyncILUKernelMeasureGathered(SyncILUDeviceBlocks m, int *pieces, SyncILUGatheredMost *most, cudaStream_t stream)
{
  LAUNCH(measure_kernel, 32ll * m.blocks, stream, m, pieces, most);
}

cudaError_t SyncILUKernelRecordGathered(SyncILUDeviceBlocks m, SyncILUDeviceGathered l, void *record, cudaStream_t stream)
{
  LAUNCH(record_kernel, 32ll * m.blocks, stream, m, l, 32 * W / (SYNCILU_RHS_LINE / 2), (unsigned char *)record);
}

int SyncILUKernelGatheredBytes(SyncILUValueType, SyncILUGatheredMost most)
{
  return gathered_bytes<double>(most);
}

cudaError_t SyncILUKernelSolveGathered(SyncILUValueType type, SyncILUDeviceGathered m, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!m.blocks || !s.nrhs) return cudaSuccess;
  return s.side == SYNCILU_RHS_LINE ? launch<double, SYNCILU_RHS_LINE>(m, s, stream) : launch<double, SYNCILU_RHS_LINE / 2>(m, s, stream);
}
