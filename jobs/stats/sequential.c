/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/sequential.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

StatsLooks stats_looks_plan(guint max_pairs)
{
	static const guint pairs[] = { 4, 6, 8, 10, 14, 20 };
	StatsLooks looks = { 0 };

	g_assert(max_pairs > 0);
	for (gsize i = 0; i < G_N_ELEMENTS(pairs) && pairs[i] < max_pairs; i++)
		looks.boots[looks.count++] = 2 * pairs[i];
	looks.boots[looks.count++] = 2 * max_pairs;
	for (gsize i = 0; i < looks.count; i++)
		looks.fraction[i] = (double)looks.boots[i] / (2.0 * max_pairs);
	return looks;
}

double stats_alpha_spent(double alpha, double fraction)
{
	return alpha * log1p((M_E - 1) * fraction);
}

void stats_sequential_holm(const double *p, gsize m, const double *const *boundary, gboolean *rejected, double *ret_level)
{
	gsize left = 0, before;

	for (gsize i = 0; i < m; i++)
		left += !rejected[i];
	do {
		gsize step = before = left;

		for (gsize i = 0; i < m; i++) {
			if (rejected[i])
				continue;
			ret_level[i] = boundary[i][step - 1];
			rejected[i] = p[i] <= ret_level[i];
			left -= (gsize)rejected[i];
		}
	} while (left && left < before);
}

/* The chance that a normal value lies between low and high. */
static double between(double mean, double sd, double low, double high)
{
	return high > low ? gsl_cdf_ugaussian_P((high - mean) / sd) - gsl_cdf_ugaussian_P((low - mean) / sd) : 0;
}

gboolean stats_is_futile(const StatsTrend *fit, double last_level, gsize boots, gsize last_boots, double low, double high)
{
	double last_se, last_half, sd, found, equivalent;

	if (isnan(fit->se) || boots >= last_boots)
		return FALSE;
	/* At the last look the estimate will be normal around today's, and its interval as wide as its boots make it. */
	last_se = fit->se * sqrt((double)boots / (double)last_boots);
	last_half = last_se * gsl_cdf_tdist_Qinv(last_level / 2, fit->df + (double)(last_boots - boots));
	sd = sqrt(fit->se * fit->se - last_se * last_se);
	found = 1 - between(fit->beta, sd, -last_half, last_half);
	equivalent = between(fit->beta, sd, low + last_half, high - last_half);
	return found + equivalent < STATS_FUTILE_CHANCE;
}
