/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/ledger.h"

#include <gsl/gsl_cdf.h>

guint stats_alarm_limit(guint n)
{
	guint limit = 0;

	while (gsl_cdf_binomial_Q(limit, STATS_LEDGER_ALPHA, n) > STATS_LEDGER_ALPHA)
		limit++;
	return limit;
}

StatsFitness stats_fitness(guint comparisons, guint alarms)
{
	if (comparisons < STATS_LEDGER_MIN)
		return STATS_FITNESS_UNKNOWN;
	return alarms > stats_alarm_limit(comparisons) ? STATS_FITNESS_UNFIT : STATS_FITNESS_FIT;
}

const char *stats_fitness_to_string(StatsFitness fitness)
{
	static const char *const names[] = { "unknown", "fit", "unfit" };

	return names[fitness];
}
