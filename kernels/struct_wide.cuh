/*
   What factor_struct_wide.cu and factor_bsr_wide.cu share: a warp has a step of a tile, copies what it needs
   of other rows ahead, and waits for steps of the tiles that these are in.
*/
#ifndef SYNCILU_STRUCT_WIDE_CUH
#define SYNCILU_STRUCT_WIDE_CUH

#include "async.cuh"
#include "factor_struct_wide.h"
#include "struct.cuh"

namespace syncilu
{

struct StepTask {
  int tile, step;
};
static_assert(sizeof(StepTask) == SYNCILU_STRUCT_TASK, "what the plan has room for");

/* This thread's copies but the last so many groups have come: at most SYNCILU_STRUCT_AHEAD - 1. */
__device__ __forceinline__ void wait_copies_but(int groups)
{
  if (groups == 0) wait_copies<0>();
  else if (groups == 1) wait_copies<1>();
  else if (groups == 2) wait_copies<2>();
  else wait_copies<3>();
}
static_assert(SYNCILU_STRUCT_AHEAD == 4, "wait_copies_but() has a branch for each");

/* The number of a tile beside another one; -1 where there is none. */
__device__ __forceinline__ int tile_beside(const SyncILULines &g, Tile tile, SyncILUStructTile beside)
{
  const int across = (tile.w >> g.edge[1]) + beside.w;

  if (across < 0) return -1;
  const int along = (tile.v >> g.edge[0]) + beside.v - SyncILULinesBegin(&g, across);
  return along >= 0 && along < g.row ? across * g.row + along : -1;
}

/*
   Waits until each lane's tile, of which seen steps are known to be done, has done as many as the lane needs.
   Then those steps are whole for all lanes. Returns the steps that are done.
*/
__device__ __forceinline__ int wait_steps(const int *done, int needs, int seen)
{
  do {
    if (done) seen = load_acquire(done);
  } while (!__all_sync(FULL, seen >= needs));
  __syncwarp();
  return seen;
}

} // namespace syncilu

#endif
