/*
   Update strategy bsr where no block beside the diagonal has updates, as with 5 and 7 points: a warp has an
   inode, and what an inode waits for are the inverses of the diagonal blocks D_k = (W + D)_kk (I + U'_kk) of
   its reference inodes,

     D_i = A_ii - sum_k A_ik D_k^-1 A_ki,

   since W_ik U'_ki is that product. The blocks of A are there before, and the products are made of all
   reference inodes at the same time, in place of solving with the rows of U'_kk one after the other, inode by
   inode. Elimination in [D_i I A_ij] gives the inverse, W_ii, U'_ii and U'_ij in the same steps. Nobody waits
   for what is left, U'_ij with many j, and

     W_ik = A_ik (I + U'_kk)^-1.

   Sums and products have one order, whoever has an inode and when. The form is that of factor_rows.cuh, each
   number its own flag. Progress is as syncfree.cuh says: all that an inode waits for belongs to lower
   tickets.
*/
#include "factor_bsr_diagonal.h"
#include "async.cuh"
#include "bsr_tiles.cuh"
#include "entries.cuh"
#include "pivot.cuh"

using namespace syncilu;

namespace
{

/*
   How the lanes of an inode share the numbers of a block in a product: E successive ones of a row a lane, G
   lanes a block.
*/
template <int B>
struct Share {
  static constexpr int E = B == 2 || B == 4 || B > 5 ? 2 : 1, LANES = (B + E - 1) / E, G = B * LANES;
  /* numbers of a block that are copied and polled at a time */
  static constexpr int PAIR = B % 2 ? 1 : 2;
  /* of blocks in shared memory, so that those of successive blocks stand in other banks */
  static constexpr int STRIDE = B * B + (B % 2 ? 0 : B);
  /* polls of a lane on their way */
  static constexpr int POLLS = B < 5 ? 2 : 4;
};

/*
   A reference inode: its number, and where on the pattern of the rows A_ki begins, and from row to row. -1:
   there is no A_ki.
*/
struct Reference {
  int inode, above, width;
};
static_assert(sizeof(Reference) == SYNCILU_BSR_DIAGONAL_REFERENCE, "what the plan has room for");

/* What shared memory has of an inode. */
template <typename V, int B>
struct Room {
  V         *w;       /* its blocks */
  V         *above;   /* A_ki */
  V         *inverse; /* D_k^-1, then A_ik D_k^-1 */
  V         *inner;   /* U'_kk */
  V         *inside;  /* its own diagonal block: reciprocal pivots, and W */
  Reference *reference;

  static __host__ __device__ size_t round(size_t bytes) { return (bytes + 15) / 16 * 16; }
  static __host__ __device__ size_t bytes(int entries, int lower)
  {
    return round(((size_t)entries + 3 * lower) * Share<B>::STRIDE * sizeof(V)) + round(B * B * sizeof(V)) + round(lower * sizeof(Reference));
  }
  __device__ Room(unsigned char *memory, int entries, int lower)
  {
    const int blocks = lower * Share<B>::STRIDE;

    w         = (V *)memory;
    above     = w + entries * Share<B>::STRIDE;
    inverse   = above + blocks;
    inner     = inverse + blocks;
    inside    = (V *)(memory + round(((size_t)entries + 3 * lower) * Share<B>::STRIDE * sizeof(V)));
    reference = (Reference *)((unsigned char *)inside + round(B * B * sizeof(V)));
  }
};

/*
   H lanes have an inode. Where a warp has two, these do everything together, but where the second one waits
   for the first, in whose turn it does nothing. With PIECES the matrix is aligned and as the pattern has it,
   so that pairs of its numbers are copied.
*/
template <typename V, int B, int H, bool PIECES>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR, B < 5 && H == 32 ? 8 : 6) bsr_diagonal_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrDiagonal m)
{
  typedef Share<B>  S;
  constexpr int     E = S::E, STRIDE = S::STRIDE, BB = B * B, PAIR = S::PAIR, POLLS = S::POLLS, M = H / S::G;
  extern __shared__ __align__(16) unsigned char shared[];
  V *const val = (V *)f.val, *const pivot = (V *)f.pivot, *const published = (V *)m.inverse, *const inner = (V *)m.inner;
  const int    lane   = threadIdx.x % H;           /* of those of the inode */
  const int    member = (int)threadIdx.x % 32 / H; /* which inode of the warp that is */
  const Ticket t      = take_ticket(f.ticket) * (32 / H) + member;

  if (t - member >= (Ticket)f.tasks) return;
  const bool on = H == 32 || t < (Ticket)f.tasks;
  /* all that depends on the ticket alone is asked for at once */
  const int4       task     = on ? ((const int4 *)m.task)[t] : int4();
  const Reference  own_k    = on && lane < m.lower ? ((const Reference *)m.reference)[t * m.lower + lane] : Reference();
  const bool       throttle = on && f.throttle > 0 && t >= (Ticket)f.throttle;
  const int        ancestor = throttle ? f.order ? f.order[t - f.throttle] : (int)t - f.throttle : 0;
  const int        inode = task.x, begin = task.y, nl = task.z, len = task.w * B;
  const size_t     own = (size_t)begin * BB; /* where the first row begins on the pattern of the rows */
  const Room<V, B> room(shared + (threadIdx.x / H) * Room<V, B>::bytes(m.entries, m.lower), m.entries, m.lower);
  V *const         w     = room.w;
  const V *const   a     = (const V *)f.values.a;
  const bool       tiles = m.tiles.place != nullptr;

  if (lane < nl) room.reference[lane] = own_k;
  bool follows = false; /* whether the second inode of the warp waits for the first */
  if (H < 32) {
    const int first = __shfl_sync(FULL, inode, 0);

    follows = __any_sync(FULL, member && lane < nl && own_k.inode == first);
  }
  if (PIECES) {
    for (int q = 2 * lane; q < len; q += 2 * H) {
#pragma unroll
      for (int i = 0; i < B; i++) copy_piece(w + q / B * STRIDE + i * B + q % B, a + own + (size_t)i * len + q);
    }
  } else {
    for (int q = lane; q < len; q += H) {
#pragma unroll
      for (int i = 0; i < B; i++) {
        V *const to = w + q / B * STRIDE + i * B + q % B;

        if (f.values.map) *to = value<V>(f.values, (int)(own + (size_t)i * len + q));
        else copy_if(true, to, a + own + (size_t)i * len + q);
      }
    }
  }
  __syncwarp(); /* the reference inodes are there for all lanes */
  for (int e = lane * PAIR; e < nl * BB; e += H * PAIR) {
    const Reference k  = room.reference[e / BB];
    const int       in = e % BB, from = k.above + in / B * k.width + in % B;
    V *const        to = room.above + e / BB * STRIDE + in;

    if (PIECES && k.above >= 0) copy_piece(to, a + from);
    else if (PAIR == 1 && k.above >= 0 && !f.values.map) copy_if(true, to, a + from);
    else {
#pragma unroll
      for (int h = 0; h < PAIR; h++) to[h] = k.above < 0 ? V(0) : value<V>(f.values, from + h);
    }
  }
  commit_copies();
  if (throttle) wait_for_ancestor(pivot + (size_t)ancestor * B, true);
  wait_copies<0>();
  __syncwarp(); /* so are the blocks of A */
  const V shift = V(diagonal_shift(f.piv));
  if (shift != V(0) && lane < B) w[nl * STRIDE + lane * (B + 1)] += shift; /* which a barrier below brings to the others */

  const int upper = len - nl * B;
  auto      place = [&](int i, int q) { return (nl + q / B) * STRIDE + i * B + q % B; };
  /* rows with a u' = u / d that is not finite though u is: the host stores u, and would go on */
  unsigned              bad       = 0;
  V                     own_found = V(0); /* the pivot of the row of the lane */
  SyncILUDevicePivoting piv       = f.piv;
  piv.type                        = SYNCILU_PIVOT_REJECT; /* as the compiler is to know */
  for (int turn = 0; turn <= (int)follows; turn++) {
    const bool go   = on && (!follows || member == turn);
    const int  refs = go ? nl : 0, most = H == 32 ? refs : max(refs, __shfl_xor_sync(FULL, refs, H % 32));
    for (int first = 0; first < most * BB; first += H * PAIR * POLLS) {
      V    v[POLLS][PAIR];
      auto from = [&](int k) {
        const int e = first + (k * H + lane) * PAIR;

        return published + (size_t)room.reference[e / BB].inode * BB + e % BB;
      };
      auto has   = [&](int k) { return first + (k * H + lane) * PAIR < refs * BB; };
      bool again = false;

#pragma unroll
      for (int k = 0; k < POLLS; k++) {
#pragma unroll
        for (int h = 0; h < PAIR; h++) {
          v[k][h] = V(0);
          if (has(k)) poison(v[k][h]);
        }
      }
      do {
        again = false;
#pragma unroll
        for (int k = 0; k < POLLS; k++) {
          if (is_set(v[k][0]) && is_set(v[k][PAIR - 1])) continue;
          if (PAIR == 2) load_relaxed_pair(from(k), v[k]);
          else v[k][0] = load_relaxed(from(k));
        }
#pragma unroll
        for (int k = 0; k < POLLS; k++) again |= !is_set(v[k][0]) || !is_set(v[k][PAIR - 1]);
      } while (__any_sync(FULL, again));
#pragma unroll
      for (int k = 0; k < POLLS; k++) {
        const int e = first + (k * H + lane) * PAIR;

        if (!has(k)) continue;
#pragma unroll
        for (int h = 0; h < PAIR; h++) room.inverse[e / BB * STRIDE + e % BB + h] = v[k][h];
      }
    }
    __syncwarp(); /* the inverses are there for all lanes */

    /*
       Asks for U'_kk, which is needed later. A part of it may not have been stored yet: later the lanes
       look for that. The cache may have something older than memory, but a number that has been stored
       never changes.
    */
#pragma unroll 1 /* few turns, as below */
    for (int e = lane; e < refs * BB; e += H) {
      const int in = e % BB;

      copy_if(in % B > in / B, room.inner + e / BB * STRIDE + in, inner + (size_t)room.reference[e / BB].inode * BB + in);
    }
    commit_copies();
    if constexpr (B > 4) {
      const int r = lane / 4, k = lane % 4, c = 2 * k;
      V         sum[2] = {V(0), V(0)};
      /* what a lane has of a block as the first factor of a product, and as the second one */
      auto first  = [&](const V *block, int h) { return r < B && 4 * h + k < B ? block[r * B + 4 * h + k] : V(0); };
      auto second = [&](const V *block, int h) { return r < B && 4 * h + k < B ? block[(4 * h + k) * B + r] : V(0); };

      for (int s = 0; s < refs; s++) {
        V *const inverse = room.inverse + s * STRIDE;
        V        x[2]    = {V(0), V(0)};

#pragma unroll
        for (int h = 0; h < 2; h++) add_square_product(x[0], x[1], first(w + s * STRIDE, h), second(inverse, h));
        __syncwarp(); /* all have read the inverse that the product replaces */
#pragma unroll
        for (int e = 0; e < 2; e++)
          if (r < B && c + e < B) inverse[r * B + c + e] = x[e];
      }
      __syncwarp(); /* the products are there for all lanes */
      for (int s = 0; s < refs; s++) {
#pragma unroll
        for (int h = 0; h < 2; h++) add_square_product(sum[0], sum[1], first(room.inverse + s * STRIDE, h), second(room.above + s * STRIDE, h));
      }
#pragma unroll
      for (int e = 0; e < 2; e++)
        if (r < B && c + e < B) w[nl * STRIDE + r * B + c + e] -= sum[e];
      __syncwarp(); /* D_i is there for all lanes */
    } else {
      const bool active  = lane < S::G * M;
      const int  in_unit = active ? lane % S::G : 0, r = in_unit / S::LANES, c = in_unit % S::LANES * E, columns = min(E, B - c);
      const int  unit = active ? lane / S::G : SYNCILU_BSR_DIAGONAL_MOST;
      V          sum[E];

      for (int first = 0; first < most; first += M) {
        const int s = first + unit;
        V         x[E];

#pragma unroll
        for (int e = 0; e < E; e++) x[e] = V(0);
        if (s < refs) {
#pragma unroll
          for (int p = 0; p < B; p++) {
#pragma unroll
            for (int e = 0; e < E; e++)
              if (e < columns) x[e] += w[s * STRIDE + r * B + p] * room.inverse[s * STRIDE + p * B + c + e];
          }
        }
        __syncwarp(); /* all have read the inverses that the products replace */
        if (s < refs) {
#pragma unroll
          for (int e = 0; e < E; e++)
            if (e < columns) room.inverse[s * STRIDE + r * B + c + e] = x[e];
        }
      }
      __syncwarp(); /* the products are there for all lanes */
#pragma unroll
      for (int e = 0; e < E; e++) sum[e] = V(0);
      for (int s = unit; s < refs; s += M) {
#pragma unroll
        for (int p = 0; p < B; p++) {
#pragma unroll
          for (int e = 0; e < E; e++)
            if (e < columns) sum[e] += room.inverse[s * STRIDE + r * B + p] * room.above[s * STRIDE + p * B + c + e];
        }
      }
      for (int k = 1; k < min(M, most); k++) { /* lanes of the first unit get what the others have */
#pragma unroll
        for (int e = 0; e < E; e++) {
          const V other = __shfl_sync(FULL, sum[e], k * S::G + in_unit, H);

          if (unit == 0) sum[e] += other;
        }
      }
      if (go && unit == 0) {
#pragma unroll
        for (int e = 0; e < E; e++)
          if (e < columns) w[nl * STRIDE + r * B + c + e] -= sum[e];
      }
      __syncwarp(); /* D_i is there for all lanes */
    }

    /*
     A lane has a column of D_i, of the identity, or of A_ij. A column of D_i that has had its own step stays: it has W
     below the diagonal.
  */
    {
      const int  q   = lane < B ? lane : lane - B;
      const bool has = go && (lane < B || (lane >= 2 * B && q < upper));
      V          v[B], inverse = V(0);

#pragma unroll
      for (int i = 0; i < B; i++) v[i] = has ? w[place(i, q)] : i == lane - B ? V(1) : V(0);
#pragma unroll
      for (int p = 0; p < B; p++) {
        const V    found = __shfl_sync(FULL, v[p], p, H);
        const bool live  = lane > p;
        V          l[B];

#pragma unroll
        for (int i = 0; i < B; i++)
          if (i != p) l[i] = __shfl_sync(FULL, v[i], p, H);
        const V by = reciprocal_pivot(piv, found), u = v[p] * by;
        store_relaxed_if(has && live && lane < B, inner + (size_t)inode * BB + p * B + q, clean(u));
        if (has && live && tiles) *(lane < B ? room.inside + p * B + lane : w + place(p, q)) = u;
        if (has && live && !tiles) val[own + (size_t)p * len + nl * B + q] = u;
        bad |= has && live && !isfinite(u) && isfinite(v[p]) ? 1u << p : 0u;
        if (live) {
#pragma unroll
          for (int i = 0; i < B; i++)
            if (i != p) v[i] -= l[i] * u;
          v[p] = u;
        }
        if (lane == p) {
          own_found = found;
          inverse   = by;
        }
      }
      if (go && lane >= B && lane < 2 * B) {
#pragma unroll
        for (int i = 0; i < B; i++) store_relaxed(published + (size_t)inode * BB + i * B + lane - B, clean(v[i]));
      }
      if (go && lane < B) {
        room.inside[lane * (B + 1)] = inverse;
#pragma unroll
        for (int i = 1; i < B; i++) {
          if (i <= lane) continue;
          room.inside[i * B + lane] = v[i];
          if (!tiles) val[own + (size_t)i * len + nl * B + lane] = v[i];
        }
        store_relaxed(pivot + inode * B + lane, clean(own_found));
        (void)judge(piv, inode * B + lane, own_found, f.status);
      }
    }
  }
  __syncwarp(); /* pivots and multipliers are there for the other columns */
  for (int q = H - B + lane; q < upper; q += H) {
    V v[B];

#pragma unroll
    for (int i = 0; i < B; i++) v[i] = w[place(i, q)];
#pragma unroll
    for (int p = 0; p < B; p++) {
      const V u = v[p] * room.inside[p * (B + 1)];

      bad |= !isfinite(u) && isfinite(v[p]) ? 1u << p : 0u;
#pragma unroll
      for (int i = p + 1; i < B; i++) v[i] -= room.inside[i * B + p] * u;
      if (tiles) w[place(p, q)] = u;
      else val[own + (size_t)p * len + nl * B + q] = u;
    }
  }
  if (bad) report(&f.status->row, inode * B + __ffs((int)bad) - 1);
  const SyncILUStructBlocksPlace at = on && tiles ? m.tiles.place[inode] : SyncILUStructBlocksPlace();

  wait_copies<0>();
  for (int e = lane; e < nl * BB; e += H) {
    const int in = e % BB;
    V *const  u  = room.inner + e / BB * STRIDE + in;

    if (in % B <= in / B) continue;
    while (!is_set(*u)) *u = load_relaxed(inner + (size_t)room.reference[e / BB].inode * BB + in);
  }
  __syncwarp();  /* U'_kk is there for all lanes */
#pragma unroll 1 /* there are few turns: unrolled, the kernel takes 1.03 times as long with 3 and 5 rows */
  for (int q = lane; q < nl * B; q += H) {
    V *const       to = w + q / B * STRIDE + q % B * B;
    const V *const u  = room.inner + q / B * STRIDE;
    V              row[B];

#pragma unroll
    for (int p = 0; p < B; p++) row[p] = to[p];
#pragma unroll
    for (int p = 0; p < B; p++) {
#pragma unroll
      for (int j = p + 1; j < B; j++) row[j] -= row[p] * u[p * B + j];
    }
#pragma unroll
    for (int p = 1; p < B; p++) to[p] = row[p];
  }
  __syncwarp(); /* W is there for all lanes, and U' */
  if (tiles) {
    store_tiles<V, B, STRIDE, H>(m.tiles, on ? inode : -1, at, nl, w, room.inside, f.status);
    return;
  }
  for (int q = lane; q < nl * B; q += H) {
#pragma unroll
    for (int i = 0; i < B; i++) val[own + (size_t)i * len + q] = w[q / B * STRIDE + i * B + q % B];
  }
}

/*
   What a warp needs to know of its inode: its number, where its entries begin, how many are of L, and all;
   and of its reference inodes.
*/
__global__ void __launch_bounds__(SYNCILU_BLOCK)
  bsr_diagonal_plan_kernel(SyncILUDevicePattern p, const int *__restrict__ order, int b, int lower, int4 *__restrict__ task, Reference *__restrict__ reference)
{
  const long long t = global_thread();

  if (t >= p.n) return;
  const int i = order ? order[t] : (int)t, from = p.ptr[i], nl = p.diag[i] - from;

  const int4 own = {i, from, nl, p.ptr[i + 1] - from};

  task[t] = own;
  for (int s = 0; s < nl; s++) {
    const int       k = p.col[from + s], begin = p.ptr[k], diag = p.diag[k], end = p.ptr[k + 1], e = search(p.col, diag + 1, end, i);
    const Reference x = {k, e < 0 ? -1 : begin * b * b + (e - begin) * b, (end - begin) * b};

    reference[t * lower + s] = x;
  }
}

template <int B>
size_t bytes_of(int size, int entries, int lower)
{
  if constexpr (B > 2) {
    if (size < B) return bytes_of<B - 1>(size, entries, lower);
  }
  return Room<double, B>::bytes(entries, lower);
}

template <typename V, int B, int H>
cudaError_t launch_inodes(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrDiagonal &m, cudaStream_t stream)
{
  const size_t   bytes = (size_t)m.warps * (32 / H) * Room<V, B>::bytes(m.entries, m.lower);
  const unsigned grid  = blocks_for(f.tasks, m.warps * (32 / H));

  if constexpr (B % 2 == 0) {
    if (!f.values.map && (size_t)f.values.a % 16 == 0) {
      bsr_diagonal_kernel<V, B, H, true><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
      return cudaGetLastError();
    }
  }
  bsr_diagonal_kernel<V, B, H, false><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
  return cudaGetLastError();
}

template <typename V, int B>
cudaError_t launch_diagonal(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrDiagonal &m, cudaStream_t stream)
{
  if constexpr (B > 2) {
    if (m.inodes.size < B) return launch_diagonal<V, B - 1>(f, m, stream);
  }
  if constexpr (B <= SYNCILU_BSR_DIAGONAL_TWO) {
    if (m.two) return launch_inodes<V, B, 16>(f, m, stream);
  }
  return launch_inodes<V, B, 32>(f, m, stream);
}

} // namespace

size_t SyncILUKernelFactorBsrDiagonalBytes(int size, int entries, int lower)
{
  return bytes_of<SYNCILU_INODE_MOST>(size, entries, lower);
}

cudaError_t SyncILUKernelBsrDiagonalPlan(SyncILUDevicePattern p, const int *order, SyncILUDeviceBsrDiagonal m, cudaStream_t stream)
{
  LAUNCH(bsr_diagonal_plan_kernel, p.n, stream, p, order, m.inodes.size, m.lower, (int4 *)m.task, (Reference *)m.reference);
}

cudaError_t SyncILUKernelFactorBsrDiagonal(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBsrDiagonal m, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.inodes.size < 2 || m.inodes.size > SYNCILU_INODE_MOST || f.piv.relax != 0.0 || f.piv.type != SYNCILU_PIVOT_REJECT)
    return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_diagonal<double, SYNCILU_INODE_MOST>(f, m, stream);
}
