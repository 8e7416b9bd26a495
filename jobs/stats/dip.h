/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Does a distribution have more than one hump? The dip (Hartigan and Hartigan, The Annals of Statistics 13, 1985) is the
 * largest distance between the empirical distribution and the unimodal one that is nearest to it. Values that repeat
 * exactly are humps of their own. */

#include <glib.h>

#define STATS_DIP_DRAWS 1999u
#define STATS_DIP_MIN 4u /* values: fewer have no shape */

/* sorted: n values, ascending. From 1/(2n), one hump, to 1/4; NaN for fewer than STATS_DIP_MIN. */
double stats_dip(const double *sorted, gsize n);

/* How often n values of the uniform distribution, of all unimodal ones the hardest to tell from two humps, have a dip at
 * least as large: STATS_DIP_DRAWS are drawn, p = (b + 1)/(m + 1). In (0, 1]; NaN as the dip. */
double stats_dip_p(double dip, gsize n, gint64 seed);
