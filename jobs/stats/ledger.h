/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The false-alarm ledger: comparisons of a kernel with itself, each of which raises a false alarm with at most the
 * chance STATS_LEDGER_ALPHA if the host is as steady as the analysis takes it to be. */

#include <glib.h>

#define STATS_LEDGER_ALPHA .05 /* of one comparison; and the chance that a good host is out of the limit at a count */
#define STATS_LEDGER_MIN 40u   /* comparisons; fewer are not judged */
#define STATS_LEDGER_MAX 200u  /* the last so many are judged, so that a host that was repaired becomes fit again */

typedef enum {
	STATS_FITNESS_UNKNOWN, /* too few comparisons */
	STATS_FITNESS_FIT,
	STATS_FITNESS_UNFIT,
} StatsFitness;

/* The most alarms of n independent comparisons that a host may have: the smallest c at which P(X > c) is at most
 * STATS_LEDGER_ALPHA for a binomial X with that same chance of an alarm. 4 of 40, 9 of 100, 15 of 200. */
guint stats_alarm_limit(guint n);

StatsFitness stats_fitness(guint comparisons, guint alarms);
const char *stats_fitness_to_string(StatsFitness fitness); /* "unknown", "fit", "unfit" */
