/*
   Update strategy bsr from lists (factor_bsr_list.h), for inodes of five rows or more. A warp has an inode.
   It stores the inode as soon as this is finished: in the tiles of the solves, where these go along the
   lines of a grid, else on the pattern of the rows. What other inodes need of it is stored a second time,
   apart, in an order that only this kernel knows. The rows of the inode are in shared memory, block by block.

     for each reference inode k of inode i:  W_ik = W_ik (I + U'_kk)^-1, W_ij -= W_ik U'_kj for j in the list
     then within the inode, row after row:   d_r, u'_r = w_r / d_r, w_s -= w_sr u'_r for the rows s behind

   Shared memory has room for few inodes at a time, so the time that one inode takes counts. All products
   are made by tensor cores (square.cuh), and what others need is stored as these want it: (I + U'_kk)^-1 in
   place of U'_kk, and each block by itself, column by column. So the two numbers of a block that a lane
   needs are neighbours, and a warp reads a block in one piece. On an H200, 27 points with 8 unknowns, 72^3,
   take 11.1 ms, but 15.5 ms with U' by rows, as in factor_bsr_list.cu, and 17 ms with two warps an inode.
   Stored on the pattern of the rows, 15 points along a curve take, in ms, by this kernel and by that one:
   with 8 unknowns, 64^3, 2.84 and 3.55, 32^3 0.530 and 0.703; with 6, 48^3, 0.92 and 1.43; with 5, 64^3,
   1.73 and 2.54; with 7, 40^3, in random order, 0.67 and 1.02.

   The updates by one reference inode always come before those by the next one, so results do not depend on
   timing. Each number that is waited for is its own flag. The form is that of factor_rows.cuh. Progress is as
   syncfree.cuh says: all that an inode waits for belongs to lower tickets.
*/
#include "factor_bsr_tiles.h"
#include "bsr_rows.cuh"
#include "bsr_tiles.cuh"
#include "pivot.cuh"
#include "square.cuh"

using namespace syncilu;

namespace
{

/*
   Where number p of column c stands in a block that other inodes read. With eight rows the order within a
   column is 0 4 1 5 2 6 3 7, so that the two numbers of a lane are a pair.
*/
template <int B>
__device__ __forceinline__ int place_in_block(int p, int c)
{
  return c * B + (B == 8 ? p % 4 * 2 + p / 4 : p);
}

/*
   Stores blocks that other inodes read, so many numbers of them, from shared memory, where they stand STRIDE
   numbers apart. The lanes store successive numbers: each line of the cache is asked for once.
*/
template <int B>
__device__ __forceinline__ void store_apart(const double *w, int numbers, double *to)
{
  const int      lane = threadIdx.x % 32;
  const Eviction last = evict_last();

  if constexpr (B == 8) { /* a block at a time, of which a lane has rows p and p + 4 of a column: see place_in_block() */
    w += lane % 4 * B + lane / 4;
    for (int q = 2 * lane; q < numbers; q += 64, w += STRIDE<B>) store_relaxed_pair_by(last, to + q, clean(w[0]), clean(w[4 * B]));
  } else { /* a block at a time, of which a lane has numbers `lane` and 32 + lane in the order of columns */
    const int  first = lane % B * B + lane / B, second = (32 + lane) % B * B + (32 + lane) / B;
    const bool more = 32 + lane < B * B;

    static_assert(B * B > 32 && B * B <= 64, "two numbers a lane");
    for (int q = 0; q < numbers; q += B * B, w += STRIDE<B>) {
      store_relaxed_by(last, to + q + lane, clean(w[first]));
      if (more) store_relaxed_by(last, to + q + 32 + lane, clean(w[second]));
    }
  }
}

/* What shared memory has of an inode. */
template <int B>
struct Room {
  double                   *w;      /* its blocks */
  const int2               *word;   /* its list */
  SyncILUStructBlocksPlace *place;  /* in the tiles of the solves */
  double                   *inside; /* its diagonal block: reciprocal pivots, W and U' */

  static __host__ __device__ size_t round(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static __host__ __device__ size_t bytes(int entries, int words)
  {
    return round((size_t)entries * STRIDE<B> * sizeof(double)) + round((size_t)(words + 1) * sizeof(int2)) + round(B * B * sizeof(double));
  }
  __device__ Room(unsigned char *memory, int entries, int words)
  {
    w = (double *)memory;
    memory += round((size_t)entries * STRIDE<B> * sizeof(double));
    word   = (const int2 *)memory;
    place  = (SyncILUStructBlocksPlace *)(word + words);
    inside = (double *)(memory + round((size_t)(words + 1) * sizeof(int2)));
  }
};

/*
   MORE updates by a reference inode, whose values are being loaded. A number of u that this lane does not load
   keeps its old value, zero or that of an earlier update; what is computed from it is not stored. One of
   `inside` is that of a unit triangle.
*/
template <int MORE>
struct Step {
  int      place;          /* the block W_ik; -1: there are no more */
  bool     first;          /* of the reference inode */
  int      left;           /* how many updates there are by it from here on */
  int      at;             /* where the lane's first number of (I + U'_kk)^-1 stands */
  unsigned word[MORE / 2]; /* of the list, two updates in each */
  double   u[MORE][2], inside[2];

  /* Of an update, the entry of U' of the reference inode, and the entry of the inode. */
  __device__ __forceinline__ unsigned source(int g) const { return word[g / 2] >> (g % 2 * 16 + 8) & 255; }
  __device__ __forceinline__ unsigned target(int g) const { return word[g / 2] >> g % 2 * 16 & 255; }
};

/*
   A step has MORE updates, two or four. BLOCKS, the least number of blocks of a multiprocessor, bounds the
   registers of a thread. Where levels are wide, more warps are worth more than registers, and a few of these
   spill: there are 7 blocks, and a step has two updates; with eight rows, if reference inodes make many
   updates, 5 blocks and four updates. In other levels a step has four updates, with 4 blocks (5 with six
   rows), where reference inodes make many, and two, with 4 blocks, where they make few; with five rows always
   two, with 6 blocks. ms on an H200 with MORE, BLOCKS:

     unknowns, points, inodes a level         4, 4    4, 5    2, 4    2, 5    2, 6    2, 7
     5, 15 in random order, 40^3, 2100       0.534   0.473   0.529   0.529   0.482   0.462
     5, 15 along a curve, 40^3                       0.633                   0.649   0.679
     5, 27, 32^3, 150                                1.206                   1.199   1.320
     6, 15 in random order, 44^3, 2800       0.780   0.705   0.781   0.786   0.721   0.682
     6, 15 along a curve, 36^3                       0.559                           0.614
     7, 15 in random order, 40^3, 2100       0.736   0.723   0.807   0.736   0.702   0.687
     7, 15 along a curve, 36^3               0.711   0.861                           0.884
     8, 15 in random order, 38^3, 1900       0.653   0.629   0.726   0.684   0.692   0.717
     8, 15 along a curve, 44^3               0.985   1.035                           1.181

   In random order one step in a hundred waits for another warp, so it is memory that decides: with 8
   unknowns, 38^3, 1.9 GB come from it or go there. 0.9 GB are blocks of U' that are read again when the
   second-level cache has lost them: it keeps 50 MB, and a level has 37. The memset of sentinels before this
   kernel takes 7 % of the time. What was tried, and the parts of the time that it took: sentinels filled by
   this kernel, some thousand inodes ahead, 1.04 to 2; blocks copied to shared memory 8 blocks ahead 1.1 to 1.3,
   32 ahead 1.7 to 2.1; rows brought to the second-level cache 1,000 to 5,000 inodes ahead 1.03 to 1.11; what
   others need in the order of the tasks 0.99 to 1.05; three steps at a time in place of two 1.00; one flag an
   inode in place of a sentinel for each number 0.97 to 1.06.
*/
template <int B, int MORE, int BLOCKS>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR, BLOCKS) bsr_tiles_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrLists m)
{
  constexpr int BB = B * B;
  /*
     What others wait for is stored by all lanes together, when all of it is there, and the second-level cache
     keeps it before the rows. With five rows each lane stores its columns at once: 27 points, 32^3, took 1.48
     ms so, and 1.55 together.
  */
  constexpr bool    TOGETHER = B > 5;
  extern __shared__ __align__(16) unsigned char shared[];
  double *const val = (double *)f.val, *const pivot = (double *)f.pivot;
  const int    lane = threadIdx.x % 32;
  const Ticket t    = take_ticket(f.ticket);

  if (t >= (Ticket)f.tasks) return;
  const Room<B>               room(shared + (threadIdx.x / 32) * Room<B>::bytes(m.entries, m.words), m.entries, m.words);
  const int4                  task  = ((const int4 *)m.task)[t];
  const int                   inode = task.x, begin = task.y, list = task.z, nl = task.w & 255, len = (task.w >> 8 & 255) * B, words = task.w >> 16;
  const size_t                own       = (size_t)begin * BB; /* where its rows begin */
  double *const               w         = room.w;
  const int2 *const           reference = room.word + 1;
  const unsigned short *const update    = (const unsigned short *)(reference + nl);
  /*
     Of a product this lane has row r and columns c and c + 1; of a second factor it has rows k and 4 + k of
     column r.
  */
  const int  r = lane / 4, k = lane % 4, c = 2 * k;
  const int  columns = columns_of<B>(r, c);
  const bool below   = r < B && 4 + k < B;

  for (int q = lane; q < words; q += 32) copy_if(true, (double *)room.word + q, (const double *)m.word + list + q);
  copy_if(lane == 0 && m.tiles.place, (double *)room.place, (const double *)(m.tiles.place + inode));
  copy_rows<B, false, TOGETHER>(f.values, own, len, w);
  commit_copies();
  wait_copies<0>();
  __syncwarp(); /* rows and list are there for all lanes */
  const double shift = diagonal_shift(f.piv);
  if (shift != 0.0) {
    if (lane < B) w[nl * STRIDE<B> + lane * (B + 1)] += shift;
    __syncwarp(); /* so is the shift */
  }
  if (f.throttle > 0 && t >= (Ticket)f.throttle) wait_for_ancestor(pivot + (size_t)f.order[t - f.throttle] * B, true);

  /* of the next updates: the number of their reference inode, their place in the list, how many it still has */
  int  s = 0, next = 0, left = 0;
  auto load = [&](Step<MORE> &a) {
    const double *const from = fixed_pointer(val + a.at + BB); /* the first block of U' */

#pragma unroll
    for (int g = 0; g < MORE; g++) {
      if (g >= a.left || r >= B) continue;
      const double *const block = from + (size_t)a.source(g) * BB;

      if constexpr (B == 8) load_relaxed_pair(block, a.u[g]);
      else {
        a.u[g][0] = load_relaxed(block);
        if (below) a.u[g][1] = load_relaxed(block + 4);
      }
    }
    /* the diagonal of (I + U'_kk)^-1 is one, and zeros are below it: these are not loaded */
    if (a.first && r < B && k < r) a.inside[0] = load_relaxed(from - BB);
    if (a.first && r < B && 4 + k < r) a.inside[1] = load_relaxed(from - BB + (B == 8 ? 1 : 4));
  };
  auto ask = [&](Step<MORE> &a) {
    a.place = -1;
    if (s == nl) return;
    const int2 q = reference[s];

    a.place = q.y >> 16 & 255;
    a.first = left <= 0;
    if (a.first) left = q.y >> 24 & 255;
    a.left = left;
    a.at   = (q.x + (q.y & 255)) * BB + place_in_block<B>(k, r);
    if constexpr (MORE == 4) {
      const int2 two = *(const int2 *)(update + next);

      a.word[0] = (unsigned)two.x;
      a.word[1] = (unsigned)two.y;
    } else a.word[0] = *(const unsigned *)(update + next);
    load(a);
    left -= MORE;
    next += MORE;
    if (left <= 0) {
      if constexpr (MORE < 4) next = (next + 3) & ~3; /* see SyncILUBsrListUpdates() */
      s++;
    }
  };
  auto missing = [&](const Step<MORE> &a) {
    auto     high = [](double v) { return (unsigned)__double2hiint(v); };
    unsigned most = max(high(a.inside[0]), high(a.inside[1])); /* a sentinel has the largest one: see is_set() */

#pragma unroll
    for (int g = 0; g < MORE; g++) most = max(most, max(high(a.u[g][0]), high(a.u[g][1])));
    return most == ~0u;
  };

  /* where the lane's numbers of the first block stand in shared memory */
  const unsigned at_mine = fixed_number((unsigned)((unsigned char *)(w + r * B + c) - shared));
  auto           mine    = [&](unsigned block) { return (double *)(shared + at_mine + block * (STRIDE<B> * sizeof(double))); };
  double         part[2]; /* of -W_ik, as the first factors of squares */
  Step<MORE>     steps[2];
#pragma unroll
  for (int j = 0; j < 2; j++) {
#pragma unroll
    for (int g = 0; g < MORE; g++) steps[j].u[g][0] = steps[j].u[g][1] = 0.0;
    steps[j].inside[0] = k == r;
    steps[j].inside[1] = 4 + k == r;
  }
  auto make = [&](int j) {
    Step<MORE> &now  = steps[j];
    bool        wait = __any_sync(FULL, missing(now));

    /* after the test above, since the compiler waits for the loads of both steps together */
    ask(steps[1 - j]);
    if (wait) {
      for (; wait; wait = __any_sync(FULL, missing(now)))
        if (missing(now)) load(now);
      /* values of the next step may have arrived meanwhile: look once, and do not wait */
      if (steps[1 - j].place >= 0 && missing(steps[1 - j])) load(steps[1 - j]);
    }
    if (now.first) {
      double *const result = mine(now.place), *const factor = result - c + k;
      double l[2] = {0.0, 0.0};

      __syncwarp(); /* the updates by the reference inodes before are made */
      add_square_product(l[0], l[1], r < B ? factor[0] : 0.0, now.inside[0]);
      add_square_product(l[0], l[1], below ? factor[4] : 0.0, now.inside[1]);
      __syncwarp(); /* all have read W_ik as it was */
      put_two<B>(result, columns, l);
      __syncwarp(); /* W_ik is there for all lanes: a lane needs other numbers of it as first factors */
      part[0] = r < B ? -factor[0] : 0.0;
      part[1] = below ? -factor[4] : 0.0;
    }
    double x[MORE][2] = {};

    /* With eight rows a lane also reads where there is no update: the word is zero, and names the first block. */
#pragma unroll
    for (int g = 0; g < MORE; g++)
      if (B == 8 || g < now.left) get_two<B>(mine(now.target(g)), columns, x[g]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int g = 0; g < MORE; g++) add_square_product(x[g][0], x[g][1], part[h], now.u[g][h]);
    }
#pragma unroll
    for (int g = 0; g < MORE; g++)
      if (g < now.left) put_two<B>(mine(now.target(g)), columns, x[g]);
  };
  ask(steps[0]);
  for (;;) {
    if (steps[0].place < 0) break;
    make(0);
    if (steps[1].place < 0) break;
    make(1);
  }
  __syncwarp(); /* all updates are made */

  /*
     From the diagonal on a lane has a column, of all rows. The columns of the inode itself, of which come the
     pivots and the multipliers of the rows behind one another, are those of the first lanes.
  */
  const int    upper     = len - nl * B;
  const size_t apart     = (size_t)room.word->x * BB; /* where what others read begins */
  double       own_found = 0.0;                       /* the pivot of the row of the lane, without shift */
  /* the first row with a u' = u / d that is not finite though u is: the host stores u, and would go on */
  int lost = B;
  /* first whether a number is not finite, which is rare, and then which one is the first */
  auto look = [&](const double(&v)[B], const double(&u)[B], int rows) {
    Largest largest;

#pragma unroll
    for (int p = 0; p < B; p++)
      if (p < rows) largest.see(u[p]);
    if (!largest.lost()) return;
#pragma unroll
    for (int p = 0; p < B; p++)
      if (p < rows && !isfinite(u[p]) && isfinite(v[p])) lost = min(lost, p);
  };
  auto column = [&](int q) { return w + (nl + q / B) * STRIDE<B> + q % B; };
  /* of a column of another block, what others wait for, and what is stored at the end */
  auto finish = [&](int q, const double(&v)[B], const double(&u)[B]) {
    double *const to = val + apart + q / B * BB + q % B * B, *const keep = column(q);

    if constexpr (!TOGETHER) {
#pragma unroll
      for (int p = 0; p < B; p++) store_relaxed(to + p, clean(u[p]));
    }
#pragma unroll
    for (int p = 0; p < B; p++) keep[p * B] = u[p];
    look(v, u, B);
  };
  {
    const bool has = lane < upper;
    double     v[B], u[B], inverse = 0.0;

#pragma unroll
    for (int i = 0; i < B; i++) v[i] = has ? column(lane)[i * B] : 0.0;
#pragma unroll
    for (int p = 0; p < B; p++) {
      const double found = __shfl_sync(FULL, v[p], p);
      const double by    = reciprocal_in_inode(f.piv, found);
      double       l[B];

#pragma unroll
      for (int i = p + 1; i < B; i++) l[i] = __shfl_sync(FULL, v[i], p);
      u[p] = v[p] * by;
      if (lane > p) {
#pragma unroll
        for (int i = p + 1; i < B; i++) v[i] -= l[i] * u[p];
      }
      if (lane == p) {
        own_found = found;
        inverse   = by;
      }
    }
    if (lane < B) { /* W and U' within the inode */
#pragma unroll
      for (int i = 0; i < B; i++) room.inside[i * B + lane] = i < lane ? u[i] : i == lane ? inverse : v[i];
      look(v, u, lane);
    } else if (has) finish(lane, v, u);
  }
  __syncwarp(); /* the diagonal block is there for all lanes */
  double x[B];  /* a column of one of its inverses */
  invert_triangles<double, B, 32>(room.inside, true, x);
  if (lane >= B && lane < 2 * B) { /* of I + U', from its end */
    const int last = 2 * B - 1 - lane;

#pragma unroll
    for (int i = 0; i < B; i++)
      if (i > last) {
        if constexpr (TOGETHER) w[nl * STRIDE<B> + (B - 1 - i) * B + B - 1 - last] = x[i]; /* where the diagonal block was */
        else store_relaxed(val + apart + place_in_block<B>(B - 1 - i, B - 1 - last), clean(x[i]));
      }
  }
  for (int q = 32 + lane; q < upper; q += 32) {
    double v[B], u[B];

#pragma unroll
    for (int i = 0; i < B; i++) v[i] = column(q)[i * B];
#pragma unroll
    for (int p = 0; p < B; p++) {
      u[p] = v[p] * room.inside[p * (B + 1)];
#pragma unroll
      for (int i = p + 1; i < B; i++) v[i] -= room.inside[i * B + p] * u[p];
    }
    finish(q, v, u);
  }
  if constexpr (TOGETHER) {
    __syncwarp(); /* all that others wait for is there for all lanes */
    store_apart<B>(w + nl * STRIDE<B>, upper * B, val + apart);
  }
  if (lost < B) report(&f.status->row, inode * B + lost);
  if (lane < B) {
    store_relaxed(pivot + inode * B + lane, clean(shifted_pivot(f.piv, own_found)));
    (void)judge(f.piv, inode * B + lane, own_found, f.status);
  }
  __syncwarp(); /* all have U' where W was, and read the diagonal block, whose place its inverses take */
  if (!m.tiles.place) {
    double *const rows = (double *)m.rows + own;
    Largest       largest; /* of (I + U')^-1, which others need and the host does not have */

    for (int q = lane; q < len; q += 32) {
      const int     b = q / B, j = q % B, diagonal = b == nl ? j : B; /* the row of the pivot, which is not stored */
      const double *block = b == nl ? room.inside : w + b * STRIDE<B>;

#pragma unroll
      for (int i = 0; i < B; i++)
        if (i != diagonal) rows[(size_t)i * len + q] = block[i * B + j];
    }
#pragma unroll
    for (int i = 0; i < B; i++)
      if (lane >= B && lane < 2 * B) largest.see(x[i]);
    report_inverses<double, B, STRIDE<B>>(largest, inode, len / B, nl, w, f.status);
    return;
  }
  place_inverses<double, B, 32>(room.inside, true, x);
  __syncwarp(); /* they are there */
  store_by_triangles<double, B, STRIDE<B>, 32>(m.tiles, inode, *room.place, nl, w, room.inside, f.status);
}

template <int B>
size_t bytes_of(int size, int entries, int words)
{
  if constexpr (B > SYNCILU_BSR_TILES_LEAST) {
    if (size < B) return bytes_of<B - 1>(size, entries, words);
  }
  return Room<B>::bytes(entries, words);
}

template <int B>
cudaError_t launch_tiles(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrLists &m, cudaStream_t stream)
{
  if constexpr (B > SYNCILU_BSR_TILES_LEAST) {
    if (m.inodes.size < B) return launch_tiles<B - 1>(f, m, stream);
  }
  const size_t   bytes = m.warps * Room<B>::bytes(m.entries, m.words);
  const unsigned grid = blocks_for(f.tasks, m.warps), block = 32 * m.warps;
  /* updates of a step in wide levels; blocks of a multiprocessor there, and elsewhere */
  constexpr int MORE = B < 8 ? 2 : 4, WIDE = B < 8 ? 7 : 5, MANY = B == 6 ? 5 : 4, FEW = B == 5 ? 6 : 4;

  if (m.wide && (B < 8 || m.many)) bsr_tiles_kernel<B, MORE, WIDE><<<grid, block, bytes, stream>>>(f, m);
  else if (B == 5 || !m.many) bsr_tiles_kernel<B, 2, FEW><<<grid, block, bytes, stream>>>(f, m);
  else if constexpr (B > 5) bsr_tiles_kernel<B, 4, MANY><<<grid, block, bytes, stream>>>(f, m);
  return cudaGetLastError();
}

} // namespace

size_t SyncILUKernelFactorBsrTilesBytes(int size, int entries, int words)
{
  return bytes_of<SYNCILU_INODE_MOST>(size, entries, words);
}

cudaError_t SyncILUKernelFactorBsrTiles(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBsrLists m, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.inodes.size < SYNCILU_BSR_TILES_LEAST || m.inodes.size > SYNCILU_INODE_MOST || f.piv.relax != 0.0 || f.size || !m.apart ||
      (!m.tiles.place && !m.rows))
    return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_tiles<SYNCILU_INODE_MOST>(f, m, stream);
}
