/*
   Update strategy parilu: E. Chow, A. Patel, SIAM J. Sci. Comput. 37, 2015; H. Anzt et al., IPDPS 2019, algorithm 1,
   in the Crout form of its equations (2) to (4), A = (W + D)(I + U'):

     s_ij = a_ij - sum w_ik u'_kj over k < min(i,j),   w_ij = s_ij for i > j,   d_i = s_ii,   u'_ij = s_ij / d_i.

   The pivots that divide are those of the same sweep and row, so that a row needs of others no more than their U'
   of the sweep before. With l_ik = w_ik / d_k these are the iterates of the serial reference (src/sweeps.c).

   Progress: no row waits for another one.

   Other than in the document, where each entry is a thread's, which goes through row i of L and column j of U, here
   a row is a few lanes': they go through the rows of U' that its entries of W name, and look for their columns
   among its own, as the exact factorizations do. So no columns of U are kept, a row of U' is read once for all
   entries, and lanes have equally much to do. The terms of an entry come in the order of k, which a __syncwarp()
   keeps between two rows of U'.
*/
#include "factor_parilu.h"
#include "factor_rows.cuh"

using namespace syncilu;

namespace
{

/* Numbers of all rows of a block in shared memory, before the tables of their columns. */
__host__ __device__ __forceinline__ size_t row_numbers(int lg, int shared)
{
  return (size_t)(SYNCILU_BLOCK >> lg) * (size_t)(shared | 1); /* odd, against bank conflicts */
}

/* A row at work, as its lanes see it. */
template <typename V>
struct SweepRow {
  int i, begin, nl, len; /* len 0: the lanes have none */
  V  *w;                 /* its numbers */
};

template <typename V>
__device__ __forceinline__ V load(const SyncILUDeviceSweep &s, size_t at)
{
  const V *const from = (const V *)s.from;

  return s.asynchronous ? load_relaxed(from + at) : from[at];
}

/*
   The s_ij of a row in its w. In an asynchronous sweep the w_ik are those of this sweep: the row's own, which have
   had all their terms.
*/
template <typename V, int LG, bool TABLE>
__device__ __forceinline__ SweepRow<V> sweep_row(const SyncILUDeviceSweep &s, long long i)
{
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr int                                 T   = Shape<LG>::LANES;
  const SyncILUDevicePattern                   &p   = s.pattern;
  const int                                     sub = threadIdx.x & (T - 1), own = threadIdx.x >> LG;
  const bool                                    active = i < p.n;
  SweepRow<V>                                   row;
  ColumnTable                                   table;

  row.i     = active ? (int)i : 0;
  row.begin = active ? p.ptr[i] : 0;
  row.nl    = active ? p.diag[i] - row.begin : 0;
  row.len   = active ? p.ptr[i + 1] - row.begin : 0;
  row.w     = row.len <= s.shared ? (V *)shared + (size_t)own * (s.shared | 1) : (V *)s.work + row.begin;
  for (int e = sub; e < row.len; e += T) row.w[e] = value<V>(s.values, row.begin + e) + (e == row.nl ? V(diagonal_shift(s.piv)) : V(0));
  if (TABLE) {
    const int bits = SyncILUTableBits(s.shared);

    table = ColumnTable(shared + row_numbers(LG, s.shared) * sizeof(V) + own * SyncILUTableBytes(bits), bits);
    table.fill(p.col + row.begin, row.len, sub, T);
  }
  __syncwarp(); /* the numbers are there for the other lanes */
  if (s.from) {
    each_update<LG, TABLE>(
      p, nullptr, nullptr, row.begin, row.nl, row.begin + row.len, table,
      [&](int source, const Common &, int e, int u, int) {
        const V x = load<V>(s, u);

        /* a row without a usable pivot has zeros, which update nothing, whatever they meet */
        if (x != V(0)) row.w[e - row.begin] -= (s.asynchronous ? row.w[source] : load<V>(s, row.begin + source)) * x;
      },
      [](int, int) {
        __syncwarp(); /* the terms of one row of U' come before those of the next */
      });
  }
  return row;
}

template <typename V, int LG, bool TABLE>
__global__ void __launch_bounds__(SYNCILU_BLOCK) sweep_kernel(SyncILUDeviceSweep s)
{
  constexpr int     T      = Shape<LG>::LANES;
  const int         sub    = threadIdx.x & (T - 1);
  const SweepRow<V> row    = sweep_row<V, LG, TABLE>(s, global_thread() >> LG);
  V *const          to     = (V *)s.to + row.begin;
  const V           d      = row.len ? shifted_pivot(s.piv, row.w[row.nl]) : V(1);
  const bool        usable = s.last || (d != V(0) && isfinite(d));
  V                 rs     = V(0);
  bool              good   = true;

  if (row.len && sub == 0) {
    if (s.last) judge(s.piv, row.i, row.w[row.nl], s.status);
    if (s.pivot) ((V *)s.pivot)[row.i] = d;
  }
  for (int e = sub; e < row.len; e += T) {
    const V x = row.w[e], u = !usable ? V(0) : x / d;

    if (e == row.nl) continue; /* the diagonal is nobody's on the pattern */
    if (e > row.nl) rs += fabs(x);
    good = good && isfinite(x) && (e < row.nl || isfinite(u));
    if (s.asynchronous) store_relaxed(to + e, e < row.nl ? x : u);
    else to[e] = e < row.nl ? x : u;
  }
  if (!s.last) return;
  if (!good) report(&s.status->row, row.i);
  rs = sum_lanes<LG>(rs);
  if (s.size && row.len && sub == 0) ((V *)s.size)[row.i] = rs;
}

/* Blocks take parts of the rows in turns, so that there are few sums, and the same ones every time. */
template <typename V, int LG>
__global__ void __launch_bounds__(SYNCILU_BLOCK) residual_kernel(SyncILUDeviceSweep s, V *__restrict__ sum)
{
  __shared__ V  of_warp[SYNCILU_BLOCK / 32][2];
  constexpr int T        = Shape<LG>::LANES;
  const int     sub      = threadIdx.x & (T - 1);
  V             total[2] = {V(0), V(0)};

  for (long long first = (long long)blockIdx.x * (SYNCILU_BLOCK >> LG); first < s.pattern.n; first += all_threads() >> LG) {
    const SweepRow<V> row = sweep_row<V, LG, false>(s, first + (threadIdx.x >> LG));
    const V           d   = row.len ? ((const V *)s.pivot)[row.i] : V(0);

    for (int e = sub; e < row.len; e += T) {
      const V a = value<V>(s.values, row.begin + e), factor = e == row.nl ? d : load<V>(s, row.begin + e) * (e > row.nl ? d : V(1));
      const V r = row.w[e] - factor;

      total[0] += r * r;
      total[1] += a * a;
    }
    __syncwarp(); /* the next row may have the same room */
  }
  for (int k = 0; k < 2; k++) {
    total[k] = sum_lanes<5>(total[k]);
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5][k] = total[k];
  }
  __syncthreads(); /* the sums of all warps are there */
  if (threadIdx.x >= 2) return;
  for (int w = 1; w < SYNCILU_BLOCK / 32; w++) of_warp[0][threadIdx.x] += of_warp[w][threadIdx.x];
  sum[2 * blockIdx.x + threadIdx.x] = of_warp[0][threadIdx.x];
}

/* Blocks for the residual: for some rows each, and no more than so many. */
unsigned residual_blocks(int n)
{
  return few_blocks_for((long long)n * ROW_LANES);
}

} // namespace

cudaError_t SyncILUKernelSweep(SyncILUValueType type, SyncILUDeviceSweep s, cudaStream_t stream)
{
  const size_t table = s.table ? SyncILUTableBytes(SyncILUTableBits(s.shared)) : 0;

  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!s.pattern.n) return cudaSuccess;
  return with_lanes(s.lanes, [&](auto lg) {
    const unsigned blocks = blocks_for((long long)s.pattern.n << lg, SYNCILU_BLOCK);
    const size_t   bytes  = row_numbers(lg, s.shared) * sizeof(double) + (SYNCILU_BLOCK >> lg) * table;

    if constexpr (lg >= SYNCILU_TABLE_LANES) {
      if (s.table) {
        sweep_kernel<double, lg, true><<<blocks, SYNCILU_BLOCK, bytes, stream>>>(s);
        return cudaGetLastError();
      }
    }
    sweep_kernel<double, lg, false><<<blocks, SYNCILU_BLOCK, bytes, stream>>>(s);
    return cudaGetLastError();
  });
}

int SyncILUResidualNumbers(int n)
{
  return 2 * (int)residual_blocks(n);
}

cudaError_t SyncILUKernelResidual(SyncILUValueType type, SyncILUDeviceSweep s, double *sum, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!s.pattern.n) return cudaSuccess;
  return with_lanes(s.lanes, [&](auto lg) {
    residual_kernel<double, lg><<<residual_blocks(s.pattern.n), SYNCILU_BLOCK, row_numbers(lg, s.shared) * sizeof(double), stream>>>(s, sum);
    return cudaGetLastError();
  });
}
