/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Error rates and power of the statistics on simulated jobs: 20 pairs of boots in ABBA order, 5 runs of 10 passes each,
 * passes and runs varying alike. Beside our rules, on the same data, those of others. Prints the tables and exits 1 where
 * one of our rules is outside its limit. SETS=n in the environment simulates fewer jobs, with wider limits. */
#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "jobs/stats/boundary.h"
#include "jobs/stats/eprocess.h"
#include "jobs/stats/multiple.h"
#include "jobs/stats/rank.h"

#define PAIRS 20
#define BOOTS (2 * PAIRS)
#define FIXED_PAIRS 10
#define LONG_BOOTS (2 * BOOTS) /* of a job that was given 20 pairs more */
#define RUNS 5
#define PASSES 10
#define FAMILY 4
#define ALPHA .05
#define BOUNDARY_PATHS 2000000
#define SD .01 /* of runs and of passes, on the log scale */

typedef struct {
	SampleArm arm[BOOTS];
	gint64 start_ns[BOOTS];
	StatsLooks looks;
	double boundary[FAMILY * STATS_LOOKS_MAX]; /* for alpha, alpha/2 … */
	guint sets;
	double tolerance; /* three standard deviations of a rate of .05 */
	gsl_rng *random;
} Lab;

/* One simulated job: everything on the log scale. */
typedef struct {
	double boot[BOOTS];
	double run[BOOTS][RUNS];
	double pass[BOOTS][RUNS][PASSES];
} Data;

typedef struct {
	const char *name;
	double boot_sd, drift; /* drift over the whole job */
} World;

static double noise(const Lab *lab, double sd)
{
	return gsl_ran_gaussian_ziggurat(lab->random, sd);
}

static int compare_doubles(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static void simulate(const Lab *lab, const World *world, double effect, Data *data)
{
	for (int b = 0; b < BOOTS; b++) {
		double sorted[RUNS];
		double level = noise(lab, world->boot_sd) + world->drift * b / (BOOTS - 1) + effect * lab->arm[b];

		for (int r = 0; r < RUNS; r++) {
			double run = level + noise(lab, SD), sum = 0;

			for (int p = 0; p < PASSES; p++)
				sum += data->pass[b][r][p] = run + noise(lab, SD);
			sorted[r] = data->run[b][r] = sum / PASSES;
		}
		qsort(sorted, RUNS, sizeof *sorted, compare_doubles);
		data->boot[b] = sorted[RUNS / 2];
	}
}

/* The standard deviation of a boot's summary in this world, without drift. */
static double summary_sd(const Lab *lab, const World *world)
{
	const World still = { .boot_sd = world->boot_sd };
	double squares = 0;
	Data data;

	for (int i = 0; i < 500; i++) {
		simulate(lab, &still, 0, &data);
		for (int b = 0; b < BOOTS; b++)
			squares += data.boot[b] * data.boot[b];
	}
	return sqrt(squares / (500.0 * BOOTS));
}

/* Our rules */

static gboolean fixed_rule(const Lab *lab, const Data *data)
{
	return stats_trend_fit(data->boot, lab->arm, lab->start_ns, 2 * FIXED_PAIRS).p <= ALPHA;
}

/* Stops when found; *ret_boots is where, *ret_covered whether the repeated interval there holds the effect. */
static gboolean sequential_rule(const Lab *lab, const Data *data, double effect, gsize *ret_boots, gboolean *ret_covered)
{
	StatsTrend fit;
	gboolean found = FALSE;

	for (gsize k = 0; k < lab->looks.count && !found; k++) {
		*ret_boots = lab->looks.boots[k];
		fit = stats_trend_fit(data->boot, lab->arm, lab->start_ns, *ret_boots);
		found = fit.p <= lab->boundary[k];
		*ret_covered = fabs(fit.beta - effect) <= stats_trend_half_width(&fit, lab->boundary[k]);
	}
	return found;
}

static gboolean open_ended_rule(const Lab *lab, const Data *data)
{
	double largest = -INFINITY;

	for (gsize boots = 8; boots <= BOOTS; boots += 2) {
		StatsTrend fit = stats_trend_fit(data->boot, lab->arm, lab->start_ns, boots);

		largest = MAX(largest, stats_log_e(fit.beta / fit.se, fit.df, fit.n_eff));
	}
	return stats_anytime_p(largest) <= ALPHA;
}

/* The rules of others, on the boots of FIXED_PAIRS pairs */

static double welch_p(const double *a, gsize n, const double *b, gsize m)
{
	double mean[2] = { 0 }, square[2] = { 0 }, df, v, w;

	for (gsize i = 0; i < n; i++)
		mean[0] += a[i] / (double)n;
	for (gsize i = 0; i < m; i++)
		mean[1] += b[i] / (double)m;
	for (gsize i = 0; i < n; i++)
		square[0] += (a[i] - mean[0]) * (a[i] - mean[0]);
	for (gsize i = 0; i < m; i++)
		square[1] += (b[i] - mean[1]) * (b[i] - mean[1]);
	v = square[0] / (double)(n - 1) / (double)n;
	w = square[1] / (double)(m - 1) / (double)m;
	df = (v + w) * (v + w) / (v * v / (double)(n - 1) + w * w / (double)(m - 1));
	return 2 * gsl_cdf_tdist_Q(fabs(mean[0] - mean[1]) / sqrt(v + w), df);
}

static double mann_whitney_p(const double *a, gsize n, const double *b, gsize m)
{
	g_autofree double *both = g_new(double, n + m), *ranks = g_new(double, n + m);
	double sum = 0, mean = (double)(n * m) / 2;

	for (gsize i = 0; i < n + m; i++)
		both[i] = i < n ? a[i] : b[i - n];
	stats_mid_ranks(both, n + m, ranks);
	for (gsize i = 0; i < n; i++)
		sum += ranks[i];
	sum -= (double)(n * (n + 1)) / 2;
	return 2 * gsl_cdf_ugaussian_Q((fabs(sum - mean) - .5) / sqrt(mean * (double)(n + m + 1) / 6));
}

/* Collects the values of one arm: all passes (level 2), runs (1) or boots (0). */
static gsize collect(const Lab *lab, const Data *data, SampleArm arm, int level, double *ret_values)
{
	gsize n = 0;

	for (int b = 0; b < 2 * FIXED_PAIRS; b++) {
		if (lab->arm[b] != arm)
			continue;
		if (level == 0)
			ret_values[n++] = data->boot[b];
		for (int r = 0; level > 0 && r < RUNS; r++) {
			if (level == 1)
				ret_values[n++] = data->run[b][r];
			for (int p = 0; level == 2 && p < PASSES; p++)
				ret_values[n++] = data->pass[b][r][p];
		}
	}
	return n;
}

static gboolean pooled_mann_whitney(const Lab *lab, const Data *data)
{
	double a[FIXED_PAIRS * RUNS * PASSES], b[FIXED_PAIRS * RUNS * PASSES];
	gsize n = collect(lab, data, SAMPLE_ARM_BASE, 2, a), m = collect(lab, data, SAMPLE_ARM_PATCHED, 2, b);

	return mann_whitney_p(a, n, b, m) <= ALPHA;
}

static gboolean welch_on_runs(const Lab *lab, const Data *data)
{
	double a[FIXED_PAIRS * RUNS], b[FIXED_PAIRS * RUNS];
	gsize n = collect(lab, data, SAMPLE_ARM_BASE, 1, a), m = collect(lab, data, SAMPLE_ARM_PATCHED, 1, b);

	return welch_p(a, n, b, m) <= ALPHA;
}

/* The boots' ranges do not meet. */
static gboolean range_gap(const Lab *lab, const Data *data)
{
	double a[FIXED_PAIRS], b[FIXED_PAIRS];
	gsize n = collect(lab, data, SAMPLE_ARM_BASE, 0, a), m = collect(lab, data, SAMPLE_ARM_PATCHED, 0, b);

	gsl_sort(a, 1, n);
	gsl_sort(b, 1, m);
	return a[n - 1] < b[0] || b[m - 1] < a[0];
}

static const struct {
	const char *name;
	gboolean (*alarm)(const Lab *lab, const Data *data);
	gboolean ours;
} fixed_rules[] = {
	{ "fixed, 10 pairs", fixed_rule, TRUE },
	{ "open-ended e-process", open_ended_rule, FALSE },
	{ "others: Mann-Whitney on passes", pooled_mann_whitney, FALSE },
	{ "others: Welch on runs", welch_on_runs, FALSE },
	{ "others: range gap of boots", range_gap, FALSE },
};

/* Tables */

static gboolean report(const char *what, double rate, double low, double high)
{
	gboolean good = rate >= low && rate <= high;

	printf("  %-44s %.4f%s\n", what, rate, good ? "" : "   OUTSIDE ITS LIMIT");
	return good;
}

static gboolean false_alarms(const Lab *lab, const World *world)
{
	guint alarms[G_N_ELEMENTS(fixed_rules)] = { 0 }, sequential = 0;
	gboolean good = TRUE;

	for (guint set = 0; set < lab->sets; set++) {
		Data data;
		gsize boots;
		gboolean covered;

		simulate(lab, world, 0, &data);
		for (gsize i = 0; i < G_N_ELEMENTS(fixed_rules); i++)
			alarms[i] += fixed_rules[i].alarm(lab, &data);
		sequential += sequential_rule(lab, &data, 0, &boots, &covered);
	}
	printf("False alarms in %u A/A jobs, %s:\n", lab->sets, world->name);
	good &= report("sequential, up to 20 pairs", (double)sequential / lab->sets, ALPHA - lab->tolerance, ALPHA + lab->tolerance);
	for (gsize i = 0; i < G_N_ELEMENTS(fixed_rules); i++)
		good &= report(fixed_rules[i].name, (double)alarms[i] / lab->sets, fixed_rules[i].ours ? ALPHA - lab->tolerance : 0,
			       fixed_rules[i].ours ? ALPHA + lab->tolerance : 1);
	return good;
}

static gboolean family_wise(const Lab *lab, const World *world)
{
	guint sequential = 0, fixed = 0;
	gboolean good = TRUE;

	for (guint set = 0; set < lab->sets; set++) {
		gboolean rejected[FAMILY] = { FALSE };
		double level[FAMILY], p[FAMILY], adjusted[FAMILY], alpha[FAMILY], bounds[FAMILY];
		const double *const boundary[FAMILY] = { bounds, bounds, bounds, bounds }; /* one schedule for all */
		g_autofree Data *data = g_new(Data, FAMILY);

		for (int i = 0; i < FAMILY; i++)
			simulate(lab, world, 0, &data[i]);
		for (gsize k = 0; k < lab->looks.count; k++) {
			for (int i = 0; i < FAMILY; i++) {
				p[i] = stats_trend_fit(data[i].boot, lab->arm, lab->start_ns, lab->looks.boots[k]).p;
				bounds[i] = lab->boundary[(gsize)i * lab->looks.count + k];
			}
			stats_sequential_holm(p, FAMILY, boundary, rejected, level);
		}
		sequential += rejected[0] || rejected[1] || rejected[2] || rejected[3];
		for (int i = 0; i < FAMILY; i++)
			p[i] = stats_trend_fit(data[i].boot, lab->arm, lab->start_ns, 2 * FIXED_PAIRS).p;
		stats_holm(p, FAMILY, ALPHA, adjusted, alpha);
		fixed += MIN(MIN(adjusted[0], adjusted[1]), MIN(adjusted[2], adjusted[3])) <= ALPHA;
	}
	printf("Any false alarm in %u A/A jobs with %d parameter sets:\n", lab->sets, FAMILY);
	good &= report("sequential, group-sequential Holm", (double)sequential / lab->sets, 0, ALPHA + lab->tolerance);
	good &= report("fixed, Holm", (double)fixed / lab->sets, 0, ALPHA + lab->tolerance);
	return good;
}

/* A/A jobs that end undecided get 20 pairs more, and are decided by the open-ended rule over all 40: how often either of the
 * two results is a false alarm. Each has its own error rate; together they have at most the sum. */
static gboolean continued(const Lab *lab)
{
	SampleArm arm[LONG_BOOTS];
	gint64 start_ns[LONG_BOOTS];
	guint first = 0, second = 0, either = 0;
	gboolean good;

	for (int b = 0; b < LONG_BOOTS; b++) {
		arm[b] = "ABBA"[b % 4] == 'B' ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		start_ns[b] = b * G_GINT64_CONSTANT(9000000000);
	}
	for (guint set = 0; set < lab->sets; set++) {
		double y[LONG_BOOTS], largest = -INFINITY;
		gboolean found = FALSE, found_later = FALSE;

		for (int b = 0; b < LONG_BOOTS; b++)
			y[b] = noise(lab, 1);
		for (gsize k = 0; k < lab->looks.count && !found; k++)
			found = stats_trend_fit(y, arm, start_ns, lab->looks.boots[k]).p <= lab->boundary[k];
		for (gsize boots = 8; boots <= LONG_BOOTS && !found; boots += 2) {
			StatsTrend fit = stats_trend_fit(y, arm, start_ns, boots);

			largest = MAX(largest, stats_log_e(fit.beta / fit.se, fit.df, fit.n_eff));
		}
		found_later = !found && stats_anytime_p(largest) <= ALPHA;
		first += found;
		second += found_later;
		either += found || found_later;
	}
	printf("False alarms in %u A/A jobs that get 20 pairs more where they did not decide:\n", lab->sets);
	good = report("sequential, up to 20 pairs", (double)first / lab->sets, ALPHA - lab->tolerance, ALPHA + lab->tolerance);
	good &= report("then open-ended, up to 40 pairs", (double)second / lab->sets, 0, ALPHA);
	return report("either", (double)either / lab->sets, 0, 2 * ALPHA) && good;
}

static gboolean power(const Lab *lab, const World *world, double size)
{
	guint found[G_N_ELEMENTS(fixed_rules)] = { 0 }, sequential = 0, covered_count = 0;
	double effect = size * summary_sd(lab, world), pairs = 0;
	gboolean good = TRUE;

	for (guint set = 0; set < lab->sets; set++) {
		Data data;
		gsize boots;
		gboolean covered;

		simulate(lab, world, effect, &data);
		for (gsize i = 0; i < G_N_ELEMENTS(fixed_rules); i++)
			found[i] += fixed_rules[i].alarm(lab, &data);
		sequential += sequential_rule(lab, &data, effect, &boots, &covered);
		covered_count += covered;
		pairs += (double)boots / 2;
	}
	pairs /= lab->sets;
	printf("An effect of %g sd found in %u jobs, %s:\n", size, lab->sets, world->name);
	good &= report("sequential, up to 20 pairs", (double)sequential / lab->sets, size >= 2 ? .98 : 0, 1);
	printf("  %-44s %.2f%s\n", "  its mean number of pairs", pairs, size < 2 || pairs <= 8 ? "" : "   OUTSIDE ITS LIMIT");
	good &= size < 2 || pairs <= 8;
	good &= report("  its repeated interval holds the effect in", (double)covered_count / lab->sets, 1 - ALPHA - lab->tolerance, 1);
	for (gsize i = 0; i < G_N_ELEMENTS(fixed_rules); i++)
		report(fixed_rules[i].name, (double)found[i] / lab->sets, 0, 1);
	return good;
}

static Lab lab_new(void)
{
	const char *sets = g_getenv("SETS");
	double alphas[FAMILY];
	Lab lab = { .looks = stats_looks_plan(PAIRS), .sets = sets ? (guint)atoi(sets) : 20000 };

	for (int b = 0; b < BOOTS; b++) {
		lab.arm[b] = "ABBA"[b % 4] == 'B' ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		lab.start_ns[b] = b * G_GINT64_CONSTANT(9000000000);
	}
	for (int i = 0; i < FAMILY; i++)
		alphas[i] = ALPHA / (i + 1);
	lab.tolerance = 3 * sqrt(ALPHA * (1 - ALPHA) / lab.sets);
	lab.random = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(lab.random, 20240611);
	stats_boundary(lab.arm, lab.start_ns, &lab.looks, alphas, FAMILY, BOUNDARY_PATHS, 1, lab.boundary);
	return lab;
}

int main(void)
{
	const World worlds[] = {
		{ "boots do not vary", 0, 0 },
		{ "boots vary as runs do", SD, 0 },
		{ "boots vary as runs do, drift of 4 sd", SD, 4 * SD },
	};
	Lab lab = lab_new();
	gboolean good = lab.sets > 0;

	printf("Boundary:");
	for (gsize k = 0; k < lab.looks.count; k++)
		printf(" %.4f", lab.boundary[k]);
	printf("  at %d boots of each arm at most\n", PAIRS);
	for (gsize i = 0; good && i < G_N_ELEMENTS(worlds); i++)
		good &= false_alarms(&lab, &worlds[i]);
	good = good && family_wise(&lab, &worlds[2]);
	good = good && continued(&lab);
	for (double size = 1; good && size <= 2; size++)
		good &= power(&lab, &worlds[1], size);
	good = good && power(&lab, &worlds[2], 2);
	gsl_rng_free(lab.random);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
