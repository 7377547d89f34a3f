/*
   Solve strategy jacobi: Jacobi sweeps in the place of a triangular solve.
*/
#ifndef SYNCILU_SOLVE_JACOBI_H
#define SYNCILU_SOLVE_JACOBI_H

#include "solve_blocks.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   So many sweeps, on a triangle T = D + N whose blocks have SYNCILU_BLOCKS_MOST rows: x_0 = D^-1 b, then
   x_(k+1) = D^-1 (b - N x_k). D is the diagonal blocks, else (blocks 0) the diagonal.

   Nobody waits: there are no tickets and no sentinels. x of the solve has room for two numbers a position and
   right-hand side, and receives the last iterate in its first half, unless the solution goes elsewhere.
*/
extern cudaError_t SyncILUKernelSolveJacobi(SyncILUValueType, SyncILUDeviceBlocks, int sweeps, int blocks, SyncILUDeviceSolve, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
