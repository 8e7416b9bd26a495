/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/indirect.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* The mean of logarithms, and the sum of squares around it: exactly 0 where all are equal. */
static void moments(const GArray *values, double *ret_mean, double *ret_squares)
{
	double first = log(g_array_index(values, double, 0)), mean = first, squares = 0;

	for (guint i = 1; i < values->len; i++)
		mean += (log(g_array_index(values, double, i)) - first) / values->len;
	for (guint i = 0; i < values->len; i++)
		squares += pow(log(g_array_index(values, double, i)) - mean, 2);
	*ret_mean = mean;
	*ret_squares = squares;
}

static gboolean usable(const GArray *values)
{
	for (guint i = 0; i < values->len; i++)
		if (!(g_array_index(values, double, i) > 0) || !isfinite(g_array_index(values, double, i)))
			return FALSE;
	return values->len >= 2;
}

gboolean stats_effect(const GArray *base, const GArray *patched, StatsEffect *ret_effect)
{
	double means[2], squares[2], df;

	if (!usable(base) || !usable(patched))
		return FALSE;
	moments(base, &means[0], &squares[0]);
	moments(patched, &means[1], &squares[1]);
	df = base->len + patched->len - 2.0;
	*ret_effect = (StatsEffect){
		.effect = means[1] - means[0],
		.variance = (squares[0] + squares[1]) / df * (1.0 / base->len + 1.0 / patched->len),
		.df = df,
	};
	return TRUE;
}

static double percent(double effect)
{
	return 100 * expm1(effect);
}

StatsDifference stats_effect_difference(const StatsEffect *a, const StatsEffect *b, double level)
{
	double difference = b->effect - a->effect, variance = a->variance + b->variance;
	double df = variance * variance / (a->variance * a->variance / a->df + b->variance * b->variance / b->df);
	StatsDifference result = { .change_pct = percent(difference), .low_pct = NAN, .high_pct = NAN, .p = NAN };
	double se = sqrt(variance), t;

	if (!(variance > 0)) {
		if (difference == 0)
			result.p = 1;
		return result;
	}
	t = gsl_cdf_tdist_Qinv((1 - level) / 2, df);
	result.low_pct = percent(difference - t * se);
	result.high_pct = percent(difference + t * se);
	result.p = 2 * gsl_cdf_tdist_Q(fabs(difference) / se, df);
	return result;
}
