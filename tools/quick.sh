#!/usr/bin/env bash
# A check of a small change, meant to take less than a minute: formatting, the walls, whether all members and their tests compile, and
# the unit tests of the members that have changed since the last commit.
#
# It leaves out the integration tests (`make test`), lints, documentation, the public surface and licences (`make check`), Python and
# Spark. It builds with cargo's dev profile, which compiles a changed file faster than the release profile does. The first run in a
# clone takes some minutes: it compiles the dependencies.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --check
tools/check-walls.sh
cargo check --locked --all-targets

# The members with changed files, of those that have unit tests.
members=$({ git diff --name-only HEAD; git ls-files --others --exclude-standard; } | sed -nE \
    -e 's#^crates/([a-z]+)/.*#fpdb-\1#p' -e 's#^cli/.*#fpdb-cli#p' -e 's#^serve/.*#fpdb-serve#p' -e 's#^src/.*#fpdb#p' | sort -u)
for member in $members; do
    target=--lib
    [[ $member == fpdb-cli ]] && target=--bins
    features=()
    # The tests of formats need all of them.
    [[ $member == fpdb-reading ]] && features=(--features all)
    cargo test --locked --quiet -p "$member" "${features[@]}" "$target"
done
echo "quick: ok${members:+ (unit tests of ${members//$'\n'/, })}"
