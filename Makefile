# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make            build everything into build/
#   make demo       a real job on a real kernel, from nothing to the table; make demo-stop ends its daemon
#   make test       the tests (dependencies included); T=name runs those that match
#   make test-long  the static checks, and the tests that take long
#   make check      the inner loop: unit and http tests
#   make lint       warnings of gcc and clang, clang-tidy, cppcheck, dependency directions
#   make fuzz       every parser under libFuzzer, FUZZ_S seconds each
#   make bench      the measurements
#   make docs       man pages and completions
#   make install    DESTDIR= PREFIX=; make uninstall takes it away again
#   make deb        Debian packages, in build/deb
#   make help       this

BUILD ?= build
ifeq ($(origin CC),default)
CC = gcc
endif
PREFIX ?= /usr/local
WERROR ?= -Werror
SANITIZE ?=

PACKAGES = glib-2.0 gio-2.0 gio-unix-2.0 json-glib-1.0 libmicrohttpd sqlite3 libvirt libvirt-qemu libxml-2.0 gsl \
	libcurl gmime-3.0 libsystemd libseccomp
# looked up when first needed, so that `make demo` can install them before
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PACKAGES)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PACKAGES)))$(PKG_LIBS)
GLIB_LIBS = $(eval GLIB_LIBS := $$(shell pkg-config --static --libs glib-2.0))$(GLIB_LIBS)

CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wformat=2 $(WERROR)
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -I. -I$(BUILD) $(WARNINGS) $(CFLAGS) $(SANITIZE) $(PKG_CFLAGS) \
	-DREGRLAB_PREFIX='"$(PREFIX)"'

MAINS = daemon/main.c jobs/main.c client/main.c host/main.c
SOURCES = $(filter-out $(MAINS),$(wildcard jobs/spec/*.c jobs/stats/*.c host/*.c jobs/*.c db/*.c web/*.c daemon/*.c mail/*.c client/*.c))
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY = $(BUILD)/libregrlab.a
PROGRAMS = $(BUILD)/regrlabd $(BUILD)/regrlab-job $(BUILD)/regrlab $(BUILD)/regrlab-host
UNIT = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test-*.c))
DRIVERS = $(patsubst tests/oracle/%.c,$(BUILD)/tests/%,$(wildcard tests/oracle/*.c))
REPLAYS = $(patsubst tests/fuzz/%.c,$(BUILD)/tests/%,$(wildcard tests/fuzz/fuzz-*.c))
FUZZERS = $(patsubst tests/fuzz/%.c,$(BUILD)/fuzzers/%,$(wildcard tests/fuzz/fuzz-*.c))
BENCHES = $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(wildcard tests/bench/*.c))
CPUS := $(shell nproc)
# what `make test` runs its tests on
ASAN = BUILD=$(BUILD)/asan SANITIZE="-fsanitize=address,undefined -fno-omit-frame-pointer" CFLAGS="-O1 -g"

.PHONY: all help uninstall deb programs tests demo demo-stop deps test test-long sanitized check lint fuzz bench install clean
.DELETE_ON_ERROR:
.SECONDARY:

all: programs

help:
	@sed -n 's/^#   make/make/p' Makefile

# what is embedded (GENERATED): the migrations of the database and the static files of the pages
include $(wildcard */Makefile.inc)

programs: $(PROGRAMS) $(BUILD)/guest.cpio $(BUILD)/make-doc
tests: $(UNIT) $(DRIVERS) $(REPLAYS)

# a word a file; the whole command with V=1
SAY = $(if $(V),,@echo "  $(1) $@";)

$(BUILD)/%.o: %.c | $(GENERATED)
	@mkdir -p $(@D)
	$(call SAY,CC)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIBRARY): $(OBJECTS)
	@rm -f $@
	$(call SAY,AR)$(AR) qcs $@ $^

LINK = $(call SAY,LD)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(LIBRARY) $(PKG_LIBS) -lm

$(BUILD)/regrlabd: $(BUILD)/daemon/main.o $(LIBRARY)
	$(LINK)
$(BUILD)/regrlab-job: $(BUILD)/jobs/main.o $(LIBRARY)
	$(LINK)
$(BUILD)/regrlab: $(BUILD)/client/main.o $(LIBRARY)
	$(LINK)

# Copied to other machines, so nothing may be missing there: GLib alone, linked statically (sanitizers cannot be). The
# linker's warnings are of name look-ups within GLib that the program never makes.
HOST_LDFLAGS = $(if $(SANITIZE),,-static -Wl,--no-warnings)
$(BUILD)/regrlab-host: $(BUILD)/host/main.o $(LIBRARY)
	$(call SAY,LD)$(CC) $(ALL_CFLAGS) $(HOST_LDFLAGS) -o $@ $^ $(GLIB_LIBS) -lm

$(UNIT): $(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(LIBRARY)
	$(LINK)
$(DRIVERS): $(BUILD)/tests/%: $(BUILD)/tests/oracle/%.o $(LIBRARY)
	$(LINK)
$(REPLAYS): $(BUILD)/tests/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/replay.o $(LIBRARY)
	$(LINK)
$(FUZZERS): $(BUILD)/fuzzers/%: $(BUILD)/tests/fuzz/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(LINK) -fsanitize=fuzzer
$(BENCHES): $(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(LIBRARY)
	@mkdir -p $(@D)
	$(LINK)

-include $(shell find $(BUILD) -type f -name '*.d' -not -path '$(BUILD)/*/asan/*' 2>/dev/null)

deps:
	@deploy/install-deps build run

demo: deps
	@deploy/demo

demo-stop:
	@deploy/demo-stop

# The tests run on programs with sanitizers, but for the oracles, which compute a lot. T=stats or T=http/submit picks some, V=1
# shows what they print.
test: sanitized
	@tests/run --build $(BUILD)/asan --plain $(BUILD) $(T)

test-long: sanitized
	@tests/run --build $(BUILD)/asan --plain $(BUILD) --long $(T)

sanitized:
	@deploy/install-deps build run test
	@$(MAKE) -j$(CPUS) --no-print-directory -Otarget programs drivers
	@$(MAKE) -j$(CPUS) --no-print-directory -Otarget $(ASAN) programs tests

# the inner loop: on the plain programs, and nothing that takes long; T= picks from the long ones, too
check:
	@$(MAKE) -j$(CPUS) --no-print-directory -Otarget programs tests
	@tests/run --build $(BUILD) --only unit,http,fuzz --quick $(T)

lint:
	@deploy/install-deps build run test
	@$(MAKE) -j$(CPUS) --no-print-directory -Otarget programs
	@tests/run --build $(BUILD) --only lint $(T)

# FUZZ_S seconds of processor time for each target; what they find is left in $(BUILD)/fuzz. FUZZ_RECORD=tests/fuzz/record.txt
# adds to what that table has
FUZZ_S ?= 60
fuzz:
	@deploy/install-deps build test
	@$(MAKE) -j$(CPUS) --no-print-directory -Otarget BUILD=$(BUILD)/fuzz CC=clang CFLAGS="-O1 -g" \
		SANITIZE="-fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer" fuzzers
	@tests/fuzz/run $(BUILD)/fuzz $(FUZZ_S) $(FUZZ_RECORD)
.PHONY: fuzzers
fuzzers: $(FUZZERS)

bench:
	@$(MAKE) -j$(CPUS) --no-print-directory -Otarget programs benches
	@tests/run --build $(BUILD) --only bench --verbose $(T)
.PHONY: benches drivers
benches: $(BENCHES)
drivers: $(DRIVERS)

UNITDIR ?= $(PREFIX)/lib/systemd/system
SHARE = $(DESTDIR)$(PREFIX)/share
ZSH_FUNCTIONS = $(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)

install: programs docs
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/regrlab $(SHARE)/regrlab/benchmarks $(SHARE)/regrlab/configs \
		$(SHARE)/doc/regrlab $(SHARE)/bash-completion/completions $(SHARE)/zsh/$(ZSH_FUNCTIONS) $(DESTDIR)$(UNITDIR) \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d $(DESTDIR)$(PREFIX)/lib/tmpfiles.d
	install -m 755 $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/guest.cpio $(DESTDIR)$(PREFIX)/lib/regrlab
	install -m 644 jobs/benchmarks/*.ini $(SHARE)/regrlab/benchmarks
	install -m 644 guest-image/configs/* $(SHARE)/regrlab/configs
	for page in $(MAN_PAGES); do install -D -m 644 $$page $(SHARE)/man/man$${page##*.}/$${page##*/} || exit 1; done
	install -m 644 $(BUILD)/completion/regrlab $(SHARE)/bash-completion/completions
	install -m 644 $(BUILD)/completion/_regrlab $(SHARE)/zsh/$(ZSH_FUNCTIONS)
	for unit in deploy/systemd/*.service deploy/systemd/*.socket deploy/systemd/*.timer deploy/systemd/*.slice; do \
		sed 's|/usr/local/bin/|$(PREFIX)/bin/|' $$unit > $(DESTDIR)$(UNITDIR)/$${unit##*/} || exit 1; done
	install -m 644 deploy/systemd/regrlab.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/regrlab.conf
	install -m 644 deploy/systemd/regrlab.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/regrlab.conf
	install -m 644 README.md ARCHITECTURE.md SECURITY.md COPYING $(BUILD)/regrlab.conf.example deploy/systemd/regrlabd-network.conf \
		$(wildcard doc/*.md) $(SHARE)/doc/regrlab

# what make install with the same DESTDIR and PREFIX has put there; not what the lab has made since
uninstall:
	@rm -rf $(BUILD)/manifest
	@$(MAKE) -s --no-print-directory DESTDIR=$(abspath $(BUILD))/manifest install
	@cd $(BUILD)/manifest && find . -type f -printf '%P\0' | (cd $(or $(DESTDIR),/) && xargs -0 rm -f)
	@cd $(BUILD)/manifest && find . -depth -type d -path '*/regrlab*' -printf '%P\0' | \
		(cd $(or $(DESTDIR),/) && xargs -0 -r rmdir --ignore-fail-on-non-empty 2>/dev/null || true)
	@rm -rf $(BUILD)/manifest

# the Debian packages, in build/deb; DEB_VERSION= is another version than the changelog's
DEB_VERSION ?= $(shell sed -n '1s/.*(\(.*\)).*/\1/p' deploy/debian/changelog)
deb:
	@deploy/install-deps build deb
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb/regrlab
	@git ls-files -z | grep -zv '^deploy/debian/' | xargs -0 cp --parents -Pt $(BUILD)/deb/regrlab
	@cp -R deploy/debian $(BUILD)/deb/regrlab/debian
	@sed -i '1s/(.*)/($(DEB_VERSION))/' $(BUILD)/deb/regrlab/debian/changelog
	@cd $(BUILD)/deb/regrlab && dpkg-buildpackage -us -uc -b -j$(CPUS)

# for the static checks
.PHONY: print-flags
print-flags:
	@: $(info $(ALL_CFLAGS))

clean:
	rm -rf $(BUILD)
