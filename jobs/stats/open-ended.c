/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/open-ended.h"

#include <math.h>

#include "jobs/stats/eprocess.h"

/* The exact test's p is as small as anyone asks for long before. */
#define EXACT_PAIRS_MAX 16u

/* Where the boots leave no residual: the exact test, looked at again and again. */
static double exact_p(const StatsSummary *summary, guint pairs, gint64 seed)
{
	double p = 1;

	for (guint k = STATS_MIN_BOOTS; k <= MIN(pairs, EXACT_PAIRS_MAX); k++) {
		double look = k - STATS_MIN_BOOTS + 1.0;

		p = MIN(p, stats_permutation_p(summary, k, seed) * M_PI * M_PI * look * look / 6);
	}
	return p;
}

StatsOpenEnded stats_open_ended(const StatsSummary *summary, guint pairs, gint64 seed)
{
	StatsOpenEnded open = { .fits = g_array_new(FALSE, FALSE, sizeof(StatsTrend)) };
	double largest = -INFINITY;

	open.whole = stats_fit_boots(summary, pairs);
	if (open.whole.zero_residual) {
		open.p = open.whole.all_equal ? 1 : exact_p(summary, pairs, seed);
		return open;
	}
	for (guint k = STATS_MIN_BOOTS; k <= pairs; k++) {
		StatsTrend fit = stats_fit_boots(summary, k);

		if (isnan(fit.se))
			continue;
		largest = MAX(largest, stats_log_e(fit.beta / fit.se, fit.df, fit.n_eff));
		g_array_append_val(open.fits, fit);
	}
	open.p = open.fits->len ? stats_anytime_p(largest) : 1;
	return open;
}

void stats_open_ended_clear(StatsOpenEnded *open)
{
	g_array_unref(open->fits);
}

gboolean stats_open_ended_decision(const StatsOpenEnded *open, double level, gboolean found, StatsDecision *ret_decision)
{
	double low = -INFINITY, high = INFINITY;
	gboolean empty;

	for (guint i = 0; i < open->fits->len; i++) {
		const StatsTrend *fit = &g_array_index(open->fits, StatsTrend, i);
		double half = fit->se * stats_anytime_t(level, fit->df, fit->n_eff);

		low = MAX(low, fit->beta - half);
		high = MIN(high, fit->beta + half);
	}
	empty = low > high;
	*ret_decision = (StatsDecision){ .level = level, .found = found, .low = NAN, .high = NAN };
	if (!empty && isfinite(low)) {
		ret_decision->low = low;
		ret_decision->high = high;
	}
	return !empty;
}
