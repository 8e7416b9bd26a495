/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/trend.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

#include "jobs/stats/descriptive.h"
#include "jobs/stats/verdict.h"

/* 1 − r² of time and arm below this: the two cannot be told apart. */
#define COLLINEAR 1e-9

static double two_sided_p(double t, double df)
{
	return CLAMP(2 * gsl_cdf_tdist_Q(fabs(t), df), DBL_MIN, 1);
}

/* Times as −½ … ½ of their span, exact in the differences. FALSE if there is no span. */
static gboolean scale_times(const gint64 *start_ns, gsize n, double *ret_time)
{
	gint64 first = start_ns[0], last = start_ns[0];

	for (gsize i = 1; i < n; i++) {
		first = MIN(first, start_ns[i]);
		last = MAX(last, start_ns[i]);
	}
	for (gsize i = 0; i < n; i++)
		ret_time[i] = last > first ? (double)(start_ns[i] - first) / (double)(last - first) - .5 : 0;
	return last > first;
}

static double sum_of_products(const double *a, const double *b, gsize n)
{
	double mean_a = stats_mean(a, n), mean_b = stats_mean(b, n), sum = 0;

	for (gsize i = 0; i < n; i++)
		sum += (a[i] - mean_a) * (b[i] - mean_b);
	return sum;
}

static void solve(const double *y, const double *patched, const double *time, gsize n, StatsTrend *fit)
{
	gsize columns = fit->drift_adjusted ? 3 : 2;
	gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, columns);
	gsl_matrix *design = gsl_matrix_alloc(n, columns), *covariance = gsl_matrix_alloc(columns, columns);
	gsl_vector *coefficients = gsl_vector_alloc(columns), *values = gsl_vector_alloc(n);
	double middle = stats_mean(patched, n), centre = stats_mean(time, n), base = stats_mean(y, n);
	double square = 0, largest = 1;

	for (gsize i = 0; i < n; i++) {
		gsl_matrix_set(design, i, 0, 1);
		gsl_matrix_set(design, i, 1, patched[i] - middle);
		if (columns == 3)
			gsl_matrix_set(design, i, 2, time[i] - centre);
		gsl_vector_set(values, i, y[i] - base);
		largest = MAX(largest, fabs(y[i]));
	}
	gsl_multifit_linear(design, values, coefficients, covariance, &square, work);
	fit->beta = gsl_vector_get(coefficients, 1);
	fit->df = (double)n - (double)columns;
	if (columns == 3)
		fit->drift = gsl_vector_get(coefficients, 2);
	if (fit->df >= 1) {
		fit->residual_sd = sqrt(square / fit->df);
		fit->zero_residual = fit->residual_sd <= STATS_ZERO_RESIDUAL * largest;
	}
	if (fit->df >= 1 && !fit->zero_residual) {
		fit->se = fit->residual_sd / sqrt(fit->n_eff);
		fit->p = two_sided_p(fit->beta / fit->se, fit->df);
		if (columns == 3)
			fit->drift_p = two_sided_p(fit->drift / sqrt(gsl_matrix_get(covariance, 2, 2)), fit->df);
	}
	gsl_vector_free(values);
	gsl_vector_free(coefficients);
	gsl_matrix_free(covariance);
	gsl_matrix_free(design);
	gsl_multifit_linear_free(work);
}

StatsTrend stats_trend_fit(const double *y, const SampleArm *arm, const gint64 *start_ns, gsize n)
{
	StatsTrend fit = { .beta = NAN, .se = NAN, .residual_sd = NAN, .df = NAN, .p = NAN, .drift = NAN, .drift_p = NAN,
			   .n_eff = NAN };
	g_autofree double *patched = g_new(double, n), *time = g_new(double, n);
	gsize count = 0;
	double xx, tt, xt;

	for (gsize i = 0; i < n; i++) {
		patched[i] = arm[i] == SAMPLE_ARM_PATCHED;
		count += arm[i] == SAMPLE_ARM_PATCHED;
	}
	if (!count || count == n)
		return fit;
	xx = sum_of_products(patched, patched, n);
	fit.n_eff = xx;
	if (scale_times(start_ns, n, time) && n >= 4) {
		tt = sum_of_products(time, time, n);
		xt = sum_of_products(patched, time, n);
		fit.drift_adjusted = 1 - xt * xt / (xx * tt) > COLLINEAR;
		if (fit.drift_adjusted)
			fit.n_eff = xx - xt * xt / tt;
	}
	fit.all_equal = TRUE;
	for (gsize i = 1; i < n; i++)
		fit.all_equal &= y[i] == y[0];
	if (n < 3) {
		fit.beta = arm[0] == SAMPLE_ARM_PATCHED ? y[0] - y[1] : y[1] - y[0];
		return fit;
	}
	solve(y, patched, time, n, &fit);
	if (fit.all_equal) {
		fit.beta = 0;
		fit.p = fit.zero_residual ? 1 : NAN;
	}
	return fit;
}

double stats_trend_half_width(const StatsTrend *fit, double alpha)
{
	return isnan(fit->se) ? NAN : fit->se * gsl_cdf_tdist_Qinv(alpha / 2, fit->df);
}
