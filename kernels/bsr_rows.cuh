/*
   Rows of an inode in shared memory, block by block, for factorizations in which a warp has an inode.
*/
#ifndef SYNCILU_BSR_ROWS_CUH
#define SYNCILU_BSR_ROWS_CUH

#include "async.cuh"
#include "cache.cuh"
#include "entries.cuh"

namespace syncilu
{

/* From block to block in shared memory: those of successive blocks stand in other banks. */
template <int B>
constexpr int STRIDE = B *B + (B % 2 ? 0 : B);

/*
   Where the number in row i and column j stands in a block. Of eight rows every other one begins in the same
   bank of shared memory, so that lanes that read a column of four rows have to take turns. In TURNED blocks
   they need not: there the halves of rows 2, 3, 6 and 7 have changed places.
*/
template <int B, bool TURNED>
__device__ __forceinline__ int at_turn(int i, int j)
{
  return i * B + (B == 8 && TURNED ? j ^ ((i & 2) << 1) : j);
}

/*
   Asks for rows of so many numbers, which begin at `own` on the pattern of the rows. ONCE: the second-level
   cache may forget them first.
*/
template <int B, bool TURNED = false, bool ONCE = false>
__device__ __forceinline__ void copy_rows(const SyncILUDeviceValues &values, size_t own, int len, double *w)
{
  const int      lane  = threadIdx.x % 32;
  const Eviction first = ONCE ? evict_first() : 0;
  auto           copy  = [&](double *to, const double *from) {
    if constexpr (ONCE) copy_number_by(first, to, from);
    else copy_if(true, to, from);
  };
  auto copy_two = [&](double *to, const double *from) {
    if constexpr (ONCE) copy_piece_by(first, to, from);
    else copy_piece(to, from);
  };

  if (B % 2 == 0 && !values.map && (size_t)values.a % 16 == 0) {
    for (int q = 2 * lane; q < len; q += 64) {
#pragma unroll
      for (int i = 0; i < B; i++) copy_two(w + q / B * STRIDE<B> + at_turn<B, TURNED>(i, q % B), (const double *)values.a + own + (size_t)i * len + q);
    }
    return;
  }
  for (int q = lane; q < len; q += 32) {
#pragma unroll
    for (int i = 0; i < B; i++) {
      double *const to = w + q / B * STRIDE<B> + at_turn<B, TURNED>(i, q % B);

      if (values.map) *to = value<double>(values, (int)(own + (size_t)i * len + q));
      else copy(to, (const double *)values.a + own + (size_t)i * len + q);
    }
  }
}

/* How many of the columns c and c + 1 a block has in row r, which there need not be. */
template <int B>
__device__ __forceinline__ int columns_of(int r, int c)
{
  return r < B ? max(0, min(2, B - c)) : 0;
}

/* The first `columns` of two numbers of a row of a block, of an even column and the next one. */
template <int B>
__device__ __forceinline__ void get_two(const double *from, int columns, double (&x)[2])
{
  if constexpr (B % 2 == 0) {
    if (!columns) return;
    const double2 pair = *(const double2 *)from;

    x[0] = pair.x;
    x[1] = pair.y;
  } else {
#pragma unroll
    for (int e = 0; e < 2; e++)
      if (e < columns) x[e] = from[e];
  }
}

template <int B>
__device__ __forceinline__ void put_two(double *to, int columns, const double (&x)[2])
{
  if constexpr (B % 2 == 0) {
    if (columns) *(double2 *)to = make_double2(x[0], x[1]);
  } else {
#pragma unroll
    for (int e = 0; e < 2; e++)
      if (e < columns) to[e] = x[e];
  }
}

} // namespace syncilu

#endif
