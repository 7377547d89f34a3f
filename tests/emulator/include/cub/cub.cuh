/*
   The part of CUB that the project uses, by plain loops on the host. Device-wide algorithms are called twice,
   as CUB's are: the first call only sets the bytes of workspace. The second overwrites all of it, so that
   AddressSanitizer sees where there is less, and a result where an input still needed that memory.

   Another algorithm takes a function like those below: OwnWorkspace() first, then the loop.
*/
#ifndef EMULATOR_CUB_CUH
#define EMULATOR_CUB_CUH

#include <numeric>
#include <vector>
#include "../emulator.h"

namespace cuda
{

template <typename T = void>
struct maximum {
  T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};

} // namespace cuda

namespace emulator
{

/* Whether this call is the one that computes. */
inline bool own_workspace(void *workspace, size_t &bytes, size_t need, cudaStream_t stream, const char *what)
{
  if (!workspace) {
    bytes = need;
    return false;
  }
  check_stream(stream, what);
  if (bytes < need) fail("%s: %zu bytes of workspace, and %zu are needed", what, bytes, need);
  memset(workspace, 0xa5, need);
  return true;
}

/* A copy, so that what is written does not depend on what is read. */
template <typename T, typename Iterator, typename Count>
std::vector<T> read(Iterator in, Count n)
{
  return std::vector<T>(in, in + n);
}

/* A sum that does not fit has no defined value. */
template <typename T>
T sum(T a, T b)
{
  T s;

  if constexpr (std::is_integral<T>::value && std::is_signed<T>::value) {
    if (__builtin_add_overflow(a, b, &s)) fail("ExclusiveSum: a sum does not fit its type");
  } else s = a + b;
  return s;
}

} // namespace emulator

namespace cub
{

/* Two arrays that a sort goes between; where the result is, it says. */
template <typename T>
struct DoubleBuffer {
  T  *d_buffers[2];
  int selector = 0;

  DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate} { }
  T *Current() { return d_buffers[selector]; }
  T *Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
  /* The result comes to either of the arrays, and the other one is overwritten. */
  template <typename Key, typename Value, typename Count>
  static cudaError_t SortPairs(void *workspace, size_t &bytes, DoubleBuffer<Key> &keys, DoubleBuffer<Value> &values, Count n, int begin_bit = 0,
                               int end_bit = 8 * (int)sizeof(Key), cudaStream_t stream = nullptr)
  {
    if (!::emulator::own_workspace(workspace, bytes, 1, stream, "SortPairs")) return cudaSuccess;
    const std::vector<Key>    k     = ::emulator::read<Key>(keys.Current(), n);
    const std::vector<Value>  v     = ::emulator::read<Value>(values.Current(), n);
    const std::vector<size_t> order = sort(k, begin_bit, end_bit);

    memset((void *)keys.Current(), 0xa5, (size_t)n * sizeof(Key));
    memset((void *)values.Current(), 0xa5, (size_t)n * sizeof(Value));
    if (n % 2) {
      keys.selector ^= 1;
      values.selector ^= 1;
    }
    for (size_t p = 0; p < order.size(); p++) {
      keys.Current()[p]   = k[order[p]];
      values.Current()[p] = v[order[p]];
    }
    return cudaSuccess;
  }

  template <typename Key, typename Value, typename Count>
  static cudaError_t SortPairs(void *workspace, size_t &bytes, const Key *keys, Key *sorted_keys, const Value *values, Value *sorted_values, Count n,
                               int begin_bit = 0, int end_bit = 8 * (int)sizeof(Key), cudaStream_t stream = nullptr)
  {
    if (!::emulator::own_workspace(workspace, bytes, 1 + (size_t)n * (sizeof(Key) + sizeof(Value)), stream, "SortPairs")) return cudaSuccess;
    const std::vector<Key>    k     = ::emulator::read<Key>(keys, n);
    const std::vector<Value>  v     = ::emulator::read<Value>(values, n);
    const std::vector<size_t> order = sort(k, begin_bit, end_bit);

    for (size_t p = 0; p < order.size(); p++) {
      sorted_keys[p]   = k[order[p]];
      sorted_values[p] = v[order[p]];
    }
    return cudaSuccess;
  }

  template <typename Key, typename Count>
  static cudaError_t SortKeys(void *workspace, size_t &bytes, const Key *keys, Key *sorted_keys, Count n, int begin_bit = 0, int end_bit = 8 * (int)sizeof(Key),
                              cudaStream_t stream = nullptr)
  {
    if (!::emulator::own_workspace(workspace, bytes, 1 + (size_t)n * sizeof(Key), stream, "SortKeys")) return cudaSuccess;
    const std::vector<Key>    k     = ::emulator::read<Key>(keys, n);
    const std::vector<size_t> order = sort(k, begin_bit, end_bit);

    for (size_t p = 0; p < order.size(); p++) sorted_keys[p] = k[order[p]];
    return cudaSuccess;
  }

private:
  /* CUB looks at the bits from begin_bit to end_bit - 1 alone. The project means keys that have no others. */
  template <typename Key>
  static std::vector<size_t> sort(const std::vector<Key> &keys, int begin_bit, int end_bit)
  {
    typedef typename std::make_unsigned<Key>::type Bits;
    const int                                      width = 8 * (int)sizeof(Key);
    const Bits          all = end_bit >= width ? ~Bits(0) : (Bits(1) << end_bit) - 1, sign = std::is_signed<Key>::value ? Bits(1) << (width - 1) : 0;
    std::vector<size_t> order(keys.size());

    for (const Key &key : keys) {
      if ((Bits)key & ~all) ::emulator::fail("radix sort: key %lld has bits beyond the first %d", (long long)key, end_bit);
    }
    std::iota(order.begin(), order.end(), (size_t)0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return ((((Bits)keys[a] ^ sign) & all) >> begin_bit) < ((((Bits)keys[b] ^ sign) & all) >> begin_bit); });
    return order;
  }
};

/* Sums up, or the like, the values of successive equal keys. */
struct DeviceReduce {
  template <typename Key, typename Value, typename Count, typename Op>
  static cudaError_t ReduceByKey(void *workspace, size_t &bytes, const Key *keys, Key *unique, const Value *values, Value *sums, Count *runs, Op op, Count n,
                                 cudaStream_t stream = nullptr)
  {
    if (!::emulator::own_workspace(workspace, bytes, 1 + (size_t)n / 128 * (sizeof(Key) + sizeof(Value)), stream, "ReduceByKey")) return cudaSuccess;
    const std::vector<Key>   k = ::emulator::read<Key>(keys, n);
    const std::vector<Value> v = ::emulator::read<Value>(values, n);
    Count                    m = 0;

    for (Count q = 0; q < n; q++) {
      if (q && k[q] == k[q - 1]) sums[m - 1] = op(sums[m - 1], v[q]);
      else {
        unique[m] = k[q];
        sums[m++] = v[q];
      }
    }
    *runs = m;
    return cudaSuccess;
  }
};

/* The last value that an exclusive scan reads has no part in any result. */
struct DeviceScan {
  template <typename T, typename Output, typename Op, typename Count>
  static cudaError_t InclusiveScan(void *workspace, size_t &bytes, const T *in, Output out, Op op, Count n, cudaStream_t stream = nullptr)
  {
    if (!::emulator::own_workspace(workspace, bytes, 1 + (size_t)n / 128 * sizeof(T), stream, "InclusiveScan")) return cudaSuccess;
    T total = T();

    for (Count k = 0; k < n; k++) {
      total  = k ? (T)op(total, in[k]) : in[k];
      out[k] = total;
    }
    return cudaSuccess;
  }

  template <typename T, typename Output, typename Count>
  static cudaError_t ExclusiveSum(void *workspace, size_t &bytes, const T *in, Output out, Count n, cudaStream_t stream = nullptr)
  {
    if (!::emulator::own_workspace(workspace, bytes, 1 + (size_t)n / 128 * sizeof(T), stream, "ExclusiveSum")) return cudaSuccess;
    T total = T();

    for (Count k = 0; k < n; k++) {
      const T value = in[k]; /* out may be in */

      out[k] = total;
      if (k + 1 < n) total = ::emulator::sum(total, value);
    }
    return cudaSuccess;
  }
};

/* The result is thread 0's. As with CUB, a barrier must come before the storage is used again. */
template <typename T, int Threads>
class BlockReduce {
public:
  struct TempStorage {
    T value[Threads];
  };

  explicit BlockReduce(TempStorage &s) : storage(s) { }

  template <typename Op>
  T Reduce(T value, Op op, ::emulator::Place place = ::emulator::here())
  {
    storage.value[threadIdx.x] = value;
    __syncthreads(place);
    for (int k = 1; k < Threads && threadIdx.x == 0; k++) value = op(value, storage.value[k]);
    return value;
  }

  T Sum(T value, ::emulator::Place place = ::emulator::here())
  {
    return Reduce(
      value, [](T a, T b) { return a + b; }, place);
  }

private:
  TempStorage &storage;
};

} // namespace cub

#endif
