/*
   Block multicolor orderings, made as src/bmc.c makes them.
*/
#include "bmc.h"
#include "counting.cuh"
#include "launch.cuh"
#include "tuning.h"
#include <cub/cub.cuh>

using namespace syncilu;

namespace
{

typedef unsigned long long Key;

/* Whether the columns of row i are those of the row before it, by all lanes of the row. */
__device__ __forceinline__ bool same_as_before(const SyncILUDeviceGraph &g, int i, int lane, bool mine)
{
  const int *const ptr = g.ptr[0], *const col = g.col[0];
  const int begin = mine ? ptr[i] : 0, len = mine ? ptr[i + 1] - begin : 0, before = mine && i ? ptr[i - 1] : 0;
  bool      same = mine && i && begin - before == len;

  for (int e = lane; __any_sync(FULL, same && e < len); e += ROW_LANES) {
    const unsigned differ = __ballot_sync(FULL, same && e < len && col[begin + e] != col[before + e]);

    if (differ >> (threadIdx.x & 31 & ~(ROW_LANES - 1)) & ((1u << ROW_LANES) - 1)) same = false;
  }
  return same;
}

/* The number of each row that is unlike the one before it, else 0. */
__global__ void unlike_kernel(SyncILUDeviceGraph g, int *__restrict__ first)
{
  const long long t    = global_thread();
  const bool      mine = t / ROW_LANES < g.n;
  const int       i    = mine ? (int)(t / ROW_LANES) : 0;
  const bool      same = same_as_before(g, i, (int)(t % ROW_LANES), mine);

  if (mine && t % ROW_LANES == 0) first[i] = same ? 0 : i;
}

__global__ void count_unlike_kernel(SyncILUDeviceGraph g, unsigned long long *counts)
{
  unsigned long long sum[2] = {0, 0};

  /* the lanes of a warp go round together */
  for (long long t = global_thread(), lane = threadIdx.x & 31; (t - lane) / ROW_LANES < g.n; t += all_threads()) {
    const bool mine = t / ROW_LANES < g.n;
    const bool same = same_as_before(g, mine ? (int)(t / ROW_LANES) : 0, (int)(t % ROW_LANES), mine);

    sum[0] += mine && t % ROW_LANES == 0 && !same;
  }
  add_pair(sum, counts);
}

/* head: on entry the first of the successive rows with the same columns; then the first of the row's group. */
__global__ void groups_kernel(SyncILUDeviceGraph g, int size, int *__restrict__ head, int *__restrict__ full, int *groups)
{
  const long long i      = global_thread();
  const int       unlike = __syncthreads_count(i < g.n && head[i] == i);

  if (threadIdx.x == 0) atomicAdd(groups, unlike);
  if (i >= g.n) return;
  const int    first = head[i], own = (int)i - (int)(i - first) % size;
  const double length = g.ptr[0][own + 1] - g.ptr[0][own], depth = g.ptr[1][own + 1] - g.ptr[1][own];
  /* the rule of IsFull() in src/bmc.c */
  head[i] = own;
  full[i] = length * depth > 100.0 * g.n;
}

__global__ void full_flags_kernel(int n, const int *__restrict__ numbering, const int *__restrict__ full, int *__restrict__ flag)
{
  const long long p = global_thread();

  if (p < n) flag[p] = full[numbering ? numbering[p] : p];
}

/* before: how many full rows come before each position, and how many there are */
__global__ void full_last_kernel(int n, const int *__restrict__ numbering, const int *__restrict__ before, int *__restrict__ at, int *counts)
{
  const long long p = global_thread();

  if (p >= n) return;
  const int usual = n - before[n], ahead = before[p];
  at[before[p + 1] > ahead ? usual + ahead : (int)p - ahead] = numbering ? numbering[p] : (int)p;
  if (p == 0) *counts = usual;
}

/* Where the next block begins behind one that begins at each position; n: nowhere. */
__global__ void jumps_kernel(int n, int size, const int *__restrict__ usual, const int *__restrict__ at, const int *__restrict__ head, int *__restrict__ jump,
                             int *__restrict__ mark)
{
  const long long p = global_thread();

  if (p > n) return;
  const int end = p < *usual ? *usual : n;
  if (p + size >= end) jump[p] = end;
  else {
    const int next = at[p + size]; /* its group begins here or before, and is the first that has no room */

    jump[p] = (int)p + size - (next - head[next]);
  }
  mark[p] = p < n && (p == 0 || p == *usual);
}

/*
   Pointer doubling. Before round r = 0, 1, ... the first 2^r blocks are marked where they begin, and jump leads
   from the beginning of a block to that of the 2^r-th one behind it; twice will lead twice as far. A thread may
   see a mark that was made in this round. Then it marks the beginning of a block that is still farther on.
*/
__global__ void double_kernel(int n, const int *__restrict__ jump, int *__restrict__ twice, int *mark)
{
  const long long p = global_thread();

  if (p > n) return;
  const int to = jump[p];
  if (to < n && load_relaxed(mark + p)) store_relaxed(mark + to, 1);
  twice[p] = jump[to];
}

/* number: how many blocks begin before each position */
__global__ void blocks_kernel(int n, const int *__restrict__ usual, const int *__restrict__ at, const int *__restrict__ number, int *__restrict__ block,
                              int *__restrict__ begin, int *blocks)
{
  const long long p = global_thread();

  if (p < n) {
    const int own = number[p + 1] - 1;

    block[at[p]] = own;
    if (own == number[p]) begin[own] = (int)p;
  }
  if (p == n) {
    begin[number[n]] = n;
    blocks[0]        = number[n];
    blocks[1]        = number[*usual];
  }
}

__global__ void inside_kernel(SyncILUDeviceGraph g, int size, const int *__restrict__ block, const int *__restrict__ usual, unsigned long long *counts)
{
  unsigned long long sum[2] = {0, 0};

  for (long long t = global_thread(); t / ROW_LANES < g.n; t += all_threads()) {
    const int i = (int)(t / ROW_LANES), own = block[i], end = g.ptr[0][i + 1];
    int       others = 0;

    if (own >= *usual) continue;
    for (int e = g.ptr[0][i] + (int)(t % ROW_LANES); e < end; e += ROW_LANES) {
      const int j = g.col[0][e];

      if (j == i) continue;
      others++;
      sum[0] += block[j] == own;
    }
    /* the lanes of a row are all here, or none */
    const unsigned lanes = ((1u << ROW_LANES) - 1) << (threadIdx.x & 31 & ~(ROW_LANES - 1));
    for (int o = ROW_LANES / 2; o; o >>= 1) others += __shfl_xor_sync(lanes, others, o);
    if (t % ROW_LANES == 0) sum[1] += min(others, size - 1);
  }
  add_pair(sum, counts);
}

__global__ void heads_kernel(int n, const int *__restrict__ head, int *__restrict__ is)
{
  const long long i = global_thread();

  if (i < n) is[i] = head[i] == i;
}

/* cluster: how many groups begin before each row; the last place has their number */
__global__ void clusters_kernel(int n, const int *__restrict__ head, int *__restrict__ cluster, int *__restrict__ rows)
{
  const long long i = global_thread();

  if (i >= n) return;
  if (i == n - 1 || head[i + 1] != head[i]) rows[cluster[head[i]]] = (int)i + 1 - head[i];
}

/* For rows behind the first of their group, the groups that begin before them include their own. */
__global__ void cluster_of_kernel(int n, const int *__restrict__ head, int *__restrict__ cluster)
{
  const long long i = global_thread();

  if (i < n && head[i] != i) cluster[i]--;
}

__device__ __forceinline__ Key no_edge(int bits)
{
  return ((Key)1 << 2 * bits) - 1;
}

__global__ void edges_kernel(SyncILUDeviceGraph g, int side, int bits, const int *__restrict__ cluster, const int *__restrict__ full, Key *__restrict__ key,
                             int *__restrict__ weight)
{
  const long long t = global_thread();

  if (t / ROW_LANES >= g.n) return;
  const int  i = (int)(t / ROW_LANES), own = cluster[i], end = g.ptr[side][i + 1];
  const bool none = full[i];
  for (int e = g.ptr[side][i] + (int)(t % ROW_LANES); e < end; e += ROW_LANES) {
    const int j = g.col[side][e], other = cluster[j];

    key[e]    = none || other == own || full[j] ? no_edge(bits) : (Key)own << bits | (Key)other;
    weight[e] = 1;
  }
}

/*
   The same of a symmetric pattern whose rows are in groups: the rows of a group have the same columns, so that its first
   row has all of its edges, one for each cluster among them. Their order is any, since they are sorted next. key
   NULL: they are counted.
*/
__global__ void group_edges_kernel(SyncILUDeviceGraph g, int bits, const int *__restrict__ head, const int *__restrict__ cluster, const int *__restrict__ rows,
                                   const int *__restrict__ full, Key *__restrict__ key, int *__restrict__ weight, int *count)
{
  const long long t    = global_thread();
  const int       i    = t / ROW_LANES < g.n ? (int)(t / ROW_LANES) : 0;
  const bool      mine = t / ROW_LANES < g.n && head[i] == i && !full[i];
  const int       own = cluster[i], begin = g.ptr[0][i], end = mine ? g.ptr[0][i + 1] : 0;
  int             next = 0;

  /* first they are counted, so that the warp asks for room once */
  for (int pass = 0; pass < 2; pass++) {
    int edges = 0;

    for (int e = begin + (int)(t % ROW_LANES); __any_sync(FULL, e < end); e += ROW_LANES) {
      const int      other = e < end ? cluster[g.col[0][e]] : own;
      const bool     edge  = other != own && !full[g.col[0][e]] && (e == begin || cluster[g.col[0][e - 1]] != other);
      const unsigned all   = __ballot_sync(FULL, edge);

      if (pass && edge) {
        const int at      = next + edges + __popc(all & ((1u << (threadIdx.x & 31)) - 1));
        int       columns = 1;

        while (e + columns < end && cluster[g.col[0][e + columns]] == other) columns++;
        key[at]    = (Key)own << bits | (Key)other;
        weight[at] = rows[own] * columns;
      }
      edges += __popc(all);
    }
    if (pass || !edges) return;
    if ((threadIdx.x & 31) == 0) next = atomicAdd(count, edges);
    if (!key) return;
    next = __shfl_sync(FULL, next, 0);
  }
}

/* Each cluster looks for its first edge: many may have none. */
__global__ void edge_begins_kernel(int clusters, int bits, const Key *__restrict__ key, const int *__restrict__ sums, int *__restrict__ begin)
{
  const long long c = global_thread();

  if (c <= clusters) begin[c] = first_not_less(key, *sums, (Key)c << bits);
}

struct Add {
  __host__ __device__ __forceinline__ int operator()(int a, int b) const { return a + b; }
};

__device__ __forceinline__ unsigned mix(unsigned x)
{
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

/* Rating() in src/bmc.c: bit by bit, since products and quotients are rounded alike. */
__device__ __forceinline__ Key rating(int weight, int rows, int other_rows, int c, int other)
{
  const float r = (float)weight / ((float)rows * (float)other_rows);

  return (Key)__float_as_uint(r) << 32 | mix((unsigned)min(c, other) * 0x9e3779b1u ^ mix((unsigned)max(c, other)));
}

/* ROW_LANES lanes a cluster. */
__global__ void propose_kernel(int clusters, int bits, const int *__restrict__ rows, const int *__restrict__ begin, const int *__restrict__ end,
                               const Key *__restrict__ key, const int *__restrict__ weight, const int *__restrict__ mate, int *__restrict__ proposal)
{
  const long long t    = global_thread();
  const bool      mine = t / ROW_LANES < clusters;
  const int       c    = mine ? (int)(t / ROW_LANES) : 0;
  Key             best = 0;
  int             to   = -1;

  if (mine && mate[c] < 0) {
    for (int e = begin[c] + (int)(t % ROW_LANES); e < end[c]; e += ROW_LANES) {
      const int other = (int)(key[e] & (((Key)1 << bits) - 1));

      if (mate[other] >= 0) continue;
      const Key r = rating(weight[e], rows[c], rows[other], c, other);
      if (r < best || (r == best && other > to)) continue;
      best = r;
      to   = other;
    }
  }
  for (int o = ROW_LANES / 2; o; o >>= 1) {
    const Key r     = __shfl_xor_sync(FULL, best, o);
    const int other = __shfl_xor_sync(FULL, to, o);

    if (r > best || (r == best && other < to)) {
      best = r;
      to   = other;
    }
  }
  if (mine && t % ROW_LANES == 0) proposal[c] = to;
}

__global__ void mate_kernel(int clusters, const int *__restrict__ proposal, int *__restrict__ mate)
{
  const long long c = global_thread();

  if (c >= clusters || proposal[c] < 0) return;
  if (proposal[proposal[c]] == c) mate[c] = proposal[c];
}

/* Whether a cluster is single or the first of a pair. */
__global__ void leads_kernel(int clusters, const int *__restrict__ mate, int *__restrict__ leads)
{
  const long long c = global_thread();

  if (c < clusters) leads[c] = mate[c] < 0 || mate[c] > c;
}

__global__ void merge_kernel(int clusters, const int *__restrict__ mate, const int *__restrict__ rows, int *to, int *__restrict__ merged_rows)
{
  const long long c = global_thread();

  if (c >= clusters) return;
  /* to[c] is the number of leaders before c: the place of the pair that c leads */
  if (mate[c] < 0) merged_rows[to[c]] = rows[c];
  else if (mate[c] > c) merged_rows[to[c]] = rows[c] + rows[mate[c]];
}

/* After merge_kernel: the second of a pair goes where the first one does. */
__global__ void follow_kernel(int clusters, const int *__restrict__ mate, int *to)
{
  const long long c = global_thread();

  if (c < clusters && mate[c] >= 0 && mate[c] < c) to[c] = to[mate[c]];
}

/*
   A warp for each cluster that there is after a merger: the edges of its parts, in a table that sums them up.
   Where one has too many for it, counts[1] is not zero.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  unite_kernel(int clusters, int bits, const int *__restrict__ mate, const int *__restrict__ to, const int *__restrict__ begin, const int *__restrict__ end,
               const Key *__restrict__ key, const int *__restrict__ weight, int *__restrict__ united_begin, int *__restrict__ united_end,
               Key *__restrict__ united_key, int *__restrict__ united_weight, int *counts)
{
  constexpr int  PLACES = 256;
  __shared__ int tables[SYNCILU_BLOCK / 32][PLACES], sums[SYNCILU_BLOCK / 32][PLACES];
  const int      c = (int)(global_thread() / 32), lane = threadIdx.x & 31;
  int *const table = tables[threadIdx.x / 32], *const sum = sums[threadIdx.x / 32];
  int found = 0;

  if (c >= clusters || (mate[c] >= 0 && mate[c] < c)) return;
  const int own = to[c];
  for (int k = lane; k < PLACES; k += 32) {
    table[k] = own; /* which is none */
    sum[k]   = 0;
  }
  __syncwarp(); /* the table is free for all lanes */
  for (int part = c; part >= 0 && found >= 0; part = part == c ? mate[c] : -1) {
    for (int e = begin[part] + lane; __any_sync(FULL, e < end[part]); e += 32) {
      const int other = e < end[part] ? to[key[e] & (((Key)1 << bits) - 1)] : own;
      bool      fresh = false;

      if (found + 32 > PLACES / 4 * 3) {
        found = -1;
        break;
      }
      for (unsigned place = (unsigned)other * 2654435769u >> 24; other != own; place = (place + 1) % PLACES) {
        const int there = atomicCAS(table + place, own, other);

        fresh = there == own;
        if (!fresh && there != other) continue;
        atomicAdd(sum + place, weight[e]);
        break;
      }
      found += __popc(__ballot_sync(FULL, fresh));
    }
  }
  __syncwarp(); /* the table is there for all lanes */
  int at = 0;
  if (lane == 0) {
    at                = atomicAdd(counts, max(found, 0));
    united_begin[own] = at;
    united_end[own]   = at + max(found, 0);
    if (found < 0) counts[1] = 1;
  }
  at = __shfl_sync(FULL, at, 0);
  for (int k = lane; found > 0 && k < PLACES; k += 32) {
    const bool     is  = table[k] != own;
    const unsigned all = __ballot_sync(FULL, is);

    if (is) {
      united_key[at + __popc(all & ((1u << lane) - 1))]    = (Key)own << bits | (Key)table[k];
      united_weight[at + __popc(all & ((1u << lane) - 1))] = sum[k];
    }
    at += __popc(all);
  }
}

__global__ void move_kernel(int n, const int *__restrict__ mate, const int *__restrict__ rows, const int *__restrict__ to, const int *__restrict__ before,
                            const int *__restrict__ after, int *__restrict__ cluster, int *__restrict__ position)
{
  const long long i = global_thread();

  if (i >= n) return;
  const int c = cluster[i], other = mate[c];
  position[i] += after[to[c]] - before[c] + (other >= 0 && other < c ? rows[other] : 0);
  cluster[i] = to[c];
}

__global__ void move_edges_kernel(int edges, int from_bits, int to_bits, const int *__restrict__ to, Key *__restrict__ key)
{
  const long long e = global_thread();

  if (e >= edges) return;
  const Key k = key[e];
  Key       m = no_edge(to_bits);
  if (k != no_edge(from_bits)) {
    const int a = to[k >> from_bits], b = to[k & (((Key)1 << from_bits) - 1)];

    if (a != b) m = (Key)a << to_bits | (Key)b;
  }
  key[e] = m;
}

__global__ void color_keys_kernel(int blocks, int usual, int bits, int colors, const int *__restrict__ color, int *__restrict__ key)
{
  const long long b = global_thread();

  if (b >= blocks) return;
  if (colors) key[b] = b < usual ? colors - 1 - color[b] : colors;
  else if (b >= usual) key[b] = 1 << bits;
  else key[b] = bits ? (int)(__brev((unsigned)b) >> (32 - bits)) : 0;
}

/* A warp a block. The table has places for the most neighbours and all that a warp may find beyond. */
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  neighbours_kernel(SyncILUDeviceGraph g, int blocks, const int *__restrict__ block, const int *__restrict__ begin, const int *__restrict__ at,
                    int *__restrict__ neighbour, int *__restrict__ count)
{
  constexpr int  PLACES = 2 * SYNCILU_BMC_NEIGHBOURS;
  __shared__ int tables[SYNCILU_BLOCK / 32][PLACES];
  const int      b = (int)(global_thread() / 32), lane = threadIdx.x & 31;
  int *const     table = tables[threadIdx.x / 32];
  int            found = 0;

  if (b >= blocks) return;
  for (int k = lane; k < PLACES; k += 32) table[k] = b; /* which is none */
  __syncwarp();                                         /* the table is free for all lanes */
  for (int r = begin[b]; r < begin[b + 1]; r += 32 / ROW_LANES) {
    const bool mine = r + lane / ROW_LANES < begin[b + 1];
    const int  i    = mine ? at[r + lane / ROW_LANES] : 0;

    for (int side = 0; side < g.sides; side++) {
      const int end = mine ? g.ptr[side][i + 1] : 0;

      for (int e = g.ptr[side][i] + lane % ROW_LANES; __any_sync(FULL, e < end); e += ROW_LANES) {
        const int other = e < end ? block[g.col[side][e]] : b;
        bool      fresh = false;

        for (unsigned place = (unsigned)other * 2654435769u % PLACES; other != b; place = (place + 1) % PLACES) {
          const int there = atomicCAS(table + place, b, other);

          fresh = there == b;
          if (fresh || there == other) break;
        }
        const unsigned all  = __ballot_sync(FULL, fresh);
        const int      slot = found + __popc(all & ((1u << lane) - 1));
        if (fresh && slot < SYNCILU_BMC_NEIGHBOURS) neighbour[(size_t)b * SYNCILU_BMC_NEIGHBOURS + slot] = other;
        found += __popc(all);
        if (found > SYNCILU_BMC_NEIGHBOURS) {
          if (lane == 0) count[b] = -1;
          return;
        }
      }
    }
  }
  if (lane == 0) count[b] = found;
}

/* The bit of a block's color, counted from window on, of a block that comes before this one: waits for it. */
__device__ __forceinline__ Key color_bit(const int *color, int other, int window)
{
  int c = load_relaxed(color + other);

  for (; c < 0; c = load_relaxed(color + other)) __nanosleep(SYNCILU_LEVEL_PAUSE);
  return c >= window && c < window + 64 ? (Key)1 << (c - window) : 0;
}

/*
   The colors from window on, one a bit, that neighbours of the lane's rows have: of rows that a few lanes go
   through, then of long ones. Waits for blocks that come before this one.
*/
__device__ __forceinline__ Key colors_around(const SyncILUDeviceGraph &g, const int *__restrict__ block, const int *__restrict__ place, const int *color, int b,
                                             int i, bool mine, int turn, int window)
{
  const int lane = threadIdx.x & 31;
  Key       used = 0;

  auto look = [&](int side, int e, int end, int step) {
    for (; e < end; e += step) {
      const int other = block[g.col[side][e]];

      if (other != b && place[other] < turn) used |= color_bit(color, other, window);
    }
  };
  for (int side = 0; side < g.sides; side++) {
    const int  begin = mine ? g.ptr[side][i] : 0, end = mine ? g.ptr[side][i + 1] : 0;
    const bool many = end - begin > SYNCILU_ROW_LONG;

    if (!many) look(side, begin + lane % ROW_LANES, end, ROW_LANES);
    for (unsigned left = __ballot_sync(FULL, many && lane % ROW_LANES == 0); left; left &= left - 1) {
      const int from = __ffs(left) - 1, first = __shfl_sync(FULL, begin, from), last = __shfl_sync(FULL, end, from);

      look(side, first + lane, last, 32);
    }
  }
  return used;
}

/*
   A warp a block of rows. Progress: tickets follow the order, and a block waits for those alone that come
   before it.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  color_kernel(SyncILUDeviceGraph g, int blocks, const int *__restrict__ block, const int *__restrict__ begin, const int *__restrict__ at,
               const int *__restrict__ neighbour, const int *__restrict__ count, const int *__restrict__ order, const int *__restrict__ place, int *color,
               Ticket *ticket, int *colors)
{
  const Ticket t = take_ticket(ticket);

  if (t >= (Ticket)blocks) return;
  const int turn = (int)t, b = order[turn], known = count ? count[b] : -1, first = begin[b], last = known < 0 ? begin[b + 1] : first, lane = threadIdx.x & 31;
  for (int window = 0;; window += 64) { /* ends: with fewer than 64 k neighbours one of 64 k colors is free */
    Key used = 0;

    for (int k = lane; k < known; k += 32) {
      const int other = neighbour[(size_t)b * SYNCILU_BMC_NEIGHBOURS + k];

      if (place[other] < turn) used |= color_bit(color, other, window);
    }
    __syncwarp(); /* as below */
    for (int r = first; r < last; r += 32 / ROW_LANES) {
      const int  own  = r + lane / ROW_LANES;
      const bool mine = own < last;

      used |= colors_around(g, block, place, color, b, mine ? at[own] : 0, mine, turn, window);
      __syncwarp(); /* lanes wait for blocks of other warps */
    }
    const unsigned low = __reduce_or_sync(FULL, (unsigned)used), high = __reduce_or_sync(FULL, (unsigned)(used >> 32));
    if (low == FULL && high == FULL) continue;
    if (lane == 0) {
      const int c = window + (low != FULL ? __ffs((int)~low) - 1 : 31 + __ffs((int)~high));

      store_relaxed(color + b, c);
      if (c >= load_stale(colors)) atomicMax(colors, c + 1);
    }
    return;
  }
}

/*
   Colors that follow the numbering: Follow() in src/bmc.c says how. A warp a block; seen is -1 before, then
   its level and color. Where the rule is not for a block, *colors is FOLLOWS_NOT, and all end.

   Progress: tickets are numbers of blocks, and a block waits for those alone that come before it.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  color_along_kernel(int blocks, SyncILUFollow f, const int *__restrict__ neighbour, const int *__restrict__ count, int *seen, int *__restrict__ color,
                     Ticket *ticket, int *colors)
{
  const Ticket t = take_ticket(ticket);

  if (t >= (Ticket)blocks || load_relaxed(colors) == SYNCILU_BMC_FOLLOWS_NOT) return;
  const int b = (int)t, around = count[b], lane = threadIdx.x & 31;
  bool      fits  = around >= 0 && around < f.around;
  int       level = 0;
  Key       used  = 0;

  for (int k = lane; fits && k < around; k += 32) {
    const int other = neighbour[(size_t)b * SYNCILU_BMC_NEIGHBOURS + k];
    int       v     = other < b ? load_relaxed(seen + other) : 0;

    if (other > b) continue;
    for (; v < 0 && fits; v = load_relaxed(seen + other)) {
      fits = load_relaxed(colors) != SYNCILU_BMC_FOLLOWS_NOT;
      __nanosleep(SYNCILU_LEVEL_PAUSE);
    }
    if (!fits) break;
    level = max(level, v / 64 + 1);
    used |= (Key)1 << v % 64;
  }
  __syncwarp(); /* lanes wait for blocks of other warps */
  level = __reduce_max_sync(FULL, level);
  used  = (Key)__reduce_or_sync(FULL, (unsigned)(used >> 32)) << 32 | __reduce_or_sync(FULL, (unsigned)used);
  fits  = __all_sync(FULL, fits) && level < f.chain;
  if (lane) return;
  int c = f.cycle;
  for (int k = 0; k < f.cycle && c == f.cycle; k++) {
    if (used >> (level + k) % f.cycle & 1) continue;
    level += k;
    c = level % f.cycle;
  }
  while (fits && used >> c & 1) c++;
  color[b] = c;
  store_relaxed(seen + b, 64 * level + c);
  if (!fits) atomicMax(colors, SYNCILU_BMC_FOLLOWS_NOT);
  else if (c >= load_stale(colors)) atomicMax(colors, c + 1);
}

__global__ void block_lengths_kernel(int blocks, const int *__restrict__ begin, const int *__restrict__ order, int *__restrict__ length)
{
  const long long b = global_thread();

  if (b < blocks) length[b] = begin[order[b] + 1] - begin[order[b]];
}

/* A warp a block. */
__global__ void order_blocks_kernel(int blocks, const int *__restrict__ begin, const int *__restrict__ order, const int *__restrict__ first,
                                    const int *__restrict__ at, int *__restrict__ row)
{
  const long long q = global_thread() / 32;

  if (q >= blocks) return;
  const int b = order[q], from = begin[b], rows = begin[b + 1] - from, to = first[q];
  for (int r = threadIdx.x & 31; r < rows; r += 32) {
    const int own  = at[from + r];
    int       rank = 0;

    for (int k = 0; k < rows; k++) rank += at[from + k] < own;
    row[to + rank] = own;
  }
}

} // namespace

cudaError_t SyncILUKernelGroups(void *workspace, size_t *bytes, SyncILUDeviceGraph g, int size, int *head, int *full, int *groups, cudaStream_t stream)
{
  cudaError_t err;

  if (!workspace) return cub::DeviceScan::InclusiveScan(nullptr, *bytes, head, head, cuda::maximum<int>(), g.n, stream);
  if (!g.n) return cudaSuccess;
  unlike_kernel<<<blocks_for((long long)g.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(g, head);
  CHECK_LAUNCH();
  err = cub::DeviceScan::InclusiveScan(workspace, *bytes, head, head, cuda::maximum<int>(), g.n, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(groups_kernel, g.n, stream, g, size, head, full, groups);
}

cudaError_t SyncILUKernelFullLast(void *workspace, size_t *bytes, int n, const int *numbering, const int *full, int *at, int *counts, cudaStream_t stream)
{
  const size_t array      = round_up(((size_t)n + 1) * sizeof(int));
  int *const   flag       = (int *)workspace;
  size_t       scan_bytes = 0;
  cudaError_t  err;

  if (!workspace) {
    err    = cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, flag, flag, n + 1, stream);
    *bytes = array + scan_bytes;
    return err;
  }
  scan_bytes = *bytes - array;
  full_flags_kernel<<<blocks_for((long long)n + 1, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(n, numbering, full, flag);
  CHECK_LAUNCH();
  err = cudaMemsetAsync(flag + n, 0, sizeof(int), stream);
  if (err == cudaSuccess) err = cub::DeviceScan::ExclusiveSum((char *)workspace + array, scan_bytes, flag, flag, n + 1, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(full_last_kernel, n, stream, n, numbering, flag, at, counts);
}

cudaError_t SyncILUKernelCut(void *workspace, size_t *bytes, int n, int size, const int *usual, const int *at, const int *head, int *block, int *begin,
                             int *blocks, cudaStream_t stream)
{
  const size_t   array = round_up(((size_t)n + 1) * sizeof(int));
  int *const     mark = (int *)workspace, *jump = (int *)((char *)workspace + array), *twice = (int *)((char *)workspace + 2 * array);
  const unsigned grid       = blocks_for((long long)n + 1, SYNCILU_BLOCK);
  size_t         scan_bytes = 0;
  cudaError_t    err;

  if (!workspace) {
    err    = cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, mark, mark, n + 1, stream);
    *bytes = 3 * array + scan_bytes;
    return err;
  }
  scan_bytes = *bytes - 3 * array;
  jumps_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(n, size, usual, at, head, jump, mark);
  CHECK_LAUNCH();
  /* two successive blocks of a part have more rows than one may have */
  for (long long reached = 1; reached <= 2ll * n / size + 2; reached *= 2) {
    int *const other = twice;

    double_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(n, jump, twice, mark);
    CHECK_LAUNCH();
    twice = jump;
    jump  = other;
  }
  err = cub::DeviceScan::ExclusiveSum((char *)workspace + 3 * array, scan_bytes, mark, mark, n + 1, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(blocks_kernel, (long long)n + 1, stream, n, usual, at, mark, block, begin, blocks);
}

cudaError_t SyncILUKernelCountGroups(SyncILUDeviceGraph g, unsigned long long *counts, cudaStream_t stream)
{
  if (g.n) count_unlike_kernel<<<few_blocks_for((long long)g.n * ROW_LANES), SYNCILU_BLOCK, 0, stream>>>(g, counts);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelInside(SyncILUDeviceGraph g, int size, const int *block, const int *usual, unsigned long long *counts, cudaStream_t stream)
{
  if (g.n) inside_kernel<<<few_blocks_for((long long)g.n * ROW_LANES), SYNCILU_BLOCK, 0, stream>>>(g, size, block, usual, counts);
  return cudaGetLastError();
}

cudaError_t SyncILUKernelClusters(void *workspace, size_t *bytes, int n, const int *head, int *cluster, int *clusters, int *rows, cudaStream_t stream)
{
  cudaError_t err;

  if (!workspace) return cub::DeviceScan::ExclusiveSum(nullptr, *bytes, cluster, cluster, n + 1, stream);
  if (n) heads_kernel<<<blocks_for(n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(n, head, cluster);
  CHECK_LAUNCH();
  err = cudaMemsetAsync(cluster + n, 0, sizeof(int), stream);
  if (err == cudaSuccess) err = cub::DeviceScan::ExclusiveSum(workspace, *bytes, cluster, cluster, n + 1, stream);
  if (err == cudaSuccess) err = cudaMemcpyAsync(clusters, cluster + n, sizeof(int), cudaMemcpyDeviceToDevice, stream);
  if (err != cudaSuccess || !n) return err;
  clusters_kernel<<<blocks_for(n, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(n, head, cluster, rows);
  CHECK_LAUNCH();
  LAUNCH(cluster_of_kernel, n, stream, n, head, cluster);
}

cudaError_t SyncILUKernelEdges(SyncILUDeviceGraph g, int nnz, int bits, const int *cluster, const int *full, unsigned long long *key, int *weight,
                               cudaStream_t stream)
{
  for (int side = 0; side < g.sides && g.n; side++) {
    const size_t first = side ? (size_t)nnz : 0;

    edges_kernel<<<blocks_for((long long)g.n * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(g, side, bits, cluster, full, key + first,
                                                                                                      weight + first);
    CHECK_LAUNCH();
  }
  return cudaGetLastError();
}

cudaError_t SyncILUKernelGroupEdges(SyncILUDeviceGraph g, int bits, const int *head, const int *cluster, const int *rows, const int *full,
                                    unsigned long long *key, int *weight, int *count, cudaStream_t stream)
{
  LAUNCH(group_edges_kernel, (long long)g.n * ROW_LANES, stream, g, bits, head, cluster, rows, full, key, weight, count);
}

cudaError_t SyncILUKernelSumEdges(void *workspace, size_t *bytes, int edges, int bits, int clusters, unsigned long long *key, int *weight, int *sums,
                                  int *begin, cudaStream_t stream)
{
  const size_t keys = round_up((size_t)edges * sizeof(Key)), weights = round_up((size_t)edges * sizeof(int));
  Key *const   sorted     = (Key *)workspace;
  int *const   sorted_by  = (int *)((char *)workspace + keys);
  char *const  temp       = (char *)workspace + keys + weights;
  size_t       sort_bytes = 0, sum_bytes = 0;
  cudaError_t  err;

  if (!workspace) {
    err = cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, key, sorted, weight, sorted_by, edges, 0, 2 * bits, stream);
    if (err == cudaSuccess) err = cub::DeviceReduce::ReduceByKey(nullptr, sum_bytes, sorted, key, sorted_by, weight, sums, Add(), edges, stream);
    *bytes = keys + weights + (sort_bytes > sum_bytes ? sort_bytes : sum_bytes);
    return err;
  }
  sort_bytes = sum_bytes = *bytes - keys - weights;
  err                    = cub::DeviceRadixSort::SortPairs(temp, sort_bytes, key, sorted, weight, sorted_by, edges, 0, 2 * bits, stream);
  if (err == cudaSuccess) err = cub::DeviceReduce::ReduceByKey(temp, sum_bytes, sorted, key, sorted_by, weight, sums, Add(), edges, stream);
  if (err != cudaSuccess) return err;
  LAUNCH(edge_begins_kernel, (long long)clusters + 1, stream, clusters, bits, key, sums, begin);
}

cudaError_t SyncILUKernelMatch(int clusters, int bits, int rounds, const int *rows, const int *begin, const int *end, const unsigned long long *key,
                               const int *weight, int *proposal, int *mate, cudaStream_t stream)
{
  cudaError_t err;

  if (!clusters) return cudaSuccess;
  err = cudaMemsetAsync(mate, 0xff, (size_t)clusters * sizeof(int), stream);
  if (err != cudaSuccess) return err;
  for (int round = 0; round < rounds; round++) {
    propose_kernel<<<blocks_for((long long)clusters * ROW_LANES, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(clusters, bits, rows, begin, end, key, weight,
                                                                                                             mate, proposal);
    CHECK_LAUNCH();
    mate_kernel<<<blocks_for(clusters, SYNCILU_BLOCK), SYNCILU_BLOCK, 0, stream>>>(clusters, proposal, mate);
    CHECK_LAUNCH();
  }
  return cudaGetLastError();
}

cudaError_t SyncILUKernelMerge(void *workspace, size_t *bytes, int clusters, const int *mate, const int *rows, int *to, int *merged, int *merged_rows,
                               cudaStream_t stream)
{
  const unsigned grid = blocks_for(clusters, SYNCILU_BLOCK);
  cudaError_t    err;

  if (!workspace) return cub::DeviceScan::ExclusiveSum(nullptr, *bytes, to, to, clusters + 1, stream);
  if (!clusters) return cudaMemsetAsync(merged, 0, sizeof(int), stream);
  leads_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(clusters, mate, to);
  CHECK_LAUNCH();
  err = cudaMemsetAsync(to + clusters, 0, sizeof(int), stream);
  if (err == cudaSuccess) err = cub::DeviceScan::ExclusiveSum(workspace, *bytes, to, to, clusters + 1, stream);
  if (err == cudaSuccess) err = cudaMemcpyAsync(merged, to + clusters, sizeof(int), cudaMemcpyDeviceToDevice, stream);
  if (err != cudaSuccess) return err;
  merge_kernel<<<grid, SYNCILU_BLOCK, 0, stream>>>(clusters, mate, rows, to, merged_rows);
  CHECK_LAUNCH();
  LAUNCH(follow_kernel, clusters, stream, clusters, mate, to);
}

cudaError_t SyncILUKernelUnite(int clusters, int bits, const int *mate, const int *to, const int *begin, const int *end, const unsigned long long *key,
                               const int *weight, int *united_begin, int *united_end, unsigned long long *united_key, int *united_weight, int *counts,
                               cudaStream_t stream)
{
  LAUNCH(unite_kernel, 32ll * clusters, stream, clusters, bits, mate, to, begin, end, key, weight, united_begin, united_end, united_key, united_weight, counts);
}

cudaError_t SyncILUKernelMove(int n, const int *mate, const int *rows, const int *to, const int *before, const int *after, int *cluster, int *position,
                              cudaStream_t stream)
{
  LAUNCH(move_kernel, n, stream, n, mate, rows, to, before, after, cluster, position);
}

cudaError_t SyncILUKernelMoveEdges(int edges, int from_bits, int to_bits, const int *to, unsigned long long *key, cudaStream_t stream)
{
  LAUNCH(move_edges_kernel, edges, stream, edges, from_bits, to_bits, to, key);
}

cudaError_t SyncILUKernelColorKeys(int blocks, int usual, int bits, int colors, const int *color, int *key, cudaStream_t stream)
{
  LAUNCH(color_keys_kernel, blocks, stream, blocks, usual, bits, colors, color, key);
}

cudaError_t SyncILUKernelNeighbours(SyncILUDeviceGraph g, int blocks, const int *block, const int *begin, const int *at, int *neighbour, int *count,
                                    cudaStream_t stream)
{
  LAUNCH(neighbours_kernel, 32ll * blocks, stream, g, blocks, block, begin, at, neighbour, count);
}

cudaError_t SyncILUKernelOrderBlocks(int blocks, const int *begin, const int *order, const int *first, const int *at, int *row, cudaStream_t stream)
{
  LAUNCH(order_blocks_kernel, 32ll * blocks, stream, blocks, begin, order, first, at, row);
}

cudaError_t SyncILUKernelColor(SyncILUDeviceGraph g, int blocks, const int *block, const int *begin, const int *at, const int *neighbour, const int *count,
                               const int *order, const int *place, int *color, unsigned long long *ticket, int *colors, cudaStream_t stream)
{
  LAUNCH(color_kernel, 32ll * blocks, stream, g, blocks, block, begin, at, neighbour, count, order, place, color, ticket, colors);
}

cudaError_t SyncILUKernelFollow(int blocks, SyncILUFollow f, const int *neighbour, const int *count, int *seen, int *color, unsigned long long *ticket,
                                int *colors, cudaStream_t stream)
{
  LAUNCH(color_along_kernel, 32ll * blocks, stream, blocks, f, neighbour, count, seen, color, ticket, colors);
}

cudaError_t SyncILUKernelBlockLengths(int blocks, const int *begin, const int *order, int *length, cudaStream_t stream)
{
  LAUNCH(block_lengths_kernel, blocks, stream, blocks, begin, order, length);
}
