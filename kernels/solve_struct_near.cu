/*
   Triangular solves of matrices of a grid whose rows depend on their nearest neighbours alone, as with 5 and
   7 points: on the row before in their own line, and on rows of the lines before it in v and w. All of these
   are one level before. Lines, tiles and levels are those of kernels/struct.h.

   A thread block solves for a tile. The blocks of a cluster solve for the tiles of a box, and count levels
   from the first one of the box. Steps, one a level, are taken in chunks of eight. Shared memory has buffers
   for several chunks, which are used in turn. Each warp of a block has its own work: bring() copies
   coefficients and right-hand sides to a buffer, prepare() multiplies them by the reciprocal pivot, compute()
   solves, push() sends values to other tiles of the box, into the shared memory of their blocks, store()
   writes values to device memory, for tiles of other boxes and for the other solve, fetch() polls for those
   of other boxes, and take() writes the solution. One warp computes, with about ten instructions a step.

   A tile that depends on values of another one is its consumer, and that one its producer. A producer pushes
   into a buffer of the consumer once the consumer has given a credit, when it is done with the chunk that
   was there before.

   Progress: clusters take boxes by ticket, in the order of their lowest levels, in which a box comes after
   those that its lines depend on. All blocks of a cluster are resident together. In a box a chunk of a tile
   waits for its producers, at the same levels or lower ones, and for credits, for chunks of consumers at
   lower levels. In a block warps wait for each other chunk by chunk; the end of a chunk also waits for the
   buffer of the next one, for a chunk at lower levels. So of the unfinished chunks of the lowest levels in the
   box of the lowest ticket, that of the tile whose lines come first waits for nothing unfinished. A block
   waits for all that is pushed to it and for all credits that it is given, so that none of them comes after
   its end.

   Of two solves in a row the second one is launched as soon as all blocks of the first one are resident, so
   that its blocks keep none of these out. It fills its buffers with coefficients, which the first solve does
   not write. Warps that touch right-hand sides, solutions or sentinels in device memory first wait for the end
   of the first solve (wait_previous()).

   Lanes without a row have zeros as coefficients and right-hand sides. So they find zeros before their line
   begins. After its end they may find NaN, if a row of the line did; no row depends on that.
*/
#include "solve_struct_near.h"
#include "struct_steps.cuh"
#include "cluster.cuh"

using namespace syncilu;

namespace
{

constexpr int MOST_STAGES = 12, MOST_PIECES = 4;

struct Barriers {
  /*
     Of each buffer. full: coefficients and right-hand sides have been copied. ready: prepare() is done with
     them. got: a piece of the values of other tiles has come; the first piece of a chunk also has what the last
     steps of the chunk before need. done: a piece of the solution is found. room: the consumers have given their
     credits. empty: all warps of this block are done with the buffer.
  */
  Barrier  full[MOST_STAGES], ready[MOST_STAGES], got[MOST_PIECES][MOST_STAGES], done[MOST_PIECES][MOST_STAGES], room[MOST_STAGES], empty[MOST_STAGES];
  Barrier  begun; /* the first values from memory have come; nobody asks for later ones before */
  Barrier  taken; /* all blocks of the cluster know the ticket */
  unsigned ticket;
};

/*
   A row has N entries in the triangle, and its diagonal or the reciprocal of that, but for PLAIN. A buffer
   has the coefficients and right-hand sides of a chunk, and a ring. A row of the ring is a step, from the
   last one before the chunk on. It has the values that the 32 lanes find, and then those of other tiles.

   Values go to other tiles in pieces of a chunk. A value is needed one step after it is found. So with pieces of
   two steps that of steps 2 and 3 is awaited before step 3, and that of steps 6 and 7 before step 7; the latter
   is counted by a barrier of the next chunk, whose first step needs it too. On an H200, L + U: 7 points, 64^3,
   0.0520 ms with two pieces, 0.0501 with four; 160^3 0.224 and 0.223. But four pieces of 5 points, 1000^2, took
   0.240 ms and two 0.209, when values were still awaited a step earlier.
*/
template <int N, int WHAT>
struct Layout {
  static constexpr int PIECE = SYNCILU_STRUCT_NEAR_PIECE(N), PIECES = STEPS / PIECE, SIDES = N - 1;
  static constexpr int PREPARE = WHAT != PLAIN ? 2 : 0, BRING = 2, FETCH = SYNCILU_STRUCT_FETCH; /* warps that do the same */
  static constexpr int WARPS = 4 + PREPARE + BRING + FETCH;
  static constexpr int ROW   = 32 + SYNCILU_STRUCT_NEAR_LINES + 1; /* of the ring; odd against conflicts of banks */
  static constexpr int RING  = ((1 + STEPS) * ROW + 15) & ~15;     /* whole lines of the cache */
  static constexpr int COEFS = (N + (WHAT != PLAIN)) * 32;         /* of a step */
  static constexpr int OTHER = STEPS * (COEFS + 34);               /* what follows is for SPLIT: w, then the diagonal */
  static constexpr int STAGE = OTHER + (WHAT == SPLIT ? 2 * STEPS * 32 : 0), BUFFER = STAGE + RING;

  static __host__ __device__ size_t bytes(int stages) { return sizeof(Barriers) + ((size_t)stages * BUFFER + STEPS * 32) * sizeof(double); }
};

/*
   A tile of a box: its number, -1 where there is none; its lowest v and w; by how many levels it begins after
   the box; its first chunk, and the one after its last.
*/
struct Member {
  int number, v, w, delay, begin, end;
};

/*
   A line of a tile, for a lane that takes one step of each chunk. The line begins `late` steps after the lane's
   step of chunk 0, INT_MAX / 2 if there is no line; `row` would be the row at that step, which is mostly outside
   of the line. A lane that takes all steps asks for the line at step 0.
*/
struct Line {
  int       late;
  long long row;
};

struct Place {
  const SyncILUDeviceStruct &m;
  const SyncILUDeviceSolve  &s;
  const Judge               &judge;
  Tile                       box;
  Member                     tile;
  int                        column, row; /* of the tile in its box */
  int                        stages;
  double                    *stage, *ring;
  const double              *ones;
  Barriers                  *bars;

  __device__ __forceinline__ long long at(int number, int step) const { return ((long long)number * m.g.steps + step) * 32; }
  __device__ __forceinline__ Turn      turn() const { return {tile.begin % stages, 0, tile.begin % stages}; }

  /* The tile so many further in v and w along the direction of the solve, which may be outside of the box. */
  __device__ __forceinline__ Member member(int i, int j) const
  {
    const SyncILULines &g       = m.g;
    const int           columns = 1 << (m.box.g.edge[0] - g.edge[0]), rows = 1 << (m.box.g.edge[1] - g.edge[1]), forward = m.down ? -1 : 1;
    const int           a = column + forward * i, b = row + forward * j;
    Member              t;

    t.v         = box.v + a * (1 << g.edge[0]);
    t.w         = box.w + b * (1 << g.edge[1]);
    t.delay     = (m.down ? columns - 1 - a : a) * (1 << g.edge[0]) + (m.down ? rows - 1 - b : b) * (1 << g.edge[1]);
    const int y = t.w >> g.edge[1], x = t.v >> g.edge[0];
    t.number = (unsigned)x < (unsigned)g.row && y >= 0 && t.w < g.points[2] ? y * g.row + x : -1;
    t.begin  = t.delay / STEPS;
    t.end    = t.number < 0 ? t.begin : (t.delay + g.steps - 1) / STEPS + 1;
    return t;
  }
  __device__ __forceinline__ Line line(int number, int step) const
  {
    const SyncILULines &g = m.g;
    const int           v = tile.v + (number & ((1 << g.edge[0]) - 1)), w = tile.w + (number >> g.edge[0]);
    const int           first = line_row(g, v, w), late = turned(m, lane_at(g, v, w)).late + tile.delay - step;

    return {first < 0 ? INT_MAX / 2 : late, first + (long long)(m.down ? g.points[0] - 1 + late : -late) * g.stride[0]};
  }
  /* The block that has this tile, which is in the box; -1 if not, or if there is none. */
  __device__ __forceinline__ int block(int i, int j) const
  {
    const int lg = m.box.g.edge[0] - m.g.edge[0], rows = 1 << (m.box.g.edge[1] - m.g.edge[1]), forward = m.down ? -1 : 1;
    const int a = column + forward * i, b = row + forward * j;

    return (unsigned)a >> lg || (unsigned)b >= (unsigned)rows || member(i, j).number < 0 ? -1 : (b << lg) + a;
  }
};

/*
   The lines of another tile that a tile depends on: those before it in v (axis 0) or in w (axis 1); how many
   there are; where their values begin in a row of the ring.
*/
struct Side {
  int axis, count, base;
};

template <int N>
__device__ __forceinline__ Side side_of(const SyncILUDeviceStruct &m, int k)
{
  Side s;

  s.axis  = k || m.near[1] < 0 ? 1 : 0;
  s.count = 1 << (s.axis ? m.g.edge[0] : m.g.edge[1]);
  s.base  = 32 + (k ? 1 << m.g.edge[1] : 0);
  return s;
}

/*
   Copies coefficients and right-hand sides, chunk by chunk. Right-hand sides in the numbering of the matrix
   are gathered by L::BRING warps, each for some lines; all else is copied by the first one.
*/
template <int N, int WHAT>
__device__ __forceinline__ void bring(const Place &o, int slot)
{
  typedef Layout<N, WHAT> L;
  constexpr int           MINE = STEPS / L::BRING;
  const SyncILULines     &g    = o.m.g;
  const Member           &tile = o.tile;
  const bool              down = o.m.down, second = is_second<WHAT>(o.s);
  const int               lane = threadIdx.x & 31, step = lane % STEPS;
  const int               place = step * 33 + lane / STEPS;
  const double           *from_row[MINE]; /* where the step of chunk 0 is that this lane takes, of some lines */
  int                     late[MINE];
  const double *const     b = (const double *)(WHAT == SPLIT ? o.s.v : o.s.b);
  Turn                    t = o.turn();

#pragma unroll
  for (int u = 0; u < MINE; u++) {
    const Line line = o.line(32 / STEPS * (slot * MINE + u) + lane / STEPS, step);

    late[u]     = line.late;
    from_row[u] = b + line.row;
  }
  const double *const coef  = (const double *)o.m.val + (size_t)tile.number * g.steps * L::COEFS;
  const double *const other = (const double *)o.s.b + o.at(tile.number, 0);
  const long long     ahead = (down ? -STEPS : STEPS) * (long long)g.stride[0];

  /* Coefficients, and of SPLIT the diagonal, none of which a solve writes; zeros for steps that the tile does not have. */
  auto bring_matrix = [&](int q, int buffer) {
    const int start = q * STEPS - tile.delay, from = max(start, 0), to = min(start + STEPS, g.steps);
    double   *coefs = o.stage + buffer * L::BUFFER;
    Barrier  *full  = &o.bars->full[buffer];

    if (to - from < STEPS) {
      for (int k = lane; k < STEPS * L::COEFS; k += 32) coefs[k] = 0.0;
      if (!gathers<WHAT>(o.s))
        for (int k = STEPS * L::COEFS + lane; k < L::OTHER; k += 32) coefs[k] = 0.0;
      for (int k = L::OTHER + lane; k < L::STAGE; k += 32) coefs[k] = 0.0;
      fence_written();
      __syncwarp();
    }
    if (lane == 0) {
      const int size = L::COEFS * (int)sizeof(double), size_other = 32 * (int)sizeof(double);

      barrier_expect(full, (to - from) * (size + (second ? size_other : 0) + (WHAT == SPLIT ? size_other : 0)));
      copy_bulk(coefs + (from - start) * L::COEFS, coef + (size_t)from * L::COEFS, (to - from) * size, full);
      if (WHAT == SPLIT)
        copy_bulk(coefs + L::OTHER + (STEPS + from - start) * 32, (const double *)o.m.diagonal + o.at(tile.number, from), (to - from) * size_other, full);
    }
  };
  /* before this chunk they are brought while the first of two solves still runs */
  const int early = second ? min(tile.begin + o.stages, tile.end) : tile.begin;

  for (int q = tile.begin; q < early && !slot; q++, t = t.next(o.stages)) bring_matrix(q, t.buffer);
  wait_previous();
  t = o.turn();
  for (int q = tile.begin; q < tile.end; q++, t = t.next(o.stages)) {
    const int start = q * STEPS - tile.delay, from = max(start, 0), to = min(start + STEPS, g.steps);
    double   *coefs = o.stage + t.buffer * L::BUFFER, *rhs = coefs + STEPS * L::COEFS;
    Barrier  *full = &o.bars->full[t.buffer];

    if (q >= tile.begin + o.stages) barrier_wait(&o.bars->empty[t.buffer], t.parity ^ 1);
    if (q >= early && !slot) bring_matrix(q, t.buffer);
    /* in the order of the other solve, from the end */
    if (second && lane == 0 && !slot)
      copy_bulk((WHAT == SPLIT ? coefs + L::OTHER : rhs) + (STEPS - (to - start)) * 32, other + (size_t)(g.steps - to) * 32,
                (to - from) * 32 * (int)sizeof(double), full);
    if (gathers<WHAT>(o.s)) {
#pragma unroll
      for (int u = 0; u < MINE; u++)
        copy_or_zero((unsigned)(q * STEPS - late[u]) < (unsigned)g.points[0], rhs + place + 32 / STEPS * (slot * MINE + u), from_row[u] + q * ahead);
    }
    barrier_arrive_copied(full);
    __syncwarp();
    if (lane == 0) barrier_arrive(full);
  }
}

/* Writes the solution in the numbering of the matrix, and the sentinels that the other solve needs. */
template <int N, int WHAT>
__device__ __forceinline__ void take(const Place &o)
{
  typedef Layout<N, WHAT> L;
  const SyncILULines     &g    = o.m.g;
  const Member           &tile = o.tile;
  const bool              down = o.m.down, second = is_second<WHAT>(o.s);
  const int               lane = threadIdx.x & 31, step = lane % STEPS;
  double                 *next = (double *)o.s.next;
  double                 *out[STEPS];
  int                     late[STEPS];
  Turn                    t = o.turn();

#pragma unroll
  for (int u = 0; u < STEPS; u++) {
    const Line line = o.line(32 / STEPS * u + lane / STEPS, step);

    late[u] = line.late;
    out[u]  = (double *)o.s.out + line.row;
  }
  if (next) next += o.at(tile.number, 0);
  wait_previous();
  const long long ahead = (down ? -STEPS : STEPS) * (long long)g.stride[0];

  for (int q = tile.begin; q < tile.end; q++, t = t.next(o.stages)) {
    const int start = q * STEPS - tile.delay, from = max(start, 0), to = min(start + STEPS, g.steps);

    barrier_wait(&o.bars->done[L::PIECES - 1][t.buffer], t.parity);
    if (o.s.out) {
      const double *found = o.ring + t.buffer * L::BUFFER + (1 + step) * L::ROW + lane / STEPS;
      double        y[STEPS];

#pragma unroll
      for (int u = 0; u < STEPS; u++) y[u] = found[32 / STEPS * u];
      if (WHAT == SPLIT) {
        const double *w = o.stage + t.buffer * L::BUFFER + lane / STEPS + L::OTHER + (STEPS - 1 - step) * 32, *scale = w + (2 * step + 1) * 32;

#pragma unroll
        for (int u = 0; u < STEPS; u++) y[u] = (w[32 / STEPS * u] + y[u]) * (1.0 / scale[32 / STEPS * u]);
      }
#pragma unroll
      for (int u = 0; u < STEPS; u++) store_if((unsigned)(q * STEPS - late[u]) < (unsigned)g.points[0], out[u] + q * ahead, y[u]);
    }
    /* over the right-hand side, which has been read, or where the other solve, a later kernel, will write */
    if (next && lane == 0) store_bulk(next + (size_t)(second ? g.steps - to : from) * 32, o.ones, (to - from) * 32 * (int)sizeof(double));
    arrive(&o.bars->empty[t.buffer]);
  }
  if (lane == 0) wait_stores();
}

/*
   Polls for values of tiles of other boxes, with a warp for each of L::FETCH chunks, since a value is
   longer on its way than a chunk takes. Also tells the barrier of each piece how many bytes tiles of the
   box push.
*/
template <int N, int WHAT>
__device__ __forceinline__ void fetch(const Place &o, int slot)
{
  typedef Layout<N, WHAT> L;
  constexpr int           TIMES = STEPS / 2; /* 16 lines of two steps at a time */
  const SyncILULines     &g     = o.m.g;
  const Member           &tile  = o.tile;
  const int               lane = threadIdx.x & 31, line = lane % 16, step = lane / 16;
  int                     sent[L::SIDES] = {}, from[L::SIDES] = {}, to[L::SIDES] = {}, late = INT_MAX / 2;
  bool                    mine = false, asks = false;
  const double           *x = (const double *)o.s.x;
  Turn                    t = o.turn();

#pragma unroll
  for (int k = 0; k < L::SIDES; k++) {
    const Side   side   = side_of<N>(o.m, k);
    const Member before = o.member(-!side.axis, -side.axis);

    if (before.number < 0) continue;
    if (o.block(-!side.axis, -side.axis) >= 0) { /* it pushes its chunks */
      sent[k] = side.count * L::PIECE * (int)sizeof(double);
      from[k] = before.begin * STEPS;
      to[k]   = before.end * STEPS;
      continue;
    }
    asks = true;
    if (line < side.base - 32 || line >= side.base - 32 + side.count) continue;
    const int edge = (1 << (side.axis ? g.edge[1] : g.edge[0])) - 1, along = line + 32 - side.base;
    const int v = before.v + (side.axis ? along : o.m.down ? 0 : edge), w = before.w + (side.axis ? o.m.down ? 0 : edge : along);

    mine = true;
    if (line_row(g, v, w) < 0) continue;
    const Lane l = turned(o.m, lane_at(g, v, w));
    /* the value of x = 0 there is needed at this step of ours, less the lane's own step */
    late = (o.m.down ? side.count - 1 - along : along) - step;
    x += o.at(before.number, l.late - late) + l.number;
  }
  /* Tells the barrier of a piece how many bytes tiles of the box push, and that values of other boxes have come. */
  auto complete = [&](int q, int piece, int buffer) {
    const int first = q * STEPS + (piece - 1) * L::PIECE;
    int       bytes = 0;

#pragma unroll
    for (int k = 0; k < L::SIDES; k++)
      if (first >= from[k] && first < to[k]) bytes += sent[k];
    barrier_expect(&o.bars->got[piece][buffer], bytes);
    barrier_arrive(&o.bars->got[piece][buffer]);
  };
  if (!asks) {
    if (slot) return;
    /* all pieces of a chunk at once, a lane each: one after the other they take time from compute() */
    for (int q = tile.begin; q < tile.end; q++, t = t.next(o.stages)) {
      if (q >= tile.begin + o.stages) barrier_wait(&o.bars->empty[t.buffer], t.parity ^ 1);
      if (lane < L::PIECES) complete(q, lane, t.buffer);
      __syncwarp();
    }
    return;
  }
  const int depth = min(L::FETCH, o.stages);
  if (slot >= depth) return;
  wait_previous();
  for (int k = 0; k < slot; k++) t = t.next(o.stages);
  /* the tile may be far from its turn: until its first values have come only one warp polls */
  if (slot) barrier_wait(&o.bars->begun, 0);
  const int first_piece = (tile.delay % STEPS + L::PIECE - 1) / L::PIECE; /* what the tile's first step needs is in it */
  for (int q = tile.begin + slot; q < tile.end; q += depth) {
    const int start = q * STEPS - tile.delay - (L::PIECE - 1), previous = t.buffer ? t.buffer - 1 : o.stages - 1;
    double    y[TIMES];

#pragma unroll
    for (int i = 0; i < TIMES; i++) {
      y[i] = 0.0;
      load_relaxed_if((unsigned)(start + i * 2 - late) < (unsigned)g.points[0], x + (long long)(start + i * 2) * 32, &y[i]);
    }
#pragma unroll
    for (int p = 0; p < L::PIECES; p++) {
      while (true) {
        bool all = true;

#pragma unroll
        for (int i = p * TIMES / L::PIECES; i < (p + 1) * TIMES / L::PIECES; i++) all = is_set(y[i]) && all;
        if (__all_sync(FULL, all)) break;
        if (q == tile.begin) __nanosleep(SYNCILU_STRUCT_PAUSE);
#pragma unroll
        for (int i = p * TIMES / L::PIECES; i < TIMES; i++) load_relaxed_if(!is_set(y[i]), x + (long long)(start + i * 2) * 32, &y[i]);
      }
      if (!p && q >= tile.begin + o.stages) barrier_wait(&o.bars->empty[t.buffer], t.parity ^ 1);
      if (mine) {
#pragma unroll
        for (int i = p * TIMES / L::PIECES; i < (p + 1) * TIMES / L::PIECES; i++) {
          const int  row    = step + i * 2 - (L::PIECE - 1);   /* of the ring; less than 0 of the chunk before, if there is one */
          const bool before = i * 2 < L::PIECE - 1 && row < 0; /* its first half is known when it is compiled */

          if (!before || q > tile.begin) o.ring[(before ? previous : t.buffer) * L::BUFFER + (before ? row + STEPS : row) * L::ROW + 32 + line] = y[i];
        }
      }
      __syncwarp();
      if (lane == 0) {
        complete(q, p, t.buffer);
        if (q == tile.begin && p == first_piece) barrier_arrive(&o.bars->begun);
      }
    }
    for (int k = 0; k < depth; k++) t = t.next(o.stages);
  }
}

/*
   Writes the right-hand side and the coefficients of a row side by side, as compute() loads them, in the
   place where they were.
*/
template <int N, int WHAT>
__device__ __forceinline__ void prepare(const Place &o, int slot)
{
  typedef Layout<N, WHAT> L;
  constexpr bool          SCALES = WHAT == SCALED || WHAT == SPLIT;
  constexpr int           ONCE   = 4; /* steps at a time */
  const int               lane   = threadIdx.x & 31;
  /* the right-hand side comes with padding, or in the order of the other solve */
  const bool turned_rhs = is_second<WHAT>(o.s) && WHAT != SPLIT;
  const int  rhs = STEPS * L::COEFS + (turned_rhs ? (STEPS - 1) * 32 + lane : lane), rhs_step = turned_rhs ? -32 : 33;
  int        entry[N];
  Turn       t = o.turn();

  entry[0] = o.m.near[0];
#pragma unroll
  for (int k = 1; k < N; k++) entry[k] = side_of<N>(o.m, k - 1).axis ? o.m.near[2] : o.m.near[1];
  for (int q = o.tile.begin; q < o.tile.end; q++, t = t.next(o.stages)) {
    double *stage = o.stage + t.buffer * L::BUFFER;

    barrier_wait(&o.bars->full[t.buffer], t.parity);
#pragma unroll
    for (int h = slot * ONCE; h < STEPS; h += ONCE * L::PREPARE) {
      double v[ONCE][4];

#pragma unroll
      for (int i = 0; i < ONCE; i++) {
        const int     u     = h + i;
        const double *c     = stage + u * L::COEFS;
        const double  scale = c[N * 32 + lane];

        if (WHAT == PIVOTS) v[i][0] = scale;
        else if (WHAT == SPLIT) {
          double *a = stage + L::OTHER + (STEPS + u) * 32 + lane;

          v[i][0] = fma(fma(*a, scale, -2.0), stage[L::OTHER + (STEPS - 1 - u) * 32 + lane], stage[rhs + u * rhs_step]);
          *a      = scale; /* for take() */
        } else v[i][0] = __dmul_rn(stage[rhs + u * rhs_step], scale);
#pragma unroll
        for (int k = 0; k < N; k++) v[i][k + 1] = SCALES ? __dmul_rn(c[entry[k] * 32 + lane], scale) : c[entry[k] * 32 + lane];
      }
      __syncwarp(); /* all lanes have read what is overwritten now */
#pragma unroll
      for (int i = 0; i < ONCE; i++) {
        double *c = stage + (h + i) * L::COEFS;

        *(double2 *)(c + 2 * lane) = make_double2(v[i][0], v[i][1]);
        if (N == 3) *(double2 *)(c + 64 + 2 * lane) = make_double2(v[i][2], v[i][N]);
        else c[64 + lane] = v[i][2];
      }
    }
    fence_written(); /* the copies of a later chunk overwrite this */
    arrive(&o.bars->ready[t.buffer]);
  }
}

/*
   Pushes values to the consumers in the box, piece by piece, and gives credits to the producers. A lane has a
   line and a step of a piece.

   If compute() pushed them itself, the way from warp to warp would be saved. But then a step of 7 points takes
   74 ns instead of 50 (H200), even in a tile that has nothing to push: that is what branches around two
   instructions cost.
*/
template <int N, int WHAT>
__device__ __forceinline__ void push(const Place &o)
{
  typedef Layout<N, WHAT> L;
  constexpr int           TIMES = ((N == 2 ? SYNCILU_STRUCT_NEAR_SIDE : SYNCILU_STRUCT_NEAR_LINES) * L::PIECE + 31) / 32;
  const SyncILULines     &g     = o.m.g;
  const Member           &tile  = o.tile;
  const bool              down  = o.m.down;
  const int               lane  = threadIdx.x & 31;
  unsigned                there[TIMES], bar[TIMES], room[L::SIDES]; /* the consumer's ring and barrier; producers' barriers */
  int                     begin[L::SIDES], end[L::SIDES], from[L::SIDES], to[L::SIDES];
  int                     own[TIMES], first_chunk[TIMES], end_chunk[TIMES];
  bool                    last[TIMES]; /* the last step of a piece */
  Turn                    t = o.turn();

#pragma unroll
  for (int k = 0; k < L::SIDES; k++) {
    const Side   s    = side_of<N>(o.m, k);
    const int    next = o.block(!s.axis, s.axis), before = o.block(-!s.axis, -s.axis);
    const Member after = o.member(!s.axis, s.axis), prior = o.member(-!s.axis, -s.axis);

    begin[k] = after.begin;
    end[k]   = next < 0 ? 0 : after.end;
    room[k]  = in_block_address(&o.bars->room[0], max(before, 0));
    from[k]  = prior.begin;
    to[k]    = before < 0 ? 0 : prior.end;
  }
#pragma unroll
  for (int i = 0; i < TIMES; i++) {
    int item = i * 32 + lane;

    first_chunk[i] = end_chunk[i] = 0;
    own[i]                        = 0;
    there[i] = bar[i] = 0;
    last[i]           = false;
#pragma unroll
    for (int k = 0; k < L::SIDES; k++) {
      const Side s    = side_of<N>(o.m, k);
      const int  next = o.block(!s.axis, s.axis), u = item / s.count, number = item % s.count;
      /* the consumer needs values of these lanes: the first one, and so many further each */
      const int first = down ? 0 : ((1 << (s.axis ? g.edge[1] : g.edge[0])) - 1) << (s.axis ? g.edge[0] : 0), stride = s.axis ? 1 : 1 << g.edge[0];

      if (item >= 0 && u < L::PIECE) {
        last[i]        = u == L::PIECE - 1;
        own[i]         = (1 + u) * L::ROW + first + number * stride;
        there[i]       = in_block_address(o.ring + (1 + u) * L::ROW + s.base + number, max(next, 0));
        bar[i]         = in_block_address(&o.bars->got[0][0], max(next, 0));
        first_chunk[i] = begin[k];
        end_chunk[i]   = end[k];
      }
      item -= L::PIECE * s.count;
    }
  }
  for (int q = tile.begin; q < tile.end; q++, t = t.next(o.stages)) {
    const int next = t.buffer + 1 == o.stages ? 0 : t.buffer + 1, before = q + 1 - o.stages,
              after = q + o.stages - 1; /* consumers' chunk that had the place; producers' that will have ours */

    if (lane == 0) {
#pragma unroll
      for (int k = 0; k < L::SIDES; k++)
        if (before < begin[k] || before >= end[k]) barrier_arrive(&o.bars->room[t.buffer]); /* there is none */
    }
    barrier_wait(&o.bars->room[t.buffer], t.parity);
#pragma unroll
    for (int p = 0; p < L::PIECES; p++) {
      const bool over  = p + 1 == L::PIECES; /* by a barrier of the next chunk, where the last step goes too */
      const int  chunk = over ? q + 1 : q, counter = ((p + 1) % L::PIECES * MOST_STAGES + (over ? next : t.buffer)) * (int)sizeof(Barrier);
      unsigned   to_place[TIMES];

#pragma unroll
      for (int i = 0; i < TIMES; i++)
        to_place[i] = there[i] + (over && last[i] ? next * L::BUFFER - L::PIECE * L::ROW : t.buffer * L::BUFFER + p * L::PIECE * L::ROW) * (int)sizeof(double);
      barrier_wait(&o.bars->done[p][t.buffer], t.parity);
#pragma unroll
      for (int i = 0; i < TIMES; i++)
        push_if(chunk >= first_chunk[i] && chunk < end_chunk[i], to_place[i], o.ring[t.buffer * L::BUFFER + p * L::PIECE * L::ROW + own[i]], bar[i] + counter);
    }
    __syncwarp();
    if (lane == 0) {
      barrier_arrive(&o.bars->empty[t.buffer]);
#pragma unroll
      for (int k = 0; k < L::SIDES; k++)
        if (after >= from[k] && after < to[k]) barrier_arrive_there(room[k] + (t.buffer ? t.buffer - 1 : o.stages - 1) * (int)sizeof(Barrier));
    }
  }
}

/*
   Writes values to device memory, piece by piece: for tiles of other boxes, and all of them for the other
   solve, which reads lanes without a row too.
*/
template <int N, int WHAT>
__device__ __forceinline__ void store(const Place &o)
{
  typedef Layout<N, WHAT> L;
  const SyncILULines     &g      = o.m.g;
  const Member           &tile   = o.tile;
  const int               lane   = threadIdx.x & 31;
  const Line              line   = o.line(lane, 0);
  const bool              stores = !is_second<WHAT>(o.s) || (o.m.exported >> lane & 1); /* of two solves the second one reads all of the first one's */
  double                 *x      = (double *)o.s.x + (o.at(tile.number, tile.begin * STEPS - tile.delay) + lane);
  Turn                    t      = o.turn();

  wait_previous();
  for (int q = tile.begin; q < tile.end; q++, t = t.next(o.stages)) {
    const int     start = q * STEPS - tile.delay;
    const double *ring  = o.ring + t.buffer * L::BUFFER + L::ROW + lane;

#pragma unroll
    for (int p = 0; p < L::PIECES; p++) {
      barrier_wait(&o.bars->done[p][t.buffer], t.parity);
#pragma unroll
      for (int u = p * L::PIECE; u < (p + 1) * L::PIECE; u++) {
        const bool on = (unsigned)(q * STEPS + u - line.late) < (unsigned)g.points[0];

        store_relaxed_if(stores && (unsigned)(start + u) < (unsigned)g.steps, x + u * 32, on ? clean(ring[u * L::ROW]) : 0.0);
      }
    }
    x += STEPS * 32;
    arrive(&o.bars->empty[t.buffer]);
  }
}

/*
   Solves for the rows, step by step. The time of a step is that of its instructions, one after the other, so
   that there are as few as possible.
*/
template <int N, int WHAT>
__device__ __forceinline__ void compute(const Place &o)
{
  typedef Layout<N, WHAT> L;
  constexpr int           SIDES = L::SIDES;
  const SyncILULines     &g     = o.m.g;
  const Member           &tile  = o.tile;
  const bool              down  = o.m.down;
  const int               lane = threadIdx.x & 31, width = 1 << g.edge[0], a = lane & (width - 1), b = lane >> g.edge[0];
  const Line              line       = o.line(lane, 0);
  const bool              turned_rhs = is_second<WHAT>(o.s);
  const int               rhs = STEPS * L::COEFS + (turned_rhs ? (STEPS - 1) * 32 + lane : lane), rhs_step = turned_rhs ? -32 : 33;
  int                     from[SIDES], entry[N]; /* in a row of the ring; in the coefficients of a step */

  struct Row {
    double rest, own, coef[SIDES];
  };
  entry[0] = lane + 32 * o.m.near[0];
#pragma unroll
  for (int k = 0; k < SIDES; k++) {
    const Side s    = side_of<N>(o.m, k);
    const int  edge = (1 << (s.axis ? g.edge[1] : g.edge[0])) - 1, here = s.axis ? b : a;

    entry[k + 1] = lane + 32 * (s.axis ? o.m.near[2] : o.m.near[1]);
    from[k]      = here == (down ? edge : 0) ? s.base + (s.axis ? a : b) : lane + (down ? 1 : -1) * (s.axis ? width : 1);
  }
  /* Where this lane finds what is in a buffer. */
  struct Places {
    double       *own, *from[SIDES];
    const double *first, *second, *entry[N];
  };
  auto load = [&](const Places &p, int u, Row &r) {
    if (WHAT == PLAIN) {
      r.rest = p.first[u * rhs_step];
      r.own  = p.entry[0][u * L::COEFS];
#pragma unroll
      for (int k = 0; k < SIDES; k++) r.coef[k] = p.entry[k + 1][u * L::COEFS];
    } else {
      const double2 one = *(const double2 *)(p.first + u * L::COEFS);

      r.rest = one.x;
      r.own  = one.y;
      if (N == 3) {
        const double2 two = *(const double2 *)(p.first + 64 + u * L::COEFS);

        r.coef[0]         = two.x;
        r.coef[SIDES - 1] = two.y;
      } else r.coef[0] = p.second[u * L::COEFS];
    }
  };
  auto moved = [&](const Places &p, int ahead) {
    Places n;

    n.own    = p.own + ahead;
    n.first  = p.first + ahead;
    n.second = p.second + ahead;
#pragma unroll
    for (int k = 0; k < SIDES; k++) n.from[k] = p.from[k] + ahead;
#pragma unroll
    for (int k = 0; k < N; k++) n.entry[k] = p.entry[k] + ahead;
    return n;
  };
  Barrier *const ready_of = WHAT == PLAIN ? o.bars->full : o.bars->ready;

  Turn   t = o.turn();
  Row    r;
  Places here;
  double y    = 0.0;
  bool   got  = false;
  here.own    = o.ring + t.buffer * L::BUFFER + lane;
  here.first  = o.stage + t.buffer * L::BUFFER + (WHAT == PLAIN ? rhs : 2 * lane);
  here.second = o.stage + t.buffer * L::BUFFER + 64 + lane;
#pragma unroll
  for (int k = 0; k < SIDES; k++) here.from[k] = o.ring + t.buffer * L::BUFFER + from[k];
#pragma unroll
  for (int k = 0; k < N; k++) here.entry[k] = o.stage + t.buffer * L::BUFFER + entry[k];
  barrier_wait(&o.bars->got[0][t.buffer], 0); /* for the first step */
  barrier_wait(&ready_of[t.buffer], 0);
  load(here, 0, r);
  *here.own = 0.0;
  __syncwarp();
  for (int q = tile.begin; q < tile.end; q++) {
    const int    start = q * STEPS;
    const Turn   after = t.next(o.stages);
    const Places next  = moved(here, (after.buffer - t.buffer) * L::BUFFER);
    bool         ready = false;

#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      const Row      present = r;
      const int      piece   = u / L::PIECE + 1; /* that is awaited next */
      const bool     over    = piece == L::PIECES;
      const Turn    &of      = over ? after : t;
      Barrier *const awaited = &o.bars->got[piece % L::PIECES][of.buffer];
      double         near[SIDES];

      if (u % L::PIECE == 1 && !got) barrier_wait(awaited, of.parity);
#pragma unroll
      for (int k = 0; k < SIDES; k++) near[k] = here.from[k][u * L::ROW];
      /* the answer of a barrier takes a step to come: it is asked for before it is needed */
      if (u % L::PIECE == 0) {
        /* the last piece is not awaited: lines beside other tiles end PIECE - 1 steps before the tile, or earlier */
        got = (over && q + 1 == tile.end) || barrier_test(shared_address(awaited), of.parity);
      }
      if (u == STEPS - 2) ready = q + 1 == tile.end || barrier_test(shared_address(&ready_of[after.buffer]), after.parity);
      if (u + 1 < STEPS) load(here, u + 1, r);
      else {
        if (!ready) barrier_wait(&ready_of[after.buffer], after.parity);
        load(next, 0, r);
      }
      y = fma(-present.own, y, present.rest);
#pragma unroll
      for (int k = 0; k < SIDES; k++) y = fma(-present.coef[k], near[k], y);
      if (WHAT == PIVOTS) {
        const bool on = (unsigned)(start + u - line.late) < (unsigned)g.points[0];

        if (on) {
          const int    i = (int)line.row + (start + u) * g.stride[0];
          const double d = judge(o.judge.piv, i, y + diagonal_shift(o.judge.piv), o.judge.status);

          o.judge.pivot[i] = d;
          y                = 1.0 / d;
        }
        y = on ? y : 0.0;
      }
      here.own[(u + 1) * L::ROW] = y;
      if (u + 1 == STEPS) *next.own = y;
      __syncwarp();
      if ((u + 1) % L::PIECE == 0 && lane == 0) barrier_arrive(&o.bars->done[u / L::PIECE][t.buffer]);
    }
    if (lane == 0) barrier_arrive(&o.bars->empty[t.buffer]);
    t    = after;
    here = next;
  }
}

template <int N, int WHAT>
__global__ void __launch_bounds__(32 * Layout<N, WHAT>::WARPS) near_kernel(SyncILUDeviceStruct m, SyncILUDeviceSolve s, Judge judge, int stages)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) double shared[]; /* as copies of whole lines go there faster */
  typedef Layout<N, WHAT>                 L;
  constexpr int                           WARPS = L::WARPS;
  double                                 *ring  = shared + L::STAGE;
  double                                 *ones  = shared + (stages * L::BUFFER);
  Barriers                               *bars  = (Barriers *)(ones + STEPS * 32);
  const int                               rank = (int)cluster_rank(), lg = m.box.g.edge[0] - m.g.edge[0], blocks = m.box.tiles;

  /* of the warps of bring() only one has work if no right-hand side is gathered */
  const int bringing = gathers<WHAT>(s) ? L::BRING : 1;

  /* by one thread: if all threads initialize barriers, the kernel takes 3 us longer on an H200 */
  if (threadIdx.x == 0) {
    if (!rank) bars->ticket = (unsigned)atomicAdd(s.ticket, 1ull);
    barrier_begin(&bars->begun, 1);
    barrier_begin(&bars->taken, blocks);
    for (int k = 0; k < stages; k++) {
      barrier_begin(&bars->full[k], 33 * bringing); /* each lane for its copies, the warp for the rest */
      barrier_begin(&bars->ready[k], max(1, L::PREPARE));
      for (int j = 0; j < L::PIECES; j++) barrier_begin(&bars->got[j][k], 1);
      for (int j = 0; j < L::PIECES; j++) barrier_begin(&bars->done[j][k], 1);
      barrier_begin(&bars->room[k], L::SIDES);
      barrier_begin(&bars->empty[k], 4); /* compute(), push(), store(), take() */
    }
  }
  /* where there is no other tile, its values are zero */
  for (int k = threadIdx.x; k < stages * L::RING; k += 32 * WARPS) ring[k / L::RING * L::BUFFER + k % L::RING] = 0.0;
  for (int k = threadIdx.x; k < STEPS * 32; k += 32 * WARPS) poison(ones[k]);
  fence_copies();
  cluster_sync(); /* ticket, barriers, zeros and sentinels of all blocks are there */
  const unsigned ticket = *in_block(&bars->ticket, 0);
  Place          o      = {m, s, judge, tile_of(m.box.g, m.box.order[ticket]), {}, rank & ((1 << lg) - 1), rank >> lg, stages, shared, ring, ones, bars};
  o.tile                = o.member(0, 0);
  __syncthreads(); /* all have read the ticket */
  if (threadIdx.x == 0) barrier_arrive_there(in_block_address(&bars->taken, 0));
  /* the computing warps of neighbouring blocks had better have schedulers of their own */
  const int role = ((threadIdx.x >> 5) + WARPS - rank % WARPS) % WARPS;
  /* take() has nothing to do yet */
  if (role == 3 + L::BRING && !(threadIdx.x & 31)) begin_next(!ticket && !rank, s.reset, is_first<WHAT>(s));
  if (o.tile.number >= 0) {
    if (role == 0) compute<N, WHAT>(o);
    else if (role == 1) push<N, WHAT>(o);
    else if (role == 2) store<N, WHAT>(o);
    else if (role < 3 + L::BRING) {
      if (role < 3 + bringing) bring<N, WHAT>(o, role - 3);
    } else if (role == 3 + L::BRING) take<N, WHAT>(o);
    else if (role < 4 + L::BRING + L::FETCH) fetch<N, WHAT>(o, role - 4 - L::BRING);
    else if constexpr (L::PREPARE > 0) prepare<N, WHAT>(o, role - 4 - L::FETCH - L::BRING);
  }
  if (!rank && threadIdx.x == 0) barrier_wait(&bars->taken, 0); /* no block reads the ticket here any more */
#endif
}

/* Buffers: as many as leave room for another block on a multiprocessor, but two. */
template <int N, int WHAT>
int stages_for(int most)
{
  int stages = MOST_STAGES;

  while (stages > 2 && Layout<N, WHAT>::bytes(stages) > (size_t)(most / 2 - 1024)) stages--;
  return stages;
}

/* A launch; with fits given, whether one is possible, instead. */
template <int N, int WHAT>
cudaError_t launch(const SyncILUDeviceStruct &m, const SyncILUDeviceSolve *s, const Judge &judge, int *fits, cudaStream_t stream)
{
  int               most = 0;
  const cudaError_t err  = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most);

  if (err != cudaSuccess) return err;
  const int           stages = stages_for<N, WHAT>(most);
  cudaLaunchAttribute attributes[3];
  auto                config = cluster_launch(attributes, m.box.tiles, m.box.g.tiles, 32 * Layout<N, WHAT>::WARPS, Layout<N, WHAT>::bytes(stages), stream);

  if (fits) return cluster_fits(near_kernel<N, WHAT>, config, fits);
  launch_balanced(&config);
  if (is_second<WHAT>(*s)) launch_early(&config);
  return cudaLaunchKernelEx(&config, near_kernel<N, WHAT>, m, *s, judge, stages);
}

template <int WHAT>
cudaError_t of_size(const SyncILUDeviceStruct &m, const SyncILUDeviceSolve *s, const Judge &judge, int *fits, cudaStream_t stream)
{
  return m.entries == 2 ? launch<2, WHAT>(m, s, judge, fits, stream) : launch<3, WHAT>(m, s, judge, fits, stream);
}

} // namespace

cudaError_t SyncILUKernelStructNearFits(SyncILUDeviceStruct m, int *fits)
{
  cudaError_t err = of_size<SCALED>(m, nullptr, {}, fits, nullptr);

  if (err == cudaSuccess && *fits) err = of_size<PLAIN>(m, nullptr, {}, fits, nullptr);
  if (err == cudaSuccess && *fits) err = of_size<PIVOTS>(m, nullptr, {}, fits, nullptr);
  if (err == cudaSuccess && *fits) err = of_size<SPLIT>(m, nullptr, {}, fits, nullptr);
  return err;
}

cudaError_t SyncILUKernelSolveStructNear(SyncILUValueType type, SyncILUDeviceStruct m, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (s.v) return of_size<SPLIT>(m, &s, {}, nullptr, stream);
  return m.scaled ? of_size<SCALED>(m, &s, {}, nullptr, stream) : of_size<PLAIN>(m, &s, {}, nullptr, stream);
}

cudaError_t SyncILUKernelStructNearPivots(SyncILUValueType type, SyncILUDeviceStruct m, SyncILUDeviceSolve s, SyncILUDevicePivoting piv, void *pivot,
                                          SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  return of_size<PIVOTS>(m, &s, {piv, (double *)pivot, status}, nullptr, stream);
}
