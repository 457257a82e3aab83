#!/usr/bin/env bash
# A check of a small change, meant to take less than a minute: formatting, the walls, the compilation of all members and their
# tests, and the unit tests in the modules that have changed since the last commit.
#
# It leaves out all other tests (`make test`), lints, documentation, the public surface and licences (`make check`), Python and Spark. It
# builds with cargo's dev profile, which compiles a changed file faster than the release profile does and checks arithmetic for overflow.
# The first run in a clone takes some minutes, and so does the first run of a member, because these runs compile the dependencies.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --check
tools/check-walls.sh
cargo check --locked --all-targets

# The changed modules, each as the member and the path in it: "fpdb-store open::place". A file of tests belongs to the module it tests.
modules=$({ git diff --name-only HEAD; git ls-files --others --exclude-standard; } | sed -nE \
    -e 's#^crates/([a-z]+)/src/(.*)\.rs$#fpdb-\1 \2#p' -e 's#^(cli|serve)/src/(.*)\.rs$#fpdb-\1 \2#p' -e 's#^src/(.*)\.rs$#fpdb \1#p' |
    sed -E -e 's#(_tests|/tests|/mod)$##' -e 's# (lib|main)$# #' -e 's#/#::#g' | sort -u)
for member in $(cut -d' ' -f1 <<<"$modules" | uniq); do
    target=--lib
    [[ $member == fpdb-cli ]] && target=--bins
    features=()
    # The tests of formats need all formats.
    [[ $member == fpdb-reading ]] && features=(--features all)
    mapfile -t paths < <(sed -n "s/^$member //p" <<<"$modules")
    cargo test --locked --quiet -p "$member" "${features[@]}" "$target" -- "${paths[@]}"
done
echo "quick: ok${modules:+ (unit tests of ${modules//$'\n'/, })}"
