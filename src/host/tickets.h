/*
   Tickets: how the rows of a triangle are handed to threads. A ticket is some consecutive rows, in batches; a
   batch waits until the tickets of the rows it depends on have got as far as these rows.

   Progress: tickets are handed out in an order in which every row comes after those it depends on, and a
   thread works through its rows in that order. So the first unfinished row in that order belongs to a running
   thread and waits for nobody. This holds for any number of threads, also when fewer are started than were
   asked for.

   Where the matrix has blocks, a row is a block row here.
*/
#ifndef SYNCILU_TICKETS_H
#define SYNCILU_TICKETS_H

#include "host.h"
#include <stdatomic.h>

/* Position q of the order in which rows are handed out, and the ticket it is on. */
typedef struct {
  PetscInt q, ticket;
} SyncILUPosition;

/*
   A triangle of the factor or its transpose: whom a row depends on, and in which order rows are handed out.
   Position q of that order is row order[q].
*/
typedef struct {
  const PetscInt *ptr, *col;
  PetscInt       *map; /* where the value of an entry stands; NULL: where its column stands */
  PetscInt       *own; /* ptr and col in one array, where the triangle owns them */
  PetscBool       forward;

  /* for several threads, once they are wanted */
  PetscInt         *order;  /* NULL: numerical (forward) or reverse numerical */
  PetscInt         *turn;   /* tickets in the order they are handed out; NULL: as they are numbered */
  PetscInt         *ticket; /* ticket t is batches ticket[t] .. ticket[t + 1] - 1 */
  PetscInt         *batch;  /* batch k is positions batch[k] .. batch[k + 1] - 1 */
  PetscInt         *wait;   /* and waits for awaited[wait[k]] .. awaited[wait[k + 1] - 1] */
  SyncILUPosition  *awaited;
  PetscInt          tickets, batches;
  _Atomic PetscInt *progress; /* all positions of ticket t before progress[t] are finished */
  _Atomic PetscInt  next;     /* the next turn */
} SyncILUTriangle;

/* How far a thread has got in a triangle. */
typedef struct {
  PetscInt t, k;   /* its ticket, -1 before the first, and batch */
  PetscInt low;    /* it knows that all tickets before this one are finished, */
  PetscInt prefix; /* that is, all positions before this one, for which it need not look; */
  PetscInt looked; /* nor for those of this ticket */
  PetscInt saw;    /* before this position */
} SyncILUWalk;

static const SyncILUWalk SyncILUWalkStart = {-1, 0, 0, 0, -1, 0};

/* Tickets for so many threads, in that order of the rows; nothing where that was done before. */
PETSC_INTERN PetscErrorCode SyncILUTrianglePrepare(SyncILUTriangle *, PetscInt, SyncILUAnalysis, PetscInt);
PETSC_INTERN PetscErrorCode SyncILUTriangleTranspose(const SyncILUTriangle *, PetscInt, SyncILUTriangle *);
PETSC_INTERN PetscErrorCode SyncILUTriangleDestroy(SyncILUTriangle *);
PETSC_INTERN PetscInt64     SyncILUTriangleBytes(const SyncILUTriangle *, PetscInt);
PETSC_INTERN void           SyncILUTriangleBegin(SyncILUTriangle *);
PETSC_INTERN PetscBool      SyncILUTriangleNext(SyncILUTriangle *, SyncILUWalk *, PetscInt *, PetscInt *);

#endif
