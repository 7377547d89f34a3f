/*
   Several entries of a lane, whose numbers of x are asked for at the same time.
*/
#ifndef SYNCILU_POLLS_CUH
#define SYNCILU_POLLS_CUH

#include "triangular.cuh"

namespace syncilu
{

/*
   Where a kernel finds x, and where the solution of a row goes. load() takes what is there, settle() waits
   for a value that is not polled at a place, and again() polls one that is if it has not come. begin() and
   aim() are called by the lane that publishes, before the waiting: the first for what it loads, the second
   for what it computes of that.
*/
template <typename V, int R>
struct InMemory {
  static constexpr bool NEAR = false; /* whether a poll takes less time than a branch on the one before */

  typedef int Place;
  const V    *x; /* of the group of right-hand sides */

  __device__ __forceinline__ Place place(int position) const { return position; }
  __device__ __forceinline__ void  load(int position, V *y) const { load_values<V, R>(x + (size_t)position * R, y); }
  __device__ __forceinline__ void  settle(int, V *) const { }
  __device__ __forceinline__ void  again(Place p, V *y) const
  {
    if (!are_set<V, R>(y)) load(p, y);
  }
  __device__ __forceinline__ void begin(int) { }
  __device__ __forceinline__ void aim(int) { }
  __device__ __forceinline__ void publish(const SyncILUDeviceSolve &s, int n, int group, int position, size_t to, const V *sum) const
  {
    write_solution<V, R>(s, n, group, position, to, sum);
  }
};

template <typename V, int R>
__device__ __forceinline__ InMemory<V, R> in_memory(const SyncILUDeviceSolve &s, int n, int group)
{
  return {(const V *)s.x + (size_t)group * n * R};
}

/* a - b c where on is set. A predicate does it, while the compiler would compute and then choose. */
__device__ __forceinline__ double subtract_product_if(bool on, double a, double b, double c)
{
  asm("{\n.reg .pred p;\nsetp.ne.s32 p, %3, 0;\n@p fma.rn.f64 %0, %1, %2, %0;\n}" : "+d"(a) : "d"(-b), "d"(c), "r"((int)on));
  return a;
}

/* The values of x that these entries need, as far as they have come; zeros where there is no entry. */
template <typename V, int R, int N, typename Where>
__device__ __forceinline__ void load_needed(const Where &where, const int (&c)[N], V (&y)[N][R])
{
#pragma unroll
  for (int k = 0; k < N; k++) {
#pragma unroll
    for (int r = 0; r < R; r++) y[k][r] = V(0);
    if (c[k] >= 0) where.load(c[k], y[k]);
  }
}

/* Those of them again that have not come. */
template <typename V, int R, int N, typename Where>
__device__ __forceinline__ void load_missing(const Where &where, const typename Where::Place (&at)[N], V (&y)[N][R])
{
#pragma unroll
  for (int k = 0; k < N; k++) where.again(at[k], y[k]);
}

/* Waits for those that are not polled; then the places of the others. */
template <typename V, int R, int N, typename Where>
__device__ __forceinline__ void settle(const Where &where, const int (&c)[N], typename Where::Place (&at)[N], V (&y)[N][R])
{
#pragma unroll
  for (int k = 0; k < N; k++) {
    where.settle(c[k], y[k]);
    at[k] = where.place(c[k]);
  }
}

/* Whether all lanes of the warp have what they need. */
template <typename V, int R, int N>
__device__ __forceinline__ bool all_have(const V (&y)[N][R])
{
  bool all = true;

#pragma unroll
  for (int k = 0; k < N; k++) all &= are_set<V, R>(y[k]);
  return __all_sync(FULL, all);
}

/*
   The sum of right-hand side r less the products of these entries. Where there is no entry there is no product
   with zero: another row's infinity must not come in.
*/
template <typename V, int R, int N>
__device__ __forceinline__ V subtract_entries(V sum, const int (&c)[N], const V (&v)[N], const V (&y)[N][R], int r)
{
#pragma unroll
  for (int k = 0; k < N; k++) sum = subtract_product_if(c[k] >= 0, sum, v[k], y[k][r]);
  return sum;
}

} // namespace syncilu

#endif
