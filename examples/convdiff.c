static char help[] = "Solves a convection-diffusion equation on the unit square or cube and checks the answer.\n\
The cell Peclet number says how many times stronger convection is than diffusion across one mesh width. Upwind differences are stable\n\
for all of them and of first order, central differences are of second order and best below a Peclet number of 2.\n\
    mpiexec -n 2 ./convdiff -dim 2 -n 100 -peclet 5 -scheme upwind -ksp_type bcgs -ksp_monitor\n\n";

/*
   The equation is - Laplace u + v . grad u = f with the values of u given on the boundary. The velocity v
   turns and changes its sign, but each of its components depends on the other coordinates alone. It is thus
   free of divergence, and central differences of it are exactly skew-symmetric.
*/
#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>

typedef enum {
  SCHEME_UPWIND,
  SCHEME_CENTRAL
} Scheme;
static const char *const Schemes[] = {"upwind", "central", "Scheme", "SCHEME_", NULL};

typedef struct {
  PetscInt  dim;
  PetscInt  grid[3];
  PetscReal h[3];
  PetscReal peclet;
  PetscReal speed; /* the largest component of the velocity */
  Scheme    scheme;
} Problem;

/*
   The components of the velocity as multiples of the speed. The first stays above 1/2, from which
   ErrorBound() draws its bound.
*/
static void Direction(const PetscReal x[], PetscReal w[])
{
  w[0] = (3 + PetscCosReal(PETSC_PI * x[1])) / 4;
  w[1] = PetscCosReal(PETSC_PI * x[0]);
  w[2] = PetscSinReal(2 * PETSC_PI * x[1]);
}

/* The exact solution is sin(x + 1/2) cos(y) exp(z/2), without the last factor in two dimensions. */
static PetscReal ExactSolution(const Problem *p, const PetscReal x[])
{
  return PetscSinReal(x[0] + 0.5) * PetscCosReal(x[1]) * (p->dim == 3 ? PetscExpReal(x[2] / 2) : 1);
}

static PetscReal Source(const Problem *p, const PetscReal x[])
{
  const PetscReal u = ExactSolution(p, x), factor = p->dim == 3 ? PetscExpReal(x[2] / 2) : 1;
  PetscReal       gradient[3], w[3], f;
  PetscInt        d;

  gradient[0] = PetscCosReal(x[0] + 0.5) * PetscCosReal(x[1]) * factor;
  gradient[1] = -PetscSinReal(x[0] + 0.5) * PetscSinReal(x[1]) * factor;
  gradient[2] = u / 2;
  Direction(x, w);
  f = (p->dim == 3 ? 1.75 : 2) * u;
  for (d = 0; d < p->dim; d++) f += p->speed * w[d] * gradient[d];
  return f;
}

static PetscErrorCode ProblemCreate(DM da, PetscReal peclet, Scheme scheme, Problem *p)
{
  PetscInt d;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, &p->dim, &p->grid[0], &p->grid[1], &p->grid[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (d = 0; d < 3; d++) p->h[d] = (PetscReal)1 / (p->grid[d] + 1);
  p->peclet = peclet;
  p->scheme = scheme;
  p->speed  = PETSC_MAX_REAL;
  for (d = 0; d < p->dim; d++) p->speed = PetscMin(p->speed, peclet / p->h[d]);
  PetscFunctionReturn(0);
}

/*
   The matrix and the right-hand side, both scaled by the square of the first mesh width, and the exact
   solution.
*/
static PetscErrorCode Assemble(DM da, const Problem *p, Mat A, Vec b, Vec exact)
{
  PetscScalar *barray, *earray;
  PetscInt     i, j, k, d, side, xs, ys, zs, xm, ym, zm, point = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(VecGetArrayWrite(b, &barray));
  PetscCall(VecGetArrayWrite(exact, &earray));
  for (k = zs; k < zs + zm; k++) {
    for (j = ys; j < ys + ym; j++) {
      for (i = xs; i < xs + xm; i++, point++) {
        const PetscInt index[3] = {i, j, k};
        MatStencil     row      = {.i = i, .j = j, .k = k, .c = 0}, column[7];
        PetscScalar    value[7];
        PetscReal      x[3], w[3], diffusion, convection, weight, diagonal = 0, sum;
        PetscInt       n = 1;

        for (d = 0; d < 3; d++) x[d] = (index[d] + 1) * p->h[d];
        earray[point] = ExactSolution(p, x);
        sum           = PetscSqr(p->h[0]) * Source(p, x);
        Direction(x, w);
        for (d = 0; d < p->dim; d++) {
          diffusion  = PetscSqr(p->h[0] / p->h[d]);
          convection = PetscSqr(p->h[0]) / p->h[d] * p->speed * w[d];
          for (side = -1; side <= 1; side += 2) {
            if (p->scheme == SCHEME_CENTRAL) weight = -diffusion + side * convection / 2;
            else weight = -diffusion + PetscMin(side * convection, 0);
            diagonal -= weight;
            if (index[d] + side < 0 || index[d] + side >= p->grid[d]) {
              PetscReal neighbor[3] = {x[0], x[1], x[2]};

              neighbor[d] += side * p->h[d];
              sum -= weight * ExactSolution(p, neighbor);
            } else {
              column[n] = row;
              if (d == 0) column[n].i += side;
              else if (d == 1) column[n].j += side;
              else column[n].k += side;
              value[n++] = weight;
            }
          }
        }
        column[0]     = row;
        value[0]      = diagonal;
        barray[point] = sum;
        PetscCall(MatSetValuesStencil(A, 1, &row, n, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(b, &barray));
  PetscCall(VecRestoreArrayWrite(exact, &earray));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* Upwind differences always give an M-matrix, central ones up to a Peclet number of 2. */
static PetscBool Monotone(const Problem *p)
{
  return p->scheme == SCHEME_UPWIND || p->peclet <= 2 ? PETSC_TRUE : PETSC_FALSE;
}

/*
   A bound of the inverse of the matrix, in the largest norm where it is monotone and in the Euclidean norm
   otherwise.

   For an M-matrix compare with x (2 - x)/2, on which the operator is at least 1 and which is at most 1/2, and
   with x divided by the smallest first component of the velocity. Otherwise only diffusion is left of the
   symmetric part, whose smallest eigenvalue is known.
*/
static PetscReal InverseBound(const Problem *p)
{
  PetscReal smallest = 0;
  PetscInt  d;

  if (Monotone(p)) return p->speed > 4 ? 2 / p->speed : 0.5;
  for (d = 0; d < p->dim; d++) smallest += PetscSqr(2 / p->h[d] * PetscSinReal(PETSC_PI * p->h[d] / 2));
  return 1 / smallest;
}

/*
   The defect is what the differences leave of the Taylor expansion of the exact solution, plus the algebraic
   residual.
*/
static PetscReal ErrorBound(const Problem *p, PetscReal residual)
{
  /*
     Derivatives of the exact solution in direction d are at most powers of base[d] times its largest value.
  */
  const PetscReal base[3] = {1, 1, 0.5};
  const PetscReal largest = p->dim == 3 ? PetscExpReal((PetscReal)0.5) : 1;
  PetscReal       defect  = 0;
  PetscInt        d;

  for (d = 0; d < p->dim; d++) {
    defect += PetscSqr(p->h[d]) / 12 * PetscPowRealInt(base[d], 4) * largest;
    if (p->scheme == SCHEME_CENTRAL) defect += p->speed * PetscSqr(p->h[d]) / 6 * PetscPowRealInt(base[d], 3) * largest;
    else defect += p->speed * p->h[d] / 2 * PetscPowRealInt(base[d], 2) * largest;
  }
  return InverseBound(p) * (defect + residual / PetscSqr(p->h[0]));
}

/*
   The unpreconditioned norm promises the residual that -ksp_rtol asks for, up to what the recursions of the
   solver lose. Another norm promises it up to the condition number of the preconditioner, which is no worse
   than that of the matrix for any preconditioner worth its name.
*/
static PetscReal ResidualBound(const Problem *p, PetscReal rtol, KSPNormType norm)
{
  PetscReal largest = 0;
  PetscInt  d;

  for (d = 0; d < p->dim; d++) largest += 4 / PetscSqr(p->h[d]) + 2 * p->speed / p->h[d];
  return rtol * (norm == KSP_NORM_UNPRECONDITIONED ? 10 : PetscMax(10, largest * InverseBound(p)));
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
  PetscInt           dim = 3, n = 32, its, unknowns;
  PetscReal          peclet = 1, rtol, bnorm, rnorm, rmax, error, rms, bound;
  PetscLogDouble     start, setup, solve;
  Scheme             scheme = SCHEME_UPWIND;
  Problem            problem;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));

  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Convection-diffusion equation", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "Dimension, 2 or 3", NULL, dim, &dim, NULL, 2, 3));
  PetscCall(PetscOptionsBoundedInt("-n", "Unknowns in each direction; -da_grid_x and its relatives set one direction", NULL, n, &n, NULL, 2));
  PetscCall(PetscOptionsReal("-peclet", "Cell Peclet number: largest velocity times mesh width over diffusion", NULL, peclet, &peclet, NULL));
  PetscCall(PetscOptionsEnum("-scheme", "Differences for convection", NULL, Schemes, (PetscEnum)scheme, (PetscEnum *)&scheme, NULL));
  PetscOptionsEnd();
  PetscCheck(peclet >= 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-peclet %g is negative", (double)peclet);

  if (dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(ProblemCreate(da, peclet, scheme, &problem));

  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(b, &exact));
  PetscCall(Assemble(da, &problem, A, b, exact));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  /*
     The tolerance then speaks of the true residual, whatever the preconditioner; GMRES and BiCGStab
     precondition from the right for it.
  */
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
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
  PetscCall(VecGetSize(x, &unknowns));
  PetscCall(VecAXPY(exact, -1, x));
  PetscCall(VecNorm(exact, NORM_INFINITY, &error));
  PetscCall(VecNorm(exact, NORM_2, &rms));
  rms /= PetscSqrtReal((PetscReal)unknowns);

  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetType(ksp, &ksptype));
  PetscCall(PCGetType(pc, &pctype));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns: %" PetscInt_FMT "\n", unknowns));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "peclet: %g\n", (double)peclet));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "scheme: %s\n", Schemes[scheme]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ranks: %d\n", ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp_type: %s\n", ksptype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pc_type: %s\n", pctype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "converged_reason: %s\n", KSPConvergedReasons[reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "iterations: %" PetscInt_FMT "\n", its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative_residual: %.4e\n", (double)(rnorm / bnorm)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "max_error: %.4e\n", (double)error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rms_error: %.4e\n", (double)rms));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "setup_time: %.6f\n", setup));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve_time: %.6f\n", solve));

  PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "The solver stopped after %" PetscInt_FMT " iterations with %s", its,
             KSPConvergedReasons[reason]);
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(KSPGetNormType(ksp, &norm));
  bound = ResidualBound(&problem, rtol, norm);
  PetscCheck(rnorm <= bound * bnorm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The relative residual is %g, and must not exceed %g for a relative tolerance of %g",
             (double)(rnorm / bnorm), (double)bound, (double)rtol);
  if (Monotone(&problem)) {
    bound = ErrorBound(&problem, rmax);
    PetscCheck(error <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The largest error is %g, and must not exceed %g on this grid", (double)error, (double)bound);
  } else {
    bound = ErrorBound(&problem, rnorm / PetscSqrtReal((PetscReal)unknowns));
    PetscCheck(rms <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The root mean square of the error is %g, and must not exceed %g on this grid", (double)rms,
               (double)bound);
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
