/*
   Triangular solves of matrices of a grid with several unknowns a point, in the tiles of kernels/struct.h. A
   block of threads solves for a tile, step by step. A thread computes an unknown of a line; one warp more brings
   the coefficients, whole steps at once, and others what points of other tiles have found, a step each by turns.

   Shared memory has the coefficients of the next steps, the right-hand sides of the next ones, and a ring of
   the solution of the last steps, for the lines of the tile and those beside it. Points that are not on the grid
   are zero there, as the coefficients of entries that leave it are.

   Progress: blocks take tiles by ticket, in the order of their lowest levels, in which a tile comes after those
   that its lines depend on. Within a block, a step waits for its coefficients and for what other tiles have
   found; both are brought once the step is over that had their place before, `stages` steps earlier. So the
   unfinished step of the lowest ticket waits for nothing unfinished.

   Values that leave a tile are their own flags. The x of the other triangular solve is filled with sentinels
   on the way.
*/
#include "solve_struct_blocks.h"
#include "struct.cuh"
#include "async.cuh"
#include "triangular.cuh"

using namespace syncilu;

namespace
{

/* Steps of coefficients in shared memory; warps that fetch; lines beside a tile; entries of the step before. */
constexpr int MOST_STAGES = 16, SHARED_STAGES = 6, LEAST_STAGES = 2, FETCHERS = 11, NEAR = 3;

/* Entries of 27 points that reach back further than to the step before: loops over these need no end. */
constexpr int BOX = 10;

/* Of a block: up to 32 lines of SYNCILU_INODE_MOST unknowns, a warp for coefficients, and those that fetch. */
constexpr int MOST_WARPS = SYNCILU_INODE_MOST + 1 + FETCHERS;

/* Right-hand sides are asked for so many steps ahead. */
template <int R>
struct Ahead {
  static constexpr int SLOTS = R == 1 ? 16 : 8, STEPS = SLOTS - 1;
};

struct Barriers {
  /* coefficients are there; values of other tiles are; all computing warps have done a step */
  Barrier  full[MOST_STAGES], got[MOST_STAGES + SYNCILU_STRUCT_REACH], done[MOST_STAGES], begun;
  unsigned ticket;
};

/* A line beside the tile: where the x of its tile stands at our step 0, its lane there, its cell, and how late it is; INT_MAX / 2 if there is none. */
struct Beside {
  long long from;
  int       lane, cell, late;
};

/* What of the sizes depends on the tile. */
struct Sizes {
  int lines, threads, warps; /* of those that compute */
  int row, slots;            /* numbers of a step in the ring, steps of it */
  int coefs, rhs;            /* numbers of a step */

  template <int D, int R>
  static __host__ __device__ Sizes of(const SyncILUDeviceStruct &m, int stages)
  {
    Sizes z;

    z.lines   = SyncILUStructBlocksLines(&m.g);
    z.threads = z.lines * D;
    z.warps   = (z.threads + 31) / 32;
    z.row     = m.one.cells * D * R;
    z.slots   = stages - 1 + m.height;
    z.coefs   = (int)SyncILUStructBlocksStep(&m.g, m.points, D);
    z.rhs     = z.threads * R;
    return z;
  }
  __host__ __device__ size_t bytes(int stages, int ahead) const
  {
    return ((size_t)stages * coefs + (size_t)slots * row + (size_t)ahead * rhs) * sizeof(double) + SYNCILU_STRUCT_LINES * sizeof(Beside);
  }
};

struct Place {
  const SyncILUDeviceStruct &m;
  int                        near; /* entries of the step before, which are the last ones */
  const SyncILUDeviceSolve  &s;
  const Sizes               &z;
  Tile                       tile;
  int                        group, stages;
  double                    *coefs, *ring, *rhs;
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
  const int           a = o.m.one.line[k][0], b = o.m.one.line[k][1];
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
  const double *const from = (const double *)o.m.val + (size_t)o.tile.number * steps * o.z.coefs;

  if ((threadIdx.x & 31) != 0) return;
  for (int u = 0, slot = 0, parity = 1; u < steps; u++) {
    if (u >= o.stages) barrier_wait(&o.bars->done[slot], parity);
    barrier_expect(&o.bars->full[slot], bytes);
    copy_bulk(o.coefs + (size_t)slot * o.z.coefs, from + (size_t)u * o.z.coefs, bytes, &o.bars->full[slot]);
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
  const int     lane = threadIdx.x & 31, steps = o.m.g.steps, count = o.m.one.lines * LINE, points = o.m.g.points[0];

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

/*
   Solves for the unknowns, a step after the other. What the entries need that reach back further than to the
   step before, of which there are FAR at most, is there earlier, and is subtracted while the other warps end that
   step. What a step takes is the number of its instructions, since a scheduler has hardly more than one of these
   warps: addresses go on from step to step, and the sizes of a tile are known.
*/
template <int D, int R, int FAR, int LG>
__device__ __forceinline__ void compute(const Place &o, int thread)
{
  constexpr int              SLOTS = Ahead<R>::SLOTS, AHEAD = Ahead<R>::STEPS, WIDE = D << LG, BLOCK = D * WIDE;
  constexpr bool             EXACT = FAR == 0 || FAR == BOX;
  const SyncILUDeviceStruct &m     = o.m;
  const SyncILULines        &g     = m.g;
  const bool                 mine = thread < WIDE, down = m.down, second = !o.s.ldb, finishes = o.s.out != nullptr;
  const int                  t = mine ? thread : 0, line = t / D, i = t - line * D, lane = threadIdx.x & 31; /* others do the same, for nobody */
  const int                  width = 1 << g.edge[0], height = 1 << g.edge[1], a = line & (width - 1), b = line >> g.edge[0];
  const int                  v = o.tile.v + a, w = o.tile.w + b, row = line_row(g, v, w), slots = o.z.slots, ring_row = o.z.row, steps = g.steps;
  const unsigned             points = (unsigned)g.points[0];
  const int                  cell   = o.cell(down ? width - 1 - a : a, down ? height - 1 - b : b) * (D * R);
  const int                  near = o.near, far = m.points - near, left = o.s.nrhs - o.group * R; /* right-hand sides of this group */
  const bool                 stores   = !second || (m.exported >> line & 1);                      /* the second solve reads all */
  const unsigned             full_bar = fixed_address(o.bars->full), got_bar = fixed_address(o.bars->got), done_bar = fixed_address(o.bars->done);
  /* the unknown of step 0, from which on rows are `stride` apart */
  const long long late   = row < 0 || !mine ? INT_MAX / 2 : turned(m, lane_at(g, v, w)).late;
  const long long first  = ((long long)row + (down ? g.points[0] - 1 + late : -late) * g.stride[0]) * D + i;
  const long long stride = (down ? -g.stride[0] : g.stride[0]) * D, tile = o.at(o.tile.number, 0), group = (long long)o.group * R;
  const long long last  = tile + (long long)(steps - 1) * WIDE;
  const int       turn  = second ? -WIDE * R : WIDE * R;
  const bool      fills = mine && o.s.next != nullptr;
  /* who writes no solution, or fills nothing, goes along x, and does not look */
  double *x = (double *)o.s.x + (tile + t) * R, *out = (double *)(finishes ? o.s.out : o.s.x) + group * (long long)o.s.ldout + first;
  double *next = (double *)(o.s.next ? o.s.next : o.s.x) + ((second ? last : tile) + t) * R;
  /* the right-hand sides that are asked for next, and how far they are from step to step, and from each other */
  const double   *from      = (const double *)o.s.b + (second ? (last + t) * R : group * (long long)o.s.ldb + first);
  const long long from_step = second ? turn : stride, from_next = second ? 1 : (long long)o.s.ldb;
  double *const   rhs = o.rhs + t * R;
  int             on = -(int)late, own = m.height * ring_row + cell + i * R, there[NEAR], end[NEAR]; /* of the near entries in the ring */

#pragma unroll
  for (int k = 0; k < NEAR; k++) {
    const int e = near ? far + (k < near ? k : 0) : 0; /* there are fewer: zeros times what is there anyway */

    end[k]   = slots * ring_row + cell + (near ? m.one.cell[e] * (D * R) : 0);
    there[k] = end[k] + (m.height - (near ? 1 : 0) - slots) * ring_row;
  }
  auto ask = [&](int u, int at) { /* for the right-hand side of a step; at: of the step, among the points of the line */
                                  const bool    asked = u < steps && (unsigned)at < points && mine;
                                  double *const to    = rhs + (u & (SLOTS - 1)) * (WIDE * R);

#pragma unroll
                                  for (int r = 0; r < R; r++) copy_if(asked && (second || R == 1 || r < left), to + r, from + r * from_next);
                                  commit_copies();
                                  from += from_step;
  };
  auto subtract = [&](const double *y, const double(&coef)[D], double(&sum)[R]) { /* the product with a row of a block */
                                                                                  double value[D][R];

#pragma unroll
                                                                                  for (int n = 0; n < D; n++) get<R>(y + n * R, value[n]);
#pragma unroll
                                                                                  for (int n = 0; n < D; n++) {
#pragma unroll
                                                                                    for (int r = 0; r < R; r++) sum[r] -= coef[n] * value[n][r];
                                                                                  }
  };
  /* All of a step but for the near entries: what is left of its right-hand side, and their coefficients. */
  auto prepare = [&](int u, int stage, int slot, double(&rest)[R], double(&direct)[NEAR][D]) {
    const double *const coef = o.coefs + stage * o.z.coefs + t, *const c = coef + m.points * BLOCK, *const d = coef + far * BLOCK;
    const double *const b = o.rhs + ((u & (SLOTS - 1)) * WIDE + line * D) * R;
    double              odd[R];

#pragma unroll
    for (int r = 0; r < R; r++) rest[r] = odd[r] = 0.0;
#pragma unroll
    for (int n = 0; n < D; n++) {
      double value[R];

      get<R>(b + n * R, value);
#pragma unroll
      for (int r = 0; r < R; r++) rest[r] += c[n * WIDE] * value[r];
    }
#pragma unroll
    for (int k = 0; k < FAR; k++) {
      if (!EXACT && k >= far) break;
      const int back = slot - m.before[k];
      double    row[D];

#pragma unroll
      for (int n = 0; n < D; n++) row[n] = coef[k * BLOCK + n * WIDE];
      if (k % 2) subtract(o.ring + (back < 0 ? back + slots : back) * ring_row + cell + m.one.cell[k] * (D * R), row, rest);
      else subtract(o.ring + (back < 0 ? back + slots : back) * ring_row + cell + m.one.cell[k] * (D * R), row, odd);
    }
#pragma unroll
    for (int k = 0; k < NEAR; k++) {
      if (k >= near) break;
#pragma unroll
      for (int n = 0; n < D; n++) direct[k][n] = d[k * BLOCK + n * WIDE];
    }
#pragma unroll
    for (int r = 0; r < R; r++) rest[r] += odd[r];
  };

  double rest[R], direct[NEAR][D] = {};
  int    stage = 0, parity = 0, slot = m.height, got = 0; /* got: parity of its barrier */
  for (int u = 0; u < AHEAD; u++) ask(u, on + u);         /* where there is no point nobody brings one, and what is computed is not used */
  wait_copies<AHEAD - 2>();
  __syncwarp();
  if (lane == 0) barrier_arrive(&o.bars->begun); /* the right-hand sides of the first two steps are there */
  for (int n = 0; n < m.height; n++) barrier_wait(&o.bars->got[n], 0);
  barrier_wait(&o.bars->full[0], 0);
  barrier_wait(&o.bars->begun, 0);
  prepare(0, 0, slot, rest, direct);
  for (int u = 0; u < steps; u++, on++) {
    const bool here = (unsigned)on < points;
    double     part[NEAR][R], y[R];

#pragma unroll
    for (int k = 0; k < NEAR; k++) {
#pragma unroll
      for (int r = 0; r < R; r++) part[k][r] = k ? 0.0 : rest[r];
      subtract(o.ring + there[k], direct[k], part[k]);
      there[k] += ring_row;
      there[k] -= there[k] >= end[k] ? slots * ring_row : 0;
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
      y[r] = part[0][r] + (part[1][r] + part[2][r]);
      y[r] = here ? y[r] : 0.0;
      if (mine) o.ring[own + r] = y[r];
    }
    wait_copies<AHEAD - 3>(); /* what is needed two steps later has come, and others see it after this step */
    __syncwarp();
    if (lane == 0) barrier_arrive(done_bar + stage * (int)sizeof(Barrier));
    const int over = stage, its = parity, before = slot;

    own += ring_row;
    if (++stage == o.stages) {
      stage = 0;
      parity ^= 1;
    }
    if (++slot == slots) {
      slot = 0;
      own -= slots * ring_row;
    }
    /* who asks waits for the answer: asked for before it is needed */
    const bool full = barrier_test(full_bar + stage * (int)sizeof(Barrier), parity), others = barrier_test(got_bar + before * (int)sizeof(Barrier), got);
#pragma unroll
    for (int r = 0; r < R; r++) {
      store_relaxed_if(here && stores, x + r, clean(y[r]));
      if (finishes && here && (R == 1 || r < left)) out[r * (long long)o.s.ldout] = y[r];
      /* the right-hand side that has been read, or what will be found by the other solve, which waits for the kernel */
      if (fills) poison(next[r]);
    }
    x += WIDE * R;
    out += stride;
    next += turn;
    ask(u + AHEAD, on + AHEAD);
    if (u + 1 < steps) {
      if (!full) barrier_wait(full_bar + stage * (int)sizeof(Barrier), parity);
      prepare(u + 1, stage, slot, rest, direct);
      if (!others) barrier_wait(got_bar + before * (int)sizeof(Barrier), got);
    }
    if (!slot) got ^= 1;
    while (WIDE > 32 && !barrier_test(done_bar + over * (int)sizeof(Barrier), its)) { } /* soon */
  }
}

template <int D, int R, int FAR, int LG>
__global__ void __launch_bounds__(32 * MOST_WARPS) struct_blocks_kernel(SyncILUDeviceStruct m, SyncILUDeviceSolve s, int near, int groups, int stages)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) double shared[];
  __shared__ Barriers                    bars;
  const Sizes                            z = Sizes::of<D, R>(m, stages);
  double *const ring = shared + (size_t)stages * z.coefs, *const rhs = ring + (size_t)z.slots * z.row;
  Beside *const lines = (Beside *)(rhs + (size_t)Ahead<R>::SLOTS * z.rhs);

  if (threadIdx.x == 0) {
    const Ticket ticket = atomicAdd(s.ticket, 1ull);

    if (!ticket && s.reset) *s.reset = 0;
    bars.ticket = (unsigned)ticket;
    for (int k = 0; k < stages; k++) {
      barrier_begin(&bars.full[k], 1);
      barrier_begin(&bars.done[k], z.warps);
    }
    for (int k = 0; k < z.slots; k++) barrier_begin(&bars.got[k], 1);
    barrier_begin(&bars.begun, z.warps);
  }
  for (int k = threadIdx.x; k < z.slots * z.row; k += blockDim.x) ring[k] = 0.0;
  fence_copies();
  __syncthreads(); /* ticket and barriers are there */
  const int   place = (int)(bars.ticket / groups);
  const Place o     = {m, near, s, z, tile_of(m.g, m.one.order[place]), (int)bars.ticket - place * groups, stages, shared, ring, rhs, lines, &bars};
  for (int k = threadIdx.x; k < m.one.lines; k += blockDim.x) lines[k] = beside(o, k);
  __syncthreads(); /* the lines beside are there for all warps that fetch */
  const int warp = threadIdx.x >> 5;
  if (warp < z.warps) compute<D, R, FAR, LG>(o, threadIdx.x);
  else if (warp == z.warps) carry(o);
  else fetch<D, R>(o, warp - z.warps - 1, (int)(blockDim.x >> 5) - z.warps - 1);
#endif
}

/* A launch; with fits given, whether one is possible, instead. */
template <int D, int R, int FAR, int LG>
cudaError_t launch(const SyncILUDeviceStructBlocks &q, const SyncILUDeviceSolve *s, int *fits, cudaStream_t stream)
{
  int         device, most = 0;
  cudaError_t err = cudaGetDevice(&device);

  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (err != cudaSuccess) return err;
  most -= 2048; /* for the barriers */
  auto bytes  = [&](int stages) { return Sizes::of<D, R>(q.m, stages).bytes(stages, Ahead<R>::SLOTS); };
  int  stages = MOST_STAGES;
  /* two blocks a multiprocessor, if they have some steps each */
  while (stages >= SHARED_STAGES && bytes(stages) > (size_t)most / 2) stages--;
  if (stages < SHARED_STAGES) stages = MOST_STAGES;
  while (stages >= LEAST_STAGES && bytes(stages) > (size_t)most) stages--;
  const Sizes z = Sizes::of<D, R>(q.m, stages);
  if (fits) {
    cudaFuncAttributes attributes = {};

    err = cudaFuncGetAttributes(&attributes, struct_blocks_kernel<D, R, FAR, LG>);
    /* compiled for a device that has no such copies, the kernel does nothing */
    *fits = err == cudaSuccess && attributes.ptxVersion >= 90 && stages >= LEAST_STAGES && z.warps + 1 + FETCHERS <= MOST_WARPS;
    if (err != cudaSuccess) (void)cudaGetLastError();
    if (err == cudaErrorMemoryAllocation) return err; /* other errors are how a device says that it has none */
    /* the kernel has one limit, and other matrices may need more of it than this one */
    return *fits ? cudaFuncSetAttribute(struct_blocks_kernel<D, R, FAR, LG>, cudaFuncAttributeMaxDynamicSharedMemorySize, most) : cudaSuccess;
  }
  const int groups = (s->nrhs + R - 1) / R, fetchers = stages < FETCHERS ? stages : FETCHERS;
  struct_blocks_kernel<D, R, FAR, LG>
    <<<(unsigned)(q.m.g.tiles * groups), 32 * (z.warps + 1 + fetchers), bytes(stages), stream>>>(q.m, *s, q.near, groups, stages);
  return cudaGetLastError();
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

/* Solves with the triangle of a block on the diagonal for a column, in place. */
template <typename V, int D>
__device__ __forceinline__ void solve_column(const SyncILUDeviceStruct &m, const V *__restrict__ block, int width, const V *__restrict__ d, V (&x)[D])
{
  auto entry = [&](int i, int j) { return m.transposed ? block[(size_t)j * width + i] : block[(size_t)i * width + j]; };

  if (m.down) {
#pragma unroll
    for (int i = D - 1; i >= 0; i--) {
#pragma unroll
      for (int j = i + 1; j < D; j++) x[i] -= entry(i, j) * x[j];
      if (m.scaled) x[i] /= d[i];
    }
  } else {
#pragma unroll
    for (int i = 0; i < D; i++) {
#pragma unroll
      for (int j = 0; j < i; j++) x[i] -= entry(i, j) * x[j];
      if (m.scaled) x[i] /= d[i];
    }
  }
}

/* A thread a column of a block; those of a block are neighbours. */
template <typename V, int D>
__global__ void __launch_bounds__(SYNCILU_BLOCK) blocks_values_kernel(SyncILUDeviceStructBlocks q, const V *__restrict__ crout, const V *__restrict__ pivot)
{
  const SyncILUDeviceStruct  &m     = q.m;
  const SyncILULines         &g     = m.g;
  const SyncILUDevicePattern &p     = q.inodes.pattern;
  const int                   lines = SyncILUStructBlocksLines(&g), column = (int)(global_thread() % D);
  const long long             block = global_thread() / D, step_of = block / lines / (m.points + 1);
  const int                   line = (int)(block % lines), e = (int)(block / lines % (m.points + 1)), tile = (int)(step_of / g.steps);
  const int                   step = (int)(step_of - (long long)tile * g.steps);

  if (tile >= g.tiles) return;
  const Tile t = tile_of(g, tile);
  const int  v = t.v + (line & ((1 << g.edge[0]) - 1)), w = t.w + (line >> g.edge[0]), row = line_row(g, v, w);
  const int  at[3] = {step - lane_at(g, v, w).late, v - g.skew * w, w};
  if (row < 0 || (unsigned)at[0] >= (unsigned)g.points[0]) return;
  const int point = row + at[0] * g.stride[0], begin = p.ptr[point], width = (p.ptr[point + 1] - begin) * D;
  V         x[D];
  if (e == m.points) {
#pragma unroll
    for (int i = 0; i < D; i++) x[i] = i == column ? V(1) : V(0);
  } else {
    const int k = m.at[e], there[3] = {at[0] - m.point[k][0], at[1] - m.point[k][1], at[2] - m.point[k][2]};

    if (m.transposed && !inside(g.points, there, 0, 0, 0)) return;
    const int      from = m.transposed ? point - point_distance(m, k) : point;
    const unsigned mask = points_of(m, from, m.transposed ? there : at);
    if (!(mask >> k & 1)) return;
    /* the entries of L are those before the diagonal, and those of U behind it */
    const int first = m.down != m.transposed ? p.diag[from] + 1 : p.ptr[from], entry = first + __popc(mask & ((1u << k) - 1)) - p.ptr[from];
    const int wide = (p.ptr[from + 1] - p.ptr[from]) * D;
    const V  *rows = crout + (size_t)p.ptr[from] * (D * D) + (size_t)entry * D;
#pragma unroll
    for (int i = 0; i < D; i++) x[i] = m.transposed ? rows[(size_t)column * wide + i] : rows[(size_t)i * wide + column];
  }
  solve_column<V, D>(m, crout + (size_t)begin * (D * D) + (size_t)(p.diag[point] - begin) * D, width, pivot + (size_t)point * D, x);
  V *const to = (V *)m.val + ((size_t)tile * g.steps + (m.down ? g.steps - 1 - step : step)) * SyncILUStructBlocksStep(&g, m.points, D) +
                ((size_t)(e * D + column) * lines + line) * D;
#pragma unroll
  for (int i = 0; i < D; i++) to[i] = x[i];
}

template <int D>
cudaError_t values_of_size(const SyncILUDeviceStructBlocks &q, const void *crout, const void *d, cudaStream_t stream)
{
  if constexpr (D > 2) {
    if (q.inodes.size < D) return values_of_size<D - 1>(q, crout, d, stream);
  }
  const long long threads = (long long)q.m.g.tiles * q.m.g.steps * SyncILUStructBlocksLines(&q.m.g) * (q.m.points + 1) * D;
  LAUNCH((blocks_values_kernel<double, D>), threads, stream, q, (const double *)crout, (const double *)d);
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

cudaError_t SyncILUKernelSolveStructBlocks(SyncILUValueType type, SyncILUDeviceStructBlocks q, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!s.nrhs) return cudaSuccess;
  return s.nrhs == 1 ? of_size<SYNCILU_INODE_MOST, 1>(q, &s, nullptr, stream) : of_size<SYNCILU_INODE_MOST, SYNCILU_RHS_BLOCK>(q, &s, nullptr, stream);
}
