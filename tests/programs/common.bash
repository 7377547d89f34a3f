# Shared by the scripts of this folder: where things are, how programs run, and how two runs are compared. It is sourced, and ctest sets
# the variables SYNCILU_... (see CMakeLists.txt).
set -euo pipefail
export LC_ALL=C
unset PETSC_OPTIONS PETSC_DIR PETSC_ARCH
: "${SYNCILU_SOURCE_DIR:?is not set: run this script with ctest}"

test_name=$(basename "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" # no .petscrc is here

fail() {
  printf '%s: FAILED: %s\n' "$test_name" "$*" | cut -c 1-400 >&2
  exit 1
}

skip() {
  printf '%s: skipped: %s\n' "$test_name" "$*"
  exit 77
}

say() {
  printf '%s: %s\n' "$test_name" "$*"
}

# The words "complex" and "int64" are among those of a PETSc whose scalars or indices are of that kind.
petsc_kind() { # prefix of a PETSc
  local conf=$1/include/petscconf.h kind=
  if grep -Eq '^#define +PETSC_USE_COMPLEX +1' "$conf"; then kind+=" complex"; fi
  if grep -Eq '^#define +PETSC_USE_64BIT_INDICES +1' "$conf"; then kind+=" int64"; fi
  echo "$kind"
}

is_complex() { [[ $(petsc_kind "$SYNCILU_PETSC_PREFIX") == *complex* ]]; }
is_int64() { [[ $(petsc_kind "$SYNCILU_PETSC_PREFIX") == *int64* ]]; }

# What pkg-config says about a PETSc.
petsc_config() { # prefix of a PETSc, options of pkg-config
  local prefix=$1 name=petsc
  shift
  if [ ! -e "$prefix/lib/pkgconfig/petsc.pc" ]; then name=PETSc; fi
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@" "$name"
}

# The name of the PETSc library that a program or library is linked with.
petsc_library() { # file
  ldd "$1" | awk '$1 ~ /^libpetsc[^s]/ { print $1 }'
}

# Compiles C files with a PETSc, and with nothing else.
compile() { # prefix of a PETSc, program, sources
  local prefix=$1 program=$2 libdir flags
  shift 2
  libdir=$(petsc_config "$prefix" --variable=libdir)
  flags=$(petsc_config "$prefix" --cflags --libs)
  # shellcheck disable=SC2086
  "$SYNCILU_MPICC" -O1 -w "$@" -o "$program" $flags "-Wl,-rpath,${libdir:-$prefix/lib}" -lm || fail "cannot compile $* with the PETSc in $prefix"
}

# Runs a program and leaves what it printed in $output, its exit status in $status and what was run in $command.
attempt() { # ranks, program, arguments
  local launcher=()
  if [ "$1" -gt 1 ]; then launcher=("$SYNCILU_MPIEXEC" "$SYNCILU_MPIEXEC_NUMPROC_FLAG" "$1"); fi
  shift
  command="${launcher[*]:+${launcher[*]} }$*"
  status=0
  output=$("${launcher[@]}" "$@" 2>&1) || status=$?
}

run() { # ranks, program, arguments
  attempt "$@"
  if [ "$status" -ne 0 ]; then fail "exit status $status, expected 0, of: $command"$'\n'"$output"; fi
}

# Runs a program that solves something, and leaves in $solves the lines about how its solvers ended, iterations included (and without
# the addresses that dolfinx makes part of a solver's prefix). How often syncilu factored and solved, $factored and $applied, comes from PETSc's log.
solve() { # ranks, program, arguments
  rm -f "$scratch/log"
  run "$@" -ksp_converged_reason -snes_converged_reason -log_view ":$scratch/log"
  solves=$(grep -E 'solve (converged|did not converge)|PC failed due to' <<<"$output" | sed -E 's/^ *//; s/_[0-9]{5,} solve/ solve/' || true)
  if [ -z "$solves" ]; then fail "no solver ran in: $command"$'\n'"$output"; fi
  if [ ! -s "$scratch/log" ]; then fail "PETSc wrote no log in: $command"; fi
  factored=$(awk '$1 == "SyncILUFactor" { n += $2 } END { print n + 0 }' "$scratch/log")
  applied=$(awk '$1 == "SyncILUSolve" { n += $2 } END { print n + 0 }' "$scratch/log")
}

# A program must end its solvers in the same way, iterations included, with PETSc's ILU and with syncilu. They must converge, unless
# $breakdown says what must happen instead.
breakdown=
compare() { # ranks, options that choose PETSc's ILU, options that choose syncilu, program, arguments
  local ranks=$1 reference=$2 tested=$3 expected how
  shift 3
  # shellcheck disable=SC2086
  solve "$ranks" "$@" $reference
  expected=$solves
  if [ "$factored" -ne 0 ]; then fail "the reference used syncilu: $command"; fi
  if [ -z "$breakdown" ]; then
    if grep -q 'did not converge' <<<"$solves"; then fail "the reference did not converge: $command"$'\n'"$solves"; fi
  elif ! grep -q "$breakdown" <<<"$solves"; then
    fail "expected the reference to end with $breakdown: $command"$'\n'"$solves"
  fi
  # shellcheck disable=SC2086
  solve "$ranks" "$@" -dll_append "$SYNCILU_PLUGIN" $tested
  if [ "$factored" -eq 0 ] || { [ "$applied" -eq 0 ] && [ -z "$breakdown" ]; }; then fail "syncilu was not used in: $command"; fi
  if [ "$solves" != "$expected" ]; then
    diff <(echo "$expected") <(echo "$solves") >&2 || true
    fail "with '$tested' the solvers ended otherwise (>) than with '$reference' (<): $command"
  fi
  how=$breakdown
  if [ -z "$how" ]; then how="$(wc -l <<<"$solves") solve(s), $(grep -oE '[0-9]+$' <<<"$solves" | awk '{ n += $1 } END { print n }') iterations"; fi
  say "$ranks rank(s), '$tested' as '$reference': $how"
}
