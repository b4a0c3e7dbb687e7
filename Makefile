# A thin front for Meson. `make help` lists the targets.
BUILD   = build
WEB     = build-web
PREFIX  = /usr/local
TIME    = 60
# Options of meson setup, for a build directory that does not exist yet.
OPTIONS =

.PHONY: all run raw check test test-sanitized test-python test-planted test-cluster test-operators \
	wheel wasm test-wasm page test-page fuzz bench install uninstall clean help format

all:
	@tools/packages build
	@test -f $(BUILD)/tem || echo "building $(BUILD)/tem"
	@mkdir -p $(BUILD)
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) $(OPTIONS) >$(BUILD)/setup.log || \
		{ cat $(BUILD)/setup.log; exit 1; }
	@ninja -C $(BUILD) --quiet >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }

run: all
	@ninja -C $(BUILD) --quiet raw.tem >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }
	@tools/show $(BUILD)

# Whoever runs this has built the model and verified its certificates, and so trusts both.
raw: all
	@ninja -C $(BUILD) --quiet raw >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }
	@$(BUILD)/tem verify -m $(BUILD)/raw.tem

check:
	@tools/packages check
	@tests/run --quick

# tests/run makes its own builds by 'all', into other directories. Of these, build-test is the one of
# 'all' with the tests: BUILD=build-test gives it to other targets, which then build nothing again.
test:
	@tools/packages test
	@tests/run

test-sanitized:
	@tools/packages test
	@tests/run --sanitized

test-python:
	@tools/packages test
	@tests/run --python

# Plants faults into the sources, one at a time, and requires a named test to reject each.
test-planted:
	@tools/packages test
	@tests/run --planted

test-cluster: all
	@tools/packages cluster
	@tests/check-cluster $(BUILD)

test-operators: all
	@tools/packages python
	@tests/check-operators $(BUILD)

wheel:
	@tools/packages python
	@tools/make-wheel $(BUILD)/wheel

# WEB: where everything for the browser goes.
wasm: all
	@tools/packages wasm
	@tools/packages wasm-sources $(WEB)/sources
	@$(MAKE) --no-print-directory -C web/wasm BUILD='$(abspath $(BUILD))' OUT='$(abspath $(WEB))'

test-wasm: wasm
	@web/tests/run $(BUILD) $(WEB)

page: wasm
	@web/page/make-page $(WEB)/tem.wasm $(WEB)/default.temweb data/english-small.temng \
		$(WEB)/page.html
	@echo "made $(WEB)/page.html"

test-page: page
	@tools/packages page
	@web/tests/run-page $(BUILD) $(WEB)

fuzz:
	@tools/packages test
	@fuzz/run $(TIME)

# IMDB: the unpacked aclImdb folder, for what is measured on real text. VECTORS: where
# tools/fetch-vectors left its files. BENCH: options of bench/run, such as --resume.
bench: all
	@tools/packages bench
	@meson setup --reconfigure $(BUILD) -Dbench=true >$(BUILD)/setup.log || \
		{ cat $(BUILD)/setup.log; exit 1; }
	@ninja -C $(BUILD) --quiet all raw >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }
	@bench/make-venv $(BUILD)/bench-venv
	@bench/run --build $(BUILD) --python $(BUILD)/bench-venv/bin/python3 $(BENCH)
	@bench/run --build $(BUILD) --write
	@echo "wrote docs/BENCHMARKS.md"

install: all
	@meson configure $(BUILD) --prefix '$(PREFIX)'
	@ninja -C $(BUILD) --quiet >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }
	@mkdir -p '$(DESTDIR)$(PREFIX)' && test -w '$(DESTDIR)$(PREFIX)' || \
		{ echo "cannot write to $(PREFIX): use sudo, or PREFIX=\$$HOME/.local"; exit 1; }
	@meson install -C $(BUILD) --no-rebuild --quiet
	@test -n '$(DESTDIR)' || test "$$(id -u)" != 0 || ldconfig # the loader finds libtem.so
	@echo "installed under $(PREFIX)"

# Removes the files that the last 'make install' wrote, and the directories that it made.
uninstall:
	@test -f '$(BUILD)/meson-logs/install-log.txt' || \
		{ echo "$(BUILD) was not installed: there is no list of its files"; exit 1; }
	@ninja -C $(BUILD) uninstall >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }
	@rm '$(BUILD)/meson-logs/install-log.txt'
	@test "$$(id -u)" != 0 || ldconfig
	@echo "removed what 'make install' had installed"

format:
	@tools/packages format
	@clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build build-*

help:
	@echo "make                  build $(BUILD)/tem, the libraries and the default model"
	@echo "make run              the same, then show what tem does"
	@echo "make raw              build and verify $(BUILD)/raw.tem, the model of docs/EVALUATION.md"
	@echo "make check            run the quick tests, which need no network; before every commit"
	@echo "make test             run every test of the program, in the build with gcc"
	@echo "make test-sanitized   the same with clang and its sanitizers, faults and fuzz corpora"
	@echo "make test-python      build, install and test the Python package"
	@echo "make test-planted     test the tests: each must reject the faults that are planted for it"
	@echo "make test-cluster     run the tests on Spark and Dask, on clusters of this machine"
	@echo "make test-operators   run the tests with Presidio, DuckDB and LangChain"
	@echo "make wheel            make $(BUILD)/wheel/tem-*.whl, a Python wheel that needs no library"
	@echo "make wasm             build $(WEB)/tem.wasm, its model and the npm package (docs/WEB.md)"
	@echo "make test-wasm        compare that package with the native program"
	@echo "make page             make $(WEB)/page.html, the page on which text never leaves the browser"
	@echo "make test-page        test that page in chromium"
	@echo "make fuzz TIME=60     fuzz each target for TIME seconds"
	@echo "make bench IMDB=DIR   measure tem beside the alternatives, write docs/BENCHMARKS.md"
	@echo "make install PREFIX=  install under PREFIX ($(PREFIX)), with pkg-config and CMake files"
	@echo "make uninstall        remove what make install has installed"
	@echo "make format           run clang-format over the sources"
	@echo "make clean            remove what was built"
