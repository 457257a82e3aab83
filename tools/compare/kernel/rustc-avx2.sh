#!/bin/sh
# The compiler as Cargo calls it, except that simd-minimizers and its dependencies get AVX2, BMI and the rest of x86-64-v3, which
# they need at compile time. fpdb does not need them: it detects the processor at run time, so it is compiled here exactly as its
# users compile it.
rustc=$1
shift
case "$CARGO_PKG_NAME" in
rival | simd-minimizers | packed-seq | seq-hash | ensure_simd | wide | safe_arch)
    exec "$rustc" "$@" -C target-cpu=x86-64-v3
    ;;
esac
exec "$rustc" "$@"
