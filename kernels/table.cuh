/*
   Where the columns of a row stand, by a hash table in shared memory: one look, or a few, where a search
   among the columns takes as many as their number has bits, each of which waits for the one before it.
*/
#ifndef SYNCILU_TABLE_CUH
#define SYNCILU_TABLE_CUH

#include "launch.cuh"

namespace syncilu
{

/*
   Open addressing: a column is at the place that its hash says, or behind it. First come the columns, then
   the entries, then, in a table with a filter, a bit for each of the finer places that the hash says. Nearly all
   columns that are not in the row find theirs free: where most are not, a warp need not go from place to place
   until its last lane knows. A filter may be alone, for those who search.
*/
struct ColumnTable {
  static constexpr int FREE = -1; /* no column */

  int           *column;
  unsigned char *entry;
  unsigned      *filter; /* NULL: none */
  int            bits;

  __device__ __forceinline__ ColumnTable() : column(nullptr), entry(nullptr), filter(nullptr), bits(0) { }
  __device__ __forceinline__ ColumnTable(void *memory, int bits_, bool filtered = false)
    : column((int *)memory), entry((unsigned char *)(column + (1 << bits_))), filter(filtered ? (unsigned *)(entry + (1 << bits_)) : nullptr), bits(bits_)
  {
  }

  /* A filter alone, with as many bits as one beside a table of so many places. */
  static __device__ __forceinline__ ColumnTable filter_alone(void *memory, int bits)
  {
    ColumnTable t;

    t.filter = (unsigned *)memory;
    t.bits   = bits;
    return t;
  }

  /*
     D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4: multiplication by a fraction of the
     word.
  */
  static __device__ __forceinline__ unsigned hash(int c) { return (unsigned)c * 2654435769u; }
  __device__ __forceinline__ int             first(int c) const { return (int)(hash(c) >> (32 - bits)); }
  __device__ __forceinline__ int             next(int place) const { return (place + 1) & ((1 << bits) - 1); }
  /* the bit of a column: SYNCILU_TABLE_FILTER_BITS finer than its place */
  __device__ __forceinline__ unsigned bit(int c) const { return hash(c) >> (32 - bits - SYNCILU_TABLE_FILTER_BITS); }

  /*
     Fills the table with the columns of a row, by all its lanes; lanes of rows without entries come along. Of
     a block that has one row the lanes are all threads.
  */
  template <bool BLOCK = false>
  __device__ __forceinline__ void fill(const int *__restrict__ columns, int count, int lane, int lanes) const
  {
    auto sync = [] {
      if (BLOCK) __syncthreads();
      else __syncwarp();
    };

    for (int k = lane; column && k < 1 << bits; k += lanes) column[k] = FREE;
    for (int k = lane; filter && k < 1 << (bits + SYNCILU_TABLE_FILTER_BITS - 5); k += lanes) filter[k] = 0;
    sync(); /* all places are free */
    for (int e = lane; e < count; e += lanes) {
      const int c     = columns[e];
      int       place = first(c);

      if (filter) atomicOr(filter + (bit(c) >> 5), 1u << (bit(c) & 31));
      if (!column) continue;
      while (atomicCAS(column + place, FREE, c) != FREE) place = next(place);
      entry[place] = (unsigned char)e;
    }
    sync(); /* the entries are there for the other lanes */
  }

  /* The entry whose column it is, -1 if there is none; there: what stands at the first place. */
  __device__ __forceinline__ int find(int c, int there) const
  {
    int place = first(c);

    while (there != c && there != FREE) {
      place = next(place);
      there = column[place];
    }
    return there == c && c != FREE ? entry[place] : -1;
  }
  __device__ __forceinline__ int find(int c) const { return may_have(c) ? find(c, column[first(c)]) : -1; }

  /* False only where the filter knows that the row has no such column. */
  __device__ __forceinline__ bool may_have(int c) const { return !filter || (filter[bit(c) >> 5] >> (bit(c) & 31) & 1); }
};

} // namespace syncilu

#endif
