#!/usr/bin/env bash
# Builds the program and lets it watch a stand-in training job on this machine. Arguments go to `trainvigil` in place of `demo`.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
ensure_packages "the build" "${build_packages[@]}"
tools/build.sh release -DTRAINVIGIL_BENCHMARKS=OFF -- trainvigil
[ $# -gt 0 ] || set -- demo
exec build/release/trainvigil "$@"
