#!/usr/bin/env bash
# The Spark tests: a real master and two workers on loopback, with the wheel in an environment that has Spark.
#
#   tools/spark.sh [pytest's arguments]
#
# The environment (some 700 MB) is kept outside the clone, in ${XDG_CACHE_HOME:-~/.cache}/fpdb/spark. FPDB_PYTHON names another
# interpreter than python3. Without Python or Java the script says so and does nothing, unless FPDB_SPARK_TESTS is `required`. With
# FPDB_SOAK=1 the large document has 500 MB, and workers have 8 GB. The wheel is made first, as by `make wheel`.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${FPDB_PYTHON:-python3}
wheels=$PWD/target/wheels
requirements=python/tests_spark/requirements.txt

say() { printf 'spark: %s\n' "$*" >&2; }

missing=
"$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    missing='a python3 of version 3.11 or later that makes virtual environments (on Debian: apt-get install python3-venv)'
java -version >/dev/null 2>&1 || missing='Java 17 or later (on Debian: apt-get install openjdk-17-jre-headless)'
if [[ -n $missing ]]; then
    say "there is no $missing"
    if [[ ${FPDB_SPARK_TESTS-} == required ]]; then exit 1; fi
    echo "SKIPPED the tests with Spark"
    exit 0
fi

tools/python.sh wheel >&2
tag=$("$python" -c 'import sys; print(sys.implementation.cache_tag)')-$(sha256sum <"$requirements" | cut -c1-12)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/fpdb/spark/$tag
if [[ ! -e $folder/complete ]]; then
    say "making $folder: this takes minutes"
    rm -rf "$folder"
    "$python" -m venv "$folder"
    "$folder/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements" >&2
    touch "$folder/complete"
fi
"$folder/bin/python" -m pip install -q --disable-pip-version-check --force-reinstall --no-deps --no-index "$wheels"/fpdb-*.whl
cd python/tests_spark
PATH=$folder/bin:$PATH "$folder/bin/python" -m pytest -q -p no:cacheprovider "$@"
