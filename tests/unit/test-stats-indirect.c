/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <math.h>

#include "jobs/stats/indirect.h"

static GArray *values(const double *from, guint count)
{
	GArray *array = g_array_new(FALSE, FALSE, sizeof(double));

	return g_array_append_vals(array, from, count);
}

static StatsEffect effect(const double *base, guint base_n, const double *patched, guint patched_n)
{
	g_autoptr(GArray) left = values(base, base_n), right = values(patched, patched_n);
	StatsEffect result;

	g_assert_true(stats_effect(left, right, &result));
	return result;
}

static const double a0[] = { 20, 20.2, 19.9, 20.1 }, a1[] = { 21, 21.3, 20.9, 21.2 };
static const double b0[] = { 20.3, 20.1, 20.2, 20.4, 20.0 }, b1[] = { 22, 21.8, 22.1, 21.9 };

#define assert_near(a, b) g_assert_cmpfloat_with_epsilon(a, b, 1e-9 * fabs(b))

/* By numpy and scipy, from the formulas in the header. */
static void test_golden(void)
{
	StatsEffect a = effect(a0, 4, a1, 4), b = effect(b0, 5, b1, 4);
	StatsDifference found = stats_effect_difference(&a, &b, .95), back = stats_effect_difference(&b, &a, .95);

	assert_near(a.effect, 0.051031356582727394);
	assert_near(a.variance, 2.9083988240611105e-05);
	g_assert_cmpfloat(b.df, ==, 7);
	assert_near(found.change_pct, 3.258432638053944);
	assert_near(found.low_pct, 1.6628532913766165);
	assert_near(found.high_pct, 4.879054302245677);
	assert_near(found.p, 0.000700980792446217);
	assert_near(back.p, found.p);
	assert_near((1 + back.change_pct / 100) * (1 + found.change_pct / 100), 1.0);
	/* what moves one job as a whole cancels */
	const double c0[] = { 40, 40.4, 39.8, 40.2 }, c1[] = { 42, 42.6, 41.8, 42.4 };
	StatsEffect c = effect(c0, 4, c1, 4);
	assert_near(stats_effect_difference(&c, &b, .95).change_pct, found.change_pct);
	assert_near(stats_effect_difference(&c, &b, .95).p, found.p);
}

static void test_edges(void)
{
	const double same[] = { 5, 5, 5 }, more[] = { 6, 6 }, bad[] = { 5, 0, 5 }, missing[] = { 5, NAN };
	g_autoptr(GArray) one = values(same, 1), three = values(same, 3), zero = values(bad, 3), nan = values(missing, 2);
	StatsEffect flat = effect(same, 3, same, 3), up = effect(same, 3, more, 2), result;
	StatsDifference none = stats_effect_difference(&flat, &flat, .95), exact = stats_effect_difference(&flat, &up, .95);

	g_assert_false(stats_effect(one, three, &result) || stats_effect(three, one, &result) || stats_effect(three, zero, &result) ||
		       stats_effect(nan, three, &result));
	/* nothing varies: no p from nothing, and no interval */
	g_assert_cmpfloat(none.p, ==, 1);
	g_assert_true(isnan(none.low_pct) && isnan(exact.low_pct) && isnan(exact.p));
	assert_near(exact.change_pct, 20.0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stats/indirect/golden", test_golden);
	g_test_add_func("/stats/indirect/edges", test_edges);
	return g_test_run();
}
