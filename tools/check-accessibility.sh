#!/usr/bin/env bash
# Checks the HTML report and the page of the service for obstacles for readers with disabilities: the tests that open them in
# Chromium then also run axe-core, which comes from npm.
#
# usage: tools/check-accessibility.sh

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=4.11.4
folder=${XDG_CACHE_HOME:-$HOME/.cache}/fpdb/axe-core-$version

if [[ ! -f $folder/package/axe.min.js ]]; then
    command -v npm >/dev/null || {
        echo "check-accessibility: needs npm: apt-get install npm" >&2
        exit 1
    }
    mkdir -p "$folder"
    (cd "$folder" && npm pack --silent "axe-core@$version" >/dev/null && tar -xzf "axe-core-$version.tgz")
fi
FPDB_AXE=$folder/package/axe.min.js FPDB_BROWSER_TESTS=required \
    cargo test --release --locked --test it -- report:: serve::page::
