/*
   Update strategy shared: a warp has a row, and compares 32 columns of it with 32 of the reference row at a
   time (Freire, Dufrechou, Ezzatti, PDP 2025, section IV-A and algorithm 3).
*/
#include "factor_shared.h"
#include "factor_rows.cuh"

using namespace syncilu;

cudaError_t SyncILUKernelFactorShared(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceSearch search, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return f.piv.relax != 0.0 ? launch_factor<double, 5, true, 1, false>(f, Compare{search}, stream)
                            : launch_factor<double, 5, false, 1, false>(f, Compare{search}, stream);
}
