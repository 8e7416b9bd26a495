/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of samples: what is compared, how, and what is said of it. */
#include "tests/unit/stats-fixture.h"

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
	assert_verdict(at(noisy, 0), STATS_VERDICT_INCONCLUSIVE,
		       "*about * boots an arm would decide; the smallest change that 10 boots an arm can see is*");
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
	StatsOptions options = FIXED_OPTIONS;
	g_autoptr(StatsResult) result = NULL, strict = NULL;

	add_job(table, JOB(.sd = .05));
	options.max_boots = 2000;
	result = analyse(table, &options);
	assert_verdict(at(result, 0), STATS_VERDICT_INCONCLUSIVE, "*about * boots an arm (* more) would decide for a change of 1 %*");
	stats_result_free(result);
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

/* A run and a pass are numbers without a meaning: any other numbering of them changes nothing. */
static void test_order_of_runs_and_passes(void)
{
	g_autoptr(SampleTable) table = sample_table_new(), other = sample_table_new();
	g_autoptr(StatsResult) result = NULL, again = NULL;
	const StatsComparison *a, *b;

	add_job(table, JOB(.sd = .01, .factor = 1.02, .runs = 5, .passes = 3));
	for (gsize i = 0; i < sample_table_length(table); i++) {
		Sample sample = *sample_table_get(table, i);

		sample.run = 1 + (sample.run + sample.boot) % 5;
		if (sample.pass) /* the warm-up is what it is */
			sample.pass = 1 + (sample.pass + sample.run + sample.boot) % 3;
		append(other, &sample);
	}
	result = analyse(table, NULL);
	again = analyse(other, NULL);
	a = at(result, 0);
	b = at(again, 0);
	g_assert_cmpuint(a->boots[0], ==, b->boots[0]);
	g_assert_cmpuint(b->runs_rejected, ==, 0);
	g_assert_cmpfloat_with_epsilon(a->change_pct, b->change_pct, 1e-9);
	g_assert_cmpfloat_with_epsilon(a->ci_high_pct, b->ci_high_pct, 1e-9);
	g_assert_cmpfloat_with_epsilon(a->p, b->p, 1e-9);
	g_assert_cmpint(a->verdict, ==, b->verdict);
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
	StatsOptions options = FIXED_OPTIONS;
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
	g_test_add_func("/analysis/order-of-runs-and-passes", test_order_of_runs_and_passes);
	g_test_add_func("/analysis/exploration", test_exploration);
	g_test_add_func("/analysis/consistency", test_consistency);
	return g_test_run();
}
