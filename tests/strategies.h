/*
   The strategies that the CUDA backend has, as tests and benches name them.
*/
#ifndef SYNCILU_STRATEGIES_H
#define SYNCILU_STRATEGIES_H

#include <petscsyncilu.h>

enum {
  STRATEGIES_MAX = 32
};

/* Those of the backend's tables, in their order. */
typedef struct {
  int           nupdates, nsolves;
  SyncILUUpdate update[STRATEGIES_MAX];
  SyncILUSolve  solve[STRATEGIES_MAX];
} Strategies;

extern PetscErrorCode StrategiesGet(Strategies *);

#endif
