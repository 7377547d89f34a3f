/*
   The CUDA backend as the engine has it: a plan, its triangles and a factorization. All device memory belongs
   to a list, released as a whole (src/README.md).

   Each of the other headers knows those before it alone: device.h, plan.h, order.h, solve.h, struct.h,
   factor.h, search.h, choose.h. A solve strategy includes none behind struct.h, one of the factorization none
   behind search.h (tests/programs/borders).
*/
#ifndef SYNCILU_CUDA_H
#define SYNCILU_CUDA_H

#include "factor.h"

/* cuda.c, report.c: what the engine calls. */

typedef struct {
  Plan                 plan;
  Triangle             triangle[4]; /* by part; those of the transposes once they are needed */
  Factorization        factorization;
  Factor               factor;
  SyncILUDeviceStatus *status;
  /* of the first and of the second triangular solve; the first is filled with NaN sentinels between solves */
  double      *x[2];
  size_t       xsize; /* numbers of each */
  DeviceMemory xmemory;
  struct {
    double      *x; /* of both triangular solves where lines of it are gathered (kernels/solve_gathered.h) */
    size_t       size;
    DeviceMemory memory;
  } gathered;
  double      *stage; /* right-hand sides of the host, which their solutions take the place of */
  size_t       stage_size;
  DeviceMemory stage_memory;
  struct {
    PetscScalar *l, *u, *dinv; /* the usual form on the host */
    PetscInt     generation;
  } values;
  struct {
    DeviceRows   rows;    /* of the symbolic phase, once a search for another pattern has begun */
    int          longest; /* entries of a row */
    DeviceMemory memory;
  } start;
  struct {
    double   *d, *e;      /* see kernels/eisenstat.h; not for solves with SolveOps.diagonal */
    double   *b;          /* right-hand sides of L; for solves with SolveOps.plain alone */
    PetscInt  generation; /* for which these are */
    PetscBool permuted;   /* vectors of the operator are in the order of the factor */
  } eisenstat;
  char why[192]; /* it solves in another way than the usual one, or the one that is asked for */
} CUDA;

PETSC_INTERN PetscErrorCode        PlanStrategies(SyncILUEngine);
PETSC_INTERN PetscErrorCode        ForgetStrategies(CUDA *);
PETSC_INTERN PetscErrorCode        Search_CUDA(SyncILUEngine, const SyncILUCSR *, const SyncILUPivoting *, SyncILUSearch *);
PETSC_INTERN SyncILUDevicePivoting DevicePivoting(const SyncILUPivoting *, PetscBool);
PETSC_INTERN PetscErrorCode        MakeStage(CUDA *, size_t);
PETSC_INTERN PetscErrorCode        ResetSolves(CUDA *);
PETSC_INTERN PetscErrorCode        CroutUpdate(CUDA *, DeviceMemory *);
PETSC_INTERN PetscErrorCode        CroutSeparate(CUDA *);
PETSC_INTERN PetscErrorCode        Fits_CUDA(SyncILUEngine, SyncILUSolve, char[], size_t);
PETSC_INTERN PetscErrorCode        Values_CUDA(SyncILUEngine, const PetscScalar **, const PetscScalar **, const PetscScalar **);
PETSC_INTERN PetscErrorCode        Excess_CUDA(SyncILUEngine, const SyncILUCSR *, PetscReal *);
PETSC_INTERN PetscErrorCode        Updates_CUDA(SyncILUEngine, PetscInt64 *);
PETSC_INTERN PetscErrorCode        Residual_CUDA(SyncILUEngine, const SyncILUCSR *, PetscReal *);
PETSC_INTERN PetscErrorCode        Statistics_CUDA(SyncILUEngine, SyncILUStatistics *);
PETSC_INTERN PetscErrorCode        View_CUDA(SyncILUEngine, PetscViewer);

/* eisenstat.c: one triangular solve alone, and what is made of both. */

PETSC_INTERN PetscErrorCode            Half_CUDA(SyncILUEngine, PetscBool, const PetscScalar *, PetscScalar *, PetscMemType);
PETSC_INTERN const SyncILUEisenstatOps SyncILUCUDAEisenstatOps;

#endif
