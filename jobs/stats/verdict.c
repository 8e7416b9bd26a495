/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/verdict.h"

static const char *const names[STATS_VERDICT_COUNT] = {
	[STATS_VERDICT_INVALID] = "INVALID",
	[STATS_VERDICT_INSUFFICIENT] = "INSUFFICIENT",
	[STATS_VERDICT_EQUIVALENT] = "EQUIVALENT",
	[STATS_VERDICT_REGRESSION] = "REGRESSION",
	[STATS_VERDICT_IMPROVEMENT] = "IMPROVEMENT",
	[STATS_VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
};

const char *stats_verdict_to_string(StatsVerdict verdict)
{
	g_assert(verdict < STATS_VERDICT_COUNT);
	return names[verdict];
}

gboolean stats_verdict_from_string(const char *text, StatsVerdict *ret_verdict)
{
	for (int i = 0; i < STATS_VERDICT_COUNT; i++)
		if (g_str_equal(names[i], text)) {
			*ret_verdict = (StatsVerdict)i;
			return TRUE;
		}
	return FALSE;
}
