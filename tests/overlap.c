static char help[] = "PCSYNCILU in additive Schwarz with overlap, on several ranks, against one rank: iterations, and where matrices and vectors are.\n\n\
  -n <points>   of a cube's edge\n\
  -most <ratio> of the iterations to those of one rank\n\n";

#include "check.h"
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

/* CG to 1e-8; with overlap that of petsc-options/ranks-relaxed. */
static PetscErrorCode Create(Mat A, PetscBool overlap, KSP *ksp)
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
  } else PetscCall(PCSyncILUSetRelax(pc, 0.99));
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

int main(int argc, char **argv)
{
  PetscInt          n    = 20, its[2], alone, local;
  PetscReal         most = 1.45;
  PetscMPIInt       size, rank;
  PetscBool         device;
  PetscLogDouble    bytes[2], nnz = 0.0;
  SyncILUStatistics stats;
  DM                da[2];
  Mat               A[2];
  Vec               b[2], x[2];
  KSP               ksp[2];
  PC                pc, block;
  int               failed;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(SyncILUInitializePackage());
  PetscCall(PetscLogDefaultBegin());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-most", &most, NULL));
  PetscCall(PetscOptionsInsertString(NULL, "-sub_pc_type syncilu -sub_pc_syncilu_relax 0.99 -sub_pc_syncilu_threads 1"));
  for (int all = 0; all < 2; all++) {
    PetscCall(Poisson(all ? PETSC_COMM_WORLD : PETSC_COMM_SELF, n, &da[all], &A[all]));
    PetscCall(MatCreateVecs(A[all], &x[all], &b[all]));
    PetscCall(VecSet(b[all], 1.0));
    PetscCall(Create(A[all], (PetscBool)all, &ksp[all]));
    PetscCall(Solve(ksp[all], b[all], x[all], &its[all]));
  }
  alone = its[0];
  CHECK(its[1] <= most * alone, "%d ranks: %" PetscInt_FMT " iterations, one takes %" PetscInt_FMT, size, its[1], alone);
  CHECK(size > 1 || its[1] == alone, "one block: %" PetscInt_FMT " iterations, alone %" PetscInt_FMT, its[1], alone);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A[1], &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  PetscCall(TestBlock(ksp[1], device, &block, &nnz));
  PetscCall(VecGetLocalSize(x[1], &local));

  /* an application: on a device no vector travels, but for what ranks send each other */
  PetscCall(KSPGetPC(ksp[1], &pc));
  Copied(bytes);
  PetscCall(PCApply(pc, b[1], x[1]));
  CopiedSince(bytes);
  if (!rank)
    printf("%d ranks, %" PetscInt_FMT "^3: %" PetscInt_FMT " iterations, alone %" PetscInt_FMT "; copied by an application %g + %g bytes", size, n, its[1],
           alone, bytes[0], bytes[1]);
  CHECK(bytes[0] + bytes[1] <= (size > 1 ? 0.5 : 0.0) * (double)sizeof(PetscScalar) * local, "an application copies %g and %g bytes to and from the device",
        bytes[0], bytes[1]);

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
  failed = CheckReport("overlap");
  PetscCall(PetscFinalize());
  return failed;
}
