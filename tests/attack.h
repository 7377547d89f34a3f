/*
   Device code of tests/cuda_attack.c and tests/cuda_life.c: kernels that keep multiprocessors from others,
   matrices too large to be made on the host, a fault. The functions return what the runtime said.
*/
#ifndef SYNCILU_ATTACK_H
#define SYNCILU_ATTACK_H

#include <cuda_runtime_api.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Blocks that fill a multiprocessor with waiting threads, so that no other block finds room there. */
typedef struct OccupierState *Occupier;

extern cudaError_t OccupierCreate(Occupier *);
extern cudaError_t OccupierDestroy(Occupier);
/*
   Fills all multiprocessors, or all but the first, of a device where nothing else runs, until OccupierStop()
   or until so many seconds have passed. Returns when they are full; cudaErrorNotReady if they do not get so.
*/
extern cudaError_t OccupierFill(Occupier, int but_one, double seconds);
/*
   Fills all multiprocessors so many times for that long, with pauses of the same length. Its stream comes
   before others, so that blocks which have not started yet wait each time, in the middle of what they are
   part of. Returns at once.
*/
extern cudaError_t OccupierPulse(Occupier, int times, double seconds);
/* Whether it is still there. */
extern cudaError_t OccupierRuns(Occupier, int *);
/*
   The multiprocessors that were full at least once since the last call of OccupierFill() or OccupierPulse().
*/
extern int         OccupierFull(Occupier);
extern cudaError_t OccupierStop(Occupier);

/*
   A matrix with -scale at so many distances to the left and to the right of the diagonal, which are multiples
   of the stride, as far as there are columns; in all of the last row if that is dense, with nothing on the
   right then; with d on the diagonal. rhs receives the sums of the rows, so that the solution is one
   everywhere.
*/
typedef struct {
  int    n, left, right, stride, dense;
  double scale, d;
} Band;

extern long long   BandEntries(const Band *);
extern cudaError_t BandFill(const Band *, int *ptr, int *col, double *val, double *rhs);
/*
   The largest distance of a number from one, in memory of the device with room for one number more behind it.
*/
extern cudaError_t DistanceFromOne(int n, const double *x, double *distance);

/* A kernel that stores where there is no memory. Nothing in this process uses the device after it. */
extern cudaError_t Fault(void);

#if defined(__cplusplus)
}
#endif

#endif
