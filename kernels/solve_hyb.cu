/*
   Solve strategy hyb: mr with the entries of a warp side by side, in the order of the solve (M. Freire,
   master's thesis, Universidad de la Republica, 2025, chapter 4: HYB_syncfree). The rows of a slice lie apart
   in CSR, while here a warp reads 32 columns and 32 values in a piece each, which a ticket leads to without
   the pointers of the rows.

   Other than in the thesis, padding has a column of its own instead of zeros: a product with zero would bring
   in another row's infinity, and a wait for row 0 would not end in U, which solves for it last.
*/
#include "solve_hyb.h"
#include "entries.cuh"
#include "mr.cuh"

using namespace syncilu;

namespace
{

/* The entries that lanes 1 to 31 have of a row that goes on in CSR. */
constexpr int FIRST = 31;

/* What a lane of a slice has: entry e of those that end at end; padding behind them, the row's place before. */
struct HybEntry {
  int begin, e, end;

  __device__ __forceinline__ HybEntry(const SyncILUDeviceTriangle &t, const EllLane &l)
  {
    begin = l.full ? t.begin[l.row] + t.skip : 0;
    end   = l.full ? t.end[l.row] : 0;
    e     = begin + l.first - (l.width > 1);
  }
};

__global__ void columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, int *__restrict__ col)
{
  if (global_thread() >= 32ll * ell.slices) return;
  const HybEntry h(t, ell_lane(ell));
  col[global_thread()] = h.e < h.begin ? h.begin : h.e < h.end ? t.col[h.e] : -1;
}

template <typename V>
__global__ void values_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const V *__restrict__ crout)
{
  static_assert(sizeof(V) >= 8, "a value must hold any index");

  if (global_thread() >= 32ll * ell.slices) return;
  const HybEntry h(t, ell_lane(ell));
  ((V *)ell.val)[global_thread()] = h.e < h.begin ? V(h.end) : h.e < h.end ? crout[t.src ? t.src[h.e] : h.e] : V(0);
}

template <typename V, int R>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE)
  hyb_kernel(SyncILUDeviceTriangle m, SyncILUDeviceEll ell, const V *__restrict__ crout, SyncILUDeviceSolve s)
{
  const int    lane = threadIdx.x & 31;
  MrLane<V, R> l;

  if (!l.take(ell.slices, s)) return;
  const size_t at = (size_t)l.number * 32 + lane;
  const int    c  = ell.col[at];
  const V      v  = ((const V *)ell.val)[at];
  l.begin(m.n, ell.order, ell.slice, s);
  const bool goes_on = l.slice.width > 1;
  l.throttle(ell.order, s);
  subtract_entry<V, R>(c >= 0 && !(goes_on && lane == 0), c, v, l.x, l.sum);
  if (goes_on) {
    const int begin = __shfl_sync(FULL, c, 0), end = (int)__shfl_sync(FULL, v, 0);

    subtract_entries<V, R>(m, crout, l.x, begin + FIRST + lane, end, 32, l.sum);
  }
  l.finish(m.n, s);
}

} // namespace

cudaError_t SyncILUKernelHybColumns(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, int *col, cudaStream_t stream)
{
  LAUNCH(columns_kernel, 32ll * ell.slices, stream, t, ell, col);
}

cudaError_t SyncILUKernelHybValues(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const void *crout, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(values_kernel<double>, 32ll * ell.slices, stream, t, ell, (const double *)crout);
}

cudaError_t SyncILUKernelSolveHyb(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const void *crout, SyncILUDeviceSolve s,
                                  cudaStream_t stream)
{
  constexpr int  R    = SYNCILU_RHS_BLOCK;
  const unsigned grid = blocks_of((Ticket)ell.slices * (s.nrhs == 1 ? 1 : (s.nrhs + R - 1) / R));

  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!t.n || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1) hyb_kernel<double, 1><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(t, ell, (const double *)crout, s);
  else hyb_kernel<double, R><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(t, ell, (const double *)crout, s);
  return cudaGetLastError();
}
