/*
   What Eisenstat's trick needs beside the triangular solves.
*/
#include "eisenstat.h"
#include "entries.cuh"

using namespace syncilu;

namespace
{

template <typename V>
__global__ void eisenstat_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ pivot, const int *__restrict__ row, V *__restrict__ d,
                                 V *__restrict__ e, V *__restrict__ inverse)
{
  const long long i = global_thread();

  if (i >= p.n) return;
  const int at = row ? row[i] : (int)i;
  const V   q  = pivot[i];

  inverse[at] = V(1) / q;
  if (!d) return;
  d[at] = q;
  e[at] = value<V>(a, p.diag[i]) - V(2) * q;
}

template <typename V>
__global__ void times_upper_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ pivot, const int *__restrict__ row,
                                   const int *__restrict__ out, const V *__restrict__ x, V *__restrict__ v)
{
  const long long i = global_thread() / ROW_LANES;
  V               s = 0;

  if (i < p.n) {
    for (int e = p.diag[i] + 1 + (int)(threadIdx.x % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) s += value<V>(a, e) * x[row ? row[p.col[e]] : p.col[e]];
  }
  s = sum_of_row(s, ROW_LANES);
  if (i >= p.n || threadIdx.x % ROW_LANES) return;
  v[out ? out[i] : i] = x[row ? row[i] : i] + s / pivot[i];
}

template <typename V>
__global__ void times_pivots_kernel(int n, const V *__restrict__ pivot, bool divide, const int *__restrict__ in, const int *__restrict__ out, const V *b, V *x)
{
  const long long i = global_thread();

  if (i >= n) return;
  const V from = b[in ? in[i] : i];

  x[out ? out[i] : i] = divide ? from / pivot[i] : from * pivot[i];
}

template <typename V>
__global__ void before_kernel(int n, const V *__restrict__ d, const V *__restrict__ e, const V *__restrict__ v, const V *__restrict__ w, V *__restrict__ b)
{
  const long long i = global_thread();

  if (i < n) b[i] = d[i] * v[i] + e[i] * w[i];
}

template <typename V>
__global__ void after_kernel(int n, const V *__restrict__ d, const V *w, const V *__restrict__ x, V *y)
{
  const long long i = global_thread();

  if (i < n) y[i] = d[i] * (w[i] + x[i]);
}

} // namespace

cudaError_t SyncILUKernelEisenstat(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, const void *pivot, const int *row, void *d, void *e,
                                   void *inverse, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(eisenstat_kernel<double>, (long long)p.n, stream, p, a, (const double *)pivot, row, (double *)d, (double *)e, (double *)inverse);
}

cudaError_t SyncILUKernelTimesUpper(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, const void *pivot, const int *row, const int *out,
                                    const void *x, void *v, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(times_upper_kernel<double>, (long long)p.n * ROW_LANES, stream, p, a, (const double *)pivot, row, out, (const double *)x, (double *)v);
}

cudaError_t SyncILUKernelTimesPivots(SyncILUValueType type, int n, const void *pivot, int divide, const int *in, const int *out, const void *b, void *x,
                                     cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(times_pivots_kernel<double>, (long long)n, stream, n, (const double *)pivot, divide != 0, in, out, (const double *)b, (double *)x);
}

cudaError_t SyncILUKernelEisenstatBefore(SyncILUValueType type, int n, const void *d, const void *e, const void *v, const void *w, void *b, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(before_kernel<double>, (long long)n, stream, n, (const double *)d, (const double *)e, (const double *)v, (const double *)w, (double *)b);
}

cudaError_t SyncILUKernelEisenstatAfter(SyncILUValueType type, int n, const void *d, const void *w, const void *x, void *y, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(after_kernel<double>, (long long)n, stream, n, (const double *)d, (const double *)w, (const double *)x, (double *)y);
}
