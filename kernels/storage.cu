/*
   Storage in slices: rows in the order in which they are taken, 32 lanes a slice.
*/
#include "storage.h"
#include "entries.cuh"
#include "one_block.cuh"
#include "tuning.h"
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

__device__ __forceinline__ int length(const SyncILUDeviceTriangle &t, int i)
{
  return t.end[i] - t.begin[i] - t.skip;
}

/* Long rows have a whole warp each. With SYNCILU_LANES_BY_LENGTH a row has about as many lanes as entries. */
__device__ __forceinline__ int lanes_of(const SyncILUDeviceTriangle &t, int i, int lanes, int limit)
{
  const int count = length(t, i);

  if (lanes != SYNCILU_LANES_BY_LENGTH) return count > limit ? 5 : lanes;
  return count > 1 ? min(5, 32 - __clz(count - 1)) : 0;
}

__global__ void longest_kernel(SyncILUDeviceTriangle t, int *longest)
{
  int most = 0;

  for (long long i = global_thread(); i < t.n; i += all_threads()) most = max(most, length(t, (int)i));
  most = __reduce_max_sync(FULL, most);
  if ((threadIdx.x & 31) == 0 && most > load_stale(longest)) atomicMax(longest, most);
}

__global__ void lengths_kernel(SyncILUDeviceTriangle t, int *over)
{
  int rows[SYNCILU_LENGTHS] = {0};

  for (long long i = global_thread(); i < t.n; i += all_threads()) {
    const int len = length(t, (int)i);

#pragma unroll
    for (int k = 0; k < SYNCILU_LENGTHS; k++) rows[k] += len > SYNCILU_POLLS << k;
  }
#pragma unroll
  for (int k = 0; k < SYNCILU_LENGTHS; k++) {
    const int sum = __reduce_add_sync(FULL, rows[k]);

    if ((threadIdx.x & 31) == 0 && sum) atomicAdd(over + k, sum);
  }
}

__global__ void row_lengths_kernel(SyncILUDeviceTriangle t, int *__restrict__ row_length)
{
  const long long i = global_thread();

  if (i < t.n) row_length[i] = length(t, (int)i);
}

/*
   The level, and behind it how wide the row makes its slice: rows of a slice had better be of one width,
   since the widest makes room for all. Long rows come last.
*/
__device__ __forceinline__ int slice_key(const SyncILUDeviceTriangle &t, int i, int lanes, int limit, int level)
{
  const int len = length(t, i), wide = (len + (1 << lanes) - 1) >> lanes;

  return level << SYNCILU_WIDTH_BITS | (len > limit ? (1 << SYNCILU_WIDTH_BITS) - 1 : min(wide, (1 << SYNCILU_WIDTH_BITS) - 2));
}

__global__ void slice_keys_kernel(SyncILUDeviceTriangle t, int lanes, int limit, const int *level, int *key)
{
  const long long i = global_thread();

  if (i < t.n) key[i] = slice_key(t, (int)i, lanes, limit, level[i]);
}

/*
   Where a group of rows begins that may share slices: of equal number of lanes and, where keys are given, of
   one key but for its lowest bits.
*/
__global__ void group_starts_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, const int *__restrict__ key, int bits, int lanes, int limit,
                                    int *__restrict__ start)
{
  const long long p = global_thread();

  if (p >= t.n) return;
  const bool begins = p == 0 || (key && key[p] >> bits != key[p - 1] >> bits) || lanes_of(t, order[p], lanes, limit) != lanes_of(t, order[p - 1], lanes, limit);
  start[p]          = begins ? (int)p : 0;
}

__global__ void slice_flags_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, int lanes, int limit, int *__restrict__ start)
{
  const long long p = global_thread();

  if (p < t.n) start[p] = ((int)p - start[p]) % (32 >> lanes_of(t, order[p], lanes, limit)) == 0;
}

__global__ void slice_first_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, int lanes, int limit, const int *__restrict__ flag,
                                   const int *__restrict__ index, SyncILUSlice *slice, int *count)
{
  const long long p = global_thread();

  if (p >= t.n) return;
  if (flag[p]) {
    SyncILUSlice s;

    s.offset        = 0;
    s.first         = (int)p;
    s.width         = 0;
    s.shape         = lanes_of(t, order[p], lanes, limit);
    slice[index[p]] = s;
  }
  if (p == t.n - 1) *count = index[p] + flag[p];
}

constexpr int GROUP = 8; /* a bit above the logarithm of the lanes */

/*
   For one block: of each position the lanes of its row, and in the next bit whether a group begins there. Where levels
   are asked for, it finds where they begin. The two triangles are blockIdx.y here and in few_widths_kernel, blockIdx.x
   where one block has a triangle.
*/
__global__ void group_codes_kernel(SyncILUCut lower, SyncILUCut upper, unsigned char *__restrict__ code)
{
  const SyncILUCut &c = blockIdx.y ? upper : lower;
  const int         n = c.rows.n;
  const long long   p = global_thread();

  if (p >= n) return;
  const int  own = lanes_of(c.rows, c.order[p], c.lanes, c.limit);
  const int  of = c.key ? c.key[p] >> c.bits : 0, before = c.key && p ? c.key[p - 1] >> c.bits : c.first_level - 1;
  const bool changes               = c.key && of != before;
  const bool begins                = p == 0 || changes || own != lanes_of(c.rows, c.order[p - 1], c.lanes, c.limit);
  code[(size_t)blockIdx.y * n + p] = (unsigned char)(own | (begins ? GROUP : 0));
  if (c.position) c.position[c.order[p]] = (int)p;
  if (!c.start) return;
  for (int l = before + 1; l <= of; l++) c.start[l - c.first_level] = (int)p; /* some may be empty */
  for (int l = of + 1; p == n - 1 && l <= c.first_level + c.levels; l++) c.start[l - c.first_level] = n;
  if (p == 0) *c.width = 0; /* for few_widths_kernel */
}

/*
   What the next three kernels do, and slice_rows_kernel, for at most SYNCILU_ONE_BLOCK_ROWS rows. Each warp
   goes through its positions three times: for the last group that begins in them, for the slices, which begin
   at every so many positions of a group, and to write these. The codes are read the first time, and left in shared
   memory, a bit a position each, since a block alone waits long for memory.
*/
__global__ void __launch_bounds__(ONE_BLOCK) slices_kernel(SyncILUCut lower, SyncILUCut upper, const unsigned char *__restrict__ codes)
{
  __shared__ unsigned  begins[SYNCILU_ONE_BLOCK_ROWS / 32]; /* groups, and then slices */
  __shared__ unsigned  bit[3][SYNCILU_ONE_BLOCK_ROWS / 32]; /* of the logarithms of the lanes */
  __shared__ int       all;
  const SyncILUCut    &c     = blockIdx.x ? upper : lower;
  const int            n     = c.rows.n;
  const unsigned char *code  = codes + (size_t)blockIdx.x * n;
  SyncILUSlice *const  slice = c.slice;
  const int            lane = threadIdx.x & 31, first = first_of_warp(n), end = end_of_warp(n);
  int                  start = 0, found = 0;
  auto                 lanes = [&](int w) { return (int)(bit[0][w] >> lane & 1) | (int)(bit[1][w] >> lane & 1) << 1 | (int)(bit[2][w] >> lane & 1) << 2; };

  each_of_warp(
    first, end, [&](int p) { return (int)code[p]; },
    [&](int q, int own) {
      const unsigned some = __ballot_sync(FULL, (own & GROUP) != 0);
      unsigned       word[3];

      for (int k = 0; k < 3; k++) word[k] = __ballot_sync(FULL, own >> k & 1);
      if (some) start = q + 31 - __clz((int)some);
      if (lane) return;
      begins[q / 32] = some;
      for (int k = 0; k < 3; k++) bit[k][q / 32] = word[k];
    });
  start = of_warps_before(start, 0, [](int a, int b) { return max(a, b); });
  for (int q = first; q < end; q += 32) {
    const unsigned groups = begins[q / 32], mine = groups & (0xffffffffu >> (31 - lane));
    const int      from = mine ? q + 31 - __clz((int)mine) : start;
    const unsigned some = __ballot_sync(FULL, q + lane < end && ((q + lane - from) & ((32 >> lanes(q / 32)) - 1)) == 0);

    if (groups) start = q + 31 - __clz((int)groups);
    __syncwarp(); /* all lanes have read the groups that slices come in the place of */
    if (lane == 0) begins[q / 32] = some;
    found += __popc(some);
  }
  int at = of_warps_before(found, 0, [](int a, int b) { return a + b; });
  if (threadIdx.x == ONE_BLOCK - 1) {
    all      = at + found;
    *c.count = all;
  }
  for (int q = first; q < end; q += 32) {
    const unsigned some = begins[q / 32];

    if (some >> lane & 1) {
      SyncILUSlice s;

      s.offset = 0;
      s.first  = q + lane;
      s.width  = 0;
      s.shape  = lanes(q / 32);

      slice[at + __popc(some & ((1u << lane) - 1))] = s;
    }
    at += __popc(some);
  }
  __syncthreads(); /* slices that other warps have written */
  for (int s = threadIdx.x; s < all; s += ONE_BLOCK) slice[s].shape |= ((s + 1 < all ? slice[s + 1].first : n) - slice[s].first) << 3;
}

/* A slice ends where the next one begins. */
__global__ void slice_rows_kernel(int n, int slices, SyncILUSlice *slice)
{
  const long long s = global_thread();

  if (s >= slices) return;
  slice[s].shape |= ((s + 1 < slices ? slice[s + 1].first : n) - slice[s].first) << 3;
}

/* How wide the slice of this warp is; into the slice, and as what it adds to the offsets. */
__device__ __forceinline__ int slice_width(const SyncILUDeviceTriangle &t, const int *__restrict__ order, bool packed, SyncILUSlice *slice)
{
  const int          lane  = threadIdx.x & 31;
  const SyncILUSlice d     = *slice;
  const int          lanes = 1 << (d.shape & 7), rows = d.shape >> 3;
  const int          w = __reduce_max_sync(FULL, lane < rows ? (length(t, order[d.first + lane]) + lanes - 1) / lanes : 0);

  __syncwarp(); /* all lanes have read the slice */
  if (lane == 0) slice->width = w;
  return packed ? w * (packed_lanes(d) / SYNCILU_PACK) : w;
}

__global__ void slice_widths_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, bool packed, int slices, SyncILUSlice *slice,
                                    int *__restrict__ width)
{
  const long long s = global_thread() >> 5;

  if (s >= slices) return;
  const int w = slice_width(t, order, packed, slice + s);
  if ((threadIdx.x & 31) == 0) width[s] = w;
}

/*
   For so few slices that it does not matter that most warps have none; offset is where the next kernel looks. Where
   levels are asked for, it finds the most rows of one too.
*/
__global__ void few_widths_kernel(SyncILUCut lower, SyncILUCut upper, bool packed)
{
  const SyncILUCut &c   = blockIdx.y ? upper : lower;
  const int         all = *c.count, lane = threadIdx.x & 31;

  for (long long s = global_thread() >> 5; s < all; s += all_threads() >> 5) {
    const int w = slice_width(c.rows, c.order, packed, c.slice + s);

    if (lane == 0) c.slice[s].offset = w;
  }
  for (long long first = global_thread() - lane; c.start && first < c.levels; first += all_threads()) {
    const long long l    = first + lane;
    const int       most = __reduce_max_sync(FULL, l < c.levels ? c.start[l + 1] - c.start[l] : 0);

    if (lane == 0) atomicMax(c.width, most);
  }
}

/*
   Offsets in place of the widths that are there; count has the slices, and gets the sum of the widths behind.
*/
__global__ void __launch_bounds__(ONE_BLOCK) few_offsets_kernel(SyncILUSlice *lower, int *lower_count, SyncILUSlice *upper, int *upper_count)
{
  SyncILUSlice *const slice = blockIdx.x ? upper : lower;
  int *const          count = blockIdx.x ? upper_count : lower_count;
  const int           sum   = offsets_in_block(
                *count, [=](int s) { return slice[s].offset; }, [=](int s, int offset) { slice[s].offset = offset; });

  if (threadIdx.x == ONE_BLOCK - 1) count[1] = sum;
}

/* For two triangles that are sorted together: as slice_keys_kernel, and U behind L. */
__global__ void both_keys_kernel(SyncILUCut lower, SyncILUCut upper, const int *__restrict__ levelL, const int *__restrict__ levelU, int *__restrict__ key,
                                 int *__restrict__ row)
{
  const SyncILUCut &c = blockIdx.y ? upper : lower;
  const long long   i = global_thread();

  if (i >= c.rows.n) return;
  const long long at = blockIdx.y * (long long)c.rows.n + i;
  key[at]            = slice_key(c.rows, (int)i, c.lanes, c.limit, c.first_level + (blockIdx.y ? levelU : levelL)[i]);
  row[at]            = (int)i;
}

__global__ void slice_offsets_kernel(int slices, SyncILUSlice *slice, const int *__restrict__ offset)
{
  const long long s = global_thread();

  if (s < slices) slice[s].offset = offset[s];
}

__global__ void long_slices_kernel(SyncILUDeviceTriangle t, const int *__restrict__ order, int limit, int slices, SyncILUSlice *slice)
{
  const long long s = global_thread();

  if (s < slices && slice[s].shape >> 3 == 1 && length(t, order[slice[s].first]) > limit) slice[s].shape = 5 | 1 << 3;
}

/* In how many parts the row of a slice is shared by several warps; 0 if it is not. */
__device__ __forceinline__ int parts_of(const SyncILUSlice &d, int most)
{
  return (d.shape & 7) == 5 && d.width > most ? (d.width - 1) / SYNCILU_PART + 1 : 0;
}

__global__ void task_counts_kernel(int slices, const SyncILUSlice *__restrict__ slice, int most, int *__restrict__ count)
{
  const long long s = global_thread();

  if (s < slices) count[s] = parts_of(slice[s], most) + 1;
}

/*
   Every slice has one task and one more for each part, so the parts before it are as many as its offset is
   beyond its number.
*/
__global__ void tasks_kernel(int slices, const SyncILUSlice *__restrict__ slice, bool packed, int most, const int *__restrict__ offset,
                             SyncILUSlice *__restrict__ task)
{
  const long long s    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (s >= slices) return;
  const SyncILUSlice d     = slice[s];
  const int          parts = parts_of(d, most), at = offset[s], number = at - (int)s;
  for (int k = lane; k <= parts; k += 32) {
    SyncILUSlice p = d;

    if (k < parts) {
      p.offset = d.offset + k * SYNCILU_PART * (packed ? 32 / SYNCILU_PACK : 1);
      p.width  = min(SYNCILU_PART, d.width - k * SYNCILU_PART);
      p.shape  = SYNCILU_TASK_PART | (number + k) << 3;
    } else if (parts) {
      p.offset = number;
      p.width  = 0;
      p.shape  = SYNCILU_TASK_ROW | parts << 3;
    }
    task[at + k] = p;
  }
}

__global__ void ell_columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *__restrict__ inverse, int *__restrict__ col)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? t.end[l.row] : 0;
  int           e   = l.full ? t.begin[l.row] + t.skip + l.first : 0;

  for (int w = 0; w < l.width; w++, e += l.step) col[l.entry(w)] = e < end ? inverse[t.col[e]] : -1;
}

__global__ void late_entries_kernel(SyncILUDeviceEll ell, SyncILULate *__restrict__ late)
{
  const long long s = global_thread() >> 5;

  if (s >= ell.slices) return;
  const SyncILUSlice d    = ell.slice[s];
  const int          lane = threadIdx.x & 31, lg = d.shape & 7, lanes = 1 << lg;
  int                later = INT_MAX; /* the position found before */

  for (int l = 0; l < SYNCILU_LATE; l++) {
    int latest = -1, which = -1;

    for (int w = 0; w < d.width; w++) {
      const int c = lane < packed_lanes(d) ? ell.col[packed_entry(d, lane, w)] : -1;

      if (c < later && c > latest) {
        latest = c;
        which  = (w << lg) + (lane & (lanes - 1));
      }
    }
    later = max_of_row(latest, lanes);
    which = max_of_row(latest == later ? which : -1, lanes);
    if (lane >> lg < d.shape >> 3 && !(lane & (lanes - 1))) late[d.first + (lane >> lg)].entry[l] = (unsigned char)(which < UCHAR_MAX ? which + 1 : 0);
  }
}

__global__ void columns_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *__restrict__ diag, int *__restrict__ col)
{
  const EllLane l   = ell_lane(ell);
  const int     end = l.full ? t.end[l.row] : 0;
  int           e   = l.full ? t.begin[l.row] + t.skip + l.first : 0;

  if (l.full && diag && l.first == 0) col[diag[l.row]] = l.row;
  for (int w = 0; w < l.width && e < end; w++, e += l.step) col[e] = ell.order[ell.col[l.entry(w)]];
}

__global__ void row_begins_kernel(SyncILUDeviceEll ell, unsigned *__restrict__ begin, unsigned char *__restrict__ stride)
{
  const EllLane l = ell_lane(ell);

  if (!l.full || l.first) return;
  begin[l.row] = (unsigned)l.entry(0);
  if (stride) stride[l.row] = (unsigned char)packed_lanes(l.slice);
}

/* Values of a triangle in sliced ELL, from where its rows stand. */
template <typename V>
__global__ void fill_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, SyncILUDeviceRows rows)
{
  const EllLane l     = ell_lane(ell);
  const int     begin = l.full ? row_begin(t, rows, l.row) : 0, end = l.full ? begin + length(t, l.row) : 0;
  const V       inverse = l.full && rows.divisor ? V(1) / ((const V *)rows.divisor)[l.row] : V(1);
  int           e       = begin + l.first;

  for (int w = 0; w < l.width; w++, e += l.step) {
    V x = 0;

    if (e < end) {
      x = value<V>(rows.values, t.src ? t.src[e] : e);
      if (rows.divisor) x *= inverse;
    }
    ((V *)ell.val)[l.entry(w)] = x;
  }
}

/* The other way round: the values of sliced ELL on the pattern. */
template <typename V>
__global__ void gather_kernel(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, V *__restrict__ val)
{
  const EllLane l     = ell_lane(ell);
  const int     count = l.full ? length(t, l.row) : 0, begin = l.full ? t.begin[l.row] + t.skip : 0;
  int           q = l.first;

  for (int w = 0; w < l.width && q < count; w++, q += l.step) val[t.src ? t.src[begin + q] : begin + q] = ((const V *)ell.val)[l.entry(w)];
}

/* Values of a triangle on the pattern, from where its rows stand. */
template <typename V>
__global__ void place_kernel(SyncILUDeviceTriangle t, SyncILUDeviceRows rows, V *__restrict__ val)
{
  const long long g = global_thread();
  const int       i = (int)(g / ROW_LANES);

  if (g / ROW_LANES >= t.n) return;
  const V   inverse = rows.divisor ? V(1) / ((const V *)rows.divisor)[i] : V(1);
  const int begin = t.begin[i] + t.skip, count = length(t, i), from = row_begin(t, rows, i);
  for (int q = (int)(g % ROW_LANES); q < count; q += ROW_LANES) {
    const V x = value<V>(rows.values, from + q);

    val[begin + q] = rows.divisor ? x * inverse : x;
  }
}

/* A triangle that is cut by itself, without levels. */
SyncILUCut cut_of(const SyncILUDeviceTriangle &t, const int *order, const int *key, int bits, int lanes, int limit, SyncILUSlice *slice, int *count)
{
  SyncILUCut c = SyncILUCut();

  c.rows  = t;
  c.order = order;
  c.key   = key;
  c.bits  = bits;
  c.lanes = lanes;
  c.limit = limit;
  c.slice = slice;
  c.count = count;
  return c;
}

/* A warp a slice, and more for slices that a long row makes wide. */
dim3 slice_blocks(const SyncILUDeviceTriangle &t, const SyncILUDeviceEll &ell)
{
  const int parts = (t.longest / 32 - 1) / SYNCILU_PART_WIDE + 1;

  return dim3(blocks_for(32ll * ell.slices, SYNCILU_BLOCK), (unsigned)(parts < SYNCILU_PART_BLOCKS ? parts : SYNCILU_PART_BLOCKS));
}

} // namespace

/* What the launchers of kernels on slices do. */
#define LAUNCH_SLICES(kernel, t, ell, stream, ...) \
  do { \
    if ((ell).slices) kernel<<<slice_blocks(t, ell), SYNCILU_BLOCK, 0, stream>>>(__VA_ARGS__); \
    return cudaGetLastError(); \
  } while (0)

cudaError_t SyncILUKernelRowLengths(SyncILUDeviceTriangle t, int *length, cudaStream_t stream)
{
  LAUNCH(row_lengths_kernel, t.n, stream, t, length);
}

cudaError_t SyncILUKernelLongest(SyncILUDeviceTriangle t, int *longest, cudaStream_t stream)
{
  if (t.n) longest_kernel<<<few_blocks_for(t.n), SYNCILU_BLOCK, 0, stream>>>(t, longest);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLengths(SyncILUDeviceTriangle t, int *over, cudaStream_t stream)
{
  if (t.n) lengths_kernel<<<few_blocks_for(t.n), SYNCILU_BLOCK, 0, stream>>>(t, over);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSliceKeys(SyncILUDeviceTriangle t, int lanes, int limit, const int *level, int *key, cudaStream_t stream)
{
  LAUNCH(slice_keys_kernel, t.n, stream, t, lanes, limit, level, key);
}

cudaError_t SyncILUKernelSlices(void *workspace, size_t *bytes, SyncILUDeviceTriangle t, const int *order, const int *key, int bits, int lanes, int limit,
                                SyncILUSlice *slice, int *count, cudaStream_t stream)
{
  const size_t array = round_up((size_t)t.n * sizeof(int));
  int *const start = (int *)workspace, *const index = (int *)((char *)workspace + array);
  size_t      scan_bytes = 0, sum_bytes = 0;
  cudaError_t err;

  if (!workspace && t.n <= SYNCILU_ONE_BLOCK_ROWS) {
    *bytes = (size_t)t.n;
    return cudaSuccess;
  }
  if (!workspace) {
    err = cub::DeviceScan::InclusiveScan(nullptr, scan_bytes, start, start, cuda::maximum<int>(), t.n, stream);
    if (err == cudaSuccess) err = cub::DeviceScan::ExclusiveSum(nullptr, sum_bytes, start, index, t.n, stream);
    *bytes = 2 * array + (scan_bytes > sum_bytes ? scan_bytes : sum_bytes);
    return err;
  }
  if (!t.n) return cudaMemsetAsync(count, 0, sizeof(*count), stream);
  if (t.n <= SYNCILU_ONE_BLOCK_ROWS) {
    unsigned char *const code = (unsigned char *)workspace;
    const SyncILUCut     cut  = cut_of(t, order, key, bits, lanes, limit, slice, count);

    group_codes_kernel<<<blocks_for(t.n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(cut, cut, code);
    CHECK_LAUNCH();
    slices_kernel<<<1, ONE_BLOCK, 0, stream>>>(cut, cut, code);
    return cudaGetLastError();
  }
  scan_bytes          = *bytes - 2 * array;
  const unsigned grid = blocks_for(t.n, SYNCILU_BLOCK);
  void *const    temp = (char *)workspace + 2 * array;
  group_starts_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(t, order, key, bits, lanes, limit, start);
  CHECK_LAUNCH();
  err = cub::DeviceScan::InclusiveScan(temp, scan_bytes, start, start, cuda::maximum<int>(), t.n, stream);
  if (err != cudaSuccess) return err;
  slice_flags_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(t, order, lanes, limit, start);
  CHECK_LAUNCH();
  err = cub::DeviceScan::ExclusiveSum(temp, scan_bytes, start, index, t.n, stream);
  if (err != cudaSuccess) return err;
  slice_first_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(t, order, lanes, limit, start, index, slice, count);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSliceRows(int n, int slices, SyncILUSlice *slice, cudaStream_t stream)
{
  if (n <= SYNCILU_ONE_BLOCK_ROWS) return cudaSuccess; /* slices_kernel has done it */
  LAUNCH(slice_rows_kernel, slices, stream, n, slices, slice);
}

cudaError_t SyncILUKernelSliceWidths(SyncILUDeviceTriangle t, const int *order, int packed, int slices, SyncILUSlice *slice, int *width, cudaStream_t stream)
{
  LAUNCH(slice_widths_kernel, 32ll * slices, stream, t, order, packed != 0, slices, slice, width);
}

cudaError_t SyncILUKernelSliceOffsets(int slices, const int *offset, SyncILUSlice *slice, cudaStream_t stream)
{
  LAUNCH(slice_offsets_kernel, slices, stream, slices, slice, offset);
}

cudaError_t SyncILUKernelSliceStorage(SyncILUDeviceTriangle t, const int *order, int packed, SyncILUSlice *slice, int *count, cudaStream_t stream)
{
  const SyncILUCut cut = cut_of(t, order, NULL, 0, 0, 0, slice, count);

  few_widths_kernel<<<t.n ? few_blocks_for(8ll * t.n) : 1, SYNCILU_BLOCK, 0, stream>>>(cut, cut, packed != 0);
  CHECK_LAUNCH();
  return SyncILUKernelSliceOffsetsFew(slice, count, stream);
}

cudaError_t SyncILUKernelSliceOffsetsFew(SyncILUSlice *slice, int *count, cudaStream_t stream)
{
  few_offsets_kernel<<<1, ONE_BLOCK, 0, stream>>>(slice, count, slice, count);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelSlicesOfBoth(void *workspace, size_t *bytes, const SyncILUCut *of, const int *const *level, int packed, int *key, int *row,
                                      cudaStream_t stream)
{
  SyncILUCut   cut[2] = {of[0], of[1]};
  const int    n = cut[0].rows.n, levels = cut[0].levels > cut[1].levels ? cut[0].levels : cut[1].levels;
  const int    last  = ((cut[0].levels + cut[1].levels) << SYNCILU_WIDTH_BITS) | ((1 << SYNCILU_WIDTH_BITS) - 1);
  const size_t array = round_up(2 * (size_t)n * sizeof(int)), codes = round_up(2 * (size_t)n);
  const dim3   both(blocks_for(n, SYNCILU_BLOCK), 2);
  int *const unsorted = (int *)workspace, *const rows = (int *)((char *)workspace + array);
  size_t      sort_bytes = 0;
  cudaError_t err;

  if (!workspace) {
    err    = cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, unsorted, key, rows, row, 2 * n, 0, SyncILUBits(last), stream);
    *bytes = 2 * array + codes + sort_bytes;
    return err;
  }
  if (!n || n > SYNCILU_ONE_BLOCK_ROWS || levels > (INT_MAX >> (SYNCILU_WIDTH_BITS + 2))) return cudaErrorInvalidValue;
  unsigned char *const code = (unsigned char *)workspace + 2 * array;
  sort_bytes                = *bytes - 2 * array - codes;
  cut[1].first_level        = cut[0].levels;
  for (int k = 0; k < 2; k++) {
    cut[k].order = row + k * (size_t)n;
    cut[k].key   = key + k * (size_t)n;
  }
  both_keys_kernel<<<both, SYNCILU_BLOCK, 0, stream>>>(cut[0], cut[1], level[0], level[1], unsorted, rows);
  CHECK_LAUNCH();
  err = cub::DeviceRadixSort::SortPairs(code + codes, sort_bytes, unsorted, key, rows, row, 2 * n, 0, SyncILUBits(last), stream);
  if (err != cudaSuccess) return err;
  group_codes_kernel<<<both, SYNCILU_BLOCK, 0, stream>>>(cut[0], cut[1], code);
  CHECK_LAUNCH();
  slices_kernel<<<2, ONE_BLOCK, 0, stream>>>(cut[0], cut[1], code);
  CHECK_LAUNCH();
  few_widths_kernel<<<dim3(few_blocks_for(8ll * n), 2), SYNCILU_BLOCK, 0, stream>>>(cut[0], cut[1], packed != 0);
  CHECK_LAUNCH();
  few_offsets_kernel<<<2, ONE_BLOCK, 0, stream>>>(cut[0].slice, cut[0].count, cut[1].slice, cut[1].count);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelLongSlices(SyncILUDeviceTriangle t, const int *order, int limit, int slices, SyncILUSlice *slice, cudaStream_t stream)
{
  LAUNCH(long_slices_kernel, slices, stream, t, order, limit, slices, slice);
}

cudaError_t SyncILUKernelTaskCounts(int slices, const SyncILUSlice *slice, int most, int *count, cudaStream_t stream)
{
  LAUNCH(task_counts_kernel, slices, stream, slices, slice, most, count);
}

cudaError_t SyncILUKernelTasks(int slices, const SyncILUSlice *slice, int packed, int most, const int *offset, SyncILUSlice *task, cudaStream_t stream)
{
  LAUNCH(tasks_kernel, 32ll * slices, stream, slices, slice, packed != 0, most, offset, task);
}

cudaError_t SyncILUKernelEllColumns(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *inverse, int *col, cudaStream_t stream)
{
  LAUNCH_SLICES(ell_columns_kernel, t, ell, stream, t, ell, inverse, col);
}

cudaError_t SyncILUKernelLateEntries(SyncILUDeviceEll ell, SyncILULate *late, cudaStream_t stream)
{
  LAUNCH(late_entries_kernel, 32ll * ell.slices, stream, ell, late);
}

cudaError_t SyncILUKernelColumns(SyncILUDeviceTriangle t, SyncILUDeviceEll ell, const int *diag, int *col, cudaStream_t stream)
{
  LAUNCH_SLICES(columns_kernel, t, ell, stream, t, ell, diag, col);
}

cudaError_t SyncILUKernelRowBegins(SyncILUDeviceEll ell, unsigned *begin, unsigned char *stride, cudaStream_t stream)
{
  LAUNCH(row_begins_kernel, 32ll * ell.slices, stream, ell, begin, stride);
}

cudaError_t SyncILUKernelFill(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceEll ell, SyncILUDeviceRows rows, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH_SLICES(fill_kernel<double>, t, ell, stream, t, ell, rows);
}

cudaError_t SyncILUKernelGatherValues(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceEll ell, void *val, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH_SLICES(gather_kernel<double>, t, ell, stream, t, ell, (double *)val);
}

cudaError_t SyncILUKernelPlaceValues(SyncILUValueType type, SyncILUDeviceTriangle t, SyncILUDeviceRows rows, void *val, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(place_kernel<double>, (long long)t.n * ROW_LANES, stream, t, rows, (double *)val);
}
