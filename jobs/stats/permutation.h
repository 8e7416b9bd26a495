/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The permutation test of two groups: how often would labels dealt at random differ as much as the real ones?
 *
 * T is the absolute difference of the means. p counts the arrangements with T >= T_obs(1 − 1e-12), less an allowance for
 * the rounding of the sums. Up to STATS_PERMUTATION_EXACT_MAX arrangements all are counted, else
 * STATS_PERMUTATION_DRAWS are drawn and p = (b + 1)/(m + 1). On mid-ranks (rank.h) it is the Wilcoxon-Mann-Whitney test,
 * exact with ties as well.
 */

#include <glib.h>

#define STATS_PERMUTATION_EXACT_MAX 5000000.0
#define STATS_PERMUTATION_DRAWS 49999u

typedef struct {
	double p; /* in (0, 1]; NaN if a group is empty */
	gboolean exact;
} StatsPermutation;

/* The order of the values does not matter. seed: of the draws, unused where exact. */
StatsPermutation stats_permutation_test(const double *a, gsize a_count, const double *b, gsize b_count, gint64 seed);

/* The smallest number of boots an arm whose two-sided exact test can reach alpha: 2/C(2n, n) <= alpha. */
guint stats_permutation_min_boots(double alpha);
