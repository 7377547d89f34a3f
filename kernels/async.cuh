/*
   Copies between device and shared memory that a warp does not wait for, and barriers in shared memory that
   say when they have come (compute capability 9.0): their PTX by name.

   A barrier ends a phase when all arrivals and all bytes that it expects have come, and begins the next one.
   Whoever waits names the parity of the phase, and sees what came before the arrivals.
*/
#ifndef SYNCILU_ASYNC_CUH
#define SYNCILU_ASYNC_CUH

#include "memory_order.cuh"

namespace syncilu
{

typedef unsigned long long Barrier;

__device__ __forceinline__ void barrier_begin(Barrier *b, int arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(arrivals) : "memory");
}

/*
   A number that the compiler does not compute again and again: where a step takes as long as its instructions,
   these are too many.
*/
__device__ __forceinline__ unsigned fixed_number(unsigned x)
{
  unsigned number;
  asm volatile("mov.u32 %0, %1;" : "=r"(number) : "r"(x));
  return number;
}

/* An address in shared memory likewise. */
__device__ __forceinline__ unsigned fixed_address(const void *p)
{
  return fixed_number(shared_address(p));
}

/* An address in device memory likewise. */
template <typename T>
__device__ __forceinline__ const T *fixed_pointer(const T *p)
{
  const T *address;
  asm volatile("mov.u64 %0, %1;" : "=l"(address) : "l"(p));
  return address;
}

/* One arrival, with what the thread did before. */
__device__ __forceinline__ void barrier_arrive(unsigned b)
{
  asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(b) : "memory");
}

__device__ __forceinline__ void barrier_arrive(Barrier *b)
{
  barrier_arrive(shared_address(b));
}

/* One arrival, once the thread's copy_if() before it have come. */
__device__ __forceinline__ void barrier_arrive_copied(Barrier *b)
{
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}

/* The present phase waits for so many bytes of copy_bulk() too. */
__device__ __forceinline__ void barrier_expect(Barrier *b, int bytes)
{
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}

/* Whether the phase has ended; may wait a little for it. */
__device__ __forceinline__ bool barrier_try(unsigned b, int parity)
{
  int done;
  asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.s32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(b), "r"(parity)
               : "memory");
  return done;
}

__device__ __forceinline__ bool barrier_try(Barrier *b, int parity)
{
  return barrier_try(shared_address(b), parity);
}

/* The same at once. */
__device__ __forceinline__ bool barrier_test(unsigned b, int parity)
{
  int done;
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.s32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(b), "r"(parity)
               : "memory");
  return done;
}

/*
   The warp waits asleep, as try_wait suspends it. On an H200 it goes on 150 cycles after the last arrival. A
   loop of barrier_test() takes 187 cycles, and slows down the other warps of the multiprocessor: with it,
   solves along the lines of a grid took up to 1.14 times as long.
*/
__device__ __forceinline__ void barrier_wait(unsigned b, int parity)
{
  while (!barrier_try(b, parity)) { }
}

__device__ __forceinline__ void barrier_wait(Barrier *b, int parity)
{
  while (!barrier_try(b, parity)) { }
}

/* The warps of so many threads of a block meet at a barrier of that number; each sees what all did before. */
__device__ __forceinline__ void barrier_meet(int number, int threads)
{
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* What this thread has written to shared memory, barriers too, is there for copies. */
__device__ __forceinline__ void fence_copies()
{
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}

/* The same, without barriers. */
__device__ __forceinline__ void fence_written()
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Eight bytes from device to shared memory, if `on`. */
__device__ __forceinline__ void copy_if(bool on, double *to, const double *from)
{
  asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\n@p cp.async.ca.shared.global [%0], [%1], 8;\n}" ::"r"(shared_address(to)), "l"(from), "r"((int)on)
               : "memory");
}

/* The same, or zero if not. */
__device__ __forceinline__ void copy_or_zero(bool on, double *to, const double *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(to)), "l"(from), "r"(on ? 8 : 0) : "memory");
}

/* Eight bytes to a fixed_address(). */
__device__ __forceinline__ void copy_number(unsigned to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}

/* Sixteen bytes, aligned to them, to a fixed_address(), or anywhere in shared memory. */
__device__ __forceinline__ void copy_piece(unsigned to, const void *from)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ __forceinline__ void copy_piece(void *to, const void *from)
{
  copy_piece(shared_address(to), from);
}

/* The same past the multiprocessor's own cache: what other multiprocessors have announced is there. */
__device__ __forceinline__ void copy_piece_past(void *to, const void *from)
{
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

/*
   Ends the group of this thread's copies; all groups but the last so many have come, for this thread to
   read.
*/
__device__ __forceinline__ void commit_copies()
{
  asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int GROUPS>
__device__ __forceinline__ void wait_copies()
{
  asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}

/* One thread copies a piece, a multiple of 16 bytes and aligned to them, to shared memory. */
__device__ __forceinline__ void copy_bulk(double *to, const double *from, int bytes, Barrier *b)
{
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(from), "r"(bytes),
               "r"(shared_address(b))
               : "memory");
}

/*
   One thread has a piece, as above, brought from memory to its cache. Devices before 9.0 have no instruction
   for that, and nothing depends on it.
*/
__device__ __forceinline__ void prefetch_bulk(const void *from, int bytes)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#else
  (void)from;
  (void)bytes;
#endif
}

/* A copy as by copy_bulk(), from shared to device memory. */
__device__ __forceinline__ void store_bulk(double *to, const double *from, int bytes)
{
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to), "r"(shared_address(from)), "r"(bytes)
               : "memory");
}

/* What this thread's store_bulk() read may be overwritten, or end with the block. */
__device__ __forceinline__ void wait_stores()
{
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

} // namespace syncilu

#endif
