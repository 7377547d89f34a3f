"""Solves Poisson's equation on a square with the solver that PETSc's options name; an ordinary petsc4py script."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc

n = PETSc.Options().getInt("n", 30)
A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
A.setUp()
start, end = A.getOwnershipRange()
for row in range(start, end):
    i, j = divmod(row, n)
    A[row, row] = 4
    for k, l in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
        if 0 <= k < n and 0 <= l < n:
            A[row, k * n + l] = -1
A.assemble()
exact, b = A.createVecs()
exact.setRandom()
A.mult(exact, b)

ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setTolerances(rtol=1e-8)
ksp.setFromOptions()
x = exact.duplicate()
ksp.solve(b, x)
x.axpy(-1, exact)
error = x.norm() / exact.norm()
if ksp.getConvergedReason() <= 0 or error > 1e-4:
    sys.exit(f"converged reason {ksp.getConvergedReason()}, relative error {error}")
