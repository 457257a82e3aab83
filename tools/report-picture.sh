#!/usr/bin/env bash
# Makes the pictures of a report for the first page: docs/figures/report-light.png and report-dark.png.
# They show a query with an essay of data-samples/. One word in each of its lines was changed.
#
# usage: tools/report-picture.sh FPDB    needs Chromium: tools/setup.sh --browser

set -euo pipefail
fpdb=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$fpdb" ingest -q --db "$work/db" data-samples/federalist
"$fpdb" query -q --db "$work/db" data-samples/planted/essay-light-edits.txt --format html -o "$work/report"
scheme=0
for name in dark light; do
    # The virtual time lets the scripts of the page end.
    chromium --headless --no-sandbox --disable-gpu --disable-background-networking --hide-scrollbars \
        --user-data-dir="$work/$name" --blink-settings=preferredColorScheme=$scheme --window-size=1280,640 \
        --virtual-time-budget=3000 --screenshot="docs/figures/report-$name.png" \
        "file://$work/report/index.html#pair=1" 2>/dev/null
    scheme=1
done
