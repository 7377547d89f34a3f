/*
   Solve strategy ell: the rows in slices, in the order in which they are solved for.
*/
#include "solve_ell.h"
#include "ell.cuh"

using namespace syncilu;

cudaError_t SyncILUKernelSolveEll(SyncILUValueType type, SyncILUDeviceEll ell, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  SyncILUDevicePivoting none = {0, 0.0, 0.0, 0.0, 0, 0.0};

  if (!ell.n || !s.nrhs) return cudaSuccess;
  if (s.nrhs == 1) return launch_ell<double, 1, PLAIN>(ell, s, none, nullptr, nullptr, stream);
  return launch_ell<double, SYNCILU_RHS_BLOCK, PLAIN>(ell, s, none, nullptr, nullptr, stream);
}
