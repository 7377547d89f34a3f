/*
   Block multicolor orderings, of the rows of a matrix in CSR on the host.
*/
#ifndef SYNCILU_BMC_H
#define SYNCILU_BMC_H

#include "compat.h"

/* Rows of a block where nothing else is asked for. */
#define SYNCILU_BMC_SIZE 32

/*
   Blocks are cut from the numbering as it is where that leaves them this part of what they have room for of
   the entries beside the diagonal: in a space-filling curve's order of two-dimensional triangles it is 0.69,
   in a mesher's or reverse Cuthill-McKee's 0.1 to 0.3.
*/
#define SYNCILU_BMC_LOCAL 0.5

/* The fewest rows of a block that are worth a warp: solves on a device go by rows where blocks are smaller. */
#define SYNCILU_BMC_LEAST 16

/*
   Where points have several unknowns, blocks are first cut with points a power of two: those of a Morton or Hilbert
   curve then are its boxes. Elasticity on 206,763 rows along such a curve takes 79 iterations of CG with eight points in
   a block, whose colors follow it, 88 with ten, matched, and 74 in the order of the mesh. Where those are scattered,
   blocks have as many points as there is room for: matched, on 25,317 rows in a mesher's numbering, they take 342
   with ten, and 350 with eight.
*/
static inline PetscInt SyncILUBMCAligned(PetscInt n, PetscInt groups, PetscInt size)
{
  const PetscInt point = groups ? n / groups + (n % groups > groups / 2) : 0; /* unknowns, in the mean */
  PetscInt       rows  = point;

  if (point < 2 || point > size) return size;
  while (rows <= size / 2) rows *= 2;
  return rows < SYNCILU_BMC_LEAST && size >= SYNCILU_BMC_LEAST ? size : rows;
}

/* Rounds of proposals before clusters are merged: most of them are pairs then. */
#define SYNCILU_BMC_ROUNDS 4

/*
   Blocks are colored once, and then so many times again, those of the last color first (J. Culberson, Iterated
   greedy graph coloring and the difficulty landscape, TR 92-07, University of Alberta, 1992). That never takes
   more colors; of the 8 to 15 on meshes it saves one or two.
*/
#define SYNCILU_BMC_COLORINGS 2

/*
   Where it is asked for, colors follow the numbering if blocks are cut from it, have so many entries in the
   mean, and no chain of blocks is much longer than on a grid. They are taken by turns: four where rows are as
   short as on triangles, twelve elsewhere, sixteen where there are so many blocks that each color has enough
   of them for a GPU. D-ILU relaxed 0.95 takes 143 iterations with four and 139 with eight on 90,000 rows of
   triangles, whose other colors are five (188); on 300,763 rows of tetrahedra 63 with eight, and 60 with twelve
   and with sixteen; on 3,048,625 of them 105 with twelve, 96 with sixteen and 99 with 24 (these with
   solutions at random, b the product). ILU(0) with convection on 300,763 rows takes 83, 79 and 74 iterations of
   GMRES with eight, twelve and sixteen, and an application on an H100 0.060, 0.065 and 0.073 ms.
*/
#define SYNCILU_BMC_MEAN      64
#define SYNCILU_BMC_SHORT_ROW 8
#if !defined(SYNCILU_BMC_MANY)
  #define SYNCILU_BMC_MANY 65536
#endif

static inline int SyncILUBMCCycle(PetscInt n, PetscInt nnz, PetscInt blocks)
{
  if (blocks >= SYNCILU_BMC_MANY) return 16;
  return nnz / SYNCILU_BMC_SHORT_ROW < n ? 4 : 12;
}

static inline PetscInt SyncILUBMCChain(PetscInt blocks)
{
  return 1 + (PetscInt)(4.0 * PetscSqrtReal((PetscReal)blocks));
}

/* The library takes the rows and the counts; where blocks and colors begin is for tests. */
typedef struct {
  PetscInt  n, size, blocks, colors; /* size: most rows that a block was given */
  PetscBool matched;                 /* blocks were cut from a numbering made along the entries, not from the rows as they are */
  PetscBool along;                   /* colors follow the numbering */
  PetscInt *row;                     /* at each position */
  PetscInt *begin;                   /* position where each block begins, and n */
  PetscInt *first;                   /* block that each color begins with, and the number of blocks */
} SyncILUBMC;

PETSC_INTERN PetscErrorCode SyncILUBMCCreate(PetscInt, const PetscInt *, const PetscInt *, PetscInt, PetscBool, SyncILUBMC *);
PETSC_INTERN PetscErrorCode SyncILUBMCDestroy(SyncILUBMC *);

#endif
