#!/usr/bin/env bash
# Compares the public surface of the library with docs/api.md, so that a change of the surface fails the check of the commit that
# makes it.
#
# usage: tools/check-api.sh           fails, and prints the difference, if they are not the same
#        tools/check-api.sh --write   writes docs/api.md
# The surface is that of the compiled library: rustdoc describes it as JSON, and tools/api.py turns that into lines. CARGO
# names another cargo than the one on PATH, options of it included.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v python3 >/dev/null || { echo 'api: python3 is needed: apt-get install python3' >&2; exit 1; }
target=${CARGO_TARGET_DIR:-target}
# The cargo of the caller may be several words.
# shellcheck disable=SC2086
for package in fpdb-kernel fpdb-host fpdb-reading fpdb-apply fpdb-passages fpdb-store fpdb-dedup fpdb; do
    RUSTDOC="$PWD/tools/rustdoc-json.sh" ${CARGO:-cargo} rustdoc --quiet --release --locked --lib -p "$package" -- -Zunstable-options --output-format json
done
new=$(mktemp)
trap 'rm -f "$new"' EXIT
tools/api.py "$target/doc" >"$new"

if [[ ${1-} == --write ]]; then
    cat "$new" >docs/api.md
    echo "api: docs/api.md written: $(grep -c '^    ' docs/api.md) lines"
elif diff -u docs/api.md "$new"; then
    echo 'api: ok'
else
    echo 'api: the public surface of the library is not that of docs/api.md (- was, + is).
If that is meant, run tools/check-api.sh --write and commit docs/api.md; say what changed in CHANGELOG.md.' >&2
    exit 1
fi
