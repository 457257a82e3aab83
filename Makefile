# The one door of the project: `make help` lists what there is.
#
# ONE optimised profile everywhere: every cargo command below builds `--release --locked` (the bench profile has the
# same settings), so that RocksDB's 340 C++ files are compiled once per machine and not once per profile.
# Through ccache, where there is one, even a lost target folder costs a minute only. Which compiler is used is part of
# what cargo remembers, so a bare `cargo build` beside these targets compiles RocksDB again; prefer the targets.

.DEFAULT_GOAL := help
.NOTPARALLEL:

TARGET := $(or $(CARGO_TARGET_DIR),target)
FPDB := $(TARGET)/release/fpdb
PREFIX ?= $(or $(CARGO_HOME),$(HOME)/.cargo)

# A compiler named by the caller is left alone. Looked at when a recipe begins, for `setup` may just have brought ccache.
ifeq ($(origin CC)/$(origin CXX),default/default)
COMPILERS = $(if $(shell command -v ccache 2>/dev/null),CC="ccache cc" CXX="ccache c++")
endif
# Where the random tests begin. A change is checked by what it does, not by the luck of the draw, so `test` always draws
# the same cases and `soak` new ones: make test SEED=7 draws others.
SEED ?= 2003
# The bindings ask the interpreter they are compiled for.
PYTHON_PACKAGE = $(if $(shell command -v "$${FPDB_PYTHON:-python3}" 2>/dev/null),-p fpdb-python)
CARGO = $(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" cargo

.PHONY: help setup build demo test test-spark wheel wheel-portable check bench soak sanitize install install-pages

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make this machine able to build: compilers and libclang, installed where missing
	@tools/setup.sh

build: setup ## compile the program: release/fpdb in the target folder
	$(CARGO) build --release --locked

demo: build ## a small database made, queried and explained, from data-samples/
	@tools/demo.sh "$(abspath $(FPDB))"

test: setup ## all tests, those in the documentation included; of the HTML report too, where there is a Chromium; of the Python package
	PROPTEST_RNG_SEED=$(SEED) $(CARGO) test --release --locked
	$(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/python.sh test
	@command -v chromium chromium-browser google-chrome >/dev/null || [ -n "$(FPDB_CHROMIUM)" ] || \
	  echo "SKIPPED the tests of the HTML report in a browser: no Chromium here; tools/setup.sh --browser installs it"

test-spark: setup ## the tests with Spark: a master and two workers on loopback, started and ended here
	@$(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/spark.sh

wheel: setup ## the Python package: one wheel in target/wheels/
	$(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/python.sh wheel

wheel-portable: setup ## the same for Linux with glibc 2.28 and later (manylinux_2_28): linked by zig, which comes from PyPI
	$(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/python.sh wheel --portable

check: setup ## formatting, lints (of the library alone and of the bindings too), documentation, the walls between modules, the public surface, licences of dependencies
	cargo fmt --check
	tools/check-walls.sh
	$(CARGO) clippy --release --locked -p fpdb -p measure $(PYTHON_PACKAGE) --all-targets -- -D warnings
	$(CARGO) clippy --release --locked -p fpdb --no-default-features --lib --example in_memory -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --locked --no-deps
	$(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/check-api.sh
	CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/check-deny.sh

bench: setup ## measure speed
	$(CARGO) bench --locked

soak: setup ## the long tests that `make test` leaves out, of the Python package and with Spark too, and each fuzz target for a minute, where there is cargo-fuzz
	$(CARGO) test --release --locked --tests -- --ignored
	FPDB_SOAK=1 $(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/python.sh test
	FPDB_SOAK=1 $(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/spark.sh
	@$(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" tools/fuzz.sh

sanitize: setup ## the tests of code with `unsafe` under AddressSanitizer; needs a nightly toolchain
	$(COMPILERS) CARGO_TARGET_DIR="$(abspath $(TARGET))" RUSTFLAGS=-Zsanitizer=address \
	  cargo +nightly test --release --locked --lib --target "$$(rustc -vV | sed -n 's/^host: //p')" -- lanes winnow kgram normalize kernel

install: setup ## put fpdb, its manual pages and completions into PREFIX, cargo's own folder unless given: make install PREFIX=/usr/local
	$(CARGO) install --path . --locked --root "$(PREFIX)" --target-dir "$(abspath $(TARGET))"
	@$(MAKE) --no-print-directory install-pages

# Where `man` and the shells look for what belongs to a program in PREFIX/bin.
install-pages:
	@"$(PREFIX)/bin/fpdb" man --dir "$(PREFIX)/share/man/man1"
	@install -d "$(PREFIX)/share/bash-completion/completions" "$(PREFIX)/share/zsh/site-functions" "$(PREFIX)/share/fish/vendor_completions.d"
	@"$(PREFIX)/bin/fpdb" completions bash >"$(PREFIX)/share/bash-completion/completions/fpdb"
	@"$(PREFIX)/bin/fpdb" completions zsh >"$(PREFIX)/share/zsh/site-functions/_fpdb"
	@"$(PREFIX)/bin/fpdb" completions fish >"$(PREFIX)/share/fish/vendor_completions.d/fpdb.fish"
