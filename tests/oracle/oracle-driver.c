/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Answers questions about the statistics, one a line of standard input, for scripts that compare with other programs:
 *
 *     permutation N a… M b…        p exact
 *     mid-ranks N a… M b…          p of the permutation test on the mid-ranks of both
 *     shift ALPHA N a… M b…        shift low high
 *     signed-rank N d…             p
 *     trend N y… N arm… N t…       beta se df p drift drift_p half-width(.05)
 *     holm ALPHA N p…              adjusted…, alpha…
 *     bh ALPHA N p…                adjusted…, alpha
 *     fisher A N B M               p
 *     power EFFECT BOOTS ALPHA FITTED        power
 *     boots EFFECT ALPHA POWER FITTED        boots
 *     anova BOOTS RUNS PASSES N y…           mean squares of boots, runs, passes; their variances
 *     univariate N a…              mean sd lag-1 correlation median
 *     dip N x…                               dip
 *     steady N y… N t…                       drift drift_p sd lag1 lag1_p dip_p
 *     scan N x…                              split r² p
 *     bisect LAST N commit… N y…             posterior of 1 … LAST, of boots that start at one time
 *     limit N                                alarms that a host may have
 *     analyse FILE ALPHA MIN_EFFECT          the result as JSON on one line
 *     looks FILE ALPHA MIN_EFFECT MAX_BOOTS PATHS      likewise, by the sequential rule
 *     boundary SEED PATHS ALPHA M K boots… K fraction… N arm… N t…      of each look, for ALPHA/1 … ALPHA/M
 *
 * Answers are numbers with 17 digits, separated by spaces.
 */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/spec/json-text.h"
#include "jobs/stats/analysis.h"
#include "jobs/stats/bisect-posterior.h"
#include "jobs/stats/boundary.h"
#include "jobs/stats/components.h"
#include "jobs/stats/descriptive.h"
#include "jobs/stats/dip.h"
#include "jobs/stats/fisher.h"
#include "jobs/stats/ledger.h"
#include "jobs/stats/multiple.h"
#include "jobs/stats/permutation.h"
#include "jobs/stats/power.h"
#include "jobs/stats/rank-scan.h"
#include "jobs/stats/rank.h"
#include "jobs/stats/seed.h"
#include "jobs/stats/steady.h"
#include "jobs/stats/trend.h"

#define LINE_MAX_BYTES (1 << 22)
#define SEED 1

typedef struct {
	char **words;
	gsize at;
} Question;

typedef struct {
	gsize n;
	double *values;
} Vector;

static void vector_clear(Vector *vector)
{
	g_free(vector->values);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Vector, vector_clear)

static const char *take_word(Question *question)
{
	g_assert(question->words[question->at]);
	return question->words[question->at++];
}

static double take(Question *question)
{
	return g_ascii_strtod(take_word(question), NULL);
}

static Vector take_vector(Question *question)
{
	Vector vector = { .n = (gsize)take(question) };

	vector.values = g_new(double, vector.n);
	for (gsize i = 0; i < vector.n; i++)
		vector.values[i] = take(question);
	return vector;
}

static void say(double value)
{
	printf("%.17g ", value);
}

static void say_all(const double *values, gsize n)
{
	for (gsize i = 0; i < n; i++)
		say(values[i]);
}

static void permutation(Question *question)
{
	g_auto(Vector) a = take_vector(question), b = take_vector(question);
	StatsPermutation result = stats_permutation_test(a.values, a.n, b.values, b.n, SEED);

	say(result.p);
	say(result.exact);
}

static void mid_ranks(Question *question)
{
	g_auto(Vector) a = take_vector(question), b = take_vector(question);
	g_autofree double *both = g_new(double, a.n + b.n), *ranks = g_new(double, a.n + b.n);

	memcpy(both, a.values, a.n * sizeof *both);
	memcpy(both + a.n, b.values, b.n * sizeof *both);
	stats_mid_ranks(both, a.n + b.n, ranks);
	say(stats_permutation_test(ranks, a.n, ranks + a.n, b.n, SEED).p);
}

static void shift(Question *question)
{
	double alpha = take(question);
	g_auto(Vector) a = take_vector(question), b = take_vector(question);
	StatsShift result = stats_hodges_lehmann(a.values, a.n, b.values, b.n, alpha);

	say(result.shift);
	say(result.low);
	say(result.high);
}

static void signed_rank(Question *question)
{
	g_auto(Vector) d = take_vector(question);

	say(stats_signed_rank_p(d.values, d.n));
}

static void trend(Question *question)
{
	g_auto(Vector) y = take_vector(question), arm = take_vector(question), time = take_vector(question);
	g_autofree SampleArm *arms = g_new(SampleArm, y.n);
	g_autofree gint64 *start_ns = g_new(gint64, y.n);
	StatsTrend fit;

	for (gsize i = 0; i < y.n; i++) {
		arms[i] = arm.values[i] > 0 ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		start_ns[i] = (gint64)time.values[i];
	}
	fit = stats_trend_fit(y.values, arms, start_ns, y.n);
	say_all((const double[]){ fit.beta, fit.se, fit.df, fit.p, fit.drift, fit.drift_p, stats_trend_half_width(&fit, .05) }, 7);
}

static void holm(Question *question)
{
	double alpha = take(question);
	g_auto(Vector) p = take_vector(question);
	g_autofree double *adjusted = g_new(double, p.n), *levels = g_new(double, p.n);

	stats_holm(p.values, p.n, alpha, adjusted, levels);
	say_all(adjusted, p.n);
	say_all(levels, p.n);
}

static void bh(Question *question)
{
	double alpha = take(question), level;
	g_auto(Vector) p = take_vector(question);
	g_autofree double *adjusted = g_new(double, p.n);

	level = stats_benjamini_hochberg(p.values, p.n, alpha, adjusted);
	say_all(adjusted, p.n);
	say(level);
}

static void fisher(Question *question)
{
	guint a = (guint)take(question), n = (guint)take(question), b = (guint)take(question), m = (guint)take(question);

	say(stats_fisher_p(a, n, b, m));
}

static void power(Question *question)
{
	double effect = take(question), boots = take(question), alpha = take(question), fitted = take(question);

	say(stats_power(effect, (guint)boots, alpha, (guint)fitted));
}

static void boots(Question *question)
{
	double effect = take(question), alpha = take(question), wanted = take(question), fitted = take(question);

	say(stats_boots_for(effect, alpha, wanted, (guint)fitted));
}

static void anova(Question *question)
{
	gsize boot_count = (gsize)take(question), runs = (gsize)take(question), passes = (gsize)take(question);
	g_auto(Vector) y = take_vector(question);
	StatsComponents c = stats_components(y.values, NULL, boot_count, runs, passes);

	say_all((const double[]){ c.boot_ms, c.run_ms, c.pass_ms, c.boot_var, c.run_var, c.pass_var }, 6);
}

static void univariate(Question *question)
{
	g_auto(Vector) a = take_vector(question);

	say(stats_mean(a.values, a.n));
	say(stats_sd(a.values, a.n));
	say(stats_lag1_correlation(a.values, a.n));
	say(stats_median(a.values, a.n));
}

static void dip(Question *question)
{
	g_auto(Vector) x = take_vector(question);

	stats_sort(x.values, x.n);
	say(stats_dip(x.values, x.n));
}

static void scan(Question *question)
{
	g_auto(Vector) x = take_vector(question);
	g_autoptr(StatsScanNull) null = stats_scan_null_new(NULL);
	g_autofree double *ranks = g_new(double, x.n);
	StatsScan found;

	stats_mid_ranks(x.values, x.n, ranks);
	found = stats_scan(ranks, x.n);
	say((double)found.split);
	say(found.r_squared);
	say(stats_scan_p(null, ranks, x.n, found.r_squared));
}

static void bisect(Question *question)
{
	gsize last = (gsize)take(question);
	g_auto(Vector) commits = take_vector(question), y = take_vector(question);
	g_autofree StatsBisectBoot *boots = g_new0(StatsBisectBoot, y.n);
	g_auto(StatsBisectPosterior) posterior = { 0 };
	const StatsBisectData data = { .last = last, .boots = boots, .boot_count = y.n };

	for (gsize i = 0; i < y.n; i++)
		boots[i] = (StatsBisectBoot){ .commit = (gsize)commits.values[i], .y = y.values[i] };
	stats_bisect_posterior(&data, &posterior);
	for (gsize i = 1; i <= last; i++)
		say(posterior.p[i]);
}

static void steady(Question *question)
{
	g_auto(Vector) y = take_vector(question), time = take_vector(question);
	g_autofree gint64 *start_ns = g_new(gint64, y.n);
	StatsSteadiness s;

	for (gsize i = 0; i < y.n; i++)
		start_ns[i] = (gint64)time.values[i];
	s = stats_steadiness(y.values, start_ns, y.n, SEED);
	say_all((const double[]){ s.drift, s.drift_p, s.sd, s.lag1, s.lag1_p, s.dip_p }, 6);
}

static void limit(Question *question)
{
	say(stats_alarm_limit((guint)take(question)));
}

static void boundary(Question *question)
{
	gint64 seed = (gint64)take(question);
	guint paths = (guint)take(question);
	double alpha = take(question);
	gsize m = (gsize)take(question);
	g_auto(Vector) boots_seen = take_vector(question), fraction = take_vector(question), arm = take_vector(question),
		       time = take_vector(question);
	g_autofree SampleArm *arms = g_new(SampleArm, arm.n);
	g_autofree gint64 *start_ns = g_new(gint64, arm.n);
	g_autofree double *alphas = g_new(double, m), *p = g_new(double, m * boots_seen.n);
	StatsLooks looks = { .count = boots_seen.n };

	g_assert(looks.count <= STATS_LOOKS_MAX);
	for (gsize k = 0; k < looks.count; k++) {
		looks.boots[k] = (gsize)boots_seen.values[k];
		looks.fraction[k] = fraction.values[k];
	}
	for (gsize i = 0; i < arm.n; i++) {
		arms[i] = arm.values[i] > 0 ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		start_ns[i] = (gint64)time.values[i];
	}
	for (gsize j = 0; j < m; j++)
		alphas[j] = alpha / (double)(j + 1);
	stats_boundary(arms, start_ns, &looks, alphas, m, paths, stats_boundary_seed(seed), p);
	say_all(p, m * looks.count);
}

static void say_result(const char *path, const StatsOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *json = NULL;
	g_autoptr(SampleTable) table = NULL;
	g_autoptr(StatsResult) result = NULL;
	g_autoptr(JsonNode) node = NULL;
	gsize length;

	if (!g_file_get_contents(path, &text, &length, &error))
		g_error("%s", error->message);
	table = sample_table_from_text(text, length, &error);
	result = table ? stats_analyse(table, options, &error) : NULL;
	if (!result)
		g_error("%s", error->message);
	node = stats_result_to_json(result);
	json = json_text(node, FALSE);
	fputs(json, stdout);
}

static void analyse(Question *question)
{
	StatsOptions options = { .rule = STATS_RULE_FIXED };
	const char *path = take_word(question);

	options.alpha = take(question);
	options.min_effect_pct = take(question);
	say_result(path, &options);
}

static void looks(Question *question)
{
	StatsOptions options = { .rule = STATS_RULE_SEQUENTIAL };
	const char *path = take_word(question);

	options.alpha = take(question);
	options.min_effect_pct = take(question);
	options.max_boots = (guint)take(question);
	options.paths = (guint)take(question);
	say_result(path, &options);
}

static const struct {
	const char *name;
	void (*answer)(Question *question);
} questions[] = {
	{ "permutation", permutation }, { "mid-ranks", mid_ranks }, { "shift", shift },	  { "signed-rank", signed_rank },
	{ "trend", trend },		{ "holm", holm },	    { "bh", bh },	  { "fisher", fisher },
	{ "power", power },		{ "boots", boots },	    { "anova", anova },	  { "univariate", univariate },
	{ "dip", dip },		{ "steady", steady },	    { "limit", limit },	  { "analyse", analyse },
	{ "looks", looks },		{ "boundary", boundary },   { "scan", scan },	  { "bisect", bisect },
};

int main(void)
{
	g_autofree char *line = g_malloc(LINE_MAX_BYTES);

	while (fgets(line, LINE_MAX_BYTES, stdin)) {
		g_auto(GStrv) words = g_strsplit(g_strstrip(line), " ", -1);
		Question question = { words, 1 };
		gsize i = 0;

		while (i < G_N_ELEMENTS(questions) && g_strcmp0(words[0], questions[i].name))
			i++;
		if (i == G_N_ELEMENTS(questions)) {
			fprintf(stderr, "unknown question: %s\n", words[0] ? words[0] : "");
			return EXIT_FAILURE;
		}
		questions[i].answer(&question);
		putchar('\n');
	}
	return EXIT_SUCCESS;
}
