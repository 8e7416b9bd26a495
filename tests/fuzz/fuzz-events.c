/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.jsonl of a run directory: read whole, or one by one, it is the same; a writer goes on behind what was read. */
#include <stdint.h>
#include <stdlib.h>

#include "jobs/spec/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *folder(void)
{
	static char path[] = "/tmp/regrlab-fuzz-XXXXXX";
	static gboolean made;

	if (!made)
		g_assert_nonnull(g_mkdtemp(path));
	made = TRUE;
	return path;
}

static gboolean count_event(gint64 seq, const char *type, JsonObject *object, gpointer data, GError **error G_GNUC_UNUSED)
{
	g_assert_true(seq > 0 && type && json_object_has_member(object, "time_ns"));
	(*(int *)data)++;
	return TRUE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *path = g_build_filename(folder(), "events.jsonl", NULL);
	gint64 whole = 0, single = 0, before = -1;
	int all = 0, one_by_one = 0;
	gboolean good;

	g_assert_true(g_file_set_contents(path, (const char *)data, (gssize)size, NULL));
	good = event_read(folder(), &whole, 0, count_event, &all, NULL);
	while (single != before) {
		before = single;
		if (!event_read(folder(), &single, 1, count_event, &one_by_one, NULL))
			break;
	}
	g_assert_true(whole >= 0 && (gsize)whole <= size);
	if (good) {
		g_autoptr(EventLog) log = event_log_open(folder(), NULL);

		g_assert_cmpint(all, ==, one_by_one);
		g_assert_cmpint(whole, ==, single);
		g_assert_nonnull(log);
		g_assert_true(event_log_append(log, "progress", NULL, FALSE, NULL));
		g_assert_true(event_read(folder(), &whole, 0, count_event, &all, NULL));
		g_assert_cmpint(all, ==, one_by_one + 1);
	}
	return 0;
}
