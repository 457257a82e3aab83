#!/usr/bin/env bash
# Tests the packages of tools/dist.sh as a user would install them: in clean Debian systems, in folders that it makes and removes.
#
# In Debian 12: the archive, the Debian package (installed, run, purged, nothing left) and the wheel. In Debian 11, with glibc 2.31,
# where its mirror can be reached: the archive and the package. On this machine: the sums, lintian, the glibc version that the
# program needs, and that wheel, archive and package have the same program.
#
# Needs root, mmdebstrap, lintian and binutils: apt-get install mmdebstrap lintian binutils. Two minutes.
# usage: tools/test-dist.sh [FOLDER]

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
dist=$(cd "${1:-${CARGO_TARGET_DIR:-target}/dist}" && pwd)
# mmdebstrap makes folders that a user without rights must be able to enter.
work=$(mktemp -d "${TMPDIR:-/tmp}/fpdb-test-dist.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT

say() { printf 'test-dist: %s\n' "$*" >&2; }
fail() {
    say "FAILED: $*"
    exit 1
}

for program in mmdebstrap lintian objdump chroot; do
    command -v "$program" >/dev/null || fail "there is no $program: apt-get install mmdebstrap lintian binutils"
done
((EUID == 0)) || fail "chroot needs root"

one() {
    local found=("$dist"/$1)
    [[ ${#found[@]} == 1 && -f ${found[0]} ]] || fail "there is not one $1 in $dist: run \`make dist\`"
    printf '%s' "${found[0]}"
}
archive=$(one 'fpdb-*-linux-gnu.tar.gz')
deb=$(one 'fpdb_*.deb')
wheel=$(one 'fpdb-*.whl')
one 'fpdb-*.cyclonedx.json' >/dev/null
one 'SHA256SUMS' >/dev/null

(cd "$dist" && sha256sum --quiet --check SHA256SUMS)
listed=$(wc -l <"$dist/SHA256SUMS")
present=$(find "$dist" -name 'fpdb*' -type f | wc -l)
[[ $listed == "$present" ]] || fail "SHA256SUMS lists $listed of $present files"
say "ok: sums of $listed files"

mkdir "$work/archive" "$work/deb" "$work/wheel"
tar -xzf "$archive" -C "$work/archive" --strip-components=1
dpkg-deb -x "$deb" "$work/deb"
python3 -m zipfile -e "$wheel" "$work/wheel"
for other in "$work/deb/usr/bin/fpdb" "$work"/wheel/fpdb-*.data/scripts/fpdb; do
    cmp "$work/archive/fpdb" "$other" || fail "the programs differ"
done
say "ok: archive, package and wheel have the same program, $(stat -c %s "$work/archive/fpdb") bytes"

needed=$(objdump -T "$work/archive/fpdb" "$work"/wheel/fpdb/_native.abi3.so | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
[[ $(printf '%s\n' "$needed" GLIBC_2.28 | sort -V | tail -n 1) == GLIBC_2.28 ]] || fail "the program asks for $needed"
say "ok: asks for $needed"

lintian --allow-root --fail-on error,warning "$deb" || fail "lintian"
say "ok: lintian"

# use FPDB: the first steps of a user. Runs inside the system, in a folder with the samples.
cat >"$work/use" <<'END'
set -eu
fpdb=$1
cd "$(mktemp -d)"
"$fpdb" --version
"$fpdb" -q ingest /samples/federalist
"$fpdb" query /samples/planted/essay-lifted-paragraphs.txt | grep -q fed51.txt
"$fpdb" man query | grep -q '^.TH fpdb'
"$fpdb" verify -q
END

system() {
    say "making Debian $1"
    mmdebstrap --quiet --variant=minbase ${2:+--include=$2} "$1" "$work/$1"
    cp -r "$root/data-samples" "$work/$1/samples"
    cp "$work/use" "$work/$1/use"
    cp "$deb" "$work/$1/fpdb.deb"
    cp "$wheel" "$work/$1/"
    cp -r "$work/archive" "$work/$1/archive"
}
inside() { chroot "$work/$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 "${@:2}"; }
files() { inside "$1" find / -xdev \( -path /proc -o -path /tmp -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache \) -prune -o -print | sort; }

try_archive() {
    inside "$1" sh /use /archive/fpdb
    say "ok: archive in Debian $1"
}

try_package() {
    files "$1" >"$work/before"
    inside "$1" dpkg -i /fpdb.deb
    inside "$1" sh /use fpdb
    inside "$1" dpkg --verify fpdb
    # minbase leaves out documentation, unless the system is told to keep it. The pages and completions are files of the package.
    for path in man/man1/fpdb-query.1.gz bash-completion/completions/fpdb zsh/vendor-completions/_fpdb fish/vendor_completions.d/fpdb.fish; do
        inside "$1" dpkg -L fpdb | grep -q "^/usr/share/$path$" || fail "the package lacks $path"
    done
    inside "$1" dpkg --purge fpdb
    files "$1" >"$work/after"
    diff "$work/before" "$work/after" || fail "the package leaves files behind in Debian $1"
    say "ok: package in Debian $1 (installed, run, purged)"
}

release=bookworm
system $release python3-venv
try_archive "$release"
try_package "$release"
inside "$release" python3 -m venv /venv
inside "$release" /venv/bin/pip install --quiet --no-index "/$(basename "$wheel")"
inside "$release" sh /use /venv/bin/fpdb
inside "$release" /venv/bin/python -c '
import fpdb, pathlib
db = fpdb.create("/tmp/wheel.fpdb")
db.ingest(["/samples/federalist"])
assert db.query(pathlib.Path("/samples/planted/essay-lifted-paragraphs.txt")).matches, "nothing found"
print("python: fpdb", fpdb.__version__)'
say "ok: wheel in Debian $release"

if system bullseye ""; then
    try_archive bullseye
    try_package bullseye
else
    say "SKIPPED Debian 11: its mirror could not be reached"
fi
say "all ok"
