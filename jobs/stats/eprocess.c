/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/eprocess.h"

#include <float.h>
#include <math.h>

static double ratio(double n_eff)
{
	return 1 + n_eff * STATS_EFFECT_SD * STATS_EFFECT_SD;
}

double stats_log_e(double t, double df, double n_eff)
{
	double rho = ratio(n_eff), square = t * t / df;

	return -.5 * log(rho) + (df + 1) / 2 * (log1p(square) - log1p(square / rho));
}

double stats_anytime_p(double largest_log_e)
{
	return CLAMP(exp(-largest_log_e), DBL_MIN, 1);
}

double stats_anytime_t(double alpha, double df, double n_eff)
{
	double rho = ratio(n_eff), k = pow(sqrt(rho) / alpha, 2 / (df + 1));

	return k < rho ? sqrt(df * (k - 1) / (1 - k / rho)) : INFINITY;
}
