/*
   Sums with twice the digits of a number, for relaxation.

   A row knows what its reference rows hold, and which of it has updated its own entries. What relaxation adds
   to the diagonal is the difference of the two: where the row uses all that is large, ordinary sums would
   leave nothing but their rounding. The sums here are exact to about the square of the rounding unit (T. J.
   Dekker, Numer. Math. 18, 1971; D. E. Knuth, The Art of Computer Programming, volume 2, section 4.2.2).
*/
#ifndef SYNCILU_FACTOR_RELAX_CUH
#define SYNCILU_FACTOR_RELAX_CUH

#include "launch.cuh"

namespace syncilu
{

/* The number high + low, low the rounding error of high. */
template <typename V>
struct Sum {
  V high, low;
};

/*
   The rounded product. The compiler must not contract it with a sum, whose rounding error would be another
   one then.
*/
__device__ __forceinline__ double multiply(double a, double b)
{
  return __dmul_rn(a, b);
}

template <typename V>
__device__ __forceinline__ void add(Sum<V> &s, V v)
{
  const V high = s.high + v, part = high - s.high;

  s.low += (s.high - (high - part)) + (v - part);
  s.high = high;
}

template <typename V>
__device__ __forceinline__ void add_product(Sum<V> &s, V a, V b)
{
  const V product = multiply(a, b);

  add(s, product);
  s.low += fma(a, b, -product);
}

/* The sum over the lanes of a row, in each of them. */
template <int LG, typename V>
__device__ __forceinline__ Sum<V> sum_lanes(Sum<V> s)
{
#pragma unroll
  for (int o = Shape<LG>::LANES / 2; o; o >>= 1) {
    const V high = __shfl_xor_sync(FULL, s.high, o), low = __shfl_xor_sync(FULL, s.low, o);

    s.low += low; /* before the error of the other sum: both lanes must get the same bits */
    add(s, high);
  }
  return s;
}

} // namespace syncilu

#endif
