/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/fisher.h"

#include <gsl/gsl_randist.h>
#include <math.h>

double stats_fisher_p(guint a_failed, guint a_count, guint b_failed, guint b_count)
{
	guint failed = a_failed + b_failed, fine = a_count + b_count - failed;
	double observed, p = 0;

	g_assert(a_failed <= a_count && b_failed <= b_count);
	if (!a_count || !b_count)
		return NAN;
	observed = gsl_ran_hypergeometric_pdf(a_failed, failed, fine, a_count);
	for (guint i = 0; i <= MIN(failed, a_count); i++) {
		double probability = gsl_ran_hypergeometric_pdf(i, failed, fine, a_count);

		if (probability <= observed * (1 + 1e-7)) /* tables that are equal but for rounding */
			p += probability;
	}
	return MIN(p, 1);
}
