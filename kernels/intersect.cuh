/*
   The entries that two rows have in common.
*/
#ifndef SYNCILU_INTERSECT_CUH
#define SYNCILU_INTERSECT_CUH

#include "entries.cuh"
#include "table.cuh"

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

/* Whether a side has no columns left. */
__device__ __forceinline__ bool exhausted(const Common &c)
{
  return c.own >= c.ownend || c.from >= c.to;
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
   Where one row goes on among its columns [begin, end). `other` is a column of the other row, one a lane, of
   which those up to `passed` are done. The first column of this row that is not less than all the others is
   one of the 32 from the returned place on. Each step looks at 32 columns that divide what is left into equal
   parts.
*/
__device__ __forceinline__ int skip(const int *__restrict__ col, int begin, int end, int other, int passed)
{
  const int least = __reduce_min_sync(FULL, other > passed ? other : INT_MAX);

  while (end - begin > 32) {
    const int part = (end - begin - 1) / 32 + 1, last = begin + ((threadIdx.x & 31) + 1) * part - 1;

    begin += part * __popc(__ballot_sync(FULL, last < end && col[last] < least));
    end = min(end, begin + part);
  }
  return begin;
}

/*
   All with all: 32 columns of the current row, one in the register of each lane, with 32 of U' in shared memory
   (Freire, Dufrechou, Ezzatti, PDP 2025, algorithm 3, after B. Schlegel, T. Willhalm, W. Lehner, ADMS 2011).
   Then the side whose last column of these is smaller moves on, both if it is the same; a call begins with
   columns left on both sides, and once one side has none, all that the rows share has been found. Returns where
   the column at own + lane stands in U', -1 if it does not. The lanes of a warp have one row together.

   Not in the document: a side with many columns left skips those that the other side has passed. Otherwise a
   row of n entries would take up to n / 32 steps for each of its reference rows.
*/
__device__ __forceinline__ int compare(Common *c, const int *__restrict__ col)
{
  constexpr int  NONE = INT_MAX; /* no column */
  __shared__ int of_block[SYNCILU_BLOCK_FACTOR];
  int *const     columns = of_block + (threadIdx.x & ~31);
  const int      lane = threadIdx.x & 31, own = c->own + lane < c->ownend ? col[c->own + lane] : NONE;
  int            last[2], found               = -1;

  __syncwarp(); /* all have read the columns of the call before */
  columns[lane] = c->from + lane < c->to ? col[c->from + lane] : NONE;
  __syncwarp(); /* the columns are there for the other lanes */
#pragma unroll
  for (int k = 0; k < 32; k++)
    if (columns[k] == own) found = c->from + k;
  if (own == NONE) found = -1; /* padding is equal to padding */
  last[0] = __shfl_sync(FULL, own, min(c->ownend - c->own, 32) - 1);
  last[1] = columns[min(c->to - c->from, 32) - 1];
  c->own += last[0] <= last[1] ? 32 : 0;
  c->from += last[1] <= last[0] ? 32 : 0;
  if (last[0] < last[1] && c->ownend - c->own > SYNCILU_SKIP) c->own = skip(col, c->own, c->ownend, columns[lane], last[0]);
  if (last[1] < last[0] && c->to - c->from > SYNCILU_SKIP) c->from = skip(col, c->from, c->to, own, last[1]);
  return found;
}

/*
   The entry that names reference row s of a row which begins at begin and has nl of them; turn as in
   SyncILUDeviceFactor.
*/
__device__ __forceinline__ int turn_of(const unsigned char *__restrict__ turn, int begin, int nl, int s)
{
  return turn && nl <= SYNCILU_TURNS ? turn[begin + s] : s;
}

/*
   Goes through the reference rows of the lanes' rows, of which each has nl, and what of them meets the row's
   entries [begin, end), with half those from the diagonal on; turn as in SyncILUDeviceFactor. some is NULL,
   or says by entry of the pattern whether that reference row has updates for the row. The lanes of a row take
   candidates side by side, T at a time, and then all lanes of the warp together call several(s, both, found,
   e, u, before): the entry that names the reference row, the candidates, whether the lane's own one is an
   update, the two entries as in find(), and what the calls for that reference row before this one have
   returned in all. Then they call done(s, all), with s -1 for a row that has no more reference rows. The
   lanes of a row look up T reference rows at once, and the columns of U' ahead: nearly all of the time is the
   way to memory. With TABLE, the table of the row's columns, with half of those from the diagonal on, says
   where those of a reference row are, unless that is much longer; without, its filter, if there is one, which
   of them to search for.
*/
template <int LG, bool TABLE, typename Several, typename Done>
__device__ __forceinline__ void each_updates(const SyncILUDevicePattern &p, const unsigned char *turn, const unsigned char *some, int begin, int nl, int end,
                                             const ColumnTable &table, Several several, Done done, bool half = false)
{
  constexpr int T = Shape<LG>::LANES, AHEAD = 4;
  const int     lane = threadIdx.x & 31, sub = lane & (T - 1);
  int3          ahead = {0, 0, 0};
  int           first = 0; /* the first column for this lane of the next reference row */
  bool          known = false;

  for (int s = 0; __any_sync(FULL, s < nl); s++) {
    Common both    = {0, 0, 0, 0, false};
    int    updates = 0, column[AHEAD];

    if (s % T == 0) {
      const int entry = s + sub < nl ? turn_of(turn, begin, nl, s + sub) : 0, k = s + sub < nl ? p.col[begin + entry] : 0;

      ahead = s + sub < nl && (!some || some[begin + entry]) ? make_int3(p.diag[k] + 1, p.ptr[k + 1], entry) : make_int3(0, 0, entry);
    }
    const int from = __shfl_sync(FULL, ahead.x, lane - sub + s % T), to = __shfl_sync(FULL, ahead.y, lane - sub + s % T);
    const int source = __shfl_sync(FULL, ahead.z, lane - sub + s % T);
    if (s < nl) both = common(begin + (half ? nl : source + 1), end, from, to);
    if (TABLE) both.flip = to - from <= 32 || to - from <= 2 * (end - begin - source);
    else if (table.filter) both.flip = to - from <= SYNCILU_TABLE_FILTER_RATIO * (end - begin - source);
    const int count = candidates(both);
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      const int q = k * T + sub;

      if (k || !known) column[k] = both.flip && q < count ? p.col[from + q] : 0;
    }
    if (known) column[0] = first;
    known = (s + 1) % T != 0;
    if (known) {
      const int next = __shfl_sync(FULL, ahead.x, lane - sub + (s + 1) % T) + sub;

      first = next < __shfl_sync(FULL, ahead.y, lane - sub + (s + 1) % T) ? p.col[next] : 0;
    }
    for (int q0 = 0; __any_sync(FULL, q0 < count); q0 += T * AHEAD) {
#pragma unroll
      for (int k = 0; k < AHEAD; k++)
        if (q0) column[k] = both.flip && q0 + k * T + sub < count ? p.col[from + q0 + k * T + sub] : 0;
#pragma unroll
      for (int k = 0; k < AHEAD; k++) {
        const int q = q0 + k * T + sub;
        int       e = -1, u = -1;
        bool      found = false;
        /* where updates are rare, a filter says that most of these have none */
        const bool wanted = q < count && (!both.flip || table.may_have(column[k]));

        if (!__any_sync(FULL, wanted)) continue;
        if (wanted && !both.flip) found = find(both, p.col, q, &e, &u);
        else if (wanted) {
          if (TABLE) e = table.find(column[k], table.column[table.first(column[k])]);
          else e = search(p.col, both.own, both.ownend, column[k]);
          found = e >= 0;
          if (TABLE) e += begin + (half ? nl : 0);
          u = from + q;
        }
        updates += several(source, both, found, e, u, updates);
      }
    }
    done(s < nl ? source : -1, updates);
  }
}

/* The same, where hit(s, both, e, u, q) is called for every update: q by that reference row come before it. */
template <int LG, bool TABLE, typename Hit, typename Done>
__device__ __forceinline__ void each_update(const SyncILUDevicePattern &p, const unsigned char *turn, const unsigned char *some, int begin, int nl, int end,
                                            const ColumnTable &table, Hit hit, Done done, bool half = false)
{
  constexpr int T   = Shape<LG>::LANES;
  const int     sub = threadIdx.x & (T - 1), first = (threadIdx.x & 31) - sub;

  each_updates<LG, TABLE>(
    p, turn, some, begin, nl, end, table,
    [&](int s, const Common &both, bool found, int e, int u, int before) {
      const unsigned all = (__ballot_sync(FULL, found) >> first) & (T == 32 ? FULL : (1u << T) - 1);

      if (found) hit(s, both, e, u, before + __popc(all & ((1u << sub) - 1)));
      return __popc(all);
    },
    done, half);
}

} // namespace syncilu

#endif
