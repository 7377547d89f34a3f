/*
   Matrices of a grid: whether a pattern is one, and values to and from their storage.
*/
#include "struct.cuh"
#include "entries.cuh"

using namespace syncilu;

namespace
{

__global__ void longest_row_kernel(SyncILUDevicePattern p, int longest, SyncILUStencil *s)
{
  for (long long i = global_thread(); i < p.n; i += all_threads())
    if (p.ptr[i + 1] - p.ptr[i] == longest && i < load_stale(&s->row)) atomicMin(&s->row, (int)i);
}

__global__ void stencil_kernel(SyncILUDevicePattern p, int longest, SyncILUStencil *s)
{
  const int row = s->row;

  if (threadIdx.x == 0) s->count = longest;
  if (threadIdx.x == 0) s->lower = p.diag[row] - p.ptr[row];
  if ((int)threadIdx.x < longest) s->offset[threadIdx.x] = p.col[p.ptr[row] + threadIdx.x] - row;
}

__device__ __forceinline__ void locate(const SyncILULines &g, int row, int *at)
{
  for (int c = 0; c < 3; c++) at[c] = row / g.stride[c] % g.points[c];
}

__global__ void levels_kernel(SyncILULines g, int n, int *__restrict__ level)
{
  const long long i = global_thread();

  if (i >= n) return;
  int at[3];
  locate(g, (int)i, at);
  level[i] = at[0] + g.level[0] * (at[1] + g.skew * at[2]) + g.level[1] * at[2];
}

/*
   Quotients by a number that is the same for all, of numbers below 2^31: half a step beside a whole one is
   more than rounding can make of it.
*/
struct Divisor {
  int    number;
  double inverse;

  __device__ __forceinline__     Divisor(int d) : number(d), inverse(1.0 / d) { }
  __device__ __forceinline__ int of(int i) const { return (int)((i + 0.5) * inverse); }
};

/* Where rows stand on a grid. */
struct Numbering {
  Divisor dof, line, plane;

  __device__ __forceinline__      Numbering(const SyncILUGrid &g) : dof(g.dof), line(g.points[0]), plane(g.points[0] * g.points[1]) { }
  __device__ __forceinline__ void at(int row, int *where) const
  {
    const int point = dof.number > 1 ? dof.of(row) : row, z = plane.of(point), rest = point - z * plane.number, y = line.of(rest);

    where[0] = rest - y * line.number;
    where[1] = y;
    where[2] = z;
  }
};

/* The bit of a point that is allowed, -1 of others. */
__device__ __forceinline__ int allowed_bit(const unsigned *may, const int *d)
{
  for (int c = 0; c < 3; c++)
    if (abs(d[c]) > SYNCILU_STRUCT_REACH) return -1;
  const int bit = SyncILUGridBit(d[0], d[1], d[2]);
  return may[bit >> 5] >> (bit & 31) & 1 ? bit : -1;
}

/*
   Each block collects the points of its rows, and adds to those of all what these do not have yet; a bit that
   is missed on the way is only set once more.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  grid_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ col, SyncILUGrid g, const unsigned *__restrict__ allowed, SyncILUGridEntries *found)
{
  __shared__ unsigned seen[SYNCILU_GRID_WORDS], may[SYNCILU_GRID_WORDS];
  const Numbering     numbering(g);
  unsigned long long  odd    = ~0ull;
  unsigned            around = 0;

  for (int w = threadIdx.x; w < SYNCILU_GRID_WORDS; w += blockDim.x) {
    seen[w] = 0;
    may[w]  = allowed ? allowed[w] : ~0u;
  }
  __syncthreads(); /* both are there before the first row */
  for (long long i = global_thread(); i < n; i += all_threads()) {
    int here[3];

    numbering.at((int)i, here);
    for (int k = ptr[i], end = ptr[i + 1]; k < end; k++) {
      const int j = col[k];
      int       d[3];
      unsigned  ends = 0;

      numbering.at(j, d);
      for (int c = 0; c < 3; c++) d[c] -= here[c];
      int bit = allowed_bit(may, d);
      if (bit < 0) {
        for (int c = 0; c < 3; c++) {
          if (abs(d[c]) <= g.points[c] / 2) continue;
          d[c] += d[c] < 0 ? g.points[c] : -g.points[c];
          ends |= 1u << c;
        }
        bit = allowed_bit(may, d);
        if (bit >= 0) around |= ends;
        else odd = min(odd, (unsigned long long)i << 32 | (unsigned)j);
      } else if (!(seen[bit >> 5] >> (bit & 31) & 1)) atomicOr(&seen[bit >> 5], 1u << (bit & 31));
    }
  }
  if (around) atomicOr(&found->around, around);
  if (odd != ~0ull) atomicMin(&found->odd, odd);
  __syncthreads(); /* all rows of the block have been seen */
  for (int w = threadIdx.x; w < SYNCILU_GRID_WORDS; w += blockDim.x)
    if (seen[w]) atomicOr(&found->seen[w], seen[w]);
}

/*
   Which points rows have, on the grid as it is numbered. Columns ascend, and so do the points that are on the
   grid, which all entries are at.
*/
__global__ void holes_kernel(SyncILUDevicePattern p, SyncILUGrid g, SyncILUStencil s, int *__restrict__ present)
{
  const long long i = global_thread();

  if (i >= p.n) return;
  const int end = p.ptr[i + 1];
  int       q = p.ptr[i], bits = 0, at[3];

  Numbering(g).at((int)i, at);
  for (int k = 0; k < s.count && q < end; k++) {
    if (!inside(g.points, at, s.point[k][0], s.point[k][1], s.point[k][2]) || p.col[q] != (int)i + s.offset[k]) continue;
    if (k != s.lower) bits |= 1 << SyncILUStencilBit(k > s.lower, k > s.lower ? k - s.lower - 1 : k);
    q++;
  }
  present[i] = bits;
}

template <typename V>
__global__ void values_kernel(SyncILUDeviceStruct m, SyncILUDeviceTriangle t, SyncILUDeviceRows rows, const V *__restrict__ d)
{
  const StructLane l = struct_lane(m);

  if (l.row < 0) return; /* zeros are there */
  const unsigned mask    = m.transposed ? 0 : points_of(m, l.row, l.at);
  const V        inverse = rows.divisor && !m.transposed ? V(1) / ((const V *)rows.divisor)[l.row] : V(1);
  V *const       to      = (V *)m.val + l.entry;
  for (int e = 0; e < m.entries; e++) {
    const int k = m.at[e];

    if (k < 0) continue;
    if (!m.transposed) {
      if (mask >> k & 1) to[e * 32] = value<V>(rows.values, row_begin(t, rows, l.row) + __popc(mask & ((1u << k) - 1))) * inverse;
      continue;
    }
    const int there[3] = {l.at[0] - m.point[k][0], l.at[1] - m.point[k][1], l.at[2] - m.point[k][2]};

    if (!inside(m.g.points, there, 0, 0, 0)) continue;
    const int      other = l.row - point_distance(m, k);
    const unsigned its   = points_of(m, other, there);
    if (its >> k & 1) to[e * 32] = value<V>(rows.values, row_begin(t, rows, other) + __popc(its & ((1u << k) - 1)));
  }
  if (m.scaled) to[m.entries * 32] = V(1) / d[l.row];
}

template <typename V>
__global__ void diagonal_kernel(SyncILUDeviceStruct m, SyncILUDevicePattern p, SyncILUDeviceValues a, V *__restrict__ diagonal)
{
  const StructLane l = struct_lane(m);

  if (l.row >= 0) diagonal[global_thread()] = value<V>(a, p.diag[l.row]); /* a warp a step, and upwards in L */
}

/* Calls body(entry of the row, point) for all entries of a row of the triangle. */
template <typename Body>
__device__ __forceinline__ void each_entry(const SyncILUDeviceStruct &m, int row, Body body)
{
  int at[3], q = 0;

  locate(m.g, row, at);
  const unsigned mask = points_of(m, row, at);
  for (int k = 0; k < m.points; k++)
    if (mask >> k & 1) body(q++, k);
}

__global__ void columns_kernel(SyncILUDeviceStruct m, SyncILUDeviceTriangle t, const int *__restrict__ diag, int *__restrict__ col)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  const int begin = t.begin[i] + t.skip;
  each_entry(m, (int)i, [&](int q, int k) { col[begin + q] = (int)i + point_distance(m, k); });
  if (diag) col[diag[i]] = (int)i;
}

template <typename V>
__global__ void back_kernel(SyncILUDeviceStruct m, SyncILUDeviceTriangle t, V *__restrict__ val)
{
  const long long i = global_thread();

  if (i >= t.n) return;
  int at[3];
  locate(m.g, (int)i, at);
  const SyncILULines &g = m.g;
  const int           v = at[1] + g.skew * at[2], begin = t.begin[i] + t.skip;
  const Lane          l    = lane_at(g, v, at[2]);
  const int           step = at[0] + l.late;
  const V *const      from = (const V *)m.val + ((size_t)tile_at(g, v, at[2]) * g.steps + (m.down ? g.steps - 1 - step : step)) * (m.entries + m.scaled) * 32 +
                        l.number;
  each_entry(m, (int)i, [&](int q, int k) {
    for (int e = 0; e < m.entries; e++)
      if (m.at[e] == k) val[begin + q] = from[e * 32];
  });
}

} // namespace

cudaError_t SyncILUKernelStencil(SyncILUDevicePattern p, int longest, SyncILUStencil *s, cudaStream_t stream)
{
  if (!p.n || longest > 2 * SYNCILU_STRUCT_MOST + 1) return cudaSuccess;
  longest_row_kernel<<<few_blocks_for(p.n), SYNCILU_BLOCK, 0, stream>>>(p, longest, s);
  CHECK_LAUNCH();
  stencil_kernel<<<1, 32, 0, stream>>>(p, longest, s);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelGridEntries(int n, const int *ptr, const int *col, SyncILUGrid g, const unsigned *allowed, SyncILUGridEntries *found,
                                     cudaStream_t stream)
{
  if (!n) return cudaSuccess;
  grid_kernel<<<few_blocks_for(n), SYNCILU_BLOCK, 0, stream>>>(n, ptr, col, g, allowed, found);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelHoles(SyncILUDevicePattern p, const int points[3], const SyncILUStencil *s, int *present, cudaStream_t stream)
{
  const SyncILUGrid g = {
    {points[0], points[1], points[2]},
    1
  };

  LAUNCH(holes_kernel, p.n, stream, p, g, *s, present);
}

cudaError_t SyncILUKernelStructLevels(SyncILULines g, int n, int *level, cudaStream_t stream)
{
  LAUNCH(levels_kernel, (long long)n, stream, g, n, level);
}

cudaError_t SyncILUKernelStructValues(SyncILUValueType type, SyncILUDeviceStruct m, SyncILUDeviceTriangle t, SyncILUDeviceRows rows, const void *d,
                                      cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(values_kernel<double>, 32ll * m.g.tiles * m.g.steps, stream, m, t, rows, (const double *)d);
}

cudaError_t SyncILUKernelStructDiagonal(SyncILUValueType type, SyncILUDeviceStruct m, SyncILUDevicePattern p, SyncILUDeviceValues a, void *diagonal,
                                        cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(diagonal_kernel<double>, 32ll * m.g.tiles * m.g.steps, stream, m, p, a, (double *)diagonal);
}

cudaError_t SyncILUKernelColumnsOfStruct(SyncILUDeviceStruct m, SyncILUDeviceTriangle t, const int *diag, int *col, cudaStream_t stream)
{
  LAUNCH(columns_kernel, t.n, stream, m, t, diag, col);
}

cudaError_t SyncILUKernelValuesOfStruct(SyncILUValueType type, SyncILUDeviceStruct m, SyncILUDeviceTriangle t, void *val, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(back_kernel<double>, t.n, stream, m, t, (double *)val);
}
