/*
   Update strategy adapt: rows of one level share a warp, each with as many lanes as suit the mean row. In
   numerical order each has a warp, since rows that follow each other may wait for each other; and where auto
   takes this strategy since levels have few rows. Of a row that has a warp, the columns are in a hash table.
*/
#include "search.h"
#include "../../kernels/factor_adapt.h"

static int Lanes(const Factorization *f)
{
  const Plan  *plan = f->plan;
  const double n    = (double)plan->pattern.n;

  if (plan->settings->analysis == SYNCILU_ANALYSIS_NONE || (f->narrow && !plan->settings->vector_size)) return 5;
  return PetscMax(2, PlanLanes(plan, n > 0.0 ? (double)plan->nnz / n : 0.0));
}

/* Whether so many rows fit shared memory with tables of their columns. */
static PetscBool Tables(const Plan *plan, int rows)
{
  const int    most = plan->counts.longest_row;
  const size_t row  = (size_t)(most | 1) * sizeof(double) + (size_t)plan->counts.longest[0] * 3 * sizeof(int) + SyncILUTableBytes(SyncILUTableBits(most));

  return (PetscBool)(most <= SYNCILU_TABLE_MOST && (size_t)rows * row <= SYNCILU_SHARED_BYTES);
}

static PetscErrorCode Create_Adapt(Factorization *f, char why[], size_t len)
{
  Plan       *plan  = f->plan;
  const int   lanes = Lanes(f);
  Search     *s;
  FactorRows *r;

  PetscFunctionBegin;
  (void)why;
  (void)len;
  PlanCall(SearchCreate(f, lanes, SYNCILU_BLOCK_FACTOR >> lanes, SyncILUKernelFactorAdapt));
  PetscCall(SearchPrefetch(f));
  s               = (Search *)f->data;
  s->search.table = lanes == 5 && Tables(plan, SYNCILU_BLOCK_FACTOR >> lanes);
  r               = &s->rows;
  if (lanes < 5) {
    SyncILUDeviceTriangle lower;

    PlanCall(PlanTriangle(plan, &plan->scratch, PART_L, &lower));
    PlanCall(PlanSlices(plan, &f->memory, lower, r->order.row, r->order.key, r->order.bits, lanes, INT_MAX, PETSC_FALSE, &r->task, &r->tasks, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View_Adapt(const Factorization *f, PetscViewer viewer)
{
  const SyncILUDeviceSearch *search = &((const Search *)f->data)->search;

  PetscFunctionBegin;
  PetscCall(SearchViewPrefetch(f, viewer));
  if (search->table && search->prefetch) PetscCall(PetscViewerASCIIPrintf(viewer, "search: in hash tables of the rows' columns\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const FactorOps SyncILUFactorAdaptOps = {.type = SYNCILU_UPDATE_ADAPT, .name = "adapt", .create = Create_Adapt, .factor = SearchFactor, .view = View_Adapt};
