/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures, byte for byte as in tests/unit/data/plot-*.svg (UPDATE=1 writes them), and what they are made of. */
#include <libxml/parser.h>
#include <math.h>

#include "tests/unit/job-fixture.h"
#include "web/page-job-parts.h"
#include "web/plot.h"

#define GOLDEN "tests/unit/data"

static char *labels(double low, double high, guint wanted)
{
	PlotScale scale = { .low = low, .high = high, .from = 0, .to = 1000 };
	PlotTick ticks[PLOT_TICKS_MAX];
	guint count = plot_ticks(&scale, wanted, ticks);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < count; i++)
		g_string_append_printf(text, "%s%s", i ? " " : "", ticks[i].label);
	return g_string_free(text, FALSE);
}

static void test_ticks(void)
{
	static const struct {
		double low, high;
		guint wanted;
		const char *labels;
	} cases[] = {
		{ 0, 1, 4, "0 0.5 1.0" },
		{ 0, 10, 5, "0 2 4 6 8 10" },
		{ -18.3, 1.2, 4, "-15 -10 -5 0" },
		{ .1, .75, 7, "0.1 0.2 0.3 0.4 0.5 0.6 0.7" },
		{ 118000, 119000, 4, "118000 118500 119000" },
		{ 22.9001, 22.9009, 4, "22.9002 22.9004 22.9006 22.9008" },
		{ 0, 4e8, 4, "0 1e8 2e8 3e8 4e8" },
		{ -2e-9, 2e-9, 4, "-2e-9 -1e-9 0 1e-9 2e-9" },
		{ 1e17, 1e17 + 64, 4, "" },	/* doubles there are further apart than whole numbers */
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *found = labels(cases[i].low, cases[i].high, cases[i].wanted);

		g_test_message("%g to %g", cases[i].low, cases[i].high);
		g_assert_cmpstr(found, ==, cases[i].labels);
	}
}

static void test_scale(void)
{
	PlotScale up = plot_scale(10, 20, 100, 0), log2 = plot_scale_log(1, 64, 0, 600), none = plot_scale(NAN, NAN, 0, 100);
	PlotScale one = plot_scale(5, 5, 0, 100), far = plot_scale(-INFINITY, INFINITY, 0, 100);

	g_assert_cmpint(plot_place(&up, 15), ==, 50);
	g_assert_cmpint(plot_place(&up, 10), >, plot_place(&up, 20));
	g_assert_cmpint(plot_place(&up, 1e9), ==, 0);
	g_assert_cmpint(plot_place(&up, -1e9), ==, 100);
	g_assert_cmpint(plot_place(&log2, 8), ==, 300);
	g_assert_cmpint(plot_place(&log2, -1), ==, 0);
	g_assert_cmpfloat(none.low, <, none.high);
	g_assert_cmpfloat(far.low, <, far.high);
	g_assert_cmpint(plot_place(&one, 5), >, 0);
	g_assert_cmpint(plot_place(&one, 5), <, 100);
}

/* The n-th picture of what was written; a document of its own. */
static char *take_svg(Html *html, int n)
{
	g_autofree char *text = html_take(html, NULL);
	const char *begin = text, *end;

	for (int i = 0; i <= n; i++) {
		begin = strstr(i ? begin + 1 : begin, "<svg ");
		g_assert_nonnull(begin);
	}
	end = strstr(begin, "</svg>\n");
	g_assert_nonnull(end);
	return g_strndup(begin, (gsize)(end - begin) + strlen("</svg>\n"));
}

static void check_golden(const char *svg, const char *name)
{
	g_autofree char *path = g_strdup_printf(GOLDEN "/plot-%s.svg", name), *wanted = NULL;
	xmlDoc *document = xmlReadMemory(svg, (int)strlen(svg), "plot", "UTF-8", XML_PARSE_NONET);

	g_assert_nonnull(document);
	xmlFreeDoc(document);
	if (g_getenv("UPDATE"))
		g_assert_true(g_file_set_contents(path, svg, -1, NULL));
	g_assert_true(g_file_get_contents(path, &wanted, NULL, NULL));
	g_assert_cmpstr(svg, ==, wanted);
}

static void add_values(StatsComparison *comparison, int arm, double first, double step, int count)
{
	for (int i = 0; i < count; i++) {
		double value = first + step * (i * 5 % 7);

		g_array_append_val(comparison->boot_values[arm], value);
	}
}

static char *boots_picture(void)
{
	g_autoptr(Html) html = html_new();
	g_autoptr(StoreJob) job = fixture_job(JOB_DONE);
	g_autoptr(StatsResult) result = fixture_result();
	g_autoptr(GPtrArray) boots = g_ptr_array_new_with_free_func((GDestroyNotify)store_boot_free);
	StatsComparison *comparison = g_ptr_array_index(result->comparisons, 1);
	JobView view = { .job = job, .result = result, .boots = boots };

	for (int i = 0; i < 16; i++) {
		StoreBoot *boot = g_new0(StoreBoot, 1);

		boot->boot = i;
		boot->valid = TRUE;
		boot->arm = g_strdup(strchr("AD", "ABCDBACD"[i % 8]) ? "base" : "patched");
		g_ptr_array_add(boots, boot);
	}
	add_values(comparison, 0, 19.9, .04, 8);
	add_values(comparison, 1, 23.5, .05, 8);
	job_boot_plots_section(html, &view);
	return take_svg(html, 0);
}

static void test_boots(void)
{
	g_autofree char *svg = boots_picture(), *again = boots_picture();

	g_assert_cmpstr(svg, ==, again);
	check_golden(svg, "boots");
}

static void take_changes(GPtrArray *sets, const StatsResult *result, guint count)
{
	for (guint i = 0; i < count; i++)
		g_ptr_array_add(sets, g_ptr_array_index(result->comparisons, i));
}

static void test_change(void)
{
	g_autoptr(Html) html = html_new();
	g_autoptr(StatsResult) result = fixture_result();
	g_autoptr(GPtrArray) sets = g_ptr_array_new();
	g_autofree char *svg = NULL;

	take_changes(sets, result, 2);
	job_change_plots(html, sets, 1, 0);
	svg = take_svg(html, 0);
	check_golden(svg, "change");
}

static void test_range(void)
{
	g_autoptr(Html) html = html_new();
	g_autoptr(StatsResult) result = stats_result_new();
	g_autofree char *svg = NULL;

	fixture_compare(result, "aging", "nproc=64;lru=mglru", STATS_VERDICT_IMPROVEMENT, -21.1, TRUE);
	fixture_compare(result, "aging", "nproc=1;lru=mglru", STATS_VERDICT_IMPROVEMENT, -3.5, TRUE);
	fixture_compare(result, "aging", "nproc=8;lru=mglru", STATS_VERDICT_IMPROVEMENT, -17.9, TRUE);
	fixture_compare(result, "aging", "nproc=1;lru=classic", STATS_VERDICT_EQUIVALENT, .2, TRUE);
	fixture_compare(result, "aging", "nproc=8;lru=classic", STATS_VERDICT_INCONCLUSIVE, 1.2, TRUE);
	job_change_plots(html, result->comparisons, 1, 0);
	svg = take_svg(html, 1);
	check_golden(svg, "range");
}

/* Nothing of a title can be markup, and a change that could not be computed is not drawn as one. */
static void test_hostile(void)
{
	g_autoptr(Html) html = html_new();
	g_autoptr(StatsResult) result = stats_result_new();
	StatsComparison *comparison;
	g_autofree char *svg = NULL;

	fixture_compare(result, EVIL, EVIL ";" EVIL, STATS_VERDICT_INVALID, NAN, TRUE);
	comparison = g_ptr_array_index(result->comparisons, 0);
	comparison->ci_low_pct = -INFINITY;
	job_change_plots(html, result->comparisons, 1, 0);
	svg = take_svg(html, 0);
	g_assert_null(strstr(svg, "<script"));
	g_assert_null(strstr(svg, "nan"));
	g_assert_null(strstr(svg, "inf"));
	g_assert_null(strstr(svg, "dots"));
	check_golden(svg, "hostile");
}

int main(int argc, char **argv)
{
	int status;

	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/plot/ticks", test_ticks);
	g_test_add_func("/plot/scale", test_scale);
	g_test_add_func("/plot/boots", test_boots);
	g_test_add_func("/plot/change", test_change);
	g_test_add_func("/plot/range", test_range);
	g_test_add_func("/plot/hostile", test_hostile);
	status = g_test_run();
	xmlCleanupParser();
	return status;
}
