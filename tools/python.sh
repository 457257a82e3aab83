#!/usr/bin/env bash
# The Python package: makes its wheel, and tests the wheel where a user has it, in a virtual environment.
#
#   wheel   leaves one wheel in target/wheels/ of this clone
#   sdist   leaves the source distribution there
#   test    makes the wheel and runs python/tests against it
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

# usable MINOR: whether there is a Python of at least 3.MINOR that makes virtual environments.
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

# build WHAT: the wheel or the sdist, by the backend that pip uses, without the environment that pip would make for it.
build() {
    local tools
    tools=$(environment build python/requirements-build.txt)
    mkdir -p "$wheels"
    rm -f "$wheels"/fpdb-*."$2"
    PATH=$tools/bin:$PATH "$tools/bin/python" - "$1" "$wheels" <<'END'
import os, sys
os.chdir("python")
sys.path.insert(0, ".")
import build_backend
print(getattr(build_backend, f"build_{sys.argv[1]}")(sys.argv[2]))
END
}

wheel() {
    build wheel whl
    local tools
    tools=$(environment build python/requirements-build.txt)
    ls -l "$wheels"/fpdb-*.whl
    "$tools/bin/auditwheel" show "$wheels"/fpdb-*.whl | grep -o '"manylinux[^"]*"' | sed -n '1s/^/works on /p'
}

run_tests() {
    local folder
    folder=$(environment test python/tests/requirements.txt)
    "$folder/bin/python" -m pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-index "$wheels"/fpdb-*.whl
    cd python
    PATH=$folder/bin:$PATH "$folder/bin/python" -m pytest "$@"
}

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
    sdist) build sdist tar.gz ;;
    test)
        shift
        wheel
        run_tests "$@"
        ;;
    *)
        sed -n '2,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 1
        ;;
esac
