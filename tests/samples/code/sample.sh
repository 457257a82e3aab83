#!/usr/bin/env bash
# REMARK: keeps the newest copies
set -euo pipefail

qkeep=3
qfolder="${1:-$HOME/backups}"

for qfile in "$qfolder"/*.tar.gz; do
    if [[ -f $qfile && $qkeep -gt 0 ]]; then
        qkeep=$((qkeep - 1)) # REMARK: one less
    else
        rm -f -- "$qfile" 2>/dev/null || echo 'cannot remove' >&2
    fi
done

cat <<EOF
kept in $qfolder: $(ls "$qfolder" | wc -l)
EOF
