/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spec.json and place.json: defaults, limits, form fields, and that what is written reads back. */
#include <glib/gstdio.h>
#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/place.h"
#include "jobs/spec/spec.h"

static char *make_dir(void)
{
	g_autoptr(GError) error = NULL;
	char *dir = g_dir_make_tmp("regrlab-spec-XXXXXX", &error);

	g_assert_no_error(error);
	return dir;
}

static void remove_dir(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);

	g_assert_cmpint(g_unlink(path), ==, 0);
	g_assert_cmpint(g_rmdir(dir), ==, 0);
}

static void set(JobSpec *spec, const char *name, const char *value)
{
	g_autoptr(GError) error = NULL;

	job_spec_set(spec, name, value, &error);
	g_assert_no_error(error);
}

static void test_round_trip(void)
{
	g_autofree char *dir = make_dir();
	g_autoptr(JobSpec) spec = job_spec_new();
	g_autoptr(JobSpec) back = NULL;
	g_autoptr(JsonObject) one = NULL, two = NULL;
	g_autofree char *line_one = NULL, *line_two = NULL;
	g_autoptr(GError) error = NULL;

	set(spec, "benchmarks", "aging,pwrite");
	set(spec, "params", "aging.nproc=1,8 pwrite.size=1k");
	set(spec, "base", "v6.12~3");
	set(spec, "clock", "icount");
	set(spec, "min_effect", "0.25");
	set(spec, "seed", "18446744073709551615");
	set(spec, "subject", "mm: größer \"quoted\"");
	spec->job = 17;
	spec->has_series = TRUE;
	g_assert_true(job_spec_check(spec, &error));
	g_assert_true(job_spec_save(spec, dir, &error));
	g_assert_true(job_spec_load(dir, &back, &error));
	g_assert_no_error(error);
	g_assert_cmpuint(back->seed, ==, G_MAXUINT64);
	g_assert_cmpint(back->clock, ==, CLOCK_ICOUNT);
	g_assert_cmpuint(g_strv_length(back->params), ==, 2);
	one = job_spec_to_json(spec);
	two = job_spec_to_json(back);
	line_one = json_object_to_line(one);
	line_two = json_object_to_line(two);
	g_assert_cmpstr(line_one, ==, line_two);
	remove_dir(dir, "spec.json");
}

static void test_bad_fields(void)
{
	static const struct {
		const char *name, *value, *field;
		int code;
	} rows[] = {
		{ "base", "--upload-pack=x", "base", SPEC_ERROR_VALUE },
		{ "base", "a..b", "base", SPEC_ERROR_VALUE },
		{ "base", "a b", "base", SPEC_ERROR_VALUE },
		{ "tree", "../etc", "tree", SPEC_ERROR_VALUE },
		{ "config", ".hidden", "config", SPEC_ERROR_VALUE },
		{ "benchmarks", "aging,,pwrite", "benchmarks", SPEC_ERROR_VALUE },
		{ "benchmarks", "a/b", "benchmarks", SPEC_ERROR_VALUE },
		{ "params", "nproc=8", "params", SPEC_ERROR_VALUE },
		{ "params", "aging.nproc=", "params", SPEC_ERROR_VALUE },
		{ "profile", "huge", "profile", SPEC_ERROR_VALUE },
		{ "clock", "cpu", "clock", SPEC_ERROR_VALUE },
		{ "max_boots", "0", "max_boots", SPEC_ERROR_VALUE },
		{ "max_boots", "101", "max_boots", SPEC_ERROR_VALUE },
		{ "max_boots", "4.5", "max_boots", SPEC_ERROR_VALUE },
		{ "max_boots", "4x", "max_boots", SPEC_ERROR_VALUE },
		{ "max_boots", "", "max_boots", SPEC_ERROR_VALUE },
		{ "min_effect", "0", "min_effect_pct", SPEC_ERROR_VALUE },
		{ "min_effect", "nan", "min_effect_pct", SPEC_ERROR_VALUE },
		{ "min_effect", "1e999", "min_effect_pct", SPEC_ERROR_VALUE },
		{ "seed", "-1", "seed", SPEC_ERROR_VALUE },
		{ "notify", "someone", "notify", SPEC_ERROR_VALUE },
		{ "notify", "a@example.org,b@example.org", "notify", SPEC_ERROR_VALUE },
		{ "subject", "bell\a", "subject", SPEC_ERROR_VALUE },
		{ "subject", "\xff", "subject", SPEC_ERROR_VALUE },
		{ "job", "3", NULL, SPEC_ERROR_VALUE },
		{ "has_series", "1", NULL, SPEC_ERROR_VALUE },
		{ "shell", "1", NULL, SPEC_ERROR_VALUE },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(JobSpec) spec = job_spec_new();
		g_autoptr(JsonObject) before = job_spec_to_json(spec), after = NULL;
		g_autofree char *line_before = json_object_to_line(before), *line_after = NULL;
		g_autoptr(GError) error = NULL;
		g_autofree char *field = NULL;

		g_test_message("%s=%s", rows[i].name, rows[i].value);
		g_assert_false(job_spec_set(spec, rows[i].name, rows[i].value, &error));
		g_assert_error(error, SPEC_ERROR, rows[i].code);
		field = spec_error_field(error);
		g_assert_cmpstr(field, ==, rows[i].field);
		after = job_spec_to_json(spec);
		line_after = json_object_to_line(after);
		g_assert_cmpstr(line_before, ==, line_after);	/* changes nothing */
	}
}

static void test_long_text(void)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	g_autofree char *text = g_strnfill(SPEC_MAX_TEXT + 1, 'a');
	g_autoptr(GError) error = NULL;

	g_assert_false(job_spec_set(spec, "subject", text, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_LIMIT);
	text[SPEC_MAX_TEXT] = 0;
	set(spec, "subject", text);
}

static void test_check(void)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	g_autoptr(GError) error = NULL;

	g_assert_false(job_spec_check(spec, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_MISSING);
	g_clear_error(&error);
	set(spec, "head", "topic");
	g_assert_false(job_spec_check(spec, &error));	/* no benchmark */
	g_clear_error(&error);
	set(spec, "benchmarks", "aging,aging");
	g_assert_false(job_spec_check(spec, &error));
	g_clear_error(&error);
	set(spec, "benchmarks", "aging");
	g_assert_true(job_spec_check(spec, &error));
	spec->has_series = TRUE;
	g_assert_false(job_spec_check(spec, &error));
}

static void test_bad_json(void)
{
	static const char *const rows[] = {
		"", "null", "[]", "{", "{\"max_boots\": \"4\"}", "{\"benchmarks\": 4}",
		"{\"benchmarks\": [4]}", "{\"benchmarks\": [\"\"]}", "{\"seed\": 4}", "{\"nope\": 1}",
		"{\"has_series\": 1}", "{\"clock\": {}}", "{\"clock\": null}", "{\"job\": 1.5}",
		"{\"job\": -1}", "{\"min_effect_pct\": true}", "{\"tree\": \"\\u0001\"}",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(JsonObject) object = NULL;
		g_autoptr(JobSpec) spec = NULL;
		g_autoptr(GError) error = NULL;

		g_test_message("%s", rows[i]);
		if (json_object_from_data(rows[i], strlen(rows[i]), &object, &error))
			g_assert_false(job_spec_from_json(object, &spec, &error));
		g_assert_nonnull(error);
		g_assert_null(spec);
	}
}

static void test_place(void)
{
	g_autofree char *dir = make_dir();
	g_autoptr(JobPlace) place = job_place_new();
	g_autoptr(JobPlace) back = NULL;
	g_autoptr(GError) error = NULL;

	g_free(place->host_uri);
	place->host_uri = g_strdup("qemu:///embed?root=/srv/regrlab/host");
	place->build_jobs = 3;
	g_assert_true(job_place_save(place, dir, &error));
	g_assert_true(job_place_load(dir, &back, &error));
	g_assert_no_error(error);
	g_assert_cmpstr(back->host_uri, ==, place->host_uri);
	g_assert_cmpint(back->build_jobs, ==, 3);
	g_assert_cmpint(back->boot_timeout_s, ==, place->boot_timeout_s);
	remove_dir(dir, "place.json");
	g_assert_false(job_place_load(dir, &back, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_IO);
}

static void test_error_field(void)
{
	g_autoptr(GError) named = NULL, sentence = NULL;
	g_autofree char *field = NULL;

	spec_error_set(&named, SPEC_ERROR_VALUE, "params", "no such thing: here");
	field = spec_error_field(named);
	g_assert_cmpstr(field, ==, "params");
	spec_error_set(&sentence, SPEC_ERROR_SYNTAX, NULL, "not JSON at all: truncated");
	g_assert_null(spec_error_field(sentence));
}

static void test_calibration(void)
{
	g_autoptr(JobSpec) spec = job_spec_new();

	g_assert_true(job_spec_set(spec, "benchmarks", "aging", NULL));
	g_assert_false(job_spec_set(spec, "kind", "other", NULL));
	job_spec_complete(spec, "master");
	g_assert_cmpstr(spec->head, ==, "");
	g_assert_false(job_spec_check(spec, NULL));
	g_assert_true(job_spec_set(spec, "kind", "calibrate", NULL));
	g_assert_true(job_spec_check(spec, NULL));
	job_spec_complete(spec, "master");
	g_assert_cmpstr(spec->base, ==, "master");
	g_assert_cmpstr(spec->head, ==, "master");
	g_assert_cmpstr(spec->rule, ==, "fixed");
	g_assert_true(job_spec_check(spec, NULL));
	spec->has_series = TRUE;
	g_assert_false(job_spec_check(spec, NULL));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/spec/round-trip", test_round_trip);
	g_test_add_func("/spec/bad-fields", test_bad_fields);
	g_test_add_func("/spec/long-text", test_long_text);
	g_test_add_func("/spec/check", test_check);
	g_test_add_func("/spec/bad-json", test_bad_json);
	g_test_add_func("/spec/place", test_place);
	g_test_add_func("/spec/error-field", test_error_field);
	g_test_add_func("/spec/calibration", test_calibration);
	return g_test_run();
}
