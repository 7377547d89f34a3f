/*
   What the emulator computes, and what it must not let pass.

     selftest           intrinsics, atomic operations, shared memory, CUB and launches against what CUDA defines
     selftest KERNEL    one of the faulty programs at the end; the script `run` knows what each has to say
*/
#include <cstdio>
#include <cstring>
#include <vector>
#include <cub/cub.cuh>
#include "async.cuh"
#include "cluster.cuh"
#include "memory_order.cuh"

using namespace syncilu;

namespace
{

constexpr unsigned FULL = 0xffffffffu;

int failures = 0, checks = 0;

#define CHECK(condition) \
  do { \
    checks++; \
    if (!(condition)) { \
      failures++; \
      fprintf(stderr, "%s:%d: %s failed\n", __FILE__, __LINE__, #condition); \
    } \
  } while (0)

#define CALL(...) \
  do { \
    const cudaError_t err = __VA_ARGS__; \
    if (err != cudaSuccess) { \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #__VA_ARGS__, cudaGetErrorString(err)); \
      exit(2); \
    } \
  } while (0)

/* An array in device memory, with what the host wants there. */
template <typename T>
struct Array {
  T     *data;
  size_t n;

  explicit Array(const std::vector<T> &host) : data(nullptr), n(host.size())
  {
    CALL(cudaMalloc((void **)&data, n * sizeof(T)));
    CALL(cudaMemcpy(data, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  Array(size_t count, T value) : Array(std::vector<T>(count, value)) { }
  Array(const Array &) = delete;
  ~Array() { CALL(cudaFree(data)); }

  std::vector<T> host() const
  {
    std::vector<T> h(n);

    CALL(cudaMemcpy(h.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost));
    return h;
  }
};

/* Shuffles of a warp, one row of out each. */
template <typename T>
__global__ void shuffles_kernel(T *out)
{
  const int lane = threadIdx.x;
  const T   own  = (T)(lane + 100);
  T        *row  = out + lane;

  row[0]   = __shfl_sync(FULL, own, 5);
  row[32]  = __shfl_sync(FULL, own, lane + 33); /* modulo the width */
  row[64]  = __shfl_up_sync(FULL, own, 3);
  row[96]  = __shfl_down_sync(FULL, own, 3);
  row[128] = __shfl_xor_sync(FULL, own, 8);
  row[160] = __shfl_sync(FULL, own, 2, 8);
  row[192] = __shfl_up_sync(FULL, own, 1, 4);
  row[224] = __shfl_down_sync(FULL, own, 1, 4);
  row[256] = __shfl_xor_sync(FULL, own, 1, 2);
}

template <typename T>
void test_shuffles()
{
  Array<T> out(288, T(0));

  shuffles_kernel<T><<<1, 32>>>(out.data);
  CALL(cudaGetLastError());
  const std::vector<T> h = out.host();
  for (int lane = 0; lane < 32; lane++) {
    const int from[] = {5,        (lane + 33) % 32, lane < 3 ? lane : lane - 3, lane > 28 ? lane : lane + 3,
                        lane ^ 8, lane / 8 * 8 + 2, lane % 4 ? lane - 1 : lane, lane % 4 == 3 ? lane : lane + 1,
                        lane ^ 1};

    for (int k = 0; k < 9; k++) CHECK(h[32 * k + lane] == (T)(from[k] + 100));
  }
}

/* Two halves of a warp with masks of their own, in different numbers of operations; then all together. */
__global__ void masks_kernel(int *out)
{
  const int      lane = threadIdx.x;
  const unsigned mask = lane < 12 ? 0xfffu : ~0xfffu;
  int            v    = lane;

  if (lane < 12) {
    for (int k = 0; k < 3; k++) v = __shfl_sync(mask, v, 11 - lane);
    out[lane] = __reduce_add_sync(mask, lane);
  } else {
    v         = __shfl_sync(mask, v, 12 + (lane - 12 + 1) % 20);
    out[lane] = (int)__ballot_sync(mask, lane % 2);
  }
  out[32 + lane] = v;
  out[64 + lane] = (int)__match_any_sync(FULL, lane / 5);
  out[96 + lane] = __popc(__ballot_sync(FULL, lane > 6));
  if (lane >= 20) return;
  /* those that have ended are not waited for */
  out[128 + lane] = __all_sync(FULL, lane < 20) + 2 * __any_sync(FULL, lane == 25);
}

/* The operands of reductions, with signs that matter. */
__global__ void reductions_kernel(int *out, unsigned *uout)
{
  const int lane = threadIdx.x, v = lane == 9 ? -7 : lane;

  out[0]  = __reduce_min_sync(FULL, v);
  out[1]  = __reduce_max_sync(FULL, v);
  out[2]  = __reduce_add_sync(FULL, v);
  uout[0] = __reduce_min_sync(FULL, (unsigned)v);
  uout[1] = __reduce_max_sync(FULL, (unsigned)v);
  uout[2] = __reduce_and_sync(FULL, (unsigned)lane | 64u);
  uout[3] = __reduce_or_sync(FULL, 1u << lane % 5);
  uout[4] = __reduce_xor_sync(FULL, 1u << lane % 5);
}

void test_warps()
{
  Array<int>      out(160, 0), r(3, 0);
  Array<unsigned> u(5, 0u);

  masks_kernel<<<1, 32>>>(out.data);
  reductions_kernel<<<1, 32>>>(r.data, u.data);
  CALL(cudaGetLastError());
  const std::vector<int>      h = out.host(), i = r.host();
  const std::vector<unsigned> j = u.host();
  for (int lane = 0; lane < 32; lane++) {
    CHECK(h[lane] == (lane < 12 ? 66 : (int)0xaaaaa000u));
    CHECK(h[32 + lane] == (lane < 12 ? 11 - lane : 12 + (lane - 11) % 20));
    CHECK((unsigned)h[64 + lane] == (lane < 30 ? 31u << lane / 5 * 5 : 3u << 30));
    CHECK(h[96 + lane] == 25);
    CHECK(h[128 + lane] == (lane < 20 ? 1 : 0));
  }
  CHECK(i[0] == -7 && i[1] == 31 && i[2] == 31 * 16 - 9 - 7);
  CHECK(j[0] == 0 && j[1] == (unsigned)-7 && j[2] == 64 && j[3] == 31);
  CHECK(j[4] == 3); /* bits 0 and 1 are those of 7 lanes, the others of 6 */
}

/* Shared memory of all kinds, and barriers. */
__global__ void shared_kernel(int *out)
{
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ int                                row[64], total, grid[2][32];
  __shared__ union
  {
    int    number;
    double value[3];
  } both;
  double *const values = (double *)dynamic;
  const int     t      = threadIdx.x;

  if (t == 0) {
    total       = 0;
    both.number = 7;
  }
  row[t]                    = t + (int)blockIdx.x;
  grid[t / 32][31 - t % 32] = t;
  values[63 - t]            = t;
  __syncthreads();
  atomicAdd(&total, row[63 - t]);
  const int odd = __syncthreads_count(t % 2), some = __syncthreads_or(t == 40), all = __syncthreads_and(t < 63);
  out[blockIdx.x * 64 + t] = total + odd + 1000 * some + 10000 * all + 100000 * (both.number - 7) + (grid[t / 32][t % 32] != t / 32 * 32 + 31 - t % 32) +
                             (values[t] != 63.0 - t);
}

/*
   What PTX finds where it is given the address of a shared variable, of which there are some of very different sizes, so
   that they come from different places of the host's memory.
*/
__global__ void addresses_kernel(int *out)
{
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ int                                one, few[50], some[500], many[2000];
  int *const                                    first[] = {(int *)dynamic, &one, few, some, many};
  const int                                     count[] = {7500, 1, 50, 500, 2000};
  const int                                     t       = threadIdx.x;

  for (int v = 0; v < 5; v++) {
    for (int k = t; k < count[v]; k += blockDim.x) first[v][k] = 10000 * v + k;
  }
  __syncthreads();
  int wrong = 0;
  for (int v = 0; v < 5; v++) {
    for (int k = t; k < count[v]; k += blockDim.x) wrong += load_acquire_shared(first[v] + k) != 10000 * v + k;
  }
  for (int v = 0; v < 5; v++) {
    for (int k = t; k < count[v]; k += blockDim.x) store_release_shared(first[v] + k, -10000 * v - k);
  }
  __syncthreads();
  for (int v = 0; v < 5; v++) {
    for (int k = t; k < count[v]; k += blockDim.x) wrong += first[v][k] != -10000 * v - k;
  }
  if (wrong) atomicAdd(out + blockIdx.x, wrong);
}

void test_addresses()
{
  Array<int> out(20, 0);

  addresses_kernel<<<20, 64, 7500 * sizeof(int)>>>(out.data);
  CALL(cudaGetLastError());
  for (int wrong : out.host()) CHECK(wrong == 0);
}

/*
   One warp brings numbers, chunk by chunk, the other one takes them: phases of barriers that wait for all lanes, and
   for the bytes of a copy of one lane or what each lane has copied. With two buffers, which take turns.
*/
__global__ void barriers_kernel(const double *in, int chunks, double *out)
{
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ Barrier                            full[2], empty[2];
  const int                                     lane = threadIdx.x & 31;

  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; k++) {
      barrier_begin(&full[k], 32);
      barrier_begin(&empty[k], 32);
    }
  }
  fence_copies();
  __syncthreads();
  for (int q = 0; q < chunks; q++) {
    double *const buffer = (double *)dynamic + q % 2 * 64;
    const int     parity = q / 2 % 2;

    if (threadIdx.x < 32) {
      if (q >= 2) barrier_wait(&empty[q % 2], parity ^ 1);
      if (lane == 0) {
        barrier_expect(&full[q % 2], 32 * (int)sizeof(double));
        copy_bulk(buffer, in + 64 * q, 32 * (int)sizeof(double), &full[q % 2]);
      }
      buffer[32 + lane] = -1.0;
      copy_if(lane % 2, buffer + 32 + lane, in + 64 * q + 32 + lane);
      barrier_arrive_copied(&full[q % 2]);
    } else {
      barrier_wait(&full[q % 2], parity);
      out[64 * q + lane]      = buffer[31 - lane];
      out[64 * q + 32 + lane] = buffer[63 - lane];
      barrier_arrive(&empty[q % 2]);
    }
  }
}

void test_barriers()
{
  constexpr int       chunks = 7;
  std::vector<double> numbers(64 * chunks);
  for (int k = 0; k < 64 * chunks; k++) numbers[k] = k;
  Array<double> in(numbers), out(64 * chunks, 0.0);

  barriers_kernel<<<1, 64, 128 * sizeof(double)>>>(in.data, chunks, out.data);
  CALL(cudaGetLastError());
  const std::vector<double> h = out.host();
  for (int q = 0; q < chunks; q++) {
    for (int lane = 0; lane < 32; lane++) {
      CHECK(h[64 * q + lane] == 64 * q + 31 - lane);
      CHECK(h[64 * q + 32 + lane] == (lane % 2 ? -1.0 : 64 * q + 63 - lane));
    }
  }
}

/* Two warps of three hand numbers to each other, step by step, and meet after each; the third one has nothing to do with it. */
__global__ void meeting_kernel(int steps, int *out)
{
  __shared__ int row[2][64];
  const int      t = threadIdx.x;

  if (t >= 64) return;
  row[0][t] = t;
  barrier_meet(3, 64);
  for (int k = 0; k < steps; k++) {
    row[(k + 1) % 2][t] = row[k % 2][(t + 33) % 64] + 1;
    barrier_meet(3, 64);
  }
  out[t] = row[steps % 2][t];
}

void test_meeting()
{
  constexpr int steps = 9;
  Array<int>    out(64, 0);

  meeting_kernel<<<1, 96>>>(steps, out.data);
  CALL(cudaGetLastError());
  const std::vector<int> h = out.host();
  for (int t = 0; t < 64; t++) CHECK(h[t] == (t + 33 * steps) % 64 + steps);
}

/* One warp never comes. */
__global__ void missing_meeting(int *flag)
{
  if (threadIdx.x < 32) barrier_meet(1, 64);
  flag[0] = 1;
}

/* A grid and blocks in three dimensions, and arguments converted as by a call. */
__global__ void dimensions_kernel(long long add, double scale, long long *out)
{
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;

  out[(z * ny + y) * nx + x] = (long long)(scale * x) + 100 * y + 10000 * z + add;
}

void test_blocks()
{
  Array<int>       out(64 * 40, 0);
  Array<long long> d(6 * 6 * 4, 0ll);

  shared_kernel<<<40, 64, 64 * sizeof(double)>>>(out.data);
  dimensions_kernel<<<dim3(3, 2, 1), dim3(2, 3, 4), 0, 0>>>(5, 1, d.data);
  CALL(cudaGetLastError());
  const std::vector<int>       h = out.host();
  const std::vector<long long> i = d.host();
  for (int b = 0; b < 40; b++) {
    for (int t = 0; t < 64; t++) CHECK(h[64 * b + t] == 63 * 32 + 64 * b + 32 + 1000);
  }
  for (int k = 0; k < 6 * 6 * 4; k++) CHECK(i[k] == k % 6 + 100 * (k / 6 % 6) + 10000 * (k / 36) + 5);
}

/* Every thread of the grid at once. */
__global__ void atomics_kernel(int *i, unsigned *u, unsigned long long *l, double *d, float *f)
{
  const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);

  atomicAdd(i, t);
  atomicMin(i + 1, -t);
  atomicMax(i + 2, t);
  atomicSub(i + 3, 2);
  for (int old = load_relaxed(i + 4), seen; (seen = atomicCAS(i + 4, old, old + 1)) != old;) old = seen;
  atomicAnd(u, ~(1u << t % 32));
  atomicOr(u + 1, 1u << t % 32);
  atomicMin(u + 2, 0xffffffffu - (unsigned)t);
  atomicMax(u + 3, 0x80000000u + (unsigned)t);
  atomicXor(u + 4, 1u << t % 32);
  atomicAdd(l, 0x100000000ull);
  atomicMax(l + 1, (unsigned long long)t << 40);
  l[2 + t] = atomicExch(l + 2 + 256 + t % 8, (unsigned long long)t + 1);
  atomicAdd(d, 0.5);
  atomicAdd(f, 0.5f);
}

void test_atomics()
{
  Array<int>                i(5, 0);
  Array<unsigned>           u(std::vector<unsigned>{FULL, 0, FULL, 0, 0});
  Array<unsigned long long> l(2 + 256 + 8, 0ull);
  Array<double>             d(1, 0.0);
  Array<float>              f(1, 0.0f);

  atomics_kernel<<<4, 64>>>(i.data, u.data, l.data, d.data, f.data);
  CALL(cudaGetLastError());
  const std::vector<int>                a = i.host();
  const std::vector<unsigned>           b = u.host();
  const std::vector<unsigned long long> c = l.host();
  CHECK(a[0] == 255 * 128 && a[1] == -255 && a[2] == 255 && a[3] == -512 && a[4] == 256);
  CHECK(b[0] == 0 && b[1] == FULL && b[2] == 0xffffffffu - 255 && b[3] == 0x80000000u + 255 && b[4] == 0);
  CHECK(c[0] == 256ull << 32 && c[1] == 255ull << 40);
  unsigned long long sum = 0; /* each value was found by one thread, or is still there */
  for (int k = 2; k < 2 + 256 + 8; k++) sum += c[k];
  CHECK(sum == 256ull * 257 / 2);
  CHECK(d.host()[0] == 128.0 && f.host()[0] == 128.0f);
}

/* PTX, and bits of numbers. */
__global__ void bits_kernel(double *v, int *out)
{
  double a  = 1.0, pair[2];
  int    on = threadIdx.x == 0;

  asm("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n@p fma.rn.f64 %0, %1, %2, %0;\n}" : "+d"(a) : "d"(2.0), "d"(3.0), "r"(on));
  load_relaxed_pair(v, pair);
  v[2 + threadIdx.x] = a + pair[0] + pair[1];
  if (threadIdx.x == 0) {
    out[0] = __double2hiint(-1.0);
    out[1] = __popc(0xf0f0u) + 100 * __ffs(8) + 10000 * __clz(1);
    out[2] = __double2hiint(__longlong_as_double(-1ll)) == -1 && __double_as_longlong(1.0) == 0x3ff0000000000000ll;
    out[3] = (int)__ldg(v);
  }
}

/* The sum of a block, twice in one storage. */
__global__ void block_sums_kernel(int n, const int *in, long long *out)
{
  typedef cub::BlockReduce<long long, 64> Reduce;
  __shared__ typename Reduce::TempStorage storage;
  const int                               t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const long long                         v = t < n ? in[t] : 0;
  const long long                         s = Reduce(storage).Sum(v);

  __syncthreads(); /* the storage is used again */
  const long long m = Reduce(storage).Reduce(v, cuda::maximum<long long>());
  if (threadIdx.x == 0) {
    out[2 * blockIdx.x]     = s;
    out[2 * blockIdx.x + 1] = m;
  }
}

void test_rest()
{
  Array<double>    v(std::vector<double>{10.0, 20.0, 0.0, 0.0});
  Array<int>       out(4, 0), in(std::vector<int>{5, -3, 9, 0, -3, 9, 1, 2}), sorted(8, 0), order(8, 0), index(std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  Array<long long> sums(2, 0ll);
  size_t           bytes = 0;
  void            *workspace;

  bits_kernel<<<1, 2>>>(v.data, out.data);
  CALL(cudaGetLastError());
  CHECK(v.host()[2] == 37.0 && v.host()[3] == 31.0);
  CHECK(out.host()[0] == (int)0xbff00000 && out.host()[1] == 310408 && out.host()[2] == 1 && out.host()[3] == 10);

  CALL(cub::DeviceRadixSort::SortPairs(nullptr, bytes, in.data, sorted.data, index.data, order.data, 8));
  CALL(cudaMalloc(&workspace, bytes));
  CALL(cub::DeviceRadixSort::SortPairs(workspace, bytes, in.data, sorted.data, index.data, order.data, 8));
  CHECK((sorted.host() == std::vector<int>{-3, -3, 0, 1, 2, 5, 9, 9}));
  CHECK((order.host() == std::vector<int>{1, 4, 3, 6, 7, 0, 2, 5}));
  CALL(cub::DeviceScan::ExclusiveSum(workspace, bytes, in.data, in.data, 8));
  CHECK((in.host() == std::vector<int>{0, 5, 2, 11, 11, 8, 17, 18}));
  CALL(cub::DeviceScan::InclusiveScan(workspace, bytes, order.data, sorted.data, cuda::maximum<int>(), 8));
  CHECK((sorted.host() == std::vector<int>{1, 4, 4, 6, 7, 7, 7, 7}));
  CALL(cudaFree(workspace));
  block_sums_kernel<<<1, 64>>>(8, in.data, sums.data);
  CALL(cudaGetLastError());
  CHECK(sums.host()[0] == 72 && sums.host()[1] == 18);
}

__global__ void dynamic_kernel(int *out)
{
  extern __shared__ int dynamic[];

  dynamic[threadIdx.x] = (int)threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) *out = dynamic[blockDim.x - 1];
}

/* What a launch or an allocation may not ask for is an error, and not a crash. */
void test_errors()
{
  Array<int>              out(1, 0);
  cudaMemPool_t           pool;
  cudaStream_t            stream[2];
  uint64_t                high = 0, zero = 0;
  void                   *p[2];
  struct cudaMemPoolProps props;
  unsigned long long      id[2];

  dynamic_kernel<<<0, 32, 128>>>(out.data);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaSuccess);
  dynamic_kernel<<<1, 1025, 8192>>>(out.data);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  dynamic_kernel<<<1, 32, (48 << 10) + 16>>>(out.data);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  CALL(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  dynamic_kernel<<<1, 32, (48 << 10) + 16>>>(out.data);
  CALL(cudaGetLastError());
  CHECK(out.host()[0] == 31);

  memset(&props, 0, sizeof(props));
  props.allocType     = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  CALL(cudaMemPoolCreate(&pool, &props));
  for (int k = 0; k < 2; k++) {
    CALL(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
    CALL(cudaStreamGetId(stream[k], &id[k]));
    CALL(cudaMallocFromPoolAsync(&p[k], 1000, pool, stream[k]));
    CALL(cudaStreamDestroy(stream[k]));
  }
  CHECK(id[0] != id[1]);
  CALL(cudaFreeAsync(p[0], 0));
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CHECK(high == 2000);
  CALL(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  CALL(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
  CHECK(high == 1000);
  CALL(cudaFreeAsync(p[1], 0));
  CHECK(cudaMallocFromPoolAsync(&p[0], (size_t)1 << 50, pool, 0) == cudaErrorMemoryAllocation && !p[0]);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  CALL(cudaMemPoolDestroy(pool));

  CHECK(!setenv("EMULATOR_PINNED", "0", 1));
  CHECK(cudaMallocHost(&p[0], 8) == cudaErrorMemoryAllocation && cudaGetLastError() == cudaErrorMemoryAllocation);
  CHECK(!unsetenv("EMULATOR_PINNED"));
  CALL(cudaMallocHost(&p[0], 8));
  CALL(cudaFreeHost(p[0]));
}

/* Faulty kernels. */
__global__ void hang(int *flag)
{
  while (load_relaxed(flag) != 1) __nanosleep(20);
}

__global__ void hang_in_a_vote(int *flag)
{
  while (!__all_sync(FULL, load_relaxed(flag + threadIdx.x % 2) == 1)) { }
}

__global__ void spin(int *flag)
{
  for (volatile int k = 0; k >= 0;) k = k ? 0 : 1;
  *flag = 1;
}

/* Each block waits for the one after it. */
__global__ void later_block(int *flag)
{
  if (blockIdx.x + 1 < gridDim.x && threadIdx.x == 0) {
    while (load_relaxed(flag + blockIdx.x + 1) != 1) { }
  }
  __syncthreads();
  if (threadIdx.x == 0) store_relaxed(flag + blockIdx.x, 1);
}

__global__ void divergent(int *flag)
{
  if (threadIdx.x < 7) flag[0] = __any_sync(FULL, threadIdx.x == 3);
  else flag[1] = __any_sync(FULL, threadIdx.x == 9);
}

__global__ void divergent_barrier(int *flag)
{
  if (threadIdx.x < 32) {
    flag[0] = 1;
    __syncthreads();
  } else __syncthreads();
}

__global__ void missing_lane(int *flag)
{
  if (threadIdx.x != 5) __syncwarp();
  else __syncthreads();
  flag[0] = 1;
}

__global__ void outside_of_mask(int *flag)
{
  if (threadIdx.x < 8) flag[threadIdx.x] = __shfl_sync(0xffu, (int)threadIdx.x, 9);
}

__global__ void not_in_own_mask(int *flag)
{
  flag[0] = __any_sync(0xffu, 1);
}

__global__ void ended_lane(int *flag)
{
  if (threadIdx.x == 31) return;
  flag[threadIdx.x % 8] = __shfl_xor_sync(FULL, (int)threadIdx.x, 1);
}

__global__ void misaligned(int *flag)
{
  double v[2];

  load_relaxed_pair((const double *)flag + 1, v);
  flag[0] = (int)v[0];
}

__global__ void out_of_bounds(int *flag)
{
  flag[0] = flag[threadIdx.x];
}

__global__ void out_of_shared(int *flag)
{
  __shared__ int row[31];

  int *const p   = row; /* the compiler's own check of bounds ends with the array */
  p[threadIdx.x] = 1;
  flag[0]        = row[3];
}

__global__ void much_shared(int *flag)
{
  __shared__ double row[6000];
  __shared__ double more[200];

  row[threadIdx.x] = more[threadIdx.x] = 1.0;
  flag[0]                              = 1;
}

/* The barrier waits for bytes alone, and yet there is one arrival more. */
__global__ void arrival_too_many(int *flag)
{
  __shared__ Barrier barrier;

  if (threadIdx.x == 0) {
    barrier_begin(&barrier, 32);
    barrier_expect(&barrier, 16);
  }
  __syncthreads();
  barrier_arrive(&barrier);
  if (threadIdx.x == 7) barrier_arrive(&barrier);
  flag[0] = 1;
}

/* One lane never arrives, and all wait. */
__global__ void missing_arrival(int *flag)
{
  __shared__ Barrier barrier;

  if (threadIdx.x == 0) barrier_begin(&barrier, 32);
  __syncthreads();
  if (threadIdx.x) barrier_arrive(&barrier);
  barrier_wait(&barrier, 0);
  flag[0] = 1;
}

/* An address behind a variable names no other one. */
__global__ void behind_shared(int *flag)
{
  __shared__ double first[4], second[4];

  first[threadIdx.x % 4] = second[threadIdx.x % 4] = 1.0;
  __syncthreads();
  double v = 0.0;
  load_shared_if(true, shared_address(first) + 4 * sizeof(double), &v);
  flag[0] = (int)v;
}

/* Blocks of a cluster hand a number round, each through the shared memory of the next; then all meet. */
__global__ void cluster_kernel(int *out)
{
  extern __shared__ __align__(16) unsigned char dynamic[];
  double *const                                 row  = (double *)dynamic;
  const unsigned                                rank = cluster_rank(), next = (rank + 1) % 4;

  row[threadIdx.x] = -1.0;
  cluster_sync();
  if (rank == 0) store_cluster_if(true, in_block(row + threadIdx.x, next), 1.0);
  double v = -1.0;
  while (v < 0.0) load_shared_if(true, shared_address(row + threadIdx.x), &v);
  if (rank) store_cluster_if(true, in_block(row + threadIdx.x, next), v + 1.0);
  cluster_sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = (int)v;
}

/* Each block pushes numbers to the next, which waits for their bytes, and says that it has read them. */
__global__ void push_kernel(int *out)
{
  extern __shared__ __align__(16) unsigned char dynamic[];
  double *const                                 row = (double *)dynamic;
  Barrier *const got = (Barrier *)(row + 30), *const read = got + 1;
  const unsigned rank = cluster_rank(), next = (rank + 1) % 4, before = (rank + 3) % 4, lane = threadIdx.x;

  if (lane == 0) {
    barrier_begin(got, 1);
    barrier_begin(read, 1);
  }
  fence_copies();
  cluster_sync();
  for (int round = 0; round < 3; round++) {
    push_if(lane < 30, in_block_address(row + lane, next), 100.0 * round + rank + lane, in_block_address(got, next));
    if (lane == 0) {
      barrier_expect(got, 30 * (int)sizeof(double));
      barrier_arrive(got);
    }
    barrier_wait(got, round & 1);
    if (lane < 30) out[(round * 12 + blockIdx.x) * 32 + lane] = (int)row[lane];
    __syncwarp();
    if (lane == 0) barrier_arrive_there(in_block_address(read, before));
    barrier_wait(read, round & 1);
  }
  cluster_sync();
}

/* Copies of nothing are zeros. */
__global__ void zero_kernel(double *v)
{
  __shared__ double  row[32];
  __shared__ Barrier barrier;

  if (threadIdx.x == 0) barrier_begin(&barrier, 32);
  __syncthreads();
  copy_or_zero(threadIdx.x % 2, row + threadIdx.x, v + threadIdx.x);
  barrier_arrive_copied(&barrier);
  barrier_wait(&barrier, 0);
  v[threadIdx.x] = row[threadIdx.x];
}

/* The second block reads the memory of the first, which has ended. */
__global__ void ended_block(int *flag)
{
  extern __shared__ __align__(16) unsigned char dynamic[];

  if (cluster_rank() == 0) return;
  while (load_acquire(flag) == 0) store_relaxed(flag, 1);
  for (int k = 0; k < 100; k++) __nanosleep(20);
  flag[1] = (int)*in_block((double *)dynamic, 0);
}

/* Reads a number that no kernel writes, waits if WAITS, and adds it to one that the kernel before wrote. */
template <bool WAITS>
__device__ void follow(int *out)
{
  const int more = load_relaxed(out + 32 + threadIdx.x);

  launch_next();
  if (WAITS) wait_previous();
  store_relaxed(out + threadIdx.x, load_relaxed(out + threadIdx.x) + more);
}

__global__ void following(int *out)
{
  follow<true>(out);
}

__global__ void too_early(int *out)
{
  follow<false>(out);
}

void launch_clusters(void (*kernel)(int *), unsigned blocks, unsigned size, int *out, bool early = false)
{
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t  config = {};

  attributes[0].id             = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {size, 1, 1};
  config.gridDim               = dim3(blocks);
  config.blockDim              = dim3(32);
  config.dynamicSmemBytes      = 32 * sizeof(double);
  config.attrs                 = attributes;
  config.numAttrs              = 1;
  if (early) launch_early(&config);
  CALL(cudaLaunchKernelEx(&config, kernel, out));
}

void test_clusters()
{
  Array<int> out(12 * 32, 0);

  launch_clusters(cluster_kernel, 12, 4, out.data);
  const std::vector<int> h = out.host();
  for (int t = 0; t < 12 * 32; t++) CHECK(h[t] == (t / 32 % 4 ? t / 32 % 4 : 4));

  Array<int> pushed(3 * 12 * 32, 0);
  launch_clusters(push_kernel, 12, 4, pushed.data);
  const std::vector<int> p = pushed.host();
  for (int t = 0; t < 3 * 12 * 32; t++) CHECK(p[t] == (t % 32 < 30 ? t / 32 / 12 * 100 + (t / 32 + 3) % 4 + t % 32 : 0));

  Array<int> followed(64, 1);
  for (int early = 0; early < 2; early++) launch_clusters(following, 1, 1, followed.data, early);
  launch_clusters(too_early, 1, 1, followed.data); /* not launched early */
  const std::vector<int> f = followed.host();
  for (int t = 0; t < 32; t++) CHECK(f[t] == 4);

  Array<double> v(32, 7.0);
  zero_kernel<<<1, 32>>>(v.data);
  CALL(cudaGetLastError());
  const std::vector<double> z = v.host();
  for (int t = 0; t < 32; t++) CHECK(z[t] == (t % 2 ? 7.0 : 0.0));
}

#define RUN(kernel, blocks, threads) \
  if (!strcmp(name, #kernel)) { \
    Array<int> flag(8, 0); \
    kernel<<<blocks, threads>>>(flag.data); \
    CALL(cudaGetLastError()); \
    return true; \
  }

bool run_faulty(const char *name)
{
  RUN(hang, 2, 64)
  RUN(hang_in_a_vote, 2, 64)
  RUN(spin, 1, 32)
  RUN(later_block, 8, 64)
  RUN(divergent, 1, 32)
  RUN(divergent_barrier, 1, 64)
  RUN(missing_lane, 1, 32)
  RUN(outside_of_mask, 1, 32)
  RUN(not_in_own_mask, 1, 32)
  RUN(ended_lane, 1, 32)
  RUN(misaligned, 1, 1)
  RUN(out_of_bounds, 1, 32)
  RUN(out_of_shared, 1, 32)
  RUN(behind_shared, 1, 32)
  RUN(arrival_too_many, 1, 32)
  RUN(missing_arrival, 1, 32)
  RUN(missing_meeting, 1, 64)
  RUN(much_shared, 1, 32)
  if (!strcmp(name, "ended_block")) {
    Array<int> flag(8, 0);

    launch_clusters(ended_block, 2, 2, flag.data);
    return true;
  }
  if (!strcmp(name, "too_early")) {
    Array<int> out(64, 0);

    for (int early = 0; early < 2; early++) launch_clusters(too_early, 1, 1, out.data, early);
    return true;
  }
  if (!strcmp(name, "copy_past_the_end")) {
    Array<int> flag(8, 0);
    int        host[9];

    CALL(cudaMemcpy(host, flag.data, sizeof(host), cudaMemcpyDeviceToHost));
    return true;
  }
  if (!strcmp(name, "wrong_direction")) {
    Array<int> flag(8, 0);
    int        host[8];

    CALL(cudaMemcpy(host, flag.data, sizeof(host), cudaMemcpyHostToDevice));
    return true;
  }
  if (!strcmp(name, "freed_twice")) {
    void *p;

    CALL(cudaMalloc(&p, 8));
    CALL(cudaFree(p));
    CALL(cudaFree(p));
    return true;
  }
  if (!strcmp(name, "destroyed_stream")) {
    cudaStream_t stream;
    Array<int>   flag(8, 1);

    CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CALL(cudaStreamDestroy(stream));
    hang<<<1, 32, 0, stream>>>(flag.data);
    return true;
  }
  return false;
}

} // namespace

int main(int argc, char **argv)
{
  if (argc > 1) {
    if (run_faulty(argv[1])) return 0;
    fprintf(stderr, "selftest: no kernel %s\n", argv[1]);
    return 2;
  }
  test_shuffles<int>();
  test_shuffles<unsigned>();
  test_shuffles<double>();
  test_shuffles<float>();
  test_shuffles<long long>();
  test_warps();
  test_blocks();
  test_addresses();
  test_barriers();
  test_meeting();
  test_clusters();
  test_atomics();
  test_rest();
  test_errors();
  printf("selftest: %d checks, %d failed\n", checks, failures);
  return failures || !checks;
}
