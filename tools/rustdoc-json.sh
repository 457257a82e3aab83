#!/usr/bin/env bash
# Runs rustdoc with JSON output allowed, which is not stable yet: cargo runs this script in place of rustdoc for tools/check-api.sh.
# The compiler itself is run as usual, so that nothing is compiled again.
RUSTC_BOOTSTRAP=1 exec rustdoc "$@"
