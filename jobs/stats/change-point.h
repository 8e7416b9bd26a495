/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Where the level of a nightly series changed. Each series is looked at over its last STATS_CHANGE_WINDOW values: a rank
 * scan (rank-scan.h) of the whole window, whose p-values are taken through Benjamini and Hochberg across the series of the
 * night; the windows selected are split again and again (binary segmentation) as long as the p of a part is at most alpha.
 *
 * A series starts anew where a change was confirmed: what lies before it is not given again. What was not confirmed moves
 * nothing.
 *
 * A change point nominates, and no more: the values of a night vary together where something else than the kernel moves
 * them, and no test on the series alone can tell. Where the values around the levels are correlated from one night to the
 * next (lag-1 above STATS_CHANGE_LAG1, over the whole series: fifty values tell it too badly) the null distribution does not
 * hold, and what is found is for people to look at.
 */

#include "jobs/stats/rank-scan.h"

#define STATS_CHANGE_WINDOW 50u
#define STATS_CHANGE_ALPHA .01
#define STATS_CHANGE_LAG1 .2

typedef struct {
	gsize index;  /* of the first value at the new level, in the series as given */
	double p;     /* of the scan that found it */
	gsize good;   /* a value safely before it: its place is known to within some nights only */
	double shift; /* the level after it minus that before it: medians, up to the change points next to it */
} StatsChangePoint;

/* One series of a night, oldest value first. */
typedef struct {
	const double *values; /* borrowed */
	gsize count;

	/* what was found */
	double p, p_adjusted; /* of the whole window; 1 with fewer than two segments' values */
	double lag1;	      /* of what is left around the levels, of all values; NaN with fewer than two segments' values */
	gboolean advisory;    /* lag1 is too large */
	GArray *points;	      /* of StatsChangePoint, ascending */
} StatsSeries;

/* Fills in what was found. alpha: STATS_CHANGE_ALPHA. */
void stats_change_points(StatsScanNull *null, StatsSeries *series, gsize count, double alpha);
void stats_series_clear(StatsSeries *series);

/* After a comparison did not confirm a change, its series is left alone for so many values. */
#define STATS_CHANGE_PAUSE 10u

/* The change point that tonight's comparison is to confirm: the latest, of a series that is not advisory and was not refused
 * within the pause. refused_count: how many values it had when it was refused last; 0: never. FALSE: none. */
gboolean stats_change_nominated(const StatsSeries *series, gsize refused_count, StatsChangePoint *ret_point);
