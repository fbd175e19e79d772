# The commands people type. CMake does the building: each preset lives in build/<preset>.

JOBS       ?= $(shell nproc)
TEST_JOBS  ?= 2
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

.PHONY: help setup build all demo test asan tsan bench lint format clean install

help: ## list these targets
	@echo 'Souk: a community market of computers for machine learning. Try: make demo'
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	  while IFS='|' read -r target what; do printf '%-14s %s\n' "$$target" "$$what"; done
	@echo 'Variables: JOBS=$(JOBS) TEST_JOBS=$(TEST_JOBS) PREFIX=$(PREFIX) TIDY=changed|all'

setup: ## install the Debian packages that building needs, if absent
	@$(SETUP)

# Configures a preset once; again only when the presets change. CMake itself notices the rest.
build/%/build.ninja: CMakePresets.json
	@$(SETUP)
	cmake --preset $*
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

asan: build/asan/build.ninja ## unit tests under AddressSanitizer and UBSan
	cmake --build build/asan -j $(JOBS) --target unit_tests
	ctest --test-dir build/asan -L unit $(CTEST_OPTS)

tsan: build/tsan/build.ninja ## concurrency tests under ThreadSanitizer
	cmake --build build/tsan -j $(JOBS) --target concurrency_tests
	ctest --test-dir build/tsan -L concurrency $(CTEST_OPTS)

bench: all ## build and run the benchmarks
	@found=; for b in build/release/bin/*_bench; do \
	  [ -x "$$b" ] || continue; found=yes; echo "== $$b"; "$$b" || exit; \
	done; [ -n "$$found" ] || { echo 'bench: no *_bench in build/release/bin' >&2; exit 1; }
	@SOUK_BIN=$(CURDIR)/$(SOUK) bench/start.py

lint: build/release/build.ninja ## format, layering, sizes, text, scripts, clang-tidy
	@scripts/setup lint
	@scripts/check format layering sizes text shell
	@scripts/check tidy $(if $(filter all,$(TIDY)),--all)

format: ## reformat the sources in place
	@scripts/check format --fix

clean: ## remove build/
	rm -rf build

install: build ## copy souk to PREFIX, with its trainer, examples and a unit for systemd
	install -D -m 755 $(SOUK) $(DESTDIR)$(PREFIX)/bin/souk
	install -D -m 755 $(SOUK)-torch $(DESTDIR)$(PREFIX)/bin/souk-torch
	install -d $(DESTDIR)$(PREFIX)/share/souk/python/souk $(DESTDIR)$(PREFIX)/share/souk/examples
	install -m 644 sdk/python/src/souk/* $(DESTDIR)$(PREFIX)/share/souk/python/souk
	install -m 644 examples/*.yaml $(DESTDIR)$(PREFIX)/share/souk/examples
	install -D -m 644 dist/souk-lend.service $(DESTDIR)$(PREFIX)/lib/systemd/user/souk-lend.service
