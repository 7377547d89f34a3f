/*
   Inodes of successive rows: which there are, and their pattern.
*/
#include "inodes.h"
#include "launch.cuh"

using namespace syncilu;

namespace
{

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

cudaError_t SyncILUKernelInodes(SyncILUDevicePattern p, int size, int *ptr, int *col, int *diag, cudaStream_t stream)
{
  LAUNCH(inodes_kernel, (p.n / size + 1ll) << ROW_LANES_LOG, stream, p, size, ptr, col, diag);
}

cudaError_t SyncILUKernelColumnsOfInodes(SyncILUDeviceInodes q, SyncILUDevicePattern p, int lower, int *col, cudaStream_t stream)
{
  LAUNCH(columns_kernel, (long long)p.n << ROW_LANES_LOG, stream, q, p, lower != 0, col);
}
