/*
   See jacobi.h. A sweep reads one iterate and writes another, so that its rows may be computed in any order,
   but for those of a diagonal block. Each thread has the same rows in all sweeps.
*/
#include "jacobi.h"
#if defined(_OPENMP)
  #include <omp.h>
#endif

/* Compiled anew wherever it is called, with what is constant there. */
#if defined(__GNUC__)
  #define FOR_EACH_CALL static inline __attribute__((always_inline))
#else
  #define FOR_EACH_CALL static inline
#endif

/*
   A sweep for the rows from first on, before last. Of several right-hand sides, nrhs, the numbers of a row are
   neighbours. Columns of the diagonal block, whose number has all bits from shift on in common with the row's,
   are read of the new iterate, the others of the old one; with old NULL they do not count.
*/
FOR_EACH_CALL void SweepRows(const SyncILUJacobiTriangle *t, PetscInt first, PetscInt last, const PetscScalar *b, const PetscScalar *old, PetscScalar *x,
                             const int shift, const PetscInt nrhs)
{
  const PetscInt *ptr = t->tri->ptr, *col = t->tri->col;

  for (PetscInt q = first; q < last; q++) {
    const PetscInt i = t->tri->forward ? q : first + last - 1 - q, end = old || shift ? ptr[i + 1] : ptr[i];
    PetscScalar    sum[JACOBI_RHS];

    for (PetscInt r = 0; r < nrhs; r++) sum[r] = t->scale ? b[i * nrhs + r] * t->scale[i] : b[i * nrhs + r];
    for (PetscInt k = ptr[i]; k < end; k++) {
      const PetscScalar *from = (col[k] ^ i) >> shift ? old : x;
      const PetscScalar  a    = t->val[t->map ? t->map[k] : k];

      for (PetscInt r = 0; r < nrhs && from; r++) sum[r] -= a * from[col[k] * nrhs + r];
    }
    for (PetscInt r = 0; r < nrhs; r++) x[i * nrhs + r] = t->dinv ? sum[r] * t->dinv[i] : sum[r];
  }
}

/* With one thread there is none: it would be that of a parallel region of the program's. */
static inline void Barrier(PetscInt threads)
{
  if (threads > 1) {
#if defined(_OPENMP)
  #pragma omp barrier
#endif
  }
}

/* All sweeps, for the rows of one of so many threads. */
static void Share(const SyncILUJacobi *j, PetscInt thread, PetscInt threads)
{
  const PetscInt blocks = (j->n + SYNCILU_JACOBI_BLOCK - 1) / SYNCILU_JACOBI_BLOCK, nrhs = j->nrhs;
  const PetscInt first = (PetscInt)((PetscInt64)blocks * thread / threads) * SYNCILU_JACOBI_BLOCK;
  const PetscInt last  = PetscMin((PetscInt)((PetscInt64)blocks * (thread + 1) / threads) * SYNCILU_JACOBI_BLOCK, j->n);
  const size_t   size  = (size_t)j->n * nrhs;
  PetscScalar   *b = j->work, *old = b + size, *x = old + size;
  int            shift = 0;

  while (1 << shift < j->block) shift++;
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt r = 0; r < nrhs; r++) b[i * nrhs + r] = j->b[(j->in ? j->in[i] : i) + (size_t)r * j->ldb];
  }
  for (int k = 0; k < j->triangles; k++) {
    PetscScalar *solved;

    for (PetscInt s = 0; s <= j->sweeps; s++) {
      PetscScalar *const before = old;

      Barrier(threads); /* rows of other threads are read that these have just written */
      old = x;
      x   = before;
      if (nrhs == 1 && !shift) SweepRows(&j->triangle[k], first, last, b, s ? old : NULL, x, 0, 1);
      else if (nrhs == 1) SweepRows(&j->triangle[k], first, last, b, s ? old : NULL, x, shift, 1);
      else SweepRows(&j->triangle[k], first, last, b, s ? old : NULL, x, shift, nrhs);
    }
    solved = x;
    x      = b;
    b      = solved;
  }
  Barrier(threads); /* what is written now may be the right-hand sides that other threads have still to take */
  for (PetscInt i = first; i < last; i++) {
    for (PetscInt r = 0; r < nrhs; r++) j->x[(j->out ? j->out[i] : i) + (size_t)r * j->ldx] = b[i * nrhs + r];
  }
}

void SyncILUHostJacobi(const SyncILUJacobi *j, PetscInt threads)
{
  if (threads == 1) Share(j, 0, 1);
#if defined(_OPENMP)
  else {
  #pragma omp parallel num_threads((int)threads)
    Share(j, omp_get_thread_num(), omp_get_num_threads());
  }
#endif
}
