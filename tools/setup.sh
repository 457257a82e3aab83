#!/usr/bin/env bash
# Prepares this machine to build fpdb: looks for everything that the build needs, and installs missing packages.
#
# What is needed and why:
#   cargo        the Rust toolchain, of at least the version Cargo.toml names; comes from rustup, never from here
#   make         all tasks of the project start from the Makefile
#   C, C++       RocksDB (some 340 C++ files), zstd, lz4 and xz are compiled from source;
#                Rust links with cc too
#   libclang     bindgen reads RocksDB's C header with it, at build time
#   its headers  libclang needs clang's own stddef.h, which Debian packs apart from the library
#   ccache       optional: with it, RocksDB compiled once is compiled again in a minute
#   python3, jq  only with --python: the Python package is built and tested in virtual environments; without, its tests are skipped
#   chromium     only with --browser: the tests of the HTML report look at it in a browser; without one they are skipped
#   java         only with --spark: the tests with Spark start a cluster; without Java they are skipped
#   strace       optional: with it, the tests kill a run at every step that touches the disk
#
# Missing packages are installed with apt-get, as root or through a sudo that asks for no password. If neither is possible, the
# script prints the command and has the exit status 1. It may be run again at any time: if nothing is missing, it does nothing.

set -euo pipefail

usage='usage: tools/setup.sh [--check] [--browser] [--python] [--spark]

Installs what the build of fpdb needs and this machine lacks (Debian and its kin).
  --check   only report what is there and what is missing; exit status 1 if anything needed is missing
  --browser a Chromium is needed too, for the tests of the HTML report
  --python  a Python that makes virtual environments is needed too, for the Python package
  --spark   Java is needed too, for the tests with Spark'

check_only=false
browser=false
python=false
spark=false
for argument in "$@"; do
    case $argument in
        --check) check_only=true ;;
        --browser) browser=true ;;
        --python) python=true ;;
        --spark) spark=true ;;
        -h | --help)
            printf '%s\n' "$usage"
            exit 0
            ;;
        *)
            printf '%s\n' "$usage" >&2
            exit 1
            ;;
    esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages=() # what apt-get is to install
wanted=()   # the same, in words, for systems without apt-get
blocked=()  # what no package can cure

say() { printf 'setup: %s\n' "$*" >&2; }
report() { if $check_only; then printf '%-9s %s\n' "$1" "$2"; fi; }
have() { command -v "$1" >/dev/null 2>&1; }

# need NAME PACKAGE WORDS: reports that the package is missing.
need() {
    report "$1" "missing: $3"
    packages+=("$2")
    wanted+=("$3")
}

# A version as one number that can be compared: 1.90 -> 1090.
comparable() {
    local major minor
    IFS=. read -r major minor _ <<<"$1"
    printf '%d' $((major * 1000 + ${minor:-0}))
}

check_cargo() {
    local least version
    least=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' "$root/Cargo.toml")
    if ! have cargo; then
        report cargo missing
        blocked+=("the Rust toolchain is missing: cargo is not on PATH. Install rustup from https://rustup.rs
       (curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh), open a new shell and run this again.
       If it is installed already: . \"\$HOME/.cargo/env\"")
        return
    fi
    version=$(cd "$root" && cargo --version 2>/dev/null | cut -d' ' -f2) || version=
    if [[ ! $version =~ ^[0-9]+\.[0-9]+ ]]; then
        report cargo "does not run"
        blocked+=("cargo is on PATH and does not run: see what \`cargo --version\` says; \`rustup default stable\` usually cures it.")
    elif [[ -n $least ]] && (($(comparable "$version") < $(comparable "$least"))); then
        report cargo "$version, too old"
        blocked+=("cargo is version $version and fpdb needs Rust $least or newer: run \`rustup update stable\`.")
    else
        report cargo "$version"
    fi
}

check_compilers() {
    local variable name words
    if have make; then report make "$(command -v make)"; else need make make "make"; fi
    for variable in CC CXX; do
        # The last word is the compiler: CXX may be "ccache c++".
        read -ra words <<<"${!variable-}"
        if ((${#words[@]} > 0)); then
            name=${words[${#words[@]} - 1]}
        else
            name=cc
            [[ $variable == CC ]] || name=c++
        fi
        if have "$name"; then
            report compiler "$(command -v "$name")"
        elif ((${#words[@]} > 0)); then
            report compiler "missing: $name, which $variable names"
            blocked+=("$variable names the compiler $name, which is not on PATH: install it, or unset $variable.")
        elif [[ " ${packages[*]-} " != *" g++ "* ]]; then
            need compiler g++ "a C and C++ compiler ($name is not on PATH)"
        fi
    done
}

# The libraries that bindgen would find, one per line: it looks in these folders, for these names, in this order.
libclang_candidates() {
    local folders=() prefix file name
    if [[ -n ${LIBCLANG_PATH-} ]]; then
        if [[ -f $LIBCLANG_PATH ]]; then
            printf '%s\n' "$LIBCLANG_PATH"
            return
        fi
        folders=("$LIBCLANG_PATH")
    else
        if have "${LLVM_CONFIG_PATH:-llvm-config}"; then
            prefix=$("${LLVM_CONFIG_PATH:-llvm-config}" --prefix 2>/dev/null) || prefix=
            [[ -z $prefix ]] || folders+=("$prefix/lib" "$prefix/lib64")
        fi
        IFS=: read -ra search <<<"${LD_LIBRARY_PATH-}:${LIBRARY_PATH-}"
        for file in "${search[@]}"; do
            [[ -z $file ]] || folders+=("$file")
        done
        folders+=(/usr/local/llvm*/lib* /usr/local/lib*/*/* /usr/local/lib*/* /usr/local/lib* /usr/lib*/*/* /usr/lib*/* /usr/lib*)
    fi
    for file in "${folders[@]/%//libclang}"; do
        compgen -G "${file}[.-]*" || true
    done | while read -r file; do
        name=${file##*/}
        case $name in
            *-cpp.*) ;; # another library, with a C++ interface
            libclang.so | libclang-*.so | libclang.so.* | libclang-*.so.*) if [[ -f $file ]]; then printf '%s\n' "$file"; fi ;;
        esac
    done
}

check_libclang() {
    local all best release
    all=$(libclang_candidates)
    if [[ -z $all && -n ${LIBCLANG_PATH-} ]]; then
        report libclang "missing: LIBCLANG_PATH leads nowhere"
        blocked+=("LIBCLANG_PATH is $LIBCLANG_PATH, and no libclang.so is there: correct it, or unset it so that the usual places are searched.")
        return
    fi
    if [[ -z $all ]]; then
        need libclang libclang-dev "libclang with its headers (RocksDB's bindings are generated with it)"
        return
    fi
    # bindgen takes the library with the highest release in its name.
    best=$(sed -n 's,.*/libclang-\([0-9][0-9]*\).*,\1 &,p' <<<"$all" | sort -rn -s -k1,1 | sed -n '1s/^[0-9]* //p')
    best=${best:-${all%%$'\n'*}}
    report libclang "$best"
    release=$(sed -n 's,.*/libclang-\([0-9][0-9]*\).*,\1,p' <<<"$best")
    if has_clang_headers "$best" "$release"; then return; fi
    need headers "libclang-${release:+common-$release-}dev" "clang's own headers (stddef.h) for $best"
}

# has_clang_headers LIBRARY RELEASE: succeeds if this libclang finds a stddef.h.
has_clang_headers() {
    local library=$1 release=$2 folder real header
    real=$(readlink -f "$library")
    for folder in "${library%/*}" "${real%/*}" "/usr/lib/llvm-${release:-*}/lib" /usr/lib /usr/lib64; do
        # The name of the folder below has the version: 14.0.6, or only 16.
        while read -r header; do
            report headers "$header"
            return 0
        done < <(compgen -G "$folder/clang/${release:-}*/include/stddef.h" || true)
    done
    # bindgen asks a clang on PATH for its include folders, where there is one.
    if have clang && header=$(clang -print-resource-dir 2>/dev/null)/include/stddef.h && [[ -f $header ]]; then
        report headers "$header"
        return 0
    fi
    return 1
}

# Optional programs, and the purpose of each.
declare -A niceties=(
    [ccache]="RocksDB compiled once is compiled again in a minute"
    [strace]="the tests kill a run at every step that touches the disk"
)

# A package that could not be installed once is not requested again, because each build would then use the network.
refused=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/fpdb/no

check_niceties() {
    local name
    missing=()
    for name in ccache strace; do
        if have "$name"; then
            report "$name" "$(command -v "$name")"
        else
            report "$name" "missing (optional: with it, ${niceties[$name]})"
            if [[ ! -e $refused-$name ]]; then missing+=("$name"); fi
        fi
    done
}

check_browser() {
    local name
    for name in chromium chromium-browser google-chrome; do
        if have "$name"; then
            report chromium "$(command -v "$name")"
            return
        fi
    done
    need chromium chromium "a browser (the tests of the HTML report look at it in Chromium)"
    # Text needs a font, which the browser's package only recommends.
    packages+=(fonts-dejavu-core)
}

check_python() {
    local name=${FPDB_PYTHON:-python3}
    if "$name" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        report python "$(command -v "$name")"
    else
        need python python3-venv "Python 3.11 or later with its module venv"
    fi
    if have jq; then
        report jq "$(command -v jq)"
    else
        need jq jq "jq (the tests run the commands of the documentation, which use it)"
    fi
}

check_java() {
    local release
    # "17.0.15" in: openjdk version "17.0.15" 2025-04-15
    release=$(java -version 2>&1 | sed -n 's/^[a-z]* version "\([0-9]*\).*/\1/p') || release=
    if [[ -n $release ]] && ((release >= 17)); then
        report java "$(command -v java)"
    else
        need java default-jre-headless "Java 17 or later (the tests with Spark start a cluster)"
    fi
}

survey() {
    packages=() wanted=() blocked=()
    check_cargo
    check_compilers
    check_libclang
    if $browser; then check_browser; fi
    if $python; then check_python; fi
    if $spark; then check_java; fi
}

# Prints the prefix with which a command runs as root: nothing if this user is root, otherwise `sudo -n`. Fails if neither works.
elevation() {
    if ((EUID == 0)); then return 0; fi
    if have sudo && sudo -n true 2>/dev/null; then
        echo sudo -n
        return 0
    fi
    return 1
}

# apt ARGUMENTS: apt-get as root, without questions. What it prints is shown only if it fails.
apt() {
    local log status=0
    log=$(mktemp)
    # shellcheck disable=SC2086 # `elevation` is no word or two
    $elevate env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >"$log" 2>&1 </dev/null || status=$?
    if ((status != 0)) && [[ ${quiet-} != true ]]; then
        tail -n 15 "$log" >&2
    fi
    rm -f "$log"
    return "$status"
}

survey
check_niceties

can_install=false
if ! $check_only && ((${#packages[@]} + ${#missing[@]} > 0)); then
    if have apt-get && elevate=$(elevation); then can_install=true; fi

    if $can_install; then
        if ((${#packages[@]} > 0)); then
            for words in "${wanted[@]}"; do say "missing: $words"; done
            say "installing with apt-get: ${packages[*]}"
            apt update || say "apt-get update failed; trying with the package lists as they are"
            if apt install --no-install-recommends "${packages[@]}"; then
                survey
            else
                say "apt-get could not install: ${packages[*]}"
            fi
        fi
        for name in "${missing[@]}"; do
            # These packages are optional, so their absence is not a failure. The lists are fetched only if they lack the package.
            quiet=true
            if apt install --no-install-recommends "$name" || { apt update && apt install --no-install-recommends "$name"; }; then
                say "installed $name: ${niceties[$name]}"
            else
                say "$name could not be installed, and is not needed; with it, ${niceties[$name]}"
                if ((${#packages[@]} == 0)) && mkdir -p "${refused%/*}" && : >"$refused-$name"; then
                    say "(not tried again while $refused-$name exists)"
                fi
            fi
        done
    fi
fi

if ((${#packages[@]} > 0)); then
    if ! $can_install; then
        for words in "${wanted[@]}"; do say "missing: $words"; done
    fi
    if have apt-get; then
        say "to install it, run:"
        say "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages[*]}"
    else
        say "there is no apt-get here: install it with this system's package manager."
        say "libclang in an unusual place is found through LIBCLANG_PATH, the folder that holds libclang.so."
    fi
fi
for words in "${blocked[@]}"; do say "$words"; done
((${#packages[@]} + ${#blocked[@]} == 0))
