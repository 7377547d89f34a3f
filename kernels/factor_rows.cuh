/*
   The numeric factorization by rows on a given pattern: the kernel of all update strategies but that of
   diagonal-only updates.

   The factor is in Crout form: A = (W + D)(I + U'), W the unscaled strictly lower part (w_ik = l_ik d_k), D
   the pivots, U' the upper part divided by the pivot of its row (u'_kj = u_kj / d_k). A row publishes its u'
   alone: the reciprocal of the pivot is off the chain of those who read them, and no pass scales L
   afterwards.

     w_ij = a_ij - sum_k w_ik u'_kj (j <= i, d_i = w_ii),  u'_ij = (a_ij - sum_k w_ik u'_kj) / d_i.

   A task is a warp's: the rows it takes, which belong to one level. What a row needs of others are the U' of
   its reference rows, those whose columns its entries of W name.

   Of a symmetric matrix one triangle is enough, W = (D U')^T: half the updates, and half the values of A are
   read. A row finds w_ji = d_i u'_ij in what its reference row i publishes, the pivot before its U'.

   Freire, Dufrechou, Ezzatti, PDP 2025, wait for a flag of a reference row and subtract l_ik u_kj with l_ik =
   a_ik / d_k. Here each u' is its own flag, and an entry that the two rows do not share is not waited for.
*/
#ifndef SYNCILU_FACTOR_ROWS_CUH
#define SYNCILU_FACTOR_ROWS_CUH

#include "entries.cuh"
#include "factor_long.cuh"
#include "factor_relax.cuh"
#include "intersect.cuh"
#include "launch.cuh"
#include "pivot.cuh"
#include "table.cuh"
#include "tuning.h"
#include <type_traits>

namespace syncilu
{

/*
   How updates are found where no list says it: with SyncILUDeviceSearch itself by searches, with Compare by
   compare(), with CompareShort by compare() where both rows are short and else by searches, with Tabled by a
   table of the columns of the row, which has SYNCILU_TABLE_MOST entries at most.
*/
struct Compare : SyncILUDeviceSearch { };
struct CompareShort : SyncILUDeviceSearch { };
struct Tabled : SyncILUDeviceSearch { };

/*
   A row is a block's until it has all updates, and then its first warp's. A type that is derived from this one
   has update(), which finds and applies them: w has NaN sentinels before, and the updated row behind it.
   update() looks up each entry in each reference row. In a row with more than SYNCILU_PARALLEL_MOST reference
   rows the first warp works alone, and looks up the entries of each reference row, which are fewer.
*/
struct RowOfBlock : SyncILUDeviceSearch { };

/* Where U' of a row begins in val. */
__device__ __forceinline__ int upper_row(const SyncILUDeviceFactor &f, const int *__restrict__ diag, int k)
{
  return f.upper ? f.upper[k] : diag[k] + 1;
}

/* Where U' of a row begins in val and in the pattern, and how long it is. */
__device__ __forceinline__ int3 reference_row(const SyncILUDeviceFactor &f, int k)
{
  const int from = f.pattern.diag[k] + 1;

  return make_int3(upper_row(f, f.pattern.diag, k), from, f.pattern.ptr[k + 1] - from);
}

/* Entry e of a row that begins at begin and whose diagonal is entry nl, before any update. */
template <typename V>
__device__ __forceinline__ V initial_value(const SyncILUDeviceFactor &f, int begin, int nl, int e)
{
  return value<V>(f.values, begin + e) + (e == nl ? V(diagonal_shift(f.piv)) : V(0));
}

/* The table of row `own` of a block, of those that begin at memory. */
__device__ __forceinline__ ColumnTable table_of_row(const SyncILUDeviceFactor &f, unsigned char *memory, int own)
{
  const int bits = SyncILUTableBits(f.shared);

  return ColumnTable(memory + own * SyncILUTableBytes(bits), bits);
}

/*
   No row of a task waits for another one of the same warp. POLLS updates of each lane are waited for at the
   same time (AHEAD: while the next ones are looked up), then applied in the order of the reference rows: a
   later one may have arrived first, and results must be the same from run to run. __syncwarp() separates the
   updates of one round, each of another entry of the row, from those of the next.

   LONG, of list: some rows are long, and have tasks of another kind. What rows of more than SYNCILU_LIST_MOST
   entries update of other rows is searched, since lists cannot count them.

   HALF, of list: one triangle of a symmetric pattern. The first update by a reference row is that of the
   diagonal, by the u' that is the transposed entry: times the pivot, for which the lane waits too, it is the
   multiplier of all. Relaxation needs the updates left of the diagonal as well, so there is none.
*/
template <typename V, int LG, typename Updates, bool RELAX, int POLLS, bool AHEAD, bool LONG, bool HALF>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) factor_kernel(SyncILUDeviceFactor f, Updates updates)
{
  constexpr int  T = Shape<LG>::LANES, ROWS = Shape<LG>::ROWS, WARPS = SYNCILU_BLOCK_FACTOR / 32;
  constexpr bool LIST = std::is_same<Updates, SyncILUDeviceLists>::value, SHORT = std::is_same<Updates, CompareShort>::value;
  constexpr bool COMPARES = SHORT || std::is_same<Updates, Compare>::value, BLOCK = std::is_base_of<RowOfBlock, Updates>::value;
  constexpr bool TABLE = std::is_same<Updates, Tabled>::value;
  /*
     where U' of a reference row begins in val; without lists, where it begins in the pattern too, and how long
     it is: the complement of that if the two rows are so short that they are compared
  */
  typedef typename std::conditional<LIST, int, int3>::type Reference;
  extern __shared__ __align__(16) unsigned char shared[];
  V *const shared_rows = (V *)shared, *const val = (V *)f.val, *const pivot = (V *)f.pivot;
  const int        lane = threadIdx.x & 31, sub = lane & (T - 1), r = lane >> LG, own = BLOCK ? 0 : (threadIdx.x >> 5) * ROWS + r;
  const int        stride           = f.shared | 1; /* odd, against bank conflicts */
  V *const         shared_row       = shared_rows + (size_t)own * stride;
  Reference *const reference        = (Reference *)(shared_rows + (size_t)(BLOCK ? 1 : WARPS * ROWS) * stride) + (size_t)own * f.lower;
  const int *__restrict__ const ptr = f.pattern.ptr, *__restrict__ const col = f.pattern.col, *__restrict__ const diag = f.pattern.diag;

  const Ticket t = take_ticket(f.ticket) / (BLOCK ? WARPS : 1);
  if (t >= (Ticket)f.tasks) return;
  SyncILUSlice task;
  if (f.task) task = f.task[t];
  else {
    task.first  = (int)t;
    task.shape  = 1 << 3;
    task.width  = 0;
    task.offset = 0;
  }
  if constexpr (LONG) {
    if ((task.shape & 7) == SYNCILU_TASK_LONG) {
      const int i = f.order[task.first];

      if (f.throttle > 0 && task.first >= f.throttle) wait_for_ancestor(pivot + f.order[task.first - f.throttle], true);
      return long_task<V, RELAX>(f, updates.longs, task, f.upper ? f.upper[i] : diag[i] + 1);
    }
  }
  const bool active = r < task.shape >> 3;
  const int  i      = active ? f.order[task.first + r] : 0;
  const int  begin = active ? ptr[i] : 0, nl = active ? diag[i] - begin : 0, len = active ? ptr[i + 1] - begin : 0;
  V         *w       = shared_row;
  Sum<V>     dropped = {V(0), V(0)}; /* by relaxation */

  auto upper_begin = [&](int k) { return upper_row(f, diag, k); };
  auto find_row    = [&](int k) {
    int3 u = reference_row(f, k);

    if (SHORT && len + ptr[k + 1] - ptr[k] <= SYNCILU_COMPARE_ENTRIES) u.z = ~u.z;
    return u;
  };
  const int upper = upper_begin(i);

  if constexpr (!LIST) {
    if (len > f.shared) w = (V *)updates.scratch + updates.begin[i];
  }

  const bool together = BLOCK && nl <= SYNCILU_PARALLEL_MOST;
  const int  first = BLOCK ? (int)threadIdx.x : sub, step = BLOCK ? SYNCILU_BLOCK_FACTOR : T;
  for (int e = first; e < len; e += step) {
    if (together) poison(w[e]);
    else if (HALF && e < nl) w[e] = V(0); /* until its reference row says what it is */
    else w[e] = initial_value<V>(f, begin, nl, e);
  }
  for (int e = first; e < min(nl, f.lower); e += step) {
    const int k = col[begin + e];

    if constexpr (LIST) reference[e] = LONG && ptr[k + 1] - ptr[k] > SYNCILU_LIST_MOST ? -1 - k : upper_begin(k);
    else reference[e] = find_row(k);
  }
  ColumnTable table;
  if constexpr (TABLE) {
    table = table_of_row(f, (unsigned char *)(reference - (size_t)own * f.lower + (size_t)WARPS * ROWS * f.lower), own);
    table.fill(col + begin, len, sub, T);
  }
  __syncwarp();
  if constexpr (BLOCK) {
    if (together) dropped = updates.template update<V, RELAX>(f, task.first, begin, nl, len, w, reference);
    else __syncthreads(); /* the row is there for the first warp */
    if (threadIdx.x >= 32) return;
  }

  /*
     Of each lane's updates: the updated entry, or -1, and where u' stands. The entry that names the reference
     row is added to the first, times 65536, with list; without lists it is in sources.
  */
  int place[POLLS], at[POLLS], sources[LIST ? 1 : POLLS];
  /*
     without lists: how many reference rows there were before, the entry that names this one, and how many of
     its candidates the lanes have seen
  */
  int    s = together ? nl : 0, source = 0, q0 = 0;
  Common both;                 /* these; what is left of them where the rows are compared */
  int    shift    = 0;         /* what leads from the pattern's U' of that row to the one in val */
  bool   compares = false;     /* the two rows are */
  int3   wanted   = {0, 0, 0}; /* with a table: as reference_row() */

  auto begin_reference = [&]() {
    if constexpr (!LIST) {
      if (s >= nl) return;
      source       = turn_of(f.turn, begin, nl, s);
      const int3 u = source < f.lower ? reference[source] : find_row(col[begin + source]);

      if constexpr (TABLE) {
        wanted = u;
        return;
      }
      compares = COMPARES && (!SHORT || u.z < 0);
      shift    = u.x - u.y;
      both     = common(begin + source + 1, begin + len, u.y, u.y + (SHORT && u.z < 0 ? ~u.z : u.z));
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
          const unsigned update = updates.update[round * 32 + lane];

          if (update != 0xffff) {
            const int entry = updates.source[round * ROWS + r];

            place[k] = entry << 16 | (update & 0xff);
            at[k]    = reference[entry] + (update >> 8);
            if (LONG && reference[entry] < 0) { /* its number in a row that is long does not fit the list */
              const int row = -1 - reference[entry], u = search(col, diag[row] + 1, ptr[row + 1], col[begin + (update & 0xff)]);

              if (u < 0) place[k] = -1; /* another pattern than the plan's */
              else at[k] = upper_begin(row) + u - diag[row] - 1;
            }
          }
        }
      }
    } else if constexpr (TABLE) {
      int column[POLLS], there[POLLS];

#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        column[k]  = ColumnTable::FREE;
        at[k]      = 0;
        sources[k] = source;
        if (s < nl) {
          if (q0 + sub < wanted.z) {
            at[k]     = wanted.x + q0 + sub;
            column[k] = col[wanted.y + q0 + sub];
          }
          q0 += T;
          if (q0 >= wanted.z) {
            s++;
            q0 = 0;
            begin_reference();
          }
        }
      }
#pragma unroll
      for (int k = 0; k < POLLS; k++) there[k] = table.column[table.first(column[k])];
#pragma unroll
      for (int k = 0; k < POLLS; k++) place[k] = table.find(column[k], there[k]);
    } else { /* all searches go on at the same time: each step of one waits for memory */
      int  candidate[POLLS], key[POLLS], lo[POLLS], hi[POLLS], end[POLLS], shifts[POLLS];
      bool flip[POLLS], open = true;

#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        candidate[k] = -1;
        lo[k] = hi[k] = end[k] = 0;
        flip[k]                = false;
        sources[k]             = source;
        shifts[k]              = shift;
        if (s < nl) {
          const int q = q0 + sub, n = candidates(both);

          if (COMPARES && compares) { /* all lanes have the same row; what is found is a search that has ended */
            const int own = both.own + lane, u = exhausted(both) ? -1 : compare(&both, col);

            if (u >= 0) {
              candidate[k] = own;
              lo[k] = hi[k] = u;
              end[k]        = u + 1;
            }
          } else if (q < n) {
            flip[k]      = both.flip;
            candidate[k] = (both.flip ? both.from : both.own) + q;
            lo[k]        = both.flip ? both.own : both.from;
            hi[k] = end[k] = both.flip ? both.ownend : both.to;
          }
          q0 += T;
          if (COMPARES && compares ? exhausted(both) : q0 >= n) {
            s++;
            q0 = 0;
            begin_reference();
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

  auto updates_diagonal = [&](int update) { return update >= 0 && (update & 0xffff) == nl; }; /* with HALF */

  begin_reference();
  bool more = LIST ? task.width > 0 : __any_sync(FULL, s < nl);
  if (more) look_up(0);
  if (f.throttle > 0 && task.first >= f.throttle) wait_for_ancestor(pivot + f.order[task.first - f.throttle], more);
  V multiplier = V(0); /* with HALF, of the present reference row */
  for (int c = 0; more; c += POLLS) {
    int place_now[POLLS], at_now[POLLS], sources_now[LIST ? 1 : POLLS];
    /* with HALF: the pivot of the reference row whose first update this is, one where it is none */
    V   u[POLLS], head[HALF ? POLLS : 1];
    int head_at[HALF ? POLLS : 1];

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      place_now[k] = place[k];
      at_now[k]    = at[k];
      if constexpr (!LIST) sources_now[k] = sources[k];
      u[k] = place[k] >= 0 ? load_relaxed(val + at[k]) : V(0);
      if constexpr (HALF) {
        const bool first = updates_diagonal(place[k]);

        head[k]    = V(1);
        head_at[k] = first ? reference[place[k] >> 16] - 1 : 0;
        load_relaxed_if(first, val + head_at[k], &head[k]);
      }
    }
    more = LIST ? c + POLLS < task.width : __any_sync(FULL, s < nl);
    if (AHEAD && more) look_up(c + POLLS);
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      if (LIST ? c + k < task.width : __any_sync(FULL, place_now[k] >= 0)) {
        const bool mine  = place_now[k] >= 0;
        V *const   entry = w + (!mine ? 0 : LIST ? place_now[k] & 0xffff : place_now[k]), before = *entry;
        const int  from  = LIST ? place_now[k] >> 16 : sources_now[LIST ? 0 : k];
        unsigned   first = 0; /* of the row's lanes that one which has the first update by its reference row */

        /* both are final: what is behind the waiting adds to the way from level to level */
        if constexpr (HALF) first = __ballot_sync(FULL, updates_diagonal(place_now[k])) & (FULL >> (32 - T)) << (lane - sub);
        else multiplier = w[!mine ? 0 : from];
        while (__any_sync(FULL, !is_set(u[k]) || (HALF && !is_set(head[HALF ? k : 0])))) {
          /* with predicates: many warps wait, and have few instructions to spare for those that need not */
#pragma unroll
          for (int l = k; l < POLLS; l++) {
            load_relaxed_if(!is_set(u[l]), val + at_now[l], &u[l]);
            if constexpr (HALF) load_relaxed_if(!is_set(head[l]), val + head_at[l], &head[l]);
          }
        }
        if constexpr (HALF) {
          const V own = u[k] * head[k], given = __shfl_sync(FULL, own, first ? __ffs((int)first) - 1 : lane);

          if (first) multiplier = given;
          if (updates_diagonal(place_now[k])) w[from] = own;
        }
        if (mine) {
          *entry = before - multiplier * u[k];
          if (RELAX) add_product(dropped, multiplier, -u[k]);
        }
        __syncwarp();
      }
    }
    if (!AHEAD && more) look_up(c + POLLS);
  }

  V d = active ? w[nl] : V(1);
  if (RELAX) { /* what is dropped is all that the reference rows hold less what has just been used */
    for (int k = sub; __any_sync(FULL, k < nl); k += T) {
      const bool mine   = k < nl;
      const V   *from   = (const V *)f.sum + 2 * (size_t)(mine ? col[begin + k] : 0);
      V          sum[2] = {V(0), V(0)};

      if (mine) load_relaxed_pair(from, sum);
      while (__any_sync(FULL, !is_set(sum[0]) || !is_set(sum[1]))) {
        if (!is_set(sum[0]) || !is_set(sum[1])) load_relaxed_pair(from, sum);
      }
      if (mine && w[k] != V(0)) {
        add_product(dropped, w[k], sum[0]);
        dropped.low += w[k] * sum[1];
      }
    }
    dropped = sum_lanes<LG>(dropped);
    d -= V(f.piv.relax) * (dropped.high + dropped.low);
  }
  const V found = d; /* to be judged once nobody waits for the row any more */
  d             = shifted_pivot(f.piv, d);
  if (HALF && active && sub == 0) store_relaxed(val + upper - 1, clean(d));
  const V inverse = V(1) / d;
  Sum<V>  sum     = {V(0), V(0)};
  V       size    = 0;
  /* the row would not come out as it is on the host, where U is not divided by its pivots */
  bool overflow = false;
  for (int e = nl + 1 + sub; e < len; e += T) {
    const V v = clean(w[e] * inverse);

    store_relaxed(val + upper + (e - nl - 1), v);
    overflow |= !isfinite(v) && isfinite(w[e]);
    if (RELAX) add(sum, v);
    size += fabs(w[e]);
  }
  if (active && sub == 0) (void)judge(f.piv, i, found, f.status);
  if (overflow) report(&f.status->row, i);
  if (f.size) { /* after a division by a pivot of zero nobody knows it any more */
    size = sum_lanes<LG>(size);
    if (active && sub == 0) ((V *)f.size)[i] = size;
  }
  if (RELAX) {
    sum = sum_lanes<LG>(sum);
    if (active && sub == 0) {
      store_relaxed((V *)f.sum + 2 * (size_t)i, clean(sum.high));
      store_relaxed((V *)f.sum + 2 * (size_t)i + 1, clean(sum.low));
    }
  }
  if (active && sub == 0) store_relaxed(pivot + i, clean(d));
  for (int e = sub; e < nl; e += T) *(f.wrows.val ? row_entry<V>(f.wrows, i, nl, e) : val + begin + e) = w[e];
}

template <typename V, int LG, bool RELAX, int POLLS, bool AHEAD, bool LONG = false, bool HALF = false, typename Updates>
cudaError_t launch_factor(const SyncILUDeviceFactor &f, const Updates &updates, cudaStream_t stream)
{
  constexpr bool   BLOCK = std::is_base_of<RowOfBlock, Updates>::value;
  constexpr int    TASKS = BLOCK ? 1 : SYNCILU_BLOCK_FACTOR / 32, ROWS = BLOCK ? 1 : TASKS * Shape<LG>::ROWS;
  constexpr size_t REFERENCE = std::is_same<Updates, SyncILUDeviceLists>::value ? sizeof(int) : sizeof(int3);
  const size_t     table     = std::is_same<Updates, Tabled>::value ? SyncILUTableBytes(SyncILUTableBits(f.shared)) : 0;
  const size_t     shared    = ROWS * ((size_t)(f.shared | 1) * sizeof(V) + f.lower * REFERENCE + table);

  static_assert(!HALF || (std::is_same<Updates, SyncILUDeviceLists>::value && !RELAX && !LONG), "one triangle is for lists without more");
  factor_kernel<V, LG, Updates, RELAX, POLLS, AHEAD, LONG, HALF><<<blocks_for(f.tasks, TASKS), SYNCILU_BLOCK_FACTOR, shared, stream>>>(f, updates);
  return cudaGetLastError();
}

/* Calls what() with the logarithm of the lanes, from LEAST to 5, as a constant of the compiler. */
template <int LEAST = 2, typename What>
cudaError_t with_lanes(int lanes, What what)
{
  if constexpr (LEAST < 5) {
    if (lanes != LEAST) return with_lanes<LEAST + 1>(lanes, what);
  }
  return what(std::integral_constant<int, LEAST>());
}

} // namespace syncilu

#endif
