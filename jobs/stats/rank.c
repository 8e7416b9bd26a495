/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/rank.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "jobs/stats/descriptive.h"

void stats_mid_ranks(const double *values, gsize n, double *ret_ranks)
{
	g_autofree size_t *order = g_new(size_t, n);

	gsl_sort_index(order, values, 1, n);
	for (gsize begin = 0, end; begin < n; begin = end) {
		for (end = begin + 1; end < n && values[order[end]] == values[order[begin]]; end++)
			;
		for (gsize i = begin; i < end; i++)
			ret_ranks[order[i]] = ((double)begin + 1 + (double)end) / 2;
	}
}

/* How many of the subsets of m of the ranks 1 … m + n have U = 0 … mn. U is the rank sum less its minimum. */
static double *rank_counts(gsize m, gsize n)
{
	gsize width = m * n + 1;
	double *ways = g_new0(double, (m + 1) * width), *last;

	/* A subset of j of the first i ranks with sum of ranks s + j(j+1)/2 is at ways[j*width + s]. Taking rank i as the
	 * j-th adds i − j to s. */
	ways[0] = 1;
	for (gsize i = 1; i <= m + n; i++)
		for (gsize j = MIN(i, m); j > 0; j--)
			for (gsize s = i - j; s < width; s++)
				ways[j * width + s] += ways[(j - 1) * width + s - (i - j)];
	last = g_memdup2(ways + m * width, width * sizeof *ways);
	g_free(ways);
	return last;
}

gsize stats_rank_quantile(gsize m, gsize n, double p, double *ret_below)
{
	g_autofree double *ways = NULL;
	double total = 0, sum = 0, sd, mean = (double)(m * n) / 2;
	gsize u;

	if (m > STATS_RANK_EXACT_MAX || n > STATS_RANK_EXACT_MAX) {
		sd = sqrt(mean * (double)(m + n + 1) / 6);
		u = (gsize)MAX(0, ceil(mean - .5 + sd * gsl_cdf_ugaussian_Pinv(p)));
		*ret_below = gsl_cdf_ugaussian_P(((double)u - .5 - mean) / sd);
		return u;
	}
	ways = rank_counts(m, n);
	for (u = 0; u <= m * n; u++)
		total += ways[u];
	for (u = 0; u < m * n && sum + ways[u] < p * total; u++)
		sum += ways[u];
	*ret_below = sum / total;
	return u;
}

StatsShift stats_hodges_lehmann(const double *a, gsize a_count, const double *b, gsize b_count, double alpha)
{
	StatsShift result = { NAN, NAN, NAN };
	gsize pairs = a_count * b_count, u;
	g_autofree double *difference = NULL;
	double below;

	if (!pairs || pairs > STATS_SHIFT_PAIRS_MAX)
		return result;
	difference = g_new(double, pairs);
	for (gsize i = 0; i < a_count; i++)
		for (gsize j = 0; j < b_count; j++)
			difference[i * b_count + j] = b[j] - a[i];
	stats_sort(difference, pairs);
	result.shift = gsl_stats_median_from_sorted_data(difference, 1, pairs);
	u = stats_rank_quantile(a_count, b_count, alpha / 2, &below);
	if (u > 0) { /* else even the extreme differences miss the level */
		result.low = difference[u - 1];
		result.high = difference[pairs - u];
	}
	return result;
}

double stats_signed_rank_p(const double *differences, gsize n)
{
	double size[STATS_SIGNED_RANK_MAX] = { 0 }, rank[STATS_SIGNED_RANK_MAX] = { 0 };
	g_autofree double *ways = NULL;
	gsize count = 0, positive = 0, top, below;
	double hits = 0;

	g_assert(n <= STATS_SIGNED_RANK_MAX);
	for (gsize i = 0; i < n; i++)
		if (differences[i] != 0)
			size[count++] = fabs(differences[i]);
	stats_mid_ranks(size, count, rank);
	count = 0;
	for (gsize i = 0; i < n; i++)
		if (differences[i] != 0) {
			if (differences[i] > 0)
				positive += (gsize)(2 * rank[count]);
			count++;
		}
	/* All ways to deal signs, by twice the sum of the positive ranks: an integer with mid-ranks too. */
	top = count * (count + 1);
	ways = g_new0(double, top + 1);
	ways[0] = 1;
	for (gsize i = 0; i < count; i++)
		for (gsize s = top, r = (gsize)(2 * rank[i]); s >= r; s--)
			ways[s] += ways[s - r];
	below = MIN(positive, top - positive);
	for (gsize s = 0; s <= below; s++)
		hits += ways[s];
	return MIN(1, 2 * hits / ldexp(1, (int)count));
}
