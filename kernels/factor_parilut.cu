/*
   Update strategy parilut: entries are judged by their size, and the small ones removed. Candidates and
   sweeps are in search.cu.

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

/* The splitters, of samples that a block has sorted (K. E. Batcher, AFIPS 1968: the bitonic sorter). */
__global__ void __launch_bounds__(SAMPLES / 2) splitters_kernel(int m, const unsigned *__restrict__ key, unsigned *__restrict__ splitter)
{
  __shared__ unsigned sample[SAMPLES];
  const int           own = (int)threadIdx.x, samples = min(m, SAMPLES);

  for (int k = own; k < SAMPLES; k += SAMPLES / 2) sample[k] = k < samples ? key[sample_position((unsigned long long)k, m)] : UINT_MAX;
  for (int run = 2; run <= SAMPLES; run *= 2) {
    for (int step = run / 2; step; step /= 2) {
      const int low = 2 * own - (own & (step - 1)), high = low + step;

      __syncthreads(); /* the step before is done */
      const unsigned a = sample[low], b = sample[high];
      if ((a > b) == !(low & run)) {
        sample[low]  = b;
        sample[high] = a;
      }
    }
  }
  __syncthreads();                                                                        /* they are in order */
  if (own < BUCKETS) splitter[own] = own ? max(sample[own * samples / BUCKETS], 1u) : 1u; /* zeros go */
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

/* Of the parts from the thread's own on: how many keys they have together. */
__device__ __forceinline__ int count_from(const unsigned *count, int *sum)
{
  const int thread = (int)threadIdx.x, lane = thread & 31;
  int       own = (int)count[thread];

  for (int o = 1; o < 32; o *= 2) {
    const int other = __shfl_down_sync(FULL, own, o);

    if (lane + o < 32) own += other;
  }
  if (lane == 0) sum[thread / 32] = own;
  __syncthreads(); /* the sums of all warps are there */
  for (int w = thread / 32 + 1; w < BUCKETS / 32; w++) own += sum[w];
  return own;
}

/* The bucket in which the limit is reached: one thread has it. */
__global__ void __launch_bounds__(BUCKETS) bucket_kernel(int limit, Selection *s)
{
  __shared__ int sum[BUCKETS / 32];
  const int      t = (int)threadIdx.x, from = count_from(s->count[0], sum), above = from - (int)s->count[0][t];

  if (above > limit || (t && from <= limit)) return;
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

/* As Finer() of src/host/parilut.c: the part in which the limit is reached, or the first one if none is. */
__global__ void __launch_bounds__(BUCKETS) threshold_kernel(int limit, const Selection *s, unsigned *threshold)
{
  __shared__ int sum[BUCKETS / 32];
  const int      b = (int)threadIdx.x, from = s->above + count_from(s->count[1], sum), above = from - (int)s->count[1][b];

  if (above > limit || (b && from <= limit)) return;
  const int part = from <= limit ? 0 : above > 0 ? b + 1 : b;
  *threshold     = min(s->lo + (unsigned)part * step(s->lo, s->hi), s->hi);
}

/* Zeros go, also where all others may stay and there is no threshold. */
__device__ __forceinline__ unsigned least_key(const SyncILUDeviceFound *found)
{
  return max(found->threshold, 1u);
}

__device__ __forceinline__ bool stays(int i, int e, int diag, const unsigned *__restrict__ key, unsigned threshold)
{
  return e == diag || key[e - i - (e > diag)] >= threshold;
}

__global__ void staying_kernel(SyncILUDevicePattern p, const unsigned *__restrict__ key, int *__restrict__ length, SyncILUDeviceFound *found)
{
  const unsigned     least   = least_key(found);
  unsigned long long total   = 0;
  int                longest = 0;

  for (long long t = global_thread(); t / 32 * (32 / ROW_LANES) < p.n; t += all_threads()) { /* the loop is the whole warp's */
    const bool active = t / ROW_LANES < p.n;
    const int  i = active ? (int)(t / ROW_LANES) : 0, end = active ? p.ptr[i + 1] : 0, diag = active ? p.diag[i] : 0;
    int        count = 0;

    for (int e = active ? p.ptr[i] + (int)(t % ROW_LANES) : 0; e < end; e += ROW_LANES) count += stays(i, e, diag, key, least);
    count = sum_lanes<ROW_LANES_LOG>(count);
    if (!active || t % ROW_LANES) continue;
    length[i] = count;
    total += (unsigned)count;
    longest = max(longest, count);
  }
  total   = sum_lanes<5>(total);
  longest = max_of_row(longest, 32);
  if (threadIdx.x & 31) return;
  atomicAdd(&found->total, total);
  atomicMax(&found->longest, longest);
}

template <typename V>
__global__ void stay_kernel(SyncILUDevicePattern p, const V *__restrict__ from, const unsigned *__restrict__ key, const SyncILUDeviceFound *found,
                            const int *__restrict__ toptr, int *__restrict__ tocol, int *__restrict__ todiag, V *__restrict__ to)
{
  const long long t      = global_thread();
  const bool      active = t / ROW_LANES < p.n;
  const int       i = active ? (int)(t / ROW_LANES) : 0, sub = (int)(t % ROW_LANES), end = active ? p.ptr[i + 1] : 0, diag = active ? p.diag[i] : 0;
  const int       shift = (int)(threadIdx.x & 31) - sub; /* where the lanes of the row are in the warp */
  const unsigned  least = least_key(found);
  int             next  = active ? toptr[i] : 0;

  for (int e = active ? p.ptr[i] + sub : 0; __any_sync(FULL, e < end); e += ROW_LANES) {
    const bool     keep = e < end && stays(i, e, diag, key, least);
    const unsigned row  = __ballot_sync(FULL, keep) >> shift & ((1u << ROW_LANES) - 1);

    if (keep) {
      const int at = next + __popc(row & ((1u << sub) - 1));

      tocol[at] = p.col[e];
      to[at]    = from[e];
      if (e == diag) todiag[i] = at;
    }
    next += __popc(row);
  }
}

} // namespace

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

cudaError_t SyncILUKernelThreshold(int m, int limit, const unsigned *key, void *work, SyncILUDeviceFound *found, cudaStream_t stream)
{
  Selection *const s = (Selection *)work;

  cudaError_t err = cudaMemsetAsync(s->count, 0, sizeof(s->count), stream);
  if (err != cudaSuccess) return err;
  splitters_kernel<<<1, SAMPLES / 2, 0, stream>>>(m, key, s->splitter);
  CHECK_LAUNCH();
  buckets_kernel<<<few_blocks_for(m), SYNCILU_BLOCK, 0, stream>>>(m, key, s);
  CHECK_LAUNCH();
  bucket_kernel<<<1, BUCKETS, 0, stream>>>(limit, s);
  CHECK_LAUNCH();
  parts_kernel<<<few_blocks_for(m), SYNCILU_BLOCK, 0, stream>>>(m, key, s);
  CHECK_LAUNCH();
  threshold_kernel<<<1, BUCKETS, 0, stream>>>(limit, s, &found->threshold);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelStaying(SyncILUDevicePattern p, const unsigned *key, int *length, SyncILUDeviceFound *found, cudaStream_t stream)
{
  if (p.n) staying_kernel<<<few_blocks_for((long long)p.n * ROW_LANES), SYNCILU_BLOCK, 0, stream>>>(p, key, length, found);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelStay(SyncILUValueType type, SyncILUDevicePattern p, const void *from, const unsigned *key, const SyncILUDeviceFound *found,
                              const int *toptr, int *tocol, int *todiag, void *to, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(stay_kernel<double>, (long long)p.n * ROW_LANES, stream, p, (const double *)from, key, found, toptr, tocol, todiag, (double *)to);
}
