/*
   Update strategy bsr where the solves go along the lines of a grid and levels are wide. The bandwidth of
   memory decides then, and most reference inodes are done long before they are asked for. So the factor is
   stored in the tiles of the solves alone, with whole blocks. What an inode needs of others it takes from
   there: they have W_kk^-1 W_kj, so that

     for each reference inode k of inode i:    W_ij -= W_ik (W_kk^-1 W_kj)
     then W_ii = (W + D) (I + U'_ii):          (I + U'_ii)^-1 and W_ii^-1
     then it stores for L:                     W_ii^-1 W_ik, and W_ii^-1
       and for U:                              W_ii^-1 W_ij, and (I + U'_ii)^-1

   W_ik, W_ii and W_ij are what updates leave of the matrix: of A = (W + D) (I + U') they have W_ik (I + U'_kk)^-1
   as W, and W_ii^-1 W_ij is (I + U'_ii)^-1 U'_ij.

   The stencil says which blocks meet, with the points that both inodes have: there are no lists. A warp has
   an inode. Its rows are in shared memory, block by block. Tensor cores make all products of the updates
   (square.cuh); with four rows one product makes two updates.

   The first pivot of an inode announces all of it: it is released when all is stored, and who needs the inode
   acquires it. Reference inodes are taken in the order of their levels, so that only those of the level just
   before are waited for, and results do not depend on the time.

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

/* What a task begins with. */
struct alignas(16) Task {
  int                      inode, begin;
  SyncILUStructBlocksPlace place;
};
static_assert(sizeof(Task) == SYNCILU_BSR_GRID_TASK, "what the plan has room for");

typedef SyncILUBsrGridUpdates Updates;
static_assert(sizeof(Updates) == 32, "two lanes copy it");

/* The inverses of the diagonal block, (I + U')^-1 (W + D)^-1, and of I + U': B rows each, zeros too. */
constexpr int INVERSES = 2;

/* What shared memory has of an inode. */
template <int B>
struct Room {
  double    *w;       /* its blocks */
  PartPlace *upper;   /* U of the reference inodes, in their order */
  Updates   *updates; /* by these */
  double    *inverse; /* of its diagonal block, where that was before: see invert_diagonal() */

  static __host__ __device__ size_t round(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static __host__ __device__ size_t bytes(int entries)
  {
    const size_t before = POINTS * (sizeof(PartPlace) + sizeof(Updates)), after = round(INVERSES * B * B * sizeof(double));

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
   Inverts a diagonal block W_ii = (W + D) (I + U') in shared memory by Gauss and Jordan: row after row is
   divided by its pivot, and then taken from all other rows. A lane has a column. Lanes come in groups of B.
   Group 0 has the block. Groups 1 and 2 begin as identities. Group 1 takes part in all, and becomes W_ii^-1.
   Group 2 takes part for rows above the pivot only, without division by it, and becomes (I + U')^-1. Returns
   the pivot of the row of the lane. lost becomes the first row with a u' = u / d that is not finite though u
   is: the host stores u, and would go on.
*/
template <int B>
__device__ __forceinline__ double invert_diagonal(const SyncILUDevicePivoting &piv, const double *block, double *inverse, int &lost)
{
  const int lane = threadIdx.x % 32, which = lane / B, c = lane % B;
  double    v[B], own = 0.0;

  static_assert((1 + INVERSES) * B <= 32, "a lane has a column");
#pragma unroll
  for (int i = 0; i < B; i++) v[i] = which == 0 ? block[i * B + c] : i == c ? 1.0 : 0.0;
#pragma unroll
  for (int p = 0; p < B; p++) {
    const double found = __shfl_sync(FULL, v[p], p), by = reciprocal_pivot(piv, found), u = which == 2 ? v[p] : v[p] * by;

    if (which == 0 && c > p && !isfinite(u) && isfinite(v[p])) lost = min(lost, p);
#pragma unroll
    for (int i = 0; i < B; i++) {
      if (i == p) continue;
      const double l = __shfl_sync(FULL, v[i], p);

      if (i < p || which != 2) v[i] -= l * u;
    }
    v[p] = u;
    if (lane == p) own = found;
  }
  if (which > 0 && which <= INVERSES) {
#pragma unroll
    for (int i = 0; i < B; i++) inverse[((which - 1) * B + i) * B + c] = v[i];
  }
  return own;
}

/*
   For an inode of which something that is stored is not finite. Finds the first row with a u' that is not
   finite though u is; the lanes look at different columns. All rows are eliminated in place, as the host does
   it. If all numbers were finite before, and all of U' are, then an inverse or a product with it is too
   large. The host has no inverses; here lost becomes the last row. w has nl blocks of L, the diagonal block,
   and blocks of U: `blocks` in all.
*/
template <int B>
__device__ __forceinline__ void find_lost(const SyncILUDevicePivoting &piv, double *w, int nl, int blocks, int &lost)
{
  const int     lane = threadIdx.x % 32, columns = (blocks - nl - 1) * B;
  double *const block  = w + nl * STRIDE<B>;
  bool          finite = true;

  for (int q = lane; q < blocks * B; q += 32) {
    for (int i = 0; i < B; i++) finite = finite && isfinite(w[q / B * STRIDE<B> + q % B + i * B]);
  }
  finite = __all_sync(FULL, finite);
  __syncwarp(); /* all have read the block, which changes */
  if (lane == 0) {
    for (int p = 0; p < B; p++) {
      const double by = block[p * (B + 1)] = reciprocal_pivot(piv, block[p * (B + 1)]);

      for (int c = p + 1; c < B; c++) {
        const double u = block[p * B + c] * by;

        for (int i = p + 1; i < B; i++) block[i * B + c] -= block[i * B + p] * u;
      }
    }
  }
  __syncwarp(); /* multipliers and reciprocal pivots are there for all lanes */
  for (int q = lane; q < columns; q += 32) {
    double *const v = block + (q / B + 1) * STRIDE<B> + q % B;

    for (int p = 0; p < B; p++) {
      const double u = v[p * B] * block[p * (B + 1)];

      if (!isfinite(u) && isfinite(v[p * B])) lost = min(lost, p);
      for (int i = p + 1; i < B; i++) v[i * B] -= block[i * B + p] * u;
    }
  }
  if (finite && __all_sync(FULL, lost == B)) lost = B - 1;
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
   A step has as many products as suit a reference inode's updates. BLOCKS, of a multiprocessor at least,
   decides on registers. ms with MORE and BLOCKS on an H200:

     unknowns, stencil           1, 8   2, 4   4, 4   4, 5
     8, 7 points, 128^3          7.04
     8, star of 13, 102^3               7.75
     8, diamond of 13, 102^3                   9.44   8.42
     8, 27 points, 83^3                               17.1

   It matters how many warps a multiprocessor has: 7 points take 8.1 ms with 24, 7.5 with 28, and 7.0 with
   these 32. Warps that take one inode after the other, and ask for the next one's rows before they announce
   their own, are no faster.

   Polls that acquire take 0.92 to 0.98 of the time of relaxed ones with a fence after them. A pause between
   polls takes 0.96 to 1.0 of the time with one product, and up to 1.07 with two. To ask for the first factors
   before the rows have come takes 0.94 to 0.98 of the time with 8 and 4 unknowns, and 1.02 to 1.06 with 6.
*/
template <int B, int MORE, int BLOCKS>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR, BLOCKS) bsr_grid_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrGrid m)
{
  constexpr int     EACH = B > 4 ? 1 : 2, K = B > 4 ? 2 : 1; /* updates by a product, and products of tensor cores for it */
  constexpr int     PAUSE = MORE == 1 ? 50 : 0;              /* between polls, ns */
  constexpr bool    EARLY = B < 5 || B > 6;                  /* factors are asked for before the rows have come */
  extern __shared__ __align__(16) unsigned char shared[];
  double *const                                 pivot = (double *)f.pivot;
  const int                                     lane  = threadIdx.x % 32;

  /*
     A lane has a reference inode; lower lanes have those of lower levels. What the stencil says does not
     depend on the ticket, so it is loaded before that comes.
  */
  const int own_point = lane < m.points[0] ? m.table->order[lane] : 0, offset = lane < m.points[0] ? m.table->offset[lane] : 0;
  int4      usual = {0, 0, 0, 0};

  if (lane < 2 * POINTS) usual = ((const int4 *)m.table->updates)[lane];
  const Ticket t = take_ticket(f.ticket);
  if (t >= (Ticket)f.tasks) return;
  const Room<B>  room(shared + (threadIdx.x / 32) * Room<B>::bytes(m.entries), m.entries);
  const Task     task  = ((const Task *)m.task)[t];
  const unsigned lower = task.place.points & ((1u << POINTS) - 1);
  const unsigned all   = lower | 1u << POINTS | task.place.points >> SyncILUStencilBit(1, 0) << (POINTS + 1); /* its entries, by number */
  const int      inode = task.inode, nl = __popc(lower), len = __popc(all) * B;
  double *const  w = room.w;

  copy_rows<B>(f.values, (size_t)task.begin * (B * B), len, w);
  commit_copies();
  if (f.throttle > 0 && t >= (Ticket)f.throttle) wait_for_ancestor(pivot + (size_t)(f.order ? f.order[t - f.throttle] : (int)t - f.throttle) * B, true);
  const bool          has        = lane < m.points[0] && lower >> own_point & 1;
  const unsigned      there      = __ballot_sync(FULL, has);
  const int           references = __popc(there), reference = inode + (has ? offset : 0);
  const double *const flag = pivot + (size_t)reference * B;

  if (has) room.upper[__popc(there & ((1u << lane) - 1))] = part_place<B>(m.tiles, m.tiles.place[reference], 1);
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
  const int           columns     = r < B ? max(0, min(2, B - c)) : 0;
  const size_t        column_size = (size_t)m.tiles.lines * B, block_size = B * column_size;
  const double *const tiles = (const double *)m.tiles.part[1].val + of * column_size + (K == 2 ? c : k);

  auto load = [&](const double *from, double(&x)[K]) {
    if (of >= B) return;
    if constexpr (K == 1) {
      if (k < B) x[0] = *from;
    } else if constexpr (B % 2 == 0) {
      if (c >= B) return;
      const double2 pair = *(const double2 *)from;

      x[0] = pair.x;
      x[1] = pair.y;
    } else {
      if (c < B) x[0] = from[0];
      if (c + 1 < B) x[1] = from[1];
    }
  };
  /* which updates of which reference inode come next, and how many of these are whole */
  int  s = 0, pass = 0, ready = 0;
  bool waits = has;
  auto ask   = [&](Step<MORE, K> &a) {
    a.place = -1;
    if (s == references) return;
    if (s == ready) {
      do {
        if (waits) waits = !is_set(load_acquire(flag));
        const unsigned rest = __ballot_sync(FULL, waits);

        ready = __popc(there & ((rest & (0u - rest)) - 1));
        if (PAUSE > 0 && s == ready) __nanosleep(PAUSE);
      } while (s == ready);
      __syncwarp(); /* these inodes are whole for all lanes */
    }
    const Updates      &us    = room.updates[s];
    const int           count = us.count;
    const double *const from  = tiles + room.upper[s].begin * B;

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
  Step<MORE, K> steps[2];
#pragma unroll
  for (int j = 0; j < 2; j++) {
#pragma unroll
    for (int h = 0; h < K; h++) {
#pragma unroll
      for (int g = 0; g < MORE; g++) steps[j].u[g][h] = 0.0;
    }
  }
  auto make = [&](int j) {
    const Step<MORE, K> &now = steps[j];

    if (now.first) {
      const double *const block = w + now.place * STRIDE<B> + r * B;

#pragma unroll
      for (int h = 0; h < K; h++) part[h] = 0.0;
      if constexpr (K == 2) get_two<B>(block + c, columns, part);
      else if (r < B && k < B) part[0] = block[k];
#pragma unroll
      for (int h = 0; h < K; h++) part[h] = -part[h];
    }
    double x[MORE][2] = {};

#pragma unroll
    for (int g = 0; g < MORE; g++)
      if (now.word[g] >= 0) get_two<B>(w + (now.word[g] & 255) * STRIDE<B> + r * B + c, columns, x[g]);
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
        ask(steps[1 - j]);
      }
    }
#pragma unroll
    for (int g = 0; g < MORE; g++)
      if (now.word[g] >= 0) put_two<B>(w + (now.word[g] & 255) * STRIDE<B> + r * B + c, columns, x[g]);
    if (now.last) __syncwarp(); /* the updates by this reference inode come before the next one's */
  };
  if (EARLY) ask(steps[0]);
  wait_copies<0>();
  __syncwarp(); /* the rows are there for all lanes */
  if (!EARLY) ask(steps[0]);
  for (bool more = true; more;) {
#pragma unroll
    for (int j = 0; j < 2; j++) {
      if (more) more = steps[j].place >= 0;
      if (more) make(j);
    }
  }

  __syncwarp(); /* all lanes have read which updates there are, where the inverses will be */
  int    lost = B;
  double d    = invert_diagonal<B>(f.piv, w + nl * STRIDE<B>, room.inverse, lost);

  if (lane < B) d = clean(judge(f.piv, inode * B + lane, d, f.status));
  __syncwarp(); /* the inverses are there for all lanes */
  auto by  = [&](int, int i, int j) { return room.inverse[i * B + j]; };
  auto own = [&](int p, int i, int j) { return room.inverse[(p * B + i) * B + j]; };
  if (__any_sync(FULL, store_products<double, B, STRIDE<B>, 32>(m.tiles, task.place, nl, w, by, own))) find_lost<B>(f.piv, w, nl, len / B, lost);
  if (lost < B) report(&f.status->row, inode * B + lost);
  if (lane > 0 && lane < B) pivot[(size_t)inode * B + lane] = d;
  __syncwarp(); /* all lanes have stored what they have */
  if (lane == 0) store_release(pivot + (size_t)inode * B, d);
}

__global__ void __launch_bounds__(SYNCILU_BLOCK)
  tasks_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ order, const SyncILUStructBlocksPlace *__restrict__ place, Task *__restrict__ task)
{
  const long long t = global_thread();

  if (t >= n) return;
  const int  i = order ? order[t] : (int)t;
  const Task x = {i, ptr[i], place[i]};

  task[t] = x;
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
  constexpr int  BLOCKS = B == 4 ? 8 : B < 7 ? 6 : 4;

  if (m.products == 1) bsr_grid_kernel<B, 1, 8><<<grid, block, bytes, stream>>>(f, m);
  else if (m.products == 2) bsr_grid_kernel<B, 2, BLOCKS><<<grid, block, bytes, stream>>>(f, m);
  else if constexpr (B > 6) bsr_grid_kernel<B, 4, 5><<<grid, block, bytes, stream>>>(f, m);
  else return cudaErrorNotSupported;
  return cudaGetLastError();
}

} // namespace

size_t SyncILUKernelFactorBsrGridBytes(int size, int entries)
{
  return bytes_of<SYNCILU_INODE_MOST>(size, entries);
}

cudaError_t SyncILUKernelBsrGridTasks(int n, const int *ptr, const int *order, SyncILUDeviceBsrGrid m, void *task, cudaStream_t stream)
{
  LAUNCH(tasks_kernel, n, stream, n, ptr, order, m.tiles.place, (Task *)task);
}

cudaError_t SyncILUKernelFactorBsrGrid(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBsrGrid m, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.size < SYNCILU_BSR_GRID_LEAST || m.size > SYNCILU_INODE_MOST || f.piv.type != SYNCILU_PIVOT_REJECT || f.piv.relax != 0.0 ||
      f.size || !m.tiles.place)
    return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_grid<SYNCILU_INODE_MOST>(f, m, stream);
}
