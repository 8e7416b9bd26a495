/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What one look at every sample of base and patched in a table tells: which comparisons there are, which pairs of boots are
 * complete. */

#include "jobs/spec/sample.h"

/* The samples of one comparison. The strings are the table's own, so equal ones have equal addresses. */
typedef struct {
	const char *benchmark, *params, *metric;
	GPtrArray *samples; /* const Sample, in the table's order */
	gboolean primary;
} StatsGroup;

typedef struct {
	GPtrArray *groups;  /* StatsGroup, by benchmark, primary first, metric, then parameter set */
	GHashTable *first;  /* benchmark -> its sample that was measured first, whose metric is implied to be primary */
	GHashTable *boots;  /* boot and arm -> SurveyBoot; the survey's own */
	const char *clock;  /* NULL = none or several */
	gint64 job;         /* the lowest; 0 without samples */
	guint pairs;        /* pairs 0 … pairs − 1 have a valid boot of each arm */
	guint pairs_seen;   /* the highest pair, and 1; 0 without samples */
} StatsSurvey;

/* primary: as in StatsOptions. Lives as long as the table. */
StatsSurvey *stats_survey_new(const SampleTable *table, const char *const *primary);
void stats_survey_free(StatsSurvey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsSurvey, stats_survey_free)

/* Counts the boots of pairs below `pairs` (0 = of all), and those of which no sample is valid. Adds to what is there. */
void stats_survey_count(const StatsSurvey *survey, guint pairs, guint boots[SAMPLE_ARM_COUNT], guint failed[SAMPLE_ARM_COUNT]);

/* The metric that primary names for the benchmark; NULL = none. */
const char *stats_named_primary(const char *const *primary, const char *benchmark);
