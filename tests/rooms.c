static char help[] = "The rooms of the CUDA backend one by one, without an engine: orders against the host's levels, storage against CSR,\n\
transposes; slices by size class; what auto leaves to the host; fingerprints.\n\n";

#include "check.h"
#include "case.h"
#include "cuda/choose.h"
#include "cuda/cuda.h"
#include "host/host.h"
#include "gpu_case.h"
#include "gpu.h"

static const char *const matrices[] = {"diagonal:50", "tridiagonal:2200", "arrow:70",       "denserow:90",      "random:400",
                                       "7pt:9x6x7",   "27pt:5x4x4",       "15pt_rcm:6x5x4", "elasticity:4x3x3", "classes:1025"};
enum {
  MATRICES = sizeof(matrices) / sizeof(matrices[0])
};

/* A plan with the pattern of a case, as far as its statistics. */
typedef struct {
  Plan            plan;
  SyncILUSettings settings;
  int             before;
} Room;

static PetscErrorCode RoomCreate(const Case *c, SyncILUAnalysis analysis, PetscBool tiles, Room *room)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(room, sizeof(*room)));
  SyncILUSettingsInitialize(&room->settings);
  room->settings.analysis = analysis;
  PetscCall(PlanCreate(&room->plan, &room->settings));
  PetscCall(PlanEnter(&room->plan, &room->before));
  PetscCall(PlanUpload(&room->plan, &c->pattern));
  tiles = (PetscBool)(tiles && PlanMayTile(&room->plan));
  PetscCall(PlanFindStatistics(&room->plan, tiles));
  if (tiles) PetscCall(PlanTile(&room->plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RoomDestroy(Room *room)
{
  PetscFunctionBegin;
  CHECK(!room->plan.unfit[0], "out of memory: %s", room->plan.unfit);
  PetscCall(PlanLeave(&room->plan, room->before));
  PetscCall(PlanDestroy(&room->plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether rows are a permutation, and each comes after those it depends on. */
static void CheckOrder(const int *row, PetscInt n, const PetscInt *ptr, const PetscInt *col, PetscInt *position, const char *what)
{
  PetscInt bad = -1;

  for (PetscInt i = 0; i < n; i++) position[i] = -1;
  for (PetscInt q = 0; q < n; q++) {
    if (row[q] < 0 || row[q] >= n || position[row[q]] >= 0) bad = q;
    else position[row[q]] = q;
  }
  CHECK(bad < 0, "%s: position %" PetscInt_FMT " has no row of its own", what, bad);
  if (bad >= 0) return;
  for (PetscInt i = 0; i < n && bad < 0; i++) {
    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) {
      if (position[col[k]] > position[i]) bad = i;
    }
  }
  CHECK(bad < 0, "%s: row %" PetscInt_FMT " comes before one it depends on", what, bad);
}

/* The order by levels has the levels of the host, and is stable. */
static PetscErrorCode TestLevels(const Case *c, const char *name, SyncILUAnalysis analysis)
{
  const SyncILUPattern *p = &c->pattern;
  const PetscInt        n = c->n;
  PetscInt             *want, *position;
  int                  *row;
  Room                  room;

  PetscFunctionBegin;
  Watch("levels of %s", name);
  PetscCall(RoomCreate(c, analysis, PETSC_FALSE, &room));
  PetscCall(PetscMalloc3(n, &want, n, &position, n, &row));
  for (int k = 0; k < 2; k++) {
    const Part      part = k ? PART_U : PART_L;
    const PetscInt *ptr = k ? p->uptr : p->lptr, *col = k ? p->ucol : p->lcol;
    PetscInt        nlevels, width;
    int            *level, levels, widest;
    char            what[128];
    Order           order;
    PetscBool       sorted = PETSC_TRUE;

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %s of %s", SyncILUAnalyses[analysis], k ? "U" : "L", name));
    PetscCall(SyncILUHostLevels(n, ptr, col, (PetscBool)!k, want, &nlevels, &width));
    PetscCall(PlanGetLevels(&room.plan, part, &level, &levels));
    if (room.plan.late || (k && room.plan.reversed)) PetscCall(SyncILUHostLevelsLate(n, ptr, col, (PetscBool)!k, nlevels, want));
    CHECK(levels == nlevels, "%s: %d levels, the host counts %" PetscInt_FMT, what, levels, nlevels);
    PetscCall(OrderCreate(&room.plan, &room.plan.memory, part, level, levels, 0, &order));
    PetscCall(DeviceReadBack(room.plan.stream, &widest, room.plan.widths + k, sizeof(widest)));
    if (analysis == SYNCILU_ANALYSIS_ASAP) CHECK(widest == width, "%s: %d rows on the widest level, the host counts %" PetscInt_FMT, what, widest, width);
    PetscCall(DeviceReadBack(room.plan.stream, row, order.row, (size_t)n * sizeof(int)));
    CheckOrder(row, n, ptr, col, position, what);
    for (PetscInt q = 1; q < n; q++) {
      if (analysis == SYNCILU_ANALYSIS_NONE) sorted = (PetscBool)(sorted && row[q] == row[q - 1] + (k ? -1 : 1));
      else sorted = (PetscBool)(sorted && (want[row[q - 1]] < want[row[q]] || (want[row[q - 1]] == want[row[q]] && row[q - 1] < row[q])));
    }
    CHECK(sorted, "%s: not sorted by the levels of the host", what);
  }
  PetscCall(PetscFree3(want, position, row));
  PetscCall(RoomDestroy(&room));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any successive rows can be blocks: a row depends on those before it alone, seen from either end. */
static PetscErrorCode CutIntoBlocks(Plan *plan, int size)
{
  const int n = plan->pattern.n;
  int      *begin;

  PetscFunctionBegin;
  plan->blocks = (n - 1) / size + 1;
  plan->colors = 1;
  PetscCall(PetscMalloc1(plan->blocks + 1, &begin));
  for (int b = 0; b <= plan->blocks; b++) begin[b] = PetscMin(b * size, n);
  PlanCall(PlanAlloc(plan, &plan->memory, (size_t)(plan->blocks + 1) * sizeof(int), &plan->block));
  PetscCall(DeviceUpload(plan->stream, plan->block, begin, (size_t)(plan->blocks + 1) * sizeof(int)));
  PetscCall(PetscFree(begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The four triangles of a strategy: their rows, their orders, and what their storage gives back. */
static PetscErrorCode TestTriangles(const Case *c, const char *name, const SolveOps *ops, PetscBool tiles)
{
  const SyncILUPattern *p        = &c->pattern;
  const PetscInt        n        = c->n;
  const PetscBool       lines    = (PetscBool)(ops->type == SYNCILU_SOLVE_STRUCT);
  char                  why[128] = "";
  Triangle              t[4];
  PetscInt             *ptr[4], *col[4], *position;
  int                  *row, *columns, *diag;
  PetscScalar          *val, *back;
  double               *device, *pivot;
  Factor                factor;
  Room                  room;

  PetscFunctionBegin;
  Watch("triangles of %s by %s", name, SolveName(ops));
  PetscCall(RoomCreate(c, tiles || lines ? SYNCILU_ANALYSIS_AUTO : SYNCILU_ANALYSIS_ASAP, tiles, &room));
  for (int part = 0; part < 2 && lines; part++) PetscCall((*ops->fits)(&room.plan, (Part)part, why, sizeof(why)));
  if (why[0]) { /* the rows are not those of a grid */
    PetscCall(RoomDestroy(&room));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ops->type == SYNCILU_SOLVE_AUTO) PetscCall(CutIntoBlocks(&room.plan, 21));
  PetscCall(PetscMalloc5(n, &position, n, &row, n, &diag, room.plan.nnz, &val, room.plan.nnz, &back));
  for (int k = 0; k < 2; k++) { /* those of the transposes are made here */
    const PetscInt *fp = k ? p->uptr : p->lptr, *fc = k ? p->ucol : p->lcol;

    ptr[k] = (PetscInt *)fp;
    col[k] = (PetscInt *)fc;
    PetscCall(PetscCalloc1(n + 2, &ptr[k + 2]));
    PetscCall(PetscMalloc1(fp[n], &col[k + 2]));
    for (PetscInt e = 0; e < fp[n]; e++) ptr[k + 2][fc[e] + 2]++;
    for (PetscInt i = 0; i <= n; i++) ptr[k + 2][i + 1] += ptr[k + 2][i];
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt e = fp[i]; e < fp[i + 1]; e++) col[k + 2][ptr[k + 2][fc[e] + 1]++] = i;
    }
  }
  for (int part = 0; part < 4; part++) {
    char what[128];

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, part %d of %s%s", SolveName(ops), part, name, tiles ? " in tiles" : ""));
    PetscCall(TriangleCreate(&room.plan, ops, (Part)part, part < 2 ? NULL : &t[part - 2], &t[part]));
    if (t[part].order.row) {
      const PetscInt size = t[part].order.inodes ? room.plan.inode : 1;

      PetscCall(DeviceReadBack(room.plan.stream, row, t[part].order.row, (size_t)(n / size) * sizeof(int)));
      for (PetscInt q = n - 1; q >= 0; q--) row[q] = (int)(row[q / size] * size + (part == PART_L || part == PART_UT ? q % size : size - 1 - q % size));
      CheckOrder(row, n, ptr[part], col[part], position, what);
    } else CHECK(t[part].order.blocks || t[part].order.lines || t[part].order.points, "%s: no order", what);
    if (part >= 2 && !ops->transposes) { /* a transpose is sorted as it is made here */
      PetscInt same = 0;
      int     *got, m = (int)ptr[part][n];

      PetscCall(PetscMalloc1((size_t)n + 1 + (size_t)m, &got));
      PetscCall(DeviceReadBack(room.plan.stream, got, t[part].rows.begin, (size_t)(n + 1) * sizeof(int)));
      PetscCall(DeviceReadBack(room.plan.stream, got + n + 1, t[part].rows.col, (size_t)m * sizeof(int)));
      for (PetscInt i = 0; i <= n; i++) same += got[i] == ptr[part][i];
      for (PetscInt e = 0; e < m; e++) same += got[n + 1 + e] == col[part][e];
      CHECK(same == n + 1 + m, "%s: the transpose is another one", what);
      PetscCall(PetscFree(got));
    }
  }
  /* values 1, 2, ... on the pattern go to the storage and come back */
  for (int e = 0; e < room.plan.nnz; e++) val[e] = e + 1.0;
  PetscCall(Upload(val, (size_t)room.plan.nnz * sizeof(*val), &device));
  PetscCall(Upload(val, (size_t)n * sizeof(*val), &pivot));
  PetscCall(PetscMemzero(&factor, sizeof(factor)));
  factor.w.values.a = factor.u.values.a = device;
  factor.d                              = pivot;
  for (int k = 0; k < 2; k++) PetscCall(TriangleUpdate(&t[k], &factor));
  PetscCall(DeviceReadBack(room.plan.stream, diag, room.plan.pattern.diag, (size_t)n * sizeof(int)));
  PetscCall(Upload(NULL, (size_t)room.plan.nnz * sizeof(int), &columns));
  {
    double  *to   = (double *)room.plan.crout;
    PetscInt same = 0;

    if (ops->values) {
      PetscCall(Upload(NULL, (size_t)room.plan.nnz * sizeof(*val), &to));
      for (int k = 0; k < 2; k++) PetscCall((*t[k].ops->values)(&t[k], to));
    }
    PetscCall(DeviceReadBack(room.plan.stream, back, to, (size_t)room.plan.nnz * sizeof(*val)));
    for (PetscInt i = 0; i < n; i++) back[diag[i]] = val[diag[i]];
    /* tiles of points have products with small triangles, of which the values are made again */
    for (int e = 0; e < room.plan.nnz; e++) same += fabs(back[e] - val[e]) <= (t[0].order.points ? 1e-11 * val[e] : 0.0);
    CHECK(same == room.plan.nnz, "%s of %s: %" PetscInt_FMT " of %d values come back from storage", SolveName(ops), name, same, room.plan.nnz);
    if (ops->values) CallCUDA(cudaFree(to));
  }
  if (ops->columns) {
    int     *got;
    PetscInt same = 0, e = 0;

    for (int k = 0; k < 2; k++) PetscCall((*t[k].ops->columns)(&t[k], columns));
    PetscCall(PetscMalloc1(room.plan.nnz, &got));
    PetscCall(DeviceReadBack(room.plan.stream, got, columns, (size_t)room.plan.nnz * sizeof(int)));
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt k = p->lptr[i]; k < p->lptr[i + 1]; k++) same += got[e++] == p->lcol[k];
      same += got[e++] == i;
      for (PetscInt k = p->uptr[i]; k < p->uptr[i + 1]; k++) same += got[e++] == p->ucol[k];
    }
    CHECK(same == room.plan.nnz, "%s of %s: %" PetscInt_FMT " of %d columns come back from storage", SolveName(ops), name, same, room.plan.nnz);
    PetscCall(PetscFree(got));
  }
  CallCUDA(cudaFree(columns));
  CallCUDA(cudaFree(device));
  CallCUDA(cudaFree(pivot));
  for (int part = 3; part >= 0; part--) PetscCall(TriangleDestroy(&t[part]));
  for (int k = 2; k < 4; k++) {
    PetscCall(PetscFree(ptr[k]));
    PetscCall(PetscFree(col[k]));
  }
  PetscCall(PetscFree5(position, row, diag, val, back));
  PetscCall(RoomDestroy(&room));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadInts(const Plan *plan, const int *device, int n, int **out)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, out));
  PetscCall(DeviceReadBack(plan->stream, *out, device, (size_t)n * sizeof(int)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The size class of a row of so many entries. */
static int Class(int entries)
{
  int k = 0;

  while (k < 6 && entries > (k ? 1 << (k - 1) : 0)) k++;
  return k;
}

static const SolveOps *FindSolve(SyncILUSolve type)
{
  int s = 0;

  while (SyncILUCUDASolves[s] && SyncILUCUDASolves[s]->type != type) s++;
  return SyncILUCUDASolves[s];
}

/*
   The storage of hyb, lane by lane: the entries of rows that are of one class and do not depend on each other,
   padding, and where the rows of more than 32 entries go on. Values are numbered on the pattern.
*/
static PetscErrorCode TestHyb(const Case *c, const char *name, SyncILUAnalysis analysis)
{
  const SolveOps *ops = FindSolve(SYNCILU_SOLVE_HYB);
  double         *number, *device, *val;
  Triangle        t[4];
  Factor          factor;
  Room            room;

  PetscFunctionBegin;
  Watch("storage of hyb for %s", name);
  PetscCall(RoomCreate(c, analysis, PETSC_FALSE, &room));
  PetscCall(PetscMalloc1(room.plan.nnz, &number));
  for (int e = 0; e < room.plan.nnz; e++) number[e] = e;
  PetscCall(Upload(number, (size_t)room.plan.nnz * sizeof(*number), &device));
  PetscCall(PetscMemzero(&factor, sizeof(factor)));
  factor.w.values.a = factor.u.values.a = device;
  factor.d                              = device;
  for (int part = 0; part < 4; part++) {
    const SyncILUDeviceTriangle *rows = &t[part].rows;
    const SyncILUDeviceEll      *ell;
    SyncILUSlice                *slice;
    const int                    n = (int)c->n;
    int                         *begin, *end, *rowcol, *src, *order, *col, *of, wrong = 0, alone = 0, next = 0;
    char                         what[128];

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s, part %d of %s", SyncILUAnalyses[analysis], part, name));
    PetscCall(TriangleCreate(&room.plan, ops, (Part)part, part < 2 ? NULL : &t[part - 2], &t[part]));
    PetscCall(TriangleUpdate(&t[part], &factor));
    ell = (const SyncILUDeviceEll *)t[part].data;
    PetscCall(ReadInts(&room.plan, rows->begin, n, &begin));
    PetscCall(ReadInts(&room.plan, rows->end, n, &end));
    PetscCall(ReadInts(&room.plan, rows->col, part < 2 ? room.plan.nnz : rows->entries, &rowcol));
    PetscCall(ReadInts(&room.plan, rows->src, rows->src ? rows->entries : 0, &src));
    PetscCall(ReadInts(&room.plan, ell->order, n, &order));
    PetscCall(ReadInts(&room.plan, ell->col, 32 * ell->slices, &col));
    PetscCall(PetscMalloc3(ell->slices, &slice, 32 * ell->slices, &val, n, &of));
    PetscCall(DeviceReadBack(room.plan.stream, slice, ell->slice, (size_t)ell->slices * sizeof(*slice)));
    PetscCall(DeviceReadBack(room.plan.stream, val, ell->val, (size_t)ell->slices * 32 * sizeof(*val)));
    for (int i = 0; i < n; i++) of[i] = -1;
    for (int s = 0; s < ell->slices; s++) {
      const int lanes = 1 << (slice[s].shape & 7), count = slice[s].shape >> 3;

      if (slice[s].first != next || count < 1 || count * lanes > 32) wrong++;
      next += count;
      for (int k = 0; k < count; k++) of[order[slice[s].first + k]] = s;
      for (int lane = 0; lane < 32; lane++) {
        const int i = lane / lanes < count ? order[slice[s].first + lane / lanes] : -1, b = i < 0 ? 0 : begin[i] + rows->skip, length = i < 0 ? 0 : end[i] - b;
        const int e = b + lane % lanes - (length > 32), at = 32 * s + lane;

        if (length > 32 && lane == 0) wrong += col[at] != b || val[at] != end[i];
        else if (i >= 0 && e < end[i]) {
          wrong += col[at] != rowcol[e] || val[at] != (src ? src[e] : e);
          alone += of[rowcol[e]] == s;
        } else wrong += col[at] != -1;
        if (i < 0) continue;
        wrong += Class(length) != Class(end[order[slice[s].first]] - begin[order[slice[s].first]] - rows->skip) || lanes < PetscMin(length, 32);
        for (int q = e + 32; length > 32 && q < end[i]; q += 32) alone += of[rowcol[q]] == s;
      }
    }
    CHECK(next == n && wrong == 0, "%s: %d lanes of %d slices are wrong, %d of %d rows are there", what, wrong, ell->slices, next, n);
    CHECK(alone == 0, "%s: %d entries are of rows in the same slice", what, alone);
    PetscCall(PetscFree3(slice, val, of));
    PetscCall(PetscFree(begin));
    PetscCall(PetscFree(end));
    PetscCall(PetscFree(rowcol));
    PetscCall(PetscFree(src));
    PetscCall(PetscFree(order));
    PetscCall(PetscFree(col));
  }
  for (int part = 3; part >= 0; part--) PetscCall(TriangleDestroy(&t[part]));
  CallCUDA(cudaFree(device));
  PetscCall(PetscFree(number));
  PetscCall(RoomDestroy(&room));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Slices of sliced ELL that end with levels, as matrices with few rows a level have them: no row needs
   another one of its slice, or one of a later slice; each begins where the one before it ends; and the
   entries that a row waits for last are those with the highest positions. Adds to count the triangles that
   have such slices.
*/
static PetscErrorCode TestByLevel(const Case *c, const char *name, SyncILUAnalysis analysis, PetscInt *count)
{
  const SolveOps *ops = FindSolve(SYNCILU_SOLVE_ELL);
  Triangle        t[4];
  Room            room;

  PetscFunctionBegin;
  Watch("slices by level for %s", name);
  PetscCall(RoomCreate(c, analysis, PETSC_FALSE, &room));
  for (int part = 0; part < 4; part++) {
    const Ell    *e;
    SyncILUSlice *slice;
    SyncILULate  *late;
    int          *col, inner = 0, wide = 0, apart = 0, early = 0, next = 0;

    PetscCall(TriangleCreate(&room.plan, ops, (Part)part, part < 2 ? NULL : &t[part - 2], &t[part]));
    e = TriangleGetEll(&t[part]);
    CHECK(analysis != SYNCILU_ANALYSIS_NONE || !e->ell.by_level, "part %d of %s: slices end with levels in numerical order", part, name);
    if (!e->ell.by_level) continue;
    (*count)++;
    PetscCall(PetscMalloc1(e->ell.slices, &slice));
    PetscCall(DeviceReadBack(room.plan.stream, slice, e->ell.slice, (size_t)e->ell.slices * sizeof(*slice)));
    PetscCall(ReadInts(&room.plan, e->ell.col, (int)e->entries, &col));
    PetscCall(PetscMalloc1(e->ell.n, &late));
    PetscCall(DeviceReadBack(room.plan.stream, late, e->ell.late, (size_t)e->ell.n * sizeof(*late)));
    for (int s = 0; s < e->ell.slices; s++) {
      const int lanes = 1 << (slice[s].shape & 7), rows = slice[s].shape >> 3;
      const int stride = (rows * lanes + SYNCILU_PACK - 1) / SYNCILU_PACK * SYNCILU_PACK, *const begin = col + SYNCILU_PACK * slice[s].offset;

      apart += slice[s].offset != next;
      next += stride / SYNCILU_PACK * slice[s].width;
      for (int k = 0; k < stride * slice[s].width; k++) inner += begin[k] >= slice[s].first;
      wide += slice[s].width > e->ell.by_level && rows > 1;
      for (int r = 0; r < rows; r++) {
        int later = INT_MAX; /* the position that comes before in the order of lateness */

        for (int l = 0; l < SYNCILU_LATE; l++) {
          const int which = late[slice[s].first + r].entry[l] - 1;
          int       most = -1, at = -1;

          for (int q = 0; q < slice[s].width * lanes; q++) {
            const int c = begin[q / lanes * stride + r * lanes + q % lanes];

            if (c > most && c < later) {
              most = c;
              at   = q;
            }
          }
          early += which != (at < 255 ? at : -1);
          later = most;
        }
      }
    }
    CHECK(apart == 0 && (size_t)next * SYNCILU_PACK == e->entries, "part %d of %s by %s: %d slices do not begin where the one before ends", part, name,
          SyncILUAnalyses[analysis], apart);
    CHECK(early == 0, "part %d of %s by %s: %d entries are not those that rows wait for last", part, name, SyncILUAnalyses[analysis], early);
    PetscCall(PetscFree(late));
    CHECK(inner == 0, "part %d of %s by %s: %d entries are of rows in the same slice or behind it", part, name, SyncILUAnalyses[analysis], inner);
    CHECK(wide == 0, "part %d of %s by %s: lanes of %d slices poll more than once", part, name, SyncILUAnalyses[analysis], wide);
    PetscCall(PetscFree(slice));
    PetscCall(PetscFree(col));
  }
  for (int part = 3; part >= 0; part--) PetscCall(TriangleDestroy(&t[part]));
  PetscCall(RoomDestroy(&room));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another ordering is advised where the levels, not the bytes, take the time. */
static PetscErrorCode TestAdvice(void)
{
  const struct {
    int       n, entries, levels; /* rows, entries of each, levels of L and of U */
    PetscBool tiled, numerical, advised;
  } chains[] = {
    {4000000, 15,  4000, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE },
    {4000000, 15,  405,  PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, /* the bytes of 0.3 ms stay */
    {30000,   15,  405,  PETSC_FALSE, PETSC_FALSE, PETSC_TRUE },
    {30000,   15,  60,   PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
    {30000,   100, 4000, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
    {30000,   15,  4000, PETSC_TRUE,  PETSC_FALSE, PETSC_FALSE},
    {30000,   15,  4000, PETSC_FALSE, PETSC_TRUE,  PETSC_FALSE}
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(chains); k++) {
    Plan     plan;
    Triangle t;
    char     advice[256];

    PetscCall(PetscMemzero(&plan, sizeof(plan)));
    PetscCall(PetscMemzero(&t, sizeof(t)));
    plan.pattern.n = chains[k].n;
    plan.nnz       = chains[k].n * chains[k].entries;
    plan.tiled     = chains[k].tiled;
    plan.levels[0] = plan.levels[1] = chains[k].levels;
    t.order.numerical               = chains[k].numerical;
    t.ops                           = FindSolve(SYNCILU_SOLVE_CSR);
    PetscCall(AdviseOrdering(&plan, &t, &t, advice, sizeof(advice)));
    CHECK((advice[0] != 0) == chains[k].advised, "%d levels of %d rows of %d entries: \"%s\"", chains[k].levels, chains[k].n, chains[k].entries, advice);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* auto leaves a chain to the host, and says why; other matrices and other wishes stay on the device. */
static PetscErrorCode TestChoice(PetscRandom rand)
{
  const struct {
    const char    *matrix;
    SyncILUBackend asked, want;
  } choices[] = {
    {"tridiagonal:20000", SYNCILU_BACKEND_AUTO, SYNCILU_BACKEND_HOST},
    {"bidiagonal:9000",   SYNCILU_BACKEND_AUTO, SYNCILU_BACKEND_HOST},
    {"tridiagonal:20000", SYNCILU_BACKEND_CUDA, SYNCILU_BACKEND_CUDA},
    {"7pt:21x21x21",      SYNCILU_BACKEND_AUTO, SYNCILU_BACKEND_CUDA},
    {"27pt:21x21x21",     SYNCILU_BACKEND_AUTO, SYNCILU_BACKEND_CUDA},
    {"random:9000",       SYNCILU_BACKEND_AUTO, SYNCILU_BACKEND_CUDA}
  };

  PetscFunctionBegin;
  for (size_t k = 0; k < sizeof(choices) / sizeof(choices[0]); k++) {
    SyncILUSettings settings;
    SyncILUEngine   e;
    Mat             A;
    Case            c;

    Watch("the choice for %s", choices[k].matrix);
    PetscCall(GenerateMatrix(choices[k].matrix, 0, rand, &A));
    PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
    SyncILUSettingsInitialize(&settings);
    settings.backend = choices[k].asked;
    PetscCall(EngineCreate(&settings, &c, &e));
    CHECK(e->ops->backend == choices[k].want, "%s: backend %s, wanted %s (%s)", choices[k].matrix, SyncILUBackends[e->ops->backend],
          SyncILUBackends[choices[k].want], e->why);
    if (choices[k].want == SYNCILU_BACKEND_HOST) CHECK(strstr(e->why, "a chain of"), "%s: the reason is \"%s\"", choices[k].matrix, e->why);
    PetscCall(SyncILUEngineDestroy(&e));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The fingerprint of a pattern is the same from the arrays on the host and on the device, where a matrix may
   go back and forth.
*/
static PetscErrorCode TestFingerprint(const Case *c, const char *name)
{
  SyncILUSettings settings;
  SyncILUEngine   e;
  SyncILUCSR      device;
  MatFactorInfo   info;

  PetscFunctionBegin;
  if (sizeof(PetscInt) != sizeof(int)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CSRUpload(&c->csr, &device));
  SyncILUSettingsInitialize(&settings);
  settings.backend = SYNCILU_BACKEND_CUDA;
  PetscCall(EngineCreate(&settings, c, &e));
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(EngineFactor(e, &c->csr, NULL, &info));
  PetscCall(EngineFactor(e, &c->csr, &device, &info));
  PetscCall(EngineFactor(e, &c->csr, NULL, &info));
  CHECK(e->analyses == 1, "%s: %" PetscInt_FMT " analyses, though the pattern is the same on the device", name, e->analyses);
  PetscCall(SyncILUEngineDestroy(&e));
  PetscCall(CSRFree(&device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const SyncILUAnalysis analyses[] = {SYNCILU_ANALYSIS_NONE, SYNCILU_ANALYSIS_ASAP, SYNCILU_ANALYSIS_ALAP, SYNCILU_ANALYSIS_AUTO};
  PetscRandom           rand;
  PetscBool             missing;
  Mat                   A[MATRICES];
  Case                  c[MATRICES];
  PetscInt              by_level = 0;
  int                   failed;

  PetscCall(BackendBegin(&argc, &argv, help, &missing, &rand));
  if (missing) return SKIPPED;
  for (int m = 0; m < MATRICES; m++) {
    PetscCall(GenerateMatrix(matrices[m], 0, rand, &A[m]));
    PetscCall(CaseCreate(A[m], MATORDERINGNATURAL, 0, 0.0, rand, &c[m]));
    for (int a = 0; a < 4; a++) PetscCall(TestLevels(&c[m], matrices[m], analyses[a]));
    for (int s = 0; SyncILUCUDASolves[s]; s++) {
      PetscCall(TestTriangles(&c[m], matrices[m], SyncILUCUDASolves[s], PETSC_FALSE));
      if (SyncILUCUDASolves[s]->tiles) PetscCall(TestTriangles(&c[m], matrices[m], SyncILUCUDASolves[s], PETSC_TRUE));
    }
    for (int a = 0; a < 4; a++) PetscCall(TestHyb(&c[m], matrices[m], analyses[a]));
    for (int a = 0; a < 4; a++) PetscCall(TestByLevel(&c[m], matrices[m], analyses[a], &by_level));
    PetscCall(TestFingerprint(&c[m], matrices[m]));
  }
  CHECK(by_level > 60, "slices end with levels in %" PetscInt_FMT " triangles alone", by_level);
  PetscCall(TestAdvice());
  PetscCall(TestChoice(rand));
  for (int m = 0; m < MATRICES; m++) {
    PetscCall(CaseDestroy(&c[m]));
    PetscCall(MatDestroy(&A[m]));
  }
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = CheckReport("rooms");
  PetscCall(PetscFinalize());
  return failed;
}
