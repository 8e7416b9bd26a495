/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <glib/gstdio.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "jobs/stats/change-point.h"
#include "jobs/stats/rank.h"

#define NIGHTS 50

typedef struct {
	StatsScanNull *null;
	gsl_rng *random;
} Fixture;

static void set_up(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	fixture->null = stats_scan_null_new(NULL);
	fixture->random = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(fixture->random, 7);
}

static void tear_down(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	stats_scan_null_free(fixture->null);
	gsl_rng_free(fixture->random);
}

static void draw(const Fixture *fixture, double *values, gsize n)
{
	for (gsize i = 0; i < n; i++)
		values[i] = gsl_ran_gaussian(fixture->random, 1);
}

static StatsSeries look_at(const Fixture *fixture, const double *values, gsize n)
{
	StatsSeries series = { .values = values, .count = n };

	stats_change_points(fixture->null, &series, 1, STATS_CHANGE_ALPHA);
	return series;
}

/* 1 … 10 in order split in the middle: r² = 1 − (2·10)/82.5. */
static void test_golden(void)
{
	const double ranks[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, equal[] = { 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5 };
	StatsScan scan = stats_scan(ranks, 10);

	g_assert_cmpuint(scan.split, ==, 5);
	g_assert_cmpfloat_with_epsilon(scan.r_squared, 1 - 20 / 82.5, 1e-14);
	g_assert_cmpuint(stats_scan(equal, 10).split, ==, 0);
	g_assert_cmpuint(stats_scan(ranks, 9).split, ==, 0);
}

/* With ten values there is one split: its p is that of an exact rank sum test, 2/C(10, 5) where they are separated. */
static void test_exact(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	const double ranks[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	double p = stats_scan_p(fixture->null, ranks, 10, stats_scan(ranks, 10).r_squared);

	g_assert_cmpfloat_with_epsilon(p, 2.0 / 252, .0008);
	g_assert_cmpfloat(stats_scan_p(fixture->null, ranks, 10, 0), ==, 1);
	/* tied pairs: four of 252 labellings separate the pairs as far, two of them have all five pairs below */
	const double tied[] = { 1.5, 1.5, 3.5, 3.5, 5, 6.5, 6.5, 8.5, 8.5, 10 };
	g_assert_cmpfloat_with_epsilon(stats_scan_p(fixture->null, tied, 10, stats_scan(tied, 10).r_squared), 2.0 / 252, .002);
}

/* Without a change the p are at most what they say, and not much less. */
static void test_uniform(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	int below_05 = 0, below_01 = 0, sets = 4000;

	for (int i = 0; i < sets; i++) {
		double values[30], ranks[30], p;

		draw(fixture, values, 30);
		stats_mid_ranks(values, 30, ranks);
		p = stats_scan_p(fixture->null, ranks, 30, stats_scan(ranks, 30).r_squared);
		g_assert_true(p > 0 && p <= 1);
		below_05 += p <= .05;
		below_01 += p <= .01;
	}
	g_assert_cmpfloat_with_epsilon((double)below_05 / sets, .05, .011);
	g_assert_cmpfloat_with_epsilon((double)below_01 / sets, .01, .005);
}

static void test_finds(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	double values[80], scaled[80], reversed[80];
	StatsSeries series, other;

	draw(fixture, values, 80);
	for (int i = 60; i < 80; i++)
		values[i] += 4;
	values[50] = 1e6; /* one wild night */
	series = look_at(fixture, values, 80);
	g_assert_cmpuint(series.points->len, ==, 1);
	g_assert_cmpuint(g_array_index(series.points, StatsChangePoint, 0).index, ==, 60);
	g_assert_cmpfloat_with_epsilon(g_array_index(series.points, StatsChangePoint, 0).shift, 4, 1);
	g_assert_cmpfloat(series.p_adjusted, <=, STATS_CHANGE_ALPHA);
	for (int i = 0; i < 80; i++) {
		scaled[i] = 3 * values[i] - 5;
		reversed[i] = -values[79 - i];
	}
	other = look_at(fixture, scaled, 80);
	g_assert_cmpfloat(other.p, ==, series.p);
	g_assert_cmpuint(g_array_index(other.points, StatsChangePoint, 0).index, ==, 60);
	stats_series_clear(&other);
	other = look_at(fixture, reversed, NIGHTS);
	g_assert_cmpuint(g_array_index(other.points, StatsChangePoint, 0).index, ==, 20);
	g_assert_cmpfloat_with_epsilon(other.p, series.p, series.p / 10);
	stats_series_clear(&other);
	stats_series_clear(&series);
}

static void test_two_changes(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	double values[NIGHTS];
	StatsSeries series;

	draw(fixture, values, NIGHTS);
	for (int i = 0; i < NIGHTS; i++)
		values[i] += i >= 18 && i < 34 ? 6 : i >= 34 ? 2 : 0;
	series = look_at(fixture, values, NIGHTS);
	g_assert_cmpuint(series.points->len, ==, 2);
	g_assert_cmpuint(g_array_index(series.points, StatsChangePoint, 0).index, ==, 18);
	g_assert_cmpuint(g_array_index(series.points, StatsChangePoint, 1).index, ==, 34);
	g_assert_cmpfloat(g_array_index(series.points, StatsChangePoint, 1).shift, <, -2);
	stats_series_clear(&series);
}

/* Under icount many nights repeat to the last digit. */
static void test_repeating(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	double values[NIGHTS] = { 0 };
	StatsSeries series = look_at(fixture, values, NIGHTS);

	g_assert_cmpfloat(series.p, ==, 1);
	g_assert_cmpuint(series.points->len, ==, 0);
	g_assert_true(isnan(series.lag1));
	g_assert_false(series.advisory);
	stats_series_clear(&series);
	values[20] = .001; /* one night */
	series = look_at(fixture, values, NIGHTS);
	g_assert_cmpuint(series.points->len, ==, 0);
	stats_series_clear(&series);
	for (int i = 44; i < NIGHTS; i++)
		values[i] = .03;
	series = look_at(fixture, values, NIGHTS);
	g_assert_cmpuint(series.points->len, ==, 1);
	g_assert_cmpuint(g_array_index(series.points, StatsChangePoint, 0).index, ==, 44);
	g_assert_cmpfloat(g_array_index(series.points, StatsChangePoint, 0).shift, ==, .03);
	stats_series_clear(&series);
}

static void test_correlated(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	double values[NIGHTS];
	StatsSeries series;

	draw(fixture, values, NIGHTS);
	for (int i = 1; i < NIGHTS; i++)
		values[i] += .8 * values[i - 1];
	series = look_at(fixture, values, NIGHTS);
	g_assert_cmpfloat(series.lag1, >, STATS_CHANGE_LAG1);
	g_assert_true(series.advisory);
	stats_series_clear(&series);
	/* a step alone is no correlation */
	draw(fixture, values, NIGHTS);
	for (int i = 25; i < NIGHTS; i++)
		values[i] += 5;
	series = look_at(fixture, values, NIGHTS);
	g_assert_cmpuint(series.points->len, ==, 1);
	g_assert_cmpfloat(fabs(series.lag1), <, .3);
	stats_series_clear(&series);
}

/* Among many series the one that moved has to be plainer; the others change nothing in themselves. */
static void test_many_series(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	double values[40][NIGHTS];
	StatsSeries series[40] = { 0 };

	for (int i = 0; i < 40; i++) {
		draw(fixture, values[i], NIGHTS);
		series[i] = (StatsSeries){ .values = values[i], .count = i == 39 ? 9 : NIGHTS };
	}
	for (int i = 40; i < NIGHTS; i++)
		values[3][i] += 5;
	stats_change_points(fixture->null, series, 40, STATS_CHANGE_ALPHA);
	for (int i = 0; i < 40; i++) {
		g_assert_cmpfloat(series[i].p_adjusted, >=, series[i].p);
		g_assert_cmpint(series[i].points->len > 0, ==, series[i].p_adjusted <= STATS_CHANGE_ALPHA);
	}
	g_assert_cmpuint(g_array_index(series[3].points, StatsChangePoint, 0).index, ==, 40);
	g_assert_cmpfloat(series[39].p, ==, 1);
	g_assert_true(isnan(series[39].lag1));
	for (int i = 0; i < 40; i++)
		stats_series_clear(&series[i]);
}

/* A table that a process left is what the next one would find, and a spoilt one is found again. */
static void test_files(Fixture *fixture, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *dir = g_dir_make_tmp("regrlab-scan-XXXXXX", NULL), *path = NULL;
	g_autoptr(GDir) folder = NULL;
	double values[20], ranks[20], p, r_squared;

	draw(fixture, values, 20);
	stats_mid_ranks(values, 20, ranks);
	r_squared = stats_scan(ranks, 20).r_squared;
	p = stats_scan_p(fixture->null, ranks, 20, r_squared);
	for (int pass = 0; pass < 3; pass++) {
		g_autoptr(StatsScanNull) null = stats_scan_null_new(dir);

		g_assert_cmpfloat(stats_scan_p(null, ranks, 20, r_squared), ==, p);
		if (pass == 0) {
			folder = g_dir_open(dir, 0, NULL);
			path = g_build_filename(dir, g_dir_read_name(folder), NULL);
		} else {
			g_assert_true(g_file_set_contents(path, "spoilt\n0x1p0\n", -1, NULL));
		}
	}
	g_unlink(path);
	g_rmdir(dir);
}

#define ADD(path, test) g_test_add(path, Fixture, NULL, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/nights/golden", test_golden);
	ADD("/nights/exact", test_exact);
	ADD("/nights/uniform", test_uniform);
	ADD("/nights/finds", test_finds);
	ADD("/nights/two-changes", test_two_changes);
	ADD("/nights/repeating", test_repeating);
	ADD("/nights/correlated", test_correlated);
	ADD("/nights/many-series", test_many_series);
	ADD("/nights/files", test_files);
	return g_test_run();
}
