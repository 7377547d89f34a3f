/*
   What device code finds on a GPU, for the C++ that translate.py makes of it: built-in variables, intrinsics,
   atomic operations, and the functions that translated launches, shared memory and PTX call. Every translated
   file begins with this header.

   A thread of a kernel is a fiber. It runs until it meets others (a warp or block operation), pauses, ends,
   or, at an access to memory that threads share, has run for long enough; see scheduler.cpp.
*/
#ifndef EMULATOR_H
#define EMULATOR_H

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include "cuda_runtime_api.h"

#define __CUDACC__ 1
#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

using std::fabs;
using std::fma;
using std::isfinite;
using std::isinf;
using std::max;
using std::min;

/* Vectors of numbers, aligned as on the device. */
struct alignas(8) int2 {
  int x, y;
};
struct int3 {
  int x, y, z;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(16) double2 {
  double x, y;
};
inline double2 make_double2(double x, double y)
{
  return {x, y};
}
inline int2 make_int2(int x, int y)
{
  return {x, y};
}
inline int3 make_int3(int x, int y, int z)
{
  return {x, y, z};
}

struct dim3 {
  unsigned x, y, z;

  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) { }
};

namespace emulator
{

/* A line of the kernels, for reports. */
struct Place {
  const char *file;
  int         line;
};

/* As a default argument it is the caller's line. */
inline Place here(const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
  return {file, line};
}

/* What the lanes of a mask do together. The names in scheduler.cpp have the same order. */
enum class Operation {
  Sync,
  Shuffle,     /* from the lane that argument says */
  ShuffleUp,   /* from so many lanes below */
  ShuffleDown, /* above */
  ShuffleXor,
  Ballot,
  Any,
  All,
  Min, /* of integers, as are those below */
  MinUnsigned,
  Max,
  MaxUnsigned,
  Add,
  And,
  Or,
  Xor,
  MatchAny
};

/* What the threads of a block do together. */
enum class Barrier {
  Sync,
  Or,
  And,
  Count
};

/* The thread that runs, and what the scheduler counts. */
extern uint3 thread_index, block_index;
extern dim3  block_size, grid_size;
extern int   patience; /* accesses to shared data before this thread lets others run */
extern int   tedium;   /* for how many of these a poll counts, see poll() */
extern long  changes;  /* of memory, by operations that threads publish with */
extern long  looks;    /* at such memory */
extern int   watch;    /* 1: accesses are for note(), 2: for look_out(), 3: for both */

/*
   Barriers in shared memory (mbarrier), and the copies that they count, which come at once. The phase is in the
   lowest bit, then how many arrivals a phase expects, how many are missing, and how many bytes.
*/
struct BarrierState {
  unsigned phase : 1, expected : 15, missing : 15;
  int      bytes;
};

uint64_t meet_warp(Operation, unsigned mask, uint64_t value, int argument, int width, Place);
int      meet_block(Barrier, int value, Place);
void     pause(Place);
void     give_way(Place);
void     await(const BarrierState *, int parity, Place); /* for some turns */
void    *static_shared(const void *key, size_t bytes);
void    *dynamic_shared();
unsigned cluster_rank();                               /* of the block */
unsigned cluster_most();                               /* blocks of a cluster */
void    *cluster_shared(const void *, unsigned rank);  /* the same place in another block of the cluster */
unsigned cluster_address(unsigned, unsigned rank);     /* likewise, of addresses as PTX has them */
void     meet_threads(int number, int threads, Place); /* a barrier of so many threads of the block */
void     meet_cluster(Place);                          /* a barrier of the cluster */
void     launch_next();                                /* a kernel that is launched early may run from now on */
void     wait_previous();                              /* in such a kernel: for the end of the one before */
void     look_out(const void *, size_t bytes, Place);  /* for accesses by threads that have not waited to what note() has */
void     note(const void *, size_t bytes, Place);      /* looks out, and has that this is written, for the next kernel */
unsigned shared_address(const void *);
void    *shared_pointer(unsigned);
void     check_stream(cudaStream_t, const char *what); /* it exists */
/* Names the kernel that runs, if one does, prints the message, and ends the program. */
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
[[noreturn]] void fail_here(Place, const char *format, ...) __attribute__((format(printf, 2, 3)));

inline void touch(Place place)
{
  if (--patience <= 0) give_way(place);
}

template <typename To, typename From>
inline To bits(From from)
{
  To to{};

  static_assert(std::is_trivially_copyable<From>::value && std::is_trivially_copyable<To>::value);
  memcpy(&to, &from, sizeof(to) < sizeof(from) ? sizeof(to) : sizeof(from));
  return to;
}

/* Launches. */
struct Config {
  dim3         grid, block;
  size_t       shared;
  cudaStream_t stream;
  unsigned     cluster = 1;     /* blocks of each */
  bool         early   = false; /* it may begin before the end of the kernel before */

  Config(dim3 g, dim3 b, size_t s = 0, cudaStream_t t = nullptr) : grid(g), block(b), shared(s), stream(t) { }
};

/* Runs the body in each thread of the grid. The name is a signature that ends in Kernel = name;. */
void run(const void *kernel, const char *name, const Config &, void (*body)(const void *), const void *arguments);

template <auto Kernel>
struct Launch;

template <typename... Parameters, void (*Kernel)(Parameters...)>
struct Launch<Kernel> {
  typedef std::tuple<Parameters...> Tuple;

  static void body(const void *arguments) { std::apply(Kernel, *(const Tuple *)arguments); }
};

/* The arguments are converted to what the kernel takes once; each thread has its own copy of them. */
template <auto Kernel, typename... Arguments>
void launch(const Config &config, Arguments &&...arguments)
{
  const typename Launch<Kernel>::Tuple tuple(std::forward<Arguments>(arguments)...);

  run((const void *)Kernel, __PRETTY_FUNCTION__, config, Launch<Kernel>::body, &tuple);
}

/* A __shared__ variable: one a block for each place in the code, which the type of Site tells apart. */
template <typename T, typename Site>
inline T &shared(Site)
{
  static const char key = 0;

  return *(T *)static_shared(&key, sizeof(T));
}

/* Memory that threads share, as PTX accesses it. */
template <typename T, size_t Count = 1>
inline void check_aligned(const void *p, Place place)
{
  if ((uintptr_t)p % (Count * sizeof(T))) fail_here(place, "access of %zu bytes at a misaligned address", Count * sizeof(T));
}

/*
   Called before each look at shared data. A thread polls if it looks again where it looked last, and nothing
   has changed since. It will find nothing new there until others have run, so its patience shrinks faster.
*/
inline void poll(const void *p)
{
  static const void *last;
  static long        then;

  if (p == last && changes == then) patience -= tedium;
  last = p;
  then = changes;
}

template <typename T>
inline T look(const T *p, Place place)
{
  touch(place);
  looks++;
  if (watch) look_out(p, sizeof(T), place);
  return *(const volatile T *)p;
}

template <typename T>
inline T load(const T *p, Place place = ::emulator::here())
{
  check_aligned<T>(p, place);
  poll(p);
  return look(p, place);
}

template <typename T, int Count>
inline void load_vector(const T *p, T *v, Place place = ::emulator::here())
{
  check_aligned<T, Count>(p, place);
  poll(p);
  /* each by itself: the vector is not read as one */
  for (int k = 0; k < Count; k++) v[k] = look(p + k, place);
}

template <typename T>
inline void store(T *p, T v, Place place = ::emulator::here())
{
  check_aligned<T>(p, place);
  touch(place);
  if (watch) note(p, sizeof(T), place);
  if (memcmp(p, &v, sizeof(v))) changes++;
  *(volatile T *)p = v;
}

template <typename T, int Count>
inline void store_vector(T *p, const T *v, Place place = ::emulator::here())
{
  check_aligned<T, Count>(p, place);
  for (int k = 0; k < Count; k++) store(p + k, v[k], place);
}

/* Replaces what p has by change of it, at once, and returns what it had. */
template <typename T, typename Change>
inline T update(T *p, Change change, Place place)
{
  check_aligned<T>(p, place);
  touch(place);
  const T old = *p, now = change(old);
  if (memcmp(&old, &now, sizeof(old))) changes++;
  else looks++;
  *p = now;
  return old;
}

template <typename Change>
inline void change_barrier(void *barrier, Change change)
{
  static_assert(sizeof(BarrierState) == 8);
  check_aligned<uint64_t>(barrier, ::emulator::here());
  touch(::emulator::here());
  BarrierState *const b = (BarrierState *)barrier;
  change(b);
  changes++;
  if (b->missing || b->bytes) return;
  b->phase ^= 1;
  b->missing = b->expected;
}

inline void barrier_begin(void *barrier, int arrivals)
{
  change_barrier(barrier, [=](BarrierState *b) { *b = {0, (unsigned)arrivals & 0x7fff, (unsigned)arrivals & 0x7fff, 0}; });
}

inline void barrier_arrive(void *barrier)
{
  change_barrier(barrier, [](BarrierState *b) {
    if (!b->missing) fail("an arrival more than a barrier expects");
    b->missing--;
  });
}

inline void barrier_expect(void *barrier, int bytes)
{
  change_barrier(barrier, [=](BarrierState *b) { b->bytes += bytes; });
}

inline void barrier_complete(void *barrier, int bytes)
{
  change_barrier(barrier, [=](BarrierState *b) { b->bytes -= bytes; });
}

inline bool barrier_passed(const void *barrier, int parity, Place place)
{
  check_aligned<uint64_t>(barrier, place);
  touch(place);
  looks++;
  if ((int)((const BarrierState *)barrier)->phase == parity) await((const BarrierState *)barrier, parity, place); /* it may wait a little */
  return (int)((const BarrierState *)barrier)->phase != parity;
}

/* A number for another block, which the barrier counts. */
inline void push(double *to, double v, void *barrier)
{
  check_aligned<double>(to, ::emulator::here());
  *to = v;
  barrier_complete(barrier, (int)sizeof(double));
}

inline void copy(void *to, const void *from, int bytes)
{
  const uintptr_t align = bytes < 16 ? (uintptr_t)bytes : 16;

  if (bytes <= 0 || (bytes > 16 && bytes % 16) || (uintptr_t)to % align || (uintptr_t)from % align) fail("a copy of %d bytes at misaligned addresses", bytes);
  touch(::emulator::here());
  changes++;
  if (watch) {
    look_out(from, (size_t)bytes, ::emulator::here());
    note(to, (size_t)bytes, ::emulator::here());
  }
  memcpy(to, from, (size_t)bytes);
}

/* So many bytes, of which all that are not there are zero. */
inline void copy_or_zero(void *to, const void *from, int bytes, int there)
{
  alignas(16) const char zero[16] = {};

  if (there && there != bytes) fail("a copy of %d bytes of %d is not emulated", there, bytes);
  copy(to, there ? from : zero, bytes);
}

} // namespace emulator

struct cudaLaunchConfig_t {
  dim3                 gridDim, blockDim;
  size_t               dynamicSmemBytes;
  cudaStream_t         stream;
  cudaLaunchAttribute *attrs;
  unsigned             numAttrs;
};

/* A launch whose kernel is a value. */
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...), Arguments &&...arguments)
{
  typedef std::pair<void (*)(Parameters...), std::tuple<Parameters...>> Call;
  const Call                                                            call(kernel, std::tuple<Parameters...>(std::forward<Arguments>(arguments)...));
  ::emulator::Config                                                    c(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);

  for (unsigned k = 0; k < config->numAttrs; k++) {
    if (config->attrs[k].id == cudaLaunchAttributeClusterDimension) c.cluster = config->attrs[k].val.clusterDim.x;
    if (config->attrs[k].id == cudaLaunchAttributeProgrammaticStreamSerialization) c.early = config->attrs[k].val.programmaticStreamSerializationAllowed;
  }
  ::emulator::run((const void *)kernel, __PRETTY_FUNCTION__, c, [](const void *p) { std::apply(((const Call *)p)->first, ((const Call *)p)->second); }, &call);
  return cudaGetLastError();
}

/* Whether such clusters fit the device. */
template <typename... Parameters>
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, void (*)(Parameters...), const cudaLaunchConfig_t *config)
{
  *clusters = 1;
  for (unsigned k = 0; k < config->numAttrs; k++)
    if (config->attrs[k].id == cudaLaunchAttributeClusterDimension && config->attrs[k].val.clusterDim.x > ::emulator::cluster_most()) *clusters = 0;
  return cudaSuccess;
}

#define threadIdx (::emulator::thread_index)
#define blockIdx  (::emulator::block_index)
/* no macros: a configuration of a launch has members of these names */
[[maybe_unused]] static const dim3 &blockDim = ::emulator::block_size, &gridDim = ::emulator::grid_size;

/* Barriers of a block. */
inline void __syncthreads(::emulator::Place place = ::emulator::here())
{
  ::emulator::meet_block(::emulator::Barrier::Sync, 0, place);
}
inline int __syncthreads_or(int predicate, ::emulator::Place place = ::emulator::here())
{
  return ::emulator::meet_block(::emulator::Barrier::Or, predicate != 0, place);
}
inline int __syncthreads_and(int predicate, ::emulator::Place place = ::emulator::here())
{
  return ::emulator::meet_block(::emulator::Barrier::And, predicate != 0, place);
}
inline int __syncthreads_count(int predicate, ::emulator::Place place = ::emulator::here())
{
  return ::emulator::meet_block(::emulator::Barrier::Count, predicate != 0, place);
}

/* Operations of a warp. */
inline void __syncwarp(unsigned mask = 0xffffffffu, ::emulator::Place place = ::emulator::here())
{
  ::emulator::meet_warp(::emulator::Operation::Sync, mask, 0, 0, 32, place);
}

#define EMULATOR_SHUFFLE(name, operation, argument_type) \
  template <typename T> \
  inline T name(unsigned mask, T value, argument_type argument, int width = 32, ::emulator::Place place = ::emulator::here()) \
  { \
    static_assert(std::is_arithmetic<T>::value && sizeof(T) >= 4, "shuffles move numbers of 4 and 8 bytes"); \
    return ::emulator::bits<T>(::emulator::meet_warp(::emulator::Operation::operation, mask, ::emulator::bits<uint64_t>(value), (int)argument, width, place)); \
  }
EMULATOR_SHUFFLE(__shfl_sync, Shuffle, int)
EMULATOR_SHUFFLE(__shfl_up_sync, ShuffleUp, unsigned)
EMULATOR_SHUFFLE(__shfl_down_sync, ShuffleDown, unsigned)
EMULATOR_SHUFFLE(__shfl_xor_sync, ShuffleXor, int)
#undef EMULATOR_SHUFFLE

/* The product of 8 x 4 and 4 x 8 numbers (mma.sync.m8n8k4), of which a lane has one each, and two of the sum. */
namespace emulator
{
inline void add_product(double &c, double &d, double a, double b, Place place)
{
  const int lane = (int)(thread_index.x & 31);

  for (int k = 0; k < 4; k++) {
    const double x = __shfl_sync(0xffffffffu, a, lane / 4 * 4 + k, 32, place);

    c = fma(x, __shfl_sync(0xffffffffu, b, lane % 4 * 8 + k, 32, place), c);
    d = fma(x, __shfl_sync(0xffffffffu, b, lane % 4 * 8 + 4 + k, 32, place), d);
  }
}
} // namespace emulator

inline unsigned __ballot_sync(unsigned mask, int predicate, ::emulator::Place place = ::emulator::here())
{
  return (unsigned)::emulator::meet_warp(::emulator::Operation::Ballot, mask, predicate != 0, 0, 32, place);
}
inline int __any_sync(unsigned mask, int predicate, ::emulator::Place place = ::emulator::here())
{
  return (int)::emulator::meet_warp(::emulator::Operation::Any, mask, predicate != 0, 0, 32, place);
}
inline int __all_sync(unsigned mask, int predicate, ::emulator::Place place = ::emulator::here())
{
  return (int)::emulator::meet_warp(::emulator::Operation::All, mask, predicate != 0, 0, 32, place);
}

#define EMULATOR_REDUCE(name, type, operation) \
  inline type name(unsigned mask, type value, ::emulator::Place place = ::emulator::here()) \
  { \
    return (type)::emulator::meet_warp(::emulator::Operation::operation, mask, (uint32_t)value, 0, 32, place); \
  }
EMULATOR_REDUCE(__reduce_min_sync, int, Min)
EMULATOR_REDUCE(__reduce_min_sync, unsigned, MinUnsigned)
EMULATOR_REDUCE(__reduce_max_sync, int, Max)
EMULATOR_REDUCE(__reduce_max_sync, unsigned, MaxUnsigned)
EMULATOR_REDUCE(__reduce_add_sync, int, Add)
EMULATOR_REDUCE(__reduce_add_sync, unsigned, Add)
EMULATOR_REDUCE(__reduce_and_sync, unsigned, And)
EMULATOR_REDUCE(__reduce_or_sync, unsigned, Or)
EMULATOR_REDUCE(__reduce_xor_sync, unsigned, Xor)
#undef EMULATOR_REDUCE

template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value, ::emulator::Place place = ::emulator::here())
{
  return (unsigned)::emulator::meet_warp(::emulator::Operation::MatchAny, mask, ::emulator::bits<uint64_t>(value), 0, 32, place);
}
inline void __nanosleep(unsigned, ::emulator::Place place = ::emulator::here())
{
  ::emulator::pause(place);
}

/* Atomic operations. The operand is converted to the type in memory, as by CUDA's overloads. */
#define EMULATOR_ATOMIC(name, expression) \
  template <typename T, typename Operand> \
  inline T name(T *p, Operand operand, ::emulator::Place place = ::emulator::here()) \
  { \
    const T value = (T)operand; \
\
    static_assert(std::is_arithmetic<T>::value && sizeof(T) >= 4, "atomic operations take numbers of 4 and 8 bytes"); \
    return ::emulator::update( \
      p, [value](T old) { return (T)(expression); }, place); \
  }
EMULATOR_ATOMIC(atomicAdd, old + value)
EMULATOR_ATOMIC(atomicSub, old - value)
EMULATOR_ATOMIC(atomicMin, value < old ? value : old)
EMULATOR_ATOMIC(atomicMax, value > old ? value : old)
EMULATOR_ATOMIC(atomicAnd, old &value)
EMULATOR_ATOMIC(atomicOr, old | value)
EMULATOR_ATOMIC(atomicXor, old ^ value)
EMULATOR_ATOMIC(atomicExch, ((void)old, value))
#undef EMULATOR_ATOMIC

template <typename T, typename Compare, typename Operand>
inline T atomicCAS(T *p, Compare compare, Operand operand, ::emulator::Place place = ::emulator::here())
{
  const T expected = (T)compare, value = (T)operand;

  static_assert(std::is_integral<T>::value, "atomicCAS compares bits of integers");
  return ::emulator::update(
    p, [expected, value](T old) { return old == expected ? value : old; }, place);
}

/* A load with a hint to the caches. */
template <typename T>
inline T __ldg(const T *p)
{
  return *p;
}
/* Bits. */
inline int __popc(unsigned v)
{
  return __builtin_popcount(v);
}
inline int __ffs(int v)
{
  return __builtin_ffs(v);
}
inline int __clz(int v)
{
  return v ? __builtin_clz((unsigned)v) : 32;
}
/* Code on the CPU is compiled without contraction. */
inline double __dmul_rn(double a, double b)
{
  return a * b;
}

inline int __double2hiint(double v)
{
  return (int)(::emulator::bits<uint64_t>(v) >> 32);
}
inline unsigned __float_as_uint(float v)
{
  unsigned bits;

  memcpy(&bits, &v, sizeof(bits));
  return bits;
}

inline unsigned __brev(unsigned v)
{
  unsigned r = 0;

  for (int k = 0; k < 32; k++) r |= (v >> k & 1) << (31 - k);
  return r;
}

inline double __longlong_as_double(long long v)
{
  return ::emulator::bits<double>(v);
}
inline long long __double_as_longlong(double v)
{
  return ::emulator::bits<long long>(v);
}
/* A shared variable has a 32-bit address of its own; see shared_pointer(). */
inline size_t __cvta_generic_to_shared(const void *p)
{
  return ::emulator::shared_address(p);
}

#endif
