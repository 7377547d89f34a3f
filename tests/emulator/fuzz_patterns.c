static char help[] = "Random patterns with random settings of the CUDA backend: factors and solutions are the serial reference's.\n\n\
  -seeds <n>  so many matrices, 10 by default, each with three engines\n\
  -first <s>  the first seed, 1 by default\n\n";

#include "check.h"
#include "fuzz.h"

int main(int argc, char **argv)
{
  PetscInt    first, seeds;
  PetscRandom rand;
  int         failed;

  PetscCall(FuzzBegin(&argc, &argv, help, &first, &seeds));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &rand));
  for (PetscInt seed = first; seed < first + seeds && check_failures < 10; seed++) PetscCall(FuzzPattern(seed, rand));
  PetscCall(PetscRandomDestroy(&rand));
  failed = CheckReport("fuzz_patterns");
  PetscCall(PetscFinalize());
  return failed;
}
