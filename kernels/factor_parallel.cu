/*
   Update strategy parallel: a block has a row, and its vectors of 1 to 32 lanes work on the entries at the
   same time (M. Freire, master's thesis, Universidad de la Republica, 2025, section 5.1.4). Entry (i,j) waits
   for entry (i,k) where u'_kj exists, and for that.

   The thesis lets the vector of (i,k) update all (i,j), in whatever order its vectors come to do it. Here the
   vector of (i,j) does, by ascending k, so that results are the same from run to run; and the entries right
   of the diagonal are dealt to the vectors too.
*/
#include "factor_parallel.h"
#include "factor_rows.cuh"

using namespace syncilu;

namespace
{

/*
   Vectors take every so many entries of the row from left to right. Each lane looks up another reference row;
   once all that the lanes have found is there, it is applied in their order, and the next T reference rows
   follow.

   Why it ends: the leftmost entry that is not finished waits for finished entries of its row alone, and its
   vector has nothing to do before it, since vectors take entries from left to right. Vectors of a warp may
   wait for each other: they go round the loop together, and each that has all it needs goes on. Other rows
   come before this one in the order of the tickets.
*/
template <int LG>
struct Vectors : RowOfBlock {
  template <typename V, bool RELAX>
  __device__ Sum<V> update(const SyncILUDeviceFactor &f, int position, int begin, int nl, int len, V *w, const int3 *reference) const
  {
    constexpr int T = Shape<LG>::LANES, VECTORS = SYNCILU_BLOCK_FACTOR >> LG, WARPS = SYNCILU_BLOCK_FACTOR / 32;
    __shared__ Sum<V> of_warp[WARPS];
    const int *__restrict__ const col = f.pattern.col;
    const V *const val                = (const V *)f.val;
    const bool     fits               = len <= f.shared; /* the row is in shared memory */
    const int      lane = threadIdx.x & 31, sub = lane & (T - 1);
    const unsigned vector  = (T == 32 ? FULL : (1u << (T & 31)) - 1) << (lane - sub);
    Sum<V>         dropped = {V(0), V(0)};

    if (f.throttle > 0 && position >= f.throttle && threadIdx.x == 0) wait_for_ancestor((const V *)f.pivot + f.order[position - f.throttle], true);
    __syncthreads(); /* sentinels and reference rows are there for the other warps */

    /* the entry, the lane's reference row, where u' of that row stands, -1: the row has none */
    int  e = (int)threadIdx.x >> LG, s = sub, at = -1;
    bool looked = false; /* for that u' */
    V    a      = 0, u, multiplier;

    poison(u);
    poison(multiplier);
    while (__any_sync(FULL, e < len)) {
      if (e < len && !looked) {
        if (s == sub) a = initial_value<V>(f, begin, nl, e);
        if (s < min(e, nl)) {
          const int3 r     = s < f.lower ? reference[s] : reference_row(f, col[begin + s]);
          const int  found = search(col, r.y, r.y + r.z, col[begin + e]);

          if (found >= 0) at = found + (r.x - r.y);
        }
        poison(u);
        poison(multiplier);
        looked = true;
      }
      if (at >= 0) {
        if (!is_set(u)) u = load_relaxed(val + at);
        if (!is_set(multiplier)) multiplier = fits ? load_relaxed_shared(w + s) : load_relaxed(w + s);
      }
      const unsigned missing = __ballot_sync(FULL, at >= 0 && (!is_set(u) || !is_set(multiplier)));
      const unsigned updates = __ballot_sync(FULL, at >= 0);
      const bool     ready   = looked && !(missing & vector);
      unsigned       left    = ready ? updates & vector : 0;

      while (__any_sync(FULL, left != 0)) {
        const int from = left ? __ffs((int)left) - 1 : lane;
        const V   m = __shfl_sync(FULL, multiplier, from), v = __shfl_sync(FULL, u, from);

        if (left) a -= m * v;
        left &= left - 1;
      }
      if (RELAX && ready && at >= 0) add_product(dropped, multiplier, -u);
      if (ready) {
        looked = false;
        at     = -1;
        s += T;
        if (s - sub >= min(e, nl)) {
          if (sub == 0) {
            if (fits) store_relaxed_shared(w + e, clean(a));
            else store_relaxed(w + e, clean(a));
          }
          e += VECTORS;
          s = sub;
        }
      }
    }
    if (RELAX) {
      dropped = sum_lanes<5>(dropped);
      if (lane == 0) of_warp[threadIdx.x >> 5] = dropped;
    }
    __syncthreads(); /* the row and the sums of the other warps are there for the first one */
    if (RELAX) dropped = threadIdx.x < WARPS ? of_warp[threadIdx.x] : Sum<V>{V(0), V(0)};
    return dropped;
  }
};

} // namespace

cudaError_t SyncILUKernelFactorParallel(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceSearch search, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return with_lanes<0>(search.vector, [&](auto lg) {
    const Vectors<lg> vectors{{search}};

    return f.piv.relax != 0.0 ? launch_factor<double, 5, true, 1, false>(f, vectors, stream) : launch_factor<double, 5, false, 1, false>(f, vectors, stream);
  });
}
