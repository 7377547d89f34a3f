/*
   Inodes of successive rows: which there are, and their pattern.
*/
#include "inodes.h"
#include "launch.cuh"

using namespace syncilu;

namespace
{

/*
   Whether row i is part of an inode of so many rows: it has the columns of the first one, in groups that are
   inodes. Some lanes share the row. Of a long one they ask now and then whether other rows have said no.
*/
__device__ bool fits_inode(const SyncILUDevicePattern &p, int i, int size, int lane, int lanes, const int *sizes)
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

/* Most matrices have no inodes: then all bits are gone once the first rows are looked at. */
__global__ void sizes_kernel(SyncILUDevicePattern p, int *sizes)
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

__global__ void inodes_kernel(SyncILUDevicePattern p, int size, int *__restrict__ ptr, int *__restrict__ col, int *__restrict__ diag)
{
  const long long inode = global_thread() >> ROW_LANES_LOG;
  const int       lane = threadIdx.x & (ROW_LANES - 1), inodes = p.n / size;

  if (inode > inodes) return;
  const int from  = p.ptr[inode * size]; /* entries of rows before: size * size for each entry of an inode */
  const int begin = from / (size * size);
  if (lane == 0) ptr[inode] = begin;
  if (inode == inodes) return;
  const int entries = (p.ptr[inode * size + 1] - from) / size;
  if (lane == 0) diag[inode] = begin + (p.diag[inode * size] - from) / size;
  for (int e = lane; e < entries; e += ROW_LANES) col[begin + e] = p.col[from + e * size] / size;
}

__global__ void columns_kernel(SyncILUDeviceInodes q, SyncILUDevicePattern p, bool lower, int *__restrict__ col)
{
  const long long i    = global_thread() >> ROW_LANES_LOG;
  const int       lane = threadIdx.x & (ROW_LANES - 1), size = q.size;

  if (i >= p.n) return;
  const int begin = p.ptr[i], diag = p.diag[i], from = q.pattern.ptr[i / size];
  for (int e = (lower ? begin : diag + 1) + lane; e < (lower ? diag + 1 : p.ptr[i + 1]); e += ROW_LANES)
    col[e] = q.pattern.col[from + (e - begin) / size] * size + (e - begin) % size;
}

} // namespace

cudaError_t SyncILUKernelInodeSizes(SyncILUDevicePattern p, int *sizes, cudaStream_t stream)
{
  if (p.n) sizes_kernel<<<few_blocks_for((long long)p.n << ROW_LANES_LOG), SYNCILU_BLOCK, 0, stream>>>(p, sizes);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelInodes(SyncILUDevicePattern p, int size, int *ptr, int *col, int *diag, cudaStream_t stream)
{
  LAUNCH(inodes_kernel, (p.n / size + 1ll) << ROW_LANES_LOG, stream, p, size, ptr, col, diag);
}

cudaError_t SyncILUKernelColumnsOfInodes(SyncILUDeviceInodes q, SyncILUDevicePattern p, int lower, int *col, cudaStream_t stream)
{
  LAUNCH(columns_kernel, (long long)p.n << ROW_LANES_LOG, stream, q, p, lower != 0, col);
}
