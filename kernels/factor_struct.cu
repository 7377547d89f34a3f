/*
   Update strategy struct: two warps take the rows of a line of a grid, one after another, and their lanes
   have the entries of the row, in the Crout form of factor_rows.cuh. The stencil says which entry of which
   reference row updates which entry, so that nothing is searched, and no list is read: each lane has a number
   for each reference row.

   Rows of U' that a row needs are in shared memory: of each line beside and of its own the last ones, in
   rings. With each step a row of each line beside comes from device memory, where its warp has published it,
   every value its own flag. The first warp of a line brings them, and takes what far rows have for the next
   row, which are on earlier levels than the one just before. The second one has what lies between the arrival
   of the last row and the publication of its own: the products with the near rows, and the division by the
   pivot. A warp by itself would take the time of both for each row. Entries that a row does not have are zero
   in what it publishes, are no multipliers, and are not stored.

   The next lines of a block often are the next ones of the grid. To each rows are handed in shared memory,
   too: each cell has a value or a sentinel, which the one who takes the value puts there, and who gives the
   next one waits for.

   Progress: blocks take lines by ticket, in the order of the tiles of L and of the lines of a tile, in which
   a line comes after those that it depends on: tiles are in the order of their lowest levels, and lines of a
   tile depend on lines with no higher v or w. A line waits for values of lower tickets, and for the next line
   of its block to take a row that was handed on a few steps before. That one has this row to take, and so
   waits, if at all, for other lower tickets, or for the line after it. So behind the lowest unfinished
   ticket, the last of the lines that wait for the next one goes on. The two warps of a line wait for each
   other by barriers: the second one for the row that the first one has begun, and this one, which may be two
   rows ahead, for rows to be done, which need nothing of it any more.
*/
#include "factor_struct.h"
#include "async.cuh"
#include "entries.cuh"
#include "factor_relax.cuh"
#include "pivot.cuh"
#include "struct.cuh"

using namespace syncilu;

namespace
{

/*
   Steps that the values of the matrix are asked for before their row needs them, a power of two: their copies
   are in as many buffers.
*/
constexpr int AHEAD = 8;

/* Bytes of rows that a warp may hand on before the next one takes them: 4 or 8. */
constexpr int HANDED = 512;

/*
   Numbers of a row that is begun: of each lane the entry, what is dropped and its rounding error, and whether
   there is one.
*/
constexpr int BEGUN = 112;

/*
   Bytes of shared memory of a line: a multiple of its largest ring's, so that each ring begins at a multiple
   of its own.
*/
__host__ __device__ __forceinline__ int bytes_of_line(const SyncILUDeviceStructFactor &f)
{
  return (f.room + HANDED + (AHEAD * 32 + 2 * BEGUN + 4) * 8 + f.largest - 1) & -f.largest;
}

/*
   The same bits, of which the compiler does not make predicates of all at once: it has seven, and gives up.
*/
__device__ __forceinline__ unsigned opaque(unsigned bits)
{
  unsigned same;
  asm volatile("mov.b32 %0, %1;" : "=r"(same) : "r"(bits));
  return same;
}

/*
   The same number, which stays in a register: looked up again for each row, the number of a thread takes its
   time.
*/
__device__ __forceinline__ int remembered(int number)
{
  return __shfl_sync(FULL, number, threadIdx.x & 31);
}

/*
   What the two warps of a line wait for: that a row has what far rows have for it and that its near rows are
   there; and that a row is done.
*/
struct Pair {
  Barrier ready[2], done[2];
};

/*
   POLLS values of lines beside for each lane, a row of which has 1 << LG lanes. HOLES: rows may lack entries
   on the grid, and an infinite multiplier must not meet the zero of an entry that is not there.

   Without holes and relaxation (PLAIN) a lane that a reference row does not update takes a zero from the ring
   instead of asking, as from an entry that the reference row does not have; rows that do not exist are zero,
   too. Where a number turns out not to be finite, what has been done is done again with these questions, since
   then zeros do not leave it alone.
*/
template <int FAR, int POLLS, int LG, bool RELAX, bool HOLES>
struct Line {
  static constexpr int  NEAR = SYNCILU_STRUCT_NEAR, SOURCES = FAR + NEAR, DIAGONAL = SOURCES, ROW = 8 << LG, LAST = HANDED - ROW;
  static constexpr bool PLAIN = !RELAX && !HOLES;

  const SyncILUDeviceStructFactor &f;
  const SyncILULines              &g;
  int                              lane, X;
  unsigned char                   *shared, *ring, *hand; /* of the block; rows of U'; those for the next line of the block */
  double                          *values;               /* of the matrix */
  double                          *begun;                /* rows with what far rows have for them: two, by turns */
  Pair                            *pair;
  int                              tile, number, v, w, first, late, span;
  SyncILUStructEntry               e;

  __device__ __forceinline__ double cell(int k, int x) const
  {
    return *(const double *)(shared + ((((unsigned)x * ROW + f.reference[k].x) & f.reference[k].mask) | e.cell[k]));
  }
  __device__ __forceinline__ void update(bool used, double multiplier, double u, double &own, Sum<double> &dropped) const
  {
    if (used && (!HOLES || u != 0.0)) {
      own = fma(-multiplier, u, own);
      if (RELAX) add_product(dropped, multiplier, -u);
    }
  }
  /* Whether a lane has a number that is not finite. */
  static __device__ __forceinline__ bool any_infinite(double v) { return __any_sync(FULL, (__double2hiint(v) & 0x7ff00000) == 0x7ff00000); }
  /* Whether row x has the entry of the lane. */
  __device__ __forceinline__ bool has(int x) const { return (unsigned)(x + e.point[0]) < (unsigned)span; }
  /* A warp arrives at a barrier of the other one with all lanes. */
  static __device__ __forceinline__ void wait(Barrier *b, int x) { barrier_wait(b + (x & 1), x >> 1 & 1); }

  __device__ __forceinline__ void begin_rows() const;
  __device__ __forceinline__ void end_rows() const;
};

/*
   The first warp of a line brings rows of lines beside and values of the matrix, and applies what far rows
   have.
*/
template <int FAR, int POLLS, int LG, bool RELAX, bool HOLES>
__device__ __forceinline__ void Line<FAR, POLLS, LG, RELAX, HOLES>::begin_rows() const
{
  const long long step              = (long long)g.stride[0] * f.values;
  const bool      shifts            = lane == DIAGONAL && diagonal_shift(f.piv) != 0.0;
  const int *__restrict__ const ptr = f.pattern.ptr;
  /* what this lane brings of lines beside: where from, how many steps before it is needed, where to */
  const double *from[POLLS];
  double        y[POLLS];
  int           shift[POLLS], begin[POLLS], mask[POLLS];
  unsigned      open = 0; /* which of these there are */

#pragma unroll
  for (int k = 0; k < POLLS; k++) {
    const int j = k * (32 >> LG) + (lane >> LG), slot = lane & ((1 << LG) - 1), there = j < f.lines && slot < f.values ? j : -1;
    const int row = there < 0 ? -1 : line_row(g, v + f.line[there].v, w + f.line[there].w);

    shift[k] = row < 0 ? INT_MAX / 2 : f.line[there].x;
    begin[k] = row < 0 ? 0 : f.line[there].ring.begin + slot * 8;
    mask[k]  = row < 0 ? 0 : f.line[there].ring.mask;
    from[k]  = (const double *)f.u + (row < 0 ? 0 : (size_t)row * f.values + slot) + (row < 0 ? 0 : (shift[k] - f.before - 1) * step);
  }
  /* the first value may come from the line before, of the same block */
  const bool           handed     = f.hands && threadIdx.x >= 64 && (number & ((1 << g.edge[0]) - 1)) && lane < 1 << LG && shift[0] != INT_MAX / 2;
  unsigned char *const taken      = hand - bytes_of_line(f) + (lane & ((1 << LG) - 1)) * 8;
  auto                 look_again = [&](int x, int k, bool on) {
    load_relaxed_if(on && (k || !handed), from[k], &y[k]);
    if (k == 0) load_block_if(on && handed, (double *)(taken + ((unsigned)(x + shift[0]) * ROW & LAST)), &y[0]);
  };
  auto ask = [&](int x) {
    open = 0;
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      from[k] += step;
      y[k]          = 0.0;
      const bool on = (unsigned)(x + shift[k]) < (unsigned)X;
      open |= (on ? 1u : 0u) << k;
      look_again(x, k, on);
    }
  };

  /*
     where the rows of 32 steps begin in the matrix, and which entries they have; of these and the next ones
  */
  int  row_now = 0, row_next, bits_now = 0, bits_next = 0;
  auto look = [&](int x, int *row, int *bits) {
    const int i = first + (x + lane) * g.stride[0];

    *row = x + lane < X ? ptr[i] : 0;
    if (HOLES) *bits = x + lane < X ? f.lower.present[i] : 0;
  };
  look(0, &row_next, &bits_next);
  /*
     the values of row x are asked for; `there` has a bit for each of the rows before it whether the lane's
     entry is
  */
  unsigned there = 0;
  auto     fetch = [&](int x) {
    if (!(x & 31)) {
      row_now  = row_next;
      bits_now = bits_next;
      look(x + 32, &row_next, &bits_next);
    }
    const int      row = __shfl_sync(FULL, row_now, x & 31), bits = HOLES ? __shfl_sync(FULL, bits_now, x & 31) : 0;
    const bool     on  = x < X && (HOLES ? e.bit >= 0 && (lane == DIAGONAL || bits >> e.bit & 1) : has(x));
    const unsigned all = __ballot_sync(FULL, on);
    const int      at  = row + __popc(all & e.before);

    there = there << 1 | (on ? 1 : 0);
    if (f.a.map) values[(x & (AHEAD - 1)) * 32] = on ? value<double>(f.a, at) : 0.0;
    else copy_if(on, values + (x & (AHEAD - 1)) * 32, (const double *)f.a.a + at);
    commit_copies();
  };

#pragma unroll 1
  for (int x = 0; x < AHEAD - 1; x++) fetch(x);
  if (f.values) {
    int near = -1; /* a line that begins a few levels before this one */

    for (int j = f.lines - 1; j >= 0; j--) {
      const int row = line_row(g, v + f.line[j].v, w + f.line[j].w);

      near = row < 0 ? near : row;
    }
    if (near >= 0) wait_for_ancestor((const double *)f.u + (size_t)near * f.values, true);
  }
  ask(-f.before);
  double      own     = 0.0;
  bool        on      = false;
  Sum<double> dropped = {0.0, 0.0};
  for (int x = -f.before; x < X; x++) {
    bool all = true;

#pragma unroll
    for (int k = 0; k < POLLS; k++) all = is_set(y[k]) && all;
    while (!__all_sync(FULL, all)) {
      all = true;
#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        look_again(x, k, !is_set(y[k]));
        all = is_set(y[k]) && all;
      }
    }
    if (x >= 2) wait(pair->done, x - 2); /* the other warp has read what is in the way */
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      if (open >> k & 1) *(double *)(ring + (((unsigned)(x + shift[k]) * ROW & mask[k]) | begin[k])) = y[k];
    }
    if (x >= 0) {
      double *const to = begun + (x & 1) * BEGUN;

      to[lane] = on ? own : 0.0;
      if (RELAX) {
        to[32 + lane] = dropped.high;
        to[64 + lane] = dropped.low;
      }
      if (!PLAIN) ((unsigned *)(to + 96))[lane] = on;
      barrier_arrive(pair->ready + (x & 1));
    }
    double none;
    poison(none);
    store_block_if(handed && (open & 1), (double *)(taken + ((unsigned)(x + shift[0]) * ROW & LAST)), none);
    __syncwarp(); /* rows of lines beside are there */
    ask(x + 1);
    if (x < -1) continue;
    fetch(x + AHEAD);
    wait_copies<AHEAD - 1>();
    on      = there >> (AHEAD - 1) & 1;
    dropped = {0.0, 0.0};
    if (f.follows && x >= 1) wait(pair->done, x - 1); /* rows of this line up to that one are there */
    /* all of these loads are under way together, also of what is not used */
    double u[FAR];
#pragma unroll
    for (int k = 0; k < FAR; k++) u[k] = cell(k, x + 1);
    auto matrix = [&]() {
      own = on ? values[((x + 1) & (AHEAD - 1)) * 32] : 0.0;
      if (shifts) own += diagonal_shift(f.piv);
    };
    matrix();
    if (PLAIN) {
#pragma unroll
      for (int k = 0; k < FAR; k++) own = fma(-__shfl_sync(FULL, own, k), u[k], own);
      if (!any_infinite(own)) continue;
      matrix();
    }
    unsigned uses = __ballot_sync(FULL, on) & (on ? e.updated : 0);
#pragma unroll
    for (int k = 0; k < FAR; k++) {
      update(uses & 1, __shfl_sync(FULL, own, k), u[k], own, dropped);
      uses = opaque(uses >> 1);
    }
  }
}

/* The second one applies what near rows have, divides by the pivot, and publishes. */
template <int FAR, int POLLS, int LG, bool RELAX, bool HOLES>
__device__ __forceinline__ void Line<FAR, POLLS, LG, RELAX, HOLES>::end_rows() const
{
  const int                  upper     = lane - DIAGONAL - 1; /* its entry of U', or behind these what relaxation needs */
  const bool                 publishes = upper >= 0 && upper < f.values, sums = upper >= f.upper.points, pivots = lane == 31;
  const SyncILUDeviceStruct &m     = lane <= DIAGONAL ? f.lower : f.upper;
  const int                  slots = (m.entries + m.scaled) * 32;
  /* where the lane's entry goes, and of the last lane the pivot, which has no entry */
  double   *out  = (double *)m.val + ((size_t)tile * g.steps + (m.down ? g.steps - 1 - late : late)) * slots + e.place * 32 + number;
  long long outs = m.down ? -slots : slots;
  if (pivots) {
    out  = (double *)f.pivot + first;
    outs = g.stride[0];
  }
  double         *to   = (double *)f.u + (size_t)first * f.values + max(upper, 0);
  const long long step = (long long)g.stride[0] * f.values;
  /* whether rows are handed on to the next line, which needs those before the last one */
  const bool gives = f.hands && threadIdx.x + 64 < blockDim.x && (number + 1) & ((1 << g.edge[0]) - 1) && line_row(g, v + 1, w) >= 0;
  const int  last  = gives && publishes ? X + min(0, f.line[0].x) : -INT_MAX;

  for (int x = 0; x < X; x++) {
    const double *const from = begun + (x & 1) * BEGUN;
    double *const       next = (double *)(hand + ((unsigned)x * ROW & LAST) + max(upper, 0) * 8);
    double              near[NEAR], u[NEAR], before; /* what was handed on in the place of this row, if it has not been taken */
    Sum<double>         dropped = {0.0, 0.0};

    poison(before);
    load_block_if(x < last, next, &before);
    wait(pair->ready, x);
    double     own = from[lane];
    const bool on  = PLAIN ? has(x) : ((const unsigned *)(from + 96))[lane];
    if (RELAX) dropped = {from[32 + lane], from[64 + lane]};
      /* near rows are of one level, and do not update each other's multipliers */
#pragma unroll
    for (int k = 0; k < NEAR; k++) {
      near[k] = from[FAR + k];
      u[k]    = cell(FAR + k, x);
    }
    if (PLAIN) {
#pragma unroll
      for (int k = 0; k < NEAR; k++) own = fma(-near[k], u[k], own);
    }
    if (!PLAIN || any_infinite(own)) {
      const unsigned uses = __ballot_sync(FULL, on) & (on ? e.updated : 0);

      own = from[lane];
#pragma unroll
      for (int k = 0; k < NEAR; k++) update(uses >> (FAR + k) & 1, near[k], u[k], own, dropped);
    }
    double d = __shfl_sync(FULL, own, DIAGONAL);
    if (RELAX) { /* what is dropped is all that the reference rows hold less what has just been used */
      if (lane < DIAGONAL && on && own != 0.0) {
        const double *s = (const double *)(ring + (((unsigned)x * ROW + e.source.x) & e.source.mask) + e.source.begin) + f.upper.points;

        add_product(dropped, own, s[0]);
        dropped.low += own * s[1];
      }
      dropped = sum_lanes<5>(dropped);
      d -= f.piv.relax * (dropped.high + dropped.low);
    }
    double inverse = reciprocal(d);
    if (!has_reciprocal(d) || fabs(d) <= f.piv.zeropivot) { /* likewise in all lanes */
      if (lane == DIAGONAL) (void)judge(f.piv, first + x * g.stride[0], d, f.status);
      d       = shifted_pivot(f.piv, d);
      inverse = 1.0 / d;
    }
    const double scaled    = clean(own * inverse);
    double       published = on && !sums ? scaled : 0.0;
    if (RELAX) {
      Sum<double> all_of_row = {upper >= 0 ? published : 0.0, 0.0};

      all_of_row = sum_lanes<5>(all_of_row);
      if (sums) published = clean(upper == f.upper.points ? all_of_row.high : all_of_row.low);
    }
    while (__any_sync(FULL, is_set(before))) load_block_if(x < last, next, &before);
    store_block_if(x < last, next, published);
    store_relaxed_if(publishes, to, published);
    __syncwarp(); /* all lanes have read the row in whose place this one comes */
    if (publishes) *(double *)(ring + (((unsigned)x * ROW & f.own.mask) + f.own.begin + upper * 8)) = published;
    __syncwarp(); /* the row is in its own ring */
    barrier_arrive(pair->done + (x & 1));
    if (on || pivots) *out = lane < DIAGONAL ? own : lane == DIAGONAL ? inverse : pivots ? d : scaled;
    /* the row would not come out as it is on the host, where U is not divided by its pivots */
    if (upper >= 0 && on && !isfinite(scaled) && isfinite(own)) report(&f.status->row, first + x * g.stride[0]);
    if (f.size) { /* pivots are compared with their rows */
      const int      i    = first + x * g.stride[0];
      const double   size = sum_lanes<5>(upper >= 0 && on ? fabs(own) : 0.0);
      const unsigned row  = __ballot_sync(FULL, on && lane < DIAGONAL);

      if (lane == DIAGONAL) ((double *)f.size)[i] = size;
      if (on && lane < DIAGONAL) *row_entry<double>(f.wrows, i, __popc(row), __popc(row & e.before)) = own;
    }
    to += step;
    out += outs;
  }
}

/*
   Blocks of a multiprocessor at least, so that plain kernels have no more registers than others: with 27 points
   two blocks would have room instead of three.
*/
template <int FAR, int POLLS, bool PLAIN>
constexpr int BLOCKS = !PLAIN     ? 1
                     : FAR == 2   ? (POLLS == 1 ? 5 : 4)
                     : FAR == 4   ? (POLLS == 2 ? 4 : 3)
                     : POLLS == 2 ? 3
                                  : 2;

template <int FAR, int POLLS, int LG, bool RELAX, bool HOLES>
__global__ void __launch_bounds__(32 * SYNCILU_STRUCT_FACTOR_WARPS, BLOCKS<FAR, POLLS, !RELAX && !HOLES>)
  struct_factor_kernel(const SyncILUDeviceStructFactor f)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char shared[];
  const SyncILULines                           &g    = f.lower.g;
  const int                                     lane = remembered(threadIdx.x & 31), which = remembered(threadIdx.x >> 6), size = bytes_of_line(f);
  unsigned char *const ring = shared + which * size, *const hand = ring + f.room;
  double *const values = (double *)(hand + HANDED);
  Pair *const   pair   = (Pair *)(values + AHEAD * 32 + 2 * BEGUN);

  if (!(threadIdx.x & 32)) {
    for (int k = lane; k < HANDED / 8; k += 32) poison(((double *)hand)[k]);
    if (!RELAX && !HOLES) { /* what is read of rows that there are not */
      for (int k = lane; k < f.room / 8; k += 32) ((double *)ring)[k] = 0.0;
    }
    if (lane < 4) barrier_begin(pair->ready + lane, 32); /* every lane arrives */
  }
  const Ticket block = take_ticket(f.ticket) / (blockDim.x >> 5), t = block * (blockDim.x >> 6) + which; /* which waits for all of that */
  if (t >= 32 * (Ticket)g.tiles) return;
  const Tile tile   = tile_of(g, f.lower.order[t >> 5]);
  const int  number = (int)(t & 31), v = tile.v + (number & ((1 << g.edge[0]) - 1)), w = tile.w + (number >> g.edge[0]), first = line_row(g, v, w);
  if (first < 0) return;
  SyncILUStructEntry e = f.entry[lane];
  #pragma unroll
  for (int k = 0; k < SYNCILU_STRUCT_SOURCES; k++) e.cell[k] += (int)(ring - shared);
  const int                                span = e.bit >= 0 && line_row(g, v + e.point[1] + g.skew * e.point[2], w + e.point[2]) >= 0 ? g.points[0] : 0;
  const Line<FAR, POLLS, LG, RELAX, HOLES> l =
    {f, g, lane, g.points[0], shared, ring, hand, values + lane, values + AHEAD * 32, pair, tile.number, number, v, w, first, lane_at(g, v, w).late, span, e};
  if (threadIdx.x & 32) l.end_rows();
  else l.begin_rows();
#endif
}

template <int FAR, int POLLS, int LG, bool RELAX>
cudaError_t launch(const SyncILUDeviceStructFactor &f, cudaStream_t stream)
{
  const unsigned blocks = (unsigned)(64 / f.warps * f.lower.g.tiles);
  const size_t   bytes  = f.warps / 2 * SyncILUKernelFactorStructBytes(&f);

  if (f.lower.present) struct_factor_kernel<FAR, POLLS, LG, RELAX, true><<<blocks, 32 * f.warps, bytes, stream>>>(f);
  else struct_factor_kernel<FAR, POLLS, LG, RELAX, false><<<blocks, 32 * f.warps, bytes, stream>>>(f);
  return cudaGetLastError();
}

/* The kernels there are: for so many far reference rows, lines beside, and values of a row. */
template <bool RELAX>
cudaError_t of_size(const SyncILUDeviceStructFactor &f, cudaStream_t stream)
{
  if (f.row == 64) return launch<2, 1, 3, RELAX>(f, stream);
  if (f.far == 2) return launch<2, 3, 4, RELAX>(f, stream);
  if (f.far == 4 && f.lines <= 4) return launch<4, 2, 4, RELAX>(f, stream);
  if (f.far == 4) return launch<4, 4, 4, RELAX>(f, stream);
  if (f.far == 10 && f.lines <= 4) return launch<10, 2, 4, RELAX>(f, stream);
  if (f.far == 10 && f.lines <= 8) return launch<10, 4, 4, RELAX>(f, stream);
  return f.far == 10 ? launch<10, 7, 4, RELAX>(f, stream) : launch<SYNCILU_STRUCT_FAR, 7, 4, RELAX>(f, stream);
}

} // namespace

size_t SyncILUKernelFactorStructBytes(const SyncILUDeviceStructFactor *f)
{
  return (size_t)bytes_of_line(*f);
}

cudaError_t SyncILUKernelFactorStruct(SyncILUValueType type, SyncILUDeviceStructFactor f, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  return f.piv.relax != 0.0 ? of_size<true>(f, stream) : of_size<false>(f, stream);
}
