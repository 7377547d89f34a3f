/*
   Update strategy list: the plan has a list of where each update reads and writes. Rows that are much longer
   than the others are taken entry by entry (factor_long.c).
*/
#include "factor.h"
#include "../../kernels/factor_list.h"
#include "../../kernels/storage.h"

typedef struct {
  FactorRows         rows;
  SyncILUDeviceLists lists;
  LongRows           longs;
} List;

static const char too_large[] = "lists of updates would take more memory than the default strategy may";

/* Bytes that lists of updates may take. */
double ListsLimit(const Factorization *f)
{
  return f->plan->settings->update == SYNCILU_UPDATE_LIST ? INFINITY : PlanBudget(f->plan) + SYNCILU_MEMORY_LISTS - (double)f->memory.bytes;
}

/*
   Whether a part of the rows shows that lists fit with no number of lanes, if the updates of a row by a
   reference row take so many bytes for each four of them or part of four.
*/
PetscErrorCode ListsHopeless(Factorization *f, SyncILUDevicePattern p, double bytes, PetscBool *hopeless)
{
  Plan               *plan = f->plan;
  const int           mark = plan->scratch.n;
  unsigned long long *sum, rounds;

  PetscFunctionBegin;
  *hopeless = PETSC_FALSE;
  if (plan->settings->update == SYNCILU_UPDATE_LIST || p.n < SYNCILU_SAMPLE_ROWS) PetscFunctionReturn(PETSC_SUCCESS);
  PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*sum), &sum));
  CallCUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), plan->stream));
  PlanLaunch(SyncILUKernelListRounds(p, plan->counts.longest_listed, f->lanes, SYNCILU_SAMPLE, f->half, NULL, NULL, NULL, sum, plan->stream));
  PetscCall(DeviceReadBack(plan->stream, &rounds, sum, sizeof(rounds)));
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  /* with 4 lanes fewest entries of the lists are empty; a fifth more is no part of the rows by chance */
  *hopeless = (PetscBool)(SYNCILU_SAMPLE * (double)rounds * bytes > 1.2 * ListsLimit(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Most rounds of a row. */
static double MostRounds(const Factorization *f, const FactorRows *r)
{
  const SyncILUDeviceCounts *counts = &f->plan->counts;

  return PetscMin(counts->longest[0], r->shared) * ((PetscMin(r->shared, counts->longest[1]) >> f->lanes) + 1.0);
}

/*
   The rounds of the tasks, and where those of each task begin; a total of more than an index can count is
   wrong, but above what it can count. Few matrices may have so many that the sum is worth a kernel's time.
*/
static PetscErrorCode Rounds(Factorization *f, const FactorRows *r, const int *rounds, double *total)
{
  Plan               *plan = f->plan;
  const int           mark = plan->scratch.n;
  unsigned long long *sum  = NULL, counted;
  int                *width, last;

  PetscFunctionBegin;
  PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)(r->tasks + 1) * sizeof(int), &width));
  if (MostRounds(f, r) * r->tasks > SYNCILU_ROUNDS) {
    PlanCall(PlanAlloc(plan, &plan->scratch, sizeof(*sum), &sum));
    CallCUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), plan->stream));
  }
  PlanLaunch(SyncILUKernelListWidths(rounds, f->lanes, r->order.row, r->tasks, r->task, width, sum, plan->stream));
  PlanCall(PlanOffsets(plan, r->tasks, width, &last));
  PlanLaunch(SyncILUKernelSliceOffsets(r->tasks, width, r->task, plan->stream));
  *total = (double)last;
  if (sum) {
    PetscCall(DeviceReadBack(plan->stream, &counted, sum, sizeof(counted)));
    *total = (double)counted;
  }
  PetscCall(PlanRelease(plan, &plan->scratch, mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tasks, and the rounds of all of them; of few rows with one wait for both numbers. */
static PetscErrorCode Tasks(Factorization *f, FactorRows *r, DeviceMemory *memory, SyncILUDeviceTriangle lower, int limit, const int *rounds, double *total)
{
  Plan  *plan = f->plan;
  Slices s;
  int    sum;

  PetscFunctionBegin;
  PlanCall(PlanSlicesBegin(plan, lower, r->order.row, r->order.key, r->order.bits, f->lanes, limit, &s));
  if (lower.n <= SYNCILU_ONE_BLOCK_ROWS && MostRounds(f, r) * lower.n <= SYNCILU_ROUNDS) {
    PlanLaunch(SyncILUKernelListStorage(rounds, f->lanes, r->order.row, lower.n, s.slice, s.count, plan->stream));
    PlanCall(PlanSlicesEnd(plan, memory, lower.n, &s, &r->task, &r->tasks, &sum));
    *total = (double)sum;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PlanCall(PlanSlicesEnd(plan, memory, lower.n, &s, &r->task, &r->tasks, NULL));
  PlanCall(Rounds(f, r, rounds, total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tasks with their lists, if these fit: else no tasks, and why. */
static PetscErrorCode Write(Factorization *f, List *l, SyncILUDevicePattern p, SyncILUDeviceTriangle lower, const int *rounds, const unsigned char *turn,
                            const unsigned char *used, char why[], size_t len)
{
  Plan           *plan  = f->plan;
  const int       mark  = f->memory.n;
  const int       most  = plan->counts.longest_listed;
  const PetscBool longs = (PetscBool)(plan->counts.longest_row > most); /* rows are long */
  FactorRows     *r     = &l->rows;
  size_t          updates, sources;
  double          total = 0.0;
  unsigned short *update;
  unsigned char  *source;

  PetscFunctionBegin;
  why[0] = 0;
  if (longs) { /* by all of their entries */
    lower.end  = lower.begin + 1;
    lower.skip = 0;
  }
  PlanCall(Tasks(f, r, longs ? &plan->scratch : &f->memory, lower, longs ? most : INT_MAX, rounds, &total));
  updates = (size_t)total * 32 * sizeof(*update);
  sources = (size_t)total * (32 >> f->lanes);
  if (total > SYNCILU_ROUNDS) PetscCall(PetscStrncpy(why, "lists of updates would have more rounds than an index can count", len));
  else if ((double)(updates + sources) > ListsLimit(f)) PetscCall(PetscStrncpy(why, too_large, len));
  if (!why[0]) {
    PlanCall(PlanAlloc(plan, &f->memory, updates, &update));
    PlanCall(PlanAlloc(plan, &f->memory, sources, &source));
    CallCUDA(cudaMemsetAsync(update, 0xff, updates, plan->stream));
    CallCUDA(cudaMemsetAsync(source, 0, sources, plan->stream));
    PlanLaunch(SyncILUKernelLists(p, most, f->lanes, f->half, r->order.row, turn, used, r->tasks, r->task, update, source, plan->stream));
    l->lists.update = update;
    l->lists.source = source;
    if (longs) PlanCall(LongRowsCreate(f, r, p, ListsLimit(f), &l->longs, why, len));
  }
  if (why[0]) {
    PetscCall(PlanRelease(plan, &f->memory, mark));
    r->task = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  l->lists.longs = l->longs.device;
  l->lists.half  = f->half;
  l->lists.many  = total > (f->lanes == 5 ? SYNCILU_UPDATE_POLLS_WARP : SYNCILU_UPDATE_POLLS) * (double)r->tasks;
  /* the more there is to be done in a row, the earlier it must begin */
  r->order.throttle = OrderThrottle(r->order.level_rows, PetscMax(SYNCILU_THROTTLE_LIST, total / PetscMax(1, r->tasks)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Why both triangles are factored of a symmetric matrix, empty if one is: with one there is less to read and
   to keep, but each row waits for pivots too. On an H200 one took 0.82 of the time of both on a 27-point grid
   of 80^3, and 1.1 to 1.5 times as long on 15pt_random, random, 15-point and 25-point grids, elasticity,
   triangles in RCM order and a quadtree, so that it is for who asks for lists. With fewer lanes, as half the
   entries would have them, it is slower: elasticity 6.6 times as long. Searches (adapt) with one triangle
   took 1.1 on random patterns, 1.3 to 1.4 on meshes, 1.5 to 1.8 where levels are narrow.
*/
static const char *WhyBoth(const Plan *plan)
{
  if (plan->counts.longest_row > plan->counts.longest_listed) return "several warps share the longest rows";
  if (plan->settings->update == SYNCILU_UPDATE_AUTO) return "that takes less time than one, which is for -pc_syncilu_update list";
  return "";
}

/*
   Fewer lanes are slower, and leave fewer entries in the lists empty. The rows of a warp must fit shared
   memory with those of the block's other warps.
*/
static PetscErrorCode Create_List(Factorization *f, char why[], size_t len)
{
  Plan                 *plan = f->plan;
  const int             most = PetscMax(1, plan->counts.longest_listed);
  const size_t          row  = (size_t)(most | 1) * sizeof(double) + (size_t)PetscMin(most, plan->counts.longest[0]) * sizeof(int);
  const double          mean = plan->pattern.n ? (double)plan->nnz / (double)plan->pattern.n : 0.0;
  SyncILUDevicePattern  p;
  SyncILUDeviceTriangle lower;
  List                 *l;
  const PetscBool       longs = (PetscBool)(plan->counts.longest_row > plan->counts.longest_listed); /* lengths differ, and by level rows are sorted by them */
  PetscBool             hopeless;
  int                  *rounds;
  unsigned char        *used; /* of the entries of L, which reference rows have updates */
  const unsigned char  *turn;

  PetscFunctionBegin;
  PetscCall(PetscNew(&l));
  f->data        = l;
  l->rows.shared = most;
  PlanCall(FactorRowsOrder(f, &l->rows.order));
  PetscCall(FactorHalf(f, WhyBoth(plan)));
  PlanCall(FactorRowsCreate(f, &l->rows));
  f->lanes = l->rows.order.key && !(f->narrow && !plan->settings->vector_size) ? PetscMax(2, PlanLanes(plan, mean / SYNCILU_LIST_ENTRIES)) : 5;
  while (f->lanes < 5 && (SYNCILU_BLOCK_FACTOR >> f->lanes) * row > SYNCILU_SHARED_BYTES) f->lanes++;
  PlanCall(PlanGetPattern(plan, &p));
  PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
  PlanCall(ListsHopeless(f, p, 4 * sizeof(unsigned short) + sizeof(unsigned char), &hopeless));
  if (!hopeless) {
    PlanCall(PlanAlloc(plan, &plan->scratch, 4 * (size_t)p.n * sizeof(int), &rounds));
    PlanCall(PlanAlloc(plan, &plan->scratch, (size_t)plan->nnz, &used));
    PlanLaunch(SyncILUKernelListRounds(p, plan->counts.longest_listed, f->lanes, 1, f->half, longs && l->rows.order.bits ? l->rows.order.row : NULL, rounds,
                                       used, NULL, plan->stream));
    PlanCall(FactorRowsTurns(plan, &l->rows.order, &plan->scratch, &turn));
    for (;; f->lanes--) {
      PlanCall(Write(f, l, p, lower, rounds, turn, used, why, len));
      if (f->late && !l->rows.task && !l->longs.unfit) { /* rows that share a warp must be of one level, which that order does not name */
        f->late       = PETSC_FALSE;
        l->rows.order = f->L->order;
        PlanCall(FactorRowsTurns(plan, &l->rows.order, &plan->scratch, &turn));
      }
      if (l->rows.task || l->longs.unfit || !l->rows.order.key || plan->settings->vector_size || f->lanes == 2) break;
      if ((SYNCILU_BLOCK_FACTOR >> (f->lanes - 1)) * row > SYNCILU_SHARED_BYTES) break;
    }
  }
  PetscCall(PlanRestorePattern(plan, &p));
  if (hopeless) PetscCall(PetscStrncpy(why, too_large, len));
  else if (!why[0] && plan->settings->relax != 0.0) PlanCall(FactorRowsSums(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Factor_List(Factorization *f, const SyncILUDeviceValues *values, const SyncILUDevicePivoting *piv, SyncILUDeviceStatus *status,
                                  Factor *factor)
{
  Plan               *plan = f->plan;
  const List         *l    = (const List *)f->data;
  SyncILUDeviceFactor d;

  PetscFunctionBegin;
  PlanCall(FactorRowsBegin(f, &l->rows, values, piv, status, &d, factor));
  PetscCall(LongRowsBegin(plan, &l->longs, &d));
  PlanLaunch(SyncILUKernelFactorList(plan->type, d, l->lists, plan->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorListOps = {.type = SYNCILU_UPDATE_LIST, .name = "list", .create = Create_List, .factor = Factor_List};
