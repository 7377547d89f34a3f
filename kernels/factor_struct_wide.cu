/*
   Update strategy struct where levels are wide: a warp has a step of a tile, and a lane a row, of another
   line each. All lanes do the same, which the stencil says: for each reference row k of a row i, w_ij -= w_ik
   u'_kj with those j that both have. Rows of U' are where they stay, in the tiles of the solves; lanes that
   are neighbours in a tile find them beside each other, and copy them to shared memory, each for itself. The
   values of the matrix, which has rows one after the other, are brought row by row, and in shared memory
   lanes have them entry by entry.

   factor_struct.cu has a row at a time, whose entries lanes have, and takes less time from a level to the
   next. Here a warp does 32 rows in the time of one. But a level takes several microseconds, so levels must
   be wide.

   Each tile counts its steps, which end one after the other, and releases the count when a step is stored.
   Who needs rows of it acquires that, reference row by reference row: the lowest levels come first, and only
   those of the level just before wait.

   Progress: tickets are in the order of the levels, and a task waits for steps of tiles that all have lower
   levels.
*/
#include "factor_struct_wide.h"
#include "entries.cuh"
#include "pivot.cuh"
#include "struct_wide.cuh"

using namespace syncilu;

namespace
{

constexpr int STRIDE = SYNCILU_STRUCT_STRIDE, AHEAD = SYNCILU_STRUCT_AHEAD;

/* What a task has in shared memory, in doubles: its rows, entry by entry, and numbers of reference rows. */
__host__ __device__ __forceinline__ int doubles_of_rows(const SyncILUDeviceStructWide &f)
{
  return (f.lower.points + 1 + f.upper.points) * STRIDE;
}

__host__ __device__ __forceinline__ int doubles_of_task(const SyncILUDeviceStructWide &f)
{
  return doubles_of_rows(f) + SYNCILU_STRUCT_HAND * 32;
}

template <bool HOLES>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) struct_wide_kernel(const SyncILUDeviceStructWide f)
{
  extern __shared__ __align__(16) double shared[];
  __shared__ __align__(16) SyncILUStructTable table;
  const SyncILULines                         &g    = f.lower.g;
  const int                                   lane = threadIdx.x & 31, nl = f.lower.points, nu = f.upper.points;

  for (int q = threadIdx.x; q < (int)(sizeof(table) / 16); q += blockDim.x) ((int4 *)&table)[q] = ((const int4 *)f.table)[q];
  const Ticket t = take_ticket(f.ticket); /* with a barrier, after which the table is there */
  if (t >= (Ticket)f.tasks) return;
  double *const rows = shared + (threadIdx.x >> 5) * doubles_of_task(f), *const w = rows + lane, *const hand = w + doubles_of_rows(f);
  const StepTask task = ((const StepTask *)f.task)[t];
  const Tile     tile = tile_of(g, task.tile);
  const int      line = tile.v + (lane & ((1 << g.edge[0]) - 1)), plane = tile.w + (lane >> g.edge[0]), first = line_row(g, line, plane);
  const int      at[3] = {task.step - lane_at(g, line, plane).late, line - g.skew * plane, plane};
  const bool     on    = first >= 0 && (unsigned)at[0] < (unsigned)g.points[0];
  const int      row = on ? first + at[0] * g.stride[0] : 0, begin = on ? f.pattern.ptr[row] : 0;
  unsigned       all  = 0; /* the entries that the row has, by ascending columns */
  bool           full = !HOLES && on;

#pragma unroll
  for (int c = 0; c < 3; c++) full = full && at[c] >= f.margin[c][0] && at[c] < g.points[c] - f.margin[c][1];
  full = __all_sync(FULL, full); /* all rows have all entries */
  if (full) {
    double *const       to   = rows + table.entry[lane];
    const double *const from = (const double *)f.a.a + lane;
    const bool          has  = lane <= nl + nu;

    if (f.a.map) {
      for (int r = 0; r < 32; r++) {
        const int k = __shfl_sync(FULL, begin, r) + lane;

        if (has) to[r] = value<double>(f.a, k);
      }
    } else {
#pragma unroll 8
      for (int r = 0; r < 32; r++) copy_if(has, to + r, from + __shfl_sync(FULL, begin, r));
    }
    all = ~0u;
  } else {
    if (on) all = points_of(f.lower, row, at) | 1u << nl | points_of(f.upper, row, at) << (nl + 1);
    for (int r = 0; r < 32; r++) {
      const unsigned entries = __shfl_sync(FULL, all, r);
      const int      k       = __shfl_sync(FULL, begin, r) + __popc(entries & ((1u << lane) - 1));
      double *const  to      = rows + table.entry[lane] + r;

      if (lane > nl + nu) continue;
      if (!(entries >> lane & 1)) *to = 0.0;
      else if (f.a.map) *to = value<double>(f.a, k);
      else copy_if(true, to, (const double *)f.a.a + k);
    }
  }
  commit_copies();

  /*
     Each of the first lanes has a tile that reference rows are in: where the step with the task's number
     stands in the storage of U, and how many steps are done.
  */
  const int        beside = lane < f.tiles ? tile_beside(g, tile, f.tile[lane]) : -1, base = max(beside, 0) * g.steps + g.steps - 1 - task.step;
  const int *const done = beside < 0 ? NULL : f.done + beside;
  int              seen = done ? load_acquire(done) : INT_MAX;

  wait_copies<0>();
  __syncwarp(); /* the rows are there for all lanes; and those steps are whole for them */
  const double shift = diagonal_shift(f.piv);
  if (on && shift != 0.0) w[nl * STRIDE] += shift;

  const double *const u     = (const double *)f.upper.val;
  const int           slots = (f.upper.entries + f.upper.scaled) * 32;
  int                 asked = 0;

  for (int k = 0; k < nl; k++) {
    while (asked < nl && asked < k + AHEAD && f.source[asked].after <= k) {
      const int needs = lane < f.tiles ? min(task.step + table.needs[asked][lane], g.steps) : 0;

      if (!__all_sync(FULL, seen >= needs)) {
        if (asked > k) break; /* what has been asked for comes first */
        seen = wait_steps(done, needs, seen);
      }
      const SyncILUStructPlace place = table.place[asked][lane];
      const int                step  = __shfl_sync(FULL, base, place.tile) + place.behind;
      const bool               has   = all >> f.bit[asked] & 1;
      const double *const      from  = u + (size_t)step * slots + place.lane;
      double *const            to    = hand + f.source[asked].begin * 32;
      const int                count = f.source[asked].count;

      for (int q = 0; q < count; q += 2) {
        copy_if(has, to + q * 32, from + (f.source[asked].update[q] & 0xffff));
        if (q + 1 < count) copy_if(has, to + (q + 1) * 32, from + (f.source[asked].update[q + 1] & 0xffff));
      }
      commit_copies();
      asked++;
    }
    wait_copies_but(asked - k - 1);
    if (all >> f.bit[k] & 1) {
      const double *const from       = hand + f.source[k].begin * 32;
      const double        multiplier = -w[k * STRIDE];
      const int           count      = f.source[k].count;

      for (int q = 0; q < count; q += 2) {
        const bool    two    = q + 1 < count;
        double *const own[2] = {w + (f.source[k].update[q] >> 16), w + (f.source[k].update[two ? q + 1 : q] >> 16)};
        const double  y[2] = {from[q * 32], two ? from[(q + 1) * 32] : 0.0}, x[2] = {*own[0], *own[1]};

        /* an infinite multiplier must not meet the zero of an entry that is not there */
        if (!HOLES || y[0] != 0.0) *own[0] = fma(multiplier, y[0], x[0]);
        if (two && (!HOLES || y[1] != 0.0)) *own[1] = fma(multiplier, y[1], x[1]);
      }
    }
  }

  if (on) {
    const size_t  own   = (size_t)task.tile * g.steps;
    double *const lower = (double *)f.lower.val + ((own + task.step) * (f.lower.entries + f.lower.scaled) + f.lower.entries - nl) * 32 + lane;
    double *const upper = (double *)f.upper.val + (own + g.steps - 1 - task.step) * slots + (f.upper.entries - nu) * 32 + lane;
    double        d = w[nl * STRIDE], inverse = reciprocal(d);
    int           largest = 0; /* the upper half of the largest magnitude that is stored */

    if (!has_reciprocal(d) || fabs(d) <= f.piv.zeropivot) {
      (void)judge(f.piv, row, d, f.status);
      d       = shifted_pivot(f.piv, d);
      inverse = 1.0 / d;
    }
#pragma unroll 4
    for (int b = 0; b < nu; b++) {
      const double scaled = w[(nl + 1 + b) * STRIDE] * inverse;

      if (!full && !(all >> f.bit[nl + b] & 1)) continue;
      upper[b * 32] = scaled;
      largest       = max(largest, __double2hiint(scaled) & 0x7fffffff);
    }
#pragma unroll 4
    for (int a = 0; a < nl; a++)
      if (full || all >> f.bit[a] & 1) lower[a * 32] = w[a * STRIDE];
    lower[nl * 32]           = inverse;
    ((double *)f.pivot)[row] = d;
    if (largest >= 0x7ff00000) {
      bool lost = false;

      for (int b = 0; b < nu; b++)
        lost |= (full || all >> f.bit[nl + b] & 1) && isfinite(w[(nl + 1 + b) * STRIDE]) && !isfinite(w[(nl + 1 + b) * STRIDE] * inverse);
      /* the row would not come out as it is on the host, where U is not divided by its pivots */
      if (lost) report(&f.status->row, row);
    }
  }
  __syncwarp(); /* all rows are stored */
  if (lane == 0) store_release(f.done + task.tile, task.step + 1);
}

__global__ void __launch_bounds__(SYNCILU_BLOCK)
  tasks_kernel(SyncILULines g, const int *__restrict__ order, const int *__restrict__ start, const int *__restrict__ first, StepTask *__restrict__ task)
{
  const long long p = global_thread();

  if (p >= (long long)g.tiles * g.steps) return;
  const int  k = (int)(p / g.steps), step = (int)(p - (long long)k * g.steps);
  const Tile t     = tile_of(g, order[k]);
  const int  level = g.level[0] * t.v + g.level[1] * t.w + step;

  task[start[level] + k - first[level]] = {t.number, step};
}

} // namespace

cudaError_t SyncILUKernelStructTasks(SyncILULines g, const int *order, const int *start, const int *first, void *task, cudaStream_t stream)
{
  LAUNCH(tasks_kernel, (long long)g.tiles * g.steps, stream, g, order, start, first, (StepTask *)task);
}

cudaError_t SyncILUKernelFactorStructWide(SyncILUValueType type, SyncILUDeviceStructWide f, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || f.piv.relax != 0.0) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  const int bytes_of_task = doubles_of_task(f) * (int)sizeof(double);
  int       warps         = SYNCILU_BLOCK_FACTOR / 32;

  while (warps > 1 && warps * bytes_of_task > SYNCILU_SHARED_BYTES - (int)sizeof(SyncILUStructTable)) warps--;
  const unsigned grid = blocks_for(f.tasks, warps), block = 32 * warps, bytes = warps * bytes_of_task;

  if (f.lower.present) struct_wide_kernel<true><<<grid, block, bytes, stream>>>(f);
  else struct_wide_kernel<false><<<grid, block, bytes, stream>>>(f);
  return cudaGetLastError();
}
