# shellcheck shell=bash
# Sourced by the other tools: which Debian packages are needed for what, and how those that are missing get installed.
# shellcheck disable=SC2034

build_packages=(
  g++ cmake ninja-build pkg-config libssh-dev openssh-client libcli11-dev libspdlog-dev nlohmann-json3-dev libtomlplusplus-dev libsqlite3-dev zlib1g-dev
  libexpected-dev
)
# A real sshd, real shells and real file formats are what the tests are run against; ccache makes the second build fast.
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev ccache openssh-server python3 python3-numpy python3-h5py python3-torch busybox dash mksh fish tcsh zsh
  yash procps
)
sanitizer_packages=(clang libclang-rt-14-dev)

packages_missing() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# packages_known PACKAGE…: apt's lists are there and name every one of them with a version to install.
packages_known() {
  local package
  for package in "$@"; do
    apt-cache policy "$package" 2>/dev/null | grep -q '^  Candidate: [^(]' || return 1
  done
}

# ensure_packages WHY PACKAGE…: installs those that are missing, and only those.
ensure_packages() {
  local why=$1 missing as_root=()
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is no Debian system: see tools/packages.sh for what $why needs." >&2
    return 0
  fi
  mapfile -t missing < <(packages_missing "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "$why needs packages that are missing, and there is no sudo. As root: apt-get install --no-install-recommends ${missing[*]}" >&2
      return 1
    fi
    echo "sudo apt-get install ${missing[*]} (missing packages that $why needs)" >&2
    as_root=(sudo)
  else
    echo "apt-get install ${missing[*]} (missing packages that $why needs)" >&2
  fi
  local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}")
  packages_known "${missing[@]}" || "${as_root[@]}" apt-get update -q >&2
  # Lists that are weeks old name files that are no longer there; one update mends that.
  "${install[@]}" >&2 </dev/null || { "${as_root[@]}" apt-get update -q >&2 && "${install[@]}" >&2 </dev/null; }
}
