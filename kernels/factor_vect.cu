/*
   Update strategy vect: a warp has a row, each lane takes an entry of the current or the reference row, of the
   shorter one, and searches the other for its column; short rows are compared as in strategy shared (Freire,
   Dufrechou, Ezzatti, PDP 2025, section IV-B and algorithm 4).
*/
#include "factor_vect.h"
#include "factor_rows.cuh"

using namespace syncilu;

namespace
{

template <typename V, bool RELAX>
cudaError_t launch_polls(const SyncILUDeviceFactor &f, const CompareShort &search, cudaStream_t stream)
{
  return search.prefetch ? launch_factor<V, 5, RELAX, SYNCILU_SEARCH_POLLS, true>(f, search, stream) : launch_factor<V, 5, RELAX, 1, false>(f, search, stream);
}

} // namespace

cudaError_t SyncILUKernelFactorVect(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceSearch search, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return f.piv.relax != 0.0 ? launch_polls<double, true>(f, {search}, stream) : launch_polls<double, false>(f, {search}, stream);
}
