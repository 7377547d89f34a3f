/*
   The numeric factorization on a given pattern.

   The factor is kept raw: A = (W + D)(I + U'), W the unscaled strictly lower part (w_ik = l_ik d_k), D the pivots, U' the upper part divided by the pivot of its row (u'_kj = u_kj / d_k). A row
   publishes only its u'; the reciprocal of the pivot is off the chain of those who read them, and no pass scales L afterwards:

     w_ij = a_ij - sum_k w_ik u'_kj (j <= i, d_i = w_ii),  u'_ij = (a_ij - sum_k w_ik u'_kj) / d_i.

   Strategies: vect (Freire, Dufrechou, Ezzatti, PDP 2025, algorithm 4: each lane takes an entry of the row at work and searches the row of the pivot for its column; here the other way round where
   that row is the shorter one), and list, for which the analysis has written down what vect finds. Where only diagonals have updates (5- and 7-point grids, tridiagonal matrices) the recurrence d_i =
   a_ii - sum_k a_ik a_ki / d_k is a triangular sweep, and runs as one.
*/
#include "values.cuh"
#include "tuning.h"
#include <climits>
#include <type_traits>

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

/* The entries that a row at work and U' of a pivot row have in common are found by taking those of the shorter one of the two and searching the other one. */
struct Common {
  int  own, ownend, from, to; /* the row's entries right of the pivot's column, and U' */
  bool flip;                  /* U' is the shorter one */
};

__device__ __forceinline__ Common common(int own, int ownend, int from, int to)
{
  return {own, ownend, from, to, to - from < ownend - own};
}

__device__ __forceinline__ int candidates(const Common &c)
{
  return c.flip ? c.to - c.from : c.ownend - c.own;
}

/* Candidate q: where it stands in the row and in U', if it is in both. */
__device__ __forceinline__ bool find(const Common &c, const int *__restrict__ col, int q, int *e, int *u)
{
  if (c.flip) {
    *u = c.from + q;
    *e = search(col, c.own, c.ownend, col[*u]);
  } else {
    *e = c.own + q;
    *u = search(col, c.from, c.to, col[*e]);
  }
  return *e >= 0 && *u >= 0;
}

/* Entry q of row i of W, which has nl of them. */
template <typename V>
__device__ __forceinline__ V *lower_entry(const SyncILUDeviceLower &w, int i, int nl, int q)
{
  const int lg = nl > w.limit ? 5 : w.lanes;

  return (V *)w.val + w.place[i] + ((size_t)(q >> lg) << 5) + (q & ((1 << lg) - 1));
}

/*
   The rows of a task belong to one level, so none waits for another of the same warp. POLLS updates of each lane are waited for at the same time (AHEAD: while the next ones are looked up) and then
   applied in the order of the pivot rows, which makes the result the same from run to run; a later one may have arrived first. __syncwarp() separates the updates of one round, each of another entry
   of the row, from those of the next.
*/
template <typename V, int LG, bool LIST, bool RELAX, int POLLS, bool AHEAD>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) factor_kernel(SyncILUDeviceFactor f)
{
  constexpr int                                            T = Shape<LG>::LANES, ROWS = Shape<LG>::ROWS, WARPS = SYNCILU_BLOCK_FACTOR / 32;
  typedef typename std::conditional<LIST, int, int3>::type Pivot;
  extern __shared__ __align__(16) unsigned char shared[];
  V *const shared_rows = (V *)shared, *const val = (V *)f.val, *const pivot = (V *)f.pivot;
  const int    lane = threadIdx.x & 31, sub = lane & (T - 1), r = lane >> LG, own = (threadIdx.x >> 5) * ROWS + r;
  const int    stride               = f.shared | 1; /* odd, against bank conflicts */
  V *const     shared_row           = shared_rows + (size_t)own * stride;
  Pivot *const base                 = (Pivot *)(shared_rows + (size_t)WARPS * ROWS * stride) + (size_t)own * f.lower; /* where U' of each pivot row begins in val; vect: and in the pattern, and how long it is */
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
  V *const   w       = LIST || len <= f.shared ? shared_row : (V *)f.scratch + f.place[i];
  V          dropped = 0;

  auto upper_begin = [&](int k) { return f.upper ? f.upper[k] : diag[k] + 1; };
  auto pivot_row   = [&](int k) {
    const int from = diag[k] + 1;

    return make_int3(upper_begin(k), from, ptr[k + 1] - from);
  };
  const int upper = upper_begin(i);

  for (int e = sub; e < len; e += T) w[e] = value<V>(f.values, begin + e) + (e == nl ? V(diagonal_shift(f.piv)) : V(0));
  for (int e = sub; e < min(nl, f.lower); e += T) {
    const int k = col[begin + e];

    if constexpr (LIST) base[e] = upper_begin(k);
    else base[e] = pivot_row(k);
  }
  __syncwarp();

  /* of each lane's updates: the updated entry (list: and 65536 times that of the pivot row's) or -1, u', and vect: the pivot row's entry */
  int    place[POLLS], at[POLLS], pivots[LIST ? 1 : POLLS];
  int    s = 0, q0 = 0; /* vect: the pivot row's entry, and where the lanes stand among its candidates */
  Common both;          /* vect: these */
  int    shift = 0;     /* vect: from the place of its U' in the pattern to that in val */

  auto begin_pivot = [&]() {
    if constexpr (!LIST) {
      if (s >= nl) return;
      const int3 u = s < f.lower ? base[s] : pivot_row(col[begin + s]);

      shift = u.x - u.y;
      both  = common(begin + s + 1, begin + len, u.y, u.y + u.z);
    }
  };
  auto look_up = [&](int c) {
    if constexpr (LIST) {
#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        place[k] = -1;
        at[k]    = 0;
        if (c + k < task.width) {
          const size_t   round  = (size_t)task.offset + c + k;
          const unsigned update = f.update[round * 32 + lane];

          if (update != 0xffff) {
            const int entry = f.source[round * ROWS + r];

            place[k] = entry << 16 | (update & 0xff);
            at[k]    = base[entry] + (update >> 8);
          }
        }
      }
    } else { /* all searches go on at the same time: each step of one waits for memory */
      int  candidate[POLLS], key[POLLS], lo[POLLS], hi[POLLS], end[POLLS], shifts[POLLS];
      bool flip[POLLS], open = true;

#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        candidate[k] = -1;
        lo[k] = hi[k] = end[k] = 0;
        flip[k]                = false;
        pivots[k]              = s;
        shifts[k]              = shift;
        if (s < nl) {
          const int q = q0 + sub, n = candidates(both);

          if (q < n) {
            flip[k]      = both.flip;
            candidate[k] = (both.flip ? both.from : both.own) + q;
            lo[k]        = both.flip ? both.own : both.from;
            hi[k] = end[k] = both.flip ? both.ownend : both.to;
          }
          q0 += T;
          if (q0 >= n) {
            s++;
            q0 = 0;
            begin_pivot();
          }
        }
      }
#pragma unroll
      for (int k = 0; k < POLLS; k++) key[k] = candidate[k] >= 0 ? col[candidate[k]] : 0;
      while (open) {
        int there[POLLS];

        open = false;
#pragma unroll
        for (int k = 0; k < POLLS; k++) there[k] = lo[k] < hi[k] ? col[lo[k] + (hi[k] - lo[k]) / 2] : 0;
#pragma unroll
        for (int k = 0; k < POLLS; k++) {
          if (lo[k] < hi[k]) {
            const int mid = lo[k] + (hi[k] - lo[k]) / 2;

            if (there[k] < key[k]) lo[k] = mid + 1;
            else hi[k] = mid;
            open |= lo[k] < hi[k];
          }
        }
      }
#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        const bool hit = lo[k] < end[k] && col[lo[k]] == key[k];

        place[k] = !hit ? -1 : (flip[k] ? lo[k] : candidate[k]) - begin;
        at[k]    = (flip[k] ? candidate[k] : lo[k]) + shifts[k];
      }
    }
  };

  begin_pivot();
  bool more = LIST ? task.width > 0 : __any_sync(FULL, s < nl);
  if (more) look_up(0);
  if (f.gate > 0 && task.first >= f.gate) wait_at_gate(pivot + f.order[task.first - f.gate], more);
  for (int c = 0; more; c += POLLS) {
    int place_now[POLLS], at_now[POLLS], pivots_now[LIST ? 1 : POLLS];
    V   u[POLLS];

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      place_now[k] = place[k];
      at_now[k]    = at[k];
      if constexpr (!LIST) pivots_now[k] = pivots[k];
      u[k] = place[k] >= 0 ? load_relaxed(val + at[k]) : V(0);
    }
    more = LIST ? c + POLLS < task.width : __any_sync(FULL, s < nl);
    if (AHEAD && more) look_up(c + POLLS);
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      if (LIST ? c + k < task.width : __any_sync(FULL, place_now[k] >= 0)) {
        while (__any_sync(FULL, !is_set(u[k]))) {
#pragma unroll
          for (int l = k; l < POLLS; l++)
            if (!is_set(u[l])) u[l] = load_relaxed(val + at_now[l]);
        }
        if (place_now[k] >= 0) {
          const V product = w[LIST ? place_now[k] >> 16 : pivots_now[LIST ? 0 : k]] * u[k];

          w[LIST ? place_now[k] & 0xffff : place_now[k]] -= product;
          if (RELAX) dropped -= product;
        }
        __syncwarp();
      }
    }
    if (!AHEAD && more) look_up(c + POLLS);
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

    store_relaxed(val + upper + (e - nl - 1), v);
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
  for (int e = sub; e < nl; e += T) *(f.upper ? lower_entry<V>(f.w, i, nl, e) : val + begin + e) = w[e];
}

/*
   Goes through the pivot rows of the lanes' rows, of which each has nl, and what of them meets the row's entries [begin, end). For every update hit(s, both, e, u, q): pivot row s, candidates, the
   entries as in find(), q updates by that pivot row are before it. Then done(s, updates). The lanes of a row look up T pivot rows at once.
*/
template <int LG, typename Hit, typename Done>
__device__ __forceinline__ void each_update(const SyncILUDevicePattern &p, int begin, int nl, int end, Hit hit, Done done)
{
  constexpr int T    = Shape<LG>::LANES;
  const int     lane = threadIdx.x & 31, sub = lane & (T - 1);
  int2          ahead = {0, 0};

  for (int s = 0; __any_sync(FULL, s < nl); s++) {
    Common both    = {0, 0, 0, 0, false};
    int    updates = 0;

    if (s % T == 0) {
      const int k = s + sub < nl ? p.col[begin + s + sub] : 0;

      ahead = s + sub < nl ? make_int2(p.diag[k] + 1, p.ptr[k + 1]) : make_int2(0, 0);
    }
    const int from = __shfl_sync(FULL, ahead.x, lane - sub + s % T), to = __shfl_sync(FULL, ahead.y, lane - sub + s % T);
    if (s < nl) both = common(begin + s + 1, end, from, to);
    for (int q0 = 0; __any_sync(FULL, q0 < candidates(both)); q0 += T) {
      int            e, u;
      const bool     found = q0 + sub < candidates(both) && find(both, p.col, q0 + sub, &e, &u);
      const unsigned all   = (__ballot_sync(FULL, found) >> (lane - sub)) & (T == 32 ? FULL : (1u << T) - 1);

      if (found) hit(s, both, e, u, updates + __popc(all & ((1u << sub) - 1)));
      updates += __popc(all);
    }
    done(s, updates);
  }
}

/*
   What list needs to know: for each row the updates by each pivot row, in rounds of T. Rounds counts those of a row for every T, the four of them in one, or sums up those for T = 4 over one row of
   every `stride`; List writes the updates down.
*/
template <int LG>
__global__ void __launch_bounds__(SYNCILU_BLOCK) rounds_kernel(SyncILUDevicePattern p, int stride, int4 *__restrict__ rounds, unsigned long long *sum)
{
  constexpr int   T      = Shape<LG>::LANES;
  const long long i      = (global_thread() >> LG) * stride;
  const int       sub    = threadIdx.x & (T - 1);
  const bool      active = i < p.n;
  const int       begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  int4            n = {0, 0, 0, 0};

  each_update<LG>(
    p, begin, nl, end, [](int, const Common &, int, int, int) {},
    [&](int, int updates) {
      n.x += (updates + 3) / 4;
      n.y += (updates + 7) / 8;
      n.z += (updates + 15) / 16;
      n.w += (updates + 31) / 32;
    });
  if (!active || sub) return;
  if (rounds) rounds[i] = n;
  if (sum) atomicAdd(sum, (unsigned long long)n.x);
}

/* The rounds of a task are those of its longest row. */
__global__ void list_widths_kernel(const int *__restrict__ rounds, int lanes, const int *__restrict__ order, int tasks, SyncILUSlice *task, int *__restrict__ width)
{
  const long long t    = global_thread() >> 3; /* tasks have at most 8 rows */
  const int       r    = threadIdx.x & 7;
  int             most = 0;

  if (t < tasks) {
    const SyncILUSlice d = task[t];

    if (r < d.shape >> 3) most = rounds[4 * (size_t)order[d.first + r] + lanes - 2];
  }
  for (int o = 4; o; o >>= 1) most = max(most, __shfl_xor_sync(FULL, most, o));
  if (t < tasks && r == 0) {
    task[t].width = most;
    width[t]      = most;
  }
}

template <int LG>
__global__ void __launch_bounds__(SYNCILU_BLOCK) list_kernel(SyncILUDevicePattern p, const int *__restrict__ order, int tasks, const SyncILUSlice *__restrict__ task, unsigned short *__restrict__ update, unsigned char *__restrict__ source)
{
  constexpr int   T = Shape<LG>::LANES, ROWS = Shape<LG>::ROWS;
  const long long t = global_thread() >> 5;
  const int       r = (threadIdx.x & 31) >> LG;

  if (t >= tasks) return;
  const SyncILUSlice d      = task[t];
  const bool         active = r < d.shape >> 3;
  const int          i      = active ? order[d.first + r] : 0;
  const int          begin = active ? p.ptr[i] : 0, nl = active ? p.diag[i] - begin : 0, end = active ? p.ptr[i + 1] : 0;
  int                rounds = 0;

  each_update<LG>(
    p, begin, nl, end,
    [&](int s, const Common &both, int e, int u, int q) {
      const size_t round = (size_t)d.offset + rounds + q / T;

      update[round * 32 + r * T + q % T] = (unsigned short)((u - both.from) << 8 | (e - begin));
      source[round * ROWS + r]           = (unsigned char)s;
    },
    [&](int, int updates) { rounds += (updates + T - 1) / T; });
}

/* The updates of all rows, summed up. */
__global__ void __launch_bounds__(SYNCILU_BLOCK) updates_kernel(SyncILUDevicePattern p, unsigned long long *sum)
{
  const long long    i    = global_thread() >> 5;
  const bool         mine = i < p.n;
  const int          row = mine ? (int)i : 0, begin = mine ? p.ptr[row] : 0;
  unsigned long long updates = 0;

  each_update<5>(
    p, begin, mine ? p.diag[row] - begin : 0, mine ? p.ptr[row + 1] : 0, [](int, const Common &, int, int, int) {}, [&](int, int more) { updates += more; });
  if (mine && (threadIdx.x & 31) == 0) atomicAdd(sum, updates);
}

constexpr int LIVE_LANES = 4;

/* Notices updates by the pivot row of entry s of entries beside the diagonal at diag; looks at candidates q, q + step, ... */
__device__ __forceinline__ bool notice(const SyncILUDevicePattern &p, int s, int diag, int end, int q, int step, int *live)
{
  const int    k    = p.col[s];
  const Common both = common(s + 1, end, p.diag[k] + 1, p.ptr[k + 1]);

  for (; q < candidates(both); q += step) {
    int e, u;

    if (find(both, p.col, q, &e, &u) && e != diag) {
      store_relaxed(live, 1);
      return true;
    }
  }
  return false;
}

/* Whether there are such updates. Whoever comes when one was found has nothing to do. */
__global__ void __launch_bounds__(SYNCILU_BLOCK) live_kernel(SyncILUDevicePattern p, int *live)
{
  int time = 0;

  for (long long t = global_thread(); t / LIVE_LANES < p.n && !raised(live, time); t += all_threads(), time++) {
    const int i = (int)(t / LIVE_LANES), diag = p.diag[i];

    if (diag - p.ptr[i] > SYNCILU_ROW_LONG) continue;
    for (int s = p.ptr[i]; s < diag; s++) {
      if (load_stale(live) || notice(p, s, diag, p.ptr[i + 1], (int)(t % LIVE_LANES), LIVE_LANES, live)) return;
    }
  }
}

__global__ void __launch_bounds__(SYNCILU_BLOCK) live_long_kernel(SyncILUDevicePattern p, int *live)
{
  each_long_row(p, [&](int i) {
    const int diag = p.diag[i];
    int       time = 0;

    for (int s = p.ptr[i] + (int)threadIdx.x; s < diag && !raised(live, time); s += blockDim.x, time++) {
      if (notice(p, s, diag, p.ptr[i + 1], 0, 1, live)) return;
    }
  });
}

__global__ void long_lengths_kernel(int n, const int *__restrict__ ptr, int shared, int *__restrict__ length)
{
  const long long i = global_thread();

  if (i < n) length[i] = ptr[i + 1] - ptr[i] > shared ? ptr[i + 1] - ptr[i] : 0;
}

__global__ void upper_lengths_kernel(SyncILUDevicePattern p, int *__restrict__ length)
{
  const long long i = global_thread();

  if (i < p.n) length[i] = p.ptr[i + 1] - p.diag[i] - 1;
}

__global__ void lower_places_kernel(SyncILUDeviceEll ell, unsigned *__restrict__ place)
{
  const EllLane l = ell_lane(ell);

  if (l.full && l.first == 0) place[l.row] = (unsigned)l.at;
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
  const long long t   = global_thread();
  const int       sub = (int)(t % ROW_LANES), i = (int)(t / ROW_LANES), end = t / ROW_LANES < p.n ? p.ptr[i + 1] : 0;
  V               s = 0;

  for (int e = end ? p.diag[i] + 1 + sub : 0; e < end; e += ROW_LANES) s += value<V>(a, e);
  s = sum_lanes<ROW_LANES_LOG>(s);
  if (end && sub == 0) sum[i] = s;
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

/*
   Sum of the absolute values of row i of L and U beside the diagonal, by one warp, from the raw factor. size has the sum of U's; NULL: only diagonals have updates, and W and D U' are those of the
   matrix.
*/
template <typename V>
__device__ V row_sum(const SyncILUDevicePattern &p, const SyncILUDeviceValues &a, const V *val, const SyncILUDeviceLower &w, const V *size, const V *pivot, int i)
{
  const int begin = p.ptr[i], diag = p.diag[i];
  V         s = 0;

  for (int e = begin + (threadIdx.x & 31); e < (size ? diag : p.ptr[i + 1]); e += 32) {
    V x = !size ? value<V>(a, e) : val ? val[e] : *lower_entry<V>(w, i, diag - begin, e - begin);

    if (e < diag) x /= pivot[p.col[e]];
    else if (e == diag) x = 0;
    s += fabs(x);
  }
  return sum_lanes<5>(s) + (size ? size[i] : V(0));
}

template <typename V>
__global__ void judge_rows_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ val, SyncILUDeviceLower w, const V *__restrict__ size, const V *__restrict__ pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status)
{
  const long long i = global_thread() >> 5;

  if (i >= p.n) return;
  const V    rs = row_sum(p, a, val, w, size, pivot, (int)i), d = pivot[i];
  const bool bad = (piv.type == SYNCILU_PIVOT_SIGN ? d : fabs(d)) <= piv.zeropivot * rs || !isfinite(d) || !isfinite(rs);
  if (bad && (threadIdx.x & 31) == 0) report(&status->row, (int)i);
}

/* One warp: the first rejected pivot, and whether a shift may mend it. */
template <typename V>
__global__ void status_kernel(SyncILUDevicePattern p, SyncILUDeviceValues a, const V *__restrict__ val, SyncILUDeviceLower w, const V *__restrict__ size, const V *__restrict__ pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status)
{
  const int row = status->row;

  if (row == INT_MAX) return;
  const bool   relative = piv.type == SYNCILU_PIVOT_SIZE || piv.type == SYNCILU_PIVOT_SIGN;
  const double rs       = relative ? (double)row_sum(p, a, val, w, size, pivot, row) : 0.0;
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

template <typename V, int LG, bool LIST, bool RELAX, int POLLS, bool AHEAD>
cudaError_t launch(const SyncILUDeviceFactor &f, cudaStream_t stream)
{
  constexpr int WARPS = SYNCILU_BLOCK_FACTOR / 32, ROWS = WARPS * Shape<LG>::ROWS;

  factor_kernel<V, LG, LIST, RELAX, POLLS, AHEAD><<<blocks_for(f.tasks, WARPS), SYNCILU_BLOCK_FACTOR, ROWS *((size_t)(f.shared | 1) * sizeof(V) + f.lower * (LIST ? sizeof(int) : sizeof(int3))), stream>>>(f);
  return cudaGetLastError();
}

template <typename V, int LG, bool RELAX>
cudaError_t launch_strategy(const SyncILUDeviceFactor &f, cudaStream_t stream)
{
  if (f.update && f.many && f.few) return launch<V, LG, true, RELAX, 2 * SYNCILU_UPDATE_POLLS, true>(f, stream);
  if (f.update) return f.many ? launch<V, LG, true, RELAX, SYNCILU_UPDATE_POLLS, true>(f, stream) : launch<V, LG, true, RELAX, SYNCILU_UPDATE_POLLS, false>(f, stream);
  return f.prefetch ? launch<V, LG, false, RELAX, SYNCILU_SEARCH_POLLS, true>(f, stream) : launch<V, LG, false, RELAX, 1, false>(f, stream);
}

template <typename V, int LG>
cudaError_t launch_lanes(const SyncILUDeviceFactor &f, cudaStream_t stream)
{
  return f.piv.relax != 0.0 ? launch_strategy<V, LG, true>(f, stream) : launch_strategy<V, LG, false>(f, stream);
}

template <int LG>
void launch_list(SyncILUDevicePattern p, const int *order, int tasks, const SyncILUSlice *task, unsigned short *update, unsigned char *source, cudaStream_t stream)
{
  list_kernel<LG><<<blocks_for(32ll * tasks, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, order, tasks, task, update, source);
}

template <int LG>
void launch_rounds(SyncILUDevicePattern p, int stride, int *rounds, unsigned long long *sum, cudaStream_t stream)
{
  rounds_kernel<LG><<<blocks_for(((long long)p.n + stride - 1) / stride << LG, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, stride, (int4 *)rounds, sum);
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

cudaError_t SyncILUKernelListRounds(SyncILUDevicePattern p, int lanes, int stride, int *rounds, unsigned long long *sum, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  switch (lanes) {
  case 2:
    launch_rounds<2>(p, stride, rounds, sum, stream);
    break;
  case 3:
    launch_rounds<3>(p, stride, rounds, sum, stream);
    break;
  case 4:
    launch_rounds<4>(p, stride, rounds, sum, stream);
    break;
  default:
    launch_rounds<5>(p, stride, rounds, sum, stream);
  }
  return cudaGetLastError();
}

cudaError_t SyncILUKernelUpdates(SyncILUDevicePattern p, unsigned long long *sum, cudaStream_t stream)
{
  LAUNCH(updates_kernel, 32ll * p.n, stream, p, sum);
}

cudaError_t SyncILUKernelListWidths(const int *rounds, int lanes, const int *order, int tasks, SyncILUSlice *task, int *width, cudaStream_t stream)
{
  LAUNCH(list_widths_kernel, 8ll * tasks, stream, rounds, lanes, order, tasks, task, width);
}

cudaError_t SyncILUKernelLists(SyncILUDevicePattern p, int lanes, const int *order, int tasks, const SyncILUSlice *task, unsigned short *update, unsigned char *source, cudaStream_t stream)
{
  if (!tasks) return cudaSuccess;
  switch (lanes) {
  case 2:
    launch_list<2>(p, order, tasks, task, update, source, stream);
    break;
  case 3:
    launch_list<3>(p, order, tasks, task, update, source, stream);
    break;
  case 4:
    launch_list<4>(p, order, tasks, task, update, source, stream);
    break;
  default:
    launch_list<5>(p, order, tasks, task, update, source, stream);
  }
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLive(SyncILUDevicePattern p, int longest, SyncILUDeviceTraits *traits, cudaStream_t stream)
{
  if (!p.n) return cudaSuccess;
  live_kernel<<<few_blocks_for((long long)p.n * LIVE_LANES), SYNCILU_BLOCK, 0, stream>>>(p, &traits->live);
  if (longest > SYNCILU_ROW_LONG) live_long_kernel<<<few_blocks_for(p.n), SYNCILU_BLOCK, 0, stream>>>(p, &traits->live);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLongLengths(int n, const int *ptr, int shared, int *length, cudaStream_t stream)
{
  LAUNCH(long_lengths_kernel, (long long)n, stream, n, ptr, shared, length);
}

cudaError_t SyncILUKernelUpperLengths(SyncILUDevicePattern p, int *length, cudaStream_t stream)
{
  LAUNCH(upper_lengths_kernel, (long long)p.n, stream, p, length);
}

cudaError_t SyncILUKernelLowerPlaces(SyncILUDeviceEll ell, unsigned *place, cudaStream_t stream)
{
  LAUNCH(lower_places_kernel, 32ll * ell.slices, stream, ell, place);
}

cudaError_t SyncILUKernelOpposite(SyncILUDevicePattern p, SyncILUDeviceEll ell, int *at, cudaStream_t stream)
{
  LAUNCH(opposite_kernel, 32ll * ell.slices, stream, p, ell, at);
}

cudaError_t SyncILUKernelCoefficients(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceEll ell, const int *opposite, SyncILUDeviceValues a, double relax, void *sum, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (p.n && relax != 0.0) upper_sums_kernel<double><<<blocks_for((long long)p.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (double *)sum);
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

cudaError_t SyncILUKernelStatus(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, const void *val, SyncILUDeviceLower w, const void *size, const void *pivot, SyncILUDevicePivoting piv, SyncILUDeviceStatus *status, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!p.n) return cudaSuccess;
  if (piv.type == SYNCILU_PIVOT_SIZE || piv.type == SYNCILU_PIVOT_SIGN)
    judge_rows_kernel<double><<<blocks_for(32ll * p.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(p, a, (const double *)val, w, (const double *)size, (const double *)pivot, piv, status);
  status_kernel<double><<<1, 32, 0, stream>>>(p, a, (const double *)val, w, (const double *)size, (const double *)pivot, piv, status);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelExcess(SyncILUValueType type, SyncILUDevicePattern p, SyncILUDeviceValues a, unsigned long long *excess, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(excess_kernel<double>, 32ll * p.n, stream, p, a, excess);
}
