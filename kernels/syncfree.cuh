/*
   The synchronization-free machinery: tickets, values that are their own flag, the first row that broke down.

   Progress: blocks take tickets when they start, and tickets follow an order in which every row comes after
   those it waits for. So the unfinished row of the lowest ticket belongs to a running warp and waits for
   nothing unfinished, whatever else is resident. Rows of one warp that depend on each other are waited for in
   loops that the whole warp goes round together, in which each row that has all it needs is finished.

   Poison: an array that is waited for is filled with ones in every bit, which as a floating-point
   number is a NaN that no arithmetic produces. What is published passes through clean(), so that a value of
   the user's with the same bits is never taken for one that is missing: it comes out as another NaN.
*/
#ifndef SYNCILU_SYNCFREE_CUH
#define SYNCILU_SYNCFREE_CUH

#include "memory_order.cuh"
#include "tuning.h"

namespace syncilu
{

constexpr unsigned FULL = 0xffffffffu;

typedef unsigned long long Ticket;

/*
   The ticket of this warp: the block takes one for all of its warps, since the counter is one address for the
   whole device. All threads of the block must call it, once.
*/
__device__ __forceinline__ Ticket take_ticket(Ticket *counter)
{
  __shared__ Ticket block;

  if (threadIdx.x == 0) block = atomicAdd(counter, 1ull);
  __syncthreads(); /* the ticket is there for the other warps */
  return block * (blockDim.x >> 5) + (threadIdx.x >> 5);
}

__device__ __forceinline__ bool is_set(double v)
{
  return __double2hiint(v) != -1;
}

__device__ __forceinline__ void poison(double &v)
{
  v = __longlong_as_double(-1ll);
}

__device__ __forceinline__ double clean(double v)
{
  return is_set(v) ? v : __longlong_as_double(0x7ff8000000000000ll);
}

/*
   Far from its turn a warp looks at one value that comes a few levels before its own, with pauses, instead of
   polling for all that it needs: thousands of warps that poll at full speed delay those whose turn it is by
   much more than the hop. The value belongs to a lower ticket.
*/
template <typename V>
__device__ __forceinline__ void wait_for_ancestor(const V *value, bool throttle)
{
  if (!throttle) return;
  while (!is_set(load_relaxed(value))) __nanosleep(SYNCILU_THROTTLE_PAUSE);
}

/* Row of the lowest number among those reported. */
__device__ __forceinline__ void report(int *first, int row)
{
  atomicMin(first, row);
}

} // namespace syncilu

#endif
