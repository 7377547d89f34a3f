/*
   Scans of so few items that one block takes all of them. A launch takes a host longer than such a scan takes
   the device, and in the analysis of a small matrix the launches are what counts.
*/
#ifndef SYNCILU_ONE_BLOCK_CUH
#define SYNCILU_ONE_BLOCK_CUH

#include "launch.cuh"

namespace syncilu
{

constexpr int ONE_BLOCK = 1024;

/* The items of this warp, whole warps of them but for the last ones. */
__device__ __forceinline__ int first_of_warp(int n)
{
  return (int)threadIdx.x / 32 * ((n + ONE_BLOCK - 1) / ONE_BLOCK) * 32;
}

__device__ __forceinline__ int end_of_warp(int n)
{
  return min(first_of_warp(n) + (n + ONE_BLOCK - 1) / ONE_BLOCK * 32, n);
}

/*
   Calls what(q, read(q + lane)) for the items of this warp, 32 of them at a time; of items beyond the last
   one what is read is zero. Several are read ahead, since it is the wait for them that takes time.
*/
template <typename Read, typename What>
__device__ __forceinline__ void each_of_warp(int first, int end, Read read, What what)
{
  constexpr int AHEAD = 8;
  const int     lane  = threadIdx.x & 31;

  for (int q = first; q < end; q += 32 * AHEAD) {
    int own[AHEAD];

#pragma unroll
    for (int k = 0; k < AHEAD; k++) own[k] = q + 32 * k + lane < end ? read(q + 32 * k + lane) : 0;
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      if (q + 32 * k < end) what(q + 32 * k, own[k]);
    }
  }
}

/*
   What the warps before this one come to together, each of which gives its own: op of all of it, `none` for
   the first warp. All threads of the block call it, with the same value in all lanes of a warp.
*/
template <typename Op>
__device__ __forceinline__ int of_warps_before(int own, int none, Op op)
{
  __shared__ int each[32];
  const int      warp = (int)threadIdx.x / 32, lane = threadIdx.x & 31;

  if (lane == 0) each[warp] = own;
  __syncthreads();
  int all = lane < warp ? each[lane] : none;
  for (int o = 16; o; o >>= 1) all = op(all, __shfl_xor_sync(FULL, all, o));
  __syncthreads(); /* each is written again at the next call */
  return all;
}

/*
   Calls write(p, sum of the values before p) for all p below n, where read(p) gives the values; what is
   written may take the place of what was read. Of the last warp it returns the sum of all.
*/
template <typename Read, typename Write>
__device__ __forceinline__ int offsets_in_block(int n, Read read, Write write)
{
  const int lane = threadIdx.x & 31, first = first_of_warp(n), end = end_of_warp(n);
  int       sum = 0;

  each_of_warp(first, end, read, [&](int, int own) { sum += own; });
  sum        = __reduce_add_sync(FULL, sum);
  int before = of_warps_before(sum, 0, [](int a, int b) { return a + b; });
  sum += before;
  each_of_warp(first, end, read, [&](int q, int own) {
    int inclusive = own;

    for (int o = 1; o < 32; o <<= 1) {
      const int other = __shfl_up_sync(FULL, inclusive, o);

      if (lane >= o) inclusive += other;
    }
    if (q + lane < end) write(q + lane, before + inclusive - own);
    before += __shfl_sync(FULL, inclusive, 31);
  });
  return sum;
}

} // namespace syncilu

#endif
