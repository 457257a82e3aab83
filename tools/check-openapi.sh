#!/usr/bin/env bash
# Sends requests made from the service's own description (`/openapi.json`) to a service on loopback, and checks each answer: no
# failure of the service, only the statuses, media types and schemas that the description names. Schemathesis (from PyPI) makes the
# requests. It uses a fixed seed, so that a failure can be repeated.
#
# usage: tools/check-openapi.sh [EXAMPLES]   examples for each route; 100 unless given

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

examples=${1:-100}
environment=${XDG_CACHE_HOME:-$HOME/.cache}/fpdb/schemathesis
program=$(cargo metadata --no-deps --format-version 1 | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/release/fpdb

if [[ ! -x $environment/bin/st ]]; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet 'schemathesis==4.32.5'
fi
cargo build --release --locked

folder=$(mktemp -d)
service=
end() {
    [[ -z $service ]] || kill "$service"
    rm -rf "$folder"
}
trap end EXIT

"$program" ingest --quiet --db "$folder/db" data-samples
# The first line has the address of the service. Requests for jobs come faster than jobs end, so all jobs are kept.
coproc serve { exec "$program" serve --db "$folder/db" --listen 127.0.0.1:0 --log-requests false --backup-folder "$folder/backups" --kept-jobs 10000 2>&1; }
service=$serve_PID
read -r line <&"${serve[0]}"
[[ $line =~ http://[0-9.:]+ ]] || {
    echo "check-openapi: the service did not start: $line" >&2
    exit 1
}
address=${BASH_REMATCH[0]}

# Schemathesis writes no lines of JSON by itself.
cat >"$folder/lines.py" <<'END'
import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_, value):
    rows = value if isinstance(value, list) else [value]
    return value if isinstance(value, bytes) else "\n".join(map(json.dumps, rows)).encode()
END
SCHEMATHESIS_HOOKS=lines PYTHONPATH=$folder "$environment/bin/st" run "$address/openapi.json" --seed 2003 \
    --max-examples "$examples" --request-timeout 60 \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance
