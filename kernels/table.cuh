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
   the entries.
*/
struct ColumnTable {
  static constexpr int FREE = -1; /* no column */

  int           *column;
  unsigned char *entry;
  int            bits;

  __device__ __forceinline__ ColumnTable() : column(nullptr), entry(nullptr), bits(0) { }
  __device__ __forceinline__ ColumnTable(void *memory, int bits_) : column((int *)memory), entry((unsigned char *)(column + (1 << bits_))), bits(bits_) { }

  /*
     D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4: multiplication by a fraction of the
     word.
  */
  __device__ __forceinline__ int first(int c) const { return (int)((unsigned)c * 2654435769u >> (32 - bits)); }
  __device__ __forceinline__ int next(int place) const { return (place + 1) & ((1 << bits) - 1); }

  /* Fills the table with the columns of a row, by all its lanes; lanes of rows without entries come along. */
  __device__ __forceinline__ void fill(const int *__restrict__ columns, int count, int lane, int lanes) const
  {
    for (int k = lane; k < 1 << bits; k += lanes) column[k] = FREE;
    __syncwarp(); /* all places are free */
    for (int e = lane; e < count; e += lanes) {
      const int c     = columns[e];
      int       place = first(c);

      while (atomicCAS(column + place, FREE, c) != FREE) place = next(place);
      entry[place] = (unsigned char)e;
    }
    __syncwarp(); /* the entries are there for the other lanes */
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
  __device__ __forceinline__ int find(int c) const { return find(c, column[first(c)]); }
};

} // namespace syncilu

#endif
