/*
   Products of blocks by a warp, which its multiprocessor's tensor cores make.
*/
#ifndef SYNCILU_SQUARE_CUH
#define SYNCILU_SQUARE_CUH

#include "launch.cuh"

namespace syncilu
{

/*
   C += A B of 8 x 4 and 4 x 8 numbers, by all lanes of a warp together. A lane has of A row lane / 4 and
   column lane % 4, of B row lane % 4 and column lane / 4, and of C row lane / 4, column 2 (lane % 4) and the
   next one.
*/
__device__ __forceinline__ void add_square_product(double &c0, double &c1, double a, double b)
{
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c0), "+d"(c1) : "d"(a), "d"(b));
}

} // namespace syncilu

#endif
