/*
   Update strategy bsr where there is no list (factor_bsr_list.cu): the factorization by inodes, a warp an
   inode, on the pattern of the rows.

   All rows of an inode wait for the same reference rows, which are inodes again, and update the same entries.
   So a lane has a column of a reference inode, reads its u' once, looks up once where the rows of the warp's
   inode have that column, and updates all of them. Within an inode rows wait for each other in registers. An
   entry gets its updates reference inode by reference inode, and of each row by row.

     for each reference inode k of inode i:    W_ik = W_ik (I + U'_kk)^-1, W_ij -= W_ik U'_kj
     then within the inode, row after row:     d_r, u'_r = w_r / d_r, w_s -= w_sr u'_r for the rows s behind

   The form is that of factor_rows.cuh: A = (W + D)(I + U'), each u' its own flag.
*/
#include "factor_bsr.h"
#include "entries.cuh"
#include "factor_relax.cuh"
#include "pivot.cuh"
#include "table.cuh"

using namespace syncilu;

namespace
{

/* Columns of a reference inode that a lane has at once. */
constexpr int AT_ONCE = 2;

/* Where a reference inode stands in the pattern: its first entry, its diagonal, its end. */
struct Reference {
  int begin, diag, end;
};

/* What shared memory has of the inode of a warp. */
template <typename V>
struct Room {
  V         *w;      /* its rows, unless they are too long */
  V         *inside; /* U' between the rows of a reference inode */
  Reference *reference;
  int       *table;
  int        stride; /* of the rows */

  __host__ __device__ static size_t round(size_t bytes) { return (bytes + 15) / 16 * 16; }
  __host__ __device__ static size_t bytes(int size, int entries, int lower)
  {
    return round((size_t)((entries * size | 1) * size + size * size) * sizeof(V)) + round((size_t)lower * sizeof(Reference)) +
           round(SyncILUTableBytes(SyncILUTableBits(entries)));
  }

  __device__ Room(unsigned char *memory, int size, int entries, int lower)
  {
    stride    = entries * size | 1; /* odd, against bank conflicts */
    w         = (V *)memory;
    inside    = w + stride * size;
    reference = (Reference *)(memory + round((size_t)(stride * size + size * size) * sizeof(V)));
    table     = (int *)((unsigned char *)reference + round((size_t)lower * sizeof(Reference)));
  }
};

/* A part of a reference inode, whose columns have been asked for. */
struct Part {
  int       source; /* the entry that names it, -1: none */
  int       first;  /* its first column of this part, counted from the diagonal block's end */
  int       column[AT_ONCE];
  Reference row;
};

/* A part of a reference inode, whose values have been asked for. */
template <typename V, int B>
struct Step {
  int source;
  int place[AT_ONCE]; /* where the own rows have the lane's columns, -1: nowhere */
  int at[AT_ONCE];    /* where U' of the first row has them */
  int width;          /* from row to row of the reference inode */
  int inner;          /* where its diagonal block stands, with U' between its rows; -1 if that has been read */
  V   u[AT_ONCE][B], inside[2];
};

template <typename V, int B, bool RELAX>
__global__ void __launch_bounds__(SYNCILU_BLOCK_FACTOR) bsr_kernel(SyncILUDeviceFactor f, SyncILUDeviceBsrFactor m)
{
  extern __shared__ __align__(16) unsigned char shared[];
  V *const val = (V *)f.val, *const pivot = (V *)f.pivot;
  const int lane                    = threadIdx.x & 31;
  const int *__restrict__ const ptr = m.inodes.pattern.ptr, *__restrict__ const col = m.inodes.pattern.col, *__restrict__ const diag = m.inodes.pattern.diag;
  const Ticket t = take_ticket(f.ticket);

  if (t >= (Ticket)f.tasks) return;
  const Room<V>     room(shared + (threadIdx.x >> 5) * Room<V>::bytes(B, m.shared, m.lower), B, m.shared, m.lower);
  const int         inode = f.order[t], begin = ptr[inode], nl = diag[inode] - begin, entries = ptr[inode + 1] - begin, len = entries * B;
  const size_t      own    = (size_t)begin * (B * B); /* where the first row begins on the pattern of the rows */
  const bool        fits   = entries <= m.shared;
  V *const          w      = fits ? room.w : (V *)m.scratch + (size_t)m.begin[inode] * (B * B);
  const int         stride = fits ? room.stride : len;
  const ColumnTable table(room.table, SyncILUTableBits(m.shared));
  Sum<V>            dropped[B]; /* by relaxation */

#pragma unroll
  for (int i = 0; i < B; i++) {
    for (int q = lane; q < len; q += 32)
      w[i * stride + q] = value<V>(f.values, (int)(own + (size_t)i * len + q)) + (q == nl * B + i ? V(diagonal_shift(f.piv)) : V(0));
    dropped[i] = {V(0), V(0)};
  }
  auto find_row = [&](int k) {
    const Reference r = {ptr[k], diag[k], ptr[k + 1]};

    return r;
  };
  for (int e = lane; e < min(nl, m.lower); e += 32) room.reference[e] = find_row(col[begin + e]);
  if (fits) table.fill(col + begin, entries, lane, 32);
  __syncwarp(); /* rows, references and table are there for all lanes */

  /* which of the reference inodes comes next, and from which column on */
  int  s = 0, first = 0;
  Part part;
  auto look = [&]() {
    part.source = -1;
    if (s >= nl) return;
    part.source       = f.turn && nl <= SYNCILU_TURNS ? f.turn[begin + s] : s;
    part.row          = part.source < m.lower ? room.reference[part.source] : find_row(col[begin + part.source]);
    part.first        = first;
    const int columns = (part.row.end - part.row.diag - 1) * B;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const int q = first + k * 32 + lane;

      part.column[k] = q < columns ? col[part.row.diag + 1 + q / B] : ColumnTable::FREE;
    }
    first += AT_ONCE * 32;
    if (first >= columns) {
      first = 0;
      s++;
    }
  };
  auto ask = [&](Step<V, B> &a) {
    const Reference r    = part.row;
    const int       base = (int)((size_t)r.begin * (B * B)), from = (r.diag + 1 - r.begin) * B;

    a.source = part.source;
    if (a.source < 0) return;
    a.width = (r.end - r.begin) * B;
    a.inner = part.first ? -1 : base + from - B;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const int q = part.first + k * 32 + lane;

      a.place[k] = -1;
      a.at[k]    = base + from + q;
      if (part.column[k] >= 0) {
        const int e = fits ? table.find(part.column[k]) : search(col, begin, begin + entries, part.column[k]) - begin;

        if (e >= 0) a.place[k] = e * B + q % B;
      }
#pragma unroll
      for (int p = 0; p < B; p++) a.u[k][p] = a.place[k] >= 0 ? load_relaxed(val + a.at[k] + (size_t)p * a.width) : V(0);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) { /* a lane has one or two of the entries between the rows */
      const int e = k * 32 + lane;

      a.inside[k] = V(0);
      if (k * 32 < B * B && a.inner >= 0 && e < B * B && e % B > e / B) a.inside[k] = load_relaxed(val + a.inner + (size_t)(e / B) * a.width + e % B);
    }
    look();
  };
  auto missing = [&](Step<V, B> &a) {
    bool some = false;

#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
#pragma unroll
      for (int p = 0; p < B; p++) some |= !is_set(a.u[k][p]);
    }
    return some || !is_set(a.inside[0]) || (B * B > 32 && !is_set(a.inside[1]));
  };
  auto again = [&](Step<V, B> &a) {
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
#pragma unroll
      for (int p = 0; p < B; p++)
        if (!is_set(a.u[k][p])) a.u[k][p] = load_relaxed(val + a.at[k] + (size_t)p * a.width);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const int e = k * 32 + lane;

      if (k * 32 < B * B && !is_set(a.inside[k])) a.inside[k] = load_relaxed(val + a.inner + (size_t)(e / B) * a.width + e % B);
    }
  };

  Step<V, B> next;
  look();
  ask(next);
  if (f.throttle > 0 && t >= (Ticket)f.throttle) wait_for_ancestor(pivot + (size_t)f.order[t - f.throttle] * B, true);
  while (next.source >= 0) {
    Step<V, B> now = next;

    ask(next);
    while (__any_sync(FULL, missing(now))) again(now);
    V *const multiplier = w + now.source * B;
    if (B > 1 && now.inner >= 0) { /* the multipliers of the rows of the reference inode, one after the other */
#pragma unroll
      for (int k = 0; k < 2; k++) {
        if (k * 32 + lane < B * B) room.inside[k * 32 + lane] = now.inside[k];
      }
      __syncwarp(); /* they are there for the lanes that have a row */
      if (lane < B) {
        V *const row = multiplier + lane * stride;
        V        l[B];

#pragma unroll
        for (int c = 0; c < B; c++) {
          l[c] = row[c];
#pragma unroll
          for (int p = 0; p < c; p++) {
            l[c] -= l[p] * room.inside[p * B + c];
            if (RELAX) { /* the lane has a row, and dropped[] is by row */
#pragma unroll
              for (int i = 0; i < B; i++)
                if (lane == i) add_product(dropped[i], l[p], -room.inside[p * B + c]);
            }
          }
          row[c] = l[c];
        }
      }
      __syncwarp(); /* so are the multipliers for all */
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      if (now.place[k] < 0) continue;
#pragma unroll
      for (int i = 0; i < B; i++) {
        V x = w[i * stride + now.place[k]];

#pragma unroll
        for (int p = 0; p < B; p++) {
          x -= multiplier[i * stride + p] * now.u[k][p];
          if (RELAX) add_product(dropped[i], multiplier[i * stride + p], -now.u[k][p]);
        }
        w[i * stride + now.place[k]] = x;
      }
    }
    __syncwarp(); /* this reference inode's updates come before the next one's */
  }
  if (RELAX) { /* what is dropped is all that the reference rows hold less what has just been used */
    for (int q = lane; __any_sync(FULL, q < nl * B); q += 32) {
      const bool mine   = q < nl * B;
      const V   *from   = (const V *)f.sum + 2 * (size_t)(mine ? col[begin + q / B] * B + q % B : 0);
      V          sum[2] = {V(0), V(0)};

      if (mine) load_relaxed_pair(from, sum);
      while (__any_sync(FULL, !is_set(sum[0]) || !is_set(sum[1]))) {
        if (!is_set(sum[0]) || !is_set(sum[1])) load_relaxed_pair(from, sum);
      }
#pragma unroll
      for (int i = 0; i < B; i++) {
        const V l = mine ? w[i * stride + q] : V(0);

        if (l != V(0)) {
          add_product(dropped[i], l, sum[0]);
          dropped[i].low += l * sum[1];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < B; i++) dropped[i] = sum_lanes<5>(dropped[i]);
  }

  /*
     From the diagonal on a lane has a column, of all rows. The first B columns are those of the inode itself:
     from them come the pivots, and the multipliers of the rows behind one another.
  */
  const int upper = len - nl * B;
  V         inverse[B], l[B][B], size[B], own_found = 0, own_d = 0; /* the last two: of the row of the lane */
  Sum<V>    sum[B];
  /* the first row with a u' = u / d that is not finite though u is: the host stores u, and would go on */
  int lost = B;

#pragma unroll
  for (int p = 0; p < B; p++) {
    inverse[p] = size[p] = V(0);
    sum[p]               = {V(0), V(0)};
#pragma unroll
    for (int i = 0; i < B; i++) l[i][p] = V(0);
  }
  for (int q = lane; q - lane < upper; q += 32) {
    const bool mine = q < upper;
    V          v[B];

#pragma unroll
    for (int i = 0; i < B; i++) v[i] = mine ? w[i * stride + nl * B + q] : V(0);
#pragma unroll
    for (int p = 0; p < B; p++) {
      if (q == lane) { /* the same for all lanes */
        V found = __shfl_sync(FULL, v[p], p);

        if (RELAX) found -= V(f.piv.relax) * (dropped[p].high + dropped[p].low);
        const V d  = shifted_pivot(f.piv, found);
        inverse[p] = V(1) / d;
        if (lane == p) {
          own_found = found;
          own_d     = d;
        }
#pragma unroll
        for (int i = p + 1; i < B; i++) l[i][p] = __shfl_sync(FULL, v[i], p);
      }
      if (mine && q > p) {
        const V u = clean(v[p] * inverse[p]);

        store_relaxed(val + own + (size_t)p * len + nl * B + q, u);
        if (!isfinite(u) && isfinite(v[p])) lost = min(lost, p);
        if (RELAX) add(sum[p], u);
        size[p] += fabs(v[p]);
#pragma unroll
        for (int i = p + 1; i < B; i++) v[i] -= l[i][p] * u;
      }
    }
    if (mine && q < B) { /* W within the inode */
#pragma unroll
      for (int i = 1; i < B; i++)
        if (i > q) val[own + (size_t)i * len + nl * B + q] = v[i];
    }
  }
  if (RELAX) {
#pragma unroll
    for (int p = 0; p < B; p++) sum[p] = sum_lanes<5>(sum[p]);
  }
#pragma unroll
  for (int p = 0; p < B; p++) {
    const int row = inode * B + p;

    if (f.size) size[p] = sum_lanes<5>(size[p]); /* of U, which cannot be had from U' after a pivot of zero */
    if (lane != p) continue;
    store_relaxed(pivot + row, clean(own_d));
    if (RELAX) {
      store_relaxed((V *)f.sum + 2 * (size_t)row, clean(sum[p].high));
      store_relaxed((V *)f.sum + 2 * (size_t)row + 1, clean(sum[p].low));
    }
    if (f.size) ((V *)f.size)[row] = size[p];
    (void)judge(f.piv, row, own_found, f.status);
  }
  if (lost < B) report(&f.status->row, inode * B + lost);
#pragma unroll
  for (int i = 0; i < B; i++) {
    for (int q = lane; q < nl * B; q += 32) val[own + (size_t)i * len + q] = w[i * stride + q];
  }
}

template <typename V, int B>
cudaError_t launch_bsr(const SyncILUDeviceFactor &f, const SyncILUDeviceBsrFactor &m, cudaStream_t stream)
{
  if constexpr (B > 1) {
    if (m.inodes.size < B) return launch_bsr<V, B - 1>(f, m, stream);
  }
  const size_t   bytes = m.warps * Room<V>::bytes(B, m.shared, m.lower);
  const unsigned grid  = blocks_for(f.tasks, m.warps);

  if (f.piv.relax != 0.0) bsr_kernel<V, B, true><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
  else bsr_kernel<V, B, false><<<grid, 32 * m.warps, bytes, stream>>>(f, m);
  return cudaGetLastError();
}

} // namespace

size_t SyncILUKernelFactorBsrBytes(int size, int entries, int lower)
{
  return Room<double>::bytes(size, entries, lower);
}

cudaError_t SyncILUKernelFactorBsr(SyncILUValueType type, SyncILUDeviceFactor f, SyncILUDeviceBsrFactor m, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.inodes.size > SYNCILU_INODE_MOST) return cudaErrorNotSupported;
  if (!f.tasks) return cudaSuccess;
  return launch_bsr<double, SYNCILU_INODE_MOST>(f, m, stream);
}
