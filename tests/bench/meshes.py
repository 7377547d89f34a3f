#!/usr/bin/env python3
"""Writes finite-element matrices on unstructured meshes as PETSc binary files, for bench_kernels and bench_solvers.

    python3 -m venv v && v/bin/pip install ngsolve scipy     # NGSolve brings its own mesher
    v/bin/python tests/bench/meshes.py FOLDER
    build/tests/bench/bench_kernels -file FOLDER/laplace3.petsc,FOLDER/laplace3_rcm.petsc

Unknowns are numbered as the mesher and the refinements leave them. Problems: laplace2 (triangles, refined towards
a corner), laplace3 (tetrahedra), quadratic (the same, of second order), jump (coefficients over five decades),
elasticity (three unknowns a point), convection (streamline-diffusion), darcy (mixed, a saddle point).
"""
import argparse
import os
import sys
import time

import netgen.occ as occ
import ngsolve as ng
import numpy as np
import scipy.sparse as sp
from ngsolve import dx, grad
from scipy.sparse.csgraph import reverse_cuthill_mckee


def plate():
    """A plate with holes and a rib, held at one side."""
    shape = occ.Box((0, 0, 0), (3, 2, 0.4)) + occ.Box((0, 0.9, 0.4), (3, 1.1, 1.0))
    for x in (0.5, 1.5, 2.5):
        for y in (0.45, 1.55):
            shape -= occ.Cylinder(occ.Pnt(x, y, 0), occ.Z, 0.2, 0.4)
    shape.faces.Min(occ.X).name = "held"
    return shape


def channel():
    """A channel around a ball."""
    shape = occ.Box((-2, -1, -1), (4, 1, 1)) - occ.Sphere((0, 0, 0), 0.4)
    shape.faces.Min(occ.X).name = "held"
    return shape


def mesh3(shape, width, options):
    mesh = ng.Mesh(occ.OCCGeometry(shape()).GenerateMesh(maxh=width / options.scale ** (1 / 3)))
    for _ in range(options.refine):  # each time half the width, so eight times the rows
        mesh.Refine()
    return mesh


def mesh2(width, options):
    """An L-shaped domain; the third of it that is next to the corner is refined again and again."""
    face = occ.WorkPlane().MoveTo(0, 0).Line(1).Rotate(90).Line(1).Rotate(90).Line(2).Rotate(90).Line(2).Rotate(90).Line(1).Rotate(90).Line(1).Face()
    face.edges.name = "held"
    mesh = ng.Mesh(occ.OCCGeometry(face, dim=2).GenerateMesh(maxh=width / options.scale**0.5))
    for step in range(3 + options.refine):
        for element in mesh.Elements():
            points = np.array([mesh[v].point for v in element.vertices])
            mesh.SetRefinementFlag(element, bool(np.hypot(*points.mean(0)) < 0.6 / (step + 1)))
        mesh.Refine()
    return mesh


def scalar(mesh, order=1):
    space = ng.H1(mesh, order=order, dirichlet="held")
    return (space, *space.TnT())


def laplace2(options):
    space, u, v = scalar(mesh2(0.009, options))
    return space, grad(u) * grad(v) * dx


def laplace3(options):
    space, u, v = scalar(mesh3(plate, 0.03, options))
    return space, grad(u) * grad(v) * dx


def quadratic(options):
    space, u, v = scalar(mesh3(plate, 0.06, options), 2)
    return space, grad(u) * grad(v) * dx


def jump(options):
    space, u, v = scalar(mesh3(plate, 0.03, options))
    coefficient = ng.exp(6 * ng.sin(9 * ng.x) * ng.sin(11 * ng.y) * ng.sin(13 * ng.z))
    return space, coefficient * grad(u) * grad(v) * dx


def elasticity(options):
    space = ng.VectorH1(mesh3(plate, 0.045, options), order=1, dirichlet="held")
    u, v = space.TnT()
    nu = 0.3  # Poisson's ratio; Young's modulus is 1
    mu, la = 1 / (2 * (1 + nu)), nu / ((1 + nu) * (1 - 2 * nu))

    def strain(w):
        return 0.5 * (ng.Grad(w) + ng.Grad(w).trans)

    return space, 2 * mu * ng.InnerProduct(strain(u), strain(v)) * dx + la * ng.div(u) * ng.div(v) * dx


def convection(options):
    space, u, v = scalar(mesh3(channel, 0.08, options))
    wind, width = ng.CF((1, 0.3 * ng.y, -0.3 * ng.z)), ng.specialcf.mesh_size
    along = wind * grad(u)
    return space, 1e-4 * grad(u) * grad(v) * dx + along * v * dx + 0.5 * width * along * (wind * grad(v)) * dx


def darcy(options):
    mesh = mesh3(plate, 0.08, options)
    space = ng.HDiv(mesh, order=0, RT=True) * ng.L2(mesh, order=0)
    (u, p), (v, q) = space.TnT()
    resistance = ng.exp(3 * ng.sin(8 * ng.x) * ng.sin(9 * ng.y))
    return space, (resistance * u * v - ng.div(v) * p - ng.div(u) * q - 1e-6 * p * q) * dx


PROBLEMS = {f.__name__: f for f in (laplace2, laplace3, quadratic, jump, elasticity, convection, darcy)}


def assemble(name, options):
    space, form = PROBLEMS[name](options)
    matrix = ng.BilinearForm(form)
    with ng.TaskManager():
        matrix.Assemble()
    rows, columns, values = (np.asarray(a) for a in matrix.mat.COO())
    a = sp.csr_matrix((values, (rows, columns)), (space.ndof, space.ndof))
    keep = np.flatnonzero(np.array(list(space.FreeDofs())))
    if name == "elasticity":  # numbered component after component; the three of a point shall be neighbours
        points = space.ndof // 3
        keep = keep[np.argsort(keep % points, kind="stable")]
    return a[keep][:, keep]


def write(path, a):
    a = a.tocsr()
    a.sum_duplicates()
    a.sort_indices()
    with open(path, "wb") as file:
        np.array([1211216, *a.shape, a.nnz], ">i4").tofile(file)  # PETSc's number for a matrix
        np.diff(a.indptr).astype(">i4").tofile(file)
        a.indices.astype(">i4").tofile(file)
        a.data.astype(">f8").tofile(file)
    print(f"{path}: {a.shape[0]} rows, {a.nnz / a.shape[0]:.1f} entries a row", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("problem", nargs="*", default=list(PROBLEMS), help="default: all")
    parser.add_argument("-scale", type=float, default=1.0, help="rows, in those of the default, 20 to 200 thousand")
    parser.add_argument("-refine", type=int, default=0, help="refine meshes so often: in three dimensions eight times the rows each time")
    options = parser.parse_args()
    unknown = [p for p in options.problem if p not in PROBLEMS]
    if unknown:
        parser.error(f"no problem is called {', '.join(unknown)}; there are {', '.join(PROBLEMS)}")
    os.makedirs(options.folder, exist_ok=True)
    for name in options.problem:
        start = time.time()
        a = assemble(name, options)
        write(os.path.join(options.folder, name + ".petsc"), a)
        order = reverse_cuthill_mckee(a, symmetric_mode=True)
        write(os.path.join(options.folder, name + "_rcm.petsc"), a[order][:, order])
        print(f"{name}: {time.time() - start:.0f} s", file=sys.stderr, flush=True)


main()
