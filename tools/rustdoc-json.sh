#!/usr/bin/env bash
# rustdoc that may write JSON, which is not stable yet: cargo runs it in place of rustdoc for tools/check-api.sh. The compiler
# itself is run as always, so that nothing is compiled again.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
