/*
   Update strategy levelset: level after level, chains of small levels in one block (levelset.cuh). The
   reference rows of a row are applied one after the other, the entries of each by the lanes of the row
   (M. Naumov, NVIDIA technical report NVR-2012-003, algorithms 3 to 5). As in all strategies the factor is in
   Crout form (factor_rows.cuh), and an entry that two rows share is searched in the longer one.

   A level finds all of its reference rows finished: nothing is polled, and nobody looks at sentinels.
*/
#include "factor_levelset.h"
#include "factor_rows.cuh"
#include "levelset.cuh"

using namespace syncilu;

namespace
{

/* What of a row is known before the earlier levels are finished. */
struct LevelRow {
  int  row, begin, lower, length; /* its number, first entry, entries of L and of L and U with the diagonal */
  int  upper;                     /* where its U' begins */
  bool slice;                     /* whether there is one for the warp */
  bool active;                    /* whether that has a row for the lane */
};

template <typename V, int LG, bool RELAX>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) factor_levelset_kernel(SyncILUDeviceFactor f, SyncILUDeviceLevels levels, SyncILUDeviceSearch search)
{
  constexpr int     T = Shape<LG>::LANES, ROWS = Shape<LG>::ROWS, WARPS = SYNCILU_BLOCK_FACTOR / 32;
  extern __shared__ __align__(16) unsigned char shared[];
  const int                                     lane = threadIdx.x & 31, sub = lane & (T - 1), r = lane >> LG;
  V *const shared_row = (V *)shared + (size_t)((threadIdx.x >> 5) * ROWS + r) * (f.shared | 1), *const val = (V *)f.val;
  const int *__restrict__ const ptr = f.pattern.ptr, *__restrict__ const col = f.pattern.col, *__restrict__ const diag = f.pattern.diag;

  const Ticket t = take_ticket(f.ticket) / WARPS; /* of the block */
  if (t >= (Ticket)levels.tasks) return;

  auto load = [&](int k) {
    LevelRow l = {0, 0, 0, 0, 0, false, false};

    if (k < 0) return l;
    const SyncILUSlice d = levels.slice[k];

    l.slice  = true;
    l.active = r < d.shape >> 3;
    if (!l.active) return l;
    l.row    = levels.order[d.first + r];
    l.begin  = ptr[l.row];
    l.lower  = diag[l.row] - l.begin;
    l.length = ptr[l.row + 1] - l.begin;
    l.upper  = f.upper ? f.upper[l.row] : diag[l.row] + 1;
    return l;
  };
  auto work = [&](const LevelRow &l) {
    if (!l.slice) return;
    const int begin = l.begin, nl = l.lower, len = l.length;
    V *const  w       = len > f.shared ? (V *)search.scratch + search.begin[l.row] : shared_row;
    Sum<V>    dropped = {V(0), V(0)}; /* by relaxation */

    __syncwarp(); /* the row before, which the same memory had, is written */
    for (int e = sub; e < len; e += T) w[e] = value<V>(f.values, begin + e) + (e == nl ? V(diagonal_shift(f.piv)) : V(0));
    __syncwarp(); /* all entries are there */
    each_update<LG, false>(
      f.pattern, nullptr, nullptr, begin, nl, begin + len, ColumnTable(),
      [&](int s, const Common &both, int e, int u, int) {
        const V multiplier = w[s], v = val[f.upper ? f.upper[col[begin + s]] + (u - both.from) : u];

        w[e - begin] -= multiplier * v;
        if (RELAX) add_product(dropped, multiplier, -v);
      },
      [](int, int) {
        __syncwarp(); /* the next reference row updates the same entries, and one of them is its multiplier */
      });

    V d = l.active ? w[nl] : V(1);
    if (RELAX) { /* what is dropped is all that the reference rows hold less what has just been used */
      for (int k = sub; k < nl; k += T) {
        const V *sum = (const V *)f.sum + 2 * (size_t)col[begin + k];

        if (w[k] != V(0)) {
          add_product(dropped, w[k], sum[0]);
          dropped.low += w[k] * sum[1];
        }
      }
      __syncwarp();
      dropped = sum_lanes<LG>(dropped);
      d -= V(f.piv.relax) * (dropped.high + dropped.low);
    }
    if (l.active && sub == 0) d = judge(f.piv, l.row, d, f.status);
    d                = __shfl_sync(FULL, d, lane & ~(T - 1));
    const V inverse  = V(1) / d;
    Sum<V>  sum      = {V(0), V(0)};
    V       size     = 0;
    bool    overflow = false; /* as in factor_kernel() */
    for (int e = nl + 1 + sub; e < len; e += T) {
      const V v = clean(w[e] * inverse);

      store_relaxed(val + l.upper + (e - nl - 1), v);
      overflow |= !isfinite(v) && isfinite(w[e]);
      if (RELAX) add(sum, v);
      size += fabs(w[e]);
    }
    if (overflow) report(&f.status->row, l.row);
    __syncwarp();
    if (f.size) {
      size = sum_lanes<LG>(size);
      if (l.active && sub == 0) ((V *)f.size)[l.row] = size;
    }
    if (RELAX) {
      sum = sum_lanes<LG>(sum);
      if (l.active && sub == 0) {
        store_relaxed((V *)f.sum + 2 * (size_t)l.row, sum.high);
        store_relaxed((V *)f.sum + 2 * (size_t)l.row + 1, sum.low);
      }
    }
    if (l.active && sub == 0) store_relaxed((V *)f.pivot + l.row, clean(d));
    for (int e = sub; e < nl; e += T) *(f.wrows.val ? row_entry<V>(f.wrows, l.row, nl, e) : val + begin + e) = w[e];
  };

  work_by_levels<WARPS>(levels, (int)t, levels.done, load, work);
}

template <typename V, int LG, bool RELAX>
cudaError_t launch_levelset(const SyncILUDeviceFactor &f, const SyncILUDeviceLevels &levels, const SyncILUDeviceSearch &search, cudaStream_t stream)
{
  constexpr int ROWS   = SYNCILU_BLOCK_FACTOR / 32 * Shape<LG>::ROWS;
  const size_t  shared = ROWS * (size_t)(f.shared | 1) * sizeof(V);

  factor_levelset_kernel<V, LG, RELAX><<<levels.tasks, SYNCILU_BLOCK_FACTOR, shared, stream>>>(f, levels, search);
  return cudaGetLastError();
}

} // namespace

cudaError_t SyncILUKernelFactorLevelset(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceLevels levels, SyncILUDeviceSearch search,
                                        cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!levels.tasks) return cudaSuccess;
  return with_lanes(f.lanes, [&](auto lg) {
    return f.piv.relax != 0.0 ? launch_levelset<double, lg, true>(f, levels, search, stream) : launch_levelset<double, lg, false>(f, levels, search, stream);
  });
}
