/*
   The factorization where only diagonals have updates, as with 5- and 7-point stencils and tridiagonal
   matrices: W and D U' are the entries of the matrix, and the recurrence d_i = a_ii - sum_k a_ik a_ki / d_k
   of the pivots is a triangular solve.
*/
#include "factor_diagonal.h"
#include "ell.cuh"
#include "entries.cuh"
#include "launch.cuh"
#include "pivot.cuh"
#include "struct.cuh"
#include "tuning.h"
#include <float.h>

using namespace syncilu;

namespace
{

/* For each entry (i,k) of L in sliced ELL, where (k,i) stands on the pattern; -1 if it does not. */
__global__ void transposed_entries_kernel(SyncILUDevicePattern p, SyncILUDeviceEll ell, int *__restrict__ at)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? p.diag[l.row] : 0;
  int           e   = l.full ? p.ptr[l.row] + l.first : 0;

  for (int w = 0; w < l.width; w++, e += l.step) {
    const int k = e < end ? p.col[e] : 0;

    at[l.entry(w)] = e < end ? search(p.col, p.diag[k] + 1, p.ptr[k + 1], l.row) : -1;
  }
}

/* The sum of each row right of the diagonal. */
template <typename V>
__global__ void upper_sums_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, V *__restrict__ sum)
{
  const long long t   = global_thread();
  const int       sub = (int)(t % ROW_LANES), i = (int)(t / ROW_LANES), end = t / ROW_LANES < p.n ? p.ptr[i + 1] : 0;
  V               s = 0;

  for (int e = end ? p.diag[i] + 1 + sub : 0; e < end; e += ROW_LANES) s += value<V>(a, e);
  s = sum_lanes<ROW_LANES_LOG>(s);
  if (end && sub == 0) sum[i] = s;
}

/*
   A coefficient of the recurrence: the product of a_ik and what the pivot of row k is multiplied with, which
   the status is told of as below.
*/
template <typename V>
__device__ __forceinline__ V coefficient(V multiplier, V c, V least, SyncILUDeviceStatus *status)
{
  if (multiplier == V(0) || c == V(0)) return V(0); /* a zero updates nothing, whatever it meets: as in PETSc */
  const V product = c * multiplier;

  if (isinf(product) ? !isinf(c) && !isinf(multiplier) : fabs(product) < least) store_relaxed(&status->range, 1);
  return product;
}

/*
   Coefficients of the recurrence for the pivots: a_ik (a_ki + relax (s_k - a_ki)), s_k the sum of row k right
   of the diagonal. The status says whether one of them is infinite though its factors are not, or smaller
   than least and has lost digits.
*/
template <typename V>
__global__ void coefficients_kernel(SyncILUDevicePattern p, SyncILUDeviceEll ell, const int *__restrict__ transposed_entry, SyncILUDeviceValues a, double relax,
                                    const V *__restrict__ sum, V least, SyncILUDeviceStatus *status)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? p.diag[l.row] : 0;
  int           e   = l.full ? p.ptr[l.row] + l.first : 0;

  for (int w = 0; w < l.width; w++, e += l.step) {
    const size_t at = l.entry(w);
    V            c  = 0;

    if (e < end) {
      const int q          = transposed_entry[at];
      const V   multiplier = value<V>(a, e);

      c = q < 0 ? V(0) : value<V>(a, q);
      if (relax != 0.0) c += V(relax) * (sum[p.col[e]] - c);
      c = coefficient(multiplier, c, least, status);
    }
    ((V *)ell.val)[at] = c;
  }
}

/* The same in the place of L's values on a grid, with the diagonal in that of the reciprocal pivots. upper has the stencil of U. */
template <typename V>
__global__ void struct_coefficients_kernel(SyncILUDeviceStruct m, SyncILUDeviceStruct upper, SyncILUDevicePattern p, SyncILUDeviceValues a, double relax,
                                           const V *__restrict__ sum, V least, SyncILUDeviceStatus *status)
{
  const StructLane l = struct_lane(m);

  if (l.row < 0) return;
  const unsigned mask = points_of(m, l.row, l.at);
  V *const       to   = (V *)m.val + l.entry;
  for (int e = 0; e < m.entries; e++) {
    const int k = m.at[e];

    if (k < 0 || !(mask >> k & 1)) continue;
    const int      there[3] = {l.at[0] + m.point[k][0], l.at[1] + m.point[k][1], l.at[2] + m.point[k][2]};
    const int      row = l.row + point_distance(m, k), back = point_opposite(upper, m.point[k]);
    const unsigned its = points_of(upper, row, there);
    V              c   = back < 0 || !(its >> back & 1) ? V(0) : value<V>(a, p.diag[row] + 1 + __popc(its & ((1u << back) - 1)));

    if (relax != 0.0) c += V(relax) * (sum[row] - c);
    to[e * 32] = coefficient(value<V>(a, p.ptr[l.row] + __popc(mask & ((1u << k) - 1))), c, least, status);
  }
  to[m.entries * 32] = value<V>(a, p.diag[l.row]);
}

/* The pivot of row i without the sum s of its updates; of D-ILU bounded, as SyncILUBoundPivot() in src/reference.h has it. */
template <typename V>
__device__ __forceinline__ V pivot_of(const SyncILUDevicePivoting &piv, int i, V diagonal, V s, SyncILUDeviceStatus *status)
{
  const V with = diagonal + V(diagonal_shift(piv)), d = with - s;

  return judge(piv, i, piv.least > 0.0 && with != V(0) && d / with < V(piv.least) ? V(piv.least) * with : d, status);
}

/*
   The same pivots where products of two entries have no room among the numbers: a_ik times the quotient of
   a_ki and the pivot, as other factorizations by rows have it. A warp takes a row, in the order of the
   triangular solve, whatever its slices.

   Progress: tickets follow that order, in which a row comes after those it waits for.
*/
template <typename V>
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  wide_pivots_kernel(SyncILUDevicePattern p, const int *__restrict__ order, SyncILUDeviceValues a, const V *__restrict__ sum, SyncILUDevicePivoting piv,
                     V *pivot, V *__restrict__ inverse, Ticket *ticket, SyncILUDeviceStatus *status)
{
  const Ticket t    = take_ticket(ticket);
  const int    lane = threadIdx.x & 31;

  if (t >= (Ticket)p.n) return;
  const int i = order ? order[t] : (int)t, begin = p.ptr[i], diag = p.diag[i];
  V         s = 0;

  for (int e = begin + lane; __any_sync(FULL, e < diag); e += 32) {
    const int k          = e < diag ? p.col[e] : 0;
    const V   multiplier = e < diag ? value<V>(a, e) : V(0);
    V         d          = V(1);

    if (multiplier != V(0)) {
      const int q = search(p.col, p.diag[k] + 1, p.ptr[k + 1], i);
      V         u = q < 0 ? V(0) : value<V>(a, q);

      if (piv.relax != 0.0) u += V(piv.relax) * (sum[k] - u);
      d = load_relaxed(pivot + k);
      while (!is_set(d)) d = load_relaxed(pivot + k);
      s += multiplier * (u / d);
    }
  }
  s = sum_lanes<5>(s);
  if (lane == 0) {
    const V d = pivot_of(piv, i, value<V>(a, diag), s, status);

    store_relaxed(pivot + i, clean(d));
    if (inverse) inverse[t] = V(1) / d;
  }
}

/*
   The same with few lanes a row, in numerical order, for rows of few entries. A row may wait for another one of
   its warp: in a turn each lane looks whether its next value is there, and rows that have all are finished.

   Progress: as above; a row of the warp that waits for none of the others comes first, and no lane waits for long.
*/
template <typename V>
__global__ void __launch_bounds__(SYNCILU_BLOCK) short_pivots_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ sum,
                                                                     SyncILUDevicePivoting piv, V *pivot, Ticket *ticket, SyncILUDeviceStatus *status)
{
  constexpr int   LANES = 1 << SYNCILU_DILU_LANES;
  const long long i     = (long long)take_ticket(ticket) * (32 / LANES) + (threadIdx.x & 31) / LANES;
  const bool      mine  = i < p.n;
  const int       own = mine ? (int)i : 0, sub = threadIdx.x % LANES, diag = mine ? p.diag[own] : 0, shift = threadIdx.x & 31 & ~(LANES - 1);
  int             e = mine ? p.ptr[own] + sub : 0, k = 0;
  V               s = 0, multiplier = 0, u = 0;
  bool            done = !mine;

  /* entries of zero update nothing, and wait for nobody */
  auto next = [&]() {
    for (; e < diag; e += LANES) {
      multiplier = value<V>(a, e);
      if (multiplier == V(0)) continue;
      k           = p.col[e];
      const int q = search(p.col, p.diag[k] + 1, p.ptr[k + 1], own);
      u           = q < 0 ? V(0) : value<V>(a, q);
      if (piv.relax != 0.0) u += V(piv.relax) * (sum[k] - u);
      return;
    }
  };
  next();
  while (__any_sync(FULL, !done)) {
    if (e < diag) {
      const V d = load_relaxed(pivot + k);

      if (is_set(d)) {
        s += multiplier * (u / d);
        e += LANES;
        next();
      }
    }
    const unsigned wait  = __ballot_sync(FULL, e < diag);
    const bool     ready = !done && !(wait >> shift & ((1u << LANES) - 1));
    const V        all   = sum_lanes<SYNCILU_DILU_LANES>(s);
    if (!ready) continue;
    if (sub == 0) store_relaxed(pivot + own, clean(pivot_of(piv, own, value<V>(a, diag), all, status)));
    done = true;
  }
}

/* Position of the diagonal of each position's row among the values of the matrix. */
__global__ void diagonal_index_kernel(int n, const int *__restrict__ diag, const int *__restrict__ map, const int *__restrict__ order, int *__restrict__ index)
{
  const long long p = global_thread();

  if (p >= n) return;
  const int e = diag[order[p]];
  index[p]    = map ? map[e] : e;
}

} // namespace

cudaError_t SyncILUKernelTransposedEntries(SyncILUDevicePattern p, SyncILUDeviceEll ell, int *at, cudaStream_t stream)
{
  LAUNCH(transposed_entries_kernel, 32ll * ell.slices, stream, p, ell, at);
}

/*
   What is below the least normal number in a product is divided by a pivot and compared with another one. Where
   none is accepted below a bound, it is nothing beside them.
*/
static double least_product(const SyncILUDevicePivoting &piv)
{
  const double bound = 1e-100;
  const bool   small = piv.type == SYNCILU_PIVOT_REJECT || (piv.type == SYNCILU_PIVOT_SHIFT && fabs(piv.amount) >= bound);

  return small && piv.zeropivot >= bound ? 0.0 : DBL_MIN;
}

cudaError_t SyncILUKernelCoefficients(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceEll ell, const int *transposed_entry, SyncILUDeviceValues a,
                                      SyncILUDevicePivoting piv, void *sum, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (p.n && piv.relax != 0.0)
    upper_sums_kernel<double><<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (double *)sum);
  LAUNCH(coefficients_kernel<double>, 32ll * ell.slices, stream, p, ell, transposed_entry, a, piv.relax, (const double *)sum, least_product(piv), status);
}

cudaError_t SyncILUKernelStructCoefficients(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceStruct m, SyncILUDeviceStruct upper,
                                            SyncILUDeviceValues a, SyncILUDevicePivoting piv, void *sum, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (p.n && piv.relax != 0.0)
    upper_sums_kernel<double><<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (double *)sum);
  LAUNCH(struct_coefficients_kernel<double>, 32ll * m.g.tiles * m.g.steps, stream, m, upper, p, a, piv.relax, (const double *)sum, least_product(piv), status);
}

cudaError_t SyncILUKernelWidePivots(SyncILUValueType type, SyncILUDevicePattern p, const int *order, SyncILUDeviceValues a, void *sum,
                                    SyncILUDevicePivoting piv, void *pivot, void *inverse, unsigned long long *ticket, SyncILUDeviceStatus *status,
                                    cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (p.n && piv.relax != 0.0)
    upper_sums_kernel<double><<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (double *)sum);
  LAUNCH(wide_pivots_kernel<double>, 32ll * p.n, stream, p, order, a, (const double *)sum, piv, (double *)pivot, (double *)inverse, ticket, status);
}

cudaError_t SyncILUKernelShortPivots(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, void *sum, SyncILUDevicePivoting piv, void *pivot,
                                     unsigned long long *ticket, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (p.n && piv.relax != 0.0)
    upper_sums_kernel<double><<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (double *)sum);
  LAUNCH(short_pivots_kernel<double>, (long long)p.n << SYNCILU_DILU_LANES, stream, p, a, (const double *)sum, piv, (double *)pivot, ticket, status);
}

cudaError_t SyncILUKernelPivots(SyncILUValueType type, SyncILUDeviceEll ell, SyncILUDeviceSolve s, SyncILUDevicePivoting piv, void *pivot,
                                SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!ell.n) return cudaSuccess;
  return launch_ell<double, 1, PIVOTS>(ell, s, piv, pivot, status, stream);
}

cudaError_t SyncILUKernelDiagonalIndex(int n, const int *diag, const int *map, const int *order, int *index, cudaStream_t stream)
{
  LAUNCH(diagonal_index_kernel, (long long)n, stream, n, diag, map, order, index);
}
