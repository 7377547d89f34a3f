/*
   Level analysis: the length of the dependency chains of a triangular pattern.
*/
#include "host.h"

/*
   SyncILUHostLevels - the earliest level of each row: one more than the largest level of the rows it depends
   on

   Not Collective

   Input Parameters:
+  n        - number of rows
.  ptr, col - CSR pattern of a strictly triangular matrix
-  forward  - lower triangular (rows depend on rows of lower number), else upper

   Output Parameters:
+  level   - of each row, from 0
.  nlevels - number of levels
-  width   - the most rows on one level
*/
PetscErrorCode SyncILUHostLevels(PetscInt n, const PetscInt *ptr, const PetscInt *col, PetscBool forward, PetscInt *level, PetscInt *nlevels, PetscInt *width)
{
  PetscInt *count, max = -1;

  PetscFunctionBegin;
  for (PetscInt q = 0; q < n; q++) {
    const PetscInt i = forward ? q : n - 1 - q;
    PetscInt       l = -1;

    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) l = PetscMax(l, level[col[k]]);
    level[i] = l + 1;
    max      = PetscMax(max, l + 1);
  }
  *nlevels = max + 1;
  *width   = 0;
  PetscCall(PetscCalloc1(max + 1, &count));
  for (PetscInt i = 0; i < n; i++) {
    count[level[i]]++; /* not inside PetscMax(), which evaluates its arguments twice */
    *width = PetscMax(*width, count[level[i]]);
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   SyncILUHostLevelsLate - the latest level of each row that delays no other row; rows no other depends on get
   the last level

   Not Collective

   Input Parameters:
+  n        - number of rows
.  ptr, col - CSR pattern of a strictly triangular matrix
.  forward  - lower triangular, else upper
-  nlevels  - number of levels

   Output Parameter:
.  level - of each row, from 0

   Note:
   ALAP levels: M. Freire, master's thesis, Universidad de la Republica, 2025, chapter 4.
*/
PetscErrorCode SyncILUHostLevelsLate(PetscInt n, const PetscInt *ptr, const PetscInt *col, PetscBool forward, PetscInt nlevels, PetscInt *level)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) level[i] = nlevels - 1;
  for (PetscInt q = 0; q < n; q++) {
    const PetscInt i = forward ? n - 1 - q : q;

    for (PetscInt k = ptr[i]; k < ptr[i + 1]; k++) level[col[k]] = PetscMin(level[col[k]], level[i] - 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
