# The one door of the project: `make help` lists what there is.
#
# ONE optimised profile everywhere: every cargo command below builds `--release --locked` (the bench profile has the
# same settings), so that RocksDB's 340 C++ files are compiled once per machine and not once per profile.
# .cargo/config.toml names the compilers, for these targets and for any other way of building: a bare `cargo build
# --release` beside them compiles nothing again. Through ccache, where there is one, even a lost target folder costs a
# minute only.

.DEFAULT_GOAL := help
.NOTPARALLEL:

export CARGO_TARGET_DIR ?= $(CURDIR)/target
FPDB := $(CARGO_TARGET_DIR)/release/fpdb
PREFIX ?= $(or $(CARGO_HOME),$(HOME)/.cargo)

# Where the random tests begin. A change is checked by what it does, not by the luck of the draw, so `test` always draws
# the same cases and `soak` new ones: make test SEED=7 draws others.
SEED ?= 2003
# The lines of JSON that the tests print, for the check against docs/schemas.
JSON_LINES = $(CARGO_TARGET_DIR)/json-lines
# The bindings ask the interpreter they are compiled for.
MEMBERS = -p fpdb -p fpdb-apply -p fpdb-cli -p fpdb-dedup -p fpdb-host -p fpdb-kernel -p fpdb-passages -p fpdb-reading -p fpdb-serve -p fpdb-store
PYTHON_PACKAGE = $(if $(shell command -v "$${FPDB_PYTHON:-python3}" 2>/dev/null),-p fpdb-python)

.PHONY: help setup build demo test test-spark wheel wheel-portable dist test-dist test-aarch64 site check quick check-builds bench soak sanitize install install-pages

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: ## make this machine able to build: compilers and libclang, installed where missing
	@tools/setup.sh

build: setup ## compile the program: release/fpdb in the target folder
	cargo build --release --locked

demo: build ## a small database made, queried and explained, from data-samples/
	@tools/demo.sh "$(FPDB)"

test: setup ## all tests, those in the documentation included; of the HTML report too, where there is a Chromium; of the Python package
	rm -rf "$(JSON_LINES)"
	FPDB_JSON_LINES="$(JSON_LINES)" PROPTEST_RNG_SEED=$(SEED) cargo test --release --locked
	FPDB_JSON_LINES="$(JSON_LINES)" tools/python.sh test
	@command -v chromium chromium-browser google-chrome >/dev/null || [ -n "$(FPDB_CHROMIUM)" ] || \
	  echo "SKIPPED the tests of the HTML report in a browser: no Chromium here; tools/setup.sh --browser installs it"

test-spark: setup ## the tests with Spark: a master and two workers on loopback, started and ended here
	@tools/spark.sh

wheel: setup ## the Python package: one wheel in target/wheels/
	tools/python.sh wheel

wheel-portable: setup ## the same for Linux with glibc 2.28 and later (manylinux_2_28): linked by zig, which comes from PyPI
	tools/python.sh wheel --portable

dist: setup ## what people install, in target/dist/: archive, Debian package, portable wheel, source of the Python package, SBOM, sums
	@tools/dist.sh

test-dist: ## tries target/dist/ in clean Debian systems; needs root, mmdebstrap and lintian
	@tools/test-dist.sh

test-aarch64: ## the tests of the kernel and the store on aarch64, in QEMU; needs root on Debian
	tools/aarch64.sh

site: build ## the documentation as a site, in target/site/book/, by mdBook, which comes from PyPI where there is none
	@tools/site.sh "$(FPDB)"

check: setup ## formatting, lints (of the library without formats and of the bindings too), documentation, its links, the walls between modules, the public surface, licences of dependencies
	cargo fmt --check
	tools/check-walls.sh
	python3 tools/site.py check
	cargo clippy --release --locked $(MEMBERS) -p measure $(PYTHON_PACKAGE) --all-targets -- -D warnings
	cargo clippy --release --locked -p fpdb --no-default-features --lib --example in_memory -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --locked --no-deps
	tools/check-api.sh
	tools/check-deny.sh
	python3 tools/dist/parts.py fpdb-cli "$$(rustc -vV | sed -n 's/^host: //p')" 0 sbom >/dev/null

quick: setup ## a check of a small change in under a minute: formatting, walls, compilation, unit tests of changed members
	@tools/quick.sh

check-builds: setup ## that C and C++ are compiled once, whatever builds: bare cargo, maturin, the dev profile, another folder
	tools/check-builds.sh

bench: setup ## measure speed
	cargo bench --locked

soak: setup ## the long tests that `make test` leaves out, of the Python package and with Spark too, and each fuzz target for a minute, where there is cargo-fuzz
	cargo test --release --locked --tests -- --ignored
	FPDB_SOAK=1 tools/python.sh test
	FPDB_SOAK=1 tools/spark.sh
	tools/check-openapi.sh
	tools/check-accessibility.sh
	@tools/fuzz.sh

sanitize: setup ## the tests of code with `unsafe` under AddressSanitizer; needs a nightly toolchain
	RUSTFLAGS=-Zsanitizer=address cargo +nightly test --release --locked -p fpdb-kernel --lib --target "$$(rustc -vV | sed -n 's/^host: //p')"

install: setup ## put fpdb, its manual pages and completions into PREFIX, cargo's own folder unless given: make install PREFIX=/usr/local
	cargo install --path cli --locked --root "$(PREFIX)"
	@$(MAKE) --no-print-directory install-pages

# Where `man` and the shells look for what belongs to a program in PREFIX/bin.
install-pages:
	@"$(PREFIX)/bin/fpdb" man --dir "$(PREFIX)/share/man/man1"
	@install -d "$(PREFIX)/share/bash-completion/completions" "$(PREFIX)/share/zsh/site-functions" "$(PREFIX)/share/fish/vendor_completions.d"
	@"$(PREFIX)/bin/fpdb" completions bash >"$(PREFIX)/share/bash-completion/completions/fpdb"
	@"$(PREFIX)/bin/fpdb" completions zsh >"$(PREFIX)/share/zsh/site-functions/_fpdb"
	@"$(PREFIX)/bin/fpdb" completions fish >"$(PREFIX)/share/fish/vendor_completions.d/fpdb.fish"
