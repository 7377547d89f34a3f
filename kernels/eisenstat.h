/*
   Eisenstat's trick (src/eisenstat.c): y = L^-1 A U'^-1 v by the two triangular solves alone.

   Of the Crout form A = (W + D)(I + U') the solve with U finds w = (I + U')^-1 v, and since L = (W + D) D^-1,

     y = D (w + x) with (W + D) x = D v + (a - 2 D) w,

   a the diagonal of the matrix. The solve with L makes its right-hand side of v and w, and y of its solution.
   By rows of the matrix it takes D and a - 2 D, the d and e of SyncILUDeviceSolve; strategy struct, which
   reads the x of U for w, the diagonal in the order of its own (SyncILUKernelStructDiagonal()). For
   strategies that know nothing of it there are kernels for what comes before the solve with L and after it.
*/
#ifndef SYNCILU_EISENSTAT_H
#define SYNCILU_EISENSTAT_H

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/*
   By rows of the matrix, of which row[i] (NULL: i) is row i of the factor: D and a - 2 D, if d is not NULL, and the
   reciprocals of D.
*/
extern cudaError_t SyncILUKernelEisenstat(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, const void *pivot, const int *row, void *d, void *e,
                                          void *inverse, cudaStream_t);

/*
   v = (I + U') x, of the matrix' entries and the pivots: where only diagonals have updates, D U' are the
   entries right of the diagonal. x is in the matrix' numbering; what row i of the factor makes of it comes to
   v[out[i]] (NULL: v[i]).
*/
extern cudaError_t SyncILUKernelTimesUpper(SyncILUValueType, SyncILUDevicePattern, SyncILUDeviceValues, const void *pivot, const int *row, const int *out,
                                           const void *x, void *v, cudaStream_t);

/*
   x = D b, or with divide x = D^-1 b, for the solves one by one: of row i of the factor b is at in[i], x at out[i] (NULL:
   at i). x may be b where in is out.
*/
extern cudaError_t SyncILUKernelTimesPivots(SyncILUValueType, int n, const void *pivot, int divide, const int *in, const int *out, const void *b, void *x,
                                            cudaStream_t);

/* b = d v + e w, the right-hand side of L; and, x being its solution, y = d (w + x), where y may be w. */
extern cudaError_t SyncILUKernelEisenstatBefore(SyncILUValueType, int n, const void *d, const void *e, const void *v, const void *w, void *b, cudaStream_t);
extern cudaError_t SyncILUKernelEisenstatAfter(SyncILUValueType, int n, const void *d, const void *w, const void *x, void *y, cudaStream_t);

#if defined(__cplusplus)
}
#endif

#endif
