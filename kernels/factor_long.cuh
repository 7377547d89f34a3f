/*
   Long rows in the factorization with lists: as many warps as it takes share one, each with some entries.

   The tasks of a row, in the order of their tickets: its entries, SYNCILU_LONG_ENTRIES each; its pivot; its
   entries of U', SYNCILU_LONG_SCALED each, which the pivot divides; the sums over the row. Entries are pulled:

     w_ij = a_ij - sum_k w_ik u'_kj,

   with k ascending, and each waits for those w_ik that it needs, not for all that stand left of it. So a row
   is done in as many hops as its entries depend on one another, however long it is.
*/
#ifndef SYNCILU_FACTOR_LONG_CUH
#define SYNCILU_FACTOR_LONG_CUH

#include "entries.cuh"
#include "factor_relax.cuh"
#include "launch.cuh"
#include "pivot.cuh"
#include "tuning.h"

namespace syncilu
{

/* A value that belongs to a lower ticket or, published, to another lane of this warp. */
template <typename V>
__device__ __forceinline__ V wait_for(const V *p)
{
  V v = load_relaxed(p);

  while (!is_set(v)) v = load_relaxed(p);
  return v;
}

/* What a task leaves for those of its row that sum up. Each number is a value of its own. */
template <typename V>
__device__ __forceinline__ V *long_part(const SyncILUDeviceLongRows &longs, const SyncILUSlice &task, int number)
{
  return (V *)longs.part + 3 * ((size_t)(task.offset / SYNCILU_LONG_ROOM) + number);
}

/*
   The sum of the products of updates [begin, end), of which lanes take turns. What they wait for is asked for
   several at a time: where all is there, as for an entry in a long column too, it is the way to memory that
   counts.
*/
template <typename V, bool RELAX>
__device__ __forceinline__ V long_products(const SyncILUDeviceLongRows &longs, const V *row, const V *val, int begin, int end, Sum<V> &dropped)
{
  constexpr int POLLS = 8;
  V             sum   = 0;

  for (int first = begin + (int)(threadIdx.x & 31); first < end; first += 32 * POLLS) {
    const V *from[POLLS], *at[POLLS];
    V        multiplier[POLLS], factor[POLLS];

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      const SyncILULongUpdate update = longs.update[min(first + 32 * k, end - 1)];

      from[k] = row + update.source;
      at[k]   = val + update.at;
    }
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      multiplier[k] = load_relaxed(from[k]);
      factor[k]     = load_relaxed(at[k]);
    }
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      if (first + 32 * k >= end) break;
      while (!is_set(multiplier[k])) multiplier[k] = load_relaxed(from[k]);
      while (!is_set(factor[k])) factor[k] = load_relaxed(at[k]);
      sum += multiplier[k] * factor[k];
      if (RELAX) add_product(dropped, multiplier[k], -factor[k]);
    }
  }
  __syncwarp();
  return sum_lanes<5>(sum);
}

/*
   Entries of the row, one a lane. A lane with few updates applies one after the other, as they come; the loop
   is the whole warp's, since one may wait for another. A lane with many is left until those before it are
   done: then all lanes share its updates, with sums in a fixed order.
*/
template <typename V, bool RELAX>
__device__ void long_entries(const SyncILUDeviceFactor &f, const SyncILUDeviceLongRows &longs, const SyncILUSlice &task, int i, int begin, int nl, int len)
{
  const int         lane = threadIdx.x & 31, first = task.width * SYNCILU_LONG_ENTRIES, e = first + lane;
  V *const          row     = (V *)longs.w + task.offset;
  const V          *val     = (const V *)f.val;
  V                 w       = e < len ? value<V>(f.values, begin + e) + (e == nl ? V(diagonal_shift(f.piv)) : V(0)) : V(0);
  Sum<V>            dropped = {V(0), V(0)}, shared = {V(0), V(0)};
  int               u    = e < len ? longs.begin[task.offset + e] : 0;
  const int         end  = e < len ? longs.begin[task.offset + e + 1] : 0;
  bool              done = e >= len, many = end - u > SYNCILU_LONG_UPDATES;
  SyncILULongUpdate next = u < end ? longs.update[u] : SyncILULongUpdate{0, 0};

  for (;;) {
    if (!done && u == end) {
      w = clean(w);
      store_relaxed(row + e, w);
      if (e < nl) *(f.wrows.val ? row_entry<V>(f.wrows, i, nl, e) : (V *)f.val + begin + e) = w;
      done = true;
    }
    const unsigned finished = __ballot_sync(FULL, done);
    if (finished == FULL) break;
    const int turn = __ffs(~finished) - 1;
    if (__shfl_sync(FULL, (int)many, turn)) {
      const V sum = long_products<V, RELAX>(longs, row, val, __shfl_sync(FULL, u, turn), __shfl_sync(FULL, end, turn), shared);

      if (lane == turn) {
        w -= sum;
        u    = end;
        many = false;
      }
      continue;
    }
    const bool mine = !done && !many, near = mine && next.source >= first;
    const int  from       = near ? next.source - first : lane;
    V          multiplier = __shfl_sync(FULL, w, from);

    if (mine && !near) multiplier = load_relaxed(row + next.source);
    if (mine && (near ? (finished >> from & 1) != 0 : is_set(multiplier))) {
      const V factor = load_relaxed(val + next.at);

      if (is_set(factor)) {
        w -= multiplier * factor;
        if (RELAX) add_product(dropped, multiplier, -factor);
        if (++u < end) next = longs.update[u];
      }
    }
  }
  if (RELAX) { /* what is dropped is all that the reference rows hold less what has been used */
    /* its own sum: how many of a lane's own updates come before a shared one depends on when they arrive */
    add(dropped, shared.high);
    dropped.low += shared.low;
    if (e < nl) {
      const V *from = (const V *)f.sum + 2 * (size_t)f.pattern.col[begin + e], high = wait_for(from), low = wait_for(from + 1);

      if (w != V(0)) {
        add_product(dropped, w, high);
        dropped.low += w * low;
      }
    }
    __syncwarp();
    dropped = sum_lanes<5>(dropped);
    if (lane == 0) {
      V *part = long_part<V>(longs, task, task.width);

      store_relaxed(part, clean(dropped.high));
      store_relaxed(part + 1, clean(dropped.low));
    }
  }
}

/* The pivot of the row, whose entries are the business of so many tasks. */
template <typename V, bool RELAX>
__device__ void long_pivot(const SyncILUDeviceFactor &f, const SyncILUDeviceLongRows &longs, const SyncILUSlice &task, int i, int nl, int tasks)
{
  const int lane    = threadIdx.x & 31;
  Sum<V>    dropped = {V(0), V(0)};

  if (RELAX) {
    for (int q = lane; q < tasks; q += 32) {
      const V *part = long_part<V>(longs, task, q);

      add(dropped, wait_for(part));
      dropped.low += wait_for(part + 1);
    }
    __syncwarp();
    dropped = sum_lanes<5>(dropped);
  }
  if (lane) return;
  V d = wait_for((const V *)longs.w + task.offset + nl);
  if (RELAX) d -= V(f.piv.relax) * (dropped.high + dropped.low);
  store_relaxed((V *)f.pivot + i, clean(judge(f.piv, i, d, f.status)));
}

/* Some entries of U', from number `begin` of the row on; their sums are those of part `number`. */
template <typename V, bool RELAX>
__device__ void long_scale(const SyncILUDeviceFactor &f, const SyncILUDeviceLongRows &longs, const SyncILUSlice &task, int i, int upper, int begin, int end,
                           int number)
{
  const int lane     = threadIdx.x & 31;
  const V   inverse  = V(1) / wait_for((const V *)f.pivot + i);
  Sum<V>    sum      = {V(0), V(0)};
  V         size     = 0;
  bool      overflow = false;

  for (int e = begin + lane; e < min(end, begin + SYNCILU_LONG_SCALED); e += 32) {
    const V w = wait_for((const V *)longs.w + task.offset + e), v = clean(w * inverse);

    store_relaxed((V *)f.val + upper + e, v);
    overflow |= !isfinite(v) && isfinite(w);
    if (RELAX) add(sum, v);
    size += fabs(w);
  }
  if (overflow) report(&f.status->row, i);
  __syncwarp();
  V *const part = long_part<V>(longs, task, number);
  if (RELAX) {
    sum = sum_lanes<5>(sum);
    if (lane == 0) {
      store_relaxed(part, clean(sum.high));
      store_relaxed(part + 1, clean(sum.low));
    }
  }
  if (f.size) {
    size = sum_lanes<5>(size);
    if (lane == 0) store_relaxed(part + 2, clean(size));
  }
}

/* The sums over U' of the row, from parts [first, last). */
template <typename V, bool RELAX>
__device__ void long_sums(const SyncILUDeviceFactor &f, const SyncILUDeviceLongRows &longs, const SyncILUSlice &task, int i, int first, int last)
{
  const int lane = threadIdx.x & 31;
  Sum<V>    sum  = {V(0), V(0)};
  V         size = 0;

  for (int q = first + lane; q < last; q += 32) {
    const V *part = long_part<V>(longs, task, q);

    if (RELAX) {
      add(sum, wait_for(part));
      sum.low += wait_for(part + 1);
    }
    if (f.size) size += wait_for(part + 2);
  }
  __syncwarp();
  if (RELAX) {
    sum = sum_lanes<5>(sum);
    if (lane == 0) {
      store_relaxed((V *)f.sum + 2 * (size_t)i, clean(sum.high));
      store_relaxed((V *)f.sum + 2 * (size_t)i + 1, clean(sum.low));
    }
  }
  if (f.size) {
    size = sum_lanes<5>(size);
    if (lane == 0) ((V *)f.size)[i] = size;
  }
}

/* The task of a warp; upper is where U' of the row begins in val. */
template <typename V, bool RELAX>
__device__ void long_task(const SyncILUDeviceFactor &f, const SyncILUDeviceLongRows &longs, const SyncILUSlice &task, int upper)
{
  const int i = f.order[task.first], begin = f.pattern.ptr[i], nl = f.pattern.diag[i] - begin, len = f.pattern.ptr[i + 1] - begin;
  const int entries = SyncILULongEntryTasks(len), scaled = SyncILULongScaledTasks(len - nl - 1), q = task.width;

  if (q < entries) long_entries<V, RELAX>(f, longs, task, i, begin, nl, len);
  else if (q == entries) long_pivot<V, RELAX>(f, longs, task, i, nl, entries);
  else if (q <= entries + scaled) long_scale<V, RELAX>(f, longs, task, i, upper - nl - 1, nl + 1 + (q - entries - 1) * SYNCILU_LONG_SCALED, len, q - 1);
  else long_sums<V, RELAX>(f, longs, task, i, entries, entries + scaled);
}

} // namespace syncilu

#endif
