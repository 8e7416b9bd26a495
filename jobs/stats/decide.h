/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The verdict of one comparison with its reason, by the rules of verdict.h. */

#include "jobs/stats/analysis.h"
#include "jobs/stats/compare.h"

/* Whether the comparison takes part in the test with a p of its own: it is neither INVALID nor INSUFFICIENT. */
gboolean stats_is_testable(const StatsSummary *summary, const StatsComparison *comparison);

/* The p that decides: that of the t-test, or the exact one where the fit has no residual; 1 where not testable. */
double stats_deciding_p(const StatsSummary *summary, const StatsFits *fits, const StatsComparison *comparison);

/* alpha: the error rate at which this comparison is decided. adjusted_p: to be compared with options->alpha. Sets the
 * intervals, verdict, reason and boots_needed. */
void stats_decide(const StatsSummary *summary, const StatsFits *fits, const StatsOptions *options, double alpha,
		  double adjusted_p, StatsComparison *comparison);
