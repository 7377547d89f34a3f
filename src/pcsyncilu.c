/*
   PCSYNCILU: block Jacobi with one block a rank, whose blocks are factored by MATSOLVERSYNCILU.

   The block is the business of an inner PCILU, so that every option and setter of PCILU is PETSc's own and
   forwarded. Here remain the block of the matrix, the local vectors, and our settings.
*/
#include "bmc.h"
#include "syncilu_impl.h"

typedef struct {
  PC                 ilu;  /* on the diagonal block of this rank */
  Vec                x, y; /* the local part of vectors, without storage of their own; NULL on one rank */
  PetscContainer     container;
  SyncILUShared     *shared;
  PetscBool          inplace; /* asked for, which is not honoured */
  PetscBool          ordered; /* the user asked for an ordering, */
  PetscBool          reorder; /* and for one changed for a diagonal without zeros */
  PetscBool          keep;    /* an ordering is kept for matrices that come later */
  PetscBool          shifted; /* the user said how pivots are shifted */
  MatFactorShiftType shift;   /* else PCILU does */
  PetscBool          trick;   /* Eisenstat's is asked for, */
  PetscBool          tricked; /* and the factor is one for it */
  SyncILUEisenstat   eisenstat;
} PC_SyncILU;

/* The block of the inner preconditioner, once there is a matrix. */
static PetscErrorCode SetBlock(PC pc)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;
  Mat         block;
  PetscBool   ok;
  const char *prefix;

  PetscFunctionBegin;
  PetscCheck(pc->pmat, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The matrix must be given first, for example with KSPSetOperators()");
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &ok, MATSEQAIJ, MATMPIAIJ, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, MATSEQAIJPERM, MATMPIAIJPERM,
                                      MATSEQAIJCRL, MATMPIAIJCRL, MATSEQAIJSELL, MATMPIAIJSELL, MATSEQAIJMKL, MATMPIAIJMKL, MATSEQBAIJ, MATMPIBAIJ,
                                      MATSEQBAIJMKL, MATMPIBAIJMKL, MATSEQSBAIJ, MATMPISBAIJ, ""));
  PetscCheck(ok, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC type " PCSYNCILU
             " does not support matrix type %s; supported are aij (seqaij, mpiaij), aijcusparse, baij, sbaij and the types derived from aij",
             ((PetscObject)pc->pmat)->type_name);
  PetscCheck(pc->pmat->rmap->N == pc->pmat->cmap->N && pc->pmat->rmap->n == pc->pmat->cmap->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "Must be square matrix with square diagonal blocks, here %" PetscInt_FMT " rows and %" PetscInt_FMT " columns of %" PetscInt_FMT
             " and %" PetscInt_FMT,
             pc->pmat->rmap->n, pc->pmat->cmap->n, pc->pmat->rmap->N, pc->pmat->cmap->N);
  PetscCall(MatGetDiagonalBlock(pc->pmat, &block));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(s->ilu, prefix));
  PetscCall(PCSetOperators(s->ilu, block, block));
  PetscCall(PCSetErrorIfFailure(s->ilu, pc->erroriffailure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shift that PETSc's preconditioners have where none is asked for: PCICC one, PCILU none. */
static PetscErrorCode SetShift(PC pc, PetscBool symmetric)
{
  PC_SyncILU              *s    = (PC_SyncILU *)pc->data;
  const MatFactorShiftType want = symmetric ? MAT_SHIFT_POSITIVE_DEFINITE : s->shift;
  MatFactorShiftType       have;

  PetscFunctionBegin;
  if (s->shifted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCFactorGetShiftType(s->ilu, &have));
  if (have != want) PetscCall(PCFactorSetShiftType(s->ilu, want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of the setup that is this rank's alone. */
static PetscErrorCode SetUpBlock(PC pc, PCFailedReason *reason)
{
  PC_SyncILU    *s = (PC_SyncILU *)pc->data;
  MatSolverType  type;
  Mat            block;
  PetscBool      same, baij, sbaij;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(SetBlock(pc));
  PetscCall(PCFactorGetMatSolverType(s->ilu, &type));
  PetscCall(PetscStrcmp(type, MATSOLVERSYNCILU, &same));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "-pc_factor_mat_solver_type %s: PC type " PCSYNCILU " factors with " MATSOLVERSYNCILU " only; use -pc_type ilu for other solver types", type);
  if (s->inplace) PetscCall(PetscInfo(pc, "In-place factorization is not honoured: the factor keeps storage of its own, and the matrix its values\n"));
  /*
     without index sets for the natural ordering, where nobody asked for another one: to make them takes
     longer than to factor on a GPU
  */
  PetscCall(PCGetOperators(s->ilu, NULL, &block));
  PetscCall(SyncILUMatIsBAIJ(block, &baij));
  PetscCall(SyncILUMatIsSBAIJ(block, &sbaij));
  PetscCall(SetShift(pc, (PetscBool)(sbaij || s->shared->settings.symmetric)));
  s->shared->orders = (PetscBool)(!s->reorder && !s->keep && !baij && !sbaij);
  if (!s->ilu->setupcalled && !s->ordered) PetscCall(PCFactorSetMatOrderingType(s->ilu, s->reorder ? MATORDERINGNATURAL : MATORDERINGEXTERNAL));
  if (s->ilu->setupcalled) {
    Mat F;

    /*
       PCILU takes the error of the last numeric phase for one of the symbolic phase, and would factor no more
    */
    PetscCall(PCFactorGetMatrix(s->ilu, &F));
    PetscCall(MatFactorClearError(F));
  }
  PetscCall(MatGetDM(pc->pmat, &s->shared->dm));
  ierr          = PCSyncILUSetUpILU(s->ilu, PCSetUp, s->container);
  s->shared->dm = NULL; /* it may be gone when the block is factored again, then with another setup */
  PetscCall(ierr);
  PetscCall(PCGetFailedReason(s->ilu, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_SyncILU(PC pc)
{
  PC_SyncILU    *s      = (PC_SyncILU *)pc->data;
  PCFailedReason reason = PC_NOERROR;
  PetscMPIInt    size, rank;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  ierr = SetUpBlock(pc, &reason);
  if (size > 1) {
    PetscMPIInt mine[2] = {(PetscMPIInt)ierr, (PetscMPIInt)reason}, any[2];

    /*
       a rank whose block broke down stops all, at a point where all are; and so does one that returns an
       error, for which the others would wait
    */
    PetscCallMPI(MPI_Allreduce(mine, any, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
    if (any[0]) {
      PetscMPIInt first;

      PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
      mine[0] = ierr ? rank : size;
      PetscCallMPI(MPI_Allreduce(mine, &first, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
      PetscCheck(ierr, PETSC_COMM_SELF, (PetscErrorCode)any[0], "The block of rank %d cannot be factored, its error says why", first);
    }
    reason = (PCFailedReason)any[1];
  }
  PetscCall(ierr);
  if (size > 1 && !s->x) {
    Mat block;

    PetscCall(PCGetOperators(s->ilu, NULL, &block));
    PetscCall(MatCreateVecs(block, &s->x, &s->y));
  }
  pc->failedreason = reason;
  s->tricked       = s->trick;
  if (s->trick && !reason) {
    Mat F;

    PetscCall(PCFactorGetMatrix(s->ilu, &F));
    if (size == 1) PetscCall(SyncILUEisenstatFits(F, &s->tricked)); /* several ranks have an error, all of them */
    if (s->tricked) PetscCall(SyncILUEisenstatSetUp(pc, F, &s->eisenstat));
    else PetscCall(SyncILUEisenstatDestroy(&s->eisenstat));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPreSolve_SyncILU(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCSetUp(pc)); /* PETSc 3.18 comes here before it looks whether the matrix has changed */
  if (s->eisenstat) PetscCall(SyncILUEisenstatPreSolve(s->eisenstat, ksp, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPostSolve_SyncILU(PC pc, KSP ksp, Vec b, Vec x)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  (void)ksp;
  if (s->eisenstat) PetscCall(SyncILUEisenstatPostSolve(s->eisenstat, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCPreSolveChangeRHS_SyncILU(PC pc, PetscBool *change)
{
  PetscFunctionBegin;
  (void)pc;
  *change = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What applies the factor as a whole has no place where Eisenstat's trick has changed the operator. */
static PetscErrorCode CheckWhole(PC pc, const char *what)
{
  PetscFunctionBegin;
  PetscCheck(!((PC_SyncILU *)pc->data)->tricked, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-pc_syncilu_eisenstat: not for %s", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The operations of the inner preconditioner are called directly: PCApply() would set it up again where the
   matrix has new values that this preconditioner was not, or (reuse) is not to be, set up for.
*/
static PetscErrorCode ApplyLocal(PC pc, Vec x, Vec y, PetscErrorCode (*apply)(PC, Vec, Vec))
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  if (s->x) {
    PetscCall(VecGetLocalVectorRead(x, s->x));
    PetscCall(VecGetLocalVector(y, s->y));
    PetscCall((*apply)(s->ilu, s->x, s->y));
    PetscCall(VecRestoreLocalVector(y, s->y));
    PetscCall(VecRestoreLocalVectorRead(x, s->x));
  } else PetscCall((*apply)(s->ilu, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_SyncILU(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  if (((PC_SyncILU *)pc->data)->tricked && !pc->failedreason) { /* a factorization that has failed ends the solve as without the trick */
    PetscCall(SyncILUEisenstatApply(((PC_SyncILU *)pc->data)->eisenstat, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ApplyLocal(pc, x, y, ((PC_SyncILU *)pc->data)->ilu->ops->apply));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_SyncILU(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(CheckWhole(pc, "transposed solves"));
  PetscCall(ApplyLocal(pc, x, y, ((PC_SyncILU *)pc->data)->ilu->ops->applytranspose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Below a Krylov method that preconditions from both sides. */
static PetscErrorCode PCApplySymmetricLeft_SyncILU(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(CheckWhole(pc, "preconditioning from both sides, which it is by itself"));
  PetscCall(ApplyLocal(pc, x, y, ((PC_SyncILU *)pc->data)->ilu->ops->applysymmetricleft));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplySymmetricRight_SyncILU(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(CheckWhole(pc, "preconditioning from both sides, which it is by itself"));
  PetscCall(ApplyLocal(pc, x, y, ((PC_SyncILU *)pc->data)->ilu->ops->applysymmetricright));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_SyncILU(PC pc, Mat X, Mat Y)
{
  PC_SyncILU *s  = (PC_SyncILU *)pc->data;
  Mat         lx = X, ly = Y;

  PetscFunctionBegin;
  PetscCall(CheckWhole(pc, "several right-hand sides at a time"));
  if (s->x) {
    PetscCall(MatDenseGetLocalMatrix(X, &lx));
    PetscCall(MatDenseGetLocalMatrix(Y, &ly));
  }
  PetscUseTypeMethod(s->ilu, matapply, lx, ly);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCReset_SyncILU(PC pc)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  PetscCall(SyncILUEisenstatDestroy(&s->eisenstat));
  PetscCall(PCReset(s->ilu));
  PetscCall(VecDestroy(&s->x));
  PetscCall(VecDestroy(&s->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In place, the factor would be in the matrix' own arrays; ours is split in lower and upper part. */
static PetscErrorCode PCFactorSetUseInPlace_SyncILU(PC pc, PetscBool flg)
{
  PetscFunctionBegin;
  ((PC_SyncILU *)pc->data)->inplace = flg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorGetUseInPlace_SyncILU(PC pc, PetscBool *flg)
{
  PetscFunctionBegin;
  (void)pc;
  *flg = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner that was set up is set up anew, as by PCFactorSetLevels(). */
static PetscErrorCode SettingsChanged_SyncILU(PC pc)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  /* before that, a factor may be in the hands of the user, who has it from PCFactorGetMatrix() */
  if (!pc->setupcalled && !s->ilu->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SyncILUEisenstatDestroy(&s->eisenstat));
  PetscCall(PCReset(s->ilu));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Index sets are wanted from now on: what was set up without them is set up anew. */
static PetscErrorCode WantIndexSets(PC pc)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  if (s->ilu->setupcalled && !s->ordered && !s->reorder) PetscCall(SettingsChanged_SyncILU(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether an ordering is kept for matrices that come later. One that the factor made for itself cannot be: from
   now on index sets are made.
*/
static PetscErrorCode Keep(PC pc, PetscBool flg)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  if (flg && !s->keep && s->ordered && s->ilu->setupcalled) PetscCall(SettingsChanged_SyncILU(pc));
  s->keep = flg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc looks at both operations, and at the method, before each solve. */
static PetscErrorCode PCSyncILUSetEisenstat_SyncILU(PC pc, PetscBool value)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  if (s->trick == value) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(SettingsChanged_SyncILU(pc));
  s->trick           = value;
  s->tricked         = value; /* until a factor says otherwise */
  pc->ops->presolve  = value ? PCPreSolve_SyncILU : NULL;
  pc->ops->postsolve = value ? PCPostSolve_SyncILU : NULL;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCPreSolveChangeRHS_C", value ? PCPreSolveChangeRHS_SyncILU : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSyncILUGetEisenstat_SyncILU(PC pc, PetscBool *value)
{
  PetscFunctionBegin;
  *value = ((PC_SyncILU *)pc->data)->trick;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetFromOptions_SyncILU(PC pc, SyncILUOptionItems PetscOptionsObject)
{
  PC_SyncILU     *s      = (PC_SyncILU *)pc->data;
  SyncILUSettings before = s->shared->settings;
  PetscInt        size   = s->shared->bmc_size;
  PetscBool3      along  = s->shared->bmc_along;
  PetscBool       follow = (PetscBool)(along == PETSC_BOOL3_TRUE), follows;
  PetscBool       inplace, same, ordered, reorder, sized, keep, shifted, trick = s->trick;
  const char     *prefix;

  PetscFunctionBegin;
  PetscCall(SyncILUSettingsSetFromOptions(PetscOptionsObject, &s->shared->settings));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PCSetOptionsPrefix(s->ilu, prefix));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_factor_mat_ordering_type", &ordered));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_factor_nonzeros_along_diagonal", &reorder));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, prefix, "-pc_factor_shift_type", &shifted));
  if (shifted) s->shifted = PETSC_TRUE;
  keep = s->keep;
  PetscCall(PetscOptionsGetBool(((PetscObject)pc)->options, prefix, "-pc_factor_reuse_ordering", &keep, NULL));
  PetscCall(Keep(pc, keep));
  if (ordered || reorder) PetscCall(WantIndexSets(pc));
  /* not PCSetFromOptions(), which would read -pc_type again and make the inner preconditioner one of ours */
  PetscCall(PCSyncILUSetFromOptionsWithShared(s->ilu, s->ilu->ops->setfromoptions, PetscOptionsObject, s->container));
  PetscCall(PetscOptionsInt("-mat_ordering_bmc_size", "Most rows of a block of the ordering bmc", "PCFactorSetMatOrderingType", size ? size : SYNCILU_BMC_SIZE,
                            &size, &sized));
  if (sized) PetscCall(SyncILUBlocksCheckSize(size));
  PetscCall(PetscOptionsBool("-mat_ordering_bmc_along_numbering", "Colors of the ordering bmc follow the numbering", "PCFactorSetMatOrderingType", follow,
                             &follow, &follows));
  if (follows) along = follow ? PETSC_BOOL3_TRUE : PETSC_BOOL3_FALSE;
  PetscCall(PetscOptionsBool("-pc_syncilu_eisenstat", "Eisenstat's trick", "PCSyncILUSetEisenstat", trick, &trick, NULL));
  PetscCall(PCSyncILUSetEisenstat_SyncILU(pc, trick));
  if (ordered) s->ordered = PETSC_TRUE;
  if (reorder) s->reorder = PETSC_TRUE;
  PetscCall(PCFactorGetUseInPlace(s->ilu, &inplace));
  if (inplace) {
    PetscCall(PCFactorSetUseInPlace(s->ilu, PETSC_FALSE));
    s->inplace = PETSC_TRUE;
  }
  PetscCall(PetscMemcmp(&before, &s->shared->settings, sizeof(before), &same));
  if ((!same || size != s->shared->bmc_size || along != s->shared->bmc_along) && pc->setupcalled) PetscCall(SettingsChanged_SyncILU(pc));
  s->shared->bmc_size  = size;
  s->shared->bmc_along = along;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCView_SyncILU(PC pc, PetscViewer viewer)
{
  PC_SyncILU       *s = (PC_SyncILU *)pc->data;
  PetscBool         isascii, all;
  PetscMPIInt       size, rank;
  PetscViewer       self;
  PetscViewerFormat format;
  const char       *prefix;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  if (s->trick && !s->tricked) PetscCall(PetscViewerASCIIPrintf(viewer, "  Eisenstat's trick: asked for, without effect where update mesh is not dilu\n"));
  else if (s->trick)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  Eisenstat's trick: the Krylov method has the operator L^-1 A (I + D^-1 (U - D))^-1, without a product with A, and the "
                                     "preconditioner D of the pivots\n"));
  if (s->inplace) PetscCall(PetscViewerASCIIPrintf(viewer, "  in-place factorization asked for, not honoured: the factor has storage of its own\n"));
  if (size == 1) {
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(PCView(s->ilu, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  all = (PetscBool)(format == PETSC_VIEWER_ASCII_INFO_DETAIL);
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  block Jacobi with %d blocks, one a rank\n", size));
  if (all) {
    PetscCall(PetscViewerASCIIPushSynchronized(viewer));
    PetscCall(PetscViewerASCIIPushTab(viewer));
  } else PetscCall(PetscViewerASCIIPrintf(viewer, "  the block of rank 0 follows, all with -%sksp_view ::ascii_info_detail\n", prefix ? prefix : ""));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &self));
  if (all || rank == 0) {
    PetscCall(PetscViewerASCIIPushTab(self));
    if (all) PetscCall(PetscViewerASCIIPrintf(self, "[%d] block of rank %d\n", rank, rank));
    PetscCall(PCView(s->ilu, self));
    PetscCall(PetscViewerASCIIPopTab(self));
  }
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &self));
  if (all) PetscCall(PetscViewerASCIIPopTab(viewer));
  /* PetscViewerGetSubViewer() pushes twice, see PCView_BJacobi() in PETSc */
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorGetMatrix_SyncILU(PC pc, Mat *F)
{
  PetscFunctionBegin;
  PetscCall(PCFactorGetMatrix(((PC_SyncILU *)pc->data)->ilu, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetUpMatSolverType_SyncILU(PC pc)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  PetscCall(SetBlock(pc));
  PetscCall(PCSyncILUCallWithShared(s->ilu, PCFactorSetUpMatSolverType, s->container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PCILU resets itself when its levels are set after the setup; then this preconditioner is set up again too.
*/
static PetscErrorCode PCFactorSetLevels_SyncILU(PC pc, PetscInt levels)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;
  PetscInt    before;

  PetscFunctionBegin;
  PetscCall(PCFactorGetLevels(s->ilu, &before));
  PetscCall(PCFactorSetLevels(s->ilu, levels));
  if (before != levels) pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetMatOrderingType_SyncILU(PC pc, MatOrderingType ordering)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  PetscCall(WantIndexSets(pc));
  PetscCall(PCFactorSetMatOrderingType(s->ilu, ordering));
  s->ordered = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorReorderForNonzeroDiagonal_SyncILU(PC pc, PetscReal tolerance)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  PetscCall(WantIndexSets(pc));
  PetscCall(PCFactorReorderForNonzeroDiagonal(s->ilu, tolerance));
  s->reorder = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetReuseOrdering_SyncILU(PC pc, PetscBool flg)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCFactorSetReuseOrdering(s->ilu, flg));
  PetscCall(Keep(pc, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCFactorSetShiftType_SyncILU(PC pc, MatFactorShiftType type)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  s->shifted = PETSC_TRUE;
  PetscCall(PCFactorSetShiftType(s->ilu, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factor says that it has none. */
static PetscErrorCode PCFactorSetDropTolerance_SyncILU(PC pc, PetscReal dt, PetscReal dtcol, PetscInt most)
{
  PetscFunctionBegin;
  PetscCall(PCFactorSetDropTolerance(((PC_SyncILU *)pc->data)->ilu, dt, dtcol, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The setters and getters of PCFactor that are PCILU's business, with the type of their argument. */
#define FORWARDED(X) \
  X(PCFactorSetZeroPivot, PetscReal) \
  X(PCFactorGetZeroPivot, PetscReal *) \
  X(PCFactorGetShiftType, MatFactorShiftType *) \
  X(PCFactorSetShiftAmount, PetscReal) \
  X(PCFactorGetShiftAmount, PetscReal *) \
  X(PCFactorSetMatSolverType, MatSolverType) \
  X(PCFactorGetMatSolverType, MatSolverType *) \
  X(PCFactorSetFill, PetscReal) \
  X(PCFactorGetLevels, PetscInt *) \
  X(PCFactorSetAllowDiagonalFill, PetscBool) \
  X(PCFactorGetAllowDiagonalFill, PetscBool *) \
  X(PCFactorSetPivotInBlocks, PetscBool) \
  X(PCFactorSetReuseFill, PetscBool)

#define FORWARD(Name, Type) \
  static PetscErrorCode Name##_SyncILU(PC pc, Type value) \
  { \
    PetscFunctionBegin; \
    PetscCall(Name(((PC_SyncILU *)pc->data)->ilu, value)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
FORWARDED(FORWARD)

#define COMPOSE(Name, Type)   PetscCall(PetscObjectComposeFunction((PetscObject)pc, #Name "_C", Name##_SyncILU));
#define UNCOMPOSE(Name, Type) PetscCall(PetscObjectComposeFunction((PetscObject)pc, #Name "_C", NULL));
#define OWN(X) \
  X(PCFactorSetShiftType, MatFactorShiftType) \
  X(PCFactorSetLevels, PetscInt) \
  X(PCFactorSetMatOrderingType, MatOrderingType) \
  X(PCFactorReorderForNonzeroDiagonal, PetscReal) \
  X(PCFactorSetReuseOrdering, PetscBool) \
  X(PCFactorSetUseInPlace, PetscBool) \
  X(PCFactorGetUseInPlace, PetscBool *)

static PetscErrorCode PCDestroy_SyncILU(PC pc)
{
  PC_SyncILU *s = (PC_SyncILU *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCReset_SyncILU(pc));
  PetscCall(PCDestroy(&s->ilu));
  PetscCall(PCSyncILUComposeShared(pc, NULL));
  PetscCall(PetscContainerDestroy(&s->container));
  FORWARDED(UNCOMPOSE)
  OWN(UNCOMPOSE)
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetDropTolerance_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSettingsChanged_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSetEisenstat_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUGetEisenstat_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCPreSolveChangeRHS_C", NULL));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   PCSyncILUGetStatistics - Gets what the factorization of this rank's block is and what it took

   Not Collective

   Input Parameter:
.  pc - the preconditioner, `PCSYNCILU` or `PCILU` with solver type syncilu, after PCSetUp()

   Output Parameter:
.  statistics - counted on this MPI rank

   Level: intermediate

.seealso: `SyncILUStatistics`, `MatSyncILUGetStatistics()`
@*/
PetscErrorCode PCSyncILUGetStatistics(PC pc, SyncILUStatistics *statistics)
{
  Mat F;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PCFactorGetMatrix(pc, &F));
  PetscCall(MatSyncILUGetStatistics(F, statistics));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCSYNCILU - exact incomplete LU factorization without synchronization between levels; on several ranks
   block Jacobi with one block a rank

   Options Database Keys:
+  -pc_factor_levels <k>                                           - levels of fill
.  -pc_factor_mat_ordering_type (natural|bmc|syncilu|nd|rcm|...)   - ordering of the block
.  -mat_ordering_bmc_size <n>                                      - rows of a block of the ordering bmc
.  -mat_ordering_bmc_along_numbering                               - its colors follow the numbering
.  -pc_factor_shift_type (none|nonzero|positive_definite|inblocks) - what to do about small pivots
.  -pc_factor_shift_amount <a>                                     - by how much
.  -pc_factor_...                                                  - all others of `PCILU`
.  -pc_syncilu_relax <w>                                           - relaxed (modified) ILU, 0 <= w <= 1
.  -pc_syncilu_symmetric                                           - incomplete Cholesky factorization
.  -pc_syncilu_eisenstat                                           - no product with the matrix in an iteration
.  -pc_syncilu_grid nx,ny,nz,dof                                   - the grid that rows follow
.  -pc_syncilu_threads <n>                                         - threads on the host
-  -pc_syncilu_...                                                 - see `MATSOLVERSYNCILU`

   Level: beginner

   Notes:
   Takes matrices of type aij and of the types derived from it, of type baij, whose blocks then are the
   entries (see `MATSOLVERSYNCILU`), and of type sbaij without blocks, for incomplete Cholesky factorization. The
   same factorization is available as
   -pc_type ilu -pc_factor_mat_solver_type syncilu, and with the prefix sub_ below `PCBJACOBI` and `PCASM`.

   Without relaxation it is `PCILU` (`PCBJACOBI` with `PCILU` on several ranks) exactly, and takes the same
   iterations, unless sweeps are asked for (`SYNCILU_UPDATE_PARILU`, `PCSyncILUSetSweeps()`), another pattern
   (`SYNCILU_UPDATE_PARILUT`, `PCSyncILUSetRounds()`), or D-ILU (`SYNCILU_UPDATE_DILU`).

   Where no ordering is asked for the view says external: it is the natural one, without the index sets that
   `MatGetOrdering()` makes for it.

   In-place factorization (-pc_factor_in_place) is accepted, but the factor always has storage of its own; the
   view says so.

   A zero pivot or one that is not a number ends the solve with KSP_DIVERGED_PC_FAILED and is named by -info
   and the view, on all ranks if on one.

   References:
   M. Freire, E. Dufrechou, P. Ezzatti, PDP 2025, for factorizations without synchronization on GPUs.

.seealso: `PCILU`, `PCBJACOBI`, `MATSOLVERSYNCILU`, `PCSyncILUSetRelax()`, `PCSyncILUSetThreads()`,
`PCSyncILUSetBackend()`, `PCSyncILUGetStatistics()`, `PCFactorSetLevels()`
M*/
PetscErrorCode PCCreate_SyncILU(PC pc)
{
  PC_SyncILU *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  pc->data = s;
  PetscCall(SyncILUSharedCreate(&s->container));
  PetscCall(PetscContainerGetPointer(s->container, (void **)&s->shared));
  s->shared->frompc = PETSC_TRUE;
  PetscCall(PCSyncILUComposeShared(pc, s->container));
  PetscCall(PCCreate(PETSC_COMM_SELF, &s->ilu));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)s->ilu, (PetscObject)pc, 1));
  PetscCall(PCSetType(s->ilu, PCILU));
  PetscCall(PCFactorSetMatSolverType(s->ilu, MATSOLVERSYNCILU));
  PetscCall(PCFactorGetShiftType(s->ilu, &s->shift));

  pc->ops->setup               = PCSetUp_SyncILU;
  pc->ops->apply               = PCApply_SyncILU;
  pc->ops->applytranspose      = PCApplyTranspose_SyncILU;
  pc->ops->applysymmetricleft  = PCApplySymmetricLeft_SyncILU;
  pc->ops->applysymmetricright = PCApplySymmetricRight_SyncILU;
  pc->ops->matapply            = PCMatApply_SyncILU;
  pc->ops->reset               = PCReset_SyncILU;
  pc->ops->destroy             = PCDestroy_SyncILU;
  pc->ops->setfromoptions      = PCSetFromOptions_SyncILU;
  pc->ops->view                = PCView_SyncILU;
  pc->ops->getfactoredmatrix   = PCFactorGetMatrix_SyncILU;
  FORWARDED(COMPOSE)
  OWN(COMPOSE)
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetDropTolerance_C", PCFactorSetDropTolerance_SyncILU));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCFactorSetUpMatSolverType_C", PCFactorSetUpMatSolverType_SyncILU));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSettingsChanged_C", SettingsChanged_SyncILU));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUSetEisenstat_C", PCSyncILUSetEisenstat_SyncILU));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSyncILUGetEisenstat_C", PCSyncILUGetEisenstat_SyncILU));
  PetscFunctionReturn(PETSC_SUCCESS);
}
