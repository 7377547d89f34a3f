/*
   Jacobi sweeps with a triangle: each is a product with its entries, and rows of a sweep wait for nobody but
   those of their diagonal block. A warp has a block of successive rows, a lane a row.

   Columns inside of a block are not stored: the number of the previous iterate comes from the lane that has
   loaded it as its own, or with diagonal blocks the new one from the lane that has it first.
*/
#include "solve_jacobi.h"
#include "blocks.cuh"

using namespace syncilu;

namespace
{

/* What the entries outside of the diagonal block are multiplied with. */
enum {
  NOTHING, /* they are left out: D^-1 b */
  BEGIN,   /* D^-1 b, D the diagonal, which nobody has stored */
  ITERATE  /* the iterate before */
};

/* What stands in a row of the iterate before. */
template <typename V, int R, int OLD>
struct Old {
  const SyncILUDeviceSolve &s;
  const Numbers<V, R> *__restrict__ x; /* of the group of right-hand sides */
  int n, group;

  __device__ __forceinline__ void get(int i, V *y) const
  {
    if (OLD == ITERATE) {
      const Numbers<V, R> own = x[i];

#pragma unroll
      for (int q = 0; q < R; q++) y[q] = own.r[q];
    } else {
      load_rhs<V, R>(s, n, group, rhs_place(s, i), y);
#pragma unroll
      for (int q = 0; q < R; q++)
        if (s.scale) y[q] *= ((const V *)s.scale)[i];
    }
  }
};

/*
   Of a block in which one row has many more outer entries than all others, those come first, side by side: all
   lanes share them. Returns how many that are.
*/
template <typename V, int R, int OLD>
__device__ __forceinline__ int subtract_lone(const SyncILUDeviceBlocks &m, const SyncILUBlock &d, const SyncILUBlockRow &r, const Old<V, R, OLD> &old, V *sum)
{
  const int      lane    = threadIdx.x & 31;
  const bool     longest = r.outer == width_of(d);
  const unsigned lanes   = __ballot_sync(FULL, longest);
  const int      count   = width_of(d) - __reduce_max_sync(FULL, longest ? 0 : r.outer);
  V              part[R];

  if (__popc(lanes) > 1 || count < SYNCILU_JACOBI_LONE) return 0;
#pragma unroll
  for (int q = 0; q < R; q++) part[q] = V(0);
#pragma unroll 4
  for (int e = lane; e < count; e += 32) {
    const V v = ((const V *)m.outer)[d.outer + e];
    V       y[R];

    old.get(m.col[d.outer + e], y);
#pragma unroll
    for (int q = 0; q < R; q++) part[q] += v * y[q];
  }
#pragma unroll
  for (int q = 0; q < R; q++) {
    part[q] = sum_lanes<5>(part[q]);
    if (longest) sum[q] -= part[q];
  }
  return count;
}

/* The outer entries, some of each row at a time. */
template <typename V, int R, int OLD>
__device__ __forceinline__ void subtract_outer(const SyncILUDeviceBlocks &m, const SyncILUBlock &d, const SyncILUBlockRow &r, const Old<V, R, OLD> &old, V *sum)
{
  constexpr int AT_ONCE = SYNCILU_JACOBI_AT_ONCE;
  const int     lone    = width_of(d) < SYNCILU_JACOBI_LONE ? 0 : subtract_lone<V, R, OLD>(m, d, r, old, sum);
  Places        outers(d.outer + lone, threadIdx.x & 31);

  for (int w = width_of(d) - lone - 1; w >= 0; w -= AT_ONCE) {
    int c[AT_ONCE];
    V   v[AT_ONCE], y[AT_ONCE][R];

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const bool     there = w >= k && w - k < r.outer;
      const unsigned place = outers.take(there);

      c[k] = there ? m.col[place] : -1;
      v[k] = there ? ((const V *)m.outer)[place] : V(0);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
#pragma unroll
      for (int q = 0; q < R; q++) y[k][q] = V(0);
      if (c[k] >= 0) old.get(c[k], y[k]);
    }
#pragma unroll
    for (int q = 0; q < R; q++) sum[q] = subtract_entries(sum[q], c, v, y, q);
  }
}

/* The inner entries, where D is the diagonal: own is what the iterate before has in the row of this lane. */
template <typename V, int R>
__device__ __forceinline__ void subtract_inner(const SyncILUDeviceBlocks &m, const SyncILUBlock &d, const SyncILUBlockRow &r, const V *own, V *sum)
{
  constexpr int AT_ONCE = SYNCILU_JACOBI_AT_ONCE;
  const V      *at      = (const V *)m.inner + inner_begin(d, r);

  for (unsigned left = r.inner; __any_sync(FULL, left != 0); at += AT_ONCE) {
    V   v[AT_ONCE];
    int from[AT_ONCE];

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++, left &= left - 1) {
      from[k] = left ? __ffs((int)left) - 1 : -1;
      v[k]    = left ? at[k] : V(0);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
#pragma unroll
      for (int q = 0; q < R; q++) sum[q] = subtract_product_if(from[k] >= 0, sum[q], v[k], __shfl_sync(FULL, own[q], from[k] & 31));
    }
  }
}

/* A sweep: from the iterate old to x, unless that is NULL, and to the solution, if the solve says where it goes. */
template <typename V, int R, bool BLOCKS, int OLD>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE) sweep_kernel(SyncILUDeviceBlocks m, SyncILUDeviceSolve s, const V *__restrict__ old_x, V *__restrict__ x)
{
  __shared__ V    kept[BLOCKS ? SYNCILU_BLOCK_SOLVE / 32 : 1][BLOCKS ? INNER : 1];
  const int       lane = threadIdx.x & 31, groups = (s.nrhs + R - 1) / R;
  const long long warp = global_thread() / 32;

  if (warp >= (long long)m.blocks * groups) return;
  /* warps of a block are neighbours, so that they read its entries at about the same time */
  const int             b = (int)(warp / groups), group = (int)(warp % groups);
  const SyncILUBlock    d        = m.block[b];
  const SyncILUBlockRow r        = m.row[(size_t)b * MOST + lane];
  const bool            mine     = lane < rows_of(d);
  const int             i        = row_of(d, m.down, lane);
  const Old<V, R, OLD>  old      = {s, (const Numbers<V, R> *)old_x + (size_t)group * m.n, m.n, group};
  V *const              in_block = kept[BLOCKS ? threadIdx.x / 32 : 0];
  V                     sum[R], own[R], scale = 1;

#pragma unroll
  for (int q = 0; q < R; q++) sum[q] = own[q] = V(0);
  if (mine) {
    if (s.scale) scale = ((const V *)s.scale)[i];
    load_rhs<V, R>(s, m.n, group, rhs_place(s, i), sum);
    if (!BLOCKS && OLD != NOTHING) old.get(i, own);
  }
  if (BLOCKS) keep_inner(m, d, r, scale, in_block);
  if (OLD != NOTHING) subtract_outer<V, R, OLD>(m, d, r, old, sum);
  if (!BLOCKS && OLD != NOTHING) subtract_inner<V, R>(m, d, r, own, sum);
#pragma unroll
  for (int q = 0; q < R; q++) sum[q] *= scale;
  if (BLOCKS) finish_rows<V, R>(r, in_block, sum);
  if (!mine) return;
  if (x) {
    Numbers<V, R> numbers;

#pragma unroll
    for (int q = 0; q < R; q++) numbers.r[q] = sum[q];
    ((Numbers<V, R> *)x)[(size_t)group * m.n + i] = numbers;
  }
  if (s.out) {
    const size_t to = out_place(s, i);

#pragma unroll
    for (int q = 0; q < R; q++)
      if (group * R + q < s.nrhs) ((V *)s.out)[to + (size_t)(group * R + q) * s.ldout] = sum[q];
  }
}

/* The iterates take turns in the two halves of x, so that the last one comes to stand in the first. */
template <typename V, int R>
cudaError_t launch(const SyncILUDeviceBlocks &m, int sweeps, bool blocks, const SyncILUDeviceSolve &solve, cudaStream_t stream)
{
  const int      groups = (solve.nrhs + R - 1) / R, launches = blocks || !sweeps ? sweeps + 1 : sweeps;
  const unsigned grid = blocks_of((Ticket)m.blocks * groups);

  for (int k = 0; k < launches; k++) {
    const int          left    = launches - 1 - k;
    SyncILUDeviceSolve s       = solve;
    V *const           half[2] = {(V *)s.x, (V *)s.x + (size_t)groups * m.n * R}, *old = half[(left + 1) % 2], *x = half[left % 2];

    if (left) s.out = nullptr;
    else if (s.out) x = nullptr;
    if (blocks && k) sweep_kernel<V, R, true, ITERATE><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, s, old, x);
    else if (blocks) sweep_kernel<V, R, true, NOTHING><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, s, old, x);
    else if (k) sweep_kernel<V, R, false, ITERATE><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, s, old, x);
    else if (sweeps) sweep_kernel<V, R, false, BEGIN><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, s, old, x);
    else sweep_kernel<V, R, false, NOTHING><<<grid, SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, s, old, x);
    CHECK_LAUNCH();
  }
  return cudaSuccess;
}

} // namespace

cudaError_t SyncILUKernelSolveJacobi(SyncILUValueType type, SyncILUDeviceBlocks m, int sweeps, int blocks, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!m.blocks || !s.nrhs) return cudaSuccess;
  if (s.nrhs > 1) return launch<double, SYNCILU_RHS_BLOCK>(m, sweeps, blocks != 0, s, stream);
  return launch<double, 1>(m, sweeps, blocks != 0, s, stream);
}
