#!/usr/bin/env bash
# Searches for bytes for which a property of crates/*/src/fuzzing/ does not hold. Runs each fuzz target for some time under
# AddressSanitizer, beginning with the saved inputs in tests/corpus/. Needs cargo-fuzz and a nightly toolchain, and says so if they
# are missing.
#
# Found inputs are kept in the target folder, so that the next run continues from there. An input that fails is in
# <target>/fuzz-found/NAME/. Once the fault is corrected, move the input to tests/corpus/NAME/ (`cargo +nightly fuzz tmin` makes it
# smaller), where `make test` checks it.
#
# usage: tools/fuzz.sh [SECONDS [NAME...]]     60 seconds and all targets, unless given

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
names=("${@:2}")
if ((${#names[@]} == 0)); then
    for file in fuzz/fuzz_targets/*.rs; do names+=("$(basename "$file" .rs)"); done
fi

missing=()
cargo +nightly --version >/dev/null 2>&1 || missing+=('rustup toolchain install nightly')
cargo fuzz --version >/dev/null 2>&1 || missing+=('cargo install cargo-fuzz')
if ((${#missing[@]} > 0)); then
    echo 'fuzz: SKIPPED: it needs what is installed by' >&2
    printf '    %s\n' "${missing[@]}" >&2
    exit 0
fi

target=${CARGO_TARGET_DIR:-target}
failed=()
for name in "${names[@]}"; do
    corpus=$target/fuzz-corpus/$name found=$target/fuzz-found/$name/
    mkdir -p "$corpus" "$found"
    # An input that takes many seconds, or gigabytes of memory, is a fault too.
    cargo +nightly fuzz run --target-dir "$target/fuzz" "$name" "$corpus" "tests/corpus/$name" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$found" -print_final_stats=1 ||
        failed+=("$name")
done

if ((${#failed[@]} > 0)); then
    echo "fuzz: failed: ${failed[*]}; the inputs are in $target/fuzz-found/" >&2
    exit 1
fi
