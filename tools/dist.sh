#!/usr/bin/env bash
# Makes the packages that people install, in dist/ of the target folder, for the system on which it runs:
#
#   fpdb-VERSION-TARGET.tar.gz          the program, manual pages, completions, README, CHANGELOG, licences, SBOM
#   fpdb_VERSION_ARCH.deb               the same for Debian and its kin; where there is dpkg-deb
#   fpdb-VERSION-TAGS.whl, .tar.gz      the Python package, with the program, and its source
#   fpdb-VERSION-TARGET.cyclonedx.json  the SBOM: the crates and the C and C++ libraries inside the program
#   SHA256SUMS
#
# On Linux the program is that of the portable wheel. It is linked once, for glibc 2.28 and later, and contains the C++ library.
#
# The same commit should give the same bytes in any folder and for any user, if these are the same: the versions of Rust, of the C++
# compiler and of ziglang (python/requirements-portable.txt), and Cargo.lock. All times are the time of the last commit. The program
# contains no path of this machine: tools/compiler/rustc removes the path of the folder of cargo, and the script checks this. Two
# complete builds in two clones of different names, on one machine and with C and C++ from one ccache, gave the same bytes in all
# five files.
#
# dpkg-deb makes the package, from a control file that this script writes. Every Debian has dpkg-deb, whereas each machine would
# have to compile the 200 crates of cargo-deb. The maintainer is DEBFULLNAME and DEBEMAIL, otherwise the author of the last commit.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C TZ=UTC
# Files of an earlier build must not get into the program.
export CARGO_INCREMENTAL=0
umask 022

mkdir -p "${CARGO_TARGET_DIR:-target}"
target_folder=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
dist=$target_folder/dist
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
target=$(rustc -vV | sed -n 's/^host: //p')
# This variable must not be in the environment of cargo, which would compile all C and C++ again for each new time.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
unset SOURCE_DATE_EPOCH
name=fpdb-$version-$target

say() { printf 'dist: %s\n' "$*" >&2; }

rm -rf "$dist"
mkdir -p "$dist"
work=$(mktemp -d "$dist/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The Python package, and with it the program.
portable=()
[[ $target != *-linux-gnu ]] || portable=(--portable)
FPDB_EPOCH=$epoch tools/python.sh wheel "${portable[@]}"
mv target/wheels/fpdb-*.whl "$dist/"
tools/python.sh sdist
mv target/wheels/fpdb-*.tar.gz "$dist/"

# The common content of the archive and the package: a folder like /usr.
usr=$work/usr
mkdir -p "$usr/bin"
cp "$target_folder/release/fpdb" "$usr/bin/fpdb"
strip "$usr/bin/fpdb"
for path in "$PWD/" "${CARGO_HOME:-$HOME/.cargo}/"; do
    if grep -qaF "$path" "$usr/bin/fpdb"; then
        say "the program holds the path $path: crates were compiled without tools/compiler/rustc. Unset RUSTC_WRAPPER, run \`cargo clean\`, and repeat"
        exit 1
    fi
done
make --no-print-directory -s install-pages PREFIX="$usr" >&2
python3 tools/dist/parts.py fpdb-cli "$target" "$epoch" licences >"$work/LICENSES-OF-DEPENDENCIES"
python3 tools/dist/parts.py fpdb-cli "$target" "$epoch" sbom >"$dist/$name.cyclonedx.json"

top=$work/$name
mkdir -p "$top/man" "$top/completions"
cp "$usr/bin/fpdb" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$work/LICENSES-OF-DEPENDENCIES" "$top/"
cp "$dist/$name.cyclonedx.json" "$top/fpdb.cyclonedx.json"
cp "$usr"/share/man/man1/* "$top/man/"
cp "$usr/share/bash-completion/completions/fpdb" "$top/completions/fpdb.bash"
cp "$usr/share/zsh/site-functions/_fpdb" "$top/completions/_fpdb"
cp "$usr/share/fish/vendor_completions.d/fpdb.fish" "$top/completions/fpdb.fish"
python3 tools/dist/pack.py "$dist/$name.tar.gz" "$top" "$epoch"

debian_package() {
    local root=$work/deb architecture maintainer doc size
    architecture=$(dpkg --print-architecture)
    maintainer="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
    doc=$root/usr/share/doc/fpdb
    mkdir -p "$root/DEBIAN" "$doc" "$root/usr/share/lintian/overrides"
    cp -r "$usr/." "$root/usr/"
    # Debian's own place for functions of zsh.
    mkdir -p "$root/usr/share/zsh/vendor-completions"
    mv "$root/usr/share/zsh/site-functions/_fpdb" "$root/usr/share/zsh/vendor-completions/"
    rmdir "$root/usr/share/zsh/site-functions"
    gzip -9n "$root"/usr/share/man/man1/*
    gzip -9nc README.md >"$doc/README.md.gz"
    gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
    gzip -9nc "$work/LICENSES-OF-DEPENDENCIES" >"$doc/LICENSES-OF-DEPENDENCIES.gz"
    gzip -9nc "$dist/$name.cyclonedx.json" >"$doc/fpdb.cyclonedx.json.gz"
    cp tools/dist/lintian-overrides "$root/usr/share/lintian/overrides/fpdb"
    {
        echo "fpdb is under the MIT licence or the Apache License 2.0, as you like."
        echo "The latter is in /usr/share/common-licenses/Apache-2.0."
        printf 'The licences of what is compiled into it are in LICENSES-OF-DEPENDENCIES.gz.\n\n'
        cat LICENSE-MIT
    } >"$doc/copyright"
    {
        printf 'fpdb (%s-1) unstable; urgency=medium\n\n  * Version %s: the changes are in changelog.gz.\n\n' "$version" "$version"
        printf ' -- %s  %s\n' "$maintainer" "$(date -R -d "@$epoch")"
    } | gzip -9n >"$doc/changelog.Debian.gz"
    size=$(find "$root/usr" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
    cat >"$root/DEBIAN/control" <<END
Package: fpdb
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: libc6 (>= 2.28), libgcc-s1 (>= 4.2) | libgcc1 (>= 1:4.2)
Section: text
Priority: optional
Description: find documents that share text, with the places
 fpdb stores fingerprints of documents in a database on disk. It tells which
 stored documents share text with a document, how much, and exactly where.
 .
 It finds the sources of passages, pairs of documents that share text, and
 removable duplicates, in plain text, source code, office documents, mail,
 web pages and archives of these. The database grows: documents are added,
 replaced and removed while others read it.
END
    chmod -R u=rwX,go=rX "$root"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    # dpkg-deb sorts the files, and replaces times after SOURCE_DATE_EPOCH by this time. No file has an earlier time.
    find "$root" -exec touch -h -d "@$epoch" {} +
    SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zxz -z6 --build "$root" "$dist/fpdb_$version-1_$architecture.deb" >&2
}

if command -v dpkg-deb >/dev/null; then
    debian_package
else
    say "SKIPPED the Debian package: there is no dpkg-deb"
fi

rm -rf "$work"
sums=(sha256sum)
command -v sha256sum >/dev/null || sums=(shasum -a 256)
(cd "$dist" && "${sums[@]}" -- fpdb* >SHA256SUMS)
ls -l "$dist"
