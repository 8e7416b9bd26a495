/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/descriptive.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* Around the first value, so that digits that all values share cost no precision. */
double stats_mean(const double *values, gsize n)
{
	double sum = 0;

	for (gsize i = 0; i < n; i++)
		sum += values[i] - values[0];
	return n ? values[0] + sum / (double)n : NAN;
}

double stats_sd(const double *values, gsize n)
{
	double sum = 0, square = 0;

	if (n < 2)
		return NAN;
	for (gsize i = 0; i < n; i++)
		sum += values[i] - values[0];
	for (gsize i = 0; i < n; i++) {
		double d = values[i] - values[0] - sum / (double)n;

		square += d * d;
	}
	return sqrt(square / (double)(n - 1));
}

void stats_sort(double *values, gsize n)
{
	gsl_sort(values, 1, n);
}

double stats_median(const double *values, gsize n)
{
	g_autofree double *sorted = NULL;

	if (!n)
		return NAN;
	sorted = g_memdup2(values, n * sizeof *values);
	stats_sort(sorted, n);
	return gsl_stats_median_from_sorted_data(sorted, 1, n);
}

double stats_mad(const double *values, gsize n)
{
	double median = stats_median(values, n);
	g_autofree double *distance = g_new(double, n);

	for (gsize i = 0; i < n; i++)
		distance[i] = fabs(values[i] - median);
	return STATS_MAD_SCALE * stats_median(distance, n);
}

double stats_lag1_correlation(const double *values, gsize n)
{
	double mean = stats_mean(values, n), above = 0, below = 0;

	for (gsize i = 0; i < n; i++) {
		below += (values[i] - mean) * (values[i] - mean);
		if (i)
			above += (values[i] - mean) * (values[i - 1] - mean);
	}
	return below > 0 ? above / below : NAN;
}
