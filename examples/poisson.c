static char help[] = "Solves Poisson's equation with Dirichlet boundary conditions on the unit square or cube and checks the answer.\n\
The grid has n unknowns in each direction, all of them inside. Without options the right-hand side and the boundary values\n\
are those of a known solution, and the error must be as small as the discretization promises.\n\
    mpiexec -n 2 ./poisson -dim 3 -stencil 27 -n 40 -ksp_monitor\n\n";

#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

typedef enum {
  RHS_EXACT,
  RHS_ONES
} RHSType;
static const char *const RHSTypes[] = {"exact", "ones", "RHSType", "RHS_", NULL};

/*
   One row of the matrix away from the boundary: at each offset the weight of -Laplace, and the weight with
   which the right-hand side is averaged.

   The 5- and 7-point stencils are finite differences. The 9- and 27-point stencils are bilinear and trilinear
   finite elements. Both are scaled by the square of the first mesh width, so that the matrix does not depend
   on it: 4 or 6 on the diagonal and -1 beside it for finite differences on equal mesh widths.
*/
typedef struct {
  PetscInt  dim;
  PetscInt  points;
  PetscInt  grid[3];
  PetscReal h[3];
  PetscInt  size;
  PetscInt  offset[27][3];
  PetscReal stiffness[27];
  PetscReal mass[27];
} Stencil;

/*
   The exact solution is sin(2x + 1) cos(3y) exp(z), without the last factor in two dimensions: smooth, not
   zero on the boundary, and no eigenvector of the matrix, for which CG would need a single iteration.
*/
static PetscReal ExactSolution(PetscInt dim, const PetscReal x[])
{
  return PetscSinReal(2 * x[0] + 1) * PetscCosReal(3 * x[1]) * (dim == 3 ? PetscExpReal(x[2]) : 1);
}

/* of the exact solution, as multiples of it */
static const PetscReal minus_second_derivative[3] = {4, 9, -1};

static PetscReal MinusLaplacian(PetscInt dim, const PetscReal x[])
{
  PetscReal factor = 0;
  PetscInt  d;

  for (d = 0; d < dim; d++) factor += minus_second_derivative[d];
  return factor * ExactSolution(dim, x);
}

static PetscErrorCode StencilCreate(DM da, PetscInt points, Stencil *s)
{
  const PetscReal difference[3] = {-1, 2, -1}, average[3] = {1, 4, 1};
  PetscInt        a, b, c, d, e, kmax;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(DMDAGetInfo(da, &s->dim, &s->grid[0], &s->grid[1], &s->grid[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  s->points = points;
  for (d = 0; d < 3; d++) s->h[d] = (PetscReal)1 / (s->grid[d] + 1);
  kmax = s->dim == 3 ? 1 : 0;
  for (c = -kmax; c <= kmax; c++) {
    for (b = -1; b <= 1; b++) {
      for (a = -1; a <= 1; a++) {
        const PetscInt offset[3] = {a, b, c};
        PetscReal      stiffness = 0, mass = 1, ratio, term;

        if (points <= 7 && PetscAbsInt(a) + PetscAbsInt(b) + PetscAbsInt(c) > 1) continue;
        for (d = 0; d < s->dim; d++) {
          ratio = PetscSqr(s->h[0] / s->h[d]);
          if (points <= 7) {
            /* A difference in direction d leaves the neighbors in the other directions alone. */
            if (PetscAbsInt(a) + PetscAbsInt(b) + PetscAbsInt(c) == PetscAbsInt(offset[d])) stiffness += ratio * difference[offset[d] + 1];
            if (offset[d]) mass = 0;
          } else {
            /*
               Dividing by 6 only after the sum keeps the weights of face neighbors, which cancel on a cubic
               grid, exactly zero. They stay in the pattern.
            */
            term = ratio * difference[offset[d] + 1];
            for (e = 0; e < s->dim; e++) term *= e == d ? 1 : average[offset[e] + 1];
            stiffness += term;
            mass *= average[offset[d] + 1] / 6;
          }
        }
        if (points > 7) stiffness /= s->dim == 3 ? 36 : 6;
        for (d = 0; d < 3; d++) s->offset[s->size][d] = offset[d];
        s->stiffness[s->size] = stiffness;
        s->mass[s->size]      = mass;
        s->size++;
      }
    }
  }
  PetscFunctionReturn(0);
}

/*
   Where the neighbor number c of grid point (i, j, k) is; false on the boundary, where there is no unknown.
*/
static PetscBool StencilNeighbor(const Stencil *s, PetscInt i, PetscInt j, PetscInt k, PetscInt c, PetscInt index[3], PetscReal x[3])
{
  PetscBool inside = PETSC_TRUE;
  PetscInt  d;

  index[0] = i + s->offset[c][0];
  index[1] = j + s->offset[c][1];
  index[2] = k + s->offset[c][2];
  for (d = 0; d < 3; d++) {
    x[d] = (index[d] + 1) * s->h[d];
    if (index[d] < 0 || index[d] >= s->grid[d]) inside = PETSC_FALSE;
  }
  return inside;
}

static PetscErrorCode AssembleMatrix(DM da, const Stencil *s, Mat A)
{
  PetscInt i, j, k, c, xs, ys, zs, xm, ym, zm;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &xs, &ys, &zs, &xm, &ym, &zm));
  for (k = zs; k < zs + zm; k++) {
    for (j = ys; j < ys + ym; j++) {
      for (i = xs; i < xs + xm; i++) {
        MatStencil  row = {.i = i, .j = j, .k = k, .c = 0}, column[27];
        PetscScalar value[27];
        PetscInt    index[3], n = 0;
        PetscReal   x[3];

        for (c = 0; c < s->size; c++) {
          if (!StencilNeighbor(s, i, j, k, c, index, x)) continue;
          column[n] = (MatStencil){.i = index[0], .j = index[1], .k = index[2], .c = 0};
          value[n]  = s->stiffness[c];
          n++;
        }
        PetscCall(MatSetValuesStencil(A, 1, &row, n, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/*
   The right-hand side of the exact solution, with the known boundary values moved to it, and the exact
   solution itself.
*/
static PetscErrorCode AssembleExact(DM da, const Stencil *s, Vec b, Vec exact)
{
  PetscScalar *barray, *earray;
  PetscInt     i, j, k, c, xs, ys, zs, xm, ym, zm, point = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(VecGetArrayWrite(b, &barray));
  PetscCall(VecGetArrayWrite(exact, &earray));
  for (k = zs; k < zs + zm; k++) {
    for (j = ys; j < ys + ym; j++) {
      for (i = xs; i < xs + xm; i++, point++) {
        PetscReal x[3], sum = 0;
        PetscInt  index[3];

        for (c = 0; c < s->size; c++) {
          if (!StencilNeighbor(s, i, j, k, c, index, x)) sum -= s->stiffness[c] * ExactSolution(s->dim, x);
          if (s->mass[c] > 0) sum += PetscSqr(s->h[0]) * s->mass[c] * MinusLaplacian(s->dim, x);
          if (!s->offset[c][0] && !s->offset[c][1] && !s->offset[c][2]) earray[point] = ExactSolution(s->dim, x);
        }
        barray[point] = sum;
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(b, &barray));
  PetscCall(VecRestoreArrayWrite(exact, &earray));
  PetscFunctionReturn(0);
}

/*
   The error cannot exceed 1/8 of the largest defect: the matrix is an M-matrix, and x (1 - x)/2, whose
   -Laplace is 1, is at most 1/8. The defect is what is left of the fourth derivatives in the Taylor
   expansion, plus the algebraic residual.
*/
static PetscReal ErrorBound(const Stencil *s, PetscReal largest_residual)
{
  PetscReal defect = 0, largest = s->dim == 3 ? PetscExpReal((PetscReal)1) : 1;
  PetscInt  d;

  for (d = 0; d < s->dim; d++) defect += PetscSqr(s->h[d]) / 12 * PetscSqr(minus_second_derivative[d]) * largest;
  /* Finite elements have the same leading term, and others that vanish faster than it. */
  if (s->points > 7) defect *= 2;
  return (defect + largest_residual / PetscSqr(s->h[0])) / 8;
}

/*
   The unpreconditioned norm promises the residual that -ksp_rtol asks for, up to what the recursions of the
   solver lose. Another norm promises it up to the condition number of the preconditioner, which is no worse
   than that of the matrix for any preconditioner worth its name.
*/
static PetscReal ResidualBound(const Stencil *s, PetscReal rtol, KSPNormType norm)
{
  PetscReal condition = 0;
  PetscInt  d;

  for (d = 0; d < s->dim; d++) condition = PetscMax(condition, 4 / PetscSqr(PETSC_PI * s->h[d]));
  return rtol * (norm == KSP_NORM_UNPRECONDITIONED ? 10 : PetscMax(10, condition));
}

int main(int argc, char **argv)
{
  DM                 da;
  Mat                A;
  Vec                b, x, exact, r;
  KSP                ksp;
  PC                 pc;
  KSPType            ksptype;
  PCType             pctype;
  KSPNormType        norm;
  KSPConvergedReason reason;
  PetscMPIInt        ranks;
  PetscInt           dim = 3, points = 0, n = 32, its, unknowns;
  PetscReal          rtol, bnorm, rnorm, rmax, error = 0, bound;
  PetscLogDouble     start, setup, solve;
  RHSType            rhs = RHS_EXACT;
  Stencil            stencil;
  DMDAStencilType    shape;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));

  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Poisson's equation", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "Dimension, 2 or 3", NULL, dim, &dim, NULL, 2, 3));
  points = dim == 3 ? 7 : 5;
  PetscCall(PetscOptionsInt("-stencil", "Points of the stencil: 5 or 9 in two dimensions, 7 or 27 in three", NULL, points, &points, NULL));
  PetscCall(PetscOptionsBoundedInt("-n", "Unknowns in each direction; -da_grid_x and its relatives set one direction", NULL, n, &n, NULL, 2));
  PetscCall(PetscOptionsEnum("-rhs", "Right-hand side: that of an exact solution, or all ones", NULL, RHSTypes, (PetscEnum)rhs, (PetscEnum *)&rhs, NULL));
  PetscOptionsEnd();
  PetscCheck(points == (dim == 3 ? 7 : 5) || points == (dim == 3 ? 27 : 9), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-stencil %" PetscInt_FMT " is not a stencil in %" PetscInt_FMT " dimensions", points, dim);

  shape = points <= 7 ? DMDA_STENCIL_STAR : DMDA_STENCIL_BOX;
  if (dim == 2) PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, shape, n, n, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, shape, n, n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1,
                           1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(StencilCreate(da, points, &stencil));

  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(AssembleMatrix(da, &stencil, A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &exact));
  if (rhs == RHS_EXACT) PetscCall(AssembleExact(da, &stencil, b, exact));
  else PetscCall(VecSet(b, 1));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  /* PETSc's default of 1e-5 would leave an algebraic error as large as that of the discretization. */
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
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
  PetscCall(VecNorm(r, NORM_INFINITY, &rmax));

  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(VecGetSize(x, &unknowns));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetType(ksp, &ksptype));
  PetscCall(PCGetType(pc, &pctype));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns: %" PetscInt_FMT "\n", unknowns));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "stencil: %" PetscInt_FMT "\n", points));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ranks: %d\n", ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp_type: %s\n", ksptype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pc_type: %s\n", pctype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "converged_reason: %s\n", KSPConvergedReasons[reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT "\n", its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative_residual: %.4e\n", (double)(rnorm / bnorm)));
  if (rhs == RHS_EXACT) {
    PetscCall(VecAXPY(exact, -1, x));
    PetscCall(VecNorm(exact, NORM_INFINITY, &error));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "max_error: %.4e\n", (double)error));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "setup_time: %.6f\n", setup));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve_time: %.6f\n", solve));

  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The solver stopped after %" PetscInt_FMT " iterations with %s", its,
             KSPConvergedReasons[reason]);
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(KSPGetNormType(ksp, &norm));
  bound = ResidualBound(&stencil, rtol, norm);
  PetscCheck(rnorm <= bound * bnorm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The relative residual is %g, and must not exceed %g for a relative tolerance of %g",
             (double)(rnorm / bnorm), (double)bound, (double)rtol);
  if (rhs == RHS_EXACT) {
    bound = ErrorBound(&stencil, rmax);
    PetscCheck(error <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The largest error is %g, and must not exceed %g on this grid", (double)error, (double)bound);
  }

  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
