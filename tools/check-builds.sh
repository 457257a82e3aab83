#!/usr/bin/env bash
# Checks that C and C++ (RocksDB alone has 340 files) are compiled only once, in whatever way the project is built:
#
# * After `make build`, no other way of building in the same folder runs a build script of C or C++ again.
# * The library is compiled once for the program, the tests and the wheel: all crates have the same features in each.
# * In an empty folder, with cargo's dev profile, ccache has every file. This part is skipped where there is no ccache, or
#   where the caller names a compiler.
#
# The wheel is made anew, in target/wheels/. Takes a minute after the tests and the wheel.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
mkdir -p "$target"
work=$(mktemp -d "$target/check-builds.XXXXXX")
trap 'rm -rf "$work"' EXIT

say() { printf 'builds: %s\n' "$*" >&2; }

# quietly COMMAND...: runs a command, and shows its output only if it fails.
quietly() {
    if ! "$@" >"$work/log" 2>&1; then
        cat "$work/log" >&2
        say "failed: $*"
        exit 1
    fi
}

# compiles_nothing COMMAND...: fails if the command runs a build script. Each run of a build script writes a file `output`.
compiles_nothing() {
    local again
    touch "$work/before"
    quietly "$@"
    again=$(find "$target/release/build" -path '*-sys-*/output' -newer "$work/before")
    if [[ -n $again ]]; then
        say "\`$*\` runs build scripts again that \`make build\` has run:"
        sed 's/^/    /' <<<"$again" >&2
        exit 1
    fi
    say "ok: $*"
}

# libraries COMMAND...: the file names of the library in a build. A name changes with the features of each crate.
libraries() {
    "$@" --message-format=json 2>/dev/null | grep -o 'libfpdb-[0-9a-f]*\.rmeta' | sort -u
}

quietly make --no-print-directory build
compiles_nothing cargo build --release --locked
compiles_nothing cargo test --release --locked --no-run
python=false
if "${FPDB_PYTHON:-python3}" -c 'import ensurepip, venv' 2>/dev/null; then
    python=true
    compiles_nothing tools/python.sh wheel
else
    say 'SKIPPED tools/python.sh wheel: there is no Python that makes virtual environments'
fi
compiles_nothing make --no-print-directory build

build=(cargo build --release --locked)
program=$(libraries "${build[@]}")
tests=$(libraries cargo test --release --locked --no-run)
bindings=$program
if $python; then bindings=$(libraries "${build[@]}" -p fpdb -p fpdb-cli -p fpdb-python); fi
if [[ $tests != "$program" || $bindings != "$program" ]]; then
    say "the library is compiled more than once, as features of crates differ (cli/Cargo.toml, at \`either\`):"
    printf '    %s\n' "program $program" "tests $tests" "wheel $bindings" >&2
    exit 1
fi
say "ok: one library for the program, the tests and the wheel"

if [[ -n ${CC-}${CXX-} ]] || ! command -v ccache >/dev/null; then
    say 'SKIPPED the dev profile in an empty folder: it needs ccache, and no compiler named by CC or CXX'
    exit 0
fi
export CCACHE_STATSLOG=$work/ccache
CARGO_TARGET_DIR=$work/target quietly cargo build --locked -p librocksdb-sys -p liblzma-sys
# For each call ccache writes `# FILE`, then one word for each event.
files=$(grep -c '^# .*\.cc$' "$CCACHE_STATSLOG") || true
# flag_check.c asks whether the compiler knows a flag.
missed=$(awk '/^# / { file = $2 } $0 == "cache_miss" && file !~ /\/flag_check\.c/ { print "    " file }' "$CCACHE_STATSLOG")
if ((files < 300)); then
    say "the dev profile compiled $files C++ files through ccache: expected RocksDB's 340"
    exit 1
elif [[ -n $missed ]]; then
    say "ccache lacked these files, which the dev profile compiled in an empty folder (if the cache was emptied since the
first build, it has them now: run this again):"
    printf '%s\n' "$missed" >&2
    exit 1
fi
say "ok: the dev profile in an empty folder: ccache has all $files C++ files"
