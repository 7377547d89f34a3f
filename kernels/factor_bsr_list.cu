/*
   Update strategy bsr where the plan has lists: which blocks of the reference inodes of each inode meet which
   of its own is written down, and nothing is searched. One or several warps have an inode, whose rows are at
   work in shared memory, block by block.

     for each reference inode k of inode i:    W_ik = W_ik (I + U'_kk)^-1, W_ij -= W_ik U'_kj for those j in the list
     then within the inode, row after row:     d_r, u'_r = w_r / d_r, w_s -= w_sr u'_r for the rows s behind

   What a level takes is what stands between the arrival of the last values that an inode waits for and its
   own. So a lane has one or two numbers of a block W_ij, and what it needs of U'_kj comes straight into its
   registers, asked for while the updates before are made; each lane computes the row of W_ik that it
   multiplies with. Where a warp has lanes for several blocks, it updates several W_ij at the same time.

   Where the solves go along the lines of a grid, an inode that one warp has goes to their storage as soon as
   it is finished.

   A reference inode's updates come before those of the next one in every case, so that results do not depend
   on who has an inode. The form is that of factor_rows.cuh: A = (W + D)(I + U'), each u' its own flag.
   Progress is as syncfree.cuh says: all that an inode waits for belongs to lower tickets, and its warps wait
   for each other alone.
*/
#include "factor_bsr_list.h"
#include "async.cuh"
#include "bsr_tiles.cuh"
#include "entries.cuh"
#include "pivot.cuh"

using namespace syncilu;

namespace
{

/* How a warp shares the numbers of a block: E successive ones of a row a lane, M blocks at the same time. */
template <int B>
struct Share {
  static constexpr int  E = B == 2 || B == 4 || B > 5 ? 2 : 1, LANES = (B + E - 1) / E, G = B * LANES, M = 32 / G;
  static constexpr bool PAIRS = E == 2 && B % 2 == 0;
  static constexpr int  STEPS = B < 4 ? 3 : 2; /* whose values are in registers or on their way */
  /*
     Blocks of a multiprocessor at least, where a warp has an inode, and whether the rows of the matrix are
     copied by pairs. Both together take 0.9 of the time with 15 points of 4 unknowns in random order on an
     H200; with 2 unknowns they are not faster.
  */
  static constexpr int  BLOCKS = B == 4 ? 6 : B > 5 ? 4 : 1;
  static constexpr bool PIECES = B == 4;
  /* of blocks in shared memory, so that those of successive blocks stand in other banks */
  static constexpr int STRIDE = B * B + (B % 2 ? 0 : B);
};

/* What shared memory has of an inode. */
template <typename V, int B>
struct Room {
  V                        *w;      /* its blocks */
  const int2               *word;   /* its list */
  SyncILUStructBlocksPlace *place;  /* in the tiles of the solves */
  V                        *inside; /* of this warp: the diagonal block of a reference inode, then its own */

  static __host__ __device__ size_t round(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static __host__ __device__ size_t bytes(int entries, int words, int team)
  {
    return round((size_t)entries * Share<B>::STRIDE * sizeof(V)) + round((size_t)(words + 1) * sizeof(int2)) + (size_t)team * round(B * B * sizeof(V));
  }
  __device__ Room(unsigned char *memory, int entries, int words, int member)
  {
    w = (V *)memory;
    memory += round((size_t)entries * Share<B>::STRIDE * sizeof(V));
    word   = (const int2 *)memory;
    place  = (SyncILUStructBlocksPlace *)(word + words);
    inside = (V *)(memory + round((size_t)(words + 1) * sizeof(int2)) + (size_t)member * round(B * B * sizeof(V)));
  }
};

/*
   Updates by a reference inode, as many as the warps of an inode make at the same time, whose values have
   been asked for.
*/
template <typename V, int B>
struct Step {
  int  place;       /* the block W_ik; -1: there are no more */
  bool first, last; /* of the reference inode */
  int  target;      /* the block W_ij of this lane, -1: none */
  int  at, width;   /* where the first row of U'_kj has the lane's numbers, and from row to row */
  int  inner;       /* where U'_kk stands; -1 if it is there already */
  V    u[B][Share<B>::E], inside[2];
};

template <typename V, int B>
__device__ __forceinline__ void load_row(const V *from, V (&u)[Share<B>::E], int columns)
{
  if (Share<B>::PAIRS) load_relaxed_pair(from, u);
  else {
#pragma unroll
    for (int e = 0; e < Share<B>::E; e++)
      if (e < columns) u[e] = load_relaxed(from + e);
  }
}

/* With TEAM several warps have an inode. */
template <typename V, int B, bool TEAM>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR, TEAM ? 1 : Share<B>::BLOCKS) bsr_list_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrLists m)
{
  typedef Share<B>  S;
  constexpr int     E = S::E, STRIDE = S::STRIDE, INSIDE = (B * B + 31) / 32;
  extern __shared__ __align__(16) unsigned char shared[];
  V *const val = (V *)f.val, *const pivot = (V *)f.pivot;
  const int    log = TEAM ? m.team : 0, team = 1 << log, all = 32 << log, units = S::M << log;
  const int    lane = threadIdx.x & 31, warp = threadIdx.x >> 5, member = warp & (team - 1), own_lane = member * 32 + lane;
  const Ticket t = take_ticket(f.ticket) >> log;

  if (t >= (Ticket)f.tasks) return;
  const Room<V, B>            room(shared + (warp >> log) * Room<V, B>::bytes(m.entries, m.words, team), m.entries, m.words, member);
  const int4                  task  = ((const int4 *)m.task)[t];
  const int                   inode = task.x, begin = task.y, list = task.z, nl = task.w & 255, len = (task.w >> 8 & 255) * B, words = task.w >> 16;
  const size_t                own       = (size_t)begin * (B * B); /* where the first row begins on the pattern of the rows */
  V *const                    w         = room.w;
  const int2 *const           reference = room.word;
  const unsigned short *const update    = (const unsigned short *)(room.word + nl);
  /* this lane's row and columns of a block; lanes without a block go along */
  const bool active  = lane < S::G * S::M;
  const int  in_unit = active ? lane % S::G : 0, r = in_unit / S::LANES, c = in_unit % S::LANES * E, columns = min(E, B - c);
  const int  unit = active ? member * S::M + lane / S::G : INT_MAX / 2;

  auto meet = [&]() {
    if (TEAM) barrier_meet(1 + (warp >> log), all);
    else __syncwarp();
  };

  for (int k = own_lane; k < words; k += all) copy_if(true, (double *)room.word + k, (const double *)m.word + list + k);
  copy_if(!TEAM && m.tiles.place && own_lane == 0, (double *)room.place, (const double *)(m.tiles.place + inode));
  if (S::PIECES && !f.values.map && (size_t)f.values.a % 16 == 0) {
    for (int q = 2 * own_lane; q < len; q += 2 * all) {
#pragma unroll
      for (int i = 0; i < B; i++) copy_piece(w + q / B * STRIDE + i * B + q % B, (const V *)f.values.a + own + (size_t)i * len + q);
    }
  } else {
    for (int q = own_lane; q < len; q += all) {
#pragma unroll
      for (int i = 0; i < B; i++) {
        V *const to = w + q / B * STRIDE + i * B + q % B;

        if (f.values.map) *to = value<V>(f.values, (int)(own + (size_t)i * len + q));
        else copy_if(true, to, (const V *)f.values.a + own + (size_t)i * len + q);
      }
    }
  }
  commit_copies();
  wait_copies<0>();
  meet(); /* rows and list are there for all lanes */
  const V shift = V(diagonal_shift(f.piv));
  if (shift != V(0)) {
    if (own_lane < B) w[nl * STRIDE + own_lane * (B + 1)] += shift;
    meet(); /* so is the shift */
  }
  if (f.throttle > 0 && t >= (Ticket)f.throttle) wait_for_ancestor(pivot + (size_t)f.order[t - f.throttle] * B, true);

  /* which updates of which reference inode come next, and where its first one stands in the list */
  int  s = 0, pass = 0, before = 0;
  auto ask = [&](Step<V, B> &a) {
    a.place = -1;
    if (s >= nl) return;
    const int2 k     = reference[s];
    const int  lower = k.y & 255, count = k.y >> 24 & 255, base = k.x * (B * B), q = pass + unit;

    a.place  = k.y >> 16 & 255;
    a.width  = (int)(k.y >> 8 & 255) * B;
    a.first  = pass == 0;
    a.inner  = a.first ? base + lower * B : -1;
    a.target = -1;
    a.at     = 0;
    if (q < count) {
      const unsigned short x = update[before + q];

      a.target = x & 255;
      a.at     = base + (lower + 1 + (x >> 8)) * B + c;
    }
#pragma unroll
    for (int p = 0; p < B; p++) {
#pragma unroll
      for (int e = 0; e < E; e++) a.u[p][e] = V(0);
    }
    if (a.target >= 0) {
#pragma unroll
      for (int p = 0; p < B; p++) load_row<V, B>(val + a.at + (size_t)(p * a.width), a.u[p], columns);
    }
#pragma unroll
    for (int k = 0; k < INSIDE; k++) {
      const int e = k * 32 + lane;

      a.inside[k] = V(0);
      if (a.first && e < B * B && e % B > e / B) a.inside[k] = load_relaxed(val + a.inner + (size_t)(e / B * a.width) + e % B);
    }
    pass += units;
    a.last = pass >= count;
    if (a.last) {
      before += count;
      pass = 0;
      s++;
    }
  };
  auto missing = [&](const Step<V, B> &a) {
    bool some = false;

#pragma unroll
    for (int p = 0; p < B; p++) {
#pragma unroll
      for (int e = 0; e < E; e++) some |= !is_set(a.u[p][e]);
    }
    return some;
  };
  auto missing_inside = [&](const Step<V, B> &a) { return !is_set(a.inside[0]) || !is_set(a.inside[INSIDE - 1]); };
  auto again          = [&](Step<V, B> &a) {
    if (missing(a)) {
#pragma unroll
      for (int p = 0; p < B; p++) load_row<V, B>(val + a.at + (size_t)(p * a.width), a.u[p], columns);
    }
#pragma unroll
    for (int k = 0; k < INSIDE; k++) {
      const int e = k * 32 + lane;

      if (!is_set(a.inside[k])) a.inside[k] = load_relaxed(val + a.inner + (size_t)(e / B * a.width) + e % B);
    }
  };

  V          row[B]; /* of W_ik */
  Step<V, B> steps[S::STEPS];
  auto       make = [&](int k) {
    Step<V, B> &now = steps[k];

    ask(steps[(k + S::STEPS - 1) % S::STEPS]);
    if (now.first) {
#pragma unroll
      for (int p = 0; p < B; p++) row[p] = w[now.place * STRIDE + r * B + p];
    }
    if (__any_sync(FULL, missing(now) || missing_inside(now))) {
      do again(now);
      while (__any_sync(FULL, missing(now) || missing_inside(now)));
#pragma unroll
      for (int j = 1; j < S::STEPS; j++) { /* the next ones may have come meanwhile: nobody waits for them here */
        if (steps[(k + j) % S::STEPS].place >= 0) again(steps[(k + j) % S::STEPS]);
      }
    }
    if (now.first) {
#pragma unroll
      for (int k = 0; k < INSIDE; k++)
        if (k * 32 + lane < B * B) room.inside[k * 32 + lane] = now.inside[k];
      __syncwarp(); /* U'_kk is there for all lanes */
#pragma unroll
      for (int p = 0; p < B; p++) {
#pragma unroll
        for (int j = p + 1; j < B; j++) row[j] -= row[p] * room.inside[p * B + j];
      }
    }
    if (now.target >= 0) {
      V *const to = w + now.target * STRIDE + r * B + c;
      V        x[E];

#pragma unroll
      for (int e = 0; e < E; e++) x[e] = e < columns ? to[e] : V(0);
#pragma unroll
      for (int p = 0; p < B; p++) {
#pragma unroll
        for (int e = 0; e < E; e++) x[e] -= row[p] * now.u[p][e];
      }
#pragma unroll
      for (int e = 0; e < E; e++)
        if (e < columns) to[e] = x[e];
    }
    if (now.last) {
      meet(); /* the updates by this reference inode come before the next one's, and all have read W_ik and U'_kk */
      if (unit == 0 && c == 0) {
#pragma unroll
        for (int p = 0; p < B; p++) w[now.place * STRIDE + r * B + p] = row[p];
      }
    }
  };
#pragma unroll
  for (int k = 0; k < S::STEPS - 1; k++) ask(steps[k]);
  for (bool more = true; more;) {
#pragma unroll
    for (int k = 0; k < S::STEPS; k++) {
      if (more) more = steps[k].place >= 0;
      if (more) make(k);
    }
  }

  /*
     From the diagonal on a lane has a column, of all rows. The columns of the inode itself, of which come the
     pivots and the multipliers of the rows behind one another, are those of the first lanes of each of the
     warps.
  */
  const int  upper     = len - nl * B;
  const bool tiles     = !TEAM && m.tiles.place; /* several warps would be slower than a pass of its own */
  const bool keeps     = !tiles || f.size;       /* W goes to the pattern, where sizes of rows are made of it */
  V          own_found = V(0);                   /* the pivot of the row of the lane, without shift */
  /* the first row with a u' = u / d that is not finite though u is: the host stores u, and would go on */
  int  lost   = B;
  auto place  = [&](int i, int q) { return (nl + q / B) * STRIDE + i * B + q % B; };
  auto finish = [&](int q, bool mine, const V(&v)[B], const V(&u)[B]) { /* what nobody waits for */
#pragma unroll
                                                                        for (int p = 0; p < B; p++) {
                                                                          if (!mine || q <= p) continue;
                                                                          if (!isfinite(u[p]) && isfinite(v[p])) lost = min(lost, p);
                                                                          if (f.size) w[place(p, q)] = v[p];
                                                                          else if (tiles && q >= B) w[place(p, q)] = u[p];
                                                                        }
  };
  {
    const int  q   = lane < B ? lane : B + member * (32 - B) + lane - B;
    const bool has = q < upper, mine = has && (lane >= B || member == 0);
    V *const   to = val + own + nl * B + q;
    V          v[B], u[B], inverse = V(0);

#pragma unroll
    for (int i = 0; i < B; i++) v[i] = has ? w[place(i, q)] : V(0);
    if (TEAM && f.size) meet(); /* all have read the diagonal block, which receives what sizes are made of */
#pragma unroll
    for (int p = 0; p < B; p++) {
      const V found = __shfl_sync(FULL, v[p], p);
      /* a tiny pivot that stays makes numbers that cancel, where the last bit decides what the host's are */
      const V by = f.piv.type == SYNCILU_PIVOT_SHIFT ? V(1) / shifted_pivot(f.piv, found) : reciprocal_pivot(f.piv, found);
      V       l[B];

#pragma unroll
      for (int i = p + 1; i < B; i++) l[i] = __shfl_sync(FULL, v[i], p);
      u[p] = v[p] * by;
      if (q > p) {
#pragma unroll
        for (int i = p + 1; i < B; i++) v[i] -= l[i] * u[p];
      }
      store_relaxed_if(mine && q > p, to + (size_t)p * len, clean(u[p]));
      if (lane == p) {
        own_found = found;
        inverse   = by;
      }
    }
    if (lane < B) { /* W within the inode */
      room.inside[lane * (B + 1)] = inverse;
#pragma unroll
      for (int i = 1; i < B; i++) {
        if (i <= lane) continue;
        room.inside[i * B + lane] = v[i];
        if (member == 0 && keeps) val[own + (size_t)i * len + nl * B + lane] = v[i];
      }
    }
    if (tiles && lane < B) { /* and U' */
#pragma unroll
      for (int i = 0; i < B; i++)
        if (i < lane) room.inside[i * B + lane] = u[i];
    }
    finish(q, mine, v, u);
  }
  __syncwarp(); /* pivots and multipliers are there for the other columns */
  for (int first = B + team * (32 - B) + member * 32; first < upper; first += all) {
    const int q = first + lane;
    V         v[B], u[B];

    if (q >= upper) break;
#pragma unroll
    for (int i = 0; i < B; i++) v[i] = w[place(i, q)];
#pragma unroll
    for (int p = 0; p < B; p++) {
      u[p] = v[p] * room.inside[p * (B + 1)];
#pragma unroll
      for (int i = p + 1; i < B; i++) v[i] -= room.inside[i * B + p] * u[p];
      store_relaxed(val + own + (size_t)p * len + nl * B + q, clean(u[p]));
    }
    finish(q, true, v, u);
  }
  if (lost < B) report(&f.status->row, inode * B + lost);
  if (own_lane < B) {
    store_relaxed(pivot + inode * B + lane, clean(shifted_pivot(f.piv, own_found)));
    (void)judge(f.piv, inode * B + lane, own_found, f.status);
  }
  meet(); /* W is there for all lanes, and U', or the numbers before their division */
  for (int q = own_lane; q < nl * B && keeps; q += all) {
#pragma unroll
    for (int i = 0; i < B; i++) val[own + (size_t)i * len + q] = w[q / B * STRIDE + i * B + q % B];
  }
  if (f.size && member == 0) { /* of U, which cannot be had from U' after a pivot of zero */
    for (int p = 0; p < B; p++) {
      V size = V(0);

      for (int q = lane; q < upper; q += 32)
        if (q > p) size += fabs(w[place(p, q)]);
      size = sum_of_row(size, 32);
      if (lane == p) ((V *)f.size)[inode * B + p] = size;
    }
  }
  if (!tiles) return;
  if (f.size) {
    meet(); /* the numbers before their division have been added up */
    for (int q = B + own_lane; q < upper; q += all) {
#pragma unroll
      for (int p = 0; p < B; p++) w[place(p, q)] *= room.inside[p * (B + 1)];
    }
    meet(); /* U' is there for all lanes */
  }
  store_tiles<V, B, STRIDE>(m.tiles, inode, *room.place, nl, w, room.inside, 0, 0);
}

/* Sentinels in the place of all that is waited for: U', of which a warp has the rows of an inode. */
template <typename V>
__global__ void __launch_bounds__(SYNCILU_BLOCK) bsr_begin_kernel(SyncILUDeviceInodes q, V *__restrict__ val)
{
  const long long i = global_thread() >> 5;

  if (i >= q.pattern.n) return;
  const int begin = q.pattern.ptr[i], b = q.size, from = (q.pattern.diag[i] - begin) * b, len = (q.pattern.ptr[i + 1] - begin) * b;
  V *const  rows = val + (size_t)begin * (b * b);
  for (int p = 0; p < b; p++) {
    for (int k = from + p + 1 + (threadIdx.x & 31); k < len; k += 32) poison(rows[(size_t)p * len + k]);
  }
}

/*
   The list of an inode, of which a warp finds the words; or how many there are, and the most of an inode,
   with `word` NULL.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  lists_kernel(SyncILUDevicePattern p, const unsigned char *__restrict__ turn, int *__restrict__ begin, int2 *__restrict__ word, SyncILUBsrListSizes *sizes)
{
  const long long i    = global_thread() >> 5;
  const int       lane = threadIdx.x & 31;

  if (i >= p.n) return;
  const int             from = p.ptr[i], nl = p.diag[i] - from, to = p.ptr[i + 1];
  unsigned short *const update = word ? (unsigned short *)(word + begin[i] + nl) : nullptr;
  int                   n      = 0;
  bool                  beside = false;       /* whether a block beside the diagonal has updates */
  for (int part = 0; part < nl; part += 32) { /* a lane looks for where a reference inode stands, then all go through its columns */
    const int mine = min(part + lane, nl - 1), own = turn && nl <= SYNCILU_TURNS ? turn[from + mine] : mine, k = p.col[from + own];
    const int own_base = p.ptr[k], own_diag = p.diag[k], own_end = p.ptr[k + 1];

    for (int s = part; s < min(part + 32, nl); s++) {
      const int place = __shfl_sync(FULL, own, s - part), base = __shfl_sync(FULL, own_base, s - part);
      const int diag = __shfl_sync(FULL, own_diag, s - part), last = __shfl_sync(FULL, own_end, s - part), before = n;

      for (int q = diag + 1; q < last; q += 32) {
        const int      target = q + lane < last ? search(p.col, from, to, p.col[q + lane]) : -1;
        const unsigned all    = __ballot_sync(FULL, target >= 0);

        if (update && target >= 0) update[n + __popc(all & ((1u << lane) - 1))] = (unsigned short)((q + lane - diag - 1) << 8 | (target - from));
        n += __popc(all);
        beside |= target >= 0 && target - from != nl;
      }
      if (word && lane == 0)
        word[begin[i] + s] = make_int2(base,
                                       (int)((unsigned)(diag - base) | (unsigned)(last - base) << 8 | (unsigned)place << 16 | (unsigned)(n - before) << 24));
    }
  }
  beside = __any_sync(FULL, beside);
  if (lane || word) return;
  const int words = nl + (n + 3) / 4;
  begin[i]        = words;
  if (load_stale(&sizes->most) < words) atomicMax(&sizes->most, words);
  if (beside && !load_stale(&sizes->beside)) atomicMax(&sizes->beside, 1);
  atomicAdd(&sizes->words, (unsigned long long)words);
}

/*
   What a warp needs to know of its inode, in one piece: its number, where its entries and its list begin, and
   how long these are.
*/
__global__ void tasks_kernel(SyncILUDevicePattern p, const int *__restrict__ order, const int *__restrict__ begin, int4 *__restrict__ task)
{
  const long long t = global_thread();

  if (t >= p.n) return;
  const int  i = order ? order[t] : (int)t, from = p.ptr[i];
  const int4 x = {i, from, begin[i], (p.diag[i] - from) | (p.ptr[i + 1] - from) << 8 | (begin[i + 1] - begin[i]) << 16};

  task[t] = x;
}

template <int B>
size_t bytes_of(int size, int entries, int words, int team)
{
  if constexpr (B > 2) {
    if (size < B) return bytes_of<B - 1>(size, entries, words, team);
  }
  return Room<double, B>::bytes(entries, words, team);
}

template <typename V, int B>
cudaError_t launch_list(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrLists &m, cudaStream_t stream)
{
  if constexpr (B > 2) {
    if (m.inodes.size < B) return launch_list<V, B - 1>(f, m, stream);
  }
  const size_t bytes = (size_t)(m.warps >> m.team) * Room<V, B>::bytes(m.entries, m.words, 1 << m.team);

  const unsigned grid = blocks_for((long long)f.tasks << m.team, m.warps);

  if (m.team) bsr_list_kernel<V, B, true><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
  else bsr_list_kernel<V, B, false><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
  return cudaGetLastError();
}

} // namespace

size_t SyncILUKernelFactorBsrListBytes(int size, int entries, int words, int team)
{
  return bytes_of<SYNCILU_INODE_MOST>(size, entries, words, 1 << team);
}

cudaError_t SyncILUKernelBsrLists(SyncILUDevicePattern p, const unsigned char *turn, int *begin, void *word, SyncILUBsrListSizes *sizes, cudaStream_t stream)
{
  LAUNCH(lists_kernel, 32ll * p.n, stream, p, turn, begin, (int2 *)word, sizes);
}

cudaError_t SyncILUKernelBsrListTasks(SyncILUDevicePattern p, const int *order, const int *begin, void *task, cudaStream_t stream)
{
  LAUNCH(tasks_kernel, p.n, stream, p, order, begin, (int4 *)task);
}

cudaError_t SyncILUKernelBsrListBegin(SyncILUValueType type, SyncILUDeviceInodes q, void *val, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE) return cudaErrorNotSupported;
  LAUNCH(bsr_begin_kernel<double>, 32ll * q.pattern.n, stream, q, (double *)val);
}

cudaError_t SyncILUKernelFactorBsrList(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBsrLists m, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.inodes.size < 2 || m.inodes.size > SYNCILU_INODE_MOST || f.piv.relax != 0.0) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_list<double, SYNCILU_INODE_MOST>(f, m, stream);
}
