/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* One comparison by the open-ended rule (eprocess.h), over all complete pairs, with a look after each from the fourth on.
 *
 * Its p holds at any time, and so does the interval: the intersection of those of all looks, which excludes 0 exactly where
 * p is at most its level. Where the boots leave no residual there is no E; then p is that of the exact test, looked at after
 * each pair and made dearer by π²·k²/6 at the k-th look, so that all looks together keep the error rate.
 */

#include "jobs/stats/decide.h"

typedef struct {
	StatsTrend whole; /* of all pairs */
	GArray *fits;     /* StatsTrend, one a look that has a residual; none where `whole` has none */
	double p;         /* in (0, 1]; 1 where there is no look */
} StatsOpenEnded;

/* pairs: that are complete. seed: of the permutation test. */
StatsOpenEnded stats_open_ended(const StatsSummary *summary, guint pairs, gint64 seed);
void stats_open_ended_clear(StatsOpenEnded *open);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StatsOpenEnded, stats_open_ended_clear)

/* The interval of error rate `level`. FALSE: the looks' intervals have nothing in common; the interval is NaN. */
gboolean stats_open_ended_decision(const StatsOpenEnded *open, double level, gboolean found, StatsDecision *ret_decision);
