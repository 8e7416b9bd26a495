/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/power.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>

/* Gauss-Legendre nodes; and how far, in units of 1/√df, the estimated sd is followed: exp(−7.8²/2) lies beyond. */
#define NODES 128u
#define REACH 7.8

typedef struct {
	double df, critical, noncentrality;
} Test;

/* The chance to reject given that the estimated sd is s times the true one, times the density of s. */
static double integrand(double s, void *data)
{
	const Test *test = data;
	double bound = test->critical * s;
	double reject = gsl_cdf_ugaussian_Q(bound - test->noncentrality) + gsl_cdf_ugaussian_P(-bound - test->noncentrality);

	return reject * gsl_ran_chisq_pdf(s * s * test->df, test->df) * 2 * s * test->df;
}

static double degrees(guint boots, guint fitted)
{
	return 2 * (double)boots - fitted;
}

double stats_power(double effect, guint boots, double alpha, guint fitted)
{
	Test test = { .df = degrees(boots, fitted), .noncentrality = fabs(effect) * sqrt(boots / 2.0) };
	gsl_function function = { .function = integrand, .params = &test };
	gsl_integration_glfixed_table *table;
	double low, high, power;

	if (test.df < 1)
		return NAN;
	test.critical = gsl_cdf_tdist_Qinv(alpha / 2, test.df);
	low = MAX(0, 1 - REACH / sqrt(test.df));
	high = 1 + REACH / sqrt(test.df);
	table = gsl_integration_glfixed_table_alloc(NODES);
	power = gsl_integration_glfixed(&function, low, high, table);
	gsl_integration_glfixed_table_free(table);
	return CLAMP(power, 0, 1);
}

/* The smallest n from `first` on that is enough; enough() is monotone. */
static guint search(guint first, gboolean (*enough)(guint boots, const double *parameters), const double *parameters)
{
	guint low = first, high = first;

	while (!enough(high, parameters)) {
		if (high == STATS_BOOTS_MAX)
			return 0;
		low = high + 1;
		high = MIN(2 * high, STATS_BOOTS_MAX);
	}
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (enough(middle, parameters))
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

static gboolean enough_power(guint boots, const double *parameters)
{
	return stats_power(parameters[0], boots, parameters[1], (guint)parameters[3]) >= parameters[2];
}

static gboolean narrow_enough(guint boots, const double *parameters)
{
	double df = degrees(boots, (guint)parameters[2]);

	return gsl_cdf_tdist_Qinv(parameters[1] / 2, df) * sqrt(2.0 / boots) <= parameters[0];
}

guint stats_boots_for(double effect, double alpha, double power, guint fitted)
{
	const double parameters[] = { effect, alpha, power, fitted };

	return effect > 0 ? search(2, enough_power, parameters) : 0;
}

guint stats_boots_for_width(double width, double alpha, guint fitted)
{
	const double parameters[] = { width, alpha, fitted };

	return width > 0 ? search(2, narrow_enough, parameters) : 0;
}

double stats_effect_for(guint boots, double alpha, double power, guint fitted)
{
	double low = 0, high = 1;

	if (degrees(boots, fitted) < 1)
		return NAN;
	while (stats_power(high, boots, alpha, fitted) < power && high < 1e6)
		high *= 2;
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (stats_power(middle, boots, alpha, fitted) < power)
			low = middle;
		else
			high = middle;
	}
	return high;
}
