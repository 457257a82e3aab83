#!/usr/bin/env bash
# Checks rules about the sources that cargo does not enforce. The Cargo.toml files of the members already limit the crates that each
# may name. Uses text search only, so it needs no compiler and little time.
#
# Comments and tests do not count. Tests are files named tests.rs and items under #[cfg(test)].
# usage: tools/check-walls.sh [ROOT]
# Prints each offending line as file:line and exits 1 if there is any.

set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

# sources FOLDER...: prints the Rust files in these folders. Folders that do not exist are skipped.
sources() {
    local folder
    for folder in "$@"; do
        if [[ -d $folder ]]; then find "$folder" -name '*.rs' -type f; fi
    done | LC_ALL=C sort
}

# except PATTERN: reads file names, prints those that do not match.
except() { grep -vE "$1" || true; }

# offending PATTERN: reads file names, prints the lines whose code matches the pattern (POSIX extended). An item under #[cfg(test)]
# ends at the closing brace with the indentation of the attribute, where rustfmt puts it.
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

# wall RULE PATTERN: reads file names, prints the offending lines and the rule that they break, and then fails.
wall() {
    local lines
    lines=$(offending "$2")
    if [[ -n $lines ]]; then
        printf '%s\n%s\n' "$1" "$lines"
        return 1
    fi
}

failed=0

# Pure: bytes in, values out.
sources crates/kernel/src crates/store/src/codec | except '/(tests|corpus)\.rs$|/fuzzing/' |
    wall 'wall: the kernel and the posting codec are pure: no input or output, clock, thread or global' \
        "(^|[^A-Za-z0-9_])(std::(fs|io|net|env|process|thread|time)([^A-Za-z0-9_]|$)|std::\{(.*[ {,])?(fs|io|net|env|process|thread|time)(::|[,} ])|static mut |thread_local!|OnceLock|LazyLock|rayon)" ||
    failed=1

sources src crates cli/src serve/src | except '/tests\.rs$' |
    wall 'unfinished: todo!, unimplemented! and dbg! do not stay' \
        '(^|[^A-Za-z0-9_])(todo|unimplemented|dbg)!' || failed=1

# Comments are plain English in short lines. Tests count too. Tables and code in comments may have longer lines.
unclear=$(sources src crates cli/src serve/src python/src | xargs awk '
    FNR == 1 { code = 0 }
    !/^[ \t]*\/\// { code = 0; next }
    /^[ \t]*\/\/[\/!] *```/ { code = !code; next }
    code || /^[ \t]*\/\/[\/!]? *\|/ { next }
    length($0) > 110 { printf "  %s:%d: %d characters\n", FILENAME, FNR, length($0) }
    /(^|[^A-Za-z])(so many|of which|what has been|for whom|[Ww]hoever)([^A-Za-z]|$)|`None` where/ {
        printf "  %s:%d: %s\n", FILENAME, FNR, $0
    }
')
if [[ -n $unclear ]]; then
    printf 'unclear: comments have at most 110 characters a line, and none of "so many", "of which", "what has been",\n'
    printf '"for whom", "whoever" and "`None` where": name the number, use two sentences, or write "`None` if"\n%s\n' "$unclear"
    failed=1
fi

# Pages tell readers to run these scripts.
if [[ -d tools ]]; then
    not_executable=$(find tools -type f ! -perm -u+x -exec awk 'FNR == 1 && /^#!/ { printf "  %s\n", FILENAME }' {} +)
    if [[ -n $not_executable ]]; then
        printf 'not executable: chmod +x each file that begins with "#!"\n%s\n' "$not_executable"
        failed=1
    fi
fi

# A file past 500 lines says why in the comment it opens with.
while read -r file; do
    lines=$(wc -l <"$file")
    if ((lines > 500)) && ! awk '!/^[ \t]*(\/\/|$)/ { exit } { print }' "$file" | tr -s '/! \n' ' ' | grep -q 'long because'; then
        printf 'too long: past 500 lines a file says why in its first comment ("long because ..."), or is split\n'
        printf '  %s:%d: %d lines\n' "$file" "$lines" "$lines"
        failed=1
    fi
done < <(sources src crates cli/src serve/src)

if ((failed == 0)); then echo 'walls: ok'; fi
exit "$failed"
