#!/usr/bin/env bash
# tools/build.sh PRESET [-DOPTION=VALUE …] [-- TARGET …]: configures a preset of CMakePresets.json and builds it.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  options+=("$1")
  shift
done
[ $# -eq 0 ] || shift

# A compiler process takes up to 1.5 GB here: as many as there are cores, but no more than memory holds.
memory_kib=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
jobs=$((memory_kib / 1572864))
cores=$(nproc)
[ "$jobs" -lt "$cores" ] || jobs=$cores
[ "$jobs" -ge 1 ] || jobs=1

cmake --preset "$preset" "${options[@]}" >&2
cmake --build --preset "$preset" -j "$jobs" ${1+--target "$@"} >&2
