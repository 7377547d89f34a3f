/*
   Factorizations: what a strategy of them is (FactorOps), and what several of them share.
*/
#ifndef SYNCILU_CUDA_FACTOR_H
#define SYNCILU_CUDA_FACTOR_H

#include "solve.h"

typedef struct _Factorization Factorization;

typedef struct {
  SyncILUUpdate type;
  const char   *name;    /* in the view */
  PetscBool     inodes;  /* goes by inodes, not rows */
  PetscBool     blocks;  /* goes by blocks of the ordering bmc; without relaxation */
  PetscBool     inexact; /* it computes another factor, which has a reference of its own */
  /* NULL: always; the reason stays empty if it does */
  PetscErrorCode (*fits)(Plan *, char[], size_t);
  /* may find only now that it takes too much: the reason */
  PetscErrorCode (*create)(Factorization *, char[], size_t);
  /* begins with SyncILUKernelFactorBegin() */
  PetscErrorCode (*factor)(Factorization *, const SyncILUDeviceValues *, const SyncILUDevicePivoting *, SyncILUDeviceStatus *, Factor *);
  PetscErrorCode (*view)(const Factorization *, PetscViewer); /* NULL: name and lanes say all */
} FactorOps;

struct _Factorization {
  const FactorOps  *ops;
  Plan             *plan;
  Triangle         *L;
  const Triangle   *U;
  int               lanes;              /* logarithm of the lanes a row, as the view says */
  SyncILUSlicedRows wrows;              /* where the rows of W go; val NULL: to the pattern */
  double           *pivot, *sum, *size; /* see SyncILUDeviceFactor; the last two once they are needed */
  double           *workspace;          /* a number a row, of no use to others while a factorization runs */
  /* products of two of the values are no numbers, which the next attempt must do without */
  PetscBool    wide;
  PetscBool    narrow;   /* auto has found that levels have few rows, each of which had better have a warp */
  PetscBool    late;     /* rows are by their latest level, other than in the solve */
  PetscBool    half;     /* one triangle of a symmetric matrix is factored, and the other one is its transpose */
  char         both[96]; /* why not, for a symmetric matrix */
  char         why[160]; /* why it is not the strategy that was asked for or preferred */
  DeviceMemory memory;
  void        *data; /* the strategy's */
};

/* factor_rows.c: what the factorizations by rows share. */

typedef struct {
  Order                order;
  int                  tasks;
  SyncILUSlice        *task;   /* NULL: a task a row */
  double              *u;      /* rows of U', with one triangle a pivot before each, where W goes elsewhere */
  int                 *ubegin; /* where they begin */
  int                  shared; /* entries of a row that shared memory has room for */
  const unsigned char *turn;   /* see SyncILUDeviceFactor */
  PetscBool            filled; /* the strategy fills what it waits for on the pattern with sentinels itself */
  PetscBool            stored; /* nothing goes to the pattern: only the solves' storage has W and U' */
} FactorRows;

PETSC_INTERN PetscErrorCode FactorHalf(Factorization *, const char[]);
PETSC_INTERN PetscErrorCode FactorRowsOrder(Factorization *, Order *);
PETSC_INTERN PetscErrorCode FactorRowsCreate(Factorization *, FactorRows *);
PETSC_INTERN PetscErrorCode FactorRowsTurns(Plan *, const Order *, DeviceMemory *, const unsigned char **);
PETSC_INTERN PetscErrorCode FactorRowsSums(Factorization *);
PETSC_INTERN PetscErrorCode FactorRowsBegin(Factorization *, const FactorRows *, const SyncILUDeviceValues *, const SyncILUDevicePivoting *,
                                            SyncILUDeviceStatus *, SyncILUDeviceFactor *, Factor *);

/* factor_list.c: what lists of updates may take. */

PETSC_INTERN double         ListsLimit(const Factorization *);
PETSC_INTERN PetscErrorCode ListsHopeless(Factorization *, SyncILUDevicePattern, double, PetscBool *);

/* factor_long.c: rows that are longer than lists of updates can count. */

typedef struct {
  SyncILUDeviceLongRows device;
  size_t                entries; /* of all these rows */
  PetscBool             unfit;   /* whatever the lanes of the other rows */
} LongRows;

PETSC_INTERN PetscErrorCode LongRowsCreate(Factorization *, FactorRows *, SyncILUDevicePattern, double, LongRows *, char[], size_t);
PETSC_INTERN PetscErrorCode LongRowsBegin(Plan *, const LongRows *, const SyncILUDeviceFactor *);

/* factor_parilu.c: sweeps, which the residual of any factor takes after. */

PETSC_INTERN PetscErrorCode PlanSweep(const Plan *, SyncILUDeviceSweep *);

#endif
