static char help[] = "PCSYNCILU in additive Schwarz with overlap, on several ranks, against one rank: iterations, and where matrices and vectors are.\n\
On a grid, and on a mesh in the ordering bmc.\n\n\
  -n <points>   of a cube's edge\n\
  -most <ratio> of the iterations to those of one rank, on the grid\n\n";

#include "check.h"
#include "bench/mesh.h"
#include <petscdmda.h>

/* The 7-point Laplacian of n^3 points; -dm_mat_type and -dm_vec_type say where it is. */
static PetscErrorCode Poisson(MPI_Comm comm, PetscInt n, DM *da, Mat *A)
{
  DMDALocalInfo info;

  PetscFunctionBegin;
  PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                         NULL, NULL, NULL, da));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(DMDAGetLocalInfo(*da, &info));
  for (PetscInt z = info.zs; z < info.zs + info.zm; z++) {
    for (PetscInt y = info.ys; y < info.ys + info.ym; y++) {
      for (PetscInt x = info.xs; x < info.xs + info.xm; x++) {
        const PetscInt    point[3] = {x, y, z};
        const MatStencil  row      = {.i = x, .j = y, .k = z};
        const PetscScalar diagonal = 6.0, beside = -1.0;

        PetscCall(MatSetValuesStencil(*A, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
        for (int side = 0; side < 6; side++) {
          MatStencil     col = row;
          const PetscInt to  = point[side / 2] + (side % 2 ? 1 : -1);

          if (to < 0 || to >= n) continue;
          if (side / 2 == 0) col.i = to;
          if (side / 2 == 1) col.j = to;
          if (side / 2 == 2) col.k = to;
          PetscCall(MatSetValuesStencil(*A, 1, &row, 1, &col, &beside, INSERT_VALUES));
        }
      }
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of linear finite elements on tetrahedra, along a space-filling curve, of which each rank has a piece. */
static PetscErrorCode Tetrahedra(MPI_Comm comm, PetscInt n, MatType type, Mat *A)
{
  Mat      all;
  PetscInt rows, first, last;

  PetscFunctionBegin;
  PetscCall(MeshCreate(PETSC_COMM_SELF, MESH_LAPLACE, n, &all));
  PetscCall(MatGetSize(all, &rows, NULL));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSeqAIJSetPreallocation(*A, 15, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*A, 15, NULL, 14, NULL));
  PetscCall(MatGetOwnershipRange(*A, &first, &last));
  for (PetscInt i = first; i < last; i++) {
    PetscInt           count;
    const PetscInt    *columns;
    const PetscScalar *values;

    PetscCall(MatGetRow(all, i, &count, &columns, &values));
    PetscCall(MatSetValues(*A, 1, &i, count, columns, values, INSERT_VALUES));
    PetscCall(MatRestoreRow(all, i, &count, &columns, &values));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A problem, and how its blocks are factored. */
typedef struct {
  const char *name, *sub;
  PetscBool   mesh;
  PetscInt    n;
  PetscReal   relax, most;
} Line;

/* CG to 1e-8; with overlap that of petsc-options/ranks-relaxed, without it on a mesh that of petsc-options/ranks-mesh. */
static PetscErrorCode Create(const Line *line, Mat A, PetscBool overlap, KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, overlap ? PCASM : PCSYNCILU));
  if (overlap) {
    PetscCall(PCASMSetOverlap(pc, 1));
    PetscCall(PCASMSetType(pc, PC_ASM_BASIC));
  } else {
    PetscCall(PCSyncILUSetRelax(pc, line->relax));
    if (line->mesh) PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGBMC));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(KSP ksp, Vec b, Vec x, PetscInt *its)
{
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  CHECK(reason > 0, "%s", KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bytes that PETSc's log knows to have gone to and from the device. */
static void Copied(PetscLogDouble bytes[2])
{
#if defined(PETSC_HAVE_DEVICE) && defined(PETSC_USE_LOG)
  bytes[0] = petsc_ctog_sz;
  bytes[1] = petsc_gtoc_sz;
#else
  bytes[0] = bytes[1] = 0.0;
#endif
}

static void CopiedSince(PetscLogDouble bytes[2])
{
  PetscLogDouble now[2];

  Copied(now);
  for (int k = 0; k < 2; k++) bytes[k] = now[k] - bytes[k];
}

/* The block with the overlap: its types are those of the whole matrix and its vectors, in the memory where these are. */
static PetscErrorCode TestBlock(KSP ksp, PetscBool device, PC *pc, PetscLogDouble *nnz)
{
  KSP        *sub;
  PetscInt    blocks;
  Mat         block;
  Vec         rhs, solution;
  PC          asmpc;
  PetscBool   same;
  const char *type;
  MatInfo     info;
  const char *want = device ? MATSEQAIJCUSPARSE : MATSEQAIJ;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &asmpc));
  PetscCall(PCASMGetSubKSP(asmpc, &blocks, NULL, &sub));
  CHECK(blocks == 1, "%" PetscInt_FMT " blocks", blocks);
  PetscCall(KSPGetPC(sub[0], pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)*pc, PCSYNCILU, &same));
  CHECK(same, "the block's preconditioner is of another type");
  PetscCall(KSPGetOperators(sub[0], NULL, &block));
  PetscCall(PetscObjectTypeCompare((PetscObject)block, want, &same));
  PetscCall(MatGetType(block, &type));
  CHECK(same, "the block is of type %s, not %s", type, want);
  PetscCall(MatGetInfo(block, MAT_LOCAL, &info));
  *nnz = info.nz_used;
  PetscCall(KSPGetRhs(sub[0], &rhs));
  PetscCall(KSPGetSolution(sub[0], &solution));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecGetType(k ? solution : rhs, &type));
    PetscCall(PetscStrcmp(type, device ? VECSEQCUDA : VECSEQ, &same));
    CHECK(same, "the block's %s is of type %s", k ? "solution" : "right-hand side", type);
  }
#if defined(PETSC_HAVE_CUDA)
  if (device) {
    PetscMemType       mem;
    const PetscScalar *a;

    PetscCall(MatGetCurrentMemType(block, &mem));
    CHECK(PetscMemTypeDevice(mem), "the block is on the host");
    for (int k = 0; k < 2; k++) {
      PetscCall(VecGetArrayReadAndMemType(k ? solution : rhs, &a, &mem));
      CHECK(PetscMemTypeDevice(mem), "the block's %s is on the host", k ? "solution" : "right-hand side");
      PetscCall(VecRestoreArrayReadAndMemType(k ? solution : rhs, &a));
    }
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLine(const Line *line)
{
  const PetscInt    n = line->n;
  static char       view[1 << 14];
  PetscInt          its[2], alone, local, rows, jacobi;
  PetscMPIInt       size, rank;
  PetscBool         device;
  PetscLogDouble    bytes[2], nnz = 0.0, most;
  SyncILUStatistics stats;
  DM                da[2];
  Mat               A[2], P;
  Vec               b[2], x[2];
  KSP               ksp[2];
  PC                pc, block;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int all = 0; all < 2; all++) {
    PetscCall(Poisson(all ? PETSC_COMM_WORLD : PETSC_COMM_SELF, n, &da[all], &A[all]));
    if (line->mesh) {
      MatType type;
      Mat     B;

      PetscCall(MatGetType(A[all], &type)); /* that of the options */
      PetscCall(Tetrahedra(all ? PETSC_COMM_WORLD : PETSC_COMM_SELF, n, type, &B));
      PetscCall(MatDestroy(&A[all]));
      A[all] = B;
    }
    PetscCall(MatCreateVecs(A[all], &x[all], &b[all]));
    PetscCall(VecSet(b[all], 1.0));
    PetscCall(Create(line, A[all], (PetscBool)all, &ksp[all]));
    PetscCall(Solve(ksp[all], b[all], x[all], &its[all]));
  }
  alone = its[0];
  CHECK(its[1] <= line->most * alone, "%s, %d ranks: %" PetscInt_FMT " iterations, one takes %" PetscInt_FMT, line->name, size, its[1], alone);
  CHECK(size > 1 || its[1] == alone, "%s, one block: %" PetscInt_FMT " iterations, alone %" PetscInt_FMT, line->name, its[1], alone);
  if (line->mesh) {
    KSP without;

    PetscCall(Create(line, A[1], PETSC_FALSE, &without));
    PetscCall(Solve(without, b[1], x[1], &jacobi));
    PetscCall(KSPDestroy(&without));
    if (!rank) printf("%d ranks, mesh, without overlap: %" PetscInt_FMT " iterations\n", size, jacobi);
    /* 1.19 and 1.27, and fewer than with overlap */
    CHECK(jacobi <= 1.4 * alone && jacobi <= its[1],
          "%d ranks: %" PetscInt_FMT " iterations without overlap, %" PetscInt_FMT " with it, one takes %" PetscInt_FMT, size, jacobi, its[1], alone);
  }
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A[1], &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(TestBlock(ksp[1], device, &block, &nnz));
  PetscCall(CheckView((PetscObject)block, PETSC_VIEWER_DEFAULT, view, sizeof(view)));
  CHECK(!strstr(view, "ordering: bmc, ") == !line->mesh, "%s: %s", line->name, view);
  PetscCall(VecGetLocalSize(x[1], &local));

  /*
     An application: no vector travels if all are where the block is solved, but for what ranks send each other;
     vectors of the host go to a device that solves, and back, once.
  */
  PetscCall(PCGetOperators(block, NULL, &P));
  PetscCall(MatGetLocalSize(P, &rows, NULL));
  most = (double)sizeof(PetscScalar) * (!device && strstr(view, "backend: cuda") ? 2.0 * rows : (size > 1 ? 0.5 : 0.0) * local);
  PetscCall(KSPGetPC(ksp[1], &pc));
  Copied(bytes);
  PetscCall(PCApply(pc, b[1], x[1]));
  CopiedSince(bytes);
  if (!rank)
    printf("%d ranks, %s, %" PetscInt_FMT "^3: %" PetscInt_FMT " iterations, alone %" PetscInt_FMT "; copied by an application %g + %g bytes", size, line->name,
           n, its[1], alone, bytes[0], bytes[1]);
  CHECK(bytes[0] + bytes[1] <= most, "an application copies %g and %g bytes to and from the device", bytes[0], bytes[1]);

  /* new values in the same pattern: of the block they go to the device once, and nothing is planned anew */
  PetscCall(MatScale(A[1], 2.0));
  PetscCall(KSPSetOperators(ksp[1], A[1], A[1]));
  Copied(bytes);
  PetscCall(KSPSetUp(ksp[1]));
  PetscCall(KSPSetUpOnBlocks(ksp[1]));
  CopiedSince(bytes);
  if (!rank) printf(", by a refactorization %g + %g, of the block's values %g\n", bytes[0], bytes[1], (double)sizeof(PetscScalar) * nnz);
  CHECK(bytes[0] <= (double)sizeof(PetscScalar) * nnz, "a refactorization copies %g bytes to the device, the block has %g", bytes[0],
        (double)sizeof(PetscScalar) * nnz);
  PetscCall(Solve(ksp[1], b[1], x[1], &its[0]));
  CHECK(its[0] == its[1], "%" PetscInt_FMT " iterations, before with half the values %" PetscInt_FMT, its[0], its[1]);
  PetscCall(PCSyncILUGetStatistics(block, &stats));
  CHECK(stats.analyses == 1 && stats.factorizations == 2, "%" PetscInt_FMT " analyses, %" PetscInt_FMT " factorizations", stats.analyses, stats.factorizations);

  for (int all = 0; all < 2; all++) {
    PetscCall(KSPDestroy(&ksp[all]));
    PetscCall(VecDestroy(&x[all]));
    PetscCall(VecDestroy(&b[all]));
    PetscCall(MatDestroy(&A[all]));
    PetscCall(DMDestroy(&da[all]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Eisenstat's trick is refused on every rank, also where update mesh takes a factor for it on some of them alone. */
static PetscErrorCode TestTrick(void)
{
  Mat         A;
  PC          pc;
  PetscInt    first;
  PetscMPIInt size, rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, 6, 6, PETSC_DETERMINE, PETSC_DETERMINE, 3, NULL, 0, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, NULL));
  for (PetscInt i = 0; i < 6; i++) {
    for (PetscInt j = i / 3 * 3; j < i / 3 * 3 + 3; j++) /* points of three unknowns, on the first rank of one */
      if (rank || i == j) PetscCall(MatSetValue(A, first + i, first + j, i == j ? 4.0 : 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSYNCILU));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSyncILUSetUpdate(pc, SYNCILU_UPDATE_MESH));
  PetscCall(PCSyncILUSetEisenstat(pc, PETSC_TRUE));
  CHECK_ERROR(PCSetUp(pc), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: for one rank, here are");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Line lines[] = {
    {"grid", "-sub_pc_syncilu_relax 0.99",                                     PETSC_FALSE, 20, 0.99, 1.45},
 /* in the symmetric form, which CG needs, both ranks add to what they share: 1.38 on two ranks, 1.73 on four */
    {"mesh", "-sub_pc_syncilu_relax 0.5 -sub_pc_factor_mat_ordering_type bmc", PETSC_TRUE,  32, 0.5,  1.8 }
  };
  int failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscLogDefaultBegin());
  for (int k = 0; k < 2; k++) PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &lines[k].n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-most", &lines[0].most, NULL));
  PetscCall(PetscOptionsInsertString(NULL, "-sub_pc_type syncilu -sub_pc_syncilu_threads 1"));
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscOptionsInsertString(NULL, lines[k].sub));
    PetscCall(TestLine(&lines[k]));
  }
  PetscCall(TestTrick());
  failed = CheckReport("overlap");
  PetscCall(PetscFinalize());
  return failed;
}
