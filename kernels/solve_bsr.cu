/*
   Solve strategy bsr: triangular solves by inodes, some lanes an inode, from the factor on the pattern of the
   matrix (BSR stands for block sparse row).

   All rows of an inode wait for the same values of x: a lane has a column, asks for its value once and multiplies
   the entries of all rows with it. The rows of an inode pass their values to each other by shuffles, so levels
   are those of inodes, not of rows.
*/
#include "solve_bsr.h"
#include "entries.cuh"
#include "polls.cuh"

using namespace syncilu;

namespace
{

/* Columns that a lane asks for at once, for inodes of B rows. */
template <int B>
struct Columns {
  static constexpr int AT_ONCE = B <= 4 ? 4 : 2;
};

/*
   Inodes that are waited for last, where levels have few inodes. A lane asks for all values of each, which
   takes registers, and so warps, that wide levels need.
*/
template <int B>
struct Late {
  static constexpr int INODES = B <= 2 ? 4 : B <= 4 ? 3 : B <= 6 ? 2 : 1;
};

/* Right-hand sides together: the sums of all rows must fit the registers. */
template <int B>
struct Together {
  static constexpr int RHS = B <= 4 ? SYNCILU_RHS_BLOCK : SYNCILU_RHS_BLOCK / 2;
};

/*
   The inodes of a task are of one level, so that the warp waits for all of them together. What they wait for
   is in tasks of lower tickets.

   What a level costs is the way from the arrival of the last value that an inode needs to the inode's own. The
   blocks of the latest inodes wait in the first B lanes, which have a row each; all other entries are summed up
   by all lanes before. From there on each of these lanes goes on with its row.
*/
template <typename V, int R, int B, int LATE>
__global__ void __launch_bounds__(SYNCILU_BLOCK_SOLVE) bsr_kernel(SyncILUDeviceBsr m, const V *__restrict__ val, SyncILUDeviceSolve s)
{
  constexpr int K = Columns<B>::AT_ONCE, N = LATE ? LATE * B : 1;
  const int     lane = threadIdx.x & 31, n = m.inodes.pattern.n * B, groups = (s.nrhs + R - 1) / R;

  if (blockIdx.x == 0 && threadIdx.x == 0 && s.reset) *s.reset = 0;
  const Ticket t = take_ticket(s.ticket);
  if (t >= (Ticket)m.tasks * groups) return;
  int                group;
  const SyncILUSlice task = m.task[split_ticket<R>(t, groups, &group)];
  const int          lg = task.shape & 7, lanes = 1 << lg, sub = lane & (lanes - 1), leader = lane & ~(lanes - 1), position = task.first + (lane >> lg);
  const bool         active = lane >> lg < task.shape >> 3, own = active && sub < B;
  const auto         where = in_memory<V, R>(s, n, group);
  const int          inode = active ? m.order[position] : 0, begin = m.inodes.pattern.ptr[inode], diag = m.inodes.pattern.diag[inode];
  const int          width = (m.inodes.pattern.ptr[inode + 1] - begin) * B; /* entries of each row */
  const int          from = m.part.begin[inode] + m.part.skip, count = active ? (m.part.end[inode] - from) * B : 0;
  const int          row             = inode * B + sub; /* of a lane that has its own */
  const V *__restrict__ const rows   = val + (size_t)begin * (B * B);
  const V *__restrict__ const part   = rows + (size_t)(from - begin) * B;
  const V *__restrict__ const pivots = rows + (size_t)(diag - begin) * B;
  SyncILULate late                   = {};
  V           sum[B][R], rest[R], inside[B], v[K][B], late_v[N], late_y[N][R], scale = 1;
  int         c[K], late_c[N];
  size_t      to = 0;

  if (LATE && active) late = m.late[position];
  /* Of entry e, the value in its column k and the first row of the inode; and how far it is to the next row. */
  auto block = [&](int e, int k, int *step) {
    if (!m.place) {
      *step = width;
      return part + (size_t)e * B + k;
    }
    const SyncILUBsrPlace place = m.place[from + e];

    *step = 1; /* a column of the transpose is a row of the pattern */
    return val + (size_t)place.begin + (size_t)k * place.width;
  };
  auto load = [&](int w) {
#pragma unroll
    for (int k = 0; k < K; k++) {
      const int q     = w + k * lanes + sub;
      bool      there = q < count;

#pragma unroll
      for (int l = 0; l < LATE; l++) there = there && q / B + 1 != late.entry[l];
      int      step  = 0;
      const V *first = there ? block(q / B, q % B, &step) : val;

      c[k] = there ? m.part.col[from + q / B] * B + q % B : -1;
#pragma unroll
      for (int i = 0; i < B; i++) v[k][i] = there ? first[(size_t)i * step] : V(0);
    }
  };

  load(0);
#pragma unroll
  for (int r = 0; r < R; r++) rest[r] = V(0);
  if (own) {
    to = out_place(s, row);
    read_rhs<V, R>(s, n, group, row, rhs_place(s, row), rest);
    if (s.scale) scale = ((const V *)s.scale)[row];
  }
#pragma unroll
  for (int j = 0; j < B; j++) inside[j] = own ? pivots[m.place ? (size_t)j * width + sub : (size_t)sub * width + j] : V(0);
#pragma unroll
  for (int k = 0; k < N; k++) {
    const int e     = LATE && own ? late.entry[k / B] - 1 : -1;
    int       step  = 0;
    const V  *first = e < 0 ? val : block(e, k % B, &step);

    late_c[k] = e < 0 ? -1 : m.part.col[from + e] * B + k % B;
    late_v[k] = e < 0 ? V(0) : first[(size_t)sub * step];
  }
#pragma unroll
  for (int i = 0; i < B; i++) {
#pragma unroll
    for (int r = 0; r < R; r++) sum[i][r] = V(0);
  }
  if (s.throttle > 0 && task.first >= s.throttle) wait_for_ancestor(where.x + (size_t)m.order[task.first - s.throttle] * B * R, true);
  load_needed(where, late_c, late_y);
  for (int w = 0;;) {
    V y[K][R];

    load_needed(where, c, y);
    while (!all_have(y)) {
      load_missing(where, c, y);
      load_missing(where, late_c, late_y);
    }
#pragma unroll
    for (int k = 0; k < K; k++) {
#pragma unroll
      for (int i = 0; i < B; i++) {
#pragma unroll
        for (int r = 0; r < R; r++) sum[i][r] -= v[k][i] * y[k][r]; /* where there is none, zero times zero */
      }
    }
    w += K * lanes;
    if (!__any_sync(FULL, w < count)) break;
    load(w);
  }
  for (int o = lanes >> 1; o; o >>= 1) { /* all sums at a time, since each step of one waits */
#pragma unroll
    for (int i = 0; i < B; i++) {
#pragma unroll
      for (int r = 0; r < R; r++) sum[i][r] += __shfl_xor_sync(FULL, sum[i][r], o);
    }
  }
#pragma unroll
  for (int i = 0; i < B; i++) {
#pragma unroll
    for (int r = 0; r < R; r++)
      if (sub == i) rest[r] += sum[i][r];
  }
  while (!all_have(late_y)) load_missing(where, late_c, late_y);
#pragma unroll
  for (int r = 0; r < R; r++) {
#pragma unroll
    for (int k = 0; k < N; k++) rest[r] -= late_v[k] * late_y[k][r];
    if (m.lower) {
#pragma unroll
      for (int j = 0; j < B; j++) {
        const V x = __shfl_sync(FULL, rest[r] * scale, leader + j);

        if (sub > j) rest[r] -= inside[j] * x;
      }
    } else {
#pragma unroll
      for (int j = B - 1; j >= 0; j--) {
        const V x = __shfl_sync(FULL, rest[r] * scale, leader + j);

        if (sub < j) rest[r] -= inside[j] * x;
      }
    }
    rest[r] *= scale;
  }
  if (own) write_solution<V, R>(s, n, group, row, to, rest);
}

/*
   The blocks of an inode whose inodes have the highest positions: those it waits for last. Counted from 1, 0
   where there are no more, or the number does not fit.
*/
__global__ void late_kernel(SyncILUDeviceBsr m, const int *__restrict__ position, SyncILULate *__restrict__ late)
{
  const long long p = global_thread();

  if (p >= m.part.n) return;
  const int inode = m.order[p], from = m.part.begin[inode] + m.part.skip, count = m.part.end[inode] - from;
  int       top[SYNCILU_LATE];

#pragma unroll
  for (int l = 0; l < SYNCILU_LATE; l++) {
    late[p].entry[l] = 0;
    top[l]           = -1;
  }
  for (int e = 0; e < min(count, UCHAR_MAX); e++) {
    int at = position[m.part.col[from + e]], which = e + 1;

#pragma unroll
    for (int l = 0; l < SYNCILU_LATE; l++) {
      if (at > top[l]) {
        const int before = top[l], entry = late[p].entry[l];

        top[l]           = at;
        late[p].entry[l] = (unsigned char)which;
        at               = before;
        which            = entry;
      }
    }
  }
}

__global__ void places_kernel(SyncILUDeviceBsr m, SyncILUBsrPlace *__restrict__ place)
{
  const long long e = global_thread();
  const int       b = m.inodes.size;

  if (e >= m.part.entries) return;
  const int inode = m.part.col[e], begin = m.inodes.pattern.ptr[inode];

  place[e].width = (m.inodes.pattern.ptr[inode + 1] - begin) * b;
  place[e].begin = begin * b * b + (m.part.src[e] - begin) * b;
}

template <typename V, int B>
cudaError_t launch_bsr(const SyncILUDeviceBsr &m, const void *val, const SyncILUDeviceSolve &s, cudaStream_t stream)
{
  constexpr int R = Together<B>::RHS;

  if constexpr (B > 1) {
    if (m.inodes.size < B) return launch_bsr<V, B - 1>(m, val, s, stream);
  }
  if (s.nrhs == 1 && m.late) bsr_kernel<V, 1, B, Late<B>::INODES><<<blocks_of(m.tasks), SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, (const V *)val, s);
  else if (s.nrhs == 1) bsr_kernel<V, 1, B, 0><<<blocks_of(m.tasks), SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, (const V *)val, s);
  else bsr_kernel<V, R, B, 0><<<blocks_of((Ticket)m.tasks * ((s.nrhs + R - 1) / R)), SYNCILU_BLOCK_SOLVE, 0, stream>>>(m, (const V *)val, s);
  return cudaGetLastError();
}

} // namespace

cudaError_t SyncILUKernelSolveBsr(SyncILUValueType type, SyncILUDeviceBsr m, const void *val, SyncILUDeviceSolve s, cudaStream_t stream)
{
  if (type != SYNCILU_DOUBLE || m.inodes.size > SYNCILU_INODE_MOST) return cudaErrorNotSupported;
  if (!m.tasks || !s.nrhs) return cudaSuccess;
  return launch_bsr<double, SYNCILU_INODE_MOST>(m, val, s, stream);
}

cudaError_t SyncILUKernelBsrLate(SyncILUDeviceBsr m, const int *position, SyncILULate *late, cudaStream_t stream)
{
  LAUNCH(late_kernel, (long long)m.part.n, stream, m, position, late);
}

cudaError_t SyncILUKernelBsrPlaces(SyncILUDeviceBsr m, SyncILUBsrPlace *place, cudaStream_t stream)
{
  LAUNCH(places_kernel, (long long)m.part.entries, stream, m, place);
}
