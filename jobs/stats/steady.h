/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Whether a host stands still: n boots of one kernel, y[i] the logarithm of what boot i showed, start_ns[i] when it
 * began, in the order of their start. What is found here plans further work and never enters a verdict. */

#include <glib.h>

typedef struct {
	double drift;    /* of y over the whole span of start times; NaN where that is 0 or there are fewer than three boots */
	double drift_p;  /* two-sided t-test; NaN as the drift, or without residual */
	double sd;       /* of y around the trend; around the mean where there is no trend. NaN for one boot */
	double lag1;     /* autocorrelation of the residuals; NaN where they do not vary */
	double lag1_p;   /* of Ljung and Box's Q with one lag (Biometrika 65, 1978) */
	double dip;      /* of the residuals (dip.h); NaN where they do not vary */
	double dip_p;
} StatsSteadiness;

/* seed: of the draws of dip_p. */
StatsSteadiness stats_steadiness(const double *y, const gint64 *start_ns, gsize n, gint64 seed);
