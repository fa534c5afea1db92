# Forwards only: the build is Meson's, see meson.build.
BUILD ?= build

.PHONY: all report check install-deps clean

all: install-deps
	@scripts/build.sh $(BUILD)

# Where did this machine's kernel put its large hashes?
report: all
	@scripts/report.sh $(BUILD)

# Builds and passes all tests.
check:
	@scripts/install-deps.sh check
	@scripts/build.sh $(BUILD) -Dtests=true
	@scripts/check.sh $(BUILD)

install-deps:
	@scripts/install-deps.sh build

clean:
	rm -rf $(BUILD)
