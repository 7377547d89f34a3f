/*
   Counters that all threads of a kernel share.
*/
#ifndef SYNCILU_COUNTING_CUH
#define SYNCILU_COUNTING_CUH

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

} // namespace syncilu

#endif
