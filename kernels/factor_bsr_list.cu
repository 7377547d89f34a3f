/*
   Update strategy bsr where the plan has lists: which blocks of the reference inodes of each inode meet which
   of its own is written down, and nothing is searched. A warp has an inode, or several of few lanes each, or
   several warps have one; its rows are at work in shared memory, block by block.

     for each reference inode k of inode i:    W_ik = W_ik (I + U'_kk)^-1, W_ij -= W_ik U'_kj for those j in the list
     then within the inode, row after row:     d_r, u'_r = w_r / d_r, w_s -= w_sr u'_r for the rows s behind

   What a level takes is what stands between the arrival of the last values that an inode waits for and its
   own. So a lane has two numbers of a row of W_ij, and what it has of U'_kj comes straight into its registers,
   asked for while the updates before are made; each lane computes the row of W_ik that is multiplied with.
   Products are those of the tensor cores, of a block each or of four, but with two rows. Where lanes have
   several blocks, several W_ij are updated at the same time.

   Where the solves go along the lines of a grid, an inode that one warp has goes to their storage as soon as
   it is finished. Then, and with five rows or more, what others read of it is stored apart.

   A reference inode's updates come before those of the next one in every case, so that results do not depend
   on who has an inode. The form is that of factor_rows.cuh: A = (W + D)(I + U'), each u' its own flag.
   Progress is as syncfree.cuh says: all that an inode waits for belongs to lower tickets, its warps wait for
   each other alone, and inodes of a warp that wait for each other have turns, in the order of their tickets.
*/
#include "factor_bsr_list.h"
#include "async.cuh"
#include "bsr_tiles.cuh"
#include "entries.cuh"
#include "pivot.cuh"
#include "square.cuh"

using namespace syncilu;

namespace
{

/*
   How lanes share the numbers of blocks. With two rows a lane has a row of a block, and as many blocks are
   updated at the same time as an inode has lanes for.

   Others are updated by the products of square.cuh, two of them, whose sum has two numbers of a row in each
   lane. With more than four rows that is the product of two blocks: four columns of W_ik times four rows of
   U'_kj, and the others. With three or four rows it is that of W_ik with four blocks, each of which has a
   quarter of the sum: first W_ik stands above, and two blocks U'_kj stand side by side, then it stands below,
   and they are two others.
*/
template <int B>
struct Share {
  static constexpr bool SQUARES = B > 2, FOUR = B == 3 || B == 4;
  static constexpr int  G       = B == 2 ? 2 : FOUR ? 8 : 32; /* lanes of a block */
  static constexpr int  NUMBERS = B == 2 ? 4 : 2;             /* of U'_kj that a lane has */
  static constexpr bool PIECES  = B == 2 || B == 4;           /* the rows of the matrix are copied by pairs */
  /* of blocks in shared memory, so that those of successive blocks stand in other banks */
  static constexpr int STRIDE = B * B + (B % 2 ? 0 : B);
};

/*
   Steps whose values are in registers or on their way, and blocks of a multiprocessor at least. Where a warp
   has inodes, how many are at work counts, and not how far ahead they ask. On an H100, ms, with three steps and
   so more registers, and with two: 27 points, 2 unknowns, 72^3 1.81 and 1.58; 15 points, 4 unknowns, 36^3 in
   random order 0.280 and 0.239; 13 points, 8 unknowns, 36^3 1.52 and 1.40; 13 points of a star, 2 unknowns,
   94^3, 8 lanes an inode 1.69 and 1.57. With five unknowns and more a step has two updates, which on an H200
   takes 0.76 to 0.98 of the time of one (27 points, 6 unknowns, 36^3 2.69 and 2.03; 8 unknowns, 52^3 7.14 and
   6.32); then with 6 unknowns five blocks instead of four take 0.93 and 1.03 (60^3, 36^3), with 8 1.07. With
   APART a thread needs more registers, and with eight blocks some of them spill: 27 points with 4 unknowns,
   32^3, take 1.19 ms with eight and 0.81 with seven.
*/
template <int B, int H, bool TEAM, bool APART>
struct Shape {
  static constexpr int STEPS = TEAM ? 3 : 2, BLOCKS = TEAM ? 1 : H < 32 ? 6 : B < SYNCILU_BSR_TILES_LEAST ? (APART && B > 2 ? 7 : 8) : B < 7 ? 5 : 4;
};

/* What shared memory has of an inode. */
template <typename V, int B>
struct Room {
  V                        *w;      /* its blocks */
  const int2               *word;   /* its list */
  SyncILUStructBlocksPlace *place;  /* in the tiles of the solves */
  V                        *inside; /* of this warp: the diagonal block of a reference inode, then its own */

  static __host__ __device__ size_t round(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static __host__ __device__ size_t bytes(int entries, int words, int team)
  {
    return round((size_t)entries * Share<B>::STRIDE * sizeof(V)) + round((size_t)(words + 1) * sizeof(int2)) + (size_t)team * round(B * B * sizeof(V));
  }
  __device__ Room(unsigned char *memory, int entries, int words, int member)
  {
    w = (V *)memory;
    memory += round((size_t)entries * Share<B>::STRIDE * sizeof(V));
    word   = (const int2 *)memory;
    place  = (SyncILUStructBlocksPlace *)(word + words);
    inside = (V *)(memory + round((size_t)(words + 1) * sizeof(int2)) + (size_t)member * round(B * B * sizeof(V)));
  }
};

/*
   Updates by a reference inode whose values have been asked for: MORE times as many as the warps of an inode make
   at the same time. No two of them are of the same block.
*/
template <typename V, int B, int MORE>
struct Step {
  int  place;        /* the block W_ik; -1: there are no more */
  bool first, last;  /* of the reference inode */
  int  target[MORE]; /* the blocks W_ij of this lane, -1: none */
  int  at[MORE][2];  /* where the lane's numbers of U'_kj stand, -1: nowhere; with two rows a pair each */
  int  width;        /* from row to row of the reference inode */
  int  inner;        /* where U'_kk stands; -1 if it is there already */
  V    u[MORE][Share<B>::NUMBERS], inside[2];
};

/*
   H lanes have an inode, 32, or with two rows 8, whose inodes do everything together; or with TEAM several
   warps. With APART others read U' apart from the rows.
*/
template <typename V, int B, int H, bool TEAM, int MORE, bool APART>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR, Shape<B, H, TEAM, APART>::BLOCKS) bsr_list_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrLists m)
{
  typedef Share<B>  S;
  constexpr int     STRIDE = S::STRIDE, STEPS = Shape<B, H, TEAM, APART>::STEPS, INSIDE = B == 2 ? 1 : (B * B + 31) / 32;
  constexpr int     UNITS = H / S::G, EACH = S::NUMBERS / 2, INODES = 32 / H;
  extern __shared__ __align__(16) unsigned char shared[];
  V *const val = (V *)f.val, *const pivot = (V *)f.pivot;
  const int    log = TEAM ? m.team : 0, team = 1 << log, all = H << log, units = UNITS << log;
  const int    lane = threadIdx.x % H, inner = (int)threadIdx.x % 32 / H; /* which inode of the warp that is */
  const int    warp = threadIdx.x >> 5, member = warp & (team - 1), own_lane = member * H + lane;
  const Ticket t = (take_ticket(f.ticket) >> log) * INODES + inner;

  if (t - inner >= (Ticket)f.tasks) return;
  const bool                  on = INODES == 1 || t < (Ticket)f.tasks;
  const Room<V, B>            room(shared + (threadIdx.x / H >> log) * Room<V, B>::bytes(m.entries, m.words, team), m.entries, m.words, member);
  const int4                  task  = on ? ((const int4 *)m.task)[t] : int4();
  const int                   inode = task.x, begin = task.y, list = task.z, nl = task.w & 255, len = (task.w >> 8 & 255) * B, words = task.w >> 16;
  const size_t                own       = (size_t)begin * (B * B); /* where the first row begins on the pattern of the rows */
  V *const                    w         = room.w;
  const int2 *const           reference = room.word + 1;
  const unsigned short *const update    = (const unsigned short *)(reference + nl);
  /* this lane's row and columns of a block, and which block of those that are updated at the same time */
  const int r = B == 2 ? lane % 2 : S::FOUR ? lane / 4 % 4 : lane / 4, c = B == 2 ? 0 : S::FOUR ? lane % 2 * 2 : lane % 4 * 2;
  const int columns = r < B ? max(0, min(2, B - c)) : 0, unit = member * UNITS + (B == 2 ? lane / 2 : S::FOUR ? lane / 16 * 2 + lane % 4 / 2 : 0);

  auto meet = [&]() {
    if (TEAM) barrier_meet(1 + (warp >> log), all);
    else __syncwarp();
  };

  for (int k = own_lane; k < words; k += all) copy_if(true, (double *)room.word + k, (const double *)m.word + list + k);
  copy_if(APART && m.tiles.place && on && own_lane == 0, (double *)room.place, (const double *)(m.tiles.place + inode));
  if (S::PIECES && !f.values.map && (size_t)f.values.a % 16 == 0) {
    for (int q = 2 * own_lane; q < len; q += 2 * all) {
#pragma unroll
      for (int i = 0; i < B; i++) copy_piece(w + q / B * STRIDE + i * B + q % B, (const V *)f.values.a + own + (size_t)i * len + q);
    }
  } else {
    for (int q = own_lane; q < len; q += all) {
#pragma unroll
      for (int i = 0; i < B; i++) {
        V *const to = w + q / B * STRIDE + i * B + q % B;

        if (f.values.map) *to = value<V>(f.values, (int)(own + (size_t)i * len + q));
        else copy_if(true, to, (const V *)f.values.a + own + (size_t)i * len + q);
      }
    }
  }
  commit_copies();
  wait_copies<0>();
  meet(); /* rows and list are there for all lanes */
  const V shift = V(diagonal_shift(f.piv));
  if (shift != V(0)) {
    if (on && own_lane < B) w[nl * STRIDE + own_lane * (B + 1)] += shift;
    meet(); /* so is the shift */
  }
  if (on && f.throttle >= INODES && t >= (Ticket)f.throttle) wait_for_ancestor(pivot + (size_t)f.order[t - f.throttle] * B, true);

  int turn = 0, turns = 1;
  if (INODES > 1) {
    const int mine = on ? room.word->x : -1;

#pragma unroll
    for (int k = 0; k < INODES - 1; k++) { /* the inodes before this one: those it waits for have earlier turns */
      const int other = __shfl_sync(FULL, mine, k * H), later = __shfl_sync(FULL, turn, k * H) + 1;
      bool      waits = false;

      for (int e = lane; e < nl && k < inner; e += H) waits |= reference[e].x == other;
      if (__ballot_sync(FULL, waits) >> inner * H & (H < 32 ? (1u << H % 32) - 1 : FULL)) turn = max(turn, later);
    }
#pragma unroll
    for (int k = 1; k < INODES; k++) turns = max(turns, __shfl_sync(FULL, turn, k * H) + 1);
  }
  int refs = 0; /* of this turn */

  /* which updates of which reference inode come next, and where its first one stands in the list */
  int s = 0, pass = 0, before = 0;
  /* with two rows U'_kk has one number, which each lane takes by itself */
  auto entry     = [&](int k) { return B == 2 ? 1 : k * H + lane; };
  auto is_inside = [&](int k) { return entry(k) < B * B && entry(k) % B > entry(k) / B; };
  auto inside_at = [&](const Step<V, B, MORE> &a, int k) { return a.inner + (size_t)(entry(k) / B * a.width) + entry(k) % B; };
  auto load      = [&](Step<V, B, MORE> &a) {
#pragma unroll
    for (int g = 0; g < MORE; g++) {
#pragma unroll
      for (int h = 0; h < 2; h++) {
        if (a.at[g][h] < 0) continue;
        if constexpr (B == 2) load_relaxed_pair(val + a.at[g][h], a.u[g] + h * EACH);
        else a.u[g][h] = load_relaxed(val + a.at[g][h]);
      }
    }
  };
  auto ask = [&](Step<V, B, MORE> &a) {
    const bool there = s < refs;

    a.place = -1;
    if (INODES == 1 && !there) return;
    const int2 k     = there ? reference[s] : int2();
    const int  lower = k.y & 255, count = k.y >> 24 & 255, base = k.x * (B * B);

    if (there) a.place = k.y >> 16 & 255;
    a.width = (int)(k.y >> 8 & 255) * B;
    a.first = there && pass == 0;
    a.inner = a.first ? base + lower * B : -1;
#pragma unroll
    for (int g = 0; g < MORE; g++) {
      const int q = pass + g * units + unit;

      a.target[g] = q < count ? update[before + q] & 255 : -1;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        /* which block the lane has numbers of, and which: with more rows one, with two a row */
        const int from = pass + g * units + (B == 2 ? unit : member * UNITS + (S::FOUR ? 2 * h + lane / 16 : 0));
        const int row = B == 2 ? h : S::FOUR ? lane % 4 : 4 * h + lane % 4, column = B == 2 ? 0 : r;

        a.at[g][h] = from < count && row < B && column < B ? base + (lower + 1 + (update[before + from] >> 8)) * B + row * a.width + column : -1;
#pragma unroll
        for (int e = 0; e < EACH; e++) a.u[g][h * EACH + e] = V(0);
      }
    }
    load(a);
#pragma unroll
    for (int k = 0; k < INSIDE; k++) {
      a.inside[k] = V(0);
      if (a.first && is_inside(k)) a.inside[k] = load_relaxed(val + inside_at(a, k));
    }
    if (there) pass += MORE * units;
    a.last = there && pass >= count;
    if (a.last) {
      before += SyncILUBsrListUpdates(count);
      pass = 0;
      s++;
    }
  };
  auto missing = [&](const Step<V, B, MORE> &a) {
    bool some = false;

#pragma unroll
    for (int n = 0; n < MORE * S::NUMBERS; n++) some |= !is_set(a.u[n / S::NUMBERS][n % S::NUMBERS]);
    return some;
  };
  auto missing_inside = [&](const Step<V, B, MORE> &a) { return !is_set(a.inside[0]) || !is_set(a.inside[INSIDE - 1]); };
  auto again          = [&](Step<V, B, MORE> &a) {
    if (missing(a)) load(a);
#pragma unroll
    for (int k = 0; k < INSIDE; k++)
      if (!is_set(a.inside[k])) a.inside[k] = load_relaxed(val + inside_at(a, k));
  };

  V                row[B];  /* of W_ik */
  V                part[2]; /* of -W_ik, as the first factors of squares */
  Step<V, B, MORE> steps[STEPS];
  auto             make = [&](int k) {
    Step<V, B, MORE> &now = steps[k];

    ask(steps[(k + STEPS - 1) % STEPS]);
    if (now.first) {
#pragma unroll
      for (int p = 0; p < B; p++) row[p] = r < B ? w[now.place * STRIDE + r * B + p] : V(0);
    }
    if (__any_sync(FULL, missing(now) || missing_inside(now))) {
      do again(now);
      while (__any_sync(FULL, missing(now) || missing_inside(now)));
#pragma unroll
      for (int j = 1; j < STEPS; j++) { /* the next ones may have come meanwhile: nobody waits for them here */
        if (steps[(k + j) % STEPS].place >= 0) again(steps[(k + j) % STEPS]);
      }
    }
    if constexpr (B == 2) {
      if (now.first) row[1] -= row[0] * now.inside[0];
    } else if (now.first) { /* and so in all lanes */
#pragma unroll
      for (int k = 0; k < INSIDE; k++)
        if (k * H + lane < B * B) room.inside[k * H + lane] = now.inside[k];
      __syncwarp(); /* U'_kk is there for all lanes */
#pragma unroll
      for (int p = 0; p < B; p++) {
#pragma unroll
        for (int j = p + 1; j < B; j++) row[j] -= row[p] * room.inside[p * B + j];
      }
#pragma unroll
      for (int h = 0; h < 2; h++) {
        auto number = [&](int p) {
          const int column = S::FOUR ? p : 4 * h + p;

          return column < B ? row[column < B ? column : 0] : V(0);
        };
        const V low = lane & 1 ? number(1) : number(0), high = lane & 1 ? number(3) : number(2);

        part[h] = S::FOUR && lane / 16 != h ? V(0) : lane & 2 ? -high : -low;
      }
    }
    V x[MORE][2];

#pragma unroll
    for (int g = 0; g < MORE; g++) {
      const V *const to = w + now.target[g] * STRIDE + r * B + c;
#pragma unroll
      for (int e = 0; e < 2; e++) x[g][e] = now.target[g] >= 0 && e < columns ? to[e] : V(0);
    }
    if (S::FOUR && __any_sync(FULL, !isfinite(now.u[0][0]) || !isfinite(now.u[0][1]))) {
      /* zeros above or below W_ik would not leave the other blocks as they are */
#pragma unroll
      for (int e = 0; e < 2; e++) {
#pragma unroll
        for (int p = 0; p < B; p++) {
          const int from = (lane % 4 / 2 * 4 + c + e) * 4 + p;
          const V   u[2] = {__shfl_sync(FULL, now.u[0][0], from), __shfl_sync(FULL, now.u[0][1], from)};

          x[0][e] -= row[p] * (lane / 16 ? u[1] : u[0]);
        }
      }
    } else {
#pragma unroll
      for (int h = 0; h < 2; h++) {
        if constexpr (S::SQUARES) {
#pragma unroll
          for (int g = 0; g < MORE; g++) add_square_product(x[g][0], x[g][1], part[h], now.u[g][h]);
        } else {
#pragma unroll
          for (int e = 0; e < 2; e++) x[0][e] -= row[h] * now.u[0][h * EACH + e];
        }
      }
    }
#pragma unroll
    for (int g = 0; g < MORE; g++) {
      V *const to = w + now.target[g] * STRIDE + r * B + c;
#pragma unroll
      for (int e = 0; e < 2; e++)
        if (now.target[g] >= 0 && e < columns) to[e] = x[g][e];
    }
    if (INODES == 1 ? now.last : __any_sync(FULL, now.last)) {
      meet(); /* the updates by this reference inode come before the next one's, and all have read W_ik and U'_kk */
      if (now.last && unit == 0 && c == 0 && r < B) {
#pragma unroll
        for (int p = 0; p < B; p++) w[now.place * STRIDE + r * B + p] = row[p];
      }
    }
  };
  /*
     From the diagonal on a lane has a column, of all rows. The columns of the inode itself, of which come the
     pivots and the multipliers of the rows behind one another, are those of the first lanes of each of the
     warps.
  */
  const int upper     = len - nl * B;
  V         own_found = V(0); /* the pivot of the row of the lane, without shift */
  /* the pattern of the rows; NULL: nothing goes there */
  V *const rows = APART ? (V *)m.rows : val;
  /* where others read U', and how far its rows are from each other there */
  V *const  others = val + (on ? (size_t)room.word->x * (B * B) : 0) + (APART ? 0 : (size_t)nl * B);
  const int width  = APART ? upper : len;
  /* the first row with a u' = u / d that is not finite though u is: the host stores u, and would go on */
  int  lost   = B;
  auto place  = [&](int i, int q) { return (nl + q / B) * STRIDE + i * B + q % B; };
  auto finish = [&](int q, bool has, const V(&v)[B], const V(&u)[B]) { /* what nobody waits for */
#pragma unroll
                                                                       for (int p = 0; p < B; p++) {
                                                                         if (!has || q <= p) continue;
                                                                         if (!isfinite(u[p]) && isfinite(v[p])) lost = min(lost, p);
                                                                         if (f.size) w[place(p, q)] = v[p];
                                                                         else if (APART && q >= B) w[place(p, q)] = u[p];
                                                                       }
  };
  for (int now = 0; now < turns; now++) {
    const bool go = on && turn == now;

    refs = go ? nl : 0;
#pragma unroll
    for (int k = 0; k < STEPS - 1; k++) ask(steps[k]);
    for (bool more = true; more;) {
#pragma unroll
      for (int k = 0; k < STEPS; k++) {
        if (more) more = INODES == 1 ? steps[k].place >= 0 : __any_sync(FULL, steps[k].place >= 0);
        if (more) make(k);
      }
    }

    {
      const int  q     = lane < B ? lane : B + member * (H - B) + lane - B;
      const bool there = go && q < upper, has = there && (lane >= B || member == 0);
      V          v[B], u[B], inverse = V(0);

#pragma unroll
      for (int i = 0; i < B; i++) v[i] = there ? w[place(i, q)] : V(0);
      if (TEAM && f.size) meet(); /* all have read the diagonal block, which receives what sizes are made of */
#pragma unroll
      for (int p = 0; p < B; p++) {
        const V found = __shfl_sync(FULL, v[p], p, H);
        const V by    = reciprocal_in_inode(f.piv, found);
        V       l[B];

#pragma unroll
        for (int i = p + 1; i < B; i++) l[i] = __shfl_sync(FULL, v[i], p, H);
        u[p] = v[p] * by;
        if (q > p) {
#pragma unroll
          for (int i = p + 1; i < B; i++) v[i] -= l[i] * u[p];
        }
        store_relaxed_if(has && q > p, others + (size_t)p * width + q, clean(u[p]));
        if (go && lane == p) {
          own_found = found;
          inverse   = by;
        }
      }
      if (go && lane < B) { /* W within the inode */
        room.inside[lane * (B + 1)] = inverse;
#pragma unroll
        for (int i = 1; i < B; i++) {
          if (i <= lane) continue;
          room.inside[i * B + lane] = v[i];
          if (member == 0 && rows) rows[own + (size_t)i * len + nl * B + lane] = v[i];
        }
      }
      if (APART && go && lane < B) { /* and U' */
#pragma unroll
        for (int i = 0; i < B; i++)
          if (i < lane) room.inside[i * B + lane] = u[i];
      }
      finish(q, has, v, u);
    }
    __syncwarp(); /* pivots and multipliers are there for the other columns */
    for (int first = B + team * (H - B) + member * H; go && first < upper; first += all) {
      const int q = first + lane;
      V         v[B], u[B];

      if (q >= upper) break;
#pragma unroll
      for (int i = 0; i < B; i++) v[i] = w[place(i, q)];
#pragma unroll
      for (int p = 0; p < B; p++) {
        u[p] = v[p] * room.inside[p * (B + 1)];
#pragma unroll
        for (int i = p + 1; i < B; i++) v[i] -= room.inside[i * B + p] * u[p];
        store_relaxed(others + (size_t)p * width + q, clean(u[p]));
      }
      finish(q, true, v, u);
    }
  }
  if (lost < B) report(&f.status->row, inode * B + lost);
  if (on && own_lane < B) {
    store_relaxed(pivot + inode * B + lane, clean(shifted_pivot(f.piv, own_found)));
    (void)judge(f.piv, inode * B + lane, own_found, f.status);
  }
  meet(); /* W is there for all lanes, and U', or the numbers before their division */
  for (int q = own_lane; q < nl * B && rows; q += all) {
#pragma unroll
    for (int i = 0; i < B; i++) rows[own + (size_t)i * len + q] = w[q / B * STRIDE + i * B + q % B];
  }
  if (f.size && member == 0) { /* of U, which cannot be had from U' after a pivot of zero */
    for (int p = 0; p < B; p++) {
      V size = V(0);

      for (int q = lane; q < upper; q += H)
        if (q > p) size += fabs(w[place(p, q)]);
      size = sum_of_row(size, H);
      if (on && lane == p) ((V *)f.size)[inode * B + p] = size;
    }
  }
  if (!APART) return;
  if (f.size) {
    meet(); /* the numbers before their division have been added up */
    for (int q = B + own_lane; q < upper; q += all) {
#pragma unroll
      for (int p = 0; p < B; p++) w[place(p, q)] *= room.inside[p * (B + 1)];
    }
    meet(); /* U' is there for all lanes */
  }
  if (!m.tiles.place) {
    for (int q = own_lane; on && q < upper; q += all) {
#pragma unroll
      for (int p = 0; p < B; p++)
        if (q > p) rows[own + (size_t)p * len + nl * B + q] = q < B ? room.inside[p * B + q] : w[place(p, q)];
    }
    return;
  }
  store_tiles<V, B, STRIDE, H>(m.tiles, on ? inode : -1, on ? *room.place : SyncILUStructBlocksPlace(), nl, w, room.inside, f.status);
}

/* Sentinels in the place of all that is waited for: U', of which a warp has the rows of an inode. */
template <typename V>
__global__ void __launch_bounds__(SYNCILU_BLOCK) bsr_begin_kernel(SyncILUDeviceInodes q, V *__restrict__ val)
{
  const long long i = global_thread() >> 5;

  if (i >= q.pattern.n) return;
  const int begin = q.pattern.ptr[i], b = q.size, from = (q.pattern.diag[i] - begin) * b, len = (q.pattern.ptr[i + 1] - begin) * b;
  V *const  rows = val + (size_t)begin * (b * b);
  for (int p = 0; p < b; p++) {
    for (int k = from + p + 1 + (threadIdx.x & 31); k < len; k += 32) poison(rows[(size_t)p * len + k]);
  }
}

/*
   The list of an inode, of which a warp finds the words; or how many there are, and the most of an inode,
   with `word` NULL.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK) lists_kernel(SyncILUDevicePattern p, const unsigned char *__restrict__ turn, const int *__restrict__ upper,
                                                              int *__restrict__ begin, int2 *__restrict__ word, SyncILUBsrListSizes *sizes)
{
  const long long i    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (i >= p.n) return;
  const int             from = p.ptr[i], nl = p.diag[i] - from, to = p.ptr[i + 1];
  unsigned short *const update = word ? (unsigned short *)(word + begin[i] + 1 + nl) : nullptr;
  int                   n = 0, updates = 0;   /* room for updates, and how many there are */
  bool                  beside = false;       /* whether a block beside the diagonal has updates */
  for (int part = 0; part < nl; part += 32) { /* a lane looks for where a reference inode stands, then all go through its columns */
    const int mine = min(part + lane, nl - 1), own = turn && nl <= SYNCILU_TURNS ? turn[from + mine] : mine, k = p.col[from + own];
    const int own_base = upper ? p.diag[k] : p.ptr[k], own_diag = p.diag[k], own_end = p.ptr[k + 1], own_place = upper ? upper[k] : own_base;

    for (int s = part; s < min(part + 32, nl); s++) {
      const int place = __shfl_sync(FULL, own, s - part), base = __shfl_sync(FULL, own_base, s - part);
      const int diag = __shfl_sync(FULL, own_diag, s - part), last = __shfl_sync(FULL, own_end, s - part);
      const int read = __shfl_sync(FULL, own_place, s - part), before = n;
      int       count = 0;

      for (int q = diag + 1; q < last; q += 32) {
        const int      target = q + lane < last ? search(p.col, from, to, p.col[q + lane]) : -1;
        const unsigned all    = __ballot_sync(FULL, target >= 0);

        if (update && target >= 0) update[before + count + __popc(all & ((1u << lane) - 1))] = (unsigned short)((q + lane - diag - 1) << 8 | (target - from));
        count += __popc(all);
        beside |= target >= 0 && target - from != nl;
      }
      n = before + SyncILUBsrListUpdates(count);
      updates += count;
      if (update && lane < n - before - count) update[before + count + lane] = 0;
      if (word && lane == 0)
        word[begin[i] + 1 + s] = make_int2(read, (int)((unsigned)(diag - base) | (unsigned)(last - base) << 8 | (unsigned)place << 16 | (unsigned)count << 24));
    }
  }
  beside = __any_sync(FULL, beside);
  if (word && lane == 0) word[begin[i]] = make_int2(upper ? upper[i] : from, 0);
  if (lane || word) return;
  const int words = 1 + nl + n / 4;
  begin[i]        = words;
  if (load_stale(&sizes->most) < words) atomicMax(&sizes->most, words);
  if (beside && !load_stale(&sizes->beside)) atomicMax(&sizes->beside, 1);
  atomicAdd(&sizes->words, (unsigned long long)words);
  atomicAdd(&sizes->updates, (unsigned long long)updates);
}

/*
   What a warp needs to know of its inode, in one piece: its number, where its entries and its list begin, and
   how long these are.
*/
__global__ void tasks_kernel(SyncILUDevicePattern p, const int *__restrict__ order, const int *__restrict__ begin, int4 *__restrict__ task)
{
  const long long t = global_thread();

  if (t >= p.n) return;
  const int  i = order ? order[t] : (int)t, from = p.ptr[i];
  const int4 x = {i, from, begin[i], (p.diag[i] - from) | (p.ptr[i + 1] - from) << 8 | (begin[i + 1] - begin[i]) << 16};

  task[t] = x;
}

template <int B>
size_t bytes_of(int size, int entries, int words, int team)
{
  if constexpr (B > 2) {
    if (size < B) return bytes_of<B - 1>(size, entries, words, team);
  }
  return Room<double, B>::bytes(entries, words, team);
}

template <typename V, int B>
cudaError_t launch_list(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrLists &m, cudaStream_t stream)
{
  if constexpr (B > 2) {
    if (m.inodes.size < B) return launch_list<V, B - 1>(f, m, stream);
  }
  const int      inodes = (m.warps >> m.team) * (32 / m.lanes);
  const size_t   bytes  = inodes * Room<V, B>::bytes(m.entries, m.words, 1 << m.team);
  const unsigned grid   = blocks_for(f.tasks, inodes);

  constexpr int MORE = B < SYNCILU_BSR_TILES_LEAST ? 1 : 2;

  if (m.team) bsr_list_kernel<V, B, 32, true, MORE, false><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
  else if (m.lanes == 32 && m.apart) bsr_list_kernel<V, B, 32, false, MORE, true><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
  else if constexpr (B < SYNCILU_BSR_TILES_LEAST) {
    if (m.lanes == 32) bsr_list_kernel<V, B, 32, false, MORE, false><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
    else if constexpr (B == 2) {
      if (m.apart) bsr_list_kernel<V, B, 8, false, MORE, true><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
      else bsr_list_kernel<V, B, 8, false, MORE, false><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
    }
  }
  return cudaGetLastError();
}

} // namespace

size_t SyncILUKernelFactorBsrListBytes(int size, int entries, int words, int team)
{
  return bytes_of<SYNCILU_INODE_MOST>(size, entries, words, 1 << team);
}

cudaError_t SyncILUKernelBsrLists(SyncILUDevicePattern p, const unsigned char *turn, const int *upper, int *begin, void *word, SyncILUBsrListSizes *sizes,
                                  cudaStream_t stream)
{
  LAUNCH(lists_kernel, 32ll * p.n, stream, p, turn, upper, begin, (int2 *)word, sizes);
}

cudaError_t SyncILUKernelBsrListTasks(SyncILUDevicePattern p, const int *order, const int *begin, void *task, cudaStream_t stream)
{
  LAUNCH(tasks_kernel, p.n, stream, p, order, begin, (int4 *)task);
}

cudaError_t SyncILUKernelBsrListBegin(SyncILUValueType type, SyncILUDeviceInodes q, void *val, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(bsr_begin_kernel<double>, 32ll * q.pattern.n, stream, q, (double *)val);
}

cudaError_t SyncILUKernelFactorBsrList(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBsrLists m, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.inodes.size < 2 || m.inodes.size > SYNCILU_INODE_MOST || f.piv.relax != 0.0) return cudaErrorNotSupported;
  if (m.apart ? m.team || (!m.tiles.place && !m.rows) : m.tiles.place || (!m.team && m.inodes.size >= SYNCILU_BSR_TILES_LEAST)) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_list<double, SYNCILU_INODE_MOST>(f, m, stream);
}
