#!/usr/bin/env bash
# Keeps the walls between the modules: what may be named where. A grep, so that it needs no compiler and no time.
#
# Comments do not count, nor do tests: files named tests.rs, and items under #[cfg(test)].
# usage: tools/check-walls.sh [ROOT]
# Prints each offending line as file:line and exits 1 if there is any.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$here/..}"

# sources FOLDER...: the Rust files in those of the folders that exist.
sources() {
    local folder
    for folder in "$@"; do
        if [[ -d $folder ]]; then find "$folder" -name '*.rs' -type f; fi
    done | LC_ALL=C sort
}

# Of file names: those that match, those that do not.
only() { grep -E "$1" || true; }
except() { grep -vE "$1" || true; }

# offending PATTERN: reads file names, prints the lines whose code the pattern (POSIX extended) meets. An item under
# #[cfg(test)] ends at the closing brace with the indentation of the attribute, where rustfmt puts it.
offending() {
    local files
    mapfile -t files
    if ((${#files[@]} == 0)); then return; fi
    PATTERN=$1 awk '
        FNR == 1 { in_test = 0; test_begins = 0 }
        in_test { if (index($0, edge "}") == 1) in_test = 0; next }
        { code = $0; sub(/^[ \t]*\/\/.*/, "", code); sub(/[ \t]\/\/.*/, "", code) }
        code ~ /^[ \t]*#\[cfg\((all\()?test[,)]/ {
            test_begins = 1
            match(code, /^[ \t]*/); edge = substr(code, 1, RLENGTH)
            next
        }
        test_begins {
            if (code ~ /^[ \t]*(#\[.*)?$/) next
            if (code ~ /\{[^}]*$/) { test_begins = 0; in_test = 1 }
            else if (code ~ /[;}][ \t]*$/) test_begins = 0
            next
        }
        code ~ ENVIRON["PATTERN"] { printf "  %s:%d: %s\n", FILENAME, FNR, $0 }
    ' "${files[@]}"
}

# wall RULE PATTERN: reads file names; complains of the offending lines, with the rule they break.
wall() {
    local lines
    lines=$(offending "$2")
    if [[ -n $lines ]]; then
        printf '%s\n%s\n' "$1" "$lines"
        return 1
    fi
}

# crates A|B: the pattern of a path into one of the crates, of its macro, or of its import.
crates() {
    printf '(^|[^A-Za-z0-9_.:])(::)?((%s)(::|!)|(use|extern crate) +(::)?(%s)([ ;]|$))' "$1" "$1"
}

failed=0

sources src | except '^src/store/(engine/|tests.rs$)' |
    wall 'wall: only src/store/engine/ names rocksdb; ask the engine in words of its own' \
        "$(crates rocksdb)" || failed=1
sources src | except '^src/(main\.rs|cli\.rs|cli/)' |
    wall 'wall: only src/main.rs and src/cli/ name clap, anyhow, indicatif, signal-hook; the library knows of no terminal' \
        "$(crates 'clap|clap_complete|clap_mangen|anstyle_query|anyhow|indicatif|signal_hook')" || failed=1
sources src | except '^src/server(\.rs|/)' |
    wall 'wall: only src/server/ names axum and tokio' \
        "$(crates 'axum|tokio')" || failed=1
sources src tests benches examples |
    wall 'wall: only python/ names pyo3; the program never needs Python' \
        "$(crates pyo3)" || failed=1

# The program is part of the crate, but uses its public names only: those of the root, and the types in its public modules (and write_html).
sources src/cli |
    wall 'wall: src/cli/ uses the library as fpdb::Name or fpdb::module::Name, as any other program does' \
        '(^|[^A-Za-z0-9_])crate::([^c]|c[^l]|cl[^i]|cli[^:;])|(^|[^A-Za-z0-9_])fpdb::((cli|database|error|extract|ingest|input|query|recognise|store)::|(apply|dedup|maintenance|pairs|repeats|report|staging)::(\{(.*[ ,])?)?([a-vx-z]|w[^r]))' || failed=1
sources src | except '^src/(main\.rs|lib\.rs|cli/)' |
    wall 'wall: only the program says fpdb:: of its own crate' \
        '(^|[^A-Za-z0-9_])fpdb::' || failed=1

# Pure: bytes in, values out.
sources src | only '^src/(normalize|kgram|winnow|store/codec/)' | except '/tests\.rs$' |
    wall 'wall: normalize, kgram, winnow and the posting codec are pure: no input or output, clock, thread or global' \
        "(^|[^A-Za-z0-9_])(std::(fs|io|net|env|process|thread|time)([^A-Za-z0-9_]|$)|std::\{(.*[ {,])?(fs|io|net|env|process|thread|time)(::|[,} ])|static mut |thread_local!|OnceLock|LazyLock|rayon)" ||
    failed=1

sources src | except '/tests\.rs$' |
    wall 'unfinished: todo!, unimplemented! and dbg! do not stay in src/' \
        '(^|[^A-Za-z0-9_])(todo|unimplemented|dbg)!' || failed=1

# A file past 500 lines says why in the comment it opens with.
while read -r file; do
    lines=$(wc -l <"$file")
    if ((lines > 500)) && ! awk '!/^[ \t]*(\/\/|$)/ { exit } { print }' "$file" | tr -s '/! \n' ' ' | grep -q 'long because'; then
        printf 'too long: past 500 lines a file says why in its first comment ("long because ..."), or is split\n'
        printf '  %s:%d: %d lines\n' "$file" "$lines" "$lines"
        failed=1
    fi
done < <(sources src)

# No module imports another in a circle.
"$here/check-circles.py" . || failed=1

if ((failed == 0)); then echo 'walls: ok'; fi
exit "$failed"
