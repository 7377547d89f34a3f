/*
   Update strategy parilut: the candidates of rows, and sweeps between the patterns of a round. H. Anzt et
   al., IPDPS 2019, merge sorted rows for the candidates; here a row has a hash table of its columns in shared
   memory, so that nothing is sorted but a row, and so have the sweeps, which are those of factor_parilu.cu.

   A sweep reads an iterate on the pattern that it was made on: what came since would be zeros, of which a row
   has four times as many as it has entries, with as many in each row of U' that it meets.

   Progress: nobody waits for anybody but the lanes of its warp and the threads of its block.
*/
#include "search.h"
#include "factor_rows.cuh"

using namespace syncilu;

namespace
{

constexpr int NONE = INT_MAX; /* no column; it comes last in order */

__device__ __forceinline__ int hash(int c, int bits)
{
  return (int)((unsigned)c * 2654435769u >> (32 - bits));
}

/*
   Whether a column is new in a table of 2^SIZE places, one of which is free. Most are not: a look shows that.
*/
template <int SIZE>
__device__ __forceinline__ bool insert(int *table, int c)
{
  for (int place = hash(c, SIZE);; place = (place + 1) & ((1 << SIZE) - 1)) {
    int there = load_relaxed_shared(table + place);

    if (there == NONE) there = atomicCAS(table + place, NONE, c);
    if (there == NONE || there == c) return there == NONE;
  }
}

/*
   Brings the columns that the table has to its beginning, with NONE behind the last one up to a multiple of
   four.
*/
template <int SIZE>
__device__ __forceinline__ void compact(int *table, int count)
{
  const int lane = (int)threadIdx.x & 31;
  int       at   = 0;

  for (int k = lane; k < 1 << SIZE; k += 32) {
    const int      c   = table[k];
    const unsigned has = __ballot_sync(FULL, c != NONE);

    __syncwarp(); /* all lanes have read these places, none of which is behind where they write */
    if (c != NONE) table[at + __popc(has & ((1u << lane) - 1))] = c;
    at += __popc(has);
    __syncwarp(); /* the next places are read before anybody writes there */
  }
  if (lane < (-count & 3)) table[count + lane] = NONE;
  __syncwarp(); /* all of that is there */
}

/*
   A warp a row, four rows of U at a time. Columns are put in order by counting those before each: rows are
   short. list: the rows; NULL: all.
*/
template <int SIZE, int WARPS>
__global__ void __launch_bounds__(32 * WARPS) extend_kernel(SyncILUDeviceExtension x, const int *__restrict__ list, int rows, int *late)
{
  constexpr int      TABLE = 1 << SIZE, ROOM = TABLE / 4 * 3;
  __shared__ int4    tables[WARPS][TABLE / 4];
  const int          lane = (int)threadIdx.x % 32, group = lane / ROW_LANES, sub = lane % ROW_LANES;
  int4 *const        quads   = tables[threadIdx.x / 32];
  int *const         table   = (int *)quads;
  unsigned long long total   = 0;
  int                longest = 0;
  const int *const ptr = x.from.ptr, *const col = x.from.col;

  for (long long r = global_thread() / 32; r < rows; r += all_threads() / 32) {
    const int row = list ? list[r] : (int)r, begin = ptr[row], diag = x.from.diag[row];
    int       count = 0;

    for (int k = lane; k < TABLE / 4; k += 32) quads[k] = int4{NONE, NONE, NONE, NONE};
    __syncwarp(); /* the table is free */
    /* columns from .. end - 1 of a row for each group of lanes */
    auto add = [&](const int *__restrict__ columns, int from, int end, int lanes, int own) {
      for (int e = from + own; __any_sync(FULL, e < end) && count + 32 <= ROOM; e += lanes)
        count += __popc(__ballot_sync(FULL, e < end && insert<SIZE>(table, columns[e])));
      return __any_sync(FULL, end - from > 0) && count + 32 > ROOM;
    };
    bool full = add(col, begin, ptr[row + 1], 32, lane);

    full = full || add(x.firstcol, x.firstptr[row], x.firstptr[row + 1], 32, lane);
    for (int q = begin; q < diag && !full; q += 32 / ROW_LANES) {
      const bool has = q + group < diag;
      const int  k   = has ? col[q + group] : 0;

      full = add(col, has ? x.from.diag[k] + 1 : 0, has ? ptr[k + 1] : 0, ROW_LANES, sub);
    }
    if (full) {
      if (!x.col && lane == 0) late[atomicAdd(&x.found->late, 1)] = row;
    } else if (!x.col) {
      if (lane == 0) x.length[row] = count;
      total += (unsigned)count;
      longest = max(longest, count);
    } else {
      const int first = x.length[row];

      __syncwarp(); /* all columns are in the table */
      compact<SIZE>(table, count);
      for (int k = lane; k < count; k += 32) {
        const int c  = table[k];
        int       to = first;

        for (int q = 0; q < (count + 3) / 4; q++) {
          const int4 other = quads[q];

          to += (other.x < c) + (other.y < c) + (other.z < c) + (other.w < c);
        }
        x.col[to] = c;
        if (c == row) x.diag[row] = to;
      }
    }
    __syncwarp(); /* nobody looks at the table any more */
  }
  if (x.col || lane || !total) return;
  atomicAdd(&x.found->total, total);
  atomicMax(&x.found->longest, longest);
}

/* A block a row, whose columns come in order from a bitmap. */
__global__ void __launch_bounds__(SYNCILU_BLOCK) extend_late_kernel(SyncILUDeviceExtension x, const int *__restrict__ list, int rows, unsigned *bitmaps)
{
  __shared__ int  sum[SYNCILU_BLOCK / 32];
  const int       thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32, numbers = x.from.n / 32 + 1;
  unsigned *const bitmap = bitmaps + (size_t)blockIdx.x * numbers;

  for (int r = (int)blockIdx.x; r < rows; r += (int)gridDim.x) {
    const int row = list[r], begin = x.from.ptr[row], diag = x.from.diag[row];
    int       before = 0;

    for (int k = thread; k < numbers; k += SYNCILU_BLOCK) bitmap[k] = 0;
    __syncthreads(); /* the bitmap is empty */
    auto add = [&](const int *__restrict__ columns, int from, int end, int lanes) {
      for (int e = from; e < end; e += lanes) atomicOr(bitmap + columns[e] / 32, 1u << columns[e] % 32);
    };
    add(x.from.col, begin + thread, x.from.ptr[row + 1], SYNCILU_BLOCK);
    add(x.firstcol, x.firstptr[row] + thread, x.firstptr[row + 1], SYNCILU_BLOCK);
    for (int q = begin + thread / ROW_LANES; q < diag; q += SYNCILU_BLOCK / ROW_LANES) {
      const int k = x.from.col[q];

      add(x.from.col, x.from.diag[k] + 1 + thread % ROW_LANES, x.from.ptr[k + 1], ROW_LANES);
    }
    __syncthreads(); /* all columns are in the bitmap */
    for (int first = 0; first < numbers; first += SYNCILU_BLOCK) {
      const int      k    = first + thread;
      const unsigned bits = k < numbers ? bitmap[k] : 0;
      int            own = __popc(bits), upto = own;

      for (int o = 1; o < 32; o *= 2) {
        const int other = __shfl_up_sync(FULL, upto, o);

        if (lane >= o) upto += other;
      }
      if (lane == 31) sum[warp] = upto;
      __syncthreads(); /* the sums of all warps are there */
      int at = before + upto - own;
      for (int w = 0; w < SYNCILU_BLOCK / 32; w++) {
        if (w < warp) at += sum[w];
        before += sum[w];
      }
      if (x.col) {
        int to = x.length[row] + at;

        for (unsigned rest = bits; rest; rest &= rest - 1) {
          const int c = 32 * k + __ffs((int)rest) - 1;

          x.col[to] = c;
          if (c == row) x.diag[row] = to;
          to++;
        }
      }
      __syncthreads(); /* the sums are used again */
    }
    if (!x.col && thread == 0) {
      x.length[row] = before;
      atomicAdd(&x.found->total, (unsigned long long)before);
      atomicMax(&x.found->longest, before);
    }
  }
}

/*
   Where the numbers of a row stand by their columns: in a table, or in its memory by a search of the pattern.
*/
template <typename V, bool TABLE>
struct RowNumbers {
  V         *value;
  int       *column; /* of the table, or of the pattern */
  const int *columns;
  int        bits, count;

  __device__ __forceinline__ int place(int c) const
  {
    if constexpr (TABLE) {
      int at = hash(c, bits), there = column[at];

      while (there != c && there != NONE) {
        at    = (at + 1) & ((1 << bits) - 1);
        there = column[at];
      }
      return there == NONE ? -1 : at;
    } else return search(columns, 0, count, c);
  }
};

template <typename V, int LG, bool TABLE>
__global__ void row_sweep_kernel(SyncILUDeviceRowSweep s)
{
  constexpr int        T = Shape<LG>::LANES, POLLS = 4;
  const long long      i    = global_thread() >> LG;
  const int            lane = threadIdx.x & 31, sub = lane & (T - 1), head = lane - sub, own = threadIdx.x >> LG;
  const int            row = i < s.to.n ? (int)i : 0, begin = s.to.ptr[row], length = i < s.to.n ? s.to.ptr[row + 1] - begin : 0;
  const bool           active = length > s.least && length <= s.most;
  const int            count = active ? length : 0, places = TABLE ? 1 << s.bits : 0;
  V *const             next  = (V *)s.next + begin;
  const V *const       value = (const V *)s.value;
  RowNumbers<V, TABLE> r;

  if (!__any_sync(FULL, active)) return;
  r.columns = s.to.col + begin;
  r.count   = count;
  r.bits    = s.bits;
  r.value   = next;
  if constexpr (TABLE) {
    extern __shared__ __align__(16) unsigned char shared[];

    r.value  = (V *)shared + (size_t)own * places;
    r.column = (int *)((V *)shared + (size_t)(blockDim.x >> LG) * places) + (size_t)own * places;
  }
  for (int k = sub; k < places / 4; k += T) ((int4 *)r.column)[k] = int4{NONE, NONE, NONE, NONE};
  __syncwarp(); /* the table is free */
  for (int e = sub; e < count; e += T) {
    int at = e;

    if (TABLE) {
      const int c = r.columns[e];

      at = hash(c, s.bits);
      while (atomicCAS(r.column + at, NONE, c) != NONE) at = (at + 1) & (places - 1);
    }
    r.value[at] = V(0);
  }
  __syncwarp(); /* all entries are there, as zeros */
  const int m = active ? (s.row ? s.row[row] : row) : 0, aend = active ? s.aptr[m + 1] : 0;
  for (int e = active ? s.aptr[m] + sub : 0; e < aend; e += T) {
    const int c = s.acol[e], at = r.place(s.colinv ? s.colinv[c] : c);

    if (at >= 0) r.value[at] = (V)s.a[e];
  }
  __syncwarp(); /* the entries of the matrix are */
  const int diag = active ? r.place(row) : 0;
  if (active && sub == 0) r.value[diag] += V(diagonal_shift(s.piv));
  __syncwarp(); /* and the shift */

  /* of T reference rows at a time, a lane each: where their U' begins and ends, and the entry of W */
  const int wbegin = active && value ? s.from.ptr[row] : 0, wcount = active && value ? s.from.diag[row] - wbegin : 0;
  int       from = 0, to = 0, q = 0, at = 0; /* reference row q, at entry at */
  V         w    = V(0);
  auto      look = [&]() {
    const bool has = q + sub < wcount;
    const int  k   = has ? s.from.col[wbegin + q + sub] : 0;

    w    = has ? value[wbegin + q + sub] : V(0);
    from = w != V(0) ? s.from.diag[k] + 1 : 0;
    to   = w != V(0) ? s.from.ptr[k + 1] : 0;
  };
  look();
  while (__any_sync(FULL, q < wcount)) {
    int u[POLLS], column[POLLS], place[POLLS];
    V   l[POLLS], x[POLLS];

#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      const int source = head + (q & (T - 1)), first = __shfl_sync(FULL, from, source) + at, end = __shfl_sync(FULL, to, source);

      l[k] = __shfl_sync(FULL, w, source);
      u[k] = q < wcount && first + sub < end ? first + sub : -1;
      if (q < wcount) {
        at += T;
        if (first + T >= end) {
          at = 0;
          q++;
          if ((q & (T - 1)) == 0) look();
        }
      }
    }
#pragma unroll
    for (int k = 0; k < POLLS; k++) column[k] = u[k] >= 0 ? s.from.col[u[k]] : NONE;
#pragma unroll
    for (int k = 0; k < POLLS; k++) place[k] = column[k] == NONE ? -1 : r.place(column[k]);
#pragma unroll
    for (int k = 0; k < POLLS; k++) x[k] = place[k] >= 0 ? value[u[k]] : V(0);
#pragma unroll
    for (int k = 0; k < POLLS; k++) {
      /* a row without a usable pivot has zeros, which update nothing, whatever they meet */
      if (x[k] != V(0)) r.value[place[k]] -= l[k] * x[k];
      __syncwarp(); /* the terms of one row of U' come before those of the next */
    }
  }
  const V    d      = active ? shifted_pivot(s.piv, r.value[diag]) : V(1);
  const bool usable = d != V(0) && isfinite(d);

  __syncwarp(); /* the pivot is read before its place is written, where that is its own */
  if (active && sub == 0) ((V *)s.pivot)[row] = d;
  for (int e = sub; e < count; e += T) {
    const int c = r.columns[e];
    const V   x = r.value[TABLE ? r.place(c) : e];

    next[e] = c < row ? x : usable && c > row ? x / d : V(0);
  }
}

} // namespace

int SyncILUExtendMost(int size)
{
  return (1 << size) / 4 * 3 - 32;
}

cudaError_t SyncILUKernelExtend(SyncILUDeviceExtension x, int size, const int *list, int rows, int *late, cudaStream_t stream)
{
  constexpr int  SIZE = SYNCILU_SEARCH_TABLE, WARPS = SYNCILU_BLOCK / 32;
  const unsigned grid = few_blocks_for(32ll * rows);

  if (!rows) return cudaSuccess;
  if (size <= SIZE) extend_kernel<SIZE, WARPS><<<grid, SYNCILU_BLOCK, 0, stream>>>(x, list, rows, late);
  else if (size == SIZE + 1) extend_kernel<SIZE + 1, WARPS><<<grid, SYNCILU_BLOCK, 0, stream>>>(x, list, rows, late);
  else extend_kernel<SYNCILU_SEARCH_LATE, WARPS><<<grid, SYNCILU_BLOCK, 0, stream>>>(x, list, rows, late);
  return cudaGetLastError();
}

size_t SyncILUExtendNumbers(int n)
{
  return (size_t)n / 32 + 1;
}

cudaError_t SyncILUKernelExtendLate(SyncILUDeviceExtension x, const int *list, int rows, int bitmaps, unsigned *bitmap, cudaStream_t stream)
{
  if (rows) extend_late_kernel<<<(unsigned)bitmaps, SYNCILU_BLOCK, 0, stream>>>(x, list, rows, bitmap);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelRowSweep(SyncILUValueType type, SyncILUDeviceRowSweep s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  if (!s.to.n) return cudaSuccess;
  if (!s.bits) {
    row_sweep_kernel<double, 5, false><<<blocks_for(32ll * s.to.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(s);
    return cudaGetLastError();
  }
  const size_t row = (sizeof(double) + sizeof(int)) << s.bits;
  while (s.lanes < 5 && (32u >> s.lanes) * row > SYNCILU_SHARED_BYTES) s.lanes++; /* the rows of a warp fit */
  return with_lanes(s.lanes, [&](auto lg) {
    int block = SYNCILU_BLOCK;

    while (block > 32 && (size_t)(block >> lg) * row > SYNCILU_SHARED_BYTES) block /= 2;
    row_sweep_kernel<double, lg, true><<<blocks_for((long long)s.to.n << lg, block), block, (size_t)(block >> lg) * row, stream>>>(s);
    return cudaGetLastError();
  });
}
