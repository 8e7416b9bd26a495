/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of jobs that are made up, and what is always true of their results. */
#pragma once

#include <glib.h>
#include <math.h>
#include <string.h>

#include "jobs/stats/analysis.h"

#define START_NS G_GINT64_CONSTANT(1764540000000000000)
#define SECOND_NS G_GINT64_CONSTANT(1000000000)
#define FIXED_OPTIONS ((StatsOptions){ .alpha = .05, .min_effect_pct = 1, .rule = STATS_RULE_FIXED })

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
static inline void complete(Job *job)
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

static inline double gauss(GRand *random)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += g_rand_double(random);
	return sum;
}

static inline Sample blank(void)
{
	return (Sample){ .job = 7, .host = "lab1", .clock = "icount", .benchmark = "aging", .params = "", .run = 1, .pass = 1,
			 .metric = "time", .unit = "ms", .better = SAMPLE_BETTER_LOWER, .valid = TRUE, .reason = "" };
}

static inline void append(SampleTable *table, const Sample *sample)
{
	g_autoptr(GError) error = NULL;

	sample_table_append(table, sample, &error);
	g_assert_no_error(error);
}

static inline void add_job(SampleTable *table, Job job)
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

/* options NULL: the fixed rule. */
static inline StatsResult *analyse(const SampleTable *table, const StatsOptions *options)
{
	g_autoptr(GError) error = NULL;
	StatsResult *result = stats_analyse(table, options ? options : &FIXED_OPTIONS, &error);

	g_assert_no_error(error);
	return result;
}

static inline const StatsComparison *at(const StatsResult *result, guint i)
{
	g_assert_cmpuint(i, <, result->comparisons->len);
	return g_ptr_array_index(result->comparisons, i);
}

static inline void assert_verdict(const StatsComparison *comparison, StatsVerdict verdict, const char *reason)
{
	if (comparison->verdict != verdict || !g_pattern_match_simple(reason, comparison->reason))
		g_error("%s: %s", stats_verdict_to_string(comparison->verdict), comparison->reason);
}

static inline StatsResult *analyse_job(Job job)
{
	g_autoptr(SampleTable) table = sample_table_new();

	add_job(table, job);
	return analyse(table, NULL);
}

/* The interval and the adjusted p never contradict each other, nor the verdict. */
static inline void assert_consistent(const StatsResult *result)
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
