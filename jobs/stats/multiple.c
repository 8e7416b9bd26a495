/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/multiple.h"

#include <gsl/gsl_sort.h>

void stats_holm(const double *p, gsize m, double alpha, double *ret_adjusted, double *ret_alpha)
{
	g_autofree size_t *order = g_new(size_t, m);
	double largest = 0, level = alpha;
	gboolean rejecting = TRUE;

	gsl_sort_index(order, p, 1, m);
	for (gsize i = 0; i < m; i++) {
		double hypotheses = (double)(m - i);

		largest = MAX(largest, MIN(1, hypotheses * p[order[i]]));
		ret_adjusted[order[i]] = largest;
		if (rejecting)
			level = alpha / hypotheses;
		rejecting &= largest <= alpha;
		ret_alpha[order[i]] = level;
	}
}

double stats_benjamini_hochberg(const double *p, gsize m, double alpha, double *ret_adjusted)
{
	g_autofree size_t *order = g_new(size_t, m);
	double smallest = 1;
	gsize selected = 0;

	gsl_sort_index(order, p, 1, m);
	for (gsize i = m; i-- > 0;) {
		smallest = MIN(smallest, p[order[i]] * (double)m / (double)(i + 1));
		ret_adjusted[order[i]] = smallest;
		selected += smallest <= alpha;
	}
	return m ? alpha * (double)MAX(selected, 1) / (double)m : alpha;
}
