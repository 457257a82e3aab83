#!/usr/bin/env bash
# Makes a golden database of the current format version, with its reports: tests/golden/format-N, or with `views`
# tests/golden/format-N-views. tests/golden/README.md says when to make one.

set -euo pipefail

usage='usage: tools/make-golden.sh FPDB [views]

Makes tests/golden/format-N again with the program FPDB, N being the version of its format. With `views`, makes
tests/golden/format-N-views: a database of profile code, which holds each document in two views.'

case "${1-}" in
    '' | -h | --help)
        printf '%s\n' "$usage"
        exit 0
        ;;
esac
fpdb=$(realpath "$1")
views=${2-}
case "$views" in
    '' | views) ;;
    *)
        printf '%s\n' "$usage" >&2
        exit 2
        ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
samples=$root/data-samples

# The database has the paths of the documents, so this folder has the same path on every machine. It does not exist when the test runs.
place=/tmp/fpdb-golden
mkdir "$place" || {
    printf 'make-golden: %s is in the way: remove it\n' "$place" >&2
    exit 1
}
trap 'rm -rf "$place"' EXIT
cd "$place"
mkdir federalist planted
cp "$samples"/federalist/fed50.txt federalist/
cp "$samples"/planted/essay-{lifted-paragraphs,light-edits,reflowed}.txt planted/
cat "$samples"/federalist/fed{81,83,70}.txt >large.txt
find . -type f -exec touch -d 2020-01-01T00:00:00Z {} +

db=$place/db
# flag NAME: prints the flag if `ingest` of this program has it.
flag() { if "$fpdb" ingest --help | grep -q -e "$1"; then printf "%s\n" "$1"; fi; }
run() { "$fpdb" --db "$db" -q "$@"; }
if [ "$views" ]; then
    run init --profile code
    # A program, and the same program with other names.
    mkdir code
    cp "$root"/tests/samples/code/sample.{c,go} code/
    sed 's/\bq/r/g' code/sample.c >code/names.c
    find code -type f -exec touch -d 2020-01-01T00:00:00Z {} +
    run ingest code
else
    run init -k 20 -w 2
fi
run ingest federalist planted/essay-light-edits.txt
# More fingerprints than a batch of this memory holds: two runs in one commit.
run ingest --memory 1MiB large.txt
# shellcheck disable=SC2046 # one flag, or none
run ingest $(flag --store-text) planted/essay-lifted-paragraphs.txt
# shellcheck disable=SC2046
run ingest $(flag --boilerplate) planted/essay-reflowed.txt
printf 'A later hand has added this line.\n' >>federalist/fed50.txt
touch -d 2020-01-02T00:00:00Z federalist/fed50.txt
run ingest federalist
run rm planted/essay-light-edits.txt
# Eight or more runs are folded; the last commits stay in the log.
for number in 1 2 3 4 5 6 7 8 9; do
    sed -n "$((number * 9)),$((number * 9 + 8))p" "$samples/federalist/fed39.txt" >"piece-$number.txt"
    touch -d 2020-01-01T00:00:00Z "piece-$number.txt"
    run ingest "piece-$number.txt"
done
run dedup --by containment --threshold 0.1 --max-novel 100000 --append >/dev/null

version=$(sed -n 's/^fpdb database, format //p' "$db/FPDB")
golden=$root/tests/golden/format-$version${views:+-$views}
rm -rf "$golden"
mkdir -p "$golden/reports"
cp -r "$db" "$golden/db"
# Removes files that the engine makes again, such as its log of messages.
rm -rf "$golden"/db/store/{LOG*,OPTIONS-*,LOCK} "$golden"/db/{lock,incoming,dedup-decisions.lock}

# The reports are made as in the test: in the folder of the project, and without the files of the documents.
rm -rf federalist planted code large.txt piece-*.txt
cd "$root"
commands=(tests/golden/commands)
if [ "$views" ]; then commands+=(tests/golden/commands-views); fi
cat "${commands[@]}" | while read -r name arguments; do
    # The arguments are words.
    # shellcheck disable=SC2086
    "$fpdb" --db "$db" --format json $arguments >"$golden/reports/$name.jsonl"
done
du -sh "$golden" | cut -f1
