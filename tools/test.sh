#!/usr/bin/env bash
# Builds everything with the dev preset and runs every test; arguments go to ctest (`tools/test.sh -L core`, `-R e2e.test_local` …).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/packages.sh
. tools/packages.sh
ensure_packages "the build" "${build_packages[@]}"
ensure_packages "testing" "${test_packages[@]}"
tools/build.sh dev
# Real processes on a machine that may be busy: a test that fails gets one more try, and must pass it.
exec ctest --preset dev --parallel 2 --repeat until-pass:2 "$@" </dev/null
