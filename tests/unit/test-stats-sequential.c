/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <glib/gstdio.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#include "jobs/stats/boundary.h"
#include "jobs/stats/eprocess.h"

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

/* A boundary found early is the beginning of the one found late, whatever the later boots are. */
static void test_boundary_grows(void)
{
	const double alphas[] = { .05, .025, .05 / 3 };
	SampleArm arm[40];
	gint64 start_ns[40];
	StatsLooks all = stats_looks_plan(20);
	double late[18];

	make_schedule(arm, start_ns, 40);
	for (gsize i = 0; i < 40; i++) /* unequal times, and a boot that was replaced late */
		start_ns[i] += (gint64)(i * i % 7) * G_GINT64_CONSTANT(1700000000);
	stats_boundary(arm, start_ns, &all, alphas, 3, PATHS, 5, late);
	for (gsize count = 1; count < all.count; count++) {
		StatsLooks looks = all;
		double early[18];

		looks.count = count;
		stats_boundary(arm, start_ns, &looks, alphas, 3, PATHS, 5, early);
		for (gsize j = 0; j < 3; j++)
			for (gsize k = 0; k < count; k++)
				g_assert_cmpfloat(early[j * count + k], ==, late[j * all.count + k]);
	}
}

/* What is on disk gives the same boundary; what is not right there is found again. */
static void test_boundary_cache(void)
{
	const double alphas[] = { .05, .025 };
	g_autofree char *dir = g_dir_make_tmp("boundary-XXXXXX", NULL), *path = NULL, *text = NULL, *again = NULL;
	SampleArm arm[20];
	gint64 start_ns[20];
	StatsLooks looks = stats_looks_plan(10);
	double plain[8], cached[8];
	gsize size;

	make_schedule(arm, start_ns, 20);
	stats_boundary(arm, start_ns, &looks, alphas, 2, 20000, 5, plain);
	for (int i = 0; i < 4; i++) {
		g_autoptr(GDir) folder = NULL;

		memset(cached, 0, sizeof cached);
		stats_boundary_cached(dir, arm, start_ns, &looks, alphas, 2, 20000, 5, cached);
		g_assert_cmpmem(cached, sizeof cached, plain, sizeof plain);
		folder = g_dir_open(dir, 0, NULL);
		g_free(path);
		path = g_build_filename(dir, g_dir_read_name(folder), NULL);
		g_assert_null(g_dir_read_name(folder)); /* one file, whatever happened to it */
		g_clear_pointer(&again, g_free);
		g_assert_true(g_file_get_contents(path, &again, &size, NULL));
		if (!text)
			text = g_strdup(again);
		g_assert_cmpstr(text, ==, again);
		if (i == 1) { /* cut off */
			g_assert_true(g_file_set_contents(path, text, (gssize)size / 2, NULL));
		} else if (i == 2) { /* another number */
			char *digit = strstr(again, "0x1.") + 4;

			*digit = *digit == '7' ? '8' : '7';
			g_assert_true(g_file_set_contents(path, again, -1, NULL));
		}
	}
	g_assert_cmpint(strncmp(strrchr(path, '/') + 1, text, 64), ==, 0); /* its name is the inputs' digest */
	g_unlink(path);
	g_rmdir(dir);
	/* no folder, or none that can be written: the same numbers */
	stats_boundary_cached(NULL, arm, start_ns, &looks, alphas, 2, 20000, 5, cached);
	g_assert_cmpmem(cached, sizeof cached, plain, sizeof plain);
	stats_boundary_cached("/dev/null/x", arm, start_ns, &looks, alphas, 2, 20000, 5, cached);
	g_assert_cmpmem(cached, sizeof cached, plain, sizeof plain);
}

static void test_holm(void)
{
	const double row[] = { .0149, .0075, .005 }; /* for α, α/2, α/3 */
	const double strict[] = { .0001, .0001, .0001 };
	const double *const boundary[] = { row, row, row }, *const own[] = { row, row, strict };
	const double p[] = { .004, .3, .007 }, later[] = { .9, .014, .9 };
	gboolean rejected[] = { FALSE, FALSE, FALSE }, other[] = { FALSE, FALSE, FALSE };
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
	stats_sequential_holm(p, 3, own, other, level); /* a comparison may have a schedule of its own */
	g_assert_true(other[0] && !other[1] && !other[2]);
	g_assert_cmpfloat(level[2], ==, .0001);
}

static void test_futile(void)
{
	StatsTrend fit = { .beta = .0001, .se = .01, .df = 5 }, exact = { .beta = .1, .zero_residual = TRUE, .se = NAN };

	g_assert_false(stats_is_futile(&fit, .05, 8, 40, -.012, .012));
	fit.se = 1; /* 1 % will never be seen, and the estimate is no larger */
	fit.df = 25;
	g_assert_true(stats_is_futile(&fit, .0181, 28, 40, -.01, .01));
	g_assert_false(stats_is_futile(&fit, .0181, 40, 40, -.01, .01)); /* that is the end, not futile */
	fit.beta = 2;
	g_assert_false(stats_is_futile(&fit, .0181, 28, 40, -.01, .01));
	g_assert_false(stats_is_futile(&exact, .0181, 28, 40, -.01, .01));
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
	g_test_add_func("/sequential/boundary-grows", test_boundary_grows);
	g_test_add_func("/sequential/boundary-cache", test_boundary_cache);
	g_test_add_func("/sequential/holm", test_holm);
	g_test_add_func("/sequential/futile", test_futile);
	g_test_add_func("/sequential/e-mean", test_e_mean);
	g_test_add_func("/sequential/e-inverse", test_e_inverse);
	g_test_add_func("/sequential/e-anytime", test_e_anytime);
	return g_test_run();
}
