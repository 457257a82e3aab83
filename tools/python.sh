#!/usr/bin/env bash
# The Python package: makes its wheel, and tests the wheel where a user has it, in a virtual environment.
#
#   wheel [--portable]            leaves one wheel in target/wheels/ of this clone
#   sdist                         leaves the source distribution there
#   test [--portable] [ARGUMENTS] makes the wheel and runs python/tests against it, with arguments for pytest
#
# With --portable the wheel is linked for Linux with glibc 2.28 and later (manylinux_2_28), by zig, which comes from PyPI.
#
# The environments are kept outside the clone, in ${XDG_CACHE_HOME:-~/.cache}/fpdb/python, one for each Python and list of
# packages. FPDB_PYTHON names another interpreter than python3. The wheel serves Python 3.10 and later; the packages that the tests
# need are for 3.11 and later.
# Without a Python that can make environments `test` says so and does nothing, unless FPDB_PYTHON_TESTS is `required`.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${FPDB_PYTHON:-python3}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fpdb/python
wheels=$PWD/target/wheels

say() { printf 'python: %s\n' "$*" >&2; }

# usable MINOR: succeeds if there is a Python of at least 3.MINOR that makes virtual environments.
usable() {
    "$python" -c "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, $1))" 2>/dev/null
}

# environment NAME REQUIREMENTS: the path of an environment with these packages, made if need be.
environment() {
    local version digest folder
    version=$("$python" -c 'import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_platform(), sep="-")')
    digest=$(sha256sum <"$2" | cut -c1-12)
    folder=$cache/$1-$version-$digest
    if [[ ! -x $folder/bin/python || ! -e $folder/complete ]]; then
        say "making $folder"
        rm -rf "$folder"
        "$python" -m venv "$folder"
        "$folder/bin/python" -m pip install -q --disable-pip-version-check -r "$2" >&2
        touch "$folder/complete"
    fi
    printf '%s' "$folder"
}

# build TOOLS WHAT ENDING [SETTING=VALUE]...: makes the wheel or the sdist with the backend that pip uses, but in the environment TOOLS instead
# of a new one. Prints the name of the file.
build() {
    mkdir -p "$wheels"
    rm -f "$wheels"/fpdb-*."$3"
    PATH=$1/bin:$PATH "$1/bin/python" - "$2" "$wheels" "${@:4}" <<'END'
import os, sys
os.chdir("python")
sys.path.insert(0, ".")
import build_backend
settings = dict(setting.split("=", 1) for setting in sys.argv[3:])
print(getattr(build_backend, f"build_{sys.argv[1]}")(sys.argv[2], settings or None))
END
}

# The same commit gives the same bytes of a wheel. So the time in its list of parts is FPDB_EPOCH, or else the time of the commit.
wheel() {
    local tools found target parts=$PWD/target/fpdb-python.cyclonedx.json
    target=$(rustc -vV | sed -n 's/^host: //p')
    mkdir -p target
    "$python" tools/dist/parts.py fpdb-python "$target" "${FPDB_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}" sbom >"$parts"
    if $portable; then
        tools=$(environment portable python/requirements-portable.txt)
        build "$tools" wheel whl "sbom=$parts" "linker=$PWD/tools/portable/cc" compatibility=manylinux_2_28
    else
        tools=$(environment build python/requirements-build.txt)
        build "$tools" wheel whl "sbom=$parts"
    fi
    ls -l "$wheels"/fpdb-*.whl
    if [[ $target != *-linux-gnu ]]; then return; fi
    found=$("$tools/bin/auditwheel" show "$wheels"/fpdb-*.whl | grep -o '"manylinux[^"]*"' | head -n 1)
    echo "works on $found"
    if $portable && [[ $found != \"manylinux_2_28_* ]]; then
        say "auditwheel finds that the wheel needs newer systems than manylinux_2_28"
        exit 1
    fi
}

run_tests() {
    local folder
    folder=$(environment test python/tests/requirements.txt)
    "$folder/bin/python" -m pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-index "$wheels"/fpdb-*.whl
    cd python
    PATH=$folder/bin:$PATH "$folder/bin/python" -m pytest "$@"
}

portable=false
if [[ ${2-} == --portable ]]; then
    portable=true
    set -- "$1" "${@:3}"
fi

case ${1-} in
    wheel | sdist | test)
        if [[ $1 == test ]]; then minor=11; else minor=10; fi
        if ! usable $minor; then
            say "there is no $python of version 3.$minor or later that makes virtual environments (on Debian: apt-get install python3-venv)"
            if [[ $1 != test || ${FPDB_PYTHON_TESTS-} == required ]]; then exit 1; fi
            echo "SKIPPED the tests of the Python package"
            exit 0
        fi
        ;;&
    wheel) wheel ;;
    sdist) build "$(environment build python/requirements-build.txt)" sdist tar.gz ;;
    test)
        shift
        wheel
        run_tests "$@"
        ;;
    *)
        sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 1
        ;;
esac
