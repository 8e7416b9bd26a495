/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <string.h>

#include "jobs/spec/peek.h"
#include "jobs/stats/counters.h"

#define SECOND G_GINT64_CONSTANT(1000000000)

/* Boots in ABBA order; func adds what boot i counted. */
static JsonObject *analyse(int boots, void (*func)(StatsCounters *counters, int i, gboolean patched, GRand *rand))
{
	g_autoptr(StatsCounters) counters = stats_counters_new();
	g_autoptr(GRand) rand = g_rand_new_with_seed(7);

	for (int i = 0; i < boots; i++) {
		gboolean patched = i % 4 == 1 || i % 4 == 2;

		stats_counters_add_boot(counters, patched ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE, i * 10 * SECOND);
		func(counters, i, patched, rand);
	}
	return stats_counters_analyse(counters, .05);
}

static JsonObject *find(JsonObject *found, const char *counter)
{
	JsonArray *rows = peek_array(found, "rows");

	for (guint i = 0; i < peek_length(rows); i++)
		if (g_str_equal(peek_string(peek_element(rows, i), "counter"), counter))
			return peek_element(rows, i);
	return NULL;
}

static void count_some(StatsCounters *counters, int i, gboolean patched, GRand *rand)
{
	/* in two runs, which are summed */
	stats_counters_add(counters, "aging", "nproc=1", "vmstat.moved", 500 + g_rand_int_range(rand, 0, 10));
	stats_counters_add(counters, "aging", "nproc=1", "vmstat.moved", (patched ? 300 : 500) + g_rand_int_range(rand, 0, 10));
	stats_counters_add(counters, "aging", "nproc=1", "vmstat.same", 77);
	stats_counters_add(counters, "aging", "nproc=1", "vmstat.exact", patched ? 12 : 10);
	if (patched)
		stats_counters_add(counters, "pwrite", "", "vmstat.only_patched", -3 - i % 2);
	for (int j = 0; j < 40; j++) {
		g_autofree char *name = g_strdup_printf("vmstat.noise_%d", j);

		stats_counters_add(counters, "aging", "nproc=1", name, g_rand_int_range(rand, 0, 1000));
	}
}

static void test_moved(void)
{
	g_autoptr(JsonObject) found = analyse(16, count_some);
	JsonObject *moved = find(found, "vmstat.moved"), *exact = find(found, "vmstat.exact");
	JsonObject *only = find(found, "vmstat.only_patched");

	/* all but vmstat.same */
	g_assert_cmpint(peek_int(found, "tested", 0), ==, 43);
	g_assert_cmpint(peek_int(peek_object(found, "boots"), "patched", 0), ==, 8);
	g_assert_nonnull(moved);
	g_assert_cmpstr(peek_string(moved, "benchmark"), ==, "aging");
	g_assert_cmpfloat(fabs(peek_double(moved, "difference", 0) + 200), <, 10);
	g_assert_cmpfloat(peek_double(moved, "low", 0), <, peek_double(moved, "difference", 0));
	g_assert_cmpfloat(peek_double(moved, "high", 0), <, 0);
	g_assert_cmpfloat(peek_double(moved, "p", 1), <=, peek_double(moved, "p_bh", 0));
	g_assert_cmpfloat(peek_double(moved, "p_bh", 1), <=, .05);
	/* absent is 0 */
	g_assert_nonnull(only);
	g_assert_cmpfloat(peek_double(only, "base", 1), ==, 0);
	g_assert_cmpfloat(peek_double(only, "patched", 1), ==, -3.5);
	/* no residual: no interval, never p = 0 */
	g_assert_nonnull(exact);
	g_assert_true(peek_bool(exact, "exact"));
	g_assert_true(json_object_get_null_member(exact, "low"));
	g_assert_cmpfloat(peek_double(exact, "p", 0), >, 0);
	g_assert_null(find(found, "vmstat.same"));
	/* those of 40 that differ by chance are few, if any */
	g_assert_cmpint(peek_int(found, "selected", 99), <=, 5);
	g_assert_cmpint(peek_int(found, "selected", 0), >=, 2);
}

static void test_few_boots(void)
{
	g_autoptr(JsonObject) found = analyse(6, count_some);

	g_assert_cmpint(peek_int(found, "tested", 99), ==, 0);
	g_assert_cmpint(peek_length(peek_array(found, "rows")), ==, 0);
}

static void count_many(StatsCounters *counters, int i, gboolean patched, GRand *rand G_GNUC_UNUSED)
{
	for (int j = 0; j < 500; j++) {
		g_autofree char *name = g_strdup_printf("memcg.many_%d", j);

		stats_counters_add(counters, "aging", "nproc=1", name, (patched ? 100 : 0) + i % 3);
	}
}

/* A kernel that moves everything does not fill the page. */
static void test_bound(void)
{
	g_autoptr(JsonObject) found = analyse(12, count_many);

	g_assert_cmpint(peek_int(found, "selected", 0), ==, 500);
	g_assert_cmpint(peek_length(peek_array(found, "rows")), ==, STATS_COUNTERS_TOLD_MAX);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/counters/moved", test_moved);
	g_test_add_func("/counters/few-boots", test_few_boots);
	g_test_add_func("/counters/bound", test_bound);
	return g_test_run();
}
