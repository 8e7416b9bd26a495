# SPDX-License-Identifier: GPL-2.0-or-later
#
#   make            build everything into build/
#   make demo       a real job on a real kernel, from nothing to the table
#   make test       all tests (dependencies included); T=name runs those that match
#   make check      the inner loop: unit and http tests
#   make lint       warnings of gcc and clang, clang-tidy, cppcheck, dependency directions
#   make bench      the measurements
#   make install    DESTDIR= PREFIX=

BUILD ?= build
CC ?= gcc
PREFIX ?= /usr/local
WERROR ?= -Werror
SANITIZE ?=

PACKAGES = glib-2.0 gio-2.0 gio-unix-2.0 json-glib-1.0 libmicrohttpd sqlite3 libvirt libvirt-qemu libxml-2.0 gsl \
	libcurl gmime-3.0 libsystemd
# looked up when first needed, so that `make demo` can install them before
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PACKAGES)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PACKAGES)))$(PKG_LIBS)

CFLAGS ?= -O2 -g
WARNINGS = -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wformat=2 $(WERROR)
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -I. -I$(BUILD) $(WARNINGS) $(CFLAGS) $(SANITIZE) $(PKG_CFLAGS) \
	-DREGRLAB_PREFIX='"$(PREFIX)"'

MAINS = daemon/main.c jobs/main.c client/main.c
SOURCES = $(filter-out $(MAINS),$(wildcard jobs/spec/*.c jobs/stats/*.c jobs/*.c db/*.c web/*.c daemon/*.c client/*.c))
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)
LIBRARY = $(BUILD)/libregrlab.a
PROGRAMS = $(BUILD)/regrlabd $(BUILD)/regrlab-job $(BUILD)/regrlab
UNIT = $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test-*.c))
DRIVERS = $(patsubst tests/oracle/%.c,$(BUILD)/tests/%,$(wildcard tests/oracle/*.c))
HEADERS = $(wildcard */*.h */*/*.h)

.PHONY: all programs demo demo-stop deps test check lint bench install clean
.DELETE_ON_ERROR:

all: programs

include guest-image/Makefile.inc

programs: $(PROGRAMS) $(BUILD)/guest.cpio

# what is embedded: the migrations of the database and the static files of the pages
$(BUILD)/%.o: %.c $(HEADERS) $(GENERATED)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(LIBRARY): $(OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/regrlabd: $(BUILD)/daemon/main.o $(LIBRARY)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(PKG_LIBS) -lm
$(BUILD)/regrlab-job: $(BUILD)/jobs/main.o $(LIBRARY)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(PKG_LIBS) -lm
$(BUILD)/regrlab: $(BUILD)/client/main.o $(LIBRARY)
	$(CC) $(ALL_CFLAGS) -o $@ $^ $(PKG_LIBS) -lm

$(BUILD)/tests/%: tests/unit/%.c $(LIBRARY) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< $(LIBRARY) $(PKG_LIBS) -lm
$(BUILD)/tests/%: tests/oracle/%.c $(LIBRARY) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -o $@ $< $(LIBRARY) $(PKG_LIBS) -lm

clean:
	rm -rf $(BUILD)
