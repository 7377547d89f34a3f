/*
   Triangular solves of matrices of a grid, in the tiles of kernels/struct.h. A block solves for a tile, step by
   step. One warp computes, another one brings coefficients and right-hand side and takes the solution away. Two
   or four warps bring what rows of other tiles have found for a chunk of steps, each for a piece of it; as that
   takes longer than a chunk, there are as many for each of several chunks. Where rows have many entries, two
   more warps sum up what those come to that reach back two steps or more. Where rows depend on their nearest
   neighbours alone, solve_struct_near.cu is for one right-hand side.

   Shared memory has the solution of the last steps, for the lines of the tile and those beside it, in buffers
   of a chunk, each with the last steps of the chunk before it, so that the place of what an entry needs is
   known when the kernel is compiled but for one address an entry. Rows that are not on the grid are zero
   there, as the coefficients of entries that leave it are.

   Progress: blocks take tiles by ticket, in the order of their lowest levels, in which a tile comes after
   those that its lines depend on. Within a block, the warps wait for each other by barriers: the computing
   warp, and those that sum up, for each other after each step, and for the others, chunk by chunk; these for
   them, before they use a buffer again, several chunks later. So the unfinished chunk of the lowest ticket
   waits for nothing unfinished.

   Of two solves in a row the second one is launched as soon as all blocks of the first one have begun. Its
   blocks make their shared memory ready, and wait for the end of the first one.

   Values that leave a tile are their own flags. The x of the other triangular solve is filled with sentinels
   on the way, whole chunks at once.
*/
#include "solve_struct.h"
#include "solve_struct_near.h"
#include "struct_steps.cuh"
#include "cluster.cuh"

using namespace syncilu;

namespace
{

constexpr int MOST_STAGES = 6, MOST_PIECES = 4;

struct Barriers {
  /* of each buffer: coefficients and right-hand side are there; values of other tiles, for each piece; all is read */
  Barrier  full[MOST_STAGES], got[MOST_PIECES][MOST_STAGES], empty[MOST_STAGES];
  Barrier  begun; /* the first values of other tiles have come; nobody asks for later ones before */
  unsigned ticket;
};

/*
   N entries a row, and the diagonal or its reciprocal but for PLAIN; R right-hand sides; up to 1 << LG lines
   beside a tile; values of other tiles come for D chunks at a time, each in pieces. Where rows
   have more than a few entries they come in more of them, which are there earlier, and two warps sum up the
   far ones.
*/
template <int N, int WHAT, int R, int LG, int D>
struct Layout {
  static constexpr int NEAR = N < 3 ? N : 3, FAR = N - NEAR; /* entries; the near ones are last */
  static constexpr int SUMMING = N > 4 && R == 1 && (WHAT == PLAIN || WHAT == SCALED) ? 2 : 0, PIECES = SUMMING ? 4 : 2, PIECE = STEPS / PIECES;
  static constexpr int WARPS = 2 + PIECES * D + SUMMING, TOGETHER = 1 + SUMMING;               /* the latter meet after each step */
  static constexpr int SUMS  = SUMMING * 32;                                                   /* of a step */
  static constexpr int ROW   = ((LG > 5 ? SYNCILU_STRUCT_CELLS : SYNCILU_STRUCT_FEW) + 1) * R; /* numbers of a step in the ring */
  static constexpr int COEFS = (N + (WHAT != PLAIN)) * 32;                                     /* of a step */
  static constexpr int RHS   = 34 * R;                                                         /* likewise, with padding against conflicts of banks */
  static constexpr int OTHER = STEPS * (COEFS + RHS);                                          /* where SPLIT has w of a chunk, then the diagonal */
  static constexpr int STAGE = OTHER + (WHAT == SPLIT ? 2 * STEPS * 32 : 0);

  static __host__ __device__ int    ring(const SyncILUDeviceStruct &m) { return (m.height + STEPS) * ROW; }
  static __host__ __device__ size_t bytes(const SyncILUDeviceStruct &m, int stages)
  {
    return ((size_t)stages * (STAGE + ring(m)) + STEPS * 32 + 2 * SUMS) * sizeof(double);
  }
};

struct Place {
  const SyncILUDeviceStruct &m;
  const SyncILUDeviceSolve  &s;
  const Judge               &judge;
  Tile                       tile;
  int                        group, stages, chunks;
  double                    *ring, *stage, *sums;
  const double              *ones;
  Barriers                  *bars;

  /* Rows of x, with the lanes that have none; and where those of a step of a tile begin in the x of this group. */
  __device__ __forceinline__ size_t    rows() const { return (size_t)m.g.tiles * m.g.steps * 32; }
  __device__ __forceinline__ long long at(int number, int step) const
  {
    return (long long)group * (long long)rows() + ((long long)number * m.g.steps + step) * 32;
  }
};

/* The numbers of R right-hand sides side by side in shared memory. */
template <int R>
__device__ __forceinline__ void get(const double *p, double (&v)[R])
{
  if (R == 1) v[0] = *p;
  else {
#pragma unroll
    for (int r = 0; r < R; r += 2) {
      const double2 two = *(const double2 *)(p + r);

      v[r]     = two.x;
      v[r + 1] = two.y;
    }
  }
}

template <int R>
__device__ __forceinline__ void put(double *p, const double (&v)[R])
{
  if (R == 1) *p = v[0];
  else {
#pragma unroll
    for (int r = 0; r < R; r += 2) *(double2 *)(p + r) = make_double2(v[r], v[r + 1]);
  }
}

/* Brings coefficients and right-hand sides, chunk by chunk, and takes away what was found in the chunk before in the same buffer. */
template <int N, int WHAT, int R, int LG, int D>
__device__ __forceinline__ void carry(const Place &o)
{
  typedef Layout<N, WHAT, R, LG, D> L;
  /* not where the compiler then takes fewer registers for all of the kernel, which takes more time */
  constexpr bool      PREDICATED = N != 3 && (R == 1 || N < SYNCILU_STRUCT_MOST);
  const SyncILULines &g          = o.m.g;
  const bool          down = o.m.down, second = is_second<WHAT>(o.s);
  const int           lane = threadIdx.x & 31, step = lane % STEPS, width = 1 << g.edge[0], height = 1 << g.edge[1];
  const int           ring = L::ring(o.m), columns = width + o.m.reach[0];
  const Tile          tile  = o.tile;
  const int           place = (step * 33 + lane / STEPS) * R, stride = g.stride[0];
  int                 row[STEPS], late[STEPS], cell[STEPS]; /* of the lines that this lane takes one step a chunk of */
  Turn                t;

#pragma unroll
  for (int u = 0; u < STEPS; u++) {
    const int  number = 32 / STEPS * u + lane / STEPS, v = tile.v + (number & (width - 1)), w = tile.w + (number >> g.edge[0]);
    const int  first = line_row(g, v, w);
    const Lane l     = turned(o.m, lane_at(g, v, w));
    const int  a = number & (width - 1), b = number >> g.edge[0];

    late[u] = first < 0 ? INT_MAX / 2 : l.late - step;
    row[u]  = first + (down ? g.points[0] - 1 + l.late - step : step - l.late) * stride;
    cell[u] = step * L::ROW + R * (((down ? height - 1 - b : b) + o.m.reach[1]) * columns + (down ? width - 1 - a : a) + o.m.reach[0]);
  }
  const int     columns_left = o.s.nrhs - o.group * R; /* right-hand sides of this group, R or fewer */
  const double *b            = (const double *)(WHAT == SPLIT ? o.s.v : o.s.b) + (size_t)o.group * R * o.s.ldb;
  double       *out = (double *)o.s.out + (o.s.out ? (size_t)o.group * R * o.s.ldout : 0), *next = (double *)o.s.next;
  if (next) next += o.at(tile.number, 0) * R;
  const double *const coef  = (const double *)o.m.val + (size_t)tile.number * g.steps * L::COEFS;
  const double *const other = (const double *)o.s.b + o.at(tile.number, 0) * R;

  for (int q = 0; q < o.chunks + o.stages; q++, t = t.next(o.stages)) {
    if (q >= o.stages) {
      const int     start = (q - o.stages - 1) * STEPS, from = max(start, 0), to = min(start + STEPS, g.steps);
      const double *found = o.ring + t.buffer * ring + o.m.height * L::ROW;

      barrier_wait(&o.bars->empty[t.buffer], t.parity ^ 1);
      if (out) {
        double y[STEPS][R];

#pragma unroll
        for (int u = 0; u < STEPS; u++) get<R>(found + cell[u], y[u]);
        if (WHAT == SPLIT) {
          const double *coefs = o.stage + t.buffer * L::STAGE + lane / STEPS, *w = coefs + L::OTHER + (STEPS - 1 - step) * 32;

          coefs += step * L::COEFS + N * 32;
#pragma unroll
          for (int u = 0; u < STEPS; u++) y[u][0] = (w[32 / STEPS * u] + y[u][0]) * (1.0 / coefs[32 / STEPS * u]);
          __syncwarp(); /* all lanes have read what the first one has copies come in the place of */
        }
#pragma unroll
        for (int u = 0; u < STEPS; u++) {
          const bool on = (unsigned)(start - late[u]) < (unsigned)g.points[0];

          if (!PREDICATED && !on) continue;
          const int i = row[u] + (down ? -start : start) * stride;
#pragma unroll
          for (int r = 0; r < R; r++) {
            if (PREDICATED) store_if(on && (R == 1 || r < columns_left), out + i + r * o.s.ldout, y[u][r]);
            else if (R == 1 || r < columns_left) out[i + r * o.s.ldout] = y[u][r];
          }
        }
      }
      /* the right-hand side that has been read, or what will be found by the other solve, which waits for the kernel */
      if (next && lane == 0) {
        for (int k = from; k < to; k += STEPS / R) {
          const int count = min(to - k, STEPS / R);

          store_bulk(next + (size_t)(second ? g.steps - k - count : k) * 32 * R, o.ones, count * 32 * R * (int)sizeof(double));
        }
      }
    }
    if (q < o.chunks) {
      const int start = (q - 1) * STEPS, from = max(start, 0), to = min(start + STEPS, g.steps);
      double   *coefs = o.stage + t.buffer * L::STAGE, *rhs = coefs + STEPS * L::COEFS;
      Barrier  *full = &o.bars->full[t.buffer];

      if (from < to && lane == 0) {
        const int size = L::COEFS * (int)sizeof(double), size_other = 32 * R * (int)sizeof(double);

        barrier_expect(full, (to - from) * (size + (second ? size_other : 0) + (WHAT == SPLIT ? size_other : 0)));
        copy_bulk(coefs + (from - start) * L::COEFS, coef + (size_t)from * L::COEFS, (to - from) * size, full);
        /* in the order of the other solve, from the end */
        if (second)
          copy_bulk((WHAT == SPLIT ? coefs + L::OTHER : rhs) + (STEPS - (to - start)) * 32 * R, other + (size_t)(g.steps - to) * 32 * R,
                    (to - from) * size_other, full);
        if (WHAT == SPLIT)
          copy_bulk(coefs + L::OTHER + (STEPS + from - start) * 32, (const double *)o.m.diagonal + o.at(tile.number, from), (to - from) * size_other, full);
      }
      if (gathers<WHAT>(o.s)) {
#pragma unroll
        for (int u = 0; u < STEPS; u++) {
          const bool on = (unsigned)(start - late[u]) < (unsigned)g.points[0];

#pragma unroll
          for (int r = 0; r < R; r++)
            copy_if(on && (R == 1 || r < columns_left), rhs + place + 32 / STEPS * u * R + r, b + (row[u] + (down ? -start : start) * stride) + r * o.s.ldb);
        }
      }
      barrier_arrive_copied(full);
      __syncwarp(); /* the arrival of a copy says nothing of what lanes have read, in whose place the next values come */
      if (lane == 0) barrier_arrive(full);
    }
  }
  if (lane == 0) wait_stores();
}

/*
   Brings what other tiles have found, its piece of every D-th chunk: the way of a value takes longer than a
   chunk.
*/
template <int N, int WHAT, int R, int LG, int D>
__device__ __forceinline__ void fetch(const Place &o, int piece, int slot)
{
  typedef Layout<N, WHAT, R, LG, D> L;
  /* lines of a lane; steps that a warp takes at once; how often it does */
  constexpr int       LINES = LG > 5 ? 1 << (LG - 5) : 1, ONCE = LG > 5 ? 1 : 32 >> LG, TIMES = ONCE < L::PIECE ? L::PIECE / ONCE : 1;
  const SyncILULines &g    = o.m.g;
  const int           lane = threadIdx.x & 31, step = piece * L::PIECE + (LG > 5 ? 0 : lane >> LG), width = 1 << g.edge[0];
  const int           ring = L::ring(o.m), columns = width + o.m.reach[0], height = o.m.height;
  int                 late[LINES], cell[LINES];
  const double       *x[LINES];
  Turn                t;

#pragma unroll
  for (int k = 0; k < LINES; k++) {
    const int line = k * 32 + (LG > 5 ? lane : lane & ((1 << LG) - 1));

    late[k] = INT_MAX / 2;
    cell[k] = -1;
    x[k]    = (const double *)o.s.x;
    if (line >= o.m.beside.lines || step >= (piece + 1) * L::PIECE) continue;
    const int a = o.m.beside.line[line][0], b = o.m.beside.line[line][1];
    const int v = o.tile.v + (o.m.down ? width - 1 - a : a), w = o.tile.w + (o.m.down ? (1 << g.edge[1]) - 1 - b : b);
    cell[k] = ((b + o.m.reach[1]) * columns + a + o.m.reach[0]) * R + step * L::ROW;
    if (line_row(g, v, w) < 0) continue;
    const Lane l     = turned(o.m, lane_at(g, v, w));
    const int  delay = g.level[0] * a + g.level[1] * b; /* its level at x = 0 is so many steps after our first one */
    late[k]          = delay - step;
    x[k] += (o.at(tile_at(g, v, w), l.late - delay + step) + l.number) * R;
  }
  /* a barrier tells the present phase from the last one: whoever brings a chunk has waited for the one so many before */
  const int depth = min(D, o.stages);
  if (slot >= depth) return;
  for (int k = 0; k < slot; k++) t = t.next(o.stages);
  /* the tile may be far from its turn: until its first values have come two warps ask for them */
  if (slot) barrier_wait(&o.bars->begun, 0);
  for (int q = slot; q < o.chunks; q += depth) {
    const int  start = (q - 1) * STEPS;
    const Turn after = t.next(o.stages);
    double     y[TIMES][LINES][R];
    bool       all = true;

#pragma unroll
    for (int i = 0; i < TIMES; i++) {
#pragma unroll
      for (int k = 0; k < LINES; k++) {
#pragma unroll
        for (int r = 0; r < R; r++) {
          y[i][k][r] = 0.0;
          load_relaxed_if((unsigned)(start + i * ONCE - late[k]) < (unsigned)g.points[0], x[k] + (long long)(start + i * ONCE) * 32 * R + r, &y[i][k][r]);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
#pragma unroll
      for (int k = 0; k < LINES; k++) all = are_set<double, R>(y[i][k]) && all;
    }
    while (!__all_sync(FULL, all)) {
      if (!q) __nanosleep(SYNCILU_STRUCT_PAUSE);
      all = true;
#pragma unroll
      for (int i = 0; i < TIMES; i++) {
#pragma unroll
        for (int k = 0; k < LINES; k++) {
#pragma unroll
          for (int r = 0; r < R; r++) load_relaxed_if(!is_set(y[i][k][r]), x[k] + (long long)(start + i * ONCE) * 32 * R + r, &y[i][k][r]);
        }
      }
#pragma unroll
      for (int i = 0; i < TIMES; i++) {
#pragma unroll
        for (int k = 0; k < LINES; k++) all = are_set<double, R>(y[i][k]) && all;
      }
    }
    /* the last steps go to the next buffer too, whose chunk before last must be over */
    if (q + 1 >= o.stages) barrier_wait(&o.bars->empty[after.buffer], after.parity ^ 1);
    double *const here = o.ring + t.buffer * ring + height * L::ROW, *const there = o.ring + after.buffer * ring - (STEPS - height) * L::ROW;
#pragma unroll
    for (int i = 0; i < TIMES; i++) {
#pragma unroll
      for (int k = 0; k < LINES; k++) {
        if (cell[k] < 0) continue;
        put<R>(here + i * ONCE * L::ROW + cell[k], y[i][k]);
        if (step + i * ONCE >= STEPS - height) put<R>(there + i * ONCE * L::ROW + cell[k], y[i][k]);
      }
    }
    arrive(&o.bars->got[piece][t.buffer]);
    if (!q && !piece) arrive(&o.bars->begun);
    for (int k = 0; k < depth; k++) t = t.next(o.stages);
  }
}

/*
   Solves for the rows, a step after the other. The last entries are those that rows of the step before are
   needed for; what the others need is there earlier, and is subtracted while these are waited for, or by
   other warps.
*/
template <int N, int WHAT, int R, int LG, int D>
__device__ __forceinline__ void compute(const Place &o)
{
  typedef Layout<N, WHAT, R, LG, D> L;
  constexpr int                     NEAR = L::NEAR, FAR = L::FAR, PIECE = L::PIECE;
  constexpr bool                    SUMMED = L::SUMMING > 0, SCALES = WHAT == SCALED || WHAT == SPLIT;
  const Tile                        tile = o.tile;
  const SyncILULines               &g    = o.m.g;
  const bool                        down = o.m.down, second = is_second<WHAT>(o.s);
  const int                         lane = threadIdx.x & 31, width = 1 << g.edge[0], height = o.m.height, ring = L::ring(o.m);
  const int                         a = lane & (width - 1), b = lane >> g.edge[0], v = tile.v + a, w = tile.w + b;
  const int                         first = line_row(g, v, w), late = first < 0 ? INT_MAX / 2 : turned(o.m, lane_at(g, v, w)).late;
  const int  cell   = (((down ? (1 << g.edge[1]) - 1 - b : b) + o.m.reach[1]) * (width + o.m.reach[0]) + (down ? width - 1 - a : a) + o.m.reach[0]) * R;
  const bool stores = !second || (o.m.exported >> lane & 1); /* the second solve reads all */
  double    *x      = (double *)o.s.x + (o.at(tile.number, -STEPS) + lane) * R;
  /* the right-hand side comes with padding, or in the order of the other solve */
  const bool turned_rhs = second && WHAT != SPLIT;
  const int  rhs = STEPS * L::COEFS + (turned_rhs ? ((STEPS - 1) * 32 + lane) * R : lane * R), rhs_step = (turned_rhs ? -32 : 33) * R;
  int        from[N];

#pragma unroll
  for (int e = 0; e < N; e++) from[e] = (o.m.at[e] < 0 ? o.m.beside.cells * R : cell + o.m.beside.cell[e] * R) + (height - o.m.before[e]) * L::ROW;

  /*
     All of a step but for the near entries: what is left of its right-hand side, and their coefficients; and
     the scale, if that is left for later.
  */
  auto prepare = [&](const double *stage, const double *found, int u, double(&rest)[R], double(&coef)[NEAR], double &scale) {
    const double *c = stage + u * L::COEFS + lane;

    if (!SUMMED) {
      if (WHAT == PIVOTS) rest[0] = c[N * 32];
      else if (WHAT == SPLIT) rest[0] = 0.0;
      else get<R>(stage + rhs + u * rhs_step, rest);
#pragma unroll
      for (int e = 0; e < FAR; e++) {
        double y[R];

        get<R>(found + from[e] + u * L::ROW, y);
#pragma unroll
        for (int r = 0; r < R; r++) rest[r] = fma(-c[e * 32], y[r], rest[r]);
      }
    }
    scale = SCALES ? c[N * 32] : 1.0;
    if (!SUMMED) {
#pragma unroll
      for (int r = 0; r < R; r++) rest[r] = SCALES ? __dmul_rn(rest[r], scale) : rest[r];
    }
    if (WHAT == SPLIT) {
      const double *w = stage + L::OTHER + (STEPS - 1 - u) * 32 + lane, *a = stage + L::OTHER + (STEPS + u) * 32 + lane;

      rest[0] += fma(fma(*a, scale, -2.0), *w, stage[rhs + u * rhs_step]);
    }
#pragma unroll
    for (int k = 0; k < NEAR; k++) coef[k] = SCALES && !SUMMED ? __dmul_rn(c[(FAR + k) * 32], scale) : c[(FAR + k) * 32];
  };

  Turn   t;
  double rest[R], coef[NEAR], scale;
  barrier_wait(&o.bars->full[0], 0);
  prepare(o.stage, o.ring, 0, rest, coef, scale);
  if (SUMMED) barrier_meet(1, 32 * L::TOGETHER);
  for (int q = 0; q < o.chunks; q++) {
    const int  start = (q - 1) * STEPS;
    const Turn after = t.next(o.stages);
    double    *found = o.ring + t.buffer * ring, *next = o.ring + after.buffer * ring, *again = next - (STEPS - height) * L::ROW;
    bool       got = false, full = false;

#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      double near[NEAR][R], left[R], mine[NEAR], other = 0.0, later;

      /* who asks for a barrier waits for the answer: it is asked for a step before it is needed */
      if (u % PIECE == 1 && !got) barrier_wait(&o.bars->got[u / PIECE][t.buffer], t.parity);
#pragma unroll
      for (int k = 0; k < NEAR; k++) get<R>(found + from[FAR + k] + u * L::ROW, near[k]);
      if (SUMMED) {
        rest[0] = o.sums[u % 2 * L::SUMS + lane];
        other   = o.sums[u % 2 * L::SUMS + 32 + lane];
      }
      if (u % PIECE == 0) got = barrier_try(&o.bars->got[u / PIECE][t.buffer], t.parity);
      if (u == STEPS - 2) full = q + 1 == o.chunks || barrier_try(&o.bars->full[after.buffer], after.parity);
      if (u + 1 < STEPS) prepare(o.stage + t.buffer * L::STAGE, found, u + 1, left, mine, later);
      else {
        if (!full) barrier_wait(&o.bars->full[after.buffer], after.parity);
        prepare(o.stage + after.buffer * L::STAGE, next, 0, left, mine, later);
      }
      const bool on = (unsigned)(start + u - late) < (unsigned)g.points[0];
      double     y[R];
#pragma unroll
      for (int r = 0; r < R; r++) {
        y[r] = rest[r];
#pragma unroll
        for (int k = 0; k < NEAR - SUMMED; k++) y[r] = fma(-coef[k], near[k][r], y[r]);
        if (SUMMED) y[r] += fma(-coef[NEAR - 1], near[NEAR - 1][r], other);
        if (SUMMED && SCALES) y[r] = __dmul_rn(y[r], scale);
        if (WHAT == PIVOTS && on) {
          const int    i = first + (start + u - late) * g.stride[0];
          const double d = judge(o.judge.piv, i, y[r] + diagonal_shift(o.judge.piv), o.judge.status);

          o.judge.pivot[i] = d;
          y[r]             = 1.0 / d;
        }
        y[r] = on ? y[r] : 0.0;
      }
      put<R>(found + (height + u) * L::ROW + cell, y);
      if (u >= STEPS - height) put<R>(again + u * L::ROW + cell, y);
      /* other lanes need the values in the next step, after which nobody waits at the end */
      if (L::TOGETHER == 1) __syncwarp();
      else if (!SUMMED || u + 1 < STEPS || q + 1 < o.chunks) barrier_meet(1, 32 * L::TOGETHER);
#pragma unroll
      for (int r = 0; r < R; r++) {
        store_relaxed_if(on && stores, x + u * 32 * R + r, clean(y[r]));
        rest[r] = left[r];
      }
#pragma unroll
      for (int k = 0; k < NEAR; k++) coef[k] = mine[k];
      scale = later;
    }
    x += STEPS * 32 * R;
    arrive(&o.bars->empty[t.buffer]);
    t = after;
  }
}

/*
   Sums up what half of the far entries of a row come to, the first half with the right-hand side, while the
   rows of the step before are solved for: they need rows of earlier steps, and all warps have met after
   these. So have those that have read the sums, before others take their place.
*/
template <int N, int WHAT, int LG, int D>
__device__ __forceinline__ void sum_far(const Place &o, int half)
{
  typedef Layout<N, WHAT, 1, LG, D> L;
  constexpr int                     FAR = L::FAR, COUNT = (FAR + 1) / 2, PIECE = L::PIECE;
  const SyncILULines               &g    = o.m.g;
  const bool                        down = o.m.down, second = is_second<WHAT>(o.s);
  const int lane = threadIdx.x & 31, width = 1 << g.edge[0], height = o.m.height, ring = L::ring(o.m), a = lane & (width - 1), b = lane >> g.edge[0];
  const int cell = ((down ? (1 << g.edge[1]) - 1 - b : b) + o.m.reach[1]) * (width + o.m.reach[0]) + (down ? width - 1 - a : a) + o.m.reach[0];
  const int rhs = STEPS * L::COEFS + (second ? (STEPS - 1) * 32 + lane : lane), rhs_step = second ? -32 : 33, first = half ? FAR - COUNT : 0;
  int       from[COUNT];
  double    coef[COUNT], rest;
  Turn      t, last;

#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    const int e = first + k;

    from[k] = (o.m.at[e] < 0 ? o.m.beside.cells : cell + o.m.beside.cell[e]) + (height - o.m.before[e]) * L::ROW;
  }
  auto prepare = [&](const double *stage, int u) {
    const double *c = stage + u * L::COEFS + lane;

    rest = half ? 0.0 : stage[rhs + u * rhs_step];
#pragma unroll
    for (int k = 0; k < COUNT; k++) coef[k] = FAR % 2 && half && !k ? 0.0 : c[(first + k) * 32]; /* one that both halves have */
  };
  barrier_wait(&o.bars->full[0], 0);
  prepare(o.stage, 0);
  for (int q = 0; q < o.chunks; q++) {
    const Turn    after = t.next(o.stages);
    const double *stage = o.stage + t.buffer * L::STAGE, *found = o.ring + t.buffer * ring;

#pragma unroll
    for (int u = 0; u < STEPS; u++) {
      double y[COUNT], part = 0.0;

      /* the piece that has the step two before, if it is the first one of it */
      if (u >= 2 && u % PIECE == 2 % PIECE) barrier_wait(&o.bars->got[(u - 2) / PIECE][t.buffer], t.parity);
      if (!u && q && PIECE == 2) barrier_wait(&o.bars->got[L::PIECES - 1][last.buffer], last.parity);
#pragma unroll
      for (int k = 0; k < COUNT; k++) y[k] = found[from[k] + u * L::ROW];
#pragma unroll
      for (int k = 0; k < COUNT; k++) {
        if (k % 2) part = fma(-coef[k], y[k], part);
        else rest = fma(-coef[k], y[k], rest);
      }
      rest += part;
      o.sums[u % 2 * L::SUMS + half * 32 + lane] = rest;
      if (u + 1 < STEPS) prepare(stage, u + 1);
      else if (q + 1 < o.chunks) {
        barrier_wait(&o.bars->full[after.buffer], after.parity);
        prepare(o.stage + after.buffer * L::STAGE, 0);
      }
      barrier_meet(1, 32 * L::TOGETHER);
    }
    last = t;
    t    = after;
  }
}

/*
   With longer rows a multiprocessor need not have more than one block: with registers for as many as it might
   have, the compiler reads their entries one after the other, and waits for each. On an H200, L + U: 27
   points, 80^3, take 0.388 ms, 0.247 with more registers, 0.220 with two warps that sum up and smaller
   pieces, 0.203 when these wait asleep; 25 points 0.215, 0.149, 0.131 and 0.122; 15 points, 90^3, 0.164, 0.144,
   0.135 and 0.126; 9 points, 1000^2, 0.544, and 0.475 with stores of the solution that have predicates; with warps
   that sum up besides it would be 0.518.
*/
template <int N, int WHAT, int R, int LG, int D>
__global__ void __launch_bounds__(32 * Layout<N, WHAT, R, LG, D>::WARPS, N > 3 && R == 1)
  struct_kernel(SyncILUDeviceStruct m, SyncILUDeviceSolve s, Judge judge, int groups, int stages)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) double shared[]; /* as copies of whole lines go there faster */
  __shared__ Barriers                     bars;
  typedef Layout<N, WHAT, R, LG, D>       L;
  constexpr int                           WARPS = L::WARPS;
  const int                               ring  = stages * L::ring(m);
  double                                 *ones = shared + stages * L::STAGE, *sums = ones + STEPS * 32, *found = sums + 2 * L::SUMS;

  if (threadIdx.x == 0) {
    bars.ticket = (unsigned)atomicAdd(s.ticket, 1ull);
    barrier_begin(&bars.begun, 1);
    for (int k = 0; k < stages; k++) {
      /* of copies every lane arrives, and the warp for what it did besides */
      barrier_begin(&bars.full[k], 33);
      for (int j = 0; j < L::PIECES; j++) barrier_begin(&bars.got[j][k], 1);
      barrier_begin(&bars.empty[k], 1);
    }
  }
  for (int k = threadIdx.x; k < ring; k += 32 * WARPS) found[k] = 0.0;
  for (int k = threadIdx.x; k < STEPS * 32; k += 32 * WARPS) poison(ones[k]);
  fence_copies();
  __syncthreads(); /* ticket, barriers, and what copies take are there */
  /* the last warp of the first block has nothing to do yet */
  if (threadIdx.x == 32 * WARPS - 1) begin_next(!bars.ticket, s.reset, is_first<WHAT>(s));
  wait_previous();
  const int   place = (int)(bars.ticket / groups), chunks = 1 + (m.g.steps + STEPS - 1) / STEPS;
  const Place o = {m, s, judge, tile_of(m.g, m.order[place]), (int)bars.ticket - place * groups, stages, chunks, found, shared, sums, ones, &bars};
  /* the computing warps of neighbouring blocks had better have schedulers of their own */
  const int role = ((threadIdx.x >> 5) + WARPS - bars.ticket % WARPS) % WARPS;
  if (role == 0) compute<N, WHAT, R, LG, D>(o);
  else if (role == 1) carry<N, WHAT, R, LG, D>(o);
  else if (role < 2 + L::PIECES * D) fetch<N, WHAT, R, LG, D>(o, (role - 2) % L::PIECES, (role - 2) / L::PIECES);
  else if constexpr (L::SUMMING > 0) sum_far<N, WHAT, LG, D>(o, role - 2 - L::PIECES * D);
#endif
}

/* Buffers: as many as fit so much shared memory, 0 if too few do. */
template <int N, int WHAT, int R, int LG, int D>
int stages_of(const SyncILUDeviceStruct &m, int most)
{
  int stages = MOST_STAGES;

  while (stages > 1 && Layout<N, WHAT, R, LG, D>::bytes(m, stages) > (size_t)most) stages--;
  return stages > 1 ? stages : 0;
}

/*
   Buffers of a launch of so many blocks. Where each multiprocessor has one block, or two with long rows, which would slow each
   other down, all of its shared memory; else so many that it has two, and a cache beside, for right-hand sides come in
   pieces of lines that other pieces complete; but three.
*/
template <int N, int WHAT, int R, int LG, int D>
int stages_for(const SyncILUDeviceStruct &m, int most, int blocks, int multiprocessors)
{
  const int all = stages_of<N, WHAT, R, LG, D>(m, most), cached = stages_of<N, WHAT, R, LG, D>(m, (most - SYNCILU_STRUCT_CACHE) / 2);
  const int two = stages_of<N, WHAT, R, LG, D>(m, most / 2 - 1024);

  if (R > 1 || blocks <= multiprocessors * (N > 7 ? 2 : 1)) return all;
  return cached > 2 ? cached : two > 3 ? 3 : two ? two : all;
}

/* A launch; with fits given, whether one is possible, instead. */
template <int N, int WHAT, int R, int LG, int D>
cudaError_t launch(const SyncILUDeviceStruct &m, const SyncILUDeviceSolve *s, const Judge &judge, int *fits, cudaStream_t stream)
{
  int         most = 0, multiprocessors = 1;
  cudaError_t err = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most);

  if (err == cudaSuccess) err = device_attribute(cudaDevAttrMultiProcessorCount, &multiprocessors);
  if (err != cudaSuccess) return err;
  most -= 1024; /* for the barriers */
  const int groups = s ? (s->nrhs + R - 1) / R : 0, blocks = m.g.tiles * groups;
  const int stages = stages_for<N, WHAT, R, LG, D>(m, most, blocks, multiprocessors);
  const int bytes  = (int)Layout<N, WHAT, R, LG, D>::bytes(m, stages);
  if (fits) {
    cudaFuncAttributes attributes = {};

    err = cudaFuncGetAttributes(&attributes, struct_kernel<N, WHAT, R, LG, D>);
    /* compiled for a device that has no such copies, the kernel does nothing */
    *fits = err == cudaSuccess && attributes.ptxVersion >= 90 && stages;
    if (err != cudaSuccess) (void)cudaGetLastError();
    if (err == cudaErrorMemoryAllocation) return err; /* other errors are how a device says that it has none */
    /* the kernel has one limit, and other matrices may need more of it than this one */
    return *fits ? cudaFuncSetAttribute(struct_kernel<N, WHAT, R, LG, D>, cudaFuncAttributeMaxDynamicSharedMemorySize, most) : cudaSuccess;
  }
  cudaLaunchAttribute attribute;
  auto                config = launch_config(&attribute, blocks, 32 * Layout<N, WHAT, R, LG, D>::WARPS, (size_t)bytes, stream);

  if (is_second<WHAT>(*s)) launch_early(&config);
  return cudaLaunchKernelEx(&config, struct_kernel<N, WHAT, R, LG, D>, m, *s, judge, groups, stages);
}

/*
   The kernels there are: for so many entries, and so many lines beside a tile. See SyncILUStructEntries(). On grids of two
   directions, and for several right-hand sides, one chunk comes from other tiles at a time.
*/
template <int WHAT, int R>
cudaError_t of_size(const SyncILUDeviceStruct &m, const SyncILUDeviceSolve *s, const Judge &judge, int *fits, cudaStream_t stream)
{
  constexpr int D = R == 1 ? SYNCILU_STRUCT_FETCH : 1, MOST = R == 1 ? SYNCILU_STRUCT_FETCH_MOST : 1;

  if (m.entries == 2) return launch<2, WHAT, R, 2, 1>(m, s, judge, fits, stream);
  if (m.entries == 4) return launch<4, WHAT, R, 2, 1>(m, s, judge, fits, stream);
  if (m.entries == 3) return launch<3, WHAT, R, 4, D>(m, s, judge, fits, stream);
  if (m.entries == 7 && m.beside.lines <= 16 && m.beside.cells <= SYNCILU_STRUCT_FEW) return launch<7, WHAT, R, 4, D>(m, s, judge, fits, stream);
  if (m.entries == 7) return launch<7, WHAT, R, 6, MOST>(m, s, judge, fits, stream);
  if (m.beside.lines <= 32 && m.beside.cells <= SYNCILU_STRUCT_FEW) return launch<SYNCILU_STRUCT_MOST, WHAT, R, 5, MOST>(m, s, judge, fits, stream);
  return launch<SYNCILU_STRUCT_MOST, WHAT, R, 6, MOST>(m, s, judge, fits, stream);
}

template <int R>
cudaError_t of_scale(const SyncILUDeviceStruct &m, const SyncILUDeviceSolve *s, int *fits, cudaStream_t stream)
{
  const Judge none = {};

  if constexpr (R == 1) {
    if (s && s->v) return of_size<SPLIT, R>(m, s, none, fits, stream);
  }
  return m.scaled ? of_size<SCALED, R>(m, s, none, fits, stream) : of_size<PLAIN, R>(m, s, none, fits, stream);
}

} // namespace

cudaError_t SyncILUKernelStructFits(SyncILUDeviceStruct m, int *fits)
{
  cudaError_t err = of_scale<1>(m, nullptr, fits, nullptr);

  if (err == cudaSuccess && *fits) err = of_scale<SYNCILU_RHS_BLOCK>(m, nullptr, fits, nullptr);
  if (err == cudaSuccess && *fits && m.scaled && !m.down) err = of_size<PIVOTS, 1>(m, nullptr, {}, fits, nullptr);
  if (err == cudaSuccess && *fits && m.scaled && !m.down) err = of_size<SPLIT, 1>(m, nullptr, {}, fits, nullptr);
  return err;
}

cudaError_t SyncILUKernelSolveStruct(SyncILUValueType type, SyncILUDeviceStruct m, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!s.nrhs) return cudaSuccess;
  if (s.nrhs == 1 && m.box.tiles) return SyncILUKernelSolveStructNear(type, m, s, stream);
  return s.nrhs == 1 ? of_scale<1>(m, &s, nullptr, stream) : of_scale<SYNCILU_RHS_BLOCK>(m, &s, nullptr, stream);
}

cudaError_t SyncILUKernelStructPivots(SyncILUValueType type, SyncILUDeviceStruct m, SyncILUDeviceSolve s, SyncILUDevicePivoting piv, void *pivot,
                                      SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (m.box.tiles) return SyncILUKernelStructNearPivots(type, m, s, piv, pivot, status, stream);
  return of_size<PIVOTS, 1>(m, &s, {piv, (double *)pivot, status}, nullptr, stream);
}
