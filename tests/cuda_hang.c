static char help[] = "Nothing makes a kernel wait for ever: zero, infinite and undefined numbers in matrix and right-hand side, among them the one\n\
that marks what is not computed yet, and patterns without what a factorization needs. What comes out is what the reference and\n\
the host's backend say.\n\n\
  -list      the names of the cases, of which none runs\n\
  -case <c>  the cases whose names match this glob or begin with this text, as tests/cuda has them; irregular: patterns alone\n\
  -icc       the same with symmetric matrices, as ICC\n\
  -small     few and tiny cases, for tools that slow the program down\n\
  -watch <s> seconds that one step may take\n\n";

#include <stdint.h>
#include "check.h"
#include "cases.h"
#include "gpu_case.h"
#include "gpu.h"

/*
   Numbers by their bits: of the undefined ones there are many, and all bits set is what no arithmetic gives
   and a kernel may take for "not yet".
*/
static const struct {
  const char *name;
  uint64_t    bits;
} numbers[] = {
  {"0",                        0x0000000000000000u},
  {"-0",                       0x8000000000000000u},
  {"1e-20",                    0x3bc79ca10c924223u},
  {"a denormalized number",    0x0000000000000001u},
  {"infinity",                 0x7ff0000000000000u},
  {"-infinity",                0xfff0000000000000u},
  {"all bits set",             0xffffffffffffffffu},
  {"all bits set but one",     0xfffffffffffffffeu},
  {"all bits set but the top", 0x7fffffffffffffffu},
  {"the usual NaN",            0x7ff8000000000000u},
  {"the usual -NaN",           0xfff8000000000000u},
  {"a signaling NaN",          0x7ff0000000000001u},
  {"a signaling -NaN",         0xfff0000000000001u}
};
enum {
  NUMBERS  = sizeof(numbers) / sizeof(numbers[0]),
  INFINITE = 4, /* the first of the infinite ones */
  NANS     = 6, /* the first of the undefined ones */
  SENTINEL = 6
};

static PetscBool icc = PETSC_FALSE;

static PetscScalar Number(int k)
{
  double      d;
  PetscScalar s;

  memcpy(&d, &numbers[k].bits, sizeof(d));
  s = (PetscScalar)d;
  /* a copy in a register might make a signaling NaN a quiet one */
  if (sizeof(s) == sizeof(d)) memcpy(&s, &d, sizeof(d));
  return s;
}

/* What can be wrong with the values of a matrix. */
typedef enum {
  PIVOT,  /* the pivot of a row is the number */
  LEFT,   /* the first entry of L in the row */
  RIGHT,  /* the last entry of U in the row */
  CANCEL, /* the pivot is 4 until the elimination makes it zero */
  EACH,   /* every entry */
  MANY,   /* the pivots of every seventh row */
  DIAGONAL
} Where;
static const char *const places[] = {"pivot", "first entry of L", "last entry of U", "cancellation", "every entry", "every seventh pivot", "diagonal"};

/*
   Makes the values symmetric: those left of the diagonal of the factor count, unless right says the others
   do.
*/
static void Mirror(const Case *c, PetscBool right, PetscScalar *a)
{
  const SyncILUPattern *p = &c->pattern;

  for (PetscInt i = 0; i < c->n && icc; i++) {
    const PetscInt r = p->row ? p->row[i] : i;

    for (PetscInt k = c->csr.i[r]; k < c->csr.i[r + 1]; k++) {
      const PetscInt s = c->csr.j[k], j = p->colinv ? p->colinv[s] : s;
      PetscInt       t = c->csr.i[s];

      if (right ? j <= i : j >= i) continue;
      while (c->csr.j[t] != r) t++;
      memcpy(&a[t], &a[k], sizeof(*a));
    }
  }
}

/*
   Writes to a the values of the case with a number in its place; false if there is no such place. Rows count
   as in the factor.
*/
static PetscBool Spoil(const Case *c, Where where, PetscInt row, int number, PetscScalar *a)
{
  const SyncILUPattern *p    = &c->pattern;
  PetscBool             done = PETSC_FALSE;
  PetscInt              most = -1;

  memcpy(a, c->csr.a, (size_t)c->csr.nnz * sizeof(*a));
  for (PetscInt i = 0; i < c->n; i++) {
    const PetscInt r = p->row ? p->row[i] : i;

    for (PetscInt k = c->csr.i[r]; k < c->csr.i[r + 1]; k++) {
      const PetscInt j = p->colinv ? p->colinv[c->csr.j[k]] : c->csr.j[k];

      switch (where) {
      case PIVOT:
      case MANY:
        if (where == PIVOT ? i != row : i % 7 != 3) break;
        if (j < i) a[k] = 0.0;
        if (j == i) {
          memcpy(&a[k], (PetscScalar[]){Number(number)}, sizeof(*a));
          done = PETSC_TRUE;
        }
        break;
      case LEFT:
        if (i != row || j >= i || done) break;
        memcpy(&a[k], (PetscScalar[]){Number(number)}, sizeof(*a));
        done = PETSC_TRUE;
        break;
      case RIGHT:
        if (i == row && j > i) most = k;
        break;
      case CANCEL: /* row - 1 is (0 ... 0 1 2), row is (0 ... 0 2 4) up to the diagonal: 4 - 2 / 1 * 2 = 0 */
        if (i == row - 1) {
          if (j < i) a[k] = 0.0;
          if (j == i) a[k] = 1.0;
          if (j == row) {
            a[k] = 2.0;
            done = PETSC_TRUE;
          }
        } else if (i == row) {
          if (j < row - 1) a[k] = 0.0;
          if (j == row - 1) a[k] = 2.0;
          if (j == row) a[k] = 4.0;
        }
        break;
      case DIAGONAL:
        if (j != i) break;
        /* fall through */
      case EACH:
        memcpy(&a[k], (PetscScalar[]){Number(number)}, sizeof(*a));
        done = PETSC_TRUE;
      }
    }
  }
  if (most >= 0) memcpy(&a[most], (PetscScalar[]){Number(number)}, sizeof(*a));
  Mirror(c, (PetscBool)(where == RIGHT), a);
  return (PetscBool)(done || most >= 0);
}

/*
   What the reference solves to, up to rounding, and not a number where its solution is none. Infinite entries
   may as well be none where sums end in another order.
*/
static PetscErrorCode Compare(PetscInt n, const PetscScalar *x, const PetscScalar *ref, PetscBool nans, const char *what, const char *more)
{
  PetscReal max = 0.0;
  PetscInt  i;

  PetscFunctionBegin;
  for (i = 0; i < n; i++) {
    if (!PetscIsInfOrNanScalar(ref[i])) max = PetscMax(max, PetscAbsScalar(ref[i]));
  }
  for (i = 0; i < n; i++) {
    if (PetscIsInfOrNanScalar(ref[i]) ? !PetscIsInfOrNanScalar(x[i]) || (nans && PetscIsNanScalar(ref[i]) && !PetscIsNanScalar(x[i]))
                                      : !(PetscAbsScalar(x[i] - ref[i]) <= 1e-12 * max))
      break;
  }
  CHECK(i == n, "%s, %s: the solution has %g in row %" PetscInt_FMT ", the reference %g", what, more, (double)PetscRealPart(x[i]), i,
        (double)PetscRealPart(ref[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Spoiled values, of which the reference has found the row already. */
typedef struct {
  char          name[96];
  PetscScalar  *a;
  SyncILUStatus status;
} Spoiled;

static PetscErrorCode SpoilAll(const Case *c, Spoiled *list, int *count)
{
  const PetscInt rows[] = {0, 1, c->n / 2, c->n - 1};
  PetscScalar   *ref;

  PetscFunctionBegin;
  *count = 0;
  PetscCall(PetscMalloc1(c->nl + c->nu + c->n, &ref));
  for (Where where = PIVOT; where <= DIAGONAL; where++) {
    for (int r = 0; r < 4; r++) {
      for (int k = 0; k < NUMBERS; k++) {
        Spoiled   *s = &list[*count];
        SyncILUCSR csr;

        if (where == CANCEL && (k || !rows[r])) continue;
        if ((where == LEFT || where == RIGHT) && k < INFINITE) continue;
        if (where >= EACH && (r || (where == EACH && k > 2 && k != SENTINEL))) continue;
        if (r == 1 && k != SENTINEL && where != CANCEL) continue;
        PetscCall(PetscMalloc1(c->csr.nnz, &s->a));
        if (!Spoil(c, where, rows[r], k, s->a)) {
          PetscCall(PetscFree(s->a));
          continue;
        }
        PetscCall(PetscSNPrintf(s->name, sizeof(s->name), "%s (row %" PetscInt_FMT ") %s", places[where], rows[r], numbers[k].name));
        csr   = c->csr;
        csr.a = s->a;
        if (icc) PetscCall(SyncILUReferenceFactorHalf(&c->pattern, &csr, &c->piv, ref, ref + c->nu, &s->status));
        else PetscCall(SyncILUReferenceFactor(&c->pattern, &csr, &c->piv, ref, ref + c->nl, ref + c->nl + c->nu, &s->status));
        (*count)++;
      }
    }
  }
  PetscCall(PetscFree(ref));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Finite(PetscInt n, const PetscScalar *a)
{
  for (PetscInt k = 0; k < n; k++) {
    if (PetscIsInfOrNanScalar(a[k])) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*
   The row the reference rejects first, whatever the values; whatever the factor, solves end; and good values
   give a good factor after bad ones.
*/
static PetscErrorCode TestValues(const Case *c, SyncILUEngine e, const char *what, const Spoiled *list, int count)
{
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(c->ld * 2, &x));
  for (int k = 0; k < count; k++) {
    const SyncILUStatus *want = &list[k].status, *got = &e->status;
    SyncILUCSR           csr = c->csr;
    PetscBool            early;

    Watch("%s, %s", what, list[k].name);
    csr.a = list[k].a;
    PetscCall(EngineFactorUnshifted(e, &csr, NULL, c->piv.zeropivot));
    /*
       relaxed, what is dropped is the difference of two sums, and of two that are infinite, or no numbers, a
       row earlier than in the reference
    */
    early = (PetscBool)(c->piv.relax != 0.0 && got->row >= 0 && (want->row < 0 || got->row < want->row) && !got->shift && !Finite(c->csr.nnz, list[k].a));
    CHECK(early || (got->row == want->row && got->shift == want->shift && got->shifted == 0),
          "%s, %s: row %" PetscInt_FMT " is rejected first, in the reference row %" PetscInt_FMT, what, list[k].name, got->row, want->row);
    if (want->row >= 0 && !early) {
      const PetscBool same = PetscIsInfOrNanReal(want->pivot) ? PetscIsInfOrNanReal(got->pivot) : PetscAbsReal(got->pivot - want->pivot) <= c->piv.zeropivot;

      CHECK(same, "%s, %s: pivot %g, in the reference %g", what, list[k].name, (double)got->pivot, (double)want->pivot);
    }
    for (int t = 0; t < 2; t++) PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 2, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
    if (k % 8 == 7 || k == count - 1) {
      PetscCall(EngineFactorUnshifted(e, &c->csr, NULL, c->piv.zeropivot));
      CHECK(got->row < 0, "%s, good values after %s: row %" PetscInt_FMT " is rejected", what, list[k].name, got->row);
      for (int t = 0; t < 2; t++) {
        PetscCall(SyncILUEngineSolve(e, t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
        PetscCall(Compare(c->n, x, c->x[t], PETSC_TRUE, what, "good values after bad ones"));
      }
    }
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Right-hand sides with a few numbers that are none: in their own solution alone, where the reference has
   them.
*/
static PetscErrorCode TestRightHandSides(const Case *c, SyncILUEngine e, const char *what)
{
  enum {
    COLUMNS = 5,
    SPOILED = 2
  };
  const PetscInt rows[] = {0, c->n / 2, c->n - 1, -1};
  PetscScalar   *b, *x, *ref, *device;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(c->ld * COLUMNS, &b, c->ld * COLUMNS, &x, c->n, &ref));
  PetscCall(Upload(NULL, (size_t)(c->ld * COLUMNS) * sizeof(PetscScalar), &device));
  PetscCall(EngineFactorUnshifted(e, &c->csr, NULL, c->piv.zeropivot));
  for (int k = INFINITE; k < NUMBERS; k++) {
    for (int r = 0; r < 4; r++) {
      char         more[128];
      PetscScalar *column = b + SPOILED * c->ld;

      PetscCall(PetscArraycpy(b, c->b, c->ld * COLUMNS));
      for (PetscInt i = 0; i < c->n; i++) {
        if (rows[r] < 0 || i == rows[r]) memcpy(&column[i], (PetscScalar[]){Number(k)}, sizeof(*b));
      }
      for (int t = 0; t < 2; t++) {
        const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

        PetscCall(PetscSNPrintf(more, sizeof(more), "%s in row %" PetscInt_FMT " of the right-hand side, transposed %d", numbers[k].name, rows[r], t));
        Watch("%s, %s", what, more);
        PetscCall(CaseReference(c, &e->settings, trans, column, ref));
        /* alone */
        PetscCall(SyncILUEngineSolve(e, trans, 1, column, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
        PetscCall(Compare(c->n, x, ref, (PetscBool)(k >= NANS), what, more));
        /* among others, in the device's memory, in place */
        CallCUDA(cudaMemcpy(device, b, (size_t)(c->ld * COLUMNS) * sizeof(PetscScalar), cudaMemcpyHostToDevice));
        CallCUDA(cudaDeviceSynchronize());
        PetscCall(SyncILUEngineSolve(e, trans, COLUMNS, device, c->ld, device, c->ld, PETSC_MEMTYPE_DEVICE));
        CallCUDA(cudaDeviceSynchronize());
        CallCUDA(cudaMemcpy(x, device, (size_t)(c->ld * COLUMNS) * sizeof(PetscScalar), cudaMemcpyDeviceToHost));
        for (int q = 0; q < COLUMNS; q++) PetscCall(Compare(c->n, x + q * c->ld, q == SPOILED ? ref : c->x[t] + q * c->ld, (PetscBool)(k >= NANS), what, more));
        /* and nothing of it stays behind */
        PetscCall(SyncILUEngineSolve(e, trans, 1, c->b, c->ld, x, c->ld, PETSC_MEMTYPE_HOST));
        PetscCall(Compare(c->n, x, c->x[t], PETSC_TRUE, what, "a good right-hand side after a bad one"));
      }
    }
  }
  CallCUDA(cudaFree(device));
  PetscCall(PetscFree3(b, x, ref));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An engine for a cell, of which the order of rows is what is expected. */
static PetscErrorCode EngineForCell(const CaseRow *row, const Cell *cell, const Case *c, const char *what, SyncILUEngine *e)
{
  SyncILUSettings settings;
  char            view[1024];

  PetscFunctionBegin;
  CaseSettings(row, cell, &settings);
  settings.symmetric = icc;
  PetscCall(EngineCreate(&settings, c, e));
  PetscCall(EngineView(*e, view, sizeof(view)));
  CHECK(icc || CaseOrderIs(cell->order, view), "%s: wanted is %s, got:\n%s", what, CaseOrderName(cell->order), view);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestNumbers(const CaseRow *row, Case *c)
{
  Spoiled *list;
  int      count;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((DIAGONAL + 1) * 4 * NUMBERS, &list));
  PetscCall(SpoilAll(c, list, &count));
  for (int k = 0; k < row->ncells; k++) {
    SyncILUEngine e;
    char          what[160];

    PetscCall(CaseName(row, &row->cell[k], what, sizeof(what)));
    PetscCall(EngineForCell(row, &row->cell[k], c, what, &e));
    PetscCall(CaseExpect(c, &e->settings));
    PetscCall(TestValues(c, e, what, list, count));
    PetscCall(TestRightHandSides(c, e, what));
    PetscCall(SyncILUEngineDestroy(&e));
  }
  for (int k = 0; k < count; k++) PetscCall(PetscFree(list[k].a));
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether two solutions agree; those of a factor whose small pivots made it grow need not, since rounding
   grows with it.
*/
static PetscBool Close(PetscInt n, const PetscScalar *x, const PetscScalar *ref, PetscReal tolerance)
{
  PetscReal max = 0.0;

  for (PetscInt i = 0; i < n; i++) {
    if (PetscIsInfOrNanScalar(ref[i]) || PetscAbsScalar(ref[i]) > 1e6) return PETSC_TRUE;
    max = PetscMax(max, PetscAbsScalar(ref[i]));
  }
  for (PetscInt i = 0; i < n; i++) {
    if (!(PetscAbsScalar(x[i] - ref[i]) <= tolerance * max)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* A copy of a matrix whose rows can be cut and mixed up. */
typedef struct {
  SyncILUCSR   csr;
  PetscInt    *i, *j;
  PetscScalar *a;
} Rows;

static PetscErrorCode RowsCreate(const SyncILUCSR *csr, Rows *r)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc3(csr->n + 1, &r->i, csr->nnz, &r->j, csr->nnz, &r->a));
  PetscCall(PetscArraycpy(r->i, csr->i, csr->n + 1));
  PetscCall(PetscArraycpy(r->j, csr->j, csr->nnz));
  PetscCall(PetscArraycpy(r->a, csr->a, csr->nnz));
  r->csr   = *csr;
  r->csr.i = r->i;
  r->csr.j = r->j;
  r->csr.a = r->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(r->i, r->j, r->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes away the diagonal of a row, or all of it. */
static void Remove(Rows *r, PetscInt row, PetscBool diagonal)
{
  PetscInt to = r->i[row], from = to, end = r->i[row + 1];

  for (; from < r->csr.nnz; from++) {
    if (from < end && (!diagonal || r->j[from] == row)) continue;
    r->j[to]   = r->j[from];
    r->a[to++] = r->a[from];
  }
  for (PetscInt k = row + 1; k <= r->csr.n; k++) r->i[k] -= r->csr.nnz - to;
  r->csr.nnz = to;
}

/*
   Patterns that a backend must not take from the matrix as they are, and the factor of the diagonal that is
   filled in.
*/
static PetscErrorCode TestIrregular(PetscRandom rand)
{
  const char *const kinds[] = {"row without diagonal", "empty row", "columns out of order", "column twice", "column past the end", "negative column"};
  Mat               A;
  Case              c;

  PetscFunctionBegin;
  PetscCall(GenerateMatrix("7pt", 1000, rand, &A));
  PetscCall(CaseCreate(A, MATORDERINGNATURAL, 0, 0.0, rand, &c));
  for (int kind = 0; kind < 6; kind++) {
    for (int where = 0; where < 3; where++) {
      const PetscInt row = where == 0 ? 0 : where == 1 ? 517 : c.n - 1;
      Rows           r;
      SyncILUCSR     dev;
      PetscInt      *j;

      Watch("%s, row %" PetscInt_FMT, kinds[kind], row);
      PetscCall(RowsCreate(&c.csr, &r));
      j = r.j + r.i[row];
      switch (kind) {
      case 0:
      case 1:
        Remove(&r, row, (PetscBool)(kind == 0));
        break;
      case 2: {
        const PetscInt t = j[0];

        j[0] = j[1];
        j[1] = t;
        break;
      }
      case 3:
        if (j[0] == row) j[2] = j[1];
        else j[1] = j[0];
        break;
      case 4:
        j[r.i[row + 1] - r.i[row] - 1] = row == c.n - 1 ? c.n : c.n + 1000000;
        if (row == c.n - 1) j[r.i[row + 1] - r.i[row] - 2] = row;
        break;
      default:
        j[0] = -1;
        if (row == 0) j[1] = 0;
      }
      PetscCall(CSRUpload(&r.csr, &dev));
      for (int device = 0; device < 2; device++) {
        const SyncILUFill fill   = {0, kind == 0};
        Arrays            arrays = {&r.csr, device ? &dev : NULL};
        SyncILUSource     source;
        SyncILUSettings   settings;
        SyncILUEngine     e;

        SyncILUSettingsInitialize(&settings);
        settings.backend = SYNCILU_BACKEND_CUDA;
        PetscCall(ArraysSource(&arrays, &source));
        if (kind) {
          const PetscErrorCode codes[] =
            {0, PETSC_ERR_ARG_WRONGSTATE, PETSC_ERR_ARG_WRONG, PETSC_ERR_ARG_WRONG, PETSC_ERR_ARG_OUTOFRANGE, PETSC_ERR_ARG_OUTOFRANGE};
          char name[32];

          PetscCall(PetscSNPrintf(name, sizeof(name), "ow %" PetscInt_FMT, row));
          CHECK_ERROR(SyncILUEngineCreate(&settings, c.n, &source, NULL, NULL, fill, &e), codes[kind], name);
        } else {
          PetscScalar   *ref, *x, *y;
          SyncILUStatus  status;
          SyncILUPattern filled;

          PetscCall(SyncILUPatternCreate(&r.csr, NULL, NULL, fill, &filled));
          PetscCall(SyncILUEngineCreate(&settings, c.n, &source, NULL, NULL, fill, &e));
          CHECK(e->ops->backend == SYNCILU_BACKEND_CUDA && !e->pattern.lptr && e->pattern.added == 1,
                "%s, row %" PetscInt_FMT ", device memory %d: %" PetscInt_FMT " diagonal entries added", kinds[kind], row, device, e->pattern.added);
          PetscCall(PetscMalloc3(c.nl + c.nu + c.n, &ref, c.n, &x, c.n, &y));
          PetscCall(SyncILUReferenceFactor(&filled, &r.csr, &c.piv, ref, ref + c.nl, ref + c.nl + c.nu, &status));
          PetscCall(EngineFactorUnshifted(e, &r.csr, device ? &dev : NULL, c.piv.zeropivot));
          CHECK(e->status.row == status.row, "%s: row %" PetscInt_FMT " is rejected, in the reference row %" PetscInt_FMT, kinds[kind], e->status.row,
                status.row);
          PetscCall(SyncILUEngineSolve(e, SYNCILU_NOTRANS, 1, c.b, c.n, x, c.n, PETSC_MEMTYPE_HOST));
          if (status.row < 0) {
            PetscCall(SyncILUReferenceSolve(&filled, ref, ref + c.nl, ref + c.nl + c.nu, SYNCILU_NOTRANS, c.b, y));
            /* a pivot made by updates alone may be small */
            CHECK(Close(c.n, x, y, 1e-9), "%s, row %" PetscInt_FMT ": the solution differs", kinds[kind], row);
          }
          PetscCall(PetscFree3(ref, x, y));
          PetscCall(SyncILUEngineDestroy(&e));
          PetscCall(SyncILUPatternDestroy(&filled));
        }
      }
      PetscCall(CSRFree(&dev));
      PetscCall(RowsDestroy(&r));
    }
  }
  PetscCall(CaseDestroy(&c));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool Alike(PetscReal a, PetscReal b, PetscReal tolerance)
{
  return (PetscBool)(a == b || PetscAbsReal(a - b) <= tolerance * PetscMax(PetscAbsReal(a), PetscAbsReal(b)) ||
                     (PetscIsInfOrNanReal(a) && PetscIsInfOrNanReal(b)));
}

/* The largest entry of the matrix times the largest reciprocal pivot. */
static PetscErrorCode Growth(SyncILUEngine e, PetscInt nnz, const PetscScalar *a, PetscReal *growth)
{
  const PetscScalar *lval, *uval, *dinv;
  PetscReal          entry = 0.0, inverse = 0.0;

  PetscFunctionBegin;
  PetscCall((*e->ops->values)(e, &lval, &uval, &dinv));
  for (PetscInt k = 0; k < nnz; k++) entry = PetscMax(entry, PetscAbsScalar(a[k]));
  for (PetscInt i = 0; i < e->pattern.n; i++) inverse = PetscMax(inverse, PetscAbsScalar(dinv[i]));
  *growth = entry * inverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shifts take the turns they take on the host, and end where they end there. */
static PetscErrorCode TestShifts(const CaseRow *row, Case *c)
{
  const struct {
    MatFactorShiftType type;
    PetscReal          amount, zeropivot;
  } shifts[] = {
    {MAT_SHIFT_NONE,              0.0,   1e-12},
    {MAT_SHIFT_NONZERO,           0.1,   1e-12},
    {MAT_SHIFT_NONZERO,           1e-3,  0.5  },
    {MAT_SHIFT_NONZERO,           1e-10, 1e-12},
    {MAT_SHIFT_NONZERO,           0.0,   1e-12},
    {MAT_SHIFT_POSITIVE_DEFINITE, 0.0,   1e-12},
    {MAT_SHIFT_POSITIVE_DEFINITE, 0.0,   0.3  },
    {MAT_SHIFT_INBLOCKS,          1.0,   1e-12},
    {MAT_SHIFT_INBLOCKS,          0.5,   3.0  },
    {MAT_SHIFT_INBLOCKS,          0.0,   1e-12}
  };
  const struct {
    Where where;
    int   number; /* -1: the matrix as it is, -2: every ninth diagonal entry with the other sign */
  } what[] = {
    {PIVOT,    -1      },
    {PIVOT,    -2      },
    {PIVOT,    0       },
    {PIVOT,    2       },
    {MANY,     0       },
    {CANCEL,   0       },
    {DIAGONAL, 0       },
    {EACH,     0       },
    {PIVOT,    INFINITE},
    {PIVOT,    SENTINEL},
    {LEFT,     SENTINEL},
    {RIGHT,    NANS + 3},
    {MANY,     SENTINEL}
  };
  SyncILUSettings settings;
  SyncILUEngine   host, *e;
  PetscScalar    *a, *near, *x, *y;

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(c->csr.nnz, &a, c->csr.nnz, &near, c->n, &x, c->n, &y, row->ncells, &e));
  SyncILUSettingsInitialize(&settings);
  settings.backend   = SYNCILU_BACKEND_HOST;
  settings.symmetric = icc;
  PetscCall(EngineCreate(&settings, c, &host));
  for (int u = 0; u < row->ncells; u++) PetscCall(EngineForCell(row, &row->cell[u], c, row->name, &e[u]));
  for (size_t w = 0; w < sizeof(what) / sizeof(what[0]); w++) {
    SyncILUCSR csr = c->csr;

    if (what[w].number >= 0) {
      if (!Spoil(c, what[w].where, c->n / 2, what[w].number, a)) continue;
    } else {
      PetscCall(PetscArraycpy(a, c->csr.a, c->csr.nnz));
      for (PetscInt i = 0; i < c->n && what[w].number == -2; i += 9) {
        for (PetscInt k = c->csr.i[i]; k < c->csr.i[i + 1]; k++) {
          if (c->csr.j[k] == i) a[k] = -a[k];
        }
      }
    }
    csr.a = a;
    for (size_t s = 0; s < sizeof(shifts) / sizeof(shifts[0]); s++) {
      MatFactorInfo info;
      PetscReal     growth = 0.0;
      PetscInt      shifted, rejected;
      PetscBool     sure = PETSC_TRUE, sure_row = PETSC_TRUE;

      PetscCall(MatFactorInfoInitialize(&info));
      info.shifttype   = (PetscReal)shifts[s].type;
      info.shiftamount = shifts[s].amount;
      info.zeropivot   = shifts[s].zeropivot;
      Watch("shift %s by %g, zero pivot %g, %s, %s", MatFactorShiftTypes[shifts[s].type], (double)shifts[s].amount, (double)shifts[s].zeropivot, row->name,
            places[what[w].where]);
      /*
         how many pivots are shifted, and whether one is rejected, may hang on a difference that cancels but
         for rounding: what a few bits change is nobody's right number
      */
      csr.a = a;
      PetscCall(EngineFactor(host, &csr, NULL, &info));
      shifted  = host->status.shifted;
      rejected = host->status.row;
      csr.a    = near;
      for (int bit = -4; bit <= 4 && sure_row; bit++) {
        for (PetscInt k = 0; k < c->csr.nnz; k++) near[k] = a[k] * (1.0 + (k % 3 - 1) * bit * PETSC_MACHINE_EPSILON);
        PetscCall(EngineFactor(host, &csr, NULL, &info));
        sure     = (PetscBool)(sure && host->status.shifted == shifted);
        sure_row = (PetscBool)(host->status.row == rejected);
      }
      csr.a = a;
      PetscCall(EngineFactor(host, &csr, NULL, &info));
      PetscCall(Growth(host, c->csr.nnz, a, &growth));
      for (int u = 0; u < row->ncells; u++) {
        const SyncILUStatus *want = &host->status, *got = &e[u]->status;
        char                 name[256], cell[160];

        PetscCall(CaseName(row, &row->cell[u], cell, sizeof(cell)));
        PetscCall(PetscSNPrintf(name, sizeof(name), "%s, shift %s by %g, zero pivot %g, %s %s", cell, MatFactorShiftTypes[shifts[s].type],
                                (double)shifts[s].amount, (double)shifts[s].zeropivot, places[what[w].where],
                                what[w].number < 0 ? "as it was, or negative" : numbers[what[w].number].name));
        PetscCall(EngineFactor(e[u], &csr, NULL, &info));
        if (!sure_row) { /* ends, and so does a solve */
          for (int t = 0; t < 2; t++) PetscCall(SyncILUEngineSolve(e[u], t ? SYNCILU_TRANS : SYNCILU_NOTRANS, 1, c->b, c->n, x, c->n, PETSC_MEMTYPE_HOST));
          continue;
        }
        CHECK(got->row == want->row && got->shift == want->shift, "%s: row %" PetscInt_FMT " is rejected, on the host row %" PetscInt_FMT, name, got->row,
              want->row);
        CHECK(e[u]->attempts == host->attempts, "%s: %" PetscInt_FMT " attempts, on the host %" PetscInt_FMT, name, e[u]->attempts, host->attempts);
        CHECK(Alike(e[u]->amount, host->amount, 1e-12), "%s: amount %g, on the host %g", name, (double)e[u]->amount, (double)host->amount);
        /* behind a breakdown, and near to one, pivots are what they are */
        CHECK(want->row >= 0 || !sure || growth > 1e4 || got->shifted == want->shifted, "%s: %" PetscInt_FMT " pivots shifted, on the host %" PetscInt_FMT,
              name, got->shifted, want->shifted);
        if (want->row >= 0)
          CHECK(Alike(got->pivot, want->pivot, 1e-8) || PetscMax(got->pivot, want->pivot) < 1e-10, "%s: pivot %g, on the host %g", name, (double)got->pivot,
                (double)want->pivot);
        host->settings.solve = e[u]->settings.solve; /* jacobi is the host's too, and not exact */
        for (int t = 0; t < 2; t++) {
          const SyncILUTranspose trans = t ? SYNCILU_TRANS : SYNCILU_NOTRANS;

          PetscCall(SyncILUEngineSolve(e[u], trans, 1, c->b, c->n, x, c->n, PETSC_MEMTYPE_HOST));
          /* solutions of systems so near to singular ones agree in no digit */
          if (want->row >= 0 || growth > 1e4) continue;
          PetscCall(SyncILUEngineSolve(host, trans, 1, c->b, c->n, y, c->n, PETSC_MEMTYPE_HOST));
          CHECK(Close(c->n, x, y, 1e-7), "%s: the solution differs, transposed %d", name, t);
        }
      }
    }
  }
  for (int u = 0; u < row->ncells; u++) PetscCall(SyncILUEngineDestroy(&e[u]));
  PetscCall(SyncILUEngineDestroy(&host));
  PetscCall(PetscFree5(a, near, x, y, e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the command line asks for. */
typedef struct {
  char      cases[256];
  PetscBool list, small;
} Wanted;

static PetscErrorCode TestSet(const char *set, PetscErrorCode (*test)(const CaseRow *, Case *), const Wanted *wanted, PetscRandom rand)
{
  CaseList list;
  int      count;

  PetscFunctionBegin;
  PetscCall(CaseListCreate(set, &list));
  PetscCall(CaseListSelect(&list, wanted->cases, &count));
  for (int r = 0; r < list.count; r++) {
    const CaseRow *row = &list.row[r];
    Mat            A;
    Case           c;

    for (int k = 0; k < row->ncells && wanted->list; k++) {
      char name[160];

      PetscCall(CaseName(row, &row->cell[k], name, sizeof(name)));
      printf("%s %s\n", set, name);
    }
    if (wanted->list || !row->ncells) continue;
    Watch("the reference's factors of %s", row->name);
    PetscCall(CaseSeed(row, rand));
    PetscCall(GenerateMatrix(row->pattern, row->line->n, rand, &A));
    if (icc) PetscCall(GenerateSum(A));
    PetscCall(CaseCreate(A, row->line->ordering, row->line->levels, row->line->relax, rand, &c));
    PetscCall((*test)(row, &c));
    PetscCall(CaseDestroy(&c));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(CaseListDestroy(&list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int         failed;
  PetscRandom rand;
  Wanted      wanted = {.list = PETSC_FALSE};
  PetscInt    seconds;
  PetscBool   missing = PETSC_FALSE, irregular;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-list", &wanted.list, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-case", wanted.cases, sizeof(wanted.cases), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-small", &wanted.small, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-icc", &icc, NULL));
  seconds = wanted.small ? 300 : 20;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-watch", &seconds, NULL));
  if (!wanted.list) PetscCall(BackendMissing(&missing));
  if (missing) {
    PetscCall(PetscFinalize());
    return SKIPPED;
  }
  watch_seconds = (unsigned)seconds;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  PetscCall(PetscStrcmp(wanted.cases, "irregular", &irregular));
  PetscCall(TestSet(wanted.small ? "values_small" : "values", TestNumbers, &wanted, rand));
  PetscCall(TestSet(wanted.small ? "shifts_small" : "shifts", TestShifts, &wanted, rand));
  if (wanted.list) printf("irregular\n");
  else if (!icc && (irregular || !wanted.cases[0])) PetscCall(TestIrregular(rand));
  PetscCall(PetscRandomDestroy(&rand));
  WatchEnd();
  failed = wanted.list ? 0 : CheckReport("cuda_hang");
  PetscCall(PetscFinalize());
  return failed;
}
