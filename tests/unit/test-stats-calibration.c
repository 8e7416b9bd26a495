/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "jobs/spec/peek.h"
#include "jobs/stats/calibration.h"
#include "jobs/stats/dip.h"
#include "jobs/stats/ledger.h"

#define SECOND_NS G_GINT64_CONSTANT(1000000000)

static const char *const primary[] = { "aging=time", NULL };

/* A host to simulate; standard deviations on the log scale. */
typedef struct {
	int boots, runs, passes;
	double boot_sd, run_sd, pass_sd;
	double drift;  /* over all boots */
	double memory; /* how much of a boot's own luck the next one gets */
	double humps;  /* distance of two humps that boots fall into */
	const char *params;
} Host;

static void add_host(SampleTable *table, gsl_rng *rng, Host host)
{
	double luck = 0;

	for (int boot = 0; boot < host.boots; boot++) {
		double level = host.drift * boot / host.boots + (gsl_rng_uniform(rng) < .5 ? host.humps : 0);

		luck = host.memory * luck + sqrt(1 - host.memory * host.memory) * gsl_ran_gaussian(rng, host.boot_sd);
		for (int run = 1; run <= host.runs; run++) {
			double of_run = gsl_ran_gaussian(rng, host.run_sd);

			for (int pass = 1; pass <= host.passes; pass++) {
				Sample sample = { .job = 7, .arm = boot % 4 == 1 || boot % 4 == 2, .boot = boot, .pair = boot / 2,
						  .host = "lab1", .clock = "tcg", .benchmark = "aging", .params = host.params,
						  .run = run, .pass = pass, .metric = "time", .unit = "ms", .reason = "",
						  .valid = TRUE, .boot_start_ns = (1 + boot) * 9 * SECOND_NS };

				sample.value = 30 * exp(level + luck + of_run + gsl_ran_gaussian(rng, host.pass_sd));
				g_assert_true(sample_table_append(table, &sample, NULL));
				sample.metric = "faults"; /* not the primary one: left out */
				g_assert_true(sample_table_append(table, &sample, NULL));
			}
		}
	}
}

static GPtrArray *simulate(Host host, unsigned long seed)
{
	g_autoptr(SampleTable) table = sample_table_new();
	const StatsCosts costs = { .boot_s = 8, .run_s = 2 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	host.params = host.params ? host.params : "nproc=8;lru=mglru";
	gsl_rng_set(rng, seed);
	add_host(table, rng, host);
	gsl_rng_free(rng);
	return stats_calibrate(table, primary, &costs, 3);
}

static const StatsCalibration *only(const GPtrArray *calibrations)
{
	g_assert_cmpuint(calibrations->len, ==, 1);
	return g_ptr_array_index(calibrations, 0);
}

static void test_components(void)
{
	g_autoptr(GPtrArray) list = simulate((Host){ .boots = 400, .runs = 5, .passes = 6, .boot_sd = .02, .run_sd = .03,
						     .pass_sd = .01 }, 1);
	const StatsCalibration *c = only(list);

	g_assert_cmpstr(c->benchmark, ==, "aging");
	g_assert_cmpstr(c->metric, ==, "time");
	g_assert_cmpstr(c->clock, ==, "tcg");
	g_assert_cmpuint(c->boots, ==, 400);
	g_assert_cmpuint(c->runs, ==, 5);
	g_assert_cmpuint(c->passes, ==, 6);
	g_assert_cmpfloat_with_epsilon(c->mean, 30, .2);
	g_assert_cmpfloat_with_epsilon(sqrt(c->boot_var), .02, .002);
	g_assert_cmpfloat_with_epsilon(sqrt(c->run_var), .03, .001);
	g_assert_cmpfloat_with_epsilon(sqrt(c->pass_var), .01, .0003);
	/* the median of five runs varies a little more than their mean */
	g_assert_cmpfloat_with_epsilon(c->steadiness.sd, sqrt(.0004 + 1.3 * .0009 / 5), .002);
	/* ceil(√(8/2 · (.03² + .01²/6)/.02²)) = ceil(3.03) */
	g_assert_cmpuint(c->best_runs, >=, 3);
	g_assert_cmpuint(c->best_runs, <=, 4);
}

/* Four boots an arm see about 2.9 sd (5 degrees of freedom), twenty about .91. */
static void test_effects(void)
{
	g_autoptr(GPtrArray) list = simulate((Host){ .boots = 40, .runs = 2, .passes = 2, .boot_sd = .01 }, 2);
	const StatsCalibration *c = only(list);
	double sd = c->steadiness.sd;

	g_assert_cmpfloat_with_epsilon(sd, .01, .003);
	g_assert_cmpfloat(c->effect_pct[0], >, c->effect_pct[1]);
	g_assert_cmpfloat(c->effect_pct[1], >, c->effect_pct[2]);
	g_assert_cmpfloat_with_epsilon(c->effect_pct[2], 100 * expm1(.909 * sd), .01);
	g_assert_cmpfloat(stats_visible_effect_pct(sd, 4, .05 / 4), >, c->effect_pct[0]);
	g_assert_true(isnan(stats_visible_effect_pct(sd, 1, .05)));
	/* what does not vary at all shows any change, once there are boots enough to tell */
	g_assert_cmpfloat(stats_visible_effect_pct(0, 4, .05), ==, 0);
	g_assert_true(isnan(stats_visible_effect_pct(0, 3, .05)));
}

static gboolean warns(const StatsCalibration *calibration, const char *what)
{
	g_autoptr(JsonObject) object = stats_calibration_to_json(calibration);
	JsonArray *warnings = peek_array(object, "warnings");

	for (guint i = 0; i < peek_length(warnings); i++)
		if (g_str_equal(json_array_get_string_element(warnings, i), what))
			return TRUE;
	return FALSE;
}

static guint count_warnings(Host host, const char *what)
{
	guint count = 0;

	for (unsigned long seed = 1; seed <= 40; seed++) {
		g_autoptr(GPtrArray) list = simulate(host, seed);

		count += warns(only(list), what);
	}
	return count;
}

/* Of 40 hosts at the 1 % level: a quiet one seldom warns, one with the fault nearly always. */
static void test_warnings(void)
{
	const Host quiet = { .boots = 40, .runs = 1, .passes = 1, .boot_sd = .01 };
	Host drifts = quiet, remembers = quiet, two_humps = quiet;

	drifts.drift = .03;
	remembers.memory = .8;
	two_humps.humps = .1;
	g_assert_cmpuint(count_warnings(quiet, "drifts"), <=, 3);
	g_assert_cmpuint(count_warnings(quiet, "autocorrelated"), <=, 3);
	g_assert_cmpuint(count_warnings(quiet, "several-humps"), <=, 3);
	g_assert_cmpuint(count_warnings(drifts, "drifts"), >=, 36);
	g_assert_cmpuint(count_warnings(drifts, "several-humps"), <=, 3);
	g_assert_cmpuint(count_warnings(remembers, "autocorrelated"), >=, 33);
	g_assert_cmpuint(count_warnings(two_humps, "several-humps"), >=, 32);
}

static void test_nothing_varies(void)
{
	g_autoptr(GPtrArray) list = simulate((Host){ .boots = 8, .runs = 2, .passes = 2 }, 1);
	const StatsCalibration *c = only(list);
	g_autoptr(JsonObject) object = stats_calibration_to_json(c);

	g_assert_cmpfloat(c->steadiness.sd, ==, 0);
	g_assert_true(isnan(c->steadiness.lag1) && isnan(c->steadiness.dip_p) && isnan(c->steadiness.drift));
	g_assert_cmpuint(c->best_runs, ==, 0);
	g_assert_true(json_object_get_null_member(object, "lag1"));
	g_assert_true(json_object_get_null_member(object, "best_runs"));
	g_assert_cmpuint(peek_length(peek_array(object, "warnings")), ==, 0);
	g_assert_cmpfloat(c->effect_pct[0], ==, 0);
}

static void test_several_sets(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), empty = sample_table_new();
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	const StatsCosts unknown = { 0 };

	add_host(table, rng, (Host){ .boots = 6, .runs = 1, .passes = 3, .boot_sd = .01, .params = "nproc=8" });
	add_host(table, rng, (Host){ .boots = 6, .runs = 1, .passes = 3, .boot_sd = .01, .params = "nproc=1" });
	gsl_rng_free(rng);
	g_autoptr(GPtrArray) list = stats_calibrate(table, primary, &unknown, 3);
	g_assert_cmpuint(list->len, ==, 2);
	g_assert_cmpstr(((StatsCalibration *)g_ptr_array_index(list, 0))->params, ==, "nproc=1");
	g_assert_cmpuint(((StatsCalibration *)g_ptr_array_index(list, 0))->best_runs, ==, 0);
	g_autoptr(GPtrArray) none = stats_calibrate(empty, primary, &unknown, 3);
	g_assert_cmpuint(none->len, ==, 0);
}

static void test_dip(void)
{
	const double even[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, equal[] = { 2, 2, 2, 2 };
	const double humps[] = { 0, .1, .2, .3, .4, 10, 10.1, 10.2, 10.3, 10.4 };

	g_assert_cmpfloat_with_epsilon(stats_dip(even, 10), .05, 1e-12);
	g_assert_cmpfloat_with_epsilon(stats_dip(equal, 4), .125, 1e-12);
	g_assert_cmpfloat(stats_dip(humps, 10), >, .2);
	g_assert_cmpfloat(stats_dip_p(stats_dip(humps, 10), 10, 1), <, .01);
	g_assert_cmpfloat(stats_dip_p(stats_dip(even, 10), 10, 1), ==, 1);
	g_assert_cmpfloat(stats_dip_p(.1, 10, 1), ==, stats_dip_p(.1, 10, 1));
	g_assert_true(isnan(stats_dip(even, 3)) && isnan(stats_dip_p(NAN, 10, 1)));
}

/* The limits that were asked for, and the chance of a good host to be beyond each. */
static void test_limits(void)
{
	static const struct {
		guint n, limit;
	} rows[] = { { 40, 4 }, { 100, 9 }, { 200, 15 } };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_assert_cmpuint(stats_alarm_limit(rows[i].n), ==, rows[i].limit);
		g_assert_cmpint(stats_fitness(rows[i].n, rows[i].limit), ==, STATS_FITNESS_FIT);
		g_assert_cmpint(stats_fitness(rows[i].n, rows[i].limit + 1), ==, STATS_FITNESS_UNFIT);
	}
	for (guint n = STATS_LEDGER_MIN; n <= STATS_LEDGER_MAX; n++)
		g_assert_cmpuint(stats_alarm_limit(n + 1), >=, stats_alarm_limit(n));
	g_assert_cmpint(stats_fitness(39, 39), ==, STATS_FITNESS_UNKNOWN);
	g_assert_cmpint(stats_fitness(0, 0), ==, STATS_FITNESS_UNKNOWN);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/stats-calibration/components", test_components);
	g_test_add_func("/stats-calibration/effects", test_effects);
	g_test_add_func("/stats-calibration/warnings", test_warnings);
	g_test_add_func("/stats-calibration/nothing-varies", test_nothing_varies);
	g_test_add_func("/stats-calibration/several-sets", test_several_sets);
	g_test_add_func("/stats-calibration/dip", test_dip);
	g_test_add_func("/stats-calibration/limits", test_limits);
	return g_test_run();
}
