/*
   See on_device.h. A thread a row, or a number.
*/
#include "on_device.h"

namespace
{

enum {
  BLOCK = 256
};

unsigned blocks_for(size_t threads)
{
  return (unsigned)((threads + BLOCK - 1) / BLOCK);
}

__device__ size_t thread()
{
  return (size_t)blockIdx.x * BLOCK + threadIdx.x;
}

__global__ void lengths_kernel(StencilGrid g, int n, int *length)
{
  const size_t row = thread();

  if (row < n) length[row] = StencilLength(&g, (int)row);
}

__global__ void fill_kernel(StencilGrid g, int n, const int *begin, int *column, double *value)
{
  const size_t row = thread();

  if (row < n) StencilFill(&g, (int)row, column + begin[row], value + begin[row]);
}

__global__ void random_kernel(int n, double *x)
{
  const size_t i = thread();

  if (i < n) x[i] = StencilRandom((int)i, -1);
}

__global__ void scale_kernel(size_t n, double factor, double *x)
{
  const size_t i = thread();

  if (i < n) x[i] *= factor;
}

/* The bits of numbers without sign are in the order of the numbers, behind which come those of NaNs. */
__global__ void compare_kernel(int n, const double *x, const double *y, unsigned long long *largest)
{
  const size_t       i    = thread();
  unsigned long long d[2] = {0, 0};

  if (i < n) {
    d[0] = (unsigned long long)__double_as_longlong(fabs(x[i] - y[i]));
    d[1] = (unsigned long long)__double_as_longlong(fabs(y[i]));
  }
  for (int k = 0; k < 2; k++) {
    for (int lanes = 16; lanes; lanes /= 2) d[k] = max(d[k], __shfl_xor_sync(0xffffffffu, d[k], lanes));
    if (threadIdx.x % 32 == 0 && d[k] > largest[k]) atomicMax(&largest[k], d[k]);
  }
}

} // namespace

#define LAUNCH(kernel, threads, ...) \
  do { \
    if ((threads) > 0) kernel<<<blocks_for(threads), BLOCK>>>(__VA_ARGS__); \
    return cudaGetLastError(); \
  } while (0)

cudaError_t OnDeviceLengths(const StencilGrid *g, int *length)
{
  const int n = (int)StencilRows(g);

  LAUNCH(lengths_kernel, (size_t)n, *g, n, length);
}

cudaError_t OnDeviceFill(const StencilGrid *g, const int *begin, int *column, double *value)
{
  const int n = (int)StencilRows(g);

  LAUNCH(fill_kernel, (size_t)n, *g, n, begin, column, value);
}

cudaError_t OnDeviceRandom(int n, double *x)
{
  LAUNCH(random_kernel, (size_t)n, n, x);
}

cudaError_t OnDeviceScale(size_t n, double factor, double *x)
{
  LAUNCH(scale_kernel, n, n, factor, x);
}

cudaError_t OnDeviceCompare(int n, const double *x, const double *y, double largest[2])
{
  LAUNCH(compare_kernel, (size_t)n, n, x, y, (unsigned long long *)largest);
}
