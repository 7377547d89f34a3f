static char help[] = "Solves the porous medium equation in time and checks the answer.\n\
Every step of Newton's method factors a matrix with new values on the same nonzero pattern, so that a preconditioner does well\n\
to keep what it learned from the pattern.\n\
    mpiexec -n 2 ./refactor -dim 2 -n 100 -steps 20 -snes_monitor -log_view\n\n";

/*
   The equation is du/dt = Laplace u^2 + f on the unit square or cube, with the values of u given on the
   boundary. Time steps are implicit Euler.

   The exact solution is (1 + t) exp(x - y/2 + z/2), without the last term in two dimensions. It is linear in
   time, where implicit Euler is exact, so that the error is that of the differences in space.
*/
#include <petscdm.h>
#include <petscdmda.h>
#include <petscsnes.h>
#include <petsctime.h>

typedef struct {
  DM        da;
  PetscInt  dim;
  PetscInt  grid[3];
  PetscReal h[3];
  PetscReal dt;
  PetscReal time; /* at the end of the current step */
  Vec       old;  /* the solution at its beginning */
} Problem;

static const PetscReal slope[3] = {1, -0.5, 0.5};

static PetscReal ExactSolution(const Problem *p, const PetscReal x[], PetscReal t)
{
  PetscReal exponent = 0;
  PetscInt  d;

  for (d = 0; d < p->dim; d++) exponent += slope[d] * x[d];
  return (1 + t) * PetscExpReal(exponent);
}

static PetscReal Source(const Problem *p, const PetscReal x[], PetscReal t)
{
  const PetscReal u      = ExactSolution(p, x, t);
  PetscReal       factor = 0;
  PetscInt        d;

  for (d = 0; d < p->dim; d++) factor += PetscSqr(2 * slope[d]);
  return u / (1 + t) - factor * PetscSqr(u);
}

/*
   Where the neighbor of a grid point on one side in direction d is; false on the boundary, where there is no
   unknown.
*/
static PetscBool Neighbor(const Problem *p, const PetscInt index[], const PetscReal x[], PetscInt d, PetscInt side, PetscReal neighbor[])
{
  PetscInt e;

  for (e = 0; e < 3; e++) neighbor[e] = x[e] + (e == d ? side * p->h[d] : 0);
  return index[d] + side >= 0 && index[d] + side < p->grid[d] ? PETSC_TRUE : PETSC_FALSE;
}

static PetscErrorCode SetExact(const Problem *p, PetscReal t, Vec u)
{
  PetscScalar *array;
  PetscInt     i, j, k, xs, ys, zs, xm, ym, zm, point = 0;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(p->da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(VecGetArrayWrite(u, &array));
  for (k = zs; k < zs + zm; k++) {
    for (j = ys; j < ys + ym; j++) {
      for (i = xs; i < xs + xm; i++) {
        const PetscReal x[3] = {(i + 1) * p->h[0], (j + 1) * p->h[1], (k + 1) * p->h[2]};

        array[point++] = ExactSolution(p, x, t);
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(u, &array));
  PetscFunctionReturn(0);
}

/* The residual of one time step, scaled by the square of the first mesh width. */
static PetscErrorCode FormFunction(SNES snes, Vec u, Vec f, void *ctx)
{
  Problem           *p = (Problem *)ctx;
  Vec                local;
  const PetscScalar *uarray, *old;
  PetscScalar       *farray;
  PetscInt           i, j, k, d, side, xs, ys, zs, xm, ym, zm, gxs, gys, gzs, gxm, gym, gzm, point = 0;

  PetscFunctionBeginUser;
  (void)snes;
  PetscCall(DMDAGetCorners(p->da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(DMDAGetGhostCorners(p->da, &gxs, &gys, &gzs, &gxm, &gym, &gzm));
  PetscCall(DMGetLocalVector(p->da, &local));
  PetscCall(DMGlobalToLocalBegin(p->da, u, INSERT_VALUES, local));
  PetscCall(DMGlobalToLocalEnd(p->da, u, INSERT_VALUES, local));
  PetscCall(VecGetArrayRead(local, &uarray));
  PetscCall(VecGetArrayRead(p->old, &old));
  PetscCall(VecGetArrayWrite(f, &farray));
  for (k = zs; k < zs + zm; k++) {
    for (j = ys; j < ys + ym; j++) {
      for (i = xs; i < xs + xm; i++, point++) {
        const PetscInt    index[3] = {i, j, k}, stride[3] = {1, gxm, gxm * gym};
        const PetscReal   x[3]   = {(i + 1) * p->h[0], (j + 1) * p->h[1], (k + 1) * p->h[2]};
        const PetscInt    center = (i - gxs) + gxm * ((j - gys) + gym * (k - gzs));
        const PetscScalar v      = uarray[center];
        PetscScalar       sum    = PetscSqr(p->h[0]) * ((v - old[point]) / p->dt - Source(p, x, p->time));

        for (d = 0; d < p->dim; d++) {
          for (side = -1; side <= 1; side += 2) {
            PetscReal   beside[3];
            PetscScalar w;

            if (Neighbor(p, index, x, d, side, beside)) w = uarray[center + side * stride[d]];
            else w = ExactSolution(p, beside, p->time);
            sum += PetscSqr(p->h[0] / p->h[d]) * (v * v - w * w);
          }
        }
        farray[point] = sum;
      }
    }
  }
  PetscCall(VecRestoreArrayWrite(f, &farray));
  PetscCall(VecRestoreArrayRead(p->old, &old));
  PetscCall(VecRestoreArrayRead(local, &uarray));
  PetscCall(DMRestoreLocalVector(p->da, &local));
  PetscFunctionReturn(0);
}

static PetscErrorCode FormJacobian(SNES snes, Vec u, Mat J, Mat P, void *ctx)
{
  Problem           *p = (Problem *)ctx;
  Vec                local;
  const PetscScalar *uarray;
  PetscInt           i, j, k, d, side, xs, ys, zs, xm, ym, zm, gxs, gys, gzs, gxm, gym, gzm;

  PetscFunctionBeginUser;
  (void)snes;
  PetscCall(DMDAGetCorners(p->da, &xs, &ys, &zs, &xm, &ym, &zm));
  PetscCall(DMDAGetGhostCorners(p->da, &gxs, &gys, &gzs, &gxm, &gym, &gzm));
  PetscCall(DMGetLocalVector(p->da, &local));
  PetscCall(DMGlobalToLocalBegin(p->da, u, INSERT_VALUES, local));
  PetscCall(DMGlobalToLocalEnd(p->da, u, INSERT_VALUES, local));
  PetscCall(VecGetArrayRead(local, &uarray));
  for (k = zs; k < zs + zm; k++) {
    for (j = ys; j < ys + ym; j++) {
      for (i = xs; i < xs + xm; i++) {
        const PetscInt  index[3] = {i, j, k}, stride[3] = {1, gxm, gxm * gym};
        const PetscReal x[3]   = {(i + 1) * p->h[0], (j + 1) * p->h[1], (k + 1) * p->h[2]};
        const PetscInt  center = (i - gxs) + gxm * ((j - gys) + gym * (k - gzs));
        MatStencil      row    = {.i = i, .j = j, .k = k, .c = 0}, column[7];
        PetscScalar     value[7];
        PetscReal       beside[3], ratio;
        PetscInt        n = 1;

        column[0] = row;
        value[0]  = PetscSqr(p->h[0]) / p->dt;
        for (d = 0; d < p->dim; d++) {
          ratio = PetscSqr(p->h[0] / p->h[d]);
          for (side = -1; side <= 1; side += 2) {
            value[0] += 2 * ratio * uarray[center];
            if (!Neighbor(p, index, x, d, side, beside)) continue;
            column[n] = row;
            if (d == 0) column[n].i += side;
            else if (d == 1) column[n].j += side;
            else column[n].k += side;
            value[n++] = -2 * ratio * uarray[center + side * stride[d]];
          }
        }
        PetscCall(MatSetValuesStencil(P, 1, &row, n, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(VecRestoreArrayRead(local, &uarray));
  PetscCall(DMRestoreLocalVector(p->da, &local));
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(0);
}

/*
   PETSc's log counts what was factored, which is less than the number of Jacobians with
   -snes_lag_preconditioner, and nothing for preconditioners that factor nothing.
*/
static PetscErrorCode CountFactorizations(PetscInt *count)
{
  const char *const  names[] = {"MatLUFactorNum", "MatCholFctrNum"};
  PetscLogEvent      event;
  PetscEventPerfInfo info;
  size_t             i;

  PetscFunctionBeginUser;
  *count = 0;
  for (i = 0; i < PETSC_STATIC_ARRAY_LENGTH(names); i++) {
    PetscCall(PetscLogEventGetId(names[i], &event));
    PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
    *count += (PetscInt)info.count;
  }
  PetscFunctionReturn(0);
}

/*
   The mean error grows in each step by no more than the step times the mean defect, since u^2 increases with
   u and the differences do not increase the sum of absolute values. The defect is what is left of the fourth
   derivatives of u^2 in the Taylor expansion, which are multiples of u^2, taken somewhere within one mesh
   width.
*/
static PetscReal ErrorBound(const Problem *p, PetscReal mean_square)
{
  PetscReal defect = 0;
  PetscInt  d;

  for (d = 0; d < p->dim; d++)
    defect += PetscSqr(p->h[d]) / 12 * PetscPowRealInt(2 * slope[d], 4) * PetscExpReal(2 * PetscAbsReal(slope[d]) * p->h[d]) * mean_square;
  return p->time * defect;
}

int main(int argc, char **argv)
{
  Mat                 J;
  Vec                 u, f, exact;
  SNES                snes;
  KSP                 ksp;
  PC                  pc;
  KSPType             ksptype;
  PCType              pctype;
  SNESConvergedReason reason;
  PetscMPIInt         ranks;
  PetscInt            dim = 3, n = 24, steps = 10, step, d, unknowns, its, newton = 0, linear = 0, factorizations;
  PetscReal           fnorm, norm, algebraic = 0, error, bound;
  PetscLogDouble      start, end;
  Problem             problem;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  problem.dt   = 0.01;
  problem.time = 0;

  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Porous medium equation", NULL);
  PetscCall(PetscOptionsRangeInt("-dim", "Dimension, 2 or 3", NULL, dim, &dim, NULL, 2, 3));
  PetscCall(PetscOptionsBoundedInt("-n", "Unknowns in each direction; -da_grid_x and its relatives set one direction", NULL, n, &n, NULL, 2));
  PetscCall(PetscOptionsBoundedInt("-steps", "Time steps", NULL, steps, &steps, NULL, 1));
  PetscCall(PetscOptionsReal("-dt", "Length of a time step", NULL, problem.dt, &problem.dt, NULL));
  PetscOptionsEnd();
  PetscCheck(problem.dt > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-dt %g is not positive", (double)problem.dt);

  if (dim == 2)
    PetscCall(
      DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &problem.da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                           PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &problem.da));
  PetscCall(DMSetFromOptions(problem.da));
  PetscCall(DMSetUp(problem.da));
  PetscCall(DMDAGetInfo(problem.da, &problem.dim, &problem.grid[0], &problem.grid[1], &problem.grid[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (d = 0; d < 3; d++) problem.h[d] = (PetscReal)1 / (problem.grid[d] + 1);

  PetscCall(DMCreateMatrix(problem.da, &J));
  PetscCall(DMCreateGlobalVector(problem.da, &u));
  PetscCall(VecDuplicate(u, &f));
  PetscCall(VecDuplicate(u, &exact));
  PetscCall(VecDuplicate(u, &problem.old));
  PetscCall(VecGetSize(u, &unknowns));

  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetFunction(snes, f, FormFunction, &problem));
  PetscCall(SNESSetJacobian(snes, J, J, FormJacobian, &problem));
  PetscCall(SNESSetFromOptions(snes));

  PetscCall(SetExact(&problem, 0, u));
  PetscCall(PetscTime(&start));
  for (step = 1; step <= steps; step++) {
    PetscCall(VecCopy(u, problem.old));
    problem.time = step * problem.dt;
    PetscCall(SNESSolve(snes, NULL, u));
    PetscCall(SNESGetConvergedReason(snes, &reason));
    PetscCheck(reason > 0, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "Newton's method stopped in time step %" PetscInt_FMT " with %s", step,
               SNESConvergedReasons[reason]);
    PetscCall(SNESGetIterationNumber(snes, &its));
    newton += its;
    PetscCall(SNESGetLinearSolveIterations(snes, &its));
    linear += its;
    /*
       What Newton's method leaves of the residual adds to the mean error; a mean of absolute values is at
       most the root of the mean square.
    */
    PetscCall(SNESGetFunctionNorm(snes, &fnorm));
    algebraic += problem.dt * fnorm / PetscSqrtReal((PetscReal)unknowns) / PetscSqr(problem.h[0]);
  }
  PetscCall(PetscBarrier(NULL));
  PetscCall(PetscTime(&end));

  PetscCall(SetExact(&problem, problem.time, exact));
  PetscCall(VecNorm(exact, NORM_2, &norm));
  PetscCall(VecAXPY(exact, -1, u));
  PetscCall(VecNorm(exact, NORM_1, &error));
  error /= unknowns;

  PetscCall(CountFactorizations(&factorizations));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetType(ksp, &ksptype));
  PetscCall(PCGetType(pc, &pctype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns: %" PetscInt_FMT "\n", unknowns));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ranks: %d\n", ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "ksp_type: %s\n", ksptype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "pc_type: %s\n", pctype));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "time_steps: %" PetscInt_FMT "\n", steps));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "newton_iterations: %" PetscInt_FMT "\n", newton));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "linear_iterations: %" PetscInt_FMT "\n", linear));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "factorizations: %" PetscInt_FMT "\n", factorizations));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mean_error: %.4e\n", (double)error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solve_time: %.6f\n", end - start));

  bound = ErrorBound(&problem, PetscSqr(norm) / unknowns) + algebraic;
  PetscCheck(error <= bound, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "The mean error is %g, and must not exceed %g on this grid", (double)error, (double)bound);

  PetscCall(VecDestroy(&problem.old));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&problem.da));
  PetscCall(PetscFinalize());
  return 0;
}
