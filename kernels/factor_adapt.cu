/*
   Update strategy adapt: the lanes of a row, as many as suit the mean row, take an entry each and search the
   other row for its column (Freire, Dufrechou, Ezzatti, PDP 2025, section IV-C). The entries are those of the
   shorter one of the two rows. Not in the document: a warp that has a row of few enough entries, and searches
   ahead, looks up those of the reference row in a table of its own columns.
*/
#include "factor_adapt.h"
#include "factor_rows.cuh"

using namespace syncilu;

namespace
{

template <typename V, int LG, bool RELAX>
cudaError_t launch_polls(const SyncILUDeviceFactor &f, const SyncILUDeviceSearch &search, cudaStream_t stream)
{
  if constexpr (LG == 5) {
    if (search.table && search.prefetch) return launch_factor<V, LG, RELAX, SYNCILU_TABLE_POLLS, true>(f, Tabled{search}, stream);
  }
  return search.prefetch ? launch_factor<V, LG, RELAX, SYNCILU_SEARCH_POLLS, true>(f, search, stream)
                         : launch_factor<V, LG, RELAX, 1, false>(f, search, stream);
}

} // namespace

cudaError_t SyncILUKernelFactorAdapt(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceSearch search, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return with_lanes(f.lanes, [&](auto lg) {
    return f.piv.relax != 0.0 ? launch_polls<double, lg, true>(f, search, stream) : launch_polls<double, lg, false>(f, search, stream);
  });
}
