/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of HTTP needs no connection: forms, submissions, the route table and its description. */
#include <string.h>

#include "daemon/form.h"
#include "daemon/openapi.h"
#include "daemon/routes.h"
#include "daemon/submission.h"

#define MBOX "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n" \
	"From: Ann <ann@example.org>\nSubject: [PATCH] mm: x\n\nwords\n---\n" \
	"diff --git a/mm/a.c b/mm/a.c\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n"

/* ---- forms ---- */

static void check_form(const char *body, const char *expected)
{
	g_autoptr(GPtrArray) fields = NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	if (!form_parse(body, strlen(body), "b", &fields, &error)) {
		g_assert_error(error, SPEC_ERROR, error->code);
		g_assert_null(expected);
		return;
	}
	for (guint i = 0; i < fields->len; i++) {
		const FormField *field = g_ptr_array_index(fields, i);

		g_string_append_printf(text, "%s%s=%.*s;", field->name, field->is_file ? "@" : "", (int)field->size, field->data);
	}
	g_assert_cmpstr(text->str, ==, expected);
}

static void test_form(void)
{
#define PART(head, data) "--b\r\nContent-Disposition: form-data; " head "\r\n\r\n" data "\r\n"
	check_form(PART("name=\"a\"", "1") "--b--\r\n", "a=1;");
	check_form("preamble\r\n" PART("name=a", "1") "--b--", "a=1;");
	check_form(PART("name=\"a\"", "") PART("name=\"b\"; filename=\"x.mbox\"", "two\r\nlines") "--b--\r\nepilogue",
		   "a=;b@=two\r\nlines;");
	check_form("--b\r\ncontent-disposition: form-data; filename=\"a;name=z\"; NAME=\"q\\\"x\"\r\nX: y\r\n\r\n1\r\n--b--", "q\"x@=1;");
	check_form(PART("name=\"a\"", "no --b here, nor\n--b") "--b--", "a=no --b here, nor\n--b;");
	check_form("--b--", "");
	check_form("", NULL);
	check_form("--b", NULL);
	check_form("--b\r\n", NULL);
	check_form("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1", NULL);
	check_form("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--bx", NULL);
	check_form(PART("nome=\"a\"", "1") "--b--", NULL);
	check_form(PART("name=\"\"", "1") "--b--", NULL);
	check_form(PART("name=\"\xff\"", "1") "--b--", NULL);
}

static void test_boundary(void)
{
	static const struct {
		const char *type, *boundary;
	} rows[] = {
		{ "multipart/form-data; boundary=abc", "abc" },
		{ "multipart/form-data; charset=x; Boundary=\"a b\"", "a b" },
		{ "multipart/form-data;boundary=abc ; x=y", "abc" },
		{ "multipart/form-data", NULL },
		{ "multipart/form-data; boundary=", NULL },
		{ "multipart/form-data; boundary=\"\"", NULL },
		{ "multipart/form-data; boundary=\x01", NULL },
		{ "multipart/form-data; boundary=01234567890123456789012345678901234567890123456789012345678901234567890", NULL },
		{ ";;;=;\"", NULL },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *boundary = form_boundary(rows[i].type);

		g_assert_cmpstr(boundary, ==, rows[i].boundary);
	}
}

/* ---- submissions ---- */

static gboolean add(Submission *submission, const char *name, const char *value, GError **error)
{
	return submission_field(submission, name, value, strlen(value), FALSE, error);
}

static void test_submission(void)
{
	g_autoptr(Submission) form = submission_new();
	g_autoptr(Submission) json = submission_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *escaped = g_strescape(MBOX, NULL);
	g_autofree char *text = g_strdup_printf("{\"series\": \"%s\", \"benchmarks\": [\"aging\", \"pwrite\"],"
						" \"max_boots\": 7, \"min_effect\": 0.5}", escaped);
	g_autofree char *one = NULL, *two = NULL;

	g_assert_true(add(form, "series", MBOX, &error) && add(form, "benchmarks", "aging", &error) &&
		      add(form, "benchmarks", "pwrite", &error) && add(form, "max_boots", "7", &error) &&
		      add(form, "min_effect", "0.5", &error) && submission_finish(form, &error));
	g_assert_no_error(error);
	g_assert_cmpstr(form->spec->subject, ==, "mm: x");
	g_assert_cmpstr(form->spec->author, ==, "Ann <ann@example.org>");
	g_assert_cmpuint(g_strv_length(form->spec->benchmarks), ==, 2);
	g_assert_true(submission_json(json, text, strlen(text), &error));
	g_assert_true(submission_finish(json, &error));
	one = submission_digest(form);
	two = submission_digest(json);
	g_assert_cmpstr(one, ==, two);
	json->spec->max_boots++;
	g_free(two);
	two = submission_digest(json);
	g_assert_cmpstr(one, !=, two);
}

static void refuse(const char *name, const char *value, const char *field)
{
	g_autoptr(Submission) submission = submission_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *found = NULL;

	g_assert_false(add(submission, "benchmarks", "aging", &error) && add(submission, "head", "topic", &error) &&
		       add(submission, name, value, &error) && submission_finish(submission, &error));
	found = spec_error_field(error);
	g_assert_cmpstr(found, ==, field);
}

static void test_refused(void)
{
	refuse("series", "", "series");
	refuse("series", MBOX, "head");
	refuse("head", "other", "head");
	refuse("colour", "red", "colour");
	refuse("tree", "\xff", "tree");
	refuse("max_boots", "7.5", "max_boots");
}

static void test_json_depth(void)
{
	g_autoptr(Submission) submission = submission_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *deep = g_strnfill(1000000, '[');
	g_autofree char *hidden = g_strconcat("{\"subject\": /* \" */ ", deep, NULL);
	static const char half[] = "{\"notify\": \"a\\uDA00b\"}", pair[] = "{\"notify\": \"\\uD83D\\uDE00\\\\uDA00\"}";
	static const char quoted[] = "{\"subject\": \"[[[[[[[[[[[[[[[\\\"{{{{{{{{{{{{\"}";

	g_assert_false(submission_json(submission, deep, strlen(deep), &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_SYNTAX);
	g_clear_error(&error);
	g_assert_true(submission_json(submission, quoted, strlen(quoted), &error));
	g_assert_false(submission_json(submission, hidden, strlen(hidden), &error));
	g_clear_error(&error);
	g_assert_false(submission_json(submission, half, strlen(half), &error));
	g_clear_error(&error);
	g_assert_true(submission_json(submission, pair, strlen(pair), &error));
}

/* ---- routes ---- */

static void check_route(const char *method, const char *path, gint64 id, const char *name, const char *allowed)
{
	g_autofree char *found = NULL;
	g_autoptr(RouteMatch) match = route_find(method, path, &found);

	g_assert_cmpstr(found, ==, allowed);
	if (id < 0) {
		g_assert_null(match);
		return;
	}
	g_assert_nonnull(match);
	g_assert_cmpint(match->id, ==, id);
	g_assert_cmpstr(match->name, ==, name);
}

static void test_routes(void)
{
	check_route("GET", "/", 0, NULL, NULL);
	check_route("HEAD", API "/jobs/7", 7, NULL, NULL);
	check_route("DELETE", API "/jobs/7", 7, NULL, NULL);
	check_route("GET", API "/jobs/7/artifacts/a.txt", 7, "a.txt", NULL);
	check_route("PUT", API "/jobs", -1, NULL, "POST, GET, HEAD");
	check_route("POST", API "/jobs/7", -1, NULL, "GET, HEAD, DELETE");
	check_route("GET", API "/jobs/07", -1, NULL, NULL);
	check_route("GET", API "/jobs/0", -1, NULL, NULL);
	check_route("GET", API "/jobs/+7", -1, NULL, NULL);
	check_route("GET", API "/jobs/9223372036854775807", G_MAXINT64, NULL, NULL);
	check_route("GET", API "/jobs/9223372036854775808", -1, NULL, NULL);
	check_route("GET", API "/jobs/7/artifacts/", -1, NULL, NULL);
	check_route("GET", API "/jobs/7/artifacts/../spec.json", -1, NULL, NULL);
	check_route("GET", "", -1, NULL, NULL);
	check_route("get", "/", -1, NULL, "GET, HEAD");
}

static void test_openapi(void)
{
	g_autoptr(JsonObject) document = openapi_document();
	JsonObject *paths = json_object_get_object_member(document, "paths");

	for (gsize i = 0; i < routes_n; i++) {
		g_autofree char *method = g_ascii_strdown(routes[i].method, -1);

		g_assert_true(json_object_has_member(json_object_get_object_member(paths, routes[i].pattern), method));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/http/form", test_form);
	g_test_add_func("/http/boundary", test_boundary);
	g_test_add_func("/http/submission", test_submission);
	g_test_add_func("/http/refused", test_refused);
	g_test_add_func("/http/json-depth", test_json_depth);
	g_test_add_func("/http/routes", test_routes);
	g_test_add_func("/http/openapi", test_openapi);
	return g_test_run();
}
