#!/usr/bin/env bash
# tools/sanitize.sh asan|tsan FOLDER…: builds the test programs of these folders under tests/ with the sanitizers of the preset and runs them.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
# shellcheck source=tools/packages.sh
. tools/packages.sh
ensure_packages "the build" "${build_packages[@]}"
ensure_packages "testing" "${test_packages[@]}"
ensure_packages "the sanitizers" "${sanitizer_packages[@]}"
programs=()
for folder in "$@"; do
  if compgen -G "tests/$folder/*_test.cpp" >/dev/null; then
    programs+=("${folder}_tests")
  else
    echo "tests/$folder holds no test" >&2
    exit 1
  fi
done
# The end-to-end tests and the tests of the command line call the program itself; the programs here do not.
tools/build.sh "$preset" -- "${programs[@]}"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
failed=()
for program in "${programs[@]}"; do
  echo "== $preset $program"
  "build/$preset/tests/$program" --gtest_brief=1 </dev/null || failed+=("$program")
done
[ ${#failed[@]} -eq 0 ] || { echo "failed under $preset: ${failed[*]}" >&2; exit 1; }
