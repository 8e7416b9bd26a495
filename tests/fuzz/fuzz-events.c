/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.jsonl of a run directory: read whole, or one by one, it is the same; a writer goes on behind what was read. */
#include <stdint.h>
#include <stdlib.h>

#include "jobs/spec/event.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean count_event(gint64 seq, const char *type, JsonObject *object, gpointer data, GError **error G_GNUC_UNUSED)
{
	g_assert_true(seq > 0 && type && json_object_has_member(object, "time_ns"));
	(*(int *)data)++;
	return TRUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	gint64 whole = 0, single = 0, before = -1;
	int all = 0, one_by_one = 0;
	gboolean good;

	scratch_write("events.jsonl", (const char *)data, size);
	good = event_read(scratch_folder(), &whole, 0, count_event, &all, NULL);
	while (single != before) {
		before = single;
		if (!event_read(scratch_folder(), &single, 1, count_event, &one_by_one, NULL))
			break;
	}
	g_assert_true(whole >= 0 && (gsize)whole <= size);
	if (good) {
		g_autoptr(EventLog) log = event_log_open(scratch_folder(), NULL);

		g_assert_cmpint(all, ==, one_by_one);
		g_assert_cmpint(whole, ==, single);
		g_assert_nonnull(log);
		g_assert_true(event_log_append(log, "progress", NULL, FALSE, NULL));
		g_assert_true(event_read(scratch_folder(), &whole, 0, count_event, &all, NULL));
		g_assert_cmpint(all, ==, one_by_one + 1);
	}
	return 0;
}
