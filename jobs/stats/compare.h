/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The numbers of one comparison. What depends on the other comparisons of the job (the level of its interval, adjusted
 * p-values, the verdict) is decided afterwards, by decide.h. */

#include "jobs/stats/result.h"
#include "jobs/stats/summary.h"
#include "jobs/stats/trend.h"

/* A boot is an outlier beyond this many scaled MAD of its arm, which has to have STATS_MIN_BOOTS boots. */
#define STATS_OUTLIER_MAD 5.0

typedef struct {
	StatsTrend fit;
	StatsTrend without; /* the outliers; all NaN if there are none, or too few other boots */
} StatsFits;

/* 100·(e^x − 1); NaN where that is no number of ours. */
double stats_percent(double log_difference);

/* The trend-adjusted fit of the boots of pairs below `pairs` (0 = of all). */
StatsTrend stats_fit_boots(const StatsSummary *summary, guint pairs);

/* Their exact or Monte Carlo permutation p; seed as in permutation.h. */
double stats_permutation_p(const StatsSummary *summary, guint pairs, gint64 seed);

/* Fills the comparison from the summary; its names, `better` and `seed` are set. Where the summary is invalid, only what
 * can still be said is filled. */
StatsFits stats_compare(const StatsSummary *summary, double alpha, StatsComparison *comparison);
