/*
   Update strategy vect: each lane takes an entry of the current row and searches the reference row for its
   column (Freire, Dufrechou, Ezzatti, PDP 2025, algorithm 4). Where the reference row is the shorter one, the
   search goes the other way round.
*/
#include "factor_vect.h"
#include "factor_rows.cuh"

using namespace syncilu;

namespace
{

__global__ void long_lengths_kernel(int n, const int *__restrict__ ptr, int shared, int *__restrict__ length)
{
  const long long i = global_thread();

  if (i < n) length[i] = ptr[i + 1] - ptr[i] > shared ? ptr[i + 1] - ptr[i] : 0;
}

template <typename V, int LG, bool RELAX>
cudaError_t launch_polls(const SyncILUDeviceFactor &f, const SyncILUDeviceSearch &search, cudaStream_t stream)
{
  return search.prefetch ? launch_factor<V, LG, RELAX, SYNCILU_SEARCH_POLLS, true>(f, search, stream)
                         : launch_factor<V, LG, RELAX, 1, false>(f, search, stream);
}

} // namespace

cudaError_t SyncILUKernelLongLengths(int n, const int *ptr, int shared, int *length, cudaStream_t stream)
{
  LAUNCH(long_lengths_kernel, (long long)n, stream, n, ptr, shared, length);
}

cudaError_t SyncILUKernelFactorVect(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceSearch search, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return with_lanes(f.lanes, [&](auto lg) {
    return f.piv.relax != 0.0 ? launch_polls<double, lg, true>(f, search, stream) : launch_polls<double, lg, false>(f, search, stream);
  });
}
