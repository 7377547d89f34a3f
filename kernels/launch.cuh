/*
   Launching: sizes of grids, the usual launchers, and how threads share the rows.
*/
#ifndef SYNCILU_LAUNCH_CUH
#define SYNCILU_LAUNCH_CUH

#include "types.h"
#include "syncfree.cuh"
#include "tuning.h"

/* What most launchers do. */
#define LAUNCH(kernel, threads, stream, ...) \
  do { \
    if ((threads) > 0) kernel<<<blocks_for(threads, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(__VA_ARGS__); \
    return cudaGetLastError(); \
  } while (0)

/*
   Between two launches: the second must not run on what the first was to leave, where the driver had no
   memory to load it.
*/
#define CHECK_LAUNCH() \
  do { \
    const cudaError_t launch_error_ = cudaGetLastError(); \
    if (launch_error_ != cudaSuccess) return launch_error_; \
  } while (0)

namespace syncilu
{

/* Lanes that look through a row where nothing says how many suit it. */
constexpr int ROW_LANES_LOG = 3, ROW_LANES = 1 << ROW_LANES_LOG;

/* An attribute of the present device. */
inline cudaError_t device_attribute(cudaDeviceAttr attribute, int *value)
{
  int               device;
  const cudaError_t err = cudaGetDevice(&device);

  return err == cudaSuccess ? cudaDeviceGetAttribute(value, attribute, device) : err;
}

/* Parts of a workspace begin at multiples of this. */
inline size_t round_up(size_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

inline unsigned blocks_for(long long threads, int block)
{
  return (unsigned)((threads + block - 1) / block);
}

/* So few blocks that they do not hold each other up at counters or flags which all of them use. */
inline unsigned few_blocks_for(long long threads)
{
  const unsigned blocks = blocks_for(threads, SYNCILU_BLOCK);

  return blocks < SYNCILU_BLOCKS_COUNTING ? blocks : SYNCILU_BLOCKS_COUNTING;
}

__device__ __forceinline__ long long global_thread()
{
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ long long all_threads()
{
  return (long long)gridDim.x * blockDim.x;
}

/*
   Whether somebody has raised a flag, for loops that ask each time they go round. Every fourth time memory
   itself is asked, since what the cache has may be as old as the kernel.
*/
__device__ __forceinline__ bool raised(const int *flag, int time)
{
  return time % 4 == 3 ? load_relaxed(flag) : load_stale(flag);
}

/*
   Calls body(row) for each row with more than so many entries of L, with all threads of a block: a few lanes
   would take too long for it.
*/
template <typename Body>
__device__ __forceinline__ void each_long_row(const SyncILUDevicePattern &p, int most, Body body)
{
  for (long long first = (long long)blockIdx.x * blockDim.x; first < p.n; first += all_threads()) {
    const long long i = first + threadIdx.x;

    if (!__syncthreads_or(i < p.n && p.diag[i] - p.ptr[i] > most)) continue;
    for (int r = 0; r < (int)blockDim.x && first + r < p.n; r++) {
      const int k = (int)first + r;

      if (p.diag[k] - p.ptr[k] > most) body(k);
    }
  }
}

/* The first of count ascending keys that is not less than key; count if all are. */
template <typename Key>
__device__ __forceinline__ int first_not_less(const Key *__restrict__ keys, int count, Key key)
{
  int lo = 0, hi = count;

  while (lo < hi) {
    const int mid = lo + (hi - lo) / 2;

    if (keys[mid] < key) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* Rows of a warp in one task: T lanes each. */
template <int LG>
struct Shape {
  static constexpr int LANES = 1 << LG, ROWS = 32 >> LG;
};

template <int LG, typename V>
__device__ __forceinline__ V sum_lanes(V v)
{
#pragma unroll
  for (int o = Shape<LG>::LANES / 2; o; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  return v;
}

} // namespace syncilu

#endif
