#!/usr/bin/env bash
# Checks the dependencies against deny.toml: licences, bans, sources, and known advisories.
#
# Uses the cargo-deny of this machine. If there is none, compiles it once and keeps it outside the clone, in
# ${XDG_CACHE_HOME:-~/.cache}/fpdb/tools. Advisories are checked only if their database can be fetched. Otherwise the output says
# that they were skipped, and why.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.20.2
tools=${XDG_CACHE_HOME:-$HOME/.cache}/fpdb/tools/cargo-deny-$version

if command -v cargo-deny >/dev/null 2>&1; then
    deny=cargo-deny
elif [[ -x $tools/bin/cargo-deny ]]; then
    deny=$tools/bin/cargo-deny
else
    echo "check-deny: cargo-deny is not installed; compiling version $version into $tools (a few minutes, once)" >&2
    # If no target folder is set for this project, cargo compiles cargo-deny in a temporary one.
    env -u CARGO_TARGET_DIR cargo install cargo-deny --locked --version "$version" --root "$tools"
    deny=$tools/bin/cargo-deny
fi

# Duplicate versions cause warnings only. `cargo deny check bans` prints the trees that explain them.
"$deny" --locked check --hide-inclusion-graph licenses bans sources

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if GIT_TERMINAL_PROMPT=0 timeout 60 "$deny" --locked fetch db >"$log" 2>&1; then
    "$deny" --locked check --disable-fetch advisories
else
    status=$?
    echo "check-deny: SKIPPED the advisories: the advisory database could not be fetched (exit status $status)." >&2
    echo "check-deny: licences, bans and sources were checked. What the fetch said:" >&2
    sed 's/^/    /' "$log" | tail -n 6 >&2
fi
