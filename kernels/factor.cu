/*
   The numeric factorization on a given pattern.

   The factor is kept raw: A = (W + D)(I + U'), W the unscaled strictly lower part (w_ik = l_ik d_k), D the pivots, U' the upper part divided by the pivot of its row (u'_kj = u_kj / d_k). A row
   publishes only its u'; the reciprocal of the pivot is off the chain of those who read them, and no pass scales L afterwards:

     w_ij = a_ij - sum_k w_ik u'_kj (j <= i, d_i = w_ii),  u'_ij = (a_ij - sum_k w_ik u'_kj) / d_i.

   Strategies: vect (Freire, Dufrechou, Ezzatti, PDP 2025, algorithm 4: each lane takes an entry of the row at work and searches the row of the pivot for its column), and list, for which the analysis has
   written down what vect finds. Where only diagonals have updates (5- and 7-point grids, tridiagonal matrices) the recurrence d_i = a_ii - sum_k a_ik a_ki / d_k is a triangular sweep, and runs as one.
*/
#include "values.cuh"
#include "tuning.h"
#include <climits>

using namespace syncilu;

namespace
{

/* Rows of a warp in one task: T lanes each. */
template <int LG>
struct Shape {
  static constexpr int LANES = 1 << LG, ROWS = 32 >> LG;
};

template <int LG, typename V>
__device__ __forceinline__ V sum_lanes(V v)
{
#pragma unroll
  for (int o = Shape<LG>::LANES / 2; o; o >>= 1) v += __shfl_xor_sync(FULL, v, o);
  return v;
}

/*
   The rows of a task belong to one level, so none waits for another of the same warp. POLLS updates of each lane are waited for at the same time and then applied in the order of the pivot rows, which
   makes the result the same from run to run; a later one may have arrived first. __syncwarp() separates the updates of one round, each of another entry of the row, from those of the next.
*/
template <typename V, int LG, bool LIST, bool RELAX, int POLLS>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) factor_kernel(SyncILUDeviceFactor f)
{
  constexpr int     T = Shape<LG>::LANES, ROWS = Shape<LG>::ROWS, WARPS = SYNCILU_BLOCK_FACTOR / 32;
  extern __shared__ __align__(16) unsigned char shared[];
  V *const shared_rows = (V *)shared, *const val = (V *)f.val, *const pivot = (V *)f.pivot;
  const int  lane = threadIdx.x & 31, sub = lane & (T - 1), r = lane >> LG, own = (threadIdx.x >> 5) * ROWS + r;
  const int  stride                 = f.shared | 1; /* odd, against bank conflicts */
  V *const   shared_row             = shared_rows + (size_t)own * stride;
  int *const base                   = (int *)(shared_rows + (size_t)WARPS * ROWS * stride) + (size_t)own * f.lower; /* list: where U' of each pivot row begins */
  const int *__restrict__ const ptr = f.pattern.ptr, *__restrict__ const col = f.pattern.col, *__restrict__ const diag = f.pattern.diag;

  const Ticket t = take_ticket(f.ticket);
  if (t >= (Ticket)f.tasks) return;
  SyncILUSlice task;
  if (f.task) task = f.task[t];
  else {
    task.first  = (int)t;
    task.shape  = 1 << 3;
    task.width  = 0;
    task.offset = 0;
  }
  const bool active = r < task.shape >> 3;
  const int  i      = active ? f.order[task.first + r] : 0;
  const int  begin = active ? ptr[i] : 0, nl = active ? diag[i] - begin : 0, len = active ? ptr[i + 1] - begin : 0;
  V *const   w       = LIST || len <= f.shared ? shared_row : (V *)f.scratch + begin;
  V          dropped = 0;

  for (int e = sub; e < len; e += T) w[e] = value<V>(f.values, begin + e) + (e == nl ? V(diagonal_shift(f.piv)) : V(0));
  if (LIST)
    for (int e = sub; e < nl; e += T) base[e] = diag[col[begin + e]] + 1;
  __syncwarp();

  int s = 0, e0 = 1; /* vect: the entry of L whose pivot row is searched, and where the lanes stand in the row */
  for (int c = 0; LIST ? c < task.width : __any_sync(FULL, s < nl); c += POLLS) {
    int place[POLLS], at[POLLS]; /* of the updated entry (list: and 65536 times that of the pivot row's); of u' */
    int pivots[LIST ? 1 : POLLS];
    V   u[POLLS];

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      place[k] = -1;
      at[k]    = 0;
      if (LIST) {
        if (c + k < task.width) {
          const size_t   round  = (size_t)task.offset + c + k;
          const unsigned update = f.update[round * 32 + lane];

          if (update != 0xffff) {
            const int entry = f.source[round * ROWS + r];

            place[k] = entry << 16 | (update & 0xff);
            at[k]    = base[entry] + (update >> 8);
          }
        }
      } else if (s < nl) {
        const int e = e0 + sub, p = col[begin + s];

        if (e < len) {
          at[k] = search(col, diag[p] + 1, ptr[p + 1], col[begin + e]);
          if (at[k] >= 0) place[k] = e;
        }
        pivots[k] = s;
        e0 += T;
        if (e0 >= len) {
          s++;
          e0 = s + 1;
        }
      }
    }
    if (c == 0 && f.gate > 0 && task.first >= f.gate) wait_at_gate(pivot + f.order[task.first - f.gate], true);
#pragma unroll
    for (int k = 0; k < POLLS; k++) u[k] = place[k] >= 0 ? load_relaxed(val + at[k]) : V(0);
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      if (LIST ? c + k < task.width : __any_sync(FULL, place[k] >= 0)) {
        while (__any_sync(FULL, !is_set(u[k]))) {
#pragma unroll
          for (int l = k; l < POLLS; l++)
            if (!is_set(u[l])) u[l] = load_relaxed(val + at[l]);
        }
        if (place[k] >= 0) {
          const V product = w[LIST ? place[k] >> 16 : pivots[k]] * u[k];

          w[LIST ? place[k] & 0xffff : place[k]] -= product;
          if (RELAX) dropped -= product;
        }
        __syncwarp();
      }
    }
  }

  V d = active ? w[nl] : V(1);
  if (RELAX) { /* what is dropped is all that the pivot rows hold less what has just been used */
    for (int k = sub; __any_sync(FULL, k < nl); k += T) {
      const bool mine = k < nl;
      V          sum  = mine ? load_relaxed((const V *)f.sum + col[begin + k]) : V(0);

      while (__any_sync(FULL, !is_set(sum))) {
        if (!is_set(sum)) sum = load_relaxed((const V *)f.sum + col[begin + k]);
      }
      if (mine) dropped += w[k] * sum;
    }
    d -= V(f.piv.relax) * sum_lanes<LG>(dropped);
  }
  if (active && sub == 0) d = judge(f.piv, i, d, f.status);
  d               = __shfl_sync(FULL, d, lane & ~(T - 1));
  const V inverse = V(1) / d;
  V       sum = 0, size = 0;
  for (int e = nl + 1 + sub; e < len; e += T) {
    const V v = clean(w[e] * inverse);

    store_relaxed(val + begin + e, v);
    sum += v;
    size += fabs(w[e]);
  }
  if (f.size) { /* after a division by a pivot of zero nobody knows it any more */
    size = sum_lanes<LG>(size);
    if (active && sub == 0) ((V *)f.size)[i] = size;
  }
  if (RELAX) {
    sum = sum_lanes<LG>(sum);
    if (active && sub == 0) store_relaxed((V *)f.sum + i, clean(sum));
  }
  if (active && sub == 0) store_relaxed(pivot + i, clean(d));
  for (int e = sub; e < nl; e += T) val[begin + e] = w[e];
}

/*
   What list needs to know: for each row the updates by each pivot row, in rounds of T. With WRITE they are written down, otherwise counted.
*/
template <int LG, bool WRITE>
__global__ void __launch_bounds__(SYNCILU_BLOCK) list_kernel(SyncILUDevicePattern p, const int *__restrict__ order, int tasks, SyncILUSlice *task, int *__restrict__ width, unsigned short *__restrict__ update, unsigned char *__restrict__ source)
{
  constexpr int   T = Shape<LG>::LANES, ROWS = Shape<LG>::ROWS;
  const long long t    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31, sub = lane & (T - 1), r = lane >> LG;

  if (t >= tasks) return;
  const SyncILUSlice d      = task[t];
  const bool         active = r < d.shape >> 3;
  const int          i      = active ? order[d.first + r] : 0;
  const int          begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, len = active ? p.ptr[i + 1] - begin : 0;
  int                rounds = 0;

  for (int s = 0; __any_sync(FULL, s < nl); s++) {
    const int k = s < nl ? p.col[begin + s] : 0, from = s < nl ? p.diag[k] + 1 : 0, to = s < nl ? p.ptr[k + 1] : 0;
    int       updates = 0;

    for (int e0 = s + 1; __any_sync(FULL, s < nl && e0 < len); e0 += T) {
      const int      e    = e0 + sub;
      const int      at   = s < nl && e < len ? search(p.col, from, to, p.col[begin + e]) : -1;
      const unsigned hits = (__ballot_sync(FULL, at >= 0) >> (lane & ~(T - 1))) & (T == 32 ? FULL : (1u << T) - 1);

      if (at >= 0) {
        if (WRITE) {
          const int    q     = updates + __popc(hits & ((1u << sub) - 1));
          const size_t round = (size_t)d.offset + rounds + q / T;

          update[round * 32 + r * T + q % T] = (unsigned short)((at - from) << 8 | e);
          source[round * ROWS + r]           = (unsigned char)s;
        }
      }
      updates += __popc(hits);
    }
    rounds += (updates + T - 1) / T;
  }
  if (!WRITE) {
    for (int o = 16; o; o >>= 1) rounds = max(rounds, __shfl_xor_sync(FULL, rounds, o));
    if (lane == 0) {
      task[t].width = rounds;
      width[t]      = rounds;
    }
  }
}

/* Notices updates of entries beside the diagonal. Blocks that come when one was found have nothing to do. */
template <int T>
__global__ void __launch_bounds__(SYNCILU_BLOCK) live_kernel(SyncILUDevicePattern p, int *live)
{
  const long long t   = global_thread();
  const int       sub = (int)(t % T);

  if (t / T >= p.n || load_relaxed(live)) return;
  const int i = (int)(t / T), begin = p.ptr[i], diag = p.diag[i], end = p.ptr[i + 1];
  for (int s = begin; s < diag; s++) {
    const int k = p.col[s], from = p.diag[k] + 1, to = p.ptr[k + 1];

    for (int e = s + 1 + sub; e < end; e += T) {
      if (e != diag && search(p.col, from, to, p.col[e]) >= 0) {
        store_relaxed(live, 1);
        return;
      }
    }
  }
}

/* Slot by slot of L in ELL: where the entry opposite the diagonal stands, (k,i) for (i,k). */
__global__ void opposite_kernel(SyncILUDevicePattern p, SyncILUDeviceEll ell, int *__restrict__ at)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? p.diag[l.row] : 0;
  int           e   = l.full ? p.ptr[l.row] + l.first : 0;

  for (int w = 0; w < l.width; w++, e += l.step) {
    const int k = e < end ? p.col[e] : 0;

    at[l.at + 32 * (size_t)w] = e < end ? search(p.col, p.diag[k] + 1, p.ptr[k + 1], l.row) : -1;
  }
}

/* The sum of each row right of the diagonal. */
template <typename V>
__global__ void upper_sums_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, V *__restrict__ sum)
{
  const long long i = global_thread();
  V               s = 0;

  if (i >= p.n) return;
  for (int e = p.diag[i] + 1; e < p.ptr[i + 1]; e++) s += value<V>(a, e);
  sum[i] = s;
}

/* Coefficients of the recurrence for the pivots: a_ik (a_ki + relax (s_k - a_ki)), s_k the sum of row k right of the diagonal. */
template <typename V>
__global__ void coefficients_kernel(SyncILUDevicePattern p, SyncILUDeviceEll ell, const int *__restrict__ opposite, SyncILUDeviceValues a, double relax, const V *__restrict__ sum)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? p.diag[l.row] : 0;
  int           e   = l.full ? p.ptr[l.row] + l.first : 0;

  for (int w = 0; w < l.width; w++, e += l.step) {
    const size_t at = l.at + 32 * (size_t)w;
    V            c  = 0;

    if (e < end) {
      const int q = opposite[at];

      c = q < 0 ? V(0) : value<V>(a, q);
      if (relax != 0.0) c += V(relax) * (sum[p.col[e]] - c);
      c *= value<V>(a, e);
    }
    ((V *)ell.val)[at] = c;
  }
}

/* Values of a triangle in ELL, from the factor or, divided by the pivots where asked for, from the matrix; the other way round with gather. */
template <typename V>
__global__ void fill_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, SyncILUDeviceValues v, const V *__restrict__ divisor, V *__restrict__ gather)
{
  const EllLane l       = ell_lane(ell);
  const int     end     = l.full ? t.end[l.row] : 0;
  int           e       = l.full ? t.begin[l.row] + t.skip + l.first : 0;
  const V       inverse = l.full && divisor ? V(1) / divisor[l.row] : V(1);

  for (int w = 0; w < l.width; w++, e += l.step) {
    const size_t at = l.at + 32 * (size_t)w;

    if (gather) {
      if (e < end) gather[t.src ? t.src[e] : e] = ((V *)ell.val)[at];
    } else {
      V x = 0;

      if (e < end) {
        x = value<V>(v, t.src ? t.src[e] : e);
        if (divisor) x *= inverse;
      }
      ((V *)ell.val)[at] = x;
    }
  }
}

/* The raw factor in the order of the pattern where only diagonals have updates. */
template <typename V>
__global__ void raw_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ pivot, V *__restrict__ val)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= p.n) return;
  const V   inverse = V(1) / pivot[i];
  const int diag    = p.diag[i];
  for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) val[e] = value<V>(a, e) * (e > diag ? inverse : V(1));
}

/* 1 / pivot in the order of the slots. */
template <typename V>
__global__ void reciprocals_kernel(int n, const V *__restrict__ pivot, const int *__restrict__ order, V *__restrict__ out)
{
  const long long p = global_thread();

  if (p < n) out[p] = V(1) / pivot[order ? order[p] : p];
}

/* Position of the diagonal of each slot's row among the values of the matrix. */
__global__ void diagonal_index_kernel(int n, const int *__restrict__ diag, const int *__restrict__ map, const int *__restrict__ order, int *__restrict__ index)
{
  const long long p = global_thread();

  if (p >= n) return;
  const int e = diag[order[p]];
  index[p]    = map ? map[e] : e;
}

/* Sum of the absolute values of row i of L and U beside the diagonal, by one warp. val NULL: only diagonals have updates, and the values are those of the matrix; else size has the sum of U's. */
template <typename V>
__device__ V row_sum(const SyncILUDevicePattern &p, const SyncILUDeviceValues &a, const V *val, const V *size, const V *pivot, int i)
{
  const int diag = p.diag[i];
  V         s    = 0;

  for (int e = p.ptr[i] + (threadIdx.x & 31); e < (val ? diag : p.ptr[i + 1]); e += 32) {
    V x = val ? val[e] : value<V>(a, e);

    if (e < diag) x /= pivot[p.col[e]];
    else if (e == diag) x = 0;
    s += fabs(x);
  }
  return sum_lanes<5>(s) + (val ? size[i] : V(0));
}

template <typename V>
__global__ void judge_rows_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ val, const V *__restrict__ size, const V *__restrict__ pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status)
{
  const long long i = global_thread() >> 5;

  if (i >= p.n) return;
  const V    rs = row_sum(p, a, val, size, pivot, (int)i), d = pivot[i];
  const bool bad = (piv.type == SYNCILU_PIVOT_SIGN ? d : fabs(d)) <= piv.zeropivot * rs || !isfinite(d) || !isfinite(rs);
  if (bad && (threadIdx.x & 31) == 0) report(&status->row, (int)i);
}

/* One warp: the first rejected pivot, and whether a shift may mend it. */
template <typename V>
__global__ void status_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ val, const V *__restrict__ size, const V *__restrict__ pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status)
{
  const int row = status->row;

  if (row == INT_MAX) return;
  const bool   relative = piv.type == SYNCILU_PIVOT_SIZE || piv.type == SYNCILU_PIVOT_SIGN;
  const double rs       = relative ? (double)row_sum(p, a, val, size, pivot, row) : 0.0;
  if (threadIdx.x == 0) {
    status->pivot    = fabs(pivot[row]);
    status->mendable = relative && isfinite(pivot[row]) && isfinite(rs);
  }
}

__global__ void status_reset_kernel(SyncILUDeviceStatus *status, Ticket *ticket)
{
  status->row      = INT_MAX;
  status->shifted  = 0;
  status->mendable = 0;
  status->unused   = 0;
  status->pivot    = 0.0;
  *ticket          = 0;
}

template <typename V>
__global__ void excess_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, unsigned long long *excess)
{
  const long long i    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (i >= p.n) return;
  V s = 0;
  for (int e = p.ptr[i] + lane; e < p.ptr[i + 1]; e += 32) {
    const V x = value<V>(a, e);

    s += e == p.diag[i] ? -x : fabs(x);
  }
  s = sum_lanes<5>(s);
  /* positive doubles are ordered as their bits are; anything else does not count, as in the host's comparison */
  if (lane == 0 && s > V(0)) atomicMax(excess, (unsigned long long)__double_as_longlong((double)s));
}

template <typename V, int LG, bool LIST, bool RELAX, int POLLS>
cudaError_t launch(const SyncILUDeviceFactor &f, cudaStream_t stream)
{
  constexpr int WARPS = SYNCILU_BLOCK_FACTOR / 32, ROWS = WARPS * Shape<LG>::ROWS;

  factor_kernel<V, LG, LIST, RELAX, POLLS><<<blocks_for(f.tasks, WARPS), SYNCILU_BLOCK_FACTOR, ROWS *((size_t)(f.shared | 1) * sizeof(V) + (LIST ? f.lower * sizeof(int) : 0)), stream>>>(f);
  return cudaGetLastError();
}

template <typename V, int LG>
cudaError_t launch_lanes(const SyncILUDeviceFactor &f, cudaStream_t stream)
{
  const bool relax = f.piv.relax != 0.0;

  if (f.update && f.many) return relax ? launch<V, LG, true, true, 2 * SYNCILU_UPDATE_POLLS>(f, stream) : launch<V, LG, true, false, 2 * SYNCILU_UPDATE_POLLS>(f, stream);
  if (f.update) return relax ? launch<V, LG, true, true, SYNCILU_UPDATE_POLLS>(f, stream) : launch<V, LG, true, false, SYNCILU_UPDATE_POLLS>(f, stream);
  if (f.prefetch) return relax ? launch<V, LG, false, true, SYNCILU_UPDATE_POLLS>(f, stream) : launch<V, LG, false, false, SYNCILU_UPDATE_POLLS>(f, stream);
  return relax ? launch<V, LG, false, true, 1>(f, stream) : launch<V, LG, false, false, 1>(f, stream);
}

template <int LG>
void launch_list(SyncILUDevicePattern p, const int *order, int tasks, SyncILUSlice *task, int *width, unsigned short *update, unsigned char *source, cudaStream_t stream)
{
  const unsigned grid = blocks_for(32ll * tasks, SYNCILU_BLOCK);

  if (update) list_kernel<LG, true><<<grid, SYNCILU_BLOCK, 0, stream>>>(p, order, tasks, task, width, update, source);
  else list_kernel<LG, false><<<grid, SYNCILU_BLOCK, 0, stream>>>(p, order, tasks, task, width, update, source);
}

} // namespace

cudaError_t SyncILUKernelStatusReset(SyncILUDeviceStatus *status, unsigned long long *ticket, cudaStream_t stream)
{
  status_reset_kernel<<<1, 1, 0, stream>>>(status, ticket);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelFactor(SyncILUValueType type, SyncILUDeviceFactor f, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  switch (f.lanes) {
  case 2:
    return launch_lanes<double, 2>(f, stream);
  case 3:
    return launch_lanes<double, 3>(f, stream);
  case 4:
    return launch_lanes<double, 4>(f, stream);
  default:
    return launch_lanes<double, 5>(f, stream);
  }
}

cudaError_t SyncILUKernelLists(SyncILUDevicePattern p, int lanes, const int *order, int tasks, SyncILUSlice *task, int *width, unsigned short *update, unsigned char *source, cudaStream_t stream)
{
  if (!tasks) return cudaSuccess;
  switch (lanes) {
  case 2:
    launch_list<2>(p, order, tasks, task, width, update, source, stream);
    break;
  case 3:
    launch_list<3>(p, order, tasks, task, width, update, source, stream);
    break;
  case 4:
    launch_list<4>(p, order, tasks, task, width, update, source, stream);
    break;
  default:
    launch_list<5>(p, order, tasks, task, width, update, source, stream);
  }
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLive(SyncILUDevicePattern p, int *live, cudaStream_t stream)
{
  LAUNCH(live_kernel<4>, 4ll * p.n, stream, p, live);
}

cudaError_t SyncILUKernelOpposite(SyncILUDevicePattern p, SyncILUDeviceEll ell, int *at, cudaStream_t stream)
{
  LAUNCH(opposite_kernel, 32ll * ell.slices, stream, p, ell, at);
}

cudaError_t SyncILUKernelCoefficients(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceEll ell, const int *opposite, SyncILUDeviceValues a, double relax, void *sum, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (p.n && relax != 0.0) upper_sums_kernel<double><<<blocks_for(p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (double *)sum);
  LAUNCH(coefficients_kernel<double>, 32ll * ell.slices, stream, p, ell, opposite, a, relax, (const double *)sum);
}

cudaError_t SyncILUKernelFill(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceEll ell, SyncILUDeviceValues v, const void *divisor, void *gather, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(fill_kernel<double>, 32ll * ell.slices, stream, t, ell, v, (const double *)divisor, (double *)gather);
}

cudaError_t SyncILUKernelRaw(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, const void *pivot, void *val, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(raw_kernel<double>, (long long)p.n * ROW_LANES, stream, p, a, (const double *)pivot, (double *)val);
}

cudaError_t SyncILUKernelReciprocals(SyncILUValueType type, int n, const void *pivot, const int *order, void *out, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(reciprocals_kernel<double>, (long long)n, stream, n, (const double *)pivot, order, (double *)out);
}

cudaError_t SyncILUKernelDiagonalIndex(int n, const int *diag, const int *map, const int *order, int *index, cudaStream_t stream)
{
  LAUNCH(diagonal_index_kernel, (long long)n, stream, n, diag, map, order, index);
}

cudaError_t SyncILUKernelStatus(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, const void *val, const void *size, const void *pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!p.n) return cudaSuccess;
  if (piv.type == SYNCILU_PIVOT_SIZE || piv.type == SYNCILU_PIVOT_SIGN)
    judge_rows_kernel<double><<<blocks_for(32ll * p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (const double *)val, (const double *)size, (const double *)pivot, piv, status);
  status_kernel<double><<<1, 32, 0, stream>>>(p, a, (const double *)val, (const double *)size, (const double *)pivot, piv, status);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelExcess(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, unsigned long long *excess, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(excess_kernel<double>, 32ll * p.n, stream, p, a, excess);
}
