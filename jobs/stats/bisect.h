/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a bisect does next, as a pure function of what is known: the same boots give the same decisions, so that a bisect
 * that was killed goes on as if it had not been.
 *
 * 1. Ends: good and bad in ABBA order, STATS_BISECT_ENDS_MIN boots each at least, until a t-test with the trend (the exact
 *    permutation test where nothing is left to estimate an error from) has p < STATS_BISECT_ENDS_P and the difference is at
 *    least min_effect. The ends are alike after STATS_BISECT_ENDS_MAX boots each, or as soon as the interval of that error
 *    rate lies within ±min_effect.
 * 2. Probes: the commit i at which c·(1 − c) is largest, c = P(first bad <= i) (bisect-posterior.h), which is where the next
 *    boot is expected to tell most. A commit that is built already is taken if it comes near to that, since the build is the
 *    dear part. A commit that cannot be built or booted is no probe.
 * 3. After STATS_BISECT_ANCHOR_EVERY boots without one an end is booted again: a drift of the host must not pass for a step.
 * 4. Found: between two neighbouring commits that can be probes lies at least `certainty` of the posterior. If commits that
 *    are no probes lie between them, the answer is as wide as these.
 * 5. The budget is spent: the credible set is the answer.
 *
 * What was found is confirmed by fresh boots; that is the caller's.
 */

#include "jobs/stats/bisect-posterior.h"

#define STATS_BISECT_ENDS_MIN 4u
#define STATS_BISECT_ENDS_MAX 16u
#define STATS_BISECT_ENDS_P .01
#define STATS_BISECT_ANCHOR_EVERY 8u
#define STATS_BISECT_CERTAINTY .95

typedef struct {
	StatsBisectData data;
	const guint8 *failed; /* N + 1 flags: cannot be built or booted; NULL: none. Borrowed */
	const guint8 *built;  /* N + 1 flags: its kernel is there; NULL: none */
	double certainty;     /* STATS_BISECT_CERTAINTY */
	double min_effect;    /* on the log scale, at least 0 */
	guint max_boots;      /* ends included */
	gboolean spent;	      /* another budget is: no more boots */
} StatsBisect;

typedef enum {
	STATS_BISECT_BOOT_END,
	STATS_BISECT_BOOT_PROBE,
	STATS_BISECT_BOOT_ANCHOR,
	STATS_BISECT_FOUND,
	STATS_BISECT_ENDS_ALIKE,  /* p, effect and interval say how alike */
	STATS_BISECT_OUT_OF_BUDGET,
	STATS_BISECT_STEP_COUNT,
} StatsBisectStep;

typedef struct {
	StatsBisectStep step;
	gsize commit;		/* to boot */
	gsize from, to;		/* found: the first bad commit is one of from + 1 … to */
	double share;		/* found: that much of the posterior; probe: c */

	/* the ends, as long as there are too few boots of them NaN */
	double ends_p, ends_effect, ends_low, ends_high; /* interval of STATS_BISECT_ENDS_P */

	gboolean has_posterior;	/* the ends differ */
	StatsBisectPosterior posterior;
} StatsBisectNext;

/* Clear it with stats_bisect_next_clear(). */
void stats_bisect_next(const StatsBisect *bisect, StatsBisectNext *ret_next);
void stats_bisect_next_clear(StatsBisectNext *next);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StatsBisectNext, stats_bisect_next_clear)

/* "end", "probe", "anchor", "found", "ends-not-distinguishable", "budget". */
const char *stats_bisect_step_to_string(StatsBisectStep step);
