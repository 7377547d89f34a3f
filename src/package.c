/*
   The plugin's entry: PETSc calls PetscDLLibraryRegister_petscsyncilu() when it loads libpetscsyncilu.so.
*/
#include "syncilu_impl.h"
#include <string.h>

PetscLogEvent SYNCILU_Analysis, SYNCILU_Factor, SYNCILU_Solve;

static PetscBool SyncILUPackageInitialized = PETSC_FALSE;

/*@C
   SyncILUFinalizePackage - forgets that the package was initialized, so that it registers again after the
   next PetscInitialize()

   Not Collective

   Level: developer

   Note:
   Registered with PetscRegisterFinalize(); programs need not call it.

.seealso: `SyncILUInitializePackage()`
@*/
PetscErrorCode SyncILUFinalizePackage(void)
{
  PetscFunctionBegin;
  PetscCall(SyncILUEngineFinalize());
  SyncILUPackageInitialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The private headers, whose structures are compiled in here, change with every minor version; and a PETSc
   with other scalars or indices takes other arguments altogether.
*/
static PetscErrorCode CheckPETSc(void)
{
  PetscInt64    number[4] = {-1, -1, -1, -1};
  int           major, minor, bits;
  PetscDataType scalar, real;
  PetscBool     known[2];

  PetscFunctionBegin;
  /* a PETSc with 32-bit indices writes one half of each number, and the other one stays -1 */
  PetscCall(PetscGetVersionNumber((PetscInt *)&number[0], (PetscInt *)&number[1], (PetscInt *)&number[2], (PetscInt *)&number[3]));
  if (number[0] >= 0 && number[0] <= 99) {
    bits  = 64;
    major = (int)number[0];
    minor = (int)number[1];
  } else {
    bits = 32;
    memcpy(&major, &number[0], sizeof(major));
    memcpy(&minor, &number[1], sizeof(minor));
  }
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "syncilu was built for PETSc %d.%d and cannot be loaded into PETSc %d.%d: build it for that version", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
             major, minor);
  PetscCheck(bits == 8 * (int)sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "syncilu was built for a PETSc with %d-bit indices and cannot be loaded into one with %d-bit indices: build it for that one",
             (int)(8 * sizeof(PetscInt)), bits);
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &known[0]));
  PetscCall(PetscDataTypeFromString("real", &real, &known[1]));
  PetscCheck(known[0] && known[1] && scalar == PETSC_SCALAR && real == PETSC_REAL, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "syncilu was built for a PETSc with %s scalars and cannot be loaded into one with %s scalars: build it for that one", PetscDataTypes[PETSC_SCALAR],
             PetscDataTypes[scalar]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   SyncILUInitializePackage - registers the preconditioner `PCSYNCILU`, the solver type `MATSOLVERSYNCILU`, the
   orderings `MATORDERINGBMC` and `MATORDERINGSYNCILU`, and the log events

   Not Collective

   Level: developer

   Note:
   Called when PETSc loads the library (-dll_append, PetscDLLibraryAppend()). A program that links with the
   library calls it after PetscInitialize().

   Errors:
   PETSC_ERR_LIB if the PETSc that runs is of another minor version than the one this library was built for,
   or has other scalars or indices.

.seealso: `SyncILUFinalizePackage()`
@*/
PetscErrorCode SyncILUInitializePackage(void)
{
  PetscFunctionBegin;
  if (SyncILUPackageInitialized) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckPETSc());
  SyncILUPackageInitialized = PETSC_TRUE;
  PetscCall(PCRegister(PCSYNCILU, PCCreate_SyncILU));
  /*
     MatSolverTypeRegister() initializes the package too, but only after it has looked at the list of solver
     types, and then replaces the list (PETSc 3.18)
  */
  PetscCall(MatInitializePackage());
  PetscCall(MatSolverTypeRegister(MATSOLVERSYNCILU, MATSEQAIJ, MAT_FACTOR_ILU, MatGetFactor_SyncILU));
  PetscCall(MatSolverTypeRegister(MATSOLVERSYNCILU, MATSEQAIJCUSPARSE, MAT_FACTOR_ILU, MatGetFactor_SyncILU));
  PetscCall(MatSolverTypeRegister(MATSOLVERSYNCILU, MATSEQBAIJ, MAT_FACTOR_ILU, MatGetFactor_SyncILU));
  PetscCall(MatSolverTypeRegister(MATSOLVERSYNCILU, MATSEQSBAIJ, MAT_FACTOR_ILU, MatGetFactor_SyncILU));
  PetscCall(MatSolverTypeRegister(MATSOLVERSYNCILU, MATSEQAIJ, MAT_FACTOR_ICC, MatGetFactor_SyncILU));
  PetscCall(MatSolverTypeRegister(MATSOLVERSYNCILU, MATSEQAIJCUSPARSE, MAT_FACTOR_ICC, MatGetFactor_SyncILU));
  PetscCall(MatSolverTypeRegister(MATSOLVERSYNCILU, MATSEQSBAIJ, MAT_FACTOR_ICC, MatGetFactor_SyncILU));
  PetscCall(SyncILUOrderingRegister());
  PetscCall(PetscLogEventRegister("SyncILUAnalysis", MAT_CLASSID, &SYNCILU_Analysis));
  PetscCall(PetscLogEventRegister("SyncILUFactor", MAT_CLASSID, &SYNCILU_Factor));
  PetscCall(PetscLogEventRegister("SyncILUSolve", MAT_CLASSID, &SYNCILU_Solve));
  PetscCall(PetscRegisterFinalize(SyncILUFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SYNCILU_EXTERN PetscErrorCode PetscDLLibraryRegister_petscsyncilu(void);

/* PETSc derives the name of this function from the name of the library. */
PetscErrorCode PetscDLLibraryRegister_petscsyncilu(void)
{
  /*
     A process may hold two PETSc libraries: the one that loads this plugin, and the one this plugin was
     linked with, which then was never initialized. No PETSc function of it may be called.
  */
  if (PETSC_COMM_WORLD == MPI_COMM_NULL) {
    fprintf(stderr,
            "syncilu was built for another PETSc library (version %d.%d, %s scalars, %d-bit indices) than the one that loads it: build it for that one\n",
            PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PetscDefined(USE_COMPLEX) ? "complex" : "real", (int)(8 * sizeof(PetscInt)));
    return PETSC_ERR_LIB;
  }
  PetscFunctionBegin;
  PetscCall(SyncILUInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   SyncILUGetVersion - the version of the loaded library

   Not Collective

   Output Parameters:
+  major - changes when programs must be recompiled
.  minor - changes with new features
-  patch - changes with corrections

   Level: beginner

   Note:
   The version of the header is in `SYNCILU_VERSION_MAJOR`, `SYNCILU_VERSION_MINOR` and
   `SYNCILU_VERSION_PATCH`.
@*/
PetscErrorCode SyncILUGetVersion(PetscInt *major, PetscInt *minor, PetscInt *patch)
{
  PetscFunctionBegin;
  if (major) *major = SYNCILU_VERSION_MAJOR;
  if (minor) *minor = SYNCILU_VERSION_MINOR;
  if (patch) *patch = SYNCILU_VERSION_PATCH;
  PetscFunctionReturn(PETSC_SUCCESS);
}
