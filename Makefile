# Forwards only: the build is Meson's, see meson.build.
BUILD ?= build

.PHONY: all report check install-deps install uninstall packages clean

all: install-deps
	@scripts/build.sh $(BUILD)

# Where did this machine's kernel put its large hashes?
report: all
	@scripts/report.sh $(BUILD)

# Builds and passes all tests; TESTS='--no-suite kernels' and the like choose among them.
check:
	@scripts/install-deps.sh check
	@scripts/build.sh $(BUILD) -Dtests=true
	@scripts/check.sh $(BUILD) $(TESTS)

install-deps:
	@scripts/install-deps.sh build

# DESTDIR=, PREFIX=; what was installed without DESTDIR, uninstall removes again.
PREFIX ?= /usr/local
install: install-deps
	@scripts/build.sh $(BUILD) --prefix=$(PREFIX)
	@meson install -C $(BUILD) --no-rebuild --quiet

uninstall:
	@ninja -C $(BUILD) uninstall

# A reproducible archive, and Debian packages built from it, in $(BUILD)/packages.
packages:
	@scripts/install-deps.sh package
	@scripts/package.sh $(BUILD)/packages

clean:
	rm -rf $(BUILD)
