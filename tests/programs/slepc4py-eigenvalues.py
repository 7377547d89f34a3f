"""Finds the smallest eigenvalue of the Laplacian on a square with the solver that PETSc's options name; an ordinary slepc4py script."""

import sys

import slepc4py

slepc4py.init(sys.argv)
from petsc4py import PETSc
from slepc4py import SLEPc

n = 30
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

E = SLEPc.EPS().create()
E.setOperators(A)
E.setProblemType(SLEPc.EPS.ProblemType.HEP)
E.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
E.setTarget(0)
E.getST().setType(SLEPc.ST.Type.SINVERT)
E.setFromOptions()
E.solve()
if E.getConverged() < 1:
    sys.exit("no eigenvalue converged")
PETSc.Sys.Print(f"eigenvalue {E.getEigenvalue(0).real:.6f}")
