/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Group-sequential measuring: look at the data while boots come in, and stop as soon as they decide, without more false
 * alarms than one look at the end would give.
 *
 * At look k, with the share f of the boots that there may be, the error rate spent so far is
 * α(f) = α·ln(1 + (e − 1)·f) (Lan and DeMets 1983). The boundary is a nominal p of the trend-adjusted t-test (trend.h):
 * a comparison is decided at look k if its p is at most that. Boundaries are in boundary.h.
 *
 * For m comparisons the boundaries of α/m … α/1 are stepped down as Holm's procedure does, at each look.
 *
 * An early stop's point estimate leans away from 0: a result decided early says so.
 */

#include <glib.h>

#include "jobs/stats/trend.h"

#define STATS_LOOKS_MAX 16

typedef struct {
	gsize count;
	gsize boots[STATS_LOOKS_MAX];     /* of both arms together, in the order of their start, that a look sees */
	double fraction[STATS_LOOKS_MAX]; /* of the boots that there may be; the last is 1 */
} StatsLooks;

/* Looks after 4, 6, 8, 10, 14 and 20 pairs as far as max_pairs >= 1 allows, the last at max_pairs. */
StatsLooks stats_looks_plan(guint max_pairs);

/* The error rate spent up to a fraction (0, 1] of the boots. */
double stats_alpha_spent(double alpha, double fraction);

/* One look at m comparisons: marks in `rejected` those that are decided now, beside those marked before. boundary[i][j] is
 * the nominal p of comparison i at this look for α/(j + 1), j < m. ret_level[i] is the nominal level at which comparison i
 * was decided now, or failed to be; that of those marked before is left alone. */
void stats_sequential_holm(const double *p, gsize m, const double *const *boundary, gboolean *rejected, double *ret_level);

/* At most this chance of either verdict at the last look, given the data so far, is futile. Stopping so cannot cause a
 * false alarm. */
#define STATS_FUTILE_CHANCE .05

/* Whether neither "found" nor "equivalent" (an interval within `low` … `high` on the log scale) is likely to come of going
 * on from `boots` to `last_boots`, whose nominal level is last_level at most. Without a residual nothing is futile. */
gboolean stats_is_futile(const StatsTrend *fit, double last_level, gsize boots, gsize last_boots, double low, double high);
