"""Solves Poisson's equation on a square with finite elements and the preconditioners that an option names; an ordinary dolfinx script."""

import sys

import petsc4py

petsc4py.init(sys.argv)
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

domain = mesh.create_unit_square(MPI.COMM_WORLD, 24, 24)
V = fem.FunctionSpace(domain, ("Lagrange", 2))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
x = ufl.SpatialCoordinate(domain)
domain.topology.create_connectivity(domain.topology.dim - 1, domain.topology.dim)
facets = mesh.exterior_facet_indices(domain.topology)
boundary = fem.locate_dofs_topological(V, domain.topology.dim - 1, facets)
zero = fem.Constant(domain, PETSc.ScalarType(0))
for wanted in PETSc.Options().getString("wanted", "ilu").split(","):
    problem = fem.petsc.LinearProblem(
        ufl.dot(ufl.grad(u), ufl.grad(v)) * ufl.dx,
        ufl.sin(3 * x[0]) * x[1] * v * ufl.dx,
        bcs=[fem.dirichletbc(zero, boundary, V)],
        petsc_options={"ksp_type": "cg", "ksp_rtol": 1e-8, "ksp_converged_reason": None, "pc_type": wanted},
    )
    uh = problem.solve()
    if problem.solver.getConvergedReason() <= 0 or not uh.vector.norm() > 0:
        sys.exit(f"converged reason {problem.solver.getConvergedReason()} with {wanted}")
