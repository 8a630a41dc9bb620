#!/usr/bin/env bash
# tools/fuzz.sh [SECONDS [TARGET…]]: builds the fuzz targets and runs each for so long, from a fixed seed and the small corpus in tests/fuzz/corpus.
# A finding is left as build/asan/findings/TARGET-*; run it again with `build/asan/tests/fuzz/fuzz_TARGET FILE`.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
# shellcheck source=tools/packages.sh
. tools/packages.sh
ensure_packages "the build" "${build_packages[@]}"
ensure_packages "testing" "${test_packages[@]}"
ensure_packages "fuzzing" "${sanitizer_packages[@]}"
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in tests/fuzz/fuzz_*.cpp; do
    target=${source##*/fuzz_}
    targets+=("${target%.cpp}")
  done
fi
tools/build.sh asan -- "${targets[@]/#/fuzz_}"
mkdir -p build/asan/findings
failed=()
for target in "${targets[@]}"; do
  echo "== fuzz $target, $seconds s"
  grown=build/asan/corpus/$target  # what the fuzzer finds goes here, never into the repository
  mkdir -p "$grown"
  log=build/asan/findings/$target.log
  if "build/asan/tests/fuzz/fuzz_$target" -seed=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="build/asan/findings/$target-" "$grown" "tests/fuzz/corpus/$target" </dev/null >"$log" 2>&1; then
    grep -F -e 'stat::number_of_executed_units' "$log"
  else
    failed+=("$target")
    grep -v -e '^#' -e '# Uses:' "$log" | tail -60
  fi
done
[ ${#failed[@]} -eq 0 ] || { echo "fuzzing found something: ${failed[*]}" >&2; exit 1; }
