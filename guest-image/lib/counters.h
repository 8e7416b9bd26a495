/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Kernel counters around a run: files of "NAME NUMBER" lines (/proc/vmstat, memory.stat of a cgroup).
 */
#ifndef GUEST_COUNTERS_H
#define GUEST_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

enum { COUNTERS_MAX = 320, COUNTER_NAME = 48 };

struct counters {
	size_t count;
	struct { char name[COUNTER_NAME]; int64_t value; } items[COUNTERS_MAX];
};

/* Reads "NAME NUMBER" lines; what is not of that form, too long or past COUNTERS_MAX is left out. */
void counters_parse(struct counters *counters, const char *text);
/* The same from a file; a file that cannot be read gives no counters. */
void counters_read(struct counters *counters, const char *path);
/* The value of a counter, 0 if it is not there. hint: index where it is looked for first. */
int64_t counters_value(const struct counters *counters, const char *name, size_t hint);

#endif
