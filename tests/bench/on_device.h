/*
   What bench_kernels computes on the device itself, since matrices of many gigabytes would take minutes on the
   host and on their way from there: rows of grids, other values, errors. All on the default stream.
*/
#ifndef SYNCILU_BENCH_ON_DEVICE_H
#define SYNCILU_BENCH_ON_DEVICE_H

#include <cuda_runtime_api.h>
#include "../stencil.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* The lengths of the rows; their columns and values, once it is known where they begin; random numbers. */
extern cudaError_t OnDeviceLengths(const StencilGrid *, int *length);
extern cudaError_t OnDeviceFill(const StencilGrid *, const int *begin, int *column, double *value);
extern cudaError_t OnDeviceRandom(int n, double *);

extern cudaError_t OnDeviceScale(size_t n, double factor, double *);

/* The largest of |x - y| and of |y|, which are to be zero before; a NaN is larger than all numbers. */
extern cudaError_t OnDeviceCompare(int n, const double *x, const double *y, double largest[2]);

#if defined(__cplusplus)
}
#endif

#endif
