#!/usr/bin/env bash
# Tests the kernel, the passages and the store on aarch64: compiles them for aarch64, and runs their tests in QEMU.
#
# Debian's cross compiler and QEMU are installed if they are missing (as root). Rust's library for aarch64 comes from rustup
# (`rustup target add aarch64-unknown-linux-gnu`). Without it, this script takes Debian's compiler and library of the package
# rustc-web. It unpacks them into a separate folder, because the package would replace rustup's commands.
#
# With --kernel only the kernel and the passages are tested, so RocksDB is not compiled: some minutes instead of an hour.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

members=(-p fpdb-kernel -p fpdb-passages -p fpdb-host -p fpdb-store)
case ${1-} in
    --kernel) members=(-p fpdb-kernel -p fpdb-passages) ;;
    '') ;;
    *)
        echo 'usage: tools/aarch64.sh [--kernel]' >&2
        exit 1
        ;;
esac

target=aarch64-unknown-linux-gnu
cache=${XDG_CACHE_HOME:-$HOME/.cache}/fpdb/aarch64

if ! { command -v aarch64-linux-gnu-g++ && command -v qemu-aarch64; } >/dev/null; then
    apt-get install -y -q gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user
fi

# Debian's rustc and the library for aarch64, unpacked into the folder $1.
unpack_debians_rust() {
    local runtime
    dpkg --add-architecture arm64
    apt-get update -q
    mkdir -p "$cache/packages" "$1"
    runtime=$(apt-cache depends libstd-rust-web-dev:amd64 | sed -n 's/.*Depends: \(libstd-rust-web-[0-9.]*\).*/\1/p')
    (
        cd "$cache/packages"
        apt-get download rustc-web "$runtime" libstd-rust-web-dev "libstd-rust-web-dev:arm64"
        # The compiler needs the LLVM that it was built with.
        apt-get download "$(dpkg -I "$runtime"_*_amd64.deb | grep -o 'libllvm[0-9]*')"
        for package in *.deb; do dpkg -x "$package" "$1"; done
    )
    rm -r "$cache/packages"
}

if ! rustup target list --installed 2>/dev/null | grep -qx "$target"; then
    rust=$cache/rust
    if [[ ! -x $rust/usr/bin/rustc ]]; then
        rm -rf "$cache/packages" "$rust" "$rust.new"
        unpack_debians_rust "$rust.new"
        mv "$rust.new" "$rust"
    fi
    export RUSTC=$rust/usr/bin/rustc RUSTDOC=$rust/usr/bin/rustdoc
    export LD_LIBRARY_PATH=$rust/usr/lib/x86_64-linux-gnu
    # The files of this compiler must not mix with files of the compiler of the host.
    export CARGO_TARGET_DIR=target/aarch64
fi

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu'
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++
export BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu='--sysroot=/usr/aarch64-linux-gnu -I/usr/aarch64-linux-gnu/include'
cargo test --release --locked --target "$target" "${members[@]}" --no-fail-fast
