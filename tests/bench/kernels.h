/*
   What the parts of bench_kernels share: phases, a row of the table, the matrix that is measured, clocks.
   ours.c and cusparse.c fill rows, report.c prints them, kernels.c has the lists and main().
*/
#ifndef SYNCILU_BENCH_KERNELS_H
#define SYNCILU_BENCH_KERNELS_H

#include <math.h>
#include <petscmat.h>

#if defined(PETSC_HAVE_CUDA) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX) && !defined(PETSC_USE_64BIT_INDICES)
  #define BENCH_KERNELS 1 /* otherwise there is nothing to measure */

  #include <petscdevice_cuda.h> /* includes cuSPARSE's header, without the warnings of what is deprecated */
  #include "bench.h"
  #include "../gpu_case.h"

  #define HOP       40e-9 /* s that a level takes at least */
  #define TOLERANCE 1e-10 /* of a result, relative to the largest entry */

enum {
  COLUMNS       = 16, /* right-hand sides at a time */
  STRATEGY_ROWS = 64,
  BASELINE_ROWS = 20,
  MATRICES      = 256,
  WHY           = 600,
  FAULT         = 3 /* exit status where a kernel of cuSPARSE's has ended in a fault */
};

typedef enum {
  ANALYSIS,
  FIRST,
  REFACTOR,
  /*
     what cuSPARSE's solves need after a refactorization; ours need it for the transposed system alone, see
     TFIRST
  */
  UPDATE,
  SOLVE,
  TRANSPOSED,
  MANY,
  TANALYSIS, /* from here on not in the table: cuSPARSE wants another analysis for transposed solves */
  /*
     our first transposed solve after a refactorization, which moves the values to where these solves want
     them
  */
  TFIRST,
  PHASES
} Phase;
extern const char *const PhaseNames[PHASES];

/* One implementation on one matrix: a row of the table. */
typedef struct {
  char      name[48];
  char      factorization[24], solver[16]; /* of ours: what ran, also where another was asked for */
  double    time[PHASES], error[PHASES];   /* medians; NAN where there is none */
  PetscInt  repeats[PHASES];
  double    call;      /* the analysis without creating and allocating what it fills */
  double    bytes;     /* held before a transposed solve or one of several right-hand sides */
  double    bytes_all; /* held after both */
  PetscBool failed;
  char      why[WHY];
} Row;

typedef struct {
  char            name[48];
  SyncILUSettings settings;
} Strategy;

typedef struct {
  PetscInt         repeat;
  PetscReal        limit; /* s that the repetitions of one time may take before they become fewer */
  int              width; /* of the table's first column */
  PetscInt         nstrategies;
  Strategy         strategy[STRATEGY_ROWS];
  PetscInt         levels; /* of fill */
  PetscBool        cusparse, view;
  PetscBool        brief;        /* no transposed solves, one right-hand side, against cuSPARSE's solution */
  PetscBool        icc;          /* incomplete Cholesky factorization, beside ILU of the same symmetric matrices */
  char             ordering[16]; /* natural or bmc */
  cudaStream_t     stream;
  cudaEvent_t      event[BENCH_REPEAT_MAX + 1];
  cusparseHandle_t handle;
  double           bandwidth; /* bytes/s read and written by a copy on the device */
  int              turns;     /* file whose lock gives the device to one of several benches; -1: none */
  BenchJSON        json;
  BenchFailures    failures;
} Bench;

/* A matrix on the host and on the device, the reference's factor of it and its solutions. */
typedef struct {
  char        name[64];
  char        unfit[160]; /* why it is left out; empty if it is not */
  Mat         A;          /* NULL: its rows are those of the grid, on the device alone */
  StencilGrid grid;
  Case        c;
  PetscInt    levels[2];
  PetscInt    columns; /* right-hand sides at a time at most */
  PetscInt    block;   /* rows of a block of cuSPARSE's functions for such; 1: there are none */
  SyncILUCSR  device;
  double     *other;        /* other values in the same pattern, on the device; NULL in brief */
  double     *factor;       /* the factor in the pattern of the matrix, on the device, or NULL */
  double     *db, *dx, *dy; /* right-hand sides, solutions, what is between L and U */
  double     *copy;         /* room on the host for a vector or the values; NULL in brief */
  double     *want;         /* in brief, on the device: our first solution, which others are to be */
  double     *largest;      /* two numbers on the device */
  void       *blocks;       /* of cusparse.c: in brief, a factor that later rows solve with */
} Subject;

/* All results of one matrix. */
typedef struct {
  char        name[64];
  const char *which; /* grid, mesh, irregular, or a file */
  PetscInt    n, nnz, levels[2], block;
  double      bound[PHASES];
  Row         ours[STRATEGY_ROWS], theirs[BASELINE_ROWS];
} Result;

/* subject.c: Create on the host, then Upload to the device */
extern PetscErrorCode SubjectCreate(const Bench *, const char *name, PetscBool file, Subject *);
extern PetscErrorCode SubjectUpload(Subject *);
extern PetscErrorCode SubjectDestroy(Subject *);
/* The least time: bytes that must move at the speed of a copy, or levels one after another. */
extern double SubjectBound(const Bench *, const Subject *, Phase);
/* The error of the solutions in dx, which are overwritten; NaN where these are what others are to be. */
extern PetscErrorCode SubjectCheck(Subject *, Phase, double *error);

/* clocks.c */
typedef PetscErrorCode (*Action)(void *);
/* The host's clock around a call and the device's completion of it; before is not timed. */
extern PetscErrorCode TimeCall(Action before, Action timed, void *, double *seconds);
/* Medians of repeated calls, by the host's clock or by the device's. */
extern PetscErrorCode TimeOnHost(const Bench *, Row *, Phase, Action before, Action timed, void *);
extern PetscErrorCode TimeOnStream(const Bench *, Row *, Phase, Action timed, void *);
/* Takes a sample's median into the row. */
extern PetscErrorCode TimeKeep(Row *, Phase, BenchSample *);
extern PetscErrorCode CopyBandwidth(Bench *);

/* Each measures all it can; what fails is noted in the row. */
extern PetscErrorCode MeasureOurs(const Bench *, const Strategy *, Subject *, Row *);
extern PetscErrorCode MeasureBaseline(const Bench *, int, Subject *, Row *);
/* What they have left in blocks. */
extern PetscErrorCode BaselineFree(Subject *);
/* The name of a row of cuSPARSE's, NULL behind the last; and whether it is measured. */
extern const char *BaselineName(int);
extern PetscBool   BaselineRuns(const Bench *, PetscInt nnz, PetscInt block, int);

/* report.c */
extern void           RowInitialize(Row *, const char *);
extern PetscErrorCode ReportMachine(const Bench *);
/* A wrong result of ours is a failure, one of cuSPARSE's is shown; then the row's lines of JSON. */
extern PetscErrorCode ReportRow(Bench *, const Result *, const Row *, PetscBool ours);
extern PetscErrorCode ReportResult(const Bench *, const Result *);
extern PetscErrorCode ReportSummary(const Bench *, PetscInt, const Result *);
#endif

#endif
