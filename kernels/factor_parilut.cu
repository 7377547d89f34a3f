/*
   Update strategy parilut: what its rounds do to the pattern of the factor. Candidates come from the search
   for fill (symbolic.cu), sweeps are those of parilu (factor_parilu.cu). Here rows are united, entries are
   judged by their size, and the small ones removed.

   Progress: nobody waits for anybody but the lanes of its warp and the threads of its block.
*/
#include "factor_parilut.h"
#include "intersect.cuh"
#include "launch.cuh"
#include "tuning.h"
#include <math.h>

using namespace syncilu;

namespace
{

constexpr int SAMPLES = 1024, BUCKETS = 256;

/* The keys of sizes: what the host has, too (SizeKey() in src/host/parilut.c). */
constexpr int      KEY_SHIFT = SYNCILU_KEY_SHIFT;
constexpr unsigned KEY_MOST  = 1u << 28; /* above all finite ones */

/* A warp a row; the loop is the whole warp's. */
__global__ void lacking_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ col, const int *__restrict__ otherptr,
                               const int *__restrict__ othercol, int *__restrict__ lacking, int *__restrict__ length)
{
  const unsigned upto = FULL >> (31 - (threadIdx.x & 31)); /* the lanes up to this one */

  for (long long i = global_thread() / 32; i < n; i += all_threads() / 32) {
    const int begin = ptr[i], end = ptr[i + 1], from = otherptr[i], to = otherptr[i + 1];
    int       found = 0;

    for (int e = begin + (int)(threadIdx.x & 31); __any_sync(FULL, e < end); e += 32) {
      const unsigned lacks = __ballot_sync(FULL, e < end && search(othercol, from, to, col[e]) < 0);

      if (e < end) lacking[e] = found + __popc(lacks & upto);
      found += __popc(lacks);
    }
    if ((threadIdx.x & 31) == 0) length[i] = to - from + found;
  }
}

__global__ void unite_kernel(int n, const int *__restrict__ ptr, const int *__restrict__ col, const int *__restrict__ lacking, const int *__restrict__ otherptr,
                             const int *__restrict__ othercol, const int *__restrict__ unitedptr, int *__restrict__ unitedcol)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES), sub = (int)(t % ROW_LANES);

  if (t / ROW_LANES >= n) return;
  const int begin = ptr[i], end = ptr[i + 1], from = otherptr[i], to = otherptr[i + 1], first = unitedptr[i];
  for (int e = from + sub; e < to; e += ROW_LANES) {
    const int before = first_not_less(col + begin, end - begin, othercol[e]);

    unitedcol[first + (e - from) + (before ? lacking[begin + before - 1] : 0)] = othercol[e];
  }
  for (int e = begin + sub; e < end; e += ROW_LANES) {
    const int before = e > begin ? lacking[e - 1] : 0;

    if (lacking[e] > before) unitedcol[first + first_not_less(othercol + from, to - from, col[e]) + before] = col[e];
  }
}

template <typename V>
__global__ void carry_kernel(int n, const int *__restrict__ fromptr, const int *__restrict__ fromcol, const V *__restrict__ from, const int *__restrict__ toptr,
                             const int *__restrict__ tocol, V *__restrict__ to)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= n) return;
  const int begin = fromptr[i], end = fromptr[i + 1];
  for (int e = toptr[i] + (int)(t % ROW_LANES); e < toptr[i + 1]; e += ROW_LANES) {
    const int at = search(fromcol, begin, end, tocol[e]);

    to[e] = at < 0 ? V(0) : from[at];
  }
}

/* Of s / sqrt(d e), for pivots d and e. */
template <typename V>
__device__ __forceinline__ unsigned size_key(V s, V d, V e)
{
  if (d == V(0) || e == V(0) || !isfinite(d) || !isfinite(e)) return KEY_MOST;
  const double size = (double)fabs(s / d) * (double)fabs(s / e);
  if (!(size < INFINITY)) return KEY_MOST;
  return (unsigned)(((unsigned long long)__double_as_longlong(size) + (1ull << (KEY_SHIFT - 1))) >> KEY_SHIFT);
}

template <typename V>
__global__ void size_keys_kernel(SyncILUDevicePattern p, const V *__restrict__ crout, const V *__restrict__ pivot, bool mirror, unsigned *__restrict__ key)
{
  const long long t = global_thread();
  const int       i = (int)(t / ROW_LANES);

  if (t / ROW_LANES >= p.n) return;
  const int diag = p.diag[i];
  const V   d    = pivot[i];
  for (int e = p.ptr[i] + (int)(t % ROW_LANES); e < p.ptr[i + 1]; e += ROW_LANES) {
    const int j = p.col[e];

    if (e == diag) continue;
    const V other = pivot[j];
    V       s     = e < diag ? crout[e] : crout[e] * d;
    if (mirror && e < diag) {
      const int at = search(p.col, p.diag[j] + 1, p.ptr[j + 1], i);

      if (at >= 0) s = crout[at] * other;
    }
    key[e - i - (e > diag)] = e < diag ? size_key(s, other, d) : size_key(s, d, other);
  }
}

/* As Position() of src/host/parilut.c. */
__device__ __forceinline__ int sample_position(unsigned long long s, int m)
{
  if (m <= SAMPLES) return (int)s;
  s = (s + 1) * 0x9e3779b97f4a7c15ull;
  s ^= s >> 30;
  s *= 0xbf58476d1ce4e5b9ull;
  s ^= s >> 27;
  s *= 0x94d049bb133111ebull;
  s ^= s >> 31;
  return (int)(((s >> 32) * (unsigned long long)m) >> 32);
}

/* The splitters: each thread counts the samples before its own, which is its place among them. */
__global__ void __launch_bounds__(SAMPLES) splitters_kernel(int m, const unsigned *__restrict__ key, unsigned *__restrict__ splitter)
{
  __shared__ unsigned sample[SAMPLES], sorted[SAMPLES];
  const int           own = (int)threadIdx.x, samples = min(m, SAMPLES);
  int                 place = 0;

  if (own < samples) sample[own] = key[sample_position((unsigned long long)own, m)];
  __syncthreads(); /* all samples are there */
  for (int k = 0; k < samples && own < samples; k++) place += sample[k] < sample[own] || (sample[k] == sample[own] && k < own);
  if (own < samples) sorted[place] = sample[own];
  __syncthreads();                                                                        /* they are in order */
  if (own < BUCKETS) splitter[own] = own ? max(sorted[own * samples / BUCKETS], 1u) : 1u; /* zeros go */
}

/* What a search for the threshold works with. */
struct Selection {
  unsigned splitter[BUCKETS], count[2][BUCKETS];
  unsigned lo, hi; /* an interval of keys, for */
  int      above;  /* so many keys stay that are not below its end */
};

/* How many parts of keys are counted: parts are told by part(key), negative ones are not counted. */
template <typename Part>
__device__ __forceinline__ void count_parts(int m, const unsigned *__restrict__ key, unsigned *here, unsigned *count, Part part)
{
  static_assert(SYNCILU_BLOCK == BUCKETS, "a thread a bucket");
  here[threadIdx.x] = 0;
  __syncthreads(); /* all counters are zero */
  for (long long k = global_thread(); k < m; k += all_threads()) {
    const int own = part(key[k]);

    if (own >= 0) atomicAdd(here + own, 1u);
  }
  __syncthreads(); /* all keys of the block are counted */
  if (here[threadIdx.x]) atomicAdd(count + threadIdx.x, here[threadIdx.x]);
}

/* Each key belongs to the last splitter at or below it. */
__global__ void __launch_bounds__(SYNCILU_BLOCK) buckets_kernel(int m, const unsigned *__restrict__ key, Selection *s)
{
  __shared__ unsigned splitter[BUCKETS], here[BUCKETS];

  splitter[threadIdx.x] = s->splitter[threadIdx.x]; /* the barrier comes in count_parts() */
  count_parts(m, key, here, s->count[0], [&](unsigned own) {
    int lo = 0, hi = own ? BUCKETS - 1 : -1;

    while (lo < hi) {
      const int mid = (lo + hi + 1) / 2;

      if (splitter[mid] <= own) lo = mid;
      else hi = mid - 1;
    }
    return hi;
  });
}

/* The bucket in which the limit is reached. */
__global__ void bucket_kernel(int limit, Selection *s)
{
  int above = 0, t = BUCKETS - 1;

  for (; t > 0 && above + (int)s->count[0][t] <= limit; t--) above += (int)s->count[0][t];
  s->lo    = s->splitter[t];
  s->hi    = t < BUCKETS - 1 ? s->splitter[t + 1] : KEY_MOST + 1;
  s->above = above;
}

/* Keys of a part of the interval, if it had BUCKETS equal parts. */
__device__ __forceinline__ unsigned step(unsigned lo, unsigned hi)
{
  return (hi - lo + BUCKETS - 1) / BUCKETS;
}

__global__ void __launch_bounds__(SYNCILU_BLOCK) parts_kernel(int m, const unsigned *__restrict__ key, Selection *s)
{
  __shared__ unsigned here[BUCKETS];
  const unsigned      lo = s->lo, hi = s->hi;

  count_parts(m, key, here, s->count[1], [&](unsigned own) { return own >= lo && own < hi ? (int)((own - lo) / step(lo, hi)) : -1; });
}

/* As Finer() of src/host/parilut.c. */
__global__ void threshold_kernel(int m, int limit, const Selection *s, unsigned *threshold)
{
  if (m <= limit) {
    *threshold = 1;
    return;
  }
  int above = s->above, b = BUCKETS - 1;
  for (; b >= 0 && above + (int)s->count[1][b] <= limit; b--) above += (int)s->count[1][b];
  *threshold = min(s->lo + (unsigned)(above > 0 || b < 0 ? b + 1 : b) * step(s->lo, s->hi), s->hi);
}

__device__ __forceinline__ bool stays(int i, int e, int diag, const unsigned *__restrict__ key, unsigned threshold)
{
  return e == diag || key[e - i - (e > diag)] >= threshold;
}

__global__ void staying_kernel(SyncILUDevicePattern p, const unsigned *__restrict__ key, const unsigned *__restrict__ threshold, int *__restrict__ length)
{
  const long long t      = global_thread();
  const bool      active = t / ROW_LANES < p.n;
  const int       i = active ? (int)(t / ROW_LANES) : 0, end = active ? p.ptr[i + 1] : 0, diag = active ? p.diag[i] : 0;
  const unsigned  least = *threshold;
  int             count = 0;

  for (int e = active ? p.ptr[i] + (int)(t % ROW_LANES) : 0; e < end; e += ROW_LANES) count += stays(i, e, diag, key, least);
  count = sum_lanes<ROW_LANES_LOG>(count);
  if (active && t % ROW_LANES == 0) length[i] = count;
}

template <typename V>
__global__ void stay_kernel(SyncILUDevicePattern p, const V *__restrict__ from, const unsigned *__restrict__ key, const unsigned *__restrict__ threshold,
                            const int *__restrict__ toptr, int *__restrict__ tocol, V *__restrict__ to)
{
  const long long t      = global_thread();
  const bool      active = t / ROW_LANES < p.n;
  const int       i = active ? (int)(t / ROW_LANES) : 0, sub = (int)(t % ROW_LANES), end = active ? p.ptr[i + 1] : 0, diag = active ? p.diag[i] : 0;
  const int       shift = (int)(threadIdx.x & 31) - sub; /* where the lanes of the row are in the warp */
  const unsigned  least = *threshold;
  int             next  = active ? toptr[i] : 0;

  for (int e = active ? p.ptr[i] + sub : 0; __any_sync(FULL, e < end); e += ROW_LANES) {
    const bool     keep = e < end && stays(i, e, diag, key, least);
    const unsigned row  = __ballot_sync(FULL, keep) >> shift & ((1u << ROW_LANES) - 1);

    if (keep) {
      const int at = next + __popc(row & ((1u << sub) - 1));

      tocol[at] = p.col[e];
      to[at]    = from[e];
    }
    next += __popc(row);
  }
}

} // namespace

cudaError_t SyncILUKernelLacking(int n, const int *ptr, const int *col, const int *otherptr, const int *othercol, int *lacking, int *length,
                                 cudaStream_t stream)
{
  LAUNCH(lacking_kernel, 32ll * n, stream, n, ptr, col, otherptr, othercol, lacking, length);
}

cudaError_t SyncILUKernelUnite(int n, const int *ptr, const int *col, const int *lacking, const int *otherptr, const int *othercol, const int *unitedptr,
                               int *unitedcol, cudaStream_t stream)
{
  LAUNCH(unite_kernel, (long long)n * ROW_LANES, stream, n, ptr, col, lacking, otherptr, othercol, unitedptr, unitedcol);
}

cudaError_t SyncILUKernelCarry(SyncILUValueType type, int n, const int *fromptr, const int *fromcol, const void *from, const int *toptr, const int *tocol,
                               void *to, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(carry_kernel<double>, (long long)n * ROW_LANES, stream, n, fromptr, fromcol, (const double *)from, toptr, tocol, (double *)to);
}

cudaError_t SyncILUKernelSizeKeys(SyncILUValueType type, SyncILUDevicePattern p, const void *crout, const void *pivot, int mirror, unsigned *key,
                                  cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(size_keys_kernel<double>, (long long)p.n * ROW_LANES, stream, p, (const double *)crout, (const double *)pivot, mirror != 0, key);
}

size_t SyncILUThresholdBytes(void)
{
  return sizeof(Selection);
}

cudaError_t SyncILUKernelThreshold(int m, int limit, const unsigned *key, void *work, unsigned *threshold, cudaStream_t stream)
{
  Selection *const s = (Selection *)work;

  if (m > limit) {
    const cudaError_t err = cudaMemsetAsync(s->count, 0, sizeof(s->count), stream);

    if (err != cudaSuccess) return err;
    splitters_kernel<<<1, SAMPLES, 0, stream>>>(m, key, s->splitter);
    CHECK_LAUNCH();
    buckets_kernel<<<few_blocks_for(m), SYNCILU_BLOCK, 0, stream>>>(m, key, s);
    CHECK_LAUNCH();
    bucket_kernel<<<1, 1, 0, stream>>>(limit, s);
    CHECK_LAUNCH();
    parts_kernel<<<few_blocks_for(m), SYNCILU_BLOCK, 0, stream>>>(m, key, s);
    CHECK_LAUNCH();
  }
  threshold_kernel<<<1, 1, 0, stream>>>(m, limit, s, threshold);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelStaying(SyncILUDevicePattern p, const unsigned *key, const unsigned *threshold, int *length, cudaStream_t stream)
{
  LAUNCH(staying_kernel, (long long)p.n * ROW_LANES, stream, p, key, threshold, length);
}

cudaError_t SyncILUKernelStay(SyncILUValueType type, SyncILUDevicePattern p, const void *from, const unsigned *key, const unsigned *threshold, const int *toptr,
                              int *tocol, void *to, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(stay_kernel<double>, (long long)p.n * ROW_LANES, stream, p, (const double *)from, key, threshold, toptr, tocol, (double *)to);
}
