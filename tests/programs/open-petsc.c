/*
   Opens a PETSc library at run time and keeps its symbols to itself, as Python does, then initializes and
   finalizes PETSc with the options given.

       open-petsc LIBRARY [OPTIONS]
*/
#include <dlfcn.h>
#include <stdio.h>

typedef int (*Initialize)(int *, char ***, const char *, const char *);
typedef int (*Finalize)(void);

int main(int argc, char **argv)
{
  Initialize initialize;
  Finalize   finalize;
  void      *library;

  if (argc < 2) {
    fprintf(stderr, "usage: open-petsc LIBRARY [OPTIONS]\n");
    return 2;
  }
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "open-petsc: %s\n", dlerror());
    return 2;
  }
  *(void **)&initialize = dlsym(library, "PetscInitialize");
  *(void **)&finalize   = dlsym(library, "PetscFinalize");
  if (!initialize || !finalize) {
    fprintf(stderr, "open-petsc: %s is no PETSc library\n", argv[1]);
    return 2;
  }
  argc--;
  argv++;
  if (initialize(&argc, &argv, NULL, NULL)) return 1;
  if (finalize()) return 1;
  return 0;
}
