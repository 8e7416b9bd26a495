/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Several tests at once. p has m values in (0, 1]; ret_adjusted gets m values, each to be compared with alpha. */

#include <glib.h>

/* Holm (1979), step down: controls the chance of one false alarm among the m. ret_alpha gets the error rate at which
 * each was decided: alpha/(m − i + 1) for the one rejected at step i, that of the step at which the procedure stopped
 * for those not rejected. */
void stats_holm(const double *p, gsize m, double alpha, double *ret_adjusted, double *ret_alpha);

/* Benjamini and Hochberg (1995): controls the share of false ones among those selected. Returns the error rate for the
 * intervals, alpha·max(R, 1)/m with R selected (Benjamini and Yekutieli 2005). */
double stats_benjamini_hochberg(const double *p, gsize m, double alpha, double *ret_adjusted);
