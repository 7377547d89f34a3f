/*
   What those strategies of the factorization share that look for the updates in each factorization
   (factor_search.c). They differ in the kernel.
*/
#ifndef SYNCILU_CUDA_SEARCH_H
#define SYNCILU_CUDA_SEARCH_H

#include "factor.h"

typedef cudaError_t (*SearchKernel)(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceSearch, cudaStream_t);

typedef struct {
  FactorRows          rows;
  SyncILUDeviceSearch search;
  SearchKernel        kernel;
} Search;

PETSC_INTERN PetscErrorCode SearchRoom(Factorization *, FactorRows *, size_t, int, SyncILUDeviceSearch *);
PETSC_INTERN PetscErrorCode SearchCreate(Factorization *, int, int, SearchKernel);
PETSC_INTERN PetscErrorCode SearchPrefetch(Factorization *);
PETSC_INTERN PetscErrorCode SearchFactor(Factorization *, const SyncILUDeviceValues *, const SyncILUDevicePivoting *, SyncILUDeviceStatus *, Factor *);
PETSC_INTERN PetscErrorCode SearchViewPrefetch(const Factorization *, PetscViewer);

#endif
