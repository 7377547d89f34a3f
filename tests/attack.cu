/*
   See attack.h.
*/
#include <new>
#include <time.h>
#include "attack.h"

namespace
{

constexpr int BLOCK = 256;

/* What the host and the blocks of an occupier tell each other, in memory of the host that both see. */
struct Signs {
  int stop;    /* the host's */
  int there;   /* blocks that fill a multiprocessor, or have */
  int through; /* blocks that were on the one that is spared */
};

__device__ __forceinline__ unsigned long long nanoseconds()
{
  unsigned long long t;

  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

__device__ __forceinline__ unsigned multiprocessor()
{
  unsigned m;

  asm volatile("mov.u32 %0, %%smid;" : "=r"(m));
  return m;
}

/* What a block is for. */
enum Task {
  ALL,
  BUT_ONE,
  PAUSE
};

__global__ void occupy_kernel(Signs *signs, Task task, unsigned long long duration)
{
  if (task == BUT_ONE && multiprocessor() == 0) {
    if (threadIdx.x == 0) atomicAdd_system(&signs->through, 1);
    return;
  }
  if (threadIdx.x == 0) {
    const unsigned long long end = nanoseconds() + duration;

    if (task != PAUSE) atomicAdd_system(&signs->there, 1);
    while (nanoseconds() < end && !*(volatile int *)&signs->stop) __nanosleep(1000);
  }
  __syncthreads(); /* the other threads are what takes the room */
}

/* Entries of the rows before one, on one side of the diagonal, at so many distances. */
__host__ __device__ __forceinline__ long long entries_before(long long i, long long stride, long long distances)
{
  const long long q = i / stride;

  return q < distances ? stride * (q * (q - 1) / 2) + i % stride * q : stride * (distances * (distances - 1) / 2) + (i - distances * stride) * distances;
}

/* The first entry of a row. On the right the rows are seen from the end. */
__host__ __device__ __forceinline__ long long first_entry(const Band &b, long long i)
{
  return i + entries_before(i, b.stride, b.left) + entries_before(b.n, b.stride, b.right) - entries_before(b.n - i, b.stride, b.right);
}

__global__ void band_kernel(Band b, int *ptr, int *col, double *val, double *rhs)
{
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < b.n; i += (long long)gridDim.x * blockDim.x) {
    const bool all = b.dense && i == b.n - 1;
    long long  e   = first_entry(b, i);
    double     sum = 0.0;

    ptr[i] = (int)e;
    for (long long k = -b.left; k <= b.right && !all; k++) {
      const long long j = i + k * b.stride;

      if (j < 0 || j >= b.n) continue;
      col[e] = (int)j;
      val[e] = k ? -b.scale : b.d;
      sum += val[e++];
    }
    rhs[i] = all ? b.d - b.scale * (double)(b.n - 1) : sum;
    if (i == b.n - 1) ptr[b.n] = (int)(all ? e + b.n : e);
  }
}

/* The last row, where it has all columns. */
__global__ void dense_kernel(Band b, int *col, double *val)
{
  const long long first = first_entry(b, b.n - 1);

  for (long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x; j < b.n; j += (long long)gridDim.x * blockDim.x) {
    col[first + j] = (int)j;
    val[first + j] = j == b.n - 1 ? b.d : -b.scale;
  }
}

/*
   Distances are no less than zero, and then the order of numbers is that of their bits; a NaN is farther than
   all.
*/
__global__ void distance_kernel(int n, const double *x, unsigned long long *most)
{
  double d = 0.0;

  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x) {
    const double mine = fabs(x[i] - 1.0);

    if (!(mine <= d) && d == d) d = mine;
  }
  atomicMax(most, (unsigned long long)__double_as_longlong(fabs(d)));
}

__global__ void fault_kernel(int *nowhere)
{
  *nowhere = 1;
}

} // namespace

struct OccupierState {
  cudaStream_t stream;
  Signs       *signs;
  int          processors, blocks, threads; /* blocks that fill a multiprocessor, and threads of each */
};

static cudaError_t launch(Occupier o, int grid, Task task, double seconds)
{
  occupy_kernel<<<grid, o->threads, 0, o->stream>>>(o->signs, task, (unsigned long long)(1e9 * seconds));
  return cudaGetLastError();
}

static void reset(Occupier o)
{
  *o->signs = Signs();
}

extern "C" cudaError_t OccupierCreate(Occupier *occupier)
{
  Occupier    o = new (std::nothrow) OccupierState();
  int         device, room = 0, low, high;
  cudaError_t err = o ? cudaGetDevice(&device) : cudaErrorMemoryAllocation;

  *occupier = o;
  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&o->processors, cudaDevAttrMultiProcessorCount, device);
  if (err == cudaSuccess) err = cudaDeviceGetAttribute(&room, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (err == cudaSuccess) err = cudaDeviceGetStreamPriorityRange(&low, &high);
  if (err == cudaSuccess) err = cudaStreamCreateWithPriority(&o->stream, cudaStreamNonBlocking, high);
  if (err == cudaSuccess) err = cudaHostAlloc((void **)&o->signs, sizeof(*o->signs), cudaHostAllocMapped);
  if (err != cudaSuccess) return err;
  o->blocks  = room > 1024 ? 2 : 1;
  o->threads = room / o->blocks;
  reset(o);
  /* loaded now: to load a kernel may wait for those that run */
  err = launch(o, 1, PAUSE, 0.0);
  if (err == cudaSuccess) err = cudaStreamSynchronize(o->stream);
  return err;
}

extern "C" cudaError_t OccupierDestroy(Occupier o)
{
  cudaError_t err = OccupierStop(o);

  if (err == cudaSuccess) err = cudaStreamDestroy(o->stream);
  if (err == cudaSuccess) err = cudaFreeHost(o->signs);
  delete o;
  return err;
}

extern "C" cudaError_t OccupierFill(Occupier o, int but_one, double seconds)
{
  /*
     blocks that come to the spared multiprocessor go at once, and others come: far more than there is room
     for elsewhere
  */
  const int    want = (o->processors - (but_one != 0)) * o->blocks, grid = but_one ? 64 * o->processors * o->blocks : want;
  const time_t start = time(NULL);
  cudaError_t  err;

  reset(o);
  err = launch(o, grid, but_one ? BUT_ONE : ALL, seconds);
  while (err == cudaSuccess) {
    const volatile Signs *now = o->signs;

    if (now->there == want && now->through == grid - want) return cudaSuccess;
    if (time(NULL) > start + 5) err = cudaErrorNotReady;
  }
  (void)OccupierStop(o);
  return err;
}

extern "C" cudaError_t OccupierPulse(Occupier o, int times, double seconds)
{
  cudaError_t err = cudaSuccess;

  reset(o);
  for (int k = 0; k < times && err == cudaSuccess; k++) {
    err = launch(o, o->processors * o->blocks, ALL, seconds);
    if (err == cudaSuccess) err = launch(o, 1, PAUSE, seconds);
  }
  return err;
}

extern "C" cudaError_t OccupierRuns(Occupier o, int *runs)
{
  const cudaError_t err = cudaStreamQuery(o->stream);

  *runs = err == cudaErrorNotReady;
  return err == cudaErrorNotReady ? cudaSuccess : err;
}

extern "C" int OccupierFull(Occupier o)
{
  return *(volatile int *)&o->signs->there / o->blocks;
}

extern "C" cudaError_t OccupierStop(Occupier o)
{
  *(volatile int *)&o->signs->stop = 1;
  return cudaStreamSynchronize(o->stream);
}

extern "C" long long BandEntries(const Band *b)
{
  return b->dense ? first_entry(*b, b->n - 1) + b->n : first_entry(*b, b->n);
}

extern "C" cudaError_t BandFill(const Band *b, int *ptr, int *col, double *val, double *rhs)
{
  band_kernel<<<4096, BLOCK>>>(*b, ptr, col, val, rhs);
  if (b->dense) dense_kernel<<<4096, BLOCK>>>(*b, col, val);
  const cudaError_t err = cudaGetLastError();

  return err == cudaSuccess ? cudaDeviceSynchronize() : err;
}

extern "C" cudaError_t DistanceFromOne(int n, const double *x, double *distance)
{
  unsigned long long *most = (unsigned long long *)(x + n);
  cudaError_t         err  = cudaMemset(most, 0, sizeof(*most));

  if (err == cudaSuccess) {
    distance_kernel<<<4096, BLOCK>>>(n, x, most);
    err = cudaGetLastError();
  }
  if (err == cudaSuccess) err = cudaMemcpy(distance, most, sizeof(*most), cudaMemcpyDeviceToHost);
  return err;
}

extern "C" cudaError_t Fault(void)
{
  fault_kernel<<<1, 1>>>((int *)8);
  const cudaError_t err = cudaGetLastError();

  return err == cudaSuccess ? cudaDeviceSynchronize() : err;
}
