/*
   Update strategy list: the plan writes down where each update reads and writes, so that a numeric
   factorization searches nothing.

   The updates of a row by each reference row come in rounds of as many updates as the row has lanes.
*/
#include "factor_list.h"
#include "storage.h"
#include "factor_rows.cuh"
#include "lookup.cuh"

using namespace syncilu;

namespace
{

/*
   The updates of each row by each of its reference rows, in rounds. Rounds counts those of a row for 4, 8, 16
   and 32 lanes, the four of them in one, and some says by entry of the pattern whether there are any; or it sums up
   those for 4 lanes over one row of every `stride`. Long rows have none.
*/
template <int LG, Lookup HOW>
__global__ void __launch_bounds__(SYNCILU_BLOCK) rounds_kernel(SyncILUDevicePattern p, int most, int stride, int half, const int *__restrict__ order,
                                                               int4 *__restrict__ rounds, unsigned char *__restrict__ some, unsigned long long *sum)
{
  constexpr int     T     = Shape<LG>::LANES;
  const long long   place = (global_thread() >> LG) * stride, i = order && place < p.n ? order[place] : place;
  const int         sub    = threadIdx.x & (T - 1);
  const bool        active = i < p.n && p.ptr[i + 1] - p.ptr[i] <= most;
  const int         begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  int4              n     = {0, 0, 0, 0};
  const int         own   = begin + (half ? nl : 0);
  const ColumnTable table = table_of_row<LG, HOW>(most, p.col + own, end - own);

  each_update<LG, HOW == TABLED>(
    p, nullptr, nullptr, begin, nl, end, table, [](int, const Common &, int, int, int) {},
    [&](int s, int updates) {
      if (some && s >= 0 && sub == 0) some[begin + s] = updates > 0;
      n.x += (updates + 3) / 4;
      n.y += (updates + 7) / 8;
      n.z += (updates + 15) / 16;
      n.w += (updates + 31) / 32;
    },
    half);
  if (i >= p.n || sub) return;
  if (rounds) rounds[i] = n;
  if (sum) atomicAdd(sum, (unsigned long long)n.x);
}

/* The rounds of a task are those of its longest row. Eight lanes have a task, which has at most so many rows. */
__device__ __forceinline__ int task_rounds(const int *__restrict__ rounds, int lanes, const int *__restrict__ order, bool mine, const SyncILUSlice *task)
{
  const int r    = threadIdx.x & 7;
  int       most = 0;

  if (mine) {
    const SyncILUSlice d = *task;

    if (r < d.shape >> 3) most = rounds[4 * (size_t)order[d.first + r] + lanes - 2];
  }
  for (int o = 4; o; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
  return most;
}

/* sum is NULL, or the rounds of all tasks are added to it. */
__global__ void list_widths_kernel(const int *__restrict__ rounds, int lanes, const int *__restrict__ order, int tasks, SyncILUSlice *task,
                                   int *__restrict__ width, unsigned long long *sum)
{
  const long long t    = global_thread() >> 3;
  const int       most = task_rounds(rounds, lanes, order, t < tasks, task + t);

  if (t < tasks && (threadIdx.x & 7) == 0) {
    task[t].width = most;
    width[t]      = most;
    if (sum) atomicAdd(sum, (unsigned long long)most);
  }
}

/* The same for so few tasks that it does not matter that most lanes have none; offset is where their offsets are made. */
__global__ void few_list_widths_kernel(const int *__restrict__ rounds, int lanes, const int *__restrict__ order, SyncILUSlice *task,
                                       const int *__restrict__ tasks)
{
  const int all = *tasks;

  for (long long first = global_thread() - threadIdx.x % 32; first >> 3 < all; first += all_threads()) {
    const long long t    = (first + threadIdx.x % 32) >> 3;
    const int       most = task_rounds(rounds, lanes, order, t < all, task + t);

    if (t < all && (threadIdx.x & 7) == 0) task[t].width = task[t].offset = most;
  }
}

template <int LG, Lookup HOW>
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  list_kernel(SyncILUDevicePattern p, int most, int half, const int *__restrict__ order, const unsigned char *__restrict__ turn,
              const unsigned char *__restrict__ some, int tasks, const SyncILUSlice *__restrict__ task, unsigned short *__restrict__ update,
              unsigned char *__restrict__ source)
{
  constexpr int   T = Shape<LG>::LANES, ROWS = Shape<LG>::ROWS;
  const long long t = global_thread() >> 5;
  const int       r = (threadIdx.x & 31) >> LG;

  if (t >= tasks) return;
  const SyncILUSlice d      = task[t];
  const int          i      = r < d.shape >> 3 ? order[d.first + r] : 0;
  const bool         active = r < d.shape >> 3 && p.ptr[i + 1] - p.ptr[i] <= most;
  const int          begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  const int          own    = begin + (half ? nl : 0);
  int                rounds = 0;
  const ColumnTable  table  = table_of_row<LG, HOW>(most, p.col + own, end - own);

  each_update<LG, HOW == TABLED>(
    p, turn, some, begin, nl, end, table,
    [&](int s, const Common &both, int e, int u, int q) {
      const size_t round = (size_t)d.offset + rounds + q / T;

      update[round * 32 + r * T + q % T] = (unsigned short)((u - both.from) << 8 | (e - begin));
      source[round * ROWS + r]           = (unsigned char)s;
    },
    [&](int, int updates) { rounds += (updates + T - 1) / T; }, half);
}

template <typename V, int LG, bool RELAX>
cudaError_t launch_polls(const SyncILUDeviceFactor &f, const SyncILUDeviceLists &lists, cudaStream_t stream)
{
  constexpr int POLLS = LG == 5 ? SYNCILU_UPDATE_POLLS_WARP : SYNCILU_UPDATE_POLLS;

  if constexpr (!RELAX) {
    if (lists.half && lists.many) return launch_factor<V, LG, false, POLLS, true, false, true>(f, lists, stream);
    if (lists.half) return launch_factor<V, LG, false, POLLS, false, false, true>(f, lists, stream);
  }
  if (lists.longs.begin) return launch_factor<V, LG, RELAX, POLLS, true, true>(f, lists, stream);
  if (!lists.many) return launch_factor<V, LG, RELAX, POLLS, false>(f, lists, stream);
  return launch_factor<V, LG, RELAX, POLLS, true>(f, lists, stream);
}

} // namespace

cudaError_t SyncILUKernelListRounds(SyncILUDevicePattern p, int most, int lanes, int stride, int half, const int *order, int *rounds, unsigned char *some,
                                    unsigned long long *sum, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  return with_lanes(lanes, [&](auto lg) {
    return with_lookup(lanes, most, [&](auto how) {
      const unsigned grid  = blocks_for(((long long)p.n + stride - 1) / stride << lg, SYNCILU_BLOCK);
      const size_t   bytes = (SYNCILU_BLOCK >> lg) * row_bytes(how, most);

      rounds_kernel<lg, how><<<grid, SYNCILU_BLOCK, bytes, stream>>>(p, most, stride, half, order, (int4 *)rounds, some, sum);
      return cudaGetLastError();
    });
  });
}

cudaError_t SyncILUKernelListWidths(const int *rounds, int lanes, const int *order, int tasks, SyncILUSlice *task, int *width, unsigned long long *sum,
                                    cudaStream_t stream)
{
  LAUNCH(list_widths_kernel, 8ll * tasks, stream, rounds, lanes, order, tasks, task, width, sum);
}

cudaError_t SyncILUKernelListStorage(const int *rounds, int lanes, const int *order, int n, SyncILUSlice *task, int *count, cudaStream_t stream)
{
  few_list_widths_kernel<<<n ? few_blocks_for(2ll * n) : 1, SYNCILU_BLOCK, 0, stream>>>(rounds, lanes, order, task, count);
  CHECK_LAUNCH();
  return SyncILUKernelSliceOffsetsFew(task, count, stream);
}

cudaError_t SyncILUKernelLists(SyncILUDevicePattern p, int most, int lanes, int half, const int *order, const unsigned char *turn, const unsigned char *some,
                               int tasks, const SyncILUSlice *task, unsigned short *update, unsigned char *source, cudaStream_t stream)
{
  if (!tasks) return cudaSuccess;
  return with_lanes(lanes, [&](auto lg) {
    return with_lookup(lanes, most, [&](auto how) {
      const unsigned grid  = blocks_for(32ll * tasks, SYNCILU_BLOCK);
      const size_t   bytes = (SYNCILU_BLOCK >> lg) * row_bytes(how, most);

      list_kernel<lg, how><<<grid, SYNCILU_BLOCK, bytes, stream>>>(p, most, half, order, turn, some, tasks, task, update, source);
      return cudaGetLastError();
    });
  });
}

cudaError_t SyncILUKernelFactorList(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceLists lists, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  if (lists.half && (f.piv.relax != 0.0 || lists.longs.begin)) return cudaErrorNotSupported;
  return with_lanes(f.lanes, [&](auto lg) {
    return f.piv.relax != 0.0 ? launch_polls<double, lg, true>(f, lists, stream) : launch_polls<double, lg, false>(f, lists, stream);
  });
}
