/*
   Clocks of bench_kernels.
*/
#include <petsctime.h>
#include "kernels.h"
#if defined(BENCH_KERNELS)

PetscErrorCode TimeCall(Action before, Action timed, void *ctx, double *seconds)
{
  PetscLogDouble t0, t1;

  PetscFunctionBegin;
  if (before) PetscCall((*before)(ctx));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t0));
  PetscCall((*timed)(ctx));
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(PetscTime(&t1));
  *seconds = t1 - t0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TimeKeep(Row *row, Phase phase, BenchSample *s)
{
  PetscFunctionBegin;
  row->time[phase]    = BenchMedian(s);
  row->repeats[phase] = s->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TimeOnHost(const Bench *bench, Row *row, Phase phase, Action before, Action timed, void *ctx)
{
  BenchSample s;
  double      seconds = 0.0;

  PetscFunctionBegin;
  PetscCall(TimeCall(before, timed, ctx, &seconds));
  seconds = 0.0;
  for (s.n = 0; BenchMore(s.n, bench->repeat, seconds, bench->limit); s.n++) {
    PetscCall(TimeCall(before, timed, ctx, &s.t[s.n]));
    seconds += s.t[s.n];
  }
  PetscCall(TimeKeep(row, phase, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Calls follow each other in the stream, so that the host's time to launch them is hidden as in a solver that
   runs ahead. Where there may be fewer repetitions than wanted each of them is waited for; they are far
   longer than a launch then.
*/
PetscErrorCode TimeOnStream(const Bench *bench, Row *row, Phase phase, Action timed, void *ctx)
{
  BenchSample s;
  double      warm = 0.0, seconds = 0.0;
  PetscBool   wait;

  PetscFunctionBegin;
  PetscCall(TimeCall(NULL, timed, ctx, &warm)); /* may load kernels, and so says nothing of the next */
  if (warm * bench->repeat > bench->limit) PetscCall(TimeCall(NULL, timed, ctx, &warm));
  wait = (PetscBool)(warm * bench->repeat > bench->limit);
  if (!wait) PetscCall((*timed)(ctx));
  PetscCallCUDA(cudaEventRecord(bench->event[0], bench->stream));
  for (s.n = 0; BenchMore(s.n, bench->repeat, seconds, bench->limit); s.n++) {
    float ms;

    PetscCall((*timed)(ctx));
    PetscCallCUDA(cudaEventRecord(bench->event[s.n + 1], bench->stream));
    if (!wait) continue;
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCallCUDA(cudaEventElapsedTime(&ms, bench->event[s.n], bench->event[s.n + 1]));
    seconds += 1e-3 * ms;
  }
  PetscCallCUDA(cudaDeviceSynchronize());
  for (PetscInt r = 0; r < s.n; r++) {
    float ms;

    PetscCallCUDA(cudaEventElapsedTime(&ms, bench->event[r], bench->event[r + 1]));
    s.t[r] = 1e-3 * ms;
  }
  PetscCall(TimeKeep(row, phase, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CopyBandwidth(Bench *bench)
{
  size_t      bytes = (size_t)1 << 30, free, total;
  char       *from, *to;
  BenchSample s = {0};

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemGetInfo(&free, &total));
  while (bytes > free / 4) bytes /= 2;
  PetscCallCUDA(cudaMalloc((void **)&from, bytes));
  PetscCallCUDA(cudaMalloc((void **)&to, bytes));
  PetscCallCUDA(cudaMemset(from, 1, bytes));
  for (PetscInt r = -3; r < 20; r++) {
    float ms;

    PetscCallCUDA(cudaEventRecord(bench->event[0], bench->stream));
    PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, bench->stream));
    PetscCallCUDA(cudaEventRecord(bench->event[1], bench->stream));
    PetscCallCUDA(cudaDeviceSynchronize());
    PetscCallCUDA(cudaEventElapsedTime(&ms, bench->event[0], bench->event[1]));
    if (r >= 0) s.t[s.n++] = 1e-3 * ms;
  }
  bench->bandwidth = 2.0 * (double)bytes / BenchMedian(&s);
  PetscCallCUDA(cudaFree(from));
  PetscCallCUDA(cudaFree(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
