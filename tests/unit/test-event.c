/* SPDX-License-Identifier: GPL-2.0-or-later */
/* events.jsonl: numbering, unfinished lines, gaps, and reading in pieces. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/event.h"

typedef struct {
	char *dir, *path;
} Fixture;

static void set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	f->dir = g_dir_make_tmp("regrlab-event-XXXXXX", NULL);
	f->path = g_build_filename(f->dir, "events.jsonl", NULL);
}

static void tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_unlink(f->path);
	g_assert_cmpint(g_rmdir(f->dir), ==, 0);
	g_free(f->dir);
	g_free(f->path);
}

static gboolean collect(gint64 seq, const char *type, JsonObject *object, gpointer data,
			GError **error G_GNUC_UNUSED)
{
	g_assert_true(json_object_has_member(object, "time_ns"));
	g_string_append_printf(data, "%" G_GINT64_FORMAT "%s ", seq, type);
	return TRUE;
}

static void append(Fixture *f, const char *type, const char *step)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(EventLog) log = event_log_open(f->dir, &error);
	JsonObject *members = json_object_new();

	g_assert_no_error(error);
	json_object_set_string_member(members, "step", step);
	g_assert_true(event_log_append(log, type, members, TRUE, &error));
	g_assert_true(event_log_append(log, type, NULL, FALSE, &error));
	g_assert_no_error(error);
}

static void append_raw(Fixture *f, const char *text)
{
	int fd = open(f->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	g_assert_cmpint((int)write(fd, text, strlen(text)), ==, (int)strlen(text));
	close(fd);
}

static void expect(Fixture *f, gint64 *offset, guint max, const char *events)
{
	g_autoptr(GString) got = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	g_assert_true(event_read(f->dir, offset, max, collect, got, &error));
	g_assert_no_error(error);
	g_assert_cmpstr(got->str, ==, events);
}

static void test_numbers(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	gint64 offset = 0;

	expect(f, &offset, 0, "");	/* no file yet */
	append(f, "progress", "one");
	expect(f, &offset, 1, "1progress ");
	append(f, "arm", "two");
	expect(f, &offset, 2, "2progress 3arm ");
	expect(f, &offset, 0, "4arm ");
	expect(f, &offset, 0, "");
}

static void test_unfinished(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	gint64 offset = 0;

	append(f, "boot", "x");
	append_raw(f, "{\"seq\":3,\"time_ns\":1,\"ty");
	expect(f, &offset, 0, "1boot 2boot ");	/* left alone by a reader */
	append(f, "end", "x");			/* cut off by a writer */
	expect(f, &offset, 0, "3end 4end ");
	offset = 0;
	expect(f, &offset, 0, "1boot 2boot 3end 4end ");
}

static void test_malformed(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const rows[] = {
		"nonsense\n", "{}\n", "[]\n", "{\"seq\":3,\"time_ns\":1,\"type\":\"gap\"}\n",
		"{\"seq\":\"1\",\"time_ns\":1,\"type\":\"x\"}\n", "{\"seq\":1,\"time_ns\":1,\"type\":2}\n",
		"{\"seq\":1,\"time_ns\":1}\n", "{\"seq\":1e99,\"time_ns\":1,\"type\":\"x\"}\n", "\n",
		"{\"seq\":1,\"time_ns\":1,\"type\":\"\xff\"}\n",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GString) got = g_string_new(NULL);
		g_autoptr(GError) error = NULL;
		gint64 offset = 0;

		g_test_message("%s", rows[i]);
		g_unlink(f->path);
		append_raw(f, rows[i]);
		g_assert_false(event_read(f->dir, &offset, 0, collect, got, &error));
		g_assert_nonnull(error);
		g_assert_nonnull(strstr(error->message, "at byte 0"));
		g_assert_cmpint((int)offset, ==, 0);
		g_clear_error(&error);
		g_assert_null(event_log_open(f->dir, &error));	/* never appended to */
	}
}

/* A reader that was further already: the file is not what it was, and that is not "nothing new". */
static void test_cut(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) got = g_string_new(NULL);
	gint64 offset = 0, before;

	g_assert_false(event_sync(f->dir, &error));	/* no file */
	g_clear_error(&error);
	append(f, "arm", "x");
	expect(f, &offset, 0, "1arm 2arm ");
	g_assert_true(event_sync(f->dir, &error));
	before = offset;
	g_assert_cmpint(truncate(f->path, 10), ==, 0);
	g_assert_false(event_read(f->dir, &offset, 0, collect, got, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_SYNTAX);
	g_assert_nonnull(strstr(error->message, "has 10 bytes"));
	g_assert_cmpint(offset, ==, before);
	g_clear_error(&error);
	g_unlink(f->path);
	g_assert_false(event_read(f->dir, &offset, 0, collect, got, &error));
	g_assert_nonnull(strstr(error->message, "has 0 bytes"));
}

static gboolean refuse(gint64 seq, const char *type G_GNUC_UNUSED, JsonObject *object G_GNUC_UNUSED,
		       gpointer data G_GNUC_UNUSED, GError **error)
{
	return seq < 3 ? TRUE : spec_error_set(error, SPEC_ERROR_VALUE, NULL, "refused");
}

static void test_refused(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;
	gint64 offset = 0;

	append(f, "a", "x");
	append(f, "b", "x");
	g_assert_false(event_read(f->dir, &offset, 0, refuse, NULL, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
	expect(f, &offset, 0, "3b 4b ");	/* the refused one comes again */
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/event/numbers", Fixture, NULL, set_up, test_numbers, tear_down);
	g_test_add("/event/unfinished", Fixture, NULL, set_up, test_unfinished, tear_down);
	g_test_add("/event/malformed", Fixture, NULL, set_up, test_malformed, tear_down);
	g_test_add("/event/cut", Fixture, NULL, set_up, test_cut, tear_down);
	g_test_add("/event/refused", Fixture, NULL, set_up, test_refused, tear_down);
	return g_test_run();
}
