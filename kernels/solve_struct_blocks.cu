/*
   Triangular solves of matrices of a grid with several unknowns a point, in the tiles of kernels/struct.h. A
   block of threads solves for a tile, step by step, and what a step takes is the way from its unknowns to the
   next one's. So the threads that solve, one for each unknown of a line, do no more than subtract what comes
   from the step before and from sums that others have made of the rest: some threads for each unknown those
   of entries that reach back further, which they begin a step earlier, and one that of the right-hand side.
   Another one publishes what is found. One warp more brings the coefficients, whole steps at once, and others
   what points of other tiles have found, a step each by turns.

   Shared memory has the coefficients of the next steps, the right-hand sides of the next ones, and a ring of
   the solution of the last steps, for the lines of the tile and those beside it. Points that are not on the grid
   are zero there, as the coefficients of entries that leave it are.

   Progress: blocks take tiles by ticket, in the order of their lowest levels, in which a tile comes after
   those that its lines depend on. Within a block, a step waits for its coefficients and for what other tiles
   have found; both are brought once the step is over that had their place before, `stages` steps earlier. The
   sums of a step wait for the step before the last one. So the unfinished step of the lowest ticket waits for
   nothing unfinished.

   Of two solves in a row the second one is launched as soon as all blocks of the first one have begun. Its
   blocks make their shared memory ready, and wait for the end of the first one.

   Values that leave a tile are their own flags. The x of the other triangular solve is filled with sentinels
   on the way.
*/
#include "solve_struct_blocks.h"
#include "struct.cuh"
#include "async.cuh"
#include "cluster.cuh"
#include "triangular.cuh"

using namespace syncilu;

namespace
{

/* Steps of coefficients in shared memory; warps that fetch; entries of the step before. */
constexpr int MOST_STAGES = 16, SHARED_STAGES = 6, LEAST_STAGES = 2, FETCHERS = 6, NEAR = 3;

/* Entries of 27 points that reach back further than to the step before: loops over these need no end. */
constexpr int BOX = 10;

/* Threads that sum up the same number, of so many far entries, the right-hand side's not among them. */
__host__ __device__ constexpr int groups_of(int far)
{
  return far == 0 ? 0 : far <= 4 ? 2 : 3;
}

/*
   Kinds of threads, of which each unknown has one: those that solve, publish, bring right-hand sides, and sum
   up.
*/
__host__ __device__ constexpr int roles_of(int far)
{
  return 3 + groups_of(far);
}

/* Of a block: warps for each kind, a warp for coefficients, and those that fetch. */
template <int D, int FAR, int LG>
constexpr int MOST_WARPS = ((D << LG) + 31) / 32 * roles_of(FAR) + 1 + FETCHERS;

/*
   Right-hand sides are asked for so many steps ahead: who asks has seen the end of the step before the last
   one, after which nobody reads what was in their place.
*/
template <int R>
struct Ahead {
  static constexpr int SLOTS = R == 1 ? 16 : 8, STEPS = SLOTS - 2;
};

struct Barriers {
  /*
     coefficients are there; values of other tiles are; all warps that solve have done a step; it is
     published; its sums are there, by turns
  */
  Barrier  full[MOST_STAGES], got[MOST_STAGES + SYNCILU_STRUCT_REACH], done[MOST_STAGES], published[MOST_STAGES], summed[2], begun;
  unsigned ticket;
};

/* A line beside the tile: where the x of its tile stands at our step 0, its lane there, its cell, and how late it is; INT_MAX / 2 if there is none. */
struct Beside {
  long long from;
  int       lane, cell, late;
};

/* What of the sizes depends on the tile. */
struct Sizes {
  int lines, threads, warps; /* of those that solve */
  int row, slots;            /* numbers of a step in the ring, steps of it */
  int stored, coefs, rhs;    /* numbers of a step: coefficients in storage and in shared memory, and right-hand sides */
  int parts;                 /* sums for an unknown */

  /* identity: the blocks behind the entries are not asked for */
  template <int D, int R, int FAR>
  static __host__ __device__ Sizes of(const SyncILUDeviceStruct &m, bool identity, int stages)
  {
    Sizes z;

    z.parts   = groups_of(FAR) + 1;
    z.lines   = SyncILUStructBlocksLines(&m.g);
    z.threads = z.lines * D;
    z.warps   = (z.threads + 31) / 32;
    z.row     = m.beside.cells * D * R;
    z.slots   = stages - 1 + m.height;
    z.stored  = (int)SyncILUStructBlocksStep(&m.g, m.points, D);
    z.coefs   = identity && m.points ? (int)SyncILUStructBlocksStep(&m.g, m.points - 1, D) : z.stored;
    z.rhs     = z.threads * R;
    return z;
  }
  __host__ __device__ size_t bytes(int stages, int ahead) const
  {
    return ((size_t)stages * coefs + (size_t)slots * row + ((size_t)ahead + 2 * (size_t)parts) * rhs) * sizeof(double) + SYNCILU_STRUCT_LINES * sizeof(Beside);
  }
};

struct Place {
  const SyncILUDeviceStruct &m;
  bool                       identity; /* in place of the inverses of triangles */
  int                        near;     /* entries of the step before, which are the last ones */
  const SyncILUDeviceSolve  &s;
  const Sizes               &z;
  Tile                       tile;
  int                        group, stages;
  double                    *coefs, *ring, *rhs, *sums;
  Beside                    *beside;
  Barriers                  *bars;

  /* Where the numbers of a step of a tile begin in the x of this group, in units of right-hand sides. */
  __device__ __forceinline__ long long at(int number, int step) const { return (((long long)group * m.g.tiles + number) * m.g.steps + step) * z.threads; }
  /* Where a line of the tile or beside it stands in a step of the ring: the cell, from its v and w in the direction of the solve. */
  __device__ __forceinline__ int cell(int a, int b) const { return (b + m.reach[1]) * ((1 << m.g.edge[0]) + m.reach[0]) + a + m.reach[0]; }
};

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

/* Line k beside the tile. */
__device__ __forceinline__ Beside beside(const Place &o, int k)
{
  const SyncILULines &g = o.m.g;
  const int           a = o.m.beside.line[k][0], b = o.m.beside.line[k][1];
  const int           v = o.tile.v + (o.m.down ? (1 << g.edge[0]) - 1 - a : a), w = o.tile.w + (o.m.down ? (1 << g.edge[1]) - 1 - b : b);
  Beside              l = {0, 0, o.cell(a, b), INT_MAX / 2};

  if (line_row(g, v, w) < 0) return l;
  const Lane there = turned(o.m, lane_at(g, v, w));
  l.late           = g.level[0] * a + g.level[1] * b; /* its level at x = 0 is so many steps after our first one */
  l.lane           = there.number;
  l.from           = o.at(tile_at(g, v, w), there.late - l.late);
  return l;
}

/* One lane brings the coefficients. */
__device__ __forceinline__ void carry(const Place &o)
{
  const int           steps = o.m.g.steps, bytes = o.z.coefs * (int)sizeof(double);
  const double *const from = (const double *)o.m.val + (size_t)o.tile.number * steps * o.z.stored;

  if ((threadIdx.x & 31) != 0) return;
  for (int u = 0, slot = 0, parity = 1; u < steps; u++) {
    if (u >= o.stages) barrier_wait(&o.bars->published[slot], parity);
    barrier_expect(&o.bars->full[slot], bytes);
    copy_bulk(o.coefs + (size_t)slot * o.z.coefs, from + (size_t)u * o.z.stored, bytes, &o.bars->full[slot]);
    barrier_arrive(&o.bars->full[slot]);
    if (++slot == o.stages) {
      slot = 0;
      parity ^= 1;
    }
  }
}

/*
   Brings what other tiles have found, a step of every so many; of those before the first step of the tile, too. These
   are no more than the stages: a barrier tells one phase from the next one alone, and the last one that this warp
   has seen is no further back.
*/
template <int D, int R>
__device__ __forceinline__ void fetch(const Place &o, int which, int fetchers)
{
  constexpr int LINE = D * R, ONCE = 4;
  const int     lane = threadIdx.x & 31, steps = o.m.g.steps, count = o.m.beside.lines * LINE, points = o.m.g.points[0];

  for (int n = which; n < steps + o.m.height; n += fetchers) {
    const int slot = n % o.z.slots, u = n - o.m.height, before = u - o.stages + 1;

    for (int begin = 0; begin < count || !begin; begin += 32 * ONCE) {
      double        y[ONCE];
      const double *x[ONCE];
      int           to[ONCE];
      bool          all = true;

#pragma unroll
      for (int k = 0; k < ONCE; k++) {
        const int i = begin + 32 * k + lane, line = i / LINE;

        y[k]  = 0.0;
        to[k] = -1;
        x[k]  = (const double *)o.s.x;
        if (i >= count) continue;
        const Beside b  = o.beside[line];
        const bool   on = (unsigned)(u - b.late) < (unsigned)points;

        to[k] = (b.cell - line) * LINE + i;
        if (on) x[k] += (b.from + (long long)u * o.z.threads) * R + b.lane * LINE + (i - line * LINE);
        load_relaxed_if(on, x[k], &y[k]);
      }
#pragma unroll
      for (int k = 0; k < ONCE; k++) all = is_set(y[k]) && all;
      while (!__all_sync(FULL, all)) {
        if (n < fetchers) __nanosleep(SYNCILU_STRUCT_PAUSE); /* the tile may be far from its turn */
        all = true;
#pragma unroll
        for (int k = 0; k < ONCE; k++) load_relaxed_if(!is_set(y[k]), x[k], &y[k]);
#pragma unroll
        for (int k = 0; k < ONCE; k++) all = is_set(y[k]) && all;
      }
      /*
         The place was that of a step which points need until so many steps later. That step's barrier cannot come
         to the end of another phase meanwhile, for which the values of this one are needed.
      */
      if (before >= 0) barrier_wait(&o.bars->done[before % o.stages], before / o.stages & 1);
#pragma unroll
      for (int k = 0; k < ONCE; k++)
        if (to[k] >= 0) o.ring[slot * o.z.row + to[k]] = y[k];
    }
    __syncwarp(); /* what all lanes have brought is behind the arrival of one */
    if (lane == 0) barrier_arrive(&o.bars->got[slot]);
  }
}

/* The product with a row of a block. */
template <int D, int R>
__device__ __forceinline__ void subtract(const double *y, const double (&coef)[D], double (&sum)[R])
{
  double value[D][R];

#pragma unroll
  for (int n = 0; n < D; n++) get<R>(y + n * R, value[n]);
#pragma unroll
  for (int n = 0; n < D; n++) {
#pragma unroll
    for (int r = 0; r < R; r++) sum[r] -= coef[n] * value[n][r];
  }
}

/*
   A thread's unknown, one of a line of the tile; the last threads of the last warp have none, and do the same
   for nobody.
*/
template <int D, int LG>
struct Unknown {
  bool mine;
  int  t, line, i, v, w, row, cell; /* row: the first one of the line; -1 where there is none */
  int  first;                       /* where row i of the first column of a block stands */
  int  second;                      /* how far behind that row i of the second column stands */

  __device__ __forceinline__ Unknown(const Place &o, int thread)
  {
    const SyncILULines &g     = o.m.g;
    const int           width = 1 << g.edge[0], height = 1 << g.edge[1];

    mine        = thread < D << LG;
    t           = mine ? thread : 0;
    line        = t / D;
    i           = t - line * D;
    first       = SyncILUStructBlocksBeside(D) == 1 ? t : SyncILUStructBlocksColumn(D, 1 << LG, line, 0) + i;
    second      = SyncILUStructBlocksColumn(D, 1 << LG, line, 1) + i - first;
    const int a = line & (width - 1), b = line >> g.edge[0];
    v    = o.tile.v + a;
    w    = o.tile.w + b;
    row  = line_row(g, v, w);
    cell = o.cell(o.m.down ? width - 1 - a : a, o.m.down ? height - 1 - b : b);
  }
  /* How far behind `first` row i of column n stands. The compiler knows n. */
  __device__ __forceinline__ int column(int n) const
  {
    constexpr int BESIDE = SyncILUStructBlocksBeside(D);

    static_assert(BESIDE <= 2, "two columns at most are stored side by side");
    return (n % BESIDE ? second : 0) + n / BESIDE * (BESIDE * D << LG);
  }
  /* How late the line is; no step of the tile is of one that there is not. */
  __device__ __forceinline__ int late(const Place &o) const { return row < 0 || !mine ? INT_MAX / 2 : turned(o.m, lane_at(o.m.g, v, w)).late; }
};

/* A barrier of each of `count` steps, by turns. */
struct Turns {
  unsigned first;
  int      count, k, parity;

  __device__ __forceinline__          Turns(const Barrier *bars, int number) : first(fixed_address(bars)), count(number), k(0), parity(0) { }
  __device__ __forceinline__ unsigned at() const { return first + k * (int)sizeof(Barrier); }
  __device__ __forceinline__ void     next()
  {
    if (++k == count) {
      k = 0;
      parity ^= 1;
    }
  }
  /* Waits for a barrier, and goes on to the next one. */
  __device__ __forceinline__ void wait()
  {
    barrier_wait(at(), parity);
    next();
  }
};

/*
   Solves for the unknowns, a step after the other. What a step takes is the number of these instructions:
   addresses go on from step to step, the sizes of a tile are known, and what does not depend on the step
   before is read while the other warps end it.

   Several warps meet after each step. By a barrier of their own they mostly go on earlier than by the one that
   tells the other warps; with 3 unknowns, where half of the lanes of the last warp have none, later. Both ways
   on an H200, L + U in us: 7 points, 48^3, with 2 unknowns 100 and 106, with 4 unknowns 145 and 153; 27 points,
   72^3, with 2 unknowns 407 and 418; elasticity, 40^3, which has 3 unknowns, 270 and 261.
*/
template <int D, int R, int FAR, int LG>
__device__ __forceinline__ void solve_lines(const Place &o, int thread)
{
  constexpr int              WIDE = D << LG, BLOCK = D * WIDE, PARTS = groups_of(FAR) + 1;
  const SyncILUDeviceStruct &m = o.m;
  const Unknown<D, LG>       x(o, thread);
  const int                  lane = threadIdx.x & 31, slots = o.z.slots, ring_row = o.z.row, steps = m.g.steps, near = o.near, far = m.points - near;
  const unsigned             points = (unsigned)m.g.points[0];
  int    on = -x.late(o), own     = m.height * ring_row + x.cell * (D * R) + x.i * R, there[NEAR], end[NEAR]; /* of the near entries in the ring */
  double rest[R], direct[NEAR][D] = {};
  Turns  full(o.bars->full, o.stages), done(o.bars->done, o.stages), got(o.bars->got, slots), summed(o.bars->summed, 2);

#pragma unroll
  for (int k = 0; k < NEAR; k++) {
    const int e = near ? far + (k < near ? k : 0) : 0; /* there are fewer: zeros times what is there anyway */

    end[k]   = slots * ring_row + x.cell * (D * R) + (near ? m.beside.cell[e] * (D * R) : 0);
    there[k] = end[k] + (m.height - (near ? 1 : 0) - slots) * ring_row;
  }
  /* The coefficients of the near entries of a step, and what is left of its right-hand side. */
  auto prepare = [&](int u) {
    const double *const d = o.coefs + full.k * o.z.coefs + x.first + far * BLOCK, *const sums = o.sums + ((u & 1) * PARTS * WIDE + x.t) * R;

    full.wait();
#pragma unroll
    for (int k = 0; k < NEAR; k++) {
      if (k >= near) break;
#pragma unroll
      for (int n = 0; n < D; n++) direct[k][n] = d[k * BLOCK + x.column(n)];
    }
    summed.wait();
    get<R>(sums, rest);
#pragma unroll
    for (int p = 1; p < PARTS; p++) {
      double part[R];

      get<R>(sums + p * WIDE * R, part);
#pragma unroll
      for (int r = 0; r < R; r++) rest[r] += part[r];
    }
  };

  prepare(0);
  for (int n = 0; n < m.height; n++) got.wait();
  for (int u = 0; u < steps; u++, on++) {
    const bool here = (unsigned)on < points;
    double     part[NEAR][R];

#pragma unroll
    for (int k = 0; k < NEAR; k++) {
#pragma unroll
      for (int r = 0; r < R; r++) part[k][r] = k ? 0.0 : rest[r];
      subtract<D, R>(o.ring + there[k], direct[k], part[k]);
      there[k] += ring_row;
      there[k] -= there[k] >= end[k] ? slots * ring_row : 0;
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
      const double y = part[0][r] + (part[1][r] + part[2][r]);

      if (x.mine) o.ring[own + r] = here ? y : 0.0;
    }
    __syncwarp(); /* what all lanes have found is behind the arrival of one */
    if (lane == 0) barrier_arrive(done.at());
    own += ring_row;
    if (own >= slots * ring_row) own -= slots * ring_row;
    if (u + 1 == steps) break;
    prepare(u + 1);
    got.wait();
    if (WIDE > 32) {
      if (WIDE % 32) barrier_wait(done.at(), done.parity);
      else barrier_meet(1, WIDE);
    }
    done.next();
  }
}

/*
   Sums up what every so many of the entries that reach back further than to the step before come to: of a
   step once the one before the last one is over.
*/
template <int D, int R, int FAR, int LG>
__device__ __forceinline__ void sum_far(const Place &o, int thread, int group)
{
  constexpr int              GROUPS = FAR ? groups_of(FAR) : 1, MOST = FAR ? (FAR + GROUPS - 1) / GROUPS : 1, WIDE = D << LG, BLOCK = D * WIDE;
  const SyncILUDeviceStruct &m = o.m;
  const Unknown<D, LG>       x(o, thread);
  const int                  lane = threadIdx.x & 31, slots = o.z.slots, ring_row = o.z.row, steps = m.g.steps, far = m.points - o.near;
  int                        there[MOST], end[MOST], place[MOST];
  Turns                      full(o.bars->full, o.stages), done(o.bars->done, o.stages), got(o.bars->got, slots);

  /*
     who has fewer entries takes the last one again, times zero: branches would have the others wait for each
     other
  */
#pragma unroll
  for (int j = 0; j < MOST; j++) {
    const int e = min(group + j * GROUPS, max(far, 1) - 1);

    place[j] = x.first + e * BLOCK;
    end[j]   = slots * ring_row + (x.cell + m.beside.cell[e]) * (D * R);
    there[j] = end[j] + (m.height - m.before[e] - slots) * ring_row;
  }
  for (int n = 0; n < m.height - 2; n++) got.wait();
  for (int u = 0; u < steps; u++) {
    const double *const coef = o.coefs + full.k * o.z.coefs;
    double              sum[2][R];

#pragma unroll
    for (int r = 0; r < R; r++) sum[0][r] = sum[1][r] = 0.0;
    full.wait();
    got.wait();
    if (u >= 2) done.wait();
#pragma unroll
    for (int j = 0; j < MOST; j++) {
      double row[D];

      if (!far) break; /* what a near entry needs may not be there yet */
#pragma unroll
      for (int n = 0; n < D; n++) row[n] = group + j * GROUPS < far ? coef[place[j] + x.column(n)] : 0.0;
      subtract<D, R>(o.ring + there[j], row, sum[j % 2]);
      there[j] += ring_row;
      there[j] -= there[j] >= end[j] ? slots * ring_row : 0;
    }
#pragma unroll
    for (int r = 0; r < R; r++)
      if (x.mine) o.sums[(((u & 1) * (GROUPS + 1) + 1 + group) * WIDE + x.t) * R + r] = sum[0][r] + sum[1][r];
    __syncwarp(); /* the sums of all lanes are behind the arrival of one */
    if (lane == 0) barrier_arrive(o.bars->summed + (u & 1));
  }
}

/* Where the numbers of a line are, from step to step: in x, in turn, and in the matrix' numbering. */
template <int D, int R, int LG>
struct Along {
  long long first, stride; /* the unknown of step 0, from which on rows are `stride` apart */
  long long tile, last, group;
  int       turn; /* of the numbers of the other solve */

  __device__ __forceinline__ Along(const Place &o, const Unknown<D, LG> &x, bool second)
  {
    const SyncILULines &g    = o.m.g;
    const long long     late = x.late(o);

    first  = ((long long)x.row + (o.m.down ? g.points[0] - 1 + late : -late) * g.stride[0]) * D + x.i;
    stride = (o.m.down ? -g.stride[0] : g.stride[0]) * D;
    tile   = o.at(o.tile.number, 0);
    last   = tile + (long long)(g.steps - 1) * (D << LG);
    group  = (long long)o.group * R;
    turn   = second ? -(D << LG) * R : (D << LG) * R;
  }
};

/*
   Brings right-hand sides, and multiplies them with the inverse of the triangle on the diagonal, unless that
   counts as the identity.
*/
template <int D, int R, int FAR, int LG>
__device__ __forceinline__ void bring_lines(const Place &o, int thread)
{
  constexpr int              SLOTS = Ahead<R>::SLOTS, AHEAD = Ahead<R>::STEPS, WIDE = D << LG, BLOCK = D * WIDE, PARTS = groups_of(FAR) + 1;
  const SyncILUDeviceStruct &m = o.m;
  const Unknown<D, LG>       x(o, thread);
  const bool                 second = is_second(o.s);
  const Along<D, R, LG>      along(o, x, second);
  const int                  lane = threadIdx.x & 31, steps = m.g.steps, late = x.late(o);
  const int                  left   = o.s.nrhs - o.group * R; /* right-hand sides of this group */
  const unsigned             points = (unsigned)m.g.points[0];
  /*
     the right-hand sides that are asked for next, and how far they are from step to step, and from each other
  */
  const double   *from      = (const double *)o.s.b + (second ? (along.last + x.t) * R : along.group * (long long)o.s.ldb + along.first);
  const long long from_step = second ? along.turn : along.stride, from_next = second ? 1 : (long long)o.s.ldb;
  double *const   rhs = o.rhs + x.t * R;
  Turns           full(o.bars->full, o.stages), done(o.bars->done, o.stages);

  auto ask = [&](int u) { /* for the right-hand side of a step */
                          const bool    asked = u < steps && (unsigned)(u - late) < points && x.mine;
                          double *const to    = rhs + (u & (SLOTS - 1)) * (WIDE * R);

#pragma unroll
                          for (int r = 0; r < R; r++) copy_if(asked && (second || R == 1 || r < left), to + r, from + r * from_next);
                          commit_copies();
                          from += from_step;
  };
  for (int u = 0; u < AHEAD; u++) ask(u); /* where there is no point nobody brings one, and what is computed is not used */
  wait_copies<AHEAD - 2>();
  __syncwarp();
  if (lane == 0) barrier_arrive(&o.bars->begun); /* the right-hand sides of the first two steps are there */
  barrier_wait(&o.bars->begun, 0);
  for (int u = 0; u < steps; u++) {
    const double *const c = o.coefs + full.k * o.z.coefs + m.points * BLOCK + x.first, *const b = o.rhs + ((u & (SLOTS - 1)) * WIDE + x.line * D) * R;
    double sum[R];

    full.wait();
    if (u >= 2) done.wait();
    if (o.identity) get<R>(b + x.i * R, sum);
    else {
#pragma unroll
      for (int r = 0; r < R; r++) sum[r] = 0.0;
#pragma unroll
      for (int n = 0; n < D; n++) {
        double value[R];

        get<R>(b + n * R, value);
#pragma unroll
        for (int r = 0; r < R; r++) sum[r] += c[x.column(n)] * value[r];
      }
    }
#pragma unroll
    for (int r = 0; r < R; r++)
      if (x.mine) o.sums[((u & 1) * PARTS * WIDE + x.t) * R + r] = sum[r];
    wait_copies<AHEAD - 3>(); /* what is needed two steps later has come, and others see it once this step is over */
    __syncwarp();
    if (lane == 0) barrier_arrive(o.bars->summed + (u & 1));
    ask(u + AHEAD);
  }
}

/* Publishes what is found. */
template <int D, int R, int LG>
__device__ __forceinline__ void publish_lines(const Place &o, int thread)
{
  constexpr int         WIDE = D << LG;
  const Unknown<D, LG>  x(o, thread);
  const bool            second = is_second(o.s), finishes = o.s.out != nullptr, fills = x.mine && o.s.next != nullptr;
  const bool            stores = !second || (o.m.exported >> x.line & 1); /* the second solve reads all */
  const Along<D, R, LG> along(o, x, second);
  const int             lane = threadIdx.x & 31, slots = o.z.slots, ring_row = o.z.row, steps = o.m.g.steps, late = x.late(o);
  const int             left   = o.s.nrhs - o.group * R; /* right-hand sides of this group */
  const unsigned        points = (unsigned)o.m.g.points[0];
  /* who writes no solution, or fills nothing, goes along x, and does not look */
  double *to = (double *)o.s.x + (along.tile + x.t) * R, *out = (double *)(finishes ? o.s.out : o.s.x) + along.group * (long long)o.s.ldout + along.first;
  double *next = (double *)(o.s.next ? o.s.next : o.s.x) + ((second ? along.last : along.tile) + x.t) * R;
  int     own  = o.m.height * ring_row + x.cell * (D * R) + x.i * R;
  Turns   done(o.bars->done, o.stages);

  for (int u = 0; u < steps; u++) {
    const bool     here      = (unsigned)(u - late) < points;
    Barrier *const published = o.bars->published + done.k;
    double         y[R];

    done.wait();
    get<R>(o.ring + own, y);
#pragma unroll
    for (int r = 0; r < R; r++) {
      store_relaxed_if(here && stores, to + r, clean(y[r]));
      if (finishes && here && (R == 1 || r < left)) out[r * (long long)o.s.ldout] = y[r];
      /* the right-hand side that has been read, or what will be found by the other solve, which waits for the kernel */
      if (fills) poison(next[r]);
    }
    /*
       coefficients of later steps wait for this, so that none takes the place in the ring, or ends a phase
       that is waited for here
    */
    __syncwarp();
    if (lane == 0) barrier_arrive(published);
    to += WIDE * R;
    out += along.stride;
    next += along.turn;
    own += ring_row;
    if (own >= slots * ring_row) own -= slots * ring_row;
  }
}

template <int D, int R, int FAR, int LG>
__global__ void __launch_bounds__(32 * MOST_WARPS<D, FAR, LG>, FAR || D > 4 ? 1 : 2)
  struct_blocks_kernel(SyncILUDeviceStruct m, SyncILUDeviceSolve s, bool identity, int near, int groups, int stages)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) double shared[];
  __shared__ Barriers                    bars;
  const Sizes                            z = Sizes::of<D, R, FAR>(m, identity, stages);
  double *const ring = shared + (size_t)stages * z.coefs, *const rhs = ring + (size_t)z.slots * z.row;
  double *const sums  = rhs + (size_t)Ahead<R>::SLOTS * z.rhs;
  Beside *const lines = (Beside *)(sums + 2 * (size_t)z.parts * z.rhs);

  if (threadIdx.x == 0) {
    bars.ticket = (unsigned)atomicAdd(s.ticket, 1ull);
    for (int k = 0; k < stages; k++) {
      barrier_begin(&bars.full[k], 1);
      barrier_begin(&bars.done[k], z.warps);
      barrier_begin(&bars.published[k], z.warps);
    }
    for (int k = 0; k < z.slots; k++) barrier_begin(&bars.got[k], 1);
    for (int k = 0; k < 2; k++) barrier_begin(&bars.summed[k], z.warps * z.parts);
    barrier_begin(&bars.begun, z.warps);
  }
  for (int k = threadIdx.x; k < z.slots * z.row; k += blockDim.x) ring[k] = 0.0;
  fence_copies();
  __syncthreads(); /* ticket and barriers are there */
  const int   place = (int)(bars.ticket / groups);
  const Place o     = {m, identity, near, s, z, tile_of(m.g, m.order[place]), (int)bars.ticket - place * groups, stages, shared, ring, rhs, sums, lines, &bars};
  for (int k = threadIdx.x; k < m.beside.lines; k += blockDim.x) lines[k] = beside(o, k);
  __syncthreads(); /* the lines beside are there for all warps that fetch */
  /* the last warp of the first block has nothing to fetch */
  if (threadIdx.x == blockDim.x - 1) begin_next(!bars.ticket, s.reset, !is_second(s));
  wait_previous();
  const int warp = threadIdx.x >> 5, role = warp / z.warps, thread = (int)threadIdx.x - role * z.warps * 32, working = z.warps * roles_of(FAR);
  if (role == 0) solve_lines<D, R, FAR, LG>(o, thread);
  else if (role == 1) publish_lines<D, R, LG>(o, thread);
  else if (role == 2) bring_lines<D, R, FAR, LG>(o, thread);
  else if (warp < working) sum_far<D, R, FAR, LG>(o, thread, role - 3);
  else if (warp == working) carry(o);
  else fetch<D, R>(o, warp - working - 1, (int)(blockDim.x >> 5) - working - 1);
#endif
}

/* A launch; with fits given, whether one is possible, instead. */
template <int D, int R, int FAR, int LG>
cudaError_t launch(const SyncILUDeviceStructBlocks &q, const SyncILUDeviceSolve *s, int *fits, cudaStream_t stream)
{
  int         most = 0;
  cudaError_t err  = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most);

  if (err != cudaSuccess) return err;
  most -= 2048; /* for the barriers */
  const bool identity = q.whole && q.m.down;
  auto       bytes    = [&](int stages) { return Sizes::of<D, R, FAR>(q.m, identity, stages).bytes(stages, Ahead<R>::SLOTS); };
  int        stages   = MOST_STAGES;
  /* two blocks a multiprocessor, if they have some steps each */
  while (stages >= SHARED_STAGES && bytes(stages) > (size_t)most / 2) stages--;
  if (stages < SHARED_STAGES) stages = MOST_STAGES;
  while (stages >= LEAST_STAGES && bytes(stages) > (size_t)most) stages--;
  const Sizes z = Sizes::of<D, R, FAR>(q.m, identity, stages);
  if (fits) {
    cudaFuncAttributes attributes = {};

    err = cudaFuncGetAttributes(&attributes, struct_blocks_kernel<D, R, FAR, LG>);
    /* compiled for a device that has no such copies, the kernel does nothing */
    *fits = err == cudaSuccess && attributes.ptxVersion >= 90 && stages >= LEAST_STAGES;
    if (err != cudaSuccess) (void)cudaGetLastError();
    if (err == cudaErrorMemoryAllocation) return err; /* other errors are how a device says that it has none */
    /* the kernel has one limit, and other matrices may need more of it than this one */
    return *fits ? cudaFuncSetAttribute(struct_blocks_kernel<D, R, FAR, LG>, cudaFuncAttributeMaxDynamicSharedMemorySize, most) : cudaSuccess;
  }
  const int           groups = (s->nrhs + R - 1) / R, fetchers = stages < FETCHERS ? stages : FETCHERS;
  cudaLaunchAttribute attribute;
  auto                config = launch_config(&attribute, q.m.g.tiles * groups, 32 * (z.warps * roles_of(FAR) + 1 + fetchers), bytes(stages), stream);

  if (is_second(*s)) launch_early(&config);
  return cudaLaunchKernelEx(&config, struct_blocks_kernel<D, R, FAR, LG>, q.m, *s, identity, q.near, groups, stages);
}

/*
   The kernels there are: for so many unknowns, lines of a tile, and, where these are many, entries that reach back
   further than to the step before.
*/
template <int D, int R>
cudaError_t of_size(const SyncILUDeviceStructBlocks &q, const SyncILUDeviceSolve *s, int *fits, cudaStream_t stream)
{
  constexpr int LARGE = SyncILUStructBlocksTile(D, 0), SMALL = SyncILUStructBlocksTile(D, 1);
  const int     far = q.m.points - q.near, lg = q.m.g.edge[0] + q.m.g.edge[1];

  if constexpr (D > 2) {
    if (q.inodes.size < D) return of_size<D - 1, R>(q, s, fits, stream);
  }
  if (far >= SYNCILU_STRUCT_MOST || (lg != LARGE && lg != SMALL)) return cudaErrorNotSupported;
  if constexpr (R == 1) {
    if (lg == LARGE && far == 0) return launch<D, R, 0, LARGE>(q, s, fits, stream);
    if (lg == LARGE && far <= 4) return launch<D, R, 4, LARGE>(q, s, fits, stream);
    if (lg == LARGE && far == BOX) return launch<D, R, BOX, LARGE>(q, s, fits, stream);
  }
  if (lg == LARGE) return launch<D, R, SYNCILU_STRUCT_MOST - 1, LARGE>(q, s, fits, stream);
  return launch<D, R, SYNCILU_STRUCT_MOST - 1, SMALL>(q, s, fits, stream);
}

/* A block of a point in storage. */
template <typename V, int D>
struct Block {
  V  *first; /* where the block begins, for all lines */
  int lines, line;

  __device__ __forceinline__ Block(const SyncILUDeviceStruct &m, size_t step, int l, int entry) : lines(SyncILUStructBlocksLines(&m.g)), line(l)
  {
    first = (V *)m.val + step * SyncILUStructBlocksStep(&m.g, m.points, D) + (size_t)entry * lines * (D * D);
  }
  __device__ __forceinline__ V *column(int j) const { return first + SyncILUStructBlocksColumn(D, lines, line, j); }
};

/*
   A column of the blocks of a point, a thread each: neighbours in memory on the pattern of the rows, from
   block to block, and in storage, from line to line.
*/
struct Column {
  int      point, column, at[3]; /* point -1: there is none */
  int      place;                /* of the point in the tiles of L, see SyncILUStructBlocksPlace */
  int      begin, diag, entries; /* of the point, among the entries of all */
  unsigned mask;                 /* of the points of the stencil, those it has */
  size_t   step;                 /* of the point in storage, through the steps of all tiles */
  int      line;                 /* of the point in its tile */
};

template <int D>
__device__ __forceinline__ Column column_of(const SyncILUDeviceStructBlocks &q)
{
  const SyncILUDeviceStruct &m       = q.m;
  const SyncILULines        &g       = m.g;
  const int                  lines   = SyncILUStructBlocksLines(&g);
  const long long            step_of = global_thread() / D / lines;
  const int                  line = (int)(global_thread() / D % lines), tile = (int)(step_of / g.steps), step = (int)(step_of - (long long)tile * g.steps);
  Column                     c = {};

  c.point  = -1;
  c.column = (int)(global_thread() % D);
  if (tile >= g.tiles) return c;
  const Tile t = tile_of(g, tile);
  const int  v = t.v + (line & ((1 << g.edge[0]) - 1)), w = t.w + (line >> g.edge[0]), row = line_row(g, v, w);
  c.at[0] = step - lane_at(g, v, w).late;
  c.at[1] = v - g.skew * w;
  c.at[2] = w;
  if (row < 0 || (unsigned)c.at[0] >= (unsigned)g.points[0]) return c;
  c.point   = row + c.at[0] * g.stride[0];
  c.place   = (int)step_of * lines + line;
  c.begin   = q.inodes.pattern.ptr[c.point];
  c.diag    = q.inodes.pattern.diag[c.point];
  c.entries = q.inodes.pattern.ptr[c.point + 1] - c.begin;
  if (!m.transposed) c.mask = points_of(m, c.point, c.at);
  c.step = (size_t)tile * g.steps + (m.down ? g.steps - 1 - step : step);
  c.line = line;
  return c;
}

/*
   Where that column of entry e begins on the pattern of the rows, whose rows are `width` apart there; of a
   transpose it is a row there. False: the point has no such entry.
*/
template <int D>
__device__ __forceinline__ bool find_entry(const SyncILUDeviceStructBlocks &q, const Column &c, int e, size_t *first, int *width)
{
  const SyncILUDeviceStruct  &m = q.m;
  const SyncILUDevicePattern &p = q.inodes.pattern;
  const int                   k = m.at[e];

  if (!m.transposed) {
    if (!(c.mask >> k & 1)) return false;
    /* the entries of L are those before the diagonal, and those of U behind it */
    const int entry = (m.down ? c.diag + 1 - c.begin : 0) + __popc(c.mask & ((1u << k) - 1));
    *width          = c.entries * D;
    *first          = (size_t)c.begin * (D * D) + (size_t)entry * D + c.column;
    return true;
  }
  const int there[3] = {c.at[0] - m.point[k][0], c.at[1] - m.point[k][1], c.at[2] - m.point[k][2]};
  if (!inside(m.g.points, there, 0, 0, 0)) return false;
  const int      from = c.point - point_distance(m, k);
  const unsigned mask = points_of(m, from, there);
  if (!(mask >> k & 1)) return false;
  const int entry = (m.down ? 0 : p.diag[from] + 1 - p.ptr[from]) + __popc(mask & ((1u << k) - 1));
  *width          = (p.ptr[from + 1] - p.ptr[from]) * D;
  *first          = (size_t)p.ptr[from] * (D * D) + (size_t)entry * D + (size_t)c.column * *width;
  return true;
}

/* Of a pair of unknowns, the number of a triangle that both have beside its diagonal. */
__host__ __device__ constexpr int pair_of(int i, int j)
{
  return i > j ? i * (i - 1) / 2 + j : j * (j - 1) / 2 + i;
}

/* A triangle of a point: T, or, where coefficients go back, its inverse. */
template <typename V, int D>
struct Triangle {
  static constexpr int PAIRS = D * (D - 1) / 2;
  V                    beside[PAIRS], d[D];

  /* Solves with it, in place. */
  __device__ __forceinline__ void solve(const SyncILUDeviceStruct &m, V (&x)[D]) const
  {
#pragma unroll
    for (int n = 0; n < D; n++) {
      const int i = n;

      if (m.down) break;
#pragma unroll
      for (int j = 0; j < i; j++) x[i] -= beside[pair_of(i, j)] * x[j];
      if (m.scaled) x[i] /= d[i];
    }
#pragma unroll
    for (int i = D - 1; i >= 0; i--) {
      if (!m.down) break;
#pragma unroll
      for (int j = i + 1; j < D; j++) x[i] -= beside[pair_of(i, j)] * x[j];
      if (m.scaled) x[i] /= d[i];
    }
  }
};

template <typename V, int D>
__global__ void __launch_bounds__(SYNCILU_BLOCK) blocks_values_kernel(SyncILUDeviceStructBlocks q, const V *__restrict__ crout, const V *__restrict__ pivot)
{
  const SyncILUDeviceStruct &m = q.m;
  const Column               c = column_of<D>(q);

  if (c.point < 0) return;
  const int      width  = c.entries * D;
  const V *const block  = crout + (size_t)c.begin * (D * D) + (size_t)(c.diag - c.begin) * D;
  auto           stored = [&](int e) { return Block<V, D>(m, c.step, c.line, e).column(c.column); };
  Triangle<V, D> t;
  V              x[D];
#pragma unroll
  for (int i = 0; i < D; i++) {
    t.d[i] = m.scaled ? pivot[(size_t)c.point * D + i] : V(1);
    x[i]   = i == c.column ? V(1) : V(0);
#pragma unroll
    for (int j = 0; j < i; j++) { /* of L as a transpose has it, of U likewise */
      const bool upper = m.down != m.transposed;

      t.beside[pair_of(i, j)] = block[(size_t)(upper ? j : i) * width + (upper ? i : j)];
    }
  }
  t.solve(m, x);
#pragma unroll
  for (int i = 0; i < D; i++) stored(m.points)[i] = x[i];
  for (int e = 0; e < m.points; e++) {
    size_t first;
    int    wide;

    if (!find_entry<D>(q, c, e, &first, &wide)) continue;
#pragma unroll
    for (int i = 0; i < D; i++) x[i] = crout[first + (m.transposed ? (size_t)i : (size_t)i * wide)];
    t.solve(m, x);
#pragma unroll
    for (int i = 0; i < D; i++) stored(e)[i] = x[i];
  }
}

/* inverse(I + U') of the point that stands there, in the storage of U. */
template <typename V, int D>
__device__ __forceinline__ Block<V, D> upper_inverse(const SyncILUDeviceStruct &upper, int x, int y, int z)
{
  const SyncILULines &g    = upper.g;
  const int           v    = y + g.skew * z;
  const Lane          lane = lane_at(g, v, z);

  return Block<V, D>(upper, (size_t)tile_at(g, v, z) * g.steps + g.steps - 1 - (x + lane.late), lane.number, upper.points);
}

/* Its numbers above the diagonal. */
template <typename V, int D>
struct UpperInverse {
  V beside[Triangle<V, D>::PAIRS];

  __device__ __forceinline__ UpperInverse(const Block<V, D> &inverse)
  {
#pragma unroll
    for (int i = 0; i < D; i++) {
#pragma unroll
      for (int j = 0; j < i; j++) beside[pair_of(i, j)] = inverse.column(i)[j];
    }
  }
  /* (I + U') x in the place of x */
  __device__ __forceinline__ void undo(V (&x)[D]) const
  {
#pragma unroll
    for (int i = D - 1; i >= 0; i--) {
#pragma unroll
      for (int j = i + 1; j < D; j++) x[i] -= beside[pair_of(i, j)] * x[j];
    }
  }
};

/*
   Brings inverse(I + U') of whole blocks to its place behind the entries of U; a thread has a point.
   inverse(W_ii) is an upper triangle with ones on its diagonal, inverse(I + U'), times a lower one,
   inverse(W + D).
*/
template <typename V, int D>
__global__ void __launch_bounds__(SYNCILU_BLOCK) blocks_halves_kernel(SyncILUDeviceStructBlocks q, SyncILUDeviceStruct upper)
{
  const Column c = column_of<D>(q);
  V            x[D][D];

  if (c.point < 0 || c.column) return;
  const Block<V, D> from(q.m, c.step, c.line, q.m.points), to = upper_inverse<V, D>(upper, c.at[0], c.at[1], c.at[2]);
#pragma unroll
  for (int j = 0; j < D; j++) {
#pragma unroll
    for (int i = 0; i < D; i++) x[i][j] = from.column(j)[i];
  }
#pragma unroll
  for (int p = D - 1; p >= 0; p--) {
#pragma unroll
    for (int i = 0; i < p; i++) {
      x[i][p] /= x[p][p];
#pragma unroll
      for (int j = 0; j < p; j++) x[i][j] -= x[i][p] * x[p][j];
    }
#pragma unroll
    for (int i = 0; i < D; i++) to.column(p)[i] = i < p ? x[i][p] : V(i == p);
  }
}

/*
   The way back, of a triangle that is no transpose: the coefficients are inverse(T) A, with inverse(T) behind
   them. Of an L with whole blocks, and with that U, they are

     inverse(W_ii) = inverse(I + U'_ii) inverse(W + D), and inverse(W_ii) W_ik (I + U'_kk).
*/
template <typename V, int D, bool WHOLE>
__global__ void __launch_bounds__(SYNCILU_BLOCK) blocks_back_kernel(SyncILUDeviceStructBlocks q, SyncILUDeviceStruct upper, V *__restrict__ crout)
{
  const SyncILUDeviceStruct &m = q.m;
  const Column               c = column_of<D>(q);

  if (c.point < 0) return;
  const int         width = c.entries * D;
  const Block<V, D> inverse(m, c.step, c.line, m.points);
  V *const          block = crout + (size_t)c.begin * (D * D) + (size_t)(c.diag - c.begin) * D + c.column;
  Triangle<V, D>    t;
  V                 x[D];

  if constexpr (WHOLE) {
    const UpperInverse<V, D> own(upper_inverse<V, D>(upper, c.at[0], c.at[1], c.at[2]));

#pragma unroll
    for (int j = 0; j < D; j++) {
#pragma unroll
      for (int i = 0; i < D; i++) x[i] = inverse.column(j)[i];
      own.undo(x);
      t.d[j] = x[j];
#pragma unroll
      for (int i = j + 1; i < D; i++) t.beside[pair_of(i, j)] = x[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < D; i++) {
      t.d[i] = inverse.column(i)[i];
#pragma unroll
      for (int j = 0; j < i; j++) t.beside[pair_of(i, j)] = m.down ? inverse.column(i)[j] : inverse.column(j)[i];
    }
  }
#pragma unroll
  for (int i = 0; i < D; i++) x[i] = i == c.column ? V(1) : V(0);
  t.solve(m, x);
#pragma unroll
  for (int i = 0; i < D; i++)
    if (i != c.column && (i < c.column) == (bool)m.down) block[(size_t)i * width] = x[i];
  for (int e = 0; e < m.points; e++) {
    const Block<V, D> stored(m, c.step, c.line, e);
    size_t            first;
    int               wide;

    if (!find_entry<D>(q, c, e, &first, &wide)) continue;
#pragma unroll
    for (int i = 0; i < D; i++) x[i] = stored.column(c.column)[i];
    if constexpr (WHOLE) {
      const signed char *const p     = m.point[m.at[e]];
      const V *const           there = upper_inverse<V, D>(upper, c.at[0] + p[0], c.at[1] + p[1], c.at[2] + p[2]).column(c.column);

      for (int j = 0; j < c.column; j++) {
        const V *const before = stored.column(j);
#pragma unroll
        for (int i = 0; i < D; i++) x[i] += before[i] * there[j];
      }
      /* read again, since there are no registers to keep it */
      UpperInverse<V, D>(upper_inverse<V, D>(upper, c.at[0], c.at[1], c.at[2])).undo(x);
    }
    t.solve(m, x);
#pragma unroll
    for (int i = 0; i < D; i++) crout[first + (size_t)i * wide] = x[i];
  }
}

template <int D>
__global__ void __launch_bounds__(SYNCILU_BLOCK) blocks_places_kernel(SyncILUDeviceStructBlocks q, SyncILUStructBlocksPlace *__restrict__ place)
{
  const Column c = column_of<D>(q);

  if (c.point < 0 || c.column) return;
  const SyncILUStructBlocksPlace own = {(unsigned)c.place, c.mask << SyncILUStencilBit(q.m.down, 0) | (q.m.down ? place[c.point].points : 0u)};
  place[c.point]                     = own;
}

template <int D>
long long columns_of(const SyncILUDeviceStructBlocks &q)
{
  return (long long)q.m.g.tiles * q.m.g.steps * SyncILUStructBlocksLines(&q.m.g) * D;
}

template <int D>
cudaError_t places_of_size(const SyncILUDeviceStructBlocks &q, SyncILUStructBlocksPlace *place, cudaStream_t stream)
{
  if constexpr (D > 2) {
    if (q.inodes.size < D) return places_of_size<D - 1>(q, place, stream);
  }
  LAUNCH(blocks_places_kernel<D>, columns_of<D>(q), stream, q, place);
}

template <int D>
cudaError_t values_of_size(const SyncILUDeviceStructBlocks &q, const void *crout, const void *d, cudaStream_t stream)
{
  if constexpr (D > 2) {
    if (q.inodes.size < D) return values_of_size<D - 1>(q, crout, d, stream);
  }
  LAUNCH((blocks_values_kernel<double, D>), columns_of<D>(q), stream, q, (const double *)crout, (const double *)d);
}

template <int D>
cudaError_t back_of_size(const SyncILUDeviceStructBlocks &q, const SyncILUDeviceStruct &upper, void *crout, cudaStream_t stream)
{
  if constexpr (D > 2) {
    if (q.inodes.size < D) return back_of_size<D - 1>(q, upper, crout, stream);
  }
  if (q.whole && !q.m.down) {
    const unsigned grid = blocks_for(columns_of<D>(q), SYNCILU_BLOCK);

    if (grid) blocks_halves_kernel<double, D><<<grid, SYNCILU_BLOCK, 0, stream>>>(q, upper);
    CHECK_LAUNCH();
    LAUNCH((blocks_back_kernel<double, D, true>), columns_of<D>(q), stream, q, upper, (double *)crout);
  }
  LAUNCH((blocks_back_kernel<double, D, false>), columns_of<D>(q), stream, q, upper, (double *)crout);
}

} // namespace

cudaError_t SyncILUKernelStructBlocksFits(SyncILUDeviceStructBlocks q, int *fits)
{
  cudaError_t err = of_size<SYNCILU_INODE_MOST, 1>(q, nullptr, fits, nullptr);

  if (err == cudaSuccess && *fits) err = of_size<SYNCILU_INODE_MOST, SYNCILU_RHS_BLOCK>(q, nullptr, fits, nullptr);
  return err;
}

cudaError_t SyncILUKernelStructBlocksValues(SyncILUValueType type, SyncILUDeviceStructBlocks q, const void *crout, const void *d, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  return values_of_size<SYNCILU_INODE_MOST>(q, crout, d, stream);
}

cudaError_t SyncILUKernelStructBlocksPlaces(SyncILUDeviceStructBlocks q, SyncILUStructBlocksPlace *place, cudaStream_t stream)
{
  return places_of_size<SYNCILU_INODE_MOST>(q, place, stream);
}

cudaError_t SyncILUKernelValuesOfStructBlocks(SyncILUValueType type, SyncILUDeviceStructBlocks q, SyncILUDeviceStructBlocks upper, void *crout,
                                              cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  return back_of_size<SYNCILU_INODE_MOST>(q, upper.m, crout, stream);
}

cudaError_t SyncILUKernelSolveStructBlocks(SyncILUValueType type, SyncILUDeviceStructBlocks q, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!s.nrhs) return cudaSuccess;
  return s.nrhs == 1 ? of_size<SYNCILU_INODE_MOST, 1>(q, &s, nullptr, stream) : of_size<SYNCILU_INODE_MOST, SYNCILU_RHS_BLOCK>(q, &s, nullptr, stream);
}
