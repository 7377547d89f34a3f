/*
   The entries that two rows have in common.
*/
#ifndef SYNCILU_INTERSECT_CUH
#define SYNCILU_INTERSECT_CUH

#include "entries.cuh"

namespace syncilu
{

/*
   The entries that the current row and U' of a reference row have in common are found by taking the columns
   of the shorter one of the two and searching the other one.
*/
struct Common {
  int  own, ownend, from, to; /* the current row's entries right of the reference row's column, and U' */
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

/*
   Goes through the reference rows of the lanes' rows, of which each has nl, and what of them meets the row's
   entries [begin, end). Calls hit(s, both, e, u, q) for every update: reference row s, the candidates, the
   two entries as in find(), q updates by that reference row before it. Then calls done(s, updates). The lanes
   of a row look up T reference rows at once.
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

} // namespace syncilu

#endif
