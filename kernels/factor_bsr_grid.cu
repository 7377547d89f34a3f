/*
   Update strategy bsr where the solves go along the lines of a grid. Where levels are wide the bandwidth of
   memory decides, and most reference inodes are done long before they are asked for. So the factor is stored
   in the tiles of the solves alone, with whole blocks. What an inode needs of others it takes from there:
   they have W_kk^-1 W_kj, so that

     for each reference inode k of inode i:    W_ij -= W_ik (W_kk^-1 W_kj)
     then W_ii = (W + D) (I + U'_ii):          W_ii^-1
     then it stores for U:                     W_ii^-1 W_ij
       and, once others may read that, for L:  W_ii^-1 W_ik, and W_ii^-1

   W_ik, W_ii and W_ij are what updates leave of the matrix. Where A = (W + D) (I + U'), the entry of W is
   W_ik (I + U'_kk)^-1, and W_ii^-1 W_ij is (I + U'_ii)^-1 U'_ij.

   The stencil says which blocks meet, with the points that both inodes have: there are no lists. A warp has
   an inode. Its rows are in shared memory, block by block. Tensor cores make all products of the updates
   (square.cuh); with four rows one product makes two updates, if there are any beside the diagonal.

   The first pivot of an inode announces its blocks of U: it is released when these are stored, and who needs
   the inode acquires it. Reference inodes are taken in the order of their levels, so that only those of the
   level just before are waited for, and results do not depend on the time.

   Progress is as syncfree.cuh says: all that an inode waits for belongs to lower tickets.
*/
#include "factor_bsr_grid.h"
#include "bsr_rows.cuh"
#include "bsr_tiles.cuh"
#include "pivot.cuh"
#include "square.cuh"

using namespace syncilu;

namespace
{

constexpr int POINTS = SYNCILU_STRUCT_MOST;

/*
   What a task begins with. Memory has it in pieces of eight bytes. Each lane of a warp loads one piece, and
   all lanes together make one request. The first pieces are the places of the reference inodes in the
   tiles, in their order. Three pieces follow: inode and begin; place; ancestor. The number of pieces is
   rounded up to a power of two, so that up to 16 of them are in one line of the cache.
*/
struct Task {
  int                      inode, begin;
  SyncILUStructBlocksPlace place;
  int                      ancestor; /* see wait_for_ancestor(); -1: none */
};

static_assert(sizeof(int2) == SYNCILU_BSR_GRID_PIECE, "what the plan has room for");

typedef SyncILUBsrGridUpdates Updates;
static_assert(sizeof(Updates) == 32, "two lanes copy it");

/* Where a number of a block stands in shared memory: see at_turn(). */
template <int B>
__device__ __forceinline__ int turn(int i, int j)
{
  return at_turn<B, true>(i, j);
}

/* What shared memory has of an inode. */
template <int B>
struct Room {
  double    *w;       /* its blocks */
  PartPlace *upper;   /* U of the reference inodes, in their order */
  Updates   *updates; /* by these */
  double    *inverse; /* of its diagonal block, where all that was before */

  static __host__ __device__ size_t round(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static __host__ __device__ size_t bytes(int entries)
  {
    const size_t before = POINTS * (sizeof(PartPlace) + sizeof(Updates)), after = round(B * B * sizeof(double));

    return round((size_t)entries * STRIDE<B> * sizeof(double)) + (before > after ? before : after);
  }
  __device__ Room(unsigned char *memory, int entries)
  {
    w = (double *)memory;
    memory += round((size_t)entries * STRIDE<B> * sizeof(double));
    upper   = (PartPlace *)memory;
    updates = (Updates *)(upper + POINTS);
    inverse = (double *)memory;
  }
};

/*
   Inverts a diagonal block by Gauss and Jordan, in place: step p divides row p by its pivot, takes it from
   all others, and leaves a column of the inverse where column p was. A lane has of the block what it has of a
   product's result (square.cuh). Returns the pivot of the row whose number is the lane's.
*/
template <int B>
__device__ __forceinline__ double invert_diagonal(double (&x)[2])
{
  const int lane = threadIdx.x % 32, r = lane / 4, k = lane % 4;
  double    own = 0.0;

#pragma unroll
  for (int p = 0; p < B; p++) {
    const double found = __shfl_sync(FULL, x[p % 2], 4 * p + p / 2), by = reciprocal_of_any(found);
    const double left = __shfl_sync(FULL, x[p % 2], p / 2, 4); /* in column p of the lane's row */
    double       u[2];

#pragma unroll
    for (int c = 0; c < 2; c++) u[c] = __shfl_sync(FULL, x[c], 4 * p + k);
    if (k == p / 2) {
      u[p % 2] = 1.0;
      x[p % 2] = 0.0;
    }
#pragma unroll
    for (int c = 0; c < 2; c++) {
      u[c] *= by;
      x[c] = r == p ? u[c] : x[c] - left * u[c];
    }
    if (lane == p) own = found;
  }
  return own;
}

/*
   For an inode of which something that is stored is not finite. Finds the first row with a u' = u / d that is
   not finite though u is: the host stores u, and would go on. The lanes look at different columns. All rows
   are eliminated in place, as the host does it. If all numbers were finite before, and all of U' are, then an
   inverse or a product with it is too large. The host has no inverses; here lost becomes the last row. w has
   nl blocks of L, the diagonal block, and blocks of U: `blocks` in all.
*/
template <int B>
__device__ __forceinline__ void find_lost(double *w, int nl, int blocks, int &lost)
{
  const int     lane = threadIdx.x % 32, columns = (blocks - nl - 1) * B;
  double *const block  = w + nl * STRIDE<B>;
  bool          finite = true;

  for (int q = lane; q < blocks * B; q += 32) {
    for (int i = 0; i < B; i++) finite = finite && isfinite(w[q / B * STRIDE<B> + turn<B>(i, q % B)]);
  }
  finite = __all_sync(FULL, finite);
  __syncwarp(); /* all have read the block, which changes */
  if (lane == 0) {
    for (int p = 0; p < B; p++) {
      const double by = block[turn<B>(p, p)] = reciprocal_of_any(block[turn<B>(p, p)]);

      for (int c = p + 1; c < B; c++) {
        const double u = block[turn<B>(p, c)] * by;

        if (!isfinite(u) && isfinite(block[turn<B>(p, c)])) lost = min(lost, p);
        for (int i = p + 1; i < B; i++) block[turn<B>(i, c)] -= block[turn<B>(i, p)] * u;
      }
    }
  }
  __syncwarp(); /* multipliers and reciprocal pivots are there for all lanes */
  for (int q = lane; q < columns; q += 32) {
    double *const v = block + (q / B + 1) * STRIDE<B>;

    for (int p = 0; p < B; p++) {
      const double own = v[turn<B>(p, q % B)], u = own * block[turn<B>(p, p)];

      if (!isfinite(u) && isfinite(own)) lost = min(lost, p);
      for (int i = p + 1; i < B; i++) v[turn<B>(i, q % B)] -= block[turn<B>(i, p)] * u;
    }
  }
  if (finite && __all_sync(FULL, lost == B)) lost = B - 1;
}

/*
   Inverts the diagonal block, of which the lane has x, and stores what there is of the inode: its blocks of U
   first, since others wait for them. KEEP: with more than four rows the second-level cache is to keep blocks
   of U (cache.cuh).
*/
template <int B, bool KEEP>
__device__ __forceinline__ void finish(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrGrid &m, const Task &task, int nl, int blocks, const Room<B> &room,
                                       double (&x)[2])
{
  const int     lane = threadIdx.x % 32, r = lane / 4, k = lane % 4, columns = columns_of<B>(r, 2 * k);
  double *const pivot = (double *)f.pivot + (size_t)task.inode * B;
  double        d     = invert_diagonal<B>(x);

  put_two<B>(room.inverse + turn<B>(r, 2 * k), columns, x);
  if (lane < B) d = clean(judge(f.piv, task.inode * B + lane, d, f.status));
  __syncwarp(); /* the inverse is there for all lanes */
  Largest      largest;
  auto         by    = [&](int i, int j) { return i < B && j < B ? room.inverse[turn<B>(i, j)] : 0.0; };
  const double a[2]  = {by(r, k), by(r, 4 + k)};
  auto         store = [&](int p) {
    if constexpr (B > 4) {
      auto         mine   = [&](int c) { return B % 2 ? x[c] : by(2 * k + c, r); };
      const double own[2] = {mine(0), mine(1)};

      if (p) store_square_products<double, B, STRIDE<B>, true, KEEP>(m.tiles, task.place, p, nl, room.w, a, NULL, largest);
      else store_square_products<double, B, STRIDE<B>, true>(m.tiles, task.place, p, nl, room.w, a, &own, largest);
    } else if (p) store_products<double, B, STRIDE<B>, 32, false>(m.tiles, task.place, p, nl, room.w, by, largest);
    else store_products<double, B, STRIDE<B>, 32, true>(m.tiles, task.place, p, nl, room.w, by, largest);
  };

  store(1);
  __syncwarp(); /* all lanes have stored what they have of U */
  /* all pivots at once: the first one alone is waited for, but two requests take 1.02 times as long as one */
  if (lane < B) store_release(pivot + lane, d);
  store(0);
  if (__any_sync(FULL, largest.lost())) {
    int lost = B;

    find_lost<B>(room.w, nl, blocks, lost);
    if (lost < B) report(&f.status->row, task.inode * B + lost);
  }
}

/*
   Returns the task of ticket t. A lane that has a reference inode also gets where this stands in the tiles;
   what other lanes get has no meaning.
*/
__device__ __forceinline__ Task load_task(const SyncILUDeviceBsrGrid &m, Ticket t, SyncILUStructBlocksPlace &reference)
{
  const int lane = threadIdx.x % 32, first = m.points[0];
  int2      piece = {0, 0};

  if (lane < first + SYNCILU_BSR_GRID_HEAD) piece = ((const int2 *)m.task)[((size_t)t << m.pieces) + lane];
  reference = {(unsigned)piece.x, (unsigned)piece.y};
  return {
    __shfl_sync(FULL, piece.x, first),
    __shfl_sync(FULL, piece.y, first),
    {(unsigned)__shfl_sync(FULL, piece.x, first + 1), (unsigned)__shfl_sync(FULL, piece.y, first + 1)},
    __shfl_sync(FULL, piece.x, first + 2)
  };
}

/*
   Looks whether the lane's reference inode has stored its blocks of U. Only an inode that has to wait looks
   at its ancestor.
*/
template <int B>
__device__ __forceinline__ void first_look(const double *pivot, int ancestor, const double *flag, bool &waits)
{
  if (waits) waits = !is_set(load_acquire(flag));
  if (__any_sync(FULL, waits)) wait_for_ancestor(pivot + (size_t)ancestor * B, ancestor >= 0);
}

/*
   MORE products with a reference inode, whose factors have been asked for. Each product is K of tensor cores.
   A factor that a lane has no need of is not asked for and stays what it was, zero or that of an earlier
   step: what comes of it is not stored.
*/
template <int MORE, int K>
struct Step {
  int    place;       /* the block W_ik; -1: there are no more */
  bool   first, last; /* of the reference inode */
  int    word[MORE];  /* of the updates, of this lane's columns; -1: none */
  double u[MORE][K];
};

/*
   A step has as many products as suit a reference inode's updates, and DEPTH - 1 steps are asked for ahead:
   their factors take a thousand cycles to come, most of them from beyond the second-level cache. BLOCKS, of a
   multiprocessor at least, decides on registers. ms with MORE, DEPTH and BLOCKS on an H200:

     unknowns, stencil          2, 2, 7   2, 3, 5   4, 2, 5   4, 3, 4   8, 2, 3
     5, 27 points, 102^3          17.2                17.3      19.6
     6, star of 13, 128^3          9.5       9.9
     6, diamond of 13, 128^3      11.9      12.5                12.6
     6, diamond of 25, 102^3      17.5                          15.2      16.8
     6, 27 points, 102^3          21.3                20.1      18.0      20.4
     7, 27 points, 92^3                               20.6      19.7      18.9
     8, star of 13, 102^3          7.3       6.2       6.7
     8, diamond of 13, 102^3                 7.9       7.4       7.6
     8, diamond of 25, 83^3                                     13.4      10.7
     8, 27 points, 83^3                                         14.3      12.6

   Polls that acquire take 0.92 to 0.98 of the time of relaxed ones with a fence after them; pauses between
   polls make no difference. To ask for the first factors before the rows have come takes 0.94 to 0.98 of the
   time with 8 and 4 unknowns, and 1.02 to 1.06 with 6.
*/
template <int B, int MORE, int DEPTH, int BLOCKS>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR, BLOCKS) bsr_grid_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrGrid m)
{
  constexpr int     EACH = B > 4 ? 1 : 2, K = B > 4 ? 2 : 1; /* updates by a product, and products of tensor cores for it */
  constexpr bool    EARLY = B < 5 || B > 6;                  /* factors are asked for before the rows have come */
  extern __shared__ __align__(16) unsigned char shared[];
  double *const                                 pivot = (double *)f.pivot;
  const int                                     lane  = threadIdx.x % 32;

  /*
     A lane has a reference inode; lower lanes have those of lower levels. What the stencil says does not
     depend on the ticket, so it is loaded before that comes.
  */
  const int own_point = lane < m.points[0] ? m.reference.point[lane] : 0, offset = lane < m.points[0] ? m.reference.offset[lane] : 0;
  int4      usual = {0, 0, 0, 0};

  if (lane < 2 * POINTS) usual = ((const int4 *)m.table->updates)[lane];
  const Ticket t = take_ticket(f.ticket);
  if (t >= (Ticket)f.tasks) return;
  const Room<B>            room(shared + (threadIdx.x / 32) * Room<B>::bytes(m.entries), m.entries);
  SyncILUStructBlocksPlace place;
  const Task               task  = load_task(m, t, place);
  const unsigned           lower = task.place.points & ((1u << POINTS) - 1);
  const unsigned           all   = lower | 1u << POINTS | task.place.points >> SyncILUStencilBit(1, 0) << (POINTS + 1); /* its entries, by number */
  const int                inode = task.inode, nl = __popc(lower), len = __popc(all) * B;
  double *const            w = room.w;

  copy_rows<B, true>(f.values, (size_t)task.begin * (B * B), len, w);
  commit_copies();
  const bool          has        = lane < m.points[0] && lower >> own_point & 1;
  const unsigned      there      = __ballot_sync(FULL, has);
  const int           references = __popc(there), reference = inode + (has ? offset : 0);
  const double *const flag  = pivot + (size_t)reference * B;
  bool                waits = has;

  first_look<B>(pivot, task.ancestor, flag, waits);
  if (has) room.upper[__popc(there & ((1u << lane) - 1))] = part_place<B>(m.tiles, place, 1);
  if (task.place.points == m.all) {
    if (lane < 2 * POINTS) ((int4 *)room.updates)[lane] = usual;
  } else {
    __syncwarp(); /* where they stand is there for all lanes */
    for (unsigned s = 0, rest = there; rest; s++, rest &= rest - 1) {
      const int      a      = __shfl_sync(FULL, own_point, __ffs(rest) - 1);
      const int      number = lane < m.points[1] && room.upper[s].mask >> lane & 1 ? m.table->target[a][lane] : -1;
      const bool     on     = number >= 0 && all >> number & 1;
      const unsigned us     = __ballot_sync(FULL, on);

      if (on)
        room.updates[s].word[__popc(us & ((1u << lane) - 1))] = (unsigned short)((m.tiles.part[1].entry >> 4 * lane & 15) << 8 |
                                                                                 __popc(all & ((1u << number) - 1)));
      if (lane == 0) {
        room.updates[s].count = (unsigned short)__popc(us);
        room.updates[s].block = (unsigned short)__popc(lower & ((1u << a) - 1));
      }
    }
  }
  __syncwarp(); /* updates are there for all lanes */

  /*
     What a lane has of a product (square.cuh): row r of the first factor and of the result, columns c and
     c + 1 of the result, column `of` of the second factor. With more than four rows the first product of tensor
     cores takes of the inner sum the numbers c of all lanes, the second one c + 1, so that a lane's two
     numbers of a factor are neighbours. With four, one product does for two updates: this lane has columns of
     the result of update `which` and of the second factor of update which_of.
  */
  const int           r = lane / 4, k = lane % 4, c = K == 2 ? 2 * k : 2 * k % 4, of = K == 2 ? r : r % 4;
  const int           which = K == 2 ? 0 : k / 2, which_of = K == 2 ? 0 : r / 4;
  const int           columns    = columns_of<B>(r, c);
  const size_t        block_size = (size_t)m.tiles.lines * (B * B);
  const double *const tiles      = (const double *)m.tiles.part[1].val + (K == 2 ? c : k);

  auto load = [&](const double *from, double(&x)[K]) {
    if (of >= B) return;
    if constexpr (K == 1) x[0] = *from;
    else get_two<B>(from, columns, x);
  };
  /* which updates of which reference inode come next, and how many of these have stored their blocks of U */
  int  s = 0, pass = 0, ready = 0;
  auto ask = [&](Step<MORE, K> &a) {
    a.place = -1;
    if (s == references) return;
    while (s == ready) {
      const unsigned rest = __ballot_sync(FULL, waits);

      ready = __popc(there & ((rest & (0u - rest)) - 1));
      if (s == ready && waits) waits = !is_set(load_acquire(flag));
      __syncwarp(); /* blocks of U of inodes that are ready are there for all lanes */
    }
    const Updates      &us    = room.updates[s];
    const int           count = us.count;
    const PartPlace    &at    = room.upper[s];
    const double *const from  = tiles + at.begin * B + SyncILUStructBlocksColumn(B, m.tiles.lines, at.line, of);

    a.place = us.block;
    a.first = pass == 0;
#pragma unroll
    for (int g = 0; g < MORE; g++) {
      const int own = pass + EACH * g + which, asked = pass + EACH * g + which_of;

      a.word[g] = own < count ? us.word[own] : -1;
      if (asked < count) load(from + (us.word[asked] >> 8) * block_size, a.u[g]);
    }
    pass += EACH * MORE;
    a.last = pass >= count;
    if (a.last) {
      pass = 0;
      s++;
    }
  };

  double        part[K]; /* of -W_ik, as the first factors of products */
  Step<MORE, K> steps[DEPTH];
#pragma unroll
  for (int j = 0; j < DEPTH; j++) {
#pragma unroll
    for (int h = 0; h < K; h++) {
#pragma unroll
      for (int g = 0; g < MORE; g++) steps[j].u[g][h] = 0.0;
    }
  }
  auto make = [&](int j) {
    const Step<MORE, K> &now = steps[j];

    if (now.first) {
      const double *const block = w + now.place * STRIDE<B>;

#pragma unroll
      for (int h = 0; h < K; h++) part[h] = 0.0;
      if constexpr (K == 2) get_two<B>(block + turn<B>(r, c), columns, part);
      else if (r < B) part[0] = block[r * B + k];
#pragma unroll
      for (int h = 0; h < K; h++) part[h] = -part[h];
    }
    double x[MORE][2] = {};

#pragma unroll
    for (int g = 0; g < MORE; g++)
      if (now.word[g] >= 0) get_two<B>(w + (now.word[g] & 255) * STRIDE<B> + turn<B>(r, c), columns, x[g]);
#pragma unroll
    for (int h = 0; h < K; h++) {
#pragma unroll
      for (int g = 0; g < MORE; g++) add_square_product(x[g][0], x[g][1], part[h], now.u[g][h]);
      if (h == 0) {
        /*
           After the factors have come: the compiler counts the loads of both steps together. If the next ones
           were asked for before, it would wait for these too.
        */
        __syncwarp();
        ask(steps[(j + DEPTH - 1) % DEPTH]);
      }
    }
#pragma unroll
    for (int g = 0; g < MORE; g++)
      if (now.word[g] >= 0) put_two<B>(w + (now.word[g] & 255) * STRIDE<B> + turn<B>(r, c), columns, x[g]);
    if (now.last) __syncwarp(); /* the updates by this reference inode come before the next one's */
  };
  auto begin = [&] {
#pragma unroll
    for (int j = 0; j + 1 < DEPTH; j++) ask(steps[j]);
  };

  if (EARLY) begin();
  wait_copies<0>();
  __syncwarp(); /* the rows are there for all lanes */
  if (!EARLY) begin();
  for (bool more = true; more;) {
#pragma unroll
    for (int j = 0; j < DEPTH; j++) {
      if (more) more = steps[j].place >= 0;
      if (more) make(j);
    }
  }

  __syncwarp(); /* all lanes have read which updates there are, where the inverse will be */
  double x[2] = {0.0, 0.0};

  get_two<B>(w + nl * STRIDE<B> + turn<B>(lane / 4, 2 * (lane % 4)), columns_of<B>(lane / 4, 2 * (lane % 4)), x);
  finish<B, false>(f, m, task, nl, len / B, room, x);
}

/*
   Where only diagonal blocks have updates, one by each reference inode: a product's result is the diagonal
   block, which stays in registers. MANY products are asked for at once.

   A block of U is loaded once, a level after it was stored. The second-level cache takes in more than it
   holds meanwhile, so it is told to keep blocks of U (cache.cuh). SYNCILU_BSR_GRID_SLAB says how many bytes
   of them it can keep. The cache is at 89 % of its throughput, so each request less makes the kernel faster.
   7 points with 8 unknowns, ms on an H200:

                                                                  128^3   160^3
     with slabs                                                            9.40
     one request for a task and places of reference inodes         4.93    9.62
     all pivots are released in one request                        4.97    9.73
     columns side by side (SyncILUStructBlocksBeside()), U kept    5.03    9.81
     columns side by side                                          5.29   10.1
     one column after the other                                    5.5    10.6

   What was tried without gain, ms on 128^3, and to be compared with:

     what is read or written once is evicted first                 5.19    5.03
     copy_bulk() brings the rows                                   5.19    5.03
     copies of rows go past the first-level cache                  5.6     5.34
     shared memory has more, and the first-level cache less        5.8     5.34
     40 warps a multiprocessor, of 48 registers a thread           6.1     5.34
     a warp takes its next ticket while it works on an inode       6.7     5.5
     and has the rows of the next inode copied meanwhile           7.0     5.5

   The 5.34 are columns side by side, where each inode looked at its ancestor.
*/
template <int B>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR, 8) bsr_grid_diagonal_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrGrid m)
{
  constexpr int     K = B > 4 ? 2 : 1, MANY = 3;
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     lane = threadIdx.x % 32, r = lane / 4, k = lane % 4, columns = columns_of<B>(r, 2 * k);
  /* a lane has a reference inode; what the stencil says of it does not depend on the ticket */
  const bool there     = lane < m.points[0];
  const int  own_point = there ? m.reference.point[lane] : 0, offset = there ? m.reference.offset[lane] : 0, entry = there ? m.reference.diagonal[lane] : -1;

  const Ticket t = take_ticket(f.ticket);
  if (t >= (Ticket)f.tasks) return;
  const Room<B>            room(shared + (threadIdx.x / 32) * Room<B>::bytes(m.entries), m.entries);
  SyncILUStructBlocksPlace place;
  const Task               task  = load_task(m, t, place);
  const unsigned           lower = task.place.points & ((1u << POINTS) - 1);
  const int                nl = __popc(lower), blocks = __popc(task.place.points) + 1;
  const double *const      pivot = (const double *)f.pivot;

  copy_rows<B, true>(f.values, (size_t)task.begin * (B * B), blocks * B, room.w);
  commit_copies();

  /* where the second factor of its product is, and the first one, which is -W_ik */
  const int                own_block = __popc(lower & ((1u << own_point) - 1));
  bool                     has = entry >= 0 && lower >> own_point & 1, waits = has;
  const int                reference = task.inode + (has ? offset : 0);
  const double *const      flag      = pivot + (size_t)reference * B;
  const PartPlace          at        = part_place<B>(m.tiles, place, 1);
  const unsigned long long from      = at.begin * B + (unsigned long long)entry * m.tiles.lines * (B * B);

  has                       = has && at.mask >> (m.tiles.part[1].at >> 4 * entry & 15) & 1;
  const double *const tiles = (const double *)m.tiles.part[1].val + K * k;
  const double *const row   = room.w + turn<B>(r, K * k);
  double *const       mine  = room.w + nl * STRIDE<B> + turn<B>(r, 2 * k);
  unsigned            rest = __ballot_sync(FULL, has), waiting = __ballot_sync(FULL, waits);
  double              x[2] = {0.0, 0.0};
  auto                load = [&](const double *numbers, double(&y)[K]) {
    if (r >= B) return;
    if constexpr (K == 1) y[0] = *numbers;
    else get_two<B>(numbers, columns, y);
  };

  for (bool begun = false; rest || !begun; begun = true) {
    double u[MANY][K] = {}, part[MANY][K] = {};
    int    block[MANY];

#pragma unroll
    for (int g = 0; g < MANY; g++) {
      const int source = __ffs(rest) - 1; /* -1: there is none */

      rest &= rest - 1;
      block[g] = source < 0 ? -1 : __shfl_sync(FULL, own_block, source);
      if (source < 0) continue;
      /* a lane's numbers of column r */
      const double *const asked = tiles + __shfl_sync(FULL, from, source) + SyncILUStructBlocksColumn(B, m.tiles.lines, __shfl_sync(FULL, at.line, source), r);

      while (waiting >> source & 1) {
        if (waits) waits = !is_set(load_acquire(flag));
        waiting = __ballot_sync(FULL, waits);
      }
      __syncwarp(); /* that inode's blocks are there for all lanes */
      load(asked, u[g]);
    }
    if (!begun) {
      wait_copies<0>();
      __syncwarp(); /* the rows are there for all lanes */
      get_two<B>(mine, columns, x);
    }
#pragma unroll
    for (int g = 0; g < MANY; g++) {
      if (block[g] < 0) continue;
      load(row + block[g] * STRIDE<B>, part[g]);
#pragma unroll
      for (int h = 0; h < K; h++) add_square_product(x[0], x[1], -part[g][h], u[g][h]);
    }
  }
  put_two<B>(mine, columns, x);
  finish<B, true>(f, m, task, nl, blocks, room, x);
}

/* A thread fills one piece of a task. */
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  tasks_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ order, int throttle, SyncILUDeviceBsrGrid m, int2 *__restrict__ task)
{
  const long long t = global_thread() >> m.pieces, before = t - throttle;
  const int       piece = (int)(global_thread() & ((1 << m.pieces) - 1)), head = piece - m.points[0];

  if (t >= n) return;
  const int i     = order[t];
  auto      place = [&](int k) -> int2 { return {(int)m.tiles.place[k].number, (int)m.tiles.place[k].points}; };
  int2      x     = {0, 0};

  if (head < 0) {
    if (m.tiles.place[i].points >> m.reference.point[piece] & 1) x = place(i + m.reference.offset[piece]);
  } else if (head == 0) x = {i, ptr[i]};
  else if (head == 1) x = place(i);
  else x = {throttle <= 0 || before < 0 ? -1 : order[before], 0};
  task[(t << m.pieces) + piece] = x;
}

__global__ void __launch_bounds__(SYNCILU_BLOCK) slabs_kernel(int n, const int *__restrict__ order, int inodes, int *__restrict__ slab)
{
  const long long t = global_thread();

  if (t < n) slab[t] = order[t] / inodes;
}

template <int B>
size_t bytes_of(int size, int entries)
{
  if constexpr (B > SYNCILU_BSR_GRID_LEAST) {
    if (size < B) return bytes_of<B - 1>(size, entries);
  }
  return Room<B>::bytes(entries);
}

template <int B>
cudaError_t launch_grid(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrGrid &m, cudaStream_t stream)
{
  if constexpr (B > SYNCILU_BSR_GRID_LEAST) {
    if (m.size < B) return launch_grid<B - 1>(f, m, stream);
  }
  const size_t   bytes = m.warps * Room<B>::bytes(m.entries);
  const unsigned grid = blocks_for(f.tasks, m.warps), block = 32 * m.warps;
  constexpr int  DEPTH = B > 6 ? 3 : 2, BLOCKS = B == 4 ? 8 : B < 7 ? 7 : 5;

  if (m.products == 0) bsr_grid_diagonal_kernel<B><<<grid, block, bytes, stream>>>(f, m);
  else if (m.products == 2) bsr_grid_kernel<B, 2, DEPTH, BLOCKS><<<grid, block, bytes, stream>>>(f, m);
  else if constexpr (B > 6) {
    if (m.products == 4) bsr_grid_kernel<B, 4, 2, 5><<<grid, block, bytes, stream>>>(f, m);
    else bsr_grid_kernel<B, 8, 2, 3><<<grid, block, bytes, stream>>>(f, m);
  } else if constexpr (B == 6) bsr_grid_kernel<B, 4, 3, 4><<<grid, block, bytes, stream>>>(f, m);
  else return cudaErrorNotSupported;
  return cudaGetLastError();
}

} // namespace

size_t SyncILUKernelFactorBsrGridBytes(int size, int entries)
{
  return bytes_of<SYNCILU_INODE_MOST>(size, entries);
}

cudaError_t SyncILUKernelBsrGridTasks(int n, const int *ptr, const int *order, int throttle, SyncILUDeviceBsrGrid m, void *task, cudaStream_t stream)
{
  LAUNCH(tasks_kernel, (long long)n << m.pieces, stream, n, ptr, order, throttle, m, (int2 *)task);
}

cudaError_t SyncILUKernelBsrGridSlabs(int n, const int *order, int inodes, int *slab, cudaStream_t stream)
{
  LAUNCH(slabs_kernel, n, stream, n, order, inodes, slab);
}

cudaError_t SyncILUKernelFactorBsrGrid(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBsrGrid m, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.size < SYNCILU_BSR_GRID_LEAST || m.size > SYNCILU_INODE_MOST || f.piv.type != SYNCILU_PIVOT_REJECT || f.piv.relax != 0.0 ||
      f.size || !m.tiles.place)
    return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_grid<SYNCILU_INODE_MOST>(f, m, stream);
}
