# A thin front for Meson. `make help` lists the targets.
BUILD  = build
PREFIX = /usr/local
TIME   = 60

.PHONY: all run test fuzz install clean help format

all:
	@tools/packages build
	@test -f $(BUILD)/default.tem || echo "building $(BUILD)/tem and the default model"
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) >/dev/null
	@ninja -C $(BUILD) --quiet >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }

run: all
	@tools/show $(BUILD)

test: all
	@tools/packages test
	@tests/run

fuzz:
	@tools/packages test
	@fuzz/run $(TIME)

install: all
	@meson configure $(BUILD) --prefix '$(PREFIX)'
	@ninja -C $(BUILD) --quiet >$(BUILD)/ninja.log || { cat $(BUILD)/ninja.log; exit 1; }
	@mkdir -p '$(DESTDIR)$(PREFIX)' && test -w '$(DESTDIR)$(PREFIX)' || \
		{ echo "cannot write to $(PREFIX): use sudo, or PREFIX=\$$HOME/.local"; exit 1; }
	@meson install -C $(BUILD) --no-rebuild --quiet
	@echo "installed under $(PREFIX)"

format:
	@clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build build-*

help:
	@echo "make                  build $(BUILD)/tem, the libraries and the default model"
	@echo "make run              the same, then show what tem does"
	@echo "make test             run every test"
	@echo "make fuzz TIME=60     fuzz each target for TIME seconds"
	@echo "make install PREFIX=  install under PREFIX ($(PREFIX)), with pkg-config"
	@echo "make format           run clang-format over the sources"
	@echo "make clean            remove what was built"
