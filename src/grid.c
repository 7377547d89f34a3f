/*
   The grid that rows follow, as the user has given it: the points of x, y and z in this order, and the
   unknowns of each point one after the other.
*/
#include "engine.h"
#include <limits.h>

#define SIDE (2 * SYNCILU_GRID_REACH + 1)

/* Where a row stands. */
static void Where(const PetscInt grid[4], PetscInt row, PetscInt at[3])
{
  const PetscInt point = row / grid[3];

  at[0] = point % grid[0];
  at[1] = point / grid[0] % grid[1];
  at[2] = point / grid[0] / grid[1];
}

/* The place of a point among those that entries may reach, -1 if it is none of them. */
static int Place(const PetscInt d[3])
{
  int place = 0;

  for (int c = 0; c < 3; c++) {
    if (PetscAbsInt(d[c]) > SYNCILU_GRID_REACH) return -1;
    place = SIDE * place + (int)d[c] + SYNCILU_GRID_REACH;
  }
  return place;
}

/*
   The first row and column of an entry that is none of the points given, straight or around the ends of the
   grid; the row is -1 if there is none.
*/
static PetscBool Look(const PetscInt grid[4], const SyncILUCSR *A, const char *allowed, char *seen, PetscInt *row, PetscInt *col)
{
  const PetscInt bs     = SyncILUBlockSize(A);
  PetscBool      around = PETSC_FALSE;

  *row = *col = -1;
  for (PetscInt i = 0; i < A->n; i++) {
    PetscInt here[3];

    Where(grid, i * bs, here);
    for (PetscInt k = A->i[i]; k < A->i[i + 1]; k++) {
      PetscInt d[3];
      int      place;

      if (A->j[k] < 0 || A->j[k] >= A->n) continue; /* which the symbolic phase names */
      Where(grid, A->j[k] * bs, d);
      for (int c = 0; c < 3; c++) d[c] -= here[c];
      place = Place(d);
      if (place >= 0 && (!allowed || allowed[place])) {
        seen[place] = 1;
        continue;
      }
      for (int c = 0; c < 3; c++) {
        if (PetscAbsInt(d[c]) > grid[c] / 2) d[c] += d[c] < 0 ? grid[c] : -grid[c];
      }
      place  = Place(d);
      around = PETSC_TRUE;
      if (place >= 0 && (!allowed || allowed[place])) continue;
      *row = i * bs;
      *col = A->j[k] * bs;
      return around;
    }
  }
  return around;
}

/* The error that names a row which does not follow the grid. */
PetscErrorCode SyncILUGridRefuse(const PetscInt grid[4], PetscInt row, PetscInt col)
{
  PetscInt at[2][3];

  PetscFunctionBegin;
  Where(grid, row, at[0]);
  Where(grid, col, at[1]);
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
          "-pc_syncilu_grid %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ": row %" PetscInt_FMT
          " has an entry in column %" PetscInt_FMT ", which is no neighbour: point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT
          ") and point (%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ")",
          grid[0], grid[1], grid[2], grid[3], row, col, at[0][0], at[0][1], at[0][2], at[1][0], at[1][1], at[1][2]);
}

/*
   SyncILUGridCheck - checks the grid that the user has given against a matrix

   Not Collective

   Input Parameters:
+  s - the settings, with the grid
-  A - the matrix; of rows on a device only the number is looked at, the rest is its backend's

   Errors: PETSC_ERR_ARG_INCOMP if the matrix has another number of rows. PETSC_ERR_ARG_WRONG with the first
   row that has an entry further away than SYNCILU_GRID_REACH points, straight or around the ends of the grid,
   or one that goes around an end and is no neighbour that rows have elsewhere: lines have another length
   then.
*/
PetscErrorCode SyncILUGridCheck(const SyncILUSettings *s, const SyncILUCSR *A)
{
  const PetscInt *grid = s->grid, n = A->n * SyncILUBlockSize(A);
  PetscInt64      rows = 1;
  PetscInt        row, col;
  char           *seen, *others;

  PetscFunctionBegin;
  if (s->grid_from != SYNCILU_GRID_GIVEN) PetscFunctionReturn(PETSC_SUCCESS);
  for (int c = 0; c < 4 && rows <= n; c++) rows *= grid[c];
  PetscCheck(rows == n, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-pc_syncilu_grid %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ": the matrix has %" PetscInt_FMT
             " rows on this rank, which is another product",
             grid[0], grid[1], grid[2], grid[3], n);
  if (PetscMemTypeDevice(A->mem)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc2(SIDE * SIDE * SIDE, &seen, SIDE * SIDE * SIDE, &others));
  if (Look(grid, A, NULL, seen, &row, &col) && row < 0) (void)Look(grid, A, seen, others, &row, &col);
  PetscCall(PetscFree2(seen, others));
  if (row >= 0) PetscCall(SyncILUGridRefuse(grid, row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}
