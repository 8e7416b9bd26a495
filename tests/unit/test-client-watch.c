/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/remote.h"
#include "client/watch.h"
#include "jobs/spec/peek.h"
#include "jobs/spec/text.h"

static JsonObject *object(const char *json)
{
	g_autoptr(JsonNode) node = json_from_string(json, NULL);

	g_assert_nonnull(node);
	return json_node_dup_object(node);
}

static void check_line(const char *json, guint width, const char *wanted)
{
	g_autoptr(JsonObject) job = object(json);
	g_autofree char *line = progress_line(job, width);

	g_assert_cmpstr(line, ==, wanted);
}

static void test_line(void)
{
	check_line("{\"id\": 7, \"state\": \"queued\", \"queue_position\": 2}", 0, "job 7: queued, place 2");
	check_line("{\"id\": 7, \"state\": \"building\", \"progress\": {\"stage\": \"build\", \"step\": \"building base kernel\","
		   " \"done\": 30, \"total\": 120, \"eta_s\": 250}}",
		   0, "job 7: building [#####...............] building base kernel, 25 %, about 4 min 10 s left");
	check_line("{\"id\": 7, \"state\": \"measuring\", \"progress\": {\"stage\": \"measure\", \"step\": \"boot 3 of 8\","
		   " \"done\": 2, \"total\": 8, \"eta_s\": -1, \"boots_done\": 2, \"boots_total\": 8}}",
		   0, "job 7: measuring [#####...............] boot 3 of 8, 25 %, 2 of 8 boots");
	check_line("{\"id\": 7, \"state\": \"measuring\", \"progress\": {\"stage\": \"build\", \"step\": \"building\"}}", 0,
		   "job 7: measuring [....................]");
	check_line("{\"id\": 7, \"state\": \"measuring\", \"cancel_asked\": true}", 0,
		   "job 7: measuring, being cancelled [....................]");
	check_line("{\"id\": 7, \"state\": \"done\", \"final\": true, \"cancel_asked\": true}", 0, "job 7: done");
}

static void test_line_of_nonsense(void)
{
	check_line("{}", 0, "job 0: ");
	check_line("{\"id\": \"x\", \"state\": \"building\", \"progress\": {\"stage\": 1, \"done\": 9, \"total\": 3, \"step\": \"\\u001b[2Jüx\\ny\"}}",
		   0, "job 0: building [####################] ?[2Jüx y, 100 %");
	check_line("{\"id\": 7, \"state\": \"ümlaut\"}", 9, "job 7: üm");
}

static void test_duration(void)
{
	static const struct {
		gint64 ms;
		const char *text;
	} cases[] = { { 0, "0.0 s" }, { 1349, "1.3 s" }, { 9999, "9.9 s" }, { 59999, "59 s" }, { 60000, "1 min 00 s" },
		      { 3599000, "59 min 59 s" }, { 7500000, "2 h 05 min" }, { -1, "" } };

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = text_duration(cases[i].ms * 1000000);

		g_assert_cmpstr(text, ==, cases[i].text);
	}
}

static void test_peek(void)
{
	g_autoptr(JsonObject) one = object("{\"s\": 1, \"n\": null, \"o\": [], \"a\": [1, {\"x\": \"y\"}], \"d\": 1.5, \"i\": 3}");

	g_assert_cmpstr(peek_string(one, "s"), ==, "");
	g_assert_cmpstr(peek_string(one, "n"), ==, "");
	g_assert_cmpstr(peek_string(NULL, "n"), ==, "");
	g_assert_cmpint(peek_int(one, "d", 9), ==, 9);
	g_assert_cmpint(peek_int(one, "i", 9), ==, 3);
	g_assert_cmpfloat(peek_double(one, "i", 9), ==, 3);
	g_assert_cmpfloat(peek_double(one, "d", 9), ==, 1.5);
	g_assert_false(peek_bool(one, "i"));
	g_assert_null(peek_object(one, "o"));
	g_assert_cmpuint(peek_length(peek_array(one, "a")), ==, 2);
	g_assert_null(peek_element(peek_array(one, "a"), 0));
	g_assert_cmpstr(peek_string(peek_element(peek_array(one, "a"), 1), "x"), ==, "y");
	g_assert_cmpuint(peek_length(peek_array(one, "s")), ==, 0);
}

static void test_address(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Remote) remote = remote_new("http://lab.example.org:8642//", &error);

	g_assert_no_error(error);
	g_assert_cmpstr(remote_server(remote), ==, "http://lab.example.org:8642");
	g_assert_null(remote_new("file:///etc/passwd", &error));
	g_assert_error(error, REMOTE_ERROR, REMOTE_ERROR_ADDRESS);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/client/line", test_line);
	g_test_add_func("/client/line-of-nonsense", test_line_of_nonsense);
	g_test_add_func("/client/duration", test_duration);
	g_test_add_func("/client/peek", test_peek);
	g_test_add_func("/client/address", test_address);
	return g_test_run();
}
