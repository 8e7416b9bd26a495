/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "jobs/stats/eprocess.h"
#include "jobs/stats/sequential.h"

#define PATHS 200000

static void make_schedule(SampleArm *arm, gint64 *start_ns, gsize boots)
{
	for (gsize i = 0; i < boots; i++) {
		arm[i] = "ABBABAAB"[i % 8] == 'B' ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		start_ns[i] = (gint64)i * G_GINT64_CONSTANT(9000000000);
	}
}

static void test_plan(void)
{
	static const struct {
		guint pairs;
		gsize count, last_but_one;
	} cases[] = { { 20, 6, 28 }, { 12, 5, 20 }, { 4, 1, 0 }, { 3, 1, 0 }, { 40, 7, 40 }, { 6, 2, 8 } };

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		StatsLooks looks = stats_looks_plan(cases[i].pairs);

		g_assert_cmpuint(looks.count, ==, cases[i].count);
		g_assert_cmpuint(looks.boots[looks.count - 1], ==, 2 * cases[i].pairs);
		g_assert_cmpfloat(looks.fraction[looks.count - 1], ==, 1);
		if (looks.count > 1)
			g_assert_cmpuint(looks.boots[looks.count - 2], ==, cases[i].last_but_one);
	}
	g_assert_cmpfloat_with_epsilon(stats_alpha_spent(.05, 1), .05, 1e-15);
	g_assert_cmpfloat_with_epsilon(stats_alpha_spent(.05, .2), .014769, 1e-6);
}

static void test_boundary(void)
{
	static const double wanted[] = { .0149, .0091, .0096, .0099, .0143, .0181 };
	const double alphas[] = { .05, .0125 };
	SampleArm arm[40];
	gint64 start_ns[40];
	StatsLooks looks = stats_looks_plan(20), one = stats_looks_plan(4);
	double p[12], again[12], single;

	make_schedule(arm, start_ns, 40);
	stats_boundary(arm, start_ns, &looks, alphas, 2, PATHS, 3, p);
	stats_boundary(arm, start_ns, &looks, alphas, 2, PATHS, 3, again);
	for (gsize k = 0; k < 6; k++) {
		g_assert_cmpfloat_with_epsilon(p[k], wanted[k], .0009);
		g_assert_cmpfloat(p[k], ==, again[k]);
		g_assert_cmpfloat(p[6 + k], <, p[k] / 2);
	}
	/* one look spends everything, whatever the schedule */
	stats_boundary(arm, start_ns, &one, alphas, 1, PATHS, 3, &single);
	g_assert_cmpfloat_with_epsilon(single, .05, .0015);
	for (gsize i = 0; i < 8; i++)
		start_ns[i] = 7;
	stats_boundary(arm, start_ns, &one, alphas, 1, PATHS, 3, &single);
	g_assert_cmpfloat_with_epsilon(single, .05, .0015);
}

static void test_holm(void)
{
	const double boundary[] = { .0149, .0075, .005 }; /* for α, α/2, α/3 */
	const double p[] = { .004, .3, .007 }, later[] = { .9, .014, .9 };
	gboolean rejected[] = { FALSE, FALSE, FALSE };
	double level[3] = { 0 };

	stats_sequential_holm(p, 3, boundary, rejected, level);
	g_assert_true(rejected[0] && !rejected[1] && rejected[2]);
	g_assert_cmpfloat(level[0], ==, .005);
	g_assert_cmpfloat(level[2], ==, .0075);
	g_assert_cmpfloat(level[1], ==, .0149);
	stats_sequential_holm(later, 3, boundary, rejected, level);
	g_assert_true(rejected[0] && rejected[1] && rejected[2]);
	g_assert_cmpfloat(level[0], ==, .005); /* as decided before */
	g_assert_cmpfloat(level[1], ==, .0149);
}

static void test_stop(void)
{
	StatsTrend fit = { .beta = .1, .se = .01, .df = 5 }, exact = { .beta = .1, .zero_residual = TRUE, .se = NAN };

	g_assert_cmpint(stats_stop(&fit, 1, .0149, .0181, 8, 40, .01), ==, STATS_STOP_FOUND);
	fit.beta = .0001;
	fit.se = .001;
	g_assert_cmpint(stats_stop(&fit, 1, .0149, .0181, 8, 40, .01), ==, STATS_STOP_EQUIVALENT);
	fit.se = .01;
	g_assert_cmpint(stats_stop(&fit, 1, .0149, .0181, 8, 40, .012), ==, STATS_STOP_NOT);
	g_assert_cmpint(stats_stop(&fit, 1, .0149, .0181, 40, 40, .012), ==, STATS_STOP_END);
	fit.se = 1; /* 1 % will never be seen, and the estimate is no larger */
	fit.df = 25;
	g_assert_cmpint(stats_stop(&fit, 1, .0149, .0181, 28, 40, .01), ==, STATS_STOP_FUTILE);
	g_assert_cmpint(stats_stop(&exact, .0286, .0149, .0181, 8, 40, .01), ==, STATS_STOP_NOT);
	g_assert_cmpint(stats_stop(&exact, .008, .0149, .0181, 10, 40, .01), ==, STATS_STOP_FOUND);
	g_assert_cmpint(stats_stop(&exact, .0286, .0149, .0181, 8, 40, .2), ==, STATS_STOP_EQUIVALENT);
	g_assert_cmpint(stats_stop(&exact, .0286, .0181, .0181, 8, 8, .01), ==, STATS_STOP_END);
}

typedef struct {
	double df, n_eff;
} Null;

static double expected_e(double t, void *data)
{
	const Null *null = data;

	return exp(stats_log_e(t, null->df, null->n_eff)) * gsl_ran_tdist_pdf(t, null->df);
}

/* Under no effect the mean of E is 1, whatever the number of boots. */
static void test_e_mean(void)
{
	gsl_integration_workspace *work = gsl_integration_workspace_alloc(2000);

	for (int boots = 8; boots <= 80; boots += 6) {
		Null null = { boots - 3, boots / 4.0 };
		gsl_function function = { expected_e, &null };
		double mean, error;

		gsl_integration_qagi(&function, 1e-10, 1e-8, 2000, work, &mean, &error);
		g_assert_cmpfloat_with_epsilon(mean, 1, 1e-6);
	}
	gsl_integration_workspace_free(work);
}

static void test_e_inverse(void)
{
	for (int boots = 8; boots <= 80; boots += 6) {
		double df = boots - 3, n_eff = boots / 4.0, t = stats_anytime_t(.05, df, n_eff);

		g_assert_cmpfloat_with_epsilon(stats_anytime_p(stats_log_e(t, df, n_eff)), .05, 1e-10);
		g_assert_cmpfloat_with_epsilon(stats_anytime_p(stats_log_e(-t, df, n_eff)), .05, 1e-10);
		g_assert_cmpfloat(t, >, gsl_cdf_tdist_Qinv(.025, df)); /* the price of looking at any time */
	}
	g_assert_true(isinf(stats_anytime_t(.05, 1, 1)));
	g_assert_cmpfloat(stats_anytime_p(stats_log_e(0, 5, 2)), ==, 1);
	g_assert_cmpfloat(stats_anytime_p(1e5), >, 0);
}

/* Looking after every pair, up to 40: E passes 20 in at most 5 % of null jobs. */
static void test_e_anytime(void)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	SampleArm arm[80];
	gint64 start_ns[80];
	double y[80];
	int alarms = 0;

	make_schedule(arm, start_ns, 80);
	gsl_rng_set(random, 11);
	for (int job = 0; job < 1000; job++) {
		double largest = -INFINITY;

		for (gsize i = 0; i < 80; i++)
			y[i] = gsl_ran_gaussian_ziggurat(random, 1) + .05 * (double)i;
		for (gsize boots = 8; boots <= 80; boots += 2) {
			StatsTrend fit = stats_trend_fit(y, arm, start_ns, boots);

			largest = MAX(largest, stats_log_e(fit.beta / fit.se, fit.df, fit.n_eff));
		}
		alarms += stats_anytime_p(largest) <= .05;
	}
	g_assert_cmpint(alarms, <=, 64); /* 50 and two standard deviations */
	gsl_rng_free(random);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/sequential/plan", test_plan);
	g_test_add_func("/sequential/boundary", test_boundary);
	g_test_add_func("/sequential/holm", test_holm);
	g_test_add_func("/sequential/stop", test_stop);
	g_test_add_func("/sequential/e-mean", test_e_mean);
	g_test_add_func("/sequential/e-inverse", test_e_inverse);
	g_test_add_func("/sequential/e-anytime", test_e_anytime);
	return g_test_run();
}
