/*
   What all factorizations need: the status, pivots judged beside their rows, reciprocals.
*/
#include "factor.h"
#include "entries.cuh"
#include "launch.cuh"
#include "pivot.cuh"
#include "tuning.h"

using namespace syncilu;

namespace
{

__global__ void upper_lengths_kernel(SyncILUDevicePattern p, int more, int *__restrict__ length)
{
  const long long i = global_thread();

  if (i < p.n) length[i] = more + p.ptr[i + 1] - p.diag[i] - 1;
}

__global__ void long_lengths_kernel(int n, const int *__restrict__ ptr, int shared, int *__restrict__ length)
{
  const long long i = global_thread();

  if (i < n) length[i] = ptr[i + 1] - ptr[i] > shared ? ptr[i + 1] - ptr[i] : 0;
}

/* The entries of W of each row sorted by the positions of their reference rows, by one warp. */
__global__ void turns_kernel(SyncILUDevicePattern p, const int *__restrict__ position, unsigned char *__restrict__ turn)
{
  const long long i    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (i >= p.n) return;
  const int begin = p.ptr[i], nl = p.diag[i] - begin;
  if (nl > SYNCILU_TURNS) return;
  for (int base = 0; base < nl; base += 32) {
    const int e = base + lane, own = e < nl ? position[p.col[begin + e]] : INT_MAX;
    int       rank = 0;

    for (int from = 0; from < nl; from += 32) {
      const int other = from == base ? own : from + lane < nl ? position[p.col[begin + from + lane]] : INT_MAX;

      for (int k = 0; k < min(32, nl - from); k++) rank += __shfl_sync(FULL, other, k) < own;
    }
    if (e < nl) turn[begin + rank] = (unsigned char)e;
  }
}

/* 1 / pivot in the order of the positions. */
template <typename V>
__global__ void reciprocals_kernel(int n, const V *__restrict__ pivot, const int *__restrict__ order, V *__restrict__ out)
{
  const long long p = global_thread();

  if (p < n) out[p] = V(1) / pivot[order ? order[p] : p];
}

/*
   Sum of the absolute values of row i of L and U beside the diagonal, or of U alone, by one warp, from the
   Crout form. size has the sum of U's; where it is NULL only diagonals have updates, and W and D U' are the
   entries of the matrix.
*/
template <typename V>
__device__ V row_sum(const SyncILUDevicePattern &p, const SyncILUDeviceValues &a, const V *val, const SyncILUSlicedRows &w, const V *size, const V *pivot,
                     bool right, int i)
{
  const int begin = p.ptr[i], diag = p.diag[i];
  V         s = 0;

  for (int e = (right ? diag : begin) + (threadIdx.x & 31); e < (size ? diag : p.ptr[i + 1]); e += 32) {
    V x = !size ? value<V>(a, e) : val ? val[e] : *row_entry<V>(w, i, diag - begin, e - begin);

    if (e < diag) x /= pivot[p.col[e]];
    else if (e == diag) x = 0;
    s += fabs(x);
  }
  return sum_lanes<5>(s) + (size ? size[i] : V(0));
}

template <typename V>
__global__ void judge_rows_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ val, SyncILUSlicedRows w, const V *__restrict__ size,
                                  const V *__restrict__ pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status)
{
  const long long i = global_thread() >> 5;

  if (i >= p.n) return;
  const V    rs = row_sum(p, a, val, w, size, pivot, piv.right, (int)i), d = pivot[i];
  const bool bad = (piv.type == SYNCILU_PIVOT_SIGN ? d : fabs(d)) <= piv.zeropivot * rs || !isfinite(d) || !isfinite(rs);
  if (bad && (threadIdx.x & 31) == 0) report(&status->row, (int)i);
}

/* One warp looks at the first rejected pivot, and whether a larger shift may help. */
template <typename V>
__global__ void status_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ val, SyncILUSlicedRows w, const V *__restrict__ size,
                              const V *__restrict__ pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status)
{
  const int row = status->row;

  if (row == INT_MAX) return;
  const bool   relative = SyncILUPivotsRelative(piv.type);
  const double rs       = relative ? (double)row_sum(p, a, val, w, size, pivot, piv.right, row) : 0.0;
  if (threadIdx.x == 0) {
    status->pivot     = fabs(pivot[row]);
    status->shiftable = relative && isfinite(pivot[row]) && isfinite(rs);
  }
}

template <typename V>
__global__ void begin_kernel(SyncILUDeviceStatus *status, Ticket *ticket, size_t na, V *__restrict__ a, size_t nb, V *__restrict__ b)
{
  const size_t first = (size_t)global_thread(), step = (size_t)all_threads();

  if (first == 0) {
    status->row       = INT_MAX;
    status->shifted   = 0;
    status->shiftable = 0;
    status->range     = 0;
    status->pivot     = 0.0;
    *ticket           = 0;
  }
  for (size_t k = first; k < na; k += step) poison(a[k]);
  for (size_t k = first; k < nb; k += step) poison(b[k]);
}

template <typename V>
__global__ void excess_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, int upper, unsigned long long *excess)
{
  const long long i    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (i >= p.n) return;
  V s = 0;
  for (int e = p.ptr[i] + lane; e < p.ptr[i + 1]; e += 32) {
    const int row = p.col[e], at = upper && row < i ? search(p.col, p.diag[row] + 1, p.ptr[row + 1], (int)i) : e;
    const V   x = at < 0 ? V(0) : value<V>(a, at);

    s += e == p.diag[i] ? -x : fabs(x);
  }
  s = sum_lanes<5>(s);
  /*
     positive doubles are ordered as their bits are; anything else does not count, as in the host's comparison
  */
  if (lane == 0 && s > V(0)) atomicMax(excess, (unsigned long long)__double_as_longlong((double)s));
}

} // namespace

cudaError_t SyncILUKernelFactorBegin(SyncILUValueType type, SyncILUDeviceStatus *status, unsigned long long *ticket, size_t na, void *a, size_t nb, void *b,
                                     cudaStream_t stream)
{
  const size_t most = na > nb ? na : nb;

  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  begin_kernel<double>
    <<<blocks_for(most ? (long long)((most + 3) / 4) : 1, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(status, ticket, na, (double *)a, nb, (double *)b);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelStatus(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, const void *val, SyncILUSlicedRows w, const void *size,
                                const void *pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!p.n) return cudaSuccess;
  if (SyncILUPivotsRelative(piv.type))
    judge_rows_kernel<double><<<blocks_for(32ll * p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (const double *)val, w, (const double *)size,
                                                                                                   (const double *)pivot, piv, status);
  status_kernel<double><<<1, 32, 0, stream>>>(p, a, (const double *)val, w, (const double *)size, (const double *)pivot, piv, status);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelExcess(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, int upper, unsigned long long *excess,
                                cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(excess_kernel<double>, 32ll * p.n, stream, p, a, upper, excess);
}

cudaError_t SyncILUKernelUpperLengths(SyncILUDevicePattern p, int more, int *length, cudaStream_t stream)
{
  LAUNCH(upper_lengths_kernel, (long long)p.n, stream, p, more, length);
}

cudaError_t SyncILUKernelLongLengths(int n, const int *ptr, int shared, int *length, cudaStream_t stream)
{
  LAUNCH(long_lengths_kernel, (long long)n, stream, n, ptr, shared, length);
}

cudaError_t SyncILUKernelTurns(SyncILUDevicePattern p, const int *position, unsigned char *turn, cudaStream_t stream)
{
  LAUNCH(turns_kernel, 32ll * p.n, stream, p, position, turn);
}

cudaError_t SyncILUKernelReciprocals(SyncILUValueType type, int n, const void *pivot, const int *order, void *out, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(reciprocals_kernel<double>, (long long)n, stream, n, (const double *)pivot, order, (double *)out);
}
