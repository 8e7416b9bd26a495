/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Comparing what was not measured side by side: two kernels that were each compared with a third, in different jobs.
 *
 * Between two jobs a host drifts, so figures of one are never set against figures of the other. Each change against the
 * shared kernel is free of that drift, and so is the difference of the two changes; it is only less certain, because
 * the uncertainties of both add up (the adjusted indirect comparison: Bucher, Guyatt, Griffith, Walter, J Clin
 * Epidemiol 50 (1997) 683-691). Degrees of freedom by Welch and Satterthwaite.
 *
 * Effects are of logarithms of boot summaries: the plain difference of the arms' means, with their pooled variance. Boots
 * of a job's arms alternate, so a steady drift within it moves both means alike and only widens the variance.
 */

#include <glib.h>

typedef struct {
	double effect;   /* ln(patched) − ln(base) */
	double variance; /* of the effect */
	double df;
} StatsEffect;

/* double, in the metric's unit. FALSE: fewer than two boots of an arm, or a value that is not above 0. */
gboolean stats_effect(const GArray *base, const GArray *patched, StatsEffect *ret_effect);

typedef struct {
	double change_pct, low_pct, high_pct; /* low and high are NaN where the figures do not vary at all */
	double p;                             /* NaN likewise, unless the change is 0: then 1 */
} StatsDifference;

/* What b changes against a, with its interval at `level` (.95). */
StatsDifference stats_effect_difference(const StatsEffect *a, const StatsEffect *b, double level);
