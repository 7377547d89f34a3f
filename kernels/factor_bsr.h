/*
   Update strategy bsr: see factor_bsr.cu.
*/
#ifndef SYNCILU_FACTOR_BSR_H
#define SYNCILU_FACTOR_BSR_H

#include "inodes.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct {
  SyncILUDeviceInodes inodes;
  int                 shared; /* most entries of an inode that fit shared memory */
  /* entries of L of an inode whose reference inodes shared memory describes; others are looked up in the pattern */
  int lower;
  int warps; /* of a block */
  /* for the rows of inodes with more entries than fit shared memory; NULL if there are none */
  void      *scratch;
  const int *begin; /* where the rows of each of these inodes begin there, in units of size * size values */
} SyncILUDeviceBsrFactor;

/* Bytes of shared memory that a warp needs for an inode of rows of that many entries, and so many of L. */
extern size_t SyncILUKernelFactorBsrBytes(int size, int entries, int lower);

/* Of the factorization, order, turn, throttle and tasks are of inodes. */
extern cudaError_t SyncILUKernelFactorBsr(SyncILUValueType, SyncILUDeviceFactor, SyncILUDeviceBsrFactor, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
