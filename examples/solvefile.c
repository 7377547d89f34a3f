static char help[] = "Solves a linear system with a matrix from a file and checks the true residual.\n\
The file is a Matrix Market file, read with the CHOLMOD library, or a PETSc binary file, as -write writes it.\n\
    mpiexec -n 2 ./solvefile -f memplus.mtx -ksp_monitor\n\n";

#define _POSIX_C_SOURCE 200809L /* for fmemopen() */

#include <stdio.h>
#include <petscksp.h>
#include <petsctime.h>
#if defined(HAVE_CHOLMOD)
  #include <cholmod.h>
#endif

#if defined(HAVE_CHOLMOD)
/*
   Some files leave out the field of their banner, and CHOLMOD turns them down. They hold real numbers; a copy
   in memory gets the word.
*/
static PetscErrorCode OpenMatrixMarket(const char file[], FILE **fp, char **copy)
{
  char        line[1024], word[4][64], banner[320];
  const char *symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
  PetscBool   match, complete = PETSC_TRUE;
  FILE       *disk;
  long        start, end;
  size_t      length, rest, s;

  PetscFunctionBeginUser;
  *copy = NULL;
  disk  = fopen(file, "r");
  PetscCheck(disk, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", file);
  PetscCheck(fgets(line, sizeof(line), disk), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot read the first line of %s", file);
  if (sscanf(line, "%63s %63s %63s %63s", word[0], word[1], word[2], word[3]) == 4) {
    for (s = 0; s < PETSC_STATIC_ARRAY_LENGTH(symmetries); s++) {
      PetscCall(PetscStrcasecmp(word[3], symmetries[s], &match));
      if (match) complete = PETSC_FALSE;
    }
  }
  if (complete) {
    rewind(disk);
    *fp = disk;
    PetscFunctionReturn(0);
  }
  PetscCall(PetscSNPrintf(banner, sizeof(banner), "%s %s %s real %s\n", word[0], word[1], word[2], word[3]));
  PetscCall(PetscStrlen(banner, &length));
  start = ftell(disk);
  PetscCheck(start >= 0 && !fseek(disk, 0, SEEK_END), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot find the end of %s", file);
  end = ftell(disk);
  PetscCheck(end >= start && !fseek(disk, start, SEEK_SET), PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot find the end of %s", file);
  rest = (size_t)(end - start);
  PetscCall(PetscMalloc1(length + rest, copy));
  PetscCall(PetscMemcpy(*copy, banner, length));
  PetscCheck(fread(*copy + length, 1, rest, disk) == rest, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "Cannot read %s", file);
  fclose(disk);
  *fp = fmemopen(*copy, length + rest, "r");
  PetscCheck(*fp, PETSC_COMM_SELF, PETSC_ERR_MEM, "Cannot open a copy of %s in memory", file);
  PetscFunctionReturn(0);
}

/*
   Reads the whole matrix on this rank, as triples. Explicit zeros stay, and both triangles of symmetric files
   come out.
*/
static PetscErrorCode ReadTriples(const char file[], PetscInt size[2], PetscCount *count, PetscInt **rows, PetscInt **columns, PetscScalar **values)
{
  cholmod_common  common;
  cholmod_sparse *sparse;
  FILE           *fp = NULL;
  char           *copy;
  void           *object;
  const int      *start, *index;
  const double   *x;
  int             type = -1, j, k;

  PetscFunctionBeginUser;
  PetscCall(OpenMatrixMarket(file, &fp, &copy));
  cholmod_start(&common);
  common.print         = 0; /* PETSc reports the errors. */
  common.prefer_binary = 1; /* Files without values mean ones, also those with a single triangle. */
  /* The argument 1 asks for a matrix without implied entries. */
  object = cholmod_read_matrix(fp, 1, &type, &common);
  fclose(fp);
  PetscCall(PetscFree(copy));
  PetscCheck(common.status != CHOLMOD_OUT_OF_MEMORY && common.status != CHOLMOD_TOO_LARGE, PETSC_COMM_SELF, PETSC_ERR_MEM, "The matrix in %s is too large",
             file);
  PetscCheck(object && common.status >= CHOLMOD_OK, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s is not a valid Matrix Market file", file);
  PetscCheck(type == CHOLMOD_SPARSE, PETSC_COMM_SELF, PETSC_ERR_FILE_UNEXPECTED, "%s holds a dense array, not a sparse matrix", file);
  sparse = (cholmod_sparse *)object;
  #if !defined(PETSC_USE_COMPLEX)
  PetscCheck(sparse->xtype == CHOLMOD_REAL, PETSC_COMM_SELF, PETSC_ERR_SUP, "%s holds complex numbers, but this PETSc was configured for real ones", file);
  #endif

  start   = (const int *)sparse->p;
  index   = (const int *)sparse->i;
  x       = (const double *)sparse->x;
  size[0] = (PetscInt)sparse->nrow;
  size[1] = (PetscInt)sparse->ncol;
  *count  = start[sparse->ncol];
  PetscCall(PetscMalloc3(*count, rows, *count, columns, *count, values));
  for (j = 0; j < (int)sparse->ncol; j++) {
    for (k = start[j]; k < start[j + 1]; k++) {
      (*rows)[k]    = index[k];
      (*columns)[k] = j;
  #if defined(PETSC_USE_COMPLEX)
      if (sparse->xtype == CHOLMOD_COMPLEX) {
        (*values)[k] = PetscCMPLX(x[2 * k], x[2 * k + 1]);
        continue;
      }
  #endif
      (*values)[k] = x[k];
    }
  }
  cholmod_free_sparse(&sparse, &common);
  cholmod_finish(&common);
  PetscFunctionReturn(0);
}

static PetscErrorCode LoadMatrixMarket(const char file[], Mat *A)
{
  PetscInt    *rows = NULL, *columns = NULL, size[2] = {0, 0};
  PetscScalar *values = NULL;
  PetscCount   count  = 0;
  PetscMPIInt  rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(ReadTriples(file, size, &count, &rows, &columns, &values));
  PetscCallMPI(MPI_Bcast(size, 2, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, size[0], size[1]));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetPreallocationCOO(*A, count, rows, columns));
  PetscCall(MatSetValuesCOO(*A, values, INSERT_VALUES));
  PetscCall(PetscFree3(rows, columns, values));
  PetscFunctionReturn(0);
}
#else
static PetscErrorCode LoadMatrixMarket(const char file[], Mat *A)
{
  PetscFunctionBeginUser;
  *A = NULL;
  SETERRQ(PETSC_COMM_WORLD, PETSC_ERR_SUP,
          "%s is a Matrix Market file, and this program was built without CHOLMOD, which reads them. Convert it to a PETSc binary file with -write where CHOLMOD is present",
          file);
}
#endif

static PetscErrorCode LoadBinary(const char file[], Mat *A)
{
  PetscViewer viewer;
  PetscInt    next, count;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatLoad(*A, viewer));
  /*
     PETSc's files do not say whether their numbers are complex. Reading them as real ones leaves half of them
     over.
  */
  PetscCall(PetscViewerBinaryRead(viewer, &next, 1, &count, PETSC_INT));
  PetscCheck(count == 0 || next == VEC_FILE_CLASSID, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED,
             "%s goes on after the matrix. Was it written by a PETSc with complex numbers?", file);
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

/* Matrix Market files are known by their first word, since the name of a file may say anything. */
static PetscErrorCode IsMatrixMarket(const char file[], PetscBool *market)
{
  const char  banner[] = "%%MatrixMarket";
  char        start[sizeof(banner)];
  FILE       *fp;
  PetscMPIInt rank, same = 0;

  PetscFunctionBeginUser;
  *market = PETSC_FALSE;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    fp = fopen(file, "r");
    PetscCheck(fp, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot open %s", file);
    if (fread(start, 1, sizeof(banner) - 1, fp) == sizeof(banner) - 1) PetscCall(PetscStrncmp(start, banner, sizeof(banner) - 1, market));
    fclose(fp);
    same = *market ? 1 : 0;
  }
  PetscCallMPI(MPI_Bcast(&same, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *market = same ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(0);
}

static PetscErrorCode CountMissingDiagonals(Mat A, PetscInt *missing)
{
  const PetscInt *columns;
  PetscInt        start, end, i, k, n;

  PetscFunctionBeginUser;
  *missing = 0;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (i = start; i < end; i++) {
    PetscCall(MatGetRow(A, i, &n, &columns, NULL));
    for (k = 0; k < n && columns[k] != i; k++) { }
    if (k == n) (*missing)++;
    PetscCall(MatRestoreRow(A, i, &n, &columns, NULL));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, missing, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(0);
}

/* Replaces the matrix by one with a zero wherever a diagonal entry was missing. */
static PetscErrorCode AddDiagonal(Mat *A)
{
  Mat                B;
  const PetscInt    *columns;
  const PetscScalar *values;
  PetscInt          *coo_i, *coo_j, start, end, m, n, i, k, length;
  PetscScalar       *coo_v;
  PetscCount         count = 0;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (i = start; i < end; i++) {
    PetscCall(MatGetRow(*A, i, &length, NULL, NULL));
    count += length + 1;
    PetscCall(MatRestoreRow(*A, i, &length, NULL, NULL));
  }
  PetscCall(PetscMalloc3(count, &coo_i, count, &coo_j, count, &coo_v));
  count = 0;
  for (i = start; i < end; i++) {
    PetscCall(MatGetRow(*A, i, &length, &columns, &values));
    for (k = 0; k <= length; k++, count++) {
      coo_i[count] = i;
      coo_j[count] = k < length ? columns[k] : i;
      coo_v[count] = k < length ? values[k] : 0; /* Entries given twice are added up. */
    }
    PetscCall(MatRestoreRow(*A, i, &length, &columns, &values));
  }
  PetscCall(MatGetLocalSize(*A, &m, &n));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &B));
  PetscCall(MatSetSizes(B, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetFromOptions(B));
  PetscCall(MatSetPreallocationCOO(B, count, coo_i, coo_j));
  PetscCall(MatSetValuesCOO(B, coo_v, INSERT_VALUES));
  PetscCall(PetscFree3(coo_i, coo_j, coo_v));
  PetscCall(MatDestroy(A));
  *A = B;
  PetscFunctionReturn(0);
}

/* The right-hand side; where it is made from a solution, that too, and NULL otherwise. */
static PetscErrorCode CreateRightHandSide(Mat A, const char rhs[], Vec b, Vec *solution)
{
  PetscRandom random;
  PetscViewer viewer;
  PetscBool   ones, made;

  PetscFunctionBeginUser;
  *solution = NULL;
  PetscCall(PetscStrcmp(rhs, "ones", &ones));
  PetscCall(PetscStrcmp(rhs, "random", &made));
  if (ones) PetscCall(VecSet(b, 1));
  else if (made) {
    PetscCall(MatCreateVecs(A, solution, NULL));
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
    PetscCall(PetscRandomSetFromOptions(random));
    PetscCall(VecSetRandom(*solution, random));
    PetscCall(PetscRandomDestroy(&random));
    PetscCall(MatMult(A, *solution, b));
  } else {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, rhs, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(b, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(0);
}

/* What there is of a norm; of an empty vector, or one of zeros, itself. */
static PetscReal Relative(PetscReal norm, PetscReal of)
{
  return of > 0 ? norm / of : norm;
}

/* The relative residual in the norm of the solver, computed anew from the solution. */
static PetscErrorCode ResidualInNormOfSolver(KSP ksp, Vec b, Vec r, PetscReal *relative)
{
  PC          pc;
  KSPNormType norm;
  Vec         z;
  PetscScalar rdot, bdot;
  PetscReal   rnorm, bnorm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  if (norm == KSP_NORM_PRECONDITIONED || norm == KSP_NORM_NATURAL) {
    PetscCall(VecDuplicate(b, &z));
    PetscCall(PCApply(pc, r, z));
    PetscCall(VecNorm(z, NORM_2, &rnorm));
    PetscCall(VecDot(z, r, &rdot));
    PetscCall(PCApply(pc, b, z));
    PetscCall(VecNorm(z, NORM_2, &bnorm));
    PetscCall(VecDot(z, b, &bdot));
    if (norm == KSP_NORM_NATURAL) {
      rnorm = PetscSqrtReal(PetscAbsScalar(rdot));
      bnorm = PetscSqrtReal(PetscAbsScalar(bdot));
    }
    PetscCall(VecDestroy(&z));
  }
  *relative = Relative(rnorm, bnorm);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat                A;
  Vec                b, x, r, solution;
  KSP                ksp;
  PC                 pc;
  KSPType            ksptype;
  PCType             pctype;
  KSPConvergedReason reason;
  PetscViewer        viewer;
  MatInfo            info;
  PetscMPIInt        ranks;
  PetscInt           m, n, missing, its;
  PetscReal          rtol, bnorm, rnorm, residual = 0, error, norm;
  PetscLogDouble     start, setup, solve;
  PetscBool          found, market, write, add = PETSC_FALSE, solving = PETSC_TRUE;
  char               file[PETSC_MAX_PATH_LEN] = "", output[PETSC_MAX_PATH_LEN] = "", rhs[PETSC_MAX_PATH_LEN] = "random";

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));

  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Solve with a matrix from a file", NULL);
  PetscCall(PetscOptionsString("-f", "Matrix Market or PETSc binary file with the matrix", NULL, file, file, sizeof(file), &found));
  PetscCall(PetscOptionsString("-rhs", "Right-hand side: random (that of a random solution), ones, or a PETSc binary file", NULL, rhs, rhs, sizeof(rhs), NULL));
  PetscCall(PetscOptionsString("-write", "PETSc binary file to write the matrix to", NULL, output, output, sizeof(output), &write));
  PetscCall(PetscOptionsBool("-add_diagonal", "Add a zero wherever a diagonal entry is missing", NULL, add, &add, NULL));
  PetscCall(PetscOptionsBool("-solve", "Solve; without it only read, and write if asked", NULL, solving, &solving, NULL));
  PetscOptionsEnd();
  PetscCheck(found, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Name a file with the matrix: -f FILE");

  PetscCall(IsMatrixMarket(file, &market));
  if (market) PetscCall(LoadMatrixMarket(file, &A));
  else PetscCall(LoadBinary(file, &A));
  PetscCall(MatGetSize(A, &m, &n));
  PetscCheck(m == n, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "The matrix in %s is not square: it has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", file,
             m, n);
  PetscCall(CountMissingDiagonals(A, &missing));
  if (add && missing) PetscCall(AddDiagonal(&A));

  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns: %" PetscInt_FMT "\n", m));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "entries: %.0f\n", (double)info.nz_used));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "missing_diagonals: %" PetscInt_FMT "\n", missing));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "added_diagonals: %" PetscInt_FMT "\n", add ? missing : 0));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ranks: %d\n", ranks));

  if (write) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, output, FILE_MODE_WRITE, &viewer));
    PetscCall(MatView(A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  if (!solving) {
    PetscCall(MatDestroy(&A));
    PetscCall(PetscFinalize());
    return 0;
  }

  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(CreateRightHandSide(A, rhs, b, &solution));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  /*
     The tolerance then speaks of the true residual, whatever the preconditioner. With rows of very different
     size even that is dominated by the largest, and only the error of a known solution tells.
  */
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(ksp));

  PetscCall(PetscBarrier(NULL));
  PetscCall(PetscTime(&start));
  PetscCall(KSPSetUp(ksp));
  /* Preconditioners made of blocks, as block Jacobi, factor them only here. */
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(PetscBarrier(NULL));
  PetscCall(PetscTime(&setup));
  setup -= start;

  PetscCall(PetscTime(&start));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscBarrier(NULL));
  PetscCall(PetscTime(&solve));
  solve -= start;

  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(VecNorm(r, NORM_2, &rnorm));

  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetType(ksp, &ksptype));
  PetscCall(PCGetType(pc, &pctype));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp_type: %s\n", ksptype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pc_type: %s\n", pctype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "converged_reason: %s\n", KSPConvergedReasons[reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT "\n", its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative_residual: %.4e\n", (double)Relative(rnorm, bnorm)));
  if (solution) {
    PetscCall(VecNorm(solution, NORM_2, &norm));
    PetscCall(VecAXPY(solution, -1, x));
    PetscCall(VecNorm(solution, NORM_2, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative_error: %.4e\n", (double)Relative(error, norm)));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "setup_time: %.6f\n", setup));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve_time: %.6f\n", solve));

  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The solver stopped after %" PetscInt_FMT " iterations with %s", its,
             KSPConvergedReasons[reason]);
  /* The factor leaves room for what the recursions of the solver lose. */
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(ResidualInNormOfSolver(ksp, b, r, &residual));
  PetscCheck(residual <= 10 * rtol, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "The relative residual in the norm of the solver is %g, and must not exceed %g for a relative tolerance of %g", (double)residual,
             (double)(10 * rtol), (double)rtol);
  /* Another norm promises nothing about the true residual, but a solution worse than zero is none. */
  PetscCheck(rnorm < bnorm || rnorm == 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The true relative residual is %g, not below 1", (double)Relative(rnorm, bnorm));

  PetscCall(VecDestroy(&solution));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
