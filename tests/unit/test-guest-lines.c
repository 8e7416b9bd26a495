/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest writes (lines of JSON) and the kernel's files that it reads. */
#include <glib.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "guest-image/lib/counters.c"
#include "guest-image/lib/files.c"
#include "guest-image/lib/lru-gen.c"
#include "guest-image/lib/port.c"

#define NONCE "0123456789abcdef0123456789abcdef"

typedef struct {
	struct port port;
	char *path;
} Fixture;

static void set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	f->port = (struct port){ .nonce = NONCE };
	f->port.fd = g_file_open_tmp("regrlab-port-XXXXXX", &f->path, NULL);
}

static void tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	close(f->port.fd);
	g_unlink(f->path);
	g_free(f->path);
}

static char *written(Fixture *f)
{
	char *text;

	g_assert_true(g_file_get_contents(f->path, &text, NULL, NULL));
	return text;
}

static void test_lines(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *text = NULL;

	port_begin(&f->port, "hello");
	port_text(&f->port, "kernel", "6.12.0");
	port_number(&f->port, "cpus", 2);
	g_assert_true(port_end(&f->port));
	port_begin(&f->port, "sample");
	g_assert_true(port_members(&f->port, "\"pass\":1,\"value\":2.5", 20));
	g_assert_true(port_end(&f->port));
	port_log(&f->port, "a \"%s\"\\\t\x01\xff", "word");
	text = written(f);
	g_assert_cmpstr(text, ==,
		"{\"nonce\":\"" NONCE "\",\"seq\":0,\"type\":\"hello\",\"kernel\":\"6.12.0\",\"cpus\":2}\n"
		"{\"nonce\":\"" NONCE "\",\"seq\":1,\"type\":\"sample\",\"pass\":1,\"value\":2.5}\n"
		"{\"nonce\":\"" NONCE "\",\"seq\":2,\"type\":\"log\",\"text\":\"a \\\"word\\\"\\\\\\u0009\\u0001\\u00ff\"}\n");
}

static void test_console(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *text = NULL;

	f->port.console = true;
	port_begin(&f->port, "end");
	port_number(&f->port, "lines", 0);
	port_end(&f->port);
	text = written(f);
	g_assert_cmpstr(text, ==, "@regrlab {\"nonce\":\"" NONCE "\",\"seq\":0,\"type\":\"end\",\"lines\":0}\n");
}

/* Texts of every length around the limit, of bytes of every length when escaped: always one valid line, not too long. */
static void test_long(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	static const char bytes[] = { 'x', '"', '\xff' };
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	guint count = 0;

	for (gsize size = 3900; size < 4200; size++)
		for (gsize i = 0; i < G_N_ELEMENTS(bytes); i++, count++) {
			g_autofree char *long_text = g_strnfill(size, bytes[i]);

			port_begin(&f->port, "log");
			port_text(&f->port, "text", long_text);
			port_number(&f->port, "more", -1);
			port_text(&f->port, "and", "more");
			port_end(&f->port);
		}
	text = written(f);
	lines = g_strsplit(text, "\n", 0);
	g_assert_cmpuint(g_strv_length(lines), ==, count + 1);
	for (guint i = 0; i < count; i++) {
		g_autoptr(JsonParser) parser = json_parser_new();

		g_assert_cmpuint(strlen(lines[i]) + 1, <=, PORT_LINE_MAX);
		g_assert_true(json_parser_load_from_data(parser, lines[i], -1, NULL));
		g_assert_cmpint(json_object_get_int_member(json_node_get_object(json_parser_get_root(parser)), "seq"), ==, i);
	}
}

static void test_members_too_long(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *members = g_strnfill(PORT_LINE_MAX, ' ');

	port_begin(&f->port, "sample");
	g_assert_false(port_members(&f->port, members, PORT_LINE_MAX));
}

static void test_counters(void)
{
	static struct counters counters;

	counters_parse(&counters, "nr_free_pages 100\npgfault 7\nbad\nbad x\n 5\ntwo 1 2\nlast -3");
	g_assert_cmpuint(counters.count, ==, 3);
	g_assert_cmpstr(counters.items[1].name, ==, "pgfault");
	g_assert_cmpint(counters_value(&counters, "pgfault", 1), ==, 7);
	g_assert_cmpint(counters_value(&counters, "pgfault", 0), ==, 7);
	g_assert_cmpint(counters_value(&counters, "last", 99), ==, -3);
	g_assert_cmpint(counters_value(&counters, "none", 0), ==, 0);
	counters_read(&counters, "/nonexistent");
	g_assert_cmpuint(counters.count, ==, 0);
}

static void test_many_counters(void)
{
	static struct counters counters;
	g_autoptr(GString) text = g_string_new(NULL);

	for (int i = 0; i < 2 * COUNTERS_MAX; i++)
		g_string_append_printf(text, "counter_%d %d\n", i, i);
	counters_parse(&counters, text->str);
	g_assert_cmpuint(counters.count, ==, COUNTERS_MAX);
}

static gboolean find(const char *listing, const char *cgroup, unsigned node, struct lru_gen_place *place)
{
	FILE *file = fmemopen((void *)(gintptr)listing, strlen(listing), "r");
	gboolean found = lru_gen_find(file, cgroup, node, place);

	fclose(file);
	return found;
}

static void test_lru_gen(void)
{
	static const char listing[] = "memcg     1 /\n node     0\n          0      10410        0        12 \n"
				      "          1       2040      123         0 \n"
				      "memcg    17 /run-1\n node     0\n"
				      "          4       1000        0x       12 \n"
				      "          5        100        0         0 \n"
				      " node     1\n          7        100        0         0 \n"
				      "memcg    18 /run-10\n node     0\n          9          1        0         0 \n";
	struct lru_gen_place place = { 0 };

	g_assert_true(find(listing, "/run-1", 0, &place));
	g_assert_cmpuint(place.memcg_id, ==, 17);
	g_assert_cmpuint(place.max_seq, ==, 5);
	g_assert_true(find(listing, "/run-1", 1, &place));
	g_assert_cmpuint(place.max_seq, ==, 7);
	g_assert_true(find(listing, "/", 0, &place));
	g_assert_cmpuint(place.memcg_id, ==, 1);
	g_assert_cmpuint(place.max_seq, ==, 1);
	g_assert_true(find(listing, "/run-10", 0, &place));
	g_assert_cmpuint(place.max_seq, ==, 9);
	g_assert_false(find(listing, "/run", 0, &place));
	g_assert_false(find(listing, "/run-10", 1, &place));
	g_assert_false(find("garbage\n", "/", 0, &place));
}

static gboolean own_cgroup(const char *text, char *path, gsize size)
{
	FILE *file = fmemopen((void *)(gintptr)text, strlen(text), "r");
	gboolean found = lru_gen_own_cgroup(file, path, size);

	fclose(file);
	return found;
}

static void test_own_cgroup(void)
{
	char path[16];

	g_assert_true(own_cgroup("0::/run-1\n", path, sizeof(path)));
	g_assert_cmpstr(path, ==, "/run-1");
	g_assert_true(own_cgroup("4:memory:/x\n0::/\n", path, sizeof(path)));
	g_assert_cmpstr(path, ==, "/");
	g_assert_false(own_cgroup("4:memory:/x\n", path, sizeof(path)));
	g_assert_false(own_cgroup("0::/longer-than-16-bytes\n", path, sizeof(path)));
}

static void test_chosen_word(void)
{
	static const char *const table[][2] = {
		{ "always [madvise] never", "madvise" }, { "[always] never", "always" }, { "0x0007", "0x0007" },
		{ "[broken", "[broken" }, { "", "" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *text = g_strdup(table[i][0]);

		chosen_word(text);
		g_assert_cmpstr(text, ==, table[i][1]);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/guest/port/lines", Fixture, NULL, set_up, test_lines, tear_down);
	g_test_add("/guest/port/console", Fixture, NULL, set_up, test_console, tear_down);
	g_test_add("/guest/port/long", Fixture, NULL, set_up, test_long, tear_down);
	g_test_add("/guest/port/members-too-long", Fixture, NULL, set_up, test_members_too_long, tear_down);
	g_test_add_func("/guest/counters/parse", test_counters);
	g_test_add_func("/guest/counters/many", test_many_counters);
	g_test_add_func("/guest/lru-gen/find", test_lru_gen);
	g_test_add_func("/guest/lru-gen/own-cgroup", test_own_cgroup);
	g_test_add_func("/guest/files/chosen-word", test_chosen_word);
	return g_test_run();
}
