/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The verdict of one comparison with its reason, by the rules of verdict.h. */

#include "jobs/stats/analysis.h"
#include "jobs/stats/compare.h"

/* Whether the comparison takes part in the test with a p of its own: it is neither INVALID nor INSUFFICIENT. */
gboolean stats_is_testable(const StatsSummary *summary, const StatsComparison *comparison);

/* The p that decides: that of the t-test, or the exact one where the fit has no residual; 1 where not testable. */
double stats_deciding_p(const StatsSummary *summary, const StatsFits *fits, const StatsComparison *comparison);

/* How a comparison was decided. */
typedef struct {
	double level;     /* nominal error rate of its interval */
	gboolean found;   /* the test says that there is a change */
	double low, high; /* the interval, on the log scale; NaN without a residual */
} StatsDecision;

/* The plain interval β ± t·se of error rate `level`. */
StatsDecision stats_decision(const StatsTrend *fit, double level, gboolean found);

/* What the numbers of a testable comparison say, without a word of why. */
StatsVerdict stats_classify(const StatsTrend *fit, const StatsDecision *decision, double min_effect_pct, SampleBetter better);

/* Sets the intervals, verdict, reason and boots_needed. max_boots: an arm, that there may be. */
void stats_decide(const StatsSummary *summary, const StatsFits *fits, const StatsDecision *decision, double min_effect_pct,
		  guint max_boots, StatsComparison *comparison);
