/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/permutation.h"

#include <float.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <string.h>

#include "jobs/stats/descriptive.h"

typedef struct {
	double *values; /* above the smallest, ascending: equal data are equal here, and 0 costs no digits */
	gsize n;
	gsize chosen;     /* size of the smaller group */
	double expected;  /* of the chosen ones' sum */
	double threshold; /* |sum − expected| from here on counts */
} Deal;

static gboolean counts(const Deal *deal, double sum)
{
	return fabs(sum - deal->expected) >= deal->threshold;
}

/* All combinations in lexicographic order; each partial sum is added up afresh from the left, so no error builds up. */
static double count_all(const Deal *deal)
{
	gsize k = deal->chosen, n = deal->n, level = 0;
	g_autofree gsize *index = g_new0(gsize, k);
	g_autofree double *sum = g_new0(double, k);
	double hits = 0, all = 0;

	for (;;) {
		if (level == k - 1) {
			for (gsize i = index[level]; i < n; i++)
				hits += counts(deal, sum[level] + deal->values[i]);
			all += (double)(n - index[level]);
			do {
				if (!level)
					return hits / all;
				level--;
			} while (++index[level] > n - (k - level));
		}
		sum[level + 1] = sum[level] + deal->values[index[level]];
		index[level + 1] = index[level] + 1;
		level++;
	}
}

/* 0 … n − 1 from the generator's 32 bits. Favours some by n/2³², which no count of draws of ours can see. */
static gsize draw_index(gsl_rng *random, gsize n)
{
	return (gsize)((guint64)gsl_rng_get(random) * n >> 32);
}

static double count_draws(const Deal *deal, gint64 seed)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	g_autofree double *values = g_memdup2(deal->values, deal->n * sizeof *values);
	double hits = 0;

	gsl_rng_set(random, (unsigned long)seed);
	for (guint draw = 0; draw < STATS_PERMUTATION_DRAWS; draw++) {
		double sum = 0;

		for (gsize i = 0; i < deal->chosen; i++) {
			gsize other = i + draw_index(random, deal->n - i);
			double taken = values[other];

			values[other] = values[i];
			values[i] = taken;
			sum += taken;
		}
		hits += counts(deal, sum);
	}
	gsl_rng_free(random);
	return (hits + 1) / (STATS_PERMUTATION_DRAWS + 1.0);
}

StatsPermutation stats_permutation_test(const double *a, gsize a_count, const double *b, gsize b_count, gint64 seed)
{
	gsize n = a_count + b_count;
	g_autofree double *own = NULL, *values = NULL;
	double smallest, observed = 0, total = 0;
	StatsPermutation result = { .p = NAN };
	Deal deal;

	if (!a_count || !b_count)
		return result;
	if (b_count < a_count) {
		const double *swap = a;

		a = b;
		b = swap;
		a_count = n - a_count;
		b_count = n - a_count;
	}
	own = g_memdup2(a, a_count * sizeof *a);
	stats_sort(own, a_count);
	values = g_new(double, n);
	memcpy(values, a, a_count * sizeof *a);
	memcpy(values + a_count, b, b_count * sizeof *b);
	stats_sort(values, n);
	smallest = values[0];
	for (gsize i = 0; i < n; i++)
		total += values[i] -= smallest;
	for (gsize i = 0; i < a_count; i++)
		observed += own[i] - smallest;
	deal = (Deal){ .values = values, .n = n, .chosen = a_count, .expected = total * (double)a_count / (double)n };
	deal.threshold = fabs(observed - deal.expected) * (1 - 1e-12) - 16 * DBL_EPSILON * total;

	result.exact = gsl_sf_lnchoose((unsigned)n, (unsigned)a_count) <= log(STATS_PERMUTATION_EXACT_MAX);
	if (deal.threshold <= 0)
		result.p = 1;
	else
		result.p = result.exact ? count_all(&deal) : count_draws(&deal, seed);
	return result;
}

guint stats_permutation_min_boots(double alpha)
{
	guint boots = 1;

	while (2 / exp(gsl_sf_lnchoose(2 * boots, boots)) > alpha * (1 + 1e-12) && boots < 500)
		boots++;
	return boots;
}
