#!/usr/bin/env bash
# Checks that docs/schemas/ has the JSON schema of each line that the program prints, made from the current answer types. With
# --write, writes the schemas. The test of the Python package then validates lines against them: python/tests/test_schemas.py.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ ${1-} == --write ]]; then
    mkdir -p docs/schemas
    rm -f docs/schemas/*.json
    export FPDB_WRITE_SCHEMAS=1
fi
cargo test --release --locked --quiet --bins the_published_schemas
