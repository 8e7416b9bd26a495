/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The effect of the patch, adjusted for a linear drift of the host: ordinary least squares of
 *
 *     y = μ + β·[patched] + γ·(t − t̄) + ε
 *
 * with one y a boot. The trend is left out where it cannot be told apart: all boots started at one time (or none was
 * recorded), time and arm are collinear, or there are fewer than four boots.
 */

#include <glib.h>

#include "jobs/spec/sample.h"

typedef struct {
	double beta;
	double se;          /* of beta; NaN without degrees of freedom or without residual */
	double residual_sd; /* NaN without degrees of freedom */
	double df;          /* n − 3 with the trend, n − 2 without */
	double p;           /* two-sided t-test of β = 0, in (0, 1]; NaN as se, but 1 where all y are equal */
	double drift;       /* γ over the whole span of start times; NaN without the trend */
	double drift_p;
	double n_eff;       /* 1/[(XᵀX)⁻¹]_ββ, so that se = residual_sd/√n_eff; NaN if an arm is empty */
	gboolean drift_adjusted;
	gboolean zero_residual; /* see STATS_ZERO_RESIDUAL */
	gboolean all_equal;     /* no two y differ */
} StatsTrend;

/* n boots, in any order that is always the same for the same data. With an empty arm all numbers are NaN. */
StatsTrend stats_trend_fit(const double *y, const SampleArm *arm, const gint64 *start_ns, gsize n);

/* β ± this is the interval with error rate alpha; NaN as se. */
double stats_trend_half_width(const StatsTrend *fit, double alpha);
