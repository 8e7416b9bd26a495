/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The looks of a group-sequential job (sequential.h), walked through again from its samples alone.
 *
 * Look k sees the boots of the first B_k pairs. A boot that failed is replaced before the look by one of the same pair, and
 * boots of later pairs start after it, so a sample's pair says which looks saw it. A comparison once decided stays so; the
 * job goes on for the others until each is decided or futile, or the looks are used up.
 */

#include "jobs/stats/analysis.h"
#include "jobs/stats/decide.h"
#include "jobs/stats/sequential.h"
#include "jobs/stats/survey.h"

/* One comparison, as of the look at which it was decided, or of the last look made. */
typedef struct {
	gsize look; /* 0 = the first */
	double level;
	gboolean found;
	StatsStop stop;
} StatsOutcome;

typedef struct {
	StatsLooks plan;
	gsize made;             /* looks made: until the job stopped, or as far as there are pairs */
	StatsStop stop;         /* why the job stopped; STATS_STOP_NOT = it goes on */
	StatsOutcome *outcomes; /* one a comparison of the family */
} StatsWalk;

/* family: StatsGroup; max_boots: resolved; seed: the job's. */
StatsWalk *stats_walk_looks(const StatsSurvey *survey, const GPtrArray *family, const StatsOptions *options, guint max_boots,
			    gint64 seed);
void stats_walk_free(StatsWalk *walk);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsWalk, stats_walk_free)

/* The summary of a group's boots of pairs below `pairs`; 0 = of all. */
StatsSummary *stats_group_summary(const StatsGroup *group, guint pairs);
