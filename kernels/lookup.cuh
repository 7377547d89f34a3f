/*
   How the plans of the factorizations look for updates: the columns of a row are found by searches, behind a
   filter or in a table, as the lanes and the lengths of the rows suggest.
*/
#ifndef SYNCILU_LOOKUP_CUH
#define SYNCILU_LOOKUP_CUH

#include "launch.cuh"
#include "table.cuh"
#include <type_traits>

namespace syncilu
{

/* How the columns of a row are found: by searches, by searches behind a filter, or in a table. */
enum Lookup {
  SEARCHED,
  FILTERED,
  TABLED
};

/* Whether rows of at most so many entries have filters. */
__host__ __device__ __forceinline__ bool filtered(int most)
{
  return most >= SYNCILU_TABLE_FILTER;
}

/* Where a filter keeps most columns away, half the places do. */
__host__ __device__ __forceinline__ int table_bits(int most)
{
  return SyncILUTableBits(most) - (filtered(most) ? 1 : 0);
}

/* Bytes of shared memory that a row has. */
__host__ __device__ __forceinline__ size_t row_bytes(Lookup how, int most)
{
  switch (how) {
  case SEARCHED:
    return 0;
  case FILTERED:
    return SyncILUFilterBytes(SYNCILU_TABLE_FILTER_ALONE);
  default:
    return SyncILUTableBytes(table_bits(most)) + (filtered(most) ? SyncILUFilterBytes(table_bits(most)) : 0);
  }
}

/*
   What says where the columns of this lane's row are, in the memory that the launch has given to the block.
*/
template <int LG, Lookup HOW>
__device__ __forceinline__ ColumnTable table_of_row(int most, const int *__restrict__ columns, int count)
{
  ColumnTable table;

  if constexpr (HOW != SEARCHED) {
    extern __shared__ __align__(16) unsigned char shared[];
    unsigned char *const                          own = shared + (threadIdx.x >> LG) * row_bytes(HOW, most);

    if (HOW == TABLED) table = ColumnTable(own, table_bits(most), filtered(most));
    else table = ColumnTable::filter_alone(own, SYNCILU_TABLE_FILTER_ALONE);
    table.fill(columns, count, (int)(threadIdx.x & (Shape<LG>::LANES - 1)), Shape<LG>::LANES);
  }
  return table;
}

/*
   A table if those of a block fit shared memory, and rows have so many lanes that they are worth it; a filter
   where some rows are long.
*/
inline Lookup lookup(int lanes, int most)
{
  const size_t bytes = (SYNCILU_BLOCK >> lanes) * row_bytes(TABLED, most);

  if (lanes >= SYNCILU_TABLE_LANES && most <= SYNCILU_TABLE_MOST && bytes <= SYNCILU_SHARED_BYTES) return TABLED;
  return filtered(most) ? FILTERED : SEARCHED;
}

/* Calls what(how) with what lookup() says as a constant of the compiler. */
template <typename What>
cudaError_t with_lookup(int lanes, int most, What what)
{
  switch (lookup(lanes, most)) {
  case SEARCHED:
    return what(std::integral_constant<Lookup, SEARCHED>());
  case FILTERED:
    return what(std::integral_constant<Lookup, FILTERED>());
  default:
    return what(std::integral_constant<Lookup, TABLED>());
  }
}

} // namespace syncilu

#endif
