/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "jobs/stats/analysis.h"
#include "jobs/stats/result-text.h"
#include "jobs/stats/sentence.h"

#define START_NS G_GINT64_CONSTANT(1764540000000000000)
#define SECOND_NS G_GINT64_CONSTANT(1000000000)

/* A made-up job: one benchmark with one parameter set unless changed. */
typedef struct {
	const char *order; /* A base, B patched */
	double base, factor; /* patched = base · factor */
	double sd;           /* of boots, on the log scale */
	double drift;        /* a boot, on the log scale */
	int runs, passes;
	const char *params;
	gboolean swap;       /* exchange the arms' names */
	double scale;
	guint32 seed;
} Job;

#define JOB(...) ((Job){ __VA_ARGS__ })

/* What a job does not say. */
static void complete(Job *job)
{
	job->order = job->order ? job->order : "ABBABAAB";
	job->params = job->params ? job->params : "nproc=8;lru=mglru";
	job->base = job->base ? job->base : 32.9;
	job->factor = job->factor ? job->factor : 1;
	job->scale = job->scale ? job->scale : 1;
	job->runs = job->runs ? job->runs : 2;
	job->passes = job->passes ? job->passes : 3;
	job->seed = job->seed ? job->seed : 1;
}

static double gauss(GRand *random)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += g_rand_double(random);
	return sum;
}

static Sample blank(void)
{
	return (Sample){ .job = 7, .host = "lab1", .clock = "icount", .benchmark = "aging", .params = "", .run = 1, .pass = 1,
			 .metric = "time", .unit = "ms", .better = SAMPLE_BETTER_LOWER, .valid = TRUE, .reason = "" };
}

static void append(SampleTable *table, const Sample *sample)
{
	g_autoptr(GError) error = NULL;

	sample_table_append(table, sample, &error);
	g_assert_no_error(error);
}

static void add_job(SampleTable *table, Job job)
{
	g_autoptr(GRand) random = NULL;

	complete(&job);
	random = g_rand_new_with_seed(job.seed);
	for (int boot = 0; job.order[boot]; boot++) {
		gboolean patched = job.order[boot] == 'B';
		double level = job.base * job.scale * (patched ? job.factor : 1) *
			       exp(job.sd * gauss(random) + job.drift * boot);
		Sample sample = blank();

		sample.arm = patched != job.swap ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		sample.boot = boot;
		sample.pair = boot / 2;
		sample.boot_start_ns = START_NS + boot * 9 * SECOND_NS;
		sample.params = job.params;
		for (sample.run = 1; sample.run <= job.runs; sample.run++)
			for (sample.pass = 0; sample.pass <= job.passes; sample.pass++) {
				sample.value = level * (sample.pass ? 1 + .01 * job.sd * (sample.pass + sample.run) : 5);
				append(table, &sample);
			}
	}
}

static StatsResult *analyse(const SampleTable *table, const StatsOptions *options)
{
	g_autoptr(GError) error = NULL;
	StatsResult *result = stats_analyse(table, options ? options : &STATS_OPTIONS_DEFAULT, &error);

	g_assert_no_error(error);
	return result;
}

static const StatsComparison *at(const StatsResult *result, guint i)
{
	g_assert_cmpuint(i, <, result->comparisons->len);
	return g_ptr_array_index(result->comparisons, i);
}

static void assert_verdict(const StatsComparison *comparison, StatsVerdict verdict, const char *reason)
{
	if (comparison->verdict != verdict || !g_pattern_match_simple(reason, comparison->reason))
		g_error("%s: %s", stats_verdict_to_string(comparison->verdict), comparison->reason);
}

static StatsResult *analyse_job(Job job)
{
	g_autoptr(SampleTable) table = sample_table_new();

	add_job(table, job);
	return analyse(table, NULL);
}

/* The interval and the adjusted p never contradict each other, nor the verdict. */
static void assert_consistent(const StatsResult *result)
{
	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *c = at(result, i);
		double adjusted = c->primary ? c->p_holm : c->p_bh;
		gboolean excludes_0 = c->ci_low_pct > 0 || c->ci_high_pct < 0;

		if (!isnan(adjusted) && !isnan(c->ci_low_pct))
			g_assert_cmpint(adjusted <= result->alpha, ==, excludes_0);
		if (c->verdict == STATS_VERDICT_REGRESSION || c->verdict == STATS_VERDICT_IMPROVEMENT)
			g_assert_true(isnan(c->ci_low_pct) || excludes_0);
		if (c->verdict == STATS_VERDICT_INCONCLUSIVE)
			g_assert_true(isnan(c->ci_low_pct) || !excludes_0);
		for (const double *p = (const double[]){ c->p, c->p_holm, c->p_bh, c->p_permutation, c->drift_p, -1 }; *p != -1; p++)
			g_assert_true(isnan(*p) || (*p > 0 && *p <= 1));
	}
}

static void test_verdicts(void)
{
	g_autoptr(StatsResult) worse = analyse_job(JOB(.sd = .002, .factor = 1.03));
	g_autoptr(StatsResult) better = analyse_job(JOB(.sd = .002, .factor = .97));
	g_autoptr(StatsResult) same = analyse_job(JOB(.sd = .002));
	g_autoptr(StatsResult) small = analyse_job(JOB(.sd = .0002, .factor = 1.005));
	g_autoptr(StatsResult) noisy = analyse_job(JOB(.sd = .05));

	assert_verdict(at(worse, 0), STATS_VERDICT_REGRESSION, "the interval excludes 0*");
	assert_verdict(at(better, 0), STATS_VERDICT_IMPROVEMENT, "the interval excludes 0*");
	assert_verdict(at(same, 0), STATS_VERDICT_EQUIVALENT, "the interval lies within ±1 %*");
	assert_verdict(at(small, 0), STATS_VERDICT_EQUIVALENT, "a change too small to matter: the interval excludes 0*");
	assert_verdict(at(noisy, 0), STATS_VERDICT_INCONCLUSIVE, "*about * boots an arm (* more) would decide for a change of 1 %*");
	g_assert_cmpuint(at(noisy, 0)->boots_needed, >, 100);
	g_assert_cmpuint(at(worse, 0)->boots_needed, ==, 0);
	g_assert_cmpfloat_with_epsilon(at(worse, 0)->change_pct, 3, .5);
	g_assert_cmpuint(at(worse, 0)->boots[SAMPLE_ARM_BASE], ==, 4);
	g_assert_cmpuint(at(worse, 0)->runs, ==, 2);
	g_assert_cmpuint(at(worse, 0)->passes, ==, 3);
	g_assert_cmpfloat(at(worse, 0)->ci_level, ==, .95);
	assert_consistent(worse);
	assert_consistent(noisy);
}

static void test_higher_is_better(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), job = sample_table_new();
	g_autoptr(StatsResult) result = NULL;

	add_job(job, JOB(.sd = .002, .factor = .97));
	for (gsize i = 0; i < sample_table_length(job); i++) {
		Sample sample = *sample_table_get(job, i);

		sample.better = SAMPLE_BETTER_HIGHER;
		sample.unit = "MiB/s";
		append(table, &sample);
	}
	result = analyse(table, NULL);
	assert_verdict(at(result, 0), STATS_VERDICT_REGRESSION, "*");
	g_assert_cmpstr(result->summary, ==, "aging is 3 % slower");
}

static void test_max_boots(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	StatsOptions options = STATS_OPTIONS_DEFAULT;
	g_autoptr(StatsResult) result = NULL, strict = NULL;

	add_job(table, JOB(.sd = .05));
	options.max_boots = 20;
	result = analyse(table, &options);
	assert_verdict(at(result, 0), STATS_VERDICT_INCONCLUSIVE, "*the smallest change that 20 boots an arm can see is * %*");
	options.min_effect_pct = 0; /* no number of boots can decide for no effect */
	strict = analyse(table, &options);
	assert_verdict(at(strict, 0), STATS_VERDICT_INCONCLUSIVE, "*the smallest change that 20 boots an arm can see is * %*");
	g_assert_cmpuint(at(strict, 0)->boots_needed, ==, 0);
}

/* Under icount the boots of an arm can be equal to the last digit. */
static void test_zero_residual(void)
{
	g_autoptr(StatsResult) equal = analyse_job(JOB(.sd = 0)), large = analyse_job(JOB(.factor = 1.05)),
			       small = analyse_job(JOB(.factor = 1.005)), tiny = analyse_job(JOB(.factor = 1 + 1e-9));
	const StatsComparison *c = at(equal, 0);

	assert_verdict(c, STATS_VERDICT_EQUIVALENT, "every boot of both arms gave the same value*");
	g_assert_true(c->change_pct == 0 && c->p == 1 && c->p_permutation == 1 && isnan(c->ci_low_pct));
	c = at(large, 0);
	assert_verdict(c, STATS_VERDICT_REGRESSION, "*their spread is below the clock's resolution*");
	g_assert_true(isnan(c->p) && isnan(c->ci_low_pct) && isnan(c->ci_high_pct));
	g_assert_cmpfloat_with_epsilon(c->p_permutation, 2.0 / 70, 1e-12);
	g_assert_cmpfloat_with_epsilon(c->p_holm, 2.0 / 70, 1e-12);
	assert_verdict(at(small, 0), STATS_VERDICT_EQUIVALENT, "*a change too small to matter*");
	assert_verdict(at(tiny, 0), STATS_VERDICT_EQUIVALENT, "*the change is below the clock's resolution as well*");
}

/* With several parameter sets the exact test needs more boots, and says how many. */
static void test_zero_residual_family(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), more = sample_table_new();
	g_autoptr(StatsResult) result = NULL, enough = NULL;
	static const char *const params[] = { "nproc=1", "nproc=8", "nproc=32", "nproc=64" };

	for (gsize i = 0; i < G_N_ELEMENTS(params); i++) {
		add_job(table, JOB(.factor = 1.05, .params = params[i]));
		add_job(more, JOB(.factor = 1.05, .params = params[i], .order = "ABBABAABAB"));
	}
	result = analyse(table, NULL);
	for (guint i = 0; i < 4; i++) {
		assert_verdict(at(result, i), STATS_VERDICT_INCONCLUSIVE, "*which needs 5 boots an arm for this many parameter sets*");
		g_assert_cmpuint(at(result, i)->boots_needed, ==, 5);
		g_assert_cmpstr(at(result, i)->params, ==, params[i]); /* by the size of the number */
	}
	enough = analyse(more, NULL);
	for (guint i = 0; i < 4; i++)
		assert_verdict(at(enough, i), STATS_VERDICT_REGRESSION, "*");
	g_assert_cmpstr(enough->summary, ==, "aging is 5 % slower");
}

static void test_insufficient(void)
{
	g_autoptr(StatsResult) one = analyse_job(JOB(.order = "AB", .factor = 1.5)), three = analyse_job(JOB(.order = "ABBABA", .factor = 2, .sd = .001)),
			       none = analyse_job(JOB(.order = "AAAA", .sd = .001));

	assert_verdict(at(one, 0), STATS_VERDICT_INSUFFICIENT, "1 base and 1 patched boots count: a verdict needs at least 4 of each, 3 more*");
	g_assert_cmpfloat_with_epsilon(at(one, 0)->change_pct, 50, 1e-9);
	g_assert_true(isnan(at(one, 0)->p) && isnan(at(one, 0)->ci_low_pct) && isnan(at(one, 0)->p_holm));
	g_assert_cmpuint(at(one, 0)->boots_needed, ==, 4);
	assert_verdict(at(three, 0), STATS_VERDICT_INSUFFICIENT, "*1 more*");
	g_assert_false(isnan(at(three, 0)->ci_low_pct));
	g_assert_true(isnan(at(three, 0)->p_holm));
	assert_verdict(at(none, 0), STATS_VERDICT_INSUFFICIENT, "4 base and 0 patched*");
	g_assert_true(isnan(at(none, 0)->change_pct) && isnan(at(none, 0)->mean[SAMPLE_ARM_PATCHED]));
	g_assert_false(isnan(at(none, 0)->mean[SAMPLE_ARM_BASE]));
}

static void test_invalid_order(void)
{
	g_autoptr(StatsResult) apart = analyse_job(JOB(.order = "AAAABBBB", .sd = .001, .factor = 1.1));

	assert_verdict(at(apart, 0), STATS_VERDICT_INVALID, "all boots of base came before all boots of patched*");
	g_assert_true(isnan(at(apart, 0)->change_pct) && isnan(at(apart, 0)->p));
}

/* Each change makes a valid job invalid. */
static void test_invalid(void)
{
	static const struct {
		const char *clock, *host, *unit;
		double value;
		const char *reason;
	} cases[] = {
		{ "kvm", NULL, NULL, 0, "clocks are mixed*" },	  { NULL, "lab2", NULL, 0, "hosts are mixed*" },
		{ NULL, NULL, "us", 0, "units are mixed*" },	  { NULL, NULL, NULL, -1, "a value of 0 or less (boot 7 of patched*" },
		{ NULL, NULL, NULL, -2, "a value of 0 or less*" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(SampleTable) table = sample_table_new(), job = sample_table_new();
		g_autoptr(StatsResult) result = NULL;

		add_job(job, JOB(.sd = .002));
		for (gsize j = 0; j < sample_table_length(job); j++) {
			Sample sample = *sample_table_get(job, j);

			if (sample.boot == 7) {
				sample.clock = cases[i].clock ? cases[i].clock : sample.clock;
				sample.host = cases[i].host ? cases[i].host : sample.host;
				sample.unit = cases[i].unit ? cases[i].unit : sample.unit;
				if (cases[i].value < 0)
					sample.value = cases[i].value + 1;
			}
			append(table, &sample);
		}
		result = analyse(table, NULL);
		assert_verdict(at(result, 0), STATS_VERDICT_INVALID, cases[i].reason);
		g_assert_true(isnan(at(result, 0)->change_pct));
		if (cases[i].clock)
			g_assert_true(!result->clock && !at(result, 0)->clock);
		assert_consistent(result);
	}
}

/* A missing pass or value costs the run, half the runs lost cost the boot; a boot that failed counts as such only. */
static void test_rejections(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), job = sample_table_new();
	g_autoptr(StatsResult) result = NULL;
	const StatsComparison *c;

	add_job(job, JOB(.sd = .002, .runs = 3));
	for (gsize i = 0; i < sample_table_length(job); i++) {
		Sample sample = *sample_table_get(job, i);

		if (sample.boot == 0 && sample.run == 2 && sample.pass == 3)
			continue; /* a pass missing */
		if (sample.boot == 1 && sample.run == 1 && sample.pass == 2)
			sample.value = NAN;
		if (sample.boot == 2 && sample.run < 3 && sample.pass == 1)
			continue; /* one of three runs is left */
		if (sample.boot == 3) {
			sample.valid = FALSE;
			sample.reason = "panic";
		}
		append(table, &sample);
	}
	result = analyse(table, NULL);
	c = at(result, 0);
	g_assert_cmpuint(c->boots[SAMPLE_ARM_BASE], ==, 3);
	g_assert_cmpuint(c->boots[SAMPLE_ARM_PATCHED], ==, 3);
	g_assert_cmpuint(c->boots_rejected[SAMPLE_ARM_PATCHED], ==, 1);
	g_assert_cmpuint(c->runs_rejected, ==, 4);
	assert_verdict(c, STATS_VERDICT_INSUFFICIENT, "*4 runs and 1 boots were rejected, the first: boot 0 (base), run 2: pass 3 is missing*");
	g_assert_true(isnan(c->boot_sd_pct)); /* not balanced */
	g_assert_cmpuint(result->failures.failed[SAMPLE_ARM_BASE], ==, 1);
	g_assert_cmpuint(result->failures.boots[SAMPLE_ARM_BASE], ==, 4);
}

static void test_times(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), job = sample_table_new();
	g_autoptr(StatsResult) plain = NULL, drifting = analyse_job(JOB(.sd = .001, .drift = .02, .factor = 1.03));

	assert_verdict(at(drifting, 0), STATS_VERDICT_REGRESSION, "*the host drifted by +1*% during the job*");
	g_assert_cmpfloat_with_epsilon(at(drifting, 0)->change_pct, 3, .5);
	g_assert_cmpfloat(at(drifting, 0)->drift_p, <, 1e-4);
	add_job(job, JOB(.sd = .002, .factor = 1.03));
	for (gsize i = 0; i < sample_table_length(job); i++) {
		Sample sample = *sample_table_get(job, i);

		sample.boot_start_ns = 0;
		append(table, &sample);
	}
	plain = analyse(table, NULL);
	assert_verdict(at(plain, 0), STATS_VERDICT_REGRESSION, "*not adjusted for drift*");
	g_assert_true(isnan(at(plain, 0)->drift_p) && !at(plain, 0)->drift_adjusted);
}

static void test_outlier(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), job = sample_table_new();
	g_autoptr(StatsResult) result = NULL;
	const StatsComparison *c;

	add_job(job, JOB(.order = "ABBAABBAABBA", .sd = .002));
	for (gsize i = 0; i < sample_table_length(job); i++) {
		Sample sample = *sample_table_get(job, i);

		if (sample.boot == 4)
			sample.value *= 1.3;
		append(table, &sample);
	}
	result = analyse(table, NULL);
	c = at(result, 0);
	g_assert_cmpuint(c->outliers->len, ==, 1);
	g_assert_cmpint(g_array_index(c->outliers, StatsOutlier, 0).boot, ==, 4);
	g_assert_cmpuint(c->boots[SAMPLE_ARM_BASE], ==, 6); /* never dropped */
	g_assert_cmpfloat(fabs(c->without_change_pct), <, .5);
	g_assert_cmpfloat(fabs(c->change_pct), >, 2);
	assert_verdict(c, STATS_VERDICT_INCONCLUSIVE, "*outlying boots, counted all the same: 4 (base); without: *");
}

static void test_properties(void)
{
	for (guint32 seed = 1; seed <= 40; seed++) {
		Job job = JOB(.sd = .01, .factor = 1.02, .seed = seed);
		g_autoptr(StatsResult) plain = analyse_job(job), swapped = NULL, scaled = NULL;
		const StatsComparison *a = at(plain, 0), *b, *c;

		job.swap = TRUE;
		swapped = analyse_job(job);
		job.swap = FALSE;
		job.scale = 1000;
		scaled = analyse_job(job);
		b = at(swapped, 0);
		c = at(scaled, 0);
		g_assert_cmpfloat_with_epsilon(log1p(a->change_pct / 100), -log1p(b->change_pct / 100), 1e-12);
		g_assert_cmpfloat_with_epsilon(log1p(a->ci_low_pct / 100), -log1p(b->ci_high_pct / 100), 1e-12);
		g_assert_cmpfloat_with_epsilon(a->p, b->p, 1e-10);
		g_assert_cmpfloat(a->p_permutation, ==, b->p_permutation);
		g_assert_cmpfloat_with_epsilon(log1p(a->hl_shift_pct / 100), -log1p(b->hl_shift_pct / 100), 1e-12);
		g_assert_cmpfloat_with_epsilon(a->change_pct, c->change_pct, 1e-9);
		g_assert_cmpfloat_with_epsilon(a->p, c->p, 1e-9);
		g_assert_cmpfloat(a->p_permutation, ==, c->p_permutation);
		assert_consistent(plain);
	}
}

/* Any order of the rows gives the same result to the bit; so does the way through CSV, and through two files. */
static void test_order_of_rows(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), back = NULL, first = sample_table_new(), second = sample_table_new();
	g_autoptr(GRand) random = g_rand_new_with_seed(3);
	g_autoptr(StatsResult) result = NULL, again = NULL, joined = NULL;
	g_autofree char *wanted = NULL, *got = NULL, *two = NULL, *csv = NULL;
	g_autofree gsize *order = NULL;
	gsize n;

	add_job(table, JOB(.sd = .01, .params = "nproc=1"));
	add_job(table, JOB(.sd = .01, .params = "nproc=8", .order = "ABBABAABABBABAABABBABAABABBABAAB", .seed = 2));
	result = analyse(table, NULL);
	g_assert_false(at(result, 1)->permutation_exact); /* draws included */
	wanted = stats_result_to_json_text(result);
	n = sample_table_length(table);
	order = g_new(gsize, n);
	for (gsize i = 0; i < n; i++)
		order[i] = i;
	for (int round = 0; round < 5; round++) {
		g_autoptr(SampleTable) shuffled = sample_table_new();
		g_autoptr(StatsResult) other = NULL;
		g_autofree char *text = NULL;

		for (gsize i = n - 1; i > 0; i--) {
			gsize j = (gsize)g_rand_int_range(random, 0, (gint32)i + 1), kept = order[i];

			order[i] = order[j];
			order[j] = kept;
		}
		for (gsize i = 0; i < n; i++)
			append(shuffled, sample_table_get(table, order[i]));
		other = analyse(shuffled, NULL);
		text = stats_result_to_json_text(other);
		g_assert_cmpstr(text, ==, wanted);
	}
	csv = sample_table_to_csv(table);
	back = sample_table_from_text(csv, strlen(csv), NULL);
	again = analyse(back, NULL);
	got = stats_result_to_json_text(again);
	g_assert_cmpstr(got, ==, wanted);
	for (gsize i = 0; i < n; i++) {
		Sample sample = *sample_table_get(table, i);

		if (sample.boot >= 4) {
			sample.boot -= 4;
			sample.pair -= 2;
		}
		append(sample_table_get(table, i)->boot < 4 ? first : second, &sample);
	}
	g_assert_true(sample_table_append_boots(first, second, NULL));
	joined = analyse(first, NULL);
	two = stats_result_to_json_text(joined);
	g_assert_cmpstr(two, ==, wanted);
}

static void test_exploration(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), job = sample_table_new();
	StatsOptions options = STATS_OPTIONS_DEFAULT;
	const char *const named[] = { "aging=pgscan", NULL };
	g_autoptr(StatsResult) result = NULL, other = NULL;

	add_job(job, JOB(.sd = .002));
	for (gsize i = 0; i < sample_table_length(job); i++) {
		Sample sample = *sample_table_get(job, i);

		append(table, &sample);
		sample.metric = "pgscan";
		sample.unit = "pages";
		sample.value *= sample.arm == SAMPLE_ARM_PATCHED ? 2 : 1;
		append(table, &sample);
	}
	result = analyse(table, NULL);
	g_assert_cmpstr(at(result, 0)->metric, ==, "time");
	g_assert_true(at(result, 0)->primary && !at(result, 1)->primary);
	assert_verdict(at(result, 1), STATS_VERDICT_REGRESSION, "exploration: *");
	g_assert_true(isnan(at(result, 1)->p_holm) && !isnan(at(result, 1)->p_bh));
	g_assert_cmpfloat(at(result, 0)->ci_level, ==, .95); /* exploration costs the primary metric nothing */
	g_assert_nonnull(strstr(result->summary, "unchanged"));
	options.primary = named;
	other = analyse(table, &options);
	g_assert_cmpstr(at(other, 0)->metric, ==, "pgscan");
	g_assert_cmpstr(other->summary, ==, "aging is 100 % worse");
	g_assert_cmpint(at(other, 0)->seed, ==, at(result, 1)->seed);
}

/* Families of mixed size: the level of each interval and the adjusted p always agree. */
static void test_consistency(void)
{
	for (guint32 seed = 1; seed <= 60; seed++) {
		g_autoptr(SampleTable) table = sample_table_new();
		g_autoptr(StatsResult) result = NULL;

		for (guint i = 0; i < 2 + seed % 6; i++) {
			g_autofree char *params = g_strdup_printf("n=%u", i);

			add_job(table, JOB(.sd = i == 5 ? 0 : .01, .factor = 1 + .005 * i, .params = params, .seed = seed * 16 + i,
					   .order = i == 4 ? "ABBABA" : "ABBABAABBA"));
		}
		result = analyse(table, NULL);
		assert_consistent(result);
	}
}

static void test_failures(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	StatsOptions options = STATS_OPTIONS_DEFAULT;
	g_autoptr(StatsResult) fine = NULL, failing = NULL;
	g_autofree char *text = NULL;

	add_job(table, JOB(.sd = .002));
	fine = analyse(table, NULL);
	g_assert_cmpint(fine->failures.verdict, ==, STATS_VERDICT_INCONCLUSIVE);
	g_assert_cmpfloat(fine->failures.p, ==, 1);
	options.failed_boots[SAMPLE_ARM_PATCHED] = 12;
	failing = analyse(table, &options);
	g_assert_cmpint(failing->failures.verdict, ==, STATS_VERDICT_REGRESSION);
	g_assert_cmpuint(failing->failures.boots[SAMPLE_ARM_PATCHED], ==, 16);
	text = stats_result_to_text(failing);
	g_assert_nonnull(strstr(text, "Failed boots: 0 of 4 base, 12 of 16 patched: REGRESSION"));
}

static void test_json_round_trip(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(StatsResult) result = NULL, back = NULL;
	g_autoptr(JsonNode) node = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *again = NULL;

	add_job(table, JOB(.sd = .01, .params = "nproc=1"));
	add_job(table, JOB(.order = "AB", .params = "nproc=8"));
	add_job(table, JOB(.sd = .3, .order = "ABBABAABBA", .params = "nproc=32"));
	result = analyse(table, NULL);
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->hl_low_pct = -0.0;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->hl_high_pct = 5e-324;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->hl_shift_pct = 1e22;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->drift_p = 1e-10;
	((StatsComparison *)g_ptr_array_index(result->comparisons, 0))->p = 0.1 + 0.2;
	text = stats_result_to_json_text(result);
	node = json_from_string(text, &error);
	g_assert_no_error(error);
	back = stats_result_from_json(node, &error);
	g_assert_no_error(error);
	again = stats_result_to_json_text(back);
	g_assert_cmpstr(again, ==, text);
	for (guint i = 0; i < result->comparisons->len; i++)
		for (gsize j = 0; j < (gsize)(&at(result, i)->ci_level - at(result, i)->mean) + 1; j++) {
			double x = at(result, i)->mean[0], y = at(back, i)->mean[0];

			memcpy(&x, (const char *)at(result, i)->mean + j * sizeof x, sizeof x);
			memcpy(&y, (const char *)at(back, i)->mean + j * sizeof y, sizeof y);
			g_assert_true((isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0);
		}
	g_assert_true(signbit(at(back, 0)->hl_low_pct));
	g_assert_cmpfloat(at(back, 0)->hl_high_pct, ==, 5e-324);
	g_assert_cmpfloat(at(back, 0)->hl_shift_pct, ==, 1e22);
	g_assert_cmpfloat(at(back, 0)->drift_p, ==, 1e-10);
	g_assert_nonnull(strstr(text, "\"p_holm\" : null"));
	g_assert_null(strstr(text, "nan"));
}

static void test_json_refuses(void)
{
	static const char *const texts[] = {
		"null", "[]", "{}", "{\"method\":1}",
		"{\"method\":\"m\",\"alpha\":\"x\",\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[]}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[1]}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[{}]}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\"}",
		"{\"method\":\"m\",\"alpha\":0.05,\"min_effect_pct\":1,\"seed\":1,\"summary\":\"\",\"comparisons\":[],\"failures\":[]}",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(JsonNode) node = json_from_string(texts[i], NULL);
		g_autoptr(GError) error = NULL;

		g_assert_null(stats_result_from_json(node, &error));
		g_assert_error(error, STATS_RESULT_ERROR, STATS_RESULT_ERROR_SYNTAX);
	}
}

static void test_text(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(StatsResult) result = NULL;
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	Sample sample = blank();

	add_job(table, JOB(.sd = .0002, .base = 195.1, .factor = .8211, .params = "nproc=8"));
	add_job(table, JOB(.sd = .0002, .params = "nproc=1"));
	add_job(table, JOB(.sd = .5, .base = 123456789, .params = "a-very-long-parameter=with-a-long-value;another=one;lru=classic"));
	add_job(table, JOB(.order = "AB", .base = 1e-7, .factor = 1e9, .params = "huge"));
	sample.params = "one=boot";
	sample.boot = 99;
	sample.value = 1;
	append(table, &sample);
	result = analyse(table, NULL);
	text = stats_result_to_text(result);
	lines = g_strsplit(text, "\n", -1);
	for (gsize i = 0; lines[i]; i++)
		if (g_utf8_strlen(lines[i], -1) > STATS_TEXT_WIDTH)
			g_error("%ld columns: %s", g_utf8_strlen(lines[i], -1), lines[i]);
	g_assert_true(g_str_has_prefix(text, "aging                    base  patched  change          interval  verdict\n"));
	g_assert_true(g_pattern_match_simple("*\nnproc=8 *  195.1    160.2  -17.9%  [-17.9%, -17.9%]  IMPROVEMENT\n*", text));
	g_assert_true(g_pattern_match_simple("*\none=boot *     1        -       -                 -  INSUFFICIENT\n*", text));
}

static void test_sentence(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), empty = sample_table_new(), job = sample_table_new();
	g_autoptr(StatsResult) result = NULL, nothing = NULL;

	add_job(table, JOB(.sd = .0001, .factor = 1.18, .params = "nproc=8;lru=mglru"));
	add_job(table, JOB(.sd = .0001, .params = "nproc=1;lru=mglru"));
	add_job(job, JOB(.sd = .001, .params = "size=1k;lru=classic"));
	for (gsize i = 0; i < sample_table_length(job); i++) {
		Sample sample = *sample_table_get(job, i);

		sample.benchmark = "pwrite";
		append(table, &sample);
	}
	result = analyse(table, NULL);
	if (!g_pattern_match_simple("aging is 18 % slower with nproc=8, unchanged within ±0.0?? % with nproc=1; pwrite unchanged within ±0.? %",
				    result->summary) &&
	    !g_pattern_match_simple("aging is 18 % slower with nproc=8, unchanged within ±0.0?? % with nproc=1; pwrite unchanged within ±0.?? %",
				    result->summary))
		g_error("%s", result->summary);
	nothing = analyse(empty, NULL);
	g_assert_cmpstr(nothing->summary, ==, "nothing was measured");
	g_assert_cmpuint(nothing->comparisons->len, ==, 0);
}

static void test_options(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	StatsOptions wrong[6];

	for (int i = 0; i < 6; i++)
		wrong[i] = STATS_OPTIONS_DEFAULT;
	wrong[0].alpha = 0;
	wrong[1].alpha = NAN;
	wrong[2].min_effect_pct = -1;
	wrong[3].max_boots = STATS_MAX_BOOTS_LIMIT + 1;
	wrong[4].seed = -1;
	wrong[5].min_effect_pct = INFINITY;
	for (int i = 0; i < 6; i++) {
		g_autoptr(GError) error = NULL;

		g_assert_null(stats_analyse(table, &wrong[i], &error));
		g_assert_error(error, STATS_ANALYSIS_ERROR, STATS_ANALYSIS_ERROR_OPTION);
	}
}

static void test_seed(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	StatsOptions options = STATS_OPTIONS_DEFAULT;
	g_autoptr(StatsResult) one = NULL, two = NULL, other = NULL;

	add_job(table, JOB(.sd = .01, .order = "ABBABAABABBABAABABBABAABABBABAAB"));
	one = analyse(table, NULL);
	options.seed = one->seed; /* what was derived can be given */
	two = analyse(table, &options);
	options.seed++;
	other = analyse(table, &options);
	g_assert_cmpint(one->seed, >, 0);
	g_assert_cmpint(at(one, 0)->seed, ==, at(two, 0)->seed);
	g_assert_cmpfloat(at(one, 0)->p_permutation, ==, at(two, 0)->p_permutation);
	g_assert_cmpint(at(one, 0)->seed, !=, at(other, 0)->seed);
	g_assert_cmpfloat(at(one, 0)->p_permutation, !=, at(other, 0)->p_permutation);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analysis/verdicts", test_verdicts);
	g_test_add_func("/analysis/higher-is-better", test_higher_is_better);
	g_test_add_func("/analysis/max-boots", test_max_boots);
	g_test_add_func("/analysis/zero-residual", test_zero_residual);
	g_test_add_func("/analysis/zero-residual-family", test_zero_residual_family);
	g_test_add_func("/analysis/insufficient", test_insufficient);
	g_test_add_func("/analysis/invalid-order", test_invalid_order);
	g_test_add_func("/analysis/invalid", test_invalid);
	g_test_add_func("/analysis/rejections", test_rejections);
	g_test_add_func("/analysis/times", test_times);
	g_test_add_func("/analysis/outlier", test_outlier);
	g_test_add_func("/analysis/properties", test_properties);
	g_test_add_func("/analysis/order-of-rows", test_order_of_rows);
	g_test_add_func("/analysis/exploration", test_exploration);
	g_test_add_func("/analysis/consistency", test_consistency);
	g_test_add_func("/analysis/failures", test_failures);
	g_test_add_func("/analysis/json-round-trip", test_json_round_trip);
	g_test_add_func("/analysis/json-refuses", test_json_refuses);
	g_test_add_func("/analysis/text", test_text);
	g_test_add_func("/analysis/sentence", test_sentence);
	g_test_add_func("/analysis/options", test_options);
	g_test_add_func("/analysis/seed", test_seed);
	return g_test_run();
}
