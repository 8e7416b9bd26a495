/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Group-sequential measuring: look at the data while boots come in, and stop as soon as they decide, without more false
 * alarms than one look at the end would give.
 *
 * At look k, with the share f of the boots that there may be, the error rate spent so far is
 * α(f) = α·ln(1 + (e − 1)·f) (Lan and DeMets 1983). The boundary is a nominal p of the trend-adjusted t-test (trend.h):
 * a comparison is decided at look k if its p is at most that. Boundaries come from Monte Carlo over the schedule of boots
 * really run, under no effect: the t-test does not depend on level, spread or drift, so standard normal summaries do.
 *
 * For m comparisons the boundaries of α/m … α/1 are stepped down as Holm's procedure does, at each look.
 *
 * An early stop's point estimate leans away from 0: a result decided early says so.
 */

#include <glib.h>

#include "jobs/stats/trend.h"

#define STATS_LOOKS_MAX 16
#define STATS_BOUNDARY_PATHS 10000000u

typedef struct {
	gsize count;
	gsize boots[STATS_LOOKS_MAX];     /* of both arms together, in the order of their start, that a look sees */
	double fraction[STATS_LOOKS_MAX]; /* of the boots that there may be; the last is 1 */
} StatsLooks;

/* Looks after 4, 6, 8, 10, 14 and 20 pairs as far as max_pairs >= 1 allows, the last at max_pairs. */
StatsLooks stats_looks_plan(guint max_pairs);

/* The error rate spent up to a fraction (0, 1] of the boots. */
double stats_alpha_spent(double alpha, double fraction);

/* ret_p[j·looks->count + k] is the nominal p of look k for alphas[j] (each at most .5). The arms and start times are of
 * all boots up to the last look, in the order of their start; every look has both arms and at least 4 boots. Costs about
 * 20 ns for each path and boot. */
void stats_boundary(const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks, const double *alphas,
		    gsize alpha_count, guint paths, gint64 seed, double *ret_p);

/* One look at m comparisons: marks in `rejected` those that are decided now, beside those marked before. boundary[j] is
 * this look's nominal p for α/(j + 1), j < m. ret_level[i] is the nominal level at which comparison i was decided now,
 * or failed to be; that of those marked before is left alone. */
void stats_sequential_holm(const double *p, gsize m, const double *boundary, gboolean *rejected, double *ret_level);

typedef enum {
	STATS_STOP_NOT,        /* go on */
	STATS_STOP_FOUND,      /* the repeated interval excludes 0 */
	STATS_STOP_EQUIVALENT, /* it lies within ±delta */
	STATS_STOP_FUTILE,     /* neither is likely to come */
	STATS_STOP_END,        /* the last look */
} StatsStop;

/* At most this chance of either verdict at the last look, given the data so far, is futile. Stopping so cannot cause a
 * false alarm. */
#define STATS_FUTILE_CHANCE .05

/* What one comparison says at a look. `level` is its nominal level now, `last_level` that of the last look; delta is on
 * the log scale; exact_p is the permutation test's, which decides where the fit has no residual (verdict.h). The repeated
 * interval is stats_trend_half_width(fit, level) around β: over all looks together it misses the truth with at most the
 * error rate of its boundary. */
StatsStop stats_stop(const StatsTrend *fit, double exact_p, double level, double last_level, guint boots, guint last_boots,
		     double delta);
