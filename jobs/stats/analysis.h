/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* From raw samples to a result: the same samples and options give the same result to the bit, whoever asks.
 *
 * The order of the samples does not matter, with one documented exception: where `primary` does not name a
 * benchmark's primary metric, it is the metric that comes first in the table among the samples of the benchmark's
 * first pass (lowest boot, run, pass). Programs report their primary metric first, so the lab and a reader of its
 * samples.csv agree without being told.
 *
 * Which boots count. By the fixed and the sequential rule, those of the first max_boots pairs that the job had when it
 * stopped: boots that were added later (pairs beyond) change nothing. By the open-ended rule, those of all complete pairs.
 *
 * What is not said is taken to be as in a job whose options are the default ones. The result's `arguments` say the rest.
 */

#include "jobs/spec/sample.h"
#include "jobs/stats/result.h"

typedef struct {
	double alpha;          /* family-wise error rate, (0, .5] */
	double min_effect_pct; /* a change below this does not matter, [0, 100) */
	guint max_boots;       /* an arm, that the job may use in all; 0 = SPEC_DEFAULT_BOOTS, or as many pairs as there are */
	StatsRule rule;
	gint64 seed;           /* of all random steps; 0 = derived from the lowest job number in the table */
	/* Boots that failed without leaving a sample, for the failure rates: samples cannot tell of them. */
	guint failed_boots[SAMPLE_ARM_COUNT];
	const char *const *primary; /* NULL, or "benchmark=metric" strings ended by NULL; not owned */

	const char *cache_dir; /* of boundaries found before, or NULL: changes nothing but how long it takes */
	guint paths;           /* of the boundary's Monte Carlo; 0 = STATS_BOUNDARY_PATHS, and nothing else outside tests */
} StatsOptions;

#define STATS_OPTIONS_DEFAULT ((StatsOptions){ .alpha = .05, .min_effect_pct = 1 })
#define STATS_MAX_BOOTS_LIMIT 10000u

#define STATS_ANALYSIS_ERROR (stats_analysis_error_quark())
GQuark stats_analysis_error_quark(void);
typedef enum {
	STATS_ANALYSIS_ERROR_OPTION, /* an option out of its range */
	STATS_ANALYSIS_ERROR_LIMIT,  /* more comparisons than STATS_COMPARISONS_MAX */
} StatsAnalysisError;

/* The rule that a job of that many boots an arm gets. */
StatsRule stats_rule_for(StatsRule asked, guint max_boots);

/* A table without samples gives a result without comparisons. NULL on failure. */
StatsResult *stats_analyse(const SampleTable *table, const StatsOptions *options, GError **error);
