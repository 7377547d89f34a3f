/*
   Kernels that go through all rows, with ROW_LANES lanes a row, and end in counters that all threads share.
*/
#ifndef SYNCILU_COUNTING_CUH
#define SYNCILU_COUNTING_CUH

#include "launch.cuh"
#include "tuning.h"
#include <cub/cub.cuh>

namespace syncilu
{

/*
   Adds the two sums of each thread to two counters, one atomic operation a block and counter. All threads of a
   block of SYNCILU_BLOCK must call it, once.
*/
__device__ __forceinline__ void add_pair(const unsigned long long (&sum)[2], unsigned long long *counters)
{
  typedef cub::BlockReduce<unsigned long long, SYNCILU_BLOCK> Sum;
  __shared__ typename Sum::TempStorage                        storage;

  for (int k = 0; k < 2; k++) {
    const unsigned long long total = Sum(storage).Sum(sum[k]);

    if (threadIdx.x == 0) atomicAdd(counters + k, total);
    __syncthreads(); /* storage is used again */
  }
}

/* Whether a row is for all lanes of the warp, where that is not too few either. */
__device__ __forceinline__ bool is_wide(int begin, int end)
{
  return end - begin > SYNCILU_ROW_WIDE && end - begin <= SYNCILU_ROW_LONG;
}

/*
   Calls what(lane, row, begin, end) for each such row of the warp, with the first of its lanes. All lanes call it
   together, each with its own row.
*/
template <typename What>
__device__ __forceinline__ void each_wide_row(int row, int begin, int end, What what)
{
  for (unsigned left = __ballot_sync(FULL, threadIdx.x % ROW_LANES == 0 && is_wide(begin, end)); left; left &= left - 1) {
    const int lane = __ffs((int)left) - 1;

    what(lane, __shfl_sync(FULL, row, lane), __shfl_sync(FULL, begin, lane), __shfl_sync(FULL, end, lane));
  }
}

} // namespace syncilu

#endif
