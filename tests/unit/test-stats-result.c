/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A result: its JSON form, its text, its options and seeds. */
#include "tests/unit/stats-fixture.h"
#include "jobs/stats/result-text.h"

static void test_failures(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	StatsOptions options = FIXED_OPTIONS;
	g_autoptr(StatsResult) fine = NULL, failing = NULL;
	g_autofree char *text = NULL;

	add_job(table, JOB(.sd = .002));
	fine = analyse(table, NULL);
	g_assert_cmpint(fine->failures.verdict, ==, STATS_VERDICT_INCONCLUSIVE);
	g_assert_cmpfloat(fine->failures.p, ==, 1);
	options.failed_boots[SAMPLE_ARM_PATCHED] = 12;
	failing = analyse(table, &options);
	g_assert_cmpint(failing->failures.verdict, ==, STATS_VERDICT_REGRESSION);
	g_assert_cmpuint(failing->failures.boots[SAMPLE_ARM_PATCHED], ==, 16);
	text = stats_result_to_text(failing);
	g_assert_nonnull(strstr(text, "Failed boots: 0 of 4 base, 12 of 16 patched: REGRESSION"));
}

static void test_json_round_trip(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(StatsResult) result = NULL, back = NULL;
	g_autoptr(JsonNode) node = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *again = NULL;

	add_job(table, JOB(.sd = .01, .params = "nproc=1"));
	add_job(table, JOB(.order = "AB", .params = "nproc=8"));
	add_job(table, JOB(.sd = .3, .order = "ABBABAABBA", .params = "nproc=32"));
	result = analyse(table, NULL);
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->hl_low_pct = -0.0;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->hl_high_pct = 5e-324;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->hl_shift_pct = 1e22;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->drift_p = 1e-10;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->p = 0.1 + 0.2;
	text = stats_result_to_json_text(result);
	node = json_from_string(text, &error);
	g_assert_no_error(error);
	back = stats_result_from_json(node, &error);
	g_assert_no_error(error);
	again = stats_result_to_json_text(back);
	g_assert_cmpstr(again, ==, text);
	for (guint i = 0; i < result->comparisons->len; i++)
		for (gsize j = 0; j < (gsize)(&at(result, i)->ci_level - at(result, i)->mean) + 1; j++) {
			double x = at(result, i)->mean[0], y = at(back, i)->mean[0];

			memcpy(&x, (const char *)at(result, i)->mean + j * sizeof x, sizeof x);
			memcpy(&y, (const char *)at(back, i)->mean + j * sizeof y, sizeof y);
			g_assert_true((isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0);
		}
	g_assert_true(signbit(at(back, 0)->hl_low_pct));
	g_assert_cmpfloat(at(back, 0)->hl_high_pct, ==, 5e-324);
	g_assert_cmpfloat(at(back, 0)->hl_shift_pct, ==, 1e22);
	g_assert_cmpfloat(at(back, 0)->drift_p, ==, 1e-10);
	g_assert_nonnull(strstr(text, "\"p_holm\" : null"));
	g_assert_null(strstr(text, "nan"));
}

static void test_json_refuses(void)
{
	static const char *const texts[] = {
		"null", "[]", "{}", "{\"method\":1}",
		"{\"method\":\"m\",\"alpha\":\"x\",\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[]}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[1]}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[{}]}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\"}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[],\"failures\":[]}",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(JsonNode) node = json_from_string(texts[i], NULL);
		g_autoptr(GError) error = NULL;

		g_assert_null(stats_result_from_json(node, &error));
		g_assert_error(error, STATS_RESULT_ERROR, STATS_RESULT_ERROR_SYNTAX);
	}
}

static void test_text(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(StatsResult) result = NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	Sample sample = blank();

	add_job(table, JOB(.sd = .0002, .base = 195.1, .factor = .8211, .params = "nproc=8"));
	add_job(table, JOB(.sd = .0002, .params = "nproc=1"));
	add_job(table, JOB(.sd = .5, .base = 123456789, .params = "a-very-long-parameter=with-a-long-value;another=one;lru=classic"));
	add_job(table, JOB(.order = "AB", .base = 1e-7, .factor = 1e9, .params = "huge"));
	sample.params = "one=boot";
	sample.boot = 99;
	sample.value = 1;
	append(table, &sample);
	result = analyse(table, NULL);
	text = stats_result_to_text(result);
	lines = g_strsplit(text, "\n", -1);
	for (gsize i = 0; lines[i]; i++)
		if (g_utf8_strlen(lines[i], -1) > STATS_TEXT_WIDTH)
			g_error("%ld columns: %s", g_utf8_strlen(lines[i], -1), lines[i]);
	g_assert_true(g_str_has_prefix(text, "aging                    base  patched  change          interval  verdict\n"));
	g_assert_true(g_pattern_match_simple("*\nnproc=8 *  195.1    160.2  -17.9%  [-17.9%, -17.9%]  IMPROVEMENT\n*", text));
	g_assert_true(g_pattern_match_simple("*\none=boot *     1        -       -                 -  INSUFFICIENT\n*", text));
}

static void test_sentence(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), empty = sample_table_new(), job = sample_table_new();
	g_autoptr(StatsResult) result = NULL, nothing = NULL;

	add_job(table, JOB(.sd = .0001, .factor = 1.18, .params = "nproc=8;lru=mglru"));
	add_job(table, JOB(.sd = .0001, .params = "nproc=1;lru=mglru"));
	add_job(job, JOB(.sd = .001, .params = "size=1k;lru=classic"));
	for (gsize i = 0; i < sample_table_length(job); i++) {
		Sample sample = *sample_table_get(job, i);

		sample.benchmark = "pwrite";
		append(table, &sample);
	}
	result = analyse(table, NULL);
	if (!g_pattern_match_simple("aging is 18 % slower with nproc=8, unchanged within ±0.0?? % with nproc=1; pwrite unchanged within ±0.? %",
				    result->summary) &&
	    !g_pattern_match_simple("aging is 18 % slower with nproc=8, unchanged within ±0.0?? % with nproc=1; pwrite unchanged within ±0.?? %",
				    result->summary))
		g_error("%s", result->summary);
	nothing = analyse(empty, NULL);
	g_assert_cmpstr(nothing->summary, ==, "nothing was measured");
	g_assert_cmpuint(nothing->comparisons->len, ==, 0);
}

/* Sets from a value of a parameter on, or up to one, are named so; others are counted. */
static void test_sentence_ranges(void)
{
	static const struct {
		double changed[4];	/* factors with nproc=1, 8, 32 and 64 */
		const char *begins;
	} cases[] = {
		{ { 1, .82, .78, .79 }, "aging is 18 to 22 % faster with nproc=8 or more, unchanged within ±" },
		{ { 1.2, 1.1, 1, 1 }, "aging is 10 to 20 % slower with nproc=8 or less, unchanged within ±" },
		{ { .8, 1, 1, .8 }, "aging is 20 % faster with nproc=1 and 20 % faster with nproc=64, unchanged within ±" },
	};
	static const char *const names[] = { "nproc=1;lru=mglru", "nproc=8;lru=mglru", "nproc=32;lru=mglru", "nproc=64;lru=mglru" };

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(SampleTable) table = sample_table_new();
		g_autoptr(StatsResult) result = NULL;

		for (int set = 0; set < 4; set++)
			add_job(table, JOB(.sd = .0001, .factor = cases[i].changed[set], .params = names[set]));
		result = analyse(table, NULL);
		if (!g_str_has_prefix(result->summary, cases[i].begins))
			g_error("%s", result->summary);
	}
}

static void test_options(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	StatsOptions wrong[6];

	for (int i = 0; i < 6; i++)
		wrong[i] = FIXED_OPTIONS;
	wrong[0].alpha = 0;
	wrong[1].alpha = NAN;
	wrong[2].min_effect_pct = -1;
	wrong[3].max_boots = STATS_MAX_BOOTS_LIMIT + 1;
	wrong[4].seed = -1;
	wrong[5].min_effect_pct = INFINITY;
	for (int i = 0; i < 6; i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(stats_analyse(table, &wrong[i], &error));
		g_assert_error(error, STATS_ANALYSIS_ERROR, STATS_ANALYSIS_ERROR_OPTION);
	}
}

static void test_seed(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	StatsOptions options = FIXED_OPTIONS;
	g_autoptr(StatsResult) one = NULL, two = NULL, other = NULL;

	add_job(table, JOB(.sd = .01, .order = "ABBABAABABBABAABABBABAABABBABAAB"));
	one = analyse(table, NULL);
	options.seed = one->seed; /* what was derived can be given */
	two = analyse(table, &options);
	options.seed++;
	other = analyse(table, &options);
	g_assert_cmpint(one->seed, >, 0);
	g_assert_cmpint(at(one, 0)->seed, ==, at(two, 0)->seed);
	g_assert_cmpfloat(at(one, 0)->p_permutation, ==, at(two, 0)->p_permutation);
	g_assert_cmpint(at(one, 0)->seed, !=, at(other, 0)->seed);
	g_assert_cmpfloat(at(one, 0)->p_permutation, !=, at(other, 0)->p_permutation);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/result/failures", test_failures);
	g_test_add_func("/result/json-round-trip", test_json_round_trip);
	g_test_add_func("/result/json-refuses", test_json_refuses);
	g_test_add_func("/result/text", test_text);
	g_test_add_func("/result/sentence", test_sentence);
	g_test_add_func("/result/sentence-ranges", test_sentence_ranges);
	g_test_add_func("/result/options", test_options);
	g_test_add_func("/result/seed", test_seed);
	return g_test_run();
}
