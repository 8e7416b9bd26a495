/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <math.h>

#include "jobs/stats/components.h"
#include "jobs/stats/descriptive.h"
#include "jobs/stats/fisher.h"
#include "jobs/stats/multiple.h"
#include "jobs/stats/permutation.h"
#include "jobs/stats/power.h"
#include "jobs/stats/rank.h"
#include "jobs/stats/trend.h"

#define assert_near(a, b, relative) g_assert_cmpfloat_with_epsilon(a, b, (relative) * fabs((double)(b)))

static void test_permutation_golden(void)
{
	const double low[] = { 1, 2, 3, 4 }, high[] = { 5.1, 6.3, 7.7, 8.2 };
	const double slow[] = { 115, 114, 115, 115, 115 }, fast[] = { 78.8, 78.8, 78.8, 78.8, 78.8 };
	const double left[] = { 1, 2, 2 }, right[] = { 2, 3, 4 };
	double both[6], ranks[6];

	assert_near(stats_permutation_test(low, 4, high, 4, 1).p, 2.0 / 70, 1e-15);
	assert_near(stats_permutation_test(slow, 5, fast, 5, 1).p, .007936508, 1e-7);
	assert_near(stats_permutation_test(left, 3, right, 3, 1).p, .3, 1e-15);
	for (int i = 0; i < 3; i++) {
		both[i] = left[i];
		both[i + 3] = right[i];
	}
	stats_mid_ranks(both, 6, ranks);
	assert_near(stats_permutation_test(ranks, 3, ranks + 3, 3, 1).p, .3, 1e-15);
	g_assert_cmpfloat(stats_permutation_test(fast, 5, fast, 4, 1).p, ==, 1);
	g_assert_true(isnan(stats_permutation_test(fast, 5, fast, 0, 1).p));
	g_assert_cmpuint(stats_permutation_min_boots(.05), ==, 4);
	g_assert_cmpuint(stats_permutation_min_boots(.0125), ==, 5);
	g_assert_cmpuint(stats_permutation_min_boots(.00625), ==, 6);
}

/* The share of all labellings, by counting in binary, that are at least as extreme as the real one. */
static double brute_force(const double *values, guint n, guint a_count)
{
	double observed = 0, hits = 0, all = 0;

	for (int pass = 0; pass < 2; pass++)
		for (guint mask = 0; mask < 1u << n; mask++) {
			double a = 0, b = 0;
			guint taken = 0;

			for (guint i = 0; i < n; i++) {
				taken += mask >> i & 1;
				*(mask >> i & 1 ? &a : &b) += values[i];
			}
			if (taken != a_count)
				continue;
			if (!pass && mask == (1u << a_count) - 1)
				observed = fabs(a / a_count - b / (n - a_count));
			if (pass) {
				all++;
				hits += fabs(a / a_count - b / (n - a_count)) >= observed * (1 - 1e-12) - 1e-13;
			}
		}
	return hits / all;
}

static void test_permutation_brute_force(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(20);

	for (int set = 0; set < 400; set++) {
		guint n = (guint)g_rand_int_range(random, 2, 11), a_count = (guint)g_rand_int_range(random, 1, (gint32)n);
		gboolean ties = set % 2;
		double values[10];
		StatsPermutation result;

		for (guint i = 0; i < n; i++)
			values[i] = ties ? g_rand_int_range(random, 1, 4) : g_rand_double_range(random, 1, 2);
		result = stats_permutation_test(values, a_count, values + a_count, n - a_count, 1);
		g_assert_true(result.exact);
		assert_near(result.p, brute_force(values, n, a_count), 1e-12);
		g_assert_true(result.p > 0 && result.p <= 1);
		g_assert_cmpfloat(stats_permutation_test(values + a_count, n - a_count, values, a_count, 1).p, ==, result.p);
	}
}

static void test_permutation_draws(void)
{
	double a[30], b[30], shift;
	g_autoptr(GRand) random = g_rand_new_with_seed(5);
	StatsPermutation one, two, other;

	for (shift = 0; shift < 2; shift += .4) {
		for (int i = 0; i < 30; i++) {
			a[i] = g_rand_double(random);
			b[i] = g_rand_double(random) + shift;
		}
		one = stats_permutation_test(a, 30, b, 30, 77);
		two = stats_permutation_test(a, 30, b, 30, 77);
		other = stats_permutation_test(a, 30, b, 30, 78);
		g_assert_false(one.exact);
		g_assert_cmpfloat(one.p, ==, two.p);
		g_assert_cmpfloat_with_epsilon(one.p, other.p, .015);
		g_assert_cmpfloat(one.p, >=, 1.0 / (STATS_PERMUTATION_DRAWS + 1));
	}
	g_assert_cmpfloat(one.p, <, .001);
}

static void test_ranks(void)
{
	const double values[] = { 3, 1, 3, 2, 3 }, wanted[] = { 4, 1, 4, 2, 4 };
	const double low[] = { 1, 2, 3, 4 }, high[] = { 5.1, 6.3, 7.7, 8.2 }, signs[] = { 1, 2, 3, 4, 5, 6 };
	const double mixed[] = { -1, 2, -2, 0, 3 };
	double ranks[5], below;
	StatsShift shift;

	stats_mid_ranks(values, 5, ranks);
	for (int i = 0; i < 5; i++)
		g_assert_cmpfloat(ranks[i], ==, wanted[i]);
	shift = stats_hodges_lehmann(high, 4, low, 4, .05);
	assert_near(shift.shift, -4.25, 1e-14);
	assert_near(shift.low, -7.2, 1e-14);
	assert_near(shift.high, -1.1, 1e-14);
	shift = stats_hodges_lehmann(low, 3, high, 3, .05); /* 2/20 is more than .05 */
	g_assert_true(isnan(shift.low) && isnan(shift.high) && !isnan(shift.shift));
	assert_near(stats_signed_rank_p(signs, 6), .03125, 1e-15);
	g_assert_cmpfloat(stats_signed_rank_p(signs, 0), ==, 1);
	assert_near(stats_signed_rank_p(mixed, 5), .75, 1e-15); /* ranks 1 2.5 2.5 4: sums <= 3.5 are 0 1 2.5 2.5 3.5 3.5 */
	g_assert_cmpuint(stats_rank_quantile(4, 4, .025, &below), ==, 1);
	assert_near(below, 1.0 / 70, 1e-14);
	g_assert_cmpuint(stats_rank_quantile(5, 5, .025, &below), ==, 3); /* qwilcox(.025, 5, 5) */
	g_assert_cmpuint(stats_rank_quantile(20, 22, .025, &below), ==, 142); /* qwilcox(.025, 20, 22) */
	g_assert_cmpuint(stats_rank_quantile(26, 26, .025, &below), ==, 231); /* normal; exact says 231 too */
}

static void test_multiple(void)
{
	const double p[] = { .01, .04, .03, .005 }, holm[] = { .03, .06, .06, .02 }, level[] = { .05 / 3, .025, .025, .0125 };
	const double bh[] = { .02, .04, .04, .02 };
	double adjusted[4], alpha[4];

	stats_holm(p, 4, .05, adjusted, alpha);
	for (int i = 0; i < 4; i++) {
		assert_near(adjusted[i], holm[i], 1e-14);
		assert_near(alpha[i], level[i], 1e-14);
		/* what is decided at its level is what the adjusted p says */
		g_assert_cmpint(p[i] <= alpha[i], ==, adjusted[i] <= .05);
	}
	assert_near(stats_benjamini_hochberg(p, 4, .05, adjusted), .05, 1e-14);
	for (int i = 0; i < 4; i++)
		assert_near(adjusted[i], bh[i], 1e-14);
	stats_holm(p, 1, .05, adjusted, alpha);
	g_assert_cmpfloat(adjusted[0], ==, p[0]);
	g_assert_cmpfloat(alpha[0], ==, .05);
}

static void test_fisher(void)
{
	assert_near(stats_fisher_p(3, 10, 0, 12), 0.07792207792207792, 1e-12);
	assert_near(stats_fisher_p(8, 10, 1, 6), 0.03496503496503495, 1e-10); /* R's tea-like 8,2,1,5 */
	g_assert_cmpfloat(stats_fisher_p(0, 10, 0, 12), ==, 1);
	g_assert_true(isnan(stats_fisher_p(0, 0, 0, 12)));
}

static void test_power(void)
{
	static const struct {
		double effect;
		guint at_05, at_0125;
	} table[] = { { .5, 64, 91 }, { .75, 29, 42 }, { 1, 17, 24 }, { 1.5, 9, 12 }, { 2, 6, 8 }, { 3, 4, 5 } };

	for (gsize i = 0; i < G_N_ELEMENTS(table); i++) {
		g_assert_cmpuint(stats_boots_for(table[i].effect, .05, .8, 2), ==, table[i].at_05);
		g_assert_cmpuint(stats_boots_for(table[i].effect, .0125, .8, 2), ==, table[i].at_0125);
	}
	assert_near(stats_power(0, 10, .05, 2), .05, 1e-9);
	assert_near(stats_effect_for(17, .05, stats_power(1, 17, .05, 2), 2), 1, 1e-9);
	g_assert_cmpuint(stats_boots_for(0, .05, .8, 2), ==, 0);
	g_assert_cmpuint(stats_boots_for(1e-9, .05, .8, 2), ==, 0);
	g_assert_cmpuint(stats_boots_for(1e6, .05, .8, 3), ==, 2);
	g_assert_true(isnan(stats_effect_for(1, .05, .8, 2)));
	g_assert_cmpuint(stats_boots_for_width(1.5, .05, 2), ==, 5); /* 2.306·√(2/5) = 1.458; 2.447·√(2/4) = 1.73 */
}

static void test_trend_recovers(void)
{
	/* ABBA BAAB, β = .3, a drift of 2 over the job, and a residual that is orthogonal to all three columns */
	const SampleArm order[] = { 0, 1, 1, 0, 1, 0, 0, 1 };
	const double noise[] = { 1, 1, -1, -1, -1, -1, 1, 1 }; /* × .01 */
	double y[8];
	gint64 t[8];
	StatsTrend fit;

	for (int i = 0; i < 8; i++) {
		t[i] = G_GINT64_CONSTANT(1764540000000000000) + i * G_GINT64_CONSTANT(9000000000);
		y[i] = 3 + .3 * order[i] + 2.0 * i / 7 + .01 * noise[i];
	}
	fit = stats_trend_fit(y, order, t, 8);
	g_assert_true(fit.drift_adjusted && !fit.zero_residual);
	assert_near(fit.beta, .3, 1e-12);
	assert_near(fit.drift, 2, 1e-12);
	g_assert_cmpfloat(fit.df, ==, 5);
	assert_near(fit.residual_sd, sqrt(8 * 1e-4 / 5), 1e-10);
	assert_near(fit.n_eff, 2, 1e-12); /* arm and time are orthogonal in this order */
	assert_near(fit.se, fit.residual_sd / sqrt(2), 1e-12);
	assert_near(stats_trend_half_width(&fit, .05), 2.570581835636 * fit.se, 1e-10);
}

static void test_trend_edges(void)
{
	const SampleArm order[] = { 0, 1, 1, 0 }, apart[] = { 0, 0, 1, 1 }, alone[] = { 0, 0, 0, 0 };
	const gint64 same[] = { 5, 5, 5, 5 }, step[] = { 1, 1, 9, 9 }, time[] = { 1, 2, 3, 4 };
	const double y[] = { 1, 2, 2.1, 1.1 }, flat[] = { 1, 2, 2, 1 }, equal[] = { 2, 2, 2, 2 };
	StatsTrend fit = stats_trend_fit(y, order, same, 4);

	g_assert_false(fit.drift_adjusted);
	g_assert_cmpfloat(fit.df, ==, 2);
	assert_near(fit.beta, 1, 1e-12);
	fit = stats_trend_fit(y, apart, step, 4); /* collinear */
	g_assert_false(fit.drift_adjusted);
	fit = stats_trend_fit(y, alone, time, 4);
	g_assert_true(isnan(fit.beta) && isnan(fit.p));
	fit = stats_trend_fit(flat, order, time, 4);
	g_assert_true(fit.zero_residual && isnan(fit.p) && isnan(fit.se));
	assert_near(fit.beta, 1, 1e-12);
	fit = stats_trend_fit(equal, order, time, 4);
	g_assert_true(fit.all_equal && fit.p == 1 && fit.beta == 0);
	fit = stats_trend_fit(y, order, time, 2); /* one boot an arm: the estimate only */
	g_assert_cmpfloat(fit.beta, ==, 1);
	g_assert_true(isnan(fit.p));
}

/* NIST StRD, univariate. The certified digits that doubles can carry. */
static void check_univariate(const double *values, gsize n, double mean, double sd, double lag1, double digits)
{
	double precision = pow(10, -digits);

	assert_near(stats_mean(values, n), mean, 1e-14);
	assert_near(stats_sd(values, n), sd, precision);
	assert_near(stats_lag1_correlation(values, n), lag1, precision);
}

static void test_nist_univariate(void)
{
	static const guint16 michelso[] = {
		850, 740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000, 1000, 960, 960,
		960, 940, 960, 940, 880, 800, 850, 880, 900, 840, 830, 790, 810, 880, 880, 830, 800, 790, 760, 800,
		880, 880, 880, 860, 720, 720, 620, 860, 970, 950, 880, 910, 850, 870, 840, 840, 850, 840, 840, 840,
		890, 810, 810, 820, 800, 770, 760, 740, 750, 760, 910, 920, 890, 860, 880, 720, 840, 850, 850, 780,
		890, 840, 780, 810, 760, 810, 790, 810, 820, 850, 870, 870, 810, 740, 810, 940, 950, 800, 810, 870,
	};
	static const double numacc1[] = { 10000001, 10000003, 10000002 };
	static const struct {
		double mean, digits;
	} numacc[] = { { 1.2, 14 }, { 1000000.2, 9 }, { 10000000.2, 8 } }; /* NumAcc2, 3, 4 */
	double values[1001];

	check_univariate(numacc1, 3, 10000002, 1, -.5, 14);
	for (gsize set = 0; set < G_N_ELEMENTS(numacc); set++) {
		for (int i = 0; i < 1001; i++)
			values[i] = numacc[set].mean + (i == 0 ? 0 : i % 2 ? -.1 : .1);
		check_univariate(values, 1001, numacc[set].mean, .1, -.999, numacc[set].digits);
	}
	for (int i = 0; i < 100; i++)
		values[i] = 299 + michelso[i] / 1000.0;
	check_univariate(values, 100, 299.8524, .0790105478190518, .535199668621283, 12);
}

/* NIST StRD, one-way analysis of variance: boots are the treatments, runs the replicates. */
static void check_anova(const double *y, gsize groups, gsize size, double between, double within_ms, double f, double digits)
{
	StatsComponents c = stats_components(y, NULL, groups, size, 1);
	double precision = pow(10, -digits);

	assert_near(c.boot_ms, between, precision);
	assert_near(c.run_ms, within_ms, precision);
	assert_near(c.boot_ms / c.run_ms, f, precision);
}

static void test_nist_anova(void)
{
	static const double sirstv[] = { 196.3052, 196.1240, 196.1890, 196.2569, 196.3403, 196.3042, 196.3825, 196.1669, 196.3257,
					 196.0422, 196.1303, 196.2005, 196.2889, 196.0343, 196.1811, 196.2795, 196.1748, 196.1494,
					 196.1485, 195.9885, 196.2119, 196.1051, 196.1850, 196.0052, 196.2090 };
	static const double atmwtag[] = {
		107.8681568, 107.8681465, 107.8681572, 107.8681785, 107.8681446, 107.8681903, 107.8681526, 107.8681494,
		107.8681616, 107.8681587, 107.8681519, 107.8681486, 107.8681419, 107.8681569, 107.8681508, 107.8681672,
		107.8681385, 107.8681518, 107.8681662, 107.8681424, 107.8681360, 107.8681333, 107.8681610, 107.8681477,
		107.8681079, 107.8681344, 107.8681513, 107.8681197, 107.8681604, 107.8681385, 107.8681642, 107.8681365,
		107.8681151, 107.8681082, 107.8681517, 107.8681448, 107.8681198, 107.8681482, 107.8681334, 107.8681609,
		107.8681101, 107.8681512, 107.8681469, 107.8681360, 107.8681254, 107.8681261, 107.8681450, 107.8681368,
	};
	static const double offset[] = { .4, .3, .5, .3, .5, .3, .5, .3, .5 };
	static const int sizes[] = { 21, 201, 2001 };
	static const struct {
		double level, digits;
	} smls[] = { { 1, 12 }, { 1e6, 9 }, { 1e12, 2.3 } }; /* 1e12 + .4 is a double to 4 digits of the .1 that vary */
	g_autofree double *y = g_new(double, 9 * 2001);

	check_anova(sirstv, 5, 5, 1.27865654e-2, 1.0831828e-2, 1.18046237440255, 9);
	check_anova(atmwtag, 2, 24, 3.638341875e-9, 2.28155932971014e-10, 15.9467335677930, 8.5);
	for (gsize level = 0; level < G_N_ELEMENTS(smls); level++)
		for (gsize size = 0; size < G_N_ELEMENTS(sizes); size++) {
			int n = sizes[size];

			for (int group = 0; group < 9; group++)
				for (int i = 0; i < n; i++)
					y[group * n + i] = smls[level].level + offset[group] + (i == 0 ? 0 : i % 2 ? -.1 : .1);
			check_anova(y, 9, (gsize)n, .01 * n, .01, n, smls[level].digits);
		}
}

static void test_components(void)
{
	/* two arms of two boots, two runs, two passes; by hand */
	const SampleArm arm[] = { 0, 0, 1, 1 };
	const double y[] = { 1, 3, 5, 7, 2, 4, 6, 8, 11, 13, 15, 17, 12, 14, 16, 18 };
	StatsComponents c = stats_components(y, arm, 4, 2, 2);

	g_assert_cmpfloat(c.boot_df, ==, 2);
	assert_near(c.boot_ms, 2, 1e-14);  /* boot means 4 5 | 14 15: ½ + ½, times 4, over 2 */
	assert_near(c.run_ms, 16, 1e-14);  /* run means differ by 4: 8 a boot, times 2, over 1 */
	assert_near(c.pass_ms, 2, 1e-14);  /* passes differ by 2 */
	assert_near(c.run_var, 7, 1e-14);
	g_assert_cmpfloat(c.boot_var, ==, 0); /* (2 − 16)/4 */
	g_assert_true(c.truncated);
	c = stats_components(y, arm, 4, 1, 4);
	g_assert_true(isnan(c.run_var));
	g_assert_cmpuint(stats_best_runs(10, 1, 0, 1, 1, 10), ==, 0);
	g_assert_cmpuint(stats_best_runs(10, 1, 1, 1, 1, 10), ==, 4); /* √(10·1.1) = 3.32 */
	g_assert_cmpuint(stats_best_runs(1, 10, 100, 1, 0, 10), ==, 1);
}

static void test_descriptive(void)
{
	const double values[] = { 4, 1, 3, 2, 100 };

	g_assert_cmpfloat(stats_median(values, 5), ==, 3);
	g_assert_cmpfloat(stats_median(values, 4), ==, 2.5);
	assert_near(stats_mad(values, 5), STATS_MAD_SCALE, 1e-15);
	g_assert_true(isnan(stats_median(values, 0)) && isnan(stats_mean(values, 0)) && isnan(stats_sd(values, 1)));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stats/permutation/golden", test_permutation_golden);
	g_test_add_func("/stats/permutation/brute-force", test_permutation_brute_force);
	g_test_add_func("/stats/permutation/draws", test_permutation_draws);
	g_test_add_func("/stats/ranks", test_ranks);
	g_test_add_func("/stats/multiple", test_multiple);
	g_test_add_func("/stats/fisher", test_fisher);
	g_test_add_func("/stats/power", test_power);
	g_test_add_func("/stats/trend/recovers", test_trend_recovers);
	g_test_add_func("/stats/trend/edges", test_trend_edges);
	g_test_add_func("/stats/nist/univariate", test_nist_univariate);
	g_test_add_func("/stats/nist/anova", test_nist_anova);
	g_test_add_func("/stats/components", test_components);
	g_test_add_func("/stats/descriptive", test_descriptive);
	return g_test_run();
}
