# The commands people type. CMake does the building: each preset lives in build/<preset>.

JOBS       ?= $(shell nproc)
# Tests of processes wait more than they compute.
TEST_JOBS  ?= 6
PREFIX     ?= /usr/local
SETUP      ?= scripts/setup build
TIDY       ?= changed
SOUK       := build/release/bin/souk
CTEST_OPTS := --output-on-failure --no-tests=error -j $(TEST_JOBS)

# Sanitizer reports name functions and lines when a symbolizer is installed.
SYMBOLIZER := $(shell command -v llvm-symbolizer-19 llvm-symbolizer 2>/dev/null | head -n 1)
ifneq ($(SYMBOLIZER),)
export ASAN_SYMBOLIZER_PATH ?= $(SYMBOLIZER)
endif
export UBSAN_OPTIONS ?= print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1 $(if $(SYMBOLIZER),external_symbolizer_path=$(SYMBOLIZER))

.PHONY: help setup build all demo test flaky asan tsan fuzz bench lint format clean package install

help: ## list these targets
	@echo 'Souk: a community market of computers for machine learning. Try: make demo'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r target what; do printf '%-14s %s\n' "$$target" "$$what"; done
	@echo 'Variables: JOBS=$(JOBS) TEST_JOBS=$(TEST_JOBS) PREFIX=$(PREFIX) TIDY=changed|all SECONDS=60'

setup: ## install the Debian packages that building needs, if absent
	@$(SETUP)

# Configures a preset once; again only when the presets change. CMake itself notices the rest.
build/%/build.ninja: CMakePresets.json
	@$(SETUP)
	cmake --preset $* $(if $(ONLY),'-DSOUK_ONLY=$(ONLY)')
	@touch $@

build: build/release/build.ninja ## build build/release/bin/souk and souk-torch
	cmake --build build/release -j $(JOBS) --target souk souk-torch

all: build/release/build.ninja ## build everything, with tests and benchmarks
	cmake --build build/release -j $(JOBS)

demo: ## a market on this machine: lend, train a model, settle
	@scripts/setup build data
	@$(MAKE) --no-print-directory SETUP=: build
	$(SOUK) demo

test: ## build everything and run every test
	@scripts/setup build test data
	@$(MAKE) --no-print-directory SETUP=: all
	ctest --test-dir build/release $(CTEST_OPTS)

flaky: ## tests of processes on an idle, a busy, a one-core and a slow machine; N=5: five times
	@scripts/setup build test data
	@$(MAKE) --no-print-directory SETUP=: all
	@scripts/flaky $(or $(N),1)

asan: build/asan/build.ninja ## unit tests under AddressSanitizer and UBSan; ONLY='wire;net': of these folders
	cmake --build build/asan -j $(JOBS) --target unit_tests
	ctest --test-dir build/asan -L unit $(CTEST_OPTS)

tsan: build/tsan/build.ninja ## concurrency tests under ThreadSanitizer
	cmake --build build/tsan -j $(JOBS) --target concurrency_tests
	ctest --test-dir build/tsan -L concurrency $(CTEST_OPTS)

fuzz: build/fuzz/build.ninja ## feed parsers broken bytes for SECONDS in all; FUZZ='json csv': only these
	cmake --build build/fuzz -j $(JOBS) --target $(if $(FUZZ),$(FUZZ:%=fuzz_%),fuzzers)
	@fuzz/run --seconds $(or $(SECONDS),60) $(FUZZ)

bench: all ## build and run the benchmarks
	@found=; for b in build/release/bin/*_bench; do \
	  [ -x "$$b" ] || continue; found=yes; echo "== $$b"; "$$b" || exit; \
	done; [ -n "$$found" ] || { echo 'bench: no *_bench in build/release/bin' >&2; exit 1; }
	@SOUK_BIN=$(CURDIR)/$(SOUK) bench/start.py
	@SOUK_BIN=$(CURDIR)/$(SOUK) bench/environment.py
	@SOUK_BIN=$(CURDIR)/$(SOUK) bench/hostile.py
	@cd web && SOUK_BARS=1 SOUK_BIN=$(CURDIR)/$(SOUK) npx playwright test speed.spec.ts

lint: ## format, layering, sizes, names, text, scripts, clang-tidy
	@scripts/setup lint
	@scripts/check format layering sizes names text shell
	@scripts/check tidy $(if $(filter all,$(TIDY)),--all)

format: ## reformat the sources in place
	@scripts/check format --fix

clean: ## remove build/
	rm -rf build

package: build ## make a bundle, Debian packages and a list of what is in them: build/package
	@scripts/package

install: build ## copy souk to PREFIX, with its trainer, units, manuals, completion and examples
	scripts/package stage "$(DESTDIR)" "$(PREFIX)"
	install -D -m 755 $(SOUK)-torch $(DESTDIR)$(PREFIX)/bin/souk-torch
