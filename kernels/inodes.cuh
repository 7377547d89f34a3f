/*
   Whether rows come in inodes, as a look through the pattern finds it.
*/
#ifndef SYNCILU_INODES_CUH
#define SYNCILU_INODES_CUH

#include "inodes.h"
#include "launch.cuh"

namespace syncilu
{

/*
   Whether row i is part of an inode of so many rows: it has the columns of the first one, in groups that are
   inodes. Some lanes share the row. Of a long one they ask now and then whether other rows have said no.
*/
__device__ inline bool fits_inode(const SyncILUDevicePattern &p, int i, int size, int lane, int lanes, const int *sizes)
{
  const int first = i - i % size, begin = p.ptr[i], len = p.ptr[i + 1] - begin, other = p.ptr[first];
  bool      fits = len % size == 0 && p.ptr[first + 1] - other == len;

  for (int e = lane; fits && e < len; e += lanes) {
    const int c = p.col[begin + e];

    if (e >= SYNCILU_ROW_LONG && e % SYNCILU_ROW_LONG < lanes && !(load_relaxed(sizes) >> size & 1)) break;
    fits = c % size == e % size && c == p.col[other + e] && c - e % size == p.col[other + e - e % size];
  }
  return fits;
}

/*
   Clears the bit of each size that inodes do not have, of those from 2 on that divide the number of rows. Most matrices
   have no inodes: then all bits are gone once the first rows are looked at.
*/
__device__ inline void find_inode_sizes(const SyncILUDevicePattern &p, int *sizes)
{
  const int lane = threadIdx.x & (ROW_LANES - 1);

  for (long long i = global_thread() >> ROW_LANES_LOG; i < p.n; i += all_threads() >> ROW_LANES_LOG) {
    const int open = load_stale(sizes);
    int       gone = 0;

    if (!open) return;
    for (int b = 2; b <= SYNCILU_INODE_MOST; b++) {
      if (open >> b & 1 && !fits_inode(p, (int)i, b, lane, ROW_LANES, sizes)) gone |= 1 << b;
    }
    if (gone) atomicAnd(sizes, ~gone);
  }
}

} // namespace syncilu

#endif
