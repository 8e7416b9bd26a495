/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Methods on ranks. */

#include <glib.h>

/* Up to this size of both groups the null distribution of the rank sum is exact, above it normal with continuity
 * correction. */
#define STATS_RANK_EXACT_MAX 25u
/* More pairs of values than this: no Hodges-Lehmann shift. */
#define STATS_SHIFT_PAIRS_MAX 4000000u
#define STATS_SIGNED_RANK_MAX 50u

/* Ranks 1 … n in the values' order; equal values share the mean of theirs. */
void stats_mid_ranks(const double *values, gsize n, double *ret_ranks);

/* The smallest u with P(U <= u) >= p for the Mann-Whitney U of m and n values without ties, and *ret_below = P(U < u). */
gsize stats_rank_quantile(gsize m, gsize n, double p, double *ret_below);

typedef struct {
	double shift;     /* median of all differences b − a */
	double low, high; /* NaN where so few values cannot reach the level */
} StatsShift;

/* Hodges and Lehmann's shift from a to b, with the distribution-free interval of error rate at most alpha. The
 * interval's ranks are those without ties; with ties it is wider than it need be, never narrower. */
StatsShift stats_hodges_lehmann(const double *a, gsize a_count, const double *b, gsize b_count, double alpha);

/* Wilcoxon's signed rank test of n <= STATS_SIGNED_RANK_MAX differences: exact and two-sided, zeros dropped, mid-ranks.
 * In (0, 1]; 1 if all are zero. */
double stats_signed_rank_p(const double *differences, gsize n);
