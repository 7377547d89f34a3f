/*
   What scheduler.cpp and runtime.cpp have in common, beside what device code sees too.
*/
#ifndef EMULATOR_INTERNAL_H
#define EMULATOR_INTERNAL_H

#include "emulator.h"

namespace emulator
{

/* bytes a block may have, as on devices of compute capability 9.0 */
constexpr size_t SHARED_DEFAULT = 48 << 10, SHARED_OPTIN = 227 << 10;
constexpr int    THREADS_MAX = 1024;
constexpr int    EXIT_STATUS = 71; /* of a program that a report ends */

/*
   An environment variable that is a number, decimal or with 0x hexadecimal; anything else ends the program.
*/
long long option(const char *name, long long otherwise, long long least, long long most);

unsigned draw(unsigned below); /* a random number */

/* EMULATOR_TRACE=2: a line on stderr. */
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

int  fill_byte();            /* what fresh memory is full of */
void set_error(cudaError_t); /* for cudaGetLastError() */
/* bytes of dynamic shared memory that a launch may ask for */
size_t dynamic_limit(const void *kernel);

} // namespace emulator

#endif
