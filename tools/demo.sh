#!/usr/bin/env bash
# Shows what fpdb does, on the sample data: makes, queries and describes a database in a temporary folder. usage: tools/demo.sh
# PATH-OF-FPDB

set -euo pipefail

fpdb=${1:?usage: tools/demo.sh PATH-OF-FPDB}
fpdb=$(cd "$(dirname "$fpdb")" && pwd)/$(basename "$fpdb")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 141' PIPE
db=$folder/demo.fpdb
planted=data-samples/planted

# step SENTENCE COMMAND ARGUMENT...: prints the sentence and the command, then runs the command.
step() {
    printf '\n# %s\n$ fpdb %s\n' "$1" "${*:2}"
    "$fpdb" "${@:2}" 2>&1
}

step 'Fingerprint 25 Federalist papers into a new database. A copied sentence (44 letters) is always found.' \
    ingest data-samples/federalist --db "$db"

step 'The same again: nothing is new, so nothing is done.' \
    ingest data-samples/federalist --db "$db"

step 'An essay with a paragraph of paper 51 and one of paper 70 in it: which papers, how much, and exactly where?' \
    query "$planted/essay-lifted-paragraphs.txt" --mode containment --db "$db"

step 'Other line lengths, case and punctuation hide nothing, nor does another encoding: paper 76, and paper 10 as UTF-16.' \
    query "$planted/essay-reflowed.txt" "$planted/paper-10-utf16.txt" --mode containment --top 2 --db "$db"

step 'One word in 25 replaced: the runs between the replaced words are still found, in paper 67.' \
    query "$planted/essay-light-edits.txt" --mode containment --top 1 --db "$db"

step 'Whole documents compared, each number with its 95% interval where it is an estimate: only the copy is close to 1.' \
    query "$planted/paper-10-copy.txt" "$planted/essay-lifted-paragraphs.txt" --mode resemblance --top 2 --no-passages --db "$db"

step 'Two chapters of Genesis share nothing with the papers.' \
    query "$planted/independent.txt" --db "$db"

step 'What the database holds.' \
    stats --db "$db"

printf '\n# That was all; the database is thrown away. To keep one: fpdb ingest YOUR-FOLDER, then fpdb query YOUR-FILE.\n'
