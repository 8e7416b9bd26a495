/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/steady.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <math.h>

#include "jobs/stats/descriptive.h"
#include "jobs/stats/dip.h"
#include "jobs/stats/verdict.h"

/* Takes the straight line through y out of it. FALSE: there is none to be seen, and nothing was done. */
static gboolean take_out_trend(double *y, const gint64 *start_ns, gsize n, StatsSteadiness *steadiness)
{
	g_autofree double *time = g_new(double, n);
	double span = (double)(start_ns[n - 1] - start_ns[0]);
	double level, slope, cov00, cov01, cov11, squares;

	if (n < 3 || !(span > 0))
		return FALSE;
	for (gsize i = 0; i < n; i++)
		time[i] = (double)(start_ns[i] - start_ns[0]) / span;
	gsl_fit_linear(time, 1, y, 1, n, &level, &slope, &cov00, &cov01, &cov11, &squares);
	steadiness->drift = slope;
	steadiness->sd = sqrt(squares / (double)(n - 2));
	for (gsize i = 0; i < n; i++)
		y[i] -= level + slope * time[i];
	if (cov11 > 0)
		steadiness->drift_p = 2 * gsl_cdf_tdist_Q(fabs(slope) / sqrt(cov11), (double)(n - 2));
	return TRUE;
}

StatsSteadiness stats_steadiness(const double *y, const gint64 *start_ns, gsize n, gint64 seed)
{
	StatsSteadiness steadiness = { NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	g_autofree double *residuals = g_new(double, MAX(n, 1));
	double mean = stats_mean(y, n), size = 1;

	for (gsize i = 0; i < n; i++) {
		residuals[i] = y[i] - mean;
		size = MAX(size, fabs(y[i]));
	}
	if (n < 2 || stats_sd(residuals, n) <= STATS_ZERO_RESIDUAL * size) {
		steadiness.sd = n < 2 ? NAN : 0;
		return steadiness;
	}
	if (!take_out_trend(residuals, start_ns, n, &steadiness))
		steadiness.sd = stats_sd(residuals, n);
	if (!(steadiness.sd > STATS_ZERO_RESIDUAL * size))
		return steadiness;
	steadiness.lag1 = stats_lag1_correlation(residuals, n);
	steadiness.lag1_p = gsl_cdf_chisq_Q((double)n * ((double)n + 2) * steadiness.lag1 * steadiness.lag1 / ((double)n - 1), 1);
	stats_sort(residuals, n);
	steadiness.dip = stats_dip(residuals, n);
	steadiness.dip_p = stats_dip_p(steadiness.dip, n, seed);
	return steadiness;
}
