/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/change-point.h"

#include <math.h>

#include "jobs/stats/descriptive.h"
#include "jobs/stats/multiple.h"
#include "jobs/stats/rank.h"

static double scan(StatsScanNull *null, const double *values, gsize n, gsize *ret_split)
{
	g_autofree double *ranks = g_new(double, n);
	StatsScan found;

	stats_mid_ranks(values, n, ranks);
	found = stats_scan(ranks, n);
	*ret_split = found.split;
	return stats_scan_p(null, ranks, n, found.r_squared);
}

static int by_index(const void *a, const void *b)
{
	const StatsChangePoint *left = a, *right = b;

	return (left->index > right->index) - (left->index < right->index);
}

/* The part [from, to) of a series: split where its scan is significant, and its halves again. */
static void segment(StatsScanNull *null, StatsSeries *series, gsize from, gsize to, double alpha)
{
	StatsChangePoint point = { 0 };
	gsize split;

	if (to - from < (gsize)2 * STATS_SCAN_SEGMENT)
		return;
	point.p = scan(null, series->values + from, to - from, &split);
	if (!split || point.p > alpha)
		return;
	point.index = from + split;
	point.good = point.index - STATS_SCAN_SEGMENT;
	g_array_append_val(series->points, point);
	segment(null, series, from, point.index, alpha);
	segment(null, series, point.index, to, alpha);
}

static gsize window_start(const StatsSeries *series)
{
	return series->count > STATS_CHANGE_WINDOW ? series->count - STATS_CHANGE_WINDOW : 0;
}

/* Up to the change point after point i (or the series' end), from the one before (or the window's begin). */
static void measure_shifts(StatsSeries *series)
{
	GArray *points = series->points;

	for (guint i = 0; i < points->len; i++) {
		StatsChangePoint *point = &g_array_index(points, StatsChangePoint, i);
		gsize from = i ? point[-1].index : window_start(series);
		gsize to = i + 1 < points->len ? point[1].index : series->count;

		point->shift = stats_median(series->values + point->index, to - point->index) -
			       stats_median(series->values + from, point->index - from);
	}
}

static double lag1_around_levels(const StatsSeries *series)
{
	g_autofree double *rest = g_memdup2(series->values, series->count * sizeof *rest);

	for (guint i = 0; i <= series->points->len; i++) {
		gsize from = i ? g_array_index(series->points, StatsChangePoint, i - 1).index : 0;
		gsize to = i < series->points->len ? g_array_index(series->points, StatsChangePoint, i).index : series->count;
		double level = stats_mean(series->values + from, to - from);

		for (gsize j = from; j < to; j++)
			rest[j] -= level;
	}
	return stats_lag1_correlation(rest, series->count);
}

void stats_change_points(StatsScanNull *null, StatsSeries *series, gsize count, double alpha)
{
	g_autofree double *p = g_new(double, count), *adjusted = g_new(double, count);

	for (gsize i = 0; i < count; i++) {
		gsize start = window_start(&series[i]), n = series[i].count - start, split;

		p[i] = n >= (gsize)2 * STATS_SCAN_SEGMENT ? scan(null, series[i].values + start, n, &split) : 1;
	}
	stats_benjamini_hochberg(p, count, alpha, adjusted);
	for (gsize i = 0; i < count; i++) {
		StatsSeries *one = &series[i];

		one->p = p[i];
		one->p_adjusted = adjusted[i];
		one->points = g_array_new(FALSE, FALSE, sizeof(StatsChangePoint));
		one->lag1 = NAN;
		if (one->count < (gsize)2 * STATS_SCAN_SEGMENT)
			continue;
		if (adjusted[i] <= alpha)
			segment(null, one, window_start(one), one->count, alpha);
		g_array_sort(one->points, by_index);
		measure_shifts(one);
		one->lag1 = lag1_around_levels(one);
		one->advisory = one->lag1 > STATS_CHANGE_LAG1;
	}
}

void stats_series_clear(StatsSeries *series)
{
	g_clear_pointer(&series->points, g_array_unref);
}

gboolean stats_change_nominated(const StatsSeries *series, gsize refused_count, StatsChangePoint *ret_point)
{
	if (!series->points->len || series->advisory || (refused_count && series->count < refused_count + STATS_CHANGE_PAUSE))
		return FALSE;
	*ret_point = g_array_index(series->points, StatsChangePoint, series->points->len - 1);
	return TRUE;
}
