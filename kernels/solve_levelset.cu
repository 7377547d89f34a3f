/*
   Solve strategy levelset: level after level, chains of small levels in one block (levelset.cuh).
*/
#include "solve_levelset.h"
#include "levelset.cuh"
#include "triangular.cuh"

using namespace syncilu;

namespace
{

/* Loads that a lane has under way at the same time. */
constexpr int POLLS = SYNCILU_POLLS;

/*
   What a lane knows of its row before the earlier levels are finished: its first entry, and the right-hand
   side.
*/
template <typename V, int R>
struct LevelRow {
  int    row, lanes; /* lanes 0: there is no slice for the warp */
  int    e, end, column;
  bool   writes; /* the first lane of a row */
  size_t to;
  V      entry, scale, sum[R];
};

template <typename V, int R>
__global__ void __launch_bounds__(SYNCILU_BLOCK_LEVELSET)
  levelset_kernel(SyncILUDeviceTriangle m, const V *__restrict__ val, SyncILUDeviceLevels levels, SyncILUDeviceSolve s)
{
  constexpr int WARPS = SYNCILU_BLOCK_LEVELSET / 32;
  const int     lane = threadIdx.x & 31, groups = (s.nrhs + R - 1) / R;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket) / WARPS; /* of the block */
  if (t >= (Ticket)levels.tasks * groups) return;
  int       group;
  const int task = split_ticket<R>(t, groups, &group);
  const V  *x    = (V *)s.x + (size_t)group * m.n * R;

  auto load = [&](int k) {
    LevelRow<V, R> l;

    l.lanes = 0;
    if (k < 0) return l;
    const SyncILUSlice d      = levels.slice[k];
    const int          lg     = d.shape & 7;
    const bool         active = lane >> lg < d.shape >> 3;

    l.lanes  = 1 << lg;
    l.row    = active ? levels.order[d.first + (lane >> lg)] : 0;
    l.writes = active && !(lane & (l.lanes - 1));
    l.e      = active ? m.begin[l.row] + m.skip + (lane & (l.lanes - 1)) : 0;
    l.end    = active ? m.end[l.row] : 0;
    l.to     = 0;
    l.column = 0;
    l.entry  = V(0);
    l.scale  = V(1);
    if (l.e < l.end) {
      l.column = m.col[l.e];
      l.entry  = val[m.src ? m.src[l.e] : l.e];
    }
#pragma unroll
    for (int r = 0; r < R; r++) l.sum[r] = V(0);
    if (l.writes) {
      l.to = out_place(s, l.row);
      if (s.scale) l.scale = ((const V *)s.scale)[l.row];
      read_rhs<V, R>(s, m.n, group, l.row, rhs_place(s, l.row), l.sum);
    }
    return l;
  };
  auto work = [&](LevelRow<V, R> &l) {
    if (!l.lanes) return;
    if (l.e < l.end) {
#pragma unroll
      for (int r = 0; r < R; r++) l.sum[r] -= l.entry * x[(size_t)l.column * R + r];
    }
#pragma unroll POLLS
    for (int e = l.e + l.lanes; e < l.end; e += l.lanes) {
      const V *from = x + (size_t)m.col[e] * R, v = val[m.src ? m.src[e] : e];

#pragma unroll
      for (int r = 0; r < R; r++) l.sum[r] -= v * from[r];
    }
    __syncwarp();
#pragma unroll
    for (int r = 0; r < R; r++) {
      for (int o = l.lanes >> 1; o; o >>= 1) l.sum[r] += __shfl_xor_sync(FULL, l.sum[r], o);
      l.sum[r] *= l.scale;
    }
    if (l.writes) write_solution<V, R>(s, m.n, group, l.row, l.to, l.sum);
  };

  work_by_levels<WARPS>(levels, task, levels.done + (size_t)group * SYNCILU_COUNTER_INTS, load, work);
}

} // namespace

cudaError_t SyncILUKernelSolveLevelset(SyncILUValueType type, SyncILUDeviceTriangle t, const void *val, SyncILUDeviceLevels levels, SyncILUDeviceSolve s,
                                       cudaStream_t stream)
{
  constexpr int  R      = SYNCILU_RHS_BLOCK;
  const unsigned blocks = (unsigned)levels.tasks * (s.nrhs == 1 ? 1 : (s.nrhs + R - 1) / R);

  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!t.n || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1) levelset_kernel<double, 1><<<blocks, SYNCILU_BLOCK_LEVELSET, 0, stream>>>(t, (const double *)val, levels, s);
  else levelset_kernel<double, R><<<blocks, SYNCILU_BLOCK_LEVELSET, 0, stream>>>(t, (const double *)val, levels, s);
  return cudaGetLastError();
}
